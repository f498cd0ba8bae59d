"""Faults that are made on purpose in emitted CUDA programs show when they run on the emulated target."""

import json
import os
import re

import pytest

from emulated import SKIPS, Emulated
from training import CommandFailed, Result, execute

pytestmark = SKIPS


class Victim:
    """A program whose sources a test edits, and what it gives before."""

    def __init__(self, name, folder, **flags):
        self.model = Emulated(name, folder, **flags)
        self.folder = self.model.trainer.folder
        self.sound = self.train(seed=1)

    def train(self, seed: int) -> Result:
        """Times nothing: a record would refuse a product that an edit has changed."""
        return self.model.train(seed, no_autotune=True)

    def outcome(self) -> str:
        """What shows of the fault under some seed: an error's text, other numbers, or nothing."""
        execute(["cmake", "--build", self.folder / "build"])
        for seed in range(1, 6):
            try:
                result = self.train(seed)
            except CommandFailed as error:
                return "other numbers" if re.search("diverged|loss is nan", error.output) else error.output
            if result.losses != self.sound.losses:
                return "other numbers"
        return "nothing"

    def outcome_with(self, file: str, sound: str, faulty: str, count=1, of_steps_alone=False) -> str:
        """`of_steps_alone`: the trainer's main.cpp, which takes longest to compile, is not compiled with the fault."""
        path = self.folder / file
        text, changed = path.read_text(), path.stat()
        assert len(re.findall(sound, text)) >= count, f"{file} has no '{sound}'"
        path.write_text(re.sub(sound, faulty, text, count=count))
        if of_steps_alone:
            os.utime(path, ns=(changed.st_atime_ns, changed.st_mtime_ns))
            self.remove_steps()
        try:
            return self.outcome()
        finally:
            path.write_text(text)  # and the next outcome is that of a new build
            if of_steps_alone:
                os.utime(path, ns=(changed.st_atime_ns, changed.st_mtime_ns))
                self.remove_steps()

    def remove_steps(self):
        for step in (self.folder / "build/CMakeFiles/gpuopt_step.dir").glob("*.o"):
            step.unlink()


@pytest.fixture(scope="module")
def victim(tmp_path_factory):
    return Victim("mlp", tmp_path_factory.mktemp("victim"))


@pytest.fixture(scope="module")
def tight_victim(tmp_path_factory):
    """Attention in half precision, over several tiles of keys, and tensors that wait in the host's memory."""
    folder = tmp_path_factory.mktemp("tight-victim")
    device = folder / "slow.json"
    device.write_text(json.dumps(
        {"base": "h200", "name": "slow products", "overlapsTransfers": True, "hostLinkBytesPerSecond": 50e9,
         "f32ProductsPerSecond": 1e11, "f16ProductsPerSecond": 1e11, "bytesPerSecond": 1e11, "secondsPerLaunch": 1e-6}))
    victim = Victim("gpt2-long", folder, precision="fp16", activation_budget="250000B", allow_offload=True, device=device, init_scale=64.0)
    step = (victim.folder / "step.cu").read_text()
    assert "reload(ctx" in step and "attention<" in step and "attention_backward<" in step
    return victim


@pytest.fixture(scope="module")
def gelu_victim(tmp_path_factory):
    """Products whose epilogues are GELUs and their gradients."""
    victim = Victim("gpt2-words", tmp_path_factory.mktemp("gelu-victim"), precision="bf16")
    step = (victim.folder / "step.cu").read_text()
    assert "gemm_gelu(ctx" in step and "gemm_gelu_backward(ctx" in step
    return victim


@pytest.fixture(scope="module")
def relu_victim(tmp_path_factory):
    """Products whose epilogues are ReLUs and their gradients."""
    victim = Victim("mlp", tmp_path_factory.mktemp("relu-victim"), precision="bf16")
    step = (victim.folder / "step.cu").read_text()
    assert "gemm_relu(ctx" in step and "gemm_relu_backward(ctx" in step
    return victim


BLOCK, GEMM, LOADER = "gpuopt/kernels/block.h", "gpuopt/ops/gemm_cuda.h", "gpuopt/data/loader.h"
TILES, OFFLOAD = "gpuopt/ops/attention_copies_cuda.h", "gpuopt/device/offload.h"


def test_finds_nothing_in_a_sound_program(victim):
    assert victim.outcome() == "nothing"


def test_finds_a_removed_barrier(victim):
    assert victim.outcome_with(BLOCK, r"of_warp\[warp\] = v;\n  __syncthreads\(\);", "of_warp[warp] = v;", of_steps_alone=True) == "other numbers"


@pytest.mark.full
def test_finds_a_barrier_that_not_all_reach(victim):
    output = victim.outcome_with(BLOCK, r"(of_warp\[warp\] = v;\n)  __syncthreads\(\);", r"\1  if (warp == 0)\n    __syncthreads();")
    assert re.search(r"block 0, thread \d+ waits at __syncthreads \(.*block.h:\d+\), but block 0, thread \d+", output), output


def test_finds_a_wrong_leading_dimension(victim):
    assert victim.outcome_with(GEMM, r"row_major \? row : col\)", "(row_major ? row : col) + 1)") != "nothing"
    output = victim.outcome_with(GEMM, r"row_major \? row : col\)", "(row_major ? row : col) - 1)")
    assert re.search(r"matrix [ABCD] has the leading dimension \d+, which must be at least \d+", output), output


@pytest.mark.full
def test_finds_a_missing_event(victim):
    assert victim.outcome_with(LOADER, r"prepared\.copied\.wait\(ctx\);", "") == "other numbers"


def test_finds_overlapping_buffers(victim):
    """Two buffers that live at the same time get one offset: two gradients, then what a product reads and writes."""
    text = (victim.folder / "memory.h").read_text()

    def outcome_with_offset_of(other: str) -> str:
        offset = re.search(rf"{other}\{{(\d+)\}}", text)[1]
        return victim.outcome_with("memory.h", r"kD_Fc3Weight\{\d+\}", f"kD_Fc3Weight{{{offset}}}")

    assert outcome_with_offset_of("kD_Fc1Weight") == "other numbers"
    output = outcome_with_offset_of("kFc2Linear1")
    assert re.search("cublasLtMatmul: D overlaps [AB]", output), output


def test_finds_a_read_past_a_row(victim):
    """The cross entropy takes two elements of the next row for its own."""
    assert victim.outcome_with("step.cu", r"left = 10 - i", "left = 12 - i", count=2) == "other numbers"


def test_finds_a_write_past_a_row(victim):
    """The gradient of each row covers two elements of the next one, which may have been written before."""
    assert victim.outcome_with("step.cu", r"store\(d_loss \+ b \* 10 \+ i, (.*), left\);",
                               r"store(d_loss + b * 10 + i, \1, left + 2);") == "other numbers"


def test_finds_a_launch_of_too_few_blocks(victim):
    assert victim.outcome_with("step.cu", r"launch\(ctx, 32, 32, fused_add_max,", "launch(ctx, 31, 32, fused_add_max,") == "other numbers"


def test_names_a_call_that_the_stand_in_lacks(victim):
    """No stub pretends to be a function that the emulation does not have."""
    with pytest.raises(CommandFailed, match=r"undefined (reference to|symbol).*cudaDeviceGetStreamPriorityRange"):
        victim.outcome_with("step.cu", r"(void micro_step\(Context &\w+, char \*memory\) \{\n)",
                            r"\1  int least, greatest;\n  cudaDeviceGetStreamPriorityRange(&least, &greatest);\n")


def test_finds_host_code_that_touches_the_device(victim):
    output = victim.outcome_with(LOADER, r"char \*from = prepared\.staging;", "char *from = prepared.staging;\n    memory[0] = 1;")
    assert "emulation: the host, or a library's call, touches byte 0 of an allocation of" in output, output


@pytest.mark.full
def test_finds_faults_in_epilogues(gelu_victim):
    """A bias that is forgotten, and rows of the GELU's input that are too short."""
    assert gelu_victim.outcome_with(GEMM, r"o\.bias \? CUBLASLT_EPILOGUE_BIAS : 0", "0") == "other numbers"
    output = gelu_victim.outcome_with(GEMM, r"EPILOGUE_AUX_LD, s\.c_m\)", "EPILOGUE_AUX_LD, s.c_m - 8)")
    assert re.search(r"CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD is \d+, but must be a multiple of 8 and at least \d+", output), output


@pytest.mark.full
def test_finds_faults_in_masks(relu_victim):
    """Rows of bits that are too short, and a gradient that is not masked."""
    output = relu_victim.outcome_with(GEMM, r"32 \* mask_words\(s\.n\)", "s.n / 2")
    assert re.search(r"CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD is \d+, but must be a multiple of 128 and at least \d+", output), output
    assert relu_victim.outcome_with(GEMM, r"return CUBLASLT_EPILOGUE_DRELU;", "return CUBLASLT_EPILOGUE_DEFAULT;") == "other numbers"


# ---- Attention, and tensors that wait in the host's memory --------------------------------------------------------------


def test_finds_nothing_in_a_sound_tight_program(tight_victim):
    assert tight_victim.outcome() == "nothing"


@pytest.mark.full
def test_finds_a_barrier_removed_before_a_tile_is_used(tight_victim):
    sound = r"(ptx::cp_async_wait<0>\(\);\n.*\n)    __syncthreads\(\);"
    assert tight_victim.outcome_with(TILES, sound, r"\1") == "other numbers"


def test_finds_a_missing_wait_for_a_tile(tight_victim):
    assert tight_victim.outcome_with(TILES, r"ptx::cp_async_wait<0>\(\);", "") == "other numbers"


@pytest.mark.full
def test_finds_a_wrong_stride_of_a_tile(tight_victim):
    output = tight_victim.outcome_with(TILES, r"\(first \+ row\(\)\) \* from\.stride", "(first + row()) * (from.stride + 1)")
    assert re.search(r"block \d+, thread \d+ copies 16 bytes to shared memory with an address that is no multiple of that", output), output


@pytest.mark.full
def test_finds_a_transfer_that_does_not_wait_for_the_step(tight_victim):
    output = tight_victim.outcome_with(OFFLOAD, r"CHECK_CUDA\(cudaStreamWaitEvent\(transfers\.stream, event\.event\)\);", "")
    assert "a captured stream waits for an event that was recorded outside of the capture" in output, output


def test_finds_a_step_that_does_not_wait_for_a_transfer(tight_victim):
    output = tight_victim.outcome_with(OFFLOAD, r"ctx\.library<Transfers>\(\)\.event\(number\)\.wait\(ctx\);", "", of_steps_alone=True)
    assert "a stream that joined the capture has work that its first stream does not wait for" in output, output

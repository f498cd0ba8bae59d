"""What nvcc makes of emitted kernels, for sm_80 and sm_90: registers suffice, rows move in vectors of 16 bytes, loads
come before the first use of any of them, and what moves much memory moves it fast. No GPU is needed."""

import re
import shutil
from dataclasses import replace

import pytest

import gpuopt
import models
from gpuopt.driver import find_driver
from emulated import ROOT, nvidia_wheels
from exports import export_case
from sass import Instruction, Kernels, find_disassembler
from training import execute
from variants import variants

pytestmark = [
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc"),
    pytest.mark.skipif(nvidia_wheels() is None, reason="no wheels of cuBLASLt and cuDNN"),
    pytest.mark.skipif(find_disassembler() is None, reason="no nvdisasm"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A small GPT in half precision: layer norms, GELU, cross entropy, sums of columns."""
    folder = tmp_path_factory.mktemp("sass")
    execute([find_driver(), "compile", ROOT / "examples" / "gpt.onnx", "-o", folder / "program", "--target=cuda",
             "--device=h200", "--precision=fp16", "--batch-size=64"])
    return folder / "program"


@pytest.fixture(scope="module", params=variants(["sm_80", "sm_90"], ["sm_90"]))
def kernels(request, program):
    return Kernels(program, program.parent, request.param)


def check_registers(kernels):
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", kernels.report)
    assert len(spills) >= len(kernels.kernels) > 0
    assert set(spills) == {("0", "0")}, kernels.report
    assert not any(code.startswith(("LDL", "STL")) for kernel in kernels.kernels.values() for code in kernel.codes)


def test_registers_suffice(kernels):
    assert len(kernels.kernels) > 20
    check_registers(kernels)


def test_rows_move_in_vectors(kernels):
    """All rows of this model are aligned, so no element of two bytes travels alone."""
    for name, kernel in kernels.kernels.items():
        assert not [code for code in kernel.codes if re.match(r"(LDG|STG)\.E\.(U|S)?(8|16)\b", code)], name
    for name, kernel in kernels.having("store_vector").items():
        assert any(re.match(r"STG\.E\.128", code) for code in kernel.codes), name


def loads_before_use(codes: list[str]) -> int:
    """Loads of 16 bytes before the first conversion of a half, which is an addition, or the first addition."""
    first = next(i for i, code in enumerate(codes) if code.startswith(("FADD", "HADD")))
    return sum(code.startswith("LDG.E.128") for code in codes[:first])


def test_sums_of_columns_load_ahead(kernels):
    """Eight rows are under way before the first of them is added."""
    for name, kernel in kernels.having("k < 8; k++").items():
        assert loads_before_use(kernel.codes) >= 8, (name, kernel.codes)


def test_warps_do_not_wait(kernels):
    """For each other, as long as they have rows."""
    for name, kernel in kernels.having("group_sum<32>").items():
        if "sum_of_groups" not in kernel.source:
            assert not any(code.startswith("BAR") for code in kernel.codes), name


def test_sums_beside_rows_stay_in_registers(kernels):
    """The gradients of a layer norm and of the bias before it come with that of its input: until the rows are done, warps
    neither wait for each other nor write anything but the row, which is one vector here."""
    found = kernels.having("totals_3[t] = ")
    assert len(found) > 1
    for name, kernel in found.items():
        end = next(i for i, code in enumerate(kernel.codes) if code.startswith("BAR"))
        rows = kernel.codes[:end]
        assert sum(code.startswith("SHFL") for code in rows) == 10, name  # two sums of a warp
        assert [code for code in rows if code.startswith(("STG", "LDS", "STS"))] == ["STG.E.128"], name


# A tile of attention's kernels for heads of 64 whose scores are products: its products of 16 x 8 x 16, its copies of 16 bytes,
# its exponentials, and how many instructions it may have. These are a scale, a maximum, an exponential, a sum and half of a
# conversion for each score of the forward, a product and two loads for each probability of the backward, and what moves data
# between memories. Where each vector's address was computed and tested, they were 529, 449 and 651.
TILES = {"attention_forward": (64, 4, 34, 375), "attention_query_gradients": (48, 4, 16, 240),
         "attention_key_gradients": (128, 5, 32, 475)}


# The same of the kernels for warpgroups, a product of which is of 64 x 64 x 16.
WARPGROUP_TILES = {"attention_forward_by_warpgroups": (8, 8, 34, 325),
                   "attention_query_gradients_by_warpgroups": (12, 8, 32, 320),
                   "attention_key_gradients_by_warpgroups": (16, 9, 32, 400)}


@pytest.mark.parametrize("name", WARPGROUP_TILES)
def test_attention_by_warpgroups_takes_few_instructions(kernels, name):
    if kernels.architecture == "sm_80":
        pytest.skip("sm_80 has no warpgroups")
    tile = [instruction.code for instruction in kernels.of_runtime[name].tile_loop()]
    products, copies, exponentials, most = WARPGROUP_TILES[name]
    count = lambda code: sum(one.startswith(code) for one in tile)
    assert (count("HGMMA.64x64x16"), count("LDGSTS"), count("MUFU.EX2")) == (products, copies, exponentials), tile
    assert not count("LDL") and not count("STL") and not count("LDG.") and not count("STG"), tile
    assert len(tile) <= most, (len(tile), tile)


# Where an added mask changes scores, a tile of the forward computes them by 8 products of 64 x 32 x 16, for two parts of 32
# keys. It multiplies the values by 4 others, and loads the mask of a part by 8 loads.
MASKED_FORWARD = """#include "gpuopt/ops/attention.h"
namespace gpuopt::detail {
template __global__ void attention_forward_by_warpgroups<f16, MaskedScores>(
    AttentionShape, MaskedScores, const f16 *, const f16 *, const f16 *, f16 *, float *);
}
"""


def test_masked_forward_by_warpgroups_takes_few_instructions(tmp_path):
    (tmp_path / "gpuopt").symlink_to(ROOT / "lib" / "Runtime" / "gpuopt")
    (tmp_path / "kernels.cu").write_text(MASKED_FORWARD)
    (tmp_path / "calls.h").touch()
    kernels = Kernels(tmp_path, tmp_path, "sm_90")
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", kernels.report)
    assert set(spills) == {("0", "0")}, kernels.report
    kernel = kernels.of_runtime["attention_forward_by_warpgroups"]
    assert kernel.registers <= 128, kernels.report  # four blocks of 128 threads on a multiprocessor
    tile = [instruction.code for instruction in kernel.tile_loop()]
    count = lambda code: sum(one.startswith(code) for one in tile)
    assert (count("HGMMA.64x32x16"), count("HGMMA.64x64x16"), count("HGMMA")) == (8, 4, 12), tile
    assert (count("LDGSTS"), count("MUFU.EX2"), count("LDG.E.64"), count("LDG.")) == (8, 36, 16, 16), tile
    assert not count("LDL") and not count("STL") and not count("STG") and not count("CALL"), tile
    assert len(tile) <= 590, (len(tile), tile)


# In TF32, a tile of the same kernels: its products of 16 x 8 x 8, its copies of 16 bytes, its exponentials, and how many
# instructions it may have. Products of rows load four matrices of 16 bytes a row at once, those of columns each element by
# itself. Every element of a tile is rounded once, by two instructions, where it lies; every probability too.
TF32_ATTENTION = """#include "gpuopt/ops/attention.h"
namespace gpuopt::detail {
template __global__ void attention_forward<tf32, %(head)d, ProductScores>(
    AttentionShape, ProductScores, const tf32 *, const tf32 *, const tf32 *, tf32 *, float *);
template __global__ void attention_query_gradients<tf32, %(head)d, ProductScores>(
    AttentionShape, AttentionGradientShape, ProductScores, const tf32 *, const tf32 *, const tf32 *, const tf32 *,
    const RowStatistics *, tf32 *, float *);
template __global__ void attention_key_gradients<tf32, %(head)d, ProductScores, true, true>(
    AttentionShape, AttentionGradientShape, ProductScores, int64_t, const tf32 *, const tf32 *, const tf32 *,
    const tf32 *, const RowStatistics *, tf32 *, tf32 *, float *);
}
"""
TF32_TILES = {64: {"attention_forward": (128, 8, 36, 770), "attention_query_gradients": (192, 8, 32, 750),
                   "attention_key_gradients": (128, 5, 16, 570)},
              128: {"attention_forward": (256, 16, 36, 1220), "attention_query_gradients": (192, 16, 16, 890),
                    "attention_key_gradients": (256, 17, 16, 1150)}}


@pytest.mark.parametrize("architecture", variants(["sm_80", "sm_90"], ["sm_90"]))
@pytest.mark.parametrize("head", TF32_TILES)
def test_attention_in_tf32(head, architecture, tmp_path):
    (tmp_path / "gpuopt").symlink_to(ROOT / "lib" / "Runtime" / "gpuopt")
    (tmp_path / "kernels.cu").write_text(TF32_ATTENTION % {"head": head})
    (tmp_path / "calls.h").touch()
    kernels = Kernels(tmp_path, tmp_path, architecture)
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", kernels.report)
    assert set(spills) == {("0", "0")}, kernels.report
    for name, (products, copies, exponentials, most) in TF32_TILES[head].items():
        tile = [instruction.code for instruction in kernels.of_runtime[name].tile_loop()]
        count = lambda code: sum(one.startswith(code) for one in tile)
        assert count("HMMA.1688.F32.TF32") == count("HMMA") == products, (name, tile)
        assert (count("LDGSTS"), count("MUFU.EX2")) == (copies, exponentials), (name, tile)
        assert not count("LDL") and not count("STL") and not count("LDG.") and not count("STG"), (name, tile)
        assert len(tile) <= most, (name, len(tile), tile)


# The kernels for tall products are those of a ReLU, whose weights lie by columns, and of its gradient, where they lie by rows.
TALL_PRODUCT = """#include "gpuopt/ops/gemm.h"
namespace gpuopt::detail {
template __global__ void tall_gemm<%s>(TallOperands<f16>);
}
"""
# The clocks that an A100 takes for a product of 16 x 8 x 16, and a GPU for the accesses of 32 lanes to shared memory.
PRODUCT_CLOCKS, SHARED_CLOCKS = 8, {"LDSM": 4, "LDS.128": 4, "LDS": 1, "STS": 1, "LDGSTS": 4}


def strip_loop(kernel) -> list[Instruction]:
    """The loop over the strips of a warp, around that over the parts of a strip."""
    loops = [kernel.instructions[begin : end + 1] for end, i in enumerate(kernel.instructions)
             if i.code.startswith("BRA") and (begin := kernel.labels.get(i.target() or "")) is not None and begin < end]
    return min((loop for loop in loops if {"HMMA", "STG"} <= {i.code.split(".")[0] for i in loop}), key=len)


def clocks_of_tall_product(kernel, device, parts: int, column_tiles: int) -> dict[str, float]:
    """What a multiprocessor takes at least for a strip of each of its eight warps, by what limits it: memory; instructions
    that begin, of a quarter of the warps; matrix units; shared memory; and the chain of a warp's own loads, products and
    instructions, one in two clocks."""
    part, strip = kernel.tile_loop(), strip_loop(kernel)
    instructions = len(strip) + (parts - 1) * len(part)
    products = 128 * parts * PRODUCT_CLOCKS

    def shared(loop):
        return sum(next((clocks for code, clocks in SHARED_CLOCKS.items() if i.code.startswith(code)), 0) for i in loop)

    # The result, what is added, the mask, and A, which the other blocks of the same rows find in the cache.
    moved = 2 * 32 * 128 * 2 + 32 * 128 // 8 + parts * 32 * 64 * 2 / column_tiles
    return {"memory": 8 * moved * device.multiprocessors * device.clock / device.bytes_per_second,
            "instructions": 8 / 4 * instructions, "products": 8 / 4 * products,
            "shared memory": 8 * (shared(strip) + (parts - 1) * shared(part)),
            "a warp": device.latency * device.clock + 2 * (len(strip) - len(part)) + max(products, 2 * parts * len(part))}


@pytest.mark.parametrize("architecture", variants(["sm_80", "sm_90"], ["sm_90"]))
@pytest.mark.parametrize("instance", ["f16, Epilogue::Relu, true", "f16, Epilogue::ReluGradient, false"])
def test_tall_products_wait_for_memory(instance, architecture, tmp_path):
    """All that such a kernel moves in its loop are vectors, and nothing else takes it as long as memory does."""
    (tmp_path / "gpuopt").symlink_to(ROOT / "lib" / "Runtime" / "gpuopt")
    (tmp_path / "kernels.cu").write_text(TALL_PRODUCT % instance)
    (tmp_path / "calls.h").touch()
    kernels = Kernels(tmp_path, tmp_path, architecture)
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", kernels.report)
    assert set(spills) == {("0", "0")}, kernels.report
    kernel = kernels.of_runtime["tall_gemm"]
    assert kernel.registers * 8 * 32 <= kernels.device.registers, kernels.report
    part = [instruction.code for instruction in kernel.tile_loop()]
    assert [sum(code.startswith(name) for code in part) for name in ("HMMA", "LDSM", "LDGSTS")] == [128, 40, 8], part
    loop = kernel.codes[kernel.codes.index(next(code for code in kernel.codes if code.startswith("HMMA"))) :]
    assert not [code for code in kernel.codes if code.startswith(("LDL", "STL"))]
    assert {code for code in kernel.codes if code.startswith("STG")} == {"STG.E.128"}
    assert {code for code in kernel.codes if code.startswith("LDGSTS")} == {"LDGSTS.E.BYPASS.128"}
    assert not [code for code in loop if code.startswith("LDG.")], loop
    if architecture == "sm_80":
        return
    # By Little's law, loads of 22 KB keep a multiprocessor's share of the memory busy. While all warps multiply, each has a
    # part of A on its way, and what is added to its strip too until its second part is done.
    device = kernels.device
    busy = device.bytes_per_second * device.latency / device.multiprocessors
    later, first = (8 * 32 * 16 * sum(i.code.startswith("LDGSTS") for i in loop) for loop in (kernel.tile_loop(), strip_loop(kernel)))
    assert later > busy and first > 4 * busy, (later, first, busy)
    for parts, column_tiles in [(1, 2), (2, 4), (2, 2), (4, 8)]:  # ResNet-50's, but for sums of 512
        clocks = clocks_of_tall_product(kernel, device, parts, column_tiles)
        shares = {name: value / clocks["memory"] for name, value in clocks.items() if name != "memory"}
        assert max(shares.values()) < (0.70 if parts <= 2 else 1), (parts, shares)
        assert max(share for name, share in shares.items() if name != "a warp") < (0.63 if parts <= 2 else 1), (parts, shares)


@pytest.mark.parametrize("name", TILES)
def test_attention_takes_few_instructions(kernels, name):
    """A tile of scores without an edge needs no test of a row or a score, and its copies no registers."""
    products, copies, exponentials, most = TILES[name]
    tile = [instruction.code for instruction in kernels.of_runtime[name].tile_loop()]
    count = lambda code: sum(one.startswith(code) for one in tile)
    assert (count("HMMA"), count("LDGSTS"), count("MUFU.EX2")) == (products, copies, exponentials), tile
    assert not count("LDL") and not count("STL") and not count("LDG.") and not count("STG"), tile
    assert len(tile) <= most, (len(tile), tile)


def test_no_double_precision(kernels):
    for name, kernel in kernels.kernels.items():
        assert not [code for code in kernel.codes if re.match(r"D(ADD|MUL|FMA|SETP|MNMX)|F2F\.F64|MUFU\..*64", code)], name


def test_activations_take_few_instructions(kernels):
    """An H200 begins 7 instructions while it moves a byte: 29 for an element that a GELU reads and writes in half
    precision, and 43 for one that its derivative reads twice. A tanh that 1 is added to is 6 of them; one that is right
    where it is nearly 0 was 15, which made the derivative wait for its lanes, and one in plain arithmetic 63."""
    for name, kernel in kernels.having("tanh(").items():
        body = kernel.loops()[0]
        elements = 8 * sum(i.code.startswith("STG.E.128") for i in body)
        most = (35 if "backward" in name else 20) + ("sum_of_groups" in kernel.source)
        assert len(body) / elements <= most, (name, len(body), elements)


def test_memory_is_kept_busy(kernels):
    assert kernels.slow() == []


def test_finds_what_waits(kernels):
    """The same kernel with few warps, with loads of two bytes alone and with ten times the instructions."""
    kernel = next(kernel for kernel in kernels.having("gelu").values() if kernels.size_of(kernel) > 1 << 20)
    half = kernels.device.bytes_per_second / 2
    assert kernel.bandwidth(kernels.device) > half
    _, uses = kernel.uses.split(" For ")
    narrow = [replace(i, code="LDG.E.U16") if i.code.startswith("LDG") else i for i in kernel.instructions]
    busy = [copy for i in kernel.instructions for copy in [i] + 9 * [Instruction("FADD", "", i.address)]]
    places = {name: 10 * place for name, place in kernel.labels.items()}
    for worse in (replace(kernel, uses="4 blocks of 64 threads. For " + uses), replace(kernel, instructions=busy, labels=places),
                  replace(kernel, uses="1024 blocks of 32 threads. For " + uses, instructions=narrow)):
        assert worse.bandwidth(kernels.device) < half
    kernels.kernels[kernel.name] = replace(kernel, instructions=busy, labels=places)
    assert [text.split(":")[0] for text in kernels.slow()] == [kernel.name]
    kernels.kernels[kernel.name] = kernel


def has_few_columns(kernels, kernel) -> bool:
    """Sums of columns are split over blocks until each multiprocessor has one. For a tensor with few columns, such as 64
    channels, that is fewer blocks than a multiprocessor has room for, although none is wider than eight threads."""
    widths = [int(width) for width in re.findall(r"sum_of_groups<(\d+)", kernel.source)]
    return max(widths, default=32) <= 8 and kernel.grid()[0] < 4 * kernels.device.multiprocessors


def loads_all_at_once(kernels, kernel) -> bool:
    """A small tensor is under way as a whole: its reads, about half of the bytes, are fewer than those that all threads
    wait for at first. No other launch would have more under way."""
    blocks, threads = kernel.grid()
    return 2 * blocks * threads * kernel.bytes_in_flight() >= kernels.size_of(kernel)


# As wide as they are in use, and as deep as it takes to have all kernels. test_spills.py looks at the registers of
# those that compute in half precision.
@pytest.mark.full
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name, batch, precision", [
    ("mlp", 4096, "fp32"), ("gpt2-two-layers", 16, "fp16"), ("resnet18", 64, "fp16")])
def test_wide_models(name, batch, precision, architecture, tmp_path):
    export_case(name, tmp_path / "model.onnx")
    execute([find_driver(), "compile", tmp_path / "model.onnx", "-o", tmp_path / "program", "--target=cuda",
             f"--device={'a100' if architecture == 'sm_80' else 'h200'}", f"--precision={precision}", f"--batch-size={batch}"])
    kernels = Kernels(tmp_path / "program", tmp_path, architecture)
    if precision == "fp32":
        check_registers(kernels)
    slow = {text: kernels.kernels[text.split(":")[0]] for text in kernels.slow()}
    assert [text for text, kernel in slow.items()
            if not has_few_columns(kernels, kernel) and not loads_all_at_once(kernels, kernel)] == []
    # What is waited for in vain is a few microseconds of a step.
    assert all(kernels.size_of(kernel) < 16 << 20 for kernel in slow.values()), slow


@pytest.fixture(scope="module")
def convolutional(tmp_path_factory):
    """A ResNet of 16 to 128 channels in half precision: rows of 2 to 16 vectors."""
    folder = tmp_path_factory.mktemp("sass-convolutional")
    export_case("resnet18-small", folder / "model.onnx")
    execute([find_driver(), "compile", folder / "model.onnx", "-o", folder / "program", "--target=cuda",
             "--device=h200", "--precision=fp16", "--batch-size=64"])
    return folder / "program"


@pytest.mark.parametrize("architecture", variants(["sm_80", "sm_90"], ["sm_90"]))
def test_short_rows(convolutional, architecture):
    """Groups of threads take the rows of elementwise kernels. They move vectors, and what all rows share stays in
    registers, which suffice."""
    kernels = Kernels(convolutional, convolutional.parent, architecture)
    for width, columns in [(2, 16), (4, 32), (8, 64), (16, 128)]:
        for name, kernel in kernels.having(f"iterations<{width}>({columns})").items():
            # The image's pixels are no neighbours: they become the channels of blocks.
            gathers_blocks = "iota<" in kernel.source
            assert gathers_blocks or any(code.startswith("LDG.E.128") for code in kernel.codes), name
            assert any(code.startswith("STG.E.128") for code in kernel.codes), name
            assert not [code for code in kernel.codes if re.match(r"(LDG|STG)\.E\.(U|S)?(8|16)\b|LDL|STL", code)], name


@pytest.mark.parametrize("architecture", [pytest.param("sm_80", marks=pytest.mark.full), "sm_90"])
def test_batches_of_rows_load_ahead(architecture, tmp_path):
    """Images of 28 * 28, 14 * 14 and 7 * 7 pixels are no whole number of batches. The compiler moves the loads of a row
    behind a test whether there is such a row, so that a thread has those of one under way: within a batch, there is none,
    whether rows are added up or share the terms of a batch norm."""
    case = models.images(models.ResNet(models.BasicBlock, [1, 1, 1, 1], 10, width=16), 112, 10, 8)
    gpuopt.export(case.module.train(), case.example_inputs(), tmp_path / "model.onnx", output_names=["logits"])
    execute([find_driver(), "compile", tmp_path / "model.onnx", "-o", tmp_path / "program", "--target=cuda",
             "--device=h200", "--precision=fp16", "--batch-size=256"])
    kernels = Kernels(tmp_path / "program", tmp_path, architecture)
    checked = {}
    for name, kernel in kernels.having("* groups<").items():
        rows = int(re.search(r"start \+= (\d+) \* groups<", kernel.source)[1])
        loads = rows * kernel.source.count("[k] = load_vector(")
        places = set(kernel.labels.values())
        text = " ".join("BRA " * (place in places) + code for place, code in enumerate(kernel.codes))
        assert max(part.count("LDG.E.128") for part in text.split("BRA")) >= loads, name
        if loads:
            checked[name] = kernel.source
    for text in "for (; start + ", "; start < end; ":  # sums over rows, and rows that share terms
        assert any(text in source for source in checked.values()), (text, list(checked))


@pytest.mark.parametrize("architecture", [pytest.param("sm_80", marks=pytest.mark.full), "sm_90"])
@pytest.mark.parametrize("name, text", variants([("gpt2-words", "row[t] ="), ("gpt2-vocabulary", "ExpSum<f16>")], [("gpt2-vocabulary", "ExpSum<f16>")]))
def test_long_rows(name, text, architecture, tmp_path):
    """Cross entropies over 1543 and 8209 words: what a row or a running sum needs is in registers, and the row that is
    held is read once. Its elements are not aligned: an iteration has loads for 8 lanes, and for up to 7 at the end of a row."""
    export_case(name, tmp_path / "model.onnx")
    execute([find_driver(), "compile", tmp_path / "model.onnx", "-o", tmp_path / "program", "--target=cuda",
             "--device=h200", "--precision=fp16", "--batch-size=64", "--loss-chunks=2"])
    kernels = Kernels(tmp_path / "program", tmp_path, architecture).having(text)
    kernels = {kernel: found.codes for kernel, found in kernels.items() if kernel.startswith("fused_cross_entropy")}
    assert kernels
    for kernel, codes in kernels.items():
        assert not any(code.startswith(("LDL", "STL")) for code in codes), kernel
        loads = sum(bool(re.match(r"LDG\.E\.U16", code)) for code in codes)
        if name == "gpt2-words":
            assert loads <= 2 * 15, kernel  # two iterations


@pytest.mark.full
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_vocabularies_take_few_instructions(architecture, tmp_path):
    """A thread has four vectors of logits under way, and no test of a row's end or of an address beside them. A logit is
    widened, compared, shifted, scaled, 2^x is taken and added: with the loop, and with what a vector with a much larger
    logit or with the label does alone, 9 instructions, and 11 for its gradient. They were 17 and 18 when each exponential
    had the range of all numbers and each element looked for the label."""
    export_case("gpt2-two-layers", tmp_path / "model.onnx")
    execute([find_driver(), "compile", tmp_path / "model.onnx", "-o", tmp_path / "program", "--target=cuda",
             f"--device={'a100' if architecture == 'sm_80' else 'h200'}", "--precision=fp16", "--batch-size=16"])
    kernels = Kernels(tmp_path / "program", tmp_path, architecture).having("whole_batches<4>")
    for name, kernel in kernels.items():
        batches = [loop for loop in kernel.loops() if not any(".U16" in i.code for i in loop)]
        assert len(batches) == kernel.source.count("start += 4"), name
        for loop in batches:
            most = 11 if any(i.code.startswith("STG") for i in loop) else 9
            codes = [i.code for i in loop]
            assert sum(code.startswith("LDG.E.128") for code in codes) == 4, name
            assert loads_before_use(codes) == 4, name
            assert sum(code.startswith("MUFU") for code in codes) <= 36, name
            assert len(codes) <= most * 32, (name, len(codes))

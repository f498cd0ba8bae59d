"""The emitted source of every model compiles for GPUs without warnings (the
program's build makes them errors), for sm_90 and, under --full, for sm_80 as
well, as users get it, and links against cudart, cuBLASLt and cuDNN. No GPU is
needed."""

import re
import shutil

import numpy as np
import pytest

import test_loops
from gpuopt.driver import find_driver
from emulated import nvidia_wheels
from exports import export_case
from training import FULL, OPTIMIZATION, execute
from variants import variants

# It calls both libraries. test/Driver/nvcc.test has attention, half precision and tensors that wait on the host.
QUICK = ["cnn"]
MODELS = ["mlp", "gpt2-small", "resnet18-small", "unet-small", "bert-small", "gpt2", "bert", "resnet18", "resnet50", "unet"]


pytestmark = [
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc"),
    pytest.mark.skipif(nvidia_wheels() is None, reason="no wheels of cuBLASLt and cuDNN"),
]


def build(model, *flags):
    program = model.with_name("program")
    execute([find_driver(), "compile", model, "-o", program, "--target=cuda", *flags])
    # nvcc's warnings come from its front end. To optimise as for a user takes half of the time.
    optimization = f"{OPTIMIZATION} -Xcicc {OPTIMIZATION} -Xptxas {OPTIMIZATION}"
    configured = execute(["cmake", "-S", program, "-B", program / "build", f"-DNVIDIA_WHEELS={nvidia_wheels()}",
                          f"-DCMAKE_CUDA_FLAGS_RELEASE={optimization}", *([] if FULL else ["-DCMAKE_CUDA_ARCHITECTURES=90"])])
    output = execute(["cmake", "--build", program / "build", "--verbose"])
    assert all(f"arch=compute_{architecture}" in output for architecture in ([80, "90a"] if FULL else [90, "90a"])), configured + output
    commands = [line for line in output.splitlines() if re.search(r"nvcc .* -c ", line)]
    # Not that of nvcc, or the latest that this CMake knows: all users compile the same language.
    assert commands and all("-std=c++17" in command for command in commands), commands
    assert "warning" not in output.replace("all-warnings", ""), output
    return program


@pytest.mark.full
def test_loops_build_for_gpus(tmp_path):
    """Those of an LSTM and of a Loop, of more iterations than are unrolled."""
    test_loops.write_layers(tmp_path / "model.onnx", np.float32)
    program = build(tmp_path / "model.onnx", "--loss=none")
    assert (program / "step.cu").read_text().count("iteration < 66") >= 4


@pytest.mark.parametrize("name", variants(QUICK + MODELS, QUICK))
def test_builds_for_gpus(name, tmp_path):
    case = export_case(name, tmp_path / "model.onnx")
    program = build(tmp_path / "model.onnx", f"--batch-size={case.batch}")
    needed = execute(["readelf", "-d", program / "build" / "trainer"])
    source = (program / "step.cu").read_text()
    # The linker leaves out what is not called.
    called = {"libcublasLt.so": "gemm(ctx", "libcudnn.so": "conv_forward<"}
    assert any(call in source for call in called.values())
    for library, call in called.items():
        assert library in needed or call not in source

"""find_package(gpuopt): what cmake --install installs is enough for a program that embeds the compiler."""

import pathlib
import subprocess

import pytest

from gpuopt.driver import find_driver

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run(*command, **options):
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.mark.full
def test_a_program_embeds_the_compiler(tmp_path):
    build = pathlib.Path(find_driver()).resolve().parents[1]
    installed, consumer, program = tmp_path / "installed", tmp_path / "embed", tmp_path / "program"
    run("cmake", "--install", build, "--prefix", installed)
    cache = dict(line.split("=", 1) for line in (build / "CMakeCache.txt").read_text().splitlines() if "=" in line)
    compilers = [f"-D{name}={value}" for name, value in cache.items() if name.startswith(("CMAKE_CXX_COMPILER:", "CMAKE_C_COMPILER:"))]
    run("cmake", "-S", HERE / "embed", "-B", consumer, f"-DCMAKE_PREFIX_PATH={installed}", "-DCMAKE_BUILD_TYPE=Debug", *compilers)
    run("cmake", "--build", consumer)
    program.mkdir()
    assert "wrote" in run(consumer / "embed", ROOT / "examples" / "gpt.onnx", program)
    assert "model.transformer.h.0.mlp.c_fc.weight" in (program / "memory.h").read_text()
    assert "add_loss(" in (program / "step.cu").read_text()
    # Nothing of the source tree is included.
    commands = run("cmake", "--build", consumer, "--clean-first", "--verbose")
    assert str(ROOT / "include") not in commands and str(ROOT / "lib" / "Runtime") not in commands, commands

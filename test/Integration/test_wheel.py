"""scripts/build-wheel.sh: a wheel that is installed alone compiles, builds and trains."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import gpuopt

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **options):
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.mark.full
def test_a_wheel_alone_trains(tmp_path):
    run(ROOT / "scripts" / "build-wheel.sh", tmp_path / "dist")
    [wheel] = (tmp_path / "dist").glob("gpuopt-*.whl")
    assert "manylinux" in wheel.name, wheel.name
    run(sys.executable, "-m", "venv", tmp_path / "bare")
    python = tmp_path / "bare" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    # Nothing of this checkout or of LLVM is found by the environment.
    clean = {"PATH": f"{tmp_path / 'bare' / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"),
             "CMAKE_BUILD_TYPE": "None"}
    command = tmp_path / "bare" / "bin" / "gpuopt"
    assert gpuopt.__version__ in run(command, "--version", env=clean)
    loaded = run("ldd", next(python.parent.parent.glob("lib/python*/site-packages/gpuopt/_compiler/bin/gpuopt")), env=clean)
    for line in loaded.splitlines():
        if "LLVM" in line or "MLIR" in line:
            assert str(tmp_path) in line, line
    np.save(tmp_path / "tokens.npy", np.arange(4096) % 50)
    run(command, "train", ROOT / "examples" / "gpt.onnx", "-o", tmp_path / "run", "--target=host", "--batch-size=2",
        "--tokens", tmp_path / "tokens.npy", "--max-steps=2", env=clean, cwd=tmp_path)
    assert (tmp_path / "run" / "model.safetensors").exists()
    script = "import gpuopt; print(gpuopt.plan(r'%s', target='host', batch_size=2)['fits'])" % (ROOT / "examples" / "gpt.onnx")
    assert run(python, "-c", script, env=clean, cwd=tmp_path).strip() == "True"

"""Programs for the host with oneDNN 3, which scripts/test.sh --full installs into build/onednn."""

import shlex
from pathlib import Path

import pytest

import models
import parity
from training import execute

ROOT = Path(__file__).resolve().parents[2]
ONEDNN = ROOT / "build/onednn"
RUNTIME = ROOT / "lib/Runtime"
FLAGS = "-std=c++20 -O1 -march=native -mno-avx512fp16 -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp"

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not (ONEDNN / "lib/libdnnl.so.3").exists(), reason="no oneDNN 3 in build/onednn"),
]


def test_products_and_convolutions(tmp_path):
    """The unit tests of what calls oneDNN."""
    tests = [ROOT / f"test/Unit/Runtime/{name}Test.cpp" for name in ("Gemm", "Conv", "PackedWeights", "Attention")]
    execute(["g++", *shlex.split(FLAGS), f"-I{RUNTIME}", "-isystem", ONEDNN / "include", *tests, "-o", tmp_path / "tests", f"-L{ONEDNN}/lib",
             f"-Wl,-rpath,{ONEDNN}/lib", "-ldnnl", "-lgtest_main", "-lgtest", "-lpthread"])
    output = execute([tmp_path / "tests"])
    assert "FAILED" not in output and "PASSED" in output


@pytest.mark.parametrize("model", ["cnn", "gpt2-tiny"])
def test_trains(model, tmp_path, monkeypatch):
    monkeypatch.setenv("CMAKE_PREFIX_PATH", str(ONEDNN))
    result = parity.measure(models.make(model), tmp_path)
    assert result.holds(), result
    program = next(tmp_path.rglob("build/trainer"))
    assert f"{ONEDNN}/lib/libdnnl.so.3" in execute(["ldd", program])

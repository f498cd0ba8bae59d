"""benchmarks/train.py and predict.py compare what they say they compare."""

import subprocess
import sys

import pytest

from conftest import ROOT
from gpuopt.driver import find_driver
from training import FULL


def test_sides_train_by_turns(tmp_path):
    """Under --full, a variant trains beside them, which is another program to build."""
    command = [sys.executable, ROOT / "benchmarks" / "train.py", "mlp", "--rounds=2", "--sides=gpuopt,eager"]
    command += [f"--driver={find_driver()}", f"--work={tmp_path}"]
    command += [f"--variant=sgd={find_driver()},--optimizer=sgd"] if FULL else []
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    rows = [line.split() for line in run.stdout.splitlines()[1:]]
    assert [row[:2] for row in rows] == [["mlp", name] for name in ["gpuopt", "eager"] + ["sgd"] * FULL]
    for _, _, median, least, ratio, steps, peak, steady, *seconds in rows:
        assert 0 < float(least) <= float(median)
        assert float(ratio) > 0 and int(steps) >= 6
        assert 0 < float(steady) <= float(peak)
        assert all(float(number) > 0 for number in seconds)
    resident = {row[1]: float(row[6]) for row in rows}
    assert resident.get("sgd", 0) <= resident["gpuopt"] < resident["eager"]


@pytest.mark.full
def test_predictions_beside_onnxruntime(tmp_path):
    command = [sys.executable, ROOT / "benchmarks" / "predict.py", "mlp", "--batches=1,3", "--rounds=2", "--threads=1"]
    command += [f"--driver={find_driver()}", f"--work={tmp_path}"]
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    *rows, mean = (line.split() for line in run.stdout.splitlines()[1:])
    assert [row[:3] for row in rows] == [["mlp", batch, side] for batch in "13" for side in ("gpuopt", "onnxruntime")]
    for *_, median, least, ratio, count, peak, steady, difference in rows:
        assert 0 < float(least) <= float(median) and float(ratio) > 0 and int(count) >= 6
        assert 0 < float(steady) <= float(peak) and 0 <= float(difference) < 1e-5
    assert float(mean[2]) > 0

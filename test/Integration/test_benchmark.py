"""benchmarks/train.py compares what it says it compares."""

import subprocess
import sys

import pytest

from conftest import ROOT
from gpuopt.driver import find_driver

pytestmark = pytest.mark.alone


def test_sides_train_by_turns(tmp_path):
    command = [sys.executable, ROOT / "benchmarks" / "train.py", "mlp", "--rounds=2", "--sides=gpuopt,eager"]
    command += [f"--driver={find_driver()}", f"--variant=sgd={find_driver()},--optimizer=sgd", f"--work={tmp_path}"]
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    rows = [line.split() for line in run.stdout.splitlines()[1:]]
    assert [row[:2] for row in rows] == [["mlp", "gpuopt"], ["mlp", "eager"], ["mlp", "sgd"]]
    for _, _, median, least, ratio, steps, peak, steady, *seconds in rows:
        assert 0 < float(least) <= float(median)
        assert float(ratio) > 0 and int(steps) >= 6
        assert 0 < float(steady) <= float(peak)
        assert all(float(number) > 0 for number in seconds)
    resident = {row[1]: float(row[6]) for row in rows}
    assert resident["sgd"] <= resident["gpuopt"] < resident["eager"]

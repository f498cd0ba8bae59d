"""`gpuopt doctor` trains a small model, and says what went wrong if it cannot."""

import os
import re
import subprocess

from gpuopt.driver import find_driver


def doctor(cache, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([find_driver(), "doctor", "--target=host"], capture_output=True, text=True,
                          env=os.environ | {"XDG_CACHE_HOME": str(cache)} | environment, check=False)


def test_the_self_test_learns(tmp_path):
    run = doctor(tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    losses = re.search(r"ok +host +a perceptron was .* for 80 steps in \d+ s; its loss went from ([\d.]+) to ([\d.]+)", run.stdout)
    assert losses, run.stdout
    assert float(losses[2]) < float(losses[1]) / 2
    assert run.stdout.endswith("Programs can be built and run for: host\n")


def test_a_compiler_that_fails_is_named(tmp_path):
    broken = tmp_path / "c++"
    broken.write_text('#!/bin/sh\ncase "$*" in\n*--version*) echo broken 12.1 ;;\n*-E*) ;;\n*) exit 1 ;;\nesac\n')
    broken.chmod(0o755)
    run = doctor(tmp_path / "cache", CXX=str(broken))
    assert run.returncode == 1, run.stdout
    assert re.search(r"ok +C\+\+ compiler +12.1 \(.*/c\+\+\)", run.stdout), run.stdout
    assert re.search(r"unfit +host +gpuopt train failed: gpuopt: error: the emitted program does not build", run.stdout), run.stdout
    assert run.stdout.endswith("Programs can be built and run for: no target\n")

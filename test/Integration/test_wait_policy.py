"""How the host's threads wait between kernels."""

import os
import pathlib
import subprocess

import pytest

pytestmark = pytest.mark.alone

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one core: no thread waits for another")
    executable = tmp_path_factory.mktemp("wait") / "wait_policy"
    source = pathlib.Path(__file__).with_name("wait_policy.cpp")
    subprocess.run(
        ["g++", "-std=c++20", "-O1", "-fopenmp", "-I", ROOT / "lib/Runtime", source, "-o", executable], check=True
    )
    return executable


def environment(**values):
    """The environment without what tells OpenMP how to wait, which the tests of other things set."""
    without = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_"))}
    return {**without, **values}


def numbers(probe, **values):
    output = subprocess.run([probe], env=environment(**values), check=True, capture_output=True, text=True).stdout
    return [float(line) for line in output.split()]


def test_threads_spin_and_sleep(probe):
    _, spinning, sleeping = numbers(probe)
    # A spin of 300,000 rounds takes one thread 3 to 20 ms, one of 100 some microseconds.
    assert spinning > 2 > 0.5 > sleeping


def test_omp_num_threads_is_the_default(probe):
    assert numbers(probe, OMP_NUM_THREADS="3")[0] == 3
    assert numbers(probe)[0] <= len(os.sched_getaffinity(0))

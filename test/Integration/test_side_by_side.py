"""No test is lost when tests run side by side, whatever becomes of a worker."""

import os
import re
import subprocess
import sys

from conftest import ROOT

# Those of scripts/test.sh.
FLAGS = re.search(r"-n \"\$workers\" (.*) -m ", (ROOT / "scripts" / "test.sh").read_text()).group(1).split() + ["-n2"]

PASSING = """
import pytest

@pytest.mark.parametrize("number", {numbers})
def test_number(number):
    pass
"""
SHARING = """
import os
import pytest

@pytest.fixture(scope="module", params=range(4))
def made(request):
    return request.param

@pytest.mark.parametrize("number", range(3))
def test_number(made, number):
    with open("made", "a") as file:
        print(made, os.environ["PYTEST_XDIST_WORKER"], file=file)
"""
CRASHING = """
import os
import pytest

@pytest.mark.parametrize("number", range(6))
def test_number(number):
    if number == 3:
        os._exit(1)
"""
SILENT = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    return item.name == "test_number[3]" or None  # nobody else runs it
"""


def summary(folder, tests: str, plugin: str = "") -> tuple[str, str]:
    """What scripts/test.sh says in the end of a file of tests."""
    (folder / "results").mkdir()
    (folder / "test_it.py").write_text(tests)
    (folder / "conftest.py").write_text(plugin)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(ROOT / "test" / "Integration")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "side_by_side", *FLAGS, f"--junit-xml={folder / 'results' / 'it.xml'}", folder],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=folder,
    )
    (folder / "results" / "it.status").write_text(str(run.returncode))
    summarized = subprocess.run(
        [sys.executable, ROOT / "scripts" / "summarize_tests.py", folder / "results"], stdout=subprocess.PIPE, text=True, check=False,
    )
    return summarized.stdout, run.stdout


def test_all_pass(tmp_path):
    told, output = summary(tmp_path, PASSING.format(numbers="range(6)"))
    assert told == "6 passed, 0 failed, 0 skipped\n", output


def test_one_worker_runs_what_shares_a_fixture(tmp_path):
    told, output = summary(tmp_path, SHARING)
    assert told == "12 passed, 0 failed, 0 skipped\n", output
    assert len(set((tmp_path / "made").read_text().splitlines())) == 4


def test_a_worker_crashes(tmp_path):
    """It takes one test with it, and what it should have run after that."""
    told, output = summary(tmp_path, CRASHING)
    assert "FAILED   it: test_it.test_number[3]\n" in told, output
    passed, failed = map(int, re.search(r"^(\d+) passed, (\d+) failed, 0 skipped$", told, re.M).groups())
    assert passed + failed == 6 and passed > 0, output


def test_a_test_is_not_reported(tmp_path):
    told, output = summary(tmp_path, PASSING.format(numbers="range(6)"), SILENT)
    assert told == "FAILED   it: test_it.test_number[3]\n5 passed, 1 failed, 0 skipped\n", output
    assert "no worker reported this test" in output


def test_workers_find_different_tests(tmp_path):
    """pytest-xdist then runs none."""
    numbers = '["same", __import__("os").environ.get("PYTEST_XDIST_WORKER")]'
    told, output = summary(tmp_path, PASSING.format(numbers=numbers))
    assert "FAILED   it: test_it.test_number[same]\n" in told and re.search(r"^0 passed, [1-9]", told, re.M), output

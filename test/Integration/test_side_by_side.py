"""No test is lost when tests run side by side, whatever becomes of a worker."""

import os
import re
import subprocess
import sys

import pytest

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
    return summarized(folder / "results"), run.stdout


def summarized(results) -> str:
    command = [sys.executable, ROOT / "scripts" / "summarize_tests.py", results]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout


@pytest.mark.full
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


@pytest.mark.full
def test_a_test_is_not_reported(tmp_path):
    told, output = summary(tmp_path, PASSING.format(numbers="range(6)"), SILENT)
    assert told == (
        "FAILED   it: test_it.test_number[3]\n         no worker reported this test\n5 passed, 1 failed, 0 skipped\n"), output


@pytest.mark.full
def test_workers_find_different_tests(tmp_path):
    """pytest-xdist then runs none."""
    numbers = '["same", __import__("os").environ.get("PYTEST_XDIST_WORKER")]'
    told, output = summary(tmp_path, PASSING.format(numbers=numbers))
    assert "FAILED   it: test_it.test_number[same]\n" in told and re.search(r"^0 passed, [1-9]", told, re.M), output


FAILING = """
import subprocess

import pytest

class CommandFailed(AssertionError):
    pass

@pytest.fixture
def folder():
    raise OSError("no folder")

@pytest.mark.parametrize("file", range(3))
def test_full(file):
    raise CommandFailed(f"cmake --build {file}\\nninja: No space left on device")

def test_setup(folder):
    pass

def test_assertion():
    assert [1, 2] == [1, 3], "a list"

def test_long():
    assert False, 1000 * "x"
"""


def test_the_end_says_why_tests_failed(tmp_path):
    """A message of several tests stands once, beside the first; of a command's output it is the last line."""
    told, output = summary(tmp_path, FAILING)
    *lines, last = told.splitlines()
    assert last == "0 passed, 6 failed, 0 skipped", output
    said = dict(zip(lines[2::2], lines[3::2]))
    # Whichever worker ended first has the first of them.
    first = next(line for line, why in said.items() if why == "         ninja: No space left on device (in 3 tests)")
    assert sorted([*lines[:2], first]) == [f"FAILED   it: test_it.test_full[{file}]" for file in range(3)]
    said.pop(first)
    assert said.pop("FAILED   it: test_it.test_setup") == '         failed on setup with "OSError: no folder"'
    assert said.pop("FAILED   it: test_it.test_assertion").startswith("         AssertionError: a list assert [1, 2] == [1, 3] At index 1")
    assert said.pop("FAILED   it: test_it.test_long") == f"         {('AssertionError: ' + 300 * 'x')[:297]}..."
    assert not said


def test_few_messages_are_shown(tmp_path):
    """Those of lit and of other commands have the line of the first error."""
    cases = [f'<testcase name="{name}"><failure>Exit Code: 1\n\n--\n+ FileCheck {name}.test\n{name}.test:2: error: CHECK {name}\nInput was:\n&lt;&lt;\n--\n</failure></testcase>'
             for name in "abcdefghijkl"]
    (tmp_path / "lit.xml").write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    lines = summarized(tmp_path).splitlines()
    assert lines[:2] == ["FAILED   lit: k", "FAILED   lit: l"]
    assert lines[2:4] == ["FAILED   lit: a", "         a.test:2: error: CHECK a"]
    assert lines[-2:] == ["         j.test:2: error: CHECK j", "0 passed, 12 failed, 0 skipped"]

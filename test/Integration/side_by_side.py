"""How tests run side by side, under pytest-xdist: a pytest plugin.

What shares a fixture of a module runs in one worker, so that nothing is built
twice; and a run from which a test is missing, whatever became of its worker,
fails and names it.

pytest-xdist 3.8 has such groups as well, but puts them into names of tests that
pytest 9.2 no longer lets it change: here the workers write them to a file.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest

try:
    from xdist.scheduler import LoadScopeScheduling
except ImportError:  # one process runs all
    LoadScopeScheduling = object

FOLDER = "GPUOPT_TEST_GROUPS"


def group_of(item) -> str:
    """The mark xdist_group, or tests of a module that share what is made once
    for all of them, each parameter of it apart."""
    mark = item.get_closest_marker("xdist_group")
    if mark:
        return mark.args[0]
    fixtures = [name for name, found in item._fixtureinfo.name2fixturedefs.items()
                if found[-1].scope == "module" and found[-1].baseid.endswith(".py")]
    if not fixtures:
        return item.nodeid
    parameters = item.callspec.indices if hasattr(item, "callspec") else {}
    shared = [f"{name}{parameters[name]}" if name in parameters else name for name in sorted(fixtures)]
    return "-".join([item.module.__name__.removeprefix("test_"), *shared])


class EveryTestReports:
    """On the controller: what the workers collected and none has reported, since
    one crashed or found other tests, has failed."""

    def __init__(self):
        self.collected, self.reported = {}, set()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids):
        self.collected.update(dict.fromkeys(ids))

    def pytest_runtest_logreport(self, report):
        self.reported.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)  # before the file of results is written
    def pytest_sessionfinish(self, session):
        missing = [name for name in self.collected if name not in self.reported]
        for name in missing:
            file = name.split("::")[0]
            report = pytest.TestReport(name, (file, None, file), {}, "failed", "no worker reported this test", "call")
            session.config.hook.pytest_runtest_logreport(report=report)
        if missing:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


class GroupScheduling(LoadScopeScheduling):
    """On the controller: deals out whole groups."""

    groups = None

    def _split_scope(self, nodeid: str) -> str:
        if self.groups is None:
            self.groups = json.loads(Path(os.environ[FOLDER], "groups.json").read_text())
        return self.groups[nodeid]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return GroupScheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(EveryTestReports())
        os.environ[FOLDER] = tempfile.mkdtemp()


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ[FOLDER])


@pytest.hookimpl(tryfirst=True)  # before the controller hears of it
def pytest_collection_finish(session):
    if hasattr(session.config, "workerinput"):
        mine = Path(os.environ[FOLDER], str(os.getpid()))
        mine.write_text(json.dumps({item.nodeid: group_of(item) for item in session.items}))
        mine.replace(mine.with_name("groups.json"))  # all workers write the same

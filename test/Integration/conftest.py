import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def pytest_configure(config):
    config.addinivalue_line("markers", "full: takes longer; run by scripts/test.sh --full")


@pytest.fixture(scope="session")
def driver():
    """Runs build/bin/gpuopt; returns the finished process."""

    def run(*arguments, check=True):
        environment = dict(os.environ, OMP_WAIT_POLICY="passive")
        result = subprocess.run(
            [str(ROOT / "build/bin/gpuopt"), *map(str, arguments)],
            capture_output=True, text=True, env=environment,
        )
        if check:
            assert result.returncode == 0, result.stdout + result.stderr
        return result

    return run

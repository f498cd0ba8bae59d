import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).resolve().parent)]

pytest_plugins = ["side_by_side"]

# The first of a run side by side, so that no worker waits for them at the end.
LONGEST = ["test_precision", "test_emulated", "test_emulated_bottlenecks", "test_emulated_ops", "test_emulated_faults", "test_models", "test_zoo", "test_exported_functions",
           "test_conv_plans", "test_budget", "test_ops", "test_loss_scaling"]


def pytest_configure(config):
    config.addinivalue_line("markers", "full: takes long, or is a variant of what runs by default; runs under scripts/test.sh --full")
    config.addinivalue_line("markers", "alone: measures time or memory; scripts/test.sh runs it when nothing else runs")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("full") and os.environ.get("GPUOPT_FULL_TESTS") != "1":
            item.add_marker(pytest.mark.skip(reason="takes long, or is a variant of another test: scripts/test.sh --full"))
    rank = {name: index for index, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.module.__name__, len(rank)))


@pytest.fixture(scope="session", autouse=True)
def threads():
    """As many for PyTorch as the trainers use, and none that spin. As many files of a program are compiled at a time."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import torch

    from training import THREADS

    torch.set_num_threads(THREADS)
    os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(THREADS))


def shared_folder(tmp_path_factory, name: str) -> Path:
    """One for all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def compiler_cache(tmp_path_factory):
    from compiler_cache import use_compiler_cache

    use_compiler_cache(tmp_path_factory.getbasetemp(), lambda name: shared_folder(tmp_path_factory, name))


@pytest.fixture(scope="session")
def small_model(tmp_path_factory):
    """The module of small_model.py and its file, which no test changes."""
    from small_model import export

    path = tmp_path_factory.mktemp("small") / "model.onnx"
    return export(path), path


@pytest.fixture(scope="session", autouse=True)
def exports(tmp_path_factory):
    os.environ["GPUOPT_TEST_EXPORTS"] = str(shared_folder(tmp_path_factory, "exports"))

"""The same input gives the same bytes, compiled or trained."""

import filecmp

import numpy as np
import pytest

from gpuopt.driver import find_driver
from exports import export_case
from training import FULL, Trainer, execute
from variants import variants


def differences(comparison: filecmp.dircmp) -> list[str]:
    found = comparison.left_only + comparison.right_only + comparison.funny_files
    _, different, errors = filecmp.cmpfiles(comparison.left, comparison.right, comparison.common_files, shallow=False)
    found += different + errors
    for below in comparison.subdirs.values():
        found += differences(below)
    return found


@pytest.fixture(scope="module", params=variants(["cnn", "cnn-norms", "gpt2-small-dropout", "resnet18-small"], ["cnn-norms", "gpt2-small-dropout"]))
def exported(request, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param) / "model.onnx"
    case = export_case(request.param, path)
    return case, path


def test_compiling_twice(exported, tmp_path):
    case, model = exported
    for folder in ("one", "two"):
        execute([find_driver(), "compile", model, "-o", tmp_path / folder, "--target=host", f"--batch-size={case.batch}"])
    assert differences(filecmp.dircmp(tmp_path / "one", tmp_path / "two")) == []


def test_training_again(exported, tmp_path, monkeypatch):
    """By the same program, however its threads wait, and by one that the C++
    compiler optimises less, as the programs of other tests are."""
    case, model = exported
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.setenv("GPUOPT_TEST_KEEP_STEPS", "1")
    quick = Trainer(model, tmp_path / "O1", optimization="-O1", batch_size=case.batch)
    # GPT-2's step takes the compiler longest: by default it is compiled once.
    compiled_twice = FULL or case.convolutional
    full = Trainer(model, tmp_path / "O3", optimization="-O3", batch_size=case.batch) if compiled_twice else quick
    flags = dict(shuffle=True, max_steps=10, learning_rate=1e-3, num_threads=2)
    one = full.run(case.inputs, case.labels, **flags)
    for trainer, policy in ((full, "passive"), (full, "active"), (quick, "auto")):
        again = trainer.run(case.inputs, case.labels, wait_policy=policy, **flags)
        assert one.losses == again.losses, f"{trainer.folder.name}, {policy}"
        for name, array in one.weights.items():
            np.testing.assert_array_equal(array, again.weights[name], err_msg=f"{name} of {trainer.folder.name}, {policy}")

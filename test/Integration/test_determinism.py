"""The same input gives the same bytes, compiled or trained."""

import filecmp

import numpy as np
import pytest

import gpuopt
import models
from gpuopt.driver import find_driver
from training import Trainer, execute


def differences(comparison: filecmp.dircmp) -> list[str]:
    found = comparison.left_only + comparison.right_only + comparison.funny_files
    _, different, errors = filecmp.cmpfiles(comparison.left, comparison.right, comparison.common_files, shallow=False)
    found += different + errors
    for below in comparison.subdirs.values():
        found += differences(below)
    return found


@pytest.fixture(scope="module", params=["cnn", "gpt2-small-dropout", "resnet18-small"])
def exported(request, tmp_path_factory):
    case = models.make(request.param)
    path = tmp_path_factory.mktemp(request.param) / "model.onnx"
    gpuopt.export(case.module, case.example_inputs(), path, output_names=["logits"])
    return case, path


def test_compiling_twice(exported, tmp_path):
    case, model = exported
    for folder in ("one", "two"):
        execute([find_driver(), "compile", model, "-o", tmp_path / folder, "--target=host", f"--batch-size={case.batch}"])
    assert differences(filecmp.dircmp(tmp_path / "one", tmp_path / "two")) == []


def test_training_twice(exported, tmp_path, monkeypatch):
    case, model = exported
    trainer = Trainer(model, tmp_path / "program", batch_size=case.batch)
    # How threads wait is no part of the result either.
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    one, *others = (
        trainer.run(case.inputs, case.labels, shuffle=True, max_steps=10, learning_rate=1e-3, wait_policy=policy)
        for policy in ("auto", "auto", "active", "passive")
    )
    for other in others:
        assert one.losses == other.losses
        for name, array in one.weights.items():
            np.testing.assert_array_equal(array, other.weights[name], err_msg=name)

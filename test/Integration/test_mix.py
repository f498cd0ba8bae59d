"""--mixup and --cutmix, and labels that are given as classes where a loss needs probabilities."""

import json

import numpy as np
import pytest
import torch

import gpuopt
from gpuopt.driver import find_driver
from emulated import EmulatedTrainer, needs_target
from training import OPTIMIZATION_FOR_ONE_STEP, CommandFailed, Trainer, execute

BATCH, SAMPLES, CLASSES, SIDE = 6, 24, 5, 8
RUN = dict(learning_rate=1e-2, max_steps=8)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The folder with a model of pictures, its data, and classes as labels."""
    folder = tmp_path_factory.mktemp("mix")
    torch.manual_seed(2)
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, CLASSES))
    gpuopt.export(module.train(), torch.zeros(2, 3, SIDE, SIDE), folder / "model.onnx", input_names=["x"])
    draw = np.random.default_rng(0)
    np.save(folder / "x.npy", draw.normal(size=(SAMPLES, 3, SIDE, SIDE)).astype(np.float32))
    np.save(folder / "y.npy", draw.integers(0, CLASSES, SAMPLES))
    return folder


@pytest.fixture(scope="module")
def trainer(data):
    return Trainer(data / "model.onnx", data / "program", OPTIMIZATION_FOR_ONE_STEP, batch_size=BATCH, loss="soft_cross_entropy")


def run(trainer, data, out, **flags):
    return trainer.run_files(out, data={"x": data / "x.npy"}, labels=data / "y.npy", **{**RUN, **flags})


def test_classes_are_probabilities(trainer, data, tmp_path):
    """Classes as labels give the losses that cross_entropy has of them."""
    other = Trainer(data / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, batch_size=BATCH)
    expected = run(other, data, tmp_path / "classes").losses
    assert run(trainer, data, tmp_path / "probabilities").losses == pytest.approx(expected, rel=1e-5)


def test_a_run_that_goes_on_mixes_the_same(trainer, data, tmp_path):
    flags = dict(mixup=0.8, cutmix=1, mixup_prob=0.9, num_workers=2)
    whole = run(trainer, data, tmp_path / "whole", **flags)
    plain = run(trainer, data, tmp_path / "plain")
    assert whole.losses[0] != plain.losses[0]
    run(trainer, data, tmp_path / "part", **flags, save_steps=3)
    rest = run(trainer, data, tmp_path / "rest", **{**flags, "num_workers": 0}, resume=tmp_path / "part" / "checkpoint-3")
    assert rest.losses == whole.losses[3:]
    for name, weights in whole.weights.items():
        np.testing.assert_array_equal(rest.weights[name], weights)
    state = json.loads((tmp_path / "part" / "checkpoint-3" / "trainer_state.json").read_text())
    assert "mixup" in json.dumps(state)


@needs_target
def test_a_gpu_mixes_the_same(trainer, data, tmp_path):
    """A replayed graph mixes each batch by draws of its own, on the emulated target."""
    emulated = EmulatedTrainer(data / "model.onnx", tmp_path / "program", batch_size=BATCH, loss="soft_cross_entropy")
    flags = dict(mixup=0.8, cutmix=1, max_steps=5)
    expected = run(trainer, data, tmp_path / "host", **flags).losses
    assert run(emulated, data, tmp_path / "emulated", **flags).losses == pytest.approx(expected, rel=1e-5)


def test_labels_that_cannot_be_mixed(data, tmp_path):
    """What is wrong is said before anything is built."""
    flags = ["--data", f"x={data / 'x.npy'}", "--labels", data / "y.npy", "--batch-size=6", "--cutmix=1"]
    with pytest.raises(CommandFailed) as error:
        execute([find_driver(), "train", data / "model.onnx", "-o", tmp_path / "run", *flags])
    assert ("'--cutmix' mixes labels that are a probability for each class, but 'labels' is i64 [6]; the losses "
            "soft_cross_entropy and bce_with_logits have such labels") in error.value.output
    assert not (tmp_path / "run").exists()

"""gpuopt export: the ONNX file with trained weights computes what the trainer does."""

import shutil
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import gpuopt
from gpuopt import safetensors
from gpuopt.driver import find_driver
from training import Trainer

SAMPLES, BATCH = 44, 8  # the last batch of a validation is not full


class Small(torch.nn.Module):
    """Running statistics, a tied weight and a bias of few elements."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = torch.nn.Linear(16, 32), torch.nn.BatchNorm1d(32)
        self.second, self.last = torch.nn.Linear(32, 32), torch.nn.Linear(32, 5)
        self.tied = self.second

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        return self.last(torch.tanh(self.tied(self.second(x))))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("data"), np.random.default_rng(1)
    np.save(folder / "x.npy", draw.normal(size=(SAMPLES, 16)).astype(np.float32))
    np.save(folder / "labels.npy", draw.integers(0, 5, SAMPLES))
    return dict(data={"x": folder / "x.npy"}, labels=folder / "labels.npy",
                eval_data={"x": folder / "x.npy"}, eval_labels=folder / "labels.npy")


@pytest.fixture(scope="module")
def trained(tmp_path_factory, files):
    """A program beside its results, and the loss of its validation."""
    folder = tmp_path_factory.mktemp("trained")
    torch.manual_seed(2)
    gpuopt.export(Small().train(), torch.zeros(2, 16), folder / "model.onnx", input_names=["x"])
    trainer = Trainer(folder / "model.onnx", folder / "program", optimization="-O1", batch_size=BATCH)
    result = trainer.run_files(folder / "program" / "run", learning_rate=0.02, max_steps=30, save_steps=20,
                               ema_decay=0.9, **files)
    return trainer, result.evaluations[-1]["eval_loss"]


def export(run, target, *arguments):
    command = [find_driver(), "export", run, "-o", target, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def loss_of(model, files):
    """By onnxruntime, over all samples at once."""
    onnx.checker.check_model(str(model), full_check=True)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    [logits] = session.run(None, {"x": np.load(files["data"]["x"])})
    labels = torch.from_numpy(np.load(files["labels"]))
    return torch.nn.functional.cross_entropy(torch.from_numpy(logits), labels).item()


def test_has_the_loss_of_the_trainer(trained, files, tmp_path):
    trainer, loss = trained
    run = trainer.folder / "run"
    process = export(run, tmp_path / "trained.onnx")
    assert process.returncode == 0, process.stderr
    assert loss_of(tmp_path / "trained.onnx", files) == pytest.approx(loss, abs=1e-5)
    assert abs(loss_of(trainer.folder.parent / "model.onnx", files) - loss) > 1e-2, "training has changed the loss"

    # A checkpoint and the averages have other weights.
    for source, flags in ((run / "checkpoint-20", []), (run, ["--averages"])):
        assert export(source, tmp_path / "other.onnx", *flags).returncode == 0
        initializers = onnx.load(tmp_path / "other.onnx").graph.initializer
        stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in initializers}
        weights = safetensors.read(source / ("ema.safetensors" if flags else "model.safetensors"))
        shared = set(stored) & set(weights)
        assert len(shared) >= 10 and any("running_mean" in name for name in shared)
        for name in shared:
            np.testing.assert_array_equal(stored[name], weights[name], err_msg=name)


@pytest.mark.parametrize("values", ["external", "typed"])
def test_however_the_file_has_the_weights(trained, files, tmp_path, values):
    """In a file beside the model, which has the same name beside the result, or as lists of numbers."""
    trainer, loss = trained
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "weights").mkdir(parents=True)
    target.mkdir()
    model = onnx.load(trainer.folder.parent / "model.onnx")
    if values == "external":
        onnx.save(model, source / "m.onnx", save_as_external_data=True, location="weights/all.bin", size_threshold=0)
    else:
        for tensor in model.graph.initializer:
            if tensor.data_type == onnx.TensorProto.FLOAT:
                numbers = onnx.numpy_helper.to_array(tensor).ravel()
                tensor.ClearField("raw_data")
                tensor.float_data.extend(numbers)
        onnx.save(model, source / "m.onnx")
    process = export(trainer.folder / "run", target / "m.onnx", "--model", source / "m.onnx")
    assert process.returncode == 0, process.stderr
    assert (target / "weights" / "all.bin").exists() == (values == "external")
    assert loss_of(target / "m.onnx", files) == pytest.approx(loss, abs=1e-5)
    if values == "external":
        before = (source / "weights" / "all.bin").read_bytes()
        process = export(trainer.folder / "run", source / "trained.onnx", "--model", source / "m.onnx")
        assert process.returncode == 1
        message = "m.onnx: has elements in 'weights/all.bin' beside it, which would be replaced: write to a file in another folder"
        assert message in process.stderr
        assert (source / "weights" / "all.bin").read_bytes() == before and not (source / "trained.onnx").exists()


def test_errors(trained, tmp_path):
    trainer, _ = trained
    shutil.copytree(trainer.folder / "run", tmp_path / "away")
    process = export(tmp_path / "away", tmp_path / "a.onnx")
    assert process.returncode == 1 and "that says which model it is of; name it by --model" in process.stderr
    process = export(tmp_path, tmp_path / "a.onnx", "--model", trainer.folder.parent / "model.onnx")
    assert process.returncode == 1 and "model.safetensors'" in process.stderr
    gpuopt.export(torch.nn.Linear(16, 4), torch.zeros(2, 16), tmp_path / "other.onnx", input_names=["x"])
    process = export(tmp_path / "away", tmp_path / "a.onnx", "--model", tmp_path / "other.onnx")
    assert process.returncode == 1 and "has no weight of" in process.stderr
    model = onnx.load(trainer.folder.parent / "model.onnx")
    for tensor in model.graph.initializer:
        if tensor.name.endswith("last.bias"):
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.zeros(7, np.float32), tensor.name))
    onnx.save(model, tmp_path / "unfit.onnx")
    process = export(tmp_path / "away", tmp_path / "a.onnx", "--model", tmp_path / "unfit.onnx")
    assert process.returncode == 1 and "is F32 [5] there, but the model has it as f32 [7]" in process.stderr
    assert not (tmp_path / "a.onnx").exists()
    process = subprocess.run([find_driver(), "export", tmp_path], capture_output=True, text=True, check=False)
    assert process.returncode == 1 and "a file is needed: -o FILE.onnx" in process.stderr

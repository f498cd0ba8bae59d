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
    """In a file beside the model, which is named after the result, or as lists of numbers."""
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
    assert (target / "m.onnx.data").exists() == (values == "external")
    assert loss_of(target / "m.onnx", files) == pytest.approx(loss, abs=1e-5)
    if values == "external":
        before, kept = (source / "weights" / "all.bin").read_bytes(), (target / "m.onnx.data").read_bytes()
        (target / "first.onnx.data").write_bytes(b"mine")
        process = export(trainer.folder / "run", target / "first.onnx", "--model", source / "m.onnx")
        assert process.returncode == 1 and "m.onnx: has elements that would be written to '" in process.stderr
        assert "first.onnx.data', which exists although there is no '" in process.stderr
        assert "' that it would belong to: choose another name, or remove it" in process.stderr
        assert (target / "first.onnx.data").read_bytes() == b"mine" and not (target / "first.onnx").exists()
        # Neither the model's weights nor those of the first result are replaced.
        for other in (source / "trained.onnx", target / "second.onnx"):
            process = export(trainer.folder / "run" / "checkpoint-20", other, "--model", source / "m.onnx")
            assert process.returncode == 0, process.stderr
        assert (source / "weights" / "all.bin").read_bytes() == before
        assert (target / "m.onnx.data").read_bytes() == kept != (target / "second.onnx.data").read_bytes()
        onnx.save(onnx.load(source / "m.onnx"), source / "n.onnx", save_as_external_data=True, location="t.onnx.data", size_threshold=0)
        process = export(trainer.folder / "run", source / "t.onnx", "--model", source / "n.onnx")
        assert process.returncode == 1
        assert "n.onnx: has elements in '" in process.stderr
        assert "t.onnx.data', which would be replaced: write to a file of another name" in process.stderr


def external(name, path, offset, shape):
    tensor = onnx.TensorProto(name=name, data_type=onnx.TensorProto.FLOAT, dims=shape, data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", path), ("offset", offset), ("length", 4 * int(np.prod(shape)))):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def test_tensors_that_share_elements_of_a_file(tmp_path):
    """They share them no more if the new elements of one are others; a second file has a name of its own."""
    folder = tmp_path / "source"
    folder.mkdir()
    for name in ("a.bin", "b.bin"):
        np.arange(16, dtype=np.float32).tofile(folder / name)
    tensors = [external("first", "a.bin", 0, [4]), external("second", "./a.bin", 0, [4]), external("kept", "a.bin", 0, [4]),
               external("alone", "a.bin", 32, [4]), external("half", "a.bin", 40, [2]), external("other", "b.bin", 16, [4])]
    constant = onnx.helper.make_node("Constant", [], ["constant"], value=external("constant", "b.bin", 48, [4]))
    names = [tensor.name for tensor in tensors if tensor.name != "half"]
    sum_of_all = onnx.helper.make_node("Sum", ["x", *names, "constant"], ["y"])
    graph = onnx.helper.make_graph(
        [constant, sum_of_all], "graph", [onnx.helper.make_tensor_value_info("x", 1, [4])],
        [onnx.helper.make_tensor_value_info("y", 1, [4])], tensors)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    new = {name: np.full(4, number, np.float32) for number, name in enumerate(("first", "second", "alone"))}
    safetensors.write(tmp_path / "new.safetensors", new)
    process = export(tmp_path / "new.safetensors", tmp_path / "n.onnx", "--model", folder / "m.onnx")
    assert process.returncode == 0, process.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["n.onnx", "n.onnx.data", "n.onnx.data.2", "new.safetensors", "source"]
    written = onnx.load(tmp_path / "n.onnx")
    found = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in written.graph.initializer}
    expected = {"kept": np.arange(4), "half": np.arange(10, 12), "other": np.arange(4, 8), **new}
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
    [value] = written.graph.node[0].attribute
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(value.t), np.arange(12, 16))
    # Elements that are there already are not stored again.
    safetensors.write(tmp_path / "equal.safetensors", {"first": np.arange(4, dtype=np.float32)})
    process = export(tmp_path / "equal.safetensors", tmp_path / "equal.onnx", "--model", folder / "m.onnx")
    assert process.returncode == 0, process.stderr
    assert (tmp_path / "equal.onnx.data").read_bytes() == (folder / "a.bin").read_bytes()
    # The copy of one file must not replace another that the model has.
    (folder / "b.bin").rename(folder / "t.onnx.data")
    for tensor in (*model.graph.initializer, model.graph.node[0].attribute[0].t):
        for entry in tensor.external_data:
            entry.value = entry.value.replace("b.bin", "t.onnx.data")
    for name in ("m.onnx", "t.onnx"):
        (folder / name).write_bytes(model.SerializeToString())
    process = export(tmp_path / "new.safetensors", folder / "t.onnx", "--model", folder / "m.onnx")
    assert process.returncode == 1
    assert "t.onnx.data', which would be replaced: write to a file of another name" in process.stderr
    assert (folder / "t.onnx.data").read_bytes() == (folder / "a.bin").read_bytes()
    model.graph.node[0].attribute[0].t.data_type = onnx.TensorProto.STRING
    (folder / "text.onnx").write_bytes(model.SerializeToString())
    process = export(tmp_path / "new.safetensors", tmp_path / "text-too.onnx", "--model", folder / "text.onnx")
    assert process.returncode == 1
    assert "attribute 'value' of node '' has elements in another file, but its type or shape is none that gpuopt reads" in process.stderr


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

"""Losses that read the statistics of a normalisation, statistics that the graph computes, and running statistics that
several nodes read and change: as PyTorch in double precision."""

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

import gpuopt
from op_models import COMPILE_FLAGS, STEP_FLAGS
from training import OPTIMIZATION_FOR_ONE_STEP, Trainer

ROWS, SIZE, EPSILON = 6, 4, 1e-3
node = helper.make_node


def gradients_of_step(nodes, tensors, terms, folder, **flags):
    """The gradients of the sum of products of `terms` (pairs of names) by a program, and its tensors after the step. The
    node's operand x1 is x, and no parameter that it reads directly."""
    nodes = [node("Mul", ["x", "one"], ["x1"]), *nodes]
    for i, (value, weight) in enumerate(terms):
        nodes += [node("Mul", [value, weight], [f"product{i}"]), node("ReduceSum", [f"product{i}"], [f"term{i}"], keepdims=0)]
    nodes.append(node("Sum", [f"term{i}" for i in range(len(terms))], ["loss"]))
    graph = helper.make_graph(nodes, "statistics", [helper.make_tensor_value_info("one", TensorProto.DOUBLE, [1])],
                              [helper.make_tensor_value_info("loss", TensorProto.DOUBLE, [])],
                              [numpy_helper.from_array(value, name) for name, value in tensors.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "model.onnx")
    trainer = Trainer(folder / "model.onnx", folder / "program", OPTIMIZATION_FOR_ONE_STEP, **{**COMPILE_FLAGS, **flags})
    before = {name: np.array(value) for name, value in trainer.initial_weights().items()}
    after = trainer.run({"one": np.ones(1)}, **STEP_FLAGS).weights
    return {name: value - after[name] for name, value in before.items()}, after


def drawn(**shapes):
    random = np.random.default_rng(3)
    return {name: random.standard_normal(shape) for name, shape in shapes.items()}


def check(gradients, tensors, loss, names):
    """`loss` is a function of PyTorch's tensors by name."""
    values = {name: torch.from_numpy(value).requires_grad_(value.dtype == np.float64) for name, value in tensors.items()}
    loss(values).backward()
    for name in names:
        np.testing.assert_allclose(gradients[name], values[name].grad.numpy(), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("terms", [("y", "mean", "rstd"), ("mean",), ("rstd",)], ids="-".join)
def test_statistics_of_layer_norm(terms, tmp_path):
    tensors = drawn(x=(ROWS, SIZE), scale=SIZE, bias=SIZE, of_y=(ROWS, SIZE), of_mean=(ROWS, 1), of_rstd=(ROWS, 1))
    norm = node("LayerNormalization", ["x1", "scale", "bias"], ["y", "mean", "rstd"], epsilon=EPSILON)
    gradients, _ = gradients_of_step([norm], tensors, [(term, f"of_{term}") for term in terms], tmp_path)

    def loss(v):
        mean = v["x"].mean(1, keepdim=True)
        rstd = (v["x"].var(1, unbiased=False, keepdim=True) + EPSILON).rsqrt()
        values = {"y": (v["x"] - mean) * rstd * v["scale"] + v["bias"], "mean": mean, "rstd": rstd}
        return sum((values[term] * v[f"of_{term}"]).sum() for term in terms)

    check(gradients, tensors, loss, ["x", "scale", "bias"] if "y" in terms else ["x"])


@pytest.mark.parametrize("terms", [("y", "mean", "variance"), ("mean",), ("variance",)], ids="-".join)
def test_running_statistics_of_batch_norm(terms, tmp_path):
    """ONNX's running variance is PyTorch's, of the unbiased one. What it was before the step has a gradient as well."""
    tensors = drawn(x=(ROWS, SIZE), scale=SIZE, bias=SIZE, mean0=SIZE, of_y=(ROWS, SIZE), of_mean=SIZE, of_variance=SIZE)
    tensors["variance0"] = 1 + tensors["mean0"] ** 2
    nodes = [node("Mul", ["mean0", "one"], ["mean1"]), node("Mul", ["variance0", "one"], ["variance1"]),
             node("BatchNormalization", ["x1", "scale", "bias", "mean1", "variance1"], ["y", "mean", "variance"], training_mode=1, momentum=0.75, epsilon=EPSILON)]
    gradients, _ = gradients_of_step(nodes, tensors, [(term, f"of_{term}") for term in terms], tmp_path)

    def loss(v):
        x = v["x"]
        values = {"y": (x - x.mean(0)) * (x.var(0, unbiased=False) + EPSILON).rsqrt() * v["scale"] + v["bias"],
                  "mean": 0.75 * v["mean0"] + 0.25 * x.mean(0), "variance": 0.75 * v["variance0"] + 0.25 * x.var(0)}
        return sum((values[term] * v[f"of_{term}"]).sum() for term in terms)

    names = {"y": ["scale", "bias"], "mean": ["mean0"], "variance": ["variance0"]}
    check(gradients, tensors, loss, ["x", *(name for term in terms for name in names[term])])


def test_statistics_that_the_graph_computes(tmp_path):
    """With --batch-norm=frozen they are normalised by, and their gradients reach the operand."""
    tensors = drawn(x=(ROWS, SIZE), scale=SIZE, bias=SIZE, of_y=(ROWS, SIZE)) | {"axis": np.array([0])}
    nodes = [node("ReduceMean", ["x1", "axis"], ["mean"], keepdims=0), node("Sub", ["x1", "mean"], ["centred"]), node("Mul", ["centred", "centred"], ["square"]),
             node("ReduceMean", ["square", "axis"], ["variance"], keepdims=0), node("BatchNormalization", ["x1", "scale", "bias", "mean", "variance"], ["y"], epsilon=EPSILON)]
    gradients, _ = gradients_of_step(nodes, tensors, [("y", "of_y")], tmp_path, batch_norm="frozen")

    def loss(v):
        x = v["x"]
        return ((x - x.mean(0)) * (x.var(0, unbiased=False) + EPSILON).rsqrt() * v["scale"] * v["of_y"] + v["bias"] * v["of_y"]).sum()

    check(gradients, tensors, loss, ["x", "scale", "bias"])


class Siamese(torch.nn.Module):
    """One encoder for two inputs: its running statistics change twice in a step."""

    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Linear(SIZE, 6), torch.nn.BatchNorm1d(6), torch.nn.ReLU())
        self.last = torch.nn.Linear(6, 1)

    def forward(self, a, b):
        return self.last(self.encoder(a) - self.encoder(b))


def test_running_statistics_of_an_encoder_that_is_called_twice(tmp_path):
    torch.manual_seed(0)
    module, a, b = Siamese().double(), torch.randn(8, SIZE).double(), 5 + 3 * torch.randn(8, SIZE).double()
    gpuopt.export(module, (a, b), tmp_path / "model.onnx", input_names=["a", "b"], output_names=["y"])
    trainer = Trainer(tmp_path / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, loss="mse", batch_size=8, optimizer="sgd")
    inputs, labels = {"a": a.numpy(), "b": b.numpy()}, np.zeros((8, 1))
    folder = tmp_path / "data"
    folder.mkdir()
    for name, array in [("a", inputs["a"]), ("b", inputs["b"]), ("labels", labels)]:
        np.save(folder / f"{name}.npy", array)
    result = trainer.run(inputs, labels, learning_rate=0, max_steps=2, eval_data={name: folder / f"{name}.npy" for name in inputs}, eval_labels=folder / "labels.npy")
    module.train()
    for _ in range(2):
        module(a, b)
    norm = module.encoder[1]
    np.testing.assert_allclose(result.weights["encoder.1.running_mean"], norm.running_mean.numpy(), rtol=1e-9)
    np.testing.assert_allclose(result.weights["encoder.1.running_var"], norm.running_var.numpy(), rtol=1e-9)
    # Evaluated, the two calls are by the same statistics.
    expected = module.eval()(a, b).square().mean().item()
    assert result.evaluations[-1]["eval_loss"] == pytest.approx(expected, rel=1e-6)

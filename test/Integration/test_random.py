"""Operators that draw random numbers: their distributions, streams and seeds."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from training import OPTIMIZATION_FOR_ONE_STEP, Trainer, execute

BATCH, COUNT = 4, 5000
ODDS = [0.1, 0.2, 0.4, 0.3]
# What a node draws, by its name.
NODES = {
    "uniform": helper.make_node("RandomUniform", [], ["uniform"], low=-1.0, high=3.0, shape=[BATCH, COUNT]),
    "like": helper.make_node("RandomUniformLike", ["x"], ["like"]),
    "normal": helper.make_node("RandomNormal", [], ["normal"], mean=1.0, scale=2.0, shape=[BATCH, COUNT]),
    "other": helper.make_node("RandomNormal", [], ["other"], mean=1.0, scale=2.0, shape=[BATCH, COUNT]),
    "halves": helper.make_node("RandomNormalLike", ["x"], ["halves"], dtype=TensorProto.FLOAT16),
    "coins": helper.make_node("Bernoulli", ["x"], ["coins"], dtype=TensorProto.INT64),
    "classes": helper.make_node("Multinomial", ["scores"], ["classes"], sample_size=COUNT),
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """What two runs of one predictor, which has one seed, have drawn."""
    folder = tmp_path_factory.mktemp("random")
    types = {"coins": TensorProto.INT64, "classes": TensorProto.INT32, "halves": TensorProto.FLOAT16}
    graph = helper.make_graph(
        [*NODES.values(), helper.make_node("Add", ["x_scores", "odds"], ["scores"])], "random",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [BATCH, COUNT]),
         helper.make_tensor_value_info("x_scores", TensorProto.FLOAT, [BATCH, 4])],
        [helper.make_tensor_value_info(name, types.get(name, TensorProto.FLOAT), [BATCH, COUNT]) for name in NODES],
        [numpy_helper.from_array(np.log(np.array(ODDS, np.float32)), "odds")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), folder / "model.onnx")
    np.save(folder / "x.npy", np.full((BATCH, COUNT), 0.3, np.float32))
    np.save(folder / "s.npy", np.zeros((BATCH, 4), np.float32))
    program = Trainer(folder / "model.onnx", folder / "program", OPTIMIZATION_FOR_ONE_STEP, inference=True)
    runs = []
    for run in range(2):
        execute([program.folder / "build" / "predict", "--data", f"x={folder / 'x.npy'}", "--data", f"x_scores={folder / 's.npy'}", "-o", folder / str(run)])
        runs.append({name: np.load(folder / str(run) / f"{name}.npy") for name in NODES})
    return runs


def test_equal_seeds_draw_equal_numbers(drawn):
    for name in NODES:
        np.testing.assert_array_equal(drawn[0][name], drawn[1][name])


def test_another_seed_draws_other_numbers(tmp_path):
    """The gradient of sum(w * drawn) is what a step of training has drawn."""
    nodes = [
        helper.make_node("RandomNormal", [], ["drawn"], shape=[BATCH, 5]), helper.make_node("Mul", ["drawn", "w"], ["product"]),
        helper.make_node("Mul", ["product", "one"], ["weighed"]), helper.make_node("ReduceSum", ["weighed"], ["loss"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes, "random", [helper.make_tensor_value_info("one", TensorProto.FLOAT, [1])], [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(np.zeros((BATCH, 5), np.float32), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), tmp_path / "model.onnx")
    program = Trainer(tmp_path / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, loss="none", optimizer="sgd")
    step = dict(learning_rate=1, lr_scheduler_type="constant", max_grad_norm=0, max_steps=1)
    first, again, other = (program.run({"one": np.ones(1)}, seed=seed, **step).weights["w"] for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all() and (first != 0).all()


def test_mask_of_dropout(tmp_path):
    """The gradients of sum(w * y + v * mask) are y and mask."""
    nodes = [
        helper.make_node("Dropout", ["x", "ratio", "on"], ["y", "mask"]), helper.make_node("Mul", ["y", "w"], ["weighed"]),
        helper.make_node("Cast", ["mask"], ["kept"], to=TensorProto.FLOAT), helper.make_node("Mul", ["kept", "v"], ["counted"]),
        helper.make_node("Add", ["weighed", "counted"], ["sum"]), helper.make_node("ReduceSum", ["sum"], ["loss"], keepdims=0),
    ]
    zeros = np.zeros((BATCH, COUNT), np.float32)
    graph = helper.make_graph(
        nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [BATCH, COUNT])], [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(zeros, "w"), numpy_helper.from_array(zeros, "v"), numpy_helper.from_array(np.float32(0.2), "ratio"),
         numpy_helper.from_array(np.array(True), "on")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), tmp_path / "model.onnx")
    program = Trainer(tmp_path / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, loss="none", optimizer="sgd")
    step = dict(learning_rate=1, lr_scheduler_type="constant", max_grad_norm=0, max_steps=1)
    weights = program.run({"x": np.full((BATCH, COUNT), -3, np.float32)}, **step).weights
    assert set(np.unique(weights["v"])) == {-1, 0}
    np.testing.assert_allclose(weights["w"], -3.75 * weights["v"], rtol=1e-6)
    assert abs(-weights["v"].mean() - 0.8) < 5 * 0.4 / weights["v"].size**0.5


def test_nodes_draw_from_streams_of_their_own(drawn):
    numbers = drawn[0]
    assert abs(np.corrcoef(numbers["normal"].ravel(), numbers["other"].ravel())[0, 1]) < 0.03
    assert np.abs(np.corrcoef(numbers["normal"])[~np.eye(BATCH, dtype=bool)]).max() < 0.06


# The mean of n = 20000 numbers is off by its deviation / sqrt(n), of which five are allowed.
@pytest.mark.parametrize("name, mean, deviation", [
    ("uniform", 1, 4 / 12**0.5), ("like", 0.5, 1 / 12**0.5), ("normal", 1, 2), ("halves", 0, 1), ("coins", 0.3, 0.21**0.5),
])
def test_distributions(drawn, name, mean, deviation):
    numbers = drawn[0][name].astype(np.float64)
    assert abs(numbers.mean() - mean) < 5 * deviation / numbers.size**0.5
    assert abs(numbers.std() / deviation - 1) < 0.05
    if name in ("normal", "halves"):
        shares = [np.mean(np.abs(numbers - mean) < k * deviation) for k in (1, 2, 3)]
        np.testing.assert_allclose(shares, [0.6827, 0.9545, 0.9973], atol=0.02)
    if name == "uniform":
        assert -1 <= numbers.min() < -0.99 and 2.99 < numbers.max() < 3


def test_classes_are_as_frequent_as_their_odds(drawn):
    assert drawn[0]["classes"].dtype == np.int32
    shares = np.bincount(drawn[0]["classes"].ravel(), minlength=4) / (BATCH * COUNT)
    np.testing.assert_allclose(shares, ODDS, atol=0.02)

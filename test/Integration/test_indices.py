"""Indices that come from data: what is inside is read, what is outside an error."""

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from training import CommandFailed, Trainer

ROWS, WIDTH, PICKS, BATCH = 5, 4, 3, 2


def make_model(path, table: np.ndarray, weight: np.ndarray) -> None:
    """Logits from rows of a table by 2 i - 3, and from elements of them by j."""
    nodes = [
        helper.make_node("Mul", ["i", "two"], ["twice"], "/twice"),
        helper.make_node("Sub", ["twice", "three"], ["row"], "/row"),
        helper.make_node("Gather", ["table", "row"], ["rows"], "/pick_rows"),
        helper.make_node("GatherElements", ["rows", "j"], ["elements"], "/pick_elements", axis=2),
        helper.make_node("Reshape", ["elements", "flat"], ["features"], "/flat"),
        helper.make_node("MatMul", ["features", "weight"], ["logits"], "/logits"),
    ]
    constants = dict(two=np.int64(2), three=np.int64(3), flat=np.array([BATCH, -1]), table=table, weight=weight)
    graph = helper.make_graph(
        nodes, "picks",
        [helper.make_tensor_value_info("i", TensorProto.INT64, [BATCH, PICKS]),
         helper.make_tensor_value_info("j", TensorProto.INT64, [BATCH, PICKS, 2])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [BATCH, 3])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)


@pytest.fixture(scope="module")
def picks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("picks")
    random = np.random.default_rng(0)
    table = random.standard_normal((ROWS, WIDTH)).astype(np.float32)
    weight = random.standard_normal((2 * PICKS, 3)).astype(np.float32)
    make_model(folder / "model.onnx", table, weight)
    return table, weight, Trainer(folder / "model.onnx", folder / "program", optimizer="sgd")


def data() -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(1)
    return dict(i=random.integers(-1, 4, (8, PICKS)), j=random.integers(-WIDTH, WIDTH, (8, PICKS, 2))), random.integers(0, 3, 8)


def run(picks, inputs, labels, **flags):
    return picks[2].run(inputs, labels, max_steps=4, learning_rate=0.1, lr_scheduler_type="constant", max_grad_norm=0, **flags)


def test_indices_count_from_either_end(picks):
    inputs, labels = data()
    result = run(picks, inputs, labels)
    table, weight = (torch.tensor(array, requires_grad=True) for array in picks[:2])
    optimizer, losses = torch.optim.SGD([table, weight], lr=0.1), []
    for step in range(4):
        batch = slice(BATCH * step, BATCH * (step + 1))
        i, j = (torch.from_numpy(array[batch]) for array in inputs.values())
        elements = table[2 * i - 3].gather(2, j % WIDTH)
        loss = torch.nn.functional.cross_entropy(elements.reshape(BATCH, -1) @ weight, torch.from_numpy(labels[batch]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert (2 * inputs["i"] - 3).min() < 0 and inputs["j"].min() < 0
    np.testing.assert_allclose(result.losses, losses, rtol=1e-5)
    np.testing.assert_allclose(result.weights["table"], table.detach().numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("value, index", [(4, 5), (-2, -7), (2**61, 2**62 - 3)])
def test_a_computed_index_outside_is_an_error(picks, value, index):
    inputs, labels = data()
    inputs["i"][5, 1] = value  # of the third step's second sample
    with pytest.raises(CommandFailed) as error:
        run(picks, inputs, labels)
    assert f"step 3: '/pick_rows' reads index {index}, element 4 of its indices, but it must lie in [-5, 5)" in error.value.output
    assert not (picks[2].folder / f"run{picks[2].runs}" / "model.safetensors").exists()


@pytest.mark.parametrize("value", [WIDTH, -WIDTH - 1])
def test_an_index_of_the_data_outside_is_an_error(picks, value):
    inputs, labels = data()
    inputs["j"][6, 2, 1] = value
    with pytest.raises(CommandFailed) as error:
        run(picks, inputs, labels)
    assert f"j.npy': sample 6 holds {value} for 'j', but it must lie in [-4, 4)" in error.value.output


def test_indices_of_validation_are_checked(picks):
    inputs, labels = data()
    bad = dict(inputs, i=np.full_like(inputs["i"], 4))
    files = {}
    for name, array in bad.items():
        files[name] = picks[2].folder / f"eval_{name}.npy"
        np.save(files[name], array)
    np.save(picks[2].folder / "eval_labels.npy", labels)
    with pytest.raises(CommandFailed) as error:
        run(picks, inputs, labels, eval_data=files, eval_labels=picks[2].folder / "eval_labels.npy")
    assert "validation: '/pick_rows' reads index 5, element" in error.value.output

"""Every operator's forward and gradient in double precision.

Many operators share one emitted program: each node's result y is multiplied
with a random weight w of its shape, and the sum of all is the loss (`--loss
none`). After one step of plain gradient descent with a learning rate of 1 the
change of each tensor is its gradient: of w it is y itself, the forward, and of
the operands what PyTorch's autograd gives. A gradient is read as a difference
of tensors of the size of 1, so its absolute error is 1e-15 or so.
"""

import dataclasses
import os

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from op_cases import CASES, Data, OpCase
from training import OPTIMIZATION_FOR_ONE_STEP, Trainer

OPSET = 23
ALL = [pytest.param(group, case, id=f"{group}-{case.name}", marks=pytest.mark.xdist_group(f"ops-{group}"))
       for group, cases in CASES.items() for case in cases]


def reference(case: OpCase):
    """Result and gradients, for a loss that sums the result times `weight`."""
    operands = [torch.from_numpy(value).requires_grad_() for value in case.values()]
    result = case.reference(*operands)
    weight = np.random.default_rng(1).standard_normal(tuple(result.shape))
    if result.requires_grad:
        (result * torch.from_numpy(weight)).sum().backward()
    gradients = [torch.zeros_like(operand) if operand.grad is None else operand.grad for operand in operands]
    return weight, result.detach().numpy(), [gradient.numpy() for gradient in gradients]


def node_of(case: OpCase, checked: str) -> tuple[onnx.NodeProto, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The node, its operands with gradients and its constants, by name."""
    names, trained, constants = [], {}, {}
    values = iter(case.values())
    for i, operand in enumerate(case.operands):
        name = f"{case.name}.{i}"
        names.append(name)
        if operand is None:
            names[-1] = ""
        elif isinstance(operand, Data):
            constants[name] = operand.value
        elif isinstance(operand, tuple):
            trained[name] = next(values)
        else:
            constants[name] = operand
    node = helper.make_node(case.op, names, case.outputs(checked), name=case.name, **case.attributes)
    return node, trained, constants


def hidden_operands(case: OpCase) -> list[str]:
    return [f"{case.name}.{i}" for i, operand in enumerate(case.operands) if isinstance(operand, Data)]


def write_model(cases: list[OpCase], path) -> None:
    """A model whose one output is the loss. Its input `one` is 1; it keeps the
    operands from being parameters that an operator reads directly."""
    nodes, initializers, terms = [], {}, []
    for case in cases:
        weight, result, _ = reference(case)
        is_float = np.issubdtype(result.dtype, np.floating)
        node, trained, constants = node_of(case, f"{case.name}.y" if is_float else f"{case.name}.integers")
        for name, value in trained.items():
            if name.endswith(".0"):
                nodes.append(helper.make_node("Mul", [name, "one"], [f"{name}.scaled"], name=f"{name}.scale"))
                node.input[list(node.input).index(name)] = f"{name}.scaled"
        for name in hidden_operands(case):
            # Known only when the program runs, since `one` is.
            nodes.append(helper.make_node("Cast", [name], [f"{name}.number"], name=f"{name}.widen", to=TensorProto.DOUBLE))
            nodes.append(helper.make_node("Mul", [f"{name}.number", "one"], [f"{name}.scaled"], name=f"{name}.scale"))
            nodes.append(helper.make_node("Cast", [f"{name}.scaled"], [f"{name}.hidden"], name=f"{name}.narrow", to=TensorProto.INT64))
            node.input[list(node.input).index(name)] = f"{name}.hidden"
        nodes.append(node)
        if not is_float:
            nodes.append(helper.make_node("Cast", [f"{case.name}.integers"], [f"{case.name}.y"], name=f"{case.name}.widen", to=TensorProto.DOUBLE))
        initializers |= trained | constants | {f"{case.name}.w": weight}
        nodes.append(helper.make_node("Mul", [f"{case.name}.y", f"{case.name}.w"], [f"{case.name}.yw"], name=f"{case.name}.weigh"))
        nodes.append(helper.make_node("ReduceSum", [f"{case.name}.yw"], [f"{case.name}.term"], name=f"{case.name}.sum", keepdims=0))
        terms.append(f"{case.name}.term")
    nodes.append(helper.make_node("Sum", terms, ["loss"], name="total"))
    graph = helper.make_graph(
        nodes, "operators",
        [helper.make_tensor_value_info("one", TensorProto.DOUBLE, [1])],
        [helper.make_tensor_value_info("loss", TensorProto.DOUBLE, [])],
        [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in initializers.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=11), path)


@dataclasses.dataclass
class Group:
    """A program's tensors before and after the step."""

    before: dict[str, np.ndarray]
    after: dict[str, np.ndarray]

    def change(self, name: str) -> np.ndarray:
        """Nothing for what no result depends on: it is no parameter."""
        return self.before[name] - self.after[name] if name in self.before else np.zeros(())


@pytest.fixture(scope="module")
def run_group(tmp_path_factory):
    """Runs a group's program once; what failed fails each of its tests."""
    done = {}

    def run(group: str, case: OpCase) -> Group:
        # To find the one among many that does not compile: each alone.
        alone = os.environ.get("GPUOPT_TEST_OPS_ALONE") == "1"
        key = case.name if alone else group
        if key not in done:
            folder = tmp_path_factory.mktemp("ops")
            write_model([case] if alone else CASES[group], folder / "model.onnx")
            try:
                # Running statistics and constants stay; `one` is data.
                trainer = Trainer(folder / "model.onnx", folder / "program", OPTIMIZATION_FOR_ONE_STEP, loss="none", optimizer="sgd")
                before = {name: np.array(value) for name, value in trainer.initial_weights().items()}
                result = trainer.run(
                    {"one": np.ones(1)}, learning_rate=1, lr_scheduler_type="constant", max_grad_norm=0, max_steps=1, num_threads=2
                )
                done[key] = Group(before, result.weights)
            except AssertionError as error:
                done[key] = error
        if isinstance(done[key], AssertionError):
            pytest.fail(str(done[key]), pytrace=False)
        return done[key]

    return run


@pytest.mark.parametrize("group, case", ALL)
def test_gradient(request, run_group, group, case):
    weight, result, gradients = reference(case)
    ran = run_group(group, case)
    np.testing.assert_allclose(ran.change(f"{case.name}.w"), result, rtol=1e-9, atol=1e-13, err_msg="forward")
    names = [f"{case.name}.{i}" for i, operand in enumerate(case.operands) if isinstance(operand, tuple)]
    for name, gradient in zip(names, gradients):
        np.testing.assert_allclose(ran.change(name), gradient, rtol=1e-9, atol=1e-13, err_msg=name)


def run_onnxruntime(case: OpCase, dtype) -> np.ndarray:
    node, trained, constants = node_of(case, "y")
    if case.op == "BatchNormalization":
        node.attribute.append(helper.make_attribute("training_mode", 1))
        node.output.extend(["mean", "variance"])
    cast = lambda value: value.astype(dtype) if value.dtype == np.float64 else value
    operands = {name: cast(np.asarray(value)) for name, value in (trained | constants).items()}
    _, expected, _ = reference(case)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype) if np.issubdtype(expected.dtype, np.floating) else expected.dtype)
    graph = helper.make_graph(
        [node], case.name,
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in operands.items()],
        [helper.make_tensor_value_info("y", kind, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=11)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(["y"], operands)[0]


@pytest.mark.parametrize("group, case", ALL)
def test_reference_is_onnxs(group, case):
    """What the gradients are checked against means what ONNX means. Where
    onnxruntime has no double precision, or ONNX does not allow it, in single;
    its tanh form of GELU has constants in single precision, its Attention the
    scale, and all of Shrink is."""
    refusals = onnxruntime.capi.onnxruntime_pybind11_state
    _, result, _ = reference(case)
    try:
        ours = run_onnxruntime(case, np.float64)
        in_double = not case.name.startswith(("Attention", "GeluTanh", "Shrink"))
    except (refusals.NotImplemented, refusals.InvalidGraph, refusals.Fail, refusals.RuntimeException):
        ours, in_double = run_onnxruntime(case, np.float32), False
    np.testing.assert_allclose(ours, result, rtol=1e-9 if in_double else 2e-5, atol=1e-10 if in_double else 2e-6)

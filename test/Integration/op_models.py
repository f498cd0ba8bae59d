"""Programs of many operators, from which each one's result and gradients can be read.

Each node's result y is multiplied with a random weight w of its shape, and the
sum of all is the loss (`--loss none`). After one step of plain gradient descent
with a learning rate of 1 the change of each tensor is its gradient: of w it is
y itself, the forward, and of the operands what PyTorch's autograd gives.
"""

import dataclasses
import os
import re
from typing import Any, Callable

import numpy as np
import onnx
import pytest
import torch
from onnx import helper, numpy_helper

from op_cases import CASES, Data, OpCase
from training import Result, Trainer

OPSET = 23
LATER_OPSETS = {"CausalConvWithState": 27, "CumProd": 26, "LinearAttention": 27, "SwiGLU": 28, "TensorScatter": 24}
# Their results are integers, whatever PyTorch's references give.
QUANTISED = {"QuantizeLinear"}


def opset_of(cases: list[OpCase]) -> int:
    """The opset of a model that has these cases."""
    return max(LATER_OPSETS.get(case.op, OPSET) for case in cases)


# The flags of a step whose change is the gradient. Running statistics and constants stay; `one` is data.
COMPILE_FLAGS = dict(loss="none", optimizer="sgd", attention="fused")
STEP_FLAGS = dict(learning_rate=1, lr_scheduler_type="constant", max_grad_norm=0, max_steps=1, num_threads=2)


def rounded(value: np.ndarray, dtype) -> np.ndarray:
    """The numbers of `dtype` that are nearest to `value`, in double precision."""
    return value.astype(dtype).astype(np.float64)


def reference(case: OpCase, dtype=np.float64):
    """Result and gradients in double precision, for a loss that sums the result
    times `weight`. Operands and weight are numbers of `dtype`."""
    operands = [torch.from_numpy(rounded(value, dtype)).requires_grad_() for value in case.values()]
    result = case.reference(*operands)
    weight = rounded(np.random.default_rng(1).standard_normal(tuple(result.shape)), dtype)
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


def operand_names(case: OpCase) -> list[str]:
    """The operands that have gradients, in the order of reference()."""
    return [f"{case.name}.{i}" for i, operand in enumerate(case.operands) if isinstance(operand, tuple)]


def hidden_operands(case: OpCase) -> list[str]:
    return [f"{case.name}.{i}" for i, operand in enumerate(case.operands) if isinstance(operand, Data)]


def own_type(value: np.ndarray, element: int) -> int:
    """The ONNX type that an array has in a model whose floating-point type is `element`."""
    return element if value.dtype == np.float64 else helper.np_dtype_to_tensor_dtype(value.dtype)


def nodes_of(case: OpCase, element: int, is_float: bool) -> tuple[list[onnx.NodeProto], dict[str, np.ndarray]]:
    """What computes `case.term`, the sum of the result times the weight, and the initializers but for the weight. The
    input `one` is 1; it keeps the operands from being parameters that an operator reads directly."""
    nodes = []
    node, trained, constants = node_of(case, f"{case.name}.y" if is_float else f"{case.name}.integers")
    for name in trained:
        if name.endswith(".0"):
            nodes.append(helper.make_node("Mul", [name, "one"], [f"{name}.scaled"], name=f"{name}.scale"))
            node.input[list(node.input).index(name)] = f"{name}.scaled"
    for name in hidden_operands(case):
        # Known only when the program runs, since `one` is.
        nodes.append(helper.make_node("Cast", [name], [f"{name}.number"], name=f"{name}.widen", to=element))
        nodes.append(helper.make_node("Mul", [f"{name}.number", "one"], [f"{name}.scaled"], name=f"{name}.scale"))
        nodes.append(helper.make_node("Cast", [f"{name}.scaled"], [f"{name}.hidden"], name=f"{name}.narrow", to=own_type(constants[name], element)))
        node.input[list(node.input).index(name)] = f"{name}.hidden"
    nodes.append(node)
    if not is_float:
        nodes.append(helper.make_node("Cast", [f"{case.name}.integers"], [f"{case.name}.y"], name=f"{case.name}.widen", to=element))
    nodes.append(helper.make_node("Mul", [f"{case.name}.y", f"{case.name}.weight"], [f"{case.name}.yw"], name=f"{case.name}.weigh"))
    nodes.append(helper.make_node("ReduceSum", [f"{case.name}.yw"], [f"{case.name}.term"], name=f"{case.name}.sum", keepdims=0))
    return nodes, trained | constants


def write_model(cases: list[OpCase], path, dtype=np.float64) -> None:
    """A model of all cases, whose one output is the loss; its floating-point
    tensors are of `dtype`."""
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes, initializers = [], {}
    for case in cases:
        weight, result, _ = reference(case, dtype)
        is_float = np.issubdtype(result.dtype, np.floating) and case.op not in QUANTISED
        new_nodes, values = nodes_of(case, element, is_float)
        nodes += new_nodes
        initializers |= values | {f"{case.name}.weight": weight}
    nodes.append(helper.make_node("Sum", [f"{case.name}.term" for case in cases], ["loss"], name="total"))
    cast = lambda value: value.astype(dtype) if value.dtype == np.float64 else value
    graph = helper.make_graph(
        nodes, "operators",
        [helper.make_tensor_value_info("one", element, [1])],
        [helper.make_tensor_value_info("loss", element, [])],
        [numpy_helper.from_array(np.ascontiguousarray(cast(value)), name) for name, value in initializers.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset_of(cases))], ir_version=11), path)


@dataclasses.dataclass
class Step:
    """A program's tensors before and after the step."""

    before: dict[str, np.ndarray]
    after: dict[str, np.ndarray]

    def change(self, name: str) -> np.ndarray:
        """Nothing for what no result depends on: it is no parameter."""
        return self.before[name] - self.after[name] if name in self.before else np.zeros(())

    def assert_close(self, case: OpCase, dtype=np.float64, of_largest=0.0, **tolerance) -> None:
        """The forward and the gradients of a case are those of its reference. `of_largest` is a share of a tensor's
        largest element that each of its elements may be off as well."""
        _, result, gradients = reference(case, dtype)
        for name, expected in zip([f"{case.name}.weight", *operand_names(case)], [result, *gradients]):
            room = {**tolerance, "atol": tolerance["atol"] + of_largest * np.abs(expected).max(initial=0)}
            np.testing.assert_allclose(self.change(name), expected, err_msg="forward" if name.endswith(".weight") else name, **room)


class Programs:
    """The programs of groups of operators, each built and run once; what failed
    fails each of its tests."""

    def __init__(self, folders: Callable, make_trainer: Callable[..., Trainer], run: Callable[[Trainer], Result], dtype=np.float64, groups=CASES, **flags: Any):
        """`folders()` is a new folder, `make_trainer(model, folder, **flags)`
        builds, and `run(trainer)` makes the step. `flags` are the compiler's."""
        self.folders, self.make_trainer, self.run, self.dtype, self.groups = folders, make_trainer, run, dtype, groups
        self.flags = {**COMPILE_FLAGS, **flags}
        self.done: dict[str, Any] = {}

    def step(self, group: str, case: OpCase) -> Step:
        # To find the one among many that does not compile: each alone.
        alone = os.environ.get("GPUOPT_TEST_OPS_ALONE") == "1"
        key = case.name if alone else group
        if key not in self.done:
            try:
                self.done[key] = self._step([case] if alone else self.groups[group])
            except AssertionError as error:
                self.done[key] = error
        if isinstance(self.done[key], AssertionError):
            pytest.fail(str(self.done[key]), pytrace=False)
        return self.done[key]

    def _step(self, cases: list[OpCase]) -> Step:
        folder = self.folders()
        write_model(cases, folder / "model.onnx", self.dtype)
        # Said in so many words: the scales of quantisers are frozen otherwise.
        names = [re.escape(name) for case in cases for name in operand_names(case)]
        flags = dict(self.flags, trained_params=f"^({'|'.join(names)})$") if names else self.flags
        trainer = self.make_trainer(folder / "model.onnx", folder / "program", **flags)
        before = {name: np.array(value) for name, value in trainer.initial_weights().items()}
        return Step(before, self.run(trainer).weights)

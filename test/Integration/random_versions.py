"""Forms that nodes have in opsets before 13, for random graphs (random_graph.py).

Operators of random graphs are added as the newest opsets have them. What was an attribute earlier becomes one here, and
what an opset does not have is rejected by the operator's schema.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from onnx import defs

# By operator: the opset from which on operands hold what these attributes held, in the order of the operands.
ATTRIBUTES: dict[str, tuple[int, list[str]]] = {
    "Clip": (11, ["min", "max"]),
    "Pad": (11, ["pads", "value"]),
    "ReduceSum": (13, ["axes"]),
    "Slice": (10, ["starts", "ends", "axes"]),
    "Split": (13, ["split"]),
    "Squeeze": (13, ["axes"]),
    "TopK": (10, ["k"]),
    "Unsqueeze": (13, ["axes"]),
}
SCALARS = {"k": int, "max": float, "min": float, "value": float}
# Dimensions that the result has in addition, among which axes are counted.
ADDED = {"OneHot": lambda axes: 1, "Unsqueeze": len}
NEGATIVE_AXES = 11  # The opset from which on axes may be counted from the end.
# Attributes that a later opset has added, with the value that they had before.
DEFAULTS = {"largest": 1, "sorted": 1, "select_last_index": 0}


class NoOlderForm(Exception):
    """The opset has no node that means the same."""


def _array(value: Any) -> np.ndarray:
    if not value.is_known:
        raise NoOlderForm
    return value.array


def _with_attributes(op: str, operands: list, attributes: dict[str, Any], opset: int) -> tuple[list, dict[str, Any]]:
    since, names = ATTRIBUTES.get(op, (0, []))
    if opset >= since:
        return operands, attributes
    attributes = dict(attributes)
    for name, value in zip(names, operands[1:]):
        if value:
            array = _array(value)
            attributes[name] = SCALARS[name](array.reshape(-1)[0]) if name in SCALARS else array.tolist()
    for value in operands[1 + len(names) :]:
        if value and not (op == "Slice" and (_array(value) == 1).all()):
            raise NoOlderForm
    return operands[:1], attributes


def _without_negative_axes(op: str, rank: int, attributes: dict[str, Any]) -> dict[str, Any]:
    attributes = dict(attributes)
    if "axes" in attributes:
        rank += ADDED[op](attributes["axes"]) if op in ADDED else 0
        attributes["axes"] = [axis % rank for axis in attributes["axes"]]
    elif attributes.get("axis", 0) < 0:
        attributes["axis"] %= rank + (ADDED[op]([]) if op == "OneHot" else 0)
    return attributes


def older_form(op: str, operands: list, outputs: int, attributes: dict[str, Any], opset: int) -> tuple[list, dict[str, Any]]:
    """The operands and attributes of a node in an opset. Raises NoOlderForm if it has no node that means the same."""
    operands, attributes = _with_attributes(op, operands, attributes, opset)
    if opset < NEGATIVE_AXES and operands and operands[0]:
        attributes = _without_negative_axes(op, operands[0].array.ndim if isinstance(operands[0].array, np.ndarray) else 1, attributes)
    try:
        schema = defs.get_schema(op, opset, "")
    except defs.SchemaError:
        raise NoOlderForm from None
    attributes = {name: value for name, value in attributes.items() if name in schema.attributes or DEFAULTS.get(name) != value}
    given = [value for value in operands if value]
    if not set(attributes) <= set(schema.attributes) or not (schema.min_input <= len(operands) <= schema.max_input) or len(given) < schema.min_input:
        raise NoOlderForm
    if not schema.min_output <= outputs <= schema.max_output:
        raise NoOlderForm
    return operands, attributes


def flattened(compute: Callable) -> Callable:
    """A function of rows, for all dimensions from `axis` on as one, as Softmax was before opset 13."""

    def of_rows(attributes: dict[str, Any], x: np.ndarray) -> np.ndarray:
        axis = attributes.get("axis", 1)
        rows = x.reshape(int(np.prod(x.shape[: axis % x.ndim if x.ndim else 0])), -1)
        return compute(rows).reshape(x.shape)

    return of_rows


def _softmax(rows: np.ndarray) -> np.ndarray:
    powers = np.exp(rows - rows.max(-1, keepdims=True, initial=-np.inf))
    return powers / powers.sum(-1, keepdims=True)


def squeezed(attributes: dict[str, Any], x: np.ndarray) -> np.ndarray:
    return np.squeeze(x, tuple(attributes["axes"]) if "axes" in attributes else None)


# Operators before opset 13 that mean something else from there on, or that onnx's evaluator computes wrongly.
BEFORE_13: dict[str, Callable] = {
    "Softmax": flattened(_softmax),
    "Squeeze": squeezed,
    "LogSoftmax": flattened(lambda rows: np.log(_softmax(rows))),
}

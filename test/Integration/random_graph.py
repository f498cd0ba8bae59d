"""Random ONNX graphs that are valid by construction.

A graph grows by one operator at a time. Each node is evaluated in double precision as it is added, by onnx's reference
evaluator, so shapes, indices and domains are right, and what gets too large or infinite is taken back. The operators
are in random_operators.py, random_layers.py and random_loops.py, the forms of older opsets in random_versions.py. A seed and an opset give the same graph everywhere.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import random
import warnings
import zlib
from typing import Any, Callable, Sequence

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from random_versions import BEFORE_13, NoOlderForm, older_form

NEWEST_OPSET = 26
OLDEST_OPSET = 7
FIRST_OF_NOW = 13  # From here on, operators have the forms that random_operators.py writes.
MOST_ELEMENTS = 1200
LARGEST = 300.0  # The magnitude up to which results are kept.
SMALLEST = 1e-30  # Tensors below this magnitude are not normal numbers in single precision.
NARROW = {np.dtype(kind): code for kind, code in [("i4", TensorProto.INT32), ("i2", TensorProto.INT16), ("i1", TensorProto.INT8), ("u1", TensorProto.UINT8)]}


class Rejected(Exception):
    """An operator does not fit what the graph has so far."""


@dataclasses.dataclass
class Value:
    """A result, an initializer or the input, with what it is in double precision."""

    name: str
    array: Any  # a list of arrays for a sequence
    is_known: bool  # depends on constants alone

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def rank(self) -> int:
        return self.array.ndim

    def is_float(self) -> bool:
        return isinstance(self.array, np.ndarray) and self.array.dtype == np.float64

    def is_integer(self) -> bool:
        return isinstance(self.array, np.ndarray) and self.array.dtype == np.int64

    def is_narrow(self) -> bool:
        return isinstance(self.array, np.ndarray) and self.array.dtype in NARROW

    def is_like(self, other: "Value") -> bool:
        return isinstance(self.array, np.ndarray) and self.array.dtype == other.array.dtype

    def is_truth(self) -> bool:
        return isinstance(self.array, np.ndarray) and self.array.dtype == np.bool_


@dataclasses.dataclass
class Operator:
    """What adds a node of an operator, and nodes that it needs before it, to a graph."""

    name: str
    add: Callable[["Graph"], Any]
    since: int


OPERATORS: list[Operator] = []


def operator(*names: str, since: int = OLDEST_OPSET):
    """Registers `add(graph, name)` for operators of these names."""

    def register(add: Callable) -> Callable:
        for name in names:
            OPERATORS.append(Operator(name, functools.partial(add, name=name), since))
        return add

    return register


def registers(table: dict[str, Callable]):
    """A decorator with a name, which enters a function into the table under it."""

    def named(name: str):
        def register(compute: Callable) -> Callable:
            table[name] = compute
            return compute

        return register

    return named


# Operators that onnx's evaluator lacks in double precision, or has in single precision alone.
REFERENCES: dict[str, Callable] = {}
reference = registers(REFERENCES)

# Operators with graphs inside: from the evaluation, their attributes, all values by name, and their operands.
SUBGRAPHS: dict[str, Callable] = {}
subgraphs = registers(SUBGRAPHS)


def attributes_of(node: NodeProto) -> dict[str, Any]:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


class Evaluation:
    """Computes nodes one after the other from arrays by name."""

    def __init__(self, opset: int):
        self.opset = opset
        self.evaluators: dict[str, Callable] = {}

    def run_graph(self, graph: GraphProto, known: dict[str, Any], arguments: list[Any]) -> list[Any]:
        """Computes a graph inside of a node, which may read all of `known`."""
        known = known | dict(zip((value.name for value in graph.input), arguments))
        for node in graph.node:
            known.update(zip(node.output, self.run(node, known)))
        return [known[value.name] for value in graph.output]

    def run(self, node: NodeProto, known: dict[str, Any]) -> list[Any]:
        if node.op_type in SUBGRAPHS:
            return SUBGRAPHS[node.op_type](self, attributes_of(node), known, *(known[name] if name else None for name in node.input))
        older = BEFORE_13 if self.opset < FIRST_OF_NOW else {}
        if compute := older.get(node.op_type) or REFERENCES.get(node.op_type):
            result = compute(attributes_of(node), *(known[name] if name else None for name in node.input))
            return list(result) if isinstance(result, tuple) else [result]
        if node.name not in self.evaluators:
            self.evaluators[node.name] = ReferenceEvaluator(node, opsets={"": self.opset}).run
        return self.evaluators[node.name](None, {name: known[name] for name in node.input if name})


class Graph:
    """A graph that grows. Names begin with `name`, so that several graphs can share one model."""

    def __init__(self, name: str, seed: int, opset: int, most_nodes: int, trains_batch_norm: bool = True):
        self.name, self.seed, self.opset, self.most_nodes, self.trains_batch_norm = name, seed, opset, most_nodes, trains_batch_norm
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(zlib.crc32(str(seed).encode()))
        self.evaluation = Evaluation(opset)
        self.may_be_empty = seed % 11 == 3
        self.nodes: list[NodeProto] = []
        self.values: list[Value] = []
        self.parameters: dict[str, np.ndarray] = {}
        self.buffers: dict[str, np.ndarray] = {}  # initializers that are not trained
        self.used: set[str] = set()
        self.count = 0
        self.one = Value("one", np.ones(1), False)

    # Values that a graph begins with, or that operators need.

    def new_name(self, kind: str) -> str:
        self.count += 1
        return f"{self.name}.{kind}{self.count}"

    def parameter(self, shape: tuple[int, ...], low: float | None = None, high: float = 1.5) -> Value:
        """A trained tensor of normal numbers, or of uniform ones from `low`. What has one element would be taken for
        a constant and is one."""
        array = self.numbers.standard_normal(shape) if low is None else self.numbers.uniform(low, high, shape)
        array = np.asarray(array, np.float64)
        name = self.new_name("p")
        (self.parameters if array.size > 1 else self.buffers)[name] = array
        return self._keep(Value(name, array, array.size <= 1))

    def buffer(self, array: np.ndarray) -> Value:
        """An initializer that no gradient changes."""
        name = self.new_name("b")
        self.buffers[name] = np.asarray(array)
        return Value(name, self.buffers[name], True)

    def constant(self, array: Any) -> Value:
        """A node Constant, or an initializer of integers."""
        array = np.asarray(array)
        if array.dtype.kind == "i" and self.random.random() < 0.5:
            return self.buffer(array)
        name = self.new_name("c")
        node = helper.make_node("Constant", [], [name], name=name, value=numpy_helper.from_array(array, name))
        self.nodes.append(node)
        return Value(name, array, True)

    def hidden(self, array: np.ndarray) -> Value:
        """Integers that the compiler cannot know, since the input is a factor."""
        wide = self.node("Cast", [self.constant(array)], to=TensorProto.DOUBLE)
        return self.node("Cast", [self.node("Mul", [wide, self.one])], to=TensorProto.INT64)

    def index(self, array: np.ndarray) -> Value:
        """Indices, known or hidden."""
        return self.hidden(array) if self.random.random() < 0.3 else self.constant(np.asarray(array, np.int64))

    def integers(self, values: Any) -> Value:
        return self.constant(np.array(values, np.int64))

    def _keep(self, value: Value) -> Value:
        self.values.append(value)
        return value

    # Choices.

    def choose(self, options):
        return self.random.choice(list(options))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def extent(self) -> int:
        if self.may_be_empty and self.chance(0.05):
            return 0
        # Tensors of several dimensions that are not small come by tiles, and are added up in parts.
        if self.seed % 7 == 6:
            return self.choose([1, 2, 3, 4, 16, 16, 17, 20, 32])
        return self.choose([1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9]) if self.chance(0.93) else self.choose([16, 17, 31, 33, 64, 65, 130])

    def new_shape(self, lowest=0, highest=5) -> tuple[int, ...]:
        while True:
            shape = tuple(self.extent() for _ in range(self.random.randint(lowest, highest)))
            if math.prod(shape) <= MOST_ELEMENTS:
                return shape

    def pick(self, allows: Callable[[Value], bool]) -> Value:
        """A value, rather one of the last."""
        candidates = [value for value in self.values if allows(value)]
        if not candidates:
            raise Rejected
        fresh = [value for value in candidates if value.name not in self.used]
        if fresh and self.chance(0.5):
            candidates = fresh
        return candidates[int(len(candidates) * math.sqrt(self.random.random()))]

    def float(self, lowest=0, highest=6, most=MOST_ELEMENTS) -> Value:
        """A floating-point value whose rank is within bounds: one of the graph, one of another shape, or a new one."""
        fits = lambda value: value.is_float() and lowest <= value.rank <= highest and value.array.size <= most
        if self.chance(0.06) or not any(map(fits, self.values)):
            if self.chance(0.5):
                return self.reshaped(self.pick(lambda value: value.is_float() and value.array.size <= most), lowest, min(highest, 5))
            return self.parameter(self.new_shape(lowest, min(highest, 5)))
        return self.pick(fits)

    def tensor(self, lowest=0, highest=6, most=MOST_ELEMENTS) -> Value:
        """A value of any type for what only moves elements, mostly of floating-point."""
        if self.chance(0.9):
            return self.float(lowest, highest, most)
        return self.pick(lambda value: lowest <= value.rank <= highest and value.array.size <= most)

    def reshaped(self, value: Value, lowest: int, highest: int) -> Value:
        """The value with another shape of as many elements."""
        rank = self.random.randint(max(lowest, 1), max(highest, 1))
        shape, left = [], value.array.size
        if left == 0:
            return self.node("Reshape", [value, self.integers(value.shape)])
        for _ in range(rank - 1):
            shape.append(self.choose([d for d in range(1, left + 1) if left % d == 0 and d <= 40]))
            left //= shape[-1]
        shape.append(left)
        self.random.shuffle(shape)
        return self.node("Reshape", [value, self.integers(shape)])

    def axes(self, rank: int, least=1) -> list[int]:
        """Different axes in any order, some counted from the end."""
        count = self.random.randint(min(least, rank), rank)
        return [axis - rank * self.chance(0.3) for axis in self.random.sample(range(rank), count)]

    def axis(self, rank: int) -> int:
        return self.random.randrange(-rank, rank)

    def partner(self, value: Value, allows: Callable[[Value], bool] | None = None) -> Value:
        """A value that broadcasts with another."""
        allows = allows or Value.is_float

        def fits(other: Value) -> bool:
            try:
                return allows(other) and math.prod(np.broadcast_shapes(other.shape, value.shape)) <= MOST_ELEMENTS
            except ValueError:
                return False

        if self.chance(0.5) and any(map(fits, self.values)):
            return self.pick(fits)
        shape = [size if self.chance(0.7) else 1 for size in value.shape][self.random.randint(0, value.rank) if self.chance(0.3) else 0 :]
        if allows is not Value.is_float:
            raise Rejected
        return self.parameter(tuple(shape))

    # Values within a domain.

    def positive(self, value: Value, least: float = 0.25) -> Value:
        if value.array.min(initial=least) >= least and self.chance(0.8):
            return value
        return self.node("Add", [self.node("Abs", [value]), self.constant(np.array(least + 0.25, np.float64))])

    def bounded(self, value: Value, most: float) -> Value:
        """The value where its magnitude is at most `most`, else its tanh times that."""
        if np.abs(value.array).max(initial=0) <= most:
            return value
        return self.node("Mul", [self.node("Tanh", [value]), self.constant(np.array(most, np.float64))])

    # Growth.

    def node(self, op: str, inputs: list[Value | None], outputs: int = 1, captured: Sequence[Value] = (), **attributes: Any) -> Any:
        """Adds a node and returns its value, or a list of several. Graphs inside of it read `captured`. Raises Rejected
        if a result is no fit number."""
        try:
            inputs, attributes = older_form(op, inputs, outputs, attributes, self.opset)
        except NoOlderForm:
            raise Rejected from None
        name = self.new_name(op)
        names = [f"{name}.{i}" for i in range(outputs)] if outputs > 1 else [name]
        node = helper.make_node(op, [value.name if value else "" for value in inputs], names, name=name, **attributes)
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            try:
                arrays = self.evaluation.run(node, {value.name: value.array for value in (*inputs, *captured) if value})
            except (TypeError, ValueError, IndexError, RuntimeError) as error:
                raise Rejected(f"onnx's evaluator cannot compute {op}: {error}") from error
        is_known = all(value.is_known for value in (*inputs, *captured) if value)
        results = []
        for result, array in zip(names, arrays):
            array = array if isinstance(array, list) else np.asarray(array)
            self._check(array)
            results.append(Value(result, array, is_known))
        self.nodes.append(node)
        self.used |= {value.name for value in (*inputs, *captured) if value}
        for value in results:
            if isinstance(value.array, np.ndarray):
                self._keep(value)
        return results if outputs > 1 else results[0]

    def _check(self, array: Any) -> None:
        for part in array if isinstance(array, list) else [array]:
            if part.dtype.kind == "f" and not (np.isfinite(part).all() and np.abs(part).max(initial=0) <= LARGEST):
                raise Rejected
            if part.dtype.kind == "f" and 0 < np.abs(part).max(initial=0) < SMALLEST:
                raise Rejected
            if part.size > 4 * MOST_ELEMENTS or (part.size == 0 and not self.may_be_empty) or part.ndim > 7:
                raise Rejected
            if part.dtype.kind == "i" and np.abs(part).max(initial=0) > 1 << 40:
                raise Rejected

    def grow(self, operators: list[Operator]) -> bool:
        """Adds one of the operators, or nothing if it does not fit."""
        saved = [len(self.nodes), len(self.values), dict(self.parameters), dict(self.buffers), set(self.used)]
        try:
            self.choose(operators).add(self)
            return True
        except (Rejected, *([ValueError, IndexError, ZeroDivisionError] if self.may_be_empty else [])):
            # An operator may have no choice where a dimension is 0.
            del self.nodes[saved[0] :], self.values[saved[1] :]
            self.parameters, self.buffers, self.used = saved[2:]
            return False

    def outputs(self) -> list[Value]:
        """The floating-point results that nothing reads, and, of the others, one as a number."""
        ends = [value for value in self.values if value.array.size and value.name not in self.used and value.name not in self.parameters | self.buffers]
        for value in [value for value in ends if not value.is_float() and np.abs(value.array.astype(float)).max() <= LARGEST][-2:]:
            ends.append(self.node("Cast", [value], to=TensorProto.DOUBLE))
        return [value for value in ends if value.is_float() and not value.is_known]


def make_graph(name: str, seed: int, opset: int, most_nodes: int, trains_batch_norm: bool = True, only: set[str] | None = None) -> Graph:
    """A random graph of 3 to `most_nodes` nodes, of the operators of `only` if that is given."""
    graph = Graph(name, seed, opset, most_nodes, trains_batch_norm)
    operators = [one for one in OPERATORS if one.since <= opset and (not only or one.name in only)]
    for _ in range(graph.random.randint(1, 3)):
        graph.parameter(graph.new_shape(0 if graph.chance(0.1) else 1))
    goal = graph.random.randint(3, most_nodes)
    for _ in range(6 * goal):
        if len(graph.nodes) >= goal:
            break
        graph.grow(operators)
    return graph

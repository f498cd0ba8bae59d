"""How random graphs get loops and branches, Loop, Scan and If, whose bodies read values of the graph around them."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from random_graph import FIRST_OF_NOW, Evaluation, Graph, Rejected, Value, operator, subgraphs

class Body:
    """A graph inside of a node. All of its floating-point values have the shape of the node's states."""

    def __init__(self, graph: Graph, shape: tuple[int, ...]):
        self.graph, self.shape = graph, shape
        self.nodes, self.inputs, self.floats = [], [], []
        self.captured: list[Value] = []

    def input(self, kind: str, element=TensorProto.DOUBLE) -> str:
        name = self.graph.new_name(kind)
        # onnxruntime wants to know that the iteration's number has no dimension.
        self.inputs.append(helper.make_tensor_value_info(name, element, None if element == TensorProto.DOUBLE else []))
        if element == TensorProto.DOUBLE:
            self.floats.append(name)
        return name

    def capture(self, value: Value) -> str:
        self.captured.append(value)
        return value.name

    def node(self, op: str, inputs: list[str], **attributes) -> str:
        name = self.graph.new_name(op)
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def add_float(self) -> None:
        """A further value."""
        graph, x = self.graph, self.graph.choose(self.floats)
        kind = graph.choose(["unary", "unary", "binary", "binary", "outer", "product"])
        if kind == "unary":
            name = self.node(graph.choose(["Tanh", "Sigmoid", "Sin", "Neg", "Abs"]), [x])
        elif kind == "binary":
            name = self.node(graph.choose(["Add", "Sub", "Mul", "Max"]), [x, graph.choose(self.floats)])
        elif kind == "outer":
            shape = tuple(size if graph.chance(0.7) else 1 for size in self.shape[graph.random.randint(0, len(self.shape) - 1) :])
            name = self.node(graph.choose(["Add", "Mul"]), [x, self.capture(graph.parameter(shape))])
        else:
            name = self.node("MatMul", [x, self.capture(graph.parameter((self.shape[-1], self.shape[-1])))])
        self.floats.append(name)

    def grow(self) -> None:
        for _ in range(self.graph.random.randint(1, 5)):
            self.add_float()

    def bounded(self) -> str:
        """A value that cannot grow from iteration to iteration."""
        return self.node("Tanh", [self.floats[-1] if self.graph.chance(0.6) else self.graph.choose(self.floats)])

    def finish(self, outputs: list[str], elements: list[int] | None = None):
        elements = elements or [TensorProto.DOUBLE] * len(outputs)
        infos = [helper.make_tensor_value_info(name, element, None) for name, element in zip(outputs, elements)]
        return helper.make_graph(self.nodes, self.graph.new_name("body"), self.inputs, infos)


def begin_loop(graph: Graph) -> tuple[int, Body, list[Value]]:
    """The number of iterations, a body and the first states. More than 64 iterations stay a loop."""
    iterations = graph.choose([1, 2, 3, 4, 5, 66])
    first = graph.float(1, 3, most=12 if iterations > 9 else 60)
    states = [first] + [graph.parameter(first.shape) for _ in range(graph.random.randint(0, 2))]
    return iterations, Body(graph, first.shape), states


@operator("Scan", since=FIRST_OF_NOW)
def add_scan(graph: Graph, name: str):
    iterations, body, states = begin_loop(graph)
    keeps = graph.chance(0.3)  # a state that the iterations do not change
    before = [body.input("state") for _ in states]
    reads, axes = [], []
    for _ in range(graph.random.randint(1, 2)):
        body.input("entry")
        axes.append(graph.random.randint(0, len(body.shape)))
        shape = list(body.shape)
        shape.insert(axes[-1], iterations)
        reads.append(graph.parameter(tuple(shape)))
    body.grow()
    # onnxruntime wants copies of what a body returns as it gets it.
    after = [body.bounded() if index or not keeps else body.node("Identity", [state]) for index, state in enumerate(before)]
    rows = [body.node("Identity", [graph.choose(body.floats + after)]) for _ in range(graph.random.randint(0, 2))]
    directions = lambda count: [int(graph.chance(0.4)) for _ in range(count)]
    keywords = dict(num_scan_inputs=len(reads), scan_input_axes=axes, scan_input_directions=directions(len(reads)))
    if rows:
        keywords |= dict(scan_output_axes=[graph.random.randint(0, len(body.shape)) for _ in rows], scan_output_directions=directions(len(rows)))
    graph.node(name, [*states, *reads], outputs=len(states) + len(rows), captured=body.captured, body=body.finish(after + rows), **keywords)


@operator("Loop", since=FIRST_OF_NOW)
def add_loop(graph: Graph, name: str):
    iterations, body, states = begin_loop(graph)
    number, condition = body.input("number", TensorProto.INT64), body.input("condition", TensorProto.BOOL)
    before = [body.input("state") for _ in states]
    kinds = [TensorProto.BOOL, *[TensorProto.DOUBLE] * len(states)]
    integers: list[Value] = []
    place = number
    if graph.chance(0.5):  # a counter of the model's own
        begin, step = graph.random.randint(0, 2), graph.choose([1, 1, 2])
        integers.append(graph.integers(begin))
        counter = body.input("counter", TensorProto.INT64)
        more = body.node("Add", [counter, body.capture(graph.integers(step))])
        place, last = counter, begin + step * (iterations - 1)
        kinds.append(TensorProto.INT64)
    else:
        last = iterations - 1
    if graph.chance(0.7):
        axis = graph.random.randint(0, len(body.shape))
        shape = list(body.shape)
        shape.insert(axis, last + graph.random.randint(1, 3))
        if np.prod(shape) > 2400:
            raise Rejected
        table = body.capture(graph.parameter(tuple(shape)))
        if graph.chance(0.3):
            table = body.node("Sin", [table])
        body.floats.append(body.node("Gather", [table, place], axis=axis))
    body.grow()
    after = [body.bounded() if index or graph.chance(0.8) else body.node("Identity", [state]) for index, state in enumerate(before)]
    rows = [body.node("Identity", [graph.choose(body.floats + after)]) for _ in range(graph.random.randint(0, 2))]
    if integers:
        after.append(more)
    kinds += [TensorProto.DOUBLE] * len(rows)
    goes = body.node("Identity", [condition])
    trips = graph.integers(iterations)
    truth = graph.constant(np.array(True)) if graph.chance(0.5) else None
    graph.node(name, [trips, truth, *states, *integers], outputs=len(after) + len(rows), captured=body.captured,
               body=body.finish([goes, *after, *rows], kinds))


@operator("If", since=FIRST_OF_NOW)
def add_if(graph: Graph, name: str):
    x = graph.float(1, 4)
    if graph.chance(0.3):
        condition = graph.constant(np.array(graph.chance(0.5)))
    else:
        total = graph.node("ReduceMax", [graph.float()], keepdims=0)
        condition = graph.node("Greater", [total, graph.constant(np.array(graph.random.uniform(-1, 1)))])
    branches, captured = {}, []
    for branch in ("then_branch", "else_branch"):
        body = Body(graph, x.shape)
        body.floats.append(body.capture(x))
        body.grow()
        branches[branch] = body.finish([body.node("Identity", [body.floats[-1]])])
        captured += body.captured
    graph.node(name, [condition], captured=captured, **branches)


# What they compute.


def entries(array: np.ndarray, axis: int, backward: int) -> list[np.ndarray]:
    parts = [part for part in np.moveaxis(array, axis, 0)]
    return parts[::-1] if backward else parts


@subgraphs("Scan")
def scan(evaluation: Evaluation, attributes, known, *operands):
    body, read = attributes["body"], attributes["num_scan_inputs"]
    states, count = list(operands[:-read]), len(operands) - read
    parts = [entries(array, axis, back) for array, axis, back in zip(operands[-read:], attributes["scan_input_axes"], attributes["scan_input_directions"])]
    rows = []
    for each in zip(*parts):
        results = evaluation.run_graph(body, known, [*states, *each])
        states = results[:count]
        rows.append(results[count:])
    stacked = [np.stack(row[::-1] if back else row, axis)
               for row, axis, back in zip(zip(*rows), attributes.get("scan_output_axes", []), attributes.get("scan_output_directions", []))]
    return [*states, *stacked]


@subgraphs("Loop")
def loop(evaluation: Evaluation, attributes, known, trips, condition, *states):
    states, rows = list(states), []
    for number in range(int(trips)):
        results = evaluation.run_graph(attributes["body"], known, [np.array(number), np.array(True), *states])
        states, row = results[1 : 1 + len(states)], results[1 + len(states) :]
        rows.append(row)
    return [*states, *map(np.stack, zip(*rows))]


@subgraphs("If")
def branch(evaluation: Evaluation, attributes, known, condition):
    return evaluation.run_graph(attributes["then_branch" if condition else "else_branch"], known, [])

"""How random graphs get elementwise operators, reductions, shapes and indices (random_graph.py)."""

from __future__ import annotations

import math

import numpy as np
from onnx import TensorProto, numpy_helper

from random_graph import NARROW, Graph, Rejected, Value, operator, reference


def eighths(graph: Graph, low: int, high: int) -> float:
    """An attribute that single precision holds exactly."""
    return graph.random.randint(low, high) / 8


# One operand.


@operator("Abs", "Neg", "Relu", "Sigmoid", "Softplus", "Softsign", "Tanh", "Erf", "Sin", "Cos", "Atan", "Asinh", "Identity", "Ceil",
          "Floor", "Round", "Sign", "Selu")
def add_unary(graph: Graph, name: str):
    graph.node(name, [graph.float()])


@operator("HardSwish", since=14)
@operator("Mish", since=18)
def add_later_unary(graph: Graph, name: str):
    graph.node(name, [graph.float()])


@operator("Exp", "Sinh", "Cosh")
def add_growing(graph: Graph, name: str):
    graph.node(name, [graph.bounded(graph.float(), 3)])


@operator("Tan", "Acos", "Asin", "Atanh")
def add_in_unit(graph: Graph, name: str):
    graph.node(name, [graph.bounded(graph.float(), 0.875)])


@operator("Log", "Sqrt", "Reciprocal")
def add_positive(graph: Graph, name: str):
    graph.node(name, [graph.positive(graph.float())])


@operator("Acosh")
def add_acosh(graph: Graph, name: str):
    graph.node(name, [graph.positive(graph.float(), 1.125)])


@operator("Elu", "Celu", "LeakyRelu", "ThresholdedRelu")
def add_with_alpha(graph: Graph, name: str):
    graph.node(name, [graph.float()], alpha=eighths(graph, 1, 12))


@operator("HardSigmoid")
def add_hard_sigmoid(graph: Graph, name: str):
    graph.node(name, [graph.float()], alpha=eighths(graph, 1, 4), beta=eighths(graph, 1, 6))


@operator("Shrink")
def add_shrink(graph: Graph, name: str):
    graph.node(name, [graph.float()], lambd=eighths(graph, 1, 8), bias=eighths(graph, 0, 8))


@operator("Gelu", since=20)
def add_gelu(graph: Graph, name: str):
    graph.node(name, [graph.float()], approximate=graph.choose(["none", "tanh"]))


@operator("Swish", since=24)
def add_swish(graph: Graph, name: str):
    graph.node(name, [graph.float()], alpha=eighths(graph, 1, 16))


@operator("Clip")
def add_clip(graph: Graph, name: str):
    low = graph.constant(np.array(eighths(graph, -16, -1))) if graph.chance(0.7) else None
    high = graph.constant(np.array(eighths(graph, 1, 16))) if graph.chance(0.7) else None
    graph.node(name, [graph.float(), low, high])


# Two operands and more.


@operator("Add", "Sub", "Mul", "Add", "Mul")
def add_binary(graph: Graph, name: str):
    allows = graph.choose([Value.is_integer, Value.is_narrow]) if graph.chance(0.1) else Value.is_float
    x = graph.pick(allows)
    if allows is Value.is_narrow:
        allows = x.is_like
    pair = [x, graph.partner(x, allows)]
    graph.random.shuffle(pair)
    graph.node(name, pair)


@operator("Div")
def add_div(graph: Graph, name: str):
    x = graph.float()
    graph.node(name, [x, graph.positive(graph.partner(x), 0.5)])


@operator("Pow")
def add_pow(graph: Graph, name: str):
    x = graph.float()
    if graph.chance(0.5):
        graph.node(name, [graph.bounded(x, 4), graph.constant(np.array(float(graph.choose([0, 1, 2, 3, 4]))))])
    else:
        graph.node(name, [graph.positive(x), graph.bounded(graph.partner(x), 2)])


@operator("Mod")
def add_mod(graph: Graph, name: str):
    x = graph.pick(lambda value: value.is_integer() or value.is_float())
    if x.is_integer():
        graph.node(name, [x, graph.integers(graph.random.randint(1, 9))], fmod=int(graph.chance(0.3)))
    else:
        graph.node(name, [x, graph.positive(graph.partner(x), 0.5)], fmod=1)


@operator("Max", "Min", "Sum", "Mean")
def add_variadic(graph: Graph, name: str):
    values = [graph.float()]
    for _ in range(graph.random.randint(0, 3)):
        values.append(graph.partner(max(values, key=lambda value: value.array.size)))
    if not fits(values):
        raise Rejected
    graph.node(name, values)


def fits(values: list[Value]) -> bool:
    try:
        np.broadcast_shapes(*(value.shape for value in values))
        return True
    except ValueError:
        return False


@operator("PRelu")
def add_prelu(graph: Graph, name: str):
    x = graph.float()
    first = graph.random.randint(0, x.rank)
    graph.node(name, [x, graph.parameter(tuple(size if graph.chance(0.7) else 1 for size in x.shape[first:]))])


@operator("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal")
def add_comparison(graph: Graph, name: str):
    x = graph.float() if graph.chance(0.7) else graph.pick(lambda value: value.is_integer() or value.is_narrow())
    graph.node(name, [x, graph.partner(x, Value.is_float if x.is_float() else x.is_like)])


@operator("And", "Or", "Xor")
def add_logic(graph: Graph, name: str):
    x = graph.pick(Value.is_truth)
    graph.node(name, [x, graph.partner(x, Value.is_truth)])


@operator("Not")
def add_not(graph: Graph, name: str):
    graph.node(name, [graph.pick(Value.is_truth)])


@operator("IsNaN", since=20)
@operator("IsInf", since=20)
def add_test(graph: Graph, name: str):
    graph.node(name, [graph.float()])


@operator("Where")
def add_where(graph: Graph, name: str):
    if graph.chance(0.3):
        shape = graph.new_shape(0, 3)
        chosen = graph.constant(graph.numbers.random(shape) < 0.5)
    else:
        chosen = graph.pick(Value.is_truth)
    x = graph.partner(chosen, Value.is_float) if graph.chance(0.5) else graph.float()
    values = [chosen, x, graph.partner(x)]
    if not fits(values):
        raise Rejected
    graph.node(name, values)


@operator("Cast", "Cast")
def add_cast(graph: Graph, name: str):
    x = graph.pick(lambda value: True)
    to = graph.choose([TensorProto.INT64, TensorProto.BOOL, *([] if x.is_float() else [TensorProto.DOUBLE])])
    if graph.chance(0.4):
        dtype, to = graph.choose(NARROW.items())
        if x.is_float() and x.array.size and not np.iinfo(dtype).min < x.array.min() <= x.array.max() < np.iinfo(dtype).max:
            raise Rejected  # What such numbers become is not defined.
    graph.node(name, [x], to=to)


@operator("Abs", "Sign", "Neg", "Max", "Min", "Where")
def add_of_integers(graph: Graph, name: str):
    x = graph.pick(Value.is_narrow if graph.chance(0.6) else Value.is_integer)
    if name in ("Max", "Min"):
        graph.node(name, [x, graph.partner(x, x.is_like)])
    elif name == "Where":
        graph.node(name, [graph.node("Greater", [x, graph.partner(x, x.is_like)]), x, graph.partner(x, x.is_like)])
    else:
        graph.node(name, [x])


@operator("CastLike", since=15)
def add_cast_like(graph: Graph, name: str):
    x = graph.pick(lambda value: not value.is_float())
    graph.node(name, [x, graph.float()])


# Reductions.


@operator("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
          "ReduceSumSquare")
def add_reduction(graph: Graph, name: str):
    whole = name in ("ReduceSum", "ReduceMax", "ReduceMin") and graph.chance(0.1)
    x = graph.pick(Value.is_integer) if whole else graph.float()
    if name in ("ReduceLogSum", "ReduceL2"):
        x = graph.positive(x)
    keywords = dict(keepdims=int(graph.chance(0.5)))
    axes = graph.axes(x.rank) if x.rank and graph.chance(0.9) else None
    if name == "ReduceSum" or graph.opset >= 18:
        if axes is None and graph.chance(0.3):
            keywords["noop_with_empty_axes"] = 1
        graph.node(name, [x, graph.integers(axes) if axes else None], **keywords)
    else:
        graph.node(name, [x], **keywords, **({"axes": axes} if axes else {}))


@operator("Softmax", "LogSoftmax")
def add_softmax(graph: Graph, name: str):
    x = graph.float(1)
    graph.node(name, [x], axis=graph.axis(x.rank))


@operator("CumSum")
def add_cumsum(graph: Graph, name: str):
    x = graph.float(1)
    graph.node(name, [x, graph.constant(np.array(graph.axis(x.rank)))], exclusive=int(graph.chance(0.3)), reverse=int(graph.chance(0.3)))


# Shapes.


@operator("Reshape")
def add_reshape(graph: Graph, name: str):
    x = graph.float()
    if x.rank > 1 and graph.chance(0.4):  # 0 keeps a dimension, -1 is what is left
        cut = graph.random.randint(1, x.rank - 1)
        shape = [0 if graph.chance(0.5) else size for size in x.shape[:cut]] + [-1]
        graph.node(name, [x, graph.integers(shape)])
    else:
        graph.reshaped(x, 1, 5)


@operator("Transpose")
def add_transpose(graph: Graph, name: str):
    x = graph.tensor(1)
    order = graph.random.sample(range(x.rank), x.rank)
    graph.node(name, [x], **({} if graph.chance(0.1) else {"perm": order}))


@operator("Concat")
def add_concat(graph: Graph, name: str):
    x = graph.tensor(1)
    axis = graph.axis(x.rank)
    rest = lambda shape: [size for d, size in enumerate(shape) if d != axis % x.rank]
    values = [x]
    for _ in range(graph.random.randint(0, 3)):
        if graph.chance(0.6):
            values.append(graph.pick(lambda value: value.is_like(x) and value.rank == x.rank and rest(value.shape) == rest(x.shape)))
        elif not x.is_float():
            values.append(x)
        else:
            values.append(graph.parameter(tuple(graph.extent() if d == axis % x.rank else size for d, size in enumerate(x.shape))))
    graph.random.shuffle(values)
    graph.node(name, values, axis=axis)


@operator("Slice", "Slice")
def add_slice(graph: Graph, name: str):
    x = graph.tensor(1)
    axes, starts, ends, steps = graph.axes(x.rank), [], [], []
    for axis in axes:
        size = x.shape[axis]
        step = graph.choose([1, 1, 1, 2, 3, -1, -2])
        low, high = sorted(graph.random.sample(range(size + 1), 2)) if size else (0, 0)
        begin, end = (low, high) if step > 0 else (high - 1, low - 1 if low else -(2**62))
        if step > 0 and graph.chance(0.3):
            end = graph.choose([2**63 - 1, 2**31 - 1, size + 5]) if high == size else high - size
        starts.append(begin - size if graph.chance(0.3) else begin)
        ends.append(end)
        steps.append(step)
    graph.node(name, [x, *map(graph.integers, (starts, ends, axes, steps))])


@operator("Expand")
def add_expand(graph: Graph, name: str):
    x = graph.tensor(most=200)
    shape = [size if size > 1 and graph.chance(0.8) else (graph.extent() if size == 1 else 1) for size in x.shape]
    shape = shape[graph.random.randint(0, x.rank) if graph.chance(0.2) else 0 :]
    if graph.chance(0.3) and len(shape) == x.rank and x.rank < 5:
        shape = [graph.extent(), *shape]
    if math.prod(shape) > 1200 or not shape:
        raise Rejected
    graph.node(name, [x, graph.integers(shape)])


@operator("Tile")
def add_tile(graph: Graph, name: str):
    x = graph.tensor(1, most=200)
    graph.node(name, [x, graph.integers([graph.choose([1, 1, 2, 3]) for _ in range(x.rank)])])


@operator("Squeeze")
def add_squeeze(graph: Graph, name: str):
    x = graph.pick(lambda value: (value.is_float() or graph.chance(0.1)) and 1 in value.shape)
    ones = [d - x.rank * graph.chance(0.3) for d, size in enumerate(x.shape) if size == 1]
    graph.node(name, [x, graph.integers(graph.random.sample(ones, graph.random.randint(1, len(ones)))) if graph.chance(0.8) else None])


@operator("Unsqueeze")
def add_unsqueeze(graph: Graph, name: str):
    x = graph.tensor(0, 4)
    count = graph.random.randint(1, 2)
    rank = x.rank + count
    graph.node(name, [x, graph.integers([d - rank * graph.chance(0.3) for d in graph.random.sample(range(rank), count)])])


@operator("Flatten")
def add_flatten(graph: Graph, name: str):
    x = graph.tensor()
    graph.node(name, [x], axis=graph.random.randint(-x.rank, x.rank))


@operator("Pad")
def add_pad(graph: Graph, name: str):
    x = graph.float(1, most=300)
    modes = ["constant", "constant", "reflect", "edge"] + ["wrap"] * (graph.opset >= 19)
    mode = graph.choose(modes)
    axes = graph.axes(x.rank) if graph.opset >= 18 and graph.chance(0.3) else list(range(x.rank))
    room = lambda size: {"constant": 3, "edge": 3, "reflect": size - 1, "wrap": size}[mode]
    sides = [[graph.random.randint(0, min(3, room(x.shape[axis]))) if graph.chance(0.5) else 0 for axis in axes] for _ in range(2)]
    value = graph.constant(np.array(eighths(graph, -8, 8))) if mode == "constant" and graph.chance(0.5) else None
    given = [x, graph.integers(sides[0] + sides[1]), value]
    if axes != list(range(x.rank)):
        given.append(graph.integers(axes))
    graph.node(name, given, mode=mode)


@operator("Split")
def add_split(graph: Graph, name: str):
    x = graph.pick(lambda value: value.is_float() and any(size > 1 for size in value.shape))
    axis = graph.choose([d for d, size in enumerate(x.shape) if size > 1])
    size = x.shape[axis]
    parts = graph.random.randint(2, min(size, 4))
    if size % parts == 0 and graph.chance(0.4):
        graph.node(name, [x], outputs=parts, axis=axis, **({"num_outputs": parts} if graph.opset >= 18 else {}))
    else:
        cuts = [0, *sorted(graph.random.sample(range(1, size), parts - 1)), size]
        graph.node(name, [x, graph.integers(np.diff(cuts))], outputs=parts, axis=axis - x.rank * graph.chance(0.3))


@operator("SplitToSequence")
def add_split_to_sequence(graph: Graph, name: str):
    x = graph.float(1)
    axis = graph.axis(x.rank)
    parts = graph.node(name, [x], axis=axis, keepdims=int(graph.chance(0.5)))
    graph.node("SequenceAt", [parts, graph.integers(graph.random.randrange(-len(parts.array), len(parts.array)))])


@operator("SequenceConstruct")
def add_sequence(graph: Graph, name: str):
    values = [graph.float() for _ in range(graph.random.randint(1, 3))]
    graph.node("SequenceAt", [graph.node(name, values), graph.integers(graph.random.randrange(len(values)))])


@operator("DepthToSpace", "SpaceToDepth")
def add_depth_space(graph: Graph, name: str):
    block = graph.choose([1, 2, 2, 3])
    def divides(value):
        if not value.is_float() or value.rank != 4:
            return False
        _, c, h, w = value.shape
        return c % block**2 == 0 if name == "DepthToSpace" else h % block == 0 and w % block == 0
    if graph.chance(0.5):
        n, c, h, w = graph.random.randint(1, 2), graph.random.randint(1, 3), graph.random.randint(1, 4), graph.random.randint(1, 4)
        x = graph.parameter((n, c * block**2, h, w) if name == "DepthToSpace" else (n, c, h * block, w * block))
    else:
        x = graph.pick(divides)
    mode = {"mode": graph.choose(["DCR", "CRD"])} if name == "DepthToSpace" or graph.opset >= 28 else {}
    graph.node(name, [x], blocksize=block, **mode)


@operator("Trilu", since=14)
def add_trilu(graph: Graph, name: str):
    x = graph.float(2)
    diagonal = graph.constant(np.array(graph.random.randint(-3, 3))) if graph.chance(0.6) else None
    graph.node(name, [x, diagonal], upper=int(graph.chance(0.5)))


@operator("Shape")
def add_shape(graph: Graph, name: str):
    """A constant of the shape that a value has."""
    x = graph.float(1)
    shape = graph.node(name, [x])
    fill = np.array([eighths(graph, -8, 8)])
    full = graph.node("ConstantOfShape", [shape], value=numpy_helper.from_array(fill))
    graph.node("Add", [x, full])


@operator("Size")
def add_size(graph: Graph, name: str):
    x = graph.float()
    graph.node("Div", [x, graph.node("Cast", [graph.node(name, [x])], to=TensorProto.DOUBLE)])


@operator("Range")
def add_range(graph: Graph, name: str):
    count, begin = graph.random.randint(2, 9), graph.random.randint(-4, 4)
    step = graph.choose([1, 2, -1])
    x = graph.node(name, [graph.constant(np.array(float(v))) for v in (begin, begin + step * count, step)])
    graph.node("Mul", [x, graph.partner(x)])


@operator("EyeLike")
def add_eye_like(graph: Graph, name: str):
    x = graph.pick(lambda value: value.is_float() and value.rank == 2)
    graph.node("Mul", [x, graph.node(name, [x], k=graph.random.randint(-2, 2))])


# Indices.


def places(graph: Graph, shape: tuple[int, ...], size: int) -> np.ndarray:
    return graph.numbers.integers(-size, size, shape)


@operator("Gather", "Gather")
def add_gather(graph: Graph, name: str):
    x = graph.tensor(1)
    axis = graph.axis(x.rank)
    graph.node(name, [x, graph.index(places(graph, graph.new_shape(0, 2), x.shape[axis]))], axis=axis)


@operator("GatherElements")
def add_gather_elements(graph: Graph, name: str):
    x = graph.tensor(1)
    axis = graph.axis(x.rank)
    shape = tuple(graph.random.randint(1, 9) if d == axis % x.rank else graph.random.randint(1, size) for d, size in enumerate(x.shape))
    graph.node(name, [x, graph.index(places(graph, shape, x.shape[axis]))], axis=axis)


@operator("GatherND")
def add_gather_nd(graph: Graph, name: str):
    x = graph.tensor(1)
    depth, count = graph.random.randint(1, x.rank), graph.new_shape(0, 2)
    parts = [places(graph, count, size) for size in x.shape[:depth]]
    graph.node(name, [x, graph.index(np.stack(parts, -1))])


@operator("OneHot")
def add_one_hot(graph: Graph, name: str):
    depth = graph.random.randint(2, 9)
    index = graph.index(places(graph, graph.new_shape(1, 3), depth))
    values = graph.constant(np.array([eighths(graph, -8, 8), eighths(graph, -8, 8)]))
    hot = graph.node(name, [index, graph.integers(depth), values], axis=graph.random.randrange(-index.rank - 1, index.rank + 1))
    graph.node("Mul", [hot, graph.partner(hot)])


@operator("ArgMax", "ArgMin")
def add_arg(graph: Graph, name: str):
    x = graph.float(1)
    graph.node(name, [x], axis=graph.axis(x.rank), keepdims=int(graph.chance(0.5)), select_last_index=int(graph.chance(0.3)))


@operator("TopK")
def add_top_k(graph: Graph, name: str):
    x = graph.float(1)
    axis = graph.axis(x.rank)
    k = graph.integers([graph.random.randint(1, min(x.shape[axis], 16))])
    graph.node(name, [x, k], outputs=2, axis=axis, largest=int(graph.chance(0.5)), sorted=1)


@operator("ScatterElements", since=18)
def add_scatter_elements(graph: Graph, name: str):
    x = graph.float(1)
    axis = graph.axis(x.rank)
    shape = tuple(graph.random.randint(1, size) for size in x.shape)
    index = graph.index(places(graph, shape, x.shape[axis]))
    graph.node(name, [x, index, graph.parameter(shape)], axis=axis, reduction="add")


@operator("ScatterND", since=18)
def add_scatter_nd(graph: Graph, name: str):
    x = graph.float(1)
    depth, count = graph.random.randint(1, x.rank), graph.new_shape(1, 2)
    parts = [places(graph, count, size) for size in x.shape[:depth]]
    graph.node(name, [x, graph.index(np.stack(parts, -1)), graph.parameter((*count, *x.shape[depth:]))], reduction="add")


@operator("Det")
def add_det(graph: Graph, name: str):
    size = graph.random.randint(1, 4)
    graph.node(name, [graph.parameter((*graph.new_shape(0, 2), size, size))])


@operator("DFT", since=20)
def add_dft(graph: Graph, name: str):
    x = graph.parameter((*graph.new_shape(1, 2), graph.random.randint(1, 2)))
    axis = graph.integers(graph.random.randrange(x.rank - 1))
    length = graph.integers(graph.random.randint(1, 9)) if graph.chance(0.5) else None
    inverse = int(graph.chance(0.3))
    graph.node(name, [x, length, axis], inverse=inverse, onesided=int(not inverse and x.shape[-1] == 1 and graph.chance(0.5)))


# What onnx's evaluator lacks.


@reference("Gelu")
def gelu(attributes, x):
    if attributes.get("approximate", b"none") == b"tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(math.erf, otypes=[np.float64])(x / math.sqrt(2)))


@reference("Swish")
def swish(attributes, x):
    return x / (1 + np.exp(-attributes.get("alpha", 1.0) * x))


@reference("Erf")
def erf(attributes, x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


@reference("Round")
def round_half_to_even(attributes, x):
    return np.rint(x)


@reference("Softsign")
def softsign(attributes, x):
    return x / (1 + np.abs(x))


@reference("Sum")
def total(attributes, *operands):
    return sum(operands)


@reference("Mean")
def mean(attributes, *operands):
    return sum(operands) / len(operands)


@reference("GatherElements")
def gather_elements(attributes, x, index):
    axis = attributes.get("axis", 0) % x.ndim
    places = list(np.indices(index.shape))
    places[axis] = index
    return x[tuple(places)]


# onnx's evaluator has 1/6 in single precision.
@reference("HardSwish")
def hard_swish(attributes, x):
    return x * np.clip(x / 6 + 0.5, 0, 1)

"""How random graphs get products, convolutions, pooling, normalisation, attention and recurrent layers."""

from __future__ import annotations

import math
import string

import numpy as np

from random_graph import Graph, Rejected, Value, operator, reference
from random_operators import eighths

# Products.


@operator("MatMul", "MatMul")
def add_matmul(graph: Graph, name: str):
    x = graph.float(1, 4)
    k, columns = x.shape[-1], graph.extent()
    if graph.chance(0.4):
        y = graph.pick(lambda value: value.is_float() and value.rank > 0 and value.shape[-2 if value.rank > 1 else -1] == k)
        try:
            np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        except ValueError:
            raise Rejected from None
    else:
        batch = [size if graph.chance(0.6) else 1 for size in x.shape[:-2]][graph.random.randint(0, max(x.rank - 2, 0)) :]
        y = graph.parameter((k,) if graph.chance(0.1) else (*batch, k, columns))
    if max(x.array.size, 1) * (y.shape[-1] if y.rank > 1 else 1) > 40000:
        raise Rejected
    graph.node(name, [x, y])


@operator("Gemm")
def add_gemm(graph: Graph, name: str):
    x = graph.float(2, 2)
    flips = [int(graph.chance(0.4)), int(graph.chance(0.4))]
    rows, k = reversed(x.shape) if flips[0] else x.shape
    columns = graph.extent()
    y = graph.parameter((columns, k) if flips[1] else (k, columns))
    bias = graph.choose([(columns,), (rows, columns), (rows, 1), (1, columns), (1,), None])
    keywords = dict(alpha=eighths(graph, 1, 16), beta=eighths(graph, 1, 16)) if graph.chance(0.5) else {}
    graph.node(name, [x, y, None if bias is None else graph.parameter(bias)], transA=flips[0], transB=flips[1], **keywords)


@operator("Einsum")
def add_einsum(graph: Graph, name: str):
    x = graph.float(1, 4, most=300)
    letters = list(string.ascii_lowercase[: x.rank])
    sizes = dict(zip(letters, x.shape))
    terms, operands = ["".join(letters)], [x]
    for _ in range(graph.random.randint(0, 2)):
        term = graph.random.sample(sorted(sizes), graph.random.randint(1, min(3, len(sizes))))
        if graph.chance(0.6):
            letter = string.ascii_lowercase[10 + len(sizes)]
            sizes[letter] = graph.extent()
            term.insert(graph.random.randint(0, len(term)), letter)
        terms.append("".join(term))
        operands.append(graph.parameter(tuple(sizes[letter] for letter in term)))
    if math.prod(sizes.values()) > 20000:
        raise Rejected
    result = "".join(graph.random.sample(sorted(sizes), graph.random.randint(0, len(sizes))))
    equation = ",".join(terms) + ("" if graph.chance(0.15) else "->" + result)
    graph.node(name, operands, equation=equation)


@operator("Attention", since=23)
def add_attention(graph: Graph, name: str):
    batch, heads, queries, keys, size = (graph.random.randint(1, n) for n in (2, 3, 6, 6, 5))
    groups = graph.choose([d for d in range(1, heads + 1) if heads % d == 0])
    width = graph.random.randint(1, 5)
    keywords = {}
    if graph.chance(0.3):
        keywords["scale"] = eighths(graph, 1, 12)
    if graph.chance(0.3):
        keywords["is_causal"] = 1
        keys = queries
    if graph.chance(0.2):
        keywords["softcap"] = eighths(graph, 4, 16)
    mask = None
    if graph.chance(0.4) and "is_causal" not in keywords:
        mask = graph.parameter(graph.choose([(queries, keys), (batch, 1, queries, keys), (1, heads, queries, keys)]))
    source = graph.bounded(graph.float(), 4)
    shapes = [(batch, heads, queries, size), (batch, groups, keys, size), (batch, groups, keys, width)]
    q, k, v = (graph.parameter(shape) for shape in shapes)
    q = graph.node("Add", [q, graph.node("ReduceMean", [source], keepdims=0)])  # what was there before is read
    graph.node(name, [q, k, v, mask], **keywords)


# Convolutions and pooling.


def image(graph: Graph, most: int = 500) -> Value:
    """A value with a batch, channels and one to three spatial dimensions. One of three has elements: gpuopt takes no
    others."""
    if graph.chance(0.5):
        value = graph.float(3, 5, most)
        if value.rank == 5 and value.array.size == 0:
            raise Rejected
        return value
    spatial = graph.choose([1, 2, 2, 2, 3])
    shape = (graph.random.randint(1, 2), graph.random.randint(1, 6), *(graph.random.randint(2, 9) for _ in range(spatial)))
    if math.prod(shape) > most:
        raise Rejected
    value = graph.float()
    return graph.reshaped(value, 3, 5) if graph.chance(0.3) else graph.parameter(shape)


def window(graph: Graph, x: Value, dilates: bool) -> dict:
    """Attributes of a window that fits into the padded dimensions, with a place for it in each."""
    rank = x.rank - 2
    kernel = [graph.random.randint(1, min(3, size)) for size in x.shape[2:]]
    keywords = dict(kernel_shape=kernel)
    if graph.chance(0.7):
        keywords["strides"] = [graph.random.randint(1, 3) for _ in range(rank)]
    dilations = [1] * rank
    if dilates and graph.chance(0.3):
        dilations = keywords["dilations"] = [graph.random.randint(1, 2) for _ in range(rank)]
    if graph.chance(0.5):
        keywords["pads"] = [graph.random.randint(0, k - 1) for k in kernel + kernel]
    elif graph.chance(0.2) and all(d == 1 for d in dilations):
        keywords["auto_pad"] = graph.choose(["SAME_UPPER", "SAME_LOWER", "VALID"])
    if "auto_pad" in keywords and any(stride > k for stride, k in zip(keywords.get("strides", [1] * rank), kernel)):
        raise Rejected  # onnxruntime's pads are negative
    pads = keywords.get("pads", [0] * 2 * rank)
    for d in range(rank):
        if x.shape[2 + d] + pads[d] + pads[d + rank] < (kernel[d] - 1) * dilations[d] + 1:
            raise Rejected
    return keywords


@operator("Conv", "Conv")
def add_conv(graph: Graph, name: str):
    x = image(graph)
    channels = x.shape[1]
    groups = graph.choose([d for d in range(1, channels + 1) if channels % d == 0]) if graph.chance(0.4) else 1
    outputs = groups * graph.random.randint(1, 4)
    if channels > 40 or outputs > 64:
        raise Rejected
    keywords = window(graph, x, dilates=True)
    weights = graph.parameter((outputs, channels // groups, *keywords["kernel_shape"]), -0.5, 0.5)
    graph.node(name, [x, weights, graph.parameter((outputs,)) if graph.chance(0.5) else None], group=groups, **keywords)


@operator("ConvTranspose")
def add_conv_transpose(graph: Graph, name: str):
    x = image(graph, 200)
    channels, rank = x.shape[1], x.rank - 2
    groups = graph.choose([d for d in range(1, channels + 1) if channels % d == 0]) if graph.chance(0.3) else 1
    outputs = graph.random.randint(1, 3)
    if channels > 24 or outputs * groups > 32:
        raise Rejected
    kernel, strides = [graph.random.randint(1, 3) for _ in range(rank)], [graph.random.randint(1, 3) for _ in range(rank)]
    pads = [graph.random.randint(0, (k - 1) // 2) for k in kernel + kernel]
    keywords = dict(strides=strides, pads=pads, kernel_shape=kernel)
    if graph.chance(0.3):
        keywords["output_padding"] = [graph.random.randint(0, s - 1) for s in strides]
    weights = graph.parameter((channels, outputs, *kernel), -0.5, 0.5)
    graph.node(name, [x, weights, graph.parameter((outputs * groups,)) if graph.chance(0.5) else None], group=groups, **keywords)


@operator("MaxPool", "AveragePool")
def add_pool(graph: Graph, name: str):
    x = image(graph)
    keywords = window(graph, x, dilates=False)
    if "auto_pad" not in keywords and graph.chance(0.3):
        keywords["ceil_mode"] = 1
    elif name == "AveragePool" and graph.chance(0.5):
        keywords["count_include_pad"] = 1
    graph.node(name, [x], **keywords)


@operator("GlobalAveragePool", "GlobalMaxPool")
def add_global_pool(graph: Graph, name: str):
    graph.node(name, [image(graph)])


@operator("Resize")
def add_resize(graph: Graph, name: str):
    x = image(graph, 200)
    rank = x.rank
    if rank < 3 or min(x.shape[2:]) < 2:
        raise Rejected
    mode = graph.choose(["nearest", "linear", "cubic"]) if rank == 4 else graph.choose(["nearest", "linear"])
    forms = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]
    keywords = dict(mode=mode, coordinate_transformation_mode=graph.choose(forms))
    if mode == "nearest":
        keywords["nearest_mode"] = graph.choose(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    if graph.chance(0.5):
        scales = np.array([1, 1] + [graph.choose([0.5, 1, 1.5, 2, 3]) for _ in range(rank - 2)], np.float32)
        least = 2 if keywords["coordinate_transformation_mode"] == "pytorch_half_pixel" else 1
        if min(math.floor(size * scale) for size, scale in zip(x.shape[2:], scales[2:])) < least:
            raise Rejected
        graph.node(name, [x, None, graph.constant(scales)], **keywords)
    else:
        # onnxruntime and PyTorch differ where pytorch_half_pixel makes a size 1.
        least = 2 if keywords["coordinate_transformation_mode"] == "pytorch_half_pixel" else 1
        sizes = [*x.shape[:2], *(graph.random.randint(least, 2 * size) for size in x.shape[2:])]
        graph.node(name, [x, None, None, graph.integers(sizes)], **keywords)


# Normalisation.


@operator("LayerNormalization", since=17)
def add_layer_norm(graph: Graph, name: str):
    x = graph.float(1)
    axis = graph.axis(x.rank)
    shape = x.shape[axis:]
    bias = graph.parameter(shape) if graph.chance(0.6) else None
    graph.node(name, [x, graph.parameter(shape), bias], axis=axis, epsilon=2.0**-10)


@operator("RMSNormalization", since=23)
def add_rms_norm(graph: Graph, name: str):
    x = graph.float(1)
    axis = graph.axis(x.rank)
    graph.node(name, [x, graph.parameter(x.shape[axis:])], axis=axis, epsilon=2.0**-10)


@operator("GroupNormalization", since=21)
def add_group_norm(graph: Graph, name: str):
    x = graph.float(2, 5)
    groups = graph.choose([d for d in range(1, x.shape[1] + 1) if x.shape[1] % d == 0])
    graph.node(name, [x, graph.parameter((x.shape[1],)), graph.parameter((x.shape[1],))], num_groups=groups, epsilon=2.0**-10)


@operator("InstanceNormalization")
def add_instance_norm(graph: Graph, name: str):
    x = graph.float(3, 5)
    if x.shape[1] == 0:
        raise Rejected
    graph.node(name, [x, graph.parameter((x.shape[1],)), graph.parameter((x.shape[1],))], epsilon=2.0**-10)


@operator("BatchNormalization", since=14)
def add_batch_norm(graph: Graph, name: str):
    x = graph.float(2, 5)
    channels = x.shape[1]
    if channels < 2:
        raise Rejected
    statistics = [graph.buffer(graph.numbers.standard_normal(channels)), graph.buffer(graph.numbers.uniform(0.5, 2, channels))]
    scale, bias = graph.parameter((channels,)), graph.parameter((channels,))
    graph.node(name, [x, scale, bias, *statistics], epsilon=2.0**-10, **({"training_mode": 1} if graph.trains_batch_norm else {}),
               outputs=3 if graph.trains_batch_norm else 1)
    if graph.trains_batch_norm:  # the running statistics are not read
        del graph.values[-2:]


@operator("LpNormalization")
def add_lp_norm(graph: Graph, name: str):
    x = graph.float(1)
    graph.node(name, [graph.positive(x) if graph.chance(0.5) else x], axis=graph.axis(x.rank), p=graph.choose([1, 2]))


@operator("MeanVarianceNormalization")
def add_mean_variance_norm(graph: Graph, name: str):
    x = graph.float(1)
    axes = [axis % x.rank for axis in graph.axes(x.rank)]
    if math.prod(x.shape[axis] for axis in axes) < 2:
        raise Rejected  # onnxruntime divides 0 by 0
    graph.node(name, [x], axes=axes)


@operator("Dropout")
def add_dropout(graph: Graph, name: str):
    """As it is evaluated: it drops nothing."""
    graph.node(name, [graph.float(), graph.constant(np.array(0.5))])


# Recurrent layers.


@operator("LSTM", "GRU", "RNN")
def add_recurrent(graph: Graph, name: str):
    gates, states = {"LSTM": (4, 2), "GRU": (3, 1), "RNN": (1, 1)}[name]
    is_long = graph.chance(0.2)  # more steps than are unrolled
    x = graph.parameter((66, graph.random.randint(1, 2), graph.random.randint(1, 3))) if is_long else graph.float(3, 3, most=200)
    steps, batch, size = x.shape
    if (steps > 9 and not is_long) or size > 40:
        raise Rejected
    hidden = graph.random.randint(1, 4)
    direction = graph.choose(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    small = lambda *shape: graph.parameter(shape, -1.0, 1.0)
    operands = [x, small(d, gates * hidden, size), small(d, gates * hidden, hidden)]
    if graph.chance(0.6):
        operands += [small(d, 2 * gates * hidden), None]
        if graph.chance(0.6):
            operands += [small(d, batch, hidden) for _ in range(states)]
    keywords = dict(hidden_size=hidden, direction=direction)
    if name == "GRU":
        keywords["linear_before_reset"] = int(graph.chance(0.5))
    if name == "RNN" and graph.chance(0.4):
        keywords["activations"] = ["Relu"] * d
    graph.node(name, operands, outputs=1 + states, **keywords)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _lstm_step(x, w, r, b, h, c, attributes):
    i, o, f, g = np.split(x @ w.T + h @ r.T + sum(np.split(b, 2)), 4, 1)
    c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
    return _sigmoid(o) * np.tanh(c), c


def _gru_step(x, w, r, b, h, c, attributes):
    wz, wr, wh = np.split(w, 3)
    rz, rr, rh = np.split(r, 3)
    bz, br, bh, cz, cr, ch = np.split(b, 6)
    z, reset = _sigmoid(x @ wz.T + h @ rz.T + bz + cz), _sigmoid(x @ wr.T + h @ rr.T + br + cr)
    late = attributes.get("linear_before_reset", 0)
    inner = reset * (h @ rh.T + ch) if late else (reset * h) @ rh.T + ch
    return (1 - z) * np.tanh(x @ wh.T + inner + bh) + z * h, c


def _rnn_step(x, w, r, b, h, c, attributes):
    total = x @ w.T + h @ r.T + sum(np.split(b, 2))
    return (np.maximum(total, 0) if attributes.get("activations", [b"Tanh"])[0] == b"Relu" else np.tanh(total)), c


def _recurrent(step, gates, attributes, x, w, r, b=None, lengths=None, h=None, c=None):
    """ONNX's definition: y of [steps, directions, batch, hidden] and the last states."""
    directions, _, hidden = r.shape
    zeros = np.zeros((directions, x.shape[1], hidden))
    b = np.zeros((directions, 2 * gates * hidden)) if b is None else b
    ys, hs, cs = [], [], []
    for d in range(directions):
        backward = d == 1 or attributes.get("direction") == b"reverse"
        state, cell, y = (zeros if h is None else h)[d], (zeros if c is None else c)[d], []
        for part in x[::-1] if backward else x:
            state, cell = step(part, w[d], r[d], b[d], state, cell, attributes)
            y.append(state)
        ys.append(np.stack(y[::-1] if backward else y))
        hs.append(state)
        cs.append(cell)
    return np.stack(ys, 1), np.stack(hs), np.stack(cs)


@reference("LSTM")
def lstm(attributes, *operands):
    return _recurrent(_lstm_step, 4, attributes, *operands)


@reference("GRU")
def gru(attributes, *operands):
    return _recurrent(_gru_step, 3, attributes, *operands)[:2]


@reference("RNN")
def rnn(attributes, *operands):
    return _recurrent(_rnn_step, 1, attributes, *operands)[:2]


@reference("GroupNormalization")
def group_norm(attributes, x, scale, bias):
    groups = attributes["num_groups"]
    parts = x.reshape(x.shape[0], groups, -1)
    parts = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + attributes["epsilon"])
    channels = (1, -1, *[1] * (x.ndim - 2))
    return parts.reshape(x.shape) * scale.reshape(channels) + bias.reshape(channels)


@reference("MeanVarianceNormalization")
def mean_variance_norm(attributes, x):
    axes = tuple(attributes.get("axes", [0, 2, 3]))
    return (x - x.mean(axes, keepdims=True)) / (x.std(axes, keepdims=True) + 1e-9)


@reference("BatchNormalization")
def batch_norm(attributes, x, scale, bias, mean, variance):
    channels = (1, -1, *[1] * (x.ndim - 2))
    trains = attributes.get("training_mode", 0)
    if trains:
        axes = (0, *range(2, x.ndim))
        mean, variance = x.mean(axes), x.var(axes)
    y = (x - mean.reshape(channels)) / np.sqrt(variance.reshape(channels) + attributes["epsilon"])
    y = y * scale.reshape(channels) + bias.reshape(channels)
    return (y, mean, variance) if trains else y


@reference("LayerNormalization")
def layer_norm(attributes, x, scale, bias=None):
    axes = tuple(range(attributes["axis"] % x.ndim, x.ndim))
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + attributes["epsilon"]) * scale
    return y if bias is None else y + bias


@reference("RMSNormalization")
def rms_norm(attributes, x, scale):
    axes = tuple(range(attributes["axis"] % x.ndim, x.ndim))
    return x / np.sqrt(np.square(x).mean(axes, keepdims=True) + attributes["epsilon"]) * scale


@reference("Attention")
def attention(attributes, q, k, v, mask=None):
    k, v = (np.repeat(part, q.shape[1] // part.shape[1], 1) for part in (k, v))
    logits = q @ np.swapaxes(k, 2, 3) * attributes.get("scale", q.shape[3] ** -0.5)
    cap = attributes.get("softcap", 0.0)
    if cap:
        logits = cap * np.tanh(logits / cap)
    if attributes.get("is_causal", 0):
        logits = np.where(np.tri(*logits.shape[2:], dtype=bool), logits, -np.inf)
    if mask is not None:
        logits = logits + mask
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


# onnx's evaluator handles groups wrongly.
@reference("ConvTranspose")
def conv_transpose(attributes, x, w, bias=None):
    rank, groups = x.ndim - 2, attributes.get("group", 1)
    strides, extra = attributes["strides"], attributes.get("output_padding", [0] * rank)
    kernel, pads = w.shape[2:], attributes["pads"]
    full = [(size - 1) * stride + k + more for size, stride, k, more in zip(x.shape[2:], strides, kernel, extra)]
    y = np.zeros((x.shape[0], w.shape[1] * groups, *full))
    for group, (part, weights) in enumerate(zip(np.split(x, groups, 1), np.split(w, groups))):
        channels = slice(group * w.shape[1], (group + 1) * w.shape[1])
        for tap in np.ndindex(*kernel):
            places = tuple(slice(t, t + size * stride, stride) for t, size, stride in zip(tap, x.shape[2:], strides))
            y[(slice(None), channels, *places)] += np.einsum("nc...,co->no...", part, weights[(..., *tap)])
    y = y[(..., *(slice(begin, size - end) for begin, end, size in zip(pads, pads[rank:], full)))]
    return y if bias is None else y + bias.reshape(1, -1, *[1] * rank)


def _pool(attributes, x, reduce_window):
    """The windows of a pooling, each reduced with the number of padded elements that it covers."""
    sizes, kernel = x.shape[2:], attributes["kernel_shape"]
    rank = len(sizes)
    strides, pads = attributes.get("strides", [1] * rank), list(attributes.get("pads", [0] * 2 * rank))
    automatic, counts = attributes.get("auto_pad", b"NOTSET"), []
    for d in range(rank):
        if automatic in (b"SAME_UPPER", b"SAME_LOWER"):
            counts.append(-(-sizes[d] // strides[d]))
            missing = max((counts[d] - 1) * strides[d] + kernel[d] - sizes[d], 0)
            pads[d] = missing // 2 if automatic == b"SAME_UPPER" else -(-missing // 2)
            pads[d + rank] = missing - pads[d]
            continue
        room = sizes[d] + pads[d] + pads[d + rank] - kernel[d]
        count = (-(-room // strides[d]) if attributes.get("ceil_mode", 0) else room // strides[d]) + 1
        counts.append(count - ((count - 1) * strides[d] >= sizes[d] + pads[d]))  # a window begins within x or before it
    y = np.empty((*x.shape[:2], *counts))
    for place in np.ndindex(*counts):
        begins = [p * stride - pads[d] for d, (p, stride) in enumerate(zip(place, strides))]
        inside = tuple(slice(max(begin, 0), min(begin + k, size)) for begin, k, size in zip(begins, kernel, sizes))
        covered = math.prod(min(begin + k, size + pads[d + rank]) - begin for d, (begin, k, size) in enumerate(zip(begins, kernel, sizes)))
        y[(..., *place)] = reduce_window(x[(..., *inside)], tuple(range(2, x.ndim)), covered)
    return y


# onnx's evaluator has other shapes for ceil_mode.
@reference("MaxPool")
def max_pool(attributes, x):
    return _pool(attributes, x, lambda part, axes, covered: part.max(axes))


@reference("AveragePool")
def average_pool(attributes, x):
    if attributes.get("count_include_pad", 0):
        return _pool(attributes, x, lambda part, axes, covered: part.sum(axes) / covered)
    return _pool(attributes, x, lambda part, axes, covered: part.mean(axes))


# onnx's evaluator forgets the magnitudes of a sum.
@reference("LpNormalization")
def lp_norm(attributes, x):
    axis, p = attributes.get("axis", -1), attributes.get("p", 2)
    norm = (np.abs(x) ** p).sum(axis, keepdims=True) ** (1 / p)
    return np.where(norm == 0, 0, x / np.where(norm == 0, 1, norm))


# onnx's evaluator takes other dimensions.
@reference("GlobalMaxPool")
def global_max_pool(attributes, x):
    return x.max(tuple(range(2, x.ndim)), keepdims=True)


@reference("GlobalAveragePool")
def global_average_pool(attributes, x):
    return x.mean(tuple(range(2, x.ndim)), keepdims=True)


def _weights(mode, form, size, count, scale):
    """A matrix [count, size] whose rows average the elements around a coordinate."""
    rows, at = np.zeros((count, size)), np.arange(count)
    if form == b"align_corners":
        x = at * ((size - 1) / (count - 1)) if count > 1 else at * 0.0
    elif form == b"asymmetric":
        x = at / scale
    else:
        x = (at + 0.5) / scale - 0.5
    for row, coordinate in zip(rows, x):
        begin = math.floor(coordinate)
        t = coordinate - begin
        if mode == b"linear":
            parts = {0: 1 - t, 1: t}
        else:
            near = lambda d: (1.25 * d - 2.25) * d * d + 1
            far = lambda d: ((-0.75 * d + 3.75) * d - 6) * d + 3
            parts = {-1: far(1 + t), 0: near(t), 1: near(1 - t), 2: far(2 - t)}
        for offset, part in parts.items():
            row[min(max(begin + offset, 0), size - 1)] += part
    return rows


# onnx's evaluator computes weights in single precision.
@reference("Resize")
def resize(attributes, x, region=None, scales=None, sizes=None):
    mode, form = attributes["mode"], attributes["coordinate_transformation_mode"]
    scales = [size / old for size, old in zip(sizes, x.shape)] if sizes is not None else [float(scale) for scale in scales]
    for axis in range(2, x.ndim):
        count = int(sizes[axis]) if sizes is not None else math.floor(x.shape[axis] * scales[axis])
        if mode == b"nearest":
            x = np.take(x, _nearest(attributes["nearest_mode"], form, x.shape[axis], count, np.float32(scales[axis])), axis)
        else:
            x = np.moveaxis(np.tensordot(_weights(mode, form, x.shape[axis], count, scales[axis]), x, (1, axis)), 0, axis)
    return x


def _nearest(rounding, form, size, count, scale):
    """Which elements are nearest to the coordinates, which onnxruntime computes in single precision."""
    at = np.arange(count, dtype=np.float32)
    half = np.float32(0.5)
    if form == b"align_corners":
        x = at * np.float32(size - 1) / np.float32(count - 1) if count > 1 else at * 0
    elif form == b"asymmetric":
        x = at / scale
    else:
        x = (at + half) / scale - half
    rounded = {b"floor": np.floor, b"ceil": np.ceil, b"round_prefer_floor": lambda x: np.ceil(x - half), b"round_prefer_ceil": lambda x: np.floor(x + half)}
    return np.clip(rounded[rounding](x), 0, size - 1).astype(int)

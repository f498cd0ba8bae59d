"""Operators of signals, of recurrences, of regions of images, of quantised numbers, and of control flow.

They are made of what the operators of op_cases.CASES are made of, and are tested on the host alone.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper

import op_cases
from op_cases import Data, OpCase, ints

COMPOSED: dict[str, list[OpCase]] = {}
add = partial(op_cases.add, cases=COMPOSED)

floats = lambda *values: np.array(values, np.float64)
scalar = lambda number, dtype=np.int64: np.array(number, dtype)


# Transforms: complex numbers have a last dimension of 2.


def complex_of(x):
    return torch.complex(x[..., 0], x[..., 1] if x.shape[-1] == 2 else torch.zeros_like(x[..., 0]))


for label, shape, length, axis, attributes, reference in [
    ("", (2, 6, 1), None, 1, {}, lambda x: torch.fft.fft(complex_of(x), dim=1)),
    ("Longer", (5, 3, 2), 7, 0, {}, lambda x: torch.fft.fft(complex_of(x), n=7, dim=0)),
    ("Shorter", (2, 6, 2), 4, -2, {"inverse": 1}, lambda x: torch.fft.ifft(complex_of(x), n=4, dim=1)),
    ("Half", (2, 7, 1), None, 1, {"onesided": 1}, lambda x: torch.fft.rfft(x[..., 0], dim=1)),
]:
    operands = [shape, None if length is None else scalar(length), scalar(axis)]
    add("signals", "DFT", [operands], lambda x, r=reference: torch.view_as_real(r(x)), label=label, **attributes)
for label, bins, length in [("HalfBackEven", 4, 6), ("HalfBackOdd", 4, 7)]:
    add("signals", "DFT", [[(2, bins, 2), scalar(length), scalar(1)]], lambda x, n=length: torch.fft.irfft(complex_of(x), n=n, dim=1)[..., None],
        label=label, inverse=1, onesided=1)
window = np.hanning(4)
add("signals", "STFT", [[(2, 10, 1), scalar(3), window]], lambda x: torch.view_as_real(torch.fft.rfft(x[..., 0].unfold(1, 4, 3) * torch.from_numpy(window))), label="Window")
add("signals", "STFT", [[(1, 9, 2), scalar(2), None, scalar(5)]], lambda x: torch.view_as_real(torch.fft.fft(complex_of(x).unfold(1, 5, 2))), label="Complex", onesided=0)
add("signals", "Det", [(3, 3), (2, 1, 1), (2, 3, 4, 4)], torch.linalg.det)


# Recurrences.


def linear_attention(query, key, value, rule, heads, group, past=None, decay=None, beta=None, scale=None):
    batch, tokens, _ = query.shape
    split = lambda x, count: x.reshape(batch, tokens, count, -1)
    query, key, value = split(query, heads * group), split(key, heads), split(value, heads)
    state = torch.zeros(batch, heads, key.shape[-1], value.shape[-1], dtype=query.dtype) if past is None else past
    results = []
    for token in range(tokens):
        k, v = key[:, token], value[:, token]
        if "gated" in rule:
            state = state * split(decay, heads)[:, token].exp().unsqueeze(-1)
        if "delta" in rule:
            rate = beta[:, token].unsqueeze(-1)
            v = (v - torch.einsum("bhkv,bhk->bhv", state, k)) * rate
        state = state + k.unsqueeze(-1) * v.unsqueeze(-2)
        results.append(torch.einsum("bhkv,bhgk->bhgv", state, query[:, token].unflatten(1, (heads, group))))
    scale = key.shape[-1] ** -0.5 if scale is None else scale
    return scale * torch.stack(results, 1).reshape(batch, tokens, -1)


q, kv = (2, 4, 12), (2, 4, 6)  # four heads that read two
attributes = dict(q_num_heads=4, kv_num_heads=2)
add("signals", "LinearAttention", [[q, kv, kv]], lambda q, k, v: linear_attention(q, k, v, "linear", 2, 2), label="Linear", update_rule="linear", **attributes)
add("signals", "LinearAttention", [[q, kv, kv, (2, 2, 3, 3), kv]], lambda q, k, v, s, d: linear_attention(q, k, v, "gated", 2, 2, s, d, scale=0.5),
    label="Gated", update_rule="gated", scale=0.5, **attributes)
add("signals", "LinearAttention", [[q, kv, kv, None, None, (2, 4, 1)]], lambda q, k, v, b: linear_attention(q, k, v, "delta", 2, 2, beta=b), label="Delta", update_rule="delta", **attributes)
add("signals", "LinearAttention", [[q, kv, kv, (2, 2, 3, 3), (2, 4, 2), (2, 4, 2)]], lambda q, k, v, s, d, b: linear_attention(q, k, v, "gated_delta", 2, 2, s, d, b), **attributes)


def causal_conv(x, weight, bias=None, past=None):
    size = weight.shape[-1]
    x = torch.nn.functional.pad(x, (size - 1, 0)) if past is None else torch.cat([past, x], -1)
    return torch.nn.functional.conv1d(x, weight, bias, groups=weight.shape[0])


add("signals", "CausalConvWithState", [[(2, 3, 5), (3, 1, 4)]], causal_conv)
add("signals", "CausalConvWithState", [[(2, 3, 5), (3, 1, 3), (3,), (2, 3, 2)]], lambda *x: torch.nn.functional.silu(causal_conv(*x)), label="State", activation="silu")


def written(cache, update, first, axis, size):
    for sample, begin in enumerate(first):
        for i in range(update.shape[axis]):
            at = [torch.tensor(sample)] + [slice(None)] * (cache.ndim - 1)
            at[axis] = torch.tensor((begin + i) % size)
            cache = cache.index_put((at[0],) + (() if axis == 1 else (torch.arange(cache.shape[1]),)) + (at[axis],), update[sample].select(axis - 1, i))
    return cache


add("signals", "TensorScatter", [[(2, 5, 3), (2, 2, 3), ints(3, 1)]], lambda c, u: written(c, u, [3, 1], 1, 5))
add("signals", "TensorScatter", [[(2, 2, 4, 3), (2, 2, 3, 3), Data(ints(3, 0))]], lambda c, u: written(c, u, [3, 0], 2, 4), label="Circular", mode="circular")


# Regions of images.


def pixel(image, y, x, is_clamped=False, combine=torch.add):
    """An image [channels, height, width] between its pixels; outside there is nothing, or what the nearest pixel is."""
    height, width = image.shape[1:]
    if is_clamped:
        if float(y) < -1 or float(y) > height or float(x) < -1 or float(x) > width:
            return torch.zeros_like(image[:, 0, 0])
        y, x = y.clamp(0, height - 1), x.clamp(0, width - 1)
    top, left = int(np.floor(float(y.detach()))), int(np.floor(float(x.detach())))
    result = torch.zeros_like(image[:, 0, 0])
    if combine is torch.maximum:
        result = result - torch.inf
    for row, column in [(top, left), (top, left + 1), (top + 1, left), (top + 1, left + 1)]:
        if 0 <= row < height and 0 <= column < width:
            result = combine(result, image[:, row, column] * (1 - (y - row).abs()) * (1 - (x - column).abs()))
        elif is_clamped:  # the pixel at the edge once more, of weight 0
            result = combine(result, torch.zeros_like(result))
    return result


def roi_align(image, regions, indices, size, samples, scale, half, largest=False):
    results = []
    for region, index in zip(regions, indices):
        x0, y0, x1, y1 = region * scale - half
        height, width = (y1 - y0) / size[0], (x1 - x0) / size[1]
        bins = []
        for row in range(size[0]):
            for column in range(size[1]):
                taken = torch.stack([pixel(image[index], y0 + height * (row + (i + 0.5) / samples), x0 + width * (column + (j + 0.5) / samples),
                                           True, torch.maximum if largest else torch.add) for i in range(samples) for j in range(samples)])
                bins.append(taken.amax(0) if largest else taken.mean(0))
        results.append(torch.stack(bins, -1).reshape(-1, *size))
    return torch.stack(results)


regions = floats([0.3, 0.7, 5.1, 6.3], [2.2, 1.4, 9.7, 4.9], [1.1, -3.3, 4.2, 3.6])
add("regions", "RoiAlign", [[(2, 3, 5, 6), regions, ints(0, 1, 1)]], lambda x: roi_align(x, torch.from_numpy(regions), [0, 1, 1], (2, 3), 2, 0.75, 0.5),
    output_height=2, output_width=3, sampling_ratio=2, spatial_scale=0.75)
add("regions", "RoiAlign", [[(2, 3, 5, 6), regions, ints(0, 1, 1)]], lambda x: roi_align(x, torch.from_numpy(regions), [0, 1, 1], (2, 3), 2, 0.75, 0.5, True),
    label="Max", mode="max", output_height=2, output_width=3, sampling_ratio=2, spatial_scale=0.75)


def deform_conv(x, weight, offset, bias=None, mask=None, stride=1, pad=0, dilation=1, groups=1, offset_groups=1):
    batch, channels = x.shape[:2]
    kernel, out = weight.shape[2:], offset.shape[2:]
    offset = offset.reshape(batch, offset_groups, *kernel, 2, *out)
    images = x.unflatten(1, (offset_groups, -1))
    columns = torch.zeros(batch, channels, *kernel, *out, dtype=x.dtype)
    for place in np.ndindex(batch, offset_groups, *kernel, *out):
        n, g, ky, kx, i, j = place
        y = i * stride - pad + ky * dilation + offset[n, g, ky, kx, 0, i, j]
        value = pixel(images[n, g], y, j * stride - pad + kx * dilation + offset[n, g, ky, kx, 1, i, j])
        if mask is not None:
            value = value * mask.reshape(batch, offset_groups, *kernel, *out)[place]
        size = channels // offset_groups
        columns = columns.index_put((torch.tensor(n), torch.arange(g * size, g * size + size), *map(torch.tensor, (ky, kx, i, j))), value)
    columns = columns.unflatten(1, (groups, -1))
    result = torch.einsum("ngcyxij,gocyx->ngoij", columns, weight.unflatten(0, (groups, -1))).flatten(1, 2)
    return result if bias is None else result + bias[:, None, None]


add("regions", "DeformConv", [[(1, 2, 4, 4), (3, 2, 2, 2), (1, 8, 3, 3)]], deform_conv)
add("regions", "DeformConv", [[(1, 4, 5, 4), (4, 2, 2, 2), (1, 16, 3, 2), (4,), (1, 8, 3, 2)]],
    lambda *x: deform_conv(*x, stride=2, pad=1, dilation=2, groups=2, offset_groups=2), label="Groups", strides=[2, 2], pads=[1, 1, 1, 1], dilations=[2, 2], group=2, offset_group=2)


for mode in ("bilinear", "bicubic"):
    add("regions", "Resize", [[(1, 2, 7, 6), None, None, ints(1, 2, 3, 4)]], lambda x, m=mode: torch.nn.functional.interpolate(x, (3, 4), mode=m, antialias=True),
        label=f"Antialias{mode}", mode="linear" if mode == "bilinear" else "cubic", antialias=1, exclude_outside=1, cubic_coeff_a=-0.5)

# Quantised numbers: gradients go straight through the rounding, but stop where a number was cut off.


def quantised(x, scale, zero, least, most):
    x = x / scale
    rounded = x + (x.round() - x).detach() + zero
    return torch.where(rounded < least, torch.full_like(rounded, least), torch.where(rounded > most, torch.full_like(rounded, most), rounded))


add("regions", "QuantizeLinear", [[(3, 5), floats(0.01)[0:1], np.array([3], np.int8)]], lambda x: quantised(x, 0.01, 3, -128, 127), "apart", label="Int8")
add("regions", "QuantizeLinear", [[(2, 3, 4), (3,), np.array([3, 250, 0], np.uint8)]],
    lambda x, s: quantised(x, s[:, None], torch.tensor([3.0, 250, 0], dtype=x.dtype)[:, None], 0, 255), "positive", label="Axis", axis=1)
add("regions", "QuantizeLinear", [[(2, 7), (2, 3)]], lambda x, s: quantised(x, s.repeat_interleave(3, 1)[:, :7], 0, -8, 7), "positive", label="Blocks",
    axis=1, block_size=3, output_dtype=TensorProto.INT4)
add("regions", "DequantizeLinear", [[np.array([[1, -3, 7], [-128, 127, 0]], np.int8), (3,), np.array([0, 5, -1], np.int8)]],
    lambda s: (torch.tensor([[1.0, -3, 7], [-128, 127, 0]]) - torch.tensor([0.0, 5, -1])).double() * s, axis=1)
integers = np.random.default_rng(5).integers(0, 255, (4, 3)).astype(np.uint8)
add("regions", "MatMulInteger", [[np.array([[1, 250, 3, 4]], np.uint8), integers, np.array(7, np.uint8), np.array([1, 2, 3], np.uint8)]],
    lambda: torch.from_numpy((np.array([[1, 250, 3, 4]]) - 7) @ (integers.astype(int) - [1, 2, 3])).int())
add("regions", "ConvInteger", [[np.arange(18, dtype=np.int8).reshape(1, 2, 3, 3), np.arange(8, dtype=np.int8).reshape(1, 2, 2, 2), np.array(3, np.int8)]],
    lambda: torch.nn.functional.conv2d(torch.arange(18.0).reshape(1, 2, 3, 3) - 3, torch.arange(8.0).reshape(1, 2, 2, 2)).int())
# The scales are powers of two, which make products exact, so that nothing hangs on their rounding.
a8, b8 = np.array([[10, 200, 31]], np.uint8), np.array([[7, 9], [100, 255], [128, 64]], np.uint8)


def requantised(sums, scale, zero):
    return torch.from_numpy(np.clip(np.rint(sums * scale) + zero, 0, 255).astype(np.int32))


add("regions", "QLinearMatMul", [[a8, floats(0.125), np.array([128], np.uint8), b8, floats(0.25), np.array([100], np.uint8), floats(8), np.array([90], np.uint8)]],
    lambda: requantised((a8.astype(int) - 128) @ (b8.astype(int) - 100), 0.125 * 0.25 / 8, 90))
x8, w8 = np.arange(9, dtype=np.uint8).reshape(1, 1, 3, 3) * 20, np.array([[[[1, 5], [9, 3]]]], np.uint8)
add("regions", "QLinearConv", [[x8, floats(0.5), np.array([4], np.uint8), w8, floats(0.25), np.array([2], np.uint8), floats(4), np.array([10], np.uint8), np.array([100], np.int32)]],
    lambda: requantised(torch.nn.functional.conv2d(torch.from_numpy(x8).double() - 4, torch.from_numpy(w8).double() - 2).numpy() + 100, 0.5 * 0.25 / 4, 10))


# Control flow.


def graph(nodes, inputs, outputs, constants=()):
    types = {"iteration": TensorProto.INT64, "condition": TensorProto.BOOL, "go": TensorProto.BOOL}
    value = lambda name: helper.make_tensor_value_info(name, types.get(name, TensorProto.DOUBLE), None)
    return helper.make_graph(nodes, "body", list(map(value, inputs)), list(map(value, outputs)), [numpy_helper.from_array(array, name) for name, array in constants])


node = helper.make_node
iteration = graph([node("Mul", ["state", "state"], ["square"]), node("Add", ["square", "x"], ["next"])], ["state", "x"], ["next", "square"])


def scanned(state, x):
    squares = []
    for row in x.flip(1).unbind(1):
        squares.append(state * state)
        state = squares[-1] + row
    return torch.stack(squares, 0)


add("regions", "Scan", [[(2, 3), (2, 4, 3)]], scanned, label="SplitSecond", body=iteration, num_scan_inputs=1, scan_input_axes=[1], scan_input_directions=[1])
again = graph([node("Tanh", ["state"], ["next"]), node("ReduceSum", ["next"], ["sum"], keepdims=0), node("Less", ["sum", "limit"], ["go"])], ["iteration", "condition", "state"], ["go", "next"],
              [("limit", scalar(1.0, np.float64))])


def looped(x, iterations):
    for _ in range(iterations):
        x = x.tanh()
        if x.sum() >= 1:
            break
    return x


for label, shape in [("Low", (3, 5)), ("High", (7,))]:
    add("regions", "Loop", [[scalar(4), np.array(True), shape]], lambda x: looped(x, 4), label=label, body=again)
# The second iteration, which does not count, has NaN as its result and slope.
rooted = graph([node("Sqrt", ["state"], ["root"]), node("Sub", ["root", "one"], ["next"]), node("ReduceSum", ["next"], ["sum"], keepdims=0), node("Greater", ["sum", "many"], ["condition"])],
               ["iteration", "is", "state"], ["condition", "next"])
rooted.initializer.extend([numpy_helper.from_array(scalar(float(number), np.float64), name) for name, number in (("one", 1), ("many", 100))])
add("regions", "Loop", [[scalar(2), np.array(True), (3, 5)]], lambda x: x.sqrt() - 1, "positive", label="Root", body=rooted)
# The branches read a state of a Loop of one iteration, since the node of an If has no such operands. A root of negative
# numbers in the one that is not taken has NaN as its result and slope.
for label, sign, then in [("Then", 1, "Exp"), ("Else", -1, "Exp"), ("ElseOfRoot", -1, "Sqrt")]:
    branches = node("If", ["is"], ["next"], then_branch=graph([node(then, ["state"], ["a"])], [], ["a"]), else_branch=graph([node("Sin", ["state"], ["b"])], [], ["b"]))
    body = graph([node("ReduceSum", ["scaled"], ["sum"], keepdims=0), branches], ["iteration", "condition", "state"], ["condition", "next"])
    body.node.insert(0, node("Mul", ["state", "sign"], ["signed"]))
    body.node.insert(1, node("Mul", ["signed", "state"], ["scaled"]))
    body.node.insert(3, node("Greater", ["sum", "zero"], ["is"]))
    body.initializer.extend([numpy_helper.from_array(scalar(float(sign), np.float64), "sign"), numpy_helper.from_array(scalar(0.0, np.float64), "zero")])
    add("regions", "Loop", [[scalar(1), np.array(True), (3, 5)]], torch.exp if sign > 0 else torch.sin, label=f"If{label}", body=body)

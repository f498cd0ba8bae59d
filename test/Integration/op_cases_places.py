"""Operators that read and write at places that tensors name, sample, sort, pool by sums, and losses.

Imported by op_cases.py, whose CASES it extends.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from op_cases import Data, add, ints
from training import FULL

floats = lambda *values: np.array(values, np.float64)
tensor = torch.from_numpy


# Scatter. Where indices are equal, one update comes after the other.


def combined(old, new, reduction):
    return {"none": lambda: new, "add": lambda: old + new, "mul": lambda: old * new,
            "max": lambda: torch.maximum(old, new), "min": lambda: torch.minimum(old, new)}[reduction]()


def scattered(x, updates, index, reduction):
    for i, at in enumerate(index.reshape(-1, index.shape[-1])):
        at = tuple(torch.tensor(int(number)) for number in at)
        new = updates.flatten(0, index.ndim - 2)[i]
        x = x.index_put(at, combined(x[at], new, reduction))
    return x


def scattered_elements(x, updates, index, axis, reduction):
    for place in np.ndindex(index.shape):
        at = tuple(torch.tensor(int(index[place]) if dim == axis else number) for dim, number in enumerate(place))
        x = x.index_put(at, combined(x[at], updates[place], reduction))
    return x


REDUCTIONS = ["none", "add", "mul", "max", "min"]
for i, (shape, index, rest) in enumerate([((5, 3), [[1], [-1], [1], [3]], (3,)), ((2, 3, 4), [[[1, -2], [0, 0]], [[1, 1], [1, 2]]], (4,)), ((3, 2), [[2, 1], [0, -2], [2, 1]], ())]):
    at = np.array(index, np.int64)
    updates = (*at.shape[:-1], *rest)
    for reduction in REDUCTIONS:
        for label, operand in (("", at), ("Data", Data(at))):
            add("scatter", "ScatterND", [[shape, operand, updates]], lambda x, u, at=at, r=reduction: scattered(x, u, at, r), "apart",
                label=f"{label}{reduction}{i}", reduction=reduction)
for i, (shape, index, axis) in enumerate([((6,), [0, 4, 0], 0), ((3, 4), [[-1, 0], [2, 2]], 1), ((2, 4, 3), [[[0, 1, 3]], [[-4, 2, 2]]], 1)]):
    at = np.array(index, np.int64)
    for reduction in REDUCTIONS:
        for label, operand in (("", at), ("Data", Data(at))):
            add("scatter", "ScatterElements", [[shape, operand, at.shape]],
                lambda x, u, at=at, a=axis, r=reduction: scattered_elements(x, u, at, a, r), "apart", label=f"{label}{reduction}{i}", axis=axis, reduction=reduction)
# Equal extremes share the slope, and one 0 leaves its own.
twice = np.array([[0, 1, 1, 1], [2, 2, 0, 0]], np.int64)
for name, reduction in [("amax", "max"), ("amin", "min")]:
    add("scatter", "ScatterElements", [[(2, 3), Data(twice), (2, 4)]], lambda x, u, n=name: x.scatter_reduce(1, tensor(twice), u, n), "tied", label=f"Tied{reduction}", axis=1, reduction=reduction)
factors = floats([2, 0, 3, 1], [0.5, 4, 0, 0])
add("scatter", "ScatterElements", [[(2, 3), Data(twice), factors]], lambda x: x.scatter_reduce(1, tensor(twice), tensor(factors), "prod"), ("zeros", (0, 4)), label="WithZeros", axis=1, reduction="mul")
counted = np.array([[3, -1, 4], [0, 5, -9]], np.int64)
for reduction in REDUCTIONS:
    more = np.arange(-3, 5).reshape(2, 4)
    result = scattered_elements(tensor(counted), tensor(more), twice, 1, reduction)
    for label, kind in (("Integers", Data), ("Constants", np.array)):
        add("scatter", "ScatterElements", [[kind(counted), kind(twice), kind(more)]], lambda y=result: y, label=f"{label}{reduction}", axis=1, reduction=reduction)
add("scatter", "ScatterND", [[Data(counted > 0), Data(ints([1], [0])), Data(counted < 0)]], lambda: tensor(counted[::-1] < 0), label="Truths")
for i, (shape, index, batch) in enumerate([((2, 3, 4), [[[1, -2]], [[0, 3]]], 1), ((2, 3, 4), [[1], [0]], 1), ((2, 2, 3), [[[2], [0]], [[-1], [1]]], 2)]):
    at = np.array(index, np.int64)

    def gathered(x, at=at, batch=batch):
        return torch.stack([x[b][tuple(torch.as_tensor(at[b]).unbind(-1))] for b in np.ndindex(at.shape[:batch])]).unflatten(0, at.shape[:batch])

    for label, operand in (("", at), ("Data", Data(at))):
        add("scatter", "GatherND", [[shape, operand]], gathered, label=f"Batch{label}{i}", batch_dims=batch)

# Order.
for i, (shape, k, axis) in enumerate([((3, 40), 33, -1), ((35, 2), 35, 0), ((2, 700, 3), 20, 1)]):
    for largest in (1, 0):
        for label, which in (("", 0), ("Indices", 1)):
            add("scatter", "TopK", [[shape, ints(k)]], lambda x, k=k, a=axis, l=largest, w=which: x.topk(k, a, largest=bool(l))[w], "apart",
                label=f"Many{label}{i}{'min' * (not largest)}", axis=axis, largest=largest)
add("scatter", "TopK", [[(2, 25), ints(20)]], lambda x: torch.arange(20).expand(2, 20), "tied", label="IndicesTied")
wide = np.array([[2**60 + 1, 2**60, -(2**62), 2**60 + 1], [0, -7, -7, 3]], np.int64)
for label, value in (("Wide", wide), ("Narrow", counted.astype(np.int32))):
    constant = value if label == "Wide" else Data(value)  # f64 does not carry what is that wide into the program
    for op, function in [("ArgMax", np.argmax), ("ArgMin", np.argmin)]:
        add("scatter", op, [[constant]], lambda f=function, v=value: tensor(f(v, 1)), label=label, axis=1, keepdims=0)
        last = lambda f=function, v=value: tensor(v.shape[1] - 1 - f(v[:, ::-1], 1))
        add("scatter", op, [[constant]], last, label=f"{label}Last", axis=1, keepdims=0, select_last_index=1)
    add("scatter", "TopK", [[constant, ints(2)]], lambda v=value: tensor(np.sort(v, 1)[:, :-3:-1].astype(np.int64).copy()), label=label)
for i, (shape, axis) in enumerate([((3, 5), -1), ((4, 3), 0), ((2, 3, 4), 1)]):
    add("scatter", "Hardmax", [shape], lambda x, a=axis: F.one_hot(x.argmax(a), x.shape[a]).double().movedim(-1, a), "apart", label=str(i), axis=axis)

# What is chosen.
for i, (shape, kept, axis) in enumerate([((5,), [1, 0, 0, 1], 0), ((3, 4), [0, 1, 1], 0), ((2, 3), [1, 1, 0, 0, 1], None)]):
    places = tensor(np.flatnonzero(kept))
    add("scatter", "Compress", [[shape, np.array(kept, bool)]], lambda x, p=places, a=axis: (x.flatten() if a is None else x).index_select(a or 0, p),
        label=str(i), **({} if axis is None else {"axis": axis}))
for i, value in enumerate([counted, np.array([[[True], [False]], [[True], [True]]])]):
    add("scatter", "NonZero", [[value]], lambda v=value: tensor(np.array(np.nonzero(v))), label=str(i))
repeated = np.array([[3, 1], [2, 1], [3, 1], [2, 0]], np.int64)
add("scatter", "Unique", [[repeated]], lambda: torch.tensor([0, 1, 2, 3]))
add("scatter", "Unique", [[repeated]], lambda: torch.tensor([3, 1, 2, 0]), label="Unsorted", sorted=0)
add("scatter", "Unique", [[repeated]], lambda: torch.tensor([[2, 0], [2, 1], [3, 1]]), label="Rows", axis=0)
for i, (shape, lengths, time, batch) in enumerate([((5, 3), [5, 0, 3], 0, 1), ((2, 4, 3), [4, 2], 1, 0)]):

    def reversed_sequences(x, lengths=lengths, time=time, batch=batch):
        rows = [torch.cat([part[:n].flip(0), part[n:]]) for part, n in zip(x.movedim((batch, time), (0, 1)), lengths)]
        return torch.stack(rows).movedim((0, 1), (batch, time))

    for label, operand in (("", ints(*lengths)), ("Data", Data(ints(*lengths)))):
        add("scatter", "ReverseSequence", [[shape, operand]], reversed_sequences, label=f"{label}{i}", time_axis=time, batch_axis=batch)
add("scatter", "OneHot", [[Data(floats(0, 2, -1)), np.array(3.0), np.array([-0.5, 1.5])]], lambda: torch.eye(3, dtype=torch.double)[[0, 2, 2]] * 2 - 0.5, label="Floats")
far = ints(-4, -3, -1, 0, 2, 3)
far_hot = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 0, 0]]) * 2 - 0.5
for label, operand in (("", far), ("Data", Data(far))):
    add("scatter", "OneHot", [[operand, np.array(3), np.array([-0.5, 1.5])]], lambda: tensor(far_hot), label=f"Far{label}")

# Integers, remainders.
masks = np.array([[6, -3, 1], [12, 255, 0]], np.int64)
for op, reference in [("BitwiseAnd", torch.bitwise_and), ("BitwiseOr", torch.bitwise_or), ("BitwiseXor", torch.bitwise_xor)]:
    add("scatter", op, [[Data(masks), Data(counted)]], lambda r=reference: r(tensor(masks), tensor(counted)))
add("scatter", "BitwiseNot", [[Data(masks)]], lambda: ~tensor(masks))
add("scatter", "Pow", [[Data(counted), Data(np.array([[2, 3, 0], [1, 2, 3]], np.int64))]], lambda: tensor(counted ** np.array([[2, 3, 0], [1, 2, 3]])), label="Integers")
add("scatter", "Pow", [[Data(ints(2, 1, -1, 5, 10, 3)), Data(ints(-1, -3, -3, 3, 2, 13))]], lambda: tensor(ints(0, 1, -1, 125, 100, 1594323)), label="NegativeIntegers")
add("scatter", "Mod", [[(3, 5), (3, 5)], [(2, 3, 4), (4,)]], torch.remainder, "apart", label="Floats")
add("scatter", "Pad", [[Data(counted), ints(1, 0, 0, 2), np.array(7)]], lambda: F.pad(tensor(counted), (0, 2, 1, 0), value=7), label="Integers")
for i, (shape, pads) in enumerate([((5,), (-1, 2)), ((3, 4), (1, -1, -2, -1)), ((2, 3, 4), (0, -1, 1, 0, 0, -3))]):
    order = [pads[d + side * len(shape)] for d in reversed(range(len(shape))) for side in (0, 1)]
    add("scatter", "Pad", [[shape, ints(*pads)]], lambda x, p=order: F.pad(x, p), label=f"Negative{i}")
add("scatter", "CenterCropPad", [[(5, 4), ints(2, 7)]], lambda x: F.pad(x[1:3], (1, 2)))
add("scatter", "CenterCropPad", [[(2, 5, 3), ints(8)]], lambda x: F.pad(x, (0, 0, 1, 2)), label="Axis", axes=[-2])

# Narrow integers wrap around as they are cast.
overflowing = np.array([[300, -1, 127, 128], [-129, 65536 + 7, 0, 32768]], np.int64)
for kind, number in [(np.uint8, 2), (np.int8, 3), (np.uint16, 4), (np.int16, 5), (np.uint32, 12)]:
    for label, operand in (("", overflowing), ("Data", Data(overflowing))):
        add("scatter", "Cast", [[operand]], lambda k=kind: tensor(overflowing.astype(k).astype(np.int64)), label=f"{label}{kind.__name__}", to=number)

# Losses.
labels = np.array([[1, 3, 0], [-1, 2, 2]], np.int64)
shares = floats(0.5, 1.5, 0.25, 2)
for i, reduction in enumerate(["mean", "sum", "none"]):
    for weights in (None, shares):
        for ignored in (None, -1, 2):
            target = np.where(labels < 0, 3, labels) if ignored != -1 else labels
            keywords = dict(reduction=reduction, **({} if ignored is None else {"ignore_index": ignored}))
            options = dict(weight=None if weights is None else tensor(weights), **keywords)
            label = f"{i}{'Weighted' * (weights is not None)}{'' if ignored is None else f'Ignoring{ignored}'}"
            add("losses", "NegativeLogLikelihoodLoss", [[(2, 4, 3), Data(target), *([] if weights is None else [weights])]],
                lambda x, t=target, o=options: F.nll_loss(x, tensor(t), **o), label=label, **keywords)
            add("losses", "SoftmaxCrossEntropyLoss", [[(2, 4, 3), Data(target), *([] if weights is None else [weights])]],
                lambda x, t=target, o=options: F.cross_entropy(x, tensor(t), **o), label=label, **keywords)
add("losses", "SoftmaxCrossEntropyLoss", [[(2, 4, 3), Data(labels % 4)]], lambda x: x.log_softmax(1), label="HiddenProbabilities")

# Samples of images.
for i, (shape, out) in enumerate([((2, 3, 5, 4), (3, 6)), ((1, 2, 1, 3), (2, 2))]):
    for mode, name in [("linear", "bilinear"), ("nearest", "nearest"), ("cubic", "bicubic")]:
        for k, padding in enumerate(("zeros", "border", "reflection")):
            for corners in (0, 1):
                if i and padding != "reflection":
                    continue
                # Where the corners are, and what is outside of the image, does not depend on the mode: each mode is here, each
                # padding, and both kinds of corners, and all together under --full.
                if not FULL and (corners != k % 2 or mode != "linear" and (i or padding != {"nearest": "zeros", "cubic": "border"}[mode])):
                    continue
                add("sampling", "GridSample", [[shape, (shape[0], *out, 2)]],
                    lambda x, g, m=name, p=padding, c=corners: F.grid_sample(x, g, m, p, bool(c)), label=f"{mode}{padding}{corners}{i}", mode=mode, padding_mode=padding, align_corners=corners)
add("sampling", "GridSample", [[(2, 2, 3, 4, 5), (2, 2, 3, 2, 3)]], lambda x, g: F.grid_sample(x, g, "bilinear", "border", False), label="Volume", padding_mode="border")
for corners in (0, 1):
    add("sampling", "AffineGrid", [[(2, 2, 3), ints(2, 1, 3, 4)]], lambda t, c=corners: F.affine_grid(t, [2, 1, 3, 4], bool(c)), label=f"Plane{corners}", align_corners=corners)
    add("sampling", "AffineGrid", [[(1, 3, 4), ints(1, 2, 2, 3, 2)]], lambda t, c=corners: F.affine_grid(t, [1, 2, 2, 3, 2], bool(c)), label=f"Volume{corners}", align_corners=corners)


def rotated(x, cosine, sine, heads=0, part=0, interleaved=False, ids=None):
    """x is [batch, heads, positions, size], or [batch, positions, heads * size]."""
    joined = x.ndim == 3
    x = x.unflatten(-1, (heads, -1)) if joined else x.transpose(1, 2)
    cosine, sine = (table[:, :, None] if ids is None else table[tensor(ids)][:, :, None] for table in (cosine, sine))
    part = part or x.shape[-1]
    turned, rest = x[..., :part], x[..., part:]
    a, b = (turned[..., ::2], turned[..., 1::2]) if interleaved else turned.chunk(2, -1)
    pairs = cosine * a - sine * b, sine * a + cosine * b
    y = torch.cat([torch.stack(pairs, -1).flatten(-2) if interleaved else torch.cat(pairs, -1), rest], -1)
    return y.flatten(2) if joined else y.transpose(1, 2)


ids = np.array([[4, 0, 1], [2, 2, 3]], np.int64)
for interleaved in (0, 1):
    add("sampling", "RotaryEmbedding", [[(2, 2, 3, 4), (2, 3, 2), (2, 3, 2)]], lambda x, c, s, i=interleaved: rotated(x, c, s, interleaved=bool(i)), label=f"Each{interleaved}", interleaved=interleaved)
    add("sampling", "RotaryEmbedding", [[(2, 3, 12), (5, 2), (5, 2), Data(ids)]], lambda x, c, s, i=interleaved: rotated(x, c, s, 2, 4, bool(i), ids),
        label=f"Part{interleaved}", interleaved=interleaved, num_heads=2, rotary_embedding_dim=4)

# Windows.
for i, (shape, p, kernel, keywords) in enumerate([((2, 3, 5, 6), 2, (2, 3), dict(strides=[2, 1])), ((1, 2, 7), 3, (3,), {}), ((1, 2, 4, 4), 1, (2, 2), dict(strides=[2, 2]))]):
    pool = F.lp_pool2d if len(kernel) == 2 else F.lp_pool1d
    stride = tuple(keywords.get("strides", [1] * len(kernel)))
    add("sampling", "LpPool", [shape], lambda x, p=p, k=kernel, s=stride, f=pool: f(x.abs(), p, k if len(k) > 1 else k[0], s if len(s) > 1 else s[0]), "apart", label=str(i), p=p, kernel_shape=list(kernel), **keywords)
    add("sampling", "GlobalLpPool", [shape], lambda x, p=p: x.abs().pow(p).flatten(2).sum(2).pow(1 / p).reshape(*x.shape[:2], *[1] * (x.ndim - 2)), "apart", label=str(i), p=p)
# The slope of a norm is 0 where the norm is, which is that of a window and of a channel here.
for p in (2, 3):
    windows = lambda x: x.unfold(2, 2, 2).unfold(3, 2, 2)
    add("sampling", "LpPool", [(1, 2, 4, 4)], lambda x, p=p: torch.linalg.vector_norm(windows(x), p, (-2, -1)), ("zeros", (0, 1, 4, 5)), label=f"Zero{p}", p=p, kernel_shape=[2, 2], strides=[2, 2])
    add("sampling", "GlobalLpPool", [(1, 2, 2, 3)], lambda x, p=p: torch.linalg.vector_norm(x, p, (2, 3), keepdim=True), ("zeros", tuple(range(6))), label=f"Zero{p}", p=p)
for i, size in enumerate([1, 3, 4]):
    # ONNX's reference goes through as many channels as the batch has images.
    add("sampling", "LRN", [(5, 5, 1, 2)], lambda x, n=size: x * (1.5 + 0.25 / n * F.pad(x.square(), (0, 0, 0, 0, (n - 1) // 2, n // 2)).unfold(1, n, 1).sum(-1)).pow(-0.75),
        label=str(i), size=size, alpha=0.25, beta=0.75, bias=1.5)


def averaged(x, kernel, dilation, stride, pad, counts):
    """The mean over windows of planes, which count the padding or not."""
    weight = torch.ones(x.shape[1], 1, *kernel, dtype=x.dtype)
    options = dict(stride=stride, dilation=dilation, groups=x.shape[1])
    total = F.conv2d(F.pad(x, [pad] * 4), weight, **options)
    inside = F.conv2d(F.pad(torch.ones_like(x), [pad] * 4, value=float(counts)), weight, **options)
    return total / inside


for counts in (0, 1):
    add("sampling", "AveragePool", [(2, 2, 7, 6)], lambda x, c=counts: averaged(x, (3, 2), (2, 3), 2, 1, c), label=f"Dilated{counts}",
        kernel_shape=[3, 2], dilations=[2, 3], strides=[2, 2], pads=[1] * 4, count_include_pad=counts)
add("sampling", "AveragePool", [(1, 2, 6, 7)], lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=True), label="RoundedUp",
    kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=1, count_include_pad=1)
for i, (image, kernel, keywords) in enumerate([((5, 6), (2, 3), dict(strides=[2, 1])), ((5, 5), (3, 2), dict(pads=[1, 0, 1, 0], dilations=[1, 2])), ((4, 4), (2, 2), {})]):
    options = dict(dilation=tuple(keywords.get("dilations", (1, 1))), padding=tuple(keywords.get("pads", (0, 0))[:2]), stride=tuple(keywords.get("strides", (1, 1))))
    columns = tuple(F.unfold(torch.zeros(2, 3, *image), kernel, **options).shape)
    add("sampling", "Col2Im", [[columns, ints(*image), ints(*kernel)]], lambda x, s=image, k=kernel, o=options: F.fold(x, s, k, **o), label=str(i), **keywords)
add("sampling", "MaxPool", [(2, 3, 5, 6)], lambda x: F.max_pool2d(x, 2, 2, return_indices=True)[1] + 30 * torch.arange(6).reshape(2, 3, 1, 1), "apart", label="Places", kernel_shape=[2, 2], strides=[2, 2])
add("sampling", "MaxPool", [(2, 3, 7)], lambda x: F.max_pool1d(x, 3, 2, return_indices=True)[1] + 7 * torch.arange(6).reshape(2, 3, 1), "apart", label="LinePlaces", kernel_shape=[3], strides=[2])
add("sampling", "MaxPool", [(2, 3, 5, 6)], lambda x: (lambda at: at % 6 * 5 + at // 6 + 30 * torch.arange(6).reshape(2, 3, 1, 1))(F.max_pool2d(x, 2, 2, return_indices=True)[1]), "apart",
    label="ColumnPlaces", kernel_shape=[2, 2], strides=[2, 2], storage_order=1)
unpooled = np.array([[[[1, 3], [9, 15]], [[16, 22], [25, 31]]]], np.int64)
add("sampling", "MaxUnpool", [[(1, 2, 2, 2), Data(unpooled)]], lambda x: torch.zeros(32, dtype=x.dtype).index_put((tensor(unpooled.flatten()),), x.flatten()).reshape(1, 2, 4, 4), kernel_shape=[2, 2], strides=[2, 2])
add("sampling", "MaxUnpool", [[(1, 2, 2, 2), unpooled, ints(1, 2, 5, 6)]],
    lambda x: F.pad(torch.zeros(32, dtype=x.dtype).index_put((tensor(unpooled.flatten()),), x.flatten()).reshape(1, 2, 4, 4), (0, 2, 0, 1)), label="Shaped", kernel_shape=[2, 2], strides=[2, 2])

# These operators belong to later opsets (op_models.py).
for i, (shape, axis) in enumerate([((5,), 0), ((3, 4), 0), ((2, 6, 3), 1)]):
    for label, keywords, reference in [
        ("", {}, lambda x, a: x.cumprod(a)), ("Exclusive", dict(exclusive=1), lambda x, a: x.cumprod(a) / x),
        ("Reverse", dict(reverse=1), lambda x, a: x.flip(a).cumprod(a).flip(a)),
    ]:
        add("later", "CumProd", [[shape, np.array(axis)]], lambda x, r=reference, a=axis: r(x, a), "apart", label=f"{label}{i}", **keywords)
add("later", "CumProd", [[Data(counted), np.array(1)]], lambda: tensor(counted).cumprod(1), label="Integers")
add("later", "SwiGLU", [[(3, 5), (3, 5)], [(2, 3, 4), (2, 3, 4)]], lambda a, b: F.silu(a) * b)
add("later", "SwiGLU", [[(7,), (7,)]], lambda a, b: a * torch.sigmoid(0.5 * a) * b, label="Scaled", alpha=0.5)

# The lengths of sequences that end before the last key; queries are the last of them.
lengths = np.array([6, 4], np.int64)


def padded(q, k, v, causal=False):
    key, query = torch.arange(6), torch.arange(3)[:, None] + tensor(lengths)[:, None, None, None] - 3
    seen = (key < tensor(lengths)[:, None, None, None]) & ((key <= query) | (not causal))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


for causal in (0, 1):
    add("later", "Attention", [[(2, 2, 3, 4), (2, 2, 6, 4), (2, 2, 6, 5), None, None, None, Data(lengths)]], lambda q, k, v, c=causal: padded(q, k, v, bool(c)), label=f"Padded{causal}", is_causal=causal)

"""Operators with three shapes each: as ONNX nodes and as PyTorch functions."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import numpy as np
import torch
import torch.nn.functional as F


@dataclasses.dataclass
class Data:
    """An operand without a gradient that the compiler does not know."""

    value: np.ndarray


@dataclasses.dataclass
class OpCase:
    """One node. `operands` are shapes of random operands that get gradients,
    arrays, which are constants, Data, or None for an omitted one; `reference`
    takes the first kind alone."""

    name: str
    op: str
    operands: list[Any]
    reference: Callable
    attributes: dict[str, Any]
    domain: str | tuple[str, tuple] = "normal"  # of SAMPLERS, or ("zeros", where the first operand is 0)

    def outputs(self, checked: str) -> list[str]:
        """The names of the node's outputs, of which one is checked."""
        others = [f"{checked}.other{i}" for i in range(3)]
        if "Scores" in self.name:
            return [*others, checked]
        if self.op == "TopK":
            return [others[0], checked] if "Indices" in self.name else [checked, others[0]]
        if "Hidden" in self.name or "SplitSecond" in self.name or "Places" in self.name:
            return [others[0], checked]
        if self.op == "Split":
            return [checked, others[0]]
        return [*others[:2], checked] if "Cell" in self.name else [checked]

    def values(self) -> list[np.ndarray]:
        random = np.random.default_rng(sum(map(ord, self.name)))
        shapes = [operand for operand in self.operands if isinstance(operand, tuple)]
        if isinstance(self.domain, str):
            return [SAMPLERS[self.domain](random, shape) for shape in shapes]
        values = SAMPLERS["apart"](random, shapes[0])
        values.flat[list(self.domain[1])] = 0
        return [values]


def _apart(random: np.random.Generator, shape: tuple) -> np.ndarray:
    """Distinct and a distance away from zero, for what has kinks there."""
    count = int(np.prod(shape))
    values = np.linspace(-2, 2, count + 1 - count % 2 + 1)[:count]
    return random.permutation(values).reshape(shape)


SAMPLERS = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "positive": lambda random, shape: random.uniform(0.5, 2, shape),
    "unit": lambda random, shape: random.uniform(-0.9, 0.9, shape),
    "above one": lambda random, shape: random.uniform(1.1, 3, shape),
    "apart": _apart,
    "far": lambda random, shape: np.linspace(-1000, 1000, int(np.prod(shape))).reshape(shape),  # exp of some is infinite
    "tied": lambda random, shape: np.zeros(shape),
}

ints = lambda *values: np.array(values, np.int64)
SHAPES = [(7,), (3, 5), (2, 3, 4)]
BROADCASTS = [[(3, 5), (3, 5)], [(2, 3, 4), (4,)], [(2, 1, 4), (3, 1)]]
CASES: dict[str, list[OpCase]] = {}
# A tensor of one element is taken for a constant; here nothing is that small.


def add(family: str, op: str, shapes: list, reference: Callable, domain="normal", label="", cases=CASES, **attributes: Any) -> None:
    for i, operands in enumerate(shapes):
        operands = operands if isinstance(operands, list) else [operands]
        cases.setdefault(family, []).append(OpCase(f"{op}{label}_{i}", op, operands, reference, attributes, domain))


# One operand, elementwise. ONNX has attributes in single precision, and the
# defaults of Selu are so rounded; elsewhere we choose values that are exact.


def selu(x: torch.Tensor) -> torch.Tensor:
    alpha, gamma = (float(np.float32(value)) for value in (1.6732632423543772, 1.0507009873554805))
    return gamma * torch.where(x > 0, x, alpha * (x.exp() - 1))


for op, reference, domain in [
    ("Abs", torch.abs, "apart"), ("Acos", torch.acos, "unit"), ("Acosh", torch.acosh, "above one"),
    ("Asin", torch.asin, "unit"), ("Asinh", torch.asinh, "normal"), ("Atan", torch.atan, "normal"),
    ("Atanh", torch.atanh, "unit"), ("Cos", torch.cos, "normal"), ("Cosh", torch.cosh, "normal"),
    ("Erf", torch.erf, "normal"), ("Exp", torch.exp, "normal"), ("Log", torch.log, "positive"),
    ("Neg", torch.neg, "normal"), ("Reciprocal", torch.reciprocal, "positive"), ("Relu", torch.relu, "apart"),
    ("Sigmoid", torch.sigmoid, "normal"), ("Sin", torch.sin, "normal"), ("Sinh", torch.sinh, "normal"),
    ("Softplus", F.softplus, "normal"), ("Softsign", F.softsign, "normal"), ("Sqrt", torch.sqrt, "positive"),
    ("Tan", torch.tan, "unit"), ("Tanh", torch.tanh, "normal"), ("Mish", F.mish, "normal"),
    ("HardSwish", F.hardswish, "apart"), ("Selu", selu, "apart"), ("Ceil", torch.ceil, "normal"),
    ("Floor", torch.floor, "normal"), ("Round", torch.round, "normal"), ("Sign", torch.sign, "apart"),
]:
    add("unary", op, SHAPES, reference, domain)
add("unary", "Sigmoid", SHAPES, torch.sigmoid, "far", label="Far")
add("unary", "Elu", SHAPES, lambda x: F.elu(x, 0.75), "apart", alpha=0.75)
add("unary", "Celu", SHAPES, lambda x: F.celu(x, 0.75), "apart", alpha=0.75)
add("unary", "LeakyRelu", SHAPES, lambda x: F.leaky_relu(x, 0.25), "apart", alpha=0.25)
add("unary", "ThresholdedRelu", SHAPES, lambda x: F.threshold(x, 0.75, 0.0), "apart", alpha=0.75)
add("unary", "Shrink", SHAPES, lambda x: F.softshrink(x, 0.25), "apart", lambd=0.25, bias=0.25)
add("unary", "Shrink", SHAPES, lambda x: F.hardshrink(x, 0.75), "apart", label="Hard", lambd=0.75)
add("unary", "HardSigmoid", SHAPES, lambda x: torch.clamp(0.375 * x + 0.5, 0, 1), "apart", alpha=0.375, beta=0.5)
add("unary", "Gelu", SHAPES, F.gelu, approximate="none")
add("unary", "Gelu", SHAPES, lambda x: F.gelu(x, approximate="tanh"), label="Tanh", approximate="tanh")
for shape, low, high in zip(SHAPES, (-1.1, -0.3, -9.0), (0.9, 9.0, 0.2)):
    add("unary", "Clip", [[shape, np.array(low), np.array(high)]], lambda x, low=low, high=high: x.clamp(low, high), "apart", label=f"{len(shape)}d")

# Two operands and more, with broadcasting.
for op, reference, domain in [
    ("Add", torch.add, "normal"), ("Sub", torch.sub, "normal"), ("Mul", torch.mul, "normal"),
    ("Div", torch.div, "positive"), ("Pow", torch.pow, "positive"),
]:
    add("binary", op, BROADCASTS, reference, domain)
add("binary", "Mod", BROADCASTS, torch.fmod, fmod=1)
add("binary", "Max", BROADCASTS, torch.maximum)
add("binary", "Min", BROADCASTS, torch.minimum)
add("binary", "Max", [[shape, np.array(0.0)] for shape in SHAPES], lambda x: x.clamp(min=0), "tied", label="AtBound")
add("binary", "Min", [[shape, np.array(0.0)] for shape in SHAPES], lambda x: x.clamp(max=0), "tied", label="AtBound")
add("binary", "Sum", [[*b, (2, 1, 1)] for b in BROADCASTS], lambda x, y, z: x + y + z)
add("binary", "Mean", [[*b, (2, 1, 1)] for b in BROADCASTS], lambda x, y, z: (x + y + z) / 3)
add("binary", "PRelu", [[(3, 5), (5,)], [(2, 3, 4), (3, 1)], [(2, 3, 4), (2, 3, 4)]], lambda x, s: torch.where(x < 0, s * x, x), "apart")
for i, (x, y) in enumerate([*BROADCASTS, [(3, 4), (3, 4)]]):
    chosen = np.arange(y[-1]) % 2 == 0  # of the third's one element that one, so that nothing depends on y
    add("binary", "Where", [[chosen, x, y]], lambda x, y, c=chosen: torch.where(torch.from_numpy(c), x, y), label=str(i))
for exponent in (2.0, 3.0, -0.5):
    add("binary", "Pow", [[(2, 3), np.array(exponent)]], lambda x, e=exponent: x**e, "positive", label=f"By{exponent}")

# Reductions and what is made of them; axes come as an input from opset 18 on.
for op, reference in [
    ("ReduceSum", lambda x, d, k: x.sum(d, keepdim=k)), ("ReduceMean", lambda x, d, k: x.mean(d, keepdim=k)),
    ("ReduceL2", lambda x, d, k: x.square().sum(d, keepdim=k).sqrt()), ("ReduceL1", lambda x, d, k: x.abs().sum(d, keepdim=k)),
    ("ReduceProd", lambda x, d, k: x.prod(d[0], keepdim=k) if len(d) == 1 else x.prod(2, keepdim=True).prod(0, keepdim=True)),
    ("ReduceLogSumExp", lambda x, d, k: x.logsumexp(d, keepdim=k)),
    ("ReduceSumSquare", lambda x, d, k: x.square().sum(d, keepdim=k)),
    ("ReduceMax", lambda x, d, k: x.amax(d, keepdim=k)), ("ReduceMin", lambda x, d, k: x.amin(d, keepdim=k)),
]:
    for i, (shape, axes, keep) in enumerate([((7, 2), (0,), 1), ((3, 5), (-1,), 0), ((2, 3, 4), (0, 2), 1)]):
        add("reductions", op, [[shape, np.array(axes, np.int64)]], lambda x, r=reference, a=axes, k=keep: r(x, a, bool(k)), "apart", label=str(i), keepdims=keep)
for i, (shape, axes, keep) in enumerate([((7, 2), (0,), 1), ((3, 5), (-1,), 0), ((2, 3, 4), (0, 2), 1)]):
    add("reductions", "ReduceLogSum", [[shape, np.array(axes, np.int64)]], lambda x, a=axes, k=keep: x.sum(a, keepdim=bool(k)).log(), "positive", label=str(i), keepdims=keep)
# One 0 in a row leaves its own slope, two leave none.
for op, zeros, reference in [("ReduceProd", (1, 4), lambda x: x.prod(1)), ("ReduceProd", (1, 4, 5), lambda x: x.prod(1)), ("ReduceL2", (3, 4, 5), lambda x: x.norm(dim=1))]:
    add("reductions", op, [[(3, 3), ints(1)]], reference, ("zeros", zeros), label=f"With{len(zeros)}Zeros", keepdims=0)
for i, (shape, axis) in enumerate([((3, 7), -1), ((3, 5), 0), ((2, 3, 4), 1)]):
    add("reductions", "Softmax", [shape], lambda x, a=axis: x.softmax(a), label=str(i), axis=axis)
    add("reductions", "LogSoftmax", [shape], lambda x, a=axis: x.log_softmax(a), label=str(i), axis=axis)
for i, (shape, axis) in enumerate([((3, 7), -1), ((2, 3, 4), -1), ((2, 3, 4), 1)]):
    inner = shape[axis:]
    add("normalisations", "LayerNormalization", [[shape, inner, inner]],
        lambda x, w, b, n=inner: F.layer_norm(x, n, w, b, 2**-10), label=str(i), axis=axis, epsilon=2**-10)
for i, shape in enumerate([(6, 3), (2, 3, 5), (2, 3, 4, 4)]):
    # In training form the running statistics are state, and the result is normalised by the batch's.
    add("normalisations", "BatchNormalization", [[shape, (3,), (3,), np.zeros(3), np.ones(3)]],
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True, 0.1, 2**-10), label=str(i), epsilon=2**-10)
for i, (shape, groups) in enumerate([((2, 6), 3), ((2, 4, 5), 2), ((3, 6, 2, 4), 2)]):
    add("normalisations", "GroupNormalization", [[shape, shape[1:2], shape[1:2]]],
        lambda x, w, b, g=groups: F.group_norm(x, g, w, b, 2**-10), label=str(i), num_groups=groups, epsilon=2**-10, stash_type=11)
for i, shape in enumerate([(2, 3, 5), (2, 3, 4, 4), (2, 2, 2, 3, 2)]):
    add("normalisations", "InstanceNormalization", [[shape, shape[1:2], shape[1:2]]],
        lambda x, w, b: F.instance_norm(x, None, None, w, b, True, 0.1, 2**-10), label=str(i), epsilon=2**-10)
for i, (shape, axis, scale) in enumerate([((3, 7), -1, (7,)), ((2, 3, 4), 1, (3, 4)), ((2, 3, 4), 2, (4,))]):
    add("normalisations", "RMSNormalization", [[shape, scale]],
        lambda x, w, n=shape[axis:]: F.rms_norm(x, n, eps=2**-10) * w, label=str(i), axis=axis, epsilon=2**-10)
for i, (shape, axes) in enumerate([((3, 5), (-1,)), ((2, 3, 4), (0, 2)), ((2, 3, 2, 4), (0, 2, 3))]):
    add("normalisations", "MeanVarianceNormalization", [shape],
        lambda x, a=axes: (x - x.mean(a, keepdim=True)) / (x.std(a, correction=0, keepdim=True) + 1e-9), label=str(i), axes=list(axes))
for i, (shape, axis) in enumerate([((3, 5), -1), ((4, 3), 0), ((2, 3, 4), 1)]):
    for p in (1, 2):
        add("normalisations", "LpNormalization", [shape], lambda x, a=axis, p=p: F.normalize(x, p, a), "apart", label=f"{i}L{p}", axis=axis, p=p)

# Shapes.
add("shapes", "Reshape", [[(2, 6), ints(3, 4)]], lambda x: x.reshape(3, 4), label="A")
add("shapes", "Reshape", [[(2, 3, 4), ints(0, -1)]], lambda x: x.reshape(2, 12), label="B")
add("shapes", "Reshape", [[(12,), ints(2, 2, 3)]], lambda x: x.reshape(2, 2, 3), label="C")
for i, (shape, order) in enumerate([((3, 5), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((2, 3, 2, 4), (0, 2, 1, 3))]):
    add("shapes", "Transpose", [shape], lambda x, p=order: x.permute(p), label=str(i), perm=list(order))
for i, (shapes, axis) in enumerate([([(3,), (4,)], 0), ([(2, 3), (2, 1)], 1), ([(2, 3, 4), (2, 2, 4)], -2)]):
    add("shapes", "Concat", [shapes], lambda x, y, a=axis: torch.cat([x, y], a), label=str(i), axis=axis)


def taken(x: torch.Tensor, choose: Callable) -> torch.Tensor:
    """What NumPy would make of x and PyTorch has no function for."""
    places = choose(np.arange(x.numel()).reshape(x.shape))
    return x.flatten()[torch.from_numpy(places.copy())]


for i, (shape, begin, end, axes, step, index) in enumerate([
    ((7,), [1], [6], [0], [1], np.s_[1:6]), ((3, 5), [0], [2**63 - 1], [1], [2], np.s_[:, ::2]),
    ((2, 3, 4), [-2, 1], [3, -1], [1, 2], [1, 1], np.s_[:, -2:3, 1:-1]), ((5,), [-1], [-(2**63)], [0], [-1], np.s_[::-1]),
    ((3, 8), [6], [0], [1], [-3], np.s_[:, 6:0:-3]), ((2, 3, 4), [1, 9], [-9, 0], [0, 2], [-1, -2], np.s_[1::-1, :, 9:0:-2]),
]):
    add("shapes", "Slice", [[shape, ints(*begin), ints(*end), ints(*axes), ints(*step)]], lambda x, at=index: taken(x, lambda places: places[at]), label=str(i))
for i, (shape, to) in enumerate([((2, 1), (4,)), ((3, 1), (2, 3, 4)), ((2, 3, 1), (1, 5))]):
    add("shapes", "Expand", [[shape, ints(*to)]], lambda x, s=to: x.broadcast_to(torch.broadcast_shapes(x.shape, s)), label=str(i))
for i, (shape, repeats) in enumerate([((3,), (2,)), ((2, 3), (2, 1)), ((2, 1, 3), (1, 3, 2))]):
    add("shapes", "Tile", [[shape, ints(*repeats)]], lambda x, r=repeats: x.tile(r), label=str(i))
for i, (shape, index, axis) in enumerate([((5,), [0, 4, 0], 0), ((4, 3), [[1, 3], [1, 0]], 0), ((2, 4, 3), [-1, 1], 1), ((3,), [2, 0, 0], 0), ((4, 2), [1, 1, 1], 0)]):
    add("shapes", "Gather", [[shape, np.array(index, np.int64)]],
        lambda x, at=np.array(index), a=axis: x[(slice(None),) * a + (torch.from_numpy(at),)],
        label=str(i), axis=axis)
for i, (shape, pads) in enumerate([((5,), (1, 2)), ((3, 4), (0, 1, 2, 0)), ((2, 3, 2), (0, 1, 0, 0, 1, 2))]):
    rank = len(shape)
    torch_pads = [pads[d + side * rank] for d in reversed(range(rank)) for side in (0, 1)]
    add("shapes", "Pad", [[shape, ints(*pads)]], lambda x, p=torch_pads: F.pad(x, p), label=str(i))
for i, (shape, pads) in enumerate([((2, 5), (0, 1, 0, 4)), ((1, 3, 4), (0, 2, 0, 0, 0, 1)), ((1, 2, 3, 4), (0, 0, 1, 2, 0, 1, 2, 0))]):
    sides = list(zip(pads[: len(shape)], pads[len(shape) :]))
    for mode in ("reflect", "edge", "wrap"):
        add("shapes", "Pad", [[shape, ints(*pads)]], lambda x, s=sides, m=mode: taken(x, lambda at: np.pad(at, s, m)), label=f"{mode}{i}", mode=mode)
add("shapes", "Squeeze", [[(1, 3), ints(0)], [(3, 1, 2), ints(1)], [(1, 2, 1), ints(0, 2)]], lambda x: x.squeeze())
add("shapes", "Unsqueeze", [[(3,), ints(0)]], lambda x: x[None], label="A")
add("shapes", "Unsqueeze", [[(3, 2), ints(1, 3)]], lambda x: x[:, None, :, None], label="B")
add("shapes", "Flatten", [(2, 3, 4), (3, 5), (2, 2, 1, 3)], lambda x: x.flatten(1))

for i, (shape, sizes, axis) in enumerate([((7,), (3, 4), 0), ((3, 5), (1, 4), 1), ((2, 3, 4), (2, 1), -2)]):
    for label, which in (("", 0), ("Second", 1)):
        add("shapes", "Split", [[shape, ints(*sizes)]], lambda x, s=sizes, a=axis, w=which: x.split(s, a)[w], label=f"{label}{i}", axis=axis)

# Comparisons, logic and types. Neither has a gradient.
for i, (x, y) in enumerate(BROADCASTS):
    for op, reference in [("Greater", torch.gt), ("GreaterOrEqual", torch.ge), ("Less", torch.lt), ("LessOrEqual", torch.le)]:
        add("logic", op, [[x, y]], reference, label=str(i))
    numbers = [np.arange(np.prod(shape)).reshape(shape) % (3 + j) for j, shape in enumerate((x, y))]
    tensors = [torch.from_numpy(value) for value in numbers]
    add("logic", "Equal", [[Data(value) for value in numbers]], lambda a=tensors: torch.eq(*a), label=str(i))
    add("logic", "Not", [[Data(numbers[0] > 0)]], lambda a=tensors: ~(a[0] > 0), label=str(i))
    for op, reference in [("And", torch.logical_and), ("Or", torch.logical_or), ("Xor", torch.logical_xor)]:
        add("logic", op, [[Data(value > 0) for value in numbers]], lambda a=tensors, r=reference: r(a[0] > 0, a[1] > 0), label=str(i))
odd = np.array([[np.nan, np.inf, -np.inf], [0.0, -1.5, np.nan]])
add("logic", "IsNaN", [[Data(odd)]], lambda: torch.from_numpy(np.isnan(odd)))
add("logic", "IsInf", [[Data(odd)]], lambda: torch.from_numpy(np.isinf(odd)))
add("logic", "IsInf", [[Data(odd)]], lambda: torch.from_numpy(np.isneginf(odd)), label="Negative", detect_positive=0)
for i, shape in enumerate(SHAPES):
    add("logic", "Cast", [shape], lambda x: x.long(), label=f"Whole{i}", to=7)
    add("logic", "Cast", [[Data(np.arange(np.prod(shape)).reshape(shape) % 3)]], lambda s=shape: torch.arange(int(np.prod(s))).reshape(s) % 3 > 0, label=f"Truth{i}", to=9)
    add("logic", "CastLike", [[shape, Data(ints(0))]], lambda x: x.long(), label=str(i))

# Products.
add("products", "MatMul", [[(3, 4), (4, 5)], [(2, 3, 4), (4, 5)], [(2, 1, 3, 4), (3, 4, 2)]], torch.matmul)
add("products", "MatMul", [[(2, 2, 3, 4), (2, 2, 4, 3)]], torch.matmul, label="Batched")
add("products", "Gemm", [[(3, 4), (4, 5), (5,)], [(2, 3), (3, 2), (2, 2)], [(4, 1), (1, 3), (4, 1)]],
    lambda a, b, c: 0.5 * a @ b + 2 * c, alpha=0.5, beta=2.0)
add("products", "Gemm", [[(4, 3), (5, 4), (3, 5)], [(3, 2), (2, 3), (2, 1)], [(1, 4), (3, 1), (3,)]],
    lambda a, b, c: a.T @ b.T + c, label="Transposed", transA=1, transB=1)
for i, (equation, shapes) in enumerate([
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("ij,kj", [(3, 4), (5, 4)]), ("bhqd,bhkd->bqhk", [(2, 3, 4, 5), (2, 3, 2, 5)]),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (1, 5, 4, 2)]), ("ij,j->ji", [(3, 4), (4,)]), ("i,j->ij", [(3,), (4,)]),
    ("ij->i", [(3, 4)]), ("bii->bi", [(2, 3, 3)]), ("ij,ij->j", [(3, 4), (3, 4)]), ("ai,bij,aj->ab", [(2, 3), (4, 3, 5), (2, 5)]),
    ("b...,bi->b...", [(2, 3, 1), (2, 4)]), ("abij,ajk->iakb", [(2, 1, 3, 4), (2, 4, 5)]),
]):
    add("products", "Einsum", [shapes], lambda *x, e=equation: torch.einsum(e, *x), label=str(i), equation=equation)

# Attention: [batch, heads, rows, size], or the heads joined to [batch, rows, heads * size].
sdpa = F.scaled_dot_product_attention
shown = np.random.default_rng(0).random((4, 6)) < 0.7
shown[:, 0] = True


def joined(*operands):
    """Three heads, that lie side by side."""
    return sdpa(*(x.unflatten(-1, (3, -1)).transpose(1, 2) for x in operands)).transpose(1, 2).flatten(2)


add("attention", "Attention", [[(2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7)], [(1, 1, 3, 2), (1, 1, 3, 2), (1, 1, 3, 2)]], sdpa)
add("attention", "Attention", [[(2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7), (4, 6)], [(2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7), (2, 1, 4, 6)]],
    lambda q, k, v, m: sdpa(q, k, v, attn_mask=m, scale=0.25), label="Added", scale=0.25)
add("attention", "Attention", [[(2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7), shown]],
    lambda q, k, v: sdpa(q, k, v, attn_mask=torch.from_numpy(shown)), label="Boolean")
add("attention", "Attention", [[(2, 3, 4, 5), (2, 3, 4, 5), (2, 3, 4, 5)]], lambda q, k, v: sdpa(q, k, v, is_causal=True), label="Causal", is_causal=1)
add("attention", "Attention", [[(2, 4, 4, 5), (2, 2, 6, 5), (2, 2, 6, 3)]], lambda q, k, v: sdpa(q, k, v, enable_gqa=True), label="Grouped")


def capped(q, k, v, cap, scale, mask=0.0):
    return (cap * torch.tanh(scale * q @ k.mT / cap) + mask).softmax(-1) @ v


add("attention", "Attention", [[(2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7)]], lambda q, k, v: capped(q, k, v, 0.5, 5**-0.5), label="Capped", softcap=0.5)
add("attention", "Attention", [[(2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7), (2, 1, 4, 6)]],
    lambda q, k, v, m: capped(q, k, v, 2.0, 1.5, m), label="CappedAndAdded", softcap=2.0, scale=1.5)
add("attention", "Attention", [[(2, 4, 6), (2, 5, 6), (2, 5, 6)]], lambda q, k, v: joined(q, k, v), label="Joined", q_num_heads=3, kv_num_heads=3)


def cached(q, k, v, past_k, past_v, mask=None):
    """Keys and values of a cache come before the new ones."""
    return sdpa(q, torch.cat([past_k, k], 2), torch.cat([past_v, v], 2), attn_mask=mask)


cache = [(2, 3, 4, 5), (2, 3, 4, 5), (2, 3, 4, 7)]
past = [(2, 3, 3, 5), (2, 3, 3, 7)]
frontier = torch.ones(4, 7, dtype=torch.bool).tril(3)
add("attention", "Attention", [[*cache, None, *past]], cached, label="Past")
add("attention", "Attention", [[*cache, None, *past]], lambda *x: cached(*x, mask=frontier), label="PastCausal", is_causal=1)
add("attention", "Attention", [[*cache, None, *past]], lambda *x: torch.cat([x[3], x[1]], 2), label="PastHidden", is_causal=1)
add("attention", "Attention", [[*cache, (4, 5), *past]], lambda q, k, v, m, a, b: cached(q, k, v, a, b, F.pad(m, (0, 2), value=-torch.inf)), label="PastMasked")
for mode in range(4):

    def scores(q, k, v, m, mode=mode):
        plain = 0.25 * q @ k.repeat_interleave(2, 1).mT
        steps = [plain, 2 * torch.tanh(plain / 2), 2 * torch.tanh(plain / 2) + m]
        return [*steps, steps[2].softmax(-1)][mode]

    add("attention", "Attention", [[(2, 4, 4, 5), (2, 2, 6, 5), (2, 2, 6, 3), (4, 6)]], scores, label=f"Scores{mode}", qk_matmul_output_mode=mode, softcap=2.0, scale=0.25)

# Picking by index, triangles, running sums.
for i, (shape, index, axis) in enumerate([((5,), [0, 4, 0], 0), ((3, 4), [[-1, 0], [2, 3]], 1), ((2, 4, 3), [[[0, 1, 3]], [[-4, 2, 2]]], 1)]):
    picked = torch.from_numpy(np.array(index) % shape[axis])
    for label, operand in (("", np.array(index, np.int64)), ("Data", Data(np.array(index, np.int64)))):
        add("indexing", "GatherElements", [[shape, operand]], lambda x, a=axis, at=picked: x.gather(a, at), label=f"{label}{i}", axis=axis)
for i, (shape, index) in enumerate([((4, 3), [[0], [-1], [0]]), ((2, 3, 4), [[[1, -2], [0, 0]]]), ((3, 2), [[2, 1], [0, -2]])]):
    places = tuple(torch.from_numpy(np.array(index)).unbind(-1))
    for label, operand in (("", np.array(index, np.int64)), ("Data", Data(np.array(index, np.int64)))):
        add("indexing", "GatherND", [[shape, operand]], lambda x, at=places: x[at], label=f"{label}{i}")
for i, (index, axis) in enumerate([([0, 2, 5, -1], -1), ([[1, 3], [2, 0]], 0), ([[4, 1, 1]], 1)]):
    table = torch.eye(6, dtype=torch.double)[torch.from_numpy(np.array(index) % 6)].movedim(-1, axis) * 2 - 0.5
    add("indexing", "OneHot", [[Data(np.array(index, np.int64)), ints(6), np.array([-0.5, 1.5])]], lambda t=table: t, label=str(i), axis=axis)
for i, (shape, k) in enumerate([((3, 5), 0), ((4, 2), -1), ((3, 3), 1), ((2, 3), 3), ((2, 3), -9)]):
    add("indexing", "EyeLike", [np.zeros(shape)], lambda e=np.eye(*shape, k): torch.from_numpy(e), label=str(i), k=k)
for i, (shape, k) in enumerate([((4, 5), None), ((2, 5, 3), ints(1)), ((2, 2, 3, 3), ints(-1))]):
    diagonal = 0 if k is None else int(k[0])
    add("indexing", "Trilu", [[shape, k]], lambda x, d=diagonal: x.triu(d), label=f"Upper{i}")
    add("indexing", "Trilu", [[shape, k]], lambda x, d=diagonal: x.tril(d), label=f"Lower{i}", upper=0)
for i, (shape, axis) in enumerate([((5,), 0), ((3, 4), 0), ((2, 300, 3), 1)]):
    add("indexing", "CumSum", [[shape, np.array(axis)]], lambda x, a=axis: x.cumsum(a), label=str(i))
    add("indexing", "CumSum", [[shape, np.array(axis)]], lambda x, a=axis: x.cumsum(a) - x, label=f"Exclusive{i}", exclusive=1)
    add("indexing", "CumSum", [[shape, np.array(axis)]], lambda x, a=axis: x.flip(a).cumsum(a).flip(a), label=f"Reverse{i}", reverse=1)
    add("indexing", "CumSum", [[shape, np.array(axis)]], lambda x, a=axis: x.flip(a).cumsum(a).flip(a) - x, label=f"Both{i}", reverse=1, exclusive=1)

for i, (shape, axis, keep) in enumerate([((7, 2), 0, 1), ((3, 5), -1, 0), ((2, 4, 3), 1, 1)]):
    keywords = dict(axis=axis, keepdims=keep)
    add("indexing", "ArgMax", [shape], lambda x, a=axis, k=keep: x.argmax(a, keepdim=bool(k)), "apart", label=str(i), **keywords)
    add("indexing", "ArgMin", [shape], lambda x, a=axis, k=keep: x.argmin(a, keepdim=bool(k)), "apart", label=str(i), **keywords)
    # Among equal elements, the first or the last one is taken.
    first = lambda x, a=axis, k=keep: torch.zeros_like(x.argmax(a, keepdim=bool(k)))
    add("indexing", "ArgMax", [shape], first, "tied", label=f"First{i}", **keywords)
    add("indexing", "ArgMax", [shape], lambda x, f=first, n=shape[axis]: f(x) + n - 1, "tied", label=f"Last{i}", select_last_index=1, **keywords)
for i, (shape, k, axis) in enumerate([((9,), 3, 0), ((4, 6), 1, -1), ((2, 5, 3), 5, 1)]):
    for largest in (1, 0):
        add("indexing", "TopK", [[shape, ints(k)]], lambda x, k=k, a=axis, l=largest: x.topk(k, a, largest=bool(l)).values, "apart", label=f"{i}{'min' * (not largest)}", axis=axis, largest=largest)
        add("indexing", "TopK", [[shape, ints(k)]], lambda x, k=k, a=axis, l=largest: x.topk(k, a, largest=bool(l)).indices, "apart", label=f"Indices{i}{'min' * (not largest)}", axis=axis, largest=largest)

# Convolutions and pooling.
for i, (x, w, b, keywords) in enumerate([
    ((2, 3, 5, 5), (4, 3, 3, 3), (4,), dict(stride=1, padding=1)),
    ((1, 2, 7, 6), (3, 2, 3, 2), (3,), dict(stride=2, padding=0)),
    ((2, 4, 6, 6), (4, 2, 3, 3), (4,), dict(stride=1, padding=2, dilation=2, groups=2)),
]):
    stride, padding = keywords.get("stride", 1), keywords.get("padding", 0)
    add("convolutions", "Conv", [[x, w, b]], lambda x, w, b, k=keywords: F.conv2d(x, w, b, **k), label=str(i),
        strides=[stride] * 2, pads=[padding] * 4, dilations=[keywords.get("dilation", 1)] * 2, group=keywords.get("groups", 1),
        kernel_shape=list(w[2:]))
for i, (x, w, b, keywords) in enumerate([
    ((2, 3, 4, 4), (3, 2, 2, 2), (2,), dict(stride=2)),
    ((1, 2, 3, 5), (2, 3, 3, 3), (3,), dict(stride=1, padding=1)),
    ((2, 2, 3, 3), (2, 2, 3, 3), (2,), dict(stride=2, padding=1, output_padding=1)),
]):
    add("convolutions", "ConvTranspose", [[x, w, b]], lambda x, w, b, k=keywords: F.conv_transpose2d(x, w, b, **k), label=str(i),
        strides=[keywords["stride"]] * 2, pads=[keywords.get("padding", 0)] * 4,
        output_padding=[keywords.get("output_padding", 0)] * 2, kernel_shape=list(w[2:]))
# The size of the result, from which the padding follows: an odd one has its larger half at the end, or at the beginning.
for i, (cut, attributes) in enumerate([
    (lambda y: y[:, :, :-1, :-1], dict(auto_pad="SAME_UPPER")), (lambda y: y[:, :, 1:, 1:], dict(auto_pad="SAME_LOWER")),
    (lambda y: y[:, :, 2:-1, 1:], dict(output_shape=[4, 10])), (lambda y: F.pad(y, (0, 0, 0, 1)), dict(output_shape=[8, 11])),
]):
    add("convolutions", "ConvTranspose", [[(1, 2, 3, 5), (2, 3, 3, 3)]], lambda x, w, c=cut: c(F.conv_transpose2d(x, w, stride=2)), label=f"Sized{i}",
        strides=[2, 2], kernel_shape=[3, 3], **attributes)
add("convolutions", "ConvTranspose", [[(1, 2, 2, 3, 2), (2, 1, 3, 2, 3)]], lambda x, w: F.conv_transpose3d(x, w, stride=2)[:, :, :-1, :, :-1],
    label="SizedVolume", strides=[2, 2, 2], auto_pad="SAME_UPPER")
add("convolutions", "ConvTranspose", [[(1, 2, 4), (2, 3, 4)]], lambda x, w: F.conv_transpose1d(x, w, stride=2)[:, :, 1:-1], label="SizedLine",
    strides=[2], auto_pad="SAME_UPPER")
for i, (x, k, s, p) in enumerate([((2, 2, 4, 4), 2, 2, 0), ((1, 3, 7, 7), 3, 2, 1), ((2, 1, 5, 6), 3, 1, 0)]):
    add("convolutions", "MaxPool", [x], lambda x, k=k, s=s, p=p: F.max_pool2d(x, k, s, p), "apart", label=str(i),
        kernel_shape=[k] * 2, strides=[s] * 2, pads=[p] * 4)
    add("convolutions", "AveragePool", [x], lambda x, k=k, s=s, p=p: F.avg_pool2d(x, k, s, p), label=str(i),
        kernel_shape=[k] * 2, strides=[s] * 2, pads=[p] * 4, count_include_pad=1)
for i, (x, k, s, p) in enumerate([((2, 2, 6, 5), 3, 2, 0), ((1, 3, 8, 7), 3, 3, 1), ((2, 1, 6, 6), 2, 3, 0)]):
    add("convolutions", "MaxPool", [x], lambda x, k=k, s=s, p=p: F.max_pool2d(x, k, s, p, ceil_mode=True), "apart", label=f"Ceil{i}",
        kernel_shape=[k] * 2, strides=[s] * 2, pads=[p] * 4, ceil_mode=1)
    add("convolutions", "AveragePool", [x], lambda x, k=k, s=s, p=p: F.avg_pool2d(x, k, s, p, ceil_mode=True, count_include_pad=False), label=f"Ceil{i}",
        kernel_shape=[k] * 2, strides=[s] * 2, pads=[p] * 4, ceil_mode=1)
add("convolutions", "GlobalAveragePool", [(2, 3, 4, 4), (1, 2, 5, 3), (2, 1, 1, 1)], lambda x: x.mean((2, 3), keepdim=True))
add("convolutions", "GlobalMaxPool", [(2, 3, 4, 4), (1, 2, 5, 3), (2, 1, 1, 1)], lambda x: x.amax((2, 3), keepdim=True), "apart")

# Volumes: the depth is joined to the channels or pooled by itself.
for i, (x, w, keywords) in enumerate([
    ((2, 3, 4, 5, 4), (4, 3, 3, 3, 3), dict(stride=1, padding=1)),
    ((1, 2, 5, 4, 3), (3, 2, 2, 3, 2), dict(stride=2)),
    ((2, 4, 6, 3, 4), (6, 2, 2, 2, 1), dict(stride=1, padding=1, dilation=2, groups=2)),
]):
    get = lambda name, default, k=keywords: [k.get(name, default)] * 3
    add("convolutions", "Conv", [[x, w, w[:1]]], lambda x, w, b, k=keywords: F.conv3d(x, w, b, **k), label=f"Volume{i}",
        strides=get("stride", 1), pads=get("padding", 0) * 2, dilations=get("dilation", 1), group=keywords.get("groups", 1), kernel_shape=list(w[2:]))
for i, (x, w, keywords) in enumerate([
    ((2, 3, 2, 3, 2), (3, 2, 2, 2, 2), dict(stride=2)),
    ((1, 2, 3, 2, 4), (2, 3, 3, 3, 3), dict(stride=1, padding=1)),
    ((2, 4, 3, 2, 2), (4, 2, 3, 2, 3), dict(stride=2, padding=1, output_padding=1, groups=2)),
]):
    get = lambda name, default, k=keywords: [k.get(name, default)] * 3
    outputs = (w[1] * keywords.get("groups", 1),)
    add("convolutions", "ConvTranspose", [[x, w, outputs]], lambda x, w, b, k=keywords: F.conv_transpose3d(x, w, b, **k), label=f"Volume{i}",
        strides=get("stride", 1), pads=get("padding", 0) * 2, output_padding=get("output_padding", 0), group=keywords.get("groups", 1), kernel_shape=list(w[2:]))
for i, (x, k, s, p, ceil) in enumerate([((2, 2, 4, 4, 3), 2, 2, 0, 0), ((1, 3, 5, 4, 6), 3, 2, 1, 0), ((2, 1, 6, 5, 6), 2, 3, 0, 1)]):
    shared = dict(kernel_shape=[k] * 3, strides=[s] * 3, pads=[p] * 6, ceil_mode=ceil)
    for domain in ("apart", "tied"):
        add("convolutions", "MaxPool", [x], lambda x, k=k, s=s, p=p, c=ceil: F.max_pool3d(x, k, s, p, ceil_mode=bool(c)), domain, label=f"Volume{domain}{i}", **shared)
    add("convolutions", "AveragePool", [x], lambda x, k=k, s=s, p=p, c=ceil: F.avg_pool3d(x, k, s, p, ceil_mode=bool(c), count_include_pad=False), label=f"Volume{i}", **shared)


# Recurrent layers: 3 steps of a batch of 2, 4 inputs, a state of 3.
def recurrent(layer: Callable, order: list[int], reverse=False, output=0, activation=None) -> Callable:
    """PyTorch's layer, which has the gates in another order."""

    def run(x, w, r, b=None, h=None, *cell):
        directions, _, size = r.shape
        sort = lambda x: torch.cat([x.chunk(len(order))[gate] for gate in order])
        parameters = [sort(part) for d in range(directions) for part in (w[d], r[d], *(b[d].chunk(2) if b is not None else ()))]
        h = torch.zeros(directions, x.shape[1], size, dtype=x.dtype) if h is None else h
        state = (h, *(cell or (torch.zeros_like(h),))) if layer is torch.lstm else h
        results = layer(x.flip(0) if reverse else x, state, parameters, b is not None, 1, 0.0, True, directions == 2, False)
        y = results[0].flip(0) if reverse else results[0]
        return [y.unflatten(-1, (directions, size)).transpose(1, 2), *results[1:]][output]

    return run


def gru_with_early_reset(x, w, r, b):
    (w, r, b), h, steps = (w[0], r[0], b[0]), torch.zeros(x.shape[1], r.shape[2], dtype=x.dtype), []
    for part in x:
        (wz, wr, wh), (rz, rr, rh), (bz, br, bh, cz, cr, ch) = w.chunk(3), r.chunk(3), b.chunk(6)
        z, reset = torch.sigmoid(part @ wz.T + h @ rz.T + bz + cz), torch.sigmoid(part @ wr.T + h @ rr.T + br + cr)
        h = (1 - z) * torch.tanh(part @ wh.T + (reset * h) @ rh.T + bh + ch) + z * h
        steps.append(h)
    return torch.stack(steps)[:, None]


for op, layer, gates, order, states in [("LSTM", torch.lstm, 4, [0, 2, 3, 1], 2), ("GRU", torch.gru, 3, [1, 0, 2], 1), ("RNN", torch.rnn_tanh, 1, [0], 1)]:
    late = {"linear_before_reset": 1} if op == "GRU" else {}
    weights = lambda d, n=gates: [(3, 2, 4), (d, 3 * n, 4), (d, 3 * n, 3)]
    full = lambda d, n=gates, s=states: [*weights(d, n), (d, 6 * n), None, *[(d, 2, 3)] * s]
    add("recurrent", op, [weights(1)], recurrent(layer, order), label="Plain", hidden_size=3, **late)
    add("recurrent", op, [full(1)], recurrent(layer, order, reverse=True), label="Reverse", hidden_size=3, direction="reverse", **late)
    add("recurrent", op, [full(2)], recurrent(layer, order), label="Both", hidden_size=3, direction="bidirectional", **late)
    add("recurrent", op, [full(2)], recurrent(layer, order, output=1), label="Hidden", hidden_size=3, direction="bidirectional", **late)
add("recurrent", "LSTM", [full(2, 4, 2)], recurrent(torch.lstm, [0, 2, 3, 1], output=2), label="Cell", hidden_size=3, direction="bidirectional")
add("recurrent", "GRU", [[*weights(1, 3), (1, 18)]], gru_with_early_reset, label="EarlyReset", hidden_size=3)
add("recurrent", "RNN", [full(2, 1, 1)], recurrent(torch.rnn_relu, [0]), label="Relu", hidden_size=3, direction="bidirectional", activations=["Relu", "Relu"])

# More steps than stand one after the other: a loop.
for op, layer, gates, order, states in [("LSTM", torch.lstm, 4, [0, 2, 3, 1], 2), ("GRU", torch.gru, 3, [1, 0, 2], 1), ("RNN", torch.rnn_tanh, 1, [0], 1)]:
    late = {"linear_before_reset": 1} if op == "GRU" else {}
    long = lambda d, n=gates, s=states: [(66, 2, 4), (d, 3 * n, 4), (d, 3 * n, 3), (d, 6 * n), None, *[(d, 2, 3)] * s]
    add("loops", op, [long(2)], recurrent(layer, order), label="LongBoth", hidden_size=3, direction="bidirectional", **late)
    add("loops", op, [long(1)], recurrent(layer, order, reverse=True, output=1), label="LongHidden", hidden_size=3, direction="reverse", **late)
add("loops", "LSTM", [[(66, 2, 4), (1, 12, 4), (1, 12, 3)]], recurrent(torch.lstm, [0, 2, 3, 1], output=2), label="LongCell", hidden_size=3)
add("loops", "GRU", [[(66, 2, 4), (1, 9, 4), (1, 9, 3), (1, 18)]], gru_with_early_reset, label="LongEarlyReset", hidden_size=3)

# Integers that the compiler does not know.
counted = np.array([[3, -1, 4], [0, 5, -9]], np.int64)
add("indexing", "CumSum", [[Data(counted), np.array(1)]], lambda: torch.from_numpy(counted).cumsum(1), label="Integers")
for op, reference in [("ReduceSum", torch.Tensor.sum), ("ReduceMax", torch.Tensor.amax), ("ReduceMin", torch.Tensor.amin)]:
    add("indexing", op, [[Data(counted), ints(1)]], lambda r=reference: r(torch.from_numpy(counted), 1), label="Integers", keepdims=0)
for op, reference in [("Abs", torch.abs), ("Sign", torch.sign)]:
    add("indexing", op, [[Data(counted)]], lambda r=reference: r(torch.from_numpy(counted)), label="Integers")

# Resizing; scales are one per dimension. A size that is no multiple gathers.
floats = lambda *values: np.array(values, np.float32)
for i, (shape, scale, torch_size) in enumerate([((2, 3, 4), 3, (12,)), ((1, 2, 3, 4), 2, (6, 8)), ((2, 1, 2, 2, 3), 2, (4, 4, 6))]):
    add("resizing", "Resize", [[shape, None, floats(1, 1, *[scale] * (len(shape) - 2))]],
        lambda x, s=torch_size: F.interpolate(x, size=s), label=f"Nearest{i}", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
for i, (shape, size) in enumerate([((2, 3, 6), (4,)), ((1, 2, 6, 8), (3, 5)), ((2, 1, 4, 6), (7, 3))]):
    add("resizing", "Resize", [[shape, None, None, ints(*shape[:2], *size)]],
        lambda x, s=size: F.interpolate(x, size=s), label=f"NearestTo{i}", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    add("resizing", "Resize", [[shape, None, None, ints(*shape[:2], *size)]],
        lambda x, s=size: F.interpolate(x, size=s, mode="nearest-exact"), label=f"NearestExact{i}", mode="nearest", nearest_mode="round_prefer_ceil")
    kind = {1: "linear", 2: "bilinear"}[len(size)]
    for name, corners, transformation in [("HalfPixel", False, "half_pixel"), ("PyTorch", False, "pytorch_half_pixel"), ("Corners", True, "align_corners")]:
        add("resizing", "Resize", [[shape, None, None, ints(*shape[:2], *size)]],
            lambda x, s=size, k=kind, a=corners: F.interpolate(x, size=s, mode=k, align_corners=a), label=f"{name}{i}",
            mode="linear", coordinate_transformation_mode=transformation)
for i, (shape, size) in enumerate([((2, 3, 5, 6), (9, 4)), ((1, 2, 1, 3), (2, 7)), ((1, 1, 4, 4), (8, 8))]):
    for name, corners in [("Cubic", False), ("CubicCorners", True)]:
        add("resizing", "Resize", [[shape, None, None, ints(*shape[:2], *size)]],
            lambda x, s=size, a=corners: F.interpolate(x, size=s, mode="bicubic", align_corners=a), label=f"{name}{i}",
            mode="cubic", cubic_coeff_a=-0.75, coordinate_transformation_mode="align_corners" if corners else "half_pixel")
add("resizing", "Resize", [[(1, 2, 3, 3, 2), None, None, ints(4, 2, 5), ]], lambda x: F.interpolate(x, size=(4, 2, 5), mode="trilinear"), label="Volume", mode="linear", axes=[2, 3, 4])
add("resizing", "Resize", [[(1, 2, 4, 3), None, floats(1, 1, 1.7, 2.3)]], lambda x: F.interpolate(x, scale_factor=(float(np.float32(1.7)), float(np.float32(2.3))), mode="bilinear"), label="Scaled", mode="linear")
for i, (shape, block) in enumerate([((1, 8, 2, 3), 2), ((2, 9, 1, 2), 3), ((2, 4, 3, 2), 2)]):
    add("resizing", "DepthToSpace", [shape], lambda x, b=block: F.pixel_shuffle(x, b), label=f"CRD{i}", blocksize=block, mode="CRD")
    add("resizing", "DepthToSpace", [shape], lambda x, b=block: F.pixel_shuffle(x.unflatten(1, (b * b, -1)).transpose(1, 2).flatten(1, 2), b), label=f"DCR{i}", blocksize=block)
for i, (shape, block) in enumerate([((1, 2, 4, 6), 2), ((2, 1, 3, 3), 3), ((2, 3, 2, 4), 2)]):
    add("resizing", "SpaceToDepth", [shape], lambda x, b=block: F.pixel_unshuffle(x, b).unflatten(1, (-1, b * b)).transpose(1, 2).flatten(1, 2), label=str(i), blocksize=block)

import op_cases_places  # noqa: E402, F401  (more of CASES)

"""Operators with tensors so large that a GPU's kernels take other forms than for the small ones of op_cases.py.

Rows are reduced by several warps or in several walks, columns by several blocks, attention walks over several tiles,
and sizes are no multiples of a vector.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from op_cases import Data, OpCase, add, ints

LARGE: dict[str, list[OpCase]] = {}

for i, (shape, axis) in enumerate([((1030, 3), 0), ((64, 512), 0), ((5, 257, 33), 1), ((3, 1030), 1), ((2, 4099), 1), ((2, 8200), 1)]):
    for op, reference in [
        ("ReduceSum", lambda x, a: x.sum(a)), ("ReduceMax", lambda x, a: x.amax(a)), ("ReduceLogSumExp", lambda x, a: x.logsumexp(a)),
    ]:
        add("rows", op, [[shape, ints(axis)]], lambda x, r=reference, a=axis: r(x, a), label=str(i), keepdims=0, cases=LARGE)
    add("rows", "Softmax", [shape], lambda x, a=axis: x.softmax(a), label=str(i), axis=axis, cases=LARGE)
    add("rows", "LogSoftmax", [shape], lambda x, a=axis: x.log_softmax(a), label=str(i), axis=axis, cases=LARGE)
    if axis == len(shape) - 1:
        add("rows", "LayerNormalization", [[shape, shape[axis:], shape[axis:]]],
            lambda x, w, b, n=shape[axis:]: F.layer_norm(x, n, w, b, 2**-10), label=str(i), axis=axis, epsilon=2**-10, cases=LARGE)
for i, shape in enumerate([(600, 33), (8, 65, 17, 17), (3, 7, 40, 33)]):
    add("rows", "BatchNormalization", [[shape, shape[1:2], shape[1:2], np.zeros(shape[1]), np.ones(shape[1])]],
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True, 0.1, 2**-10), label=str(i), epsilon=2**-10, cases=LARGE)

for i, (shape, axis) in enumerate([((3, 2000), 1), ((2000, 3), 0), ((2, 1000, 33), 1)]):
    add("indexing", "CumSum", [[shape, np.array(axis)]], lambda x, a=axis: x.cumsum(a), label=str(i), cases=LARGE)
# Rows of a table that are read rarely, often, and by far most of all.
for i, (rows, columns, count, frequent) in enumerate([(40, 33, 700, 0), (5, 64, 3000, 0), (2000, 17, 300, 200)]):
    index = np.random.default_rng(3).integers(0, rows, count)
    index[:frequent] = 7
    add("indexing", "Gather", [[(rows, columns), Data(index)]], lambda x, at=torch.from_numpy(index): x[at], label=str(i), axis=0, cases=LARGE)

for i, (x, k, s, p) in enumerate([((2, 17, 33, 29), 3, 2, 1), ((1, 33, 40, 41), 2, 2, 0), ((3, 5, 31, 33), 5, 3, 2)]):
    sizes = dict(kernel_shape=[k] * 2, strides=[s] * 2, pads=[p] * 4)
    add("convolutions", "MaxPool", [x], lambda x, k=k, s=s, p=p: F.max_pool2d(x, k, s, p), "apart", label=str(i), cases=LARGE, **sizes)
    add("convolutions", "AveragePool", [x], lambda x, k=k, s=s, p=p: F.avg_pool2d(x, k, s, p), label=str(i), count_include_pad=1, cases=LARGE, **sizes)
for i, (x, w, s, p, groups) in enumerate([
    ((2, 5, 17, 19), (7, 5, 3, 3), 1, 1, 1), ((2, 12, 14, 13), (12, 1, 3, 3), 1, 1, 12), ((1, 3, 30, 31), (9, 3, 7, 7), 2, 3, 1),
]):
    add("convolutions", "Conv", [[x, w, w[:1]]], lambda x, w, b, s=s, p=p, g=groups: F.conv2d(x, w, b, s, p, 1, g), label=str(i),
        strides=[s] * 2, pads=[p] * 4, group=groups, kernel_shape=list(w[2:]), cases=LARGE)

for i, order in enumerate([(0, 2, 3, 1), (3, 1, 0, 2)]):
    add("products", "Transpose", [(2, 3, 65, 67)], lambda x, p=order: x.permute(p), label=str(i), perm=list(order), cases=LARGE)
add("products", "MatMul", [[(3, 70, 130), (3, 130, 33)], [(257, 65), (65, 129)], [(2, 5, 33, 17), (5, 17, 40)]], torch.matmul, cases=LARGE)
for i, shape in enumerate([(2, 3, 70, 20), (1, 2, 130, 40), (1, 2, 200, 128)]):
    more_keys = (*shape[:2], shape[2] + 13, shape[3])
    add("products", "Attention", [[shape, more_keys, more_keys]], F.scaled_dot_product_attention, label=str(i), cases=LARGE)
    add("products", "Attention", [[shape] * 3], lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), label=f"Causal{i}",
        is_causal=1, cases=LARGE)

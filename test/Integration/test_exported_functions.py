"""Functions of PyTorch as its exporter writes them.

All share one emitted program in double precision, as in test_ops.py: the loss
is the sum of every function's result times random weights, so that after one
step of plain gradient descent with a learning rate of 1 the change of a weight
is the result, and that of an operand its gradient.
"""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import gpuopt
from training import OPTIMIZATION_FOR_ONE_STEP, Trainer

IMAGE, VOLUME, MATRICES, ROWS = (2, 4, 6, 6), (2, 4, 6), (2, 6, 6), (2, 4)
FUNCTIONS = {
    # Normalisation.
    "group_norm": (IMAGE, lambda x: F.group_norm(x, 2)),
    "instance_norm": (IMAGE, F.instance_norm),
    "batch_norm": (VOLUME, lambda x: F.batch_norm(x, None, None, training=True)),
    "rms_norm": (VOLUME, lambda x: F.rms_norm(x, (6,))),
    "normalize": (VOLUME, lambda x: F.normalize(x, dim=1)),
    "cosine_similarity": (VOLUME, lambda x: F.cosine_similarity(x, x.flip(1), dim=-1)),
    # Resizing and pooling.
    "nearest_scale": (IMAGE, lambda x: F.interpolate(x, scale_factor=2)),
    "nearest_size": (IMAGE, lambda x: F.interpolate(x, size=(9, 4))),
    "nearest_exact": (IMAGE, lambda x: F.interpolate(x, size=(9, 4), mode="nearest-exact")),
    "bilinear": (IMAGE, lambda x: F.interpolate(x, scale_factor=2, mode="bilinear")),
    "bilinear_corners": (IMAGE, lambda x: F.interpolate(x, size=(9, 4), mode="bilinear", align_corners=True)),
    "bicubic": (IMAGE, lambda x: F.interpolate(x, size=(9, 4), mode="bicubic")),
    "linear": (VOLUME, lambda x: F.interpolate(x, scale_factor=2, mode="linear")),
    "pixel_shuffle": (IMAGE, lambda x: F.pixel_shuffle(x, 2)),
    "pixel_unshuffle": (IMAGE, lambda x: F.pixel_unshuffle(x, 2)),
    "max_pool_ceil": (IMAGE, lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True)),
    "adaptive_avg_pool": (IMAGE, lambda x: F.adaptive_avg_pool2d(x, 3)),
    "unfold": (IMAGE, lambda x: F.unfold(x, 3)),
    "pad_reflect": (IMAGE, lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect")),
    "pad_replicate": (IMAGE, lambda x: F.pad(x, (1, 2, 2, 1), mode="replicate")),
    "pad_circular": (IMAGE, lambda x: F.pad(x, (1, 2, 2, 1), mode="circular")),
    # Products and attention.
    "einsum": (IMAGE, lambda x: torch.einsum("bchw,bdhw->bcd", x, x)),
    "baddbmm": (MATRICES, lambda x: torch.baddbmm(x, x, x)),
    "attention": (IMAGE, lambda x: F.scaled_dot_product_attention(x, x, x)),
    "causal_attention": (IMAGE, lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True)),
    # Masks and running sums.
    "triu": (MATRICES, lambda x: x.triu(1)),
    "infinite_triu": (MATRICES, lambda x: (x + torch.full((6, 6), float("-inf")).triu(1)).softmax(-1)),
    "masked_fill": (MATRICES, lambda x: x.masked_fill(torch.ones(6, 6).tril() == 0, float("-inf")).softmax(-1)),
    "cumsum": (VOLUME, lambda x: x.cumsum(1)),
    "diagonal": (MATRICES, lambda x: x.diagonal(dim1=1, dim2=2)),
    # Picking.
    "gather_one_index_a_row": (VOLUME, lambda x: x.gather(1, (x[:, :1, :1] > 0).long().expand(-1, 1, 6))),
    "gather": (VOLUME, lambda x: x.gather(1, torch.tensor([[[0, 1, 2, 3, 0, 1]]]).expand(2, 1, 6))),
    "index_select": (VOLUME, lambda x: x.index_select(1, torch.tensor([0, 2]))),
    "topk": (VOLUME, lambda x: x.topk(2, -1).values),
    "sort": (VOLUME, lambda x: x.sort(-1).values),
    "argmax": (VOLUME, lambda x: F.one_hot(x.argmax(-1), 6) * x),
    "flip": (VOLUME, lambda x: x.flip(1)),
    "roll": (VOLUME, lambda x: x.roll(2, 1)),
    "repeat": (ROWS, lambda x: x.repeat(1, 2)),
    "repeat_interleave": (ROWS, lambda x: x.repeat_interleave(2, 1)),
    "chunk": (VOLUME, lambda x: x.chunk(2, 1)[1]),
    "stack": (VOLUME, lambda x: torch.stack([x, x * 2], 1)),
    "linspace": (ROWS, lambda x: x * torch.linspace(0, 1, 4)),
    "arange": (ROWS, lambda x: x * torch.arange(4)),
    # Reductions.
    "logsumexp": (MATRICES, lambda x: x.logsumexp(-1)),
    "prod": (VOLUME, lambda x: x.prod(1)),
    "norm": (VOLUME, lambda x: x.norm(dim=-1)),
    "std": (VOLUME, lambda x: x.std(-1)),
    "var": (VOLUME, lambda x: x.var(-1)),
    "amax": (ROWS, lambda x: x.amax(1)),
    # Elementwise.
    "remainder": (VOLUME, lambda x: torch.remainder(x, 0.75)),
    "fmod": (VOLUME, lambda x: torch.fmod(x, 0.75)),
    "atan2": (ROWS, lambda x: torch.atan2(x, x + 2)),
    "nan_to_num": (ROWS, torch.nan_to_num),
    "softplus": (VOLUME, lambda x: F.softplus(x, 2.0)),
    "logsigmoid_far": (VOLUME, lambda x: F.logsigmoid(x * 1000)),
    "threshold": (VOLUME, lambda x: F.threshold(x, 0.125, 0.25)),
    "rsqrt": (ROWS, lambda x: torch.rsqrt(x.abs() + 1)),
    "log1p": (ROWS, lambda x: torch.log1p(x.abs())),
} | {
    name: (VOLUME, getattr(F, name))
    for name in ["celu", "elu", "gelu", "glu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "logsigmoid", "mish",
                 "relu6", "selu", "silu", "softshrink", "hardshrink", "softsign", "tanhshrink"]
}


class Functions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        draw = lambda shape: torch.nn.Parameter(torch.randn(shape, dtype=torch.double))
        self.operand = torch.nn.ParameterDict({name: draw(shape) for name, (shape, _) in FUNCTIONS.items()})
        self.weight = torch.nn.ParameterDict({name: draw(function(self.operand[name]).shape) for name, (_, function) in FUNCTIONS.items()})

    def forward(self, one):
        # `one` keeps the exporter and the compiler from computing ahead.
        terms = [(function(self.operand[name] * one) * self.weight[name]).sum() for name, (_, function) in FUNCTIONS.items()]
        return torch.stack(terms).sum()


@pytest.fixture(scope="module")
def changes(tmp_path_factory):
    """The change of each parameter, by gpuopt and by PyTorch."""
    folder = tmp_path_factory.mktemp("functions")
    module, one = Functions(), torch.ones(1, dtype=torch.double)
    gpuopt.export(module, one, folder / "model.onnx", symbolic_batch=False)
    trainer = Trainer(folder / "model.onnx", folder / "program", OPTIMIZATION_FOR_ONE_STEP, loss="none", optimizer="sgd")
    before = trainer.initial_weights()
    after = trainer.run(
        {"one": one.numpy()}, learning_rate=1, lr_scheduler_type="constant", max_grad_norm=0, max_steps=1, num_threads=2
    ).weights
    module(one).backward()
    return {name: (before[name] - after[name], parameter.grad.numpy()) for name, parameter in module.named_parameters()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(changes, name):
    for kind in ("weight", "operand"):
        ours, expected = changes[f"{kind}.{name}"]
        # The attributes of nodes are in single precision, 6e-8 off.
        np.testing.assert_allclose(ours, expected, rtol=2e-7, atol=2e-7, err_msg=kind)

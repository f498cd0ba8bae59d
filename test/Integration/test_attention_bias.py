"""Relative positions are biases of attention that are trained: their gradients are PyTorch's, on the host and by the
CUDA kernels, whose threads may run in any order."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

import gpuopt
from emulated import EmulatedTrainer, has_boost_context, has_cuda_headers, nvidia_wheels
from parity import worst_gradient
from test_emulated import assert_same_bits
from training import OPTIMIZATION_FOR_ONE_STEP, Trainer, gradients_of

HEADS, LENGTH, SIZE, WINDOWS = 2, 12, 8, 3


class Attention(nn.Module):
    """Self-attention with a table of one number for each head and distance."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(HEADS * SIZE, 3 * HEADS * SIZE)
        self.table = nn.Embedding(2 * LENGTH - 1, HEADS)
        positions = torch.arange(LENGTH)
        self.register_buffer("distance", positions[None, :] - positions[:, None] + LENGTH - 1)

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (HEADS, SIZE)).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        bias = self.table(self.distance).permute(2, 0, 1).unsqueeze(0)
        y = self.probabilities(q @ k.transpose(-2, -1), bias) @ v
        return x + y.transpose(1, 2).flatten(2)

    def probabilities(self, scores, bias):
        """As the encoder of T5 has it."""
        return (scores + bias).softmax(-1)


class CausalAttention(Attention):
    """As the decoder of T5 has it: a number hides later keys."""

    def probabilities(self, scores, bias):
        causal = torch.ones(LENGTH, LENGTH, dtype=torch.bool, device=scores.device).tril()
        return (scores + torch.where(causal, bias, torch.finfo(torch.float32).min)).softmax(-1)


class WindowAttention(Attention):
    """As Swin has it: a mask for each window, the same for all samples."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.where(torch.rand(WINDOWS, LENGTH, LENGTH) < 0.7, 0.0, -100.0))

    def probabilities(self, scores, bias):
        scores = (SIZE**-0.5 * scores + bias).view(-1, WINDOWS, HEADS, LENGTH, LENGTH)
        return (scores + self.mask[None, :, None]).view(-1, HEADS, LENGTH, LENGTH).softmax(-1)


class Weighted(nn.Module):
    """All forms one after the other, and a sum of the result with weights."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(Attention(), CausalAttention(), WindowAttention())
        self.register_buffer("weight", torch.randn(LENGTH, HEADS * SIZE))

    def forward(self, x):
        return (self.layers(x) * self.weight).sum()


is_emulated = pytest.mark.skipif(
    not has_cuda_headers() or nvidia_wheels() is None or not has_boost_context(), reason="no emulated CUDA target"
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    torch.manual_seed(0)
    module, x = Weighted(), torch.randn(2 * WINDOWS, LENGTH, HEADS * SIZE)
    path = tmp_path_factory.mktemp("bias") / "model.onnx"
    gpuopt.export(module, [x], path, input_names=["x"], symbolic_batch=False)
    return module, x, path


def calls_of(trainer: Trainer) -> int:
    """How many backwards have a gradient of the bias."""
    program = "".join((trainer.folder / name).read_text() for name in ("step.cu", "step.cpp") if (trainer.folder / name).exists())
    return program.count(".bias_gradient = ")


def check_gradients(trainer: Trainer, module: nn.Module, x: torch.Tensor) -> None:
    assert calls_of(trainer) == 3
    loss, gradients, _ = gradients_of(trainer, {"x": x.numpy()}, None)
    wide = copy.deepcopy(module).double()
    expected = wide(x.double())
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    error, parameter = worst_gradient(wide, gradients)
    assert error <= 1e-5, parameter
    for layer in wide.layers:
        assert np.abs(layer.table.weight.grad.numpy()).max() > 1e-3


def test_gradients_on_the_host(exported, tmp_path):
    module, x, path = exported
    check_gradients(Trainer(path, tmp_path, OPTIMIZATION_FOR_ONE_STEP, loss="none"), module, x)


@is_emulated
def test_gradients_by_kernels(exported, tmp_path):
    module, x, path = exported
    trainer = EmulatedTrainer(path, tmp_path, loss="none")
    check_gradients(trainer, module, x)
    one, other = (
        trainer.run_in_order(seed, {"x": x.numpy()}, None, learning_rate=1e-3, lr_scheduler_type="constant", max_steps=2)
        for seed in (1, 2)
    )
    assert_same_bits(one, other)

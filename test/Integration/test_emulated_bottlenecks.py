"""Bottlenecks on the emulated target: products with a batch norm and a ReLU behind them train as PyTorch does."""

import copy

import models
import numpy as np
import pytest
import torch

from emulated import SKIPS, Emulated
from parity import worst_gradient
from test_emulated import assert_same_bits
from training import gradients_of, train_torch

pytestmark = SKIPS


class Bottlenecks(torch.nn.Module):
    """Three bottlenecks, of which the last one halves the image. Batch norms have scales within `scales` and biases of 1.5
    to 2. Their channels are so far from zero that rounding turns no ReLU on or off, which would be another gradient; of
    those whose sums are not the end of a block, a fifth is below zero."""

    def __init__(self, scales, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.conv = torch.nn.Conv2d(1, 32, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(32)
        self.blocks = torch.nn.Sequential(
            models.Bottleneck(32, 8, 1), models.Bottleneck(32, 8, 1), models.Bottleneck(32, 16, 2))
        self.fc = torch.nn.Linear(64, 10)
        for name, module in self.named_modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                torch.nn.init.uniform_(module.weight, *scales)
                torch.nn.init.uniform_(module.bias, 1.5, 2)
                if not name.endswith(("bn3", "downsample.1")):
                    with torch.no_grad():
                        module.bias[torch.rand(len(module.bias)) < 0.2] *= -1

    def forward(self, x):
        x = self.blocks(torch.relu(self.norm(self.conv(x))))
        return self.fc(x.mean((2, 3)))


def bottlenecks(folder, monkeypatch, precision, scales, seed):
    """The model, the case with PyTorch's gradients of the first step, how far those of the program are from them, and what
    the program has made."""
    name = f"bottlenecks-{scales[0]}-{seed}"
    monkeypatch.setitem(models.MODELS, name, lambda: models.digits(Bottlenecks(scales, seed), (1, 8, 8)))
    model = Emulated(name, folder, precision=precision)
    flags = {"init_scale": 64.0} if precision == "fp16" else {}
    loss, gradients, result = gradients_of(model.trainer, model.case.inputs, model.case.labels, **flags)
    case = copy.deepcopy(model.case)
    expected = train_torch(case, 1, lambda p: torch.optim.SGD(p, lr=0.0))[0]
    assert loss == pytest.approx(expected, rel=2e-3 if precision == "fp16" else 1e-2)
    return model, case, worst_gradient(case.module, gradients), result


@pytest.mark.parametrize(("precision", "scales", "bound"), [
    pytest.param("fp16", (0.3, 0.5), 2e-2, marks=pytest.mark.full),
    # Channels that vary little about a mean that is not zero: their moments, of which the gradient of the weights is a
    # difference, must not be rounded to halves.
    ("bf16", (0.15, 0.3), 0.2),
    pytest.param("bf16", (0.3, 0.5), 1e-1, marks=pytest.mark.full),
])
def test_bottlenecks(precision, scales, bound, tmp_path, monkeypatch):
    """The last convolution of a bottleneck is one product with its batch norm, residual connection and ReLU, and the
    gradient of the ReLU is masked by the product that makes it. The product that makes the gradient of the weights adds
    up the columns of that one. Statistics and gradients are PyTorch's but for the rounding of halves."""
    model, case, (error, parameter), result = bottlenecks(tmp_path, monkeypatch, precision, scales, seed=0)
    step = (model.trainer.folder / "step.cu").read_text()
    training, evaluation = step[:step.index("evaluate(")], step[step.index("evaluate("):]
    assert training.count("gemm_relu(ctx") == 2 and training.count("gemm_relu_backward(ctx") == 2
    assert training.count("gemm_sums(ctx") == 2
    # The kernel that makes the bias of a product rounds it.
    assert "fused_cast" not in training
    assert "(ctx, kConv1x1_8to32_8x8" not in training and "(ctx, kConv1x1_8to32_8x8" in evaluation
    assert error <= bound, parameter
    # The running statistics have moved by a tenth of the way.
    for name, buffer in case.module.named_buffers():
        if "running_" in name:
            np.testing.assert_allclose(result.weights[name], buffer.numpy(), rtol=bound, atol=bound / 10, err_msg=name)

    flags = {"init_scale": 64.0} if precision == "fp16" else {}
    one, other = model.train(seed=1, **flags), model.train(seed=2, **flags)
    np.testing.assert_allclose(one.losses, model.train_torch(), rtol=bound)
    assert_same_bits(one, other)

    # A record may name the runtime's own kernel for products with a ReLU or its gradient. It adds as the stand-in for the
    # library does, in the order of k.
    record = model.trainer.folder / "build" / "autotune.txt"
    chosen = record.read_text()
    lines = [line.rsplit("\t", 1)[0] + "\tgpuopt tall 1" if " relu, " in line else line for line in chosen.splitlines()]
    assert sum(line.endswith("\tgpuopt tall 1") for line in lines) == 3
    record.write_text("\n".join(lines) + "\n")
    assert_same_bits(one, model.train(seed=1, **flags))
    record.write_text(chosen)

    # A library that adds up no operand gets help, in an order of its own.
    monkeypatch.setenv("GPUOPT_EMULATED_WITHOUT_OPERAND_SUMS", "1")
    one, other = model.train(seed=1, **flags), model.train(seed=2, **flags)
    np.testing.assert_allclose(one.losses, model.train_torch(), rtol=bound)
    assert_same_bits(one, other)

"""The convolution that reads the images trains as PyTorch's in the forms that tensor cores take."""

import copy
import re

import models
import pytest
import torch
from torch import nn

from emulated import SKIPS, Emulated
from parity import worst_gradient
from training import gradients_of, train_torch
from variants import variants

pytestmark = SKIPS

BOUNDS = {"fp16": 1e-2, "bf16": 5e-2}


class Stem(nn.Module):
    """A convolution of three channels and a linear layer."""

    def __init__(self, window: int, stride: int, padding: int):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, window, stride, padding)
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        # The mean and the deviation of the pixels: what follows from data and constants stays data.
        x = torch.tanh(self.stem((x - 0.25) * 2.0))
        return self.fc(x.flatten(2).mean(2))


@pytest.mark.parametrize("form, window, stride, padding, precision", variants(
    [(*form, precision) for form in (("patches", 4, 4, 0), ("blocks", 7, 2, 3), ("channels", 5, 1, 2)) for precision in BOUNDS],
    [("patches", 4, 4, 0, "fp16"), ("blocks", 7, 2, 3, "bf16")]))
def test_stem(form, window, stride, padding, precision, tmp_path, monkeypatch):
    bound = BOUNDS[precision]
    torch.manual_seed(0)
    # An export is kept by its name.
    name = f"stem-{form}"
    monkeypatch.setitem(models.MODELS, name, lambda: models.images(Stem(window, stride, padding), 16, 10, 8))
    model = Emulated(name, tmp_path / "model", precision=precision)
    step = (model.trainer.folder / "step.cu").read_text()
    if form == "patches":
        # 8 images of 4 x 4 windows of 3 x 4 x 4 numbers, and nothing is laid out for the gradient of the weights.
        assert "conv_" not in step and re.search(r"kGemm128x16x48\w* = ", step) and re.search(r"kGemm48x16x128\w* = ", step)
    else:
        # The pixels of a stride are channels; without one, there is a channel of zeros.
        shape = "4x4_16to16_8x8" if form == "blocks" else "5x5_4to16_16x16"
        assert f"kConv{shape} = " in step and "_3to16_" not in step
    flags = {"init_scale": 64.0} if precision == "fp16" else {}
    loss, gradients, _ = gradients_of(model.trainer, model.case.inputs, model.case.labels, **flags)
    case = copy.deepcopy(model.case)
    assert loss == pytest.approx(train_torch(case, 1, lambda p: torch.optim.SGD(p, lr=0.0))[0], rel=bound)
    assert gradients["stem.weight"].shape == (16, 3, window, window)
    error, parameter = worst_gradient(case.module, gradients)
    assert error <= bound, parameter
    one, other = model.train(seed=1, **flags), model.train(seed=2, **flags)
    assert one.losses == other.losses
    assert not [name for name in one.weights if one.weights[name].tobytes() != other.weights[name].tobytes()]

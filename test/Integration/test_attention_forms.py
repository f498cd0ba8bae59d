"""One program with several forms of attention: heads of several sizes, soft caps, more queries than keys, two masks.
Their gradients are PyTorch's in double precision, on the host and by the CUDA kernels, in each precision."""

import copy
import re

import pytest
import torch
from torch import nn

import gpuopt
from gpuopt.driver import find_driver
from emulated import SKIPS, EmulatedTrainer
from parity import worst_gradient
from test_emulated import assert_same_bits
from training import OPTIMIZATION_FOR_ONE_STEP, Trainer, execute, gradients_of
from variants import variants

LENGTH, WIDTH, SAMPLES = 12, 16, 3


class Attention(nn.Module):
    """Two heads of `size` elements; `keys` learned rows take the place of the input's own if there are any."""

    heads = 2

    def __init__(self, size: int, keys: int = 0):
        super().__init__()
        self.size = size
        self.q = nn.Linear(WIDTH, self.heads * size)
        self.kv = nn.Linear(WIDTH, 2 * self.heads * size)
        self.y = nn.Linear(self.heads * size, WIDTH)
        self.memory = nn.Parameter(torch.randn(1, keys, WIDTH)) if keys else None

    def forward(self, x):
        q = self.q(x).unflatten(-1, (self.heads, self.size)).transpose(1, 2)
        rows = x if self.memory is None else self.memory.expand(x.shape[0], -1, -1)
        k, v = (y.unflatten(-1, (self.heads, self.size)).transpose(1, 2) for y in self.kv(rows).chunk(2, -1))
        y = self.change(q @ k.transpose(-2, -1)).softmax(-1) @ v
        return x + self.y(y.transpose(1, 2).flatten(2))

    def change(self, scores):
        return self.size**-0.5 * scores


def later_keys(x):
    """The numbers that hide later keys, as models of transformers compute them."""
    places = torch.arange(LENGTH, device=x.device)
    return torch.where(places[None] > places[:, None], torch.finfo(torch.float32).min, 0.0)


class CappedAttention(Attention):
    """As Gemma 2 has it: a soft cap, and numbers that hide later keys. Scores are about as large as the cap."""

    def change(self, scores):
        return 0.5 * torch.tanh(super().change(scores) * 4 / 0.5) + later_keys(scores)


class LocalAttention(Attention):
    """As GPT-Neo has it: a window that a choice hides, and numbers that hide later keys."""

    def __init__(self, size: int):
        super().__init__(size)
        seen = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
        self.register_buffer("window", seen.tril() & seen.triu(-4))

    def change(self, scores):
        lowest = torch.tensor(torch.finfo(torch.float32).min, dtype=scores.dtype)
        return torch.where(self.window, 0.1 * scores, lowest) + later_keys(scores)


class SharedKeys(Attention):
    """Four heads share the keys of two, and each has a trained bias of distances."""

    def __init__(self, size: int):
        super().__init__(size)
        self.q, self.y = nn.Linear(WIDTH, 4 * size), nn.Linear(4 * size, WIDTH)
        self.table = nn.Parameter(torch.randn(1, 4, LENGTH, LENGTH))

    def forward(self, x):
        q = self.q(x).unflatten(-1, (4, self.size)).transpose(1, 2)
        k, v = (y.unflatten(-1, (2, self.size)).transpose(1, 2) for y in self.kv(x).chunk(2, -1))
        k, v = (y[:, :, None].expand(-1, -1, 2, -1, -1).flatten(1, 2) for y in (k, v))
        y = (self.change(q @ k.transpose(-2, -1)) + self.table).softmax(-1) @ v
        return x + self.y(y.transpose(1, 2).flatten(2))


class Weighted(nn.Module):
    """All forms one after the other, and a sum of the result with weights."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            CappedAttention(20), Attention(72, keys=7), LocalAttention(136), SharedKeys(16), Attention(256, keys=33)
        )
        self.register_buffer("weight", torch.randn(LENGTH, WIDTH) / LENGTH)

    def forward(self, x):
        return (self.layers(x) * self.weight).sum()


# What each layer becomes, in the compiled forward.
FORMS = [
    r"softcap 5.0\S+ band \[-12, 0\]", r"7x72xf32", r"scale \S+ band \[-4, 0\]",
    r"bias \S+ : tensor<1x4x12x12xf32> scale \S+ : tensor<3x4x12x16xf32>, tensor<3x2x12x16xf32>", r"33x256xf32",
]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    torch.manual_seed(0)
    module, x = Weighted(), torch.randn(SAMPLES, LENGTH, WIDTH)
    path = tmp_path_factory.mktemp("forms") / "model.onnx"
    gpuopt.export(module, [x], path, input_names=["x"], symbolic_batch=False)
    return module, x, path


def check_gradients(trainer: Trainer, module: nn.Module, x: torch.Tensor, tolerance: float, **flags: float) -> None:
    loss, gradients, _ = gradients_of(trainer, {"x": x.numpy()}, None, **flags)
    wide = copy.deepcopy(module).double()
    expected = wide(x.double())
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=tolerance, abs=tolerance)
    error, parameter = worst_gradient(wide, gradients)
    assert error <= tolerance, parameter


def test_all_forms_are_calls(exported):
    text = execute([find_driver(), "compile", exported[2], "--loss=none", "--attention=fused", "--compile-to=train"])
    step = text[text.index("train.step @micro_step") :]
    found = re.findall(r"= nn\.attention .*", step[: step.index("train.step @evaluate")])
    assert len(found) == len(FORMS) and "nn.softmax" not in text
    for form, attention in zip(FORMS, found):
        assert re.search(form, attention), attention


def test_gradients_on_the_host(exported, tmp_path):
    module, x, path = exported
    check_gradients(Trainer(path, tmp_path, OPTIMIZATION_FOR_ONE_STEP, loss="none", attention="fused"), module, x, 1e-5)


# A gradient comes through some ten tensors, each of which is rounded to 2^-11 (fp16) or 2^-8 (bf16) of its elements.
TOLERANCES = {"fp32": 1e-5, "fp16": 1e-2, "bf16": 6e-2}


@pytest.mark.parametrize("precision", variants(TOLERANCES, ["fp32", "bf16"]))
def test_gradients_by_kernels(exported, tmp_path, precision):
    for skip in SKIPS:
        if skip.args[0]:
            pytest.skip(skip.kwargs["reason"])
    module, x, path = exported
    trainer = EmulatedTrainer(path, tmp_path, loss="none", precision=precision)
    scale = {"init_scale": 64.0} if precision == "fp16" else {}  # no gradient overflows
    check_gradients(trainer, module, x, TOLERANCES[precision], **scale)
    one, other = (
        trainer.run_in_order(seed, {"x": x.numpy()}, None, learning_rate=1e-3, lr_scheduler_type="constant", max_steps=2, **scale)
        for seed in (1, 2)
    )
    assert_same_bits(one, other)

"""Attention is found in whatever way PyTorch's exporter spells it out."""

import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import models
from training import execute
from gpuopt.driver import find_driver
from variants import variants

HEADS = 2


class Sdpa(nn.Module):
    """Heads of 8, and whatever else scaled_dot_product_attention takes."""

    def __init__(self, **flags):
        super().__init__()
        self.flags = flags
        self.qkv = nn.Linear(16, 48)

    def forward(self, x, mask=None):
        q, k, v = (y.unflatten(-1, (HEADS, 8)).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **self.flags)


class Written(nn.Module):
    """Attention as teaching code has it: a mask filled in, dropout."""

    def __init__(self):
        super().__init__()
        self.qkv, self.dropout = nn.Linear(16, 48), nn.Dropout(0.1)
        self.register_buffer("seen", torch.tril(torch.ones(6, 6)))

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (HEADS, 8)).transpose(1, 2) for y in self.qkv(x).split(16, 2))
        scores = (q @ k.transpose(-2, -1)) / 8**0.5
        scores = scores.masked_fill(self.seen == 0, float("-inf"))
        return self.dropout(scores.softmax(-1)) @ v


class MultiHead(nn.Module):
    def __init__(self, need_weights: bool):
        super().__init__()
        self.attention, self.need_weights = nn.MultiheadAttention(16, HEADS, dropout=0.1, batch_first=True), need_weights

    def forward(self, x):
        return self.attention(x, x, x, need_weights=self.need_weights)[0]


X = torch.zeros(2, 6, 16)


def of(case: models.Case):
    return case.module, case.example_inputs()


# A causal mask is a band, unless the exporter has folded it into the file as a
# tensor of its own: that one counts as trained, and is a bias.
ADDED = "(?:mask %\\S+|bias %\\S+ : \\S+) "
BANDED = ADDED + "{0}{1}|%\\S+ {0} ?band \\[-[0-9]+, 0\\]{1}"

# What is exported, and what the compiler says of each attention in it.
EXPORTS = {
    "gpt2-eager": (lambda: of(models.gpt2(1, 32, 2, 64, 16, 16, 4, dropout=0.1)), BANDED.format("scale 2.5.*e-01 dropout .*", " :")),
    "gpt2-sdpa": (lambda: of(models.gpt2(1, 32, 2, 64, 16, 16, 4, attention="sdpa")), BANDED.format("scale 2.5.*e-01 of both", " {zeroes_empty}")),
    "bert-eager": (lambda: of(models.bert(1, 32, 2, 64, 16, 4, dropout=0.1)), "mask %\\S+ scale 2.5.*e-01 dropout"),
    "bert-sdpa": (lambda: of(models.bert(1, 32, 2, 64, 16, 4, attention="sdpa")), "mask %\\S+ scale 2.5.*e-01 of both {zeroes_empty}"),
    "sdpa": (lambda: (Sdpa(), (X,)), "scale .* of both :"),
    "sdpa-causal": (lambda: (Sdpa(is_causal=True, scale=0.25), (X,)), ADDED + "scale 2.5.* of both :"),
    "sdpa-boolean": (lambda: (Sdpa(), (X, torch.ones(6, 6, dtype=torch.bool))), "mask %\\S+ scale .* of both {zeroes_empty}"),
    "sdpa-added": (lambda: (Sdpa(), (X, torch.zeros(2, 1, 6, 6))), "mask %\\S+ scale .* of both :"),
    "written": (lambda: (Written(), (X,)), BANDED.format("scale .* dropout .*", " :")),
    "multi-head": (lambda: (MultiHead(False), (X,)), "scale .* of both :"),
    "multi-head-weights": (lambda: (MultiHead(True), (X,)), "scale .* of query dropout"),
    "encoder-layer": (lambda: (nn.TransformerEncoderLayer(16, HEADS, 32), (X,)), "scale .* of both :"),
}


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("optimize", variants([False, True], [True]))
def test_attention_is_recognised(tmp_path, name, optimize):
    make, expected = EXPORTS[name]
    torch.manual_seed(0)
    module, inputs = make()
    path = tmp_path / "model.onnx"
    torch.onnx.export(module.train(), inputs, path, dynamo=True, optimize=optimize, external_data=False, verbose=False)
    text = execute([find_driver(), "compile", path, "--compile-to=nn"])
    assert "nn.softmax" not in text
    found = re.findall(r"nn\.attention .*", text)
    assert len(found) == 1 and re.search(expected, found[0]), found

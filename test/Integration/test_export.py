"""What gpuopt.export writes so that a file trains as its module does."""

import re

import torch
from torch import nn

import gpuopt
from gpuopt.driver import find_driver
from training import execute


class Settled(nn.Module):
    """Parameters, one of them a single number, and what is none."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.temperature = nn.Parameter(torch.tensor(2.0))
        self.still = nn.Parameter(torch.ones(4), requires_grad=False)
        self.register_buffer("table", torch.arange(4.0))
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(self.layer(x) * self.temperature + self.still + self.table)


def compiled(path) -> str:
    return execute([find_driver(), "compile", path, "--compile-to=nn", "--batch-size=2"])


def kinds(text: str) -> dict[str, str]:
    return dict(re.findall(r"train\.variable @(\S+) +(\w+)", text))


EXPECTED = {
    "layer.weight": "parameter", "layer.bias": "parameter", "temperature": "parameter", "still": "frozen", "table": "frozen",
    "norm.weight": "parameter", "norm.bias": "parameter", "norm.running_mean": "buffer", "norm.running_var": "buffer",
}


def test_only_parameters_are_trained(tmp_path):
    gpuopt.export(Settled(), torch.zeros(2, 4), tmp_path / "model.onnx")
    assert kinds(compiled(tmp_path / "model.onnx")) == EXPECTED


def test_buffers_of_other_exports_are_not_trained(tmp_path):
    """PyTorch's exporter tells them, but not which parameters want a gradient."""
    torch.onnx.export(
        Settled(), (torch.zeros(2, 4),), tmp_path / "model.onnx", dynamo=True, optimize=False, external_data=False, verbose=False
    )
    assert kinds(compiled(tmp_path / "model.onnx")) == EXPECTED | {"still": "parameter"}

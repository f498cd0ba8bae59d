"""A model that is trained within seconds, in double precision."""

import numpy as np
import torch
from torch import nn

import gpuopt

SAMPLES, BATCH = 64, 16


class Small(nn.Module):
    """A convolution (a stack of small matrices), a normalisation (vectors), a
    wide layer (more than 4096 elements, several blocks and a part of one) and a
    scalar's worth of biases."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 8, 3, padding=1)
        self.norm = nn.LayerNorm(40)
        self.wide = nn.Linear(40, 107)
        self.out = nn.Linear(107, 2)

    def forward(self, x):
        x = torch.tanh(self.conv(x)).flatten(1)
        return self.out(torch.tanh(self.wide(self.norm(x))))


def data():
    random = np.random.default_rng(3)
    x = random.normal(size=(SAMPLES, 3, 5))
    return x, np.stack([np.sin(x.sum((1, 2))), x[:, 0, 0] * x[:, 1, 1]], 1)


def export(path):
    """Writes the model to a file; returns its module."""
    torch.manual_seed(2)
    module = Small().double().train()
    gpuopt.export(module, torch.from_numpy(data()[0][:2]), path, input_names=["x"])
    return module

"""Generative models in plain torch.nn: adversarial networks, flows, diffusion, autoencoders."""

from __future__ import annotations

from typing import Callable

import numpy as np
import torch
from models import Case
from torch import nn
from torch.nn import functional as F
from zoo_plain import mlp, normal, regression, whole


def generator() -> nn.Module:
    return nn.Sequential(
        nn.Unflatten(1, (16, 1, 1)), nn.ConvTranspose2d(16, 16, 4, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        nn.ConvTranspose2d(16, 8, 4, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.Tanh(),
    )


def discriminator() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(8, 16, 4, 2, 1), nn.InstanceNorm2d(16, affine=True), nn.LeakyReLU(0.2),
        nn.Conv2d(16, 1, 4), nn.Flatten(),
    )


class StyleBlock(nn.Module):
    """A convolution whose weights each sample's style modulates."""

    def __init__(self):
        super().__init__()
        self.weight, self.style = nn.Parameter(torch.randn(8, 4, 3, 3) * 0.1), nn.Linear(6, 4)
        self.scale = nn.Linear(6, 8)

    def forward(self, x, latent):
        style = self.style(latent) + 1
        x = F.conv2d(x * style[:, :, None, None], self.weight, padding=1)
        norm = ((self.weight[None] * style[:, None, :, None, None]) ** 2).sum((2, 3, 4)).add(1e-8).rsqrt()
        x = F.interpolate(x * norm[:, :, None, None], scale_factor=2, mode="bilinear")
        return F.leaky_relu(x + self.scale(latent)[:, :, None, None], 0.2)


class AffineFlow(nn.Module):
    """Coupling layers, with the logarithm of their volume's change."""

    def __init__(self):
        super().__init__()
        self.nets = nn.ModuleList(mlp(3, 16, 6) for _ in range(3))

    def forward(self, x):
        volume = 0
        for net in self.nets:
            a, b = x.chunk(2, 1)
            scale, shift = net(a).chunk(2, 1)
            scale = torch.tanh(scale)
            x, volume = torch.cat([b * scale.exp() + shift, a], 1), volume + scale.sum(1, keepdim=True)
        return torch.cat([x, volume], 1)


class InvertibleConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.linalg.qr(torch.randn(4, 4))[0])

    def forward(self, x):
        volume = torch.linalg.det(self.weight).abs().log() * x.shape[2] * x.shape[3]
        return F.conv2d(x, self.weight[:, :, None, None]) + volume


class PlanarFlow(nn.Module):
    def __init__(self):
        super().__init__()
        self.u, self.w, self.b = (nn.Parameter(torch.randn(4, 5)), nn.Parameter(torch.randn(4, 5)), nn.Parameter(torch.randn(4)))

    def forward(self, x):
        volume = 0
        for u, w, b in zip(self.u, self.w, self.b):
            h = torch.tanh(x @ w + b)
            volume = volume + (1 + (1 - h**2) * (u * w).sum()).abs().add(1e-6).log()
            x = x + h[:, None] * u
        return x + volume[:, None]


def waves(t: torch.Tensor, width=16) -> torch.Tensor:
    rates = torch.exp(torch.arange(width // 2) * (-np.log(1e4) / (width // 2)))
    angles = t[:, None].float() * rates
    return torch.cat([angles.sin(), angles.cos()], 1)


class DiffusionUnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 16), nn.SiLU(), nn.Linear(16, 16))
        self.head, self.down, self.middle = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, 2, 1), nn.Conv2d(16, 16, 3, padding=1)
        self.norm, self.attend = nn.GroupNorm(4, 16), nn.MultiheadAttention(16, 2, batch_first=True)
        self.up, self.tail = nn.Conv2d(24, 8, 3, padding=1), nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x, t):
        a = F.silu(self.head(x))
        b = self.down(a) + self.time(waves(t))[:, :, None, None]
        b = b + self.middle(F.silu(self.norm(b)))
        flat = b.flatten(2).transpose(1, 2)
        b = b + self.attend(flat, flat, flat, need_weights=False)[0].transpose(1, 2).reshape(b.shape)
        return self.tail(F.silu(self.up(torch.cat([a, F.interpolate(b, scale_factor=2.0)], 1))))


class DiffusionTransformer(nn.Module):
    """Layers whose norms the time scales and shifts."""

    def __init__(self, width=16):
        super().__init__()
        self.patch, self.time = nn.Conv2d(3, width, 4, 4), nn.Linear(16, 6 * width)
        self.place = nn.Parameter(torch.randn(4, width) * 0.1)
        self.attend, self.feed = nn.MultiheadAttention(width, 2, batch_first=True), mlp(width, 4 * width, width)
        self.norm, self.head = nn.LayerNorm(width, elementwise_affine=False), nn.Linear(width, 48)

    def forward(self, x, t):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.place
        a, b, c, d, e, f = self.time(F.silu(waves(t)))[:, None].chunk(6, -1)
        y = self.norm(x) * (1 + a) + b
        x = x + c * self.attend(y, y, y, need_weights=False)[0]
        x = x + f * self.feed(self.norm(x) * (1 + d) + e)
        return F.pixel_shuffle(self.head(x).transpose(1, 2).reshape(-1, 48, 2, 2), 4)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ELU(), nn.Conv2d(8, 4, 3, 2, 1)), nn.Sequential(nn.ConvTranspose2d(4, 8, 2, 2), nn.ELU(), nn.ConvTranspose2d(8, 1, 2, 2), nn.Sigmoid())

    def forward(self, x):
        return self.up(self.down(x))


class VectorQuantised(nn.Module):
    """The nearest entries of a table, whose gradient passes straight through."""

    def __init__(self):
        super().__init__()
        self.down, self.up, self.table = nn.Linear(6, 4), nn.Linear(4, 6), nn.Embedding(12, 4)

    def forward(self, x):
        z = self.down(x)
        nearest = ((z[:, None] - self.table.weight) ** 2).sum(-1).argmin(1)
        q = self.table(nearest)
        return self.up(z + (q - z).detach()) + (q - z).pow(2).sum(1, keepdim=True)


FAMILIES: dict[str, dict[str, Callable[[], Case]]] = {
    "GAN": {
        "dcgan-generator": lambda: regression(generator(), z=normal(16)),
        "dcgan-discriminator": lambda: regression(discriminator(), x=normal(3, 16, 16)),
        "style-block": lambda: regression(StyleBlock(), x=normal(4, 6, 6), latent=normal(6)),
    },
    "flow": {
        "affine-flow": lambda: regression(AffineFlow(), x=normal(6)),
        "invertible-convolution": lambda: regression(InvertibleConvolution(), x=normal(4, 5, 5)),
        "planar-flow": lambda: regression(PlanarFlow(), x=normal(5)),
    },
    "diffusion": {
        "diffusion-unet": lambda: regression(DiffusionUnet(), x=normal(3, 8, 8), t=whole(100)),
        "diffusion-transformer": lambda: regression(DiffusionTransformer(), x=normal(3, 8, 8), t=whole(100)),
    },
    "autoencoder": {
        "autoencoder": lambda: regression(Autoencoder(), x=normal(1, 8, 8)),
        "vector-quantised": lambda: regression(VectorQuantised(), x=normal(6)),
    },
}

"""Models in plain torch.nn of the families that language and image models do not have."""

from __future__ import annotations

from typing import Callable

import numpy as np
import torch
from models import Case
from torch import nn
from torch.nn import functional as F
from zoo import BATCH, CLASSES, TOKENS, VOCABULARY, images, text


def regression(module: nn.Module, batch=BATCH, loss_rate=1e-3, **inputs: np.ndarray) -> Case:
    """A case whose labels have the shape of the output."""
    arrays = {name: array for name, array in inputs.items()}
    with torch.no_grad():
        shape = module(*(torch.from_numpy(array[:2]) for array in arrays.values())).shape
    count = len(next(iter(arrays.values())))
    labels = np.random.default_rng(1).standard_normal((count, *shape[1:]), dtype=np.float32)
    return Case(module, arrays, labels, batch, loss="mse", learning_rate=loss_rate)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((4 * BATCH, *shape), dtype=np.float32)


def whole(high: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(2).integers(0, high, (4 * BATCH, *shape))


def mlp(*widths: int) -> nn.Sequential:
    layers = [layer for a, b in zip(widths, widths[1:]) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


# Recommenders.


class Dlrm(nn.Module):
    """Embeddings and dense features, whose products of pairs are features."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(20, 8) for _ in range(3))
        self.bottom, self.top = mlp(5, 16, 8), mlp(14, 16, 1)

    def forward(self, dense, kinds):
        x = self.bottom(dense)
        parts = torch.stack([x, *(table(kinds[:, i]) for i, table in enumerate(self.tables))], 1)
        pairs = parts @ parts.transpose(1, 2)
        rows, columns = torch.tril_indices(4, 4, -1).unbind()
        return self.top(torch.cat([x, pairs[:, rows, columns]], 1))


class FactorisationMachine(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.factors = nn.Embedding(50, 1), nn.Embedding(50, 8)
        self.deep = mlp(6 * 8, 16, 1)

    def forward(self, kinds):
        v = self.factors(kinds)
        crossed = 0.5 * (v.sum(1) ** 2 - (v**2).sum(1)).sum(1, keepdim=True)
        return self.linear(kinds).sum(1) + crossed + self.deep(v.flatten(1))


class Collaborative(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items, self.head = nn.Embedding(30, 8), nn.Embedding(40, 8), mlp(24, 16, 1)

    def forward(self, user, item):
        u, i = self.users(user), self.items(item)
        return self.head(torch.cat([u, i, u * i], 1))


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = mlp(6, 16, 8), mlp(7, 16, 8)

    def forward(self, a, b):
        return (F.normalize(self.a(a), dim=1) * F.normalize(self.b(b), dim=1)).sum(1, keepdim=True)


# Graphs, as adjacency matrices or as edges.


class GraphConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 16), nn.Linear(16, CLASSES)

    def forward(self, nodes, adjacency):
        a = (adjacency > 0).float() + torch.eye(adjacency.shape[-1])
        scale = a.sum(-1, keepdim=True).rsqrt()
        a = a * scale * scale.transpose(1, 2)
        return a @ self.second(torch.relu(a @ self.first(nodes)))


class GraphAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project, self.source, self.target = nn.Linear(6, 16), nn.Linear(16, 1), nn.Linear(16, 1)

    def forward(self, nodes, adjacency):
        x = self.project(nodes)
        scores = F.leaky_relu(self.source(x) + self.target(x).transpose(1, 2), 0.2)
        open_to = (adjacency > 0) | torch.eye(adjacency.shape[-1], dtype=torch.bool)
        return torch.softmax(scores.masked_fill(~open_to, -1e9), -1) @ x


class MessagePassing(nn.Module):
    """Sums messages of edges at their ends by scatter."""

    def __init__(self):
        super().__init__()
        self.message, self.update = mlp(12, 16, 8), mlp(14, 16, 4)

    def forward(self, nodes, sources, targets):
        def at(index):
            return torch.gather(nodes, 1, index[..., None].expand(-1, -1, nodes.shape[-1]))

        messages = self.message(torch.cat([at(sources), at(targets)], -1))
        zeros = messages.new_zeros(nodes.shape[0], nodes.shape[1], 8)
        summed = zeros.scatter_add(1, targets[..., None].expand(-1, -1, 8), messages)
        return self.update(torch.cat([nodes, summed], -1))


class DeepSets(nn.Module):
    def __init__(self):
        super().__init__()
        self.each, self.all = mlp(5, 16, 16), mlp(16, 16, 3)

    def forward(self, x):
        return self.all(self.each(x).amax(1))


# Time series.


class Nbeats(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(mlp(16, 32, 24) for _ in range(3))

    def forward(self, series):
        forecast = 0
        for block in self.blocks:
            back, ahead = block(series).split([16, 8], 1)
            series, forecast = series - back, forecast + ahead
        return forecast


class DLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.trend, self.season = nn.Linear(24, 8), nn.Linear(24, 8)

    def forward(self, series):
        padded = F.pad(series, (2, 2), mode="replicate")
        trend = F.avg_pool1d(padded, 5, 1)
        return self.trend(trend) + self.season(series - trend)


class TemporalConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.utils.parametrizations.weight_norm(nn.Conv1d(3 if i == 0 else 8, 8, 3, dilation=1 << i)) for i in range(3))
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(F.pad(x, (2 * layer.dilation[0], 0))))
        return self.head(x[..., -1])


class SpectralSeries(nn.Module):
    """Mixes a series in the frequencies of its Fourier transform."""

    def __init__(self, length=16, width=4):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, length // 2 + 1, 2) * 0.1)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        bins = torch.fft.rfft(x, dim=2)
        mixed = torch.fft.irfft(torch.complex(bins.real * self.weight[..., 0] - bins.imag * self.weight[..., 1],
                                              bins.real * self.weight[..., 1] + bins.imag * self.weight[..., 0]), n=x.shape[2], dim=2)
        return self.head(mixed.transpose(1, 2))


# Detection, segmentation, points, sound.


class PyramidDetector(nn.Module):
    """Boxes and classes at two scales, the coarse one added to the fine one."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 16, 3, 2, 1)
        self.side, self.top = nn.Conv2d(8, 8, 1), nn.Conv2d(16, 8, 1)
        self.boxes, self.kinds = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 6, 3, padding=1)

    def forward(self, x):
        fine = torch.relu(self.a(x))
        coarse = self.top(torch.relu(self.b(fine)))
        fine = self.side(fine) + F.interpolate(coarse, scale_factor=2.0, mode="nearest")
        parts = [torch.cat([self.boxes(level), self.kinds(level)], 1).flatten(2) for level in (fine, coarse)]
        return torch.cat(parts, 2).transpose(1, 2)


class GridDetector(nn.Module):
    """Centres and sizes relative to cells and anchors, as in YOLO."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.SiLU(), nn.Conv2d(8, 14, 3, 2, 1))
        self.register_buffer("anchors", torch.tensor([[10.0, 13.0], [30.0, 61.0]]))

    def forward(self, x):
        y = self.features(x)
        y = y.view(-1, 2, 7, y.shape[2], y.shape[3]).permute(0, 1, 3, 4, 2)
        rows, columns = torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")
        centre = (y[..., :2].sigmoid() * 2 - 0.5 + torch.stack([columns, rows], -1)) * 4
        size = (y[..., 2:4].sigmoid() * 2) ** 2 * self.anchors[:, None, None] * 0.1
        return torch.cat([centre, size, y[..., 4:]], -1).flatten(1, 3)


class SetDetector(nn.Module):
    """Queries that attend to the image, as in DETR."""

    def __init__(self, width=16):
        super().__init__()
        self.patch, self.queries = nn.Conv2d(3, width, 4, 4), nn.Parameter(torch.randn(5, width))
        self.transformer = nn.TransformerDecoder(nn.TransformerDecoderLayer(width, 2, 32, 0.0, batch_first=True), 1)
        self.head = nn.Linear(width, 9)

    def forward(self, x):
        memory = self.patch(x).flatten(2).transpose(1, 2)
        return self.head(self.transformer(self.queries.expand(x.shape[0], -1, -1), memory))


class SegmentationUnet(nn.Module):
    def __init__(self):
        super().__init__()

        def block(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU())

        self.a, self.b, self.c, self.up, self.head = block(3, 8), block(8, 16), block(24, 8), nn.ConvTranspose2d(16, 16, 2, 2), nn.Conv2d(8, 4, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.up(self.b(F.max_pool2d(a, 2)))
        return self.head(self.c(torch.cat([a, b], 1)))


class PooledSegmentation(nn.Module):
    """Dilated convolutions and pools of several sizes side by side, as in DeepLab and PSPNet."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1)
        self.dilated = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=rate, dilation=rate) for rate in (1, 2, 3))
        self.pooled, self.head = nn.Conv2d(8, 8, 1), nn.Conv2d(32, 4, 1)

    def forward(self, x):
        y = torch.relu(self.stem(x))
        size = y.shape[2:]
        parts = [torch.relu(layer(y)) for layer in self.dilated]
        parts.append(F.interpolate(self.pooled(F.adaptive_avg_pool2d(y, 2)), size=size, mode="bilinear", align_corners=False))
        return F.interpolate(self.head(torch.cat(parts, 1)), scale_factor=2.0, mode="bilinear", align_corners=False)


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.turn, self.each, self.head = mlp(3, 16, 9), nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU()), nn.Linear(16, CLASSES)

    def forward(self, points):
        turn = self.turn(points.transpose(1, 2)).amax(1).view(-1, 3, 3) + torch.eye(3)
        return self.head(self.each(turn @ points).amax(2))


class SpeechCtc(nn.Module):
    """Convolutions and a recurrent layer, as for the recognition of speech."""

    def __init__(self):
        super().__init__()
        self.front, self.cell, self.head = nn.Conv2d(1, 4, 3, 2, 1), nn.GRU(16, 12, batch_first=True, bidirectional=True), nn.Linear(24, 8)

    def forward(self, x):
        y = torch.relu(self.front(x)).permute(0, 3, 1, 2).flatten(2)
        return self.head(self.cell(y)[0])


class Vocoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.up, self.tail = nn.Conv1d(8, 16, 7, padding=3), nn.ConvTranspose1d(16, 8, 4, 2, 1), nn.Conv1d(8, 1, 7, padding=3)
        self.mix = nn.ModuleList(nn.Conv1d(8, 8, 3, padding=rate, dilation=rate) for rate in (1, 3))

    def forward(self, x):
        y = self.up(F.leaky_relu(self.head(x), 0.1))
        for layer in self.mix:
            y = y + layer(F.leaky_relu(y, 0.1))
        return torch.tanh(self.tail(y))


# Sequences and others.


class StateSpace(nn.Module):
    """A diagonal state space as one long convolution, as in S4D."""

    def __init__(self, width=8, states=4):
        super().__init__()
        self.embedding, self.head = nn.Embedding(VOCABULARY, width), nn.Linear(width, VOCABULARY)
        self.rate, self.mix = nn.Parameter(torch.rand(width, states)), nn.Parameter(torch.randn(width, states))

    def forward(self, input_ids):
        x = self.embedding(input_ids).transpose(1, 2)
        steps = torch.arange(TOKENS)
        kernel = (self.mix[..., None] * torch.exp(-self.rate.exp()[..., None] * steps)).sum(1)
        y = F.conv1d(F.pad(x, (TOKENS - 1, 0)), kernel.flip(1)[:, None], groups=x.shape[1])
        return self.head(F.gelu(y).transpose(1, 2))


class Retention(nn.Module):
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.embedding, self.project, self.head = nn.Embedding(VOCABULARY, width), nn.Linear(width, 3 * width), nn.Linear(width, VOCABULARY)
        self.heads, self.norm = heads, nn.GroupNorm(heads, width)
        self.register_buffer("rates", torch.log(1 - torch.tensor([2.0 ** (-3 - head) for head in range(heads)])))

    def forward(self, input_ids):
        x = self.embedding(input_ids)
        q, k, v = self.project(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        steps = torch.arange(TOKENS)
        apart = steps[:, None] - steps
        decay = torch.where(apart >= 0, torch.exp(self.rates[:, None, None] * apart.clamp(min=0)), 0.0)
        y = ((q @ k.transpose(-1, -2)) * decay @ v).transpose(1, 2).flatten(2)
        return self.head(self.norm(y.flatten(0, 1)).view(y.shape))


class LinearAttention(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embedding, self.project, self.head = nn.Embedding(VOCABULARY, width), nn.Linear(width, 3 * width), nn.Linear(width, VOCABULARY)

    def forward(self, input_ids):
        q, k, v = self.project(self.embedding(input_ids)).chunk(3, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        state, norm = (k[..., None] * v[..., None, :]).cumsum(1), k.cumsum(1)
        return self.head(torch.einsum("btk,btkv->btv", q, state) / (q * norm).sum(-1, keepdim=True))


class SoftExperts(nn.Module):
    def __init__(self, width=16, experts=4):
        super().__init__()
        self.embedding, self.gate, self.head = nn.Embedding(VOCABULARY, width), nn.Linear(width, experts), nn.Linear(width, VOCABULARY)
        self.experts = nn.ModuleList(mlp(width, 32, width) for _ in range(experts))

    def forward(self, input_ids):
        x = self.embedding(input_ids)
        best, places = self.gate(x).topk(2, -1)
        weights = torch.zeros_like(self.gate(x)).scatter(-1, places, best.softmax(-1))
        return self.head(sum(weights[..., i, None] * expert(x) for i, expert in enumerate(self.experts)))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.tokens, self.channels = nn.Conv2d(3, 16, 8, 8), mlp(16, 32, 16), mlp(16, 32, 16)
        self.a, self.b, self.head = nn.LayerNorm(16), nn.LayerNorm(16), nn.Linear(16, CLASSES)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = x + self.tokens(self.a(x).transpose(1, 2)).transpose(1, 2)
        return self.head((x + self.channels(self.b(x))).mean(1))


class Periodic(nn.Module):
    """A field of sines, as of coordinates."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, 32), nn.Linear(32, 32), nn.Linear(32, 3)

    def forward(self, x):
        return self.c(torch.sin(self.b(torch.sin(30 * self.a(x)))))


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.where, self.head = mlp(3 * 16 * 16, 16, 6), nn.Linear(3 * 16 * 16, CLASSES)

    def forward(self, x):
        theta = self.where(x.flatten(1)).view(-1, 2, 3) * 0.1 + torch.tensor([[1.0, 0, 0], [0, 1, 0]])
        grid = F.affine_grid(theta, [x.shape[0], 3, 16, 16], align_corners=False)
        return self.head(F.grid_sample(x, grid, align_corners=False).flatten(1))


def edges() -> dict[str, np.ndarray]:
    return {"nodes": normal(7, 6), "sources": whole(7, 10), "targets": np.flip(whole(7, 10), 1).copy()}


FAMILIES: dict[str, dict[str, Callable[[], Case]]] = {
    "recommender": {
        "dlrm": lambda: regression(Dlrm(), dense=normal(5), kinds=whole(20, 3)),
        "deepfm": lambda: regression(FactorisationMachine(), kinds=whole(50, 6)),
        "collaborative-filter": lambda: regression(Collaborative(), user=whole(30), item=whole(30)),
        "two-towers": lambda: regression(TwoTowers(), a=normal(6), b=normal(7)),
    },
    "graph": {
        "graph-convolution": lambda: regression(GraphConvolution(), nodes=normal(7, 6), adjacency=normal(7, 7)),
        "graph-attention": lambda: regression(GraphAttention(), nodes=normal(7, 6), adjacency=normal(7, 7)),
        "message-passing": lambda: regression(MessagePassing(), **edges()),
        "deep-sets": lambda: regression(DeepSets(), x=normal(6, 5)),
        "pointnet": lambda: regression(PointNet(), points=normal(3, 12)),
    },
    "time series": {
        "nbeats": lambda: regression(Nbeats(), series=normal(16)),
        "dlinear": lambda: regression(DLinear(), series=normal(3, 24)),
        "temporal-convolution": lambda: regression(TemporalConvolution(), x=normal(3, 20)),
        "spectral-series": lambda: regression(SpectralSeries(), x=normal(4, 16)),
    },
    "detection": {
        "pyramid-detector": lambda: regression(PyramidDetector(), x=normal(3, 16, 16)),
        "grid-detector": lambda: regression(GridDetector(), x=normal(3, 16, 16)),
        "set-detector": lambda: regression(SetDetector(), x=normal(3, 16, 16)),
    },
    "segmentation": {
        "segmentation-unet": lambda: regression(SegmentationUnet(), x=normal(3, 8, 8)),
        "pooled-segmentation": lambda: regression(PooledSegmentation(), x=normal(3, 16, 16)),
    },
    "audio": {
        "speech-ctc": lambda: regression(SpeechCtc(), x=normal(1, 8, 16)),
        "vocoder": lambda: regression(Vocoder(), x=normal(8, 12)),
    },
    "sequence": {
        "state-space": lambda: text(StateSpace()),
        "retention": lambda: text(Retention()),
        "linear-attention": lambda: text(LinearAttention()),
        "soft-experts": lambda: text(SoftExperts()),
    },
    "image": {
        "mixer": lambda: images(Mixer()),
        "spatial-transformer": lambda: images(SpatialTransformer(), (3, 16, 16)),
        "periodic": lambda: regression(Periodic(), x=normal(2)),
    },
}

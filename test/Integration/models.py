"""The models that the integration tests and the benchmarks train.

Each entry of MODELS makes a `Case`: a PyTorch module whose forward takes
tensors and gives logits, and data to train it on. The convolutional networks
are written in plain torch.nn under torchvision's parameter names.
"""

from __future__ import annotations

import dataclasses
from typing import Callable

import numpy as np
import torch
from torch import nn


@dataclasses.dataclass
class Case:
    """A module, its inputs by name (the first dimension is the batch) and its
    labels, with room for several batches of `batch` samples."""

    module: nn.Module
    inputs: dict[str, np.ndarray]
    labels: np.ndarray
    batch: int
    loss: str = "cross_entropy"
    convolutional: bool = False
    learning_rate: float = 1e-3

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        """Two samples, since the exporter specialises a batch of one."""
        return tuple(torch.from_numpy(array[:2].copy()) for array in self.inputs.values())

    def loss_of(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """The loss as gpuopt's flag of the same name defines it; classes are
        the last dimension of logits, or the second of images."""
        if self.loss == "mse":
            return nn.functional.mse_loss(logits, labels)
        if logits.dim() == 4:
            return nn.functional.cross_entropy(logits, labels)
        return nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


# Transformers.


class Logits(nn.Module):
    """A transformers model with tensors in and logits out."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model


class CausalLogits(Logits):
    def forward(self, input_ids):
        return self.model(input_ids, use_cache=False).logits


class MaskedLogits(Logits):
    def forward(self, input_ids, attention_mask):
        return self.model(input_ids, attention_mask=attention_mask).logits


class Columns(torch.nn.Module):
    """A linear layer whose weight lies as [inputs, outputs], unlike torch.nn.Linear's."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.weight = torch.nn.Parameter(0.02 * torch.randn(inputs, outputs))

    def forward(self, x):
        return x @ self.weight


class LinearWithoutBias(torch.nn.Linear):
    def __init__(self, inputs: int, outputs: int):
        super().__init__(inputs, outputs, bias=False)


def gpt2(layers: int, width: int, heads: int, vocabulary: int, tokens: int, length: int, batch: int, dropout=0.0, attention="eager", tied=True, head=Columns) -> Case:
    """Not tied, the weight of the head lies as [width, vocabulary], or as `head` has it."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=vocabulary, n_positions=tokens, n_embd=width, n_layer=layers, n_head=heads,
        resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout, attn_implementation=attention,
        bos_token_id=0, eos_token_id=0, tie_word_embeddings=tied,
    )
    text = np.random.default_rng(0).integers(0, vocabulary, (4 * batch, length + 1))
    model = GPT2LMHeadModel(config)
    if not tied:
        model.lm_head = head(width, vocabulary)
    return Case(CausalLogits(model), {"input_ids": text[:, :-1].copy()}, text[:, 1:].copy(), batch)


def bert(layers: int, width: int, heads: int, vocabulary: int, tokens: int, batch: int, dropout=0.0, attention="eager") -> Case:
    """A masked language model; samples are padded to different lengths, and
    one label in six counts."""
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=vocabulary, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=4 * width, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout,
        attn_implementation=attention,
    )
    random = np.random.default_rng(0)
    ids = random.integers(1, vocabulary, (4 * batch, tokens))  # PyTorch gives 0, the padding, no gradient
    lengths = random.integers(tokens // 2, tokens + 1, 4 * batch)
    mask = (np.arange(tokens) < lengths[:, None]).astype(np.int64)
    counted = (random.random(ids.shape) < 1 / 6) & (mask == 1)
    labels = np.where(counted, random.integers(0, vocabulary, ids.shape), -100)
    return Case(MaskedLogits(BertForMaskedLM(config)), {"input_ids": ids, "attention_mask": mask}, labels, batch)


# Convolutional networks.


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, channels_in: int, width: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = downsample(channels_in, width, stride)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, channels_in: int, width: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU()
        self.downsample = downsample(channels_in, 4 * width, stride)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


def downsample(channels_in: int, channels_out: int, stride: int) -> nn.Module | None:
    if stride == 1 and channels_in == channels_out:
        return None
    return nn.Sequential(nn.Conv2d(channels_in, channels_out, 1, stride, bias=False), nn.BatchNorm2d(channels_out))


class ResNet(nn.Module):
    def __init__(self, block: type, depths: list[int], classes: int, width: int = 64):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        channels = width
        for stage, depth in enumerate(depths):
            blocks = []
            for i in range(depth):
                blocks.append(block(channels, width << stage, 2 if stage and i == 0 else 1))
                channels = (width << stage) * block.expansion
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def double_conv(channels_in: int, channels_out: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for channels in (channels_in, channels_out):
        layers += [nn.Conv2d(channels, channels_out, 3, padding=1, bias=False), nn.BatchNorm2d(channels_out), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """Ronneberger et al. 2015, with padding, batch normalisation and
    transposed convolutions on the way up."""

    def __init__(self, channels: int, classes: int, width: int, depth: int):
        super().__init__()
        widths = [width << level for level in range(depth + 1)]
        self.inc = double_conv(channels, width)
        self.pool = nn.MaxPool2d(2)
        self.down = nn.ModuleList(double_conv(a, b) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.merge = nn.ModuleList(double_conv(2 * a, a) for a in widths[:-1])
        self.outc = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        levels = [self.inc(x)]
        for down in self.down:
            levels.append(down(self.pool(levels[-1])))
        x = levels.pop()
        for up, merge in zip(reversed(self.up), reversed(self.merge)):
            x = merge(torch.cat([levels.pop(), up(x)], 1))
        return self.outc(x)


def images(module: nn.Module, size: int, classes: int, batch: int, dense=False) -> Case:
    """Noisy images of as many patterns as there are classes; with `dense` every
    pixel has a random label. Repeated or repeating images, or longer steps,
    make training through batch normalisation chaotic: PyTorch in single and in
    double precision then differ by percents after 20 steps."""
    random = np.random.default_rng(0)
    samples = (20 if size <= 64 else 4) * batch
    labels = random.integers(0, classes, samples)
    patterns = random.standard_normal((classes, 3, size, size), dtype=np.float32) if size <= 64 else np.zeros((classes, 1, 1, 1), np.float32)
    pixels = patterns[labels] + 2 * random.standard_normal((samples, 3, size, size), dtype=np.float32)
    if dense:
        labels = random.integers(0, classes, (samples, size, size))
    return Case(module, {"x": pixels}, labels, batch, convolutional=True, learning_rate=1e-4)


# scikit-learn's digits: 1797 images of 8x8.


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 128)
        self.fc2 = nn.Linear(128, 64)
        self.fc3 = nn.Linear(64, 10)

    def forward(self, x):
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc = nn.Linear(128, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = nn.functional.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc(torch.flatten(x, 1))


class NormedCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = double_conv(1, 8)
        self.fc = nn.Linear(8 * 8 * 8, 10)

    def forward(self, x):
        return self.fc(torch.flatten(self.convs(x), 1))


def digits(module: nn.Module, shape: tuple[int, ...]) -> Case:
    from sklearn.datasets import load_digits

    data = load_digits()
    pixels = (data.images / 16).astype(np.float32).reshape(-1, *shape)
    return Case(module, {"x": pixels}, data.target.astype(np.int64), 32, convolutional=len(shape) == 3)


def in_double(case: Case) -> Case:
    """The same case in double precision, for models that amplify rounding: with
    random weights and batch normalisation over few pixels, PyTorch's gradients
    of ResNet-50 in fp32 are off by 1e-3 of their norm to 7e-2."""
    inputs = {name: array.astype(np.float64) for name, array in case.inputs.items()}
    return dataclasses.replace(case, module=case.module.double(), inputs=inputs)


# The tiny ones are for the emulated target, which runs each thread of each kernel in turn.
MODELS: dict[str, Callable[[], Case]] = {
    "mlp": lambda: digits(Mlp(), (64,)),
    "cnn": lambda: digits(Cnn(), (1, 8, 8)),
    "cnn-norms": lambda: digits(NormedCnn(), (1, 8, 8)),
    "gpt2-small": lambda: gpt2(4, 128, 4, 256, 128, 128, 4),
    "gpt2-small-dropout": lambda: gpt2(4, 128, 4, 256, 128, 128, 4, dropout=0.1),
    "gpt2-small-sdpa": lambda: gpt2(2, 64, 4, 256, 128, 64, 4, attention="sdpa"),
    "gpt2-tiny": lambda: gpt2(2, 32, 2, 64, 16, 16, 2),
    "gpt2-long": lambda: gpt2(1, 32, 2, 64, 192, 192, 1),
    "gpt2-tiny-dropout": lambda: gpt2(2, 32, 2, 64, 16, 16, 2, dropout=0.1),
    "gpt2-words": lambda: gpt2(1, 16, 1, 1543, 8, 8, 2),
    "gpt2-vocabulary": lambda: gpt2(1, 16, 1, 8209, 8, 8, 2),
    "gpt2-odd": lambda: gpt2(2, 32, 2, 509, 16, 16, 2),
    "gpt2-odd-untied": lambda: gpt2(2, 32, 2, 509, 16, 16, 2, tied=False),
    "gpt2-odd-linear": lambda: gpt2(2, 32, 2, 509, 16, 16, 2, tied=False, head=LinearWithoutBias),
    "gpt2-bench": lambda: gpt2(4, 128, 4, 256, 64, 64, 8),
    "gpt2": lambda: gpt2(12, 768, 12, 50257, 1024, 64, 4),
    "gpt2-two-layers": lambda: gpt2(2, 768, 12, 50257, 1024, 1024, 1),
    "bert-tiny": lambda: bert(2, 32, 2, 64, 16, 2),
    "bert-small": lambda: bert(2, 128, 2, 1024, 64, 4),
    "bert-small-dropout": lambda: bert(2, 128, 2, 1024, 64, 4, dropout=0.1),
    "bert-small-sdpa": lambda: bert(2, 64, 2, 1024, 64, 4, attention="sdpa"),
    "bert": lambda: bert(12, 768, 12, 30522, 128, 4),
    "resnet18-tiny": lambda: images(ResNet(BasicBlock, [2, 2, 2, 2], 10, width=4), 32, 10, 4),
    "resnet18-small": lambda: images(ResNet(BasicBlock, [2, 2, 2, 2], 10, width=16), 32, 10, 8),
    "resnet18": lambda: images(ResNet(BasicBlock, [2, 2, 2, 2], 1000), 64, 1000, 4),
    "resnet50-small": lambda: images(ResNet(Bottleneck, [3, 4, 6, 3], 10, width=16), 32, 10, 8),
    "resnet50-small-double": lambda: in_double(MODELS["resnet50-small"]()),
    "resnet50": lambda: images(ResNet(Bottleneck, [3, 4, 6, 3], 1000), 224, 1000, 8),
    "unet-tiny": lambda: images(UNet(3, 2, 4, 2), 16, 2, 2, dense=True),
    "unet-small": lambda: images(UNet(3, 2, 8, 2), 32, 2, 4, dense=True),
    "unet": lambda: images(UNet(3, 2, 64, 4), 64, 2, 2, dense=True),
}


def make(name: str) -> Case:
    """The case `name`, the same weights every time, in training mode."""
    torch.manual_seed(1)
    case = MODELS[name]()
    case.module.train()
    return case

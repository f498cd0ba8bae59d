"""The models of the tests, as PyTorch modules with fixed weights."""
import numpy as np
import torch
from torch import nn


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(64, 48), nn.Linear(48, 32), nn.Linear(32, 10)

    def forward(self, x):
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.pool, self.fc = nn.MaxPool2d(2), nn.Linear(16 * 2 * 2, 10)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return self.fc(torch.flatten(x, 1))


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        skip = x if self.downsample is None else self.downsample(x)
        x = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(x)) + skip)


class ResNet18(nn.Module):
    """With torchvision's parameter names."""

    def __init__(self, channels=3, classes=10, width=64):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        for i in range(4):
            inputs, outputs = width * 2 ** max(i - 1, 0), width * 2**i
            setattr(self, f"layer{i + 1}", nn.Sequential(
                BasicBlock(inputs, outputs, 1 if i == 0 else 2), BasicBlock(outputs, outputs)))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(width * 8, classes)

    def forward(self, x):
        x = self.maxpool(torch.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class Gpt(nn.Module):
    """Hugging Face's GPT-2, token ids in, logits out."""

    def __init__(self, layers=2, width=64, tokens=32, vocabulary=256):
        super().__init__()
        from transformers import GPT2Config, GPT2LMHeadModel

        self.model = GPT2LMHeadModel(GPT2Config(
            vocab_size=vocabulary, n_positions=tokens, n_embd=width, n_layer=layers, n_head=4, resid_pdrop=0.0,
            embd_pdrop=0.0, attn_pdrop=0.0, attn_implementation="eager", bos_token_id=None, eos_token_id=None))

    def forward(self, input_ids):
        return self.model(input_ids, use_cache=False).logits


def digits():
    """scikit-learn's digits: [samples, 64] in [0, 1], labels."""
    from sklearn.datasets import load_digits

    data = load_digits()
    return (data.data / 16).astype(np.float32), data.target.astype(np.int64)

"""Frozen weights of a training in half precision, which have no masters: on a GPU, where the rows of an odd vocabulary have
spare ones behind them."""

import json
import re

import numpy as np
import torch
from torch import nn

import gpuopt
from gpuopt import safetensors
from emulated import EmulatedTrainer

WORDS, WIDTH, LENGTH, BATCH = 509, 32, 8, 4


class Tied(nn.Module):
    """A trained layer between a frozen embedding and a head with the same weights; an odd number of words."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.frozen, self.trained = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, ids):
        return self.trained(torch.relu(self.frozen(self.embedding(ids)))) @ self.embedding.weight.T


def train_torch(module: nn.Module, ids: np.ndarray, labels: np.ndarray, steps: int, rate: float) -> list[float]:
    """The losses of plain SGD with frozen weights that bf16 has."""
    for weight in (module.embedding.weight, module.frozen.weight):
        weight.requires_grad_(False).copy_(weight.bfloat16().float())
    optimizer = torch.optim.SGD(module.trained.parameters(), rate)
    losses = []
    for step in range(steps):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        loss = nn.functional.cross_entropy(module(torch.tensor(ids[rows])).flatten(0, 1), torch.tensor(labels[rows]).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_trains_and_saves_all_bits(tmp_path):
    torch.manual_seed(0)
    module = Tied()
    original = {name: tensor.numpy().copy() for name, tensor in module.state_dict().items()}
    gpuopt.export(module, torch.zeros(BATCH, LENGTH, dtype=torch.int64), tmp_path / "model.onnx")
    # On which half precision pays whatever the size.
    device = tmp_path / "slow.json"
    device.write_text(json.dumps({"base": "h200", "name": "slow products", "f32ProductsPerSecond": 1e8, "bf16ProductsPerSecond": 1e9}))
    flags = dict(optimizer="sgd", frozen_params="embedding|frozen", precision="bf16", device=device, batch_size=BATCH)
    trainer = EmulatedTrainer(tmp_path / "model.onnx", tmp_path / "program", **flags)
    tables = (tmp_path / "program/tables.h").read_text()
    for weight, shape in (("embedding.weight", f"{WORDS}, {WIDTH}"), ("frozen.weight", f"{WIDTH}, {WIDTH}")):
        assert re.search(rf'"{weight}", Type::BF16, 2, {{{shape}}}[^{{]*StateKind::Frozen', tables)
        assert f"{weight}.half" not in tables

    assert re.search(rf"bf16\[{WORDS},{WIDTH}\] and 3 spare rows", (tmp_path / "program/memory.h").read_text())

    rng = np.random.default_rng(0)
    ids, labels = (rng.integers(0, WORDS, (4 * BATCH, LENGTH)) for _ in range(2))
    run = dict(learning_rate=0.05, lr_scheduler_type="constant", max_grad_norm=0, max_steps=4, save_steps=2)
    result = trainer.run({"ids": ids}, labels, **run)
    np.testing.assert_allclose(result.losses, train_torch(module, ids, labels, 4, 0.05), rtol=1e-3)
    folder = tmp_path / f"program/run{trainer.runs}"
    for name in ("embedding.weight", "frozen.weight", "frozen.bias"):
        for file in ("model.safetensors", "checkpoint-2/model.safetensors"):
            saved = safetensors.read(folder / file)[name]
            assert saved.dtype == np.float32 and saved.tobytes() == original[name].tobytes(), (name, file)
    resumed = trainer.run({"ids": ids}, labels, **run, resume=folder / "checkpoint-2")
    assert resumed.losses == result.losses[2:]

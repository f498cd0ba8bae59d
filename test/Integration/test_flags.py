"""Flags together, against torch.optim and the schedules of transformers.

All is in double precision, so that what differs is meaning and not rounding.
"""

import copy
import dataclasses
import math
import re
from typing import Callable

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from transformers import get_scheduler

import gpuopt
from training import Trainer

SAMPLES, BATCH, STEPS = 40, 8, 7


class Tied(nn.Module):
    """A language model whose head is its embedding."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 5)
        self.middle = nn.Linear(5, 5)
        self.head = nn.Linear(5, 9, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, x):
        return self.head(torch.tanh(self.middle(self.embedding(x))))


class Normalized(nn.Module):
    """Batch normalisation that keeps to its running statistics."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.fc = nn.Linear(64, 3)
        for tensor in (self.norm.weight.data, self.norm.running_mean, self.norm.running_var):
            tensor.uniform_(0.5, 2)

    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self

    def forward(self, x):
        return self.fc(torch.relu(self.norm(self.conv(x))).flatten(1))


@dataclasses.dataclass
class Program:
    """What is trained, and the flags that it is compiled with; the optimizer's
    arguments are torch's names for those that runs do not change."""

    make: Callable[[], nn.Module]
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    make_data: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
    flags: dict
    arguments: dict = dataclasses.field(default_factory=dict)


def smoothed(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten().long(), ignore_index=2, label_smoothing=0.1)


PROGRAMS = {
    # An alias of the tied parameter: the exporter keeps the other name.
    "tied": Program(
        Tied, smoothed, lambda random: (random.integers(0, 9, (SAMPLES, 3)), random.integers(0, 9, (SAMPLES, 3))),
        dict(ignore_index=2, label_smoothing=0.1, gradient_accumulation_steps=3, no_decay="head"),
    ),
    "frozen": Program(
        Normalized, F.l1_loss, lambda random: (random.normal(size=(SAMPLES, 2, 4, 4)), random.normal(size=(SAMPLES, 3))),
        dict(loss="l1", optimizer="sgd", momentum=0.75, nesterov=True, gradient_accumulation_steps=2, batch_norm="frozen",
             frozen_params="^conv", no_decay="norm|bias"),
        dict(momentum=0.75, nesterov=True),
    ),
    "soft": Program(
        lambda: nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4)), F.binary_cross_entropy_with_logits,
        lambda random: (random.normal(size=(SAMPLES, 6)), random.random((SAMPLES, 4))),
        dict(loss="bce_with_logits", optimizer="sgd", frozen_params="2.bias"),
    ),
}

# Flags of runs; `labels` is the type of the labels.
RUNS = {
    "tied": [
        dict(learning_rate=0.05, weight_decay=0.3, warmup_steps=3),
        dict(learning_rate=0.05, lr_scheduler_type="cosine", warmup_ratio=0.3, max_grad_norm=0.05, labels=np.int8),
        dict(learning_rate=0.05, lr_scheduler_type="constant", max_grad_norm=0, adam_epsilon=0, labels=np.uint32),
        dict(learning_rate=0.05, lr_scheduler_type="constant_with_warmup", warmup_ratio=0.01, adam_beta1=0.0, adam_beta2=0.5),
    ],
    "frozen": [
        dict(learning_rate=0.1, weight_decay=0.2),
        dict(learning_rate=0.1, weight_decay=0.2, momentum=0.25, max_grad_norm=0, lr_scheduler_type="cosine", warmup_steps=9),
    ],
    "soft": [
        dict(learning_rate=0.5, weight_decay=0.2, lr_scheduler_type="cosine"),
        dict(learning_rate=0.5, max_grad_norm=0.05, labels=bool),
    ],
}


def make_optimizer(program: Program, module: nn.Module, run: dict) -> torch.optim.Optimizer:
    """With a group for what does not decay: a parameter by any of its names."""
    groups: dict[bool, list] = {True: [], False: []}
    names: dict[nn.Parameter, list[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names.setdefault(parameter, []).append(name)

    def matches(flag, parameter):
        return flag in program.flags and any(re.search(program.flags[flag], name) for name in names[parameter])

    for parameter in names:
        parameter.requires_grad_(not matches("frozen_params", parameter))
        if parameter.requires_grad:
            groups[not matches("no_decay", parameter)].append(parameter)
    decay = run.get("weight_decay", 0.0)
    parameters = [dict(params=groups[decays], weight_decay=decay * decays) for decays in groups if groups[decays]]
    if program.flags.get("optimizer") == "sgd":
        arguments = {**program.arguments, **{key: run[key] for key in ("momentum",) if key in run}}
        return torch.optim.SGD(parameters, lr=run["learning_rate"], **arguments)
    return torch.optim.AdamW(
        parameters, lr=run["learning_rate"], betas=(run.get("adam_beta1", 0.9), run.get("adam_beta2", 0.999)),
        eps=run.get("adam_epsilon", 1e-8),
    )


def train_torch(program: Program, module: nn.Module, x: np.ndarray, y: np.ndarray, run: dict) -> list[tuple[float, float, float]]:
    """Loss, learning rate and norm of the gradient for each step."""
    optimizer = make_optimizer(program, module, run)
    warmup = run.get("warmup_steps", 0) or math.ceil(run.get("warmup_ratio", 0) * STEPS)
    scheduler = get_scheduler(run.get("lr_scheduler_type", "linear"), optimizer, num_warmup_steps=warmup, num_training_steps=STEPS)
    micro_steps, batch, steps = program.flags.get("gradient_accumulation_steps", 1), 0, []
    for _ in range(STEPS):
        optimizer.zero_grad()
        rows = [slice((batch + i) * BATCH % SAMPLES, (batch + i) * BATCH % SAMPLES + BATCH) for i in range(micro_steps)]
        batch += micro_steps
        # The mean is over all valid targets of the step.
        counts = [int((y[part] != program.flags.get("ignore_index", -100)).sum()) for part in rows]
        total = 0.0
        for part, count in zip(rows, counts):
            loss = program.loss(module(torch.from_numpy(x[part])), torch.from_numpy(y[part])) * (count / sum(counts))
            loss.backward()
            total += loss.item()
        trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
        norm = torch.nn.utils.clip_grad_norm_(trained, run.get("max_grad_norm", 1.0) or math.inf)
        steps.append((total, optimizer.param_groups[0]["lr"], norm.item()))
        optimizer.step()
        scheduler.step()
    return steps


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Builds each program once."""
    built = {}

    def make(name: str):
        if name not in built:
            torch.manual_seed(1)
            program, folder = PROGRAMS[name], tmp_path_factory.mktemp(name)
            module = program.make().double().train()
            x, y = program.make_data(np.random.default_rng(0))
            gpuopt.export(module, torch.from_numpy(x[:2]), folder / "model.onnx", input_names=["x"])
            trainer = Trainer(folder / "model.onnx", folder / "program", optimization="-O0", batch_size=BATCH, **program.flags)
            built[name] = module, x, y, trainer
        return built[name]

    return make


@pytest.mark.parametrize("name, index", [
    pytest.param(name, index, marks=pytest.mark.xdist_group(f"flags-{name}"))
    for name, runs in RUNS.items() for index in range(len(runs))
])
def test_flags_mean_what_torchs_do(build, name, index):
    program, run = PROGRAMS[name], dict(RUNS[name][index])
    module, x, y, trainer = build(name)
    kind = run.pop("labels", y.dtype)
    labels = y > 0.5 if kind == bool else y.astype(kind)
    result = trainer.run({"x": x}, labels, max_steps=STEPS, **run)
    trained = copy.deepcopy(module)
    expected = train_torch(program, trained, x, labels.astype(y.dtype), run)
    found = [(record["loss"], record["learning_rate"], record["grad_norm"]) for record in result.metrics]
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    before, after = module.state_dict(), trained.state_dict()
    assert set(result.weights) == {key for key in after if "num_batches" not in key}
    for key, value in result.weights.items():
        if torch.equal(before[key], after[key]):  # frozen
            np.testing.assert_array_equal(value, before[key].numpy(), err_msg=key)
        else:
            np.testing.assert_allclose(value, after[key].numpy(), rtol=1e-7, atol=1e-9, err_msg=key)


@pytest.mark.xdist_group("flags-frozen")
def test_accumulated_gradients_are_dumped(build, tmp_path):
    """Those of the mean loss, before clipping; none of what is frozen."""
    module, x, y, trainer = build("frozen")
    file = tmp_path / "gradients"
    result = trainer.run({"x": x}, y, max_steps=1, dump_gradients=file, max_grad_norm=0.01)
    gradients = gpuopt.safetensors.read(file)
    assert set(gradients) == {f"{name}.grad" for name in ("norm.weight", "norm.bias", "fc.weight", "fc.bias")}
    norm = math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients.values()))
    assert norm == pytest.approx(result.metrics[0]["grad_norm"], rel=1e-12)

"""Every optimizer against its reference, over 200 steps in double precision.

What torch or transformers has is the reference; Lion is its authors' published
code, and the quantised moments are written out here from their description.
"""

import json
import math
import re
from unittest import mock

import numpy as np
import pytest
import torch
from torch import nn
from transformers.optimization import Adafactor

import gpuopt
from gpuopt.driver import find_driver
from exports import export_case
from small_model import BATCH, SAMPLES, Small, data
from training import Trainer, execute
from variants import variants

STEPS = 200


class Lion(torch.optim.Optimizer):
    """As https://github.com/google/automl/blob/master/lion/lion_pytorch.py has
    it (Apache 2.0)."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                exp_avg = state["exp_avg"]
                beta1, beta2 = group["betas"]
                update = exp_avg * beta1 + p.grad * (1 - beta1)
                p.add_(update.sign_(), alpha=-group["lr"])
                exp_avg.mul_(beta2).add_(p.grad, alpha=1 - beta2)


def dynamic_map(signed: bool) -> torch.Tensor:
    """The 256 values of 8 bits: bitsandbytes' create_dynamic_map."""
    values = [0.0, 1.0]
    for exponent in range(7):
        bounds = np.linspace(0.1, 1, 2 ** (exponent + (not signed)) + 1)
        means = (bounds[:-1] + bounds[1:]) / 2 * 10.0 ** (exponent - 6)
        values += [*means, *(-means if signed else ())]
    assert len(values) == 256
    return torch.tensor(sorted(values), dtype=torch.float32).double()


def quantized(x: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """What is left of `x` by blocks of 256: the nearest of `values`, times the
    block's largest absolute value."""
    flat = torch.cat([x.flatten(), x.new_zeros(-x.numel() % 256)]).reshape(-1, 256)
    scale = flat.abs().amax(dim=1, keepdim=True)
    nearest = (flat / scale.clamp_min(1e-300)).unsqueeze(-1).sub(values).abs().argmin(-1)
    return (values[nearest] * scale).flatten()[: x.numel()].reshape(x.shape)


class AdamW8bit(torch.optim.Optimizer):
    """AdamW whose moments of 4096 elements or more are quantised after each
    step."""

    def __init__(self, params, lr, weight_decay, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, betas=betas, eps=eps))
        self.maps = dynamic_map(True), dynamic_map(False)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state.update(step=0, m=torch.zeros_like(p), v=torch.zeros_like(p))
                state["step"] += 1
                m, v = state["m"].lerp(p.grad, 1 - beta1), state["v"] * beta2 + (1 - beta2) * p.grad**2
                first, second = 1 - beta1 ** state["step"], 1 - beta2 ** state["step"]
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_(group["lr"] / first * m / (v.sqrt() / math.sqrt(second) + group["eps"]))
                if p.numel() >= 4096:
                    m, v = quantized(m, self.maps[0]), quantized(v, self.maps[1])
                state["m"], state["v"] = m, v


class MuonWithAdamW(torch.optim.Optimizer):
    """torch.optim.Muon for matrices and AdamW for the rest, among which are
    `tables`. Muon rounds the direction to bfloat16 before it multiplies; here it
    stays in its type."""

    def __init__(self, params, lr, weight_decay, muon_lr, betas=(0.9, 0.999), tables=(), **flags):
        matrices, rest, params = [], [], list(params)
        super().__init__(params, {})
        for p in params:
            (matrices if p.ndim == 2 and not any(p is table for table in tables) else rest).append(p)
        self.parts = [
            torch.optim.Muon(matrices, lr=muon_lr, weight_decay=weight_decay, **flags),
            torch.optim.AdamW(rest, lr=lr, weight_decay=weight_decay, betas=betas),
        ]

        self.param_groups = [group for part in self.parts for group in part.param_groups]

    def step(self, closure=None):
        # A copy, as rounding makes one: what follows changes it in place.
        with mock.patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
            for part in self.parts:
                part.step()


# By name: the optimizer's flags at compile time, those of a run, the reference,
# and the largest relative difference of a loss. A double that is rounded
# elsewhere may have another code: one of 8 bits.
FACTOR = dict(scale_parameter=False, relative_step=False)
CASES = {
    "adamw": (dict(), dict(weight_decay=0.1, adam_beta2=0.99), lambda p: torch.optim.AdamW(p, lr=1e-2, weight_decay=0.1, betas=(0.9, 0.99)), 1e-9),
    "adam": (dict(), dict(weight_decay=0.1), lambda p: torch.optim.Adam(p, lr=1e-2, weight_decay=0.1), 1e-9),
    "sgd": (
        dict(momentum=0.9, nesterov=True), dict(weight_decay=0.1),
        lambda p: torch.optim.SGD(p, lr=1e-2, weight_decay=0.1, momentum=0.9, nesterov=True), 1e-9,
    ),
    "lion": (
        dict(), dict(weight_decay=0.1, lion_beta1=0.8, lion_beta2=0.95),
        lambda p: Lion(p, lr=1e-2, weight_decay=0.1, betas=(0.8, 0.95)), 1e-9,
    ),
    "muon": (
        dict(), dict(weight_decay=0.1, adam_beta2=0.99, muon_momentum=0.9),
        lambda p: MuonWithAdamW(p, lr=1e-2, muon_lr=1e-2, weight_decay=0.1, betas=(0.9, 0.99), momentum=0.9), 1e-8,
    ),
    "muon-rms": (
        dict(), dict(weight_decay=0.1, muon_learning_rate=3e-3, muon_adjust_lr="match_rms_adamw", no_muon_nesterov=True),
        lambda p: MuonWithAdamW(p, lr=1e-2, muon_lr=3e-3, weight_decay=0.1, nesterov=False, adjust_lr_fn="match_rms_adamw"), 1e-8,
    ),
    "adamw_8bit": (dict(), dict(weight_decay=0.1), lambda p: AdamW8bit(p, lr=1e-2, weight_decay=0.1), 1e-3),
    "adafactor": (
        dict(), dict(weight_decay=0.1, adafactor_clip_threshold=0.5, adafactor_decay_rate=-0.7),
        lambda p: Adafactor(p, lr=1e-2, weight_decay=0.1, clip_threshold=0.5, decay_rate=-0.7, **FACTOR), 1e-8,
    ),
    "adafactor-relative": (
        dict(adafactor_beta1=0.9), dict(adafactor_relative_step=True, adafactor_scale_parameter=True, adafactor_epsilon2=1e-2),
        lambda p: Adafactor(p, beta1=0.9, eps=(1e-30, 1e-2)), 1e-8,
    ),
    "adafactor-warmup": (
        dict(), dict(adafactor_relative_step=True, adafactor_warmup_init=True, adafactor_epsilon1=1e-12),
        lambda p: Adafactor(p, warmup_init=True, scale_parameter=False, eps=(1e-12, 1e-3)), 1e-8,
    ),
}


def train_reference(module, make_optimizer, x, y):
    optimizer = make_optimizer(module.parameters())
    losses = []
    for step in range(STEPS):
        rows = slice(step * BATCH % SAMPLES, step * BATCH % SAMPLES + BATCH)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(module(torch.from_numpy(x[rows])), torch.from_numpy(y[rows]))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def build(path, folder, name, **flags):
    return Trainer(path, folder, optimization="-O0", batch_size=BATCH, loss="mse", optimizer=name.split("-")[0], **flags)


@pytest.mark.parametrize("name", variants(CASES, [name for name in CASES if "-" not in name] + ["muon-rms", "adafactor-relative"]))
def test_two_hundred_steps(small_model, name, tmp_path):
    module, path = small_model
    compiled, run, make_optimizer, tolerance = CASES[name]
    x, y = data()
    trainer = build(path, tmp_path / "program", name, **compiled)
    rate_flags = {} if "adafactor_relative_step" in run else dict(learning_rate=1e-2)
    result = trainer.run({"x": x}, y, max_steps=STEPS, lr_scheduler_type="constant", max_grad_norm=0, **rate_flags, **run)
    reference = Small().double().train()
    reference.load_state_dict(module.state_dict())
    expected = train_reference(reference, make_optimizer, x, y)
    assert expected[-1] < 0.9 * expected[0] or "warmup" in name  # it learns: 1e-6 a step is little
    np.testing.assert_allclose(result.losses, expected, rtol=tolerance)
    rate = run.get("muon_learning_rate", 1e-2) if name.startswith("muon") else None
    assert {record.get("muon_learning_rate") for record in result.metrics} == {rate}
    # What adafactor makes of 1e-2 by itself.
    rates = {"adafactor-relative": [min(1e-2, (i + 1) ** -0.5) for i in range(STEPS)], "adafactor-warmup": [1e-6 * (i + 1) for i in range(STEPS)]}
    np.testing.assert_allclose([record["learning_rate"] for record in result.metrics], rates.get(name, [1e-2] * STEPS), rtol=1e-8)
    for key, value in reference.state_dict().items():
        np.testing.assert_allclose(result.weights[key], value.numpy(), rtol=0, atol=20 * tolerance, err_msg=key)


def test_every_optimizer_has_a_reference():
    text = execute([find_driver(), "compile", "--help"])
    names = re.search(r"--optimizer=.*? (\w+(?:, \w+)* or \w+) \(default", text).group(1)
    assert set(re.split(r", | or ", names)) == {name.split("-")[0] for name in CASES}


def test_the_plan_tells_what_each_costs(small_model):
    """What a plan says of all optimizers is what it has for the chosen one."""
    def memory(name):
        command = [find_driver(), "plan", small_model[1], "--batch-size=16", "--loss=mse", "--target=host", "--device=host", "--json", f"--optimizer={name}"]
        return json.loads(execute(command))["memory"]

    elements, quantized = sum(p.numel() for p in small_model[0].parameters()), small_model[0].wide.weight.numel()
    told = memory("adamw")["optimizers"]
    for name, size in told.items():
        assert memory(name)["persistent"].get("optimizer state", 0) == size, name
    assert told["adamw"] == told["adam"] == 2 * told["lion"] == 16 * elements
    assert told["sgd"] == 0
    assert told["adamw_8bit"] == 16 * (elements - quantized) + 2 * quantized + 16 * math.ceil(quantized / 256)
    assert told["adafactor"] < told["lion"] / 4
    matrices = sum(p.numel() for p in small_model[0].parameters() if p.ndim == 2)
    assert told["muon"] == 16 * elements - 8 * matrices


class Two(nn.Module):
    """A matrix of 4096 elements, which adamw_8bit quantises, and a small one."""

    def __init__(self):
        super().__init__()
        self.wide, self.out = nn.Linear(16, 256), nn.Linear(256, 4)

    def forward(self, x):
        return self.out(torch.tanh(self.wide(x)))


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    torch.manual_seed(5)
    module, path = Two().train(), tmp_path_factory.mktemp("two") / "model.onnx"
    x = np.random.default_rng(5).normal(size=(BATCH, 16)).astype(np.float32)
    gpuopt.export(module, torch.from_numpy(x[:2]), path, input_names=["x"])
    return module, path, x


HALF_CASES = {
    "lion": (1e-3, lambda p: Lion(p, lr=1e-3)),
    "adafactor": (2e-3, lambda p: Adafactor(p, lr=2e-3, clip_threshold=1.0, decay_rate=-0.8, **FACTOR)),
    "adamw_8bit": (1e-2, lambda p: AdamW8bit(p, lr=1e-2, weight_decay=0)),
}


@pytest.mark.parametrize("name, precision", variants(
    [(name, precision) for name in HALF_CASES for precision in ("fp16", "bf16")], [("lion", "bf16"), ("adafactor", "fp16"), ("adamw_8bit", "fp16")]))
def test_half_copies_follow_their_parameters(two, name, precision, tmp_path):
    """Products read the copies: had an update not written them, or written them
    elsewhere, the loss would not fall as it does in double precision."""
    module, path, x = two
    rate, make_optimizer = HALF_CASES[name]
    trainer = Trainer(path, tmp_path / "program", optimization="-O0", batch_size=BATCH, loss="mse", optimizer=name, device="h200",
                      precision=precision, precision_override=f"Gemm|MatMul={precision}")
    memory = (trainer.folder / "memory.h").read_text()
    for parameter in ("wide.weight", "out.weight"):
        assert re.search(rf'// {"f16" if precision == "fp16" else "bf16"}\[.*"{parameter}.half"', memory), parameter
    y = np.sin(x[:, :4]) * x[:, 4:8]
    scale = dict(init_scale=256) if precision == "fp16" else {}
    result = trainer.run({"x": x}, y, max_steps=20, learning_rate=rate, lr_scheduler_type="constant", max_grad_norm=0, **scale)
    reference = Two().double().train()
    reference.load_state_dict(module.state_dict())
    expected = train_reference(reference, make_optimizer, np.tile(x, (SAMPLES // BATCH, 1)).astype(np.float64), np.tile(y, (SAMPLES // BATCH, 1)).astype(np.float64))[:20]
    assert expected[-1] < 0.5 * expected[0]
    np.testing.assert_allclose(result.losses, expected, rtol=0.05)


# Muon in whole programs: its update is not one call, but ops of the step.


class Words(nn.Module):
    """An embedding, which AdamW updates, and a tall and a wide matrix."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(24, 32)
        self.tall = nn.Linear(32, 64)
        self.wide = nn.Linear(64, 8)

    def forward(self, ids):
        return self.wide(torch.tanh(self.tall(self.embedding(ids).mean(1))))


WORDS_STEPS = 20


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """The model in both precisions, with two batches per step: all samples."""
    torch.manual_seed(4)
    random = np.random.default_rng(4)
    ids, labels = random.integers(0, 24, (BATCH, 6)), random.integers(0, 8, BATCH)
    module, folder = Words().train(), tmp_path_factory.mktemp("words")
    gpuopt.export(module, torch.from_numpy(ids[:2]), folder / "model.onnx", input_names=["ids"])

    def build(name, **flags):
        return Trainer(folder / "model.onnx", folder / name, optimization="-O0", batch_size=BATCH // 2,
                       gradient_accumulation_steps=2, optimizer="muon", device="h200", **flags)

    half = dict(precision="fp16", precision_override="Gemm|MatMul|orthogonal=fp16")
    return module, ids, labels, {"fp32": build("fp32"), "fp16": build("fp16", **half)}


def train_words(words, precision, **flags):
    _, ids, labels, trainers = words
    return trainers[precision].run({"ids": ids}, labels, max_steps=WORDS_STEPS, learning_rate=1e-2, muon_learning_rate=2e-2,
                                   lr_scheduler_type="constant", weight_decay=0.1, max_grad_norm=0.5, **flags)


def test_muon_accumulates_and_clips(words):
    module, ids, labels, _ = words
    reference = Words().train()
    reference.load_state_dict(module.state_dict())
    optimizer = MuonWithAdamW(reference.parameters(), lr=1e-2, muon_lr=2e-2, weight_decay=0.1, tables=[reference.embedding.weight])
    expected = []
    for _ in range(WORDS_STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(reference(torch.from_numpy(ids)), torch.from_numpy(labels))
        loss.backward()
        norm = nn.utils.clip_grad_norm_(reference.parameters(), 0.5)
        expected.append((loss.item(), norm.item()))
        optimizer.step()
    result = train_words(words, "fp32")
    assert expected[0][1] > 0.5  # it clips
    np.testing.assert_allclose([(r["loss"], r["grad_norm"]) for r in result.metrics], expected, rtol=1e-4)
    for key, value in reference.state_dict().items():
        np.testing.assert_allclose(result.weights[key], value.numpy(), rtol=0, atol=1e-4, err_msg=key)


def test_muon_in_half_precision(words):
    """The products of the update are in f16 as well, and the parameters have
    half copies. Steps that overflow leave weights and momentum alone: training
    goes on from there as from the beginning."""
    full, half = train_words(words, "fp32"), train_words(words, "fp16", init_scale=1024)
    assert "orthogonal" in (words[3]["fp16"].folder / "step.cu").read_text()
    assert re.search(r"kWideWeightOrthogonal\w*{\d+}; +// f16", (words[3]["fp16"].folder / "memory.h").read_text())
    assert half.metrics[-1]["skipped_steps"] == 0 and half.losses != full.losses
    np.testing.assert_allclose(half.losses, full.losses, rtol=0.02)

    overflowing = train_words(words, "fp16", init_scale=2.0**30)
    skipped = overflowing.metrics[-1]["skipped_steps"]
    assert 3 < skipped < WORDS_STEPS - 5
    assert set(overflowing.losses[: skipped + 1]) == {half.losses[0]}
    np.testing.assert_allclose(overflowing.losses[skipped:], half.losses[: WORDS_STEPS - skipped], rtol=1e-2)


@pytest.mark.full
def test_muon_within_a_budget(tmp_path):
    """What the forward reads can run again, although products follow the first
    update; the bits stay the same."""
    case = export_case("gpt2-tiny", tmp_path / "model.onnx")
    flags = dict(optimization="-O0", batch_size=case.batch, optimizer="muon")
    plain = Trainer(tmp_path / "model.onnx", tmp_path / "plain", **flags)
    plan = plain.plan()
    budget = plan["persistent_bytes"] + plan["arena_bytes"] * 8 // 10
    tight = Trainer(tmp_path / "model.onnx", tmp_path / "tight", memory_budget=f"{budget}B", **flags)
    assert tight.plan()["total_bytes"] <= budget
    assert " again: " in (tight.folder / "step.cu").read_text()
    expected, result = [t.run(case.inputs, case.labels, max_steps=3, learning_rate=1e-2) for t in (plain, tight)]
    assert result.losses == expected.losses and len(set(result.losses)) == 3
    for key, value in expected.weights.items():
        assert np.array_equal(result.weights[key], value), key

"""The schedules of the learning rate beside those of transformers."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import get_scheduler

from training import execute

ROOT = Path(__file__).resolve().parents[2]
STEPS, RATE = 10_000, 3e-4


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    program = tmp_path_factory.mktemp("schedules") / "schedule_trace"
    execute([
        os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-ffp-contract=off", "-fopenmp",
        f"-I{ROOT / 'lib/Runtime'}", Path(__file__).with_name("schedule_trace.cpp"), "-o", program,
    ])

    def run(mode, losses="", **flags):
        arguments = [f"{name.replace('_', '-')}={value}" for name, value in flags.items()]
        output = subprocess.run([program, mode, *arguments], input=losses, capture_output=True, text=True, check=True).stdout
        return np.array([float(line) for line in output.splitlines()])

    return run


def optimizer():
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)


# The schedule, our flags and transformers' arguments.
CASES = [
    ("linear", {}, {}),
    ("cosine", {}, {}),
    ("cosine", dict(lr_num_cycles=2.25), dict(num_cycles=2.25)),
    ("cosine_with_restarts", {}, {}),
    ("cosine_with_restarts", dict(lr_num_cycles=7), dict(num_cycles=7)),
    ("cosine_with_min_lr", dict(min_lr=1e-5), dict(min_lr=1e-5)),
    ("cosine_with_min_lr", dict(min_lr_rate=0.2, lr_num_cycles=1.5), dict(min_lr_rate=0.2, num_cycles=1.5)),
    ("polynomial", {}, {}),
    ("polynomial", dict(lr_end=1e-5, lr_power=2.5), dict(lr_end=1e-5, power=2.5)),
    ("constant", {}, {}),
    ("constant_with_warmup", {}, {}),
    ("inverse_sqrt", {}, {}),
    ("inverse_sqrt", dict(lr_timescale=300), dict(timescale=300)),
    ("warmup_stable_decay", dict(lr_decay_steps=2000), dict(num_decay_steps=2000)),
    ("warmup_stable_decay", dict(lr_decay_steps=3000, lr_warmup_type="cosine", lr_decay_type="1-sqrt", min_lr_rate=0.1),
     dict(num_decay_steps=3000, warmup_type="cosine", decay_type="1-sqrt", min_lr_ratio=0.1)),
    ("warmup_stable_decay", dict(lr_decay_steps=100, lr_warmup_type="1-sqrt", lr_decay_type="linear"),
     dict(num_decay_steps=100, warmup_type="1-sqrt", decay_type="linear")),
]


@pytest.mark.parametrize("warmup", [0, 137])
@pytest.mark.parametrize("name, flags, arguments", CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_is_that_of_transformers(trace, name, flags, arguments, warmup):
    ours = trace("steps", lr_scheduler_type=name, max_steps=STEPS, warmup_steps=warmup, learning_rate=RATE, **flags)
    schedule = get_scheduler(name, optimizer(), num_warmup_steps=warmup, num_training_steps=STEPS, scheduler_specific_kwargs=arguments)
    theirs = []
    for _ in range(STEPS):
        theirs.append(schedule.get_last_lr()[0])
        schedule.optimizer.step()
        schedule.step()
    # The same formulas in double; the compiler's cosine may differ in its last bit.
    np.testing.assert_allclose(ours * RATE, theirs, rtol=1e-13, atol=1e-18)
    assert len(set(theirs)) > 1 or name == "constant" or (name == "constant_with_warmup" and warmup == 0)


@pytest.mark.parametrize("flags, arguments", [
    ({}, {}),
    (dict(lr_factor=0.5, lr_patience=2, lr_cooldown=3, lr_threshold=0.01, min_lr=2e-5),
     dict(factor=0.5, patience=2, cooldown=3, threshold=0.01, min_lr=2e-5)),
    (dict(lr_factor=0.9, lr_patience=0), dict(factor=0.9, patience=0))])
def test_plateaus_are_those_of_torch(trace, flags, arguments):
    draw = np.random.default_rng(1)
    losses = 1 + np.exp(-np.arange(STEPS) / 50) + 0.02 * draw.normal(size=STEPS)
    ours = trace("losses", "\n".join(map(repr, map(float, losses))), lr_scheduler_type="reduce_lr_on_plateau",
                 learning_rate=RATE, **flags)
    schedule = get_scheduler("reduce_lr_on_plateau", optimizer(), scheduler_specific_kwargs=arguments)
    theirs = []
    for loss in losses:
        schedule.step(loss)
        theirs.append(schedule.optimizer.param_groups[0]["lr"])
    assert len(set(theirs)) > 3
    np.testing.assert_allclose(ours * RATE, theirs, rtol=1e-12)

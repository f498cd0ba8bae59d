"""--param-group: parameters with hyperparameters of their own, against PyTorch's
param_groups."""

import re
from unittest import mock

import numpy as np
import pytest
import torch
from torch import nn
from transformers.optimization import Adafactor

import gpuopt
from small_model import BATCH, SAMPLES, Small, data
from test_optimizers import FACTOR
from training import LIBRARY_FOR_ONE_STEP, CommandFailed, Trainer
from variants import variants

STEPS = 30
# 'conv.weight' matches both: the first group counts.
FIRST, SECOND = r"^(conv|norm)\.", r"weight$"
RUN = dict(max_steps=STEPS, learning_rate=1e-2, weight_decay=0.1, lr_scheduler_type="linear", warmup_steps=5, max_grad_norm=1)
# By the optimizer: its flags at compile time, what each group sets beside the
# weight decay and the learning rate, and the reference.
CASES = {
    "adamw": (dict(no_decay="bias"), ",adam_beta2=0.9", dict(betas=(0.9, 0.9)), torch.optim.AdamW),
    "sgd": (dict(momentum=0.9), ",momentum=0.5", dict(momentum=0.5), lambda p: torch.optim.SGD(p, momentum=0.9)),
    "adafactor": (dict(), ",adafactor_clip_threshold=0.5", dict(clip_threshold=0.5), lambda p: Adafactor(p, **FACTOR)),
    "muon": (dict(), "", dict(), None),
}
RATES = {FIRST: (3e-3, 0.0), SECOND: (2e-2, 0.3)}


def flags_of(rates, extra):
    return [f"{expression}:lr={rate},weight_decay={decay}{extra if expression == FIRST else ''}"
            for expression, (rate, decay) in rates.items()]


def groups_of(module, rates, extra, no_decay=None):
    """The groups of PyTorch, one for each parameter."""
    groups = []
    for name, parameter in module.named_parameters():
        expression = next((each for each in rates if re.search(each, name)), None)
        rate, decay = rates.get(expression, (RUN["learning_rate"], RUN["weight_decay"]))
        if no_decay and re.search(no_decay, name):
            decay = 0
        groups.append(dict(params=[parameter], lr=rate, weight_decay=decay, **(extra if expression == FIRST else {})))
    return groups


class Muons:
    """torch.optim.Muon for the groups of matrices and AdamW for the rest. Muon
    rounds the direction to bfloat16 before it multiplies; here it stays in its
    type."""

    def __init__(self, groups):
        matrices = [group for group in groups if group["params"][0].ndim == 2]
        rest = [group for group in groups if group["params"][0].ndim != 2]
        self.parts = [torch.optim.Muon(matrices), torch.optim.AdamW(rest)]
        self.param_groups = [group for part in self.parts for group in part.param_groups]

    def step(self):
        with mock.patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
            for part in self.parts:
                part.step()


def train_reference(module, optimizer):
    """The losses under a linear schedule with warm-up, clipped over all groups."""
    x, y = data()
    first = [group["lr"] for group in optimizer.param_groups]
    losses = []
    for step in range(STEPS):
        factor = step / 5 if step < 5 else (STEPS - step) / (STEPS - 5)
        for group, rate in zip(optimizer.param_groups, first):
            group["lr"] = rate * factor
        rows = slice(step * BATCH % SAMPLES, step * BATCH % SAMPLES + BATCH)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad = None
        loss = nn.functional.mse_loss(module(torch.from_numpy(x[rows])), torch.from_numpy(y[rows]))
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1)
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.fixture(scope="module")
def adamw(small_model, tmp_path_factory):
    return build(small_model, tmp_path_factory.mktemp("adamw"), "adamw")


def build(small_model, folder, name):
    flags, extra, _, _ = CASES[name]
    return Trainer(small_model[1], folder / "program", optimization="-O0", batch_size=BATCH, loss="mse", optimizer=name,
                   param_group=flags_of(RATES, extra), **flags)


def check(result, small_model, name, rates):
    flags, _, extra, make = CASES[name]
    reference = Small().double().train()
    reference.load_state_dict(small_model[0].state_dict())
    groups = groups_of(reference, rates, extra, flags.get("no_decay"))
    optimizer = Muons(groups) if name == "muon" else make(groups)
    np.testing.assert_allclose(result.losses, train_reference(reference, optimizer), rtol=1e-8)
    for key, value in reference.state_dict().items():
        np.testing.assert_allclose(result.weights[key], value.numpy(), rtol=0, atol=1e-8, err_msg=key)


@pytest.mark.parametrize("name", variants(["sgd", "adafactor", "muon"], ["adafactor", "muon"]))
def test_groups_of_pytorch(small_model, tmp_path, name):
    x, y = data()
    check(build(small_model, tmp_path, name).run({"x": x}, y, **RUN), small_model, name, RATES)


def test_a_run_may_have_other_numbers(small_model, adamw):
    x, y = data()
    check(adamw.run({"x": x}, y, **RUN), small_model, "adamw", RATES)
    other = {FIRST: RATES[FIRST], SECOND: (5e-3, 0.0)}
    check(adamw.run({"x": x}, y, **RUN, param_group=flags_of(other, "")[1:]), small_model, "adamw", other)


def test_what_is_refused_at_run_time(adamw):
    x, y = data()

    def refusal(group):
        with pytest.raises(CommandFailed) as error:
            adamw.run({"x": x}, y, **RUN, param_group=group)
        return error.value.output

    assert "names 'wide', but the groups of this program are those that it was compiled with: " in refusal("wide:lr=1")
    assert "cannot set 'momentum'; of adamw it can set lr, weight_decay, adam_beta1" in refusal(f"{SECOND}:momentum=0.5")
    assert "needs 'adam_beta1' to be at least 0 and below 1, but has 1" in refusal(f"{SECOND}:adam_beta1=1")


def test_resumes(adamw):
    x, y = data()
    whole = adamw.run({"x": x}, y, **RUN, save_steps=10)
    folder = adamw.folder / f"run{adamw.runs}"
    again = adamw.run_files(folder.with_name("again"), data={"x": adamw.folder / f"data{adamw.runs}" / "x.npy"},
                            labels=adamw.folder / f"data{adamw.runs}" / "labels.npy", **RUN, resume=folder / "checkpoint-10")
    for key, value in whole.weights.items():
        np.testing.assert_array_equal(again.weights[key], value)


def test_a_loop_of_ones_own_scales_all_rates(small_model, adamw):
    """Groups keep their ratio to the learning rate that the caller sets."""
    x, y = data()
    program = gpuopt.load(adamw.folder, cmake_options=LIBRARY_FOR_ONE_STEP, learning_rate=1e-2, weight_decay=0.1,
                          lr_scheduler_type="constant", max_grad_norm=0)
    assert not any("param_groups" in state.names for state in program.states)
    program.set_learning_rate(5e-3)
    program.step(x=x[:BATCH], labels=y[:BATCH])
    reference = Small().double().train()
    reference.load_state_dict(small_model[0].state_dict())
    optimizer = torch.optim.AdamW(groups_of(reference, RATES, dict(betas=(0.9, 0.9)), "bias"))
    for group in optimizer.param_groups:
        group["lr"] /= 2
    nn.functional.mse_loss(reference(torch.from_numpy(x[:BATCH])), torch.from_numpy(y[:BATCH])).backward()
    optimizer.step()
    trained = program.state_dict()
    for key, value in reference.state_dict().items():
        np.testing.assert_allclose(trained[key], value.numpy(), rtol=0, atol=1e-10, err_msg=key)

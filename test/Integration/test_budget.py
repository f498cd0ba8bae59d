"""Under every memory budget that can be met: the same numbers in less memory."""

import functools
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from gpuopt.driver import find_driver
from exports import export_case
import training
from training import Trainer

QUICK = ["gpt2-small-dropout", "unet-small"]
FULL = ["mlp", "bert-small-dropout", "resnet18-small", "gpt2", "bert", "resnet50-small"]
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


class Budgeted:
    """A model, its program without a budget, and the smallest budget."""

    def __init__(self, name: str, count: int, folder):
        self.count = count
        self.folder = folder
        self.model = folder / "model.onnx"
        self.case = export_case(name, self.model)
        self.plain = Trainer(self.model, folder / "plain", batch_size=self.case.batch)
        self.expected = self.train(self.plain)
        self.plain_bytes = self.plain.plan()["total_bytes"]

    def train(self, trainer: Trainer):
        return trainer.run(self.case.inputs, self.case.labels, max_steps=5, learning_rate=1e-3)

    def compile(self, budget: int, folder) -> subprocess.CompletedProcess:
        return subprocess.run(
            [find_driver(), "compile", self.model, "-o", folder, "--target=host", f"--batch-size={self.case.batch}",
             "--device=h200", f"--memory-budget={budget}B"],
            stderr=subprocess.PIPE, text=True, check=False,
        )

    @functools.cached_property
    def smallest(self) -> int:
        run = self.compile(1, self.folder / "impossible")
        assert run.returncode == 2, run.stderr
        assert not (self.folder / "impossible").exists()
        number, unit = re.search(r"(?:the smallest budget that can be met is|a budget of) ([\d.]+) (\w+)", run.stderr).groups()
        return int(float(number) * UNITS[unit])

    def budgets(self) -> list[int]:
        smallest = self.smallest
        steps = self.count - 1
        return [smallest + (self.plain_bytes - smallest) * i // steps for i in range(self.count)]


def cases(default: str):
    """Yields the models, and how many budgets each is given."""
    for name in QUICK:
        yield pytest.param((name, 2), marks=() if name == default else pytest.mark.full, id=name)
    for name in QUICK + FULL:
        yield pytest.param((name, 20), marks=pytest.mark.full, id=f"{name}-20")


@pytest.fixture(scope="module")
def budgeted(request, tmp_path_factory):
    name, count = request.param
    return Budgeted(name, count, tmp_path_factory.mktemp(name))


@pytest.mark.parametrize("budgeted", list(cases("gpt2-small-dropout")), indirect=True, scope="module")
def test_same_bits_within_every_budget(budgeted):
    last_percent = float("inf")
    *tight, whole = budgeted.budgets()
    for budget in tight:
        trainer = Trainer(
            budgeted.model, budgeted.folder / str(budget), batch_size=budgeted.case.batch, device="h200",
            memory_budget=f"{budget}B",
        )
        plan = trainer.plan()
        assert plan["total_bytes"] <= budget
        schedule = plan.get("schedules", {}).get("micro_step", {"added_percent": 0.0, "lower_bound_percent": 0.0})
        assert schedule["lower_bound_percent"] <= schedule["added_percent"] <= last_percent, budget
        last_percent = schedule["added_percent"]
        result = budgeted.train(trainer)
        assert {record["allocated_bytes"] for record in result.metrics} == {plan["total_bytes"]}
        assert result.losses == budgeted.expected.losses, budget
        for name, array in budgeted.expected.weights.items():
            np.testing.assert_array_equal(array, result.weights[name], err_msg=f"{name} within {budget} bytes")
        shutil.rmtree(budgeted.folder / str(budget))  # gigabytes, of large models
    # Within all that it takes without a budget, it costs no time; its steps are not run again.
    assert budgeted.compile(whole, budgeted.folder / "whole").returncode == 0
    plan = json.loads((budgeted.folder / "whole/plan.json").read_text())
    assert plan["total_bytes"] <= whole
    assert plan.get("schedules", {}).get("micro_step", {"added_percent": 0.0})["added_percent"] == 0


def test_kept_concatenations_are_not_copied(tmp_path):
    """A U-Net at 0.36 of its arena: a concatenation whose parts are still there
    is had again for nothing, not by another one of twice the size."""
    model = tmp_path / "model.onnx"
    case = export_case("unet-small", model)
    command = [find_driver(), "plan", model, "--target=host", f"--batch-size={case.batch}", "--device=h200", "--json"]
    plain = json.loads(subprocess.check_output(command))["memory"]["arena_bytes"]
    run = subprocess.run([*command, f"--activation-budget={int(plain * 0.36)}B"], capture_output=True, check=False)
    assert run.returncode == 0, run.stderr


# Products are slow and the link is fast, so that tensors are rather offloaded than computed again.
SLOW_PRODUCTS = {"base": "host", "name": "slow products", "overlapsTransfers": True, "hostLinkBytesPerSecond": 50e9,
                 "f32ProductsPerSecond": 1e11, "bytesPerSecond": 1e11, "secondsPerLaunch": 1e-6}


def decisions(budgeted, device, budget, *flags):
    report = subprocess.run(
        [find_driver(), "plan", budgeted.model, "--target=host", f"--batch-size={budgeted.case.batch}",
         f"--device={device}", f"--memory-budget={budget}B", "--json", *flags],
        stdout=subprocess.PIPE, text=True, check=True,
    )
    return json.loads(report.stdout)


@pytest.mark.parametrize("budgeted", list(cases("unet-small")), indirect=True, scope="module")
def test_same_bits_with_tensors_on_the_host(budgeted, tmp_path):
    device = tmp_path / "slow.json"
    device.write_text(json.dumps(SLOW_PRODUCTS))
    smallest = budgeted.smallest
    for share in (0.15, 0.6) if training.FULL else [0.15]:
        budget = int(smallest + share * (budgeted.plain_bytes - smallest))
        trainer = Trainer(
            budgeted.model, tmp_path / str(budget), batch_size=budgeted.case.batch, device=device,
            memory_budget=f"{budget}B", allow_offload=True,
        )
        plan = trainer.plan()
        assert plan["total_bytes"] <= budget
        assert plan["host_bytes"] > 0
        report = decisions(budgeted, device, budget, "--allow-offload")
        assert report["memory"]["host_bytes"] == plan["host_bytes"]
        assert any(tensor["decision"] == "offloaded" for tensor in report["tensors"])
        # Offloading beats computing again alone, and no plan beats its bound.
        alone = decisions(budgeted, device, budget)["memory"]
        assert report["memory"]["lower_bound_percent"] <= report["memory"]["added_percent"] < alone["added_percent"]
        result = budgeted.train(trainer)
        assert {record["allocated_bytes"] for record in result.metrics} == {plan["total_bytes"]}
        assert result.losses == budgeted.expected.losses, budget
        for name, array in budgeted.expected.weights.items():
            np.testing.assert_array_equal(array, result.weights[name], err_msg=f"{name} within {budget} bytes")

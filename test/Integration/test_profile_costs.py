"""A trainer measures its ops, and the compiler plans with what it measured."""

import json
import subprocess

import numpy as np
import pytest

from gpuopt.driver import arguments, find_driver
from exports import export_case
from training import Trainer

pytestmark = pytest.mark.alone
STEPS = 24  # 4 to warm up, 20 timed


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A GPT with dropout, its trainer, and the file of its costs."""
    folder = tmp_path_factory.mktemp("costs")
    model = folder / "model.onnx"
    case = export_case("gpt2-small-dropout", model)
    trainer = Trainer(model, folder / "program", batch_size=case.batch)
    costs = folder / "costs.json"
    result = trainer.run(
        case.inputs, case.labels, max_steps=STEPS, num_threads=1, profile_costs_to=costs, profile_warmup=4, profile_active=STEPS - 4,
    )
    return case, model, trainer, costs, result


def plan(model, case, **flags):
    command = [find_driver(), "plan", model, "--target=host", f"--batch-size={case.batch}", "--json", *arguments(flags)]
    return json.loads(subprocess.check_output(command))


def test_estimate_is_what_was_measured(measured):
    """The estimate is the sum of the ops' medians, the file's time of a step the
    median of their sums. On a busy machine most calls run undisturbed, but
    hardly a step does: the sums are up to several times as long, never shorter
    by much."""
    case, model, _, costs, _ = measured
    report = plan(model, case, profile_costs=costs)["costs"]
    assert report["measured_ops"] == report["ops"] > 50
    assert report["measured_percent"] == pytest.approx(100)
    file = json.loads(costs.read_text())
    measured_ms = file["median_step_ns"] / 1e6
    assert measured_ms / 4 < report["step_ms"] < 1.25 * measured_ms
    # The same file says it without the compiler.
    table = {cost["key"]: cost for cost in file["costs"]}
    total = sum(cost["calls_per_step"] * cost["median_ns"] for cost in table.values()) / 1e6
    assert report["step_ms"] == pytest.approx(total, rel=0.05)  # but for what the runtime adds


def test_measuring_changes_no_number(measured):
    case, _, trainer, _, result = measured
    plain = trainer.run(case.inputs, case.labels, max_steps=STEPS, num_threads=1)
    assert plain.losses == result.losses
    for name, array in result.weights.items():
        np.testing.assert_array_equal(array, plain.weights[name], err_msg=name)


def test_another_budget_is_planned_with_it(measured, tmp_path):
    """Costs of the program without a budget, then of the one with: its repeated
    work, slices of kernels too, is measured under keys that the plan finds."""
    case, model, _, costs, _ = measured
    budget = int(0.6 * plan(model, case)["memory"]["arena_bytes"])
    first = plan(model, case, profile_costs=costs, activation_budget=f"{budget}B")
    assert first["costs"]["measured_percent"] == pytest.approx(100)
    assert first["memory"]["arena_bytes"] <= budget
    trainer = Trainer(
        model, tmp_path / "program", batch_size=case.batch, profile_costs=costs, activation_budget=f"{budget}B",
    )
    again = tmp_path / "again.json"
    trainer.run(case.inputs, case.labels, max_steps=13, profile_costs_to=again)
    # One time for all: that of each repeat is found, not a share of its kernel's.
    file = json.loads(again.read_text())
    for cost in file["costs"]:
        cost["median_ns"] = 1000.0
    again.write_text(json.dumps(file))
    second = plan(model, case, profile_costs=again, activation_budget=f"{budget}B")
    repeated = {(tensor["origin"], tensor["bytes"]) for tensor in first["tensors"] if tensor["decision"] == "recomputed"}
    reasons = [tensor["reason"] for tensor in second["tensors"]
               if tensor["decision"] == "recomputed" and (tensor["origin"], tensor["bytes"]) in repeated]
    assert len(reasons) > 2
    assert all(reason.endswith("for 1.00 us") for reason in reasons), reasons

"""Loss scaling against torch.amp.GradScaler, and in whole programs."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

import gpuopt
import models
from exports import export_case
from training import FULL, OPTIMIZATION_FOR_ONE_STEP, CommandFailed, Trainer, execute
from variants import variants

ROOT = Path(__file__).resolve().parents[2]
STEPS, ELEMENTS = 10_000, 19

# For the weights, because torch's vector code fuses a multiplication and an addition.
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    program = tmp_path_factory.mktemp("scaler") / "scaler_trace"
    execute([
        os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-ffp-contract=off", "-fopenmp",
        f"-I{ROOT / 'lib/Runtime'}", Path(__file__).with_name("scaler_trace.cpp"), "-o", program,
    ])
    return program


def random_gradients(accumulation: int) -> np.ndarray:
    """Mostly good ones; bursts of infinities and NaNs, in any micro batch, and
    numbers that only the scale makes overflow."""
    random = np.random.default_rng(accumulation)
    # With few bits, so that no sum and no product with a scale is rounded.
    gradients = random.integers(-128, 128, (STEPS, accumulation, ELEMENTS)).astype(np.float32) / 64
    burst = False
    for step in range(STEPS):
        burst = random.random() < (0.8 if burst else 0.03)
        if burst:
            place = random.integers(accumulation), random.integers(ELEMENTS)
            gradients[step][place] = random.choice([np.inf, -np.inf, np.nan, 2.0**112])
    return gradients


def run_torch(gradients: np.ndarray, optimizer: str):
    """GradScaler, LambdaLR and a running statistic. Where gpuopt differs on
    purpose, this says so."""
    weights = torch.full((ELEMENTS,), 0.5, requires_grad=True)
    make = dict(
        adamw=lambda: torch.optim.AdamW([weights], lr=0.0078125, weight_decay=0.125, foreach=False),
        sgd=lambda: torch.optim.SGD([weights], lr=0.0078125, weight_decay=0.125, momentum=0.5, foreach=False),
    )[optimizer]()
    schedule = lambda step: step / 10 if step < 10 else max(0.0, (STEPS - step) / (STEPS - 10))
    scheduler = torch.optim.lr_scheduler.LambdaLR(make, schedule)
    scaler = torch.amp.GradScaler("cpu", growth_interval=7)
    statistic, skipped = 0.0, 0
    for step in gradients:
        rate = scheduler.get_last_lr()[0]
        make.zero_grad()
        before = statistic
        for micro, gradient in enumerate(step):
            scaler.scale((weights * torch.from_numpy(gradient)).sum()).backward()
            statistic += micro + 1
        scaler.step(make)
        old = scaler.get_scale()
        was_skipped = not torch.isfinite(weights.grad).all()
        scaler.update()
        if was_skipped:
            skipped += 1
            statistic = before  # PyTorch keeps what the skipped forward made of it.
            if scaler.get_scale() < 4:
                scaler.update(new_scale=4.0)  # PyTorch's scale has no floor.
            assert scaler.get_scale() <= old
        else:
            scheduler.step()  # PyTorch's users step it after skipped steps as well.
        tracker = scaler._growth_tracker.item()
        yield [scaler.get_scale(), tracker, skipped, statistic, rate], weights.detach().numpy().copy()


@pytest.mark.parametrize("accumulation, optimizer", variants(
    [(accumulation, optimizer) for accumulation in (1, 2, 3, 4) for optimizer in ("sgd", "adamw")], [(1, "sgd"), (3, "adamw")]))
def test_ten_thousand_steps(accumulation, optimizer, trace, tmp_path):
    gradients = random_gradients(accumulation)
    gradients.tofile(tmp_path / "gradients")
    execute([trace, tmp_path / "gradients", tmp_path / "out", STEPS, accumulation, ELEMENTS, optimizer])
    record = np.dtype([("scalars", "f8", 5), ("weights", "f4", ELEMENTS)])
    ours = np.fromfile(tmp_path / "out", record)
    assert len(ours) == STEPS
    floor = 0
    for step, ((scalars, weights), got) in enumerate(zip(run_torch(gradients, optimizer), ours)):
        assert got["scalars"][:4].tolist() == scalars[:4], step
        assert got["scalars"][4] == pytest.approx(scalars[4], rel=1e-12), step
        np.testing.assert_allclose(got["weights"], weights, rtol=TOLERANCE, atol=1e-6, err_msg=str(step))
        floor += scalars[0] == 4
    assert floor > 0 and 100 < ours["scalars"][-1][2] < STEPS / 2


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A model whose batch normalisation has running statistics, under --full
    ResNet-18, with accumulation: without loss scaling, with a fixed scale, and
    in fp16, where gradients overflow soon."""
    folder = tmp_path_factory.mktemp("scaled")
    model = folder / "model.onnx"
    case = export_case("resnet18-tiny" if FULL else "cnn-norms", model)
    flags = dict(batch_size=case.batch, gradient_accumulation_steps=2)
    return case, {
        kind: Trainer(model, folder / kind, OPTIMIZATION_FOR_ONE_STEP, **flags, **more)
        for kind, more in dict(plain={}, fixed=dict(loss_scale=1024), dynamic=dict(precision="fp16", device="h200")).items()
    }


def run(programs, kind, **flags):
    case, trainers = programs
    flags = dict(learning_rate=1e-3, max_steps=6) | flags
    return trainers[kind].run(case.inputs, case.labels, **flags)


def test_a_power_of_two_changes_no_bit(programs):
    plain, scaled = run(programs, "plain"), run(programs, "fixed")
    assert plain.losses == scaled.losses
    assert [record["grad_norm"] for record in plain.metrics] == [record["grad_norm"] for record in scaled.metrics]
    for name, value in plain.weights.items():
        assert np.array_equal(value, scaled.weights[name]), name
    assert {record["loss_scale"] for record in plain.metrics} == {1}
    assert {record["loss_scale"] for record in scaled.metrics} == {1024}


def test_a_skipped_step_changes_nothing(programs):
    result = run(programs, "dynamic", init_scale=2.0**60, max_steps=1)
    assert result.metrics[0]["skipped_steps"] == 1 and result.metrics[0]["grad_norm"] is None
    initial = programs[1]["dynamic"].initial_weights()
    assert any("running_mean" in name for name in initial)
    for name, value in initial.items():
        assert np.array_equal(value, result.weights[name]), name


def test_steps_after_skipped_ones(programs):
    """The scale falls until gradients fit; from there on everything is as if
    the skipped steps had not been, learning rate included."""
    result = run(programs, "dynamic", init_scale=2.0**60, backoff_factor=2.0**-20, max_steps=10)
    skipped = result.metrics[-1]["skipped_steps"]
    assert 1 <= skipped <= 6
    rates = [record["learning_rate"] for record in result.metrics]
    assert rates[: skipped + 1] == [rates[0]] * (skipped + 1) and rates[-1] < rates[skipped]
    assert result.metrics[-1]["loss_scale"] == pytest.approx(2.0 ** (60 - 20 * skipped), rel=1e-8)


def test_many_skipped_steps_are_reported(programs):
    result = run(programs, "dynamic", init_scale=2.0**60, backoff_factor=1, max_steps=25)
    assert result.metrics[-1]["skipped_steps"] == 25
    told = "20 steps in a row were skipped, the last one at a loss scale of"
    warnings = [line for line in result.output.splitlines() if told in line]
    assert len(warnings) == 1 and " are infinite or NaN" in warnings[0], result.output
    assert "gradients of '" in warnings[0] and "more" in warnings[0], result.output


@pytest.mark.parametrize("flag, value, message", [
    ("init_scale", 0, "at least 1e-37"),
    ("growth_factor", 0.5, "at least 1"),
    ("backoff_factor", 2, "more than 0 and at most 1"),
    ("growth_interval", 0, "at least 1"),
    ("min_loss_scale", -1, "at least 1e-37"),
    ("loss_scale", "sometimes", "dynamic or a number"),
])
def test_bad_flags_of_the_trainer(programs, flag, value, message):
    with pytest.raises(CommandFailed) as error:
        run(programs, "dynamic", **{flag: value})
    assert message in error.value.output


def test_a_program_without_scaling_refuses_its_flags(programs):
    with pytest.raises(CommandFailed, match="'--init-scale' applies only to programs that scale their loss"):
        run(programs, "plain", init_scale=2)


def test_the_op_that_overflows_is_named(tmp_path):
    """exp of 200 is more than float holds: the first result that is infinite,
    in a kernel of its own name."""

    class Bursting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(8, 4)

        def forward(self, x):
            return self.fc(torch.exp(x * 100))

    x = np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8)
    x[5, 3] = 2
    case = models.Case(Bursting(), {"x": x}, np.zeros(8, np.int64), 4)
    gpuopt.export(case.module, case.example_inputs(), tmp_path / "model.onnx", output_names=["logits"])
    trainer = Trainer(tmp_path / "model.onnx", tmp_path / "program", batch_size=4, debug_overflow=True, loss_scale=1)
    result = trainer.run(case.inputs, case.labels, max_steps=3)
    told = [line for line in result.output.splitlines() if "infinite or NaN" in line]
    assert len(told) == 1 and "step 2: 'node_exp" in told[0], result.output
    assert [record["skipped_steps"] for record in result.metrics] == [0, 1, 1]

"""A run that goes on from a checkpoint computes, bit for bit, what one without interruption does."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import gpuopt
from emulated import SKIPS, EmulatedTrainer
from gpuopt import safetensors
from gpuopt.driver import arguments, find_driver
from training import FULL, CommandFailed, Result, Trainer, execute
from variants import variants

ROOT = Path(__file__).resolve().parents[2]

# Five batches in an epoch, and two in a step: steps take batches of two epochs.
BATCH, SAMPLES, STEPS, SAVED = 8, 40, 8, 3

# What an optimizer has flags for, and keeps then.
FLAGS = {"sgd": dict(momentum=0.9), "adafactor": dict(adafactor_beta1=0.9)}


class Small(torch.nn.Module):
    """Running statistics, random numbers, a matrix large enough to have moments of 8 bits, and one that is not."""

    def __init__(self):
        super().__init__()
        self.wide, self.norm = torch.nn.Linear(16, 256), torch.nn.BatchNorm1d(256)
        self.dropout, self.narrow = torch.nn.Dropout(0.25), torch.nn.Linear(256, 8)

    def forward(self, x):
        return self.narrow(self.dropout(torch.relu(self.norm(self.wide(x)))))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    torch.manual_seed(6)
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    gpuopt.export(Small().train(), torch.zeros(2, 16), path, input_names=["x"])
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("data"), np.random.default_rng(6)
    np.save(folder / "x.npy", draw.normal(size=(SAMPLES, 16)).astype(np.float32))
    np.save(folder / "labels.npy", draw.integers(0, 8, SAMPLES))
    return dict(data={"x": folder / "x.npy"}, labels=folder / "labels.npy")


def build(model: Path, folder: Path, kind=Trainer, **flags) -> Trainer:
    flags = dict(batch_size=BATCH, gradient_accumulation_steps=2) | flags
    return kind(model, folder, **({"optimization": "-O0"} if kind is Trainer else {}), **flags)


def run(trainer: Trainer, out: Path, files: dict, **flags) -> Result:
    flags = dict(learning_rate=1e-2, warmup_steps=2, max_steps=STEPS, no_shuffle=None) | flags
    return trainer.run_files(out, **files, **flags)


def numbers_of(result: Result) -> list[dict]:
    """What steps have computed, without what they took."""
    return [{key: record[key] for key in ("step", "loss", "learning_rate", "grad_norm", "loss_scale", "skipped_steps")}
            for record in result.metrics]


def assert_same(one: Result, other: Result):
    assert numbers_of(one) == numbers_of(other)
    for name, array in one.weights.items():
        np.testing.assert_array_equal(array, other.weights[name], err_msg=name)


def cut_after(out: Path, step: int):
    """Leaves what a trainer does that was killed before its next checkpoint."""
    for checkpoint in out.glob("checkpoint-*"):
        if int(checkpoint.name.split("-")[1]) > step:
            shutil.rmtree(checkpoint)
    (out / "model.safetensors").unlink()


def assert_resumes(trainer: Trainer, folder: Path, files: dict, **flags):
    whole = run(trainer, folder / "whole", files, num_workers=1, **flags)
    run(trainer, folder / "cut", files, save_steps=SAVED, num_workers=2, **flags)
    cut_after(folder / "cut", SAVED)
    rest = run(trainer, folder / "cut", files, resume="auto", num_workers=7, **flags)
    assert f"checkpoint-{SAVED}' after step {SAVED} of {STEPS}" in rest.output
    assert_same(whole, rest)
    return whole


def optimizers() -> list[str]:
    text = execute([find_driver(), "compile", "--help"])
    return re.split(r", | or ", re.search(r"--optimizer=.*? (\w+(?:, \w+)* or \w+) \(default", text).group(1))


@pytest.fixture(scope="module", params=variants(optimizers(), ["adamw", "adamw_8bit", "adafactor", "muon"]))
def trainer(request, model, tmp_path_factory):
    name = request.param
    return build(model, tmp_path_factory.mktemp(name) / "program", optimizer=name, **FLAGS.get(name, {}))


def test_every_optimizer(trainer, files, tmp_path):
    assert_resumes(trainer, tmp_path, files)
    kept = safetensors.read(tmp_path / "cut" / f"checkpoint-{SAVED}" / "optimizer.safetensors")
    assert all(np.any(array) for array in kept.values()), "no state is as at the start"


@pytest.fixture(scope="module")
def scaled(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("scaled")
    return build(model, folder / "program", precision="fp16", device="h200")


# The first scale overflows; then two good steps raise it, one of which is before the checkpoint.
SCALING = dict(init_scale=2.0**40, backoff_factor=2.0**-20, growth_interval=2)


def test_loss_scaling(scaled, files, tmp_path):
    whole = assert_resumes(scaled, tmp_path, files, **SCALING)
    assert whole.metrics[SAVED - 1]["skipped_steps"] >= 1
    assert len({record["loss_scale"] for record in whole.metrics[SAVED:]}) > 1
    assert any("running_mean" in name for name in whole.weights)


def test_another_plan_of_the_same_state(model, scaled, files, tmp_path):
    """A program in another precision or with another budget keeps the same weights and states, and takes them."""
    plain = build(model, tmp_path / "plain")
    whole = run(plain, tmp_path / "whole", files, save_steps=SAVED)
    half = run(scaled, tmp_path / "half", files, resume=tmp_path / "whole" / f"checkpoint-{SAVED}", init_scale=64)
    np.testing.assert_allclose(half.losses, whole.losses[SAVED:], rtol=1e-2)  # of halves: 2^-11 in each tensor
    assert half.metrics[0]["loss_scale"] == 64

    smaller = build(model, tmp_path / "smaller", memory_budget=f"{plain.plan()['total_bytes'] - 1}B")
    assert smaller.plan()["total_bytes"] < plain.plan()["total_bytes"]
    cut_after(tmp_path / "whole", SAVED)
    assert_same(whole, run(smaller, tmp_path / "whole", files, resume="auto"))


class TestEmulated:
    pytestmark = SKIPS

    def test_on_a_gpu(self, model, files, tmp_path):
        trainer = build(model, tmp_path / "program", EmulatedTrainer, precision="fp16", optimizer="adamw_8bit")
        whole = assert_resumes(trainer, tmp_path, files, **SCALING)
        assert whole.metrics[-1]["skipped_steps"] >= 1


def test_of_another_program(model, files, scaled, tmp_path):
    run(scaled, tmp_path / "out", files, max_steps=1, save_steps=1)
    other = build(model, tmp_path / "other", optimizer="lion")
    with pytest.raises(CommandFailed, match="checkpoint-1' is of a run with --optimizer adamw, but this one has lion"):
        run(other, tmp_path / "out", files, resume="auto")


class Smooth(Small):
    """The same tensors, another model."""

    def forward(self, x):
        return self.narrow(self.dropout(torch.tanh(self.norm(self.wide(x)))))


def test_of_another_model(model, files, scaled, tmp_path):
    run(scaled, tmp_path / "out", files, max_steps=1, save_steps=1)
    shutil.copy(model, tmp_path / "moved.onnx")
    again = build(tmp_path / "moved.onnx", tmp_path / "again", precision="fp16", device="h200", no_decay="norm")
    output = run(again, tmp_path / "copy", files, resume=tmp_path / "out" / "checkpoint-1").output
    assert "warning: '--no-decay' is norm, but '" in output and "checkpoint-1' is of a run with none" in output
    with pytest.raises(CommandFailed, match="checkpoint-1' is of a run with --loss cross_entropy, but this one has none"):
        run(build(model, tmp_path / "none", loss="none"), tmp_path / "other", dict(data=files["data"]),
            resume=tmp_path / "out" / "checkpoint-1")
    gpuopt.export(Smooth().train(), torch.zeros(2, 16), tmp_path / "smooth.onnx", input_names=["x"])
    with pytest.raises(CommandFailed, match="checkpoint-1' is of another model: its graph and constants have the hash"):
        run(build(tmp_path / "smooth.onnx", tmp_path / "smooth"), tmp_path / "out", files, resume="auto")


def test_from_python(model, files, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    flags = dict(files, target="host", batch_size=BATCH, num_threads=1, lr_scheduler_type="constant")
    gpuopt.train(model, tmp_path / "whole", max_steps=6, **flags)
    gpuopt.train(model, tmp_path / "out", max_steps=4, save_steps=2, resume="auto", **flags)
    with pytest.raises(gpuopt.DriverError, match="out' has checkpoints of an earlier run, the last one of step 4; go on from it"):
        gpuopt.train(model, tmp_path / "out", max_steps=6, **flags)
    gpuopt.train(model, tmp_path / "out", max_steps=6, resume="auto", **flags)
    whole, rest = (safetensors.read(tmp_path / name / "model.safetensors") for name in ("whole", "out"))
    for name, array in whole.items():
        np.testing.assert_array_equal(array, rest[name], err_msg=name)


# ---- Disks -----------------------------------------------------------------------------------------------------------

# Mounts a disk of SIZE over FOLDER, runs a command and copies what is on the disk to KEPT: disk SIZE FOLDER KEPT COMMAND
DISK = """
mount -t tmpfs -o size="$1" none "$2" || exit 77
folder=$2 kept=$3
shift 3
"$@"
status=$?
cp -r "$folder" "$kept"
exit $status
"""


def test_a_full_disk(scaled, files, tmp_path):
    """It takes two checkpoints and the weights, but no third one. The run goes on with them; from the last checkpoint that
    the disk took, a run elsewhere goes on."""
    run(scaled, tmp_path / "whole", files, max_steps=6, save_steps=6)
    bytes_of_one = sum(file.stat().st_size for file in (tmp_path / "whole" / "checkpoint-6").iterdir())
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    flags = dict(files, output_dir=disk, max_steps=6, save_steps=1, learning_rate=1e-2, warmup_steps=2, num_threads=1)
    command = ["unshare", "-m", "sh", "-c", DISK, "disk", str(int(2.8 * bytes_of_one)), disk, kept,
               scaled.folder / "build" / "trainer", *arguments(flags)]
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if process.returncode == 77 or "unshare" in process.stderr:
        pytest.skip("needs to mount a disk: " + process.stderr.splitlines()[0])
    assert process.returncode == 0, process.stderr
    assert "warning: step 3: no checkpoint is written, and training goes on: cannot write " in process.stderr
    assert "No space left on device" in process.stderr
    assert sorted(path.name for path in kept.glob("checkpoint*")) == ["checkpoint-1", "checkpoint-2"]
    whole = safetensors.read(tmp_path / "whole" / "model.safetensors")
    for weights in (safetensors.read(kept / "model.safetensors"), run(scaled, kept, files, max_steps=6, resume="auto").weights):
        for name, array in whole.items():
            np.testing.assert_array_equal(array, weights[name], err_msg=name)


# Runs a command whose output FOLDER, once it has a second checkpoint, is hidden by one that is empty and read-only, until
# the command has warned that it is; then interrupts it: hide FOLDER LOG COMMAND
# A checkpoint that was half written when the folder went may be the first to fail, since its files are no longer there.
HIDE = """
mount -t tmpfs none /mnt || exit 77
umount /mnt
folder=$1 log=$2
shift 2
timeout 100 "$@" 2> "$log" & # which hands on the signal
while kill -0 $! && [ ! -e "$folder/checkpoint-2" ]; do sleep 0.01; done
mount -t tmpfs -o ro none "$folder"
while kill -0 $! && ! grep -q "no checkpoint is written.*Read-only" "$log"; do sleep 0.01; done
umount -l "$folder"
kill -TERM $!
wait $!
"""


def test_a_folder_that_is_away_for_a_while(scaled, files, tmp_path):
    """As a network's folder that is lost and comes back, or one that is read-only: the run goes on."""
    out, log = tmp_path / "out", tmp_path / "log"
    out.mkdir()
    flags = dict(files, output_dir=out, max_steps=10**9, save_steps=1, save_total_limit=3, num_threads=1)
    command = ["unshare", "-m", "sh", "-c", HIDE, "hide", out, log, scaled.folder / "build" / "trainer", *arguments(flags)]
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if process.returncode == 77 or "unshare" in process.stderr:
        pytest.skip("needs to mount a folder: " + process.stderr.splitlines()[0])
    assert process.returncode == 0, log.read_text()
    assert re.search("step .*: no checkpoint is written, and training goes on: .*: Read-only file system", log.read_text())
    step = re.search(r"interrupted: ends after step (\d+) of .* --resume=auto goes on from", process.stdout)[1]
    assert (out / f"checkpoint-{step}" / "checksums.txt").exists()
    steps = [line["step"] for line in run(scaled, out, files, resume="auto", max_steps=int(step) + 2).metrics]
    assert steps == list(range(1, int(step) + 3)), "metrics.jsonl was open all the time"


# ---- Kills -----------------------------------------------------------------------------------------------------------

KILLS = 100 if FULL else 25


def start(trainer: Trainer, out: Path, files: dict, **flags) -> subprocess.Popen:
    flags = dict(output_dir=out, resume="auto", save_steps=1, save_total_limit=2, logging_steps=0, num_threads=1, **flags)
    return subprocess.Popen(
        [trainer.folder / "build" / "trainer", *arguments(dict(files, **flags))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def test_killed_at_any_moment(scaled, files, tmp_path):
    """With a checkpoint after every step, most kills come while one is written."""
    draw, flags = random.Random(3), dict(max_steps=400, learning_rate=1e-3, warmup_steps=0, **SCALING)
    whole = run(scaled, tmp_path / "whole", files, num_threads=1, **flags)
    kills = runs = unfinished = 0
    while kills < KILLS:
        out, runs = tmp_path / f"run{runs}", runs + 1
        while True:
            process = start(scaled, out, files, num_workers=draw.choice([1, 2, 5]), **flags)
            try:
                output, _ = process.communicate(timeout=draw.uniform(0, 0.5) if kills < KILLS else None)
                assert process.returncode == 0, output
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                kills += 1
                unfinished += any(out.glob("checkpoint-*.part")) if out.exists() else 0
        weights = safetensors.read(out / "model.safetensors")
        for name, array in whole.weights.items():
            np.testing.assert_array_equal(array, weights[name], err_msg=f"{name} of {out.name}")
        assert not any(out.glob("*.part"))
    assert unfinished > 0, "no kill came while a checkpoint was written"


def test_an_interrupt_leaves_a_checkpoint(scaled, files, tmp_path):
    out, flags = tmp_path / "out", dict(max_steps=10**9, learning_rate=1e-3)
    process = start(scaled, out, files, **flags)
    while not (out / "metrics.jsonl").exists():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.01)
    second = start(scaled, out, files, **flags)
    assert b"another trainer writes to '--output-dir'" in second.communicate()[0] and second.returncode == 1
    process.send_signal(signal.SIGTERM)
    output = process.communicate()[0].decode()
    assert process.returncode == 0
    step = re.search(rf"interrupted: ends after step (\d+) of {10**9}; --resume=auto goes on from '(.*)'", output)
    assert Path(step[2]).name == f"checkpoint-{step[1]}" and (Path(step[2]) / "checksums.txt").exists()
    assert os.path.samefile(Path(step[2]).parent, out)


def test_an_interrupt_breaks_off_a_validation(scaled, files, tmp_path):
    """Of many samples, which take longer than a terminal or a batch system waits; the run that goes on validates first."""
    np.save(tmp_path / "x.npy", np.tile(np.load(files["data"]["x"]), (1500, 1)))
    np.save(tmp_path / "labels.npy", np.tile(np.load(files["labels"]), 1500))
    flags = dict(eval_data={"x": tmp_path / "x.npy"}, eval_labels=tmp_path / "labels.npy", eval_steps=2, max_steps=4)
    flags |= dict(lr_scheduler_type="reduce_lr_on_plateau", lr_patience=0, lr_threshold=0.9, warmup_steps=0)
    whole, out = run(scaled, tmp_path / "whole", files, num_threads=1, **flags), tmp_path / "out"
    process = start(scaled, out, files, learning_rate=1e-2, no_shuffle=None, **flags)
    while not (out / "metrics.jsonl").exists() or '"step": 2,' not in (out / "metrics.jsonl").read_text():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    output = process.communicate()[0].decode()
    assert process.returncode == 0 and "interrupted: ends after step 2 of 4; --resume=auto goes on" in output, output
    assert "eval_loss" not in (out / "metrics.jsonl").read_text()
    rest = run(scaled, out, files, resume="auto", num_threads=1, **flags)
    assert_same(whole, rest)
    assert [record["eval_loss"] for record in rest.evaluations] == [record["eval_loss"] for record in whole.evaluations]


@pytest.mark.alone
def test_training_hardly_waits_for_checkpoints(tmp_path, monkeypatch):
    """Of GPT-2 with 4 layers of 128 on the host, with a checkpoint after every 10 steps: a small part of a step."""
    np.save(tmp_path / "tokens.npy", np.random.default_rng(7).integers(0, 200, 200_000).astype(np.uint16))
    monkeypatch.setenv("GPUOPT_TEST_KEEP_OPTIMIZATION", "1")
    trainer = Trainer(ROOT / "examples" / "gpt.onnx", tmp_path / "program", optimization="-O3", batch_size=8)
    trainer.run_files(tmp_path / "out", tokens=tmp_path / "tokens.npy", max_steps=100, save_steps=10, save_total_limit=2)
    records = [json.loads(line) for line in (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()]
    stalls, steps = ([record[key] for record in records if key in record] for key in ("checkpoint_stall_ms", "step_ms"))
    assert len(stalls) == 10 and np.median(stalls) <= 0.1 * np.median(steps)

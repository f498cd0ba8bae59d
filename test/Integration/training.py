"""Trains a model by gpuopt and by PyTorch on the same data, for comparison."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import numpy as np
import torch

from configured import configure
from gpuopt import safetensors
from gpuopt.driver import arguments, find_driver


LONGEST_COMMAND_IN_SECONDS = 900

# A user's build has -O3. With -O1 g++ takes half the time for a program that is
# as fast, since its work is in explicit vectors; test_determinism.py compares
# the bits. With -O0 it takes half of that for many kernels, which are slow then.
FULL = os.environ.get("GPUOPT_FULL_TESTS") == "1"
OPTIMIZATION = "-O3" if FULL else "-O1"
OPTIMIZATION_FOR_ONE_STEP = "-O3" if FULL else "-O0"
# gold links a program in half the time of g++'s usual linker.
LINKER = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold"] if not FULL and shutil.which("ld.gold") else []
# For gpuopt.load, which builds as for a user.
LIBRARY_FOR_ONE_STEP = [f"-DCMAKE_CXX_FLAGS_RELEASE={OPTIMIZATION_FOR_ONE_STEP}"]

# How many threads a trainer and PyTorch take: workers that run tests side by side share the
# cores.
THREADS = max(1, min(2, (os.cpu_count() or 1) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))))


class CommandFailed(AssertionError):
    def __init__(self, command: list[str], output: str):
        super().__init__(f"{' '.join(command)}\n{output[-6000:]}")
        self.output = output


def execute(command: list[Any]) -> str:
    """Runs a command; its output, or CommandFailed with it."""
    command = [str(part) for part in command]
    try:
        run = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
            timeout=LONGEST_COMMAND_IN_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise CommandFailed(command, f"does not end within {LONGEST_COMMAND_IN_SECONDS} s") from error
    if run.returncode != 0:
        raise CommandFailed(command, f"status {run.returncode}\n{run.stdout}")
    return run.stdout


@dataclasses.dataclass
class Result:
    """What a run of a trainer left."""

    metrics: list[dict]  # a record for every step
    evaluations: list[dict]
    weights: dict[str, np.ndarray]
    output: str

    @property
    def losses(self) -> list[float]:
        return [record["loss"] for record in self.metrics]


class Trainer:
    """A program that gpuopt compiled and CMake built, as a user would."""

    target = "host"

    def __init__(self, model: Path, folder: Path, optimization: str = OPTIMIZATION, **flags: Any):
        """`optimization` is the C++ compiler's; less builds faster."""
        self.folder = folder
        execute([find_driver(), "compile", model, "-o", folder, f"--target={self.target}", *arguments(flags)])
        self.build(optimization)
        self.runs = 0

    def build(self, optimization: str, options: Sequence[str] = ()):
        """Configures and builds; `options` are CMake's."""
        configure(self.folder, [f"-DCMAKE_CXX_FLAGS_RELEASE={optimization}", *LINKER, *options], execute)
        execute(["cmake", "--build", self.folder / "build"])

    def initial_weights(self) -> dict[str, np.ndarray]:
        return safetensors.read(self.folder / "model.safetensors")

    def plan(self) -> dict:
        return json.loads((self.folder / "plan.json").read_text())

    def run(self, data: Mapping[str, np.ndarray], labels: np.ndarray | None = None, **flags: Any) -> Result:
        """Runs the trainer on arrays; flags are the trainer's."""
        self.runs += 1
        folder = self.folder / f"data{self.runs}"
        folder.mkdir()
        files = {}
        for name, array in data.items():
            files[name] = folder / f"{name}.npy"
            np.save(files[name], array)
        if labels is not None:
            np.save(folder / "labels.npy", labels)
            flags["labels"] = folder / "labels.npy"
        return self.run_files(self.folder / f"run{self.runs}", data=files, **flags)

    def run_files(self, out: Path, **flags: Any) -> Result:
        flags = {"no_shuffle": True, "num_threads": THREADS, "output_dir": out, **flags}
        output = execute([self.folder / "build" / "trainer", *arguments(flags)])
        records = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        return Result(
            [record for record in records if "loss" in record],
            [record for record in records if "eval_loss" in record],
            safetensors.read(out / "model.safetensors"),
            output,
        )


# Flags that make AdamW's first step a plain gradient step of 2^20: with both
# moments' decay zero the update is lr * g / (|g| + epsilon), and epsilon
# outweighs every gradient. A step this long leaves nothing of the weights'
# own rounding in their difference.
GRADIENT_STEP = 2.0**20
GRADIENT_FLAGS = dict(
    learning_rate=2.0**80, adam_epsilon=2.0**60, adam_beta1=0, adam_beta2=0, weight_decay=0,
    max_grad_norm=0, lr_scheduler_type="constant", max_steps=1,
)


def gradients_of(
    trainer: Trainer, data: Mapping[str, np.ndarray], labels: np.ndarray | None, **flags: Any
) -> tuple[float, dict[str, np.ndarray], Result]:
    """The loss and every parameter's gradient at the first step of a trainer
    that was compiled for AdamW. The trainer gets `flags` as well."""
    before = {name: np.array(array) for name, array in trainer.initial_weights().items()}
    result = trainer.run(data, labels, **GRADIENT_FLAGS, **flags)
    gradients = {name: (before[name].astype(np.float64) - result.weights[name]) / GRADIENT_STEP for name in before}
    return result.losses[0], gradients, result


def batches(case, steps: int):
    """The first batches of a case in the file's order, again from the start
    when they are through, as tensors."""
    count = len(case.labels) // case.batch
    for step in range(steps):
        rows = slice(step % count * case.batch, (step % count + 1) * case.batch)
        inputs = [torch.from_numpy(array[rows]) for array in case.inputs.values()]
        yield inputs, torch.from_numpy(case.labels[rows])


def train_torch(case, steps: int, make_optimizer: Callable, schedule: Callable[[int], float] = lambda step: 1.0, max_grad_norm=0.0, accumulation=1) -> list[float]:
    """PyTorch's training loop; the losses. Leaves the gradients of the last
    step in the module."""
    optimizer = make_optimizer(case.module.parameters())
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
    stream = batches(case, steps * accumulation)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        micro = [next(stream) for _ in range(accumulation)]
        # The mean is over all valid targets of the step.
        valid = [int((labels != -100).sum()) for _, labels in micro]
        total = 0.0
        for (inputs, labels), count in zip(micro, valid):
            loss = case.loss_of(case.module(*inputs), labels) * (count / sum(valid))
            loss.backward()
            total += loss.item()
        losses.append(total)
        if max_grad_norm:
            torch.nn.utils.clip_grad_norm_(case.module.parameters(), max_grad_norm)
        optimizer.step()
        scheduler.step()
    return losses

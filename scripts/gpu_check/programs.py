"""Programs that prepare.py made: their files, their data and runs of their trainers."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np

from gpuopt import safetensors

LONGEST_RUN_IN_SECONDS = 120
BUILT_BEFORE = "trainer-cuda"  # a trainer that prepare.py has built
LIBRARY_BUILT_BEFORE = "libprogram-cuda.so"  # likewise, of a small program


class Failed(Exception):
    """A check that does not hold, with all that a command has printed."""

    def __init__(self, text: str, output: str = ""):
        super().__init__(text)
        self.output = output


class Skipped(Exception):
    """A check that cannot be made here."""


def expect(holds: bool, text: str) -> None:
    if not holds:
        raise Failed(text)


class Deadline:
    """When the whole check has to be over."""

    def __init__(self, minutes: float):
        self.begin = time.monotonic()
        self.end = self.begin + 60 * minutes

    def passed(self) -> float:
        return time.monotonic() - self.begin

    def seconds_left(self) -> float:
        return max(0.0, self.end - time.monotonic())

    def allowed(self) -> float:
        """The seconds that a single run may take; raises Skipped where none are left."""
        if self.seconds_left() < 5:
            raise Skipped("no time was left")
        return min(LONGEST_RUN_IN_SECONDS, self.seconds_left())


def execute(command: list, deadline: Deadline, environment: dict[str, str] | None = None) -> str:
    """Runs a command and returns what it prints. A command that fails, or that
    takes longer than one run may, raises Failed with the end of its output."""
    command = [str(part) for part in command]
    allowed = deadline.allowed()
    try:
        run = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
            timeout=allowed, env=environment,
        )
    except subprocess.TimeoutExpired:
        if allowed < LONGEST_RUN_IN_SECONDS:
            raise Skipped(f"no time was left after {allowed:.0f} s of it") from None
        raise Failed(f"{' '.join(command)}\ndoes not end within {allowed:.0f} s") from None
    if run.returncode != 0:
        raise Failed(f"{' '.join(command)}\nstatus {run.returncode}\n{run.stdout[-4000:]}", run.stdout)
    return run.stdout


def compute_sanitizer() -> str | None:
    return shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")


def drawn_weight(random: np.random.Generator, name: str, shape: list[int]) -> np.ndarray:
    """Random weights with which a model trains: norms are near 1, and products
    keep the size of their inputs."""
    if len(shape) < 2:
        value = 0.0 if name.endswith(("bias", "running_mean")) else 1.0
        return np.full(shape, value, np.float32)
    fan = int(np.prod(shape[1:]))
    return (random.standard_normal(shape, np.float32) / np.sqrt(fan)).astype(np.float32)


def drawn_data(random: np.random.Generator, shape: list[int], dtype: str, low: int, high: int) -> np.ndarray:
    """Integers of [low, high], or normal numbers where the type is a float."""
    if np.issubdtype(np.dtype(dtype), np.integer):
        return random.integers(low, high + 1, shape, dtype=dtype)
    return random.standard_normal(shape, np.float32).astype(dtype)


@dataclasses.dataclass(eq=False)
class Program:
    """A folder of prepare.py, to be built for `target`."""

    folder: Path
    target: str
    deadline: Deadline

    def __post_init__(self):
        self.record = json.loads((self.folder / "check" / "check.json").read_text())
        self.build = self.folder / f"build-{self.target}"
        self.runs = 0
        self.is_diagnosed = False
        self.output = ""  # what the last run has printed
        self.torch_modes: list[str] = []  # of torch.compile, whose steps are timed
        self.measured: dict = {}  # what the report shows beside the table

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def is_large(self) -> bool:
        """Whether it is there for its times alone."""
        return not self.record["losses"]

    def library(self) -> Path:
        """Where the program's library is, if it was built."""
        return self.build / "libprogram.so"

    def weights(self) -> Path:
        """The file of weights, which is drawn here where it was too large to travel."""
        file = self.folder / "model.safetensors"
        shapes = self.folder / "check" / "weights.json"
        if not file.exists():
            random = np.random.default_rng(0)
            tensors = {
                name: drawn_weight(random, name, shape) for name, shape in json.loads(shapes.read_text()).items()
            }
            safetensors.write(file, tensors)
        return file

    def array(self, name: str) -> Path:
        """The file of an input or of the labels, drawn here likewise."""
        file = self.folder / "check" / f"{name}.npy"
        if not file.exists():
            description = self.record["drawn"][name]
            np.save(file, drawn_data(np.random.default_rng(0), **description))
        return file

    def data(self) -> list[str]:
        files = [f"--data={name}={self.array(name)}" for name in self.record["inputs"]]
        return [*files, f"--labels={self.array('labels')}", "--no-shuffle", f"--weights={self.weights()}"]

    def planned_bytes(self) -> int:
        return json.loads((self.folder / "plan.json").read_text())["total_bytes"]

    def run(self, *flags: str, under: tuple = ()) -> tuple[list[dict], Path]:
        """The records of a run of the trainer, and its folder."""
        self.runs += 1
        out = self.build / f"run{self.runs}"
        shutil.rmtree(out, ignore_errors=True)
        command = [self.build / "trainer", *self.data(), f"--output-dir={out}", *flags]
        try:
            self.output = execute([*under, *command], self.deadline)
        except Failed as failed:
            raise Failed(f"{failed}\n{self.diagnosis(command, under)}", failed.output) from None
        records = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        return [record for record in records if "loss" in record], out

    def diagnosis(self, command: list, under: tuple) -> str:
        """What compute-sanitizer says of a run that failed, once for a program."""
        tool = compute_sanitizer()
        if under or self.target != "cuda" or not tool or self.is_diagnosed or self.is_large:
            return ""
        self.is_diagnosed = True
        try:
            execute([tool, "--tool=memcheck", "--error-exitcode=9", *command], self.deadline)
        except (Failed, Skipped) as found:
            return str(found)
        return "memcheck finds nothing, and with it the run does not fail"

    def train(self, steps: int, *flags: str, under: tuple = ()) -> tuple[list[dict], Path]:
        return self.run(
            f"--learning-rate={self.record['learning_rate']}", "--weight-decay=0", "--max-grad-norm=1",
            "--lr-scheduler-type=constant", f"--max-steps={steps}", *flags, under=under,
        )

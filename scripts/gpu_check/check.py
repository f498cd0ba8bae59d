"""Builds and checks programs that prepare.py made; see gpu-check.sh."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import statistics
import subprocess
import sys
import time
import traceback
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "scripts" / "gpu_check")]

import numpy as np

from gpuopt import safetensors

# As in test/Integration/training.py: AdamW's first step as a plain gradient step
# that leaves nothing of the weights' own rounding.
GRADIENT_STEP = 2.0**20
GRADIENT_FLAGS = [
    f"--learning-rate={2.0**80}", f"--adam-epsilon={2.0**60}", "--adam-beta1=0", "--adam-beta2=0",
    "--weight-decay=0", "--max-grad-norm=0", "--lr-scheduler-type=constant", "--max-steps=1",
]
# Relative differences that are allowed: of the first loss, and of the last.
TOLERANCES = {"fp32": (1e-5, 1e-3), "bf16": (2e-2, 5e-2), "fp16": (5e-3, 2e-2)}
TIMED_STEPS = 30
SANITIZED_STEPS = 2
LONGEST_RUN_IN_SECONDS = 300


class Failed(Exception):
    """A check that does not hold."""


class Skipped(Exception):
    """A check that cannot be made here."""


@dataclasses.dataclass
class Program:
    folder: Path
    target: str

    def __post_init__(self):
        self.record = json.loads((self.folder / "check" / "check.json").read_text())
        self.build = self.folder / f"build-{self.target}"
        self.runs = 0

    @property
    def name(self) -> str:
        return f"{self.record['name']}-{self.record['precision']}"

    def weights(self) -> Path:
        """The file of weights; drawn now where they were too large to travel."""
        file = self.folder / "model.safetensors"
        shapes = self.folder / "check" / "weights.json"
        if not file.exists():
            random = np.random.default_rng(0)
            draw = lambda name, shape: drawn(random, name, shape)
            tensors = {name: draw(name, shape) for name, shape in json.loads(shapes.read_text()).items()}
            safetensors.write(file, tensors)
        return file

    def data(self) -> list[str]:
        check = self.folder / "check"
        files = [f"--data={name}={check / name}.npy" for name in self.record["inputs"]]
        return [*files, f"--labels={check / 'labels.npy'}", "--no-shuffle", f"--weights={self.weights()}"]

    def run(self, *flags: str, under: list[str] = []) -> tuple[list[dict], Path]:
        """The records of a run of the trainer, and its folder."""
        self.runs += 1
        out = self.build / f"run{self.runs}"
        shutil.rmtree(out, ignore_errors=True)
        execute([*under, self.build / "trainer", *self.data(), f"--output-dir={out}", *flags])
        records = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        return [record for record in records if "loss" in record], out

    def train(self, steps: int, *flags: str, under: list[str] = []) -> tuple[list[dict], Path]:
        return self.run(
            f"--learning-rate={self.record['learning_rate']}", "--weight-decay=0", "--max-grad-norm=1",
            "--lr-scheduler-type=constant", f"--max-steps={steps}", *flags, under=under,
        )


def drawn(random: np.random.Generator, name: str, shape: list[int]) -> np.ndarray:
    """Random weights of a size that trains: norms near 1, products near their fan-in's root."""
    if len(shape) < 2:
        value = 0.0 if name.endswith(("bias", "running_mean")) else 1.0
        return np.full(shape, value, np.float32)
    fan = int(np.prod(shape[1:]))
    return (random.standard_normal(shape, np.float32) / np.sqrt(fan)).astype(np.float32)


def execute(command: list) -> str:
    command = [str(part) for part in command]
    try:
        run = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
            timeout=LONGEST_RUN_IN_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)}\ndoes not end within {LONGEST_RUN_IN_SECONDS} s") from None
    if run.returncode != 0:
        raise Failed(f"{' '.join(command)}\nstatus {run.returncode}\n{run.stdout[-4000:]}")
    return run.stdout


def expect(holds: bool, text: str) -> None:
    if not holds:
        raise Failed(text)


# The checks. Each returns what goes into the report.


def check_build(program: Program) -> str:
    begin = time.monotonic()
    execute(["cmake", "-S", program.folder, "-B", program.build, f"-DGPUOPT_TARGET={program.target}"])
    execute(["cmake", "--build", program.build])
    return f"{time.monotonic() - begin:.1f} s"


def check_losses(program: Program) -> str:
    expected = program.record["losses"]
    if not expected:
        raise Skipped("large: timed alone")
    records, out = program.train(len(expected))
    losses = [record["loss"] for record in records]
    first, last = TOLERANCES[program.record["precision"]]
    difference = [abs(a - b) / abs(b) for a, b in ((losses[0], expected[0]), (losses[-1], expected[-1]))]
    text = f"first loss differs by {difference[0]:.1e}, the one of step {len(losses)} by {difference[1]:.1e}"
    expect(difference[0] <= first and difference[1] <= last, f"{text}; allowed: {first}, {last}\n{losses}\n{expected}")
    allocated = {record["allocated_bytes"] for record in records}
    planned = json.loads((program.folder / "plan.json").read_text())["total_bytes"]
    expect(allocated == {planned}, f"allocated {allocated} bytes, but the plan has {planned}")
    return text


def check_gradients(program: Program) -> str:
    file = program.folder / "check" / "gradients.safetensors"
    if program.record["precision"] != "fp32" or not file.exists():
        raise Skipped("in fp32, of small models")
    expected = safetensors.read(file)
    before = safetensors.read(program.weights())
    _, out = program.run(*GRADIENT_FLAGS)
    after = safetensors.read(out / "model.safetensors")
    everything = float(np.sqrt(sum(np.linalg.norm(g.astype(np.float64)) ** 2 for g in expected.values())))
    worst = 0.0
    # A parameter of several names is in the file under one of them.
    shared = {name for name in expected if name in after}
    missing = [name for name in before if name not in shared and "running_" not in name]
    expect(not missing, f"no gradient is expected of {', '.join(missing)}")
    for name in sorted(shared):
        gradient = expected[name]
        got = (before[name].astype(np.float64) - after[name]) / GRADIENT_STEP
        allowed = 1e-4 * np.linalg.norm(gradient) + 1e-7 * everything
        error = np.linalg.norm(got - gradient)
        expect(error <= allowed, f"the gradient of {name} differs by {error:.3g}, allowed is {allowed:.3g}")
        worst = max(worst, float(error / allowed))
    return f"of {len(shared)}, the worst has {100 * worst:.0f} % of what is allowed"


def check_determinism(program: Program) -> str:
    steps = 5
    (first, one), (second, other) = program.train(steps), program.train(steps)
    expect([r["loss"] for r in first] == [r["loss"] for r in second], "two runs have different losses")
    same = (one / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()
    expect(same, "two runs have different weights")
    return "bitwise"


def check_sanitizer(program: Program) -> str:
    if program.target != "cuda":
        raise Skipped("on CUDA")
    tool = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
    if not tool:
        raise Skipped("compute-sanitizer is not installed")
    if not program.record["losses"]:
        raise Skipped("small models alone")
    for kind in ("memcheck", "racecheck"):
        program.train(SANITIZED_STEPS, under=[tool, f"--tool={kind}", "--error-exitcode=9"])
    return "memcheck, racecheck"


def check_timing(program: Program) -> str:
    """The median step in ms, ours and that of torch.compile with AMP."""
    try:
        from torch_side import time_torch
    except ImportError as error:
        raise Skipped(f"PyTorch: {error}") from None
    records, _ = program.train(TIMED_STEPS)
    ours = statistics.median(record["step_ms"] for record in records[TIMED_STEPS // 2 :])
    memory = records[-1]["allocated_bytes"] / 2**20
    theirs, their_memory = time_torch(program.folder, program.weights(), program.record, program.target, TIMED_STEPS)
    held = f"{memory:.0f} MiB beside {their_memory:.0f}" if their_memory else f"{memory:.0f} MiB"
    return f"{ours:.2f} ms beside {theirs:.2f} ({ours / theirs:.2f}); {held}"


CHECKS: dict[str, Callable[[Program], str]] = {
    "build": check_build, "losses": check_losses, "gradients": check_gradients,
    "determinism": check_determinism, "sanitizer": check_sanitizer, "timing": check_timing,
}


def device_name(target: str) -> str:
    if target == "host":
        return "host"
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(query, stdout=subprocess.PIPE, text=True, check=False).stdout.strip() or "unknown"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--target", choices=["cuda", "host"], default="cuda")
    parser.add_argument("--junit-xml", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--skip-timing", action="store_true")
    options = parser.parse_args()
    suite = ElementTree.Element("testsuite", name="gpu-check")
    rows = [f"{time.strftime('%Y-%m-%d')}, {device_name(options.target)}", ""]
    rows += ["| program | " + " | ".join(CHECKS) + " |", "|---|" + "---|" * len(CHECKS)]
    failures: list[str] = []
    for folder in options.folders:
        rows.append(check_folder(folder, options, suite, failures))
        print(rows[-1], flush=True)
    report = "\n".join([*rows, "", *failures]) + "\n"
    if options.report:
        options.report.write_text(report)
    if options.junit_xml:
        ElementTree.ElementTree(suite).write(options.junit_xml)
    print("\n".join(failures))
    return 1 if failures else 0


def check_folder(folder: Path, options: argparse.Namespace, suite: ElementTree.Element, failures: list[str]) -> str:
    """A row of the report, also for a folder that prepare.py has not made."""
    try:
        program = Program(folder, options.target)
        return check_program(program, options, suite, failures)
    except (OSError, KeyError, ValueError) as error:
        case = ElementTree.SubElement(suite, "testcase", classname=folder.name, name="folder")
        ElementTree.SubElement(case, "failure", message=str(error))
        failures.append(f"{folder}: is none that gpu-check.sh --prepare has made: {error}")
        return f"| {folder.name} | **is no program**" + " |" * len(CHECKS)


def check_program(program: Program, options: argparse.Namespace, suite: ElementTree.Element, failures: list[str]) -> str:
    """A row of the report. What follows a build that fails is not tried."""
    cells, is_built = [], True
    for name, check in CHECKS.items():
        case = ElementTree.SubElement(suite, "testcase", classname=program.name, name=name)
        try:
            if not is_built or (name == "timing" and options.skip_timing):
                raise Skipped("not built" if not is_built else "--skip-timing")
            cells.append(check(program))
        except Skipped as skipped:
            ElementTree.SubElement(case, "skipped", message=str(skipped))
            cells.append(f"– ({skipped})")
        except Failed as failed:
            ElementTree.SubElement(case, "failure", message=str(failed))
            cells.append("**fails**")
            failures.append(f"{program.name}, {name}: {failed}")
            is_built = is_built and name != "build"
        except Exception:  # of PyTorch, or of what the trainer wrote
            text = traceback.format_exc()
            ElementTree.SubElement(case, "error", message=text)
            cells.append("**breaks**")
            failures.append(f"{program.name}, {name}: {text}")
    return f"| {program.name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())

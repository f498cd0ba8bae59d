"""The checks of one program. Each returns what goes into the report's table,
and raises Failed or Skipped."""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Callable

import numpy as np

from gpuopt import safetensors
from attention import compare_attention, shapes_of
from device import query
from kernels import compare_kernels
from programs import BUILT_BEFORE, LIBRARY_BUILT_BEFORE, Failed, Program, Skipped, compute_sanitizer, execute, expect

# As in test/Integration/training.py: the first step of AdamW with these flags
# is a plain gradient step that is far larger than the rounding of the weights.
GRADIENT_STEP = 2.0**20
GRADIENT_FLAGS = [
    f"--learning-rate={2.0**80}", f"--adam-epsilon={2.0**60}", "--adam-beta1=0", "--adam-beta2=0",
    "--weight-decay=0", "--max-grad-norm=0", "--lr-scheduler-type=constant", "--max-steps=1",
]
# The relative differences that are allowed of the first loss and of the last.
TOLERANCES = {"fp32": (1e-5, 1e-3), "tf32": (2e-3, 2e-2), "bf16": (2e-2, 5e-2), "fp16": (5e-3, 2e-2)}
TIMED_STEPS = 30
REPEATED_STEPS = 5
PROFILED_STEPS = 20
# The steps whose times are compared: before a profile begins, and while it does.
STEPS_BEFORE_A_PROFILE, STEPS_OF_A_PROFILE, STEPS_LEFT_OUT = 16, 10, 4
MOST_TIME_OF_A_PROFILE = 1.05
# CUPTI takes some time between two kernels, which shows where a step has many short ones.
PROFILE_MS_OF_A_LAUNCH = 0.006
SANITIZED_STEPS = 2
LONGEST_TORCH_RUN_IN_SECONDS = 300  # max-autotune times kernels for minutes
OWN_ATTENTION = re.compile("is computed by the runtime's own kernels, not by cuDNN: (.*)")
MIB = 2**20


def has_started(trainer: Path) -> bool:
    """Whether the libraries that a trainer was linked with are on this machine."""
    try:
        return subprocess.run([trainer, "--help"], capture_output=True, check=False, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):  # of another processor
        return False


def check_build(program: Program) -> str:
    begin = time.monotonic()
    built = program.folder / BUILT_BEFORE
    if program.target == "cuda" and built.exists() and has_started(built):
        program.build.mkdir(exist_ok=True)
        shutil.copy(built, program.build / "trainer")
        library = program.folder / LIBRARY_BUILT_BEFORE
        if library.exists():
            shutil.copy(library, program.library())
        return "before"
    configure = ["cmake", "-S", program.folder, "-B", program.build, f"-DGPUOPT_TARGET={program.target}"]
    if not program.is_large:
        configure.append("-DBUILD_SHARED_LIBS=ON")
    execute(configure, program.deadline)
    execute(["cmake", "--build", program.build], program.deadline)
    return f"{time.monotonic() - begin:.1f} s"


def check_losses(program: Program) -> str:
    expected = program.record["losses"]
    if not expected:
        raise Skipped("large: timed alone")
    records, _ = program.train(len(expected))
    losses = [record["loss"] for record in records]
    first, last = TOLERANCES[program.record["precision"]]
    difference = [abs(a - b) / abs(b) for a, b in ((losses[0], expected[0]), (losses[-1], expected[-1]))]
    text = f"first loss differs by {difference[0]:.1e}, the one of step {len(losses)} by {difference[1]:.1e}"
    expect(difference[0] <= first and difference[1] <= last, f"{text}; allowed: {first}, {last}\n{losses}\n{expected}")
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
    # A parameter that has several names is in the file under one of them.
    shared = {name for name in expected if name in after}
    missing = [name for name in before if name not in shared and "running_" not in name]
    expect(not missing, f"PyTorch's gradients lack {', '.join(missing)}")
    for name in sorted(shared):
        gradient = expected[name]
        got = (before[name].astype(np.float64) - after[name]) / GRADIENT_STEP
        allowed = 1e-4 * np.linalg.norm(gradient) + 1e-7 * everything
        error = np.linalg.norm(got - gradient)
        expect(error <= allowed, f"the gradient of {name} differs by {error:.3g}, allowed is {allowed:.3g}")
        worst = max(worst, float(error / allowed))
    return f"of {len(shared)}, the worst has {100 * worst:.0f} % of what is allowed"


def check_determinism(program: Program) -> str:
    (first, one), (second, other) = program.train(REPEATED_STEPS), program.train(REPEATED_STEPS)
    expect([r["loss"] for r in first] == [r["loss"] for r in second], "two runs have different losses")
    same = (one / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()
    expect(same, "two runs have different weights")
    return "bitwise"


def check_library(program: Program) -> str:
    """The program's library has the trainer's losses, called from Python on
    PyTorch's tensors of the program's device."""
    if program.is_large:
        raise Skipped("small models alone")
    if not program.library().exists():
        raise Skipped("the library was not built")
    expected = [record["loss"] for record in program.train(REPEATED_STEPS)[0]]
    names = [*program.record["inputs"], "labels"]
    command = [
        sys.executable, Path(__file__).with_name("library_side.py"), program.library(), program.weights(), program.target,
        REPEATED_STEPS, program.record["batch"], program.record["learning_rate"],
        *(f"{name}={program.array(name)}" for name in names),
    ]
    losses = json.loads(execute(command, program.deadline).splitlines()[-1])
    expect(losses == expected, f"the library's losses are {losses}, the trainer's are {expected}")
    return "the trainer's losses"


class DeviceMemory:
    """The most that nvidia-smi says is used of the GPU while a block runs, in
    bytes over what was used before it."""

    INTERVAL_IN_SECONDS = 0.2

    def __enter__(self) -> "DeviceMemory":
        self.before = self.used()
        self.most = self.before
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.is_over.set()
        self.thread.join()

    def watch(self) -> None:
        while not self.is_over.wait(self.INTERVAL_IN_SECONDS):
            self.most = max(self.most, self.used())

    @staticmethod
    def used() -> int:
        values = query("memory.used")
        return int(values[0]) * MIB if values and values[0].isdigit() else 0


def check_memory(program: Program) -> str:
    """What the program allocates is what was planned, to the byte; on CUDA also
    what the driver and the libraries take beside it."""
    planned = program.planned_bytes()
    budget = program.record.get("budget")
    expect(not budget or planned <= budget, f"the plan has {planned} bytes, which is over the budget of {budget}")
    if program.target != "cuda":
        records, _ = program.train(REPEATED_STEPS)
        used = ""
    else:
        with DeviceMemory() as memory:
            records, _ = program.train(REPEATED_STEPS)
        beside = memory.most - memory.before - planned
        used = f", {beside / MIB:.0f} MiB beside it" if memory.most > memory.before else ", the driver's figure is unknown"
    allocated = {record["allocated_bytes"] for record in records}
    expect(allocated == {planned}, f"allocated {allocated} bytes, but the plan has {planned}")
    return f"{planned / MIB:.0f} MiB{used}"


def check_sanitizer(program: Program) -> str:
    if program.target != "cuda":
        raise Skipped("on CUDA")
    tool = compute_sanitizer()
    if not tool:
        raise Skipped("compute-sanitizer is not installed")
    if program.is_large:
        raise Skipped("small models alone")
    kinds = ("memcheck", "racecheck", "synccheck")
    of_libraries = []
    for kind in kinds:
        try:
            program.train(SANITIZED_STEPS, under=(tool, f"--tool={kind}", "--error-exitcode=9"))
        except Failed as failed:
            if kind != "racecheck" or not is_race_of_libraries(failed):
                raise
            of_libraries.append(", but for races within a library's kernel")
    return ", ".join(kinds) + "".join(of_libraries)


RACING = re.compile("(?:Read|Write) access at (.*)\\+0x")


def is_race_of_libraries(failed: Failed) -> bool:
    """Whether racecheck ends with a summary of races, and names no kernel of gpuopt."""
    names = RACING.findall(failed.output)
    is_whole = "RACECHECK SUMMARY" in failed.output and "application returned an error" not in failed.output
    return bool(names) and is_whole and not any("gpuopt" in name for name in names)


TORCH_TIMES: dict[tuple[str, str], dict[str, dict] | Skipped] = {}  # by model and precision


def torch_times(program: Program) -> dict[str, dict]:
    """As measure_torch; programs that differ in their memory budget alone share it."""
    if not program.torch_modes:
        raise Skipped("--torch-modes none")
    key = (program.record["name"], program.record["precision"])
    if key not in TORCH_TIMES:
        try:
            TORCH_TIMES[key] = measure_torch(program)
        except Skipped as skipped:
            TORCH_TIMES[key] = skipped
    if isinstance(TORCH_TIMES[key], Skipped):
        raise TORCH_TIMES[key]
    return TORCH_TIMES[key]


def measure_torch(program: Program) -> dict[str, dict]:
    """Returns what torch_side.py measured, by the mode of torch.compile. It is a
    process of its own, so that its memory is free again for what comes next;
    the modes that were done before its time was over count."""
    side = [sys.executable, Path(__file__).with_name("torch_side.py"), program.folder, program.weights(), program.target]
    command = [str(part) for part in [*side, TIMED_STEPS, *program.torch_modes]]
    program.deadline.allowed()
    limit = min(LONGEST_TORCH_RUN_IN_SECONDS, program.deadline.seconds_left())
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        output, error = run.stdout, run.stderr
    except subprocess.TimeoutExpired as late:
        output, error = (late.stdout or b"").decode(errors="replace"), "it took too long"
    records = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    if not records:
        raise Skipped(f"PyTorch has no time: {error.strip().splitlines()[-1] if error.strip() else 'no output'}")
    return {record.pop("mode"): record for record in records}


def check_torch_loss(program: Program, ours: float, theirs: float) -> None:
    """The first loss of what was timed is that of PyTorch's step in the same
    precision. Later ones of a batch that is learned by heart drift apart."""
    allowed = TOLERANCES[program.record["precision"]][0]
    error = abs(ours - theirs) / abs(theirs)
    expect(error <= allowed, f"the first loss is {ours}, PyTorch's is {theirs}: they differ by {error:.1e}, allowed is {allowed}")


def check_timing(program: Program) -> str:
    """The median step in ms beside that of torch.compile with AMP and fused
    AdamW, and what each allocates."""
    records, _ = program.train(TIMED_STEPS)
    ours = statistics.median(record["step_ms"] for record in records[TIMED_STEPS // 2 :])
    program.measured["step_ms"] = ours
    estimate = program.record.get("estimated_step_ms")
    text = f"{ours:.2f} ms" + (f" (estimated {estimate:.2f})" if estimate and program.target == "cuda" else "")
    try:
        program.measured["torch"] = torch_times(program)
    except Skipped as skipped:
        return f"{text}; {skipped}"
    mode, theirs = min(program.measured["torch"].items(), key=lambda item: item[1]["step_ms"])
    check_torch_loss(program, records[0]["loss"], theirs["losses"][0])
    text += f" beside {theirs['step_ms']:.2f} of {mode} ({ours / theirs['step_ms']:.2f})"
    if theirs["allocated_bytes"]:
        text += f"; {program.planned_bytes() / MIB:.0f} MiB beside {theirs['allocated_bytes'] / MIB:.0f}"
        text += f" ({theirs['reserved_bytes'] / MIB:.0f} reserved)"
    return text


def check_kernels(program: Program) -> str:
    """Profiles a run; kernels.py sets the times beside the estimates."""
    file = program.build / "costs.json"
    program.train(PROFILED_STEPS, f"--profile-costs-to={file}")
    program.measured["kernels"] = compare_kernels(json.loads(file.read_text()), program.record["kernels"])
    together = sum(row["measured_ms"] for row in program.measured["kernels"])
    return f"{together:.2f} ms"


def check_profile(program: Program) -> str:
    """How much longer a step takes while it is profiled."""
    if program.target != "cuda":
        raise Skipped("on CUDA")
    if not program.is_large:
        raise Skipped("large models alone")
    before, profiled = STEPS_BEFORE_A_PROFILE, STEPS_OF_A_PROFILE
    schedule = f"--profile=wait={before},warmup={STEPS_LEFT_OUT},active={profiled},repeat=1"
    records, _ = program.train(before + STEPS_LEFT_OUT + profiled, schedule)
    times = [record["step_ms"] for record in records]
    plain, measured = statistics.median(times[STEPS_LEFT_OUT:before]), statistics.median(times[-profiled:])
    text = f"{measured:.2f} ms beside {plain:.2f} without ({measured / plain:.3f})"
    launches = sum(kernel["launches"] for kernel in program.record["kernels"])
    of_launch = (measured - plain) / launches
    text += f", {1e3 * of_launch:.1f} us for each of {launches} launches"
    allowed = f"allowed are {MOST_TIME_OF_A_PROFILE}, or {1e3 * PROFILE_MS_OF_A_LAUNCH:.0f} us for a launch"
    holds = measured <= MOST_TIME_OF_A_PROFILE * plain or of_launch <= PROFILE_MS_OF_A_LAUNCH
    expect(holds, f"a profiled step takes {text}; {allowed}")
    return text


def check_attention(program: Program) -> str:
    """Attention's times with our own forward and with cuDNN's, beside those of
    PyTorch's kernels. Both forwards give the same losses, but for rounding."""
    if program.target != "cuda":
        raise Skipped("on CUDA")
    file = program.build / "costs.json"
    if not file.exists():
        raise Skipped("nothing was profiled")
    if not shapes_of(json.loads(file.read_text())):
        raise Skipped("has none")
    profiles, losses = {}, {}
    for library in ("own", "cudnn"):
        file = program.build / f"costs-{library}.json"
        records, _ = program.train(PROFILED_STEPS, f"--profile-costs-to={file}", f"--attention-library={library}")
        profiles[library] = json.loads(file.read_text())
        losses[library] = records[0]["loss"]
    # Where cuDNN was asked in vain, our own kernels would be compared with themselves.
    in_vain = OWN_ATTENTION.search(program.output)
    if in_vain:
        del profiles["cudnn"]
    error = abs(losses["cudnn"] - losses["own"])
    allowed = TOLERANCES[program.record["precision"]][0] * abs(losses["own"])
    expect(error <= allowed, f"the first loss with cuDNN's attention differs by {error:.3g}, allowed is {allowed:.3g}")
    rows = compare_attention(profiles, program.record["name"].startswith("gpt2"))
    program.measured["attention"] = rows
    if in_vain:
        raise Skipped(f"cuDNN does not compute all of it: {in_vain[1]}")
    return f"{len(rows)} times"


CHECKS: dict[str, Callable[[Program], str]] = {
    "build": check_build, "losses": check_losses, "gradients": check_gradients, "determinism": check_determinism,
    "library": check_library, "memory": check_memory, "timing": check_timing, "kernels": check_kernels,
    "attention": check_attention, "profile": check_profile, "sanitizer": check_sanitizer,
}
SIDE_BY_SIDE = ("losses", "gradients", "determinism", "library")
PARITY = (*SIDE_BY_SIDE, "memory")
TIMES = ("timing", "kernels", "attention", "profile")

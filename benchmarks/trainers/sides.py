"""Processes that train, to be run by turns.

A side prints a line `step N...` when a step is done and writes its time to
metrics.jsonl, as gpuopt's trainer does.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

from trainers.programs import Program

LONGEST_SILENCE_IN_SECONDS = 900
FOREVER = 10_000_000  # steps


class Side:
    """A training process that is stopped except while `run` runs it."""

    def __init__(self, name: str, command: list[str], folder: pathlib.Path, environment: dict[str, str] | None = None):
        self.name = name
        self.folder = folder
        self.seconds: tuple[float, ...] = ()  # that passed before it could be started
        self.measured: list[range] = []
        self.last_step = 0
        self.output: list[str] = []
        self.progress = threading.Condition()
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **(environment or {})}
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            with self.progress:
                if found := re.match(r"step (\d+)", line):
                    self.last_step = int(found[1])
                else:
                    self.output.append(line)
                self.progress.notify()
        with self.progress:
            self.last_step = -1
            self.progress.notify()

    def _wait_for(self, step: int) -> None:
        with self.progress:
            done = self.progress.wait_for(
                lambda: self.last_step < 0 or self.last_step >= step, LONGEST_SILENCE_IN_SECONDS
            )
        if not done or self.last_step < 0:
            raise RuntimeError(f"{self.name} does not train:\n{''.join(self.output[-40:])}")

    def _pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)  # what it has printed arrives

    def warm_up(self, steps: int) -> None:
        self._wait_for(steps)
        self.peak_of_warm_up = self._read_peak()
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")  # VmHWM begins anew
        self._pause()

    def run(self, seconds: float, steps: int) -> None:
        first = self.last_step + 2  # the next one began before the pause
        self.process.send_signal(signal.SIGCONT)
        begin = time.monotonic()
        self._wait_for(first - 1 + steps)
        while time.monotonic() - begin < seconds:
            self._wait_for(self.last_step + 1)
        self._pause()
        self.measured.append(range(first, self.last_step + 1))

    def step_times(self) -> list[float]:
        """In milliseconds, of the steps that count."""
        records = [json.loads(line) for line in (self.folder / "metrics.jsonl").read_text().splitlines()]
        times = {record["step"]: record["step_ms"] for record in records if "step_ms" in record}
        return [times[step] for steps in self.measured for step in steps]

    def _read_peak(self) -> int:
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])

    def memory_in_mib(self) -> tuple[float, float]:
        steady = self._read_peak()
        return max(self.peak_of_warm_up, steady) / 1024, steady / 1024

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def start_gpuopt(name: str, program: Program, options: argparse.Namespace) -> Side:
    folder = program.folder / "out"
    folder.mkdir(exist_ok=True)
    command = [str(program.folder / "build" / "trainer"), "--no-shuffle", "--lr-scheduler-type=constant"]
    command += [f"--data={name}={file}" for name, file in program.data.items()] + [f"--labels={program.labels}"]
    command += [f"--max-steps={FOREVER}", f"--num-threads={options.threads}", f"--max-grad-norm={options.max_grad_norm}"]
    command += ["--logging-steps=1"]  # which `Side` reads
    side = Side(name, [*command, f"--output-dir={folder}"], folder)
    side.seconds = program.seconds
    return side


def start_torch(name: str, model: str, work: pathlib.Path, options: argparse.Namespace) -> Side:
    folder = work / f"{model}-{name}"
    folder.mkdir(exist_ok=True, parents=True)
    worker = pathlib.Path(__file__).with_name("torch_worker.py")
    command = [sys.executable, str(worker), model, f"--mode={name}", f"--threads={options.threads}"]
    command += [f"--max-grad-norm={options.max_grad_norm}", f"--output-dir={folder}"]
    command.append(f"--precision={options.precision}")
    return Side(name, command, folder, {"OMP_NUM_THREADS": str(options.threads)})

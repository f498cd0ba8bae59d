"""Builds and checks programs that prepare.py made; see gpu-check.sh."""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import sys
import traceback
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "scripts" / "gpu_check")]

from checks import CHECKS, PARITY, TIMES
from device import describe_device, device_name, differences
from programs import Deadline, Failed, Program, Skipped
from report import BROKEN, FAILED, PASSED, SKIPPED, Outcome, Report

# The machine's own description, then what tells most: whether it is right, then
# how fast the two best-known models are, then everything else.
FIRST_TIMED = ("gpt2", "resnet50")
CORES_PER_BUILD = 2


def outcome_of(program: str, name: str, check: Callable[[], str]) -> Outcome:
    try:
        return Outcome(program, name, PASSED, check())
    except Skipped as skipped:
        return Outcome(program, name, SKIPPED, str(skipped))
    except Failed as failed:
        return Outcome(program, name, FAILED, str(failed))
    except Exception:  # of PyTorch, or of what the trainer wrote
        return Outcome(program, name, BROKEN, traceback.format_exc())


def open_programs(options: argparse.Namespace, deadline: Deadline, report: Report) -> list[Program]:
    """The programs in the folders; one that prepare.py has not made is an outcome."""
    programs = []
    for folder in options.folders:
        try:
            programs.append(Program(folder, options.target, deadline))
        except (OSError, KeyError, ValueError) as error:
            text = f"{folder}: is none that gpu-check.sh --prepare has made: {error}"
            report.outcomes.append(Outcome(folder.name, "folder", FAILED, text))
    return programs


def order_of_checks(programs: list[Program]) -> list[tuple[Program, str]]:
    """Every check of every program but the build, the most telling first."""
    parity = [(program, name) for program in programs for name in PARITY]
    first = [p for model in FIRST_TIMED for p in programs if p.record["name"].startswith(model) and p.is_large]
    rest = [program for program in programs if program not in first]
    timed = [(program, name) for program in [*first, *rest] for name in TIMES]
    last = [(program, name) for program in programs for name in CHECKS if name not in (*PARITY, *TIMES, "build")]
    return [*parity, *timed, *last]


class Builds:
    """Builds of all programs side by side, begun in the order of the list."""

    def __init__(self, programs: list[Program]):
        workers = max(1, (os.cpu_count() or 1) // CORES_PER_BUILD)
        self.pool = concurrent.futures.ThreadPoolExecutor(workers)
        build = lambda program: outcome_of(program.name, "build", lambda: CHECKS["build"](program))
        self.futures = {program.name: self.pool.submit(build, program) for program in programs}

    def outcome(self, program: Program) -> Outcome:
        """Waits for the build of a program."""
        return self.futures[program.name].result()

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)


def describe(report: Report, programs: list[Program]) -> str:
    """What the GPU says of itself goes into the report."""
    report.described = describe_device()
    assumed = next((p.record["device_model"] for p in programs if "device_model" in p.record), {})
    report.differences = differences(report.described, assumed)
    return f"{len(report.differences)} members are not what the estimates assumed"


def run_checks(programs: list[Program], options: argparse.Namespace, report: Report) -> None:
    builds = Builds(programs)
    try:
        if options.target == "cuda":
            report.outcomes.append(outcome_of("device", "description", lambda: describe(report, programs)))
        known: set[str] = set()
        for program, name in order_of_checks(programs):
            build = builds.outcome(program)
            if program.name not in known:
                known.add(program.name)
                report.outcomes.append(build)
            report.outcomes.append(check_one(program, name, build, options))
            if program.measured:
                report.measured[program.name] = program.measured
            print(f"{program.name}, {name}: {report.outcomes[-1].state}: {report.outcomes[-1].text}", flush=True)
            report.write(options.report, options.junit_xml)  # what is known, should this process be stopped
    finally:
        builds.close()


def check_one(program: Program, name: str, build: Outcome, options: argparse.Namespace) -> Outcome:
    """One check; what follows a build that did not succeed is not tried."""
    if build.state != PASSED:
        return Outcome(program.name, name, SKIPPED, "not built")
    if name in TIMES and options.skip_timing:
        return Outcome(program.name, name, SKIPPED, "--skip-timing")
    return outcome_of(program.name, name, lambda: CHECKS[name](program))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--target", choices=["cuda", "host"], default="cuda")
    parser.add_argument("--junit-xml", type=Path)
    parser.add_argument("--report", type=Path, default=ROOT / "build" / "gpu-check" / "report.md")
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--skip-timing", action="store_true")
    options = parser.parse_args()
    report = Report(device_name(options.target))
    programs = open_programs(options, Deadline(options.minutes), report)
    run_checks(programs, options, report)
    report.write(options.report, options.junit_xml)
    print(report.markdown())
    return 1 if report.wrong() else 0


if __name__ == "__main__":
    sys.exit(main())

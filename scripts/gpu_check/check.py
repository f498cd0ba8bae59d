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

from checks import CHECKS, PARITY, SIDE_BY_SIDE, TIMES
from device import describe_device, device_name, differences
from programs import Deadline, Failed, Program, Skipped
from report import BROKEN, FAILED, PASSED, SKIPPED, Outcome, Report

# Whether it is right tells most, then the machine's own description and how fast the
# two best-known models are, then everything else.
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
    small = [program for program in programs if not program.is_large]
    large = [program for program in programs if program.is_large]
    first = [next((p for p in large if p.record["name"].startswith(model)), None) for model in FIRST_TIMED]
    first = [program for program in first if program]
    large = [*first, *(program for program in large if program not in first)]
    parity = [(program, name) for program in small for name in PARITY]
    timed = [(program, name) for program in [*first, *large, *small] for name in TIMES]
    last = [(program, name) for program in [*first, *small, *large] for name in CHECKS if name != "build"]
    return list(dict.fromkeys([*parity, *timed, *last]))


class Parity:
    """The checks of SIDE_BY_SIDE for all programs: a program's one after another,
    since each finds what the ones before it have recorded, and programs side by
    side, since a small one leaves most of a GPU idle."""

    PROGRAMS_AT_ONCE = 4

    def __init__(self, programs: list[Program], builds: "Builds", options: argparse.Namespace):
        self.pool = concurrent.futures.ThreadPoolExecutor(self.PROGRAMS_AT_ONCE)
        check_all = lambda program: {
            name: check_one(program, name, builds.outcome(program), options) for name in SIDE_BY_SIDE
        }
        self.futures = {program.name: self.pool.submit(check_all, program) for program in programs}

    def outcome(self, program: Program, name: str) -> Outcome:
        """Waits for the checks of a program."""
        return self.futures[program.name].result()[name]

    def wait(self) -> None:
        concurrent.futures.wait(self.futures.values())

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)


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


def run_checks(programs: list[Program], options: argparse.Namespace, report: Report, deadline: Deadline) -> None:
    builds = Builds(programs)
    parity = Parity([program for program in programs if not program.is_large], builds, options)
    try:
        if options.target == "cuda" and is_wanted("description", options):
            parity.wait()  # what is measured is measured alone
            report.outcomes.append(outcome_of("device", "description", lambda: describe(report, programs)))
        known: set[str] = set()
        for program, name in order_of_checks(programs):
            build = builds.outcome(program)
            if program.name not in known:
                known.add(program.name)
                report.outcomes.append(build)
            together = name in SIDE_BY_SIDE and not program.is_large
            if not together:
                parity.wait()  # what is measured is measured alone
            outcome = parity.outcome(program, name) if together else check_one(program, name, build, options)
            report.outcomes.append(outcome)
            if program.measured:
                report.measured[program.name] = program.measured
            print(f"{deadline.passed():.0f} s: {program.name}, {name}: {outcome.state}: {outcome.text}", flush=True)
            report.write(options.report, options.junit_xml)  # what is known, should this process be stopped
    finally:
        parity.close()
        builds.close()


def is_wanted(name: str, options: argparse.Namespace) -> bool:
    return not options.only or name in options.only.split(",")


def check_one(program: Program, name: str, build: Outcome, options: argparse.Namespace) -> Outcome:
    """One check; what follows a build that did not succeed is not tried."""
    if build.state != PASSED:
        return Outcome(program.name, name, SKIPPED, "not built")
    if not is_wanted(name, options):
        return Outcome(program.name, name, SKIPPED, "--only")
    if name in TIMES and options.skip_timing:
        return Outcome(program.name, name, SKIPPED, "--skip-timing")
    return outcome_of(program.name, name, lambda: CHECKS[name](program))


def find_libraries() -> None:
    """Lets trainers that were built elsewhere find the libraries of NVIDIA's wheels."""
    try:
        import nvidia
    except ImportError:
        return
    files = [file for root in nvidia.__path__ for file in Path(root).glob("*/lib/lib*.so.*")]
    folders = sorted({str(file.parent) for file in files if file.name.startswith(("libcublasLt", "libcudnn", "libcupti"))})
    os.environ["LD_LIBRARY_PATH"] = ":".join([*folders, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--target", choices=["cuda", "host"], default="cuda")
    parser.add_argument("--junit-xml", type=Path)
    parser.add_argument("--report", type=Path, default=ROOT / "build" / "gpu-check" / "report.md")
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--skip-timing", action="store_true")
    parser.add_argument("--torch-modes", default="default,max-autotune", help="modes of torch.compile, or none")
    parser.add_argument("--only", help="the checks to make, as losses,timing; without it, all are made")
    options = parser.parse_args()
    names = ["description", *CHECKS]
    for name in options.only.split(",") if options.only else []:
        if name not in names:
            parser.error(f"--only: '{name}' is no check; they are {', '.join(names)}")
    if options.target == "cuda":
        find_libraries()
    report = Report(device_name(options.target))
    deadline = Deadline(options.minutes)
    programs = open_programs(options, deadline, report)
    for program in programs:
        program.torch_modes = [mode for mode in options.torch_modes.split(",") if mode != "none"]
    run_checks(programs, options, report, deadline)
    report.write(options.report, options.junit_xml)
    print(report.markdown())
    return 1 if report.wrong() else 0


if __name__ == "__main__":
    sys.exit(main())

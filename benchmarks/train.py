#!/usr/bin/env python3
"""Trains models by gpuopt's host programs and by PyTorch, alternately, and
prints step times and resident memory side by side.

usage: train.py [MODEL...] [--rounds 10] [--threads 2] [--max-grad-norm 1] [--work FOLDER]
                [--sides gpuopt,eager,compile] [--driver PATH] [--precision fp32] [--variant NAME=DRIVER[,FLAG...]]...
                [--build-only | --built]

Every side is a process of its own. One runs while the others are stopped, for
a second or three steps, whichever is longer; then it is the next one's turn,
and so on for all rounds, so that a busy machine is busy for all. The first
step after a pause does not count. PyTorch runs with fused AdamW, in float32,
convolutional models in channels_last; `compile` is torch.compile of model and
loss. With --precision bf16, PyTorch runs under autocast. --variant adds a side: another build of gpuopt, or other flags
(`small=build/bin/gpuopt,--memory-budget=1GiB`).

--build-only makes the programs of all sides in the folder that --work names, and
measures nothing; --built runs what lies there, so that a machine that is quiet
for a short while spends all of it on steps.

`ratio` is the side's median over that of the first. `peak` is the resident memory
at its highest since the process began, `steady` since the fifth step. Seconds
are those of `gpuopt compile` and of the C++ compiler.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python"), str(HERE.parent / "test" / "Integration")]

from trainers.programs import built, prepare
from trainers.sides import Side, start_gpuopt, start_torch

MODELS = [
    "gpt2-bench", "gpt2", "bert", "llama", "resnet18-224", "resnet50", "unet", "mobilenetv3", "efficientnet_b0",
    "densenet121", "convnext_tiny", "vit_b16", "swin_tiny", "mixer",
]
WARM_UP_STEPS = 5


@dataclasses.dataclass
class Variant:
    """A build of gpuopt, and flags for its `compile`."""

    name: str
    driver: str
    flags: list[str]

    @classmethod
    def parse(cls, text: str) -> "Variant":
        name, _, rest = text.partition("=")
        driver, *flags = rest.split(",")
        return cls(name, driver, flags)


def variants_by_name(options: argparse.Namespace) -> dict[str, Variant]:
    """The sides that are programs of gpuopt."""
    variants = {variant.name: variant for variant in options.variant}
    if "gpuopt" in options.sides.split(","):
        variants["gpuopt"] = Variant("gpuopt", options.driver, [f"--precision={options.precision}"])
    return variants


def start_sides(model: str, work: pathlib.Path, options: argparse.Namespace) -> list[Side]:
    variants = variants_by_name(options)
    names = [*options.sides.split(","), *(variant.name for variant in options.variant)]
    sides = []
    try:
        for name in names:
            if name in variants:
                variant = variants[name]
                program = built(model, work, name) if options.built else prepare(model, work, variant.driver, name, variant.flags)
                sides.append(start_gpuopt(name, program, options))
            else:
                sides.append(start_torch(name, model, work, options))
            sides[-1].warm_up(WARM_UP_STEPS)
    except BaseException:
        stop_sides(sides)
        raise
    return sides


def stop_sides(sides: list[Side]) -> None:
    for side in sides:
        side.end()


def compare(model: str, work: pathlib.Path, options: argparse.Namespace) -> None:
    sides = start_sides(model, work, options)
    try:
        for _ in range(options.rounds):
            for side in sides:
                side.run(seconds=1, steps=3)
        print_rows(model, sides)
    finally:
        stop_sides(sides)


def build(model: str, work: pathlib.Path, options: argparse.Namespace) -> None:
    for variant in variants_by_name(options).values():
        program = prepare(model, work, variant.driver, variant.name, variant.flags)
        print(f"{program.folder} {program.seconds[0]:.2f} {program.seconds[1]:.2f}", flush=True)


def print_rows(model: str, sides: list[Side]) -> None:
    reference = statistics.median(sides[0].step_times())
    for side in sides:
        times = side.step_times()
        median = statistics.median(times)
        peak, steady = side.memory_in_mib()
        seconds = " ".join(f"{number:8.2f}" for number in side.seconds)
        print(
            f"{model:<12} {side.name:<9} {median:9.2f} {min(times):9.2f} {median / reference:6.2f} {len(times):6} "
            f"{peak:8.0f} {steady:8.0f} {seconds}".rstrip(),
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-grad-norm", type=float, default=1.0)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--sides", default="gpuopt,eager,compile")
    parser.add_argument("--driver", default=str(HERE.parent / "build" / "bin" / "gpuopt"))
    parser.add_argument("--variant", type=Variant.parse, action="append", default=[])
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--built", action="store_true")
    options = parser.parse_args()
    if (options.build_only or options.built) and not options.work:
        parser.error("--build-only and --built want --work, the folder in which programs are built")
    if options.build_only:
        for model in options.models:
            build(model, options.work, options)
        return
    print(
        f"{'model':<12} {'side':<9} {'median ms':>9} {'min ms':>9} {'ratio':>6} {'steps':>6} "
        f"{'peak MiB':>8} {'steady':>8} {'compile':>8} {'C++ s':>8}",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="gpuopt-train-") as scratch:
        for model in options.models:
            compare(model, options.work or pathlib.Path(scratch), options)


if __name__ == "__main__":
    main()

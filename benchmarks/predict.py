#!/usr/bin/env python3
"""Computes models' outputs by gpuopt's host programs and by onnxruntime,
alternately, and prints times of a batch and resident memory side by side.

usage: predict.py [MODEL...] [--batches 1,8] [--rounds 6] [--threads 2] [--wait-policy active|passive]
                  [--work FOLDER] [--driver PATH] [--build-only | --built]

Both sides are processes of Python that read the same ONNX file, which has the
model in evaluation mode, and compute the same batch again and again: gpuopt by
`gpuopt.load`, onnxruntime with its CPU provider and as many threads. One runs
while the other is stopped, for half a second or three batches, whichever is
longer; then it is the other's turn. The first batch after a pause does not
count. The largest difference of their outputs is printed, too.

--wait-policy says how gpuopt's threads wait for the next kernel, by the
variable OMP_WAIT_POLICY of their process; without it, the program measures what
is faster. Where others use the cores, threads that sleep ("passive") are.

--build-only makes the files and the programs in the folder that --work names,
and measures nothing; --built runs what lies there, so that a machine that is
quiet for a short while spends all of it on predictions.

`time/ort` is the median over that of onnxruntime: below 1 is faster than
onnxruntime, 1.5 takes half as long again. `peak` is the resident memory at its
highest since the process began, `steady` since the fifth batch.
"""

from __future__ import annotations

import argparse
import math
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python"), str(HERE.parent / "test" / "Integration")]

import numpy as np
import torch

import gpuopt
from trainers import cases
from trainers.programs import run
from trainers.sides import Side

MODELS = ["gpt2-bench", "bert", "resnet18-224", "resnet50", "unet"]
WARM_UP_BATCHES = 5


def export(model: str, batch: int, work: pathlib.Path) -> pathlib.Path:
    """The folder with model.onnx, in evaluation mode, and a batch of its inputs."""
    folder = work / f"{model}-{batch}"
    if (folder / "model.onnx").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    case = cases.make(model)
    inputs = {name: np.resize(array, (batch, *array.shape[1:])) for name, array in case.inputs.items()}
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
    unfinished = folder / "unfinished.onnx"
    # Without the exporter's optimizer: both sides fold batch norms by themselves.
    torch.onnx.export(case.module.eval(), tuple(map(torch.from_numpy, inputs.values())), unfinished, input_names=list(inputs),
                      output_names=["logits"], dynamo=True, optimize=False, external_data=False, verbose=False)
    os.rename(unfinished, folder / "model.onnx")
    return folder


def build(model: str, batch: int, work: pathlib.Path, driver: str) -> pathlib.Path:
    folder = export(model, batch, work)
    program = folder / "program"
    run(driver, "compile", folder / "model.onnx", "-o", program, "--inference", "--target=host", f"--batch-size={batch}")
    shutil.rmtree(program / "build", ignore_errors=True)
    gpuopt.load(program).close()
    return folder


def start(name: str, folder: pathlib.Path, options: argparse.Namespace) -> Side:
    out = folder / name
    out.mkdir(exist_ok=True)
    (out / "metrics.jsonl").unlink(missing_ok=True)
    worker = HERE / "trainers" / "predict_worker.py"
    environment = {"OMP_NUM_THREADS": str(options.threads)}
    if name == "gpuopt" and options.wait_policy:
        environment["OMP_WAIT_POLICY"] = options.wait_policy
    return Side(name, [sys.executable, str(worker), str(folder), str(out), f"--mode={name}", f"--threads={options.threads}"], out,
                environment)


def compare(model: str, batch: int, folder: pathlib.Path, options: argparse.Namespace) -> float:
    """Prints the rows; returns gpuopt's median over onnxruntime's."""
    sides: list[Side] = []
    try:
        for name in ("gpuopt", "onnxruntime"):
            sides.append(start(name, folder, options))
            sides[-1].warm_up(WARM_UP_BATCHES)
        for _ in range(options.rounds):
            for side in sides:
                side.run(seconds=0.5, steps=3)
        medians = [statistics.median(side.step_times()) for side in sides]
        outputs = [np.load(folder / side.name / "output.npy").astype(np.float64) for side in sides]
        difference = float(np.abs(outputs[0] - outputs[1]).max())
        for side, median in zip(sides, medians):
            times = side.step_times()
            peak, steady = side.memory_in_mib()
            print(f"{model:<13} {batch:>5} {side.name:<11} {median:9.2f} {min(times):9.2f} {median / medians[1]:8.2f} {len(times):6} "
                  f"{peak:8.0f} {steady:8.0f} {difference:10.1e}", flush=True)
        return medians[0] / medians[1]
    finally:
        for side in sides:
            side.end()


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--wait-policy", choices=["active", "passive"])
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--driver", default=str(HERE.parent / "build" / "bin" / "gpuopt"))
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--built", action="store_true")
    options = parser.parse_args()
    if (options.build_only or options.built) and not options.work:
        parser.error("--build-only and --built want --work, the folder in which programs are built")
    batches = [int(text) for text in options.batches.split(",")]
    if not options.build_only:
        print(f"{'model':<13} {'batch':>5} {'side':<11} {'median ms':>9} {'min ms':>9} {'time/ort':>8} {'count':>6} "
              f"{'peak MiB':>8} {'steady':>8} {'difference':>10}", flush=True)
    ratios = []
    with tempfile.TemporaryDirectory(prefix="gpuopt-predict-") as scratch:
        work = options.work or pathlib.Path(scratch)
        for model in options.models:
            for batch in batches:
                folder = work / f"{model}-{batch}" if options.built else build(model, batch, work, options.driver)
                if options.build_only:
                    print(folder, flush=True)
                else:
                    ratios.append(compare(model, batch, folder, options))
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"gpuopt takes {mean:.2f} times as long as onnxruntime, in geometric mean over {len(ratios)} cases: "
              f"it is {'faster' if mean < 1 else 'not faster'}")


if __name__ == "__main__":
    main()

"""Computes a batch again and again, and tells the time of each, as a side of predict.py."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))

import numpy as np


def gpuopt_forward(folder: pathlib.Path, threads: int):
    import gpuopt

    program = gpuopt.load(folder / "program", num_threads=threads)
    return lambda inputs: program.forward(inputs)["logits"]


def onnxruntime_forward(folder: pathlib.Path, threads: int):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(["logits"], inputs)[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--mode", choices=["gpuopt", "onnxruntime"], required=True)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    inputs = {file.stem: np.load(file) for file in options.folder.glob("*.npy")}
    forward = {"gpuopt": gpuopt_forward, "onnxruntime": onnxruntime_forward}[options.mode](options.folder, options.threads)
    np.save(options.out / "output.npy", forward(inputs))
    with open(options.out / "metrics.jsonl", "w") as metrics:
        step = 0
        while True:
            begin = time.perf_counter()
            forward(inputs)
            milliseconds = 1000 * (time.perf_counter() - begin)
            step += 1
            metrics.write(json.dumps({"step": step, "step_ms": milliseconds}) + "\n")
            metrics.flush()
            print(f"step {step}", flush=True)


if __name__ == "__main__":
    main()

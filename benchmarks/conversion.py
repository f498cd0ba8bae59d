"""Time and memory of the conversion of a large ONNX file, up to the tensors of the phase nn.

usage: conversion.py [--nodes N]

The file is made here: layers of ten nodes, one of which is a product with a weight of 16 KiB. Memory is the most that the
process has, less what `gpuopt --version` has, which is the compiler itself.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "python")]

from gpuopt.driver import find_driver  # noqa: E402

# Operators of a layer; "last" is the result of the node before, "begin" what the layer reads.
LAYER = [("MatMul", "begin", "weight"), ("Add", "last", "bias"), ("Relu", "last"), ("Add", "last", "begin"), ("Sigmoid", "last"),
         ("Mul", "last", "begin"), ("Tanh", "last"), ("Transpose", "last"), ("Transpose", "last"), ("Add", "last", "begin")]


def make_model(path: Path, count: int, width=64) -> None:
    nodes, weights, begin, last = [], [], "x", "x"
    while len(nodes) < count:
        layer = f"l{len(nodes) // len(LAYER)}"
        names = {"weight": f"{layer}.weight", "bias": f"{layer}.bias"}
        weights += [numpy_helper.from_array(np.full((width, width), 0.01, np.float32), names["weight"]),
                    numpy_helper.from_array(np.zeros(width, np.float32), names["bias"])]
        for op, *operands in LAYER:
            inputs = [(names | {"begin": begin, "last": last})[operand] for operand in operands]
            last = f"n{len(nodes)}"
            nodes.append(helper.make_node(op, inputs, [last], name=last))
        begin = last
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", width]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "large", ends[:1], ends[1:], weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)


def run(*command) -> tuple[float, int]:
    """Seconds, and the most memory in bytes, as the system counts it a moment before the end."""
    begin, most = time.perf_counter(), 0
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        found = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{process.pid}/status").read_text())
        most = max(most, int(found[1]) * 1024 if found else 0)
        time.sleep(0.001)
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed")
    return time.perf_counter() - begin, most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.onnx"
        make_model(model, options.nodes)
        size = model.stat().st_size
        _, own = run(find_driver(), "--version")
        runs = [run(find_driver(), "compile", model, "--batch-size=8", "--loss=mse", "--compile-to=nn") for _ in range(3)]
    seconds, memory = min(seconds for seconds, _ in runs), max(memory for _, memory in runs) - own
    print(f"{options.nodes} nodes, {size / 2**20:.0f} MiB: {seconds:.2f} s, {memory / 2**20:.0f} MiB beside the compiler's own {own / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes what `gpuopt doctor` trains: mlp.onnx, an untrained perceptron with 16
inputs, a hidden layer of 32 and 4 classes, and 512 samples of x.npy, f32, with
their labels.npy, u8: the largest of four fixed projections. Needs onnx, NumPy.

usage: make_self_test.py [FOLDER]
"""
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INPUTS, HIDDEN, CLASSES, SAMPLES = 16, 32, 4, 512


def weight(random: np.random.Generator, name: str, *shape: int) -> onnx.TensorProto:
    values = random.uniform(-1, 1, shape) / np.sqrt(shape[-1])
    return numpy_helper.from_array(values.astype(np.float32), name)


def perceptron(random: np.random.Generator) -> onnx.ModelProto:
    weights = [weight(random, "hidden.weight", HIDDEN, INPUTS), weight(random, "hidden.bias", HIDDEN),
               weight(random, "head.weight", CLASSES, HIDDEN), weight(random, "head.bias", CLASSES)]
    nodes = [
        helper.make_node("Gemm", ["x", "hidden.weight", "hidden.bias"], ["h"], "hidden", transB=1),
        helper.make_node("Relu", ["h"], ["r"], "relu"),
        helper.make_node("Gemm", ["r", "head.weight", "head.bias"], ["logits"], "head", transB=1),
    ]
    value = lambda name, width: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", width])
    graph = helper.make_graph(nodes, "mlp", [value("x", INPUTS)], [value("logits", CLASSES)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    random = np.random.default_rng(0)
    onnx.save(perceptron(random), folder / "mlp.onnx")
    x = random.standard_normal((SAMPLES, INPUTS), dtype=np.float32)
    np.save(folder / "x.npy", x)
    np.save(folder / "labels.npy", (x @ random.standard_normal((INPUTS, CLASSES))).argmax(1).astype(np.uint8))

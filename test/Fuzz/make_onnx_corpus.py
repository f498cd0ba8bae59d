#!/usr/bin/env python3
"""Writes the seeds of gpuopt-fuzz-onnx: a few small random graphs of each operator, as they are and with a loss.

usage: make_onnx_corpus.py FOLDER
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

from onnx import TensorProto, helper

from random_graph import NEWEST_OPSET, OPERATORS, make_graph
from random_programs import for_training, model_of, training_model

# Some operators need others for their operands.
HELPERS = {"Greater", "Add", "ArgMax"}


def with_batch(model, free):
    """Inputs with a symbolic first dimension in place of the first parameters."""
    for tensor in [tensor for tensor in model.graph.initializer if ".p" in tensor.name and len(tensor.dims) > 1][:free]:
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, ["batch", *tensor.dims[1:]]))
        model.graph.initializer.remove(tensor)
    return model


def with_function(model):
    """The model with its first node of one output as a function."""
    node = next(node for node in model.graph.node if len(node.output) == 1 and node.input and all(node.input))
    inputs = [f"x{i}" for i in range(len(node.input))]
    body = helper.make_node(node.op_type, inputs, ["y"])
    body.attribute.extend(node.attribute)
    model.functions.append(helper.make_function("local", "Once", inputs, ["y"], [body], list(model.opset_import)))
    model.opset_import.append(helper.make_opsetid("local", 1))
    node.op_type, node.domain = "Once", "local"
    del node.attribute[:]
    return model


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for operator in {operator.name: operator for operator in OPERATORS}.values():
    for seed in range(4):
        opset = max(operator.since, NEWEST_OPSET - 4 * seed)
        graph = make_graph("g", seed, opset, 8, only={operator.name, *HELPERS})
        outputs = graph.outputs()
        if not any(node.op_type == operator.name for node in graph.nodes) or not outputs:
            continue
        if seed % 2:
            model = training_model([graph], TensorProto.FLOAT)
        else:
            model = model_of([graph], TensorProto.FLOAT, [*map(for_training, graph.nodes)], graph.parameters | graph.buffers,
                             [(output.name, output.shape) for output in outputs])
        if seed == 2:
            model = with_batch(model, 1)
        if seed == 3:
            model = with_function(model)
        text = model.SerializeToString()
        if len(text) <= 16384:
            (folder / f"{operator.name}{seed}.onnx").write_bytes(text)

"""Cases of the onnx package, as benchmarks/onnx_node_cases.py computes all of them: operators of older opsets, and those
that have no gradients or whose results are no tensors, which test_ops.py does not have."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from onnx_node_cases import Case, collect, compare, convert
from training import FULL

# By opset: one program each.
CASES = {
    9: "upsample_nearest|scan9_sum|scan9_multi_state|shrink_soft$",
    11: "dynamicquantizelinear|if$|loop11|sequence_insert",
    28: "bitshift_(left|right)_(int(32|64)|uint64)|spacetodepth|reduce_log_sum_empty_set$",
}
IN_FULL = {8: "scan_sum", 10: "scatter_with_axis", 22: "maxpool_2d_uint8|training_dropout_zero_ratio_mask", 13: "softmax|loop13|if_seq", 17: "window|melweight|sequence_map", 23: "attention_23_.*fullymasked", 24: "split_to_sequence", 26: "bitcast", 27: "causal_conv"}


@pytest.mark.parametrize("opset", [*CASES, *(IN_FULL if FULL else {})])
def test_values(opset, tmp_path):
    pattern = re.compile(f"test_({(CASES | IN_FULL)[opset]})")
    cases = [case for case in collect() if pattern.match(case.name) and [one.version for one in case.model.opset_import] == [opset]]
    assert cases
    unconverted = {case.name: case.problem for case in cases if not convert(case, tmp_path)}
    assert not unconverted
    assert not compare(cases, tmp_path)


def test_ties_of_dynamic_quantisation(tmp_path):
    """The scale is 1 and, of the second operand, 2 ** -3, so that the quotients are exact: ties go to the even number,
    also at the zero point, which is 127.5 before it is rounded."""
    cases = []
    for numbers, scale, zero in [([0, 255, 0.5, 1.5, 2.5, 253.5, 254.5], 1, 0), ([-15.9375, 15.9375, 0.0625, 0.1875, -0.0625, -0.1875], 0.125, 128)]:
        x = np.array(numbers, np.float32)
        y = np.clip(np.rint(x / np.float32(scale)) + zero, 0, 255).astype(np.uint8)
        value = lambda name, kind, shape: helper.make_tensor_value_info(name, kind, shape)
        graph = helper.make_graph(
            [helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "scale", "zero"])], "ties", [value("x", TensorProto.FLOAT, x.shape)],
            [value("y", TensorProto.UINT8, x.shape), value("scale", TensorProto.FLOAT, []), value("zero", TensorProto.UINT8, [])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
        cases.append(Case(f"scale {scale}", 0, 0, model, [x], [y, np.float32(scale), np.uint8(zero)]))
    assert all(convert(case, tmp_path) for case in cases), [case.problem for case in cases]
    assert not compare(cases, tmp_path)

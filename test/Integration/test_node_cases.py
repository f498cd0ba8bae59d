"""Cases of the onnx package, as benchmarks/onnx_node_cases.py computes all of them: operators of older opsets, and those
that have no gradients or whose results are no tensors, which test_ops.py does not have."""

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from onnx_node_cases import collect, compare, convert
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

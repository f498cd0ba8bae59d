"""Every operator's forward and gradient in double precision (op_models.py).

A gradient is read as a difference of tensors of the size of 1, so its absolute
error is 1e-15 or so.
"""

import numpy as np
import onnxruntime
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from gpuopt.driver import find_driver
from op_cases import CASES, OpCase
from op_cases_loops import COMPOSED
from op_models import LATER_OPSETS, STEP_FLAGS, Programs, node_of, opset_of, reference
from training import OPTIMIZATION_FOR_ONE_STEP, Trainer, execute

ALL = [pytest.param(group, case, id=f"{group}-{case.name}", marks=pytest.mark.xdist_group(f"ops-{group}"))
       for group, cases in (CASES | COMPOSED).items() for case in cases]


# Operators without a case here.
ELSEWHERE = {
    "Constant", "ConstantOfShape", "Range", "Shape", "Size",  # computed by the compiler
    "BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix", "BitCast",
    "SequenceAt", "SequenceConstruct", "SplitToSequence", "Identity",  # lead to their operands
    "ConcatFromSequence", "Optional", "OptionalGetElement", "OptionalHasElement", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength", "SequenceMap",
    "BitShift", "DynamicQuantizeLinear", "Scatter", "Upsample",  # have no gradients, or are of older opsets: test_node_cases.py
    "If",  # inside of Loop
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",  # draw numbers: test_random.py
    "Dropout", "RandomUniformLike",  # draw numbers: test_emulated.py, test_export.py, test_determinism.py
    "Swish",  # of opset 24: test_precision.py
}


def test_every_operator_has_a_case():
    rows = [line.split("|")[1].strip() for line in execute([find_driver(), "operators"]).splitlines() if line.startswith("| ")]
    operators = set(rows) - {"operator"}
    assert operators - {case.op for cases in (CASES | COMPOSED).values() for case in cases} == ELSEWHERE


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return Programs(
        lambda: tmp_path_factory.mktemp("ops"),
        lambda model, folder, **flags: Trainer(model, folder, OPTIMIZATION_FOR_ONE_STEP, **flags),
        lambda trainer: trainer.run({"one": np.ones(1)}, **STEP_FLAGS),
        groups=CASES | COMPOSED,
    )


@pytest.mark.parametrize("group, case", ALL)
def test_gradient(programs, group, case):
    programs.step(group, case).assert_close(case, rtol=1e-9, atol=1e-13)


def run_onnx(case: OpCase, dtype, evaluator="onnxruntime") -> np.ndarray:
    node, trained, constants = node_of(case, "y")
    if case.op == "BatchNormalization":
        node.attribute.append(helper.make_attribute("training_mode", 1))
        node.output.extend(["mean", "variance"])
    cast = lambda value: value.astype(dtype) if value.dtype == np.float64 else value
    operands = {name: cast(np.asarray(value)) for name, value in (trained | constants).items()}
    _, expected, _ = reference(case)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype) if np.issubdtype(expected.dtype, np.floating) else expected.dtype)
    graph = helper.make_graph(
        [node], case.name,
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in operands.items()],
        [helper.make_tensor_value_info("y", kind, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", ONNXRUNTIMES_OPSETS.get(case.op, opset_of([case])))], ir_version=11)
    if evaluator == "onnx":
        return ReferenceEvaluator(model).run(["y"], operands)[0]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(["y"], operands)[0]


# These have not changed since; onnxruntime has them of no later opset.
ONNXRUNTIMES_OPSETS = {"GlobalLpPool": 21}
# These mean in onnxruntime something else than in ONNX's cases, or are missing there.
ONNXS_OWN = {"MaxUnpool", *LATER_OPSETS}


# Without long loops: onnxruntime refuses nodes whose last results are left out. test_loops.py compares them.
@pytest.mark.parametrize("group, case", [each for each in ALL if each.values[0] != "long_loops"])
def test_reference_is_onnxs(group, case):
    """What the gradients are checked against means what ONNX means. Where
    onnxruntime has no double precision, or ONNX does not allow it, in single,
    and where it has not the operator, by ONNX's own reference;
    its tanh form of GELU has constants in single precision, its Attention the
    scale, its DFT the factors, and all of Shrink is, and of what is of opset 27."""
    errors = onnxruntime.capi.onnxruntime_pybind11_state
    refused = (errors.NotImplemented, errors.InvalidGraph, errors.Fail, errors.RuntimeException, errors.InvalidArgument)
    _, result, _ = reference(case)
    try:
        ours = run_onnx(case, np.float64, "onnx" if case.op in ONNXS_OWN else "onnxruntime")
        in_double = not case.name.startswith(("Attention", "CausalConv", "DFT", "GeluTanh", "LinearAttention", "Shrink"))
    except refused:
        try:
            ours, in_double = run_onnx(case, np.float32), False
        except refused:
            ours, in_double = run_onnx(case, np.float64, "onnx"), True
    np.testing.assert_allclose(ours, result, rtol=1e-9 if in_double else 2e-5, atol=1e-10 if in_double else 2e-6)

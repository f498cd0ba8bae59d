"""Random graphs: forward, gradients, the bits within a budget, and compilation with any flags (random_programs.py).

More of them: fuzz_graphs.py. A failure says with which arguments it makes the graph again.
"""

import numpy as np
import pytest
from onnx import helper

from gpuopt.driver import find_driver

from emulated import SKIPS, EmulatedTrainer
from random_graph import NEWEST_OPSET, OLDEST_OPSET, OPERATORS, make_graph
from random_programs import (Finding, Reference, Step, check_compilation, check_forward, check_gradients, check_onnxruntime, lost, make_graphs, names_read,
                             program_findings, training_model, weight_name)
from training import FULL, OPTIMIZATION_FOR_ONE_STEP, Trainer, execute

# Few graphs in one program take half a minute to build, 500 take half an hour.
PROGRAMS = 34 if FULL else 1
PER_PROGRAM = 15 if FULL else 5
NODES = 60 if FULL else 16
COMPILED = 500 if FULL else 8
OPSETS = range(OLDEST_OPSET, NEWEST_OPSET + 1)


@pytest.mark.parametrize("index", range(PROGRAMS))
def test_programs_compute_what_onnx_means(index, tmp_path):
    opset = OPSETS[(index + 16) % len(OPSETS)]
    graphs = make_graphs(range(index * PER_PROGRAM, (index + 1) * PER_PROGRAM), opset, NODES, index % 2 == 0)
    answers = [check_onnxruntime(graph) for graph in graphs]
    assert answers.count("refused") <= len(graphs) / 2
    make_trainer = lambda model, folder, **flags: Trainer(model, folder, OPTIMIZATION_FOR_ONE_STEP, **flags)
    findings, compared = program_findings(graphs, tmp_path / "program", make_trainer)
    assert not findings
    assert compared > len(graphs)


@pytest.mark.full
@pytest.mark.parametrize("index", range(4))
def test_cuda_programs_compute_what_onnx_means(index, tmp_path):
    if any(mark.args[0] for mark in SKIPS):
        pytest.skip("the emulated target cannot be built")
    graphs = make_graphs(range(9000 + index * PER_PROGRAM, 9000 + (index + 1) * PER_PROGRAM), NEWEST_OPSET - index, NODES, index % 2 == 0)
    findings, compared = program_findings(graphs, tmp_path / "program", EmulatedTrainer)
    assert not findings
    assert compared > len(graphs)


@pytest.mark.parametrize("part", range(4))
def test_any_flags_compile(part, tmp_path):
    tells = []
    for seed in range(part, COMPILED, 4):
        for graph in make_graphs(range(seed, seed + 1), OPSETS[seed % len(OPSETS)], 60, seed % 2 == 0):
            tells.append(check_compilation(graph, tmp_path))
    # What a model computes of constants alone fits into any budget.
    assert sum(tells) > len(tells) / 2


def exact_step(graph) -> Step:
    """The step that a right program makes, by slopes of the reference."""
    reference = Reference(graph)
    before = dict(graph.parameters)
    after = {}
    for name, value in graph.parameters.items():
        gradient = np.zeros(value.shape)
        for place in np.ndindex(value.shape):
            direction = {key: np.zeros_like(other) for key, other in graph.parameters.items()}
            direction[name][place] = 1
            gradient[place] = (reference.along(direction, 1e-6) - reference.along(direction, -1e-6)) / 2e-6
        after[name] = value - gradient
    for output, value in zip(reference.outputs, reference.values(graph.parameters)):
        before[weight_name(output)] = value
        after[weight_name(output)] = np.zeros_like(value)
    return Step(before, after)


def test_checks_find_what_is_wrong():
    """A forward, or a gradient, that is off in one element."""
    graph = make_graph("g", 5, 23, 8, only={"Tanh", "MatMul", "Mul", "Sin", "Gather"})
    step = exact_step(graph)
    check_forward(graph, step)
    assert check_gradients(graph, step) > 1
    output = weight_name(graph.outputs()[0])
    step.before[output] = step.before[output] + 1e-6 * (np.arange(step.before[output].size).reshape(step.before[output].shape) == 0)
    with pytest.raises(Finding, match="is off by"):
        check_forward(graph, step)
    name = max(graph.parameters, key=lambda key: np.abs(step.before[key] - step.after[key]).max())
    wrong = step.after[name].copy()
    wrong.flat[np.abs(step.before[name] - wrong).argmax()] += 0.01
    step.after[name] = wrong
    with pytest.raises(Finding, match="gradients are not the slopes"):
        check_gradients(graph, step)


def test_nodes_read_what_their_graphs_capture():
    inner = helper.make_graph([helper.make_node("Identity", ["deep"], ["copy"])], "inner", [], [helper.make_tensor_value_info("copy", 1, [])])
    outer = helper.make_graph([helper.make_node("If", ["other"], ["y"], then_branch=inner, else_branch=inner)], "outer", [],
                              [helper.make_tensor_value_info("result", 1, [])])
    node = helper.make_node("If", ["condition"], ["z"], then_branch=outer, else_branch=inner)
    assert {"condition", "other", "deep", "result"} <= names_read(node)


def test_onnxruntime_may_lose_what_is_finite():
    number, nothing = np.ones(2), np.array([1, np.nan])
    assert lost(nothing, number)
    assert not lost(nothing, nothing) and not lost(number, nothing) and not lost(number, number)


# Operators that no random graph has: test_ops.py, test_random.py and test_node_cases.py have them.
ABSENT = set("""
    AffineGrid Bernoulli BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow CausalConvWithState CenterCropPad Col2Im
    Compress ConcatFromSequence Constant ConstantOfShape ConvInteger CumProd DeformConv DequantizeLinear DynamicQuantizeLinear GlobalLpPool
    GridSample HammingWindow HannWindow Hardmax LRN LinearAttention LpPool MatMulInteger MaxUnpool MelWeightMatrix Multinomial
    NegativeLogLikelihoodLoss NonZero Optional OptionalGetElement OptionalHasElement QLinearConv QLinearMatMul QuantizeLinear RandomNormal
    RandomNormalLike RandomUniform RandomUniformLike ReverseSequence RoiAlign RotaryEmbedding STFT Scatter SequenceAt SequenceEmpty
    SequenceErase SequenceInsert SequenceLength SequenceMap SoftmaxCrossEntropyLoss SwiGLU TensorScatter Unique Upsample""".split())


def test_graphs_have_all_operators():
    """Each operator is in some graph, and a seed gives the same graph again."""
    rows = [line.split("|")[1].strip() for line in execute([find_driver(), "operators"]).splitlines() if line.startswith("| ")]
    seen, wanted = set(), {one.name for one in OPERATORS}
    assert set(rows) - {"operator"} == wanted | ABSENT
    assert not wanted & ABSENT
    for seed in range(400):
        seen |= {node.op_type for node in make_graph("g", seed, NEWEST_OPSET, 60).nodes}
        if wanted <= seen:
            break
    assert wanted <= seen
    assert training_model([make_graph("g", 1, 20, 60)]).SerializeToString() == training_model([make_graph("g", 1, 20, 60)]).SerializeToString()

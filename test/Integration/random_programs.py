"""Compiles, builds and runs random graphs, and compares what they compute.

Many graphs share one model, and so one program. Each output y of a graph has a trained weight w of its shape, and the
loss is the sum of all y * w (`--loss none`), so that a step of plain gradient descent with a learning rate of 1 changes
w by y, and each parameter by its gradient.

- The forward is that of onnx's reference evaluator in double precision, and of onnxruntime.
- A gradient, times random directions, is the slope of the reference: a difference of two points. Where the slopes of
  both sides of a point differ, the graph has a kink there, and nothing is compared.
- Within a budget, where work is done again, the results have the same bits.
- Compiled alone, in single precision and with random flags, no graph crashes the compiler or takes long.
"""

from __future__ import annotations

import copy
import dataclasses
import random
import re
import resource
import subprocess
from pathlib import Path
from typing import Any, Callable

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import random_layers  # noqa: F401: registers operators
import random_loops  # noqa: F401
import random_operators  # noqa: F401
from gpuopt.driver import arguments, find_driver
from random_graph import Evaluation, Graph, Value, make_graph
from training import Trainer

STEP_FLAGS = dict(learning_rate=1, lr_scheduler_type="constant", max_grad_norm=0, max_steps=1, num_threads=2)
SECONDS, GIGABYTES = 60, 4  # What one compilation may take.
SUMS = ("DFT", "STFT")  # Whose zeros are rounded sums.
NO_MATRIX = "expects a parameter that 'muon' updates"


class Finding(AssertionError):
    """What is wrong with a graph."""


# From graphs to models.


def in_single(node: onnx.NodeProto) -> onnx.NodeProto:
    """The node for operands in single precision."""
    node = copy.deepcopy(node)
    for attribute in node.attribute:
        if attribute.name == "to" and attribute.i == TensorProto.DOUBLE:
            attribute.i = TensorProto.FLOAT
        if attribute.HasField("t") and attribute.t.data_type == TensorProto.DOUBLE:
            attribute.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(attribute.t).astype(np.float32), attribute.t.name))
        if attribute.HasField("g"):
            nodes = [in_single(inner) for inner in attribute.g.node]
            del attribute.g.node[:]
            attribute.g.node.extend(nodes)
            for value in (*attribute.g.input, *attribute.g.output):
                if value.type.tensor_type.elem_type == TensorProto.DOUBLE:
                    value.type.tensor_type.elem_type = TensorProto.FLOAT
    return node


def for_training(node: onnx.NodeProto) -> onnx.NodeProto:
    """The node as exporters write it: batch norms have one output, and gpuopt decides on their form."""
    if node.op_type != "BatchNormalization":
        return node
    node = copy.deepcopy(node)
    kept = [attribute for attribute in node.attribute if attribute.name != "training_mode"]
    del node.attribute[:]
    node.attribute.extend(kept)
    del node.output[1:]
    return node


def declarations(graphs: list[Graph], element: int) -> list[onnx.ValueInfoProto]:
    """The types of all that nodes compute."""
    kind = lambda value: element if value.is_float() else helper.np_dtype_to_tensor_dtype(value.array.dtype)
    names = lambda graph: {name for node in graph.nodes for name in node.output}
    return [helper.make_tensor_value_info(value.name, kind(value), value.shape) for graph in graphs for value in graph.values if value.name in names(graph)]


def model_of(graphs: list[Graph], element: int, nodes: list[onnx.NodeProto], initializers: dict[str, np.ndarray], outputs: list[tuple[str, Any]],
             declared: list[onnx.ValueInfoProto] = []) -> onnx.ModelProto:
    dtype = helper.tensor_dtype_to_np_dtype(element)
    cast = lambda value: value.astype(dtype) if value.dtype == np.float64 else value
    if element == TensorProto.FLOAT:
        nodes = [in_single(node) for node in nodes]
    graph = helper.make_graph(
        nodes, "graphs", [helper.make_tensor_value_info("one", element, [1])],
        [helper.make_tensor_value_info(name, element, shape) for name, shape in outputs],
        [numpy_helper.from_array(np.ascontiguousarray(cast(value)).reshape(value.shape), name) for name, value in initializers.items()],
        value_info=declared,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", graphs[0].opset)], ir_version=11)


def weight_name(output: Value) -> str:
    return f"{output.name}.w"


def weight_of(output: Value) -> np.ndarray:
    """The factors of an output. What has one element would be taken for a constant."""
    shape = output.shape if output.array.size > 1 else (2,)
    return np.random.default_rng(output.array.size).standard_normal(shape)


def training_model(graphs: list[Graph], element: int = TensorProto.DOUBLE) -> onnx.ModelProto:
    """All graphs, with the sum of their weighted outputs as the loss."""
    nodes, initializers, terms = [], {}, []
    for graph in graphs:
        outputs = graph.outputs()
        nodes += [for_training(node) for node in graph.nodes]
        initializers |= graph.parameters | graph.buffers
        for output in outputs:
            weight = weight_name(output)
            initializers[weight] = weight_of(output)
            nodes.append(helper.make_node("Mul", [output.name, weight], [f"{weight}.y"], name=f"{weight}.weigh"))
            nodes.append(helper.make_node("ReduceSum", [f"{weight}.y"], [f"{weight}.sum"], name=f"{weight}.total", keepdims=0))
            terms.append(f"{weight}.sum")
    nodes.append(helper.make_node("Sum", terms, ["loss"], name="loss"))
    return model_of(graphs, element, nodes, initializers, [("loss", [])], declarations(graphs, element))


# The reference.


def names_read(node: onnx.NodeProto) -> set[str]:
    """The values that a node reads, with those that graphs inside of it read or return."""
    names = set(node.input)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            names.update(value.name for value in attribute.g.output)
            names.update(*map(names_read, attribute.g.node))
    return names


class Reference:
    """A graph's outputs and its term of the loss, as functions of its parameters."""

    def __init__(self, graph: Graph):
        self.graph, self.outputs = graph, graph.outputs()
        self.weights = [weight_of(output) for output in self.outputs]
        self.evaluation = Evaluation(graph.opset)

    def values(self, parameters: dict[str, np.ndarray], rounded: Callable[[Any, float], Any] = lambda value, largest: value) -> list[np.ndarray]:
        """The outputs. What depends on parameters is `rounded` after each node; the rest may be a shape. An element that
        is zero may be a sum of others that are as large as the largest."""
        known: dict[str, Any] = {"one": np.ones(1), **self.graph.buffers, **parameters}
        varying = set(parameters)
        with np.errstate(all="ignore"):
            for node in self.graph.nodes:
                results = self.evaluation.run(node, known)
                if not varying.isdisjoint(names_read(node)):
                    varying.update(node.output)
                    results = [rounded(result, np.abs(result).max() if node.op_type in SUMS else 0) for result in results]
                known.update(zip(node.output, results))
        return [np.asarray(known[output.name]) for output in self.outputs]

    def loss(self, parameters: dict[str, np.ndarray]) -> float:
        return float(sum((value * weight).sum() for value, weight in zip(self.values(parameters), self.weights)))

    def along(self, direction: dict[str, np.ndarray], step: float) -> float:
        return self.loss({name: value + step * direction[name] for name, value in self.graph.parameters.items()})

    def sensitivity(self, size: float) -> list[float]:
        """How far relative changes by `size` of the parameters and of what nodes compute move each output. Where a floor
        or a tie is near, that is far."""
        rng = np.random.default_rng(7)

        def moved_a_little(value: Any, largest: float = 0) -> Any:
            is_float = isinstance(value, np.ndarray | np.floating) and np.issubdtype(value.dtype, np.floating)
            return np.asarray(value + size * (np.abs(value) + largest) * rng.standard_normal(np.shape(value)), value.dtype) if is_float else value

        exact, most = self.values(self.graph.parameters), [0.0] * len(self.outputs)
        for _ in range(3):
            moved = self.values({name: moved_a_little(value) for name, value in self.graph.parameters.items()}, moved_a_little)
            most = [max(so_far, float(np.abs(a - b).max())) for so_far, a, b in zip(most, exact, moved)]
        return most

    def compare(self, results: Callable[[Value, int], np.ndarray], size: float, whose: str) -> None:
        """Results are those of the reference, for parameters and steps whose relative errors are `size`."""
        room = self.sensitivity(size)
        for index, (output, expected) in enumerate(zip(self.outputs, self.values(self.graph.parameters))):
            given = results(output, index)
            most = 30 * room[index] + 100 * size * (1 + np.abs(expected).max())
            error = np.abs(given - expected).max() if output.array.size == 1 or given.shape == expected.shape else np.inf
            if not error <= most:
                raise Finding(f"{whose} {output.name} is off by {error:.3g} (at most {most:.3g}): {given.flat[:6]} instead of {expected.flat[:6]}")


@dataclasses.dataclass
class Step:
    """A program's tensors before and after a step."""

    before: dict[str, np.ndarray]
    after: dict[str, np.ndarray]

    def change(self, name: str) -> np.ndarray:
        """Nothing for what no result depends on: it is no parameter."""
        return self.before[name] - self.after[name] if name in self.before else np.zeros(1)


def check_forward(graph: Graph, step: Step) -> None:
    Reference(graph).compare(lambda output, index: step.change(weight_name(output)), 1e-12, "our")


def slopes_agree(reference: Reference, gradients: dict[str, np.ndarray], direction: dict[str, np.ndarray]) -> bool | None:
    """Whether a gradient has the slope of the reference along a direction; None where that has a kink."""
    ours = sum(float((gradients[name] * part).sum()) for name, part in direction.items())
    scale = sum(float(np.abs(gradients[name] * part).sum()) for name, part in direction.items())
    middle, verdict = reference.along(direction, 0.0), None
    for step in (1e-6, 1e-5, 1e-7):
        right = (reference.along(direction, step) - middle) / step
        left = (middle - reference.along(direction, -step)) / step
        noise = 1e-14 * (1 + abs(middle)) / step
        if not np.isfinite([left, right]).all() or abs(right - left) > 1e-3 * (abs(right) + abs(left) + 1e-3) + 4 * noise:
            continue
        verdict = bool(abs((left + right) / 2 - ours) <= 1e-5 * (scale + abs(left)) + 4 * noise)
        if verdict:
            return True
    return verdict


def check_gradients(graph: Graph, step: Step) -> int:
    """The number of directions that were compared."""
    reference = Reference(graph)
    rng = np.random.default_rng(3)
    gradients = {name: np.broadcast_to(step.change(name), value.shape) for name, value in graph.parameters.items()}
    for name, gradient in gradients.items():
        if not np.isfinite(gradient).all() and np.isfinite(reference.along({n: np.zeros_like(v) for n, v in graph.parameters.items()}, 0)):
            raise Finding(f"the gradient of {name} is not finite")
    compared, wrong = 0, []
    for names in [list(graph.parameters), *([name] for name in graph.parameters)]:
        direction = {name: rng.standard_normal(value.shape) if name in names else np.zeros_like(value) for name, value in graph.parameters.items()}
        agrees = slopes_agree(reference, gradients, direction)
        compared += agrees is not None
        if agrees is False:
            wrong.append(" ".join(names))
    if wrong:
        raise Finding("the gradients are not the slopes along " + "; ".join(wrong))
    return compared


def lost(result: np.ndarray, expected: np.ndarray) -> bool:
    """Whether a result has a NaN where the reference is finite."""
    return result.size == expected.size and bool((np.isnan(result.ravel()) & np.isfinite(expected.ravel())).any())


def check_onnxruntime(graph: Graph) -> str:
    """onnxruntime computes what the reference does: in double precision or, where it cannot, in single. Returns which."""
    reference = Reference(graph)
    # The variance is a difference there, which can be rounded to less than zero before its root is taken.
    has_variance = any(node.op_type == "MeanVarianceNormalization" for node in graph.nodes)
    expected_values = reference.values(graph.parameters) if has_variance else []
    refusals = onnxruntime.capi.onnxruntime_pybind11_state
    for element, size in ((TensorProto.DOUBLE, 1e-7), (TensorProto.FLOAT, 1e-6)):
        model = model_of([graph], element, graph.nodes, graph.parameters | graph.buffers, [(output.name, None) for output in reference.outputs])
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            results = session.run([output.name for output in reference.outputs], {"one": np.ones(1, helper.tensor_dtype_to_np_dtype(element))})
        except (refusals.NotImplemented, refusals.InvalidGraph, refusals.Fail, refusals.RuntimeException, refusals.InvalidArgument):
            continue
        if has_variance and any(map(lost, results, expected_values)):
            continue
        reference.compare(lambda output, index: results[index], size, "onnxruntime's")
        return "double" if element == TensorProto.DOUBLE else "single"
    return "refused"


# Compilation alone.


def limit() -> None:
    # Processor time, which does not pass while the process is stopped.
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def compile_within_limits(model: Path, folder: Path, **flags: Any) -> str:
    """Compiles; returns what it said. With a budget, a refusal to meet it is an answer, and so is one of muon where a graph
    has no matrix that it updates; any other failure is a Finding, and so are types that are not those of the reference."""
    command = [str(part) for part in [find_driver(), "compile", model, "-o", folder, *arguments(flags)]]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, preexec_fn=limit)
    is_answer = (run.returncode == 2 and "activation_budget" in flags) or NO_MATRIX in run.stdout
    if run.returncode != 0 and not is_answer:
        raise Finding(f"{' '.join(command)}\nstatus {run.returncode}\n{run.stdout[-3000:]}")
    if "but the file declares" in run.stdout:
        raise Finding(f"{' '.join(command)}\n{run.stdout[-3000:]}")
    return run.stdout


UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}


def smallest_budget(message: str) -> int | None:
    """The budget that an error says can be met, in bytes."""
    found = re.search(r"the smallest budget that can be met is ([0-9.]+) (B|KiB|MiB)", message)
    return int(float(found[1]) * UNITS[found[2]] * 1.01) + 64 if found else None


def random_flags(choices: random.Random) -> dict[str, Any]:
    flags: dict[str, Any] = dict(
        target=choices.choice(["host", "cuda", "emulated"]), precision=choices.choice(["fp32", "fp16", "bf16", "bf16"]),
        attention=choices.choice(["fused", "expanded"]), optimizer=choices.choice(["adamw", "sgd", "lion", "muon", "adamw_8bit", "adafactor"]),
        batch_norm=choices.choice(["train", "frozen"]), device=choices.choice(["h100", "a100", "4090", "h200", "host"]),
    )
    if flags["precision"] == "fp32" and flags["target"] != "host" and choices.random() < 0.3:
        flags["precision"] = "tf32"
    if choices.random() < 0.2:
        flags["gradient_accumulation_steps"] = choices.randint(2, 4)
    if choices.random() < 0.1:
        flags["debug_overflow"] = True
    if choices.random() < 0.1:
        flags = {name: flags[name] for name in ("target", "precision", "attention", "device")} | {"inference": True}
    return flags


def with_logits(graph: Graph) -> tuple[list[onnx.NodeProto], dict[str, np.ndarray], str] | None:
    """Nodes and parameters that turn an output into logits of classes, by a last product; their name."""
    wide = [output for output in graph.outputs() if output.rank >= 2]
    if not wide:
        return None
    output = wide[-1]
    parameters = {f"{graph.name}.head": np.zeros((output.shape[-1], 11))}
    return [helper.make_node("MatMul", [output.name, f"{graph.name}.head"], ["logits"], name="head")], parameters, "logits"


def check_compilation(graph: Graph, folder: Path) -> bool:
    """Compiles a graph in single precision with random flags, without a budget and within two. Returns whether the
    first of these, of one byte, was refused with the smallest that can be met."""
    choices = random.Random(graph.seed)
    flags = random_flags(choices)
    head = with_logits(graph) if choices.random() < 0.3 and "inference" not in flags else None
    if head:
        nodes, parameters, logits = head
        model = model_of([graph], TensorProto.FLOAT, [*map(for_training, graph.nodes), *nodes],
                         graph.parameters | graph.buffers | parameters, [(logits, None)], declarations([graph], TensorProto.FLOAT))
        flags |= dict(loss="cross_entropy", loss_chunks=choices.choice([0, 1, 2, 3]))
    else:
        model = training_model([graph], TensorProto.FLOAT)
        if "inference" not in flags:
            flags["loss"] = "none"
    path = folder / f"{graph.name}.onnx"
    onnx.save(model, path)
    compile_within_limits(path, folder / "compiled", **flags)
    said = compile_within_limits(path, folder / "compiled", activation_budget="1B", **flags)
    smallest = smallest_budget(said)
    if smallest:
        if choices.random() < 0.2:
            flags["allow_offload"] = True
        compile_within_limits(path, folder / "compiled", activation_budget=f"{int(smallest * choices.uniform(1, 2))}B", **flags)
    return smallest is not None


# Programs.


class Program:
    """Graphs in one program in double precision, built and run once, and once more within a budget."""

    def __init__(self, graphs: list[Graph], folder: Path, make_trainer: Callable[..., Trainer], run: Callable | None = None):
        self.graphs, self.folder, self.make_trainer = graphs, folder, make_trainer
        self.run = run or (lambda trainer: trainer.run({"one": np.ones(1)}, **STEP_FLAGS))
        self.flags = dict(loss="none", optimizer="sgd", batch_norm="train" if graphs[0].trains_batch_norm else "frozen")
        folder.mkdir(parents=True, exist_ok=True)
        self.model = folder / "model.onnx"
        onnx.save(training_model(graphs), self.model)

    def step(self, name: str, **flags: Any) -> Step:
        trainer = self.make_trainer(self.model, self.folder / name, **self.flags, **flags)
        before = {key: np.array(value) for key, value in trainer.initial_weights().items()}
        return Step(before, self.run(trainer).weights)

    def least_budget(self) -> int | None:
        return smallest_budget(compile_within_limits(self.model, self.folder / "least", activation_budget="1B", **self.flags))

    def check_budget(self, plain: Step) -> None:
        """Work that is done again gives the same bits."""
        budget = self.least_budget()
        if budget is None:
            raise Finding("a budget of 1 byte is met, or the error does not say which can be")
        again = self.step("within", activation_budget=f"{budget}B")
        for name, value in plain.after.items():
            if value.tobytes() != again.after[name].tobytes():
                raise Finding(f"{name} has other bits within {budget} bytes, off by {np.abs(value - again.after[name]).max():.3g}")


def program_findings(graphs: list[Graph], folder: Path, make_trainer: Callable[..., Trainer], with_budget: bool = True) -> tuple[list[str], int]:
    """What is wrong with what one program of all graphs computes, a text for each graph; and how many directions of
    gradients were compared."""
    findings, compared = [], 0
    program = Program(graphs, folder, make_trainer)
    step = program.step("plain")
    for graph in graphs:
        try:
            check_forward(graph, step)
            compared += check_gradients(graph, step)
        except Finding as finding:
            findings.append(f"{describe(graph)}: {finding}")
    if with_budget:
        try:
            program.check_budget(step)
        except Finding as finding:
            findings.append(f"{', '.join(map(describe, graphs))}: {finding}")
    return findings, compared


def describe(graph: Graph) -> str:
    """The arguments of fuzz_graphs.py that make the graph again."""
    return f"--seed {graph.seed} --opset {graph.opset} --nodes {graph.most_nodes}" + ("" if graph.trains_batch_norm else " --frozen")


def make_graphs(seeds: range, opset: int, most_nodes: int, trains_batch_norm: bool) -> list[Graph]:
    """A graph for each seed. A few have no output and are left out."""
    graphs = (make_graph(f"g{seed}", seed, opset, most_nodes, trains_batch_norm) for seed in seeds)
    return [graph for graph in graphs if graph.outputs()]

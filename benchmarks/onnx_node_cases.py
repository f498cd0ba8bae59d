"""How many of ONNX's node cases convert, and why the others do not.

usage: onnx_node_cases.py [--only REGEX] [--part I/N] [--failures] [--values]

The cases are those of the onnx package itself: one node or one expanded function each, with inputs. A case is converted
for inference. Where it does not convert as it is, its inputs are made constants, as models have shapes, axes and the
like: first the integers and booleans behind the first input, then everything behind it, then everything. Sequences that
are inputs or outputs are taken apart: the tensors are, and nodes that make the sequence of them, or take it apart, are
added.

Prints a table of counts and the reasons of failures; with --failures every case that fails.

With --values, what converts is also computed on the host, many cases in a program, and compared with the package's
expected outputs, within the package's tolerances. Integers of few bits count as the wider ones that programs hold them
in; of results in half precision, whose steps the package rounds and programs compute in f32, the last two bits may
differ. Cases that draw random numbers are left out.

All values take about an hour on one core; --part 1/8 takes the first eighth of the cases alone.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx
from onnx import compose, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

import gpuopt  # noqa: E402
from gpuopt.driver import DriverError, find_driver  # noqa: E402



@dataclass
class Case:
    name: str
    rtol: float
    atol: float
    model: onnx.ModelProto
    inputs: list
    outputs: list
    form: str = ""  # which inputs were made constants
    constants: list = field(default_factory=list)  # their names
    problem: str = ""


def collect() -> list[Case]:
    from onnx.backend.test.case.node import collect_testcases

    warnings.filterwarnings("ignore")
    cases = []
    for case in collect_testcases():
        inputs, outputs = case.data_sets[0]
        cases.append(without_sequences(Case(case.name, case.rtol, case.atol, case.model, list(inputs), list(outputs))))
    return cases


def without_sequences(case: Case) -> Case:
    """The case with tensors as inputs and outputs in place of sequences of known elements."""
    if not any(isinstance(value, list) for value in [*case.inputs, *case.outputs]):
        return case
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    before, after, given, found = [], [], [], []
    for kind, values, kept in (("input", case.inputs, given), ("output", case.outputs, found)):
        described = list(getattr(graph, kind))
        del getattr(graph, kind)[:]
        for value, array in zip(described, values):
            if not isinstance(array, list):
                getattr(graph, kind).append(value)
                kept.append(array)
                continue
            names = [f"{value.name}.{i}" for i in range(len(array))]
            for i, (name, part) in enumerate(zip(names, array)):
                part = np.asarray(part)
                getattr(graph, kind).append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(part.dtype), part.shape))
                kept.append(part)
                if kind == "output":
                    after += [helper.make_node("Constant", [], [f"{name}.at"], value_int=i), helper.make_node("SequenceAt", [value.name, f"{name}.at"], [name])]
            if kind == "input":
                before.append(helper.make_node("SequenceConstruct" if names else "SequenceEmpty", names, [value.name]))
    nodes = [*before, *graph.node, *after]
    del graph.node[:]
    graph.node.extend(nodes)
    return replace(case, model=model, inputs=given, outputs=found)


def is_numeric(case: Case) -> bool:
    """Cases of strings, pictures, machine learning's older operators and training operators are not gpuopt's."""
    nodes = case.model.graph.node
    texts = any(np.asarray(value).dtype.kind in "OSU" for value in [*case.inputs, *case.outputs] if isinstance(value, np.ndarray))
    texts |= any(value.type.tensor_type.elem_type == onnx.TensorProto.STRING
                 for value in [*case.model.graph.input, *case.model.graph.output, *case.model.graph.value_info])
    return not texts and not any(node.domain in ("ai.onnx.ml", "ai.onnx.preview.training") or node.op_type == "ImageDecoder" for node in nodes)


def forms(case: Case):
    """Ways to give the case its inputs, by name: those that become constants."""
    everything = [value.name for value in case.model.graph.input]
    given = [(name, value) for name, value in zip(everything, case.inputs)]
    tensors = [(name, value) for name, value in given if isinstance(value, (np.ndarray, np.generic, onnx.TensorProto))]
    later = [name for name, _ in tensors[1:]]
    index_like = [name for name, value in tensors[1:] if np.asarray(value).dtype.kind in "iub"] if all(
        not isinstance(value, onnx.TensorProto) for _, value in tensors) else []
    seen = []
    for label, chosen in [("as it is", []), ("constant indices", index_like), ("constants behind the first input", later),
                          ("constants alone", [name for name, _ in tensors])]:
        if chosen not in seen:
            seen.append(chosen)
            yield label, chosen


def with_constants(case: Case, names: list[str]) -> onnx.ModelProto:
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    values = dict(zip([value.name for value in case.model.graph.input], case.inputs))
    for name in names:
        value = values[name]
        tensor = value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value), name)
        tensor.name = name
        # No initializer: floating-point ones of several elements are weights.
        model.graph.node.insert(0, helper.make_node("Constant", [], [name], value=tensor))
    kept = [value for value in model.graph.input if value.name not in names]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return model


def reason_of(output: str) -> str:
    """The first reason, without what differs from case to case."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for i, line in enumerate(lines):
        if "cannot be converted" in line and i + 1 < len(lines):
            return lines[i + 1]
    found = [line for line in lines if "error" in line.lower()]
    return (found or lines or ["no message"])[-1]


def convert(case: Case, folder: Path) -> bool:
    problems = []
    for label, names in forms(case):
        path = folder / "model.onnx"
        onnx.save(with_constants(case, names), path)
        done = subprocess.run([find_driver(), "compile", path, "-o", folder / "program", "--inference", "--compile-to=nn"],
                              capture_output=True, text=True, timeout=60)
        if done.returncode == 0:
            case.form, case.constants = label, names
            return True
        problems.append(reason_of(done.stderr))
    case.problem = problems[-1] if len(problems) > 1 else problems[0]
    case.problem = problems[0] if "operator is not supported" in problems[0] else case.problem
    return False


DRAWN = re.compile("bernoulli|multinomial|random|training_dropout(?!_zero)")


def joined(cases: list[Case]) -> onnx.ModelProto:
    """One model of many cases, whose values have the names `NUMBER/NAME`."""
    whole = onnx.ModelProto(ir_version=cases[0].model.ir_version)
    opsets = {}
    for number, case in enumerate(cases):
        model = compose.add_prefix(with_constants(case, case.constants), f"{number}/")
        for part in ("node", "input", "output", "initializer", "value_info"):
            getattr(whole.graph, part).extend(getattr(model.graph, part))
        opsets |= {opset.domain: opset for opset in model.opset_import}
        whole.ir_version = max(whole.ir_version, model.ir_version)
    whole.opset_import.extend(opsets.values())
    whole.graph.name = "cases"
    return whole


def as_held(value) -> np.ndarray:
    """The numbers of an input or output, those of types that NumPy lacks in the types that programs hold them in."""
    array = numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
    if array.dtype.isbuiltin == 1 or array.dtype.name == "bfloat16":
        return array
    return array.astype(np.float32 if "float" in array.dtype.name else np.int32)


def computed(cases: list[Case], folder: Path) -> dict[str, np.ndarray]:
    """What a program of these cases computes."""
    model, program = folder / "joined.onnx", Path(tempfile.mkdtemp(dir=folder)) / "program"
    onnx.save(joined(cases), model)
    gpuopt.compile(model, program, inference=True, target="host")
    inputs = {}
    for number, case in enumerate(cases):
        names = [value.name for value in case.model.graph.input]
        inputs |= {f"{number}/{name}": as_held(value) for name, value in zip(names, case.inputs) if name not in case.constants}
    try:
        return run(program, inputs)
    finally:
        shutil.rmtree(program.parent)


def run(program: Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    with gpuopt.load(program, cmake_options=["-DCMAKE_CXX_FLAGS_RELEASE=-O1"]) as loaded:
        return loaded.forward({tensor.name: inputs[tensor.name] for tensor in loaded.inputs})


# Two units in the last place of an expected result in half precision.
HALF_PRECISION = {"float16": 2**-9, "bfloat16": 2**-6}


def type_of(value) -> str:
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    return np.asarray(value).dtype.name


def difference(case: Case, number: int, results: dict[str, np.ndarray]) -> str:
    """Where a case's results are not as expected; empty if they are."""
    for output, expected in zip(case.model.graph.output, case.outputs):
        found = results[f"{number}/{output.name}"]
        rtol = max(case.rtol, HALF_PRECISION.get(type_of(expected), 0))
        expected = as_held(expected)
        if found.shape != expected.shape:
            return f"{output.name} has shape {found.shape} in place of {expected.shape}"
        if not np.allclose(found.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=max(case.atol, 1e-6), equal_nan=True):
            if (np.isnan(found) != np.isnan(expected)).any():
                return f"{output.name} differs in where it is NaN"
            worst = np.nanmax(np.abs(found.astype(np.float64) - expected.astype(np.float64)), initial=0)
            return f"{output.name} differs by up to {worst:.3g}"
    return ""


def compare(cases: list[Case], folder: Path) -> dict[str, str]:
    """What is wrong with the values of cases, by name. Cases whose program fails are halved until one is left."""
    try:
        results = computed(cases, folder)
    except (DriverError, RuntimeError, KeyError, TypeError, ValueError, OSError) as error:
        if len(cases) == 1:
            return {cases[0].name: f"no program: {str(error).strip().splitlines()[-1]}"}
        middle = len(cases) // 2
        return compare(cases[:middle], folder) | compare(cases[middle:], folder)
    wrong = {case.name: difference(case, number, results) for number, case in enumerate(cases)}
    return {name: text for name, text in wrong.items() if text}


def print_values(cases: list[Case], folder: Path) -> None:
    groups: dict[tuple, list[Case]] = defaultdict(list)
    for case in cases:
        if case.form and not DRAWN.search(case.name):
            groups[tuple(sorted((opset.domain, opset.version) for opset in case.model.opset_import))].append(case)
    wrong, count = {}, 0
    for group in groups.values():
        for begin in range(0, len(group), 40):
            part = group[begin : begin + 40]
            found = compare(part, folder)
            for name, text in found.items():
                print(f"{name}: {text}", flush=True)
            wrong |= found
            count += len(part)
    print(f"{count - len(wrong)} of {count} cases give the expected values\n")


def family_of(problem: str) -> str:
    problem = re.sub(r"\(opset \d+\) ", "", problem)
    problem = re.sub(r" at '[^']*'", "", problem)
    return re.sub(r"tensor<[^>]*>", "tensor", re.sub(r"-?\d+", "N", problem))


def part_of(cases: list[Case], part: str) -> list[Case]:
    """The cases of a part `I/N`, which counts from 1; all of them if it is empty."""
    if not part:
        return cases
    index, count = map(int, part.split("/"))
    if not 1 <= index <= count:
        raise SystemExit(f"--part must be I/N with I from 1 to N, but is '{part}'")
    return cases[len(cases) * (index - 1) // count : len(cases) * index // count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="the cases whose names match")
    parser.add_argument("--part", default="", metavar="I/N", help="the I-th of N parts of these")
    parser.add_argument("--failures", action="store_true", help="list every case that fails")
    parser.add_argument("--values", action="store_true", help="compare the values of what converts")
    options = parser.parse_args()
    cases = part_of([case for case in collect() if re.search(options.only, case.name)], options.part)
    numeric = [case for case in cases if is_numeric(case)]
    reasons: dict[str, list[str]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for case in numeric:
            if not convert(case, Path(folder)):
                reasons[family_of(case.problem)].append(case.name)
        if options.values:
            print_values(numeric, Path(folder))
    count = Counter(case.form for case in numeric if case.form)
    print(f"| cases | of numbers | convert | {' | '.join(count)} |")
    print("|---" * (len(count) + 3) + "|")
    print(f"| {len(cases)} | {len(numeric)} | {sum(count.values())} | {' | '.join(map(str, count.values()))} |")
    print()
    for reason, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(names):5} {reason}" + (": " + " ".join(names) if options.failures else f"  (as {names[0]})"))


if __name__ == "__main__":
    main()

"""How many of ONNX's node cases convert, and why the others do not.

usage: onnx_node_cases.py [--only REGEX] [--failures]

The cases are those of the onnx package itself: one node or one expanded function each, with inputs. A case is converted
for inference. Where it does not convert as it is, its inputs are made constants, as models have shapes, axes and the
like: first the integers and booleans behind the first input, then everything behind it, then everything.

Prints a table of counts and the reasons of failures; with --failures every case that fails.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from gpuopt.driver import find_driver  # noqa: E402



@dataclass
class Case:
    name: str
    model: onnx.ModelProto
    inputs: list
    outputs: list
    form: str = ""  # which inputs were made constants
    problem: str = ""


def collect() -> list[Case]:
    from onnx.backend.test.case.node import collect_testcases

    warnings.filterwarnings("ignore")
    cases = []
    for case in collect_testcases():
        inputs, outputs = case.data_sets[0]
        cases.append(Case(case.name, case.model, list(inputs), list(outputs)))
    return cases


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
        model.graph.initializer.append(tensor)
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
            case.form = label
            return True
        problems.append(reason_of(done.stderr))
    case.problem = problems[-1] if len(problems) > 1 else problems[0]
    case.problem = problems[0] if "operator is not supported" in problems[0] else case.problem
    return False


def family_of(problem: str) -> str:
    problem = re.sub(r"\(opset \d+\) ", "", problem)
    problem = re.sub(r" at '[^']*'", "", problem)
    return re.sub(r"tensor<[^>]*>", "tensor", re.sub(r"-?\d+", "N", problem))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="the cases whose names match")
    parser.add_argument("--failures", action="store_true", help="list every case that fails")
    options = parser.parse_args()
    cases = [case for case in collect() if re.search(options.only, case.name)]
    numeric = [case for case in cases if is_numeric(case)]
    reasons: dict[str, list[str]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for case in numeric:
            if not convert(case, Path(folder)):
                reasons[family_of(case.problem)].append(case.name)
    count = Counter(case.form for case in numeric if case.form)
    print(f"| cases | of numbers | convert | {' | '.join(count)} |")
    print("|---" * (len(count) + 3) + "|")
    print(f"| {len(cases)} | {len(numeric)} | {sum(count.values())} | {' | '.join(map(str, count.values()))} |")
    print()
    for reason, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(names):5} {reason}" + (": " + " ".join(names) if options.failures else f"  (as {names[0]})"))


if __name__ == "__main__":
    main()

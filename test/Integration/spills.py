"""Which kernels of a program want more registers than a thread has, for sm_80 and sm_90, and what share of a step they
take by the plan's estimate. No GPU is needed.

usage: spills.py FOLDER [MODEL...]   prints a row for each model of zoo.py and each of WIDE. FOLDER keeps results: what is
                                     there is not compiled again.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "python")]

import gpuopt
import models
import zoo
from gpuopt.driver import find_driver
from emulated import nvidia_wheels
from models import Case
from sass import FLAGS
from training import execute

# The device whose plan weighs the kernels of an architecture.
DEVICES = {"sm_80": "a100", "sm_90": "h200"}

# Those of models.py that are as wide as in use, by the batch size with which they are.
WIDE = {"mlp": 4096, "gpt2-two-layers": 16, "bert": 64, "resnet18": 64, "resnet50": 64, "unet": 16}

# What a call of the plan launches, by the beginning of the kernel's name; those that stand first win. The printed kernels
# of a model have their own names in the plan.
CALLS = {
    "attention_forward": "attention ", "attention_": "attention_backward ", "add_bias_parts": "attention_backward ",
    "scatter_": "scatter_", "for_rows_kernel<gpuopt::GradientRow": "grad_norm", "finish_grad_norm": "grad_norm",
    "add_loss": "report_loss",
    "add_loss_part": "report_loss",
}


@dataclasses.dataclass
class Resources:
    """What ptxas gave a kernel."""

    name: str  # "fused_sum_2" of a model, "attention_forward<gpuopt::f16, 64>" of the runtime
    registers: int
    spilled_bytes: int  # stores and loads


def make(name: str) -> tuple[Case, int]:
    """The case of a model's name, and the batch size with which it is compiled."""
    if name in WIDE:
        return models.make(name), WIDE[name]
    case = zoo.make(name)
    return case, case.batch


def compile_file(source: Path, architecture: str) -> list[Resources]:
    """What nvcc makes of the kernels of a file of an emitted program, those of the runtime among them."""
    includes = [f"-I{wheel}/{name}/include" for wheel in nvidia_wheels().split(";") for name in ("cu13", "cudnn")]
    return read_report(execute(
        ["nvcc", "-std=c++17", "-O3", "-fmad=false", *FLAGS[architecture], "-cubin", "-Xptxas=-v", f"-I{source.parent}",
         *includes, "-o", source.with_suffix(".cubin"), source]))


CALL = re.compile(r"^ +([\w:]+(?:<[^;()]*>)?)\(ctx,(.*?)\);\n", re.M | re.S)


def runtime_calls(program: Path) -> set[str]:
    """The runtime's calls of a program with the types of their operands, and the types of its tables. From these follows
    which of the runtime's kernels step.cu has."""
    types = {name: kind for kind, name in re.findall(r"Buffer<(\w+)> (k\w+)", (program / "memory.h").read_text())}
    calls = set(re.findall(r"DEVICE_TABLE ([^=\[]*?) k\w+\[", (program / "tables.h").read_text()))
    for call, operands in CALL.findall((program / "step.cu").read_text()):
        if call not in ("gemm", "launch"):  # cuBLASLt's, and the program's own kernels
            used = {types[name] for name in re.findall(r"\bm\[(k\w+)", operands) if name in types}
            calls.add(f"{call}({', '.join(sorted(used))})")
    return calls


def compile_kernels(program: Path, architecture: str, known: set[str]) -> list[Resources]:
    """What nvcc makes of the kernels of a program, and of those of the runtime that no earlier program had: `known` are
    these programs' calls, to which those of this one are added."""
    step, found = program / "step.cu", {}
    calls = {f"{architecture}: {call}" for call in runtime_calls(program)}
    if calls <= known:  # without the calls, their kernels are not instantiated
        step.write_text(CALL.sub(lambda call: call[0] if call[1] == "launch" else "", step.read_text()))
    known |= calls
    for source in sorted(program.glob("*.cu")):
        found |= {kernel.name: kernel for kernel in compile_file(source, architecture)}  # each has what all of them include
    return list(found.values())


def read_report(report: str) -> list[Resources]:
    """What `nvcc -Xptxas=-v` says."""
    names = subprocess.run(["c++filt", "-p"], input=report, capture_output=True, text=True, check=True).stdout
    found = []
    for symbol, text in re.findall(r"entry function '(.*?)' for '\w+'(.*?)(?=Compiling entry|\Z)", names, re.S):
        spilled = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", text)
        registers = re.search(r"Used (\d+) registers", text)
        name = re.sub(r"^(void )?(gpuopt::)?(detail::|model::)?", "", symbol)
        if name.startswith("fused_"):
            name = name.split("(")[0]
        found.append(Resources(name, int(registers[1]), int(spilled[1]) + int(spilled[2])))
    return found


def share_of_step(kernel: str, plan: dict) -> float:
    """The part of a step that the kernel takes by the plan: its own row if the model printed it, else all calls that may
    launch it. A kernel of the runtime that no row names counts as a whole step."""
    times = {row["name"]: row["ms"] for row in plan["kernels"]}
    if kernel in times:
        return times[kernel] / plan["step_ms"]
    if kernel.startswith("fused_"):
        return 0.0  # of an evaluation, which is no part of a step
    call = next((call for name, call in CALLS.items() if kernel.startswith(name)), None)
    found = [time for name, time in times.items() if call and name.startswith(call)]
    return sum(found) / plan["step_ms"] if found else 1.0


def costly_spills(kernels: list[dict]) -> list[str]:
    """The kernels that spill and take more than a hundredth of a step."""
    return [f"{kernel['name']} spills {kernel['spilled_bytes']} bytes and takes {kernel['share']:.1%} of a step"
            for kernel in kernels if kernel["spilled_bytes"] and kernel["share"] > 0.01]


def measure(case: Case, batch: int, folder: Path, architecture: str, known: set[str], precision="fp16") -> list[dict]:
    """Every kernel of the program of a case: its name, registers, spilled bytes and share of a step."""
    model, program = folder / "model.onnx", folder / architecture
    if not model.exists():
        gpuopt.export(case.module, case.example_inputs(), model, input_names=list(case.inputs), output_names=["logits"])
    # The shapes of launches, and so the kernels, are those for the device.
    flags = ["--target=cuda", f"--device={DEVICES[architecture]}", f"--batch-size={batch}", f"--precision={precision}", f"--loss={case.loss}"]
    if not (program / "step.cu").exists():
        execute([find_driver(), "compile", model, "-o", program, *flags])
    plan = json.loads(subprocess.run(
        [find_driver(), "plan", model, *flags, "--kernels", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    kernels = compile_kernels(program, architecture, known)
    unknown = {row["name"] for row in plan["kernels"] if row["name"].startswith("fused_")} - {kernel.name for kernel in kernels}
    assert not unknown, f"the plan has kernels that the program has not: {unknown}"
    return [dataclasses.asdict(kernel) | {"share": share_of_step(kernel.name, plan)} for kernel in kernels]


def row(name: str, folder: Path, known: set[str]) -> str:
    """A row of the table: how many kernels for each architecture, the most registers of one, and what spills."""
    cells = []
    for architecture in DEVICES:
        result = folder / f"{architecture}.json"
        if not result.exists():
            folder.mkdir(parents=True, exist_ok=True)
            result.write_text(json.dumps(measure(*make(name), folder, architecture, known), indent=1))
        known |= {f"{architecture}: {call}" for call in runtime_calls(folder / architecture)}
        kernels = json.loads(result.read_text())
        spilled = [f"{kernel['name']}: {kernel['spilled_bytes']} B, {kernel['share']:.1%}" for kernel in kernels if kernel["spilled_bytes"]]
        cells.append(f"{len(kernels)} | {max(kernel['registers'] for kernel in kernels)} | {'; '.join(spilled) or 'none'}")
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    known: set[str] = set()
    for name in sys.argv[2:] or [*WIDE, *zoo.MODELS]:
        try:
            print(row(name, Path(sys.argv[1]) / name, known), flush=True)
        except Exception as error:
            print(f"| {name} | {type(error).__name__}: {str(error)[-300:]}", flush=True)

"""Makes programs for gpu-check.sh, with what PyTorch makes of their models.

usage: prepare.py FOLDER [--build] [MODEL[:PRECISION[@BUDGET[+offload]]]...]

FOLDER/MODEL-PRECISION[-BUDGET[-offload]] holds what `gpuopt compile --target=cuda` wrote,
and in check/: the data as .npy, the model as a Python function of its parameters
(reference.py), the losses of PyTorch's training in fp32 and the gradients of its
first step, how to run it, and what the compiler estimates (check.json). Models
are those of test/Integration/models.py, and those of benchmarks/estimates.py at
its sizes as MODEL-large. Weights and data of large models are left out: they are
drawn on the other side, so that all folders together are a few megabytes.

--build compiles the trainers here too, for sm_90 or the ARCHITECTURES of the
environment, so that a GPU that is lent by the minute does not wait for nvcc. They
read no pictures, whose libraries differ between distributions.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration"), str(ROOT / "benchmarks")]

import numpy as np
import torch

import gpuopt
import models
from gpuopt import safetensors
from gpuopt.driver import find_driver
from programs import BUILT_BEFORE, LIBRARY_BUILT_BEFORE
from training import train_torch

MODELS = [
    "mlp:fp32", "mlp:fp16", "cnn:fp32", "gpt2-small:fp32", "gpt2-small:tf32", "gpt2-small:fp16", "gpt2-small:bf16",
    "bert-small:fp32", "resnet18-small:fp32", "resnet18-small:fp16", "unet-small:fp32", "gpt2-small:fp16@48MiB",
    "gpt2-large:fp16", "resnet50-large:fp16", "gpt2-large:bf16", "gpt2-large:fp16@10GiB", "bert-large:fp16",
    "vit-large:fp16", "unet-256-large:fp16",
]
STEPS = 20
LARGE_IN_BYTES = 32 << 20


def names_in(case: models.Case, weights: set[str]) -> dict[str, str]:
    """The file's name of each parameter: one that has several is there under
    one of them."""
    aliases: dict[int, list[str]] = {}
    for name, parameter in case.module.named_parameters(remove_duplicate=False):
        aliases.setdefault(id(parameter), []).append(name)
    known = {}
    for names in aliases.values():
        kept = next((name for name in names if name in weights), names[0])
        known |= dict.fromkeys(names, kept)
    return known


def reference_source(case: models.Case, weights: set[str], batch: int) -> tuple[str, dict[str, np.ndarray]]:
    """The forward as a function of (parameters by name, inputs of `batch`
    samples), in ATen's operators, so that neither transformers nor the model's
    class is needed; and its constants."""
    example = tuple(torch.from_numpy(np.resize(array, (batch, *array.shape[1:]))) for array in case.inputs.values())
    program = torch.export.export(case.module, example, strict=False)
    signature = program.graph_signature
    names = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    kept = names_in(case, weights)
    names = {placeholder: kept.get(name, name) for placeholder, name in names.items()}
    constants = {name: tensor.numpy() for name, tensor in program.constants.items() if isinstance(tensor, torch.Tensor)}
    constants |= {name: tensor.numpy() for name, tensor in case.module.named_buffers() if "running_" not in name}
    names |= signature.inputs_to_lifted_tensor_constants
    placeholders = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    lines = ["import torch", "", "", "def forward(tensors, inputs):"]
    lines += ["    inputs = list(inputs)", "    place = inputs[0].device"]
    for name in placeholders:
        lines.append(f"    {name} = tensors[{names[name]!r}]" if name in names else f"    {name} = inputs.pop(0)")
    code = program.graph_module.code.strip().split("\n")
    start = next(index for index, line in enumerate(code) if line.startswith("def ")) + 1
    lines += [line.replace("device(type='cpu')", "place") for line in code[start:]]
    return "\n".join(lines) + "\n", constants


def with_fused_attention(case: models.Case) -> models.Case:
    """The case with the attention that transformers takes by default, by
    scaled_dot_product_attention: what is timed is PyTorch at its best. The exported
    file has the products and the softmax one by one."""
    case = copy.deepcopy(case)
    for module in case.module.modules():
        if hasattr(getattr(module, "config", None), "_attn_implementation"):
            module.config._attn_implementation = "sdpa"
    return case


MASKED_ATTENTION = re.compile(r"(scaled_dot_product_attention\.default\(\w+, \w+, \w+), \w+, scale")


def with_causal_flag(source: str) -> str:
    """Says that attention is causal by the flag, as transformers does outside of an
    export, which leaves PyTorch the choice of a kernel."""
    return MASKED_ATTENTION.sub(r"\1, None, 0.0, True, scale", source)


def expectations(case: models.Case, check: Path, steps: int) -> list[float]:
    """The losses of PyTorch's training in fp32; writes the first gradients."""
    first = copy.deepcopy(case)
    train_torch(first, 1, lambda p: torch.optim.SGD(p, lr=0.0))
    gradients = {name: p.grad.numpy() for name, p in first.module.named_parameters(remove_duplicate=False)}
    if sum(array.nbytes for array in gradients.values()) <= LARGE_IN_BYTES:
        safetensors.write(check / "gradients.safetensors", gradients)
    adamw = lambda p: torch.optim.AdamW(p, lr=case.learning_rate, weight_decay=0.0)
    return train_torch(copy.deepcopy(case), steps, adamw, max_grad_norm=1.0)


@dataclasses.dataclass(frozen=True)
class Order:
    """A program to prepare: MODEL:PRECISION, with a memory budget or without one;
    within a budget, tensors may wait in the memory of the host."""

    model: str
    precision: str = "fp32"
    budget: str | None = None
    offloads: bool = False

    @classmethod
    def parse(cls, text: str) -> "Order":
        model, _, rest = text.partition(":")
        precision, _, budget = rest.partition("@")
        budget, _, offload = budget.partition("+")
        if offload not in ("", "offload"):
            raise ValueError(f"expected MODEL:PRECISION@BUDGET+offload, but got '+{offload}' in '{text}'")
        return cls(model, precision or "fp32", budget or None, bool(offload))

    @property
    def folder(self) -> str:
        parts = (self.model, self.precision, self.budget, "offload" if self.offloads else None)
        return "-".join(part for part in parts if part)

    def flags(self, batch: int) -> list[str]:
        budget = [f"--memory-budget={self.budget}"] if self.budget else []
        offload = ["--allow-offload"] if self.offloads else []
        common = [f"--batch-size={batch}", f"--precision={self.precision}", "--target=cuda", "--device=h200"]
        return common + budget + offload


def large_batches() -> dict[str, int]:
    """The sizes at which a GPU is timed, by model."""
    import estimates  # which adds its models to those of budgets

    return {f"{name}-large": batch for name, batch in estimates.BATCHES.items()}


def make_case(model: str) -> models.Case:
    if not model.endswith("-large"):
        return models.make(model)
    import estimates  # which adds its models to those of budgets

    torch.manual_seed(1)
    case = estimates.budgets.MODELS[model.removesuffix("-large")][0]()
    case.module.train()
    return case


def describe_array(array: np.ndarray, batch: int) -> dict:
    """How to draw data like `array`, of one batch."""
    shape = [batch, *array.shape[1:]]
    if np.issubdtype(array.dtype, np.integer):
        return {"shape": shape, "dtype": str(array.dtype), "low": int(max(array.min(), 0)), "high": int(array.max())}
    return {"shape": shape, "dtype": str(array.dtype), "low": 0, "high": 0}


def estimate(model: Path, order: Order, batch: int) -> dict:
    """Returns what `gpuopt plan` says of the kernels, the step and the device."""
    command = [find_driver(), "plan", model, *order.flags(batch), "--kernels", "--json"]
    run = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True)
    plan = json.loads(run.stdout)
    return {
        "kernels": plan["kernels"], "estimated_step_ms": plan["step_ms"], "device_model": plan["device_model"],
        "budget": plan.get("budget_bytes"),
    }


def prepare(order: Order, folder: Path) -> None:
    case = make_case(order.model)
    batch = large_batches().get(order.model, case.batch)
    target = folder / order.folder
    model = folder / f"{order.model}.onnx"
    if not model.exists():
        gpuopt.export(case.module, case.example_inputs(), model, output_names=["logits"])
    shutil.rmtree(target, ignore_errors=True)
    command = [find_driver(), "compile", model, "-o", target, *order.flags(batch), f"--loss={case.loss}"]
    subprocess.run([str(part) for part in command], check=True)
    check = target / "check"
    check.mkdir()
    arrays = {**case.inputs, "labels": case.labels}
    weights = target / "model.safetensors"
    is_large = weights.stat().st_size > LARGE_IN_BYTES
    timed = with_fused_attention(case) if is_large else case
    source, constants = reference_source(timed, set(safetensors.read(weights)), batch)
    (check / "reference.py").write_text(with_causal_flag(source) if order.model.startswith("gpt2") else source)
    safetensors.write(check / "constants.safetensors", constants)
    record = {
        "name": order.model, "precision": order.precision, "batch": batch, "loss": case.loss,
        "inputs": list(case.inputs), "learning_rate": case.learning_rate, "convolutional": case.convolutional,
        **estimate(model, order, batch),
    }
    if is_large:
        keep_header(weights, check / "weights.json")
        record |= {"losses": [], "drawn": {name: describe_array(array, batch) for name, array in arrays.items()}}
    else:
        for name, array in arrays.items():
            np.save(check / f"{name}.npy", array)
        record["losses"] = expectations(case, check, STEPS)
    (check / "check.json").write_text(json.dumps(record, indent=1))
    print(f"{target}: ready", flush=True)


def build(target: Path, objects: Path) -> None:
    """Compiles the trainer of a prepared program to TARGET/trainer-cuda, and the
    library of a small one beside it."""
    folder = target / "build"
    is_large = (target / "check" / "weights.json").exists()
    configure = [
        "cmake", "-S", target, "-B", folder, "-DGPUOPT_TARGET=cuda", f"-DGPUOPT_OBJECT_CACHE={objects}",
        f"-DCMAKE_CUDA_ARCHITECTURES={os.environ.get('ARCHITECTURES', '90')}",
        f"-DBUILD_SHARED_LIBS={'OFF' if is_large else 'ON'}",
        *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("JPEG", "PNG")),
    ]
    wheels = Path(sys.prefix, "lib", f"python3.{sys.version_info.minor}", "site-packages", "nvidia")
    if "NVIDIA_WHEELS" not in os.environ and wheels.exists():
        configure.append(f"-DNVIDIA_WHEELS={wheels}")
    for command in (configure, ["cmake", "--build", folder]):
        subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    shutil.copy(folder / "trainer", target / BUILT_BEFORE)
    if not is_large:
        shutil.copy(folder / "libprogram.so", target / LIBRARY_BUILT_BEFORE)
    shutil.rmtree(folder)
    print(f"{target}: built", flush=True)


def keep_header(weights: Path, target: Path) -> None:
    """Shapes alone: 500 MB of random numbers need not travel."""
    shapes = {name: list(array.shape) for name, array in safetensors.read(weights).items()}
    target.write_text(json.dumps(shapes))
    weights.unlink()


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    models = [text for text in sys.argv[2:] if text != "--build"] or MODELS
    orders = [Order.parse(text) for text in models]
    for order in orders:
        prepare(order, folder)
    for model in folder.glob("*.onnx*"):
        model.unlink()
    if "--build" in sys.argv:
        for order in orders:
            build(folder / order.folder, folder.parent / "gpu-objects")


if __name__ == "__main__":
    main()

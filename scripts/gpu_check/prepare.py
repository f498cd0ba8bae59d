"""Makes programs for gpu-check.sh, with what PyTorch makes of their models.

usage: prepare.py FOLDER [MODEL[:PRECISION]...]

FOLDER/MODEL-PRECISION holds what `gpuopt compile --target=cuda` wrote, and in
check/: the data as .npy, the model as a Python function of its parameters
(reference.py), the losses of PyTorch's training in fp32 and the gradients of its
first step, and how to run it (check.json). Weights and gradients of large
models are left out: they are drawn again on the other side.
"""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

import numpy as np
import torch

import gpuopt
import models
from gpuopt import safetensors
from gpuopt.driver import find_driver
from training import train_torch

MODELS = [
    "mlp:fp32", "cnn:fp32", "gpt2-small:fp32", "gpt2-small:fp16", "gpt2-small:bf16", "bert-small:fp32",
    "resnet18-small:fp32", "resnet18-small:fp16", "unet-small:fp32", "gpt2:fp16", "resnet50:fp16",
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


def reference_source(case: models.Case, weights: set[str]) -> tuple[str, dict[str, np.ndarray]]:
    """The forward as a function of (parameters by name, inputs), in ATen's
    operators, so that neither transformers nor the model's class is needed;
    and its constants."""
    example = tuple(torch.from_numpy(array[: case.batch]) for array in case.inputs.values())
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


def expectations(case: models.Case, check: Path, steps: int) -> list[float]:
    """The losses of PyTorch's training in fp32; writes the first gradients."""
    first = copy.deepcopy(case)
    train_torch(first, 1, lambda p: torch.optim.SGD(p, lr=0.0))
    gradients = {name: p.grad.numpy() for name, p in first.module.named_parameters(remove_duplicate=False)}
    if sum(array.nbytes for array in gradients.values()) <= LARGE_IN_BYTES:
        safetensors.write(check / "gradients.safetensors", gradients)
    adamw = lambda p: torch.optim.AdamW(p, lr=case.learning_rate, weight_decay=0.0)
    return train_torch(copy.deepcopy(case), steps, adamw, max_grad_norm=1.0)


def prepare(name: str, precision: str, folder: Path) -> None:
    case = models.make(name)
    target = folder / f"{name}-{precision}"
    model = folder / f"{name}.onnx"
    if not model.exists():
        gpuopt.export(case.module, case.example_inputs(), model, output_names=["logits"])
    shutil.rmtree(target, ignore_errors=True)
    command = [find_driver(), "compile", model, "-o", target, "--target=cuda", "--device=h200"]
    command += [f"--batch-size={case.batch}", f"--precision={precision}", f"--loss={case.loss}"]
    subprocess.run([str(part) for part in command], check=True)
    check = target / "check"
    check.mkdir()
    for input, array in {**case.inputs, "labels": case.labels}.items():
        np.save(check / f"{input}.npy", array)
    weights = target / "model.safetensors"
    source, constants = reference_source(case, set(safetensors.read(weights)))
    (check / "reference.py").write_text(source)
    safetensors.write(check / "constants.safetensors", constants)
    is_large = weights.stat().st_size > LARGE_IN_BYTES
    record = {
        "name": name, "precision": precision, "batch": case.batch, "loss": case.loss, "inputs": list(case.inputs),
        "learning_rate": case.learning_rate, "convolutional": case.convolutional,
        "losses": [] if is_large else expectations(case, check, STEPS),
    }
    if is_large:
        keep_header(weights, check / "weights.json")
    (check / "check.json").write_text(json.dumps(record, indent=1))
    print(f"{target}: ready", flush=True)


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
    for text in sys.argv[2:] or MODELS:
        name, _, precision = text.partition(":")
        prepare(name, precision or "fp32", folder)
    for model in folder.glob("*.onnx*"):
        model.unlink()


if __name__ == "__main__":
    main()

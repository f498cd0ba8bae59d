"""The same training step by PyTorch: torch.compile, AMP, fused AdamW.

usage: torch_side.py FOLDER WEIGHTS cuda|host STEPS [MODE...]

Prints a line of JSON for each mode of torch.compile as soon as it is timed.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "python")]

import numpy as np
import torch

from gpuopt import safetensors


def load_forward(folder: Path):
    name = "reference_" + folder.name.replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, folder / "check" / "reference.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # torch.compile imports it again
    spec.loader.exec_module(module)
    return module.forward


def load_tensors(folder: Path, weights: Path, record: dict, device: str) -> dict[str, torch.Tensor]:
    """Parameters that train, running statistics and constants, by name."""
    tensors = {}
    for name, array in safetensors.read(weights).items():
        tensor = torch.from_numpy(np.array(array)).to(device)
        if record["convolutional"] and tensor.dim() == 4:
            tensor = tensor.to(memory_format=torch.channels_last)
        tensors[name] = tensor.requires_grad_("running_" not in name)
    for name, array in safetensors.read(folder / "check" / "constants.safetensors").items():
        tensors.setdefault(name, torch.from_numpy(np.array(array)).to(device))
    return tensors


def loss_of(record: dict, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    logits = logits.float()
    if record["loss"] == "mse":
        return torch.nn.functional.mse_loss(logits, labels)
    if logits.dim() == 4:
        return torch.nn.functional.cross_entropy(logits, labels)
    return torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def make_step(folder: Path, weights: Path, record: dict, device: str, mode: str):
    """A function that makes one training step with fused AdamW and AMP."""
    tensors = load_tensors(folder, weights, record, device)
    forward = load_forward(folder)
    half = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(record["precision"])
    scaler = torch.amp.GradScaler(device, enabled=record["precision"] == "fp16")
    trained = [tensor for tensor in tensors.values() if tensor.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=record["learning_rate"], weight_decay=0.0, fused=True)
    load = lambda name: torch.from_numpy(np.load(folder / "check" / f"{name}.npy")[: record["batch"]]).to(device)
    inputs, labels = [load(name) for name in record["inputs"]], load("labels")

    @torch.compile(mode=mode)
    def loss_function(tensors, inputs, labels):
        return loss_of(record, forward(tensors, inputs)[0], labels)

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=half, enabled=half is not None):
            loss = loss_function(tensors, inputs, labels)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        scaler.step(optimizer)
        scaler.update()
        return loss.item()  # which waits for the step

    return step


def time_mode(folder: Path, weights: Path, record: dict, device: str, mode: str, steps: int) -> dict:
    """The median time of a step; what PyTorch allocated at most and what it
    reserved of the device, both None on a processor."""
    step = make_step(folder, weights, record, device, mode)
    times, losses = [], []
    for _ in range(steps):
        begin = time.perf_counter()
        losses.append(step())
        times.append((time.perf_counter() - begin) * 1e3)
    is_cuda = device == "cuda"
    return {
        "mode": mode, "step_ms": statistics.median(times[steps // 2 :]), "losses": losses,
        "allocated_bytes": torch.cuda.max_memory_allocated() if is_cuda else None,
        "reserved_bytes": torch.cuda.max_memory_reserved() if is_cuda else None,
    }


def main() -> None:
    folder, weights, target, steps = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    record = json.loads((folder / "check" / "check.json").read_text())
    torch.backends.cudnn.allow_tf32 = False  # as our fp32, and PyTorch's products
    device = "cuda" if target == "cuda" else "cpu"
    # The default mode is ready soon; max-autotune times kernels for minutes.
    for mode in sys.argv[5:] if device == "cuda" else ["default"]:
        try:
            print(json.dumps(time_mode(folder, weights, record, device, mode, steps)), flush=True)
        except RuntimeError as error:  # of a mode that a model does not bear, or of memory
            print(f"{mode}: {error}", file=sys.stderr)
        torch.compiler.reset()
        if device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()


if __name__ == "__main__":
    main()

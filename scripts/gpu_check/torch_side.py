"""The same training step by PyTorch: torch.compile, AMP, fused AdamW."""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time
from pathlib import Path

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


def time_torch(folder: Path, weights: Path, record: dict, target: str, steps: int) -> tuple[float, float | None]:
    """The median milliseconds of a step, and the most MiB allocated on CUDA."""
    torch.backends.cudnn.allow_tf32 = False  # as our fp32, and PyTorch's products
    device = "cuda" if target == "cuda" else "cpu"
    tensors = load_tensors(folder, weights, record, device)
    forward = load_forward(folder)
    half = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(record["precision"])
    scaler = torch.amp.GradScaler(device, enabled=record["precision"] == "fp16")
    trained = [tensor for tensor in tensors.values() if tensor.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=record["learning_rate"], weight_decay=0.0, fused=True)
    load = lambda name: torch.from_numpy(np.load(folder / "check" / f"{name}.npy")[: record["batch"]]).to(device)
    inputs, labels = [load(name) for name in record["inputs"]], load("labels")

    @torch.compile
    def loss_function(tensors, inputs, labels):
        return loss_of(record, forward(tensors, inputs)[0], labels)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=half, enabled=half is not None):
            loss = loss_function(tensors, inputs, labels)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        scaler.step(optimizer)
        scaler.update()
        if device == "cuda":
            torch.cuda.synchronize()

    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        step()
        times.append((time.perf_counter() - begin) * 1e3)
    memory = torch.cuda.max_memory_allocated() / 2**20 if device == "cuda" else None
    return statistics.median(times[steps // 2 :]), memory

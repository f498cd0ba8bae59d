"""Trains a model of cases.py by PyTorch, until it is killed."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

import torch

import cases
from training import batches  # test/Integration/training.py

LEARNING_RATE = 5e-5


def make_step(case: cases.Case, compiled: bool, max_grad_norm: float, precision: str):
    """A function of inputs and labels that trains one step and gives the loss."""
    if case.convolutional:
        case.module.to(memory_format=torch.channels_last)

    def loss_of(inputs, labels):
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            return case.loss_of(case.module(*inputs), labels)

    forward = torch.compile(loss_of) if compiled else loss_of
    parameters = list(case.module.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=LEARNING_RATE, weight_decay=0.0, fused=True)

    def step(inputs, labels) -> float:
        if case.convolutional:
            inputs = [x.contiguous(memory_format=torch.channels_last) for x in inputs]
        loss = forward(inputs, labels)
        loss.backward()
        if max_grad_norm > 0:
            torch.nn.utils.clip_grad_norm_(parameters, max_grad_norm)
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return step


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--mode", choices=["eager", "compile"], required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--max-grad-norm", type=float, required=True)
    parser.add_argument("--precision", choices=["fp32", "bf16"], required=True)
    parser.add_argument("--output-dir", type=pathlib.Path, required=True)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    case = cases.make(options.model)
    train = make_step(case, options.mode == "compile", options.max_grad_norm, options.precision)
    with open(options.output_dir / "metrics.jsonl", "w", buffering=1) as metrics:
        for step, (inputs, labels) in enumerate(batches(case, sys.maxsize), 1):
            begin = time.perf_counter()
            loss = train(inputs, labels)
            milliseconds = (time.perf_counter() - begin) * 1000
            metrics.write(json.dumps({"step": step, "loss": loss, "step_ms": milliseconds}) + "\n")
            print(f"step {step}  loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()

"""Steps of a program's library on PyTorch's tensors, which it reads where they lie.

usage: library_side.py LIBRARY WEIGHTS cuda|host STEPS BATCH LEARNING_RATE NAME=FILE.npy...

Prints the losses as one line of JSON. On CUDA each batch is still being written, on
PyTorch's stream, when the step is called.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "python")]

import numpy as np
import torch

from gpuopt.library import Library
from gpuopt.program import Program

WAIT_IN_CYCLES = 50_000_000  # tens of milliseconds, for which the batch is not there yet


def batch_of(samples: torch.Tensor, step: int, batch: int, place: str) -> torch.Tensor:
    first = step * batch % len(samples)
    rows = samples[first : first + batch].to(place)
    if place != "cuda":
        return rows
    target = torch.zeros_like(rows)
    torch.cuda.synchronize()
    torch.cuda._sleep(WAIT_IN_CYCLES)
    target.copy_(rows)
    return target


def main() -> None:
    library, weights, target = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    steps, batch, learning_rate = int(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6])
    data = {}
    for argument in sys.argv[7:]:
        name, _, file = argument.partition("=")
        data[name] = torch.from_numpy(np.load(file))
    place = "cuda" if target == "cuda" else "cpu"
    settings = {
        "learning_rate": learning_rate, "weight_decay": 0, "max_grad_norm": 1, "lr_scheduler_type": "constant",
        "max_steps": steps,
    }
    with Program(Library(library), weights, 0, 0, settings) as program:
        losses = [
            program.step({name: batch_of(samples, step, batch, place) for name, samples in data.items()})
            for step in range(steps)
        ]
    print(json.dumps(losses))


if __name__ == "__main__":
    main()

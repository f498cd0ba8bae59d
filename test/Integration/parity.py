"""How far training by gpuopt is from training by PyTorch."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path

import numpy as np
import torch

import gpuopt
from models import Case
from training import Trainer, gradients_of, train_torch

STEPS = 20

# The largest errors with which there is parity.
LARGEST_LOSS, LARGEST_GRADIENT, LARGEST_FINAL_LOSS = 1e-5, 1e-4, 1e-3


def worst_gradient(module: torch.nn.Module, gradients: dict[str, np.ndarray], prefix="") -> tuple[float, str]:
    """The largest error of a parameter's gradient and the parameter's name.
    Errors are relative to the norm of the gradient, of which rounding of the
    whole, a thousandth of all gradients' norm, is no part. What needs no
    gradient, a buffer too, has one of 0."""
    named = {**dict(module.named_parameters(remove_duplicate=False)), **dict(module.named_buffers(remove_duplicate=False))}
    norms = [float(p.grad.double().norm()) for p in module.parameters() if p.grad is not None]
    everything = np.linalg.norm(norms)
    # Tied parameters have one gradient; the file keeps one of their names.
    kept = {id(tensor) for name, tensor in named.items() if prefix + name in gradients}
    errors = []
    for name, tensor in named.items():
        gradient = None if tensor.grad is None else tensor.grad.double().numpy()
        if gradient is not None and np.any(gradient) and id(tensor) not in kept:
            errors.append((np.inf, f"{name} (not in model.safetensors)"))
        if prefix + name not in gradients or "running_" in name:
            continue
        expected = np.zeros(tuple(tensor.shape)) if gradient is None else gradient
        error = np.linalg.norm(gradients[prefix + name] - expected)
        errors.append((error / (np.linalg.norm(expected) + 1e-3 * everything), name))
    return max(errors)


@dataclasses.dataclass
class Parity:
    """Relative errors: of the first loss, of the worst gradient of the first
    step, of the loss after STEPS steps of AdamW."""

    loss: float
    gradient: float
    parameter: str
    final_loss: float

    def holds(self) -> bool:
        return self.loss <= LARGEST_LOSS and self.gradient <= LARGEST_GRADIENT and self.final_loss <= LARGEST_FINAL_LOSS


def in_double(case: Case) -> Case:
    """The same case with parameters and inputs in double precision."""
    inputs = {name: array.astype(np.float64) if array.dtype == np.float32 else array for name, array in case.inputs.items()}
    return dataclasses.replace(case, module=copy.deepcopy(case.module).double(), inputs=inputs)


def rounding(case: Case, change=0.0) -> tuple[float, str]:
    """How far PyTorch's own gradients are, at the first step, from those in double precision: the worst error and its
    parameter. Those in single precision, or those in double precision of inputs that are changed by `change` of their size."""
    exact, other = in_double(case), in_double(case) if change else copy.deepcopy(case)
    random = np.random.default_rng(0)
    for name, array in other.inputs.items() if change else ():
        other.inputs[name] = array * (1 + change * random.standard_normal(array.shape))
    for one in (exact, other):
        train_torch(one, 1, lambda p: torch.optim.SGD(p, lr=0.0))
    gradients = {name: p.grad.double().numpy() for name, p in other.module.named_parameters() if p.grad is not None}
    return worst_gradient(exact.module, gradients)


def drift(case: Case) -> float:
    """How far the loss of PyTorch's own training in single precision is, after STEPS steps, from that in double precision."""
    single, double = (adamw(one)[-1] for one in (copy.deepcopy(case), in_double(case)))
    return relative(single, double)


def adamw(case: Case) -> list[float]:
    """PyTorch's losses over STEPS steps."""
    return train_torch(case, STEPS, lambda p: torch.optim.AdamW(p, lr=case.learning_rate, weight_decay=0.0), max_grad_norm=1.0)


def relative(ours: float, expected: float) -> float:
    return abs(ours - expected) / abs(expected)


def refuse_random(case: Case) -> None:
    """Raises a ValueError if the outputs depend on random numbers, which PyTorch draws in another order than gpuopt."""
    outputs = []
    for seed in (0, 1):
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(seed)
            outputs.append(copy.deepcopy(case.module)(*case.example_inputs()))
    if not torch.equal(*outputs):
        raise ValueError("the outputs of the model depend on the seed, so its losses cannot be compared: set its rates of dropout to 0")


def measure(case: Case, folder: Path) -> Parity:
    """Exports, compiles, builds and trains a case."""
    refuse_random(case)
    model = folder / "model.onnx"
    gpuopt.export(case.module, case.example_inputs(), model, input_names=list(case.inputs), output_names=["logits"])
    trainer = Trainer(model, folder / "program", batch_size=case.batch, loss=case.loss)
    loss, gradients, _ = gradients_of(trainer, case.inputs, case.labels)
    once, long = copy.deepcopy(case), copy.deepcopy(case)
    first = train_torch(once, 1, lambda p: torch.optim.SGD(p, lr=0.0))[0]
    gradient, parameter = worst_gradient(once.module, gradients)
    expected = adamw(long)
    result = trainer.run(
        case.inputs, case.labels, learning_rate=case.learning_rate, lr_scheduler_type="constant", max_steps=STEPS
    )
    return Parity(relative(loss, first), gradient, parameter, relative(result.losses[-1], expected[-1]))

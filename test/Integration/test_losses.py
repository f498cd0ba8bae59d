"""Losses and their gradients against PyTorch in double precision, over several steps of SGD: a loss depends on
the gradients of the steps before."""

import dataclasses
from typing import Any, Callable

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import gpuopt
from training import OPTIMIZATION_FOR_ONE_STEP, Trainer

BATCH, STEPS, CLASSES = 6, 4, 12
OUTPUTS = ["logits", "logs", "maps", "certain"]
WEIGHTS = np.linspace(0.25, 3, CLASSES)


class Small(torch.nn.Module):
    """Its outputs are for losses of logits, of logarithms of probabilities, of maps, and of logits whose sigmoid is 1 in
    double precision."""

    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(7, 9), torch.nn.Linear(9, CLASSES)

    def forward(self, x):
        logits = self.last(torch.tanh(self.first(x)))
        return logits, torch.log_softmax(logits, 1), logits.reshape(-1, 3, 4), logits + 40


def module():
    torch.manual_seed(3)
    return Small().double()


@dataclasses.dataclass
class Case:
    flags: dict[str, Any]
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    labels: Callable[[np.random.Generator, int], np.ndarray]
    output: str = "logits"
    accumulation: int = 1


def classes(draw, count):
    labels = draw.integers(0, CLASSES, count)
    labels[1] = -1
    return labels


def numbers(draw, count):
    return 2 * draw.normal(size=(count, CLASSES))


def bits(draw, count):
    return draw.integers(0, 2, (count, CLASSES)).astype(np.float64)


def maps(draw, count):
    return bits(draw, count).reshape(count, 3, 4)


def distributions(draw, count):
    """Some targets are 0."""
    return draw.dirichlet(np.full(CLASSES, 0.5), count) * (draw.random((count, CLASSES)) > 0.2)


def probabilities(draw, count):
    return draw.dirichlet(np.full(CLASSES, 0.5), count)


def focal(x, target, alpha=0.25, gamma=2.0):
    """torchvision.ops.sigmoid_focal_loss with reduction="mean"; 1 - sigmoid(x) is sigmoid(-x), which is not 0 for large x."""
    loss = F.binary_cross_entropy_with_logits(x, target, reduction="none")
    loss = loss * (torch.sigmoid(-x) * target + torch.sigmoid(x) * (1 - target)) ** gamma
    if alpha >= 0:
        loss = (alpha * target + (1 - alpha) * (1 - target)) * loss
    return loss.mean()


def dice(x, target, smooth=1e-5):
    """monai.losses.DiceLoss(sigmoid=True)."""
    p = torch.sigmoid(x)
    both, each = (p * target).sum(2), p.sum(2) + target.sum(2)
    return (1 - (2 * both + smooth) / (each + smooth)).mean()


weights = torch.from_numpy(WEIGHTS)
LISTED = ",".join(map(repr, WEIGHTS.tolist()))
CASES = {
    "nll": Case(dict(loss="nll", class_weights=LISTED, ignore_index=-1),
                lambda x, y: F.nll_loss(x, y, weights, ignore_index=-1), classes, "logs", accumulation=2),
    "cross_entropy": Case(dict(class_weights="FILE", ignore_index=-1, label_smoothing=0.2),
                          lambda x, y: F.cross_entropy(x, y, weights, ignore_index=-1, label_smoothing=0.2), classes),
    "soft_cross_entropy": Case(dict(loss="soft_cross_entropy"), F.cross_entropy, probabilities, accumulation=2),
    "soft_cross_entropy_smoothed": Case(dict(loss="soft_cross_entropy", label_smoothing=0.2),
                                        lambda x, y: F.cross_entropy(x, y, label_smoothing=0.2), probabilities),
    "soft_cross_entropy_of_maps": Case(dict(loss="soft_cross_entropy"), lambda x, y: F.cross_entropy(x.flatten(0, 1), y.flatten(0, 1)),
                                       lambda draw, count: draw.dirichlet(np.ones(4), (count, 3)), "maps"),
    "kl_div": Case(dict(loss="kl_div"), F.kl_div, distributions, "logs"),
    "huber": Case(dict(loss="huber", huber_delta=0.7), lambda x, y: F.huber_loss(x, y, delta=0.7), numbers),
    "smooth_l1": Case(dict(loss="smooth_l1", smooth_l1_beta=0.7), lambda x, y: F.smooth_l1_loss(x, y, beta=0.7), numbers),
    "focal": Case(dict(loss="focal", focal_gamma=1.5, focal_alpha=0.4), lambda x, y: focal(x, y, 0.4, 1.5), bits),
    "focal_certain": Case(dict(loss="focal", focal_gamma=0.5, focal_alpha=-1), lambda x, y: focal(x, y, -1, 0.5), bits, "certain"),
    "dice": Case(dict(loss="dice"), dice, maps, "maps"),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    gpuopt.export(module().train(), torch.zeros(2, 7, dtype=torch.float64), path, input_names=["x"],
                  output_names=OUTPUTS)
    return path


@pytest.mark.parametrize("name", CASES)
def test_is_that_of_pytorch(model, tmp_path, name):
    case, draw = CASES[name], np.random.default_rng(1)
    size = BATCH * case.accumulation
    x, labels = draw.normal(size=(STEPS * size, 7)), case.labels(draw, STEPS * size)
    np.save(tmp_path / "weights.npy", WEIGHTS)
    flags = {flag: tmp_path / "weights.npy" if value == "FILE" else value for flag, value in case.flags.items()}
    trainer = Trainer(model, tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, batch_size=BATCH, optimizer="sgd",
                      logits=case.output, gradient_accumulation_steps=case.accumulation, **flags)
    ours = trainer.run({"x": x}, labels, learning_rate=0.5, lr_scheduler_type="constant", max_grad_norm=0, max_steps=STEPS)

    theirs = module().train()
    optimizer = torch.optim.SGD(theirs.parameters(), lr=0.5)
    output = OUTPUTS.index(case.output)
    for step, found in enumerate(ours.losses):
        rows = slice(step * size, (step + 1) * size)
        loss = case.loss(theirs(torch.from_numpy(x[rows]))[output], torch.from_numpy(labels[rows]))
        assert found == pytest.approx(loss.item(), rel=1e-10), f"step {step}"
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for parameter, expected in theirs.named_parameters():
        np.testing.assert_allclose(ours.weights[parameter], expected.detach().numpy(), rtol=1e-8, atol=1e-11)

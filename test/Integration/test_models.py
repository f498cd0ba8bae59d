"""Whole models against PyTorch: the same weights, data and optimizer, fp32."""

import copy

import numpy as np
import pytest
import torch

import models
from exports import export_case
from training import Trainer, gradients_of, train_torch
from variants import variants

# After a plus: flags of the compiler.
QUICK = ["gpt2-small+loss_chunks=3", "bert-small", "gpt2-small-sdpa+attention=fused", "resnet18-small", "unet-small"]
FULL = ["mlp", "cnn", "gpt2-small", "bert-small+loss_chunks=2", "bert-small-sdpa+attention=fused", "gpt2", "bert", "resnet18", "resnet50-small-double"]
STEPS = {"gpt2": 3, "bert": 3, "resnet18": 5}


class Trained:
    """One model, exported and compiled once for all of its tests."""

    def __init__(self, name: str, folder):
        name, _, flags = name.partition("+")
        model = folder / "model.onnx"
        self.case = export_case(name, model)
        self.steps = STEPS.get(name, 20)
        self.trainer = Trainer(model, folder / "program", batch_size=self.case.batch, **dict(flag.split("=") for flag in flags.split(",") if flag))
        self.loss, self.gradients, self.first = gradients_of(self.trainer, self.case.inputs, self.case.labels)
        self.reference = copy.deepcopy(self.case)
        self.reference_loss = train_torch(self.reference, 1, lambda p: torch.optim.SGD(p, lr=0.0))[0]


@pytest.fixture(scope="module", params=variants(QUICK + FULL, QUICK))
def trained(request, tmp_path_factory):
    return Trained(request.param, tmp_path_factory.mktemp(request.param.partition("+")[0]))


def test_first_loss(trained):
    assert trained.loss == pytest.approx(trained.reference_loss, rel=1e-5)


def test_gradients_and_running_statistics(trained):
    # Tied parameters have one gradient; the file keeps one of their names.
    names: dict[int, list[str]] = {}
    for name, parameter in trained.reference.module.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    parameters = dict(trained.reference.module.named_parameters(remove_duplicate=False))
    everything = np.sqrt(sum(float(p.grad.double().norm()) ** 2 for p in trained.reference.module.parameters()))
    wrong = []
    for aliases in names.values():
        found = [name for name in aliases if name in trained.gradients]
        if not found:
            wrong.append(f"{aliases[0]}: not in model.safetensors")
            continue
        for name in found:
            expected = parameters[name].grad.double().numpy()
            error = np.linalg.norm(trained.gradients[name] - expected)
            norm = np.linalg.norm(expected)
            if not error <= 1e-4 * norm + 1e-7 * everything:
                wrong.append(f"{name} {expected.shape}: error {error:.3g}, norm {norm:.3g} of {everything:.3g}")
    for name, value in trained.reference.module.named_buffers():
        if "running_" in name and not np.allclose(trained.first.weights[name], value.numpy(), rtol=1e-4, atol=1e-6):
            wrong.append(f"{name}: {trained.first.weights[name]} instead of {value.numpy()}")
    assert not wrong, "\n".join(wrong)


def test_losses_of_training(trained):
    case = copy.deepcopy(trained.case)
    expected = train_torch(
        case, trained.steps, lambda p: torch.optim.AdamW(p, lr=case.learning_rate, weight_decay=0.0), max_grad_norm=1.0
    )
    result = trained.trainer.run(
        case.inputs, case.labels, learning_rate=case.learning_rate, lr_scheduler_type="constant", max_steps=trained.steps
    )
    assert len(result.losses) == trained.steps
    np.testing.assert_allclose(result.losses[:2], expected[:2], rtol=1e-4)
    assert result.losses[-1] == pytest.approx(expected[-1], rel=1e-3), (result.losses, expected)


def test_allocation_is_the_plans(trained):
    plan = trained.trainer.plan()
    assert {record["allocated_bytes"] for record in trained.first.metrics} == {plan["total_bytes"]}
    assert plan["total_bytes"] == plan["arena_bytes"] + plan["persistent_bytes"]


@pytest.mark.parametrize("name", variants(["mlp", "gpt2-small", "bert-small", "resnet18-small"], ["resnet18-small"]))
def test_optimized_export(name, tmp_path):
    """torch.onnx.export's own optimizer folds batch normalisation, so that the
    file computes what the module does in evaluation mode."""
    case = models.make(name)
    model = tmp_path / "model.onnx"
    batch = torch.export.Dim("batch", min=1)
    torch.onnx.export(
        case.module, case.example_inputs(), model, input_names=list(case.inputs), output_names=["logits"],
        dynamo=True, optimize=True, external_data=False, verbose=False,
        dynamic_shapes=tuple({0: batch} for _ in case.inputs),
    )
    trainer = Trainer(model, tmp_path / "program", batch_size=case.batch)
    result = trainer.run(case.inputs, case.labels, max_steps=2)
    case.module.eval()
    expected = train_torch(case, 1, lambda p: torch.optim.SGD(p, lr=0.0))[0]
    assert result.losses[0] == pytest.approx(expected, rel=1e-5)
    assert np.isfinite(result.losses[1])


@pytest.mark.parametrize("name", variants(["bert-small-dropout", "gpt2-small-dropout"], ["bert-small-dropout"]))
def test_dropout(name, tmp_path):
    """The masks are gpuopt's own: training works, the seed decides them, and
    the loss starts where it must, at about the logarithm of the vocabulary."""
    model = tmp_path / "model.onnx"
    case = export_case(name, model)
    trainer = Trainer(model, tmp_path / "program", batch_size=case.batch)
    flags = dict(max_steps=20, learning_rate=1e-3, lr_scheduler_type="constant")
    one = [trainer.run(case.inputs, case.labels, seed=seed, **flags).losses for seed in (1, 1, 2)]
    assert one[0] == one[1]
    assert one[0] != one[2]
    vocabulary = case.module.model.config.vocab_size
    assert one[0][0] == pytest.approx(np.log(vocabulary), rel=0.05)
    # The data repeats after four batches.
    assert np.mean(one[0][-4:]) < np.mean(one[0][:4]) - 0.1

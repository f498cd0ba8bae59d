"""Whole models, trained step by step beside PyTorch: the same weights, data and
optimizer, in single precision.

Tolerances: the loss of step 1 within 1e-5 (relative); each parameter's gradient
at step 1 within 1e-4 of its norm plus 1e-7 of the norm of all (some are exactly
zero in theory, so that what is left is rounding); the loss after 20 steps within
1e-3.
"""
import json

import numpy as np
import pytest
import torch

import gpuopt
import models
from gpuopt import safetensors


def tokens(shape, vocabulary=256, seed=0):
    return np.random.default_rng(seed).integers(0, vocabulary, shape, dtype=np.int64)


def mlp():
    x, y = models.digits()
    return models.Mlp(), {"x": x[:640]}, y[:640], 32


def cnn():
    x, y = models.digits()
    return models.Cnn(), {"x": x[:640].reshape(-1, 1, 8, 8)}, y[:640], 32


def resnet18():
    x, y = models.digits()
    images = np.repeat(np.repeat(x[:160].reshape(-1, 1, 8, 8), 4, axis=2), 4, axis=3)
    return models.ResNet18(channels=1, width=16), {"x": images}, y[:160], 8


def gpt():
    ids = tokens((80, 33))
    return models.Gpt(), {"input_ids": ids[:, :-1].copy()}, ids[:, 1:].copy(), 4


CASES = {"mlp": mlp, "cnn": cnn, "gpt": gpt, "resnet18": resnet18}


def run(driver, folder, model_file, inputs, labels, batch, *flags):
    arguments = ["train", model_file, "-o", folder, "--target=host", f"--batch-size={batch}", "--no-shuffle"]
    for name, array in inputs.items():
        np.save(folder.parent / f"{name}.npy", array)
        arguments.append(f"--data={name}={folder.parent / name}.npy")
    np.save(folder.parent / "labels.npy", labels)
    arguments.append(f"--labels={folder.parent / 'labels.npy'}")
    driver(*arguments, *flags)
    return [json.loads(line) for line in open(folder / "metrics.jsonl")]


def torch_steps(module, inputs, labels, batch, optimizer, steps, accumulation=1):
    """Losses of the steps, and the gradients of the first."""
    module.train()
    losses, gradients, start = [], None, 0
    for _ in range(steps):
        optimizer.zero_grad()
        total = 0.0
        for _ in range(accumulation):
            part = {name: torch.from_numpy(array[start : start + batch]) for name, array in inputs.items()}
            target = torch.from_numpy(labels[start : start + batch])
            logits = module(*part.values())
            loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1))
            (loss / accumulation).backward()
            total += loss.item() / accumulation
            start += batch
        if gradients is None:
            gradients = {name: p.grad.double().numpy().copy() for name, p in module.named_parameters()}
        optimizer.step()
        losses.append(total)
    return losses, gradients


@pytest.fixture(params=list(CASES))
def case(request, tmp_path):
    torch.manual_seed(0)
    module, inputs, labels, batch = CASES[request.param]()
    model_file = tmp_path / f"{request.param}.onnx"
    example = tuple(torch.from_numpy(array[:2]) for array in inputs.values())
    gpuopt.export(module, example, str(model_file))
    return module, inputs, labels, batch, model_file


def test_gradients_of_the_first_step(case, driver, tmp_path):
    # One step of plain SGD with a large learning rate: the weights' change is the gradient.
    module, inputs, labels, batch, model_file = case
    rate = 1e3
    before = {name: p.detach().double().numpy().copy() for name, p in module.named_parameters()}
    metrics = run(driver, tmp_path / "out", model_file, inputs, labels, batch, "--optimizer=sgd",
                  f"--learning-rate={rate}", "--max-steps=1", "--max-grad-norm=0", "--lr-scheduler-type=constant")
    losses, gradients = torch_steps(module, inputs, labels, batch, torch.optim.SGD(module.parameters(), lr=0.0), 1)
    assert metrics[0]["loss"] == pytest.approx(losses[0], rel=1e-5)
    after = safetensors.read(str(tmp_path / "out/model.safetensors"))
    # The exporter keeps one name of tied parameters, the module another one.
    names = {tensor.data_ptr(): name for name, tensor in module.state_dict().items() if name in after}
    after = {name: after[names[p.data_ptr()]] for name, p in module.named_parameters()}
    norm_of_all = np.sqrt(sum(np.sum(g**2) for g in gradients.values()))
    assert metrics[0]["grad_norm"] == pytest.approx(norm_of_all, rel=1e-4)
    for name, gradient in gradients.items():
        ours = (before[name] - after[name].astype(np.float64)) / rate
        error = np.linalg.norm(ours - gradient)
        # Weights are stored in single precision, so the difference has its rounding too.
        rounding = 6e-8 * np.linalg.norm(np.maximum(abs(before[name]), abs(after[name]))) / rate
        assert error <= 1e-4 * np.linalg.norm(gradient) + 1e-7 * norm_of_all + rounding, name


def test_twenty_steps_of_adamw(case, driver, tmp_path):
    module, inputs, labels, batch, model_file = case
    metrics = run(driver, tmp_path / "out", model_file, inputs, labels, batch, "--learning-rate=1e-3",
                  "--weight-decay=0.01", "--max-steps=20", "--max-grad-norm=0", "--lr-scheduler-type=constant")
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, weight_decay=0.01)
    losses, _ = torch_steps(module, inputs, labels, batch, optimizer, 20)
    assert [line["loss"] for line in metrics][-1] == pytest.approx(losses[-1], rel=1e-3)
    gpuopt.load_weights(module, str(tmp_path / "out/model.safetensors"))


def test_accumulation_is_a_larger_batch(driver, tmp_path):
    torch.manual_seed(0)
    module, inputs, labels, batch = mlp()
    gpuopt.export(module, (torch.zeros(2, 64),), str(tmp_path / "mlp.onnx"))
    flags = ["--learning-rate=1e-2", "--max-steps=5", "--lr-scheduler-type=constant"]
    whole = run(driver, tmp_path / "whole", tmp_path / "mlp.onnx", inputs, labels, 64, *flags)
    parts = run(driver, tmp_path / "parts", tmp_path / "mlp.onnx", inputs, labels, 16, *flags,
                "--gradient-accumulation-steps=4")
    for one, other in zip(whole, parts):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-5)
        assert one["grad_norm"] == pytest.approx(other["grad_norm"], rel=1e-4)


def test_runs_are_bitwise_equal(driver, tmp_path):
    torch.manual_seed(0)
    module, inputs, labels, batch = gpt()
    gpuopt.export(module, (torch.zeros(2, 32, dtype=torch.int64),), str(tmp_path / "gpt.onnx"))
    results = []
    for name in ["first", "second"]:
        metrics = run(driver, tmp_path / name, tmp_path / "gpt.onnx", inputs, labels, batch, "--max-steps=5", "--shuffle")
        weights = (tmp_path / name / "model.safetensors").read_bytes()
        source = (tmp_path / name / "program/step.cu").read_bytes()
        results.append(([line["loss"] for line in metrics], weights, source))
    assert results[0] == results[1]
    plan = json.load(open(tmp_path / "first/plan.json"))
    assert plan["total_bytes"] == metrics[0]["allocated_bytes"]

"""--loss for several outputs, against PyTorch in double precision: the sum of their means, each taken by its weight."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import gpuopt
from gpuopt.driver import find_driver
from training import LIBRARY_FOR_ONE_STEP, OPTIMIZATION_FOR_ONE_STEP, CommandFailed, Trainer, execute

BATCH, ACCUMULATION, STEPS, CLASSES, EVAL = 3, 2, 4, 5, 7  # the last batch of a validation is not full
WEIGHT = 0.3
LOSSES = ["logits:cross_entropy", f"aux:mse:{WEIGHT}"]
TRAIN = BATCH * ACCUMULATION * STEPS
RUN = dict(learning_rate=0.5, lr_scheduler_type="constant", max_grad_norm=0, max_steps=STEPS, eval_steps=2, save_steps=2)


class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.logits, self.aux = torch.nn.Linear(7, 9), torch.nn.Linear(9, CLASSES), torch.nn.Linear(9, 4)

    def forward(self, x):
        hidden = torch.tanh(self.body(x))
        return self.logits(hidden), self.aux(hidden)


def module():
    torch.manual_seed(3)
    return Heads().double()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    gpuopt.export(module().train(), torch.zeros(2, 7, dtype=torch.float64), path, input_names=["x"], output_names=["logits", "aux"])
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("data"), np.random.default_rng(1)
    count = TRAIN + EVAL
    classes = draw.integers(0, CLASSES, count)
    classes[[1, 4, 5, count - 1]] = -100
    arrays = {"x": draw.normal(size=(count, 7)), "labels.logits": classes, "labels.aux": draw.normal(size=(count, 4))}
    files = {}
    for prefix, rows in {"": slice(TRAIN), "eval-": slice(TRAIN, None)}.items():
        for name, array in arrays.items():
            files[prefix + name] = folder / f"{prefix}{name}.npy"
            np.save(files[prefix + name], array[rows])
    return arrays, {name: files[name] for name in arrays}, {name: files["eval-" + name] for name in arrays}


@pytest.fixture(scope="module")
def trainer(model, tmp_path_factory):
    return Trainer(model, tmp_path_factory.mktemp("program") / "p", OPTIMIZATION_FOR_ONE_STEP, batch_size=BATCH, optimizer="sgd",
                   momentum=0.9, gradient_accumulation_steps=ACCUMULATION, loss=LOSSES, eval_metrics="accuracy,perplexity")


def run(trainer, data, out, **flags):
    return trainer.run_files(out, data=data[1], eval_data=data[2], **{**RUN, **flags})


@pytest.fixture(scope="module")
def result(trainer, data):
    return run(trainer, data, trainer.folder / "whole")


def parts(heads, arrays, rows, reduction="mean"):
    """The two losses of some samples."""
    x, classes, numbers = (torch.from_numpy(array[rows]) for array in arrays.values())
    logits, aux = heads(x)
    return F.cross_entropy(logits, classes, reduction=reduction), F.mse_loss(aux, numbers, reduction=reduction)


def test_trains_as_pytorch_does(data, result):
    arrays, heads = data[0], module().train()
    optimizer = torch.optim.SGD(heads.parameters(), lr=0.5, momentum=0.9)
    for step, found in enumerate(result.metrics):
        optimizer.zero_grad()
        total = 0
        for micro in range(ACCUMULATION):
            begin = (step * ACCUMULATION + micro) * BATCH
            logits, aux = parts(heads, arrays, slice(begin, begin + BATCH))
            loss = (logits + WEIGHT * aux) / ACCUMULATION
            loss.backward()
            total += loss.item()
        rows = slice(step * ACCUMULATION * BATCH, (step + 1) * ACCUMULATION * BATCH)
        logits, aux = parts(heads, arrays, rows)
        assert [found["loss"], found["logits_loss"], found["aux_loss"]] == pytest.approx([total, logits.item(), aux.item()], rel=1e-10)
        optimizer.step()
    for name, expected in heads.named_parameters():
        np.testing.assert_allclose(result.weights[name], expected.detach().numpy(), rtol=1e-8, atol=1e-11)


def test_validates_each_sample_once(data, result):
    """The last batch has copies of the last sample, which has no class."""
    heads = module()
    heads.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in result.weights.items()})
    logits, aux = (loss.item() for loss in parts(heads, data[0], slice(TRAIN, None)))
    last = result.evaluations[-1]
    assert [last["eval_loss"], last["eval_logits_loss"], last["eval_aux_loss"]] == pytest.approx(
        [logits + WEIGHT * aux, logits, aux], rel=1e-10)
    assert last["eval_perplexity"] == pytest.approx(np.exp(logits), rel=1e-10)  # of the first loss alone
    assert 0 <= last["eval_accuracy"] <= 1
    assert f"validation loss {last['eval_loss']:.4f}  logits_loss {logits:.4f}  aux_loss {aux:.4f}  accuracy" in result.output
    assert f"loss {result.metrics[-1]['loss']:.4f}  logits_loss {result.metrics[-1]['logits_loss']:.4f}" in result.output


def test_resumes(trainer, data, result, tmp_path):
    half = run(trainer, data, tmp_path / "half", num_workers=0, resume=trainer.folder / "whole" / "checkpoint-2")
    for name, expected in result.weights.items():
        np.testing.assert_array_equal(half.weights[name], expected)
    assert [record["aux_loss"] for record in half.metrics] == [record["aux_loss"] for record in result.metrics[2:]]


def test_library(trainer, data):
    """The labels are inputs of the names that --data has for them."""
    arrays = data[0]
    with gpuopt.load(trainer.folder, cmake_options=LIBRARY_FOR_ONE_STEP) as program:
        assert [(each.name, each.role) for each in program.inputs] == [
            ("x", "input"), ("labels.logits", "labels"), ("labels.aux", "labels")]
        batch = {name: array[TRAIN : TRAIN + BATCH] for name, array in arrays.items()}
        logits, aux = parts(module(), arrays, slice(TRAIN, TRAIN + BATCH))
        assert program.evaluate(batch) == pytest.approx((logits + WEIGHT * aux).item(), rel=1e-10)


def test_a_scale_for_the_loss_leaves_gradients(model, data, tmp_path):
    """One loss with a weight: its labels are --labels, and gradients are as many times as large."""
    x, labels = data[0]["x"][:BATCH], data[0]["labels.aux"][:BATCH]
    trainer = Trainer(model, tmp_path / "p", OPTIMIZATION_FOR_ONE_STEP, batch_size=BATCH, optimizer="sgd", loss="aux:mse:0.5")
    found = trainer.run({"x": x}, labels, learning_rate=0.5, lr_scheduler_type="constant", max_grad_norm=0, max_steps=1)
    heads = module()
    loss = 0.5 * F.mse_loss(heads(torch.from_numpy(x))[1], torch.from_numpy(labels))
    loss.backward()
    assert found.losses == [pytest.approx(loss.item(), rel=1e-10)]
    expected = heads.aux.weight - 0.5 * heads.aux.weight.grad
    np.testing.assert_allclose(found.weights["aux.weight"], expected.detach().numpy(), rtol=1e-10)


@pytest.mark.parametrize("loss, flags, message", [
    (["logits:cross_entropy", "other:mse"], {}, "expects losses of outputs of the model (logits, aux), but got 'other'"),
    (LOSSES, {"data": ["labels.aux"]}, "labels are missing: --data labels.logits=FILE"),
    (LOSSES, {"data": ["labels.aux", "labels.logits", "labels.none"]},
     "--data labels.none=...: the model has no input of that name; its inputs are 'x', and its labels are labels.logits, labels.aux"),
    (LOSSES, {"labels": "labels.aux", "data": ["labels.aux", "labels.logits"]},
     "'--labels' is given, but the losses of several outputs have labels of their own: --data labels.logits=FILE --data labels.aux=FILE"),
])
def test_errors(model, data, tmp_path, loss, flags, message):
    files = {"x": data[1]["x"], **{name: data[1].get(name, data[1]["x"]) for name in flags.get("data", [])}}
    line = [find_driver(), "train", model, "-o", tmp_path / "run", "--target=host", "--batch-size=3"]
    line += [f"--loss={text}" for text in loss] + [f"--data={name}={file}" for name, file in files.items()]
    if "labels" in flags:
        line.append(f"--labels={data[1][flags['labels']]}")
    with pytest.raises(CommandFailed) as failed:
        execute(line)
    assert message in failed.value.output

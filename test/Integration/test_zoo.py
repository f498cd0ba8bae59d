"""What PyTorch users bring trains as PyTorch trains it."""

import json
import re

import numpy as np
import pytest
import torch

import gpuopt
import zoo
import zoo_conversion
import zoo_forms
import zoo_table
from parity import LARGEST_FINAL_LOSS, LARGEST_GRADIENT, drift, measure, rounding, worst_gradient
from training import FULL, OPTIMIZATION_FOR_ONE_STEP, Trainer, gradients_of
from variants import variants

# In one program: each has what no other has. By default four are left out, whose layers the tests of operators have.
TOGETHER = ["t5", "gemma2", "deberta-v2", "whisper", "conv3d"] + (["gpt-neo", "roberta", "lstm-bidirectional", "wavenet"] if FULL else [])


class Together(torch.nn.Module):
    """Several models, and the sum of their logits, each with a weight; those
    of padding have none, as of a loss."""

    def __init__(self, cases: dict, inputs: dict):
        super().__init__()
        self.models = torch.nn.ModuleDict({name: case.module for name, case in cases.items()})
        self.counts = {name: len(case.inputs) for name, case in cases.items()}
        for name, case in cases.items():
            logits = case.module(*inputs[name].values())
            weight = torch.randn(logits.shape) / np.sqrt(logits.numel())
            mask = inputs[name].get("attention_mask")
            self.register_buffer(f"weight_{name}", weight if mask is None else weight * mask[..., None])

    def forward(self, *inputs):
        terms, begin = [], 0
        for name, model in self.models.items():
            taken = inputs[begin : begin + self.counts[name]]
            begin += self.counts[name]
            terms.append((model(*taken) * getattr(self, f"weight_{name}")).sum())
        return torch.stack(terms).sum()


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """The module with its gradients, the losses and gpuopt's gradients."""
    folder = tmp_path_factory.mktemp("zoo")
    cases = {name: zoo.make(name) for name in TOGETHER}
    batches = {name: {key: torch.from_numpy(array[: case.batch]) for key, array in case.inputs.items()} for name, case in cases.items()}
    module = Together(cases, batches)
    inputs = {f"{name}.{key}": tensor for name, batch in batches.items() for key, tensor in batch.items()}
    gpuopt.export(module, list(inputs.values()), folder / "model.onnx", input_names=list(inputs), symbolic_batch=False)
    trainer = Trainer(folder / "model.onnx", folder / "program", OPTIMIZATION_FOR_ONE_STEP, loss="none")
    ours, gradients, _ = gradients_of(trainer, {name: tensor.numpy() for name, tensor in inputs.items()}, None)
    expected = module(*inputs.values())
    expected.backward()
    return module, ours, expected.item(), gradients


def test_loss(together):
    _, ours, expected, _ = together
    assert ours == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", TOGETHER)
def test_gradients(together, name):
    module, _, _, gradients = together
    error, parameter = worst_gradient(module.models[name], gradients, f"models.{name}.")
    assert error <= 1e-4, parameter


@pytest.mark.full
@pytest.mark.parametrize("name", zoo.MODELS)
def test_training(name, tmp_path):
    if name.startswith("timm-") and not zoo.has_timm():
        pytest.skip("timm is not installed")
    found = measure(zoo.make(name), tmp_path)
    assert found.holds(), found


@pytest.mark.full
@pytest.mark.parametrize("name", zoo_conversion.MODELS)
def test_training_of_converted(name, tmp_path):
    if name.startswith("timm-") and not zoo.has_timm():
        pytest.skip("timm is not installed")
    found = measure(zoo_conversion.make_trained(name), tmp_path)
    assert found.holds(), found


def test_a_model_with_dropout_is_not_compared(tmp_path):
    """timm's ghostnet has dropout unless told otherwise, and its loss was 2 % off."""
    if not zoo.has_timm():
        pytest.skip("timm is not installed")
    with pytest.raises(ValueError, match="the outputs of the model depend on the seed"):
        measure(zoo.timm("ghostnet_050", drop_rate=0.5), tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("name", zoo_conversion.IN_DOUBLE)
def test_what_is_compared_in_double_precision_has_to_be(name):
    if not zoo.has_timm():
        pytest.skip("timm is not installed")
    error, parameter = rounding(zoo_conversion.make(name))
    # Two such roundings are compared.
    assert error > LARGEST_GRADIENT / 2 or drift(zoo_conversion.make(name)) > LARGEST_FINAL_LOSS / 2, parameter


# One of each family that no other test has.
@pytest.mark.parametrize("name", ["dlrm", "message-passing", "affine-flow", "set-detector", "grid-detector", "diffusion-unet"])
def test_conversion(name, tmp_path):
    assert "error" not in zoo_conversion.convert(name, tmp_path)


def test_page_of_conversions_has_every_model():
    page = (zoo_table.ROOT / "docs" / "converted-models.md").read_text()
    assert re.findall(r"^\| [a-zA-Z ]+ \| ([\w-]+) \| (?:\d+|-) \|", page, re.M) == list(zoo_conversion.MODELS)
    assert len(zoo.MODELS) + len(zoo_conversion.MODELS) >= 120


def test_page_of_conversions_counts_what_its_table_says():
    page = (zoo_table.ROOT / "docs" / "converted-models.md").read_text()
    parity = [row[2] for row in re.findall(r"^\| [a-zA-Z ]+ \| ([\w-]+) \| (\d+|-) \| [a-z ]+ \| ([a-z() -]+) \|", page, re.M)]
    trained, equal = map(int, re.search(r"(\d+) were trained, of which (\d+) are at parity", page).groups())
    assert len(parity) == len(zoo_conversion.MODELS)
    assert (trained, equal) == (len(parity) - parity.count("-"), parity.count("yes"))


def test_table_of_conversions_tells_what_missed_parity_in_single_precision(tmp_path):
    single, double = zoo_conversion.IN_DOUBLE[:2]
    other = next(name for name in zoo_conversion.MODELS if name not in zoo_conversion.IN_DOUBLE)
    missed = {"holds": False, "loss": 1e-7, "gradient": 2e-3, "parameter": "weight", "final_loss": 0.25}
    held = {"holds": True, "loss": 0, "gradient": 0, "parameter": "weight", "final_loss": 0}
    files = {f"{single}.trained": {"stopped_after": 70}, f"{single}.single": missed, f"{double}.trained": held,
             f"{double}.single": missed, f"{other}.trained": held}
    files |= {f"{name}.converted": {"nodes": 7} for name in (single, double, other)}
    for name, result in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(result))
    text = zoo_conversion.table({name: zoo_conversion.result_of(name, tmp_path, None) for name in (single, double, other)})
    assert "3 were trained, of which 2 are at parity." in text
    assert f"not compared in double precision: {single}, whose gradients are off by 0.002 and the loss after 20 steps by 0.25.\n" in text
    assert [re.search(rf"\| {name} \| 7 \| yes \| (.*) \|", text)[1] for name in (single, double, other)] == ["no (single)", "yes", "yes"]


def test_table_has_every_model():
    table = (zoo_table.ROOT / "docs" / "models.md").read_text()
    assert re.findall(r"^\| ([a-z][\w-]*) \| \d+", table, re.M) == list(zoo.MODELS)


@pytest.mark.parametrize("name", variants(["t5", "llama", "gemma2"], ["gemma2"]))
def test_forms_of_attention(name, tmp_path):
    """The page of forms says what the compiler does now."""
    table = (zoo_forms.ROOT / "docs" / "attention-forms.md").read_text().splitlines()
    assert zoo_forms.row(name, tmp_path) in table


def test_page_of_forms_has_the_models_in_order():
    table = (zoo_forms.ROOT / "docs" / "attention-forms.md").read_text()
    named = re.findall(r"^\| ([a-z][\w-]*) \| [\d-]", table, re.M)
    assert named == [name for name in zoo.MODELS if name in named] and "timm-swin" in named

"""Half precision: the choice, its numbers, training by it, and under budgets."""

import copy
import inspect
import json
import re
import subprocess
import sys
import types
import unittest
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import gpuopt
import models
from gpuopt.driver import find_driver
from exports import export_case
from training import FULL, OPTIMIZATION_FOR_ONE_STEP, CommandFailed, Trainer, execute, gradients_of, train_torch
from variants import variants

ROOT = Path(__file__).resolve().parents[2]
HALVES = {"fp16": torch.float16, "bf16": torch.bfloat16}
DEVICES = json.loads((ROOT / "docs/device.schema.json").read_text())["properties"]["base"]["enum"]
QUICK = ["mlp", "cnn", "gpt2-small", "bert-small", "resnet18-small", "unet-small"]


@pytest.fixture(scope="module", params=QUICK)
def exported(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    case = export_case(request.param, folder / "model.onnx")
    return request.param, case, folder


def compile_to(phase: str, model: Path, *flags) -> str:
    return execute([find_driver(), "compile", model, "--target=host", f"--compile-to={phase}", *flags])


def estimates(model: Path, *flags) -> dict[str, float]:
    """Nanoseconds of the training step: in f32, as chosen, as autocast has it."""
    text = compile_to("precision", model, *flags)
    attribute = re.search(r"train.step @micro_step.*train\.precision = #train\.precision<summary = \".*?\", (.*?)>", text).group(1)
    return {name: float(value) for name, value in re.findall(r"(\w+)Nanoseconds = ([\d.e+]+)", attribute)}


@pytest.mark.parametrize("device", variants(DEVICES, ["host", "h200"]))
def test_the_cut_is_at_least_as_good_as_autocast(exported, device):
    _, case, folder = exported
    for precision in HALVES if FULL else ["fp16"]:
        ns = estimates(folder / "model.onnx", f"--batch-size={case.batch}", f"--precision={precision}", f"--device={device}")
        assert 0 < ns["chosen"] <= min(ns["autocast"], ns["f32"]), (precision, ns)


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(name for name in set(models.MODELS) - set(QUICK) if not name.endswith("-double")))
def test_the_cut_is_at_least_as_good_as_autocast_on_every_model(name, tmp_path):
    case = export_case(name, tmp_path / "model.onnx")
    for precision in HALVES:
        for device in ("host", "h200"):
            ns = estimates(tmp_path / "model.onnx", f"--batch-size={case.batch}", f"--precision={precision}", f"--device={device}")
            assert 0 < ns["chosen"] <= min(ns["autocast"], ns["f32"]), (precision, device, ns)


# The names in PyTorch's lists of what ONNX operators stand for.
PYTORCH_NAMES = dict(
    Acos="acos", Asin="asin", Conv="conv2d", ConvTranspose="conv_transpose2d", Cosh="cosh", CumSum="cumsum", Einsum="einsum", Exp="exp",
    Gemm="addmm", GroupNormalization="group_norm", LayerNormalization="layer_norm", Log="log", LogSoftmax="log_softmax",
    LpNormalization="norm", MatMul="matmul", PRelu="prelu", Pow="pow", RMSNormalization="rms_norm", Reciprocal="reciprocal",
    ReduceL2="norm", ReduceLogSumExp="logsumexp", ReduceProd="prod", ReduceSum="sum", Sinh="sinh", Softmax="softmax", Softplus="softplus",
    Tan="tan",
    # In no list.
    Abs="abs", Acosh="acosh", Atanh="atanh", BatchNormalization="batch_norm", Cos="cos", Erf="erf", Gather="gather", Gelu="gelu",
    HardSwish="hardswish", InstanceNormalization="instance_norm", MaxPool="max_pool2d", Mish="mish", ReduceMax="max", ReduceMean="mean",
    Relu="relu", Sigmoid="sigmoid", Sin="sin", Sqrt="sqrt", Tanh="tanh", Where="where",
)


def autocast_lists(monkeypatch) -> dict[str, str]:
    """The class of each function that PyTorch's tests of autocast list."""
    stub = types.ModuleType("expecttest")  # which they import, for other tests
    stub.TestCase = unittest.TestCase
    monkeypatch.setitem(sys.modules, "expecttest", stub)
    from torch.testing._internal.autocast_test_lists import AutocastTestLists

    lists = AutocastTestLists(torch.device("cpu"))
    full = {entry[0]: "fp32" for entry in lists.torch_fp32 + lists.nn_fp32}
    return full | {entry[0]: "half" for entry in lists.torch_fp16 + lists.nn_fp16}


def test_the_table_has_pytorchs_lists(monkeypatch):
    text = execute([find_driver(), "operators", "--precision-classes"])
    rows = {cells[0]: cells for cells in ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| "))}
    lists = autocast_lists(monkeypatch)
    assert {op: rows[op][2] for op in PYTORCH_NAMES} == {op: lists.get(name, "none") for op, name in PYTORCH_NAMES.items()}
    for op, ours, pytorch, _, why in list(rows.values())[1:]:
        assert ours == {"none": "follow"}.get(pytorch, pytorch) or why, f"{op} differs from PyTorch and does not say why"
    assert text == (ROOT / "docs/precision-classes.md").read_text()


def test_scaler_flags_are_gradscalers():
    defaults = inspect.signature(torch.amp.GradScaler).parameters
    text = execute([find_driver(), "compile", "--help-all"])
    for name in ("init_scale", "growth_factor", "backoff_factor", "growth_interval"):
        shown = re.search(rf"--{name.replace('_', '-')}=.*\(default ([^)]*)\)", text).group(1)
        assert float(shown) == defaults[name].default, name


@pytest.mark.parametrize("precision", HALVES)
def test_what_is_fp32_whatever_is_chosen(precision, exported, tmp_path):
    """Arithmetic in kernels, masters, moments, sums over micro batches; and no
    step waits for the host."""
    _, case, folder = exported
    half = {"fp16": "f16", "bf16": "bf16"}[precision]
    flags = [f"--batch-size={case.batch}", f"--precision={precision}", "--device=h200", "--gradient-accumulation-steps=2"]
    text = compile_to("precision", folder / "model.onnx", *flags)
    assert f"x{half}>" in text
    computing = re.compile(r"\b(arith\.(add|sub|mul|div|max|min|neg)\w*f|math\.|nn\.reduce)\b")
    assert computing.search(text)
    for line in text.splitlines():
        assert not (computing.search(line) and f"x{half}>" in line), line
    execute([find_driver(), "compile", folder / "model.onnx", "-o", tmp_path / "program", "--target=host", *flags])
    types_of = {}
    for buffer in json.loads((tmp_path / "program" / "plan.json").read_text())["buffers"]:
        if buffer["kind"] == "state":
            types_of.setdefault(buffer["type"], set()).add(buffer["name"])
    assert types_of[half] and all(name.endswith(".half") or "_half" in name for name in types_of[half]), types_of[half]
    assert {kind for kind in ("exp_avg", "exp_avg_sq", "grad") for name in types_of["f32"] if kind in name} == {"exp_avg", "exp_avg_sq", "grad"}
    step = (tmp_path / "program" / "step.cu").read_text()
    assert "finish_grad_norm" in step and not re.search("synchronize|copy_to_host", step)


def autocast_gradients(case, dtype) -> tuple[float, dict[str, np.ndarray]]:
    """The loss and the gradients of PyTorch's autocast, or of fp32 (None)."""
    case = copy.deepcopy(case)
    rows = slice(0, case.batch)
    inputs = [torch.from_numpy(array[rows]) for array in case.inputs.values()]
    with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
        loss = case.loss_of(case.module(*inputs), torch.from_numpy(case.labels[rows]))
    scale = 1024.0
    (loss * scale).backward()
    gradients = {name: p.grad.double().numpy() / scale for name, p in case.module.named_parameters()}
    return loss.item(), gradients


def distance(gradients: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """Returns the relative distance of all gradients together."""
    names = [name for name in expected if name in gradients]
    assert names
    error = sum(np.linalg.norm(gradients[name] - expected[name]) ** 2 for name in names)
    return float(np.sqrt(error / sum(np.linalg.norm(expected[name]) ** 2 for name in names)))


@pytest.mark.parametrize("exported, precision", variants(
    [(name, precision) for name in QUICK for precision in HALVES],
    [("gpt2-small", "fp16"), ("bert-small", "bf16"), ("unet-small", "bf16")]), indirect=["exported"])
def test_gradients_are_as_close_as_autocasts(exported, precision):
    name, case, folder = exported
    trainer = Trainer(folder / "model.onnx", folder / precision, OPTIMIZATION_FOR_ONE_STEP, batch_size=case.batch, precision=precision,
                      device="h200", **({"init_scale": 1024} if precision == "fp16" else {}))
    loss, gradients, result = gradients_of(trainer, case.inputs, case.labels)
    assert result.metrics[0]["skipped_steps"] == 0
    exact_loss, exact = autocast_gradients(case, None)
    autocast_loss, autocast = autocast_gradients(case, HALVES[precision])
    unit = 2.0**-11 if precision == "fp16" else 2.0**-8
    assert abs(loss - exact_loss) <= 2 * abs(autocast_loss - exact_loss) + unit * exact_loss
    ours, theirs = distance(gradients, exact), distance(autocast, exact)
    assert ours <= 2 * theirs + unit, (ours, theirs)
    assert ours > 0  # something was rounded
    plan = trainer.plan()
    assert {record["allocated_bytes"] for record in result.metrics} == {plan["total_bytes"]}


# In chunks of the loss, whose backward must not wait for the others' forward.
@pytest.mark.parametrize("name, batch, chunks", [("gpt2-small", 64, 1), ("gpt2-small", 64, 8), pytest.param("resnet50", 64, 1, marks=pytest.mark.full)])
def test_activations_are_halved(name, batch, chunks, tmp_path):
    export_case(name, tmp_path / "model.onnx")
    arena = {}
    for precision in ("fp32", "fp16", "bf16"):
        execute([find_driver(), "compile", tmp_path / "model.onnx", "-o", tmp_path / precision, "--target=host",
                 "--device=h200", f"--batch-size={batch}", f"--precision={precision}", f"--loss-chunks={chunks}"])
        arena[precision] = json.loads((tmp_path / precision / "plan.json").read_text())["arena_bytes"]
    assert arena["fp16"] <= 0.52 * arena["fp32"] and arena["bf16"] <= 0.52 * arena["fp32"], arena


# Training.


def gpt_on_text(layers: int, width: int) -> models.Case:
    """GPT-2 on the standard library's sources."""
    case = models.gpt2(layers, width, 4, 256, 64, 64, 8)
    text = b"".join(Path(json.__file__).parent.joinpath(name).read_bytes() for name in ("decoder.py", "encoder.py", "scanner.py"))
    text += Path(subprocess.__file__).read_bytes() + Path(re.__file__).parent.joinpath("_parser.py").read_bytes()
    tokens = np.frombuffer(text, np.uint8).astype(np.int64)
    length = case.inputs["input_ids"].shape[1]
    rows = len(tokens) // (length + 1)
    tokens = tokens[: rows * (length + 1)].reshape(rows, length + 1)
    np.random.default_rng(0).shuffle(tokens)
    case.inputs["input_ids"], case.labels = tokens[:, :-1].copy(), tokens[:, 1:].copy()
    return case


def resnet_on_digits(width: int) -> models.Case:
    class Digits(nn.Module):
        """Digits have one channel and 8x8 pixels; zeros around them make it 16x16."""

        def __init__(self):
            super().__init__()
            self.net = models.ResNet(models.BasicBlock, [2, 2, 2, 2], 10, width)

        def forward(self, x):
            return self.net(nn.functional.pad(x.repeat_interleave(3, 1), (4, 4, 4, 4)))

    return models.digits(Digits(), (1, 8, 8))


def smoothed(losses: list[float]) -> np.ndarray:
    """Means of five equal parts."""
    return np.asarray(losses).reshape(5, -1).mean(axis=1)


# The digits are learnt by heart within 1000 steps; smoothed labels keep the
# loss away from zero, where one percent would say nothing.
TRAININGS = {
    "gpt": (lambda: gpt_on_text(2, 64), 500, {}),
    "resnet": (lambda: resnet_on_digits(8), 1000, dict(label_smoothing=0.1)),
    "larger-gpt": (lambda: gpt_on_text(4, 128), 1000, {}),
    "larger-resnet": (lambda: resnet_on_digits(16), 1000, dict(label_smoothing=0.1)),
}


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=() if name == "gpt" else pytest.mark.full) for name in TRAININGS])
def test_training_has_the_loss_of_fp32(name, tmp_path):
    torch.manual_seed(1)
    make, steps, flags = TRAININGS[name]
    steps = steps if FULL else steps // 2
    case = make()
    case.module.train()
    gpuopt.export(case.module, case.example_inputs(), tmp_path / "model.onnx", output_names=["logits"])
    losses = {}
    for precision in ("fp32", "fp16", "bf16") if FULL else ("fp32", "fp16"):
        trainer = Trainer(tmp_path / "model.onnx", tmp_path / precision, batch_size=case.batch, precision=precision, device="h200", **flags)
        result = trainer.run(case.inputs, case.labels, max_steps=steps, learning_rate=1e-3, lr_scheduler_type="cosine", warmup_steps=50)
        losses[precision] = smoothed(result.losses)
        assert result.metrics[-1]["skipped_steps"] <= 5
        assert losses[precision][-1] < 0.6 * result.losses[0]
    # On the way there, batch normalisation amplifies every rounding, of fp32
    # as well; both come to the same.
    settled = slice(3, None)
    for precision in losses:
        np.testing.assert_allclose(losses[precision][settled], losses["fp32"][settled], rtol=0.01)


def test_weights_in_half_precision_become_masters(tmp_path):
    torch.manual_seed(1)
    case = models.make("mlp")
    wide = copy.deepcopy(case)
    wide.module.load_state_dict({name: value.half().float() for name, value in case.module.state_dict().items()})
    gpuopt.export(case.module.half(), (case.example_inputs()[0].half(),), tmp_path / "model.onnx", output_names=["logits"])
    trainer = Trainer(tmp_path / "model.onnx", tmp_path / "program", batch_size=case.batch)
    assert {array.dtype for array in trainer.initial_weights().values()} == {np.dtype(np.float32)}
    data = {name: array.astype(np.float16) for name, array in case.inputs.items()}
    wide.inputs = {name: array.astype(np.float32) for name, array in data.items()}
    result = trainer.run(data, case.labels, max_steps=20, learning_rate=1e-3, lr_scheduler_type="constant")
    expected = train_torch(wide, 20, lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.0), max_grad_norm=1.0)
    np.testing.assert_allclose(result.losses, expected, rtol=1e-4)


class HalfLinear(nn.Linear):
    """As autocast exports it: f32 weights, a product of f16."""

    def forward(self, x):
        return nn.functional.linear(x.half(), self.weight.half(), self.bias.half()).float()


def test_casts_of_the_file_are_dropped(tmp_path):
    torch.manual_seed(1)
    case = models.make("mlp")
    narrow = copy.deepcopy(case)
    for module in narrow.module.modules():
        if isinstance(module, nn.Linear):
            module.__class__ = HalfLinear
    gpuopt.export(narrow.module, narrow.example_inputs(), tmp_path / "model.onnx", output_names=["logits"])
    text = compile_to("train", tmp_path / "model.onnx", f"--batch-size={case.batch}")
    assert "values to half precision" in text and "xf16" not in text
    trainer = Trainer(tmp_path / "model.onnx", tmp_path / "program", batch_size=case.batch)
    result = trainer.run(case.inputs, case.labels, max_steps=20, learning_rate=1e-3, lr_scheduler_type="constant")
    expected = train_torch(case, 20, lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.0), max_grad_norm=1.0)
    np.testing.assert_allclose(result.losses, expected, rtol=1e-4)


class Faint(nn.Module):
    """Outputs of 1e-4 of what the layers compute, so that their gradients are
    of the order of 1e-8, below what fp16 holds."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 256)
        self.fc2 = nn.Linear(256, 64)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x))) * 1e-4


@pytest.mark.full
def test_small_gradients_need_the_loss_scale(tmp_path):
    torch.manual_seed(1)
    random = np.random.default_rng(0)
    x = random.standard_normal((2048, 64)).astype(np.float32)
    y = (1e-4 * np.tanh(x @ random.standard_normal((64, 64)) / 8)).astype(np.float32)
    case = models.Case(Faint(), {"x": x}, y, 256, loss="mse")
    gpuopt.export(case.module, case.example_inputs(), tmp_path / "model.onnx", output_names=["y"])
    final = {}
    for kind, flags in dict(fp32=dict(precision="fp32"), scaled=dict(precision="fp16", init_scale=2.0**26), unscaled=dict(precision="fp16", loss_scale="none")).items():
        trainer = Trainer(tmp_path / "model.onnx", tmp_path / kind, batch_size=256, device="h200", loss="mse",
                          precision_override="MatMul|Gemm=fp16" if flags["precision"] == "fp16" else None, **flags)
        result = trainer.run(case.inputs, case.labels, max_steps=200, learning_rate=1e-3, adam_epsilon=1e-16, lr_scheduler_type="constant", max_grad_norm=0)
        final[kind] = np.mean(result.losses[-8:]) / result.losses[0]
    assert final["fp32"] < 0.2 and final["scaled"] == pytest.approx(final["fp32"], rel=0.05), final
    assert final["unscaled"] > 0.5, final


# Under a memory budget.


# What a budget asks for is the same in both, as are the sizes of all tensors.
@pytest.mark.parametrize("precision", ["fp16", pytest.param("bf16", marks=pytest.mark.full)])
def test_budgets_hold(precision, tmp_path):
    case = export_case("gpt2-small", tmp_path / "model.onnx")
    flags = dict(batch_size=case.batch, precision=precision, device="h200")
    plain = Trainer(tmp_path / "model.onnx", tmp_path / "plain", **flags)
    plan = plain.plan()
    expected = plain.run(case.inputs, case.labels, max_steps=5, learning_rate=1e-3)
    for share in (0.6, 0.4) if FULL else [0.4]:
        budget = plan["persistent_bytes"] + int(share * plan["arena_bytes"])
        trainer = Trainer(tmp_path / "model.onnx", tmp_path / str(share), memory_budget=f"{budget}B", **flags)
        assert trainer.plan()["total_bytes"] <= budget
        result = trainer.run(case.inputs, case.labels, max_steps=5, learning_rate=1e-3)
        assert {record["allocated_bytes"] for record in result.metrics} == {trainer.plan()["total_bytes"]}
        # Under a budget other tensors may be in half precision.
        np.testing.assert_allclose(result.losses, expected.losses, rtol=1e-2)


def test_a_tight_budget_makes_half_precision_worth_more(tmp_path):
    """On the host's costs products in f16 are slower than in f32, so without a
    budget fewer tensors are in half precision than where each byte counts."""
    export_case("gpt2-small", tmp_path / "model.onnx")

    def half_counts(*flags) -> tuple[int, int]:
        # Attention that keeps its probabilities leaves most to gain.
        text = compile_to("precision", tmp_path / "model.onnx", "--batch-size=8", "--precision=fp16", "--device=host", "--attention=expanded", *flags)
        products, tensors = re.search(r"precision: [\w ]+: (\d+) of \d+ products compute in \w+ and (\d+) of", text).groups()
        return int(products), int(tensors)

    plain, tight = half_counts(), half_counts("--activation-budget=9MiB")
    assert tight[0] > plain[0] and tight[1] > plain[1], (plain, tight)


def test_an_override_reaches_every_product(tmp_path):
    """Also those that took transposes in, and all of their gradients."""
    export_case("gpt2-small", tmp_path / "model.onnx")
    text = execute([find_driver(), "plan", tmp_path / "model.onnx", "--batch-size=8", "--precision=fp16", "--device=h200", "--precision-override=MatMul|Gemm=fp32"])
    assert re.findall(r"precision: [\w ]+: (\d+) of (\d+) products", text)[0][0] == "0", text


@pytest.mark.full
def test_at_most_three_prices_of_memory_are_tried(tmp_path):
    export_case("gpt2-small", tmp_path / "model.onnx")
    clusters = compile_to("clusters", tmp_path / "model.onnx", "--batch-size=8", "--inference=false", "--attention=expanded")
    (tmp_path / "clusters.mlir").write_text(clusters[clusters.index("module"):])
    text = execute([
        Path(find_driver()).with_name("gpuopt-opt"), tmp_path / "clusters.mlir", "-o", "/dev/null", "--remarks-filter-analyse=precision",
        "--remark-format=emitRemark", "--train-assign-precision=half-type=f16 device=host activation-budget=12000000 effort=200"])
    prices = {}  # by step
    for step, price in re.findall(r"^(\S+): remark: .*picosecondsPerSavedByte=([\d.e+-]+)", text, re.MULTILINE):
        prices.setdefault(step, []).append(float(price))
    assert max(map(len, prices.values())) == 3, text
    assert all(tried[0] == 0 and all(price > 0 for price in tried[1:]) for tried in prices.values()), text


# Bad input.


@pytest.fixture(scope="module")
def mlp(tmp_path_factory):
    model = tmp_path_factory.mktemp("mlp") / "model.onnx"
    export_case("mlp", model)
    return model


@pytest.mark.parametrize("flags, message", [
    (["--precision=fp8"], "--precision must be fp32, tf32, fp16 or bf16, but is 'fp8'"),
    (["--precision=tf32", "--target=host"], "--precision=tf32 applies only to CUDA"),
    (["--precision=fp16", "--precision-override=nothing=fp16"], "override 'nothing=fp16' matches no ONNX node"),
    (["--precision=fp16", "--precision-override=nothing=fp16", "--precision-override=nobody=fp32"], "overrides 'nothing=fp16', 'nobody=fp32' match no ONNX node"),
    (["--precision=fp16", "--precision-override=Gemm=bf16"], "expects REGEX=fp32 or REGEX=fp16, but got 'Gemm=bf16'"),
    (["--precision=fp16", "--precision-override=(=fp16"], "expects a regular expression"),
    (["--precision-override=Gemm=fp32"], "need --precision=fp16 or bf16"),
    (["--precision=fp16", "--precision-policy=missing.json"], "cannot read 'missing.json'"),
    (["--precision=fp16", "--precision-policy=op.json"], 'but got "Konv"'),
    (["--precision=fp16", "--precision-policy=class.json"], "the members half, fp32 and follow"),
    (["--loss-scale=0"], "--loss-scale must be dynamic, none or a number, at least 1e-37 and at most 1e+38, but is '0'"),
    (["--loss-scale=big"], "--loss-scale must be dynamic, none or a number, at least 1e-37 and at most 1e+38, but is 'big'"),
])
def test_bad_flags(flags, message, mlp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("op.json").write_text('{"half": ["Konv"]}')
    Path("class.json").write_text('{"quarter": ["Conv"]}')
    with pytest.raises(CommandFailed) as error:
        compile_to("precision", mlp, "--batch-size=32", "--device=h200", *flags)
    assert message in error.value.output

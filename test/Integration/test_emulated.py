"""Emitted CUDA programs, run thread by thread on the processor: they train as PyTorch does, and the order in which
threads, blocks and streams run leaves no trace in the bits."""

import copy
import json
import re
from pathlib import Path

import gpuopt
import models
import numpy as np
import pytest
import torch

from emulated import COMPILER, SKIPS, STEPS, Emulated, built_emulation, folder_of_cuda_header, nvidia_wheels
from gpuopt import safetensors
from parity import worst_gradient
from test_optimizers import MuonWithAdamW
from trace_readers import check_trace, spans_of
from training import FULL, OPTIMIZATION_FOR_ONE_STEP, CommandFailed, Result, Trainer, execute, gradients_of, train_torch
from variants import variants

MODELS = ["mlp", "cnn", "gpt2-tiny", "gpt2-words", "gpt2-vocabulary", "bert-tiny", "resnet18-tiny", "unet-tiny"]

pytestmark = SKIPS


def assert_same_bits(one, other):
    assert one.losses == other.losses
    assert_same_weights(one.weights, other.weights)


def assert_same_weights(one, other):
    assert not [name for name in one if one[name].tobytes() != other[name].tobytes()]


# Other tests train bert-tiny, gpt2-tiny, cnn and unet-tiny, in half precision or by other optimizers.
@pytest.fixture(scope="module", params=variants(MODELS, ["mlp", "gpt2-words", "resnet18-tiny"]))
def emulated(request, tmp_path_factory):
    return Emulated(request.param, tmp_path_factory.mktemp(request.param))


def test_gradients(emulated):
    loss, gradients, _ = gradients_of(emulated.trainer, emulated.case.inputs, emulated.case.labels)
    case = copy.deepcopy(emulated.case)
    expected = train_torch(case, 1, lambda p: torch.optim.SGD(p, lr=0.0))[0]
    assert loss == pytest.approx(expected, rel=1e-5)
    error, parameter = worst_gradient(case.module, gradients)
    # PyTorch's own gradients of ResNet-18 in float32 are 1e-4 from those in double.
    assert error <= 2e-4, parameter


def test_label_of_a_long_row(tmp_path):
    """The logit of the label is loaded alone, before the gradient is written over the logits."""
    model = Emulated("gpt2-vocabulary", tmp_path, loss_chunks=2)
    assert re.search(r"loss\[b \* \d+ \+ select\(", (model.trainer.folder / "step.cu").read_text())
    loss, gradients, _ = gradients_of(model.trainer, model.case.inputs, model.case.labels)
    case = copy.deepcopy(model.case)
    assert loss == pytest.approx(train_torch(case, 1, lambda p: torch.optim.SGD(p, lr=0.0))[0], rel=1e-5)
    error, parameter = worst_gradient(case.module, gradients)
    assert error <= 2e-4, parameter
    assert_same_bits(model.train(seed=1), model.train(seed=2))


def test_training_in_any_order(emulated):
    one, other = emulated.train(seed=1), emulated.train(seed=2)
    # AdamW's first steps are as long for gradients that are nearly 0, where rounding decides their sign.
    np.testing.assert_allclose(one.losses, emulated.train_torch(), rtol=1e-3)
    assert_same_bits(one, other)


class FarFromZero(torch.nn.Module):
    """Its batch norm's channels have means some 300 deviations from zero: of sums of squares, no more than two digits of
    a variance would be left in float32."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(16)
        self.fc = torch.nn.Linear(16 * 4 * 4, 10)
        torch.nn.init.constant_(self.conv.bias, 100.0)

    def forward(self, x):
        x = torch.nn.functional.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return self.fc(torch.flatten(x, 1))


def test_statistics_far_from_zero(tmp_path, monkeypatch):
    monkeypatch.setitem(models.MODELS, "far-from-zero", lambda: models.digits(FarFromZero(), (1, 8, 8)))
    model = Emulated("far-from-zero", tmp_path)
    loss, gradients, _ = gradients_of(model.trainer, model.case.inputs, model.case.labels)
    case = copy.deepcopy(model.case)
    assert loss == pytest.approx(train_torch(case, 1, lambda p: torch.optim.SGD(p, lr=0.0))[0], rel=1e-4)
    # Batch norm takes the bias away again, so its gradient is 0 but for rounding, here of sums some 300 times as large.
    case.module.conv.bias.grad = None
    gradients["conv.bias"] = np.zeros(16)
    error, parameter = worst_gradient(case.module, gradients)
    assert error <= 1e-3, parameter


def test_products_are_timed_once(tmp_path):
    """The first run chooses algorithms and keeps them, those after it have its bits, and one that may time nothing
    leaves no record."""
    model = Emulated("mlp", tmp_path)
    record = model.trainer.folder / "build" / "autotune.txt"
    untimed = model.train(seed=1, no_autotune=True)
    assert not record.exists()
    one = model.train(seed=1)
    text = record.read_text()
    assert len(text.splitlines()) > 6  # three layers, forward and backward
    np.testing.assert_allclose(one.losses, untimed.losses, rtol=1e-5)
    assert_same_bits(one, model.train(seed=2))
    assert record.read_text() == text


def test_attention_by_cudnn(tmp_path):
    """cuDNN's forward and our backward train as our forward does, but for rounding, in any order of work; so does, under
    --full, a program that computes forwards again. The first run keeps which of the two was faster."""
    plain = Emulated("gpt2-long", tmp_path / "plain", precision="bf16")
    record = tmp_path / "autotune.txt"  # of all runs, so that products choose alike
    own = plain.train(seed=1, attention_library="own", autotune_file=record)
    cudnn = plain.train(seed=1, attention_library="cudnn", autotune_file=record)
    assert "is computed by the runtime's own kernels" not in cudnn.output
    assert own.losses != cudnn.losses
    np.testing.assert_allclose(cudnn.losses, own.losses, rtol=1e-2)
    np.testing.assert_allclose(cudnn.losses, plain.train_torch(), rtol=3e-2)
    assert_same_bits(cudnn, plain.train(seed=2, attention_library="cudnn", autotune_file=record))
    timed = plain.train(seed=1, autotune_file=record)
    choices = [line.split("\t")[2] for line in record.read_text().splitlines() if "\tattention of bf16, " in line]
    assert len(choices) == 1 and choices[0] in ("own", "cudnn")
    assert_same_bits(timed, {"own": own, "cudnn": cudnn}[choices[0]])
    if FULL:
        check_repeated_attention(plain, cudnn, record, tmp_path)


def check_repeated_attention(plain, cudnn, record, tmp_path):
    # The budget also decides what is in half precision, so the losses are not the same.
    budget = int(plain.trainer.plan()["arena_bytes"] * 0.6)
    tight = Emulated("gpt2-long", tmp_path / "tight", precision="bf16", activation_budget=f"{budget}B")
    assert re.search(" again: frees [^\n]*\n *attention<", (tight.trainer.folder / "step.cu").read_text())
    again = tight.train(seed=3, attention_library="cudnn", autotune_file=record)
    np.testing.assert_allclose(again.losses, cudnn.losses, rtol=1e-2)
    assert_same_bits(again, tight.train(seed=2, attention_library="cudnn", autotune_file=record))
    # A choice holds for first and repeated forwards, without another line.
    lines = [re.sub("\\t(own|cudnn)$", "\tcudnn", line) for line in record.read_text().splitlines()]
    record.write_text("".join(f"{line}\n" for line in lines))
    assert_same_bits(again, tight.train(seed=2, autotune_file=record))
    assert "".join(f"{line}\n" for line in lines) == record.read_text()


def test_attention_in_tf32(tmp_path):
    """Tensor cores multiply what is rounded to TF32, in kernels that the program names. The order of work decides no bit."""
    model = Emulated("gpt2-long", tmp_path / "model", precision="tf32")
    step = (model.trainer.folder / "step.cu").read_text()
    assert "attention<64, AttentionScores::Products, tf32>(" in step
    assert "attention_backward<64, AttentionScores::Products, tf32>(" in step
    record = tmp_path / "autotune.txt"
    result = model.train(seed=1, autotune_file=record)
    np.testing.assert_allclose(result.losses, model.train_torch(), rtol=1e-3)
    assert_same_bits(result, model.train(seed=2, autotune_file=record))


def test_an_update_with_products(tmp_path):
    """Muon's update is kernels and products, captured and replayed like those of the forward."""
    model = Emulated("gpt2-tiny", tmp_path, optimizer="muon")
    result = model.train(seed=1)
    case = copy.deepcopy(model.case)
    tables = [module.weight for module in case.module.modules() if isinstance(module, torch.nn.Embedding)]
    expected = train_torch(case, STEPS, lambda p: MuonWithAdamW(
        p, lr=case.learning_rate, muon_lr=case.learning_rate, weight_decay=0.0, tables=tables), max_grad_norm=1.0)
    np.testing.assert_allclose(result.losses, expected, rtol=1e-4)
    assert_same_bits(result, model.train(seed=2))


def test_accumulation_and_evaluation(tmp_path):
    """Two batches a step, and an evaluation of all data after the last one."""
    model = Emulated("cnn", tmp_path, gradient_accumulation_steps=2)
    files = {name: tmp_path / f"{name}.npy" for name in [*model.case.inputs, "labels"]}
    for name, array in {**model.case.inputs, "labels": model.case.labels}.items():
        np.save(files[name], array)
    labels = files.pop("labels")
    one, other = [model.train(seed, eval_data=files, eval_labels=labels) for seed in (1, 2)]
    case = copy.deepcopy(model.case)
    expected = train_torch(
        case, STEPS, lambda p: torch.optim.AdamW(p, lr=case.learning_rate, weight_decay=0.0), max_grad_norm=1.0, accumulation=2
    )
    np.testing.assert_allclose(one.losses, expected, rtol=1e-4)
    case.module.eval()
    with torch.no_grad():
        logits = case.module(*map(torch.from_numpy, case.inputs.values()))
        assert one.evaluations[-1]["eval_loss"] == pytest.approx(case.loss_of(logits, torch.from_numpy(case.labels)).item(), rel=1e-4)
    assert one.evaluations[-1]["eval_loss"] == other.evaluations[-1]["eval_loss"]
    assert_same_bits(one, other)


def test_dropout_is_that_of_the_host(tmp_path):
    """Both targets draw the same numbers, for elements and for attention, in the forward and again in the backward."""
    model = Emulated("gpt2-tiny-dropout", tmp_path)
    host = Trainer(tmp_path / "model.onnx", tmp_path / "host", OPTIMIZATION_FOR_ONE_STEP, batch_size=model.case.batch)
    flags = dict(learning_rate=model.case.learning_rate, lr_scheduler_type="constant", max_steps=STEPS)
    expected = host.run(model.case.inputs, model.case.labels, **flags)
    result = model.train(seed=1)
    np.testing.assert_allclose(result.losses, expected.losses, rtol=1e-5)
    # Another seed of dropout, not of the emulation, is another training.
    assert not np.allclose(expected.losses, host.run(model.case.inputs, model.case.labels, seed=7, **flags).losses, rtol=1e-4)
    assert_same_bits(result, model.train(seed=2))


# ---- Half precision, loss scaling, offloading, sanitizers ------------------------------------------------------------


# The kernels of the others are those of other models here, or differ from those of the other precision in a type alone.
@pytest.mark.parametrize("name, precision", variants(
    [(name, precision) for precision in ("fp16", "bf16") for name in MODELS],
    [("gpt2-words", "fp16"), ("bert-tiny", "fp16"), ("unet-tiny", "fp16"), ("mlp", "bf16"), ("gpt2-vocabulary", "bf16")]))
def test_half_precision(name, precision, tmp_path):
    """Losses are as PyTorch's in fp32, but for the rounding of halves: 2^-11 (fp16) or 2^-8 (bf16) relative in each
    tensor, over some ten layers and four steps. No gradient overflows at this scale."""
    model = Emulated(name, tmp_path, precision=precision)
    scale = {"init_scale": 64.0} if precision == "fp16" else {}
    one, other = model.train(seed=1, **scale), model.train(seed=2, **scale)
    step = (model.trainer.folder / "step.cu").read_text()
    assert re.search("f16" if precision == "fp16" else "bf16", step)
    # Batch norms take their moments from no convolution, and hold them in fp32.
    assert "conv_forward_with_sums" not in step
    if any(isinstance(module, torch.nn.BatchNorm2d) for module in model.case.module.modules()):
        assert not re.search(r"f16\[1,1,1,\d+\]", (model.trainer.folder / "memory.h").read_text())
    # The sums of a GELU's gradient would overflow in f16.
    is_gpt = name.startswith("gpt2")
    assert ("gemm_gelu(ctx" in step, "gemm_gelu_backward(ctx" in step) == (is_gpt, is_gpt and precision == "bf16")
    np.testing.assert_allclose(one.losses, model.train_torch(), rtol=1e-2 if precision == "fp16" else 3e-2)
    assert_same_bits(one, other)


def test_half_precision_and_loss_scaling(tmp_path):
    """A first scale that overflows makes the scaler skip steps; the others are as PyTorch's in fp32, but for the
    rounding of halves (2^-11 relative in each tensor, over some ten layers)."""
    model = Emulated("gpt2-tiny", tmp_path, precision="fp16", optimizer="adamw_8bit")
    result = model.train(seed=1)
    np.testing.assert_allclose(result.losses, model.train_torch(), rtol=1e-2)
    assert_same_bits(result, model.train(seed=2))
    scaled = [model.train(seed=seed, steps=6, init_scale=2.0**24) for seed in (1, 2)]
    assert scaled[0].metrics[-1]["skipped_steps"] > 0
    assert scaled[0].metrics[-1]["loss_scale"] < 2**24
    assert_same_bits(*scaled)


@pytest.fixture
def one_multiprocessor(tmp_path):
    """A device on which few rows are enough for blocks that add them up, and on which each launch that is saved pays."""
    device = tmp_path / "one.json"
    device.write_text(json.dumps({"base": "h200", "name": "one multiprocessor", "multiprocessors": 1, "secondsPerLaunch": 1e-3}))
    return device


class BatchNorms(torch.nn.Sequential):
    def __init__(self):
        torch.manual_seed(0)
        super().__init__(
            torch.nn.Conv2d(3, 64, 3, padding=1, bias=False), torch.nn.BatchNorm2d(64), torch.nn.ReLU(),
            torch.nn.Conv2d(64, 512, 3, stride=2, padding=1, bias=False), torch.nn.BatchNorm2d(512), torch.nn.ReLU(),
            torch.nn.Conv2d(512, 16, 3, padding=1, bias=False), torch.nn.BatchNorm2d(16), torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(16, 10))

    def forward(self, x):
        return super().forward(x)


@pytest.mark.parametrize("precision", variants(["fp32", "fp16"], ["fp16"]))
def test_rows_that_share_their_terms(precision, tmp_path, monkeypatch, one_multiprocessor):
    """The kernels of batch norms go down columns, in batches of rows that they load ahead. Images have 10 * 10 and
    5 * 5 pixels, so there are rows behind the last whole batch, and 512 channels are two turns of a warp."""
    monkeypatch.setitem(models.MODELS, "batch-norms", lambda: models.images(BatchNorms(), 10, 10, 9))
    model = Emulated("batch-norms", tmp_path, precision=precision, device=one_multiprocessor)
    source = "".join(path.read_text() for path in sorted(model.trainer.folder.glob("*.cu")))
    kernels = [text for text in re.findall(r"^(?:EXPORTED_)?KERNEL .*?^}$", source, re.M | re.S) if "start < end" in text or "< end; start" in text]
    assert any("batch_norm(" in text or "batch_norm_max(" in text for text in kernels)
    assert any("r = start; r < end" in text for text in kernels)
    assert any("tile < 512; tile += lane_step<32>()" in text for text in kernels)
    flags = {"init_scale": 64.0} if precision == "fp16" else {}
    one, other = model.train(seed=1, **flags), model.train(seed=2, **flags)
    np.testing.assert_allclose(one.losses, model.train_torch(), rtol=1e-2 if precision == "fp16" else 1e-4)
    assert_same_bits(one, other)


# 32 columns leave most threads of a warp idle, and 160 end within its second iteration.
NORMS = {"gpt2-32": lambda: models.gpt2(2, 32, 2, 64, 16, 16, 8), "bert-160": lambda: models.bert(2, 160, 2, 64, 16, 8)}


@pytest.mark.parametrize("name, precision", variants(
    [(name, precision) for name in NORMS for precision in ("fp32", "fp16", "bf16")], [("bert-160", "fp16")]))
def test_sums_of_columns_beside_rows(name, precision, tmp_path, monkeypatch, one_multiprocessor):
    """The kernels of the gradients of layer norms add up those of scale, shift and the bias before, in two blocks of 64
    rows. That of BERT's embeddings also adds up the gradient of the one type of token."""
    monkeypatch.setitem(models.MODELS, name, NORMS[name])
    model = Emulated(name, tmp_path / "model", precision=precision, device=one_multiprocessor)
    program = "".join(path.read_text() for path in model.trainer.folder.glob("*.cu"))
    assert len(re.findall(r"launch\(ctx, 2, 256, fused_\w*layer_norm_backward", program)) > 1
    assert "totals_3[t] = " in program
    assert len(re.findall(r"totals_4\[t\] = totals_4", program)) == name.startswith("bert")
    scale = {"init_scale": 64.0} if precision == "fp16" else {}
    one, other = model.train(seed=1, **scale), model.train(seed=2, **scale)
    np.testing.assert_allclose(one.losses, model.train_torch(), rtol={"fp32": 1e-3, "fp16": 1e-2, "bf16": 3e-2}[precision])
    assert_same_bits(one, other)
    if precision == "fp32":
        loss, gradients, _ = gradients_of(model.trainer, model.case.inputs, model.case.labels)
        case = copy.deepcopy(model.case)
        assert loss == pytest.approx(train_torch(case, 1, lambda p: torch.optim.SGD(p, lr=0.0))[0], rel=1e-5)
        error, parameter = worst_gradient(case.module, gradients)
        assert error <= 2e-4, parameter


# After each product that makes rows of words, what lies behind column FROM becomes NaN, in every row, and so do spare rows
# of the gradient of the weight, as it lies.
POISON = """
template <class C>
KERNEL void poison(C *c, int64_t from, int64_t pitch) {
  if (first_thread())
    for (int64_t j = from; j < pitch; j++)
      store_scalar(c + block() * pitch + j, Compute<C>(NAN));
}
template <class T, class C>
void gemm(Context &ctx, const GemmShape &shape, const T *a, const T *b, C *c, GemmOptions o = {}) {
  sound_gemm(ctx, shape, a, b, c, o);
  if ((shape.n == 509 || shape.n == 512) && shape.c_n == 1)
    launch(ctx, shape.m, 32, poison<C>, c, int64_t(FROM), shape.c_m);
  if (shape.n == 512 && shape.c_m == 1)
    launch(ctx, 1, 32, poison<C>, c, 509 * shape.c_n, 512 * shape.c_n);
  if (shape.m == 512 && shape.c_n == 1)
    launch(ctx, 1, 32, poison<C>, c, 509 * shape.c_m, 512 * shape.c_m);
}
} // namespace gpuopt
"""


@pytest.mark.parametrize("name, precision, chunks", variants(
    [("gpt2-odd", "fp16", 2), ("gpt2-odd", "bf16", 1), ("gpt2-odd-untied", "fp16", 2), ("gpt2-odd", "bf16", 2), ("gpt2-odd-linear", "fp16", 2)],
    [("gpt2-odd", "fp16", 2)]))
def test_padded_rows(name, precision, chunks, tmp_path):
    """Rows of 509 logits begin 512 elements apart where products are slow. A weight that lies as [509, 32] has three spare
    rows of zeros in its copy in half precision, and its gradient, which is a sum over chunks, any three, so that products
    go on to 512: what they find in the pads of the logits has to be zero. A head that lies as [32, 509] has rows of 509
    elements as well. It is cast in each step, sums end with the last word, and nothing depends on what is in the pads."""
    device = tmp_path / "slow.json"
    device.write_text(json.dumps(
        {"base": "h200", "name": "slow products", "f32ProductsPerSecond": 1e8, "f16ProductsPerSecond": 1e9,
         "bf16ProductsPerSecond": 1e9}))
    model = Emulated(name, tmp_path / "model", precision=precision, device=device, loss_chunks=chunks, debug_overflow=True)
    half, scale = ("f16", {"init_scale": 64.0}) if precision == "fp16" else ("bf16", {})
    folder = model.trainer.folder
    memory, step = (folder / "memory.h").read_text(), (folder / "step.cu").read_text()
    assert f"{half}[{2 // chunks},16,509] rows 512 apart" in memory
    assert "509, /*pitch=*/512" in step  # of the checks
    ends = set(re.findall(r"kGemm(\w+) = ", step)) & {f"32x509x{16 * 2 // chunks}_tn", f"{16 * 2 // chunks}x32x509_nt"}
    lies_by_words = name != "gpt2-odd-untied"
    if lies_by_words:
        assert len(re.findall(r"f(?:16|32)\[509,32\] and 3 spare rows", memory)) >= 2  # the copy and the gradient
        assert not re.search(r"\.[mnk] = 509\b", step)
    else:
        assert f"{half}[32,509] rows 512 apart" in memory and "spare rows" not in memory
        assert len(ends) == 2 and re.search(r"kGemm32x509x16_tn = \{[^}]*\.c_m = 509\}", step)
    one, other = model.train(seed=1, **scale), model.train(seed=2, **scale)
    np.testing.assert_allclose(one.losses, model.train_torch(), rtol=1e-2 if precision == "fp16" else 3e-2)
    assert_same_bits(one, other)

    # Another process has zeros in spare rows as well.
    model.train(seed=1, steps=2, save_steps=2, **scale)
    rest = model.train(seed=1, resume=folder / f"run{model.trainer.runs}/checkpoint-2", **scale)
    assert rest.losses == one.losses[2:]

    gemm = folder / "gpuopt/ops/gemm_cuda.h"
    sound = gemm.read_text()

    def train_poisoned(start: int) -> Result:
        text = sound.replace("\nvoid gemm(", "\nvoid sound_gemm(").replace("  gemm<E>(", "  sound_gemm<E>(")
        gemm.write_text(text.removesuffix("} // namespace gpuopt\n") + POISON.replace("FROM", str(start)))
        execute(["cmake", "--build", folder / "build"])
        return model.train(seed=1, **scale)

    # The last logit matters, and the pads where sums go on through them.
    matters = 512 if lies_by_words else 509
    assert_same_bits(one, train_poisoned(matters))
    if lies_by_words and precision == "fp16":  # losses are numbers, and gradients are not
        assert train_poisoned(matters - 1).metrics[-1]["skipped_steps"] == STEPS
    else:
        with pytest.raises(CommandFailed, match="diverged|not finite"):
            train_poisoned(matters - 1)


@pytest.mark.full
def test_padded_rows_of_floats(tmp_path):
    """Products in TF32 run on tensor cores, too. Parameters have no copy with spare rows, so the last words are products
    of their own."""
    device = tmp_path / "slow.json"
    device.write_text(json.dumps({"base": "h200", "name": "slow products", "tf32ProductsPerSecond": 1e8}))
    model = Emulated("gpt2-odd", tmp_path / "model", precision="tf32", device=device, loss_chunks=2, debug_overflow=True)
    memory = (model.trainer.folder / "memory.h").read_text()
    assert "f32[1,16,509] rows 512 apart" in memory and "spare rows" not in memory
    one, other = model.train(seed=1), model.train(seed=2)
    np.testing.assert_allclose(one.losses, model.train_torch(), rtol=1e-3)
    assert_same_bits(one, other)


@pytest.mark.full
def test_under_sanitizers(tmp_path):
    """A read past a buffer, a misaligned vector or a misused stack ends the program; see SANITIZER_FLAGS."""
    model = Emulated("cnn", tmp_path, precision="bf16", sanitize=True)
    symbols = execute(["nm", model.trainer.folder / "build/CMakeFiles/gpuopt_step.dir/step.cu.o"])
    assert "__asan_report_" in symbols and "__ubsan_handle_" in symbols
    result = model.train(seed=1)
    np.testing.assert_allclose(result.losses, model.train_torch(), rtol=1e-2)
    assert_same_bits(result, model.train(seed=2))


def test_offloading(tmp_path):
    """Within a budget, tensors wait in pinned memory of the host, on a stream of their own. The bits are the same."""
    device = tmp_path / "slow.json"
    device.write_text(json.dumps(
        {"base": "h200", "name": "slow products", "overlapsTransfers": True, "hostLinkBytesPerSecond": 50e9,
         "f32ProductsPerSecond": 1e11, "bytesPerSecond": 1e11, "secondsPerLaunch": 1e-6}))
    plain = Emulated("unet-tiny", tmp_path / "plain")
    budget = int(plain.trainer.plan()["arena_bytes"] * 0.6)
    tight = Emulated("unet-tiny", tmp_path / "tight", activation_budget=f"{budget}B", allow_offload=True, device=device)
    assert tight.trainer.plan()["host_bytes"] > 0
    record = tmp_path / "autotune.txt"
    expected = plain.train(seed=1, autotune_file=record)
    for seed in (1, 2, 3):
        assert_same_bits(expected, tight.train(seed, autotune_file=record))


# ---- What profilers see -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    return Emulated("mlp", tmp_path_factory.mktemp("watched"))


@pytest.mark.skipif(folder_of_cuda_header("nvtx3/nvToolsExt.h") is None, reason="no headers of NVTX")
def test_named_ranges(watched, tmp_path, monkeypatch):
    """With --nvtx, each call is a range with its nodes within that of its function, as Nsight would record them. The bits
    of the training stay."""
    library, record = tmp_path / "recorder.so", tmp_path / "ranges.txt"
    source = Path(__file__).with_name("nvtx_recorder.c")
    execute(["cc", "-shared", "-fPIC", "-Wall", "-Werror", "-I", folder_of_cuda_header("nvtx3/nvToolsExt.h"), source, "-o", library])
    monkeypatch.setenv("NVTX_INJECTION64_PATH", str(library))
    monkeypatch.setenv("NVTX_RECORD", str(record))
    plain = watched.train(seed=1)
    assert not record.exists()  # NVTX is not even begun
    assert_same_bits(plain, watched.train(seed=1, nvtx=True))
    ranges = record.read_text().splitlines()
    assert [name for name in ranges if not name.startswith(" ")] == ["micro_step", "update"] * STEPS
    table = (watched.trainer.folder / "calls.h").read_text()
    calls = [name[1:].partition(": ") for name in ranges if name.startswith(" ")]
    assert not [name for name, *_ in calls if name.startswith(" ") or f'"{name}' not in table]
    assert len({origin for *_, origin in calls}) > 4
    assert not [origin for *_, origin in calls if origin and f'"{origin}"' not in table]
    # A profile of the same steps has as many calls.
    profiled = watched.trainer.folder / f"run{watched.trainer.runs + 1}"
    record.unlink()
    watched.train(seed=1, nvtx=True, profile=f"wait=0,warmup=0,active={STEPS}")
    assert record.read_text().splitlines() == ranges
    rows = json.loads((profiled / "profile/profile.json").read_text())["rows"]
    assert sum(row["calls"] for row in rows) == len(calls)
    check_trace(profiled / "profile/trace.json", "kernel")


@pytest.mark.skipif(folder_of_cuda_header("cupti.h") is None, reason="no headers of CUPTI")
def test_kernel_records(watched, monkeypatch):
    """Where CUPTI is found, it tells when each kernel ran, in which stream and from which launch; else events tell when each
    call did. The bits of the training stay."""
    execute(["cmake", "--build", watched.trainer.folder / "build", "--target", "gpuopt_emulated_cupti"])

    def profile():
        run = watched.trainer.folder / f"run{watched.trainer.runs + 1}"
        result = watched.train(seed=1, profile=f"wait=0,warmup=1,active={STEPS - 1}")
        return result, run / "profile"

    plain = watched.train(seed=1)
    by_events, folder = profile()
    assert_same_bits(plain, by_events)
    averages = json.loads((folder / "profile.json").read_text())
    assert averages["times_by"].startswith("events, not CUPTI: ")
    missing = "is not found; the CUDA toolkit has it, and the wheel nvidia-cuda-cupti, whose folder LD_LIBRARY_PATH must name"
    assert missing in averages["times_by"] or "CUPTI_ERROR" in averages["times_by"]  # the real one, without a driver
    assert {row["name"] for row in averages["rows"]} == {span["name"] for span in spans_of(folder / "trace.json", "kernel")}

    monkeypatch.setenv("LD_LIBRARY_PATH", str(watched.trainer.folder / "build/emulation/cupti"))
    by_records, folder = profile()
    assert_same_bits(plain, by_records)
    rows = {row["name"]: row for row in json.loads((folder / "profile.json").read_text())["rows"]}
    assert json.loads((folder / "profile.json").read_text())["times_by"] == "CUPTI"
    assert "times: by CUPTI" in (folder / "table.txt").read_text()
    assert rows.keys() == {row["name"] for row in averages["rows"]}
    calls = spans_of(folder / "trace.json", "cpu_op")
    launches = {span["args"]["correlation"]: span for span in spans_of(folder / "trace.json", "cuda_runtime")}
    work = [span for kind in ("kernel", "gpu_memcpy", "gpu_memset") for span in spans_of(folder / "trace.json", kind)]
    assert {span["name"] for span in calls} == rows.keys()
    for span in work:
        # Each was launched by a function of CUDA, before it ran, on a thread of the host.
        launch = launches[span["args"]["correlation"]]
        assert launch["ts"] <= span["ts"] and launch["pid"] != span["pid"] and span["args"]["stream"] == span["tid"]
    kernels = [span for span in work if "call" in span["args"]]
    assert {span["args"]["call"] for span in kernels} <= rows.keys()
    assert {launches[span["args"]["correlation"]]["name"] for span in kernels} >= {"cudaLaunchKernelExC", "cuLaunchKernelEx"}
    for name, row in rows.items():
        own = [span for span in kernels if span["args"]["call"] == name]
        assert row["calls"] == sum(span["name"] == name for span in calls)
        assert row["ns"] == pytest.approx(1000 * sum(span["dur"] for span in own), rel=0.01, abs=2 * len(own) + 1)
    # Batches are copied by a stream of their own, for no call.
    assert {span["tid"] for span in work if span["name"] == "Memcpy HtoD"} - {span["tid"] for span in kernels}
    check_trace(folder / "trace.json", "kernel")

    # Another tool may have the device.
    monkeypatch.setenv("GPUOPT_EMULATED_CUPTI_IS_TAKEN", "1")
    result, folder = profile()
    assert_same_bits(plain, result)
    assert "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" in json.loads((folder / "profile.json").read_text())["times_by"]


# ---- The command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lanes", variants([32, 64], [32]))
def test_train_command(lanes, watched, tmp_path, monkeypatch):
    """`gpuopt train --target=emulated` builds the program with the compiler's flags, and runs it in the order that the
    environment asks for. Warps of 64 lanes, as AMD's CDNA has them, give the bits of those of 32."""
    model = watched
    expected = model.train(seed=1, steps=2, no_autotune=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NVIDIA_WHEELS", nvidia_wheels())
    monkeypatch.setenv("CXX", COMPILER)
    toolchain = ['set(CMAKE_CXX_FLAGS_RELEASE -O0 CACHE STRING "" FORCE)']  # it builds faster than it is optimised
    if lanes == 64:
        monkeypatch.setenv("CXXFLAGS", "-DGPUOPT_EMULATED_WARP_SIZE=64")
    else:  # what other programs have, and have compiled
        toolchain.append(f'set(GPUOPT_EMULATION_LIBRARY "{built_emulation() or ""}" CACHE FILEPATH "")')
    (tmp_path / "toolchain.cmake").write_text("\n".join(toolchain))
    monkeypatch.setenv("CMAKE_TOOLCHAIN_FILE", str(tmp_path / "toolchain.cmake"))

    def train(seed: str) -> Path:
        monkeypatch.setenv("GPUOPT_EMULATION_SEED", seed)
        case = model.case
        gpuopt.train(
            model.trainer.folder.parent / "model.onnx", tmp_path / f"out{seed}", target="emulated", batch_size=case.batch, data=case.inputs,
            labels=case.labels, learning_rate=case.learning_rate, lr_scheduler_type="constant", max_steps=2, shuffle=False,
            autotune=False,
        )
        return tmp_path / f"out{seed}"

    out = train(str(2**64 - 1))
    *steps, memory = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [step["loss"] for step in steps] == expected.losses and "planned_bytes" in memory
    assert_same_weights(expected.weights, safetensors.read(out / "model.safetensors"))
    with pytest.raises(gpuopt.DriverError, match="GPUOPT_EMULATION_SEED must be a whole number of 64 bits, but is 'x1'"):
        train("x1")

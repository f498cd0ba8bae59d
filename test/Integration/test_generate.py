"""gpuopt predict --generate: a language model continues prompts, as
transformers' generate does."""

import copy
import json
import re
import signal
import subprocess
import time
from functools import partial

import numpy as np
import pytest
import torch
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel

import emulated
import gpuopt
from gpuopt.driver import find_driver
from models import CausalLogits
from training import LIBRARY_FOR_ONE_STEP, OPTIMIZATION_FOR_ONE_STEP, CommandFailed, Trainer, execute

VOCABULARY, WINDOW, BATCH = 61, 12, 4
LAYERS, HEADS, WIDTH = 2, 2, 16


HostPredictor = partial(Trainer, optimization=OPTIMIZATION_FOR_ONE_STEP)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(5)
    config = GPT2Config(vocab_size=VOCABULARY, n_positions=WINDOW, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():  # so that tokens differ much
        for parameter in model.parameters():
            parameter.mul_(6)
    return model


class CachedLogits(torch.nn.Module):
    """Takes and gives keys and values as transformers' exporters write them: of `cache_capacity` past tokens."""

    def __init__(self, model, reads_past=False):
        super().__init__()
        self.model = model
        self.reads_past = reads_past

    def forward(self, input_ids, attention_mask, position_ids, *past):
        cache = DynamicCache()
        for layer in range(LAYERS):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        output = self.model(input_ids, attention_mask=attention_mask, position_ids=position_ids, past_key_values=cache, use_cache=True)
        # With another reader of the past, it has to stay apart from the present.
        logits = output.logits + 0 * past[0].sum() if self.reads_past else output.logits
        return (logits, *(tensor for layer in output.past_key_values.layers for tensor in (layer.keys, layer.values)))


CACHED = [f"{layer}.{kind}" for layer in range(LAYERS) for kind in ("key", "value")]


def export_cached(model, folder, tokens, cache_capacity, reads_past=False):
    """Exports what computes `tokens` tokens behind `cache_capacity` past ones in a step."""
    inputs = {"input_ids": torch.zeros(2, tokens, dtype=torch.int64), "attention_mask": torch.ones(2, cache_capacity + tokens, dtype=torch.int64),
              "position_ids": torch.zeros(2, tokens, dtype=torch.int64)}
    inputs |= {f"past_key_values.{name}": torch.zeros(2, HEADS, cache_capacity, WIDTH // HEADS, dtype=model.dtype) for name in CACHED}
    outputs = ["logits", *(f"present.{name}" for name in CACHED)]
    gpuopt.export(CachedLogits(model, reads_past), tuple(inputs.values()), folder / "model.onnx", input_names=list(inputs), output_names=outputs)


def cached_program(model, folder, tokens, cache_capacity, kind=HostPredictor, reads_past=False):
    export_cached(model, folder, tokens, cache_capacity, reads_past)
    kind(folder / "model.onnx", folder / "program", inference=True, batch_size=BATCH)
    return folder / "program" / "build" / "predict"


@pytest.fixture(scope="module")
def program(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    gpuopt.export(CausalLogits(model), torch.zeros(2, WINDOW, dtype=torch.int64), folder / "model.onnx", input_names=["input_ids"],
                  output_names=["logits"])
    HostPredictor(folder / "model.onnx", folder / "program", inference=True, batch_size=BATCH)
    return folder / "program" / "build" / "predict"


def generate(program, folder, prompts, count, *flags):
    if isinstance(prompts, np.ndarray):
        np.save(folder / "prompts.npy", prompts)
        file = folder / "prompts.npy"
    else:
        file = folder / "prompts.jsonl"
        file.write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))
    execute([program, f"--generate={count}", f"--prompts={file}", "--num-threads=1", "-o", folder / "out", *flags])
    lines = [json.loads(line) for line in (folder / "out" / "generated.jsonl").read_text().splitlines()]
    assert [line["prompt"] for line in lines] == list(range(len(prompts)))
    return [line["tokens"] for line in lines]


def expected(model, prompt, count, **flags):
    ids = torch.tensor([prompt])
    flags = {"do_sample": False, "eos_token_id": None, **flags}
    return model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, pad_token_id=0, **flags)[0, len(prompt):].tolist()


def test_the_likeliest_tokens(model, program, tmp_path):
    """Prompts of several lengths, more than a batch holds."""
    draw = np.random.default_rng(0)
    prompts = [draw.integers(0, VOCABULARY, length).tolist() for length in (1, 5, 3, 8, 2, 7)]
    found = generate(program, tmp_path, prompts, 4)
    assert found == [expected(model, prompt, 4) for prompt in prompts]
    assert len({tuple(tokens) for tokens in found}) > 3
    array = draw.integers(0, VOCABULARY, (3, 6)).astype(np.uint16)
    assert generate(program, tmp_path, array, 6) == [expected(model, prompt, 6) for prompt in array.tolist()]


@pytest.mark.parametrize("tokens, cache_capacity, reads_past", [
    (1, WINDOW - 1, False), pytest.param(3, WINDOW, False, marks=pytest.mark.full), (3, WINDOW, True)])
def test_keys_and_values_are_kept(model, tmp_path, tokens, cache_capacity, reads_past):
    """One token in a step, and several, of which the last ones of a prompt may not be all. Where nothing but attention
    reads the past ones, they lie where the present ones are written."""
    program = cached_program(model, tmp_path, tokens, cache_capacity, reads_past=reads_past)
    outputs = re.findall(r"INT64_MIN,\s+0,\s+(\d+)}", (tmp_path / "program" / "tables.h").read_text())
    assert outputs == [str(1 + i) for i in range(len(CACHED)) if i > 0 or not reads_past]
    draw = np.random.default_rng(1)
    prompts = [draw.integers(0, VOCABULARY, length).tolist() for length in (1, 5, 3, 8, 2, 7, 4)]
    found = generate(program, tmp_path, prompts, 5)
    assert found == [expected(model, prompt, 5) for prompt in prompts]
    assert len({tuple(tokens) for tokens in found}) > 3
    # A row that has ended does not disturb the others.
    end = found[0][1]
    assert generate(program, tmp_path, prompts, 5, f"--eos-token-id={end}") == [
        tokens[: tokens.index(end) + 1] if end in tokens else tokens for tokens in found]
    with pytest.raises(CommandFailed) as error:
        generate(program, tmp_path, [[1], [1] * WINDOW], 2)
    assert f"prompt 1 has {WINDOW} tokens and 2 are to follow, but the model has " + (
        f"a cache for the keys and values of {cache_capacity}" if tokens == 1 else f"{WINDOW} positions") in error.value.output


def test_the_past_in_half_precision(model, tmp_path):
    half = copy.deepcopy(model).half()
    program = cached_program(half, tmp_path, 2, 6)
    prompts = [[3], [1, 4, 1, 5], [9, 2]]
    assert generate(program, tmp_path, prompts, 3) == [expected(half.float(), prompt, 3) for prompt in prompts]


def test_callers_give_the_past(model, tmp_path):
    """A program that is called from Python takes the past of each call, and leaves nothing of another one."""
    tokens, capacity = 2, 5
    export_cached(model, tmp_path, tokens, capacity)
    gpuopt.compile(tmp_path / "model.onnx", tmp_path / "program", target="host", inference=True, batch_size=BATCH)
    draw = np.random.default_rng(3)
    with gpuopt.load(tmp_path / "program", cmake_options=LIBRARY_FOR_ONE_STEP) as program:
        for _ in range(2):
            inputs = {"input_ids": draw.integers(0, VOCABULARY, (BATCH, tokens)), "attention_mask": np.ones((BATCH, capacity + tokens), int),
                      "position_ids": np.tile(np.arange(capacity, capacity + tokens), (BATCH, 1))}
            past = {f"past_key_values.{name}": draw.standard_normal((BATCH, HEADS, capacity, WIDTH // HEADS), np.float32) for name in CACHED}
            found = program.forward(inputs | past)
            with torch.no_grad():
                logits, *present = CachedLogits(model)(*map(torch.from_numpy, (inputs | past).values()))
            np.testing.assert_allclose(found["logits"], logits, rtol=2e-4, atol=2e-4)
            for name, expected_tensor in zip(CACHED, present):
                np.testing.assert_array_equal(found[f"present.{name}"][:, :, :capacity], past[f"past_key_values.{name}"])
                np.testing.assert_allclose(found[f"present.{name}"], expected_tensor, rtol=2e-4, atol=2e-4)


@emulated.needs_target
def test_keys_and_values_are_kept_on_a_gpu(model, tmp_path):
    """The rows of a cache are copied on the device, in some order of its streams and threads."""
    program = cached_program(model, tmp_path, 1, 6, emulated.EmulatedTrainer)
    prompts = [[3], [1, 4, 1, 5], [9, 2]]
    assert generate(program, tmp_path, prompts, 3) == [expected(model, prompt, 3) for prompt in prompts]


def test_the_end_of_a_text(model, program, tmp_path):
    prompts = [[3, 1], [7, 8, 9], [20]]
    whole = [expected(model, prompt, 8) for prompt in prompts]
    end = whole[0][2]
    found = generate(program, tmp_path, prompts, 8, f"--eos-token-id={end}")
    assert found == [tokens[: tokens.index(end) + 1] if end in tokens else tokens for tokens in whole]
    assert len(found[0]) <= 3


def test_longer_than_the_window(model, program, tmp_path):
    """The model sees the last tokens."""
    text = [5, 6, 7, 8, 9, 10]
    for token in generate(program, tmp_path, [text[:]], 2 * WINDOW)[0]:
        with torch.no_grad():
            assert token == model(torch.tensor([text[-WINDOW:]])).logits[0, -1].argmax().item()
        text.append(token)


@pytest.mark.parametrize("flags, k", [(["--temperature=3"], VOCABULARY), (["--temperature=4", "--top-k=5"], 5)])
def test_draws(model, program, tmp_path, flags, k):
    """Tokens come as often as the softmax says."""
    count, temperature = 1600, float(flags[0].split("=")[1])
    prompts = np.tile(np.array([4, 9, 2]), (count, 1))
    found = generate(program, tmp_path, prompts, 1, *flags, "--seed=7")
    with torch.no_grad():
        logits = model(torch.tensor([[4, 9, 2]])).logits[0, -1] / temperature
    logits[logits < logits.topk(k).values[-1]] = -float("inf")
    probabilities = logits.double().softmax(0).numpy()
    frequencies = np.bincount(np.array(found)[:, 0], minlength=VOCABULARY)
    assert frequencies[probabilities == 0].sum() == 0
    likely = probabilities * count >= 5
    assert likely.sum() > 3
    parts = np.append(probabilities[likely], probabilities[~likely].sum()) * count
    seen = np.append(frequencies[likely], frequencies[~likely].sum())
    chi_squared = ((seen - parts) ** 2 / np.maximum(parts, 1e-9))[parts > 0].sum()
    # Four deviations above the mean of a chi-squared distribution.
    freedom = (parts > 0).sum() - 1
    assert chi_squared < freedom + 4 * np.sqrt(2 * freedom)
    again = generate(program, tmp_path, prompts[:50], 1, *flags, "--seed=7")
    assert again == found[:50]
    assert generate(program, tmp_path, prompts[:50], 1, *flags, "--seed=8") != again


def test_in_one_go(model, program, tmp_path):
    onnx = program.parents[2] / "model.onnx"
    found = gpuopt.predict(onnx, tmp_path / "out", prompts=[[3, 1, 4], [1, 5, 9]], generate=3, target="host", batch_size=BATCH)
    lines = [json.loads(line) for line in (tmp_path / "out" / "generated.jsonl").read_text().splitlines()]
    assert found == {"generated": lines}
    assert [line["tokens"] for line in lines] == [expected(model, prompt, 3) for prompt in ([3, 1, 4], [1, 5, 9])]


def test_what_is_refused(program, tmp_path):
    def refusal(*flags, prompts="[1, 2]\n"):
        (tmp_path / "prompts.jsonl").write_text(prompts)
        with pytest.raises(CommandFailed) as error:
            execute([program, "-o", tmp_path / "out", *flags])
        return error.value.output

    given = f"--prompts={tmp_path / 'prompts.jsonl'}"
    assert "'--generate' needs --prompts" in refusal("--generate=2")
    assert "'--prompts' has no effect without --generate" in refusal(given, f"--data=input_ids={given}")
    assert "'--top-k' has no effect with --generate unless --temperature is above 0" in refusal("--generate=2", given, "--top-k=3")
    assert f"prompt 1 of '{tmp_path / 'prompts.jsonl'}' has the token 61, but the model's are at least 0 and below 61" in refusal(
        "--generate=2", given, prompts="[1]\n[2, 61]\n")
    assert "is no list of tokens like [15496, 11]" in refusal("--generate=2", given, prompts='{"a": 1}\n')
    assert "has no tokens; a model needs at least one, as the one that begins a text" in refusal("--generate=2", given, prompts="[]\n")
    assert "has no prompts" in refusal("--generate=2", given, prompts="\n")
    np.save(tmp_path / "p.npy", np.zeros((2, 2)))
    array = f"--prompts={tmp_path / 'p.npy'}"
    assert "but prompts are integers" in refusal("--generate=2", array)
    np.save(tmp_path / "p.npy", np.zeros((2, 2, 2), int))
    assert "but prompts have the shape [prompts, tokens], or [tokens] for one of them" in refusal("--generate=2", array)
    np.save(tmp_path / "p.npy", np.zeros((2, 0), int))
    assert "but a prompt needs at least one token" in refusal("--generate=2", array)
    assert ("'--generate' needs an output of logits, of shape [batch, tokens, vocabulary] and named 'scores', but the model has 'logits' "
            "of shape [4, 12, 61]") in refusal("--generate=2", given, "--outputs=scores")
    assert "--prompts" in refusal("--generate=2", "--prompts=missing.npy")
    with pytest.raises(CommandFailed) as error:
        execute([find_driver(), "predict", program.parents[2] / "model.onnx", "-o", tmp_path / "out", "--generate=2"])
    assert "--generate needs --prompts" in error.value.output


def test_other_models(tmp_path):
    """A model of pictures has no tokens to continue."""
    gpuopt.export(torch.nn.Linear(3, 4).eval(), torch.zeros(2, 3), tmp_path / "model.onnx", input_names=["x"])
    Trainer(tmp_path / "model.onnx", tmp_path / "program", OPTIMIZATION_FOR_ONE_STEP, inference=True, batch_size=BATCH)
    (tmp_path / "prompts.jsonl").write_text("[1]\n")
    with pytest.raises(CommandFailed) as error:
        execute([tmp_path / "program" / "build" / "predict", "--generate=2", f"--prompts={tmp_path / 'prompts.jsonl'}"])
    assert ("'--generate' needs a model whose inputs are tokens, integers of shape [batch, tokens], and, if it has them, 'attention_mask' "
            "and 'position_ids' of that shape, but this one has 'x' of shape [4, 3]") in error.value.output


def test_an_interrupt_leaves_nothing(program, tmp_path):
    np.save(tmp_path / "prompts.npy", np.ones((100000, 3), int))
    command = [program, "--generate=100000", f"--prompts={tmp_path / 'prompts.npy'}", "-o", tmp_path / "out"]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert "100000 prompts in batches of 4" in process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 1
    assert "interrupted after 0 of 100000 prompts; no results are written" in errors
    assert not list((tmp_path / "out").iterdir())

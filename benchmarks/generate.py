#!/usr/bin/env python3
"""Continues a text by gpuopt's predictor and by transformers, alternately, and
prints tokens per second and resident memory side by side.

usage: generate.py [--past 1023] [--prompt 1] [--tokens 100,900] [--rounds 3] [--threads 2]
                   [--work FOLDER] [--driver PATH] [--build-only | --built] [--without-torch]

The model is transformers' GPT-2 of 124 million random weights in float32, the
same on both sides. gpuopt's has a cache of keys and values for `--past`
tokens, which is compiled into it; transformers' `generate` has its default
cache, which grows, takes the likeliest token and stops at none. Each turn
continues a prompt of `--prompt` tokens by each count of `--tokens`. Neither
side's time includes the loading of weights.

--build-only makes the files and the program in the folder that --work names,
and measures nothing; --built runs what lies there. --without-torch leaves out
transformers' side, so that programs of two compilers can be compared.

`peak` is the resident memory of a process at its highest. That of transformers
includes Python, and the copy of the weights from which they come, if any.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python"), str(HERE.parent / "test" / "Integration")]

from trainers.programs import run

LAYERS, HEADS, WIDTH = 12, 12, 768
NAMES = [f"{layer}.{kind}" for layer in range(LAYERS) for kind in ("key", "value")]


def make_model(past: int):
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(n_positions=past + 1, n_layer=LAYERS, n_head=HEADS, n_embd=WIDTH)
    return GPT2LMHeadModel(config).eval()


def export(past: int, folder: pathlib.Path) -> None:
    import gpuopt
    import torch
    from transformers import DynamicCache

    class WithCache(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = make_model(past)

        def forward(self, input_ids, attention_mask, position_ids, *earlier):
            cache = DynamicCache()
            for layer in range(LAYERS):
                cache.update(earlier[2 * layer], earlier[2 * layer + 1], layer)
            output = self.model(input_ids, attention_mask=attention_mask, position_ids=position_ids, past_key_values=cache, use_cache=True)
            layers = output.past_key_values.layers
            return (output.logits, *(tensor for layer in layers for tensor in (layer.keys, layer.values)))

    inputs = {"input_ids": torch.zeros(2, 1, dtype=torch.int64), "attention_mask": torch.ones(2, past + 1, dtype=torch.int64),
              "position_ids": torch.zeros(2, 1, dtype=torch.int64)}
    inputs |= {f"past_key_values.{name}": torch.zeros(2, HEADS, past, WIDTH // HEADS) for name in NAMES}
    gpuopt.export(WithCache(), tuple(inputs.values()), folder / "model.onnx", input_names=list(inputs),
                  output_names=["logits", *(f"present.{name}" for name in NAMES)])


def build(options: argparse.Namespace, work: pathlib.Path) -> None:
    work.mkdir(parents=True, exist_ok=True)
    if not (work / "model.onnx").exists():
        export(options.past, work)
    program = work / "program"
    run(options.driver, "compile", work / "model.onnx", "-o", program, "--inference", "--target=host", "--batch-size=1")
    shutil.rmtree(program / "build", ignore_errors=True)
    run("cmake", "-S", program, "-B", program / "build")
    run("cmake", "--build", program / "build", "--target", "predict")


class Gpuopt:
    name = "gpuopt"

    def __init__(self, options: argparse.Namespace, work: pathlib.Path):
        self.threads, self.work, self.peak = options.threads, work, 0.0

    def generate(self, prompt: list[int], count: int) -> tuple[list[int], float]:
        """The tokens, and how many come in a second."""
        (self.work / "prompts.jsonl").write_text(json.dumps(prompt) + "\n")
        command = [self.work / "program" / "build" / "predict", f"--prompts={self.work / 'prompts.jsonl'}", f"--generate={count}",
                   f"--num-threads={self.threads}", f"--output-dir={self.work / 'out'}"]
        # What it prints fits into the pipe. Its own peak would be lost with it, and that of wait4 begins with ours.
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        while process.poll() is None:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            if found := re.search(r"VmHWM:\s+(\d+) kB", status):
                self.peak = max(self.peak, int(found[1]) / 1024)
            time.sleep(0.05)
        output = process.stdout.read()
        if process.returncode:
            raise RuntimeError(f"the predictor failed with status {process.returncode}:\n{output}")
        tokens = json.loads((self.work / "out" / "generated.jsonl").read_text())["tokens"]
        return tokens, float(re.search(r"([\d.]+) tokens/s", output)[1])


class Transformers:
    name = "transformers"

    def __init__(self, options: argparse.Namespace):
        import torch

        torch.set_num_threads(options.threads)
        self.torch, self.model = torch, make_model(options.past)
        self.generate([0], 3)  # the first tokens take longer

    @property
    def peak(self) -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def generate(self, prompt: list[int], count: int) -> tuple[list[int], float]:
        ids = self.torch.tensor([prompt])
        begin = time.perf_counter()
        text = self.model.generate(ids, attention_mask=self.torch.ones_like(ids), max_new_tokens=count, do_sample=False, use_cache=True,
                                   eos_token_id=None, pad_token_id=0)
        return text[0, len(prompt):].tolist(), count / (time.perf_counter() - begin)


def measure(options: argparse.Namespace, work: pathlib.Path) -> None:
    sides = [Gpuopt(options, work)] + ([] if options.without_torch else [Transformers(options)])
    prompt = [464 + 7 * i for i in range(options.prompt)]
    print(f"{'tokens':>6} {'side':<12} {'tokens/s':>8} {'ratio':>6}  {'in turn':<30} {'peak MiB':>8}", flush=True)
    for count in map(int, options.tokens.split(",")):
        turns: list[list[float]] = [[] for _ in sides]
        texts: list[list[int]] = [[] for _ in sides]
        for _ in range(options.rounds):
            for index, side in enumerate(sides):
                texts[index], speed = side.generate(prompt, count)
                turns[index].append(speed)
        medians = [statistics.median(speeds) for speeds in turns]
        for side, speeds, median in zip(sides, turns, medians):
            in_turn = ", ".join(f"{speed:.1f}" for speed in speeds)
            print(f"{count:>6} {side.name:<12} {median:8.1f} {median / medians[-1]:6.2f}  {in_turn:<30} {side.peak:8.0f}", flush=True)
        # A token whose logits differ by rounding alone may be another one, and then all behind it are.
        same = next((i for i, tokens in enumerate(zip(*texts)) if len(set(tokens)) > 1), count)
        print(f"{'':>6} the first {same} of {count} tokens are the same", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--past", type=int, default=1023)
    parser.add_argument("--prompt", type=int, default=1)
    parser.add_argument("--tokens", default="100,900")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--driver", default=str(HERE.parent / "build" / "bin" / "gpuopt"))
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--built", action="store_true")
    parser.add_argument("--without-torch", action="store_true")
    options = parser.parse_args()
    if (options.build_only or options.built) and not options.work:
        parser.error("--build-only and --built want --work, the folder in which the program is built")
    with tempfile.TemporaryDirectory(prefix="gpuopt-generate-") as scratch:
        work = options.work or pathlib.Path(scratch)
        if not options.built:
            build(options, work)
        if not options.build_only:
            measure(options, work)


if __name__ == "__main__":
    main()

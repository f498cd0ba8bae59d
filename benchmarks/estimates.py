"""What a training step takes by the compiler's own estimates, with everything
kept: time, bytes that kernels and calls read and write, and launches.

usage: benchmarks/estimates.py [--device h200] [--models gpt2,bert,...] [--precisions fp16,bf16] [--attention fused]
                               [--kernels N] [--layers]

Exports each model once into build/benchmarks/models. Reads no clock: the same
numbers come out on every machine. --kernels lists the N kernels and calls of
each model that take the most time. --layers prints what a layer of a
transformer takes, which is what a model with one layer more takes more: its
launches and what makes them, the launches beside all layers, and the bytes of
what is neither product, attention nor update, in tokens x width x 2 bytes.
"""

import argparse
import json
import subprocess

import budgets
import models
import torch
import transformers
from gpuopt.driver import find_driver

# What budgets.py does not have at this size: how to make it, and the batch.
budgets.MODELS |= {
    "vit": (lambda: models.images(VisionTransformer(), 224, 1000, 2), 128),
    "unet-256": (lambda: models.images(models.UNet(3, 2, 64, 4), 256, 2, 2, dense=True), 16),
}
BATCHES = {"gpt2": 64, "bert": 64, "vit": 128, "resnet50": 256, "unet-256": 16}


# Transformers: layers, and tokens x width of a sample. LESS is how to make one
# with a layer less.
LAYERS = {"gpt2": (12, 1024 * 768), "bert": (12, 128 * 768)}
LESS = {
    "gpt2": lambda: models.gpt2(11, 768, 12, 50257, 1024, 1024, 2),
    "bert": lambda: models.bert(11, 768, 12, 30522, 128, 4),
}
budgets.MODELS |= {f"{name}-less": (make, BATCHES[name]) for name, make in LESS.items()}
BATCHES |= {f"{name}-less": BATCHES[name] for name in LESS}
# Calls whose bytes are not those of passes over activations.
NOT_PASSES = ("gemm", "attention", "grad_norm", "adamw", "scatter_add_rows")


class VisionTransformer(torch.nn.Module):
    """ViT-B/16 of transformers, on inputs called x."""

    def __init__(self):
        super().__init__()
        config = transformers.ViTConfig(num_labels=1000, attn_implementation="eager")
        self.model = transformers.ViTForImageClassification(config)

    def forward(self, x):
        return self.model(pixel_values=x).logits


def plan(model: str, device: str, precision: str, attention: str) -> dict:
    command = [find_driver(), "plan", str(budgets.export(model)), f"--batch-size={BATCHES[model]}", "--target=cuda",
               f"--device={device}", f"--precision={precision}", f"--attention={attention}", "--kernels", "--json"]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(run.stderr)
    return json.loads(run.stdout)


def launches_of(report: dict) -> dict[str, int]:
    return {kernel["name"]: kernel["launches"] for kernel in report["kernels"]}


def bytes_of_passes(report: dict) -> float:
    return sum(kernel["bytes"] for kernel in report["kernels"] if not kernel["name"].startswith(NOT_PASSES))


def print_layer(model: str, report: dict, options: argparse.Namespace, precision: str) -> None:
    layers, elements = LAYERS[model]
    less = plan(f"{model}-less", options.device, precision, options.attention)
    all_of, of_less = launches_of(report), launches_of(less)
    own = {name: count - of_less.get(name, 0) for name, count in all_of.items()}
    per_layer, total = sum(all_of.values()) - sum(of_less.values()), sum(all_of.values())
    unit = elements * BATCHES[model] * 2
    print(f"    {per_layer} launches a layer, {total - layers * per_layer} beside the {layers} layers; "
          f"{(bytes_of_passes(report) - bytes_of_passes(less)) / unit:.1f} u a layer")
    print("    a layer:", ", ".join(f"{count} {name}" for name, count in own.items() if count))
    beside = {name: count - layers * own[name] for name, count in all_of.items()}
    print("    beside:", ", ".join(f"{count} {name}" for name, count in beside.items() if count))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="h200")
    parser.add_argument("--models", default=",".join(name for name in BATCHES if not name.endswith("-less")))
    parser.add_argument("--precisions", default="fp16,bf16")
    parser.add_argument("--attention", default="fused")
    parser.add_argument("--kernels", type=int, default=0)
    parser.add_argument("--layers", action="store_true")
    options = parser.parse_args()
    print("| model | batch | precision | step, ms | GB | launches |")
    print("|---|---|---|---|---|---|")
    for model in options.models.split(","):
        for precision in options.precisions.split(","):
            report = plan(model, options.device, precision, options.attention)
            kernels = report["kernels"]
            print(f"| {model} | {BATCHES[model]} | {precision} | {report['step_ms']:.1f} "
                  f"| {sum(kernel['bytes'] for kernel in kernels) / 1e9:.1f} "
                  f"| {sum(kernel['launches'] for kernel in kernels)} |", flush=True)
            if options.layers and model in LAYERS:
                print_layer(model, report, options, precision)
            for kernel in kernels[: options.kernels]:
                print(f"    {kernel['name']:<48}{kernel['launches']:6}{kernel['ms']:10.3f} ms"
                      f"{kernel['instructions_per_byte']:8.1f} instr./byte{kernel['bandwidth_percent']:6.0f} %")


if __name__ == "__main__":
    main()

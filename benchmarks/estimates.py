"""What a training step takes by the compiler's own estimates, with everything
kept: time, bytes that kernels and calls read and write, and launches.

usage: benchmarks/estimates.py [--device h200] [--models gpt2,bert,...] [--precisions fp16,bf16] [--attention fused]
                               [--kernels N]

Exports each model once into build/benchmarks/models. Reads no clock: the same
numbers come out on every machine. --kernels lists the N kernels and calls of
each model that take the most time.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="h200")
    parser.add_argument("--models", default=",".join(BATCHES))
    parser.add_argument("--precisions", default="fp16,bf16")
    parser.add_argument("--attention", default="fused")
    parser.add_argument("--kernels", type=int, default=0)
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
            for kernel in kernels[: options.kernels]:
                print(f"    {kernel['name']:<48}{kernel['launches']:6}{kernel['ms']:10.3f} ms"
                      f"{kernel['instructions_per_byte']:8.1f} instr./byte{kernel['bandwidth_percent']:6.0f} %")


if __name__ == "__main__":
    main()

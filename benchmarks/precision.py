"""Estimated times of the training step in fp32, by the cut, and by PyTorch's
autocast lists; the arena's size in fp32 and by the cut.

usage: precision.py [MODEL...]
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test/Integration")]

import gpuopt  # noqa: E402
import models  # noqa: E402
from gpuopt.driver import find_driver  # noqa: E402

MODELS = {"gpt2-small": 64, "bert-small": 64, "resnet18": 64, "resnet50": 64, "unet": 16}
DEVICE = "h200"


def compile_model(model: Path, folder: Path, batch: int, precision: str) -> dict:
    """Bytes of the arena and estimates in microseconds."""
    command = [find_driver(), "compile", model, "-o", folder, "--target=host", f"--device={DEVICE}",
               f"--batch-size={batch}", f"--precision={precision}"]
    output = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stderr
    result = {"arena": json.loads((folder / "plan.json").read_text())["arena_bytes"]}
    if found := re.search(r"estimated ([\d.]+) ms instead of ([\d.]+) in fp32; PyTorch's autocast lists would give ([\d.]+)", output):
        result |= dict(zip(("chosen", "fp32", "autocast"), (1000 * float(ms) for ms in found.groups())))
    return result


def main() -> None:
    print("| model | batch | fp32 | autocast's lists | the cut | arena, of fp32's |\n|---|---|---|---|---|---|")
    for name in sys.argv[1:] or MODELS:
        case, batch = models.make(name), MODELS.get(name, 8)
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "model.onnx"
            gpuopt.export(case.module, case.example_inputs(), model, output_names=["logits"])
            full = compile_model(model, Path(folder) / "fp32", batch, "fp32")
            half = compile_model(model, Path(folder) / "fp16", batch, "fp16")
        print(f"| {name} | {batch} | {half['fp32']:.0f} | {half['autocast']:.0f} | {half['chosen']:.0f} "
              f"| {half['arena'] / full['arena']:.3f} |", flush=True)


if __name__ == "__main__":
    main()

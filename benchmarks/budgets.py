"""What memory budgets cost, by the compiler's own estimates: the arena as a
fraction of the one without a budget, the added time and its proven bound.

usage: benchmarks/budgets.py [--device h200] [--models gpt2,gpt2-48,...]

Exports each model once into build/benchmarks/models. Reads no clock: the same
numbers come out on every machine.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

import gpuopt
import models
from gpuopt.driver import find_driver

# Name: (how to make it, batch size).
MODELS = {
    "gpt2": (lambda: models.gpt2(12, 768, 12, 50257, 1024, 1024, 2), 64),
    "gpt2-48": (lambda: models.gpt2(48, 768, 12, 50257, 1024, 1024, 2), 64),
    "bert": (lambda: models.make("bert"), 64),
    "resnet50": (lambda: models.make("resnet50"), 64),
    "unet": (lambda: models.make("unet"), 16),
}
FRACTIONS = [1, 0.75, 0.5, 0.375, 0.25, 0.1875, 0.125]


def export(name: str) -> Path:
    path = ROOT / "build" / "benchmarks" / "models" / f"{name}.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        case = MODELS[name][0]()
        gpuopt.export(case.module, case.example_inputs(), path, output_names=["logits"])
    return path


def plan(model: Path, batch: int, device: str, *flags: str) -> dict | None:
    """The report, or None where the budget cannot be met."""
    command = [find_driver(), "plan", str(model), f"--batch-size={batch}", f"--device={device}", "--json", *flags]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode not in (0, 2):
        raise SystemExit(run.stderr)
    return json.loads(run.stdout)["memory"] if run.returncode == 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="h200")
    parser.add_argument("--models", default=",".join(MODELS))
    options = parser.parse_args()
    print("| model | batch | whole logits | " + " | ".join(f"{fraction:g}" for fraction in FRACTIONS) + " |")
    print("|---|---|---|" + "---|" * len(FRACTIONS))
    for name in options.models.split(","):
        model, batch = export(name), MODELS[name][1]
        # Everything kept, the logits in one piece.
        base = plan(model, batch, options.device, "--loss-chunks=1")["arena_bytes"]
        cells = []
        for fraction in FRACTIONS:
            memory = plan(model, batch, options.device, f"--activation-budget={int(base * fraction)}B")
            cells.append(f"{memory['added_percent']:.2f} ({memory['lower_bound_percent']:.2f})" if memory else "–")
        print(f"| {name} | {batch} | {base / 2**30:.2f} GiB | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

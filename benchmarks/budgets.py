"""What memory budgets cost, by the compiler's own estimates: the arena as a
fraction of the one without a budget, the added time and its proven bound.

usage: benchmarks/budgets.py [--device h200] [--models gpt2,gpt2-48,...] [--precision fp32] [--attention fused]
                             [--fractions 0.25,0.125]

Exports each model once into build/benchmarks/models. Reads no clock: the same
numbers come out on every machine. In half precision the budget decides what is
in it, too: the added time is then over the step without a budget.
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
    if run.returncode != 0:
        return None
    report = json.loads(run.stdout)
    return report["memory"] | {"step_ms": report["step_ms"]}


def cell(memory: dict | None, plain: dict, precision: str) -> str:
    if memory is None:
        return "–"
    if precision == "fp32":
        return f"{memory['added_percent']:.2f} ({memory['lower_bound_percent']:.2f})"
    return f"{100 * (memory['step_ms'] / plain['step_ms'] - 1):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="h200")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--attention", default="fused")
    parser.add_argument("--fractions", type=lambda text: [float(part) for part in text.split(",")], default=FRACTIONS)
    options = parser.parse_args()
    print("| model | batch | whole logits | " + " | ".join(f"{fraction:g}" for fraction in options.fractions) + " |")
    print("|---|---|---|" + "---|" * len(options.fractions))
    for name in options.models.split(","):
        model, batch = export(name), MODELS[name][1]
        # Everything kept, the logits in one piece.
        flags = [f"--precision={options.precision}", f"--attention={options.attention}"]
        plain = plan(model, batch, options.device, *flags, "--loss-chunks=1")
        base = plain["arena_bytes"]
        cells = []
        for fraction in options.fractions:
            memory = plan(model, batch, options.device, *flags, f"--activation-budget={int(base * fraction)}B")
            cells.append(cell(memory, plain, options.precision))
        print(f"| {name} | {batch} | {base / 2**30:.2f} GiB | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

"""Trains every model of zoo.py and prints docs/models.md.

usage: zoo_table.py FOLDER [MODEL...]   FOLDER keeps results: what is there is not run again
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

import onnx

import parity
import zoo

HEADER = """# Models that were trained

Small models of these kinds, with random weights, exported by `gpuopt.export` with its defaults and trained in single precision on
the host, beside PyTorch. *Converts*: the file, of as many ONNX nodes, compiles to a program. Then relative errors: of the
loss at the first step; of the gradient that is furthest off at that step (of its norm, plus a thousandth of all gradients'
norm); of the loss after {steps} steps of AdamW. Within 1e-5, 1e-4 and 1e-3 there is parity.

Measured on {machine} by

<!-- not run: it trains all models, which test_zoo.py does -->
```sh
PYTHONPATH=python build/venv/bin/python test/Integration/zoo_table.py build/zoo > docs/models.md
```

test/Integration/zoo.py has each model's configuration. [converted-models.md](converted-models.md) lists more models, which
were converted but not all trained.

| model | nodes | converts | first loss | gradient | loss after {steps} steps | parity |
|---|---|---|---|---|---|---|
"""


def run(name: str, folder: Path) -> dict:
    """What came of a model."""
    case = zoo.make(name)
    result = {}
    try:
        found = parity.measure(case, folder)
        result |= dataclasses.asdict(found) | {"holds": found.holds()}
    except Exception as error:  # what an exporter raises is not known
        result["error"] = f"{type(error).__name__}: {error}"[:2000]
    if (folder / "model.onnx").exists():
        result["nodes"] = len(onnx.load(folder / "model.onnx", load_external_data=False).graph.node)
    return result


def result_of(name: str, folder: Path) -> dict:
    file = folder / f"{name}.json"
    if not file.exists():
        work = folder / name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        file.write_text(json.dumps(run(name, work)) + "\n")
        shutil.rmtree(work)
    return json.loads(file.read_text())


def row(name: str, result: dict) -> str:
    if "error" in result:
        return f"| {name} | {result.get('nodes', '-')} | no | - | - | - | - |"
    errors = [f"{result[key]:.0e}" for key in ("loss", "gradient", "final_loss")]
    return f"| {name} | {result['nodes']} | yes | {' | '.join(errors)} | {'yes' if result['holds'] else 'no'} |"


def machine() -> str:
    with contextlib.suppress(OSError, IndexError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
        return f"{os.cpu_count()} cores of {model}"
    return platform.machine()


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    results = {}
    for name in sys.argv[2:] or zoo.MODELS:
        results[name] = result_of(name, folder)
        print(name, results[name], file=sys.stderr, flush=True)
    print(HEADER.format(steps=parity.STEPS, machine=machine()), end="")
    print("\n".join(row(name, result) for name, result in results.items()))


if __name__ == "__main__":
    main()

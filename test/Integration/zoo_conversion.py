"""Exports and compiles every model of the wide zoo and prints docs/converted-models.md.

usage: zoo_conversion.py [--part I/N] [--train | --rounding] FOLDER [MODEL...]   FOLDER keeps results: what is there is not run again

With --train, models are also trained beside PyTorch, which takes 10 to 60 seconds each.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

import gpuopt
import onnx
import parity
import torch
import zoo_generative
import zoo_plain
import zoo_text
import zoo_vision
from gpuopt.driver import find_driver
from models import Case

# By family, then by name.
FAMILIES: dict[str, dict[str, Callable[[], Case]]] = {}
for _part in (zoo_text, zoo_vision, zoo_plain, zoo_generative):
    for _family, _models in _part.FAMILIES.items():
        FAMILIES.setdefault(_family, {}).update(_models)
MODELS = {name: make for models in FAMILIES.values() for name, make in models.items()}

# Rounding to single precision alone moves PyTorch's gradients of these further than parity allows.
IN_DOUBLE = ["timm-convmixer", "timm-starnet"]

HEADER = """# Models that convert

Small models with random weights, of transformers, of timm and of plain torch.nn, beside those of [models.md](models.md).
Each was exported by `gpuopt.export` with its defaults, and the file, of as many ONNX nodes, compiled to a program of a
training step. *Parity* is that of models.md for those that were trained as well, and a dash for the others, which
`scripts/test.sh --full` trains.

Written by

<!-- not run: it exports all models -->
```sh
PYTHONPATH=python build/venv/bin/python test/Integration/zoo_conversion.py build/zoo > docs/converted-models.md
```

With `--train` and names of models it trains these first.

timm-convmixer, of which the first step alone was compared, and timm-starnet are compared in double precision, since
rounding is amplified in them. At the first step, PyTorch's own gradients in single precision are 0.109 off those in
double in timm-convmixer, 32 layers with batch norms of 4 samples, and 1.0e-4 in timm-starnet, where the gradient of a
bias before a batch norm is 0 in exact arithmetic. In double precision, a change of timm-convmixer's inputs by 1e-7
changes them by 0.057. Ours agree in double precision to 7e-12 and 2e-12. On an AMD EPYC, 2 cores of a virtual machine,
2026-11-26, PyTorch's figures are printed by

<!-- not run: it trains large models -->
```sh
PYTHONPATH=python build/venv/bin/python test/Integration/zoo_conversion.py --rounding build/zoo timm-convmixer timm-starnet
```

Left out are four models that PyTorch's exporter refuses: DeepSeek-V2 (complex numbers), Phimoe, Nystromformer and
EfficientNet of transformers.

"""


def make(name: str) -> Case:
    """The case `name`, the same weights every time, in training mode."""
    torch.manual_seed(1)
    case = MODELS[name]()
    case.module.train()
    return case


def make_trained(name: str) -> Case:
    """The case as it is compared with PyTorch."""
    return parity.in_double(make(name)) if name in IN_DOUBLE else make(name)


def convert(name: str, folder: Path) -> dict:
    """How many nodes the file has, or which step failed, and why."""
    model = folder / "model.onnx"
    try:
        case = make(name)
        gpuopt.export(case.module, case.example_inputs(), model, input_names=list(case.inputs), output_names=["logits"])
    except Exception as error:  # what PyTorch and its exporter raise is not known
        return {"step": "export", "error": f"{type(error).__name__}: {error}"[:2000]}
    nodes = len(onnx.load(model, load_external_data=False).graph.node)
    done = subprocess.run([find_driver(), "compile", model, "-o", folder / "program", f"--batch-size={case.batch}", f"--loss={case.loss}",
                           "--target=host"], capture_output=True, text=True)
    if done.returncode:
        return {"step": "compile", "nodes": nodes, "error": done.stderr[-2000:]}
    return {"nodes": nodes}


def train(name: str, folder: Path) -> dict:
    """Whether there is parity, and the errors."""
    try:
        found = parity.measure(make_trained(name), folder)
    except Exception as error:  # of an exporter, a compiler or a trainer
        return {"holds": False, "error": f"{type(error).__name__}: {error}"[:2000]}
    return {"holds": bool(found.holds()), **dataclasses.asdict(found)}


def result_of(name: str, folder: Path, trains: bool) -> dict:
    def kept(file: Path, compute: Callable[[str, Path], dict], may_compute=True) -> dict:
        if not file.exists() and may_compute:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory() as work:
                file.write_text(json.dumps(compute(name, Path(work))) + "\n")
        return json.loads(file.read_text()) if file.exists() else {}

    result = kept(folder / f"{name}.converted.json", convert)
    return result | {"parity": kept(folder / f"{name}.trained.json", train, trains)}


def table(results: dict[str, dict]) -> str:
    exported = {name: result for name, result in results.items() if result.get("step") != "export"}
    converted = [name for name, result in exported.items() if "step" not in result]
    trained = [result["parity"]["holds"] for result in results.values() if result["parity"]]
    text = (f"Of {len(results)} models PyTorch's exporter writes {len(exported)}; {len(converted)} of these convert. {len(trained)} were "
            f"trained, of which {sum(trained)} are at parity.\n\n"
            "| family | model | nodes | converts | parity |\n|---|---|---|---|---|\n")
    for family, models in FAMILIES.items():
        for name in models:
            if name in results:
                result = results[name]
                says = {"export": "not exported", "compile": "no"}.get(result.get("step"), "yes")
                holds = {True: "yes", False: "no", None: "-"}[result["parity"].get("holds")]
                text += f"| {family} | {name} | {result.get('nodes', '-')} | {says} | {holds} |\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="the I-th of N parts of the models")
    parser.add_argument("--train", action="store_true", help="train them as well")
    parser.add_argument("--rounding", action="store_true", help="print how far PyTorch's own gradients are from exact ones, and no page")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    index, count = map(int, options.part.split("/"))
    names = (options.models or list(MODELS))[index - 1 :: count]
    if options.rounding:
        for name in names:
            print(name, "in single precision:", *parity.rounding(make(name)))
            print(name, "in double precision, of inputs changed by 1e-7:", *parity.rounding(make(name), 1e-7))
        return
    results = {}
    for name in names:
        results[name] = result_of(name, options.folder, options.train)
        print(name, results[name], file=sys.stderr, flush=True)
    print(HEADER + table(results), end="")


if __name__ == "__main__":
    main()

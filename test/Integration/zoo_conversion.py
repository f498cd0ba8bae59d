"""Exports and compiles every model of the wide zoo and prints docs/converted-models.md.

usage: zoo_conversion.py [--part I/N] [--train [--single] | --rounding] FOLDER [MODEL...]

FOLDER keeps results: what is there is not run again.

With --train, models are also trained beside PyTorch, those of fewest nodes first, which takes 10 to 60 seconds each. A model that
takes longer than --limit seconds is left out until the limit is larger, and none is begun after --within seconds: the next call goes
on there.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import signal
import subprocess
import sys
import tempfile
import time
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

# Rounding to single precision alone moves PyTorch's gradients of these, or their loss after some steps, further than parity allows.
IN_DOUBLE = ["mobilenet-v1", "mobilenet-v2", "mobilevit-segmentation", "timm-convmixer", "timm-hrnet", "timm-repvgg", "timm-starnet"]

HEADER = """# Models that convert

Small models with random weights, of transformers, of timm and of plain torch.nn, beside those of [models.md](models.md).
Each was exported by `gpuopt.export` with its defaults, and the file, of as many ONNX nodes, compiled to a program of a
training step. *Parity* is that of models.md for those that were trained as well, and a dash for the others. All are
trained by `scripts/test.sh --full`.

Written by

<!-- not run: it exports all models -->
```sh
PYTHONPATH=python build/venv/bin/python test/Integration/zoo_conversion.py build/zoo > docs/converted-models.md
```

With `--train` it trains first what has not been trained, small models before large ones; `--within SECONDS` stops it
there, and the next call goes on.

What was compared is what models.md describes: the loss and all gradients of the first step, and the loss after 20 steps
of AdamW.

Seven models are to be compared in double precision, since rounding is amplified in them, as by batch norms of few
numbers. In timm-starnet the gradient of a bias before a batch norm is 0 in exact arithmetic, and in
mobilevit-segmentation that of a bias is so nearly: it is a sum whose terms are 500,000 times as large. In PyTorch's own
training, this is how far the gradients of the first step in single precision are from those in double; how far those in
double move when inputs are changed by 1e-7; and where the first is little, how far the loss after 20 steps is:

| model | gradients in single precision | of changed inputs | loss after 20 steps |
|---|---|---|---|
| mobilenet-v1 | 1.8e-5 | 2.1e-5 | 0.048 |
| mobilenet-v2 | 1.3e-4 | 1.4e-4 | |
| mobilevit-segmentation | 0.0099 | 3.1e-7 | |
| timm-convmixer | 3.8e-3 | 6.1e-6 | |
| timm-hrnet | 5.8e-6 | 0.0097 | 1.5e-3 |
| timm-repvgg | 0.011 | 0.011 | |
| timm-starnet | 1.0e-4 | 2.3e-7 | |

On an AMD EPYC, 2 cores of a virtual machine, 2026-11-26, these are printed by

<!-- not run: it trains large models -->
```sh
PYTHONPATH=python build/venv/bin/python test/Integration/zoo_conversion.py --rounding build/zoo NAME...
```

ConvMixer has 16 layers here. With 32 layers of the same width, PyTorch's own loss in double precision is off by 0.03
within 20 steps when inputs are changed by 1e-15. Of timm's convmixer_768_32, which has 32, the first step was compared,
in double precision: all gradients agree to 7e-12.

`--train --single` compares these in single precision instead. Such a result is marked *single* below. One that misses
parity may do so by rounding alone, but counts as not at parity until there is one in double precision.

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


class OutOfTime(BaseException):
    """No Exception, so that nothing that is called takes it for an error of its own."""


def train(name: str, folder: Path, make_case: Callable[[str], Case], limit: int) -> dict:
    """Whether there is parity, and the errors; that it took longer than the limit, in seconds, if it has one."""

    def stop(number, frame):
        raise OutOfTime

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(limit)
    try:
        found = parity.measure(make_case(name), folder)
    except OutOfTime:
        return {"stopped_after": limit}
    except Exception as error:  # of an exporter, a compiler or a trainer
        return {"holds": False, "error": f"{type(error).__name__}: {error}"[:2000]}
    finally:
        signal.alarm(0)
    return {"holds": bool(found.holds()), **dataclasses.asdict(found)}


def kept(file: Path) -> dict:
    return json.loads(file.read_text()) if file.exists() else {}


def result_of(name: str, folder: Path, limit: int | None, in_single: bool = False) -> dict:
    """What the folder has of a model; what it has not is found out. Without a limit it is not trained. What is to be compared in double
    precision is compared in single precision on request; that counts until the other has been done."""

    def keep(file: Path, compute: Callable[..., dict], *arguments) -> dict:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as work:
            found = compute(name, Path(work), *arguments)
        file.write_text(json.dumps(found) + "\n")
        return found

    converted, trained, single = (folder / f"{name}.{kind}.json" for kind in ("converted", "trained", "single"))
    file, make_case = (single, make) if in_single and name in IN_DOUBLE else (trained, make_trained)
    result, found = kept(converted) or keep(converted, convert), kept(file)
    wanted = limit is not None and "step" not in result and "holds" not in found
    if wanted and (limit == 0 or limit > found.get("stopped_after", 0) or not found):
        keep(file, train, make_case, limit)
    compared, other = kept(trained), kept(single)
    if "holds" not in compared and "holds" in other:
        compared = other | {"in_single": True}
    return result | {"parity": compared}


def in_single_alone(results: dict[str, dict]) -> str:
    """Tells which models missed parity in single precision, and by how much, that have not been compared in double precision."""
    missed = {name: result["parity"] for name, result in results.items()
              if result["parity"].get("in_single") and not result["parity"]["holds"]}
    if not missed:
        return ""
    told = [f"{name}, {found['error']}" if "error" in found else
            f"{name}, whose gradients are off by {found['gradient']:.2g} and the loss after {parity.STEPS} steps by "
            f"{found['final_loss']:.2g}" for name, found in missed.items()]
    return "Not at parity in single precision, and not compared in double precision: " + "; ".join(told) + ".\n\n"


def table(results: dict[str, dict]) -> str:
    exported = {name: result for name, result in results.items() if result.get("step") != "export"}
    converted = [name for name, result in exported.items() if "step" not in result]
    trained = [result["parity"]["holds"] for result in results.values() if "holds" in result["parity"]]
    text = (f"Of {len(results)} models PyTorch's exporter writes {len(exported)}; {len(converted)} of these convert. {len(trained)} were "
            f"trained, of which {sum(trained)} are at parity.\n\n" + in_single_alone(results) +
            "| family | model | nodes | converts | parity |\n|---|---|---|---|---|\n")
    for family, models in FAMILIES.items():
        for name in models:
            if name in results:
                result = results[name]
                says = {"export": "not exported", "compile": "no"}.get(result.get("step"), "yes")
                holds = {True: "yes", False: "no", None: "-"}[result["parity"].get("holds")]
                where = " (single)" if result["parity"].get("in_single") else ""
                text += f"| {family} | {name} | {result.get('nodes', '-')} | {says} | {holds}{where} |\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="the I-th of N parts of the models")
    parser.add_argument("--train", action="store_true", help="train them as well")
    parser.add_argument("--limit", type=int, default=0, metavar="SECONDS", help="of the training of one model; 0 is none")
    parser.add_argument("--within", type=float, default=float("inf"), metavar="SECONDS", help="begin no model later")
    parser.add_argument("--single", action="store_true", help="train in single precision what is to be compared in double precision")
    parser.add_argument("--rounding", action="store_true", help="print how far PyTorch's own gradients are from exact ones, and no page")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    index, count = map(int, options.part.split("/"))
    names = (options.models or list(MODELS))[index - 1 :: count]
    if options.rounding:
        for name in names:
            found = parity.rounding(make(name))
            print(name, "in single precision:", *found)
            print(name, "in double precision, of inputs changed by 1e-7:", *parity.rounding(make(name), 1e-7))
            if found[0] <= parity.LARGEST_GRADIENT / 2:  # else that is reason enough
                print(name, "in single precision, loss after", parity.STEPS, "steps:", parity.drift(make(name)))
        return
    if options.train:
        names.sort(key=lambda name: kept(options.folder / f"{name}.converted.json").get("nodes", 0))
    results, begin = {}, time.monotonic()
    for name in names:
        if time.monotonic() - begin > options.within:
            sys.exit(f"stopped before {name}, after {options.within:g} s: the next call goes on there")
        results[name] = result_of(name, options.folder, options.limit if options.train else None, options.single)
        print(name, results[name], file=sys.stderr, flush=True)
    print(HEADER + table(results), end="")


if __name__ == "__main__":
    main()

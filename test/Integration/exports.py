"""The files of the models of models.py, each exported once in a run of the tests."""

from __future__ import annotations

import os
from pathlib import Path

import gpuopt
import models


def export_case(name: str, path: Path) -> models.Case:
    """Makes the case `name` and gives its file the name `path`."""
    case = models.make(name)
    kept = Path(os.environ["GPUOPT_TEST_EXPORTS"]) / f"{name}.onnx"
    if not kept.exists():
        unfinished = kept.with_suffix(f".{os.getpid()}.onnx")
        gpuopt.export(case.module, case.example_inputs(), unfinished, output_names=["logits"])
        os.replace(unfinished, kept)  # of two workers' files either is right
    os.link(kept, path)
    return case

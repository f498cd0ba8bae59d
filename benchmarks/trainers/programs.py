"""Programs that gpuopt makes of the models of cases.py."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import subprocess
import time

import numpy as np

import gpuopt
from trainers import cases


@dataclasses.dataclass
class Program:
    folder: pathlib.Path
    data: dict[str, pathlib.Path]
    labels: pathlib.Path
    seconds: tuple[float, float]  # of gpuopt compile, and of the C++ compiler


def run(*command) -> float:
    """Runs a command; how many seconds it took."""
    begin = time.monotonic()
    command = [str(part) for part in command]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{result.stdout}")
    return time.monotonic() - begin


def export(model: str, work: pathlib.Path) -> pathlib.Path:
    """The model's folder with model.onnx and its data, once for all variants."""
    folder = work / model
    if (folder / "model.onnx").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    case = cases.make(model)
    for name, array in {**case.inputs, "labels": case.labels}.items():
        np.save(folder / f"{name}.npy", array)
    unfinished = folder / "unfinished.onnx"
    gpuopt.export(case.module, case.example_inputs(), unfinished, output_names=["logits"])
    os.rename(unfinished, folder / "model.onnx")
    return folder


def batch_of(folder: pathlib.Path, model: str) -> int:
    file = folder / "batch"
    if not file.exists():
        file.write_text(str(cases.make(model).batch))
    return int(file.read_text())


def prepare(model: str, work: pathlib.Path, driver: str, name: str, flags: list[str]) -> Program:
    """Compiles and builds a trainer."""
    exported = export(model, work)
    folder = work / f"{model}-{name}"
    compile_seconds = run(
        driver, "compile", exported / "model.onnx", "-o", folder, "--target=host",
        f"--batch-size={batch_of(exported, model)}", *flags,
    )
    shutil.rmtree(folder / "build", ignore_errors=True)
    run("cmake", "-S", folder, "-B", folder / "build")
    build_seconds = run("cmake", "--build", folder / "build")
    (folder / "seconds").write_text(f"{compile_seconds} {build_seconds}")
    return built(model, work, name)


def built(model: str, work: pathlib.Path, name: str) -> Program:
    """The trainer that `prepare` has built."""
    exported, folder = work / model, work / f"{model}-{name}"
    if not (folder / "build" / "trainer").exists():
        raise FileNotFoundError(f"'{folder}' has no trainer: build it by --build-only")
    data = {file.stem: file for file in exported.glob("*.npy") if file.stem != "labels"}
    compile_seconds, build_seconds = map(float, (folder / "seconds").read_text().split())
    return Program(folder, data, exported / "labels.npy", (compile_seconds, build_seconds))

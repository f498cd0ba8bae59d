"""The command-line driver, from Python."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def find_driver() -> str:
    """The ``gpuopt`` executable: ``$GPUOPT``, the PATH, or the build tree."""
    named = os.environ.get("GPUOPT")
    if named:
        return named
    found = shutil.which("gpuopt")
    if found:
        return found
    built = Path(__file__).resolve().parents[2] / "build" / "bin" / "gpuopt"
    if built.exists():
        return str(built)
    raise FileNotFoundError("gpuopt is neither on the PATH nor in build/bin; set GPUOPT to the executable")


def _arguments(flags: dict) -> list[str]:
    """``learning_rate=0.1`` as ``--learning-rate=0.1``, ``shuffle=False`` as
    ``--no-shuffle``; a dict repeats its flag with KEY=VALUE."""
    arguments = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(flag)
        elif value is False:
            arguments.append("--no-" + flag[2:])
        elif isinstance(value, dict):
            arguments += [f"{flag}={key}={entry}" for key, entry in value.items()]
        elif value is not None:
            arguments.append(f"{flag}={value}")
    return arguments


def compile(model: str, output_dir: str, **flags) -> None:
    """``gpuopt compile``: writes the trainer's sources to ``output_dir``.

    Raises:
      subprocess.CalledProcessError: with the driver's message in ``stderr``.
    """
    command = [find_driver(), "compile", str(model), "-o", str(output_dir), *_arguments(flags)]
    subprocess.run(command, check=True)


def train(model: str, output_dir: str, **flags) -> None:
    """``gpuopt train``: compiles, builds and runs; the results lie in ``output_dir``."""
    command = [find_driver(), "train", str(model), "-o", str(output_dir), *_arguments(flags)]
    subprocess.run(command, check=True)

"""The command-line driver, from Python."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Mapping


class DriverError(RuntimeError):
    """The driver refused or failed; the message is what it said."""


def find_driver() -> str:
    """The ``gpuopt`` executable: ``$GPUOPT``, the PATH, or the build tree of
    the checkout that this package lies in."""
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


def arguments(flags: Mapping[str, Any]) -> list[str]:
    """The command line of keyword flags.

    ``learning_rate=0.1`` is ``--learning-rate=0.1``, ``shuffle=False`` is
    ``--no-shuffle``; a mapping repeats its flag with KEY=VALUE, a list with
    each entry; None leaves the flag out.
    """
    result = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            result.append(flag)
        elif value is False:
            result.append("--no-" + flag[2:])
        elif isinstance(value, Mapping):
            result += [f"{flag}={key}={entry}" for key, entry in value.items()]
        elif isinstance(value, (list, tuple)):
            result += [f"{flag}={entry}" for entry in value]
        elif value is not None:
            result.append(f"{flag}={value}")
    return result


def _run(command: str, model: Any, output_dir: Any, flags: Mapping[str, Any]) -> None:
    line = [find_driver(), command, os.fspath(model), "-o", os.fspath(output_dir), *arguments(flags)]
    # Progress goes to the terminal; errors are kept for the exception.
    process = subprocess.run(line, stderr=subprocess.PIPE, text=True, check=False)
    if process.returncode != 0:
        raise DriverError(process.stderr.strip() or f"{command} ended with status {process.returncode}")


def compile(model: str | os.PathLike, output_dir: str | os.PathLike, **flags: Any) -> None:
    """``gpuopt compile``: writes the trainer's sources to ``output_dir``.

    Raises:
      DriverError: with the driver's message.
    """
    _run("compile", model, output_dir, flags)


def train(model: str | os.PathLike, output_dir: str | os.PathLike, **flags: Any) -> None:
    """``gpuopt train``: compiles, builds and runs; the results lie in
    ``output_dir``.

    Raises:
      DriverError: with the driver's message.
    """
    _run("train", model, output_dir, flags)

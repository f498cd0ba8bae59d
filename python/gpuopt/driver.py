"""The command-line driver, from Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Mapping

import numpy as np


class DriverError(RuntimeError):
    """The driver refused or failed; the message is what it said."""


class DriverNotFoundError(DriverError, FileNotFoundError):
    """There is no driver to run."""

    def __str__(self) -> str:
        return str(self.args[0])


def find_driver() -> str:
    """The ``gpuopt`` executable: ``$GPUOPT``, the PATH, or the build tree of
    the checkout that this package lies in.

    Raises:
      DriverNotFoundError: there is none.
    """
    named = os.environ.get("GPUOPT")
    if named:
        if shutil.which(named) is None:
            raise DriverNotFoundError(f"$GPUOPT names '{named}', which is no executable")
        return named
    found = shutil.which("gpuopt")
    if found:
        return found
    built = Path(__file__).resolve().parents[2] / "build" / "bin" / "gpuopt"
    if built.exists():
        return str(built)
    raise DriverNotFoundError("gpuopt is neither on the PATH nor in build/bin; set GPUOPT to the executable")


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
    sys.stderr.write(process.stderr)  # warnings


def compile(model: str | os.PathLike, output_dir: str | os.PathLike, **flags: Any) -> None:
    """``gpuopt compile``: writes the trainer's sources to ``output_dir``.

    Raises:
      DriverError: with the driver's message.
    """
    _run("compile", model, output_dir, flags)


# Flags of ``train`` that name files of data, or several by input.
_DATA_FLAGS = ("data", "eval_data", "labels", "eval_labels", "tokens", "eval_tokens")


def _saved(array: Any, folder: str, name: str) -> Any:
    """The file that an array or tensor was written to; what is neither, a
    path, as it is."""
    if array is None or isinstance(array, (str, os.PathLike)):
        return array
    if hasattr(array, "detach"):
        array = array.detach().cpu()
    array = np.asarray(array)
    path = os.path.join(folder, name + ".npy")
    np.save(path, np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).reshape(array.shape))
    return path


def train(model: str | os.PathLike, output_dir: str | os.PathLike, **flags: Any) -> None:
    """``gpuopt train``: compiles, builds and runs; the results lie in
    ``output_dir``. Where a file of data is expected, an array or a tensor may
    be given: it is written to a temporary file.

    Raises:
      DriverError: with the driver's message.
    """
    with tempfile.TemporaryDirectory(prefix="gpuopt-") as folder:
        for flag in _DATA_FLAGS:
            value = flags.get(flag)
            if isinstance(value, Mapping):
                # Inputs may have any name; files have plain ones.
                flags[flag] = {
                    name: _saved(entry, folder, f"{flag}-{index}")
                    for index, (name, entry) in enumerate(value.items())
                }
            elif flag in flags and not isinstance(value, list):
                flags[flag] = _saved(value, folder, flag)
        _run("train", model, output_dir, flags)

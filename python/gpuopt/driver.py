"""The command-line driver, from Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
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


# The compiler in a wheel that scripts/build-wheel.sh has made.
_BUNDLED = Path(__file__).resolve().parent / "_compiler" / "bin" / "gpuopt"


def run_compiler() -> None:
    """The command ``gpuopt`` of such a wheel."""
    os.execv(_BUNDLED, [str(_BUNDLED), *sys.argv[1:]])


def find_driver() -> str:
    """The ``gpuopt`` executable: ``$GPUOPT``, that of the package if it is a
    wheel with the compiler, the PATH, or the build tree of the checkout that
    this package lies in.

    Raises:
      DriverNotFoundError: there is none.
    """
    named = os.environ.get("GPUOPT")
    if named:
        if shutil.which(named) is None:
            raise DriverNotFoundError(f"$GPUOPT names '{named}', which is no executable")
        return named
    if _BUNDLED.exists():
        return str(_BUNDLED)
    found = shutil.which("gpuopt")
    if found:
        return found
    checkout = Path(__file__).resolve().parents[2]
    built = checkout / "build" / "bin" / "gpuopt"
    if os.access(built, os.X_OK):
        return str(built)
    raise DriverNotFoundError(
        "there is no gpuopt: $GPUOPT is not set, no folder of the PATH has it, "
        + (
            f"and '{built}' is no executable; build it (cmake -S '{checkout}' -B '{checkout / 'build'}' -G Ninja && ninja -C "
            f"'{checkout / 'build'}'), "
            if (checkout / "CMakeLists.txt").exists()
            else f"and the package in '{Path(__file__).resolve().parent}' is neither a wheel with the compiler nor in a checkout; "
        )
        + "or set GPUOPT to the executable"
    )


# Flags of one value with commas in it.
_COMMA_FLAGS = ("class_weights", "eval_metrics", "eval_transform", "outputs", "transform")
# Flags that may be given several times.
_REPEATED_FLAGS = ("constant_input", "data", "dim", "eval_data", "loss", "param_group", "precision_override")


def arguments(flags: Mapping[str, Any]) -> list[str]:
    """The command line of keyword flags.

    ``learning_rate=0.1`` is ``--learning-rate=0.1``, ``shuffle=False`` is
    ``--shuffle=false``: not every flag has a ``--no-`` form; a mapping repeats
    its flag with KEY=VALUE, a list with each entry, or puts commas between them
    where the flag takes that; None leaves the flag out.

    Raises:
      TypeError: a list is given to a flag of one value.
    """
    result = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            result.append(flag)
        elif value is False:
            result.append(flag + "=false")
        elif isinstance(value, Mapping):
            result += [f"{flag}={key}={entry}" for key, entry in value.items()]
        elif isinstance(value, (list, tuple)) and name in _COMMA_FLAGS:
            if value:
                result.append(f"{flag}={','.join(map(str, value))}")
        elif isinstance(value, (list, tuple)):
            if name not in _REPEATED_FLAGS:
                raise TypeError(f"{name} takes one value, but is a {type(value).__name__}: {value!r}; lists are for "
                                f"{', '.join(sorted(_COMMA_FLAGS + _REPEATED_FLAGS))}")
            result += [f"{flag}={entry}" for entry in value]
        elif value is not None:
            result.append(f"{flag}={value}")
    return result


def _by_keywords(errors: str, flags: Mapping[str, Any]) -> str:
    """What the driver said, where an error that begins with a flag names the keyword that the caller has given:
    ``learning_rate must be ...``. Other text may be commands, which have flags."""

    def keyword(match: re.Match) -> str:
        name = match["flag"].replace("-", "_")
        return match["start"] + name if name in flags and match["open"] == match["close"] else match[0]

    return re.sub(r"^(?P<start>[^\n:]+: error: )(?P<open>'?)--(?P<flag>[a-z0-9-]+)(?P<close>'?)(?=[ :=])", keyword, errors,
                  flags=re.MULTILINE)


def _run(command: str, model: Any, output_dir: Any, flags: Mapping[str, Any], places: Mapping[str, str] = {}) -> None:
    """Runs a command. Messages name what the caller has given in place of the files of `places`, which are temporary."""
    line = [find_driver(), command, _path(model, "model"), "-o", _path(output_dir, "output_dir"), *arguments(flags)]
    # Progress goes to the terminal; errors are kept for the exception, in a file,
    # which takes them whatever Python does meanwhile.
    with tempfile.TemporaryFile("w+", errors="replace") as said, subprocess.Popen(line, stderr=said) as process:
        interrupted = _finish(process)
        said.seek(0)
        errors = said.read()
    for file, argument in places.items():
        errors = errors.replace(f"'{file}'", argument)
    if interrupted:
        sys.stderr.write(errors)
        raise KeyboardInterrupt
    if process.returncode != 0:
        raise DriverError(_by_keywords(errors, flags).strip() or f"{command} ended with status {process.returncode}")
    sys.stderr.write(errors)  # warnings


def _finish(process: subprocess.Popen) -> bool:
    """Waits until the end, which interrupts bring about: the trainer saves.
    Returns whether there was one."""
    interrupted = False
    while True:
        try:
            if interrupted:
                # At Ctrl-C it has got one already, and one more does no harm.
                process.send_signal(signal.SIGINT)
            process.wait()
            return interrupted
        except KeyboardInterrupt:
            interrupted = True


def _path(value: Any, name: str) -> str:
    if not isinstance(value, (str, os.PathLike)):
        hint = "; gpuopt.export writes a module to one" if name == "model" else ""
        raise TypeError(f"{name} must be a path, but is a {type(value).__name__}{hint}")
    return os.fspath(value)


def compile(model: str | os.PathLike, output_dir: str | os.PathLike, **flags: Any) -> None:
    """``gpuopt compile``: writes the trainer's sources to ``output_dir``.

    Raises:
      DriverError: with the driver's message.
    """
    _run("compile", model, output_dir, flags)


# The status with which ``gpuopt plan`` says that the budget cannot be met.
_UNMET = 2


def plan(model: str | os.PathLike, **flags: Any) -> dict[str, Any]:
    """``gpuopt plan --json``: what a compilation with these flags would need and
    cost. Where the memory budget cannot be met, ``fits`` is False, and the
    result has the smallest budget for which a plan was found.

    Raises:
      DriverError: with the driver's message.
    """
    line = [find_driver(), "plan", _path(model, "model"), "--json", *arguments(flags)]
    run = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    if run.returncode not in (0, _UNMET):
        raise DriverError(_by_keywords(run.stderr, flags).strip() or f"plan ended with status {run.returncode}")
    if run.returncode == 0:
        sys.stderr.write(run.stderr)  # warnings
    return json.loads(run.stdout)


# Flags of ``train`` that name one file of data, and those of one for each input.
_FILE_FLAGS = ("labels", "eval_labels", "tokens", "eval_tokens", "prompts")
_INPUT_FLAGS = ("data", "eval_data")


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _numbers(value: Any) -> Any:
    """Whether NumPy makes an array of it: tensors, in lists too, as arrays."""
    if isinstance(value, (list, tuple)):
        return [_numbers(entry) for entry in value]
    if not hasattr(value, "detach"):
        return value
    value = value.detach().cpu()
    # NumPy lacks bfloat16, but float32 holds all of its numbers.
    return (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()


def _saved(value: Any, folder: str, name: str, where: str, places: dict[str, str]) -> Any:
    """The file that an array was written to, whose argument `places` then has; a path is one already."""
    if value is None or _is_path(value):
        return value
    try:
        array = np.asarray(_numbers(value))
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{where} is no array, tensor or path of a file: {error}") from error
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{where} must be an array or tensor of numbers, or the path of a file, but is a {type(value).__name__} "
                        f"of {array.dtype}")
    path = os.path.join(folder, name + ".npy")
    np.save(path, np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).reshape(array.shape))
    places[path] = where
    return path


def _saved_inputs(value: Any, folder: str, flag: str, places: dict[str, str]) -> Any:
    """A mapping from inputs to files."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            if entry is None:
                raise TypeError(f"{flag}['{name}'] must be an array or tensor of numbers, or the path of a file, but is None")
        # Inputs may have any name; files have plain ones.
        return {
            name: _saved(entry, folder, f"{flag}-{index}", f"{flag}['{name}']", places)
            for index, (name, entry) in enumerate(value.items())
        }
    if value is None or isinstance(value, str) or (isinstance(value, list) and all(isinstance(entry, str) for entry in value)):
        return value  # as on the command line
    raise TypeError(f"{flag} must map the model's inputs to arrays or files, {flag}={{'x': ...}}, but is a {type(value).__name__}")


def train(model: str | os.PathLike, output_dir: str | os.PathLike, **flags: Any) -> None:
    """``gpuopt train``: compiles, builds and runs; the results lie in
    ``output_dir``. Where a file of data is expected, an array, a tensor or
    numbers in lists may be given: they are written to a temporary file.

    Raises:
      DriverError: with the driver's message.
      TypeError: data is neither numbers nor a path.
    """
    _run_on_data("train", model, output_dir, flags)


def predict(model: str | os.PathLike, output_dir: str | os.PathLike, **flags: Any) -> dict[str, np.ndarray | list[dict[str, Any]]]:
    """``gpuopt predict``: compiles, builds and runs the forward of an ONNX file,
    or of what :func:`train` has left in a folder; ``output_dir`` gets a .npy
    file for each output, of all samples. Data is given as to :func:`train`.

    Returns:
      What these files hold, by their names without the ending, which are those
      of the outputs with ``_`` in place of what no file's name has, like ``/``:
      arrays, whose elements are read from the files as they are needed; of the
      lines of ``top_k`` and ``generate``, a list with a dictionary for each
      line.

    Raises:
      DriverError: with the driver's message.
      TypeError: data is neither numbers nor a path.
    """
    _run_on_data("predict", model, output_dir, flags)
    return _predicted(Path(output_dir))


def _predicted(folder: Path) -> dict[str, np.ndarray | list[dict[str, Any]]]:
    """The results of a prediction, which its folder lists behind a first line."""
    results: dict[str, np.ndarray | list[dict[str, Any]]] = {}
    for name in _lines_of(folder / ".gpuopt-prediction")[1:]:
        path = folder / name
        if path.suffix == ".npy":
            # Writing to the array changes memory, not the file.
            results[path.stem] = np.load(path, mmap_mode="c")
        elif path.suffix == ".jsonl":
            results[path.stem] = [json.loads(line) for line in _lines_of(path)]
    return results


def _lines_of(path: Path) -> list[str]:
    """The lines of a file. Names in it may have any bytes, and what Unicode counts as the end of a line."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
        return [line.rstrip("\n") for line in lines]


def _saved_prompts(value: Any, folder: str, places: dict[str, str]) -> Any:
    """As `_saved`, but prompts in lists may have different lengths: each has a line of the file."""
    if not isinstance(value, (list, tuple)):
        return _saved(value, folder, "prompts", "prompts", places)
    lines = [entry.tolist() if hasattr(entry, "tolist") else entry for entry in value]
    for index, line in enumerate(lines):
        if not isinstance(line, (list, tuple)) or not all(isinstance(token, (int, np.integer)) for token in line):
            raise TypeError(f"prompts[{index}] must be a list of tokens, like [15496, 11], but is {line!r}")
    path = os.path.join(folder, "prompts.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps([int(token) for token in line]) + "\n" for line in lines)
    places[path] = "prompts"
    return path


def _run_on_data(command: str, model: Any, output_dir: Any, flags: dict[str, Any]) -> None:
    places: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="gpuopt-") as folder:
        for flag in _FILE_FLAGS:
            if flag in flags and flag != "prompts":
                flags[flag] = _saved(flags[flag], folder, flag, flag, places)
        if "prompts" in flags:
            flags["prompts"] = _saved_prompts(flags["prompts"], folder, places)
        for flag in _INPUT_FLAGS:
            if flag in flags:
                flags[flag] = _saved_inputs(flags[flag], folder, flag, places)
        _run(command, model, output_dir, flags, places)

"""Configures programs for a build. Most of a run of the tests are alike but for their folder, so what CMake has found out
about the compiler and the machine for one of them is given to the others."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path
from typing import Any, Callable, Sequence

# Variables of the environment that CMake and the CMake files of programs look at.
VARIABLES = ("CMAKE_", "CC", "CXX", "CUDA", "LDFLAGS", "NVIDIA_WHEELS", "PATH")

# Stands for the folder of a program in what is kept.
FOLDER = "@the folder of the program@"


def without_folder(text: str, program: Path) -> str:
    """The text with FOLDER for the program's folder, but not for others whose names begin like it."""
    return re.sub(re.escape(str(program)) + r"(?![\w.-])", FOLDER, text)


def kept_folder(program: Path, options: Sequence[str]) -> Path | None:
    """Where the findings of programs like this one are, or will be; None if the run keeps none."""
    if not os.environ.get("GPUOPT_TEST_CONFIGURED"):
        return None
    environment = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(VARIABLES)]
    files = [(program / name).read_text() for name in ("CMakeLists.txt", "target.cmake")]
    key = without_folder("\0".join([*map(str, options), *environment, *files]), program)
    return Path(os.environ["GPUOPT_TEST_CONFIGURED"]) / hashlib.sha256(key.encode()).hexdigest()


def keep(program: Path, build: Path, kept: Path) -> None:
    unfinished = kept.with_suffix(f".{os.getpid()}")
    unfinished.mkdir()
    (unfinished / "CMakeCache.txt").write_text(without_folder((build / "CMakeCache.txt").read_text(), program))
    for compiler in build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"):
        shutil.copytree(compiler.parent, unfinished / compiler.parent.relative_to(build))
    try:
        unfinished.rename(kept)
    except OSError:  # another worker was first
        shutil.rmtree(unfinished)


def configure(program: Path, options: Sequence[str], execute: Callable[[list[Any]], str]) -> str:
    """Configures program/build; returns what CMake says."""
    program = program.resolve()
    build, kept = program / "build", kept_folder(program, options)
    if kept and kept.exists() and not build.exists():
        shutil.copytree(kept, build)
        cache = build / "CMakeCache.txt"
        cache.write_text(cache.read_text().replace(FOLDER, str(program)))
    output = execute(["cmake", "-S", program, "-B", build, *options])
    if kept and not kept.exists():
        keep(program, build, kept)
    return output

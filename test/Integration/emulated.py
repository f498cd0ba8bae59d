"""Builds emitted CUDA programs for the emulated target (docs/rationale/emulation.md) and runs them on the processor."""

from __future__ import annotations

import copy
import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any, Mapping

import numpy as np
import pytest
import torch

from exports import export_case
from gpuopt.driver import find_driver
from training import Result, Trainer, train_torch

ROOT = Path(__file__).resolve().parents[2]

# clang puts all shared memory into one section, so that it can be poisoned between blocks; g++ leaves out that of
# templates.
COMPILER = shutil.which("clang++-22") or shutil.which("clang++") or "g++"

# The first report ends the program, so that its status tells.
SANITIZER_FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1"


def nvidia_wheels() -> str | None:
    """The folders of NVIDIA's wheels, as CMake takes them."""
    if "NVIDIA_WHEELS" in os.environ:
        return os.environ["NVIDIA_WHEELS"].replace(" ", ";")
    found = importlib.util.find_spec("nvidia")
    return ";".join(found.submodule_search_locations) if found else None


def folder_of_cuda_header(name: str) -> Path | None:
    nvcc = shutil.which("nvcc")
    roots = [Path("/usr/local/cuda")] + ([Path(nvcc).resolve().parents[1]] if nvcc else [])
    return next((root / "include" for root in roots if (root / "include" / name).exists()), None)


def has_cuda_headers() -> bool:
    return folder_of_cuda_header("cuda_runtime.h") is not None


def has_boost_context() -> bool:
    return Path("/usr/include/boost/context/detail/fcontext.hpp").exists()


# What skips the tests of a file where the target cannot be built.
SKIPS = [
    pytest.mark.skipif(not has_cuda_headers(), reason="no headers of the CUDA toolkit"),
    pytest.mark.skipif(nvidia_wheels() is None, reason="no wheels of cuBLASLt and cuDNN"),
    pytest.mark.skipif(not has_boost_context(), reason="no Boost.Context"),
]


def needs_target(test):
    """A test that builds the target, in a file of which not all tests do."""
    for skip in SKIPS:
        test = skip(test)
    return test


def built_emulation() -> Path | None:
    """The emulation as the unit tests have it, if it is not older than its sources: a program that links it need not
    compile it again. The compiler is the same, since scripts/build.sh chooses as COMPILER does."""
    library = Path(find_driver()).resolve().parents[1] / "test/Unit/Emulation/emulation/libgpuopt_emulation.a"
    changed = max(path.stat().st_mtime for path in (ROOT / "lib/Runtime/emulation").rglob("*") if path.is_file())
    return library if library.exists() and library.stat().st_mtime >= changed else None


class EmulatedTrainer(Trainer):
    """A CUDA program on the processor."""

    target = "emulated"

    def __init__(self, model: Path, folder: Path, sanitize=False, options: tuple[str, ...] = (), **flags: Any):
        """`options` are CMake's."""
        self.sanitize, self.options = sanitize, options
        # Programs are so small that the compiler takes longer than they do.
        super().__init__(model, folder, optimization="-O0", **flags)

    def build(self, optimization: str, options=()):
        # clang's runtime of the sanitizers is a package of its own; g++'s is not.
        compiler, sanitizer = ("g++", SANITIZER_FLAGS) if self.sanitize else (COMPILER, "")
        library = None if self.sanitize else built_emulation()
        super().build(
            optimization,
            [f"-DNVIDIA_WHEELS={nvidia_wheels()}", f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS={sanitizer}",
             f"-DGPUOPT_EMULATION_LIBRARY={library or ''}", *self.options, *options],
        )

    def run_in_order(self, seed: int, data: Mapping[str, np.ndarray], labels: np.ndarray | None = None, **flags: Any) -> Result:
        """Runs with the order of threads, blocks and streams that `seed` gives."""
        os.environ["GPUOPT_EMULATION_SEED"] = str(seed)
        try:
            return self.run(data, labels, **flags)
        finally:
            del os.environ["GPUOPT_EMULATION_SEED"]


# The first step runs as it is, the second is captured, the third replays the graph.
STEPS = 4


class Emulated:
    """One model, exported and compiled once for all of its tests."""

    def __init__(self, name: str, folder, **flags):
        folder.mkdir(exist_ok=True)
        self.case = export_case(name, folder / "model.onnx")
        self.trainer = EmulatedTrainer(folder / "model.onnx", folder / "program", batch_size=self.case.batch, **flags)

    def train(self, seed: int, steps=STEPS, **flags):
        return self.trainer.run_in_order(
            seed, self.case.inputs, self.case.labels, learning_rate=self.case.learning_rate,
            lr_scheduler_type="constant", max_steps=steps, **flags,
        )

    def train_torch(self, steps=STEPS, **options):
        case = copy.deepcopy(self.case)
        return train_torch(
            case, steps, lambda p: torch.optim.AdamW(p, lr=case.learning_rate, weight_decay=0.0), max_grad_norm=1.0, **options
        )

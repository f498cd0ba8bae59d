"""What makes compilers and CMake reuse what they have done for another program: emitted programs differ little. main.cpp,
which takes the compiler longer than most steps, is the same in all, and several tests train the same program. ccache finds
both when paths are relative to the program's folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Callable


def use_compiler_cache(base: Path, shared_folder: Callable[[str], Path]) -> None:
    """Sets variables of the environment for programs in folders of `base`. What they share is in folders that
    `shared_folder` makes by their names."""
    if shutil.which("ninja"):
        os.environ.setdefault("CMAKE_GENERATOR", "Ninja")  # make starts many more processes
    os.environ.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", str(Path(__file__).with_name("compiler_launcher.sh")))
    if os.environ.get("GPUOPT_FULL_TESTS") == "1":
        os.environ.setdefault("GPUOPT_TEST_KEEP_OPTIMIZATION", "1")
    else:
        os.environ.setdefault("GPUOPT_TEST_PRECOMPILED", str(shared_folder("precompiled")))
        os.environ.setdefault("GPUOPT_TEST_CONFIGURED", str(shared_folder("configured")))
    if shutil.which("ccache") and os.environ.get("GPUOPT_TEST_CCACHE") != "0":
        os.environ.setdefault("CMAKE_CUDA_COMPILER_LAUNCHER", "ccache")
        os.environ["CCACHE_BASEDIR"] = str(base)
        # The headers have just been written; it compares what is in them.
        os.environ.setdefault("CCACHE_SLOPPINESS", "include_file_ctime,include_file_mtime")

"""The C API of compiled programs (gpuopt/gpuopt.h), and how its library is built."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Sequence

from gpuopt.driver import DriverError

# The type of each number of gpuopt_type; the first is no type.
TYPES = (None, "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16",
         "uint8", "bool")
HOST, DEVICE = 1, 2
INPUTS, OUTPUTS, STATES = 1, 2, 3
ROLES = (None, "input", "labels", "output", "parameter", "frozen", "buffer", "optimizer_state", "loss_scale")

_API_VERSION = 1
_BUILD_FOLDER = "build-library"
_LIBRARY = "libprogram.so"


class Tensor(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("memory", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("size_in_bytes", ctypes.c_size_t),
    ]


class TensorInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("names", ctypes.POINTER(ctypes.c_char_p)),
        ("name_count", ctypes.c_size_t),
        ("role", ctypes.c_int),
        ("type", ctypes.c_int),
        ("rank", ctypes.c_size_t),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("size_in_bytes", ctypes.c_size_t),
        ("device_data", ctypes.c_void_p),
    ]


class Options(ctypes.Structure):
    _fields_ = [
        ("device", ctypes.c_int),
        ("num_threads", ctypes.c_int),
        ("weights", ctypes.c_char_p),
        ("settings", ctypes.POINTER(ctypes.c_char_p)),
        ("setting_count", ctypes.c_size_t),
    ]


class ProgramInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("optimizer", ctypes.c_char_p),
        ("batch_size", ctypes.c_int64),
        ("accumulation_steps", ctypes.c_int64),
        ("has_step", ctypes.c_int),
        ("has_evaluate", ctypes.c_int),
        ("has_forward", ctypes.c_int),
        ("device_bytes", ctypes.c_size_t),
        ("host_bytes", ctypes.c_size_t),
    ]


class StepInfo(ctypes.Structure):
    _fields_ = [
        ("steps", ctypes.c_int64),
        ("skipped_steps", ctypes.c_int64),
        ("loss", ctypes.c_double),
        ("learning_rate", ctypes.c_double),
        ("grad_norm", ctypes.c_double),
        ("loss_scale", ctypes.c_double),
    ]


_PROGRAM, _TENSORS = ctypes.c_void_p, ctypes.POINTER(Tensor)
_DOUBLE, _SIZE, _TEXT = ctypes.POINTER(ctypes.c_double), ctypes.c_size_t, ctypes.c_char_p
_FUNCTIONS = {
    "gpuopt_create": [ctypes.POINTER(Options), ctypes.POINTER(_PROGRAM)],
    "gpuopt_get_program_info": [_PROGRAM, ctypes.POINTER(ProgramInfo)],
    "gpuopt_get_tensor_info": [_PROGRAM, ctypes.c_int, _SIZE, ctypes.POINTER(TensorInfo)],
    "gpuopt_step": [_PROGRAM, _TENSORS, _SIZE, _DOUBLE],
    "gpuopt_evaluate": [_PROGRAM, _TENSORS, _SIZE, _DOUBLE, _DOUBLE],
    "gpuopt_forward": [_PROGRAM, _TENSORS, _SIZE, _TENSORS, _SIZE],
    "gpuopt_get_step_info": [_PROGRAM, ctypes.POINTER(StepInfo)],
    "gpuopt_set_learning_rate": [_PROGRAM, ctypes.c_double],
    "gpuopt_read_state": [_PROGRAM, _TENSORS],
    "gpuopt_write_state": [_PROGRAM, _TENSORS],
    "gpuopt_weights_changed": [_PROGRAM],
    "gpuopt_load": [_PROGRAM, _TEXT],
    "gpuopt_save_weights": [_PROGRAM, _TEXT],
    "gpuopt_save_checkpoint": [_PROGRAM, _TEXT],
}


class Library:
    """The functions of a program's library; those that fail raise."""

    def __init__(self, path: Path):
        self._library = ctypes.CDLL(str(path))
        self._library.gpuopt_last_error.restype = ctypes.c_char_p
        version = self._library.gpuopt_api_version()
        if version != _API_VERSION:
            raise DriverError(f"'{path}' has version {version} of the C API, but this package calls version {_API_VERSION}: "
                              "compile the program with the gpuopt that the package belongs to")
        for name, types in _FUNCTIONS.items():
            getattr(self._library, name).argtypes = types
        self._library.gpuopt_destroy.argtypes = [_PROGRAM]
        self._library.gpuopt_destroy.restype = None
        self._library.gpuopt_tensor_count.argtypes = [_PROGRAM, ctypes.c_int]
        self._library.gpuopt_tensor_count.restype = _SIZE
        self._library.gpuopt_stream.argtypes = [_PROGRAM]
        self._library.gpuopt_stream.restype = ctypes.c_void_p
        self.destroy = self._library.gpuopt_destroy
        self.tensor_count = self._library.gpuopt_tensor_count
        self.stream = self._library.gpuopt_stream

    def call(self, name: str, *arguments: Any) -> None:
        """Calls ``gpuopt_<name>``.

        Raises:
          ValueError: an argument does not fit.
          NotImplementedError: the program was compiled without it.
          RuntimeError: a file, the device or the step failed.
        """
        status = getattr(self._library, "gpuopt_" + name)(*arguments)
        if status:
            error = {1: ValueError, 2: NotImplementedError}.get(status, RuntimeError)
            raise error(self._library.gpuopt_last_error().decode(errors="replace"))


def program_folder(folder: str | os.PathLike) -> Path:
    """Where a program lies: in the folder that ``compile`` has written, or
    below the one that ``train`` has.

    Raises:
      FileNotFoundError: there is none.
    """
    for path in (Path(folder), Path(folder) / "program"):
        if (path / "step.cu").exists():
            return path
    raise FileNotFoundError(f"'{os.fspath(folder)}' has no program: gpuopt.compile writes one")


def _object_cache() -> list[str]:
    """What tells CMake where the objects lie that programs share: in the build
    cache of ``gpuopt train``, which buildCacheFolder in lib/Driver/Build/BuildCache.cpp
    finds. Without a folder of the user's, none are shared."""
    for variable, below in (("XDG_CACHE_HOME", "gpuopt"), ("HOME", ".cache/gpuopt")):
        if os.path.isabs(folder := os.environ.get(variable, "")):
            objects = Path(folder) / below / "objects"
            _check_path(objects, "set XDG_CACHE_HOME to a folder whose path has none")
            return [f"-DGPUOPT_OBJECT_CACHE={objects}"]
    return []


def _check_path(path: Path, remedy: str) -> None:
    if ";" in str(path):
        raise DriverError(f"the path '{path}' has a semicolon, at which CMake splits paths: {remedy}")


def _cpu_quota(groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> float:
    """How many cores' worth of time the control groups allow, as cpu_quota in cpu_quota.h finds it."""

    def words(file: Path) -> list[str]:
        try:
            return file.read_text().split()
        except OSError:
            return []

    least = math.inf
    try:
        lines = groups.read_text().splitlines()
    except OSError:
        return math.inf
    for line in lines:
        if line.count(":") < 2:
            continue
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue  # a hierarchy of version 1 that limits something else
        mount = root / "cpu" if controllers else root
        group = mount / path.lstrip("/")
        for folder in (group, *group.parents):
            limit = words(folder / "cpu.max") or words(folder / "cpu.cfs_quota_us") + words(folder / "cpu.cfs_period_us")
            if len(limit) == 2 and limit[0].isdigit() and int(limit[0]) > 0 and int(limit[1]) > 0:
                least = min(least, int(limit[0]) / int(limit[1]))
            if folder == mount:
                break
    return least


def _cores() -> int:
    """How many jobs can run at once on the cores that the process may use."""
    return max(1, math.ceil(min(len(os.sched_getaffinity(0)), _cpu_quota())))


def build_library(program: Path, options: Sequence[str] = ()) -> Path:
    """Builds what is not built yet, with CMake; returns the library, whose name
    is another one for other contents: ``dlopen`` gives a process the library
    that it has loaded before under the same name, whatever the file is now.

    Raises:
      DriverError: it cannot be built.
    """
    return _build(program, options, lambda library: library)


def open_library(program: Path, options: Sequence[str] = (), quiet: bool = False) -> Library:
    """Builds a library as build_library does, and loads it before another process
    that builds other contents may remove it. Unless it is quiet, says so where
    there is something to compile."""
    return _build(program, options, Library, quiet)


def _build(program: Path, options: Sequence[str], use: Callable[[Path], Any], quiet: bool = True) -> Any:
    """Returns what ``use`` makes of the library while no other process builds."""
    program = program.resolve()  # CMake keeps the path, and a link to the folder may go
    _check_path(program, "move the program to another folder")
    objects = _object_cache()
    build = program / _BUILD_FOLDER
    build.mkdir(exist_ok=True)
    with open(build / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two processes must not build at once
        _forget_other_folder(program, build)
        tells = not quiet and _is_old(build / _LIBRARY, program)
        begin = time.monotonic()
        if tells:
            print(f"building the program's library in {build}", file=sys.stderr, flush=True)
        _execute(["cmake", "-S", program, "-B", build, "-DBUILD_SHARED_LIBS=ON", *objects, *options])
        _execute(["cmake", "--build", build, "--target", "program", "--parallel", str(_cores())])
        if tells:
            print(f"built in {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
        return use(_under_own_name(build / _LIBRARY))


def _is_old(library: Path, program: Path) -> bool:
    """Whether a library is not there, or older than a source file of its program."""
    if not library.exists():
        return True
    built = library.stat().st_mtime_ns
    sources = (path for path in (*program.glob("*"), *program.glob("gpuopt/**/*")) if path.suffix in (".cpp", ".cu", ".h"))
    return any(path.stat().st_mtime_ns > built for path in sources)


def _forget_other_folder(program: Path, build: Path) -> None:
    """Removes a build of a folder that was moved or copied to ``program``: CMake
    refuses to go on with it."""
    try:
        cache = (build / "CMakeCache.txt").read_text(errors="replace")
    except FileNotFoundError:
        return
    lines = [line for line in cache.splitlines() if line.startswith(("CMAKE_HOME_DIRECTORY:", "CMAKE_CACHEFILE_DIR:"))]
    if all(Path(line.partition("=")[2]) in (program, build) for line in lines):
        return
    for entry in build.iterdir():
        if entry.name == "lock":
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _under_own_name(library: Path) -> Path:
    """A copy of a library whose name tells its contents; earlier copies are
    removed, which does not disturb programs that have loaded them."""
    contents = library.read_bytes()
    name = f"{library.stem}-{hashlib.sha256(contents).hexdigest()[:16]}"
    copy = library.with_name(name + library.suffix)
    if not copy.exists():
        unfinished = library.with_name(name + ".part")
        unfinished.write_bytes(contents)
        unfinished.replace(copy)
    for earlier in library.parent.glob(f"{library.stem}-*{library.suffix}"):
        if earlier != copy:
            earlier.unlink()
    return copy


def _execute(command: list[Any]) -> None:
    line = [str(part) for part in command]
    try:
        run = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    except FileNotFoundError as error:
        raise DriverError("cmake is not installed; a program's library is built with it") from error
    if run.returncode != 0:
        raise DriverError(f"the program's library does not build; {' '.join(line)} says:\n{run.stdout[-4000:].strip()}")

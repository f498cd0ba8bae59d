"""A compiled program, called from Python: its steps on arrays and tensors."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import threading
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

from gpuopt import dlpack
from gpuopt.driver import arguments
from gpuopt.exporting import weights_file
from gpuopt.library import (
    DEVICE, HOST, INPUTS, OUTPUTS, ROLES, STATES, TYPES, Library, Options, ProgramInfo, StepInfo, Tensor, TensorInfo,
    open_library, program_folder,
)


@dataclasses.dataclass(frozen=True)
class TensorDescription:
    """A tensor of a program."""

    name: str
    names: tuple[str, ...]  # all of them, where weights are tied
    role: str  # "input", "labels", "output", "parameter", "frozen", "buffer", "optimizer_state" or "loss_scale"
    dtype: str
    shape: tuple[int, ...]

    @property
    def _stored_dtype(self) -> np.dtype:
        """NumPy lacks bfloat16: its bits are taken as integers."""
        return np.dtype("uint16" if self.dtype == "bfloat16" else self.dtype)


@dataclasses.dataclass(frozen=True)
class LastStep:
    """The facts that are known of a program's last step."""

    steps: int  # attempted so far, skipped ones among them
    skipped_steps: int  # whose gradients overflowed under the loss scale
    loss: float
    learning_rate: float
    grad_norm: float  # before clipping
    loss_scale: float  # 1 if the program has none


def load(
    folder: str | os.PathLike, *, weights: str | os.PathLike | None = None, device: int = 0, num_threads: int = 0,
    cmake_options: Sequence[str] = (), quiet: bool = False, **settings: Any,
) -> Program:
    """Makes a compiled program ready to be called, and builds its library first
    if that is not done yet, which may take a minute.

    Args:
      folder: what ``compile`` has written, or the results of ``train``, whose
        weights the program then begins with.
      weights: a safetensors file to begin with in their place, or the folder of
        a run or a checkpoint that has a ``model.safetensors``. ``Program.load``
        takes the optimizer's state of a checkpoint as well.
      device: the number of the GPU, of a CUDA program.
      num_threads: of a program of target host; 0: as many as there are cores.
      cmake_options: what CMake is given, as ``["-DCMAKE_CXX_COMPILER=clang++"]``.
      quiet: whether ``sys.stderr`` is not told that the library is built.
      settings: the trainer's flags that concern its step: ``learning_rate``,
        ``max_steps``, ``seed``, ``max_grad_norm``, ... (docs/settings.md).

    Raises:
      FileNotFoundError: the folder has no program, or is that of a training that
        has not written its weights; or ``weights`` is a folder without any.
      DriverError: its library cannot be built.
      ValueError: a setting does not fit the program.
    """
    program = program_folder(folder)
    weights = _first_weights(Path(folder), program) if weights is None else weights_file(weights)
    return Program(open_library(program, cmake_options, quiet), weights, device, num_threads, settings)


def _first_weights(folder: Path, program: Path) -> Path:
    """The weights that a folder begins with: of a training those that it has
    learnt, and never those that its program was compiled with."""
    results = folder / "model.safetensors"
    if results.exists() or program == folder:
        return results
    checkpoints = _finished_checkpoints(folder)
    raise FileNotFoundError(
        f"'{folder}' has no model.safetensors, which a run writes at its end; " +
        (f"give its last checkpoint, weights='{checkpoints[-1]}'" if checkpoints else
         f"nor has it a finished checkpoint (with save_steps, a run writes some); weights='{program / 'model.safetensors'}' gives "
         "those that the run began with"))


def _finished_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a run that are whole, the last step last."""
    found = [path.parent for path in folder.glob("checkpoint-*/checksums.txt") if path.parent.name.removeprefix("checkpoint-").isdigit()]
    return sorted(found, key=lambda path: int(path.name.removeprefix("checkpoint-")))


def _settings(settings: Mapping[str, Any]) -> list[bytes]:
    texts = []
    for name, value in settings.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            texts.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            texts += arguments({name: value})
    return [text.encode() for text in texts]


class Program:
    """A program on a device, with its weights and the state of its optimizer.

    Inputs are NumPy arrays, tensors of any library that knows DLPack (PyTorch's,
    on the host or on the program's GPU, are read where they lie) or numbers in
    lists. They come by name; a mapping takes names that are no identifiers.
    Several threads may call a program: one waits for the other.
    """

    def __init__(self, library: Library, weights: str | os.PathLike, device: int, num_threads: int, settings: Mapping[str, Any]):
        self._handle = ctypes.c_void_p()
        self._lock = threading.Lock()
        self._library = library
        texts = _settings(settings)
        options = Options(device, num_threads, os.fsencode(weights), (ctypes.c_char_p * len(texts))(*texts), len(texts))
        self._library.call("create", options, self._handle)
        info = ProgramInfo()
        self._library.call("get_program_info", self._handle, info)
        self.name, self.target = info.name.decode(), info.target.decode()
        self.optimizer = info.optimizer.decode() if info.optimizer else None
        self.batch_size, self.accumulation_steps = info.batch_size, info.accumulation_steps
        self.device_bytes = info.device_bytes
        self.inputs, self.outputs, self.states = (self._describe(group) for group in (INPUTS, OUTPUTS, STATES))
        self._device, self._stream = device, self._library.stream(self._handle)

    def __repr__(self) -> str:
        def listed(tensors: Sequence[TensorDescription]) -> str:
            return ", ".join(f"{tensor.name} {tensor.dtype}{list(tensor.shape)}" for tensor in tensors)

        outputs = f" -> {listed(self.outputs)}" if self.outputs else ""
        state = "" if self._handle else ", closed"
        return f"<gpuopt.Program '{self.name}', target {self.target}: {listed(self.inputs)}{outputs}{state}>"

    def _describe(self, group: int) -> tuple[TensorDescription, ...]:
        found = []
        for index in range(self._library.tensor_count(self._handle, group)):
            info = TensorInfo()
            self._library.call("get_tensor_info", self._handle, group, index, info)
            names = tuple(info.names[i].decode() for i in range(info.name_count))
            found.append(TensorDescription(names[0], names, ROLES[info.role], TYPES[info.type], tuple(info.shape[: info.rank])))
        return tuple(found)

    def close(self) -> None:
        """Frees the program's memory; it cannot be called any more."""
        with self._lock:
            handle, self._handle = self._handle, ctypes.c_void_p()
            if handle:
                self._library.destroy(handle)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def _call(self, name: str, *arguments: Any) -> None:
        with self._lock:
            if not self._handle:
                raise ValueError("the program is closed")
            self._library.call(name, self._handle, *arguments)

    # Steps

    def step(self, inputs: Mapping[str, Any] | None = None, /, **named: Any) -> float:
        """Trains on one step's samples, ``batch_size * accumulation_steps`` of
        them: forward, backward and update. Returns the mean loss before it."""
        loss = ctypes.c_double()
        tensors, _kept = self._given(inputs, named, self.accumulation_steps)
        self._call("step", tensors, len(tensors), loss)
        return loss.value

    def evaluate(self, inputs: Mapping[str, Any] | None = None, /, **named: Any) -> float:
        """Returns the mean loss of one batch, and changes nothing."""
        loss = ctypes.c_double()
        tensors, _kept = self._given(inputs, named, 1)
        self._call("evaluate", tensors, len(tensors), loss, None)
        return loss.value

    def forward(self, inputs: Mapping[str, Any] | None = None, /, **named: Any) -> dict[str, np.ndarray]:
        """Returns the outputs of one batch by name, in a program that was
        compiled with ``inference=True``; bfloat16 as float32."""
        if not self.outputs:
            raise NotImplementedError("the program has no forward: compile it with inference=True, or --inference")
        tensors, _kept = self._given(inputs, named, 1)
        arrays = {output.name: np.empty(output.shape, output._stored_dtype) for output in self.outputs}
        results = (Tensor * len(arrays))(*(_tensor(output, arrays[output.name]) for output in self.outputs))
        self._call("forward", tensors, len(tensors), results, len(results))
        return {output.name: _widened(output, arrays[output.name]) for output in self.outputs}

    def last_step(self) -> LastStep:
        """Waits for the last step and describes it."""
        info = StepInfo()
        self._call("get_step_info", info)
        return LastStep(*(getattr(info, field.name) for field in dataclasses.fields(LastStep)))

    def set_learning_rate(self, learning_rate: float) -> None:
        """Sets the rate of all steps from now on: the schedule of the settings
        ends."""
        self._call("set_learning_rate", float(learning_rate))

    def _given(self, inputs: Mapping[str, Any] | None, named: Mapping[str, Any], batches: int) -> tuple[Any, list[Any]]:
        """The caller's inputs as the C API takes them, and what keeps them in
        memory."""
        if inputs is not None and not isinstance(inputs, Mapping):
            raise TypeError(f"expects inputs by name, such as {self.inputs[0].name}=..., or a dictionary, but got a "
                            f"{type(inputs).__name__}")
        given = {**(inputs or {}), **named}
        known = [tensor.name for tensor in self.inputs]
        if sorted(given) != sorted(known):
            raise TypeError(f"the program takes the inputs {', '.join(known)}, but got {', '.join(given) or 'none'}")
        tensors, kept = [], []
        for description in self.inputs:
            shape = description.shape
            if batches > 1:
                shape = (shape[0] * batches, *shape[1:]) if shape else (batches,)
            tensor, owner = self._argument(description, given[description.name], shape)
            tensors.append(tensor)
            kept.append(owner)
        return (Tensor * len(tensors))(*tensors), kept

    def _argument(self, description: TensorDescription, value: Any, shape: tuple[int, ...]) -> tuple[Tensor, Any]:
        """A value as the C API takes it, in the given shape, and what keeps it
        in memory."""
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
            view = dlpack.view(value, self._stream)
            if view.dtype == description.dtype and view.is_dense and (not view.on_gpu or self.target == "cuda"):
                self._check_view(description, view, shape)
                memory = DEVICE if view.on_gpu else HOST
                size = int(np.prod(shape, dtype=np.int64)) * description._stored_dtype.itemsize
                return Tensor(description.name.encode(), TYPES.index(description.dtype), memory, view.address, size), view
            value = self._on_host(description, value, view)
        array = _converted(description, value)
        if array.shape != shape:
            raise ValueError(f"'{description.name}' must have shape {shape}, but has {array.shape}")
        return _tensor(description, array), array

    def _check_view(self, description: TensorDescription, view: dlpack.View, shape: tuple[int, ...]) -> None:
        if view.shape != shape:
            raise ValueError(f"'{description.name}' must have shape {shape}, but has {view.shape}")
        if view.on_gpu and view.device != self._device:
            raise ValueError(f"'{description.name}' lies on GPU {view.device}, but the program runs on GPU {self._device}")

    @staticmethod
    def _on_host(description: TensorDescription, value: Any, view: dlpack.View) -> np.ndarray:
        """What needs to be converted is copied, on the host alone."""
        if view.on_gpu:
            raise ValueError(f"'{description.name}' lies on a GPU, where it must be {description.dtype} and contiguous for a program "
                             f"of target cuda, but is {view.dtype}: convert it there, or give it on the host")
        if view.dtype == "bfloat16":
            raise TypeError(f"'{description.name}' must be {description.dtype}, but is bfloat16, which NumPy lacks: convert it before")
        return np.from_dlpack(dlpack.settled(value))

    # State

    def state_dict(self, *, optimizer: bool = False) -> dict[str, np.ndarray]:
        """Copies of weights and running statistics by name, tied ones under each
        of their names; with ``optimizer``, also of the tensors that the
        optimizer keeps and of the loss scale. bfloat16 comes as float32. The
        number of steps is not among them, though Adam's correction of its means
        and the rate's schedule depend on it: only ``save_checkpoint`` and
        ``load`` hand a training on to another program."""
        found = {}
        for state in self.states:
            if state.role in ("optimizer_state", "loss_scale") and not optimizer:
                continue
            array = np.empty(state.shape, state._stored_dtype)
            self._call("read_state", _tensor(state, array))
            found.update({name: _widened(state, array) for name in state.names})
        return found

    def load_state_dict(self, values: Mapping[str, Any], strict: bool = True) -> None:
        """Writes weights, running statistics and what else ``state_dict`` has,
        from arrays or tensors. Integers that the program does not have, such as
        PyTorch's ``num_batches_tracked``, are passed over.

        Raises:
          KeyError: with ``strict``, a weight is missing or there is one that the
            program does not have; nothing has been written.
        """
        known = {name for state in self.states for name in state.names}
        others = [name for name, value in values.items() if name not in known and not _is_integer(value)]
        missing = [
            state.name for state in self.states
            if state.role not in ("optimizer_state", "loss_scale") and not any(name in values for name in state.names)
        ]
        if strict and (others or missing):
            raise KeyError(f"the values lack {', '.join(missing) or 'nothing'}, and have {', '.join(others) or 'nothing'} that the "
                           "program does not have; strict=False takes those that both have")
        given = [(state, next(name for name in state.names if name in values))
                 for state in self.states if any(name in values for name in state.names)]
        arguments = [self._argument(state, values[name], state.shape) for state, name in given]
        for tensor, _kept in arguments:
            self._call("write_state", tensor)

    def load(self, path: str | os.PathLike) -> None:
        """Loads a safetensors file of weights, the results of ``train``, or a
        checkpoint, from which training goes on."""
        self._call("load", os.fsencode(path))

    def save(self, path: str | os.PathLike) -> None:
        """Writes weights and running statistics as a safetensors file."""
        self._call("save_weights", os.fsencode(path))

    def save_checkpoint(self, folder: str | os.PathLike) -> None:
        """Writes a checkpoint, from which ``load`` and ``gpuopt.train(...,
        resume=folder)`` go on."""
        self._call("save_checkpoint", os.fsencode(folder))


def _is_integer(value: Any) -> bool:
    """Whether the elements are integers or truth values, whatever library the tensor is of."""
    dtype = value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype
    return str(dtype).removeprefix("torch.").startswith(("int", "uint", "bool"))


def _converted(description: TensorDescription, value: Any) -> np.ndarray:
    """The value as a dense array of the type that the program takes."""
    array = np.asarray(value)
    wanted = description._stored_dtype
    if description.dtype == "bfloat16":
        return _bfloat16(np.ascontiguousarray(array, np.float32))
    if array.dtype != wanted and not np.can_cast(array.dtype, wanted, "same_kind"):
        raise TypeError(f"'{description.name}' must be {description.dtype}, but is {array.dtype}")
    result = np.require(array, wanted, "C")
    if array.dtype.kind in "iu" and wanted.kind in "iu" and result is not array and not np.array_equal(result, array):
        raise ValueError(f"'{description.name}' has integers that {description.dtype} cannot hold")
    return result


def _bfloat16(array: np.ndarray) -> np.ndarray:
    """The bits of the nearest numbers, to even."""
    bits = array.view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(array), bits >> 16 | 0x40, rounded).astype(np.uint16)


def _widened(description: TensorDescription, array: np.ndarray) -> np.ndarray:
    return (array.astype(np.uint32) << 16).view(np.float32) if description.dtype == "bfloat16" else array


def _tensor(description: TensorDescription, array: np.ndarray) -> Tensor:
    return Tensor(description.name.encode(), TYPES.index(description.dtype), HOST, array.ctypes.data, array.nbytes)

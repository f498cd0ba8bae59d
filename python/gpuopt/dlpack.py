"""Reads tensors of other libraries where they lie, by the DLPack protocol."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any

_HOST_DEVICES = (1, 3)  # kDLCPU, kDLCUDAHost
_CUDA_DEVICES = (2, 13)  # kDLCUDA, kDLCUDAManaged

_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


@dataclasses.dataclass
class View:
    """A tensor of another library, which ``capsule`` keeps alive."""

    address: int
    dtype: str  # "float32", "int64", "bfloat16"
    shape: tuple[int, ...]
    is_dense: bool  # in row-major order
    on_gpu: bool
    device: int  # the number of the GPU
    capsule: Any


def is_on_gpu(tensor: Any) -> bool:
    return tensor.__dlpack_device__()[0] in _CUDA_DEVICES


def settled(tensor: Any) -> Any:
    """A tensor of PyTorch without a gradient, which none that wants one is given
    away with, and with a change of sign carried out that was put off: DLPack does
    not say so. Other tensors as they are."""
    for step in ("detach", "resolve_neg"):
        tensor = getattr(tensor, step)() if hasattr(tensor, step) else tensor
    return tensor


def view(tensor: Any, stream: int | None = None) -> View:
    """``stream`` is the cudaStream_t that will read a tensor on a GPU: it waits
    for what has been begun on the tensor.

    Raises:
      TypeError: the tensor lies neither on the host nor on a CUDA device.
    """
    tensor = settled(tensor)
    kind = tensor.__dlpack_device__()[0]
    if kind not in _HOST_DEVICES + _CUDA_DEVICES:
        raise TypeError(f"it lies on a device of DLPack's kind {int(kind)}, but must lie on the host or on a CUDA device")
    on_gpu = kind in _CUDA_DEVICES
    capsule = tensor.__dlpack__(stream=stream) if on_gpu and stream else tensor.__dlpack__()
    managed = ctypes.cast(_pointer_of(capsule, b"dltensor"), ctypes.POINTER(_DLTensor)).contents
    shape = tuple(managed.shape[: managed.ndim])
    bits = "" if managed.code == 6 else str(managed.bits)
    return View(
        (managed.data or 0) + managed.byte_offset, _KINDS.get(managed.code, "opaque") + bits, shape, _is_dense(managed, shape),
        on_gpu, managed.device_id, capsule,
    )


def _is_dense(tensor: _DLTensor, shape: tuple[int, ...]) -> bool:
    if not tensor.strides or 0 in shape:
        return tensor.lanes == 1
    expected = 1
    for size, stride in zip(reversed(shape), reversed(tensor.strides[: tensor.ndim])):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return tensor.lanes == 1

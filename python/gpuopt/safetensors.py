"""Reads and writes safetensors files with NumPy alone."""

from __future__ import annotations

import contextlib
import json
import os
import secrets

import numpy as np

# The types of elements, in the byte order of the files.
_DTYPES = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


class _OtherType(TypeError):
    """A tensor of the file has a type that NumPy lacks."""


def read(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The tensors of a file by name, as views of a memory map.

    Raises:
      OSError: the file cannot be read.
      ValueError: it is not a safetensors file.
      TypeError: a tensor has elements of a type that NumPy lacks.
    """
    with open(path, "rb"):  # says what is wrong with the path
        pass
    try:
        return _read(path)
    except _OtherType:
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"'{os.fspath(path)}' is not a safetensors file, or is damaged: {error}") from error


def _read(path: str | os.PathLike) -> dict[str, np.ndarray]:
    data = np.memmap(path, dtype=np.uint8, mode="r")
    if len(data) < 8:
        raise ValueError("it is too short")
    header_size = int(np.frombuffer(data[:8], dtype="<u8")[0])
    if header_size > len(data) - 8:
        raise ValueError("its header is longer than the file")
    header = json.loads(bytes(data[8 : 8 + header_size]))
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        dtype = entry["dtype"]
        if dtype not in _DTYPES and dtype != "BF16":
            raise _OtherType(f"'{name}' in '{os.fspath(path)}' has elements of type {dtype}, but must have one of "
                             f"{', '.join([*_DTYPES, 'BF16'])}: convert it before the file is written")
        begin, end = entry["data_offsets"]
        raw = data[8 + header_size + begin : 8 + header_size + end]
        if dtype == "BF16":
            wide = np.frombuffer(raw, dtype="<u2").astype(np.uint32) << 16
            tensors[name] = wide.view(np.float32).reshape(entry["shape"])
        else:
            tensors[name] = np.frombuffer(raw, dtype=_DTYPES[dtype]).reshape(entry["shape"])
    return tensors


def write(path: str | os.PathLike, tensors: dict[str, np.ndarray]) -> None:
    """Writes `tensors` in the given order; the file appears whole or not at all.

    Raises:
      OSError: the file cannot be written.
      TypeError: a tensor has elements that the format has no type for.
    """
    header, offset = {}, 0
    arrays = {name: _in_order_of_files(name, np.asarray(array)) for name, array in tensors.items()}
    for name, array in arrays.items():
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    unfinished = f"{os.fspath(path)}.part-{os.getpid()}-{secrets.token_hex(4)}"  # others may write to the path as well
    try:
        with open(unfinished, "xb") as file:
            file.write(len(text).to_bytes(8, "little"))
            file.write(text)
            for array in arrays.values():
                file.write(array.tobytes())
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(unfinished)
        raise


def _in_order_of_files(name: str, array: np.ndarray) -> np.ndarray:
    """The array with the byte order of the files."""
    dtype = array.dtype.newbyteorder("<")
    if dtype not in _NAMES:
        raise TypeError(f"'{name}' has elements of type {array.dtype}, but a safetensors file takes "
                        f"{', '.join(str(known) for known in _NAMES)}")
    return array.astype(dtype, copy=False)

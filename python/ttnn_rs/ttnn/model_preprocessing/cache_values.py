"""Parameter trees as plain data and files.

A number, a size and a SHA-256 for each tensor.
"""

from __future__ import annotations

import hashlib
import math
import os
import stat
from pathlib import Path
from typing import Any, Final

import torch

from ttnn.base.enums import DataType, MathFidelity
from ttnn.base.exceptions import FileFormatError, ParameterError, TtnnError
from ttnn.model_preprocessing.parameters import (
    Conv2dArgs,
    ConvTranspose2dArgs,
    GroupNormArgs,
    MaxPool2dArgs,
    ModuleArgs,
    ParameterDict,
    ParameterList,
)
from ttnn.tensor.files import dump_tensor, load_tensor
from ttnn.tensor.tensor import Tensor

__all__ = ["DAMAGE", "Reader", "Writer", "read_whole"]

DAMAGE: Final = (OSError, TtnnError, LookupError, TypeError, ValueError, OverflowError, RecursionError)
"""Exceptions raised by reading a damaged manifest or file."""
_CHUNK: Final = 1 << 20
_ARGUMENTS: Final[dict[str, type[ModuleArgs]]] = {
    kind.__name__: kind for kind in (Conv2dArgs, ConvTranspose2dArgs, GroupNormArgs, MaxPool2dArgs)
}
_ENUMS: Final[dict[str, Any]] = {"DataType": DataType, "MathFidelity": MathFidelity}
_TORCH: Final[dict[str, torch.dtype]] = {
    name: getattr(torch, name)
    for name in (
        *("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128"),
        *("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool"),
    )
    if hasattr(torch, name)
}
"""Data types of torch tensors by their names."""


class Writer:
    """Writes a tree: files into a folder, everything else as plain data.

    Args:
        folder: An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def node(self, value: Any, name: str = "the tree") -> Any:
        """Return a part of a tree as plain data.

        Raises:
            ParameterError: it is no tensor, torch tensor, arguments of a module, or dictionary or list of them.
        """
        if isinstance(value, ParameterDict):
            return ["dict", [[_key(key), self.node(item, str(key))] for key, item in value.items()]]
        if isinstance(value, ParameterList):
            return ["list", [self.node(item, f"{name}[{index}]") for index, item in enumerate(value)]]
        if isinstance(value, ModuleArgs) and type(value).__name__ in _ARGUMENTS:
            return ["arguments", type(value).__name__, _plain(dict(value), name)]
        if isinstance(value, Tensor):
            path = self._path(".tensorbin")
            dump_tensor(path, value)
            return ["tensor", *_facts(value), *_measured(path)]
        if isinstance(value, torch.Tensor) and _torch_name(value) in _TORCH and value.layout == torch.strided:
            path = self._path(".bin")
            flat = value.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
            path.write_bytes(flat.view(torch.uint8).numpy().tobytes())
            gradient = value.requires_grad if isinstance(value, torch.nn.Parameter) else None
            return ["torch", _torch_name(value), list(value.shape), gradient, *_measured(path)]
        raise _refused(name, value)

    def _path(self, suffix: str) -> Path:
        self._count += 1
        return self._folder / f"{self._count}{suffix}"


class Reader:
    """Reader of a `Writer` tree, with size and SHA-256 checks.

    Args:
        folder: Where the files are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def value(self, node: Any) -> Any:
        """Return a part of a tree.

        Raises:
            FileFormatError: a file is missing or differs.
            LookupError, TypeError, ValueError: the plain data is not what `Writer` makes.
        """
        kind, *parts = node
        if kind == "dict":
            return ParameterDict({_key(key): self.value(item) for key, item in parts[0]})
        if kind == "list":
            return ParameterList([self.value(item) for item in parts[0]])
        if kind == "arguments":
            return _ARGUMENTS[parts[0]](_value(parts[1]))
        *facts, size, digest = parts
        self._count += 1
        if kind == "tensor":
            path = self._folder / f"{self._count}.tensorbin"
            _compare(path, _measured(path, size), [size, digest])
            tensor = load_tensor(path)
            _compare(path, _facts(tensor), facts)
            return tensor
        if kind == "torch":
            return _torch_tensor(self._folder / f"{self._count}.bin", facts, size, digest)
        raise ValueError(f"{kind!r} is no part of a tree")


def _torch_tensor(path: Path, facts: list[Any], size: int, digest: str) -> Any:
    name, shape, gradient = facts
    data = read_whole(path, size)
    _compare(path, [size, hashlib.sha256(data).hexdigest()], [size, digest])
    dtype = _TORCH[name]
    if math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"{path} has {size} bytes for {shape} of {name}")
    try:
        tensor = torch.frombuffer(data, dtype=dtype).reshape(shape) if data else torch.empty(shape, dtype=dtype)
        return tensor if gradient is None else torch.nn.Parameter(tensor, requires_grad=gradient)
    except RuntimeError as error:
        # A shape that torch refuses, or a gradient of integers.
        raise ValueError(str(error)) from None


def read_whole(path: Path, size: int | None, limit: int | None = None) -> bytearray:
    """Return a regular file's bytes.

    Links are not followed, pipes and devices not opened.

    Raises:
        FileFormatError: it is no regular file, or has another size.
        OSError: it cannot be read.
    """
    with open(_opened(path, size, limit), "rb", buffering=0) as file:
        data = bytearray(os.fstat(file.fileno()).st_size)
        view, done = memoryview(data), 0
        while done < len(data):
            step = file.readinto(view[done:])
            if not step:
                raise FileFormatError(f"{path} became shorter while it was read")
            done += step
    return data


def _opened(path: Path, size: int | None, limit: int | None = None) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    facts = os.fstat(descriptor)
    fault = ""
    if not stat.S_ISREG(facts.st_mode):
        fault = "is no regular file"
    elif size is not None and facts.st_size != size:
        fault = f"has {facts.st_size} bytes, the manifest says {size}"
    elif limit is not None and facts.st_size > limit:
        fault = f"has {facts.st_size} bytes, more than {limit}"
    if fault:
        os.close(descriptor)
        raise FileFormatError(f"{path} {fault}")
    return descriptor


def _measured(path: Path, size: int | None = None) -> list[Any]:
    """Return size and SHA-256 of a file."""
    digest, count = hashlib.sha256(), 0
    with open(_opened(path, size), "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            count += len(chunk)
    return [count, digest.hexdigest()]


def _compare(path: Path, found: list[Any], expected: list[Any]) -> None:
    if found != expected:
        raise FileFormatError(f"{path} differs from the manifest: expected {expected}, got {found}")


def _facts(tensor: Tensor) -> list[Any]:
    return [tensor.dtype.name, tensor.layout.name, [int(size) for size in tensor.shape]]


def _torch_name(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _key(key: Any) -> Any:
    if isinstance(key, bool) or not isinstance(key, int | str):
        raise ParameterError(
            f"preprocess_model: the cache cannot hold the name {key!r}; names are strings and integers"
        )
    return key


def _plain(value: Any, name: str) -> Any:
    """Return a module argument's value in JSON form."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, tuple | list):
        return ["tuple" if isinstance(value, tuple) else "list", [_plain(item, name) for item in value]]
    if isinstance(value, dict):
        return ["dict", [[_key(key), _plain(item, f"{name}.{key}")] for key, item in value.items()]]
    if type(value).__name__ in _ENUMS and isinstance(value, _ENUMS[type(value).__name__]):
        return [type(value).__name__, value.name]
    raise _refused(name, value)


def _value(plain: Any) -> Any:
    if not isinstance(plain, list):
        return plain
    kind, content = plain
    if kind == "dict":
        return {_key(key): _value(item) for key, item in content}
    if kind in ("tuple", "list"):
        return (tuple if kind == "tuple" else list)(_value(item) for item in content)
    return _ENUMS[kind][content]


def _refused(name: str, value: Any) -> ParameterError:
    return ParameterError(
        f"preprocess_model: {name} is a {type(value).__name__}, which the cache cannot hold.",
        vendor=f"Unsupported type: {type(value)}",
    )

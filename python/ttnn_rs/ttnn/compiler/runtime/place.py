"""Tensors in a program's expected form, with counted transfers.

They are converted only where something differs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import ttnn
from ttnn.base.exceptions import FileFormatError, TtnnError
from ttnn.compiler.conversion.ttnn_to_calls.calls import Name, New
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description

__all__ = ["Source", "Transfers", "evaluate", "form", "place", "public"]


@dataclass
class Transfers:
    """Number of tensor moves between host and device.

    Attributes:
        to_device: Copies from the host to a device.
        from_device: Copies from a device to the host.
        conversions: Changes of layout, data type or memory on one side.
        bytes_to_device: Size of what was copied to a device.
        bytes_from_device: Size of what was copied to the host.
    """

    to_device: int = 0
    from_device: int = 0
    conversions: int = 0
    bytes_to_device: int = 0
    bytes_from_device: int = 0

    def up(self, tensor: Any) -> None:
        """Count the copy of a tensor to a device."""
        self.to_device += 1
        self.bytes_to_device += tensor.volume() * tensor.element_size()

    def down(self, tensor: Any) -> None:
        """Count the copy of a tensor to the host."""
        self.from_device += 1
        self.bytes_from_device += tensor.volume() * tensor.element_size()


class Source(ABC):
    """Elements of an input, placed when a program needs them."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape."""

    @abstractmethod
    def place(self, want: Description, device: Any, transfers: Transfers) -> Any:
        """Return the elements as a tensor in a program's form."""


def evaluate(argument: Any, tensors: dict[int, Any], device: Any) -> Any:
    """Return the object that an argument of a call stands for."""
    from ttnn.compiler.conversion.ttnn_to_calls.calls import DeviceArgument, Ref

    if isinstance(argument, Ref):
        return tensors[argument.id]
    if isinstance(argument, Name):
        return public(argument.path)
    if isinstance(argument, New):
        parts = [evaluate(part, tensors, device) for part in argument.arguments]
        return public(argument.path)(*parts, **{k: evaluate(v, tensors, device) for k, v in argument.keywords})
    if isinstance(argument, DeviceArgument):
        return device
    if isinstance(argument, list | tuple):
        return type(argument)(evaluate(part, tensors, device) for part in argument)
    return argument


def public(path: str) -> Any:
    """Return what a public name such as "ttnn.TensorMemoryLayout.INTERLEAVED" means.

    Raises:
        FileFormatError: There is no such name, or it leads to a private name or out of the package.
    """
    found: Any = ttnn
    for part in path.split(".")[1:]:
        try:
            found = None if part.startswith("_") else getattr(found, part)
        except AttributeError as error:
            if isinstance(error, TtnnError):
                raise
            found = None
        if found is None or (isinstance(found, ModuleType) and found.__name__.partition(".")[0] != "ttnn"):
            raise FileFormatError(f"{path} is no public name of the package.")
    return found


def place(tensor: Any, want: Description, device: Any, transfers: Transfers) -> Any:
    """Return a tensor as a program describes it.

    A tensor that is already so is returned itself. One that differs is converted once on the side it is on, and copied
    between host and device if it has to be.

    Args:
        tensor: On the host or the device.
        want: Data type, layout and memory that are expected.
        device: Of the program.
        transfers: Is told of what happens.
    """
    dtype, layout, memory = form(want)
    on_device = tensor.storage_type() == ttnn.StorageType.DEVICE
    if on_device and memory is None:
        transfers.down(tensor)
        tensor = ttnn.from_device(tensor)
        on_device = False
    if tensor.layout != layout or tensor.dtype != dtype:
        transfers.conversions += 1
        if on_device and tensor.dtype != dtype:
            tensor = ttnn.typecast(tensor, dtype) if tensor.layout == ttnn.TILE_LAYOUT else tensor
        elif tensor.layout == layout:
            tensor = ttnn.to_dtype(tensor, dtype)
        tensor = ttnn.to_layout(tensor, layout, None if tensor.dtype == dtype else dtype)
    if memory is not None and not on_device:
        transfers.up(tensor)
        return ttnn.to_device(tensor, device, memory_config=memory)
    if memory is not None and tensor.memory_config() != memory:
        transfers.conversions += 1
        return ttnn.to_memory_config(tensor, memory)
    return tensor


def form(want: Description) -> tuple[Any, Any, Any]:
    """Return the data type, layout and memory config of a description.

    The memory config of the host is None.
    """
    found = _FORMS.get(want.key)
    if found is None:
        memory = None if want.memory is None else evaluate(want.memory, {}, None)
        found = evaluate(want.dtype, {}, None), evaluate(want.layout, {}, None), memory
        if len(_FORMS) < _MOST_FORMS:
            _FORMS[want.key] = found
    return found


_FORMS: Final[dict[str, tuple[Any, Any, Any]]] = {}
_MOST_FORMS: Final = 4096

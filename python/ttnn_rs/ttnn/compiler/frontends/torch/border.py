"""Tensors of PyTorch at the border of programs.

Also their copies on the device.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

import torch

import ttnn
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description
from ttnn.compiler.frontends.resident import Held, Store
from ttnn.compiler.runtime.place import Transfers, form, place

__all__ = ["Parameter", "argument", "from_device", "left", "parameter", "read", "result", "to_host", "write_back"]

_HOST: Final = {
    torch.bool: torch.bfloat16,
    torch.float16: torch.bfloat16,
    torch.float64: torch.float32,
    torch.int8: torch.int32,
    torch.int16: torch.int32,
    torch.int64: torch.int32,
    torch.uint8: torch.int32,
}
"""Types that stand for those that the device does not have."""


def to_host(value: torch.Tensor, name: str) -> Any:
    """Return a tensor of PyTorch as a host tensor.

    Its type is the one that stands for its own on the device.

    Raises:
        UnsupportedError: It has integers beyond 32 bits.
    """
    if value.dtype == torch.int64 and value.numel():
        low, high = int(value.min()), int(value.max())
        wrong = low if low < -(1 << 31) else high
        if low < -(1 << 31) or high >= 1 << 31:
            raise UnsupportedError(f"{name}: {wrong} does not fit 32 bits, and the device has no wider integers.")
    made = value.detach().to(_HOST.get(value.dtype, value.dtype)).contiguous()
    return ttnn.from_torch(made)


def from_device(tensor: Any, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    """Return a tensor of the device as one of PyTorch."""
    found = ttnn.to_torch(tensor).reshape(shape)
    assert isinstance(found, torch.Tensor)
    return found != 0 if dtype == torch.bool else found.to(dtype)


class Parameter(Held):
    """The elements of a tensor of PyTorch, until they change.

    Attributes:
        tensor: The tensor, while it lives.
    """

    def __init__(self, value: torch.Tensor, name: str, origin: Any = None) -> None:
        super().__init__(tuple(value.shape), origin)
        self.tensor = weakref.ref(value)
        self._name = name

    def host(self) -> Any:
        """Return the elements as a host tensor."""
        value = self.tensor()
        assert value is not None
        return to_host(value, self._name)


_STORE: Final[Store[Parameter]] = Store()


def parameter(value: torch.Tensor, name: str) -> Parameter:
    """Return the elements of a tensor as an input of programs.

    They are copied to the device once. What is known of a tensor ends with its memory, and with the next change that
    PyTorch counts.
    """
    if value.is_inference():
        # These tensors do not count their changes.
        return Parameter(value, name)
    found = _STORE.of(_key(value), value.untyped_storage(), value._version, lambda: Parameter(value, name))
    found.tensor = weakref.ref(value)
    return found


def _key(value: torch.Tensor) -> Any:
    """Return what tells a tensor from others that live now."""
    cdata = value.untyped_storage()._cdata
    return cdata, value.storage_offset(), value.shape, value.stride(), value.dtype


def argument(value: torch.Tensor, name: str) -> Any:
    """Return a tensor as an input of programs.

    What a program left on the device is still there, unless the tensor has changed; others are copied.
    """
    if not value.is_inference():
        found = _STORE.find(_key(value), value.untyped_storage(), value._version)
        if found is not None and found.origin is not None:
            found.tensor = weakref.ref(value)
            return found
    return Given(value, name)


def result(tensor: Any, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    """Return a tensor of the device as one of PyTorch.

    That it is there is noted for the next program.
    """
    made = from_device(tensor, dtype, shape)
    if not made.is_inference():
        _STORE.put(_key(made), made.untyped_storage(), made._version, Parameter(made, "a result", tensor))
    return made


def write_back(value: torch.Tensor, target: torch.Tensor) -> None:
    """Copy a result to a tensor.

    Its elements stay on the device too.
    """
    target.copy_(value)
    if value.is_inference() or target.is_inference() or value.dtype != target.dtype:
        return
    found = _STORE.find(_key(value), value.untyped_storage(), value._version)
    if found is not None and found.origin is not None:
        known = Parameter(target, "a result", found.origin)
        _STORE.put(_key(target), target.untyped_storage(), target._version, known)


class Given(Held):
    """A tensor of PyTorch, copied to the device in one step.

    The copy is not kept.
    """

    def __init__(self, value: torch.Tensor, name: str) -> None:
        super().__init__(tuple(value.shape))
        self._value, self._name = value, name

    def host(self) -> Any:
        """Return the elements as a host tensor."""
        return to_host(self._value, self._name)

    def place(self, want: Description, device: Any, transfers: Transfers) -> Any:
        """Return the elements as a tensor in a program's form."""
        dtype, layout, memory = form(want)
        if memory is None or _NATURAL.get(self._value.dtype) != dtype:
            return place(self.host(), want, device, transfers)
        made = ttnn.from_torch(self._value.detach(), layout=layout, device=device, memory_config=memory)
        transfers.up(made)
        return made

    def keep(self, want: Description, device: Any, transfers: Transfers, user: Any) -> Any:
        """Return the elements in a form."""
        return self.place(want, device, transfers)


_NATURAL: Final = {torch.float32: ttnn.float32, torch.bfloat16: ttnn.bfloat16, torch.int32: ttnn.int32}


class Left(Parameter):
    """A result that is on the device only.

    The tensor that stands for it has no elements.
    """

    def host(self) -> Any:
        """Return the elements as a host tensor."""
        return ttnn.from_device(self.origin)


def left(tensor: Any, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    """Return a tensor of PyTorch that stands for one of the device.

    Only programs may read it.
    """
    made = torch.empty(shape, dtype=dtype)
    _STORE.put(_key(made), made.untyped_storage(), made._version, Left(made, "a saved tensor", tensor))
    return made


def read(value: Any) -> Any:
    """Return a tensor with its elements.

    It may stand for one of the device; other values are unchanged.
    """
    if not isinstance(value, torch.Tensor) or value.is_inference():
        return value
    found = _STORE.find(_key(value), value.untyped_storage(), value._version)
    if not isinstance(found, Left):
        return value
    return from_device(found.origin, value.dtype, tuple(value.shape))

"""Tensors of jax, on the host or the device, whole or divided."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

import ttnn
from ttnn import _engine
from ttnn.compiler.frontends.border import Border
from ttnn.compiler.frontends.jax.dtypes import named
from ttnn.compiler.frontends.resident import Held

__all__ = ["Joined", "Value", "from_host", "joined"]


class Value(Held):
    """A tensor whose elements never change.

    Attributes:
        border: How it passes between host and device; None before the first use.
        whole: The tensor of several devices that it is a part of.
        number: Its number there.
    """

    def __init__(self, array: Any = None, tensor: Any = None, border: Border | None = None) -> None:
        """Keep an array, or a tensor and its border.

        Args:
            array: The elements on the host.
            tensor: The elements on the device.
            border: The border.
        """
        super().__init__((), tensor)
        self._array = array
        self.border = border
        self.whole: Joined | None = None
        self.number = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape on the device."""
        return self.border.shape if self.border is not None else tuple(self._array.shape)

    def host(self) -> Any:
        """Return the elements as a host tensor."""
        assert self.border is not None
        return self.border.tensor(self.array)

    @property
    def array(self) -> Any:
        """The elements as an array, copied from the device if necessary."""
        if self._array is None and self.whole is not None:
            self._array = self.whole.array(self.number)
        elif self._array is None and self.border is not None:
            self._array = self.border.array(self.origin)
        return self._array

    def drop(self) -> None:
        """Free what is on the device."""
        super().drop()
        self.whole = None

    def elements(self) -> Any:
        """Return the bytes of the elements in row-major order."""
        array = np.ascontiguousarray(self.array)
        return array.reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)


class Joined(Held):
    """A tensor of several devices, whose parts are tensors of jax.

    Attributes:
        border: How parts pass between host and device.
        device: The devices.
    """

    def __init__(self, border: Border, device: Any, tensor: Any = None) -> None:
        """Keep a tensor of the devices.

        Args:
            border: The border of a part.
            device: The devices.
            tensor: The tensor; None for one that is made of its parts.
        """
        super().__init__(border.shape, tensor)
        self.border = border
        self.device = device
        self._parts: list[weakref.ref[Value]] = []

    def join(self, parts: Sequence[Value]) -> None:
        """Set the parts; they outlive the programs that read them."""
        self._parts = [weakref.ref(one) for one in parts]
        for number, one in enumerate(parts):
            if one.whole is None:
                one.whole, one.number = self, number

    def array(self, number: int) -> Any:
        """Return the elements of a part."""
        return self.border.array(ttnn.get_device_tensors(self.origin)[number])

    def host(self) -> Any:
        """Return the parts as a host tensor."""
        parts = [one() for one in self._parts]
        tensors = [self.border.tensor(one.array) for one in parts if one is not None]
        return ttnn.from_host_shards(tensors, self.device.shape)


def joined(parts: Sequence[Value], border: Border, device: Any) -> Joined:
    """Return the tensor of several devices that values are the parts of."""
    first = parts[0].whole
    fits = all(one.whole is first and one.number == number for number, one in enumerate(parts))
    if first is not None and first.device is device and fits:
        return first
    for one in parts:
        # What is a part of another tensor is read from there.
        one.border = one.border or border
        _ = one.array
    made = Joined(border, device)
    made.join(parts)
    return made


def from_host(source: _engine.HostArray) -> Value:
    """Return the value of an array of jax, without a copy.

    Args:
        source: The array, whose elements are bytes of a size, and the name of their type.
    """
    return Value(np.asarray(source).view(named(source.dtype)))

"""Tensors of jax, on the host, on the device, or both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttnn import _engine
from ttnn.compiler.frontends.jax.dtypes import named

__all__ = ["Value", "from_host"]


class Value:
    """A tensor whose elements never change.

    Attributes:
        tensor: The tensor on the device, in the form that the last program asked for; None before the first use.
    """

    def __init__(self, array: Any = None, tensor: Any = None, read: Callable[[Any], Any] | None = None) -> None:
        """Keep an array, or a tensor and how it is read.

        Args:
            array: The elements on the host.
            tensor: The elements on the device.
            read: Returns the array of a tensor, with the element type of the framework.
        """
        self._array = array
        self._read = read
        self.tensor = tensor

    @property
    def array(self) -> Any:
        """The elements as an array, copied from the device if necessary."""
        if self._array is None and self._read is not None:
            self._array = self._read(self.tensor)
        return self._array

    def elements(self) -> Any:
        """Return the bytes of the elements in row-major order."""
        array = np.ascontiguousarray(self.array)
        return array.reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)


def from_host(source: _engine.HostArray) -> Value:
    """Return the value of an array of jax, without a copy.

    Args:
        source: The array, whose elements are bytes of a size, and the name of their type.
    """
    return Value(np.asarray(source).view(named(source.dtype)))

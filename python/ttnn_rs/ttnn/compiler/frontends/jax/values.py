"""Tensors of jax, on the host, on the device, or both."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttnn import _engine
from ttnn.compiler.frontends.border import Border
from ttnn.compiler.frontends.jax.dtypes import named
from ttnn.compiler.frontends.resident import Held

__all__ = ["Value", "from_host"]


class Value(Held):
    """A tensor whose elements never change.

    Attributes:
        border: How it passes between host and device; None before the first use.
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
        if self._array is None and self.border is not None:
            self._array = self.border.array(self.origin)
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

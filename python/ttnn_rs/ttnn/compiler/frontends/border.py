"""Arrays of a framework at the border of a program.

Their types on the device, and back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ttnn
from ttnn.base.exceptions import ParameterError, ShapeError, UnsupportedError
from ttnn.compiler.importers.builder.types import (
    element_of,
    is_bool,
    is_integer,
    is_signed,
    numpy_dtype,
    shape_of,
    width_of,
)
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import Attribute

__all__ = ["Border"]


@dataclass(frozen=True)
class Border:
    """An input or output of a program.

    The device has no float64, float16, 64-bit integers, signed integers of 8 and 16 bits, and booleans. Values are
    float32, bfloat16, 32-bit integers, unsigned integers of the same bits, and bfloat16 zeros and ones there.

    Attributes:
        name: What messages call it.
        type: Its tensor type in the framework's program.
        kind: `input`, `parameter`, `constant` or `default`.
    """

    name: str
    type: Attribute
    kind: str = "input"

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return shape_of(self.type)

    @property
    def dtype(self) -> Any:
        """Its numpy dtype in the framework."""
        return numpy_dtype(element_of(self.type))

    def tensor(self, value: Any) -> Any:
        """Return an array as a host tensor of the device's type.

        A tensor is returned as it is.

        Raises:
            ShapeError: The array has another shape.
            ParameterError: It has other elements.
            UnsupportedError: It has integers that do not fit 32 bits.
        """
        import ml_dtypes
        import numpy as np

        if isinstance(value, ttnn.Tensor):
            return value
        array = np.asarray(value)
        if array.shape != self.shape:
            raise ShapeError(f"{self.name}: the shape is {list(self.shape)}, got {list(array.shape)}.")
        if array.dtype != self.dtype:
            raise ParameterError(f"{self.name}: the elements are {self.dtype}, got {array.dtype}.")
        element = element_of(self.type)
        if is_bool(element):
            array = array.astype(ml_dtypes.bfloat16)
        elif is_integer(element):
            array = self._integers(array, element)
        elif array.dtype == np.float64:
            with np.errstate(over="ignore"):
                array = array.astype(np.float32)
        elif array.dtype == np.float16:
            array = array.astype(ml_dtypes.bfloat16)
        # A scalar stays one: `ascontiguousarray` would make a vector of it.
        return ttnn.from_torch(np.ascontiguousarray(array) if array.ndim else array)

    def _integers(self, array: Any, element: Attribute) -> Any:
        import numpy as np

        width, signed = width_of(element), is_signed(element)
        if width < 32:
            # The bits of a signed number are those of an unsigned one.
            return array.view(np.dtype(f"uint{width}"))
        target = np.int32 if signed else np.uint32
        limits = np.iinfo(target)
        if width > 32 and array.size and (array.min() < limits.min or array.max() > limits.max):
            wrong = array[(array < limits.min) | (array > limits.max)].reshape(-1)[0]
            raise UnsupportedError(f"{self.name}: {wrong} does not fit 32 bits, and the device has no wider integers.")
        return array.astype(target)

    def array(self, tensor: Any) -> Any:
        """Return a tensor of the device as an array of the framework."""
        import numpy as np

        found = np.asarray(ttnn.to_numpy(tensor)).reshape(self.shape)
        element = element_of(self.type)
        if is_bool(element):
            return found != 0
        if is_integer(element) and width_of(element) < 32 and is_signed(element):
            unsigned = np.dtype(f"uint{width_of(element)}")
            return found.astype(np.int64).astype(unsigned).view(self.dtype)
        return found.astype(self.dtype)

    def __str__(self) -> str:
        return f"{self.name}: {attribute_text(self.type)} ({self.kind})"

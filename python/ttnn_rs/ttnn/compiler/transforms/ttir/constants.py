"""Constants of a module as numbers, and numbers as constants."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ttnn.compiler.dialects.kinds import f32_attr, i32_array, i32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.attributes import DenseAttr, element_format
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    SSAValue,
    TensorType,
)
from ttnn.compiler.transforms.base import owner_of
from ttnn.compiler.transforms.ttir.build import typed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Constant",
    "build_constant",
    "build_full",
    "build_splat",
    "constant_of",
    "fill_attribute",
    "fill_value",
    "is_float",
    "number_type",
    "splat_of",
]

CONSTANTS = ("ttir.full", "ttir.zeros", "ttir.ones", "ttir.constant")


@dataclass(frozen=True)
class Constant:
    """A constant tensor.

    Attributes:
        type: Its type.
        data: One element if all are equal, else all in the shape of the type.
        splat: Whether all elements are equal.
    """

    type: TensorType[Any]
    data: NDArray[Any]
    splat: bool

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.type.get_shape())


def number_type(element: Attribute) -> np.dtype[Any] | None:
    """Return the numpy type of an element type, or None."""
    name = element_format(element)
    if name is None:
        return None
    import ml_dtypes
    import numpy as np

    return np.dtype(getattr(ml_dtypes, name, None) or name)


def is_float(element: Attribute) -> bool:
    """Return whether an element type is a floating point type."""
    return not isinstance(element, IntegerType) and number_type(element) is not None


def fill_value(value: SSAValue) -> Attribute | None:
    """Return the `full` attribute; None for other values.

    Of zeros and ones 0 or 1 as f32 or i32.
    """
    owner = owner_of(value)
    if owner is None:
        return None
    if owner.name == "ttir.full":
        return owner.properties.get("fill_value")
    if owner.name in ("ttir.zeros", "ttir.ones"):
        assert isinstance(value.type, TensorType)
        number = int(owner.name == "ttir.ones")
        return f32_attr(float(number)) if is_float(value.type.element_type) else i32_attr(number)
    return None


def constant_of(value: SSAValue) -> Constant | None:
    """Return a constant's numbers, or None if unknown.

    The value is not constant or has no numbers here.
    """
    owner = owner_of(value)
    if not isinstance(owner, TableOp) or owner.name not in CONSTANTS or not isinstance(value.type, TensorType):
        return None
    import numpy as np

    dtype = number_type(value.type.element_type)
    if dtype is None:
        return None
    if owner.name == "ttir.constant":
        dense = owner.properties.get("value")
        if not isinstance(dense, DenseAttr) or not dense.data:
            return None
        if dense.splat or math.prod(value.type.get_shape()) == 1:
            return Constant(value.type, dense.elements()[:1].reshape(()), True)
        return Constant(value.type, dense.to_numpy(), False)
    attribute = fill_value(value)
    if not isinstance(attribute, (IntegerAttr, FloatAttr)):
        return None
    number = attribute.value.data
    if dtype.kind in "iu" or dtype == np.bool_:
        if not math.isfinite(number):
            return None
        bits = 1 if dtype == np.bool_ else 8 * dtype.itemsize
        raw = int(number) & ((1 << bits) - 1)
        if dtype.kind == "i" and raw >> (bits - 1):
            raw -= 1 << bits
        return Constant(value.type, np.asarray(raw, dtype=dtype), True)
    return Constant(value.type, np.asarray(number, dtype=np.float64).astype(dtype), True)


def splat_of(value: SSAValue) -> float | None:
    """Return a uniform constant's number, or None."""
    found = constant_of(value)
    return float(found.data) if found is not None and found.splat else None


def fill_attribute(element: Attribute, number: float) -> Attribute:
    """Return a number as `full` attribute of an element type."""
    if isinstance(element, IntegerType):
        whole = int(number)
        if element.width.data > 32:
            # The chip has no wider integers: what does not fit is the nearest one that does.
            return i32_attr(max(-(1 << 31), min(whole, (1 << 31) - 1)))
        return i32_attr(whole - (1 << 32) if whole >= 1 << 31 else whole)
    try:
        return f32_attr(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return f32_attr(math.copysign(math.inf, number))


def build_full(module: Module, op: TableOp, type_: Attribute, number: float) -> SSAValue:
    """Insert a `full` before an operation and return its result."""
    assert isinstance(type_, TensorType)
    fill = fill_attribute(type_.element_type, number)
    return typed(module, op, "full", [], type_, shape=_shape(type_), fill_value=fill)


def build_splat(module: Module, op: TableOp, type_: Attribute, number: float) -> SSAValue:
    """Insert the shortest uniform-number operation; return its result.

    It is inserted before another one.
    """
    assert isinstance(type_, TensorType)
    if number == 1 or (number == 0 and math.copysign(1.0, number) > 0):
        return typed(module, op, "ones" if number else "zeros", [], type_, shape=_shape(type_))
    return build_full(module, op, type_, number)


def build_constant(module: Module, op: TableOp, type_: Attribute, data: NDArray[Any]) -> SSAValue:
    """Insert a constant before an operation and return its result.

    Args:
        module: The module.
        op: The operation.
        type_: Type of the constant.
        data: One element or all, in the type of the elements.
    """
    assert isinstance(type_, TensorType)
    import numpy as np

    flat = np.ascontiguousarray(data).reshape(-1)
    if flat.size and (flat.size == 1 or bool((flat.view(np.uint8).reshape(flat.size, -1) == _bytes(flat)).all())):
        return build_splat(module, op, type_, flat[0].item())
    return typed(module, op, "constant", [], type_, value=DenseAttr(type_, flat.tobytes(), splat=False))


def _bytes(flat: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    first: NDArray[Any] = flat[:1].view(np.uint8)
    return first


def _shape(type_: TensorType[Any]) -> DenseArrayBase[Any]:
    sizes: Sequence[int] = tuple(type_.get_shape())
    return i32_array(list(sizes))

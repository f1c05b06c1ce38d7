"""Tensor types, their elements, and constants of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.ir.attributes import DenseAttr, element_format
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    ComplexType,
    IndexType,
    IntegerType,
    NoneAttr,
    Signedness,
    SSAValue,
    TensorType,
    builtin_float,
)

__all__ = [
    "dense",
    "element_of",
    "is_bool",
    "is_complex",
    "is_float",
    "is_integer",
    "is_signed",
    "lowest",
    "numpy_dtype",
    "scalar",
    "shape_of",
    "tensor",
    "width_of",
]

_SIGNS: Final = {"": Signedness.SIGNLESS, "s": Signedness.SIGNED, "u": Signedness.UNSIGNED}


def scalar(name: str) -> Attribute:
    """Return an element type by name: `f32`, `bf16`, `i1`, `si32`, `ui8`."""
    if name.startswith(("f", "bf")):
        return builtin_float(name)
    sign, _, width = name.partition("i")
    return IntegerType(int(width), _SIGNS[sign])


def tensor(shape: Sequence[int], element: Attribute | str) -> TensorType[Any]:
    """Return a tensor type."""
    return TensorType(scalar(element) if isinstance(element, str) else element, list(shape), NoneAttr())


def shape_of(value: SSAValue | Attribute) -> tuple[int, ...]:
    """Return the shape of a tensor value or type."""
    type_ = value.type if isinstance(value, SSAValue) else value
    assert isinstance(type_, TensorType), type_
    return tuple(type_.get_shape())


def element_of(value: SSAValue | Attribute) -> Attribute:
    """Return the element type of a tensor value or type."""
    type_ = value.type if isinstance(value, SSAValue) else value
    assert isinstance(type_, TensorType), type_
    element: Attribute = type_.element_type
    return element


def is_bool(element: Attribute) -> bool:
    """Return whether an element type is `i1`."""
    return isinstance(element, IntegerType) and element.width.data == 1


def is_integer(element: Attribute) -> bool:
    """Return whether an element type is an integer wider than one bit."""
    return isinstance(element, IndexType) or (isinstance(element, IntegerType) and element.width.data > 1)


def is_signed(element: Attribute) -> bool:
    """Return whether an element type is an integer with negative values."""
    return (
        isinstance(element, IntegerType) and element.signedness.data is not Signedness.UNSIGNED and not is_bool(element)
    )


def is_float(element: Attribute) -> bool:
    """Return whether an element type is floating point."""
    return getattr(element, "name", "") in ("f16", "bf16", "f32", "f64")


def is_complex(element: Attribute) -> bool:
    """Return whether an element type is complex."""
    return isinstance(element, ComplexType)


def width_of(element: Attribute) -> int:
    """Return an element type's bits."""
    if isinstance(element, IntegerType):
        return int(element.width.data)
    return {"f16": 16, "bf16": 16, "f64": 64}.get(getattr(element, "name", ""), 32)


def numpy_dtype(element: Attribute) -> Any:
    """Return the numpy dtype of an element type."""
    import ml_dtypes
    import numpy as np

    name = element_format(element)
    assert name is not None, element
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def lowest(element: Attribute) -> float:
    """Return the least number of a type; minus infinity of floats."""
    import numpy as np

    return int(np.iinfo(numpy_dtype(element)).min) if is_integer(element) else -math.inf


def dense(array: Any, element: Attribute) -> DenseAttr:
    """Return an array as a constant; equal elements are stored once."""
    import numpy as np

    values = np.asarray(array).astype(numpy_dtype(element))
    flat = np.ascontiguousarray(values).reshape(-1)
    raw = flat.view(f"V{flat.itemsize}") if flat.size else flat
    splat = bool(flat.size) and bool((raw == raw[:1]).all())
    return DenseAttr(tensor(values.shape, element), (flat[:1] if splat else flat).tobytes(), splat)

"""Types of elements by the names that the engine uses."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from ttnn.base.exceptions import UnsupportedError

__all__ = ["dtype_of_element", "named"]

_ELEMENTS = {
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "ui8": "uint8",
    "ui16": "uint16",
    "ui32": "uint32",
    "ui64": "uint64",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}
"""Names of numpy by those of MLIR."""


@cache
def named(name: str) -> Any:
    """Return the numpy dtype of a name, those of `ml_dtypes` included."""
    extension = getattr(ml_dtypes, name, None)
    return np.dtype(name if extension is None else extension)


def dtype_of_element(text: str) -> Any:
    """Return the numpy dtype of an element type in MLIR.

    Raises:
        UnsupportedError: Programs with such elements are not compiled.
    """
    name = _ELEMENTS.get(text)
    if name is None:
        raise UnsupportedError(f"elements of type {text} are not supported; known: {', '.join(_ELEMENTS)}.")
    return named(name)

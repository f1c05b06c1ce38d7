"""Element types of ONNX, and what stands for them on the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ttnn.compiler.importers.builder.steps import refuse

__all__ = ["BOOL", "FLOAT", "INT64", "Dtype", "array_of", "dtype_of", "dtype_of_array"]


@dataclass(frozen=True)
class Dtype:
    """An element type.

    Attributes:
        number: Its number in the format.
        name: Its name in the format.
    """

    number: int
    name: str

    def __str__(self) -> str:
        """Return the name by which rows of aten operations know it."""
        return f"torch.{_ATEN.get(self.name, self.name)}"

    @property
    def is_floating_point(self) -> bool:
        """True if it is floating point."""
        return self.name in ("float", "float16", "bfloat16", "double")

    @property
    def numpy(self) -> Any:
        """Its numpy dtype."""
        import ml_dtypes
        import numpy as np

        if self.name == "bfloat16":
            return np.dtype(ml_dtypes.bfloat16)
        return np.dtype({"float": "float32", "double": "float64"}.get(self.name, self.name))


_ATEN: Final = {"float": "float32", "double": "float64"}
_DTYPES: Final = {
    one.number: one
    for one in (
        Dtype(1, "float"),
        Dtype(2, "uint8"),
        Dtype(3, "int8"),
        Dtype(5, "int16"),
        Dtype(6, "int32"),
        Dtype(7, "int64"),
        Dtype(9, "bool"),
        Dtype(10, "float16"),
        Dtype(11, "double"),
        Dtype(16, "bfloat16"),
    )
}
_OTHERS: Final = {
    0: "an unknown type", 4: "uint16", 8: "string", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128",
    17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4",
    23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2",
}  # fmt: skip

FLOAT: Final = _DTYPES[1]
INT64: Final = _DTYPES[7]
BOOL: Final = _DTYPES[9]


def dtype_of(number: int) -> Dtype:
    """Return the element type of a number.

    Raises:
        Refusal: The device has nothing that stands for it.
    """
    found = _DTYPES.get(number)
    if found is None:
        refuse(f"has elements of {_OTHERS.get(number, f'type {number}')}, which the device does not have")
    return found


def array_of(tensor: Any) -> Any:
    """Return the elements of a tensor that the model itself has.

    Raises:
        Refusal: They are in a file.
    """
    from onnx import TensorProto, numpy_helper

    if tensor.data_location == TensorProto.EXTERNAL:
        refuse(f"has the tensor {tensor.name!r} in a file, which only initialisers may be")
    return numpy_helper.to_array(tensor)


def dtype_of_array(array: Any) -> Dtype:
    """Return the element type of an array.

    Raises:
        Refusal: The device has nothing that stands for it.
    """
    found = next((one for one in _DTYPES.values() if one.numpy == array.dtype), None)
    if found is None:
        refuse(f"has elements of {array.dtype}, which the device does not have")
    return found

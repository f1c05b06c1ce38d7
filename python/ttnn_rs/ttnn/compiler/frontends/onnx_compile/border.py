"""Arrays of a model at the border of its program."""

from __future__ import annotations

from typing import Any, Final

from ttnn.base.exceptions import ParameterError, ShapeError, UnsupportedError
from ttnn.compiler.importers.onnx.scope import Described

__all__ = ["back", "checked", "to_device"]

_NARROW: Final = ("int8", "int16", "uint8")


def checked(value: Any, described: Described, name: str) -> Any:
    """Return a framework's tensor as an array, checked.

    Raises:
        ShapeError: It has another shape.
        ParameterError: It has other elements.
    """
    import numpy as np

    if hasattr(value, "detach"):
        value = _of_torch(value)
    array = np.asarray(value)
    if array.shape != described.shape:
        raise ShapeError(f"input {name!r}: the shape is {list(described.shape)}, got {list(array.shape)}.")
    if array.dtype != described.dtype.numpy:
        raise ParameterError(f"input {name!r}: the elements are {described.dtype.numpy}, got {array.dtype}.")
    return array


def _of_torch(value: Any) -> Any:
    """Return a tensor of PyTorch as an array, also of bfloat16."""
    import ml_dtypes

    found = value.detach().cpu().contiguous()
    if str(found.dtype) == "torch.bfloat16":
        return found.float().numpy().astype(ml_dtypes.bfloat16)
    return found.numpy()


def to_device(array: Any, described: Described, name: str) -> Any:
    """Return an array with the device's elements.

    Raises:
        UnsupportedError: It has integers beyond 32 bits.
    """
    import ml_dtypes
    import numpy as np

    kind = described.dtype.name
    if kind == "int64":
        wrong = array[(array < -(1 << 31)) | (array >= 1 << 31)]
        if wrong.size:
            raise UnsupportedError(
                f"input {name!r}: {wrong.reshape(-1)[0]} does not fit 32 bits, and the device has no wider integers."
            )
        return array.astype(np.int32)
    if kind in _NARROW:
        return array.astype(np.int32)
    if kind == "double":
        with np.errstate(over="ignore"):
            made = array.astype(np.float32)
        wrong = array[np.isfinite(array) & np.isinf(made)]
        if wrong.size:
            raise UnsupportedError(
                f"input {name!r}: {wrong.reshape(-1)[0]} does not fit float32, and the device has no wider floats."
            )
        return made
    if kind == "float16":
        return array.astype(np.float32).astype(ml_dtypes.bfloat16)
    return array


def back(array: Any, described: Described) -> Any:
    """Return a result of the device with the elements of the model."""
    import numpy as np

    with np.errstate(all="ignore"):
        return array.reshape(described.shape).astype(described.dtype.numpy)

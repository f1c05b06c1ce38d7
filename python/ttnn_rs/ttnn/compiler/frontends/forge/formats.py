"""Element types and accuracies, by the names of tt-forge."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

import torch

from ttnn.base.exceptions import ParameterError

__all__ = ["DataFormat", "MathFidelity", "dtype_of", "format_of"]


def _from_name(kind: Any, encoded: str) -> Any:
    """Return the member of a name.

    Raises:
        ParameterError: There is none.
    """
    if encoded not in kind.__members__:
        raise ParameterError(f"{kind.__name__}: expected one of {', '.join(kind.__members__)}, got {encoded!r}.")
    return kind[encoded]


class DataFormat(Enum):
    """Element types."""

    Float32 = 0
    Float16 = 1
    Bfp8 = 2
    Bfp4 = 3
    Bfp2 = 11
    Float16_b = 5
    Bfp8_b = 6
    Bfp4_b = 7
    Bfp2_b = 15
    Lf8 = 10
    UInt16 = 12
    Int8 = 14
    RawUInt8 = 0xF0
    RawUInt16 = 0xF1
    RawUInt32 = 0xF2
    Int32 = 8
    Invalid = 0xFF

    def to_json(self) -> str:
        """Return the name."""
        return self.name

    @classmethod
    def from_json(cls, encoded: str) -> DataFormat:
        """Return the member of a name."""
        found: DataFormat = _from_name(cls, encoded)
        return found


class MathFidelity(Enum):
    """Accuracies of the matrix unit."""

    LoFi = 0
    HiFi2 = 2
    HiFi3 = 3
    HiFi4 = 4
    Invalid = 0xFF

    def to_json(self) -> str:
        """Return the name."""
        return self.name

    @classmethod
    def from_json(cls, encoded: str) -> MathFidelity:
        """Return the member of a name."""
        found: MathFidelity = _from_name(cls, encoded)
        return found


_FORMATS: Final = {
    torch.float32: DataFormat.Float32,
    torch.float16: DataFormat.Float16,
    torch.bfloat16: DataFormat.Float16_b,
    torch.uint8: DataFormat.Int32,
    torch.int8: DataFormat.Int32,
    torch.bool: DataFormat.Int32,
    torch.int32: DataFormat.Int32,
    torch.int64: DataFormat.Int32,
}
_DTYPES: Final = {
    DataFormat.Float32: torch.float32,
    DataFormat.Float16: torch.float16,
    DataFormat.Float16_b: torch.bfloat16,
    DataFormat.Bfp8_b: torch.bfloat16,
    DataFormat.Bfp4_b: torch.bfloat16,
    DataFormat.Bfp8: torch.float16,
    DataFormat.Bfp4: torch.float16,
    DataFormat.Bfp2: torch.float16,
    DataFormat.RawUInt8: torch.uint8,
    DataFormat.RawUInt32: torch.int32,
    DataFormat.UInt16: torch.int32,
    DataFormat.Int32: torch.int32,
}


def format_of(dtype: Any) -> DataFormat:
    """Return the format that stands for a dtype of PyTorch.

    Raises:
        ParameterError: There is none.
    """
    if isinstance(dtype, DataFormat):
        return dtype
    if dtype not in _FORMATS:
        raise ParameterError(f"{dtype} has no data format; expected one of {', '.join(map(str, _FORMATS))}.")
    return _FORMATS[dtype]


def dtype_of(data_format: DataFormat) -> torch.dtype:
    """Return the dtype of PyTorch for a format.

    Raises:
        ParameterError: There is none.
    """
    if data_format not in _DTYPES:
        raise ParameterError(f"{data_format} has no dtype of PyTorch.")
    return _DTYPES[data_format]

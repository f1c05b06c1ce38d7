"""Quantization calls of the later versions.

Scales and zero points are scalars, or tensors along an axis.
"""

from __future__ import annotations

from typing import Final

from ttnn.compiler.conversion.ttnn_to_calls.parts import Handler
from ttnn.compiler.conversion.ttnn_to_calls.rows import by_type, row

__all__ = ["QUANTIZATION"]

_SCALE: Final = "params.{0}scale.scale params.{0}zero_point.zero_point"
_QUANTIZE: Final = f"ttnn.{{type}} in:tiles {_SCALE.format('')} =axis?:int dtype="

#: What each member of the union `OpType` adds.
QUANTIZATION: Final[dict[str, Handler]] = {
    "EltwiseQuantizationOp": by_type(
        {
            "Quantize": row(f"{_QUANTIZE}:Int32", data_type="Int32"),
            "Dequantize": row(f"{_QUANTIZE}out:dtype", data_type="out"),
            "Requantize": row(
                f"ttnn.requantize in:tiles {_SCALE.format('in_')} {_SCALE.format('out_')} =axis?:int dtype=:Int32",
                data_type="Int32",
            ),
        }
    )
}

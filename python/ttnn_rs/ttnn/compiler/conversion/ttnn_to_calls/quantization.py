"""Quantization calls of the later versions.

Scales and zero points are scalars, or tensors along an axis.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_calls.calls import Argument
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import describe
from ttnn.compiler.conversion.ttnn_to_calls.parts import finish, in_tiles, operand
from ttnn.compiler.conversion.ttnn_to_calls.tt_handlers import Calls, Handler, describe_type

__all__ = ["QUANTIZATION"]

_FUNCTIONS: Final = {
    "Quantize": ("ttnn.quantize", ("scale", "zero_point")),
    "Dequantize": ("ttnn.dequantize", ("scale", "zero_point")),
    "Requantize": ("ttnn.requantize", ("in_scale", "in_zero_point", "out_scale", "out_zero_point")),
}


def _quantization(calls: Calls, table: dict[str, Any]) -> None:
    function, names = _FUNCTIONS[table["type"]]
    want = describe(table["out"])
    parameters: list[Argument] = []
    for name in names:
        inner = "scale" if name.endswith("scale") else "zero_point"
        value = table["params"][name][inner]
        parameters.append(operand(value) if isinstance(value, dict) else value)
    axis = table.get("axis")
    kind = "Int32" if table["type"] != "Dequantize" else want.data_type
    finish(
        calls,
        table,
        function,
        describe(table["in"]).in_tiles(),
        in_tiles(calls, table["in"]),
        *parameters,
        data_type=kind,
        axis=None if axis is None else int(axis),
        dtype=describe_type(kind),
    )


#: What each member of the union `OpType` adds.
QUANTIZATION: Final[dict[str, Handler]] = {"EltwiseQuantizationOp": _quantization}

"""Quantized values: per tensor and per axis."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder import element_of
from ttnn.compiler.importers.stablehlo.scope import Scope
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _quantize(scope: Scope, view: View) -> SSAValue:
    (value,) = scope.operands(view)
    quantized = getattr(element_of(value), "mnemonic", "").startswith("quant")
    made: SSAValue = scope.b.op("requantize" if quantized else "quantize", value, types=[scope.type(view.types[0])])
    return made


def _dequantize(scope: Scope, view: View) -> SSAValue:
    (value,) = scope.operands(view)
    made: SSAValue = scope.b.dequantize(value, types=[scope.type(view.types[0])])
    return made


ROWS: Final = {"stablehlo.uniform_quantize": _quantize, "stablehlo.uniform_dequantize": _dequantize}

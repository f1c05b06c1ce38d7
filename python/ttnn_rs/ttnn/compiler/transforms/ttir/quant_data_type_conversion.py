"""`ttir-quant-data-type-conversion`: quantized numbers in integers of one width.

And what such types express.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from ttnn.compiler.ir.attributes import OpaqueDialectType
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, FunctionType, Operation, TensorType
from ttnn.compiler.transforms.base import set_type

__all__ = ["Quantized", "convert", "quantized"]

_TYPE = re.compile(r"<([iu])(\d+)(?:<(-?\d+):(-?\d+)>)?:(\w+)(?::(\d+))?, (.*)>")


@dataclass(frozen=True)
class Quantized:
    """A type `!quant.uniform`.

    Attributes:
        sign: "i" or "u".
        width: Bits of the stored integer.
        low: Its least value where that is not the least of its width, else None.
        high: Its greatest value, in the same way.
        expressed: The type that it stands for.
        axis: The dimension along which scales differ, or None.
        numbers: Scales and zero points as they are written.
    """

    sign: str
    width: int
    low: int | None
    high: int | None
    expressed: str
    axis: int | None
    numbers: str

    @property
    def scales(self) -> tuple[tuple[float, int], ...]:
        """Scale and zero point, per axis position if any."""
        pairs = (part.strip().partition(":") for part in self.numbers.strip("{}").split(","))
        return tuple((float(scale), int(point or 0)) for scale, _, point in pairs)

    @property
    def type(self) -> OpaqueDialectType:
        """The type."""
        limits = "" if self.low is None else f"<{self.low}:{self.high}>"
        axis = "" if self.axis is None else f":{self.axis}"
        text = f"<{self.sign}{self.width}{limits}:{self.expressed}{axis}, {self.numbers}>"
        return OpaqueDialectType("quant.uniform", (text,), True)


def quantized(element: Attribute) -> Quantized | None:
    """Return what a quantized element type says, or None for other types."""
    if not isinstance(element, OpaqueDialectType) or element.full_name() != "quant.uniform":
        return None
    found = _TYPE.fullmatch("".join(str(part) for part in element.parts))
    if found is None:
        return None
    sign, width, low, high, expressed, axis, numbers = found.groups()
    least, greatest = (None, None) if low is None else (int(low), int(high))
    return Quantized(sign, int(width), least, greatest, expressed, None if axis is None else int(axis), numbers)


def convert(module: Module, options: dict[str, Any]) -> None:
    """Convert all quantized types to the width of the option.

    Raises:
        CompileError: The width is none of 8, 16, 32 and 64, or less than that of a type.
    """
    width = options["target-bit-width"]
    if width not in (8, 16, 32, 64):
        raise CompileError(module.at(module.op, "Invalid quantization bit width (must be 8, 16, 32, or 64). "))
    for function in module.functions():
        kind = function.function_type
        inputs = [_wide(module, function, one, width) for one in kind.inputs.data]
        outputs = [_wide(module, function, one, width) for one in kind.outputs.data]
        function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
        for op in function.walk():
            for region in op.regions:
                for block in region.blocks:
                    for argument in block.args:
                        set_type(argument, _wide(module, op, argument.type, width))
            for result in op.results:
                set_type(result, _wide(module, op, result.type, width))


def _wide(module: Module, op: Operation, type_: Attribute, width: int) -> Attribute:
    found = quantized(type_.element_type) if isinstance(type_, TensorType) else None
    if found is None or not isinstance(type_, TensorType):
        return type_
    if width < found.width:
        message = (
            f"Target integer type of width {width} is smaller than quantized type of width {found.width}. Out of range."
        )
        raise CompileError(module.at(op, message))
    wide = replace(found, sign="i", width=width, low=None, high=None)
    return TensorType(wide.type, type_.get_shape(), type_.encoding)

"""Convolutions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ttnn.compiler.importers.builder import element_of
from ttnn.compiler.importers.builder.convolutions import Convolution, convolve
from ttnn.compiler.importers.builder.types import is_float
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]

_NUMBERS: Final = re.compile(r"\[([^\]]*)\]x\[([^\]]*)\]->\[([^\]]*)\]")


def _order(text: str, first: Sequence[str]) -> tuple[int, ...]:
    """Return the dimensions of letters, then those of the numbers 0, 1, .."""
    words = [one.strip() for one in text.split(",")]
    return tuple(words.index(one) for one in [*first, *map(str, range(len(words) - 2))])


def _convolution(scope: Scope, view: View) -> SSAValue:
    x, w = scope.operands(view)[:2]
    numbers = view.attribute("dimension_numbers")
    found = _NUMBERS.search(attribute_text(numbers)) if numbers is not None else None
    if found is None or trailing(view.types[0]):
        refuse("of complex numbers has no TTIR operation")
    type_ = scope.type(view.types[0])
    if not is_float(element_of(x)) or not is_float(element_of(type_)):
        refuse("of integers has no TTIR operation")
    rank = len(found[1].split(",")) - 2
    ones = [1] * rank
    how = Convolution(
        input=_order(found[1], "bf"),
        kernel=_order(found[2], "oi"),
        output=_order(found[3], "bf"),
        strides=tuple(view.ints("window_strides", ones)),
        padding=tuple(view.pairs("padding", rank)),
        input_dilation=tuple(view.ints("lhs_dilation", ones)),
        kernel_dilation=tuple(view.ints("rhs_dilation", ones)),
        reversal=tuple(bool(one) for one in view.ints("window_reversal", [0] * rank)),
        groups=view.get("feature_group_count", 1),
        batch_groups=view.get("batch_group_count", 1),
    )
    return convolve(scope, scope.cast(x, element_of(type_)), scope.cast(w, element_of(type_)), how)


ROWS: Final = {"stablehlo.convolution": _convolution}

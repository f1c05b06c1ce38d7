"""Generated element-wise test arguments: required parameter values, domains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op
from ttnn.operation.signature import TENSOR

Values = npt.NDArray[Any]


def fit(entry: Op, values: Values) -> Values:
    """Return bfloat16 values inside an operator's accuracy domain."""
    words = np.ascontiguousarray((entry.domain or np.asarray)(values), np.float32).view(np.uint32)
    return (words & np.uint32(0xFFFF0000)).view(np.float32)


def operand_kinds(entry: Op) -> set[str]:
    """Return the kinds of second operands besides a tensor."""
    pairs = [signature.positional[:2] for signature in entry.signatures]
    return {second.kind.text for first, second in pairs if first.kind is TENSOR}


def unary_calls(entry: Op) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments after the tensor."""
    assert isinstance(entry.examples, tuple)
    yield from entry.examples


def binary_calls(entry: Op, shape: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield further arguments: equal shapes, broadcast, one number.

    After the first tensor.
    """
    kinds = operand_kinds(entry)
    for more in unary_calls(entry):
        if TENSOR.text in kinds:
            yield (Operand(shape), *more)
            # `div_no_nan` selects by the divisor: three operands, see below.
            empty = 0 in shape and entry.name == "div_no_nan"
            if len(shape) >= 2 and not entry.name.endswith("_") and not empty:
                yield (Operand((1, shape[-1])), *more)
                yield (Operand((*shape[:-1], 1)), *more)
                yield (Operand((1, 1)), *more)
        if kinds - {TENSOR.text}:
            yield (2, *more)


def ternary_calls(entry: Op, shape: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield further arguments: equal shapes, broadcast, numbers.

    After the first tensor.
    """
    yield (Operand(shape, 1), Operand(shape, 2))
    if entry.name == "snake_beta":  # its parameters have one shape
        if len(shape) >= 2 and 0 not in shape:
            yield (Operand((1, shape[-1]), 1), Operand((1, shape[-1]), 2))
        return
    if len(shape) >= 2 and 0 not in shape:  # sizes of 0 and 1 are no broadcast of three operands
        row, column = (1, shape[-1]), (*shape[:-1], 1)
        yield (Operand(row, 1), Operand(shape, 2))
        yield (Operand(row, 1), Operand(column, 2))
        if entry.name != "addcdiv":  # quotients of two padded operands: infinities beside the values
            yield (Operand(column, 1), Operand((1, 1), 2))
    if np.prod(shape) < 100:  # a number fills the padding, too, and takes the exponent of the few values beside it
        return
    if entry.name == "where":
        yield (1, Operand(shape, 2))
        yield (Operand(shape, 1), 1)
        yield (2, 1)
    elif entry.name == "lerp":
        yield (Operand(shape, 1), 2)
    elif entry.name == "mac":
        yield (Operand(shape, 1), 3)
        yield (2, Operand(shape, 2))
        yield (2, 3)

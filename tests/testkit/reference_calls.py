"""Operator calls for reference comparison: arguments, bounds, comparison.

Arguments come after the first tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import takewhile
from operator import attrgetter
from typing import Any

import numpy as np

import ttnn
from testkit.eltwise_calls import Operand, binary_calls, fit, ternary_calls
from testkit.operands import INTEGERS, assert_within, make_operand, values_of, wrapped
from ttnn.operation import registry


def calls(entry: registry.Op, shape: tuple[int, ...], layout: ttnn.Layout) -> Iterator[tuple[Any, ...]]:
    """Yield an operator's trial arguments, if it supports the shape.

    They come after the first tensor.
    """
    if callable(entry.examples):
        yield from entry.examples(shape, layout)
    elif entry.family == "binary":
        yield from binary_calls(entry, shape)
    elif entry.family == "ternary":
        yield from ternary_calls(entry, shape)
    else:
        yield from entry.examples


TENSORS = "collections.abc.Sequence[ttnn.Tensor]"


def split_keywords(arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return an example's positional and keyword arguments.

    The latter are a dictionary at its end.
    """
    if arguments and isinstance(arguments[-1], dict):
        return arguments[:-1], arguments[-1]
    return arguments, {}


def with_tensors(
    keywords: dict[str, Any], dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> dict[str, Any]:
    """Return keyword arguments with tensors in place of their placeholders."""
    return {
        name: make_operand(value, dtype, layout, device) if isinstance(value, Operand) else value
        for name, value in keywords.items()
    }


def plain_values(keywords: dict[str, Any]) -> dict[str, Any]:
    """Return keyword arguments with arrays in place of tensors, for a reference."""
    return {name: values_of(value) if isinstance(value, ttnn.Tensor) else value for name, value in keywords.items()}


def callable_of(entry: registry.Op, function: Any = None) -> Any:
    """Return an operator or reference with list tensors as arguments.

    It is called with tensors one by one also where it takes a list.
    """
    called = attrgetter(entry.name)(ttnn) if function is None else function
    if entry.signatures[0].params[0].kind.text != TENSORS:
        return called

    def of_list(*values: Any, **keywords: Any) -> Any:
        tensors = list(takewhile(lambda value: isinstance(value, ttnn.Tensor | np.ndarray), values))
        return called(tensors, *values[len(tensors) :], **keywords)

    return of_list


# Families with generated tests of their own: test_backward.py and test_complex.py.
OWN_TESTS = ("backward", "complex")
GATED = {"glu", "reglu", "geglu", "swiglu"}
MATMULS = {"matmul", "linear", "addmm"}
REDUCTIONS = {"sum", "mean", "max", "min"}


def applies(entry: registry.Op, dtype: ttnn.DataType, layout: ttnn.Layout) -> bool:
    tiled = layout is ttnn.TILE_LAYOUT
    if entry.name == "argmax" and tiled:
        return dtype in (ttnn.bfloat16, ttnn.float32)
    if dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b) and entry.name in ("cumprod", "moreh_softmax", "moreh_softmin"):
        # Each factor is rounded to the exponent of its block; sums of exponentials beside larger ones are 0.
        return False
    if entry.name in ("floor_div", "fmod", "remainder") and dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b):
        # A rounded quotient moves the result by a whole divisor.
        return False
    if entry.family == "binary" and entry.domain and dtype is ttnn.bfloat4_b:
        # Small operands become 0 in this type, and the infinity of their quotient takes the block's exponent.
        return False
    if entry.name in ("tilize_with_zero_padding", "to_layout", "pad", "typecast"):
        return dtype is not ttnn.int8
    return True


def takes_integers(entry: registry.Op, arguments: tuple[Any, ...]) -> bool:
    """Return True if an integer operator accepts this second operand.

    Together with integers.
    """
    if entry.name == "pow":
        return not isinstance(arguments[0], Operand)
    # A product with the number's inverse, which integers do not hold.
    return entry.name not in ("div_no_nan", "floor_div") or isinstance(arguments[0], Operand)


def _of_integers(entry: registry.Op, reference: Any, before: Any, dtype: ttnn.DataType) -> Any:
    """Return a type's value for unrepresentable references."""
    if entry.name == "square":
        return wrapped(before, dtype, 2)
    if entry.name == "sum":
        return wrapped(reference, dtype)
    if entry.name in REDUCTIONS:
        # The largest of no integers is the smallest integer there is.
        low, high = INTEGERS[dtype]
        return np.clip(reference, low, high - 1)
    return wrapped(reference, dtype) if entry.family == "binary" or entry.name == "cumsum" else reference


def fitting(entry: registry.Op) -> Callable[[Any], Any] | None:
    return partial(fit, entry) if entry.family or entry.domain is not None else None


def largest_integer(entry: registry.Op) -> int | None:
    """Return the largest integer with exact float64 products, where relevant.

    Of three, or of two.
    """
    if entry.name == "embedding":  # rows of the table
        return 100
    if entry.name in GATED:  # of two 16-bit integers
        return 200
    if entry.name == "scatter_add":  # sums of 16-bit integers
        return 1000
    if entry.name == "cumprod":  # of any number of factors
        return 1
    if entry.family == "ternary" or entry.name in ("l1_loss", "mse_loss"):
        return 1000
    return 1 << 20 if entry.family == "binary" else None


def compare(entry: registry.Op, result: Any, before: Any, plain: list[Any], **keywords: Any) -> None:
    """Compare a result, or a list, with references and bound.

    It is the bound of the entry.
    """
    assert entry.golden is not None
    reference = callable_of(entry, entry.golden)(before, *plain, **keywords)
    if isinstance(result, list | tuple):
        assert len(result) == len(reference)
        for part, expected in zip(result, reference, strict=True):
            _compare(entry, part, np.asarray(expected), before, plain)
    else:
        _compare(entry, result, np.asarray(reference), before, plain)


def _compare(entry: registry.Op, result: ttnn.Tensor, reference: Any, before: Any, plain: list[Any]) -> None:
    if result.dtype in INTEGERS:
        reference = _of_integers(entry, reference, before, result.dtype)
    assert result.storage_type() is ttnn.StorageType.DEVICE
    assert tuple(result.shape) == reference.shape
    bound = None if entry.accuracy is None else entry.accuracy.bound(result.dtype, result.device().arch())
    measure = None if entry.accuracy is None else entry.accuracy.magnitude
    assert_within(reference, result, bound, None if measure is None else np.asarray(measure(before, *plain)))

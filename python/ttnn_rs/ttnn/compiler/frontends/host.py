"""Operations that the host computes between programs of the device.

No operation of the device gives their values: integer arithmetic beyond 16 bits, random bits, factors and solutions of
linear systems. No product, convolution or reduction of floating-point numbers is among them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ttnn.base.exceptions import ConfigError
from ttnn.compiler.frontends.random_bits import philox, threefry

__all__ = ["OPERATIONS", "islands_allowed"]

_VARIABLE: Final = "TTNN_HOST_ISLANDS"

Options = Mapping[str, Any]
Operation = Callable[[Sequence[Any], Options], list[Any]]


def islands_allowed() -> bool:
    """Return whether operations may run on the host: `TTNN_HOST_ISLANDS` is not 0.

    Raises:
        ConfigError: The variable is neither 0 nor 1.
    """
    text = os.environ.get(_VARIABLE, "1")
    if text not in ("0", "1"):
        raise ConfigError(f"{_VARIABLE} is {text!r}; expected 0 or 1.")
    return text == "1"


def _divide(values: Sequence[Any], options: Options) -> list[Any]:
    """Quotients of integers, cut off.

    Those by zero have all bits set, as in XLA.
    """
    del options
    a, b = values
    by = np.where(b == 0, 1, b).astype(b.dtype)
    with np.errstate(over="ignore"):
        quotient = a // by
        if a.dtype.kind == "i":
            quotient = quotient + ((a - quotient * by != 0) & ((a < 0) != (by < 0))).astype(a.dtype)
    return [np.where(b == 0, np.array(-1).astype(a.dtype), quotient).astype(a.dtype)]


def _shift_right(values: Sequence[Any], options: Options) -> list[Any]:
    """Arithmetic shifts of unsigned integers.

    By the width or more they leave the sign.
    """
    del options
    value, count = values
    signed = value.view(np.dtype(f"int{8 * value.itemsize}"))
    last = 8 * value.itemsize - 1
    return [np.right_shift(signed, np.minimum(count, last).astype(signed.dtype)).view(value.dtype)]


def _popcnt(values: Sequence[Any], options: Options) -> list[Any]:
    del options
    (value,) = values
    unsigned = value.view(np.dtype(f"uint{8 * value.itemsize}"))
    return [np.bitwise_count(unsigned).astype(value.dtype)]


def _count_leading_zeros(values: Sequence[Any], options: Options) -> list[Any]:
    del options
    (value,) = values
    width = 8 * value.itemsize
    rest = value.view(np.dtype(f"uint{width}")).copy()
    for step in (32, 16, 8, 4, 2, 1):
        if step < width:
            rest |= rest >> rest.dtype.type(step)
    return [(width - np.bitwise_count(rest)).astype(value.dtype)]


def _sort(values: Sequence[Any], options: Options) -> list[Any]:
    """Values in the order of an integer key; equal keys keep theirs."""
    dim, key = int(options["dimension"]), values[int(options["key"])]
    order = np.argsort(~key if options["descending"] else key, axis=dim, kind="stable")
    return [np.take_along_axis(one, order, axis=dim) for one in values]


def _factor(matrix: Any) -> Any:
    whole = np.tril(matrix) + np.swapaxes(np.tril(matrix, -1), -1, -2)
    try:
        return np.linalg.cholesky(whole).astype(matrix.dtype)
    except np.linalg.LinAlgError:
        return np.where(np.tri(len(matrix), dtype=bool), np.nan, 0).astype(matrix.dtype)


def _cholesky(values: Sequence[Any], options: Options) -> list[Any]:
    """Factors of matrices, NaN for one that is not positive definite."""
    (value,) = values
    lower = bool(options["lower"])
    given = value if lower else np.swapaxes(value, -1, -2)
    flat = given.reshape(-1, *given.shape[-2:])
    made = np.stack([_factor(one) for one in flat]).reshape(given.shape) if len(flat) else given
    return [np.ascontiguousarray(made if lower else np.swapaxes(made, -1, -2))]


def _triangular_solve(values: Sequence[Any], options: Options) -> list[Any]:
    """Solutions of op(a) x = b or x op(a) = b, row by row."""
    a, b = values
    lower, left = bool(options["lower"]), bool(options["left"])
    if bool(options["transposed"]):
        a, lower = np.swapaxes(a, -1, -2), not lower
    if not left:
        # x a = b is a' x' = b'.
        a, b, lower = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), not lower
    x = np.array(b)
    count = a.shape[-1]
    rows = range(count) if lower else range(count - 1, -1, -1)
    with np.errstate(all="ignore"):
        for row in rows:
            known = slice(0, row) if lower else slice(row + 1, count)
            rest = np.einsum("...k,...kn->...n", a[..., row, known], x[..., known, :])
            x[..., row, :] = x[..., row, :] - rest
            if not options["unit"]:
                x[..., row, :] /= a[..., row, row, None]
    return [np.ascontiguousarray(x if left else np.swapaxes(x, -1, -2))]


def _random_bits(values: Sequence[Any], options: Options) -> list[Any]:
    (state,) = values
    shape = tuple(int(size) for size in options["shape"].split("x") if size)
    generator = threefry if options["algorithm"] == "THREE_FRY" else philox
    with np.errstate(over="ignore"):
        return list(generator(state, shape, np.dtype(str(options["dtype"]))))


def _bitcast(values: Sequence[Any], options: Options) -> list[Any]:
    """Elements of another width.

    The last dimension holds the parts of a wide one.
    """
    (value,) = values
    dtype = np.dtype(str(options["dtype"]))
    made = np.ascontiguousarray(value).view(dtype) if value.ndim else value.reshape(1).view(dtype)
    if dtype.itemsize > value.itemsize:
        return [made.reshape(value.shape[:-1])]
    return [made.reshape(*value.shape, value.itemsize // dtype.itemsize)]


OPERATIONS: Final[dict[str, Operation]] = {
    "bitcast": _bitcast,
    "cholesky": _cholesky,
    "count_leading_zeros": _count_leading_zeros,
    "divide": _divide,
    "popcnt": _popcnt,
    "random_bits": _random_bits,
    "shift_right": _shift_right,
    "sort": _sort,
    "triangular_solve": _triangular_solve,
}
"""All of them, by name."""

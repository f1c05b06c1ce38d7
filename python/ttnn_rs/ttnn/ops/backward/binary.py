"""Gradients of functions of two tensors.

Source: https://docs.tenstorrent.com/tt-metal/latest/ttnn/ttnn/api/ttnn.NAME.html, one page for each operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.enums import BLOCK_FLOATS, DataType, Layout
from ttnn.base.enums import UnaryOpType as U
from ttnn.base.exceptions import DTypeError, LayoutError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import backward as g
from ttnn.operation.registry import FastOperation
from ttnn.operation.signature import FLOAT, Param, Signature
from ttnn.operation.steps import single
from ttnn.ops._programs.common import IGNORED_MEMORY_CONFIG, MEMORY_CONFIG_OPTION
from ttnn.ops.backward.constants import ANY
from ttnn.ops.backward.family import FLOATS, GRAD, INPUT_A, INPUT_B, check_operands, entry
from ttnn.ops.backward.forward import NAN, Forward, named
from ttnn.tensor.tensor import Tensor

_LN2: Final = single(math.log(2.0))


def _atan2(do: Forward, grad: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    inverse = do.multiply(grad, do.chain(do.hypot(a, b), U.SQUARE, U.RECIP))
    grad_a = do.multiply(b, inverse)
    origin = do.logical_and(do.eqz(a), do.eqz(b))
    grad_a = do.where(origin, NAN, grad_a)
    grad_b = do.where(origin, NAN, do.multiply(do.neg(a), inverse))
    return [grad_a, grad_b]


def _xlogy(do: Forward, grad: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    log = do.log(b, fast_and_approximate_mode=True)
    flat = do.logical_and(do.logical_or(do.eqz(a), do.eqz(grad)), do.le(b, 0.0))
    log = do.where(flat, 0.0, do.where(do.ltz(b), NAN, log))
    grad_a = do.multiply(grad, log)
    quotient = do.multiply(a, b, input_tensor_b_activations=[U.RECIP])
    return [grad_a, do.multiply(grad, quotient)]


def _hypot(do: Forward, grad: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    inverse = do.reciprocal(do.hypot(a, b))
    return [do.multiply(grad, do.multiply(side, inverse)) for side in (a, b)]


def _ldexp(do: Forward, grad: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    grad_a = do.multiply(grad, do.rpow(b, 2.0))
    return [grad_a, do.multiply(a, do.multiply(grad_a, _LN2))]


def _share(do: Forward, grad: Tensor, power: Tensor) -> Tensor:
    return do.multiply(grad, do.reciprocal(do.add(power, 1)))


def _refuse_block_floats(operator: str, *operands: Tensor) -> None:
    for tensor in operands:
        if tensor.dtype in BLOCK_FLOATS:
            raise DTypeError(
                f"{operator}: an operand is {tensor.dtype.name}; expected BFLOAT16 or FLOAT32.",
                vendor="BFLOAT8_B/BFLOAT4_B dtypes are not supported !!",
            )


def _logaddexp(do: Forward, grad: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    _refuse_block_floats("ttnn.logaddexp_bw", grad, a, b)
    return [_share(do, grad, do.exp(do.subtract(y, x))) for x, y in ((a, b), (b, a))]


def _logaddexp2(do: Forward, grad: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    _refuse_block_floats("ttnn.logaddexp2_bw", grad, a, b)
    return [_share(do, grad, do.rpow(do.subtract(y, x), 2.0)) for x, y in ((a, b), (b, a))]


def _squared_difference(do: Forward, grad: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    grad_a = do.multiply(do.multiply(grad, do.subtract(a, b)), 2)
    # The bits of -1; products of integers wrap.
    return [grad_a, do.multiply(grad_a, 2**32 - 1 if grad_a.dtype is DataType.UINT32 else -1)]


def _smaller_and_larger(do: Forward, grad: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return grad where a < b, and where a > b.

    Where they are equal it is half of it, elsewhere 0.
    """
    half = do.multiply(grad, 0.5)
    difference = do.subtract(b, a)
    if difference.layout is not Layout.TILE:
        raise LayoutError(
            "the operands are row-major; convert one of them with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="Ternary operation requires tensor to be in Tile layout when working with non-sharded input tensor. "
            "Input tensor layout: 0",
        )
    below, equal, above = do.gtz(difference), do.eqz(difference), do.ltz(difference)
    shared = do.where(equal, half, 0.0)
    larger = do.where(above, grad, shared)
    return do.where(below, grad, shared), larger


def _max(do: Forward, grad: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    smaller, larger = _smaller_and_larger(do, grad, a, b)
    return [larger, smaller]


def _min(do: Forward, grad: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    return list(_smaller_and_larger(do, grad, a, b))


def _quotient_rest(mode: str) -> Callable[[Forward, Tensor, Tensor, Tensor], list[Tensor]]:
    """Return the gradients of what a division with the given rounding leaves."""

    def steps(do: Forward, grad: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
        quotient = do.div(a, b, rounding_mode=mode)
        return [grad, do.multiply(do.neg(grad), quotient)]

    return steps


@dataclass(frozen=True)
class Pair:
    """One operator of two tensors: formulas of both gradients, reference and composition."""

    name: str
    formula: str
    golden: Callable[..., Any]
    steps: Callable[[Forward, Tensor, Tensor, Tensor], list[Tensor]]
    dtypes: tuple[DataType, ...] = FLOATS
    by_number: bool = False
    """True if the second operand may be a scalar.

    The gradient is then `grad`. The first operand always may be one.
    """
    rows: bool = True
    """True if every step also accepts row-major tensors."""
    note: str = ""
    """Added to the docstring."""
    ulp: tuple[float, ...] = ()
    """Largest errors, as those of a `Gradient`."""


_INT32: Final = (*FLOATS, DataType.INT32)
_NARROW: Final = (DataType.BFLOAT16, DataType.FLOAT32)
_HALVES: Final = (
    "int32 gradients are int32. Half of grad is computed in float32, and where the operands are equal the gradient has "
    "its bit pattern, which `ttnn.where` copies unconverted."
)
_PASSED_ON: Final = "The first gradient is `grad_tensor` itself."
_SHARES: Final = "grad / (1 + {0}^(b - a)), grad / (1 + {0}^(a - b))"

TABLE: Final = (
    Pair("atan2_bw", "grad * b / (a^2 + b^2), -grad * a / (a^2 + b^2)", g.atan2, _atan2, ulp=(4.41, 4.64, 4.7)),
    Pair("xlogy_bw", "grad * ln(b), grad * a / b", g.xlogy, _xlogy, ulp=(2.2, 2.14, 0.991)),
    Pair("hypot_bw", "grad * a / hypot(a, b), grad * b / hypot(a, b)", g.hypot, _hypot, ulp=(2.59, 2.78, 1.7)),
    Pair("ldexp_bw", "grad * 2^b, grad * a * 2^b * ln(2)", g.ldexp, _ldexp, ulp=(3.01, 2.41, 1.39)),
    Pair("logaddexp_bw", _SHARES.format("e"), g.logaddexp, _logaddexp, _NARROW, ulp=(4.59, 4.31)),
    Pair("logaddexp2_bw", _SHARES.format("2"), g.logaddexp2, _logaddexp2, _NARROW, ulp=(3.24, 2.7)),
    Pair("squared_difference_bw", "2 * grad * (a - b), -2 * grad * (a - b)", g.squared_difference, _squared_difference,
         ANY, ulp=(1.43, 1.43, 0.826)),
    Pair("max_bw", "grad where a > b, grad / 2 where a = b, else 0; grad where b > a, grad / 2 where a = b, else 0",
         g.maximum, _max, rows=False, note=_HALVES, ulp=(0, 0, 20.4)),
    Pair("min_bw", "grad where a < b, grad / 2 where a = b, else 0; grad where b < a, grad / 2 where a = b, else 0",
         g.minimum, _min, rows=False, note=_HALVES, ulp=(0, 0, 20.4)),
    Pair("remainder_bw", "grad, -grad * floor(a / b)", g.remainder, _quotient_rest("floor"), _INT32, True,
         note=_PASSED_ON, ulp=(0, 0, 0.267)),
    Pair("fmod_bw", "grad, -grad * trunc(a / b)", g.fmod, _quotient_rest("trunc"), _INT32, True,
         note=_PASSED_ON, ulp=(0, 0, 0.267)),
)  # fmt: skip


def _steps_of_two(row: Pair) -> Callable[..., list[Tensor]]:
    operator = f"ttnn.{row.name}"

    def run(grad: Tensor, a: Tensor, b: Tensor | float, place: MemoryConfig | None) -> list[Tensor]:
        with named(operator):
            if not isinstance(b, Tensor):
                check_operands(operator, grad_tensor=grad, input_tensor_a=a)
                return [grad]
            check_operands(operator, grad_tensor=grad, input_tensor_a=a, input_tensor_b=b)
            return row.steps(Forward(place), grad, a, b)

    return run


def _signatures(row: Pair) -> Sequence[Signature]:
    of_two = Signature((GRAD, INPUT_A, INPUT_B), (MEMORY_CONFIG_OPTION,))
    if not row.by_number:
        return [of_two]
    number = Param("scalar", FLOAT, doc="Divisor. Its gradient is not computed.")
    return [of_two, Signature((GRAD, INPUT_A, number), (IGNORED_MEMORY_CONFIG,))]


OPERATORS: Final[dict[str, FastOperation]] = {
    row.name: entry(
        row.name,
        tuple(_signatures(row)),
        _steps_of_two(row),
        row.formula,
        row.golden,
        dtypes=row.dtypes,
        rows=row.rows,
        note=row.note,
        ulp=row.ulp,
    )
    for row in TABLE
}

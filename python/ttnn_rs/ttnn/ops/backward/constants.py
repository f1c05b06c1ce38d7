"""Gradients of functions with slope 0 or 1 wherever they are smooth."""

from __future__ import annotations

import math
from typing import Final

from ttnn.base.enums import DataType
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import backward as g
from ttnn.operation.registry import FastOperation
from ttnn.operation.signature import Signature
from ttnn.operation.steps import single
from ttnn.ops._programs.common import IGNORED_MEMORY_CONFIG, MEMORY_CONFIG_OPTION
from ttnn.ops.backward.family import (
    FLOATS,
    GRAD,
    INPUT,
    INPUT_GRAD,
    PASSED_ON,
    Gradient,
    check_operands,
    entry,
    output_for,
    register_gradients,
)
from ttnn.ops.backward.forward import Forward, named
from ttnn.tensor.tensor import Tensor

ANY: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32, DataType.INT32, DataType.UINT32)
_ZERO: Final = "0"


def _zero(do: Forward, grad: Tensor, _x: Tensor) -> Tensor:
    return do.zeros_like(grad)


def _passed_on(do: Forward, grad: Tensor, _x: Tensor) -> Tensor:
    return grad


def _neg(do: Forward, grad: Tensor, _x: Tensor, output: Tensor) -> Tensor:
    return do.neg(grad, output_tensor=output)


def _deg2rad(do: Forward, grad: Tensor, _x: Tensor) -> Tensor:
    return do.multiply(grad, single(math.pi / 180.0))


def _rad2deg(do: Forward, grad: Tensor, _x: Tensor) -> Tensor:
    return do.multiply(grad, single(180.0 / math.pi))


def _square(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(do.multiply(grad, 2.0), x)


def _abs(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.sign(x))


TABLE: Final = (
    *(
        Gradient(f"{name}_bw", _ZERO, g.zero, _zero, dtypes=ANY, rows=True, ulp=PASSED_ON)
        for name in ("ceil", "floor", "round", "trunc", "sign", "fill_zero")
    ),
    Gradient(
        "frac_bw",
        "grad",
        g.same,
        _passed_on,
        dtypes=ANY,
        note="It returns `grad_tensor` itself.",
        place=IGNORED_MEMORY_CONFIG,
        rows=True,
        ulp=PASSED_ON,
    ),
    Gradient(
        "neg_bw", "-grad", g.neg, _neg, takes_output=True, dtypes=(*FLOATS, DataType.INT32), rows=True, ulp=PASSED_ON
    ),
    Gradient("deg2rad_bw", "grad * pi / 180", g.deg2rad, _deg2rad, rows=True, ulp=(2.22, 0.627, 0.508)),
    Gradient("rad2deg_bw", "grad * 180 / pi", g.rad2deg, _rad2deg, rows=True, ulp=(0.67, 0.695, 0.601)),
    Gradient("square_bw", "2 * grad * x", g.square, _square, rows=True, ulp=(0.5, 0.5, 0.608)),
    Gradient("abs_bw", "grad * sign(x)", g.abs_, _abs, rows=True, ulp=PASSED_ON),
)


def _fill(grad: Tensor, x: Tensor, place: MemoryConfig | None, output: Tensor | None) -> list[Tensor]:
    with named("ttnn.fill_bw"):
        check_operands("ttnn.fill_bw", grad_tensor=grad, input_tensor=x)
        if output is None:
            return [Forward(place).zeros_like(grad)]
        do, output = output_for("ttnn.fill_bw", place, x, output)
        return [do.zeros_like(grad, output)]


OPERATORS: Final[dict[str, FastOperation]] = register_gradients(*TABLE) | {
    "fill_bw": entry(
        "fill_bw",
        (Signature((GRAD, INPUT), (MEMORY_CONFIG_OPTION, INPUT_GRAD)),),
        _fill,
        _ZERO,
        g.zero,
        dtypes=ANY,
        rows=True,
        ulp=PASSED_ON,
    )
}

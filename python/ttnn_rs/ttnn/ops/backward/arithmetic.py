"""Gradients of sums, differences, products, quotients and copies.

Each of the two may be left out or preallocated.

Source: https://docs.tenstorrent.com/tt-metal/latest/ttnn/ttnn/api/ttnn.NAME.html, one page for each operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.base.enums import DataType
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import backward as g
from ttnn.operation.registry import FastOperation, find
from ttnn.operation.signature import FLOAT, Param, Signature
from ttnn.ops._programs.common import IGNORED_MEMORY_CONFIG, MEMORY_CONFIG_OPTION
from ttnn.ops.backward.constants import ANY
from ttnn.ops.backward.family import (
    FLOATS,
    GRAD,
    INPUT,
    INPUT_A,
    INPUT_A_GRAD,
    INPUT_B,
    INPUT_B_GRAD,
    INPUT_GRAD,
    OTHER_GRAD,
    PASSED_ON,
    PRODUCT_WITH_A_NUMBER,
    REQUIRED_OUTPUTS,
    Gradients,
    check_operands,
    entry,
    output_for,
    preallocated,
    required,
)
from ttnn.ops.backward.forward import NAN, Forward, named
from ttnn.ops.backward.unary_scalars import ROUNDING_MODE, check_rounding, inverse
from ttnn.tensor.tensor import Tensor

_ALPHA: Final = Param("alpha", FLOAT, 1.0, doc="Multiplier of `b`.")
_SCALAR: Final = Param("scalar", FLOAT, doc="Second operand, `b`: a scalar.")
_OTHER: Final = Param("other_tensor", INPUT.kind, doc="[..., H, W]. Second operand, `b`.")
_LETTERS: Final = (INPUT_A, INPUT_B)
_LETTER_GRADS: Final = (INPUT_A_GRAD, INPUT_B_GRAD)
_INT32: Final = (*FLOATS, DataType.INT32)

Step = Callable[..., Tensor]
"""Steps of a gradient.

Arguments: the steps, grad, both operands, the other parameters, and `output`, the tensor for the gradient. The second
operand may be a number.
"""


def _copied(do: Forward, grad: Tensor, *_: Any, output: Tensor) -> Tensor:
    result: Tensor = find("ttnn.assign")(grad, output)
    return result


def _negative(do: Forward, grad: Tensor, *_: Any, output: Tensor) -> Tensor:
    return do.neg(grad, output_tensor=output)


def _zero(do: Forward, grad: Tensor, *_: Any, output: Tensor) -> Tensor:
    return do.zeros_like(grad, output)


def _scaled(do: Forward, grad: Tensor, _a: Tensor, _b: Tensor, alpha: float = 1.0, *, output: Tensor) -> Tensor:
    return do.multiply(grad, alpha, output_tensor=output)


def _scaled_negative(
    do: Forward, grad: Tensor, _a: Tensor, _b: Tensor, alpha: float = 1.0, *, output: Tensor
) -> Tensor:
    do.neg(grad, output_tensor=output)
    return do.multiply(output, alpha, output_tensor=output)


def _times_b(do: Forward, grad: Tensor, _a: Tensor, b: Tensor | float, *, output: Tensor) -> Tensor:
    return do.multiply(grad, b, output_tensor=output)


def _times_a(do: Forward, grad: Tensor, a: Tensor, _b: Tensor, *, output: Tensor) -> Tensor:
    return do.multiply(grad, a, output_tensor=output)


def _of_quotient(step: Step) -> Step:
    """Return a gradient of a quotient: zeros if the quotient is rounded."""

    def either(do: Forward, grad: Tensor, a: Tensor, b: Any, rounding_mode: str | None, *, output: Tensor) -> Tensor:
        check_rounding("ttnn.div_bw", rounding_mode)
        return (step if rounding_mode is None else _zero)(do, grad, a, b, output=output)

    return either


def _dividend(do: Forward, grad: Tensor, _a: Tensor, b: Tensor, *, output: Tensor) -> Tensor:
    return do.multiply(grad, do.reciprocal(b), output_tensor=output)


def _divisor(do: Forward, grad: Tensor, a: Tensor, b: Tensor, *, output: Tensor) -> Tensor:
    inverse = do.reciprocal(b)
    negative = do.neg(grad)
    # Divided twice: the square of b would overflow or underflow.
    quotient = do.multiply(do.multiply(a, inverse), inverse)
    return do.multiply(negative, quotient, output_tensor=output)


def _dividend_by_number(do: Forward, grad: Tensor, _a: Tensor, scalar: float, *, output: Tensor) -> Tensor:
    if scalar == 0.0:
        return do.where(do.eqz(grad), NAN, do.signed_infinity(grad), output_tensor=output)
    return do.multiply(grad, inverse(scalar), output_tensor=output)


def _pair(
    name: str,
    formula: str,
    golden: Callable[..., Any],
    steps: tuple[Step, Step],
    operands: tuple[Param, Param] = (INPUT, _OTHER),
    outputs: tuple[Param, Param] = (INPUT_GRAD, OTHER_GRAD),
    *,
    positional: tuple[Param, ...] = (),
    keywords: tuple[Param, ...] = (),
    others: tuple[Signature, ...] = (),
    like_grad: bool = False,
    **more: Any,
) -> FastOperation:
    """Register the gradients of an operator on two tensors.

    Each is written to the tensor given for it, or to a new one like its operand, or like `grad`.
    """
    operator = f"ttnn.{name}"

    def run(grad: Tensor, a: Tensor, b: Tensor, *values: Any) -> Gradients:
        *parameters, mask, place, grad_a, grad_b = values
        with named(operator):
            check_operands(operator, **{"grad_tensor": grad, operands[0].name: a, operands[1].name: b})
            required(operator, mask)
            models = (grad, grad) if like_grad else (a, b)
            targets = [
                output_for(operator, place, model, output, param.name) if wanted else None
                for wanted, model, output, param in zip(mask, models, (grad_a, grad_b), outputs, strict=True)
            ]
            return [
                None if target is None else step(target[0], grad, a, b, *parameters, output=target[1])
                for step, target in zip(steps, targets, strict=True)
            ]

    options = (*keywords, REQUIRED_OUTPUTS, MEMORY_CONFIG_OPTION, *outputs)
    signature = Signature((GRAD, *operands, *positional), options)
    return entry(name, (*others, signature), run, formula, golden, rows=True, **more)


def _by_number(name: str, step: Step, *more: Param) -> tuple[Signature]:
    """Return the signature for a scalar second operand, which has no gradient."""
    operator = f"ttnn.{name}"

    def run(grad: Tensor, a: Tensor, *values: Any) -> Gradients:
        *numbers, place, output = values
        with named(operator):
            check_operands(operator, grad_tensor=grad, input_tensor_a=a)
            do, output = output_for(operator, place, a, output)
            return [step(do, grad, a, *numbers, output=output)]

    return (Signature((GRAD, INPUT_A, _SCALAR, *more), (MEMORY_CONFIG_OPTION, INPUT_GRAD), run=run),)


def _assign_one(grad: Tensor, x: Tensor, place: MemoryConfig | None, output: Tensor | None) -> Gradients:
    with named("ttnn.assign_bw"):
        check_operands("ttnn.assign_bw", grad_tensor=grad, input_tensor=x)
        if output is None:
            return [grad]
        do, output = output_for("ttnn.assign_bw", place, x, output, "input_a_grad")
        return [_copied(do, grad, output=output)]


addalpha_bw = _pair(
    "addalpha_bw",
    "grad, alpha * grad",
    g.addalpha,
    (_copied, _scaled),
    _LETTERS,
    _LETTER_GRADS,
    positional=(_ALPHA,),
    dtypes=ANY,
    ulp=PRODUCT_WITH_A_NUMBER,
)
subalpha_bw = _pair(
    "subalpha_bw",
    "grad, -alpha * grad",
    g.subalpha,
    (_copied, _scaled_negative),
    _LETTERS,
    positional=(_ALPHA,),
    dtypes=_INT32,
    ulp=PRODUCT_WITH_A_NUMBER,
)
add_bw = _pair(
    "add_bw", "grad, grad", g.add, (_copied, _scaled), others=_by_number("add_bw", _copied), dtypes=ANY, ulp=PASSED_ON
)
sub_bw = _pair(
    "sub_bw",
    "grad, -grad",
    g.sub,
    (_copied, _scaled_negative),
    others=_by_number("sub_bw", _copied),
    dtypes=_INT32,
    ulp=PASSED_ON,
)
mul_bw = _pair(
    "mul_bw",
    "grad * b, grad * a",
    g.mul,
    (_times_b, _times_a),
    others=_by_number("mul_bw", _times_b),
    ulp=(0.5, 0.5, 0.608),
)
div_bw = _pair(
    "div_bw",
    "grad / b, -grad * a / b^2",
    g.div,
    (_of_quotient(_dividend), _of_quotient(_divisor)),
    keywords=(ROUNDING_MODE,),
    others=_by_number("div_bw", _of_quotient(_dividend_by_number), ROUNDING_MODE),
    note="With a `rounding_mode` the gradients are 0. Division by the scalar 0 returns infinity with the sign of "
    "grad, and NaN where grad is 0.",
    ulp=(3.3, 3.25, 1.47),
)
rsub_bw = _pair(
    "rsub_bw", "-grad, grad", g.rsub, (_negative, _copied), _LETTERS, like_grad=True, dtypes=_INT32, ulp=PASSED_ON
)
assign_bw = _pair(
    "assign_bw",
    "grad, grad",
    g.assign,
    (_copied, _copied),
    _LETTERS,
    _LETTER_GRADS,
    others=(Signature((GRAD, INPUT), (IGNORED_MEMORY_CONFIG, preallocated("input_a_grad")), run=_assign_one),),
    dtypes=ANY,
    note="With one operand it returns `grad_tensor` itself, unless an output tensor is given.",
    ulp=PASSED_ON,
)


def _compared(name: str) -> FastOperation:
    """Register the gradient of a comparison, which is always 0."""
    note = "The gradient of a comparison is 0. Present in older releases of TT-NN."
    others = _by_number(name, _zero)
    return _pair(name, "0, 0", g.compared, (_zero, _zero), others=others, dtypes=ANY, note=note, ulp=PASSED_ON)


eq_bw = _compared("eq_bw")
ge_bw = _compared("ge_bw")
gt_bw = _compared("gt_bw")
le_bw = _compared("le_bw")
lt_bw = _compared("lt_bw")
ne_bw = _compared("ne_bw")

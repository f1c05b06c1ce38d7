"""Gradients of sums, differences, products, quotients and copies: each of the two may be left out or preallocated.

Source: TT-NN docs of each operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ttnn.base.enums import DataType
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import backward as g
from ttnn.operation.registry import FastOperation, find
from ttnn.operation.signature import FLOAT, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION
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
_SCALAR: Final = Param("scalar", FLOAT, doc="Second operand, `b`: a number.")
_OTHER: Final = Param("other_tensor", INPUT.kind, doc="[..., H, W]. Second operand, `b`.")
_PAIR_OPTIONS: Final = (REQUIRED_OUTPUTS, MEMORY_CONFIG_OPTION, INPUT_GRAD, OTHER_GRAD)

Step = Callable[[Forward, Tensor, Tensor, Tensor, Tensor], Tensor]
"""Called with the steps, grad, both operands and the tensor that takes the gradient."""


def copied(do: Forward, grad: Tensor, _a: Tensor, _b: Tensor, output: Tensor) -> Tensor:
    """Write the gradient of the result into that of an operand."""
    result: Tensor = find("ttnn.assign")(grad, output)
    return result


def both(
    operator: str,
    steps: tuple[Step, Step],
    grad: Tensor,
    a: Tensor,
    b: Tensor,
    mask: Sequence[bool],
    place: MemoryConfig | None,
    outputs: tuple[Tensor | None, Tensor | None],
    labels: tuple[str, str] = ("input_grad", "other_grad"),
    names: tuple[str, str] = ("input_tensor", "other_tensor"),
) -> Gradients:
    """Return the gradients that are required, each in the tensor given for it or in a new one like its operand."""
    with named(operator):
        check_operands(operator, **{"grad_tensor": grad, names[0]: a, names[1]: b})
        required(operator, mask)
        found: list[tuple[Forward, Tensor] | None] = [None, None]
        for i, operand in enumerate((a, b)):
            if mask[i]:
                found[i] = output_for(operator, place, operand, outputs[i], labels[i])
        result: Gradients = [None, None]
        for i, target in enumerate(found):
            if target is not None:
                do, output = target
                result[i] = steps[i](do, grad, a, b, output)
        return result


def _scaled(factor: float) -> Step:
    return lambda do, grad, _a, _b, output: do.multiply(grad, factor, output_tensor=output)


def _scaled_negative(factor: float) -> Step:
    def step(do: Forward, grad: Tensor, _a: Tensor, _b: Tensor, output: Tensor) -> Tensor:
        do.neg(grad, output_tensor=output)
        return do.multiply(output, factor, output_tensor=output)

    return step


def _negative(do: Forward, grad: Tensor, _a: Tensor, _b: Tensor, output: Tensor) -> Tensor:
    return do.neg(grad, output_tensor=output)


_LETTERS: Final = ("input_tensor_a", "input_tensor_b")
_LETTER_GRADS: Final = ("input_a_grad", "input_b_grad")


def _addalpha(
    grad: Tensor, a: Tensor, b: Tensor, alpha: float, mask: Any, place: Any, grad_a: Any, grad_b: Any
) -> Gradients:
    steps = (copied, _scaled(alpha))
    return both("ttnn.addalpha_bw", steps, grad, a, b, mask, place, (grad_a, grad_b), _LETTER_GRADS, _LETTERS)


def _subalpha(
    grad: Tensor, a: Tensor, b: Tensor, alpha: float, mask: Any, place: Any, grad_a: Any, grad_b: Any
) -> Gradients:
    steps = (copied, _scaled_negative(alpha))
    return both("ttnn.subalpha_bw", steps, grad, a, b, mask, place, (grad_a, grad_b), names=_LETTERS)


def _add(grad: Tensor, a: Tensor, b: Tensor, mask: Any, place: Any, grad_a: Any, grad_b: Any) -> Gradients:
    return both("ttnn.add_bw", (copied, _scaled(1.0)), grad, a, b, mask, place, (grad_a, grad_b))


def _sub(grad: Tensor, a: Tensor, b: Tensor, mask: Any, place: Any, grad_a: Any, grad_b: Any) -> Gradients:
    return both("ttnn.sub_bw", (copied, _scaled_negative(1.0)), grad, a, b, mask, place, (grad_a, grad_b))


def _mul(grad: Tensor, a: Tensor, b: Tensor, mask: Any, place: Any, grad_a: Any, grad_b: Any) -> Gradients:
    steps: tuple[Step, Step] = (
        lambda do, grad, _a, b, output: do.multiply(grad, b, output_tensor=output),
        lambda do, grad, a, _b, output: do.multiply(grad, a, output_tensor=output),
    )
    return both("ttnn.mul_bw", steps, grad, a, b, mask, place, (grad_a, grad_b))


def _dividend(do: Forward, grad: Tensor, _a: Tensor, b: Tensor, output: Tensor) -> Tensor:
    return do.multiply(grad, do.reciprocal(b), output_tensor=output)


def _divisor(do: Forward, grad: Tensor, a: Tensor, b: Tensor, output: Tensor) -> Tensor:
    quotient = do.multiply(a, do.reciprocal(do.square(b)))
    return do.multiply(do.neg(grad), quotient, output_tensor=output)


def _zero(do: Forward, grad: Tensor, _a: Tensor, _b: Tensor, output: Tensor) -> Tensor:
    return do.zeros_like(grad, output)


def _div(
    grad: Tensor, a: Tensor, b: Tensor, rounding_mode: str | None, mask: Any, place: Any, grad_a: Any, grad_b: Any
) -> Gradients:
    check_rounding("ttnn.div_bw", rounding_mode)
    steps: tuple[Step, Step] = (_dividend, _divisor) if rounding_mode is None else (_zero, _zero)
    return both("ttnn.div_bw", steps, grad, a, b, mask, place, (grad_a, grad_b))


def _rsub(grad: Tensor, a: Tensor, b: Tensor, mask: Any, place: Any, grad_a: Any, grad_b: Any) -> Gradients:
    return both("ttnn.rsub_bw", (_negative, copied), grad, a, b, mask, place, (grad_a, grad_b), names=_LETTERS)


def _assign(grad: Tensor, a: Tensor, b: Tensor, mask: Any, place: Any, grad_a: Any, grad_b: Any) -> Gradients:
    steps = (copied, copied)
    return both("ttnn.assign_bw", steps, grad, a, b, mask, place, (grad_a, grad_b), _LETTER_GRADS, _LETTERS)


def _assign_one(grad: Tensor, x: Tensor, place: MemoryConfig | None, output: Tensor | None) -> Gradients:
    with named("ttnn.assign_bw"):
        check_operands("ttnn.assign_bw", grad_tensor=grad, input_tensor=x)
        if output is None:
            return [Forward(place).passed_on(grad)]
        do, output = output_for("ttnn.assign_bw", place, x, output, "input_a_grad")
        return [copied(do, grad, x, x, output)]


def _by_number(operator: str, step: Callable[..., Tensor]) -> Callable[..., Gradients]:
    """Return the gradient of an operator whose second operand is a number."""

    def run(grad: Tensor, a: Tensor, *values: Any) -> Gradients:
        *numbers, place, output = values
        with named(operator):
            check_operands(operator, grad_tensor=grad, input_tensor_a=a)
            do, output = output_for(operator, place, a, output)
            return [step(do, grad, a, *numbers, output)]

    return run


def _copied_by_number(do: Forward, grad: Tensor, a: Tensor, _scalar: float, output: Tensor) -> Tensor:
    return copied(do, grad, a, a, output)


def _mul_by_number(do: Forward, grad: Tensor, _a: Tensor, scalar: float, output: Tensor) -> Tensor:
    return do.multiply(grad, scalar, output_tensor=output)


def _div_by_number(
    do: Forward, grad: Tensor, _a: Tensor, scalar: float, rounding_mode: str | None, output: Tensor
) -> Tensor:
    check_rounding("ttnn.div_bw", rounding_mode)
    if rounding_mode is not None:
        return do.zeros_like(grad, output)
    if scalar == 0.0:
        return do.where(do.eqz(grad), NAN, do.signed_infinity(grad), output_tensor=output)
    return do.multiply(grad, inverse(scalar), output_tensor=output)


def _zero_by_number(do: Forward, grad: Tensor, _a: Tensor, _scalar: float, output: Tensor) -> Tensor:
    return do.zeros_like(grad, output)


_NUMBER_OPTIONS: Final = (MEMORY_CONFIG_OPTION, INPUT_GRAD)
_INT32: Final = (*FLOATS, DataType.INT32)


def _number(name: str, step: Callable[..., Tensor], *more: Param) -> Signature:
    return Signature((GRAD, INPUT_A, _SCALAR, *more), _NUMBER_OPTIONS, run=_by_number(f"ttnn.{name}", step))


addalpha_bw = entry(
    "addalpha_bw",
    (
        Signature(
            (GRAD, INPUT_A, INPUT_B, _ALPHA),
            (REQUIRED_OUTPUTS, MEMORY_CONFIG_OPTION, INPUT_A_GRAD, INPUT_B_GRAD),
        ),
    ),
    _addalpha,
    "grad, alpha * grad",
    g.addalpha,
    rows=True,
    dtypes=ANY,
)
subalpha_bw = entry(
    "subalpha_bw",
    (Signature((GRAD, INPUT_A, INPUT_B, _ALPHA), _PAIR_OPTIONS),),
    _subalpha,
    "grad, -alpha * grad",
    g.subalpha,
    rows=True,
    dtypes=_INT32,
)
add_bw = entry(
    "add_bw",
    (_number("add_bw", _copied_by_number), Signature((GRAD, INPUT, _OTHER), _PAIR_OPTIONS)),
    _add,
    "grad, grad",
    g.add,
    rows=True,
    dtypes=ANY,
)
sub_bw = entry(
    "sub_bw",
    (_number("sub_bw", _copied_by_number), Signature((GRAD, INPUT, _OTHER), _PAIR_OPTIONS)),
    _sub,
    "grad, -grad",
    g.sub,
    rows=True,
    dtypes=_INT32,
)
mul_bw = entry(
    "mul_bw",
    (_number("mul_bw", _mul_by_number), Signature((GRAD, INPUT, _OTHER), _PAIR_OPTIONS)),
    _mul,
    "grad * b, grad * a",
    g.mul,
    rows=True,
)
div_bw = entry(
    "div_bw",
    (
        _number("div_bw", _div_by_number, ROUNDING_MODE),
        Signature((GRAD, INPUT, _OTHER), (ROUNDING_MODE, *_PAIR_OPTIONS)),
    ),
    _div,
    "grad / b, -grad * a / b^2",
    g.div,
    rows=True,
    note="With a `rounding_mode` the gradients are 0. Division by the number 0 returns infinity with the sign of "
    "grad, and NaN where grad is 0.",
)
rsub_bw = entry(
    "rsub_bw",
    (Signature((GRAD, INPUT_A, INPUT_B), _PAIR_OPTIONS),),
    _rsub,
    "-grad, grad",
    g.rsub,
    rows=True,
    dtypes=_INT32,
)
assign_bw = entry(
    "assign_bw",
    (
        Signature((GRAD, INPUT), (MEMORY_CONFIG_OPTION, preallocated("input_a_grad")), run=_assign_one),
        Signature((GRAD, INPUT_A, INPUT_B), (REQUIRED_OUTPUTS, MEMORY_CONFIG_OPTION, INPUT_A_GRAD, INPUT_B_GRAD)),
    ),
    _assign,
    "grad, grad",
    g.assign,
    rows=True,
    dtypes=ANY,
    note="With one operand it returns `grad_tensor` itself, unless `memory_config` or an output tensor is given.",
)


def _compared(name: str) -> FastOperation:
    """Register the gradient of a comparison, which is 0 wherever there is one."""
    operator = f"ttnn.{name}"

    def run(grad: Tensor, a: Tensor, b: Tensor, mask: Any, place: Any, grad_a: Any, grad_b: Any) -> Gradients:
        return both(operator, (_zero, _zero), grad, a, b, mask, place, (grad_a, grad_b))

    return entry(
        name,
        (_number(name, _zero_by_number), Signature((GRAD, INPUT, _OTHER), _PAIR_OPTIONS)),
        run,
        "0, 0",
        g.compared,
        dtypes=ANY,
        rows=True,
        note="The gradient of a comparison is 0. Present in older releases of TT-NN.",
    )


eq_bw = _compared("eq_bw")
ge_bw = _compared("ge_bw")
gt_bw = _compared("gt_bw")
le_bw = _compared("le_bw")
lt_bw = _compared("lt_bw")
ne_bw = _compared("ne_bw")

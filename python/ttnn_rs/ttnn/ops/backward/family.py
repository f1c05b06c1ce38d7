"""Gradient operators from table rows: signature, checks, steps and registry entry.

A gradient has `grad_tensor` first, the gradient of the function's result, and returns a list: one gradient per
operand of the function, None for those that were not asked for.

Source: https://docs.tenstorrent.com/tt-metal/latest/ttnn/ttnn/api/ttnn.NAME.html, one page for each operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.operation.accuracy import Accuracy, max_ulp
from ttnn.operation.registry import FastOperation, Op, register
from ttnn.operation.signature import TENSOR, Kind, Param, Signature, instance_kind
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, on_device, same_device
from ttnn.ops.backward.forward import Forward, named
from ttnn.tensor.tensor import Tensor

Gradients = list[Tensor | None]

GRAD: Final = Param("grad_tensor", TENSOR, doc="[..., H, W]. Gradient of the forward operator's output, `grad`.")
INPUT: Final = Param("input_tensor", TENSOR, doc="[..., H, W]. Input of the forward operator, `x`.")
INPUT_A: Final = Param("input_tensor_a", TENSOR, doc="[..., H, W]. First operand, `a`.")
INPUT_B: Final = Param("input_tensor_b", TENSOR, doc="[..., H, W]. Second operand, `b`.")
INPUT_C: Final = Param("input_tensor_c", TENSOR, doc="[..., H, W]. Third operand, `c`.")
STRING: Final = instance_kind("str", str)
_MASK: Final = Kind(
    "collections.abc.Sequence[bool]",
    lambda value: isinstance(value, list | tuple) and all(isinstance(item, bool) for item in value),
)
REQUIRED_OUTPUTS: Final = Param("are_required_outputs", _MASK, [True, True], doc="Whether to compute each gradient.")

FLOATS: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32)
RAISES: Final = (
    ("StorageError", "an operand is on the host, deallocated, or on another device than the first."),
    ("ShapeError", "the shapes cannot be broadcast in a step. Gradients of broadcast operands are not summed."),
    ("DTypeError", "the data type is not supported."),
    ("LayoutError", "the operands differ in layout, or the operator requires TILE_LAYOUT."),
)
PASSED_ON: Final = (0.0, 0.0)
"""`ulp` of gradients that are not rounded: 0, or ±grad."""
PRODUCT_WITH_A_NUMBER: Final = (2.5, 1.5)
"""`ulp` of products with any number.

Half a unit for the product; as bfloat16 two for the number, which is truncated, as float32 one for its rounding. A
quotient is a product with the inverse, whose rounding adds half a unit.
"""


_ON_BLACKHOLE: Final[dict[str, tuple[tuple[DataType, float], ...]]] = {
    "atan_bw": ((DataType.FLOAT32, 2.12),),
    "digamma_bw": ((DataType.BFLOAT16, 1.38), (DataType.FLOAT32, 5.74)),
    "div_bw": ((DataType.FLOAT32, 3.36),),
    "hypot_bw": ((DataType.FLOAT32, 2.92),),
    "logit_bw": ((DataType.FLOAT32, 2.57),),
    "logiteps_bw": ((DataType.FLOAT32, 2.57),),
    "multigammaln_bw": ((DataType.FLOAT32, 7.29),),
    "polygamma_bw": ((DataType.FLOAT32, 8.75),),
    "rsqrt_bw": ((DataType.FLOAT32, 6.29),),
    "sigmoid_bw": ((DataType.FLOAT32, 44.9),),
    "silu_bw": ((DataType.FLOAT32, 3.64),),
    "softplus_bw": ((DataType.FLOAT32, 2.62),),
}
"""Larger errors on Blackhole, whose reciprocals and functions have other steps."""


def preallocated(name: str) -> Param:
    """Return the option for the output tensor of a gradient."""
    return Param(
        name,
        TENSOR,
        None,
        doc="Preallocated output for the gradient, of the operand's shape. Its memory configuration takes precedence "
        "over `memory_config`.",
    )


INPUT_GRAD: Final = preallocated("input_grad")
OTHER_GRAD: Final = preallocated("other_grad")
INPUT_A_GRAD: Final = preallocated("input_a_grad")
INPUT_B_GRAD: Final = preallocated("input_b_grad")


def check_operands(operator: str, **operands: Tensor) -> None:
    """Refuse operands that are not on one device.

    Raises:
        StorageError: see above.
    """
    labels = list(operands)
    first = operands[labels[0]]
    device = on_device(operator, first, labels[0])
    for label in labels[1:]:
        tensor = operands[label]
        on_device(operator, tensor, label)
        same_device(operator, device, tensor, label)


def required(operator: str, mask: Sequence[bool], count: int = 2) -> Sequence[bool]:
    """Return a mask of required gradients.

    Raises:
        ParameterError: it has another length, or asks for nothing.
    """
    if len(mask) != count:
        raise ParameterError(f"{operator}: are_required_outputs has {len(mask)} items, expected {count}.")
    if not any(mask):
        raise ParameterError(
            f"{operator}: are_required_outputs is {list(mask)}.\ninfo:\n"
            "At least one gradient is expected to be calculated."
        )
    return mask


@dataclass(frozen=True)
class Gradient:
    """One operator of one operand.

    Args:
        name: Name below `ttnn`.
        formula: What is returned, in the notation of the operands `grad` and `x`.
        golden: Reference in float64, the analytic derivative: a list of arrays.
        steps: The composition: called with the forward operators, `grad`, `x`, the parameters in the order of the
            signature, and the output tensor if there is such an option.
        positional: Parameters after the operand.
        keywords: Options before `memory_config`.
        takes_output: Whether there is an option `input_grad`. The result has the input's data type then.
        place: The option `memory_config`.
        dtypes: Data types that every step supports.
        rows: Whether every step supports row-major tensors, too.
        note: Added to the docstring.
        ulp: Largest errors as bfloat16 and as float32, and as bfloat8_b in steps of the exponent that the largest value
            has, over the seeded values of the tests. `python tests/testkit gradient_calls` measures them. That of
            float32 is the larger one over operands of any bits and over operands that bfloat16 holds.
        relative_to: What the errors refer to where terms cancel, instead of the gradient itself.
    """

    name: str
    formula: str
    golden: Callable[..., Any]
    steps: Callable[..., Tensor]
    positional: tuple[Param, ...] = ()
    keywords: tuple[Param, ...] = ()
    takes_output: bool = False
    place: Param = MEMORY_CONFIG_OPTION
    dtypes: tuple[DataType, ...] = FLOATS
    rows: bool = False
    note: str = ""
    ulp: tuple[float, ...] = ()
    relative_to: Callable[..., Any] | None = None


def entry(
    name: str,
    signatures: tuple[Signature, ...],
    run: Callable[..., Any],
    formula: str,
    golden: Callable[..., Any],
    *,
    dtypes: tuple[DataType, ...] = FLOATS,
    rows: bool = False,
    note: str = "",
    raises: tuple[tuple[str, str], ...] = RAISES,
    engine: tuple[str, ...] = (),
    ulp: tuple[float, ...] = (),
    relative_to: Callable[..., Any] | None = None,
    accuracy: Accuracy | None = None,
) -> FastOperation:
    """Register a gradient operator.

    The formula lists the gradients, or is a sentence.

    The errors are given as those of a `Gradient`, or by `accuracy`.
    """
    if ulp:
        dtypes_of_ulp = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B)
        accuracy = max_ulp(*zip(dtypes_of_ulp, ulp, strict=False), magnitude=relative_to)
    if accuracy is not None and name in _ON_BLACKHOLE:
        accuracy = accuracy.on_blackhole(*_ON_BLACKHOLE[name])
    return register(
        Op(
            name=name,
            signatures=signatures,
            run=run,
            doc=(formula if formula.endswith(".") else f"Return the list of gradients `[{formula}]`.")
            + f"\n{note}" * bool(note),
            dtypes=dtypes,
            layouts=(Layout.TILE, Layout.ROW_MAJOR) if rows else (Layout.TILE,),
            golden=golden,
            accuracy=accuracy,
            engine=engine,
            family="backward",
            composition=not engine,
            raises=raises,
        )
    )


def _steps_of_one(row: Gradient) -> Callable[..., list[Tensor]]:
    """Return the function that runs the steps of a unary operator."""
    operator = f"ttnn.{row.name}"

    def run(grad: Tensor, x: Tensor, *values: Any) -> list[Tensor]:
        with named(operator):
            check_operands(operator, grad_tensor=grad, input_tensor=x)
            if not row.takes_output:
                *parameters, place = values
                return [row.steps(Forward(place), grad, x, *parameters)]
            *parameters, place, output = values
            do, output = output_for(operator, place, x, output)
            return [row.steps(do, grad, x, *parameters, output)]

    return run


def output_for(
    operator: str, place: MemoryConfig | None, x: Tensor, output: Tensor | None, label: str = "input_grad"
) -> tuple[Forward, Tensor]:
    """Return the steps and the output tensor of a gradient.

    The tensor is the one given, or a new one like the operand.

    The memory configuration of the given tensor takes precedence over `place`.

    Raises:
        StorageError: the tensor given is on the host, deallocated, or on another device.
        ShapeError: it has another shape than the operand.
        LayoutError: it has another layout than the operand.
    """
    do = Forward(place)
    if output is None:
        return do, do.empty_like(x)
    on_device(operator, output, label)
    same_device(operator, on_device(operator, x), output, label)
    if output.spec.shape != x.spec.shape:
        raise ShapeError(f"{operator}: {label} is {output.shape}, the operand is {x.shape}.")
    if output.spec.layout is not x.spec.layout:
        raise LayoutError(f"{operator}: {label} is {output.layout.name}, the operand is {x.layout.name}.")
    return do, output


def register_gradients(*rows: Gradient) -> dict[str, FastOperation]:
    """Register operators of one operand."""
    found = {}
    for row in rows:
        options = (*row.keywords, row.place, *((INPUT_GRAD,) if row.takes_output else ()))
        signature = Signature((GRAD, INPUT, *row.positional), options)
        found[row.name] = entry(
            row.name,
            (signature,),
            _steps_of_one(row),
            row.formula,
            row.golden,
            dtypes=row.dtypes,
            rows=row.rows,
            note=row.note,
            ulp=row.ulp,
            relative_to=row.relative_to,
        )
    return found

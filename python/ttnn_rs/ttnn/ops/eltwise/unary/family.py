"""Unary operators from table rows: signature, checks, program and registry entry.

Source: tt-metal `eltwise_sfpu.cpp`, and the kernels that each entry names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from ttnn.base.activation import UnaryWithParam
from ttnn.base.enums import DataType, Layout, UnaryOpType
from ttnn.base.exceptions import DTypeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise.unary import ACTIVATIONS
from ttnn.operation.accuracy import Accuracy, bit_exact, max_ulp
from ttnn.operation.domain import Domain
from ttnn.operation.registry import Examples, FastOperation, Op, register
from ttnn.operation.signature import BOOLEAN, Param, Signature
from ttnn.operation.steps import ChainStep, Steps, for_parameters
from ttnn.ops._programs.activations import chain_steps
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    INTEGER_RANGE,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    as_float,
)
from ttnn.ops._programs.sfpu_chain import apply_chain, copy_bits, refuse_integers, refuse_widening
from ttnn.tensor.tensor import Tensor

FLOAT_INPUTS: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32)
OPTIONS: Final = (MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, SUB_CORE_GRIDS_OPTION)
LAYOUTS: Final = (Layout.TILE, Layout.ROW_MAJOR)
FAST: Final = Param("fast_and_approximate_mode", BOOLEAN, False, doc="Use the faster approximation.")

COPY: Final[list[ChainStep]] = []
"""Program of a data type whose values the function does not change."""


@dataclass(frozen=True, eq=False)
class Unary:
    """One operator.

    Args:
        name: Name below `ttnn`.
        op_type: Its name as a fused activation.
        golden: Reference in float64.
        what: Completes the sentence "Return the element-wise ... of `input_tensor`."; or a sentence, with its period.
        params: Options besides the common three, keyword-only, handed to the program in this order.
        positional: Options before them, handed over first.
        integers: Programs of the integer types; others are refused.
        reference: Those of them whose kernel is not tabulated: the result is the mathematical one.
        of_parameters: Integer types whose program depends on the parameters, truncated to integers: called with
            the data type and them.
        exact: Whether the result is the reference rounded.
        ulp: Largest errors as bfloat16 and as float32 otherwise, as arguments of `measured`.
        blackhole: Larger errors of Blackhole's function, by data type.
        largest: Up to which operand they hold, where the function loses the argument's fraction or overflows beyond.
        accuracy: What is stated of the error if it is neither.
        steps: The SFPU functions; by default one called like the operator, with its parameters.
        domain: Where the function has finite results.
        kernel: File of the kernel, if it is not `ckernel_sfpu_{name}.h`.
        examples: Values of parameters without a default, for the generated tests.
    """

    name: str
    op_type: UnaryOpType
    golden: Callable[..., Any]
    what: str
    params: tuple[Param, ...] = ()
    positional: tuple[Param, ...] = ()
    integers: Mapping[DataType, list[ChainStep]] = field(default_factory=dict)
    reference: tuple[DataType, ...] = ()
    of_parameters: Mapping[DataType, Callable[..., list[ChainStep]]] = field(default_factory=dict)
    exact: bool = False
    ulp: tuple[float, float] = (0, 0)
    blackhole: tuple[tuple[DataType, float], ...] = ()
    largest: float = math.inf
    accuracy: Accuracy | None = None
    steps: Steps | None = None
    domain: Domain | None = None
    kernel: str = ""
    examples: Examples = ((),)


@lru_cache(maxsize=1024)
def _steps(entry: Unary, dtype: DataType, parameters: tuple[float, ...], _text: str) -> tuple[list[ChainStep], bool]:
    """Return a call's steps and whether they are integer; cached.

    The text tells -0 from 0.
    """
    operator = f"ttnn.{entry.name}"
    if dtype in entry.of_parameters:
        numbers = [_truncated(operator, value, dtype) for value in parameters]
        return entry.of_parameters[dtype](dtype, *numbers), True
    if dtype in entry.integers:
        return entry.integers[dtype], True
    refuse_integers(operator, entry.op_type, dtype)
    return chain_steps(operator, UnaryWithParam(entry.op_type, *parameters)), False


def run_unary(
    entry: Unary,
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    parameters: Sequence[float] = (),
) -> Tensor:
    """Run an operator's program on a tensor of any supported type."""
    operator = f"ttnn.{entry.name}"
    dtype = input_tensor.spec.dtype
    steps, integers = _steps(entry, dtype, tuple(parameters), str(parameters) if parameters else "")
    if steps is COPY:
        return copy_bits(operator, input_tensor, memory_config, output_tensor)
    if output_tensor is not None and not integers:
        refuse_widening(operator, dtype, None if output_tensor is None else output_tensor.spec.dtype, steps)
    return apply_chain(
        operator,
        input_tensor,
        steps,
        memory_config=memory_config,
        output_tensor=output_tensor,
        integers=integers,
    )


def _truncated(operator: str, value: float, dtype: DataType) -> int:
    """Return a parameter of a kernel for integers.

    Raises:
        DTypeError: the data type does not have it.
    """
    low, high = INTEGER_RANGE[dtype]
    number = math.trunc(value) if math.isfinite(value) else high + 1
    if not low <= number <= high:
        raise DTypeError(f"{operator}: {value:g} is not a value of {dtype.name} ({low} to {high}).")
    return number


def measured(bfloat16: float, float32: float, *, largest: float = math.inf, lowest: float = -math.inf) -> Accuracy:
    """Return the largest errors in ULP over all bfloat16 values.

    Parameters have their defaults; a sweep finds the same errors.

    The first is that as bfloat16 through a 16-bit Dst, the second that as float32 through a 32-bit Dst. The bounds are
    data: a test fails when an operator exceeds its bound.
    """
    return max_ulp((DataType.BFLOAT16, bfloat16), (DataType.FLOAT32, float32), largest=largest, lowest=lowest)


def _accuracy(entry: Unary) -> Accuracy:
    """Return an operator's stated error."""
    if entry.exact:
        return bit_exact()
    stated = entry.accuracy or measured(*entry.ulp, largest=entry.largest)
    return stated.on_blackhole(*entry.blackhole)


def register_unary(entry: Unary) -> FastOperation:
    """Register one operator of a table."""
    operator = f"ttnn.{entry.name}"
    params = (*entry.positional, *entry.params)
    count = 1 + len(params)

    def run(*values: Any) -> Tensor:
        if not params:
            return run_unary(entry, values[0], values[1], values[2])
        given = zip(values[1:count], params, strict=True)
        parameters = [
            as_float(operator, param.default if value is None else value, param.name) for value, param in given
        ]
        return run_unary(entry, values[0], values[count], values[count + 1], parameters)

    ACTIVATIONS[entry.op_type.name] = entry.golden, sum(param is not FAST for param in params)
    what = entry.what if entry.what.endswith(".") else f"Return the element-wise {entry.what} of `input_tensor`."
    return register(
        Op(
            name=entry.name,
            signatures=(Signature((INPUT_TENSOR, *entry.positional), (*entry.params, *OPTIONS)),),
            run=run,
            doc=what,
            source=f"tt-metal `{entry.kernel or f'ckernel_sfpu_{entry.name}.h'}`",
            dtypes=(*FLOAT_INPUTS, *entry.integers, *entry.of_parameters),
            layouts=LAYOUTS,
            golden=entry.golden,
            reference=entry.reference,
            accuracy=_accuracy(entry),
            engine=("unary",),
            family="unary",
            steps={entry.op_type: entry.steps or for_parameters(entry.name, params)},
            domain=entry.domain,
            examples=entry.examples,
            raises=(
                ("DTypeError", "the integer data type is not supported."),
                ("StorageError", "the input is on the host."),
            ),
        )
    )

"""Fused activations: how calls name them, and their SFPU functions.

A chain is a list of functions in the names of the engine's SFPU listings, from the entries of operators.

Source: TT-NN docs "UnaryWithParam"; the defaults of the SFPU functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from ttnn import _engine
from ttnn.base.activation import Activation, UnaryWithParam, as_unary
from ttnn.base.enums import DataType, UnaryOpType
from ttnn.base.exceptions import ArgumentError, ParameterError, UnsupportedError
from ttnn.operation.steps import STEPS, ChainStep, steps_for
from ttnn.ops._programs.common import FLOATS


def chain_steps(operator: str, activation: UnaryWithParam) -> list[ChainStep]:
    """Return the SFPU functions of one activation.

    Args:
        operator: Who asks, for the error.
        activation: Operator and parameters. The parameter of GELU, EXP, TANH and their like is the approximation flag.

    Raises:
        UnsupportedError: the engine has no such function.
        ParameterError: the operator has another number of parameters.
    """
    if activation.op_type is UnaryOpType.TYPECAST:
        return _conversion(operator, activation)
    steps = steps_for(activation.op_type, activation.params)
    known = sfpu_functions()
    if steps is not None and all(step[:2] in known for step in steps):
        return steps
    entry, given = STEPS.get(activation.op_type), len(activation.params)
    if entry is not None and not entry.fewest <= given <= entry.most:
        counts = " to ".join(str(count) for count in sorted({entry.fewest, entry.most}))
        raise ParameterError(f"{operator}: the activation {activation!r} takes {counts} parameter(s), got {given}.")
    raise UnsupportedError(f"{operator}: the activation {activation!r} is not implemented.", "unimplemented")


def cast_types(operator: str, activation: UnaryWithParam) -> tuple[DataType, DataType]:
    """Return from which data type to which one a TYPECAST converts.

    Raises:
        ParameterError: its two parameters are not the numbers of data types.
    """
    try:
        source, target = (DataType(int(value)) for value in activation.params)
    except ValueError:
        raise ParameterError(
            f"{operator}: the activation {activation!r} takes the values of two data types, as in "
            "UnaryWithParam(UnaryOpType.TYPECAST, DataType.FLOAT32.value, DataType.BFLOAT16.value)."
        ) from None
    return source, target


def _conversion(operator: str, activation: UnaryWithParam) -> list[ChainStep]:
    """Return the SFPU's conversion in Dst.

    Only values with more bits than bfloat16 are rounded.
    """
    source, target = cast_types(operator, activation)
    if source not in FLOATS or target not in FLOATS:
        raise UnsupportedError(
            f"{operator}: the activation {activation!r} converts {source.name} to {target.name}; in a chain only "
            "conversions between floating point types are built. Use ttnn.typecast.",
            "unimplemented",
        )
    if source is not DataType.FLOAT32 or target is DataType.FLOAT32:
        return []
    return [("typecast_from_fp32", "fp32_to_bf16", [])]


def chain(operator: str, activations: Iterable[Activation]) -> list[ChainStep]:
    """Return the chain for a list of activations, in order of application."""
    return [step for activation in activations for step in chain_steps(operator, as_unary(activation))]


@lru_cache(maxsize=1)
def sfpu_functions() -> frozenset[tuple[str, str]]:
    """Return (name, variant) of the SFPU functions that the engine has."""
    return frozenset((name, variant) for name, variant in _engine.sfpu_variants())


def is_single_relu(activations: Sequence[Activation]) -> bool:
    """Return True for one ReLU, which the packer can apply.

    `chain` rejects one with parameters.
    """
    return len(activations) == 1 and as_unary(activations[0]) == UnaryWithParam(UnaryOpType.RELU)


_NAMES: Final[dict[str, UnaryOpType]] = {
    op.name.lower(): op for op in UnaryOpType if op not in (UnaryOpType.RECIP, UnaryOpType.LOGICAL_NOT_UNARY)
} | {"reciprocal": UnaryOpType.RECIP, "swish": UnaryOpType.SILU}


_FLAG_OF_NAME: Final = {UnaryOpType.GELU: 0.0, UnaryOpType.EXP: 1.0, UnaryOpType.LOG: 1.0}


def string_to_unary_with_param(name: str) -> UnaryWithParam:
    """Return the activation of a name such as "relu".

    "gelu_approx" is the fast form of GELU.

    Raises:
        ArgumentError: no operator has that name.
    """
    if isinstance(name, str) and name == "gelu_approx":
        return UnaryWithParam(UnaryOpType.GELU, 1.0)
    op_type = _NAMES.get(name) if isinstance(name, str) else None
    if op_type is None:
        raise ArgumentError(f"No activation is called {name!r}; names are those of UnaryOpType in lower case.")
    # As names GELU means the accurate function, EXP and LOG the approximate ones.
    if op_type in _FLAG_OF_NAME:
        return UnaryWithParam(op_type, _FLAG_OF_NAME[op_type])
    return UnaryWithParam(op_type)

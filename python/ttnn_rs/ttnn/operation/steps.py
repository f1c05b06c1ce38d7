"""SFPU functions of operators, with their kernel parameters: FP32 bits.

The steps that an entry states serve the operator itself, fused activations and `unary_chain`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ttnn.base.enums import UnaryOpType
from ttnn.operation.signature import BOOLEAN, REQUIRED, Param

ChainStep = tuple[str, str] | tuple[str, str, list[int]]
"""One function in Dst: name, variant, and any parameters."""


def word(value: float) -> int:
    """Return the FP32 bits of a number, rounded to nearest."""
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def single(value: float) -> float:
    """Return a number rounded to FP32; one beyond its range is infinite."""
    return float(struct.unpack("<f", word(value).to_bytes(4, "little"))[0])


def step(name: str, variant: str, *parameters: float) -> ChainStep:
    """Return the step of a function with FP32 parameters."""
    return (name, variant, [word(value) for value in parameters]) if parameters else (name, variant)


@dataclass(frozen=True)
class Steps:
    """Conversion to steps: parameter counts, and steps for values.

    Fewest and most parameters.
    """

    fewest: int
    most: int
    make: Callable[..., list[ChainStep]]


def fixed(name: str, variant: str = "default") -> Steps:
    """Return the steps of a function without parameters."""
    return Steps(0, 0, lambda: [(name, variant)])


def flag(name: str, accurate: str, fast: str, default: float = 0.0) -> Steps:
    """Return an operator's steps by its approximation parameter.

    It is the only one. Without it an activation runs the default of the kernel's function.
    """
    return Steps(0, 1, lambda flag=default: [(name, fast if flag else accurate)])


def with_numbers(name: str, count: int, *defaults: float) -> Steps:
    """Return a function's steps with unchanged parameters.

    The last of them have defaults.
    """

    def make(*given: float) -> list[ChainStep]:
        missing = count - len(given)
        return [step(name, "default", *given, *(defaults[len(defaults) - missing :] if missing else ()))]

    return Steps(count - len(defaults), count, make)


def inverse(value: float) -> float:
    """Return 1 / value as the host computes it in FP32."""
    value = single(value)
    return 1.0 / value if value else math.copysign(math.inf, value)


def for_parameters(name: str, params: Sequence[Param]) -> Steps:
    """Return the steps of a function named like the operator.

    Its parameters are options of the operator.

    The only parameter of an operator may be its flag, which selects the approximate kernel.
    """
    if [param.kind for param in params] == [BOOLEAN]:
        return flag(name, "accurate", "fast")
    defaults = [param.default for param in params if param.default is not REQUIRED]
    return with_numbers(name, len(params), *defaults) if params else fixed(name)


def steps_for(op_type: UnaryOpType, parameters: Sequence[float] = ()) -> list[ChainStep] | None:
    """Return an operator's steps, or None for that parameter count."""
    entry = STEPS.get(op_type)
    if entry is None or not entry.fewest <= len(parameters) <= entry.most:
        return None
    return entry.make(*parameters)


STEPS: Final[dict[UnaryOpType, Steps]] = {}
"""Entries' steps by name, for fused activations and chains."""

"""Variant and parameter words of an SFPU table's name.

A name is the engine's variant, parameters, or both: `approx_lut`, `alpha0p5`, `int32_by5`, `v1p5_floor`. Parameters are
separated by `_`, each a label and a number with `p` for the decimal point and `m` for minus: `dm0p7` is -0.7.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection
from typing import Final

import numpy as np

from ttnn import _engine

Number = int | float
Parameters = list[int]

_PARAMETER: Final = re.compile(r"([a-z]*?)(m?)(0x[0-9a-f]+|\d+(?:p\d+)?(?:em?\d+)?|inf|nan)")
_LABEL: Final = re.compile(r"(?<![^_])(?!m?inf_|nan_)[a-z]+_(?=m?\d|m?inf|nan)")
"""A label with a `_` of its own before the number."""
_INTEGER_VARIANTS: Final = ("int32", "uint32")
_WITH_PARAMETERS: Final = ("default", "int32", "decimals")
"""Variants that a name may leave out."""

_NAMED: Final[dict[tuple[str, str], tuple[str, Parameters]]] = {
    ("selu", "ttnn_default"): ("default", [0x3F867D56, 0x3FE1093B]),
    ("selu", "torch_constants"): ("default", [0x3F867D5F, 0x3FE10966]),
}


def _inverse(value: Number) -> float:
    """Return 1 / value as the host computes it in float32."""
    with np.errstate(divide="ignore"):
        return float(np.float32(1.0) / np.float32(value))


def _powers_of_ten(decimals: Number) -> tuple[Number, ...]:
    # float64 ends at 308; float32 has infinity and 0 from 39 on.
    digits = min(max(decimals, -300), 300)
    return 10.0**digits, 10.0**-digits


_DERIVED: Final[dict[str, tuple[int, Callable[..., tuple[Number, ...]]]]] = {
    "celu": (1, lambda alpha: (alpha, _inverse(alpha))),
    "fmod": (1, lambda divisor: (divisor, _inverse(divisor))),
    "polygamma": (1, lambda order: (int(order), math.factorial(int(order)) * (-1.0) ** (order + 1))),
    "power_iterative": (1, lambda exponent: (int(exponent),)),
    "remainder": (1, lambda divisor: (divisor, _inverse(divisor))),
    "round": (1, _powers_of_ten),
    "selu": (2, lambda scale, alpha: (scale, float(np.float32(scale) * np.float32(alpha)))),
    "softcap": (1, lambda beta: (beta, _inverse(beta))),
    "softplus": (2, lambda beta, threshold: (beta, _inverse(beta), threshold)),
}
"""Kernel parameters that differ from those in a name.

How many a name has, and the function.
"""


@functools.cache
def functions(arch: int = 0) -> dict[str, dict[str, tuple[int, int]]]:
    """Return each function's variants with operand and parameter counts."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for operands, name, variant, parameters in _engine.sfpu_functions(arch):
        found.setdefault(name, {})[variant] = (operands, len(parameters))
    return found


def engine_variant(name: str, table: str, arch: int = 0) -> tuple[str, Parameters]:
    """Return a function's variant and parameter words.

    A name without a meaning is its own variant. `arch` is the engine's number of the generation.
    """
    if (name, table) in _NAMED:
        return _NAMED[name, table]
    variants = functions(arch).get(name, {})
    variant, rest = _split(table, variants)
    if table in variants or not variant:
        return table, []
    matches = [_PARAMETER.fullmatch(text) for text in _LABEL.sub("", rest).split("_")]
    values = tuple(_number(match) for match in matches if match)
    count, derived = _DERIVED.get(name, (len(matches), lambda *given: given))
    if len(values) < len(matches) or len(values) != count:
        return table, []
    if name == "round" and values == (0.0,):
        return "integer", []
    integers = variant in _INTEGER_VARIANTS
    return variant, [_word(int(value) if integers else value) for value in derived(*values)]


def _split(table: str, variants: Collection[str]) -> tuple[str, str]:
    """Return a name's variant and the parameters.

    The name begins or ends with the variant, or may leave it out.
    """
    for variant in sorted(variants, key=len, reverse=True):
        if table.startswith(f"{variant}_"):
            return variant, table[len(variant) + 1 :]
        if table.endswith(f"_{variant}"):
            return variant, table[: -len(variant) - 1]
    return next((variant for variant in _WITH_PARAMETERS if variant in variants), ""), table


def _number(match: re.Match[str]) -> Number:
    _, minus, digits = match.groups()
    value = int(digits, 16) if digits.startswith("0x") else float(digits.replace("p", ".").replace("m", "-"))
    return -value if minus else value


def _word(value: Number) -> int:
    """Return an integer as it is, a float as FP32 bits."""
    if isinstance(value, int):
        return value & 0xFFFF_FFFF
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32))

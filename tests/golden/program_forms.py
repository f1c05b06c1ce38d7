"""Normal forms of steps: equal arithmetic under other names becomes equal."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any, Final

from program_steps import Step, apart

_WORDS: Final = frozenset((8, 9, 24, 30))
_BLOCKS: Final = frozenset((6, 7))
_WIDER: Final = frozenset(((5, 0), (6, 0), (7, 0), (6, 5), (7, 5)))
"""Formats of conversions that keep every value.

Dst has 16 or 32 bits.
"""
_UINT16: Final = {
    # 16-bit integers are words with zeros above their 16 bits; results are cut to 16 bits.
    **{f"{verb}_uint16": (f"{verb}_int", "int32") for verb in ("add", "sub", "mul")},
    **{f"{verb}_uint16": (f"{verb}_int", "int32") for verb in ("eq", "ne", "lt", "gt", "le", "ge")},
    **{f"{verb}_uint16": (f"bitwise_{verb}_binary", "int32") for verb in ("and", "or", "xor")},
    "rsub_uint16": ("sub_int", "rsub_int32"),
    "eqz_uint16": ("eqz_int32", "uint32"),
    "nez_uint16": ("nez_int32", "uint32"),
    "max_uint16": ("unary_max_int32", "uint32"),
    "min_uint16": ("relu_max_int32", "uint32"),
}
_TILES: Final = {
    **_UINT16,
    **{f"{verb}_{of}": (f"unary_{verb}_int32", of) for verb in ("max", "min") for of in ("int32", "uint32")},
    **{f"{verb}_uint32": (f"{verb}_int32", "uint32") for verb in ("eqz", "nez")},
    "signbit_int32": ("signbit_int32", "int32"),
    **{name: (name, "default") for name in ("quant", "requant", "dequant")},
}
"""Functions of the kernel interface with bits of an engine function.

tests/kernel_api compares them.
"""


def _of_words(name: str, template: str) -> tuple[str, str]:
    """Return the engine's function of a bitwise function or shift.

    It depends on the data format.
    """
    if name.startswith("binary_right"):
        return name, "int32" if template == "Int32" else "uint32"
    return name, "int32"


_LARGEST_ORDER: Final = 34
_ONE: Final = 0x3F800000
_BITS_STAY: Final = ("int32_to_uint32", "uint32_to_int32", "uint32_to_uint32")
"""Conversions for which the vector unit does nothing."""


def _of_bytes(variant: str) -> str:
    """Return a conversion's variant with bytes as 32-bit integers.

    Bytes are such integers in Dst.
    """
    return variant.replace("uint8_to", "uint32_to", 1)


def _renamed(function: tuple[Any, ...], dtype: int) -> tuple[Any, ...]:
    """Return a function of a chain under the engine's name.

    Words that are arguments at run time, and those that a word before determines, are left out.
    """
    name, variant, *words = function
    if name == "tile" and variant in _TILES:
        name, variant = _TILES[variant]
    if name == "mul_int":
        # One operand of a chain: its square.
        name = "square_int"
    elif name == "right_shift" and dtype in (9, 24):
        variant = "uint32"
    elif name in ("fmod", "remainder"):
        words = []
    elif name == "eqz_int32" and dtype == 9:
        variant = "uint32"
    elif name == "polygamma":
        # The official kernel gets the order as a float.
        words = [round(_float(words[0])) if words[0] > _LARGEST_ORDER else words[0], words[1]]
        variant = "default"
    elif name in ("alt_complex_rotate90", "softcap"):
        variant = "default"
    elif name == "typecast_from_uint8":
        # Bytes are 32-bit integers in Dst.
        name, variant = "typecast_from_uint32", _of_bytes(variant)
    elif name == "power_iterative" and words == [0]:
        # The product of no factors.
        name, words = "fill", [_ONE]
    elif name == "selu":
        # The official kernel multiplies its two words itself.
        variant, words = "default", [words[0], _product(words) if not variant else words[1]]
    elif name == "round" and variant == "decimals":
        # The official kernel derives 10**decimals and its inverse from the number.
        words = [_decimals(words)]
    return (name, variant, *words)


def _decimals(words: Sequence[int]) -> int:
    if len(words) == 1:
        return words[0]
    return round(math.log10(_float(words[0]))) & 0xFFFF_FFFF


def _float(word: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", word))[0])


def _product(words: Sequence[int]) -> int:
    first, second = words
    return int(struct.unpack("<I", struct.pack("<f", _float(first) * _float(second)))[0])


def _binary_renamed(op: tuple[Any, ...], dtype: int) -> tuple[Any, ...]:
    if op[0] == "tile" and op[1] in _TILES:
        op = (*_TILES[op[1]], *op[2:])
    elif op[0].endswith("_shift_tile"):
        op = _of_words(op[0].removesuffix("_tile"), op[1])
    if op[0] in ("quant", "requant", "dequant"):
        # The zero point is an argument at run time.
        op = op[:2]
    if op[0] == "nextafter" and dtype == 5:
        # In a 16-bit Dst both variants step in units of bfloat16.
        op = ("nextafter", "default")
    return op


def _normal(step: Step) -> Step:
    """Return a step under the names of the engine."""
    if step.unit == "sfpu" and step.functions:
        chain = tuple(
            _renamed(function, step.formats[0])
            for function in step.functions[0]
            if _of_bytes(function[1]) not in _BITS_STAY
        )
        # Values of at most eight significant bits pass through either Dst.
        wide = step.dst32 and (bool(chain) or step.formats[0] not in (5, *_BLOCKS))
        return step._replace(functions=(chain,), dst32=wide)
    if step.unit in ("experimental.dropout", "uniform"):
        return step._replace(formats=(), fidelity=None)
    if step.unit == "embedding_bw":
        # Rows of gradients are added to rows of the result; the format of their indices decides nothing.
        return step._replace(formats=(step.formats[-1],) * 2, fidelity=None)
    if step.unit in ("fpu", "sfpu binary"):
        pre_a, pre_b, op, post, relu = step.functions
        chains = [
            tuple(_renamed(function, dtype) for function in chain)
            for chain, dtype in ((pre_a, step.formats[0]), (pre_b, step.formats[1]), (post, step.formats[0]))
        ]
        op = _binary_renamed(op, step.formats[0])
        return step._replace(functions=(chains[0], chains[1], op, chains[2], relu))
    if step.unit == "ternary":
        # The factor of addcmul and addcdiv is an argument at run time.
        (op,) = step.functions
        return step._replace(functions=(op[:2],), formats=tuple(code for code in step.formats if code >= 0))
    return step


def _keeps(step: Step) -> bool:
    """Return True if a step copies values through Dst or fills.

    Filling writes one value over a tensor.
    """
    if step.unit != "sfpu" or not step.functions:
        return False
    (chain,) = step.functions
    if len(chain) == 1 and chain[0][0] == "fill":
        return True
    if chain == () and step.formats in _WIDER:
        return True
    return chain in ((), (("identity", "default"),)) and step.formats[0] == step.formats[1]


def normal_steps(steps: Sequence[Step]) -> list[Step]:
    """Return steps without those that keep values.

    Block floats are moved as bfloat16 and packed again, exactly as in one step: their values have 8 bits. Integers are
    packed as they are in Dst, so that a chain in the program of a binary function has the bits of one after it.
    """
    found: list[Step] = []
    widened = -1
    for step in (_normal(part) for whole in steps for part in apart(whole)):
        if step.unit == "sfpu" and step.functions == ((),) and step.formats == (5, widened):
            continue
        if _keeps(step):
            widened = step.formats[0] if step.formats[0] in _BLOCKS and step.formats[1] == 5 else widened
            continue
        widened = -1
        last = found[-1] if found else None
        if last is not None and last.unit == "sfpu binary" and step.unit == "sfpu" and step.functions:
            *front, post, relu = last.functions
            if last.formats[2] == step.formats[0] and step.formats[0] in _WORDS and not relu:
                both = (*front, (*post, *step.functions[0]), relu)
                found[-1] = last._replace(functions=both, formats=(*last.formats[:2], step.formats[1]))
                continue
        found.append(step)
    return found


_OURS: Final = {
    "hardswish": ("hardsigmoid", "mul", "mul_binary"),
    "log_sigmoid": ("exp", "log_sigmoid"),
    "logit": ("clamp", "logit"),
    "pow": ("mul_int",),
}
"""Functions of our steps for the sequence of a kernel."""


def _last_function(step: Step) -> str:
    if step.unit == "sfpu" and step.functions and step.functions[0]:
        return str(step.functions[0][-1][0])
    return str(step.functions[2][0]) if step.unit in ("fpu", "sfpu binary") else ""


def joined(ours: Sequence[Step], official: Sequence[Step]) -> list[Step]:
    """Return our steps with those of a kernel's own sequence as one."""
    wanted = [step for step in official if step.unit in _OURS]
    if not wanted:
        return list(ours)
    names, found = _OURS[wanted[0].unit], []
    for step in ours:
        if _last_function(step) not in names:
            found.append(step)
        elif found and found[-1].unit == wanted[0].unit:
            found[-1] = found[-1]._replace(formats=(found[-1].formats[0], step.formats[-1]))
        else:
            found.append(wanted[0]._replace(formats=(step.formats[0], step.formats[-1])))
    return found

"""RISC arithmetic of `sampling`'s writer kernel.

Sums and quotients of bfloat16 words, and token choice.

Words are unsigned 16-bit integers. Nothing is rounded: bits that do not fit are dropped.
Source: tt-metal `ttnn/cpp/ttnn/operations/reduction/sampling/device/kernels/dataflow/writer_interleaved.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_SIGN, _INFINITY, _HIDDEN, _MANTISSA = 0x8000, 0x7F80, 0x80, 0x7F
_NAN: Final = 0x7FC0
_BIAS: Final = 127
_LARGEST_FIELD: Final = 0xFF


def _parts(word: int) -> tuple[int, int]:
    """Return exponent field and mantissa, including a normal's leading bit."""
    field, mantissa = (word & _INFINITY) >> 7, word & _MANTISSA
    return field, mantissa | _HIDDEN if field else mantissa


def added(a: int, b: int) -> int:
    """Return the sum of two bfloat16 words.

    The smaller is shifted, and its last bits are lost.
    """
    (field, m), (other, n) = _parts(a), _parts(b)
    m, n, field = m >> max(0, other - field), n >> max(0, field - other), max(field, other)
    if (a ^ b) & _SIGN:
        total, sign = abs(m - n), (a if m >= n else b) & _SIGN
    else:
        total, sign = m + n, a & _SIGN
    if total == 0:
        return 0
    if total & 0x100:
        total, field = total >> 1, field + 1
    while not total & _HIDDEN:
        total, field = total << 1, field - 1
    if field >= _LARGEST_FIELD:
        return sign | _INFINITY
    if field <= 0:
        total, field = total >> (1 - field), 0
    return sign | field << 7 | total & _MANTISSA


def _special_quotient(a: int, b: int) -> int | None:
    """Return the quotient with NaN, infinity or 0; else None."""
    sign = (a ^ b) & _SIGN
    x, y = a & ~_SIGN, b & ~_SIGN
    if x > _INFINITY:
        return a
    if y > _INFINITY:
        return b | 0x40
    if x == y and x in (0, _INFINITY):
        return _NAN
    if x == _INFINITY or y == 0:
        return sign | _INFINITY
    return sign if x == 0 or y == _INFINITY else None


def divided(a: int, b: int) -> int:
    """Return the quotient of bfloat16 words, truncated to seven fraction bits."""
    special = _special_quotient(a, b)
    if special is not None:
        return special
    sign = (a ^ b) & _SIGN
    (field, m), (other, n) = _parts(a), _parts(b)
    # Subnormal numbers lose their leading bit here, as in the kernel.
    if not field:
        shift = 8 - m.bit_length()
        field, m = 1 - shift, (m << shift) & _MANTISSA
    if not other:
        shift = 8 - n.bit_length()
        other, n = 1 - shift, (n << shift) & _MANTISSA
    if n == 0:
        # The kernel divides by 0 there, which gives a RISC all ones.
        return sign | _INFINITY
    quotient, result = (m << 7) // n, field - other + _BIAS
    while quotient and not quotient & _HIDDEN:
        quotient, result = quotient << 1, result - 1
    if result >= _LARGEST_FIELD:
        return sign | _INFINITY
    if result <= 0:
        return sign if result < -7 else sign | quotient >> (1 - result)
    return sign | result << 7 | quotient & _MANTISSA


def greater(a: int, b: int) -> bool:
    """Return True if one bfloat16 word is larger.

    +0 is larger than -0.
    """
    if (a ^ b) & _SIGN:
        return not a & _SIGN
    return a < b if a & _SIGN else a > b


def chosen(probabilities: Sequence[int], p: int, number: int) -> int:
    """Return the place of the token that a random number selects.

    Args:
        probabilities: Words of the tokens that are looked at, in descending order.
        p: Word: tokens count until their probabilities add up to more than this.
        number: Word of a number from 0 to 1.
    """
    total, kept = 0, len(probabilities)
    for place, probability in enumerate(probabilities):
        total = added(total, probability)
        if greater(total, p):
            kept = place + 1
            break
    so_far = 0
    for place, probability in enumerate(probabilities[:kept]):
        so_far = added(so_far, divided(probability, total))
        if greater(so_far, number):
            return place
    return 0

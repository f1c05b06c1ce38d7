"""SFPU calls of integers with what they compute, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from testkit.sfpu_calls import Call
from ttnn.metal import DataFormat

Reference = Callable[..., Any]
WORDS: tuple[tuple[Any, DataFormat, tuple[int, int]], ...] = (
    (np.int32, DataFormat.Int32, (-(2**31) + 1, 2**31)),
    (np.uint32, DataFormat.UInt32, (0, 2**32)),
    (np.uint16, DataFormat.UInt16, (0, 2**16)),
)
RANGES = {kind: domain for kind, _, domain in WORDS}


@dataclass(frozen=True)
class IntegerCall(Call):
    """One call on tiles of integers.

    Args:
        dtype: Type of the operands.
        result: Type of the result, by default that of the operands.
        ranges: Half-open ranges of the operands, by default those of the type.
    """

    dtype: Any = np.int32
    result: Any = None
    ranges: tuple[tuple[int, int], ...] = ()

    @property
    def domains(self) -> tuple[tuple[int, int], ...]:
        return self.ranges or (RANGES[self.dtype],) * self.operands


def one(name: str, init: str, reference: Reference, dtype: Any, *parameters: int, **options: Any) -> IntegerCall:
    return IntegerCall(name, reference, 1, parameters, init, dtype=dtype, **options)


def two(name: str, init: str, reference: Reference, dtype: Any, **options: Any) -> IntegerCall:
    return IntegerCall(name, reference, 2, (), init, dtype=dtype, **options)


def by_format(name: str, init: str, reference: Reference, *, count: int = 3, **options: Any) -> list[IntegerCall]:
    """Return a call with format template arguments, for first formats."""
    return [
        two(
            name,
            init,
            reference,
            dtype,
            template=f"DataFormat::{form.name}",
            keywords=(("data_format", form),),
            **options,
        )
        for dtype, form, _ in WORDS[:count]
    ]


def quotient(a: Any, b: Any) -> Any:
    """Return a / b without what follows the point."""
    wide = a.astype(np.int64), b.astype(np.int64)
    return np.sign(wide[0]) * np.sign(wide[1]) * (np.abs(wide[0]) // np.abs(wide[1]))


def logical_right(a: Any, b: Any) -> Any:
    return a.view(np.uint32) >> b.view(np.uint32)


def true_quotient(a: Any, b: Any) -> Any:
    """Return a / b in single precision, of integers that it has."""
    return a.astype(np.float32) / b.astype(np.float32)


COUNT = ((-(2**31) + 1, 2**31), (0, 32))
UNSIGNED_COUNT = ((0, 2**32), (0, 32))
POSITIVE = (RANGES[np.int32], (1, 2**31))
SHORT = ((0, 2**15), (0, 2**15))
COMPARISONS = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "gt": np.greater, "le": np.less_equal, "ge": np.greater_equal,
}  # fmt: skip
BITS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
SUMS = {"add": np.add, "sub": np.subtract, "rsub": lambda a, b: b - a}

INTEGER_CALLS = [
    # One tile.
    *(
        one(f"{verb}z_tile_int32", f"{verb}z_tile_init", lambda x, of=function: of(x, 0), np.int32)
        for verb, function in COMPARISONS.items()
    ),
    *(
        one(f"{verb}z_tile_{dtype.__name__}", f"{verb}z_tile_init", lambda x, of=COMPARISONS[verb]: of(x, 0), dtype)
        for verb in ("eq", "ne")
        for dtype in (np.uint32, np.uint16)
    ),
    *(
        one(f"unary_{verb}_tile_int32", f"unary_{verb}_tile_init", lambda x, of=function: of(x, -77), np.int32, -77,
            ranges=((-100, 100),))
        for verb, function in COMPARISONS.items()
    ),
    *(
        one(f"logical_not_unary_tile_{dtype.__name__}", "logical_not_unary_tile_init", lambda x: x == 0, dtype)
        for dtype, _, _ in WORDS
    ),
    *(
        one(f"bitwise_{verb}", "", lambda x, of=function: of(x, np.int32(0x1234_5678)), np.int32, 0x1234_5678)
        for verb, function in BITS.items()
    ),
    one("bitwise_not", "", np.invert, np.int32),
    one("left_shift", "", lambda x: x << 5, np.int32, 5),
    one("right_shift", "", lambda x: x >> 5, np.int32, 5),
    one("abs_tile_int32", "abs_tile_init", np.abs, np.int32),
    one("negative_tile_int32", "negative_tile_init", np.negative, np.int32),
    one("relu_tile_int32", "relu_tile_init", lambda x: np.maximum(x, 0), np.int32),
    one("signbit_tile_int32", "signbit_tile_int32_init", lambda x: x < 0, np.int32),
    one("identity_tile_uint32", "identity_tile_init", lambda x: x, np.uint32),
    one("clamp_tile_int32", "clamp_tile_init", lambda x: np.clip(x, -500, 70_000), np.int32, -500, 70_000,
        ranges=((-100_000, 100_000),)),
    one("unary_max_int32", "unary_max_int32_tile_init", lambda x: np.maximum(x, -77), np.int32, -77),
    one("unary_min_int32", "unary_min_int32_tile_init", lambda x: np.minimum(x, -77), np.int32, -77),
    one("unary_max_uint32", "unary_max_uint32_tile_init", lambda x: np.maximum(x, 2**31 + 9), np.uint32, 2**31 + 9),
    one("unary_min_uint32", "unary_min_uint32_tile_init", lambda x: np.minimum(x, 2**31 + 9), np.uint32, 2**31 + 9),
    *(
        one(f"relu_max_tile_{dtype.__name__}", "relu_max_tile_init", lambda x: np.clip(x, 0, 500), dtype, 500)
        for dtype, _, _ in WORDS
    ),
    *(
        one(f"relu_min_tile_{dtype.__name__}", "relu_min_tile_init", lambda x: np.maximum(x, 500), dtype, 500)
        for dtype, _, _ in WORDS
    ),
    one("add_unary_tile_int32", "binop_with_scalar_tile_init", lambda x: x + np.int32(-77), np.int32, -77),
    one("sub_unary_tile_int32", "binop_with_scalar_tile_init", lambda x: x - np.int32(-77), np.int32, -77),
    one("rsub_unary_int32", "rsub_unary_int32_tile_init", lambda x: np.int32(-77) - x, np.int32, -77),
    one("remainder_tile_uint32", "remainder_tile_uint32_init", lambda x: x % 1000, np.uint32, 1000),
    *(
        one("fill_tile_int", "fill_tile_init", lambda x: np.full_like(x, 51_234), dtype, 51_234,
            template=f"DataFormat::{form.name}", keywords=(("data_format", form),))
        for dtype, form, _ in WORDS
    ),
    # Two tiles.
    *(
        two(f"{verb}_{dtype.__name__}", f"{verb}_int_tile_init", SUMS[verb], dtype)
        for verb in ("add", "sub")
        for dtype, _, _ in WORDS
    ),
    two("rsub_int32", "rsub_int_tile_init", SUMS["rsub"], np.int32),
    *(two(f"mul_{dtype.__name__}", "mul_int32_tile_init", np.multiply, dtype) for dtype, _, _ in WORDS),
    *(call for verb in SUMS for call in by_format(f"{verb}_int", f"{verb}_int_tile_init", SUMS[verb])),
    *by_format("mul_int", "mul_int_tile_init", np.multiply),
    *(
        call
        for verb, function in COMPARISONS.items()
        for call in (two(f"{verb}_int32", "", function, np.int32), *by_format(f"{verb}_int", "", function))
    ),
    *(
        two(f"bitwise_{verb}{middle}_binary", "binary_bitwise_tile_init", function, dtype)
        for verb, function in BITS.items()
        for middle, dtype in (("", np.int32), ("_uint32", np.uint32), ("_uint16", np.uint16))
    ),
    *(
        two(f"binary_{verb}_{dtype.__name__}", "", function, dtype)
        for verb, function in (("max", np.maximum), ("min", np.minimum))
        for dtype in (np.int32, np.uint32)
    ),
    *(
        two(f"binary_{verb}_{dtype.__name__}", "binary_shift_tile_init", function, dtype, ranges=ranges)
        for verb, function in (
            ("left_shift", np.left_shift), ("right_shift", np.right_shift), ("logical_right_shift", logical_right),
        )
        for dtype, ranges in ((np.int32, COUNT), (np.uint32, UNSIGNED_COUNT))
    ),
    *(
        call
        for verb, function in (
            ("left_shift", np.left_shift), ("right_shift", np.right_shift), ("logical_right_shift", logical_right),
        )
        for call in by_format(f"binary_{verb}", "binary_shift_tile_init", function, count=2,
                              ranges=((0, 2**31), (0, 32)))
    ),
    two("div_int32", "", true_quotient, np.int32, result=np.float32, ranges=((-(2**12), 2**12), (1, 2))),
    two("div_int32_floor", "", np.floor_divide, np.int32, ranges=POSITIVE),
    two("div_int32_floor", "", np.floor_divide, np.int32, ranges=(RANGES[np.int32], (-1000, 0))),
    two("div_int32_trunc", "", quotient, np.int32, ranges=POSITIVE),
    two("div_int32_trunc", "", quotient, np.int32, ranges=(RANGES[np.int32], (-1000, 0))),
    two("fmod_int32", "", np.fmod, np.int32, ranges=POSITIVE),
    two("fmod_int32", "", np.fmod, np.int32, ranges=(RANGES[np.int32], (-1000, 0))),
    two("remainder_int32", "", np.remainder, np.int32, ranges=POSITIVE),
    two("remainder_int32", "", np.remainder, np.int32, ranges=(RANGES[np.int32], (-1000, 0))),
    two("remainder_uint32", "", np.remainder, np.uint32, ranges=((0, 2**32), (1, 2**32))),
    two("gcd", "", np.gcd, np.int32, ranges=(RANGES[np.int32],) * 2),
    two("lcm", "", np.lcm, np.int32, ranges=SHORT),
]  # fmt: skip

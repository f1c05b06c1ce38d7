"""Binary functions' vectors, through public operators, bit for bit.

Operators with a number run functions of one operand; their vectors are here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.operands import from_raw, raw_of
from testkit.packed import packed
from ttnn import _engine
from ttnn.cli.goldens.variants import engine_variant

Words = npt.NDArray[Any]
Call = Callable[..., ttnn.Tensor]

# Functions of two floating-point operands, in both widths of Dst.
FLOATS: dict[str, Call] = {
    "mul_binary": ttnn.multiply,
    "div_binary": ttnn.div,
    "power_binary": ttnn.pow,
    "eq_binary": ttnn.eq,
    "ne_binary": ttnn.ne,
    "lt_binary": ttnn.lt,
    "le_binary": ttnn.le,
    "gt_binary": ttnn.gt,
    "ge_binary": ttnn.ge,
    "binary_max": ttnn.maximum,
    "binary_min": ttnn.minimum,
    "atan2": ttnn.atan2,
    "fmod_binary": ttnn.fmod,
    "remainder_binary": ttnn.remainder,
    "xlogy": ttnn.xlogy,
    "logaddexp": ttnn.logaddexp,
    "logaddexp2": ttnn.logaddexp2,
    "nextafter": ttnn.nextafter,
    "isclose": ttnn.isclose,
    # bfloat16 sums and differences are those of the FPU.
    "add_binary": ttnn.add,
    "sub_binary": ttnn.subtract,
    "rsub_binary": ttnn.rsub,
}
WIDE_ONLY = ("add_binary", "sub_binary", "rsub_binary")

# Functions of two integers: the file, the array, the operator.
INTEGERS: list[tuple[str, str, Call]] = [
    ("bitwise_and_binary", "int32", ttnn.bitwise_and),
    ("bitwise_or_binary", "int32", ttnn.bitwise_or),
    ("bitwise_xor_binary", "int32", ttnn.bitwise_xor),
    ("binary_left_shift", "int32", ttnn.bitwise_left_shift),
    ("binary_left_shift", "int32", ttnn.logical_left_shift),
    ("binary_right_shift", "int32", ttnn.bitwise_right_shift),
    ("binary_right_shift", "uint32", ttnn.bitwise_right_shift),
    ("binary_logical_right_shift", "int32", ttnn.logical_right_shift),
    ("add_int", "int32", ttnn.add),
    ("sub_int", "int32", ttnn.subtract),
    ("sub_int", "rsub_int32", ttnn.rsub),
    ("mul_int", "int32", ttnn.multiply),
    ("div_int32", "int32_to_fp32", ttnn.div),
    ("div_int32_floor", "floor", lambda a, b: ttnn.div(a, b, rounding_mode="floor")),
    ("div_int32_floor", "trunc", lambda a, b: ttnn.div(a, b, rounding_mode="trunc")),
    ("remainder_int32", "int32", ttnn.remainder),
    ("fmod_int32", "int32", ttnn.fmod),
    ("binary_max_int32", "int32", ttnn.maximum),
    ("binary_min_int32", "int32", ttnn.minimum),
    ("binary_min_int32", "uint32", ttnn.minimum),
    ("gcd", "int32", ttnn.gcd),
    ("lcm", "int32", ttnn.lcm),
    *((f"{name}_int", dtype, getattr(ttnn, name)) for name in ("eq", "ne", "lt", "le", "gt", "ge")
      for dtype in ("int32", "uint32")),
]  # fmt: skip

# Functions of one operand that an operator with a number runs.
NUMBERS: list[tuple[str, str, Call]] = [
    ("unary_max", "v0p5", lambda x: ttnn.maximum(x, 0.5)),
    ("unary_min", "v0p5", lambda x: ttnn.minimum(x, 0.5)),
    ("rpow", "base2", lambda x: ttnn.rpow(x, 2.0)),
    ("rpow", "base0p7", lambda x: ttnn.rpow(x, 0.7)),
    ("rdiv", "v2", lambda x: ttnn.rdiv(x, 2.0)),
    ("rdiv", "v1p5", lambda x: ttnn.rdiv(x, 1.5)),
    ("rdiv", "v1p5_trunc", lambda x: ttnn.rdiv(x, 1.5, rounding_mode="trunc")),
    ("rdiv", "v1p5_floor", lambda x: ttnn.rdiv(x, 1.5, rounding_mode="floor")),
    ("fmod", "d3", lambda x: ttnn.fmod(x, 3.0)),
    ("fmod", "d0p7", lambda x: ttnn.fmod(x, 0.7)),
    ("remainder", "d3", lambda x: ttnn.remainder(x, 3.0)),
    ("remainder", "dm0p7", lambda x: ttnn.remainder(x, -0.7)),
    ("prelu", "w0p25", lambda x: ttnn.prelu(x, 0.25)),
    ("prelu", "w0p1", lambda x: ttnn.prelu(x, [0.1])),
    *(("power", variant, lambda x, e=e: ttnn.pow(x, e))
      for variant, e in (("exp0p5", 0.5), ("expm1p0", -1.0), ("expm0p5", -0.5), ("exp1p7", 1.7))),
    *(("power_iterative", f"n{n}", lambda x, n=n: ttnn.pow(x, n)) for n in range(4)),
    *(("power_iterative", f"n{n}", lambda x, n=n: ttnn.pow(x, float(n))) for n in range(4)),
]  # fmt: skip
INTEGER_NUMBERS: list[tuple[str, str, Call]] = [
    ("bitwise_and", "int32_0x0f0f1234", lambda x: ttnn.bitwise_and(x, 0x0F0F1234)),
    ("bitwise_or", "int32_0x0f0f1234", lambda x: ttnn.bitwise_or(x, 0x0F0F1234)),
    ("bitwise_xor", "int32_0x0f0f1234", lambda x: ttnn.bitwise_xor(x, 0x0F0F1234)),
    *(("left_shift", f"int32_by{n}", lambda x, n=n: ttnn.bitwise_left_shift(x, n)) for n in (1, 5, 31, 32)),
    *(("right_shift", f"int32_by{n}", lambda x, n=n: ttnn.bitwise_right_shift(x, n)) for n in (1, 5, 31)),
    *((f"unary_{name}_int32", "v7", lambda x, name=name: getattr(ttnn, name)(x, 7))
      for name in ("eq", "gt", "ge", "le", "lt", "ne")),
]  # fmt: skip


class Vectors:
    """The arrays of the golden folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "sfpu"
        self.inputs = np.load(self.folder / "_inputs.npz")

    def array(self, name: str, key: str) -> Words | None:
        """Return an array, None where the folder lacks it."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            return None
        archive = np.load(path)
        found: Words | None = archive.get(key)
        return found


@pytest.fixture(scope="module")
def vectors(golden: Path) -> Vectors:
    return Vectors(golden)


def tensor(words: Words, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return from_raw(words, (len(words) // 32, 32), dtype, device)


def words_of(result: ttnn.Tensor) -> Words:
    return raw_of(result).view(np.uint16 if result.dtype == ttnn.bfloat16 else np.uint32)


def entered(words: Words) -> Words:
    """Return bfloat16 words as unpacked: subnormals and -0 become +0."""
    return np.where((words & 0x7F80) == 0, np.uint16(0), words)


def expected_pairs(name: str, a: Words, b: Words, array: Words) -> Words:
    """Return packed vectors, with +0 for operands that change in Dst.

    The function's result at +0 replaces theirs.
    """
    words = [entered(side).astype(np.uint32) << 16 for side in (a, b)]
    variant, parameters = engine_variant(name, "rtol1em5_atol1em8" if name == "isclose" else "default")
    at_zero = _engine.sfpu_binary(name, words[0], words[1], False, variant, parameters) >> 16
    unchanged = (entered(a) == a) & (entered(b) == b)
    return packed(np.where(unchanged, array, at_zero.astype(np.uint16)))


def _float_arrays(vectors: Vectors) -> Iterator[tuple[str, str, Call]]:
    for name, call in FLOATS.items():
        variant = "rtol1em5_atol1em8" if name == "isclose" else "default"
        for kind in ("bf16", "fp32"):
            if not (kind == "bf16" and name in WIDE_ONLY):
                yield name, f"{variant}__{kind}", call


def test_floats(vectors: Vectors, device: ttnn.MeshDevice) -> None:
    compared, different = 0, []
    for name, key, call in _float_arrays(vectors):
        expected = vectors.array(name, key)
        if expected is None:
            continue
        narrow = key.endswith("bf16")
        dtype = ttnn.bfloat16 if narrow else ttnn.float32
        suffix = "bf16" if narrow else "fp32"
        a, b = (vectors.inputs[f"pair_{side}_{suffix}"] for side in "ab")
        got = words_of(call(*(tensor(side, dtype, device) for side in (a, b))))
        if narrow:
            expected = expected_pairs(name, a, b, expected)
        compared += 1
        if not np.array_equal(got, expected):
            different.append((name, key, int(np.sum(got != expected))))
    print(f"\n{compared} arrays of functions of two floating-point operands")
    assert different == []
    assert compared == 33


def test_integers(vectors: Vectors, device: ttnn.MeshDevice) -> None:
    compared, different = 0, []
    for name, key, call in INTEGERS:
        expected = vectors.array(name, f"{key}__fp32")
        if expected is None:
            continue
        prefix = "int_small" if name == "lcm" else "int"
        second = "int_shift" if "shift" in name else f"{prefix}_b"
        dtype = ttnn.uint32 if key == "uint32" else ttnn.int32
        a, b = (tensor(vectors.inputs[side], dtype, device) for side in (f"{prefix}_a", second))
        got = words_of(call(a, b))
        compared += 1
        if not np.array_equal(got, expected):
            different.append((name, key, int(np.sum(got != expected))))
    print(f"\n{compared} arrays of functions of two integers")
    assert different == []
    assert compared == 26


def test_numbers(vectors: Vectors, device: ttnn.MeshDevice) -> None:
    compared, different = 0, []
    every = np.arange(1 << 16, dtype=np.uint16)
    random = vectors.inputs["rand_fp32"].view(np.uint32)
    for name, variant, call in NUMBERS:
        for suffix in ("bf16", "fp32_on_bf16", "fp32_on_rand"):
            expected = vectors.array(name, f"{variant}__{suffix}")
            if expected is None:
                continue
            count = len(expected)
            if suffix == "bf16":
                x, expected = tensor(every, ttnn.bfloat16, device), packed(expected[entered(every)])
            elif suffix == "fp32_on_bf16":
                x = tensor(every.astype(np.uint32) << 16, ttnn.float32, device)
            else:
                halves = np.concatenate([random[: count // 2], random[32768 : 32768 + count // 2]])
                x = tensor(random if count == len(random) else halves, ttnn.float32, device)
            got = words_of(call(x))
            compared += 1
            if not np.array_equal(got, expected):
                different.append((name, variant, suffix, int(np.sum(got != expected))))
    print(f"\n{compared} arrays of functions of a tensor and a number")
    assert different == []
    assert compared == 39


def test_integers_and_numbers(vectors: Vectors, device: ttnn.MeshDevice) -> None:
    compared, different = 0, []
    x = tensor(vectors.inputs["int_a"], ttnn.int32, device)
    for name, variant, call in INTEGER_NUMBERS:
        expected = vectors.array(name, f"{variant}__fp32")
        if expected is None:
            continue
        got = words_of(call(x))
        compared += 1
        if not np.array_equal(got, expected):
            different.append((name, variant, int(np.sum(got != expected))))
    print(f"\n{compared} arrays of functions of an integer tensor and a number")
    assert different == []
    assert compared == 10

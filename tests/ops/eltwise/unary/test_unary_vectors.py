"""Unary functions' vectors, through public operators, bit for bit.

Functions that only run inside other operators are here through `unary_chain`; those with a number that `pow`, `maximum`
and their like run are in `test_golden_binary`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import from_raw, raw_of
from testkit.packed import packed

U = ttnn.UnaryOpType
Call = Callable[[ttnn.Tensor], ttnn.Tensor]
FAST = {"fast_and_approximate_mode": True}


def _named(name: str, **options: Any) -> Call:
    return partial(getattr(ttnn, name), **options)


def _chain(op_type: ttnn.UnaryOpType, *parameters: float) -> Call:
    return lambda x: ttnn.unary_chain(x, [ttnn.UnaryWithParam(op_type, *parameters)])


# File and variant of a table, with the call that gives it.
CALLS: dict[tuple[str, str], Call] = {
    ("exp", "accurate"): _named("exp"),
    ("exp", "approx_clampneg"): _named("exp", **FAST),
    ("recip", "accurate"): _named("reciprocal"),
    ("sigmoid", "accurate"): _named("sigmoid"),
    ("sigmoid", "approx"): _named("sigmoid", mode=ttnn.SigmoidMode.FastApproximate),
    ("gelu", "accurate"): _named("gelu"),
    ("gelu", "approx_lut"): _named("gelu", **FAST),
    ("gelu", "tanh"): _named("gelu", variant=ttnn.GeluVariant.Tanh),
    ("silu", "accurate"): _named("silu"),
    ("tanh", "accurate"): _named("tanh"),
    ("tanh", "approx_lut"): _named("tanh", **FAST),
    ("relu", "relu"): _named("relu"),
    ("relu_max", "upper6"): _named("relu6"),
    ("relu_max", "upper1"): _named("relu_max", upper_limit=1.0),
    ("relu_min", "lower0p5"): _named("relu_min", lower_limit=0.5),
    ("relu_min", "lower_m1"): _named("relu_min", lower_limit=-1.0),
    ("prelu", "w0p25"): _named("prelu", weight=0.25),
    ("prelu", "w0p1"): _named("prelu", weight=0.1),
    ("rsqrt", "default"): _named("rsqrt"),
    ("rsqrt", "fast"): _named("rsqrt", **FAST),
    ("round", "decimals0"): _named("round"),
    ("round", "decimals1"): _named("round", decimals=1),
    ("round", "decimals2"): _named("round", decimals=2),
    ("round", "decimalsm1"): _named("round", decimals=-1),
    ("elu", "alpha1"): _named("elu"),
    ("elu", "alpha0p5"): _named("elu", alpha=0.5),
    ("celu", "alpha1"): _named("celu"),
    ("celu", "alpha0p5"): _named("celu", alpha=0.5),
    ("selu", "ttnn_default"): _named("selu"),
    ("softshrink", "lambda0p5"): _named("softshrink"),
    ("hardtanh", "m1_1"): _named("hardtanh"),
    ("hardtanh", "m2p5_0p7"): _named("hardtanh", min_val=-2.5, max_val=0.7),
    ("mish", "accurate"): _named("mish"),
    ("mish", "approx"): _named("mish", **FAST),
    ("heaviside", "v0p5"): _named("heaviside", value=0.5),
    ("clamp", "m1_1"): _named("clamp", min=-1.0, max=1.0),
    ("clamp", "m0p3_2p7"): _named("clamp", min=-0.3, max=2.7),
    ("xielu", "ap0p8_an0p8"): _named("xielu"),
    ("rpow", "base2"): _named("rpow", exponent=2.0),
    ("rpow", "base0p7"): _named("rpow", exponent=0.7),
    ("power", "exp1p7"): _chain(U.POWER, 1.7),
    ("sub_unary", "s1p5"): _chain(U.SUB_UNARY_SFPU, 1.5),
    ("sub_unary", "s0p1"): _chain(U.SUB_UNARY_SFPU, 0.1),
    ("mul_unary", "s1p5"): _chain(U.MUL_UNARY_SFPU, 1.5),
    ("mul_unary", "s0p1"): _chain(U.MUL_UNARY_SFPU, 0.1),
    # The tables are named after the inverse, which the kernel gets.
    ("div_unary", "s1p5"): _chain(U.DIV_UNARY_SFPU, 1 / 1.5),
    ("div_unary", "s0p1"): _chain(U.DIV_UNARY_SFPU, 10.0),
    ("remainder", "d3"): _chain(U.REMAINDER, 3.0),
    ("remainder", "dm0p7"): _chain(U.REMAINDER, -0.7),
    ("rdiv", "v2"): _chain(U.RDIV, 2.0),
    ("rdiv", "v1p5"): _chain(U.RDIV, 1.5),
    ("unary_max", "v0p5"): _chain(U.MAXIMUM, 0.5),
    ("unary_min", "v0p5"): _chain(U.MINIMUM, 0.5),
    **{(f"unary_{sign}", variant): _chain(getattr(U, f"UNARY_{sign.upper()}"), value)
       for sign in ("ne", "gt", "ge", "lt") for variant, value in (("v0p5", 0.5), ("vm1p3", -1.3))},
    **{(name, variant): _named(name, **options)
       for name in ("log", "log2", "log10", "erf", "sqrt")
       for variant, options in (("accurate", {}), ("fast", FAST))},
    **{(name, "default"): _named(name)
       for name in ("erfc", "erfinv", "cos", "tan", "asin", "atan", "sinh", "cosh", "acosh", "atanh", "exp2", "square",
                    "abs", "neg", "signbit", "floor", "ceil", "frac", "hardsigmoid", "softsign", "hardmish",
                    "tanhshrink", "i0", "i1", "isposinf", "isneginf", "isnan", "gtz", "nez", "gez", "eqz", "lez",
                    "logical_not", "cbrt", "digamma", "identity")},
}  # fmt: skip
INTEGERS: dict[tuple[str, str], Call] = {
    ("abs_int32", "int32"): _named("abs"),
    ("neg_int32", "int32"): _named("neg"),
    ("bitwise_not", "int32"): _named("bitwise_not"),
    ("clamp_int32", "m100_5000"): _named("clamp", min=-100, max=5000),
    **{(f"{name}_int32", "int32"): _named(name) for name in ("gtz", "nez", "ltz", "eqz", "lez")},
}
# Stages of operators and functions of others, whose vectors the engine's own test holds.
ELSEWHERE = {
    ("exp", "approx_noclamp"),
    ("exp", "accurate_noclampneg"),
    ("gelu", "tanh_fast"),
    ("recip", "approx"),
    ("selu", "torch_constants"),
}
FILES_ELSEWHERE = {"gelu_derivative", "lgamma_stirling", "tanh_derivative"}
FILES_OF_TWO = {"power", "rdiv"}


def _words(inputs: Any, table: str, count: int) -> Any:
    """Return the float32 inputs of a table."""
    if table == "fp32_on_bf16":
        return np.arange(1 << 16, dtype=np.uint32) << 16
    random = inputs["rand_fp32"].view(np.uint32)
    return random if count == random.size else np.concatenate([random[: count // 2], random[32768:][: count // 2]])


@pytest.mark.parametrize(("file", "variant"), CALLS, ids=[f"{file}-{variant}" for file, variant in CALLS])
def test_floating_point(golden: Path, device: ttnn.MeshDevice, file: str, variant: str) -> None:
    tables, inputs = np.load(golden / "sfpu" / f"{file}.npz"), np.load(golden / "sfpu" / "_inputs.npz")
    call = CALLS[file, variant]
    # The move to a 16-bit Dst makes +0 of -0 and of subnormal numbers.
    patterns = np.arange(1 << 16)
    expected = packed(tables[f"{variant}__bf16"])[np.where(patterns & 0x7F80, patterns, 0)]
    x = from_raw(patterns.astype(np.uint16), (2048, 32), ttnn.bfloat16, device)
    np.testing.assert_array_equal(raw_of(call(x)).view(np.uint16), expected)
    for table in ("fp32_on_bf16", "fp32_on_rand"):
        name = f"{variant}__{table}"
        if name in tables:
            words = _words(inputs, table, tables[name].size)
            x = from_raw(words, (words.size // 32, 32), ttnn.float32, device)
            np.testing.assert_array_equal(raw_of(call(x)).view(np.uint32), tables[name])


@pytest.mark.parametrize(("file", "variant"), INTEGERS, ids=[file for file, _ in INTEGERS])
def test_integers(golden: Path, device: ttnn.MeshDevice, file: str, variant: str) -> None:
    expected = np.load(golden / "sfpu" / f"{file}.npz")[f"{variant}__fp32"]
    words = np.load(golden / "sfpu" / "_inputs.npz")["int_a"]
    x = from_raw(words, (words.size // 32, 32), ttnn.int32, device)
    np.testing.assert_array_equal(raw_of(INTEGERS[file, variant](x)).view(np.uint32), expected.view(np.uint32))


def test_every_table_is_called(golden: Path) -> None:
    """A unary floating-point table is listed above, or excluded.

    It is named as one that is not.
    """
    missing = []
    for path in sorted((golden / "sfpu").glob("*.npz")):
        if path.stem in FILES_ELSEWHERE | {"_inputs"}:
            continue
        variants = {name.split("__")[0] for name in np.load(path).files if name.endswith("__fp32_on_rand")}
        variants = {variant for variant in variants if not variant.startswith("fp32_to_")}
        known = {variant for file, variant in CALLS if file == path.stem}
        known |= {variant for file, variant in ELSEWHERE if file == path.stem}
        if variants - known and path.stem not in FILES_OF_TWO:
            missing.append((path.stem, variants - known))
    assert missing == []

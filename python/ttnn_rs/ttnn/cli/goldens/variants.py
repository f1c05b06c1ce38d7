"""What the tables of the vector unit call a variant, and how the engine calls it: `decimals1` is `decimals` of 10, 0.1.

Source: README of the vectors ("p = decimal point, m = minus"); parameters of the vector-unit listings.
"""

from __future__ import annotations

from typing import Final

import numpy as np

_ANY: Final = "*"

_FLOATS: Final[dict[tuple[str, str], tuple[str, tuple[float, ...]]]] = {
    ("relu_max", "upper6"): ("default", (6.0,)),
    ("relu_max", "upper1"): ("default", (1.0,)),
    ("relu_min", "lower0p5"): ("default", (0.5,)),
    ("relu_min", "lower_m1"): ("default", (-1.0,)),
    ("prelu", "w0p25"): ("default", (0.25,)),
    ("prelu", "w0p1"): ("default", (0.1,)),
    ("round", "decimals0"): ("integer", ()),
    ("round", "decimals1"): ("decimals", (10.0, 0.1)),
    ("round", "decimals2"): ("decimals", (100.0, 0.01)),
    ("round", "decimalsm1"): ("decimals", (0.1, 10.0)),
    ("elu", "alpha1"): ("default", (1.0,)),
    ("elu", "alpha0p5"): ("default", (0.5,)),
    ("celu", "alpha1"): ("default", (1.0, 1.0)),
    ("celu", "alpha0p5"): ("default", (0.5, 2.0)),
    ("softshrink", "lambda0p5"): ("default", (0.5,)),
    ("hardtanh", "m1_1"): ("default", (-1.0, 1.0)),
    ("hardtanh", "m2p5_0p7"): ("default", (-2.5, 0.7)),
    ("clamp", "m1_1"): ("default", (-1.0, 1.0)),
    ("clamp", "m0p3_2p7"): ("default", (-0.3, 2.7)),
    ("power", "exp0p5"): ("default", (0.5,)),
    ("power", "exp2p0"): ("default", (2.0,)),
    ("power", "exp3p0"): ("default", (3.0,)),
    ("power", "expm1p0"): ("default", (-1.0,)),
    ("power", "expm0p5"): ("default", (-0.5,)),
    ("power", "exp1p7"): ("default", (1.7,)),
    ("remainder", "d3"): ("default", (3.0, 1.0 / 3.0)),
    ("rdiv", "v2"): ("default", (2.0,)),
    ("rdiv", "v1p5"): ("default", (1.5,)),
    ("rdiv", "v1p5_trunc"): ("trunc", (1.5,)),
    ("rdiv", "v1p5_floor"): ("floor", (1.5,)),
    ("rpow", "base2"): ("default", (2.0,)),
    ("rpow", "base0p7"): ("default", (0.7,)),
    ("xielu", "ap0p8_an0p8"): ("default", (0.8, 0.8)),
    ("isclose", "rtol1em5_atol1em8"): ("default", (1e-5, 1e-8)),
    (_ANY, "v0p5"): ("default", (0.5,)),
    (_ANY, "vm1p3"): ("default", (-1.3,)),
    (_ANY, "s1p5"): ("default", (1.5,)),
    (_ANY, "s0p1"): ("default", (0.1,)),
}

_WORDS: Final[dict[tuple[str, str], tuple[str, tuple[int, ...]]]] = {
    ("selu", "ttnn_default"): ("default", (0x3F867D56, 0x3FE1093B)),
    ("selu", "torch_constants"): ("default", (0x3F867D5F, 0x3FE10966)),
    # 1 / -0.7 as the host computes it from the float32 divisor; the quotient of the decimals rounds to another word.
    ("remainder", "dm0p7"): ("default", (0xBF333333, 0xBFB6DB6E)),
    ("right_shift", "int32_by1"): ("int32", (1,)),
    ("right_shift", "int32_by5"): ("int32", (5,)),
    ("right_shift", "int32_by31"): ("int32", (31,)),
    ("right_shift", "int32_by32"): ("int32", (32,)),
    ("clamp_int32", "m100_5000"): ("int32", (0xFFFFFF9C, 5000)),
    (_ANY, "int32_0x0f0f1234"): ("int32", (0x0F0F1234,)),
    (_ANY, "v7"): ("int32", (7,)),
}


def engine_variant(name: str, variant: str) -> tuple[str, list[int]]:
    """Return the engine's variant of a function and its parameters as words."""
    for key in ((name, variant), (_ANY, variant)):
        if key in _FLOATS:
            engine, floats = _FLOATS[key]
            return engine, np.array(floats, np.float32).view(np.uint32).tolist()
        if key in _WORDS:
            engine, words = _WORDS[key]
            return engine, list(words)
    return variant, []

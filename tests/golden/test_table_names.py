"""SFPU table names: variants, parameter words, new parameter folders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ttnn import _engine
from ttnn.cli import main
from ttnn.cli.goldens.sfpu import every_bf16
from ttnn.cli.goldens.variants import engine_variant, functions

# Words by hand: FP32 bits of floats, two's complement of integers, inverses rounded to nearest.
NAMES = [
    ("leaky_relu/slope0p5", "default", [0x3F000000]),
    ("leaky_relu/slopem3p25", "default", [0xC0500000]),
    ("prelu/w0p1", "default", [0x3DCCCCCD]),
    ("fmod/d0p7", "default", [0x3F333333, 0x3FB6DB6E]),
    ("fmod/dm4", "default", [0xC0800000, 0xBE800000]),
    ("remainder/dm0p7", "default", [0xBF333333, 0xBFB6DB6E]),
    ("remainder/d3", "default", [0x40400000, 0x3EAAAAAB]),
    ("remainder/d0", "default", [0x00000000, 0x7F800000]),
    ("celu/alpha4", "default", [0x40800000, 0x3E800000]),
    ("softplus/beta2_thr20", "default", [0x40000000, 0x3F000000, 0x41A00000]),
    ("softplus/beta0p5_thrm1p5", "default", [0x3F000000, 0x40000000, 0xBFC00000]),
    ("threshold/thr0p5_val2", "default", [0x3F000000, 0x40000000]),
    ("hardshrink/lambda0p5", "default", [0x3F000000]),
    ("hardtanh/m2p5_0p7", "default", [0xC0200000, 0x3F333333]),
    ("clamp/minf_1em5", "default", [0xFF800000, 0x3727C5AC]),
    ("relu_min/lower_m1", "default", [0xBF800000]),
    ("xielu/ap0p75_anm2", "default", [0x3F400000, 0xC0000000]),
    ("selu/ttnn_default", "default", [0x3F867D56, 0x3FE1093B]),
    ("selu/scale2_alpha1p5", "default", [0x40000000, 0x40400000]),
    ("isclose/rtol1em5_atol1em8", "default", [0x3727C5AC, 0x322BCC77]),
    ("isclose/rtol1_atol2_equal_nan", "equal_nan", [0x3F800000, 0x40000000]),
    ("round/decimals0", "integer", []),
    ("round/decimals3", "decimals", [0x447A0000, 0x3A83126F]),
    ("round/decimalsm2", "decimals", [0x3C23D70A, 0x42C80000]),
    ("rdiv/v1p5_floor", "floor", [0x3FC00000]),
    ("rdiv/vm3", "default", [0xC0400000]),
    ("div_unary/s1p5", "default", [0x3FC00000]),
    ("polygamma/n2", "default", [2, 0xC0000000]),
    ("polygamma/n5", "default", [5, 0x42F00000]),
    ("power_iterative/n4", "default", [4]),
    ("power/expm0p5", "default", [0xBF000000]),
    ("addcmul/v0x3f800000", "default", [0x3F800000]),
    ("left_shift/int32_by5", "int32", [5]),
    ("right_shift/int32_by32", "int32", [32]),
    ("bitwise_xor/int32_0x0f0f1234", "int32", [0x0F0F1234]),
    ("bitwise_and/int32_m2", "int32", [0xFFFFFFFE]),
    ("clamp_int32/m100_5000", "int32", [0xFFFFFF9C, 5000]),
    ("unary_le_int32/vm7", "int32", [0xFFFFFFF9]),
    ("relu_max_int32/uint32_upper9", "uint32", [9]),
    ("gelu/tanh_fast", "tanh_fast", []),
    ("typecast_from_fp32/fp32_to_int32", "fp32_to_int32", []),
]
WITHOUT_MEANING = ["celu/alpha1_2", "fmod/d3_ceil", "abs/v2x", "gelu/newest", "softplus/beta2", "rdiv/v1p5_up"]


@pytest.mark.parametrize(("name", "variant", "words"), NAMES, ids=[name for name, *_ in NAMES])
def test_variant_and_words(name: str, variant: str, words: list[int]) -> None:
    function, table = name.split("/")
    assert engine_variant(function, table) == (variant, words)
    assert functions()[function][variant][1] == len(words)


def test_a_function_of_blackhole_only() -> None:
    assert engine_variant("softcap", "beta8", 1) == ("default", [0x41000000, 0x3E000000])
    assert "softcap" not in functions()


@pytest.mark.parametrize("name", WITHOUT_MEANING)
def test_names_without_a_meaning_are_no_variant(name: str) -> None:
    function, table = name.split("/")
    variant, words = engine_variant(function, table)
    assert functions()[function].get(variant, (0, -1))[1] != len(words)


def write_folder(folder: Path) -> None:
    """Write tables of new parameters.

    The scalar code computes them from the words below.
    """
    folder.mkdir()
    generator = np.random.default_rng(4)
    shared = {"rand_fp32": generator.integers(0, 2**32, 65536, np.uint32)}
    shared |= {name: generator.integers(0, 2**32, 16384, np.uint32) for name in ("int_a", "int_b", "int_shift")}
    shared |= {f"pair_{operand}_fp32": generator.integers(0, 2**32, 32768, np.uint32) for operand in "abc"}
    np.savez(folder / "_inputs.npz", **shared)
    random = shared["rand_fp32"]
    few = np.concatenate([random[:2048], random[32768:34816]])
    tables: dict[str, dict[str, npt.NDArray[np.generic]]] = {}

    def put(function: str, array: str, variant: str, words: list[int], x: npt.NDArray[np.uint32], wide: bool) -> None:
        results = _engine.sfpu(function, variant, x, wide, words)
        tables.setdefault(function, {})[array] = results if wide else (results >> 16).astype(np.uint16)

    for function, table, words in [
        ("leaky_relu", "slope0p375", [0x3EC00000]),
        ("fmod", "dm2p5", [0xC0200000, 0xBECCCCCD]),
        ("softplus", "beta4_thr8", [0x40800000, 0x3E800000, 0x41000000]),
        ("hardshrink", "lambda1p25", [0x3FA00000]),
        ("threshold", "thrm1_val3", [0xBF800000, 0x40400000]),
        ("polygamma", "n3", [3, 0x40C00000]),
    ]:
        put(function, f"{table}__bf16", "default", words, every_bf16(), False)
        put(function, f"{table}__fp32_on_bf16", "default", words, every_bf16(), True)
        put(function, f"{table}__fp32_on_rand", "default", words, few, True)
    put("left_shift", "int32_by7__fp32", "int32", [7], shared["int_a"], True)
    put("unary_ne_int32", "vm12__fp32", "int32", [0xFFFFFFF4], shared["int_a"], True)
    every = np.arange(65536, dtype=np.uint32)
    # The values of uint16 are exact in float32; bfloat16 keeps eight bits of them, halves away from zero.
    floats = every.astype(np.float32).view(np.uint32)
    rounded = floats + np.uint32(0x8000) & np.uint32(0xFFFF0000)
    tables["typecast_from_uint16"] = {
        "uint16_to_fp32__bf16": (floats >> 16).astype(np.uint16),
        "uint16_to_fp32__fp32": floats,
        "uint16_to_bf16__bf16": (rounded >> 16).astype(np.uint16),
        "uint16_to_bf16__fp32": rounded,
        "uint16_to_int32__bf16": every.astype(np.uint16),
        "uint16_to_uint32__fp32": every,
        "uint16_to_uint8__bf16": (every & 0xFF).astype(np.uint16),
    }
    for function, arrays in tables.items():
        np.savez(folder / f"{function}.npz", **arrays)


def test_folders_with_new_parameters(tmp_path: Path, cpu_level: None, capsys: pytest.CaptureFixture[str]) -> None:
    _engine.set_cpu_level("scalar")
    write_folder(tmp_path / "sfpu")
    assert main(["goldens", str(tmp_path), "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert {file["file"]: file["equal_arrays"] for file in files if file["equal_arrays"] != 3} == {
        "sfpu/left_shift.npz": 1,
        "sfpu/typecast_from_uint16.npz": 7,
        "sfpu/unary_ne_int32.npz": 1,
    }
    assert not any(file["uncovered"] or file["differences"] for file in files)

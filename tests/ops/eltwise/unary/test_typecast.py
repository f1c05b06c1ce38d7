"""`ttnn.typecast`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.operands import from_raw, raw_of, values_of

FLOATS = [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32]
INTEGER_CASTS = ["int32_to_fp32", "int32_to_bf16", "int32_to_uint16", "int32_to_uint8",
                 "uint32_to_fp32", "uint32_to_bf16", "uint32_to_uint16", "uint32_to_uint8"]  # fmt: skip
FLOAT_CASTS = ["fp32_to_int32", "fp32_to_uint32", "fp32_to_uint16", "fp32_to_uint8",
               "bf16_to_int32", "bf16_to_uint32", "bf16_to_uint16", "bf16_to_uint8"]  # fmt: skip
TYPES = {"fp32": ttnn.float32, "bf16": ttnn.bfloat16, "int32": ttnn.int32, "uint32": ttnn.uint32,
         "uint16": ttnn.uint16, "uint8": ttnn.uint8}  # fmt: skip
WORD: dict[str, Any] = {"fp32": np.uint32, "bf16": np.uint16, "int32": np.uint32, "uint32": np.uint32,
                        "uint16": np.uint16, "uint8": np.uint8}  # fmt: skip


def _cast(words: npt.NDArray[Any], source: str, target: str, device: ttnn.MeshDevice) -> npt.NDArray[Any]:
    x = from_raw(words, (words.size // 32, 32), TYPES[source], device)
    return raw_of(ttnn.typecast(x, TYPES[target])).view(WORD[target])


@pytest.mark.parametrize("name", INTEGER_CASTS + FLOAT_CASTS)
def test_typecast_vectors(golden: Path, device: ttnn.MeshDevice, name: str) -> None:
    source, target = name.split("_to_")
    table, inputs = np.load(golden / "sfpu" / f"typecast_from_{source}.npz"), np.load(golden / "sfpu" / "_inputs.npz")
    if name in INTEGER_CASTS:
        words, expected = inputs["int_a"].view(np.uint32), table[f"{name}__fp32"]
    elif source == "fp32":
        random = inputs["rand_fp32"].view(np.uint32)
        expected = table[f"{name}__fp32_on_rand"]
        half = expected.size // 2
        words = np.concatenate([random[:half], random[32768 : 32768 + half]])
    else:
        words = np.arange(1 << 16, dtype=np.uint16)
        wide = target in ("int32", "uint32")
        expected = table[f"{name}__{'fp32' if wide else 'bf16'}"]
        # The move to Dst makes +0 of subnormal numbers.
        expected = np.where(words & 0x7F80, expected, 0).astype(expected.dtype)
    got = _cast(words, source, target, device)
    if target == "bf16":
        expected = (expected >> 16).astype(np.uint16)
    np.testing.assert_array_equal(got, expected.astype(WORD[target]))


@pytest.mark.parametrize("source", [*FLOATS, ttnn.bfloat4_b, ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8])
@pytest.mark.parametrize("target", [*FLOATS, ttnn.bfloat4_b, ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8])
def test_typecast_keeps_small_integers(source: ttnn.DataType, target: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    """0, 1, 2 and 4 are values of every data type."""
    values = np.random.default_rng(1).choice([0, 1, 2, 4], (2, 40, 70)).astype(np.float32)
    x = ttnn.typecast(ttnn.Tensor(values, ttnn.float32, None, ttnn.TILE_LAYOUT), source).to(device)
    result = ttnn.typecast(x, target)
    assert result.dtype is target
    np.testing.assert_array_equal(values_of(result), values)


def _to(source: ttnn.DataType, target: ttnn.DataType) -> ttnn.UnaryWithParam:
    return ttnn.UnaryWithParam(ttnn.UnaryOpType.TYPECAST, source.value, target.value)


def test_a_conversion_in_a_chain(device: ttnn.MeshDevice) -> None:
    """It rounds Dst values; first in a chain, the output type."""
    words = np.random.default_rng(5).integers(0x3F800000, 0x47000000, 1024, dtype=np.uint32)
    x = from_raw(words, (32, 32), ttnn.float32, device)
    rounded = ttnn.to_torch(x).bfloat16().float()
    down = _to(ttnn.float32, ttnn.bfloat16)
    last = ttnn.unary_chain(x, [ttnn.UnaryOpType.ABS, down])
    assert last.dtype is ttnn.float32
    assert ttnn.to_torch(last).equal(rounded)
    first = ttnn.unary_chain(x, [down, ttnn.UnaryOpType.ABS])
    assert first.dtype is ttnn.bfloat16
    assert ttnn.to_torch(first).float().equal(rounded)
    narrow = ttnn.typecast(x, ttnn.bfloat16)
    assert raw_of(ttnn.unary_chain(narrow, [ttnn.UnaryOpType.ABS, _to(ttnn.bfloat16, ttnn.float32)])).tobytes() == (
        raw_of(narrow).tobytes()
    )
    with pytest.raises(ttnn.UnsupportedError, match="only conversions between floating point types"):
        ttnn.unary_chain(x, [_to(ttnn.float32, ttnn.int32)])
    with pytest.raises(ttnn.ParameterError, match="takes the values of two data types"):
        ttnn.unary_chain(x, [ttnn.UnaryWithParam(ttnn.UnaryOpType.TYPECAST, 99, 0)])

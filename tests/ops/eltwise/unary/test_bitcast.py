"""`ttnn.bitcast`: words stay as they are, of special values too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import values_of

WORDS = np.array([0, 1, 0x7F800000, 0xFF800000, 0x7FC00001, 0x80000000, 0x00000001, 0x3F800000], np.uint32)
WIDE = [ttnn.float32, ttnn.int32, ttnn.uint32]


def tensor(values: Any, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.Tensor(np.tile(values, (3, 5)), dtype, device, layout)


def _through_tf32(words: Any) -> Any:
    """Return words that were in SrcA.

    They have 19 bits, no subnormal numbers, and NaN as infinity.
    """
    words = np.asarray(words, np.uint64)
    exponent = words >> 23 & 0xFF
    infinite = words & 0xFF800000
    return np.where(exponent == 0, 0, np.where(exponent == 0xFF, infinite, words & 0xFFFFE000))


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("target", WIDE)
def test_words_of_32_bits(target: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    x = tensor(WORDS, ttnn.uint32, layout, device)
    result = ttnn.bitcast(x, target)
    assert result.dtype is target
    expected = _through_tf32(values_of(x)) if target is ttnn.float32 else values_of(x)
    np.testing.assert_array_equal(values_of(ttnn.bitcast(result, ttnn.uint32)), expected)


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_every_word_of_16_bits(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    x = ttnn.Tensor(np.arange(1 << 16, dtype=np.uint16).reshape(256, 256), ttnn.uint16, device, layout)
    number = ttnn.bitcast(x, ttnn.bfloat16)
    assert values_of(number)[0x3F80 >> 8, 0x80] == 1.0
    np.testing.assert_array_equal(values_of(ttnn.bitcast(number, ttnn.uint16)), values_of(x))


def test_the_result_has_memory_of_its_own(device: ttnn.MeshDevice) -> None:
    x = tensor(WORDS, ttnn.uint32, ttnn.TILE_LAYOUT, device)
    assert ttnn.bitcast(x, ttnn.float32).buffer_address() != x.buffer_address()
    taken = ttnn.zeros_like(x, dtype=ttnn.float32)
    assert ttnn.bitcast(x, ttnn.float32, output_tensor=taken) is taken
    expected = _through_tf32(values_of(x))
    np.testing.assert_array_equal(values_of(ttnn.bitcast(taken, ttnn.uint32)), expected)


@pytest.mark.parametrize("target", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.uint8])
def test_sizes_agree(target: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.DTypeError, match=rf"ttnn\.bitcast: UINT32 and {target.name} have different sizes"):
        ttnn.bitcast(tensor(WORDS, ttnn.uint32, ttnn.TILE_LAYOUT, device), target)

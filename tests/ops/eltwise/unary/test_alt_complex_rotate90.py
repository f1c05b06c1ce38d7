"""`alt_complex_rotate90` beyond the generated tests: which bits land where."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import from_raw, make, raw_of, values_of

LAYOUTS = [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT]


def _turned(words: np.ndarray, sign: int) -> np.ndarray:
    """Return -b, a of every pair a, b of words."""
    return np.stack((words[..., 1::2] ^ sign, words[..., ::2]), -1).reshape(words.shape)


def test_every_bfloat16(device: ttnn.MeshDevice) -> None:
    words = np.random.default_rng(0).permutation(2**16).astype(np.uint16)
    x = from_raw(words, (2048, 32), ttnn.bfloat16, device)
    got = raw_of(ttnn.alt_complex_rotate90(x)).view(np.uint16)
    # What a 16-bit Dst and the packer make of a datum, and of the negative of one.
    plain = raw_of(ttnn.identity(x)).view(np.uint16).reshape(-1, 32)
    negative = raw_of(ttnn.neg(x)).view(np.uint16).reshape(-1, 32)
    expected = np.stack((negative[:, 1::2], plain[:, ::2]), -1)
    np.testing.assert_array_equal(got.reshape(-1), expected.reshape(-1))


def test_float32_words(device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**32, (64, 32), np.uint32)
    words[0, :6] = [0x80000000, 0, 1, 0x807FFFFF, 0x7F800001, 0xFFC00000]
    x = from_raw(words.reshape(-1), (64, 32), ttnn.float32, device)
    got = raw_of(ttnn.alt_complex_rotate90(x)).view(np.uint32).reshape(64, 32)
    # Storing a subnormal number makes it 0 of its sign.
    small = words & 0x7F800000 == 0
    words[small] &= 0x80000000
    np.testing.assert_array_equal(got, _turned(words, 0x80000000))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(8,), (3, 34, 70), (2, 1, 5, 31)])
def test_shapes(shape: tuple[int, ...], layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    x = make(shape, ttnn.bfloat16, layout, device, 3)
    got = ttnn.alt_complex_rotate90(x)
    assert (got.layout, got.dtype, got.shape) == (layout, ttnn.bfloat16, x.shape)
    values = values_of(x)
    even = values.shape[-1] // 2 * 2
    result = values_of(got)
    np.testing.assert_array_equal(result[..., :even:2], -values[..., 1:even:2])
    np.testing.assert_array_equal(result[..., 1:even:2], values[..., :even:2])
    assert not result[..., even:].any()


@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b])
def test_block_floats_keep_their_values(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = make((40, 70), dtype, ttnn.TILE_LAYOUT, device, 5)
    got = ttnn.alt_complex_rotate90(x)
    assert got.dtype is dtype
    # Groups of 16 keep their members, and so their exponents.
    values, result = values_of(x), values_of(got)
    np.testing.assert_array_equal(result[:, 1::2], values[:, ::2])
    np.testing.assert_array_equal(result[:, ::2], -values[:, 1::2])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_place_and_output(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    config = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(y=2, x=2), ttnn.ShardStrategy.BLOCK)
    x = make((64, 64), ttnn.float32, layout, device, 7)
    expected = values_of(ttnn.alt_complex_rotate90(x))
    sharded = ttnn.to_memory_config(x, config)
    got = ttnn.alt_complex_rotate90(sharded)
    assert got.memory_config() == sharded.memory_config()
    np.testing.assert_array_equal(values_of(got), expected)
    assert ttnn.alt_complex_rotate90(x, memory_config=config).memory_config() == config
    assert ttnn.alt_complex_rotate90(x, output_tensor=x) is x
    np.testing.assert_array_equal(values_of(x), expected)


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_integers_are_refused(dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    x = make((32, 32), dtype, layout, device, 9)
    with pytest.raises(ttnn.DTypeError, match="ALT_COMPLEX_ROTATE90 does not support integer input dtype"):
        ttnn.alt_complex_rotate90(x)

"""Keys and values written into a cache."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

TILES = ttnn.TILE_LAYOUT
WIDE = ttnn.WormholeComputeKernelConfig(fp32_dest_acc_en=True)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
def test_a_prompt_is_copied_into_a_user_s_part(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    cache, prompt = (
        make(shape, dtype, TILES, device, seed) for seed, shape in enumerate([(3, 2, 96, 64), (1, 2, 40, 64)])
    )
    expected = values_of(cache)
    expected[1, :, 32:72] = values_of(prompt)[0]
    assert ttnn.kv_cache.fill_cache_for_user_(cache, prompt, 1, update_idx=32) is cache
    # The last tile of the prompt brings its padding.
    np.testing.assert_array_equal(values_of(cache)[:, :, :72], expected[:, :, :72])
    np.testing.assert_array_equal(values_of(cache)[[0, 2]], expected[[0, 2]])


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_a_token_replaces_a_row_of_every_user(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    cache = make((3, 2, 96, 64), dtype, TILES, device)
    tokens = make((1, 2, 64, 64), ttnn.bfloat16, TILES, device, 1)
    expected = values_of(cache)
    expected[:, :, 70] = np.swapaxes(values_of(tokens)[0, :, 5:8], 0, 1)
    assert ttnn.kv_cache.update_cache_for_token_(cache, tokens, 70, 5) is cache
    step = 2**-6 if dtype is ttnn.bfloat8_b else 0
    np.testing.assert_allclose(values_of(cache), expected, atol=step * np.abs(expected).max())
    assert ttnn.update_cache(cache, tokens, 70, batch_offset=5) is cache


@pytest.mark.parametrize(("config", "kept"), [(None, 0xFFFF0000), (WIDE, 0xFFFFE000)], ids=["16 bits", "32 bits"])
def test_float32_is_cut_on_its_way(
    config: ttnn.WormholeComputeKernelConfig | None, kept: int, device: ttnn.MeshDevice
) -> None:
    cache, tokens = (make(shape, ttnn.float32, TILES, device, 7) for shape in ((2, 1, 64, 64), (1, 1, 32, 64)))
    expected = values_of(cache).astype(np.float32)
    expected[:, 0, 33] = values_of(tokens)[0, 0, :2]
    # The tiles of the row pass through Dst with all of their rows.
    expected[:, :, 32:] = (expected[:, :, 32:].view(np.uint32) & np.uint32(kept)).view(np.float32)
    ttnn.update_cache(cache, tokens, 33, compute_kernel_config=config)
    np.testing.assert_array_equal(values_of(cache), expected)


def test_operands_that_do_not_fit_raise_errors_and_change_nothing(device: ttnn.MeshDevice) -> None:
    cache = make((2, 2, 64, 64), ttnn.bfloat16, TILES, device)
    before = values_of(cache)
    prompt = make((1, 2, 32, 64), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.ParameterError, match="batch_index=2 is out of range"):
        ttnn.fill_cache(cache, prompt, 2)
    with pytest.raises(ttnn.ParameterError, match="update_idx=48 must be a multiple of 32"):
        ttnn.fill_cache(cache, prompt, 0, update_idx=48)
    with pytest.raises(ttnn.ParameterError, match="update_index=64 is out of range"):
        ttnn.update_cache(cache, prompt, 64)
    with pytest.raises(ttnn.ParameterError, match="batch_offset=31"):
        ttnn.update_cache(cache, prompt, 0, batch_offset=31)
    with pytest.raises(ttnn.ShapeError, match="takes"):
        ttnn.update_cache(cache, make((1, 1, 32, 64), ttnn.bfloat16, TILES, device), 0)
    with pytest.raises(ttnn.DTypeError, match="they must be equal"):
        ttnn.fill_cache(cache, ttnn.typecast(prompt, ttnn.bfloat8_b), 0)
    np.testing.assert_array_equal(values_of(cache), before)

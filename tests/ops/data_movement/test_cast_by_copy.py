"""Copies in another data type, without an SFPU function."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ttnn
from testkit.operands import values_of

L1, BF16, F32, BF8 = ttnn.L1_MEMORY_CONFIG, ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b
SHARDS = ttnn.create_sharded_memory_config((32, 32), ttnn.CoreGrid(y=1, x=1), ttnn.ShardStrategy.HEIGHT)
ABOVE_HALF = 1 + 2.0**-8 + 2.0**-9
"""Nearer to the next bfloat16 above than to 1."""
ABOVE_TIE = 1 + 2.0**-8 + 2.0**-12
"""TF32 has the tie below, which is rounded to even: 1."""

COPIES: dict[str, Callable[[ttnn.Tensor, ttnn.DataType], ttnn.Tensor]] = {
    "to_memory_config": lambda x, dtype: ttnn.to_memory_config(x, SHARDS, dtype=dtype),
    "interleaved_to_sharded": lambda x, dtype: ttnn.interleaved_to_sharded(x, SHARDS, dtype),
    "assign": lambda x, dtype: ttnn.assign(x, memory_config=L1, dtype=dtype),
    "clone": lambda x, dtype: ttnn.clone(x, dtype=dtype),
    "copy": lambda x, dtype: ttnn.copy(x, ttnn.zeros_like(x, dtype=dtype)),
}


def tensor(value: float, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.full((32, 32), value, F32, ttnn.TILE_LAYOUT, device)


@pytest.mark.parametrize("name", COPIES)
def test_float32_is_cut(name: str, device: ttnn.MeshDevice) -> None:
    x = tensor(ABOVE_HALF, device)
    result = COPIES[name](x, BF16)
    assert result.dtype is BF16
    np.testing.assert_array_equal(values_of(result), 1)
    np.testing.assert_array_equal(values_of(ttnn.typecast(x, BF16)), 1 + 2.0**-7)


@pytest.mark.parametrize("name", COPIES)
def test_block_floats_are_rounded_twice(name: str, device: ttnn.MeshDevice) -> None:
    generator = np.random.default_rng(3)
    values = generator.normal(size=(32, 32)).astype(np.float32)
    x = ttnn.typecast(ttnn.Tensor(values, F32, None, ttnn.TILE_LAYOUT).to(device), BF16)
    copied, cast = values_of(COPIES[name](x, BF8)), values_of(ttnn.typecast(x, BF8))
    assert (copied != cast).any()
    activated = values_of(ttnn.identity(x, output_tensor=ttnn.zeros_like(x, dtype=BF8)))
    np.testing.assert_array_equal(copied, activated)


def test_clone_keeps_tf32_in_a_wide_dst(device: ttnn.MeshDevice) -> None:
    config = ttnn.init_device_compute_kernel_config(device.arch(), fp32_dest_acc_en=True)
    for value, expected in ((ABOVE_HALF, 1 + 2.0**-7), (ABOVE_TIE, 1.0)):
        result = ttnn.clone(tensor(value, device), dtype=BF16, compute_kernel_config=config)
        np.testing.assert_array_equal(values_of(result), expected)
    np.testing.assert_array_equal(values_of(ttnn.typecast(tensor(ABOVE_TIE, device), BF16)), 1 + 2.0**-7)

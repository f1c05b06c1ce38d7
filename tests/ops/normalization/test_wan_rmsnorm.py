"""RMS norm of row parts that one device computes in turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import values_of

pre, post = ttnn.experimental.wan_fused_rmsnorm_pre_allgather, ttnn.experimental.wan_fused_rmsnorm_post_allgather


def _on(device: ttnn.MeshDevice, values: np.ndarray, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.Tensor(values.astype(np.float32), dtype).to(ttnn.TILE_LAYOUT).to(device)


def _words(values: np.ndarray) -> np.ndarray:
    """Round to bfloat16, ties to even."""
    words = np.asarray(values, np.float32).view(np.uint32)
    return ((words + 0x7FFF + (words >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def _rotation() -> np.ndarray:
    matrix = np.zeros((1, 1, 32, 32))
    for pair in range(0, 32, 2):
        matrix[0, 0, pair, pair + 1], matrix[0, 0, pair + 1, pair] = 1, -1
    return matrix


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("rotates", [False, True])
def test_parts_of_rows_are_normalised_in_turn(parts: int, heads: int, rotates: bool, device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(4)
    width, head = 128, 128 // heads
    x = _words(rng.normal(size=(1, 1, 64, parts * width)) * 3)
    weight = _words(rng.normal(size=(1, parts * width)))
    angles = rng.normal(size=(1, 1, 64, head))
    shares = [_on(device, x[..., part * width : (part + 1) * width]) for part in range(parts)]
    stats = [pre(share, dtype=ttnn.float32) for share in shares]
    for share, found in zip(shares, stats, strict=True):
        squares = (values_of(share).astype(np.float64) ** 2).sum(-1)
        np.testing.assert_allclose(values_of(found)[..., 0], squares, rtol=2e-3)
    gathered = ttnn.concat(stats, dim=-1)
    tables: dict[str, Any] = {}
    if rotates:
        tables = {
            "transformation_mat": _on(device, _rotation()),
            "rope_cos": _on(device, np.cos(angles)),
            "rope_sin": _on(device, np.sin(angles), ttnn.float32),
        }
    wanted = x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-5) * weight
    for part, share in enumerate(shares):
        columns = slice(part * width, (part + 1) * width)
        got = post(share, gathered, weight=_on(device, weight[:, columns]), num_heads_per_device=heads, **tables)
        expected = wanted[..., columns].reshape(1, 64, heads, head).transpose(0, 2, 1, 3)
        if rotates:
            turned = np.stack([-expected[..., 1::2], expected[..., ::2]], axis=-1).reshape(expected.shape)
            expected = expected * np.cos(angles) + turned * np.sin(angles)
        assert tuple(got.shape) == (1, heads, 64, head)
        np.testing.assert_allclose(values_of(got), expected, rtol=0.02, atol=0.03)


def test_tiles_of_a_row_are_added_in_float32(device: ttnn.MeshDevice) -> None:
    """Squares of tiles are added in L1 in full float32.

    Ones after 2**12: 2**24 + 1 is a tie in float32, which TF32 or a sum in other order would not keep.
    """
    values = np.zeros((1, 1, 32, 96), np.float32)
    values[..., 0], values[..., 32], values[..., 64] = 2.0**12, 1, 1
    found = values_of(pre(_on(device, values), dtype=ttnn.float32))[0, 0, :, 0]
    np.testing.assert_array_equal(found, np.float32(2**24))
    values[..., 0], values[..., 32], values[..., 64] = 1, 1, 2.0**5
    found = values_of(pre(_on(device, values), dtype=ttnn.float32))[0, 0, :, 0]
    np.testing.assert_array_equal(found, np.float32(2**10 + 2))


def test_calls_that_do_not_fit_are_rejected(device: ttnn.MeshDevice) -> None:
    x, stats = _on(device, np.ones((1, 1, 32, 64))), _on(device, np.ones((1, 1, 32, 32)))
    with pytest.raises(ttnn.ShapeError, match="number of heads"):
        post(x, stats, num_heads_per_device=4)
    with pytest.raises(ttnn.ParameterError, match="required when ROPE"):
        post(x, stats, transformation_mat=_on(device, _rotation()))
    with pytest.raises(ttnn.DTypeError, match="FLOAT32"):
        pre(ttnn.typecast(x, ttnn.float32))
    narrow = ttnn.WormholeComputeKernelConfig(fp32_dest_acc_en=False)
    with pytest.raises(ttnn.UnsupportedError, match="fp32_dest_acc_en"):
        pre(x, compute_kernel_config=narrow)

"""Lane registers and lane moves, on small integers.

Sums are exact whatever their order.
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit import tile_parts
from testkit.tile_parts import WIDE, Array, Matrix, X, api_bits, apply, one_tile
from ttnn import kernel_api as api
from ttnn.base.exceptions import KernelArgumentError, KernelSetupError, UnsupportedError

RNG = np.random.default_rng(31)


def small(low: int = -8, high: int = 8) -> Array:
    return RNG.integers(low, high, (32, 32)).astype(np.float32)


def test_running_sums_go_on_from_tile_to_tile(device: ttnn.MeshDevice) -> None:
    tiles = [small(), small()]

    def body() -> None:
        api.cumsum_tile_init()
        api.cumsum_tile(0)
        api.cumsum_tile(1, first=False)

    compute = one_tile(2, body, results=(0, 1))
    out = Matrix(np.zeros((64, 32), np.float32))
    result = tile_parts.run(device, compute, [Matrix(x) for x in tiles], out, WIDE)
    np.testing.assert_array_equal(result, np.cumsum(np.concatenate(tiles), axis=0))


def test_a_running_sum_needs_its_first_tile(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.cumsum_tile_init()
        api.cumsum_tile(0, first=False)

    with pytest.raises(KernelSetupError, match=r"cumsum_tile\(first=True\) before cumsum is missing"):
        apply(device, [small()], body)


def test_ema_tile_matches_the_recurrence(device: ttnn.MeshDevice) -> None:
    data = small()

    def body() -> None:
        api.ema_init(api_bits(0.5), api_bits(0.25))
        api.ema_tile(0)

    compute = one_tile(1, body, results=(1,))
    result = tile_parts.run(device, compute, [Matrix(data)], Matrix(np.zeros((32, 32), np.float32)), WIDE)
    expected, previous = np.zeros_like(data), np.zeros(32, np.float32)
    for row in range(32):
        # The SFPU truncates products to 27 bits, which these have.
        previous = np.float32(0.25) * data[row] + np.float32(0.5) * previous
        expected[row] = previous
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_welford_statistics_of_two_tiles_match_float32(device: ttnn.MeshDevice) -> None:
    tiles = [small(), small()]
    table = [api_bits(float(np.float32(1) / np.float32(n))) for n in range(1, 65)]

    def body() -> None:
        api.welford_init()
        api.welford_update(0, 0, table)
        api.welford_save_state(2)
        api.welford_reinit()
        api.welford_restore_state(2)
        api.welford_update_rows(1, 32, 0, 16)
        api.welford_update_rows(1, 48, 16, 16, table)
        api.welford_finalize_to_row(2, 63, table)

    compute = one_tile(2, body, results=(2, 3))
    out = Matrix(np.zeros((64, 32), np.float32))
    result = tile_parts.run(device, compute, [Matrix(x) for x in tiles], out, WIDE)
    data = np.concatenate(tiles).astype(np.float64)
    np.testing.assert_allclose(result[0], data.mean(axis=0), rtol=0, atol=2e-6)
    np.testing.assert_allclose(result[32], data.var(axis=0), rtol=2e-6)
    assert not result[1:4].any()


def test_welford_calls_outside_its_table_raise(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.welford_init()
        api.welford_update(0, 0, [api_bits(1.0)])

    with pytest.raises(KernelArgumentError, match="welford_update: reciprocal 1 of 1 is needed"):
        apply(device, [small()], body)


def test_quant_and_dequant_tiles_match_numpy(device: ttnn.MeshDevice) -> None:
    data, scale = small(-900, 900) / np.float32(16), np.full((32, 32), 2.0, np.float32)

    def quantise() -> None:
        api.quant_tile_init(api_bits(3.0))
        api.quant_tile(0, 1, 0)

    wanted = np.trunc(data * 2 + 3 + np.copysign(0.5, data * 2 + 3))
    quantised = apply(device, [data, scale], quantise, np.int32)
    np.testing.assert_array_equal(quantised, np.clip(wanted, -127, 127).astype(np.int32))

    def back() -> None:
        api.dequant_tile_init(api_bits(-3.0))
        api.dequant_tile(0, 1, 0)

    half = np.full((32, 32), 0.5, np.float32)
    np.testing.assert_array_equal(apply(device, [quantised, half], back, np.float32), (quantised - 3) * half)

    def again() -> None:
        api.requant_tile_init(api_bits(1.0))
        api.requant_tile(0, 1, 0)

    wanted = quantised * np.float32(0.5) + 1
    wanted = np.trunc(wanted + np.copysign(0.5, wanted)).astype(np.int32)
    np.testing.assert_array_equal(apply(device, [quantised, half], again, np.int32), wanted)


def test_quant_tile_needs_32_bit_dst(device: ttnn.MeshDevice) -> None:
    data = small().astype(ml_dtypes.bfloat16)

    def body() -> None:
        api.quant_tile_init(0)
        api.quant_tile(0, 1, 0)

    with pytest.raises(KernelSetupError, match="Int32 operands need fp32_dest_acc_en=True"):
        apply(device, [data, data], body)


def test_mask_tile_replaces_masked_elements(device: ttnn.MeshDevice) -> None:
    data, mask = small(1, 9), (RNG.random((32, 32)) < 0.5).astype(np.float32)

    def zeros() -> None:
        api.mask_tile_init()
        api.mask_tile(0, 1)

    np.testing.assert_array_equal(apply(device, [data, mask], zeros), data * mask)

    def infinities() -> None:
        api.mask_tile_init()
        api.mask_posinf_tile(0, 1)

    np.testing.assert_array_equal(apply(device, [data, mask], infinities), np.where(mask == 0, np.inf, data))

    def elsewhere() -> None:
        api.mask_tile_init()
        api.mask_tile(0, 2)

    with pytest.raises(KernelArgumentError, match=r"mask_tile: the mask of Dst\[0\] must be Dst\[1\], not Dst\[2\]"):
        apply(device, [data, mask], elsewhere)


def test_complex_rotation_and_top_row_functions_match_numpy(device: ttnn.MeshDevice) -> None:
    data, other = small(1, 9), small(1, 9)

    def rotate() -> None:
        api.alt_complex_rotate90_tile_init()
        api.alt_complex_rotate90_tile(0)

    expected = np.empty_like(data)
    expected[:, 0::2], expected[:, 1::2] = -data[:, 1::2], data[:, 0::2]
    np.testing.assert_array_equal(apply(device, [data], rotate), expected)

    def add() -> None:
        api.sfpu_add_top_row_init()
        api.sfpu_add_top_row(0, 1, 0)

    np.testing.assert_array_equal(apply(device, [data, other], add)[0], data[0] + other[0])


def test_reshuffle_rows_adds_rows_at_their_index(device: ttnn.MeshDevice) -> None:
    data, target = small(), small()
    index = RNG.integers(0, 40, 32)
    rows = np.zeros((32, 32), np.float32)
    rows.reshape(-1)[:12] = np.concatenate([np.zeros(16, np.uint8), index.astype(np.uint8)]).view(np.float32)

    def body() -> None:
        api.reshuffle_rows_tile_init()
        api.reshuffle_rows_tile(0, api.get_tile_address(2, 0))

    expected = target.copy()
    for row, place in enumerate(index):
        if place < 32:
            expected[place] += data[row]
    # CB 2 only carries the row numbers; its 48 bytes lie in the first face row, so tiling leaves them together.
    inputs = [Matrix(data), Matrix(target), Matrix(tile_parts.from_tiles(rows.reshape(-1), (32, 32)))]
    out = Matrix(np.zeros((32, 32), np.float32))
    result = tile_parts.run(device, one_tile(3, body, results=(1,)), inputs, out, WIDE)
    np.testing.assert_array_equal(result, expected)


REDUCTIONS = [(pool, dim) for pool in ("SUM", "MAX", "MIN") for dim in ("REDUCE_ROW", "REDUCE_COL")]


@pytest.mark.parametrize(("pool", "dim"), REDUCTIONS)
def test_sfpu_reduce_matches_numpy(device: ttnn.MeshDevice, pool: str, dim: str) -> None:
    data = small()

    def body() -> None:
        api.sfpu_reduce_init()
        api.sfpu_reduce(0, pool_type=api.PoolType[pool], reduce_dim=api.ReduceDim[dim])

    result = apply(device, [data], body)
    reduce = {"SUM": np.sum, "MAX": np.max, "MIN": np.min}[pool]
    along_rows = dim == "REDUCE_ROW"
    expected = reduce(data, axis=1 if along_rows else 0)
    np.testing.assert_array_equal(result[:, 0] if along_rows else result[0], expected)


def test_sfpu_average_reduction_raises(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.sfpu_reduce_init()
        api.sfpu_reduce(0, pool_type=api.PoolType.AVG, reduce_dim=api.ReduceDim.REDUCE_ROW)

    with pytest.raises(UnsupportedError, match="has no known bits; sums, maxima and minima of rows or columns"):
        apply(device, [small()], body)


@pytest.mark.parametrize(("k", "log"), [(4, 2), (16, 4), (32, 5), (64, 6)])
def test_topk_returns_column_maxima_and_indices(device: ttnn.MeshDevice, k: int, log: int) -> None:
    data = [np.round(RNG.standard_normal((32, 32)) * 50).astype(ml_dtypes.bfloat16) for _ in range(2)]
    rows = [np.repeat(np.arange(32 * half, 32 * half + 32)[:, None], 32, axis=1).astype(np.uint16) for half in (0, 1)]

    def body() -> None:
        api.topk_tile_init()
        api.topk_local_sort(0, 0, log - 1)
        for m_iter in range(6 - log):
            api.topk_merge(0, m_iter, k)
            api.topk_rebuild(0, 0, m_iter, k, log, int(m_iter == 5 - log))

    inputs = [Matrix(x) for x in (*data, *rows)]
    out = Matrix(np.zeros((64, 32), ml_dtypes.bfloat16))
    values = tile_parts.run(device, one_tile(4, body, results=(0, 1)), inputs, out)[:k]

    found = tile_parts.run(device, one_tile(4, body, results=(2, 3)), inputs, Matrix(np.zeros((64, 32), np.uint16)))[:k]
    whole = np.concatenate(data).astype(np.float32)
    np.testing.assert_array_equal(values.astype(np.float32), -np.sort(-whole, axis=0)[:k])
    np.testing.assert_array_equal(np.take_along_axis(whole, found.astype(np.int64), axis=0), values.astype(np.float32))
    assert all(len(set(column)) == k for column in found.T.tolist())


TOPK = [
    (lambda: api.topk_local_sort(4, 0, 4), "topk_local_sort: idst=4; the kernel returns to Dst 0"),
    (lambda: api.topk_local_sort(0, 0, 6), "topk_local_sort: phases 0 to 6; there are 0 to 5"),
    (lambda: api.topk_local_sort(0, 0, 4, 4), "topk_local_sort: steps 0 to 0 of phase 4; take 5 to 4"),
    (lambda: api.topk_merge(0, 0, 5), "topk_merge: k=5, m_iter=0; k is 4, 8, 16, 32 or 64"),
    (lambda: api.topk_rebuild(0, 0, 0, 8, 4, 0), "topk_rebuild: logk=4 is not the logarithm of k=8"),
]


@pytest.mark.parametrize(("call", "text"), TOPK, ids=[text.split(";")[0] for _, text in TOPK])
def test_wrong_topk_calls_raise(device: ttnn.MeshDevice, call: Callable[[], object], text: str) -> None:
    def body() -> None:
        api.topk_tile_init()
        call()

    with pytest.raises(KernelArgumentError, match=text):
        apply(device, [X], body)

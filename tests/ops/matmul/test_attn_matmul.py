"""Decode attention matmuls: every row with its user's matrices."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn

GRID = ttnn.CoreCoord(8, 5)
LOFI = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi)
WIDE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)


def _tensor(
    shape: tuple[int, ...], device: ttnn.MeshDevice, seed: int, dtype: ttnn.DataType = ttnn.bfloat16
) -> ttnn.Tensor:
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, dtype), ttnn.TILE_LAYOUT), device)


def _values(tensor: ttnn.Tensor) -> np.ndarray:
    return np.asarray(tensor.to_numpy(), np.float64)


def _rows_of_products(
    a: ttnn.Tensor, b: ttnn.Tensor, device: ttnn.MeshDevice, config: ttnn.WormholeComputeKernelConfig, each: int
) -> np.ndarray:
    """Return row i of every head times user i's matrices.

    By `ttnn.matmul`.
    """
    matrices = _values(b)
    users, _, inner, _ = matrices.shape
    result = []
    for user in range(users):
        mine = np.repeat(matrices[user], each, axis=0)[None]
        right = ttnn.to_device(ttnn.to_layout(ttnn.Tensor(mine.astype(np.float32), b.dtype), ttnn.TILE_LAYOUT), device)
        # One block along K, as the kernel sums in one Dst.
        program = ttnn.MatmulMultiCoreReuseProgramConfig(
            compute_with_storage_grid_size=(8, 7),
            in0_block_w=inner // 32,
            out_subblock_h=1,
            out_subblock_w=1,
            per_core_M=a.shape[2] // 32,
            per_core_N=matrices.shape[3] // 32,
        )
        product = ttnn.matmul(a, right, program_config=program, compute_kernel_config=config, dtype=ttnn.bfloat16)
        result.append(_values(product)[:, :, user])
    return np.stack(result, axis=2)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
@pytest.mark.parametrize(("users", "heads"), [(32, 3), (64, 1)])
def test_rows_are_those_of_the_users_products(
    users: int, heads: int, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    a, b = _tensor((1, heads, users, 96), device, 0, dtype), _tensor((users, 1, 96, 64), device, 1, dtype)
    result = ttnn.experimental.attn_matmul(a, b, compute_with_storage_grid_size=GRID, dtype=ttnn.bfloat16)
    np.testing.assert_array_equal(_values(result), _rows_of_products(a, b, device, LOFI, heads))


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_heads_share_the_matrices_of_their_group(groups: int, device: ttnn.MeshDevice) -> None:
    a, b = _tensor((1, 4, 32, 64), device, 0), _tensor((32, groups, 64, 32), device, 1)
    result = ttnn.experimental.group_attn_matmul(a, b, compute_with_storage_grid_size=GRID)
    np.testing.assert_array_equal(_values(result), _rows_of_products(a, b, device, LOFI, 4 // groups))


def test_a_wide_dst_keeps_float32_as_tf32(device: ttnn.MeshDevice) -> None:
    a, b = _tensor((1, 2, 32, 64), device, 0, ttnn.float32), _tensor((32, 1, 64, 32), device, 1, ttnn.float32)
    options = {"compute_with_storage_grid_size": GRID, "compute_kernel_config": WIDE}
    result = ttnn.experimental.attn_matmul(a, b, **options)
    assert result.dtype is ttnn.float32
    words = np.asarray(result.to_numpy(), np.float32).view(np.uint32)
    assert not np.any(words & 0x1FFF)
    np.testing.assert_array_equal(
        words, np.asarray(ttnn.experimental.group_attn_matmul(a, b, **options).to_numpy(), np.float32).view(np.uint32)
    )
    reference = (_values(a).swapaxes(0, 2) @ _values(b)).swapaxes(0, 2)
    assert np.max(np.abs(_values(result) - reference)) < 0.01 * np.max(np.abs(reference))


@pytest.mark.parametrize("tokens", [1, 32, 33, 128])
def test_keys_of_a_cache_are_the_same_as_transposed_ones(tokens: int, device: ttnn.MeshDevice) -> None:
    queries, keys = _tensor((1, 2, 32, 64), device, 0), _tensor((32, 1, 128, 64), device, 1)
    read = -(-tokens // 32) * 32
    columns = ttnn.transpose(ttnn.slice(keys, [0, 0, 0, 0], [32, 1, read, 64]), -2, -1)
    expected = ttnn.experimental.attn_matmul(queries, columns, compute_with_storage_grid_size=GRID)
    result = ttnn.experimental.attn_matmul_from_cache(
        queries, keys, num_tokens=tokens, transpose_hw=True, compute_with_storage_grid_size=GRID
    )
    assert tuple(result.shape) == (1, 2, 32, read)
    np.testing.assert_array_equal(_values(result), _values(expected))


def test_values_of_a_cache_are_its_first_rows(device: ttnn.MeshDevice) -> None:
    scores, cache = _tensor((1, 2, 32, 64), device, 0), _tensor((32, 1, 128, 96), device, 1)
    first = ttnn.slice(cache, [0, 0, 0, 0], [32, 1, 64, 96])
    expected = ttnn.experimental.attn_matmul(scores, first, compute_with_storage_grid_size=GRID)
    result = ttnn.experimental.attn_matmul_from_cache(
        scores, cache, num_tokens=60, transpose_hw=False, compute_with_storage_grid_size=GRID
    )
    np.testing.assert_array_equal(_values(result), _values(expected))


def test_padding_of_users_and_widths_is_part_of_the_result(device: ttnn.MeshDevice) -> None:
    a, b = _tensor((1, 1, 20, 64), device, 0), _tensor((32, 1, 64, 40), device, 1)
    result = ttnn.experimental.attn_matmul(a, b, compute_with_storage_grid_size=GRID)
    assert tuple(result.shape) == (1, 1, 32, 64)
    assert not np.any(_values(result)[:, :, 20:])


def test_sharded_groups_have_the_bits_of_interleaved_ones(device: ttnn.MeshDevice) -> None:
    a, b = _tensor((1, 4, 32, 64), device, 0), _tensor((32, 2, 64, 32), device, 1)
    expected = ttnn.experimental.group_attn_matmul(a, b, compute_with_storage_grid_size=GRID)
    height = ttnn.TensorMemoryLayout.HEIGHT_SHARDED
    order = ttnn.ShardOrientation.ROW_MAJOR
    left = ttnn.interleaved_to_sharded(a, ttnn.CoreCoord(8, 7), [32, 64], height, order)
    right = ttnn.interleaved_to_sharded(b, ttnn.CoreCoord(8, 7), [128, 32], height, order)
    result = ttnn.experimental.group_attn_matmul(
        left,
        right,
        compute_with_storage_grid_size=GRID,
        memory_config=ttnn.MemoryConfig(height, ttnn.BufferType.L1),
    )
    shards = result.memory_config().shard_spec
    assert list(shards.shape) == [32, 32]
    assert shards.orientation is order
    np.testing.assert_array_equal(_values(ttnn.sharded_to_interleaved(result)), _values(expected))
    with pytest.raises(ttnn.MemoryConfigError, match="COL_MAJOR"):
        ttnn.experimental.group_attn_matmul(
            left,
            ttnn.interleaved_to_sharded(b, ttnn.CoreCoord(8, 7), [128, 32], height, ttnn.ShardOrientation.COL_MAJOR),
            compute_with_storage_grid_size=GRID,
        )


def test_a_given_output_is_written(device: ttnn.MeshDevice) -> None:
    a, b = _tensor((1, 1, 32, 32), device, 0), _tensor((32, 1, 32, 32), device, 1)
    output = _tensor((1, 1, 32, 32), device, 2, ttnn.bfloat8_b)
    assert ttnn.experimental.attn_matmul(a, b, compute_with_storage_grid_size=GRID, output_tensor=output) is output
    expected = ttnn.experimental.attn_matmul(a, b, compute_with_storage_grid_size=GRID, dtype=ttnn.bfloat8_b)
    np.testing.assert_array_equal(_values(output), _values(expected))


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        ((2, 1, 32, 32), (32, 1, 32, 32), "Input q_len must be 1!"),
        ((1, 1, 32, 32), (64, 1, 32, 32), "Num of users must match!"),
        ((1, 2, 32, 32), (32, 2, 32, 32), "Number of kv_heads must be 1!"),
        ((1, 1, 32, 64), (32, 1, 32, 32), "Dimension K"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(
    a: tuple[int, ...], b: tuple[int, ...], sentence: str, device: ttnn.MeshDevice
) -> None:
    with pytest.raises(ttnn.ShapeError, match=sentence):
        ttnn.experimental.attn_matmul(_tensor(a, device, 0), _tensor(b, device, 1), compute_with_storage_grid_size=GRID)


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    a, b = _tensor((1, 3, 32, 32), device, 0), _tensor((32, 2, 32, 32), device, 1)
    with pytest.raises(ttnn.ShapeError, match="divisible by kv_heads"):
        ttnn.experimental.group_attn_matmul(a, b, compute_with_storage_grid_size=GRID)
    with pytest.raises(ttnn.ParameterError, match="grid size is too small"):
        ttnn.experimental.group_attn_matmul(
            _tensor((1, 2, 32, 32), device, 0), b, compute_with_storage_grid_size=ttnn.CoreCoord(4, 4)
        )
    with pytest.raises(ttnn.ParameterError, match="Unsupported grid shape"):
        ttnn.experimental.attn_matmul(a, b, compute_with_storage_grid_size=ttnn.CoreCoord(20, 1))
    with pytest.raises(ttnn.LayoutError, match="must be tilized"):
        ttnn.experimental.attn_matmul(ttnn.to_layout(a, ttnn.ROW_MAJOR_LAYOUT), b, compute_with_storage_grid_size=GRID)
    for tokens, sentence in ((0, "at least 1"), (33, "smaller or equal to the max cache length")):
        with pytest.raises(ttnn.ParameterError, match=sentence):
            ttnn.experimental.attn_matmul_from_cache(
                a, b, num_tokens=tokens, transpose_hw=True, compute_with_storage_grid_size=GRID
            )

"""Group norm: reference, equivalent forms, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn


def _tensor(shape: tuple[int, ...], device: ttnn.MeshDevice, seed: int = 0) -> ttnn.Tensor:
    values = np.random.default_rng(seed).normal(1.0, 2.0, size=shape).astype(np.float32)
    return ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, ttnn.bfloat16), ttnn.TILE_LAYOUT), device)


def _values(tensor: ttnn.Tensor) -> np.ndarray:
    return np.asarray(tensor.to_numpy(), np.float64)


@pytest.mark.parametrize(
    ("shape", "groups"),
    [((1, 1, 64, 64), 2), ((2, 1, 96, 320), 32), ((1, 1, 70, 64), 4), ((3, 1, 32, 48), 3), ((1, 1, 1024, 320), 10)],
)
def test_result_is_near_the_golden_function(shape: tuple[int, ...], groups: int, device: ttnn.MeshDevice) -> None:
    x, weight, bias = _tensor(shape, device), *(_tensor((1, 1, 1, shape[-1]), device, seed) for seed in (1, 2))
    result = ttnn.group_norm(x, inplace=False, num_groups=groups, epsilon=1e-5, weight=weight, bias=bias)
    reference = ttnn.get_golden_function(ttnn.group_norm)(
        _values(x), num_groups=groups, epsilon=1e-5, weight=_values(weight), bias=_values(bias)
    )
    assert np.corrcoef(reference.ravel(), _values(result).ravel())[0, 1] > 0.999


@pytest.mark.parametrize("use_welford", [False, True])
def test_float32_is_kept_between_the_steps(use_welford: bool, device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(0).normal(1.0, 2.0, size=(1, 1, 128, 96)).astype(np.float32)
    options: dict[str, Any] = {"inplace": False, "num_groups": 3, "epsilon": 1e-5, "use_welford": use_welford}
    options["core_grid"] = ttnn.CoreGrid(x=1, y=2)
    reference = ttnn.get_golden_function(ttnn.group_norm)(values.astype(np.float64), num_groups=3, epsilon=1e-5)
    tiled = ttnn.Tensor(values, ttnn.float32, None, ttnn.TILE_LAYOUT).to(device)
    result = ttnn.group_norm(tiled, **options)
    assert result.dtype == ttnn.float32
    # 0.99999 if a step rounds to bfloat16.
    assert np.corrcoef(reference.ravel(), _values(result).ravel())[0, 1] > 0.999999
    rows = ttnn.group_norm(ttnn.Tensor(values, ttnn.float32, None, ttnn.ROW_MAJOR_LAYOUT).to(device), **options)
    np.testing.assert_array_equal(_values(rows), _values(result))
    placed = ttnn.create_sharded_memory_config(tiled.shape, ttnn.CoreGrid(x=1, y=2), ttnn.ShardStrategy.HEIGHT)
    with pytest.raises(ttnn.UnsupportedError, match="FLOAT32 in shards"):
        ttnn.group_norm(ttnn.to_memory_config(tiled, placed), num_groups=3)


def test_layouts_and_batches_change_no_bit(device: ttnn.MeshDevice) -> None:
    x = _tensor((2, 1, 64, 64), device)
    grid = ttnn.CoreGrid(x=1, y=2)
    whole = ttnn.group_norm(x, inplace=False, num_groups=2, core_grid=grid)
    rows = ttnn.group_norm(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), inplace=False, num_groups=2, core_grid=grid)
    assert rows.layout == ttnn.ROW_MAJOR_LAYOUT
    np.testing.assert_array_equal(_values(rows), _values(whole))
    for batch in range(2):
        one = ttnn.slice(x, [batch, 0, 0, 0], [batch + 1, 1, 64, 64])
        alone = ttnn.group_norm(one, inplace=False, num_groups=2, core_grid=ttnn.CoreGrid(x=1, y=1))
        np.testing.assert_array_equal(_values(alone)[0], _values(whole)[batch])


def test_cores_and_blocks_decide_how_statistics_are_summed(device: ttnn.MeshDevice) -> None:
    x = _tensor((1, 1, 256, 32), device)
    results = {
        (cores, blocks): _values(
            ttnn.group_norm(
                x, inplace=False, num_groups=2, core_grid=ttnn.CoreGrid(x=1, y=cores), num_out_blocks=blocks
            )
        ).tobytes()
        for cores in (1, 4)
        for blocks in (1, 2)
    }
    assert len(set(results.values())) > 1


def test_a_sharded_result_lies_in_the_input(device: ttnn.MeshDevice) -> None:
    x = _tensor((1, 1, 128, 64), device)
    placed = ttnn.create_sharded_memory_config((1, 1, 128, 64), ttnn.CoreGrid(x=1, y=2), ttnn.ShardStrategy.HEIGHT)
    sharded = ttnn.to_memory_config(x, placed)
    assert ttnn.group_norm(sharded, num_groups=2) is sharded
    again = ttnn.to_memory_config(x, placed)
    apart = ttnn.group_norm(again, num_groups=2, inplace=False)
    assert apart is not again
    np.testing.assert_array_equal(_values(apart), _values(sharded))


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    x = _tensor((1, 1, 64, 64), device)
    with pytest.raises(ttnn.ParameterError, match="do not divide into 3 groups"):
        ttnn.group_norm(x, inplace=False, num_groups=3)
    with pytest.raises(ttnn.ParameterError, match="inplace=False"):
        ttnn.group_norm(x, num_groups=2)
    with pytest.raises(ttnn.ParameterError, match="rows of cores"):
        ttnn.group_norm(x, inplace=False, num_groups=2, core_grid=ttnn.CoreGrid(x=1, y=3))
    with pytest.raises(ttnn.ParameterError, match="num_out_blocks is 5"):
        ttnn.group_norm(x, inplace=False, num_groups=2, core_grid=ttnn.CoreGrid(x=1, y=1), num_out_blocks=5)
    with pytest.raises(ttnn.DTypeError, match="typecast"):
        ttnn.group_norm(ttnn.typecast(x, ttnn.bfloat8_b), inplace=False, num_groups=2)
    with pytest.raises(ttnn.ShapeError, match="1, H"):
        ttnn.group_norm(_tensor((64, 64), device), inplace=False, num_groups=2)


@pytest.mark.parametrize("grid", [(1, 1), (1, 4)])
@pytest.mark.parametrize(("shape", "groups"), [((1, 1, 128, 64), 2), ((2, 1, 128, 320), 32), ((1, 1, 128, 96), 8)])
def test_welford_is_near_the_reference(
    shape: tuple[int, ...], groups: int, grid: tuple[int, int], device: ttnn.MeshDevice
) -> None:
    x = _tensor(shape, device)
    options = {
        "inplace": False,
        "num_groups": groups,
        "epsilon": 1e-5,
        "core_grid": ttnn.CoreGrid(x=grid[0], y=grid[1]),
    }
    result = ttnn.group_norm(x, use_welford=True, **options)
    reference = ttnn.get_golden_function(ttnn.group_norm)(_values(x), num_groups=groups, epsilon=1e-5)
    assert np.abs(reference - _values(result)).max() < 0.05
    # A core goes on from block to block.
    blocks = ttnn.group_norm(x, use_welford=True, num_out_blocks=2, **options)
    np.testing.assert_array_equal(_values(blocks), _values(result))


def test_welford_has_a_wide_dst_by_default(device: ttnn.MeshDevice) -> None:
    x = _tensor((1, 1, 128, 64), device)
    plain, wide, narrow = (
        _values(
            ttnn.group_norm(
                x,
                num_groups=2,
                inplace=False,
                use_welford=True,
                core_grid=ttnn.CoreGrid(x=1, y=1),
                compute_kernel_config=config,
            )
        )
        for config in (
            None,
            *(
                ttnn.WormholeComputeKernelConfig(
                    math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=True, fp32_dest_acc_en=dst32
                )
                for dst32 in (True, False)
            ),
        )
    )
    np.testing.assert_array_equal(plain, wide)
    assert (plain != narrow).any()
    assert np.abs(plain - narrow).max() < 0.05


def test_welford_refuses_rows_of_padding(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.UnsupportedError, match="which rows of the last tile count is not published"):
        ttnn.group_norm(_tensor((1, 1, 40, 64), device), num_groups=2, inplace=False, use_welford=True)


def test_shards_of_rows_need_not_be_tiles_and_factors_are_padded(device: ttnn.MeshDevice) -> None:
    """80 channels of a core, whose factors fill three rows of 32."""
    values = np.random.default_rng(3).normal(1.0, 2.0, (1, 1, 64, 160)).astype(np.float32)
    row = np.random.default_rng(4).normal(1.0, 0.5, 160).astype(np.float32)
    padded = np.zeros((2, 96), np.float32)
    padded[:, :80] = row.reshape(2, 80)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))])
    place = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.BLOCK_SHARDED,
        ttnn.BufferType.L1,
        ttnn.ShardSpec(cores, [32, 80], ttnn.ShardOrientation.ROW_MAJOR),
    )
    x = ttnn.to_memory_config(ttnn.to_device(ttnn.Tensor(values, ttnn.bfloat16), device), place)
    weight = ttnn.to_device(ttnn.Tensor(padded.reshape(1, 1, 6, 32), ttnn.bfloat16), device)
    mask = ttnn.to_device(ttnn.create_group_norm_input_negative_mask(160, 4, 2, ttnn.bfloat8_b), device)
    result = ttnn.group_norm(x, num_groups=4, weight=weight, memory_config=place, negative_mask=mask)
    assert result.memory_config() == place
    factors = np.asarray(ttnn.Tensor(row, ttnn.bfloat16).to_numpy(), np.float64)
    reference = ttnn.get_golden_function(ttnn.group_norm)(
        _values(x), num_groups=4, weight=factors.reshape(1, 1, 1, 160)
    )
    assert np.corrcoef(reference.ravel(), _values(result).ravel())[0, 1] > 0.999


@pytest.mark.parametrize(("across", "sharded"), [(8, True), (4, True), (8, False), (4, False)])
def test_padded_factors_are_those_of_the_cores_that_have_the_channels(
    across: int, sharded: bool, device: ttnn.MeshDevice
) -> None:
    """960 channels pad to 1,024 on four and eight cores."""
    torch = pytest.importorskip("torch")
    row = np.random.default_rng(5).normal(1.0, 0.5, 960).astype(np.float32)
    weight = ttnn.create_group_norm_weight_bias_rm(torch.from_numpy(row), 960, across)
    weight = ttnn.from_torch(weight, ttnn.bfloat16, device=device)
    assert tuple(weight.shape) == (1, 1, 32, 32)
    x = _tensor((1, 1, 256, 960), device)
    plain = ttnn.group_norm(x, num_groups=32, core_grid=ttnn.CoreGrid(x=1, y=2), inplace=False)
    options: dict[str, Any] = {"core_grid": ttnn.CoreGrid(x=across, y=2), "inplace": False}
    if sharded:
        cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(across - 1, 1))])
        spec = ttnn.ShardSpec(cores, [128, 960 // across], ttnn.ShardOrientation.ROW_MAJOR)
        place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, spec)
        x = ttnn.to_memory_config(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), place)
        options = {"memory_config": place}
    result = ttnn.group_norm(x, num_groups=32, weight=weight, **options)
    # The factors of other channels leave 0.8.
    assert np.corrcoef((_values(plain) * row).ravel(), _values(result).ravel())[0, 1] > 0.9995


def test_blocks_by_the_size(device: ttnn.MeshDevice) -> None:
    # 2**18 elements on one core are four blocks of 2**16.
    x = _tensor((1, 1, 4096, 64), device)
    options = {"inplace": False, "num_groups": 2, "core_grid": ttnn.CoreGrid(x=1, y=1)}
    chosen, four, one = (ttnn.group_norm(x, num_out_blocks=count, **options) for count in (-1, 4, 1))
    np.testing.assert_array_equal(_values(chosen), _values(four))
    assert not np.array_equal(_values(four), _values(one))

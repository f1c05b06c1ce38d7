"""Other norm kernels: Welford, older inverse root, long rows.

And statistics of shards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import values_of
from ttnn.golden import normalization as golden

# Of the result's largest datum: products of FP32 operands see 11 bits of each.
STEP = 2**-6


def on_device(values: np.ndarray, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.Tensor(np.asarray(values, np.float32), dtype, device=device, layout=ttnn.TILE_LAYOUT)


def on_cores(tensor: ttnn.Tensor, columns: int, rows: int, strategy: Any = ttnn.ShardStrategy.WIDTH) -> ttnn.Tensor:
    grid = ttnn.CoreGrid(x=columns, y=rows)
    return ttnn.to_memory_config(tensor, ttnn.create_sharded_memory_config(tuple(tensor.shape), grid, strategy))


def near(result: ttnn.Tensor, expected: np.ndarray, step: float = STEP) -> None:
    assert np.abs(values_of(result) - expected).max() <= step * np.abs(expected).max()


def welford() -> ttnn.LayerNormDefaultProgramConfig:
    return ttnn.LayerNormDefaultProgramConfig(use_welford=True)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("shape", [(32, 64), (2, 3, 40, 100), (1, 1, 1, 33)])
def test_welford_is_near_the_definition(shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    random = np.random.default_rng(1)
    x, residual = (on_device(random.normal(0.3, 2, shape), device, dtype) for _ in range(2))
    weight, bias = (on_device(random.normal(1, 0.5, (1, shape[-1])), device) for _ in range(2))
    options = {"epsilon": 1e-5, "weight": weight, "bias": bias, "residual_input_tensor": residual}
    result = ttnn.layer_norm(x, program_config=welford(), **options)
    expected = golden.layer_norm(
        values_of(x),
        epsilon=1e-5,
        weight=values_of(weight),
        bias=values_of(bias),
        residual_input_tensor=values_of(residual),
    )
    near(result, expected)


def test_welford_keeps_digits_that_a_common_offset_takes(device: ttnn.MeshDevice) -> None:
    """Distances from the first element are exact; sums are not."""
    values = 512 + np.random.default_rng(2).integers(-2, 3, (32, 256)) * 4.0
    x = on_device(values, device)
    expected = golden.layer_norm(values)
    near(ttnn.layer_norm(x, program_config=welford()), expected, 2**-7)


@pytest.mark.parametrize("grid", [(1, 1), (4, 1), (4, 2)])
def test_welford_of_shards_joins_the_statistics_of_cores(grid: tuple[int, int], device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(3).normal(1, 2, (1, 1, 32, 256))
    x = on_cores(on_device(values, device), *grid)
    config = ttnn.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=grid,
        subblock_w=1,
        block_h=1,
        block_w=8 // (grid[0] * grid[1]),
        inplace=False,
        use_welford=True,
    )
    result = ttnn.layer_norm(x, program_config=config)
    assert result.memory_config() == x.memory_config()
    near(result, golden.layer_norm(values_of(x)))


def test_a_table_of_reciprocals_is_taken_and_checked(device: ttnn.MeshDevice) -> None:
    x = on_device(np.random.default_rng(4).normal(size=(32, 64)), device)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))])
    table = ttnn.create_layer_norm_reciprocals(device, cores, 64)
    given = ttnn.layer_norm(x, program_config=welford(), recip_tensor=table)
    assert np.array_equal(values_of(given), values_of(ttnn.layer_norm(x, program_config=welford())))
    with pytest.raises(ttnn.ShapeError, match="it must have 64 columns or more"):
        ttnn.layer_norm(x, program_config=welford(), recip_tensor=ttnn.create_layer_norm_reciprocals(device, cores, 32))
    with pytest.raises(ttnn.DTypeError, match="recip_tensor is BFLOAT16"):
        ttnn.layer_norm(x, program_config=welford(), recip_tensor=x)
    with pytest.raises(ttnn.ParameterError, match="Welford's algorithm is not supported for RMSNorm"):
        ttnn.rms_norm(x, program_config=welford())


def test_the_older_root_is_near_and_older_sums_are_the_same(device: ttnn.MeshDevice) -> None:
    x = on_device(np.random.default_rng(5).normal(0, 3, (1024, 64)), device, ttnn.float32)
    plain = ttnn.layer_norm(x)
    older = ttnn.layer_norm(x, program_config=ttnn.LayerNormDefaultProgramConfig(legacy_rsqrt=True))
    near(older, values_of(plain), 2**-8)
    assert not np.array_equal(values_of(older), values_of(plain))
    sums = ttnn.layer_norm(x, program_config=ttnn.LayerNormDefaultProgramConfig(legacy_reduction=True))
    assert np.array_equal(values_of(sums), values_of(plain))


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_rows_that_do_not_fit_a_core(name: str, residual: bool, device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(6).normal(0.5, 1, (32, 32 * 801 - 5))
    x = on_device(values, device)
    options: dict[str, Any] = {"residual_input_tensor": x} if residual else {}
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    norm: Callable[..., Any] = getattr(golden, name)
    expected = norm(values_of(x) * (2 if residual else 1))
    near(getattr(ttnn, name)(x, compute_kernel_config=config, **options), expected)


@pytest.mark.parametrize("grid", [(4, 1), (2, 2)])
@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm"])
def test_statistics_of_shards_are_means_on_the_first_core(
    kind: str, grid: tuple[int, int], device: ttnn.MeshDevice
) -> None:
    values = np.random.default_rng(7).normal(0.5, 1, (1, 1, 32, 256))
    residual = np.random.default_rng(8).integers(-2, 3, values.shape)
    x = on_cores(on_device(values, device), *grid)
    given = values_of(x)
    added = on_cores(on_device(residual, device), *grid)
    stats = getattr(ttnn, f"{kind}_pre_all_gather")(x, residual_input_tensor=added)
    assert stats.memory_config().shard_spec.grid.num_cores() == 1
    # The input has become the sum.
    total = values_of(x)
    near(x, given + residual, 2**-8)
    columns = [total.mean(-1), (total**2).mean(-1)][-1 if kind == "rms_norm" else 0 :]
    found = values_of(stats)
    assert found.shape[-1] == 32 * len(columns)
    for number, expected in enumerate(columns):
        assert np.abs(found[..., 32 * number] - expected).max() <= 0.05


@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm"])
def test_the_norm_from_means_of_two_devices(kind: str, device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(9).normal(0.5, 1, (1, 1, 32, 256))
    halves = [on_cores(on_device(half, device), 2, 2) for half in np.split(values, 2, axis=-1)]
    parts = [ttnn.sharded_to_interleaved(getattr(ttnn, f"{kind}_pre_all_gather")(half)) for half in halves]
    stats = ttnn.concat(parts, dim=-1)
    results = [values_of(getattr(ttnn, f"{kind}_post_all_gather")(half, stats, epsilon=1e-5)) for half in halves]
    whole = np.concatenate([values_of(half) for half in halves], axis=-1)
    expected = getattr(golden, kind)(whole, epsilon=1e-5)
    assert np.abs(np.concatenate(results, axis=-1) - expected).max() <= 2**-4 * np.abs(expected).max()

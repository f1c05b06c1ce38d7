"""Group norm: the reference, forms of the same tensor, and what is refused."""

from __future__ import annotations

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
def test_near_the_reference(shape: tuple[int, ...], groups: int, device: ttnn.MeshDevice) -> None:
    x, weight, bias = _tensor(shape, device), *(_tensor((1, 1, 1, shape[-1]), device, seed) for seed in (1, 2))
    result = ttnn.group_norm(x, inplace=False, num_groups=groups, epsilon=1e-5, weight=weight, bias=bias)
    reference = ttnn.get_golden_function(ttnn.group_norm)(
        _values(x), num_groups=groups, epsilon=1e-5, weight=_values(weight), bias=_values(bias)
    )
    assert np.corrcoef(reference.ravel(), _values(result).ravel())[0, 1] > 0.999


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


def test_what_does_not_fit_is_refused(device: ttnn.MeshDevice) -> None:
    x = _tensor((1, 1, 64, 64), device)
    with pytest.raises(ttnn.ParameterError, match="do not divide into 3 groups"):
        ttnn.group_norm(x, inplace=False, num_groups=3)
    with pytest.raises(ttnn.ParameterError, match="inplace=False"):
        ttnn.group_norm(x, num_groups=2)
    with pytest.raises(ttnn.ParameterError, match="rows of cores"):
        ttnn.group_norm(x, inplace=False, num_groups=2, core_grid=ttnn.CoreGrid(x=1, y=3))
    with pytest.raises(ttnn.ParameterError, match="num_out_blocks is 5"):
        ttnn.group_norm(x, inplace=False, num_groups=2, core_grid=ttnn.CoreGrid(x=1, y=1), num_out_blocks=5)
    with pytest.raises(ttnn.UnsupportedError, match="use_welford"):
        ttnn.group_norm(x, inplace=False, num_groups=2, use_welford=True)
    with pytest.raises(ttnn.DTypeError, match="typecast"):
        ttnn.group_norm(ttnn.typecast(x, ttnn.float32), inplace=False, num_groups=2)
    with pytest.raises(ttnn.ShapeError, match="1, H"):
        ttnn.group_norm(_tensor((64, 64), device), inplace=False, num_groups=2)

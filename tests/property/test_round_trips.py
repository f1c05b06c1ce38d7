"""Laws of tensors: round trips through any memory config."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import ttnn
from ttnn.base.tile import STORED_SHAPES, TILE_SHAPES

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=40).filter(lambda shape: np.prod(shape) < 40000)
TILES = st.sampled_from(sorted(TILE_SHAPES | STORED_SHAPES)).map(ttnn.Tile)
LAYOUTS = st.sampled_from([ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT])
SAME_TYPE = {
    ttnn.float32: np.float32,
    ttnn.bfloat16: np.uint16,
    ttnn.int32: np.int32,
    ttnn.uint32: np.uint32,
    ttnn.uint16: np.uint16,
    ttnn.uint8: np.uint8,
    ttnn.int8: np.int8,
}

quiet = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def values_of(draw: st.DrawFn, dtype: ttnn.DataType, shape: tuple[int, ...]) -> np.ndarray:
    """Return any bits of a type: NaN payloads, subnormals, extremes."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    kind = np.dtype(SAME_TYPE[dtype])
    count = int(np.prod(shape))
    bits = rng.integers(0, 256, count * kind.itemsize, dtype=np.uint8).view(kind).reshape(shape)
    return bits.view(ml_dtypes.bfloat16) if dtype is ttnn.bfloat16 else bits


def words(values: np.ndarray) -> bytes:
    return values.tobytes()


@quiet
@given(st.data(), st.sampled_from(sorted(SAME_TYPE, key=int)), SHAPES, LAYOUTS, TILES)
def test_bits_survive_the_host(
    data: st.DataObject, dtype: ttnn.DataType, shape: tuple[int, ...], layout: ttnn.Layout, tile: ttnn.Tile
) -> None:
    values = data.draw(values_of(dtype, shape))
    tensor = ttnn.Tensor(values, dtype, None, layout, tile=tile)
    assert tensor.shape == shape
    assert words(tensor.to_numpy()) == words(values)
    other = tensor.to(ttnn.TILE_LAYOUT if layout is ttnn.ROW_MAJOR_LAYOUT else ttnn.ROW_MAJOR_LAYOUT)
    assert words(other.to_numpy()) == words(values)
    assert words(other.to(layout).to_numpy()) == words(values)


@quiet
@given(st.data(), st.sampled_from(sorted(SAME_TYPE, key=int)), SHAPES, LAYOUTS, st.booleans())
def test_bits_survive_the_device(
    device: ttnn.MeshDevice,
    data: st.DataObject,
    dtype: ttnn.DataType,
    shape: tuple[int, ...],
    layout: ttnn.Layout,
    in_l1: bool,
) -> None:
    values = data.draw(values_of(dtype, shape))
    place = ttnn.L1_MEMORY_CONFIG if in_l1 else ttnn.DRAM_MEMORY_CONFIG
    host = ttnn.Tensor(values, dtype, None, layout)
    there = host.to(device, place)
    assert np.array_equal(there.cpu()._host, host._host)
    assert words(there.to_numpy()) == words(values)


@quiet
@given(
    st.data(),
    st.sampled_from(["HEIGHT", "WIDTH", "BLOCK"]),
    st.sampled_from(list(ttnn.ShardOrientation)),
    LAYOUTS,
    st.tuples(st.integers(1, 8), st.integers(1, 8)),
    st.tuples(st.integers(1, 70), st.integers(1, 70)),
    st.tuples(st.integers(1, 200), st.integers(1, 200)),
)
def test_bits_survive_shards(
    device: ttnn.MeshDevice,
    data: st.DataObject,
    kind: str,
    order: ttnn.ShardOrientation,
    layout: ttnn.Layout,
    grid: tuple[int, int],
    shard: tuple[int, int],
    shape: tuple[int, int],
) -> None:
    height, width = shard
    if layout is ttnn.TILE_LAYOUT:
        height, width = (-(-size // 32) * 32 for size in shard)
    padded = [-(-size // 32) * 32 for size in shape] if layout is ttnn.TILE_LAYOUT else list(shape)
    if kind == "HEIGHT":
        width = padded[1]
    elif kind == "WIDTH":
        height = padded[0]
    rows, columns = -(-padded[0] // height), -(-padded[1] // width)
    cut = (grid[1], grid[0]) if order is ttnn.ShardOrientation.ROW_MAJOR else grid
    fits = rows <= cut[0] and columns <= cut[1] if kind == "BLOCK" else rows * columns <= grid[0] * grid[1]
    assume(fits)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (grid[0] - 1, grid[1] - 1))])
    spec = ttnn.ShardSpec(cores, [height, width], order)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout[f"{kind}_SHARDED"], ttnn.BufferType.L1, spec)
    values = data.draw(values_of(ttnn.bfloat16, shape))
    there = ttnn.Tensor(values, ttnn.bfloat16, device, layout, config)
    assert words(there.to_numpy()) == words(values)
    assert words(there.cpu().to(device, ttnn.DRAM_MEMORY_CONFIG).to_numpy()) == words(values)


@quiet
@given(st.data(), st.sampled_from([ttnn.bfloat8_b, ttnn.bfloat4_b]), SHAPES, TILES)
def test_block_floats_are_a_projection(
    data: st.DataObject, dtype: ttnn.DataType, shape: tuple[int, ...], tile: ttnn.Tile
) -> None:
    values = data.draw(values_of(ttnn.float32, shape))
    values = np.where(np.isfinite(values), values, np.float32(1)).astype(np.float32)
    once = ttnn.Tensor(values, dtype, tile=tile)
    twice = ttnn.Tensor(once.to_numpy(), dtype, tile=tile)
    # Values near the largest float32 may round up to infinity, which has an exponent of its own.
    assume(bool(np.isfinite(once.to_numpy()).all()))
    assert np.array_equal(once.to_numpy(), twice.to_numpy())


@quiet
@given(hnp.arrays(np.float32, (7, 9), elements=st.floats(width=32, allow_nan=False)))
def test_bfloat16_is_what_ml_dtypes_rounds_to(values: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        expected = values.astype(ml_dtypes.bfloat16)
    assert words(ttnn.Tensor(values, ttnn.bfloat16, None, ttnn.TILE_LAYOUT).to_numpy()) == words(expected)


@quiet
@given(
    st.lists(st.tuples(*[st.integers(0, 7)] * 4), max_size=6), st.lists(st.tuples(*[st.integers(0, 7)] * 4), max_size=6)
)
def test_core_range_sets_are_sets(first: list[tuple[int, ...]], second: list[tuple[int, ...]]) -> None:
    def merged(boxes: list[tuple[int, ...]]) -> ttnn.CoreRangeSet:
        whole = ttnn.CoreRangeSet([])
        for x0, y0, x1, y1 in boxes:
            box = ttnn.CoreRange((min(x0, x1), min(y0, y1)), (max(x0, x1), max(y0, y1)))
            whole = whole.merge(ttnn.CoreRangeSet([box]))
        return whole

    a, b = merged(first), merged(second)
    cores_a, cores_b = set(a.cores()), set(b.cores())
    assert set(a.merge(b).cores()) == cores_a | cores_b
    assert a.merge(b) == b.merge(a)
    assert set(a.subtract(b).cores()) == cores_a - cores_b
    assert a.num_cores() == len(cores_a)
    assert a.contains(b) == (cores_b <= cores_a)


@quiet
@given(st.integers(1, 14), st.integers(1, 12), st.integers(0, 500), st.booleans())
def test_all_work_is_dealt_and_evenly(x: int, y: int, units: int, row_wise: bool) -> None:
    count, everyone, first, second, more, less = ttnn.split_work_to_cores(ttnn.CoreCoord(x, y), units, row_wise)
    assert first.num_cores() * more + second.num_cores() * less == units
    assert set(first.cores()) | set(second.cores()) == set(everyone.cores())
    assert everyone.num_cores() == count == min(units, x * y)
    assert second.empty() or more - less == 1


@pytest.mark.parametrize("shape", [(64, 64), (40, 50), (2, 3, 33, 65)])
@quiet
@given(data=st.data())
def test_indexing_is_that_of_numpy(shape: tuple[int, ...], data: st.DataObject) -> None:
    values = (np.arange(np.prod(shape)) % 251).astype(np.float32).reshape(shape)
    drawn = data.draw(hnp.basic_indices(shape, allow_newaxis=False, allow_ellipsis=True))
    entries = drawn if isinstance(drawn, tuple) else (drawn,)
    # Steps are refused; whoever draws one takes all of the dimension.
    with_steps = [isinstance(entry, slice) and entry.step not in (None, 1) for entry in entries]
    index = tuple(slice(None) if steps else entry for entry, steps in zip(entries, with_steps, strict=True))
    found = ttnn.Tensor(values, ttnn.bfloat16, None, ttnn.TILE_LAYOUT)[index]
    assert found.shape == list(values[index].shape)
    assert np.array_equal(found.to_numpy().astype(np.float32), values[index])

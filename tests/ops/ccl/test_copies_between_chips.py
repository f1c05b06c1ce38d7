"""Collectives that copy: bytes arrive where they belong."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.meshes import by_chip, different, same
from ttnn.base.exceptions import FabricError

SHAPE = (2, 3, 64, 96)
DTYPES = [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.uint32]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1, 2, 3, -1, -4])
def test_all_gather_joins_the_tensors_of_a_group(line: ttnn.MeshDevice, dtype: ttnn.DataType, dim: int) -> None:
    x = ttnn.typecast(different(line, SHAPE), dtype) if dtype is ttnn.uint32 else different(line, SHAPE, dtype)
    parts = by_chip(x)
    for axis in (0, 1):
        groups = np.arange(8).reshape(2, 4).T if axis == 0 else np.arange(8).reshape(2, 4)
        results = by_chip(ttnn.all_gather(x, dim, cluster_axis=axis))
        for group in groups:
            expected = np.concatenate([parts[chip] for chip in group], dim)
            assert all(np.array_equal(results[chip], expected) for chip in group)


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT], ids=str)
@pytest.mark.parametrize("dim", [2, 3])
def test_pieces_of_tiles_are_joined_in_rows(ring: ttnn.MeshDevice, layout: ttnn.Layout, dim: int) -> None:
    x = ttnn.to_layout(different(ring, (1, 1, 33, 40)), layout)
    result = ttnn.all_gather(x, dim)
    assert result.layout is layout
    assert all(np.array_equal(part, np.concatenate(by_chip(x), dim)) for part in by_chip(result))


def test_block_floats_of_unaligned_width_pass_through_bfloat16(ring: ttnn.MeshDevice) -> None:
    x = different(ring, (1, 1, 32, 40), ttnn.bfloat8_b)
    joined = np.concatenate(by_chip(x), 3)
    with ttnn.manage_device(31) as one:
        wide = ttnn.Tensor(joined, ttnn.bfloat16, device=one, layout=ttnn.TILE_LAYOUT)
        again = ttnn.typecast(wide, ttnn.bfloat8_b).to_torch().float().numpy()
    assert not np.array_equal(again, joined)
    assert np.array_equal(by_chip(ttnn.all_gather(x, 3))[5], again)


def test_an_output_tensor_is_written(ring: ttnn.MeshDevice) -> None:
    x = different(ring, (1, 1, 32, 32))
    output = ttnn.zeros((1, 1, 32, 256), ttnn.bfloat16, ttnn.TILE_LAYOUT, ring)
    for _ in range(3):
        assert ttnn.all_gather(x, 3, output_tensor=output).buffer_address() == output.buffer_address()
    assert np.array_equal(by_chip(output)[2], np.concatenate(by_chip(x), 3))
    with pytest.raises(ttnn.ShapeError, match=r"Output tensor shape must be Shape\(\[1, 1, 256, 32\]\)"):
        ttnn.all_gather(x, 2, output_tensor=output)


def test_broadcasts(line: ttnn.MeshDevice) -> None:
    x = different(line, SHAPE)
    parts = by_chip(x)
    for number, tensor in enumerate(ttnn.all_broadcast(x, cluster_axis=1)):
        assert [np.array_equal(a, parts[chip // 4 * 4 + number]) for chip, a in enumerate(by_chip(tensor))] == [
            True
        ] * 8
    sent = by_chip(ttnn.broadcast(x, ttnn.MeshCoordinate(1, 2), cluster_axis=0))
    assert [np.array_equal(a, parts[4 + chip % 4]) for chip, a in enumerate(sent)] == [True] * 8


def test_point_to_point_writes_one_chip(line: ttnn.MeshDevice) -> None:
    x, output = different(line, SHAPE), ttnn.full(SHAPE, 5.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=line)
    parts = by_chip(x)
    start, end = ttnn.MeshCoordinate(1, 3), ttnn.MeshCoordinate(0, 3)
    fresh, given = by_chip(ttnn.point_to_point(x, start, end)), ttnn.point_to_point(x, start, end, output_tensor=output)
    for chip, (a, b) in enumerate(zip(fresh, by_chip(given), strict=True)):
        if chip == 3:
            assert np.array_equal(a, parts[7])
            assert np.array_equal(b, parts[7])
        else:
            assert not a.any()
            assert (b == 5.0).all()
    with pytest.raises(FabricError, match="invalid for 1D fabric"):
        ttnn.point_to_point(x, start, ttnn.MeshCoordinate(0, 0))
    with pytest.raises(ttnn.ParameterError, match="sender and receiver are both at"):
        ttnn.point_to_point(x, start, start)


@pytest.mark.parametrize("dim", [0, 1, 2, 3])
def test_mesh_partition_is_the_inverse_of_all_gather(line: ttnn.MeshDevice, dim: int) -> None:
    x = different(line, (4, 4, 128, 128))
    gathered = ttnn.all_gather(x, dim, cluster_axis=1)
    part = ttnn.mesh_partition(gathered, dim, cluster_axis=1)
    assert all(np.array_equal(a, b) for a, b in zip(by_chip(part), by_chip(x), strict=True))
    assert part.tensor_topology().placements()[1] == ttnn.PlacementShard(dim)


def test_rows_are_cut_anywhere(line: ttnn.MeshDevice) -> None:
    whole = np.arange(3 * 40, dtype=np.float32).reshape(1, 1, 3, 40)
    mapper = ttnn.ReplicateTensorToMesh(line)
    x = ttnn.Tensor(whole, ttnn.bfloat16, device=line, layout=ttnn.ROW_MAJOR_LAYOUT, mesh_mapper=mapper.unwrap())
    parts = by_chip(ttnn.mesh_partition(x, 3))
    assert all(np.array_equal(part, whole[..., 5 * chip : 5 * chip + 5]) for chip, part in enumerate(parts))
    tiles = ttnn.to_layout(x, ttnn.TILE_LAYOUT)
    with pytest.raises(ttnn.ShapeError, match="width begin index aligned to tiles"):
        ttnn.mesh_partition(tiles, 3)


@pytest.mark.parametrize("strategy", [ttnn.ShardStrategy.WIDTH, ttnn.ShardStrategy.BLOCK], ids=str)
def test_parts_of_rows_are_sent_by_one_program(line: ttnn.MeshDevice, strategy: ttnn.ShardStrategy) -> None:
    grid = ttnn.CoreGrid(y=2, x=2) if strategy is ttnn.ShardStrategy.BLOCK else ttnn.CoreGrid(y=1, x=4)
    config = ttnn.create_sharded_memory_config((1, 1, 128, 128), grid, strategy)
    x = ttnn.to_memory_config(ttnn.to_layout(different(line, (1, 1, 128, 128)), ttnn.ROW_MAJOR_LAYOUT), config)
    parts = by_chip(x)
    line.clear_program_cache()
    results = ttnn.all_broadcast(x, cluster_axis=1)
    assert line.num_program_cache_entries() == 1
    for number, result in enumerate(results):
        assert result.memory_config() == config
        assert same(by_chip(result), [parts[chip // 4 * 4 + number] for chip in range(8)])
    interleaved = ttnn.broadcast(x, ttnn.MeshCoordinate(0, 3), cluster_axis=1, memory_config=ttnn.DRAM_MEMORY_CONFIG)
    assert same(by_chip(interleaved), [parts[chip // 4 * 4 + 3] for chip in range(8)])

"""The examples of the document "Tensor Layout", and laws of the algebra."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ttnn.base.exceptions import LayoutError
from ttnn.compiler.dialects.ttcore.affine import AffineMap, dimensions, evaluate
from ttnn.compiler.dialects.ttcore.algebra import (
    Region,
    collapsed_map,
    element_bytes,
    padding,
    physical_shape,
    shard_shape,
    size_bytes,
    stride,
    tile_bytes,
    tiled_shape,
)
from ttnn.compiler.dialects.ttcore.device import l1_map, worker_map

D = dimensions(7)


def linear(rank: int, *results: object) -> AffineMap:
    from ttnn.compiler.dialects.ttcore.affine import constant

    return AffineMap(rank, 0, tuple(constant(r) if isinstance(r, int) else r for r in results))  # type: ignore[misc]


JOINED = linear(4, D[0] * 192 + D[1] * 64 + D[2], D[3])
RANK_7 = linear(7, D[0] * 2688 + D[1] * 896 + D[2] * 448 + D[3] * 224 + D[4] * 32 + D[5], D[4], D[5], D[6])
EXAMPLES = [
    ((2, 3, 64, 128), JOINED, (1, 1), (384, 128), (384, 128), (12, 4)),
    ((2, 3, 64, 128), JOINED, (2, 4), (384, 128), (192, 32), (6, 1)),
    ((2, 3, 64, 128), JOINED, (3, 2), (384, 128), (128, 64), (4, 2)),
    ((8, 300), linear(2, D[0], D[1]), (1, 2), (8, 300), (8, 150), (1, 5)),
    ((8, 96, 32), linear(3, D[0] * 96 + D[1], D[2]), (2, 1), (768, 32), (384, 32), (12, 1)),
    ((8, 96, 32), linear(3, D[0] * 96 + D[1], D[1], D[2]), (2, 1, 2), (768, 96, 32), (384, 96, 16), None),
    ((5, 3, 2, 2, 7, 32, 32), RANK_7, (3, 2, 2, 2), (13440, 7, 32, 32), (4480, 4, 16, 16), None),
    ((3, 64, 128), linear(3, D[0] * 64 + D[1], D[2]), (3, 2), (192, 128), (64, 64), (2, 2)),
    ((53, 63), linear(2, D[0], D[1]), (3, 2), (53, 63), (18, 32), (1, 1)),
    ((2, 8, 32), linear(3, D[0] * 8 + D[1], D[2]), (1, 2), (16, 32), (16, 16), (1, 1)),
    ((2, 8, 32), linear(3, D[0] * 32 + D[1], D[2]), (1, 2), (40, 32), (40, 16), (2, 1)),
    ((2, 3, 64, 128), linear(4, D[0], D[1] * 64 + D[2], D[3]), (2, 2, 4), (2, 192, 128), (1, 96, 32), (1, 3, 1)),
    ((16, 3, 64, 128), linear(4, D[0], D[1] * 64 + D[2], D[3]), (2, 2, 4), (16, 192, 128), (8, 96, 32), (8, 3, 1)),
    ((256, 1024), linear(2, D[0], D[1]), (4, 16), (256, 1024), (64, 64), (2, 2)),
    ((64, 256, 1024), linear(3, *D[:3]), (2, 4, 16), (64, 256, 1024), (32, 64, 64), (32, 2, 2)),
    ((128,), linear(1, D[0]), (4,), (128,), (32,), None),
    ((128,), linear(1, 0, D[0]), (1, 4), (1, 128), (1, 32), (1, 1)),
    ((128,), linear(1, 0, 0, D[0]), (1, 2, 4), (1, 1, 128), (1, 1, 32), (1, 1, 1)),
]


@pytest.mark.parametrize(("shape", "mapped", "grid", "physical", "shard", "tiles"), EXAMPLES)
def test_documented_layouts_have_their_shards(
    shape: tuple[int, ...],
    mapped: AffineMap,
    grid: tuple[int, ...],
    physical: tuple[int, ...],
    shard: tuple[int, ...],
    tiles: tuple[int, ...] | None,
) -> None:
    assert physical_shape(mapped, shape) == physical
    assert shard_shape(mapped, shape, grid) == shard
    if tiles is not None:
        assert tiled_shape(shard) == tiles


def test_all_eighteen_documented_layouts_are_tested() -> None:
    assert len(EXAMPLES) == 18


def test_map_of_an_index_is_its_offset() -> None:
    assert JOINED.eval([1, 1, 6, 100], ()) == (262, 100)


@pytest.mark.parametrize(
    ("shape", "grid_rank", "intervals", "text"),
    [
        ((3, 64, 128), 2, ((0, -1),), "(d0, d1, d2) -> (((d0 * 64) + d1), d2)"),
        ((2, 3, 64, 128), 3, ((1, -1),), "(d0, d1, d2, d3) -> (d0, ((d1 * 64) + d2), d3)"),
        ((2, 3, 64, 128), 3, ((0, 2),), "(d0, d1, d2, d3) -> (((d0 * 3) + d1), d2, d3)"),
        (
            (2, 3, 4, 5, 6, 7, 8),
            4,
            ((0, 3), (-3, -1)),
            "(d0, d1, d2, d3, d4, d5, d6) -> ((((d0 * 12) + (d1 * 4)) + d2), d3, ((d4 * 7) + d5), d6)",
        ),
        ((1, 0, 128), 2, ((0, -1),), "(d0, d1, d2) -> (d1, d2)"),
        ((128,), 2, ((0, -1),), "(d0) -> (0, d0)"),
        ((128,), 3, ((0, -1),), "(d0) -> (0, 0, d0)"),
        ((64, 128), 2, ((0, -1),), "(d0, d1) -> (d0, d1)"),
        ((64, 128), 2, ((0, 1), (1, 1)), "(d0, d1) -> (d0, d1)"),
    ],
)
def test_collapsed_maps_match_the_document(
    shape: tuple[int, ...], grid_rank: int, intervals: tuple[tuple[int, int], ...], text: str
) -> None:
    assert str(collapsed_map(shape, grid_rank, intervals)) == text


@pytest.mark.parametrize(
    ("intervals", "sentence"),
    [
        (((0, 5),), "interval (0, 5)"),
        (((2, 1),), "interval (2, 1)"),
        (((0, 2), (1, 3)), "interval (1, 3)"),
        (((0, 1),), "collapses to 4 dimensions, the grid has 2"),
    ],
)
def test_wrong_collapse_intervals_raise(intervals: tuple[tuple[int, int], ...], sentence: str) -> None:
    with pytest.raises(LayoutError) as caught:
        collapsed_map((2, 3, 4, 5), 2, intervals)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: "x".join(map(str, e[0])))
def test_collapsed_box_is_dense_and_addressed_by_its_strides(example: tuple[tuple[int, ...], object, ...]) -> None:
    shape = tuple(min(size, 5) for size in example[0])
    rank = max(2, len(shape) - 1)
    mapped = collapsed_map(shape, rank, ((0, len(shape) - rank + 1),) if len(shape) > 2 else ((0, -1),))
    physical = physical_shape(mapped, shape)
    assert math.prod(physical) == math.prod(shape)
    points = evaluate(mapped, shape)
    flat = np.ravel_multi_index(tuple(np.moveaxis(points, -1, 0)), physical)
    assert sorted(flat.ravel()) == list(range(math.prod(shape)))
    by_stride = sum(np.indices(shape)[dim] * step for dim, step in enumerate(stride(mapped, shape)))
    assert np.array_equal(by_stride, flat)


def test_strides_of_a_map_with_gaps_are_its_factors() -> None:
    gaps = linear(3, D[0] * 32 + D[1], D[2])
    assert stride(gaps, (2, 8, 32)) == (1024, 32, 1)
    assert stride(linear(1, 0, D[0]), (128,)) == (1,)


def test_padding_matches_the_document() -> None:
    plain = linear(2, D[0], D[1])
    assert padding(plain, (53, 63), (3, 2)) == [
        Region((0, 1), (0, 31), (18, 32)),
        Region((1, 1), (0, 31), (18, 32)),
        Region((2, 0), (17, 0), (18, 32)),
        Region((2, 1), (17, 0), (18, 32)),
        Region((2, 1), (0, 31), (17, 32)),
    ]
    tiled = padding(plain, (53, 63), (3, 2), (32, 32))
    rows = {region.core: region.shape[0] for region in tiled if region.shape[1] == 32}
    assert rows == {(0, 0): 14, (0, 1): 14, (1, 0): 14, (1, 1): 14, (2, 0): 15, (2, 1): 15}


@pytest.mark.parametrize("tile", [None, (32, 32)])
@pytest.mark.parametrize(
    ("shape", "grid"), [((53, 63), (3, 2)), ((64, 64), (2, 2)), ((5, 7), (4, 8)), ((1, 1), (1, 3))]
)
def test_elements_and_padding_fill_all_shards(
    shape: tuple[int, int], grid: tuple[int, int], tile: tuple[int, int] | None
) -> None:
    plain = linear(2, D[0], D[1])
    room = list(shard_shape(plain, shape, grid))
    if tile:
        room = [blocks * size for blocks, size in zip(tiled_shape(room, tile), tile, strict=True)]
    padded = sum(math.prod(region.shape) for region in padding(plain, shape, grid, tile))
    assert padded + math.prod(shape) == math.prod(grid) * math.prod(room)


def test_tile_and_element_sizes_match_their_formats() -> None:
    counted = {"f32": 4096, "f16": 2048, "bf16": 2048, "u32": 4096, "u16": 2048, "u8": 1024}
    counted |= {"bfp_f8": 1024, "bfp_bf8": 1024, "bfp_f4": 512, "bfp_bf4": 512, "bfp_f2": 256, "bfp_bf2": 256}
    assert {name: tile_bytes(name) for name in counted} == counted
    assert [tile_bytes(name, exponents=True) for name in ("bfp_bf8", "bfp_bf4", "bfp_bf2")] == [1088, 576, 320]
    assert tile_bytes("bf16", 16, 32) == 1024
    assert [element_bytes(name) for name in ("f32", "bf16", "u8")] == [4, 2, 1]
    with pytest.raises(LayoutError, match="16 elements share an exponent"):
        element_bytes("bfp_bf8")
    with pytest.raises(LayoutError, match="'f8' is unknown"):
        tile_bytes("f8")


def test_sharded_buffer_bytes_are_those_of_a_shard() -> None:
    _, workers = worker_map((1,), (8, 8))
    memory = l1_map(workers, 2)
    shard = memory.replace_dims_and_symbols(dimensions(2), [type(D[0]).constant(16), type(D[0]).constant(32)], 2, 0)
    assert size_bytes(shard, (128, 256), 4) == 16 * 32 * 4
    assert size_bytes(shard, (0, 256), 4) == 0

"""Headers of tensor files: FlatBuffers with specification, parts and topology.

Source: files written by ttnn 0.81.1.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from ttnn.base.core_range import CoreRange, CoreRangeSet
from ttnn.base.enums import (
    BufferType,
    DataType,
    Layout,
    ShardDistributionStrategy,
    ShardOrientation,
    TensorMemoryLayout,
)
from ttnn.base.exceptions import FileFormatError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig, NdShardSpec, ShardSpec
from ttnn.base.shape import LARGEST_RANK
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.device.coordinates import MAX_CHIPS, MeshCoordinate, MeshCoordinateRange, MeshShape
from ttnn.tensor.flat_buffer import Builder, Table
from ttnn.tensor.topology import WHOLE, Placement, PlacementReplicate, PlacementShard, TensorTopology

_DATA_ALIGNMENT = 64
SIZE_BYTES: Final = 8
"""Bytes of the header's size, which precedes it."""

# Numbers of the file format. The first eight agree with DataType.
DTYPE_NUMBER: Final = {
    DataType.BFLOAT16: 0,
    DataType.FLOAT32: 1,
    DataType.UINT32: 2,
    DataType.BFLOAT8_B: 3,
    DataType.BFLOAT4_B: 4,
    DataType.UINT8: 5,
    DataType.UINT16: 6,
    DataType.INT32: 7,
    DataType.INT8: 9,
}
_DTYPE = {number: dtype for dtype, number in DTYPE_NUMBER.items()}
_ROW_MAJOR_PAGES, _TILE_PAGES = 1, 2
_INLINE_STORAGE = 1
_REPLICATE, _SHARD = 0, 1
_NO_DIM = -1

_MOST_MESH_DIMS = 8
_MOST_CORE_RANGES = 1024


class Stored(NamedTuple):
    """The parts of a tensor in a file.

    Offsets count from the beginning of the data; equal parts may have one.
    """

    mesh_shape: MeshShape
    coords: Sequence[MeshCoordinate]
    offsets: Sequence[int]
    topology: TensorTopology


ONE_PART: Final = Stored(MeshShape(1, 1), [MeshCoordinate(0, 0)], [0], WHOLE)
"""The part of a tensor that no mapper distributed."""


def header_bytes(spec: TensorSpec, part_bytes: int, stored: Stored = ONE_PART) -> bytes:
    """Return all bytes of a file before the data.

    Args:
        spec: The specification of a part.
        part_bytes: Bytes of a part.
        stored: Where the parts are.
    """
    builder = Builder()
    shape = builder.numbers(list(spec.shape))
    layout = _layout(builder, spec)
    described = builder.table((1, "ref", layout), (0, "ref", shape))

    def numbered(numbers: Sequence[int]) -> int:
        return builder.table((0, "ref", builder.numbers(numbers)))

    listed = []
    for coord, offset in zip(stored.coords, stored.offsets, strict=True):
        place = numbered(list(coord))
        storage = builder.structure("QQ", SIZE_BYTES, offset, part_bytes)
        listed.append(builder.table((2, "ref", place), (1, "ref", storage), (0, "B", _INLINE_STORAGE)))
    parts = builder.references(listed)
    mesh = numbered(list(stored.mesh_shape))
    topology = stored.topology
    distribution = numbered(list(topology.distribution_shape()))
    placements = builder.references(
        [
            builder.table((1, "i", place.dim), (0, "B", _SHARD))
            if isinstance(place, PlacementShard)
            else builder.table((1, "i", _NO_DIM), (0, "B", _REPLICATE))
            for place in topology.placements()
        ]
    )
    coordinates = builder.references([numbered(list(coord)) for coord in topology.mesh_coords()])
    spread = builder.table((2, "ref", coordinates), (1, "ref", placements), (0, "ref", distribution))
    root = builder.table((3, "ref", spread), (2, "ref", parts), (1, "ref", mesh), (0, "ref", described))
    builder.align(SIZE_BYTES)
    header = builder.finish(root)
    header += bytes(-(len(header) + SIZE_BYTES) % _DATA_ALIGNMENT)
    return struct.pack("<Q", len(header)) + header


def _layout(builder: Builder, spec: TensorSpec) -> int:
    alignment = builder.numbers(_alignment(spec))
    if spec.layout is Layout.TILE:
        height, width = spec.tile.tile_shape
        tile = builder.table((1, "I", width), (0, "I", height))
        pages, kind = builder.table((0, "ref", tile)), _TILE_PAGES
    else:
        pages, kind = builder.table(), _ROW_MAJOR_PAGES
    memory = _memory(builder, spec.memory_config)
    return builder.table(
        (4, "ref", alignment),
        (3, "ref", memory),
        (2, "ref", pages),
        (1, "B", kind),
        (0, "B", DTYPE_NUMBER[spec.dtype]),
    )


def _alignment(spec: TensorSpec) -> list[int]:
    """Return to what multiples the last dimensions are padded."""
    if spec.layout is Layout.TILE:
        return spec.tile.tile_shape
    shards, nd = spec.memory_config.shard_spec, spec.memory_config.nd_shard_spec
    if nd is not None:
        return [nd.shard_shape[-1]]
    if shards is not None and spec.memory_config.memory_layout is not TensorMemoryLayout.HEIGHT_SHARDED:
        return [shards.shape[1]]
    return [1]


def _memory(builder: Builder, config: MemoryConfig) -> int:
    shards, nd = config.shard_spec, config.nd_shard_spec
    described = described_nd = 0
    if shards is not None:
        described = builder.table(
            (2, "I", shards.shape[1]),
            (1, "I", shards.shape[0]),
            (0, "ref", _cores(builder, shards.grid)),
            (3, "B", shards.orientation.value),
        )
    if nd is not None:
        shape = builder.numbers(list(nd.shard_shape))
        described_nd = builder.table(
            (1, "ref", _cores(builder, nd.grid)),
            (0, "ref", shape),
            (3, "B", nd.shard_distribution_strategy.value),
            (2, "B", nd.orientation.value),
        )
    return builder.table(
        (3, "ref", described_nd),
        (2, "ref", described),
        (1, "H", config.buffer_type.value),
        (0, "H", config.memory_layout.value),
        (4, "B", int(nd is not None)),
    )


def _cores(builder: Builder, grid: CoreRangeSet) -> int:
    ranges = []
    for r in grid.ranges():
        start = builder.table((1, "i", r.start.y), (0, "i", r.start.x))
        end = builder.table((1, "i", r.end.y), (0, "i", r.end.x))
        ranges.append(builder.table((1, "ref", end), (0, "ref", start)))
    return builder.table((0, "ref", builder.references(ranges)))


def read_spec(table: Table) -> TensorSpec:
    """Return the specification that a file's header has."""
    layout = table.required(1, "layout")
    number = layout.number(0, "B")
    if number not in _DTYPE:
        raise FileFormatError(f"the header has data type {number}, which does not exist")
    pages = layout.number(1, "B")
    if pages not in (_ROW_MAJOR_PAGES, _TILE_PAGES):
        raise FileFormatError(f"the header has page kind {pages}, which does not exist")
    tile = None
    if pages == _TILE_PAGES:
        shape = layout.required(2, "tile").required(0, "tile shape")
        tile = Tile([shape.number(0, "I"), shape.number(1, "I")], bool(shape.number(2, "B")))
    config = _read_memory(layout.required(3, "memory configuration"))
    spec = TensorSpec.of(
        table.numbers(0, LARGEST_RANK),
        _DTYPE[number],
        Layout.TILE if pages == _TILE_PAGES else Layout.ROW_MAJOR,
        config,
        tile,
    )
    padding = layout.numbers(4, LARGEST_RANK)
    if padding != _alignment(spec):
        raise UnsupportedError(
            f"ttnn.load_tensor: the tensor is padded to multiples of {padding}, only {_alignment(spec)} is modelled"
        )
    return spec


def _read_memory(table: Table) -> MemoryConfig:
    buffer_type, nd = BufferType(table.number(1, "H")), table.table(3)
    if nd is not None and table.number(4, "B"):
        cores = _read_cores(nd.required(1, "cores"))
        orientation, strategy = ShardOrientation(nd.number(2, "B")), ShardDistributionStrategy(nd.number(3, "B"))
        return MemoryConfig(buffer_type, NdShardSpec(nd.numbers(0, LARGEST_RANK), cores, orientation, strategy))
    shards = table.table(2)
    described = None
    if shards is not None:
        shape = [shards.number(1, "I"), shards.number(2, "I")]
        cores = _read_cores(shards.required(0, "cores"))
        described = ShardSpec(cores, shape, ShardOrientation(shards.number(3, "B")))
    return MemoryConfig(TensorMemoryLayout(table.number(0, "H")), buffer_type, described)


def _read_cores(table: Table) -> CoreRangeSet:
    corners = [(r.required(0, "start"), r.required(1, "end")) for r in table.tables(0, _MOST_CORE_RANGES)]
    return CoreRangeSet(
        [
            CoreRange((start.number(0, "i"), start.number(1, "i")), (end.number(0, "i"), end.number(1, "i")))
            for start, end in corners
        ]
    )


def read_parts(root: Table) -> tuple[Stored, int]:
    """Return a file's parts in row-major order, and their bytes.

    Raises:
        FileFormatError: they or the topology do not fit the mesh, or the parts differ in size.
    """
    mesh = MeshShape(_mesh_numbers(root.required(1, "mesh shape")))
    found = []
    for part in root.tables(2, MAX_CHIPS):
        storage = part.structure(1, "QQ")
        if storage is None or part.number(0, "B") != _INLINE_STORAGE:
            raise FileFormatError("the header has no data offset")
        offset, size = storage
        found.append((MeshCoordinate(_mesh_numbers(part.required(2, "mesh coordinate"))), offset, size))
    # A file may have them in any order.
    found.sort(key=lambda part: tuple(part[0]))
    coords, offsets = [coord for coord, *_ in found], [offset for _, offset, _ in found]
    sizes = [size for *_, size in found]
    stored = Stored(mesh, coords, offsets, _read_topology(root))
    check_stored(stored)
    if len(set(sizes)) != 1:
        raise FileFormatError(f"the header has parts of {sorted(set(sizes))} B")
    return stored, sizes[0]


def _mesh_numbers(table: Table) -> list[int]:
    """Return the numbers of a shape or coordinate of a mesh."""
    return table.numbers(0, _MOST_MESH_DIMS)


def check_stored(stored: Stored) -> None:
    """Check that parts and topology fit the mesh.

    The part of one chip has the topology of all parts, and a reshaped tensor that of its old rank.

    Raises:
        FileFormatError: they do not.
    """
    mesh, coords = stored.mesh_shape, stored.coords
    if mesh.dims() > _MOST_MESH_DIMS or not 1 <= mesh.mesh_size() <= MAX_CHIPS:
        raise FileFormatError(
            f"the mesh {mesh} has {mesh.dims()} dimensions and {mesh.mesh_size()} chips, expected at most "
            f"{_MOST_MESH_DIMS}, and 1 to {MAX_CHIPS}"
        )
    if not coords:
        raise FileFormatError("the header has no parts")
    if len(set(coords)) != len(coords) or len(coords) > mesh.mesh_size():
        raise FileFormatError(f"the header has {len(coords)} parts, several on one chip of the mesh {mesh}")
    inside = MeshCoordinateRange(mesh)
    if any(coord not in inside for coord in coords):
        raise FileFormatError(f"the header has a part outside of the mesh {mesh}")
    _check_topology(stored.topology, mesh)


def _check_topology(topology: TensorTopology, mesh: MeshShape) -> None:
    shape, coords = topology.distribution_shape(), topology.mesh_coords()
    if shape.dims() > _MOST_MESH_DIMS or not 1 <= shape.mesh_size() <= mesh.mesh_size():
        raise FileFormatError(
            f"the topology distributes over {shape}, expected at most {_MOST_MESH_DIMS} dimensions and from 1 chip to "
            f"those of the mesh {mesh}"
        )
    if len(coords) != shape.mesh_size() or len(set(coords)) != len(coords):
        raise FileFormatError(f"the topology names {len(set(coords))} chips, {shape} needs {shape.mesh_size()}")
    inside = MeshCoordinateRange(mesh)
    for coord in coords:
        # The only chip of a mesh may have a coordinate of other dimensions.
        if coord not in inside and (mesh.mesh_size() > 1 or any(coord)):
            raise FileFormatError(f"the topology names the chip {coord}, which is outside of the mesh {mesh}")
    for place in topology.placements():
        if isinstance(place, PlacementShard) and not -LARGEST_RANK <= place.dim < LARGEST_RANK:
            raise FileFormatError(
                f"the topology shards dimension {place.dim}, expected {-LARGEST_RANK} to {LARGEST_RANK - 1}"
            )


def _read_topology(root: Table) -> TensorTopology:
    table = root.table(3)
    if table is None:
        return WHOLE
    placements: list[Placement] = [
        PlacementShard(place.number(1, "i")) if place.number(0, "B") == _SHARD else PlacementReplicate()
        for place in table.tables(1, _MOST_MESH_DIMS)
    ]
    shape = MeshShape(_mesh_numbers(table.required(0, "distribution shape")))
    coords = [MeshCoordinate(_mesh_numbers(coord)) for coord in table.tables(2, MAX_CHIPS)]
    return TensorTopology(shape, placements, coords)

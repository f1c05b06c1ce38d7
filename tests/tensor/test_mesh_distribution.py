"""Host tensors distributed over meshes: mappers, composers, parts, files."""

from __future__ import annotations

import copy
import pickle
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import ttnn
from ttnn.base.exceptions import (
    ArgumentError,
    DeviceError,
    FileFormatError,
    IndexRangeError,
    ParameterError,
    ShapeError,
    StorageError,
    UnsupportedError,
)
from ttnn.tensor.file_header import ONE_PART, Stored, header_bytes
from ttnn.tensor.flat_buffer import Builder
from ttnn.tensor.host_buffer import Array, Parts

MESH = ttnn.MeshShape(2, 4)
REPLICATE = ttnn.PlacementReplicate()
VALUES = np.arange(16 * 24, dtype=np.float32).reshape(16, 24)


def shard(dim: int) -> ttnn.PlacementShard:
    return ttnn.PlacementShard(dim)


def coords(*numbers: tuple[int, int]) -> list[ttnn.MeshCoordinate]:
    return [ttnn.MeshCoordinate(row, column) for row, column in numbers]


ALL = coords(*((row, column) for row in range(2) for column in range(4)))


def spread(mapper: Any, values: Array = VALUES, **options: Any) -> ttnn.Tensor:
    return ttnn.from_torch(values, mesh_mapper=mapper, **options)


def parts_of(tensor: ttnn.Tensor) -> list[Array]:
    return [part.to_numpy() for part in ttnn.get_device_tensors(tensor)]


def mapper_of(*placements: Any, shape: ttnn.MeshShape | None = None) -> ttnn.CppTensorToMesh:
    return ttnn.create_mesh_mapper(MESH, ttnn.MeshMapperConfig(list(placements), shape))


def composer_of(*dims: int, shape: ttnn.MeshShape | None = None) -> ttnn.CppMeshToTensor:
    return ttnn.create_mesh_composer(MESH, ttnn.MeshComposerConfig(list(dims), shape))


def blocks(rows: int, columns: int) -> list[Array]:
    """Return the values cut into rows and columns, row by row."""
    return [block for row in np.split(VALUES, rows, 0) for block in np.split(row, columns, 1)]


# What a mapper makes.

CASES: dict[str, tuple[Callable[[], Any], list[Array], list[int], list[Any]]] = {
    "flat": (lambda: ttnn.ShardTensorToMesh(MESH, 0), np.split(VALUES, 8), [8], [shard(0)]),
    "flat, last dimension": (
        lambda: ttnn.shard_tensor_to_mesh_mapper(MESH, -1),
        np.split(VALUES, 8, 1),
        [8],
        [shard(-1)],
    ),
    "rows and columns": (
        lambda: ttnn.ShardTensor2dMesh(MESH, (2, 4), (0, 1)),
        blocks(2, 4),
        [2, 4],
        [shard(0), shard(1)],
    ),
    "columns and rows": (
        lambda: mapper_of(shard(1), shard(0)),
        [VALUES[4 * column : 4 * column + 4, 12 * row : 12 * row + 12] for row in range(2) for column in range(4)],
        [2, 4],
        [shard(1), shard(0)],
    ),
    "replicated over rows": (
        lambda: ttnn.ShardTensor2dMesh(MESH, (2, 4), (None, 1)),
        np.split(VALUES, 4, 1) * 2,
        [2, 4],
        [REPLICATE, shard(1)],
    ),
    "replicated over columns": (
        lambda: ttnn.create_mesh_mapper(MESH, ttnn.MeshMapperConfig(row_dim=0, col_dim=None)),
        [half for half in np.split(VALUES, 2) for _ in range(4)],
        [2, 4],
        [shard(0), REPLICATE],
    ),
    "replicated": (lambda: ttnn.ReplicateTensorToMesh(MESH), [VALUES] * 8, [8], [REPLICATE]),
    "replicated twice": (lambda: mapper_of(REPLICATE, REPLICATE), [VALUES] * 8, [2, 4], [REPLICATE, REPLICATE]),
    # A shape that does not fit follows the chips row by row.
    "other shape": (lambda: ttnn.ShardTensor2dMesh(MESH, (4, 2), (0, 1)), blocks(4, 2), [4, 2], [shard(0), shard(1)]),
    "three dimensions": (
        lambda: mapper_of(REPLICATE, shard(0), shard(1), shape=ttnn.MeshShape(2, 2, 2)),
        blocks(2, 2) * 2,
        [2, 2, 2],
        [REPLICATE, shard(0), shard(1)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_parts_and_topology(name: str) -> None:
    make, expected, shape, placements = CASES[name]
    tensor = spread(make())
    found = parts_of(tensor)
    assert len(found) == len(expected)
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, want)
    assert tensor.shape == ttnn.Shape(expected[0].shape)
    assert tensor.device_coords() == ALL
    topology = tensor.tensor_topology()
    assert list(topology.distribution_shape()) == shape
    assert (topology.placements(), topology.mesh_coords()) == (placements, ALL)


def test_fewer_chunks_than_chips_are_fewer_parts() -> None:
    tensor = spread(ttnn.ShardTensorToMesh(MESH, 0), VALUES[:7])
    assert [part.tolist() for part in parts_of(tensor)] == [[row.tolist()] for row in VALUES[:7]]
    assert tensor.device_coords() == ALL[:7]
    assert tensor.tensor_topology() == ttnn.TensorTopology(ttnn.MeshShape([7]), [shard(0)], ALL[:7])
    # Chunks of two rows: 10 rows are five.
    assert [part.shape for part in parts_of(spread(ttnn.ShardTensorToMesh(MESH, 0), VALUES[:10]))] == [(2, 24)] * 5


def test_a_shape_that_fits_is_a_corner_of_the_mesh() -> None:
    corner = mapper_of(shard(0), shard(1), shape=ttnn.MeshShape(2, 2))
    tensor = spread(corner)
    chips = coords((0, 0), (0, 1), (1, 0), (1, 1))
    assert (tensor.device_coords(), tensor.tensor_topology().mesh_coords()) == (chips, chips)
    assert ttnn.compute_distribution_to_mesh_mapping(ttnn.MeshShape(2, 2), MESH) == chips
    assert ttnn.compute_distribution_to_mesh_mapping(ttnn.MeshShape(3, 2), MESH) == ALL[:6]
    composer = composer_of(0, 1, shape=ttnn.MeshShape(2, 2))
    np.testing.assert_array_equal(tensor.to_numpy(composer), VALUES)


def test_equal_parts_share_memory() -> None:
    tensor = spread(mapper_of(REPLICATE, shard(1)))
    buffer = tensor.host_buffer()
    first, second, other = (buffer.get_shard(chip) for chip in coords((0, 1), (1, 1), (0, 2)))
    assert np.shares_memory(first, second)
    assert not np.shares_memory(first, other)


@pytest.mark.parametrize(
    ("make", "sentence", "vendor"),
    [
        (
            lambda: spread(ttnn.ShardTensorToMesh(MESH, 0), VALUES[:9]),
            "parts of Shape([2, 24]) and Shape([1, 24]); all parts must have the same shape",
            "Shard shape mismatch: expected Shape([2, 24]) but got Shape([1, 24])",
        ),
        (
            lambda: spread(mapper_of(shard(2), shard(3))),
            "mesh_mapper names dimension 2, the tensor has 2",
            "Invalid dimension index; got dims: {2, 3}, tensor dimension: 2",
        ),
        (lambda: spread(mapper_of(shard(0), shard(-2))), "names dimensions 0, -2", "dims must be unique"),
        (
            lambda: spread(mapper_of(shard(0), shard(1)), VALUES[:, :3]),
            "into 6 parts, MeshShape([2, 4]) needs 8",
            "ND sharding requires the number of chunks 6 to match the mesh dimension size 8",
        ),
        (lambda: spread(ttnn.ShardTensorToMesh(MESH, 0), VALUES[:0]), "into 0 parts", "No chunks were produced"),
        (
            lambda: spread(ttnn.ShardTensorToMesh(MESH, 0)).to_numpy(composer_of(1, -1)),
            "mesh_composer names dimensions 1, -1",
            "dims must be unique",
        ),
        (
            lambda: spread(ttnn.ShardTensorToMesh(MESH, 0)).to_numpy(ttnn.ConcatMeshToTensor(MESH, 2)),
            "mesh_composer names dimension 2, the tensor has 2",
            "Invalid dimension index; got dims: {2}, tensor dimension: 2",
        ),
        (
            lambda: spread(ttnn.ShardTensorToMesh(MESH, 0), VALUES[:7]).to_numpy(composer_of(0, 1)),
            "mesh_composer joins 8 parts, the tensor has 7",
            "ND composition requires the number of tensors 7 to match the mesh shape MeshShape([2, 4])",
        ),
    ],
)
def test_tensors_that_do_not_fit(make: Callable[[], object], sentence: str, vendor: str) -> None:
    with pytest.raises(ShapeError) as error:
        make()
    assert sentence in str(error.value)
    assert error.value.vendor == vendor


@pytest.mark.parametrize(
    ("make", "vendor"),
    [
        (
            lambda: ttnn.ShardTensor2dMesh(MESH, (2, 5), (0, 1)),
            "The size of the supplied mesh shape MeshShape([2, 5]) does not match the device shape size "
            "MeshShape([2, 4])",
        ),
        (
            lambda: mapper_of(shard(0)),
            "The number of dimensions in the mesh shape MeshShape([2, 4]) does not match the number of placements in "
            "the config MeshMapperConfig(placements: [PlacementShard(0)])",
        ),
        (
            lambda: composer_of(0, 1, 2),
            "The number of dimensions in the mesh shape MeshShape([2, 4]) does not match the number of dimensions in "
            "the config MeshComposerConfig(dims: [0, 1, 2])",
        ),
        (lambda: ttnn.ConcatMesh2dToTensor(MESH, (2, 4), (1, 1)), "dims must be unique"),
    ],
)
def test_configurations_that_do_not_fit_the_mesh(make: Callable[[], object], vendor: str) -> None:
    with pytest.raises(DeviceError) as error:
        make()
    assert error.value.vendor == vendor


def test_an_offset_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="parts begin at the first chip"):
        ttnn.MeshMapperConfig([REPLICATE], mesh_offset_override=ttnn.MeshCoordinate(0, 1))


def test_texts() -> None:
    flat = ttnn.MeshShape([8])
    assert repr(ttnn.MeshMapperConfig([shard(0), REPLICATE])) == (
        "MeshMapperConfig(placements: [PlacementShard(0), PlacementReplicate()])"
    )
    assert repr(ttnn.ShardTensorToMesh(MESH, 0).config()) == (
        "MeshMapperConfig(placements: [PlacementShard(0)], mesh_shape_override=MeshShape([8]))"
    )
    assert repr(ttnn.MeshComposerConfig([0, 1])) == "MeshComposerConfig(dims: [0, 1])"
    assert (
        repr(ttnn.MeshComposerConfig([0], flat)) == "MeshComposerConfig(dims: [0], mesh_shape_override=MeshShape([8]))"
    )
    assert repr(ttnn.TensorTopology(ttnn.MeshShape([2]), [shard(0)], ALL[:2])) == (
        "TensorTopology(distribution_shape=MeshShape([2]), placements=SmallVector([PlacementShard(0)]), "
        "mesh_coords=MeshCoordinate([0, 0]), MeshCoordinate([0, 1]))"
    )


# Back together.


@pytest.mark.parametrize(
    ("mapper", "composer", "expected"),
    [
        (mapper_of(shard(0), shard(1)), composer_of(0, 1), VALUES),
        (mapper_of(shard(1), shard(0)), composer_of(1, 0), VALUES),
        (mapper_of(REPLICATE, shard(1)), composer_of(0, 1), np.concatenate([VALUES, VALUES])),
        (mapper_of(shard(0), REPLICATE), composer_of(0, 1), np.concatenate([VALUES] * 4, 1)),
        (ttnn.ShardTensorToMesh(MESH, 0), ttnn.ConcatMeshToTensor(MESH, 0), VALUES),
        (
            ttnn.ShardTensorToMesh(MESH, 0),
            ttnn.concat_mesh_to_tensor_composer(MESH, -1),
            np.concatenate(np.split(VALUES, 8), 1),
        ),
        (
            ttnn.ShardTensorToMesh(MESH, 0),
            ttnn.ConcatMesh2dToTensor(MESH, (4, 2), (0, 1)),
            np.concatenate([np.concatenate(np.split(rows, 2), 1) for rows in np.split(VALUES, 4)]),
        ),
    ],
    ids=range(7),
)
@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT])
def test_composers(mapper: Any, composer: Any, expected: Array, layout: ttnn.Layout) -> None:
    tensor = spread(mapper, layout=layout)
    np.testing.assert_array_equal(ttnn.to_numpy(tensor, mesh_composer=composer), expected)
    assert torch.equal(ttnn.to_torch(tensor, mesh_composer=composer), torch.from_numpy(expected))
    joined = ttnn.aggregate_tensor(tensor, composer)
    assert (joined.layout, joined.device_coords()) == (layout, coords((0, 0)))
    np.testing.assert_array_equal(joined.to_numpy(), expected)
    with ttnn.distribute(composer):
        np.testing.assert_array_equal(tensor.to_numpy(), expected)


def test_fewer_parts_join_along_one_dimension() -> None:
    tensor = spread(ttnn.ShardTensorToMesh(MESH, 0), VALUES[:7])
    np.testing.assert_array_equal(tensor.to_numpy(ttnn.ConcatMeshToTensor(MESH, 0)), VALUES[:7])


@pytest.mark.parametrize("mapper", [ttnn.ShardTensorToMesh(MESH, 0), mapper_of(REPLICATE, REPLICATE)])
@pytest.mark.parametrize(
    "read",
    [
        lambda tensor: tensor.to_numpy(),
        lambda tensor: tensor.to_torch(),
        lambda tensor: tensor.to_list(),
        lambda tensor: np.asarray(tensor),
        lambda tensor: tensor.to_torch_with_padded_shape(),
        lambda tensor: tensor.__dlpack__(),
    ],
)
def test_several_parts_need_a_composer(mapper: Any, read: Callable[[ttnn.Tensor], object]) -> None:
    with pytest.raises(
        StorageError, match=r"has 8 parts on the mesh MeshShape\(\[2, 4\]\); pass a mesh_composer"
    ) as error:
        read(spread(mapper))
    assert error.value.vendor == (
        "Can't convert a tensor distributed on MeshShape([2, 4]) mesh to row-major logical tensor. Supply a mesh "
        "composer to concatenate multi-device shards."
    )


def test_one_part_needs_no_composer() -> None:
    tensor = spread(ttnn.ShardTensorToMesh(MESH, 0), VALUES[:1])
    np.testing.assert_array_equal(tensor.to_numpy(), VALUES[:1])
    np.testing.assert_array_equal(tensor.to_numpy(composer_of(0, 0)), VALUES[:1])
    assert tensor.tensor_topology().distribution_shape() == ttnn.MeshShape([1])


# Operations on the host, part by part.


def is_spread_like(tensor: ttnn.Tensor, source: ttnn.Tensor) -> bool:
    return tensor.tensor_topology() == source.tensor_topology() and tensor.device_coords() == source.device_coords()


def test_layout_and_type_change_part_by_part() -> None:
    source = spread(mapper_of(shard(0), shard(1)))
    tiled = source.to(ttnn.TILE_LAYOUT)
    assert (tiled.padded_shape, is_spread_like(tiled, source)) == (ttnn.Shape([32, 32]), True)
    for got, want in zip(parts_of(tiled), blocks(2, 4), strict=True):
        np.testing.assert_array_equal(got, want)
    half = ttnn.to_dtype(tiled, ttnn.bfloat8_b)
    assert (half.dtype, is_spread_like(half, source)) == (ttnn.bfloat8_b, True)
    for got, want in zip(ttnn.get_device_tensors(half), blocks(2, 4), strict=True):
        alone = ttnn.from_torch(want, dtype=ttnn.bfloat8_b)
        assert got.host_buffer().get_shard(ALL[0]).tobytes() == alone.host_buffer().get_shard(ALL[0]).tobytes()
    back = tiled.to(ttnn.ROW_MAJOR_LAYOUT)
    np.testing.assert_array_equal(back.to_numpy(composer_of(0, 1)), VALUES)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.uint32, ttnn.float32])
def test_a_part_has_the_bits_of_a_tensor_of_its_values(dtype: ttnn.DataType) -> None:
    tensor = spread(ttnn.ShardTensorToMesh(MESH, 1), dtype=dtype, layout=ttnn.TILE_LAYOUT, pad_value=3)
    for part, want in zip(ttnn.get_device_tensors(tensor), np.split(VALUES, 8, 1), strict=True):
        alone = ttnn.from_torch(np.ascontiguousarray(want), dtype=dtype, layout=ttnn.TILE_LAYOUT, pad_value=3)
        assert part.spec == alone.spec
        assert part.host_buffer().get_shard(ALL[0]).tobytes() == alone.host_buffer().get_shard(ALL[0]).tobytes()


def test_shapes_change_part_by_part() -> None:
    source = spread(mapper_of(shard(0), shard(1)))
    flat = source.reshape(2, 24)
    assert is_spread_like(flat, source)
    np.testing.assert_array_equal(parts_of(flat)[5], blocks(2, 4)[5].reshape(2, 24))
    padded = source.pad_to_tile(9.0)
    assert (padded.padded_shape, is_spread_like(padded, source)) == (ttnn.Shape([32, 32]), True)
    full = ttnn.get_device_tensors(padded)[3].to_torch_with_padded_shape().numpy()
    np.testing.assert_array_equal(full[:8, :6], blocks(2, 4)[3])
    assert (full[8:] == 9).all()
    cut = padded.unpad((0, 0), (8, 3))
    np.testing.assert_array_equal(parts_of(cut)[7], blocks(2, 4)[7][:, :3])
    np.testing.assert_array_equal(parts_of(source[2:4, 1])[6], blocks(2, 4)[6][2:4, 1])


def test_copies_keep_the_distribution() -> None:
    source = spread(mapper_of(REPLICATE, shard(1)))
    for copied in (copy.copy(source), copy.deepcopy(source), pickle.loads(pickle.dumps(source)), ttnn.Tensor(source)):
        assert is_spread_like(copied, source) or copied.tensor_topology().placements() == [REPLICATE]
        np.testing.assert_array_equal(copied.to_numpy(composer_of(0, 1)), np.concatenate([VALUES, VALUES]))
    assert is_spread_like(pickle.loads(pickle.dumps(source)), source)
    assert source.cpu() is source


def test_parts_are_printed_one_after_the_other() -> None:
    tensor = spread(ttnn.ShardTensorToMesh(ttnn.MeshShape(1, 2), 0), np.arange(4, dtype=np.float32).reshape(2, 2))
    tail = "shape=Shape([1, 2]), dtype=DataType::FLOAT32, layout=Layout::ROW_MAJOR)"
    assert str(tensor) == (f"ttnn.Tensor([[ 0.0000,  1.0000]], {tail}\nttnn.Tensor([[ 2.0000,  3.0000]], {tail}")


def test_host_buffers_by_chip() -> None:
    buffer = spread(ttnn.ShardTensorToMesh(MESH, 0), VALUES[:7]).host_buffer()
    assert buffer.shape() == MESH
    assert buffer.get_shard(ttnn.MeshCoordinate(1, 2)).tolist() == VALUES[6].tolist()
    assert buffer.get_shard(ttnn.MeshCoordinate(1, 3)) is None
    with pytest.raises(IndexRangeError, match="is outside"):
        buffer.get_shard(ttnn.MeshCoordinate(2, 0))


# Apart and together.


def test_distribute_tensor_keeps_layout_and_type() -> None:
    whole = ttnn.from_torch(VALUES, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    tensor = ttnn.distribute_tensor(whole, mapper_of(shard(0), shard(1)))
    assert (tensor.dtype, tensor.layout, tensor.shape) == (ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.Shape([8, 6]))
    np.testing.assert_array_equal(tensor.to_numpy(composer_of(0, 1)), whole.to_numpy())
    with pytest.raises(StorageError, match="has 8 parts"):
        ttnn.distribute_tensor(tensor, mapper_of(shard(0), shard(1)))


def test_host_shards_become_parts() -> None:
    tensor = ttnn.from_host_shards([ttnn.from_torch(np.ascontiguousarray(part)) for part in blocks(2, 4)], MESH)
    np.testing.assert_array_equal(tensor.to_numpy(composer_of(0, 1)), VALUES)
    assert tensor.device_coords() == ALL
    one, other = ttnn.from_torch(VALUES), ttnn.from_torch(VALUES[:3])
    with pytest.raises(ShapeError) as count:
        ttnn.from_host_shards([one] * 7, MESH)
    assert count.value.vendor == "Number of tensor shards must match mesh size"
    with pytest.raises(ShapeError) as spec:
        ttnn.from_host_shards([one, other], ttnn.MeshShape(1, 2))
    assert spec.value.vendor == "All tensor shards must have the same tensor spec"
    with pytest.raises(ArgumentError, match=r"mesh_shape must be a ttnn\.MeshShape, got tuple"):
        ttnn.from_host_shards([one, one], (1, 2))


def test_a_device_of_another_shape_is_refused(device: ttnn.MeshDevice) -> None:
    with pytest.raises(StorageError) as error:
        spread(mapper_of(REPLICATE, REPLICATE)).to(device)
    assert error.value.vendor == (
        "Error: distributed host buffer has different shape MeshShape([2, 4]) than the mesh device MeshShape([1, 1])"
    )


# Files.


@pytest.mark.parametrize("name", CASES)
def test_a_file_keeps_parts_and_topology(name: str, tmp_path: Path) -> None:
    make, expected, _, _ = CASES[name]
    tensor = spread(make(), layout=ttnn.TILE_LAYOUT)
    ttnn.dump_tensor(tmp_path / "a.tensorbin", tensor)
    loaded = ttnn.load_tensor(tmp_path / "a.tensorbin")
    assert (loaded.spec, is_spread_like(loaded, tensor)) == (tensor.spec, True)
    for got, want in zip(parts_of(loaded), expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_equal_parts_are_written_once(tmp_path: Path) -> None:
    path = tmp_path / "a.tensorbin"
    ttnn.dump_tensor(path, spread(mapper_of(REPLICATE, REPLICATE)))
    assert VALUES.nbytes <= path.stat().st_size < 2 * VALUES.nbytes
    buffer = ttnn.load_tensor(path).host_buffer()
    assert np.shares_memory(buffer.get_shard(ALL[0]), buffer.get_shard(ALL[7]))


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (ONE_PART._replace(coords=ALL[:1] * 2, offsets=[0, 0]), "2 parts, several on one chip of the mesh"),
        (ONE_PART._replace(coords=ALL[1:2]), r"a part outside of the mesh MeshShape\(\[1, 1\]\)"),
        (ONE_PART._replace(coords=[], offsets=[]), "has no parts"),
        (Stored(MESH, ALL[:2], [0, 4096], ONE_PART.topology), "has a part from byte"),
    ],
)
def test_files_with_impossible_parts(stored: Stored, message: str, tmp_path: Path) -> None:
    spec = ttnn.from_torch(VALUES[:1]).spec
    path = tmp_path / "a.tensorbin"
    path.write_bytes(header_bytes(spec, spec.raw_bytes, stored) + bytes(spec.raw_bytes))
    with pytest.raises(FileFormatError, match=message):
        ttnn.load_tensor(path)


PAIR = ttnn.MeshShape(1, 2)


def topology(shape: list[int], dim: int, *chips: tuple[int, int]) -> ttnn.TensorTopology:
    return ttnn.TensorTopology(ttnn.MeshShape(shape), [shard(dim)] * len(shape), coords(*chips))


@pytest.mark.parametrize(
    ("mesh", "spread_over", "message"),
    [
        (ttnn.MeshShape(60000, 60000), ONE_PART.topology, "3600000000 chips, expected at most 8, and 1 to 1024"),
        (ttnn.MeshShape(0, 2), ONE_PART.topology, "0 chips, expected at most 8, and 1 to 1024"),
        (ttnn.MeshShape([1] * 8 + [2]), ONE_PART.topology, "a vector of 9 elements, expected at most 8"),
        (PAIR, topology([2], 99, (0, 0), (0, 1)), "shards dimension 99, expected -32 to 31"),
        (PAIR, topology([4_000_000_000], 0, (0, 0), (0, 1)), "from 1 chip to those of the mesh"),
        (PAIR, topology([0], 0), "from 1 chip to those of the mesh"),
        (PAIR, topology([2], 0, (0, 0)), r"names 1 chips, MeshShape\(\[2\]\) needs 2"),
        (PAIR, topology([2], 0, (0, 0), (0, 0)), r"names 1 chips, MeshShape\(\[2\]\) needs 2"),
        (PAIR, topology([2], 0, (0, 0), (1, 0)), "which is outside of the mesh"),
        (ttnn.MeshShape(1, 1), topology([1], 0, (0, 1)), "which is outside of the mesh"),
    ],
)
def test_files_with_impossible_meshes_and_topologies(
    mesh: ttnn.MeshShape, spread_over: ttnn.TensorTopology, message: str, tmp_path: Path
) -> None:
    spec = ttnn.from_torch(VALUES[:1]).spec
    path = tmp_path / "a.tensorbin"
    stored = Stored(mesh, ALL[:1], [0], spread_over)
    path.write_bytes(header_bytes(spec, spec.raw_bytes, stored) + bytes(spec.raw_bytes))
    with pytest.raises(FileFormatError, match=message):
        ttnn.load_tensor(path)


def test_topologies_that_no_file_has_are_not_written(tmp_path: Path) -> None:
    tensor = spread(ttnn.ShardTensorToMesh(PAIR, 0), VALUES[:2])
    tensor.update_tensor_topology(topology([2], 0, (0, 0), (1, 0)))
    with pytest.raises(FileFormatError, match=r"outside of the mesh .*; update_tensor_topology sets the topology"):
        ttnn.dump_tensor(tmp_path / "a.tensorbin", tensor)
    # The topology of a part is that of all parts, and has the rank before a reshape.
    tensor = spread(ttnn.ShardTensorToMesh(PAIR, 3), VALUES[None, None]).reshape(16, 12)
    ttnn.dump_tensor(tmp_path / "a.tensorbin", tensor)
    assert ttnn.load_tensor(tmp_path / "a.tensorbin").tensor_topology() == tensor.tensor_topology()


def with_shared_coordinate(places: int, numbers: int) -> bytes:
    """Return a file with parts and a topology of one coordinate."""
    builder = Builder()
    coordinate = builder.table((0, "ref", builder.numbers([0] * numbers)))
    storage = builder.structure("QQ", 8, 0, 4)
    part = builder.table((2, "ref", coordinate), (1, "ref", storage), (0, "B", 1))
    parts, chips = builder.references([part] * places), builder.references([coordinate] * places)
    placements = builder.references([builder.table((1, "i", -1))])
    one = builder.table((0, "ref", builder.numbers([1])))
    spread_over = builder.table((2, "ref", chips), (1, "ref", placements), (0, "ref", one))
    memory, pages = builder.table((1, "H", 0)), builder.table()
    alignment, shape = builder.numbers([1]), builder.numbers([1])
    layout = builder.table((4, "ref", alignment), (3, "ref", memory), (2, "ref", pages), (1, "B", 1), (0, "B", 1))
    described = builder.table((1, "ref", layout), (0, "ref", shape))
    header = builder.finish(
        builder.table((3, "ref", spread_over), (2, "ref", parts), (1, "ref", one), (0, "ref", described))
    )
    header += bytes(-(len(header) + 8) % 64)
    return struct.pack("<Q", len(header)) + header + bytes(4)


@pytest.mark.parametrize(
    ("places", "numbers", "message"),
    [
        (20_000, 1, "a vector of 20000 elements, expected at most 1024"),
        (1024, 8, "1024 parts, several on one chip"),
        (1024, 20_000, "a vector of 20000 elements, expected at most 8"),
    ],
)
def test_vectors_that_many_parts_share(places: int, numbers: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tensorbin"
    path.write_bytes(with_shared_coordinate(places, numbers))
    began = time.monotonic()
    with pytest.raises(FileFormatError, match=message):
        ttnn.load_tensor(path)
    assert time.monotonic() - began < 2


def test_parts_of_empty_tensors_begin_inside_of_the_file(tmp_path: Path) -> None:
    spec, path = ttnn.from_torch(VALUES[:0]).spec, tmp_path / "a.tensorbin"
    for offsets in ([0, 2**64 - 1], [2**63, 0]):
        header = header_bytes(spec, 0, Stored(PAIR, ALL[:2], offsets, ONE_PART.topology))
        path.write_bytes(header)
        with pytest.raises(FileFormatError, match=rf"a part from byte \d+ on and {len(header)} B"):
            ttnn.load_tensor(path)


def test_parts_in_another_order_go_to_their_chips(tmp_path: Path) -> None:
    mesh = ttnn.MeshShape(1, 2)
    whole = spread(ttnn.ShardTensorToMesh(mesh, 0), VALUES[:2])
    size, path = whole.spec.raw_bytes, tmp_path / "a.tensorbin"
    stored = Stored(mesh, coords((0, 1), (0, 0)), [0, size], whole.tensor_topology())
    path.write_bytes(header_bytes(whole.spec, size, stored) + VALUES[1].tobytes() + VALUES[0].tobytes())
    loaded = ttnn.load_tensor(path)
    assert loaded.device_coords() == coords((0, 0), (0, 1))
    device = ttnn.open_mesh_device(mesh)
    try:
        for tensor in (loaded, ttnn.to_device(loaded, device), ttnn.load_tensor(path, device=device)):
            np.testing.assert_array_equal(np.concatenate(parts_of(tensor)), VALUES[:2])
            np.testing.assert_array_equal(tensor.to_numpy(ttnn.ConcatMeshToTensor(mesh, 0)), VALUES[:2])
    finally:
        ttnn.close_mesh_device(device)


def test_parts_are_in_the_order_of_their_chips() -> None:
    first, second = (np.full(4, number, np.uint8) for number in (1, 2))
    parts = Parts(iter([second, first]), iter(coords((1, 0), (0, 3))), MESH)
    for each in (parts, parts.with_buffers(parts), copy.copy(parts), pickle.loads(pickle.dumps(parts))):
        assert each.coords == tuple(coords((0, 3), (1, 0)))
        assert [raw[0] for raw in each] == [1, 2]


def test_cache_files_of_distributed_tensors(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def cached(mapper: Any) -> ttnn.Tensor:
        return ttnn.as_tensor(VALUES, ttnn.float32, cache_file_name=tmp_path / "w", mesh_mapper=mapper)

    mapper = mapper_of(shard(0), shard(1))
    for _ in range(2):
        np.testing.assert_array_equal(cached(mapper).to_numpy(composer_of(0, 1)), VALUES)
    assert not caplog.records
    # Another distribution of equal shapes is not that of the file.
    other = mapper_of(shard(0), shard(1), shape=ttnn.MeshShape(1, 8))
    assert cached(other).shape == ttnn.Shape([16, 3])
    assert "the cache file is replaced" in caplog.text
    # A replicated tensor is stored as one part, for any mesh.
    assert cached(ttnn.ReplicateTensorToMesh(MESH)).device_coords() == coords((0, 0))


def test_cache_files_of_shards_are_not_those_of_whole_tensors(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def cached(mapper: Any, values: Array) -> ttnn.Tensor:
        return ttnn.as_tensor(values, ttnn.float32, cache_file_name=tmp_path / "w", mesh_mapper=mapper)

    for whole in (None, ttnn.ReplicateTensorToMesh(MESH)):
        # Parts of (2, 24), as the whole tensor is.
        cached(ttnn.ShardTensorToMesh(MESH, 0), VALUES)
        caplog.clear()
        for _ in range(2):
            np.testing.assert_array_equal(cached(whole, VALUES[:2] + 1).to_numpy(), VALUES[:2] + 1)
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert "expected a tensor of one part, or replicated on the mesh" in caplog.text


@pytest.mark.parametrize(
    "make",
    [
        lambda: None,
        lambda: ttnn.ShardTensorToMesh(MESH, 1),
        lambda: ttnn.ShardTensorToMesh(ttnn.MeshShape(1, 8), 0),
        lambda: ttnn.ShardTensorToMesh(ttnn.MeshShape(1, 2), 0),
        lambda: ttnn.ShardTensor2dMesh(MESH, (2, 4), (0, 1)),
        lambda: ttnn.ShardTensor2dMesh(MESH, (2, 4), (None, 0)),
        lambda: ttnn.replicate_tensor_to_mesh_mapper(MESH),
    ],
)
def test_cache_files_of_other_distributions_are_refused(make: Callable[[], Any], tmp_path: Path) -> None:
    def cached(mapper: Any, values: Array | None = None) -> ttnn.Tensor:
        return ttnn.as_tensor(values, ttnn.float32, cache_file_name=tmp_path / "w", mesh_mapper=mapper)

    mapper = ttnn.ShardTensorToMesh(MESH, 0)
    cached(mapper, VALUES)
    # Without values there is no shape to compare, and nothing to replace the file.
    np.testing.assert_array_equal(cached(mapper).to_numpy(ttnn.ConcatMeshToTensor(MESH, 0)), VALUES)
    with pytest.raises(FileFormatError, match=r"holds (8 parts|a tensor) of distribution"):
        cached(make())


def test_cache_files_of_the_same_distribution_of_another_mesh(tmp_path: Path) -> None:
    def cached(mesh: ttnn.MeshShape, values: Array | None = None) -> ttnn.Tensor:
        mapper = ttnn.ShardTensor2dMesh(mesh, (2, 2), (0, 1))
        return ttnn.as_tensor(values, ttnn.float32, cache_file_name=tmp_path / "w", mesh_mapper=mapper)

    cached(MESH, VALUES)
    with pytest.raises(
        FileFormatError, match=r"on the mesh MeshShape\(\[2, 4\]\); expected 4 of .* on MeshShape\(\[4, 2"
    ):
        cached(ttnn.MeshShape(4, 2))
    assert cached(ttnn.MeshShape(4, 2), VALUES).host_buffer().shape() == ttnn.MeshShape(4, 2)


# Meshes that were reshaped.


def slices_of(capsys: pytest.CaptureFixture[str], tensor: ttnn.Tensor) -> dict[str, str]:
    """Return the printed elements of each chip."""
    ttnn.visualize_tensor(tensor)
    found: dict[str, str] = {}
    chips: list[str] = []
    for line in capsys.readouterr().out.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if any(cell.startswith("(") for cell in cells):
            chips = cells
        found |= {chip: cell for chip, cell in zip(chips, cells, strict=False) if cell.startswith("[")}
    return found


@pytest.mark.parametrize(("before", "after"), [((2, 4), (1, 8)), ((2, 4), (4, 2)), ((1, 8), (2, 4)), ((4, 2), (8, 1))])
@pytest.mark.parametrize("rows", [8, 7])
def test_tables_after_a_reshape_of_the_mesh(
    before: tuple[int, int], after: tuple[int, int], rows: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    device = ttnn.open_mesh_device(ttnn.MeshShape(*before))
    try:
        values = np.arange(rows, dtype=np.float32)[:, None]
        tensor = ttnn.from_torch(values, device=device, mesh_mapper=ttnn.ShardTensorToMesh(device, 0))
        device.reshape(ttnn.MeshShape(*after))
        expected = {
            f"({coord[0]}, {coord[1]})": f"[{number}:{number + 1}, :]"
            for coord, part in zip(tensor.device_coords(), ttnn.get_device_tensors(tensor), strict=True)
            for number in [int(part.to_numpy().item())]
        }
        assert len(expected) == rows
        ttnn.dump_tensor(tmp_path / "a.tensorbin", tensor)
        loaded = ttnn.load_tensor(tmp_path / "a.tensorbin")
        for each in (tensor, ttnn.from_device(tensor), loaded, ttnn.to_device(loaded, device)):
            assert slices_of(capsys, each) == expected
    finally:
        ttnn.close_mesh_device(device)


def test_chips_of_several_former_orders_are_an_error(tmp_path: Path) -> None:
    device = ttnn.open_mesh_device(ttnn.MeshShape(1, 8))
    try:
        tensor = ttnn.from_torch(VALUES, device=device, mesh_mapper=ttnn.ShardTensorToMesh(device, 0))
        # A row of chips may have been in the order of the opened mesh, or in that of the rows of this shape.
        device.reshape(ttnn.MeshShape(4, 2))
        with pytest.raises(ParameterError, match="After a reshape of the mesh the chips have other coordinates"):
            ttnn.visualize_tensor(tensor)
        with pytest.raises(FileFormatError, match="outside of the mesh"):
            ttnn.dump_tensor(tmp_path / "a.tensorbin", tensor)
    finally:
        ttnn.close_mesh_device(device)

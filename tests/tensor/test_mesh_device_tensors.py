"""Tensors on meshes of several chips: transfer, parts, topologies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import DeviceError, ParameterError, ShapeError, StorageError
from ttnn.tensor.host_buffer import Array

VALUES = np.arange(64 * 128, dtype=np.float32).reshape(64, 128)
REPLICATE = ttnn.PlacementReplicate()


@pytest.fixture(scope="module")
def mesh() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    yield opened
    ttnn.close_mesh_device(opened)


def shard(dim: int) -> ttnn.PlacementShard:
    return ttnn.PlacementShard(dim)


def on_mesh(mesh: ttnn.MeshDevice, mapper: Any = None, values: Array = VALUES, **options: Any) -> ttnn.Tensor:
    return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper, **options)


def two_dims(mesh: ttnn.MeshDevice) -> ttnn.CppTensorToMesh:
    return ttnn.ShardTensor2dMesh(mesh, (2, 4), (0, 1))


def rows_and_columns(mesh: ttnn.MeshDevice) -> ttnn.CppMeshToTensor:
    return ttnn.ConcatMesh2dToTensor(mesh, (2, 4), (0, 1))


BLOCKS = [block for row in np.split(VALUES, 2) for block in np.split(row, 4, 1)]


def test_each_chip_has_its_part(mesh: ttnn.MeshDevice) -> None:
    tensor = on_mesh(mesh, two_dims(mesh))
    assert (tensor.shape, tensor.padded_shape) == (ttnn.Shape([32, 32]), ttnn.Shape([32, 32]))
    for part, want in zip(ttnn.get_device_tensors(tensor), BLOCKS, strict=True):
        np.testing.assert_array_equal(part.to_numpy(), want)
    np.testing.assert_array_equal(tensor.to_numpy(rows_and_columns(mesh)), VALUES)
    assert tensor.device_coords() == mesh.coordinates()
    host = ttnn.from_device(tensor)
    assert host.tensor_topology() == tensor.tensor_topology()
    assert tensor.tensor_topology().placements() == [shard(0), shard(1)]
    np.testing.assert_array_equal(host.to_numpy(rows_and_columns(mesh)), VALUES)


def test_a_tensor_without_a_mapper_is_on_every_chip(mesh: ttnn.MeshDevice) -> None:
    tensor = on_mesh(mesh)
    for part in ttnn.get_device_tensors(tensor):
        np.testing.assert_array_equal(part.to_numpy(), VALUES)
    whole = ttnn.TensorTopology(mesh.shape, [REPLICATE, REPLICATE], mesh.coordinates())
    empty = ttnn.allocate_tensor_on_device(tensor.spec, mesh)
    for made in (tensor, tensor.cpu(), empty, ttnn.get_device_tensors(tensor)[3]):
        assert made.tensor_topology() == whole
    # The topology of one chip does not describe a tensor that is replicated on several.
    one = ttnn.from_torch(VALUES, mesh_mapper=ttnn.ShardTensorToMesh(ttnn.MeshShape(1, 1), 0))
    assert one.to(mesh).tensor_topology() == whole
    with pytest.raises(StorageError, match="has 8 parts on the mesh"):
        tensor.to_numpy()


@pytest.mark.parametrize("rows", [1, 5, 7])
def test_fewer_parts_than_chips_are_on_the_first_chips(mesh: ttnn.MeshDevice, rows: int) -> None:
    tensor = on_mesh(mesh, ttnn.ShardTensorToMesh(mesh, 0), VALUES[:rows])
    chips = mesh.coordinates()[:rows]
    assert (tensor.device_coords(), tensor.tensor_topology().mesh_coords()) == (chips, chips)
    assert tensor.buffers[0].places == list(range(rows))
    np.testing.assert_array_equal(tensor.to_numpy(ttnn.ConcatMeshToTensor(mesh, 0)), VALUES[:rows])
    assert [part.to_numpy().tolist() for part in ttnn.get_device_tensors(tensor)] == [
        [r.tolist()] for r in VALUES[:rows]
    ]
    back = tensor.cpu()
    assert back.device_coords() == chips
    again = back.to(mesh)
    assert again.buffers[0].places == tensor.buffers[0].places
    np.testing.assert_array_equal(again.to_numpy(ttnn.ConcatMeshToTensor(mesh, 0)), VALUES[:rows])


def test_operators_compute_with_the_parts(mesh: ttnn.MeshDevice) -> None:
    a, b = on_mesh(mesh, two_dims(mesh)), on_mesh(mesh, values=np.full((32, 32), 2, np.float32))
    for result, want in ((ttnn.multiply(a, b), 2 * VALUES), (ttnn.add(a, a), 2 * VALUES)):
        assert result.tensor_topology() == a.tensor_topology()
        np.testing.assert_array_equal(result.to_numpy(rows_and_columns(mesh)), want)
    rows = ttnn.to_layout(a, ttnn.ROW_MAJOR_LAYOUT)
    np.testing.assert_array_equal(rows.to_numpy(rows_and_columns(mesh)), VALUES)


def test_a_submesh_distributes_over_its_chips(mesh: ttnn.MeshDevice) -> None:
    part = mesh.create_submesh(ttnn.MeshShape(2, 2), ttnn.MeshCoordinate(0, 2))
    tensor = on_mesh(part, ttnn.ShardTensor2dMesh(part, (2, 2), (0, 1)))
    assert tensor.buffers[0].places == [2, 3, 6, 7]
    assert tensor.device_coords() == part.coordinates()
    np.testing.assert_array_equal(tensor.to_numpy(ttnn.ConcatMesh2dToTensor(part, (2, 2), (0, 1))), VALUES)
    with pytest.raises(StorageError, match=r"distributed over the mesh MeshShape\(\[2, 2\]\), the device is"):
        tensor.cpu().to(mesh)


# Apart and together.


def test_parts_are_views(mesh: ttnn.MeshDevice) -> None:
    tensor = on_mesh(mesh, two_dims(mesh))
    parts = ttnn.get_device_tensors(tensor)
    assert {part.buffer_address() for part in parts} == {tensor.buffer_address()}
    assert [part.device_coords() for part in parts] == [[coord] for coord in mesh.coordinates()]
    assert all(part.device() is mesh and part.tensor_topology() == tensor.tensor_topology() for part in parts)
    new = np.full((32, 32), -1, np.float32)
    ttnn.copy_host_to_device_tensor(ttnn.from_torch(new, layout=ttnn.TILE_LAYOUT), parts[5])
    expected = np.array(VALUES)
    expected[32:, 32:64] = -1
    np.testing.assert_array_equal(tensor.to_numpy(rows_and_columns(mesh)), expected)
    assert [part.to_numpy().shape for part in ttnn.get_device_tensors(parts[5])] == [(32, 32)]
    tensor.deallocate(force=True)
    with pytest.raises(StorageError, match="deallocated"):
        parts[5].to_numpy()


def test_parts_become_one_tensor(mesh: ttnn.MeshDevice) -> None:
    tensor = on_mesh(mesh, two_dims(mesh))
    parts = ttnn.get_device_tensors(tensor)
    address, topology = tensor.buffer_address(), tensor.tensor_topology()
    del tensor
    whole = ttnn.combine_device_tensors(tensors=parts[::-1])
    assert (whole.buffer_address(), whole.tensor_topology()) == (address, topology)
    np.testing.assert_array_equal(whole.to_numpy(rows_and_columns(mesh)), VALUES)
    row = ttnn.combine_device_tensors(tensors=[parts[6], parts[4]])
    assert row.device_coords() == [ttnn.MeshCoordinate(1, 0), ttnn.MeshCoordinate(1, 2)]
    again = ttnn.combine_device_tensors(tensors=[row, parts[5], parts[7]])
    for part, want in zip(ttnn.get_device_tensors(again), BLOCKS[4:], strict=True):
        np.testing.assert_array_equal(part.to_numpy(), want)


def test_what_is_no_part_cannot_be_combined(mesh: ttnn.MeshDevice) -> None:
    first, second = on_mesh(mesh, two_dims(mesh)), on_mesh(mesh, two_dims(mesh))
    parts, others = ttnn.get_device_tensors(first), ttnn.get_device_tensors(second)
    cases: list[tuple[list[ttnn.Tensor], type[Exception], str]] = [
        ([], ShapeError, "At least one tensor shard must be provided"),
        ([parts[0], others[1]], StorageError, "tensor shards must be allocated on the same mesh buffer"),
        ([parts[0], parts[3], parts[3]], StorageError, "duplicate coordinate MeshCoordinate([0, 3])"),
        ([parts[0], ttnn.to_dtype(parts[1].cpu(), ttnn.bfloat16)], ShapeError, "must have the same tensor spec"),
        ([parts[0].cpu()], StorageError, "Input tensor must be on device"),
    ]
    for tensors, error, vendor in cases:
        with pytest.raises(error) as raised:
            ttnn.combine_device_tensors(tensors=tensors)
        assert vendor in raised.value.vendor
    with pytest.raises(TypeError):
        ttnn.combine_device_tensors(parts)


# Copies, text and memory.


def test_copies_to_and_from_host_tensors(mesh: ttnn.MeshDevice) -> None:
    target = ttnn.allocate_tensor_on_device(on_mesh(mesh, two_dims(mesh)).spec, mesh)
    source = ttnn.from_torch(VALUES, layout=ttnn.TILE_LAYOUT, mesh_mapper=two_dims(mesh))
    ttnn.copy_host_to_device_tensor(source, target)
    np.testing.assert_array_equal(target.to_numpy(rows_and_columns(mesh)), VALUES)
    host = ttnn.allocate_tensor_on_host(target.spec, mesh)
    assert (host.device_coords(), host.to_numpy(rows_and_columns(mesh)).any()) == (mesh.coordinates(), False)
    ttnn.copy_device_to_host_tensor(target, host)
    np.testing.assert_array_equal(host.to_numpy(rows_and_columns(mesh)), VALUES)
    same = ttnn.from_torch(np.ones((32, 32), np.float32), layout=ttnn.TILE_LAYOUT)
    ttnn.copy_host_to_device_tensor(same, target)
    assert (target.to_numpy(rows_and_columns(mesh)) == 1).all()
    few = ttnn.from_torch(
        VALUES[:32], layout=ttnn.TILE_LAYOUT, mesh_mapper=ttnn.ShardTensor2dMesh(mesh, (1, 4), (0, 1))
    )
    with pytest.raises(StorageError, match="is distributed over 4 chips"):
        ttnn.copy_host_to_device_tensor(few, target)


def test_partial_copies_of_parts(mesh: ttnn.MeshDevice) -> None:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0))])
    config = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
        ttnn.BufferType.L1,
        ttnn.ShardSpec(cores, [32, 128], ttnn.ShardOrientation.ROW_MAJOR),
    )
    values = np.concatenate([VALUES + 10000 * chip for chip in range(8)])
    mapper = ttnn.ShardTensorToMesh(mesh, 0)
    source = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)
    target = ttnn.from_torch(0 * values, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper, device=mesh, memory_config=config)
    ttnn.copy_host_to_device_tensor_partial(source, target, ttnn.CoreRangeSet([ttnn.CoreRange((1, 0), (1, 0))]))
    expected = values.reshape(8, 2, 32, 128) * np.array([0, 1], np.float32).reshape(1, 2, 1, 1)
    np.testing.assert_array_equal(target.to_numpy(ttnn.ConcatMeshToTensor(mesh, 0)), expected.reshape(values.shape))
    for part, want in zip(ttnn.get_device_tensors(target.extract_shard(1)), expected[:, 1], strict=True):
        np.testing.assert_array_equal(part.to_numpy(), want[None, None])


def test_text_names_the_chips(mesh: ttnn.MeshDevice) -> None:
    tensor = on_mesh(mesh, ttnn.ShardTensorToMesh(mesh, 0), VALUES[:2, :2])
    tail = "shape=Shape([1, 2]), dtype=DataType::FLOAT32, layout=Layout::TILE)"
    first, second = mesh.get_device_ids()[:2]
    assert str(tensor) == (
        f"device_id: {first}, MeshCoordinate([0, 0])\nttnn.Tensor([[ 0.0000,  1.0000]], {tail}\n"
        f"device_id: {second}, MeshCoordinate([0, 1])\nttnn.Tensor([[128.0000, 129.0000]], {tail}"
    )
    tensor.deallocate()
    assert str(tensor).startswith("ttnn.Tensor(<buffer is not allocated>")


@pytest.mark.parametrize(
    "change",
    [
        lambda tensor: ttnn.reallocate(tensor),
        lambda tensor: ttnn.Tensor(tensor),
        lambda tensor: ttnn.experimental.quantize_weights_via_host(tensor, dtype=ttnn.float32, memory_config=None),
        lambda tensor: ttnn.to_memory_config(tensor, ttnn.L1_MEMORY_CONFIG),
    ],
    ids=["reallocate", "copy", "quantize", "to_memory_config"],
)
def test_moved_tensors_keep_their_parts(mesh: ttnn.MeshDevice, change: Callable[[ttnn.Tensor], ttnn.Tensor]) -> None:
    tensor = on_mesh(mesh, two_dims(mesh))
    topology = tensor.tensor_topology()
    moved = change(tensor)
    assert moved.tensor_topology() == topology
    np.testing.assert_array_equal(moved.to_numpy(rows_and_columns(mesh)), VALUES)


def test_distribute_tensor_to_a_mesh(mesh: ttnn.MeshDevice) -> None:
    whole = ttnn.from_torch(VALUES, dtype=ttnn.bfloat8_b)
    tensor = ttnn.distribute_tensor(whole, two_dims(mesh), mesh)
    assert (tensor.device(), tensor.dtype, tensor.layout) == (mesh, ttnn.bfloat8_b, ttnn.TILE_LAYOUT)
    joined = ttnn.aggregate_tensor(tensor, rows_and_columns(mesh))
    assert joined.host_buffer().get_shard(ttnn.MeshCoordinate(0, 0)).tobytes() == (
        whole.host_buffer().get_shard(ttnn.MeshCoordinate(0, 0)).tobytes()
    )


def test_tables_of_meshes_and_tensors(mesh: ttnn.MeshDevice, capsys: pytest.CaptureFixture[str]) -> None:
    ttnn.visualize_mesh_device(mesh)
    text = capsys.readouterr().out
    assert text.lstrip().startswith("MeshDevice(rows=2, cols=4)\n")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if "Dev. ID" in line]
    numbers = [[int(cell.split(":")[1]) for cell in row] for row in rows]
    assert [number for row in numbers for number in row] == mesh.get_device_ids()
    ttnn.visualize_tensor(on_mesh(mesh, ttnn.ShardTensor2dMesh(mesh, (2, 4), (None, 1))))
    text = capsys.readouterr().out
    assert text.lstrip().startswith("Tensor(storage: StorageType.DEVICE)\n")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "[:" in line]
    assert cells == [["[:, 0:32]", "[:, 32:64]", "[:, 64:96]", "[:, 96:128]"]] * 2
    assert text.count("Shape: [64, 32]") == text.count("Layout: TILE") == 8
    # A chip without a part has its coordinate only.
    ttnn.visualize_tensor(ttnn.from_torch(VALUES[:7], mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0)))
    text = capsys.readouterr().out
    assert (text.count("Shape: [1, 128]"), text.count("(1, 3)"), text.count("[6:7, :]")) == (7, 1, 1)


@pytest.mark.parametrize(
    ("shape", "dim", "chips", "sentence"),
    [
        ([2], 9, [(0, 0), (0, 1)], "shards dimension 9, the tensor has 2"),
        ([2], 0, [(0, 0), (1, 1)], r"has parts on .*, its topology places 2 on"),
        ([4_000_000_000], 0, [(0, 0), (0, 1)], "its topology places 4000000000 on"),
    ],
)
def test_tables_of_topologies_of_other_tensors_are_errors(
    shape: list[int], dim: int, chips: list[tuple[int, int]], sentence: str
) -> None:
    tensor = ttnn.from_torch(VALUES[:2], mesh_mapper=ttnn.ShardTensorToMesh(ttnn.MeshShape(1, 2), 0))
    coords = [ttnn.MeshCoordinate(*chip) for chip in chips]
    tensor.update_tensor_topology(ttnn.TensorTopology(ttnn.MeshShape(shape), [shard(dim)], coords))
    with pytest.raises(ParameterError, match=sentence):
        ttnn.visualize_tensor(tensor)


def test_meshes_that_are_too_large_have_no_mapper() -> None:
    with pytest.raises(DeviceError, match=r"expected a mesh of 1 to 1024 chips, got MeshShape\(\[60000, 60000\]\)"):
        ttnn.ShardTensor2dMesh(ttnn.MeshShape(60000, 60000), (1, 2), (None, 0))


def test_reshaped_parts_are_no_parts(mesh: ttnn.MeshDevice) -> None:
    parts = [ttnn.reshape(part, (1, 32, 32)) for part in ttnn.get_device_tensors(on_mesh(mesh, two_dims(mesh)))]
    with pytest.raises(StorageError, match="the parts have other shapes than the tensor"):
        ttnn.combine_device_tensors(tensors=parts)

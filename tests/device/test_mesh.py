"""One-chip meshes: coordinates, mappers, composers, topologies, tensor parts, events."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import ttnn
from ttnn.base.exceptions import (
    ArgumentError,
    DeviceError,
    IndexRangeError,
    ParameterError,
    ShapeError,
    StorageError,
    UnsupportedError,
)

VALUES = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
REPLICATE, ONE = ttnn.PlacementReplicate(), ttnn.MeshShape(1, 1)
HUGE = 10**5000
"""An int that Python does not write."""


# Coordinates.


def test_ranges_of_coordinates() -> None:
    start, end = ttnn.MeshCoordinate(0, 1), ttnn.MeshCoordinate(1, 2)
    box = ttnn.MeshCoordinateRange(start, end)
    assert (box.start, box.end) == (start, end)
    assert [tuple(place) for place in box] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert end in box
    assert ttnn.MeshCoordinate(0, 0) not in box
    assert ttnn.MeshCoordinateRange(ttnn.MeshShape(2, 3)) == ttnn.MeshCoordinateRange(
        start=ttnn.MeshCoordinate(0, 0), end=end
    )
    assert repr(box) == "MeshCoordinateRange(start=MeshCoordinate([0, 1]), end=MeshCoordinate([1, 2]))"
    with pytest.raises(ParameterError, match=r"MeshCoordinate\(\[0, 1\]\) is before MeshCoordinate") as error:
        ttnn.MeshCoordinateRange(end, start)
    assert error.value.vendor == f"Start coordinate is greater than end coordinate: {end} > {start}"
    with pytest.raises(ParameterError, match=r"has 2 dimensions, MeshCoordinate.* has 3"):
        ttnn.MeshCoordinateRange(start, ttnn.MeshCoordinate(1, 2, 3))


def test_sets_of_ranges_compare_their_chips() -> None:
    def box(x0: int, x1: int) -> ttnn.MeshCoordinateRange:
        return ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(0, x0), ttnn.MeshCoordinate(0, x1))

    joined = ttnn.MeshCoordinateRangeSet(box(0, 1))
    assert joined != ttnn.MeshCoordinateRangeSet(box(0, 2))
    joined.merge(box(2, 2))
    assert joined == ttnn.MeshCoordinateRangeSet(box(0, 2))
    assert repr(joined) == f"MeshCoordinateRangeSet([{box(0, 2)}])"


def test_ranges_are_walked_without_being_held() -> None:
    huge = ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(10**9, 10**9))
    assert [*itertools.islice(huge, 2)] == [ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 1)]
    part = ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(1, 2), ttnn.MeshCoordinate(2, 3))
    assert [tuple(place) for place in part] == [(1, 2), (1, 3), (2, 2), (2, 3)]
    ranges = ttnn.MeshCoordinateRangeSet(part)
    ranges.merge(huge)
    assert ranges == ttnn.MeshCoordinateRangeSet(huge)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ttnn.MeshShape(HUGE, 1),
            r"^MeshShape\(\): expected ints from 0 to 4294967295, got list with an int of",
        ),
        (lambda: ttnn.MeshCoordinate([1 << 32]), r"ints from 0 to 4294967295, got \[4294967296\]"),
        (lambda: ttnn.MeshShape(HUGE, "a"), "expected ints or one sequence of ints, got tuple with an int of too many"),
        (lambda: ttnn.MeshShape([1] * 33), "expected 1 to 32 ints that are not negative, got 33"),
        (lambda: ttnn.MeshShape(1, 2)["a"], "^MeshShape: expected the index of a dimension, got 'a'"),
        (lambda: ttnn.SubDeviceId(-HUGE), "expected an int from 0 to 4294967295, got int of 16610 bits"),
    ],
)
def test_numbers_of_shapes_and_coordinates(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()


def test_ranges_of_a_set_join_to_larger_ranges() -> None:
    def column(x: int, y0: int, y1: int) -> ttnn.MeshCoordinateRange:
        return ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(y0, x), ttnn.MeshCoordinate(y1, x))

    chips = ttnn.MeshCoordinateRangeSet(column(0, 0, 1))
    chips.merge(column(1, 1, 1))
    assert repr(chips) == f"MeshCoordinateRangeSet([{column(0, 0, 1)}, {column(1, 1, 1)}])"
    # The last chip completes the column first, and the column the whole mesh.
    chips.merge(column(1, 0, 0))
    assert repr(chips) == f"MeshCoordinateRangeSet([{ttnn.MeshCoordinateRange(ttnn.MeshShape(2, 2))}])"
    with pytest.raises(ParameterError, match="has other dimensions than"):
        chips.merge(ttnn.MeshCoordinateRange(ttnn.MeshShape(1, 1, 1)))


def test_mesh_core_coord_joins_chip_and_core() -> None:
    place = ttnn.MeshCoreCoord(ttnn.MeshCoordinate(0, 0), ttnn.CoreCoord(1, 2))
    assert (place.device_coord, place.core_coord) == (ttnn.MeshCoordinate(0, 0), ttnn.CoreCoord(1, 2))
    assert repr(place) == "MeshCoreCoord(device=MeshCoordinate([0, 0]), core=(1,2))"


# Mappers.

MAPPERS: dict[str, tuple[Callable[[ttnn.MeshDevice], Any], list[Any]]] = {
    "replicate": (ttnn.ReplicateTensorToMesh, [REPLICATE]),
    "in a box": (lambda d: ttnn.ReplicateTensorToMeshWrapper(ttnn.replicate_tensor_to_mesh_mapper(d)), [REPLICATE]),
    "shard": (lambda d: ttnn.ShardTensorToMesh(d, dim=-1), [ttnn.PlacementShard(-1)]),
    "shard function": (lambda d: ttnn.shard_tensor_to_mesh_mapper(d, 0), [ttnn.PlacementShard(0)]),
    "two dimensions": (
        lambda d: ttnn.ShardTensor2dMesh(d, mesh_shape=(1, 1), dims=(None, 2)),
        [REPLICATE, ttnn.PlacementShard(2)],
    ),
    "configuration": (
        lambda d: ttnn.create_mesh_mapper(d, ttnn.MeshMapperConfig([ttnn.PlacementShard(1)], ttnn.MeshShape([1]))),
        [ttnn.PlacementShard(1)],
    ),
    "rows and columns": (
        lambda d: ttnn.create_mesh_mapper(d.shape, ttnn.MeshMapperConfig(row_dim=0, col_dim=None)),
        [ttnn.PlacementShard(0), REPLICATE],
    ),
}


@pytest.mark.parametrize("name", MAPPERS)
def test_a_mapper_is_noted_in_the_topology(device: ttnn.MeshDevice, name: str) -> None:
    make, placements = MAPPERS[name]
    mapper = make(device)
    assert mapper.unwrap().config().placements == placements
    host = ttnn.from_torch(VALUES, mesh_mapper=mapper)
    spread = ttnn.distribute_tensor(ttnn.from_torch(VALUES), mapper, device)
    for tensor in (host, host.to(device), spread, spread.cpu(), ttnn.Tensor(host)):
        topology = tensor.tensor_topology()
        assert topology.placements() == placements
        assert topology.distribution_shape().mesh_size() == 1
        assert topology.mesh_coords() == [ttnn.MeshCoordinate(0, 0)]
        assert torch.equal(tensor.to_torch(), VALUES)


def test_a_tensor_without_a_mapper_is_whole(device: ttnn.MeshDevice) -> None:
    tensor = ttnn.from_torch(VALUES, device=device)
    assert tensor.tensor_topology().placements() == [REPLICATE]
    shard = ttnn.TensorTopology(ttnn.MeshShape([1]), [ttnn.PlacementShard(0)], [ttnn.MeshCoordinate(0, 0)])
    tensor.update_tensor_topology(shard)
    assert tensor.tensor_topology() == shard


@pytest.mark.parametrize("dim", [3, -4])
def test_a_mapper_cuts_dimensions_that_exist(device: ttnn.MeshDevice, dim: int) -> None:
    with pytest.raises(ShapeError, match=rf"^ttnn.from_torch: mesh_mapper names dimension {dim}, the tensor has 3\n"):
        ttnn.from_torch(VALUES, mesh_mapper=ttnn.ShardTensorToMesh(device, dim))
    with pytest.raises(ShapeError, match=rf"^Tensor.to_torch: mesh_composer names dimension {dim}, the tensor has 3\n"):
        ttnn.to_torch(ttnn.from_torch(VALUES), mesh_composer=ttnn.ConcatMeshToTensor(device, dim))


@pytest.mark.parametrize(
    "make",
    [
        lambda d: ttnn.ConcatMeshToTensor(d, dim=0),
        lambda d: ttnn.ConcatMesh2dToTensor(d, (1, 1), dims=(0, -1)),
        lambda d: ttnn.concat_mesh_to_tensor_composer(d, 1),
        lambda d: ttnn.create_mesh_composer(d, ttnn.MeshComposerConfig([0, 1], ONE)),
        lambda d: ttnn.create_mesh_composer(d, ttnn.MeshComposerConfig(0, 1)),
        lambda d: ttnn.create_mesh_composer(d, ttnn.MeshComposerConfig(row_dim=0, col_dim=1)),
    ],
)
def test_composers_join_one_part(device: ttnn.MeshDevice, make: Callable[[ttnn.MeshDevice], Any]) -> None:
    tensor, composer = ttnn.from_torch(VALUES, device=device), make(device)
    assert torch.equal(ttnn.to_torch(tensor, mesh_composer=composer), VALUES)
    assert np.array_equal(ttnn.to_numpy(tensor, mesh_composer=composer), VALUES.numpy())
    joined = ttnn.aggregate_tensor(tensor, composer)
    assert joined.storage_type() is ttnn.StorageType.HOST
    assert torch.equal(joined.to_torch(), VALUES)


def test_distribute_sets_what_is_not_given(device: ttnn.MeshDevice) -> None:
    with ttnn.distribute(ttnn.ShardTensorToMesh(device, 2)):
        assert ttnn.from_torch(VALUES).tensor_topology().placements() == [ttnn.PlacementShard(2)]
        given = ttnn.from_torch(VALUES, mesh_mapper=ttnn.ReplicateTensorToMesh(device))
        assert given.tensor_topology().placements() == [REPLICATE]
    with ttnn.distribute(ttnn.ConcatMeshToTensor(device, 5)), pytest.raises(ShapeError, match="names dimension 5"):
        ttnn.to_torch(ttnn.from_torch(VALUES))
    assert ttnn.from_torch(VALUES).tensor_topology().placements() == [REPLICATE]
    with pytest.raises(ArgumentError, match=r"^ttnn.distribute: expected a mapper or a composer, got int$"):
        ttnn.distribute(3).__enter__()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: ttnn.ShardTensorToMesh(d, "a"), ArgumentError, "ShardTensorToMesh: dim must be an int, got 'a'"),
        (
            lambda d: ttnn.ShardTensorToMesh(d, HUGE),
            ArgumentError,
            "dim must be an int of 32 bits, got int of 16610 bits",
        ),
        (lambda d: ttnn.PlacementShard(-HUGE), ArgumentError, "dim must be an int of 32 bits, got int of 16610 bits"),
        (
            lambda d: ttnn.ConcatMesh2dToTensor(d, (1, 1), (np.array([1, 2]), 1)),
            ArgumentError,
            r"dim must be an int, got array\(\[1, 2\]\)",
        ),
        (
            lambda d: ttnn.TensorTopology(ttnn.MeshShape([1]), [REPLICATE], [[0]]),
            ArgumentError,
            r"expected a MeshShape and a list of MeshCoordinate, got MeshShape\(\[1\]\) and \[\[0\]\]",
        ),
        (lambda d: ttnn.ShardTensorToMesh(3, 0), ArgumentError, "expected a ttnn.MeshDevice, got int"),
        (lambda d: ttnn.ShardTensor2dMesh(d, (1, 2), (0, 1)), DeviceError, r"has 2 chips, the mesh .* has 1"),
        (lambda d: ttnn.ShardTensor2dMesh(d, (1, 1), 0), ArgumentError, "dims must be two dimensions, got 0"),
        (
            lambda d: ttnn.ConcatMesh2dToTensor(d, (1, 1), (0, 0)),
            DeviceError,
            "cannot both be joined along dimension 0",
        ),
        (
            lambda d: ttnn.create_mesh_mapper(d, ttnn.MeshMapperConfig([REPLICATE])),
            DeviceError,
            r"MeshShape\(\[1, 1\]\) has 2 dimensions, MeshMapperConfig",
        ),
        (lambda d: ttnn.MeshMapperConfig([3]), ArgumentError, r"PlacementReplicate or PlacementShard, got \[3\]"),
        (lambda d: ttnn.MeshMapperConfig([REPLICATE], 3), ArgumentError, "expected placements, or row_dim and col_dim"),
        (lambda d: ttnn.MeshComposerConfig(), ArgumentError, "expected dims, or row_dim and col_dim"),
        (lambda d: ttnn.create_mesh_mapper(d, 3), ArgumentError, "config must be a MeshMapperConfig, got int"),
        (lambda d: ttnn.create_mesh_composer(d, 3), ArgumentError, "config must be a MeshComposerConfig, got int"),
        (lambda d: ttnn.CppTensorToMesh(), ArgumentError, "mappers are made with ttnn.create_mesh_mapper"),
        (lambda d: ttnn.CppMeshToTensor(), ArgumentError, "composers are made with ttnn.create_mesh_composer"),
        (lambda d: ttnn.from_torch(VALUES, mesh_mapper=3), UnsupportedError, "mesh_mapper int is not modelled"),
        (lambda d: ttnn.to_torch(ttnn.Tensor(VALUES), mesh_composer=3), UnsupportedError, "mesh_composer int is not"),
        (
            lambda d: ttnn.TensorTopology(ONE, [REPLICATE], [ttnn.MeshCoordinate(0, 0)]),
            ShapeError,
            "1 placements for 2 mesh dimensions",
        ),
        (lambda d: ttnn.Tensor(VALUES).update_tensor_topology(3), ArgumentError, "expected a TensorTopology, got 3"),
    ],
)
def test_wrong_mapper_and_composer_arguments_raise(
    device: ttnn.MeshDevice, call: Callable[[ttnn.MeshDevice], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(device)


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda: ttnn.ShardTensorToMesh(ttnn.MeshShape(0, 4), 0), "MeshShape([0, 4]) of 0"),
        (lambda: ttnn.ShardTensor2dMesh(ttnn.MeshShape(2, 4), (0, 4), (0, 1)), "MeshShape([0, 4]) of 0"),
        (
            lambda: ttnn.create_mesh_mapper(
                ttnn.MeshShape(2, 4), ttnn.MeshMapperConfig([REPLICATE], ttnn.MeshShape([0]))
            ),
            "MeshShape([0]) of 0",
        ),
        (lambda: ttnn.ConcatMeshToTensor(ttnn.MeshShape(0, 4), 0), "MeshShape([0, 4]) of 0"),
        (lambda: ttnn.ReplicateTensorToMesh(ttnn.MeshShape(10**4, 10**4)), "MeshShape([10000, 10000]) of 100000000"),
        (lambda: ttnn.ConcatMeshToTensor(ttnn.MeshShape(41, 25), 0), "MeshShape([41, 25]) of 1025"),
        (
            lambda: ttnn.compute_distribution_to_mesh_mapping(ttnn.MeshShape([9]), ttnn.MeshShape(41, 25)),
            "MeshShape([41, 25]) of 1025",
        ),
    ],
)
def test_meshes_have_chips_up_to_a_limit(make: Callable[[], Any], found: str) -> None:
    with pytest.raises(DeviceError) as raised:
        make()
    assert str(raised.value).endswith(f": expected a mesh of 1 to 1024 chips, got {found}")


def test_a_mapper_of_the_largest_mesh() -> None:
    tensor = ttnn.from_torch(VALUES, mesh_mapper=ttnn.ReplicateTensorToMesh(ttnn.MeshShape(32, 32)))
    assert len(ttnn.get_device_tensors(tensor)) == 1024


# Parts.


def test_the_only_part_is_the_tensor(device: ttnn.MeshDevice) -> None:
    tensor = ttnn.from_torch(VALUES, device=device)
    (part,) = ttnn.get_device_tensors(tensor)
    joined = ttnn.combine_device_tensors(tensors=[part])
    assert part.buffer_address() == joined.buffer_address() == tensor.buffer_address()
    host = ttnn.from_host_shards([ttnn.from_torch(VALUES)], ONE)
    assert torch.equal(host.to_torch(), VALUES)
    with pytest.raises(StorageError, match=r"^ttnn.combine_device_tensors: two tensors are parts of chip MeshCoord"):
        ttnn.combine_device_tensors(tensors=[part, part])
    with pytest.raises(StorageError, match=r"^ttnn.combine_device_tensors: the tensor is a host tensor"):
        ttnn.combine_device_tensors(tensors=[host])
    with pytest.raises(ShapeError, match=r"1 tensors for the 2 chips of the mesh MeshShape\(\[1, 2\]\)"):
        ttnn.from_host_shards([host], ttnn.MeshShape(1, 2))


def test_host_buffer_has_the_words_of_all_pages(device: ttnn.MeshDevice) -> None:
    buffer = ttnn.from_torch(VALUES).host_buffer()
    assert buffer.shape() == ONE
    assert buffer.is_local(ttnn.MeshCoordinate(0, 0))
    assert buffer.get_shard(ttnn.MeshCoordinate(0, 0)).tolist() == VALUES.reshape(-1).tolist()
    tiled = ttnn.from_torch(VALUES, dtype=ttnn.bfloat8_b).host_buffer().get_shard(ttnn.MeshCoordinate(0, 0))
    assert (tiled.dtype, tiled.size) == (np.uint8, 2 * 1088)
    with pytest.raises(IndexRangeError, match=r"MeshCoordinate\(\[0, 1\]\) is outside MeshShape\(\[1, 1\]\)$"):
        buffer.get_shard(ttnn.MeshCoordinate(0, 1))
    with pytest.raises(StorageError, match=r"^Tensor.host_buffer: the tensor of Shape\(\[2, 3, 4\]\) is on a device"):
        ttnn.from_torch(VALUES, device=device).host_buffer()


# Events.


def test_events_have_passed(device: ttnn.MeshDevice) -> None:
    event = ttnn.record_event(device, 0, device_range=ttnn.MeshCoordinateRange(ONE))
    ttnn.wait_for_event(cq_id=0, mesh_event=event)
    ttnn.event_synchronize(event)
    assert repr(event) == f"MeshEvent(device {device.id()}, command queue 0)"
    with pytest.raises(DeviceError, match=r"command queues, not 1$"):
        ttnn.wait_for_event(1, event)
    with pytest.raises(DeviceError, match=r"is outside the mesh MeshShape\(\[1, 1\]\)$"):
        ttnn.record_event(device, device_range=ttnn.MeshCoordinateRange(ttnn.MeshShape(1, 2)))
    with pytest.raises(ArgumentError, match=r"^event_synchronize: expected a MeshEvent, got int$"):
        ttnn.event_synchronize(3)
    with pytest.raises(ArgumentError, match=r"^MeshEvent\(\): events are made with ttnn.record_event"):
        ttnn.MeshEvent()


def test_command_queue_block_sets_the_queue_of_the_thread() -> None:
    assert ttnn.get_current_command_queue_id_for_thread() == ttnn.QueueId(0)
    with ttnn.command_queue(1):
        assert ttnn.get_current_command_queue_id_for_thread() == ttnn.QueueId(1)


def test_events_of_a_closed_device() -> None:
    device = ttnn.open_device(device_id=17)
    event = ttnn.record_event(device)
    ttnn.close_device(device)
    with pytest.raises(DeviceError, match=r"^synchronize_device: device 17 is closed$"):
        ttnn.event_synchronize(event)

"""Meshes of several chips: operators on every chip, lockstep allocation, submeshes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import DeviceError, StorageError, TtnnError

SHAPE = (1, 1, 64, 96)
HUGE = 10**5000
"""An int that Python does not write."""


@pytest.fixture
def mesh() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    yield opened
    if opened.is_open:
        ttnn.close_mesh_device(opened)


def filled(mesh: ttnn.MeshDevice, seed: int) -> tuple[ttnn.Tensor, list[ttnn.Tensor]]:
    """Return a tensor with other values on every chip, and these values."""
    values = np.random.default_rng(seed).normal(size=(len(mesh.chips), *SHAPE)).astype(np.float32)
    hosts = [ttnn.Tensor(part, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT) for part in values]
    tensor = ttnn.zeros(SHAPE, ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh)
    for chip, host in zip(mesh.chips, hosts, strict=True):
        write(tensor, chip.place, host)
    return tensor, hosts


def write(tensor: ttnn.Tensor, place: int, host: ttnn.Tensor) -> None:
    row = tensor.spec.page_grid[1] * tensor.spec.page_bytes
    tensor.buffers[0].write(host._require_host("test"), row, place=place)


def bits(tensor: ttnn.Tensor, place: int = 0) -> bytes:
    row = tensor.spec.page_grid[1] * tensor.spec.page_bytes
    return tensor.buffers[0].read(row, tensor.spec.page_grid[0], place=place).tobytes()


def program(a: ttnn.Tensor, b: ttnn.Tensor) -> list[ttnn.Tensor]:
    product = ttnn.matmul(a, ttnn.transpose(b, -2, -1))
    return [product, ttnn.softmax(product, dim=-1), ttnn.add(a, b), ttnn.exp(a), ttnn.sum(b, dim=-1)]


def test_every_chip_computes_with_its_own_values(mesh: ttnn.MeshDevice) -> None:
    (a, hosts_a), (b, hosts_b) = filled(mesh, 1), filled(mesh, 2)
    # The second and third call run cached programs.
    for results in (program(a, b), program(a, b), program(a, b)):
        one = ttnn.open_device(device_id=30)
        for chip, left, right in zip(mesh.chips, hosts_a, hosts_b, strict=True):
            expected = program(ttnn.to_device(left, one), ttnn.to_device(right, one))
            assert [bits(tensor, chip.place) for tensor in results] == [bits(tensor) for tensor in expected]
        ttnn.close_device(one)


def test_a_mesh_counts_a_program_once(mesh: ttnn.MeshDevice) -> None:
    a, _ = filled(mesh, 1)
    before = mesh.num_program_cache_entries()
    ttnn.exp(a)
    assert mesh.num_program_cache_entries() == before + 1


def test_a_buffer_has_one_address_and_submeshes_share_the_allocator(mesh: ttnn.MeshDevice) -> None:
    left, right = mesh.create_submeshes(ttnn.MeshShape(2, 2))
    tensors = [ttnn.zeros(SHAPE, ttnn.bfloat16, ttnn.TILE_LAYOUT, part) for part in (mesh, left, right, mesh)]
    addresses = [tensor.buffer_address() for tensor in tensors]
    assert len(set(addresses)) == 4
    assert [tensor.buffers[0].places for tensor in tensors[1:3]] == [[0, 1, 4, 5], [2, 3, 6, 7]]
    assert (left.get_device_ids(), right.get_num_devices()) == (
        [mesh.get_device_ids()[place] for place in (0, 1, 4, 5)],
        4,
    )
    assert mesh.get_submeshes() == [left, right]


def test_a_submesh_computes_on_its_chips_alone(mesh: ttnn.MeshDevice) -> None:
    part = mesh.create_submesh(ttnn.MeshShape(1, 2), ttnn.MeshCoordinate(1, 1))
    tensor = ttnn.full(SHAPE, 2.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=part)
    result = ttnn.add(tensor, 1.0)
    assert result.device() is part
    three = ttnn.Tensor(np.full(SHAPE, 3.0, np.float32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    assert [bits(result, place) for place in (5, 6)] == [three._require_host("test").tobytes()] * 2
    whole = ttnn.zeros(SHAPE, ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh)
    with pytest.raises(DeviceError, match=r"^ttnn.add: the tensors are on different meshes.*1x2 grid.*2x4 grid"):
        ttnn.add(result, whole)
    with pytest.raises(DeviceError, match="different meshes"):
        ttnn.add(whole, result)
    part.close()
    with pytest.raises(DeviceError, match="closed"):
        ttnn.exp(result)
    assert bits(ttnn.add(whole, 3.0), 5) == three._require_host("test").tobytes()


def test_closing_a_mesh_closes_its_submeshes(mesh: ttnn.MeshDevice) -> None:
    parts = mesh.create_submeshes(ttnn.MeshShape(1, 4))
    tensor = ttnn.zeros(SHAPE, ttnn.bfloat16, ttnn.TILE_LAYOUT, parts[0])
    ttnn.close_mesh_device(mesh)
    assert not any(part.is_open for part in parts)
    with pytest.raises((DeviceError, StorageError)):
        ttnn.exp(tensor)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda mesh: mesh.mesh_command_queue().enqueue_record_event((), 5), "must be a MeshCoordinateRange, got int"),
        (lambda mesh: mesh.create_sub_device_manager(5, 0), "expected a list of SubDevice, got 5"),
        (lambda mesh: mesh.create_sub_device_manager(np.array([1, 2]), 0), "expected a list of SubDevice, got array"),
        (lambda mesh: mesh.create_sub_device_manager([], 0), "expected at least one SubDevice"),
        (lambda mesh: ttnn.cluster.set_link_state(0, [0], 0, False), r"must be N, E, S or W, got \[0\]"),
        (
            lambda mesh: ttnn._ttnn.multi_device.SystemMeshDescriptor().is_local(5),
            "expected a ttnn.MeshCoordinate, got int",
        ),
        (lambda mesh: mesh.command_queue(HUGE), "queue int of 16610 bits does not exist"),
        (lambda mesh: ttnn.get_num_links(mesh, HUGE), "must be one of 2 axes, got int of 16610 bits"),
        (lambda mesh: ttnn.execute_trace(mesh, HUGE), "the device has no trace int of 16610 bits"),
        (lambda mesh: mesh.worker_core_from_logical_core((HUGE, 0)), "must be below 2.64, got int of 16610 bits and 0"),
        (lambda mesh: mesh.get_device_id(HUGE), "expected a MeshCoordinate, got int of 16610 bits"),
        (lambda mesh: mesh.create_sub_device_manager([HUGE], 0), "got list with an int of too many digits"),
        (lambda mesh: mesh.load_sub_device_manager(HUGE), "expected a SubDeviceManagerId, got int of 16610 bits"),
        (lambda mesh: ttnn.ShardTensor2dMesh(mesh, HUGE, (0, 1)), "must be two ints, got int of 16610 bits"),
        (lambda mesh: ttnn.set_fabric_config(HUGE), "must be a FabricConfig, got int int of 16610 bits"),
        (lambda mesh: ttnn.open_device(device_id=9, chip=HUGE), "chip must be one of .*, got int of 16610 bits"),
        (lambda mesh: ttnn.command_queue(HUGE).__enter__(), "queues 0 and 1, got int of 16610 bits"),
    ],
)
def test_wrong_arguments_of_a_mesh(mesh: ttnn.MeshDevice, call: object, sentence: str) -> None:
    with pytest.raises(TtnnError, match=sentence):
        call(mesh)  # type: ignore[operator]


@pytest.mark.parametrize("shape", [[8], [1, 1, 8], [1, 1, 1, 8], [8, 1, 1, 1]])
def test_meshes_of_other_numbers_of_dimensions(shape: list[int]) -> None:
    device = ttnn.open_mesh_device(ttnn.MeshShape(shape))
    half = ttnn.MeshShape([4 if size == 8 else 1 for size in shape])
    try:
        assert [tuple(place) for place in device.coordinates()] == [*itertools.product(*map(range, shape))]
        ids = device.get_device_ids()
        assert device.create_submesh(half).get_device_ids() == ids[:4]
        assert [part.get_device_ids() for part in device.create_submeshes(half)] == [ids[:4], ids[4:]]
        values = np.arange(8 * 32, dtype=np.float32).reshape(8, 32)
        tensor = ttnn.from_torch(values, device=device, mesh_mapper=ttnn.ShardTensorToMesh(device, 0))
        assert len(tensor.device_coords()) == 8
        assert repr(tensor)
        joined = ttnn.to_torch(tensor, mesh_composer=ttnn.ConcatMeshToTensor(device, 0))
        assert (joined.numpy() == values).all()
    finally:
        ttnn.close_mesh_device(device)


@pytest.mark.parametrize("shape", [[0], [0, 4], [0, 1, 1]])
def test_meshes_without_chips(shape: list[int]) -> None:
    with pytest.raises(DeviceError, match=r"\]\): all dimensions must be positive"):
        ttnn.open_mesh_device(ttnn.MeshShape(shape))


def test_no_device_has_a_huge_number() -> None:
    with pytest.raises(DeviceError, match="device_id must not be negative or beyond 2\\^63, got int of 16610 bits"):
        ttnn.open_device(device_id=HUGE)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda mesh: mesh.create_submesh(ttnn.MeshShape(1, 5)), "does not fit within parent mesh"),
        (lambda mesh: mesh.create_submesh(ttnn.MeshShape(1, 1), ttnn.MeshCoordinate(2, 0)), "does not fit"),
        (lambda mesh: mesh.create_submesh(ttnn.MeshShape(0, 1)), "All dimensions must be positive"),
        (lambda mesh: mesh.create_submeshes(ttnn.MeshShape(1, 3)), "is not divisible by submesh shape"),
        (lambda mesh: mesh.reshape(ttnn.MeshShape(4, 4)), "same number of devices"),
        (lambda mesh: mesh.get_device_id(ttnn.MeshCoordinate(2, 0)), "not found"),
    ],
)
def test_what_a_mesh_does_not_have_is_an_error(mesh: ttnn.MeshDevice, call: object, sentence: str) -> None:
    with pytest.raises(TtnnError, match=sentence):
        call(mesh)  # type: ignore[operator]
    assert bits(ttnn.zeros(SHAPE, ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh), 7) == bytes(64 * 96 * 2)


def test_memory_is_touched_when_it_is_used() -> None:
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    before = resident()
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(8, 4))
    ttnn.zeros(SHAPE, ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh)
    assert resident() - before < 64 << 20
    ttnn.close_mesh_device(mesh)


def test_large_buffers_of_a_mesh_go_back_to_the_host(mesh: ttnn.MeshDevice) -> None:
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    before = resident()
    tensor = ttnn.ones((1, 1, 4096, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh)
    assert resident() - before > 60 << 20
    ttnn.deallocate(tensor)
    assert resident() - before < 16 << 20

"""Sockets between meshes, and tensors sent through them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import ttnn

CORE = ttnn.CoreCoord(0, 0)


def at(*place: int, core: ttnn.CoreCoord = CORE) -> ttnn.MeshCoreCoord:
    return ttnn.MeshCoreCoord(ttnn.MeshCoordinate(*place), core)


def config(*pairs: tuple[ttnn.MeshCoreCoord, ttnn.MeshCoreCoord], size: int = 4096) -> ttnn.SocketConfig:
    connections = [ttnn.SocketConnection(*pair) for pair in pairs]
    return ttnn.SocketConfig(connections, ttnn.SocketMemoryConfig(ttnn.BufferType.L1, size))


@pytest.fixture
def line() -> Iterator[ttnn.MeshDevice]:
    with ttnn.manage_config("system", "t3k"):
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_2D)
        device = ttnn.open_mesh_device(ttnn.MeshShape(1, 8))
        yield device
        ttnn.close_mesh_device(device)
        ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def numbered(device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    values = np.arange(device.get_num_devices() * 2048, dtype=np.float32).reshape(-1, 1, 32, 64) % 251
    mapper = ttnn.ShardTensorToMesh(device, 0)
    return ttnn.from_torch(values, dtype, layout=ttnn.TILE_LAYOUT, device=device, mesh_mapper=mapper)


def by_chip(tensor: ttnn.Tensor) -> list[np.ndarray]:
    return [part.to_numpy() for part in ttnn.get_device_tensors(tensor)]


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b], ids=str)
@pytest.mark.parametrize("first", ["send", "receive"])
def test_submeshes_send_tensors(line: ttnn.MeshDevice, dtype: ttnn.DataType, first: str) -> None:
    left, right = line.create_submeshes(ttnn.MeshShape(1, 4))
    pairs = [(at(0, chip), at(0, chip, core=ttnn.CoreCoord(0, 1))) for chip in range(4)]
    sender, receiver = ttnn.create_socket_pair(left, right, config(*pairs))
    x = numbered(left, dtype)
    outputs = [ttnn.allocate_tensor_on_device(x.spec, right) for _ in range(2)]
    sent = [x, ttnn.neg(x)]
    if first == "receive":
        assert ttnn.experimental.recv_async(outputs[0], receiver)[0] is outputs[0]
    for tensor in sent:
        assert ttnn.experimental.send_async(tensor, sender) == []
    for output in outputs[first == "receive" :]:
        ttnn.experimental.recv_async(output, receiver)
    for tensor, output in zip(sent, outputs, strict=True):
        assert all(map(np.array_equal, by_chip(tensor), by_chip(output)))


def test_chips_of_one_mesh_send_what_they_had_then(line: ttnn.MeshDevice) -> None:
    sender, receiver = ttnn.create_socket_pair(line, line, config((at(0, 1), at(0, 6)), (at(0, 2), at(0, 1))))
    x, output = numbered(line), ttnn.zeros_like(numbered(line))
    before = by_chip(x)
    ttnn.experimental.send_direct_async(x, sender)
    ttnn.neg(x, output_tensor=x)
    ttnn.experimental.recv_direct_async(output, receiver)
    found = by_chip(output)
    assert np.array_equal(found[6], before[1])
    assert np.array_equal(found[1], before[2])
    assert not any(found[chip].any() for chip in (0, 2, 3, 4, 5, 7))


def test_ends_tell_what_they_are(line: ttnn.MeshDevice) -> None:
    sender, receiver = ttnn.create_socket_pair(line, line, config((at(0, 0), at(0, 7))))
    assert str(sender.get_active_cores()) == "[MeshCoreCoord(device=MeshCoordinate([0, 0]), core=(0,0))]"
    assert sender.get_socket_endpoint_type() is ttnn.SocketEndpoint.SENDER
    assert receiver.get_socket_endpoint_type() is ttnn.SocketEndpoint.RECEIVER
    assert sender.get_config_buffer_address() - receiver.get_config_buffer_address() == 64
    assert sender.get_mesh_device() is line
    assert receiver.get_connection_config()[0].sender_core == at(0, 0)
    assert sender.get_fabric_node_id(ttnn.SocketEndpoint.RECEIVER, ttnn.MeshCoordinate(0, 7)) == (
        line.get_fabric_node_id(ttnn.MeshCoordinate(0, 7))
    )


def test_wrong_ends_meshes_and_shapes(line: ttnn.MeshDevice) -> None:
    left, right = line.create_submeshes(ttnn.MeshShape(1, 4))
    sender, receiver = ttnn.create_socket_pair(left, right, config((at(0, 0), at(0, 0))))
    x, y = numbered(left), numbered(right)
    with pytest.raises(ttnn.ParameterError, match="expected the socket of the sender, got that of the receiver"):
        ttnn.experimental.send_async(x, receiver)
    with pytest.raises(ttnn.DeviceError, match="the tensor is on"):
        ttnn.experimental.send_async(y, sender)
    ttnn.experimental.send_async(ttnn.reshape(x, (1, 1, 64, 32)), sender)
    with pytest.raises(ttnn.ShapeError, match="they must be equal"):
        ttnn.experimental.recv_async(y, receiver)
    with pytest.raises(ttnn.DeviceError, match="outside the mesh"):
        ttnn.create_socket_pair(left, right, config((at(0, 0), at(0, 4))))
    with pytest.raises(ttnn.DeviceError, match="a connection has"):
        ttnn.create_socket_pair(left, right, config((at(0, 0, core=ttnn.CoreCoord(9, 0)), at(0, 0))))


@pytest.mark.parametrize("size", [0, -1, 1 << 40, True, "4096"])
def test_queues_have_a_size(size: object) -> None:
    with pytest.raises((ttnn.ParameterError, ttnn.ArgumentError), match="fifo_size must be"):
        ttnn.SocketMemoryConfig(ttnn.BufferType.L1, size)  # type: ignore[arg-type]


def test_what_sockets_need(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.FabricError, match="there is no fabric"):
        ttnn.create_socket_pair(device, device, config((at(0, 0), at(0, 0))))
    with pytest.raises(ttnn.UnsupportedError, match=r"use ttnn\.create_socket_pair"):
        ttnn.MeshSocket(device, config((at(0, 0), at(0, 0))))
    with pytest.raises(ttnn.ParameterError, match="at least one connection"):
        config()

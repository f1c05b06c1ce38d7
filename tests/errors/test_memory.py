"""Misuse of devices and memory: errors, texts, device usable after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn import _engine

TILE = np.arange(2048, dtype=np.uint32).astype(np.uint8)


def usable(device: ttnn.MeshDevice) -> bool:
    """Return whether a buffer can still be allocated, written and read."""
    buffer = device.engine.allocate_interleaved(0, 2048, 1)
    buffer.write(TILE, 2048)
    return bool((buffer.read(2048, 1, require_written=True) == TILE).all())


def test_out_of_memory_names_every_figure(device: ttnn.MeshDevice) -> None:
    kept = device.engine.allocate_interleaved(1, 2048, 64)
    with pytest.raises(ttnn.OutOfMemoryError) as error:
        device.engine.allocate_interleaved(1, 2048, 64 * 700)
    assert str(error.value) == (
        "Out of Memory: Not enough space to allocate 91750400 B L1 buffer across 64 banks, where each bank needs to "
        "store 1433600 B, but bank size is 1393312 B (allocated: 2048 B, free: 1391264 B, "
        "largest free block: 1391264 B)."
    )
    assert (error.value.bank, error.value.requested_bytes, error.value.largest_free_bytes) == ("L1", 1433600, 1391264)
    assert isinstance(error.value, (RuntimeError, MemoryError))
    assert kept.is_allocated
    assert usable(device)


def test_out_of_memory_of_a_tensor(device: ttnn.MeshDevice) -> None:
    before = device.engine.state_hash()
    spec = ttnn.TensorSpec(ttnn.Shape([1 << 20, 1 << 14]), ttnn.float32, ttnn.TILE_LAYOUT)
    with pytest.raises(RuntimeError, match=r"allocate 68719476736 B DRAM buffer across 12 banks, .* 5726625792 B"):
        ttnn.allocate_tensor_on_device(spec, device)
    assert device.engine.state_hash() == before
    assert usable(device)


@pytest.mark.parametrize(("operator", "count"), [("exp", 1), ("softplus_bw", 2), ("matmul", 2), ("multigammaln", 1)])
def test_the_operator_is_named_whose_result_has_no_place(device: ttnn.MeshDevice, operator: str, count: int) -> None:
    x = ttnn.zeros((8192, 8192), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.OutOfMemoryError) as error:
        getattr(ttnn, operator)(*[x] * count, memory_config=ttnn.L1_MEMORY_CONFIG)
    text = f"ttnn.{operator}: Out of Memory: Not enough space to allocate 134217728 B L1 buffer"
    assert str(error.value).startswith(text)
    assert usable(device)


@pytest.mark.parametrize("operator", ["exp", "neg", "relu"])
def test_a_memory_config_without_cores_is_completed(device: ttnn.MeshDevice, operator: str) -> None:
    x = ttnn.ones((64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1)
    result = getattr(ttnn, operator)(x, memory_config=config)
    assert result.memory_config().shard_spec is not None
    assert result.to_list() == getattr(ttnn, operator)(x).to_list()


def test_sizes_beyond_any_address(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.OutOfMemoryError, match="is larger than any address"):
        device.engine.allocate_interleaved(0, 1 << 60, 1 << 60)
    assert usable(device)


def test_double_free_and_use_after_free(device: ttnn.MeshDevice) -> None:
    buffer = device.engine.allocate_interleaved(0, 2048, 1)
    buffer.deallocate()
    assert not buffer.is_allocated
    before = device.engine.state_hash()
    name = buffer.unique_id
    for call, text in (
        (buffer.deallocate, f"buffer {name} was already deallocated"),
        (lambda: buffer.read(2048, 1), f"buffer {name} was deallocated and cannot be used any more"),
        (lambda: buffer.write(TILE, 2048), f"buffer {name} was deallocated and cannot be used any more"),
    ):
        with pytest.raises(ttnn.StorageError) as error:
            call()
        assert str(error.value) == text
    assert device.engine.state_hash() == before
    assert usable(device)


def test_tensors_of_a_closed_device(device: ttnn.MeshDevice) -> None:
    tensor = ttnn.Tensor(np.ones((2, 3), np.float32), ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    assert tensor.is_allocated()
    ttnn.close_device(device)
    assert not tensor.is_allocated()
    with pytest.raises(RuntimeError):
        ttnn.from_device(tensor)
    with pytest.raises(RuntimeError):
        ttnn.add(tensor, tensor)
    with pytest.raises(ttnn.DeviceError, match="closed"):
        ttnn.Tensor(np.ones((2, 3), np.float32), ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    with ttnn.manage_device(0) as again:
        assert usable(again)


def test_tensors_of_another_device(device: ttnn.MeshDevice) -> None:
    with ttnn.manage_device(1) as other:
        here = ttnn.Tensor(np.ones((32, 32), np.float32), ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
        there = ttnn.Tensor(np.ones((32, 32), np.float32), ttnn.bfloat16, other, ttnn.TILE_LAYOUT)
        before = device.engine.state_hash(), other.engine.state_hash()
        with pytest.raises(RuntimeError, match="another device"):
            ttnn.add(here, there)
        assert (device.engine.state_hash(), other.engine.state_hash()) == before
        assert usable(device)
        assert usable(other)


CLOSED: dict[str, Callable[[ttnn.MeshDevice], Any]] = {
    "close_device": ttnn.close_device,
    "synchronize_device": ttnn.synchronize_device,
    "SetDefaultDevice": ttnn.SetDefaultDevice,
    "quiesce_devices": lambda device: device.quiesce_devices(),
    "get_memory_view": lambda device: ttnn.get_memory_view(device, ttnn.BufferType.L1),
    "get_allocator_base_address": lambda device: ttnn.get_allocator_base_address(device, ttnn.BufferType.L1),
    "dump_device_memory_state": ttnn.dump_device_memory_state,
}


@pytest.mark.parametrize("operation", CLOSED)
def test_a_closed_device_is_refused(operation: str, device: ttnn.MeshDevice) -> None:
    ttnn.close_device(device)
    with pytest.raises(ttnn.DeviceError) as error:
        CLOSED[operation](device)
    assert str(error.value) == f"{operation}: device 0 is closed"


@pytest.mark.parametrize("operation", [name for name in CLOSED if name != "quiesce_devices"])
def test_what_is_no_device_is_refused(operation: str) -> None:
    with pytest.raises(ttnn.ArgumentError) as error:
        CLOSED[operation]("device")  # type: ignore[arg-type]
    assert str(error.value) == f"{operation}: expected a ttnn.MeshDevice, got str"


def test_the_engine_refuses_a_closed_device() -> None:
    engine = _engine.Device("n150")
    engine.close()
    for call in (engine.close, engine.state_hash, lambda: engine.allocate_interleaved(0, 2048, 1)):
        with pytest.raises(ttnn.DeviceError, match=r"^the device is closed$"):
            call()


OPENING: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"device_id": -1}, ttnn.DeviceError, "device_id must not be negative"),
    ({"device_id": 32}, ttnn.DeviceError, "device_id must be between 0 and 31, got 32"),
    ({"device_id": "0"}, ttnn.ArgumentError, "device_id must be an int, got '0'"),
    ({"device_id": True}, ttnn.ArgumentError, "device_id must be an int, got True"),
    ({"device_id": 0.0}, ttnn.ArgumentError, "device_id must be an int"),
    ({"l1_small_size": -1}, ttnn.DeviceError, "l1_small_size must not be negative"),
    ({"l1_small_size": 1 << 70}, ttnn.DeviceError, "l1_small_size must not be negative or beyond"),
    ({"l1_small_size": 1_393_313}, ttnn.DeviceError, "l1_small_size of 1393313 B does not fit: at most 1393312 B"),
    ({"worker_l1_size": 1_463_969}, ttnn.DeviceError, "worker_l1_size of 1463969 B does not fit: at most 1463968 B"),
    ({"trace_region_size": 1 << 31}, ttnn.DeviceError, "trace_region_size of 2147483648 B does not fit"),
    ({"num_command_queues": 0}, ttnn.DeviceError, "num_command_queues must be between 1 and 2, got 0"),
    ({"num_command_queues": 3}, ttnn.DeviceError, "num_command_queues must be between 1 and 2, got 3"),
    ({"dispatch_core_config": 1}, ttnn.ArgumentError, "dispatch_core_config must be a DispatchCoreConfig, got 1"),
    ({"chip": "n151"}, ttnn.DeviceError, 'there is no chip "n151"; choose one of n150, n300, galaxy, p100, p150, p300'),
    ({"chip": 150}, ttnn.ArgumentError, "chip must be one of n150, n300, galaxy, p100, p150, p300, got 150"),
]


@pytest.mark.parametrize(("arguments", "kind", "text"), OPENING, ids=[str(case[0]) for case in OPENING])
def test_bad_arguments_of_open_device(arguments: dict[str, Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as error:
        ttnn.open_device(**{"device_id": 0, **arguments})
    assert text in str(error.value)
    ttnn.close_device(ttnn.open_device(device_id=0))


def test_opening_twice(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.DeviceError) as error:
        ttnn.open_device(device_id=0)
    assert str(error.value) == "Cannot re-initialize device 0, must first call close()"
    assert usable(device)


def test_mesh_device_constructor_raises() -> None:
    with pytest.raises(TypeError, match=r"devices are opened with ttnn\.open_device"):
        ttnn.MeshDevice()


COORDINATES: list[tuple[Callable[[ttnn.MeshDevice], Any], str]] = [
    (lambda d: d.worker_core_from_logical_core(ttnn.CoreCoord(8, 0)), "core 8-0 is outside the compute grid 8x8"),
    (lambda d: d.logical_core_from_worker_core(ttnn.CoreCoord(1, 1)), "no worker core at NoC coordinates 1-1"),
    (lambda d: d.dram_core_from_logical_core(ttnn.CoreCoord(12, 0)), "12-0 is not a DRAM bank; banks are 0-0 to 11-0"),
    (lambda d: d.dram_core_from_logical_core(ttnn.CoreCoord(0, 1)), "0-1 is not a DRAM bank"),
    (lambda d: d.get_device_id(ttnn.MeshCoordinate(0, 1)), "MeshCoordinate([0, 1]) is outside the mesh"),
    (lambda d: d.reshape(ttnn.MeshShape(2, 1)), "MeshDevice(1x1 grid, 1 devices) cannot become MeshShape([2, 1])"),
    (lambda d: ttnn.GetPCIeDeviceID(5), "no device 5; devices are [0]"),
]


@pytest.mark.parametrize(("call", "text"), COORDINATES, ids=[text for _, text in COORDINATES])
def test_coordinates_outside_the_mesh_raise(
    call: Callable[[ttnn.MeshDevice], Any], text: str, device: ttnn.MeshDevice
) -> None:
    with pytest.raises(ttnn.DeviceError) as error:
        call(device)
    assert text in str(error.value)


def test_unknown_chip_facts_raise_unsupported_error() -> None:
    with (
        ttnn.manage_device(0, chip="n300") as device,
        pytest.raises(ttnn.UnsupportedError, match="not known for n300, only for n150 and p150"),
    ):
        device.get_optimal_dram_bank_to_logical_worker_assignment(ttnn.NOC.RISCV_0_default)


SHARDS: list[tuple[tuple[Any, ...], str]] = [
    ((1, 2048, (4, 4), (4, 1), [(8, 0)]), "core 8-0 is outside the grid of 8x8"),
    ((0, 2048, (4, 4), (4, 1), [(0, 1)]), "core 0-1 is outside the grid of 12x1"),
    ((1, 2048, (4, 4), (4, 1), [(1, 1), (1, 1)]), "core 1-1 appears twice in the list of shard cores"),
    ((1, 2048, (4, 4), (4, 1), []), "a sharded buffer needs cores and shards of at least one page, got 0 cores"),
    ((1, 2048, (4, 4), (0, 1), [(0, 0)]), "a sharded buffer needs cores and shards of at least one page, got 1 cores"),
    ((1, 0, (4, 4), (4, 4), [(0, 0)]), "a buffer of 16 pages needs pages of at least 1 B"),
    ((2, 2048, (4, 4), (4, 4), [(0, 0)]), "2 is not the number of a buffer type"),
]


@pytest.mark.parametrize(("arguments", "text"), SHARDS, ids=[text for _, text in SHARDS])
def test_wrong_buffer_sizes_raise(arguments: tuple[Any, ...], text: str, device: ttnn.MeshDevice) -> None:
    before = device.engine.state_hash()
    with pytest.raises(ttnn.MemoryConfigError) as error:
        device.engine.allocate_sharded(*arguments)
    assert text in str(error.value)
    assert device.engine.state_hash() == before


def test_unwritten_memory_is_an_error_where_it_matters(device: ttnn.MeshDevice) -> None:
    buffer = device.engine.allocate_interleaved(0, 2048, 3)
    assert buffer.read(2048, 3).shape == (6144,)
    with pytest.raises(ttnn.AddressError) as error:
        buffer.read(2048, 3, require_written=True)
    assert str(error.value) == (
        f"3 of 3 pages of buffer {buffer.unique_id} were never written, the first is page 0. Write the tensor before "
        "an operator reads it (ttnn.empty does not), or open the device with TTNN_WATCHER=off."
    )


def test_internal_faults_are_reported_as_our_own_bug(device: ttnn.MeshDevice) -> None:
    buffer = device.engine.allocate_interleaved(0, 2048, 3)
    for call in (lambda: buffer.read(2048, 4), lambda: buffer.read(2049, 2), lambda: buffer.write(TILE, 2048)):
        with pytest.raises(ttnn.EngineBugError, match="please report it"):
            call()
    assert usable(device)


def some_work(device: ttnn.MeshDevice) -> np.ndarray:
    """Run a few operators whose inputs and results live on the device."""
    left = ttnn.Tensor(
        np.linspace(-1, 1, 64 * 64, dtype=np.float32).reshape(64, 64), ttnn.bfloat16, None, ttnn.TILE_LAYOUT
    )
    a = left.to(device)
    b = left.to(device, ttnn.L1_MEMORY_CONFIG)
    result = ttnn.relu(ttnn.add(ttnn.matmul(a, b), b))
    return ttnn.from_device(result).to_numpy().view(np.uint16)


def allocations_of_some_work(device: ttnn.MeshDevice) -> int:
    """Return the operators' allocation count.

    It is the first number that no longer makes one fail.
    """
    for k in range(1, 100):
        device.engine.fail_allocation(k)
        try:
            some_work(device)
        except ttnn.OutOfMemoryError:
            continue
        device.engine.fail_allocation(None)
        return k - 1
    raise AssertionError("the operators never ran through")


def test_every_allocation_can_fail(device: ttnn.MeshDevice) -> None:
    expected = some_work(device)
    empty = device.engine.state_hash()
    count = allocations_of_some_work(device)
    assert count >= 5, "two inputs and three results"
    for k in range(1, count + 1):
        device.engine.fail_allocation(k)
        with pytest.raises(ttnn.OutOfMemoryError, match="was made to fail"):
            some_work(device)
        assert device.engine.allocated_bytes() == 0, f"allocation {k} failed and something stayed allocated"
        assert device.engine.state_hash() == empty
        assert np.array_equal(some_work(device), expected)

"""Shards with an address of their own on each core."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import ttnn

_ROW = ttnn.ShardOrientation.ROW_MAJOR
_UINT8 = ttnn.uint8


@pytest.fixture
def hybrid(monkeypatch: pytest.MonkeyPatch) -> Iterator[ttnn.MeshDevice]:
    """Yield a device with both kinds of allocation."""
    monkeypatch.setenv("TT_METAL_ALLOCATOR_MODE_HYBRID", "1")
    device = ttnn.open_device(device_id=0)
    yield device
    ttnn.close_device(device)


def _config(cores: ttnn.CoreRangeSet, shape: list[int], allocation: str = "") -> ttnn.MemoryConfig:
    config = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, ttnn.ShardSpec(cores, shape, _ROW)
    )
    if allocation:
        getattr(config, f"experimental_set_{allocation}_allocation")(True)
    return config


def _on(device: ttnn.MeshDevice, x: int, size: int, allocation: str = "per_core") -> ttnn.Tensor:
    """Return a tensor of so many bytes on one core."""
    core = ttnn.CoreCoord(x, 0)
    config = _config(ttnn.CoreRangeSet([ttnn.CoreRange(core, core)]), [1, size], allocation)
    values = np.full((1, size), x, np.uint8)
    return ttnn.Tensor(values, _UINT8, device, ttnn.ROW_MAJOR_LAYOUT, config)


def _address(tensor: ttnn.Tensor, x: int) -> int:
    return tensor.experimental_per_core_buffer_address(ttnn.MeshCoordinate(0, 0), ttnn.CoreCoord(x, 0))


def test_addresses_of_each_core_are_found_on_that_core(hybrid: ttnn.MeshDevice) -> None:
    first, second = _on(hybrid, 0, 2048), _on(hybrid, 1, 4096)
    top = _address(first, 0) + 2048
    assert _address(second, 1) == top - 4096
    lower = _on(hybrid, 0, 1024)
    assert _address(lower, 0) == top - 3072
    # One address on all cores lies below what any core has; one on some cores beside what those have.
    lockstep = _on(hybrid, 2, 512, "")
    assert lockstep.buffer_address() == top - 4096 - 512
    ranged = _on(hybrid, 3, 512, "range_lockstep")
    assert ranged.buffer_address() == top - 512
    assert (ranged.is_range_lockstep_allocated(), ranged.is_per_core_allocated()) == (True, False)
    ttnn.deallocate(first)
    hole = _on(hybrid, 0, 1024)
    assert _address(hole, 0) == top - 512 - 1024
    for tensor, x in ((second, 1), (lower, 0), (lockstep, 2), (ranged, 3), (hole, 0)):
        assert (tensor.to_numpy() == x).all()


def test_operators_run_on_shards_with_own_addresses(hybrid: ttnn.MeshDevice) -> None:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 0))])
    steps = [_on(hybrid, x, 1024 * (x + 1)) for x in range(4)]
    values = np.random.default_rng(44).standard_normal((128, 64)).astype(np.float32)
    results = []
    for allocation in ("per_core", ""):
        config = _config(cores, [32, 64], allocation)
        tensor = ttnn.Tensor(values, ttnn.bfloat16, hybrid, ttnn.TILE_LAYOUT, config)
        assert tensor.memory_config() == config
        total = ttnn.add(ttnn.exp(tensor), tensor)
        assert total.memory_config() == config
        interleaved = ttnn.to_memory_config(total, ttnn.DRAM_MEMORY_CONFIG)
        back = ttnn.to_memory_config(interleaved, config)
        assert back.is_per_core_allocated() == bool(allocation)
        results += [total.to_numpy(), back.to_numpy()]
        if allocation:
            addresses = [_address(tensor, x) for x in range(4)]
            assert addresses == [addresses[0] - 1024 * x for x in range(4)]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    assert all((step.to_numpy() == x).all() for x, step in enumerate(steps))


def test_a_config_that_is_changed_later_does_not_change_tensors(hybrid: ttnn.MeshDevice) -> None:
    core = ttnn.CoreCoord(2, 0)
    config = _config(ttnn.CoreRangeSet([ttnn.CoreRange(core, core)]), [1, 1024])
    values = np.full((1, 1024), 7, np.uint8)
    before = ttnn.Tensor(values, _UINT8, hybrid, ttnn.ROW_MAJOR_LAYOUT, config)
    config.experimental_set_per_core_allocation(True)
    after = ttnn.Tensor(values, _UINT8, hybrid, ttnn.ROW_MAJOR_LAYOUT, config)
    config.experimental_set_per_core_allocation(False)
    assert before.buffer_address() == _address(after, 2) + 1024
    assert (before.is_per_core_allocated(), after.is_per_core_allocated()) == (False, True)


def test_questions_that_have_no_answer_raise(hybrid: ttnn.MeshDevice) -> None:
    tensor, lockstep = _on(hybrid, 1, 1024), _on(hybrid, 1, 1024, "")
    with pytest.raises(ttnn.MemoryConfigError, match="Per-core allocated tensors do not have a single address"):
        tensor.buffer_address()
    with pytest.raises(ttnn.ArgumentError, match=r"No per-core address for core \(0, 0\)"):
        tensor.experimental_per_core_buffer_address(ttnn.CoreCoord(0, 0))
    with pytest.raises(ttnn.MemoryConfigError, match="does not use per-core allocation"):
        lockstep.experimental_per_core_buffer_address(ttnn.CoreCoord(1, 0))
    with pytest.raises(ttnn.ArgumentError, match="is not on the chip"):
        tensor.experimental_per_core_buffer_address(ttnn.MeshCoordinate(0, 1), ttnn.CoreCoord(1, 0))
    with pytest.raises(ttnn.ArgumentError, match="expected"):
        tensor.experimental_per_core_buffer_address(1)  # type: ignore[arg-type]
    with pytest.raises(ttnn.UnsupportedError, match="circular buffers on such shards"):
        ttnn.cb_descriptor_from_sharded_tensor(0, tensor).buffer.address()  # type: ignore[union-attr]
    with pytest.raises(ttnn.OutOfMemoryError, match="across 1 banks"):
        _on(hybrid, 0, 1 << 21)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 0))])
    nd_shards = ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec((32, 32), cores))
    nd_shards.experimental_set_range_lockstep_allocation(True)
    with pytest.raises(ttnn.UnsupportedError, match="range lock-step allocation of n-dimensional shards"):
        ttnn.zeros((64, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, hybrid, nd_shards)
    assert (tensor.to_numpy() == 1).all()


def test_a_device_without_them_refuses_own_addresses(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.MemoryConfigError, match=r"requires AllocatorMode::HYBRID when opening the device"):
        _on(device, 0, 1024)
    assert _on(device, 0, 1024, "range_lockstep").is_range_lockstep_allocated()
    assert not ttnn.from_device(_on(device, 0, 1024, "")).is_per_core_allocated()

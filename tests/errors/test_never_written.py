"""Operators on unwritten memory, with the watcher on and off."""

from __future__ import annotations

import warnings

import pytest

import ttnn


def empty(device: ttnn.MeshDevice, place: ttnn.MemoryConfig = ttnn.DRAM_MEMORY_CONFIG) -> ttnn.Tensor:
    return ttnn.empty((32, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=place)


@pytest.mark.parametrize("place", [ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG], ids=["DRAM", "L1"])
def test_an_operator_that_reads_an_empty_tensor_warns_once_and_goes_on(place: ttnn.MemoryConfig) -> None:
    with ttnn.manage_device(device_id=0) as device:
        with pytest.warns(RuntimeWarning, match=r"2 of 2 pages .* never written.*TTNN_WATCHER=off.*once") as caught:
            result = ttnn.exp(empty(device, place))
        assert len(caught) == 1
        assert result.to_list()[31][63] == 1.0
        assert ttnn.relu(empty(device, place)).to_list()[0][0] == 0.0


def test_each_device_warns() -> None:
    for _ in range(2):
        with ttnn.manage_device(device_id=0) as device, pytest.warns(RuntimeWarning, match="never written"):
            ttnn.add(empty(device), empty(device))


def test_a_warning_that_is_an_error_stops_the_call_and_the_device_goes_on() -> None:
    with ttnn.manage_device(device_id=0) as device, warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="never written"):
            ttnn.exp(empty(device))
        ones = ttnn.ones((32, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        assert ttnn.relu(ones).to_list()[0][0] == 1.0


def test_an_empty_tensor_takes_results() -> None:
    with ttnn.manage_device(device_id=0) as device:
        target = empty(device)
        ones = ttnn.ones((32, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        ttnn.relu(ones, output_tensor=target)
        assert ttnn.relu(target).to_list()[31][63] == 1.0


def test_without_the_watcher_unwritten_memory_is_read() -> None:
    with ttnn.manage_config("watcher", False), ttnn.manage_device(device_id=0) as device:
        assert ttnn.relu(empty(device)).to_list()[0][0] == 0.0

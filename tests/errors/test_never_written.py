"""Operators that read memory nobody has written, with the watcher on and off."""

from __future__ import annotations

import pytest

import ttnn


def empty(device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.empty((32, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def test_reading_an_empty_tensor_is_refused_and_the_device_goes_on() -> None:
    with ttnn.manage_device(device_id=0) as device:
        with pytest.raises(ttnn.AddressError, match=r"2 of 2 pages .* never written.*TTNN_WATCHER=off"):
            ttnn.exp(empty(device))
        ones = ttnn.ones((32, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        assert ttnn.relu(ones).to_list()[0][0] == 1.0


def test_an_empty_tensor_takes_results() -> None:
    with ttnn.manage_device(device_id=0) as device:
        target = empty(device)
        ones = ttnn.ones((32, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        ttnn.relu(ones, output_tensor=target)
        assert ttnn.relu(target).to_list()[31][63] == 1.0


def test_without_the_watcher_it_reads_what_lies_there() -> None:
    with ttnn.manage_config("watcher", False), ttnn.manage_device(device_id=0) as device:
        assert ttnn.relu(empty(device)).to_list()[0][0] == 0.0

"""Repeated, threaded devices and buffers: nothing is held or hangs."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import numpy as np
import pytest

import ttnn
from ttnn import _engine

MEBIBYTE = 1 << 20


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def cycle(number: int) -> None:
    """Open, allocate in three ways, write, read, free in two ways, close."""
    device = ttnn.open_device(device_id=0)
    tile = np.full(2048, number % 251, dtype=np.uint8)
    buffers = [
        device.engine.allocate_interleaved(0, 2048, 1),
        device.engine.allocate_interleaved(1, 2048, 1),
        device.engine.allocate_sharded(1, 2048, (1, 1), (1, 1), [(number % 8, 3)]),
    ]
    for buffer in buffers:
        buffer.write(tile, 2048)
        assert buffer.read(2048, 1)[7] == number % 251
    buffers[0].deallocate()
    del buffer, buffers[:]
    assert device.engine.allocated_bytes() == 0
    ttnn.close_device(device)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc")
def test_ten_thousand_cycles_hold_nothing() -> None:
    for number in range(500):
        cycle(number)
    gc.collect()
    before = resident_bytes()
    for number in range(10_000):
        cycle(number)
    gc.collect()
    assert resident_bytes() - before < MEBIBYTE


def test_buffers_outlive_their_device_harmlessly() -> None:
    device = ttnn.open_device(device_id=0)
    buffer = device.engine.allocate_interleaved(0, 2048, 1)
    ttnn.close_device(device)
    del device
    assert not buffer.is_allocated
    with pytest.raises(ttnn.DeviceError):
        buffer.read(2048, 1)
    del buffer


def test_threads_share_a_device(host_threads: None) -> None:
    _engine.set_threads(2)
    with ttnn.manage_device(0) as device:
        failures: list[BaseException] = []

        def work(seed: int) -> None:
            try:
                random = np.random.default_rng(seed)
                for _ in range(50):
                    pages = int(random.integers(1, 400))
                    data = random.integers(0, 256, pages * 2048, dtype=np.uint8)
                    buffer = device.engine.allocate_interleaved(int(random.integers(0, 2)), 2048, pages)
                    buffer.write(data, 2048)
                    assert np.array_equal(buffer.read(2048, pages, require_written=True), data)
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert device.engine.allocated_bytes() == 0

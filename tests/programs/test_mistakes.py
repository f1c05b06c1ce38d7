"""What follows a mistake: the device waits for a reset, others go on; a deadlock says who waits for what.

`test_broken` has the list of mistakes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from parts import TILE, build, read_two, tiles_buffer, values, write_one
from test_single_core import add_kernel

import ttnn
from ttnn import metal
from ttnn.exceptions import CircularBufferError, DeadlockError, DeviceError
from ttnn.kernel_api import (
    InterleavedAddrGenFast,
    L1Pointer,
    cb_push_back,
    cb_reserve_back,
    get_arg_addr,
    get_arg_val,
    get_write_ptr,
    noc_async_read_barrier,
    noc_async_read_tile,
)

TILES = 4


def source() -> InterleavedAddrGenFast:
    return InterleavedAddrGenFast(get_arg_val(0), 2048, 5)


def push_without_reserve() -> None:
    cb_push_back(1, 1)


def data_never_written() -> None:
    for cb in (0, 1):
        cb_reserve_back(cb, 1)
        cb_push_back(cb, 1)


def broken(device: ttnn.MeshDevice, **kernels: Callable[[], None]) -> metal.Program:
    a, b, out = (tiles_buffer(device, TILES) for _ in range(3))
    queue = metal.command_queue(device)
    for buffer in (a, b):
        metal.enqueue_write_buffer(queue, buffer, values(TILES * TILE, 1))
    args = {"reader": [a, b, TILES], "compute": [TILES], "writer": [out, TILES]}
    return build({"reader": read_two, "compute": add_kernel, "writer": write_one} | kernels, args, {0: 2, 1: 2, 16: 2})


def test_unwritten_data_are_named_where_they_are_used(device: ttnn.MeshDevice) -> None:
    with pytest.raises(CircularBufferError, match="no byte of it was ever written") as caught:
        metal.run_program(device, broken(device, reader=data_never_written))
    assert (caught.value.risc, caught.value.cb) == ("TRISC", 0)


def test_a_failed_program_stops_its_device_only(device: ttnn.MeshDevice) -> None:
    program = broken(device, reader=push_without_reserve)
    with pytest.raises(CircularBufferError):
        metal.run_program(device, program)
    for call in (lambda: metal.run_program(device, program), lambda: ttnn.zeros([32, 32], device=device)):
        with pytest.raises(DeviceError, match=r"device\.reset\(\).*cb_push_back: CB 1"):
            call()
    with ttnn.manage_device(device_id=1) as other:
        metal.run_program(other, broken(other))
    device.reset()
    metal.run_program(device, broken(device))


# Deadlocks.


def nothing() -> None:
    pass


def no_push() -> None:
    for _ in range(3):
        cb_reserve_back(0, 1)
        noc_async_read_tile(0, source(), get_write_ptr(0))
        noc_async_read_barrier()


def endless_poll() -> None:
    argument = L1Pointer(get_arg_addr(2))
    assert argument[0] == TILES
    while argument[0] == TILES:
        pass


@pytest.mark.parametrize("reader", [nothing, no_push, endless_poll])
def test_deadlock_names_who_waits_for_what(device: ttnn.MeshDevice, reader: Callable[[], None]) -> None:
    with pytest.raises(DeadlockError) as caught:
        metal.run_program(device, broken(device, reader=reader))
    waits = caught.value.waits
    assert any("kernel add_kernel" in wait and "cb_wait_front(0, 1): 0 of 2 pages are there" in wait for wait in waits)
    assert any("kernel write_one (parts.py:" in wait and "cb_wait_front(16, 1)" in wait for wait in waits)
    assert len(waits) == (3 if reader is endless_poll else 2)
    assert caught.value.line > 0
    assert caught.value.cb == 16

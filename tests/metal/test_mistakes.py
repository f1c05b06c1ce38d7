"""State after an error: device reset, others continue, deadlock waits named.

`test_broken` has the list of mistakes.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable

import pytest
from test_single_core import add_kernel

import ttnn
from testkit.parts import TILE, add_cb, build, read_two, tiles_buffer, values, write_one
from ttnn import metal
from ttnn.base.exceptions import CircularBufferError, DeadlockError, DeviceError, KernelError
from ttnn.kernel_api import (
    InterleavedAddrGenFast,
    L1Pointer,
    cb_push_back,
    cb_reserve_back,
    cb_wait_front,
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


def wait_for_a_page() -> None:
    cb_wait_front(0, 1)


def test_deadlock_of_64_cores_lists_every_wait(device: ttnn.MeshDevice) -> None:
    grid = device.compute_with_storage_grid_size()
    everywhere = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(grid.x - 1, grid.y - 1))
    program = metal.create_program()
    add_cb(program, 0, cores=everywhere)
    for config in (metal.ReaderDataMovementConfig(), metal.WriterDataMovementConfig()):
        metal.create_kernel(program, wait_for_a_page, everywhere, config)
    with pytest.raises(DeadlockError) as caught:
        metal.run_program(device, program)
    assert len(caught.value.waits) == 2 * grid.x * grid.y
    assert caught.value.waits[-1].startswith("core 7-7 NCRISC kernel wait_for_a_page (test_mistakes.py:")
    with pytest.raises(DeviceError, match="no kernel can go on"):
        ttnn.zeros([32, 32], device=device)


# Exceptions of kernels.


def third() -> None:
    values = {"tiles": 4}
    print(values["pages"])


def second() -> None:
    third()


def first() -> None:
    second()


def test_kernel_exceptions_keep_their_traceback(device: ttnn.MeshDevice) -> None:
    with pytest.raises(KernelError, match=r"kernel first \(test_mistakes.py:\d+\): KeyError: 'pages'") as caught:
        metal.run_program(device, broken(device, reader=first))
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError)
    names = [frame.name for frame in traceback.extract_tb(cause.__traceback__)]
    assert names[-3:] == ["first", "second", "third"]
    assert linecache.getline(caught.value.file, caught.value.line).strip() == 'print(values["pages"])'


def test_kernels_are_taken_down_after_a_mistake(device: ttnn.MeshDevice) -> None:
    ended = []

    def waiting() -> None:
        try:
            cb_wait_front(16, 1)
        finally:
            ended.append("writer")

    with pytest.raises(CircularBufferError):
        metal.run_program(device, broken(device, reader=push_without_reserve, writer=waiting))
    assert ended == ["writer"]

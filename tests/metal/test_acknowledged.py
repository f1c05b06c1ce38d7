"""Sent bytes may be overwritten after a later flag is seen.

These are correct programs without a flush.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from broken import KEPT, filled, on_cores

import ttnn
from testkit.kernel_parts import PAGE, fill, send, signal
from ttnn import metal
from ttnn.kernel_api import *

ROUNDS = 6
READY, THERE = 0, 1
"""Semaphores."""
INVALID_FLAG, VALID_FLAG = 0, 1


def l1_pages(device: ttnn.MeshDevice) -> list[metal.Buffer]:
    """Arguments: source and target page in every core's L1."""
    return [filled(device, 64, buffer_type=metal.BufferType.L1) for _ in range(2)]


def receiver() -> None:
    """Signal readiness, wait for a page, check it.

    The flag is cleared before the next signal.
    """
    cores = get_compile_time_arg_val(0)
    there = L1Pointer(get_semaphore(THERE))
    for value in range(1, ROUNDS + 1):
        noc_semaphore_set(there, INVALID_FLAG)
        signal(0, 1, READY)
        noc_semaphore_wait(there, VALID_FLAG)
        assert list(L1Pointer(get_arg_val(2 * cores + 1)).read(PAGE // 4)) == [value] * (PAGE // 4)


def unicast_sender() -> None:
    """Sends page and flag repeatedly from one address, without flush."""
    ready, flag = L1Pointer(get_semaphore(READY)), L1Pointer(get_semaphore(THERE))
    noc_semaphore_set(flag, VALID_FLAG)
    for value in range(1, ROUNDS + 1):
        noc_semaphore_wait(ready, 1)
        noc_semaphore_set(ready, 0)
        fill(get_arg_val(4), value)
        send(get_arg_val(4), get_arg_val(5))
        noc_semaphore_set_remote(get_semaphore(THERE), get_noc_addr(get_arg_val(2), get_arg_val(3), flag.address))
    noc_async_write_barrier()


def counting_sender() -> None:
    """The flag is a count instead."""
    ready = L1Pointer(get_semaphore(READY))
    for value in range(1, ROUNDS + 1):
        noc_semaphore_wait(ready, 1)
        noc_semaphore_set(ready, 0)
        fill(get_arg_val(4), value)
        send(get_arg_val(4), get_arg_val(5))
        noc_semaphore_inc(get_noc_addr(get_arg_val(2), get_arg_val(3), get_semaphore(THERE)), 1)
    noc_async_full_barrier()


def multicast_sender() -> None:
    """Multicasts page and flag repeatedly from one address, without flush."""
    receivers = get_compile_time_arg_val(0) - 1
    source, target = get_arg_val(2 * receivers + 2), get_arg_val(2 * receivers + 3)
    ready, flag = L1Pointer(get_semaphore(READY)), L1Pointer(get_semaphore(THERE))
    noc_semaphore_set(flag, VALID_FLAG)
    corners = [get_arg_val(i) for i in (2, 3, 2 * receivers, 2 * receivers + 1)]
    for value in range(1, ROUNDS + 1):
        noc_semaphore_wait(ready, receivers)
        noc_semaphore_set(ready, 0)
        fill(source, value)
        noc_async_write_multicast(source, get_noc_multicast_addr(*corners, target), PAGE, receivers)
        noc_semaphore_set_multicast(flag.address, get_noc_multicast_addr(*corners, flag.address), receivers)
    noc_async_write_barrier()


def program_of(device: ttnn.MeshDevice, sender: Callable[[], None], cores: int) -> metal.Program:
    program = metal.create_program()
    places = [metal.CoreCoord(x, 0) for x in range(cores)]
    row = metal.CoreRange(places[0], places[-1])
    for _ in range(2):
        metal.create_semaphore(program, row, 0)
    buffers = l1_pages(device)
    KEPT.extend(buffers)
    coordinates = [device.worker_core_from_logical_core(core) for core in places]
    words = [value for place in coordinates for value in (place.x, place.y)]
    for core in places:
        kernel = sender if core == places[0] else receiver
        config = metal.DataMovementConfig(compile_args=[cores])
        handle = metal.create_kernel(program, kernel, core, config)
        metal.set_runtime_args(program, handle, core, [*words, *buffers])
    return program


@pytest.mark.parametrize(
    ("sender", "cores"), [(unicast_sender, 2), (counting_sender, 2), (multicast_sender, 2), (multicast_sender, 5)]
)
def test_acknowledged_bytes_may_be_overwritten(device: ttnn.MeshDevice, sender: Callable[[], None], cores: int) -> None:
    assert metal.run_program(device, program_of(device, sender, cores)).cycles > 0


def unwatched_sender() -> None:
    """Overwrites a page that nobody has flushed."""
    for value in range(2):
        fill(get_arg_val(4), value)
        send(get_arg_val(4), get_arg_val(5))
    noc_async_write_barrier()


def nothing() -> None:
    pass


def test_overwritten_bytes_are_not_reported_without_the_watcher() -> None:
    with ttnn.manage_config("watcher", False), ttnn.manage_device(device_id=0) as device:
        program = on_cores(device, unwatched_sender, nothing, args=l1_pages(device))
        assert metal.run_program(device, program).cycles > 0
    with ttnn.manage_device(device_id=0) as device:
        program = on_cores(device, unwatched_sender, nothing, args=l1_pages(device))
        with pytest.raises(ttnn.RaceError, match="still being sent"):
            metal.run_program(device, program)

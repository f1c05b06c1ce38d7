"""A compute kernel works in every order valid per thread.

In every order of its source that is right for each of its three threads.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
import pytest

import ttnn
from testkit.kernel_parts import tile_in_dst
from testkit.parts import TILE, build, read_one, tiles_buffer, values, write_one
from testkit.thread_orders import ORDERS, python_kernel, tiles_of
from ttnn import RegisterError, metal
from ttnn.kernel_api import *

ITERATIONS = 5


def copied(device: ttnn.MeshDevice, compute: Callable[[], object], tiles: int, iterations: int) -> metal.Report:
    """Run a kernel with reader and writer; check the copied tiles."""
    source, target = tiles_buffer(device, tiles), tiles_buffer(device, tiles)
    x = values(tiles * TILE, 3)
    source.write(x)
    program = build(
        {"reader": read_one, "compute": compute, "writer": write_one},
        {"reader": [source, tiles], "compute": [iterations], "writer": [target, tiles]},
        {0: 2, 16: 2, 24: 2},
    )
    report = metal.run_program(device, program)
    assert np.array_equal(target.read(np.uint16), x.view(np.uint16))
    return report


@pytest.mark.parametrize("name", ORDERS)
def test_tiles_are_copied_in_every_order(device: ttnn.MeshDevice, name: str) -> None:
    order = ORDERS[name]
    tiles = ITERATIONS * tiles_of(order)
    first = copied(device, python_kernel(order), tiles, ITERATIONS)
    assert copied(device, python_kernel(order), tiles, ITERATIONS).cycles == first.cycles


def test_an_order_that_waits_for_no_other_thread_takes_the_usual_time(device: ttnn.MeshDevice) -> None:
    times = {
        name: copied(device, python_kernel(ORDERS[name]), ITERATIONS, ITERATIONS).cycles
        for name in ("usual", "wait before copy", "release before commit")
    }
    assert max(times.values()) <= 1.1 * min(times.values()), times


def broken(device: ttnn.MeshDevice, compute: Callable[[], object], error: type[ttnn.KernelError]) -> ttnn.KernelError:
    """Run a kernel that is wrong and return its error."""
    source, target = tiles_buffer(device, 2), tiles_buffer(device, 2)
    source.write(values(2 * TILE, 3))
    kernels = {"reader": read_one, "compute": compute, "writer": write_one}
    if error is ttnn.DeadlockError:
        del kernels["writer"]  # it would be named first
    program = build(kernels, {"reader": [source, 2], "compute": [2], "writer": [target, 2]}, {0: 2, 16: 2, 24: 2})
    with pytest.raises(error) as caught:
        metal.run_program(device, program)
    device.reset()
    lines, first = inspect.getsourcelines(compute)
    (marked,) = [first + index for index, line in enumerate(lines) if line.rstrip().endswith("# bug")]
    assert type(caught.value) is error
    assert (caught.value.file, caught.value.line) == (__file__, marked)
    return caught.value


def test_a_wait_for_a_commit_that_never_comes_is_found_at_its_line(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        tile_in_dst()
        tile_regs_wait()  # bug
        cb_reserve_back(16, 1)
        pack_tile(0, 16)
        cb_push_back(16, 1)
        tile_regs_release()
        cb_pop_front(0, 1)

    assert "nothing was committed" in str(broken(device, compute, RegisterError))


def test_a_missing_commit_in_a_loop_is_found_at_the_wait(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        for _ in range(2):
            tile_in_dst()
            tile_regs_wait()  # bug
            cb_reserve_back(16, 1)
            pack_tile(0, 16)
            cb_push_back(16, 1)
            tile_regs_release()
            cb_pop_front(0, 1)

    assert "nothing was committed" in str(broken(device, compute, RegisterError))


def test_a_third_half_that_the_packer_never_releases_is_found_at_its_line(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        tile_in_dst()
        tile_regs_commit()
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        tile_regs_commit()
        tile_regs_acquire()  # bug
        copy_tile(0, 0, 0)
        tile_regs_commit()
        cb_pop_front(0, 1)

    assert "tile_regs_release() is missing" in str(broken(device, compute, RegisterError))


def test_a_mistake_of_a_thread_that_is_behind_is_found_at_its_line(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        init_sfpu(0, 16)
        tile_regs_wait()
        pack_tile(0, 16)  # bug
        tile_regs_release()
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        tile_regs_commit()
        cb_pop_front(0, 1)

    assert type(broken(device, compute, ttnn.CircularBufferError)) is ttnn.CircularBufferError


def test_packing_without_a_wait_raises(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        tile_in_dst()
        cb_reserve_back(16, 1)
        pack_tile(0, 16)  # bug
        tile_regs_commit()
        tile_regs_wait()
        tile_regs_release()

    assert "pack without tile_regs_wait()" in str(broken(device, compute, RegisterError))


def test_threads_that_wait_for_each_other_are_a_deadlock_with_their_lines(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        init_sfpu(0, 16)
        cb_wait_front(24, 1)  # bug
        tile_regs_acquire()
        copy_tile(24, 0, 0)
        tile_regs_commit()
        tile_regs_wait()
        cb_reserve_back(24, 1)
        pack_tile(0, 24)
        cb_push_back(24, 1)
        tile_regs_release()

    error = broken(device, compute, ttnn.DeadlockError)
    assert "cb_wait_front(24, 1): 0 of 2 pages are there" in str(error)


def test_a_packer_that_waits_for_space_is_named_in_a_deadlock(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        init_sfpu(0, 16)
        cb_wait_front(0, 1)
        for _ in range(3):
            tile_regs_wait()
            cb_reserve_back(24, 1)  # bug
            pack_tile(0, 24)
            cb_push_back(24, 1)
            tile_regs_release()
            tile_regs_acquire()
            copy_tile(0, 0, 0)
            tile_regs_commit()
        cb_pop_front(0, 1)

    error = broken(device, compute, ttnn.DeadlockError)
    assert "cb_reserve_back(24, 1): 0 of 2 pages are free" in str(error)

"""C++ kernels copy tiles in every order valid per thread.

In every order of their source that is right for each of the three threads.
"""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.parts import CORE, TILE, add_cb, build, read_one, tiles_buffer, values, write_one
from testkit.thread_orders import ORDERS, cpp_kernel, tiles_of
from ttnn import RegisterError, metal

ITERATIONS = 5


def program_of(device: ttnn.MeshDevice, source: str, tiles: int, iterations: int) -> tuple[metal.Program, metal.Buffer]:
    """Return a C++ kernel's program with reader and writer, and output."""
    first, target = tiles_buffer(device, tiles), tiles_buffer(device, tiles)
    first.write(values(tiles * TILE, 3))
    program = build(
        {"reader": read_one, "writer": write_one}, {"reader": [first, tiles], "writer": [target, tiles]}, {0: 2, 16: 2}
    )
    add_cb(program, 24)
    kernel = metal.create_kernel_from_string(program, source, CORE, metal.ComputeConfig())
    metal.set_runtime_args(program, kernel, CORE, [iterations])
    program.keeps = first  # type: ignore[attr-defined]
    return program, target


@pytest.mark.parametrize("name", ORDERS)
def test_tiles_are_copied_in_every_order(device: ttnn.MeshDevice, name: str) -> None:
    order = ORDERS[name]
    tiles = ITERATIONS * tiles_of(order)
    program, target = program_of(device, cpp_kernel(order), tiles, ITERATIONS)
    metal.run_program(device, program)
    assert np.array_equal(target.read(np.uint16), values(tiles * TILE, 3).view(np.uint16))


def test_a_call_that_was_put_off_is_found_at_its_line(device: ttnn.MeshDevice) -> None:
    order = ("front", "acquire", "copy", "wait", "reserve", "pack", "push", "release", "pop")
    source = cpp_kernel(order)
    program, _ = program_of(device, source, 1, 1)
    with pytest.raises(RegisterError, match="nothing was committed") as caught:
        metal.run_program(device, program)
    assert source.splitlines()[caught.value.line - 1] == "tile_regs_wait();"
    device.reset()

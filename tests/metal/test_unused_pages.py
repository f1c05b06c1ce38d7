"""Pages reserved at a compute kernel's end only wait for room.

Until something is packed.
"""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.parts import TILE, build, read_one, tiles_buffer, values, write_one
from ttnn import CircularBufferError, metal
from ttnn.kernel_api import *

TILES = 3


def copy_tiles(then: str) -> None:
    """Copy tiles, reserve one more, pack into it with `then`."""
    init_sfpu(0, 16)
    for _ in range(TILES):
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        tile_regs_commit()
        cb_pop_front(0, 1)
        cb_reserve_back(16, 1)
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        cb_push_back(16, 1)
    cb_reserve_back(16, 1)
    if then != "nothing":
        tile_regs_acquire()
        fill_tile_init()
        fill_tile(0, 1.0)
        tile_regs_commit()
        tile_regs_wait()
        if then == "in order":
            pack_tile(0, 16)
        else:
            pack_tile(0, 16, 0, out_of_order=True)
        tile_regs_release()


def run(device: ttnn.MeshDevice, then: str) -> bool:
    """Run the kernel with reader and writer; return whether all copied."""
    source, target = tiles_buffer(device, TILES), tiles_buffer(device, TILES)
    x = values(TILES * TILE, 3)
    source.write(x)
    program = build(
        {"reader": read_one, "compute": lambda: copy_tiles(then), "writer": write_one},
        {"reader": [source, TILES], "compute": [], "writer": [target, TILES]},
        {0: 2, 16: 2},
    )
    metal.run_program(device, program)
    return np.array_equal(target.read(np.uint16), x.view(np.uint16))


def test_a_page_without_data_need_not_be_pushed(device: ttnn.MeshDevice) -> None:
    assert run(device, "nothing")


@pytest.mark.parametrize("then", ["in order", "to a place"])
def test_a_packed_page_must_be_pushed(device: ttnn.MeshDevice, then: str) -> None:
    with pytest.raises(CircularBufferError, match="cb_push_back is missing"):
        run(device, then)

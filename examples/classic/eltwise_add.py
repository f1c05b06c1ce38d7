"""Element-wise sum on one core: reader, compute and writer.

They use three circular buffers.
"""

from __future__ import annotations

import ttnn
from examples.common import (
    BF16_TILE,
    Outcome,
    add_cb,
    empty,
    kernel,
    main,
    random_bf16,
    same_bits,
    to_device,
    write_tiles,
)
from ttnn import metal
from ttnn.kernel_api import *

CORE = metal.CoreCoord(0, 0)


def read_both() -> None:
    """Reader: one tile of each operand at a time."""
    first, second, tiles = get_arg_val(0), get_arg_val(1), get_arg_val(2)
    a = InterleavedAddrGenFast[True](first, get_tile_size(0), get_dataformat(0))
    b = InterleavedAddrGenFast[True](second, get_tile_size(1), get_dataformat(1))
    for tile in range(tiles):
        cb_reserve_back(0, 1)
        cb_reserve_back(1, 1)
        noc_async_read_tile(tile, a, get_write_ptr(0))
        noc_async_read_tile(tile, b, get_write_ptr(1))
        noc_async_read_barrier()
        cb_push_back(0, 1)
        cb_push_back(1, 1)


def add() -> None:
    """Compute: Dst 0 = a + b, packed to CB 16."""
    tiles = get_compile_time_arg_val(0)
    binary_op_init_common(0, 1, 16)
    add_tiles_init(0, 1)
    for _ in range(tiles):
        cb_wait_front(0, 1)
        cb_wait_front(1, 1)
        tile_regs_acquire()
        add_tiles(0, 1, 0, 0, 0)
        tile_regs_commit()
        cb_pop_front(0, 1)
        cb_pop_front(1, 1)
        cb_reserve_back(16, 1)
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        cb_push_back(16, 1)


def run(device: ttnn.MeshDevice, height: int = 128, width: int = 128) -> Outcome:
    """Add two tensors of height x width bfloat16."""
    a, b = (to_device(random_bf16((height, width), seed), device) for seed in (1, 2))
    out = empty((height, width), device)
    tiles = height * width // 1024

    program = metal.create_program()
    for index in (0, 1, 16):
        add_cb(program, CORE, index, 2)
    reader = metal.create_kernel(program, kernel(read_both), CORE, metal.ReaderDataMovementConfig())
    writer = metal.create_kernel(program, kernel(write_tiles), CORE, metal.WriterDataMovementConfig())
    metal.create_kernel(program, kernel(add), CORE, metal.ComputeConfig(compile_args=[tiles]))
    metal.set_runtime_args(program, reader, CORE, [a.buffer_address(), b.buffer_address(), tiles])
    metal.set_runtime_args(program, writer, CORE, [out.buffer_address(), 0, tiles])

    report = metal.enqueue_program(metal.command_queue(device), program)
    did = f"{tiles} tiles of {BF16_TILE} B from each of two DRAM buffers, added on core 0-0"
    return Outcome(report, did, {"same bits as ttnn.add": same_bits(out, ttnn.add(a, b))})


if __name__ == "__main__":
    main(run, "Element-wise add on one core")

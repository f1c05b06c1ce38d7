"""A function of the vector unit that the kernel writes itself, in C++; the Python kernel beside it calls the built-in.

Run it with `--cpp`: `examples/cpp/custom_sfpu` has the function, one operation on 32 lanes after the other.
"""

from __future__ import annotations

import ttnn
from common import Outcome, add_cb, empty, kernel, main, random_bf16, read_tiles, same_bits, to_device, write_tiles
from ttnn import metal
from ttnn.kernel_api import *

CORE = metal.CoreCoord(0, 0)


def hyperbolic_tangent() -> None:
    """Compute: Dst 0 = tanh(CB 0), packed to CB 16."""
    tiles = get_compile_time_arg_val(0)
    init_sfpu(0, 16)
    tanh_tile_init()
    for _ in range(tiles):
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        tanh_tile(0)
        tile_regs_commit()
        cb_pop_front(0, 1)
        cb_reserve_back(16, 1)
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        cb_push_back(16, 1)


def run(device: ttnn.MeshDevice, height: int = 64, width: int = 256) -> Outcome:
    """Take the hyperbolic tangent of height x width bfloat16."""
    x, out = to_device(random_bf16((height, width), 3, 2.0), device), empty((height, width), device)
    tiles = height * width // 1024

    program = metal.create_program()
    for index in (0, 16):
        add_cb(program, CORE, index, 2)
    reader = metal.create_kernel(program, kernel(read_tiles), CORE, metal.ReaderDataMovementConfig())
    writer = metal.create_kernel(program, kernel(write_tiles), CORE, metal.WriterDataMovementConfig())
    metal.create_kernel(program, kernel(hyperbolic_tangent), CORE, metal.ComputeConfig(compile_args=[tiles]))
    metal.set_runtime_args(program, reader, CORE, [x.buffer_address(), 0, tiles])
    metal.set_runtime_args(program, writer, CORE, [out.buffer_address(), 0, tiles])

    report = metal.enqueue_program(metal.command_queue(device), program)
    checks = {"same bits as ttnn.tanh": same_bits(out, ttnn.tanh(x))}
    return Outcome(report, f"tanh of {tiles} tiles on core 0-0", checks)


if __name__ == "__main__":
    main(run, "Vector function of our own: tanh")

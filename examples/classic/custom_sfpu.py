"""A user-defined SFPU function in C++.

The Python kernel calls the built-in one.

Run it with `--cpp`: `examples/classic/cpp/custom_sfpu` has the function, one operation on 32 lanes after the other.
"""

from __future__ import annotations

import ttnn
from examples.common import Outcome, main, on_each_tile, random_bf16
from ttnn.kernel_api import *


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
    """Compute the hyperbolic tangent of height x width bfloat16 values."""
    report, same = on_each_tile(device, hyperbolic_tangent, ttnn.tanh, random_bf16((height, width), 3, 2.0))
    return Outcome(report, f"tanh of {height * width // 1024} tiles on core 0-0", {"same bits as ttnn.tanh": same})


if __name__ == "__main__":
    main(run, "Vector function of our own: tanh")

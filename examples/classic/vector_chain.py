"""Three SFPU functions in Dst: softplus as log(exp(x) + 1).

The tile stays in Dst.
"""

from __future__ import annotations

import ttnn
from examples.common import Outcome, main, on_each_tile, random_bf16
from ttnn.kernel_api import *


def softplus() -> None:
    """Compute: Dst 0 = log(exp(CB 0) + 1), packed to CB 16."""
    tiles = get_compile_time_arg_val(0)
    init_sfpu(0, 16)
    for _ in range(tiles):
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        fill_tile_init()
        fill_tile(1, 1.0)
        exp_tile_init()
        exp_tile(0)
        add_binary_tile_init()
        add_binary_tile(0, 1, 0)
        log_tile_init()
        log_tile(0)
        tile_regs_commit()
        cb_pop_front(0, 1)
        cb_reserve_back(16, 1)
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        cb_push_back(16, 1)


def by_operator(x: ttnn.Tensor) -> ttnn.Tensor:
    """Return the same by `ttnn.unary_chain`, also in Dst."""
    one = ttnn.UnaryWithParam(ttnn.UnaryOpType.ADD_UNARY_SFPU, 1.0)
    kinds = ttnn.UnaryOpType.EXP, ttnn.UnaryOpType.LOG
    exp, log = (ttnn.UnaryWithParam(kind) for kind in kinds)
    return ttnn.unary_chain(x, [exp, one, log])


def run(device: ttnn.MeshDevice, height: int = 64, width: int = 256) -> Outcome:
    """Compute softplus of height x width bfloat16 values."""
    report, same = on_each_tile(device, softplus, by_operator, random_bf16((height, width), 3, 2.0))
    did = f"softplus of {height * width // 1024} tiles on core 0-0"
    return Outcome(report, did, {"same bits as ttnn.unary_chain": same})


if __name__ == "__main__":
    main(run, "Vector functions in a chain: softplus")

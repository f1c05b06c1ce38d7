"""The element-wise sum in the spelling of 0.81.1.

`Noc`, `DataflowBuffer`, `TensorAccessor`, renamed inits.

Line by line it is `examples/classic/eltwise_add.py`; both give the same bits.
"""

from __future__ import annotations

import ttnn
from examples.classic import eltwise_add
from examples.common import BF16_TILE, Outcome, add_cb, empty, kernel, main, random_bf16, same_bits, to_device
from ttnn import metal
from ttnn.kernel_api import *

CORE = metal.CoreCoord(0, 0)


def read_both() -> None:
    """Reader: one tile of each operand at a time."""
    tiles = get_arg_val(2)
    noc, dfb_a, dfb_b = Noc(), DataflowBuffer(0), DataflowBuffer(1)
    a_args = TensorAccessorArgs[0]()
    a = TensorAccessor(a_args, get_arg_val(0))
    b = TensorAccessor(TensorAccessorArgs[a_args.next_compile_time_args_offset()](), get_arg_val(1))
    for tile in range(tiles):
        dfb_a.reserve_back(1)
        dfb_b.reserve_back(1)
        noc.async_read(a, dfb_a, dfb_a.get_entry_size(), {"page_id": tile}, {"offset_bytes": 0})
        noc.async_read(b, dfb_b, dfb_b.get_entry_size(), {"page_id": tile}, {"offset_bytes": 0})
        noc.async_read_barrier()
        dfb_a.push_back(1)
        dfb_b.push_back(1)


def add() -> None:
    """Compute: Dst 0 = a + b, packed to CB 16."""
    tiles = get_named_compile_time_arg_val("tiles")
    a, b, out = DataflowBuffer(0), DataflowBuffer(1), DataflowBuffer(16)
    compute_kernel_hw_startup(a.get_id(), b.get_id(), out.get_id())
    add_init(a.get_id(), b.get_id())
    for _ in range(tiles):
        a.wait_front(1)
        b.wait_front(1)
        tile_regs_acquire()
        add_tiles(a.get_id(), b.get_id(), 0, 0, 0)
        tile_regs_commit()
        a.pop_front(1)
        b.pop_front(1)
        out.reserve_back(1)
        tile_regs_wait()
        pack_tile(0, out.get_id())
        tile_regs_release()
        out.push_back(1)


def write_out() -> None:
    """Writer: CB 16 to the result."""
    tiles = get_arg_val(1)
    noc, dfb = Noc(), DataflowBuffer(16)
    target = TensorAccessor(TensorAccessorArgs[0](), get_arg_val(0))
    for tile in range(tiles):
        dfb.wait_front(1)
        noc.async_write(dfb, target, dfb.get_entry_size(), {"offset_bytes": 0}, {"page_id": tile})
        noc.async_write_barrier()
        dfb.pop_front(1)


def run(device: ttnn.MeshDevice, height: int = 128, width: int = 128) -> Outcome:
    """Add two tensors of height x width bfloat16."""
    a, b = (to_device(random_bf16((height, width), seed), device) for seed in (1, 2))
    out = empty((height, width), device)
    tiles = height * width // 1024

    program = metal.create_program()
    for index in (0, 1, 16):
        add_cb(program, CORE, index, 2)
    operands = [word for tensor in (a, b) for word in ttnn.TensorAccessorArgs(tensor).get_compile_time_args()]
    result = ttnn.TensorAccessorArgs(out).get_compile_time_args()
    reading, writing = (
        metal.ReaderDataMovementConfig(compile_args=operands),
        metal.WriterDataMovementConfig(compile_args=result),
    )
    reader = metal.create_kernel(program, kernel(read_both), CORE, reading)
    writer = metal.create_kernel(program, kernel(write_out), CORE, writing)
    metal.create_kernel(program, kernel(add), CORE, metal.ComputeConfig(named_compile_args={"tiles": tiles}))
    metal.set_runtime_args(program, reader, CORE, [a.buffer_address(), b.buffer_address(), tiles])
    metal.set_runtime_args(program, writer, CORE, [out.buffer_address(), tiles])

    report = metal.enqueue_program(metal.command_queue(device), program)
    classic = eltwise_add.run(device, height, width)
    did = f"{tiles} tiles of {BF16_TILE} B from each of two buffers; classic spelling: {classic.report.cycles} cycles"
    return Outcome(report, did, {"same bits as ttnn.add": same_bits(out, ttnn.add(a, b)), **classic.checks})


if __name__ == "__main__":
    main(run, "Element-wise add in the spelling of 0.81.1")

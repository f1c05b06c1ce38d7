"""Matmul on one core in the spelling of 0.81.1.

The partial sums of each block of K are kept in Dst.

`compute_kernel_hw_startup` and `matmul_init` replace the classic `mm_init`; the buffers are objects.
"""

from __future__ import annotations

import ttnn
from examples.classic.matmul_parts import Blocking, by_operator, compute_config, operands
from examples.common import Outcome, add_cb, empty, main, same_bits
from ttnn import metal
from ttnn.kernel_api import *

CORE = metal.CoreCoord(0, 0)


def read_operands() -> None:
    """Reader: operand row and column for each result tile."""
    tiles, kt, nt = (get_arg_val(i) for i in range(2, 5))
    noc, left, right = Noc(), DataflowBuffer(0), DataflowBuffer(1)
    a_args = TensorAccessorArgs[0]()
    a = TensorAccessor(a_args, get_arg_val(0))
    b = TensorAccessor(TensorAccessorArgs[a_args.next_compile_time_args_offset()](), get_arg_val(1))
    size = left.get_tile_size()
    for tile in range(tiles):
        row, column = divmod(tile, nt)
        for k in range(kt):
            left.reserve_back(1)
            right.reserve_back(1)
            noc.async_read(a, left, size, {"page_id": row * kt + k})
            noc.async_read(b, right, size, {"page_id": k * nt + column})
            noc.async_read_barrier()
            right.push_back(1)
            left.push_back(1)


def multiply() -> None:
    """Compute: result tiles as sums over K in Dst.

    Arguments: number of tiles, Kt.
    """
    tiles, kt = get_arg_val(0), get_arg_val(1)
    left, right, out = (DataflowBuffer(index) for index in (0, 1, 16))
    compute_kernel_hw_startup(0, 1, 16, reverse=True)
    matmul_init(0, 1)
    for _ in range(tiles):
        tile_regs_acquire()
        for _ in range(kt):
            left.wait_front(1)
            right.wait_front(1)
            matmul_tiles(0, 1, 0, 0, 0)
            right.pop_front(1)
            left.pop_front(1)
        tile_regs_commit()
        tile_regs_wait()
        out.reserve_back(1)
        pack_tile(0, 16)
        out.push_back(1)
        tile_regs_release()


def write_out() -> None:
    """Writer: CB 16 to each tile's bank, one packet each."""
    tiles = get_arg_val(1)
    noc, out = Noc(), DataflowBuffer(16)
    target = TensorAccessor(TensorAccessorArgs[0](), get_arg_val(0))
    for page in target.pages(0, tiles):
        out.wait_front(1)
        noc.set_async_write_state(page.noc_addr, out.get_entry_size())
        noc.async_write_with_state(out, page.noc_addr)
        noc.async_write_barrier()
        out.pop_front(1)


def run(device: ttnn.MeshDevice, m: int = 128, k: int = 128, n: int = 128) -> Outcome:
    """Multiply m x k by k x n."""
    a, b = operands(device, m, k, n)
    out = empty((m, n), device)
    mt, kt, nt = m // 32, k // 32, n // 32

    program = metal.create_program()
    for index in (0, 1, 16):
        add_cb(program, CORE, index, 2)
    sources = [word for tensor in (a, b) for word in ttnn.TensorAccessorArgs(tensor).get_compile_time_args()]
    target = ttnn.TensorAccessorArgs(out).get_compile_time_args()
    reading, writing = (
        metal.ReaderDataMovementConfig(compile_args=sources),
        metal.WriterDataMovementConfig(compile_args=target),
    )
    reader = metal.create_kernel(program, read_operands, CORE, reading)
    writer = metal.create_kernel(program, write_out, CORE, writing)
    compute = metal.create_kernel(program, multiply, CORE, compute_config())
    metal.set_runtime_args(program, reader, CORE, [a.buffer_address(), b.buffer_address(), mt * nt, kt, nt])
    metal.set_runtime_args(program, writer, CORE, [out.buffer_address(), mt * nt])
    metal.set_runtime_args(program, compute, CORE, [mt * nt, kt])

    report = metal.enqueue_program(metal.command_queue(device), program)
    expected = by_operator(a, b, Blocking(mt, nt, kt, kt, 1, 1), (1, 1))
    did = f"{m} x {k} by {k} x {n} on core 0-0"
    return Outcome(report, did, {"same bits as ttnn.matmul": same_bits(out, expected)})


if __name__ == "__main__":
    main(run, "Matmul on one core in the spelling of 0.81.1")

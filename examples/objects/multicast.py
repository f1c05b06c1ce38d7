"""A tile multicast to a row of cores, which add it.

One core reads it; each adds it to tiles of its own.

In the spelling of 0.81.1: `Semaphore` objects for "I am ready" and "it is there", a multicast to an endpoint.
"""

from __future__ import annotations

import numpy as np

import ttnn
from examples.common import BF16_TILE, Outcome, add_cb, empty, kernel, main, random_bf16, to_device
from ttnn import metal
from ttnn.kernel_api import *

SHARED, OWN, OUT = 0, 1, 16


def spread() -> None:
    """Reader of the first core: waits, reads and multicasts the tile.

    It waits until the others are ready.
    """
    x0, y0, x1, y1, others = (get_arg_val(i) for i in range(1, 6))
    noc, shared = Noc(), DataflowBuffer(SHARED)
    ready, sent = Semaphore(get_arg_val(6)), Semaphore(get_arg_val(7))
    source = TensorAccessor(TensorAccessorArgs[0](), get_arg_val(0))
    shared.reserve_back(1)
    noc.async_read(source, shared, shared.get_entry_size(), {"page_id": 0})
    noc.async_read_barrier()
    ready.down(others)
    target = {"noc_x_start": x0, "noc_y_start": y0, "noc_x_end": x1, "noc_y_end": y1, "addr": shared.get_write_ptr()}
    noc.async_write_multicast(
        shared.get_write_ptr(), MulticastEndpoint(), shared.get_entry_size(), others, None, target, linked=True
    )
    sent.set(1)
    sent.set_multicast(noc, x0, y0, x1, y1, others)
    noc.async_write_barrier()
    shared.push_back(1)


def receive() -> None:
    """Reader of the other cores: signals readiness, and waits for the tile."""
    noc, shared = Noc(), DataflowBuffer(SHARED)
    ready, sent = Semaphore(get_arg_val(2)), Semaphore(get_arg_val(3))
    shared.reserve_back(1)
    ready.up(1, noc, noc_x=get_arg_val(0), noc_y=get_arg_val(1))
    noc.async_atomic_barrier()
    sent.wait(1)
    shared.push_back(1)


def own_tiles() -> None:
    """Writer: reads this core's tiles, and writes the sums."""
    first, tiles = get_arg_val(2), get_arg_val(3)
    noc, own, out = Noc(), DataflowBuffer(OWN), DataflowBuffer(OUT)
    args = TensorAccessorArgs[0]()
    source = TensorAccessor(args, get_arg_val(0))
    target = TensorAccessor(TensorAccessorArgs[args.next_compile_time_args_offset()](), get_arg_val(1))
    for tile in range(first, first + tiles):
        own.reserve_back(1)
        noc.async_read(source, own, own.get_entry_size(), {"page_id": tile})
        noc.async_read_barrier()
        own.push_back(1)
        out.wait_front(1)
        noc.async_write(out, target, out.get_entry_size(), None, {"page_id": tile})
        noc.async_write_barrier()
        out.pop_front(1)


def add() -> None:
    """Compute: the shared tile plus each of this core's."""
    tiles = get_named_compile_time_arg_val("tiles")
    shared, own, out = (DataflowBuffer(index) for index in (SHARED, OWN, OUT))
    compute_kernel_hw_startup(SHARED, OWN, OUT)
    add_init(SHARED, OWN)
    shared.wait_front(1)
    for _ in range(tiles):
        own.wait_front(1)
        out.reserve_back(1)
        tile_regs_acquire()
        add_tiles(SHARED, OWN, 0, 0, 0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, OUT)
        tile_regs_release()
        out.push_back(1)
        own.pop_front(1)
    shared.pop_front(1)


def run(device: ttnn.MeshDevice, cores: int = 6, tiles: int = 4) -> Outcome:
    """Add a tile to `tiles` tiles on each of `cores` cores."""
    values, tile = random_bf16((32 * cores * tiles, 32), 1), random_bf16((32, 32), 2)
    x, shared = to_device(values, device), to_device(tile, device)
    out = empty(values.shape, device)
    row = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(cores - 1, 0))
    head = metal.CoreRange(row.start, row.start)
    rest = metal.CoreRangeSet([row]).subtract(metal.CoreRangeSet([head]))

    program = metal.create_program()
    for index, pages in ((SHARED, 1), (OWN, 2), (OUT, 2)):
        add_cb(program, row, index, pages, page_size=BF16_TILE)
    ready, sent = (metal.create_semaphore(program, row, 0) for _ in range(2))
    words = [word for tensor in (x, out) for word in ttnn.TensorAccessorArgs(tensor).get_compile_time_args()]
    source = ttnn.TensorAccessorArgs(shared).get_compile_time_args()
    sender = metal.create_kernel(program, kernel(spread), head, metal.ReaderDataMovementConfig(compile_args=source))
    receiver = metal.create_kernel(program, kernel(receive), rest, metal.ReaderDataMovementConfig())
    mover = metal.create_kernel(program, kernel(own_tiles), row, metal.WriterDataMovementConfig(compile_args=words))
    metal.create_kernel(program, kernel(add), row, metal.ComputeConfig(named_compile_args={"tiles": tiles}))
    first, last = (device.worker_core_from_logical_core(core) for core in (row.start, row.end))
    box = [first.x, first.y, last.x, last.y]
    metal.set_runtime_args(program, sender, head, [shared.buffer_address(), *box, cores - 1, ready, sent])
    metal.set_runtime_args(program, receiver, rest, [first.x, first.y, ready, sent])
    for index in range(cores):
        args = [x.buffer_address(), out.buffer_address(), index * tiles, tiles]
        metal.set_runtime_args(program, mover, metal.CoreCoord(index, 0), args)

    report = metal.enqueue_program(metal.command_queue(device), program)
    repeated = to_device(np.tile(tile, (cores * tiles, 1)), device)
    same = np.array_equal(ttnn.to_numpy(out), ttnn.to_numpy(ttnn.add(repeated, x)))
    return Outcome(report, f"a tile to {cores} cores, {tiles} sums on each", {"same bits as ttnn.add": same})


if __name__ == "__main__":
    main(run, "Multicast with semaphore objects")

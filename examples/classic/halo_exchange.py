"""Heat along 1,024 rods, with segments exchanged between neighbour cores.

Each core keeps a stretch of every rod in L1 and swaps its ends with its neighbours.

A tile is one place along all rods; place p of the next step is the mean of places p - 1 and p + 1. Before each step
every core sends its first and last place to the neighbours' halo and waits for theirs.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

import ttnn
from examples.common import Outcome, add_cb, main
from ttnn import metal
from ttnn.kernel_api import *

HALO_LEFT, STRETCH, HALO_RIGHT, NEXT = 0, 1, 2, 16
HALF = 0x3F00_0000
BYTES = 2048


def exchange() -> None:
    """Data movement: loads a stretch, swaps ends, stores the state.

    It swaps before each step and stores the last state.

    Arguments: addresses of source and target, first place, places, steps, semaphores of what came from the left and
    from the right and of the room that each neighbour has, then x, y, whether there is one, for both neighbours.
    """
    source, target, first, places, steps = (get_arg_val(i) for i in range(5))
    from_left, from_right, room_left, room_right = (get_semaphore(get_arg_val(i)) for i in range(5, 9))
    left, right = ((get_arg_val(i), get_arg_val(i + 1)) if get_arg_val(i + 2) else None for i in (9, 12))
    read_from = InterleavedAddrGenFast[True](source, BYTES, get_dataformat(STRETCH))
    write_to = InterleavedAddrGenFast[True](target, BYTES, get_dataformat(STRETCH))

    cb_reserve_back(STRETCH, places)
    l1 = get_write_ptr(STRETCH)
    for place in range(places):
        noc_async_read_tile(first + place, read_from, l1 + place * BYTES)
    noc_async_read_barrier()
    for step in range(1, steps + 1):
        ends = get_write_ptr(STRETCH), get_write_ptr(STRETCH) + (places - 1) * BYTES
        for halo in (HALO_LEFT, HALO_RIGHT):
            cb_reserve_back(halo, 1)
        sides = (
            # neighbour, its halo, its count of arrivals, our end; our arrivals, the room that both sides count
            (left, HALO_RIGHT, from_right, ends[0], HALO_LEFT, from_left, room_right, room_left),
            (right, HALO_LEFT, from_left, ends[1], HALO_RIGHT, from_right, room_left, room_right),
        )
        for neighbour, _, _, _, _, _, its_room, _ in sides:
            if neighbour:
                noc_semaphore_inc(get_noc_addr(*neighbour, its_room), 1)
        for neighbour, its_halo, its_arrivals, end, _, _, _, room in sides:
            if neighbour:
                noc_semaphore_wait_min(L1Pointer(room), step)
                noc_async_write(end, get_noc_addr(*neighbour, get_write_ptr(its_halo)), BYTES)
                noc_async_write_barrier()
                noc_semaphore_inc(get_noc_addr(*neighbour, its_arrivals), 1)
        for neighbour, _, _, end, halo, arrivals, _, _ in sides:
            if neighbour:
                noc_semaphore_wait_min(L1Pointer(arrivals), step)
            else:
                # The end of the rod is insulated: it sees itself.
                L1Pointer(get_write_ptr(halo)).write(L1Pointer(end).read(BYTES // 4))
        cb_push_back(STRETCH, places)
        cb_push_back(HALO_LEFT, 1)
        cb_push_back(HALO_RIGHT, 1)
        cb_wait_front(NEXT, places)
        l1 = get_read_ptr(NEXT)
        if step < steps:
            cb_reserve_back(STRETCH, places)
            L1Pointer(get_write_ptr(STRETCH)).write(L1Pointer(l1).read(places * BYTES // 4))
        else:
            for place in range(places):
                noc_async_write_tile(first + place, write_to, l1 + place * BYTES)
            noc_async_write_barrier()
        cb_pop_front(NEXT, places)
    noc_async_atomic_barrier()


def step() -> None:
    """Compute: the mean of both neighbours, for every place of the stretch."""
    places, steps = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    binary_op_init_common(STRETCH, STRETCH, NEXT)
    for _ in range(steps):
        for cb, pages in ((HALO_LEFT, 1), (STRETCH, places), (HALO_RIGHT, 1)):
            cb_wait_front(cb, pages)
        cb_reserve_back(NEXT, places)
        for place in range(places):
            before = (STRETCH, place - 1) if place > 0 else (HALO_LEFT, 0)
            after = (STRETCH, place + 1) if place < places - 1 else (HALO_RIGHT, 0)
            add_tiles_init(before[0], after[0])
            binop_with_scalar_tile_init()
            tile_regs_acquire()
            add_tiles(before[0], after[0], before[1], after[1], 0)
            mul_unary_tile(0, HALF)
            tile_regs_commit()
            tile_regs_wait()
            pack_tile(0, NEXT)
            tile_regs_release()
        cb_push_back(NEXT, places)
        for cb, pages in ((HALO_LEFT, 1), (STRETCH, places), (HALO_RIGHT, 1)):
            cb_pop_front(cb, pages)


def on_one_core(rods: np.ndarray, steps: int, device: ttnn.MeshDevice) -> np.ndarray:
    """Return the same with operators on whole tensors."""
    state = rods.astype(np.float32)
    for _ in range(steps):
        sides = np.vstack([state[:1], state[:-1]]), np.vstack([state[1:], state[-1:]])
        before, after = (
            ttnn.from_torch(side, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) for side in sides
        )
        state = ttnn.to_numpy(ttnn.multiply(ttnn.add(before, after), 0.5)).astype(np.float32)
    return state.astype(ml_dtypes.bfloat16)


def run(device: ttnn.MeshDevice, cores: int = 4, places: int = 4, steps: int = 5) -> Outcome:
    """Compute `steps` steps on rods of cores x places points."""
    rods = np.random.default_rng(9).standard_normal((cores * places, 1024), dtype=np.float32).astype(ml_dtypes.bfloat16)
    dram = metal.InterleavedBufferConfig(device=device, size=rods.nbytes, page_size=BYTES)
    source, target = metal.create_buffer(dram), metal.create_buffer(dram)
    queue = metal.command_queue(device)
    metal.enqueue_write_buffer(queue, source, rods)

    row = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(cores - 1, 0))
    program = metal.create_program()
    for index, pages in ((HALO_LEFT, 1), (STRETCH, places), (HALO_RIGHT, 1), (NEXT, places)):
        add_cb(program, row, index, pages)
    semaphores = [metal.create_semaphore(program, row, 0) for _ in range(4)]
    mover = metal.create_kernel(program, exchange, row, metal.DataMovementConfig())
    metal.create_kernel(program, step, row, metal.ComputeConfig(compile_args=[places, steps]))
    for index in range(cores):
        neighbours = []
        for other in (index - 1, index + 1):
            there = 0 <= other < cores
            at = device.worker_core_from_logical_core(metal.CoreCoord(other if there else index, 0))
            neighbours += [at.x, at.y, int(there)]
        arguments = [source, target, index * places, places, steps, *semaphores, *neighbours]
        metal.set_runtime_args(program, mover, metal.CoreCoord(index, 0), arguments)

    report = metal.enqueue_program(queue, program)
    after = metal.enqueue_read_buffer(queue, target, np.empty_like(rods))
    did = f"{steps} steps on {cores} cores with {places} places each, {sum(report.noc_bytes):,} B over the NoC"
    same = after.tobytes() == on_one_core(rods, steps, device).tobytes()
    return Outcome(report, did, {"same bits as add and multiply on whole tensors": same})


if __name__ == "__main__":
    main(run, "Halo exchange between neighbours")

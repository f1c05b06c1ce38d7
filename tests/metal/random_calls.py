"""Random programs' kernels as call lists, to lose, repeat or change."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ttnn.kernel_api import *

PAGE = 2048
SOURCE_TILES = 8
"""Tiles that a program reads from, and that it may write."""
Call = tuple[Callable[..., Any], tuple[Any, ...]]
VECTOR = ((exp_tile_init, exp_tile), (recip_tile_init, recip_tile), (relu_tile_init, relu_tile))
READY, VALID = 0, 1
"""Semaphores of multi-core programs.

Receivers count the first, the sender sets the second.
"""


class Place(NamedTuple):
    """NoC coordinates of a core."""

    x: int
    y: int


class Read:
    """Start reading a buffer's tile into a CB's back."""

    def __call__(self, base: int, tile: int, cb: int, place: int) -> None:
        pages = InterleavedAddrGenFast[True](base, PAGE, get_dataformat(cb))
        noc_async_read_tile(tile, pages, get_write_ptr(cb) + place * PAGE)


class Write:
    """Start writing a tile of a CB's front."""

    def __call__(self, base: int, tile: int, cb: int, place: int) -> None:
        pages = InterleavedAddrGenFast[True](base, PAGE, get_dataformat(cb))
        noc_async_write_tile(tile, pages, get_read_ptr(cb) + place * PAGE)


class Signal:
    """Count a semaphore of a core up."""

    def __call__(self, x: int, y: int, semaphore: int) -> None:
        noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(semaphore)), 1)
        noc_async_atomic_barrier()


class Await:
    """Wait until this core's semaphore has at least a value."""

    def __call__(self, semaphore: int, value: int) -> None:
        noc_semaphore_wait_min(L1Pointer(get_semaphore(semaphore)), value)


class AwaitExactly:
    """Wait for a semaphore of this core to have a value."""

    def __call__(self, semaphore: int, value: int) -> None:
        noc_semaphore_wait(L1Pointer(get_semaphore(semaphore)), value)


class Set:
    """Set a semaphore of this core."""

    def __call__(self, semaphore: int, value: int) -> None:
        noc_semaphore_set(L1Pointer(get_semaphore(semaphore)), value)


class Multicast:
    """Start sending a CB's back page to a row of cores.

    It has the same place on all of them.
    """

    def __call__(self, x0: int, x1: int, y: int, cb: int, cores: int) -> None:
        target = get_noc_multicast_addr(x0, y, x1, y, get_write_ptr(cb))
        noc_async_write_multicast(get_write_ptr(cb), target, PAGE, cores)


class SetMulticast:
    """Start setting a row's semaphores to the local value."""

    def __call__(self, x0: int, x1: int, y: int, semaphore: int, cores: int) -> None:
        target = get_noc_multicast_addr(x0, y, x1, y, get_semaphore(semaphore))
        noc_semaphore_set_multicast(get_semaphore(semaphore), target, cores)


class Send:
    """Start sending a CB's front to unreserved CB memory elsewhere.

    It is on another core, where nobody reserves pages.
    """

    def __call__(self, x: int, y: int, cb: int, target: int) -> None:
        ring = get_local_cb_interface(target)
        noc_async_write(get_read_ptr(cb), get_noc_addr(x, y, ring.fifo_limit - ring.fifo_size), PAGE)


class Keep:
    """Start writing a tile from unreserved CB memory."""

    def __call__(self, base: int, tile: int, cb: int) -> None:
        ring = get_local_cb_interface(cb)
        pages = InterleavedAddrGenFast[True](base, PAGE, get_dataformat(cb))
        noc_async_write_tile(tile, pages, ring.fifo_limit - ring.fifo_size)


class Fill:
    """Store words into the page at a CB's back."""

    def __call__(self, cb: int, word: int) -> None:
        L1Pointer(get_write_ptr(cb)).write([word] * (PAGE // 4))


class PackAt:
    """Pack a tile of Dst to a tile of a CB's back."""

    def __call__(self, dst: int, cb: int, tile: int) -> None:
        pack_tile(dst, cb, tile, out_of_order=True)


def reader(chance: random.Random, base: int, tiles: int, block: int, cbs: Sequence[int]) -> list[Call]:
    """Return a reader's calls: blocks of tiles into every CB."""
    calls: list[Call] = []
    for _ in range(0, tiles, block):
        for cb in cbs:
            calls.append((cb_reserve_back, (cb, block)))
            calls += [(Read(), (base, chance.randrange(SOURCE_TILES), cb, place)) for place in range(block)]
            calls += [(noc_async_read_barrier, ()), (cb_push_back, (cb, block))]
    return calls


def maker(chance: random.Random, tiles: int, cb: int) -> list[Call]:
    """Return the calls of a reader that makes up its tiles."""
    calls: list[Call] = []
    for _ in range(tiles):
        word = chance.choice((0x3F80_3F80, 0x4000_BF80, 0))
        calls += [(cb_reserve_back, (cb, 1)), (Fill(), (cb, word)), (cb_push_back, (cb, 1))]
    return calls


def compute(chance: random.Random, tiles: int, block: int) -> list[Call]:
    """Return compute kernel calls: an FPU step, maybe an SFPU step."""
    kind = chance.randrange(4)
    calls: list[Call] = [(binary_op_init_common, (0, 1, 16))]
    inits: list[Call] = [
        (add_tiles_init, (0, 1)),
        (mul_tiles_init, (0, 1)),
        (matmul_init, (0, 1)),
        (copy_tile_to_dst_init_short, (0,)),
    ]
    if kind == 2:
        calls = [(mm_init, (0, 1, 16))]
    calls.append(inits[kind])
    steps: list[Callable[[int], Call]] = [
        lambda i: (add_tiles, (0, 1, i, i, i)),
        lambda i: (mul_tiles, (0, 1, i, i, i)),
        lambda i: (matmul_tiles, (0, 1, i, i, i)),
        lambda i: (copy_tile, (0, i, i)),
    ]
    vector = chance.choice((None, *VECTOR))
    if vector:
        calls.append((vector[0], ()))
    for _ in range(0, tiles, block):
        calls += [(cb_wait_front, (cb, block)) for cb in (0, 1)] + [(tile_regs_acquire, ())]
        for i in range(block):
            calls.append(steps[kind](i))
            if vector:
                calls.append((vector[1], (i,)))
        calls += [(tile_regs_commit, ())] + [(cb_pop_front, (cb, block)) for cb in (0, 1)]
        calls += [(cb_reserve_back, (16, block)), (tile_regs_wait, ())]
        calls += [(pack_tile, (i, 16)) for i in range(block)]
        calls += [(tile_regs_release, ()), (cb_push_back, (16, block))]
    return calls


def copying(chance: random.Random, tiles: int) -> list[Call]:
    """Return compute kernel calls: copies, perhaps through a function."""
    vector = chance.choice((None, *VECTOR))
    calls: list[Call] = [(unary_op_init_common, (0, 16)), *([(vector[0], ())] if vector else [])]
    for _ in range(tiles):
        calls += [(cb_wait_front, (0, 1)), (tile_regs_acquire, ()), (copy_tile, (0, 0, 0))]
        calls += [(vector[1], (0,))] if vector else []
        calls += [(tile_regs_commit, ()), (cb_pop_front, (0, 1)), (cb_reserve_back, (16, 1)), (tile_regs_wait, ())]
        calls += [(pack_tile, (0, 16)), (tile_regs_release, ()), (cb_push_back, (16, 1))]
    return calls


def accumulating(tiles: int) -> list[Call]:
    """Return compute kernel calls with packer accumulation in L1."""
    calls: list[Call] = [(unary_op_init_common, (0, 16)), (cb_reserve_back, (16, 1))]
    for tile in range(tiles):
        calls += [(cb_wait_front, (0, 1)), (tile_regs_acquire, ()), (copy_tile, (0, 0, 0)), (tile_regs_commit, ())]
        calls += [(cb_pop_front, (0, 1)), (tile_regs_wait, ()), (pack_reconfig_l1_acc, (int(tile > 0),))]
        calls += [(PackAt(), (0, 16, 0)), (tile_regs_release, ())]
    return [*calls, (pack_reconfig_l1_acc, (0,)), (cb_push_back, (16, 1))]


def writer(base: int, first: int, tiles: int, block: int, cb: int = 16) -> list[Call]:
    """Return the calls of a writer."""
    calls: list[Call] = []
    for start in range(0, tiles, block):
        calls.append((cb_wait_front, (cb, block)))
        calls += [(Write(), (base, first + start + place, cb, place)) for place in range(block)]
        calls += [(noc_async_write_barrier, ()), (cb_pop_front, (cb, block))]
    return calls


def sender(chance: random.Random, base: int, tiles: int, places: Sequence[Place]) -> list[Call]:
    """Return the calls of a reader that sends tiles along a row."""
    count = len(places) - 1
    row = (places[1].x, places[-1].x, places[0].y)
    calls: list[Call] = []
    for _ in range(tiles):
        calls += [(cb_reserve_back, (0, 1)), (Read(), (base, chance.randrange(SOURCE_TILES), 0, 0))]
        calls += [(noc_async_read_barrier, ()), (AwaitExactly(), (READY, count)), (Set(), (READY, 0))]
        calls += [(Multicast(), (*row, 0, count)), (Set(), (VALID, 1)), (SetMulticast(), (*row, VALID, count))]
        calls += [(noc_async_write_barrier, ()), (cb_push_back, (0, 1))]
    return calls


def receiver(tiles: int, home: Place) -> list[Call]:
    """Return the calls of a reader on a receiving core."""
    calls: list[Call] = []
    for _ in range(tiles):
        calls += [(cb_reserve_back, (0, 1)), (Set(), (VALID, 0)), (Signal(), (*home, READY))]
        calls += [(AwaitExactly(), (VALID, 1)), (cb_push_back, (0, 1))]
    return calls


def passing(base: int, index: int, following: Place) -> list[Call]:
    """Return the calls of a writer that passes its tile on.

    It passes it to the next core, and keeps the one it receives.
    """
    calls: list[Call] = [(cb_wait_front, (0, 1)), (Send(), (*following, 0, 2)), (noc_async_write_barrier, ())]
    calls += [(Signal(), (*following, READY)), (cb_pop_front, (0, 1)), (Await(), (READY, 1))]
    return [*calls, (Keep(), (base, index, 2)), (noc_async_write_barrier, ())]


def spoil(chance: random.Random, calls: list[Call]) -> None:
    """Lose, repeat, swap or change one call."""
    at = chance.randrange(len(calls))
    mistake = chance.randrange(4)
    if mistake == 0:
        del calls[at]
    elif mistake == 1:
        calls.insert(at, calls[at])
    elif mistake == 2:
        other = chance.randrange(len(calls))
        calls[at], calls[other] = calls[other], calls[at]
    else:
        function, args = calls[at]
        if args:
            which = chance.randrange(len(args))
            changed = max(0, args[which] + chance.choice((-1, 1, 2, 16)))
            calls[at] = function, (*args[:which], changed, *args[which + 1 :])


def perform(calls: list[Call]) -> Callable[[], None]:
    """Return a kernel that makes these calls."""

    def kernel() -> None:
        for function, args in calls:
            function(*args)

    return kernel

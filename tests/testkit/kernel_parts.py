"""Kernel steps that broken and correct test kernels share."""

from __future__ import annotations

from ttnn.kernel_api import *

PAGE = 2048


def pages_of(address: int, page: int = PAGE) -> InterleavedAddrGen:
    """Return the pages of a buffer in DRAM."""
    return InterleavedAddrGen[True](bank_base_address=address, page_size=page)


def tiles_of(address: int, cb: int) -> InterleavedAddrGenFast:
    """Return a DRAM buffer's tiles, in a CB's format."""
    return InterleavedAddrGenFast[True](address, get_tile_size(cb), get_dataformat(cb))


# Data movement. The first argument of the kernel is the buffer.


def fill(address: int, value: int = 1) -> None:
    """Store a page of words."""
    L1Pointer(address).write([value] * (PAGE // 4))


def push_words(cb: int) -> None:
    """Push a page of words."""
    cb_reserve_back(cb, 1)
    fill(get_write_ptr(cb))
    cb_push_back(cb, 1)


def read_tile(tile: int, at: int) -> None:
    """Read a tile and wait for it."""
    noc_async_read_tile(tile, tiles_of(get_arg_val(0), 0), at)
    noc_async_read_barrier()


def push_tile(tile: int = 0) -> None:
    """Read a tile to CB 0."""
    cb_reserve_back(0, 1)
    read_tile(tile, get_write_ptr(0))
    cb_push_back(0, 1)


def write_front(tile: int) -> None:
    """Write the tile at the front of CB 16."""
    noc_async_write_tile(tile, tiles_of(get_arg_val(0), 16), get_read_ptr(16))
    noc_async_write_barrier()


def pop_tile(tile: int = 0) -> None:
    """Write a tile of CB 16 and free its page."""
    cb_wait_front(16, 1)
    write_front(tile)
    cb_pop_front(16, 1)


def count(semaphore: int = 0, value: int = 1) -> None:
    """Count a semaphore of this core up."""
    noc_semaphore_inc(get_noc_addr(get_semaphore(semaphore)), value)
    noc_async_atomic_barrier()


# Several cores. Arguments of two: x and y of core 0-0, x and y of core 1-0, then buffers. Of three: two words more.


def page_in_dram(page: int = 0, at: int = 4) -> int:
    """Return a page's NoC address in this argument's buffer."""
    return get_noc_addr(page, pages_of(get_arg_val(at)))


def at_neighbour(address: int) -> int:
    """Return the NoC address of an L1 location on core 1-0."""
    return get_noc_addr(get_arg_val(2), get_arg_val(3), address)


def be_late(scratch: int) -> None:
    """Delay this kernel so that the program's others run first."""
    for _ in range(4):
        fill(scratch)


def signal(x: int, y: int, semaphore: int = 0) -> None:
    """Count a semaphore of a core up."""
    noc_semaphore_inc(get_noc_addr(get_arg_val(x), get_arg_val(y), get_semaphore(semaphore)), 1)
    noc_async_atomic_barrier()


def wait(value: int = 1, semaphore: int = 0) -> None:
    """Wait until a semaphore has at least this value."""
    noc_semaphore_wait_min(L1Pointer(get_semaphore(semaphore)), value)


def send(source: int, target: int, noc: int = -1) -> None:
    """Send a page to core 1-0 without waiting for it."""
    noc_async_write(source, at_neighbour(target), PAGE, noc)


def read_page(page: int, place: int, at: int = 4) -> None:
    """Read a page of this argument's buffer and wait."""
    noc_async_read(page_in_dram(page, at), place, PAGE)
    noc_async_read_barrier()


def write_page(page: int, place: int, at: int = 4) -> None:
    """Write a page of this argument's buffer and wait."""
    noc_async_write(place, page_in_dram(page, at), PAGE)
    noc_async_write_barrier()


# Compute.


def front_and_dst() -> None:
    """Set up copies, wait for a CB 0 tile, acquire Dst."""
    unary_op_init_common(0, 16)
    cb_wait_front(0, 1)
    tile_regs_acquire()


def tile_in_dst() -> None:
    """Set up copies and have a tile in Dst 0."""
    front_and_dst()
    copy_tile(0, 0, 0)


def ready_to_pack(cb: int = 16) -> None:
    """Pass Dst to the packer, which reserves a page."""
    tile_regs_commit()
    cb_reserve_back(cb, 1)
    tile_regs_wait()


def pack_one() -> None:
    """Pass Dst to the packer and push tile 0 to CB 16."""
    tile_regs_commit()
    tile_regs_wait()
    cb_reserve_back(16, 1)
    pack_tile(0, 16)
    cb_push_back(16, 1)
    tile_regs_release()


def copy_one(push: bool = True, pop: bool = True) -> None:
    """Copy a tile from CB 0 to CB 16, without push/pop."""
    cb_wait_front(0, 1)
    tile_regs_acquire()
    copy_tile(0, 0, 0)
    tile_regs_commit()
    if pop:
        cb_pop_front(0, 1)
    cb_reserve_back(16, 1)
    tile_regs_wait()
    pack_tile(0, 16)
    tile_regs_release()
    if push:
        cb_push_back(16, 1)


def copy_tiles() -> None:
    """Compute: CB 0 to CB 16 by tile. Argument: number of tiles."""
    unary_op_init_common(0, 16)
    for _ in range(get_arg_val(0)):
        copy_one()

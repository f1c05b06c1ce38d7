"""All data movement: byte enables, state, transaction ids, multicast, walks.

The walks are over tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

import ttnn
from testkit.parts import CORE, TILE, add_cb, tiles_buffer, values
from ttnn import kernel_api as api
from ttnn import metal
from ttnn.base.exceptions import AddressError, KernelArgumentError, UnsupportedError
from ttnn.kernel_api.context import here


def run(
    device: ttnn.MeshDevice,
    kernel: Callable[[], None],
    args: Sequence[Any] = (),
    common: Sequence[int] = (),
    cores: Any = CORE,
    semaphores: int = 0,
    compile_args: Sequence[int] = (),
) -> metal.Report:
    """Run one data-movement kernel with CB 0 of four bfloat16 tiles."""
    program = metal.create_program()
    add_cb(program, 0, 4, cores=cores)
    for _ in range(semaphores):
        metal.create_semaphore(program, cores, 0)
    config = metal.ReaderDataMovementConfig(compile_args=list(compile_args))
    handle = metal.create_kernel(program, kernel, cores, config)
    metal.set_runtime_args(program, handle, cores, list(args))
    metal.set_common_runtime_args(program, handle, list(common))
    return metal.enqueue_program(metal.command_queue(device), program)


def test_inline_writes_change_only_enabled_bytes(device: ttnn.MeshDevice) -> None:
    seen = []

    def kernel() -> None:
        word = api.get_write_ptr(0)
        for enabled in range(1, 16):
            api.L1Pointer(word)[0] = 0x11223344
            api.noc_inline_dw_write(api.get_noc_addr(word), 0xAABBCCDD, enabled)
            api.noc_async_write_barrier()
            seen.append((enabled, api.L1Pointer(word)[0]))

    run(device, kernel)
    for enabled, word in seen:
        mask = sum(0xFF << 8 * byte for byte in range(4) if enabled >> byte & 1)
        assert word == 0x11223344 & ~mask | 0xAABBCCDD & mask, enabled


@pytest.mark.parametrize("enabled", [0, 16])
def test_byte_enables_beyond_a_word_raise(device: ttnn.MeshDevice, enabled: int) -> None:
    def kernel() -> None:
        api.noc_inline_dw_write(api.get_noc_addr(api.get_write_ptr(0)), 1, enabled)

    with pytest.raises(KernelArgumentError, match=rf"byte enables {enabled:#x}; a word has bytes 0x1 to 0xf"):
        run(device, kernel)


def test_inline_writes_use_their_stored_state(device: ttnn.MeshDevice) -> None:
    seen = []

    def kernel() -> None:
        word = api.get_write_ptr(0)
        for offset in (0, 4, 8):
            api.L1Pointer(word + offset)[0] = 0
        api.noc_inline_dw_write_set_state(api.get_noc_addr(word), be=0x3)
        api.noc_inline_dw_write_with_state(0xFFFFFFFF)
        api.noc_inline_dw_write_with_state(0x12345678, word + 8)
        api.noc_async_write_barrier()
        seen.extend(api.L1Pointer(word).read(3).tolist())

    run(device, kernel)
    assert seen == [0xFFFF, 0, 0x5678]


WRITES: dict[str, Callable[[int, int, int], None]] = {}


def write(function: Callable[[int, int, int], None]) -> Callable[[int, int, int], None]:
    """Add a way to write 2048 own L1 bytes to NoC."""
    WRITES[function.__name__] = function
    return function


@write
def plain(source: int, target: int, local: int) -> None:
    api.noc_async_write(source, target, 2048)
    api.noc_async_write_barrier()


@write
def one_packet(source: int, target: int, local: int) -> None:
    api.noc_async_write_one_packet(source, target, 2048)
    api.noc_async_posted_writes_flushed()
    api.noc_async_full_barrier()


@write
def with_state(source: int, target: int, local: int) -> None:
    api.noc_async_write_set_state(target)
    api.noc_async_write_with_state(source, local, 1024)
    api.noc_async_write_with_state(source + 1024, local + 1024, 1024)
    api.noc_async_write_barrier()


@write
def one_packet_with_state(source: int, target: int, local: int) -> None:
    api.noc_async_write_one_packet_set_state(target, 512)
    for offset in range(0, 2048, 512):
        api.noc_async_write_one_packet_with_state(source + offset, local + offset)
    api.noc_async_write_barrier()


@write
def with_trid(source: int, target: int, local: int) -> None:
    api.noc_async_write_one_packet_with_trid(source, target, 2048, 3)
    api.noc_async_write_flushed_with_trid(3)
    api.noc_async_write_barrier_with_trid(3)


@write
def with_trid_and_state(source: int, target: int, local: int) -> None:
    api.noc_async_write_one_packet_with_trid_set_state(target)
    for trid, offset in enumerate(range(0, 2048, 512)):
        api.noc_async_write_one_packet_with_trid_with_state(source + offset, local + offset, 512, trid)
    for trid in range(4):
        api.noc_async_write_barrier_with_trid(trid)


@write
def forgotten(source: int, target: int, local: int) -> None:
    api.noc_async_write_one_packet_with_trid(source, target, 2048, 5)
    api.reset_noc_trid_barrier_counter(1 << 5)


@write
def object_style(source: int, target: int, local: int) -> None:
    noc = api.Noc()
    noc.set_write_trid(2)
    noc.set_async_write_state(target)
    noc.async_write_with_state(source, local, 2048)
    noc.async_writes_flushed(trid=2)
    noc.async_write_barrier(trid=2)


@pytest.mark.parametrize("name", WRITES)
def test_every_write_call_writes_the_page(device: ttnn.MeshDevice, name: str) -> None:
    source, out = tiles_buffer(device, 1), tiles_buffer(device, 1)
    queue = metal.command_queue(device)
    metal.enqueue_write_buffer(queue, source, values(TILE, 1))

    def kernel() -> None:
        page = api.get_write_ptr(0)
        api.cb_reserve_back(0, 1)
        api.noc_async_read_page(0, api.InterleavedPow2AddrGen[True](api.get_arg_val(0), 11), page)
        api.noc_async_read_barrier()
        target = api.get_noc_addr(0, api.InterleavedPow2AddrGenFast[True](api.get_arg_val(1), 11))
        WRITES[name](page, target, target & (1 << 36) - 1)
        api.cb_push_back(0, 1)
        api.cb_wait_front(0, 1)
        api.cb_pop_front(0, 1)

    run(device, kernel, [source, out])
    np.testing.assert_array_equal(metal.enqueue_read_buffer(queue, out), metal.enqueue_read_buffer(queue, source))


def test_a_barrier_waits_for_its_transaction_id_only(device: ttnn.MeshDevice) -> None:
    source = tiles_buffer(device, 12)
    metal.enqueue_write_buffer(metal.command_queue(device), source, values(12 * TILE, 2))
    clocks = []

    def kernel() -> None:
        page = api.get_write_ptr(0)
        pages = api.InterleavedAddrGen(api.get_arg_val(0), 2048)
        api.noc_async_read_set_trid(1)
        api.noc_async_read_page(0, pages, page)
        api.noc_async_read_set_trid(2)
        for _ in range(8):
            api.noc_async_read_page(1, pages, page + 2048)
        api.noc_async_read_barrier_with_trid(1)
        clocks.append(here.run.clock())
        api.noc_async_read_barrier_with_trid(2)
        clocks.append(here.run.clock())

    run(device, kernel, [source])
    assert clocks[0] < clocks[1]


# Rectangles.

GRID = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(2, 1))


def corners(device: ttnn.MeshDevice) -> list[int]:
    first, last = (device.worker_core_from_logical_core(core) for core in (GRID.start, GRID.end))
    return [first.x, first.y, last.x, last.y]


SENDS: dict[str, tuple[Callable[[int, list[int]], None], list[int]]] = {}


def send(*expected: int) -> Callable[[Callable[[int, list[int]], None]], None]:
    """Add a way to reach semaphore 0 of all six cores.

    `expected`: its value on the sender and on the others.
    """

    def add(function: Callable[[int, list[int]], None]) -> None:
        SENDS[function.__name__] = function, list(expected)

    return add


@send(7, 7)
def set_multicast(own: int, box: list[int]) -> None:
    api.noc_semaphore_set(own, 7)
    api.noc_semaphore_set_multicast(own, api.get_noc_multicast_addr(*box, own), 5)


@send(7, 7)
def set_multicast_loopback(own: int, box: list[int]) -> None:
    api.noc_semaphore_set(own, 7)
    api.noc_semaphore_set_multicast_loopback_src(own, api.get_noc_multicast_addr(*box, own), 6)


@send(0, 3)
def inc_multicast(own: int, box: list[int]) -> None:
    api.noc_semaphore_inc_multicast(api.get_noc_multicast_addr(*box, own), 3, 5)


@send(0, 9)
def inline_multicast(own: int, box: list[int]) -> None:
    api.noc_inline_mcast_dw_write(api.get_noc_multicast_addr(*box, own), 9, num_dest=5)


@send(4, 4)
def objects_set(own: int, box: list[int]) -> None:
    semaphore = api.Semaphore(0)
    semaphore.set(4)
    semaphore.set_multicast(api.Noc(), *box, 5)


@send(4, 4)
def objects_loopback(own: int, box: list[int]) -> None:
    semaphore = api.Semaphore(0)
    semaphore.set(4)
    semaphore.set_multicast(api.Noc(), *box, 6, loopback=True)


@send(0, 2)
def objects_inc(own: int, box: list[int]) -> None:
    api.Semaphore(0).inc_multicast(api.Noc(), *box, 2, 5)


@send(0, 6)
def objects_relay(own: int, box: list[int]) -> None:
    source = api.Semaphore(1)
    source.set(6)
    source.relay_multicast(api.Noc(), api.Semaphore(0), *box, 5)


@send(1, 1)
def one_by_one(own: int, box: list[int]) -> None:
    noc, semaphore = api.Noc(), api.Semaphore(0)
    semaphore.set(1)
    for y in range(box[1], box[3] + 1):
        for x in range(box[0], box[2] + 1):
            if (x, y) != (api.my_x[0], api.my_y[0]):
                semaphore.relay_unicast(noc, x, y)


@pytest.mark.parametrize("name", SENDS)
def test_every_multicast_call_reaches_its_rectangle(device: ttnn.MeshDevice, name: str) -> None:
    action, (own_value, value) = SENDS[name]
    seen = {}

    def kernel() -> None:
        semaphore = api.get_semaphore(0)
        here_is = (api.get_absolute_logical_x(), api.get_absolute_logical_y())
        if here_is == (0, 0):
            action(semaphore, [api.get_arg_val(i) for i in range(4)])
            api.noc_async_full_barrier()
        else:
            api.noc_semaphore_wait(semaphore, value)
        seen[here_is] = api.L1Pointer(semaphore)[0]

    run(device, kernel, corners(device), cores=GRID, semaphores=2)
    assert seen == {(x, y): own_value if (x, y) == (0, 0) else value for x in range(3) for y in range(2)}


def test_wrong_number_of_receivers_raises(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        box = [api.get_arg_val(i) for i in range(4)]
        api.noc_semaphore_inc_multicast(api.get_noc_multicast_addr(*box, api.get_semaphore(0)), 1, 6)

    with pytest.raises(KernelArgumentError, match="noc_semaphore_inc_multicast: the rectangle has 5 receivers"):
        run(device, kernel, corners(device), cores=metal.CoreRange(CORE, CORE), semaphores=1)


# Tensors.

SHARDED = {
    "height": ((128, 64), ttnn.TensorMemoryLayout.HEIGHT_SHARDED, (32, 64), (4, 1)),
    "width": ((32, 128), ttnn.TensorMemoryLayout.WIDTH_SHARDED, (32, 32), (4, 1)),
    "block": ((64, 128), ttnn.TensorMemoryLayout.BLOCK_SHARDED, (32, 64), (2, 2)),
}


def sharded_tensor(device: ttnn.MeshDevice, form: str) -> tuple[torch.Tensor, ttnn.Tensor]:
    shape, layout, shard, (columns, rows) = SHARDED[form]
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(columns - 1, rows - 1))})
    spec = ttnn.ShardSpec(grid, list(shard), ttnn.ShardOrientation.ROW_MAJOR)
    config = ttnn.MemoryConfig(layout, ttnn.BufferType.L1, spec)
    host = torch.randn(*shape, dtype=torch.bfloat16)
    return host, ttnn.from_torch(host, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)


@pytest.mark.parametrize("form", SHARDED)
def test_tensor_accessor_visits_all_pages_and_shards(device: ttnn.MeshDevice, form: str) -> None:
    host, tensor = sharded_tensor(device, form)
    shape, _, shard, _ = SHARDED[form]
    tiles: dict[int, Any] = {}
    shards: list[list[int]] = []
    facts: dict[str, Any] = {}

    def kernel() -> None:
        pages = api.TensorAccessor(api.TensorAccessorArgs[0](), api.get_arg_val(0))
        for name in ("tensor_shape", "shard_shape", "shard_grid", "num_banks", "shard_volume", "tensor_volume"):
            facts[name] = getattr(pages, name)()
        l1 = api.get_write_ptr(0)
        for page in pages.pages():
            assert page.noc_addr == pages.get_noc_addr(page.page_id)
            api.noc_async_read(page.noc_addr, l1, 2048)
            api.noc_async_read_barrier()
            tiles[page.page_id] = api.L1Pointer(l1, np.uint16).read(TILE)
        rows, columns = pages.shard_grid()
        for number in range(rows * columns):
            inside = list(pages.shard_pages(number))
            shards.append([page.page_id for page in inside])
            assert pages.get_shard_noc_addr(number) == inside[0].noc_addr
            assert pages.is_local_shard(number) == pages.is_local_page(inside[0].page_id) == (number == 0)
            api.noc_async_read_shard(number, pages, l1)
            api.noc_async_read_barrier()
            whole = api.L1Pointer(l1, np.uint16).read(TILE * len(inside)).reshape(-1, TILE)
            np.testing.assert_array_equal(whole, [tiles[page.page_id] for page in inside])
        facts["banks"] = [(pages.get_bank_x(xy), pages.get_bank_y(xy)) for xy in pages.packed_xy_coords()]

    args = ttnn.TensorAccessorArgs(tensor).get_compile_time_args()
    run(device, kernel, [tensor.buffer_address()], compile_args=args)
    high, wide = shape[0] // 32, shape[1] // 32
    in_shard = shard[0] // 32, shard[1] // 32
    assert facts["tensor_shape"] == (high, wide)
    assert facts["shard_shape"] == in_shard
    assert facts["num_banks"] == len(facts["banks"]) == len(set(facts["banks"])) == len(shards) == 4
    assert sorted(page for pages in shards for page in pages) == list(range(high * wide))
    expected = metal.tilize_nfaces(host.view(torch.int16).numpy(), *shape).view(np.uint16).reshape(-1, TILE)
    np.testing.assert_array_equal([tiles[page] for page in range(high * wide)], expected)


def test_interleaved_tensor_accessor_has_a_shard_per_page(device: ttnn.MeshDevice) -> None:
    tensor = ttnn.from_torch(torch.zeros(64, 96, dtype=torch.bfloat16), layout=ttnn.TILE_LAYOUT, device=device)
    seen: list[Any] = []

    def kernel() -> None:
        pages = api.TensorAccessor(api.TensorAccessorArgs[0](), api.get_arg_val(0))
        seen.append((pages.tensor_shape(), pages.shard_volume(), pages.rank(), pages.get_bank_base_address()))
        seen.append(pages.get_shard_noc_addr(4) == pages.get_noc_addr(4))
        pages.get_shard_noc_addr(6)

    args = ttnn.TensorAccessorArgs(tensor).get_compile_time_args()
    with pytest.raises(AddressError, match=r"page 6 is outside the buffer at .*, which has 6 pages"):
        run(device, kernel, [tensor.buffer_address()], compile_args=args)
    assert seen == [((1, 6), 1, 2, tensor.buffer_address()), True]


def test_classic_address_functions_agree(device: ttnn.MeshDevice) -> None:
    buffer = tiles_buffer(device, 30)
    seen = []

    def kernel() -> None:
        base = api.get_arg_val(0)
        for page in (0, 5, 17, 29):
            bank, row = api.get_bank_index(page), api.get_bank_offset_index(page)
            address = api.get_addr(page, row, bank, 64, bank_base_address=base, page_size=2048)
            made = api.get_noc_addr_helper(api.get_noc_xy(bank), address)
            seen.append(made == api.get_noc_addr(page, api.get_interleaved_addr_gen(base, 2048), 64))
            seen.append(made == api.get_noc_addr_from_bank_id(bank, address))
        seen.append(1 << api.get_log_base2_of_allocator_alignment() == api.get_allocator_alignment() == 32)
        seen.append(api.MUL_WITH_TILE_SIZE(metal.DataFormat.Bfp8_b, 3) == 3 * 1088)
        seen.append(api.get_allocator_alignment(dram=False) == 16)

    run(device, kernel, [buffer])
    assert all(seen)
    assert len(seen) == 11


def test_common_arguments_lie_behind_those_of_the_core(device: ttnn.MeshDevice) -> None:
    seen = []

    def kernel() -> None:
        seen.append(api.L1Pointer(api.get_arg_addr(1))[0])
        seen.append(api.L1Pointer(api.get_common_arg_addr(0))[0])
        seen.append(api.L1Pointer(api.get_common_arg_addr(1))[0])
        seen.append(api.get_common_arg_val(1))

    run(device, kernel, [1, 2], common=[30, 40])
    assert seen == [2, 30, 40, 40]


def test_bf16_conversions_truncate_and_round() -> None:
    assert api.bf16_to_fp32(0x3FC0) == 1.5
    assert api.fp32_to_bf16_truncate(1.999) == 0x3FFF
    assert api.fp32_to_bf16(1.999) == 0x4000


# Time.

TAKES_TIME: dict[str, Callable[[], object]] = {
    "get_arg_val": lambda: api.get_arg_val(0),
    "get_common_arg_val": lambda: api.get_common_arg_val(0),
    "get_noc_addr(addr)": lambda: api.get_noc_addr(0),
    "get_noc_addr(x, y)": lambda: api.get_noc_addr(18, 18, 0),
    "get_noc_addr(page)": lambda: api.get_noc_addr(0, api.InterleavedAddrGen(api.get_arg_val(0), 2048)),
    "get_noc_addr_from_bank_id": lambda: api.get_noc_addr_from_bank_id(0, 0),
    "get_noc_multicast_addr": lambda: api.get_noc_multicast_addr(18, 18, 18, 18, 0),
    "get_semaphore": lambda: api.get_semaphore(0),
    "get_write_ptr": lambda: api.get_write_ptr(0),
    "get_read_ptr": lambda: api.get_read_ptr(0),
    "get_tile_size": lambda: api.get_tile_size(0),
    "cb_reserve_back": lambda: api.cb_reserve_back(0, 1),
    "cb_push_back": lambda: api.cb_push_back(0, 1),
    "cb_wait_front": lambda: api.cb_wait_front(0, 1),
    "cb_pop_front": lambda: api.cb_pop_front(0, 1),
    "cb_pages_available_at_front": lambda: api.cb_pages_available_at_front(0, 1),
    "cb_pages_reservable_at_back": lambda: api.cb_pages_reservable_at_back(0, 1),
    "noc_semaphore_set": lambda: api.noc_semaphore_set(api.get_semaphore(0), 1),
    "noc_semaphore_wait": lambda: api.noc_semaphore_wait(api.get_semaphore(0), 1),
    "noc_semaphore_inc": lambda: api.noc_semaphore_inc(api.get_noc_addr(api.get_semaphore(0)), 1),
    "noc_async_atomic_barrier": lambda: api.noc_async_atomic_barrier(),
    "noc_inline_dw_write": lambda: api.noc_inline_dw_write(api.get_noc_addr(api.get_semaphore(0)), 1),
    "noc_async_write_barrier": lambda: api.noc_async_write_barrier(),
    "noc_async_writes_flushed": lambda: api.noc_async_writes_flushed(),
    "noc_async_read_set_trid": lambda: api.noc_async_read_set_trid(1),
    "reset_noc_trid_barrier_counter": lambda: api.reset_noc_trid_barrier_counter(1),
    "L1Pointer load": lambda: api.L1Pointer(api.get_semaphore(0))[0],
}


def test_every_data_movement_call_takes_time(device: ttnn.MeshDevice) -> None:
    buffer = tiles_buffer(device, 1)
    took: dict[str, int] = {}

    def kernel() -> None:
        for name, call in TAKES_TIME.items():
            before = here.run.clock()
            call()
            took[name] = here.run.clock() - before

    run(device, kernel, [buffer], common=[1], semaphores=1)
    assert [name for name, cycles in took.items() if cycles <= 0] == []
    assert took.keys() == TAKES_TIME.keys()


def test_host_memory_access_in_kernels_raises(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        api.noc_async_read_pcie(0, 0, 32)

    with pytest.raises(UnsupportedError, match="noc_async_read_pcie: host memory over PCIe is not modelled"):
        run(device, kernel)

"""Rare orders of compute calls: with one result, and without.

Those with one result have it on a chip, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.parts import CORE, TILE, add_cb, build, read_one, tile_bytes, tiles_buffer, values, write_one
from ttnn import CircularBufferError, KernelSetupError, RegisterError, metal
from ttnn.kernel_api import InputClamping as Clamping
from ttnn.kernel_api import (
    InterleavedAddrGen,
    abs_tile,
    acquire_dst,
    add_tiles,
    add_tiles_init,
    binary_op_init_common,
    cb_pop_front,
    cb_push_back,
    cb_reserve_back,
    cb_wait_front,
    copy_init,
    copy_tile,
    exp_tile,
    exp_tile_init,
    fill_tile,
    get_arg_val,
    get_read_ptr,
    get_write_ptr,
    matmul_init,
    matmul_tiles,
    negative_tile,
    negative_tile_init,
    noc_async_read_barrier,
    noc_async_read_page,
    noc_async_write_barrier,
    noc_async_write_page,
    pack_reconfig_data_format,
    pack_tile,
    recip_tile_init,
    reconfig_data_format_srca,
    release_dst,
    tile_regs_acquire,
    tile_regs_commit,
    tile_regs_release,
    tile_regs_wait,
    topk_rebuild,
    topk_tile_init,
)

Values = npt.NDArray[np.float32]
FLOAT16 = metal.DataFormat.Float16_b
Kernel = Callable[[], None]


def ran(
    device: ttnn.MeshDevice, compute: Kernel, cbs: Mapping[int, int] = {0: 2, 16: 2}, tiles: int = 2, results: int = 2
) -> tuple[Values, Values]:
    """Run a compute kernel; return its input and output tiles."""
    source, target = tiles_buffer(device, tiles), tiles_buffer(device, results)
    x = values(tiles * TILE, 3)
    source.write(x)
    arguments = {"reader": [source, tiles], "writer": [target, results]}
    metal.run_program(device, build({"reader": read_one, "compute": compute, "writer": write_one}, arguments, cbs))
    out = target.read(np.uint16).view(ml_dtypes.bfloat16).astype(np.float32)
    return x.astype(np.float32).reshape(tiles, TILE), out.reshape(results, TILE)


def one_by_one(*steps: Callable[[], object]) -> Kernel:
    """Return a kernel that copies, runs `steps` and packs, twice."""

    def compute() -> None:
        binary_op_init_common(0, 0, 16)
        copy_init(0)
        for _ in range(2):
            cb_wait_front(0, 1)
            cb_reserve_back(16, 1)
            tile_regs_acquire()
            copy_tile(0, 0, 0)
            for step in steps:
                step()
            tile_regs_commit()
            tile_regs_wait()
            pack_tile(0, 16)
            tile_regs_release()
            cb_pop_front(0, 1)
            cb_push_back(16, 1)

    return compute


# Inits of the SFPU.


@pytest.mark.parametrize("init", [recip_tile_init, negative_tile_init, exp_tile_init])
def test_a_function_whose_init_sets_nothing_of_its_own_needs_any_init(
    device: ttnn.MeshDevice, init: Callable[[], object]
) -> None:
    _, out = ran(device, one_by_one(init, lambda: fill_tile(0, -3.5), lambda: abs_tile(0)))
    assert np.array_equal(out, np.full_like(out, 3.5))


def test_without_any_init_the_address_mode_of_the_sfpu_is_unknown(device: ttnn.MeshDevice) -> None:
    with pytest.raises(KernelSetupError, match="fill_tile_init before fill_tile is missing: the SFPU was never set up"):
        ran(device, one_by_one(lambda: fill_tile(0, 1.0)))


def test_the_exponential_without_clamping_changes_the_address_mode_of_the_others(device: ttnn.MeshDevice) -> None:
    steps = (
        lambda: negative_tile_init(),
        lambda: exp_tile_init(approx=True, input_clamping=Clamping.NONE),
        lambda: negative_tile(0),
        lambda: exp_tile(0, approx=True, input_clamping=Clamping.NONE),
    )
    ran(device, one_by_one(*steps, negative_tile_init, lambda: negative_tile(0)))
    text = "negative_tile_init before negative_tile is missing: exp_tile has changed ADDR_MOD_7 since"
    with pytest.raises(KernelSetupError, match=text):
        ran(device, one_by_one(*steps, lambda: negative_tile(0)))


def test_the_control_register_of_topk_is_not_that_of_other_functions(device: ttnn.MeshDevice) -> None:
    with pytest.raises(KernelSetupError, match="topk_tile_init has changed the control register of the SFPU since"):
        ran(device, one_by_one(negative_tile_init, topk_tile_init, lambda: negative_tile(0)))


# Copies after a commit.


def running_sum(between: Callable[[], object] = lambda: None) -> Kernel:
    """Return a running sum kernel with a useless copy after commit.

    It copies the sum once more.
    """

    def compute() -> None:
        for tile in range(2):
            tile_regs_acquire()
            cb_wait_front(0, 1)
            if tile == 0:
                binary_op_init_common(0, 0, 16)
                copy_init(0)
                copy_tile(0, 0, 0)
            else:
                between()
                add_tiles_init(0, 3)
                add_tiles(0, 3, 0, 0, 0)
                cb_pop_front(3, 1)
            cb_pop_front(0, 1)
            tile_regs_commit()
            tile_regs_wait()
            cb_reserve_back(3, 1)
            pack_tile(0, 3)
            cb_push_back(3, 1)
            cb_wait_front(3, 1)
            copy_init(3)
            copy_tile(3, 0, 0)
            cb_reserve_back(16, 1)
            pack_tile(0, 16)
            cb_push_back(16, 1)
            tile_regs_release()
        cb_pop_front(3, 1)

    return compute


@pytest.mark.parametrize("between", [lambda: None, lambda: binary_op_init_common(0, 3, 16)])
def test_a_copy_after_the_commit_goes_to_the_other_half(device: ttnn.MeshDevice, between: Callable[[], object]) -> None:
    x, out = ran(device, running_sum(between), {0: 2, 3: 2, 16: 2})
    total = (x[0] + x[1]).astype(ml_dtypes.bfloat16).astype(np.float32)
    assert np.array_equal(out[0], x[0])
    assert np.abs(out[1] - total).max() <= np.abs(total).max() / 128


def test_a_copy_after_the_commit_of_what_the_packer_did_not_push_has_no_free_half(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        binary_op_init_common(0, 0, 16)
        copy_init(0)
        cb_wait_front(0, 2)
        cb_reserve_back(16, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        tile_regs_commit()
        tile_regs_wait()
        copy_tile(0, 1, 0)

    with pytest.raises(RegisterError, match="copy_tile: Dst is used without tile_regs_acquire"):
        ran(device, compute)


def test_a_step_that_adds_to_what_was_copied_after_the_commit_is_refused(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        binary_op_init_common(0, 0, 16)
        copy_init(0)
        cb_wait_front(0, 2)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        tile_regs_commit()
        tile_regs_wait()
        cb_reserve_back(3, 1)
        pack_tile(0, 3)
        cb_push_back(3, 1)
        cb_wait_front(3, 1)
        copy_tile(3, 0, 0)
        tile_regs_release()
        matmul_init(0, 0)
        tile_regs_acquire()
        matmul_tiles(0, 0, 0, 1, 0)

    with pytest.raises(RegisterError, match=r"Dst\[0\] has values written after the last commit"):
        ran(device, compute, {0: 2, 3: 2, 16: 2})


# Changes of formats.


def test_an_old_buffer_only_decides_whether_the_format_changes(device: ttnn.MeshDevice) -> None:
    """Old CB 3 differs in format, so the unit changes.

    It is not what the unit is set up for, but of another format than the new one.
    """

    def compute() -> None:
        binary_op_init_common(0, 0, 16)
        copy_init(0)
        reconfig_data_format_srca(3, 0)
        pack_reconfig_data_format(3, 16)
        cb_wait_front(0, 2)
        cb_reserve_back(16, 2)
        acquire_dst()
        for tile in range(2):
            copy_tile(0, tile, tile)
        for tile in range(2):
            pack_tile(tile, 16)
        release_dst()
        cb_pop_front(0, 2)
        cb_push_back(16, 2)

    source, target = tiles_buffer(device, 2), tiles_buffer(device, 2)
    x = values(2 * TILE, 3)
    source.write(x)
    program = metal.create_program()
    for index, form in ((0, FLOAT16), (16, FLOAT16), (3, metal.DataFormat.Float32)):
        add_cb(program, index, 2, form)
    start(program, (read_one, [source, 2]), compute, (write_one, [target, 2]))
    metal.run_program(device, program)
    assert np.array_equal(target.read(np.uint16), x.view(np.uint16))


# Packing over pages.


def swapped(push: bool) -> Kernel:
    """Return a kernel that packs two tiles onto the same pages.

    They are pages of CB 3, which it reads again.
    """

    def compute() -> None:
        binary_op_init_common(0, 0, 16)
        copy_init(0)
        cb_wait_front(0, 2)
        cb_reserve_back(3, 2)
        acquire_dst()
        for tile in range(2):
            copy_tile(0, tile, tile)
        for tile in range(2):
            pack_tile(tile, 3)
        release_dst()
        cb_push_back(3, 2)
        cb_wait_front(3, 2)
        acquire_dst()
        for tile in range(2):
            copy_tile(3, tile, tile)
        for tile in range(2):
            pack_tile(tile, 3, 1 - tile, out_of_order=True)
        release_dst()
        if push:
            cb_reserve_back(3, 2)
            cb_pop_front(3, 2)
            cb_push_back(3, 2)
            cb_wait_front(3, 2)
        cb_reserve_back(16, 2)
        acquire_dst()
        for tile in range(2):
            copy_tile(3, tile, tile)
        for tile in range(2):
            pack_tile(tile, 16)
        release_dst()
        cb_push_back(16, 2)
        cb_pop_front(0, 2)
        cb_pop_front(3, 2)

    return compute


def test_tiles_are_packed_over_pages_that_the_kernel_has_pushed_itself(device: ttnn.MeshDevice) -> None:
    x, out = ran(device, swapped(push=True), {0: 2, 3: 2, 16: 2})
    assert np.array_equal(out, x[::-1])


def test_a_page_that_was_packed_over_is_pushed_before_it_is_read(device: ttnn.MeshDevice) -> None:
    with pytest.raises(CircularBufferError, match="CB 3: tile 0 was packed over since the last push"):
        ran(device, swapped(push=False), {0: 2, 3: 2, 16: 2})


def test_the_last_step_of_topk_needs_no_second_half(device: ttnn.MeshDevice) -> None:
    def half(*filled: int) -> Values:
        def steps() -> None:
            copy_tile(0, 0, 2)
            for tile in filled:
                copy_tile(0, 0, tile)
            topk_rebuild(0, False, 0, 32, 5, 1)

        return ran(device, one_by_one(topk_tile_init, steps))[1]

    alone = half()
    assert np.array_equal(alone, half(1, 3))
    with pytest.raises(RegisterError, match=r"topk_rebuild: Dst\[1\] is read, but nothing has been written"):
        ran(device, one_by_one(topk_tile_init, lambda: copy_tile(0, 0, 2), lambda: topk_rebuild(0, False, 0, 32, 5, 0)))


# Pages of several tiles.


Role = tuple[Kernel, list[Any]]


def start(program: metal.Program, reader: Role, compute: Kernel, writer: Role) -> None:
    """Add three kernels to a program, with arguments of two."""
    configs = metal.ReaderDataMovementConfig(), metal.ComputeConfig(), metal.WriterDataMovementConfig()
    for (function, arguments), config in zip((reader, (compute, []), writer), configs, strict=True):
        kernel = metal.create_kernel(program, function, CORE, config)
        metal.set_runtime_args(program, kernel, CORE, arguments)


def read_pairs() -> None:
    """Reader: two-tile pages to CB 0. Arguments: address, number of pages."""
    a = InterleavedAddrGen(get_arg_val(0), 4096)
    for page in range(get_arg_val(1)):
        cb_reserve_back(0, 1)
        noc_async_read_page(page, a, get_write_ptr(0))
        noc_async_read_barrier()
        cb_push_back(0, 1)


def pairs(device: ttnn.MeshDevice, compute: Kernel) -> tuple[Values, Values]:
    """Run a kernel with two-tile pages; return read pages and tiles.

    Pages are those of CB 0, tiles those that it wrote.
    """
    program = metal.create_program()
    page = 2 * tile_bytes(metal.DataFormat.Float16_b)
    buffer = metal.InterleavedBufferConfig(device=device, size=2 * page, page_size=page)
    source, target = metal.create_buffer(buffer), tiles_buffer(device, 2)
    x = values(4 * TILE, 9)
    source.write(x)
    for index, size in ((0, page), (16, page // 2)):
        config = metal.CircularBufferConfig(4 * size, {index: metal.DataFormat.Float16_b})
        metal.create_circular_buffer(program, CORE, config.set_page_size(index, size))
    start(program, (read_pairs, [source, 2]), compute, (write_one, [target, 2]))
    metal.run_program(device, program)
    out = target.read(np.uint16).view(ml_dtypes.bfloat16).astype(np.float32)
    return x.astype(np.float32).reshape(2, 2, TILE), out.reshape(2, TILE)


def test_the_unpacker_takes_the_first_tile_of_each_page(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        binary_op_init_common(0, 0, 16)
        copy_init(0)
        cb_wait_front(0, 2)
        cb_reserve_back(16, 2)
        tile_regs_acquire()
        for tile in range(2):
            copy_tile(0, tile, tile)
        tile_regs_commit()
        tile_regs_wait()
        for tile in range(2):
            pack_tile(tile, 16)
        tile_regs_release()
        cb_pop_front(0, 2)
        cb_push_back(16, 2)

    x, out = pairs(device, compute)
    assert np.array_equal(out, x[:, 0])


def test_the_second_tile_of_a_page_is_not_tile_1(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        binary_op_init_common(0, 0, 16)
        copy_init(0)
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 1, 0)

    text = (
        "tile 1 ends 6144 B after the front, 1 pages of 4096 B were waited for; wait for more pages; a page is one tile"
    )
    with pytest.raises(CircularBufferError, match=text):
        pairs(device, compute)


def test_the_packer_puts_tiles_at_the_beginnings_of_pages(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        binary_op_init_common(0, 0, 3)
        copy_init(0)
        cb_wait_front(0, 2)
        cb_reserve_back(3, 2)
        acquire_dst()
        for tile in range(2):
            copy_tile(0, tile, tile)
        for tile in range(2):
            pack_tile(tile, 3)
        release_dst()
        cb_push_back(3, 2)

        cb_pop_front(0, 2)

    def first_halves() -> None:
        out = InterleavedAddrGen(get_arg_val(0), get_arg_val(1))
        for page in range(2):
            cb_wait_front(3, 1)
            noc_async_write_page(page, out, get_read_ptr(3))
            noc_async_write_barrier()
            cb_pop_front(3, 1)

    program = metal.create_program()
    tile = tile_bytes(metal.DataFormat.Float16_b)
    source, target = tiles_buffer(device, 2), tiles_buffer(device, 2)
    x = values(2 * TILE, 9)
    source.write(x)
    for index, size in ((0, tile), (3, 2 * tile)):
        config = metal.CircularBufferConfig(2 * size, {index: metal.DataFormat.Float16_b})
        metal.create_circular_buffer(program, CORE, config.set_page_size(index, size))
    start(program, (read_one, [source, 2]), compute, (first_halves, [target, tile]))
    metal.run_program(device, program)
    assert np.array_equal(target.read(np.uint16), x.view(np.uint16))

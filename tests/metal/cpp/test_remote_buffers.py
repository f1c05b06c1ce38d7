"""Inter-core circular buffers with kernels in C++, Python, or both."""

from __future__ import annotations

import pytest

import ttnn
from testkit.parts import CORE, TILE, add_cb, tiles_buffer, values
from testkit.remote_kernels import RECEIVERS, ROUNDS, feed, forward, keep
from ttnn import metal

FORWARD = """
#include "api/remote_circular_buffer.h"

void kernel_main() {
    for (uint32_t row = 0; row < get_arg_val<uint32_t>(0); ++row) {
        cb_wait_front(0, 2);
        experimental::remote_cb_reserve_back(31, 1);
        experimental::remote_cb_push_back_and_write_pages(31, get_read_ptr(0), 1, 1, 2, 1024);
        noc_async_write_barrier();
        cb_pop_front(0, 2);
    }
    noc_async_atomic_barrier();
    experimental::remote_cb_sender_barrier(31);
    experimental::update_remote_cb_config_in_l1(31);
}
"""
KEEP = """
#include "api/remote_circular_buffer.h"

void kernel_main() {
    const InterleavedAddrGenFast<true> pages = {get_arg_val<uint32_t>(0), 2048, DataFormat::Float16_b};
    const uint32_t first = get_arg_val<uint32_t>(1);
    for (uint32_t row = first; row < first + get_arg_val<uint32_t>(2); ++row) {
        experimental::remote_cb_wait_front(31, 1);
        const uint32_t place = get_arg_val<uint32_t>(3) + row % get_arg_val<uint32_t>(4) * 2048;
        ASSERT(place == get_remote_receiver_cb_interface(31).fifo_rd_ptr);
        noc_async_write_tile(row * 2 + get_relative_logical_x(), pages, place);
        noc_async_write_barrier();
        experimental::remote_cb_pop_front(31, 1);
        noc_async_atomic_barrier();
    }
    experimental::update_remote_cb_config_in_l1(31);
}
"""


def buffers(program: metal.Program, shared: ttnn.GlobalCircularBuffer) -> None:
    config = metal.CircularBufferConfig(2 * 2048)
    config.remote_index(31).set_page_size(2048).set_data_format(metal.DataFormat.Float16_b)
    metal.create_circular_buffer(program, shared.all_cores(), config, shared)
    add_cb(program, 0, 2 * RECEIVERS)


@pytest.mark.parametrize("languages", [("cpp", "cpp"), ("cpp", "python"), ("python", "cpp")], ids="-".join)
def test_pages_go_from_program_to_program(device: ttnn.MeshDevice, languages: tuple[str, str]) -> None:
    # Pages from the second program on start at the second page of the buffer.
    to = metal.CoreRange(metal.CoreCoord(1, 0), metal.CoreCoord(RECEIVERS, 0))
    shared = ttnn.create_global_circular_buffer(device, [(CORE, metal.CoreRangeSet([to]))], 2 * 2048)
    source, target = (tiles_buffer(device, 2 * ROUNDS * RECEIVERS) for _ in range(2))
    source.write(values(2 * ROUNDS * RECEIVERS * TILE, 8))
    for first in (0, ROUNDS):
        program = metal.create_program()
        buffers(program, shared)
        reader, writer = metal.ReaderDataMovementConfig(), metal.WriterDataMovementConfig()
        kernel = metal.create_kernel(program, feed, CORE, reader)
        metal.set_runtime_args(program, kernel, CORE, [source, first, ROUNDS])
        kernels = {("cpp", 0): FORWARD, ("cpp", 1): KEEP, ("python", 0): forward, ("python", 1): keep}
        args = [target, first, ROUNDS, shared.buffer_address(), 2]
        for number, (cores, values_) in enumerate(((CORE, [ROUNDS]), (to, args))):
            code = kernels[languages[number], number]
            create = metal.create_kernel_from_string if isinstance(code, str) else metal.create_kernel
            metal.set_runtime_args(program, create(program, code, cores, writer), cores, values_)
        metal.run_program(device, program)
    assert source.read().tobytes() == target.read().tobytes()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("remote_cb_reserve_back(31, 1)", "remote_cb_reserve_back: this core receives through this remote CB"),
        ("remote_cb_wait_front(30, 1)", "remote_cb_wait_front: this remote CB is not configured on this core"),
        ("remote_cb_wait_front(31, 3)", "remote_cb_wait_front: the remote CB has fewer pages than are asked for"),
    ],
)
def test_wrong_remote_buffer_ends_raise(device: ttnn.MeshDevice, call: str, text: str) -> None:
    to = metal.CoreRange(metal.CoreCoord(1, 0), metal.CoreCoord(1, 0))
    shared = ttnn.create_global_circular_buffer(device, [(CORE, metal.CoreRangeSet([to]))], 2 * 2048)
    program = metal.create_program()
    buffers(program, shared)
    source = f'#include "api/remote_circular_buffer.h"\nvoid kernel_main() {{ experimental::{call}; }}\n'
    metal.create_kernel_from_string(program, source, to, metal.DataMovementConfig())
    with pytest.raises(ttnn.KernelArgumentError, match=text) as caught:
        metal.run_program(device, program)
    assert (caught.value.core, caught.value.risc) == ("1-0", "BRISC")

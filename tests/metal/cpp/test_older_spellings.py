"""Sources in TT-Metalium spellings of 2024 to early 2026.

Older headers, and objects in `experimental`.
"""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from ttnn import metal

COPY = """
#include "{header}"
void kernel_main() {{
    experimental::Noc noc(noc_index);
    experimental::CircularBuffer buffer(0);
    const experimental::AllocatorBank<experimental::AllocatorBankType::DRAM> dram;
    buffer.reserve_back(1);
    noc.async_read(dram, buffer, 64, {{.bank_id = 0, .addr = get_arg_val<uint32_t>(0)}}, {{}});
    noc.async_read_barrier();
    buffer.push_back(1);
    buffer.wait_front(1);
    noc.async_write(buffer, dram, 64, {{}}, {{.bank_id = 0, .addr = get_arg_val<uint32_t>(1)}});
    noc.async_write_barrier();
    buffer.pop_front(1);
}}
"""
RSQRT = """
#include <cstdint>
#include "compute_kernel_api/{header}.h"
namespace NAMESPACE {{
void MAIN {{
    binary_op_init_common(0, 0, 16);
    copy_tile_to_dst_init_short(0);
    {function}_tile_init();
    cb_wait_front(0, 1);
    acquire_dst();
    copy_tile(0, 0, 0);
    {function}_tile(0);
    cb_reserve_back(16, 1);
    pack_tile(0, 16);
    release_dst();
    cb_push_back(16, 1);
    cb_pop_front(0, 1);
}}
}}
"""
READ = """
#include "dataflow_api.h"
void kernel_main() {
    const InterleavedAddrGenFast<true> tiles = {get_arg_val<uint32_t>(0), 2048, DataFormat::Float16_b};
    cb_reserve_back(0, 1);
    noc_async_read_tile(0, tiles, get_write_ptr(0));
    noc_async_read_barrier();
    cb_push_back(0, 1);
}
"""
WRITE = """
#include "dataflow_api.h"
void kernel_main() {
    const InterleavedAddrGenFast<true> tiles = {get_arg_val<uint32_t>(0), 2048, DataFormat::Float16_b};
    cb_wait_front(16, 1);
    noc_async_write_tile(0, tiles, get_read_ptr(16));
    noc_async_write_barrier();
    cb_pop_front(16, 1);
}
"""


@pytest.mark.parametrize("header", ["dataflow_api.h", "hw/inc/dataflow_api.h"])
def test_objects_of_the_namespace_experimental_come_with_the_older_dataflow_header(
    device: ttnn.MeshDevice, header: str
) -> None:
    config = metal.InterleavedBufferConfig(device=device, size=64, page_size=64, buffer_type=metal.BufferType.DRAM)
    source, target = metal.create_buffer(config), metal.create_buffer(config)
    values = np.arange(16, dtype=np.uint32)
    source.write(values)
    program, core = metal.create_program(), metal.CoreCoord(0, 0)
    formats = metal.CircularBufferConfig(64, {0: ttnn.bfloat16}).set_page_size(0, 64)
    metal.create_circular_buffer(program, core, formats)
    kernel = metal.create_kernel_from_string(program, COPY.format(header=header), core, metal.DataMovementConfig())
    metal.set_runtime_args(program, kernel, core, [source.address(), target.address()])
    metal.run_program(device, program)
    np.testing.assert_array_equal(target.read(np.uint32), values)


@pytest.mark.parametrize(("header", "function"), [("layernorm", "rsqrt"), ("softmax", "exp"), ("softmax", "recip")])
def test_functions_come_with_the_header_of_their_operator(device: ttnn.MeshDevice, header: str, function: str) -> None:
    rng = np.random.default_rng(0)
    x = ttnn.from_torch(
        rng.uniform(0.5, 4, (32, 32)).astype(np.float32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
    )
    out = ttnn.empty([32, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    core = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 0))])
    kernels = [
        (READ, ttnn.ReaderConfigDescriptor(), [x.buffer_address()]),
        (RSQRT.format(header=header, function=function), ttnn.ComputeConfigDescriptor(), []),
        (WRITE, ttnn.WriterConfigDescriptor(), [out.buffer_address()]),
    ]
    program = ttnn.ProgramDescriptor(
        kernels=[
            ttnn.KernelDescriptor(
                kernel_source=text,
                source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
                core_ranges=core,
                runtime_args=[(ttnn.CoreCoord(0, 0), args)],
                config=config,
            )
            for text, config, args in kernels
        ],
        semaphores=[],
        cbs=[
            ttnn.CBDescriptor(
                total_size=2048,
                core_ranges=core,
                format_descriptors=[ttnn.CBFormatDescriptor(index, ttnn.bfloat16, 2048)],
            )
            for index in (0, 16)
        ],
    )
    got = ttnn.generic_op([x, out], program)
    expected = {"recip": "reciprocal"}.get(function, function)
    np.testing.assert_array_equal(ttnn.to_torch(got).float(), ttnn.to_torch(getattr(ttnn, expected)(x)).float())

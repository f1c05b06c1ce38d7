"""Public compute kernel styles: older inits, entries, includes.

In texts of our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import ttnn
from ttnn import metal
from ttnn.base.exceptions import KernelCompileError, UnsupportedError

READ = """
#include "dataflow_api.h"
void kernel_main() {
    const InterleavedAddrGenFast<true> tiles = {get_arg_val<uint32_t>(0), 2048, DataFormat::Float16_b};
    const InterleavedAddrGenFast<true> others = {get_arg_val<uint32_t>(1), 2048, DataFormat::Float16_b};
    cb_reserve_back(0, 1);
    cb_reserve_back(1, 1);
    noc_async_read_tile(0, tiles, get_write_ptr(0));
    noc_async_read_tile(0, others, get_write_ptr(1));
    noc_async_read_barrier();
    cb_push_back(0, 1);
    cb_push_back(1, 1);
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
BINARY = """
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/bcast.h"
#include "compute_kernel_api/layernorm.h"
namespace NAMESPACE {
ENTRY MAIN {
    binary_op_init_common(0, 1, 16);
    cb_wait_front(0, 1);
    cb_wait_front(1, 1);
    cb_reserve_back(16, 1);
    INIT
    acquire_dst();
    STEP
    pack_tile(0, 16);
    release_dst();
    cb_push_back(16, 1);
    cb_pop_front(0, 1);
    cb_pop_front(1, 1);
    AFTER
}
}
"""


def ran(device: ttnn.MeshDevice, defines: Mapping[str, str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run the kernel with these parts; return both operands and the result."""
    rng = np.random.default_rng(1)
    first, second = (
        ttnn.from_torch(
            rng.integers(1, 9, (32, 32)).astype(np.float32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
        )
        for _ in range(2)
    )
    out = ttnn.empty([32, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    text = BINARY
    for name in ("ENTRY", "INIT", "STEP", "AFTER"):
        text = text.replace(name, defines.get(name, "void" if name == "ENTRY" else ""))
    core = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 0))])
    kernels = [
        (READ, ttnn.ReaderConfigDescriptor(), [first.buffer_address(), second.buffer_address()]),
        (text, ttnn.ComputeConfigDescriptor(), []),
        (WRITE, ttnn.WriterConfigDescriptor(), [out.buffer_address()]),
    ]
    program = ttnn.ProgramDescriptor(
        kernels=[
            ttnn.KernelDescriptor(
                kernel_source=source,
                source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
                core_ranges=core,
                runtime_args=[(ttnn.CoreCoord(0, 0), args)],
                config=config,
            )
            for source, config, args in kernels
        ],
        semaphores=[],
        cbs=[
            ttnn.CBDescriptor(
                total_size=2048,
                core_ranges=core,
                format_descriptors=[ttnn.CBFormatDescriptor(index, ttnn.bfloat16, 2048)],
            )
            for index in (0, 1, 16)
        ],
    )
    got = ttnn.generic_op([first, second, out], program)
    return tuple(ttnn.to_numpy(tensor).astype(np.float32) for tensor in (first, second, got))  # type: ignore[return-value]


def test_init_without_arguments_is_that_of_the_first_two_buffers(device: ttnn.MeshDevice) -> None:
    first, second, got = ran(device, {"INIT": "add_tiles_init();", "STEP": "add_tiles(0, 1, 0, 0, 0);"})
    np.testing.assert_array_equal(got, first + second)


def test_inline_main_is_the_entry(device: ttnn.MeshDevice) -> None:
    parts = {"ENTRY": "inline void", "INIT": "sub_tiles_init(0, 1);", "STEP": "sub_tiles(0, 1, 0, 0, 0);"}
    first, second, got = ran(device, parts)
    np.testing.assert_array_equal(got, first - second)


@pytest.mark.parametrize(("step", "row"), [("ELWSUB", np.subtract), ("ELWMUL", np.multiply)])
def test_low_level_init_of_math_has_the_buffers_of_the_unpackers(
    device: ttnn.MeshDevice, step: str, row: np.ufunc
) -> None:
    name = {"ELWSUB": "sub", "ELWMUL": "mul"}[step]
    init = f"MATH((llk_math_eltwise_binary_init<{step}, BroadcastType::ROW, MATH_FIDELITY>()));"
    init += "UNPACK((llk_unpack_AB_init<BroadcastType::ROW>(0, 1)));"
    first, second, got = ran(device, {"INIT": init, "STEP": f"{name}_tiles_bcast_rows(0, 1, 0, 0, 0);"})
    np.testing.assert_array_equal(got, row(first, second[:1]))


def test_reconfigured_broadcast_is_that_of_the_second_buffer(device: ttnn.MeshDevice) -> None:
    init = "unary_bcast_init<BroadcastType::ROW>(0, 16);"
    init += "reconfigure_unary_bcast<BroadcastType::ROW, BroadcastType::COL>(0, 1, 16, 16);"
    _, second, got = ran(device, {"INIT": init, "STEP": "unary_bcast<BroadcastType::COL>(1, 0, 0);"})
    np.testing.assert_array_equal(got, np.repeat(second[:, :1], 32, axis=1))


def test_reciprocal_root_has_the_older_flag(device: ttnn.MeshDevice) -> None:
    parts = {
        "INIT": "copy_tile_to_dst_init_short(0); rsqrt_tile_init<true>();",
        "STEP": "copy_tile(0, 0, 0); rsqrt_tile<true>(0);",
    }
    first, _, got = ran(device, parts)
    np.testing.assert_allclose(got, 1 / np.sqrt(first), rtol=2**-7)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('#include "debug_print.h"', "debug_print.h: the print header of 2023"),
        ('#include "debug/dprint_tensix.h"', "debug/dprint_tensix.h: prints of the chip's registers"),
        ('#include "blackhole/noc/noc_parameters.h"', "blackhole/noc/noc_parameters.h: headers of one chip"),
    ],
)
def test_header_that_is_not_modelled_is_named(device: ttnn.MeshDevice, line: str, what: str) -> None:
    with pytest.raises(UnsupportedError, match=what):
        ran(device, {"ENTRY": f"{chr(10)}{line}{chr(10)}void"})


def test_reduction_of_2023_is_named(device: ttnn.MeshDevice) -> None:
    with pytest.raises(UnsupportedError, match="reduce_revert_delta_v2: names of 2023"):
        ran(device, {"STEP": "reduce_revert_delta_v2();"})


def test_missing_define_of_a_chain_is_no_instruction(device: ttnn.MeshDevice) -> None:
    with pytest.raises(KernelCompileError, match="SFPU_OP_CHAIN_0"):
        ran(device, {"STEP": "SFPU_OP_CHAIN_0"})


@pytest.mark.parametrize("named", [True, False])
def test_headers_of_training_kernels_are_named_from_the_top(
    device: ttnn.MeshDevice, tmp_path: Path, named: bool
) -> None:
    """With the program's named root and the kernel path's root."""
    common = tmp_path / "tt-train" / "sources" / "common.hpp"
    kernel = tmp_path / "tt-train" / "sources" / "ops" / "kernel.cpp"
    for folder in (kernel.parent, tmp_path / "ttnn" / "cpp"):
        folder.mkdir(parents=True)
    common.write_text("constexpr unsigned WORD = 42;")
    kernel.write_text(
        '#include "dataflow_api.h"\n#include "tt-train/sources/common.hpp"\n'
        "static_assert(WORD == 42);\n"
        "void kernel_main() { *reinterpret_cast<volatile std::uint32_t*>(get_write_ptr(0)) = WORD; }"
    )
    program, core = metal.create_program(), metal.CoreCoord(0, 0)
    config = metal.CircularBufferConfig(64, {0: ttnn.uint32}).set_page_size(0, 64)
    metal.create_circular_buffer(program, core, config)
    if named:
        metal.set_root_dir(tmp_path)
    try:
        metal.create_kernel(program, kernel, core, metal.DataMovementConfig())
        (ran,) = metal.run_program(device, program).kernels
    finally:
        metal.set_root_dir(Path.cwd())
    assert ran.calls > 0

"""`ttnn.generic`: C++ kernels in the module, by binary and Python."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import KernelCompileError, UnsupportedError
from ttnn.compiler.conversion.calls_to_emitc import emitc_module
from ttnn.compiler.conversion.calls_to_emitpy import emitpy_module
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.pipelines import run
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.versions import parse_module, print_module
from ttnn.metal.cpp.toolchain import find_toolchain

# The compute kernel takes absolute values of the tile that the reader brings.
TEXT = """#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#core = #ttnn.core_coord<0, 0>
#cores = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (0,0)>]>
#in = #ttnn.kernel_cb<total_size = 4096, core_ranges = #cores, formats = [
  #ttnn.kernel_cb_format<buffer_index = 0, dtype = f32, page_size = 4096>]>
#out = #ttnn.kernel_cb<total_size = 4096, core_ranges = #cores, formats = [
  #ttnn.kernel_cb_format<buffer_index = 1, dtype = f32, page_size = 4096>]>
#read = #ttnn.read_kernel<symbol_ref = @read, core_ranges = #cores,
  ct_args = [#ttnn.kernel_arg_cb_buffer_index<0>], // the > of the reader, with a bracket
  common_rt_args = [#ttnn.kernel_arg_address_of_tensor<0>], rt_args = []>
#compute = #ttnn.compute_kernel<symbol_ref = @compute, core_ranges = #cores, math_fidelity = hifi4,
  fp32_dest_acc_en = false, dst_full_sync_en = false, unpack_to_dest_modes = [default], bfp8_pack_precise = false,
  math_approx_mode = false, ct_args = [#ttnn.kernel_arg_cb_buffer_index<0>, #ttnn.kernel_arg_cb_buffer_index<1>],
  common_rt_args = [], rt_args = []>
#write = #ttnn.write_kernel<symbol_ref = @write, core_ranges = #cores, ct_args = [#ttnn.kernel_arg_cb_buffer_index<1>],
  common_rt_args = [], rt_args = [#ttnn.core_runtime_args<core_coord = #core, args = [
    #ttnn.kernel_arg_address_of_tensor<1>, #ttnn.kernel_named_arg<name = "page_size", value = 4096>]>]>
#program = #ttnn.program<kernels = [#read, #compute, #write], cbs = [#in, #out], semaphores = []>
#far = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#near = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <block_sharded>,
  core_ranges = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (0,0)>]>>
func.func @f(%a: tensor<32x32xf32, #far>) -> tensor<32x32xf32, #far> {
  %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  %1 = "ttnn.to_memory_config"(%a) : (tensor<32x32xf32, #far>) -> tensor<32x32xf32, #near>
  %2 = "ttnn.empty"(%0) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xf32, #near>
  "ttnn.generic"(%1, %2) <{operandSegmentSizes = array<i32: 2, 0>, program = #program}>
    : (tensor<32x32xf32, #near>, tensor<32x32xf32, #near>) -> ()
  %3 = "ttnn.to_memory_config"(%2) : (tensor<32x32xf32, #near>) -> tensor<32x32xf32, #far>
  return %3 : tensor<32x32xf32, #far>
}
func.func private @read() attributes {ttkernel.thread = #ttkernel.thread<noc>} {
  %1 = "emitc.constant"() <{value = 1 : i32}> : () -> i32
  emitc.verbatim "uint32_t from = get_common_arg_val<uint32_t>(0);"
  emitc.verbatim "cb_reserve_back(get_compile_time_arg_val(0), {});" args %1 : i32
  emitc.verbatim "noc_async_read(get_noc_addr(from), get_write_ptr(get_compile_time_arg_val(0)), 4096);"
  emitc.call_opaque "noc_async_read_barrier"() : () -> ()
  emitc.verbatim "cb_push_back(get_compile_time_arg_val(0), {});" args %1 : i32
  return
}
func.func private @compute() attributes {ttkernel.thread = #ttkernel.thread<compute>} {
  %0 = emitc.literal "get_compile_time_arg_val(0)" : !emitc.opaque<"::tt::CB">
  %1 = emitc.literal "get_compile_time_arg_val(1)" : !emitc.opaque<"::tt::CB">
  emitc.verbatim "cb_reserve_back({}, 1);" args %1 : !emitc.opaque<"::tt::CB">
  emitc.verbatim "cb_wait_front({}, 1);" args %0 : !emitc.opaque<"::tt::CB">
  emitc.call_opaque "init_sfpu"(%0, %1) : (!emitc.opaque<"::tt::CB">, !emitc.opaque<"::tt::CB">) -> ()
  emitc.call_opaque "tile_regs_acquire"() : () -> ()
  emitc.call_opaque "copy_tile_init"(%0) : (!emitc.opaque<"::tt::CB">) -> ()
  emitc.verbatim "copy_tile({}, 0, 0);" args %0 : !emitc.opaque<"::tt::CB">
  emitc.call_opaque "abs_tile_init"() : () -> ()
  emitc.verbatim "abs_tile(0);"
  emitc.call_opaque "tile_regs_commit"() : () -> ()
  emitc.call_opaque "tile_regs_wait"() : () -> ()
  emitc.verbatim "pack_tile(0, {});" args %1 : !emitc.opaque<"::tt::CB">
  emitc.call_opaque "tile_regs_release"() : () -> ()
  emitc.verbatim "cb_push_back({}, 1);" args %1 : !emitc.opaque<"::tt::CB">
  emitc.verbatim "cb_pop_front({}, 1);" args %0 : !emitc.opaque<"::tt::CB">
  return
}
func.func private @write() attributes {ttkernel.thread = #ttkernel.thread<noc>} {
  emitc.verbatim "uint32_t to = get_arg_val<uint32_t>(0);"
  emitc.verbatim "cb_wait_front(get_compile_time_arg_val(0), 1);"
  emitc.verbatim "uint32_t from = get_read_ptr(get_compile_time_arg_val(0));"
  emitc.verbatim "noc_async_write(from, get_noc_addr(to), get_arg_val<uint32_t>(1));"
  emitc.call_opaque "noc_async_write_barrier"() : () -> ()
  emitc.verbatim "cb_pop_front(get_compile_time_arg_val(0), 1);"
  return
}
"""


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def module(text: str = TEXT) -> Module:
    return parse_module(text, version="2026-08")


def found(source: str, values: Any, device: ttnn.MeshDevice) -> Any:
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(source, "emitted.py", "exec"), names)
    given = ttnn.to_device(ttnn.to_layout(ttnn.from_torch(values), ttnn.TILE_LAYOUT), device)
    (result,) = names["f"]([given], device)
    return ttnn.to_numpy(result)


def test_generic_program_runs_by_binary_and_python(
    device: ttnn.MeshDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TT_METAL_CACHE", str(tmp_path))
    try:
        find_toolchain()
    except KernelCompileError as error:
        if os.environ.get("TTNN_KERNELS_REQUIRED") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))
    values = (np.arange(1024, dtype=np.float32).reshape(32, 32) % 255) - 100  # bfloat16 holds them
    parsed = module()
    assert print_module(module(print_module(parsed))) == print_module(parsed)
    read = list(programs(Binary.parse(ttnn_to_binary(parsed, "0.1.0").to_bytes())))
    assert [program.name for program in read] == ["f"]
    run(parsed, "convert-ttnn-to-emitpy")
    assert emitpy_source(emitpy_module(read)) == emitpy_source(parsed)
    assert np.array_equal(found(emitpy_source(parsed), values, device), np.abs(values))


def test_generic_program_is_refused_as_cpp() -> None:
    read = list(programs(Binary.parse(ttnn_to_binary(module(), "0.1.0").to_bytes())))
    with pytest.raises(UnsupportedError, match="programs of kernels are not written as C"):
        emitc_module(read)
    with pytest.raises(CompileError, match="programs of kernels are not written as C"):
        run(module(), "convert-ttnn-to-emitc")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("symbol_ref = @read", "symbol_ref = @other", "names the kernel other, which is none of the module"),
        ("#ttnn.kernel_arg_address_of_tensor<1>", "#ttnn.kernel_arg_scalar<1>", "#ttnn.kernel_arg_scalar of a kernel"),
        (
            "#in = #ttnn.kernel_cb<",
            "#in = #ttnn.kernel_cb<buffer = #b<0>, ",
            "a circular buffer in the memory of a tensor",
        ),
        ("dtype = f32, page", "dtype = f99, page", "data type f99 has no form"),
    ],
)
def test_unsupported_program_parts_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        ttnn_to_binary(module(TEXT.replace(old, new)), "0.1.0")


def test_runtime_arguments_outside_the_grid_are_refused() -> None:
    binary = ttnn_to_binary(module(TEXT.replace("core_coord<0, 0>", "core_coord<0, 4000000000>")), "0.1.0")
    with pytest.raises(UnsupportedError, match=r"core \((0, 4000000000|4000000000, 0)\) are not executed"):
        programs(Binary.parse(binary.to_bytes()))

"""`ttnn.generic_op` with C++ kernels: files, texts, all argument forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from vendor import WHEEL, official_root

import ttnn
from ttnn.base.exceptions import ArgumentError, KernelCompileError, KernelError, UnsupportedError

CORE = ttnn.CoreCoord(0, 0)
CORES = ttnn.CoreRangeSet([ttnn.CoreRange(CORE, ttnn.CoreCoord(1, 0))])
STORE = """
#include "api/dataflow/dataflow_api.h"
#include "twice.h"

void kernel_main() {
    const auto out = TensorAccessor(TensorAccessorArgs<1>(), get_arg_val<uint32_t>(0));
    cb_reserve_back(0, 1);
    volatile tt_l1_ptr uint32_t* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0));
    words[0] = get_compile_time_arg_val(0);
    words[1] = get_named_compile_time_arg_val("seven");
    words[2] = get_common_arg_val<uint32_t>(0);
    words[3] = get_arg_val<uint32_t>(2);
    words[4] = twice(WHAT);
    for (uint32_t i = 5; i < 32; ++i) {
        words[i] = i;
    }
    noc_async_write_page(get_arg_val<uint32_t>(1), out, get_write_ptr(0));
    noc_async_write_barrier();
}
"""


def words(device: ttnn.MeshDevice) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    rows = torch.zeros((2, 32), dtype=torch.int32)
    source, target = (ttnn.from_torch(rows, dtype=ttnn.uint32, device=device) for _ in range(2))
    return source, target


def descriptor(source: str, target: ttnn.Tensor, **more: Any) -> ttnn.ProgramDescriptor:
    """Return a program of one writer on two cores."""
    options: dict[str, Any] = {
        "source_type": ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
        "core_ranges": CORES,
        "compile_time_args": [6, *ttnn.TensorAccessorArgs(target).get_compile_time_args()],
        "named_compile_time_args": [("seven", 7)],
        "defines": [("WHAT", "(4 + 1)")],
        "common_runtime_args": [8],
        "config": ttnn.WriterConfigDescriptor(),
    }
    args = ttnn.RuntimeArgs()
    for x in range(2):
        args[x][0] = [target.buffer_address(), x, 100 + x]
    kernel = ttnn.KernelDescriptor(kernel_source=source, runtime_args=args, **(options | more))
    form = ttnn.CBFormatDescriptor(0, ttnn.uint32, 128)
    return ttnn.ProgramDescriptor([kernel], [], [ttnn.CBDescriptor(128, CORES, [form])])


@pytest.mark.parametrize("as_file", [False, True])
def test_generic_op_accepts_all_argument_forms(device: ttnn.MeshDevice, tmp_path: Path, as_file: bool) -> None:
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "twice.h").write_text("constexpr uint32_t twice(uint32_t x) { return 2 * x; }\n")
    (tmp_path / "store.cpp").write_text(STORE)
    source, target = words(device)
    more: dict[str, Any] = {"compiler_include_paths": [tmp_path / "headers"]}
    if as_file:
        more["source_type"] = ttnn.KernelDescriptor.SourceType.FILE_PATH
    program = descriptor(str(tmp_path / "store.cpp") if as_file else STORE, target, **more)
    assert ttnn.generic_op([source, target], program) is target
    found = ttnn.to_numpy(target)
    for row in range(2):
        assert found[row].tolist() == [6, 7, 8, 100 + row, 10, *range(5, 32)]


@pytest.mark.parametrize("name", ["TT_METAL_HOME", "TT_METAL_RUNTIME_ROOT"])
def test_headers_of_the_root_folder_are_found(
    device: ttnn.MeshDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "twice.h").write_text("constexpr uint32_t twice(uint32_t x) { return 2 * x; }\n")
    monkeypatch.setenv(name, str(tmp_path))
    source, target = words(device)
    ttnn.generic_op([source, target], descriptor(STORE, target))
    assert ttnn.to_numpy(target)[0].tolist()[:5] == [6, 7, 8, 100, 10]


def test_missing_headers_and_files_are_named_in_errors(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    source, target = words(device)
    with pytest.raises(KernelCompileError, match=r"'twice\.h' file not found"):
        ttnn.generic_op([source, target], descriptor(STORE, target))
    file = ttnn.KernelDescriptor.SourceType.FILE_PATH
    with pytest.raises(KernelError, match=r"no kernel file .*never\.cpp"):
        ttnn.generic_op([source, target], descriptor(str(tmp_path / "never.cpp"), target, source_type=file))
    with pytest.raises(ArgumentError, match="compiler_include_paths: expected a path, got 3"):
        descriptor(STORE, target, compiler_include_paths=[3])
    with pytest.raises(UnsupportedError, match="blaze_named_compile_time_args is not modelled"):
        descriptor(STORE, target, blaze_named_compile_time_args=[("a", 1)])


@pytest.mark.skipif(not (WHEEL / "ttnn").is_dir(), reason="needs the official wheel, unpacked")
@pytest.mark.parametrize("memory", ["interleaved", "sharded"])
def test_official_kernels_run_by_generic_op(device: ttnn.MeshDevice, memory: str) -> None:
    shards = ttnn.ShardSpec(CORES, (32, 96), ttnn.ShardOrientation.ROW_MAJOR)
    configs = {
        "interleaved": ttnn.DRAM_MEMORY_CONFIG,
        "sharded": ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shards),
    }
    values = torch.randn((64, 96), generator=torch.Generator().manual_seed(0))
    source = ttnn.from_torch(
        values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=configs[memory]
    )
    target = ttnn.empty([64, 96], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    folder = "ttnn/cpp/ttnn/operations/eltwise/unary/device/kernels"
    one = ttnn.CoreRangeSet([ttnn.CoreRange(CORE, CORE)])

    def kernel(path: str, config: Any, args: list[int], **more: Any) -> ttnn.KernelDescriptor:
        return ttnn.KernelDescriptor(
            kernel_source=f"{folder}/{path}", core_ranges=one, runtime_args=[(CORE, args)], config=config, **more
        )

    kernels = [
        kernel(
            "dataflow/reader_unary_interleaved_start_id.cpp",
            ttnn.ReaderConfigDescriptor(),
            [source.buffer_address(), 6, 0],
            compile_time_args=ttnn.TensorAccessorArgs(source).get_compile_time_args(),
        ),
        kernel(
            "compute/eltwise_sfpu.cpp",
            ttnn.ComputeConfigDescriptor(),
            [6],
            defines=[("SFPU_OP_RELU_FAMILY_INCLUDE", "1"), ("SFPU_OP_CHAIN_0", "relu_tile_init(); relu_tile(0);")],
        ),
        kernel(
            "dataflow/writer_unary_interleaved_start_id.cpp",
            ttnn.WriterConfigDescriptor(),
            [target.buffer_address(), 6, 0],
            compile_time_args=[2, *ttnn.TensorAccessorArgs(target).get_compile_time_args()],
        ),
    ]
    buffers = [ttnn.CBDescriptor(4096, one, [ttnn.CBFormatDescriptor(index, ttnn.bfloat16, 2048)]) for index in (0, 2)]
    with official_root():
        ttnn.generic_op([source, target], ttnn.ProgramDescriptor(kernels, [], buffers))
    assert (ttnn.to_numpy(target) == ttnn.to_numpy(ttnn.relu(source))).all()


def test_a_prepared_program_is_compiled_and_has_not_run(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "twice.h").write_text("constexpr uint32_t twice(uint32_t x) { return 2 * x; }\n")
    source, target = words(device)
    ttnn.experimental.prepare_generic_op([source, target], descriptor(STORE, target, compiler_include_paths=[headers]))
    assert not ttnn.to_torch(target).any()
    broken = descriptor(STORE, target)
    with pytest.raises(KernelCompileError, match=r"'twice\.h' file not found"):
        ttnn.experimental.prepare_generic_op([source, target], broken)
    with pytest.raises(ttnn.ProgramConfigError, match="prepare_generic_op: 1 tensors"):
        ttnn.experimental.prepare_generic_op([target], broken)

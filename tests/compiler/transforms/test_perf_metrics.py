"""`ttnn-collect-perf-metrics`: counts, and which limit bounds an operation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.versions import parse_module

KIND = "ttcore.argument_type = #ttcore.argument_type"


def sheet(rows: int, folder: Path, *, verbose: bool = False, arch: str = "wormhole_b0") -> dict[str, Any]:
    x, w, r = f"tensor<{rows}x1024xbf16>", "tensor<1024x512xbf16>", f"tensor<{rows}x512xbf16>"
    module = parse_module(
        f"func.func @f(%x: {x} {{{KIND}<input>}}, %w: {w} {{{KIND}<parameter>}}) -> {r} {{\n"
        f'  %0 = "ttir.matmul"(%x, %w) : ({x}, {w}) -> {r}\n  return %0 : {r}\n}}\n'
    )
    run(module, f"ttir-to-ttnn-runtime-pipeline{{mock-system-desc-arch={arch}}},ttcore-unwrap-device-module")
    flag = "true" if verbose else "false"
    file = folder / "new" / "sheet.json"
    options = f"ttnn-perf-metrics-output-file={file} ttnn-perf-metrics-verbose-output-enabled={flag}"
    run(module, f"ttnn-collect-perf-metrics{{{options}}}")
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def test_small_matmuls_are_memory_bound_and_large_ones_compute_bound(tmp_path: Path) -> None:
    few, many = sheet(32, tmp_path), sheet(32768, tmp_path)
    targets = few["perf_targets"]
    assert (targets["dram_bound_ops"], targets["compute_bound_ops"]) == (1, 0)
    assert targets["params_count"] == 1024 * 512
    # 17 bytes for 16 elements of bfp8, at 288 GB/s.
    assert targets["params_memory_bytes"] == 1024 * 512 * 17 // 16
    assert targets["roofline_ms"] == pytest.approx(1024 * 512 * 17 / 16 / 288e9 * 1e3)
    targets = many["perf_targets"]
    assert (targets["dram_bound_ops"], targets["compute_bound_ops"]) == (0, 1)
    # 32 cycles a product of tiles, on 64 cores at 1 GHz.
    assert targets["roofline_ms"] == pytest.approx(1024 * 32 * 16 * 32 / 64e9 * 1e3)
    assert targets["top_perf_estimate_ms"] == pytest.approx(targets["roofline_ms"] / 0.7)


def test_metrics_count_operations(tmp_path: Path) -> None:
    flops = sheet(64, tmp_path, verbose=True)["flops"]
    assert flops["total_flops"] == 2 * 64 * 1024 * 512
    assert [one["operation"] for one in flops["per_op"]] == ["ttnn.matmul"]
    # 64 cores, 64 cycles of a product of tiles at the highest fidelity.
    assert flops["peak_flops_per_sec_by_fidelity"]["hifi4"] == 64 * 10**9 * 2 * 32**3 // 64
    whole = sheet(64, tmp_path, verbose=True)
    assert whole["operation_type_breakdown"]["ttnn.matmul"] == 1
    assert whole["summary"]["sharded_ops"] == 0
    assert sheet(64, tmp_path, arch="blackhole")["perf_targets"]["arch"] == "blackhole"


def test_metrics_of_several_programs_are_refused() -> None:
    with pytest.raises(CompileError, match="expected exactly one outer forward-device function"):
        run(parse_module("module {\n}\n"), "ttnn-collect-perf-metrics")

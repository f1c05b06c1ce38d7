"""Time of programs: matmul against measured cycles, and general laws.

The pipeline of one core is measured on cards.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from broken import pipeline
from test_single_core import add_kernel

import ttnn
from testkit.parts import CORE, add_cb, read_two, tile_bytes, tiles_buffer
from ttnn import metal
from ttnn.kernel_api import (
    InterleavedAddrGenFast,
    acquire_dst,
    add_tiles,
    add_tiles_init,
    binary_op_init_common,
    cb_pop_front,
    cb_push_back,
    cb_reserve_back,
    cb_wait_front,
    get_arg_val,
    get_compile_time_arg_val,
    get_dataformat,
    get_tile_size,
    get_write_ptr,
    matmul_block,
    mm_block_init,
    noc_async_read_barrier,
    noc_async_read_tile,
    pack_tile,
    release_dst,
    tile_regs_acquire,
    tile_regs_commit,
    tile_regs_release,
    tile_regs_wait,
)


def read_all() -> None:
    """Reader: all tiles of both operands, then one push each.

    The pipeline never waits for them again.
    """
    counts = (get_arg_val(2), get_arg_val(3))
    for cb, tiles in enumerate(counts):
        source = InterleavedAddrGenFast[True](get_arg_val(cb), get_tile_size(cb), get_dataformat(cb))
        cb_reserve_back(cb, tiles)
        for tile in range(tiles):
            noc_async_read_tile(tile, source, get_write_ptr(cb) + tile * get_tile_size(cb))
    noc_async_read_barrier()
    for cb, tiles in enumerate(counts):
        cb_push_back(cb, tiles)


def multiply() -> None:
    rows, columns, k_tiles, runs = (get_compile_time_arg_val(i) for i in range(4))
    mm_block_init(0, 1, 16, 0, columns, rows, k_tiles)
    cb_wait_front(0, rows * k_tiles)
    cb_wait_front(1, columns * k_tiles)
    for _ in range(runs):
        tile_regs_acquire()
        for k in range(k_tiles):
            matmul_block(0, 1, k, k * columns, 0, 0, columns, rows, k_tiles)
        tile_regs_commit()
        tile_regs_wait()
        cb_reserve_back(16, rows * columns)
        for tile in range(rows * columns):
            pack_tile(tile, 16)
        cb_push_back(16, rows * columns)
        tile_regs_release()
    cb_pop_front(0, rows * k_tiles)
    cb_pop_front(1, columns * k_tiles)


def drop() -> None:
    tiles, runs = get_arg_val(0), get_arg_val(1)
    for _ in range(runs):
        cb_wait_front(16, tiles)
        cb_pop_front(16, tiles)


@dataclass(frozen=True)
class Case:
    """A measured pipeline: FPU or kernel cycles per tile matmul."""

    row: str
    chip: str
    block: tuple[int, int, int]
    data_format: metal.DataFormat
    fidelity: ttnn.MathFidelity
    measured: float


_BF16, _BFP8 = metal.DataFormat.Float16_b, metal.DataFormat.Bfp8_b
_LOFI, _HIFI2, _HIFI4 = ttnn.MathFidelity.LoFi, ttnn.MathFidelity.HiFi2, ttnn.MathFidelity.HiFi4
CASES = [
    # golden/silicon/tensix_kernel_cycles.csv
    Case("k047", "p150", (2, 4, 4), _BFP8, _HIFI2, 36.85),
    Case("k048", "p150", (2, 4, 8), _BFP8, _HIFI2, 35.27),
    Case("k049", "p150", (2, 4, 16), _BFP8, _HIFI2, 34.53),
    Case("k063", "p150", (1, 1, 224), _BF16, _LOFI, 26.48),
    # perf_anchors.csv: the best configuration of each format and fidelity, cycles per core and tile product
    Case("s0136", "n150", (2, 4, 8), _BF16, _HIFI4, 69.28),
    Case("s0340", "n150", (2, 4, 8), _BFP8, _HIFI2, 35.90),
    Case("s0380", "n150", (2, 4, 8), _BFP8, _LOFI, 22.31),
    Case("s0613", "p150", (2, 4, 8), _BF16, _HIFI4, 67.97),
    Case("s0709", "p150", (2, 4, 8), _BFP8, _HIFI2, 35.30),
    Case("s0745", "p150", (2, 4, 8), _BFP8, _LOFI, 18.30),
]


def cycles_per_product(case: Case, runs: int) -> float:
    rows, columns, k_tiles = case.block
    with ttnn.manage_device(device_id=1, chip=case.chip) as device:
        counts = (rows * k_tiles, columns * k_tiles)
        buffers = [tiles_buffer(device, tiles, case.data_format) for tiles in counts]
        for buffer, tiles in zip(buffers, counts, strict=True):
            data = np.zeros(tiles * tile_bytes(case.data_format), np.uint8)
            metal.enqueue_write_buffer(metal.command_queue(device), buffer, data)
        program = metal.create_program()
        for cb, pages in ((0, counts[0]), (1, counts[1]), (16, 2 * rows * columns)):
            add_cb(program, cb, pages, case.data_format)
        reader = metal.create_kernel(program, read_all, CORE, metal.ReaderDataMovementConfig())
        writer = metal.create_kernel(program, drop, CORE, metal.WriterDataMovementConfig())
        config = metal.ComputeConfig(math_fidelity=case.fidelity, compile_args=[*case.block, runs])
        metal.create_kernel(program, multiply, CORE, config)
        metal.set_runtime_args(program, reader, CORE, [*(buffer.address() for buffer in buffers), *counts])
        metal.set_runtime_args(program, writer, CORE, [rows * columns, runs])
        report = metal.run_program(device, program)
    compute = next(kernel for kernel in report.kernels if kernel.risc == "TRISC")
    reading = sum(cycles for what, cycles in compute.waits.items() if what.startswith("unpack: front of CB"))
    return (compute.cycles - reading) / (rows * columns * k_tiles * runs)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.row}-{case.chip}")
def test_matmul_pipeline_time_is_near_the_measured_time(case: Case) -> None:
    # k063 is one run whose start counts; the others are steady states.
    predicted = cycles_per_product(case, runs=1 if case.row == "k063" else 16)
    print(f"{case.row} measured {case.measured:.2f} predicted {predicted:.2f} {predicted / case.measured - 1:+.1%}")
    assert abs(predicted / case.measured - 1) < 0.25  # what the issue asks for


def read_one_bank() -> None:
    """Reader: every page in DRAM bank 0 into one page.

    The page is one of CB 0; the argument is the number of pages.
    """
    address, pages, banks = get_arg_val(0), get_arg_val(1), get_arg_val(2)
    source = InterleavedAddrGenFast[True](address, get_tile_size(0), get_dataformat(0))
    for page in range(0, pages, banks):
        cb_reserve_back(0, 1)
        noc_async_read_tile(page, source, get_write_ptr(0))
        noc_async_read_barrier()
        cb_push_back(0, 1)
        cb_wait_front(0, 1)
        cb_pop_front(0, 1)


def read_bank(device: ttnn.MeshDevice, cores: int) -> metal.Report:
    """Read 64 pages per core of row 0, from DRAM bank 0."""
    banks = device.dram_grid_size().x
    pages = 64 * banks
    buffer = tiles_buffer(device, pages)
    metal.enqueue_write_buffer(metal.command_queue(device), buffer, np.zeros(pages * 2048, np.uint8))
    program = metal.create_program()
    where = metal.CoreRange(CORE, metal.CoreCoord(cores - 1, 0))
    add_cb(program, 0, 2, cores=where)
    reader = metal.create_kernel(program, read_one_bank, where, metal.ReaderDataMovementConfig())
    for x in range(cores):
        metal.set_runtime_args(program, reader, metal.CoreCoord(x, 0), [buffer.address(), pages, banks])
    return metal.run_program(device, program)


def test_report_has_bytes_and_times_of_a_run(device: ttnn.MeshDevice) -> None:
    alone, together = read_bank(device, 1), read_bank(device, 8)
    for report, cores in ((alone, 1), (together, 8)):
        moved = 64 * 2048 * cores
        assert sorted(report.noc_bytes) == [0, moved]
        assert report.bank_bytes[0] == (moved, 0)
        assert not any(read + written for read, written in report.bank_bytes[1:])
    # One core waits for each page in turn; eight share what a bank gives, 24 bytes a cycle at most.
    assert together.cycles > alone.cycles
    assert together.cycles >= 8 * 64 * 2048 / 24
    assert all(kernel.waits["read barrier"] > 0 for kernel in together.kernels)


def test_equal_runs_take_equal_time(device: ttnn.MeshDevice) -> None:
    first, second = read_bank(device, 8), read_bank(device, 8)
    assert [kernel.threads for kernel in first.kernels] == [kernel.threads for kernel in second.kernels]
    assert first.cycles == second.cycles


def test_report_names_the_kernel_that_ended_each_wait(device: ttnn.MeshDevice) -> None:
    report = metal.run_program(device, pipeline(device))
    writer, reader, compute = report.kernels
    assert writer.whom["front of CB 16"] == "copy_tiles, TRISC"
    assert compute.whom["unpack: front of CB 0"] == "read_one, NCRISC"
    assert "read barrier" not in reader.whom
    assert "for front of CB 16 (copy_tiles, TRISC)" in repr(report)
    assert sum(kernel.cycles - sum(kernel.waits.values()) > 0 for kernel in (writer, reader)) == 2


def test_cores_start_one_after_the_other(device: ttnn.MeshDevice) -> None:
    grid = device.compute_with_storage_grid_size()
    everywhere = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(grid.x - 1, grid.y - 1))
    program = metal.create_program()
    metal.create_kernel(program, lambda: None, everywhere, metal.DataMovementConfig())
    ends = [kernel.cycles for kernel in metal.run_program(device, program).kernels]
    assert ends == sorted(ends)
    assert ends[-1] - ends[0] == 100  # docs/chip/performance.md section 2.6


def test_programs_of_a_queue_follow_each_other(device: ttnn.MeshDevice) -> None:
    queue, program = metal.command_queue(device), pipeline(device)
    reports = [metal.enqueue_program(queue, program) for _ in range(3)]
    assert reports[0].started_at == 0
    for before, after in pairwise(reports):
        assert after.started_at - before.started_at - before.cycles == before.gap == 700  # likewise


def test_the_saved_timeline_is_a_chrome_trace(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    report = metal.run_program(device, pipeline(device))
    report.save(tmp_path / "trace.json")
    rows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {row["args"]["name"] for row in rows if row["ph"] == "M" and row["name"] == "thread_name"}
    assert {"BRISC write_one", "NCRISC read_one", "TRISC0 copy_tiles (unpack)"} <= names
    open_spans = [row["id2"]["local"] for row in rows if row["ph"] == "b"]
    assert sorted(open_spans) == sorted(row["id2"]["local"] for row in rows if row["ph"] == "e")
    assert len(open_spans) == 8  # four reads, four writes
    assert sum(row["args"]["bytes"] for row in rows if row["ph"] == "b") == 8 * 2048
    spans = [row for row in rows if row["ph"] == "X"]
    assert all(row["dur"] > 0 for row in spans)
    named = {(row["pid"], row["tid"]) for row in rows if row["name"] == "thread_name"}
    assert {(row["pid"], row["tid"]) for row in rows if row["ph"] in "Xbe"} == named
    kernels = [row for row in spans if "busy cycles" in row["args"]]
    assert sorted(row["name"] for row in kernels) == ["copy_tiles"] * 3 + ["read_one", "write_one"]
    assert all(0 < row["args"]["share of the program"] <= 1 for row in kernels)
    assert "kernel_main" not in {row["name"] for row in rows} | names
    report.plot(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_the_picture_shows_all_bars_and_shares_of_the_program(device: ttnn.MeshDevice) -> None:
    report = metal.run_program(device, pipeline(device))
    figure = report.plot()
    figure.canvas.draw()
    heat, chart = figure.axes[:2]
    (legend,) = figure.legends
    assert not legend.get_window_extent().overlaps(chart.get_window_extent())
    assert heat.title.get_window_extent().x0 >= 0
    (image,) = heat.images
    assert 0 < float(image.get_array().max()) <= 100
    ends = [path.get_extents().x1 for bars in chart.collections for path in bars.get_paths()]
    assert max(ends) <= chart.get_xlim()[1]


def add_with_acquire_dst() -> None:
    binary_op_init_common(0, 1, 16)
    add_tiles_init(0, 1)
    for _ in range(get_arg_val(0)):
        acquire_dst()
        cb_wait_front(0, 1)
        cb_wait_front(1, 1)
        add_tiles(0, 1, 0, 0, 0)
        cb_reserve_back(16, 1)
        pack_tile(0, 16)
        cb_push_back(16, 1)
        cb_pop_front(0, 1)
        cb_pop_front(1, 1)
        release_dst()


def addition(device: ttnn.MeshDevice, compute: Callable[[], None], tiles: int) -> metal.Report:
    """Add pairs of tiles on one core."""
    buffers = [tiles_buffer(device, tiles) for _ in range(2)]
    for buffer in buffers:
        metal.enqueue_write_buffer(metal.command_queue(device), buffer, np.zeros(tiles * 2048, np.uint8))
    program = metal.create_program()
    for cb in (0, 1, 16):
        add_cb(program, cb, 2)
    reader = metal.create_kernel(program, read_two, CORE, metal.ReaderDataMovementConfig())
    writer = metal.create_kernel(program, drop, CORE, metal.WriterDataMovementConfig())
    adder = metal.create_kernel(program, compute, CORE, metal.ComputeConfig())
    metal.set_runtime_args(program, adder, CORE, [tiles])
    metal.set_runtime_args(program, reader, CORE, [*(buffer.address() for buffer in buffers), tiles])
    metal.set_runtime_args(program, writer, CORE, [1, tiles])
    return metal.run_program(device, program)


def test_the_packer_waits_for_math_with_either_protocol_of_dst(device: ttnn.MeshDevice) -> None:
    classic, registers = (addition(device, kernel, 16) for kernel in (add_with_acquire_dst, add_kernel))
    # The calls differ, the work does not.
    assert classic.cycles == pytest.approx(registers.cycles, rel=0.005)
    math, pack = ([e for e in classic.events if e.name == name] for name in ("add_tiles", "pack_tile"))
    ends = [event.end for event in math if event.thread == 1]
    assert len(ends) == len(pack) == 16
    assert all(event.start >= end for event, end in zip(pack, ends, strict=True))
    released = [event for event in classic.events if event.name == "release_dst"]
    assert released
    assert all(event.end - event.start <= 2 for event in released)

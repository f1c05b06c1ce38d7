"""Programs of `ttnn.metal` in profiles, captured graphs and reports."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from broken import pipeline

import ttnn
from testkit.kernel_parts import copy_tiles
from testkit.parts import CORE, read_one, write_one
from ttnn import metal
from ttnn.kernel_api import *

NAME = "GenericOpDeviceOperation"


def described(source: ttnn.Tensor, target: ttnn.Tensor) -> ttnn.ProgramDescriptor:
    """A program that copies a tensor of one tile."""
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(CORE, CORE)])
    kernels = [
        ttnn.KernelDescriptor(
            kernel_source=function, core_ranges=cores, config=config, runtime_args=[(CORE, arguments)]
        )
        for function, config, arguments in (
            (read_one, ttnn.ReaderConfigDescriptor(), [source.buffer_address(), 1]),
            (copy_tiles, ttnn.ComputeConfigDescriptor(), [1]),
            (write_one, ttnn.WriterConfigDescriptor(), [target.buffer_address(), 1]),
        )
    ]
    cbs = [
        ttnn.CBDescriptor(
            total_size=2048,
            core_ranges=cores,
            format_descriptors=[ttnn.CBFormatDescriptor(buffer_index=cb, data_format=ttnn.bfloat16, page_size=2048)],
        )
        for cb in (0, 16)
    ]
    return ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs)


@pytest.fixture
def tensors(device: ttnn.MeshDevice) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    values = np.random.default_rng(3).random((32, 32), np.float32)
    options = {"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT, "device": device}
    return ttnn.from_torch(values, **options), ttnn.zeros((32, 32), **options)


def test_a_program_is_a_row_with_the_time_of_its_report(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    program = pipeline(device)
    with ttnn.profiler.profile() as session:
        report = metal.enqueue_program(metal.command_queue(device), program)
        metal.run_program(device, program)
    assert [row.record.operator for row in session.rows] == ["ttnn.metal.enqueue_program", "ttnn.metal.run_program"]
    first, second = session.rows
    assert (first.plan.name, first.plan.cores, first.plan.fidelity) == (NAME, 1, "HiFi4")
    assert report is not None
    assert first.plan.timing.cycles == second.plan.timing.cycles == report.cycles
    assert first.plan.timing.dram_read_bytes == first.plan.timing.dram_write_bytes == 4 * 2048
    # One page after the other, each with its barrier.
    assert first.plan.timing.bound == "reader"
    assert first.plan.attributes == (("kernels", "copy_tiles read_one write_one"),)
    with session.to_csv(tmp_path).open(newline="") as file:
        assert [line["OP CODE"] for line in csv.DictReader(file)] == [NAME, NAME]
    assert session.to_perfetto(tmp_path / "timeline.json").stat().st_size > 0


def test_generic_op_is_a_row_with_its_tensors(tensors: tuple[ttnn.Tensor, ttnn.Tensor]) -> None:
    source, target = tensors
    with ttnn.profiler.profile() as session:
        ttnn.exp(ttnn.generic_op([source, target], described(source, target)))
    assert [(row.record.operator, row.plan.name) for row in session.rows] == [
        ("ttnn.generic_op", NAME),
        ("ttnn.exp", "UnaryDeviceOperation"),
    ]
    assert [str(operand) for operand in session.rows[0].plan.inputs] == ["1x1x32x32 BFLOAT16 TILE DRAM_INTERLEAVED"]
    assert len(session.rows[0].plan.outputs) == 1


def test_the_programs_of_a_trace_are_rows_of_each_replay(device: ttnn.MeshDevice) -> None:
    program, queue = pipeline(device), metal.command_queue(device)
    with ttnn.profiler.profile() as session:
        trace = metal.begin_trace_capture(device)
        metal.enqueue_program(queue, program)
        metal.end_trace_capture(device, 0, trace)
        assert session.rows == []
        for _ in range(2):
            metal.replay_trace(device, 0, trace)
    metal.release_trace(device, trace)
    assert [(row.plan.name, row.record.trace) for row in session.rows] == [(NAME, int(trace))] * 2


def test_a_captured_graph_has_the_program_with_its_circular_buffers(device: ttnn.MeshDevice) -> None:
    program = pipeline(device)
    ttnn.graph.begin_graph_capture()
    metal.run_program(device, program)
    graph = ttnn.graph.end_graph_capture()
    assert [node["node_type"] for node in graph] == [
        *("capture_start", "function_start", "circular_buffer_deallocate_all", "circular_buffer_allocate"),
        *("circular_buffer_allocate", "program_execution", "function_end", "capture_end"),
    ]
    assert graph[1]["params"]["name"] == NAME
    base = int(device.chip["l1_base"])
    places = [(int(node["params"]["address"]), node["params"]["core_range_set"]) for node in graph[3:5]]
    assert places == [(base, "{[(x=0,y=0) - (x=0,y=0)]}"), (base + 4096, "{[(x=0,y=0) - (x=0,y=0)]}")]


def test_generic_op_is_a_function_of_a_captured_graph(tensors: tuple[ttnn.Tensor, ttnn.Tensor]) -> None:
    source, target = tensors
    ttnn.graph.begin_graph_capture()
    ttnn.generic_op([source, target], described(source, target))
    graph = ttnn.graph.end_graph_capture()
    assert ttnn.graph.extract_calltrace(graph) == ["ttnn.generic_op", NAME]


def test_without_dispatch_no_program_runs(device: ttnn.MeshDevice) -> None:
    program = pipeline(device)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    try:
        assert metal.enqueue_program(metal.command_queue(device), program) is None
        with pytest.raises(ttnn.DeviceError, match="a graph is captured without dispatch, and no report is made"):
            metal.run_program(device, program)
    finally:
        graph = ttnn.graph.end_graph_capture()
    assert [node["params"]["name"] for node in graph if node["node_type"] == "function_start"] == [NAME]
    assert not [node for node in graph if node["node_type"] == "program_execution"]


def test_the_report_of_a_profile_has_programs_and_operators(
    device: ttnn.MeshDevice, tensors: tuple[ttnn.Tensor, ttnn.Tensor], tmp_path: Path
) -> None:
    source, target = tensors
    with ttnn.profiler.profile() as session:
        metal.run_program(device, pipeline(device))
        ttnn.generic_op([source, target], described(source, target))
    with sqlite3.connect(session.report(tmp_path) / "db.sqlite") as database:
        names = database.execute("SELECT name FROM operations ORDER BY operation_id").fetchall()
        graphs = [json.loads(text) for (text,) in database.execute("SELECT captured_graph FROM captured_graph")]
    assert names == [("ttnn.metal.run_program",), ("ttnn.generic_op",)]
    for graph in graphs:
        addresses = [node["params"]["address"] for node in graph if node["node_type"] == "circular_buffer_allocate"]
        assert len(addresses) == 2
        assert len(set(addresses)) == 2

"""Python calls that building and running a small program makes."""

from __future__ import annotations

import cProfile
import pstats

import ttnn
from ttnn import metal
from ttnn.kernel_api import cb_pop_front, cb_push_back, cb_reserve_back, cb_wait_front

MOST_OF_RANGES = 80
"""Calls of `base/core_range.py`; 796 while every core of a range was an object."""


def reader() -> None:
    cb_reserve_back(0, 1)
    cb_push_back(0, 1)


def writer() -> None:
    cb_wait_front(0, 1)
    cb_pop_front(0, 1)


def build_and_run(device: ttnn.MeshDevice) -> None:
    program = metal.create_program()
    cores = ttnn.CoreRange((0, 0), (1, 1))
    config = metal.CircularBufferConfig(4096, {0: ttnn.bfloat16}).set_page_size(0, 2048)
    metal.create_circular_buffer(program, cores, config)
    metal.create_semaphore(program, cores, 0)
    metal.create_kernel(program, reader, cores, metal.ReaderDataMovementConfig())
    metal.create_kernel(program, writer, cores, metal.WriterDataMovementConfig())
    metal.run_program(device, program)


def test_core_ranges_cost_few_calls(device: ttnn.MeshDevice) -> None:
    build_and_run(device)
    profile = cProfile.Profile()
    profile.enable()
    build_and_run(device)
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    calls = sum(row[1] for (file, _, _), row in stats.items() if file.endswith("core_range.py"))
    assert 0 < calls <= MOST_OF_RANGES

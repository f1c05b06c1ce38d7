"""Python calls that building a small program makes."""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType

import ttnn
from ttnn import metal
from ttnn.kernel_api import cb_pop_front, cb_push_back, cb_reserve_back, cb_wait_front
from ttnn.metal.layout import lay_out

MOST_OF_RANGES = 70
"""Calls of `base/core_range.py`.

790 while every core of a range was an object.
"""


def reader() -> None:
    cb_reserve_back(0, 1)
    cb_push_back(0, 1)


def writer() -> None:
    cb_wait_front(0, 1)
    cb_pop_front(0, 1)


def build(device: ttnn.MeshDevice) -> None:
    program = metal.create_program()
    cores = ttnn.CoreRange((0, 0), (1, 1))
    config = metal.CircularBufferConfig(4096, {0: ttnn.bfloat16}).set_page_size(0, 2048)
    metal.create_circular_buffer(program, cores, config)
    metal.create_semaphore(program, cores, 0)
    metal.create_kernel(program, reader, cores, metal.ReaderDataMovementConfig())
    metal.create_kernel(program, writer, cores, metal.WriterDataMovementConfig())
    lay_out(device, program)


def test_core_ranges_cost_few_calls(device: ttnn.MeshDevice) -> None:
    build(device)
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls[frame.f_code.co_filename.rpartition("/")[2]] += 1

    sys.setprofile(count)
    try:
        build(device)
    finally:
        sys.setprofile(None)
    assert 0 < calls["core_range.py"] <= MOST_OF_RANGES

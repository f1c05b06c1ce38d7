"""Compiled kernels: instructions and engine calls per second.

Checks and time included.

The kernels are loops of a few instructions, written down as words; no compiler is needed.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

import ttnn
from ttnn import _engine

ROUNDS = 200_000
SINK, COUNTER, POINTER = 7, 31, 6
NOTHING = 0x13


def li(register: int, value: int) -> list[int]:
    """Return `li register, value`, always two instructions."""
    upper = (value + 0x800) & 0xFFFF_F000
    return [upper | register << 7 | 0x37, (value & 0xFFF) << 20 | register << 15 | register << 7 | 0x13]


def call(name: str, *words: int) -> list[int]:
    """Return a call with constants."""
    arguments = [word for place, value in enumerate(words) for word in li(10 + place, value)]
    return [*arguments, *li(5, _engine.kernel_calls().index(name)), 0x73]


def store(offset: int) -> int:
    """Return `sw counter, offset(pointer)`."""
    return (offset >> 5 & 0x7F) << 25 | COUNTER << 20 | POINTER << 15 | 2 << 12 | (offset & 0x1F) << 7 | 0x23


def load(offset: int) -> int:
    """Return `lw sink, offset(pointer)`."""
    return offset << 20 | POINTER << 15 | 2 << 12 | SINK << 7 | 0x03


def image(before: list[int], body: list[int]) -> bytes:
    """Return the ELF file of a kernel that repeats its body.

    It makes something once, and runs its body `ROUNDS` times.
    """
    back = -4 * (len(body) + 1) & 0x1FFF
    branch = (back >> 12) << 31 | (back >> 5 & 0x3F) << 25 | COUNTER << 15 | 1 << 12 | 0x63
    branch |= (back >> 1 & 0xF) << 8 | (back >> 11 & 1) << 7
    words = [*before, *li(COUNTER, ROUNDS), *body, 0xFFF << 20 | COUNTER << 15 | COUNTER << 7 | 0x13, branch]
    words += call("finish")
    start, at, size = 0xA000_0000, 52 + 32, 4 * len(words)
    header = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, 243, 1, start, 52, 0, 0, 52, 32, 1, 40, 0, 0)
    segment = struct.pack("<8I", 1, at, start, start, size, size, 5, 4)
    return header + segment + struct.pack(f"<{len(words)}I", *words)


@pytest.mark.parametrize("what", ["instructions", "pointers", "calls", "pages"])
def test_compiled_kernel(benchmark: Any, device: ttnn.MeshDevice, what: str) -> None:
    """One kernel on one core: `mips` and `calls_per_second`.

    `mips` counts instructions, `calls_per_second` calls of the engine.
    """
    base = int(device.engine.memory_view(ttnn.BufferType.L1.value)["base_address"])
    pages = ("cb_reserve_back", "cb_push_back", "cb_wait_front", "cb_pop_front")
    before, body, calls = {
        "instructions": ([], [NOTHING] * 30, 0),
        "pointers": (
            call("cb_reserve_back", 0, 1) + li(POINTER, base),
            [word for at in range(0, 128, 4) for word in (store(at), load(at))],
            0,
        ),
        "calls": ([], call("get_write_ptr", 0), 1),
        "pages": ([], [word for name in pages for word in call(name, 0, 1)], 4),
    }[what]
    file, cb = image(before, body), ((0, 0), 0, base, 2048, 8, 5, (32, 32), False)
    kernels: list[Any] = [((0, 0), 1, "kernel", 0, None, [])]
    runs: list[_engine.ProgramRun] = []

    def execute() -> None:
        run = _engine.ProgramRun(device.engine, [cb], [], kernels, False, [(0, file, 0, 1 << 62, "", (0, 0))])
        run.schedule()
        assert run.run_native() == -1
        runs.append(run)

    benchmark.pedantic(execute, rounds=5)
    if benchmark.stats is not None:
        seconds = benchmark.stats.stats.min
        benchmark.extra_info["mips"] = round(runs[-1].kernel_usage(0)[1] / seconds / 1e6)
        benchmark.extra_info["calls_per_second"] = round(calls * ROUNDS / seconds)

"""Races and flags between two C++ kernels on one core.

What nothing orders is a race, a word that changes is a flag.
"""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from ttnn import metal

CORE = metal.CoreCoord(0, 0)
HEAD = """#include "dataflow_api.h"

void kernel_main() {
    volatile tt_l1_ptr uint32_t* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(0));
"""
LATE = "    for (volatile uint32_t step = 0; step < 2000; step = step + 1) {}\n"
READ = "    words[69] + words[70];\n}\n"
FILL = "    for (uint32_t i = 0; i < 256; ++i) { words[i] = i; }\n}\n"
SET = "    words[69] = 1000;\n}\n"
POLL = "    while (words[69] != 1000) {}\n    words[70] = 7;\n}\n"


def _run(device: ttnn.MeshDevice, brisc: str, ncrisc: str) -> tuple[metal.Report, list[int]]:
    config = metal.InterleavedBufferConfig(device=device, size=1024, page_size=1024, buffer_type=metal.BufferType.L1)
    buffer = metal.create_buffer(config)
    buffer.write(np.arange(256, dtype=np.uint32))
    program = metal.create_program()
    for text, how in ((brisc, metal.WriterDataMovementConfig()), (ncrisc, metal.ReaderDataMovementConfig())):
        kernel = metal.create_kernel_from_string(program, HEAD + text, CORE, how)
        metal.set_runtime_args(program, kernel, CORE, [buffer])
    report = metal.run_program(device, program)
    assert report is not None
    return report, buffer.read(np.uint32).tolist()


@pytest.mark.parametrize("late", ["", LATE])
def test_reading_a_word_that_another_kernel_writes_raises(late: str, device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.RaceError, match=r"NCRISC, kernel \w+ .*an L1 load: the 4 B .* were written by"):
        _run(device, FILL, late + READ)


def test_reading_a_shared_word_is_no_race(device: ttnn.MeshDevice) -> None:
    assert _run(device, READ, LATE + READ)[1] == list(range(256))


def test_a_loop_that_waits_for_a_word_of_a_buffer_sees_it_change(device: ttnn.MeshDevice) -> None:
    report, words = _run(device, POLL, LATE + SET)
    assert words[69:71] == [1000, 7]
    brisc, ncrisc = report.kernels
    assert brisc.cycles > ncrisc.cycles - 100

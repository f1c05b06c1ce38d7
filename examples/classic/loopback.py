"""DRAM to L1 and back, by page: the smallest program.

It has a single data movement kernel.
"""

from __future__ import annotations

import numpy as np

import ttnn
from examples.common import Outcome, accessors, kernel, main
from ttnn import metal
from ttnn.kernel_api import *

CORE = metal.CoreCoord(0, 0)


def copy_pages() -> None:
    """Data movement: every page of one buffer through L1 into another."""
    l1, source, target, pages, page = (get_arg_val(i) for i in range(5))
    read_from = InterleavedAddrGen[True](bank_base_address=source, page_size=page)
    write_to = InterleavedAddrGen[True](bank_base_address=target, page_size=page)
    for index in range(pages):
        noc_async_read(get_noc_addr(index, read_from), l1, page)
        noc_async_read_barrier()
        noc_async_write(l1, get_noc_addr(index, write_to), page)
        noc_async_write_barrier()


def run(device: ttnn.MeshDevice, pages: int = 50, page: int = 2048) -> Outcome:
    """Copy so many pages of so many bytes."""
    dram = metal.InterleavedBufferConfig(device=device, size=pages * page, page_size=page)
    on_core = metal.InterleavedBufferConfig(device=device, size=page, page_size=page, buffer_type=metal.BufferType.L1)
    source, target, l1 = (metal.create_buffer(config) for config in (dram, dram, on_core))
    data = np.random.default_rng(0).integers(0, 256, pages * page, dtype=np.uint8)
    queue = metal.command_queue(device)
    metal.enqueue_write_buffer(queue, source, data)

    program = metal.create_program()
    config = metal.DataMovementConfig(compile_args=accessors(source, target))
    copier = metal.create_kernel(program, kernel(copy_pages), CORE, config)
    metal.set_runtime_args(program, copier, CORE, [l1, source, target, pages, page])
    report = metal.enqueue_program(queue, program)
    copied = metal.enqueue_read_buffer(queue, target, np.empty_like(data))
    return Outcome(report, f"{pages} pages of {page} B", {"every byte arrived": np.array_equal(copied, data)})


if __name__ == "__main__":
    main(run, "Loopback: DRAM to L1 to DRAM")

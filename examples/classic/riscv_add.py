"""Word sums of two buffers on a RISC-V processor.

No circular buffer, no compute kernel.
"""

from __future__ import annotations

import numpy as np

import ttnn
from examples.common import Outcome, accessors, kernel, main
from ttnn import metal
from ttnn.kernel_api import *

CORE = metal.CoreCoord(0, 0)


def add_words() -> None:
    """Data movement: reads both buffers, adds words, writes.

    Arguments: addresses in DRAM, in L1, bytes.
    """
    first, second, target, a_address, b_address, sum_address, size = (get_arg_val(i) for i in range(7))
    pages = [InterleavedAddrGen[True](bank_base_address=address, page_size=size) for address in (first, second, target)]
    noc_async_read(get_noc_addr(0, pages[0]), a_address, size)
    noc_async_read(get_noc_addr(0, pages[1]), b_address, size)
    noc_async_read_barrier()
    a, b, out = L1Pointer(a_address), L1Pointer(b_address), L1Pointer(sum_address)
    for word in range(size // 4):
        out[word] = (a[word] + b[word]) & 0xFFFFFFFF
    noc_async_write(sum_address, get_noc_addr(0, pages[2]), size)
    noc_async_write_barrier()


def run(device: ttnn.MeshDevice, words: int = 64) -> Outcome:
    """Add so many words of 32 bits."""
    size = 4 * words
    dram = metal.InterleavedBufferConfig(device=device, size=size, page_size=size)
    l1 = metal.InterleavedBufferConfig(device=device, size=size, page_size=size, buffer_type=metal.BufferType.L1)
    first, second, target = (metal.create_buffer(dram) for _ in range(3))
    on_core = [metal.create_buffer(l1) for _ in range(3)]
    a, b = (np.random.default_rng(seed).integers(0, 1 << 32, words, np.uint32) for seed in (1, 2))
    queue = metal.command_queue(device)
    metal.enqueue_write_buffer(queue, first, a)
    metal.enqueue_write_buffer(queue, second, b)

    program = metal.create_program()
    config = metal.DataMovementConfig(compile_args=accessors(first, second, target))
    adder = metal.create_kernel(program, kernel(add_words), CORE, config)
    metal.set_runtime_args(program, adder, CORE, [first, second, target, *on_core, size])
    report = metal.enqueue_program(queue, program)
    sums = metal.enqueue_read_buffer(queue, target, np.empty_like(a))
    return Outcome(report, f"{words} sums of 32-bit words", {"the sums of NumPy": np.array_equal(sums, a + b)})


if __name__ == "__main__":
    main(run, "Add in RISC-V")

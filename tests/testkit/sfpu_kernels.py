"""Single SFPU call kernels in C++ and Python, on all tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import ttnn
from testkit import tile_parts
from testkit.sfpu_calls import Call
from testkit.tile_parts import CORE, OUT, Matrix
from ttnn import kernel_api as api
from ttnn import metal

Values = npt.NDArray[Any]
TILES = 64
HEADERS = """
#include "api/compute/compute_kernel_api.h"
#include "api/compute/eltwise_binary_sfpu.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/logsigmoid.h"
"""


def all_values() -> Values:
    """Return the 65,536 bfloat16 values in tiles."""
    return np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16).reshape(TILES * 32, 32)


def wide_values() -> Values:
    """Return float32 numbers, one with each bfloat16 value as its upper half."""
    lower = np.random.default_rng(5).integers(0, 65536, 65536, dtype=np.uint32)
    return (np.arange(65536, dtype=np.uint32) << 16 | lower).view(np.float32).reshape(TILES * 32, 32)


def operands(call: Call, first: Values) -> list[Values]:
    """Return all values, reordered, some paired with themselves."""
    rng = np.random.default_rng(3)
    result = [first]
    for _ in range(call.operands - 1):
        other = rng.permutation(first.ravel())
        low, high = call.domain
        other[::2] = rng.uniform(low, high, other[::2].shape).astype(first.dtype)
        other[::7] = first.ravel()[::7]
        result.append(other.reshape(first.shape))
    return result


def _case(index: int, call: Call) -> str:
    template = f"<{call.template}>" if call.template else ""
    places = ["0"] if call.operands == 1 else [*(str(i) for i in range(call.operands)), "0"]
    words = [f"{word:#x}u" for word in call.words]
    arguments = ", ".join(places if call.init_takes_parameters else [*places, *words])
    set_up = ", ".join(words if call.init_takes_parameters else [])
    init_template = f"<{call.init_template}>" if call.init_template else ""
    return f"case {index}: {call.init_name}{init_template}({set_up}); {call.function}{template}({arguments}); break;"


def source(calls: Sequence[Call]) -> str:
    """Return a kernel with all calls, of which an argument chooses one."""
    cases = "\n".join(_case(index, call) for index, call in enumerate(calls))
    return (
        HEADERS
        + """
void kernel_main() {
    const uint32_t which = get_arg_val<uint32_t>(0), operands = get_arg_val<uint32_t>(1);
    compute_kernel_hw_startup(0, 16);
    copy_init(0);
    for (uint32_t tile = 0; tile < get_arg_val<uint32_t>(2); ++tile) {
        cb_reserve_back(16, 1);
        tile_regs_acquire();
        for (uint32_t cb = 0; cb < operands; ++cb) {
            cb_wait_front(cb, 1);
            copy_tile(cb, 0, cb);
        }
        switch (which) {
"""
        + cases
        + """
        }
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        for (uint32_t cb = 0; cb < operands; ++cb) { cb_pop_front(cb, 1); }
        cb_push_back(16, 1);
    }
}
"""
    )


def python_kernel(
    call: Call, set_up: Callable[[], object] | None = None, keywords: dict[str, Any] | None = None, tiles: int = TILES
) -> Callable[[], None]:
    """Return the equal Python kernel of a call.

    `set_up` replaces its init.
    """
    words = (call.words, []) if call.init_takes_parameters else ([], call.words)
    options = dict(call.keywords) if keywords is None else keywords

    def init() -> None:
        getattr(api, call.init_name)(*words[0], **dict(call.keywords))

    def kernel() -> None:
        api.compute_kernel_hw_startup(0, OUT)
        api.copy_init(0)
        places = [0] if call.operands == 1 else [*range(call.operands), 0]
        for _ in range(tiles):
            api.cb_reserve_back(OUT, 1)
            api.tile_regs_acquire()
            for cb in range(call.operands):
                api.cb_wait_front(cb, 1)
                api.copy_tile(cb, 0, cb)
            (set_up or init)()
            getattr(api, call.function)(*places, *words[1], **options)
            api.tile_regs_commit()
            api.tile_regs_wait()
            api.pack_tile(0, OUT)
            api.tile_regs_release()
            for cb in range(call.operands):
                api.cb_pop_front(cb, 1)
            api.cb_push_back(OUT, 1)

    return kernel


def run_text(
    device: ttnn.MeshDevice,
    text: str,
    inputs: list[Values],
    args: list[int],
    config: metal.ComputeConfig | None = None,
    out: Matrix | None = None,
) -> Values:
    """Run a C++ compute kernel where `tile_parts.run` runs one in Python."""
    queue, program = metal.command_queue(device), metal.create_program()
    reader_args: list[Any] = [len(inputs)]
    out = out or Matrix(inputs[0])
    for cb, values in enumerate(inputs):
        matrix = Matrix(values)
        buffer = tile_parts._buffer(device, matrix)
        metal.enqueue_write_buffer(queue, buffer, tile_parts.to_tiles(values))
        reader_args += [buffer, matrix.page, matrix.tiles]
        tile_parts._add_cb(program, cb, matrix)
    target = tile_parts._buffer(device, out)
    tile_parts._add_cb(program, OUT, out)
    reader = metal.create_kernel(program, tile_parts._read_all, CORE, metal.ReaderDataMovementConfig())
    writer = metal.create_kernel(program, tile_parts._write_all, CORE, metal.WriterDataMovementConfig())
    compute = metal.create_kernel_from_string(program, text, CORE, config or metal.ComputeConfig())
    metal.set_runtime_args(program, reader, CORE, reader_args)
    metal.set_runtime_args(program, writer, CORE, [target, out.page, out.tiles])
    metal.set_runtime_args(program, compute, CORE, args)
    metal.enqueue_program(queue, program)
    return tile_parts.from_tiles(
        metal.enqueue_read_buffer(queue, target).view(out.values.dtype),
        out.values.shape,  # type: ignore[arg-type]
    )

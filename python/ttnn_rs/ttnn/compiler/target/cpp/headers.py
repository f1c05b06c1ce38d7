"""Headers of kernels by what they use."""

from __future__ import annotations

import re
from typing import Final

from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import FuncOp, Operation, StringAttr

__all__ = ["THREAD", "headers_of", "thread_of"]

THREAD: Final = "ttkernel.thread"

#: Headers by thread, and those of a function or class that a kernel uses.
_HEADERS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "2024-09": {
        "compute": (
            "compute_kernel_api/common.h",
            "compute_kernel_api/tilize.h",
            "compute_kernel_api/untilize.h",
            "compute_kernel_api/eltwise_binary.h",
            "compute_kernel_api/tile_move_copy.h",
            "compute_kernel_api/eltwise_unary/eltwise_unary.h",
            "compute_kernel_api/eltwise_unary/exp.h",
            "compute_kernel_api/eltwise_unary/sfpu_split_includes.h",
        ),
        "noc": ("dataflow_api.h",),
    },
    "2025-10": {"compute": ("compute_kernel_api/common.h",), "noc": ("dataflow_api.h",)},
    "2026-08": {"compute": ("api/compute/common.h",), "noc": ("api/dataflow/dataflow_api.h",)},
}
_USED: Final[dict[str, dict[str, str]]] = {
    "2024-09": {},
    "2025-10": {
        "tilize": "compute_kernel_api/tilize.h",
        "untilize": "compute_kernel_api/untilize.h",
        "copy_tile": "compute_kernel_api/tile_move_copy.h",
        "binary_op_init": "compute_kernel_api/eltwise_binary.h",
        "mm_": "compute_kernel_api/matmul.h",
        "ttmlir::dprint": "debug/dprint.h",
    },
    "2026-08": {
        "CircularBuffer": "api/dataflow/circular_buffer.h",
        "DPRINT": "api/debug/dprint.h",
        "Noc": "api/dataflow/noc.h",
        "bfloat16_greater": "api/numeric/bfloat16.h",
        "compute_kernel_hw_startup": "api/compute/compute_kernel_hw_startup.h",
        "copy_tile": "api/compute/tile_move_copy.h",
        "float32_greater": "api/numeric/float32.h",
        "tilize": "api/compute/tilize.h",
        "untilize": "api/compute/untilize.h",
    },
}


def thread_of(function: FuncOp) -> str:
    """Return the thread of a kernel; without the attribute, by its calls."""
    if THREAD in function.attributes:
        found = re.search(r"<(\w+)>", attribute_text(function.attributes[THREAD]))
        return found[1] if found is not None else ""
    moves = any("noc_" in _text(op) or op.name.startswith("ttkernel.noc_") for op in function.body.walk())
    return "noc" if moves else "compute"


def headers_of(module: Module, function: FuncOp, thread: str) -> list[str]:
    """Return the headers that a kernel includes, in their order."""
    texts = [_text(op) for op in function.body.block.ops]
    fixed = _HEADERS[module.version].get(thread, ())
    used = {header for start, header in _USED[module.version].items() if any(one.startswith(start) for one in texts)}
    return sorted({*fixed, *used}) if used else list(fixed)


def _text(op: Operation) -> str:
    """What a statement calls, or its text."""
    value = op.properties.get("callee", op.properties.get("value"))
    return value.data if isinstance(value, StringAttr) else ""

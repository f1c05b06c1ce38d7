"""Compute call orders valid per thread, all copying tiles."""

from __future__ import annotations

from collections.abc import Callable

from ttnn import kernel_api
from ttnn.kernel_api import get_arg_val, init_sfpu

CALLS = {
    "acquire": ("tile_regs_acquire", ()),
    "commit": ("tile_regs_commit", ()),
    "wait": ("tile_regs_wait", ()),
    "release": ("tile_regs_release", ()),
    "acquire_dst": ("acquire_dst", ()),
    "release_dst": ("release_dst", ()),
    "front": ("cb_wait_front", (0, 1)),
    "copy": ("copy_tile", (0, 0, 0)),
    "pop": ("cb_pop_front", (0, 1)),
    "reserve": ("cb_reserve_back", (16, 1)),
    "pack": ("pack_tile", (0, 16)),
    "push": ("cb_push_back", (16, 1)),
    # A CB that the kernel both fills and empties.
    "keep": ("cb_reserve_back", (24, 1)),
    "pack kept": ("pack_tile", (0, 24)),
    "push kept": ("cb_push_back", (24, 1)),
    "front kept": ("cb_wait_front", (24, 1)),
    "copy kept": ("copy_tile", (24, 0, 0)),
    "pop kept": ("cb_pop_front", (24, 1)),
}
UNPACK = ("front", "copy", "pop")
MATH = ("acquire", "copy", "commit")
PACK = ("wait", "reserve", "pack", "push", "release")
ORDERS: dict[str, tuple[str, ...]] = {
    "usual": ("front", "acquire", "copy", "commit", "wait", "reserve", "pack", "release", "pop", "push"),
    "wait before copy": ("front", "reserve", "acquire", "wait", "copy", "pack", "commit", "release", "push", "pop"),
    "pack first": ("reserve", "wait", "pack", "release", "push", "front", "acquire", "copy", "commit", "pop"),
    "release before commit": (
        *("front", "acquire", "copy", "wait", "reserve", "pack", "push", "release", "commit", "pop"),
    ),
    "reserve last": ("wait", "front", "acquire", "reserve", "copy", "pop", "pack", "push", "commit", "release"),
    "four ahead": (*("front", "acquire", "copy", "commit", "pop") * 4, *PACK * 4),
    "packer ahead": (*PACK * 4, *("front", "acquire", "copy", "commit", "pop") * 4),
    "older acquire": ("front", "acquire_dst", "copy", "reserve", "pack", "push", "pop", "release_dst"),
    "both forms": ("front", "acquire", "wait", "copy", "reserve", "pack", "push", "pop", "release_dst"),
    "older acquire, newer release": (
        *("front", "acquire_dst", "copy", "commit", "reserve", "pack", "push", "pop", "release"),
    ),
    "newer release first": ("front", "acquire_dst", "copy", "reserve", "pack", "push", "pop", "release", "commit"),
    "twice through itself": (
        *("front", "acquire", "copy", "commit", "pop", "front kept", "acquire", "copy kept", "commit", "pop kept"),
        *("wait", "keep", "pack kept", "push kept", "release", *PACK),
    ),
    "front of its own before": (
        *("front", "acquire", "copy", "pop", "front kept", "keep", "wait", "pack kept", "push kept"),
        *("release", "commit"),
        *("wait", "acquire", "copy kept", "pop kept", "commit", "reserve", "pack", "push", "release"),
    ),
    "reserve of its own before": (
        *("front", "acquire", "copy", "commit", "pop", "wait", "keep", "pack kept", "push kept", "release") * 3,
        *("front kept", "acquire", "copy kept", "commit", "pop kept", *PACK) * 3,
    ),
}  # fmt: skip
"""Steps of an iteration."""


def tiles_of(order: tuple[str, ...]) -> int:
    """Return how many tiles an iteration copies."""
    return order.count("push")


def python_kernel(order: tuple[str, ...]) -> Callable[[], None]:
    """Return the kernel in Python; its argument is the number of iterations."""
    calls = [(getattr(kernel_api, name), arguments) for name, arguments in map(CALLS.__getitem__, order)]

    def compute() -> None:
        init_sfpu(0, 16)
        for _ in range(get_arg_val(0)):
            for call, arguments in calls:
                call(*arguments)

    return compute


def cpp_kernel(order: tuple[str, ...]) -> str:
    """Return the kernel in C++, one call a line."""
    calls = [f"{name}({', '.join(map(str, arguments))});" for name, arguments in map(CALLS.__getitem__, order)]
    lines = [
        '#include "compute_kernel_api/common.h"',
        '#include "compute_kernel_api/tile_move_copy.h"',
        '#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"',
        "namespace NAMESPACE { void MAIN {",
        "init_sfpu(0, 16);",
        "for (uint32_t i = 0; i < get_arg_val<uint32_t>(0); ++i) {",
        *calls,
        "} } }",
    ]
    return "\n".join(lines)

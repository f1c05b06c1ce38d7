"""The kernel that runs on this thread, and switching to other kernels.

Kernels are coroutines. A call that cannot be completed now asks the engine which kernel comes next and switches to it
directly; when it is this kernel's turn again, the call is repeated.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import greenlet

from ttnn import _engine
from ttnn.base.exceptions import KernelArgumentError


class KernelContext:
    """A kernel on one core: start arguments and position in the run."""

    __slots__ = (
        "alignments",
        "args",
        "banks",
        "bindings",
        "common_args",
        "compile_args",
        "core",
        "coroutines",
        "defines",
        "device_id",
        "function",
        "hub",
        "index",
        "name",
        "named_compile_args",
        "noc_coord",
        "noc_index",
        "origin",
        "packet_bytes",
        "printed",
        "remotes",
        "risc",
        "run",
        "states",
    )

    def __init__(
        self,
        *,
        function: Any,
        name: str,
        core: tuple[int, int],
        origin: tuple[int, int],
        risc: str,
        noc_index: int,
        noc_coord: tuple[int, int],
        compile_args: Sequence[int],
        named_compile_args: Mapping[str, int],
        defines: Mapping[str, str],
        args: Sequence[int],
        common_args: Sequence[int],
        packet_bytes: int,
        banks: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]],
        alignments: tuple[int, int],
        device_id: int = 0,
    ) -> None:
        self.function = function
        self.name = name
        self.core = core
        self.origin = origin
        self.risc = risc
        self.noc_index = noc_index
        self.noc_coord = noc_coord
        self.compile_args = compile_args
        self.named_compile_args = named_compile_args
        self.defines = defines
        self.args = args
        self.common_args = common_args
        self.packet_bytes = packet_bytes
        self.banks = banks
        self.alignments = alignments
        self.device_id = device_id
        self.printed = ""
        """Text printed since the last line end."""
        self.bindings: Any = None
        """Names of a kernel that was made from a `KernelSpec`: `bindings_context.KernelBindings`."""
        self.remotes: dict[int, Any] = {}
        """The core's remote CBs: configuration address and page size."""
        self.states: dict[tuple[str, int], tuple[int, int]] = {}
        self.index = -1
        self.run: _engine.ProgramRun
        self.coroutines: list[greenlet.greenlet]
        self.hub: greenlet.greenlet

    def copy(self) -> KernelContext:
        """Return the same kernel for another run."""
        twin = KernelContext.__new__(KernelContext)
        for name in _KEPT:
            setattr(twin, name, getattr(self, name))
        twin.states = {}
        twin.printed = ""
        twin.remotes = dict(self.remotes)
        return twin


_KEPT = tuple(
    name for name in KernelContext.__slots__ if name not in {"coroutines", "hub", "printed", "remotes", "run", "states"}
)
"""Attributes that the copy of a kernel shares with it."""


class _Outside:
    """Placeholder for the run and the kernel outside a kernel."""

    def __getattr__(self, name: str) -> NoReturn:
        raise KernelArgumentError("a function of ttnn.kernel_api was called outside of a kernel")


class Here(threading.local):
    """The run and the kernel of this thread."""

    run: Any = _Outside()
    kernel: Any = _Outside()
    mistake: Any = None
    """The first error of the program: `ending.Mistake`."""
    guard: Any = None
    """The time limit of the program: `watchdog.Guard`."""
    chip: str = ""
    """The chip of the program, for errors; empty if there is one."""
    coord: Any = None
    """Coordinate of the chip in its mesh; None if there is one."""

    def __init__(self) -> None:
        self.left: list[greenlet.greenlet] = []
        """Kernels that were left in the middle of their code."""


here = Here()


def switch() -> None:
    """Run the next kernel in turn; return when this is next."""
    me = here.kernel
    following = here.run.schedule()
    if following == me.index:
        return
    if following < 0:
        me.hub.switch()
    else:
        me.coroutines[following].switch()
    here.kernel = me


def check_one_packet(call: str, size: int) -> None:
    """Check that a transfer fits one NoC packet."""
    limit = here.kernel.packet_bytes
    if size > limit:
        raise KernelArgumentError(f"{call}: {size} B do not fit into one packet of at most {limit} B")

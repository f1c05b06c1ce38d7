"""Deadlock reports: which kernel waits for which."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import FrameType

from ttnn import _engine
from ttnn.kernel_api.context import KernelContext
from ttnn.metal.native_kernels import is_native

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def place_of(kernel: KernelContext) -> tuple[str, int]:
    """Return file and line at which a kernel has stopped."""
    if is_native(kernel):
        return kernel.run.kernel_place(kernel.index)
    frame: FrameType | None = kernel.coroutines[kernel.index].gr_frame
    while frame is not None:
        path = frame.f_code.co_filename
        if not os.path.abspath(path).startswith(_PACKAGE):
            return path, frame.f_lineno
        frame = frame.f_back
    return "", 0


def describe_waits(run: _engine.ProgramRun, kernels: list[KernelContext]) -> Iterator[str]:
    """Yield one sentence per kernel that waits."""
    for number, kind, what, wanted, present, capacity, thread_file, thread_line in run.waits():
        kernel = kernels[number]
        file, line = (thread_file, thread_line) if thread_file else place_of(kernel)
        core = "-".join(map(str, kernel.core))
        who = f"core {core} {kernel.risc} kernel {kernel.name} ({os.path.basename(file)}:{line})"
        if kind in (0, 1):
            call = f"cb_wait_front({what}, {wanted})" if kind == 0 else f"cb_reserve_back({what}, {wanted})"
            state = f"{present} of {capacity} pages are {'there' if kind == 0 else 'free'}"
            yield f"{who}: {call}: {state}; {_partner(run, kernels, number, kind, what)}"
        elif kind == 5:
            yield f"{who}: tile_regs_acquire(): both halves of Dst wait to be packed; the packer releases none"
        elif kind == 6:
            yield f"{who}: tile_regs_wait(): math has committed no half of Dst"
        elif kind == 7:
            yield f"{who}: opens connection {what} to another chip, which another kernel does not close"
        elif kind == 8:
            yield f"{who}: sends a packet, while others have not been delivered"
        elif kind == 4:
            changes = _changes(run, kernels, number, what)
            yield f"{who}: reads L1 address {what} again and again; it holds {present} and {changes}"
        else:
            call = "noc_semaphore_wait_min" if kind == 3 else "noc_semaphore_wait"
            yield (
                f"{who}: {call}({what}, {wanted}): the semaphore holds {present}, and "
                f"{_changes(run, kernels, number, what)}{_elsewhere(run, kernels, number, what)}"
            )


def describe_old_flags(run: _engine.ProgramRun, kernels: list[KernelContext]) -> Iterator[str]:
    """Yield a sentence per kernel that passed a stale semaphore wait.

    A semaphore still had its old value there.
    """
    for kernel in kernels:
        address = run.unchanged_semaphore(kernel.index)
        if address >= 0:
            core = "-".join(map(str, kernel.core))
            yield (
                f"core {core} {kernel.risc} kernel {kernel.name} passed noc_semaphore_wait({address}, ...) twice, "
                "and no kernel changed the semaphore in between: if it is a flag, reset it before requesting more"
            )


def describe_cycle(run: _engine.ProgramRun, kernels: list[KernelContext]) -> str:
    """Return kernels waiting in a circle as text; empty if none."""
    waiting: dict[int, int] = {}
    for number, kind, what, *_ in run.waits():
        if kind in (0, 1):
            waiting[number] = run.cb_partners(number, what)[kind]
        elif kind in (2, 3, 4):
            waiting[number] = run.word_writer(number, what)
    for start in waiting:
        path = [start]
        while (following := waiting.get(path[-1], -1)) >= 0 and following not in path:
            path.append(following)
        if following == start and len(path) > 1:
            names = [
                f"{kernels[i].name} ({kernels[i].risc} of core {kernels[i].core[0]}-{kernels[i].core[1]})" for i in path
            ]
            return "wait cycle: " + " -> ".join([*names, names[0]])
    return ""


def _partner(run: _engine.ProgramRun, kernels: list[KernelContext], number: int, kind: int, cb: int) -> str:
    producer, consumer = run.cb_partners(number, cb)
    other = producer if kind == 0 else consumer
    verb, noun = ("push", "pushes") if kind == 0 else ("pop", "pops")
    if other < 0:
        return f"no kernel of this core has {noun.replace('es', 'ed') if kind == 0 else 'popped'} any"
    partner = kernels[other]
    if other == number:
        return f"this kernel itself would have to {verb} them"
    state = _state(run, other)
    return f"kernel {partner.name} ({partner.risc}), which {noun} them, {state}"


def _changes(run: _engine.ProgramRun, kernels: list[KernelContext], number: int, address: int) -> str:
    writer = run.word_writer(number, address)
    if writer < 0:
        return "no kernel changes it"
    other = kernels[writer]
    state = _state(run, writer)
    where = "-".join(map(str, other.core))
    last = "itself" if writer == number else f"{other.name} ({other.risc} of core {where}), which {state}"
    return f"no kernel changes it any more: the last was {last}"


def _elsewhere(run: _engine.ProgramRun, kernels: list[KernelContext], number: int, address: int) -> str:
    """Return unawaited changes of this semaphore as text; empty if none."""
    for (x, y), writer in run.unseen_changes(number, address):
        other = kernels[writer]
        where = "-".join(map(str, other.core))
        return (
            f"; kernel {other.name} ({other.risc} of core {where}) changed the semaphore at this address of core "
            f"{x}-{y}, where no kernel waits for it"
        )
    return ""


def _state(run: _engine.ProgramRun, kernel: int) -> str:
    """Return a kernel's state after a deadlock: waiting or returned."""
    return "waits too" if any(row[0] == kernel for row in run.waits()) else "has returned"

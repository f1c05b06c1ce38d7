"""A deterministic scheduler of kernels as coroutines.

One runs at a time, in an order that depends on the program alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from functools import partial
from typing import NoReturn

import greenlet

from ttnn import _engine
from ttnn.base.exceptions import DeadlockError, KernelError
from ttnn.device.chip import Chip
from ttnn.device.coordinates import MeshCoordinate
from ttnn.kernel_api.binding_errors import start_noticing, stop_noticing
from ttnn.kernel_api.context import KernelContext, here, switch
from ttnn.kernel_api.debug import end_line
from ttnn.kernel_api.ending import Ended, Mistake, end_program, keep
from ttnn.metal.deadlock import describe_cycle, describe_old_flags, describe_waits, place_of
from ttnn.metal.layout import Layout
from ttnn.metal.mistakes import raise_from_kernel
from ttnn.metal.native_kernels import is_native, show_prints
from ttnn.metal.report import Report
from ttnn.metal.threads import refuse_threads
from ttnn.metal.watchdog import Guard, OverrunError


def execute(chip: Chip, layout: Layout, coord: MeshCoordinate | None = None, *, trace: bool = True) -> Report:
    """Run a laid-out program on a chip; return its report.

    Args:
        chip: The chip.
        layout: The program.
        coord: Coordinate of the chip in a mesh of several, for errors and the report.
        trace: Record calls and transfers.

    Raises:
        KernelError: an error in a kernel (the subclass names its kind), an exception of its own, or an exceeded
            limit of the watchdog.
        DeadlockError: no kernel can go on.
        KeyboardInterrupt: the user interrupted a kernel; the text names it and its line.
    """
    refuse_threads()
    run = _engine.ProgramRun(chip.engine, layout.cbs, layout.semaphores, layout.kernels, trace, natives=layout.natives)
    kernels = [context.copy() for context in layout.contexts]
    before = dict(here.__dict__)
    hub = greenlet.getcurrent()
    # Compiled kernels run one after the other, until one is next that is not compiled.
    engine = greenlet.greenlet(partial(_run_native, kernels, hub), parent=hub)
    coroutines = [
        engine if is_native(kernel) else greenlet.greenlet(partial(_main, kernel), parent=hub) for kernel in kernels
    ]
    for index, kernel in enumerate(kernels):
        kernel.index, kernel.run, kernel.coroutines, kernel.hub = index, run, coroutines, hub
    here.run, here.left, here.mistake = run, [], None
    if coord is not None:
        here.chip = f"chip {tuple(coord)}"
        for kernel in kernels:
            kernel.device_id = chip.id
    noticing = start_noticing({kernel.function for kernel in kernels if not is_native(kernel)})
    for coroutine in dict.fromkeys(coroutines):
        coroutine.switch()
    here.guard = guard = Guard(run)
    outer = _engine.set_inside_kernels(True)
    deadlock: DeadlockError | None = None
    try:
        while not run.is_finished():
            while here.mistake is None and not guard.reason and (following := run.schedule()) >= 0:
                coroutines[following].switch()
            if here.mistake is not None:
                raise_from_kernel(here.mistake.kernel, here.mistake.error, "", here.mistake.place)
            if guard.reason:
                raise OverrunError
            if run.is_finished():
                break
            # Threads of compute kernels that do not wait go on; what is found then is still this deadlock.
            if deadlock is None or not run.is_ahead():
                deadlock = _deadlock(run, kernels)
            if not run.run_ahead():
                raise deadlock
    except DeadlockError:
        raise
    except BaseException as error:
        if deadlock is not None and not isinstance(error, KeyboardInterrupt) and run.is_ahead():
            raise deadlock from None
        _raise(error, guard)
    finally:
        deadlock = None  # its traceback holds this frame, and with it the buffers of the program
        _end(coroutines)
        stop_noticing(noticing)
        guard.disarm()
        _engine.set_inside_kernels(outer)
        here.__dict__.clear()
        here.__dict__.update(before)
    return Report(chip, kernels, run, layout.notes, coord)


def _raise(error: BaseException, guard: Guard) -> NoReturn:
    """Raise the first error of a program that has failed."""
    mistake: Mistake | None = here.mistake
    if mistake is not None and error is not mistake.error and not isinstance(error, KeyboardInterrupt):
        raise_from_kernel(mistake.kernel, mistake.error, "", mistake.place)
    if isinstance(error, OverrunError):
        raise_from_kernel(here.kernel, error, guard.reason, guard.place)
    raise_from_kernel(here.kernel, error)


def _main(kernel: KernelContext) -> None:
    # A coroutine inherits the depth of calls of who starts it. The hub starts all of them: were each started by the
    # kernel before it, a few hundred kernels would reach the recursion limit.
    kernel.hub.switch()
    here.kernel = kernel
    try:
        made = kernel.function()
    except greenlet.GreenletExit:
        if isinstance(here.run, Ended):
            raise
        raise KernelError("the kernel raised GreenletExit, which ends no program") from None
    if isinstance(made, Generator | Awaitable):
        raise KernelError(f"the kernel returned {made!r}, whose code never ran; kernels are plain functions")
    if isinstance(here.run, Ended):
        return
    while not kernel.run.finish_kernel():
        switch()
    end_line(kernel)


def _run_native(kernels: list[KernelContext], hub: greenlet.greenlet) -> None:
    hub.switch()
    run, coroutines = kernels[0].run, kernels[0].coroutines
    while True:
        _engine.set_inside_kernels(False)
        try:
            following = run.run_native()
        except BaseException:
            here.kernel = kernels[run.current()]
            raise
        finally:
            _engine.set_inside_kernels(True)
            show_prints(run, kernels)
        if following < 0:
            hub.switch()
        else:
            coroutines[following].switch()


def _end(coroutines: list[greenlet.greenlet]) -> None:
    """Close the kernels that have not returned.

    Their `finally` blocks run, their calls end them.
    """
    interrupt = None
    for coroutine in coroutines:
        if coroutine.dead or coroutine in here.left:
            continue
        end_program()
        try:
            coroutine.throw(greenlet.GreenletExit)
        except KeyboardInterrupt as error:
            interrupt = error
        except BaseException:
            pass
        if not coroutine.dead and coroutine not in here.left:
            keep(coroutine)
    if interrupt is not None:
        raise interrupt


def _deadlock(run: _engine.ProgramRun, kernels: list[KernelContext]) -> DeadlockError:
    waits = tuple(describe_waits(run, kernels))
    first = next(iter(run.waits()), None)
    cycle = describe_cycle(run, kernels)
    flags = describe_old_flags(run, kernels)
    where = f"deadlock on {here.chip}" if here.chip else "deadlock"
    text = "\n  ".join([f"{where}: no kernel can go on", *waits, *([cycle] if cycle else []), *flags])
    error = DeadlockError(text, waits)
    if first is not None:
        kernel = kernels[first[0]]
        error.core, error.risc, error.kernel = "-".join(map(str, kernel.core)), kernel.risc, kernel.name
        error.file, error.line = first[6:] if first[6] else place_of(kernel)
        error.cb = first[2] if first[1] < 2 else None
    return error

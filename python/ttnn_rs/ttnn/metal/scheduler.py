"""Runs the kernels of a program as coroutines, one at a time, in an order that depends on the program alone."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from functools import partial
from types import CodeType, TracebackType
from typing import Any, NoReturn

import greenlet

from ttnn import _engine
from ttnn.base.exceptions import DeadlockError, EngineBugError, KernelError, UnsupportedError
from ttnn.device.mesh_device import MeshDevice
from ttnn.kernel_api.context import KernelContext, here
from ttnn.metal.deadlock import describe_cycle, describe_waits, place_of
from ttnn.metal.layout import Layout
from ttnn.metal.report import Report

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def execute(device: MeshDevice, layout: Layout, *, trace: bool = True) -> Report:
    """Run a program, laid out for the device, to its end and return its report.

    Raises:
        KernelError: a kernel made a mistake (the subclass says which) or raised an exception of its own.
        DeadlockError: no kernel can go on.
    """
    run = _engine.ProgramRun(device._engine, layout.cbs, layout.semaphores, layout.kernels, trace)
    kernels = [context.copy() for context in layout.contexts]
    before = dict(here.__dict__)
    hub = greenlet.getcurrent()
    coroutines = [greenlet.greenlet(partial(_main, kernel), parent=hub) for kernel in kernels]
    for index, kernel in enumerate(kernels):
        kernel.index, kernel.run, kernel.coroutines, kernel.hub = index, run, coroutines, hub
    here.run = run
    for coroutine in coroutines:
        coroutine.switch()
    try:
        while (following := run.schedule()) >= 0:
            coroutines[following].switch()
        if not run.is_finished():
            raise _deadlock(run, kernels)
    except DeadlockError:
        raise
    except (Exception, SystemExit) as error:
        _raise_from_kernel(here.kernel, error)
    finally:
        _end(coroutines)
        here.__dict__.clear()
        here.__dict__.update(before)
    return Report(device, kernels, run)


def _main(kernel: KernelContext) -> None:
    # A coroutine inherits the depth of calls of who starts it. The hub starts all of them: were each started by the
    # kernel before it, a few hundred kernels would reach the recursion limit.
    kernel.hub.switch()
    here.kernel = kernel
    kernel.function()
    kernel.run.finish_kernel()


class _Ended:
    """Stands for the run of a program that is being taken down."""

    def __getattr__(self, name: str) -> NoReturn:
        raise greenlet.GreenletExit


def _end(coroutines: list[greenlet.greenlet]) -> None:
    """Take down the kernels that have not returned; their `finally` blocks run, their calls end them."""
    here.run = _Ended()
    for coroutine in coroutines:
        for _ in range(3):
            if coroutine.dead:
                break
            try:
                coroutine.throw(greenlet.GreenletExit)
            except Exception:  # what a kernel raises while it is taken down hides the first error
                break
    for coroutine in coroutines:
        if coroutine.dead:
            continue
        raise EngineBugError("a kernel cannot be ended: it catches GreenletExit again and again")


def _place(trace: TracebackType | None) -> tuple[str, int]:
    """Return file and line of the innermost frame that is not of this package."""
    found = ("", 0)
    for frame, line in traceback.walk_tb(trace):
        path = frame.f_code.co_filename
        if not os.path.abspath(path).startswith(_PACKAGE):
            found = (path, line)
    return found


def end_of(function: Callable[[], object]) -> tuple[str, int]:
    """Return file and last line of a kernel; nothing for callables that are no Python function."""
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None:
        return "", 0
    return code.co_filename, max(line or 0 for _, _, line in code.co_lines())


def _raise_from_kernel(kernel: Any, error: BaseException) -> NoReturn:
    """Raise an error of a kernel with the place where it happened."""
    if not isinstance(kernel, KernelContext):
        raise error
    file, line = _place(error.__traceback__)
    if not line:
        file, line = end_of(kernel.function)
    core = "-".join(map(str, kernel.core))
    where = f"core {core}, {kernel.risc}, kernel {kernel.name} ({os.path.basename(file)}:{line})"
    if isinstance(error, EngineBugError):
        raise error
    if isinstance(error, UnsupportedError):
        raise UnsupportedError(f"{where}: {error}", error.category) from error
    kind = type(error) if isinstance(error, KernelError) else KernelError
    text = str(error) if isinstance(error, KernelError) else f"{type(error).__name__}: {error}"
    cb = error.cb if isinstance(error, KernelError) else None
    raise kind(f"{where}: {text}", core, kernel.risc, kernel.name, line, cb, file) from error


def _deadlock(run: _engine.ProgramRun, kernels: list[KernelContext]) -> DeadlockError:
    waits = tuple(describe_waits(run, kernels))
    first = next(iter(run.waits()), None)
    cycle = describe_cycle(run, kernels)
    text = "\n  ".join(["deadlock: no kernel can go on", *waits, *([cycle] if cycle else [])])
    error = DeadlockError(text, waits)
    if first is not None:
        kernel = kernels[first[0]]
        error.core, error.risc, error.kernel = "-".join(map(str, kernel.core)), kernel.risc, kernel.name
        error.file, error.line = place_of(kernel)
        error.cb = first[2] if first[1] < 2 else None
    return error

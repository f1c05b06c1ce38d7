"""A deterministic scheduler of kernels as coroutines.

One runs at a time, in an order that depends on the program alone; on several chips with a fabric, chip by chip, in
rounds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from functools import partial
from typing import NamedTuple, NoReturn

import greenlet

from ttnn import _engine
from ttnn.base.exceptions import DeadlockError, KernelError, RankError
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


class ChipProgram(NamedTuple):
    """A program of one chip.

    Attributes:
        chip: The chip.
        layout: The program.
        coord: Coordinate of the chip in a mesh of several, for errors and the report.
    """

    chip: Chip
    layout: Layout
    coord: MeshCoordinate | None = None


class ChipRun:
    """Kernels of one chip while their program runs.

    Attributes:
        program: The program.
        run: The engine's run.
        kernels: The kernels.
        name: The chip, for errors; empty if there is one.
    """

    def __init__(self, program: ChipProgram, *, trace: bool) -> None:
        chip, layout, coord = self.program = program
        self.run = _engine.ProgramRun(
            chip.engine, layout.cbs, layout.semaphores, layout.kernels, trace, natives=layout.natives
        )
        self.kernels = kernels = [context.copy() for context in layout.contexts]
        self.name = "" if coord is None else f"chip {tuple(coord)}"
        hub = greenlet.getcurrent()
        # Compiled kernels run one after the other, until one is next that is not compiled.
        engine = greenlet.greenlet(partial(_run_native, kernels, hub), parent=hub)
        self._coroutines = [
            engine if is_native(kernel) else greenlet.greenlet(partial(_main, kernel), parent=hub) for kernel in kernels
        ]
        for index, kernel in enumerate(kernels):
            kernel.index, kernel.run, kernel.coroutines, kernel.hub = index, self.run, self._coroutines, hub
            if coord is not None:
                kernel.device_id = chip.id
        self._guard: Guard | None = None

    def enter(self) -> None:
        """Make it the run of this thread."""
        here.run, here.guard, here.chip, here.coord = self.run, self._guard, self.name, self.program.coord

    def start(self) -> None:
        """Start the coroutines, which wait for their turn."""
        self.enter()
        for coroutine in dict.fromkeys(self._coroutines):
            coroutine.switch()

    def turn(self) -> None:
        """Run the kernels until all of them wait or have returned."""
        self._guard = guard = Guard(self.run)
        self.enter()
        while here.mistake is None and not guard.reason and (following := self.run.schedule()) >= 0:
            self._coroutines[following].switch()
        if here.mistake is not None:
            raise_from_kernel(here.mistake.kernel, here.mistake.error, "", here.mistake.place)
        if guard.reason:
            raise OverrunError
        guard.disarm()

    def end(self, interrupts: list[KeyboardInterrupt]) -> None:
        """Close the kernels that have not returned.

        An interrupt meanwhile is kept, so that the kernels of other chips are closed, too.
        """
        self.enter()
        try:
            _end(self._coroutines)
        except KeyboardInterrupt as error:
            interrupts.append(error)
        finally:
            if self._guard is not None:
                self._guard.disarm()

    def report(self) -> Report:
        """Return the report of the run."""
        chip, layout, coord = self.program
        return Report(chip, self.kernels, self.run, layout.notes, coord)


class Post:
    """Delivers packets between runs.

    Also those of other processes. This one has none to deliver.
    """

    def deliver(self) -> int:
        """Deliver packets; return how many."""
        return 0

    def anywhere(self, flag: bool) -> bool:
        """Return True if the flag is set in any process."""
        return flag

    def lines(self, lines: list[str]) -> list[str]:
        """Return the lines of all processes."""
        return lines

    def fail(self, error: BaseException) -> None:
        """Tell the other processes that the program failed here."""


Connect = Callable[[Sequence[ChipRun]], Post]
"""Connects the runs of chips."""


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
    return execute_together([ChipProgram(chip, layout, coord)], trace=trace)[0]


def execute_together(
    programs: Sequence[ChipProgram], connect: Connect | None = None, *, trace: bool = True
) -> list[Report]:
    """Run programs of several chips at the same time; return reports.

    Kernels of a chip run until all of them wait or have returned, then those of the next chip. After each round,
    packets are delivered. Of a mesh that several processes share, each one runs the programs of its own chips, and all
    of them take the rounds together.

    Args:
        programs: The programs, in the order of chips.
        connect: Connects the runs; None if the chips are independent.
        trace: Record calls and transfers.

    Raises:
        KernelError, DeadlockError, KeyboardInterrupt: as `execute`; the error's `chip` is a coordinate.
        RankError: the program failed in another process.
    """
    refuse_threads()
    runs = [ChipRun(program, trace=trace) for program in programs]
    post = Post() if connect is None else connect(runs)
    before = dict(here.__dict__)
    here.left, here.mistake = [], None
    noticing = start_noticing({kernel.function for run in runs for kernel in run.kernels if not is_native(kernel)})
    for run in runs:
        run.start()
    outer = _engine.set_inside_kernels(True)
    try:
        _take_turns(runs, post)
    except BaseException as error:
        if isinstance(error, KernelError) and here.coord is not None:
            error.chip = tuple(here.coord)
        post.fail(error)
        raise
    finally:
        interrupts: list[KeyboardInterrupt] = []
        try:
            for run in runs:
                run.end(interrupts)
        finally:
            stop_noticing(noticing)
            _engine.set_inside_kernels(outer)
            here.__dict__.clear()
            here.__dict__.update(before)
        if interrupts:
            raise interrupts[0]
    return [run.report() for run in runs]


def _take_turns(runs: Sequence[ChipRun], post: Post) -> None:
    """Run all kernels to their end.

    Raises:
        KernelError, DeadlockError, RankError: as `execute_together`.
    """
    deadlock: DeadlockError | None = None
    active = list(runs)
    try:
        while post.anywhere(bool(active)):
            for run in active:
                run.turn()
            active = [run for run in active if not run.run.is_finished()]
            if post.deliver() or not post.anywhere(bool(active)):
                continue
            # Threads of compute kernels that do not wait go on; what is found then is still this deadlock.
            ahead = post.anywhere(any(run.run.is_ahead() for run in active))
            if deadlock is None or not ahead:
                deadlock = _deadlock(active, post)
            goes_on = [run.run.run_ahead() for run in active]
            if not post.anywhere(any(goes_on)):
                if active:
                    active[0].enter()
                raise deadlock
        while post.deliver():
            pass
    except (DeadlockError, RankError):
        raise
    except BaseException as error:
        ahead = deadlock is not None and any(run.run.is_ahead() for run in active)
        if ahead and not isinstance(error, KeyboardInterrupt):
            raise deadlock from None  # type: ignore[misc]  # it is not None
        _raise(error)
    finally:
        deadlock = None  # its traceback holds this frame, and with it the buffers of the program


def _raise(error: BaseException) -> NoReturn:
    """Raise the first error of a program that has failed."""
    guard: Guard = here.guard
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


def _deadlock(runs: Sequence[ChipRun], post: Post) -> DeadlockError:
    """Return the error of kernels that wait for ever."""
    waits: list[str] = []
    notes: list[str] = []
    several = len(post.lines([run.name for run in runs])) > 1
    for active in runs:
        name = f"{active.name}, " if several else ""
        waits += [f"{name}{text}" for text in describe_waits(active.run, active.kernels)]
        cycle = describe_cycle(active.run, active.kernels)
        notes += [f"{name}{text}" for text in ([cycle] if cycle else [])]
        notes += [f"{name}{text}" for text in describe_old_flags(active.run, active.kernels)]
    waits, notes = post.lines(waits), post.lines(notes)
    where = f"deadlock on {runs[0].name}" if runs and runs[0].name and not several else "deadlock"
    error = DeadlockError("\n  ".join([f"{where}: no kernel can go on", *waits, *notes]), tuple(waits))
    first = next(iter(runs[0].run.waits()), None) if runs else None
    if first is not None:
        kernel = runs[0].kernels[first[0]]
        error.core, error.risc, error.kernel = "-".join(map(str, kernel.core)), kernel.risc, kernel.name
        error.file, error.line = first[6:] if first[6] else place_of(kernel)
        error.cb = first[2] if first[1] < 2 else None
    return error

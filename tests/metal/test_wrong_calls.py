"""Kernel API calls without signature, and threads, in kernels.

The errors are reported though the kernel catches what Python raises.
"""

from __future__ import annotations

import _thread
import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from broken import alone, nothing

import ttnn
from ttnn import metal
from ttnn.base.exceptions import KernelArgumentError, KernelError
from ttnn.kernel_api import *
from ttnn.kernel_api.binding_errors import start_noticing, stop_noticing
from ttnn.metal import watchdog

Call = Callable[[], object]
WRONG: dict[str, tuple[Call, str]] = {
    "missing": (
        lambda: cb_reserve_back(0),
        r"cb_reserve_back: missing 1 required positional argument: 'num_pages'; "
        r"the call is cb_reserve_back\(operand, num_pages\)$",
    ),
    "too many": (lambda: cb_push_back(0, 1, 2), r"cb_push_back: takes 2 positional arguments but 3 were given; the"),
    "unknown name": (lambda: cb_pop_front(0, pages=1), r"cb_pop_front: got an unexpected keyword argument 'pages'"),
    "given twice": (lambda: cb_pop_front(0, operand=1), r"cb_pop_front: got multiple values for argument 'operand'"),
    "method": (lambda: CircularBuffer(0).reserve_back(), r"CircularBuffer.reserve_back: missing 1 .*\(num_pages\)$"),
    "class": (lambda: CircularBuffer(), r"CircularBuffer: missing 1 .*: 'cb_id'; the call is CircularBuffer\(cb_id\)$"),
    "SFPU function": (lambda: relu_tile(), r"relu_tile: missing 1 required positional argument: 'idst'"),
    "starred": (lambda: cb_wait_front(*[0, 1, 2]), r"cb_wait_front: takes 2 positional arguments but 3 were given"),
    "no integer": (lambda: cb_push_back(0, "1"), r"cb_push_back: num_pages must be an integer, got '1'$"),
    "no integer, found by Python": (lambda: mul_unary_tile(0, "x"), r"mul_unary_tile: parameters must be an integer, "),
    "negative": (lambda: cb_push_back(0, -1), r"cb_push_back: num_pages must be .* from 0 to 2\^32 - 1, got -1$"),
    "address": (lambda: noc_async_read(-1, 0, 32), r"noc_async_read: src_noc_addr must be .* to 2\^64 - 1, got -1$"),
}  # fmt: skip


def suppressed(call: Call) -> None:
    with contextlib.suppress(Exception):
        call()


def handled(call: Call) -> None:
    try:  # noqa: SIM105
        call()
    except BaseException:
        pass


def returned(call: Call) -> None:
    try:
        call()
    finally:
        return  # noqa: B012


def in_a_generator(call: Call) -> None:
    def steps() -> Iterator[object]:
        yield call()

    with contextlib.suppress(Exception):
        list(steps())


class Catcher:
    def __call__(self, call: Call) -> None:
        try:  # noqa: SIM105
            call()
        except TypeError:
            pass


@pytest.mark.parametrize("hide", [None, suppressed, handled, returned, in_a_generator, Catcher()])
@pytest.mark.parametrize("case", WRONG)
def test_wrong_call_fails_the_program(device: ttnn.MeshDevice, case: str, hide: Callable[[Call], None] | None) -> None:
    call, text = WRONG[case]

    def kernel() -> None:
        call() if hide is None else hide(call)

    with pytest.raises(KernelArgumentError, match=text) as found:
        metal.run_program(device, alone(device, kernel))
    assert "core 0-0, BRISC, kernel kernel (test_wrong_calls.py:" in str(found.value)
    assert found.value.line == call.__code__.co_firstlineno
    assert sys.gettrace() is None
    device.reset()
    metal.run_program(device, alone(device, nothing))


def test_errors_of_other_calls_may_be_caught(device: ttnn.MeshDevice) -> None:
    def relu_tile(tile: int) -> None:
        pass

    class Unary:
        def __call__(self, idst: int) -> None:
            pass

    done: list[int] = []

    def kernel() -> None:
        for call in (
            relu_tile,  # a function of the user under a name of the API
            partial(int, "no number"),
            partial(int, 1, 2, 3),
            partial(getattr, CircularBuffer(0), "no_such_name"),
            Unary(),
        ):
            with contextlib.suppress(TypeError, ValueError, AttributeError):
                call()
            done.append(1)
        with contextlib.suppress(StopIteration):
            next(iter(()))

    metal.run_program(device, alone(device, kernel))
    assert len(done) == 5


def test_kernels_that_catch_nothing_run_without_a_trace_function(device: ttnn.MeshDevice) -> None:
    seen: list[object] = []

    def plain() -> None:
        seen.append(sys.gettrace())

    def catching() -> None:
        with contextlib.suppress(ValueError):
            seen.append(sys.gettrace())

    metal.run_program(device, alone(device, plain))
    metal.run_program(device, alone(device, catching))
    assert [trace is None for trace in seen] == [True, False]
    assert sys.gettrace() is None


def test_a_debugger_keeps_its_trace_function(device: ttnn.MeshDevice) -> None:
    def trace(*_: object) -> None:
        return None

    sys.settrace(trace)
    try:
        noticing = start_noticing([suppressed])
        stop_noticing(noticing)
        kept = sys.gettrace()
    finally:
        sys.settrace(None)
    assert (kept, noticing) == (trace, False)


def test_an_endless_loop_with_handlers_still_ends(device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "_TICK", 0.02)
    monkeypatch.setenv("TTNN_KERNEL_SECONDS", "0.2")

    def kernel() -> None:
        with contextlib.suppress(ValueError):
            while True:
                sum(range(10))

    with pytest.raises(KernelError, match="an endless loop"):
        metal.run_program(device, alone(device, kernel))


THREADS: dict[str, Callable[[Call], object]] = {
    "Thread": lambda call: threading.Thread(target=call).start(),
    "Timer": lambda call: threading.Timer(0, call).start(),
    "_thread": lambda call: _thread.start_new_thread(call, ()),
    "executor": lambda call: ThreadPoolExecutor(1).submit(call).result(),
}


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("start", THREADS)
def test_threads_are_refused_inside_kernels(device: ttnn.MeshDevice, start: str, hidden: bool) -> None:
    ran: list[int] = []

    def call() -> None:
        ran.append(1)
        ttnn.close_device(device)

    def kernel() -> None:
        with contextlib.suppress(Exception if hidden else ()):
            THREADS[start](call)

    with pytest.raises(KernelError, match="a thread is started: a kernel cannot call functions of the host"):
        metal.run_program(device, alone(device, kernel))
    time.sleep(0.02)
    assert (ran, device.is_open) == ([], True)
    thread = threading.Thread(target=lambda: ran.append(2))
    thread.start()
    thread.join()
    assert ran == [2]

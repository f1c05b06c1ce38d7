"""Caught mistakes, endless kernels, and host functions inside kernels."""

from __future__ import annotations

import contextlib
import inspect
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import greenlet
import numpy as np
import pytest
import torch
from broken import alone, nothing

import ttnn
from ttnn import metal
from ttnn.base.exceptions import (
    AddressError,
    CircularBufferError,
    KernelArgumentError,
    KernelAssertError,
    KernelError,
    TtnnError,
    UnsupportedError,
)
from ttnn.kernel_api import (
    ASSERT,
    cb_pop_front,
    cb_push_back,
    cb_reserve_back,
    cb_wait_front,
    get_arg_val,
    get_noc_addr,
    noc_async_read,
    noc_async_read_barrier,
)
from ttnn.metal import watchdog

Kernel = Callable[[], None]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "_TICK", 0.02)
    monkeypatch.setattr(watchdog, "_GRACE", 0.1)
    monkeypatch.setenv("TTNN_KERNEL_SECONDS", "0.2")


def line_of(kernel: Kernel) -> int:
    lines, first = inspect.getsourcelines(kernel)
    return first + next(number for number, line in enumerate(lines) if "# bug" in line)


def check_usable(device: ttnn.MeshDevice) -> None:
    device.reset()
    metal.run_program(device, alone(device, nothing))
    assert float(ttnn.to_torch(ttnn.ones([1], device=device) + 1)[0]) == 2


def caught(call: Callable[[], object]) -> None:
    with contextlib.suppress(Exception):
        call()


def swallowed_exception() -> None:
    with contextlib.suppress(Exception):
        cb_push_back(0, 1)  # bug


def swallowed_base_exception() -> None:
    with contextlib.suppress(BaseException):
        cb_push_back(0, 1)  # bug


def replaced() -> None:
    try:
        cb_push_back(0, 1)  # bug
    except Exception:
        raise ValueError("another error") from None


def second_in_handler() -> None:
    try:
        cb_push_back(0, 1)  # bug
    except Exception:
        get_arg_val(7)


def second_in_finally() -> None:
    try:
        cb_push_back(0, 1)  # bug
    finally:
        cb_pop_front(0, 1)


def returned_in_finally() -> None:
    try:
        cb_push_back(0, 1)  # bug
    finally:
        return  # noqa: B012


def caught_in_a_loop() -> None:
    while True:
        try:
            cb_push_back(0, 1)  # bug
        except BaseException:  # noqa: PERF203
            continue


def endless_after_it() -> None:
    try:
        cb_push_back(0, 1)  # bug
    except BaseException:
        while True:
            try:
                sum(range(100))
            except BaseException:  # noqa: PERF203
                continue


def calls() -> Iterator[None]:
    try:
        yield cb_push_back(0, 1)  # bug
    finally:
        cb_pop_front(0, 1)


def in_a_generator() -> None:
    with contextlib.suppress(Exception):
        for _ in calls():  # bug
            pass


def in_a_greenlet() -> None:
    other = greenlet.greenlet(lambda: caught(lambda: cb_push_back(0, 1)))  # bug
    other.switch()


HIDDEN = [
    swallowed_exception,
    swallowed_base_exception,
    replaced,
    second_in_handler,
    second_in_finally,
    returned_in_finally,
    caught_in_a_loop,
    endless_after_it,
    in_a_greenlet,
]


@pytest.mark.parametrize("kernel", HIDDEN, ids=lambda kernel: kernel.__name__)
def test_the_first_mistake_fails_the_program(device: ttnn.MeshDevice, kernel: Kernel) -> None:
    text = r"core 0-0, BRISC, kernel \w+ \(test_hidden_mistakes\.py:\d+\): cb_push_back: CB 0: 1 pages"
    with pytest.raises(CircularBufferError, match=text) as found:
        metal.run_program(device, alone(device, kernel))
    assert (found.value.kernel, found.value.line) == (kernel.__name__, line_of(kernel))
    with pytest.raises(ttnn.DeviceError, match="reset"):
        metal.run_program(device, alone(device, nothing))
    check_usable(device)


def test_a_mistake_in_a_generator(device: ttnn.MeshDevice) -> None:
    with pytest.raises(CircularBufferError, match="cb_push_back: CB 0") as found:
        metal.run_program(device, alone(device, in_a_generator))
    assert found.value.line == line_of(calls)  # type: ignore[arg-type]
    check_usable(device)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: noc_async_read(get_noc_addr(63, 63, 0), 0x10000, 32), AddressError),
        (lambda: cb_wait_front(0, -1), KernelArgumentError),
        (lambda: cb_wait_front(0, 2**40), KernelArgumentError),
        (lambda: cb_wait_front("0", 1), KernelArgumentError),
        (lambda: get_arg_val(3), KernelArgumentError),
        (lambda: ASSERT(False), KernelAssertError),
    ],
)
def test_every_kind_of_mistake_is_found(
    device: ttnn.MeshDevice, call: Callable[[], object], error: type[TtnnError]
) -> None:
    with pytest.raises(error, match="kernel partial"):
        metal.run_program(device, alone(device, named(partial(caught, call))))
    check_usable(device)


def named(kernel: partial[None]) -> Kernel:
    def run() -> None:
        kernel()

    run.__name__ = "partial"
    return run


def test_errors_of_the_kernel_itself_may_be_caught(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        with contextlib.suppress(KernelError):
            raise KernelError("its own")
        with contextlib.suppress(ValueError):
            int("no number")
        assert not hasattr(ttnn.kernel_api, "no_such_name")

    metal.run_program(device, alone(device, kernel))


def catching_without_calls() -> None:
    while True:
        try:
            sum(range(100))
        except BaseException:  # noqa: PERF203
            continue


def catching_with_calls() -> None:
    while True:
        try:
            noc_async_read_barrier()
        except BaseException:  # noqa: PERF203
            continue


def catching_once() -> None:
    with contextlib.suppress(BaseException):
        while True:
            pass


def endless_in_finally() -> None:
    try:
        while True:
            pass
    finally:
        while True:
            with contextlib.suppress(BaseException):
                noc_async_read_barrier()


def endless_generator() -> None:
    def numbers() -> Iterator[int]:
        while True:
            try:
                yield 1
            except BaseException:  # noqa: PERF203
                continue

    while True:
        with contextlib.suppress(BaseException):
            for _ in numbers():
                pass


ENDLESS = [
    catching_without_calls,
    catching_with_calls,
    catching_once,
    endless_in_finally,
    endless_generator,
]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kernel", ENDLESS, ids=lambda kernel: kernel.__name__)
def test_a_kernel_that_catches_everything_ends(
    device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch, kernel: Kernel
) -> None:
    monkeypatch.setenv("TTNN_KERNEL_LIMIT", "2000")
    with pytest.raises(KernelError, match=r"an endless loop\? TTNN_KERNEL_") as found:
        metal.run_program(device, alone(device, kernel))
    lines, first = inspect.getsourcelines(kernel)
    assert found.value.kernel == kernel.__name__
    assert found.value.line in range(first, first + len(lines))
    check_usable(device)


def two_kernels(device: ttnn.MeshDevice, first: Kernel, second: Kernel) -> metal.Program:
    program = metal.create_program()
    core = ttnn.CoreCoord(0, 0)
    config = metal.CircularBufferConfig(2048, {0: ttnn.bfloat16}).set_page_size(0, 2048)
    metal.create_circular_buffer(program, core, config)
    metal.create_kernel(program, first, core, metal.ReaderDataMovementConfig())
    metal.create_kernel(program, second, core, metal.WriterDataMovementConfig())
    return program


@pytest.mark.parametrize("with_calls", [True, False])
def test_another_kernel_that_does_not_end_is_left(device: ttnn.MeshDevice, with_calls: bool) -> None:
    def waiting() -> None:
        while True:
            try:
                if with_calls:
                    cb_wait_front(0, 1)
                else:
                    cb_wait_front(0, 1)
                    break
            except BaseException:
                while not with_calls:
                    with contextlib.suppress(BaseException):
                        sum(range(100))
                continue

    def wrong() -> None:
        cb_reserve_back(0, 1)
        cb_push_back(0, 2)

    with pytest.raises(CircularBufferError, match="kernel wrong"):
        metal.run_program(device, two_kernels(device, waiting, wrong))
    check_usable(device)


def test_a_kernel_that_leaves_its_greenlet_fails(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        while True:
            with contextlib.suppress(BaseException):
                greenlet.getcurrent().parent.switch()

    with pytest.raises(KernelError):
        metal.run_program(device, alone(device, kernel))
    check_usable(device)


def test_a_kernel_that_ends_its_greenlet_fails(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        raise greenlet.GreenletExit

    with pytest.raises(KernelError, match="GreenletExit"):
        metal.run_program(device, alone(device, kernel))
    check_usable(device)


def test_a_kernel_that_returns_a_generator_fails(device: ttnn.MeshDevice) -> None:
    with pytest.raises(KernelError, match="whose code never ran"):
        metal.run_program(device, alone(device, lambda: calls()))  # type: ignore[arg-type, return-value]
    check_usable(device)


def test_exceptions_that_are_no_exception_fail_the_program(device: ttnn.MeshDevice) -> None:
    class StopEverything(BaseException):
        pass

    def kernel() -> None:
        raise StopEverything("now")

    with pytest.raises(KernelError, match="StopEverything: now"):
        metal.run_program(device, alone(device, kernel))
    check_usable(device)


def test_an_interrupt_after_a_mistake_is_still_an_interrupt(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        with contextlib.suppress(Exception):
            cb_push_back(0, 1)
        signal.raise_signal(signal.SIGINT)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt, match="kernel kernel"):
            metal.run_program(device, alone(device, kernel))
    finally:
        signal.signal(signal.SIGINT, previous)
    check_usable(device)


@pytest.mark.parametrize("handler", ["pass", "kept.append(error)"])
def test_the_process_ends_though_a_kernel_was_left(tmp_path: Path, handler: str) -> None:
    script = tmp_path / "left.py"
    script.write_text(
        textwrap.dedent(
            """
            import ttnn
            from ttnn import metal
            from ttnn.metal import watchdog

            kept = []
            watchdog._TICK, watchdog._GRACE = 0.02, 0.04

            def kernel():
                while True:
                    try:
                        sum(range(100))
                    except BaseException as error:
                        HANDLER

            device = ttnn.open_device(device_id=0)
            program = metal.create_program()
            metal.create_kernel(program, kernel, ttnn.CoreCoord(0, 0), metal.ReaderDataMovementConfig())
            try:
                metal.run_program(device, program)
            except ttnn.KernelError as error:
                print("failed:", error.kernel)
            ttnn.close_device(device)
            """
        ).replace("HANDLER", handler)
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TTNN_KERNEL_SECONDS": "0.1"},
    )
    assert (done.returncode, done.stdout.strip()) == (0, "failed: kernel"), done.stderr


HOST: dict[str, Callable[[ttnn.MeshDevice, ttnn.Tensor, metal.Buffer], object]] = {
    "close_device": lambda device, x, buffer: ttnn.close_device(device),
    "open_device": lambda device, x, buffer: ttnn.open_device(device_id=1),
    "operator": lambda device, x, buffer: ttnn.add(x, x),
    "operator of a module": lambda device, x, buffer: x + 1,
    "to_torch": lambda device, x, buffer: ttnn.to_torch(x),
    "from_torch": lambda device, x, buffer: ttnn.from_torch(torch.ones(4), device=device),
    "deallocate": lambda device, x, buffer: ttnn.deallocate(x),
    "create_buffer": lambda device, x, buffer: metal.create_buffer(
        metal.InterleavedBufferConfig(device=device, size=2048, page_size=2048, buffer_type=ttnn.BufferType.DRAM)
    ),
    "read a buffer": lambda device, x, buffer: buffer.read(np.uint32),
    "write a buffer": lambda device, x, buffer: buffer.write(np.zeros(512, np.uint32)),
    "enqueue_program": lambda device, x, buffer: metal.enqueue_program(
        metal.command_queue(device), metal.create_program()
    ),
    "run_program": lambda device, x, buffer: metal.run_program(device, metal.create_program()),
    "reset": lambda device, x, buffer: device.reset(),
    "synchronize": lambda device, x, buffer: metal.synchronize(device),
    "begin_trace_capture": lambda device, x, buffer: ttnn.begin_trace_capture(device, cq_id=0),
    "create_global_semaphore": lambda device, x, buffer: ttnn.create_global_semaphore(
        device, ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 0))]), 0
    ),
    "generic_op": lambda device, x, buffer: ttnn.generic_op(
        [x, x], ttnn.ProgramDescriptor(kernels=[], semaphores=[], cbs=[])
    ),
}


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("call", HOST)
def test_functions_of_the_host_are_refused_inside_kernels(device: ttnn.MeshDevice, call: str, hidden: bool) -> None:
    x = ttnn.ones([32, 32], device=device, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    buffer = metal.create_buffer(
        metal.InterleavedBufferConfig(device=device, size=2048, page_size=2048, buffer_type=ttnn.BufferType.DRAM)
    )

    def kernel() -> None:
        with contextlib.suppress(Exception if hidden else ()):
            HOST[call](device, x, buffer)

    with pytest.raises(KernelError, match="a kernel cannot call functions of the host"):
        metal.run_program(device, alone(device, kernel))
    assert device.is_open
    check_usable(device)


def test_what_is_no_device_work_goes_on_inside_kernels(device: ttnn.MeshDevice) -> None:
    x = ttnn.ones([32, 32], device=device, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    seen: list[object] = []

    def kernel() -> None:
        seen.append(x.buffer_address())
        seen.append((x.shape, x.dtype, ttnn.CoreCoord(1, 2), torch.ones(2).sum().item()))

    metal.run_program(device, alone(device, kernel))
    assert seen[0] == x.buffer_address()


def test_an_unsupported_call_cannot_be_hidden(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        with contextlib.suppress(UnsupportedError):
            ttnn.kernel_api.rand_tile_init()

    with pytest.raises(UnsupportedError, match="rand_tile_init"):
        metal.run_program(device, alone(device, kernel))
    check_usable(device)


def test_deep_recursion_after_a_kernel_was_left_is_an_error(device: ttnn.MeshDevice) -> None:
    def deep() -> None:
        deep()

    with pytest.raises(KernelError):
        metal.run_program(device, alone(device, catching_without_calls))
    device.reset()
    with pytest.raises(KernelError, match="RecursionError"):
        metal.run_program(device, alone(device, deep))
    check_usable(device)

"""Endless loops and interrupts: located errors, device reset.

The error names core, kernel and line; the device waits for a reset.
"""

from __future__ import annotations

import inspect
import signal
import sys
import threading
from collections.abc import Callable

import pytest
from broken import alone, nothing

import ttnn
from ttnn import metal
from ttnn.kernel_api import noc_async_read_barrier
from ttnn.metal import watchdog


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "_TICK", 0.05)
    monkeypatch.setenv("TTNN_KERNEL_SECONDS", "0.2")


def without_calls() -> None:
    while True:
        pass


def catching() -> None:
    while True:
        try:
            sum(range(100))
        except Exception:  # noqa: PERF203 - the limit must get through
            continue


def with_calls() -> None:
    while True:
        noc_async_read_barrier()


def lines_of(kernel: Callable[[], None]) -> range:
    lines, first = inspect.getsourcelines(kernel)
    return range(first, first + len(lines))


@pytest.mark.parametrize(
    ("kernel", "limit", "text"),
    [
        (without_calls, "", r"no call of ttnn\.kernel_api for 0\.2 s.* TTNN_KERNEL_SECONDS"),
        (catching, "", r"no call of ttnn\.kernel_api for 0\.2 s"),
        (with_calls, "1000", r"more than 1000 calls of ttnn\.kernel_api.* TTNN_KERNEL_LIMIT"),
    ],
)
def test_endless_kernel_loop_raises_kernel_error(
    device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch, kernel: Callable[[], None], limit: str, text: str
) -> None:
    monkeypatch.setenv("TTNN_KERNEL_LIMIT", limit)
    where = rf"core 0-0, BRISC, kernel {kernel.__name__} \(test_limits\.py:\d+\): "
    with pytest.raises(ttnn.KernelError, match=where + text) as caught:
        metal.run_program(device, alone(device, kernel))
    assert (caught.value.kernel, caught.value.file) == (kernel.__name__, __file__)
    assert caught.value.line in lines_of(kernel)
    with pytest.raises(ttnn.DeviceError, match="reset"):
        metal.run_program(device, alone(device, nothing))
    device.reset()
    metal.run_program(device, alone(device, nothing))


def test_slow_kernels_with_calls_run_to_their_end(device: ttnn.MeshDevice) -> None:
    pause, turns = threading.Event(), []

    def slow() -> None:
        for turn in range(8):
            pause.wait(0.08)
            noc_async_read_barrier()
            turns.append(turn)

    metal.run_program(device, alone(device, slow))
    assert turns == list(range(8))


def test_debugger_switches_the_kernel_limit_off(device: ttnn.MeshDevice) -> None:
    pause, ends = threading.Event(), []

    def paused() -> None:
        sys._getframe().f_trace = lambda *_: None
        pause.wait(0.5)
        ends.append(True)

    metal.run_program(device, alone(device, paused))
    assert ends == [True]


def test_kernel_limit_that_is_not_a_number_raises(device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTNN_KERNEL_LIMIT", "many")
    with pytest.raises(ttnn.ArgumentError, match="TTNN_KERNEL_LIMIT: expected a number, 0 for no limit, got 'many'"):
        metal.run_program(device, alone(device, nothing))


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="needs signals")
def test_interrupt_names_the_running_kernel(device: ttnn.MeshDevice) -> None:
    def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)
        without_calls()

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt, match=r"core 0-0, BRISC, kernel interrupted \(test_limits\.py:\d+\)"):
            metal.run_program(device, alone(device, interrupted))
    finally:
        signal.signal(signal.SIGINT, previous)
    with pytest.raises(ttnn.DeviceError, match=r"interrupted; call device\.reset"):
        metal.run_program(device, alone(device, nothing))
    device.reset()

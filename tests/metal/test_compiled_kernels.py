"""Compiled kernels without a compiler: images, limits, Ctrl-C.

The images have a few words.
"""

from __future__ import annotations

import signal
import struct
import threading
from typing import Any

import pytest

import ttnn
from ttnn import _engine
from ttnn.base.exceptions import AddressError, KernelCompileError, KernelError

ENDLESS = (0x0000_006F,)
"""`j .`"""
NULL_LOAD = (0x0000_2283,)
"""`lw t0, 0(zero)`"""
FINISH = (0x0000_0293, 0x0000_0073)
"""`li t0, 0; ecall`: call 0 is the end."""


def image(words: tuple[int, ...]) -> bytes:
    """Return an ELF file with a text of instruction words."""
    text = struct.pack(f"<{len(words)}I", *words)
    start, at = 0xA000_0000, 52 + 32
    header = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, 243, 1, start, 52, 0, 0, 52, 32, 1, 40, 0, 0)
    return header + struct.pack("<8I", 1, at, start, start, len(text), len(text), 5, 4) + text


def run_of(device: ttnn.MeshDevice, words: tuple[int, ...], limit: int = 1 << 62, cores: int = 1) -> _engine.ProgramRun:
    """Return the run of one compiled kernel on some cores."""
    kernels: list[Any] = [((x, 0), 0, "kernel", 0, None, []) for x in range(cores)]
    natives = [(number, image(words), 0, limit, "", (0, 0)) for number in range(cores)]
    run = _engine.ProgramRun(device.engine, [], [], kernels, False, natives)
    assert run.schedule() == 0
    return run


def test_compiled_kernel_ends_at_its_finish_call(device: ttnn.MeshDevice) -> None:
    assert _engine.kernel_calls()[0] == "finish"
    run = run_of(device, FINISH, cores=3)
    assert run.run_native() == -1
    assert run.is_finished()
    assert [run.kernel_usage(number) for number in range(3)] == [(0, 1)] * 3


def test_an_endless_loop_ends_at_its_limit(device: ttnn.MeshDevice) -> None:
    run = run_of(device, ENDLESS, limit=10_000_000)
    with pytest.raises(KernelError, match="more than 10000000 instructions"):
        run.run_native()


def test_mistakes_have_their_classes_and_leave_the_device_usable(device: ttnn.MeshDevice) -> None:
    run = run_of(device, NULL_LOAD)
    with pytest.raises(AddressError, match="belong to no buffer") as caught:
        run.run_native()
    assert (caught.value.core, caught.value.risc, run.current()) == ("0-0", "BRISC", 0)
    assert run_of(device, FINISH).run_native() == -1


def test_ctrl_c_ends_a_run_and_leaves_the_device_usable(device: ttnn.MeshDevice) -> None:
    run = run_of(device, ENDLESS)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,)).start()
        with pytest.raises(KeyboardInterrupt):
            run.run_native()
    finally:
        signal.signal(signal.SIGINT, before)
    assert run_of(device, FINISH).run_native() == -1


def test_other_threads_run_during_a_compiled_kernel(device: ttnn.MeshDevice) -> None:
    counted = 0
    run = run_of(device, ENDLESS, limit=100_000_000)
    ended = threading.Event()

    def work() -> None:
        with pytest.raises(KernelError):
            run.run_native()
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not ended.wait(0.001):
        counted += 1
    thread.join()
    assert counted > 5


@pytest.mark.parametrize("change", [slice(0, 40), slice(0, 60), slice(0, 0)])
def test_a_broken_image_is_refused(device: ttnn.MeshDevice, change: slice) -> None:
    row = (0, image(FINISH)[change], 0, 1, "", (0, 0))
    with pytest.raises(KernelCompileError, match="ELF"):
        _engine.ProgramRun(device.engine, [], [], [((0, 0), 0, "kernel", 0, None, [])], False, [row])

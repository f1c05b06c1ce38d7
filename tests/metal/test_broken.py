"""Broken programs raise, naming core, kernel, line and cause."""

from __future__ import annotations

import broken_arguments
import broken_cbs
import broken_compute
import broken_host
import broken_order
import broken_races
import broken_transfers
import broken_waits
import pytest
from broken import CASES, KEPT, TILES, Broken, pipeline
from random_programs import outcome

import ttnn
from testkit.parts import add_cb
from ttnn import metal
from ttnn.kernel_api import L1Pointer, cb_pop_front, cb_push_back, cb_reserve_back, cb_wait_front, get_write_ptr

CORRECT = 1000
ENOUGH = 200
"""The promised detection rate."""
MODULES = (
    broken_arguments,
    broken_cbs,
    broken_compute,
    broken_host,
    broken_order,
    broken_races,
    broken_transfers,
    broken_waits,
)


def test_at_least_the_promised_mistakes_are_tested() -> None:
    print(f"{len(CASES)} programs broken on purpose")
    assert len(CASES) >= ENOUGH
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.file for case in CASES} == {module.__file__ for module in MODULES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_broken_program_raises_its_error(device: ttnn.MeshDevice, case: Broken) -> None:
    KEPT.clear()
    with pytest.raises(case.error) as caught:
        metal.run_program(device, case.build(device))
    error = caught.value
    assert type(error) is case.error
    assert case.text in str(error)
    if case.risc is None:
        assert metal.run_program(device, pipeline(device)).cycles > 0, "a mistake that the host finds costs nothing"
        return
    assert isinstance(error, ttnn.KernelError)
    assert (error.core, error.risc, error.cb) == (case.core, case.risc, case.cb)
    assert error.kernel
    assert error.file == case.file
    assert error.line == case.line if case.line is not None else error.line > 0
    with pytest.raises(ttnn.DeviceError, match="reset"):
        ttnn.zeros([32, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    device.reset()
    assert metal.run_program(device, pipeline(device)).cycles > 0


def test_correct_programs_are_not_reported(device: ttnn.MeshDevice) -> None:
    reports = [text for seed in range(CORRECT) for end, text in [outcome(seed, device, correct=True)] if end != "ok"]
    print(f"{len(reports)} reports on {CORRECT} correct programs, {len(CASES)} programs broken on purpose")
    assert reports == []


def test_unread_pages_are_a_note(device: ttnn.MeshDevice) -> None:
    def writer() -> None:
        cb_wait_front(16, 1)
        cb_pop_front(16, 1)

    report = metal.run_program(device, pipeline(device, writer=writer, pages=TILES))
    (note,) = report.notes
    assert note == (
        "core 0-0: 3 pages are left in CB 16, which kernel copy_tiles, TRISC, pushed; kernel writer, BRISC, has not "
        "popped all"
    )
    assert f"note: {note}" in repr(report)
    assert metal.run_program(device, pipeline(device)).notes == []


def test_pages_on_many_cores_are_one_note(device: ttnn.MeshDevice) -> None:
    def reader() -> None:
        cb_reserve_back(0, 1)
        L1Pointer(get_write_ptr(0)).write([1] * 512)
        cb_push_back(0, 1)

    program = metal.create_program()
    grid = metal.CoreRange((0, 0), (3, 1))
    add_cb(program, 0, 1, cores=grid)
    metal.create_kernel(program, reader, grid, metal.ReaderDataMovementConfig())
    assert metal.run_program(device, program).notes == [
        "core 0-0 and 7 more: 1 page is left in CB 0, which kernel reader, NCRISC, pushed; no kernel has popped any"
    ]

"""Every program that is broken on purpose is caught, and the error says who made the mistake, where and with what."""

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
from broken import CASES, KEPT, Broken, pipeline

import ttnn
from ttnn import metal

ENOUGH = 200
"""What the project promises."""
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


def test_how_many() -> None:
    print(f"{len(CASES)} programs broken on purpose")
    assert len(CASES) >= ENOUGH
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.file for case in CASES} == {module.__file__ for module in MODULES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_mistake_is_named(device: ttnn.MeshDevice, case: Broken) -> None:
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
    for pages in (1, 2, 3, 4):
        assert metal.run_program(device, pipeline(device, pages=pages)).cycles > 0

"""Failing allocations raise and free everything; the device still works.

Every allocation of every operator.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import ttnn
from testkit.operands import describe
from testkit.signature_calls import Call, calls
from ttnn.base.exceptions import TtnnError
from ttnn.operation import registry

LARGEST = 200
"""More allocations than any of these calls makes."""


def _working(entry: registry.Op, device: ttnn.MeshDevice) -> Iterator[int]:
    """Yield signature numbers that the operator's first data type fits."""
    for index, call in enumerate(calls(entry, device)):
        try:
            call()
        except TtnnError:
            continue
        yield index


def _fresh(entry: registry.Op, index: int, device: ttnn.MeshDevice) -> Call:
    """Return a signature's call with fresh operands.

    In-place forms change them.
    """
    return list(calls(entry, device))[index]


def _fails(call: Call, number: int, device: ttnn.MeshDevice) -> bool:
    """Run a call with one failing allocation; return whether it occurred.

    It is the allocation of this number.
    """
    before = device.engine.state_hash(), device.engine.allocated_bytes()
    device.engine.fail_allocation(number)
    text = ""
    try:
        call()
    except ttnn.OutOfMemoryError as error:
        # What the traceback holds would keep buffers alive.
        text = str(error.with_traceback(None))
    finally:
        device.engine.fail_allocation(None)
    if not text:
        return False
    assert "was made to fail" in text
    assert (device.engine.state_hash(), device.engine.allocated_bytes()) == before, f"allocation {number}"
    return True


@pytest.mark.parametrize("entry", registry.entries(), ids=str)
def test_every_allocation_can_fail(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    tried = list(_working(entry, device))
    assert tried
    for index in tried:
        expected = describe(_fresh(entry, index, device)())
        for number in range(1, LARGEST):
            call = _fresh(entry, index, device)
            if not _fails(call, number, device):
                break
            # The same operands: a call that failed has changed none of them.
            assert describe(call()) == expected
        else:
            raise AssertionError("the call never ran through")

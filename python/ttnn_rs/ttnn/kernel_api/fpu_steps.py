"""Engine numbers of the FPU's element-wise steps and second-operand broadcasts."""

from __future__ import annotations

from ttnn.base.exceptions import KernelArgumentError
from ttnn.base.vendor_enum import VendorEnum

ADD, SUB, MUL = range(3)
NONE, COL, ROW, SCALAR = range(4)
_NUMBERS = {"ELWADD": ADD, "ELWSUB": SUB, "ELWMUL": MUL}


def step_number(op: VendorEnum) -> int:
    """Return the number of an `EltwiseBinaryType`.

    Raises:
        KernelArgumentError: a step that the FPU does not have.
    """
    if op.name not in _NUMBERS:
        raise KernelArgumentError(f"{op}: the FPU adds, subtracts and multiplies")
    return _NUMBERS[op.name]

"""`softcap`: a soft bound by tanh, on Blackhole only.

Source: TT-NN docs "ttnn.softcap"; tt-metal `softcap_kernel.cpp` and `ckernel_sfpu_tanh.h` of a 16-bit Dst, and how the
sources of the official function put factors around it.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import Arch, DataType, UnaryOpType
from ttnn.base.exceptions import DeviceError, DTypeError, ParameterError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise.unary import formula
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import FLOAT, Param, Signature
from ttnn.operation.steps import inverse, single, step
from ttnn.ops._programs.common import INPUT_TENSOR, on_device
from ttnn.ops._programs.sfpu_chain import apply_chain, refuse_integers
from ttnn.ops.eltwise.unary.family import LAYOUTS, OPTIONS
from ttnn.tensor.tensor import Tensor

DTYPES: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B)


def check_softcap(operator: str, tensor: Tensor, label: str = "input_tensor") -> None:
    """Refuse tensors of which the function does not exist.

    Raises:
        StorageError: it is on the host.
        DeviceError: it is not on a Blackhole.
        DTypeError: its data type is another one than bfloat16 and bfloat8_b.
    """
    dtype = tensor.spec.dtype
    refuse_integers(operator, UnaryOpType.SOFTCAP, dtype)
    arch = on_device(operator, tensor, label).arch()
    if arch is not Arch.BLACKHOLE:
        raise DeviceError(
            f"{operator}: {label} is on a {arch.name}; the function exists on BLACKHOLE only.",
            vendor=f"Unary: SOFTCAP is implemented for Blackhole only, got arch {arch.name.lower()}",
        )
    if dtype not in DTYPES:
        raise DTypeError(
            f"{operator}: {label} is {dtype.name}, for which the function is not exact enough; it takes bfloat16 and "
            "bfloat8_b. Typecast it.",
            vendor=f"Unary: SOFTCAP supports BFLOAT16 and BFLOAT8_B inputs, got dtype {dtype.cpp_name}",
        )


def _softcap(
    input_tensor: Tensor,
    beta: float,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    operator = "ttnn.softcap"
    check_softcap(operator, input_tensor)
    if single(beta) == 0 or math.isnan(beta):
        raise ParameterError(
            f"{operator}: beta is {beta:g}, by which the elements are divided.",
            vendor="Unary: SOFTCAP requires a non-zero beta",
        )
    bent = step("softcap", "default", beta, inverse(beta))
    return apply_chain(operator, input_tensor, [bent], memory_config=memory_config, output_tensor=output_tensor)


softcap = register(
    Op(
        name="softcap",
        signatures=(Signature((INPUT_TENSOR, Param("beta", FLOAT, doc="Bound of the output, not 0.")), OPTIONS),),
        run=_softcap,
        doc="Return the element-wise soft cap, `beta * tanh(x / beta)`, of `input_tensor`.\n"
        "It is rounded once. Blackhole only.",
        source="tt-metal `ttnn/cpp/ttnn/operations/eltwise/unary/device/kernels/compute/softcap_kernel.cpp`",
        dtypes=DTYPES,
        layouts=LAYOUTS,
        golden=formula("softcap", "Return beta tanh(x / beta).", lambda x, beta: beta * np.tanh(x / beta)),
        accuracy=max_ulp((DataType.BFLOAT16, 1)),
        engine=("unary",),
        family="unary",
        raises=(
            ("DeviceError", "the device is a Wormhole; the operator needs a Blackhole."),
            ("DTypeError", "the input is neither bfloat16 nor bfloat8_b."),
            ("ParameterError", "`beta` is 0 or NaN."),
            ("StorageError", "the input is on the host."),
        ),
        examples=((2.0,), (-0.75,)),
        only_on=Arch.BLACKHOLE,
    )
)

"""Gated linear units of two tensors: f(gate) times the other.

`clamped_silu_glu` is one product with activations of both operands. `situ_glu` is five programs, each of which rounds
to the operands' data type: the official package has a kernel that rounds once, but its operator does not run that.
Source: TT-NN docs of the operators; how the sources of the official operators read.
"""

from __future__ import annotations

import math
from typing import Final

from ttnn.base.activation import UnaryWithParam
from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import Arch, BufferType, DataType, UnaryOpType
from ttnn.base.exceptions import MemoryConfigError, ParameterError
from ttnn.base.memory_config import MemoryConfig
from ttnn.device.coordinates import SubDeviceId
from ttnn.golden.eltwise import binary as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.registry import FastOperation, Op, register
from ttnn.operation.signature import FLOAT, TENSOR, Param, Signature
from ttnn.operation.steps import single
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION
from ttnn.ops._programs.sfpu_chain import refuse_integers
from ttnn.ops.eltwise.binary import multiply
from ttnn.ops.eltwise.binary.family import CORES, LAYOUTS, RAISES
from ttnn.ops.eltwise.unary.family import FLOAT_INPUTS
from ttnn.ops.eltwise.unary.softcap import DTYPES, check_softcap, softcap
from ttnn.ops.eltwise.unary.variants import sigmoid
from ttnn.tensor.tensor import Tensor

_CLAMPED: Final = "ttnn.clamped_silu_glu"
_SITU: Final = "ttnn.situ_glu"


def _clamped(
    gate: Tensor,
    up: Tensor,
    limit: float,
    memory_config: MemoryConfig | None,
    _sub_core_grids: CoreRangeSet | None,
    _sub_device_id: SubDeviceId | None,
) -> Tensor:
    if not limit >= 0:
        raise ParameterError(f"{_CLAMPED}: limit is {limit:g}; no value is between {-limit:g} and it.")
    for operand in (gate, up):
        refuse_integers(_CLAMPED, UnaryOpType.SILU, operand.spec.dtype)
    result: Tensor = multiply(
        gate,
        up,
        memory_config=memory_config,
        input_tensor_a_activations=[
            UnaryWithParam(UnaryOpType.MINIMUM, limit),
            UnaryWithParam(UnaryOpType.SILU),
        ],
        input_tensor_b_activations=[UnaryWithParam(UnaryOpType.CLAMP_TSS, -limit, limit)],
    )
    return result


def _situ(
    gate: Tensor,
    up: Tensor,
    beta1: float,
    beta2: float,
    memory_config: MemoryConfig | None,
    sub_core_grids: CoreRangeSet | None,
    _sub_device_id: SubDeviceId | None,
) -> Tensor:
    check_softcap(_SITU, gate, "gate")
    check_softcap(_SITU, up, "up")
    if any(single(beta) == 0 or math.isnan(beta) for beta in (beta1, beta2)):
        raise ParameterError(
            f"{_SITU}: beta1 is {beta1:g} and beta2 {beta2:g}, by which the operands are divided.",
            vendor="situ_glu: beta1 and beta2 must be non-zero",
        )
    place = memory_config or gate.spec.memory_config
    if sub_core_grids is not None and place.buffer_type is BufferType.L1 and not place.is_sharded():
        raise MemoryConfigError(
            f"{_SITU}: an interleaved result in L1 lies on cores that sub_core_grids={sub_core_grids} leaves out.",
            vendor="situ_glu: a core restriction cannot be combined with an interleaved-L1 output, which would take L1 "
            "on the "
            "cores restricted away. Use DRAM or a sharded L1 memory config.",
        )
    gated = multiply(softcap(gate, beta1), sigmoid(gate))
    result: Tensor = multiply(gated, softcap(up, beta2), memory_config=place)
    return result


_TENSORS: Final = (
    Param("gate", TENSOR, doc="[..., H, W] on a device."),
    Param("up", TENSOR, doc="Tensor whose shape can be broadcast with that of `gate`."),
)


def _register(name: str, params: tuple[Param, ...], *raises: tuple[str, str], **more: object) -> FastOperation:
    return register(
        Op(
            name=name,
            signatures=(Signature((*_TENSORS, *params), (MEMORY_CONFIG_OPTION, *CORES)),),
            layouts=LAYOUTS,
            golden=getattr(golden, name),
            composition=True,
            family="binary",
            raises=(*RAISES, *raises),
            **more,  # type: ignore[arg-type]
        )
    )


clamped_silu_glu = _register(
    "clamped_silu_glu",
    (Param("limit", FLOAT, doc="Bound, not negative: `gate` is clamped from above, `up` from both sides."),),
    ("ParameterError", "`limit` is negative or NaN."),
    run=_clamped,
    dtypes=FLOAT_INPUTS,
    doc="Return `silu(min(gate, limit)) * clamp(up, -limit, limit)` element-wise, with broadcasting.",
    # Both activations and the product are rounded; block floats by half a step of their group each, or cut.
    accuracy=max_ulp((DataType.BFLOAT16, 3), (DataType.FLOAT32, 8), (DataType.BFLOAT8_B, 2)),
    examples=((10.0,), (0.75,)),
)
situ_glu = _register(
    "situ_glu",
    (
        Param("beta1", FLOAT, doc="Soft cap of `gate`, not 0."),
        Param("beta2", FLOAT, doc="Soft cap of `up`, not 0."),
    ),
    ("ParameterError", "`beta1` or `beta2` is 0 or NaN."),
    ("DeviceError", "the device is a Wormhole; the operator needs a Blackhole."),
    run=_situ,
    dtypes=DTYPES,
    doc="Return `softcap(gate, beta1) * sigmoid(gate) * softcap(up, beta2)` element-wise, with broadcasting.\n"
    "Each factor is rounded to the data type. Blackhole only.",
    # Five results are rounded.
    accuracy=max_ulp((DataType.BFLOAT16, 4), (DataType.BFLOAT8_B, 3)),
    examples=((4.0, 25.0), (0.5, 1.0)),
    only_on=Arch.BLACKHOLE,
)

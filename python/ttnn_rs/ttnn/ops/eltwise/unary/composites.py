"""Unary operators composed of several functions, in one program or in several.

Source: tt-metal `hardswish_kernel.cpp`, `logit_kernel.cpp`, `lgamma_kernel.cpp` and `logsigmoid_kernel.cpp` for
the order of the steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ttnn.base.activation import UnaryWithParam
from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import BinaryOpType, DataType, UnaryOpType
from ttnn.base.exceptions import DTypeError, ParameterError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import special
from ttnn.golden.eltwise import unary as g
from ttnn.golden.eltwise.unary import formula
from ttnn.operation.accuracy import Accuracy, max_ulp
from ttnn.operation.domain import from_
from ttnn.operation.registry import FastOperation, Op, register
from ttnn.operation.signature import FLOAT, INTEGER, Param, Signature
from ttnn.operation.steps import ChainStep, single, step, word
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, agreed_dtype, memory_of_result
from ttnn.ops._programs.sfpu_chain import apply_chain, refuse_integers
from ttnn.ops.eltwise.binary.arithmetic import add, subtract
from ttnn.ops.eltwise.binary.compute import Options, compute
from ttnn.ops.eltwise.binary.program import Arithmetic
from ttnn.ops.eltwise.unary.family import FLOAT_INPUTS, LAYOUTS, OPTIONS, measured
from ttnn.tensor.tensor import Tensor

_U: Final = UnaryOpType
_WIDE_ONLY: Final = (DataType.BFLOAT16, DataType.FLOAT32)
_RAISES: Final = (
    ("DTypeError", "the input holds integers, or block floats that the operator does not support."),
    ("StorageError", "the input is on the host."),
)


def _register(
    name: str,
    run: Callable[..., Tensor],
    what: str,
    golden: Callable[..., Any],
    *,
    signatures: tuple[Signature, ...] = (Signature((INPUT_TENSOR,), OPTIONS),),
    dtypes: tuple[DataType, ...] = FLOAT_INPUTS,
    source: str = "",
    accuracy: Accuracy,
    **more: Any,
) -> FastOperation:
    return register(
        Op(
            name=name,
            signatures=signatures,
            run=run,
            doc=what if what.endswith(".") else f"Return the element-wise {what} of `input_tensor`.",
            source=source,
            dtypes=dtypes,
            layouts=LAYOUTS,
            golden=golden,
            accuracy=accuracy,
            family="unary",
            raises=_RAISES,
            **{"engine": ("unary",), **more},
        )
    )


def _scaled(name: str, factor: float) -> Callable[..., Tensor]:
    """Return the function of an operator that multiplies by a constant."""
    operator = f"ttnn.{name}"

    def run(
        input_tensor: Tensor,
        memory_config: MemoryConfig | None,
        output_tensor: Tensor | None,
        _sub_core_grids: CoreRangeSet | None,
    ) -> Tensor:
        refuse_integers(operator, _U.MUL_UNARY_SFPU, input_tensor.spec.dtype)
        chain = [step("mul_unary", "default", factor)]
        return apply_chain(operator, input_tensor, chain, memory_config=memory_config, output_tensor=output_tensor)

    return run


deg2rad = _register(
    "deg2rad",
    _scaled("deg2rad", math.pi / 180.0),
    "Return `input_tensor` converted element-wise from degrees to radians.",
    formula("deg2rad", "Return x pi / 180.", lambda x: x * (math.pi / 180.0)),
    source="tt-metal `ckernel_sfpu_binop_with_unary.h`",
    accuracy=measured(0.9981, 0.5847),
)
rad2deg = _register(
    "rad2deg",
    _scaled("rad2deg", 180.0 / math.pi),
    "Return `input_tensor` converted element-wise from radians to degrees.",
    formula("rad2deg", "Return 180 x / pi.", lambda x: x * (180.0 / math.pi)),
    source="tt-metal `ckernel_sfpu_binop_with_unary.h`",
    accuracy=measured(0.9921, 0.6625),
)


def _into(
    operator: str,
    arithmetic: Arithmetic,
    a: Tensor,
    b: Tensor,
    like: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    activations_a: list[UnaryWithParam] | None = None,
) -> Tensor:
    """Run a binary function with the input's shape; result like the input."""
    spec = like.spec
    dtype = agreed_dtype(operator, None, output_tensor, spec.dtype)
    memory_config = memory_of_result(memory_config, output_tensor, spec.memory_config)
    options = Options(
        dtype=dtype,
        memory_config=None if output_tensor is not None else memory_config,
        output_tensor=output_tensor,
        activations_a=activations_a or [],
    )
    return compute(arithmetic, a, b, options)


def _hardswish(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    operator = "ttnn.hardswish"
    dtype = input_tensor.spec.dtype
    refuse_integers(operator, _U.HARDSWISH, dtype)
    wide = dtype is DataType.FLOAT32
    # In a 16-bit Dst the factor moves to SrcA and the FPU multiplies; in a 32-bit one the SFPU does.
    factor_dtype = DataType.FLOAT32 if wide else DataType.BFLOAT16
    factor = apply_chain(operator, input_tensor, [("hardsigmoid", "default")], dtype=factor_dtype)
    product = Arithmetic(
        operator, BinaryOpType.MUL, "mul", "mul_binary", sfpu_in_bfloat16=wide, blocks_on_sfpu=False, mixes_floats=True
    )
    return _into(operator, product, factor, input_tensor, input_tensor, memory_config, output_tensor)


hardswish = _register(
    "hardswish",
    _hardswish,
    "Return the element-wise hard Swish, `x * clamp(x / 6 + 1 / 2, 0, 1)`, of `input_tensor`.",
    g.hardswish,
    source="tt-metal `ttnn/cpp/ttnn/operations/eltwise/unary/device/kernels/compute/hardswish_kernel.cpp`",
    engine=("unary", "binary"),
    accuracy=measured(2.1421, 111.6667),
)


_ONE_OR_MINUS_ONE: Final = (step("mul_unary", "default", -2.0), step("add_unary", "default", 1.0))
"""Steps from 0 and 1 to 1 and -1."""


def _logit(
    input_tensor: Tensor,
    eps: float | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    operator = "ttnn.logit"
    refuse_integers(operator, _U.LOGIT, input_tensor.spec.dtype)
    chain: list[ChainStep] = []
    if eps is not None and eps >= 0.0:
        chain = [step("clamp", "default", single(eps), single(1.0 - single(eps)))]
    # The clamped values go through a buffer of the input's data type.
    inside = apply_chain(operator, input_tensor, chain)
    quotient: list[ChainStep] = [("logit", "unclamped")]
    if eps is not None and single(eps) > 0.5:
        # The limits have changed places, so that all values are 1 - eps. Where x < eps, the sign is that of eps.
        result = apply_chain(operator, inside, quotient)
        sign = apply_chain(operator, input_tensor, [step("unary_lt", "default", single(eps)), *_ONE_OR_MINUS_ONE])
        product = Arithmetic(operator, BinaryOpType.MUL, function="mul_binary")
        return _into(operator, product, result, sign, input_tensor, memory_config, output_tensor)
    memory_config = memory_of_result(memory_config, output_tensor, input_tensor.spec.memory_config)
    return apply_chain(
        operator,
        inside,
        quotient,
        memory_config=None if output_tensor is not None else memory_config,
        output_tensor=output_tensor,
    )


_EPS: Final = Param("eps", FLOAT, None, doc="If given, the input is first clamped to [eps, 1 - eps].")
logit = _register(
    "logit",
    _logit,
    "Return the element-wise logit, `ln(x / (1 - x))`, of `input_tensor`.",
    g.logit,
    signatures=(Signature((INPUT_TENSOR,), (_EPS, *OPTIONS)),),
    source="tt-metal `ttnn/cpp/ttnn/operations/eltwise/unary/device/kernels/compute/logit_kernel.cpp`",
    accuracy=measured(64.0007, 12.0475),
    domain=lambda x: np.clip(np.abs(x), 0.125, 1.75) * 0.5,
)


def _log_sigmoid(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    operator = "ttnn.log_sigmoid"
    refuse_integers(operator, _U.LOGSIGMOID, input_tensor.spec.dtype)
    # The exponential stays in Dst: that of block floats is bfloat16.
    kept = DataType.FLOAT32 if input_tensor.spec.dtype is DataType.FLOAT32 else DataType.BFLOAT16
    chain: list[ChainStep] = [("neg", "default"), ("exp", "approx_clampneg")]
    power = apply_chain(operator, input_tensor, chain, dtype=kept)
    arithmetic = Arithmetic(operator, BinaryOpType.MUL, function="log_sigmoid", mixes_floats=True)
    negate = [UnaryWithParam(_U.NEG)]
    return _into(operator, arithmetic, input_tensor, power, input_tensor, memory_config, output_tensor, negate)


log_sigmoid = _register(
    "log_sigmoid",
    _log_sigmoid,
    "Return the element-wise logarithm of the sigmoid, `-ln(1 + e^-x)`, of `input_tensor`.\n"
    "Above 4 it uses the approximate exponential, in [-4, 4] a polynomial, and below -4 it is x.",
    g.log_sigmoid,
    engine=("unary", "binary"),
    accuracy=measured(6.3883, 425575),
    domain=lambda x: np.clip(x, -4.0, 4.0),
)


def _lgamma(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
    operator: str = "ttnn.lgamma",
) -> Tensor:
    dtype = input_tensor.spec.dtype
    refuse_integers(operator, _U.LGAMMA, dtype)
    if dtype not in _WIDE_ONLY:
        raise DTypeError(
            f"{operator}: input_tensor is {dtype.name}; the function accepts bfloat16 and float32. Typecast it.",
            vendor=f"Unary: LGAMMA requires BFLOAT16 or FLOAT32 input, got dtype {dtype.value}",
        )
    chain: list[ChainStep] = [("lgamma", "default")]
    return apply_chain(operator, input_tensor, chain, memory_config=memory_config, output_tensor=output_tensor)


lgamma = _register(
    "lgamma",
    _lgamma,
    "logarithm of the absolute gamma function, `ln(|gamma(x)|)`,",
    special.lgamma,
    dtypes=_WIDE_ONLY,
    source="tt-metal `ttnn/cpp/ttnn/operations/eltwise/unary/device/kernels/compute/lgamma_kernel.cpp`",
    accuracy=measured(323.9023, 11510300, largest=2.0**20),
    domain=from_(3.0),
)


def _multigammaln(input_tensor: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    operator = "ttnn.multigammaln"
    options = {"memory_config": memory_config}
    total = _lgamma(input_tensor, memory_config, None, None, operator)
    for less in (0.5, 1.0, 1.5):
        shifted = subtract(input_tensor, less, **options)
        total = add(total, _lgamma(shifted, memory_config, None, None, operator), **options)
    result: Tensor = add(total, 3.434189657547, **options)
    return result


multigammaln = _register(
    "multigammaln",
    _multigammaln,
    "4-dimensional multivariate log-gamma function",
    g.multigammaln,
    signatures=(Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION,)),),
    dtypes=_WIDE_ONLY,
    engine=("unary", "binary"),
    composition=True,
    accuracy=measured(1.6895, 46722.2, lowest=1.6015625),
    domain=from_(3.0),
)
_LARGEST_ORDER: Final = 34
"""The factorial of a larger order is beyond FP32."""
_STEPS_BEYOND: Final = {
    **dict.fromkeys((2, 3, 5, 9, 11, 12, 17, 19, 20, 26, 29), 1),
    **dict.fromkeys((13, 21, 30, 32), 2),
    **dict.fromkeys((16, 22, 23, 33), -1),
}
"""Errors of the factorials by order, in FP32 steps.

The host's `tgammaf` (glibc 2.36) computes the factorials.
"""


def _polygamma(input_tensor: Tensor, k: int, memory_config: MemoryConfig | None) -> Tensor:
    operator = "ttnn.polygamma"
    refuse_integers(operator, _U.POLYGAMMA, input_tensor.spec.dtype)
    if not 1 <= k <= _LARGEST_ORDER:
        raise ParameterError(f"{operator}: k is {k}; the orders 1 to {_LARGEST_ORDER} are supported.")
    scale = word(float(math.factorial(k))) + _STEPS_BEYOND.get(k, 0)
    sign = 0x80000000 if k % 2 == 0 else 0
    chain: list[ChainStep] = [("polygamma", "default", [k, sign | scale])]
    return apply_chain(operator, input_tensor, chain, memory_config=memory_config)


polygamma = _register(
    "polygamma",
    _polygamma,
    "Return the element-wise polygamma function of order `k` of `input_tensor`.\n"
    "It is the k-th derivative of digamma. The input must be positive.",
    special.polygamma,
    signatures=(Signature((INPUT_TENSOR, Param("k", INTEGER, doc="Order, from 1 to 34.")), (MEMORY_CONFIG_OPTION,)),),
    source="tt-metal `ckernel_sfpu_polygamma.h`",
    accuracy=max_ulp((DataType.BFLOAT16, 1), (DataType.FLOAT32, 16), lowest=0.0, largest=1024.0),
    domain=from_(0.5),
    examples=((1,), (2,), (3,)),
)

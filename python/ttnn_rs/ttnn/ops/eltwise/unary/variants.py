"""Functions with several kernels: gelu, sigmoid, tanh.

The call chooses one.

Source: TT-NN docs of each operator; tt-llk `ckernel_sfpu_gelu.h`, `ckernel_sfpu_sigmoid.h`, `ckernel_sfpu_tanh.h`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import TILE_SIZE, DataType, GeluVariant, Layout, SigmoidMode, UnaryOpType
from ttnn.base.exceptions import UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise import unary as g
from ttnn.golden.eltwise.unary import formula, plain
from ttnn.operation.registry import declare
from ttnn.operation.signature import BOOLEAN, INTEGER, Param, Signature, instance_kind
from ttnn.operation.steps import ChainStep, Steps, fixed, flag, step
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, SUB_CORE_GRIDS_OPTION
from ttnn.ops._programs.sfpu_chain import apply_chain, refuse_integers
from ttnn.ops.eltwise.unary.family import FAST, FLOAT_INPUTS, LAYOUTS, OPTIONS, measured
from ttnn.tensor.tensor import Tensor

_RAISES: Final = (
    ("DTypeError", "integer data types are not supported."),
    ("StorageError", "the input is on the host."),
)


def _apply(
    operator: str,
    op_type: UnaryOpType,
    input_tensor: Tensor,
    steps: list[ChainStep],
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    refuse_integers(operator, op_type, input_tensor.spec.dtype)
    return apply_chain(operator, input_tensor, steps, memory_config=memory_config, output_tensor=output_tensor)


_GELU: Final = {
    GeluVariant.Accurate: ("accurate", UnaryOpType.GELU),
    GeluVariant.FastLut: ("approx_lut", UnaryOpType.GELU),
    GeluVariant.Tanh: ("tanh", UnaryOpType.GELU_TANH),
}


def _gelu(
    input_tensor: Tensor,
    variant: GeluVariant,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    listing, op_type = _GELU[variant]
    return _apply("ttnn.gelu", op_type, input_tensor, [("gelu", listing)], memory_config, output_tensor)


def _gelu_by_flag(
    input_tensor: Tensor,
    fast_and_approximate_mode: bool,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    variant = GeluVariant.FastLut if fast_and_approximate_mode else GeluVariant.Accurate
    return _gelu(input_tensor, variant, memory_config, output_tensor, None)


def _sigmoid_steps(vector_mode: float = 4.0, fast: float = 0.0) -> list[ChainStep]:
    # The mode selects the faces that are computed; 4 is all of them, and the others are of no use in a whole operator.
    return [("sigmoid", "approx" if fast else "accurate")] if vector_mode == 4.0 else [("sigmoid", "some faces")]


_FACE: Final = TILE_SIZE // 2
_VECTOR_MODE: Final = "Computed faces: 1 the upper two, 2 the left two, 4 all. They must contain the whole tensor."


def _check_faces(operator: str, mode: int, values: Sequence[Any]) -> None:
    """Refuse faces that leave out a part of the tensor.

    Raises:
        UnsupportedError: the input has elements in other faces.
    """
    spec = values[0].spec
    shape = tuple(spec.shape)
    limits = {1: (_FACE, TILE_SIZE), 2: (TILE_SIZE, _FACE)}.get(mode, (0, 0))
    sides = (1, 1, *shape)[-2:]
    # Beyond one tile, only the side that the faces span may go on.
    fits = all(side <= limit or limit == TILE_SIZE for side, limit in zip(sides, limits, strict=True))
    if spec.layout is not Layout.TILE or not fits:
        raise UnsupportedError(
            f"{operator}: vector_mode={mode} leaves faces of {spec.shape} in {spec.layout.name} as they are, which is "
            "not modelled; use 4."
        )


def _sigmoid(
    input_tensor: Tensor,
    vector_mode: int,
    mode: SigmoidMode,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    if mode is SigmoidMode.AccurateWithFastExp:
        raise UnsupportedError(f"ttnn.sigmoid: mode={mode} has no listing; use Accurate or FastApproximate.")
    listing = "approx" if mode is SigmoidMode.FastApproximate else "accurate"
    chosen = ("sigmoid", listing)
    return _apply("ttnn.sigmoid", UnaryOpType.SIGMOID, input_tensor, [chosen], memory_config, output_tensor)


def _sigmoid_accurate(
    input_tensor: Tensor,
    fast_and_approximate_mode: bool,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    steps: list[ChainStep] = [("sigmoid", "accurate")]
    if fast_and_approximate_mode:
        # The definition with the approximate exponential.
        one = step("add_unary", "default", 1.0)
        steps = [("neg", "default"), ("exp", "approx_clampneg"), one, ("recip", "accurate")]
    return _apply("ttnn.sigmoid_accurate", UnaryOpType.SIGMOID, input_tensor, steps, memory_config, output_tensor)


def _tanh(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    fast_and_approximate_mode: bool,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    chosen = ("tanh", "approx_lut" if fast_and_approximate_mode else "accurate")
    return _apply("ttnn.tanh", UnaryOpType.TANH, input_tensor, [chosen], memory_config, output_tensor)


_register: Final = partial(
    declare, dtypes=FLOAT_INPUTS, layouts=LAYOUTS, engine=("unary",), family="unary", raises=_RAISES
)

gelu = _register(
    "gelu",
    (
        Signature(
            (INPUT_TENSOR,),
            (
                Param(
                    "variant",
                    instance_kind("ttnn.GeluVariant", GeluVariant),
                    GeluVariant.Accurate,
                    doc="Accurate function, piecewise linear approximation, or formula with tanh.",
                ),
                *OPTIONS,
            ),
        ),
        Signature((INPUT_TENSOR,), (FAST, *OPTIONS), run=_gelu_by_flag),
    ),
    _gelu,
    "Return the element-wise GELU, `x * cdf(x)` of the standard normal distribution, of `input_tensor`.",
    source="tt-llk `ckernel_sfpu_gelu.h`",
    golden=g.gelu,
    accuracy=measured(254.9337, 23872500).on_blackhole((DataType.FLOAT32, 34023800)),
    steps={UnaryOpType.GELU: flag("gelu", "accurate", "approx_lut", 1.0), UnaryOpType.GELU_TANH: fixed("gelu", "tanh")},
)

sigmoid = _register(
    "sigmoid",
    (
        Signature(
            (INPUT_TENSOR,),
            (
                Param("vector_mode", INTEGER, 4, doc=_VECTOR_MODE, check=_check_faces),
                Param(
                    "mode",
                    instance_kind("ttnn.SigmoidMode", SigmoidMode),
                    SigmoidMode.Accurate,
                    doc="Accurate function, or piecewise linear approximation.",
                ),
                *OPTIONS,
            ),
        ),
    ),
    _sigmoid,
    "Return the element-wise sigmoid, `1 / (1 + e^-x)`, of `input_tensor`.",
    source="tt-llk `ckernel_sfpu_sigmoid.h`",
    golden=formula("sigmoid", "Return 1 / (1 + e^-x).", lambda x, **_: g.sigmoid_of(x)),
    accuracy=measured(0.8569, 2.1102).on_blackhole((DataType.BFLOAT16, 0.8733), (DataType.FLOAT32, 2.4056)),
    steps={UnaryOpType.SIGMOID: Steps(0, 2, _sigmoid_steps)},
)

sigmoid_accurate = _register(
    "sigmoid_accurate",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("fast_and_approximate_mode", BOOLEAN, False, doc="Use the approximate exponential."),
            ),
            OPTIONS,
        ),
    ),
    _sigmoid_accurate,
    "Return the element-wise sigmoid, `1 / (1 + e^-x)`, of `input_tensor`.",
    source="tt-llk `ckernel_sfpu_sigmoid.h`",
    golden=formula("sigmoid_accurate", "Return 1 / (1 + e^-x).", lambda x, *_: g.sigmoid_of(x)),
    accuracy=measured(0.8569, 2.1102).on_blackhole((DataType.BFLOAT16, 0.8733), (DataType.FLOAT32, 2.4056)),
)

tanh = _register(
    "tanh",
    (Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, FAST, SUB_CORE_GRIDS_OPTION)),),
    _tanh,
    "Return the element-wise hyperbolic tangent of `input_tensor`.",
    source="tt-llk `ckernel_sfpu_tanh.h`",
    golden=plain("tanh", "Return the hyperbolic tangent."),
    accuracy=measured(128, 1.9558).on_blackhole((DataType.FLOAT32, 1.9771)),
    steps={UnaryOpType.TANH: flag("tanh", "accurate", "approx_lut")},
)

"""Functions on one tensor whose signatures differ from those of the tables.

Source: TT-NN docs of each operator; vector unit, "ttnn op -> kernel -> defaults".
"""

from __future__ import annotations

from typing import Final

from ttnn.core_range import CoreRangeSet
from ttnn.exceptions import UnsupportedError
from ttnn.golden import pointwise as g
from ttnn.golden.pointwise import formula, plain
from ttnn.memory_config import MemoryConfig
from ttnn.ops.arguments import BOOLEAN, INTEGER, Param, Signature, instance_kind
from ttnn.ops.binary import multiply
from ttnn.ops.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, SUB_CORE_GRIDS_OPTION
from ttnn.ops.registry import Op, register
from ttnn.ops.steps import ChainStep
from ttnn.ops.unary import apply_chain
from ttnn.ops.unary_family import FAST, FLOAT_INPUTS, LAYOUTS, OPTIONS, measured, refuse_integers
from ttnn.tensor import Tensor
from ttnn.types import DataType, GeluVariant, SigmoidMode, UnaryOpType

_RAISES: Final = (("DTypeError", "the input holds integers."), ("StorageError", "the input is on the host."))


def _apply(
    operator: str,
    op_type: UnaryOpType,
    input_tensor: Tensor,
    steps: list[ChainStep],
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    refuse_integers(operator, op_type, input_tensor._spec.dtype)
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
    step = ("sigmoid", listing)
    return _apply("ttnn.sigmoid", UnaryOpType.SIGMOID, input_tensor, [step], memory_config, output_tensor)


def _sigmoid_accurate(
    input_tensor: Tensor,
    fast_and_approximate_mode: bool,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    step = ("sigmoid", "accurate")
    return _apply("ttnn.sigmoid_accurate", UnaryOpType.SIGMOID, input_tensor, [step], memory_config, output_tensor)


def _tanh(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    fast_and_approximate_mode: bool,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    step = ("tanh", "approx_lut" if fast_and_approximate_mode else "accurate")
    return _apply("ttnn.tanh", UnaryOpType.TANH, input_tensor, [step], memory_config, output_tensor)


_WRAPPING: Final = (DataType.INT32, DataType.UINT32, DataType.UINT16)


def _square(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    if input_tensor._spec.dtype in _WRAPPING:
        product: Tensor = multiply(input_tensor, input_tensor, memory_config=memory_config, output_tensor=output_tensor)
        return product
    step = ("square", "default")
    return _apply("ttnn.square", UnaryOpType.SQUARE, input_tensor, [step], memory_config, output_tensor)


gelu = register(
    Op(
        name="gelu",
        signatures=(
            Signature(
                (INPUT_TENSOR,),
                (
                    Param(
                        "variant",
                        instance_kind("ttnn.GeluVariant", GeluVariant),
                        GeluVariant.Accurate,
                        doc="The accurate function, a table of line segments, or the formula with tanh.",
                    ),
                    *OPTIONS,
                ),
            ),
            Signature((INPUT_TENSOR,), (FAST, *OPTIONS), run=_gelu_by_flag),
        ),
        run=_gelu,
        doc="Return every element times the normal distribution function of it.",
        source='TT-NN docs "ttnn.gelu"; vector unit listings gelu/*',
        dtypes=FLOAT_INPUTS,
        layouts=LAYOUTS,
        golden=g.gelu,
        accuracy=measured("gelu"),
        engine=("unary",),
        family="unary",
        raises=_RAISES,
    )
)

sigmoid = register(
    Op(
        name="sigmoid",
        signatures=(
            Signature(
                (INPUT_TENSOR,),
                (
                    Param("vector_mode", INTEGER, 4, doc="Which faces are computed; 4 is all.", modelled=False),
                    Param(
                        "mode",
                        instance_kind("ttnn.SigmoidMode", SigmoidMode),
                        SigmoidMode.Accurate,
                        doc="The accurate function or a table of line segments.",
                    ),
                    *OPTIONS,
                ),
            ),
        ),
        run=_sigmoid,
        doc="Return 1 / (1 + e^-x) of every element.",
        source='TT-NN docs "ttnn.sigmoid"; vector unit listings sigmoid/*',
        dtypes=FLOAT_INPUTS,
        layouts=LAYOUTS,
        golden=formula("sigmoid", "Return 1 / (1 + e^-x).", lambda x, **_: g.sigmoid_of(x)),
        accuracy=measured("sigmoid"),
        engine=("unary",),
        family="unary",
        raises=_RAISES,
    )
)

sigmoid_accurate = register(
    Op(
        name="sigmoid_accurate",
        signatures=(
            Signature(
                (
                    INPUT_TENSOR,
                    Param("fast_and_approximate_mode", BOOLEAN, False, doc="Not modelled.", modelled=False),
                ),
                OPTIONS,
            ),
        ),
        run=_sigmoid_accurate,
        doc="Return 1 / (1 + e^-x) of every element.",
        source='TT-NN docs "ttnn.sigmoid_accurate"; vector unit listing sigmoid/accurate',
        dtypes=FLOAT_INPUTS,
        layouts=LAYOUTS,
        golden=formula("sigmoid_accurate", "Return 1 / (1 + e^-x).", lambda x, *_: g.sigmoid_of(x)),
        accuracy=measured("sigmoid_accurate"),
        engine=("unary",),
        family="unary",
        raises=_RAISES,
    )
)

tanh = register(
    Op(
        name="tanh",
        signatures=(
            Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, FAST, SUB_CORE_GRIDS_OPTION)),
        ),
        run=_tanh,
        doc="Return the hyperbolic tangent of every element.",
        source='TT-NN docs "ttnn.tanh"; vector unit listings tanh/*',
        dtypes=FLOAT_INPUTS,
        layouts=LAYOUTS,
        golden=plain("tanh", "Return the hyperbolic tangent."),
        accuracy=measured("tanh"),
        engine=("unary",),
        family="unary",
        raises=_RAISES,
    )
)

square = register(
    Op(
        name="square",
        signatures=(Signature((INPUT_TENSOR,), OPTIONS),),
        run=_square,
        doc="Return the square of every element; integers wrap.",
        source='TT-NN docs "ttnn.square"; vector unit listings square/default and mul_int/int32',
        dtypes=(*FLOAT_INPUTS, *_WRAPPING),
        reference=_WRAPPING,
        layouts=LAYOUTS,
        golden=plain("square", "Return x * x."),
        accuracy=measured("square"),
        engine=("unary", "binary"),
        family="unary",
        raises=(
            ("DTypeError", "the input is uint8."),
            ("StorageError", "the input is on the host."),
        ),
    )
)

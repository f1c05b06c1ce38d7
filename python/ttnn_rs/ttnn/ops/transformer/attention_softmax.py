"""Softmax of attention scores, scaled by head size and masked.

Source: tt-metal `ttnn/cpp/ttnn/operations/transformer/attention_softmax`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import LayoutError, ParameterError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import transformer as golden
from ttnn.operation.accuracy import Accuracy
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, find, register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import IGNORED_MEMORY_CONFIG, MEMORY_CONFIG_OPTION, on_device
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.pipeline import rounded
from ttnn.ops.normalization.softmax import (
    DTYPES,
    SOFTMAX_PROGRAM_CONFIG,
    SoftmaxProgramConfig,
    default_numerics,
    scaled_and_masked,
    softmax_of,
)
from ttnn.tensor.tensor import Tensor


def _scale(name: str, head_size: int | None) -> float:
    """Return 1 / sqrt(head_size) in the program's form.

    Raises:
        ParameterError: a head has no elements.
    """
    if head_size is None:
        return 1.0
    if head_size <= 0:
        raise ParameterError(f"{name}: head_size is {head_size}; it must be positive.")
    return rounded(1.0 / rounded(head_size**0.5))


def _attention_softmax(
    tensor: Tensor,
    head_size: int | None,
    attention_mask: Tensor | None,
    program_config: SoftmaxProgramConfig | None,
    causal_mask: bool | None,
    memory_config: MemoryConfig | None,
) -> Tensor:
    name = "ttnn.transformer.attention_softmax"
    on_device(name, tensor)
    scale = _scale(name, head_size)
    if attention_mask is None:
        tensor = find("ttnn.multiply")(tensor, scale)
        return softmax_of(name, tensor, memory_config=memory_config)
    numerics = default_numerics(name, tensor)
    return scaled_and_masked(name, tensor, scale, attention_mask, bool(causal_mask), numerics, True, memory_config)


def _attention_softmax_in_place(
    tensor: Tensor,
    head_size: int | None,
    attention_mask: Tensor | None,
    program_config: SoftmaxProgramConfig | None,
    causal_mask: bool | None,
    _memory_config: MemoryConfig | None,
) -> Tensor:
    name = "ttnn.transformer.attention_softmax_"
    on_device(name, tensor)
    if attention_mask is None:
        raise ParameterError(
            f"{name}: attention_mask must be given; the product with 1 / sqrt(head_size) is part of the masked "
            "program. Use ttnn.transformer.attention_softmax.",
            vendor="Cannot apply divide by sqrt(head_size) using in-place version when attention_mask is not set.",
        )
    if tensor.spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: tensor is row-major; it must be tiled.", vendor="Inputs to softmax must be tilized")
    numerics = default_numerics(name, tensor)
    scale = _scale(name, head_size)
    causal = bool(causal_mask)
    copy_into(scaled_and_masked(name, tensor, scale, attention_mask, causal, numerics, True, in_place=True), tensor)
    return tensor


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((),) if len(shape) <= 4 and layout is Layout.TILE else ()


def _masked(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if not 2 <= len(shape) <= 4 or layout is not Layout.TILE or 0 in shape:
        return ()
    return (({"attention_mask": Operand((*(1 for _ in shape[:-1]), shape[-1])), "head_size": 64},),)


_TENSOR: Final = Param("tensor", TENSOR, doc="[..., H, W] on a device: attention scores.")
_HEAD_SIZE: Final = Param("head_size", INTEGER, None, doc="Scores are multiplied by 1 / sqrt(head_size). Default: not.")
_MASK: Final = Param(
    "attention_mask",
    TENSOR,
    None,
    doc="Added to the scaled scores: [..., 1, W], or [..., H, W] if it is causal. Of one that is not causal the first "
    "row of a tile counts, for every row of scores.",
    example=Operand((1, 1, 1, 128)),
)
_CAUSAL: Final = Param(
    "causal_mask", BOOLEAN, False, doc="The mask has a row for every row of scores; up to 32 rows, except in place."
)
_ERRORS: Final = (
    ("ShapeError", "the mask does not fit the scores."),
    ("DTypeError", "the scores are not floating point."),
    ("LayoutError", "the scores are row-major."),
)
_SIGNATURE: Final = Signature((_TENSOR,), (_HEAD_SIZE, _MASK, SOFTMAX_PROGRAM_CONFIG, _CAUSAL, MEMORY_CONFIG_OPTION))

_ENTRY: Final = Op(
    name="transformer.attention_softmax",
    signatures=(_SIGNATURE,),
    run=_attention_softmax,
    doc="Return the softmax of `tensor / sqrt(head_size) + attention_mask` over the last dimension.\n"
    "Shape: [..., H, W] -> [..., H, W].",
    source="tt-metal `ttnn/cpp/ttnn/operations/transformer/attention_softmax`",
    dtypes=DTYPES,
    layouts=(Layout.TILE,),
    golden=golden.attention_softmax,
    accuracy=Accuracy({DataType.BFLOAT8_B: 8}, reason="for the scores are rounded to bfloat16 before the exponential"),
    engine=("Pipeline",),
    raises=_ERRORS,
    examples=_examples,
)

attention_softmax = register(_ENTRY)
attention_softmax_ = register(
    replace(
        _ENTRY,
        examples=_masked,
        name="transformer.attention_softmax_",
        signatures=(
            Signature((_TENSOR,), (_HEAD_SIZE, _MASK, SOFTMAX_PROGRAM_CONFIG, _CAUSAL, IGNORED_MEMORY_CONFIG)),
        ),
        run=_attention_softmax_in_place,
        doc="Write the softmax of `tensor / sqrt(head_size) + attention_mask` over rows into `tensor`; return it.\n"
        "Shape: [..., H, W] -> [..., H, W].",
        raises=(
            *_ERRORS,
            ("ParameterError", "there is no mask."),
        ),
    )
)

"""`concatenate_heads` of `ttnn.transformer` and of `ttnn.experimental`, and `ttnn.experimental.nlp_concat_heads`.

Source: tt-metal `ttnn/cpp/ttnn/operations/transformer/concatenate_heads` and
`ttnn/cpp/ttnn/operations/experimental/transformer/nlp_concat_heads`.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import TILE_SIZE, Layout
from ttnn.base.exceptions import ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import transformer as golden
from ttnn.operation.registry import register
from ttnn.operation.signature import Signature
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, on_device
from ttnn.ops.transformer.head_programs import (
    EXPERIMENTAL,
    EXPERIMENTAL_ERRORS,
    GRID,
    OUTPUT,
    checked,
    declare,
    heads_joined,
    no_outputs,
    not_sharded,
)
from ttnn.tensor.tensor import Tensor

_JOIN: Final = "ttnn.transformer.concatenate_heads"


def _join(input_tensor: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    on_device(_JOIN, input_tensor)
    shape = tuple(input_tensor.spec.shape)
    if len(shape) == 4 and shape[-1] % TILE_SIZE:
        raise ShapeError(
            f"{_JOIN}: heads of {shape[-1]} columns are not made of full tiles.",
            vendor=f"Head size must be a multiple of {TILE_SIZE} but was found to be {shape[-1]}. Update the matmul "
            "that uses the output of this operation to include padding in the weights.",
        )
    checked(_JOIN, input_tensor, "input_tensor", 4)
    return heads_joined(_JOIN, input_tensor, memory_config, shape[:1])


def _bert_joined(
    input_tensor: Tensor, _grid: CoreCoord, memory_config: MemoryConfig | None, output_tensor: Tensor | None
) -> Tensor:
    name = "ttnn.experimental.concatenate_heads"
    no_outputs(name, output_tensor)
    checked(name, input_tensor, "input_tensor", 4)
    not_sharded(name, memory_config)
    batch, _, _, size = tuple(input_tensor.spec.shape)
    if size % TILE_SIZE:
        raise ShapeError(f"{name}: heads of {size} columns are not made of full tiles.")
    return heads_joined(name, input_tensor, memory_config, (batch, 1))


def _nlp_concat(input_tensor: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    name = "ttnn.experimental.nlp_concat_heads"
    checked(name, input_tensor, "input_tensor", 4)
    batch, _, _, size = tuple(input_tensor.spec.shape)
    if size % TILE_SIZE:
        raise ShapeError(f"{name}: heads of {size} columns are not made of full tiles.")
    return heads_joined(name, input_tensor, memory_config, (batch, 1))


concatenate_heads = register(
    declare(
        name="transformer.concatenate_heads",
        signatures=(Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION,)),),
        run=_join,
        doc="Return concatenated heads.\nThose of a core stay in it if `memory_config` is sharded.\n"
        "Shape: [B, H, S, D] -> [B, S, H * D].",
        source="tt-metal `ttnn/cpp/ttnn/operations/transformer/concatenate_heads`",
        golden=golden.concatenate_heads,
        raises=(
            ("ShapeError", "the input is not of rank 4, or D is not a multiple of 32."),
            ("LayoutError", "the input is row-major."),
            ("DTypeError", "the input is not floating point."),
            ("MemoryConfigError", "the result is to be sharded, and the shards of the input are not whole heads."),
        ),
        examples=lambda shape, layout: (
            ((),) if len(shape) == 4 and shape[-1] % TILE_SIZE == 0 and layout is Layout.TILE else ()
        ),
    )
)


experimental_concatenate_heads = register(
    declare(
        raises=EXPERIMENTAL_ERRORS,
        name="experimental.concatenate_heads",
        signatures=(Signature((INPUT_TENSOR, GRID), (MEMORY_CONFIG_OPTION, OUTPUT)),),
        run=_bert_joined,
        doc="Return concatenated heads.\nShape: [B, H, S, D] -> [B, 1, S, H * D].",
        source=EXPERIMENTAL,
        golden=golden.nlp_concat_heads,
        examples=lambda shape, layout: (
            ((CoreCoord(8, 8),),) if len(shape) == 4 and shape[3] % TILE_SIZE == 0 and layout is Layout.TILE else ()
        ),
    )
)


_ERRORS: Final = (
    ("ShapeError", "columns do not divide into heads of full tiles."),
    ("LayoutError", "the input is row-major."),
    ("DTypeError", "the input is not floating point."),
    ("ParameterError", "a number of heads is not positive."),
)


nlp_concat_heads = register(
    declare(
        name="experimental.nlp_concat_heads",
        signatures=(Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION,)),),
        run=_nlp_concat,
        doc="Return concatenated heads.\nThose of a core stay in it if `memory_config` is sharded.\n"
        "Shape: [B, H, S, D] -> [B, 1, S, H * D].",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/nlp_concat_heads`",
        golden=golden.nlp_concat_heads,
        raises=(*_ERRORS[:3], ("MemoryConfigError", "the shards of the input are not whole heads.")),
        examples=lambda shape, layout: (
            ((),) if len(shape) == 4 and shape[-1] % TILE_SIZE == 0 and layout is Layout.TILE else ()
        ),
    )
)

"""`nlp_create_qkv_heads_falcon7b`, `_vit` and `_segformer`: heads in the sizes of one model.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, Layout
from ttnn.base.exceptions import ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import transformer as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import register
from ttnn.operation.signature import TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, is_empty, on_device
from ttnn.ops._programs.windows import copy_tiles
from ttnn.ops.transformer.head_programs import (
    EXPERIMENTAL,
    EXPERIMENTAL_ERRORS,
    INTERLEAVED_ERRORS,
    OUTPUTS,
    checked,
    checked_interleaved,
    declare,
    heads_of_fixed_size,
    no_outputs,
    projection,
)
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_SEGFORMER: Final = "ttnn.experimental.nlp_create_qkv_heads_segformer"
_HEAD_OF_SEGFORMER: Final = 32


def _falcon(input: Tensor, memory_config: MemoryConfig | None) -> tuple[Tensor, Tensor, Tensor]:
    return heads_of_fixed_size(
        "ttnn.experimental.nlp_create_qkv_heads_falcon7b", 71, 1, 64, False, input, memory_config
    )


def _vit(
    input: Tensor, memory_config: MemoryConfig | None, output_tensors: Sequence[Tensor | None] | None
) -> tuple[Tensor, Tensor, Tensor]:
    name = "ttnn.experimental.nlp_create_qkv_heads_vit"
    return heads_of_fixed_size(name, 12, 12, 64, False, input, memory_config, output_tensors)


def _segformer(
    input: Tensor, memory_config: MemoryConfig | None, output_tensors: Sequence[Tensor | None] | None
) -> tuple[Tensor, Tensor, Tensor]:
    checked(_SEGFORMER, input, "input", 4)
    no_outputs(_SEGFORMER, output_tensors)
    place = checked_interleaved(_SEGFORMER, input, memory_config)
    spec = input.spec
    batch, channels, rows, width = tuple(spec.padded_shape)
    if channels != 1:
        raise ShapeError(f"{_SEGFORMER}: input has shape {spec.shape}; it must be [B, 1, S, W].")
    heads = width // _HEAD_OF_SEGFORMER
    target = TensorSpec.of((batch, heads, rows, _HEAD_OF_SEGFORMER), spec.dtype, Layout.TILE, place)
    device = on_device(_SEGFORMER, input)
    # The program has three outputs and writes the first; the others are 0 here.
    query, key, value = (allocate(target, device) for _ in range(3))
    for other in (key, value):
        if other.buffer is not None and not is_empty(target):
            engine_steps.fill(other.buffer, format=FORMAT_CODE[spec.dtype], value=0.0)
    if not is_empty(target):
        high = rows // TILE_SIZE
        copy_tiles(input, query, shape=(batch, heads, high, 1), strides=(high * heads, 1, heads, 1))
    return query, key, value


nlp_create_qkv_heads_falcon7b = register(
    declare(
        raises=EXPERIMENTAL_ERRORS,
        name="experimental.nlp_create_qkv_heads_falcon7b",
        signatures=(Signature((projection("input", (1, 1, 32, 4672)),), (MEMORY_CONFIG_OPTION,)),),
        run=_falcon,
        doc="Return Falcon-7B's 71 query heads, key head and value head.\n"
        "Shape: [B, 1, S, 4672] -> [B, 71, S, 64], [B, 1, S, 64], [B, 1, S, 64].",
        source=EXPERIMENTAL,
        golden=golden.nlp_create_qkv_heads_falcon7b,
        examples=(),
    )
)


nlp_create_qkv_heads_vit = register(
    declare(
        raises=EXPERIMENTAL_ERRORS,
        name="experimental.nlp_create_qkv_heads_vit",
        signatures=(Signature((projection("input", (1, 1, 32, 2304)),), (MEMORY_CONFIG_OPTION, OUTPUTS)),),
        run=_vit,
        doc="Return the 12 heads of queries, keys and values of ViT.\n"
        "Shape: [B, 1, S, 2304] -> [B, 12, S, 64], [B, 12, S, 64], [B, 12, S, 64].",
        source=EXPERIMENTAL,
        golden=golden.nlp_create_qkv_heads_vit,
        examples=(),
    )
)


nlp_create_qkv_heads_segformer = register(
    declare(
        source=EXPERIMENTAL,
        raises=INTERLEAVED_ERRORS,
        name="experimental.nlp_create_qkv_heads_segformer",
        signatures=(
            Signature(
                (
                    Param(
                        "input",
                        TENSOR,
                        doc="[B, 1, S, W] on a device.",
                        example=Operand((1, 1, 32, 64)),
                    ),
                ),
                (MEMORY_CONFIG_OPTION, OUTPUTS),
            ),
        ),
        run=_segformer,
        doc="Return heads of 32 columns, and two unwritten tensors of equal shape.\n"
        "Shape: [B, 1, S, 32 * H] -> three times [B, H, S, 32], S rounded up to full tiles.",
        golden=golden.nlp_create_qkv_heads_segformer,
        examples=(),
    )
)

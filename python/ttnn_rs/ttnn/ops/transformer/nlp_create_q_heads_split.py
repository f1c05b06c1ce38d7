"""`ttnn.experimental.nlp_create_q_heads_split`: heads that are cut in two.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer`.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.enums import TILE_SIZE, Layout
from ttnn.base.exceptions import ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import transformer as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import register
from ttnn.operation.signature import INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, is_empty, on_device
from ttnn.ops._programs.windows import copy_tiles, tile_grid
from ttnn.ops.transformer.head_programs import (
    EXPERIMENTAL,
    INTERLEAVED_ERRORS,
    NUM_HEADS,
    checked,
    checked_interleaved,
    declare,
    head_size,
)
from ttnn.tensor.tensor import Tensor

_SPLIT: Final = "ttnn.experimental.nlp_create_q_heads_split"


def _split(
    input: Tensor, num_heads: int, split_head_dim: int, memory_config: MemoryConfig | None
) -> tuple[Tensor, Tensor]:
    checked(_SPLIT, input, "input", 4)
    place = checked_interleaved(_SPLIT, input, memory_config)
    spec = input.spec
    batch, channels, rows, width = tuple(spec.shape)
    if num_heads < 1 or channels != 1:
        raise ShapeError(f"{_SPLIT}: input of shape {spec.shape} must be [B, 1, S, W] of at least one head.")
    size = head_size(_SPLIT, "input", width, num_heads, "Unsupported input shape")
    if not 0 < split_head_dim < size or split_head_dim % TILE_SIZE:
        raise ParameterError(
            f"{_SPLIT}: split_head_dim={split_head_dim} must be a multiple of {TILE_SIZE} below {size}, the columns "
            "of a head."
        )
    high, wide, across = tile_grid(input)[2], width // TILE_SIZE, size // TILE_SIZE
    parts = []
    for first, columns in ((0, split_head_dim), (split_head_dim, size - split_head_dim)):
        target = TensorSpec.of((batch, num_heads, rows, columns), spec.dtype, Layout.TILE, place)
        output = allocate(target, on_device(_SPLIT, input))
        if not is_empty(target):
            copy_tiles(
                input,
                output,
                shape=(batch, num_heads, high, columns // TILE_SIZE),
                strides=(high * wide, across, wide, 1),
                offset=first // TILE_SIZE,
            )
        parts.append(output)
    return parts[0], parts[1]


nlp_create_q_heads_split = register(
    declare(
        source=EXPERIMENTAL,
        raises=INTERLEAVED_ERRORS,
        name="experimental.nlp_create_q_heads_split",
        signatures=(
            Signature(
                (Param("input", TENSOR, doc="[B, 1, S, H * D] on a device.", example=Operand((1, 1, 32, 128))),),
                (
                    NUM_HEADS,
                    Param("split_head_dim", INTEGER, doc="Columns of every head in the first part.", example=32),
                    MEMORY_CONFIG_OPTION,
                ),
            ),
        ),
        run=_split,
        doc="Return the first columns of every head, and the others.\n"
        "Shape: [B, 1, S, H * D] -> [B, H, S, split_head_dim], [B, H, S, D - split_head_dim].",
        golden=golden.nlp_create_q_heads_split,
        examples=(),
    )
)

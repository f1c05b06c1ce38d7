"""`ttnn.experimental.nlp_create_qkv_heads_boltz` and `nlp_concat_heads_boltz`: heads of every pair of tokens.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/nlp_create_qkv_heads_boltz` and
`nlp_concat_heads_boltz`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.enums import TILE_SIZE, Layout
from ttnn.base.exceptions import ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import transformer as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, on_device, same_device
from ttnn.ops._programs.windows import copy_tiles, tile_grid
from ttnn.ops.data_movement.permute import permuted
from ttnn.ops.transformer.head_programs import (
    EXPERIMENTAL,
    INTERLEAVED_ERRORS,
    NUM_HEADS,
    OUTPUTS,
    checked,
    checked_interleaved,
    declare,
    head_size,
    no_outputs,
)
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_BOLTZ: Final = "ttnn.experimental.nlp_create_qkv_heads_boltz"
_JOIN: Final = "ttnn.experimental.nlp_concat_heads_boltz"


def _pairs(name: str, label: str, tensor: Tensor) -> int:
    """Return the number of tokens of [1, S, S, W].

    Raises:
        ShapeError: the shape is another.
    """
    shape = tuple(tensor.spec.shape)
    if shape[0] != 1 or shape[1] != shape[2] or shape[1] % TILE_SIZE or not shape[1]:
        raise ShapeError(
            f"{name}: {label} has shape {list(shape)}; it must be [1, S, S, W] with S a multiple of {TILE_SIZE}.",
            vendor=f"Unsupported input height {shape[2]} is not tile aligned",
        )
    return int(shape[1])


def _heads_of_pairs(
    source: Tensor, first: int, heads: int, size: int, place: MemoryConfig, *, transposed: bool = False
) -> Tensor:
    """Return heads of [1, S, S, W] as [heads, S, S, size].

    Transposed ones have the tiles of [heads, size, S * S] and the shape [heads, size, S, S], as the program has it.
    """
    spec = source.spec
    tokens, rows = spec.shape[1], spec.shape[1] * spec.shape[1]
    shape = (heads, rows, size) if transposed else (heads, tokens, tokens, size)
    target = TensorSpec.of(shape, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG if transposed else place)
    output = allocate(target, on_device(_BOLTZ, source))
    high, wide, across = rows // TILE_SIZE, spec.shape[-1] // TILE_SIZE, size // TILE_SIZE
    copy_tiles(
        source,
        output,
        shape=(heads, high, across),
        strides=(across, wide, 1),
        offset=first // TILE_SIZE,
    )
    if not transposed:
        return output
    swapped = permuted(_BOLTZ, output, [0, 2, 1], DRAM_MEMORY_CONFIG, 0.0)
    square = TensorSpec.of((heads, size, tokens, tokens), spec.dtype, Layout.TILE, place)
    result = allocate(square, on_device(_BOLTZ, source))
    assert swapped.buffer is not None
    assert result.buffer is not None
    engine_steps.copy_pages(swapped.buffer, result.buffer)
    return result


def _boltz(
    input: Tensor,
    input_kv: Tensor | None,
    num_heads: int,
    num_kv_heads: int | None,
    transpose_k_heads: bool,
    memory_config: MemoryConfig | None,
    output_tensors: Sequence[Tensor | None] | None,
) -> tuple[Tensor, Tensor, Tensor]:
    checked(_BOLTZ, input, "input", 4)
    no_outputs(_BOLTZ, output_tensors)
    place = checked_interleaved(_BOLTZ, input, memory_config)
    groups = num_heads if num_kv_heads is None else num_kv_heads
    if num_heads < 1 or groups < 1:
        raise ParameterError(f"{_BOLTZ}: num_heads={num_heads} and num_kv_heads={num_kv_heads} must be positive.")
    tokens = _pairs(_BOLTZ, "input", input)
    parts = num_heads + (2 * groups if input_kv is None else 0)
    size = head_size(_BOLTZ, "input", input.spec.shape[-1], parts, "Unsupported input shape")
    source, first = input, num_heads * size
    if input_kv is not None:
        checked(_BOLTZ, input_kv, "input_kv", 4)
        same_device(_BOLTZ, on_device(_BOLTZ, input), input_kv, "input_kv")
        checked_interleaved(_BOLTZ, input_kv, None)
        if tuple(input_kv.spec.shape) != (1, tokens, tokens, 2 * groups * size):
            raise ShapeError(
                f"{_BOLTZ}: input_kv has shape {input_kv.shape}; it must be {[1, tokens, tokens, 2 * groups * size]}.",
                vendor="Head dims must be the same for Q and K, V",
            )
        source, first = input_kv, 0
    return (
        _heads_of_pairs(input, 0, num_heads, size, place),
        _heads_of_pairs(source, first, groups, size, place, transposed=transpose_k_heads),
        _heads_of_pairs(source, first + groups * size, groups, size, place),
    )


def _join(input_tensor: Tensor, memory_config: MemoryConfig | None, output_tensor: Tensor | None) -> Tensor:
    checked(_JOIN, input_tensor, "input_tensor", 4)
    no_outputs(_JOIN, output_tensor)
    place = checked_interleaved(_JOIN, input_tensor, memory_config)
    spec = input_tensor.spec
    heads, tokens, others, size = tuple(spec.shape)
    if tokens != others or size % TILE_SIZE or not heads * tokens * size:
        raise ShapeError(f"{_JOIN}: input_tensor has shape {spec.shape}; it must be [H, S, S, D] with D of full tiles.")
    target = TensorSpec.of((1, tokens, tokens, heads * size), spec.dtype, Layout.TILE, place)
    output = allocate(target, on_device(_JOIN, input_tensor))
    high, across = tokens * tile_grid(input_tensor)[2], size // TILE_SIZE
    copy_tiles(input_tensor, output, shape=(high, heads, across), strides=(across, high * across, 1))
    return output


nlp_create_qkv_heads_boltz = register(
    declare(
        source=EXPERIMENTAL,
        raises=INTERLEAVED_ERRORS,
        name="experimental.nlp_create_qkv_heads_boltz",
        signatures=(
            Signature(
                (
                    Param(
                        "input",
                        TENSOR,
                        doc="[1, S, S, W] on a device: queries, keys and values side by side.",
                        example=Operand((1, 32, 32, 192)),
                    ),
                    Param("input_kv", TENSOR, None, doc="[1, S, S, W2]: keys and values, if they are apart."),
                ),
                (
                    NUM_HEADS,
                    Param("num_kv_heads", INTEGER, None, doc="Heads of keys and values. Default: `num_heads`."),
                    Param(
                        "transpose_k_heads",
                        BOOLEAN,
                        True,
                        doc="Return keys as the tiles of [heads, D, S * S], in the shape [heads, D, S, S].",
                    ),
                    MEMORY_CONFIG_OPTION,
                    OUTPUTS,
                ),
            ),
        ),
        run=_boltz,
        doc="Return query, key and value heads of every pair of tokens.\n"
        "Shape: [1, S, S, 3 * H * D] -> [H, S, S, D], [H, D, S, S], [H, S, S, D].",
        golden=golden.nlp_create_qkv_heads_boltz,
        examples=(),
    )
)


nlp_concat_heads_boltz = register(
    declare(
        source=EXPERIMENTAL,
        raises=INTERLEAVED_ERRORS,
        name="experimental.nlp_concat_heads_boltz",
        signatures=(
            Signature(
                (Param("input_tensor", TENSOR, doc="[H, S, S, D] on a device.", example=Operand((2, 32, 32, 32))),),
                (MEMORY_CONFIG_OPTION, Param("output_tensor", TENSOR, None, doc="Not supported.")),
            ),
        ),
        run=_join,
        doc="Return the heads of every pair of tokens side by side.\nShape: [H, S, S, D] -> [1, S, S, H * D].",
        golden=golden.nlp_concat_heads_boltz,
        examples=(),
    )
)

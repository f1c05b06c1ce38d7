"""Heads of pairs of tokens, of single heads of 32 columns, and heads that are cut in two.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from ttnn import _engine
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, Layout
from ttnn.base.exceptions import MemoryConfigError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import transformer as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, is_empty, on_device, same_device
from ttnn.ops._programs.windows import copy_tiles, tile_grid
from ttnn.ops.data_movement.concat import TENSORS
from ttnn.ops.data_movement.permute import permuted
from ttnn.ops.transformer.heads import checked, declare
from ttnn.tensor.tensor import Tensor

_BOLTZ: Final = "ttnn.experimental.nlp_create_qkv_heads_boltz"
_JOIN: Final = "ttnn.experimental.nlp_concat_heads_boltz"
_SEGFORMER: Final = "ttnn.experimental.nlp_create_qkv_heads_segformer"
_SPLIT: Final = "ttnn.experimental.nlp_create_q_heads_split"
_HEAD_OF_SEGFORMER: Final = 32


def _interleaved(name: str, tensor: Tensor, config: MemoryConfig | None) -> MemoryConfig:
    """Return where a result lies.

    Raises:
        UnsupportedError: the input is sharded.
        MemoryConfigError: the result is to be sharded.
    """
    if not tensor.spec.memory_config.interleaved:
        raise UnsupportedError(
            f"{name}: sharded inputs are not built yet; move it with ttnn.sharded_to_interleaved.", "unimplemented"
        )
    place = config or tensor.spec.memory_config
    if place.is_sharded():
        raise MemoryConfigError(
            f"{name}: memory_config is sharded; use ttnn.DRAM_MEMORY_CONFIG or ttnn.L1_MEMORY_CONFIG.",
            vendor=f"Output memory config layout must be INTERLEAVED but got {place.memory_layout}",
        )
    return place


def _no_outputs(name: str, outputs: object) -> None:
    if outputs is not None:
        raise UnsupportedError(f"{name}: preallocated outputs are not built yet; leave them out.", "unimplemented")


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


def _head_size(name: str, label: str, width: int, heads: int) -> int:
    size = width // heads
    if size * heads != width or size % TILE_SIZE or not size:
        raise ShapeError(
            f"{name}: {width} columns of {label} do not divide into {heads} heads of full tiles.",
            vendor="Unsupported input shape",
        )
    return size


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
    assert swapped._buffer is not None
    assert result._buffer is not None
    _engine.copy_pages(swapped._buffer, result._buffer)
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
    _no_outputs(_BOLTZ, output_tensors)
    place = _interleaved(_BOLTZ, input, memory_config)
    groups = num_heads if num_kv_heads is None else num_kv_heads
    if num_heads < 1 or groups < 1:
        raise ParameterError(f"{_BOLTZ}: num_heads={num_heads} and num_kv_heads={num_kv_heads} must be positive.")
    tokens = _pairs(_BOLTZ, "input", input)
    parts = num_heads + (2 * groups if input_kv is None else 0)
    size = _head_size(_BOLTZ, "input", input.spec.shape[-1], parts)
    source, first = input, num_heads * size
    if input_kv is not None:
        checked(_BOLTZ, input_kv, "input_kv", 4)
        same_device(_BOLTZ, on_device(_BOLTZ, input), input_kv, "input_kv")
        _interleaved(_BOLTZ, input_kv, None)
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
    _no_outputs(_JOIN, output_tensor)
    place = _interleaved(_JOIN, input_tensor, memory_config)
    spec = input_tensor.spec
    heads, tokens, others, size = tuple(spec.shape)
    if tokens != others or size % TILE_SIZE or not heads * tokens * size:
        raise ShapeError(f"{_JOIN}: input_tensor has shape {spec.shape}; it must be [H, S, S, D] with D of full tiles.")
    target = TensorSpec.of((1, tokens, tokens, heads * size), spec.dtype, Layout.TILE, place)
    output = allocate(target, on_device(_JOIN, input_tensor))
    high, across = tokens * tile_grid(input_tensor)[2], size // TILE_SIZE
    copy_tiles(input_tensor, output, shape=(high, heads, across), strides=(across, high * across, 1))
    return output


def _segformer(
    input: Tensor, memory_config: MemoryConfig | None, output_tensors: Sequence[Tensor | None] | None
) -> tuple[Tensor, Tensor, Tensor]:
    checked(_SEGFORMER, input, "input", 4)
    _no_outputs(_SEGFORMER, output_tensors)
    place = _interleaved(_SEGFORMER, input, memory_config)
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
        if other._buffer is not None and not is_empty(target):
            _engine.fill(other._buffer, format=FORMAT_CODE[spec.dtype], value=0.0)
    if not is_empty(target):
        high = rows // TILE_SIZE
        copy_tiles(input, query, shape=(batch, heads, high, 1), strides=(high * heads, 1, heads, 1))
    return query, key, value


def _split(
    input: Tensor, num_heads: int, split_head_dim: int, memory_config: MemoryConfig | None
) -> tuple[Tensor, Tensor]:
    checked(_SPLIT, input, "input", 4)
    place = _interleaved(_SPLIT, input, memory_config)
    spec = input.spec
    batch, channels, rows, width = tuple(spec.shape)
    if num_heads < 1 or channels != 1:
        raise ShapeError(f"{_SPLIT}: input of shape {spec.shape} must be [B, 1, S, W] of at least one head.")
    size = _head_size(_SPLIT, "input", width, num_heads)
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


_NUMBER: Final = ("ParameterError", "a number of heads or columns is out of range.")
_entry: Callable[..., Any] = partial(
    declare,
    raises=(
        ("ShapeError", "columns do not divide into heads of full tiles, or the shape is another."),
        ("LayoutError", "an input is row-major."),
        ("DTypeError", "an input is not floating point."),
        ("MemoryConfigError", "the output is to be sharded."),
        ("UnsupportedError", "an input is sharded, or outputs are preallocated."),
    ),
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer`",
)
_OUTPUTS: Final = Param("output_tensors", TENSORS, None, doc="Not supported.")
_HEADS: Final = Param("num_heads", INTEGER, doc="Heads of the queries.", example=2)

nlp_create_qkv_heads_boltz = register(
    _entry(
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
                    _HEADS,
                    Param("num_kv_heads", INTEGER, None, doc="Heads of keys and values. Default: `num_heads`."),
                    Param(
                        "transpose_k_heads",
                        BOOLEAN,
                        True,
                        doc="Return keys as the tiles of [heads, D, S * S], in the shape [heads, D, S, S].",
                    ),
                    MEMORY_CONFIG_OPTION,
                    _OUTPUTS,
                ),
            ),
        ),
        run=_boltz,
        doc="Return the heads of queries, keys and values of every pair of tokens.\n"
        "Shape: [1, S, S, 3 * H * D] -> [H, S, S, D], [H, D, S, S], [H, S, S, D].",
        golden=golden.nlp_create_qkv_heads_boltz,
        examples=(),
    )
)
nlp_concat_heads_boltz = register(
    _entry(
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
nlp_create_qkv_heads_segformer = register(
    _entry(
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
                (MEMORY_CONFIG_OPTION, _OUTPUTS),
            ),
        ),
        run=_segformer,
        doc="Return heads of 32 columns, and two tensors of the same shape, which the device does not write.\n"
        "Shape: [B, 1, S, 32 * H] -> three times [B, H, S, 32], S rounded up to full tiles.",
        golden=golden.nlp_create_qkv_heads_segformer,
        examples=(),
    )
)
nlp_create_q_heads_split = register(
    _entry(
        name="experimental.nlp_create_q_heads_split",
        signatures=(
            Signature(
                (Param("input", TENSOR, doc="[B, 1, S, H * D] on a device.", example=Operand((1, 1, 32, 128))),),
                (
                    _HEADS,
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

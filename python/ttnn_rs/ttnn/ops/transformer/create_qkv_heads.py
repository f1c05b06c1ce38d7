"""`ttnn.experimental.create_qkv_heads` and `create_qkv_heads_from_separate_tensors`.

Each core has the queries, keys and values of its own heads side by side.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/create_qkv_heads` and
`create_qkv_heads_from_separate_tensors`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from ttnn.base.exceptions import MemoryConfigError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import transformer as golden
from ttnn.operation.registry import register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, on_device, same_device
from ttnn.ops.data_movement.concat import TENSORS
from ttnn.ops.transformer.block_sharded_heads import block_shards, heads_of_kind, split_in_groups
from ttnn.ops.transformer.head_programs import checked, declare, head_size
from ttnn.tensor.tensor import Tensor

_HEADS: Final = "ttnn.experimental.create_qkv_heads"
_APART: Final = "ttnn.experimental.create_qkv_heads_from_separate_tensors"


def _numbers(name: str, num_heads: int, num_kv_heads: int | None, output_tensors: object) -> int:
    """Return the heads of keys.

    Raises:
        ParameterError: a number is not positive, or does not divide the other.
        UnsupportedError: outputs are preallocated.
    """
    groups = num_heads if num_kv_heads is None else num_kv_heads
    if num_heads < 1 or groups < 1 or num_heads % groups:
        raise ParameterError(
            f"{name}: num_heads={num_heads} must be a positive multiple of num_kv_heads={num_kv_heads}.",
            vendor=f"Number of q heads {num_heads} must fit evenly into number of kv heads {groups}",
        )
    if output_tensors is not None:
        raise UnsupportedError(f"{name}: preallocated outputs are not implemented; leave them out.", "unimplemented")
    return groups


def _create(
    input: Tensor,
    num_heads: int,
    num_kv_heads: int | None,
    transpose_k_heads: bool,
    memory_config: MemoryConfig | None,
    output_tensors: Sequence[Tensor] | None,
) -> tuple[Tensor, Tensor, Tensor]:
    checked(_HEADS, input, "input", 4)
    groups = _numbers(_HEADS, num_heads, num_kv_heads, output_tensors)
    each = num_heads // groups
    return split_in_groups(_HEADS, input, groups, (each, 1, 1), memory_config, transposed=transpose_k_heads)


def _create_apart(
    input: Tensor,
    input_kv: Tensor,
    num_heads: int,
    num_kv_heads: int | None,
    transpose_k_heads: bool,
    memory_config: MemoryConfig | None,
    output_tensors: Sequence[Tensor] | None,
) -> tuple[Tensor, Tensor, Tensor]:
    checked(_APART, input, "input", 4)
    checked(_APART, input_kv, "input_kv", 4)
    same_device(_APART, on_device(_APART, input), input_kv, "input_kv")
    groups = _numbers(_APART, num_heads, num_kv_heads, output_tensors)
    shards = block_shards(_APART, "input", input)
    other = block_shards(_APART, "input_kv", input_kv)
    config = memory_config or input.spec.memory_config
    if not config.is_sharded():
        raise MemoryConfigError(f"{_APART}: memory_config is {config}; heads are sharded.")
    if other[0].grid != shards[0].grid or input_kv.spec.dtype is not input.spec.dtype:
        raise MemoryConfigError(
            f"{_APART}: input and input_kv lie on {shards[0].grid} and {other[0].grid} in {input.dtype.name} and "
            f"{input_kv.dtype.name}; they must have the same cores and data type."
        )
    width = input.spec.shape[-1]
    vendor = f"Flattened Q hidden dimension {width} must be a multiple of Q heads {num_heads}"
    size = head_size(_APART, "input", width, num_heads, vendor)
    width = input_kv.spec.shape[-1]
    if head_size(_APART, "input_kv", width, 2 * groups, "Head dims must be equal in size!") != size:
        raise ShapeError(
            f"{_APART}: heads of input have {size} columns, those of input_kv {width // (2 * groups)}.",
            vendor="Head dims must be equal in size!",
        )
    part: Callable[..., Tensor] = partial(heads_of_kind, _APART, config=config, like=shards, size=size)
    return (
        part(source=input, heads=(num_heads, 1), columns=(0, size)),
        part(source=input_kv, heads=(groups, 1), columns=(0, 2 * size), transposed=transpose_k_heads),
        part(source=input_kv, heads=(groups, 1), columns=(size, 2 * size)),
    )


_OPTIONS: Final = (
    Param("num_heads", INTEGER, doc="Heads of the queries."),
    Param("num_kv_heads", INTEGER, None, doc="Heads of keys and of values. Default: `num_heads`."),
    Param("transpose_k_heads", BOOLEAN, True, doc="Return keys as [B, heads, D, S]."),
    MEMORY_CONFIG_OPTION,
    Param("output_tensors", TENSORS, None, doc="Not supported."),
)


_entry: Callable[..., Any] = partial(
    declare,
    raises=(
        ("ShapeError", "columns do not divide into heads of full tiles, or batches are not rows of cores."),
        ("LayoutError", "an input is row-major."),
        ("DTypeError", "an input is not floating point."),
        ("ParameterError", "a number of heads is not positive, or does not divide the other."),
        ("MemoryConfigError", "an input is not block sharded, or the output not sharded."),
        ("UnsupportedError", "outputs are preallocated."),
    ),
    examples=(),
)


create_qkv_heads = register(
    _entry(
        name="experimental.create_qkv_heads",
        signatures=(
            Signature((Param("input", TENSOR, doc="[B, 1, S, W], block sharded, one batch to a row."),), _OPTIONS),
        ),
        run=_create,
        doc="Return the heads of queries, keys and values, sharded by height.\n"
        "The columns are groups, one for every head of keys: its queries, the key, the value.\n"
        "Shape: [B, 1, S, (H + 2 * G) * D] -> [B, H, S, D], [B, G, D, S], [B, G, S, D].",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/create_qkv_heads`",
        golden=golden.create_qkv_heads,
    )
)


create_qkv_heads_from_separate_tensors = register(
    _entry(
        name="experimental.create_qkv_heads_from_separate_tensors",
        signatures=(
            Signature(
                (
                    Param("input", TENSOR, doc="[B, 1, S, H * D], block sharded, one batch to a row."),
                    Param("input_kv", TENSOR, doc="[B, 1, T, 2 * G * D], block sharded on the same cores."),
                ),
                _OPTIONS,
            ),
        ),
        run=_create_apart,
        doc="Return sharded query heads, and key and value heads of another tensor.\n"
        "The columns of `input_kv` are pairs of a key and a value.\n"
        "Shape: [B, 1, S, H * D], [B, 1, T, 2 * G * D] -> [B, H, S, D], [B, G, D, T], [B, G, T, D].",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/create_qkv_heads_from_separate_tensors`",
        golden=golden.create_qkv_heads_from_separate_tensors,
    )
)

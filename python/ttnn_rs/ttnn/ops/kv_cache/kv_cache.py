"""Keys and values written into a cache.

A prefill copies tiles. A token replaces a row of every user's tiles, which pass through Dst and are packed again. In a
16-bit Dst float32 is truncated to bfloat16, in a 32-bit one to TF32: all of the rows of a tile are.

Source: tt-metal `ttnn/cpp/ttnn/operations/kv_cache`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.golden import kv_cache as golden
from ttnn.operation.accuracy import bit_exact, max_ulp
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import COMPUTE_KERNEL_CONFIG, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import full_tiles, on_device, same_device
from ttnn.ops._programs.windows import tile_grid, write_into
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, *sorted(BLOCK_FLOATS, key=lambda dtype: dtype.name))
# Truncation removes less than a step of bfloat16, which is 2^16 steps of float32.
_CUT: Final = max_ulp(*((dtype, 65536 if dtype is DataType.FLOAT32 else 0) for dtype in _DTYPES))


def _checked(name: str, cache: Tensor, source: Tensor) -> None:
    same_device(name, on_device(name, cache, "cache"), source, "input")
    for label, tensor in (("cache", cache), ("input", source)):
        if tensor.spec.layout is not Layout.TILE:
            raise LayoutError(
                f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
                vendor="Inputs to update_cache must be tilized",
            )
        if tensor.spec.dtype not in _DTYPES:
            raise DTypeError(f"{name}: {label} is {tensor.spec.dtype.name}; caches are floating point.")
        if tensor.spec.shape.rank != 4:
            raise ShapeError(f"{name}: {label} has shape {tensor.spec.shape}; it must be of rank 4.")
        full_tiles(name, tensor, label)
    ours, given = tuple(cache.spec.shape), tuple(source.spec.shape)
    if given[0] != 1 or given[1] != ours[1] or given[3] != ours[3]:
        raise ShapeError(
            f"{name}: input has shape {list(given)}; a cache of {list(ours)} takes [1, {ours[1]}, ..., {ours[3]}].",
            vendor="Expect shape of input_tensor to be equal to cache tensor in heads and head size",
        )


def _fill(name: str, cache: Tensor, source: Tensor, batch_index: int, update_idx: int) -> Tensor:
    _checked(name, cache, source)
    users, _, length, _ = tuple(cache.spec.shape)
    rows = source.spec.shape[2]
    if source.spec.dtype is not cache.spec.dtype:
        raise DTypeError(
            f"{name}: input is {source.spec.dtype.name}, the cache {cache.spec.dtype.name}; they must be equal.",
            vendor="Input and cache tensors must have same dtype!",
        )
    if not 0 <= batch_index < users:
        raise ParameterError(f"{name}: batch_index={batch_index} is out of range for {users} users.")
    if update_idx < 0 or update_idx % TILE_SIZE or update_idx + rows > length:
        raise ParameterError(
            f"{name}: update_idx={update_idx} must be a multiple of {TILE_SIZE} with {rows} rows after it in a cache "
            f"of {length}."
        )
    write_into(source, cache, [batch_index, 0, update_idx, 0])
    return cache


def _update(
    name: str,
    cache: Tensor,
    source: Tensor,
    update_index: int,
    batch_offset: int,
    config: WormholeComputeKernelConfig | None,
) -> Tensor:
    _checked(name, cache, source)
    users, heads, length, _ = tuple(cache.spec.shape)
    rows = source.spec.shape[2]
    if not 0 <= update_index < length:
        raise ParameterError(f"{name}: update_index={update_index} is out of range for a cache of {length}.")
    if batch_offset < 0 or batch_offset + users > rows:
        raise ParameterError(
            f"{name}: batch_offset={batch_offset} with {users} users exceeds the {rows} rows of the input."
        )
    *_, height, width = tile_grid(cache)
    in_height = tile_grid(source)[-2]
    row, into = update_index // TILE_SIZE, update_index % TILE_SIZE
    tiles = []
    for user in range(users):
        of = batch_offset + user
        for head in range(heads):
            first = ((user * heads + head) * height + row) * width
            start = (head * in_height + of // TILE_SIZE) * width
            tiles += [(first + i, [(start + i, of % TILE_SIZE, into)]) for i in range(width)]
    assert source.buffer is not None
    assert cache.buffer is not None
    engine_steps.replace_tile_rows(
        source.buffer,
        cache.buffer,
        tiles,
        formats=(FORMAT_CODE[source.spec.dtype], FORMAT_CODE[cache.spec.dtype]),
        dst32=config is not None and config.fp32_dest_acc_en,
    )
    return cache


def _fill_of(name: str, cache: Tensor, input: Tensor, batch_index: int, update_idx: int) -> Tensor:
    return _fill(name, cache, input, batch_index, update_idx)


def _update_of(
    name: str,
    cache: Tensor,
    input: Tensor,
    update_index: int,
    batch_offset: int,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    return _update(name, cache, input, update_index, batch_offset, compute_kernel_config)


_ERRORS: Final = (
    ("DTypeError", "a data type is not supported, or the input's is not that of the cache."),
    ("LayoutError", "a tensor is row-major."),
    ("ShapeError", "the input does not fit the cache."),
    ("ParameterError", "an index is out of range."),
)
_CACHE_DOC: Final = "[B, H, S, D] on a device: the cache."
_COMPUTE: Final = Param(
    "compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Dst width, which counts for float32. Default: 16 bits."
)


def _examples(rows: int, shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or layout is not Layout.TILE or 0 in shape or shape[2] < rows:
        return ()
    return ((Operand((1, shape[1], max(rows, shape[0]), shape[3])), 0),)


def _fill_entry(name: str, cache: str, source: str, index: str) -> Op:
    return Op(
        name=name,
        signatures=(
            Signature(
                (
                    Param(cache, TENSOR, doc=_CACHE_DOC, example=Operand((2, 1, 64, 128))),
                    Param(source, TENSOR, doc="[1, H, s, D]: what is written."),
                    Param(index, INTEGER, doc="The user, an index of B.", example=1),
                ),
                (Param("update_idx", INTEGER, 0, doc="First row that is written.", example=32),),
            ),
        ),
        run=partial(_fill_of, f"ttnn.{name}"),
        doc="Write a user's prompt's keys or values into the cache; return it.\n"
        "Shape: [B, H, S, D], [1, H, s, D] -> [B, H, S, D].",
        source="tt-metal `ttnn/cpp/ttnn/operations/kv_cache`",
        dtypes=_DTYPES,
        layouts=(Layout.TILE,),
        golden=golden.fill_cache,
        accuracy=bit_exact(),
        engine=("write_window",),
        scalars=True,
        numerics="movement",
        raises=_ERRORS,
        examples=partial(_examples, 32),
    )


def _update_entry(name: str, index: str, *, by_position: bool) -> Op:
    offset = Param("batch_offset", INTEGER, 0, doc="Row of the input for the first user.")
    cache = Param("cache", TENSOR, doc=_CACHE_DOC, example=Operand((2, 1, 64, 128)))
    source = Param("input", TENSOR, doc="[1, H, rows, D]: a row for every user.")
    place = Param(index, INTEGER, doc="Row of the cache that is written.", example=3)
    return Op(
        name=name,
        signatures=(
            Signature((cache, source, place, offset, _COMPUTE))
            if by_position
            else Signature((cache, source, place), (offset, _COMPUTE)),
        ),
        run=partial(_update_of, f"ttnn.{name}"),
        doc="Write each user's token's keys or values into the cache.\n"
        "Shape: [B, H, S, D], [1, H, rows, D] -> [B, H, S, D].\n"
        "A tile of block floats whose row changes is packed again.",
        source="tt-metal `ttnn/cpp/ttnn/operations/kv_cache`",
        dtypes=_DTYPES,
        layouts=(Layout.TILE,),
        golden=golden.update_cache,
        accuracy=_CUT,
        engine=("replace_tile_rows",),
        scalars=True,
        numerics="movement",
        raises=_ERRORS,
        examples=partial(_examples, 1),
    )


fill_cache_for_user_ = register(_fill_entry("kv_cache.fill_cache_for_user_", "cache", "input", "batch_index"))
update_cache_for_token_ = register(_update_entry("kv_cache.update_cache_for_token_", "update_index", by_position=True))
fill_cache = register(_fill_entry("fill_cache", "cache_tensor", "input_tensor", "batch_idx"))
update_cache = register(_update_entry("update_cache", "update_idx", by_position=False))

"""Scaled dot product attention, one cached query per user.

The cache holds keys and values.

Source: tt-metal `ttnn/cpp/ttnn/operations/transformer/sdpa_decode`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import TILE_SIZE, BufferType, DataType, Layout
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ParameterError,
    ProgramConfigError,
    ShapeError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.program_config import SDPAProgramConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import transformer as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, INT_SEQUENCE, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.attention import (
    ACCURACY,
    COMPUTE,
    DTYPES,
    GEOMETRY,
    MEMORY,
    PROGRAM_CONFIG,
    SCALE,
    SINK,
    WINDOW,
    PageTable,
    cache_shape,
    caches_seen,
    chunk_tiles,
    head_size,
    integers,
    mask_shape,
    numerics,
    operand,
    place,
    sinks,
    tiles,
)
from ttnn.ops._programs.common import allocate, by_chips, on_device
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_LARGEST_CHUNK: Final = 16
"""Tiles of a chunk of keys, if the program chooses."""
_LARGEST_DYNAMIC_CHUNK: Final = 8
_MOST_ROUNDS: Final = 6
"""Times that pairs of cores are joined."""


@dataclass(frozen=True)
class _Call:
    """The options of a call."""

    causal: bool
    mask: Tensor | None
    cur_pos: Sequence[int]
    cur_pos_tensor: Tensor | None
    scale: float | None
    window: int | None
    memory_config: MemoryConfig | None
    program_config: SDPAProgramConfig | None
    compute_kernel_config: WormholeComputeKernelConfig | None
    share_cache: bool = False
    sink: Tensor | None = None


def _positions(name: str, call: _Call, batch: int, length: int) -> list[int]:
    """Return how many keys every batch sees; -1 leaves it out.

    Raises:
        ParameterError: positions are missing, do not match the users, or are past the cache.
    """
    if not call.causal:
        return [length] * batch
    given = list(call.cur_pos)
    if call.cur_pos_tensor is not None:
        given = integers(name, call.cur_pos_tensor, "cur_pos_tensor")
    if len(given) != batch:
        raise ParameterError(
            f"{name}: {len(given)} positions for {batch} users; pass cur_pos or cur_pos_tensor with one for each.",
            vendor=f"cur_pos must have batch size equal to Q, got {len(given)} and {batch}",
        )
    counts = [-1 if position in (-1, 2**32 - 1) else position + 1 for position in given]
    wrong = next((position for position, count in zip(given, counts, strict=True) if not -1 <= count <= length), None)
    if wrong is not None or 0 in counts:
        raise ParameterError(f"{name}: position {wrong} is not in a cache of {length} keys.")
    return counts


def _chunks(name: str, config: SDPAProgramConfig | None, counts: list[int], length: int, paged: bool) -> list[int]:
    """Return the tiles of a chunk of keys, for every batch."""
    if config is not None and config.k_chunk_size:
        return [chunk_tiles(name, config.k_chunk_size, "k_chunk_size")] * len(counts)
    if config is not None:
        smallest = (1 << (tiles(max(count, 1)) - 1).bit_length() for count in counts)
        return [min(_LARGEST_DYNAMIC_CHUNK, size) for size in smallest]
    if paged:
        return [1] * len(counts)
    rows = tiles(length)
    return [min(_LARGEST_CHUNK, rows & -rows)] * len(counts)


def _cores(name: str, query: Tensor, config: SDPAProgramConfig | None, batch: int, kv_heads: int, paged: bool) -> int:
    """Return the cores that share the keys of a head.

    Raises:
        ProgramConfigError: there are more than sums of pairs can join.
    """
    cores = _cores_of_head(query, config, batch, kv_heads, paged)
    if cores > 1 << _MOST_ROUNDS:
        raise ProgramConfigError(
            f"{name}: {cores} cores share a head of keys; pass program_config with max_cores_per_head_batch="
            f"{1 << _MOST_ROUNDS}.",
            vendor=f"Tree reduction max {_MOST_ROUNDS} rounds ({1 << _MOST_ROUNDS} cores/head), got {cores} cores/head",
        )
    return cores


def _cores_of_head(query: Tensor, config: SDPAProgramConfig | None, batch: int, kv_heads: int, paged: bool) -> int:
    if config is None and paged:
        return 1
    grid = on_device("", query).compute_with_storage_grid_size()
    count = grid.x * grid.y
    if config is None:
        return max(1, count // batch // kv_heads)
    if config.sub_core_grids is not None:
        count = config.sub_core_grids.num_cores()
    else:
        count = config.compute_with_storage_grid_size.x * config.compute_with_storage_grid_size.y
    return max(1, min(count // batch // kv_heads, config.max_cores_per_head_batch))


def _check_places(name: str, query: Tensor, key: Tensor, value: Tensor) -> None:
    """Refuse operands that are not where the program reads them.

    Raises:
        DTypeError: queries are of another data type.
        MemoryConfigError: keys or values, or interleaved queries, are not in DRAM.
        LayoutError: keys or values are row-major.
    """
    if query.spec.dtype not in DTYPES:
        raise DTypeError(
            f"{name}: input_tensor_q is {query.spec.dtype.name}; typecast it to bfloat16 or a block float first.",
            vendor=f"Unsupported data type {query.spec.dtype.cpp_name}.",
        )
    for number, tensor in enumerate((key, value), 1):
        on_device(name, tensor, f"input_tensor_{'qkv'[number]}")
        if tensor.spec.layout is not Layout.TILE:
            raise LayoutError(
                f"{name}: input_tensor_{'qkv'[number]} is row-major; convert it with ttnn.to_layout.",
                vendor="Inputs to SDPA must be tilized except for Q",
            )
        where = tensor.spec.memory_config.buffer_type
        if where is not BufferType.DRAM:
            raise MemoryConfigError(
                f"{name}: input_tensor_{'qkv'[number]} is in {where.name}, not in DRAM.",
                vendor=f"Input tensor {number} buffer type must be DRAM but got {where.cpp_name}",
            )
    place = query.spec.memory_config
    if place.is_sharded():
        return
    if place.buffer_type is not BufferType.DRAM:
        raise MemoryConfigError(
            f"{name}: input_tensor_q is interleaved in {place.buffer_type.name}, not in DRAM.",
            vendor=f"Q tensor buffer type must be DRAM when not sharded but got {place.buffer_type.cpp_name}",
        )


def _run(
    name: str,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    value_width: int,
    page_table: Tensor | None,
    call: _Call,
) -> Tensor:
    on_device(name, query, "input_tensor_q")
    in_rows = query.spec.layout is not Layout.TILE
    _check_places(name, query, key, value)
    if in_rows:
        query = tilize_padded(name, query)
    tensors = (("input_tensor_q", query), ("input_tensor_k", key), ("input_tensor_v", value))
    for label, tensor in tensors:
        operand(name, tensor, label, query, "Unsupported data type {}.")
    if page_table is not None and call.causal and call.cur_pos_tensor is None:
        raise ParameterError(
            f"{name}: cur_pos_tensor is missing; it has the position of every user.",
            vendor="Must have cur_pos tensor for paged attention in causal mode",
        )
    one, batch, heads, width = tuple(query.spec.shape)
    k, v = tuple(key.spec.shape), tuple(value.spec.shape)
    shared = call.share_cache or page_table is not None
    fits = one == 1 and k[3] == width and k[:3] == v[:3] and heads % k[1] == 0
    if not fits or (not shared and k[0] != batch) or k[2] % TILE_SIZE:
        raise ShapeError(
            f"{name}: queries {[one, batch, heads, width]}, keys {list(k)} and values {list(v)} do not fit; they are "
            "[1, B, H, D], [B, G, T, D] and [B, G, T, V], G divides H and T is a multiple of 32.",
            vendor="Q, K and V must agree in batch, heads and hidden dimensions",
        )
    cores = _cores(name, query, call.program_config, batch, k[1], page_table is not None)
    for label, tensor in tensors:
        head_size(name, tensor.spec.shape[-1], label)
    if call.window is not None and call.window <= 0:
        raise ParameterError(f"{name}: sliding_window_size is {call.window}; it must be positive.")
    mask = call.mask
    if mask is not None:
        operand(name, mask, "attn_mask", query)
    target = place(call.memory_config)
    kept = DRAM_MEMORY_CONFIG if in_rows else target
    spec = TensorSpec.of((1, batch, heads, value_width), query.spec.dtype, Layout.TILE, kept)
    output = allocate(spec, on_device(name, query))
    decisive = (page_table, call.cur_pos_tensor if call.causal else None, call.sink)
    for of_chip in by_chips((query, key, value, output, mask, *decisive), decisive):
        *parts, mask, table, positions, sink = of_chip
        own = replace(call, mask=mask, cur_pos_tensor=positions, sink=sink)
        _launch(name, parts, table, own, cores)  # type: ignore[arg-type]
    return untilized(name, output, target) if in_rows else output


def _launch(name: str, tensors: Sequence[Tensor], page_table: Tensor | None, call: _Call, cores: int) -> None:
    """Run the program, on one chip or on all.

    The tensors are queries, keys, values and their result.

    Raises:
        ParameterError: wrong positions.
    """
    query, key, value, output = tensors
    _, batch, heads, width = tuple(query.spec.shape)
    k, mask = tuple(key.spec.shape), call.mask
    table = None if page_table is None else PageTable.of(name, page_table, batch)
    length = k[2] if table is None else k[2] * table.per_batch
    counts = _positions(name, call, batch, length)
    buffers = [tensor.buffer for tensor in (query, key, value)]
    assert output.buffer is not None
    assert all(buffer is not None for buffer in buffers)
    config, program_config = call.compute_kernel_config, call.program_config
    settings = numerics(
        name,
        (query, key, value, output),
        call.scale,
        config,
        program_config,
        half_tiles=call.causal and heads <= TILE_SIZE // 2 and query.spec.dtype is DataType.BFLOAT16,
    )
    engine_steps.attention_decode(
        tuple(buffers),  # type: ignore[arg-type]
        None if mask is None else mask.buffer,
        output.buffer,
        sizes=(batch, heads, k[1], tiles(width), tiles(output.spec.shape[-1])),
        positions=counts,
        causal=call.causal,
        window=call.window,
        chunks=_chunks(name, call.program_config, counts, length, page_table is not None),
        cores=cores,
        # The rows of a mask are heads.
        mask_shape=mask_shape(name, mask, (batch, 1), (heads, length)),
        keys=cache_shape(key),
        values=cache_shape(value),
        table=None if table is None else (list(table.blocks), table.per_batch),
        sinks=sinks(name, call.sink, query, (heads, TILE_SIZE)),
        **settings,
    )


def _width(name: str, key: Tensor, value: Tensor | None, columns: int) -> int:
    """Return the columns of values.

    Raises:
        ParameterError: there are not so many, or they are not full tiles.
    """
    most = (key if value is None else value).spec.shape[-1]
    if columns <= 0 or columns % TILE_SIZE or columns > most:
        raise ParameterError(f"{name}: head_dim_v is {columns}; it must be a multiple of {TILE_SIZE} up to {most}.")
    return columns


def _decode(query: Tensor, key: Tensor, value: Tensor, *rest: Any) -> Tensor:
    causal, mask, cur_pos, cur_pos_tensor, sink, scale, window, memory, program, compute, share = rest
    name = "ttnn.transformer.scaled_dot_product_attention_decode"
    call = _Call(causal, mask, cur_pos, cur_pos_tensor, scale, window, memory, program, compute, bool(share), sink)
    return _run(name, query, key, value, value.spec.shape[-1], None, call)


def _paged_decode(query: Tensor, key: Tensor, value: Tensor, page_table: Tensor, *rest: Any) -> Tensor:
    causal, mask, cur_pos_tensor, sink, scale, window, memory, program, compute, geometry = rest[:10]
    name = "ttnn.transformer.paged_scaled_dot_product_attention_decode"
    key, value = caches_seen(name, geometry, query, key, value)
    call = _Call(causal, mask, (), cur_pos_tensor, scale, window, memory, program, compute, sink=sink)
    return _run(name, query, key, value, value.spec.shape[-1], page_table, call)


def _mla_decode(query: Tensor, key: Tensor, value: Tensor | None, head_dim_v: int, *rest: Any) -> Tensor:
    causal, mask, cur_pos, cur_pos_tensor, sink, scale, window, memory, program, compute = rest
    name = "ttnn.transformer.flash_multi_latent_attention_decode"
    call = _Call(causal, mask, cur_pos, cur_pos_tensor, scale, window, memory, program, compute, sink=sink)
    width = _width(name, key, value, head_dim_v)
    return _run(name, query, key, value or key, width, None, call)


def _paged_mla_decode(
    query: Tensor, key: Tensor, value: Tensor | None, head_dim_v: int, page_table: Tensor, *rest: Any
) -> Tensor:
    causal, mask, cur_pos_tensor, sink, scale, window, memory, program, compute, geometry = rest[:10]
    name = "ttnn.transformer.paged_flash_multi_latent_attention_decode"
    if geometry is not None:
        raise ParameterError(
            f"{name}: latent attention has no paged_cache_geometry.",
            vendor="PagedCacheGeometryOverride is not supported with multi-latent attention",
        )
    call = _Call(causal, mask, (), cur_pos_tensor, scale, window, memory, program, compute, sink=sink)
    width = _width(name, key, value, head_dim_v)
    return _run(name, query, key, value or key, width, page_table, call)


_QUERY: Final = Param(
    "input_tensor_q",
    TENSOR,
    doc="[1, B, H, D] on a device: the query of every user, in tiles or row-major.",
    example=Operand((1, 1, 8, 64)),
)
_KEY: Final = Param("input_tensor_k", TENSOR, doc="[B, G, T, D]: keys; G divides H.", example=Operand((1, 1, 64, 64)))
_VALUE: Final = Param("input_tensor_v", TENSOR, doc="[B, G, T, V]: values.", example=Operand((1, 1, 64, 64), 2))
_NO_VALUE: Final = Param(
    "input_tensor_v", TENSOR, None, doc="[B, G, T, V]: values. Default: the first columns of the keys."
)
_CAUSAL: Final = Param("is_causal", BOOLEAN, True, doc="Keys behind the position do not count.")
_MASK: Final = Param("attn_mask", TENSOR, None, doc="[B or 1, 1, H, T]: added to `q @ k.T`, before `scale`.")
_POSITIONS: Final = Param(
    "cur_pos", INT_SEQUENCE, [], doc="Position of every user; -1 leaves a user out.", example=[40]
)
_PLACE: Final = Operand((1,), dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, between=(30, 30))
_POSITION_TENSOR: Final = Param(
    "cur_pos_tensor", TENSOR, None, doc="[B] of int32: `cur_pos` on the device.", example=_PLACE
)
_TABLE: Final = Param(
    "page_table_tensor",
    TENSOR,
    doc="[B, n] of int32: the blocks of every sequence, in order.",
    example=Operand((1, 2), dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, between=(0, 0)),
)
_HEAD_DIM_V: Final = Param("head_dim_v", INTEGER, doc="Columns of values.", example=32)
_SINK: Final = replace(SINK, doc="[H, 32]: in column 0, for each head a score without a value.")
_OPTIONS: Final = (_SINK, SCALE, WINDOW, MEMORY, PROGRAM_CONFIG, COMPUTE)
_PAGED_OPTIONS: Final = (
    _CAUSAL,
    _MASK,
    _POSITION_TENSOR,
    *_OPTIONS,
    GEOMETRY,
    Param("cache_position_modulo", INTEGER, None, modelled=False),
    Param("spec_multi_pos_tiles", INTEGER, 0, modelled=False),
)
_DOC: Final = "Keys are split over cores, whose number decides in which order their sums are merged."
_PAGED_DOC: Final = (
    "Without `program_config` one core reads 32 keys at a time, and its bfloat16 sums lose small terms where there are "
    "thousands; with `k_chunk_size` keys are split over cores, whose number decides in which order sums are merged."
)
_SHAPE: Final = "Shape: [1, B, H, D], [B, G, T, D], [B, G, T, V] -> [1, B, H, V]."
_PAGED_SHAPE: Final = "Shape: [1, B, H, D], [blocks, G, rows, D], [blocks, G, rows, V], [B, n] -> [1, B, H, V]."

declare = partial(
    Op,
    dtypes=DTYPES,
    layouts=(Layout.TILE,),
    engine=("attention_decode",),
    source="tt-metal `ttnn/cpp/ttnn/operations/transformer/sdpa_decode`",
    accuracy=ACCURACY,
    raises=(
        ("ShapeError", "shapes do not fit, or heads are not made of full tiles."),
        ("DTypeError", "a tensor is neither bfloat16 nor a block float."),
        ("LayoutError", "keys or values are row-major."),
        ("ParameterError", "positions are missing or behind the cache."),
        ("ProgramConfigError", "more than 64 cores share a head of keys, as on a Blackhole by default."),
    ),
)


def _examples(
    shape: tuple[int, ...], layout: Layout, *, latent: bool = False, paged: bool = False
) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or layout is not Layout.TILE or 0 in shape or shape[-1] % TILE_SIZE or shape[0] != 1:
        return ()
    users = shape[1]
    cache = (users, 1, 64, shape[3])
    options: dict[str, Any] = {"cur_pos": [40] * users}
    if paged:
        table = Operand((users, 1), dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, between=(0, users - 1))
        places = Operand((users,), dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, between=(40, 40))
        options = {"page_table_tensor": table, "cur_pos_tensor": places}
    if latent:
        return ((Operand(cache, 1), options | {"head_dim_v": TILE_SIZE}),)
    values = (Operand(cache, 2), options.pop("page_table_tensor")) if paged else (Operand(cache, 2),)
    return ((Operand(cache, 1), *values, options),)


scaled_dot_product_attention_decode = register(
    declare(
        name="transformer.scaled_dot_product_attention_decode",
        signatures=(
            Signature(
                (_QUERY, _KEY, _VALUE),
                (
                    _CAUSAL,
                    _MASK,
                    _POSITIONS,
                    _POSITION_TENSOR,
                    *_OPTIONS,
                    Param("share_cache", BOOLEAN, None, doc="Keys and values have one batch, which serves all users."),
                ),
            ),
        ),
        run=_decode,
        doc=f"Return attention of one query per user over earlier keys.\n{_SHAPE}\n{_DOC}",
        golden=golden.scaled_dot_product_attention_decode,
        timed_by=("cur_pos_tensor",),
        arguments=("cur_pos",),
        examples=_examples,
    )
)

paged_scaled_dot_product_attention_decode = register(
    declare(
        name="transformer.paged_scaled_dot_product_attention_decode",
        signatures=(Signature((_QUERY, _KEY, _VALUE, _TABLE), _PAGED_OPTIONS),),
        run=_paged_decode,
        doc=f"Return attention of one query per user over blocked keys, values.\n{_PAGED_SHAPE}\n{_PAGED_DOC}",
        golden=golden.paged_scaled_dot_product_attention_decode,
        timed_by=("cur_pos_tensor",),
        examples=partial(_examples, paged=True),
    )
)

flash_multi_latent_attention_decode = register(
    declare(
        name="transformer.flash_multi_latent_attention_decode",
        signatures=(
            Signature(
                (_QUERY, _KEY, _NO_VALUE, _HEAD_DIM_V), (_CAUSAL, _MASK, _POSITIONS, _POSITION_TENSOR, *_OPTIONS)
            ),
        ),
        run=_mla_decode,
        doc="Return decode attention whose values are the first columns of the keys.\n"
        f"Shape: [1, B, H, D], [B, G, T, D] -> [1, B, H, head_dim_v].\n{_DOC}",
        golden=golden.flash_multi_latent_attention_decode,
        timed_by=("cur_pos_tensor",),
        arguments=("cur_pos",),
        examples=partial(_examples, latent=True),
    )
)

paged_flash_multi_latent_attention_decode = register(
    declare(
        name="transformer.paged_flash_multi_latent_attention_decode",
        signatures=(Signature((_QUERY, _KEY, _NO_VALUE, _HEAD_DIM_V, _TABLE), _PAGED_OPTIONS),),
        run=_paged_mla_decode,
        doc="Return decode attention over a paged cache whose values are key columns.\n"
        f"Shape: [1, B, H, D], [blocks, G, rows, D], [B, n] -> [1, B, H, head_dim_v].\n{_PAGED_DOC}",
        golden=golden.paged_flash_multi_latent_attention_decode,
        timed_by=("cur_pos_tensor",),
        examples=partial(_examples, latent=True, paged=True),
    )
)

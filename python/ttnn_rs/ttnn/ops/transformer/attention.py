"""Scaled dot product attention of many queries.

Source: tt-metal `ttnn/cpp/ttnn/operations/transformer/sdpa`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.config import CONFIG
from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import MemoryConfigError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.program_config import PagedCacheGeometryOverride, SDPAProgramConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import transformer as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.attention import (
    ACCURACY,
    COMPUTE,
    DTYPES,
    GEOMETRY,
    MEMORY,
    PROGRAM_CONFIG,
    SCALE,
    SINK,
    SOURCE,
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
    typed,
)
from ttnn.ops._programs.common import allocate, by_chips, no_such_dimension, on_device
from ttnn.ops._programs.pipeline import rounded
from ttnn.ops.data_movement.concat import each_repeated
from ttnn.ops.eltwise.binary import multiply
from ttnn.ops.transformer.head_programs import heads_joined
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor


def _check(name: str, query: Tensor, key: Tensor, value: Tensor, *, paged: bool, latent: bool = False) -> None:
    """Refuse operands that do not fit each other.

    Latent values may have fewer columns.

    Raises:
        TtnnError: layouts, data types, memory configs or shapes do not fit.
    """
    operands = (("input_tensor_q", query), ("input_tensor_k", key), ("input_tensor_v", value))
    for label, tensor in operands:
        typed(name, tensor, label, query)
        if tensor.spec.memory_config.is_sharded():
            raise MemoryConfigError(
                f"{name}: {label} is {tensor.spec.memory_config.memory_layout.name}; move it to an interleaved config.",
                vendor="Operands to SDPA need to be DRAM/L1 interleaved",
            )
    q, k, v = (tuple(tensor.spec.shape) for tensor in (query, key, value))
    for (label, _), shape in zip(operands, (q, k, v), strict=True):
        if len(shape) < 3:
            raise ShapeError(
                f"{name}: {label} has shape {list(shape)}; it must be of rank 4.",
                vendor=no_such_dimension(2, len(shape)),
            )
    batch = k[0] if paged else q[0]
    agreeing = (
        ("batch", k[0] == batch == v[0], k[0], v[0]),
        ("num_heads", k[1] == v[1], k[1], v[1]),
        ("sequence length", k[2] == v[2], k[2], v[2]),
        ("hidden dim", k[3:4] == q[3:4] and (latent or k[3:4] == v[3:4]), k[-1], v[-1]),
    )
    for what, agree, of_k, of_v in agreeing:
        if not agree:
            raise ShapeError(
                f"{name}: queries {list(q)}, keys {list(k)} and values {list(v)} do not fit: the {what} must agree.",
                vendor=f"K and V {what} must match. Got K: {of_k}, V: {of_v}",
            )
    for label, tensor in operands:
        operand(name, tensor, label, query)
        head_size(name, tensor.spec.shape[-1], label)
    if q[1] % k[1]:
        raise ShapeError(
            f"{name}: queries have {q[1]} heads; this must be a multiple of the {k[1]} heads of keys.",
            vendor=f"Q num_heads must be >= K num_heads and must be divisible by K num_heads. Got Q: {q[1]}, K: {k[1]}",
        )


def _run(
    name: str,
    tensors: tuple[Tensor, Tensor, Tensor],
    *,
    value_width: int,
    causal: bool,
    scale: float | None,
    memory_config: MemoryConfig | None,
    program_config: SDPAProgramConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    mask: Tensor | None = None,
    window: int | None = None,
    table: PageTable | None = None,
    start: int = 0,
    sink: Tensor | None = None,
) -> Tensor:
    """Run the program; `start` is the position of the first query."""
    query, key, value = tensors
    batch, heads, rows, width = tuple(query.spec.shape)
    if window is not None and window <= 0:
        raise ParameterError(f"{name}: sliding_window_size is {window}; it must be positive.")
    q_chunk = k_chunk = 1
    if program_config is not None:
        q_chunk = chunk_tiles(name, program_config.q_chunk_size, "q_chunk_size")
        k_chunk = chunk_tiles(name, program_config.k_chunk_size, "k_chunk_size")
    positions = key.spec.shape[2] if table is None else start + rows
    if mask is not None:
        operand(name, mask, "attn_mask", query)
    shape = (batch, heads, rows, value_width)
    spec = TensorSpec.of(shape, query.spec.dtype, Layout.TILE, place(memory_config))
    output = allocate(spec, on_device(name, query))
    masks = mask_shape(name, mask, (batch, heads), (rows, positions))
    settings = numerics(name, (*tensors, output), scale, compute_kernel_config, program_config, prefill=True)
    for of_chip in by_chips((*tensors, output, mask, sink), (sink,)):
        *operands, mask_of_chip, sink_of_chip = of_chip
        buffers = [None if each is None else each.buffer for each in operands]
        assert all(buffer is not None for buffer in buffers)
        engine_steps.attention_prefill(
            tuple(buffers[:3]),  # type: ignore[arg-type]
            None if mask_of_chip is None else mask_of_chip.buffer,
            buffers[3],  # type: ignore[arg-type]
            sizes=(batch, heads, key.spec.shape[1], tiles(width), tiles(value_width)),
            rows=tiles(rows),
            positions=positions,
            first_row=start // TILE_SIZE,
            chunks=(q_chunk, k_chunk),
            causal=causal,
            window=window,
            mask_shape=masks,
            keys=cache_shape(key),
            values=cache_shape(value),
            table=None if table is None else (list(table.blocks), table.per_batch),
            sinks=sinks(name, sink_of_chip, query, (1, heads, 1, 1)),
            fast=CONFIG.numerics == "fast",
            **settings,
        )
    return output


def _causal_lengths(name: str, query: Tensor, key: Tensor, mask: Tensor | None, causal: bool) -> None:
    if causal and mask is not None:
        raise ParameterError(
            f"{name}: attn_mask and is_causal=True exclude each other; pass is_causal=False with a mask.",
            vendor="Causal SDPA does not accept an attention mask",
        )
    q, k = query.spec.shape[2], key.spec.shape[2]
    if causal and q != k:
        raise ShapeError(
            f"{name}: {q} queries and {k} keys; causal attention needs as many of both.",
            vendor=f"Causal SDPA requires Q and K to have the same sequence length. Got Q: {q}, K: {k}",
        )


_SDPA: Final = "ttnn.transformer.scaled_dot_product_attention"


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    scale: float | None,
    window: int | None,
    memory_config: MemoryConfig | None,
    program_config: SDPAProgramConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    sink: Tensor | None,
    _window_seqlens: None,
    _window_offset: int,
    _window_offsets: None,
    concat_heads: bool,
    *_: object,
) -> Tensor:
    _check(_SDPA, query, key, value, paged=False)
    _causal_lengths(_SDPA, query, key, mask, causal)
    if window is not None and not causal:
        raise UnsupportedError(
            f"{_SDPA}: sliding_window_size without is_causal=True: which keys behind a query count is not published."
        )
    factor = query.spec.shape[3] ** -0.5 if scale is None else scale
    if mask is not None and factor:
        # The kernel scales the sum of scores and mask: a program of its own divides the mask by the scale first.
        operand(_SDPA, mask, "attn_mask", query)
        mask = multiply(mask, rounded(1.0 / rounded(factor)))
    result = _run(
        _SDPA,
        (query, key, value),
        value_width=value.spec.shape[3],
        causal=causal,
        scale=scale,
        memory_config=None if concat_heads else memory_config,
        program_config=program_config,
        compute_kernel_config=compute_kernel_config,
        mask=mask,
        window=window,
        sink=sink,
    )
    if not concat_heads:
        return result
    return heads_joined(_SDPA, result, memory_config or DRAM_MEMORY_CONFIG, (result.spec.shape[0], 1))


def _chunk_start(name: str, start: int | None, program_config: SDPAProgramConfig | None) -> int:
    """Return the position of the first query.

    Raises:
        ParameterError: it is missing, negative, or not at the start of a chunk.
    """
    if start is None:
        raise ParameterError(
            f"{name}: chunk_start_idx is missing; it is the position of the first query.",
            vendor="chunk_start_idx (int) is required for legacy chunked SDPA. For flexible path use "
            "chunk_start_idx_tensor=...",
        )
    if start < 0:
        raise ParameterError(
            f"{name}: chunk_start_idx is {start}; it must not be negative.",
            vendor=f"chunk_start_idx must be non-negative. Got chunk_start_idx: {start}",
        )
    size = TILE_SIZE if program_config is None else program_config.q_chunk_size
    if start % size:
        raise ParameterError(
            f"{name}: chunk_start_idx is {start}; it must be a multiple of q_chunk_size, {size}.",
            vendor=f"chunk_start_idx must be a multiple of q_chunk_size. Got chunk_start_idx: {start}, "
            f"q_chunk_size: {size}",
        )
    return start


def _paged(
    name: str,
    tensors: tuple[Tensor, Tensor, Tensor],
    page_table: Tensor,
    start: int | None,
    value_width: int,
    scale: float | None,
    options: tuple[MemoryConfig | None, SDPAProgramConfig | None, WormholeComputeKernelConfig | None],
    window: int | None = None,
    sink: Tensor | None = None,
) -> Tensor:
    query, key, value = tensors
    memory_config, program_config, compute_kernel_config = options
    first = _chunk_start(name, start, program_config)
    _check(name, query, key, value, paged=True)
    table = PageTable.of(name, page_table, query.spec.shape[0])
    length = table.per_batch * key.spec.shape[2]
    if first + query.spec.shape[2] > length:
        raise ShapeError(
            f"{name}: queries at {first} to {first + query.spec.shape[2]}, but the page table holds {length} keys.",
            vendor="K sequence length must be greater than or equal to chunk_start_idx + Q sequence length",
        )
    if key.spec.shape[2] % TILE_SIZE:
        raise ShapeError(f"{name}: blocks of {key.spec.shape[2]} rows; they must be made of full tiles.")
    return _run(
        name,
        tensors,
        value_width=value_width,
        causal=True,
        scale=scale,
        memory_config=memory_config,
        program_config=program_config,
        compute_kernel_config=compute_kernel_config,
        window=window,
        table=table,
        start=first,
        sink=sink,
    )


def _chunked(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    page_table: Tensor,
    start: int | None,
    start_tensor: Tensor | None,
    scale: float | None,
    memory_config: MemoryConfig | None,
    program_config: SDPAProgramConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    geometry: PagedCacheGeometryOverride | None,
    window: int | None,
    sink: Tensor | None,
) -> Tensor:
    name = "ttnn.transformer.chunked_scaled_dot_product_attention"
    if start is None and start_tensor is not None:
        start = next(iter(integers(name, start_tensor, "chunk_start_idx_tensor")), None)
    options = (memory_config, program_config, compute_kernel_config)
    key, value = caches_seen(name, geometry, query, key, value)
    tensors = (query, key, value)
    return _paged(name, tensors, page_table, start, value.spec.shape[-1], scale, options, window, sink)


def _value_width(name: str, key: Tensor, columns: int) -> int:
    """Return the columns of the keys that are values.

    Raises:
        ParameterError: there are not so many, or they are not full tiles.
    """
    if columns <= 0 or columns % TILE_SIZE or columns > key.spec.shape[-1]:
        raise ParameterError(
            f"{name}: head_dim_v is {columns}; it must be a multiple of {TILE_SIZE} up to {key.spec.shape[-1]}, the "
            "width of the keys.",
            vendor=f"Head dimension of V must be less than or equal to head dim of Q. Got V: {columns}, "
            f"Q: {key.spec.shape[-1]}",
        )
    return columns


def _mla(
    query: Tensor,
    key: Tensor,
    head_dim_v: int,
    mask: Tensor | None,
    causal: bool,
    scale: float | None,
    memory_config: MemoryConfig | None,
    program_config: SDPAProgramConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = "ttnn.transformer.flash_mla_prefill"
    _check(name, query, key, key, paged=False)
    _causal_lengths(name, query, key, mask, causal)
    return _run(
        name,
        (query, key, key),
        value_width=_value_width(name, key, head_dim_v),
        causal=causal,
        scale=scale,
        memory_config=memory_config,
        program_config=program_config,
        compute_kernel_config=compute_kernel_config,
        mask=mask,
    )


def _mla_of_values(query: Tensor, key: Tensor, value: Tensor, *rest: Any) -> Tensor:
    mask, causal, scale, memory_config, program_config, compute_kernel_config = rest
    name = "ttnn.transformer.flash_mla_prefill"
    # Ranks are checked below; the padding only keeps this line from failing first.
    heads, of_values = ((1, 1, 1, *tensor.spec.shape)[-3] for tensor in (key, value))
    if 0 < heads < of_values and of_values % heads == 0:
        # Values may have more heads than keys, which they share then.
        key = each_repeated(name, key, of_values // heads, key.spec.shape.rank - 3, DRAM_MEMORY_CONFIG)
    _check(name, query, key, value, paged=False, latent=True)
    _causal_lengths(name, query, key, mask, causal)
    return _run(
        name,
        (query, key, value),
        value_width=value.spec.shape[-1],
        causal=causal,
        scale=scale,
        memory_config=memory_config,
        program_config=program_config,
        compute_kernel_config=compute_kernel_config,
        mask=mask,
    )


def _chunked_mla(
    query: Tensor,
    key: Tensor,
    head_dim_v: int,
    page_table: Tensor,
    start: int,
    scale: float | None,
    *options: Any,
) -> Tensor:
    name = "ttnn.transformer.chunked_flash_mla_prefill"
    width = _value_width(name, key, head_dim_v)
    memory_config, program_config, compute_kernel_config = options
    return _paged(
        name,
        (query, key, key),
        page_table,
        start,
        width,
        scale,
        (memory_config, program_config, compute_kernel_config),
    )


_QUERY_SHAPE: Final = (1, 2, 64, 64)
_QUERY: Final = Param("input_tensor_q", TENSOR, doc="[B, H, S, D] on a device: queries.", example=Operand(_QUERY_SHAPE))
_KEY: Final = Param("input_tensor_k", TENSOR, doc="[B, G, T, D]: keys; G divides H.", example=Operand((1, 1, 64, 64)))
_VALUE: Final = Param("input_tensor_v", TENSOR, doc="[B, G, T, V]: values.", example=Operand((1, 1, 64, 64), 2))
_CACHE_KEY: Final = Param(
    "input_tensor_k", TENSOR, doc="[blocks, G, rows, D]: blocks of keys.", example=Operand((4, 1, 32, 64))
)
_CACHE_VALUE: Final = Param(
    "input_tensor_v", TENSOR, doc="[blocks, G, rows, V]: blocks of values.", example=Operand((4, 1, 32, 64), 2)
)
_TABLE: Final = Param(
    "page_table_tensor",
    TENSOR,
    doc="[B, n] of int32: the blocks of every sequence, in order.",
    example=Operand((1, 4), dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, between=(0, 3)),
)
_MASK: Final = Param(
    "attn_mask",
    TENSOR,
    None,
    doc="[B or 1, H or 1, S, T]: added to `q @ k.T`, before `scale`.",
    example=Operand((1, 1, 64, 64), 3),
)
_CAUSAL: Final = Param("is_causal", BOOLEAN, True, doc="Queries see no later key.")
_HEAD_DIM_V: Final = Param("head_dim_v", INTEGER, doc="The first columns of keys that are values.", example=32)
_START: Final = Param("chunk_start_idx", INTEGER, None, doc="Position of the first query.", example=32)
_ERRORS: Final = (
    ("ShapeError", "shapes do not fit, or heads are not made of full tiles."),
    ("DTypeError", "a tensor is neither bfloat16 nor a block float."),
    ("LayoutError", "a tensor is row-major."),
    ("ParameterError", "a chunk is not made of full tiles, or options exclude each other."),
)
_OPTIONS: Final = (MEMORY, PROGRAM_CONFIG, COMPUTE)
_NOT_MODELLED: Final = tuple(
    Param(name, TENSOR, None, modelled=False)
    for name in ("cu_window_seqlens", "windowed_q_token_offset_tensor", "attn_mask_block_map")
)
_DOC: Final = (
    "The recurrence runs over chunks of keys. In a 16-bit Dst `exp_approx_mode=False` changes the exponentials of "
    "corrections between chunks only; in a 32-bit Dst also those of scores."
)


def _fits(shape: tuple[int, ...], layout: Layout) -> bool:
    return len(shape) == 4 and layout is Layout.TILE and 0 not in shape and shape[-1] % TILE_SIZE == 0


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if not _fits(shape, layout):
        return ()
    other = Operand(shape, 1), Operand(shape, 2)
    return (other, (*other, {"is_causal": False}))


def _paged_examples(between: tuple[Any, ...], shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if not _fits(shape, layout) or shape[2] % TILE_SIZE:
        return ()
    blocks = shape[2] // TILE_SIZE + 1
    cache = (blocks, shape[1], TILE_SIZE, shape[3])
    table = Operand((shape[0], blocks), dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, between=(0, blocks - 1))
    return ((Operand(cache, 1), *(between or (Operand(cache, 2),)), table, TILE_SIZE),)


declare = partial(Op, dtypes=DTYPES, layouts=(Layout.TILE,), engine=("attention_prefill",), raises=_ERRORS)

scaled_dot_product_attention = register(
    declare(
        name="transformer.scaled_dot_product_attention",
        signatures=(
            Signature(
                (_QUERY, _KEY, _VALUE),
                (
                    _MASK,
                    _CAUSAL,
                    SCALE,
                    WINDOW,
                    *_OPTIONS,
                    SINK,
                    _NOT_MODELLED[0],
                    Param("windowed_q_token_offset", INTEGER, 0, modelled=False),
                    _NOT_MODELLED[1],
                    Param("output_concat_heads", BOOLEAN, False, doc="Return [B, 1, S, H * V], heads side by side."),
                    _NOT_MODELLED[2],
                ),
            ),
        ),
        run=_attention,
        doc="Return `softmax(scale * q @ k.T + attn_mask) @ v`, head by head.\n"
        f"Shape: [B, H, S, D], [B, G, T, D], [B, G, T, V] -> [B, H, S, V].\n{_DOC}",
        source=SOURCE,
        golden=golden.scaled_dot_product_attention,
        accuracy=ACCURACY,
        examples=_examples,
    )
)

chunked_scaled_dot_product_attention = register(
    declare(
        name="transformer.chunked_scaled_dot_product_attention",
        signatures=(
            Signature(
                (_QUERY, _CACHE_KEY, _CACHE_VALUE, _TABLE, _START),
                (
                    Param("chunk_start_idx_tensor", TENSOR, None, doc="[1] of int32: `chunk_start_idx` on the device."),
                    SCALE,
                    *_OPTIONS,
                    GEOMETRY,
                    WINDOW,
                    SINK,
                ),
            ),
        ),
        run=_chunked,
        doc="Return causal attention from position `chunk_start_idx` over a paged cache.\n"
        "Shape: [B, H, S, D], [blocks, G, rows, D], [blocks, G, rows, V], [B, n] -> [B, H, S, V].\n"
        "The bits are those of `scaled_dot_product_attention` over the whole sequence.",
        source=SOURCE,
        golden=golden.chunked_scaled_dot_product_attention,
        arguments=("chunk_start_idx",),
        accuracy=ACCURACY,
        examples=partial(_paged_examples, ()),
    )
)

flash_mla_prefill = register(
    declare(
        name="transformer.flash_mla_prefill",
        signatures=(
            Signature((_QUERY, _KEY, _HEAD_DIM_V), (_MASK, _CAUSAL, SCALE, *_OPTIONS)),
            Signature((_QUERY, _KEY, _VALUE), (_MASK, _CAUSAL, SCALE, *_OPTIONS), run=_mla_of_values),
        ),
        run=_mla,
        doc="Return attention with values from the keys' first columns, or a tensor.\n"
        "Shape: [B, H, S, D], [B, G, T, D] -> [B, H, S, head_dim_v].",
        source=SOURCE,
        golden=golden.flash_mla_prefill,
        accuracy=ACCURACY,
        examples=lambda shape, layout: tuple((call[0], TILE_SIZE, *call[2:]) for call in _examples(shape, layout)),
    )
)

chunked_flash_mla_prefill = register(
    declare(
        name="transformer.chunked_flash_mla_prefill",
        signatures=(
            Signature(
                (
                    _QUERY,
                    _CACHE_KEY,
                    _HEAD_DIM_V,
                    _TABLE,
                    Param("chunk_start_idx", INTEGER, doc="Position of the first query.", example=32),
                ),
                (SCALE, *_OPTIONS),
            ),
        ),
        run=_chunked_mla,
        doc="Return causal attention from position `chunk_start_idx` over a paged latent cache.\n"
        "Values are the first columns of the keys.\n"
        "Shape: [B, H, S, D], [blocks, G, rows, D], [B, n] -> [B, H, S, head_dim_v].",
        source=SOURCE,
        golden=golden.chunked_flash_mla_prefill,
        accuracy=ACCURACY,
        examples=partial(_paged_examples, (TILE_SIZE,)),
    )
)

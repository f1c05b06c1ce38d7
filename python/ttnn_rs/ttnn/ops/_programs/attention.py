"""Shared code of scaled dot product attention programs: operands, caches, numerics.

Source: tt-metal `ttnn/cpp/ttnn/operations/transformer/sdpa` and `sdpa_decode`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.program_config import PagedCacheGeometryOverride, SDPAProgramConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.operation.accuracy import Accuracy
from ttnn.operation.signature import (
    COMPUTE_KERNEL_CONFIG,
    FLOAT,
    INTEGER,
    MEMORY_CONFIG,
    TENSOR,
    Param,
    instance_kind,
)
from ttnn.ops._programs.common import as_float, full_tiles, list_on_host, on_device, same_device
from ttnn.ops._programs.pipeline import rounded
from ttnn.tensor.tensor import Tensor

DTYPES: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.BFLOAT4_B)
INDEX_DTYPES: Final = (DataType.INT32, DataType.UINT32)


def tiles(extent: int) -> int:
    """Return the tiles of so many rows or columns."""
    return -(-extent // TILE_SIZE)


def operand(name: str, tensor: Tensor, label: str, first: Tensor | None = None, vendor: str = "") -> None:
    """Refuse queries, keys, values or a mask without a program.

    `vendor` is the official sentence for its type.

    Raises:
        ShapeError: the rank is not 4, or the tensor is empty.
        DTypeError: it is neither bfloat16 nor a block float.
        LayoutError: it is row-major.
    """
    typed(name, tensor, label, first, vendor)
    shape = tensor.spec.shape
    if shape.rank != 4 or 0 in tuple(shape):
        raise ShapeError(
            f"{name}: {label} has shape {shape}; it must be of rank 4 and not empty.",
            vendor="Operands to SDPA need to be of rank 4",
        )


def typed(name: str, tensor: Tensor, label: str, first: Tensor | None = None, vendor: str = "") -> None:
    """Refuse an operand of another layout, data type or device.

    Raises:
        DTypeError: it is neither bfloat16 nor a block float.
        LayoutError: it is row-major.
    """
    device = on_device(name, tensor, label)
    if first is not None:
        same_device(name, on_device(name, first), tensor, label)
    spec = tensor.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="Inputs to SDPA must be tilized",
        )
    if spec.dtype not in DTYPES:
        raise DTypeError(
            f"{name}: {label} is {spec.dtype.name}; typecast it to bfloat16, bfloat8_b or bfloat4_b first.",
            vendor=(vendor or "Data type of input tensor must be BFLOAT16, BFLOAT8_B, or BFLOAT4_B and is {}").format(
                spec.dtype.cpp_name
            ),
        )
    full_tiles(name, tensor, label)
    assert device is not None


def head_size(name: str, width: int, label: str) -> None:
    """Refuse heads that are not made of full tiles.

    Raises:
        ShapeError: the width is no multiple of 32.
    """
    if width % TILE_SIZE:
        raise ShapeError(
            f"{name}: heads of {label} have {width} columns; pad them to a multiple of {TILE_SIZE}.",
            vendor="Padding is not supported on the head_dim dimension",
        )


def chunk_tiles(name: str, size: int, label: str) -> int:
    """Return the tiles of a chunk.

    Raises:
        ParameterError: it is not made of full tiles.
    """
    if size <= 0 or size % TILE_SIZE:
        raise ParameterError(
            f"{name}: program_config.{label} is {size}; it must be a positive multiple of {TILE_SIZE}.",
            vendor=f"{label} must be divisible by TILE_SIZE. Got {label}: {size}, TILE_SIZE: {TILE_SIZE}",
        )
    return size // TILE_SIZE


def integers(name: str, tensor: Tensor, label: str) -> list[int]:
    """Return the elements of a small tensor of indices, in order.

    Raises:
        DTypeError: it is not int32 or uint32.
    """
    if tensor.spec.dtype not in INDEX_DTYPES:
        raise DTypeError(f"{name}: {label} is {tensor.spec.dtype.name}; it must be INT32 or UINT32.")

    return [int(value) for value in numbers_of(name, tensor, label)]


def numbers_of(name: str, tensor: Tensor, label: str) -> list[float]:
    """Return the elements of a small tensor, in order."""

    def flat(values: Any) -> list[float]:
        return [item for value in values for item in flat(value)] if isinstance(values, list) else [values]

    return flat(list_on_host(name, tensor, label))


@dataclass(frozen=True)
class PageTable:
    """Blocks of a cache, in the order of every sequence."""

    blocks: tuple[int, ...]
    per_batch: int

    @classmethod
    def of(cls, name: str, tensor: Tensor, batch: int) -> PageTable:
        """Return the table in a tensor of shape [batch, blocks].

        Raises:
            ShapeError: it has not a row for every batch.
        """
        shape = tuple(tensor.spec.shape)
        if len(shape) != 2 or shape[0] < batch or not shape[1]:
            raise ShapeError(
                f"{name}: page_table_tensor has shape {list(shape)}; it must be [{batch}, blocks].",
                vendor="page_table must have batch_size rows",
            )
        # The engine refuses blocks that are not there, if a sequence comes to them.
        return cls(tuple(block & 0xFFFFFFFF for block in integers(name, tensor, "page_table_tensor")), shape[1])


def caches_seen(
    name: str, geometry: PagedCacheGeometryOverride | None, query: Tensor, key: Tensor, value: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the paged keys and values in the shape of a call.

    Raises:
        ParameterError: a size is not positive.
        ShapeError: keys and values differ, or the blocks have another number of elements.
    """
    if geometry is None:
        return key, value
    for label, size in (("block_size", geometry.block_size), ("num_kv_heads", geometry.num_kv_heads)):
        if size <= 0:
            raise ParameterError(
                f"{name}: paged_cache_geometry.{label} is {size}; it must be positive.",
                vendor=f"PagedCacheGeometryOverride.{label} must be > 0",
            )
    width = query.spec.shape[-1]
    if geometry.block_size % TILE_SIZE or width % TILE_SIZE:
        raise ShapeError(
            f"{name}: blocks of {geometry.block_size} rows of {width}; both must be multiples of {TILE_SIZE}.",
            vendor=f"effective block_size ({geometry.block_size}) must be a multiple of TILE_HEIGHT ({TILE_SIZE})",
        )
    own, other = tuple(key.spec.shape), tuple(value.spec.shape)
    if own != other:
        raise ShapeError(
            f"{name}: keys {list(own)} and values {list(other)}; with paged_cache_geometry their shapes must be equal.",
            vendor="K and V cache must have same hidden size with geometry overrides. Got K: "
            f"{own[-1]}, V: {other[-1]}",
        )
    found = (geometry.num_kv_heads, geometry.block_size, width)
    elements, wanted = math.prod(own[1:]), math.prod(found)
    if elements != wanted:
        form = "(kv_heads={}, block_size={}, head_dim={}{})"
        paged = name.rpartition(".")[2]
        chunked = paged.startswith("chunked")
        label, source = ("chunked SDPA", " from Q") if chunked else (paged, " from Q.padded_shape[-1]")
        raise ShapeError(
            f"{name}: a block has {elements} elements {form.format(*own[1:], '')}, the call needs {wanted} "
            f"{form.format(*found, '')}.",
            vendor=f"{label} geometry mismatch: cache has {elements} elems/block {form.format(*own[1:], '')} but call "
            f"view is {wanted} {form.format(*found, source)}.",
        )
    seen, viewed = (
        one._view(TensorSpec.of((own[0], *found), one.spec.dtype, one.spec.layout, one.spec.memory_config))
        for one in (key, value)
    )
    return seen, viewed


def cache_shape(tensor: Tensor) -> tuple[int, int, int, int]:
    """Return batches or blocks, heads, and rows and columns in tiles."""
    count, heads, rows, columns = tuple(tensor.spec.shape)
    return count, heads, tiles(rows), tiles(columns)


def mask_shape(name: str, mask: Tensor | None, sizes: tuple[int, int], needed: tuple[int, int]) -> Any:
    """Return format and shape of a mask in the engine's form.

    Args:
        name: The operator.
        mask: The mask, [batch or 1, heads or 1, rows, columns].
        sizes: Batches and heads of the queries.
        needed: Rows and columns of scores, in elements.

    Raises:
        ShapeError: it does not fit.
    """
    if mask is None:
        return None
    shape = tuple(mask.spec.shape)
    fits = shape[0] in (1, sizes[0]) and shape[1] in (1, sizes[1])
    if not fits or shape[2] != needed[0] or shape[3] < needed[1]:
        raise ShapeError(
            f"{name}: attn_mask has shape {list(shape)}; it must be [{sizes[0]} or 1, {sizes[1]} or 1, {needed[0]}, "
            f"{needed[1]}].",
            vendor="Mask sequence length must match Q sequence length"
            if shape[2] != needed[0]
            else "Mask shape must match the scores",
        )
    return FORMAT_CODE[mask.spec.dtype], shape[0], shape[1], tiles(shape[2]), tiles(shape[3])


def numerics(
    name: str,
    tensors: Sequence[Tensor],
    scale: float | None,
    config: WormholeComputeKernelConfig | None,
    program_config: SDPAProgramConfig | None,
    *,
    prefill: bool = False,
    half_tiles: bool = False,
) -> dict[str, Any]:
    """Return what decides the bits of every step of an attention.

    Without a configuration: HiFi2, a 16-bit Dst, the approximate exponential and reciprocal.

    Args:
        name: The operator.
        tensors: Queries, keys, values and output.
        scale: What scores are multiplied by. Default: 1 / sqrt(head size).
        config: Fidelity, Dst width and the reciprocal.
        program_config: The exponential.
        prefill: Many queries and one sequence of keys: in a 16-bit Dst the kernel streams. Then `exp_approx_mode` is
            about corrections only, and the reciprocal is another one.
        half_tiles: Queries in tiles of 16 rows, whose kernel has the approximate exponential only.
    """
    width = tensors[0].spec.shape[-1]
    fidelity, dst32, reciprocal = MathFidelity.HiFi2, False, "approx"
    if config is not None:
        if config.math_fidelity is not MathFidelity.Invalid:
            fidelity = config.math_fidelity
        dst32 = config.fp32_dest_acc_en
        if not config.math_approx_mode:
            reciprocal = "streaming" if prefill and not dst32 else "column"
    streaming = prefill and not dst32
    approximate = program_config is None or program_config.exp_approx_mode is not False
    factor = 1.0 / math.sqrt(width) if scale is None else as_float(name, scale, "scale")
    return {
        "formats": tuple(FORMAT_CODE[tensor.spec.dtype] for tensor in tensors),
        "fidelity": FIDELITY_NUMBER[fidelity],
        "dst32": dst32,
        "scale": rounded(factor),
        "approximate": approximate or streaming or half_tiles,
        "polynomial": not approximate,
        "streaming": streaming,
        "reciprocal": [("recip", reciprocal)],
    }


def sinks(name: str, tensor: Tensor | None, query: Tensor, shape: tuple[int, ...]) -> list[float]:
    """Return the attention sink of every head; empty without a tensor.

    It is a score that belongs to no key.

    Args:
        name: The operator.
        tensor: The scores, in column 0.
        query: The queries.
        shape: What the tensor must have.

    Raises:
        ShapeError: it has another shape.
        DTypeError: it is neither bfloat16 nor a block float.
        LayoutError: it is row-major.
    """
    if tensor is None:
        return []
    same_device(name, on_device(name, query), tensor, "attention_sink")
    spec = tensor.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: attention_sink is row-major.", vendor="Attention sink must be tilized")
    if spec.dtype not in DTYPES:
        raise DTypeError(
            f"{name}: attention_sink is {spec.dtype.name}; typecast it to bfloat16.",
            vendor="Attention sink must be in BF16, BFP8, or BFP4 dataformat",
        )
    if tuple(spec.shape) != shape:
        raise ShapeError(
            f"{name}: attention_sink has shape {list(spec.shape)}; it must be {list(shape)}.",
            vendor="Attention sink num_heads must match Q num_heads",
        )
    columns = shape[-1]
    return numbers_of(name, tensor, "attention_sink")[::columns]


def place(memory_config: MemoryConfig | None) -> MemoryConfig:
    """Return the output's memory config."""
    return memory_config or DRAM_MEMORY_CONFIG


SCALE: Final = Param("scale", FLOAT, None, doc="Factor of scores. Default: 1 / sqrt(D).")
WINDOW: Final = Param(
    "sliding_window_size", INTEGER, None, doc="A query sees so many keys, the last of them at its own position."
)
MEMORY: Final = Param(
    "memory_config", MEMORY_CONFIG, None, doc="Memory configuration of the output. Default: interleaved in DRAM."
)
PROGRAM_CONFIG: Final = Param(
    "program_config",
    instance_kind("ttnn.SDPAProgramConfig", SDPAProgramConfig),
    None,
    doc="Chunk sizes, which decide how sums are grouped, and the grid. Default: chunks of 32.",
)
GEOMETRY: Final = Param(
    "paged_cache_geometry",
    instance_kind("ttnn.PagedCacheGeometryOverride", PagedCacheGeometryOverride),
    None,
    doc="Rows and heads of a block, if the caches were created in another shape of equal size.",
    example=PagedCacheGeometryOverride(32, 2),
)
COMPUTE: Final = Param(
    "compute_kernel_config",
    COMPUTE_KERNEL_CONFIG,
    None,
    doc="Math fidelity, Dst width and the approximate reciprocal of sums. Default: HiFi2, 16 bits, approximate.",
)
SINK: Final = Param(
    "attention_sink",
    TENSOR,
    None,
    doc="[1, H, 1, 1]: for each head a score without a value, which takes a part of the probability.",
)
SOURCE: Final = "tt-metal `ttnn/cpp/ttnn/operations/transformer/sdpa`"
ACCURACY: Final = Accuracy(
    {DataType.BFLOAT8_B: 16, DataType.BFLOAT4_B: 16}, reason="for the exponential of scores is 3 % off"
)

"""Keys and values written into paged or per-user cache rows.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/paged_cache`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ParameterError,
    ShapeError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.golden import kv_cache as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    INT_SEQUENCE,
    INTEGER,
    TENSOR,
    Kind,
    Param,
    Signature,
)
from ttnn.ops._programs.attention import integers
from ttnn.ops._programs.common import full_tiles, list_on_host, on_device, same_device
from ttnn.ops._programs.windows import copy_tiles, tile_grid
from ttnn.ops.data_movement.layout import tilize_padded
from ttnn.ops.data_movement.permute import moved_to
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_CACHES: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.BFLOAT4_B)
_FILLED: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)
_MESH: Final = Param(
    "mesh_coords",
    Kind("set[ttnn.MeshCoordinate]", lambda value: isinstance(value, set)),
    None,
    doc="Chips of a mesh; there is one here.",
)


def _cache(name: str, tensor: Tensor, label: str, dtypes: tuple[DataType, ...], *, pages: bool = True) -> None:
    spec = tensor.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).")
    if spec.dtype not in dtypes:
        raise DTypeError(f"{name}: {label} is {spec.dtype.name}; caches are {', '.join(d.name for d in dtypes)}.")
    # Without pages the last tiles of a user may have rows that no place names.
    partial = spec.shape.rank != 4 or spec.shape[3] % TILE_SIZE or (pages and spec.shape[2] % TILE_SIZE)
    if partial or 0 in tuple(spec.shape):
        raise ShapeError(f"{name}: {label} has shape {spec.shape}; it must be of rank 4 with full tiles.")
    if not spec.memory_config.interleaved:
        raise MemoryConfigError(
            f"{name}: {label} is sharded; move it to ttnn.DRAM_MEMORY_CONFIG.",
            vendor="Only interleaved cache is supported",
        )
    full_tiles(name, tensor, label)


def _places(name: str, update_idxs: Sequence[int], tensor: Tensor | None, users: int) -> list[int]:
    """Return the row each user writes; -1 if none."""
    if bool(update_idxs) == (tensor is not None):
        raise ParameterError(
            f"{name}: pass either update_idxs or update_idxs_tensor.",
            vendor="Only an update tensor or an update vector can be provided. Not both or neither.",
        )
    if tensor is None:
        found = [int(place) for place in update_idxs]
    else:
        if tensor.spec.dtype is not DataType.INT32 or tensor.spec.layout is not Layout.ROW_MAJOR:
            raise DTypeError(
                f"{name}: update_idxs_tensor is {tensor.spec.dtype.name} in {tensor.spec.layout.name}; it must be "
                "row-major INT32.",
                vendor="Expected update_idxs to have datatype INT32",
            )
        found = integers(name, tensor, "update_idxs_tensor")[:users]
    if len(found) != users:
        raise ShapeError(
            f"{name}: there are {len(found)} positions for {users} users.",
            vendor=f"Number of update_idxs ({len(found)}) should match batch size ({users})",
        )
    return found


def _table(name: str, table: Tensor, users: int) -> list[list[int]]:
    """Return the pages of every user."""
    if table.spec.dtype not in (DataType.INT32, DataType.UINT16) or table.spec.layout is not Layout.ROW_MAJOR:
        raise DTypeError(
            f"{name}: page_table is {table.spec.dtype.name} in {table.spec.layout.name}; it must be row-major INT32, "
            "or UINT16 in shards.",
            vendor="Expect page table to have datatype INT32",
        )
    shape = tuple(table.spec.shape)
    if len(shape) != 2 or shape[0] < users or not shape[1]:
        raise ShapeError(
            f"{name}: page_table has shape {list(shape)}; it must be [{users}, pages].",
            vendor="Batch size between page_table and input_tensor must match",
        )
    return [[int(page) for page in row] for row in list_on_host(name, table, "page_table")]


class _Pages(NamedTuple):
    """A cache as a call sees it.

    Attributes:
        pages: Number of pages.
        heads: Heads in a page.
        length: Rows of a head in a page.
        width: Elements of a row.
    """

    pages: int
    heads: int
    length: int
    width: int

    @property
    def tiles(self) -> tuple[int, int, int, int]:
        """Return the sizes in tiles."""
        return self.pages, self.heads, -(-self.length // TILE_SIZE), self.width // TILE_SIZE


def _seen(name: str, cache: Tensor, heads: int | None, length: int | None, width: int) -> _Pages:
    """Return a paged cache seen in another shape of equal size."""
    own = _Pages(*cache.spec.shape)
    found = _Pages(own.pages, own.heads if heads is None else heads, own.length if length is None else length, width)
    if found.length <= 0 or found.length % TILE_SIZE:
        raise ShapeError(
            f"{name}: block_size is {found.length}; it must be a multiple of {TILE_SIZE}.",
            vendor=f"effective block_size ({found.length}) must be a multiple of TILE_HEIGHT ({TILE_SIZE})",
        )
    elements, wanted = (page.heads * page.length * page.width for page in (own, found))
    if elements != wanted:
        texts = (f"(kv_heads={page.heads}, block_size={page.length}, head_dim={page.width})" for page in (own, found))
        official = "{}: cache has {} elems/block {} but {} view is {} {}."
        side = "input" if name.endswith("fill_cache") else "call"
        first, second = texts
        label = f"{name.rpartition('.')[2]} geometry mismatch"
        raise ShapeError(
            f"{name}: a page has {elements} elements {first}, the rows need {wanted} {second}.",
            vendor=official.format(label, elements, first, side, wanted, second),
        )
    return found


def _ring(name: str, modulo: int | None, length: int, pages_of_user: int) -> int | None:
    """Return the number of rows after which positions start again."""
    if modulo is None:
        return None
    if modulo <= 0 or modulo % length:
        raise ParameterError(
            f"{name}: cache_position_modulo is {modulo}; it must be a positive multiple of a page's {length} rows.",
            vendor=f"cache_position_modulo ({modulo}) must be a positive multiple of effective block_size ({length})",
        )
    if modulo > length * pages_of_user:
        raise ParameterError(
            f"{name}: cache_position_modulo is {modulo}; page_table has {length * pages_of_user} rows for a user.",
            vendor=f"cache_position_modulo ({modulo}) must fit in max_num_blocks_per_seq ({pages_of_user}) * "
            f"block_size ({length})",
        )
    return modulo


def _planned(
    name: str,
    cache: Tensor,
    source: Tensor,
    update_idxs: Sequence[int],
    update_idxs_tensor: Tensor | None,
    share_cache: bool,
    page_table: Tensor | None,
    batch_offset: int,
    block_size: int | None = None,
    num_kv_heads: int | None = None,
    cache_position_modulo: int | None = None,
) -> Callable[[], Tensor]:
    """Check a call, and return what writes the rows."""
    overrides = {
        "block_size_override": block_size,
        "num_kv_heads_override": num_kv_heads,
        "cache_position_modulo": cache_position_modulo,
    }
    for label, value in overrides.items():
        if value is not None and page_table is None:
            raise ParameterError(
                f"{name}: {label.removesuffix('_override')} is given without page_table.",
                vendor=f"{label} is only supported in paged mode (when page_table is provided)",
            )
    device = on_device(name, cache, "cache_tensor")
    for label, tensor in (
        ("input_tensor", source),
        ("update_idxs_tensor", update_idxs_tensor),
        ("page_table", page_table),
    ):
        if tensor is not None:
            same_device(name, device, tensor, label)
    _cache(name, cache, "cache_tensor", _CACHES, pages=page_table is not None)
    full_tiles(name, source)
    spec = source.spec
    if spec.dtype not in (DataType.BFLOAT16, DataType.FLOAT32):
        raise DTypeError(
            f"{name}: input_tensor is {spec.dtype.name}; it must be BFLOAT16 or FLOAT32.",
            vendor="Data type of input tensor for update cache must be FLOAT32 or BFLOAT16",
        )
    shape = tuple(spec.shape)
    of = _Pages(*cache.spec.shape)
    if page_table is not None and len(shape) == 4 and shape[3] % TILE_SIZE == 0:
        of = _seen(name, cache, num_kv_heads, block_size, shape[3])
    pages, heads, length, width = of
    if len(shape) != 4 or shape[0] != 1 or shape[3] != width or not shape[1] or shape[2] < heads:
        raise ShapeError(
            f"{name}: input_tensor has shape {list(shape)}; a cache of {[pages, heads, length, width]} takes "
            f"[1, users, {heads}, {width}].",
            vendor="Last dim of input tensor must match last dim of cache tensor",
        )
    if spec.memory_config.interleaved:
        raise MemoryConfigError(
            f"{name}: input_tensor is interleaved; shard it by height, one user to a core.",
            vendor="Expect input_tensor to be sharded",
        )
    if batch_offset:
        raise ParameterError(f"{name}: batch_offset is {batch_offset}; it must be 0.", vendor="batch_offset must be 0")
    users = shape[1]
    places = _places(name, update_idxs, update_idxs_tensor, users)
    if page_table is None:
        if share_cache and pages != 1:
            raise ShapeError(
                f"{name}: share_cache=True with a cache of {pages} batches; it must have one.",
                vendor="Share cache feature expects cache tensor to have batch of 1",
            )
        if not share_cache and users != pages:
            raise ShapeError(
                f"{name}: input_tensor has {users} users, the cache {pages} batches.",
                vendor="Expect batch in input tensor match the batch in cache tensor",
            )
        rows = [[0 if share_cache else user] for user in range(users)]
        extent = length
    else:
        if share_cache or update_idxs_tensor is None:
            what = "share_cache=True" if share_cache else "no update_idxs_tensor"
            raise ParameterError(
                f"{name}: page_table is given with {what}.", vendor="Paged cache requires update_idxs tensor"
            )
        rows = _table(name, page_table, users)
        extent = length * len(rows[0])
        ring = _ring(name, cache_position_modulo, length, len(rows[0]))
        if ring is not None:
            places = [place % ring if place >= 0 else place for place in places]
    wrong = [place for place in places if place >= extent]
    if wrong:
        raise ParameterError(f"{name}: row {wrong[0]} is past the {extent} rows of a user.")
    tiled = source if spec.layout is Layout.TILE else tilize_padded(name, source, memory_config=DRAM_MEMORY_CONFIG)
    *_, height, across = of.tiles
    in_height = tile_grid(tiled)[-2]
    # Users that write into the same tile follow one another, in rows of one replacement.
    taken: dict[int, list[tuple[int, int, int]]] = {}
    for user, place in enumerate(places):
        if place < 0:
            continue
        page = rows[user][place // length]
        if not 0 <= page < pages:
            if page_table is not None and page == -1:
                continue
            raise ParameterError(f"{name}: page_table names page {page} of {pages}.")
        at = place % length
        for head in range(heads):
            first = ((page * heads + head) * height + at // TILE_SIZE) * across
            start = (user * in_height + head // TILE_SIZE) * across
            for column in range(across):
                rows_of = taken.setdefault(first + column, [])
                rows_of.append((start + column, head % TILE_SIZE, at % TILE_SIZE))

    def run() -> Tensor:
        assert tiled.buffer is not None
        assert cache.buffer is not None
        engine_steps.replace_tile_rows(
            tiled.buffer,
            cache.buffer,
            list(taken.items()),
            formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[cache.spec.dtype]),
        )
        return cache

    return run


def _paged_update(
    cache_tensor: Tensor,
    input_tensor: Tensor,
    update_idxs: Sequence[int],
    update_idxs_tensor: Tensor | None,
    share_cache: bool | None,
    page_table: Tensor | None,
    batch_offset: int,
    _compute_kernel_config: WormholeComputeKernelConfig | None,
    _mesh_coords: Any,
    block_size: int | None,
    num_kv_heads: int | None,
    cache_position_modulo: int | None,
) -> Tensor:
    name = "ttnn.experimental.paged_update_cache"
    options = (update_idxs, update_idxs_tensor, bool(share_cache), page_table, batch_offset)
    seen = (block_size, num_kv_heads, cache_position_modulo)
    return _planned(name, cache_tensor, input_tensor, *options, *seen)()


def _paged_fused_update(
    cache_tensor1: Tensor,
    input_tensor1: Tensor,
    cache_tensor2: Tensor,
    input_tensor2: Tensor,
    update_idxs: Sequence[int],
    update_idxs_tensor: Tensor | None,
    share_cache: bool | None,
    page_table: Tensor | None,
    batch_offset: int,
    _compute_kernel_config: WormholeComputeKernelConfig | None,
    _mesh_coords: Any,
) -> tuple[Tensor, Tensor]:
    name = "ttnn.experimental.paged_fused_update_cache"
    on_device(name, cache_tensor1, "cache_tensor1")
    same_device(name, on_device(name, cache_tensor2, "cache_tensor2"), cache_tensor1, "cache_tensor1")
    if tuple(cache_tensor1.spec.shape) != tuple(cache_tensor2.spec.shape) or cache_tensor1 is cache_tensor2:
        raise ShapeError(
            f"{name}: cache_tensor1 is {cache_tensor1.spec.shape}, cache_tensor2 {cache_tensor2.spec.shape}; they "
            "must be two caches of one shape."
        )
    options = (update_idxs, update_idxs_tensor, bool(share_cache), page_table, batch_offset)
    # Both are checked before the first is written.
    pairs = ((cache_tensor1, input_tensor1), (cache_tensor2, input_tensor2))
    first, second = [_planned(name, cache, source, *options) for cache, source in pairs]
    return first(), second()


def _paged_fill(
    cache_tensor: Tensor,
    input_tensor: Tensor,
    page_table: Tensor,
    batch_idx_tensor: Tensor | None,
    batch_idx: int,
    _compute_kernel_config: WormholeComputeKernelConfig | None,
    _mesh_coords: Any,
    block_size: int | None,
    cache_position_modulo: int | None,
    valid_seq_len_tensor: Tensor | None,
) -> Tensor:
    name = "ttnn.experimental.paged_fill_cache"
    device = on_device(name, cache_tensor, "cache_tensor")
    for label, tensor in (
        ("input_tensor", input_tensor),
        ("page_table", page_table),
        ("batch_idx_tensor", batch_idx_tensor),
        ("valid_seq_len_tensor", valid_seq_len_tensor),
    ):
        if tensor is not None:
            same_device(name, device, tensor, label)
    _cache(name, cache_tensor, "cache_tensor", _FILLED)
    _cache(name, input_tensor, "input_tensor", _FILLED)
    if input_tensor.spec.dtype is not cache_tensor.spec.dtype:
        raise DTypeError(
            f"{name}: input_tensor is {input_tensor.spec.dtype.name}, the cache {cache_tensor.spec.dtype.name}; they "
            "must be equal.",
            vendor="Input and cache tensors must have same dtype!",
        )
    one, of_heads, rows, columns = tuple(input_tensor.spec.shape)
    if one != 1:
        raise ShapeError(f"{name}: input_tensor has shape {input_tensor.spec.shape}; it must have one user.")
    of = _seen(name, cache_tensor, of_heads, block_size, columns)
    pages, heads, length, _ = of
    if batch_idx_tensor is not None:
        found = integers(name, batch_idx_tensor, "batch_idx_tensor")
        if len(found) != 1:
            raise ShapeError(
                f"{name}: batch_idx_tensor has {len(found)} elements; it must have one.",
                vendor="Batch idx tensor must have a single element",
            )
        batch_idx = found[0]
    table = _table(name, page_table, 1)
    if not 0 <= batch_idx < len(table):
        raise ParameterError(f"{name}: batch_idx={batch_idx} is out of range for {len(table)} rows of page_table.")
    needed = -(-rows // length)
    if cache_position_modulo is None and needed > len(table[0]):
        raise ShapeError(
            f"{name}: {rows} rows need {needed} pages; page_table has {len(table[0])}.",
            vendor="Input seq_len must fit in max_num_blocks_per_seq",
        )
    ring = _ring(name, cache_position_modulo, length, len(table[0]))
    *_, height, across = of.tiles
    in_height = tile_grid(input_tensor)[-2]
    end = _end(name, valid_seq_len_tensor, ring, height, in_height)
    capacity = end if ring is None else ring // TILE_SIZE
    parts = []
    for start in range(0, end, height):
        first, last = max(start, end - capacity), min(start + height, end)
        page = table[batch_idx][start % capacity // height] if ring is not None else table[batch_idx][start // height]
        if first < last and page != -1:
            parts.append((page, first, first - start, last - first))
    if any(not 0 <= page < pages for page, *_ in parts):
        raise ParameterError(f"{name}: page_table names pages {[page for page, *_ in parts]} of {pages}.")
    if input_tensor.buffer is cache_tensor.buffer:
        # Pages are read before others of them are written.
        input_tensor = moved_to(input_tensor, DRAM_MEMORY_CONFIG)
    for page, first, row, count in parts:
        copy_tiles(
            input_tensor,
            cache_tensor,
            shape=of.tiles,
            strides=(0, in_height * across, across, 1),
            offset=first * across,
            window=[(page, 1), (0, heads), (row, count), (0, across)],
        )
    return cache_tensor


def _end(name: str, valid: Tensor | None, ring: int | None, height: int, rows: int) -> int:
    """Return the number of a prompt's tile rows that are written."""
    if valid is None:
        return rows
    if ring is None:
        raise ParameterError(
            f"{name}: valid_seq_len_tensor is given without cache_position_modulo.",
            vendor="valid_seq_len tensor is only supported when cache_position_modulo is set (bounded fill)",
        )
    found = integers(name, valid, "valid_seq_len_tensor")
    if len(found) != 1:
        raise ShapeError(
            f"{name}: valid_seq_len_tensor has {len(found)} elements; it must have one.",
            vendor=f"valid_seq_len tensor must contain exactly 1 element, got logical_volume={len(found)}",
        )
    whole = -(-found[0] // (height * TILE_SIZE)) * height
    return whole if 0 < whole < rows else rows


_COMPUTE: Final = Param("compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Ignored: rows are copied.")
_SHARE: Final = Param("share_cache", BOOLEAN, None, doc="All users write into one cache of batch 1.")
_OFFSET: Final = Param("batch_offset", INTEGER, 0, doc="Must be 0.")
_PAGES: Final = Param("page_table", TENSOR, None, doc="[users, pages] of INT32: the pages of every user, -1 for none.")
_INDICES: Final = (
    Param("update_idxs", INT_SEQUENCE, [], doc="The row that every user writes; -1 for none.", example=[3]),
    Param("update_idxs_tensor", TENSOR, None, doc="[users] of INT32: the same."),
)
_ERRORS: Final = (
    ("DTypeError", "a data type is not supported."),
    ("LayoutError", "a cache is row-major."),
    ("ShapeError", "shapes do not fit."),
    ("MemoryConfigError", "the cache is sharded, or the input is not."),
    ("ParameterError", "a position or a page is out of range, or options contradict each other."),
)


_ROWS_OF_PAGE: Final = Param(
    "block_size", INTEGER, None, doc="Rows of a head in a page, for the cache seen in another shape.", example=32
)
_RING: Final = Param(
    "cache_position_modulo", INTEGER, None, doc="Rows after which positions start again; whole pages.", example=32
)


def _cache_param(label: str) -> Param:
    return Param(
        label, TENSOR, doc="[B, H, S, D], or [pages, H, rows, D] with a page table.", example=Operand((1, 1, 64, 128))
    )


declare = partial(
    Op,
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/paged_cache`",
    layouts=(Layout.TILE,),
    accuracy=bit_exact(),
    numerics="movement",
    raises=_ERRORS,
    examples=(),
    scalars=True,
)
_ROW: Final = "[1, users, H, D] in shards of height: a row of every head for every user."

paged_update_cache = register(
    declare(
        name="experimental.paged_update_cache",
        signatures=(
            Signature(
                (_cache_param("cache_tensor"), Param("input_tensor", TENSOR, doc=_ROW)),
                (
                    *_INDICES,
                    _SHARE,
                    _PAGES,
                    _OFFSET,
                    _COMPUTE,
                    _MESH,
                    _ROWS_OF_PAGE,
                    Param("num_kv_heads", INTEGER, None, doc="Heads, for the cache seen in another shape.", example=1),
                    _RING,
                ),
            ),
        ),
        run=_paged_update,
        doc="Write each user's token's keys or values at its position.\n"
        "Shape: [B, H, S, D], [1, B, H, D] -> [B, H, S, D].\n"
        "A tile of block floats whose row changes is packed again.",
        dtypes=_CACHES,
        golden=golden.paged_update_cache,
        engine=("replace_tile_rows",),
    )
)
paged_fused_update_cache = register(
    declare(
        name="experimental.paged_fused_update_cache",
        signatures=(
            Signature(
                (
                    _cache_param("cache_tensor1"),
                    Param("input_tensor1", TENSOR, doc=_ROW),
                    _cache_param("cache_tensor2"),
                    Param("input_tensor2", TENSOR, doc=_ROW),
                ),
                (*_INDICES, _SHARE, _PAGES, _OFFSET, _COMPUTE, _MESH),
            ),
        ),
        run=_paged_fused_update,
        doc="Write each user's token's keys and values into caches; return these.\n"
        "Shape: [B, H, S, D], [1, B, H, D], twice -> [B, H, S, D], [B, H, S, D].",
        dtypes=_CACHES,
        golden=golden.paged_fused_update_cache,
        engine=("replace_tile_rows",),
    )
)
paged_fill_cache = register(
    declare(
        name="experimental.paged_fill_cache",
        signatures=(
            Signature(
                (
                    _cache_param("cache_tensor"),
                    Param("input_tensor", TENSOR, doc="[1, H, s, D] of the data type of the cache."),
                    Param(
                        "page_table",
                        TENSOR,
                        doc="[B, pages] of INT32: the pages of every user, -1 for none.",
                        example=Operand((1, 1), dtype=DataType.INT32, layout=Layout.ROW_MAJOR, between=(0, 0)),
                    ),
                ),
                (
                    Param(
                        "batch_idx_tensor",
                        TENSOR,
                        None,
                        doc="[1] of UINT32 or INT32: the user, in place of `batch_idx`.",
                    ),
                    Param("batch_idx", INTEGER, 0, doc="The user, a row of `page_table`."),
                    _COMPUTE,
                    _MESH,
                    _ROWS_OF_PAGE,
                    _RING,
                    Param(
                        "valid_seq_len_tensor",
                        TENSOR,
                        None,
                        doc="[1] of INT32: rows that are not padding, with `cache_position_modulo`.",
                    ),
                ),
            ),
        ),
        run=_paged_fill,
        doc="Write a prompt's keys or values into pages; return the cache.\n"
        "Shape: [pages, H, rows, D], [1, H, s, D], [B, pages] -> [pages, H, rows, D].",
        dtypes=_FILLED,
        golden=golden.paged_fill_cache,
        engine=("write_window", "copy_pages"),
    )
)

"""Tensor specifications: shape, data type, layout, memory config, and their pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeVar

from ttnn.base.core_range import CoreRange, CoreRangeSet
from ttnn.base.enums import (
    BLOCK_FLOATS,
    ELEMENT_BYTES,
    BufferType,
    DataType,
    Layout,
    ShardOrientation,
    ShardShapeAlignment,
    TensorMemoryLayout,
)
from ttnn.base.exceptions import ArgumentError, LayoutError, MemoryConfigError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, NdShardSpec, ShardSpec
from ttnn.base.shape import Shape, ShapeLike, as_dims
from ttnn.base.tile import DEFAULT_TILE, Tile


class TensorSpec:
    """Shape, data type, layout, memory configuration and tile of a tensor. Immutable.

    A page is a tile (TILE_LAYOUT) or a row (ROW_MAJOR_LAYOUT; the part of a row that a shard holds if the width is
    cut). Pages are numbered row by row over the two-dimensional view in which all dimensions but the last are height.
    """

    __slots__ = (
        "_dtype",
        "_hash",
        "_layout",
        "_memory_config",
        "_padded_shape",
        "_padding",
        "_page_bytes",
        "_page_shape",
        "_physical_shape",
        "_shape",
        "_tile",
        "token",
    )

    token: object
    """Token of equal specifications.

    Keys of programs hold it, since hashing it runs no Python function.
    """

    def __init__(
        self,
        shape: ShapeLike,
        dtype: DataType,
        layout: Layout,
        memory_layout: TensorMemoryLayout | BufferType | NdShardSpec | None = None,
        shard_spec: ShardSpec | BufferType | Tile | None = None,
        buffer_type: BufferType | Tile | None = None,
        tile: Tile | None = None,
        *,
        nd_shard_spec: NdShardSpec | None = None,
    ) -> None:
        # Three official signatures; the fourth argument tells which one is meant.
        rest: list[object] = [shard_spec, buffer_type, tile]
        if isinstance(memory_layout, BufferType):
            config = MemoryConfig(TensorMemoryLayout.INTERLEAVED, memory_layout)
        elif isinstance(memory_layout, NdShardSpec) or nd_shard_spec is not None:
            nd_shards = memory_layout if isinstance(memory_layout, NdShardSpec) else nd_shard_spec
            assert nd_shards is not None
            config = MemoryConfig(_one_of(BufferType, rest) or BufferType.DRAM, nd_shards)
        else:
            config = MemoryConfig(
                TensorMemoryLayout.INTERLEAVED if memory_layout is None else memory_layout,
                _one_of(BufferType, rest) or BufferType.DRAM,
                _one_of(ShardSpec, rest),
            )
        self._fill(as_dims(shape), dtype, layout, config, _one_of(Tile, rest) or DEFAULT_TILE)

    @staticmethod
    def of(
        shape: ShapeLike,
        dtype: DataType,
        layout: Layout,
        memory_config: MemoryConfig = DRAM_MEMORY_CONFIG,
        tile: Tile | None = None,
        padded_shape: tuple[int, ...] | None = None,
    ) -> TensorSpec:
        """Return the shared specification with these parts.

        Rows of a host tensor, and tiles, may have a padded shape of their own; any other is that which the layout
        needs.
        """
        dims, tile = as_dims(shape), tile or DEFAULT_TILE
        try:
            return _cached(dims, dtype, layout, memory_config, tile, padded_shape)
        except TypeError:
            # What cannot be hashed is none of the parts.
            _check_kinds(dtype, layout, memory_config, tile)
            raise

    def _fill(
        self,
        dims: tuple[int, ...],
        dtype: DataType,
        layout: Layout,
        memory_config: MemoryConfig,
        tile: Tile,
        padded_shape: tuple[int, ...] | None = None,
    ) -> None:
        _check_kinds(dtype, layout, memory_config, tile)
        self._shape = Shape._of(dims)
        self._dtype = dtype
        self._layout = layout
        self._memory_config = memory_config._kept()
        self._tile = tile
        padded = _padded(dims, layout, memory_config, tile)
        self._padding = None
        if padded_shape is not None and padded_shape != padded:
            assert layout is Layout.TILE or not memory_config.is_sharded()
            assert layout is not Layout.TILE or padded_shape[-2] % tile._height == padded_shape[-1] % tile._width == 0
            padded = self._padding = padded_shape
        # Every call of an operator looks programs up by specifications.
        key = self._key()
        self._hash = hash(key)
        if len(_tokens) >= _MOST_TOKENS:
            _tokens.clear()
        self.token = _tokens.setdefault(key, object())
        self._padded_shape = Shape._of(padded)
        self._physical_shape = (math.prod(padded[:-1]), padded[-1])
        if layout is Layout.TILE:
            self._page_shape = (tile._height, tile._width)
            self._page_bytes = tile.get_tile_size(dtype)
        else:
            self._page_shape = (1, self._page_width())
            self._page_bytes = self._page_shape[1] * ELEMENT_BYTES[dtype]
        if memory_config.is_sharded():
            _check_shards(self)

    def _page_width(self) -> int:
        height, width = self._physical_shape
        if height == 0 or width == 0:
            # An empty tensor has no pages; the official package still answers one word.
            return 4 // ELEMENT_BYTES[self._dtype]
        if self._memory_config.memory_layout in _WIDTH_CUT:
            shards = self._memory_config._shard_spec
            if shards is not None:
                return shards.shape[1]
        nd_shards = self._memory_config.nd_shard_spec
        return width if nd_shards is None else nd_shards.shard_shape[-1]

    @property
    def shape(self) -> Shape:
        """Return the logical shape."""
        return self._shape

    @property
    def padded_shape(self) -> Shape:
        """Return the shape with the padding that the layout needs."""
        return self._padded_shape

    @property
    def dtype(self) -> DataType:
        """Return the element type."""
        return self._dtype

    @property
    def layout(self) -> Layout:
        """Return the layout."""
        return self._layout

    @property
    def memory_config(self) -> MemoryConfig:
        """Return the memory config.

        That of a host tensor is the one it gets on a device.
        """
        return self._memory_config

    @property
    def tile(self) -> Tile:
        """Return the tile shape."""
        return self._tile

    @property
    def physical_shape(self) -> tuple[int, int]:
        """Return the padded (height, width), leading dimensions merged into height."""
        return self._physical_shape

    @property
    def page_shape(self) -> tuple[int, int]:
        """Return (height, width) of a page in elements."""
        return self._page_shape

    @property
    def page_bytes(self) -> int:
        """Return the bytes of a page."""
        return self._page_bytes

    @property
    def page_grid(self) -> tuple[int, int]:
        """Return (rows, columns) of pages."""
        height, width = self._physical_shape
        if height == 0 or width == 0:
            return (0, 0)
        return (height // self._page_shape[0], width // self._page_shape[1])

    @property
    def num_pages(self) -> int:
        """Return the number of pages."""
        rows, columns = self.page_grid
        return rows * columns

    @property
    def raw_bytes(self) -> int:
        """Return the bytes of all pages."""
        return self.num_pages * self._page_bytes

    @property
    def is_padded_further(self) -> bool:
        """Return whether tiles have more padding than the tile shape asks for."""
        return self._padding is not None and self._layout is Layout.TILE

    def with_memory_config(self, memory_config: MemoryConfig) -> TensorSpec:
        """Return the specification with another memory configuration."""
        if isinstance(memory_config, MemoryConfig) and memory_config == self._memory_config:
            return self
        padding = self._padding if self._layout is Layout.TILE else None
        return TensorSpec.of(self._shape, self._dtype, self._layout, memory_config, self._tile, padding)

    def height_sharded(
        self, grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """Return the specification height-sharded over the cores of `grid`."""
        height, width = self._physical_shape
        return self._cut(TensorMemoryLayout.HEIGHT_SHARDED, grid, (-(-height // grid.num_cores()), width), orientation)

    def width_sharded(
        self, grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """Return the specification width-sharded over the cores of `grid`."""
        height, width = self._physical_shape
        return self._cut(TensorMemoryLayout.WIDTH_SHARDED, grid, (height, -(-width // grid.num_cores())), orientation)

    def block_sharded(
        self, grid: CoreRange | CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """Return the specification block-sharded over a rectangular `grid`.

        Raises:
            MemoryConfigError: a set of cores that is not one rectangle.
        """
        height, width = self._physical_shape
        if isinstance(grid, CoreRangeSet):
            if grid.size() != 1:
                raise MemoryConfigError(f"block_sharded: grid must be one rectangle of cores, got {grid}")
            (grid,) = grid.ranges()
        size = grid.grid_size()
        rows, columns = (size.y, size.x) if orientation is ShardOrientation.ROW_MAJOR else (size.x, size.y)
        shard = (-(-height // rows), -(-width // columns))
        return self._cut(TensorMemoryLayout.BLOCK_SHARDED, CoreRangeSet([grid]), shard, orientation)

    def sharded(
        self,
        shard_shape: ShapeLike,
        grid: CoreRangeSet,
        shard_alignment: ShardShapeAlignment = ShardShapeAlignment.RECOMMENDED,
        orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
    ) -> TensorSpec:
        """Return the specification with shards of `shard_shape`, assigned to the cores round-robin."""
        dims = list(as_dims(shard_shape))
        if shard_alignment is not ShardShapeAlignment.NONE and len(dims) >= 2 and self._layout is Layout.TILE:
            dims[-2:] = [_up(dims[-2], self._tile._height), _up(dims[-1], self._tile._width)]
        config = MemoryConfig(self._memory_config.buffer_type, NdShardSpec(dims, grid, orientation))
        return self.with_memory_config(config)

    def sharded_across_dims(
        self, dims: Sequence[int], grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """Return the specification in one-element (tile) shards along `dims`."""
        cut = {self._positive(dim) for dim in dims}
        shard = [1 if dim in cut else size for dim, size in enumerate(self._padded_shape)]
        return self.sharded(shard, grid, ShardShapeAlignment.REQUIRED, orientation)

    def sharded_across_dims_except(
        self, dims: Sequence[int], grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """Return the specification in one-element shards except along `dims`.

        In tiles, an element is a tile.
        """
        kept = {self._positive(dim) for dim in dims}
        others = [dim for dim in range(self._padded_shape.rank) if dim not in kept]
        return self.sharded_across_dims(others, grid, orientation)

    def _positive(self, dim: int) -> int:
        rank = self._padded_shape.rank
        if not -rank <= dim < rank:
            raise ShapeError(f"TensorSpec: dimension {dim} is not in [{-rank}, {rank})")
        return dim % rank

    def _cut(
        self, layout: TensorMemoryLayout, grid: CoreRangeSet, shard: tuple[int, int], orientation: ShardOrientation
    ) -> TensorSpec:
        if self._layout is Layout.TILE:
            shard = (_up(shard[0], self._tile._height), _up(shard[1], self._tile._width))
        config = MemoryConfig(layout, self._memory_config.buffer_type, ShardSpec(grid, shard, orientation))
        return self.with_memory_config(config)

    def _key(self) -> tuple[object, ...]:
        return (self._shape, self._dtype, self._layout, self._memory_config, self._tile, self._padding)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return self._key() == other._key() if isinstance(other, TensorSpec) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return (
            f"TensorSpec(shape={self._shape}, dtype={self._dtype.cpp_name}, layout={self._layout.cpp_name}, "
            f"memory_config={self._memory_config}, tile={self._tile})"
        )

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        parts = (list(self._shape), self._dtype, self._layout, self._memory_config, self._tile)
        return (TensorSpec.of, parts if self._padding is None else (*parts, self._padding))


_tokens: Final[dict[tuple[object, ...], object]] = {}
_MOST_TOKENS: Final = 65536
"""Number of specifications after which tokens are new.

Programs of earlier ones are resolved again.
"""

_WIDTH_CUT = frozenset({TensorMemoryLayout.WIDTH_SHARDED, TensorMemoryLayout.BLOCK_SHARDED})


@lru_cache(maxsize=4096)
def _cached(
    dims: tuple[int, ...],
    dtype: DataType,
    layout: Layout,
    memory_config: MemoryConfig,
    tile: Tile,
    padded_shape: tuple[int, ...] | None,
) -> TensorSpec:
    new = TensorSpec.__new__(TensorSpec)
    new._fill(dims, dtype, layout, memory_config, tile, padded_shape)
    return new


_Kind = TypeVar("_Kind")


def _one_of(kind: type[_Kind], values: Sequence[object]) -> _Kind | None:
    found = [value for value in values if isinstance(value, kind)]
    if len(found) > 1:
        raise ArgumentError(f"TensorSpec(): more than one {kind.__name__} was given")
    return found[0] if found else None


def _up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def _check_kinds(dtype: DataType, layout: Layout, memory_config: MemoryConfig, tile: Tile) -> None:
    if not isinstance(dtype, DataType) or dtype is DataType.INVALID:
        raise ArgumentError(f"TensorSpec(): dtype must be a ttnn.DataType, got {dtype!r}")
    if not isinstance(layout, Layout) or layout is Layout.INVALID:
        raise ArgumentError(f"TensorSpec(): layout must be a ttnn.Layout, got {layout!r}")
    if not isinstance(memory_config, MemoryConfig):
        raise ArgumentError(f"TensorSpec(): memory_config must be a ttnn.MemoryConfig, got {memory_config!r}")
    if not isinstance(tile, Tile):
        raise ArgumentError(f"TensorSpec(): tile must be a ttnn.Tile, got {tile!r}")
    if dtype in BLOCK_FLOATS and layout is not Layout.TILE:
        raise LayoutError(
            f"TensorSpec(): {dtype.name} shares exponents inside tiles and has no {layout.name} layout",
            vendor="Only TILE layout is supported for BFLOAT8_B dtype!",
        )
    if dtype is DataType.FP8_E4M3 and layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            "TensorSpec(): FP8_E4M3 has no TILE layout", vendor="Only ROW_MAJOR layout is supported for FP8_E4M3 dtype!"
        )


def _padded(dims: tuple[int, ...], layout: Layout, memory_config: MemoryConfig, tile: Tile) -> tuple[int, ...]:
    if layout is Layout.TILE:
        if len(dims) < 2:
            dims = (1,) * (2 - len(dims)) + dims
        return (*dims[:-2], _up(dims[-2], tile._height), _up(dims[-1], tile._width))
    if not dims:
        dims = (1,)
    shards = memory_config._shard_spec
    if shards is not None and shards.shape[1] > 0:
        # Rows are padded to whole shards, whatever is cut.
        return (*dims[:-1], _up(dims[-1], shards.shape[1]))
    nd_shards = memory_config.nd_shard_spec
    if nd_shards is not None and nd_shards.shard_shape.rank and nd_shards.shard_shape[-1] > 0:
        return (*dims[:-1], _up(dims[-1], nd_shards.shard_shape[-1]))
    return dims


def _check_shards(spec: TensorSpec) -> None:
    """Check that the shards cover the tensor, with the official error sentences."""
    if spec.memory_config._nd_shard_spec is not None:
        _check_nd_shards(spec, spec.memory_config._nd_shard_spec)
        return
    shards = spec.memory_config._shard_spec
    if shards is None:
        # The cores may still be undecided: operators choose them. Allocating a buffer from it raises.
        return
    height, width = spec.physical_shape
    shard_height, shard_width = shards.shape
    if spec.layout is Layout.TILE and (shard_height % spec.tile._height or shard_width % spec.tile._width):
        _refuse(
            spec,
            f"Physical shard shape ({shard_height}, {shard_width}) must be tile {{{spec.tile._height}, "
            f"{spec.tile._width}}} sized!",
        )
    if shard_height == 0 or shard_width == 0:
        raise MemoryConfigError(
            f"TensorSpec(): a shard of {shard_height}x{shard_width} holds nothing",
            vendor=f"Shard shape must be greater than 0 in each sharded dim, got {[shard_height, shard_width]}",
        )
    rows, columns = -(-height // shard_height), -(-width // shard_width)
    cores = shards.num_cores()
    layout = spec.memory_config.memory_layout
    if layout is TensorMemoryLayout.HEIGHT_SHARDED:
        if width != shard_width:
            _refuse(spec, f"Shard width {shard_width} must match physical width {width} for height sharded")
        if rows > cores:
            _refuse(spec, f"Number of shards along height {rows} must not exceed number of cores {cores}")
    elif layout is TensorMemoryLayout.WIDTH_SHARDED:
        if height != shard_height:
            _refuse(spec, f"Shard height {shard_height} must match physical height {height} for width sharded")
        if columns > cores:
            _refuse(spec, f"Number of shards along width {columns} must not exceed number of cores {cores}")
    elif layout is TensorMemoryLayout.BLOCK_SHARDED:
        _check_block(spec, shards, rows, columns)


def _check_nd_shards(spec: TensorSpec, shards: NdShardSpec) -> None:
    shape, padded = shards.shard_shape, spec.padded_shape
    if not 1 <= shape.rank <= padded.rank or 0 in shape or shards.grid.empty():
        raise MemoryConfigError(
            f"TensorSpec(): a tensor of {spec.shape} (padded {padded}) needs cores, and shards of one to {padded.rank} "
            f"dimensions that are not empty, got {shards}"
        )
    height, width = (1, *shape)[-2:]
    if spec.layout is Layout.TILE and (height % spec.tile._height or width % spec.tile._width):
        raise MemoryConfigError(
            f"TensorSpec(): a tensor of {spec.shape} in TILE layout cannot be cut into shards of {shape}",
            vendor=f"Physical shard shape ({height}, {width}) must be tile "
            f"{{{spec.tile._height}, {spec.tile._width}}} sized!",
        )


def _check_block(spec: TensorSpec, shards: ShardSpec, rows: int, columns: int) -> None:
    if shards.grid.size() != 1:
        _refuse(spec, "Shard grid must be one full rectangular grid for block sharded!")
    grid = shards.grid.bounding_box().grid_size()
    row_major = shards.orientation is ShardOrientation.ROW_MAJOR
    across, down = (grid.x, grid.y) if row_major else (grid.y, grid.x)
    order = "row major" if row_major else "column major"
    names = ("rows", "columns") if row_major else ("columns", "rows")
    if rows > down:
        _refuse(
            spec,
            f"Number of shards along height {rows} must not exceed number of {names[0]} {down} for {order} "
            "orientation!",
        )
    if columns > across:
        _refuse(
            spec,
            f"Number of shards along width {columns} must not exceed number of {names[1]} {across} for {order} "
            "orientation!",
        )


def _refuse(spec: TensorSpec, vendor: str) -> None:
    raise MemoryConfigError(
        f"TensorSpec(): a tensor of {spec.shape} (padded {spec.padded_shape}) in {spec.layout.name} layout does not "
        f"fit {spec.memory_config._shard_spec}",
        vendor=vendor,
    )


def require_allocatable(spec: TensorSpec) -> None:
    """Check that a buffer can be allocated for a specification.

    Raises:
        MemoryConfigError: sharded, but the cores are not named.
    """
    config = spec.memory_config
    if config.is_sharded() and config._shard_spec is None and config.nd_shard_spec is None:
        raise MemoryConfigError(
            f"a tensor of {spec.shape} is {config.memory_layout.name}, but its memory_config names no cores. Make one "
            "with ttnn.create_sharded_memory_config",
            vendor="MemoryConfig must have Shard Spec specified for sharded memory layout",
        )

"""Memory configurations: buffer type, interleaved or sharded, and shard cores."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from enum import Enum
from typing import Any, cast

from ttnn.base.core_range import CoreCoord, CoreGrid, CoreRange, CoreRangeSet
from ttnn.base.enums import (
    BufferType,
    ShardDistributionStrategy,
    ShardOrientation,
    ShardStrategy,
    TensorMemoryLayout,
)
from ttnn.base.exceptions import ArgumentError, MemoryConfigError
from ttnn.base.json_text import JsonValue, dump_json
from ttnn.base.shape import Shape, ShapeLike, as_dims

__all__ = [
    "DRAM_MEMORY_CONFIG",
    "L1_BLOCK_SHARDED_MEMORY_CONFIG",
    "L1_HEIGHT_SHARDED_MEMORY_CONFIG",
    "L1_MEMORY_CONFIG",
    "L1_WIDTH_SHARDED_MEMORY_CONFIG",
    "MemoryConfig",
    "NdShardSpec",
    "ShardSpec",
    "create_sharded_memory_config",
    "create_sharded_memory_config_",
]

_SHARDED = frozenset(
    {
        TensorMemoryLayout.HEIGHT_SHARDED,
        TensorMemoryLayout.WIDTH_SHARDED,
        TensorMemoryLayout.BLOCK_SHARDED,
        TensorMemoryLayout.ND_SHARDED,
    }
)
_TILE = 32


def _check_grid(of: str, value: object) -> None:
    if not isinstance(value, CoreRangeSet):
        raise ArgumentError(f"{of}(): grid must be a CoreRangeSet, got {type(value).__name__}")


def _check_orientation(name: str, value: object) -> None:
    if not isinstance(value, ShardOrientation):
        raise ArgumentError(f"{name} must be a ShardOrientation, got {value!r}")


class ShardSpec(JsonValue):
    """The rectangle of elements that one core holds, and the cores.

    Attributes:
        grid: Cores that hold shards.
        shape: [height, width] of a shard in elements.
        orientation: Whether shards go to the cores of the grid row by row or column by column.
    """

    __slots__ = ("grid", "orientation", "shape")

    grid: CoreRangeSet
    shape: list[int]
    orientation: ShardOrientation

    def __init__(self, grid: CoreRangeSet, shard_shape: Sequence[int], shard_orientation: ShardOrientation) -> None:
        self.grid = grid
        self.orientation = shard_orientation
        self.shape = cast("list[int]", shard_shape)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "shape":
            try:
                height, width = (operator.index(size) for size in value)
            except (TypeError, ValueError):
                raise ArgumentError(f"ShardSpec(): shard_shape must be two ints, got {value!r}") from None
            if height < 0 or width < 0:
                raise ArgumentError(f"ShardSpec(): shard_shape must not be negative, got {[height, width]}")
            value = [height, width]
        elif name == "orientation":
            _check_orientation("ShardSpec(): shard_orientation", value)
        elif name == "grid":
            _check_grid("ShardSpec", value)
        super().__setattr__(name, value)

    def _copy(self) -> ShardSpec:
        new = ShardSpec.__new__(ShardSpec)
        new.grid, new.shape, new.orientation = self.grid, list(self.shape), self.orientation
        return new

    def num_cores(self) -> int:
        """Return the number of cores of the grid."""
        return self.grid.num_cores()

    def _as_json(self) -> dict[str, Any]:
        return {"grid": self.grid._as_json(), "shape": self.shape, "orientation": self.orientation.value}

    @classmethod
    def _from_json(cls, data: dict[str, Any]) -> ShardSpec:
        return ShardSpec(CoreRangeSet._from_json(data["grid"]), data["shape"], ShardOrientation(data["orientation"]))

    def _key(self) -> tuple[object, ...]:
        return (self.grid, tuple(self.shape), self.orientation)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, ShardSpec) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        # The missing brace at the end of each range is the official text.
        ranges = ", ".join(
            f'{{"start":{dump_json(r.start._as_json())},"end":{dump_json(r.end._as_json())}' for r in self.grid.ranges()
        )
        return f"ShardSpec{{grid=[{ranges}], shape={self.shape}, orientation={self.orientation.cpp_name}}}"


class NdShardSpec(JsonValue):
    """Shards along any number of dimensions.

    Attributes:
        shard_shape: Sizes of a shard.
        grid: Cores that hold shards.
        orientation: Order of the cores.
        shard_distribution_strategy: How shards are dealt to the cores.
    """

    __slots__ = ("grid", "orientation", "shard_distribution_strategy", "shard_shape")

    shard_shape: Shape
    grid: CoreRangeSet
    orientation: ShardOrientation
    shard_distribution_strategy: ShardDistributionStrategy

    def __init__(
        self,
        shard_shape: ShapeLike,
        grid: CoreRangeSet,
        orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
        shard_distribution_strategy: ShardDistributionStrategy = ShardDistributionStrategy.ROUND_ROBIN_1D,
    ) -> None:
        self.grid = grid
        self.orientation = orientation
        self.shard_distribution_strategy = shard_distribution_strategy
        self.shard_shape = Shape(shard_shape)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "shard_shape":
            value = Shape(value)
        elif name == "orientation":
            _check_orientation("NdShardSpec(): orientation", value)
        elif name == "grid":
            _check_grid("NdShardSpec", value)
        elif name == "shard_distribution_strategy" and not isinstance(value, ShardDistributionStrategy):
            raise ArgumentError(
                f"NdShardSpec(): shard_distribution_strategy must be a ShardDistributionStrategy, got {value!r}"
            )
        super().__setattr__(name, value)

    def num_cores(self) -> int:
        """Return the number of cores of the grid."""
        return self.grid.num_cores()

    def _as_json(self) -> dict[str, Any]:
        return {
            "grid": self.grid._as_json(),
            "orientation": self.orientation.value,
            "shard_distribution_strategy": self.shard_distribution_strategy.value,
            "shard_shape": list(self.shard_shape),
        }

    @classmethod
    def _from_json(cls, data: dict[str, Any]) -> NdShardSpec:
        return NdShardSpec(
            data["shard_shape"],
            CoreRangeSet._from_json(data["grid"]),
            ShardOrientation(data["orientation"]),
            ShardDistributionStrategy(data["shard_distribution_strategy"]),
        )

    def _key(self) -> tuple[object, ...]:
        return (self.shard_shape, self.grid, self.orientation, self.shard_distribution_strategy)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, NdShardSpec) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"NdShardSpec(shard_shape={self.shard_shape}, grid={self.grid}, orientation={self.orientation.cpp_name}, "
            f"shard_distribution_strategy={self.shard_distribution_strategy.cpp_name})"
        )


_OF_ND_SHARDS = (TensorMemoryLayout.INTERLEAVED, TensorMemoryLayout.ND_SHARDED)
"""Default of `memory_layout`, and its meaning with `nd_shard_spec`."""


class Allocation(Enum):
    """Kinds of addresses of shards; the values are the engine's."""

    LOCKSTEP = 0
    """One address, free on all cores."""
    LOCKSTEP_IN_SHARDS = 1
    """One address, free on the cores of the shards."""
    PER_CORE = 2
    """An address of its own on each core."""


class MemoryConfig(JsonValue):
    """Buffer type, memory layout, and the shards of a sharded tensor.

    Immutable but for the way in which the addresses of shards are found.
    """

    __slots__ = ("_allocation", "_buffer_type", "_hash", "_memory_layout", "_nd_shard_spec", "_shard_spec")

    def __init__(
        self,
        memory_layout: TensorMemoryLayout | BufferType = TensorMemoryLayout.INTERLEAVED,
        buffer_type: BufferType | NdShardSpec = BufferType.DRAM,
        shard_spec: ShardSpec | None = None,
        *,
        nd_shard_spec: NdShardSpec | None = None,
    ) -> None:
        # The second official signature is (buffer_type, nd_shard_spec).
        if isinstance(memory_layout, BufferType):
            if isinstance(buffer_type, NdShardSpec) and nd_shard_spec is None:
                nd_shard_spec = buffer_type
            elif buffer_type is not BufferType.DRAM:
                raise ArgumentError(
                    "MemoryConfig(buffer_type, nd_shard_spec): nd_shard_spec must be an NdShardSpec, got "
                    f"{buffer_type!r}"
                )
            if nd_shard_spec is None:
                raise ArgumentError("MemoryConfig(buffer_type, nd_shard_spec): nd_shard_spec is missing")
            buffer_type = memory_layout
            memory_layout = TensorMemoryLayout.ND_SHARDED
        if nd_shard_spec is not None:
            if not isinstance(nd_shard_spec, NdShardSpec):
                raise ArgumentError(f"MemoryConfig(): nd_shard_spec must be an NdShardSpec, got {nd_shard_spec!r}")
            if shard_spec is not None or memory_layout not in _OF_ND_SHARDS:
                raise ArgumentError(
                    "MemoryConfig(buffer_type, nd_shard_spec): nd_shard_spec describes the shards completely; "
                    "omit memory_layout and shard_spec."
                )
            memory_layout = TensorMemoryLayout.ND_SHARDED
        if not isinstance(memory_layout, TensorMemoryLayout):
            raise ArgumentError(f"MemoryConfig(): memory_layout must be a TensorMemoryLayout, got {memory_layout!r}")
        if not isinstance(buffer_type, BufferType):
            raise ArgumentError(f"MemoryConfig(): buffer_type must be a BufferType, got {buffer_type!r}")
        if shard_spec is not None and not isinstance(shard_spec, ShardSpec):
            raise ArgumentError(f"MemoryConfig(): shard_spec must be a ShardSpec or None, got {shard_spec!r}")
        if memory_layout is TensorMemoryLayout.INTERLEAVED and shard_spec is not None:
            raise MemoryConfigError(
                f"MemoryConfig(): an interleaved tensor has no shards, but shard_spec is {shard_spec}",
                vendor="Sharding spec must not be set for interleaved memory layout",
            )
        self._memory_layout = memory_layout
        self._buffer_type = buffer_type
        # A copy: the attributes of a ShardSpec may be assigned, those of a MemoryConfig may not.
        self._shard_spec = None if shard_spec is None else shard_spec._copy()
        self._nd_shard_spec = nd_shard_spec
        self._allocation = Allocation.LOCKSTEP
        self._hash = hash(self._key())

    def _kept(self) -> MemoryConfig:
        """Return it for a specification, copied if it can change."""
        if self._buffer_type is not BufferType.L1 or self._memory_layout is TensorMemoryLayout.INTERLEAVED:
            return self
        copy = object.__new__(MemoryConfig)
        for name in MemoryConfig.__slots__:
            setattr(copy, name, getattr(self, name))
        return copy

    @property
    def memory_layout(self) -> TensorMemoryLayout:
        """Return the memory layout: interleaved, or which dimensions are sharded."""
        return self._memory_layout

    @property
    def buffer_type(self) -> BufferType:
        """Return the buffer type."""
        return self._buffer_type

    @property
    def shard_spec(self) -> ShardSpec | None:
        """Return the shards, None if interleaved or still open."""
        return None if self._shard_spec is None else self._shard_spec._copy()

    @property
    def nd_shard_spec(self) -> NdShardSpec | None:
        """Return the n-dimensional shards, if it was made with them."""
        return self._nd_shard_spec

    @property
    def interleaved(self) -> bool:
        """Return whether pages are interleaved over the banks."""
        return self._memory_layout is TensorMemoryLayout.INTERLEAVED

    def is_sharded(self) -> bool:
        """Return whether each core holds a rectangle of the tensor."""
        return self._memory_layout in _SHARDED

    def experimental_set_per_core_allocation(self, enable: bool) -> None:
        """Set whether each core has an address of its own.

        The device must have been opened with the environment variable TT_METAL_ALLOCATOR_MODE_HYBRID=1.

        Raises:
            MemoryConfigError: not of shards in L1, of n-dimensional ones, or the other option is set.
        """
        if enable:
            self._require_l1("per_core_allocation", "per_core_allocation is only supported for L1 buffers")
            if self._allocation is Allocation.LOCKSTEP_IN_SHARDS:
                raise self._exclusive(
                    "per_core_allocation and range_lockstep_allocation are mutually exclusive: a buffer either takes "
                    "an independent address on each core or one address across them"
                )
            self._require_shards("per_core_allocation", "per_core_allocation requires a sharded memory layout")
            if self._nd_shard_spec is not None:
                raise MemoryConfigError(
                    "MemoryConfig: per_core_allocation is an option of shards of a ShardSpec.",
                    vendor="per_core_allocation is not supported with NdShardSpec",
                )
        self._set_allocation(Allocation.PER_CORE, enable)

    def experimental_set_range_lockstep_allocation(self, enable: bool) -> None:
        """Set whether only the cores of the shards are kept clear.

        The buffer has one address. On other cores, buffers with per-core addresses may have it too.

        Raises:
            MemoryConfigError: not of shards in L1, or the other option is set.
        """
        if enable:
            self._require_l1(
                "range_lockstep_allocation",
                "range_lockstep_allocation is only supported for L1 buffers: the scan it narrows runs over L1 banks, "
                "so the flag would be silently ignored anywhere else",
            )
            if self._allocation is Allocation.PER_CORE:
                raise self._exclusive(
                    "range_lockstep_allocation and per_core_allocation are mutually exclusive: a buffer either takes "
                    "one address across its cores or an independent address on each"
                )
            self._require_shards(
                "range_lockstep_allocation",
                "range_lockstep_allocation requires a sharded memory layout: an interleaved buffer spans every bank, "
                "so there is no narrower core set to scope the allocation to",
            )
        self._set_allocation(Allocation.LOCKSTEP_IN_SHARDS, enable)

    def _set_allocation(self, allocation: Allocation, enable: bool) -> None:
        if enable:
            self._allocation = allocation
        elif self._allocation is allocation:
            self._allocation = Allocation.LOCKSTEP
        self._hash = hash(self._key())

    def _require_l1(self, name: str, vendor: str) -> None:
        if self._buffer_type is not BufferType.L1:
            raise MemoryConfigError(
                f"MemoryConfig: {name} is an option of buffers in L1, this one is in {self._buffer_type.name}.",
                vendor=vendor,
            )

    def _require_shards(self, name: str, vendor: str) -> None:
        if not self.is_sharded():
            raise MemoryConfigError(
                f"MemoryConfig: {name} is an option of sharded tensors, this one is {self._memory_layout.name}.",
                vendor=vendor,
            )

    @staticmethod
    def _exclusive(vendor: str) -> MemoryConfigError:
        return MemoryConfigError(
            "MemoryConfig: set per_core_allocation or range_lockstep_allocation, not both.", vendor=vendor
        )

    def _as_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "memory_layout": self._memory_layout.value,
            "buffer_type": self._buffer_type.value,
            "created_with_nd_shard_spec": self._nd_shard_spec is not None,
            "per_core_allocation": self._allocation is Allocation.PER_CORE,
        }
        if self._allocation is Allocation.LOCKSTEP_IN_SHARDS:
            data["range_lockstep_allocation"] = True
        if self._nd_shard_spec is not None:
            data["nd_shard_spec"] = self._nd_shard_spec._as_json()
        if self._shard_spec is not None:
            data["shard_spec"] = self._shard_spec._as_json()
        return data

    @classmethod
    def _from_json(cls, data: dict[str, Any]) -> MemoryConfig:
        if data["created_with_nd_shard_spec"]:
            config = MemoryConfig(BufferType(data["buffer_type"]), NdShardSpec._from_json(data["nd_shard_spec"]))
        else:
            shards = data.get("shard_spec")
            config = MemoryConfig(
                TensorMemoryLayout(data["memory_layout"]),
                BufferType(data["buffer_type"]),
                None if shards is None else ShardSpec._from_json(shards),
            )
        if data.get("per_core_allocation"):
            config.experimental_set_per_core_allocation(True)
        if data.get("range_lockstep_allocation"):
            config.experimental_set_range_lockstep_allocation(True)
        return config

    def _key(self) -> tuple[object, ...]:
        return (self._memory_layout, self._buffer_type, self._shard_spec, self._nd_shard_spec, self._allocation)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return self._key() == other._key() if isinstance(other, MemoryConfig) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        shards = "std::nullopt" if self._shard_spec is None else repr(self._shard_spec)
        nd_shards = "std::nullopt" if self._nd_shard_spec is None else repr(self._nd_shard_spec)
        return (
            f"MemoryConfig(memory_layout={self._memory_layout.cpp_name},buffer_type={self._buffer_type.cpp_name},"
            f"shard_spec={shards},nd_shard_spec={nd_shards},"
            f"created_with_nd_shard_spec={int(self._nd_shard_spec is not None)},"
            f"per_core_allocation={int(self._allocation is Allocation.PER_CORE)},"
            f"range_lockstep_allocation={int(self._allocation is Allocation.LOCKSTEP_IN_SHARDS)})"
        )


DRAM_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.INTERLEAVED, BufferType.DRAM)
L1_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.INTERLEAVED, BufferType.L1)
L1_HEIGHT_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1)
L1_WIDTH_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.WIDTH_SHARDED, BufferType.L1)
L1_BLOCK_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.BLOCK_SHARDED, BufferType.L1)

_LAYOUT_OF_STRATEGY = {
    ShardStrategy.HEIGHT: TensorMemoryLayout.HEIGHT_SHARDED,
    ShardStrategy.WIDTH: TensorMemoryLayout.WIDTH_SHARDED,
    ShardStrategy.BLOCK: TensorMemoryLayout.BLOCK_SHARDED,
}
GridLike = CoreGrid | CoreRangeSet | Sequence[CoreGrid]


def create_sharded_memory_config(
    shape: ShapeLike,
    core_grid: GridLike,
    strategy: ShardStrategy,
    orientation: ShardOrientation | None = None,
    use_height_and_width_as_shard_shape: bool = False,
) -> MemoryConfig:
    """Return an L1 memory configuration with even shards over a grid.

    Args:
        shape: Shape of the tensor, or [..., height, width] of one shard if `use_height_and_width_as_shard_shape`.
        core_grid: Cores from 0-0 on; two grids make an L (the second below the first); a CoreRangeSet only
            with `use_height_and_width_as_shard_shape`.
        strategy: Which dimensions are cut. All dimensions but the last count as height.
        orientation: Order of the cores, ROW_MAJOR if None.
        use_height_and_width_as_shard_shape: `shape` is that of a shard.

    Raises:
        MemoryConfigError: the tensor does not divide evenly, or an argument has the wrong kind.
    """
    where = "ttnn.create_sharded_memory_config"
    dims, order = _checked(where, shape, core_grid, orientation)
    layout = _LAYOUT_OF_STRATEGY.get(strategy)
    if layout is None:
        raise MemoryConfigError(
            f"{where}: strategy must be a ShardStrategy, got {strategy!r}. Invalid sharding strategy"
        )
    cores = _cores_of(where, core_grid)
    if use_height_and_width_as_shard_shape:
        return _sharded(layout, cores, _shard_as_given(dims, order), order)
    if isinstance(core_grid, CoreRangeSet):
        raise MemoryConfigError(
            f"{where}: with a CoreRangeSet the shape must be that of a shard; pass "
            "use_height_and_width_as_shard_shape=True (height and width must be shard shape with CoreRangeSet)"
        )
    if not isinstance(core_grid, CoreGrid):
        raise MemoryConfigError(
            f"{where}: an L-shaped grid needs use_height_and_width_as_shard_shape=True. Invalid core_grid type"
        )
    height, width = math.prod(dims[:-1]), dims[-1]
    rows, columns = _cuts(layout, core_grid.x, core_grid.y, core_grid.num_cores, order)
    if height % rows or width % columns:
        raise MemoryConfigError(
            f"{where}: height {height} does not divide into {rows} and width {width} into {columns} equal parts. "
            "Invalid sharding core_grid"
        )
    return _sharded(layout, cores, (height // rows, width // columns), order)


def create_sharded_memory_config_(
    shape: ShapeLike,
    core_grid: GridLike,
    strategy: ShardStrategy | TensorMemoryLayout,
    orientation: ShardOrientation,
    use_height_and_width_as_shard_shape: bool = False,
    tile_layout: bool = False,
) -> MemoryConfig:
    """Return an L1 memory config sharded over a grid.

    The last shards may be partial.

    Args:
        shape: Shape of the tensor, or [..., height, width] of one shard if `use_height_and_width_as_shard_shape`.
        core_grid: As in `create_sharded_memory_config`, a CoreRangeSet in any case.
        strategy: Which dimensions are cut.
        orientation: Order of the cores.
        use_height_and_width_as_shard_shape: `shape` is that of a shard.
        tile_layout: Round the height of a shard up to tiles.

    Raises:
        MemoryConfigError: an argument has the wrong kind, or the shard is not made of tiles though it must.
    """
    where = "ttnn.create_sharded_memory_config_"
    if not isinstance(orientation, ShardOrientation):
        raise MemoryConfigError(f"{where}: got {orientation!r}. Invalid type of shard orientation")
    dims, order = _checked(where, shape, core_grid, orientation)
    if isinstance(strategy, TensorMemoryLayout):
        layout = strategy
    elif strategy in _LAYOUT_OF_STRATEGY:
        layout = _LAYOUT_OF_STRATEGY[strategy]
    else:
        raise MemoryConfigError(f"{where}: got {strategy!r}. Invalid type of sharding strategy")
    if layout not in _LAYOUT_OF_STRATEGY.values():
        raise MemoryConfigError(f"{where}: got {strategy!r}. Invalid sharding scheme")
    cores = _cores_of(where, core_grid)
    if use_height_and_width_as_shard_shape:
        shard = _shard_as_given(dims, order)
    else:
        grid = cores.bounding_box().grid_size()
        if layout is TensorMemoryLayout.BLOCK_SHARDED and grid.x * grid.y != cores.num_cores():
            raise MemoryConfigError(
                f"{where}: {cores} is not a full rectangle. Invalid CoreRangeSet for block sharding strategy"
            )
        height, width = math.prod(dims[:-1]), dims[-1]
        rows, columns = _cuts(layout, grid.x, grid.y, cores.num_cores(), order)
        if tile_layout and layout is TensorMemoryLayout.BLOCK_SHARDED:
            height = _rounded_up(height, rows * _TILE)
        shard = (-(-height // rows), -(-width // columns))
    if tile_layout and shard[0] % _TILE != 0 and shard[1] % _TILE != 0:
        raise MemoryConfigError(
            f"{where}: a shard of {shard[0]}x{shard[1]} is not made of tiles. Incorrect tensor shape"
        )
    return _sharded(layout, cores, shard, order)


def _checked(
    where: str, shape: ShapeLike, core_grid: GridLike, orientation: ShardOrientation | None
) -> tuple[tuple[int, ...], ShardOrientation]:
    if not isinstance(shape, (list, tuple, Shape)):
        raise MemoryConfigError(f"{where}: shape must be a Shape, list or tuple, got {shape!r}. Invalid input shape")
    if not isinstance(core_grid, (CoreGrid, tuple, list, CoreRangeSet)):
        raise MemoryConfigError(f"{where}: got {core_grid!r}. Invalid core_grid type")
    if orientation is not None and not isinstance(orientation, ShardOrientation):
        raise MemoryConfigError(f"{where}: got {orientation!r}. Invalid shard orientation")
    dims = as_dims(shape)
    if len(dims) < 2:
        raise MemoryConfigError(
            f"{where}: shape needs a height and a width, got {list(dims)}. Invalid input shape",
            vendor=f"not enough values to unpack (expected at least 2, got {len(dims)})",
        )
    return dims, orientation or ShardOrientation.ROW_MAJOR


def _cores_of(where: str, core_grid: GridLike) -> CoreRangeSet:
    if isinstance(core_grid, CoreRangeSet):
        return core_grid
    if isinstance(core_grid, CoreGrid):
        return CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(core_grid.x - 1, core_grid.y - 1))])
    if len(core_grid) != 2:
        raise MemoryConfigError(f"{where}: an L-shaped grid is two CoreGrid, got {core_grid!r}. Invalid core_grid")
    if not all(isinstance(grid, CoreGrid) for grid in core_grid):
        raise MemoryConfigError(f"{where}: an L-shaped grid is two CoreGrid, got {core_grid!r}. Invalid core_grid type")
    upper, lower = core_grid
    # The lower part is one row: the official rule reads only its width.
    return CoreRangeSet(
        [CoreRange((0, 0), (upper.x - 1, upper.y - 1)), CoreRange((0, upper.y), (lower.x - 1, upper.y))]
    )


def _shard_as_given(dims: tuple[int, ...], order: ShardOrientation) -> tuple[int, int]:
    height, width = dims[-2:]
    return (height, width) if order is ShardOrientation.ROW_MAJOR else (width, height)


def _cuts(layout: TensorMemoryLayout, columns: int, rows: int, cores: int, order: ShardOrientation) -> tuple[int, int]:
    """Return the numbers of shards along height and width."""
    if layout is TensorMemoryLayout.HEIGHT_SHARDED:
        return cores, 1
    if layout is TensorMemoryLayout.WIDTH_SHARDED:
        return 1, cores
    return (rows, columns) if order is ShardOrientation.ROW_MAJOR else (columns, rows)


def _rounded_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def _sharded(
    layout: TensorMemoryLayout, cores: CoreRangeSet, shard: tuple[int, int], order: ShardOrientation
) -> MemoryConfig:
    return MemoryConfig(layout, BufferType.L1, ShardSpec(cores, shard, order))

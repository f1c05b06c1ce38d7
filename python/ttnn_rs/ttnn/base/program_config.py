# ruff: noqa: N815 - per_core_M and per_core_N are the official names
"""Program configurations: core layout and blocks of an operator, as values.

What an operator does with one, and which combinations it refuses, is the operator's business.
Source: TT-NN docs, the classes of the same names.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from ttnn.base.activation import UnaryWithParam
from ttnn.base.core_range import CoreCoord, CoreRangeSet
from ttnn.base.enums import (
    DataType,
    Layout,
    MathFidelity,
    PaddingMode,
    ShardOrientation,
    TensorMemoryLayout,
    UnaryOpType,
)
from ttnn.base.exceptions import ArgumentError, TtnnError
from ttnn.base.json_text import dump_json
from ttnn.base.memory_config import ShardSpec
from ttnn.base.vendor_enum import VendorEnum

__all__ = [
    "LayerNormDefaultProgramConfig",
    "LayerNormShardedMultiCoreProgramConfig",
    "MatmulMultiCoreReuseMultiCast1DProgramConfig",
    "MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig",
    "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig",
    "MatmulMultiCoreReuseMultiCastProgramConfig",
    "MatmulMultiCoreReuseProgramConfig",
    "MinimalMatmulConfig",
    "PagedCacheGeometryOverride",
    "SDPAProgramConfig",
    "SoftmaxDefaultProgramConfig",
    "SoftmaxProgramConfig",
    "SoftmaxShardedMultiCoreProgramConfig",
    "create_layernorm_program_config",
]

_Config = TypeVar("_Config", bound="ConfigValue")


@dataclass(kw_only=True, unsafe_hash=True)
class ConfigValue:
    """Base class of configurations: type checks of fields, and JSON."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field, at construction or later.

        Raises:
            ArgumentError: a value of another kind, or a negative one.
            AttributeError: no field.
        """
        item = self.__dataclass_fields__.get(name)
        if item is None:
            raise AttributeError(f"{type(self).__name__} has no field {name}")
        kinds = KINDS[item.type]
        if isinstance(value, tuple | list) and CoreCoord in kinds:
            value = CoreCoord(tuple(value))
        if isinstance(value, UnaryOpType | tuple | list) and UnaryWithParam in kinds:
            value = UnaryWithParam(tuple(value) if isinstance(value, list) else value)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise ArgumentError(
                f"{type(self).__name__}: {name} must be {item.type}, got {type(value).__name__} {value!r}"
            )
        if isinstance(value, list) and not all(type(entry) is int and entry >= 0 for entry in value):
            raise ArgumentError(f"{type(self).__name__}: {name} must be integers of at least 0, got {value!r}")
        if isinstance(value, int) and value < 0:
            raise ArgumentError(f"{type(self).__name__}: {name} must not be negative, got {value}")
        super().__setattr__(name, value)

    def to_json(self) -> str:
        """Return the configuration as JSON text."""
        return dump_json({item.name: _plain(getattr(self, item.name)) for item in fields(self)})

    @classmethod
    def from_json(cls: type[_Config], json_string: str) -> _Config:
        """Return the configuration that `to_json` wrote.

        Raises:
            ArgumentError: the text is not JSON, or describes something else.
        """
        kinds = {item.name: KINDS[item.type] for item in fields(cls)}
        try:
            data = json.loads(json_string)
            unknown = sorted(set(data) - set(kinds))
            if unknown:
                raise ArgumentError(f"{cls.__name__}.from_json: no such field: {', '.join(unknown)}")
            return cls(**{name: _restored(value, kinds[name]) for name, value in data.items()})
        except TtnnError:
            raise
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise ArgumentError(f"{cls.__name__}.from_json: not the JSON text of one: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, CoreCoord | CoreRangeSet):
        return value._as_json()
    if isinstance(value, UnaryWithParam):
        return {"op_type": value.op_type.value, "params": list(value.params)}
    if isinstance(value, VendorEnum):
        return value.value
    return value


def _restored(value: Any, kinds: tuple[type, ...]) -> Any:
    if value is None:
        return None
    if CoreCoord in kinds:
        return CoreCoord._from_json(value)
    if CoreRangeSet in kinds:
        return CoreRangeSet._from_json(value)
    if UnaryWithParam in kinds:
        return UnaryWithParam(UnaryOpType(value["op_type"]), *value["params"])
    enumeration = next((kind for kind in kinds if issubclass(kind, VendorEnum)), None)
    return value if enumeration is None else enumeration(value)


_NONE = type(None)
# Annotations are text (PEP 563); these are all that occur in configurations.
KINDS: dict[Any, tuple[type, ...]] = {
    "int": (int,),
    "bool": (bool,),
    "bool | None": (bool, _NONE),
    "CoreCoord": (CoreCoord,),
    "CoreRangeSet": (CoreRangeSet,),
    "CoreRangeSet | None": (CoreRangeSet, _NONE),
    "int | None": (int, _NONE),
    "MathFidelity | None": (MathFidelity, _NONE),
    "UnaryWithParam | None": (UnaryWithParam, _NONE),
    "DataType": (DataType,),
    "DataType | None": (DataType, _NONE),
    "Layout": (Layout,),
    "PaddingMode": (PaddingMode,),
    "ShardOrientation": (ShardOrientation,),
    "TensorMemoryLayout": (TensorMemoryLayout,),
    "TensorMemoryLayout | None": (TensorMemoryLayout, _NONE),
    "list[int]": (list,),
}


@dataclass(kw_only=True, unsafe_hash=True)
class MatmulMultiCoreReuseProgramConfig(ConfigValue):
    """Each core computes whole output blocks from operands that it reads alone."""

    compute_with_storage_grid_size: CoreCoord
    in0_block_w: int
    out_subblock_h: int
    out_subblock_w: int
    per_core_M: int
    per_core_N: int
    allowed_worker_cores: CoreRangeSet | None = None


@dataclass(kw_only=True, unsafe_hash=True)
class _MultiCast(ConfigValue):
    """Base class of the two multicast programs."""

    compute_with_storage_grid_size: CoreCoord
    in0_block_w: int
    out_subblock_h: int
    out_subblock_w: int
    out_block_h: int | None = None
    out_block_w: int | None = None
    per_core_M: int
    per_core_N: int

    def __post_init__(self) -> None:
        if self.out_block_h is None:
            self.out_block_h = self.per_core_M
        if self.out_block_w is None:
            self.out_block_w = self.per_core_N


@dataclass(kw_only=True, unsafe_hash=True)
class MatmulMultiCoreReuseMultiCastProgramConfig(_MultiCast):
    """A multicast grid of output blocks.

    Rows share the left operand, columns the right one.

    `out_block_h` and `out_block_w` are `per_core_M` and `per_core_N` if not given.
    """

    transpose_mcast: bool
    fused_activation: UnaryWithParam | None = None
    fuse_batch: bool = True
    allowed_worker_cores: CoreRangeSet | None = None


@dataclass(kw_only=True, unsafe_hash=True)
class MatmulMultiCoreReuseMultiCast1DProgramConfig(_MultiCast):
    """A row of output blocks; one operand is multicast to all cores.

    `out_block_h` and `out_block_w` are `per_core_M` and `per_core_N` if not given.
    """

    fuse_batch: bool
    fused_activation: UnaryWithParam | None = None
    mcast_in0: bool
    gather_in0: bool = False
    hop_cores: CoreRangeSet = field(default_factory=CoreRangeSet)
    num_global_cb_receivers: int = 1
    untilize_out: bool = False
    allowed_worker_cores: CoreRangeSet | None = None
    stream_in1: bool = False


@dataclass(kw_only=True, unsafe_hash=True)
class MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(ConfigValue):
    """A right operand width-sharded over DRAM banks.

    Each bank is read by the workers next to it.
    """

    in0_block_w: int
    per_core_M: int
    per_core_N: int
    fused_activation: UnaryWithParam | None = None
    num_workers_per_dram_bank: int = 1


@dataclass(kw_only=True, unsafe_hash=True)
class MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig(ConfigValue):
    """Batches of the right operand are sharded over DRAM banks."""

    in0_block_w: int
    per_core_M: int
    per_core_N: int
    fused_activation: UnaryWithParam | None = None


@dataclass(kw_only=True, unsafe_hash=True)
class MinimalMatmulConfig(ConfigValue):
    """Block sizes of the experimental minimal matmul."""

    M_block_size: int = 1
    K_block_size: int = 1
    N_block_size: int = 1
    subblock_h: int = 1
    subblock_w: int = 1
    compute_with_storage_grid_size: CoreCoord = field(default_factory=lambda: CoreCoord(1, 1))


@dataclass(kw_only=True, unsafe_hash=True)
class SDPAProgramConfig(ConfigValue):
    """Chunk sizes of scaled dot product attention."""

    compute_with_storage_grid_size: CoreCoord
    sub_core_grids: CoreRangeSet | None = None
    q_chunk_size: int
    k_chunk_size: int
    exp_approx_mode: bool | None = None
    max_cores_per_head_batch: int = 16
    max_k_splits: int = 1
    matmul_math_fidelity: MathFidelity | None = None
    segmented_accumulation: bool = False


@dataclass(unsafe_hash=True)
class PagedCacheGeometryOverride(ConfigValue):
    """The shape in which a call of paged attention sees a cache.

    Layers with other shapes may share the memory of a cache: the elements of a block are as many. The width of rows is
    that of the queries.
    """

    block_size: int
    num_kv_heads: int


@dataclass(kw_only=True, unsafe_hash=True)
class SoftmaxDefaultProgramConfig(ConfigValue):
    """The operator chooses."""


@dataclass(kw_only=True, unsafe_hash=True)
class SoftmaxShardedMultiCoreProgramConfig(ConfigValue):
    """Block of a sharded softmax on one core."""

    compute_with_storage_grid_size: CoreCoord
    subblock_w: int
    block_h: int
    block_w: int


SoftmaxProgramConfig = SoftmaxDefaultProgramConfig | SoftmaxShardedMultiCoreProgramConfig


@dataclass(kw_only=True, unsafe_hash=True)
class LayerNormDefaultProgramConfig(ConfigValue):
    """Automatic block sizes; the reduction method may be set."""

    legacy_reduction: bool = False
    legacy_rsqrt: bool = False
    use_welford: bool = False


@dataclass(kw_only=True, unsafe_hash=True)
class LayerNormShardedMultiCoreProgramConfig(ConfigValue):
    """Block of a sharded layer norm on one core."""

    compute_with_storage_grid_size: CoreCoord
    subblock_w: int
    block_h: int
    block_w: int
    inplace: bool
    legacy_reduction: bool = False
    legacy_rsqrt: bool = False
    use_welford: bool = False


def create_layernorm_program_config(
    shard_spec: ShardSpec | None = None, tile_height: int = 32, tile_width: int = 32
) -> LayerNormDefaultProgramConfig | LayerNormShardedMultiCoreProgramConfig:
    """Return a sharded norm's program configuration; default without `shard_spec`.

    Args:
        shard_spec: Shards of the operand; the block of a core is its shard.
        tile_height: Rows of a tile.
        tile_width: Columns of a tile.

    Raises:
        ArgumentError: `shard_spec` is no ShardSpec.
    """
    if shard_spec is None:
        return LayerNormDefaultProgramConfig()
    if not isinstance(shard_spec, ShardSpec):
        raise ArgumentError(
            f"create_layernorm_program_config: shard_spec must be ShardSpec | None, got {type(shard_spec).__name__}"
        )
    height, width = shard_spec.shape
    return LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=shard_spec.grid.bounding_box().grid_size(),
        subblock_w=1,
        block_h=height // tile_height,
        block_w=width // tile_width,
        inplace=False,
    )

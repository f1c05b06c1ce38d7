"""`sum`, `mean`, `max` and `min` over any dimensions.

Integers are joined as wholes: sums wrap modulo 2^32, comparisons follow the sign of the type, and padding holds what
changes no result. The device does so for int32 in a 32-bit Dst. It reduces uint32 on the FPU, and int32 in a 16-bit Dst
in part; what it returns then is not known.

Source: TT-NN docs of the operators; tt-metal `ttnn/cpp/ttnn/operations/reduction/generic`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig, wide_fidelity
from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import (
    FORMAT_CODE,
    TILE_SIZE,
    Arch,
    DataType,
    Layout,
    MathFidelity,
    TensorMemoryLayout,
)
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, NdShardSpec, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import reduction as golden
from ttnn.operation.accuracy import Accuracy, bit_exact, max_ulp
from ttnn.operation.registry import FastOperation, Op, register
from ttnn.operation.result_shards import trimmed_to_used
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    FLOAT,
    INT_OR_INTS,
    LAYOUT,
    Param,
    Signature,
)
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    SUB_CORE_GRIDS_OPTION,
    allocate,
    full_tiles,
    is_empty,
    on_device,
)
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.data_movement.permute import moved_to
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.reduction.program import (
    REDUCED_INTEGERS,
    Kind,
    Setting,
    add_leading,
    identity,
    reduce_axes,
    reduce_integers,
)
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B)
_ADDED_FAST: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B)


def _reduce(
    kind: Kind,
    input_tensor: Tensor,
    dim: int | Sequence[int] | None,
    keepdim: bool,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    scalar: float,
    _correction: bool | None,
    _sub_core_grids: CoreRangeSet | None,
    fast_and_approximate_mode: bool,
    output_layout: Layout | None = None,
) -> Tensor:
    name = f"ttnn.{kind}"
    device = on_device(name, input_tensor)
    spec = input_tensor.spec
    dims = tuple(spec.shape)
    axes = reduced_axes(name, dim, len(dims))
    if kind == "mean" and spec.dtype in REDUCED_INTEGERS:
        _check_dtype(name, kind, input_tensor)
    shape = [1 if axis in axes else size for axis, size in enumerate(dims) if keepdim or axis not in axes]
    target = reduced_place(name, spec, axes, keepdim, memory_config)
    _check_dtype(name, kind, input_tensor)
    full_tiles(name, input_tensor)
    _check_layout(name, spec, output_layout)
    if scalar != 1.0 and (not dims or is_empty(spec)):
        raise UnsupportedError(
            f"{name}: scalar={scalar!r} with a tensor of {spec.shape}: the official package ignores it where nothing "
            "is reduced. Multiply the result instead."
        )
    if not dims:
        return moved_to(input_tensor, target)
    if is_empty(spec):
        _check_extreme_of_nothing(name, kind, dims, axes)
        return _of_nothing(spec, kind, shape, output_layout, target, device)
    fidelity, wide_dst = _configuration(name, compute_kernel_config, device.arch())
    integers = spec.dtype in REDUCED_INTEGERS
    if spec.dtype is DataType.UINT32 and scalar != 1.0:
        raise UnsupportedError(
            f"{name}: scalar={scalar!r} with UINT32: the official package multiplies on the FPU, whose result with "
            "32-bit integers is not known. Multiply the result instead."
        )
    setting = Setting(
        name,
        target if target.interleaved else DRAM_MEMORY_CONFIG,
        fidelity,
        wide_dst,
        fast_and_approximate_mode,
        output_layout is Layout.TILE,
    )
    # Programs work on matrices; a vector is one of a single row.
    source = input_tensor if len(dims) > 1 else reshaped(name, input_tensor, (1, *dims))
    shift = source.spec.shape.rank - len(dims)
    axes = [axis + shift for axis in axes]
    if integers:
        result = reduce_integers(setting, source, axes, kind, float(scalar))
    else:
        result = _chain(setting, source, kind, axes, float(scalar), len(axes) < len(dims))
    result = reshaped(name, result, shape)
    if output_layout is not None and result.spec.layout is not output_layout:
        tiled = output_layout is Layout.TILE
        result = tilize_padded(name, result) if tiled else untilized(name, result)
    return result if result.spec.memory_config == target else moved_to(result, target)


def _chain(setting: Setting, source: Tensor, kind: Kind, axes: list[int], scalar: float, partial_sum: bool) -> Tensor:
    """Return the reduced tensor, its reduced dimensions still there."""
    dtype = source.spec.dtype
    outside = [axis for axis in axes if axis < source.spec.shape.rank - 2]
    # Sums and means of bfloat16 over several dimensions keep FP32 between their programs, unless nothing is left of the
    # tensor.
    chained = kind in ("sum", "mean") and dtype is DataType.BFLOAT16 and len(axes) > 1 and partial_sum
    fresh = True
    if kind == "sum" and dtype in _ADDED_FAST and scalar == 1.0 and outside:
        axes = axes[len(outside) :]
        between = DataType.FLOAT32 if chained else None
        final = (DataType.FLOAT32 if axes else DataType.BFLOAT16) if chained else None
        source, fresh = add_leading(setting, source, outside, between, final), False
        if not axes:
            return source
    return reduce_axes(setting, source, axes, kind, scalar, chained=chained, last=chained, fresh=fresh)


def reduced_axes(name: str, dim: int | Sequence[int] | None, rank: int) -> list[int]:
    """Return the reduced dimensions in ascending order.

    All of them for None and for an empty list.

    Raises:
        ShapeError: one is out of range, or named twice.
    """
    if dim is None:
        return list(range(rank))
    named = [dim] if isinstance(dim, int) or not isinstance(dim, Sequence) else list(dim)
    if not named:
        return list(range(rank))
    axes = [axis + rank if axis < 0 else axis for axis in map(int, named)]
    for index, axis in enumerate(axes):
        if not 0 <= axis < (rank or 1):
            raise ShapeError(
                f"{name}: dim={named[index]} is out of range for a tensor of rank {rank}.",
                vendor=f"Unsupported dim {axis} at index {index}. After possible adjustment, needs to be at least 0 "
                f"and less "
                f"than rank {rank}, or exactly 0 for a rank 0 tensor.",
            )
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{name}: dim={named} names a dimension twice.")
    return sorted(axes)


def _check_dtype(name: str, kind: Kind, tensor: Tensor) -> None:
    spec = tensor.spec
    dtype = spec.dtype
    if dtype in _DTYPES:
        return
    given = dtype.cpp_name
    ours = f"{name}: input_tensor is {dtype.name}; typecast it to a floating point type first."
    if dtype in REDUCED_INTEGERS:
        if kind != "mean":
            return
        raise DTypeError(ours, vendor=f"ttnn.mean does not support integer inputs - got {given}.")
    if dtype in (DataType.UINT8, DataType.INT8):
        if spec.layout is Layout.ROW_MAJOR:
            tilized = "Can only tilize bfloat16/float32 or int32/uint32/uint16 or fp8_e4m3 tensors"
            raise DTypeError(ours, vendor=tilized)
        if tuple(spec.shape)[-2:] != tuple(spec.padded_shape)[-2:]:
            # Padding is overwritten first, by a program that knows fewer types.
            raise DTypeError(ours, vendor=f"Unsupported datatype {given}")
    raise DTypeError(
        ours,
        vendor="Only FLOAT32, BFLOAT16, BFLOAT8_B, and UINT32 are supported for generic reduction (INT32 is supported "
        "for "
        f"MAX/MIN/SUM) - got {given}.",
    )


def _check_layout(name: str, spec: TensorSpec, output_layout: Layout | None) -> None:
    if output_layout is None or output_layout is Layout.TILE:
        return
    if output_layout is not Layout.ROW_MAJOR:
        raise LayoutError(f"{name}: output_layout is {output_layout.name}; TILE and ROW_MAJOR exist.")
    if spec.dtype is DataType.BFLOAT8_B:
        raise LayoutError(
            f"{name}: output_layout=ROW_MAJOR: {spec.dtype.name} shares an exponent between 16 values of a tile and "
            "has no ROW_MAJOR form; reduce to TILE_LAYOUT and use ttnn.typecast."
        )


def _configuration(name: str, config: WormholeComputeKernelConfig | None, arch: Arch) -> tuple[int, bool]:
    """Return fidelity and whether Dst is 32 bits wide."""
    if config is None:
        return FIDELITY_NUMBER[wide_fidelity(arch)], True
    return stated_fidelity(name, config), config.fp32_dest_acc_en


def stated_fidelity(name: str, config: WormholeComputeKernelConfig) -> int:
    """Return the engine's number of a configuration's fidelity.

    Raises:
        UnsupportedError: the configuration has none.
    """
    if config.math_fidelity is MathFidelity.Invalid:
        raise UnsupportedError(
            f"{name}: compute_kernel_config without math_fidelity: the official package accepts it and the bits are "
            "undefined. Set math_fidelity to LoFi, HiFi2, HiFi3 or HiFi4."
        )
    return FIDELITY_NUMBER[config.math_fidelity]


def reduced_place(
    name: str, spec: TensorSpec, axes: Sequence[int], keepdim: bool, memory_config: MemoryConfig | None
) -> MemoryConfig:
    """Return the result's memory config: requested, or that of the input.

    Of shards only the kind and the cores count, those of the input if none are requested: the result is divided evenly.

    Raises:
        MemoryConfigError: sharded, and neither the request nor the input names cores.
        UnsupportedError: the input is sharded, and dimensions before the last two are reduced.
    """
    config, rank = spec.memory_config, spec.shape.rank
    asked = memory_config or config
    if config.nd_shard_spec is None and asked.nd_shard_spec is None and asked.is_sharded():
        shards = asked.shard_spec or config.shard_spec
        if shards is None:
            raise MemoryConfigError(
                f"{name}: memory_config is {asked.memory_layout.name} and names no cores, and input_tensor has no "
                "shards. Make it with ttnn.create_sharded_memory_config.",
                vendor=f"Sharded memory layout {asked.memory_layout.cpp_name} requires either nd_shard_spec or "
                "shard_spec to be set on the output memory config or the input tensor",
            )
        if spec.layout is not Layout.TILE:
            # It is put into tiles first, shard by shard.
            TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, config)
        inherited = asked.shard_spec is None or memory_config is None
        if rank >= 2 and (axes[0] >= rank - 2 or (inherited and len(axes) == rank)):
            kept = [1 if axis in axes else size for axis, size in enumerate(spec.shape)]
            place = _divided(spec, kept, asked, shards)
            if keepdim or (rank - 1 not in axes and list(axes) != [rank - 2]):
                return place
            left = [size for axis, size in enumerate(spec.shape) if axis not in axes]
            same = (1, 1, *left)[-2:] == tuple(kept[-2:])
            return place if same else _divided(spec, left, asked, shards, trimmed=True)
    follows = memory_config is None or (
        memory_config.shard_spec is None
        and memory_config.nd_shard_spec is None
        and memory_config.memory_layout is config.memory_layout
        and memory_config.buffer_type is config.buffer_type
    )
    if not follows or config.interleaved:
        return memory_config or config
    shards, nd = config.shard_spec, config.nd_shard_spec
    matrices = rank >= 2 and axes[0] >= rank - 2 and spec.layout is Layout.TILE
    # A height of 1 goes without another row of tiles.
    leaves_tiles = keepdim or (list(axes) == [rank - 2] and rank >= 3 and spec.shape[rank - 3] == 1)
    if not matrices or not leaves_tiles:
        raise UnsupportedError(
            f"{name}: input_tensor is {config.memory_layout.name}; only reductions of tiles over the last two "
            "dimensions with keepdim=True leave shards of a known shape. Pass memory_config for the result.",
            "unimplemented",
        )
    if shards is not None and config.memory_layout is TensorMemoryLayout.WIDTH_SHARDED and list(axes) == [rank - 2]:
        height = math.prod(tuple(spec.shape)[:-2]) * TILE_SIZE
        cut = ShardSpec(shards.grid, (height, shards.shape[1]), shards.orientation)
        return MemoryConfig(config.memory_layout, config.buffer_type, cut)
    if nd is None:
        assert shards is not None
        nd = NdShardSpec(shards.shape, shards.grid, shards.orientation)
    sides = list(nd.shard_shape)
    for axis in axes:
        side = axis - rank
        if len(sides) >= -side:
            sides[side] = 1 if side == -1 else -(-sides[side] // spec.shape[side])
    aligned = [-(-side // TILE_SIZE) * TILE_SIZE for side in sides[-2:]]
    nd = NdShardSpec([*sides[:-2], *aligned], nd.grid, nd.orientation, nd.shard_distribution_strategy)
    return MemoryConfig(config.buffer_type, nd)


def _divided(
    spec: TensorSpec, shape: Sequence[int], asked: MemoryConfig, shards: ShardSpec, *, trimmed: bool = False
) -> MemoryConfig:
    """Return a memory config with a shape divided evenly over cores.

    One shard that is as high as the tensor makes it width-sharded.

    Args:
        spec: The operand.
        shape: The shape that is divided.
        asked: Kind of sharding and of memory.
        shards: Their cores.
        trimmed: Leave out rows and columns of a block's cores that stay empty.
    """
    plain = TensorSpec.of(
        shape, spec.dtype, Layout.TILE, MemoryConfig(TensorMemoryLayout.INTERLEAVED, asked.buffer_type)
    )
    if asked.memory_layout is TensorMemoryLayout.BLOCK_SHARDED:
        place = plain.block_sharded(shards.grid, shards.orientation).memory_config
        return trimmed_to_used(plain, place) if trimmed else place
    if asked.memory_layout is TensorMemoryLayout.WIDTH_SHARDED:
        return plain.width_sharded(shards.grid, shards.orientation).memory_config
    place = plain.height_sharded(shards.grid, shards.orientation).memory_config
    cut = place.shard_spec
    assert cut is not None
    if cut.shape[0] < plain.physical_shape[0]:
        return place
    return MemoryConfig(TensorMemoryLayout.WIDTH_SHARDED, place.buffer_type, cut)


def _check_extreme_of_nothing(name: str, kind: Kind, dims: Sequence[int], axes: Sequence[int]) -> None:
    """Refuse the largest or smallest of no elements.

    Raises:
        ShapeError: a reduced dimension has size 0.
    """
    axis = next((axis for axis in axes if dims[axis] == 0), None)
    if kind in ("max", "min") and axis is not None:
        raise ShapeError(
            f"{name}: dimension {axis} of {list(dims)} has size 0; there is no {kind}imum of nothing.",
            vendor=f"Expected reduction dim {axis} to have non-zero size",
        )


def _of_nothing(
    spec: TensorSpec,
    kind: Kind,
    shape: Sequence[int],
    output_layout: Layout | None,
    memory_config: MemoryConfig,
    device: Any,
) -> Tensor:
    """Return the result for a tensor without elements."""
    target = TensorSpec.of(shape, spec.dtype, output_layout or spec.layout, memory_config)
    output = allocate(target, device)
    if not is_empty(target):
        assert output.buffer is not None
        value = math.nan if kind == "mean" else identity(kind, spec.dtype)
        engine_steps.fill(output.buffer, format=FORMAT_CODE[spec.dtype], value=value)
    return output


_OPTIONS: Final = (
    MEMORY_CONFIG_OPTION,
    Param(
        "compute_kernel_config",
        COMPUTE_KERNEL_CONFIG,
        None,
        doc="Math fidelity and Dst width. Default: HiFi3 (HiFi4 on Blackhole) and 32 bits.",
    ),
    Param("scalar", FLOAT, 1.0, doc="Multiplier of the output."),
    Param("correction", BOOLEAN, None, doc="Used by `std` and `var` only."),
    SUB_CORE_GRIDS_OPTION,
    Param("fast_and_approximate_mode", BOOLEAN, False, doc="Reduce float32 on the FPU, as TF32."),
)
_OUTPUT_LAYOUT: Final = Param("output_layout", LAYOUT, None, doc="Layout of the output. Default: that of the program.")


def _examples(shape: tuple[int, ...], _layout: Layout) -> Iterator[tuple[Any, ...]]:
    rank = len(shape)
    yield ()
    if rank:
        yield from ((-1,), (0, True))
    if rank >= 2:
        yield from (((-2,), True), ([0, -1],))


def _register(kind: Kind, doc: str, reference: Any, accuracy: Accuracy) -> FastOperation:
    by_sum = kind in ("sum", "mean")
    return register(
        Op(
            name=kind,
            signatures=(
                Signature(
                    (
                        INPUT_TENSOR,
                        Param("dim", INT_OR_INTS, None, doc="Dimensions to reduce. Default: all."),
                        Param("keepdim", BOOLEAN, False, doc="Whether to keep the reduced dimensions with size 1."),
                    ),
                    (*_OPTIONS, _OUTPUT_LAYOUT) if by_sum else _OPTIONS,
                ),
            ),
            run=partial(_reduce, kind),
            doc=doc,
            source="tt-metal `ttnn/cpp/ttnn/operations/reduction/generic`",
            dtypes=_DTYPES if kind == "mean" else (*_DTYPES, *REDUCED_INTEGERS),
            reference=() if kind == "mean" else REDUCED_INTEGERS,
            layouts=(Layout.TILE, Layout.ROW_MAJOR),
            golden=reference,
            accuracy=accuracy,
            engine=("reduce",),
            raises=(
                ("DTypeError", f"the input is bfloat4_b or holds {'' if kind == 'mean' else '8- or 16-bit '}integers."),
                (
                    "ShapeError",
                    "a dimension is out of range, or named twice"
                    + ("." if by_sum else ", or has size 0 and is reduced."),
                ),
                (
                    "UnsupportedError",
                    "the input is sharded, `memory_config` is not given and the last two dimensions are not those that "
                    "are reduced, or rows in ROW_MAJOR_LAYOUT are too long.",
                ),
            ),
            examples=_examples,
        )
    )


sum = _register(
    "sum",
    "Return the sum of `input_tensor` over `dim`.\n"
    "Shape: [..., H, W] -> [..., H] for `dim` -1, or [..., H, 1] with `keepdim`.\n"
    "Sums of int32 wrap modulo 2^32, and those of uint32 here; what the device returns for uint32 is not known.",
    golden.sum_,
    max_ulp(
        (DataType.BFLOAT16, 2),
        (DataType.FLOAT32, 16),
        (DataType.BFLOAT8_B, 2),
        magnitude=golden.sum_of_magnitudes,
    ),
)
mean = _register(
    "mean",
    "Return the mean of `input_tensor` over `dim`.\n"
    "Shape: [..., H, W] -> [..., H] for `dim` -1, or [..., H, 1] with `keepdim`.\n"
    "For bfloat16 and bfloat8_b, 1/N is truncated to bfloat16.",
    golden.mean,
    max_ulp(
        (DataType.BFLOAT16, 3),
        (DataType.FLOAT32, 16),
        (DataType.BFLOAT8_B, 2),
        magnitude=golden.mean_of_magnitudes,
    ),
)
_EXTREMES: Final = (
    "\n"
    "Shape: [..., H, W] -> [..., H] for `dim` -1, or [..., H, 1] with `keepdim`.\n"
    "uint32 is compared exactly here; what the device returns for it is not known.\n"
    "bfloat8_b: values that share a group of 16 with tile padding are lost, as on the device. Use sizes that are "
    "multiples of 16."
)
max = _register("max", "Return the maximum of `input_tensor` over `dim`." + _EXTREMES, golden.max_, bit_exact())
min = _register("min", "Return the minimum of `input_tensor` over `dim`." + _EXTREMES, golden.min_, bit_exact())

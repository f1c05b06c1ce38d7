"""Memory configs of tensors: copy, move, free.

They are interleaved or sharded, in DRAM or L1.

Source: TT-NN docs of the operators; sharding rules as in `MemoryConfig`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet
from ttnn.base.enums import BinaryOpType, BufferType, DataType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import LayoutError, MemoryConfigError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, L1_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import require_allocatable
from ttnn.golden import data_movement as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.domain import Operand
from ttnn.operation.registry import declare
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    CORE_COORD_OR_SET,
    DATA_TYPE,
    INT_SEQUENCE,
    MEMORY_CONFIG,
    MEMORY_LAYOUT,
    ORIENTATION,
    TENSOR,
    Param,
    Signature,
)
from ttnn.ops._programs.common import (
    FLOATS,
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    allocate,
    memory_of_result,
    on_device,
    same_device,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.typecast import cast_by_copy
from ttnn.ops.eltwise.binary.compute import Options, compute
from ttnn.ops.eltwise.binary.program import Arithmetic
from ttnn.tensor.tensor import Tensor


def _placed(
    name: str,
    source: Tensor,
    memory_config: MemoryConfig,
    dtype: DataType | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """Return a copy of `source` in another memory config or data type."""
    device = on_device(name, source)
    spec = source.spec
    memory_config = memory_of_result(memory_config, output_tensor, memory_config)
    if dtype is not None and dtype is not spec.dtype:
        return cast_by_copy(name, source, dtype, memory_config, output_tensor)
    if output_tensor is None:
        output = allocate(spec.with_memory_config(memory_config), device)
    else:
        output = take_output(name, output_tensor, tuple(spec.shape), spec.layout, device, dtype=spec.dtype)
    copy_into(source, output)
    return output


def _to_memory_config(
    tensor: Tensor, memory_config: MemoryConfig, dtype: DataType | None, output_tensor: Tensor | None
) -> Tensor:
    spec = tensor.spec
    name = "ttnn.to_memory_config"
    on_device(name, tensor, "tensor")
    unchanged = dtype is None or dtype is spec.dtype
    if unchanged and output_tensor is None and memory_config == spec.memory_config:
        return tensor
    return _placed(name, tensor, memory_config, dtype, output_tensor)


def _to_shards(
    input_tensor: Tensor,
    sharded_memory_config: MemoryConfig,
    output_dtype: DataType | None,
    _keep_l1_aligned: bool | None,
    preallocated_output: Tensor | None,
) -> Tensor:
    name = "ttnn.interleaved_to_sharded"
    on_device(name, input_tensor)
    if preallocated_output is None:
        input_tensor.spec.with_memory_config(sharded_memory_config)
    if input_tensor.spec.memory_config.is_sharded():
        layout = input_tensor.spec.memory_config.memory_layout
        raise MemoryConfigError(
            f"{name}: input_tensor is already sharded; use ttnn.reshard.",
            vendor=f"Input tensor memory layout must be INTERLEAVED, but got {layout.cpp_name}",
        )
    if not sharded_memory_config.is_sharded():
        raise MemoryConfigError(f"{name}: {sharded_memory_config} is not sharded; use ttnn.to_memory_config.")
    return _placed(name, input_tensor, sharded_memory_config, output_dtype, preallocated_output)


def _to_shards_on_grid(
    input_tensor: Tensor,
    grid: CoreCoord | tuple[int, int] | CoreRangeSet,
    shard_shape: Sequence[int],
    shard_scheme: TensorMemoryLayout,
    shard_orientation: ShardOrientation,
    output_dtype: DataType | None,
    keep_l1_aligned: bool | None,
) -> Tensor:
    if not isinstance(grid, CoreRangeSet):
        # A coordinate is the size of a grid that starts at 0-0.
        grid = grid if isinstance(grid, CoreCoord) else CoreCoord(*grid)
        grid = CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1))])
    shards = ShardSpec(grid, list(shard_shape), shard_orientation)
    config = MemoryConfig(shard_scheme, BufferType.L1, shards)
    return _to_shards(input_tensor, config, output_dtype, keep_l1_aligned, None)


def _to_interleaved(input_tensor: Tensor, memory_config: MemoryConfig | None, output_dtype: DataType | None) -> Tensor:
    name = "ttnn.sharded_to_interleaved"
    on_device(name, input_tensor)
    spec = input_tensor.spec
    if not spec.memory_config.is_sharded():
        return input_tensor
    memory_config = memory_config or DRAM_MEMORY_CONFIG
    if memory_config.is_sharded():
        raise MemoryConfigError(f"{name}: memory_config is sharded; use ttnn.reshard.")
    return _placed(name, input_tensor, memory_config, output_dtype)


def _reshard(input_tensor: Tensor, output_memory_config: MemoryConfig, output_tensor: Tensor | None) -> Tensor:
    name = "ttnn.reshard"
    on_device(name, input_tensor)
    if output_tensor is None:
        input_tensor.spec.with_memory_config(output_memory_config)
    if not input_tensor.spec.memory_config.is_sharded():
        raise MemoryConfigError(
            f"{name}: input_tensor is interleaved; use ttnn.interleaved_to_sharded.", vendor="input must be sharded"
        )
    if not output_memory_config.is_sharded():
        raise MemoryConfigError(f"{name}: output_memory_config is interleaved; use ttnn.sharded_to_interleaved.")
    return _placed(name, input_tensor, output_memory_config, None, output_tensor)


def _clone(
    input_: Tensor,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = "ttnn.clone"
    on_device(name, input_, "input")
    spec = input_.spec
    if dtype is not None and dtype is not spec.dtype and spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: a row-major tensor keeps its data type; use ttnn.typecast.",
            vendor="Clone: data type conversion is only supported with tile layout",
        )
    place = memory_config or spec.memory_config
    require_allocatable(spec.with_memory_config(place))
    if place.interleaved is not spec.memory_config.interleaved:
        raise MemoryConfigError(
            f"{name}: input is {spec.memory_config.memory_layout.name}, memory_config {place.memory_layout.name}; use "
            "ttnn.to_memory_config.",
            vendor="Clone: mixed sharded/interleaved layout not currently supported. Both input and output must have "
            "the same layout.",
        )
    wide = compute_kernel_config is not None and compute_kernel_config.fp32_dest_acc_en
    if wide and dtype in FLOATS and dtype is not spec.dtype and spec.dtype is DataType.FLOAT32:
        # Float32 passes SrcA, as TF32; a copy of it to a 32-bit Dst is the sum of SrcA and zeros.
        return compute(_THROUGH_SRC_A, input_, 0.0, Options(dtype, place, None))
    return _placed(name, input_, place, dtype)


def _move(input_tensor: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    name = "ttnn.move"
    on_device(name, input_tensor)
    own = input_tensor.spec.memory_config
    place = memory_config or own
    if own.is_sharded():
        if place.interleaved:
            raise MemoryConfigError(
                f"{name}: input_tensor is {own.memory_layout.name}, memory_config interleaved; use "
                "ttnn.sharded_to_interleaved.",
                vendor="Expected output tensor memory config to be sharded",
            )
        if place.shard_spec is None and own.shard_spec is not None:
            place = MemoryConfig(place.memory_layout, place.buffer_type, own.shard_spec)
    moved = _placed(name, input_tensor, place)
    input_tensor.deallocate(True)
    return moved


def _copy(input_a: Tensor, input_b: Tensor) -> Tensor:
    return _copied("ttnn.copy", input_a, input_b)


def _copied(name: str, source: Tensor, output: Tensor) -> Tensor:
    device = on_device(name, source, "input_a")
    on_device(name, output, "input_b")
    same_device(name, device, output, "input_b")
    a, b = source.spec, output.spec
    if a.shape != b.shape:
        raise ShapeError(
            f"{name}: input_a is {a.shape}, input_b {b.shape}.",
            vendor=f"Input tensor shape {a.shape} does not match output tensor shape {b.shape}",
        )
    if a.layout is not b.layout:
        raise LayoutError(
            f"{name}: input_a is {a.layout.name}, input_b {b.layout.name}.",
            vendor=f"Input tensor layout ({a.layout.cpp_name}) must equal output tensor layout ({b.layout.cpp_name})",
        )
    if a.dtype is not b.dtype:
        return cast_by_copy(name, source, b.dtype, None, output)
    if source.buffer is not output.buffer:
        copy_into(source, output)
    return output


def _assign(
    input_tensor: Tensor, memory_config: MemoryConfig, dtype: DataType | None, output_tensor: Tensor | None
) -> Tensor:
    return _placed("ttnn.assign", input_tensor, memory_config, dtype, output_tensor)


def _assign_to(input_a: Tensor, input_b: Tensor) -> Tensor:
    return _copied("ttnn.assign", input_a, input_b)


_THROUGH_SRC_A: Final = Arithmetic("ttnn.clone", BinaryOpType.ADD, "add", float32_on_sfpu=False)
_ALL: Final = tuple(dtype for dtype in DataType if dtype not in (DataType.INVALID, DataType.FP8_E4M3))
_DTYPE: Final = Param(
    "dtype",
    DATA_TYPE,
    None,
    doc="Data type of the output, default: that of the input. A copy cuts float32 to bfloat16.",
)
_OUTPUT_DTYPE: Final = Param("output_dtype", DATA_TYPE, None, doc=_DTYPE.doc)
_ALIGNED: Final = Param(
    "keep_l1_aligned", BOOLEAN, False, none=True, doc="The program keeps pages aligned in either case: no change."
)


_OTHER_OUTPUT: Final = (
    ("ShapeError", "the preallocated output has another shape."),
    ("DTypeError", "the preallocated output has another data type."),
    ("LayoutError", "the preallocated output has another layout."),
)
_op: Final = partial(
    declare,
    dtypes=_ALL,
    layouts=(Layout.TILE, Layout.ROW_MAJOR),
    golden=golden.identity,
    accuracy=bit_exact(),
    engine=("copy_pages", "move_elements"),
    numerics="movement",
)
"""Registers an operator that copies pages to another place."""

to_memory_config = _op(
    "to_memory_config",
    (
        Signature(
            (
                Param("tensor", TENSOR, doc="[..., H, W] on a device."),
                Param("memory_config", MEMORY_CONFIG, doc="Memory configuration of the output."),
                _DTYPE,
                OUTPUT_TENSOR_OPTION,
            )
        ),
    ),
    _to_memory_config,
    "Return `tensor` in `memory_config`, values unchanged.\n"
    "Shape: [..., H, W] -> [..., H, W].\n"
    "It returns `tensor` itself if it already has that memory configuration.",
    raises=(("MemoryConfigError", "the shards do not match the tensor's shape."), *_OTHER_OUTPUT),
    examples=((L1_MEMORY_CONFIG,),),
)

interleaved_to_sharded = _op(
    "interleaved_to_sharded",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("grid", CORE_COORD_OR_SET, doc="Cores, or the size of a grid that starts at core (0, 0)."),
                Param("shard_shape", INT_SEQUENCE, doc="(height, width) of a shard, in elements."),
                Param("shard_scheme", MEMORY_LAYOUT, doc="Sharding scheme: height, width or block."),
                Param("shard_orientation", ORIENTATION, doc="Order of the cores: row-major or column-major."),
                _OUTPUT_DTYPE,
            ),
            (_ALIGNED,),
            run=_to_shards_on_grid,
        ),
        Signature(
            (
                INPUT_TENSOR,
                Param("sharded_memory_config", MEMORY_CONFIG, doc="Sharded memory configuration of the output."),
                _OUTPUT_DTYPE,
            ),
            (_ALIGNED, Param("preallocated_output", TENSOR, None, doc="Preallocated output.")),
        ),
    ),
    _to_shards,
    "Return an interleaved tensor sharded over L1 of a core grid.\nShape: [..., H, W] -> [..., H, W].",
    raises=(("MemoryConfigError", "the input is sharded, or the shards do not match its shape."), *_OTHER_OUTPUT),
    examples=(),
)

sharded_to_interleaved = _op(
    "sharded_to_interleaved",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param(
                    "memory_config",
                    MEMORY_CONFIG,
                    None,
                    doc="Interleaved memory configuration of the output. Default: DRAM.",
                ),
                _OUTPUT_DTYPE,
            )
        ),
    ),
    _to_interleaved,
    "Return a sharded tensor as an interleaved one.\n"
    "Shape: [..., H, W] -> [..., H, W].\n"
    "An interleaved tensor is returned unchanged.",
    raises=(("MemoryConfigError", "`memory_config` is sharded."),),
)

reshard = _op(
    "reshard",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("output_memory_config", MEMORY_CONFIG, doc="Sharded memory configuration of the output."),
                Param("output_tensor", TENSOR, None, doc=OUTPUT_TENSOR_OPTION.doc),
            )
        ),
    ),
    _reshard,
    "Return a sharded tensor with another shard specification.\nShape: [..., H, W] -> [..., H, W].",
    raises=(
        ("MemoryConfigError", "the input or the output is interleaved, or the shards do not match the shape."),
        *_OTHER_OUTPUT,
    ),
    examples=(),
)

clone = _op(
    "clone",
    (
        Signature(
            (Param("input", TENSOR, doc="[..., H, W] on a device."),),
            (
                _DTYPE,
                MEMORY_CONFIG_OPTION,
                Param(
                    "compute_kernel_config",
                    COMPUTE_KERNEL_CONFIG,
                    None,
                    doc="With `fp32_dest_acc_en`, float32 is converted from TF32; otherwise it is cut to bfloat16.",
                ),
            ),
        ),
    ),
    _clone,
    "Return a copy of `input_tensor`, optionally in another memory config or type.\nShape: [..., H, W] -> [..., H, W].",
    raises=(("LayoutError", "the input is row-major and `dtype` differs from its own."),),
)

move = _op(
    "move",
    (Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION,)),),
    _move,
    "Return a copy of `input_tensor`, and deallocate it.\nShape: [..., H, W] -> [..., H, W].",
    view=True,
)

_A: Final = Param("input_a", TENSOR, doc="Source tensor.")
_B: Final = Param("input_b", TENSOR, doc="Destination tensor. Values are converted to its data type.")
copy = _op(
    "copy",
    (Signature((_A, _B)),),
    _copy,
    "Write the values of `input_a` to `input_b`, and return `input_b`.\n"
    "Shape: [..., H, W], [..., H, W] -> [..., H, W].",
    raises=(("ShapeError", "the shapes differ."), ("LayoutError", "the layouts differ.")),
    examples=lambda shape, _: ((Operand(shape),),),
)

assign = _op(
    "assign",
    (
        Signature(
            (INPUT_TENSOR,),
            (
                Param("memory_config", MEMORY_CONFIG, doc="Memory configuration of the output."),
                _DTYPE,
                OUTPUT_TENSOR_OPTION,
            ),
        ),
        Signature((_A, _B), run=_assign_to),
    ),
    _assign,
    "Return a copy in `memory_config`, or `input_b` with the values of `input_a`.\nShape: [..., H, W] -> [..., H, W].",
    raises=(
        ("ShapeError", "the shapes differ."),
        ("LayoutError", "the layouts differ."),
        ("DTypeError", "`output_tensor` is not of `dtype`."),
        ("MemoryConfigError", "`output_tensor` is not in `memory_config`."),
    ),
    examples=(),
)


def _of_example(tensor: Tensor) -> MemoryConfig:
    """Return the memory config of an example's copies.

    Tiles stay where they are; rows are in DRAM.
    """
    return tensor.spec.memory_config if tensor.spec.layout is Layout.TILE else DRAM_MEMORY_CONFIG


def _copied_twice(input_tensor: Tensor) -> Tensor:
    on_device("ttnn.composite_example", input_tensor)
    return _placed("ttnn.composite_example", input_tensor, _of_example(input_tensor))


def _copies(input_tensor: Tensor, return_output1: bool, return_output2: bool) -> list[Tensor | None]:
    name = "ttnn.composite_example_multiple_return"
    on_device(name, input_tensor)
    place = _of_example(input_tensor)
    return [_placed(name, input_tensor, place) if wanted else None for wanted in (return_output1, return_output2)]


composite_example = _op(
    "composite_example",
    (Signature((INPUT_TENSOR,)),),
    _copied_twice,
    "Return a copy of `input_tensor`: an example of writing operators.\nShape: [..., H, W] -> [..., H, W].",
)
composite_example_multiple_return = _op(
    "composite_example_multiple_return",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("return_output1", BOOLEAN, True, doc="Whether there is a first copy; None otherwise."),
                Param("return_output2", BOOLEAN, True, doc="Whether there is a second copy; None otherwise."),
            )
        ),
    ),
    _copies,
    "Return two copies of `input_tensor`: an example with several results.\n"
    "Shape: [..., H, W] -> [..., H, W], [..., H, W].",
    golden=golden.copies,
)

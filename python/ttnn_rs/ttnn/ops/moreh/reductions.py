"""Sums and means of the moreh family, in a 16-bit Dst.

Also sums over leading dimensions; results are bfloat16.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_sum`, `moreh_mean` and `experimental/reduction/fast_reduce_nc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, Final

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    INT_OR_INTS,
    INT_SEQUENCE,
    INTEGER,
    MEMORY_CONFIG,
    TENSOR,
    Param,
    Signature,
)
from ttnn.ops._programs.common import (
    MEMORY_CONFIG_OPTION,
    SUB_CORE_GRIDS_OPTION,
    allocate,
    full_tiles,
    is_empty,
    on_device,
    same_device,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.pipeline import COLUMNS, ROWS, Pipeline, bits, rounded_to_bfloat16, truncated
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.reduction.generic import reduced_axes
from ttnn.tensor.tensor import Tensor

_BF16: Final = DataType.BFLOAT16
Settings = tuple[int, bool]
"""Fidelity and Dst width."""


def settings_of(config: WormholeComputeKernelConfig | None) -> Settings:
    """Return what a configuration asks for. Default: HiFi4 and a 16-bit Dst."""
    fidelity = MathFidelity.HiFi4
    if config is not None and config.math_fidelity is not MathFidelity.Invalid:
        fidelity = config.math_fidelity
    return FIDELITY_NUMBER[fidelity], config is not None and config.fp32_dest_acc_en


@lru_cache(maxsize=256)
def _program(shape: tuple[int, ...], axis: int, dtype: DataType, divisor: int | None, settings: Settings) -> Pipeline:
    """Return the sum along an axis, divided by `divisor` if given.

    The axis is rows, columns or a leading dimension.
    """
    fidelity, dst32 = settings
    program = Pipeline(shape, axis, dtype, dst32, fidelity)
    x = program.tensor(dtype)
    if axis >= 0:
        if divisor is None:
            program.accumulate("add", x, program.constant(_BF16, 0), dtype, output=(0, 0, 1))
        else:
            # The sum is packed after every tile, whatever the width of Dst.
            total = program.fold(x, _BF16, by="add")
            scalar = program.constant(_BF16, truncated(1.0 / divisor))
            program.eltwise("mul", total, scalar, dtype, output=(0, 0, 1))
        return program
    if shape[axis] % TILE_SIZE:
        x = program.copy(x, _BF16, padding="zero")
    # The host rounds the factor of rows, the reader cuts that of columns.
    by = rounded_to_bfloat16 if axis == ROWS else truncated
    scaler = bits(1.0) if divisor is None else by(1.0 / divisor)
    last = program.length - 1
    if divisor is None or axis != ROWS or not dst32 or not last:
        program.sum(x, (_BF16, scaler), dtype, output=(0, 0, 1))
        return program
    # The sum of all tiles of a row but the last one comes back through SrcA; all others return to Dst as they were.
    first = program.sum([(x, 0, last)], (_BF16, scaler), DataType.FLOAT32)
    program.sum([(x, last, last + 1)], (_BF16, scaler), dtype, start=first, output=(0, 0, 1))
    return program


def along(source: Tensor, axis: int, divisor: int | None, settings: Settings) -> Tensor:
    """Return the sum along one dimension, which has size 1 then."""
    spec = source.spec
    if spec.dtype is DataType.INT32:
        # Integers wrap around: the order of the kernel does not show.
        whole: Tensor = find("ttnn.sum")(source, axis, keepdim=True)
        return whole
    shape = list(spec.shape)
    reduced = [1 if index == axis else size for index, size in enumerate(shape)]
    rank = len(shape)
    line = {rank - 1: ROWS, rank - 2: COLUMNS}.get(axis, axis)
    output = allocate(TensorSpec.of(reduced, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), on_device("moreh", source))
    _program(tuple(shape), line, spec.dtype, divisor, settings).run([source], [output])
    return output


def total(name: str, source: Tensor, config: WormholeComputeKernelConfig | None) -> Tensor:
    """Return the sum of all elements in `moreh_sum`'s order.

    Its sizes are 1.
    """
    shape = tuple(source.spec.shape)
    # A vector is a row.
    result, first = (reshaped(name, source, (1, *shape)), 1) if len(shape) == 1 else (source, 0)
    settings = settings_of(config)
    for axis in reversed(range(first, result.spec.shape.rank)):
        result = along(result, axis, None, settings)
    return result


def take_pages(name: str, output: Tensor, shape: Sequence[int], device: MeshDevice) -> Tensor:
    """Return `output` if it has the result's tiles.

    Official programs check this.

    Raises:
        StorageError: it is on the host, deallocated, or on another device.
        ShapeError: it has other tiles.
    """
    wanted = TensorSpec.of(tuple(shape), output.spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    own, given = tuple(wanted.padded_shape), tuple(output.spec.padded_shape)
    if output.spec.layout is Layout.TILE and given == own:
        on_device(name, output, "output")
        same_device(name, device, output, "output")
        full_tiles(name, output, "output")
        return output
    return take_output(name, output, shape, Layout.TILE, device)


def check_input(name: str, tensor: Tensor, dtypes: tuple[DataType, ...]) -> None:
    """Refuse an input that is not tiled, or of another data type."""
    on_device(name, tensor, "input")
    spec, short = tensor.spec, name.removeprefix("ttnn.")
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: input is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor=f"{short} input only supports TILE layout.",
        )
    if spec.dtype not in dtypes:
        raise DTypeError(
            f"{name}: input is {spec.dtype.name}; typecast it to {dtypes[0].name} first.",
            vendor=f"{short} input only supports specific data types. [{', '.join(d.name for d in dtypes)}]",
        )
    full_tiles(name, tensor, "input")


def _reduced(
    name: str,
    source: Tensor,
    dim: int | Sequence[int] | None,
    keepdim: bool,
    divide: bool,
    divisor: int | None,
    output: Tensor | None,
    memory_config: MemoryConfig | None,
    config: WormholeComputeKernelConfig | None,
) -> Tensor:
    spec, device = source.spec, on_device(name, source)
    rank = spec.shape.rank
    if rank < 2:
        raise ShapeError(f"{name}: input has shape {spec.shape}; it must be of rank 2 or more.")
    # No dimension means all of them.
    axes = reduced_axes(name, None if isinstance(dim, Sequence) and not dim else dim, rank)
    # Rows and columns stay with size 1.
    inner = (rank - 2, rank - 1)
    shape = [
        1 if axis in axes else size
        for axis, size in enumerate(spec.shape)
        if keepdim or axis in inner or axis not in axes
    ]
    place = memory_config or (spec.memory_config if spec.memory_config.interleaved else DRAM_MEMORY_CONFIG)
    if output is not None:
        output = take_pages(name, output, shape, device)
        if output.spec.dtype is not spec.dtype:
            raise DTypeError(f"{name}: output is {output.spec.dtype.name}, the result {spec.dtype.name}.")
    result = source
    settings = settings_of(config)
    if is_empty(spec):
        raise ShapeError(f"{name}: input has shape {spec.shape}; there is nothing to add up.")
    for axis in reversed(axes):
        by = result.spec.shape[axis] if divide else None
        result = along(result, axis, divisor if divide and divisor is not None and axis == axes[0] else by, settings)
    result = reshaped(name, result, shape)
    target = output or allocate(TensorSpec.of(shape, spec.dtype, Layout.TILE, place), device)
    copy_into(result, target)
    return target


def _moreh_sum(
    input: Tensor,
    dim: int | Sequence[int] | None,
    keepdim: bool,
    output: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = "ttnn.moreh_sum"
    check_input(name, input, (_BF16, DataType.INT32))
    return _reduced(name, input, dim, keepdim, False, None, output, memory_config, compute_kernel_config)


def _moreh_mean(
    input: Tensor,
    dim: int | Sequence[int] | None,
    keepdim: bool,
    divisor: int | None,
    output: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = "ttnn.moreh_mean"
    check_input(name, input, (_BF16,))
    if divisor is not None:
        raise UnsupportedError(f"{name}: divisor={divisor}: which factor the kernels take then is not known.")
    return _reduced(name, input, dim, keepdim, True, None, output, memory_config, compute_kernel_config)


def _fast_reduce_nc(
    input: Tensor,
    dims: Sequence[int],
    output: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.experimental.fast_reduce_nc"
    on_device(name, input, "input")
    spec = input.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: input is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).")
    if spec.dtype not in (_BF16, DataType.FLOAT32, DataType.BFLOAT8_B):
        raise DTypeError(
            f"{name}: input is {spec.dtype.name}; typecast it to a floating point type first.",
            vendor="FastReduceNC input only supports specific data types. [BFLOAT16, BFLOAT8_B, FLOAT32] ",
        )
    full_tiles(name, input, "input")
    rank = spec.shape.rank
    axes = reduced_axes(name, list(dims), rank)
    last = next((axis for axis in reversed(axes) if axis >= rank - 2), None)
    if last is not None:
        raise ShapeError(
            f"{name}: dims={list(dims)} must not name the last two dimensions of {spec.shape}.",
            vendor=f"FastReduceNC reduces only outer dims: dim must be between 0 and {rank - 3}, but has {last}",
        )
    if is_empty(spec):
        raise ShapeError(f"{name}: input has shape {spec.shape}; there is nothing to add up.")
    shape = [1 if axis in axes else size for axis, size in enumerate(spec.shape)]
    device = on_device(name, input)
    if output is not None:
        output = take_output(name, output, shape, Layout.TILE, device, dtype=spec.dtype)
    place = memory_config or DRAM_MEMORY_CONFIG
    target = output or allocate(TensorSpec.of(shape, spec.dtype, Layout.TILE, place), device)
    result, settings = input, settings_of(compute_kernel_config)
    for axis in reversed(axes):
        result = along(result, axis, None, settings)
    copy_into(result, target)
    return target


_COMPUTE: Final = Param(
    "compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Math fidelity and Dst width. Default: HiFi4 and 16 bits."
)
_INPUT: Final = Param("input", TENSOR, doc="[..., H, W] on a device.")
_DIM: Final = Param("dim", INT_OR_INTS, None, doc="Dimensions to reduce. Default: all.", example=[1, -1])
_KEEPDIM: Final = Param(
    "keepdim", BOOLEAN, False, doc="Keep reduced leading dimensions with size 1; others are always kept."
)
_OUTPUT: Final = Param("output", TENSOR, None, doc="Preallocated output, of the output's shape.")
_ERRORS: Final = (
    ("DTypeError", "the data type is not supported."),
    ("LayoutError", "the input is row-major."),
    ("ShapeError", "a dimension is out of range, or the tensor is empty."),
)
_ACCURACY: Final = no_bound("for every addition rounds to bfloat16")
_SHAPES: Final = "Shape: [..., D, ...] -> [..., ...]; H and W stay with size 1."


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) < 2 or 0 in shape or layout is not Layout.TILE:
        return ()
    return tuple(({"dim": dim, "keepdim": True},) for dim in range(-len(shape), 0))


_declare: Final = partial(declare, layouts=(Layout.TILE,), accuracy=_ACCURACY, engine=("Pipeline",), raises=_ERRORS)

moreh_sum = _declare(
    "moreh_sum",
    signatures=(Signature((_INPUT, _DIM), (_KEEPDIM, _OUTPUT, MEMORY_CONFIG_OPTION, _COMPUTE)),),
    run=_moreh_sum,
    doc=f"Return the sum along `dim`, rounded to bfloat16 at every addition.\nINT32 wraps around.\n{_SHAPES}",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_sum`",
    dtypes=(_BF16,),
    golden=golden.moreh_sum,
    examples=_examples,
)

moreh_mean = _declare(
    "moreh_mean",
    signatures=(
        Signature(
            (_INPUT,),
            (
                _DIM,
                _KEEPDIM,
                Param("divisor", INTEGER, None, modelled=False),
                _OUTPUT,
                MEMORY_CONFIG_OPTION,
                _COMPUTE,
            ),
        ),
    ),
    run=_moreh_mean,
    doc=f"Return the mean along `dim`: the sum of `x / D` in bfloat16.\n{_SHAPES}",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_mean`",
    dtypes=(_BF16,),
    golden=golden.moreh_mean,
    examples=_examples,
)

fast_reduce_nc = _declare(
    "experimental.fast_reduce_nc",
    signatures=(
        Signature(
            (_INPUT,),
            (
                Param("dims", INT_SEQUENCE, (), doc="Leading dimensions to reduce.", example=[0]),
                _OUTPUT,
                Param("memory_config", MEMORY_CONFIG, DRAM_MEMORY_CONFIG, doc="Memory configuration of the output."),
                _COMPUTE,
                SUB_CORE_GRIDS_OPTION,
            ),
        ),
    ),
    run=_fast_reduce_nc,
    doc="Return the sum over leading dimensions, rounded to bfloat16 at every addition.\n"
    "Shape: [N, C, H, W] -> [1, 1, H, W] for dims [0, 1].",
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/reduction/fast_reduce_nc`",
    dtypes=(_BF16, DataType.BFLOAT8_B),
    golden=golden.fast_reduce_nc,
    examples=lambda shape, layout: (
        (({"dims": [0]},),) if len(shape) > 2 and 0 not in shape and layout is Layout.TILE else ()
    ),
)

"""Convolutions of volumes.

Windows become rows of a matrix, which is multiplied with the weights.

Blocks of input channels are multiplied on cores of their own; their sums are packed, added one after the other, and
then the bias. Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/conv3d`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.conv_config import Conv3dConfig
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ParameterError,
    ShapeError,
    StorageError,
    UnsupportedError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import conv as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import declare
from ttnn.operation.signature import (
    COMPUTE_KERNEL_CONFIG,
    DATA_TYPE,
    INT_SEQUENCE,
    INTEGER,
    MEMORY_CONFIG,
    TENSOR,
    Kind,
    Param,
    Signature,
    instance_kind,
)
from ttnn.ops._programs.common import allocate, full_tiles, on_device, same_device
from ttnn.ops._programs.element_map import move_into, strides_of
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.pipeline import ROWS, Pipeline
from ttnn.ops._programs.product import Numerics, copy_through_source, multiply, tiles_of
from ttnn.ops._programs.windows import copy_rows, copy_tiles
from ttnn.ops.conv.conv2d import DEVICE_PARAM
from ttnn.ops.conv.weights3d import ALIGNMENT, prepared
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.experimental.conv3d"
_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32)
_WORDS_OF_BLOCKS: Final = 16
"""Blocks of channels are multiples of the alignment of L1."""


@dataclass(frozen=True)
class _Window:
    """Start and extent of the kernel window per output position and axis.

    The axes are time, height and width.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    def output(self, size: Sequence[int]) -> tuple[int, ...]:
        """Return how many positions there are in a volume."""
        every = zip(size, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        return tuple((extent + 2 * pad - step * (k - 1) - 1) // by + 1 for extent, k, by, pad, step in every)

    @property
    def volume(self) -> int:
        """Elements of a window, of one channel."""
        return math.prod(self.kernel)


def _triple(label: str, given: Sequence[int], least: int) -> tuple[int, ...]:
    if len(given) != 3 or min(given) < least:
        raise ParameterError(f"{_NAME}: {label}={list(given)} must be three integers, each at least {least}.")
    return tuple(int(value) for value in given)


def _check_input(source: Tensor) -> MeshDevice:
    device = on_device(_NAME, source)
    spec = source.spec
    if spec.shape.rank != 5 or 0 in tuple(spec.shape):
        raise ShapeError(
            f"{_NAME}: input_tensor has shape {spec.shape}; it must be [N, T, H, W, C] and not empty.",
            vendor=f"Activation tensor must have 5 dimensions. got {spec.shape.rank}",
        )
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{_NAME}: input_tensor is in tiles; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor="Activation tensor must be row-major.",
        )
    if spec.memory_config.is_sharded():
        raise MemoryConfigError(
            f"{_NAME}: input_tensor is sharded; move it with ttnn.sharded_to_interleaved.",
            vendor="Activation tensor must be interleaved.",
        )
    if spec.dtype not in _DTYPES:
        raise DTypeError(
            f"{_NAME}: input_tensor is {spec.dtype.name}; it must be BFLOAT16 or FLOAT32.",
            vendor=f"Activation tensor must be bfloat16 or float32. got {spec.dtype.cpp_name}",
        )
    return device


def _check_bias(source: Tensor, bias: Tensor, channels: int) -> None:
    same_device(_NAME, on_device(_NAME, source), bias, "bias_tensor")
    spec = bias.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{_NAME}: bias_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="Bias tensor must be tiled.",
        )
    if spec.dtype is not source.spec.dtype:
        raise DTypeError(
            f"{_NAME}: bias_tensor is {spec.dtype.name}, input_tensor {source.spec.dtype.name}; they must be equal.",
            vendor="Bias tensor must have the same dtype as input tensor.",
        )
    if tuple(spec.shape) != (1, channels):
        raise ShapeError(
            f"{_NAME}: bias_tensor has shape {spec.shape}; it must be [1, {channels}].",
            vendor=f"Bias must match output channels. got {(1, *spec.shape)[-1]} vs {channels}",
        )
    full_tiles(_NAME, bias, "bias_tensor")


def _window(
    source: Tensor,
    config: Conv3dConfig,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> _Window:
    steps, configured = _triple("dilation", dilation, 1), tuple(config.dilation)
    if steps == (1, 1, 1):
        steps = configured
    elif configured not in ((1, 1, 1), steps):
        raise ParameterError(
            f"{_NAME}: dilation={list(steps)}, but config.dilation={list(configured)}; pass one of them.",
            vendor="dilation in Conv3dConfig and op args must match when both are set.",
        )
    window = _Window(
        _triple("kernel_size", kernel_size, 1), _triple("stride", stride, 1), _triple("padding", padding, 0), steps
    )
    size = tuple(source.spec.shape)[1:4]
    for axis, extent, positions in zip("THW", size, window.output(size), strict=True):
        if positions < 1:
            raise ShapeError(
                f"{_NAME}: the kernel window does not fit: {axis} is {extent}, the kernel {list(window.kernel)} with "
                f"dilation {list(window.dilation)} and padding {list(window.padding)}.",
                vendor=f"Effective kernel size exceeds padded {axis} dimension",
            )
    return window


def _blocks(source: Tensor, config: Conv3dConfig, channels: int) -> int:
    """Return the input channels of a block.

    Raises:
        ParameterError: the blocks of the configuration do not fit.
    """
    inputs, padded = source.spec.shape[4], tiles_of(channels) * TILE_SIZE
    device = on_device(_NAME, source)
    whole, grid = device.compute_with_storage_grid_size(), config.compute_with_storage_grid_size
    if grid.x > whole.x or grid.y > whole.y:
        raise ParameterError(
            f"{_NAME}: config.compute_with_storage_grid_size={grid} is not within the device's {whole.x}x{whole.y} "
            "cores.",
            vendor=f"Requested grid size ({grid.x}, {grid.y}) exceeds device grid size ({whole.x}, {whole.y})",
        )
    if config.C_out_block > 0 and (padded % config.C_out_block or config.C_out_block % TILE_SIZE):
        raise ParameterError(
            f"{_NAME}: config.C_out_block={config.C_out_block} must be a multiple of {TILE_SIZE} that divides "
            f"{padded}.",
            vendor=f"C_out_block must be a multiple of {TILE_SIZE} and divide evenly into padded output channels "
            f"({padded}).",
        )
    each = config.C_in_block or inputs
    if inputs % each:
        raise ParameterError(
            f"{_NAME}: config.C_in_block={each} must divide the {inputs} input channels.",
            vendor=f"Input channels ({inputs}) must be divisible by C_in_block ({each})",
        )
    if config.C_in_block > 0 and each % _WORDS_OF_BLOCKS:
        raise ParameterError(
            f"{_NAME}: config.C_in_block={each} must be a multiple of {_WORDS_OF_BLOCKS}.",
            vendor=f"C_in_block ({each}) must be a multiple of {_WORDS_OF_BLOCKS}",
        )
    if inputs // each > grid.x * grid.y:
        raise ParameterError(
            f"{_NAME}: {inputs // each} blocks of input channels need as many cores; the grid has {grid.x * grid.y}.",
            vendor=f"Number of C_in blocks ({inputs // each}) must be <= the number of cores ({grid.x * grid.y})",
        )
    return each


def _weights(
    source: Tensor,
    weight: Tensor,
    device: MeshDevice | None,
    config: Conv3dConfig,
    groups: int,
    matrix: tuple[int, int],
) -> Tensor:
    """Return the weights as a matrix in tiles.

    Raises:
        TtnnError: they do not fit.
    """
    if weight.spec.shape.rank == 5:
        if weight._device is not None:
            raise StorageError(
                f"{_NAME}: weight_tensor of rank 5 is on a device; pass it from the host, or prepare it with "
                "ttnn.experimental.prepare_conv3d_weights.",
                vendor="Unprepared weight tensor must be on host",
            )
        if device is None:
            raise ParameterError(
                f"{_NAME}: weight_tensor of rank 5 is prepared on a device; pass device.",
                vendor="Device must be provided when weight tensor is unprepared (rank 5)",
            )
        weight = prepared(_NAME, weight, groups, config.C_in_block, config.alignment, device)
    elif weight.spec.shape.rank != 2:
        raise ShapeError(
            f"{_NAME}: weight_tensor has shape {weight.spec.shape}; it must be [O, C / groups, kT, kH, kW], or "
            "prepared, [kT * kH * kW * C, O].",
            vendor=f"Unsupported weight tensor rank: {weight.spec.shape.rank}",
        )
    same_device(_NAME, on_device(_NAME, source), weight, "weight_tensor")
    if weight.spec.dtype is not source.spec.dtype:
        raise DTypeError(
            f"{_NAME}: weight_tensor is {weight.spec.dtype.name}, input_tensor {source.spec.dtype.name}; they must "
            "be equal.",
            vendor="Input and weight tensors must have the same dtype.",
        )
    if tuple(weight.spec.shape) != matrix:
        raise ShapeError(
            f"{_NAME}: the weights are a matrix of {weight.spec.shape}; the windows of the input and output_channels "
            f"ask for {list(matrix)}.",
            vendor=f"Weight patch size must match input patch size. got {weight.spec.shape[0]} vs {matrix[0]}",
        )
    if weight.spec.layout is not Layout.TILE:
        weight = tilize_padded(_NAME, weight)
    full_tiles(_NAME, weight, "weight_tensor")
    return weight


def _rows(like: Tensor, shape: Sequence[int]) -> Tensor:
    return allocate(TensorSpec.of(shape, like.spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), on_device("", like))


def _padded(source: Tensor, padding: Sequence[int], *, replicates: bool) -> Tensor:
    """Return a volume padded with zeros, or with its outermost elements."""
    for axis, pad in enumerate(padding, 1):
        if not pad:
            continue
        shape = list(source.spec.shape)
        strides, extent = strides_of(shape), shape[axis]
        wide = [*shape[:axis], extent + 2 * pad, *shape[axis + 1 :]]
        target = _rows(source, wide)
        parts = [(pad, extent, 0, strides[axis])]
        if replicates:
            parts += [(0, pad, 0, 0), (pad + extent, pad, (extent - 1) * strides[axis], 0)]
        else:
            assert target.buffer is not None
            engine_steps.fill(target.buffer, format=FORMAT_CODE[target.spec.dtype], value=0.0)
        for first, count, offset, step in parts:
            window = [(0, size) for size in wide]
            window[axis] = (first, count)
            copy_rows(
                source,
                target,
                shape=wide,
                strides=[*strides[:axis], step, *strides[axis + 1 :]],
                offset=offset,
                window=window,
            )
        source = target
    return source


def _windows(volume: Tensor, window: _Window, positions: Sequence[int], channels: tuple[int, int]) -> Tensor:
    """Return the windows of some channels, [positions, elements], in tiles."""
    batch, *_, inputs = tuple(volume.spec.shape)
    first, count = channels
    steps = strides_of(tuple(volume.spec.shape))
    shape = (batch, *positions, *window.kernel, count)
    strides = (
        steps[0],
        *(step * by for step, by in zip(steps[1:4], window.stride, strict=True)),
        *(step * by for step, by in zip(steps[1:4], window.dilation, strict=True)),
        1,
    )
    assert inputs >= first + count
    found = move_into(volume, _rows(volume, shape), strides=strides, offset=first)
    matrix = (batch * math.prod(positions), window.volume * count)
    flat = _rows(volume, matrix)
    return tilize_padded(_NAME, move_into(found, flat))


def _product(
    volume: Tensor, weight: Tensor, window: _Window, positions: Sequence[int], each: int, numerics: Numerics
) -> Tensor:
    """Return the sum over channel blocks, packed after every block and addition."""
    device = on_device(_NAME, volume)
    inputs, outputs = volume.spec.shape[4], weight.spec.shape[1]
    inner, columns = tiles_of(window.volume * each), tiles_of(outputs)
    count = inputs // each
    rows = volume.spec.shape[0] * math.prod(positions)
    spec = TensorSpec.of((rows, outputs), volume.spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    total: Tensor | None = None
    for block in range(count):
        part = weight
        if count > 1:
            shape = (window.volume * each, outputs)
            part = allocate(TensorSpec.of(shape, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)
            copy_tiles(weight, part, shape=(inner, columns), strides=(columns, 1), offset=block * inner * columns)
        product = allocate(spec, device)
        multiply(
            _windows(volume, window, positions, (block * each, each)),
            part,
            product,
            batch=(1, 1, 1),
            tiles=(tiles_of(rows), inner, columns),
            numerics=numerics,
            k=window.volume * each,
        )
        total = product if total is None else _added(total, product, numerics)
    assert total is not None
    return total


def _added(a: Tensor, b: Tensor, numerics: Numerics) -> Tensor:
    """Return the packed sum of two matrices, or of matrix and row."""
    device = on_device(_NAME, a)
    spec = a.spec
    shape = tuple(spec.shape)
    result = allocate(spec, device)
    program = Pipeline(shape, ROWS, spec.dtype, numerics.dst32, numerics.fidelity)
    first = program.tensor(spec.dtype)
    second = program.tensor(spec.dtype, tuple(b.spec.shape), None if tuple(b.spec.shape) == shape else "row")
    program.eltwise("add", first, second, spec.dtype, output=0)
    program.run([a, b], [result])
    return result


def _conv3d(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    device: MeshDevice | None,
    bias_tensor: Tensor | None,
    config: Conv3dConfig | None,
    dtype: DataType,
    output_channels: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    padding_mode: str,
    groups: int,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    *_: object,
) -> Tensor:
    own = _check_input(input_tensor)
    spec = input_tensor.spec
    batch, *size, inputs = tuple(spec.shape)
    if config is None:
        grid = own.compute_with_storage_grid_size()
        config = Conv3dConfig(C_out_block=TILE_SIZE, compute_with_storage_grid_size=grid)
    if output_channels < 1 or groups < 1 or inputs % groups or output_channels % groups:
        raise ParameterError(
            f"{_NAME}: {inputs} and {output_channels} channels do not divide into {groups} groups.",
            vendor="Input channels must be divisible by groups."
            if groups > 0 and inputs % groups
            else "Output channels must be divisible by groups.",
        )
    if padding_mode not in ("zeros", "replicate"):
        raise ParameterError(
            f"{_NAME}: padding_mode={padding_mode!r}; it must be 'zeros' or 'replicate'.",
            vendor=f"Padding mode must be zeros or replicate. got {padding_mode}",
        )
    if dtype is not spec.dtype:
        raise UnsupportedError(
            f"{_NAME}: dtype is {dtype.name}, but the program writes rows of input_tensor's data type, "
            f"{spec.dtype.name}; use ttnn.typecast on the result."
        )
    if config.enable_fp32_operand_split:
        raise UnsupportedError(f"{_NAME}: config.enable_fp32_operand_split=True is not modelled.", "unimplemented")
    if config.output_layout is not Layout.ROW_MAJOR:
        raise UnsupportedError(f"{_NAME}: config.output_layout must be ROW_MAJOR; use ttnn.to_layout on the result.")
    window = _window(input_tensor, config, kernel_size, stride, padding, dilation)
    each = _blocks(input_tensor, config, output_channels)
    if bias_tensor is not None:
        _check_bias(input_tensor, bias_tensor, output_channels)
    weight = _weights(input_tensor, weight_tensor, device, config, groups, (window.volume * inputs, output_channels))
    if each != inputs and window.volume * each % TILE_SIZE:
        raise UnsupportedError(
            f"{_NAME}: blocks of {each} input channels make {window.volume * each} rows of weights, which do not end "
            "with a tile; the program reads whole tiles. Choose config.C_in_block so that they do."
        )
    positions = window.output(size)
    numerics = Numerics.of(compute_kernel_config, MathFidelity.HiFi2)
    volume = _padded(input_tensor, window.padding, replicates=padding_mode == "replicate")
    total = _product(volume, weight, window, positions, each, numerics)
    if bias_tensor is not None:
        total = _added(total, bias_tensor, numerics)
    if spec.dtype is DataType.FLOAT32:
        read = allocate(total.spec, own)
        copy_through_source(total, read, numerics)
        total = read
    rows = untilized(_NAME, total, DRAM_MEMORY_CONFIG)
    shape = (batch, *positions, output_channels)
    place = memory_config or DRAM_MEMORY_CONFIG
    return move(rows, TensorSpec.of(shape, spec.dtype, Layout.ROW_MAJOR, place))


def _of(label: str, kind: Kind, default: Any) -> Param:
    return Param(label, kind, default, modelled=False)


_CUBE: Final = Operand((27 * 32, 32), 1, layout=Layout.ROW_MAJOR)

conv3d = declare(
    "experimental.conv3d",
    (
        Signature(
            (
                Param(
                    "input_tensor",
                    TENSOR,
                    doc="[N, T, H, W, C] on a device, in ROW_MAJOR_LAYOUT.",
                    example=Operand((1, 3, 4, 4, 32), layout=Layout.ROW_MAJOR),
                ),
                Param(
                    "weight_tensor",
                    TENSOR,
                    doc="[O, C / groups, kT, kH, kW] on the host, or prepared, [kT * kH * kW * C, O].",
                    example=_CUBE,
                ),
            ),
            (
                DEVICE_PARAM,
                Param(
                    "bias_tensor",
                    TENSOR,
                    None,
                    doc="[1, O] in TILE_LAYOUT: added at the end.",
                    example=Operand((1, 32), 2, layout=Layout.TILE),
                ),
                Param(
                    "config",
                    instance_kind("ttnn.Conv3dConfig", Conv3dConfig),
                    None,
                    doc="Sizes of blocks; those of input channels decide the order of sums. Default: all of them.",
                    example=Conv3dConfig(dilation=[1, 2, 2]),
                ),
                Param("dtype", DATA_TYPE, doc="Data type of the output: that of the input.", example=DataType.BFLOAT16),
                Param("output_channels", INTEGER, doc="O.", example=32),
                Param("kernel_size", INT_SEQUENCE, doc="[kT, kH, kW].", example=[3, 3, 3]),
                Param("stride", INT_SEQUENCE, [1, 1, 1], doc="Stride of the kernel window.", example=[1, 2, 2]),
                Param("padding", INT_SEQUENCE, [0, 0, 0], doc="Elements around the volume.", example=[0, 1, 1]),
                Param("dilation", INT_SEQUENCE, [1, 1, 1], doc="Dilation of the kernel window.", example=[1, 1, 2]),
                Param(
                    "padding_mode",
                    instance_kind("str", str),
                    "zeros",
                    doc="Padding of the volume: 'zeros', or 'replicate' for its outermost elements.",
                    example="circular",
                ),
                Param("groups", INTEGER, 1, doc="Groups of channels, which prepared weights have already."),
                Param(
                    "memory_config",
                    MEMORY_CONFIG,
                    None,
                    doc="Memory configuration of the output. Default: interleaved in DRAM.",
                ),
                Param(
                    "compute_kernel_config",
                    COMPUTE_KERNEL_CONFIG,
                    None,
                    doc="Math fidelity and Dst width. Default: HiFi2, 16 bits.",
                ),
                _of("halo_buffer", TENSOR, None),
                _of("logical_h_mask", INTEGER, 0),
                _of("logical_w_mask", INTEGER, 0),
                _of("pad_offset_tensor", TENSOR, None),
                _of("output_pad_h", INTEGER, 0),
                _of("output_pad_w", INTEGER, 0),
                _of("weight_lo_tensor", TENSOR, None),
            ),
        ),
    ),
    _conv3d,
    "Return the convolution of volumes with `weight_tensor`, plus `bias_tensor`.\n"
    "Shape: [N, T, H, W, C] -> [N, OT, OH, OW, O], in ROW_MAJOR_LAYOUT.\n"
    "The sum over a block of channels stays in Dst. Sums of blocks are packed and added in their order, then the bias; "
    "float32 is read back as TF32, or as bfloat16 with a 16-bit Dst.",
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/conv3d/conv3d.cpp`",
    dtypes=_DTYPES,
    layouts=(Layout.ROW_MAJOR,),
    golden=golden.conv3d,
    accuracy=no_bound("for sums are kept in bfloat16"),
    engine=("matmul", "write_window", "move_elements", "fill", "Pipeline"),
    raises=(
        ("ShapeError", "weights, bias or the kernel window do not fit."),
        ("DTypeError", "data types differ, or are not BFLOAT16 or FLOAT32."),
        ("LayoutError", "the input is tiled, or the bias is not."),
        ("ParameterError", "blocks, groups or steps do not fit."),
        ("UnsupportedError", "`dtype` is not that of the input, or blocks of channels do not end with a tile."),
    ),
    examples=(),
)


def _prepare(weight_tensor: Tensor, groups: int, block: int, alignment: int, device: MeshDevice | None) -> Tensor:
    return prepared("ttnn.experimental.prepare_conv3d_weights", weight_tensor, groups, block, alignment, device)


prepare_conv3d_weights = declare(
    "experimental.prepare_conv3d_weights",
    (
        Signature(
            (
                Param(
                    "weight_tensor",
                    TENSOR,
                    doc="[O, C / groups, kT, kH, kW], in ROW_MAJOR_LAYOUT.",
                    example=Operand((32, 32, 3, 3, 3), layout=Layout.ROW_MAJOR),
                ),
            ),
            (
                Param("groups", INTEGER, 1, doc="Groups of channels; the weights get zeros for the others."),
                Param("C_in_block", INTEGER, 0, doc="Input channels of a block. Default: all.", example=16),
                Param("alignment", INTEGER, ALIGNMENT, doc="Input channels are padded to a multiple of it."),
                DEVICE_PARAM,
            ),
        ),
    ),
    _prepare,
    "Return weights in the layout of `conv3d`.\n"
    "Shape: [O, C / groups, kT, kH, kW] -> [blocks * kT * kH * kW * C_in_block, O], in ROW_MAJOR_LAYOUT.",
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/conv3d/prepare_conv3d_weights.cpp`",
    dtypes=_DTYPES,
    layouts=(Layout.ROW_MAJOR,),
    golden=golden.prepare_conv3d_weights,
    numerics="movement",
    engine=("write_window", "move_elements", "fill"),
    raises=(
        ("ShapeError", "the weights are not of rank 5, or blocks do not divide the channels."),
        ("DTypeError", "the weights are not BFLOAT16 or FLOAT32."),
        ("LayoutError", "the weights are in tiles."),
        ("ParameterError", "a size is not positive, or there is no device."),
    ),
    examples=(),
)

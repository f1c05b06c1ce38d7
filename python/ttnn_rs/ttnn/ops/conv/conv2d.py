"""Convolutions as matrix products of the windows of an image.

Source: tt-metal `ttnn/cpp/ttnn/operations/conv`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final

from ttnn.base.activation import UnaryWithParam
from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.config import CONFIG
from ttnn.base.conv_config import Conv2dConfig, Op2DSliceConfig
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, BufferType, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import DEFAULT_TILE
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import conv as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.observation import note
from ttnn.operation.registry import Op, find, register
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    DATA_TYPE,
    DEVICE,
    INT_SEQUENCE,
    INTEGER,
    MEMORY_CONFIG,
    TENSOR,
    Param,
    Signature,
    instance_kind,
)
from ttnn.ops._programs.activations import chain, is_single_relu
from ttnn.ops._programs.common import allocate, on_device
from ttnn.ops._programs.element_map import in_rows
from ttnn.ops._programs.product import Numerics, copy_through_source
from ttnn.ops.conv.program import ConvProgram
from ttnn.ops.conv.sharding import sharded
from ttnn.ops.conv.weights import is_prepared, prepared_bias, prepared_weights
from ttnn.ops.conv.window import Window, window_of
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.runtime import engine_steps
from ttnn.tensor import conversion
from ttnn.tensor.tensor import Tensor

DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32)
_OUT_DTYPES: Final = (*DTYPES, DataType.BFLOAT8_B)


def _check_input(name: str, tensor: Tensor, window: Window) -> None:
    """Refuse an input that does not fit the sizes."""
    spec, kernel = tensor.spec, window.kernel
    if spec.dtype not in _OUT_DTYPES:
        raise DTypeError(f"{name}: input_tensor is {spec.dtype.name}; use BFLOAT16, FLOAT32 or BFLOAT8_B.")
    height, width = window.height // window.spread[0], window.width // window.spread[1]
    pixels = window.batch * height * width
    shape = tuple(spec.shape)
    if len(shape) != 4 or shape[0] * shape[1] * shape[2] != pixels or shape[3] < kernel.in_channels:
        raise ShapeError(
            f"{name}: input_tensor has shape {list(shape)}; it must be [1, 1, {pixels}, {kernel.in_channels}] or "
            f"[{window.batch}, {height}, {width}, {kernel.in_channels}].",
            vendor=f"Input tensor must have {pixels} sticks of {kernel.in_channels} channels",
        )


def _images(name: str, tensor: Tensor) -> Tensor:
    """Return the input as rows of channels, one for every pixel."""
    is_tiled = tensor.spec.layout is Layout.TILE
    return in_rows(untilized(name, tensor, DRAM_MEMORY_CONFIG) if is_tiled else tensor)


def _spread(name: str, images: Tensor, window: Window) -> Tensor:
    """Return images with zeros between and after their pixels."""
    if window.spread == (1, 1):
        return images
    spec, (down, across) = images.spec, window.spread
    pitch = spec.shape[-1]
    count = window.batch * window.height * window.width
    target = TensorSpec.of((1, 1, count, pitch), spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)
    output = allocate(target, on_device(name, images))
    assert images.buffer is not None
    assert output.buffer is not None
    engine_steps.fill(output.buffer, format=FORMAT_CODE[spec.dtype], value=0.0)
    rows, columns = window.batch * window.height // down, window.width // across
    engine_steps.write_window(
        images.buffer,
        output.buffer,
        element_bytes=spec.page_bytes // pitch,
        width=pitch,
        shape=[rows, down, columns, across, pitch],
        window=[(0, rows), (0, 1), (0, columns), (0, 1), (0, pitch)],
        offset=0,
        strides=[columns * pitch, 0, pitch, 0, 1],
    )
    return output


def _unfolded(name: str, images: Tensor, window: Window) -> Tensor:
    """Return window pixels side by side, in tiles.

    [1, 1, N * OH * OW, K].
    """
    kernel, spec = window.kernel, images.spec
    device = on_device(name, images)
    target = TensorSpec.of((1, 1, window.rows, kernel.inner), spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)
    rows = allocate(target, device)
    assert rows.buffer is not None
    assert images.buffer is not None
    # Padding pixels, and what a row of the window lacks to full tiles.
    engine_steps.fill(rows.buffer, format=FORMAT_CODE[spec.dtype], value=0.0)
    pitch = spec.shape[-1]
    pixels = ((i, j) for i in range(kernel.height) for j in range(kernel.width))
    for (i, j), (shard, first, count) in product(pixels, kernel.parts()):
        top, high, y = window.inside(i, 0)
        left, wide, x = window.inside(j, 1)
        if not high or not wide:
            continue
        engine_steps.write_window(
            images.buffer,
            rows.buffer,
            element_bytes=spec.page_bytes // pitch,
            width=pitch,
            shape=[window.batch, window.out_height, window.out_width, kernel.inner],
            window=[(0, window.batch), (top, high), (left, wide), (kernel.column(i, j, shard), count)],
            offset=(y * window.width + x) * pitch + first,
            strides=[
                window.height * window.width * pitch,
                window.stride[0] * window.width * pitch,
                window.stride[1] * pitch,
                1,
            ],
        )
    return tilize_padded(name, rows)


def _activation(name: str, activation: UnaryWithParam | None) -> tuple[bool, Any]:
    """Return whether the packer clips at zero, and the SFPU functions before."""
    if activation is None:
        return False, ()
    if is_single_relu([activation]):
        return True, ()
    return False, chain(name, [activation])


def _left_operand(
    name: str, tensor: Tensor, window: Window, dtype: DataType, numerics: Numerics
) -> tuple[Tensor, dict[str, Any]]:
    """Return the left matmul operand and the engine's options for reading it.

    Windows of bfloat16 images are not written to memory: the matmul reads them from the images.
    Tiles of windows have the data type of the result, unless they hold bfloat16 that FP32 leaves as it is.
    """
    kernel, spec = window.kernel, tensor.spec
    read = dtype is not DataType.BFLOAT8_B and spec.dtype is DataType.BFLOAT16 and window.spread == (1, 1)
    if not read or spec.shape[-1] != kernel.in_channels:
        windows = _unfolded(name, _spread(name, _images(name, tensor), window), window)
        if dtype is windows.spec.dtype or dtype is DataType.FLOAT32:
            return windows, {}
        target = TensorSpec.of(tuple(windows.spec.shape), dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
        packed = allocate(target, on_device(name, windows))
        copy_through_source(windows, packed, numerics)
        return packed, {}
    plain = (kernel.height, kernel.width) == window.stride == (1, 1) and not any(window.padding)
    full = spec.layout is Layout.TILE and spec.tile == DEFAULT_TILE
    if plain and full and spec.num_pages * TILE_SIZE**2 == -(-window.rows // TILE_SIZE) * TILE_SIZE * kernel.inner:
        return tensor, {"left": "flushed"}
    images = _images(name, tensor)
    sides = (
        (kernel.height, kernel.width),
        window.stride,
        (window.padding[0], window.padding[2]),
        window.dilation,
        (window.out_height, window.out_width),
    )
    order = (kernel.channels, kernel.firsts, kernel.whole)
    return images, {"left": (window.batch, (window.height, window.width), kernel.in_channels, sides, order)}


def _product(
    name: str,
    source: Tensor,
    windows: Tensor,
    made: dict[str, Any],
    weights: Tensor,
    bias: Tensor | None,
    window: Window,
    dtype: DataType,
    config: Conv2dConfig,
    numerics: Numerics,
) -> Tensor:
    device, kernel = on_device(name, windows), window.kernel
    spec = TensorSpec.of((1, 1, window.rows, kernel.out_channels), dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    output = allocate(spec, device)
    dst32, accumulates = numerics.dst32, numerics.l1_acc
    relu, activation = _activation(name, config.activation)
    program = ConvProgram(
        window,
        source.spec,
        weights.spec,
        bias is not None,
        config,
        dst32,
        accumulates,
        tuple((step[0], step[1] in ("fast", "approximate")) for step in activation),
    )
    note(program)
    of_bias = DataType.BFLOAT16 if bias is None else bias.spec.dtype
    assert windows.buffer is not None
    assert weights.buffer is not None
    assert output.buffer is not None
    run = engine_steps.matmul_fast if CONFIG.numerics == "fast" else engine_steps.matmul
    run(
        windows.buffer,
        weights.buffer,
        None if bias is None else bias.buffer,
        output.buffer,
        formats=(
            FORMAT_CODE[windows.spec.dtype],
            FORMAT_CODE[weights.spec.dtype],
            FORMAT_CODE[of_bias],
            FORMAT_CODE[dtype],
        ),
        batch=(1, 1, 1),
        mt=-(-window.rows // TILE_SIZE),
        kt=kernel.inner // TILE_SIZE,
        nt=-(-kernel.out_channels // TILE_SIZE),
        k=kernel.inner,
        kb=program.inner,
        ring=None,
        fidelity=numerics.fidelity,
        dst32=dst32,
        l1_acc=accumulates,
        reload_direct=False,
        relu=relu,
        activation=activation,
        transpose_a=False,
        transpose_b=False,
        **made,
    )
    return output


def placed(
    window: Window, input_tensor: Tensor, weight_tensor: Tensor, device: MeshDevice | None, config: Conv2dConfig | None
) -> Window:
    """Return the window with the shards of channels that a call has.

    Weights prepared without the sizes of the image keep the order of height shards.
    """
    on = input_tensor._device or device
    if on is None:
        return window
    spec, grid = input_tensor.spec, on.compute_with_storage_grid_size()
    kernel = sharded(window, spec.layout, spec.memory_config, config or Conv2dConfig(), grid)
    in_order = is_prepared(weight_tensor, window.kernel) and not is_prepared(weight_tensor, kernel)
    return window if in_order else replace(window, kernel=kernel)


def convolution(
    name: str,
    input_tensor: Tensor,
    weight_tensor: Tensor,
    device: MeshDevice | None,
    window: Window,
    dtype: DataType | None,
    bias_tensor: Tensor | None,
    conv_config: Conv2dConfig | None,
    compute_config: WormholeComputeKernelConfig | None,
    memory_config: MemoryConfig | None,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return the output, and weights and bias in the matmul's form."""
    if input_tensor._device is None and device is not None:
        input_tensor = conversion.to_device(input_tensor, device)
    on = on_device(name, input_tensor)
    config = conv_config or Conv2dConfig()
    given = input_tensor.spec.dtype
    dtype = dtype or given
    if dtype not in _OUT_DTYPES:
        raise DTypeError(f"{name}: dtype is {dtype.name}; use BFLOAT16, FLOAT32 or BFLOAT8_B.")
    _check_input(name, input_tensor, window)
    weights = prepared_weights(name, weight_tensor, window.kernel, config.weights_dtype, on)
    channels = window.kernel.out_channels
    bias = None
    if bias_tensor is not None:
        bias = prepared_bias(name, bias_tensor, channels, config.weights_dtype or weights.spec.dtype, on)
    dst32 = given is weights.spec.dtype is DataType.FLOAT32
    numerics = Numerics.of(compute_config, MathFidelity.HiFi4, dst32=dst32)
    windows, made = _left_operand(name, input_tensor, window, dtype, numerics)
    output = _product(name, input_tensor, windows, made, weights, bias, window, dtype, config, numerics)
    target = memory_config or DRAM_MEMORY_CONFIG
    without_shards = target.is_sharded() and target.shard_spec is None and target.nd_shard_spec is None
    if without_shards and input_tensor.spec.memory_config == DRAM_MEMORY_CONFIG:
        # The program of an image in DRAM writes to DRAM.
        target = DRAM_MEMORY_CONFIG
    if config.output_layout is Layout.ROW_MAJOR:
        output = untilized(name, output, target)
    elif target != output.spec.memory_config:
        output = find("ttnn.to_memory_config")(output, target)
    if config.deallocate_activation and input_tensor.spec.memory_config.buffer_type is not BufferType.DRAM:
        conversion.deallocate(input_tensor)
    return output, weights, bias


def results(
    output: Tensor, size: object, prepared: tuple[Tensor, Tensor | None], *, with_size: bool, with_weights: bool
) -> Tensor | tuple[object, ...]:
    """Return the output, with its size and prepared tensors if requested."""
    more = [*([size] if with_size else []), *([prepared] if with_weights else [])]
    return (output, *more) if more else output


def _conv2d(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    device: MeshDevice | None,
    in_channels: int,
    out_channels: int,
    batch_size: int,
    input_height: int,
    input_width: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    dtype: DataType | None,
    bias_tensor: Tensor | None,
    conv_config: Conv2dConfig | None,
    compute_config: WormholeComputeKernelConfig | None,
    memory_config: MemoryConfig | None,
    slice_config: Op2DSliceConfig | None,
    return_output_dim: bool,
    return_weights_and_bias: bool,
) -> Tensor | tuple[object, ...]:
    name = "ttnn.conv2d"
    sizes = (batch_size, input_height, input_width, in_channels, out_channels)
    window = window_of(name, sizes, kernel_size, stride, padding, dilation, groups)
    window = placed(window, input_tensor, weight_tensor, device, conv_config)
    output, weights, bias = convolution(
        name,
        input_tensor,
        weight_tensor,
        device,
        window,
        dtype,
        bias_tensor,
        conv_config,
        compute_config,
        memory_config,
    )
    return results(
        output,
        (window.out_height, window.out_width),
        (weights, bias),
        with_size=return_output_dim,
        with_weights=return_weights_and_bias,
    )


def _check_config(operator: str, config: Conv2dConfig, _values: Sequence[Any]) -> None:
    """Refuse what selects another kernel.

    Raises:
        UnsupportedError: padding with something else than zeros.
    """
    if config.padding_mode is not Conv2dConfig().padding_mode:
        raise UnsupportedError(
            f"{operator}: conv_config.padding_mode={config.padding_mode} is not implemented; pad the image before.",
            "unimplemented",
        )


_WEIGHT_DOC: Final = "[O, C / groups, kh, kw] on the host or a device, or prepared weights."
PIXELS: Final = Param("input_tensor", TENSOR, doc="[1, 1, N * H * W, C] or [N, H, W, C], pixels in rows.")
DEVICE_PARAM: Final = Param("device", DEVICE, None, doc="Where the convolution runs. Default: where the input is.")
OPTIONS: Final = (
    Param("groups", INTEGER, 1, doc="Groups of channels; each output sees those of its group."),
    Param("dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of the input."),
    Param("bias_tensor", TENSOR, None, doc="[1, 1, 1, O]: added at the end."),
    Param(
        "conv_config",
        instance_kind("ttnn.Conv2dConfig", Conv2dConfig),
        None,
        doc="Data type of weights, activation and layout of the output; blocks and buffers decide time only.",
        check=_check_config,
        example=Conv2dConfig(output_layout=Layout.ROW_MAJOR),
    ),
    Param(
        "compute_config",
        COMPUTE_KERNEL_CONFIG,
        None,
        doc="Math fidelity, Dst width and accumulation in L1. Default: HiFi4, 16 bits, none.",
    ),
    Param("memory_config", MEMORY_CONFIG, None, doc="Of the output. Default: interleaved in DRAM."),
    Param(
        "slice_config",
        instance_kind("ttnn.Op2DSliceConfig", Op2DSliceConfig),
        None,
        doc="Slices of the image that go through L1; time only.",
    ),
    Param("return_output_dim", BOOLEAN, False, doc="Also return the size of the output image."),
    Param("return_weights_and_bias", BOOLEAN, False, doc="Also return weights and bias as prepared."),
)
CHANNELS: Final = (
    Param("in_channels", INTEGER, doc="C.", example=128),
    Param("out_channels", INTEGER, doc="O.", example=32),
    Param("batch_size", INTEGER, doc="N.", example=1),
)
ERRORS: Final = (
    ("ShapeError", "input, weights or bias do not fit the sizes."),
    ("ParameterError", "a size is not positive, or the kernel window does not fit the image."),
    ("DTypeError", "the input or the output is an integer tensor."),
    ("UnsupportedError", "`conv_config` has another padding mode than zeros."),
)
NOTE: Final = (
    "Kernel windows are multiplied by the weights, one kernel row after the other; between them partial sums "
    "are packed to L1. Of block shards, a kernel row is added shard of channels by shard; of width shards, a whole "
    "window is. `conv_config`, then shards of the input decide; else block shards are used if they occupy more cores."
)


def _examples_2d(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or 0 in shape:
        return ()
    weight = Operand((8, shape[3], 3, 3), 1, dtype=DataType.BFLOAT16, layout=Layout.ROW_MAJOR)
    call = {
        "in_channels": shape[3],
        "out_channels": 8,
        "batch_size": shape[0],
        "input_height": shape[1],
        "input_width": shape[2],
        "kernel_size": [3, 3],
        "padding": [1, 1],
    }
    return ((weight, call), (weight, call | {"stride": [2, 2]}))


conv2d = register(
    Op(
        name="conv2d",
        signatures=(
            Signature(
                (
                    PIXELS,
                    Param(
                        "weight_tensor",
                        TENSOR,
                        doc=_WEIGHT_DOC,
                        example=Operand((32, 128, 3, 3), 1, dtype=DataType.BFLOAT16, layout=Layout.ROW_MAJOR),
                    ),
                ),
                (
                    DEVICE_PARAM,
                    *CHANNELS,
                    Param("input_height", INTEGER, doc="H.", example=8),
                    Param("input_width", INTEGER, doc="W.", example=8),
                    Param("kernel_size", INT_SEQUENCE, doc="[kh, kw].", example=[3, 3]),
                    Param("stride", INT_SEQUENCE, [1, 1], doc="Stride of the kernel window.", example=[2, 2]),
                    Param(
                        "padding",
                        INT_SEQUENCE,
                        [0, 0],
                        doc="Zeros around the image: [height, width] or [top, bottom, left, right].",
                        example=[1, 1],
                    ),
                    Param("dilation", INT_SEQUENCE, [1, 1], doc="Dilation of the kernel window.", example=[2, 2]),
                    *OPTIONS,
                ),
            ),
        ),
        run=_conv2d,
        doc="Return the convolution of images with `weight_tensor`, plus `bias_tensor`.\n"
        f"Shape: [1, 1, N * H * W, C], [O, C / groups, kh, kw] -> [1, 1, N * OH * OW, O].\n{NOTE}",
        source="tt-metal `ttnn/cpp/ttnn/operations/conv`",
        dtypes=DTYPES,
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.conv2d,
        accuracy=no_bound("for sums are kept in bfloat16"),
        engine=("matmul", "write_window", "move_elements", "fill"),
        raises=ERRORS,
        examples=_examples_2d,
    )
)

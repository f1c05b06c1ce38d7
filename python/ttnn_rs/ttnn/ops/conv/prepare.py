"""Weights and bias of convolutions, prepared before the first call.

Source: tt-metal `ttnn/cpp/ttnn/operations/conv/conv2d/prepare_conv2d_weights`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.call import checked
from ttnn.base.conv_config import Conv2dConfig
from ttnn.base.enums import DataType
from ttnn.base.exceptions import ArgumentError, ParameterError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.device.lifecycle import MeshDevice
from ttnn.ops.conv.sharding import sharded
from ttnn.ops.conv.transposed import turned
from ttnn.ops.conv.transposed import window_of as transposed_window
from ttnn.ops.conv.weights import Kernel, prepared_bias, prepared_weights
from ttnn.ops.conv.window import pair, window_of
from ttnn.tensor.tensor import Tensor

__all__ = [
    "get_conv_output_dim",
    "prepare_conv_bias",
    "prepare_conv_transpose2d_bias",
    "prepare_conv_transpose2d_weights",
    "prepare_conv_weights",
]


@checked
def get_conv_output_dim(input: int, window: int, stride: int = 1, pad: int = 0, dilation: int = 1) -> int:
    """Return the output size of a convolution along one dimension.

    Args:
        input: Size of the input.
        window: Size of the window.
        stride: Step between windows.
        pad: Padding at each end.
        dilation: Step within a window.
    """
    sizes = (input, window, stride, pad, dilation)
    if any(not isinstance(size, int) for size in sizes) or stride == 0:
        raise ArgumentError(f"ttnn.get_conv_output_dim: sizes are integers and stride is not 0, got {sizes}.")
    return (input + 2 * pad - dilation * (window - 1) - 1) // stride + 1


def _kernel(name: str, in_channels: int, out_channels: int, kernel_size: Sequence[int] | int, groups: int) -> Kernel:
    size = (1, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size)
    high, wide = pair(name, "kernel_size", size, 1)
    if min(in_channels, out_channels, groups) < 1 or in_channels % groups or out_channels % groups:
        raise ParameterError(f"{name}: {in_channels} and {out_channels} channels do not divide into {groups} groups.")
    return Kernel(in_channels, out_channels, high, wide, groups)


def _sharded(
    name: str,
    kernel: Kernel,
    config: Conv2dConfig | None,
    device: MeshDevice | None,
    options: dict[str, Any],
    *,
    transposed: bool = False,
) -> Kernel:
    """Return a kernel with channel shards, if the convolution is described."""
    lengths = (1, options.get("input_length")) if "input_length" in options else None
    size = lengths or (options.get("input_height"), options.get("input_width"))
    layout, batch = options.get("input_layout"), options.get("batch_size")
    if device is None or None in size or layout is None or batch is None:
        return kernel

    def both(label: str, default: int) -> list[int]:
        value = options.get(label, default)
        numbers = [value, value] if isinstance(value, int) else [int(number) for number in value]
        if lengths is None:
            return numbers
        # A row has no height: its one number or pair is of the width.
        ends = numbers if label == "padding" else numbers[-1:]
        return [default] * len(ends) + ends

    sizes = (batch, *(int(side) for side in size if side is not None), kernel.in_channels, kernel.out_channels)
    stride, padding, dilation = both("stride", 1), both("padding", 0), both("dilation", 1)
    of_kernel = (kernel.height, kernel.width)
    if transposed:
        window = transposed_window(
            sizes, of_kernel, stride, padding, both("output_padding", 0), dilation, kernel.groups
        )
    else:
        window = window_of(name, sizes, of_kernel, stride, padding, dilation, kernel.groups)
    memory_config = options.get("input_memory_config") or DRAM_MEMORY_CONFIG
    return sharded(window, layout, memory_config, config or Conv2dConfig(), device.compute_with_storage_grid_size())


def _format(name: str, found: str, expected: str) -> None:
    if found != expected:
        raise ParameterError(f"{name}: weights_format is {found!r}; it must be {expected!r}.")


_OF_THE_CALL: Final = {
    *("input_memory_config", "input_layout", "input_dtype", "output_dtype", "batch_size", "input_height"),
    *("input_width", "input_length", "in_channels", "kernel_size", "groups", "stride", "padding", "output_padding"),
    *("dilation", "has_bias", "compute_config", "slice_config", "dram_slice_config", "mirror_kernel"),
}
"""Arguments of the convolution.

Some decide the shards of its channels; weights ignore the others.
"""


def _known(name: str, options: dict[str, Any]) -> None:
    unknown = sorted(set(options) - _OF_THE_CALL)
    if unknown:
        raise ArgumentError(f"{name}: got an unexpected keyword argument {unknown[0]!r}")


def _dtype(config: Conv2dConfig | None) -> DataType | None:
    return None if config is None else config.weights_dtype


def prepare_conv_weights(
    *,
    weight_tensor: Tensor,
    weights_format: str = "OIHW",
    in_channels: int,
    out_channels: int,
    kernel_size: Sequence[int] | int,
    groups: int = 1,
    device: MeshDevice | None = None,
    conv_config: Conv2dConfig | None = None,
    **options: Any,
) -> Tensor:
    """Return prepared weights of `ttnn.conv2d`.

    [O, C / groups, kh, kw] -> [1, 1, K, O].

    They are on the device if one is given. Sizes, layout and memory configuration of the input decide the shards of its
    channels, and these the order along K; without a device or sizes it is that of height shards.

    Raises:
        ShapeError: the weights do not fit.
        DTypeError: they are integers.
        ParameterError: sizes are not positive, or the format is another.
    """
    name = "ttnn.prepare_conv_weights"
    _known(name, options)
    _format(name, weights_format, "OIHW")
    kernel = _kernel(name, in_channels, out_channels, kernel_size, groups)
    kernel = _sharded(name, kernel, conv_config, device, options)
    return prepared_weights(name, weight_tensor, kernel, _dtype(conv_config), device)


def prepare_conv_transpose2d_weights(
    *,
    weight_tensor: Tensor,
    weights_format: str = "IOHW",
    in_channels: int,
    out_channels: int,
    kernel_size: Sequence[int] | int,
    groups: int = 1,
    device: MeshDevice | None = None,
    conv_config: Conv2dConfig | None = None,
    mirror_kernel: bool = True,
    **options: Any,
) -> Tensor:
    """Return prepared weights of `ttnn.conv_transpose2d`.

    [C, O / groups, kh, kw] -> [1, 1, K, O].

    They are on the device if one is given. Sizes, layout and memory configuration of the input decide the shards of its
    channels, and these the order along K; without a device or sizes it is that of height shards.

    Raises:
        ShapeError: the weights do not fit.
        DTypeError: they are integers.
        ParameterError: sizes are not positive, or the format is another.
    """
    name = "ttnn.prepare_conv_transpose2d_weights"
    _known(name, options)
    _format(name, weights_format, "IOHW")
    kernel = _kernel(name, in_channels, out_channels, kernel_size, groups)
    kernel = _sharded(name, kernel, conv_config, device, options, transposed=True)
    weight = turned(weight_tensor, kernel, mirrored=mirror_kernel)
    return prepared_weights(name, weight, kernel, _dtype(conv_config), device)


def prepare_conv_bias(
    *,
    bias_tensor: Tensor,
    out_channels: int,
    device: MeshDevice | None = None,
    conv_config: Conv2dConfig | None = None,
    **options: Any,
) -> Tensor:
    """Return the prepared bias of `ttnn.conv2d`.

    [1, 1, 1, O], tiled, on `device` if set.

    Raises:
        ShapeError: it has another number of elements.
        DTypeError: it is an integer tensor.
    """
    name = "ttnn.prepare_conv_bias"
    _known(name, options)
    return prepared_bias(name, bias_tensor, out_channels, _dtype(conv_config), device)


def prepare_conv_transpose2d_bias(
    *,
    bias_tensor: Tensor,
    out_channels: int,
    device: MeshDevice | None = None,
    conv_config: Conv2dConfig | None = None,
    **options: Any,
) -> Tensor:
    """Return the prepared bias of `ttnn.conv_transpose2d`: [1, 1, 1, O], tiled.

    Raises:
        ShapeError: it has another number of elements.
        DTypeError: it is an integer tensor.
    """
    name = "ttnn.prepare_conv_transpose2d_bias"
    _known(name, options)
    return prepared_bias(name, bias_tensor, out_channels, _dtype(conv_config), device)

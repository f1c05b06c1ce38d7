"""What convolutions, pools and upsampling of the later epochs call."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.binary.book_calls import Calls, Handler, describe_type, place
from ttnn.compiler.binary.calls import DEVICE, Argument, Name, Ref
from ttnn.compiler.binary.descriptions import Description, describe
from ttnn.compiler.binary.later_parts import DRAM, compute_config, finish, in_rows, in_tiles, numbers, operand

__all__ = ["WINDOWS"]

_CHANNELS: Final = ("in_channels", "out_channels", "batch_size", "input_height", "input_width", "groups")
_SIZES: Final = ("kernel_size", "stride", "padding", "dilation")


def _conv2d(function: str, sizes: tuple[str, ...] = _SIZES) -> Handler:
    """A convolution. Weights may be anywhere: the function prepares them. Binaries have the library's padding."""

    def add(calls: Calls, table: dict[str, Any]) -> None:
        if table.get("conv2d_config") and set(table["conv2d_config"]) & {"activation", "weights_dtype"}:
            raise UnsupportedError("activation and weights_dtype of a conv2d_config of a binary are not executed.")
        have, want = describe(table["input"]), describe(table["out"])
        facts: dict[str, Argument] = {name: table[name] for name in _CHANNELS}
        facts |= {name: numbers(table[name]) for name in sizes}
        made = calls.call(
            function,
            operand(table["input"]),
            operand(table["weight"]),
            device=DEVICE,
            bias_tensor=operand(table.get("bias")),
            compute_config=compute_config(table),
            **facts,
        )
        _images(calls, made, have.data_type, table["out"], want)

    return add


def _conv3d(calls: Calls, table: dict[str, Any]) -> None:
    """The function takes rows of bfloat16, weights of [O, C, kT, kH, kW] and a bias in tiles, and returns rows."""
    if table.get("conv3d_config"):
        raise UnsupportedError("a conv3d_config of a binary is not executed.")
    bias = table.get("bias")
    made = calls.call(
        "ttnn.experimental.conv3d",
        in_rows(calls, table["input"], "BFloat16"),
        in_rows(calls, table["weight"], "BFloat16"),
        device=DEVICE,
        bias_tensor=None if bias is None else in_tiles(calls, bias, "BFloat16"),
        dtype=describe_type("BFloat16"),
        output_channels=table["out_channels"],
        kernel_size=numbers(table["kernel_size"]),
        stride=numbers(table["stride"]),
        padding=numbers(table["padding"]),
        padding_mode=table.get("padding_mode") or "zeros",
        groups=table["groups"],
        compute_kernel_config=compute_config(table),
    )
    want = describe(table["out"])
    place(calls, made, Description(want.shape, "BFloat16", False, DRAM), table["out"]["global_id"], want)


def _images(calls: Calls, made: Ref, data_type: str, out: dict[str, Any], want: Description) -> None:
    """Bring the flat result of a window operator to its description."""
    flat = (1, 1, math.prod(want.shape[:-1]), want.shape[-1])
    if flat != want.shape:
        made = calls.call("ttnn.reshape", made, list(want.shape))
    place(calls, made, Description(want.shape, data_type, True, DRAM), out["global_id"], want)


def _pool2d(calls: Calls, table: dict[str, Any]) -> None:
    """Pooling takes bfloat16; other types are converted before and after."""
    have, want = describe(table["in"]), describe(table["out"])
    image = calls.cast(Ref(table["in"]["global_id"]), have.data_type, "BFloat16")
    sizes = [table[name] for name in ("batch_size", "input_height", "input_width", "channels")]
    kernel, stride, padding, dilation = (numbers(table[name]) for name in _SIZES)
    tiles = Name("ttnn.TILE_LAYOUT")
    if table["type"] == "MaxPool2d":
        windows = [kernel, stride, padding, dilation]
        made = calls.call("ttnn.max_pool2d", image, *sizes, *windows, table["ceil_mode"], output_layout=tiles)
    else:
        counted = bool(table.get("extra_params", {}).get("count_include_pad", True))
        windows = [kernel, stride, padding]
        made = calls.call("ttnn.avg_pool2d", image, *sizes, *windows, table["ceil_mode"], counted, output_layout=tiles)
    _images(calls, made, "BFloat16", table["out"], want)


def _global_avg_pool2d(calls: Calls, table: dict[str, Any]) -> None:
    finish(calls, table, "ttnn.global_avg_pool2d", describe(table["in"]), operand(table["in"]))


def _upsample(calls: Calls, table: dict[str, Any]) -> None:
    have, scale = describe(table["in"]), table["scale_factor"]["scale"]
    rows = Description(have.shape, have.data_type, False, DRAM)
    factor: Argument = numbers(scale) if isinstance(scale, list) else int(scale)
    mode = table.get("mode") or "nearest"
    finish(calls, table, "ttnn.upsample", rows, in_rows(calls, table["in"]), factor, mode=mode)


#: What each member of the union `OpType` adds.
WINDOWS: Final[dict[str, Handler]] = {
    "Conv2dOp": _conv2d("ttnn.conv2d"),
    "Conv3dOp": _conv3d,
    "ConvTranspose2dOp": _conv2d("ttnn.conv_transpose2d", (*_SIZES, "output_padding")),
    "GlobalAvgPool2dOp": _global_avg_pool2d,
    "Pool2dOp": _pool2d,
    "UpsampleOp": _upsample,
}

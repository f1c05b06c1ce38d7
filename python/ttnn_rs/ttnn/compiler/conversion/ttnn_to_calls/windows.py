"""Calls of convolutions, pooling and upsampling in the later versions."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_calls.calls import DEVICE, Argument, Name, Ref
from ttnn.compiler.conversion.ttnn_to_calls.configurations import conv3d_config
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe, dtype_name, memory_config
from ttnn.compiler.conversion.ttnn_to_calls.parts import (
    DRAM,
    Calls,
    Handler,
    compute_config,
    conv_config,
    in_rows,
    in_tiles,
    numbers,
    operand,
    place,
    unflattened,
)
from ttnn.compiler.conversion.ttnn_to_calls.rows import row

__all__ = ["WINDOWS"]

_CHANNELS: Final = ("in_channels", "out_channels", "batch_size", "input_height", "input_width", "groups")
_SIZES: Final = ("kernel_size", "stride", "padding", "dilation")


def _conv3d(calls: Calls, table: dict[str, Any]) -> None:
    """The function uses bfloat16 rows, with a tiled bias.

    It returns rows.

    Weights of [O, C, kT, kH, kW] lie on the host; prepared ones, of rank 2, on the device.
    """
    bias, have = table.get("bias"), describe(table["weight"])
    if len(have.shape) == 2:
        weight = calls.cast(Ref(table["weight"]["global_id"]), have.data_type, "BFloat16")
    else:
        weight = in_rows(calls, table["weight"], "BFloat16")
        weight = weight if have.on_host else calls.call("ttnn.from_device", weight)
    config = table.get("conv3d_config")
    made = calls.call(
        "ttnn.experimental.conv3d",
        in_rows(calls, table["input"], "BFloat16"),
        weight,
        device=DEVICE,
        config=None if not config else conv3d_config(config),
        bias_tensor=None if bias is None else in_tiles(calls, bias, "BFloat16"),
        dtype=dtype_name("BFloat16"),
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


def _prepare(function: str, name: str) -> Handler:
    """Convolution weights or bias: in tiles on the device."""

    def add(calls: Calls, table: dict[str, Any]) -> None:
        have, want, config = describe(table[name]), describe(table["out"]), conv_config(table)
        tiled = table["input_tensor_layout"] == "Tile"
        facts: dict[str, Any] = {name: operand(table[name]), **{fact: table[fact] for fact in _CHANNELS}}
        facts |= {fact: numbers(table[fact]) for fact in (*_SIZES, "output_padding") if table.get(fact)}
        facts |= {fact: table[fact] for fact in ("weights_format", "has_bias", "mirror_kernel") if fact in table}
        made = calls.call(
            function,
            input_memory_config=memory_config(table.get("input_memory_config")),
            input_layout=Name("ttnn.TILE_LAYOUT" if tiled else "ttnn.ROW_MAJOR_LAYOUT"),
            input_dtype=dtype_name(table["input_dtype"]),
            device=DEVICE,
            conv_config=config,
            compute_config=compute_config(table),
            **facts,
        )
        # A bias that is in tiles already keeps its data type.
        chosen = (
            None if name == "bias_tensor" and have.tiled else (table.get("conv2d_config") or {}).get("weights_dtype")
        )
        place(
            calls, made, Description(want.shape, chosen or have.data_type, True, DRAM), table["out"]["global_id"], want
        )

    return add


def _images(calls: Calls, made: Ref, data_type: str, out: dict[str, Any], want: Description) -> None:
    """Convert the flat result of a pooling or convolution to its description."""
    made = unflattened(calls, made, want.shape)
    place(calls, made, Description(want.shape, data_type, True, DRAM), out["global_id"], want)


def _pool2d(calls: Calls, table: dict[str, Any]) -> None:
    """Pooling takes bfloat16; other types are converted before and after."""
    have, want = describe(table["in"]), describe(table["out"])
    image = Ref(table["in"]["global_id"])
    image = calls.cast(
        calls.call("ttnn.to_device", image, DEVICE) if have.on_host else image, have.data_type, "BFloat16"
    )
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


def _max_pool2d_with_indices(calls: Calls, table: dict[str, Any]) -> None:
    """Largest elements and their pixels, both in rows.

    Pixels are numbers of 16 bits, or of 32 for large images.
    """
    have, outs = describe(table["in"]), [table["result"], table["result_indices"]]
    image = calls.cast(Ref(table["in"]["global_id"]), have.data_type, "BFloat16")
    sizes = [table[name] for name in ("batch_size", "input_height", "input_width", "channels")]
    windows = [numbers(table[name]) for name in _SIZES]
    if len(windows[2]) == 4:
        # Binaries have top, left, bottom, right, the function top, bottom, left, right.
        windows[2] = [windows[2][i] for i in (0, 2, 1, 3)]
    arguments: list[Argument] = [image, *sizes, *windows, bool(table["ceil_mode"])]
    index = "UInt16" if sizes[1] * sizes[2] < 1 << 16 else "UInt32"
    shape = (1, 1, math.prod(describe(outs[0]).shape[:-1]), describe(outs[0]).shape[-1])
    made = calls.call_several("ttnn.max_pool2d", arguments, {"return_indices": True}, [None, None])
    for result, out, kind in zip(made, outs, ("BFloat16", index), strict=True):
        want = describe(out)
        if want.shape != shape:
            result = calls.call("ttnn.reshape", result, list(want.shape))
        place(calls, result, Description(want.shape, kind, False, DRAM), out["global_id"], want)


_CONVOLUTION: Final = (
    " input weight device=:device bias_tensor=bias? conv_config=:conv compute_config=:config "
    "=in_channels =out_channels =batch_size =input_height =input_width =groups "
    "=kernel_size:numbers =stride:numbers =padding:numbers =dilation:numbers"
)

#: What each member of the union `OpType` adds. Weights may be anywhere: convolutions prepare them.
WINDOWS: Final[dict[str, Handler]] = {
    "Conv1dOp": row(
        "ttnn.conv1d input weight device=:device =padding:numbers bias_tensor=bias? conv_config=:conv "
        "compute_config=:config =in_channels:int =out_channels:int =batch_size:int =input_length:int =kernel_size:int "
        "=stride:int =dilation:int =groups:int",
        flat=True,
    ),
    "Conv2dOp": row(f"ttnn.conv2d{_CONVOLUTION}", flat=True),
    "Conv3dOp": _conv3d,
    "ConvTranspose2dOp": row(f"ttnn.conv_transpose2d{_CONVOLUTION} =output_padding:numbers", flat=True),
    "GlobalAvgPool2dOp": row("ttnn.global_avg_pool2d in"),
    "MaxPool2dWithIndicesOp": _max_pool2d_with_indices,
    "Pool2dOp": _pool2d,
    "PrepareConv2dBiasOp": _prepare("ttnn.prepare_conv_bias", "bias_tensor"),
    "PrepareConv2dWeightsOp": _prepare("ttnn.prepare_conv_weights", "weight_tensor"),
    "PrepareConvTranspose2dBiasOp": _prepare("ttnn.prepare_conv_transpose2d_bias", "bias_tensor"),
    "PrepareConvTranspose2dWeightsOp": _prepare("ttnn.prepare_conv_transpose2d_weights", "weight_tensor"),
    "PrepareConv3dWeightsOp": row(
        "ttnn.experimental.prepare_conv3d_weights weight_tensor:rows/float =groups:int C_in_block=c_in_block:int "
        "=alignment:int device=:device",
        placed=False,
    ),
    "UpsampleOp": row("ttnn.upsample in:rows scale_factor.scale:factors =mode?nearest:text"),
}

"""Calls of convolutions, pooling and upsampling in the later versions."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import DEVICE, Argument, Name, New, Ref
from ttnn.compiler.conversion.ttnn_to_calls.configurations import conv2d_config, conv3d_config
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe, dtype_name, memory_config
from ttnn.compiler.conversion.ttnn_to_calls.parts import (
    DRAM,
    compute_config,
    finish,
    in_rows,
    in_tiles,
    numbers,
    operand,
    row,
)
from ttnn.compiler.conversion.ttnn_to_calls.tt_handlers import Calls, Handler, describe_type, place

__all__ = ["WINDOWS"]

_CHANNELS: Final = ("in_channels", "out_channels", "batch_size", "input_height", "input_width", "groups")
_SIZES: Final = ("kernel_size", "stride", "padding", "dilation")


def _config(table: dict[str, Any]) -> New | None:
    """Return the convolution's configuration that changes results, or None.

    The rest decides only its time.

    Raises:
        UnsupportedError: Its result is in rows.
    """
    config = table.get("conv2d_config") or {}
    if config.get("output_layout") == "RowMajor":
        raise UnsupportedError("a conv2d_config of a binary with a result in rows is not executed.")
    return conv2d_config({name: config[name] for name in ("weights_dtype", "activation") if name in config})


def _conv2d(function: str, sizes: tuple[str, ...] = _SIZES) -> Handler:
    """A convolution, with weights anywhere: the function prepares them.

    Binaries have TT-NN's padding.
    """

    def add(calls: Calls, table: dict[str, Any]) -> None:
        have, want = describe(table["input"]), describe(table["out"])
        facts: dict[str, Argument] = {name: table[name] for name in _CHANNELS}
        facts |= {name: numbers(table[name]) for name in sizes}
        made = calls.call(
            function,
            operand(table["input"]),
            operand(table["weight"]),
            device=DEVICE,
            bias_tensor=operand(table.get("bias")),
            conv_config=_config(table),
            compute_config=compute_config(table),
            **facts,
        )
        _images(calls, made, have.data_type, table["out"], want)

    return add


def _conv1d(calls: Calls, table: dict[str, Any]) -> None:
    """A convolution of rows; its result is [1, 1, N * L, C]."""
    have, want = describe(table["input"]), describe(table["out"])
    names = ("in_channels", "out_channels", "batch_size", "input_length", "kernel_size", "stride", "dilation", "groups")
    facts: dict[str, Argument] = {name: int(table[name]) for name in names}
    made = calls.call(
        "ttnn.conv1d",
        operand(table["input"]),
        operand(table["weight"]),
        device=DEVICE,
        padding=numbers(table["padding"]),
        bias_tensor=operand(table.get("bias")),
        conv_config=_config(table),
        compute_config=compute_config(table),
        **facts,
    )
    _images(calls, made, have.data_type, table["out"], want)


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


def _prepare(function: str, name: str) -> Handler:
    """Convolution weights or bias: in tiles on the device."""

    def add(calls: Calls, table: dict[str, Any]) -> None:
        have, want, config = describe(table[name]), describe(table["out"]), _config(table)
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


def _prepare_conv3d_weights(calls: Calls, table: dict[str, Any]) -> None:
    """The function takes weights in rows and returns rows on the device."""
    have = describe(table["weight_tensor"])
    kind = have.data_type if have.data_type in ("BFloat16", "Float32") else "BFloat16"
    made = calls.call(
        "ttnn.experimental.prepare_conv3d_weights",
        in_rows(calls, table["weight_tensor"], kind),
        groups=int(table["groups"]),
        C_in_block=int(table["c_in_block"]),
        alignment=int(table["alignment"]),
        device=DEVICE,
    )
    want = describe(table["out"])
    place(calls, made, Description(want.shape, kind, False, DRAM), table["out"]["global_id"], want)


def _images(calls: Calls, made: Ref, data_type: str, out: dict[str, Any], want: Description) -> None:
    """Convert the flat result of a pooling or convolution to its description."""
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


def _upsample(calls: Calls, table: dict[str, Any]) -> None:
    have, scale = describe(table["in"]), table["scale_factor"]["scale"]
    rows = Description(have.shape, have.data_type, False, DRAM)
    factor: Argument = numbers(scale) if isinstance(scale, list) else int(scale)
    mode = table.get("mode") or "nearest"
    finish(calls, table, "ttnn.upsample", rows, in_rows(calls, table["in"]), factor, mode=mode)


#: What each member of the union `OpType` adds.
WINDOWS: Final[dict[str, Handler]] = {
    "Conv1dOp": _conv1d,
    "Conv2dOp": _conv2d("ttnn.conv2d"),
    "Conv3dOp": _conv3d,
    "ConvTranspose2dOp": _conv2d("ttnn.conv_transpose2d", (*_SIZES, "output_padding")),
    "GlobalAvgPool2dOp": row("ttnn.global_avg_pool2d in"),
    "MaxPool2dWithIndicesOp": _max_pool2d_with_indices,
    "Pool2dOp": _pool2d,
    "PrepareConv2dBiasOp": _prepare("ttnn.prepare_conv_bias", "bias_tensor"),
    "PrepareConv2dWeightsOp": _prepare("ttnn.prepare_conv_weights", "weight_tensor"),
    "PrepareConvTranspose2dBiasOp": _prepare("ttnn.prepare_conv_transpose2d_bias", "bias_tensor"),
    "PrepareConvTranspose2dWeightsOp": _prepare("ttnn.prepare_conv_transpose2d_weights", "weight_tensor"),
    "PrepareConv3dWeightsOp": _prepare_conv3d_weights,
    "UpsampleOp": _upsample,
}

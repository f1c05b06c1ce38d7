"""Lowering of 1D and 3D convolutions and pools with indices.

Also of what TT-NN does not support of windows.
"""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.dialects.kinds import i32_array, i32_attr, integer
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, SSAValue
from ttnn.compiler.transforms.base import fail, replace
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.layout.types import retyped

__all__ = ["check_pool", "check_transpose", "conv1d", "conv3d", "max_pool2d_with_indices", "padded_image"]

_TILE: Final = 32
_L1_ALIGNMENT: Final = 16


def _numbers(value: Any, count: int) -> tuple[int, ...]:
    """Return an attribute's one number, or one per direction."""
    return (value,) * count if isinstance(value, int) else tuple(value)


def check_pool(module: Module, op: TableOp) -> None:
    """Refuse dilated averages.

    Raises:
        CompileError: The windows have gaps.
    """
    if op.name == "ttir.avg_pool2d" and any(one != 1 for one in _numbers(op.get("dilation"), 2)):
        raise fail(module, op, "only supports lowering to TTNN for dilation of (1, 1)")


def padded_image(module: Module, op: TableOp, image: tuple[int, int, int, int]) -> tuple[SSAValue, int, int] | None:
    """Return an image zero-padded where TT-NN lacks such padding.

    Its height and width come with it.

    It takes half of the window at most. Averages that do not count the padding cannot have it as zeros.
    """
    sides = _numbers(op.get("padding"), 4)
    top, left, bottom, right = (*sides, *sides) if len(sides) == 2 else sides
    kernel = _numbers(op.get("kernel"), 2)
    small = max(top, bottom) <= kernel[0] // 2 and max(left, right) <= kernel[1] // 2
    if small or not op.get("count_include_pad"):
        return None
    batch, height, width, channels = image
    build = Build(module, op)
    value = build.reshape(op.inputs[0], (batch, height, width, channels))
    value = build.pad(value, (0, 0, top, bottom, left, right, 0, 0), multicore=True)
    return build.flat(value), height + top + bottom, width + left + right


def check_transpose(module: Module, op: TableOp) -> None:
    """Refuse paddings that differ on two sides.

    Raises:
        CompileError: They differ.
    """
    padding = _numbers(op.get("padding"), 4)
    if len(padding) == 4 and padding[:2] != padding[2:]:
        raise fail(
            module,
            op,
            "TTNN only supports padding height/width attributes. Thus, padding_top/padding_left must equal "
            "padding_bottom/padding_right for the op to execute as expected.",
        )


def _single(module: Module, op: TableOp, name: str) -> int:
    values = _numbers(op.get(name), 1)
    if len(values) != 1:
        raise fail(module, op, f"conv1d {name} must be a scalar or a 1-element array")
    return values[0]


def conv1d(module: Module, op: TableOp) -> None:
    """Lower a 1D convolution: the result is [1, 1, N * L, C]."""
    shape, weight, result = (shape_of(value) for value in (*op.inputs[:2], op.results[0]))
    dims = tuple(op.get(f"{name}_dim") for name in ("batch", "length", "channel"))
    if dims != (0, 1, 2):
        raise fail(module, op, f"of images with dimensions in the order {dims} cannot be lowered; use channels last")
    padding = _numbers(op.get("padding"), 2)
    padding = padding * 2 if len(padding) == 1 else padding
    numbers = {
        "in_channels": shape[2],
        "out_channels": result[2],
        "batch_size": shape[0],
        "input_length": shape[1],
        "kernel_size": weight[2],
        "stride": _single(module, op, "stride"),
        "dilation": _single(module, op, "dilation"),
        "groups": op.get("groups"),
    }
    properties: dict[str, Attribute] = {name: i32_attr(value) for name, value in numbers.items()}
    # On depthwise convolutions the library hangs with these tensors in DRAM (tt-metal issue 45075).
    config = OpaqueDialectAttr("ttnn.conv2d_config", ("<config_tensors_in_dram = false>",))
    properties.update(padding=i32_array(padding), conv2d_config=config)
    build, bias = Build(module, op), op.operand("bias")
    operands = {"input": op.inputs[0], "weight": op.inputs[1], "device": build.device}
    if bias is not None:
        operands["bias"] = build.reshape(bias, (1, 1, 1, math.prod(shape_of(bias))))
    kind = retyped(op.results[0].type, shape=(1, 1, result[0] * result[1], result[2]))
    replace(op, [build.reshape(build.value("conv1d", operands, kind, **properties), result)])


def conv3d(module: Module, op: TableOp, grid: tuple[int, ...]) -> None:
    """Lower a 3D convolution; `grid` are its possible cores."""
    shape, weight, result = (shape_of(value) for value in (*op.inputs[:2], op.results[0]))
    dims = tuple(op.get(f"{name}_dim") for name in ("batch", "depth", "height", "width", "channel"))
    if dims != (0, 1, 2, 3, 4):
        raise fail(module, op, f"of volumes with dimensions in the order {dims} cannot be lowered; use channels last")
    if op.get("groups") != 1:
        raise fail(module, op, "cannot be lowered with groups: ttnn.conv3d only supports groups == 1")
    channels = -(-shape[4] // _TILE) * _TILE
    build, bias = Build(module, op), op.operand("bias")
    operands = {"input": build.pad_to(op.inputs[0], 4, channels), "weight": op.inputs[1], "device": build.device}
    if bias is not None:
        operands["bias"] = build.reshape(bias, (1, math.prod(shape_of(bias))))
    numbers = {
        "in_channels": channels,
        "out_channels": result[4],
        "batch_size": shape[0],
        "input_depth": shape[1],
        "input_height": shape[2],
        "input_width": shape[3],
        "groups": 1,
    }
    properties: dict[str, Attribute] = {name: i32_attr(value) for name, value in numbers.items()}
    properties["kernel_size"] = i32_array(weight[2:])
    properties["stride"] = i32_array(_numbers(op.get("stride"), 3))
    properties["padding"] = i32_array(_numbers(op.get("padding"), 3))
    mode = op.attribute("padding_mode")
    if mode is not None:
        properties["padding_mode"] = mode
    volume = math.prod(weight[2:])
    block = min(math.lcm(_L1_ALIGNMENT, _TILE // math.gcd(volume, _TILE)), channels)
    text = (
        f"<t_out_block = 1, w_out_block = 1, h_out_block = 1, c_out_block = {_TILE}, c_in_block = {block}, "
        f"compute_with_storage_grid_size = #ttcore.grid<{'x'.join(map(str, grid))}>>"
    )
    properties["conv3d_config"] = OpaqueDialectAttr("ttnn.conv3d_config", (text,))
    replace(op, [build.value("conv3d", operands, op.results[0].type, **properties)])


def max_pool2d_with_indices(module: Module, op: TableOp, properties: dict[str, Any]) -> None:
    """Lower a pool that also gives the places of its largest elements."""
    properties = {"ceil_mode": op.properties["ceil_mode"], **properties, "in_place_halo": integer(0, "i1")}
    types = [result.type for result in op.results]
    replace(op, Build(module, op).op("max_pool2d_with_indices", [op.inputs[0]], types, **properties).results)

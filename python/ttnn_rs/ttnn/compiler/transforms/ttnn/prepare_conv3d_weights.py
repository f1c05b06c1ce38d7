"""`ttnn-prepare-conv3d-weights`: 3D convolution weights as matrices.

They are in blocks of input channels.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from ttnn.compiler.dialects.kinds import i32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.transforms.base import fail, table_ops
from ttnn.compiler.transforms.ttnn.build import Build, change_operands
from ttnn.compiler.transforms.ttnn.layout.types import on_host, retyped, tensor_layout

__all__ = ["run"]

_ALIGNMENT: Final = 32
"""Input channels are padded to whole tiles."""


def run(module: Module) -> None:
    """Prepare unprepared 3D convolution weights, in tiles.

    Raises:
        CompileError: A convolution does not say how many input channels a block has.
    """
    for op in table_ops(module.op, "ttnn.conv3d"):
        build, weight = Build(module, op), op.group("weight")[0]
        if len(shape_of(weight)) == 5:
            weight = _prepared(module, build, op)
        tiles = build.spec(weight, retyped(weight.type, tiled=True), suffix="_prepare_conv3d_weight_to_tile")
        change_operands(op, weight=tiles)


def _prepared(module: Module, build: Build, op: TableOp) -> Any:
    config = op.attribute("conv3d_config")
    block = re.search(r"c_in_block = (\d+)", str(config)) if config is not None else None
    if block is None:
        raise fail(module, op, "needs a conv3d_config with c_in_block, as created by convert-ttir-to-ttnn")
    weight = op.group("weight")[0]
    rows = retyped(weight.type, tiled=False, space="system_memory")
    if tensor_layout(weight).tiled or not on_host(tensor_layout(weight)):
        weight = build.spec(weight, rows, suffix="_prepare_conv3d_weight_to_row_major")
    groups = int(op.get("groups"))
    channels = -(-int(op.get("in_channels")) // groups // _ALIGNMENT) * _ALIGNMENT
    shape = (math.prod(op.get("kernel_size")) * channels, int(op.get("out_channels")))
    type_ = retyped(rows, shape=shape, space="dram", memory="interleaved", grid=(1, 1))
    return build.value(
        "prepare_conv3d_weights",
        [weight, op.group("device")[0]],
        type_,
        suffix="_prepare_conv3d_weight",
        groups=i32_attr(groups),
        c_in_block=i32_attr(int(block.group(1))),
        alignment=i32_attr(_ALIGNMENT),
    )

"""`ttir-flatten-sliding-window`: convolutions and pools on [1, 1, N*H*W, C]."""

from __future__ import annotations

import math
import re

from ttnn.compiler.dialects.kinds import i32_attr
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, NoneAttr, SSAValue, TensorType
from ttnn.compiler.transforms.base import insert_before, replace, table_ops

__all__ = ["flat_numbers", "run"]

_WINDOWS = {
    "ttir.conv2d",
    "ttir.conv_transpose2d",
    "ttir.max_pool2d",
    "ttir.avg_pool2d",
    "ttir.max_pool2d_with_indices",
}


def flat_numbers(text: str) -> tuple[int, int, int]:
    """Return batch, height and width of `#ttir<flattened_compat ...>`."""
    found = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", text)}
    return found["batch_size"], found["input_height"], found["input_width"]


def run(module: Module) -> None:
    """Insert reshapes around convolutions and pooling, recording image sizes."""
    for op in table_ops(module.op, "ttir."):
        if op.name not in _WINDOWS or "flattened_compat_info" in op.properties:
            continue
        if "flattened_compat_info" not in op.text.attributes:
            continue
        shape = shape_of(op.inputs[0])
        if len(shape) == 4:
            _flatten(module, op, shape)


def _reshape(module: Module, op: TableOp, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
    type_ = value.type
    assert isinstance(type_, TensorType)
    new = make(
        "ttir.reshape",
        module.version,
        [value],
        [TensorType(type_.element_type, shape, NoneAttr())],
        {"shape": ArrayAttr([i32_attr(size) for size in shape])},
        location=op.location,
    )
    insert_before(op, new)
    result: SSAValue = new.results[0]
    return result


def _flatten(module: Module, op: TableOp, shape: tuple[int, ...]) -> None:
    flat = _reshape(module, op, op.inputs[0], (1, 1, math.prod(shape[:3]), shape[3]))
    text = f"batch_size = {shape[0]}, input_height = {shape[1]}, input_width = {shape[2]}"
    info = OpaqueDialectAttr("ttir", (f"<flattened_compat {text}>",), pretty=False)
    types = []
    for result in op.results:
        type_ = result.type
        assert isinstance(type_, TensorType)
        out = tuple(type_.get_shape())
        types.append(TensorType(type_.element_type, (1, 1, math.prod(out[:3]), out[3]), NoneAttr()))
    new = make(
        op.name,
        module.version,
        [flat, *op.inputs[1:]],
        types,
        {**op.properties, "flattened_compat_info": info},
        attributes=dict(op.attributes),
        location=op.location,
    )
    insert_before(op, new)
    results = []
    for old, value in zip(op.results, new.results, strict=True):
        results.append(_reshape(module, op, value, shape_of(old)))
    replace(op, results)

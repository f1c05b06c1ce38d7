"""`ttnn-emitpy-workarounds`: 2025-10 constants in Python call form.

It is the form that calls of TT-NN from Python take.

A constant has four dimensions and is made in floating point; a reshape and a cast behind it give what it was. Integers
that float32 does not hold stay as they are.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue, TensorType, builtin_float
from ttnn.compiler.transforms.base import fail, replace
from ttnn.compiler.transforms.ttir.build import ints
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.layout.types import element_word, retyped

__all__ = ["run"]

_RANK: Final = 4
_FLOATS: Final = ("f32", "bf16")


def run(module: Module) -> None:
    """Change the constants of a module.

    Raises:
        CompileError: A constant has more than four dimensions.
    """
    for op in [one for one in module.op.walk() if isinstance(one, TableOp) and one.name == "ttnn.constant"]:
        value = op.attribute("value")
        if isinstance(value, DenseAttr):
            _change(module, op, value)


def _change(module: Module, op: TableOp, value: DenseAttr) -> None:
    type_ = op.results[0].type
    shape = shape_of(op.results[0])
    if len(shape) > _RANK:
        raise fail(module, op, f"has {len(shape)} dimensions; Python gets constants of up to {_RANK}")
    word = element_word(type_)
    full = (1,) * (_RANK - len(shape)) + tuple(shape)
    numbers = value.to_numpy()
    as_float = numbers.astype(np.float32)
    integers = numbers.dtype.kind in "iub"
    exact = bool(np.all(as_float == np.trunc(as_float))) and np.array_equal(as_float.astype(np.int64), numbers)
    floats = word not in _FLOATS and exact
    if full == tuple(shape) and not floats and not (integers and word in _FLOATS and exact):
        return
    assert isinstance(value.type, TensorType)
    element, data = value.type.element_type, value.data
    if integers and exact:
        element, data = builtin_float("f32"), as_float.ravel()[: 1 if value.splat else None].tobytes()
    value = DenseAttr(TensorType(element, list(full)), data, value.splat)
    following = op.next_op
    assert following is not None
    build = Build(module, following)
    wide = retyped(type_, shape=full)
    made = retyped(wide, dtype="f32") if floats else wide
    properties: dict[str, Any] = {key: one for key, one in op.properties.items() if key != "value"}
    new = build.op("constant", list(op.operands), [made], value=value, attributes=dict(op.attributes), **properties)
    last: SSAValue = new.results[0]
    if floats:
        cast = "typecast" if op.operands else "to_dtype"
        last = build.op(cast, [last], [wide], suffix="_emitPyConstantDTypeWorkaround").results[0]
    if full != tuple(shape):
        last = build.op("reshape", [last], [type_], suffix="_reshapeConstant", shape=ints(shape)).results[0]
    replace(op, [last])

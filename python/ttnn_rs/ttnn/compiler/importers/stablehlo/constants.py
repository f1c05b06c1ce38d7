"""Constants and counted values."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder import element_of, shape_of
from ttnn.compiler.importers.builder.types import is_bool, is_complex, is_float, scalar
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.attributes import DenseAttr, ResourceAttr
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _constant(scope: Scope, view: View) -> SSAValue:
    value = view.attribute("value")
    type_ = scope.type(view.types[0])
    if isinstance(value, ResourceAttr):
        made: SSAValue = scope.b.op("constant", value=value, types=[type_])
        return made
    if not isinstance(value, DenseAttr):
        refuse("has a value that is no dense constant")
    if is_complex(value.element_type):
        import numpy as np

        values = np.ascontiguousarray(value.to_numpy())
        pairs = values.view(np.float32 if values.dtype == np.complex64 else np.float64)
        return scope.one(scope.b.constant(pairs.reshape(shape_of(type_)), element_of(type_)))
    return scope.one(scope.b.constant(DenseAttr(type_, value.data, value.splat, value.as_hex)))


def _iota(scope: Scope, view: View) -> SSAValue:
    type_, dim = scope.type(view.types[0]), view.get("iota_dimension")
    if is_bool(element_of(type_)):
        refuse("of booleans has no TTIR operation")
    shape = shape_of(type_)
    whole = scalar("i32") if is_float(element_of(type_)) and shape[dim] > 256 else element_of(type_)
    return scope.cast(scope.arange(shape[dim], whole, shape, dim), element_of(type_))


def _dimension_size(scope: Scope, view: View) -> SSAValue:
    (value,) = scope.operands(view)
    return scope.splat(shape_of(value)[view.get("dimension")], scope.type(view.types[0]))


def _no_token(scope: Scope, view: View) -> SSAValue:
    del scope, view
    refuse("orders side effects, which have no TTIR operation")


ROWS: Final = {
    "stablehlo.constant": _constant,
    "arith.constant": _constant,
    "chlo.constant": _constant,
    "stablehlo.iota": _iota,
    "stablehlo.dynamic_iota": _iota,
    "stablehlo.get_dimension_size": _dimension_size,
    "stablehlo.create_token": _no_token,
    "stablehlo.after_all": _no_token,
}

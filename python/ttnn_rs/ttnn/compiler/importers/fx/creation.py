"""Tensors that depend on no input."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.importers.builder.steps import WideNumber, refuse
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]

_ELEMENTS: Final = 1 << 24
"""Limit of constants that are written into the program."""


def _splat(value: float) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        made: SSAValue = s.b.splat(value, a.shape, a.element)
        return made

    return row


def _full(s: Scope, a: Arguments) -> SSAValue:
    value = a.fill_value if a.fill_value is not None else a.value
    if isinstance(value, SSAValue):
        return s.expand(s.cast(value, a.element), a.shape)
    if isinstance(value, int) and not -(1 << 31) <= value < 1 << 31:
        raise WideNumber(f"with {value} does not fit 32 bits")
    made: SSAValue = s.b.splat(value, a.shape, a.element)
    return made


def _computed(s: Scope, a: Arguments) -> SSAValue:
    """Import a tensor of numbers that are known now: PyTorch computes it."""
    import math

    import torch

    if math.prod(a.shape) > _ELEMENTS:
        refuse(f"of more than {_ELEMENTS:,} elements is not written into a program")
    given: dict[str, Any] = {key: one for key, one in a.given().items() if one is not None}
    given |= {"device": "cpu"}
    given.pop("pin_memory", None)
    given.pop("layout", None)
    ordered = [given.pop(one.name) for one in a.operation._schema.arguments if not one.kwarg_only and one.name in given]
    with torch.utils._python_dispatch._disable_current_modes():
        found = a.operation(*ordered, **given)
    if not found.dtype.is_floating_point and found.numel() and int(found.abs().max()) >= 1 << 31:
        raise WideNumber(f"has the constant {int(found.abs().max())}, which does not fit 32 bits")
    if found.dtype.is_floating_point:
        found = found.to(torch.float64)
    made: SSAValue = s.b.constant(found.numpy(), a.element)
    return made


def _scalar(s: Scope, a: Arguments) -> SSAValue:
    made: SSAValue = s.b.splat(a.s, (), a.element)
    return made


def _one_hot(s: Scope, a: Arguments) -> SSAValue:
    import numpy as np

    from ttnn.compiler.importers.builder import element_of, shape_of

    if a.num_classes < 0:
        refuse("without the number of classes depends on data")
    shape = shape_of(a.self)
    index = s.reshape(a.self, [*shape, 1])
    classes = s.b.constant(np.arange(a.num_classes).reshape([1] * len(shape) + [-1]), element_of(index))
    return s.cast(s.b.eq(index, classes), a.element)


ROWS: Final[dict[str, Row]] = {
    **{f"aten.{name}": _splat(0) for name in ("empty", "empty_like", "empty_strided", "new_empty", "new_zeros")},
    **{f"aten.{name}": _splat(0) for name in ("new_empty_strided", "zeros", "zeros_like", "empty_permuted")},
    **{f"aten.{name}": _splat(1) for name in ("ones", "ones_like", "new_ones")},
    **{f"aten.{name}": _full for name in ("full", "full_like", "new_full", "fill")},
    **{f"aten.{name}": _computed for name in ("arange", "eye", "linspace", "logspace", "tril_indices")},
    "aten.triu_indices": _computed,
    "aten.one_hot": _one_hot,
    "aten.scalar_tensor": _scalar,
}

"""Steps on values that importers share.

Casts, broadcasts, slices, constants that are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ttnn.compiler.importers.builder.builder import Builder
from ttnn.compiler.importers.builder.types import (
    element_of,
    is_bool,
    is_float,
    is_integer,
    is_signed,
    numpy_dtype,
    scalar,
    shape_of,
    tensor,
    width_of,
)
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.xdsl_adapter import Attribute, OpResult, SSAValue

__all__ = ["Refusal", "Steps", "WideNumber", "need_float", "refuse"]


class Refusal(Exception):
    """An operation that cannot be imported, and why."""


class WideNumber(Refusal):
    """A number that does not fit 32 bits."""


def refuse(reason: str) -> NoReturn:
    """Refuse an operation.

    Raises:
        Refusal: Always.
    """
    raise Refusal(reason)


class Steps:
    """Steps that append to a function.

    Attributes:
        b: Its builder.
        checked: Whether scatters ignore positions out of range as StableHLO does, which takes more operations;
            otherwise they are errors of the run.
    """

    def __init__(self, builder: Builder, *, checked: bool = True) -> None:
        self.b: Any = builder
        self.checked = checked

    @staticmethod
    def one(value: Any) -> SSAValue:
        """Return the result of an operation that has one."""
        assert isinstance(value, SSAValue)
        return value

    def constant(self, value: SSAValue) -> Any:
        """Return the elements of a value that is constant, as an array.

        Else None.
        """
        import numpy as np

        if not isinstance(value, OpResult):
            return None
        op = value.op
        attribute = op.properties.get("value")
        if op.name == "ttir.constant":
            return attribute.to_numpy() if isinstance(attribute, DenseAttr) else None
        if op.name not in ("ttir.reshape", "ttir.typecast", "ttir.broadcast"):
            return None
        inner = self.constant(op.operands[0])
        if inner is None:
            return None
        shape = shape_of(value)
        if op.name == "ttir.reshape":
            return inner.reshape(shape)
        if op.name == "ttir.broadcast":
            return np.broadcast_to(inner, shape)
        with np.errstate(all="ignore"):
            return inner.astype(numpy_dtype(element_of(value)))

    def splat_of(self, value: SSAValue) -> Any:
        """Return the one element of a constant whose elements are equal.

        Else None.
        """
        found = self.constant(value)
        if found is None or not found.size:
            return None
        first = found.reshape(-1)[0]
        if not any(found.strides):
            return first
        return first if bool((found == first).all()) else None

    def integers(self, values: Sequence[SSAValue]) -> list[int] | None:
        """Return the numbers in scalar operands if all are constant."""
        found = [self.constant(one) for one in values]
        return None if any(one is None for one in found) else [int(one.reshape(())) for one in found]

    def splat(self, value: float, like: SSAValue | Attribute, shape: Sequence[int] | None = None) -> SSAValue:
        """Return a constant of one value, shaped like another tensor."""
        made: SSAValue = self.b.splat(value, shape_of(like) if shape is None else shape, element_of(like))
        return made

    def select(self, condition: SSAValue, first: SSAValue, second: SSAValue) -> SSAValue:
        """Return elements of one value or another, by a condition.

        All have the same shape.

        Integers of 32 bits are selected by bits: the chip's `where` computes in float32.
        """
        b, element = self.b, element_of(first)
        if not is_integer(element) or width_of(element) <= 16:
            return self.one(b.where(condition, first, second))
        mask = b.subtract(self.splat(0, first, ()), b.typecast(condition, types=[tensor(shape_of(condition), element)]))
        return self.one(b.bitwise_or(b.bitwise_and(first, mask), b.bitwise_and(second, b.bitwise_not(mask))))

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """Return a value with other elements.

        Cut off or tested for zero as StableHLO's `convert` does.
        """
        have = element_of(value)
        if have == element:
            return value
        if is_float(have) and is_signed(element) and width_of(element) < 32:
            # The chip casts to unsigned integers of that width, which numbers below zero are not.
            wide = self.b.typecast(value, types=[tensor(shape_of(value), scalar("i32"))])
            value = self.one(self.b.bitwise_and(wide, self.splat((1 << width_of(element)) - 1, wide, ())))
        if is_bool(element):
            made: SSAValue = self.b.ne(value, self.splat(0, value), types=[tensor(shape_of(value), element)])
            return made
        return self.one(self.b.typecast(value, types=[tensor(shape_of(value), element)]))

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a value in another shape."""
        made: SSAValue = self.b.reshape(value, shape=list(shape))
        return made

    def permute(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Return a value with its dimensions in another order."""
        return self.one(self.b.permute(value, permutation=list(order)))

    def slice(
        self, value: SSAValue, begins: Sequence[int], ends: Sequence[int], step: Sequence[int] | None = None
    ) -> SSAValue:
        """Return a part of a value; the whole value unchanged."""
        steps = [1] * len(begins) if step is None else list(step)
        if not any(begins) and tuple(ends) == shape_of(value) and set(steps) <= {1}:
            return value
        made: SSAValue = self.b.slice_static(value, begins=list(begins), ends=list(ends), step=steps)
        return made

    def concat(self, values: Sequence[SSAValue], dim: int) -> SSAValue:
        """Return values joined along a dimension; empty ones are left out."""
        parts = [one for one in values if shape_of(one)[dim]] or list(values[:1])
        if len(parts) == 1:
            return parts[0]
        made: SSAValue = self.b.concat(*parts, dim=dim)
        return made

    def broadcast(self, value: SSAValue, shape: Sequence[int], dims: Sequence[int] | None = None) -> SSAValue:
        """Return a value broadcast to a shape.

        Args:
            value: The value.
            shape: The shape.
            dims: Which dimension of the result each of the value's is; default: the last ones.
        """
        have = shape_of(value)
        at = list(range(len(shape) - len(have), len(shape))) if dims is None else list(dims)
        if at != sorted(at):
            order = sorted(range(len(at)), key=at.__getitem__)
            value, at = self.permute(value, order), sorted(at)
            have = shape_of(value)
        found = self.splat_of(value)
        if found is not None:
            return self.splat(found, value, shape)
        wide = [1] * len(shape)
        for size, dim in zip(have, at, strict=True):
            wide[dim] = size
        value = self.reshape(value, wide)
        factors = [size // one if one else 1 for size, one in zip(shape, wide, strict=True)]
        made: SSAValue = self.b.broadcast(value, broadcast_dimensions=factors) if shape else value
        return made

    def arange(self, count: int, element: Attribute, shape: Sequence[int] | None = None, dim: int = 0) -> SSAValue:
        """Return 0, 1, 2.. along a dimension."""
        made: SSAValue = self.b.arange(
            start=0,
            end=count,
            step=1,
            arange_dimension=dim,
            types=[tensor([count] if shape is None else shape, element)],
        )
        return made


def need_float(value: SSAValue) -> None:
    """Refuse integers."""
    if not is_float(element_of(value)):
        refuse("of integers has no TTIR operation")

"""The function in work, and the arguments of a node."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ttnn.compiler.importers.builder import Builder, element_of, scalar, shape_of, tensor
from ttnn.compiler.importers.builder.infer import broadcast_shapes
from ttnn.compiler.importers.builder.steps import Steps, refuse
from ttnn.compiler.importers.builder.types import is_bool, is_float, is_integer
from ttnn.compiler.importers.fx.types import NARROW, element_for
from ttnn.compiler.ir.xdsl_adapter import Attribute, SSAValue

__all__ = ["Arguments", "Row", "Scope"]

_LOOKED_UP: Final = 1 << 20
"""Limit of integers that are moved one by one."""

Row: TypeAlias = Callable[["Scope", "Arguments"], Any]
"""Function that appends an operation and returns its value or values."""


class Arguments:
    """Arguments of a node by the names of its schema.

    They are values of the program, or Python's.

    Attributes:
        used: Numbers of the results that somebody reads.
    """

    def __init__(self, node: Any, values: Mapping[str, Any], given: Mapping[str, Any], used: frozenset[int]) -> None:
        self._node, self._values, self._given = node, values, given
        self.used = used

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._values.get(name)

    def fake(self, name: str) -> Any:
        """Return PyTorch's description of a tensor; other arguments unchanged."""
        found = self._given.get(name)
        return getattr(found, "meta", {"val": found})["val"]

    def given(self) -> dict[str, Any]:
        """Return the arguments as they were given."""
        return dict(self._given)

    @property
    def operation(self) -> Any:
        """The operation."""
        return self._node.target

    @property
    def results(self) -> list[Any]:
        """PyTorch's descriptions of the results."""
        value = self._node.meta.get("val")
        return list(value) if isinstance(value, (list, tuple)) else [value]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first result."""
        return tuple(int(one) for one in self.results[0].shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the first result."""
        return self.results[0].dtype

    @property
    def element(self) -> Attribute:
        """Elements of the first result."""
        return element_for(self.dtype)


class Scope(Steps):
    """Steps with the habits of PyTorch: numbers among tensors, promotion, negative dimensions."""

    def __init__(self, builder: Builder) -> None:
        super().__init__(builder, checked=False)

    def value(self, given: Any, element: Attribute, rank: int = 0) -> SSAValue:
        """Return a tensor or a number with the given elements.

        Numbers have ones as their shape.
        """
        if isinstance(given, SSAValue):
            return self.cast(given, element)
        made: SSAValue = self.b.splat(given, [1] * rank, element)
        return made

    def pair(self, first: Any, second: Any, element: Attribute) -> tuple[SSAValue, SSAValue]:
        """Return two operands, tensors or numbers, with the given elements."""
        rank = max(len(shape_of(one)) for one in (first, second) if isinstance(one, SSAValue))
        return self.value(first, element, rank), self.value(second, element, rank)

    def promoted(self, a: Arguments, *names: str) -> Attribute:
        """Return the elements in which PyTorch computes with arguments."""
        import torch

        first, *rest = (a.fake(one) for one in names)
        dtype = torch.result_type(first, rest[0]) if rest else first.dtype
        return element_for(dtype)

    def wide(self, value: SSAValue) -> SSAValue:
        """Return floats as float32, in which formulas of several steps are computed."""
        return self.cast(value, scalar("f32"))

    def number(self, value: float, like: SSAValue) -> SSAValue:
        """Return a number as a tensor to broadcast with another."""
        made: SSAValue = self.b.splat(value, [1] * len(shape_of(like)), element_of(like))
        return made

    def times(self, value: SSAValue, factor: float) -> SSAValue:
        """Return a tensor times a number."""
        made: SSAValue = value if factor == 1 else self.b.multiply(value, self.number(factor, value))
        return made

    def plus(self, value: SSAValue, term: float) -> SSAValue:
        """Return a tensor plus a number."""
        made: SSAValue = value if term == 0 else self.b.add(value, self.number(term, value))
        return made

    def wrapped(self, value: SSAValue, dtype: Any) -> SSAValue:
        """Return integers of 8 and 16 bits wrapped into their range."""
        found = NARROW.get(str(dtype))
        if found is None:
            return value
        bits, signed = found
        offset = 1 << (bits - 1) if signed else 0
        low = self.b.bitwise_and(self.plus(value, offset), self.number((1 << bits) - 1, value))
        return self.plus(low, -offset)

    def to(self, value: SSAValue, dtype: Any) -> SSAValue:
        """Return a tensor as PyTorch's `to` converts it."""
        element = element_for(dtype)
        return self.wrapped(self.cast(value, element), dtype)

    def expand(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a tensor broadcast to a shape."""
        return value if shape_of(value) == tuple(shape) else self.broadcast(value, shape)

    def dims(self, given: Any, rank: int) -> list[int]:
        """Return dimensions counted from the front; all of them for None."""
        if given is None or (isinstance(given, (list, tuple)) and not given):
            return list(range(rank))
        numbers = [given] if isinstance(given, int) else list(given)
        return sorted({int(one) % max(1, rank) for one in numbers}) if rank else []

    def dim(self, given: int, rank: int) -> int:
        """Return a dimension counted from the front."""
        return int(given) % max(1, rank)

    def reduce(self, name: str, value: SSAValue, dims: Sequence[int], *, keep: bool = False) -> SSAValue:
        """Return a reduction by the operation of a name."""
        if not dims:
            return value
        made: SSAValue = self.b.op(name, value, dim_arg=list(dims), keep_dim=keep)
        return made

    def need_float(self, value: SSAValue) -> None:
        """Refuse integers."""
        if not is_float(element_of(value)):
            refuse("of integers has no TTIR operation")

    def matmul(self, first: SSAValue, second: SSAValue) -> SSAValue:
        """Return a matrix product; batches broadcast."""
        self.need_float(first)
        made: SSAValue = self.b.matmul(first, second)
        return made

    def pieces(self, value: SSAValue, bits: int) -> list[SSAValue]:
        """Return integers as pieces of some bits, the lowest first.

        Movement and sums of integers go through floats of 24 bits on the chip.
        """
        word = scalar("bf16" if bits <= 8 else "f32")
        mask, made = self.number((1 << bits) - 1, value), []
        for at in range(0, 32, bits):
            moved = value if not at else self.b.logical_right_shift(value, self.number(at, value))
            made.append(self.cast(self.b.bitwise_and(moved, mask), word))
        return made

    def joined(self, pieces: Sequence[SSAValue], bits: int) -> SSAValue:
        """Return integers from sums of their pieces."""
        made = None
        for at, piece in enumerate(pieces):
            part = self.cast(piece, scalar("si32"))
            if at:
                part = self.b.logical_left_shift(part, self.number(at * bits, part))
            made = part if made is None else self.b.add(made, part)
        assert made is not None
        return made

    def permute(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Return a tensor permuted; integers one by one.

        Permuting integers loses bits on the chip.
        """
        if list(order) == sorted(order) or not is_integer(element_of(value)):
            return super().permute(value, order)
        shape = shape_of(value)
        moved = [i for i in order if shape[i] != 1]
        if moved == sorted(moved):
            return self.reshape(value, [shape[i] for i in order])
        return self._placed(value, order)

    def _placed(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        import numpy as np

        shape = shape_of(value)
        count = math.prod(shape)
        if count > _LOOKED_UP:
            refuse(f"moves {count:,} integers, which has no exact TTIR operation")
        places = np.arange(count).reshape(shape).transpose(list(order)).reshape(1, count)
        found = self.look_up(self.reshape(value, [count, 1]), self.b.constant(places, scalar("si32")))
        return self.reshape(found, [shape[i] for i in order])

    def look_up(self, table: SSAValue, index: SSAValue) -> SSAValue:
        """Return rows of a table exactly.

        The chip looks up bfloat16, so wider elements are sums of several.
        """
        element, narrow = element_of(table), scalar("bf16")

        def rows(part: SSAValue) -> SSAValue:
            made: SSAValue = self.b.embedding(index, part)
            return made

        if is_bool(element):
            return self.cast(rows(self.cast(table, narrow)), element)
        if is_integer(element):
            return self.joined([rows(one) for one in self.pieces(table, 8)], 8)
        if element == narrow:
            return rows(table)
        found, rest = None, table
        for last in (False, False, True):
            part = self.rounded(rest)
            looked = self.wide(rows(part))
            found = looked if found is None else self.b.add(found, looked)
            if not last:
                rest = self.b.subtract(rest, self.wide(part))
        assert found is not None
        return found

    def where(self, condition: SSAValue, first: SSAValue, second: SSAValue) -> SSAValue:
        """Return `first` where a condition holds, else `second`.

        Integers are chosen by a product with zeros and ones: the chip's selection goes through floats of 24 bits.
        """
        if not is_integer(element_of(first)):
            made: SSAValue = self.b.where(condition, first, second)
            return made
        rest = self.b.multiply(self.b.subtract(first, second), self.cast(condition, element_of(first)))
        return self.one(self.b.add(second, rest))

    def rounded(self, value: SSAValue) -> SSAValue:
        """Return floats rounded to bfloat16, also if they are widened again."""
        made: SSAValue = self.b.typecast(value, types=[tensor(shape_of(value), "bf16")], conservative_folding=True)
        return made

    def truncated(self, value: SSAValue) -> SSAValue:
        """Return floats cut off to whole numbers."""
        made: SSAValue = self.b.where(self.b.lt(value, self.number(0, value)), self.b.ceil(value), self.b.floor(value))
        return made

    def swap(self, value: SSAValue) -> SSAValue:
        """Return a tensor with its last two dimensions swapped."""
        rank = len(shape_of(value))
        return self.permute(value, [*range(rank - 2), rank - 1, rank - 2])

    def truth(self, value: SSAValue) -> SSAValue:
        """Return whether elements are not zero."""
        return value if is_bool(element_of(value)) else self.cast(value, scalar("i1"))

    def together(self, *values: SSAValue) -> list[SSAValue]:
        """Return tensors broadcast to one shape."""
        shape = broadcast_shapes([shape_of(one) for one in values])
        return [self.expand(one, shape) for one in values]

"""Shapes of tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence

from ttnn.base.exceptions import ArgumentError, ShapeError

_LARGEST_DIM = 0xFFFF_FFFF
LARGEST_RANK = 32
"""Dimensions that an array of every supported NumPy can have."""
# Shapes keep room for four dimensions; indices into that room are legal and answer 1.
_SMALLEST_RANK = 4


class Shape(Sequence[int]):
    """The sizes of a tensor's dimensions, outermost first.

    Compares equal to a list or tuple of the same sizes.
    """

    __slots__ = ("_dims",)

    def __init__(self, shape: ShapeLike) -> None:
        if isinstance(shape, Shape):
            self._dims: tuple[int, ...] = shape._dims
            return
        self._dims = _dims_of(shape)

    @classmethod
    def _of(cls, dims: tuple[int, ...]) -> Shape:
        """Return the shape of checked `dims`, without checking them again."""
        new = cls.__new__(cls)
        new._dims = dims
        return new

    @property
    def rank(self) -> int:
        """Return the number of dimensions."""
        return len(self._dims)

    def to_rank(self, new_rank: int) -> Shape:
        """Return the shape at rank `new_rank`, with leading 1s added or removed.

        Raises:
            ShapeError: a dimension to be removed is not 1.
        """
        missing = new_rank - len(self._dims)
        if missing >= 0:
            return Shape._of((1,) * missing + self._dims)
        if any(size != 1 for size in self._dims[:-missing]):
            raise ShapeError(
                f"Shape.to_rank: {self} cannot have rank {new_rank}: {-missing} leading sizes of 1 would have to go"
            )
        return Shape._of(self._dims[-missing:])

    def volume(self) -> int:
        """Return the product of all sizes (1 for rank 0)."""
        return math.prod(self._dims)

    def __getitem__(self, index: int) -> int:  # type: ignore[override]
        if isinstance(index, slice):
            raise ArgumentError("Shape[]: slices are not supported; use list(shape)[...]")
        try:
            index = operator.index(index)
        except TypeError:
            raise ArgumentError(f"Shape[]: the index must be an int, got {type(index).__name__}") from None
        rank = len(self._dims)
        if index >= 0:
            if index < rank:
                return self._dims[index]
        elif index >= -rank:
            return self._dims[index]
        elif index >= -_SMALLEST_RANK:
            return 1
        lowest = -max(rank, _SMALLEST_RANK)
        raise ShapeError(f"ShapeBase[] index out of range. {index} not in [{lowest}, {rank})")

    def __len__(self) -> int:
        return len(self._dims)

    def __iter__(self) -> Iterator[int]:
        return iter(self._dims)

    def __contains__(self, size: object) -> bool:
        return size in self._dims

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Shape):
            return self._dims == other._dims
        if isinstance(other, (tuple, list)):
            return self._dims == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return f"Shape({list(self._dims)})"

    def __reduce__(self) -> tuple[type[Shape], tuple[list[int]]]:
        return (Shape, (list(self._dims),))


ShapeLike = Sequence[int]
"""The type of arguments named shape: a Shape, list or tuple."""


def as_dims(shape: ShapeLike) -> tuple[int, ...]:
    """Return the sizes of `shape` as a tuple."""
    return shape._dims if isinstance(shape, Shape) else _dims_of(shape)


def require_rank(rank: int, where: str) -> None:
    """Raise unless a tensor can have that many dimensions.

    Raises:
        ShapeError: it has more than 32.
    """
    if rank > LARGEST_RANK:
        raise ShapeError(f"{where}: a tensor has at most {LARGEST_RANK} dimensions, got {rank}")


def _dims_of(shape: Sequence[int]) -> tuple[int, ...]:
    if isinstance(shape, (str, bytes)):
        raise ArgumentError(f"Shape(): expected a sequence of ints, got {type(shape).__name__}")
    try:
        dims = tuple(operator.index(size) for size in shape)
    except TypeError:
        raise ArgumentError(f"Shape(): expected a sequence of ints, got {shape!r}") from None
    require_rank(len(dims), "Shape()")
    for size in dims:
        if not 0 <= size <= _LARGEST_DIM:
            raise ArgumentError(f"Shape(): sizes must be between 0 and {_LARGEST_DIM}, got {size} in {list(dims)}")
    return dims

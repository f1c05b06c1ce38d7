"""A complex tensor as a pair of real ones.

Source: TT-NN docs "ttnn.complex_tensor".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import ArgumentError, IndexRangeError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.shape import Shape
from ttnn.golden.eltwise import complex as g
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import TENSOR, Param, Signature, instance_kind
from ttnn.runtime.calls import COMPOSITES, Composite
from ttnn.tensor.tensor import Tensor


class ComplexTensor:
    """Real and imaginary part as tensors of one shape.

    Args:
        real_imag: The pair (real, imaginary).

    Raises:
        ArgumentError: it is not a pair of tensors.
        ShapeError: the shapes differ.
    """

    __slots__ = ("_parts",)

    _parts: tuple[Tensor, Tensor]

    def __init__(self, real_imag: Sequence[Tensor]) -> None:
        parts: tuple[Tensor, ...] = tuple(real_imag) if isinstance(real_imag, list | tuple) else ()
        if len(parts) != 2 or not all(isinstance(part, Tensor) for part in parts):
            raise ArgumentError("ComplexTensor: expected a pair (real, imaginary) of tensors.")
        real, imag = parts
        if real.spec.shape != imag.spec.shape:
            raise ShapeError(
                f"ComplexTensor: the real part is {real.shape}, the imaginary part {imag.shape}.",
                vendor="Tensor shapes of real and imag should be identical",
            )
        self._parts = (real, imag)

    @property
    def real(self) -> Tensor:
        """The real part."""
        return self._parts[0]

    @property
    def imag(self) -> Tensor:
        """The imaginary part."""
        return self._parts[1]

    @property
    def shape(self) -> Shape:
        """The shape of both parts."""
        return self.real.shape

    def __getitem__(self, index: int) -> Tensor:
        if index not in (0, 1):
            raise IndexRangeError(f"ComplexTensor: index {index!r}; 0 is the real and 1 the imaginary part.")
        return self._parts[index]

    def memory_config(self) -> MemoryConfig:
        """Return where the real part lives."""
        return self.real.memory_config()

    def deallocate(self) -> None:
        """Free the memory of both parts."""
        for part in self._parts:
            part.deallocate()

    def __repr__(self) -> str:
        return f"ComplexTensor(real={self.real!r}, imag={self.imag!r})"


def _of_parts(parts: tuple[Any, ...]) -> ComplexTensor:
    """Return a complex tensor of parts that need no check."""
    made = ComplexTensor.__new__(ComplexTensor)
    made._parts = parts
    return made


COMPOSITES[ComplexTensor] = Composite(lambda tensor: tensor._parts, _of_parts)


COMPLEX: Final = instance_kind("ttnn.ComplexTensor", ComplexTensor)


def _complex_tensor(real: Tensor, imag: Tensor) -> ComplexTensor:
    return ComplexTensor((real, imag))


complex_tensor = register(
    Op(
        name="complex_tensor",
        signatures=(
            Signature(
                (
                    Param("real", TENSOR, doc="Real part, [..., H, W]."),
                    Param("imag", TENSOR, doc="Imaginary part, [..., H, W]."),
                )
            ),
        ),
        run=_complex_tensor,
        doc="Create a complex tensor from real and imaginary part, without copies.\n"
        "Shape: [..., H, W], [..., H, W] -> [..., H, W].",
        dtypes=tuple(dtype for dtype in DataType if dtype is not DataType.INVALID),
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=g.complex_tensor,
        accuracy=bit_exact(),
        numerics="movement",
        family="complex",
        raises=(("ShapeError", "the shapes differ."),),
    )
)

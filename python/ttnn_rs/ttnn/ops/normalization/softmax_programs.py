"""Programs of softmax: passes along rows, columns and leading dimensions.

Source: tt-metal `ttnn/cpp/ttnn/operations/normalization/softmax/device/kernels`, and `moreh_softmax` for the programs
of other dimensions than the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from ttnn.base.enums import DataType
from ttnn.ops._programs.pipeline import COLUMNS, ROWS, Chain, Operand, Part, Pipeline, bits, truncated

_ONE: Final = bits(1.0)
Form = Literal["softmax", "softmin", "logsoftmax"]
_EXP: Final[dict[Form, Chain]] = {
    "softmax": [("exp", "accurate")],
    "softmin": [("neg", "default"), ("exp", "accurate")],
    "logsoftmax": [("exp", "accurate")],
}


@dataclass(frozen=True)
class Numerics:
    """Settings that determine the bits of a program, besides its passes."""

    dtype: DataType
    """Data type of input and output."""
    fidelity: int
    approximate: bool
    dst32: bool

    @property
    def kept(self) -> DataType:
        """Data type of exponentials.

        Accurate ones, and those of float32, keep what Dst has.
        """
        whole = self.dtype is DataType.FLOAT32 or not self.approximate
        return DataType.FLOAT32 if whole and self.dst32 else DataType.BFLOAT16

    @property
    def wide(self) -> DataType:
        """Data type of buffers that are as wide as Dst."""
        return DataType.FLOAT32 if self.dst32 else DataType.BFLOAT16

    @property
    def between(self) -> DataType:
        """Data type of the input, or FLOAT32 if Dst has 32 bits."""
        return DataType.FLOAT32 if self.dst32 else self.dtype

    def pipeline(self, shape: tuple[int, ...], axis: int) -> Pipeline:
        """Return a program without passes."""
        return Pipeline(shape, axis, self.dtype, self.dst32, self.fidelity)


def _exp(numerics: Numerics) -> Chain:
    return [("exp", "approx_clampneg" if numerics.approximate else "accurate")]


@dataclass(frozen=True)
class Mask:
    """The mask that is added to scaled scores before their softmax."""

    dtype: DataType
    shape: tuple[int, ...]
    causal: bool
    """True if every row has its own mask.

    Otherwise row 0 of a tile is used for all its rows.
    """


@lru_cache(maxsize=256)
def attention(
    shape: tuple[int, ...], numerics: Numerics, stable: bool, scale: float | None = None, mask: Mask | None = None
) -> Pipeline:
    """Return the softmax of rows, optionally scaled and masked.

    Inputs are the scores and the mask.
    """
    program = numerics.pipeline(shape, ROWS)
    kept, exp = numerics.kept, _exp(numerics)
    x = program.tensor(numerics.dtype)
    padded = "-inf" if shape[-1] % 32 else None
    # Without a maximum to subtract, the exponential runs before its argument is packed.
    first = () if stable else exp
    if mask is not None:
        constant = program.constant(DataType.BFLOAT16, truncated(1.0 if scale is None else scale))
        scaled = program.eltwise("mul", x, constant, kept, padding=padded)
        added = program.tensor(mask.dtype, mask.shape, "none" if mask.causal else "row")
        x = program.eltwise("add", scaled, added, kept, first)
    elif scale is not None:
        constant = program.constant(DataType.BFLOAT16, truncated(scale))
        x = program.eltwise("mul", x, constant, kept, first, padding=padded)
    elif padded is not None or not stable:
        x = program.copy(x, kept, first, padding=padded)
    if stable:
        largest = program.max(x, kept)
        exps = program.eltwise("sub", x, largest, kept, exp)
    else:
        exps = x
    # A 32-bit sum keeps its precision, whatever the approximation of the exponential.
    variant = "approx" if numerics.approximate and not numerics.dst32 else "accurate"
    inverse = program.sum(exps, (numerics.wide, _ONE), numerics.wide, [("recip", variant)])
    program.eltwise("mul", exps, inverse, numerics.dtype, output=0)
    return program


@lru_cache(maxsize=256)
def general(
    shape: tuple[int, ...],
    axis: int,
    numerics: Numerics,
    wide: DataType,
    form: Form = "softmax",
    large: bool = False,
) -> Pipeline:
    """Return the softmax of rows or columns by the kernels of `moreh_softmax`.

    Padding counts as 0 for the maximum, and not at all for the sum. "softmin" negates before the exponential. The
    kernels of `large` tensors add exponentials tile by tile and reduce one tile. `wide` is the data type between the
    passes.
    """
    assert axis in (ROWS, COLUMNS)
    program = numerics.pipeline(shape, axis)
    scaler = DataType.FLOAT32 if numerics.dtype is DataType.FLOAT32 and numerics.dst32 else DataType.BFLOAT16
    padded = "zero" if shape[axis] % 32 else None
    x = program.tensor(numerics.dtype)
    masked = x if padded is None else program.copy(x, wide, padding=padded)
    largest = program.max(masked, wide)
    distance = program.eltwise("sub", x, largest, wide)
    exps = program.copy(distance, wide, _EXP[form])
    if padded is not None:
        exps = program.copy(exps, wide, padding=padded)
    variant = "approx" if numerics.approximate else "accurate"
    addends: Operand | list[Part] = exps
    if large:
        addends = [(program.fold(exps, wide, by="add"), 0, 1)]
    if form == "logsoftmax":
        total = program.sum(addends, (scaler, _ONE), wide, [("log", "accurate")])
        program.eltwise("sub", distance, total, numerics.dtype, output=0)
    else:
        inverse = program.sum(addends, (scaler, _ONE), wide, [("recip", variant)])
        program.eltwise("mul", exps, inverse, numerics.dtype, output=0)
    return program


@lru_cache(maxsize=256)
def channel(shape: tuple[int, ...], axis: int, numerics: Numerics, form: Form = "softmax") -> Pipeline:
    """Return the softmax along a leading dimension, tiles ascending.

    `form` as in `general`.
    """
    program = numerics.pipeline(shape, axis)
    wide = numerics.between
    x = program.tensor(numerics.dtype)
    largest = program.fold(x, numerics.dtype, by=("binary_max", "default"))
    distance = program.eltwise("sub", x, largest, wide)
    exps = program.copy(distance, wide, _EXP[form])
    total = program.fold(exps, wide, by="add")
    if form == "logsoftmax":
        logarithm = program.copy(total, wide, [("log", "accurate")])
        program.eltwise("sub", distance, logarithm, numerics.dtype, output=0)
        return program
    inverse = program.copy(total, wide, [("recip", "approx" if numerics.approximate else "accurate")])
    program.eltwise("mul", exps, inverse, numerics.dtype, output=0)
    return program

"""Programs of the tile pipeline.

They are passes over tile rows, described once and run by the engine.

A program reads tensors line by line: rows of tiles, columns of tiles, or the tiles along a leading dimension. Every
method that adds a pass returns what it packs, which later passes use as operands. A reduction returns one tile
for its line, which is broadcast where it is used with the line again.

Numbers are exact on purpose: a pass packs to the format that the kernel's circular buffer has, and reads it back from
there.
"""

from __future__ import annotations

import ctypes
import math
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ttnn._engine import Buffer
from ttnn.base.enums import FORMAT_CODE, DataType
from ttnn.operation.observation import note
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

Operand = tuple[str, int, int]
"""A tensor or a value by its number, or a constant.

A constant has a format and FP32 bits.
"""
Part = tuple[Operand, int, int]
"""Tiles of an operand's row: first index, and end."""
Step = tuple[str, str] | tuple[str, str, list[int]]
"""An SFPU function: name, variant, and parameters as words."""
Chain = Sequence[Step]
Moment = Literal["anchor", "mean", "correction", "variance"]

ROWS: Final = -1
"""Lines are rows of tiles."""
COLUMNS: Final = -2
"""Lines are columns of tiles."""


def matrices(first: int) -> int:
    """Return the axis whose lines are all tiles from dimension `first` on.

    They are reduced to one element.
    """
    return -3 - first


def bits(value: float) -> int:
    """Return the FP32 bits of a number, rounded to nearest even.

    A number beyond the largest becomes infinity.
    """
    return int.from_bytes(bytes(ctypes.c_float(value)), sys.byteorder)


def from_bits(word: int) -> float:
    """Return the number of FP32 bits."""
    (value,) = struct.unpack("<f", struct.pack("<I", word))
    return float(value)


def rounded(value: float) -> float:
    """Return a number rounded to FP32."""
    return from_bits(bits(value))


def truncated(value: float) -> int:
    """Return the FP32 bits of a number, truncated to bfloat16.

    Kernels write scalars to bfloat16 tiles this way.
    """
    return bits(value) & 0xFFFF0000


def rounded_to_bfloat16(value: float) -> int:
    """Return the FP32 bits of a number, rounded to nearest even bfloat16.

    The host rounds this way.
    """
    word = bits(value)
    return (word + 0x7FFF + (word >> 16 & 1)) & 0xFFFF0000


def scalar_chain(name: str, value: float) -> list[Step]:
    """Return the chain of an element-and-number function such as `mul_unary`."""
    return [(name, "default", [bits(value)])]


@dataclass
class Pipeline:
    """A program under construction.

    Args:
        domain: Logical shape whose tiles form the lines, of rank 2 or more.
        axis: `ROWS`, `COLUMNS`, the index of a leading dimension, or `matrices` of an index.
        dtype: Data type of the first input. It decides what Dst holds.
        dst32: 32-bit Dst.
        fidelity: Phases of products and sums.
        direct: Copies of 32-bit data go to Dst past SrcA.
    """

    domain: Sequence[int]
    axis: int
    dtype: DataType
    dst32: bool
    fidelity: int
    direct: bool = False
    _tensors: list[tuple[int, list[int] | None, str | None, int]] = field(default_factory=list)
    _passes: list[dict[str, Any]] = field(default_factory=list)
    _engine_program: engine_steps.Pipeline | None = None

    def tensor(self, dtype: DataType, shape: Sequence[int] | None = None, broadcast: str | None = None) -> Operand:
        """Add an input that is broadcast to the domain.

        `broadcast` within a tile is "none", "row", "column" or "scalar".
        """
        shape = self.domain if shape is None else shape
        self._tensors.append((FORMAT_CODE[dtype], list(shape), broadcast, 0))
        return ("tensor", len(self._tensors) - 1, 0)

    def rotated(self, dtype: DataType, first: int) -> Operand:
        """Add an input whose lines begin at tile `first`.

        The tiles before that one follow the last.
        """
        self._tensors.append((FORMAT_CODE[dtype], list(self.domain), "rotated", first))
        return ("tensor", len(self._tensors) - 1, 0)

    def lines(self, dtype: DataType, tiles: int) -> Operand:
        """Add an input with lines of `tiles` tiles of its own.

        A single line is used for all.
        """
        self._tensors.append((FORMAT_CODE[dtype], None, None, tiles))
        return ("tensor", len(self._tensors) - 1, 0)

    @staticmethod
    def constant(dtype: DataType, word: int) -> Operand:
        """Return a tile filled with FP32 bits, truncated to the data type."""
        return ("constant", FORMAT_CODE[dtype], word)

    def copy(self, of: Operand, dtype: DataType, chain: Chain = (), **options: Any) -> Operand:
        """Add a pass that copies tiles."""
        return self._add("copy", [of], dtype, chain, **options)

    def eltwise(self, op: str, a: Operand, b: Operand, dtype: DataType, chain: Chain = (), **options: Any) -> Operand:
        """Add an FPU "add", "sub" or "mul" with a broadcast second operand.

        `until` is the number of the line's first tiles that are computed; the result's others are those of `a`.
        """
        return self._add("eltwise", [a, b], dtype, chain, eltwise=op, **options)

    def sfpu(
        self, function: Step, a: Operand, b: Operand, dtype: DataType, chain: Chain = (), **options: Any
    ) -> Operand:
        """Add an SFPU function of two tiles in Dst."""
        return self._add("sfpu", [a, b], dtype, chain, function=_with_parameters(function), **options)

    def matmul(self, a: Operand, b: Operand, dtype: DataType, **options: Any) -> Operand:
        """Add the product of every tile with one tile."""
        return self._add("matmul", [a, b], dtype, (), **options)

    def max(self, of: Operand, dtype: DataType, chain: Chain = (), **options: Any) -> Operand:
        """Add the maximum along the line."""
        return self._add("max", [of], dtype, chain, **options)

    def sum(
        self,
        of: Operand | list[Part],
        scaler: tuple[DataType, int],
        dtype: DataType,
        chain: Chain = (),
        *,
        used: int | None = None,
        start: Operand | None = None,
        **options: Any,
    ) -> Operand:
        """Add the sum along the line of elements times a scaler.

        The scaler is given by its data type and FP32 bits.

        Args:
            of: The line, or parts of several; a value of a whole line is the part (value, 0, 1).
            scaler: What every datum is multiplied with.
            dtype: Data type of the packed result.
            chain: SFPU functions on the result.
            used: Rows or columns of the line's last tile that count.
            start: A tile that is copied to Dst first, to which the sum is added.
            options: Destination of the result.
        """
        scale = (FORMAT_CODE[scaler[0]], scaler[1])
        parts: list[Part] = of if isinstance(of, list) else [(of, 0, self.length)]
        return self._add_parts("sum", parts, dtype, chain, scaler=scale, used=used, start=start, **options)

    def accumulate(
        self, op: str, a: Operand, b: Operand, dtype: DataType, chain: Chain = (), **options: Any
    ) -> Operand:
        """Add the line's sum of an FPU operation, in one Dst."""
        return self._add("accumulate", [a, b], dtype, chain, eltwise=op, **options)

    def fold(self, of: Operand, dtype: DataType, *, by: str | Step, chain: Chain = (), **options: Any) -> Operand:
        """Combine the next tile with the running result, along the row.

        The operation is one of the FPU or SFPU.
        """
        return self._add("fold", [of], dtype, chain, **_join(by), **options)

    def scan(self, of: Operand, dtype: DataType, *, by: str | Step, chain: Chain = (), **options: Any) -> Operand:
        """Add the running result with every step kept."""
        return self._add("scan", [of], dtype, chain, **_join(by), **options)

    def compensated(self, of: Operand, dtype: DataType, **options: Any) -> Operand:
        """Add compensated running sums along the line, in FP32.

        What an addition loses is added to the next element.
        """
        return self._add("scan", [of], dtype, (), **options)

    def running_sum(self, of: Operand, dtype: DataType, **options: Any) -> Operand:
        """Add running sums of elements along rows or columns.

        They stay in the SFPU's registers.
        """
        return self._add("running sum", [of], dtype, (), **options)

    def moving_average(self, of: Operand, dtype: DataType, weights: tuple[float, float], **options: Any) -> Operand:
        """Add the moving averages of rows.

        `weights` are those of the average so far and of the element.
        """
        factors = (bits(weights[0]), bits(weights[1]))
        return self._add("moving average", [of], dtype, (), factors=factors, **options)

    def moment(
        self,
        kind: Moment,
        of: Operand,
        dtype: DataType,
        *,
        mean: float = 0.0,
        squares: float = 0.0,
        tiles: tuple[int, int] | None = None,
        chain: Chain = (),
        **options: Any,
    ) -> Operand:
        """Add a statistic along rows or columns, in two SFPU passes.

        Args:
            kind: "anchor" is the first datum, "correction" the first datum less the mean.
            of: The tensor.
            dtype: Data type of the packed result.
            mean: Factor of the sum for the mean.
            squares: Factor of the sum of squared distances.
            tiles: The first tile of the line, and the end. Default: all.
            chain: SFPU functions on the result.
            options: Destination of the result.
        """
        factors = (bits(mean), bits(squares))
        first, end = tiles or (0, self.length)
        return self._add_parts(kind, [(of, first, end)], dtype, chain, factors=factors, **options)

    def centred(self, of: Operand, anchor: Operand, correction: Operand, dtype: DataType, **options: Any) -> Operand:
        """Add the distance of every tile from a mean.

        `anchor` is subtracted and `correction` added, in one Dst.
        """
        return self._add("centred", [of, anchor, correction], dtype, (), **options)

    @property
    def length(self) -> int:
        """Tiles of a line."""
        if self.axis < COLUMNS:
            *outer, height, width = self.domain[-3 - self.axis :]
            return math.prod(outer) * -(-height // 32) * -(-width // 32)
        extent = self.domain[self.axis]
        return extent if self.axis >= 0 else -(-extent // 32)

    def _add(self, load: str, operands: Sequence[Operand], dtype: DataType, chain: Chain, **options: Any) -> Operand:
        return self._add_parts(load, [(of, 0, 0) for of in operands], dtype, chain, **options)

    def _add_parts(
        self,
        load: str,
        parts: Sequence[Part],
        dtype: DataType,
        chain: Chain,
        *,
        output: int | tuple[int, int, int] | None = None,
        padding: str | None = None,
        **options: Any,
    ) -> Operand:
        """Append a pass.

        Args:
            load: Load of tiles to Dst.
            parts: What they are made of.
            dtype: Data type of the packed tiles.
            chain: SFPU functions in between.
            output: Number of the output to which it packs; for a tile of a reduced line also its column and the
                columns that the output has.
            padding: "-inf" adds minus infinity to the padding of the line's last tile, "zero" clears it.
            options: What only this kind of pass has.
        """
        given: dict[str, Any] = {
            "load": load,
            "parts": list(parts),
            "eltwise": None,
            "function": None,
            "scaler": None,
            "factors": None,
            "used": None,
            "until": None,
            "start": None,
            "padding": padding,
            "chain": list(chain),
            "format": FORMAT_CODE[dtype],
            "output": (output, 0, 1) if isinstance(output, int) else output,
        }
        given.update(options)
        self._passes.append(given)
        return ("value", len(self._passes) - 1, 0)

    def run(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Run the program on tensors in order of addition; write its outputs."""
        program = self._engine_program
        if program is None:
            program = self._engine_program = engine_steps.Pipeline(
                self._tensors,
                self._passes,
                domain=list(self.domain),
                axis=self.axis,
                format=FORMAT_CODE[self.dtype],
                dst32=self.dst32,
                direct=self.direct,
                fidelity=self.fidelity,
            )
        note(self)
        engine_steps.run_pipeline(
            program, [_buffer(tensor) for tensor in inputs], [_buffer(tensor) for tensor in outputs]
        )


def _buffer(tensor: Tensor) -> Buffer:
    assert tensor.buffer is not None
    return tensor.buffer


def _with_parameters(function: Step) -> tuple[str, str, list[int]]:
    name, variant, *parameters = function
    return (str(name), str(variant), list(parameters[0]) if parameters else [])


def _join(by: str | Step) -> dict[str, Any]:
    return {"eltwise": by} if isinstance(by, str) else {"function": _with_parameters(by)}

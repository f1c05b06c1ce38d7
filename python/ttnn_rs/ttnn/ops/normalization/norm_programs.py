"""The programs of layer norm and RMS norm: interleaved rows, rows over several cores, and rows over several devices.

Source: tt-metal `ttnn/cpp/ttnn/operations/normalization/layernorm/device/kernels` and `layernorm_distributed`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from ttnn.base.enums import DataType
from ttnn.ops._programs.pipeline import (
    ROWS,
    Chain,
    Operand,
    Part,
    Pipeline,
    bits,
    rounded,
    rounded_to_bfloat16,
    scalar_chain,
    truncated,
)

_BF16 = DataType.BFLOAT16


FunctionStep = tuple[str, str, tuple[int, ...]]
"""An SFPU function: name, variant, and parameters as words."""


@dataclass(frozen=True)
class Blocks:
    """How the tiles of a row are split over cores."""

    width: int
    """Tiles of a core."""
    cores: int
    """Cores that share a row."""
    columns: int
    """Cores of a row of the grid if every row of it reduces first; 0 if all cores are gathered at once."""


@dataclass(frozen=True)
class Norm:
    """What decides the bits of a program."""

    dtype: DataType
    out_dtype: DataType
    fidelity: int
    approximate: bool
    dst32: bool
    arch: int
    epsilon: float
    """As FP32."""
    centers: bool
    """The mean is subtracted: layer norm."""
    residual: DataType | None = None
    weight: DataType | None = None
    bias: DataType | None = None
    activation: tuple[FunctionStep, ...] = ()
    """SFPU functions of a fused activation."""

    @property
    def kept(self) -> DataType:
        """Data type of what is kept between passes."""
        return DataType.FLOAT32 if self.dst32 else _BF16

    @property
    def rsqrt(self) -> Chain:
        """The inverse root of the variance."""
        return [("rsqrt", "approx" if self.approximate else "default")]

    def pipeline(self, shape: tuple[int, ...]) -> Pipeline:
        """Return a program without passes."""
        return Pipeline(shape, ROWS, self.dtype, self.dst32, self.fidelity, self.arch)


def _input(program: Pipeline, norm: Norm) -> Operand:
    """Add the input, and the residual that is added to it."""
    x = program.tensor(norm.dtype)
    if norm.residual is not None:
        x = program.eltwise("add", x, program.tensor(norm.residual), norm.kept)
    return x


def _finish(program: Pipeline, norm: Norm, x: Operand, variance: Operand) -> None:
    """Add what comes behind the variance: the quotient, weights and bias, one rounding each."""
    kept = norm.kept
    inverse = program.eltwise("add", variance, program.constant(_BF16, truncated(norm.epsilon)), kept, norm.rsqrt)
    steps: list[tuple[str, Operand]] = [("mul", inverse)]
    for op, dtype in (("mul", norm.weight), ("add", norm.bias)):
        if dtype is not None:
            row = (*(1 for _ in program.domain[:-1]), program.domain[-1])
            steps.append((op, program.tensor(dtype, row, "row")))
    for number, (op, other) in enumerate(steps, 1):
        if number < len(steps):
            x = program.eltwise(op, x, other, kept)
        else:
            program.eltwise(
                op, x, other, norm.out_dtype, [(*step[:2], list(step[2])) for step in norm.activation], output=0
            )


@lru_cache(maxsize=256)
def interleaved(shape: tuple[int, ...], norm: Norm) -> Pipeline:
    """Return the program of whole rows: inputs are x, the residual, the weights and the bias, those that there are."""
    program = norm.pipeline(shape)
    width, kept = shape[-1], norm.kept
    average = scalar_chain("mul_unary", rounded(1.0 / width))

    def mean(of: Operand) -> Operand:
        return program.sum(of, (_BF16, bits(1.0)), kept, average, used=width % 32 or None)

    x = _input(program, norm)
    if norm.centers:
        x = program.eltwise("sub", x, mean(x), kept)
    _finish(program, norm, x, mean(program.eltwise("mul", x, x, kept)))
    return program


@lru_cache(maxsize=256)
def sharded(shape: tuple[int, ...], norm: Norm, blocks: Blocks) -> Pipeline:
    """Return the program of rows over several cores: partial sums of each, then the sum of those."""
    program = norm.pipeline(shape)
    kept = norm.kept
    datums = min(32 * blocks.width, shape[-1])
    local = rounded_to_bfloat16(1.0 / datums)
    every = rounded_to_bfloat16(1.0 / blocks.cores)
    padded = "zero" if shape[-1] % 32 else None

    def total(parts: list[Operand], scaler: int) -> Operand:
        tiles: list[Part] = [(part, 0, 1) for part in parts]
        return program.sum(tiles, (_BF16, scaler), kept)

    def mean(of: Operand) -> Operand:
        ranges = [
            (first, min(first + blocks.width, program.length)) for first in range(0, program.length, blocks.width)
        ]
        parts = [program.sum([(of, first, end)], (_BF16, local), kept) for first, end in ranges]
        if blocks.columns:
            rows = [parts[i : i + blocks.columns] for i in range(0, len(parts), blocks.columns)]
            parts = rows[0] + [total(row, bits(1.0)) for row in rows[1:]]
        return total(parts, every)

    x = _input(program, norm)
    if norm.centers:
        summed = x if padded is None else program.copy(x, kept, padding=padded)
        x = program.eltwise("sub", x, mean(summed), kept)
        if padded is not None:
            x = program.copy(x, kept, padding=padded)
    squares = program.eltwise("mul", x, x, kept)
    if padded is not None and not norm.centers:
        squares = program.copy(squares, kept, padding=padded)
    _finish(program, norm, x, mean(squares))
    return program


@lru_cache(maxsize=256)
def statistics(shape: tuple[int, ...], norm: Norm) -> Pipeline:
    """Return the sums of squares of a device's part of the rows, and for layer norm also of the datums."""
    program = norm.pipeline(shape)
    columns = 2 if norm.centers else 1
    used = shape[-1] % 32 or None
    x = _input(program, norm)
    squares = program.eltwise("mul", x, x, norm.kept)
    program.sum(squares, (_BF16, bits(1.0)), norm.out_dtype, used=used, output=(0, 0, columns))
    if norm.centers:
        program.sum(x, (_BF16, bits(1.0)), norm.out_dtype, used=used, output=(0, 1, columns))
    return program


@lru_cache(maxsize=256)
def from_statistics(shape: tuple[int, ...], norm: Norm, stats: DataType, tiles: int) -> Pipeline:
    """Return the norm of a device's part of the rows, from the statistics of all devices, which have so many tiles."""
    program = norm.pipeline(shape)
    kept = norm.kept
    each = 2 if norm.centers else 1
    devices = tiles // each
    scaler = (_BF16, truncated(1.0 / (shape[-1] * devices)))
    x = program.tensor(norm.dtype)
    given = program.lines(stats, tiles)

    def mean(first: int) -> Operand:
        return program.sum([(given, tile, tile + 1) for tile in range(first, tiles, each)], scaler, kept)

    variance = mean(0)
    if norm.centers:
        middle = mean(1)
        square = program.eltwise("mul", middle, middle, kept)
        variance = program.eltwise("sub", variance, square, kept)
        x = program.eltwise("sub", x, middle, kept)
    _finish(program, norm, x, variance)
    return program


def is_large(norm: Norm, tiles: int) -> bool:
    """Whether the kernel of large tensors runs, which reads rows of so many tiles three times."""
    return tiles > (400 if norm.dst32 else 800) * (1 if norm.dtype is not DataType.FLOAT32 else 0.5)


def blocks_of(tiles: int, block_width: int, grid: tuple[int, int], *, one_row: bool) -> Blocks:
    """Return how rows of tiles are split into blocks on a grid; `one_row` if the whole grid shares every row."""
    cores = math.ceil(tiles / block_width)
    two_stages = one_row and grid[0] > 1 and grid[1] > 1
    return Blocks(block_width, cores, grid[0] if two_stages else 0)

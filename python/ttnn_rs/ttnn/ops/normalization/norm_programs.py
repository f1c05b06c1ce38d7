"""Programs of layer norm and RMS norm.

Of interleaved rows, rows over several cores, and rows over several devices.

Source: tt-metal `ttnn/cpp/ttnn/operations/normalization/layernorm/device/kernels` and `layernorm_distributed`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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
    """Division of a row's tiles over cores."""

    width: int
    """Tiles of a core."""
    cores: int
    """Cores that share a row."""
    columns: int
    """Cores of a grid row that reduces first; 0 without.

    If it is 0, all cores are gathered at once.
    """


@dataclass(frozen=True)
class Norm:
    """Settings that determine the bits of a program."""

    dtype: DataType
    out_dtype: DataType
    fidelity: int
    approximate: bool
    dst32: bool
    epsilon: float
    """Epsilon as FP32."""
    centers: bool
    """The mean is subtracted: layer norm."""
    residual: DataType | None = None
    weight: DataType | None = None
    bias: DataType | None = None
    activation: tuple[FunctionStep, ...] = ()
    """SFPU functions of a fused activation."""
    older_root: bool = False
    """The inverse root of older kernels."""
    batched: tuple[bool, bool] = (False, False)
    """True if weights or bias have a row for every matrix."""

    @property
    def kept(self) -> DataType:
        """Data type of what is kept between passes."""
        return DataType.FLOAT32 if self.dst32 else _BF16

    @property
    def rsqrt(self) -> Chain:
        """The inverse root of the variance."""
        if self.older_root:
            return [("rsqrt", "compat_approx" if self.approximate else "compat")]
        return [("rsqrt", "approx" if self.approximate else "default")]

    def pipeline(self, shape: tuple[int, ...], *, direct: bool = False) -> Pipeline:
        """Return a program without passes."""
        return Pipeline(shape, ROWS, self.dtype, self.dst32, self.fidelity, direct)


def summed_input(program: Pipeline, norm: Norm) -> Operand:
    """Add the input, and the residual that is added to it."""
    x = program.tensor(norm.dtype)
    if norm.residual is not None:
        x = program.eltwise("add", x, program.tensor(norm.residual), norm.kept)
    return x


def inverse_root(program: Pipeline, norm: Norm, variance: Operand) -> Operand:
    """Add the inverse root of a variance and epsilon."""
    return program.eltwise("add", variance, program.constant(_BF16, truncated(norm.epsilon)), norm.kept, norm.rsqrt)


def finish(program: Pipeline, norm: Norm, x: Operand, inverse: Operand) -> None:
    """Add the final steps: quotient, weights, bias, each rounded once."""
    kept = norm.kept
    steps: list[tuple[str, Operand]] = [("mul", inverse)]
    for op, dtype, batched in (("mul", norm.weight, norm.batched[0]), ("add", norm.bias, norm.batched[1])):
        if dtype is not None:
            *leading, _, width = program.domain
            row = (*(size if batched else 1 for size in leading), 1, width)
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
    """Return the whole-row program.

    Inputs are x, the residual, the weights and the bias, as far as given.
    """
    program = norm.pipeline(shape)
    width, kept = shape[-1], norm.kept
    average = scalar_chain("mul_unary", rounded(1.0 / width))

    def mean(of: Operand) -> Operand:
        return program.sum(of, (_BF16, bits(1.0)), kept, average, used=width % 32 or None)

    x = summed_input(program, norm)
    if norm.centers:
        x = program.eltwise("sub", x, mean(x), kept)
    finish(program, norm, x, inverse_root(program, norm, mean(program.eltwise("mul", x, x, kept))))
    return program


@lru_cache(maxsize=256)
def large(shape: tuple[int, ...], norm: Norm) -> Pipeline:
    """Return the program that reads rows again for every step.

    The SFPU computes the squares.

    A residual is added after the mean. Sums continue from block to block without rounding.
    """
    program = norm.pipeline(shape)
    width, kept = shape[-1], norm.kept
    average = scalar_chain("mul_unary", rounded(1.0 / width))

    def mean(*of: Operand) -> Operand:
        parts: list[Part] = [(part, 0, program.length) for part in of]
        return program.sum(parts, (_BF16, bits(1.0)), kept, average, used=width % 32 or None)

    x = program.tensor(norm.dtype)
    residual = None if norm.residual is None else program.tensor(norm.residual)
    inputs = [x] if residual is None else [x, residual]
    middle = mean(*inputs) if norm.centers else None
    before = x
    if residual is not None and middle is not None:
        before = program.eltwise("sub", x, middle, kept)

    def distance(chain: Chain) -> Operand:
        if residual is not None:
            return program.eltwise("add", residual, before, kept, chain)
        if middle is not None:
            return program.eltwise("sub", x, middle, kept, chain)
        return program.copy(x, kept, chain) if chain else x

    squares = distance([("square", "default")])
    finish(program, norm, distance([]), inverse_root(program, norm, mean(squares)))
    return program


def _mean_of_cores(
    program: Pipeline, norm: Norm, blocks: Blocks, of: Operand, dtype: DataType | None = None, **options: Any
) -> Operand:
    """Add the mean of rows split over cores.

    It is the mean of the cores' means, packed to `dtype`.
    """
    kept, width = norm.kept, program.domain[-1]
    local = rounded_to_bfloat16(1.0 / min(32 * blocks.width, width))
    every = rounded_to_bfloat16(1.0 / blocks.cores)

    def total(parts: list[Operand], scaler: int, target: DataType, **options: Any) -> Operand:
        tiles: list[Part] = [(part, 0, 1) for part in parts]
        return program.sum(tiles, (_BF16, scaler), target, **options)

    ranges = [(first, min(first + blocks.width, program.length)) for first in range(0, program.length, blocks.width)]
    parts = [program.sum([(of, first, end)], (_BF16, local), kept) for first, end in ranges]
    if blocks.columns:
        rows = [parts[i : i + blocks.columns] for i in range(0, len(parts), blocks.columns)]
        parts = rows[0] + [total(row, bits(1.0), kept) for row in rows[1:]]
    return total(parts, every, dtype or kept, **options)


@lru_cache(maxsize=256)
def sharded(shape: tuple[int, ...], norm: Norm, blocks: Blocks) -> Pipeline:
    """Return the program of rows over several cores.

    Partial sums of each core come first, then their sum.
    """
    program = norm.pipeline(shape)
    kept = norm.kept
    padded = "zero" if shape[-1] % 32 else None
    x = summed_input(program, norm)
    if norm.centers:
        summed = x if padded is None else program.copy(x, kept, padding=padded)
        x = program.eltwise("sub", x, _mean_of_cores(program, norm, blocks, summed), kept)
        if padded is not None:
            x = program.copy(x, kept, padding=padded)
    squares = program.eltwise("mul", x, x, kept)
    if padded is not None and not norm.centers:
        squares = program.copy(squares, kept, padding=padded)
    finish(program, norm, x, inverse_root(program, norm, _mean_of_cores(program, norm, blocks, squares)))
    return program


@lru_cache(maxsize=256)
def sharded_statistics(shape: tuple[int, ...], norm: Norm, blocks: Blocks) -> Pipeline:
    """Return device means of squares, and for layer norm of elements.

    The rows are split over several cores.

    A residual is added first, and the sum is the second output.
    """
    program = norm.pipeline(shape)
    x = program.tensor(norm.dtype)
    if norm.residual is not None:
        operands = x, program.tensor(norm.residual)
        x = program.eltwise("add", *operands, norm.dtype)
        program.eltwise("add", *operands, norm.dtype, output=1)
    columns = 2 if norm.centers else 1
    squares = program.eltwise("mul", x, x, norm.kept)
    if norm.centers:
        _mean_of_cores(program, norm, blocks, x, norm.out_dtype, output=(0, 0, columns))
    _mean_of_cores(program, norm, blocks, squares, norm.out_dtype, output=(0, columns - 1, columns))
    return program


@lru_cache(maxsize=256)
def statistics(shape: tuple[int, ...], norm: Norm) -> Pipeline:
    """Return device sums of squares, and for layer norm of elements."""
    program = norm.pipeline(shape)
    columns = 2 if norm.centers else 1
    used = shape[-1] % 32 or None
    x = summed_input(program, norm)
    squares = program.eltwise("mul", x, x, norm.kept)
    program.sum(squares, (_BF16, bits(1.0)), norm.out_dtype, used=used, output=(0, 0, columns))
    if norm.centers:
        program.sum(x, (_BF16, bits(1.0)), norm.out_dtype, used=used, output=(0, 1, columns))
    return program


@lru_cache(maxsize=256)
def from_statistics(
    shape: tuple[int, ...], norm: Norm, stats: DataType, tiles: int, *, means: bool = False
) -> Pipeline:
    """Return the device's norm from the statistics of all devices.

    These have `tiles` tiles.

    They are sums of squares and of datums, or `means`: of datums and of squares.
    """
    program = norm.pipeline(shape)
    kept = norm.kept
    each = 2 if norm.centers else 1
    devices = tiles // each
    scaler = rounded_to_bfloat16(1.0 / devices) if means else truncated(1.0 / (shape[-1] * devices))
    x = program.tensor(norm.dtype)
    given = program.lines(stats, tiles)

    def mean(first: int) -> Operand:
        parts: list[Part] = [(given, tile, tile + 1) for tile in range(first, tiles, each)]
        return program.sum(parts, (_BF16, scaler), kept)

    variance = mean(1 if means and norm.centers else 0)
    if norm.centers:
        middle = mean(0 if means else 1)
        square = program.eltwise("mul", middle, middle, kept)
        variance = program.eltwise("sub", variance, square, kept)
        x = program.eltwise("sub", x, middle, kept)
    finish(program, norm, x, inverse_root(program, norm, variance))
    return program


def is_large(norm: Norm, tiles: int) -> bool:
    """Return True for the large kernel, which reads rows three times."""
    return tiles > (400 if norm.dst32 else 800) * (1 if norm.dtype is not DataType.FLOAT32 else 0.5)


def blocks_of(tiles: int, block_width: int, grid: tuple[int, int], *, one_row: bool) -> Blocks:
    """Return how tile rows split into blocks on a grid.

    `one_row` if the whole grid shares every row.
    """
    cores = math.ceil(tiles / block_width)
    two_stages = one_row and grid[0] > 1 and grid[1] > 1
    return Blocks(block_width, cores, grid[0] if two_stages else 0)

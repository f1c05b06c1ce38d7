"""Programs of layer norm with Welford statistics: `use_welford`.

The SFPU computes mean and variance.

In 0.81.1 that is not the algorithm of the name: two passes over a row sum distances from its first element, then
squared distances from the mean. The mean stays in two parts, of which each is rounded. What cores found for their parts
of a row is joined step by step on the SFPU.

Source: tt-metal `ttnn/cpp/ttnn/operations/normalization/layernorm/device/kernels/compute/layernorm_sharded_welford.cpp`
and `ttnn/cpp/ttnn/operations/normalization/kernel_util/compute/combine_welford.h`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ttnn.base.enums import DataType
from ttnn.ops._programs.pipeline import Chain, Operand, Pipeline, rounded, scalar_chain, truncated
from ttnn.ops.normalization.norm_programs import Blocks, Norm, finish, inverse_root, summed_input

_FP32 = DataType.FLOAT32


@dataclass(frozen=True)
class _Part:
    """Mean and variance of so many elements of a row."""

    mean: Operand
    variance: Operand
    count: int


@lru_cache(maxsize=256)
def interleaved(shape: tuple[int, ...], norm: Norm) -> Pipeline:
    """Return the whole-row program.

    Inputs are x, the residual, the weights and the bias, as far as given.
    """
    program = norm.pipeline(shape, direct=norm.dst32)
    x = summed_input(program, norm)
    share = rounded(1.0 / shape[-1])
    anchor = program.moment("anchor", x, _FP32)
    correction = program.moment("correction", x, _FP32, mean=share)
    variance = program.moment("variance", x, _FP32, mean=share, squares=share)
    inverse = inverse_root(program, norm, variance)
    finish(program, norm, program.centred(x, anchor, correction, norm.kept), inverse)
    return program


@lru_cache(maxsize=256)
def sharded(shape: tuple[int, ...], norm: Norm, blocks: Blocks) -> Pipeline:
    """Return the program of rows over several cores.

    Statistics of each core come first, then those of all of them.
    """
    program = norm.pipeline(shape, direct=norm.dst32)
    x = summed_input(program, norm)

    def part(first: int) -> _Part:
        end = min(first + blocks.width, program.length)
        count = min(32 * end, shape[-1]) - 32 * first
        share = rounded(1.0 / count)
        mean = program.moment("mean", x, _FP32, mean=share, tiles=(first, end))
        variance = program.moment("variance", x, _FP32, mean=share, squares=share, tiles=(first, end))
        return _Part(mean, variance, count)

    parts = [part(first) for first in range(0, program.length, blocks.width)]
    if blocks.columns:
        rows = [parts[i : i + blocks.columns] for i in range(0, len(parts), blocks.columns)]
        parts = rows[0] + [_joined(program, row) for row in rows[1:]]
    root = [*scalar_chain("add_unary", norm.epsilon), *norm.rsqrt]
    all_of_row = _joined(program, parts, root)
    centred = program.eltwise("sub", x, all_of_row.mean, norm.kept)
    finish(program, norm, centred, all_of_row.variance)
    return program


@lru_cache(maxsize=256)
def statistics(shape: tuple[int, ...], norm: Norm) -> Pipeline:
    """Return every row's mean and variance, in bfloat16 before conversion.

    The output's data type follows.
    """
    program = norm.pipeline(shape, direct=norm.dst32)
    x = program.tensor(norm.dtype)
    share = rounded(1.0 / shape[-1])
    mean = program.moment("mean", x, DataType.BFLOAT16, mean=share)
    variance = program.moment("variance", x, DataType.BFLOAT16, mean=share, squares=share)
    for column, of in enumerate((mean, variance)):
        program.copy(of, norm.out_dtype, output=(0, column, 2))
    return program


@lru_cache(maxsize=256)
def joined(shape: tuple[int, ...], norm: Norm, stats: DataType, devices: int, width: int) -> Pipeline:
    """Return the mean and inverse deviation of rows over `devices` parts.

    Inputs are the means and the variances in turn: tiles of `shape`, whose column 0 counts, of parts of `width`
    elements.
    """
    program = norm.pipeline(shape, direct=norm.dst32)
    tiles = [program.tensor(stats) for _ in range(2 * devices)]
    parts = [_Part(mean, variance, width) for mean, variance in zip(tiles[::2], tiles[1::2], strict=True)]
    whole = _joined(program, parts)
    program.copy(whole.mean, norm.kept, output=0)
    epsilon = program.constant(DataType.BFLOAT16, truncated(norm.epsilon))
    program.eltwise("add", whole.variance, epsilon, norm.kept, norm.rsqrt, output=1)
    return program


@lru_cache(maxsize=256)
def from_mean(shape: tuple[int, ...], norm: Norm) -> Pipeline:
    """Return the norm of rows.

    Inputs are x, mean and inverse root in column 0 of a tile, and parameters.
    """
    program = norm.pipeline(shape)
    x = program.tensor(norm.dtype)
    mean, inverse = (program.tensor(norm.kept, (*shape[:-1], 1), "column") for _ in range(2))
    finish(program, norm, program.eltwise("sub", x, mean, norm.kept), inverse)
    return program


def _joined(program: Pipeline, parts: list[_Part], last: Chain = ()) -> _Part:
    """Add mean and variance of all parts, in FP32.

    Each step is one of the SFPU; `last` acts on the variance.
    """

    def scaled(of: Operand, factor: float, more: Chain = ()) -> Operand:
        return program.copy(of, _FP32, [*scalar_chain("mul_unary", rounded(factor)), *more])

    def sum_of(a: Operand, b: Operand) -> Operand:
        return program.sfpu(("add_binary", "default"), a, b, _FP32)

    first, *others = parts
    mean, squares, count = first.mean, scaled(first.variance, first.count), first.count
    for part in others:
        total = count + part.count
        before, share = rounded(count / total), rounded(part.count / total)
        distance = program.sfpu(("sub_binary", "default"), part.mean, mean, _FP32)
        mean = sum_of(scaled(mean, before), scaled(part.mean, share))
        between = program.copy(distance, _FP32, [("square", "default"), *scalar_chain("mul_unary", count * share)])
        squares = sum_of(sum_of(squares, between), scaled(part.variance, part.count))
        count = total
    return _Part(mean, scaled(squares, 1.0 / count, last), count)

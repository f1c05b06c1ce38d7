"""Programs of moreh layer norm, group norm and their gradients.

A line is a row, or all tiles that are normalized together. Its tiles are added up, and their sum is reduced to one
column or one element.
Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_layer_norm/device/kernels`, `moreh_layer_norm_backward`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ttnn.ops._programs.pipeline import COLUMNS, Operand, Pipeline, bits, truncated
from ttnn.ops.moreh.checks import BF16
from ttnn.ops.normalization.softmax_programs import Numerics

_ONE = (BF16, bits(1.0))


@dataclass(frozen=True)
class Parameter:
    """A tensor of factors, or of what is added."""

    shape: tuple[int, ...]
    broadcast: str
    """Broadcast of its tile over an input tile: "row", "none" or "scalar"."""

    def of(self, program: Pipeline) -> Operand:
        """Add the tensor to a program."""
        return program.tensor(BF16, self.shape, self.broadcast)


def _total(program: Pipeline, addends: Operand, scaler: int, numerics: Numerics) -> Operand:
    """Add the sum of a line: tiles first, then one tile's elements."""
    added = program.fold(addends, numerics.wide, by="add")
    return program.sum([(added, 0, 1)], (BF16, scaler), numerics.wide)


@lru_cache(maxsize=256)
def forward(
    shape: tuple[int, ...],
    axis: int,
    numerics: Numerics,
    scaler: int,
    epsilon: float,
    factors: tuple[Parameter | None, Parameter | None],
    statistics: tuple[bool, bool],
) -> Pipeline:
    """Return the norm of lines.

    Outputs: the result, then mean and inverse deviation of each line if requested.

    Args:
        shape: Logical shape of the input.
        axis: What a line is.
        numerics: Settings of the kernel.
        scaler: FP32 bits of the factor of every element, which a reduction to one element applies twice.
        epsilon: What is added to the variance.
        factors: gamma and beta, those that there are.
        statistics: Whether mean and inverse deviation are outputs.
    """
    program, wide = numerics.pipeline(shape, axis), numerics.wide
    x = program.tensor(BF16)
    mean = _total(program, program.copy(x, wide, padding="zero"), scaler, numerics)
    distance = program.eltwise("sub", x, mean, wide, padding="zero")
    variance = _total(program, program.eltwise("mul", distance, distance, wide), scaler, numerics)
    rsqrt = [("rsqrt", "approx" if numerics.approximate else "default")]
    inverse = program.eltwise("add", variance, program.constant(BF16, truncated(epsilon)), wide, rsqrt)
    outputs = 1
    for wanted, value in zip(statistics, (mean, inverse), strict=True):
        if wanted:
            program.copy(value, BF16, output=(outputs, 0, 1))
            outputs += 1
    steps = [("mul", inverse)]
    steps += [(op, of.of(program)) for op, of in zip(("mul", "add"), factors, strict=True) if of is not None]
    for op, other in steps[:-1]:
        distance = program.eltwise(op, distance, other, wide)
    program.eltwise(steps[-1][0], distance, steps[-1][1], BF16, output=0)
    return program


@lru_cache(maxsize=256)
def input_gradient(
    shape: tuple[int, ...],
    axis: int,
    numerics: Numerics,
    count: int,
    statistics: tuple[int, ...],
    gamma: Parameter | None,
) -> Pipeline:
    """Return the input's gradient.

    It follows from that of the output, the input, the mean, the inverse deviation and gamma.

    Args:
        shape: Logical shape of the input.
        axis: What a line is.
        numerics: Settings of the kernel.
        count: Elements of a line.
        statistics: Shape of the mean and of the inverse deviation, with sizes of 1 where they are repeated.
        gamma: The factors, if there are any.
    """
    program, wide = numerics.pipeline(shape, axis), numerics.wide
    dy, x = program.tensor(BF16), program.tensor(BF16)
    mean, inverse = program.tensor(BF16, statistics), program.tensor(BF16, statistics)
    share = program.eltwise("mul", program.constant(BF16, truncated(1.0 / count)), inverse, wide)
    distance = program.eltwise("sub", x, mean, wide, padding="zero")
    y = program.eltwise("mul", distance, inverse, wide)
    if gamma is None:
        dy = program.copy(dy, wide, padding="zero")
    else:
        dy = program.eltwise("mul", dy, gamma.of(program), wide, padding="zero")
    total = _total(program, dy, bits(1.0), numerics)
    weighted = _total(program, program.eltwise("mul", y, dy, wide), bits(1.0), numerics)
    each = program.eltwise("mul", program.constant(BF16, truncated(float(count))), dy, wide)
    each = program.eltwise("sub", each, total, wide)
    each = program.eltwise("sub", each, program.eltwise("mul", y, weighted, wide), wide)
    program.eltwise("mul", each, share, BF16, output=0)
    return program


@lru_cache(maxsize=256)
def products(
    shape: tuple[int, ...], axis: int, numerics: Numerics, statistics: tuple[int, ...], wanted: tuple[bool, bool]
) -> Pipeline:
    """Return tile by tile summands for gamma's and beta's gradients.

    They are y * dy and dy, without padding.

    Inputs and outputs that are not wanted are left out.
    """
    program, wide = numerics.pipeline(shape, axis), numerics.wide
    dy = program.copy(program.tensor(BF16), wide, padding="zero")
    outputs = 0
    if wanted[0]:
        x = program.tensor(BF16)
        mean, inverse = program.tensor(BF16, statistics), program.tensor(BF16, statistics)
        distance = program.eltwise("sub", x, mean, wide, padding="zero")
        y = program.eltwise("mul", distance, inverse, wide)
        program.eltwise("mul", y, dy, wide, output=0)
        outputs = 1
    if wanted[1]:
        program.copy(dy, wide, output=outputs)
    return program


@lru_cache(maxsize=256)
def column_sums(shape: tuple[int, ...], axis: int, numerics: Numerics) -> Pipeline:
    """Return sums of `products`.

    They are sums of columns of all rows, along a leading dimension, or of matrices.
    """
    program = Pipeline(shape, axis, numerics.wide, numerics.dst32, numerics.fidelity)
    addends = program.tensor(numerics.wide)
    if axis >= 0:
        program.copy(program.fold(addends, numerics.wide, by="add"), BF16, output=(0, 0, 1))
        return program
    assert axis <= COLUMNS
    added = program.fold(addends, numerics.wide, by="add")
    program.sum([(added, 0, 1)], _ONE, BF16, output=(0, 0, 1))
    return program

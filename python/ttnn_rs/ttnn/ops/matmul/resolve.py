"""Resolution of a matmul call to its program, without a device.

It decides shapes, types, memory configs, configurations, bias and activation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ttnn.base.compute_config import wide_fidelity
from ttnn.base.enums import BLOCK_FLOATS, DataType, Layout, MathFidelity, TensorMemoryLayout
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ProgramConfigError,
    ShapeError,
    TtnnError,
    UnsupportedError,
)
from ttnn.ops.eltwise.binary.checks import broadcast

from .auto_config import choose
from .config_check_base import shape_text
from .config_checks import check_config
from .configs import Activation, ComputeConfig, Kind, ProgramConfig
from .l1_buffers import l1_buffers
from .operand_checks import FLOATS, check_bias_broadcast, check_fused_activation, check_operands
from .problem import Problem, bias_rows
from .program import MatmulProgram
from .program_cores import kernel_batch, output_shard, program_cores
from .specs import FULL_TILE, TILE, Chip, Operand, Placement, Shard, TileShape, spec_of, up


@dataclass(frozen=True)
class MatmulCall:
    """A call of `ttnn.matmul` or `ttnn.linear` as plain data.

    Args:
        a: Left operand as stored.
        b: Right operand as stored.
        chip: Chip and the state of its L1.
        bias: Bias, or None.
        transpose_a: Multiply with A transposed.
        transpose_b: Multiply with B transposed.
        placement: Memory configuration asked for.
        dtype: Output data type asked for.
        config: Program configuration given.
        activation: Activation given.
        compute: Compute configuration given.
        core_grid: (columns, rows) given.
        output: The tensor to write to.
        out_tile: Tiles of the result.
    """

    a: Operand
    b: Operand
    chip: Chip
    bias: Operand | None = None
    transpose_a: bool = False
    transpose_b: bool = False
    placement: Placement | None = None
    dtype: DataType | None = None
    config: ProgramConfig | None = None
    activation: Activation | None = None
    compute: ComputeConfig | None = None
    core_grid: tuple[int, int] | None = None
    output: Operand | None = None
    out_tile: TileShape = FULL_TILE

    @property
    def out_dtype(self) -> DataType:
        """Data type of the result."""
        if self.dtype is not None:
            return self.dtype
        return self.output.dtype if self.output is not None else self.a.dtype

    @property
    def out_placement(self) -> Placement:
        """Memory configuration of the result, as asked for."""
        if self.placement is not None:
            return self.placement
        return self.output.placement if self.output is not None else Placement()

    @property
    def is_empty(self) -> bool:
        """Return True if an operand has no elements."""
        return self.a.volume == 0 or self.b.volume == 0


@dataclass(frozen=True)
class Decision:
    """State before the checks: matmul, configuration, steps outside the program."""

    problem: Problem
    config: ProgramConfig
    chosen: bool
    bcast_batch: bool
    separate_bias: Operand | None
    separate_activation: Activation | None


def compute_config(call: MatmulCall) -> ComputeConfig:
    """Return the effective compute configuration.

    The default depends on the output type, not on the operands.
    """
    if call.compute is not None:
        return call.compute
    types = {call.a.dtype, call.b.dtype}
    if types == {DataType.FLOAT32}:
        fidelity = wide_fidelity(call.chip.arch)
    elif call.config is not None or call.core_grid is not None or types <= BLOCK_FLOATS:
        fidelity = MathFidelity.LoFi
    else:
        fidelity = MathFidelity.HiFi2
    fp32 = call.out_dtype is DataType.FLOAT32
    return ComputeConfig(fidelity, approx=False, fp32=fp32, l1_acc=not fp32)


def check_ranks(call: MatmulCall) -> None:
    """Check that both operands have a dimension to multiply along.

    Raises:
        ShapeError: one is a scalar.
        UnsupportedError: a transposed vector.
    """
    if not call.a.shape or not call.b.shape:
        raise ShapeError(
            f"ttnn.matmul: a tensor of rank 0 has no inner dimension: {call.a.shape} x {call.b.shape}. Use "
            "ttnn.multiply.",
            vendor="ttnn.matmul: Both arguments to matmul need to be at least 1D, but got shapes "
            f"{shape_text(call.a.shape)} and {shape_text(call.b.shape)}",
        )
    for name, operand, transpose in (("a", call.a, call.transpose_a), ("b", call.b, call.transpose_b)):
        if len(operand.shape) == 1 and transpose:
            raise UnsupportedError(f"ttnn.matmul: transpose_{name} of a tensor of rank 1 is not modelled.")


def as_matrices(call: MatmulCall) -> tuple[Operand, Operand]:
    """Return the transposed operands.

    A vector A is one row, a vector B one column.
    """
    a, b = call.a, call.b
    if len(a.shape) == 1:
        a = a.with_shape((1, *a.shape), a.padded if len(a.padded) > 1 else (1, *a.padded))
    elif call.transpose_a:
        a = a.transposed()
    if len(b.shape) == 1:
        b = b.with_shape((*b.shape, 1), (up(b.shape[0], TILE) * TILE, TILE))
    elif call.transpose_b:
        b = b.transposed()
    return a, b


def product_shape(a: Operand, b: Operand) -> tuple[int, ...]:
    """Return the logical matmul shape of operands of rank 2 or more.

    Raises:
        ShapeError: B has more dimensions than A and they are not 1.
    """
    batch_a, batch_b = a.shape[:-2], b.shape[:-2]
    extra = len(batch_b) - len(batch_a)
    if any(size != 1 for size in batch_b[: max(extra, 0)]):
        raise ShapeError(
            f"ttnn.matmul: input_tensor_b {b.shape} has more batch dimensions than input_tensor_a {a.shape}; the "
            "additional ones have to be 1.",
            vendor="When in1 rank greater than in0 rank front dimensions need to be 1",
        )
    rank = max(len(batch_a), len(batch_b))
    batch_a = (1,) * (rank - len(batch_a)) + batch_a
    batch_b = (1,) * (rank - len(batch_b)) + batch_b
    batch = tuple(size_b if size_a == 1 else size_a for size_a, size_b in zip(batch_a, batch_b, strict=True))
    return (*batch, a.shape[-2], b.shape[-1])


def result_shape(call: MatmulCall, product: tuple[int, ...], bias: Operand | None = None) -> tuple[int, ...]:
    """Return the result shape.

    It lacks the dimension of a vector operand and has the rank of a fused bias.
    """
    if len(call.b.shape) == 1:
        return product[:-1] if len(call.a.shape) > 1 else product[:-2]
    if len(call.a.shape) == 1:
        product = (*product[:-2], product[-1])
    if bias is None:
        return product
    return (1,) * (len(bias.shape) - len(product)) + product


def decide(call: MatmulCall) -> Decision:
    """Return the multiplication and its program configuration, before the configuration is checked.

    Raises:
        ShapeError: shapes of which no program can be chosen.
        MemoryConfigError: placements for which none can be chosen.
        UnsupportedError: an option of the hardware that is not modelled.
    """
    check_ranks(call)
    if call.core_grid is not None and call.config is not None:
        raise ProgramConfigError(
            "ttnn.matmul: core_grid selects an automatic program_config; pass one of them.",
            vendor="Cannot use both user core grid/coordinates and a program config",
        )
    _refuse_operands(call)
    a, b = as_matrices(call)
    product_shape(a, b)
    problem = _problem(call, a, b)
    fused = call.bias is not None and not _bias_is_separate(call, problem)
    if fused:
        problem = replace(problem, bias=call.bias)
    config = call.config or choose(problem, call.core_grid, call.activation)
    activation_is_fused = call.core_grid is not None and config.fused_activation is not None
    bcast_batch = problem.batch_b == 1
    if call.config is not None and call.config.kind is Kind.REUSE:
        bcast_batch = bcast_batch and problem.batch_a > 1
    return Decision(
        problem,
        config,
        call.config is None,
        bcast_batch,
        None if fused else call.bias,
        None if activation_is_fused else call.activation,
    )


def _problem(call: MatmulCall, a: Operand, b: Operand) -> Problem:
    """Return the multiplication without a bias."""
    return Problem(
        a,
        b,
        None,
        call.out_dtype,
        call.out_placement,
        compute_config(call),
        call.chip,
        call.transpose_a,
        call.out_tile,
    )


def _wrong_result(dtype: DataType) -> DTypeError:
    return DTypeError(f"ttnn.matmul: the result cannot be {dtype.name}; it is packed from floating point Dst.")


def _refuse_operands(call: MatmulCall) -> None:
    """Refuse operands that a card supports, but no program here."""
    if call.out_dtype is DataType.INVALID:
        # Its tiles have no size, on which the choice of a program depends.
        raise _wrong_result(call.out_dtype)
    for name, tile, inner in (
        ("input_tensor_a", call.a.tile, call.a.tile[0 if call.transpose_a else 1]),
        ("input_tensor_b", call.b.tile, call.b.tile[1 if call.transpose_b or len(call.b.shape) == 1 else 0]),
    ):
        if inner != TILE:
            raise UnsupportedError(
                f"ttnn.matmul: {name} has tiles of {tile[0]}x{tile[1]}, which cut the inner dimension into {inner}; "
                f"only {TILE} is modelled.",
                "unimplemented",
            )
    for name, placement in (("a", call.a.placement), ("b", call.b.placement), ("result", call.out_placement)):
        if placement.layout is TensorMemoryLayout.ND_SHARDED:
            raise UnsupportedError(f"ttnn.matmul: ND_SHARDED ({name}) is not modelled.", "unimplemented")


def _bias_is_separate(call: MatmulCall, problem: Problem) -> bool:
    """Return whether the bias is added by an operator of its own."""
    bias, config = call.bias, call.config
    if bias is None or not bias.shape or bias.batch > 1 or bias.padded[-1] != problem.n:
        return True
    rows = bias_rows(bias)
    if config is not None and config.kind is Kind.REUSE:
        # The program reads a bias of all rows as one block.
        whole = config.per_core_n == problem.nt and config.per_core_m >= problem.mt
        return not (whole and rows > 1 and bias.padded[-2] == problem.m)
    if problem.batch_b > 1 or (rows > 1 and bias.padded[-2] != problem.a.tile[0]):
        return True
    if config is not None:
        return config.kind is Kind.MULTI_CORE
    if call.core_grid is not None:
        return False
    everything = problem.in_dram and problem.interleaved
    return not problem.out.in_dram or (problem.a.placement.interleaved and not everything)


def resolve(call: MatmulCall) -> MatmulProgram:
    """Return the program of a call whose operands are not empty.

    Room in L1 is checked by `room.check_room` once the output has its memory.

    Raises:
        ShapeError: shapes that do not fit.
        LayoutError: an operand that is not tilized.
        DTypeError: an operand that is not of a floating point type.
        MemoryConfigError: memory configs that the program does not support.
        ProgramConfigError: a program configuration that does not fit.
        UnsupportedError: an option of the hardware that is not modelled.
    """
    decision = decide(call)
    problem, config = decision.problem, decision.config
    check_operands(problem)
    if call.out_dtype not in FLOATS:
        raise _wrong_result(call.out_dtype)
    _refuse_unmodelled(config, call.transpose_b)
    shape = product_shape(problem.a, problem.b)
    _check_bias_rows(problem, config, shape)
    placement = problem.out
    if placement.sharded and config.kind is not Kind.MULTI_CORE:
        memory_layout, shard = _checked_shard(problem, config)
        placement = Placement(memory_layout, placement.buffer, shard)
    # An interleaved untilized result is still labelled TILE; it is refused when it would run.
    layout = Layout.ROW_MAJOR if config.untilize_out and placement.sharded else Layout.TILE
    out = Operand(shape, (*shape[:-2], problem.m, problem.n), call.out_dtype, layout, placement, call.out_tile)
    _check_shards(problem, config, out)
    _check_output_tensor(call, result_shape(call, shape, problem.bias))
    check_config(problem, config)
    check_fused_activation(config)
    _check_fused_bias(problem)
    if decision.separate_bias is not None:
        broadcast("ttnn.linear", shape, tuple(decision.separate_bias.shape))
    return MatmulProgram(
        problem=problem,
        config=config,
        chosen=decision.chosen,
        out=out,
        transpose_a=call.transpose_a,
        transpose_b=call.transpose_b,
        bcast_batch=decision.bcast_batch,
        separate_bias=decision.separate_bias,
        separate_activation=decision.separate_activation,
        kernel_batch=kernel_batch(problem, config),
        cores=program_cores(problem, config),
        buffers=l1_buffers(problem, config),
    )


def empty_result(call: MatmulCall) -> Operand:
    """Return zeros for an empty operand, without a device program.

    Raises:
        ShapeError: shapes that do not fit.
        DTypeError: a tensor to write to of another data type.
        LayoutError: a tensor to write to that is not tilized.
        MemoryConfigError: a tensor to write to in another place.
    """
    check_ranks(call)
    a, b = as_matrices(call)
    problem = _problem(call, a, b)
    check_operands(problem)
    product = product_shape(a, b)
    shape = result_shape(call, product)
    _check_output_tensor(call, shape)
    padded = (*product[:-2], up(product[-2], TILE) * TILE, up(product[-1], TILE) * TILE)
    return Operand(shape, padded, call.out_dtype, placement=call.out_placement, tile=call.out_tile)


def _checked_shard(problem: Problem, config: ProgramConfig) -> tuple[TensorMemoryLayout, Shard | None]:
    if min(config.per_core_m, config.per_core_n) == 0:
        check_config(problem, config)
    return output_shard(problem, config)


def _check_shards(problem: Problem, config: ProgramConfig, out: Operand) -> None:
    """Check that the program's output shards are those of a tensor.

    The official package looks at them before it looks at the configuration that they come from. Our message names the
    figure of the configuration.
    """
    try:
        spec_of(out)
    except MemoryConfigError as error:
        ours, _, vendor = str(error).partition("\ninfo:\n")
        try:
            check_config(problem, config)
        except TtnnError as misfit:
            advice, _, _ = str(misfit).partition("\ninfo:\n")
            ours = f"{advice} {ours}"
        else:
            ours = f"ttnn.matmul: the result does not fit the shards of {config}. {ours}"
        raise MemoryConfigError(ours, vendor=vendor) from None


def _refuse_unmodelled(config: ProgramConfig, transpose_b: bool) -> None:
    if "hop_cores" in config.unmodelled and not config.gather_in0:
        raise MemoryConfigError(
            "ttnn.matmul: hop_cores without gather_in0.",
            vendor=f"{config.kind.value}: Hop cores are not supported for any mode besides gather_in0.",
        )
    reasons = dict.fromkeys(config.unmodelled, "is not modelled")
    if config.gather_in0 and transpose_b:
        reasons["gather_in0"] = "with transpose_b is not modelled"
    for name, reason in reasons.items():
        raise UnsupportedError(f"ttnn.matmul: {name} {reason}.", "unimplemented")


def _check_output_tensor(call: MatmulCall, shape: tuple[int, ...]) -> None:
    """Check that the tensor to write to is what the program writes."""
    output = call.output
    if output is None:
        return

    def require(error: type[TtnnError], condition: bool, what: str, vendor: str) -> None:
        if not condition:
            raise error(f"ttnn.matmul: optional_output_tensor does not have the {what} of the result.", vendor=vendor)

    require(
        ShapeError,
        math.prod(output.shape) == math.prod(shape),
        f"number of elements of {shape}",
        "Invalid optional output tensor",
    )
    require(
        ShapeError,
        output.shape == shape,
        f"shape {shape}",
        f"Shape of Optional Output Tensor {shape_text(output.shape)} doesn't match Output Tensor {shape_text(shape)}",
    )
    require(
        DTypeError,
        output.dtype is call.out_dtype,
        f"data type {call.out_dtype.name}",
        f"Type mismatch between optional output tensor {output.dtype.cpp_name} & output tensor "
        f"{call.out_dtype.cpp_name}",
    )
    require(
        MemoryConfigError,
        output.placement == call.out_placement,
        f"memory configuration {call.out_placement}",
        f"Memory config mismatch between optional output tensor {output.placement} & output tensor "
        f"{call.out_placement}",
    )
    if output.layout is not Layout.TILE:
        raise LayoutError("ttnn.matmul: optional_output_tensor has to be in TILE_LAYOUT.")


def _check_bias_rows(problem: Problem, config: ProgramConfig, product: tuple[int, ...]) -> None:
    """Check that a fused bias has the matmul's rows."""
    bias = problem.bias
    if bias is None:
        return
    check_bias_broadcast(bias.shape, product)
    rows = bias_rows(bias)
    if rows > product[-2]:
        raise UnsupportedError(
            f"ttnn.linear: a fused bias of {rows} rows for a matmul of one row: a card adds the rows after the first "
            "to padding. Use ttnn.add after ttnn.matmul."
        )
    if rows > 1 and config.kind is Kind.DRAM_SHARDED:
        raise UnsupportedError(
            f"ttnn.linear: a bias of {rows} rows with {config.kind.value}: a card adds row 0 to every row. Use "
            "ttnn.add after ttnn.matmul."
        )


def _check_fused_bias(problem: Problem) -> None:
    bias = problem.bias
    if bias is None:
        return
    if bias.layout is not Layout.TILE:
        raise LayoutError(
            "ttnn.linear: the bias has to be in TILE_LAYOUT to be fused.", vendor="Unsupported input layout"
        )
    if bias.dtype not in FLOATS:
        raise DTypeError(f"ttnn.linear: a fused bias cannot be {bias.dtype.name}.")
    if bias.shape[-1] < problem.b.shape[-1]:
        raise ShapeError(
            f"ttnn.linear: the bias {bias.shape} is narrower than the matmul ({problem.b.shape[-1]} columns).",
            vendor=f"Unsupported bias shape: last dimension of bias, {bias.shape[-1]}, not equal to or greater than "
            f"second "
            f"input's last dimension, {problem.b.shape[-1]}.",
        )

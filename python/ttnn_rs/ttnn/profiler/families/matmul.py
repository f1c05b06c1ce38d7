"""Matmuls: every program of `ttnn.matmul`, from the `MatmulProgram` that the engine receives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ttnn.base.enums import Arch, BufferType, DataType, Layout, MathFidelity, TensorMemoryLayout, UnaryOpType
from ttnn.ops.matmul.configs import Activation, ComputeConfig, Kind, ProgramConfig
from ttnn.ops.matmul.program import MatmulProgram
from ttnn.ops.matmul.resolve import MatmulCall, resolve
from ttnn.ops.matmul.specs import Chip, Placement, Shard, first_cores, tile_bytes, up
from ttnn.ops.matmul.specs import Operand as MatmulOperand
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import plan_of, split
from ttnn.profiler.families.eltwise import sfpu
from ttnn.profiler.operand import Operand
from ttnn.profiler.plan import (
    BARRIER,
    PHASES,
    CoreGroup,
    Plan,
    PlanCb,
    Step,
    Steps,
    await_,
    loop,
    pop,
    push,
    read,
    reserve,
    tiles,
    write,
)

_FIELD: Final = re.compile(r"(\w+)=(\([^)]*\)|[^;)]+)")
_L1_BYTES: Final = 1464 * 1024
_L1_FIRST_FREE: Final = 100 * 1024
_IN0, _IN1, _OUT, _BIAS = range(4)


@dataclass(frozen=True)
class Blocks:
    """The blocks that one core multiplies, in tiles.

    Args:
        rows: Tile rows of a block of the output.
        columns: Tile columns of it.
        inner: Tiles along K of a block.
        steps: Blocks along K.
        outputs: Blocks of the output, one after the other.
        subblock: Rows and columns of the part that Dst holds.
    """

    rows: int
    columns: int
    inner: int
    steps: int
    outputs: int
    subblock: tuple[int, int]


def program_of(op: DeviceOperation) -> MatmulProgram:
    """Return a matmul's program, run or chosen.

    The one that ran, or the one that the operands and attributes lead to.

    Raises:
        TtnnError: what the operator itself would raise.
    """
    if isinstance(op.program, MatmulProgram):
        return op.program
    a, b = op.inputs[:2]
    given = op.attributes.get("program_config", "")
    bias = op.inputs[2] if len(op.inputs) > 2 else None
    grid = op.grid or op.card.grid
    config = _config(given)
    if config is not None and config.grid != (0, 0):
        grid = config.grid
    chip = Chip(
        grid,
        _L1_BYTES,
        _L1_FIRST_FREE,
        Arch.BLACKHOLE if op.card.arch == "blackhole" else Arch.WORMHOLE_B0,
        op.card.banks,
    )
    fidelity = MathFidelity[op.fidelity or "HiFi2"]
    accumulates = "packer_l1_acc=1" in op.attributes.get("compute_kernel_config", "")
    compute = ComputeConfig(fidelity, approx=False, fp32=op.wide, l1_acc=accumulates)
    output = op.outputs[0]
    call = MatmulCall(
        _operand(a),
        _operand(b),
        chip,
        bias=None if bias is None else _operand(bias),
        placement=_operand(output).placement,
        dtype=DataType[output.dtype],
        config=config,
        compute=compute,
        transpose_a=op.attributes.get("transpose_a") == "true",
        transpose_b=op.attributes.get("transpose_b") == "true",
    )
    return resolve(call)


def _operand(operand: Operand) -> MatmulOperand:
    shard = None
    if operand.sharded and operand.shard is not None:
        columns = operand.grid[0] if operand.grid else max(1, operand.shard_cores)
        cores = first_cores(max(1, operand.shard_cores), (columns, max(1, operand.shard_cores)), row_major=True)
        shard = Shard(*operand.shard, cores)
    buffer = BufferType.DRAM if operand.buffer == "DRAM" else BufferType.L1
    placement = Placement(TensorMemoryLayout[operand.memory], buffer, shard)
    return MatmulOperand(operand.logical, operand.padded, DataType[operand.dtype], Layout.TILE, placement)


def _config(text: str) -> ProgramConfig | None:
    """Return an attribute's printed program configuration, or None."""
    name, _, rest = text.partition("(")
    kinds = {kind.value: kind for kind in Kind}
    if name not in kinds:
        return None
    fields = dict(_FIELD.findall(rest))
    grid = tuple(map(int, re.findall(r"\d+", fields.get("compute_with_storage_grid_size", "")))) or (0, 0)
    number = {key: int(value) for key, value in fields.items() if value.lstrip("-").isdigit()}
    activation = re.search(r"op_type=UnaryOpType::(\w+)", text)
    return ProgramConfig(
        kinds[name],
        (grid[0], grid[1]),
        number.get("in0_block_w", 0),
        number.get("out_subblock_h", 0),
        number.get("out_subblock_w", 0),
        number.get("out_block_h", 0),
        number.get("out_block_w", 0),
        number.get("per_core_M", 0),
        number.get("per_core_N", 0),
        bool(number.get("transpose_mcast", 0)),
        bool(number.get("fuse_batch", 0)),
        bool(number.get("mcast_in0", 0)),
        bool(number.get("gather_in0", 0)),
        bool(number.get("untilize_out", 0)),
        None if activation is None else Activation(UnaryOpType[activation[1]]),
    )


def _place(operand: MatmulOperand, *, other: bool = False) -> str:
    """Return an operand's location.

    With `other`, its pages use the network that is slower for DRAM.
    """
    if not operand.placement.in_dram:
        return "l1"
    return "dram other" if other else "dram"


def _one_dimensional(program: MatmulProgram) -> bool:
    """Return True if the slower network reads left operand, writes result.

    Of the profiles, those of programs that send one operand to all cores read and write at half the rate of the others.
    """
    return program.config.kind is Kind.MCAST_1D


def matmul(op: DeviceOperation) -> Plan:
    """Return the plan of a matrix product."""
    program = program_of(op)
    kind = program.config.kind
    if kind is Kind.MULTI_CORE:
        return _one_tile(op, program)
    if kind in (Kind.REUSE, Kind.BATCHED_DRAM_SHARDED):
        return _reuse(op, program)
    if kind is Kind.DRAM_SHARDED:
        return _dram_sharded(op, program)
    return _multicast(op, program)


def blocks_of(program: MatmulProgram) -> Blocks:
    """Return the blocks of each core."""
    config = program.config
    rows, columns = config.out_block_h or config.per_core_m, config.out_block_w or config.per_core_n
    inner = program.in0_block_w
    steps = up(program.problem.kt, inner)
    outputs = up(config.per_core_m, rows) * up(config.per_core_n, columns) * program.kernel_batch
    return Blocks(rows, columns, inner, steps, outputs, (config.out_subblock_h, config.out_subblock_w))


def compute_kernel(program: MatmulProgram, blocks: Blocks) -> Steps:
    """Return the compute kernel of a program with blocks along K."""
    problem = program.problem
    sizes = (problem.a.tile_bytes, problem.b.tile_bytes)
    phases = PHASES[program.compute.fidelity.name]
    height, width = blocks.subblock
    count = height * width
    parts = max(1, blocks.rows // height) * max(1, blocks.columns // width)
    out_bytes = program.out.tile_bytes
    partial = tile_bytes(program.partials)
    product = tiles(("matmul", height, width, blocks.inner, *sizes, phases))
    waits = (await_(_IN0, blocks.rows * blocks.inner), await_(_IN1, blocks.inner * blocks.columns))
    pops = (pop(_IN0, blocks.rows * blocks.inner), pop(_IN1, blocks.inner * blocks.columns))
    added = program.l1_accumulation
    # Partial sums come back to Dst: the unpacker switches to a copy, and to the product again.
    reload: Steps = () if added else (tiles(("switch",)), tiles(("copy", partial), count))
    fused = problem.bias is not None
    activation: Steps = ()
    if program.vector_activation is not None:
        name = program.vector_activation.op.name.lower()
        activation = (tiles(("sfpu", name, False, program.compute.fp32), count),)
    finish: Step = tiles(("pack", out_bytes, False), count)
    to_partial = tiles(("pack", partial, False), count)
    add_partial = tiles(("pack", partial, added), count)
    last_pack = (add_partial if blocks.steps > 1 and added else to_partial) if fused else finish
    end = () if fused else activation
    steps: list[Step] = []
    if blocks.steps > 1:
        steps += [*waits, loop(parts, product, to_partial), *pops]
    if blocks.steps > 2:
        steps.append(loop(blocks.steps - 2, *waits, loop(parts, *reload, product, add_partial), *pops))
    again: Steps = reload if blocks.steps > 1 else ()
    if blocks.steps > 1 and added and not fused:
        again = (tiles(("switch",)), tiles(("copy", partial), count))
    body = (*again, product, *end, last_pack)
    if fused:
        steps += [*waits, loop(parts, *body), *pops]
        add = tiles(("eltwise", "add", partial, problem.bias.tile_bytes if problem.bias else 0, 1), count)
        steps += [tiles(("reconfigure",)), await_(_BIAS, blocks.columns)]
        steps.append(loop(parts, add, *activation, reserve(_OUT, count), finish, push(_OUT, count)))
    else:
        steps += [*waits, loop(parts, *again, product, *end, reserve(_OUT, count), finish, push(_OUT, count)), *pops]
    return (tiles(("initialise",)), loop(blocks.outputs, *steps))


def _buffers(op: DeviceOperation, program: MatmulProgram, blocks: Blocks) -> list[PlanCb]:
    problem = program.problem
    deep = 2 if blocks.steps * blocks.outputs > 1 else 1
    out = blocks.rows * blocks.columns
    sharded = program.out.placement.sharded
    cbs = [
        PlanCb("in0", deep * blocks.rows * blocks.inner, problem.a.tile_bytes, problem.a.dtype.name),
        PlanCb("in1", deep * blocks.inner * blocks.columns, problem.b.tile_bytes, problem.b.dtype.name),
        PlanCb(
            "out", out * (blocks.outputs if sharded else 1), program.out.tile_bytes, program.out.dtype.name, sharded
        ),
    ]
    if problem.bias is not None:
        size = problem.bias.tile_bytes
        cbs.append(PlanCb("bias", _bias_tiles(program, blocks), size, problem.bias.dtype.name))
    return cbs


def _bias_tiles(program: MatmulProgram, blocks: Blocks) -> int:
    """Return a fused bias's tiles per core.

    A tile row, or the whole block in a Reuse program.
    """
    return blocks.columns * (blocks.rows if program.config.kind is Kind.REUSE else 1)


def _write_out(program: MatmulProgram, blocks: Blocks) -> Steps:
    """Return the writer's steps for one block of the output."""
    count = blocks.subblock[0] * blocks.subblock[1]
    parts = max(1, blocks.rows // blocks.subblock[0]) * max(1, blocks.columns // blocks.subblock[1])
    if program.out.placement.sharded:
        return (loop(parts, await_(_OUT, count)),)
    put = write(_place(program.out, other=_one_dimensional(program)), count, program.out.tile_bytes)
    return (loop(parts, await_(_OUT, count), put, BARRIER, pop(_OUT, count)),)


def _multicast(op: DeviceOperation, program: MatmulProgram) -> Plan:
    """Operands that some cores read and send to others.

    Along rows and columns, or one of them to all cores.
    """
    problem, config = program.problem, program.config
    blocks = blocks_of(program)
    a_tiles, b_tiles = blocks.rows * blocks.inner, blocks.inner * blocks.columns
    a_local = problem.a.placement.sharded and not problem.a.placement.in_dram
    two_d = config.kind is Kind.MCAST_2D
    matrices = max(1, problem.batch_a // program.kernel_batch)
    down, across = up(problem.mt * matrices, config.per_core_m), up(problem.nt, config.per_core_n)
    cores = op.cores or sum(box.cores for box in program.cores)
    if not two_d:
        down, across = (1, min(cores, across)) if config.mcast_in0 else (min(cores, down), 1)
        if config.mcast_in0:
            down = 1
    # How many cores receive each block that a sender reads.
    a_takers = across if two_d or config.mcast_in0 else 1
    b_takers = down if two_d or not config.mcast_in0 else 1

    def bring(
        cb: int, operand: MatmulOperand, count: int, takers: int, number: int, *, sends: bool, local: bool
    ) -> Steps:
        size = operand.tile_bytes
        if takers > 1 and not sends:
            return (reserve(cb, count), ("wait", number), push(cb, count))
        steps: list[Step] = [reserve(cb, count)]
        if not local:
            steps.append(read(_place(operand, other=cb == _IN0 and not two_d), count, size, count))
        elif takers == 1:
            steps.append(("instructions", 20))
        if takers > 1:
            steps += [("multicast", count * size, takers), ("signal", number)]
        steps.append(push(cb, count))
        return tuple(steps)

    def group(count: int, *, sends_a: bool, sends_b: bool, signal: bool) -> CoreGroup:
        # Only one sender of each kind signals; the others run beside it.
        first = bring(_IN0, problem.a, a_tiles, a_takers, 0 if signal else 2, sends=sends_a, local=a_local)
        second = bring(_IN1, problem.b, b_tiles, b_takers, 1 if signal else 3, sends=sends_b, local=False)
        bias: Steps = ()
        if problem.bias is not None:
            size = problem.bias.tile_bytes
            if b_takers > 1 and not sends_b:
                bias = (reserve(_BIAS, blocks.columns), push(_BIAS, blocks.columns))
            else:
                bias = (
                    reserve(_BIAS, blocks.columns),
                    read(_place(problem.bias), blocks.columns, size, blocks.columns),
                    push(_BIAS, blocks.columns),
                )
        inner = loop(blocks.steps, *second)
        reader = (loop(blocks.outputs * blocks.steps, *first),)
        writer_steps: list[Step] = []
        if problem.bias is not None:
            outer = (loop(blocks.outputs - 1, inner, *_write_out(program, blocks)),) if blocks.outputs > 1 else ()
            writer_steps += [inner, *bias, *_write_out(program, blocks), *outer]
        else:
            writer_steps.append(loop(blocks.outputs, inner, *_write_out(program, blocks)))
        return CoreGroup(count, reader, compute_kernel(program, blocks), tuple(writer_steps))

    groups = [group(1, sends_a=True, sends_b=True, signal=True)]
    if two_d:
        rows, columns = down - 1, across - 1
        rest = max(0, cores - 1 - rows - columns)
        shapes = [(rows, True, False), (columns, False, True), (rest, False, False)]
    else:
        shapes = [(max(0, cores - 1), not config.mcast_in0, config.mcast_in0)]
    for count, sends_a, sends_b in shapes:
        if count > 0:
            groups.append(_quiet(group(count, sends_a=sends_a, sends_b=sends_b, signal=True)))
    return plan_of(op, groups, _buffers(op, program, blocks))


def _quiet(group: CoreGroup) -> CoreGroup:
    """Return a group whose senders do not signal.

    One sender's signals serve all receivers of the plan.
    """

    def without(steps: Steps) -> Steps:
        kept: list[Step] = []
        for step in steps:
            if step[0] == "loop":
                kept.append(("loop", step[1], without(step[2])))
            elif step[0] != "signal":
                kept.append(step)
        return tuple(kept)

    return CoreGroup(group.cores, without(group.reader), group.compute, without(group.writer))


def _reuse(op: DeviceOperation, program: MatmulProgram) -> Plan:
    """Every core reads both operands of its blocks."""
    problem, config = program.problem, program.config
    blocks = blocks_of(program)
    # A core whose rows are those of several matrices multiplies them one after the other.
    rows = min(blocks.rows, problem.mt)
    total = problem.batch_a * up(problem.mt, rows) * up(problem.nt, config.per_core_n)
    cores = op.cores or sum(box.cores for box in program.cores)
    most = up(total, cores)
    blocks = Blocks(rows, blocks.columns, blocks.inner, blocks.steps, most, blocks.subblock)
    a_tiles, b_tiles = rows * blocks.inner, blocks.inner * blocks.columns
    groups = []
    for count, outputs in split(total, cores):
        each = Blocks(blocks.rows, blocks.columns, blocks.inner, blocks.steps, outputs, blocks.subblock)
        local = problem.a.placement.sharded and not problem.a.placement.in_dram
        first: Steps = (reserve(_IN0, blocks.rows * blocks.inner),)
        if not local:
            first += (read(_place(problem.a), a_tiles, problem.a.tile_bytes, a_tiles),)
        first += (push(_IN0, blocks.rows * blocks.inner),)
        second: Steps = (reserve(_IN1, b_tiles),)
        if not (problem.b.placement.sharded and not problem.b.placement.in_dram):
            second += (read(_place(problem.b), b_tiles, problem.b.tile_bytes, b_tiles),)
        second += (push(_IN1, b_tiles),)
        reader = (loop(outputs * blocks.steps, *first),)
        bias = _bias(program, _bias_tiles(program, blocks))
        writer = (*bias, loop(outputs, loop(blocks.steps, *second), *_write_out(program, blocks)))
        groups.append(CoreGroup(count, reader, compute_kernel(program, each), writer))
    return plan_of(op, groups, _buffers(op, program, blocks))


def _one_tile(op: DeviceOperation, program: MatmulProgram) -> Plan:
    """Plan where each core reads an operand row and column.

    For each of its output tiles.
    """
    problem = program.problem
    total = problem.batch_a * problem.mt * problem.nt
    cores = op.cores or sum(box.cores for box in program.cores)
    sizes = (problem.a.tile_bytes, problem.b.tile_bytes)
    phases = PHASES[program.compute.fidelity.name]
    out_bytes = program.out.tile_bytes
    step = (await_(_IN0), await_(_IN1), tiles(("matmul", 1, 1, 1, *sizes, phases)), pop(_IN0), pop(_IN1))
    groups = []
    for count, outputs in split(total, cores):
        one = (reserve(_IN0), read(_place(problem.a), 1, sizes[0], 1), push(_IN0))
        two = (reserve(_IN1), read(_place(problem.b), 1, sizes[1], 1), push(_IN1))
        reader = (loop(outputs * problem.kt, *one, *two),)
        pack = (reserve(_OUT), tiles(("pack", out_bytes, False)), push(_OUT))
        kernel = (tiles(("initialise",)), loop(outputs, loop(problem.kt, *step), *pack))
        writer = (loop(outputs, await_(_OUT), write(_place(program.out), 1, out_bytes, 1), pop(_OUT)),)
        groups.append(CoreGroup(count, reader, kernel, writer))
    cbs = [
        PlanCb("in0", 2, sizes[0], problem.a.dtype.name),
        PlanCb("in1", 2, sizes[1], problem.b.dtype.name),
        PlanCb("out", 2, out_bytes, program.out.dtype.name),
    ]
    return plan_of(op, groups, cbs)


def _dram_sharded(op: DeviceOperation, program: MatmulProgram) -> Plan:
    """DRAM-adjacent cores read right columns; the left is multicast.

    There is one core next to each DRAM bank.
    """
    problem = program.problem
    banks = op.card.banks
    columns = up(problem.nt, banks)
    config = program.config
    inner = config.in0_block_w
    blocks = Blocks(config.per_core_m, columns, inner, up(problem.kt, inner), 1, (1, min(columns, 4)))
    a_tiles, b_tiles = blocks.rows * inner, inner * columns
    first = (reserve(_IN0, a_tiles), ("multicast", a_tiles * problem.a.tile_bytes, banks), push(_IN0, a_tiles))
    size = problem.b.tile_bytes
    page = max(1, min(b_tiles, 8192 // size))
    second = (
        reserve(_IN1, b_tiles),
        read("dram own", up(b_tiles, page), page * size, up(b_tiles, page)),
        push(_IN1, b_tiles),
    )
    count = blocks.subblock[1]
    parts = max(1, blocks.rows) * max(1, columns // count)
    out = (loop(parts, await_(_OUT, count), write("l1", count, program.out.tile_bytes), BARRIER, pop(_OUT, count)),)
    group = CoreGroup(
        banks,
        (loop(blocks.steps, *first),),
        compute_kernel(program, blocks),
        (loop(blocks.steps, *second), *_bias(program, columns), *out),
    )
    return plan_of(op, [group], _buffers(op, program, blocks))


def _bias(program: MatmulProgram, columns: int) -> Steps:
    bias = program.problem.bias
    if bias is None:
        return ()
    return (reserve(_BIAS, columns), read(_place(bias), columns, bias.tile_bytes, columns), push(_BIAS, columns))


__all__ = ["Blocks", "blocks_of", "compute_kernel", "matmul", "program_of", "sfpu"]

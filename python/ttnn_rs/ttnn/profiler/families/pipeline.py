"""Tile pipeline programs, planned from the engine's passes.

They are passes over lines of tiles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ttnn.base.enums import FORMAT_CODE
from ttnn.base.tile import tile_bytes
from ttnn.ops._programs.pipeline import COLUMNS, Pipeline
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import plan_of, split, working_cores
from ttnn.profiler.operand import TILE
from ttnn.profiler.plan import (
    BARRIER,
    CoreGroup,
    Plan,
    PlanCb,
    Step,
    await_,
    loop,
    pop,
    push,
    read,
    reserve,
    tiles,
    write,
)

_DTYPES = {code: dtype for dtype, code in FORMAT_CODE.items()}
_REDUCTIONS = ("max", "sum", "fold", "anchor", "mean", "correction", "variance")


def bytes_of(code: int) -> int:
    """Return the bytes of a tile of a format."""
    return tile_bytes(_DTYPES[code], TILE, TILE)


def lines_of(program: Pipeline) -> int:
    """Return the number of rows that a program processes."""
    *outer, height, width = program.domain
    total = math.prod(outer) * -(-height // TILE) * -(-width // TILE)
    return max(1, total // max(1, program.length))


def _operand_bytes(program: Pipeline, operand: tuple[str, int, int]) -> int:
    kind, number, _ = operand
    if kind == "tensor":
        return bytes_of(program._tensors[number][0])
    return bytes_of(program._passes[number]["format"] if kind == "value" else number)


def _tile_steps(program: Pipeline, given: Mapping[str, Any]) -> tuple[Step, ...]:
    """Return what a pass does with one tile, before it packs."""
    parts = [part[0] for part in given["parts"]]
    sizes = [_operand_bytes(program, part) for part in parts]
    wide, phases, load = program.dst32, program.fidelity, given["load"]
    chain = tuple(tiles(("sfpu", step[0], step[1] in ("fast", "approximate"), wide)) for step in given["chain"])
    if load == "eltwise":
        return (tiles(("eltwise", given["eltwise"], sizes[0], sizes[1], phases)), *chain)
    if load == "sfpu":
        function = tiles(("sfpu", given["function"][0], False, wide))
        return (*(tiles(("copy", size)) for size in sizes), function, *chain)
    if load == "matmul":
        return (tiles(("matmul", 1, 1, 1, sizes[0], sizes[1], phases)), *chain)
    if load == "max":
        axis = "row" if program.axis == -1 else "column" if program.axis == COLUMNS else "scalar"
        return (tiles(("reduce", axis, sizes[0], 1)), *chain)
    if load == "sum":
        axis = "row" if program.axis == -1 else "column" if program.axis == COLUMNS else "scalar"
        return (tiles(("reduce", axis, sizes[0], phases)), *chain)
    if load in ("accumulate", "fold", "scan"):
        if given["eltwise"]:
            second = sizes[1] if len(sizes) > 1 else sizes[0]
            return (tiles(("eltwise", given["eltwise"], sizes[0], second, phases)), *chain)
        name = given["function"][0] if given["function"] else "add_binary"
        return (tiles(("copy", sizes[0])), tiles(("sfpu", name, False, wide)), *chain)
    if load == "running sum":
        return (tiles(("copy", sizes[0])), tiles(("sfpu", "cumsum", False, wide)), *chain)
    if load in ("anchor", "mean", "correction", "variance"):
        return (tiles(("copy", sizes[0])), tiles(("sfpu", "welford_update", False, wide)), *chain)
    if load == "centred":
        return (*(tiles(("copy", size)) for size in sizes), *(tiles(("sfpu", "sub_binary", False, wide)),) * 2, *chain)
    return (*(tiles(("copy", size)) for size in sizes), *chain)


def pipeline(op: DeviceOperation) -> Plan:
    """Return the plan of a program of the tile pipeline."""
    programs: tuple[Pipeline, ...] = op.pipelines
    lines = max(lines_of(program) for program in programs)
    columns = _cores_of_a_line(op)
    cores = working_cores(op, lines)
    groups: list[CoreGroup] = []
    cbs: list[PlanCb] = []
    for count, each in split(lines, max(1, cores // columns)):
        for number, role in _roles(count, columns, first=not groups):
            reader: list[Step] = []
            kernel: list[Step] = [tiles(("initialise",))]
            writer: list[Step] = []
            cbs = []
            for program in programs:
                share = -(-each * lines_of(program) // lines)
                _add(op, program, share, (columns, role), cbs, (reader, kernel, writer))
            groups.append(CoreGroup(number, tuple(reader), tuple(kernel), tuple(writer)))
    return plan_of(op, groups, cbs)


def _roles(count: int, columns: int, *, first: bool) -> list[tuple[int, str]]:
    """Return the cores' shares of a shared line.

    One adds up what all have found, others wait for it.

    One of those that add up signals to all that wait, since the signals of one serve all.
    """
    if columns == 1:
        return [(count, "alone")]
    adding = [(1, "signals"), (count - 1, "adds")] if first else [(count, "adds")]
    return [(number, role) for number, role in (*adding, (count * (columns - 1), "waits")) if number]


def _cores_of_a_line(op: DeviceOperation) -> int:
    """Return how many cores share a tile row.

    Several, if shards divide the columns of what is worked on.
    """
    if not op.inputs or any(program.axis != -1 for program in op.pipelines):
        return 1
    source = op.inputs[0]
    if not source.local or source.shard is None or source.memory not in ("BLOCK_SHARDED", "WIDTH_SHARDED"):
        return 1
    return max(1, min(source.shard_cores, -(-source.width // source.shard[1])))


def _add(
    op: DeviceOperation,
    program: Pipeline,
    lines: int,
    shared: tuple[int, str],
    cbs: list[PlanCb],
    kernels: tuple[list[Step], list[Step], list[Step]],
) -> None:
    """Append the work of one program on so many lines.

    Args:
        op: The device operation.
        program: Its program.
        lines: Lines of a core.
        shared: How many cores share a line, and what this one does when a reduction has found something on each.
        cbs: Circular buffers so far.
        kernels: Steps of reader, compute kernel and writer so far.
    """
    columns, role = shared
    length = -(-program.length // columns)
    place = op.inputs[0].place if op.inputs else "dram"
    out_place = op.outputs[0].place
    local_in = bool(op.inputs) and op.inputs[0].local
    local_out = op.outputs[0].local
    first = len(cbs)
    read_line: list[Step] = []
    read_once: list[Step] = []
    whole = set()
    for number, (code, shape, _, own) in enumerate(program._tensors):
        size, cb = bytes_of(code), first + number
        full = shape is not None and math.prod(shape) >= math.prod(program.domain)
        count = length if shape is not None else max(1, own)
        cbs.append(PlanCb(f"input {number}", 2 * count, size, _DTYPES[code].name, local_in and full))
        step = push(cb, count) if local_in and full else read(place, count, size, min(count, 8))
        if full or shape is None:
            read_line += [reserve(cb, count), *(() if local_in and full else (step,)), push(cb, count)]
            whole.add(number)
        else:
            read_once += [reserve(cb, count), step, push(cb, count)]
    inputs = len(program._tensors)
    outputs = sorted({given["output"][0] for given in program._passes if given["output"] is not None})
    out_cb = {number: first + inputs + index for index, number in enumerate(outputs)}
    partial, total = (first + inputs + len(outputs) + i for i in range(2))
    exchanged = 0
    passes: list[Step] = []
    written: list[Step] = []
    before = ""
    for given in program._passes:
        size = bytes_of(given["format"])
        reduces = given["load"] in _REDUCTIONS
        # A program over shards has a pass for the part of each core; a core runs that of its own.
        again, before = columns > 1 and reduces and given["load"] == before, given["load"]
        if again:
            continue
        of_line = [part for part in given["parts"] if part[0][0] != "constant"]
        scalars = bool(of_line) and all(part[0][0] == "value" and _is_scalar(program, part[0][1]) for part in of_line)
        count = 1 if scalars else given["until"] or length
        packs = 1 if reduces else count
        work = (loop(count, *_tile_steps(program, given)),)
        output = given["output"]
        passes.append(tiles(("reconfigure",)))
        if output is None and reduces and columns > 1:
            exchanged += 1
            adds = role != "waits"
            passes += [reserve(partial), *work, tiles(("pack", size, False), packs), push(partial)]
            passes += [await_(total), loop(columns if adds else 1, tiles(("copy", size))), pop(total)]
            read_line += [await_(partial), reserve(total)]
            if adds:
                read_line += [read("l1", columns, size, columns), BARRIER, ("multicast", size, columns)]
                read_line += [("signal", 0)] if role == "signals" else []
            else:
                read_line.append(("wait", 0))
            read_line += [push(total), pop(partial)]
            continue
        if output is None:
            passes += [*work, tiles(("pack", size, False), packs)]
            continue
        cb = out_cb[output[0]]
        passes += [reserve(cb, packs), *work, tiles(("pack", size, False), packs), push(cb, packs)]
        if local_out:
            written += [await_(cb, packs), pop(cb, packs)]
        else:
            written += [await_(cb, packs), write(out_place, packs, size), BARRIER, pop(cb, packs)]
    for number in outputs:
        code = next(g["format"] for g in program._passes if g["output"] is not None and g["output"][0] == number)
        cbs.append(PlanCb(f"output {number}", 2 * max(length, 1), bytes_of(code), _DTYPES[code].name))
    if exchanged:
        cbs += [PlanCb(name, 1, bytes_of(program._passes[0]["format"]), "BFLOAT16") for name in ("partial", "total")]
    waits = [await_(first + number, _count(program, number, columns)) for number in range(inputs) if number in whole]
    pops = [pop(first + number, _count(program, number, columns)) for number in range(inputs) if number in whole]
    once = [await_(first + number, _count(program, number, columns)) for number in range(inputs) if number not in whole]
    reader, kernel, writer = kernels
    reader += [*read_once, loop(lines, *read_line)]
    kernel += [*once, loop(lines, *waits, *passes, *pops)]
    writer.append(loop(lines, *written))


def _count(program: Pipeline, number: int, columns: int) -> int:
    _, shape, _, own = program._tensors[number]
    return -(-program.length // columns) if shape is not None else max(1, own)


def _is_scalar(program: Pipeline, number: int) -> bool:
    """Return True for a one-tile value broadcast over its row."""
    given = program._passes[number]
    if given["load"] in _REDUCTIONS:
        return True
    parts = [part[0] for part in given["parts"] if part[0][0] != "constant"]
    return bool(parts) and all(kind == "value" and _is_scalar(program, index) for kind, index, _ in parts)

"""Element-wise operations on interleaved pages or shards.

Unary, binary and ternary; shards of each core.
"""

from __future__ import annotations

import re
from typing import Final

from ttnn.base.enums import UnaryOpType
from ttnn.base.exceptions import UnsupportedError
from ttnn.operation.steps import STEPS
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import buffer, per_unit, tile_bytes_of, working_cores
from ttnn.profiler.operand import Operand
from ttnn.profiler.plan import BARRIER, Plan, PlanCb, Step, Steps, await_, loop, pop, push, read, reserve, tiles, write

_OPERATION: Final = re.compile(r"op_type=UnaryOpType::(\w+);param=\{([^}]*)\}")
_FPU: Final = {"ADD": "add", "SUB": "sub", "RSUB": "sub", "MUL": "mul"}
_WORDS_OF_A_FILL: Final = 512
"""Words of a 16-bit tile."""
_WORDS_OF_A_ROW_FILL: Final = 480
"""Words written to copy a row over a 16-bit tile.

15 more rows of 8 words in each of four faces.
"""


def chain_of(op: DeviceOperation) -> tuple[tuple[str, bool], ...]:
    """Return an operation's SFPU functions, run or named.

    Those that it ran, or those that its attributes name.

    Raises:
        UnsupportedError: an attribute names a function that the package does not have.
    """
    if op.chain:
        return op.chain
    text = "".join(op.attributes.get(name, "") for name in ("op_chain", "activations", "post_activations"))
    found = []
    for name, parameters in _OPERATION.findall(text):
        values = [float(value) for value in re.findall(r"[-+.\deE]+", parameters)]
        if name == "RELU" and op.kind.startswith("Binary"):
            # The packer clips.
            continue
        make = STEPS.get(UnaryOpType[name]) if name in UnaryOpType.__members__ else None
        if make is None:
            raise UnsupportedError(f"{op.name}: no plan describes the function {name}", "unimplemented")
        found += [(step[0], step[1] in ("fast", "approximate")) for step in make.make(*values[: make.most])]
    return tuple(found)


def sfpu(name: str, approximate: bool, wide: bool) -> Step:
    """Return the operation of an SFPU function on a tile."""
    return tiles(("sfpu", name, approximate, wide))


def _math(op: DeviceOperation, inputs: tuple[Operand, ...]) -> list[Step]:
    """Return the operations on one tile."""
    sizes = [tile_bytes_of(operand) for operand in inputs]
    name = op.attributes.get("binary_op_type", "").rpartition("::")[2]
    steps: list[Step] = []
    if op.kind.startswith("Binary"):
        second = sizes[1] if len(sizes) > 1 else sizes[0]
        engine, first_chain, second_chain, after = binary_functions(op, name)
        if engine in _FPU.values():
            # An activation of an operand packs it to a circular buffer of its own first.
            for size, chain in ((sizes[0], first_chain), (second, second_chain)):
                if chain:
                    steps += [tiles(("copy", size)), *(sfpu(step, False, op.wide) for step in chain)]
                    steps.append(tiles(("pack", size, False)))
            steps.append(tiles(("eltwise", engine, sizes[0], second, op.phases)))
        else:
            steps += [tiles(("copy", sizes[0])), tiles(("copy", second))]
            steps += [sfpu(step, False, op.wide) for step in (*first_chain, *second_chain, engine)]
        steps += [sfpu(step, False, op.wide) for step in after]
    else:
        steps += [tiles(("copy", size)) for size in sizes]
        if op.kind == "Ternary":
            name = op.program or op.attributes["ternary_op_type"].rpartition("::")[2].lower()
            steps.append(sfpu(name, False, op.wide))
    steps += [sfpu(function, approximate, op.wide) for function, approximate in chain_of(op)]
    return steps


BinaryFunctions = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""FPU or SFPU operation, and operands' and result's SFPU functions."""

_COMPOSED: Final[dict[str, BinaryFunctions]] = {
    "GT": ("sub", (), (), ("gtz",)),
    "LT": ("sub", (), (), ("ltz",)),
    "GE": ("sub", (), (), ("gez",)),
    "LE": ("sub", (), (), ("lez",)),
    "EQ": ("sub", (), (), ("eqz",)),
    "NE": ("sub", (), (), ("nez",)),
    "LOGICAL_AND": ("mul", ("nez",), ("nez",), ("nez",)),
    "LOGICAL_OR": ("add", ("nez",), ("nez",), ("gtz",)),
    "LOGICAL_XOR": ("sub", ("nez",), ("nez",), ("nez",)),
    "SQUARED_DIFFERENCE": ("sub", (), (), ("square",)),
    "BIAS_GELU": ("add", (), (), ("gelu",)),
    "LOGADDEXP": ("add", ("exp",), ("exp",), ("log",)),
    "LOGADDEXP2": ("add", ("exp2",), ("exp2",), ("log2",)),
    "LDEXP": ("mul", (), ("exp2",), ()),
    "DIV": ("mul", (), ("recip",), ()),
    "DIV_FAST": ("mul", (), ("recip",), ()),
}
"""FPU operations with SFPU functions before or after.

Source: `binary_ng_utils.cpp` of tt-metal.
"""

_SFPU_BINARY: Final = {
    "ADD": "add_binary",
    "SUB": "sub_binary",
    "MUL": "mul_binary",
    "DIV": "div_binary",
    "RSUB": "rsub_binary",
    "POWER": "power_binary",
    "MAXIMUM": "binary_max",
    "MINIMUM": "binary_min",
    "WHERE_TST": "where",
    "WHERE_TTS": "where",
    "XLOGY": "xlogy",
}


def binary_functions(op: DeviceOperation, name: str) -> BinaryFunctions:
    """Return a binary operation's functions, by engine call or name."""
    if op.program is not None:
        functions: BinaryFunctions = op.program
        return functions
    if op.attributes.get("is_sfpu") != "true":
        if name in _FPU:
            return _FPU[name], (), (), ()
        if name in _COMPOSED:
            return _COMPOSED[name]
    return _SFPU_BINARY.get(name, name.lower()), (), (), ()


def _broadcast(operand: Operand, output: Operand) -> str:
    """Return an operand's broadcast within tiles.

    "row", "column", "scalar" or nothing.
    """
    row = operand.logical[-2] == 1 and output.logical[-2] > 1
    column = operand.logical[-1] == 1 and output.logical[-1] > 1
    return "scalar" if row and column else "row" if row else "column" if column else ""


def _uneven(operand: Operand) -> bool:
    """Return True if an operand's last shards are partial.

    The program uses pages then.
    """
    if operand.shard is None:
        return False
    height, width = operand.shard
    return operand.rows % height != 0 or operand.width % width != 0


def eltwise(op: DeviceOperation) -> Plan:
    """Return the plan of a unary, binary or ternary element-wise operation."""
    output = op.outputs[0]
    inputs = tuple(operand for operand in op.inputs if not _is_output(op, operand)) or op.inputs[:1]
    math = _math(op, inputs)
    shards = [operand for operand in (*inputs, output) if operand.local]
    # Shards are worked on where they lie if all operands have them, else pages go through the network.
    in_place = len(shards) == len(inputs) + 1 and not any(map(_uneven, shards))
    local = [in_place and operand.local for operand in inputs]
    cores = shards[-1].shard_cores if in_place and shards[-1].shard_cores else working_cores(op, output.tiles)
    scalar = op.kind.startswith("Binary") and len(inputs) == 1 and not op.kind.startswith("Unary")
    out = len(inputs) + scalar
    cbs: list[PlanCb] = [
        buffer(f"input {number}", operand, _pages(operand, cores) if local[number] else 2, borrowed=local[number])
        for number, operand in enumerate(inputs)
    ]
    if scalar:
        cbs.append(PlanCb("scalar", 1, tile_bytes_of(inputs[0]), inputs[0].dtype))
    own = in_place and output.local
    cbs.append(buffer("output", output, _pages(output, cores) if own else 2, borrowed=own))
    pack = tiles(("pack", tile_bytes_of(output), False))

    def reader(count: int) -> Steps:
        before = tuple(
            step
            for number in range(len(inputs))
            if local[number]
            for step in (reserve(number, count), push(number, count))
        )
        brought = [number for number in range(len(inputs)) if not local[number]]
        if not brought:
            return before
        body = [reserve(number) for number in brought]
        body += [read(inputs[number].place, 1, inputs[number].page_bytes) for number in brought]
        body.append(BARRIER)
        for number in brought:
            if len(inputs) > 1 and _broadcast(inputs[number], output) == "row":
                words = _WORDS_OF_A_ROW_FILL
                body += [("loads", words), ("stores", words), ("instructions", words)]
        body += [push(number) for number in brought]
        return (*before, loop(count, *body))

    def kernel(count: int) -> Steps:
        waits = [await_(number) for number in range(len(inputs))]
        pops = [pop(number) for number in range(len(inputs))]
        first = (await_(len(inputs)),) if scalar else ()
        return (tiles(("initialise",)), *first, loop(count, *waits, reserve(out), *math, pack, push(out), *pops))

    def writer(count: int) -> Steps:
        fill: Steps = ()
        if scalar:
            words = _WORDS_OF_A_FILL
            fill = (reserve(len(inputs)), ("stores", words), ("instructions", 2 * words), push(len(inputs)))
        if own:
            return (*fill, await_(out, count))
        return (*fill, loop(count, await_(out), write(output.place, 1, output.page_bytes), pop(out)), BARRIER)

    units = output.tiles if output.tiled else -(-output.rows * output.width // 1024)
    return per_unit(op, units, cores, reader, kernel, writer, cbs)


def _pages(operand: Operand, cores: int) -> int:
    return operand.shard_pages if operand.shard is not None else -(-operand.pages // cores)


def _is_output(op: DeviceOperation, operand: Operand) -> bool:
    """Return True for an input that is the preallocated result.

    Profiles list it last.
    """
    expected = {"Unary": 1, "BinaryNg": 2, "Binary": 2, "Ternary": 3, "Typecast": 1}.get(op.kind, len(op.inputs))
    return any(operand is extra for extra in op.inputs[expected:])

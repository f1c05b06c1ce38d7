"""Rows of recorded profiles as device operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ttnn.profiler.device_operation import DeviceOperation, attributes_of, box_of, cores_of, shard_of
from ttnn.profiler.operand import Operand, from_profile
from ttnn.profiler.plan import CARDS, Card

Row = Mapping[str, str]


def card_of(row: Row) -> Card:
    """Return a row's recording card.

    That of its source's name, else one of its generation.
    """
    for name in ("p300", "p150", "p100", "n150", "n300"):
        if name in row["source"]:
            return CARDS[name]
    return CARDS["p100" if row["arch"] == "blackhole" else "n150"]


def grids(table: Iterable[Row]) -> dict[str, tuple[int, int]]:
    """Return each source's grid: the smallest with all its rows' cores."""
    found: dict[str, tuple[int, int]] = {}
    for row in table:
        box = box_of(row["attributes"])
        if box is not None:
            known = found.get(row["source"], (1, 1))
            found[row["source"]] = (max(known[0], box[0]), max(known[1], box[1]))
    return found


def describe(row: Row, grid: tuple[int, int] | None = None) -> DeviceOperation:
    """Return the device operation of a row of `op_profiles.csv`.

    Args:
        row: The row.
        grid: Columns and rows of cores that the source used.
    """
    attributes = attributes_of(row["attributes"])
    text = next((attributes[name] for name in _PLACES if name in attributes), "")
    shard, named = shard_of(text), cores_of(text)
    cores = int(float(row["cores"] or 0))
    outputs = _operands(row, "output_", shard, named or cores)
    inputs = tuple(_with_shards(operand, outputs, cores) for operand in _operands(row, "input_", None, 0))
    return DeviceOperation(
        row["op"],
        card_of(row),
        inputs,
        outputs,
        row["fidelity"],
        cores,
        grid or box_of(attributes.get("worker_grid", "")) or box_of(text),
        attributes,
    )


_PLACES = ("output_mem_config", "memory_config", "output_memory_config", "memory_config_")


def _operands(row: Row, prefix: str, shard: tuple[int, int] | None, cores: int) -> tuple[Operand, ...]:
    names = sorted(name for name in row if name.startswith(prefix))
    return tuple(from_profile(row[name], shard, cores) for name in names if row[name])


def _with_shards(operand: Operand, outputs: tuple[Operand, ...], cores: int) -> Operand:
    """Return an input with shards.

    Those of a result of the same layout, else equal parts per core.
    """
    if not operand.sharded:
        return operand
    for output in outputs:
        if (output.memory, output.padded, output.buffer) == (operand.memory, operand.padded, operand.buffer):
            return replace(operand, shard=output.shard, shard_cores=output.shard_cores)
    count = max(cores, 1)
    tall, wide = operand.rows, operand.width
    if operand.memory == "HEIGHT_SHARDED":
        tall = -(-operand.rows // count)
        tall = -(-tall // 32) * 32 if operand.tiled else tall
    elif operand.memory == "WIDTH_SHARDED":
        wide = -(-operand.width // count)
        wide = -(-wide // 32) * 32 if operand.tiled else wide
    else:
        rows = next(n for n in range(int(count**0.5), 0, -1) if count % n == 0)
        tall, wide = -(-operand.rows // (count // rows)), -(-operand.width // rows)
        if operand.tiled:
            tall, wide = -(-tall // 32) * 32, -(-wide // 32) * 32
    return replace(operand, shard=(tall, wide), shard_cores=count)

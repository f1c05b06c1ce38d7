"""Binaries of 2024-09 made by hand, as tables."""

from __future__ import annotations

from typing import Any

import ttnn
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc
from ttnn.compiler.target.flatbuffer import system_desc
from ttnn.compiler.target.flatbuffer.binary import Binary

HOST, DRAM, L1 = "System", "DeviceDRAM", "DeviceL1"


class Tensors:
    """Makes references with numbers of their own."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(
        self,
        shape: tuple[int, ...],
        space: str = DRAM,
        data_type: str = "Float32",
        tiled: bool | None = None,
        memory_layout: str | None = None,
        grid: tuple[int, int] = (1, 1),
        shard: tuple[int, ...] | None = None,
    ) -> dict[str, Any]:
        self.number += 1
        tiled = space != HOST if tiled is None else tiled
        tile = {"y": 32, "x": 32} if tiled else {"y": 1, "x": 1}
        memory = {
            "shape": list(shard or shape),
            "tile_shape": tile,
            "data_type": data_type,
            "memory_space": space,
            "memory_layout": memory_layout or ("None" if space == HOST else "Interleaved"),
            "size": 4,
        }
        cores = [{"loc": {"y": 0, "x": 0}, "size": {"y": grid[0], "x": grid[1]}}]
        layout = {"stride": [1] * len(shape), "oob_val": "Undef", "core_range_set": cores, "memory_desc": memory}
        return {"global_id": self.number, "address": 0, "size": 0, "desc": {"shape": list(shape), "layout": layout}}


def operation(kind: str, table: dict[str, Any]) -> dict[str, Any]:
    return {"type_type": kind, "type": table, "debug_info": f'"ttnn.{kind}"()'}


DEVICE = {"global_id": 0}


def to_dram(tensors: Tensors, given: dict[str, Any], **want: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A device tensor with its transfers, as the pipeline writes them."""
    shape = tuple(given["desc"]["shape"])
    out = tensors(shape, **{"data_type": given["desc"]["layout"]["memory_desc"]["data_type"]} | want)
    config = {"tensor_memory_layout": "Interleaved", "buffer_type": "DRAM"}
    steps = [
        operation("ToLayoutOp", {"in": given, "layout": "Tile", "device": DEVICE, "out": out}),
        operation("ToDeviceOp", {"in": out, "device": DEVICE, "memcfg": config, "out": out}),
    ]
    return out, steps


def binary(
    operations: list[dict[str, Any]], inputs: list[dict[str, Any]], outputs: list[dict[str, Any]], name: str = "main"
) -> Binary:
    device = operation("GetDeviceOp", {"mesh": {"y": 1, "x": 1}, "chip_ids": [0], "out": DEVICE})
    program = {"name": name, "inputs": inputs, "outputs": outputs, "operations": [device, *operations]}
    return of_programs([program])


def of_programs(programs: list[dict[str, Any]], system: SystemDesc | None = None) -> Binary:
    values = {
        "version": system_desc.version_table(ttnn.__version__),
        "ttmlir_git_hash": "0",
        "system_desc": system_desc.to_table(system or SystemDesc.default(), "2024-09"),
        "programs": programs,
    }
    return Binary.parse(Binary("TTNN", "2024-09", values).to_bytes())


def pipeline(
    kind: str, table: dict[str, Any], inputs: list[dict[str, Any]], shape: tuple[int, ...], **out: Any
) -> Binary:
    """One operation as the pipeline writes it, with transfers.

    Inputs to the device, an empty output, the operation, back.

    In `table`, `IN0`, `IN1`, ... stand for the inputs on the device and `OUT` for the output.
    """
    tensors = Tensors()
    tensors.number = 1000
    placed, steps = [], []
    for given in inputs:
        moved, more = to_dram(tensors, given)
        placed.append(moved)
        steps += more
    result = tensors(shape, **out)
    data_type = result["desc"]["layout"]["memory_desc"]["data_type"]
    back = tensors(shape, HOST, data_type)
    empty = {"shape": list(shape), "dtype": data_type, "layout": "Tile", "device": DEVICE, "out": result}
    names = {f"IN{index}": one for index, one in enumerate(placed)} | {"OUT": result}

    def fill(value: Any) -> Any:
        if isinstance(value, list):
            return [fill(one) for one in value]
        return names.get(value, value) if isinstance(value, str) else value

    steps += [
        operation("EmptyOp", empty),
        operation(kind, {name: fill(value) for name, value in table.items()}),
        operation("ToMemoryConfigOp", {"in0": result, "device": DEVICE, "out": back}),
    ]
    return binary(steps, inputs, [back])

"""Tables of TTNN binaries of 2024-09: tensor descriptions, devices, output operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_flatbuffer.tables import BUFFERS, LAYOUTS, Program
from ttnn.compiler.dialects.attributes import (
    DeviceAttr,
    GridAttr,
    LayoutAttr,
    MemoryConfigAttr,
    ShapeAttr,
    TileType,
    data_type,
)
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.ttcore.affine import evaluate
from ttnn.compiler.dialects.ttcore.algebra import element_bytes, stride, tile_bytes
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, Operation, SSAValue, TensorType
from ttnn.compiler.target.flatbuffer.system_desc import DATA_TYPES
from ttnn.compiler.transforms.ttcore.system import device_of

__all__ = ["TtProgram", "core_ranges"]

_OOB: Final = {"undef": "Undef", "zero": "Zero", "one": "One", "inf": "Inf", "neginf": "NegInf"}
_SPACES: Final = {"system": "System", "mmio": "SystemMMIO", "dram": "DeviceDRAM", "l1": "DeviceL1"}
_LAYOUTS: Final = {**LAYOUTS, "none": "None", "single_bank": "SingleBank"}


def data_type_name(word: str) -> str:
    """Return a data type's 2024-09 name.

    It has no signed integers.
    """
    return "UInt32" if word == "si32" else DATA_TYPES[word]


def core_ranges(grid: GridAttr, device: DeviceAttr | None) -> list[dict[str, Any]]:
    """Return a tensor grid's rectangles of physical cores, chip-independent.

    Cores are joined to rows from left to right, equal rows to rectangles.
    """
    workers = device.grid.mapping if device is not None else None
    if workers is None or workers.num_dims != len(grid.shape):
        rows = math.prod(grid.shape[:-1])
        return [_rectangle(0, 0, rows, grid.shape[-1])]
    points = evaluate(workers, grid.shape).reshape(-1, 3)[:, 1:]
    cores = sorted({(int(y), int(x)) for y, x in points})
    runs: list[tuple[int, int, int]] = []
    for y, x in cores:
        if runs and runs[-1][0] == y and runs[-1][2] == x:
            runs[-1] = (y, runs[-1][1], x + 1)
        else:
            runs.append((y, x, x + 1))
    boxes: list[list[int]] = []
    for y, begin, end in runs:
        above = next((box for box in boxes if box[1] == y and box[2:] == [begin, end]), None)
        if above is not None:
            above[1] = y + 1
        else:
            boxes.append([y, y + 1, begin, end])
    return [_rectangle(top, left, bottom - top, right - left) for top, bottom, left, right in boxes]


def _rectangle(y: int, x: int, height: int, width: int) -> dict[str, Any]:
    return {"loc": {"y": y, "x": x}, "size": {"y": height, "x": width}}


class TtProgram(Program):
    """Tables of tensors and operations; aliases share numbers.

    Args:
        module: With the device.
    """

    def __init__(self, module: Module) -> None:
        super().__init__(module, "2024-09", [])
        self.device = device_of(module)

    def tensor(self, value: SSAValue, op: Operation, address: int = 0, size: int = 0) -> dict[str, Any]:
        """Return a value's reference, numbered at first use."""
        reference = super().tensor(value, op)
        if "address" not in reference:
            reference |= {"address": address, "size": size}
        return reference

    def alias(self, value: SSAValue, other: SSAValue) -> None:
        """Map a value to another's number.

        Results alias preallocated outputs.
        """
        self._tensors[value] = self._tensors[other]

    def description(self, kind: Attribute, op: Operation) -> dict[str, Any]:
        """Return the table `TensorDesc` of a type, one for equal types.

        Raises:
            CompileError: It is no tensor with a layout.
        """
        if kind not in self._descriptions:
            if not isinstance(kind, TensorType) or not isinstance(kind.encoding, LayoutAttr):
                raise self.error(op, "a tensor without layout has no binary form: run the backend pipeline first")
            shape = [int(size) for size in kind.get_shape()]
            layout = {
                "stride": list(stride(kind.encoding.linear, shape)),
                "oob_val": _OOB[kind.encoding.oob],
                "core_range_set": core_ranges(kind.encoding.grid, self.device),
                "memory_desc": self._memory_desc(kind.encoding),
            }
            self._descriptions[kind] = {"shape": shape, "layout": layout}
        return self._descriptions[kind]

    @staticmethod
    def _memory_desc(layout: LayoutAttr) -> dict[str, Any]:
        element = layout.element
        word = data_type(element)
        shape = [int(size) for size in layout.memref.get_shape()]
        tile = (element.height, element.width) if isinstance(element, TileType) else (1, 1)
        unit = tile_bytes(word, *tile) if isinstance(element, TileType) else element_bytes(word)
        return {
            "shape": shape,
            "tile_shape": {"y": tile[0], "x": tile[1]},
            "data_type": data_type_name(word),
            "memory_space": _SPACES[layout.space],
            "memory_layout": _LAYOUTS[layout.mem_layout],
            "size": math.prod(shape) * unit,
        }

    @property
    def special(self) -> Mapping[str, Callable[[Any, TableOp], dict[str, Any]]]:
        """Fields that operations fill otherwise, by their names."""
        return {"empty": TtProgram._empty, "get_device": TtProgram._get_device}

    def device_reference(self, op: TableOp) -> dict[str, Any] | None:
        """Return the table `DeviceRef` of an operation, or None."""
        return {"global_id": self._chips[0]} if op.operand("device") is not None else None

    @property
    def _chips(self) -> list[int]:
        return list(self.device.chip_ids) if self.device is not None and self.device.chip_ids else [0]

    def memory_config(self, op: TableOp) -> dict[str, Any] | None:
        """Return the table `MemoryConfigDesc` of an operation, or None."""
        config = op.get("memory_config")
        if not isinstance(config, MemoryConfigAttr):
            return None
        layout, buffer = _LAYOUTS[config.layout or "none"], BUFFERS[config.buffer.value]
        return {"tensor_memory_layout": layout, "buffer_type": buffer}

    def result(self, op: TableOp, index: int) -> dict[str, Any]:
        """Return the reference to a result or the output that it aliases."""
        for result, out in zip(op.results, op.outs, strict=False):
            self.tensor(out, op)
            self.alias(result, out)
        return super().result(op, index)

    def _get_device(self, op: TableOp) -> dict[str, Any]:
        del op
        mesh = {"y": 1, "x": len(self._chips)}
        return {"mesh": mesh, "chip_ids": self._chips, "out": {"global_id": self._chips[0]}}

    def _empty(self, op: TableOp) -> dict[str, Any]:
        shape, word = op.get("shape"), op.get("dtype")
        kind = op.results[0].type
        assert isinstance(kind, TensorType)
        sizes = shape.shape if isinstance(shape, ShapeAttr) else kind.get_shape()
        fields = {} if op.get("layout") else {"layout": "RowMajor"}
        return fields | {
            "shape": [int(size) for size in sizes],
            "dtype": data_type_name(word if isinstance(word, str) else data_type(kind.element_type)),
        }

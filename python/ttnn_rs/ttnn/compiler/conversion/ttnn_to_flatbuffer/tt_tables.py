"""Tables of a 2024-09 TTNN binary, from a `ttnn` module."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

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
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, Operation, SSAValue, TensorType
from ttnn.compiler.target.flatbuffer.system_desc import DATA_TYPES

__all__ = ["TtProgram", "core_ranges"]

_OOB: Final = {"undef": "Undef", "zero": "Zero", "one": "One", "inf": "Inf", "neginf": "NegInf"}
_SPACES: Final = {"system": "System", "mmio": "SystemMMIO", "dram": "DeviceDRAM", "l1": "DeviceL1"}
LAYOUTS: Final = {
    "none": "None",
    "interleaved": "Interleaved",
    "single_bank": "SingleBank",
    "height_sharded": "HeightSharded",
    "width_sharded": "WidthSharded",
    "block_sharded": "BlockSharded",
}
BUFFERS: Final = {
    "dram": "DRAM",
    "l1": "L1",
    "system_memory": "SystemMemory",
    "l1_small": "L1Small",
    "trace": "Trace",
}
TENSOR_LAYOUTS: Final = {"row_major": "RowMajor", "tile": "Tile", "invalid": "Invalid"}
_ELTWISE: Final = {
    "add": "Add",
    "multiply": "Multiply",
    "subtract": "Subtract",
    "relu": "Relu",
    "ge": "GreaterEqual",
    "sqrt": "Sqrt",
    "div": "Div",
    "sigmoid": "Sigmoid",
    "reciprocal": "Reciprocal",
    "exp": "Exp",
    "maximum": "Maximum",
    "abs": "Abs",
    "neg": "Neg",
    "rsqrt": "Rsqrt",
}
_REDUCTIONS: Final = {"sum": "Sum", "mean": "Mean", "max": "Max"}
#: Operations whose fields are named like their operands and attributes: member of the union, names of fields that
#: differ, name of the output.
_PLAIN: Final[dict[str, tuple[str, dict[str, str], str]]] = {
    "matmul": ("MatmulOp", {"a": "in0", "b": "in1"}, "out"),
    "embedding": ("EmbeddingOp", {}, "output"),
    "softmax": ("SoftmaxOp", {"input": "in"}, "out"),
    "transpose": ("TransposeOp", {"input": "in"}, "out"),
    "conv2d": ("Conv2dOp", {}, "out"),
    "concat": ("ConcatOp", {}, "out"),
    "reshape": ("ReshapeOp", {"input": "in"}, "out"),
    "max_pool2d": ("MaxPool2dOp", {"input": "in"}, "out"),
    "dealloc": ("DeallocOp", {"input": "in"}, ""),
    "from_device": ("FromDeviceOp", {"input": "in"}, "out"),
    "to_memory_config": ("ToMemoryConfigOp", {"input": "in0"}, "out"),
}


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


class TtProgram:
    """Tables of tensors and operations; aliases share numbers.

    Args:
        module: For diagnostics.
        device: The device of the module.
    """

    def __init__(self, module: Module, device: DeviceAttr | None) -> None:
        self.module = module
        self.device = device
        self._tensors: dict[SSAValue, dict[str, Any]] = {}
        self._descriptions: dict[Attribute, dict[str, Any]] = {}
        self._number = 0

    def error(self, op: Operation, message: str) -> CompileError:
        """Return the diagnostic of an operation that has no binary form."""
        return CompileError(self.module.error(op, message))

    def tensor(self, value: SSAValue, op: Operation, address: int = 0, size: int = 0) -> dict[str, Any]:
        """Return a value's reference, numbered at first use."""
        if value not in self._tensors:
            self._number += 1
            reference = {"global_id": self._number, "address": address, "size": size}
            self._tensors[value] = reference | {"desc": self.description(value.type, op)}
        return self._tensors[value]

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
            self._descriptions[kind] = {"shape": shape, "layout": self.layout(kind.encoding, shape)}
        return self._descriptions[kind]

    def layout(self, layout: LayoutAttr, shape: list[int]) -> dict[str, Any]:
        """Return the table `LayoutDesc`."""
        return {
            "stride": list(stride(layout.linear, shape)),
            "oob_val": _OOB[layout.oob],
            "core_range_set": core_ranges(layout.grid, self.device),
            "memory_desc": self.memory(layout),
        }

    def memory(self, layout: LayoutAttr) -> dict[str, Any]:
        """Return the table `MemoryDesc`."""
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
            "memory_layout": LAYOUTS[layout.mem_layout],
            "size": math.prod(shape) * unit,
        }

    def operation(self, op: Operation) -> dict[str, Any]:
        """Return member and table of an operation.

        Raises:
            CompileError: The operation has no binary form.
        """
        short = op.name.removeprefix("ttnn.")
        if not isinstance(op, TableOp) or not op.name.startswith("ttnn."):
            raise self.error(op, "has no form in a TTNN binary: lower the module with the backend pipeline first")
        make = getattr(self, f"_{short}", None)
        if make is not None:
            member, table = make(op)
        elif short in _ELTWISE:
            ins = [self.tensor(value, op) for value in op.inputs]
            member, table = "EltwiseOp", {"type": _ELTWISE[short], "ins": ins, "out": self._result(op)}
        elif short in _REDUCTIONS:
            table = {"type": _REDUCTIONS[short], "in": self.tensor(op.inputs[0], op), "out": self._result(op)}
            member, table = "ReductionOp", table | {"keep_dim": bool(op.get("keep_dim"))}
            if op.get("dim_arg") is not None:
                table["dim_arg"] = list(op.get("dim_arg"))
        elif short in _PLAIN:
            member, table = self._plain(op, *_PLAIN[short])
        else:
            raise self.error(op, "has no form in TTNN binaries of this version")
        return {"type_type": member, "type": table}

    def _result(self, op: TableOp) -> dict[str, Any]:
        """The result's reference: its aliased output's, or a new one."""
        for result, out in zip(op.results, op.outs, strict=False):
            self.tensor(out, op)
            self.alias(result, out)
        return self.tensor(op.results[0], op)

    def _device_reference(self) -> dict[str, int]:
        chips = self.device.chip_ids if self.device is not None else (0,)
        return {"global_id": chips[0] if chips else 0}

    def _plain(self, op: TableOp, member: str, names: dict[str, str], out: str) -> tuple[str, dict[str, Any]]:
        table: dict[str, Any] = {}
        for group in op.spec.operands:
            values = op.group(group.name)
            field = names.get(group.name, group.name)
            if group.name == "device":
                table["device"] = self._device_reference()
            elif group.kind == "*":
                table[field] = [self.tensor(value, op) for value in values]
            elif values:
                table[field] = self.tensor(values[0], op)
        for name in op.spec.attributes:
            value = op.get(name)
            if value is not None:
                table[name] = list(value) if isinstance(value, tuple) else value
        if out:
            table[out] = self._result(op)
        return member, table

    def _get_device(self, op: TableOp) -> tuple[str, dict[str, Any]]:
        chips = list(self.device.chip_ids) if self.device is not None else [0]
        mesh = {"y": 1, "x": len(chips)}
        return "GetDeviceOp", {"mesh": mesh, "chip_ids": chips, "out": self._device_reference()}

    def _to_layout(self, op: TableOp) -> tuple[str, dict[str, Any]]:
        table = {"in": self.tensor(op.inputs[0], op), "layout": TENSOR_LAYOUTS[op.get("layout")]}
        return "ToLayoutOp", table | {"device": self._device_reference(), "out": self._result(op)}

    def _to_device(self, op: TableOp) -> tuple[str, dict[str, Any]]:
        config = op.get("memory_config")
        table = {"in": self.tensor(op.inputs[0], op), "device": self._device_reference()}
        return "ToDeviceOp", table | {"memcfg": self.memory_config(config), "out": self._result(op)}

    @staticmethod
    def memory_config(config: MemoryConfigAttr) -> dict[str, str]:
        """Return the table `MemoryConfigDesc`."""
        return {
            "tensor_memory_layout": LAYOUTS[config.layout or "none"],
            "buffer_type": BUFFERS[config.buffer.value],
        }

    def _empty(self, op: TableOp) -> tuple[str, dict[str, Any]]:
        shape, word, config = op.get("shape"), op.get("dtype"), op.get("memory_config")
        kind = op.results[0].type
        assert isinstance(kind, TensorType)
        sizes = shape.shape if isinstance(shape, ShapeAttr) else kind.get_shape()
        table: dict[str, Any] = {
            "shape": [int(size) for size in sizes],
            "dtype": data_type_name(word if isinstance(word, str) else data_type(kind.element_type)),
            "layout": TENSOR_LAYOUTS[op.get("layout") or "row_major"],
        }
        if op.operand("device") is not None:
            table["device"] = self._device_reference()
        if isinstance(config, MemoryConfigAttr):
            table["memcfg"] = self.memory_config(config)
        return "EmptyOp", table | {"out": self._result(op)}

    def _full(self, op: TableOp) -> tuple[str, dict[str, Any]]:
        table = {"device": self._device_reference(), "fill_value": float(op.get("fillValue"))}
        return "FullOp", table | {"out": self._result(op)}

    def program(self, function: Any, print_operation: Any) -> dict[str, Any]:
        """Return the table `Program` of a function.

        Args:
            function: The function, of one block.
            print_operation: Returns the text of an operation.

        Raises:
            CompileError: It has several blocks, or an operation without binary form.
        """
        blocks = list(function.body.blocks)
        if len(blocks) != 1:
            raise self.error(function, "only functions of one block have a binary form")
        block = blocks[0]
        inputs = [self.tensor(argument, function) for argument in block.args]
        operations: list[dict[str, Any]] = []
        outputs: Iterable[SSAValue] = ()
        for op in block.ops:
            if op.name == "func.return":
                outputs = op.operands
                continue
            operations.append(self.operation(op) | {"debug_info": print_operation(op)})
        return {
            "name": function.sym_name.data,
            "inputs": inputs,
            "outputs": [self.tensor(value, function) for value in outputs],
            "operations": operations,
        }

"""Tables of TTNN binaries, made from modules of the dialect `ttnn`.

Fields of the schema lead: each is filled from the operand or attribute of its name. What is named otherwise, or is one
member of a family of operations, stands in the tables below.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ttnn.compiler.conversion.ttnn_to_calls.configurations import configuration_table
from ttnn.compiler.conversion.ttnn_to_calls.generic import generic_table
from ttnn.compiler.dialects.attributes import DeviceAttr, EnumAttr, ShapeAttr, TileType, TTNNLayoutAttr, data_type
from ttnn.compiler.dialects.enums import ENUMS
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.traces import is_trace_id
from ttnn.compiler.ir.attributes import DenseAttr, OpaqueDialectAttr, ResourceAttr, element_format
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import Attribute, FuncOp, Operation, SSAValue, StringAttr, TensorType, UnknownLoc
from ttnn.compiler.target.flatbuffer.schema import (
    Enum,
    Field,
    Scalar,
    Schema,
    String,
    Struct,
    Table,
    Type,
    Union,
    Vector,
)
from ttnn.compiler.target.flatbuffer.system_desc import DATA_TYPES
from ttnn.compiler.transforms.ttnn.const_eval_hoist import function_kind

__all__ = ["BUFFERS", "LAYOUTS", "Program"]

BUFFERS: Final = {"dram": "DRAM", "l1": "L1", "system_memory": "SystemMemory", "l1_small": "L1Small", "trace": "Trace"}
LAYOUTS: Final = {
    "interleaved": "Interleaved",
    "height_sharded": "HeightSharded",
    "width_sharded": "WidthSharded",
    "block_sharded": "BlockSharded",
}
#: Families: member of the union, the enumeration whose names are operations.
_FAMILIES: Final = {
    "EltwiseOp": "EltwiseOpType",
    "EltwiseUnaryOp": "EltwiseUnaryOpType",
    "EltwiseUnaryCompositeOp": "EltwiseUnaryCompositeOpType",
    "EltwiseBinaryOp": "EltwiseBinaryOpType",
    "EltwiseBinaryCompositeOp": "EltwiseBinaryCompositeOpType",
    "EltwiseBinaryCompositeScalarOp": "EltwiseBinaryCompositeScalarOpType",
    "EltwiseQuantizationOp": "EltwiseQuantizationOpType",
    "ExperimentalEltwiseBinaryBackwardOp": "ExperimentalEltwiseBinaryBackwardOpType",
    "ReductionOp": "ReductionOpType",
    "NamedFullOp": "NamedFullOpType",
    "Pool2dOp": "Pool2dOpType",
}
_ENUM_WORDS: Final = {
    "eq": "equal",
    "ne": "notequal",
    "ge": "greaterequal",
    "gt": "greaterthan",
    "le": "lessequal",
    "lt": "lessthan",
    "pow_tensor": "pow",
}
_ENUM_NAMES: Final = {"full_to_shard": "FullToShardShape", "shard_to_full": "ShardToFullShape"}
#: Operations whose table has another name; the others differ in capitals and underscores only.
_MEMBERS: Final = {
    "argmax": "ReductionArgMaxOp",
    "prod": "ReductionProdOp",
    "where": "EltwiseTernaryWhereOp",
    "embedding_bw": "EmbeddingBackwardOp",
    "slice_static": "SliceOp",
    "slice_dynamic": "SliceOp",
    "sdpa_bw": "SDPABackwardOp",
    "sdpa_fw": "SDPAForwardOp",
}
#: Operands and attributes whose field has another name.
_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "in": ("input", "input_tensor", "lhs"),
    "in0": ("input", "a"),
    "in1": ("b",),
    "src": ("src", "input"),
    "grad": ("lhs",),
    "in_grad": ("in_gradient",),
    "input": ("input", "rhs"),
    "dim_arg": ("dim_arg", "dim"),
    "dim": ("dim", "dim_arg"),
    "repeat_dims": ("repeat_dims", "repeat_dimensions"),
    "numeric_stable": ("numericStable", "numeric_stable"),
    "kv_input": ("kv_input_tensor",),
    "fill_value": ("fill_value", "fillValue"),
}
_OUTPUTS: Final = ("out", "result", "output")
_RESULTS: Final = {
    "q_out": 0,
    "k_out": 1,
    "v_out": 2,
    "result_indices": 1,
    "intermediates": 1,
    "grad_query": 0,
    "grad_key": 1,
    "grad_value": 2,
    "expert_indices": 0,
    "expert_weights": 1,
}
_MASKS: Final = ("none", "causal", "arbitrary")
#: Elements of constants.
_ARRAYS: Final[dict[str, Any]] = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "si32": np.int32,
    "u32": np.uint32,
    "u16": np.uint16,
    "u8": np.uint8,
    "i1": np.bool_,
}


def _plain_word(text: str) -> str:
    return text.replace("_", "").lower()


class Program:
    """Makes tables of tensors and operations of one version.

    Args:
        module: For diagnostics.
        version: Of the schema.
        functions: All functions; programs are numbered like them.
    """

    def __init__(self, module: Module, version: str, functions: list[FuncOp]) -> None:
        self.module = module
        self.schema = Schema.load(version)
        self.functions = {function.sym_name.data: index for index, function in enumerate(functions)}
        device = _device_of(module)
        #: The chips of the device, and their rows and columns.
        self.chips = list(device.chip_ids) if device is not None else [0]
        sizes = device.mesh_shape if device is not None else ()
        rows, columns = sizes if len(sizes) == 2 else (1, math.prod(sizes))
        self.mesh = {"y": rows, "x": columns}
        self._tensors: dict[SSAValue, dict[str, Any]] = {}
        self._descriptions: dict[Attribute, dict[str, Any]] = {}
        self._number = 0
        union = self.schema.types["tt.target.ttnn.OpType"]
        assert isinstance(union, Union)
        self.members: dict[str, Table] = {name: kind for name, kind in union.members if isinstance(kind, Table)}
        self._by_word = {_plain_word(name.removesuffix("Op")): name for name in self.members}
        self.families: dict[str, tuple[str, str]] = {}
        for member, enum in _FAMILIES.items():
            kind = self.schema.types.get(f"tt.target.ttnn.{enum}")
            if isinstance(kind, Enum) and member in self.members:
                self.families |= {_plain_word(name): (member, name) for name in kind.values}

    def error(self, op: Operation, message: str) -> CompileError:
        """Return the diagnostic of an operation that has no binary form."""
        return CompileError(self.module.error(op, message))

    def tensor(self, value: SSAValue, op: Operation) -> dict[str, Any]:
        """Return a value's reference, numbered at first use."""
        if value not in self._tensors:
            self._number += 1
            self._tensors[value] = {"global_id": self._number, "desc": self.description(value.type, op)}
        return self._tensors[value]

    def description(self, kind: Attribute, op: Operation) -> dict[str, Any]:
        """Return the table `TensorDesc` of a type, one for equal types.

        Raises:
            CompileError: It is no tensor with a layout of the library.
        """
        if kind not in self._descriptions:
            if is_trace_id(kind):
                self._descriptions[kind] = self._scalar()
                return self._descriptions[kind]
            if not isinstance(kind, TensorType):
                raise self.error(op, f"a value of type {attribute_text(kind)} has no form in TTNN binaries")
            if not isinstance(kind.encoding, TTNNLayoutAttr):
                raise self.error(op, "a tensor without layout has no binary form: run the backend pipeline first")
            if kind.encoding.dtype not in DATA_TYPES:
                raise self.error(op, f"data type {kind.encoding.dtype} has no form in TTNN binaries")
            shape = [int(size) for size in kind.get_shape()]
            desc: dict[str, Any] = {"shape": shape, "mesh_shape": [1, 1], "layout": self.layout(kind.encoding)}
            table = self.schema.types["tt.target.ttnn.TensorDesc"]
            assert isinstance(table, Table)
            if "local_shape" in table.by_name:
                desc |= {"shard_status": "Unsharded", "local_shape": shape}
            self._descriptions[kind] = desc
        return self._descriptions[kind]

    @staticmethod
    def _scalar() -> dict[str, Any]:
        """A trace id's table `TensorDesc`: one number on the host."""
        memory = {"storage_type": "Host", "tile_shape": {"y": 1, "x": 1}, "data_type": "UInt32"}
        return {"shape": [], "mesh_shape": [1, 1], "layout": {"oob_val": "Undef", "memory_desc": memory}}

    def layout(self, layout: TTNNLayoutAttr) -> dict[str, Any]:
        """Return the table `LayoutDesc`."""
        element = layout.memref.element_type
        tile = (element.height, element.width) if isinstance(element, TileType) else (1, 1)
        word = layout.dtype
        memory = self.memory(layout)
        desc: dict[str, Any] = {
            "storage_type": "Host" if memory is None else "Device",
            "tile_shape": {"y": tile[0], "x": tile[1]},
            "data_type": DATA_TYPES[word],
        }
        if memory is not None:
            desc["memory_config"] = memory
        return {"oob_val": "Undef", "memory_desc": desc}

    def memory(self, layout: TTNNLayoutAttr) -> dict[str, Any] | None:
        """Return the table `MemoryConfig` of a layout, or `None` on the host."""
        if layout.space == "system_memory" or layout.mem_layout is None:
            return None
        config: dict[str, Any] = {
            "tensor_memory_layout": LAYOUTS[layout.mem_layout],
            "buffer_type": BUFFERS[layout.space],
        }
        if "sharded" in layout.mem_layout:
            config["shard_spec"] = self.shard_spec(layout)
        return config

    @staticmethod
    def shard_spec(layout: TTNNLayoutAttr) -> dict[str, Any]:
        """Return the table `ShardSpec`.

        Cores from the layout's ranges, or row by row from the first core.
        """
        element = layout.memref.element_type
        height, width = (element.height, element.width) if isinstance(element, TileType) else (1, 1)
        rows, columns = [int(size) for size in layout.memref.get_shape()][-2:]
        text = "".join(part if isinstance(part, str) else str(part) for part in layout.rest)
        corners = [(int(x), int(y)) for x, y in re.findall(r"\((\d+),\s*(\d+)\)", text)]
        if not corners:
            down, across = math.prod(layout.grid.shape[:-1]), layout.grid.shape[-1]
            if down > 8 or across > 8:
                cores = down * across
                full, rest = divmod(cores, 8)
                corners = [(0, 0), (7, full - 1)] if full else []
                corners += [(0, full), (rest - 1, full)] if rest else []
            else:
                corners = [(0, 0), (across - 1, down - 1)]
        ranges = [
            {"start_coord": {"x": a[0], "y": a[1]}, "end_coord": {"x": b[0], "y": b[1]}}
            for a, b in zip(corners[::2], corners[1::2], strict=True)
        ]
        shape = [rows * height, columns * width]
        return {"core_range_set": {"core_ranges": ranges}, "shape": shape, "orientation": "RowMajor"}

    def operation(self, op: Operation) -> dict[str, Any]:
        """Return member and table of an operation.

        Raises:
            CompileError: The operation has no binary form.
        """
        if op.name in ("func.call", "ttcore.load_cached") and "FuncCallOp" in self.members:
            return self._call(op)
        if not isinstance(op, TableOp) or not op.name.startswith("ttnn."):
            raise self.error(op, "has no form in a TTNN binary: lower the module with the backend pipeline first")
        short = op.written_name.removeprefix("ttnn.")
        found = self.families.get(_plain_word(_ENUM_WORDS.get(short, short)))
        fixed: dict[str, Any] = {}
        if found is not None:
            member, fixed["type"] = found
        else:
            member = _MEMBERS.get(short) or self._by_word.get(_plain_word(short), "")
        if short == "tt_lang_op":
            raise self.error(op, "cannot be lowered without the compiler of tt-lang, which writes its kernels")
        if member not in self.members:
            raise self.error(op, "has no form in TTNN binaries of this version")
        special = self.special.get(short)
        if special is not None:
            fixed |= special(self, op)
        return {"type_type": member, "type": self.fill(self.members[member], op, fixed)}

    @property
    def special(self) -> Mapping[str, Callable[[Any, TableOp], dict[str, Any]]]:
        """Fields that operations fill otherwise, by their names."""
        return _SPECIAL

    def _call(self, op: Operation) -> dict[str, Any]:
        name = getattr(op.properties.get("callee"), "string_value", lambda: "")()
        if name not in self.functions:
            raise self.error(op, f"calls {name}, which is no function of the module")
        inputs = [self.tensor(value, op) for value in op.operands]
        outputs = [self.tensor(value, op) for value in op.results]
        if op.name == "func.call":
            table = {"program_id": self.functions[name], "inputs": inputs, "outputs": outputs}
            return {"type_type": "FuncCallOp", "type": table}
        table = {"callee_name": name, "program_idx": self.functions[name], "inputs": inputs, "outputs": outputs}
        return {"type_type": "LoadCachedOp", "type": table}

    def fill(self, table: Table, op: TableOp, fixed: dict[str, Any]) -> dict[str, Any]:
        """Return a table filled from operands and attributes by name."""
        unions = {f"{field.name}_type" for field in table.fields if isinstance(field.type, Union)}
        values = {name: value for name, value in fixed.items() if name in table.by_name or name in unions}
        for field in table.fields:
            if field.name in values:
                continue
            value = self.value(field, op)
            if value is not None:
                values[field.name] = value
        return values

    def value(self, field: Field, op: TableOp) -> Any:
        """Return the value of a field, or None."""
        name, kind = field.name, field.type
        if isinstance(kind, Table):
            short = kind.name.rpartition(".")[2]
            if short == "TensorRef":
                return self._reference(name, op)
            if short == "DeviceRef":
                return self.device_reference(op)
            if short.startswith("MemoryConfig"):
                return self.memory_config(op)
            return self._attribute(name, kind, op)
        if isinstance(kind, Vector) and isinstance(kind.element, Table):
            if kind.element.name.endswith(".TensorRef"):
                values = op.results if name == "outputs" else op.inputs
                return [self.tensor(value, op) for value in values]
            return None
        if isinstance(kind, Union):
            return None
        found = self._attribute(name, kind, op)
        layout = _result_layout(op)
        if found is None and layout is not None:
            if name in ("dtype", "output_dtype"):
                return DATA_TYPES[layout.dtype]
            if name == "layout":
                return "Tile" if layout.tiled else "RowMajor"
        return found

    def device_reference(self, op: TableOp) -> dict[str, Any] | None:
        """Return the table `DeviceRef` of an operation, or None."""
        del op
        return {"global_id": 0}

    def memory_config(self, op: TableOp) -> dict[str, Any] | None:
        """Return the memory configuration of an operation's result, or None."""
        layout = _result_layout(op)
        return None if layout is None else self.memory(layout)

    def result(self, op: TableOp, index: int) -> dict[str, Any]:
        """Return the reference to a result."""
        return self.tensor(op.results[index], op)

    def _reference(self, name: str, op: TableOp) -> dict[str, Any] | None:
        groups = {group.written or group.name: group.name for group in op.text.inputs}
        for candidate in _NAMES.get(name, (name,)):
            if candidate in groups:
                value = op.operand(groups[candidate])
                return None if value is None else self.tensor(value, op)
        index = 0 if name in _OUTPUTS else _RESULTS.get(name)
        if index is not None and index < len(op.results):
            return self.result(op, index)
        return None

    def _attribute(self, name: str, kind: Type, op: TableOp) -> Any:
        for candidate in _NAMES.get(name, (name,)):
            if candidate in op.inherent:
                inside = op.text.renamed.get(candidate, candidate)
                attribute = op.attribute(inside)
                if attribute is not None:
                    return self.convert(kind, attribute, op.get(inside), op)
        return None

    def convert(self, kind: Type, attribute: Attribute, value: Any, op: TableOp) -> Any:
        """Return an attribute as the value of a field.

        Raises:
            CompileError: It has no such form.
        """
        if isinstance(attribute, ShapeAttr):
            sizes = [int(size) for size in attribute.shape]
            return {"y": sizes[0], "x": sizes[-1]} if isinstance(kind, Struct) else sizes
        if isinstance(kind, Enum):
            return self.enum(kind, value if isinstance(value, str) else attribute, op)
        if isinstance(kind, String) and isinstance(value, str):
            return value
        if isinstance(kind, Vector) and isinstance(attribute, DenseAttr):
            return [int(one) for one in np.broadcast_to(attribute.elements(), math.prod(attribute.shape))]
        if isinstance(kind, Vector) and isinstance(value, tuple | list):
            return [int(one) for one in value]
        if isinstance(kind, Vector) and isinstance(value, int):
            return [value]
        if isinstance(kind, Scalar):
            if isinstance(value, tuple) and len(value) == 1:
                value = value[0]
            if isinstance(attribute, EnumAttr) and attribute.enum == "ttcore.reduce_type":
                # The schema has the number of the word.
                value = ENUMS[attribute.enum].index(attribute.value)
            if isinstance(value, int | float):
                return bool(value) if kind.code == "?" else float(value) if kind.code in "fd" else int(value)
        if isinstance(kind, Table) and isinstance(attribute, OpaqueDialectAttr):
            return self._configuration(kind, attribute, op)
        raise self.error(op, f"attribute {attribute} has no form in TTNN binaries")

    def enum(self, kind: Enum, value: Any, op: TableOp) -> str:
        """Return the name of an enumeration for a word of an attribute."""
        word = value.value if isinstance(value, EnumAttr) else str(value)
        if word in DATA_TYPES and DATA_TYPES[word] in kind.values:
            return DATA_TYPES[word]
        for name in kind.values:
            if _plain_word(name) == _plain_word(_ENUM_NAMES.get(word, word)):
                return name
        raise self.error(op, f"{word} has no name in {kind.name} of TTNN binaries")

    def _configuration(self, kind: Table, attribute: OpaqueDialectAttr, op: TableOp) -> dict[str, Any]:
        """The table of a configuration."""
        try:
            return configuration_table(kind, str(attribute), lambda enum, word: self.enum(enum, word, op))
        except ValueError as error:
            raise self.error(op, f"'{error}' of {attribute.mnemonic} has no form in TTNN binaries") from None

    def data_type(self, word: str, op: Operation) -> str:
        """Return the name of a data type in binaries."""
        if word not in DATA_TYPES:
            raise self.error(op, f"data type {word} has no form in TTNN binaries")
        return DATA_TYPES[word]

    def program_config(self, op: TableOp) -> dict[str, Any]:
        """Return a matmul's program configuration member and table, or empty.

        Raises:
            CompileError: A part of it has no form in binaries.
        """
        attribute = op.attribute("matmul_program_config")
        if not isinstance(attribute, OpaqueDialectAttr):
            return {}
        union = self.schema.types["tt.target.ttnn.MatmulProgramConfig"]
        assert isinstance(union, Union)
        word = _plain_word(attribute.mnemonic.partition(".")[2])
        for member, kind in union.members:
            if _plain_word(member) == word and isinstance(kind, Table):
                table = self._configuration(kind, attribute, op)
                return {"matmul_program_config_type": member, "matmul_program_config": table}
        raise self.error(op, f"{attribute.mnemonic} has no form in TTNN binaries")

    def _location(self, op: Operation) -> dict[str, str]:
        """Return the field of a known location, where the version has it."""
        kind = self.schema.types["tt.target.ttnn.Operation"]
        assert isinstance(kind, Table)
        if "loc_info" not in kind.by_name or isinstance(op.location, UnknownLoc):
            return {}
        return {"loc_info": attribute_text(op.location)}

    def program(self, function: FuncOp, print_operation: Callable[[Operation], str]) -> dict[str, Any]:
        """Return the table `Program` of a function.

        Raises:
            CompileError: It has several blocks, or an operation without binary form.
        """
        blocks = list(function.body.blocks)
        if len(blocks) != 1:
            raise self.error(function, "only functions of one block have a binary form")
        inputs = [self.tensor(argument, function) for argument in blocks[0].args]
        operations: list[dict[str, Any]] = []
        outputs: list[dict[str, Any]] = []
        for op in blocks[0].ops:
            if op.name == "func.return":
                outputs = [self.tensor(value, op) for value in op.operands]
                continue
            operations.append(self.operation(op) | {"debug_info": print_operation(op)} | self._location(op))
        visibility = function.properties.get("sym_visibility")
        private = isinstance(visibility, StringAttr) and visibility.data == "private"
        table: dict[str, Any] = {
            "name": function.sym_name.data,
            "inputs": inputs,
            "outputs": outputs,
            "operations": operations,
            "private": private or function_kind(function) == "const_eval",
            "mesh_shape": self.mesh,
        }
        kind = self.schema.types["tt.target.ttnn.Program"]
        assert isinstance(kind, Table)
        return {name: value for name, value in table.items() if name in kind.by_name}


def _device_of(module: Module) -> DeviceAttr | None:
    """Return the registered device of a module, or None."""
    registered = next((op for op in module.op.walk() if op.name == "ttcore.device"), None)
    attribute = registered.properties.get("device_attr") if registered is not None else None
    return attribute if isinstance(attribute, DeviceAttr) else None


def _result_layout(op: Operation) -> TTNNLayoutAttr | None:
    """The layout of the first `ttnn` tensor result."""
    for result in op.results:
        if isinstance(result.type, TensorType) and isinstance(result.type.encoding, TTNNLayoutAttr):
            return result.type.encoding
    return None


def _number(value: Any) -> dict[str, Any]:
    """Member and value of a union of numbers."""
    return {"value": value}


def _number_member(value: Any) -> str:
    return "FP" if isinstance(value, float) else "I32"


def _full(made: Program, op: TableOp) -> dict[str, Any]:
    value = op.get("fill_value")
    return {"fill_value_type": _number_member(value), "fill_value": _number(value)}


def _clamp(made: Program, op: TableOp) -> dict[str, Any]:
    low, high = op.get("min"), op.get("max")
    table = made.schema.types["tt.target.ttnn.ClampScalarOpParams"]
    assert isinstance(table, Table)
    params: dict[str, Any] = {"min": float(low), "max": float(high)}
    if isinstance(table.by_name["min"].type, Union):
        params = {"min_type": _number_member(low), "min": _number(low), "max_type": _number_member(high)}
        params["max"] = _number(high)
    return {"params_type": "ClampScalarOpParams", "params": params}


def _clamp_tensor(made: Program, op: TableOp) -> dict[str, Any]:
    ends = {name: made.tensor(op.group(name)[0], op) for name in ("min", "max")}
    return {"params_type": "ClampTensorOpParams", "params": ends}


def _leaky_relu(made: Program, op: TableOp) -> dict[str, Any]:
    return {"params_type": "EltwiseOpWithFloatParams", "params": {"parameter": float(op.get("parameter"))}}


def _pow_scalar(made: Program, op: TableOp) -> dict[str, Any]:
    value = op.get("rhs")
    integer = "I32" if "tt.target.ttnn.NumberType" in made.schema.types else "UI32"
    return {"rhs_type": "FP" if isinstance(value, float) else integer, "rhs": _number(value)}


def _slice_static(made: Program, op: TableOp) -> dict[str, Any]:
    ends = {name: list(op.get(name)) for name in ("begins", "ends")}
    return {"type": "SliceStaticOp", "params_type": "SliceStaticOpParams", "params": ends}


def _slice_dynamic(made: Program, op: TableOp) -> dict[str, Any]:
    ends = {name: made.tensor(op.group(name)[0], op) for name in ("begins", "ends")}
    return {"type": "SliceDynamicOp", "params_type": "SliceDynamicOpParams", "params": ends}


def _avg_pool(made: Program, op: TableOp) -> dict[str, Any]:
    counted = op.get("count_include_pad")
    params = {"count_include_pad": True if counted is None else bool(counted)}
    return {"extra_params_type": "AvgPool2dExtraParams", "extra_params": params}


def _max_pool(made: Program, op: TableOp) -> dict[str, Any]:
    return {"extra_params_type": "MaxPool2dExtraParams", "extra_params": {}}


def _parameter(made: Program, op: TableOp, name: str) -> dict[str, Any]:
    """Member and value of a scale or zero point.

    A number if the tensor has one element, else the tensor.

    Raises:
        CompileError: A tensor of one element whose value the text does not say.
    """
    value = op.operand(name)
    assert value is not None
    inner = "scale" if name.endswith("scale") else "zero_point"
    word = "Scale" if inner == "scale" else "ZeroPoint"
    kind = value.type
    assert isinstance(kind, TensorType)
    if math.prod(kind.get_shape()) != 1:
        return {f"{name}_type": f"PerAxis{word}", name: {inner: made.tensor(value, op)}}
    number = _constant_number(value)
    if number is None:
        raise made.error(op, f"{name} of one element must be a constant")
    return {f"{name}_type": f"PerTensor{word}", name: {inner: float(number) if inner == "scale" else int(number)}}


def _constant_number(value: SSAValue) -> float | int | None:
    """The uniform value of `full` or a constant.

    Looks through changes of layout and type.
    """
    owner = value.owner
    while isinstance(owner, TableOp) and owner.written_name.removeprefix("ttnn.") in _CARRY:
        owner = owner.operands[0].owner
    if not isinstance(owner, TableOp):
        return None
    if owner.name == "ttcore.load_cached":
        made = _returned(owner, value)
        return None if made is None else _constant_number(made)
    if owner.name == "ttnn.full":
        number: float | int = owner.get("fill_value")
        return number
    if owner.name in ("ttnn.zeros", "ttnn.ones"):
        return int(owner.name == "ttnn.ones")
    constant = owner.attribute("value") if owner.name == "ttnn.constant" else None
    return constant.elements()[0] if isinstance(constant, DenseAttr) else None


def _returned(call: TableOp, value: SSAValue) -> SSAValue | None:
    """Return the value that the constant function returns for a cached value."""
    function, name = call.parent_op(), call.get("callee")
    module = function.parent_op() if function is not None else None
    for one in module.walk() if module is not None else ():
        if isinstance(one, FuncOp) and one.sym_name.data == name and one.body.blocks.last is not None:
            last = one.body.blocks.last.last_op
            index = next(i for i, result in enumerate(call.results) if result is value)
            return last.operands[index] if last is not None and index < len(last.operands) else None
    return None


_CARRY: Final = ("to_layout", "to_device", "from_device", "to_memory_config", "typecast", "reshape", "to_dtype")


def _quantization(*names: str) -> Callable[[Program, TableOp], dict[str, Any]]:
    def fixed(made: Program, op: TableOp) -> dict[str, Any]:
        params: dict[str, Any] = {}
        for name in names:
            params |= _parameter(made, op, name)
        member = "QuantizeDequantizeOpParams" if len(names) == 2 else "RequantizeOpParams"
        return {"params_type": member, "params": params}

    return fixed


def _upsample(made: Program, op: TableOp) -> dict[str, Any]:
    scale = op.get("scale_factor")
    if isinstance(scale, tuple):
        return {"scale_factor_type": "NonUniformScale2D", "scale_factor": {"scale": list(scale)}}
    return {"scale_factor_type": "UniformScale2D", "scale_factor": {"scale": int(scale)}}


def _resource(made: Program, op: TableOp, value: ResourceAttr) -> NDArray[Any]:
    """The elements of a resource constant.

    They follow four bytes with their alignment.

    Raises:
        CompileError: There are no such bytes, or not as many as the constant has elements.
    """
    kind = value.type
    assert isinstance(kind, TensorType)
    name = element_format(kind.element_type)
    data = made.module.resources.get("builtin", {}).get(value.key)
    if data is None or name is None:
        raise made.error(op, f"the file has no bytes for the resource {value.key!r} of this type")
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    count = math.prod(kind.get_shape())
    if len(data) != 4 + count * dtype.itemsize:
        words = f"resource {value.key!r} has {max(len(data) - 4, 0)} bytes, its type needs {count * dtype.itemsize}"
        raise made.error(op, words)
    return np.frombuffer(data, dtype, offset=4).reshape(tuple(kind.get_shape()))


def _constant(made: Program, op: TableOp) -> dict[str, Any]:
    value = op.attribute("value")
    if isinstance(value, ResourceAttr):
        array = _resource(made, op, value)
    elif isinstance(value, DenseAttr):
        array = value.to_numpy()
    else:
        raise made.error(op, "only dense constants have a form in TTNN binaries")
    kind = op.results[0].type
    assert isinstance(kind, TensorType)
    word = data_type(kind.element_type)
    stored = _ARRAYS.get(word)
    if stored is None:
        raise made.error(op, f"constants of {word} have no form in TTNN binaries")
    data = array.astype(stored).tobytes()
    return {"input": data, "data": data, "input_dtype": DATA_TYPES[word]}


def _begin_trace(made: Program, op: TableOp) -> dict[str, Any]:
    return {"trace_id": made.tensor(op.results[0], op)}


def _trace(made: Program, op: TableOp) -> dict[str, Any]:
    if op.group("semaphore_inputs"):
        raise made.error(op, "has semaphores, which TTNN binaries cannot represent")
    programs = {
        name.replace("callee", "program_id"): made.functions[op.get(name)]
        for name in ("allocate_slots_callee", "capture_callee", "execute_callee")
        if name in op.text.attributes
    }
    return programs | {"inputs": [made.tensor(value, op) for value in op.group("inputs")]}


def _product(made: Program, op: TableOp) -> dict[str, Any]:
    return made.program_config(op)


def _mask_type(made: Program, op: TableOp) -> dict[str, Any]:
    """A mask's kind as the number of its word."""
    attribute = op.attribute("mask_type")
    word = "none" if attribute is None else re.sub(r".*<|>.*", "", str(attribute))
    if word not in _MASKS:
        raise made.error(op, f"mask_type is one of {', '.join(_MASKS)}, not {word}")
    return {"mask_type": _MASKS.index(word)}


def _get_device(made: Program, op: TableOp) -> dict[str, Any]:
    mesh, offset = _sizes(op, "mesh_shape", (1, 1)), _sizes(op, "mesh_offset", (0, 0))
    return {"mesh": mesh, "offset": offset, "chip_ids": made.chips, "out": {"global_id": 0}}


def _sizes(op: TableOp, name: str, default: tuple[int, int]) -> dict[str, int]:
    """Return the struct `Dim2d` of an attribute.

    An older spelling is kept as text.
    """
    attribute = op.properties.get(name)
    found = re.search(r"(\d+)x(\d+)", attribute_text(attribute)) if attribute is not None else None
    y, x = (int(found[1]), int(found[2])) if found is not None else default
    return {"y": y, "x": x}


def _distributed(made: Program, op: TableOp) -> dict[str, Any]:
    """A mapper or composer with its mesh shape."""
    name = "mapper_config" if "mapper_config" in op.text.attributes else "composer_config"
    body, _, override = str(op.attribute(name)).partition("mesh_shape_override")
    table: dict[str, Any] = {"mesh_shape_override": [int(one) for one in re.findall(r"(\d+)(?:\s*:\s*ui32)", override)]}
    if name == "mapper_config":
        found = re.findall(r"<\s*(shard|replicate)(?:\s*,\s*(-?\d+)(?:\s*:\s*i32)?)?\s*>", body)
        table["placements"] = [{"type": word.capitalize(), "dim": int(dim or -1)} for word, dim in found]
    else:
        table["dims"] = [int(one) for one in re.findall(r"(-?\d+)(?:\s*:\s*i32)", body)]
    return {name: table}


_SPECIAL: Final[dict[str, Callable[[Program, TableOp], dict[str, Any]]]] = {
    "avg_pool2d": _avg_pool,
    "begin_trace_capture": _begin_trace,
    "capture_or_execute_trace": _trace,
    "clamp_scalar": _clamp,
    "clamp_tensor": _clamp_tensor,
    "constant": _constant,
    "generic": generic_table,
    "dequantize": _quantization("scale", "zero_point"),
    "full": _full,
    "aggregate_tensor": _distributed,
    "distribute_tensor": _distributed,
    "get_device": _get_device,
    "leaky_relu": _leaky_relu,
    "linear": _product,
    "matmul": _product,
    "max_pool2d": _max_pool,
    "pow_scalar": _pow_scalar,
    "quantize": _quantization("scale", "zero_point"),
    "sdpa_bw": _mask_type,
    "sdpa_fw": _mask_type,
    "requantize": _quantization("in_scale", "in_zero_point", "out_scale", "out_zero_point"),
    "slice_dynamic": _slice_dynamic,
    "slice_static": _slice_static,
    "upsample": _upsample,
}

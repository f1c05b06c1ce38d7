"""`convert-ttkernel-to-emitc`: device kernel API calls as C++ statements.

They are in the dialect `emitc`.
In 2024-09 kernels are also regions of dispatches, with circular buffers as arguments.
In 2026-08 circular buffers and the NoC are objects with methods; of the latter only barriers are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.features import DIALECT_TT, KERNEL_OBJECTS
from ttnn.compiler.ir.attributes import OpaqueDialectAttr, OpaqueDialectType
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.opaque import opaque, opaque_type
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.target_text import cpp_string
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    FloatAttr,
    FuncOp,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    Operation,
    Region,
    ReturnOp,
    SSAValue,
    StringAttr,
    UnitAttr,
)
from ttnn.compiler.target.cpp.emitc import emitc_kernel
from ttnn.compiler.target.cpp.headers import THREAD, headers_of, thread_of
from ttnn.compiler.transforms.base import erase, insert_before, replace, update_function_type

__all__ = ["cb_port", "region_source", "run"]


_SIZE: Final = OpaqueDialectType("emitc.size_t", ())
_CB: Final = opaque_type("emitc", "::tt::CB")
_CB_PORT: Final = re.compile(r"!ttkernel\.cb<(cb_[a-z]+)(\d+),")
#: Ports of 2024-09 in the order of their numbers, eight of each kind, and their names in C++.
_PORTS: Final = {"cb_in": "c_in", "cb_dfl": "dataflow", "cb_out": "c_out", "cb_int": "c_intermed"}
#: What C++ has for types of kernels, by their names.
_TYPES: Final[dict[str, Attribute]] = {
    "cb": _CB,
    "noc_addr": IntegerType(64),
    "semaphore": IntegerType(32),
    "local_semaphore": IntegerType(32),
    "l1_addr": IntegerType(32),
    "DataFormat": opaque_type("emitc", "DataFormat"),
    "interleaved_addr_gen_fast": opaque_type("emitc", "InterleavedAddrGenFast<true>"),
    "TensorAccessorArgs": opaque_type("emitc", "TensorAccessorArgs"),
    "TensorAccessor": opaque_type("emitc", "TensorAccessor"),
}
#: Template arguments of calls.
_TEMPLATES: Final = {
    "get_arg_val": "uint32_t",
    "get_common_arg_val": "uint32_t",
    "get_noc_addr_from_bank_id": "true",
}
#: Integer operations of MLIR that C++ has.
_ARITHMETIC: Final = {
    "arith.addi": "add",
    "arith.andi": "bitwise_and",
    "arith.divui": "div",
    "arith.muli": "mul",
    "arith.ori": "bitwise_or",
    "arith.remui": "rem",
    "arith.shli": "bitwise_left_shift",
    "arith.shrui": "bitwise_right_shift",
    "arith.subi": "sub",
    "arith.xori": "bitwise_xor",
}
_CASTS: Final = ("arith.extsi", "arith.extui", "arith.index_cast", "arith.index_cast_ui", "arith.trunci")
#: Methods of circular buffers of 2026-08 by the call of the older ones.
_METHODS: Final = {
    "cb_pop_front": "pop_front",
    "cb_push_back": "push_back",
    "cb_reserve_back": "reserve_back",
    "cb_wait_front": "wait_front",
}

#: Barriers of the NoC of 2026-08 by the call of the older ones.
_BARRIERS: Final = {
    "noc_async_atomic_barrier": "async_atomic_barrier",
    "noc_async_read_barrier": "async_read_barrier",
    "noc_async_write_barrier": "async_write_barrier",
}


def run(module: Module) -> None:
    """Convert the kernels of a module.

    Kernels are functions with a thread, in 2024-09 those with operations of `ttkernel`.

    Raises:
        CompileError: An operation has no form in C++.
    """
    for function in module.functions():
        operations = [op for block in function.body.blocks for op in block.ops] if DIALECT_TT.of(module.version) else []
        if THREAD in function.attributes or any(op.name.startswith("ttkernel.") for op in operations):
            _Kernel(module, function).convert()


def region_source(module: Module, region: Region, thread: str) -> str:
    """Return the C++ source of a copy of a dispatched region.

    Args:
        module: Has the places of operations for diagnostics.
        region: Arguments are circular buffers.
        thread: "compute" or "noc".

    Raises:
        CompileError: An operation has no form in C++.
    """
    body = region.clone()
    module.places |= {
        copy: module.places[op] for copy, op in zip(body.walk(), region.walk(), strict=True) if op in module.places
    }
    function = FuncOp("kernel_main", FunctionType.from_lists([one.type for one in body.blocks[0].args], []), body)
    function.attributes[THREAD] = OpaqueDialectAttr(THREAD, (f"<{thread}>",))
    _Kernel(module, function).convert()
    return emitc_kernel(module, function, titled=False)


def cb_port(kind: object) -> int | None:
    """Return the port of a circular buffer type of 2024-09, or None."""
    found = _CB_PORT.match(str(kind))
    return list(_PORTS).index(found[1]) * 8 + int(found[2]) if found and found[1] in _PORTS else None


class _Kernel:
    """A kernel that is converted, operation by operation."""

    def __init__(self, module: Module, function: FuncOp) -> None:
        self._module = module
        self._function = function
        self._buffers: dict[SSAValue, str] = {}

    def convert(self) -> None:
        """Replace the operations."""
        if len(self._function.body.blocks) != 1:
            raise CompileError(self._module.error(self._function, "only kernels of one block have a form in C++"))
        self.ports()
        for op in list(self._function.body.walk()):
            if op is self._function or op.name.startswith("emitc.") or op.name == "func.return":
                continue
            change = _CHANGES.get(op.name)
            if change is not None:
                change(self, op)
            elif op.name in _ARITHMETIC:
                kind = self.type(op.results[0].type, op)
                replace(op, self.add(op, _ARITHMETIC[op.name], list(op.operands), [kind]).results)
            elif op.name in _CASTS:
                replace(op, self.add(op, "cast", list(op.operands), [self.type(op.results[0].type, op)]).results)
            elif isinstance(op, TableOp) and op.name.startswith("ttkernel."):
                self.call(op)
            else:
                raise self.illegal(op)
        self.include()

    def ports(self) -> None:
        """Replace the arguments, circular buffers of 2024-09, by variables."""
        first = self._function.body.block.first_op
        for argument in list(self._function.args):
            found = _CB_PORT.match(str(argument.type))
            if first is None or found is None or found[1] not in _PORTS:
                continue
            value = opaque("emitc", f"::tt::CB::{_PORTS[found[1]]}{found[2]}")
            argument.replace_all_uses_with(self.add(first, "variable", [], [_CB], value=value).results[0])
            self._function.body.block.erase_arg(argument)
        update_function_type(self._function)

    def include(self) -> None:
        """Insert includes of the headers that the kernel uses."""
        block = self._function.body.block
        headers = headers_of(self._module, self._function, thread_of(self._function))
        first = block.first_op
        if first is None or any(op.name == "emitc.include" for op in block.ops):
            return
        properties = {"include": StringAttr("cstdint"), "is_standard_include": UnitAttr()}
        block.insert_op_before(make("emitc.include", self._module.version, [], [], properties), first)
        for header in headers:
            include = make("emitc.include", self._module.version, [], [], {"include": StringAttr(header)})
            block.insert_op_before(include, first)

    def illegal(self, op: Operation, reason: str = "it has no form in C++ kernels") -> CompileError:
        return CompileError(self._module.at(op, f"failed to legalize operation '{op.name}': {reason}"))

    def add(
        self, op: Operation, name: str, operands: list[SSAValue], types: list[Attribute], **properties: Attribute
    ) -> TableOp:
        """Insert a statement before an operation."""
        made = make(f"emitc.{name}", self._module.version, operands, types, properties, location=op.location)
        insert_before(op, made)
        return made

    def type(self, kind: Attribute, op: Operation) -> Attribute:
        """Return the type of C++ for one of kernels."""
        if isinstance(kind, IndexType):
            return _SIZE
        if isinstance(kind, IntegerType):
            return kind
        found = re.match(r"!ttkernel\.(\w+)", attribute_text(kind))
        if found is not None and found[1] in _TYPES:
            return _TYPES[found[1]]
        if found is not None and found[1] == "l1_addr_ptr":
            width = re.search(r"<(\d+)>", attribute_text(kind))
            return opaque_type("emitc", f"volatile tt_l1_ptr uint{width[1] if width is not None else 32}_t*")
        if attribute_text(kind) in ("f32", "f16", "bf16"):
            return kind
        raise self.illegal(op, f"type {attribute_text(kind)} has no form in C++ kernels")

    def call(self, op: TableOp) -> None:
        """A call of the function of the operation's name."""
        short = op.name.removeprefix("ttkernel.")
        current = KERNEL_OBJECTS.of(self._module.version)
        if current and short in _METHODS:
            self.method(op, _METHODS[short])
            return
        if current and short in _BARRIERS and len(op.operands) == 1:
            self.add(op, "verbatim", list(op.operands), [], value=StringAttr(f"Noc({{}}).{_BARRIERS[short]}();"))
            replace(op, [])
            return
        if current and short.startswith("noc_"):
            raise self.illegal(op, "calls of the NoC of the current interface are not written")
        if short == "builtin":
            short = op.get("op")
        elif op.text.attributes or op.regions:
            raise self.illegal(op, "its attributes have no form in C++ kernels")
        properties: dict[str, Attribute] = {"callee": StringAttr(short)}
        if short in _TEMPLATES:
            text = opaque("emitc", _TEMPLATES[short])
            properties["template_args"] = ArrayAttr([text])
        types = [self.type(result.type, op) for result in op.results]
        replace(op, self.add(op, "call_opaque", list(op.operands), types, **properties).results)

    def method(self, op: TableOp, name: str) -> None:
        """A method of a circular buffer."""
        buffer, *rest = op.operands
        if buffer not in self._buffers:
            raise self.illegal(op, "its circular buffer is no compile-time argument")
        places = ", ".join("{}" for _ in rest)
        self.add(op, "verbatim", list(rest), [], value=StringAttr(f"{self._buffers[buffer]}.{name}({places});"))
        replace(op, [])

    def print(self, op: Operation) -> None:
        """A text with values for `{}`: a formatted call.

        In 2025-10 it has all parts.
        """
        assert isinstance(op, TableOp)
        text = op.get("fmt")
        pieces = text.split("{}")
        if len(pieces) != len(op.operands) + 1:
            raise self.illegal(op, f"its format has {len(pieces) - 1} places for {len(op.operands)} values")
        compute = thread_of(self._function) == "compute"
        values: list[SSAValue] = []
        for value in op.operands:
            # A compute kernel runs on three cores that know different things about a buffer: it has a printer.
            if compute and value.type == _CB:
                printer = "ttmlir::CBPrinter"
                types: list[Attribute] = [opaque_type("emitc", printer)]
                value = self.add(op, "call_opaque", [value], types, callee=StringAttr(printer)).results[0]
            values.append(value)
        if KERNEL_OBJECTS.of(self._module.version):
            self.add(op, "call_opaque", [self.text(op, text), *values], [], callee=StringAttr("DPRINT"))
        else:
            parts: list[SSAValue] = []
            for index, piece in enumerate(pieces):
                parts += [self.text(op, piece)] if piece else []
                parts += values[index : index + 1]
            self.add(op, "call_opaque", parts, [], callee=StringAttr("ttmlir::dprint"))
        replace(op, [])

    def text(self, op: Operation, text: str) -> SSAValue:
        """Return a text as it stands in C++, between quotes."""
        kind = opaque_type("emitc", "const char[]")
        literal = self.add(op, "literal", [], [kind], value=StringAttr(cpp_string(text, escapes=True)))
        value: SSAValue = literal.results[0]
        return value

    def returned(self, op: Operation) -> None:
        """The end of a kernel of 2024-09."""
        insert_before(op, ReturnOp())
        erase(op)

    def pointer(self, op: Operation) -> None:
        """An address in L1 as a pointer."""
        kind = self.type(op.results[0].type, op)
        found = re.search(r"<\"(.*)\">", attribute_text(kind))
        if found is None:
            raise self.illegal(op)
        target = opaque("emitc", found[1])
        properties: dict[str, Attribute] = {
            "callee": StringAttr("reinterpret_cast"),
            "template_args": ArrayAttr([target]),
        }
        replace(op, self.add(op, "call_opaque", list(op.operands), [kind], **properties).results)

    def load(self, op: Operation) -> None:
        """Load an element through a pointer."""
        kind = self.type(op.results[0].type, op)
        place = self.add(op, "subscript", list(op.operands), [OpaqueDialectType("emitc.lvalue", ("<", kind, ">"))])
        replace(op, self.add(op, "cast", [place.results[0]], [kind]).results)

    def compile_time_argument(self, op: Operation) -> None:
        assert isinstance(op, TableOp)
        number = op.get("arg_index")
        kind = self.type(op.results[0].type, op)
        methods = any(use.operation.name.removeprefix("ttkernel.") in _METHODS for use in op.results[0].uses)
        text = f"get_compile_time_arg_val({number})"
        literal = self.add(op, "literal", [], [kind], value=StringAttr(text))
        if kind == _CB and methods and KERNEL_OBJECTS.of(self._module.version):
            name = f"cb_ctarg_{number}"
            if name not in self._buffers.values():
                self.add(op, "verbatim", [], [], value=StringAttr(f"CircularBuffer {name}({text});"))
            self._buffers[literal.results[0]] = name
        replace(op, literal.results)

    def constant(self, op: Operation) -> None:
        value = op.properties.get("value")
        if isinstance(value, IntegerAttr) and isinstance(value.type, IndexType):
            value = opaque("emitc", str(value.value.data))
        elif not isinstance(value, IntegerAttr | FloatAttr):
            raise self.illegal(op)
        replace(op, self.add(op, "constant", [], [self.type(op.results[0].type, op)], value=value).results)


_CHANGES: Final[dict[str, Callable[[_Kernel, Operation], None]]] = {
    "arith.constant": _Kernel.constant,
    "ttkernel.return": _Kernel.returned,
    "ttkernel.dprint": _Kernel.print,
    "ttkernel.get_compile_time_arg_val": _Kernel.compile_time_argument,
    "ttkernel.load_from_l1": _Kernel.load,
    "ttkernel.reinterpret_cast": _Kernel.pointer,
}

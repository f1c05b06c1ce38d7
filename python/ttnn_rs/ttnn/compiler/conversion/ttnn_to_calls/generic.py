"""`ttnn.generic`: embedded C++ kernel programs, to tables and calls.

The module has them as C++ in attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Protocol

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import Argument, Call, Name, New, Ref
from ttnn.compiler.conversion.ttnn_to_calls.configurations import core_ranges, split_top
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import dtype_name
from ttnn.compiler.conversion.ttnn_to_calls.parts import Calls
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.features import CORE_ARGUMENTS
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import FuncOp, Operation
from ttnn.compiler.target.cpp.emitc import emitc_kernel

__all__ = ["GENERIC", "generic_table", "is_kernel"]

Words = dict[str, str]


class Made(Protocol):
    """Builder of a program's tables."""

    module: Module

    def error(self, op: Operation, message: str) -> CompileError:
        """Return the diagnostic of an operation."""

    def data_type(self, word: str, op: Operation) -> str:
        """Return the name of a data type in binaries."""


def is_kernel(function: FuncOp) -> bool:
    """Return whether a function is a kernel and no program."""
    return "ttkernel.thread" in function.attributes


def _struct(text: str) -> tuple[str, Words]:
    """Return name and fields of `#ttnn.name<key = value, ..>`; fields without key are numbered."""
    name, _, rest = text.partition("<")
    fields: Words = {}
    for index, part in enumerate(split_top(rest[: rest.rindex(">")])):
        key, equals, value = part.partition("=")
        fields.update({key.strip(): value.strip()} if equals and re.fullmatch(r"\w+\s*", key) else {str(index): part})
    return name.strip().removeprefix("#ttnn."), fields


def _listed(fields: Words, name: str) -> list[tuple[str, Words]]:
    """Return the structures of a field that is a list of them."""
    return [_struct(part) for part in split_top(fields.get(name, "[]").strip()[1:-1])]


_INCLUDE: Final = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
#: Members of arguments of kernels by the names of their attributes, and what their number is in the schemas.
_ARGUMENTS: Final = {
    "kernel_arg_cb_buffer_index": ("KernelArgCBBufferIndex", ("buffer_index",)),
    "kernel_arg_address_of_tensor": ("KernelArgBufferAddressOfTensor", ("tensor_index", "operand_index")),
    "kernel_arg_semaphore_at": ("KernelArgSemaphoreAt", ("semaphore_index",)),
}
_FIDELITIES: Final = {"lofi": "LoFi", "hifi2": "HiFi2", "hifi3": "HiFi3", "hifi4": "HiFi4"}


class _Program:
    """The table of a program, from its attribute."""

    def __init__(self, made: Made, op: TableOp) -> None:
        self._made = made
        self._op = op
        self._by_core = CORE_ARGUMENTS.of(made.module.version)

    def fail(self, text: str) -> CompileError:
        return self._made.error(self._op, f"{text} has no form in TTNN binaries")

    def table(self, fields: Words) -> dict[str, Any]:
        """Return the table `ProgramDescriptor`."""
        return {
            "kernels": [self.kernel(*one) for one in _listed(fields, "kernels")],
            "semaphores": [self.semaphore(index, one) for index, (_, one) in enumerate(_listed(fields, "semaphores"))],
            "cbs": [self.buffer(one) for _, one in _listed(fields, "cbs")],
        }

    def kernel(self, kind: str, fields: Words) -> dict[str, Any]:
        name = fields.get("symbol_ref", "").removeprefix("@")
        function = next((one for one in self._made.module.functions() if one.sym_name.data == name), None)
        if function is None or not is_kernel(function):
            raise self._made.error(self._op, f"names the kernel {name}, which is none of the module")
        table: dict[str, Any] = {
            "source": emitc_kernel(self._made.module, function),
            "source_type": "SOURCE_CODE",
            "core_ranges": core_ranges(fields["core_ranges"]),
            "ct_args": self.arguments(fields, "ct_args"),
            "common_rt_args": self.arguments(fields, "common_rt_args"),
        }
        cores = _listed(fields, "rt_args")
        if cores and not self._by_core:
            raise self.fail("an argument of a single core")
        table["rt_args"] = [
            {"core_coord": self.core(one["core_coord"]), "args": self.arguments(one, "args")} for _, one in cores
        ]
        return table | self.config(kind, fields)

    def config(self, kind: str, fields: Words) -> dict[str, Any]:
        """Return member and table of what a kernel runs as."""
        if kind in ("read_kernel", "write_kernel"):
            return {
                "config_type": "ReaderKernelConfig" if kind == "read_kernel" else "WriterKernelConfig",
                "config": {},
            }
        if kind != "compute_kernel":
            raise self.fail(f"a {kind}")
        flags = ("fp32_dest_acc_en", "dst_full_sync_en", "bfp8_pack_precise", "math_approx_mode")
        config: dict[str, Any] = {name: fields[name] == "true" for name in flags if name in fields}
        if "math_fidelity" in fields:
            config["math_fidelity"] = _FIDELITIES[re.sub(r"^#?[\w.]*<|>$", "", fields["math_fidelity"])]
        modes = split_top(fields.get("unpack_to_dest_modes", "[]").strip()[1:-1])
        config["unpack_to_dest_modes"] = [re.sub(r"^#?[\w.]*<|>$", "", mode).capitalize() for mode in modes]
        return {"config_type": "ComputeKernelConfig", "config": config}

    def arguments(self, fields: Words, name: str) -> dict[str, Any]:
        """Return the table `KernelCoreArgs`."""
        return {"args": [self.argument(*one) for one in _listed(fields, name)]}

    def argument(self, kind: str, fields: Words) -> dict[str, Any]:
        if kind == "kernel_named_arg" and self._by_core:
            named = {"name": fields["name"].strip('"'), "value": int(fields["value"].partition(":")[0])}
            return {"arg_type": "KernelArgNamedArgument", "arg": named}
        if kind not in _ARGUMENTS or not fields.get("0", "").isdigit():
            raise self.fail(f"the argument #ttnn.{kind} of a kernel")
        member, names = _ARGUMENTS[kind]
        return {"arg_type": member, "arg": {names[-1 if self._by_core else 0]: int(fields["0"])}}

    def buffer(self, fields: Words) -> dict[str, Any]:
        if "buffer" in fields:
            raise self.fail("a circular buffer in the memory of a tensor")
        formats = [
            {
                "buffer_index": int(one["buffer_index"]),
                "dtype": self._made.data_type(one["dtype"], self._op),
                "page_size": int(one["page_size"]),
            }
            for _, one in _listed(fields, "formats")
        ]
        ranges = core_ranges(fields["core_ranges"])
        return {"total_size": int(fields["total_size"]), "core_range": ranges, "formats": formats}

    def semaphore(self, index: int, fields: Words) -> dict[str, Any]:
        table: dict[str, Any] = {
            "core_type": "WORKER",
            "core_ranges": core_ranges(fields["core_ranges"]),
            "initial_value": int(fields.get("initial_value", "0")),
        }
        return {"id": int(fields.get("id", index)), **table} if self._by_core else table

    @staticmethod
    def core(text: str) -> dict[str, int]:
        x, y = (int(one) for one in re.findall(r"\d+", text.partition("<")[2]))
        return {"x": x, "y": y}


def generic_table(made: Made, op: TableOp) -> dict[str, Any]:
    """Return a kernel program table's content besides tensors.

    Raises:
        CompileError: A part of it has no form in binaries.
    """
    attribute = op.attribute("program")
    assert attribute is not None
    name, fields = _struct(str(attribute))
    program = _Program(made, op)
    if name != "program":
        raise program.fail(f"#ttnn.{name}")
    if "additional_args" in {group.name for group in op.spec.operands} and op.group("additional_args"):
        raise program.fail("an argument that is no tensor")
    table = program.table(fields)
    return (
        {"program_type": "ProgramDescriptor", "program": table}
        if CORE_ARGUMENTS.of(made.module.version)
        else {"program": table}
    )


def _cores(table: dict[str, Any]) -> New:
    ranges = [
        New(
            "ttnn.CoreRange",
            tuple(New("ttnn.CoreCoord", (one[end]["x"], one[end]["y"])) for end in ("start_coord", "end_coord")),
        )
        for one in table["core_ranges"]
    ]
    return New("ttnn.CoreRangeSet", (ranges,))


def _values(table: dict[str, Any], tensors: list[Ref]) -> list[Argument]:
    """Return a kernel's numbers.

    Addresses are those of the tensors when the program runs.
    """
    values: list[Argument] = []
    for one in table.get("args", []):
        kind, fields = one["arg_type"], one.get("arg", {})
        if kind == "KernelArgBufferAddressOfTensor":
            index = int(fields.get("tensor_index", fields.get("operand_index", 0)))
            values.append(New("ttnn.Tensor.buffer_address", (tensors[index],)))
        elif kind in (
            "KernelArgCBBufferIndex",
            "KernelArgSemaphoreAt",
            "KernelArgNamedArgument",
            "KernelArgBufferAddress",
        ):
            values.append(int(next((value for name, value in fields.items() if name != "name"), 0)))
        else:
            raise UnsupportedError(f"an argument {kind} of a kernel is not executed.", "unimplemented")
    return values


def _config(kernel: dict[str, Any]) -> New:
    kind, fields = kernel["config_type"], kernel.get("config") or {}
    if kind in ("ReaderKernelConfig", "WriterKernelConfig"):
        return New(f"ttnn.{kind.replace('Kernel', '')}Descriptor")
    if kind != "ComputeKernelConfig" or "Fp32" in fields.get("unpack_to_dest_modes", []):
        raise UnsupportedError(f"a kernel with {kind} of these fields is not executed: {fields}.", "unimplemented")
    flags = ("math_approx_mode", "fp32_dest_acc_en", "dst_full_sync_en", "bfp8_pack_precise")
    words: list[tuple[str, Argument]] = [(name, bool(fields[name])) for name in flags if name in fields]
    words.insert(0, ("math_fidelity", Name(f"ttnn.MathFidelity.{fields.get('math_fidelity', 'HiFi4')}")))
    return New("ttnn.ComputeConfigDescriptor", (), tuple(words))


def _source(kernel: dict[str, Any]) -> str:
    """Return a kernel's source as text that is always C++.

    A text with an include line is C++.

    Raises:
        UnsupportedError: The source is the name of a file.
    """
    kind, text = kernel.get("source_type", "SOURCE_CODE"), str(kernel["source"])
    if kind != "SOURCE_CODE":
        raise UnsupportedError(f"a kernel whose source is {kind} is not executed: kernels come from the binary itself.")
    return text if _INCLUDE.search(text) else f"#include <cstdint>\n#line 1\n{text}"


#: Rows and columns of cores; a binary may name any, and the lists below have a place for each before it.
_MOST: Final = 64


def _by_core(kernel: dict[str, Any], tensors: list[Ref]) -> list[Argument]:
    """Return the arguments of single cores, as lists by x and y."""
    given = {
        (int(one["core_coord"]["x"]), int(one["core_coord"]["y"])): _values(one["args"], tensors)
        for one in kernel.get("rt_args", [])
    }
    for x, y in given:
        if max(x, y) >= _MOST:
            raise UnsupportedError(f"arguments of the core ({x}, {y}) are not executed: no chip has it.")
    columns = 1 + max((x for x, _ in given), default=-1)
    rows = 1 + max((y for _, y in given), default=-1)
    return [[given.get((x, y), []) for y in range(rows)] for x in range(columns)]


def _generic(calls: Calls, table: dict[str, Any]) -> None:
    tensors = [Ref(one["global_id"]) for one in table["io_tensors"]]
    program = table["program"]
    if "mesh_programs" in program:
        raise UnsupportedError("programs for the chips of a mesh are not executed.", "unimplemented")
    kernels = [
        New(
            "ttnn.KernelDescriptor",
            (),
            (
                ("kernel_source", _source(kernel)),
                ("source_type", Name("ttnn.KernelDescriptor.SourceType.SOURCE_CODE")),
                ("core_ranges", _cores(kernel["core_ranges"])),
                ("compile_time_args", _values(kernel.get("ct_args", {}), tensors)),
                ("runtime_args", _by_core(kernel, tensors)),
                ("common_runtime_args", _values(kernel.get("common_rt_args", {}), tensors)),
                ("config", _config(kernel)),
            ),
        )
        for kernel in program.get("kernels", [])
    ]
    buffers = []
    for buffer in program.get("cbs", []):
        if buffer.get("buffer") is not None:
            raise UnsupportedError("circular buffers in the memory of a tensor are not executed.", "unimplemented")
        formats = [
            New(
                "ttnn.CBFormatDescriptor",
                (),
                (
                    ("buffer_index", int(one.get("buffer_index", 0))),
                    ("data_format", dtype_name(one["dtype"])),
                    ("page_size", int(one["page_size"])),
                ),
            )
            for one in buffer["formats"]
        ]
        words = (("total_size", int(buffer["total_size"])), ("core_ranges", _cores(buffer["core_range"])))
        buffers.append(New("ttnn.CBDescriptor", (), (*words, ("format_descriptors", formats))))
    semaphores = [
        New(
            "ttnn.SemaphoreDescriptor",
            (),
            (
                ("id", int(one.get("id", index))),
                ("core_ranges", _cores(one["core_ranges"])),
                ("initial_value", int(one.get("initial_value", 0))),
            ),
        )
        for index, one in enumerate(program.get("semaphores", []))
    ]
    parts = (("kernels", kernels), ("semaphores", semaphores), ("cbs", buffers))
    made = New("ttnn.ProgramDescriptor", (), parts)
    calls.added.append(Call("ttnn.generic_op", [tensors, made], {}, (), calls.operation))


GENERIC: Final[dict[str, Callable[[Calls, dict[str, Any]], None]]] = {"GenericOp": _generic}
"""Calls of programs of kernels."""

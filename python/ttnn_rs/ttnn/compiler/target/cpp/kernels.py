"""`ttkernel` kernels as C++: operations are calls of equal names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.target_text import comment, is_cpp_identifier
from ttnn.compiler.ir.xdsl_adapter import Block, IntegerAttr, Operation, SSAValue

__all__ = ["cb_port", "kernel_source", "kernels_source"]

_CB = re.compile(r"!ttkernel\.cb<(cb_[a-z]+)(\d+),")
#: Ports in the order of their numbers, eight of each kind.
PORTS = ("cb_in", "cb_dfl", "cb_out", "cb_int")


def cb_port(kind: object) -> int | None:
    """Return a circular buffer port's number by type, or None."""
    found = _CB.match(str(kind))
    return PORTS.index(found[1]) * 8 + int(found[2]) if found and found[1] in PORTS else None


class _Kernel:
    """Names of values, and lines."""

    def __init__(self, module: Module, block: Block) -> None:
        self._module = module
        self._names: dict[SSAValue, str] = {}
        self._count = 0
        self.lines: list[str] = []
        for index, argument in enumerate(block.args):
            port = cb_port(argument.type)
            self._names[argument] = f"::tt::CB::{_port_name(port)}" if port is not None else f"arg{index}"

    def value(self, value: SSAValue, op: Operation) -> str:
        if value not in self._names:
            raise CompileError(self._module.error(op, "uses a value that is not of this kernel"))
        return self._names[value]

    def add(self, op: Operation) -> None:
        if op.name == "arith.constant":
            value = op.properties.get("value")
            if not isinstance(value, IntegerAttr):
                raise CompileError(self._module.error(op, "only integer constants have a form in kernels"))
            self._names[op.results[0]] = str(value.value.data)
            return
        if not op.name.startswith("ttkernel."):
            raise CompileError(self._module.error(op, "has no form in C++ kernels"))
        short = op.name.removeprefix("ttkernel.")
        if short == "return":
            self.lines.append("  return;")
            return
        if not is_cpp_identifier(short):
            raise CompileError(self._module.error(op, f"{short!r} is no name of a C++ function"))
        call = f"{short}({', '.join(self.value(value, op) for value in op.operands)})"
        if op.results:
            self._count += 1
            name = f"v{self._count}"
            self._names[op.results[0]] = name
            kind = "uint64_t" if "noc_addr" in str(op.results[0].type) else "uint32_t"
            self.lines.append(f"  {kind} {name} = {call};")
        else:
            self.lines.append(f"  {call};")


def _port_name(port: int | None) -> str:
    assert port is not None
    return ("c_in", "dataflow", "c_out", "c_intermed")[port // 8] + str(port % 8)


def kernel_source(module: Module, block: Block, *, compute: bool) -> str:
    """Return the C++ source of one kernel.

    Args:
        module: For diagnostics.
        block: Its operations; arguments are circular buffers.
        compute: Whether it runs on the Tensix threads; otherwise it moves data.

    Raises:
        CompileError: An operation has no form in C++.
    """
    kernel = _Kernel(module, block)
    for op in block.ops:
        kernel.add(op)
    if compute:
        includes = ["compute_kernel_api/common.h", "compute_kernel_api/tilize.h", "compute_kernel_api/untilize.h"]
        includes += ["compute_kernel_api/eltwise_binary.h", "compute_kernel_api/tile_move_copy.h"]
        head = ["#include <cstdint>", *(f'#include "{name}"' for name in includes), "namespace NAMESPACE {"]
        return "\n".join([*head, "void MAIN {", *kernel.lines, "}", "}", ""])
    head = ["#include <cstdint>", '#include "dataflow_api.h"']
    return "\n".join([*head, "void kernel_main() {", *kernel.lines, "}", ""])


def kernels_source(module: Module) -> str:
    """Return C++ of a module's functions with `ttkernel` operations.

    Raises:
        CompileError: There is none, or an operation has no form in C++.
    """
    sources = []
    for function in module.functions():
        for block in _blocks(function.body.blocks):
            names = [op.name for op in block.ops]
            compute = not any("noc_" in name for name in names)
            sources.append(f"// {comment(function.sym_name.data)}\n" + kernel_source(module, block, compute=compute))
    if not sources:
        raise CompileError(module.at(module.op, "no function with operations of ttkernel"))
    return "\n".join(sources)


def _blocks(blocks: Iterable[Block]) -> list[Block]:
    return [block for block in blocks if any(op.name.startswith("ttkernel.") for op in block.ops)]

"""Programs of one device, made from those of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.spmd.layout import Layout, Mesh, mesh_of, whole
from ttnn.compiler.importers.spmd.partitioner import Partitioner, kept, plain
from ttnn.compiler.importers.spmd.rules import RULES
from ttnn.compiler.importers.stablehlo.size import check_size
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.operations import generic_operation
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    DictionaryAttr,
    FuncOp,
    ModuleOp,
    Operation,
    Region,
    ReturnOp,
    StringAttr,
)

__all__ = ["Partitioned", "partition"]


@dataclass(frozen=True)
class Partitioned:
    """The program of one device.

    Attributes:
        module: The program, which replaces the one that was read.
        mesh: Rows and columns of the devices.
        inputs: Layouts of the arguments in the notation of GSPMD.
        outputs: Layouts of the results.
    """

    module: Module
    mesh: tuple[int, int]
    inputs: list[str]
    outputs: list[str]


def partition(module: Module) -> Partitioned:
    """Divide a program whose shardings are propagated, in place.

    Args:
        module: The program; its function `main`.

    Raises:
        UnsupportedError: The mesh or an operation is not supported.
    """
    functions = {one.sym_name.data: one for one in module.op.ops if isinstance(one, FuncOp)}
    main = functions.get("main")
    if main is None:
        raise UnsupportedError("the program has no function main.")
    check_size(functions)
    mesh = mesh_of(module.op)
    made = Partitioner(mesh, functions, RULES)
    inputs = _layouts(mesh, main.arg_attrs, list(main.function_type.inputs.data), "argument")
    outputs = _layouts(mesh, main.res_attrs, list(main.function_type.outputs.data), "result")
    arguments = [
        made.argument(type_, layout) for type_, layout in zip(main.function_type.inputs.data, inputs, strict=True)
    ]
    results = made.run(main.regions[0].blocks[0], arguments)
    values = [made.divided(one, layout).value for one, layout in zip(results, outputs, strict=True)]
    made.block.add_op(ReturnOp(*values))
    types = ([one.type for one in made.block.args], [one.type for one in values])
    function = FuncOp("main", types, Region(made.block), visibility="public")
    function.location = main.location
    for name, given in (("arg_attrs", main.arg_attrs), ("res_attrs", main.res_attrs)):
        if given is not None:
            function.properties[name] = ArrayAttr([DictionaryAttr(kept(one.data)) for one in given.data])
    new = ModuleOp([function, *_called(function, functions)], dict(module.op.attributes), module.op.sym_name)
    sizes = ", ".join(f'"_{axis}"={size}' for axis, size in enumerate(mesh.sizes))
    whole_mesh = generic_operation("sdy.mesh").create(
        properties={"sym_name": StringAttr("mesh"), "mesh": OpaqueDialectAttr("sdy.mesh", (f"<[{sizes}]>",))}
    )
    whole_mesh.location = main.location
    new.body.blocks[0].insert_op_before(whole_mesh, function)
    new.location = module.op.location
    module.op = new
    return Partitioned(module, mesh.shape, [mesh.gspmd(one) for one in inputs], [mesh.gspmd(one) for one in outputs])


def _called(function: FuncOp, functions: Mapping[str, FuncOp]) -> list[FuncOp]:
    """Return copies of the functions that a function still calls."""
    found: dict[str, FuncOp] = {}
    waiting: list[Operation] = [function]
    while waiting:
        for op in waiting.pop().walk():
            view = View(op)
            name = view.symbol("callee") or view.symbol("decomposition")
            if name in functions and name not in found:
                copied = functions[name].clone()
                plain(copied.regions[0])
                for key in ("arg_attrs", "res_attrs"):
                    copied.properties.pop(key, None)
                found[name] = copied
                waiting.append(copied)
    return list(found.values())


def _layouts(mesh: Mesh, given: Any, types: Sequence[Any], what: str) -> list[Layout]:
    """Return the layouts of arguments or results.

    Raises:
        UnsupportedError: A dimension is not divisible by its parts.
    """
    found = []
    for number, type_ in enumerate(types):
        shape = shape_of(type_)
        entries = given.data[number].data if given is not None else {}
        layouts = mesh.layouts(entries.get("sdy.sharding"))
        layout = layouts[0] if layouts else whole(len(shape))
        if mesh.fitting(layout, shape) != layout:
            raise UnsupportedError(f"{what} {number} of shape {list(shape)} cannot be divided as its sharding says.")
        found.append(layout)
    return found

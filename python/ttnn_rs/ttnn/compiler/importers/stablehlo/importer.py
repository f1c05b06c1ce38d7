"""The import of a StableHLO program, by the table of rows."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.importers.builder import Builder, element_of, tensor
from ttnn.compiler.importers.sharding import gspmd, mesh_of_gspmd, shardy
from ttnn.compiler.importers.stablehlo.control_flow import UNROLLED
from ttnn.compiler.importers.stablehlo.scope import Refusal, Scope, refuse
from ttnn.compiler.importers.stablehlo.size import LIMIT, check_size
from ttnn.compiler.importers.stablehlo.table import ROWS
from ttnn.compiler.importers.stablehlo.view import View, place
from ttnn.compiler.ir.attributes import DenseAttr, OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.operations import written_name
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.verifier import verify
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    DictionaryAttr,
    FuncOp,
    IntegerAttr,
    ModuleOp,
    Operation,
    OpResult,
    SSAValue,
    StringAttr,
    TensorType,
    UnrankedTensorType,
)
from ttnn.compiler.transforms.cleanup import cse, erase_dead
from ttnn.compiler.version import NEWEST

__all__ = ["to_ttir"]

_ENDS: Final = frozenset({"func.return", "stablehlo.return", "sdy.return"})
_DEPTH: Final = 64
"""Limit of calls and regions in each other."""
_SHOWN: Final = 20
"""Kinds of refused operations that a message lists."""
_DONATED: Final = ("jax.buffer_donor", "tf.aliasing_output")
"""Attributes of arguments that nobody reads after the program."""
_DROPPED: Final = ("sdy.", "mhlo.layout_mode", "mhlo.sharding", "mhlo.memory_kind", "mhlo.frontend_attributes")
"""Attributes of arguments and results that end here."""


@dataclass(frozen=True)
class _Rules:
    """Keywords of `to_ttir`."""

    checked: bool
    segments: bool
    islands: bool
    limit: int


@dataclass
class _Program:
    """Properties that the functions of a program share."""

    functions: dict[str, FuncOp]
    mesh: tuple[int, ...]
    axes: dict[str, int]
    rules: _Rules


class _Import(Scope):
    """One public function; its private ones are written out in it."""

    def __init__(self, builder: Builder, program: _Program, refused: Counter[str]) -> None:
        super().__init__(builder, dict(program.functions), program.mesh, checked=program.rules.checked)
        self.axes = program.axes
        self.segments, self.islands, self.limit = program.rules.segments, program.rules.islands, program.rules.limit
        self._program = program
        self._refused = refused
        self._depth = 0
        self._count = 0

    def run(self, block: Any, arguments: Sequence[SSAValue]) -> list[SSAValue]:
        """Import a block; return the values of its terminator."""
        self._depth += 1
        if self._depth > _DEPTH:
            raise UnsupportedError(f"functions and regions of this program nest more than {_DEPTH} deep.")
        self.values.update(zip(block.args, arguments, strict=True))
        found: list[SSAValue] = []
        for op in block.ops:
            if written_name(op) in _ENDS:
                found = [self.values[one] for one in op.operands]
            else:
                self._operation(op)
        self._depth -= 1
        return found

    def outlined(self, what: str, block: Any, types: Sequence[Attribute], free: Sequence[SSAValue]) -> FuncOp:
        """Return a block as a function."""
        builder = Builder(self.b.unique(what), visibility="private")
        inner = _Import(builder, self._program, self._refused)
        inner._depth, inner._count = self._depth, self._count
        arguments = [builder.argument(None, one) for one in types]
        for value in free:
            here = self.values[value]
            known = here.op if isinstance(here, OpResult) and here.op.name == "ttir.constant" else None
            if known is not None:
                inner.values[value] = builder.constant(known.properties["value"])
            else:
                inner.values[value] = builder.argument(None, here.type)
        outputs = inner.run(block, arguments)
        self._count = inner._count
        self.b.functions += builder.functions
        return builder.finish(
            [inner.cast(one, element_of(inner.type(type_))) for one, type_ in zip(outputs, _ends(block), strict=True)]
        )

    def _operation(self, op: Operation) -> None:
        self._count += 1
        if self._count > LIMIT:
            raise UnsupportedError(f"this program has more than {LIMIT:,} operations with its loops written out.")
        view = View(op)
        self.b.location(op.location)
        try:
            row = ROWS.get(view.name, _kept_operation if view.name.startswith("ttir.") else None)
            if row is None:
                refuse("has no TTIR operation")
            made = row(self, view)
        except Refusal as refusal:
            text = str(refusal)
            self._refused[f"{view.name} at {place(op)}{'' if text.startswith(':') else ' '}{text}"] += 1
            made = [self._stand_in(one) for one in view.types]
        results = [made] if isinstance(made, SSAValue) else list(made)
        self.values.update(zip(op.results, results, strict=True))

    def _stand_in(self, type_: Attribute) -> SSAValue:
        """Return a value of the type of a refused result.

        The import goes on, to find all others.
        """
        try:
            value: SSAValue = self.b.empty(types=[self.type(type_)])
        except Refusal:
            value = self.b.empty(types=[UnrankedTensorType(getattr(type_, "element_type", StringAttr("")))])
        return value


def _ends(block: Any) -> list[Attribute]:
    """Return the types of what a block ends with."""
    return [one.type for op in block.ops if written_name(op) in _ENDS for one in op.operands]


def _kept_operation(scope: Scope, view: View) -> list[SSAValue]:
    """Copy an operation that is of the dialect already."""
    copied = view.op.clone(dict(scope.values))
    scope.b.append(copied)
    return list(copied.results)


def to_ttir(
    module: Module, *, checked: bool = True, segments: bool = False, islands: bool = True, limit: int = UNROLLED
) -> None:
    """Replace a StableHLO program by its `ttir` program, in place.

    Functions that are called, and the decompositions of composites, are written out where they are used.

    Args:
        module: The program.
        checked: Whether scatters ignore positions out of range, as StableHLO does; else they are errors of the run.
        segments: Whether loops, branches and operations of the host may be calls, which plans run; else only what
            the device runs is imported.
        islands: Whether operations of the host are allowed then.
        limit: Most operations of a loop that is written out.

    Raises:
        UnsupportedError: Operations cannot be imported: all of them, with their counts.
    """
    refused: Counter[str] = Counter()
    new = _module(module.op, refused, _Rules(checked, segments, islands, limit))
    if refused:
        raise UnsupportedError(_message(refused))
    erase_dead(new)
    module.op, module.version, module.places = new, NEWEST, {}
    verify(module)
    cse(module)


def _module(op: ModuleOp, refused: Counter[str], rules: _Rules) -> ModuleOp:
    """Return the module of a program.

    Modules in it are programs of their own.
    """
    functions = {one.sym_name.data: one for one in op.ops if isinstance(one, FuncOp)}
    check_size(functions)
    mesh, axes = _mesh(op)
    shared = _Program(functions, mesh, axes, rules)
    public = [one for one in functions.values() if _is_public(one)] or list(functions.values())[:1]
    made: list[Operation] = []
    for one in public:
        if one.regions[0].blocks:
            made += _function(one, shared, refused)
    made += [_module(one, refused, rules) for one in op.ops if isinstance(one, ModuleOp)]
    kept = {key: value for key, value in op.attributes.items() if not key.startswith(("jax.", "sdy."))}
    if math.prod(mesh) > 1:
        sizes = "x".join(map(str, mesh))
        kept["ttcore.meshes"] = OpaqueDialectAttr("ttcore.meshes", (f'<[<"mesh" = {sizes}>]>',))
    return ModuleOp(made, kept, op.sym_name)


def _mesh(module: ModuleOp) -> tuple[tuple[int, ...], dict[str, int]]:
    """Return the mesh of a program, and its Shardy axes."""
    for op in module.ops:
        if written_name(op) == "sdy.mesh":
            text = " ".join(attribute_text(one) for one in (*op.properties.values(), *op.attributes.values()))
            axes = {name: int(size) for name, size in re.findall(r'"([^"]+)"=(\d+)', text)}
            return ((1,) * (2 - len(axes)) + tuple(axes.values()), axes)
    count = module.attributes.get("mhlo.num_partitions")
    devices = int(count.value.data) if isinstance(count, IntegerAttr) else 1
    for op in module.walk():
        groups = op.properties.get("replica_groups")
        if isinstance(groups, DenseAttr):
            devices = max(devices, math.prod(groups.shape))
    texts = [one.data for op in module.walk() for one in _shardings(op)]
    return mesh_of_gspmd(texts, devices), {}


def _shardings(op: Operation) -> list[StringAttr]:
    found = [op.attributes.get("mhlo.sharding")]
    if isinstance(op, FuncOp) and op.arg_attrs is not None:
        found += [one.data.get("mhlo.sharding") for one in op.arg_attrs.data if isinstance(one, DictionaryAttr)]
    return [one for one in found if isinstance(one, StringAttr)]


def _is_public(function: FuncOp) -> bool:
    return function.sym_visibility is None or function.sym_visibility.data == "public"


def _message(refused: Mapping[str, int]) -> str:
    lines = [text + (f" ({count} times)" if count > 1 else "") for text, count in refused.items()]
    rest = len(lines) - _SHOWN
    more = f"; and {rest} others" if rest > 0 else ""
    total = sum(refused.values())
    head = "this program has an operation" if total == 1 else f"this program has {total} operations"
    return f"{head} that cannot be imported: {'; '.join(lines[:_SHOWN])}{more}."


def _entries(given: ArrayAttr[Any] | None, count: int) -> list[Mapping[str, Attribute]]:
    """Return the attributes of arguments or results."""
    if given is None:
        return [{} for _ in range(count)]
    return [one.data if isinstance(one, DictionaryAttr) else {} for one in given.data]


def _kept(entries: Mapping[str, Attribute]) -> dict[str, Attribute]:
    return {key: one for key, one in entries.items() if not key.startswith(_DROPPED)}


def _argument_type(scope: _Import, type_: Attribute, entries: Mapping[str, Attribute]) -> tuple[TensorType[Any], bool]:
    """Return the type of an argument, and whether it is sharded."""
    found = scope.type(type_)
    text = entries.get("mhlo.sharding")
    if not isinstance(text, StringAttr) or math.prod(scope.mesh) == 1:
        return found, False
    try:
        placement = gspmd(text.data, scope.mesh)
    except ValueError as error:
        refuse(f": {error}")
    if placement is None:
        return found, True
    return tensor(placement.local(found.get_shape()), found.element_type), True


def _check_sharding(scope: _Import, argument: SSAValue, entries: Mapping[str, Attribute]) -> None:
    """Refuse a Shardy sharding that has to be propagated through operations.

    Raises:
        Refusal: The argument is divided, and used outside of manual computations.
    """
    given = entries.get("sdy.sharding")
    if given is None or math.prod(scope.mesh) == 1:
        return
    divided = any(one.kind == "devices" for one in shardy(attribute_text(given), scope.axes))
    if divided and any(written_name(use.operation) != "sdy.manual_computation" for use in argument.uses):
        refuse("has a sharding that needs propagation; write the program as a manual computation")


def _function(function: FuncOp, shared: _Program, refused: Counter[str]) -> list[FuncOp]:
    """Return a function, and those that it calls."""
    builder = Builder(
        function.sym_name.data, visibility=function.sym_visibility.data if function.sym_visibility else None
    )
    scope = _Import(builder, shared, refused)
    block = function.regions[0].blocks[0]
    arguments = []
    for index, (argument, entries) in enumerate(
        zip(block.args, _entries(function.arg_attrs, len(block.args)), strict=True)
    ):
        part, type_ = False, argument.type
        try:
            _check_sharding(scope, argument, entries)
            type_, part = _argument_type(scope, argument.type, entries)
        except Refusal as refusal:
            refused[f"argument {index} of @{builder.name} {refusal}"] += 1
        arguments.append(builder.argument(None, type_, attributes=_kept(entries)))
        if shared.rules.segments and any(name in entries for name in _DONATED):
            builder.donated.add(arguments[-1])
        if part:
            scope.local.add(arguments[-1])
    outputs = scope.run(block, arguments)
    results = [_kept(one) for one in _entries(function.res_attrs, len(outputs))]
    made = builder.finish(outputs, results=results, attributes=_kept(function.attributes))
    return [made, *builder.functions]

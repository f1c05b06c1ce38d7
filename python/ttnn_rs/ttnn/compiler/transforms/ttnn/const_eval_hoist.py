"""`const-eval-hoist-transform`: constant subgraphs as functions of their own.

They depend on parameters and constants only.

Such a function is called by `ttcore.load_cached`: it runs once for each set of parameters.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.dialects.operations import make
from ttnn.compiler.features import FUNCTION_KINDS, LAZY_CREATIONS
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Block,
    BlockArgument,
    DictionaryAttr,
    FuncOp,
    FunctionType,
    Operation,
    Region,
    ReturnOp,
    SSAValue,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from ttnn.compiler.transforms.base import (
    erase,
    fail,
    insert_before,
    is_on_host,
    replace,
    set_type,
    update_function_type,
)
from ttnn.compiler.transforms.constant_paths import argument_type
from ttnn.compiler.transforms.inline_call import inline_call
from ttnn.compiler.transforms.traits import has, writes
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.layout.layouts import layout_of
from ttnn.compiler.transforms.ttnn.layout.types import on_host, retyped

__all__ = ["ALLOWED", "KIND", "function_kind", "inputs_to_host", "run"]

#: Attribute of operations whose result may stay in L1.
ALLOWED: Final = "ttnn.const_eval_allowed"
KIND: Final = "tt.function_type"
# Of version 2025-10.
_MARK: Final = "const_eval"
_INFIX: Final = "_const_eval_"
_KEPT_ARGUMENTS: Final = ("ttir.conv2d_weight",)

# Each function makes its own.
_SHARED: Final = frozenset({"ttnn.get_device"})


def function_kind(function: FuncOp) -> str:
    """Return `tt.function_type` of a function: "forward_device", "const_eval" and so on, or ""."""
    kind = function.attributes.get(KIND)
    if _MARK in function.attributes:
        return "const_eval"
    return kind.data if isinstance(kind, StringAttr) else ""


def run(module: Module) -> None:
    """Hoist connected groups that depend on parameters and constants only.

    Groups that were hoisted before are taken back first, so that new operations join them.

    Raises:
        CompileError: A result would stay in L1.
    """
    functions = {function.sym_name.data: function for function in module.functions()}
    taken: set[FuncOp] = set()
    for function in list(functions.values()):
        if function_kind(function) == "const_eval":
            continue
        for call in [op for op in function.walk() if op.name == "ttcore.load_cached"]:
            name = call.properties["callee"]
            assert isinstance(name, SymbolRefAttr)
            callee = functions.get(name.root_reference.data)
            if callee is not None and function_kind(callee) == "const_eval":
                inline_call(call, callee)
                taken.add(callee)
    for function in taken:
        erase(function)
    for function in module.functions():
        body = function.regions[0].blocks.first
        if body is not None and function_kind(function) not in ("const_eval", "kernel") and not is_on_host(function):
            _deduplicate(body)
            _hoist(module, function, body)


def _deduplicate(body: Block) -> None:
    """Merge equal operations that every function contains."""
    found: dict[tuple[Any, ...], Operation] = {}
    for op in list(body.ops):
        if op.name not in _SHARED:
            continue
        key = (op.name, tuple(sorted((name, str(value)) for name, value in op.properties.items())))
        first = found.setdefault(key, op)
        if first is not op:
            for old, new in zip(op.results, first.results, strict=True):
                old.replace_all_uses_with(new)
            erase(op)


class _Groups:
    """Operations of a function that are constant, in connected groups."""

    def __init__(self, module: Module, body: Block) -> None:
        self.shared: list[Operation] = []
        self._parent: dict[Operation, Operation] = {}
        self._lazy: set[Operation] = set()
        self._lazily = LAZY_CREATIONS.of(module.version)
        for op in body.ops:
            self._add(module, op)

    def _add(self, module: Module, op: Operation) -> None:
        if op.name in _SHARED:
            self.shared.append(op)
            return
        if op.name.partition(".")[0] not in ("ttir", "ttnn") or not op.results or op.regions:
            return
        if self._lazily and has(op, "creates"):
            # It moves only with an operation that needs it.
            self._lazy.add(op)
            return
        if has(op, "effects", "memory"):
            return
        if any(writes(use.operation, use.index) for result in op.results for use in result.uses):
            return
        owners = []
        for operand in op.operands:
            if isinstance(operand, BlockArgument):
                if argument_type(operand) not in ("parameter", "constant"):
                    return
                continue
            owner = operand.owner
            assert isinstance(owner, Operation)
            if owner.name in _SHARED:
                continue
            if owner not in self._parent and owner not in self._lazy:
                return
            owners.append(owner)
        self._check_place(module, op)
        self._parent[op] = op
        for owner in owners:
            if owner in self._lazy:
                self._parent.setdefault(owner, owner)
            self._parent[self.root(owner)] = self.root(op)

    @staticmethod
    def _check_place(module: Module, op: Operation) -> None:
        layouts = [layout_of(result.type) for result in op.results]
        if any(layout is not None and layout.space == "l1" for layout in layouts) and ALLOWED not in op.attributes:
            raise fail(
                module,
                op,
                "result of an op resides in L1, and the op is a const-eval candidate, but it is not tagged with "
                f"'{ALLOWED}'; tag the op or change its memory space",
            )

    def root(self, op: Operation) -> Operation:
        """Return the operation that stands for the group of another one."""
        while self._parent[op] is not op:
            self._parent[op] = self._parent[self._parent[op]]
            op = self._parent[op]
        return op

    def all(self, body: Block) -> list[list[Operation]]:
        """Return the groups in the order of their first operations."""
        found: dict[Operation, list[Operation]] = {}
        for op in body.ops:
            if op in self._parent:
                found.setdefault(self.root(op), []).append(op)
        return list(found.values())


def _hoist(module: Module, function: FuncOp, body: Block) -> None:
    groups = _Groups(module, body)
    for number, ops in enumerate(groups.all(body)):
        _make(module, function, body, groups.shared, ops, number)


def _make(
    module: Module, function: FuncOp, body: Block, shared: list[Operation], ops: list[Operation], number: int
) -> None:
    inside = set(ops)
    inputs = sorted(
        {value for op in ops for value in op.operands if isinstance(value, BlockArgument)}, key=lambda one: one.index
    )
    outputs = [result for op in ops for result in op.results if any(use.operation not in inside for use in result.uses)]
    if not outputs:
        return
    block = Block(arg_types=[value.type for value in inputs])
    values: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for op in [*shared, *ops]:
        if op in shared and not any(value.owner is op for one in ops for value in one.operands):
            continue
        block.add_op(op.clone(values))
    returned = ReturnOp(*(values[value] for value in outputs))
    returned.location = function.location
    block.add_op(returned)
    kind = FunctionType.from_lists([value.type for value in inputs], [value.type for value in outputs])
    name = f"{function.sym_name.data}{_INFIX}{number}"
    kinds = FUNCTION_KINDS.of(module.version)
    visibility = "private" if kinds else None
    made = FuncOp(name, kind, Region([block]), visibility=visibility, arg_attrs=_argument_attributes(function, inputs))
    if kinds:
        made.attributes[KIND] = StringAttr("const_eval")
    else:
        made.attributes[_MARK] = UnitAttr()
    made.location = function.location
    insert_before(function, made)
    place = next(op for op in body.ops if op.name != "ttcore.load_cached")
    call = make(
        "ttcore.load_cached",
        module.version,
        inputs,
        [value.type for value in outputs],
        {"callee": SymbolRefAttr(name)},
        location=function.location,
    )
    insert_before(place, call)
    for old, new in zip(outputs, call.results, strict=True):
        for use in [use for use in old.uses if use.operation not in inside]:
            use.operation.operands[use.index] = new
    for op in reversed(ops):
        erase(op)


def _argument_attributes(function: FuncOp, inputs: list[BlockArgument]) -> ArrayAttr[Any] | None:
    """Weights of convolutions stay marked as such."""
    if function.arg_attrs is None:
        return None
    entries = [function.arg_attrs.data[value.index] for value in inputs]
    kept = [
        DictionaryAttr({name: value for name, value in entry.data.items() if name in _KEPT_ARGUMENTS})
        for entry in entries
    ]
    return ArrayAttr(kept) if any(entry.data for entry in kept) else None


def inputs_to_host(module: Module) -> None:
    """Move arguments of constant functions only to the host.

    These functions copy them to the device.
    """
    functions = {function.sym_name.data: function for function in module.functions()}
    for function in functions.values():
        body = function.regions[0].blocks.first
        if body is None or function_kind(function) != "forward_device":
            continue
        for argument in body.args:
            layout = layout_of(argument.type)
            users = [use.operation for use in argument.uses]
            if layout is None or on_host(layout) or not users:
                continue
            if any(user.name != "ttcore.load_cached" for user in users):
                continue
            type_ = retyped(argument.type, space="system_memory", tiled=False)
            # The elements keep their type.
            assert isinstance(argument.type, TensorType)
            type_ = TensorType(argument.type.element_type, argument.type.get_shape(), type_.encoding)
            set_type(argument, type_)
            for user in users:
                callee = user.properties["callee"]
                assert isinstance(callee, SymbolRefAttr)
                for index, operand in enumerate(user.operands):
                    if operand is argument:
                        _argument_from_host(module, functions[callee.root_reference.data], index, type_)
        for call in [op for op in function.walk() if op.name == "ttcore.load_cached"]:
            name = call.properties["callee"]
            assert isinstance(name, SymbolRefAttr)
            _inline_identity(call, functions[name.root_reference.data])
        update_function_type(function)


def _argument_from_host(module: Module, function: FuncOp, index: int, type_: TensorType[Any]) -> None:
    body = function.regions[0].blocks.first
    assert body is not None
    argument = body.args[index]
    if argument.type == type_:
        return
    old, uses = argument.type, list(argument.uses)
    set_type(argument, type_)
    if len(uses) == 1 and uses[0].operation.name == "ttnn.to_tensor_spec" and _to_host(uses[0].operation):
        # Weights of transposed convolutions: what brought them to the host may have nothing left to change.
        if uses[0].operation.results[0].type == type_:
            replace(uses[0].operation, [argument])
    else:
        place = next((op for op in body.ops if op.name not in _SHARED), None)
        assert place is not None
        moved = Build(module, place).spec(argument, old)
        for use in uses:
            use.operation.operands[use.index] = moved
    update_function_type(function)


def _inline_identity(call: Operation, function: FuncOp) -> None:
    """Replace results of an argument-returning function by its arguments."""
    body = function.regions[0].blocks[0]
    last = body.last_op
    assert last is not None
    if body.first_op is last:
        inline_call(call, function)
        erase(function)


def _to_host(op: Operation) -> bool:
    layout = layout_of(op.results[0].type)
    return layout is not None and on_host(layout)

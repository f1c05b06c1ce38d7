"""Names of values and blocks, numbered as in MLIR.

`%0`, `%arg0`, `%c1_i32`, `^bb1`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    Block,
    IndexType,
    IntegerAttr,
    IntegerType,
    Operation,
    Region,
    Signedness,
    SSAValue,
)

__all__ = ["ValueNames"]

_ISOLATED = {"builtin.module", "func.func", "ttcore.device_module", "ttcore.cpu_module", "emitpy.file"}


class _Outputs(Protocol):
    def outputs(self, operation: Operation) -> Sequence[Attribute]:
        """Return the types of the empty tensors that an operation writes to."""

    def places(self, operation: Operation) -> Sequence[tuple[Operation, int]]:
        """Return the operations they preceded, and their order.

        Empty if that was right before it.
        """


class ValueNames:
    """The names of everything in an operation."""

    def __init__(self, top: Operation, expansion: _Outputs) -> None:
        self._expansion = expansion
        self._values: dict[SSAValue, str] = {}
        self._groups: dict[Operation, str] = {}
        self._blocks: dict[Block, str] = {}
        self._outputs: dict[Operation, list[str]] = {}
        self._empties: dict[Operation, list[tuple[str, Attribute, Operation]]] = {}
        self._next_value = 0
        self._next_argument = 0
        # Each name that is in use, and the number with which the next one of that name is tried.
        self._used: dict[str, int] = {}
        self._changes: list[tuple[str, int | None]] = []
        self._operation(top)

    def value(self, value: SSAValue) -> str:
        """Return the name of a value."""
        return self._values.get(value, "<<UNKNOWN SSA VALUE>>")

    def results(self, operation: Operation) -> str:
        """Return what stands before ` = `."""
        return self._groups[operation]

    def block(self, block: Block) -> str:
        """Return the label of a block."""
        return self._blocks.get(block, "^INVALIDBLOCK")

    def outputs(self, operation: Operation) -> list[str]:
        """Return the names of the empty tensors that an operation writes to."""
        return self._outputs.get(operation, [])

    def empties(self, operation: Operation) -> list[tuple[str, Attribute, Operation]]:
        """Return empty tensors written before an operation, with their writers.

        Name and type of each, and what writes to it.
        """
        return self._empties.get(operation, [])

    def _unique(self, name: str) -> str:
        candidate, number = name, self._used.get(name, 0)
        while candidate in self._used:
            candidate = f"{name}_{number}"
            number += 1
        self._use(candidate, 0)
        if number:
            self._use(name, number)
        return candidate

    def _use(self, name: str, number: int) -> None:
        self._changes.append((name, self._used.get(name)))
        self._used[name] = number

    def _release(self, mark: int) -> None:
        """Undo what was used since there were so many changes."""
        while len(self._changes) > mark:
            name, before = self._changes.pop()
            if before is None:
                del self._used[name]
            else:
                self._used[name] = before

    def _number(self) -> str:
        name = f"%{self._next_value}"
        self._next_value += 1
        return name

    def _operation(self, operation: Operation, outputs: Sequence[tuple[Operation, int, Attribute]] = ()) -> None:
        for owner, index, type_ in outputs:
            name = self._number()
            self._outputs.setdefault(owner, [""] * len(self._expansion.outputs(owner)))[index] = name
            self._empties.setdefault(operation, []).append((name, type_, owner))
        if operation.results:
            names = _result_names(operation)
            if names:
                texts = [f"%{self._unique(name)}" for name in names]
                self._groups[operation] = ", ".join(texts)
                self._values.update(zip(operation.results, texts, strict=True))
                base = ""
            else:
                hint = _result_hint(operation)
                base = f"%{self._unique(hint)}" if hint else self._number()
            if base and len(operation.results) == 1:
                self._values[operation.results[0]] = self._groups[operation] = base
            elif base:
                self._groups[operation] = f"{base}:{len(operation.results)}"
                for i, result in enumerate(operation.results):
                    self._values[result] = f"{base}#{i}"
        if operation.name in _ISOLATED:
            for region in operation.regions:
                saved = self._next_value, self._next_argument, self._used, self._changes
                self._next_value, self._next_argument, self._used, self._changes = 0, 0, {}, []
                self._region(region)
                self._next_value, self._next_argument, self._used, self._changes = saved
        else:
            for region in operation.regions:
                next_value, next_argument, mark = self._next_value, self._next_argument, len(self._changes)
                self._region(region)
                self._next_value, self._next_argument = next_value, next_argument
                self._release(mark)

    def _region(self, region: Region) -> None:
        for i, block in enumerate(region.blocks):
            self._blocks[block] = f"^bb{i}"
        induction = _induction_names(region)
        for index, block in enumerate(region.blocks):
            for i, argument in enumerate(block.args):
                if index == 0 and i < len(induction):
                    self._values[argument] = f"%{self._unique(induction[i])}"
                    continue
                self._values[argument] = f"%{self._unique(f'arg{self._next_argument}')}"
                self._next_argument += 1
            outputs = self._written(block)
            for operation in block.ops:
                self._operation(operation, outputs.get(operation, ()))

    def _written(self, block: Block) -> dict[Operation, list[tuple[Operation, int, Attribute]]]:
        """Return per operation the outputs written before it.

        Of what, which, of what type.

        They are written where they stood if that is still before what writes to them.
        """
        wanted = [(op, types) for op in block.ops if (types := self._expansion.outputs(op))]
        if not wanted:
            return {}
        numbers = {op: number for number, op in enumerate(block.ops)}
        found: dict[Operation, list[tuple[int, Operation, int, Attribute]]] = {}
        for op, types in wanted:
            places = self._expansion.places(op) or [(op, len(numbers))] * len(types)
            for index, (type_, (before, order)) in enumerate(zip(types, places, strict=True)):
                early = numbers.get(before, len(numbers)) < numbers[op]
                found.setdefault(before if early else op, []).append((order, op, index, type_))
        return {op: [one[1:] for one in sorted(ones, key=lambda one: one[0])] for op, ones in found.items()}


def _induction_names(region: Region) -> list[str]:
    """Return leading argument names from loops; none here.

    `%arg` is used for all.
    """
    del region
    return []


def _result_names(operation: Operation) -> list[str]:
    """Return the names of several results that a table tells apart."""
    groups = getattr(getattr(operation, "text", None), "results", ())
    if len(groups) < 2 or any(group.kind for group in groups) or len(groups) != len(operation.results):
        return []
    return [group.name for group in groups]


def _result_hint(operation: Operation) -> str | None:
    """Return the name that an operation gives its result."""
    if operation.name != "arith.constant":
        return None
    # Not `or`: the attribute of a zero is false.
    value = operation.properties.get("value", operation.attributes.get("value"))
    if isinstance(value, IntegerAttr):
        number = value.value.data
        if isinstance(value.type, IndexType):
            return f"c{number}"
        if isinstance(value.type, IntegerType):
            if value.type.width.data == 1:
                return "true" if number else "false"
            sign = {Signedness.SIGNLESS: "i", Signedness.SIGNED: "si", Signedness.UNSIGNED: "ui"}
            return f"c{number}_{sign[value.type.signedness.data]}{value.type.width.data}"
    return "cst"

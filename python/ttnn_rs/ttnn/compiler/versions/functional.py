"""Between a version's text and functional form, converting outputs.

Outputs that are operands are removed and restored.

In 2024-09 and 2025-10 most operations take an output tensor that `tensor.empty` or `ttir.empty` makes. Inside,
results stand for themselves; when text of these versions is written, each operation gets its empty tensors again.
Groups of operands and kinds of attributes are those of the newest version.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from ttnn.compiler.dialects.kinds import check_kind, of_kind
from ttnn.compiler.dialects.operations import SEGMENTS, TableOp, segment_sizes
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import AttributeText, attribute_text
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    DenseArrayBase,
    IntegerType,
    Operation,
    OpResult,
    SSAValue,
    VerifyException,
)
from ttnn.compiler.version import Version
from ttnn.compiler.versions.detect import EMPTIES
from ttnn.compiler.versions.repeated import leave_out, written

__all__ = ["Downgrade", "to_functional"]


def to_functional(module: Module) -> None:
    """Remove outputs from a freshly read module's operands.

    Raises:
        CompileError: The operands of an operation do not fit its table.
    """
    fed: dict[TableOp, list[Operation]] = {}
    for op in list(module.op.walk()):
        if isinstance(op, TableOp):
            for written, name in op.text.renamed.items():
                if written in op.properties:
                    op.properties[name] = op.properties.pop(written)
            for name, value in op.defaults().items():
                if name not in op.properties:
                    op.properties[name] = value
            try:
                fed[op] = _absorb(op)
            except VerifyException as error:
                raise CompileError(module.error(op, str(error))) from None
    for op in fed:
        _upgrade_kinds(op)
        leave_out(op)
    used = dict.fromkeys(empty for empties in fed.values() for empty in empties)
    gone = [empty for empty in used if not any(result.uses for result in empty.results)]
    places = _places(gone)
    for op, empties in fed.items():
        if any(places.get(empty, (op,))[0] is not op for empty in empties):
            op.outs_before = tuple(places.get(empty, (op, 0)) for empty in empties)
    for empty in gone:
        module.places.pop(empty, None)
        empty.detach()
        empty.erase()


def _places(gone: Sequence[Operation]) -> dict[Operation, tuple[Operation, int]]:
    """Return removed operations' successors and block numbers.

    The next one that stays.
    """
    leave = set(gone)
    found: dict[Operation, tuple[Operation, int]] = {}
    for block in dict.fromkeys(empty.parent for empty in gone):
        assert block is not None
        after: Operation | None = None
        for number, op in reversed(list(enumerate(block.ops))):
            if op not in leave:
                after = op
            elif after is not None:
                found[op] = (after, number)
    return found


def _upgrade_kinds(op: TableOp) -> None:
    """Convert attributes of other kinds; a wrong one is the `problem`."""
    for name, entry in op.text.kinds.items():
        value = op.properties.get(name)
        if value is None:
            continue
        try:
            check_kind(entry, value)
        except VerifyException as error:
            op.problem = op.problem or str(error)
        else:
            op.properties[name] = of_kind(value, op.spec.attributes[name].kind)


def _absorb(op: TableOp) -> list[Operation]:
    """Reorder operands to functional form; return the used empty tensors."""
    text, values = op.text, tuple(op.operands)
    if not text.outs and not op.regrouped:
        return []
    stated = op.properties.get(SEGMENTS)
    if isinstance(stated, DenseArrayBase) and sum(stated.get_values()) != len(values):
        raise VerifyException(
            f"operand count ({len(values)}) does not match with the total size ({int(sum(stated.get_values()))}) "
            f"specified in attribute '{SEGMENTS}'"
        )
    # Sizes are only of operations with several groups that vary; elsewhere they say nothing new.
    groups = text.operands
    given = op.properties.get(SEGMENTS) if sum(1 for group in groups if group.kind) > 1 else None
    try:
        sizes = segment_sizes(groups, len(values), given)
    except VerifyException:
        # Text of the later form in a file of an earlier version: there are no outputs to take.
        if not text.outs or (values and isinstance(values[-1], OpResult) and values[-1].owner.name in EMPTIES):
            raise
        groups = text.inputs
        try:
            sizes = segment_sizes(groups, len(values), given)
        except VerifyException:
            sizes = ()
        if not sizes:
            raise
    inputs: list[SSAValue] = []
    outs: list[SSAValue] = []
    kept: list[int] = []
    at = 0
    for group, size in zip(groups, sizes, strict=True):
        (outs if group.out else inputs).extend(values[at : at + size])
        if not group.out:
            kept.append(size)
        at += size
    if text.results and len(op.results) == len(outs):
        for out, result in zip(outs, op.results, strict=True):
            if out.type != result.type:
                op.problem = (
                    f"expected type of operand #{values.index(out)} ('{attribute_text(out.type)}') to match type of "
                    f"corresponding result ('{attribute_text(result.type)}')"
                )
    owners = [value.owner for value in outs if isinstance(value, OpResult)]
    absorbed = (
        len(outs) == len(op.results)
        and op.problem is None
        and all(isinstance(value, OpResult) and value.owner.name in EMPTIES for value in outs)
        and not any(owner.operands for owner in owners if isinstance(owner, Operation))
    )
    if "variadic" in text.traits:
        kept = [1] * len(text.inputs)
        if len(inputs) != len(kept):
            raise VerifyException(f"expected {len(kept)} inputs, but found {len(inputs)}")
    op.properties.pop(SEGMENTS, None)
    op.properties |= op.segments(kept)
    op.n_outs = 0 if absorbed else len(outs)
    op.operands = inputs if absorbed else [*inputs, *outs]
    return [owner for owner in owners if isinstance(owner, Operation)] if absorbed else []


def _written_sizes(op: TableOp, outs: int) -> list[int]:
    """Return the number of operands of each group in the text."""
    inside = segment_sizes(op.spec.operands, len(op.inputs), op.properties.get(SEGMENTS))
    sizes = {group.name: size for group, size in zip(op.spec.operands, inside, strict=True)}
    sizes["inputs"] = sizes.get("inputs", len(op.inputs))
    rest = outs - sum(1 for group in op.text.outs if not group.kind)
    return [(rest if group.kind else 1) if group.out else sizes[group.name] for group in op.text.operands]


class Downgrade:
    """The text of operations in a version."""

    def __init__(self, version: Version) -> None:
        self.version = version

    @staticmethod
    def outputs(operation: Operation) -> Sequence[Attribute]:
        """Return the types of the empty tensors that an operation writes to."""
        if not isinstance(operation, TableOp) or operation.n_outs or operation.name.startswith("ttnn."):
            return ()
        return tuple(result.type for result in operation.results) if operation.text.outs else ()

    @staticmethod
    def places(operation: Operation) -> Sequence[tuple[Operation, int]]:
        """Return the operations its outputs preceded, and their order.

        Empty if that was right before it.
        """
        return operation.outs_before if isinstance(operation, TableOp) else ()

    @staticmethod
    def operands(operation: Operation, outputs: Sequence[str]) -> list[tuple[str | SSAValue, Attribute]]:
        """Return the operands as they are written, with their types."""
        if not isinstance(operation, TableOp):
            return [(value, value.type) for value in operation.operands]
        if not outputs and not operation.n_outs:
            return [(value, value.type) for value in operation.inputs]
        outs: Sequence[tuple[str | SSAValue, Attribute]]
        if outputs:
            outs = [(name, result.type) for name, result in zip(outputs, operation.results, strict=True)]
        else:
            outs = [(value, value.type) for value in operation.outs]
        inputs = iter([(value, value.type) for value in operation.inputs])
        written = iter(outs)
        sizes = _written_sizes(operation, len(outs))
        return [
            one
            for group, size in zip(operation.text.operands, sizes, strict=True)
            for one in islice(written if group.out else inputs, size)
        ]

    def properties(self, operation: Operation) -> dict[str, Attribute]:
        """Return the properties as they are written: segment sizes count the outputs."""
        if not isinstance(operation, TableOp):
            return operation.properties
        text, properties = operation.text, dict(written(operation))
        for name, entry in text.kinds.items():
            if name in properties:
                properties[name] = of_kind(properties[name], entry.kind)
        for written_name, name in text.renamed.items():
            if name in properties:
                properties[written_name] = properties.pop(name)
        outs = operation.n_outs or len(self.outputs(operation))
        if not outs and (SEGMENTS not in properties or not operation.regrouped):
            return properties
        properties.pop(SEGMENTS, None)
        if sum(1 for group in text.operands if group.kind) > 1:
            sizes = _written_sizes(operation, outs)
            properties[SEGMENTS] = DenseArrayBase.from_list(IntegerType(32), sizes)
        return properties

    def empty(self, printer: AttributeText, type_: Attribute, *, generic: bool) -> str:
        """Return the operation that makes an output, without its result."""
        word = "tensor" if self.version == "2024-09" else "ttir"
        name = f'"{word}.empty"() : () -> ' if generic else f"{word}.empty() : "
        return name + printer.attribute(type_)

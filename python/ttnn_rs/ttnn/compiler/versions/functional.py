"""Between a version's text and functional form, converting outputs.

Outputs that are operands are removed and restored.

In 2024-09 and 2025-10 most operations take an output tensor that `tensor.empty` or `ttir.empty` makes. Inside,
results stand for themselves; when text of these versions is written, each operation gets its empty tensors again.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn.compiler.dialects.operations import SEGMENTS, TableOp, segment_sizes
from ttnn.compiler.dialects.spec import TextSpec, text_of
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
from ttnn.compiler.versions.repeated import leave_out, written

__all__ = ["Downgrade", "to_functional"]

_EMPTIES = {"tensor.empty", "ttir.empty"}


def to_functional(module: Module) -> None:
    """Remove outputs from a freshly read module's operands.

    Raises:
        CompileError: The operands of an operation do not fit its table.
    """
    fed: dict[TableOp, list[Operation]] = {}
    for op in list(module.op.walk()):
        if isinstance(op, TableOp):
            for name, value in op.defaults().items():
                if name not in op.properties:
                    op.properties[name] = value
            try:
                fed[op] = _absorb(op, text_of(op.name, module.version))
            except VerifyException as error:
                raise CompileError(module.error(op, str(error))) from None
    for op in fed:
        leave_out(op, module.version)
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


def _absorb(op: TableOp, text: TextSpec) -> list[Operation]:
    """Reorder operands to functional form; return the used empty tensors."""
    spec = op.spec
    values = tuple(op.operands)
    if not text.outs:
        return []
    stated = op.properties.get(SEGMENTS)
    if isinstance(stated, DenseArrayBase) and sum(stated.get_values()) != len(values):
        raise VerifyException(
            f"operand count ({len(values)}) does not match with the total size ({int(sum(stated.get_values()))}) "
            f"specified in attribute '{SEGMENTS}'"
        )
    # Sizes are only of operations with several groups that vary; elsewhere they say nothing new.
    given = op.properties.get(SEGMENTS) if sum(1 for group in text.operands if group.kind) > 1 else None
    try:
        sizes = segment_sizes(text.operands, len(values), given)
    except VerifyException:
        # Text of the later form in a file of an earlier version: there are no outputs to take.
        if values and isinstance(values[-1], OpResult) and values[-1].owner.name in _EMPTIES:
            raise
        try:
            segment_sizes(spec.operands, len(values), given)
        except VerifyException:
            sizes = ()
        else:
            return []
        if not sizes:
            raise
    inputs: list[SSAValue] = []
    outs: list[SSAValue] = []
    kept: list[int] = []
    at = 0
    for group, size in zip(text.operands, sizes, strict=True):
        (outs if group.out else inputs).extend(values[at : at + size])
        if not group.out:
            kept.append(size)
        at += size
    if spec.results and len(op.results) == len(outs):
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
        and all(isinstance(value, OpResult) and value.owner.name in _EMPTIES for value in outs)
        and not any(owner.operands for owner in owners if isinstance(owner, Operation))
    )
    if sum(1 for group in spec.operands if group.kind) > 1:
        op.properties[SEGMENTS] = DenseArrayBase.from_list(IntegerType(32), kept)
    else:
        op.properties.pop(SEGMENTS, None)
    op.n_outs = 0 if absorbed else len(outs)
    op.operands = inputs if absorbed else [*inputs, *outs]
    return [owner for owner in owners if isinstance(owner, Operation)] if absorbed else []


class Downgrade:
    """The text of operations in a version."""

    def __init__(self, version: Version) -> None:
        self.version = version

    def outputs(self, operation: Operation) -> Sequence[Attribute]:
        """Return the types of the empty tensors that an operation writes to."""
        if not isinstance(operation, TableOp) or operation.n_outs or operation.name.startswith("ttnn."):
            return ()
        if not text_of(operation.name, self.version).outs:
            return ()
        return tuple(result.type for result in operation.results)

    @staticmethod
    def places(operation: Operation) -> Sequence[tuple[Operation, int]]:
        """Return the operations its outputs preceded, and their order.

        Empty if that was right before it.
        """
        return operation.outs_before if isinstance(operation, TableOp) else ()

    def operands(self, operation: Operation, outputs: Sequence[str]) -> list[tuple[str | SSAValue, Attribute]]:
        """Return the operands as they are written, with their types."""
        if not isinstance(operation, TableOp):
            return [(value, value.type) for value in operation.operands]
        inputs = [(value, value.type) for value in operation.inputs]
        if not outputs and not operation.n_outs:
            return list(inputs)
        outs: list[tuple[str | SSAValue, Attribute]]
        if outputs:
            outs = [(name, result.type) for name, result in zip(outputs, operation.results, strict=True)]
        else:
            outs = [(value, value.type) for value in operation.outs]
        spec, text = operation.spec, text_of(operation.name, self.version)
        sizes = iter(segment_sizes(spec.operands, len(inputs), operation.properties.get(SEGMENTS)))
        all_operands: list[tuple[str | SSAValue, Attribute]] = []
        at = 0
        singles = sum(1 for group in text.outs if not group.kind)
        for group in text.operands:
            if group.out:
                size = 1 if not group.kind else len(outs) - singles
                all_operands += outs[:size]
                del outs[:size]
            else:
                size = next(sizes)
                all_operands += inputs[at : at + size]
                at += size
        return all_operands

    def properties(self, operation: Operation) -> dict[str, Attribute]:
        """Return the properties as they are written: segment sizes count the outputs."""
        if not isinstance(operation, TableOp):
            return operation.properties
        properties = written(operation, self.version)
        outs = operation.n_outs or len(self.outputs(operation))
        spec, text = operation.spec, text_of(operation.name, self.version)
        variable = sum(1 for group in text.operands if group.kind)
        if not outs or variable < 2:
            return properties
        sizes = iter(segment_sizes(spec.operands, len(operation.inputs), operation.properties.get(SEGMENTS)))
        singles = sum(1 for group in text.outs if not group.kind)
        all_sizes = [(1 if not group.kind else outs - singles) if group.out else next(sizes) for group in text.operands]
        return {**properties, SEGMENTS: DenseArrayBase.from_list(IntegerType(32), all_sizes)}

    def empty(self, printer: AttributeText, type_: Attribute, *, generic: bool) -> str:
        """Return the operation that makes an output, without its result."""
        word = "tensor" if self.version == "2024-09" else "ttir"
        name = f'"{word}.empty"() : () -> ' if generic else f"{word}.empty() : "
        return name + printer.attribute(type_)

"""The version of a text, detected from its operations."""

from __future__ import annotations

from itertools import islice
from typing import Final

from ttnn.compiler.dialects.kinds import check_kind
from ttnn.compiler.dialects.operations import SEGMENTS, segment_sizes
from ttnn.compiler.dialects.spec import DIALECTS, AttributeSpec, TextSpec, find_written
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.operations import written_name
from ttnn.compiler.ir.xdsl_adapter import Attribute, Operation, OpResult, VerifyException
from ttnn.compiler.version import VERSIONS, Version, span

__all__ = ["EMPTIES", "detect"]

EMPTIES: Final = {"tensor.empty", "ttir.empty"}
_LATER: Final = frozenset(span("2025-10.."))
_SIZES: Final = {SEGMENTS, "resultSegmentSizes"}


def detect(module: Module) -> Version:
    """Return the version of a module whose operations were just read.

    If several fit, it is that of the module, else the newest before it; a later one only if the others lack a dialect.
    """
    known, fed = [], False
    named = [frozenset(span(DIALECTS[dialect])) for dialect in module.dialects if dialect in DIALECTS]
    for op in module.op.walk():
        if op.name in EMPTIES:
            fed = True
            named += [_LATER] if op.name == "ttir.empty" else []
        if op.name.partition(".")[0] in DIALECTS:
            known.append(op)
    order = [version for version in reversed(VERSIONS) if all(version in one for one in named)]
    order = [version for version in order if version <= module.version] or order or [module.version]
    if not fed and not any(_misfit(op, order[0]) for op in known):
        return order[0]
    return min(order, key=lambda version: sum(_misfit(op, version) for op in known))


def _misfit(op: Operation, version: Version) -> int:
    """Return the number of parts of an operation that a version lacks.

    It is -1 if only that version has an operation with such outputs.
    """
    spec = find_written(written_name(op), version)
    entries = {**op.attributes, **op.properties}
    if spec is None:
        return 1 + len(entries)
    text = spec.texts[version]
    fields = {**text.attributes, **text.repeated, **text.kinds}.values()
    known = {entry.written or entry.name: entry for entry in fields}
    unknown = len(op.properties.keys() - known.keys() - _SIZES)
    return unknown + sum(_wrong(entry, entries.get(name)) for name, entry in known.items()) + _operands_misfit(op, text)


def _wrong(entry: AttributeSpec, value: Attribute | None) -> bool:
    if value is None:
        return not entry.optional
    try:
        check_kind(entry, value)
    except VerifyException:
        return True
    return False


def _operands_misfit(op: Operation, text: TextSpec) -> int:
    try:
        sizes = segment_sizes(text.operands, len(op.operands), op.properties.get(SEGMENTS))
    except VerifyException:
        return 1
    values = iter(op.operands)
    outs = [
        value for group, size in zip(text.operands, sizes, strict=True) for value in islice(values, size) if group.out
    ]
    if not text.outs:
        return 0
    made = all(isinstance(one, OpResult) and one.owner.name in EMPTIES for one in outs)
    # Empty tensors that have the types of the results are operands in versions with outputs only.
    return -1 if made and [one.type for one in outs] == [result.type for result in op.results] else 1

"""`ttnn-workaround`: programs as TT-NN's kernels require.

Their operands and operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue, TensorType, UnitAttr
from ttnn.compiler.transforms.base import table_ops
from ttnn.compiler.transforms.ttnn.build import Build, change_operands, set_result, with_suffix
from ttnn.compiler.transforms.ttnn.layout.chip import with_core_ranges
from ttnn.compiler.transforms.ttnn.layout.layouts import layout_of
from ttnn.compiler.transforms.ttnn.layout.types import HOST, on_host, retyped, tensor_layout
from ttnn.compiler.transforms.ttnn.workarounds.table import ROWS, WITH_OPTIMIZER, Row, Want
from ttnn.compiler.version import span

__all__ = ["run"]


def run(module: Module, options: dict[str, Any]) -> None:
    """Decompose operations, then convert operands and results.

    Raises:
        CompileError: An operation cannot be decomposed.
    """
    if options["ttnn-enable-decomposition-workaround-pass"]:
        from ttnn.compiler.transforms.ttnn.workarounds.decompositions import decompose

        decompose(module, options["ttnn-optimization-level"])
    if options["ttnn-enable-layout-workaround-pass"]:
        optimized = options["ttnn-optimization-level"] > 0 or options["ttnn-is-optimizer-enabled"]
        convert_operands(module, optimized=optimized, exact=options["exact-integers"])


def convert_operands(module: Module, *, optimized: bool, exact: bool = False) -> None:
    """Convert operands and results by the table, around the operation.

    Args:
        module: The module.
        optimized: An optimizer chooses layouts: only some rows hold.
        exact: Rows that round integers of 32 bits are left out.
    """
    version = module.version
    for op in table_ops(module.op, "ttnn."):
        short = op.name.partition(".")[2]
        if optimized and short not in WITH_OPTIMIZER[version]:
            continue
        rows = _rows(version).get(short, ())
        tensors = [value for value in (*op.inputs, *op.results) if isinstance(value.type, TensorType)]
        if rows and all(layout_of(value.type) is not None for value in tensors):
            _convert(module, op, [row for row in rows if not (exact and row.rounds is not None and row.rounds(op))])


@cache
def _rows(version: str) -> dict[str, tuple[Row, ...]]:
    found: dict[str, tuple[Row, ...]] = {}
    for row in ROWS:
        if version in span(row.versions):
            for name in row.ops.split():
                found[name] = (*found.get(name, ()), row)
    return found


def _convert(module: Module, op: TableOp, rows: Sequence[Row]) -> None:
    # What is wanted is decided before anything changes.
    operands: dict[int, Want] = {}
    results: dict[int, Want] = {}
    for row in rows:
        if row.when is not None and not row.when(op):
            continue
        want = row.want if isinstance(row.want, Want) else row.want(op)
        if want is None:
            continue
        for kind, index in _places(op, row.where):
            into = results if kind else operands
            into[index] = _joined(into.get(index), want)
    build = Build(module, op)
    for index, want in sorted(operands.items()):
        value = op.operands[index]
        type_ = _wanted(module, value, want)
        if type_ == value.type:
            continue
        converted = build.spec(value, type_, "_workaround")
        if want.constant:
            owner = converted.owner
            assert isinstance(owner, TableOp)
            owner.attributes["ttnn.const_eval_allowed"] = UnitAttr()
        op.operands[index] = converted
    for index, want in sorted(results.items()):
        result = op.results[index]
        type_ = _wanted(module, result, want)
        if type_ != result.type:
            _convert_result(module, op, index, type_)


def _joined(first: Want | None, second: Want) -> Want:
    if first is None:
        return second
    names = ("tiled", "dtype", "space", "memory")
    chosen = {
        name: getattr(second, name) if getattr(second, name) is not None else getattr(first, name) for name in names
    }
    return Want(**chosen, constant=first.constant or second.constant)


def _places(op: TableOp, where: str) -> Iterator[tuple[bool, int]]:
    """Yield whether a place is of results, and its index."""
    if where.startswith("->"):
        if int(where[2:]) < len(op.results):
            yield True, int(where[2:])
        return
    if where == "*":
        yield from ((False, i) for i, value in enumerate(op.inputs) if isinstance(value.type, TensorType))
        yield from ((True, i) for i in range(len(op.results)))
        return
    if where not in {group.name for group in op.spec.operands}:
        return
    at = 0
    for group in op.spec.operands:
        size = len(op.group(group.name))
        if group.name == where:
            yield from ((False, at + i) for i in range(size))
        at += size


def _wanted(module: Module, value: SSAValue, want: Want) -> TensorType[Any]:
    assert isinstance(value.type, TensorType)
    have = tensor_layout(value)
    memory = HOST if on_host(have) else have.mem_layout
    asked = (want.tiled, want.dtype, want.space, want.memory)
    held = (have.tiled, have.dtype, have.space, memory)
    if all(one is None or one == other for one, other in zip(asked, held, strict=True)):
        # Conversions name the sign of integers; what lies as wanted keeps its type.
        return value.type
    type_ = retyped(value.type, dtype=want.dtype, tiled=want.tiled, space=want.space, memory=want.memory)
    return with_core_ranges(module, type_)


def _convert_result(module: Module, op: TableOp, index: int, type_: TensorType[Any]) -> None:
    """Change the type of a result; its users receive it converted back."""
    result = op.results[index]
    old, uses = result.type, list(result.uses)
    set_result(op, type_, index)
    layout = layout_of(type_)
    assert layout is not None
    if any(group.name == "device" and group.kind == "?" for group in op.text.inputs):
        # Tensors of the host are made without a device.
        change_operands(op, device=None if on_host(layout) else op.operand("device") or Build(module, op).device)
        # Which attributes repeat the place of the result depends on the place.
        op.stated = None
    following = op.next_op
    assert following is not None
    back = Build(module, following)
    converted = back.spec(result, old, "_workaround")
    converted.owner.location = with_suffix(op.location, "_workaround")  # type: ignore[union-attr]
    for use in uses:
        use.operation.operands[use.index] = converted

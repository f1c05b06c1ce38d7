"""Loops and branches: written out, if their counts and conditions are known."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.onnx.binary import chosen
from ttnn.compiler.importers.onnx.scope import Described, Node, Row, Scope
from ttnn.compiler.importers.onnx.types import BOOL, INT64
from ttnn.compiler.importers.onnx.values import Value

__all__ = ["ROWS"]


def _if(s: Scope, a: Node) -> Any:
    """Import a branch; if it depends on data, both sides."""
    condition = a.needed(0)
    sides = [a.attribute("then_branch"), a.attribute("else_branch")]
    if condition.known is not None:
        return a.run(sides[0 if bool(condition.known.reshape(())) else 1], {})
    first, second = (a.run(one, {}) for one in sides)
    results = []
    for one, other in zip(first, second, strict=True):
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            refuse("depends on data, and its branches return tensors of different shapes or types")
        flag = s.reshape(a[0], [1] * len(one.shape))
        made = chosen(s, flag, s.tensor(one), s.tensor(other), Described(one.shape, one.dtype))
        results.append(Value(one.dtype, made))
    return results


def _limit(a: Node, count: int, body: Any) -> None:
    """Refuse loops that are too long to be written out."""
    if count * max(1, len(body.node)) > a.unrolled:
        refuse(f"has {count:,} rounds of {len(body.node)} nodes, more than {a.unrolled:,} in all")


def _loop(s: Scope, a: Node) -> Any:
    import numpy as np

    body = a.attribute("body")
    count, going = a.known(0), a.value(1)
    carried = [one for one in a.values[2:] if one is not None]
    rest = len(body.output) - 1 - len(carried)
    scanned: list[list[Value]] = [[] for _ in range(rest)]
    if count is not None:
        _limit(a, int(count.reshape(())), body)
    done = 0
    while count is None or done < int(count.reshape(())):
        if going is not None and going.known is None:
            refuse("goes on by a condition that depends on data")
        if going is not None and not bool(going.known.reshape(())):
            break
        if count is None and going is None:
            refuse("has no end")
        _limit(a, done + 1, body)
        values = [Value(INT64, known=np.array(done, np.int64)), going or Value(BOOL, known=np.array(True)), *carried]
        found = a.run(body, {one.name: value for one, value in zip(body.input, values, strict=True)})
        # Without a condition of its own, a loop of a known count ignores what its body returns if that is true.
        going, carried = found[0], found[1 : 1 + len(carried)]
        for line, value in zip(scanned, found[1 + len(carried) :], strict=True):
            line.append(value)
        done += 1
    return [*carried, *(_stacked(s, a, line, 0) for line in scanned)]


def _stacked(s: Scope, a: Node, values: list[Value], axis: int, *, backward: bool = False) -> Value:
    """Return values joined along a new dimension."""
    import numpy as np

    if not values:
        refuse("has a result of no rounds")
    if backward:
        values = values[::-1]
    if all(one.known is not None for one in values):
        return Value(values[0].dtype, known=np.stack([one.known for one in values], axis))
    parts = []
    for one in values:
        shape = list(one.shape)
        at = axis % (len(shape) + 1)
        parts.append(s.reshape(s.tensor(one), [*shape[:at], 1, *shape[at:]]))
    del a
    return Value(values[0].dtype, s.concat(parts, axis % len(shape_of(parts[0]))))


def _scan(s: Scope, a: Node) -> Any:
    if a.opset < 9:
        return _scan_batch(s, a)
    return _scanned(s, a, a.values, "scan_input_directions", "scan_output_directions")


def _scanned(s: Scope, a: Node, values: list[Value | None], inward: str, outward: str) -> list[Value]:
    body, number = a.attribute("body"), int(a.attribute("num_scan_inputs"))
    given = [one for one in values if one is not None]
    carried, lines = given[: len(given) - number], given[len(given) - number :]
    axes = [int(one) for one in a.attribute("scan_input_axes", [0] * number)]
    turned = [int(one) for one in a.attribute(inward, [0] * number)]
    rest = len(body.output) - len(carried)
    out_axes = [int(one) for one in a.attribute("scan_output_axes", [0] * rest)]
    out_turned = [int(one) for one in a.attribute(outward, [0] * rest)]
    axes = [axis % len(line.shape) for axis, line in zip(axes, lines, strict=True)]
    counts = {line.shape[axis] for axis, line in zip(axes, lines, strict=True)}
    if len(counts) != 1:
        refuse(f"goes along dimensions of different sizes: {sorted(counts)}")
    (count,) = counts
    _limit(a, count, body)
    scanned: list[list[Value]] = [[] for _ in range(rest)]
    for i in range(count):
        slices = [
            _at(s, line, axis, count - 1 - i if back else i)
            for line, axis, back in zip(lines, axes, turned, strict=True)
        ]
        found = a.run(body, {one.name: value for one, value in zip(body.input, [*carried, *slices], strict=True)})
        carried = found[: len(carried)]
        for kept, value in zip(scanned, found[len(carried) :], strict=True):
            kept.append(value)
    stacked = [
        _stacked(s, a, line, axis, backward=bool(back))
        for line, axis, back in zip(scanned, out_axes, out_turned, strict=True)
    ]
    return [*carried, *stacked]


def _scan_batch(s: Scope, a: Node) -> list[Value]:
    """Import the scan of opset 8.

    Each sequence of the batch alone, all of full length.
    """
    if a.values[0] is not None:
        refuse("with lengths of sequences has no TTIR operation")
    given = [one for one in a.values[1:] if one is not None]
    results = [
        _scanned(s, a, [_at(s, one, 0, i) for one in given], "directions", "output_directions")
        for i in range(given[0].shape[0])
    ]
    return [_stacked(s, a, list(one), 0) for one in zip(*results, strict=True)]


def _at(s: Scope, value: Value, axis: int, place: int) -> Value:
    """Return a slice of a value, without its dimension."""
    import numpy as np

    if value.known is not None:
        return Value(value.dtype, known=np.take(value.known, place, axis))
    shape = list(value.shape)
    begins, ends = [0] * len(shape), list(shape)
    begins[axis], ends[axis] = place, place + 1
    part = s.slice(s.tensor(value), begins, ends)
    return Value(value.dtype, s.reshape(part, [*shape[:axis], *shape[axis + 1 :]]))


ROWS: Final[dict[tuple[str, str], Row]] = {("", "If"): _if, ("", "Loop"): _loop, ("", "Scan"): _scan}

"""Division of each operation: layouts of its operands and results.

Propagation only hints at a layout. A rule keeps what its operation computes right on parts, and asks for whole
dimensions elsewhere; an operation without a rule is computed whole on every device.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.spmd.layout import Layout, whole
from ttnn.compiler.importers.spmd.partitioner import Part, Partitioner
from ttnn.compiler.importers.stablehlo.reducers import single
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import DenseArrayBase, IntegerType

__all__ = ["RULES"]


def _replicated(p: Partitioner, view: View) -> list[Part]:
    """Compute an operation whole, on every device."""
    operands = [p.divided(one, whole(len(one.shape))) for one in p.parts(view.op)]
    return p.clone(view, operands, [whole(len(shape_of(one))) for one in view.types])


def _shape(view: View, number: int = 0) -> tuple[int, ...]:
    return shape_of(view.types[number])


def _elementwise(p: Partitioner, view: View) -> list[Part]:
    """Divide operands as the result; scalars stay whole."""
    (layout,), shape = p.hints(view), _shape(view)
    operands = [p.divided(one, layout if one.shape == shape else whole(len(one.shape))) for one in p.parts(view.op)]
    return p.clone(view, operands, [layout])


def _constant(p: Partitioner, view: View) -> list[Part]:
    (layout,) = p.hints(view)
    value = view.attribute("value")
    if not isinstance(value, DenseAttr) or not value.splat:
        return _replicated(p, view)
    type_ = p.type(value.type, layout)
    return p.clone(view, [], [layout], {"value": DenseAttr(type_, value.data, True)})


def _iota(p: Partitioner, view: View) -> list[Part]:
    (layout,) = p.hints(view)
    return p.clone(view, [], [_without(layout, [view.get("iota_dimension")])])


def _without(layout: Layout, dims: Sequence[int]) -> Layout:
    return tuple(() if dim in dims else axes for dim, axes in enumerate(layout))


def _broadcast(p: Partitioner, view: View) -> list[Part]:
    (layout,), (part,), shape = p.hints(view), p.parts(view.op), _shape(view)
    dims = view.ints("broadcast_dimensions")
    wanted = tuple(layout[dim] if size == shape[dim] else () for dim, size in zip(dims, part.shape, strict=True))
    return p.clone(view, [p.divided(part, wanted)], [layout])


def _reshape(p: Partitioner, view: View) -> list[Part]:
    """Keep the division of dimensions that lead their group on both sides."""
    (layout,), (part,), shape = p.hints(view), p.parts(view.op), _shape(view)
    before: list[tuple[int, ...]] = [()] * len(part.shape)
    after: list[tuple[int, ...]] = [()] * len(shape)
    for ours, theirs in _groups(part.shape, shape):
        lead = next((dim for dim in theirs if shape[dim] > 1), None)
        source = next((dim for dim in ours if part.shape[dim] > 1), None)
        if lead is None or source is None:
            continue
        if layout[lead] and part.shape[source] % p.mesh.parts(layout[lead]) == 0:
            before[source] = after[lead] = layout[lead]
    return p.clone(view, [p.divided(part, tuple(before))], [tuple(after)])


def _groups(one: Sequence[int], other: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Return dimensions of two shapes that hold the same elements."""
    if 0 in one:
        return []
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(one) or j < len(other):
        ours: list[int] = []
        theirs: list[int] = []
        left = right = 1
        while True:
            if i < len(one) and (left < right or (not ours and left == right) or one[i] == 1):
                left *= one[i]
                ours.append(i)
                i += 1
            elif j < len(other) and (right < left or not theirs or other[j] == 1):
                right *= other[j]
                theirs.append(j)
                j += 1
            else:
                break
        groups.append((ours, theirs))
    return groups


def _transpose(p: Partitioner, view: View) -> list[Part]:
    (layout,), (part,) = p.hints(view), p.parts(view.op)
    wanted: list[tuple[int, ...]] = [()] * len(layout)
    for dim, source in enumerate(view.ints("permutation")):
        wanted[source] = layout[dim]
    return p.clone(view, [p.divided(part, tuple(wanted))], [layout])


def _reverse(p: Partitioner, view: View) -> list[Part]:
    layout = _without(p.hints(view)[0], view.ints("dimensions"))
    return p.clone(view, [p.divided(p.parts(view.op)[0], layout)], [layout])


def _concatenate(p: Partitioner, view: View) -> list[Part]:
    layout = _without(p.hints(view)[0], [view.get("dimension")])
    return p.clone(view, [p.divided(one, layout) for one in p.parts(view.op)], [layout])


_I64: Final = IntegerType(64)


def _ints(values: Sequence[int]) -> DenseArrayBase[Any]:
    return DenseArrayBase.from_list(_I64, list(values))


def _slice(p: Partitioner, view: View) -> list[Part]:
    (part,), shape = p.parts(view.op), _shape(view)
    layout = _without(p.hints(view)[0], [dim for dim, size in enumerate(shape) if size != part.shape[dim]])
    ends = [
        end // p.mesh.parts(axes) if axes else end for end, axes in zip(view.ints("limit_indices"), layout, strict=True)
    ]
    return p.clone(view, [p.divided(part, layout)], [layout], {"limit_indices": _ints(ends)})


def _pad(p: Partitioner, view: View) -> list[Part]:
    part, filler = p.parts(view.op)
    layout = _without(p.hints(view)[0], [dim for dim, size in enumerate(_shape(view)) if size != part.shape[dim]])
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    padded = [dim for dim in range(len(layout)) if any(view.ints(name)[dim] for name in names)]
    layout = _without(layout, padded)
    return p.clone(view, [p.divided(part, layout), filler], [layout])


def _dot(p: Partitioner, view: View) -> list[Part]:
    """Divide batch and free dimensions as the result, contracted ones by sums."""
    (layout,), (one, other) = p.hints(view), p.parts(view.op)
    fields = view.fields("dot_dimension_numbers")
    batch = [fields.get(f"{side}_batching_dimensions", []) for side in ("lhs", "rhs")]
    inner = [fields.get(f"{side}_contracting_dimensions", []) for side in ("lhs", "rhs")]
    wanted: list[list[tuple[int, ...]]] = [[()] * len(one.shape), [()] * len(other.shape)]
    free = [[dim for dim in range(len(wanted[k])) if dim not in batch[k] + inner[k]] for k in (0, 1)]
    place = 0
    for dims in zip(*batch, strict=True):
        for k in (0, 1):
            wanted[k][dims[k]] = layout[place]
        place += 1
    for k in (0, 1):
        for dim in free[k]:
            wanted[k][dim] = layout[place]
            place += 1
    used = {axis for axes in layout for axis in axes}
    summed: list[int] = []
    for dims in zip(*inner, strict=True):
        # The larger operand stays where it is.
        options = (one.layout[dims[0]], other.layout[dims[1]])
        axes = next((axes for axes in options if axes and not used.intersection(axes)), ())
        wanted[0][dims[0]] = wanted[1][dims[1]] = axes
        used.update(axes)
        summed += axes
    operands = [p.divided(one, tuple(wanted[0])), p.divided(other, tuple(wanted[1]))]
    (made,) = p.clone(view, operands, [layout])
    return [p.reduced(made, summed, "sum")]


_NEUTRAL: Final[dict[str, Callable[[Any], bool]]] = {
    "sum": lambda value: bool(value == 0),
    "prod": lambda value: bool(value == 1),
    "max": lambda _: True,
    "min": lambda _: True,
}
"""Return True if the start value changes a reduction of several devices."""


def _reduce(p: Partitioner, view: View) -> list[Part]:
    values = p.parts(view.op)
    count = len(view.types)
    dims = view.ints("dimensions")
    kept = [dim for dim in range(len(values[0].shape)) if dim not in dims]
    layout = p.hints(view)[0]
    wanted: list[tuple[int, ...]] = [()] * len(values[0].shape)
    for dim, axes in zip(kept, layout, strict=True):
        wanted[dim] = axes
    summed: list[int] = []
    kind = single(view.op.regions[0].blocks[0]) if count == 1 else None
    start = view.op.operands[-1].owner if count == 1 else None
    value = getattr(start, "properties", {}).get("value")
    if kind in _NEUTRAL and isinstance(value, DenseAttr) and _NEUTRAL[kind](value.elements()[0]):
        used = {axis for axes in layout for axis in axes}
        for dim in dims:
            axes = values[0].layout[dim]
            if axes and not used.intersection(axes):
                wanted[dim] = axes
                used.update(axes)
                summed += axes
    operands = [p.divided(one, tuple(wanted)) for one in values[:count]]
    made = p.clone(view, [*operands, *values[count:]], [layout] * count)
    return [p.reduced(one, summed, str(kind)) for one in made] if summed else made


def _sort(p: Partitioner, view: View) -> list[Part]:
    layout = _without(p.hints(view)[0], [view.get("dimension")])
    return p.clone(view, [p.divided(one, layout) for one in p.parts(view.op)], [layout] * len(view.types))


def _dynamic_slice(p: Partitioner, view: View) -> list[Part]:
    part, *starts = p.parts(view.op)
    shape = _shape(view)
    layout = _without(p.hints(view)[0], [dim for dim, size in enumerate(shape) if size != part.shape[dim]])
    sizes = [size // p.mesh.parts(axes) for size, axes in zip(shape, layout, strict=True)]
    return p.clone(view, [p.divided(part, layout), *starts], [layout], {"slice_sizes": _ints(sizes)})


def _dynamic_update_slice(p: Partitioner, view: View) -> list[Part]:
    part, update, *starts = p.parts(view.op)
    layout = _without(p.hints(view)[0], [dim for dim, size in enumerate(update.shape) if size != part.shape[dim]])
    return p.clone(view, [p.divided(part, layout), p.divided(update, layout), *starts], [layout])


def _convolution(p: Partitioner, view: View) -> list[Part]:
    """Divide the batch, and the features of ungrouped convolutions."""
    (layout,), (image, kernel) = p.hints(view), p.parts(view.op)
    found = _dimension_numbers(view)
    if found is None or view.get("batch_group_count", 1) != 1:
        return _replicated(p, view)
    (batch, _), (_, features), (batch_out, features_out) = found
    axes = layout[features_out] if view.get("feature_group_count", 1) == 1 else ()
    result: list[tuple[int, ...]] = [()] * len(layout)
    left, right = list(result), list(result)
    result[batch_out] = left[batch] = layout[batch_out]
    result[features_out] = right[features] = axes
    operands = [p.divided(image, tuple(left)), p.divided(kernel, tuple(right))]
    return p.clone(view, operands, [tuple(result)])


def _dimension_numbers(view: View) -> list[tuple[int, int]] | None:
    """Return the places of batch and feature of input, kernel and result."""
    attribute = view.attribute("dimension_numbers")
    lists = re.findall(r"\[([\w, ]+)\]", attribute_text(attribute) if attribute is not None else "")
    if len(lists) != 3:
        return None
    words = [[one.strip() for one in text.split(",")] for text in lists]
    names = (("b", "f"), ("i", "o"), ("b", "f"))
    return [(one.index(first), one.index(second)) for one, (first, second) in zip(words, names, strict=True)]


def _call(p: Partitioner, view: View) -> list[Part]:
    return p.call(view.symbol("callee"), p.parts(view.op))


def _constraint(p: Partitioner, view: View) -> Part:
    (part,) = p.parts(view.op)
    layouts = p.mesh.layouts(view.attribute("sharding"))
    return p.divided(part, p.mesh.fitting(layouts[0], part.shape)) if layouts else part


def _same(p: Partitioner, view: View) -> list[Part]:
    return p.parts(view.op)


def _manual(p: Partitioner, view: View) -> list[Part]:
    """Inline the body of a manual computation, a program per device."""
    given, wanted = (p.mesh.layouts(view.attribute(name)) for name in ("in_shardings", "out_shardings"))
    manual = p.mesh.manual(view.attribute("manual_axes"))
    given, wanted = ([_only(one, manual) for one in layouts] for layouts in (given, wanted))
    operands = [p.divided(one, layout) for one, layout in zip(p.parts(view.op), given, strict=True)]
    values = p.written(view.op.regions[0].blocks[0], operands)
    return [
        Part(value, layout, _shape(view, number))
        for number, (value, layout) in enumerate(zip(values, wanted, strict=True))
    ]


def _only(layout: Layout, axes: frozenset[int]) -> Layout:
    return tuple(tuple(axis for axis in one if axis in axes) for one in layout)


def _composite(p: Partitioner, view: View) -> list[Part]:
    """Divide functions of elements; others are computed whole."""
    name = str(view.get("name", "")).removeprefix("chlo.")
    parts = p.parts(view.op)
    if name in _FUNCTIONS.split() and all(one.shape == _shape(view) for one in parts):
        return _elementwise(p, view)
    return _replicated(p, view)


_FUNCTIONS: Final = """
acos acosh asin asinh atan atanh cosh digamma erf erf_inv erfc is_inf lgamma sinh square tan
tenstorrent.gelu tenstorrent.gelu_tanh
"""
"""Composites that are functions of elements."""

_ELEMENTS: Final = """
abs add and atan2 bitcast_convert cbrt ceil clamp compare complex convert cosine divide exponential
exponential_minus_one floor imag is_finite log log_plus_one logistic maximum minimum multiply negate not or
popcnt power real reduce_precision remainder round_nearest_afz round_nearest_even rsqrt select shift_left
shift_right_arithmetic shift_right_logical sign sine sqrt subtract tan tanh xor
"""
"""Operations that are functions of elements."""

RULES: Final[dict[str, Callable[[Partitioner, View], Any]]] = {
    "": _replicated,
    **{f"stablehlo.{name}": _elementwise for name in _ELEMENTS.split()},
    "func.call": _call,
    "sdy.constant": _constant,
    "sdy.manual_computation": _manual,
    "sdy.propagation_barrier": _same,
    "sdy.reshard": _constraint,
    "sdy.sharding_constraint": _constraint,
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.composite": _composite,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.constant": _constant,
    "stablehlo.convolution": _convolution,
    "stablehlo.dot_general": _dot,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.iota": _iota,
    "stablehlo.optimization_barrier": _same,
    "stablehlo.pad": _pad,
    "stablehlo.reduce": _reduce,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": _slice,
    "stablehlo.sort": _sort,
    "stablehlo.transpose": _transpose,
}
"""Rules by the operation's name; `""` stands for all others."""

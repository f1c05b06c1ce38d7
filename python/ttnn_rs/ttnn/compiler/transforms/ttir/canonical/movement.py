"""Chains of operations that only move elements become one."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.features import FIXED_UNITS
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import Attribute, IntegerAttr, IntegerType, Signedness, SSAValue
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.build import i64s, ints, permute, reshape, tensor_like, typed
from ttnn.compiler.transforms.ttir.canonical.identities import producer, same_type
from ttnn.compiler.transforms.ttir.constants import is_float

__all__ = [
    "broadcasts",
    "drop_empty_parts",
    "embedding_of_units",
    "one_use",
    "permute_nothing",
    "permutes",
    "repeats",
    "reshape_permute_reshape",
    "reshapes",
    "reverses",
    "slice_of_concat",
    "slice_whole",
    "slices",
    "transpose_as_permute",
    "transposes",
    "typecasts",
]


def one_use(value: SSAValue) -> bool:
    """Return whether a value is used exactly once."""
    return value.has_one_use()


def _again(module: Module, op: TableOp, value: SSAValue, **properties: object) -> list[SSAValue]:
    """Return an operation's results for another operand and attributes."""
    entries = {**op.properties, **properties}
    made = typed(module, op, op.name[5:], [value], op.results[0].type, **entries)
    made.owner.attributes.update(op.attributes)  # type: ignore[union-attr]
    return [made]


def reshapes(module: Module, op: TableOp) -> Result:
    """Keep the second of two consecutive reshapes."""
    first = producer(op.inputs[0], "reshape")
    if first is None:
        return None
    return _again(module, op, first.inputs[0], shape=ints(shape_of(op.results[0])))


def transposes(module: Module, op: TableOp) -> Result:
    """Inverse or trivial transposes do nothing.

    Two of the same dimensions, or of a dimension with itself.
    """
    del module
    rank = len(shape_of(op.inputs[0]))
    dims = {op.get("dim0") % rank, op.get("dim1") % rank}
    if len(dims) == 1:
        return [op.inputs[0]]
    first = producer(op.inputs[0], "transpose")
    if first is not None and {first.get("dim0") % rank, first.get("dim1") % rank} == dims:
        return [first.inputs[0]]
    return None


def transpose_as_permute(module: Module, op: TableOp) -> Result:
    """A transpose becomes a permutation, so that chains join."""
    rank = len(shape_of(op.inputs[0]))
    order = list(range(rank))
    first, second = op.get("dim0") % rank, op.get("dim1") % rank
    order[first], order[second] = order[second], order[first]
    return [typed(module, op, "permute", [op.inputs[0]], op.results[0].type, permutation=i64s(order))]


def permute_nothing(module: Module, op: TableOp) -> Result:
    """A permutation of size-one dimensions does nothing, except in 2025-10."""
    shape = shape_of(op.inputs[0])
    moved = [(i, dim) for i, dim in enumerate(op.get("permutation")) if i != dim]
    if moved and FIXED_UNITS.of(module.version):
        return None
    if any(shape[i] != 1 or shape[dim] != 1 for i, dim in moved):
        return None
    return [op.inputs[0]] if op.inputs[0].type == op.results[0].type else None


def permutes(module: Module, op: TableOp) -> Result:
    """Consecutive permutations are one; deliberately split ones stay."""
    first = producer(op.inputs[0], "permute")
    if first is None or "decomposed" in op.attributes:
        return None
    before = first.get("permutation")
    return _again(module, op, first.inputs[0], permutation=i64s([before[i] for i in op.get("permutation")]))


def broadcasts(module: Module, op: TableOp) -> Result:
    """Two broadcasts in a row are one."""
    first = producer(op.inputs[0], "broadcast")
    if first is None or "broadcast_dimensions" not in op.properties:
        return None
    before, after = first.get("broadcast_dimensions"), op.get("broadcast_dimensions")
    if len(before) != len(after):
        return None
    factors = [a * b for a, b in zip(before, after, strict=True)]
    return _again(module, op, first.inputs[0], broadcast_dimensions=i64s(factors))


def repeats(module: Module, op: TableOp) -> Result:
    """Consecutive repeats are one, unless the first is shared."""
    first = producer(op.inputs[0], "repeat")
    if first is None or not one_use(first.results[0]):
        return None
    pairs = zip(op.get("repeat_dimensions"), first.get("repeat_dimensions"), strict=True)
    return _again(module, op, first.inputs[0], repeat_dimensions=i64s([a * b for a, b in pairs]))


def reverses(module: Module, op: TableOp) -> Result:
    """Consecutive reversals reverse dimensions that only one reverses."""
    first = producer(op.inputs[0], "reverse")
    if first is None:
        return None
    joined = sorted(set(op.get("dimensions")) ^ set(first.get("dimensions")))
    return _again(module, op, first.inputs[0], dimensions=i64s(joined))


def drop_empty_parts(module: Module, op: TableOp) -> Result:
    """A concatenation does not need tensors without elements."""
    rank = len(shape_of(op.results[0]))
    dim = op.get("dim") % rank
    parts = [one for one in op.inputs if shape_of(one)[dim] != 0]
    if len(parts) == len(op.inputs):
        return None
    if not parts:
        return [op.inputs[0]]
    return [typed(module, op, "concat", parts, op.results[0].type, dim=op.properties["dim"])]


def slice_whole(module: Module, op: TableOp) -> Result:
    """A slice of everything does nothing."""
    whole = not any(op.get("begins")) and all(one == 1 for one in op.get("step"))
    return same_type(module, op) if whole else None


def slices(module: Module, op: TableOp) -> Result:
    """Consecutive slices are one, unless the first is shared."""
    first = producer(op.inputs[0], "slice_static")
    if first is None or not one_use(first.results[0]):
        return None
    begins, ends, steps = [], [], []
    numbers = zip(first.get("begins"), first.get("step"), op.get("begins"), op.get("ends"), op.get("step"), strict=True)
    for start, stride, begin, end, step in numbers:
        if min(start, begin, end) < 0:
            return None
        begins.append(start + stride * begin)
        ends.append(start + stride * (end - 1) + 1)
        steps.append(stride * step)
    return _again(module, op, first.inputs[0], begins=ints(begins), ends=ints(ends), step=ints(steps))


def slice_of_concat(module: Module, op: TableOp) -> Result:
    """A slice equal to a concatenated tensor is that tensor."""
    del module
    whole = producer(op.inputs[0], "concat")
    if whole is None:
        return None
    begins, ends = op.get("begins"), op.get("ends")
    if any(one != 1 for one in op.get("step")):
        return None
    dim = whole.get("dim") % len(begins)
    offset = 0
    for part in whole.inputs:
        sizes = shape_of(part)
        start = [offset if i == dim else 0 for i in range(len(sizes))]
        if tuple(start) == tuple(begins) and tuple(a + b for a, b in zip(start, sizes, strict=True)) == tuple(ends):
            return [part] if part.type == op.results[0].type else None
        offset += sizes[dim]
    return None


def reshape_permute_reshape(module: Module, op: TableOp) -> Result:
    """A permutation between leading-one reshapes works without them.

    The reshapes add and drop leading dimensions of one.
    """
    middle = producer(op.inputs[0], "permute")
    if middle is None or not one_use(middle.results[0]):
        return None
    first = producer(middle.inputs[0], "reshape")
    inner, outer = shape_of(middle.results[0]), shape_of(op.results[0])
    n = len(inner) - len(outer)
    order: Sequence[int] = middle.get("permutation")
    if first is None or n <= 0 or any(size != 1 for size in inner[:n]) or inner[n:] != outer:
        return None
    if any(dim >= n for dim in order[:n]):
        return None
    value = reshape(module, op, first.inputs[0], shape_of(middle.inputs[0])[n:])
    made = permute(module, op, value, [dim - n for dim in order[n:]])
    return [made] if made.type == op.results[0].type else None


def embedding_of_units(module: Module, op: TableOp) -> Result:
    """A lookup between reshapes is done without dimensions of one."""
    users = [use.operation for use in op.results[0].uses]
    indices = op.inputs[0]
    if producer(indices, "reshape") is None or not users or any(one.name != "ttir.reshape" for one in users):
        return None
    shape = shape_of(indices)
    kept = [size for size in shape if size != 1] or [1]
    if len(kept) == len(shape):
        return None
    full = shape_of(op.results[0])
    short = reshape(module, op, indices, kept)
    kind = tensor_like(op.results[0].type, [*kept, full[-1]])
    looked = typed(module, op, "embedding", [short, op.inputs[1]], kind)
    return [reshape(module, op, looked, full)]


def typecasts(module: Module, op: TableOp) -> Result:
    """Keep the second of consecutive casts.

    A conservative cast keeps the rounding of the first.
    """
    first = producer(op.inputs[0], "typecast")
    if first is None:
        return None
    keep = bool(op.get("conservative_folding")), bool(first.get("conservative_folding"))
    if any(keep):
        kinds = [value.type.element_type for value in (first.inputs[0], first.results[0], op.results[0])]  # type: ignore[attr-defined]
        floats = [is_float(kind) for kind in kinds]
        if floats == [True, False, True] or (narrows(kinds[0], kinds[1]) and not narrows(kinds[1], kinds[2])):
            return None
    return _again(module, op, first.inputs[0], conservative_folding=IntegerAttr(int(all(keep)), IntegerType(1)))


_EXPONENTS = {"bf16": 8, "f16": 5, "f32": 8, "f64": 11}
_MANTISSAS = {"bf16": 7, "f16": 10, "f32": 23, "f64": 52}


def narrows(source: Attribute, target: Attribute) -> bool:
    """Return whether a cast can lose numbers."""
    a, b = attribute_text(source), attribute_text(target)
    if is_float(source) and is_float(target):
        return _EXPONENTS.get(a, 8) > _EXPONENTS.get(b, 8) or _MANTISSAS.get(a, 7) > _MANTISSAS.get(b, 7)
    if is_float(source):
        return True
    assert isinstance(source, IntegerType)
    width, unsigned = source.width.data, source.signedness.data is Signedness.UNSIGNED
    if is_float(target):
        return bool(width - (not unsigned) > _MANTISSAS.get(b, 7))
    assert isinstance(target, IntegerType)
    other, other_unsigned = target.width.data, target.signedness.data is Signedness.UNSIGNED
    if unsigned == other_unsigned:
        return bool(width > other)
    return bool(width >= other) if unsigned else True

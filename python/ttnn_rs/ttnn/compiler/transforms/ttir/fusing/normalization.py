"""RMS normalization, by formula or scaled L2 normalization."""

from __future__ import annotations

import math

from ttnn.compiler.dialects.kinds import f32_attr
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue, TensorType
from ttnn.compiler.transforms.base import insert_before, replace
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.build import i64s, permute, reshape
from ttnn.compiler.transforms.ttir.constants import splat_of
from ttnn.compiler.transforms.ttir.fusing.parts import (
    MOVES,
    cast_to,
    constant_near,
    element,
    one_of,
    operand_pairs,
    producer,
    single_dim,
    through,
    through_if,
    users,
)

__all__ = ["rms_norm", "scaled_l2_norm"]


def _keeps_last(op: TableOp, size: int) -> bool:
    """Return whether an operation keeps rows of a size whole.

    Or spreads a number to them.
    """
    name = op.name[5:]
    if name not in MOVES:
        return False
    before, after = shape_of(op.inputs[0]), shape_of(op.results[0])
    if name == "typecast":
        return True
    if name == "broadcast":
        return after[-1:] == (size,)
    if name == "repeat_interleave":
        return bool(op.get("dim") % len(before) != len(before) - 1)
    if not before:
        return True
    # A reshape keeps rows if the last dimension is the same, apart from dimensions of one behind it.
    stripped = after
    while len(stripped) > 1 and stripped[-1] == 1 and before[-1] != 1:
        stripped = stripped[:-1]
    return before[-1] == stripped[-1] if stripped else before[-1] == 1


def _square(value: SSAValue) -> SSAValue | None:
    """Return x if a value is x * x or x ** 2."""
    product, power = producer(value, "multiply"), producer(value, "pow")
    if product is not None:
        return product.inputs[0] if product.inputs[0] is product.inputs[1] else None
    if power is not None and constant_near(power.inputs[1], 2.0, 1e-6):
        return power.inputs[0]
    return None


def _norm(module: Module, op: TableOp, value: SSAValue, weight: SSAValue | None, size: int, epsilon: float) -> SSAValue:
    """Insert a normalization before an operation and return its result."""
    made = make(
        "ttir.rms_norm",
        module.version,
        [value, *([weight] if weight is not None else [])],
        [value.type],
        {"normalized_shape": i64s([size]), "epsilon": f32_attr(epsilon)},
        sizes=(1, int(weight is not None), 0),
        location=op.location,
    )
    insert_before(op, made)
    result: SSAValue = made.results[0]
    return result


def _as_weight(module: Module, op: TableOp, value: SSAValue, size: int) -> SSAValue | None:
    """Return a normalization's factor as a line, or None."""
    shape = shape_of(value)
    if not shape or shape[-1] != size or math.prod(shape) != size:
        return None
    return reshape(module, op, value, (size,))


def _shaped(module: Module, op: TableOp, value: SSAValue, target: TableOp) -> SSAValue:
    value = reshape(module, op, value, shape_of(target.results[0]))
    return cast_to(module, op, value, target.results[0].type)


def _before_cast(value: SSAValue, other: SSAValue) -> SSAValue:
    """Return a cast's source, if of another value's element type."""
    cast = producer(value, "typecast")
    if cast is not None and element(value) != element(other) and element(cast.inputs[0]) == element(other):
        return cast.inputs[0]
    return value


def rms_norm(module: Module, op: TableOp) -> Result:
    """X * rsqrt(mean(x ** 2) + epsilon) * gamma over the last dimension."""
    shape = shape_of(op.results[0])
    size = shape[-1] if shape else 0

    def behind(value: SSAValue) -> SSAValue:
        return through_if(value, lambda one: _keeps_last(one, size))

    for scaled_value, gamma in operand_pairs(op):
        scaled = producer(through(scaled_value, "typecast"), "multiply")
        if scaled is None:
            continue
        for root_value, raw in operand_pairs(scaled):
            root = producer(behind(root_value), "rsqrt")
            guarded = producer(behind(root.inputs[0]), "add") if root is not None else None
            found = one_of(guarded, "mean") if guarded is not None else None
            if found is None:
                continue
            mean, epsilon_value = found
            epsilon = splat_of(epsilon_value)
            if epsilon is None or single_dim(mean) != len(shape_of(mean.inputs[0])) - 1:
                continue
            squared, value = _square(mean.inputs[0]), behind(raw)
            if squared is None or behind(squared) is not value or shape_of(value)[-1:] != (size,):
                continue
            if math.prod(shape_of(value)) != math.prod(shape):
                continue
            factor = behind(gamma)
            value = _before_cast(value, factor)
            if element(value) != element(factor):
                continue
            weight = _as_weight(module, op, factor, size)
            if weight is not None:
                return [_shaped(module, op, _norm(module, op, value, weight, size, epsilon), op)]
    return None


_MOST_GUARD = 1e-3
_SCALE_TOLERANCE = 0.02


def _guarded(value: SSAValue) -> tuple[SSAValue, float] | None:
    """Return an unclamped denominator and its bound, or None.

    None if it is clamped otherwise.
    """
    inner = through(value, *MOVES)
    clamp = producer(inner, "clamp_tensor") or producer(inner, "clamp_scalar")
    if clamp is None:
        return value, 0.0
    low = clamp.get("min") if clamp.name == "ttir.clamp_scalar" else splat_of(through(clamp.inputs[1], *MOVES))
    if low is None or not 0.0 <= low <= _MOST_GUARD:
        return None
    return clamp.inputs[0], float(low)


def _root(value: SSAValue) -> SSAValue | None:
    inner = through(value, *MOVES)
    root, power = producer(inner, "sqrt"), producer(inner, "pow")
    if root is not None:
        return root.inputs[0]
    return power.inputs[0] if power is not None and constant_near(power.inputs[1], 0.5, 1e-3) else None


def scaled_l2_norm(module: Module, op: TableOp) -> Result:
    """X / max(sqrt(sum(|x| ** 2)), epsilon) * sqrt(n), followed by a factor for each channel."""
    found = one_of(op, "div", "typecast")
    if found is None:
        return None
    quotient, factor = found
    value = through(quotient.inputs[0], *MOVES)
    guarded = _guarded(quotient.inputs[1])
    inner = _root(guarded[0]) if guarded is not None else None
    total = producer(through(inner, *MOVES), "sum") if inner is not None else None
    if total is None or guarded is None:
        return None
    squared = _square(through(total.inputs[0], *MOVES))
    if squared is None:
        return None
    base = through(squared, *MOVES)
    magnitude = producer(base, "abs")
    base = through(magnitude.inputs[0], *MOVES) if magnitude is not None else base
    shape = shape_of(value)
    dim = single_dim(total)
    if base is not value or dim is None or shape_of(total.inputs[0]) != shape or shape[dim] <= 1:
        return None
    size = shape[dim]
    if not constant_near(factor, math.sqrt(size), _SCALE_TOLERANCE) or shape_of(op.results[0]) != shape:
        return None
    epsilon = guarded[1] ** 2 / size
    target, weight = op, None
    after = users(op.results[0])
    if op.results[0].has_one_use() and isinstance(after[0], TableOp) and after[0].name == "ttir.multiply":
        for one, other in operand_pairs(after[0]):
            source = through(other, *MOVES)
            if one is op.results[0] and source is not op.results[0] and _along(other, source, dim, shape):
                target, weight = after[0], reshape(module, after[0], source, (size,))
                assert isinstance(weight.type, TensorType)
                weight = cast_to(module, after[0], weight, TensorType(element(value), [size]))
                break
    order = [i for i in range(len(shape)) if i != dim] + [dim]
    back = [order.index(i) for i in range(len(shape))]
    made = _norm(module, target, permute(module, target, value, order), weight, size, epsilon)
    made = _shaped(module, target, permute(module, target, made, back), target)
    if target is op:
        return [made]
    replace(target, [made])
    return True


def _along(value: SSAValue, source: SSAValue, dim: int, shape: tuple[int, ...]) -> bool:
    """Return whether a value is a line along a dimension.

    It is the same at all other places.
    """
    size = shape[dim]
    if math.prod(shape_of(source)) != size:
        return False
    # Between the line and the product lie reshapes with one dimension of the size, and broadcasts of the others.
    aligned = (1,) * (len(shape) - len(shape_of(value))) + shape_of(value)
    if aligned[dim] != size:
        return False
    while value is not source:
        owner = value.owner
        assert isinstance(owner, TableOp)
        before = owner.inputs[0]
        if owner.name == "ttir.broadcast":
            inner, outer = shape_of(before), shape_of(value)
            places = [i for i, one in enumerate(inner) if one == size and outer[i] == size]
            if math.prod(inner) != size or len(places) != 1 or len(shape) - len(outer) + places[0] != dim:
                return False
            value = before
            while value is not source:
                inner_owner = value.owner
                assert isinstance(inner_owner, TableOp)
                if inner_owner.name not in ("ttir.reshape", "ttir.typecast"):
                    return False
                value = inner_owner.inputs[0]
            return True
        if owner.name not in ("ttir.reshape", "ttir.typecast"):
            return False
        value = before
    return True

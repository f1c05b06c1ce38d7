"""Products of matrices, convolutions that are products, and operations of the cache."""

from __future__ import annotations

import math
from typing import Any

from ttnn.compiler.dialects.kinds import f32_attr, i32_attr
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.features import BOUNDS_THROUGH_MOVES
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import IntegerAttr, IntegerType, SSAValue, TensorType
from ttnn.compiler.transforms.base import insert_before, owner_of
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.build import i64s, new, permute, reshape, tensor_like, typed
from ttnn.compiler.transforms.ttir.canonical.identities import producer
from ttnn.compiler.transforms.ttir.constants import build_full, build_splat, constant_of, fill_value, is_float

__all__ = [
    "clamp_of_numbers",
    "conv3d_of_points",
    "linear_without_bias",
    "merged_batches",
    "splat_as_full",
    "topk_of_one",
    "transposed_operand",
    "update_cache_as_paged",
]


def linear_without_bias(module: Module, op: TableOp) -> Result:
    """A linear operation without a bias is a product of matrices."""
    if len(op.inputs) > 2:
        return None
    kept = {name: value for name, value in op.properties.items() if name in ("transpose_a", "transpose_b")}
    return [typed(module, op, "matmul", list(op.inputs), op.results[0].type, **kept)]


def swapped(value: SSAValue) -> SSAValue | None:
    """Return the last-two-dimension transpose's source, or None."""
    owner = producer(value, "permute")
    if owner is None:
        return None
    order = list(owner.get("permutation"))
    rank = len(order)
    if rank < 2 or order != [*range(rank - 2), rank - 1, rank - 2]:
        return None
    return owner.inputs[0]


def transposed_operand(module: Module, op: TableOp) -> Result:
    """A product transposes its operands itself."""
    del module
    for i, name in enumerate(("transpose_a", "transpose_b")):
        value = swapped(op.inputs[i])
        if value is not None:
            op.operands[i] = value
            op.properties[name] = IntegerAttr(int(not op.get(name)), IntegerType(1))
            return True
    return None


def _merged(op: TableOp) -> int:
    """Return how many leading dimensions a reshape joins, or 0.

    It joins them into the first.
    """
    inner, outer = shape_of(op.inputs[0]), shape_of(op.results[0])
    count = len(inner) - len(outer) + 1
    if count < 2 or inner[count:] != outer[1:] or math.prod(inner[:count]) != outer[0]:
        return 0
    return count if all(size > 0 for size in inner[:count]) else 0


def merged_batches(module: Module, op: TableOp) -> Result:
    """A matmul between joining and splitting reshapes omits them.

    They join leading dimensions and split them again.

    The pattern starts from the reshape that splits.
    """
    product = producer(op.inputs[0], "matmul")
    if product is None or not product.results[0].has_one_use():
        return None
    first, second = (producer(one, "reshape") for one in product.inputs[:2])
    if first is None or second is None:
        return None
    inner, outer = shape_of(op.inputs[0]), shape_of(op.results[0])
    count = len(outer) - len(inner) + 1
    if count < 2 or outer[count:] != inner[1:] or math.prod(outer[:count]) != inner[0]:
        return None
    a, b = shape_of(first.inputs[0]), shape_of(second.inputs[0])
    n, m = _merged(first), _merged(second)
    if not n or not m or a[:n] != b[:m] or a[:n] != outer[:count] or not len(a) == len(b) == len(outer):
        return None
    inputs = [first.inputs[0], second.inputs[0]]
    return [typed(module, op, "matmul", inputs, op.results[0].type, **product.properties)]


def conv3d_of_points(module: Module, op: TableOp) -> Result:
    """A one-point convolution is a matmul."""

    def three(name: str) -> tuple[int, ...]:
        value = op.get(name)
        return (value,) * 3 if isinstance(value, int) else tuple(value)

    last = [op.get(name) for name in ("batch_dim", "depth_dim", "height_dim", "width_dim", "channel_dim")]
    shape, weight = shape_of(op.inputs[0]), shape_of(op.inputs[1])
    if last != [0, 1, 2, 3, 4] or op.get("groups") != 1 or weight[2:] != (1, 1, 1):
        return None
    if three("stride") != (1, 1, 1) or any(three("padding")):
        return None
    rows, inner, outer = math.prod(shape[:4]), shape[4], weight[0]
    inputs = [reshape(module, op, op.inputs[0], (rows, inner)), reshape(module, op, op.inputs[1], (outer, inner))]
    bias = op.operand("bias")
    if bias is not None:
        inputs.append(reshape(module, op, bias, (outer,)))
    kind = tensor_like(op.results[0].type, (rows, outer))
    name = "matmul" if bias is None else "linear"
    true = IntegerAttr(1, IntegerType(1))
    product = typed(module, op, name, inputs, kind, transpose_a=IntegerAttr(0, IntegerType(1)), transpose_b=true)
    return [reshape(module, op, product, shape_of(op.results[0]))]


def topk_of_one(module: Module, op: TableOp) -> Result:
    """The largest element of one is that element, at place 0."""
    shape = shape_of(op.inputs[0])
    if shape[op.get("dim") % len(shape)] != 1:
        return None
    return [op.inputs[0], build_splat(module, op, op.results[1].type, 0)]


def update_cache_as_paged(module: Module, op: TableOp) -> Result:
    """A cache update is a paged one without page table."""
    cache, value, index = op.inputs[:3]
    users, heads = shape_of(cache)[:2]
    if shape_of(value)[2] == users and shape_of(value)[1] == heads:
        value = permute(module, op, value, (0, 2, 1, 3))
    if shape_of(index)[0] == 1:
        index = new(module, op, "repeat", [index], (users,), repeat_dimensions=i64s((users,)))
    made = make(
        "ttir.paged_update_cache",
        module.version,
        [cache, value, index],
        [],
        {"share_cache": IntegerAttr(0, IntegerType(1))},
        location=op.location,
    )
    insert_before(op, made)
    return [] if not op.results else None


def splat_as_full(module: Module, op: TableOp) -> Result:
    """A constant of equal elements is a `full`."""
    given = constant_of(op.results[0])
    if given is None or not given.splat or not given.size:
        return None
    return [build_full(module, op, op.results[0].type, given.data.item())]


def clamp_of_numbers(module: Module, op: TableOp) -> Result:
    """A uniform-tensor clamp is a scalar one; others are reshaped.

    Other bounds get the shape of the result.
    """
    low, high = (_filled(one, module) for one in op.inputs[1:3])
    type_ = op.results[0].type
    assert isinstance(type_, TensorType)
    if low is not None and high is not None:
        number = f32_attr if is_float(type_.element_type) else lambda value: i32_attr(int(value))
        bounds = {"min": number(low.value.data), "max": number(high.value.data)}
        return [typed(module, op, "clamp_scalar", [op.inputs[0]], type_, **bounds)]
    shape = shape_of(op.results[0])
    if all(shape_of(one) == shape for one in op.inputs[1:3]):
        return None
    inputs = [op.inputs[0], *(broadcast(module, op, one, shape) for one in op.inputs[1:3])]
    return [typed(module, op, "clamp_tensor", inputs, type_)]


def broadcast(module: Module, op: TableOp, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
    """Return a value repeated to a shape; missing leading dimensions are added."""
    sizes = (1,) * (len(shape) - len(shape_of(value))) + shape_of(value)
    value = reshape(module, op, value, sizes)
    if sizes == shape:
        return value
    factors = [a // b for a, b in zip(shape, sizes, strict=True)]
    return new(module, op, "broadcast", [value], shape, broadcast_dimensions=i64s(factors))


def _filled(value: SSAValue, module: Module) -> Any:
    """Return a bound's uniform number as attribute.

    2025-10 looks through what moves it.
    """
    owner = owner_of(value)
    while BOUNDS_THROUGH_MOVES.of(module.version) and owner is not None and owner.name in _MOVES:
        value = owner.operands[0]
        owner = owner_of(value)
    return fill_value(value)


_MOVES = ("ttir.reshape", "ttir.broadcast", "ttir.typecast")

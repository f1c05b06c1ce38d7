"""Operations without effect, undone pairs, or operand results."""

from __future__ import annotations

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import LOCAL
from ttnn.compiler.ir.xdsl_adapter import IntegerAttr, IntegerType, SSAValue
from ttnn.compiler.transforms.base import owner_of
from ttnn.compiler.transforms.rewriting import Result

__all__ = [
    "alone",
    "alone_in_group",
    "first_of_equals",
    "idempotent",
    "involution",
    "layout_casts",
    "mesh_shard",
    "normal_dim",
    "pool",
    "pooling",
    "producer",
    "reverse_nothing",
    "same_type",
    "scatter_nothing",
]


def producer(value: SSAValue, name: str) -> TableOp | None:
    """Return the operation of a name that makes a value, or None."""
    owner = owner_of(value)
    return owner if isinstance(owner, TableOp) and owner.name == f"ttir.{name}" and not owner.n_outs else None


def same_type(module: Module, op: TableOp) -> Result:
    """An operation whose result has the type of its operand does nothing."""
    del module
    return [op.inputs[0]] if op.inputs[0].type == op.results[0].type else None


def alone(module: Module, op: TableOp) -> Result:
    """A concatenation of one tensor is that tensor."""
    del module
    return [op.inputs[0]] if len(op.inputs) == 1 else None


def idempotent(module: Module, op: TableOp) -> Result:
    """f(f(x)) = f(x)."""
    del module
    first = producer(op.inputs[0], op.name[5:])
    return None if first is None or first.results[0].type != op.results[0].type else [first.results[0]]


def involution(module: Module, op: TableOp) -> Result:
    """f(f(x)) = x."""
    del module
    first = producer(op.inputs[0], op.name[5:])
    return None if first is None or first.inputs[0].type != op.results[0].type else [first.inputs[0]]


def first_of_equals(module: Module, op: TableOp) -> Result:
    """f(x, x) = x."""
    del module
    first = op.inputs[0]
    return [first] if first is op.inputs[1] and first.type == op.results[0].type else None


def reverse_nothing(module: Module, op: TableOp) -> Result:
    """A reversal of no dimension does nothing."""
    del module
    return None if op.get("dimensions") else [op.inputs[0]]


def mesh_shard(module: Module, op: TableOp) -> Result:
    """A shard of one piece is the whole."""
    replicated = "replicate" in LOCAL.attribute(op.properties["shard_type"])
    ones = not replicated and all(size == 1 for size in op.get("shard_shape"))
    return same_type(module, op) if ones else None


def pool(module: Module, op: TableOp) -> Result:
    """A pool over windows of one element does nothing."""

    def numbers(name: str) -> tuple[int, ...]:
        value = op.get(name)
        return (value,) if isinstance(value, int) else tuple(value)

    ones = all(one == 1 for name in ("kernel", "stride", "dilation") for one in numbers(name))
    return same_type(module, op) if ones and not any(numbers("padding")) else None


def pooling(module: Module, op: TableOp) -> Result:
    """A general pool over windows of one element does nothing."""
    del module
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    ones = all(one == 1 for name in names for one in op.get(name)) and not any(op.get("padding"))
    same = all(a.type == b.type for a, b in zip(op.inputs, op.results, strict=True))
    return list(op.inputs) if ones and same else None


def alone_in_group(module: Module, op: TableOp) -> Result:
    """A broadcast within groups of one device does nothing."""
    del module
    groups = op.properties.get("replica_groups")
    if not isinstance(groups, DenseAttr) or len(groups.shape) != 2:
        return None
    return [op.inputs[0]] if groups.shape[0] < 1 or groups.shape[1] <= 1 else None


def scatter_nothing(module: Module, op: TableOp) -> Result:
    """A scatter of an empty tensor changes nothing."""
    del module
    empty = any(0 in shape_of(one) for one in (op.group("index")[0], op.group("source")[0]))
    return [op.inputs[0]] if empty else None


def normal_dim(module: Module, op: TableOp) -> Result:
    """Dimensions counted from the end are counted from the start."""
    del module
    dim = op.get("dim")
    if dim >= 0:
        return None
    op.properties["dim"] = IntegerAttr(dim + len(shape_of(op.inputs[0])), IntegerType(64))
    return True


def layout_casts(module: Module, op: TableOp) -> Result:
    """Inverse layout casts do nothing, unless one maps the grid."""
    del module
    first = producer(op.inputs[0], "ttnn_metal_layout_cast")
    mapping = "virtual_grid_inverse_mapping"
    if first is None or mapping in op.properties or mapping in first.properties:
        return None
    return [first.inputs[0]] if first.inputs[0].type == op.results[0].type else None

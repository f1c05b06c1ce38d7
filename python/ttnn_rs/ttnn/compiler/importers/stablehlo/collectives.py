"""Exchange of data between devices."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of, tensor
from ttnn.compiler.importers.builder.types import is_float
from ttnn.compiler.importers.sharding import Placement, axis_of, shardy
from ttnn.compiler.importers.stablehlo.reduce import reduction
from ttnn.compiler.importers.stablehlo.reducers import single
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import Attribute, SSAValue

__all__ = ["ROWS", "mesh_shard"]


def mesh_shard(scope: Scope, value: SSAValue, placement: Placement, direction: str, type_: Attribute) -> SSAValue:
    """Return a tensor cut into parts, or joined from them."""
    made: SSAValue = scope.b.mesh_shard(
        value,
        shard_type=placement.kind,
        shard_direction=direction,
        shard_shape=list(placement.shape),
        shard_dims=list(placement.dims),
        types=[type_],
    )
    return made


def _groups(view: View, name: str) -> Any:
    found = view.attribute(name)
    if not isinstance(found, DenseAttr):
        refuse(f"has no {name}")
    return found.to_numpy()


def _axes(scope: Scope, view: View) -> tuple[int, ...]:
    found = axis_of(_groups(view, "replica_groups"), scope.mesh)
    if found is None:
        refuse(f"has groups that are no axis of the mesh {'x'.join(map(str, scope.mesh))}")
    return found


def _kind(view: View) -> str:
    kind = single(view.op.regions[0].blocks[0])
    if kind not in ("sum", "max", "min", "prod"):
        refuse("with this body has no TTIR operation")
    return kind


def _all_reduce(scope: Scope, view: View) -> list[SSAValue]:
    kind, axes = _kind(view), _axes(scope, view)
    results = []
    for value in scope.operands(view):
        for axis in axes:
            value = _reduced(scope, value, kind, axis)
        results.append(value)
    return results


def _reduced(scope: Scope, value: SSAValue, kind: str, axis: int) -> SSAValue:
    """Return the reduction along an axis of the mesh.

    The device adds floats; other reductions are of the gathered values.
    """
    shape, count = shape_of(value), scope.mesh[axis]
    made: SSAValue
    if kind == "sum" and is_float(element_of(value.type)):
        made = scope.b.all_reduce(value, reduce_type=kind, cluster_axis=axis, types=[value.type])
        return made
    if count == 1:
        return value
    rows = scope.reshape(value, [1, *shape])
    rows = scope.b.all_gather(
        rows, all_gather_dim=0, cluster_axis=axis, types=[tensor([count, *shape], element_of(value.type))]
    )
    return reduction(scope, kind, rows, [0])


def _one_axis(scope: Scope, view: View) -> int:
    axes = _axes(scope, view)
    if len(axes) != 1:
        refuse("over several axes of the mesh has no TTIR operation")
    return axes[0]


def _all_gather(scope: Scope, view: View) -> list[SSAValue]:
    axes, dim = _axes(scope, view), view.get("all_gather_dim")
    results = []
    for value in scope.operands(view):
        # The last axis is the innermost one.
        for axis in reversed(axes):
            shape = list(shape_of(value))
            shape[dim] *= scope.mesh[axis]
            types = [tensor(shape, element_of(value.type))]
            value = scope.b.all_gather(value, all_gather_dim=dim, cluster_axis=axis, types=types)
        results.append(value)
    return results


def _reduce_scatter(scope: Scope, view: View) -> SSAValue:
    made: SSAValue = scope.b.reduce_scatter(
        scope.operands(view)[0],
        reduce_type=_kind(view),
        scatter_dim=view.get("scatter_dimension"),
        cluster_axis=_one_axis(scope, view),
        types=[scope.type(view.types[0])],
    )
    return made


def _all_to_all(scope: Scope, view: View) -> list[SSAValue]:
    return [
        scope.b.all_to_all(
            value,
            split_dim=view.get("split_dimension"),
            concat_dim=view.get("concat_dimension"),
            split_count=view.get("split_count"),
            replica_groups=view.attribute("replica_groups"),
            types=[scope.type(type_)],
        )
        for value, type_ in zip(scope.operands(view), view.types, strict=True)
    ]


def _moved(name: str, groups: str) -> Any:
    def row(scope: Scope, view: View) -> SSAValue:
        (value,) = scope.operands(view)
        made: SSAValue = scope.b.op(name, value, types=[value.type], **{groups: view.attribute(groups)})
        return made

    return row


def _identifier(scope: Scope, view: View) -> SSAValue:
    """Return the number of the device, from the divided list of all."""
    type_ = scope.type(view.types[0])
    many = [axis for axis, size in enumerate(scope.mesh) if size > 1]
    if not many:
        return scope.splat(0, type_)
    count = math.prod(scope.mesh)
    value = scope.arange(count, scalar("si32"))
    for axis in many:
        count //= scope.mesh[axis]
        value = scope.b.mesh_partition(value, dim=0, cluster_axis=axis, types=[tensor([count], scalar("si32"))])
    return scope.cast(scope.reshape(value, []), element_of(type_))


def _manual(scope: Scope, view: View) -> list[SSAValue]:
    """Import a manual computation.

    Parts of its operands, its body, and its results joined.
    """
    mesh = scope.axes
    try:
        given = shardy(attribute_text(view.op.properties["in_shardings"]), mesh)
        wanted = shardy(attribute_text(view.op.properties["out_shardings"]), mesh)
    except ValueError as error:
        refuse(f": {error}")
    block = view.op.regions[0].blocks[0]
    parts = [
        mesh_shard(scope, value, placement, "full_to_shard", scope.type(argument.type))
        for value, placement, argument in zip(scope.operands(view), given, block.args, strict=True)
    ]
    results = scope.run(block, parts)
    return [
        mesh_shard(scope, value, placement, "shard_to_full", scope.type(type_))
        for value, placement, type_ in zip(results, wanted, view.types, strict=True)
    ]


def _constraint(scope: Scope, view: View) -> list[SSAValue]:
    if any(one > 1 for one in scope.mesh):
        refuse("outside of a manual computation needs a partitioner")
    return scope.operands(view)


ROWS: Final = {
    "stablehlo.all_reduce": _all_reduce,
    "stablehlo.all_gather": _all_gather,
    "stablehlo.reduce_scatter": _reduce_scatter,
    "stablehlo.all_to_all": _all_to_all,
    "stablehlo.collective_permute": _moved("collective_permute", "source_target_pairs"),
    "stablehlo.collective_broadcast": _moved("collective_broadcast", "replica_groups"),
    "stablehlo.partition_id": _identifier,
    "stablehlo.replica_id": _identifier,
    "sdy.manual_computation": _manual,
    "sdy.sharding_constraint": _constraint,
}

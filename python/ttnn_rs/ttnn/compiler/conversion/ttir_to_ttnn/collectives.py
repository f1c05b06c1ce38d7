"""Lowering of operations on several chips to the library of 2026-08.

Shards are made and joined by mappers and composers. Chips of replica groups, whose numbers are places in the mesh, row
by row, exchange tensors one by one: the library has no call for a group that is no axis of the mesh.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn.compiler.dialects.kinds import f32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.collectives import dense_numbers
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, DenseArrayBase, IntegerType, SSAValue
from ttnn.compiler.transforms.base import fail, replace
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.layout.chip import mesh_shape
from ttnn.compiler.transforms.ttnn.layout.types import retyped

__all__ = ["all_to_all", "collective_broadcast", "collective_permute", "mesh_shard"]


def mesh_shard(module: Module, op: TableOp) -> None:
    """Lower shards of chips to a tensor's distribution or aggregation.

    Raises:
        CompileError: Another kind of shards than replicas and parts of chips.
    """
    build = Build(module, op)
    kind, mesh = op.get("shard_type"), _two_dimensions(module)
    dims = [int(dim) for dim in op.get("shard_dims")]
    if kind == "replicate":
        dims = [-1] * len(mesh)
    elif kind != "devices":
        raise fail(module, op, f"shards of the kind {kind} cannot be lowered; there are replicate and devices")
    if op.get("shard_direction") == "full_to_shard":
        places = ", ".join(f"<{'shard' if dim >= 0 else 'replicate'}, {dim} : i32>" for dim in dims)
        config = _config("mesh_mapper_config", f"placements = [{places}]", mesh)
        name, words = "distribute_tensor", {"mapper_config": config}
    else:
        joined, sizes = _joined(dims, mesh, len(shape_of(op.inputs[0])))
        text = ", ".join(f"{dim} : i32" for dim in joined)
        config = _config("mesh_composer_config", f"dims = [{text}]", sizes)
        name, words = "aggregate_tensor", {"composer_config": config}
    operands = {"input": op.inputs[0], "mesh_device": build.device}
    replace(op, [build.value(name, operands, op.results[0].type, **words)])


def _config(name: str, text: str, sizes: Sequence[int]) -> OpaqueDialectAttr:
    shape = ", ".join(f"{size} : ui32" for size in sizes)
    return OpaqueDialectAttr(f"ttnn.{name}", (f"<{text}, mesh_shape_override = [{shape}]>",))


def _joined(dims: Sequence[int], mesh: Sequence[int], rank: int) -> tuple[list[int], list[int]]:
    """Return dimension and chips that are joined, for each mesh dimension.

    Of replicas one is taken: a single part along a dimension that no other one has.
    """
    if all(dim < 0 for dim in dims):
        return [0], [1]
    joined: list[int] = []
    for dim in dims:
        free = (one for one in reversed(range(rank)) if one not in dims and one not in joined)
        joined.append(dim if dim >= 0 else next(free, -1))
    return joined, [size if dim >= 0 else 1 for dim, size in zip(dims, mesh, strict=True)]


def collective_permute(module: Module, op: TableOp) -> None:
    """Lower a permutation of chips to sends between two chips.

    A chip that is no target gets zeros.
    """
    _, numbers = dense_numbers(op, "source_target_pairs")
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    value, build = op.inputs[0], Build(module, op)
    if not pairs:
        replace(op, [_zeros(build, value)])
        return
    mesh = _two_dimensions(module)
    chips = range(math.prod(mesh))
    _require_chips(module, op, numbers, mesh)
    result = build.value("assign", [value], op.results[0].type)
    for source, target in pairs:
        if source != target:
            result = _send(build, value, mesh, source, target, result)
    others = [chip for chip in chips if chip not in numbers[1::2]]
    zeros = _zeros(build, value) if others else value
    for target in others:
        # A chip cannot send to itself.
        result = _send(build, zeros, mesh, int(target == 0), target, result)
    replace(op, [result])


def collective_broadcast(module: Module, op: TableOp) -> None:
    """Lower a broadcast to sends of each group's first chip."""
    groups, mesh = _groups(module, op), _two_dimensions(module)
    value, build = op.inputs[0], Build(module, op)
    result = build.value("assign", [value], op.results[0].type)
    for source, *targets in groups:
        for target in targets:
            result = _send(build, value, mesh, source, target, result)
    replace(op, [result])


def all_to_all(module: Module, op: TableOp) -> None:
    """Lower an exchange of slices to sends, and join what arrives."""
    groups, mesh = _groups(module, op), _two_dimensions(module)
    value, build = op.inputs[0], Build(module, op)
    shape, dim, count = shape_of(value), op.get("split_dim"), op.get("split_count")
    if any(len(group) != count for group in groups):
        raise fail(module, op, f"groups of {len(groups[0])} chips cannot be lowered with {count} slices")
    size = shape[dim] // count
    type_ = retyped(value.type, shape=[size if index == dim else old for index, old in enumerate(shape)])
    slices = []
    for part in range(count):
        begins = [part * size if index == dim else 0 for index in range(len(shape))]
        ends = [(part + 1) * size if index == dim else old for index, old in enumerate(shape)]
        slices.append(build.slice(value, begins, ends, like=type_))
    # Chip `place` of a group sends slice p to chip p, whose result has it at `place`.
    results = [build.value("assign", [part], type_) for part in slices]
    for group in groups:
        for place, source in enumerate(group):
            for other, target in enumerate(group):
                if source != target:
                    results[place] = _send(build, slices[other], mesh, source, target, results[place])
    joined = build.value("concat", {"inputs": results}, op.results[0].type, dim=op.properties["concat_dim"])
    replace(op, [joined])


def _two_dimensions(module: Module) -> tuple[int, int]:
    """Return the rows and columns of the mesh."""
    mesh = mesh_shape(module)
    return (mesh[0], mesh[1]) if len(mesh) == 2 else (1, math.prod(mesh))


def _groups(module: Module, op: TableOp) -> list[list[int]]:
    (rows, columns), numbers = dense_numbers(op, "replica_groups")
    _require_chips(module, op, numbers, _two_dimensions(module))
    return [numbers[row * columns : (row + 1) * columns] for row in range(rows)]


def _require_chips(module: Module, op: TableOp, numbers: Sequence[int], mesh: tuple[int, int]) -> None:
    missing = next((number for number in numbers if not 0 <= number < math.prod(mesh)), None)
    if missing is not None:
        raise fail(module, op, f"chip {missing} is not in the mesh of {mesh[0]}x{mesh[1]}")


def _zeros(build: Build, value: SSAValue) -> SSAValue:
    zero = f32_attr(0.0)
    return build.value("clamp_scalar", [value], value.type, min=zero, max=zero)


def _send(build: Build, value: SSAValue, mesh: tuple[int, int], source: int, target: int, result: SSAValue) -> SSAValue:
    operands = {"input": value, "optional_output_tensor": result}
    places = {"sender_coord": _place(source, mesh), "receiver_coord": _place(target, mesh)}
    return build.value("point_to_point", operands, result.type, **places)


def _place(chip: int, mesh: tuple[int, int]) -> Attribute:
    return DenseArrayBase.from_list(IntegerType(64), list(divmod(chip, mesh[1])))

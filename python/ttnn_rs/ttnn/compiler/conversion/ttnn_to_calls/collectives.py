"""Calls of operations on several chips.

Shards are made by mappers and composers; groups of chips are an axis of the mesh.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import DEVICE, Argument, New, Ref
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe
from ttnn.compiler.conversion.ttnn_to_calls.parts import DRAM, Calls, Handler, numbers, operand, place
from ttnn.compiler.conversion.ttnn_to_calls.rows import row

__all__ = ["COLLECTIVES"]

_OPTIONS: Final = "=cluster_axis?0:int =num_links?:int =topology?:topology subdevice_id=sub_device_id?:subdevice"


def _mapper(dims: Sequence[int], mesh: Sequence[int]) -> New:
    """Return the mapper that cuts a tensor dimension for each mesh dimension.

    -1 repeats the tensor.
    """
    placements = [New("ttnn.PlacementShard", (dim,)) if dim >= 0 else New("ttnn.PlacementReplicate") for dim in dims]
    return New("ttnn.create_mesh_mapper", (DEVICE, _config("MeshMapperConfig", placements, mesh)))


def _composer(dims: Sequence[int], mesh: Sequence[int]) -> New:
    return New("ttnn.create_mesh_composer", (DEVICE, _config("MeshComposerConfig", list(dims), mesh)))


def _config(name: str, parts: list[Argument], mesh: Sequence[int]) -> New:
    override = (("mesh_shape_override", New("ttnn.MeshShape", (list(mesh),))),) if mesh else ()
    return New(f"ttnn.{name}", (parts,), override)


def _on_host(calls: Calls, table: dict[str, Any], function: str, shards: New) -> None:
    """Add a call from a host tensor to a host tensor."""
    have, want = describe(table["in"]), describe(table["out"])
    number = table["out"]["global_id"]
    value: Argument = operand(table["in"])
    if not have.on_host:
        value = calls.call("ttnn.from_device", value)
    made = Description(want.shape, have.data_type, have.tiled, None, want.mesh_shape)
    if made == want:
        calls.call(function, value, shards, out=number)
    else:
        place(calls, calls.call(function, value, shards), made, number, want)


def _distribute(calls: Calls, table: dict[str, Any]) -> None:
    config = table["mapper_config"]
    dims = [int(one["dim"]) if one["type"] == "Shard" else -1 for one in config["placements"]]
    _on_host(calls, table, "ttnn.distribute_tensor", _mapper(dims, numbers(config.get("mesh_shape_override", []))))


def _aggregate(calls: Calls, table: dict[str, Any]) -> None:
    config = table["composer_config"]
    sizes = numbers(config.get("mesh_shape_override", []))
    _on_host(calls, table, "ttnn.aggregate_tensor", _composer(numbers(config["dims"]), sizes))


def _mesh_shard(calls: Calls, table: dict[str, Any]) -> None:
    """Add the call of 2025-10: one operation for both directions."""
    kind, mesh = table["shard_type"], calls.mesh
    dims = [-1] * len(mesh) if kind == "Replicate" else numbers(table["shard_dims"])
    if kind == "Identity":
        want = describe(table["out"])
        place(calls, Ref(table["in"]["global_id"]), describe(table["in"]), table["out"]["global_id"], want)
    elif kind not in ("Replicate", "Devices"):
        raise UnsupportedError(f"shards of the kind {kind} are not executed; there are Replicate, Devices, Identity.")
    elif table["shard_direction"] == "FullToShardShape":
        _on_host(calls, table, "ttnn.distribute_tensor", _mapper(dims, mesh))
    else:
        joined, sizes = _joined(dims, mesh, len(describe(table["in"]).shape))
        _on_host(calls, table, "ttnn.aggregate_tensor", _composer(joined, sizes))


def _joined(dims: Sequence[int], mesh: Sequence[int], rank: int) -> tuple[list[int], list[int]]:
    """Return dimension and chips that are joined, for each mesh dimension.

    Of replicas one is taken, along a dimension that no other one has.
    """
    if all(dim < 0 for dim in dims):
        return [0], [1]
    free = [dim for dim in range(rank) if dim not in dims]
    joined = [dim if dim >= 0 else free.pop() for dim in dims]
    return joined, [size if dim >= 0 else 1 for dim, size in zip(dims, mesh, strict=True)]


def _sum(function: str, dim: str = "") -> Handler:
    """Return the handler of a reduction over chips: of sums only."""
    call = row(f"{function} in {dim} {_OPTIONS} {'compute_kernel_config=:config' if dim else ''}")

    def add(calls: Calls, table: dict[str, Any]) -> None:
        if int(table.get("reduce_type", 0)):
            raise UnsupportedError(f"{function} adds; reduction {table['reduce_type']} is not executed.")
        call(calls, table)

    return add


def _send(
    calls: Calls, value: Argument, source: Sequence[int], target: Sequence[int], result: Argument, out: int
) -> None:
    """Add a copy between two chips; others keep what `result` has."""
    places = [New("ttnn.MeshCoordinate", tuple(one)) for one in (source, target)]
    calls.call("ttnn.point_to_point", value, *places, out=out, output_tensor=result)


def _point_to_point(calls: Calls, table: dict[str, Any]) -> None:
    early = "send_coord" in table
    names = ("send_coord", "receive_coord") if early else ("sender_coord", "receiver_coord")
    source, target = (numbers(table[name]) for name in names)
    result = operand(table.get("accum_tensor" if early else "optional_output_tensor"))
    _send(calls, operand(table["in"]), source, target, result, table["out"]["global_id"])


def _collective_permute(calls: Calls, table: dict[str, Any]) -> None:
    """Add the sends of pairs of 2025-10.

    A chip that is no target gets zeros.
    """
    flat, mesh = numbers(table["source_target_pairs"]), calls.mesh
    value, number, count = operand(table["in"]), table["out"]["global_id"], math.prod(mesh)
    missing = [chip for chip in flat if not 0 <= chip < count]
    if missing:
        raise UnsupportedError(f"chip {missing[0]} is not in the mesh of {mesh[0]}x{mesh[1]}.")
    sends = [(value, source, target) for source, target in zip(flat[::2], flat[1::2], strict=True) if source != target]
    others = [chip for chip in range(count) if chip not in flat[1::2]]
    zeros = calls.call("ttnn.zeros_like", value) if others else None
    # A chip cannot send to itself.
    sends += [(zeros, int(chip == 0), chip) for chip in others]
    # Each send changes the same tensor.
    result = calls.call("ttnn.clone", value, out=number)
    for given, source, target in sends:
        _send(calls, given, divmod(source, mesh[1]), divmod(target, mesh[1]), result, number)


def _dispatch(calls: Calls, table: dict[str, Any]) -> None:
    """Results have the data types of the tokens and of their experts."""
    outs = [table["dispatched"], table["metadata"]]
    wants = [describe(one) for one in outs]
    given = [describe(table["input_tensor"]), describe(table["expert_indices"])]
    made = [Description(w.shape, g.data_type, False, DRAM) for w, g in zip(wants, given, strict=True)]
    numbers_ = [one["global_id"] if have == want else None for one, have, want in zip(outs, made, wants, strict=True)]
    values: list[Argument] = [operand(table[name]) for name in ("input_tensor", "expert_indices", "expert_mapping")]
    options: dict[str, Argument] = {"cluster_axis": int(table.get("cluster_axis", 0))}
    results = calls.call_several("ttnn.all_to_all_dispatch", values, options, numbers_)
    for result, number, have, one, want in zip(results, numbers_, made, outs, wants, strict=True):
        if number is None:
            place(calls, result, have, one["global_id"], want)


COLLECTIVES: Final[dict[str, Handler]] = {
    "AggregateTensorOp": _aggregate,
    "AllGatherOp": row(f"ttnn.all_gather in all_gather_dim?0:int {_OPTIONS}"),
    "AllReduceOp": _sum("ttnn.all_reduce"),
    "AllToAllCombineOp": row(
        "ttnn.all_to_all_combine input_tensor expert_metadata expert_mapping =output_shard_dim?2:int "
        "=cluster_axis?0:int"
    ),
    "AllToAllDispatchOp": _dispatch,
    "CollectivePermuteOp": _collective_permute,
    "DistributeTensorOp": _distribute,
    "MeshPartitionOp": row("ttnn.mesh_partition in dim?0:int =cluster_axis?:int"),
    "MeshShardOp": _mesh_shard,
    "PointToPointOp": _point_to_point,
    "ReduceScatterOp": _sum("ttnn.reduce_scatter", "scatter_dim?0:int"),
}

"""Bytes that chips send each other in a collective, for predicted times."""

from __future__ import annotations

from typing import NamedTuple

from ttnn.base.system_enums import Topology
from ttnn.device.fabric_state import FABRIC
from ttnn.operation.observation import note
from ttnn.ops.ccl import chips
from ttnn.tensor.tensor import Tensor


class Transfer(NamedTuple):
    """A device operation of a group of chips.

    Attributes:
        operation: Its official name, without the ending.
        routes: "all" if every slice goes to all chips one after another, "direct" if each pair of chips has a slice of
            its own, "one" if a single chip sends.
        chips: Chips of the group.
        ring: Whether the first and the last of them are neighbours.
        links: Links between two neighbours.
        axis: Axis of the mesh; None for all chips.
        slice_bytes: Bytes of a slice.
        page_bytes: Bytes of a page: packets have whole pages.
        hops: Chips on the longest way.
        added: Tensors that each chip adds once all have arrived; 0 if none, or if they are added on their way.
    """

    operation: str
    routes: str
    chips: int
    ring: bool
    links: int
    axis: int | None
    slice_bytes: int
    page_bytes: int
    hops: int
    added: int = 0


def transfer(
    operation: str,
    routes: str,
    tensor: Tensor,
    axis: int | None,
    slices: int = 1,
    *,
    topology: Topology | None = None,
    links: int | None = None,
    hops: int | None = None,
    added: int = 0,
    share: float = 1.0,
) -> None:
    """Tell observers of a transfer.

    Args:
        operation: Its official name, without the ending.
        routes: See `Transfer`.
        tensor: The tensor of each chip.
        axis: The axis of the groups.
        slices: Slices that the tensor is cut into.
        topology: The topology that the caller asked for.
        links: The links that the caller asked for.
        hops: Chips on the longest way. Default: that to the farthest chip.
        added: See `Transfer`.
        share: Part of a slice that is sent on average.
    """
    device, spec = chips.require_mesh(operation, tensor), tensor.spec
    count = chips.size_of(device, axis)
    ring = count > 2 and chips.usable_topology(device, topology, axis) in (Topology.Ring, Topology.Torus)
    usable = FABRIC.num_links(device._system, device.get_device_ids(), tuple(device.shape), axis)
    way = count // 2 if ring else count - 1
    size = round(spec.num_pages * spec.page_bytes // slices * share)
    note(Transfer(operation, routes, count, ring, links or usable, axis, size, spec.page_bytes, hops or way, added))

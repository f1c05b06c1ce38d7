"""`ttnn-configure-ccl-ops`: topologies of collectives, from that of the mesh."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.dialects.attributes import DeviceAttr, EnumAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.transforms.base import table_ops
from ttnn.compiler.transforms.ttcore.device import device_op

__all__ = ["run"]

_COLLECTIVES: Final = ("ttnn.all_gather", "ttnn.all_reduce", "ttnn.reduce_scatter", "ttnn.moe_compute")


def run(module: Module) -> None:
    """Set missing topologies of collectives to those of their axes.

    The topology of a mesh names rows first: its entries are those of the axes from the last to the first.
    """
    registered = device_op(module)
    device = registered.properties.get("device_attr") if registered is not None else None
    if not isinstance(device, DeviceAttr):
        return
    words = dict(device.rest).get("meshTopology", "[]").strip("[]").replace(",", " ").split()
    by_axis = dict(enumerate(reversed(words)))
    for op in table_ops(module.op, "ttnn."):
        if op.name not in _COLLECTIVES or op.properties.get("topology") is not None:
            continue
        word = by_axis.get(op.get("cluster_axis"), "disabled")
        if word != "disabled":
            op.properties["topology"] = EnumAttr("ttcore.topology", word)

"""Official module: the type of the machine's cluster of chips."""

from __future__ import annotations

from ttnn.base.refused import SEVERAL_CHIPS, refusing
from ttnn.device.cluster import ClusterType as ClusterType
from ttnn.device.cluster import get_cluster_type as get_cluster_type
from ttnn.device.device_info import serialize_cluster_descriptor as serialize_cluster_descriptor
from ttnn.device.fabric import set_link_state as set_link_state

globals().update(refusing("ttnn.cluster", "get_chip_unique_id_from_fabric_node_id get_dram_bank_table", SEVERAL_CHIPS))
globals().update(
    refusing(
        "ttnn.cluster",
        "read_from_core read_reg write_to_core write_to_core_immediate",
        "memory of cores at addresses that the caller chooses is not open to programs; use tensors or ttnn.metal",
    )
)

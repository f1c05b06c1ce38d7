"""The official module of this name: the type of the machine's cluster of chips."""

from __future__ import annotations

from ttnn.device.cluster import ClusterType as ClusterType
from ttnn.device.cluster import get_cluster_type as get_cluster_type
from ttnn.device.cluster import serialize_cluster_descriptor as serialize_cluster_descriptor

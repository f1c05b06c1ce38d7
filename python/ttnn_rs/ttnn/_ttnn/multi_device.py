"""Meshes of chips."""

from __future__ import annotations

from ttnn.device.cluster import SystemMeshDescriptor as SystemMeshDescriptor
from ttnn.device.mesh_device import MeshDevice as MeshDevice

"""Sockets between meshes."""

from __future__ import annotations

from ttnn.base.enums import SocketEndpoint as SocketEndpoint
from ttnn.device.coordinates import MeshCoreCoord as MeshCoreCoord
from ttnn.metal.sockets import *  # noqa: F403

"""Text tables of meshes and tensor distributions.

A mesh has one chip here.

Source: tt-metal `ttnn/ttnn/distributed/distributed.py` (what a cell shows).
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn.base.exceptions import ArgumentError
from ttnn.device.cluster import SystemMeshDescriptor
from ttnn.device.mesh_device import MeshDevice
from ttnn.tensor.tensor import Tensor

__all__ = [
    "create_system_mesh_table",
    "visualize_mesh_device",
    "visualize_system_mesh",
    "visualize_tensor",
]


def _table(title: str, lines: Sequence[str]) -> str:
    """Return a table of one cell, with borders."""
    width = max(len(title), *map(len, lines))
    body = [f"| {line.center(width)} |" for line in lines]
    rule = f"+{'-' * (width + 2)}+"
    return "\n".join((title.center(width + 4).rstrip(), rule, *body, rule))


def visualize_mesh_device(mesh_device: MeshDevice) -> None:
    """Print the chips of a mesh with their coordinates.

    Raises:
        ArgumentError: no mesh device.
    """
    if not isinstance(mesh_device, MeshDevice):
        raise ArgumentError(f"visualize_mesh_device: expected a MeshDevice, got {type(mesh_device).__name__}")
    cell = (f"Dev. ID: {mesh_device.get_device_ids()[0]}", "(0, 0)")
    print(_table(f"MeshDevice(rows={mesh_device.shape[0]}, cols={mesh_device.shape[1]})", cell))


def visualize_tensor(tensor: Tensor) -> None:
    """Print each chip's part of a tensor: shape, type, layout.

    Raises:
        ArgumentError: no tensor.
    """
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"visualize_tensor: expected a Tensor, got {type(tensor).__name__}")
    device = tensor.device()
    where = "Host" if device is None else f"Dev. ID: {device.get_device_ids()[0]}"
    cell = (
        where,
        "(0, 0)",
        f"[{', '.join(':' for _ in tensor.shape)}]",
        f"Shape: {list(tensor.shape)}",
        f"Dtype: {tensor.dtype.name}",
        f"Layout: {tensor.layout.name}",
    )
    print(_table("Tensor on a mesh of 1 x 1", cell))


def create_system_mesh_table() -> str:
    """Return a table of all chips of the machine."""
    shape = SystemMeshDescriptor().shape()
    return _table("SystemMesh", (f"Global shape: {shape}", f"Local shape: {SystemMeshDescriptor().local_shape()}"))


def visualize_system_mesh() -> None:
    """Print all chips of the machine."""
    print(create_system_mesh_table())

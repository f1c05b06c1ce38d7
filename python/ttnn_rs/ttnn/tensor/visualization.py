"""Text tables of meshes and tensor distributions.

Source: tt-metal `ttnn/ttnn/distributed/distributed.py` (what a cell shows).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from ttnn.base.exceptions import ArgumentError, ParameterError, ShapeError
from ttnn.device.cluster import SystemMeshDescriptor
from ttnn.device.coordinates import MeshCoordinate, MeshShape
from ttnn.device.mesh_device import MeshDevice
from ttnn.tensor.tensor import Tensor
from ttnn.tensor.topology import PlacementShard, chips_of
from ttnn.tensor.transfer import present_topology

__all__ = [
    "create_system_mesh_table",
    "visualize_mesh_device",
    "visualize_system_mesh",
    "visualize_tensor",
]


def _table(title: str, rows: Sequence[Sequence[Sequence[str]]]) -> str:
    """Return a table of cells with borders."""
    width = max(len(line) for row in rows for cell in row for line in cell)
    rule = f"+{'+'.join(['-' * (width + 2)] * len(rows[0]))}+"
    body = [rule]
    for row in rows:
        lines = itertools.zip_longest(*row, fillvalue="")
        body += [f"|{'|'.join(f' {text.center(width)} ' for text in line)}|" for line in lines]
        body.append(rule)
    return "\n".join((title.center(len(rule)).rstrip(), *body))


def _mesh_table(title: str, mesh: MeshShape, cells: Mapping[MeshCoordinate, Sequence[str]]) -> str:
    """Return a table with a cell for each chip of a mesh."""
    if mesh.dims() != 2:
        raise ShapeError(f"visualize: a table has rows and columns; the mesh is {mesh}")
    found = [[f"({coord[0]}, {coord[1]})", *cells.get(coord, ())] for coord in chips_of(mesh)]
    return _table(title, [found[start : start + mesh[1]] for start in range(0, len(found), mesh[1])])


def visualize_mesh_device(mesh_device: MeshDevice) -> None:
    """Print the chips of a mesh with their coordinates.

    Raises:
        ArgumentError: no mesh device.
    """
    if not isinstance(mesh_device, MeshDevice):
        raise ArgumentError(f"visualize_mesh_device: expected a MeshDevice, got {type(mesh_device).__name__}")
    shape = mesh_device.shape
    cells = {coord: _chip(mesh_device, coord) for coord in mesh_device.coordinates()}
    print(_mesh_table(f"MeshDevice(rows={shape[0]}, cols={shape[1]})", shape, cells))


def _chip(device: MeshDevice, coord: MeshCoordinate) -> list[str]:
    return [f"Dev. ID: {device.get_device_id(coord)}"]


def visualize_tensor(tensor: Tensor) -> None:
    """Print each chip's part of a tensor: elements, shape, type, layout.

    Raises:
        ArgumentError: no tensor.
        ParameterError: the topology of the tensor does not have its chips or dimensions.
        ShapeError: a mesh that is no table.
    """
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"visualize_tensor: expected a Tensor, got {type(tensor).__name__}")
    device = tensor.device()
    facts = [f"Shape: {list(tensor.shape)}", f"Dtype: {tensor.dtype.name}", f"Layout: {tensor.layout.name}"]
    cells = {
        coord: [*(() if device is None else _chip(device, coord)), f"[{', '.join(elements)}]", *facts]
        for coord, elements in _elements(tensor).items()
    }
    shape = tensor.host_buffer().shape() if device is None else device.shape
    print(_mesh_table(f"Tensor(storage: {tensor.storage_type()})", shape, cells))


def _elements(tensor: Tensor) -> dict[MeshCoordinate, list[str]]:
    """Return the elements that each chip has, as slices."""
    topology, sizes, there = tensor.tensor_topology(), list(tensor.shape), tensor.device_coords()
    device = tensor.device()
    if device is not None and device._several and tensor.buffers:
        topology = present_topology(topology, tensor.buffers[0], device)
    spread, coords = topology.distribution_shape(), topology.mesh_coords()
    if spread.mesh_size() == len(there) == 1:
        # It may have a coordinate of other dimensions.
        coords = there
    missing = [coord for coord in there if coord not in set(coords)]
    if missing or len(coords) != spread.mesh_size():
        raise ParameterError(
            f"visualize_tensor: the tensor has parts on {there}, its topology places {spread.mesh_size()} on {coords}; "
            "set one of its chips with update_tensor_topology. After a reshape of the mesh the chips have other "
            "coordinates."
        )
    found = {}
    for coord, place in zip(coords, chips_of(spread), strict=True):
        slices = [":"] * len(sizes)
        for placement, index, count in zip(topology.placements(), place, spread, strict=True):
            if isinstance(placement, PlacementShard) and count > 1:
                if not -len(sizes) <= placement.dim < len(sizes):
                    raise ParameterError(
                        f"visualize_tensor: the topology shards dimension {placement.dim}, the tensor has "
                        f"{len(sizes)}; set one of its own with update_tensor_topology, for example after a reshape."
                    )
                size = sizes[placement.dim]
                slices[placement.dim] = f"{index * size}:{(index + 1) * size}"
        found[coord] = slices
    return {coord: found[coord] for coord in there}


def create_system_mesh_table() -> str:
    """Return a table of all chips of the machine."""
    system = SystemMeshDescriptor()
    return _table("SystemMesh", [[[f"Global shape: {system.shape()}", f"Local shape: {system.local_shape()}"]]])


def visualize_system_mesh() -> None:
    """Print all chips of the machine."""
    print(create_system_mesh_table())

"""Meshes of devices and the placement of tensors on them."""

from ttnn.compiler.importers.sharding.placement import Placement, axis_of, gspmd, mesh_of_gspmd, shardy

__all__ = ["Placement", "axis_of", "gspmd", "mesh_of_gspmd", "shardy"]

"""The system and the device on a module of 2024-09."""

from __future__ import annotations

from typing import Any

from ttnn.base.exceptions import DeviceError
from ttnn.compiler.dialects.attributes import DeviceAttr, GridAttr, SystemDescAttr
from ttnn.compiler.dialects.ttcore.device import Device
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc
from ttnn.compiler.dialects.ttcore.system_desc_attribute import from_attribute, to_attribute
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.target.flatbuffer.system_desc import load

__all__ = ["device_of", "implicit_device", "load_system_desc", "read_system_desc", "system_desc_of"]


def read_system_desc(module: Module, path: str) -> SystemDesc:
    """Return a file's descriptor, or the default for empty paths.

    Raises:
        CompileError: The file cannot be read.
    """
    if not path:
        return SystemDesc.default()
    try:
        return load(path)
    except Exception as error:
        raise CompileError(module.at(module.op, f"system descriptor {path}: {error}")) from None


def load_system_desc(module: Module, options: dict[str, Any]) -> None:
    """Attach a system descriptor from a file, or the default.

    The default if the module has none.
    """
    if options["path"] or "tt.system_desc" not in module.op.attributes:
        module.op.attributes["tt.system_desc"] = to_attribute(read_system_desc(module, options["path"]), "tt")


def system_desc_of(module: Module) -> SystemDesc:
    """Return the descriptor of a module, or the default."""
    attribute = module.op.attributes.get("tt.system_desc")
    if not isinstance(attribute, SystemDescAttr):
        return SystemDesc.default()
    try:
        return from_attribute(attribute)
    except DeviceError as error:
        raise CompileError(module.at(module.op, str(error))) from None


def implicit_device(module: Module, options: dict[str, Any]) -> None:
    """Attach a device of all mesh cores, if missing."""
    if "tt.device" in module.op.attributes:
        return
    try:
        device = Device.of_system(system_desc_of(module), options["mesh-shape"])
    except DeviceError as error:
        raise CompileError(module.at(module.op, str(error))) from None
    grid = GridAttr("tt", device.grid, device.workers)
    module.op.attributes["tt.device"] = DeviceAttr(
        "tt", grid, device.l1, device.dram, tuple(options["mesh-shape"]) or (1,), device.chip_ids
    )


def device_of(module: Module) -> DeviceAttr | None:
    """Return the device of a module of 2024-09, or None."""
    device = module.op.attributes.get("tt.device")
    return device if isinstance(device, DeviceAttr) else None

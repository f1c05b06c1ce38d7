"""Device of 2025-10 and 2026-08, at a device module's head.

It is an operation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ttnn.base.exceptions import DeviceError
from ttnn.compiler.dialects.attributes import DeviceAttr, DeviceType, GridAttr, ShapeAttr, TtnnDeviceType
from ttnn.compiler.dialects.operations import make
from ttnn.compiler.dialects.ttcore.affine import AffineMap, dimensions
from ttnn.compiler.dialects.ttcore.device import Device
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc
from ttnn.compiler.dialects.ttcore.system_desc_attribute import to_attribute
from ttnn.compiler.features import DEVICE_MAPS, DIALECT_TT
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    Block,
    FuncOp,
    ModuleOp,
    Operation,
    Region,
    SSAValue,
    StringAttr,
)
from ttnn.compiler.transforms.base import device_in_block
from ttnn.compiler.transforms.ttcore.system import device_of, implicit_device, read_system_desc
from ttnn.compiler.version import Version

__all__ = [
    "device_attribute",
    "device_modules",
    "device_op",
    "device_value",
    "mark_forward",
    "register_device",
    "unwrap",
    "wrap",
]


def device_modules(module: Module) -> list[ModuleOp]:
    """Return device modules, or the module itself.

    Their functions run on the device.
    """
    inner = [
        op
        for wrapper in module.op.walk()
        if wrapper.name == "ttcore.device_module"
        for op in wrapper.regions[0].ops
        if isinstance(op, ModuleOp)
    ]
    return inner or [module.op]


def device_op(module: Module) -> Operation | None:
    """Return the operation that registers the device, or None."""
    return next((op for op in module.op.walk() if op.name == "ttcore.device"), None)


def register_device(module: Module, options: dict[str, Any]) -> None:
    """Attach a system descriptor to the module and register its default device.

    Raises:
        CompileError: The descriptor cannot be read, or has too few chips for the mesh.
    """
    path = options["system-desc-path"]
    desc = read_system_desc(module, path) if path else None
    arch = options["mock-system-desc-arch"] or "wormhole_b0"
    for target in device_modules(module):
        if any(op.name == "ttcore.device" for op in target.ops):
            continue
        mesh = _mesh_of(module, target, tuple(options["mesh-shape"]))
        try:
            # Without a descriptor there are as many chips as the mesh has.
            system = desc or SystemDesc.for_arch(arch, math.prod(mesh))
            device = Device.of_system(system, mesh)
        except DeviceError as error:
            raise CompileError(module.at(module.op, str(error))) from None
        target.attributes["ttcore.system_desc"] = to_attribute(system, "ttcore")
        attribute = device_attribute(system, device, mesh or (1, 1), module.version, options["mesh-topology"])
        new = make(
            "ttcore.device",
            module.version,
            [],
            [],
            {"sym_name": StringAttr("default_device"), "device_attr": attribute},
            location=module.op.location,
        )
        block = target.body.block
        first = block.first_op
        if first is None:
            block.add_op(new)
        else:
            block.insert_op_before(new, first)


def _mesh_of(module: Module, target: ModuleOp, given: tuple[int, ...]) -> tuple[int, ...]:
    """Return a device module's first mesh, or the given one.

    Raises:
        CompileError: They differ.
    """
    named = target.attributes.get("ttcore.meshes")
    sizes = re.search(r"=\s*(\d+(?:\s*x\s*\d+)*)", attribute_text(named)) if named is not None else None
    if sizes is None:
        return given
    mesh = tuple(int(size) for size in sizes[1].split("x"))
    if given and given != mesh:
        texts = ["x".join(map(str, one)) for one in (mesh, given)]
        raise CompileError(module.at(target, f"the module has a mesh of {texts[0]}, mesh-shape is {texts[1]}"))
    return mesh


def device_attribute(
    desc: SystemDesc, device: Device, mesh: tuple[int, ...], version: Version, topology: Sequence[str] = ()
) -> DeviceAttr:
    """Return a device's attribute.

    That of 2026-08 has the map back, the grid of DRAM and the topology of the mesh, too.
    """
    if not DEVICE_MAPS.of(version):
        grid = GridAttr("ttcore", device.grid, device.workers)
        return DeviceAttr("ttcore", grid, device.l1, device.dram, mesh, device.chip_ids)
    inverse = None
    if len(device.chip_ids) == 1:
        rank = len(device.grid)
        inverse = AffineMap(rank + 1, 0, tuple(dimensions(rank + 1)[1:]))
    grid = GridAttr("ttcore", device.grid, device.workers, inverse, keyed=True)
    banks = f"#ttcore.grid<1x{desc.chips[desc.chip_indices[device.chip_ids[0]]].num_dram_channels}>"
    rest = [("dramGrid", banks)]
    if topology:
        rest.append(("meshTopology", f"[{', '.join(topology)}]"))
    return DeviceAttr("ttcore", grid, device.l1, device.dram, mesh, device.chip_ids, rest=tuple(rest))


def wrap(module: Module) -> None:
    """Move the content of the module into a device module."""
    if any(op.name == "ttcore.device_module" for op in module.op.ops):
        return
    operations = list(module.op.ops)
    if operations and not any(isinstance(op, FuncOp) for op in module.op.walk()):
        return
    for op in operations:
        op.detach()
    inner = ModuleOp(operations)
    inner.attributes.update(module.op.attributes)
    inner.location = module.op.location
    name = module.op.properties.get("sym_name")
    if name is not None:
        inner.properties["sym_name"] = name
    wrapper = make("ttcore.device_module", module.version, [], [], regions=[Region([Block([inner])])])
    module.op.body.block.add_op(wrapper)


def unwrap(module: Module) -> None:
    """Move the content of the device module back to the top."""
    for wrapper in [op for op in module.op.ops if op.name == "ttcore.device_module"]:
        for inner in list(wrapper.regions[0].ops):
            if isinstance(inner, ModuleOp):
                module.op.attributes.update(inner.attributes)
                for op in list(inner.ops):
                    op.detach()
                    module.op.body.block.insert_op_before(op, wrapper)
        wrapper.detach()
        wrapper.erase()


def mark_forward(module: Module) -> None:
    """Mark unmarked public functions as device functions."""
    for op in module.op.walk():
        if isinstance(op, FuncOp) and "tt.function_type" not in op.attributes:
            visibility = op.properties.get("sym_visibility")
            if getattr(visibility, "data", "public") != "private":
                op.attributes["tt.function_type"] = StringAttr("forward_device")


def device_value(module: Module, op: Operation) -> SSAValue:
    """Return the block's device, created at the head if missing."""
    found = device_in_block(op)
    if found is not None:
        return found
    block = op.parent
    assert isinstance(block, Block)
    properties: dict[str, Attribute] = {}
    kind: Attribute = TtnnDeviceType()
    if DIALECT_TT.of(module.version):
        if device_of(module) is None:
            # Without one the program runs on the first chip.
            implicit_device(module, {"mesh-shape": ()})
        device = device_of(module)
        assert device is not None
        mesh, kind = device.mesh_shape, DeviceType(device)
        mesh = mesh if len(mesh) == 2 else (*mesh, 1) if mesh else (1, 1)
    else:
        registered = device_op(module)
        attribute = registered.properties.get("device_attr") if registered is not None else None
        mesh = attribute.mesh_shape if isinstance(attribute, DeviceAttr) else ()
        mesh = mesh if len(mesh) == 2 else (1, *mesh) if len(mesh) == 1 else (1, 1)
        properties["mesh_offset"] = ShapeAttr("ttnn.mesh_offset", (0, 0))
    properties["mesh_shape"] = ShapeAttr("ttnn.mesh_shape", mesh)
    new = make("ttnn.get_device", module.version, [], [kind], properties, location=op.location)
    first = block.first_op
    assert first is not None
    block.insert_op_before(new, first)
    value: SSAValue = new.results[0]
    return value

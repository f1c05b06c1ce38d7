"""Decompositions of `ttnn-workaround` for normalizations and what accumulates."""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.dialects.kinds import integer
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.rewriting import Pattern, Result, pattern
from ttnn.compiler.transforms.ttnn.build import Build, change_operands
from ttnn.compiler.transforms.ttnn.layout.chip import chip_of, core_ranges, sharded, worker_grid
from ttnn.compiler.transforms.ttnn.layout.types import retyped, tensor_layout

__all__ = ["NORMS", "exact_config"]

_TILE: Final = 32


def exact_config(*, packer: bool) -> OpaqueDialectAttr:
    """Return the configuration that accumulates in float32.

    Args:
        packer: Whether partial sums stay in L1 too.
    """
    text = "<math_fidelity = hifi4, math_approx_mode = false, fp32_dest_acc_en = true, packer_l1_acc = "
    return OpaqueDialectAttr("ttnn.device_compute_kernel_config", (f"{text}{'true' if packer else 'false'}>",))


def _exact(*, packer: bool) -> Pattern:
    def apply(module: Module, op: TableOp) -> Result:
        del module
        if "compute_config" in op.properties:
            return None
        op.properties["compute_config"] = exact_config(packer=packer)
        return True

    return pattern(apply, "rms_norm" if packer else "reduce_scatter", versions="2026-08..", dialect="ttnn")


def _group_channels(module: Module, op: TableOp) -> Result:
    """Channels are padded to whole tiles by whole groups of zeros."""
    value, out = op.group("input")[0], shape_of(op.results[0])
    shape = shape_of(value)
    if len(shape) != 4 or shape[3] % _TILE == 0 or op.operand("input_mask") is not None:
        return None
    affine = {name: op.operand(name) for name in ("weight", "bias")}
    if any(one is not None and len(shape_of(one)) != 1 for one in affine.values()):
        return None
    groups = op.get("num_groups")
    each = shape[3] // groups
    step = math.lcm(_TILE, each)
    channels = -(-shape[3] // step) * step
    more = channels - shape[3]
    build = Build(module, op)
    operands: dict[str, SSAValue | None] = {
        "input": build.pad(value, (0,) * 7 + (more,), suffix="_pad_input"),
        **{
            name: one
            if one is None or shape_of(one)[0] != shape[3]
            else build.pad(one, (0, more), suffix=f"_pad_{name}")
            for name, one in affine.items()
        },
    }
    type_ = retyped(op.results[0].type, shape=(*out[:3], channels))
    made = build.again(op, [type_], operands=operands, num_groups=integer(channels // each, "i64"))
    return [build.slice(made.results[0], (0,) * 4, out, suffix="_slice_output", like=op.results[0].type)]


def _group_affine(module: Module, op: TableOp) -> Result:
    """Scales and shifts are rows of 32 channels."""
    changes = {}
    for name in ("weight", "bias"):
        value = op.operand(name)
        if value is None or len(shape_of(value)) != 1:
            continue
        size = shape_of(value)[0]
        if size > 0 and size % _TILE == 0:
            shape = (1, 1, size // _TILE, _TILE)
            changes[name] = Build(module, op).reshape(value, shape, f"_reshape_{name}")
    if not changes:
        return None
    change_operands(op, **changes)
    return True


def _distributed_rms(module: Module, op: TableOp) -> Result:
    """The kernel needs rows width-sharded over L1 cores."""
    value = op.group("input")[0]
    if tensor_layout(value).mem_layout == "width_sharded":
        return None
    tiles = -(-shape_of(value)[-1] // _TILE)
    rows, columns = chip_of(module).grid
    cores = next(count for count in range(min(rows * columns, tiles), 0, -1) if tiles % count == 0)
    type_ = sharded(module, value.type, "width_sharded", (1, cores))
    build = Build(module, op)
    operands: dict[str, SSAValue | None] = {"input": build.spec(value, type_)}
    weight, residual = op.operand("weight"), op.operand("residual")
    if weight is not None and tensor_layout(weight).tiled:
        operands["weight"] = build.spec(weight, retyped(weight.type, tiled=False))
    if residual is not None:
        operands["residual"] = build.spec(residual, type_)
    ranges = core_ranges("width_sharded", (1, cores), worker_grid(module))
    width, height = (max(one[side] for one in ranges) + 1 for side in (2, 3))
    shard = tensor_layout(operands["input"]).memref.get_shape()  # type: ignore[arg-type]
    program = (
        f"<compute_with_storage_grid_size = #ttnn.core_coord<{width}, {height}>, subblock_w = 1, "
        f"block_h = {shard[0]}, block_w = {shard[1]}, inplace = false>"
    )
    config = op.properties.get("compute_config") or exact_config(packer=True)
    made = build.again(
        op,
        [sharded(module, op.results[0].type, "width_sharded", (1, cores))],
        operands=operands,
        compute_config=config,
        program_config=OpaqueDialectAttr("ttnn.layer_norm_sharded_multi_core_program_config", (program,)),
    )
    return [build.value("to_memory_config", [made.results[0]], op.results[0].type)]


NORMS: Final[tuple[Pattern, ...]] = (
    pattern(_group_channels, "group_norm", versions="2026-08..", dialect="ttnn"),
    pattern(_group_affine, "group_norm", versions="2026-08..", dialect="ttnn"),
    _exact(packer=True),
    _exact(packer=False),
    pattern(_distributed_rms, "distributed_rms_norm", versions="2026-08..", dialect="ttnn"),
)

"""Program configurations of matrix products, chosen by predicted time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.transforms.base import table_ops
from ttnn.compiler.transforms.ttnn.layout.types import tensor_layout
from ttnn.compiler.transforms.ttnn.optimizer.model import ProductConfig

__all__ = ["MOST", "attribute_of", "choices", "compute_of", "products_of"]

MOST: Final = 24
"""Configurations that are asked for of one product."""
_TILE: Final = 32
_INNER: Final = (2, 4, 3, 1, 6, 8)
"""Tiles of the inner dimension per block, in the order of trials."""


def products_of(module: Module) -> list[TableOp]:
    """Return the products without a configuration, in order."""
    return [
        op
        for op in table_ops(module.op, "ttnn.")
        if op.name in ("ttnn.matmul", "ttnn.linear") and "matmul_program_config" not in op.properties
    ]


def attribute_of(config: ProductConfig) -> OpaqueDialectAttr:
    """Return the attribute of a configuration."""
    columns, rows = config.grid
    parts = [
        f"compute_with_storage_grid_size = #ttnn.core_coord<{columns}, {rows}>",
        f"in0_block_w = {config.inner}",
        f"out_subblock_h = {config.subblock[0]}",
        f"out_subblock_w = {config.subblock[1]}",
    ]
    if config.kind != "reuse":
        parts += [f"out_block_h = {config.block[0]}", f"out_block_w = {config.block[1]}"]
    parts += [f"per_core_m = {config.block[0]}", f"per_core_n = {config.block[1]}"]
    if config.kind == "reuse_multi_cast":
        parts += ["transpose_mcast = false", "fuse_batch = true"]
    elif config.kind == "reuse_multi_cast_1d":
        first = str(config.first).lower()
        parts += ["fuse_batch = true", f"mcast_in0 = {first}", "gather_in0 = false"]
        parts += ["hop_cores = #ttnn.core_range_set<>", "num_global_cb_receivers = 0", "untilize_out = false"]
    return OpaqueDialectAttr(f"ttnn.matmul_multi_core_{config.kind}_program_config", (f"<{', '.join(parts)}>",))


def compute_of(config: ProductConfig) -> OpaqueDialectAttr:
    """Return the attribute of a configuration's fidelity and sums."""
    wide, narrow = (str(one).lower() for one in (config.wide, not config.wide))
    fields = f"math_fidelity = {config.fidelity}, math_approx_mode = false, fp32_dest_acc_en = {wide}"
    return OpaqueDialectAttr("ttnn.device_compute_kernel_config", (f"<{fields}, packer_l1_acc = {narrow}>",))


def choices(op: TableOp, grid: tuple[int, int], arch: str) -> list[ProductConfig]:
    """Return the configurations to ask for, the likely best first.

    Args:
        op: The product.
        grid: Columns and rows of the chip's cores.
        arch: Generation of the chip.
    """
    if "compute_config" not in op.text.attributes:
        return []
    left, right = (shape_of(op.operands[index]) for index in (0, 1))
    if min(len(left), len(right)) < 2 or op.get("transpose_a") or op.get("transpose_b"):
        return []
    layouts = [tensor_layout(value) for value in (*op.operands[:2], op.results[0])]
    if any(layout.mem_layout not in (None, "interleaved") or not layout.tiled for layout in layouts):
        return []
    m, k, n = (-(-size // _TILE) for size in (left[-2], left[-1], right[-1]))
    batch = math.prod(left[:-2])
    most = 4 if layouts[2].dtype == "f32" else 8
    found = list(
        _batched(batch, m, k, n, grid, most) if math.prod(right[:-2]) > 1 else _flat(batch * m, k, n, grid, most)
    )
    words = {layout.dtype for layout in layouts[:2]}
    fidelity = "hifi2"
    if words == {"f32"}:
        fidelity = "hifi4" if arch == "blackhole" else "hifi3"
    elif all(word.startswith("bfp_") for word in words):
        fidelity = "lofi"
    given = "compute_config" in op.properties
    wide = layouts[2].dtype == "f32"
    return [
        replace(config, fidelity="" if given else fidelity, wide=wide) for config in list(dict.fromkeys(found))[:MOST]
    ]


def _flat(m: int, k: int, n: int, grid: tuple[int, int], most: int) -> Iterator[ProductConfig]:
    columns, rows = grid
    down, across = -(-m // rows), -(-n // columns)
    used = (-(-n // across), -(-m // down))
    row = _spread(n, columns * rows)
    for inner in [size for size in _INNER if k % size == 0]:
        for subblock in _subblocks(down, across, most)[:3]:
            yield ProductConfig("reuse_multi_cast", used, inner, subblock, (down, across))
        if m <= 8:
            for subblock in _subblocks(m, row, most)[:2]:
                yield ProductConfig("reuse_multi_cast_1d", grid, inner, subblock, (m, row), first=True)
        elif n <= 8:
            part = _spread(m, columns * rows)
            for subblock in _subblocks(part, n, most)[:2]:
                yield ProductConfig("reuse_multi_cast_1d", grid, inner, subblock, (part, n))


def _batched(batch: int, m: int, k: int, n: int, grid: tuple[int, int], most: int) -> Iterator[ProductConfig]:
    cores = grid[0] * grid[1]
    for rows in sorted({size for size in range(1, m + 1) if m % size == 0}, reverse=True):
        if batch * (m // rows) >= cores or rows == 1:
            for inner in [size for size in (k, *_INNER) if k % size == 0][:3]:
                for subblock in _subblocks(rows, n, most)[:2]:
                    yield ProductConfig("reuse", grid, inner, subblock, (rows, n))


def _spread(tiles: int, cores: int) -> int:
    return -(-tiles // cores)


def _subblocks(rows: int, columns: int, most: int) -> Sequence[tuple[int, int]]:
    """Return the sizes of subblocks, large ones first."""
    found = [
        (height, width)
        for height in range(1, rows + 1)
        if rows % height == 0
        for width in range(1, columns + 1)
        if columns % width == 0 and height * width <= most
    ]
    return sorted(found, key=lambda size: (-size[0] * size[1], abs(size[0] - size[1]), size))

"""Shared checks of all program families: block sizes, A's shards, messages.

The checks and their sentences are those of the official package (the text after `info:`); our own sentence in front
names the parameter that does not fit and a value that would.
"""

from __future__ import annotations

import math

from ttnn.base.enums import TensorMemoryLayout
from ttnn.base.exceptions import MemoryConfigError, ProgramConfigError, TtnnError

from .block_sizes import largest_divisor
from .configs import Kind, ProgramConfig
from .problem import Problem
from .specs import Shard


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as the official package prints it."""
    return f"Shape([{', '.join(map(str, shape))}])"


def orientation_text(shard: Shard) -> str:
    """Return a tensor's shard orientation in official print form."""
    return "COL_MAJOR" if shard.col_major else "ROW_MAJOR"


class Checks:
    """The checks of one configuration; carries the prefix of its sentences."""

    def __init__(self, problem: Problem, config: ProgramConfig) -> None:
        self.problem = problem
        self.config = config
        self.a = problem.a.placement
        self.b = problem.b.placement
        self.out = problem.out
        self.rows_t = problem.mt * (problem.batch_a if config.fuse_batch else 1)

    def require(
        self, condition: bool, vendor: str, advice: str = "", error: type[TtnnError] = ProgramConfigError
    ) -> None:
        """Raise `error` with the official sentence unless `condition` holds."""
        if condition:
            return
        name = self.config.kind.value
        ours = f"ttnn.matmul: the program config does not fit this call: {self.config}"
        raise error(f"{ours}. {advice}" if advice else f"{ours}.", vendor=f"{name}: {vendor}")

    def divides(self, whole: str, value: int, part: str, divisor: int) -> None:
        """Require that `part` divides `whole`; otherwise name the largest divisor below."""
        ok = divisor > 0 and value % divisor == 0
        best = largest_divisor(value, max(1, min(divisor, value)))
        self.require(
            ok, f"{whole} ({value}) must be divisible by {part} ({divisor})", f"{part}={best} would divide it."
        )

    def only(self, part: str, fits: int, vendor: str) -> None:
        """Require the only size of the configuration that fits."""
        self.require(getattr(self.config, part.lower()) == fits, vendor, f"Only {part}={fits} fits.")

    def grid(self) -> None:
        """Require the core grid to fit the device."""
        x, y = self.config.grid
        columns, rows = self.problem.chip.grid
        self.require(
            x > 0 and y > 0,
            f"compute_with_storage_grid_size must be non-zero, got ({x}, {y})",
            "(1, 1) is the smallest.",
        )
        self.require(
            x <= columns and y <= rows,
            f"compute_with_storage_grid_size ({x}, {y}) must fit within device grid ({columns}, {rows})",
            f"compute_with_storage_grid_size=({min(x, columns)}, {min(y, rows)}) would fit.",
        )
        last = self.config.last_core
        self.require(
            last is None or (last[0] < columns and last[1] < rows),
            "allowed_worker_cores must be a subset of the device compute grid!",
            f"The last core of the device is ({columns - 1}, {rows - 1}).",
        )

    def nonzero(self, **values: int) -> None:
        """Require sizes that are not 0."""
        for name, value in values.items():
            self.require(value != 0, f"{name} is 0, which is not valid", f"{name}=1 is the smallest.")

    def blocks(self) -> None:
        """Check block and subblock sizes against each other, Kt and Dst."""
        config = self.config
        if config.kind is Kind.MULTI_CORE:
            return
        has_subblocks = config.kind in (Kind.REUSE, Kind.MCAST_1D, Kind.MCAST_2D)
        if has_subblocks:
            self.grid()
        self.nonzero(per_core_M=config.per_core_m, per_core_N=config.per_core_n, in0_block_w=config.in0_block_w)
        self.divides("Kt", self.problem.kt, "in0_block_w", config.in0_block_w)
        if not has_subblocks:
            return
        h, w = config.out_subblock_h, config.out_subblock_w
        self.nonzero(out_subblock_h=h, out_subblock_w=w)
        if config.kind is Kind.REUSE:
            self.divides("per_core_M", config.per_core_m, "out_subblock_h", h)
            self.divides("per_core_N", config.per_core_n, "out_subblock_w", w)
        else:
            self.nonzero(out_block_h=config.out_block_h, out_block_w=config.out_block_w)
            self.divides("out_block_h", config.out_block_h, "out_subblock_h", h)
            self.divides("out_block_w", config.out_block_w, "out_subblock_w", w)
            self.divides("per_core_M", config.per_core_m, "out_block_h", config.out_block_h)
            self.divides("per_core_N", config.per_core_n, "out_block_w", config.out_block_w)
        limit = self.problem.compute.dst_tiles
        self.require(
            h * w <= limit,
            f"out_subblock_w {w} times out_subblock_h {h} needs to be at most {limit} to fit in hardware",
            f"Dst holds {limit} tiles with fp32_dest_acc_en={self.problem.compute.fp32}; "
            + self.largest_subblock(limit),
        )

    def largest_subblock(self, limit: int) -> str:
        """Return the largest subblock that divides the output block.

        It has at most `limit` tiles.
        """
        config = self.config
        reuse = config.kind is Kind.REUSE
        height = config.per_core_m if reuse else config.out_block_h
        width = config.per_core_n if reuse else config.out_block_w
        pairs = ((h, w) for h in range(1, limit + 1) for w in range(1, limit // h + 1))
        h, w = max((pair for pair in pairs if height % pair[0] == 0 and width % pair[1] == 0), key=math.prod)
        return f"out_subblock_h={h} and out_subblock_w={w} is the largest subblock that fits."

    def subblocks_of_sharded_output(self) -> None:
        """Require rows of subblocks and blocks equal to output shard rows."""
        config = self.config
        for level in ("out_subblock", "out_block"):
            h, w = getattr(config, f"{level}_h"), getattr(config, f"{level}_w")
            self.require(
                w == config.per_core_n or h == 1,
                f"{level}_w ({w}) must equal per_core_N ({config.per_core_n}) or {level}_h ({h}) must be 1",
                f"{level}_w={config.per_core_n} or {level}_h=1 fits.",
            )

    def same_placement(self) -> None:
        """Require a sharded output with A's buffer type and layout."""
        if not (self.a.sharded and self.out.sharded):
            return
        for what, ours, theirs in (
            ("buffer types", self.a.buffer, self.out.buffer),
            ("memory layouts", self.a.layout, self.out.layout),
        ):
            self.require(
                ours is theirs,
                f"Input A and output {what} must match, got input: {ours.cpp_name} vs output: {theirs.cpp_name}",
                error=MemoryConfigError,
            )

    def layout_is(self, label: str, operand_layout: TensorMemoryLayout, wanted: TensorMemoryLayout) -> None:
        """Require an operand to be sharded in one way."""
        self.require(
            operand_layout is wanted,
            f"{label} memory layout must be {wanted.name}, got: {operand_layout.cpp_name}",
            error=MemoryConfigError,
        )

    def row_major(self, shard: Shard) -> None:
        """Require A's shards assigned to cores row by row."""
        self.require(
            not shard.col_major,
            f"Input A shard orientation must be ROW_MAJOR, got: ShardOrientation::{orientation_text(shard)}",
            error=MemoryConfigError,
        )

    def fused_shards(self) -> None:
        """Require a sharded A to be taken as one matrix."""
        self.require(
            self.config.fuse_batch, "fuse_batch must be true when input A is sharded", "Only fuse_batch=True fits."
        )

    def shard_sizes(self) -> None:
        """Require A's shards to be a core's rows and whole K blocks."""
        shard = self.a.shard
        if shard is None:
            return
        m = self.config.per_core_m
        self.only(
            "per_core_M",
            shard.height_t,
            f"per_core_M ({m}) must equal shard_shape[0] / in0_tile.get_height() ({shard.height_t})",
        )
        self.divides("shard_shape[1] / in0_tile.get_width()", shard.width_t, "in0_block_w", self.config.in0_block_w)

"""Checks of explicit and automatic program configurations, by family."""

from __future__ import annotations

import math

from ttnn.base.enums import BufferType, DataType, TensorMemoryLayout
from ttnn.base.exceptions import DTypeError, MemoryConfigError, ShapeError, UnsupportedError

from .block_sizes import largest_divisor
from .config_check_base import Checks, orientation_text, shape_text
from .configs import Kind, ProgramConfig
from .problem import Problem
from .specs import Shard, cores_text, up


class _Families(Checks):
    """The checks of each family, and of the batch."""

    def multi_core(self) -> None:
        self.layout_is("Input A", self.a.layout, TensorMemoryLayout.INTERLEAVED)
        self.layout_is("Input B", self.b.layout, TensorMemoryLayout.INTERLEAVED)
        self.layout_is("Output", self.out.layout, TensorMemoryLayout.INTERLEAVED)

    def mcast_2d(self) -> None:
        config, shard = self.config, self.a.shard
        columns, rows = config.grid
        blocks_y = up(self.rows_t, config.per_core_m)
        blocks_x = up(self.problem.nt, config.per_core_n)
        if config.transpose_mcast:
            blocks_x, blocks_y = blocks_y, blocks_x
        sizes = (("per_core_M", self.rows_t), ("per_core_N", self.problem.nt))
        along_y, along_x = reversed(sizes) if config.transpose_mcast else sizes
        for axis, blocks, what, limit, (part, tiles) in (
            ("y", blocks_y, "rows", rows, along_y),
            ("x", blocks_x, "columns", columns, along_x),
        ):
            self.require(
                blocks <= limit,
                f"Num output blocks along {axis} ({blocks}) must be smaller than or equal to the number of {what} in "
                f"compute grid ({limit})!",
                f"With {part}={up(tiles, limit)} there are no more than {limit}.",
            )
        if shard is not None and self.a.layout is TensorMemoryLayout.BLOCK_SHARDED:
            self.same_placement()
            self.fused_shards()
            self.require(
                config.transpose_mcast == shard.col_major,
                f"transpose_mcast ({config.transpose_mcast}) must fit the shard orientation of input A "
                f"({orientation_text(shard)})",
            )
            self.shard_sizes()
        elif shard is not None and self.a.layout is TensorMemoryLayout.HEIGHT_SHARDED:
            self.fused_shards()
            self.require(not config.transpose_mcast, "transpose_mcast must be false for a height sharded input A")
            self.require(
                self.problem.kt == config.in0_block_w == shard.width_t,
                f"K ({self.problem.kt}), in0_block_w ({config.in0_block_w}) and the shard width ({shard.width_t}) "
                "must be equal",
                f"Only in0_block_w={self.problem.kt} with shards of input A that are {32 * self.problem.kt} wide fits.",
            )
            self.require(
                shard.box.columns == 1,
                "a height sharded input A must be on one column of cores",
                f"It is on {shard.box.columns}.",
            )
            self.shard_sizes()
        elif shard is not None:
            self.layout_is("Input A", self.a.layout, TensorMemoryLayout.BLOCK_SHARDED)
        if self.b.sharded:
            self.sharded_b_2d()
        if self.out.sharded:
            self.layout_is("Output", self.out.layout, TensorMemoryLayout.BLOCK_SHARDED)
            self.subblocks_of_sharded_output()

    def sharded_b_2d(self) -> None:
        config, shard = self.config, self.b.shard
        self.require(not config.transpose_mcast, "transpose_mcast must be false for a sharded input B")
        if self.b.layout is TensorMemoryLayout.WIDTH_SHARDED and shard is not None:
            if not self.b.in_dram:
                self.require(
                    self.a.layout in (TensorMemoryLayout.INTERLEAVED, TensorMemoryLayout.HEIGHT_SHARDED),
                    "Error - non-DRAM width sharded input B requires input A to be interleaved or height sharded, "
                    f"rather than {self.a.layout.cpp_name}",
                    error=MemoryConfigError,
                )
                self.require(
                    shard.box.rows == 1,
                    "a width sharded input B must be on one row of cores",
                    f"It is on {shard.box.rows}.",
                )
                self.only(
                    "per_core_N",
                    shard.width_t,
                    f"shard width of input B ({shard.width_t}) must equal per_core_N ({config.per_core_n})",
                )
            return
        self.require(
            self.b.layout is TensorMemoryLayout.HEIGHT_SHARDED and self.b.in_dram and not config.fuse_batch,
            "a sharded input B must be WIDTH_SHARDED, or HEIGHT_SHARDED in DRAM with fuse_batch false, got: "
            f"{self.b.layout.cpp_name}",
            error=MemoryConfigError,
        )
        if shard is not None:
            self.banks_of_matrices(shard)

    def banks_of_matrices(self, shard: Shard) -> None:
        """Check that every DRAM bank holds whole matrices of B."""
        kt = self.problem.kt
        self.require(
            shard.height_t % kt == 0,
            f"HEIGHT_SHARDED input B shard height ({shard.height_t} tiles) must be divisible by K ({kt} tiles) so each "
            "bank holds complete [K, N] matrices",
            f"Only shards of input B of whole matrices, {32 * kt} rows each, fit.",
        )

    def mcast_1d(self) -> None:
        config = self.config
        columns, rows = config.grid
        if config.gather_in0:
            self.ring()
            return
        blocks_y, blocks_x = up(self.rows_t, config.per_core_m), up(self.problem.nt, config.per_core_n)
        self.require(
            blocks_y * blocks_x <= columns * rows,
            f"Number of blocks exceeds number of cores: {blocks_y * blocks_x} blocks > {columns * rows} cores",
            f"per_core_M={self.rows_t} and per_core_N={up(self.problem.nt, columns * rows)} would fit."
            if config.mcast_in0
            else f"per_core_M={up(self.rows_t, columns * rows)} and per_core_N={self.problem.nt} would fit.",
        )
        if config.mcast_in0:
            self.require(
                blocks_y == 1,
                f"mcast_in0 requires M ({self.rows_t}) to fit within a single per_core_M block ({config.per_core_m}), "
                f"got num_blocks_y={blocks_y}",
                f"per_core_M={self.rows_t} would fit.",
            )
            self.mcast_in0()
        else:
            self.require(
                blocks_x == 1,
                f"mcast_in1 requires N ({self.problem.nt}) to fit within a single per_core_N block "
                f"({config.per_core_n}), got num_blocks_x={blocks_x}",
                f"per_core_N={self.problem.nt} would fit.",
            )
            self.mcast_in1()

    def ring(self) -> None:
        """Refuse unsupported ring matmuls: one matrix, cut equally everywhere, is supported."""
        config, problem, a, b, out = self.config, self.problem, self.a.shard, self.b.shard, self.out.shard
        placements = (self.a, self.b, self.out)
        reason = ""
        if any(p.layout is not TensorMemoryLayout.WIDTH_SHARDED or p.in_dram for p in placements):
            reason = "operands or an output that are not WIDTH_SHARDED in L1"
        elif (
            a is None
            or b is None
            or out is None
            or not ((a.cores, a.col_major) == (b.cores, b.col_major) == (out.cores, out.col_major))
        ):
            reason = "operands and an output on different cores"
        elif problem.bias is not None or config.fused_activation is not None:
            reason = "a fused bias or activation"
        elif problem.transpose_a or config.untilize_out or problem.batch_b > 1:
            reason = "a transposed input_tensor_a, a batch of input_tensor_b or untilize_out"
        elif not (
            (config.in0_block_w, config.per_core_m, config.per_core_n) == (a.width_t, self.rows_t, b.width_t)
            and (a.width_t * a.num_cores, b.width_t * b.num_cores) == (problem.kt, problem.nt)
            and (config.out_block_h, config.out_block_w) == (config.per_core_m, config.per_core_n)
        ):
            reason = (
                f"blocks that are not the shards (in0_block_w={a.width_t}, per_core_M={self.rows_t} and "
                f"per_core_N={b.width_t} are, if shards cover {problem.kt} and {problem.nt} tiles)"
            )
        if reason:
            raise UnsupportedError(f"ttnn.matmul: gather_in0 with {reason} is not modelled.", "unimplemented")

    def mcast_in0(self) -> None:
        config = self.config
        if self.a.sharded:
            self.fused_shards()
            self.layout_is("Input A", self.a.layout, TensorMemoryLayout.WIDTH_SHARDED)
            self.same_placement()
            if self.a.shard is not None:
                self.row_major(self.a.shard)
            self.only("per_core_M", self.rows_t, f"M ({self.rows_t}) must equal per_core_M ({config.per_core_m})")
            self.shard_sizes()
        if self.out.sharded:
            self.line_output("row", TensorMemoryLayout.WIDTH_SHARDED)
            self.only("per_core_M", self.rows_t, f"M ({self.rows_t}) must equal per_core_M ({config.per_core_m})")
            self.subblocks_of_sharded_output()
        if self.b.sharded and self.b.buffer is BufferType.L1 and self.b.shard is not None:
            self.layout_is("Input B", self.b.layout, TensorMemoryLayout.WIDTH_SHARDED)
            self.only(
                "per_core_N",
                self.b.shard.width_t,
                f"shard width of input B ({self.b.shard.width_t}) must equal per_core_N ({config.per_core_n})",
            )

    def mcast_in1(self) -> None:
        config, shard = self.config, self.a.shard
        if shard is not None:
            self.fused_shards()
            self.layout_is("Input A", self.a.layout, TensorMemoryLayout.HEIGHT_SHARDED)
            self.same_placement()
            self.row_major(shard)
            self.require(
                self.problem.kt == shard.width_t,
                f"K ({self.problem.kt}) must equal shard_shape[1] / in0_tile.get_width() ({shard.width_t})",
                f"Only shards of input A that are {32 * self.problem.kt} wide fit.",
            )
            self.shard_sizes()
        if self.out.sharded:
            self.line_output("column", TensorMemoryLayout.HEIGHT_SHARDED)
            nt = self.problem.nt
            self.only("per_core_N", nt, f"N ({nt}) must equal per_core_N ({config.per_core_n})")
            self.subblocks_of_sharded_output()
        self.layout_is("Input B", self.b.layout, TensorMemoryLayout.INTERLEAVED)

    def line_output(self, line: str, wanted: TensorMemoryLayout) -> None:
        shard = self.out.shard
        one_line = shard is not None and (shard.box.rows if line == "row" else shard.box.columns) == 1
        self.require(
            self.out.layout is wanted or (self.out.layout is TensorMemoryLayout.BLOCK_SHARDED and one_line),
            f"output memory layout must be {wanted.name} or BLOCK_SHARDED on a 1-{line} grid, got: "
            f"{self.out.layout.cpp_name}",
            error=MemoryConfigError,
        )

    def reuse(self) -> None:
        config, problem = self.config, self.problem
        self.reused_rows()
        self.only("per_core_N", problem.nt, f"N ({problem.nt}) must equal per_core_N ({config.per_core_n})")
        self.require(
            problem.batch_a == 1 or problem.batch_b > 1,
            "Batch broadcasting is not supported for the chosen program config",
            "Use a multicast program config, or repeat input_tensor_b.",
            ShapeError,
        )
        if problem.batch_b > 1:
            h = config.out_subblock_h
            self.require(
                problem.mt % h == 0,
                f"out_subblock_h ({h}) needs to divide M ({problem.mt}) evenly and does not. Please update your "
                "program config.",
                f"out_subblock_h={largest_divisor(math.gcd(problem.mt, config.per_core_m), h)} would.",
            )
        for label, placement in (("Input A", self.a), ("Input B", self.b), ("Output", self.out)):
            self.require(
                placement.layout is not TensorMemoryLayout.WIDTH_SHARDED,
                f"{label} memory layout must not be WIDTH_SHARDED, got: {placement.layout.cpp_name}",
                error=MemoryConfigError,
            )
        self.same_placement()
        self.reused_shards()
        shard = next((p.shard for p in (self.a, self.b) if p.shard is not None and not p.in_dram), None)
        if shard is not None:
            blocks = problem.batch_a * problem.mt // config.per_core_m
            self.require(
                blocks % shard.num_cores == 0,
                f"num_output_blocks ({blocks}) must be evenly divisible by the number of cores in the input shard grid "
                f"({shard.num_cores})",
                f"A shard grid of {blocks} cores fits.",
            )
        if self.out.sharded:
            self.require(
                config.out_subblock_w == config.per_core_n or config.out_subblock_h == 1,
                f"out_subblock_w ({config.out_subblock_w}) must equal per_core_N ({config.per_core_n}) or "
                f"out_subblock_h ({config.out_subblock_h}) must be 1",
                f"out_subblock_w={config.per_core_n} or out_subblock_h=1 fits.",
            )

    def reused_rows(self) -> None:
        """Check blocks of `per_core_M` rows: parts of a matrix, or whole matrices.

        Whole matrices leave no rest.
        """
        m, rows, matrices = self.config.per_core_m, self.problem.mt, self.problem.batch_a
        if m < rows:
            self.require(
                rows % m == 0,
                f"per_core_M, {m}, must divide M, {rows}, if per_core_M < M!",
                f"per_core_M={largest_divisor(rows, m)} would.",
            )
            return
        fits = f"per_core_M={rows * largest_divisor(matrices, m // rows)} is the largest that fits."
        self.require(m % rows == 0, f"per_core_M, {m}, must be a multiple of M, {rows}, if per_core_M > M!", fits)
        height = rows * matrices
        self.require(height % m == 0, f"input a total height, {height}, must be divisible by per_core_M, {m}!", fits)

    def reused_shards(self) -> None:
        """Check that both operands' shards are the blocks that cores multiply."""
        config, kt, a, b = self.config, self.problem.kt, self.a.shard, self.b.shard
        if a is not None:
            self.require(
                a.width_t == kt,
                f"K ({32 * kt}) must equal in0 shard_shape[1] ({32 * a.width_t})",
                f"Only shards of input A that are {32 * kt} wide fit.",
            )
            self.only(
                "in0_block_w",
                kt,
                f"in0 shard_shape[1] ({32 * kt}) must equal in0_block_w ({config.in0_block_w}) * in0_tile width (32)",
            )
            self.only(
                "per_core_M",
                a.height_t,
                f"per_core_M ({config.per_core_m}) must equal shard_shape[0] / in0_tile.get_height() ({a.height_t})",
            )
        if b is not None:
            self.require(
                config.per_core_m % self.problem.mt == 0,
                f"per_core_M ({config.per_core_m}) must be a multiple of M ({self.problem.mt}) when input B is sharded",
                f"per_core_M={self.problem.mt} is one.",
            )
            self.require(
                b.width_t == self.problem.nt,
                f"Input B shard shape[1] ({32 * b.width_t}) must equal padded shape[-1] ({self.problem.n})",
                f"Only shards of input B that are {self.problem.n} wide fit.",
            )
            self.require(
                b.height_t % kt == 0,
                f"Input B shard shape[0] ({32 * b.height_t}) must be divisible by K ({32 * kt})",
                f"Only shards of input B of whole matrices, {32 * kt} rows each, fit.",
            )
        if a is not None and b is not None:
            for what, of_a, of_b in (
                ("buffer types", self.a.buffer.cpp_name, self.b.buffer.cpp_name),
                ("memory layouts", self.a.layout.cpp_name, self.b.layout.cpp_name),
                ("shard grids", cores_text(a.cores), cores_text(b.cores)),
                ("shard orientations", orientation_text(a), orientation_text(b)),
            ):
                self.require(
                    of_a == of_b,
                    f"Input tensors A and B must have matching {what}, got A: {of_a} vs B: {of_b}",
                    error=MemoryConfigError,
                )

    def dram_sharded(self) -> None:
        config, problem, shard = self.config, self.problem, self.a.shard
        self.require(
            shard is not None, "Input tensor A must be sharded for DRAM sharded program config", error=MemoryConfigError
        )
        self.require(
            self.out.sharded,
            "Output memory config must be sharded for DRAM sharded program config",
            error=MemoryConfigError,
        )
        self.layout_is("Input A", self.a.layout, TensorMemoryLayout.WIDTH_SHARDED)
        self.same_placement()
        self.only("per_core_M", problem.mt, f"M ({problem.mt}) must equal per_core_M ({config.per_core_m})")
        self.require(
            problem.mt == 1,
            "currently only support in0 tensor height of tile height",
            f"Input A may have 1 row of tiles, it has {problem.mt}.",
        )
        if shard is not None:
            self.row_major(shard)
            width, block = shard.width_t, config.in0_block_w
            self.require(
                width % block == 0 or block % width == 0,
                f"shard_shape[1] / in0_tile.get_width() ({width}) and in0_block_w ({block}) must divide one another",
                f"in0_block_w={largest_divisor(width, min(block, width))} would.",
            )
        self.layout_is("Input B", self.b.layout, TensorMemoryLayout.WIDTH_SHARDED)
        for name, placement, memory in (
            ("input_tensor_a", self.a, BufferType.L1),
            ("input_tensor_b", self.b, BufferType.DRAM),
        ):
            if placement.buffer is not memory:
                raise UnsupportedError(
                    f"ttnn.matmul: a DRAM sharded program with {name} in {placement.buffer.name} is not modelled; it "
                    f"belongs into {memory.name}.",
                    "unimplemented",
                )

    def batched_dram_sharded(self) -> None:
        """Require every core, and every DRAM bank, to hold whole matrices."""
        config, problem = self.config, self.problem
        for label, placement, memory in (
            ("Input A", self.a, BufferType.L1),
            ("Input B", self.b, BufferType.DRAM),
            ("Output", self.out, BufferType.L1),
        ):
            self.layout_is(label, placement.layout, TensorMemoryLayout.HEIGHT_SHARDED)
            self.require(
                placement.buffer is memory,
                f"{label} buffer type must be {memory.cpp_name}, got: {placement.buffer.cpp_name}",
                error=MemoryConfigError,
            )
        self.only("per_core_M", problem.mt, f"M ({problem.mt}) must equal per_core_M ({config.per_core_m})")
        self.only("per_core_N", problem.nt, f"N ({problem.nt}) must equal per_core_N ({config.per_core_n})")
        if self.b.shard is not None:
            self.banks_of_matrices(self.b.shard)
        for label, shard in (("Input A", self.a.shard), ("Output", self.out.shard)):
            if shard is not None:
                self.divides(f"shard height of {label}", shard.height_t, "M", problem.mt)

    def keeps_in0(self) -> bool:
        """Return whether A stays in L1 while B's matrices pass.

        A is one matrix.
        """
        config, a, b = self.config, self.problem.a, self.problem.b
        return (
            config.kind is Kind.MCAST_1D
            and not config.fuse_batch
            and config.fused_activation is None
            and not config.mcast_in0
            and min(len(a.shape), len(b.shape)) >= 3
            and all(size == 1 for size in a.shape[:-2])
            and self.a.interleaved
            and self.b.interleaved
        )

    def batch(self) -> None:
        """Check that the batch dimensions agree if B is batched."""
        a, b = self.problem.a.shape, self.problem.b.shape
        if self.problem.batch_b == 1:
            return
        if len(a) != len(b):
            raise ShapeError(
                f"ttnn.matmul: a batched input_tensor_b {b} needs an input_tensor_a of the same rank, got {a}.",
                vendor="Batched (non-bcast) matmul requires inputs of the same rank, got "
                f"a_shape rank: {len(a)} vs b_shape rank: {len(b)}",
            )
        keeps_in0 = self.keeps_in0()
        for i, (size_a, size_b) in enumerate(zip(a[:-2], b[:-2], strict=True)):
            if size_a == size_b or (size_a == 1 and keeps_in0):
                continue
            raise ShapeError(
                f"ttnn.matmul: batch dimensions differ: input_tensor_a is {a}, input_tensor_b is {b}. Only an "
                "unbatched "
                "input_tensor_b is repeated for every matrix of input_tensor_a.",
                vendor=f"bmm (non-bcast matmul) expects input tensors of shapes BCMK*BCKN=BCMN or batch dimension {i} "
                "mismatch: "
                f"a={size_a} vs b={size_b} (dimension mismatch only allowed when all batch dimensions of a are size "
                "1 and "
                "using MatmulMultiCoreReuseMultiCast1DProgramConfig with fuse_batch=false, fused_activation=none, "
                "mcast_in0=false, and non-sharded inputs for in0 reuse optimization)",
            )

    def fused_batch(self) -> None:
        problem = self.problem
        if not self.config.fuse_batch:
            return
        self.require(
            problem.batch_b == 1,
            "Matmul with fused batch requires input tensors of shapes BCMK*11KN=BCMN or equivalent. Please change the "
            "second input tensor or adjust the program config.",
            "Only fuse_batch=False fits.",
            ShapeError,
        )
        self.require(
            not problem.transpose_a or problem.batch_a == 1 or problem.mt == 1,
            "transpose_a with fuse_batch is not supported when batch dimensions exist and M_per_batch > 1 "
            f"(batch_size={problem.batch_a}, M_per_batch={problem.mt}, a_shape_padded={shape_text(problem.a.padded)})",
            "Only fuse_batch=False fits.",
            ShapeError,
        )


def check_config(problem: Problem, config: ProgramConfig) -> None:
    """Check a configuration, given or chosen.

    Raises:
        ProgramConfigError: block sizes that do not fit each other, the operands, Dst or the grid.
        MemoryConfigError: memory configs that the program does not support.
        ShapeError: batches that the program does not support.
        UnsupportedError: a ring of cores that does more than multiply.
    """
    checks = _Families(problem, config)
    checks.blocks()
    family = {
        Kind.MULTI_CORE: checks.multi_core,
        Kind.REUSE: checks.reuse,
        Kind.MCAST_2D: checks.mcast_2d,
        Kind.MCAST_1D: checks.mcast_1d,
        Kind.DRAM_SHARDED: checks.dram_sharded,
        Kind.BATCHED_DRAM_SHARDED: checks.batched_dram_sharded,
    }
    family[config.kind]()
    checks.batch()
    checks.fused_batch()
    if config.untilize_out:
        checks.require(
            problem.out_dtype in (DataType.BFLOAT16, DataType.FLOAT32),
            f"Unsupported data type: {problem.out_dtype.cpp_name}",
            error=DTypeError,
        )

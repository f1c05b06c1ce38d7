"""Matrix products whose device cycles are published, as device operations: `perf_anchors.csv`.

Source: tt-metal `tech_reports/GEMM_FLOPS`, and `tests/ttnn/unit_tests/benchmarks/test_benchmark.py` for how the tuned
configurations follow from the sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.operand import Operand
from ttnn.profiler.plan import CARDS, Card

_DTYPE: Final = {"bf16": "BFLOAT16", "bfp8": "BFLOAT8_B", "bfp4": "BFLOAT4_B", "fp32": "FLOAT32"}
_BYTES: Final = {"BFLOAT16": 2048, "BFLOAT8_B": 1088, "BFLOAT4_B": 576, "FLOAT32": 4096}
_L1_FOR_BUFFERS: Final = 1_330_000
"""Bytes of L1 that the benchmark's blocks may occupy on a core."""


_ONE_BLOCK: Final = 512
"""Rows and columns of the 2025 package's first block attempt."""


def is_anchor(row: Mapping[str, str]) -> bool:
    """Return True if a row is a matmul with device cycles."""
    return row["op"] == "matmul" and row["metric"] == "device_cycles" and row["chip"] in CARDS


def class_of(row: Mapping[str, str]) -> str:
    """Return "n150_tuned" and its like."""
    kind = "default" if row["notes"].startswith("default") else "tuned"
    return f"{row['chip']}_{kind}"


def describe(row: Mapping[str, str]) -> DeviceOperation:
    """Return the device operation of a row."""
    m, k, n = map(int, row["shape"].split("x"))
    columns, rows = map(int, row["grid"].split("x"))
    card = CARDS[row["chip"]]
    dtype = _DTYPE[row["dtype"]]
    tuned = not row["notes"].startswith("default")
    in0_sharded, out_sharded = "in0_sharded=True" in row["notes"], "out_sharded=True" in row["notes"]

    def operand(height: int, width: int, *, sharded: bool) -> Operand:
        padded = (1, 1, height, width)
        if not sharded:
            return Operand(padded, padded, True, dtype, "DRAM")
        shard = (height // rows, width // columns)
        return Operand(padded, padded, True, dtype, "L1", "BLOCK_SHARDED", shard, (columns, rows), columns * rows)

    attributes = {"compute_kernel_config": "(fp32_dest_acc_en=0;packer_l1_acc=1)"}
    if tuned:
        attributes["program_config"] = _tuned(card, (m, k, n), (columns, rows), dtype, in0_sharded, out_sharded)
    elif m <= _ONE_BLOCK < n:
        attributes["program_config"] = _one_row_of_blocks((m, k, n), (columns, rows))
    return DeviceOperation(
        "MatmulDeviceOperation",
        card,
        (operand(m, k, sharded=in0_sharded), operand(k, n, sharded=False)),
        (operand(m, n, sharded=out_sharded),),
        row["fidelity"],
        grid=(columns, rows),
        attributes=attributes,
    )


def _one_row_of_blocks(sizes: tuple[int, int, int], grid: tuple[int, int]) -> str:
    """Return the 2025 package's configuration text for full-row blocks.

    It chooses it if one block has all rows of the result.

    It then sent the left operand to all cores. `ttnn.matmul` of this package chooses as that of April 2026 does.
    Source: tt-metal of late 2025, `matmul_op.cpp`, `create_simple_matmul_program_config`.
    """
    m, k, n = (-(-size // 32) for size in sizes)
    columns = -(-n // (grid[0] * grid[1]))
    height, width = _subblock(m, columns, sharded=False)
    return (
        f"MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(x={grid[0]};y={grid[1]});"
        f"in0_block_w={2 if k % 2 == 0 else 1};out_subblock_h={height};out_subblock_w={width};out_block_h={m};"
        f"out_block_w={columns};per_core_M={m};per_core_N={columns};fuse_batch=0;mcast_in0=1)"
    )


@lru_cache(maxsize=1024)
def _tuned(
    card: Card, sizes: tuple[int, int, int], grid: tuple[int, int], dtype: str, in0_sharded: bool, out_sharded: bool
) -> str:
    """Return the benchmark's configuration text: largest blocks that fit L1."""
    m, k, n = (size // 32 for size in sizes)
    columns, rows = grid
    per_m, per_n = -(-m // rows), -(-n // columns)
    size = _BYTES[dtype]
    partial = 2048
    k_part = max(1, k // columns)
    for outputs in (1, 2, 4, 8, 16):
        if per_m % outputs and outputs > 1:
            continue
        block_m, block_n = max(1, per_m // outputs), max(1, per_n // outputs)
        for part in (1, 2, 4, 8, 16):
            if k_part % part:
                continue
            inner = k_part // part
            used = 2 * inner * (block_m + block_n) * size + block_m * block_n * (partial if size != 2048 else 0)
            used += (per_m * per_n if out_sharded else block_m * block_n) * size
            if in0_sharded:
                used += per_m * k_part * size
            if used <= _L1_FOR_BUFFERS:
                height, width = _subblock(block_m, block_n, sharded=out_sharded)
                return (
                    f"MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x={columns};y={rows});"
                    f"in0_block_w={inner};out_subblock_h={height};out_subblock_w={width};out_block_h={block_m};"
                    f"out_block_w={block_n};per_core_M={per_m};per_core_N={per_n};transpose_mcast=0;fuse_batch=1)"
                )
    return ""


def _subblock(rows: int, columns: int, *, sharded: bool) -> tuple[int, int]:
    """Return the largest subblock of at most 8 tiles.

    Of a sharded result, one tile high or as wide as the block.
    """
    shapes = [(4, 2), (2, 4), (8, 1), (1, 8), (7, 1), (1, 7), (3, 2), (2, 3), (6, 1), (1, 6), (5, 1), (1, 5), (2, 2)]
    shapes += [(4, 1), (1, 4), (3, 1), (1, 3), (2, 1), (1, 2), (1, 1)]
    fits = ((h, w) for h, w in shapes if rows % h == 0 and columns % w == 0)
    return next((h, w) for h, w in fits if not sharded or w == columns or h == 1)

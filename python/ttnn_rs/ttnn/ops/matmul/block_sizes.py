"""Sizes of blocks and subblocks.

Subblocks never change bits; output blocks and the K block (`in0_block_w`) do, through the number of partial sums.
"""

from __future__ import annotations

import math

from .problem import Problem

# Order of preference; a pair is (first, second) and which of them is the height depends on the caller.
_SUBBLOCKS = (
    *((4, 2), (2, 4), (8, 1), (1, 8), (7, 1), (1, 7), (3, 2), (2, 3), (6, 1), (1, 6)),
    *((5, 1), (1, 5), (2, 2), (4, 1), (1, 4), (3, 1), (1, 3), (2, 1), (1, 2), (1, 1)),
)


def subblock_height_first(height: int, width: int, dst_tiles: int, *, whole_rows: bool = False) -> tuple[int, int]:
    """Return (height, width) of a block's subblock, trying tall first.

    Args:
        height: Rows of the block in tiles.
        width: Columns of the block in tiles.
        dst_tiles: Tiles that a subblock may hold.
        whole_rows: Only subblocks of one row over the whole width will do (sharded output).
    """
    for h, w in _SUBBLOCKS:
        if h * w > dst_tiles or (whole_rows and (h != 1 or w != width)):
            continue
        if height % h == 0 and width % w == 0:
            return h, w
    return 1, 1


def subblock_width_first(height: int, width: int, dst_tiles: int) -> tuple[int, int]:
    """Return (height, width) of a block's subblock, trying wide first."""
    for w, h in _SUBBLOCKS:
        if h * w <= dst_tiles and height % h == 0 and width % w == 0:
            return h, w
    return 1, 1


def shrink(problem: Problem, m: int, n: int, k: int, *, adjust_k: bool) -> tuple[int, int, int]:
    """Return the largest block (m, n, k) below this that fits L1.

    The output block is kept large: among all blocks of the largest area the K block shrinks first (if `adjust_k`), then
    the area. (1, 1, 1) if nothing fits.
    """
    if problem.fits_l1(m, n, k):
        return m, n, k
    inner = _divisors(k) if adjust_k else [k]
    for block_m, block_n in _by_area(m, n):
        for block_k in sorted(inner, reverse=True):
            if problem.fits_l1(block_m, block_n, block_k):
                return block_m, block_n, block_k
    return 1, 1, 1


def largest_divisor(value: int, limit: int) -> int:
    """Return the largest divisor of `value` that is at most `limit`."""
    return next(d for d in divisors(value) if d <= limit)


def divisors(value: int) -> list[int]:
    """Return the divisors in descending order, fast for any block size."""
    small = [d for d in range(1, math.isqrt(value) + 1) if value % d == 0]
    return [*(value // d for d in small if d * d != value), *reversed(small)]


def _divisors(value: int) -> list[int]:
    """Return `value`, 1, then other divisors in descending order.

    The order decides ties.
    """
    return [value, 1, *divisors(value)[1:-1]] if value > 1 else [1]


def _by_area(m: int, n: int) -> list[tuple[int, int]]:
    """Return the squarest block per area, from large to small areas."""
    best: dict[int, tuple[float, int, int]] = {}
    for block_m in _divisors(m):
        for block_n in _divisors(n):
            ratio = max(block_m, block_n) / min(block_m, block_n)
            area = block_m * block_n
            if area not in best or ratio <= best[area][0]:
                best[area] = (ratio, block_m, block_n)
    return [best[area][1:] for area in sorted(best, reverse=True)]

"""The sorting network of topk and sort.

Values are in Dst 0 and 1, their indices in Dst 2 and 3.

Each column is sorted on its own, from the top of the first tile to the bottom of the second: programs transpose rows to
columns first. Indices are UInt16 with a 16-bit Dst, Int32 or UInt32 with a 32-bit Dst.
"""

from __future__ import annotations

from ttnn.base.exceptions import KernelArgumentError, UnsupportedError
from ttnn.kernel_api.sfpu_functions import init, tiles

topk_tile_init = init("topk_tile_init")
_sort = tiles("topk_local_sort", "topk_local_sort", 4, "topk_tile_init")
_merge = tiles("topk_merge", "topk_merge", 4, "topk_tile_init")
_rebuild = tiles("topk_rebuild", "topk_rebuild", 4, "topk_tile_init")
_LAST_PHASE = 5
"""Phase 5 makes runs of 64 datums, which is all there are."""


def _check(call: str, idst: int, stable_sort: bool) -> None:
    if idst != 0:
        text = f"{call}: idst={idst}; the kernel returns to Dst 0 after its first columns, so its tiles must be there"
        raise KernelArgumentError(text)
    if stable_sort:
        raise UnsupportedError(f"{call}: stable_sort=True; its second swaps are not implemented", "unimplemented")


def _check_k(call: str, k: int, m_iter: int) -> None:
    if k not in (4, 8, 16, 32, 64) or not 0 <= m_iter <= _LAST_PHASE:
        raise KernelArgumentError(f"{call}: k={k}, m_iter={m_iter}; k is 4, 8, 16, 32 or 64, m_iter 0 to {_LAST_PHASE}")


def topk_local_sort(
    idst: int,
    idir: int,
    i_end_phase: int,
    i_start_phase: int = 0,
    i_end_step: int = 0,
    i_start_step: int = 0,
    *,
    stable_sort: bool = False,
) -> None:
    """Run phases `i_start_phase` to `i_end_phase` of a bitonic sort.

    After phase p, runs of 2^(p+1) are sorted.

    Args:
        idst: 0.
        idir: 0 puts the largest of the first run on top, 1 the smallest; runs take turns.
        i_end_phase: The last phase, at most 5.
        i_start_phase: The first phase.
        i_end_step: Of a single phase beyond phase 3: the step before which it changes to the last four.
        i_start_step: Likewise its first step.
        stable_sort: A template argument in C++.

    Raises:
        KernelArgumentError: tiles elsewhere than in Dst 0 to 3, other phases or steps.
        UnsupportedError: `stable_sort`.
    """
    _check("topk_local_sort", idst, stable_sort)
    if not 0 <= i_start_phase <= i_end_phase <= _LAST_PHASE:
        text = f"topk_local_sort: phases {i_start_phase} to {i_end_phase}; there are 0 to {_LAST_PHASE}"
        raise KernelArgumentError(text)
    single = i_start_phase == i_end_phase > 3
    if single and not 4 <= i_end_step <= i_start_step <= i_end_phase + 1:
        text = f"topk_local_sort: steps {i_start_step} to {i_end_step} of phase {i_end_phase}"
        raise KernelArgumentError(f"{text}; take {i_end_phase + 1} to 4")
    _sort(0, 1, 2, 3, parameters=(int(idir), i_end_phase, i_start_phase, i_end_step, i_start_step))


def topk_merge(idst: int, m_iter: int, k: int, *, top_min: bool = False, stable_sort: bool = False) -> None:
    """Merge pairs of runs of `k`; larger values move first.

    To the first run; with `top_min` the smaller ones.

    Raises:
        KernelArgumentError: tiles elsewhere than in Dst 0 to 3, another k or round.
        UnsupportedError: `stable_sort`.
    """
    _check("topk_merge", idst, stable_sort)
    _check_k("topk_merge", k, m_iter)
    _merge(0, 1, 2, 3, parameters=(m_iter, k, int(top_min)))


def topk_rebuild(
    idst: int, idir: int, m_iter: int, k: int, logk: int, skip_second: int, *, stable_sort: bool = False
) -> None:
    """Sort the `k`-runs left by a merge.

    With `skip_second` only the first half of them.

    Raises:
        KernelArgumentError: tiles elsewhere than in Dst 0 to 3, another k or round, `logk` that is not its logarithm.
        UnsupportedError: `stable_sort`.
    """
    _check("topk_rebuild", idst, stable_sort)
    _check_k("topk_rebuild", k, m_iter)
    if k != 1 << logk:
        raise KernelArgumentError(f"topk_rebuild: logk={logk} is not the logarithm of k={k}")
    _rebuild(0, 1, 2, 3, parameters=(int(idir), m_iter, k, logk, int(skip_second)))

"""Cycles of single kernels: SFPU, unpackers, FPU and packers.

SFPU functions as their listings count, the others from the cycle table.

The cycle table of the SFPU holds measured functions as they were measured; what is compared here is the count of issue
slots, so that the error shows how well unmeasured functions are known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from ttnn import _engine
from ttnn.base.exceptions import UnsupportedError

FILE = "tensix_kernel_cycles.csv"

_NAMES: Final = {"gelu_appx": "gelu", "sigmoid_appx": "sigmoid", "div": "div_binary"}
_BF16, _BFP8 = 2048, 1088
_REPEATS: Final = 64


def predict(row: Mapping[str, str]) -> float:
    """Return the predicted figure of a row.

    Raises:
        UnsupportedError: the row is about something that has no entry of its own in the table.
    """
    generation = 1 if row["chip"] == "bh" else 0
    kernel = row["kernel"]
    if row["what"].startswith("math thread cycles per tile"):
        return _sfpu(generation, kernel, wide=row["mode"] == "dest fp32")
    for pattern, work in _TILES.items():
        found = re.match(pattern, kernel)
        if found is not None:
            return work(generation, found)
    raise UnsupportedError(f"the cycle table has no entry for rows such as {row['what']!r}", "unimplemented")


def _sfpu(generation: int, kernel: str, *, wide: bool) -> float:
    word = kernel.split()[0]
    name = _NAMES.get(word, word)
    approximate = "appx" in kernel or "approx" in kernel
    cycles = _engine.sfpu_cycles(generation, name, approximate, wide)
    if cycles is None:
        raise UnsupportedError(f"the listings have no function {name!r}", "unimplemented")
    return float(cycles[1])


def _busy(generation: int, op: tuple[Any, ...], thread: int) -> float:
    """Return a thread's working cycles per operation.

    1 unpack, 2 math, 3 pack.
    """
    group = (1, (), (("tiles", op, _REPEATS),), ())
    _, _, busy = _engine.time_plan((generation, 8, 64, (), (group,)))["groups"][0]
    return float(busy[thread]) / _REPEATS


def _product(generation: int, found: re.Match[str]) -> float:
    inner = int(found[1]) // 32
    return _busy(generation, ("matmul", 1, 1, inner, _BFP8, _BFP8, 2), 2) / inner


def _whole_product(generation: int, _found: re.Match[str]) -> float:
    return max(_busy(generation, ("matmul", 1, 1, 224, _BF16, _BF16, 1), thread) for thread in (1, 2))


_TILES: Final[dict[str, Callable[[int, re.Match[str]], float]]] = {
    r"tilize: unpack": lambda generation, _: _busy(generation, ("tilize", _BF16, 3), 1),
    r"tilize: pack": lambda generation, _: _busy(generation, ("pack", _BF16, False), 3),
    r"pack_untilize: unpack": lambda generation, _: _busy(generation, ("copy", _BF16), 1),
    r"pack_untilize: pack": lambda generation, _: _busy(generation, ("pack_untilize", 8, 2), 3) / 8,
    r"matmul tile MAC HiFi2 inside SDPA, k_chunk (\d+)": _product,
    r"matmul 32x7168 x 7168x32": _whole_product,
}

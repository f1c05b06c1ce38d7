"""Values that processes tell each other, as JSON."""

from __future__ import annotations

import itertools
import json
from typing import Any


def gather(comm: Any, value: Any) -> list[Any]:
    """Return a JSON value of each process of a communicator."""
    own = json.dumps(value).encode()
    sizes = bytearray(8 * comm.size)
    comm.Allgather(len(own).to_bytes(8, "little"), sizes)
    counts = [int.from_bytes(sizes[start : start + 8], "little") for start in range(0, len(sizes), 8)]
    return [json.loads(part) for part in gather_bytes(comm.Allgatherv, own, counts)]


def gather_bytes(allgatherv: Any, own: Any, counts: list[int]) -> list[bytes]:
    """Return bytes of each process, of known numbers.

    Args:
        allgatherv: The function of a communicator.
        own: The bytes of this process.
        counts: How many each process has.
    """
    from mpi4py import MPI

    every = bytearray(sum(counts))
    places = list(itertools.accumulate(counts[:-1], initial=0))
    allgatherv(own, [every, counts, places, MPI.BYTE])
    return [bytes(every[place : place + count]) for place, count in zip(places, counts, strict=True)]

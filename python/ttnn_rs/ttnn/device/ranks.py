"""A mesh whose chips several processes share.

Each process, a rank of the mesh, computes for a box of whole chips. Every one runs the same program: it allocates,
writes and computes for its own chips only, and the processes meet where one reads chips of another. On one host they
have the memory of all chips in common; otherwise each one has copies of the others' chips, and operands are sent before
they are read.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from ttnn import _engine
from ttnn.base.config import CONFIG
from ttnn.base.exceptions import DeviceError, RankError
from ttnn.base.observers import OBSERVERS, Observer
from ttnn.device import processes
from ttnn.device.mpi import gather, gather_bytes
from ttnn.device.processes import Job, wait
from ttnn.device.system import System
from ttnn.device.systems import host_topology
from ttnn.device.watch import Watch

_PIECE: Final = 1 << 26
"""Most bytes that a process sends at once."""
_MAX_TEXT: Final = 400

RanksRow = tuple[int, list[int], list[str] | None, "Ranks"]
"""A process's part in a mesh, for the engine.

This rank, the rank of each chip, files with the memory of the chips, and the way to the other ranks.
"""


@dataclass
class _Group:
    """Processes that have one mesh."""

    comm: Any
    job: Job


_groups: Final[list[_Group]] = []


def _group() -> _Group | None:
    """Return the processes of this one's mesh; None for one process.

    They are in the order of `TT_MESH_HOST_RANK`.
    """
    job = processes.job()
    if job is None:
        return None
    if not _groups:
        numbers = [os.environ.get(name, default) for name, default in (("TT_MESH_ID", "0"), ("TT_MESH_HOST_RANK", "0"))]
        if not all(number.isdecimal() and len(number) < 7 for number in numbers):
            raise DeviceError(f"TT_MESH_ID and TT_MESH_HOST_RANK: expected numbers, got {numbers}")
        mesh, host = map(int, numbers)
        _groups.append(_Group(job.group.Split(mesh, host), job))
        OBSERVERS.append(_Calls(job.watch))
    return _groups[0]


def even_cut(shape: Sequence[int], ranks: int) -> tuple[int, ...] | None:
    """Return the number of equal boxes along each dimension.

    They are as square as possible; None if there are none.

    Args:
        shape: Shape of a mesh.
        ranks: Number of boxes.
    """
    divisors = [[count for count in range(1, size + 1) if size % count == 0 == ranks % count] for size in shape]
    cuts = [cut for cut in itertools.product(*divisors) if math.prod(cut) == ranks]
    sides = {cut: sum(size // count for size, count in zip(shape, cut, strict=True)) for cut in cuts}
    return min(cuts, key=lambda cut: (sides[cut], [-count for count in cut]), default=None)


def _box(place: Sequence[int], shape: Sequence[int], cut: Sequence[int]) -> int:
    """Return the number of a place's box, row by row."""
    number = 0
    for at, size, count in zip(place, shape, cut, strict=True):
        number = number * count + at * count // size
    return number


def owners_of(ids: Sequence[int], shape: Sequence[int], system: System, ranks: int) -> list[int]:
    """Return the rank of each chip of a mesh.

    The host topology of the mesh graph descriptor divides the system mesh; without one the mesh itself is divided.

    Args:
        ids: Numbers of the chips, row by row.
        shape: Shape of the mesh.
        system: The system that the chips are of.
        ranks: Number of processes.

    Raises:
        DeviceError: there are no equal boxes, or the descriptor has another number of hosts.
    """
    hosts = host_topology()
    if hosts is not None:
        if math.prod(hosts) != ranks:
            raise DeviceError(
                f"open_mesh_device: host_topology {list(hosts)} is for {math.prod(hosts)} ranks, not {ranks}"
            )
        return [_box(system.place_of[chip], system.shape, hosts) for chip in ids]
    cut = even_cut(shape, ranks)
    if cut is None:
        raise DeviceError(
            f"open_mesh_device: a mesh of {'x'.join(map(str, shape))} has no equal boxes for {ranks} ranks"
        )
    return [_box(place, shape, cut) for place in itertools.product(*map(range, shape))]


class Ranks:
    """The processes of a mesh, as one of them sees them.

    Attributes:
        rank: The number of this process.
        size: How many there are.
        owners: The rank of each chip, row by row.
    """

    def __init__(self, group: _Group, owners: Sequence[int], opened: str) -> None:
        """Meet the other processes.

        Args:
            group: The processes of the mesh.
            owners: The rank of each chip.
            opened: What is opened, in words; all have to open the same.
        """
        self._comm, self._watch = group.comm, group.job.watch
        self.rank, self.size, self.owners = group.comm.rank, group.comm.size, list(owners)
        self._broken = False
        self.meet(opened, 0)

    @contextmanager
    def memory(self, file_bytes: int) -> Iterator[RanksRow]:
        """Provide files with the memory of the chips.

        They are there until the engine has opened them.

        Args:
            file_bytes: Bytes of a chip.
        """
        own: dict[int, str] = {}
        files: list[int] = []
        if CONFIG.rank_memory == "shared" and hasattr(os, "memfd_create"):
            for place in (place for place, owner in enumerate(self.owners) if owner == self.rank):
                files.append(os.memfd_create("ttnn-chip"))
                os.ftruncate(files[-1], file_bytes)
                own[place] = f"/proc/{os.getpid()}/fd/{files[-1]}"
        try:
            names: dict[int, str] = {}
            for host, part in gather(self._comm, (self._watch.host, own)):
                if host == self._watch.host:
                    names.update({int(place): name for place, name in part.items()})
            opened = len(names) == len(self.owners) and all(map(os.path.exists, names.values()))
            shared = all(gather(self._comm, opened))
            yield self.rank, self.owners, [names[place] for place in range(len(names))] if shared else None, self
            self._comm.Barrier()
        finally:
            for file in files:
                os.close(file)

    def meet(self, what: str, facts: int) -> None:
        """Wait until all processes are here, for the same reason.

        Args:
            what: The reason.
            facts: A number that has to be the same, of addresses and sizes of buffers.

        Raises:
            RankError: the processes disagree, or one died.
        """
        text = f"{self._watch.here}: {what}, {facts:x}"
        name = self._watch.name if self._watch.inside else ""
        own = hashlib.blake2b(f"{name}: {what}, {facts:x}".encode(), digest_size=8).digest()
        every = bytearray(len(own) * self.size)
        self._wait(self._comm.Iallgather(own, every))
        if every == own * self.size:
            return
        texts = [part.decode(errors="replace") for part in self.exchange(text.encode()[:_MAX_TEXT])]
        self._broken = True
        other = next(rank for rank, each in enumerate(texts) if every[8 * rank :][:8] != every[:8])
        raise RankError(f"ranks disagree: rank 0 of {self.size} is in {texts[0]}; rank {other} is in {texts[other]}")

    def exchange(self, data: bytes) -> list[bytes]:
        """Return bytes of all processes; each gives its own.

        Raises:
            RankError: one died.
        """
        sizes = bytearray(8 * self.size)
        self._wait(self._comm.Iallgather(len(data).to_bytes(8, "little"), sizes))
        counts = [int.from_bytes(sizes[start : start + 8], "little") for start in range(0, len(sizes), 8)]
        parts = [bytearray(count) for count in counts]
        for start in range(0, max(counts), _PIECE):
            pieces = [min(max(count - start, 0), _PIECE) for count in counts]
            sent = memoryview(data)[start : start + pieces[self.rank]]
            for part, received in zip(parts, gather_bytes(self._allgatherv, sent, pieces), strict=True):
                part[start : start + len(received)] = received
        return [bytes(part) for part in parts]

    def close(self) -> None:
        """Meet the other processes for the last time; not after an error.

        Raises:
            RankError: they do not close the mesh, or one died.
        """
        if not self._broken:
            self.meet("the mesh is closed", 0)

    def _allgatherv(self, own: Any, every: Any) -> None:
        self._wait(self._comm.Iallgatherv(own, every))

    def _wait(self, request: Any) -> None:
        try:
            wait(request, self._watch)
        except RankError:
            self._broken = True
            raise


def ranks_of(
    ids: Sequence[int], shape: Sequence[int], system: System, chip: str, regions: Mapping[str, int]
) -> Ranks | None:
    """Return the processes of a mesh that is opened.

    None for one process, or one chip.

    Args:
        ids: Numbers of its chips, row by row.
        shape: Its shape.
        system: The system that they are chips of.
        chip: The engine's name of the chips.
        regions: Bytes that are set aside.

    Raises:
        DeviceError: the mesh cannot be divided.
        RankError: the processes open other meshes, or one died.
    """
    group = _group() if len(ids) > 1 else None
    if group is None or group.comm.size == 1:
        return None
    opened = (
        f"open_mesh_device of {'x'.join(map(str, shape))} {chip}, chips {list(ids)} of {system.name}, {dict(regions)}, "
        f"numerics {CONFIG.numerics}, version {_engine.__version__}"
    )
    return Ranks(group, owners_of(ids, shape, system, group.comm.size), opened)


class _Calls(Observer):
    """Notes calls of operators, and compares them where `CONFIG.check_ranks` is on."""

    in_full = False

    def __init__(self, watch: Watch) -> None:
        self._watch, self._depth = watch, 0

    def operation_start(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._watch.enter(str(operation.python_fully_qualified_name).removeprefix("ttnn."))
        self._depth += 1
        if CONFIG.check_ranks and self._depth == 1:
            try:
                self._compare(args, kwargs)
            except BaseException:
                self._leave()
                raise

    def operation_end(self, result: Any) -> None:
        self._leave()

    def operation_failed(self, error: BaseException) -> None:
        self._leave()

    def _leave(self) -> None:
        self._watch.leave()
        self._depth -= 1

    def _compare(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        values = [*args, *kwargs.values()]
        tensors = [*values, *(item for value in values if isinstance(value, list | tuple) for item in value)]
        devices = (value if hasattr(value, "ranks") else getattr(value, "_device", None) for value in tensors)
        ranks = next((ranks for ranks in (getattr(device, "ranks", None) for device in devices) if ranks), None)
        if isinstance(ranks, Ranks):
            named = (f"{name}={_described(value)}" for name, value in kwargs.items())
            ranks.meet(f"({', '.join([*map(_described, args), *named])})", 0)


def _described(value: Any) -> str:
    """Return an argument in words that are the same on all ranks."""
    spec = getattr(value, "spec", None)
    if spec is not None:
        return f"{list(value.shape)} {value.dtype.name} {value.layout.name}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_described, value))}]"
    return repr(value)[:80] if isinstance(value, bool | int | float | str | Enum | None) else type(value).__name__

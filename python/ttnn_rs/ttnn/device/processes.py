"""Processes of an MPI job, and their messages.

A program that mpirun started has several; every other one is process 0 of 1. They are numbered through the whole job,
and in groups: the sub-contexts of `ttnn-run --rank-bindings-mapping`. MPI begins when a function here is called or a
mesh is opened.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ttnn.base.call import shown
from ttnn.base.exceptions import ArgumentError, DeviceError, RankError, UnsupportedError
from ttnn.device.watch import Watch

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Rank",
    "Size",
    "SubcontextId",
    "distributed_context_allgather_int",
    "distributed_context_barrier",
    "distributed_context_get_rank",
    "distributed_context_get_size",
    "distributed_context_is_initialized",
    "distributed_context_local_to_world_rank",
    "distributed_context_recv_bytes",
    "distributed_context_send_bytes",
    "distributed_context_subcontext_count",
    "distributed_context_subcontext_id",
    "distributed_context_subcontext_size",
    "distributed_context_subcontext_sizes",
    "distributed_context_world_rank",
    "distributed_context_world_size",
    "init_distributed_context",
    "using_distributed_env",
]

_LAUNCHED: Final = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
"""Variables with the number of processes, of Open MPI and others."""
_CHECK_SECONDS: Final = 0.05
_LONGEST_SLEEP: Final = 500e-6


class Number(int):
    """A number of another kind than plain integers.

    Raises:
        ArgumentError: it is made of something else than an integer.
    """

    def __new__(cls, value: int = 0) -> Self:
        if type(value) is not int and not isinstance(value, cls):
            raise ArgumentError(f"{cls.__name__}(): expected an integer, got {type(value).__name__}")
        return super().__new__(cls, value)


class Rank(Number):
    """The rank of a process in a cluster."""


class Size(Number):
    """The number of processes of a cluster."""


class SubcontextId(Number):
    """The id of a process group in a cluster."""


@dataclass
class Job:
    """The processes of an MPI job.

    Attributes:
        world: Communicator of all processes.
        group: Communicator of this process's sub-context.
        sizes: Number of processes of each sub-context.
        subcontext: The sub-context of this process, if there are several.
        watch: What the processes of this host do.
    """

    world: Any
    group: Any
    sizes: tuple[int, ...]
    subcontext: int | None
    watch: Watch


@dataclass
class _Context:
    initialized: bool = False
    job: Job | None = None


CONTEXT: Final = _Context()


def is_launched() -> bool:
    """Return whether mpirun started this process as one of several."""
    return any(os.environ.get(name, "1") not in ("", "1") for name in _LAUNCHED)


def job() -> Job | None:
    """Return the processes of the job; None for one process.

    Raises:
        DeviceError: the variables of sub-contexts do not fit the job.
        UnsupportedError: mpirun started this process, and mpi4py is missing.
    """
    if CONTEXT.job is None and is_launched():
        CONTEXT.job = _start()
    return CONTEXT.job


def _start() -> Job:
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise UnsupportedError(
            f'mpirun started this process, and it needs mpi4py: pip install "ttnn-rs[mpi]" ({error})'
        ) from None
    world = MPI.COMM_WORLD.Dup()
    sizes, subcontext = _subcontexts(world.size)
    group = world if subcontext is None else world.Split(subcontext, world.rank)
    watch = Watch(world.Split_type(MPI.COMM_TYPE_SHARED), world.rank, world.size)
    atexit.register(watch.end)
    return Job(world, group, sizes, subcontext, watch)


def _subcontexts(processes: int) -> tuple[tuple[int, ...], int | None]:
    """Return the sizes of sub-contexts, and the number of this process's.

    A single one has no number.
    """
    number, text = os.environ.get("TT_RUN_SUBCONTEXT_ID"), os.environ.get("TT_RUN_SUBCONTEXT_SIZES")
    if number is None or text is None:
        return (processes,), None
    parts = text.split(",")
    if not all(part.isdecimal() and len(part) < 7 for part in (*parts, number)):
        raise DeviceError(f"TT_RUN_SUBCONTEXT_SIZES: expected numbers, got {shown(text)} and {shown(number)}")
    sizes = tuple(map(int, parts))
    if sum(sizes) != processes or not int(number) < len(sizes):
        raise DeviceError(f"TT_RUN_SUBCONTEXT_SIZES: {list(sizes)} and sub-context {number} of {processes} processes")
    return sizes, int(number)


def wait(request: Any, watch: Watch) -> None:
    """Wait for an MPI request, as long as the other processes live.

    Raises:
        RankError: one of this host died, or has ended.
    """
    pauses, checked = 0, time.monotonic()
    while not request.Test():
        pauses += 1
        if pauses < 500:
            continue
        # Others may need the core.
        time.sleep(min(_LONGEST_SLEEP, (pauses - 499) * 10e-6))
        if time.monotonic() - checked > _CHECK_SECONDS:
            checked = time.monotonic()
            try:
                watch.check()
            except RankError:
                # What has arrived was sent before.
                if request.Test():
                    return
                raise


@contextmanager
def _calling(name: str) -> Iterator[Job | None]:
    """Note a function of this module as the call of this process."""
    running = job()
    if running is None:
        yield None
        return
    running.watch.enter(name)
    try:
        yield running
    finally:
        running.watch.leave()


def init_distributed_context() -> None:
    """Connect the processes that mpirun started; without it there is one.

    Raises:
        UnsupportedError: mpirun started this process, and mpi4py is missing.
    """
    job()
    CONTEXT.initialized = True


def distributed_context_barrier() -> None:
    """Wait for all processes of the group.

    Raises:
        RankError: one of them died, or has ended.
    """
    with _calling("distributed_context_barrier") as running:
        if running is not None:
            wait(running.group.Ibarrier(), running.watch)


def distributed_context_get_rank() -> Rank:
    """Return the rank of this process in its group; 0 without mpirun."""
    running = job()
    return Rank(0 if running is None else running.group.rank)


def distributed_context_get_size() -> Size:
    """Return the number of processes of the group; 1 without mpirun."""
    running = job()
    return Size(1 if running is None else running.group.size)


def distributed_context_world_rank() -> Rank:
    """Return the rank of this process in the job; 0 without mpirun."""
    running = job()
    return Rank(0 if running is None else running.world.rank)


def distributed_context_world_size() -> Size:
    """Return the number of processes of the job; 1 without mpirun."""
    running = job()
    return Size(1 if running is None else running.world.size)


def distributed_context_allgather_int(value: int) -> list[int]:
    """Return an integer of each process of the group, by rank.

    Raises:
        ArgumentError: no 32-bit integer.
        RankError: a process died, or has ended.
    """
    call = "distributed_context_allgather_int"
    if isinstance(value, bool) or not isinstance(value, int) or not -(1 << 31) <= value < 1 << 31:
        raise ArgumentError(f"{call}: value must be a 32-bit integer, got {shown(value)}")
    with _calling(call) as running:
        if running is None:
            return [value]
        own, all_of_them = value.to_bytes(4, "little", signed=True), bytearray(4 * running.group.size)
        wait(running.group.Iallgather(own, all_of_them), running.watch)
    words = (all_of_them[start : start + 4] for start in range(0, len(all_of_them), 4))
    return [int.from_bytes(word, "little", signed=True) for word in words]


def _peer(call: str, name: str, rank: object, tag: object) -> Job:
    """Return the job of another process.

    Raises:
        ArgumentError: there is no such other process, or no such tag.
    """
    for what, value in ((name, rank), ("tag", tag)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ArgumentError(f"{call}: {what} must be an int, got {shown(value)}")
    running = job()
    own, size = (0, 1) if running is None else (running.group.rank, running.group.size)
    if running is None or rank == own or not 0 <= int(rank) < size:  # type: ignore[call-overload]
        raise ArgumentError(f"{call}: {name} must be one of {size} processes and not {own} itself, got {shown(rank)}")
    if not 0 <= int(tag) < 1 << 15:  # type: ignore[call-overload]
        raise ArgumentError(f"{call}: tag must be between 0 and {(1 << 15) - 1}, got {shown(tag)}")
    return running


def distributed_context_send_bytes(data: bytes, dest: int, tag: int = 0) -> None:
    """Send bytes to another process of the group.

    Raises:
        ArgumentError: no bytes, or no other process.
        RankError: a process died, or has ended.
    """
    call = "distributed_context_send_bytes"
    if not isinstance(data, bytes):
        raise ArgumentError(f"{call}: data must be bytes, got {type(data).__name__}")
    running = _peer(call, "dest", dest, tag)
    with _calling(call):
        wait(running.group.Isend(data, dest, tag), running.watch)


def distributed_context_recv_bytes(size: int, source: int, tag: int = 0) -> bytes:
    """Return bytes that another process of the group sends.

    Raises:
        ArgumentError: no size, or no other process.
        DeviceError: it sends another number of bytes.
        RankError: a process died, or has ended.
    """
    call = "distributed_context_recv_bytes"
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 1 << 31:
        raise ArgumentError(f"{call}: size must be an int from 0 on, got {shown(size)}")
    running = _peer(call, "source", source, tag)
    with _calling(call):
        message = _Message(running.group, source, tag)
        wait(message, running.watch)
        sent = message.size
        data = bytearray(sent)
        wait(message.message.Irecv(data), running.watch)
    if sent != size:
        raise DeviceError(f"{call}: expected {size} B from process {source}, got {sent} B")
    return bytes(data)


class _Message:
    """A message that is to come, in the form of a request."""

    def __init__(self, group: Any, source: int, tag: int) -> None:
        from mpi4py import MPI

        self.group, self.source, self.tag, self.status = group, source, tag, MPI.Status()
        self.message: Any = None

    def Test(self) -> bool:  # noqa: N802 - as requests of MPI have it
        """Return whether it is there."""
        self.message = self.group.Improbe(self.source, self.tag, self.status)
        return self.message is not None

    @property
    def size(self) -> int:
        """Its bytes."""
        from mpi4py import MPI

        return int(self.status.Get_count(MPI.BYTE))


def distributed_context_subcontext_count() -> int:
    """Return the number of groups of processes."""
    return len(distributed_context_subcontext_sizes())


def distributed_context_subcontext_id() -> int | None:
    """Return this process's group; None if there is one group only."""
    running = job()
    return None if running is None else running.subcontext


def distributed_context_subcontext_sizes() -> list[int]:
    """Return the number of processes of each group."""
    running = job()
    return [1] if running is None else list(running.sizes)


def _in_group(name: str, subcontext_id: int, rank: int = 0) -> list[int]:
    """Return the sizes of the groups.

    Raises:
        ArgumentError: there is no such group or process.
    """
    sizes = distributed_context_subcontext_sizes()
    inside = isinstance(subcontext_id, int) and isinstance(rank, int) and 0 <= subcontext_id < len(sizes)
    if not inside or not 0 <= rank < sizes[subcontext_id]:
        shape = "one group, 0, with one process, 0" if sizes == [1] else f"groups of {sizes} processes"
        raise ArgumentError(f"{name}: there is {shape}; got {shown(subcontext_id)} and {shown(rank)}")
    return sizes


def distributed_context_subcontext_size(subcontext_id: int) -> Size:
    """Return the number of processes of a group.

    Raises:
        ArgumentError: there is no such group.
    """
    return Size(_in_group("distributed_context_subcontext_size", subcontext_id)[subcontext_id])


def distributed_context_local_to_world_rank(subcontext_id: int, local_rank: int) -> Rank:
    """Return the global rank of a process of a group.

    Raises:
        ArgumentError: there is no such group or process.
    """
    sizes = _in_group("distributed_context_local_to_world_rank", subcontext_id, local_rank)
    return Rank(sum(sizes[:subcontext_id]) + int(local_rank))


def using_distributed_env() -> bool:
    """Return whether several processes share the work of a cluster."""
    return is_launched()


def distributed_context_is_initialized() -> bool:
    """Return whether processes of a cluster know each other.

    They do after `init_distributed_context`, and once a device has been opened.
    """
    return CONTEXT.initialized

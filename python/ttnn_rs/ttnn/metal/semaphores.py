"""Semaphores: a program's, and global ones.

Global ones keep address and value from program to program.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Final
from weakref import WeakSet

import numpy as np

from ttnn.base.core_range import CoreRangeSet, check_in_grid
from ttnn.base.enums import BufferType, CoreType
from ttnn.base.exceptions import ArgumentError, KernelArgumentError, MemoryConfigError, UnsupportedError
from ttnn.device.coordinates import MeshCoordinate
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.buffers import Buffer, ShardedBufferConfig, create_buffer
from ttnn.metal.program import Program
from ttnn.metal.program_parts import CoreSpec, as_cores, require_program, shared_core
from ttnn.operation.program_keys import STANDS_FOR
from ttnn.operation.signature import HOST_CLASSES

__all__ = [
    "CreateGlobalSemaphore",
    "CreateSemaphore",
    "GlobalSemaphore",
    "create_global_semaphore",
    "create_semaphore",
    "get_global_semaphore_address",
    "reset_global_semaphore_value",
]

MAX_SEMAPHORES = 16
"""Semaphores of a core."""
_WORD = 0xFFFF_FFFF
_STRIDE = 16
"""Bytes of a semaphore: the alignment of L1."""
_LIVE: Final[WeakSet[GlobalSemaphore]] = WeakSet()
"""Global semaphores that programs may use."""


def semaphore_value(call: str, value: object) -> int:
    """Return the value of a semaphore as an unsigned 32-bit word.

    Raises:
        KernelArgumentError: it is none.
    """
    try:
        word = -1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        word = -1
    if not 0 <= word <= _WORD:
        raise KernelArgumentError(f"{call}: a semaphore holds an unsigned 32-bit word, got {value!r}")
    return word


def create_semaphore(
    program: Program, core_spec: CoreSpec, initial_value: int, core_type: CoreType = CoreType.WORKER
) -> int:
    """Add a semaphore to every core of `core_spec` and return its id.

    Raises:
        MemoryConfigError: a core has 16 already.
        KernelArgumentError: the value is no unsigned 32-bit word.
        UnsupportedError: other cores than worker cores.
    """
    require_program("create_semaphore", program)
    if core_type not in (CoreType.WORKER, CoreType.TENSIX):
        raise UnsupportedError(f"create_semaphore: semaphores on {core_type} cores are not modelled")
    cores = as_cores(core_spec)
    if cores.empty():
        raise ArgumentError("create_semaphore: no cores are passed")
    value = semaphore_value("create_semaphore", initial_value)
    taken = {id for id, others, _ in program.semaphores if shared_core(cores, others) is not None}
    free = next((id for id in range(MAX_SEMAPHORES) if id not in taken), None)
    if free is None:
        raise MemoryConfigError(f"create_semaphore: some core of {cores} has {MAX_SEMAPHORES} semaphores already")
    program.semaphores.append((free, cores, value))
    return free


class GlobalSemaphore:
    """A program-independent semaphore: one address on all cores and chips.

    Attributes:
        start: The value that the host has set last.
    """

    def __init__(self, device: MeshDevice, cores: CoreRangeSet, buffer: Buffer) -> None:
        self.device = device
        self.cores = cores
        self.buffer = buffer
        self.start = 0
        _LIVE.add(self)

    def address(self) -> int:
        """Return its L1 address; pass it to kernels as a runtime argument."""
        return self.buffer.address()

    def reset_semaphore_value(self, reset_value: int) -> None:
        """Store a value on every core of every chip.

        Raises:
            KernelArgumentError: it is no unsigned 32-bit word.
        """
        words = np.zeros((self.cores.num_cores(), _STRIDE // 4), np.uint32)
        words[:, 0] = self.start = semaphore_value("reset_global_semaphore_value", reset_value)
        self.buffer.write(words)

    def values(self, coord: MeshCoordinate | None = None) -> list[int]:
        """Return what it holds on each of its cores. Not official.

        Args:
            coord: The chip; needed in a mesh of several.
        """
        return [int(word) for word in self.buffer.read(np.uint32, coord)[:: _STRIDE // 4]]

    def __repr__(self) -> str:
        return f"GlobalSemaphore(address={self.address()}, cores={self.cores})"


class SemaphoreWatch:
    """Global semaphores of a mesh before a workload.

    They tell which ones it changes and leaves at another value than zero.

    Args:
        device: The mesh.
    """

    def __init__(self, device: MeshDevice) -> None:
        known = [each for each in list(_LIVE) if each.device is device and each.buffer.memory.is_allocated]
        self.known = sorted(known, key=GlobalSemaphore.address)
        self.coords = tuple(device.coordinates()) if self.known else ()
        self.before = [[each.values(coord) for coord in self.coords] for each in self.known]

    def notes(self) -> Iterator[str]:
        """Yield a sentence for each semaphore that is left above zero."""
        for semaphore, before in zip(self.known, self.before, strict=True):
            cores = [(core.x, core.y) for core in semaphore.cores.cores()]
            for coord, old in zip(self.coords, before, strict=True):
                after = zip(cores, old, semaphore.values(coord), strict=True)
                left = [(place, value) for place, first, value in after if value not in (0, first)]
                if left:
                    (x, y), value = left[0]
                    yield (
                        f"chip {tuple(coord)}, core {x}-{y}{f' and {len(left) - 1} more' if len(left) > 1 else ''}: "
                        f"the global semaphore at {semaphore.address()} is left at {value}; the next program that "
                        "waits for it begins with this value"
                    )


STANDS_FOR[GlobalSemaphore] = type
HOST_CLASSES["GlobalSemaphore"] = GlobalSemaphore
"""Semaphores are runtime arguments of programs."""


def create_global_semaphore(
    mesh_device: MeshDevice, cores: CoreSpec, initial_value: int, buffer_type: BufferType = BufferType.L1
) -> GlobalSemaphore:
    """Return a new global semaphore.

    Args:
        mesh_device: Its device.
        cores: Cores that have one.
        initial_value: What each starts with.
        buffer_type: L1 or L1_SMALL.

    Raises:
        MemoryConfigError: another kind of memory.
        OutOfMemoryError: L1 is full.
        KernelArgumentError: the value is no unsigned 32-bit word.
    """
    if not isinstance(mesh_device, MeshDevice):
        raise ArgumentError(f"create_global_semaphore: expected a ttnn.MeshDevice, got {mesh_device!r}")
    if buffer_type not in (BufferType.L1, BufferType.L1_SMALL):
        raise MemoryConfigError(f"create_global_semaphore: semaphores must be in L1, not in {buffer_type}")
    value = semaphore_value("create_global_semaphore", initial_value)
    where = as_cores(cores)
    check_in_grid("create_global_semaphore: a semaphore is placed on", where, mesh_device.chip["grid"])
    count = where.num_cores()
    if count == 0:
        raise ArgumentError("create_global_semaphore: no cores are passed")
    config = ShardedBufferConfig(
        device=mesh_device,
        size=count * _STRIDE,
        page_size=_STRIDE,
        tensor_pages=(count, 1),
        shard_pages=(1, 1),
        cores=where,
        buffer_type=buffer_type,
    )
    semaphore = GlobalSemaphore(mesh_device, where, create_buffer(config))
    semaphore.reset_semaphore_value(value)
    return semaphore


def get_global_semaphore_address(global_semaphore: GlobalSemaphore) -> int:
    """Return the L1 address of a global semaphore."""
    return _require("get_global_semaphore_address", global_semaphore).address()


def reset_global_semaphore_value(global_semaphore: GlobalSemaphore, reset_value: int) -> None:
    """Store a value on every core and chip of a global semaphore.

    Raises:
        KernelArgumentError: it is no unsigned 32-bit word.
    """
    _require("reset_global_semaphore_value", global_semaphore).reset_semaphore_value(reset_value)


def _require(call: str, semaphore: object) -> GlobalSemaphore:
    if not isinstance(semaphore, GlobalSemaphore):
        raise ArgumentError(f"{call}: expected a GlobalSemaphore, got {semaphore!r}")
    return semaphore


CreateSemaphore = create_semaphore
CreateGlobalSemaphore = create_global_semaphore

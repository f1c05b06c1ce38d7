"""Official driver calls.

There is no card, so most of them have nothing to do.

Source: tt-metal `ttnn/cpp/ttnn-nanobind/device.cpp` (names and arguments).
"""

from __future__ import annotations

import faulthandler
import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ttnn.base.call import as_integer
from ttnn.base.exceptions import ArgumentError, ParameterError
from ttnn.base.refused import refusing
from ttnn.device.coordinates import SubDeviceId
from ttnn.device.mesh_device import MeshDevice

__all__ = [
    "ClearKernelCache",
    "DeallocateBuffers",
    "DisableMemoryReports",
    "IsProgramRealtimeProfilerActive",
    "ReadDeviceProfiler",
    "SetRootDir",
    "apply_device_delay",
    "disable_asynchronous_slow_dispatch",
    "dump_stack_trace_on_segfault",
    "enable_asynchronous_slow_dispatch",
    "initialize_fast_dispatch",
    "is_asynchronous_slow_dispatch_enabled",
    "setup_fast_dispatch",
    "terminate_fast_dispatch",
]

_UNTIMED = "programs of operators are not timed yet"
_REFUSED = refusing(
    "ttnn.device", "RegisterProgramRealtimeProfilerCallback UnregisterProgramRealtimeProfilerCallback", _UNTIMED
)
_REFUSED |= refusing("ttnn.device", "EnableMemoryReports", "reports of memory as files are not implemented")
globals().update(_REFUSED)
__all__ += list(_REFUSED)


def _require_device(name: str, device: object) -> MeshDevice:
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"{name}: expected a ttnn.MeshDevice, got {type(device).__name__}")
    return device


def apply_device_delay(
    mesh_device: MeshDevice, delays: Sequence[Sequence[int]], *, subdevice_id: SubDeviceId | None = None
) -> None:
    """Delay the chips of a mesh.

    Values do not depend on it, and predicted times leave it out: only the arguments are checked.

    Args:
        mesh_device: The mesh.
        delays: Cycles for each chip, row by row.
        subdevice_id: Sub-device of the core that waits.

    Raises:
        ArgumentError: an argument of another type.
        ParameterError: there is not one delay for each chip.
    """
    call = "apply_device_delay"
    device = _require_device(call, mesh_device)
    if subdevice_id is not None and not isinstance(subdevice_id, SubDeviceId):
        raise ArgumentError(f"{call}: expected a SubDeviceId, got {subdevice_id!r}")
    rows: list[Sequence[int]] = [*delays] if isinstance(delays, list | tuple) else []
    whole = isinstance(delays, list | tuple) and all(isinstance(row, list | tuple) for row in rows)
    cycles = [as_integer(cycle) for row in rows for cycle in row] if whole else [None]
    if not all(cycle is not None and 0 <= cycle < 1 << 32 for cycle in cycles):
        raise ArgumentError(f"{call}: delays must be lists of cycles, one for each row of the mesh")
    shape = tuple(device.shape)
    if len(shape) != 2 or len(rows) != shape[0]:
        raise ParameterError(
            f"{call}: {len(rows)} rows of delays for {device!r}",
            vendor=f"delays rows ({len(rows)}) must match mesh rows ({shape[0]})",
        )
    for number, row in enumerate(rows):
        if len(row) != shape[1]:
            raise ParameterError(
                f"{call}: {len(row)} delays in row {number} for {device!r}",
                vendor=f"delays cols for row {number} ({len(row)}) must match mesh cols ({shape[1]})",
            )


def ClearKernelCache() -> None:  # noqa: N802 - the official name
    """Forget compiled kernels. None are compiled."""


def ReadDeviceProfiler(device: MeshDevice) -> None:  # noqa: N802 - the official name
    """Read the times of a device's programs, which `ttnn.profiler.profile` also has.

    Raises:
        ArgumentError: this is no device.
    """
    _require_device("ReadDeviceProfiler", device)


def SetRootDir(root_dir: str | os.PathLike[str]) -> None:  # noqa: N802 - the official name
    """Set the official package's source folder.

    Nothing is read from it.

    Raises:
        ArgumentError: no path.
    """
    if not isinstance(root_dir, str | os.PathLike):
        raise ArgumentError(f"SetRootDir: expected a path, got {type(root_dir).__name__}")


def DeallocateBuffers(device: MeshDevice) -> None:  # noqa: N802 - the official name
    """Deallocate all tensors of a device.

    Raises:
        ArgumentError: no device.
    """
    _require_device("DeallocateBuffers", device)
    # A device knows buffers, not tensors. This is called after a failure, not on the way of a program.
    for found in gc.get_objects():
        if type(found).__module__ == "ttnn.tensor.tensor" and getattr(found, "_device", None) is device:
            found.deallocate(force=True)


def DisableMemoryReports() -> None:  # noqa: N802 - the official name
    """Write no reports of memory, as is always so."""


def IsProgramRealtimeProfilerActive() -> bool:  # noqa: N802 - the official name
    """Return whether programs are timed while they run: no."""
    return False


def initialize_fast_dispatch(device: MeshDevice, allow_destructive: bool = False) -> None:
    """Enable program dispatch by the queues, which is always on.

    Raises:
        ArgumentError: no device.
    """
    _require_device("initialize_fast_dispatch", device)


def terminate_fast_dispatch(device: MeshDevice) -> None:
    """Select program dispatch by the host.

    Bits and memory are the same, and queues dispatch as before.

    Raises:
        ArgumentError: no device.
    """
    _require_device("terminate_fast_dispatch", device)


@contextmanager
def setup_fast_dispatch(device: MeshDevice, *, allow_destructive: bool = False) -> Iterator[None]:
    """Return a context manager for program dispatch by queues.

    Outside of it they dispatch programs too.

    Raises:
        ArgumentError: no device.
    """
    _require_device("setup_fast_dispatch", device)
    yield


def enable_asynchronous_slow_dispatch(device: MeshDevice) -> None:
    """Select dispatch without waiting. Calls are synchronous here, and nothing changes.

    Raises:
        ArgumentError: no device.
    """
    _require_device("enable_asynchronous_slow_dispatch", device)


def disable_asynchronous_slow_dispatch(device: MeshDevice) -> None:
    """Select waiting after each dispatch, which is always on.

    Raises:
        ArgumentError: no device.
    """
    _require_device("disable_asynchronous_slow_dispatch", device)


def is_asynchronous_slow_dispatch_enabled(device: MeshDevice) -> bool:
    """Return whether the host dispatches without waiting: no.

    Raises:
        ArgumentError: no device.
    """
    _require_device("is_asynchronous_slow_dispatch_enabled", device)
    return False


def dump_stack_trace_on_segfault() -> None:
    """Print the stack of every thread if the process crashes."""
    faulthandler.enable()

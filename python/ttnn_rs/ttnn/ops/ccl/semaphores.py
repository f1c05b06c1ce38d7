"""Global semaphores as arguments of collectives, and the checks of such calls."""

from __future__ import annotations

from typing import Any, Final

from ttnn.base.exceptions import DeviceError, ParameterError
from ttnn.device.fabric_state import FABRIC
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.signature import Kind, host_kind
from ttnn.ops.ccl import chips
from ttnn.ops.ccl.part import Chips
from ttnn.tensor.tensor import Tensor

SEMAPHORE: Final = host_kind("GlobalSemaphore")


def _are_semaphores(value: object) -> bool:
    return isinstance(value, list | tuple) and all(map(SEMAPHORE.accepts, value))


SEMAPHORES: Final = Kind("collections.abc.Sequence[ttnn.GlobalSemaphore]", _are_semaphores, "Sequence[GlobalSemaphore]")
ONE_OR_MORE: Final = Kind(
    "ttnn.GlobalSemaphoreArg",
    lambda value: SEMAPHORE.accepts(value) or _are_semaphores(value),
    "GlobalSemaphore | Sequence[GlobalSemaphore]",
)


def check_call(name: str, device: Chips, axis: int | None, semaphores: tuple[object, int, str] | None = None) -> None:
    """Check that chips along an axis can work together.

    Args:
        name: The operator, for errors.
        device: The mesh.
        axis: The axis of the groups.
        semaphores: The semaphores of the call, how many are needed, and the official sentence.

    Raises:
        FabricError: there is no fabric, or there are no groups along the axis.
        ParameterError: another number of semaphores is needed, or one has been set to another value than zero.
        DeviceError: a semaphore is on another mesh.
    """
    short = name.removeprefix("ttnn.experimental.")
    chips.check_axis(device, axis, f"cluster axis {axis} is out of range for mesh shape rank {device.shape.dims()}")
    chips.require_several(name, device, axis, f"{short} op will only work for num_devices > 1, but has 1")
    if semaphores is not None:
        given, needed, sentence = semaphores
        found = len(given) if isinstance(given, list | tuple) else 1
        if found != needed:
            raise ParameterError(f"{name}: expected {needed} global semaphores, got {found}.", vendor=sentence)
        for semaphore in given if isinstance(given, list | tuple) else (given,):
            _check_semaphore(name, device, semaphore)
        chips.require_fabric(name, "Unsupported fabric config")
    FABRIC.require_on(name)
    columns = [*device.shape][-1]
    vendor = f"Could not find any forwarding direction from src (M0, D{columns - 1}) to dst (M0, D{columns})"
    chips.require_one_axis(name, device, axis, vendor)


def _check_semaphore(name: str, device: Chips, semaphore: Any) -> None:
    there = {chip.id for chip in semaphore.device.chips}
    missing = next((chip.id for chip in device.chips if chip.id not in there), None)
    if missing is not None:
        raise DeviceError(
            f"{name}: the global semaphore at {semaphore.address()} is on {semaphore.device!r}, which has no chip "
            f"{missing}; create it on the mesh of the tensor"
        )
    if semaphore.start:
        raise ParameterError(
            f"{name}: the global semaphore at {semaphore.address()} was set to {semaphore.start}; collectives begin at "
            "0 and end at 0: call ttnn.reset_global_semaphore_value(semaphore, 0)"
        )


def check_mesh(name: str, tensor: Tensor, mesh: MeshDevice) -> None:
    """Check that a tensor is on the mesh of the call.

    Raises:
        DeviceError: it is on another device.
    """
    if tensor.device() is not mesh:
        raise DeviceError(f"{name}: the tensor is on {tensor.device()!r}, mesh_device is {mesh!r}")

"""Captured graphs' device operations, from the profiler's plans.

Name, options, tensors and circular buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.core_range import CoreRange, CoreRangeSet
from ttnn.base.enums import BufferType
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.operands import device_of, inputs_and_outputs
from ttnn.profiler.describe import EngineCall, describe
from ttnn.profiler.plan import Plan, PlanCb
from ttnn.reports.attributes import attributes_text, options_of, tensors_text
from ttnn.reports.texts import ranges_text
from ttnn.tensor.tensor import Tensor

_WITHOUT_TENSORS: Final = frozenset({"FullDeviceOperation"})
"""Device operations listed without inputs.

Their operators may have some: only the result is listed.
"""


@dataclass(frozen=True)
class Described:
    """A device operation.

    Attributes:
        name: The official name.
        arguments: Its options and its tensors as texts.
        taken: The tensors that it reads.
        made: Those that it writes.
        device: Where it runs.
        plan: What its cores do, None if that is not known.
    """

    name: str
    arguments: list[str]
    taken: list[Tensor]
    made: list[Tensor]
    device: MeshDevice
    plan: Plan | None

    def circular_buffers(self, *, blocked: bool) -> Iterator[dict[str, str]]:
        """Yield circular buffer parameters, consecutive from the first free address.

        Args:
            blocked: Whether nothing runs; addresses are 0 then.
        """
        if self.plan is not None:
            device, place = self.device, self._address_of_borrowed
            yield from circular_buffers(
                self.plan.cbs, self.plan.cores, device.chip, device.id(), place, blocked=blocked
            )

    def _address_of_borrowed(self, cb: PlanCb) -> int:
        """Return the address of a borrowing circular buffer's tensor.

        A result, if there is one.
        """
        first, second = (self.made, self.taken) if in_result(cb) else (self.taken, self.made)
        for tensor in (*first, *second):
            config = tensor.memory_config()
            if tensor.buffer is not None and config.is_sharded() and config.buffer_type is BufferType.L1:
                return int(tensor.buffer.address)
        return 0


def circular_buffers(
    cbs: Sequence[PlanCb],
    cores: int,
    chip: Mapping[str, Any],
    device: int,
    borrowed: Callable[[PlanCb], int] = lambda cb: 0,
    *,
    blocked: bool = False,
) -> Iterator[dict[str, str]]:
    """Yield circular buffer parameters, at fixed or consecutive addresses.

    Consecutive from the first address.

    Args:
        cbs: The circular buffers.
        cores: Default number of cores: the first ones of the grid.
        chip: The chip, for its addresses and its grid.
        device: Number of the device.
        borrowed: Returns the address of a circular buffer in a tensor's buffer.
        blocked: Whether nothing runs; addresses are 0 then.
    """
    address, alignment = chip["l1_base"], chip["l1_alignment"]
    first = _first_cores(cores, chip["grid"][0])
    for cb in cbs:
        own = cb.address if cb.address is not None else borrowed(cb) if cb.borrowed else address
        if not own and not blocked:
            # It lies in what goes from one device operation of a call to the next.
            continue
        yield {
            "address": "0" if blocked else str(own),
            "size": str(cb.bytes),
            "core_range_set": _cores_text(cb.cores) if cb.cores else first,
            "globally_allocated": str(int(cb.borrowed)),
            "device_id": str(device),
        }
        if not cb.borrowed:
            address += -(-cb.bytes // alignment) * alignment


def _cores_text(cores: Sequence[tuple[int, int]]) -> str:
    """Return cores as a set of ranges."""
    single = CoreRangeSet([CoreRange(core, core) for core in cores])
    return ranges_text(CoreRangeSet().merge(single))


def in_result(cb: PlanCb) -> bool:
    """Return True if a borrowed circular buffer is in a result.

    Otherwise it is in an operand.
    """
    return cb.name.startswith(("out", "tiles"))


def describe_call(
    operation: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: Any,
    calls: Sequence[EngineCall],
    programs: Sequence[Any],
) -> list[Described]:
    """Return the device operations of a call.

    Args:
        operation: The operator.
        args: Positional arguments of its call.
        kwargs: Arguments by name.
        result: What it returned.
        calls: What it asked of the engine.
        programs: What it decided on.
    """
    if not calls:
        return []
    device = device_of(args, kwargs, result)
    inputs, outputs = inputs_and_outputs(args, kwargs, result)
    if device is None:
        return []
    on_device = [tensor for tensor in inputs if tensor.device() is not None]
    options = options_of(operation, args, kwargs, result)
    found = describe(operation.__name__, calls, programs, inputs, outputs, device)
    described = []
    for index, plan in enumerate(found):
        name = plan.name
        without = name in _WITHOUT_TENSORS
        shown = name.removesuffix("Operation").removesuffix("Device")
        # What goes from one device operation to the next is no tensor of the program.
        first, last = index == 0, index == len(found) - 1
        texts = [attributes_text(shown, options), tensors_text(args, kwargs) if first and not without else "{}"]
        taken, made = on_device if first and not without else [], outputs if last else []
        described.append(Described(name, texts, taken, made, device, plan if isinstance(plan, Plan) else None))
    return described


def _first_cores(count: int, columns: int) -> str:
    """Return a grid's first cores, by row, as ranges."""
    rows, rest = divmod(count, columns)
    ranges = []
    if rows:
        ranges.append(f"[(x=0,y=0) - (x={columns - 1},y={rows - 1})]")
    if rest:
        ranges.append(f"[(x=0,y={rows}) - (x={rest - 1},y={rows})]")
    return f"{{{', '.join(ranges)}}}"

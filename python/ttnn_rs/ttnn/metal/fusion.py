"""Programs with tensors in place of those that they were built for."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ttnn.base.core_range import CoreCoord
from ttnn.base.exceptions import ArgumentError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.buffers import Buffer
from ttnn.metal.descriptors import ProgramDescriptor, RuntimeArgs, arguments, device_of, listed, required
from ttnn.metal.generic_op import generic_op
from ttnn.metal.operator_steps import Place, operator_steps, place_of, run_steps
from ttnn.tensor.shard_distribution import distribution_of
from ttnn.tensor.tensor import Tensor, allocate_tensor_on_device

__all__ = ["AddressSlots", "FusionDispatchState", "compute_address_slots", "fusion_dispatch_op"]


@dataclass(frozen=True)
class AddressSlots:
    """The places of a program that have addresses of tensors, from `compute_address_slots`."""

    tensors: dict[Place, int]
    """Numbers of the tensors, by memory and address."""
    buffers: dict[int, int]
    """Numbers of the tensors of circular buffers, by their number."""
    runtime: dict[tuple[int, int, int, int], int]
    """Numbers of the tensors of runtime arguments, by kernel, core and argument."""
    common: dict[tuple[int, int], int]
    """Numbers of the tensors of common runtime arguments, by kernel and argument."""
    semaphores: dict[tuple[int, int, int, int], int]
    """Numbers of the semaphores of runtime arguments."""


def compute_address_slots(
    program_descriptor: ProgramDescriptor, io_tensors: Sequence[Tensor], sem_addrs: Sequence[int] = ()
) -> AddressSlots:
    """Return where a program has the addresses of tensors and semaphores.

    Args:
        program_descriptor: The program, with the addresses of `io_tensors`.
        io_tensors: Inputs, then outputs.
        sem_addrs: Addresses of global semaphores.
    """
    program = required("compute_address_slots: program_descriptor", program_descriptor, ProgramDescriptor)
    tensors = listed("compute_address_slots: io_tensors", io_tensors, Tensor)
    places = {place_of(tensor): index for index, tensor in enumerate(tensors)}
    numbers = {address: index for (_, address), index in places.items()}
    semaphores = {address: index for index, address in enumerate(sem_addrs)}
    slots = AddressSlots(places, {}, {}, {}, {})
    for index, cb in enumerate(program.cbs):
        if cb.buffer is not None and (cb.buffer.buffer_type(), cb.buffer.address()) in places:
            slots.buffers[index] = places[cb.buffer.buffer_type(), cb.buffer.address()]
    for index, kernel in enumerate(program.kernels):
        slots.common.update(
            {(index, at): numbers[word] for at, word in enumerate(kernel.common_runtime_args) if word in numbers}
        )
        for core, words in arguments(kernel.runtime_args):
            for at, word in enumerate(words):
                if word in semaphores:
                    slots.semaphores[index, core.x, core.y, at] = semaphores[word]
                elif word in numbers:
                    slots.runtime[index, core.x, core.y, at] = numbers[word]
    return slots


def _patched(
    program: ProgramDescriptor, slots: AddressSlots, tensors: Sequence[Tensor], semaphores: Sequence[int]
) -> ProgramDescriptor:
    """Return a program with the addresses of other tensors and semaphores."""
    addresses = [place_of(tensor)[1] for tensor in tensors]
    changed = {place: addresses[index] for place, index in slots.runtime.items()}
    if semaphores:
        changed |= {place: semaphores[index] for place, index in slots.semaphores.items()}
    result = copy.copy(program)
    result.kernels = [copy.copy(kernel) for kernel in program.kernels]
    for index, kernel in enumerate(result.kernels):
        own = RuntimeArgs()
        for core, words in arguments(kernel.runtime_args):
            place = index, core.x, core.y
            own.append(CoreCoord(core.x, core.y), [changed.get((*place, at), word) for at, word in enumerate(words)])
        kernel.runtime_args = own
        kernel.common_runtime_args = [
            addresses[slots.common[index, at]] if (index, at) in slots.common else word
            for at, word in enumerate(kernel.common_runtime_args)
        ]
    result.cbs = [copy.copy(cb) for cb in program.cbs]
    for index, number in slots.buffers.items():
        tensor = tensors[number]
        memory, device = tensor._require_device("fusion_dispatch_op", "every tensor"), device_of(tensor)
        result.cbs[index].buffer = Buffer(device, memory, distribution_of(tensor.spec, device))
    return result


def _dispatch(
    program: ProgramDescriptor, slots: AddressSlots, tensors: Sequence[Tensor], semaphores: Sequence[int] = ()
) -> None:
    required("fusion_dispatch_op: program_descriptor", program, ProgramDescriptor)
    required("fusion_dispatch_op: address_slots", slots, AddressSlots)
    if len(tensors) <= max(slots.tensors.values(), default=-1):
        raise ArgumentError(f"fusion_dispatch_op: {len(tensors)} tensors, the program was built for more")
    steps = operator_steps(program)
    if steps:
        run_steps(steps, {place: tensors[index] for place, index in slots.tensors.items()})
    else:
        generic_op(tensors, _patched(program, slots, tensors, semaphores))


def _allocated(device: MeshDevice, specs: Sequence[TensorSpec], shared: Sequence[int]) -> list[Tensor]:
    """Return new outputs.

    `shared` has for each output the number of the first that is the same.
    """
    outputs: list[Tensor] = []
    for index, spec in enumerate(specs):
        same = shared[index] if shared else index
        outputs.append(allocate_tensor_on_device(spec, device) if same == index else outputs[same])
    return outputs


def fusion_dispatch_op(*args: Any, **kwargs: Any) -> list[Tensor] | None:
    """Run a program on other tensors than it was built for.

    Args:
        args: (io_tensors, program_descriptor, address_slots), (input_tensors, output_tensors, program_descriptor,
            address_slots), or (ops_input_tensors, output_specs, shared_output_map, result_reorder, program_descriptor,
            address_slots), which returns new output tensors.
        kwargs: The same by name.

    Raises:
        ArgumentError: arguments of another form.
    """
    for names, run in _FORMS:
        if len(args) + len(kwargs) == len(names) and set(names[len(args) :]) == set(kwargs):
            outputs: list[Tensor] | None = run(**dict(zip(names[: len(args)], args, strict=True)), **kwargs)
            return outputs
    raise ArgumentError("fusion_dispatch_op: expected tensors, program_descriptor and address_slots")


def _flat(io_tensors: Sequence[Tensor], program_descriptor: ProgramDescriptor, address_slots: AddressSlots) -> None:
    _dispatch(program_descriptor, address_slots, listed("fusion_dispatch_op: io_tensors", io_tensors, Tensor))


def _separate(
    input_tensors: Sequence[Tensor],
    output_tensors: Sequence[Tensor],
    program_descriptor: ProgramDescriptor,
    address_slots: AddressSlots,
) -> None:
    _flat([*input_tensors, *output_tensors], program_descriptor, address_slots)


def _of_operators(
    ops_input_tensors: Sequence[Sequence[Tensor]],
    output_specs: Sequence[TensorSpec],
    shared_output_map: Sequence[int],
    result_reorder: Sequence[int],
    program_descriptor: ProgramDescriptor,
    address_slots: AddressSlots,
) -> list[Tensor]:
    inputs = list({id(tensor): tensor for tensors in ops_input_tensors for tensor in tensors}.values())
    if not inputs:
        raise ArgumentError("fusion_dispatch_op: ops_input_tensors must contain at least one tensor")
    state = FusionDispatchState(
        output_specs, shared_output_map, result_reorder, program_descriptor, address_slots, device_of(inputs[0])
    )
    return state.dispatch(inputs)


_FORMS: Any = (
    (("io_tensors", "program_descriptor", "address_slots"), _flat),
    (("input_tensors", "output_tensors", "program_descriptor", "address_slots"), _separate),
    (
        (
            "ops_input_tensors",
            "output_specs",
            "shared_output_map",
            "result_reorder",
            "program_descriptor",
            "address_slots",
        ),
        _of_operators,
    ),
)


class FusionDispatchState:
    """A program that runs again and again on new outputs.

    Args:
        output_specs: Specifications of the outputs.
        shared_output_map: For each output the number of the first that is the same; empty if none are.
        result_reorder: Numbers of the outputs in the order in which they are returned; empty for their own.
        program_descriptor: The program.
        address_slots: Where it has addresses.
        mesh_device: The device that the program was built for. Outputs are on the device of the inputs, which may be
            the same chip opened again.
    """

    def __init__(
        self,
        output_specs: Sequence[TensorSpec],
        shared_output_map: Sequence[int],
        result_reorder: Sequence[int],
        program_descriptor: ProgramDescriptor,
        address_slots: AddressSlots,
        mesh_device: MeshDevice,
    ) -> None:
        self._specs, self._shared, self._order = list(output_specs), list(shared_output_map), list(result_reorder)
        self._program, self._slots, self._device = program_descriptor, address_slots, mesh_device

    def dispatch(self, inputs: Sequence[Tensor], sem_addresses: Sequence[int] = ()) -> list[Tensor]:
        """Run the program and return its outputs.

        Args:
            inputs: Input tensors, each once.
            sem_addresses: Addresses of the semaphores of this run.
        """
        device = device_of(inputs[0]) if inputs else self._device
        outputs = _allocated(device, self._specs, self._shared)
        _dispatch(self._program, self._slots, [*inputs, *outputs], sem_addresses)
        return [outputs[index] for index in self._order] if self._order else outputs

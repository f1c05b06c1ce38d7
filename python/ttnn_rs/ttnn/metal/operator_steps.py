"""Operator calls in program descriptors.

Programs of operators are not built from kernels here: each kernel of such a descriptor names an operator call in a
compile-time argument, and `ttnn.generic_op` runs the calls. Code that fuses the kernels of several descriptors keeps
the arguments, with the prefix `phase_N_` from the second on, so that a fused program runs the calls one after another.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from ttnn.base.enums import BufferType
from ttnn.base.exceptions import ArgumentError, UnsupportedError
from ttnn.ops._programs.element_map import copy_into
from ttnn.tensor.tensor import Tensor

if TYPE_CHECKING:
    from ttnn.metal.descriptors import KernelDescriptor, ProgramDescriptor

ARGUMENT: Final = "operator"
_NAME: Final = re.compile(rf"(?:phase_(\d+)_)?{ARGUMENT}")
_EMPTY: Final = r"void\s+run\s*\(\s*\)\s*\{\s*\}\s*\}"
_FUSED: Final = re.compile(rf"^\s*namespace\s+phase_(\d+)\s*\{{(?!\s*{_EMPTY})", re.MULTILINE)
"""Phases of a fused source that do something.

A kernel has empty phases where only other cores or processors work.
"""

Place = tuple[BufferType, int]
Run = Callable[[Sequence[Tensor]], Tensor]


def place_of(tensor: Tensor) -> Place:
    """Return the memory and address of a tensor on a device."""
    memory = tensor._require_device("generic_op", "every tensor of the program")
    return BufferType(memory.buffer_type), memory.address


def number_of(*facts: object) -> int:
    """Return 32 bits that the text of some values decides."""
    return int.from_bytes(hashlib.sha256(repr(facts).encode()).digest()[:4], "little")


class OperatorStep(int):
    """An operator call, as the value of a compile-time argument.

    It holds the addresses of its tensors, and keeps none of them alive.
    """

    run: Run
    places: tuple[Place, ...]

    @classmethod
    def of(cls, run: Run, tensors: Sequence[Tensor], *facts: object) -> OperatorStep:
        """Return a call.

        Args:
            run: Returns the result for the tensors without the last.
            tensors: Operands, then the output.
            facts: What the number depends on.
        """
        step = cls(number_of(*facts, *(tensor.spec for tensor in tensors)))
        step.run, step.places = run, tuple(map(place_of, tensors))
        return step

    def __call__(self, tensors: Sequence[Tensor]) -> None:
        """Write the result for all tensors but the last to the last."""
        *operands, output = tensors
        result = self.run(operands)
        if place_of(result) != place_of(output):
            if result.spec != output.spec:
                raise ArgumentError(f"generic_op: the result is {result.spec}, the output tensor is {output.spec}")
            copy_into(result, output)


def _steps_of(kernel: KernelDescriptor) -> list[OperatorStep]:
    """Return the calls of a kernel in their order."""
    phases = {}
    for name, value in kernel.named_compile_time_args:
        matched = _NAME.fullmatch(name)
        if matched and isinstance(value, OperatorStep):
            phases[int(matched[1] or 0)] = value
    source = kernel.kernel_source
    if phases and isinstance(source, str) and kernel.source_type is type(kernel.source_type).SOURCE_CODE:
        others = {int(phase) for phase in _FUSED.findall(source)} - set(phases)
        if others:
            raise UnsupportedError(
                f"generic_op: phases {sorted(others)} of a fused kernel are not operators; kernels of operators and "
                "other kernels in one are not modelled"
            )
    return [step for _, step in sorted(phases.items())]


def operator_steps(program: ProgramDescriptor) -> list[OperatorStep]:
    """Return the operator calls of a program in their order.

    It is an order that all kernels have. Empty for a program without any.

    Raises:
        UnsupportedError: it has other kernels as well.
    """
    chains = [_steps_of(kernel) for kernel in program.kernels]
    known = {id(step): step for chain in chains for step in chain}
    if not known:
        return []
    cores = {core for kernel, chain in zip(program.kernels, chains, strict=True) if chain for core in _cores(kernel)}
    for kernel, chain in zip(program.kernels, chains, strict=True):
        if not chain and not cores.issuperset(_cores(kernel)):
            raise UnsupportedError("generic_op: kernels of operators and other kernels in one program are not modelled")
    order: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(known, ()))
    for chain in chains:
        for before, after in pairwise(chain):
            order.add(id(after), id(before))
    try:
        return [known[key] for key in order.static_order()]
    except CycleError:
        raise ArgumentError(
            "generic_op: the kernels of a fused program have their phases in different orders"
        ) from None


def _cores(kernel: KernelDescriptor) -> Iterator[tuple[int, int]]:
    return ((core.x, core.y) for core in kernel.core_ranges.cores())


def tensors_by_place(io_tensors: Sequence[Tensor]) -> dict[Place, Tensor]:
    """Return tensors by their memory and address."""
    return {place_of(tensor): tensor for tensor in io_tensors}


def run_steps(steps: Sequence[OperatorStep], known: dict[Any, Tensor]) -> None:
    """Run operator calls.

    Args:
        steps: The calls.
        known: Tensors by the places that the calls know.

    Raises:
        ArgumentError: a tensor is missing.
    """
    for step in steps:
        if not known.keys() >= set(step.places):
            raise ArgumentError("generic_op: a tensor of the program is not one of io_tensors")
        step([known[place] for place in step.places])

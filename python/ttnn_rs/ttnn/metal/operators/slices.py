"""Slices of tiles as program descriptors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import TILE_SIZE
from ttnn.base.exceptions import ArgumentError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.shape import Shape
from ttnn.base.tensor_spec import TensorSpec
from ttnn.metal.descriptors import (
    ProgramDescriptor,
    ReaderConfigDescriptor,
    WriterConfigDescriptor,
    device_of,
    required,
)
from ttnn.metal.operator_steps import OperatorStep
from ttnn.metal.operators.builder import (
    OPERATIONS,
    Program,
    accessor,
    address,
    all_cores,
    run_positional,
    set_tensors,
    units_by_core,
)
from ttnn.metal.typed_arguments import TypedFields, of_operation
from ttnn.ops.data_movement.slice import slice as slice_operator
from ttnn.tensor.tensor import Tensor, allocate_tensor_on_device

__all__ = ["SliceDeviceOperation", "SliceInputs", "SliceParams", "SliceTileProgramFactory"]

_SLICES: Final = f"{OPERATIONS}/data_movement/slice/device/kernels/dataflow"


@dataclass(slots=True)
class SliceParams(TypedFields):
    """Options of a slice; every field may be set."""

    slice_start: Shape | list[int] = field(default_factory=lambda: Shape([]), init=False)
    slice_end: Shape | list[int] = field(default_factory=lambda: Shape([]), init=False)
    step: Shape | list[int] = field(default_factory=lambda: Shape([]), init=False)
    output_mem_config: MemoryConfig = field(default=DRAM_MEMORY_CONFIG, init=False)
    sub_core_grids: CoreRangeSet | None = field(default=None, init=False)


@dataclass(slots=True, eq=False)
class SliceInputs(TypedFields):
    """Tensors of a slice."""

    input: Tensor


def _bounds(params: SliceParams) -> tuple[list[int], list[int], list[int]]:
    start, end = list(params.slice_start), list(params.slice_end)
    step = list(params.step) or [1] * len(start)
    if not len(start) == len(end) == len(step) or min(step, default=1) < 1:
        raise ArgumentError(
            "SliceParams: slice_start, slice_end and step must have one number for each dimension, steps of at least "
            f"1; got {start}, {end} and {step}"
        )
    return start, end, step


class SliceDeviceOperation:
    """Output tensors of a slice."""

    @staticmethod
    @of_operation(SliceParams, SliceInputs)
    def compute_output_specs(operation_attributes: SliceParams, tensor_args: SliceInputs) -> TensorSpec:
        """Return the specification of the result."""
        tensor = set_tensors(tensor_args)["input"]
        start, end, step = _bounds(operation_attributes)
        shape = Shape([-(-(last - first) // by) for first, last, by in zip(start, end, step, strict=True)])
        return TensorSpec.of(shape, tensor.dtype, tensor.layout, operation_attributes.output_mem_config)

    @staticmethod
    @of_operation(SliceParams, SliceInputs)
    def create_output_tensors(operation_attributes: SliceParams, tensor_args: SliceInputs) -> Tensor:
        """Return a new tensor for the result."""
        spec = SliceDeviceOperation.compute_output_specs(operation_attributes, tensor_args)
        return allocate_tensor_on_device(spec, device_of(tensor_args.input))


class SliceTileProgramFactory:
    """The program of a slice of tiles."""

    @staticmethod
    @of_operation(SliceParams, SliceInputs)
    def create_descriptor(
        operation_attributes: SliceParams, tensor_args: SliceInputs, tensor_return_value: Tensor
    ) -> ProgramDescriptor:
        """Return the program; by default on all cores."""
        params, tensor = operation_attributes, tensor_args.input
        output = required("SliceTileProgramFactory: tensor_return_value", tensor_return_value, Tensor)
        start, end, step = _bounds(params)
        options = {"starts": start, "ends": end, "steps": step, "memory_config": params.output_mem_config}
        run = partial(run_positional, slice_operator, options)
        device = device_of(tensor)
        grid = params.sub_core_grids or all_cores(device)
        height, width = (1, 1, *output.padded_shape)[-2:]
        tiles = -(-output.volume() // (height * width)) * (height // TILE_SIZE) * (width // TILE_SIZE)
        cores, split = units_by_core(grid, max(tiles, 1))
        step_of = OperatorStep.of(run, [tensor, output], "slice", options)
        program = Program(step_of, cores, {"cb_in": 0})
        program.kernel(
            f"{_SLICES}/reader_unary_unpad_dims_interleaved_start_id.cpp",
            ReaderConfigDescriptor(),
            [len(start), *accessor(tensor)],
            lambda core: [address(tensor), *split[core]],
        )
        program.cbs = {"cb_out": 0}
        program.kernel(
            f"{_SLICES}/writer_unary_interleaved_start_id.cpp",
            WriterConfigDescriptor(),
            accessor(output),
            lambda core: [address(output), split[core][1], split[core][0]],
        )
        program.buffer(0, tensor.dtype, 2)
        return program.descriptor

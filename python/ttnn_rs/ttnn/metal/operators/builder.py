"""Descriptors of operators: kernels, circular buffers and cores.

The kernels name the public sources, but are not built from them: `ttnn.generic_op` runs the operator, see
`ttnn.metal.operator_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet
from ttnn.base.enums import DataType
from ttnn.base.exceptions import ArgumentError
from ttnn.base.tile import tile_size
from ttnn.base.work_split import split_work_to_cores
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.buffers import TensorAccessorArgs
from ttnn.metal.descriptors import (
    CBDescriptor,
    CBFormatDescriptor,
    ComputeConfigDescriptor,
    KernelDescriptor,
    ProgramDescriptor,
    ReaderConfigDescriptor,
    RuntimeArgs,
    WriterConfigDescriptor,
    cb_descriptor_from_sharded_tensor,
)
from ttnn.metal.operator_steps import ARGUMENT, OperatorStep, place_of
from ttnn.tensor.tensor import Tensor

OPERATIONS: Final = "ttnn/cpp/ttnn/operations"


def set_tensors(inputs: Any) -> dict[str, Tensor]:
    """Return the tensors that are set, by name.

    Raises:
        ArgumentError: no input.
    """
    tensors = {item.name: getattr(inputs, item.name) for item in fields(inputs)}
    if not isinstance(tensors["input"], Tensor):
        raise ArgumentError(f"{type(inputs).__name__}: input must be a tensor, got {tensors['input']!r}")
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


def run_by_name(
    function: Callable[..., Tensor], names: Sequence[str], options: dict[str, Any], tensors: Sequence[Tensor]
) -> Tensor:
    """Run an operator whose first tensor is positional."""
    return function(tensors[0], **dict(zip(names[1:], tensors[1:], strict=True)), **options)


def run_positional(function: Callable[..., Tensor], options: dict[str, Any], tensors: Sequence[Tensor]) -> Tensor:
    """Run an operator whose tensors are positional."""
    return function(*tensors, **options)


def compute_config(config: WormholeComputeKernelConfig | None) -> ComputeConfigDescriptor:
    """Return the configuration of a compute kernel."""
    if config is None:
        return ComputeConfigDescriptor()
    return ComputeConfigDescriptor(
        math_fidelity=config.math_fidelity,
        math_approx_mode=config.math_approx_mode,
        fp32_dest_acc_en=config.fp32_dest_acc_en,
        dst_full_sync_en=config.dst_full_sync_en,
    )


class Program:
    """Builds the descriptor of an operator."""

    def __init__(self, step: OperatorStep, cores: CoreRangeSet, cbs: dict[str, int]) -> None:
        self.step, self.cores, self.cbs = step, cores, cbs
        self.descriptor = ProgramDescriptor()

    def kernel(
        self,
        source: str,
        config: ReaderConfigDescriptor | WriterConfigDescriptor | ComputeConfigDescriptor,
        compile_time_args: Sequence[int],
        runtime_args: Callable[[CoreCoord], Sequence[int]],
        *,
        defines: Sequence[str] = (),
        cores: CoreRangeSet | None = None,
    ) -> None:
        """Add a kernel."""
        where = self.cores if cores is None else cores
        arguments = RuntimeArgs()
        for core in where.cores(row_wise=True):
            arguments.append(core, runtime_args(core))
        self.descriptor.kernels.append(
            KernelDescriptor(
                source,
                core_ranges=where,
                compile_time_args=compile_time_args,
                named_compile_time_args=[*self.cbs.items(), (ARGUMENT, self.step)],
                defines=[(name, "1") for name in defines],
                runtime_args=arguments,
                config=config,
            )
        )

    def buffer(self, index: int, dtype: DataType, tiles: int) -> None:
        """Add a circular buffer of whole tiles."""
        form = CBFormatDescriptor(index, dtype, tile_size(dtype))
        self.descriptor.cbs.append(CBDescriptor(tiles * tile_size(dtype), self.cores, [form]))

    def shards(self, index: int, tensor: Tensor) -> None:
        """Add a circular buffer in the shards of a tensor."""
        self.descriptor.cbs.append(cb_descriptor_from_sharded_tensor(index, tensor))


def accessor(tensor: Tensor | None) -> list[int]:
    """Return a tensor accessor's compile-time arguments; none without a tensor."""
    return [] if tensor is None else list(TensorAccessorArgs(tensor).get_compile_time_args())


def address(tensor: Tensor | None) -> int:
    """Return the buffer address of a tensor; 0 without a tensor."""
    return 0 if tensor is None else place_of(tensor)[1]


def units_by_core(cores: CoreRangeSet, units: int) -> tuple[CoreRangeSet, dict[CoreCoord, tuple[int, int]]]:
    """Return cores, and the first unit and unit count of each."""
    _, everyone, first, _, more, fewer = split_work_to_cores(cores, units, row_wise=True)
    split, start = {}, 0
    for core in everyone.cores(row_wise=True):
        count = more if first.contains(core) else fewer
        split[core] = start, count
        start += count
    return everyone, split


def all_cores(device: MeshDevice) -> CoreRangeSet:
    """Return the cores of a device as one range."""
    grid = device.compute_with_storage_grid_size()
    return CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1))])

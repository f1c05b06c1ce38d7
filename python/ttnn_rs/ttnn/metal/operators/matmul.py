"""Matmul as a program descriptor."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord, CoreRangeSet
from ttnn.base.enums import TILE_SIZE, DataType, ShardOrientation
from ttnn.base.exceptions import ArgumentError, ProgramConfigError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.program_config import (
    MatmulMultiCoreReuseProgramConfig,
)
from ttnn.base.shape import Shape
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.work_split import split_work_to_cores
from ttnn.metal.descriptors import (
    ProgramDescriptor,
    ReaderConfigDescriptor,
    WriterConfigDescriptor,
    device_of,
    listed,
    required,
)
from ttnn.metal.operator_steps import OperatorStep
from ttnn.metal.operators.builder import (
    OPERATIONS,
    Program,
    accessor,
    address,
    compute_config,
    run_positional,
)
from ttnn.metal.typed_arguments import TypedFields, of_operation
from ttnn.ops.matmul.matmul import matmul as matmul_operator
from ttnn.tensor.tensor import Tensor, allocate_tensor_on_device

__all__ = [
    "MatmulDeviceOperation",
    "MatmulInputs",
    "MatmulMultiCoreReuseOptimizedProgramFactory",
    "MatmulParams",
    "create_matmul_attributes",
]

_MATMULS: Final = f"{OPERATIONS}/matmul/device/kernels"
_MATMUL_CBS: Final = {"cb_in0": 0, "cb_in1": 1, "cb_bias": 3, "cb_out": 4, "cb_intermed0": 5}


@dataclass(slots=True)
class MatmulParams(TypedFields):
    """Options of a matmul; every field may be set."""

    program_config: Any = field(default=None, init=False)
    bcast_batch: bool | None = field(default=None, init=False)
    output_mem_config: MemoryConfig = field(default=DRAM_MEMORY_CONFIG, init=False)
    output_dtype: DataType | None = field(default=None, init=False)
    compute_kernel_config: WormholeComputeKernelConfig | None = field(default=None, init=False)
    untilize_out: bool = field(default=False, init=False)
    transpose_a: bool = field(default=False, init=False)
    transpose_b: bool = field(default=False, init=False)


@dataclass(slots=True, eq=False)
class MatmulInputs(TypedFields):
    """Tensors of a matmul; every field may be set."""

    input_tensors: list[Tensor] = field(default_factory=list, init=False)
    optional_input_tensors: list[Tensor | None] = field(default_factory=list, init=False)
    optional_output_tensors: list[Tensor | None] = field(default_factory=list, init=False)


def create_matmul_attributes(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    parameters: MatmulParams,
    optional_output_tensors: Sequence[Tensor | None] = (),
) -> MatmulParams:
    """Return the options with data type and broadcast decided.

    Args:
        input_tensor_a: First operand.
        input_tensor_b: Second operand.
        parameters: The options.
        optional_output_tensors: None, or an output tensor that decides the data type.
    """
    decided = copy.copy(required("create_matmul_attributes: parameters", parameters, MatmulParams))
    output = next((tensor for tensor in optional_output_tensors if tensor is not None), None)
    if decided.output_dtype is None:
        decided.output_dtype = input_tensor_a.dtype if output is None else output.dtype
    if decided.bcast_batch is None:
        decided.bcast_batch = all(size == 1 for size in list(input_tensor_b.padded_shape)[:-2])
    return decided


def _operands(tensor_args: MatmulInputs) -> tuple[Tensor, Tensor]:
    tensors = required("MatmulInputs", tensor_args, MatmulInputs).input_tensors
    if len(tensors) != 2 or not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise ArgumentError(f"MatmulInputs: input_tensors must be two tensors, got {tensors!r}")
    return tensors[0], tensors[1]


class MatmulDeviceOperation:
    """Output tensors of a matmul."""

    @staticmethod
    @of_operation(MatmulParams, MatmulInputs)
    def compute_output_specs(operation_attributes: MatmulParams, tensor_args: MatmulInputs) -> list[TensorSpec]:
        """Return the specification of the result in a list.

        Shards without cores are those of the program's blocks, from the first core on.
        """
        params = operation_attributes
        a, b = _operands(tensor_args)
        rows = list(a.shape)[-1 if params.transpose_a else -2]
        columns = list(b.shape)[-2 if params.transpose_b else -1]
        shape = Shape([*list(a.shape)[:-2], rows, columns])
        target = params.output_mem_config
        if target.is_sharded() and target.shard_spec is None:
            target = _blocks(params, a, b, target)
        return [TensorSpec.of(shape, params.output_dtype or a.dtype, a.layout, target)]

    @staticmethod
    @of_operation(MatmulParams, MatmulInputs)
    def create_output_tensors(operation_attributes: MatmulParams, tensor_args: MatmulInputs) -> list[Tensor]:
        """Return a new tensor for the result in a list."""
        specs = MatmulDeviceOperation.compute_output_specs(operation_attributes, tensor_args)
        return [allocate_tensor_on_device(spec, device_of(tensor_args.input_tensors[0])) for spec in specs]


def _reuse_config(params: MatmulParams) -> MatmulMultiCoreReuseProgramConfig:
    config = params.program_config
    if not isinstance(config, MatmulMultiCoreReuseProgramConfig):
        raise ProgramConfigError(
            "MatmulMultiCoreReuseOptimizedProgramFactory: program_config must be MatmulMultiCoreReuseProgramConfig",
            vendor="program_config must be provided for create_descriptor",
        )
    return config


def _output_blocks(params: MatmulParams, a: Tensor, b: Tensor) -> int:
    """Return the number of output blocks."""
    config = params.program_config
    if not hasattr(config, "per_core_M"):
        raise ProgramConfigError(f"MatmulParams: program_config must have blocks of output, got {config!r}")
    *batch, rows, inner = list(a.padded_shape)
    tile_rows = (inner if params.transpose_a else rows) // TILE_SIZE
    columns = list(b.padded_shape)[-2 if params.transpose_b else -1] // TILE_SIZE
    for size in batch:
        tile_rows *= size
    blocks: int = max(1, tile_rows // config.per_core_M) * max(1, columns // config.per_core_N)
    return blocks


def _blocks(params: MatmulParams, a: Tensor, b: Tensor, target: MemoryConfig) -> MemoryConfig:
    """Return a memory config with output blocks as shards."""
    config, blocks = params.program_config, _output_blocks(params, a, b)
    shape = [config.per_core_M * TILE_SIZE, config.per_core_N * TILE_SIZE]
    by_column = isinstance(config, MatmulMultiCoreReuseProgramConfig)
    cores = split_work_to_cores(_grid(config), blocks, row_wise=not by_column)[1]
    orientation = ShardOrientation.COL_MAJOR if by_column else ShardOrientation.ROW_MAJOR
    return MemoryConfig(target.memory_layout, target.buffer_type, ShardSpec(cores, shape, orientation))


def _grid(config: Any) -> CoreCoord:
    """Return the size of a matmul's core grid, which allowed cores decide."""
    allowed = config.allowed_worker_cores
    grid: CoreCoord = config.compute_with_storage_grid_size if allowed is None else allowed.bounding_box().grid_size()
    return grid


class MatmulMultiCoreReuseOptimizedProgramFactory:
    """The program of a matmul whose cores compute whole output blocks."""

    @staticmethod
    @of_operation(MatmulParams, MatmulInputs)
    def create_descriptor(
        operation_attributes: MatmulParams,
        tensor_args: MatmulInputs,
        tensor_return_value: Sequence[Tensor],
        core_range_set: CoreRangeSet | None = None,
    ) -> ProgramDescriptor:
        """Return the program; by default on the grid of the configuration."""
        params = operation_attributes
        config = _reuse_config(params)
        a, b = _operands(tensor_args)
        outputs = listed("MatmulMultiCoreReuseOptimizedProgramFactory: output", tensor_return_value, Tensor)
        if len(outputs) != 1:
            raise ArgumentError(f"MatmulMultiCoreReuseOptimizedProgramFactory: 1 output, got {len(outputs)}")
        (output,) = outputs
        sharded = next((tensor for tensor in (a, b, output) if tensor.is_sharded()), None)
        shard = None if sharded is None else sharded.memory_config().shard_spec
        blocks = _output_blocks(params, a, b)
        if shard is not None:
            cores = shard.grid
        else:
            cores = split_work_to_cores(_grid(config) if core_range_set is None else core_range_set, blocks)[1]
        # The blocks decide the bits, the cores do not: `ttnn.matmul` starts at the first core.
        grid = CoreCoord(1, 1) if sharded is None else _grid(config)
        options = {
            "transpose_a": params.transpose_a,
            "transpose_b": params.transpose_b,
            "memory_config": params.output_mem_config if sharded is None else output.memory_config(),
            "dtype": output.dtype,
            "compute_kernel_config": params.compute_kernel_config,
            "program_config": replace(config, compute_with_storage_grid_size=grid, allowed_worker_cores=None),
        }
        run = partial(run_positional, matmul_operator, options)
        program = Program(OperatorStep.of(run, [a, b, output], "matmul", options), cores, _MATMUL_CBS)
        program.kernel(
            f"{_MATMULS}/dataflow/reader_bmm_tile_layout_in0.cpp",
            ReaderConfigDescriptor(),
            [config.in0_block_w, config.per_core_M, *accessor(a)],
            lambda core: [address(a)],
        )
        program.kernel(
            f"{_MATMULS}/dataflow/reader_writer_bmm_tile_layout_in1.cpp",
            WriterConfigDescriptor(),
            [config.in0_block_w, config.per_core_N, *accessor(b), *accessor(output)],
            lambda core: [address(b), address(output)],
        )
        program.kernel(
            f"{_MATMULS}/compute/bmm_large_block_zm_fused_bias_activation.cpp",
            compute_config(params.compute_kernel_config),
            [config.in0_block_w, config.out_subblock_h, config.out_subblock_w],
            lambda core: [],
        )
        for name, tensor, tiles in (
            ("cb_in0", a, 2 * config.per_core_M * config.in0_block_w),
            ("cb_in1", b, 2 * config.per_core_N * config.in0_block_w),
            ("cb_out", output, config.per_core_M * config.per_core_N),
        ):
            if tensor.is_sharded():
                program.shards(_MATMUL_CBS[name], tensor)
            else:
                program.buffer(_MATMUL_CBS[name], tensor.dtype, tiles)
        program.buffer(_MATMUL_CBS["cb_intermed0"], output.dtype, config.per_core_M * config.per_core_N)
        return program.descriptor

"""Operators as program descriptors: norms, matmul and slice.

`create_descriptor` returns kernels, circular buffers and cores. The kernels name the public sources, but are not built
from them: `ttnn.generic_op` runs the operator, see `ttnn.metal.operator_steps`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet
from ttnn.base.enums import TILE_SIZE, DataType, ShardOrientation
from ttnn.base.exceptions import ArgumentError, ProgramConfigError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.op_enums import DistributedLayerNormStage, LayerNormType
from ttnn.base.program_config import (
    LayerNormDefaultProgramConfig,
    LayerNormShardedMultiCoreProgramConfig,
    MatmulMultiCoreReuseProgramConfig,
)
from ttnn.base.shape import Shape
from ttnn.base.tensor_spec import TensorSpec
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
    device_of,
    listed,
    required,
)
from ttnn.metal.operator_steps import ARGUMENT, OperatorStep, number_of, place_of
from ttnn.metal.typed_arguments import TypedFields, of_operation
from ttnn.ops.data_movement.slice import slice as slice_operator
from ttnn.ops.matmul.matmul import matmul as matmul_operator
from ttnn.ops.normalization.norm import layer_norm, rms_norm
from ttnn.tensor.tensor import Tensor, allocate_tensor_on_device

__all__ = [
    "LayerNormDeviceOperation",
    "LayerNormInputs",
    "LayerNormMultiCoreProgramFactory",
    "LayerNormParams",
    "LayerNormShardedProgramFactory",
    "MatmulDeviceOperation",
    "MatmulInputs",
    "MatmulMultiCoreReuseOptimizedProgramFactory",
    "MatmulParams",
    "SliceDeviceOperation",
    "SliceInputs",
    "SliceParams",
    "SliceTileProgramFactory",
    "create_matmul_attributes",
]

_OPERATIONS: Final = "ttnn/cpp/ttnn/operations"
_NORMS: Final = f"{_OPERATIONS}/normalization/layernorm/device/kernels"
_MATMULS: Final = f"{_OPERATIONS}/matmul/device/kernels"
_SLICES: Final = f"{_OPERATIONS}/data_movement/slice/device/kernels/dataflow"
_INPUT, _RESIDUAL, _SCALER, _EPSILON, _OUT = 0, 1, 2, 3, 16
_WEIGHT, _BIAS = 5, 6
_INTERLEAVED_CBS: Final = {
    "cb_in": _INPUT,
    "cb_inb": _RESIDUAL,
    "cb_scaler": _SCALER,
    "cb_eps": _EPSILON,
    "cb_gamma": _WEIGHT,
    "cb_beta": _BIAS,
    "cb_out": _OUT,
    "cb_ex": 18,
    "cb_ex2": 19,
    "cb_xmm2": 20,
    "cb_ex2pe": 21,
    "cb_fusion": 22,
    "cb_x": 23,
    "cb_xmm": 24,
    "cb_reciprocals": 25,
    "cb_accumulate": 26,
    "cb_in_rm": 27,
    "cb_out_rm": 28,
}
_SHARDED_CBS: Final = {
    "cb_in0": _INPUT,
    "cb_in1": _RESIDUAL,
    "cb_scaler": _SCALER,
    "cb_eps": _EPSILON,
    "cb_scaler_global": 4,
    "cb_gamma": _WEIGHT,
    "cb_beta": _BIAS,
    "cb_ex_partial": 8,
    "cb_ex": 9,
    "cb_ex_external": 10,
    "cb_ex_partial2": 11,
    "cb_ex2": 12,
    "cb_ex_external2": 13,
    "cb_ex_global": 15,
    "cb_out": _OUT,
    "cb_xmm": 18,
    "cb_ex2pe": 20,
    "cb_x": 24,
}
_MATMUL_CBS: Final = {"cb_in0": 0, "cb_in1": 1, "cb_bias": 3, "cb_out": 4, "cb_intermed0": 5}
_STATISTICS: Final = 2
"""Tiles of a circular buffer of row statistics, one in reserve."""


@dataclass(slots=True)
class LayerNormParams(TypedFields):
    """Options of a norm; every field may be set."""

    norm_type: LayerNormType = field(default=LayerNormType.LAYERNORM, init=False)
    distributed_norm_stage: DistributedLayerNormStage = field(
        default=DistributedLayerNormStage.NOT_DISTRIBUTED, init=False
    )
    eps: float = field(default=0.0, init=False)
    output_mem_config: MemoryConfig = field(default=DRAM_MEMORY_CONFIG, init=False)
    program_config: LayerNormDefaultProgramConfig | LayerNormShardedMultiCoreProgramConfig = field(
        default_factory=LayerNormDefaultProgramConfig, init=False
    )
    compute_kernel_config: WormholeComputeKernelConfig | None = field(default=None, init=False)
    dtype: DataType | None = field(default=None, init=False)


@dataclass(slots=True, eq=False)
class LayerNormInputs(TypedFields):
    """Tensors of a norm; every field may be set."""

    input: Tensor | None = None
    residual_input_tensor: Tensor | None = field(default=None, init=False)
    weight: Tensor | None = field(default=None, init=False)
    bias: Tensor | None = field(default=None, init=False)
    stats: Tensor | None = field(default=None, init=False)
    recip_tensor: Tensor | None = field(default=None, init=False)


def _given(inputs: Any) -> dict[str, Tensor]:
    """Return the tensors that are set, by name.

    Raises:
        ArgumentError: no input.
    """
    tensors = {item.name: getattr(inputs, item.name) for item in fields(inputs)}
    if not isinstance(tensors["input"], Tensor):
        raise ArgumentError(f"{type(inputs).__name__}: input must be a tensor, got {tensors['input']!r}")
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


def _in_place(params: LayerNormParams) -> bool:
    config = params.program_config
    return isinstance(config, LayerNormShardedMultiCoreProgramConfig) and config.inplace


class LayerNormDeviceOperation:
    """Output tensors and program of a norm."""

    @staticmethod
    @of_operation(LayerNormParams, LayerNormInputs)
    def compute_output_specs(operation_attributes: LayerNormParams, tensor_args: LayerNormInputs) -> TensorSpec:
        """Return the specification of the result."""
        spec = _given(tensor_args)["input"].spec
        target = operation_attributes.output_mem_config
        if target.is_sharded() and target.shard_spec is None:
            target = MemoryConfig(target.memory_layout, target.buffer_type, spec.memory_config.shard_spec)
        return spec.with_memory_config(target)

    @staticmethod
    @of_operation(LayerNormParams, LayerNormInputs)
    def create_output_tensors(operation_attributes: LayerNormParams, tensor_args: LayerNormInputs) -> Tensor:
        """Return a new tensor for the result; with `inplace` the input."""
        tensor = _given(tensor_args)["input"]
        if _in_place(operation_attributes):
            return tensor
        spec = LayerNormDeviceOperation.compute_output_specs(operation_attributes, tensor_args)
        return allocate_tensor_on_device(spec, device_of(tensor))

    @staticmethod
    @of_operation(LayerNormParams, LayerNormInputs)
    def select_program_factory(
        operation_attributes: LayerNormParams, tensor_args: LayerNormInputs
    ) -> type[LayerNormMultiCoreProgramFactory] | type[LayerNormShardedProgramFactory]:
        """Return the program factory: that of shards for a sharded input."""
        sharded = _given(tensor_args)["input"].is_sharded()
        return LayerNormShardedProgramFactory if sharded else LayerNormMultiCoreProgramFactory

    @staticmethod
    @of_operation(LayerNormParams, LayerNormInputs)
    def compute_program_hash(operation_attributes: LayerNormParams, tensor_args: LayerNormInputs) -> int:
        """Return a number that options and tensor specifications decide."""
        specs = {name: tensor.spec for name, tensor in _given(tensor_args).items()}
        return number_of("layernorm", operation_attributes, specs)


def _norm_step(params: LayerNormParams, given: dict[str, Tensor], output: Tensor) -> OperatorStep:
    if params.distributed_norm_stage is not DistributedLayerNormStage.NOT_DISTRIBUTED or "stats" in given:
        raise UnsupportedError("LayerNormParams: norms over several chips are not implemented as descriptors")
    if params.dtype not in (None, given["input"].dtype):
        raise UnsupportedError("LayerNormParams: dtype must be that of the input")
    names = list(given)
    options = {
        "epsilon": params.eps,
        "memory_config": None if _in_place(params) else params.output_mem_config,
        "program_config": params.program_config,
        "compute_kernel_config": params.compute_kernel_config,
    }
    function = layer_norm if params.norm_type is LayerNormType.LAYERNORM else rms_norm
    run = partial(_run_by_name, function, names, options)
    return OperatorStep.of(run, [*given.values(), output], params.norm_type, names, options)


def _run_by_name(
    function: Callable[..., Tensor], names: Sequence[str], options: dict[str, Any], tensors: Sequence[Tensor]
) -> Tensor:
    """Run an operator whose first tensor is positional."""
    return function(tensors[0], **dict(zip(names[1:], tensors[1:], strict=True)), **options)


def _compute_config(config: WormholeComputeKernelConfig | None) -> ComputeConfigDescriptor:
    if config is None:
        return ComputeConfigDescriptor()
    return ComputeConfigDescriptor(
        math_fidelity=config.math_fidelity,
        math_approx_mode=config.math_approx_mode,
        fp32_dest_acc_en=config.fp32_dest_acc_en,
        dst_full_sync_en=config.dst_full_sync_en,
    )


class _Program:
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


def _accessor(tensor: Tensor | None) -> list[int]:
    return [] if tensor is None else list(TensorAccessorArgs(tensor).get_compile_time_args())


def _address(tensor: Tensor | None) -> int:
    return 0 if tensor is None else place_of(tensor)[1]


def _rows_by_core(cores: CoreRangeSet, units: int) -> tuple[CoreRangeSet, dict[CoreCoord, tuple[int, int]]]:
    """Return cores, and the first unit and unit count of each."""
    _, everyone, first, _, more, fewer = split_work_to_cores(cores, units, row_wise=True)
    split, start = {}, 0
    for core in everyone.cores(row_wise=True):
        count = more if first.contains(core) else fewer
        split[core] = start, count
        start += count
    return everyone, split


def _norm_buffers(program: _Program, params: LayerNormParams, given: dict[str, Tensor], tiles: int) -> None:
    """Add the circular buffers of the steps between input and output."""
    config = params.compute_kernel_config
    steps = DataType.FLOAT32 if config is not None and config.fp32_dest_acc_en else DataType.BFLOAT16
    index = program.cbs
    program.buffer(_SCALER, DataType.BFLOAT16, _STATISTICS)
    program.buffer(_EPSILON, DataType.BFLOAT16, _STATISTICS)
    program.buffer(index["cb_ex2pe"], steps, _STATISTICS)
    program.buffer(index["cb_ex2"], steps, _STATISTICS)
    program.buffer(index["cb_xmm"], steps, tiles)
    if params.norm_type is LayerNormType.LAYERNORM:
        program.buffer(index["cb_ex"], steps, _STATISTICS)
    for name, number in (("weight", _WEIGHT), ("bias", _BIAS)):
        if name in given:
            program.buffer(number, given[name].dtype, tiles)


def _defines(params: LayerNormParams, given: dict[str, Tensor]) -> list[str]:
    names = {"residual_input_tensor": "FUSE_PRE_ADD", "weight": "FUSE_GAMMA", "bias": "FUSE_BETA"}
    own = [define for name, define in names.items() if name in given]
    return [*own, "RMSNORM"] if params.norm_type is LayerNormType.RMSNORM else own


class LayerNormMultiCoreProgramFactory:
    """Norm of interleaved tensors: tile rows over cores."""

    @staticmethod
    @of_operation(LayerNormParams, LayerNormInputs)
    def create_descriptor(
        operation_attributes: LayerNormParams,
        tensor_args: LayerNormInputs,
        tensor_return_value: Tensor,
        core_range_set: CoreRangeSet | None = None,
    ) -> ProgramDescriptor:
        """Return the program; by default on all cores."""
        required("LayerNormMultiCoreProgramFactory: tensor_return_value", tensor_return_value, Tensor)
        given = _given(tensor_args)
        tensor = given["input"]
        height, width = (1, 1, *tensor.padded_shape)[-2:]
        rows = -(-tensor.volume() // (height * width)) * -(-height // TILE_SIZE)
        tiles = -(-width // TILE_SIZE)
        everywhere = LayerNormMultiCoreProgramFactory.default_core_range(device_of(tensor))
        cores, split = _rows_by_core(everywhere if core_range_set is None else core_range_set, rows)
        program = _Program(_norm_step(operation_attributes, given, tensor_return_value), cores, _INTERLEAVED_CBS)
        config = operation_attributes.compute_kernel_config
        block = 4 if config is not None and config.fp32_dest_acc_en else 8
        sides = [given.get(name) for name in ("residual_input_tensor", "weight", "bias")]
        residual, weight, bias = sides
        welford = operation_attributes.program_config.use_welford
        defines = _defines(operation_attributes, given)
        program.kernel(
            f"{_NORMS}/dataflow/reader_unary_interleaved_ln.cpp",
            ReaderConfigDescriptor(),
            [block, int(welford), width, *_accessor(tensor), *(word for side in sides for word in _accessor(side))],
            lambda core: [
                _address(tensor), split[core][1], tiles, split[core][0],
                _address(weight), _address(bias), _address(residual),
            ],
            defines=defines,
        )  # fmt: skip
        program.kernel(
            f"{_NORMS}/dataflow/writer_unary_interleaved_start_id_blocked.cpp",
            WriterConfigDescriptor(),
            [block, *_accessor(tensor_return_value)],
            lambda core: [_address(tensor_return_value), tiles, split[core][1], split[core][0] * tiles],
        )
        kind = "layernorm_welford" if welford else "layernorm"
        program.kernel(
            f"{_NORMS}/compute/{kind}.cpp",
            _compute_config(config),
            [tiles, block, int(weight is not None), int(bias is not None)],
            lambda core: [split[core][1]],
            defines=defines,
        )
        padded = -(-tiles // block) * block
        program.buffer(_INPUT, tensor.dtype, padded)
        program.buffer(_OUT, tensor_return_value.dtype, 2 * block)
        if residual is not None:
            program.buffer(_RESIDUAL, residual.dtype, 2 * block)
        _norm_buffers(program, operation_attributes, given, padded)
        return program.descriptor

    @staticmethod
    def default_core_range(device: MeshDevice) -> CoreRangeSet:
        """Return all cores of a device."""
        grid = device.compute_with_storage_grid_size()
        return CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1))])


class LayerNormShardedProgramFactory:
    """Norm of shards, on the cores of the input."""

    @staticmethod
    @of_operation(LayerNormParams, LayerNormInputs)
    def create_descriptor(
        operation_attributes: LayerNormParams,
        tensor_args: LayerNormInputs,
        tensor_return_value: Tensor,
        core_range_set: CoreRangeSet | None = None,
    ) -> ProgramDescriptor:
        """Return the program. The cores are those of the shards."""
        required("LayerNormShardedProgramFactory: tensor_return_value", tensor_return_value, Tensor)
        given = _given(tensor_args)
        tensor = given["input"]
        shard = tensor.memory_config().shard_spec
        if shard is None:
            raise ProgramConfigError("LayerNormShardedProgramFactory: the input must be sharded")
        if core_range_set is not None and core_range_set != shard.grid:
            raise ProgramConfigError("LayerNormShardedProgramFactory: core_range_set must be the cores of the shards")
        cores = shard.grid
        program = _Program(_norm_step(operation_attributes, given, tensor_return_value), cores, _SHARDED_CBS)
        welford = operation_attributes.program_config.use_welford
        defines = _defines(operation_attributes, given)
        height, width = shard.shape
        tiles = -(-width // TILE_SIZE) * -(-height // TILE_SIZE)
        first, *others = cores.cores(row_wise=True)
        readers = {"sender": [first], "receiver": others}
        for kind, where in readers.items():
            if where:
                program.kernel(
                    f"{_NORMS}/dataflow/reader_mcast_{kind}_unary_sharded_ln.cpp",
                    ReaderConfigDescriptor(),
                    [len(others) + 1, tiles],
                    lambda core: [core.x, core.y],
                    defines=defines,
                    cores=CoreRangeSet([CoreRange(core, core) for core in where]),
                )
        program.kernel(
            f"{_NORMS}/dataflow/writer_unary_sharded_ln.cpp",
            WriterConfigDescriptor(),
            [
                int("weight" in given),
                int("bias" in given),
                *_accessor(given.get("weight")),
                *_accessor(given.get("bias")),
            ],
            lambda core: [_address(given.get("weight")), _address(given.get("bias"))],
            defines=defines,
        )
        kind = "layernorm_sharded_welford" if welford else "layernorm_sharded"
        program.kernel(
            f"{_NORMS}/compute/{kind}.cpp",
            _compute_config(operation_attributes.compute_kernel_config),
            [int("weight" in given), int("bias" in given), len(others) + 1, tiles],
            lambda core: [tiles],
            defines=defines,
        )
        program.shards(_INPUT, tensor)
        if "residual_input_tensor" in given:
            program.shards(_RESIDUAL, given["residual_input_tensor"])
        program.shards(_OUT, tensor_return_value)
        _norm_buffers(program, operation_attributes, given, tiles)
        return program.descriptor


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
        run = partial(_run_positional, matmul_operator, options)
        program = _Program(OperatorStep.of(run, [a, b, output], "matmul", options), cores, _MATMUL_CBS)
        program.kernel(
            f"{_MATMULS}/dataflow/reader_bmm_tile_layout_in0.cpp",
            ReaderConfigDescriptor(),
            [config.in0_block_w, config.per_core_M, *_accessor(a)],
            lambda core: [_address(a)],
        )
        program.kernel(
            f"{_MATMULS}/dataflow/reader_writer_bmm_tile_layout_in1.cpp",
            WriterConfigDescriptor(),
            [config.in0_block_w, config.per_core_N, *_accessor(b), *_accessor(output)],
            lambda core: [_address(b), _address(output)],
        )
        program.kernel(
            f"{_MATMULS}/compute/bmm_large_block_zm_fused_bias_activation.cpp",
            _compute_config(params.compute_kernel_config),
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


def _run_positional(function: Callable[..., Tensor], options: dict[str, Any], tensors: Sequence[Tensor]) -> Tensor:
    return function(*tensors, **options)


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
        tensor = _given(tensor_args)["input"]
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
        run = partial(_run_positional, slice_operator, options)
        device = device_of(tensor)
        grid = params.sub_core_grids or LayerNormMultiCoreProgramFactory.default_core_range(device)
        height, width = (1, 1, *output.padded_shape)[-2:]
        tiles = -(-output.volume() // (height * width)) * (height // TILE_SIZE) * (width // TILE_SIZE)
        cores, split = _rows_by_core(grid, max(tiles, 1))
        step_of = OperatorStep.of(run, [tensor, output], "slice", options)
        program = _Program(step_of, cores, {"cb_in": 0})
        program.kernel(
            f"{_SLICES}/reader_unary_unpad_dims_interleaved_start_id.cpp",
            ReaderConfigDescriptor(),
            [len(start), *_accessor(tensor)],
            lambda core: [_address(tensor), *split[core]],
        )
        program.cbs = {"cb_out": 0}
        program.kernel(
            f"{_SLICES}/writer_unary_interleaved_start_id.cpp",
            WriterConfigDescriptor(),
            _accessor(output),
            lambda core: [_address(output), split[core][1], split[core][0]],
        )
        program.buffer(0, tensor.dtype, 2)
        return program.descriptor

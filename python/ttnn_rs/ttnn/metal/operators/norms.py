"""Layer norm and RMS norm as program descriptors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreRange, CoreRangeSet
from ttnn.base.enums import TILE_SIZE, DataType
from ttnn.base.exceptions import ProgramConfigError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.op_enums import DistributedLayerNormStage, LayerNormType
from ttnn.base.program_config import (
    LayerNormDefaultProgramConfig,
    LayerNormShardedMultiCoreProgramConfig,
)
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.descriptors import (
    ProgramDescriptor,
    ReaderConfigDescriptor,
    WriterConfigDescriptor,
    device_of,
    required,
)
from ttnn.metal.operator_steps import OperatorStep, number_of
from ttnn.metal.operators.builder import (
    OPERATIONS,
    Program,
    accessor,
    address,
    all_cores,
    compute_config,
    run_by_name,
    set_tensors,
    units_by_core,
)
from ttnn.metal.typed_arguments import TypedFields, of_operation
from ttnn.ops.normalization.norm import layer_norm, rms_norm
from ttnn.tensor.tensor import Tensor, allocate_tensor_on_device

__all__ = [
    "LayerNormDeviceOperation",
    "LayerNormInputs",
    "LayerNormMultiCoreProgramFactory",
    "LayerNormParams",
    "LayerNormShardedProgramFactory",
]

_NORMS: Final = f"{OPERATIONS}/normalization/layernorm/device/kernels"
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


def _in_place(params: LayerNormParams) -> bool:
    config = params.program_config
    return isinstance(config, LayerNormShardedMultiCoreProgramConfig) and config.inplace


class LayerNormDeviceOperation:
    """Output tensors and program of a norm."""

    @staticmethod
    @of_operation(LayerNormParams, LayerNormInputs)
    def compute_output_specs(operation_attributes: LayerNormParams, tensor_args: LayerNormInputs) -> TensorSpec:
        """Return the specification of the result."""
        spec = set_tensors(tensor_args)["input"].spec
        target = operation_attributes.output_mem_config
        if target.is_sharded() and target.shard_spec is None:
            target = MemoryConfig(target.memory_layout, target.buffer_type, spec.memory_config.shard_spec)
        return spec.with_memory_config(target)

    @staticmethod
    @of_operation(LayerNormParams, LayerNormInputs)
    def create_output_tensors(operation_attributes: LayerNormParams, tensor_args: LayerNormInputs) -> Tensor:
        """Return a new tensor for the result; with `inplace` the input."""
        tensor = set_tensors(tensor_args)["input"]
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
        sharded = set_tensors(tensor_args)["input"].is_sharded()
        return LayerNormShardedProgramFactory if sharded else LayerNormMultiCoreProgramFactory

    @staticmethod
    @of_operation(LayerNormParams, LayerNormInputs)
    def compute_program_hash(operation_attributes: LayerNormParams, tensor_args: LayerNormInputs) -> int:
        """Return a number that options and tensor specifications decide."""
        specs = {name: tensor.spec for name, tensor in set_tensors(tensor_args).items()}
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
    run = partial(run_by_name, function, names, options)
    return OperatorStep.of(run, [*given.values(), output], params.norm_type, names, options)


def _norm_buffers(program: Program, params: LayerNormParams, given: dict[str, Tensor], tiles: int) -> None:
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
        given = set_tensors(tensor_args)
        tensor = given["input"]
        height, width = (1, 1, *tensor.padded_shape)[-2:]
        rows = -(-tensor.volume() // (height * width)) * -(-height // TILE_SIZE)
        tiles = -(-width // TILE_SIZE)
        everywhere = LayerNormMultiCoreProgramFactory.default_core_range(device_of(tensor))
        cores, split = units_by_core(everywhere if core_range_set is None else core_range_set, rows)
        program = Program(_norm_step(operation_attributes, given, tensor_return_value), cores, _INTERLEAVED_CBS)
        config = operation_attributes.compute_kernel_config
        block = 4 if config is not None and config.fp32_dest_acc_en else 8
        sides = [given.get(name) for name in ("residual_input_tensor", "weight", "bias")]
        residual, weight, bias = sides
        welford = operation_attributes.program_config.use_welford
        defines = _defines(operation_attributes, given)
        program.kernel(
            f"{_NORMS}/dataflow/reader_unary_interleaved_ln.cpp",
            ReaderConfigDescriptor(),
            [block, int(welford), width, *accessor(tensor), *(word for side in sides for word in accessor(side))],
            lambda core: [
                address(tensor), split[core][1], tiles, split[core][0],
                address(weight), address(bias), address(residual),
            ],
            defines=defines,
        )  # fmt: skip
        program.kernel(
            f"{_NORMS}/dataflow/writer_unary_interleaved_start_id_blocked.cpp",
            WriterConfigDescriptor(),
            [block, *accessor(tensor_return_value)],
            lambda core: [address(tensor_return_value), tiles, split[core][1], split[core][0] * tiles],
        )
        kind = "layernorm_welford" if welford else "layernorm"
        program.kernel(
            f"{_NORMS}/compute/{kind}.cpp",
            compute_config(config),
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
        return all_cores(device)


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
        given = set_tensors(tensor_args)
        tensor = given["input"]
        shard = tensor.memory_config().shard_spec
        if shard is None:
            raise ProgramConfigError("LayerNormShardedProgramFactory: the input must be sharded")
        if core_range_set is not None and core_range_set != shard.grid:
            raise ProgramConfigError("LayerNormShardedProgramFactory: core_range_set must be the cores of the shards")
        cores = shard.grid
        program = Program(_norm_step(operation_attributes, given, tensor_return_value), cores, _SHARDED_CBS)
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
                *accessor(given.get("weight")),
                *accessor(given.get("bias")),
            ],
            lambda core: [address(given.get("weight")), address(given.get("bias"))],
            defines=defines,
        )
        kind = "layernorm_sharded_welford" if welford else "layernorm_sharded"
        program.kernel(
            f"{_NORMS}/compute/{kind}.cpp",
            compute_config(operation_attributes.compute_kernel_config),
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

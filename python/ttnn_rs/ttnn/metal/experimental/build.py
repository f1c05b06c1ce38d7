"""Programs of specifications.

Dataflow buffers become circular buffers, names become numbers and addresses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import update_wrapper
from inspect import Parameter, signature
from typing import Any

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.data_format import DataFormat
from ttnn.base.enums import BufferType, DataType, Layout, UnpackToDestMode
from ttnn.base.exceptions import ArgumentError, ProgramConfigError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.device.coordinates import MeshCoordinateRange
from ttnn.device.mesh_device import MeshDevice
from ttnn.kernel_api.arguments import get_arg
from ttnn.kernel_api.bindings import args
from ttnn.kernel_api.bindings_context import BufferToken, KernelBindings, ScratchpadToken, TensorToken
from ttnn.metal.buffers import Buffer, ShardedBufferConfig, create_buffer
from ttnn.metal.circular_buffers import create_circular_buffer
from ttnn.metal.configs import CircularBufferConfig, ComputeConfig, DataMovementConfig, format_code
from ttnn.metal.distributed import MeshWorkload
from ttnn.metal.experimental.checks import check_spec, nodes_of_buffer, nodes_of_kernel
from ttnn.metal.experimental.hardware import ComputeHardwareConfig, Precision, UnpackMode
from ttnn.metal.experimental.specs import (
    DataflowBufferSpec,
    DFBEndpointType,
    KernelSpec,
    ProgramSpec,
    ScratchpadSpec,
    SemaphoreSpec,
    TensorParameter,
)
from ttnn.metal.program import Program, create_kernel
from ttnn.metal.program_parts import CBHandle, Kernel, KernelConfig, as_cores, as_words, check_count
from ttnn.metal.semaphores import create_semaphore
from ttnn.metal.sources import kernel_from_file, kernel_from_text
from ttnn.tensor.shard_distribution import (
    RUNTIME_PAGE_SIZE,
    RUNTIME_TENSOR_SHAPE,
    Distribution,
    accessor_words,
    distribution_of,
)
from ttnn.tensor.tensor import Tensor

__all__ = [
    "MakeMeshWorkloadFromSpec",
    "MakeMeshWorkloadFromSpecs",
    "MakeProgramFromSpec",
    "make_mesh_workload_from_spec",
    "make_mesh_workload_from_specs",
    "make_program_from_spec",
]

_CALL = "make_program_from_spec"
_NO_FORMAT = DataFormat.Float16_b.value
"""Format of a circular buffer that no compute kernel uses."""


class Specified:
    """A program's specification, its parts, and its next run's arguments."""

    def __init__(self, device: MeshDevice, spec: ProgramSpec) -> None:
        self.device = device
        self.spec = spec
        self.kernels: dict[str, Kernel] = {}
        self.buffer_ids: dict[str, int] = {}
        self.buffers: dict[str, CBHandle] = {}
        self.semaphores: dict[str, int] = {}
        self.scratchpads: dict[str, Buffer] = {}
        self.tensors: dict[str, Tensor] = {}
        """The next run's tensors.

        They exist as long as the program, or until they are replaced.
        """
        self.distributions: dict[str, Distribution | None] = {}
        """Required distributions of tensors with a dynamic shape, except for their shape."""
        self.is_set = False
        """True if a run has arguments."""

    def check_run(self, call: str) -> None:
        """Check that a run has arguments.

        Raises:
            ProgramConfigError: it needs some, and has none.
        """
        if not self.is_set and self.needs_arguments():
            raise ProgramConfigError(
                f"{call}: set the arguments of program {self.spec.name!r} with set_program_run_args"
            )

    def needs_arguments(self) -> bool:
        """Return whether a run needs arguments."""
        return bool(self.spec.tensor_parameters) or any(has_arguments(kernel) for kernel in self.spec.kernels)

    def parameter(self, name: str) -> TensorParameter:
        """Return a tensor parameter."""
        return next(parameter for parameter in self.spec.tensor_parameters if parameter.unique_id == name)


def has_arguments(kernel: KernelSpec) -> bool:
    """Return whether a kernel has runtime arguments of its own."""
    schema, more = kernel.runtime_arg_schema, kernel.advanced_options
    return bool(
        schema.runtime_arg_names
        or schema.common_runtime_arg_names
        or more.num_runtime_varargs
        or more.num_common_runtime_varargs
        or any(more.num_runtime_varargs_per_node.values())
    )


def make_program_from_spec(mesh_device: MeshDevice, spec: ProgramSpec, skip_validation: bool = False) -> Program:
    """Return the program that a specification describes.

    Args:
        mesh_device: Where it is going to run; scratchpads are allocated there.
        spec: The specification. Later changes of it do not change the program.
        skip_validation: Changes nothing: specifications are always checked.

    Raises:
        ArgumentError: a part of another type.
        ProgramConfigError: parts that contradict each other.
        MemoryConfigError, OutOfMemoryError: buffers that the device has no room for.
        UnsupportedError: what this chip does not have.
        KernelError: a source that does not exist.
    """
    if not isinstance(mesh_device, MeshDevice):
        raise ArgumentError(f"{_CALL}: expected a ttnn.MeshDevice, got {mesh_device!r}")
    mesh_device._require_open(_CALL)
    check_spec(spec)
    program = Program()
    made = Specified(mesh_device, spec)
    _number_buffers(made)
    for dfb in spec.dataflow_buffers:
        _add_buffer(program, made, dfb)
    for semaphore in spec.semaphores:
        made.semaphores[semaphore.unique_id] = create_semaphore(
            program, _nodes_of_semaphore(spec, semaphore), semaphore.advanced_options.initial_value
        )
    for pad in spec.scratchpads:
        made.scratchpads[pad.unique_id] = _allocate(made, pad)
    for kernel in spec.kernels:
        made.kernels[kernel.unique_id] = _add_kernel(program, made, kernel)
    program.specified = made
    return program


def make_mesh_workload_from_spec(
    mesh_device: MeshDevice, program_spec: ProgramSpec, skip_validation: bool = False
) -> MeshWorkload:
    """Return a mesh workload with one program; see `make_program_from_spec`."""
    workload = MeshWorkload()
    program = make_program_from_spec(mesh_device, program_spec, skip_validation)
    workload.add_program(MeshCoordinateRange(mesh_device.shape), program)
    return workload


def make_mesh_workload_from_specs(
    mesh_device: MeshDevice, program_specs: Mapping[MeshCoordinateRange, ProgramSpec], skip_validation: bool = False
) -> MeshWorkload:
    """Return a workload with a program per range of chips.

    See `make_program_from_spec`.
    """
    if not isinstance(program_specs, Mapping):
        raise ArgumentError(f"make_mesh_workload_from_specs: expected programs by range, got {program_specs!r}")
    workload = MeshWorkload()
    for device_range, spec in program_specs.items():
        workload.add_program(device_range, make_program_from_spec(mesh_device, spec, skip_validation))
    return workload


# Dataflow buffers.


def _number_buffers(made: Specified) -> None:
    """Assign each dataflow buffer the lowest free circular buffer.

    It is free on all nodes of the buffer.
    """
    count = int(made.device.chip["circular_buffers"])
    nodes = {dfb.unique_id: nodes_of_buffer(made.spec, dfb.unique_id) for dfb in made.spec.dataflow_buffers}
    for name, cores in nodes.items():
        taken = {number for other, number in made.buffer_ids.items() if cores._shared(nodes[other]) is not None}
        free = next((number for number in range(count) if number not in taken), None)
        if free is None:
            raise ProgramConfigError(f"{_CALL}: some node of {cores} has more than {count} dataflow buffers")
        made.buffer_ids[name] = free


def _add_buffer(program: Program, made: Specified, dfb: DataflowBufferSpec) -> None:
    """Add a dataflow buffer, with its aliases, which share its memory."""
    if dfb.unique_id in made.buffers:
        return
    group = [
        other
        for other in made.spec.dataflow_buffers
        if other.unique_id in (dfb.unique_id, *dfb.advanced_options.alias_with)
    ]
    config = CircularBufferConfig(dfb.entry_size * dfb.num_entries)
    for member in group:
        index = made.buffer_ids[member.unique_id]
        config.set_page_size(index, member.entry_size)
        form = _format(member.data_format_metadata)
        config.formats[index] = _NO_FORMAT if form is None else form
        if member.tile_format_metadata is not None:
            config.set_tile_dims(index, member.tile_format_metadata)
    handle = create_circular_buffer(program, nodes_of_buffer(made.spec, dfb.unique_id), config)
    for member in group:
        made.buffers[member.unique_id] = handle


def _format(form: DataFormat | DataType | None) -> int | None:
    return None if form is None else format_code(form)


def _tile(tile: Tile | None) -> tuple[int, int]:
    if tile is None:
        return (32, 32)
    height, width = tile.tile_shape
    return height, width


# Semaphores and scratchpads.


def _nodes_of_semaphore(spec: ProgramSpec, semaphore: SemaphoreSpec) -> CoreRangeSet:
    """Return a semaphore's nodes, and those of kernels that name it.

    These need its address.
    """
    nodes = as_cores(semaphore.target_nodes)
    for kernel in spec.kernels:
        if any(binding.semaphore_spec_name == semaphore.unique_id for binding in kernel.semaphore_bindings):
            nodes = nodes.merge(nodes_of_kernel(spec, kernel.unique_id))
    return nodes


def _allocate(made: Specified, pad: ScratchpadSpec) -> Buffer:
    nodes = CoreRangeSet()
    for kernel in made.spec.kernels:
        if any(binding.scratchpad_spec_name == pad.unique_id for binding in kernel.scratchpad_bindings):
            nodes = nodes.merge(nodes_of_kernel(made.spec, kernel.unique_id))
    count = nodes.num_cores()
    config = ShardedBufferConfig(
        device=made.device,
        size=count * pad.size_per_node,
        page_size=pad.size_per_node,
        tensor_pages=(count, 1),
        shard_pages=(1, 1),
        cores=nodes,
        buffer_type=BufferType.L1,
    )
    return create_buffer(config)


# Kernels.


def _add_kernel(program: Program, made: Specified, kernel: KernelSpec) -> Kernel:
    bindings, compile_args = _bind(made, kernel)
    config = _config(made, kernel, compile_args)
    nodes = nodes_of_kernel(made.spec, kernel.unique_id)
    source: Any = kernel.source
    if isinstance(source, KernelSpec.SourceCode):
        source = kernel_from_text(_CALL, source.code)
    elif isinstance(source, (str, os.PathLike)):
        source = kernel_from_file(_CALL, source)
    elif not callable(source):
        raise ArgumentError(
            f"{_CALL}: kernel {kernel.unique_id!r}: source must be a function, a path or SourceCode, got {source!r}"
        )
    if callable(source):
        source = _with_arguments(kernel.unique_id, source, bindings)
    added = create_kernel(program, source, nodes, config)
    added.name = kernel.unique_id
    added.bindings = bindings
    added.include_paths = tuple(os.fspath(path) for path in kernel.compiler_options.include_paths)
    # Until a run has arguments only the addresses of scratchpads are known.
    added.common_args = [0] * bindings.common_vararg_word
    for binding in kernel.scratchpad_bindings:
        word = bindings.scratchpads[binding.accessor_name].crta_word
        added.common_args[word] = made.scratchpads[binding.scratchpad_spec_name].address()
    check_count(_CALL, added, len(bindings.runtime_args) + len(added.common_args))
    return added


def _with_arguments(name: str, function: Callable[..., object], bindings: KernelBindings) -> Callable[[], object]:
    """Return a kernel with its function's parameters bound by name.

    They are names of its arguments.
    """
    try:
        parameters = list(signature(function).parameters.values())
    except ValueError:
        parameters = []
    if not parameters:
        return function
    known = {*bindings.runtime_args, *bindings.common_runtime_args, *bindings.compile_time_args}
    for parameter in parameters:
        positional = parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        if not positional or (parameter.name not in known and parameter.default is Parameter.empty):
            raise ProgramConfigError(
                f"{_CALL}: kernel {name!r} has a parameter {parameter.name!r}, which its specification does not "
                "name as an argument"
            )
    names = [parameter.name for parameter in parameters if parameter.name in known]

    def kernel() -> object:
        return function(**{name: get_arg(args[name]) for name in names})

    return update_wrapper(kernel, function)


def _config(made: Specified, kernel: KernelSpec, compile_args: list[int]) -> KernelConfig:
    options: dict[str, Any] = {
        "compile_args": compile_args,
        "defines": dict(kernel.compiler_options.defines),
        "opt_level": kernel.compiler_options.opt_level,
    }
    config = kernel.hw_config
    if isinstance(config, ComputeHardwareConfig):
        modes = [UnpackToDestMode.Default] * int(made.device.chip["circular_buffers"])
        for name, mode in config.unpack_modes.items():
            if mode is UnpackMode.UnpackToDest:
                modes[made.buffer_ids[name]] = UnpackToDestMode.UnpackToDestFp32
        more = config.config_1xx or ComputeHardwareConfig.Compute1XXConfig()
        return ComputeConfig(
            math_fidelity=config.fpu_math_fidelity,
            fp32_dest_acc_en=config.enable_32_bit_dest,
            dst_full_sync_en=not config.double_buffer_dest,
            unpack_to_dest_mode=modes,
            bfp8_pack_precise=more.bfp_pack_precision_mode is Precision.Precise,
            math_approx_mode=config.sfpu_precision_mode is Precision.Approximate,
            **options,
        )
    assert config.config_1xx is not None
    place = config.config_1xx
    return DataMovementConfig(processor=place.processor, noc=place.noc, noc_mode=place.noc_mode, **options)


def _bind(made: Specified, kernel: KernelSpec) -> tuple[KernelBindings, list[int]]:
    """Return what a kernel may name, and its compile-time arguments."""
    schema, more = kernel.runtime_arg_schema, kernel.advanced_options
    bindings = KernelBindings(
        runtime_args=tuple(schema.runtime_arg_names), common_runtime_args=tuple(schema.common_runtime_arg_names)
    )
    call = f"{_CALL}: kernel {kernel.unique_id!r}: compile_time_args"
    values = as_words(call, kernel.compile_time_args.values())
    bindings.compile_time_args = dict(zip(kernel.compile_time_args, values, strict=True))
    buffers = {dfb.unique_id: dfb for dfb in made.spec.dataflow_buffers}
    for end in kernel.dfb_bindings:
        dfb = buffers[end.dfb_spec_name]
        before = bindings.dataflow_buffers.get(end.accessor_name, BufferToken(0))
        bindings.dataflow_buffers[end.accessor_name] = BufferToken(
            made.buffer_ids[end.dfb_spec_name],
            _format(dfb.data_format_metadata),
            _tile(dfb.tile_format_metadata),
            before.producer or end.endpoint_type is DFBEndpointType.PRODUCER,
            before.consumer or end.endpoint_type is DFBEndpointType.CONSUMER,
        )
    for semaphore in kernel.semaphore_bindings:
        bindings.semaphores[semaphore.accessor_name] = made.semaphores[semaphore.semaphore_spec_name]
    word = len(bindings.common_runtime_args)
    compile_args: list[int] = []
    for tensor in kernel.tensor_bindings:
        parameter = made.parameter(tensor.tensor_parameter_name)
        words, runtime = _accessor(made, parameter)
        spec = parameter.spec
        code = DataFormat(format_code(spec.dtype)).value
        bindings.tensors[tensor.accessor_name] = TensorToken(len(compile_args), word, code, _tile(spec.tile))
        compile_args += words
        word += 1 + runtime
    pads = {pad.unique_id: pad for pad in made.spec.scratchpads}
    for binding in kernel.scratchpad_bindings:
        pad = pads[binding.scratchpad_spec_name]
        form, tile = _format(pad.data_format_metadata), _tile(pad.tile_format_metadata)
        bindings.scratchpads[binding.accessor_name] = ScratchpadToken(word, pad.size_per_node, form, tile)
        word += 1
    bindings.common_vararg_word = word
    bindings.compile_time_vararg_word = len(compile_args)
    bindings.num_compile_time_varargs = len(more.compile_time_varargs)
    compile_args += as_words(f"{_CALL}: kernel {kernel.unique_id!r}: compile_time_varargs", more.compile_time_varargs)
    bindings.tensor_sequences = {
        sequence.sequence_name: tuple(sequence.members) for sequence in more.tensor_binding_sequences
    }
    return bindings, compile_args


# Tensors.


def _accessor(made: Specified, parameter: TensorParameter) -> tuple[list[int], int]:
    """Return a tensor accessor's compile-time words and words per run."""
    spec = parameter.spec
    shards = made.distributions.setdefault(parameter.unique_id, distribution_of(spec, made.device))
    runtime = runtime_fields(parameter)
    words = accessor_words(is_dram(spec), aligned_page_bytes(made.device, spec), shards, runtime)
    if runtime & RUNTIME_TENSOR_SHAPE:
        assert shards is not None
        return words, len(shards.tensor)
    return words, int(bool(runtime))


def runtime_fields(parameter: TensorParameter) -> int:
    """Return the accessor's field bits set per run.

    A dynamic shape sets them too.
    """
    spec, relaxed = parameter.spec, parameter.relaxations
    if not relaxed.dynamic_tensor_shape:
        return 0
    if spec.memory_config.is_sharded():
        return RUNTIME_TENSOR_SHAPE
    return RUNTIME_PAGE_SIZE if spec.layout is Layout.ROW_MAJOR and not relaxed.match_page_size else 0


def is_dram(spec: TensorSpec) -> bool:
    """Return True if a tensor is in DRAM."""
    return spec.memory_config.buffer_type is BufferType.DRAM


def aligned_page_bytes(device: MeshDevice, spec: TensorSpec) -> int:
    """Return the bytes between a tensor's pages in a bank."""
    alignment = int(device.chip["dram_alignment" if is_dram(spec) else "l1_alignment"])
    return -(-spec.page_bytes // alignment) * alignment


MakeProgramFromSpec = make_program_from_spec
MakeMeshWorkloadFromSpec = make_mesh_workload_from_spec
MakeMeshWorkloadFromSpecs = make_mesh_workload_from_specs

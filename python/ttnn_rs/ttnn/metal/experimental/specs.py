"""Metal 2.0 specifications: a program and its parts, by name.

Names are strings. Every class is data; `make_program_from_spec` checks it and makes a program of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet
from ttnn.base.data_format import DataFormat
from ttnn.base.enums import DataType
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.metal.configs import KernelBuildOptLevel
from ttnn.metal.experimental.hardware import ComputeHardwareConfig, DataMovementHardwareConfig
from ttnn.metal.program_parts import CoreSpec

__all__ = [
    "AllConsumerOf",
    "BlockedConsumerOf",
    "ConsumerOf",
    "DFBAccessPattern",
    "DFBAdvancedOptions",
    "DFBBinding",
    "DFBEndpointType",
    "DataflowBufferSpec",
    "KernelAdvancedOptions",
    "KernelSpec",
    "NodeCoord",
    "NodeRange",
    "NodeRangeSet",
    "ProducerOf",
    "ProgramSpec",
    "ScratchpadBinding",
    "ScratchpadSpec",
    "SemaphoreAdvancedOptions",
    "SemaphoreBinding",
    "SemaphoreSpec",
    "StridedConsumerOf",
    "TensorBinding",
    "TensorParameter",
    "TensorSpecRelaxations",
    "WorkUnitSpec",
    "all_consumer_of",
    "blocked_consumer_of",
    "consumer_of",
    "producer_of",
    "strided_consumer_of",
]

NodeCoord = CoreCoord
NodeRange = CoreRange
NodeRangeSet = CoreRangeSet


@dataclass(kw_only=True)
class KernelAdvancedOptions:
    """Rarely used kernel options.

    Attributes:
        num_runtime_varargs: Runtime arguments without names on each core; `get_vararg(i)` reads them.
        num_common_runtime_varargs: The same for those that all cores share; `get_common_vararg(i)`.
        num_runtime_varargs_per_node: Another number on some nodes.
        compile_time_varargs: Values of compile-time arguments without names; `get_compile_time_vararg(i)`.
        tensor_binding_sequences: Tensor arguments of the kernel by position.
        prefetcher_pipe_bindings: Only empty.
    """

    @dataclass(kw_only=True)
    class TensorBindingSequence:
        """Bound tensors in an order: `tensor.<sequence_name>` is a tuple of them."""

        sequence_name: str
        members: Sequence[str] = ()

    num_runtime_varargs: int = 0
    num_common_runtime_varargs: int = 0
    num_runtime_varargs_per_node: Mapping[CoreCoord, int] = field(default_factory=dict)
    compile_time_varargs: Sequence[int] = ()
    tensor_binding_sequences: Sequence[TensorBindingSequence] = ()
    prefetcher_pipe_bindings: Sequence[object] = ()


@dataclass(kw_only=True)
class KernelSpec:
    """A kernel's source, bindings and configuration.

    It runs on the nodes of its work units.

    Attributes:
        unique_id: Its name in the program.
        source: A Python function; the path of a file; or `KernelSpec.SourceCode`. The parameters of a function are
            names of its arguments.
        num_threads: Only 1.
        compiler_options: Defines; folders of headers.
        dfb_bindings: Dataflow buffers; at most one producer and one consumer binding for each.
        semaphore_bindings: Semaphores; none for compute kernels.
        scratchpad_bindings: Scratchpads.
        tensor_bindings: Tensors.
        compile_time_args: Values of compile-time arguments by name.
        runtime_arg_schema: Names of runtime arguments; `ProgramRunArgs` has their values.
        hw_config: `DataMovementHardwareConfig` or `ComputeHardwareConfig`.
        advanced_options: Arguments without names.
    """

    @dataclass
    class SourceCode:
        """A kernel's source as a text."""

        code: str

    @dataclass(kw_only=True)
    class CompilerOptions:
        """Compiler options.

        `defines` are also what `get_define` reads in Python kernels.
        """

        include_paths: Sequence[str | os.PathLike[str]] = ()
        defines: Mapping[str, str] = field(default_factory=dict)
        opt_level: KernelBuildOptLevel = KernelBuildOptLevel.O2

    @dataclass(kw_only=True)
    class DFBBinding:
        """One end of a dataflow buffer: `DataflowBuffer(dfb.<accessor_name>)`.

        Attributes:
            dfb_spec_name: The buffer.
            accessor_name: Its name in the kernel.
            endpoint_type: Whether the kernel fills it or empties it.
            access_pattern: `STRIDED` or `ALL`, which are the same for one thread.
            block_size: Only 0: `BLOCKED` access is not implemented, officially either.
        """

        class EndpointType(Enum):
            """The end of the buffer that a kernel has."""

            PRODUCER = 0
            CONSUMER = 1

        class AccessPattern(Enum):
            """Sharing of entries among the threads of a kernel."""

            STRIDED = 0
            ALL = 1
            BLOCKED = 2

        dfb_spec_name: str
        accessor_name: str
        endpoint_type: EndpointType
        access_pattern: AccessPattern = AccessPattern.STRIDED
        block_size: int = 0

    @dataclass(kw_only=True)
    class SemaphoreBinding:
        """A semaphore: `Semaphore(sem.<accessor_name>)`."""

        semaphore_spec_name: str
        accessor_name: str

    @dataclass(kw_only=True)
    class ScratchpadBinding:
        """A scratchpad: `Scratchpad(scratch.<accessor_name>)`."""

        scratchpad_spec_name: str
        accessor_name: str

    @dataclass(kw_only=True)
    class TensorBinding:
        """A tensor: `TensorAccessor(tensor.<accessor_name>)`."""

        tensor_parameter_name: str
        accessor_name: str

    @dataclass(kw_only=True)
    class RuntimeArgSchema:
        """Names of runtime arguments: `get_arg(args.<name>)`."""

        runtime_arg_names: Sequence[str] = ()
        common_runtime_arg_names: Sequence[str] = ()

    unique_id: str
    source: Callable[..., object] | str | os.PathLike[str] | SourceCode
    num_threads: int = 1
    compiler_options: CompilerOptions = field(default_factory=CompilerOptions)
    dfb_bindings: list[DFBBinding] = field(default_factory=list)
    semaphore_bindings: list[SemaphoreBinding] = field(default_factory=list)
    scratchpad_bindings: list[ScratchpadBinding] = field(default_factory=list)
    tensor_bindings: list[TensorBinding] = field(default_factory=list)
    compile_time_args: Mapping[str, int] = field(default_factory=dict)
    runtime_arg_schema: RuntimeArgSchema = field(default_factory=RuntimeArgSchema)
    hw_config: DataMovementHardwareConfig | ComputeHardwareConfig
    advanced_options: KernelAdvancedOptions = field(default_factory=KernelAdvancedOptions)

    def is_data_movement_kernel(self) -> bool:
        """Return whether it moves data."""
        return isinstance(self.hw_config, DataMovementHardwareConfig)

    def is_compute_kernel(self) -> bool:
        """Return whether it computes."""
        return isinstance(self.hw_config, ComputeHardwareConfig)


DFBBinding = KernelSpec.DFBBinding
DFBEndpointType = KernelSpec.DFBBinding.EndpointType
DFBAccessPattern = KernelSpec.DFBBinding.AccessPattern
SemaphoreBinding = KernelSpec.SemaphoreBinding
ScratchpadBinding = KernelSpec.ScratchpadBinding
TensorBinding = KernelSpec.TensorBinding


def producer_of(dfb_spec_name: str, accessor_name: str) -> DFBBinding:
    """Return the binding of a kernel that fills a dataflow buffer."""
    return DFBBinding(dfb_spec_name=dfb_spec_name, accessor_name=accessor_name, endpoint_type=DFBEndpointType.PRODUCER)


def consumer_of(dfb_spec_name: str, accessor_name: str) -> DFBBinding:
    """Return the binding of a kernel that empties a dataflow buffer."""
    return DFBBinding(dfb_spec_name=dfb_spec_name, accessor_name=accessor_name, endpoint_type=DFBEndpointType.CONSUMER)


def all_consumer_of(dfb_spec_name: str, accessor_name: str) -> DFBBinding:
    """Return a kernel binding whose threads each read every entry."""
    binding = consumer_of(dfb_spec_name, accessor_name)
    binding.access_pattern = DFBAccessPattern.ALL
    return binding


def blocked_consumer_of(dfb_spec_name: str, accessor_name: str, block_size: int) -> DFBBinding:
    """Return a kernel binding whose threads read blocks (unsupported in programs)."""
    binding = consumer_of(dfb_spec_name, accessor_name)
    binding.access_pattern, binding.block_size = DFBAccessPattern.BLOCKED, block_size
    return binding


strided_consumer_of = consumer_of
ProducerOf = producer_of
ConsumerOf = StridedConsumerOf = consumer_of
AllConsumerOf = all_consumer_of
BlockedConsumerOf = blocked_consumer_of


@dataclass(kw_only=True)
class DFBAdvancedOptions:
    """Rarely used dataflow buffer options.

    Attributes:
        alias_with: Buffers that share the memory; all name each other and have the same size and nodes.
        allow_instance_multi_binding: Several producers or consumers on one node.
        prefetcher_pipe_relays: Only empty.
    """

    alias_with: Sequence[str] = ()
    allow_instance_multi_binding: bool = False
    prefetcher_pipe_relays: Sequence[object] = ()


@dataclass(kw_only=True)
class DataflowBufferSpec:
    """A producer-consumer buffer on one node: a circular buffer.

    Attributes:
        unique_id: Its name in the program.
        entry_size: Bytes of an entry.
        num_entries: Entries.
        data_format_metadata: Format of datums; compute kernels need it.
        tile_format_metadata: Tile; 32x32 without.
        borrowed_from: The L1 tensor whose memory it uses.
        advanced_options: Aliases.
    """

    unique_id: str
    entry_size: int = 0
    num_entries: int = 0
    data_format_metadata: DataFormat | DataType | None = None
    tile_format_metadata: Tile | None = None
    borrowed_from: str | None = None
    advanced_options: DFBAdvancedOptions = field(default_factory=DFBAdvancedOptions)


@dataclass(kw_only=True)
class SemaphoreAdvancedOptions:
    """Rarely used semaphore options: an initial value (deprecated officially)."""

    initial_value: int = 0


@dataclass(kw_only=True)
class SemaphoreSpec:
    """A semaphore on some nodes, starting every run at 0."""

    unique_id: str
    target_nodes: CoreSpec
    advanced_options: SemaphoreAdvancedOptions = field(default_factory=SemaphoreAdvancedOptions)


@dataclass(kw_only=True)
class ScratchpadSpec:
    """L1 memory of one kernel per node, allocated with the program.

    Attributes:
        unique_id: Its name in the program.
        size_per_node: Bytes.
        data_format_metadata: Format of datums, for the kernel to ask.
        tile_format_metadata: Tile; 32x32 without.
    """

    unique_id: str
    size_per_node: int = 0
    data_format_metadata: DataFormat | DataType | None = None
    tile_format_metadata: Tile | None = None


@dataclass(kw_only=True)
class TensorSpecRelaxations:
    """Allowed differences of a run's tensor from its parameter.

    Default: none.

    Attributes:
        match_padded_shape_only: The logical shape may differ, the padded one not.
        dynamic_tensor_shape: Both may; the rank not.
        relax_logical_rank: With `dynamic_tensor_shape`: the rank too.
        match_page_size: With `dynamic_tensor_shape`: the bytes of a page may not.
    """

    match_padded_shape_only: bool = False
    dynamic_tensor_shape: bool = False
    relax_logical_rank: bool = False
    match_page_size: bool = False


@dataclass(kw_only=True)
class TensorParameter:
    """A tensor argument of runs: its name and its specification."""

    unique_id: str
    spec: TensorSpec
    relaxations: TensorSpecRelaxations = field(default_factory=TensorSpecRelaxations)


@dataclass(kw_only=True)
class WorkUnitSpec:
    """Kernels that run together, and the nodes that they run on."""

    name: str = ""
    kernels: Sequence[str] = ()
    target_nodes: CoreSpec


@dataclass(kw_only=True)
class ProgramSpec:
    """A program: what does not change from run to run.

    Attributes:
        name: For messages.
        kernels: Its kernels.
        dataflow_buffers: Buffers between kernels of a node.
        cross_node_dataflow_buffers: Only empty, officially too.
        semaphores: Semaphores.
        scratchpads: Memory of kernels.
        tensor_parameters: Tensors.
        work_units: Which kernels run where; the nodes of two do not overlap.
    """

    name: str = ""
    kernels: list[KernelSpec] = field(default_factory=list)
    dataflow_buffers: list[DataflowBufferSpec] = field(default_factory=list)
    cross_node_dataflow_buffers: list[object] = field(default_factory=list)
    semaphores: list[SemaphoreSpec] = field(default_factory=list)
    scratchpads: list[ScratchpadSpec] = field(default_factory=list)
    tensor_parameters: list[TensorParameter] = field(default_factory=list)
    work_units: list[WorkUnitSpec] = field(default_factory=list)

"""Specifications that contradict themselves are refused, with the part that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from specs import Schema, binding, copying, moving, parameters, unit

import ttnn
from ttnn import metal
from ttnn.base.exceptions import ArgumentError, ProgramConfigError, UnsupportedError

Spec = metal.ProgramSpec
CASES: list[Any] = []
TENSOR = ttnn.TensorSpec((32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT)


def refused(text: str, error: type[Exception] = ProgramConfigError) -> Callable[[Callable[[Spec], None]], None]:
    """Register a change of a correct specification."""

    def register(change: Callable[[Spec], None]) -> None:
        CASES.append(pytest.param(change, error, text, id=change.__name__))

    return register


def compute(spec: Spec, **more: Any) -> metal.KernelSpec:
    """Add a compute kernel to the work unit."""
    kernel = metal.KernelSpec(unique_id="compute", source=lambda: None, hw_config=metal.ComputeHardwareConfig(), **more)
    spec.kernels.append(kernel)
    spec.work_units = [unit([kernel.unique_id for kernel in spec.kernels])]
    return kernel


def buffer(spec: Spec, name: str = "more", **more: Any) -> metal.DataflowBufferSpec:
    """Add a dataflow buffer that the compute kernel fills and empties."""
    added = metal.DataflowBufferSpec(**({"unique_id": name, "entry_size": 4096, "num_entries": 1} | more))
    spec.dataflow_buffers.append(added)
    return added


def both_ends(name: str) -> list[metal.DFBBinding]:
    return [metal.ProducerOf(name, name), metal.ConsumerOf(name, name)]


# Parts.


@refused(r"expected a ProgramSpec|kernels must hold KernelSpec, got str", ArgumentError)
def a_text_as_kernel(spec: Spec) -> None:
    spec.kernels.append("reader")  # type: ignore[arg-type]


@refused(r"dataflow_buffers must be a list of DataflowBufferSpec", ArgumentError)
def buffers_by_name(spec: Spec) -> None:
    spec.dataflow_buffers = {"pages": spec.dataflow_buffers[0]}  # type: ignore[assignment]


@refused(r"a name in kernels must be a text, got ''", ArgumentError)
def no_name(spec: Spec) -> None:
    spec.kernels[0].unique_id = ""


@refused(r"no kernel[\s\S]*A ProgramSpec must have at least one KernelSpec")
def no_kernels(spec: Spec) -> None:
    spec.kernels.clear()


@refused(r"kernels has two parts of the name 'writer'[\s\S]*Duplicate KernelSpec name 'writer'")
def two_kernels_of_one_name(spec: Spec) -> None:
    spec.kernels[0].unique_id = "writer"


@refused(r"Duplicate DFB name 'pages'")
def two_buffers_of_one_name(spec: Spec) -> None:
    spec.dataflow_buffers *= 2


@refused(r"Duplicate SemaphoreSpec name 's'")
def two_semaphores_of_one_name(spec: Spec) -> None:
    spec.semaphores = [metal.SemaphoreSpec(unique_id="s", target_nodes=(0, 0))] * 2


@refused(r"Duplicate TensorParameter name 'source'")
def two_tensors_of_one_name(spec: Spec) -> None:
    spec.tensor_parameters[1].unique_id = "source"


@refused("cross-node dataflow buffers are not implemented", UnsupportedError)
def cross_node_buffers(spec: Spec) -> None:
    spec.cross_node_dataflow_buffers.append(object())


@refused(r"tensor parameter 'source': spec must be a ttnn\.TensorSpec", ArgumentError)
def a_shape_as_specification(spec: Spec) -> None:
    spec.tensor_parameters[0].spec = (32, 32)  # type: ignore[assignment]


# Buffers and scratchpads.


@refused("dataflow buffer 'pages' has a size of 0; it must be greater than 0")
def no_bytes(spec: Spec) -> None:
    spec.dataflow_buffers[0].entry_size = 0


@refused("dataflow buffer 'pages' has a size of 0")
def no_entries(spec: Spec) -> None:
    spec.dataflow_buffers[0].num_entries = 0


@refused("'pages': sizes must be integers, got 2.5", ArgumentError)
def half_entries(spec: Spec) -> None:
    spec.dataflow_buffers[0].num_entries = 2.5  # type: ignore[assignment]


@refused("'pages' has 65536 entries, at most 65535 are counted")
def too_many_entries(spec: Spec) -> None:
    spec.dataflow_buffers[0].num_entries = 65536


@refused("'pages' has tile_format_metadata, and needs data_format_metadata too")
def a_tile_of_no_format(spec: Spec) -> None:
    spec.dataflow_buffers[0].tile_format_metadata = ttnn.Tile((16, 32))


@refused("data_format_metadata must be a DataFormat, got 'bf16'", ArgumentError)
def a_text_as_format(spec: Spec) -> None:
    spec.dataflow_buffers[0].data_format_metadata = "bf16"  # type: ignore[assignment]


@refused(r"tile_format_metadata must be a ttnn\.Tile", ArgumentError)
def a_tuple_as_tile(spec: Spec) -> None:
    spec.dataflow_buffers[0].data_format_metadata = ttnn.bfloat16
    spec.dataflow_buffers[0].tile_format_metadata = (32, 32)  # type: ignore[assignment]


@refused("borrows from 'tensor', which is not a tensor parameter")
def memory_of_nobody(spec: Spec) -> None:
    spec.dataflow_buffers[0].borrowed_from = "tensor"


@refused("borrows from 'source', which is not in L1")
def memory_in_dram(spec: Spec) -> None:
    spec.dataflow_buffers[0].borrowed_from = "source"


@refused("no kernel binds 'spare' of dataflow_buffers[\\s\\S]*DFB 'spare' is defined but not bound by any kernel")
def a_buffer_of_nobody(spec: Spec) -> None:
    buffer(spec, "spare")


@refused("no kernel binds 'pad' of scratchpads")
def a_scratchpad_of_nobody(spec: Spec) -> None:
    spec.scratchpads.append(metal.ScratchpadSpec(unique_id="pad", size_per_node=16))


@refused("scratchpad 'pad' has a size of 0")
def an_empty_scratchpad(spec: Spec) -> None:
    spec.scratchpads.append(metal.ScratchpadSpec(unique_id="pad"))


@refused("no kernel binds 'spare' of tensor_parameters")
def a_tensor_of_nobody(spec: Spec) -> None:
    spec.tensor_parameters += parameters(spare=TENSOR)


@refused("prefetcher pipes are not modelled", UnsupportedError)
def relays(spec: Spec) -> None:
    spec.dataflow_buffers[0].advanced_options.prefetcher_pipe_relays = ["pipe"]


# Kernels.


@refused("kernel 'reader' has 2 threads; kernels of this chip have one")
def threads(spec: Spec) -> None:
    spec.kernels[0].num_threads = 2


@refused("hw_config must be a DataMovementHardwareConfig or ComputeHardwareConfig", ArgumentError)
def a_classic_configuration(spec: Spec) -> None:
    spec.kernels[0].hw_config = metal.DataMovementConfig()  # type: ignore[assignment]


@refused("kernel 'reader': this chip needs config_1xx")
def settings_of_later_chips(spec: Spec) -> None:
    spec.kernels[0].hw_config = metal.DataMovementHardwareConfig()


@refused("compute kernel 'compute' binds semaphores")
def semaphores_of_compute_kernels(spec: Spec) -> None:
    spec.semaphores = [metal.SemaphoreSpec(unique_id="s", target_nodes=(0, 0))]
    compute(spec, semaphore_bindings=[metal.SemaphoreBinding(semaphore_spec_name="s", accessor_name="s")])


@refused("no vector extension", UnsupportedError)
def vector_extension(spec: Spec) -> None:
    more = metal.ComputeHardwareConfig.Compute1XXConfig(enable_trisc2_rvv=True)
    compute(spec).hw_config = metal.ComputeHardwareConfig(config_1xx=more)


@refused("source must be a function, a path or SourceCode, got 3", ArgumentError)
def a_number_as_source(spec: Spec) -> None:
    spec.kernels[0].source = 3  # type: ignore[assignment]


@refused("kernel 'reader' has a parameter 'count', which its specification does not name as an argument")
def a_parameter_of_no_argument(spec: Spec) -> None:
    spec.kernels[0].runtime_arg_schema = Schema(runtime_arg_names=["first"])


@refused(
    r"kernel 'reader': named RTA name '2nd' is not an identifier[\s\S]*KernelSpec 'reader' named RTA name '2nd' is not"
)
def a_name_that_is_none(spec: Spec) -> None:
    spec.kernels[0].runtime_arg_schema = Schema(runtime_arg_names=["2nd"])


@refused("named CTA name 'double' is not an identifier")
def a_keyword(spec: Spec) -> None:
    spec.kernels[0].compile_time_args = {"double": 1}


@refused(r"two arguments of the name 'first'[\s\S]*'first' is declared as both a named RTA and a named CTA\.")
def two_arguments_of_one_name(spec: Spec) -> None:
    spec.kernels[0].compile_time_args = {"first": 1}


@refused("kernel 'reader' binds tensor accessor 'source' twice")
def two_tensors_of_one_accessor(spec: Spec) -> None:
    spec.kernels[0].tensor_bindings.append(binding("target", "source"))


@refused("kernel 'reader' binds semaphore 's' twice")
def a_semaphore_twice(spec: Spec) -> None:
    spec.semaphores = [metal.SemaphoreSpec(unique_id="s", target_nodes=(0, 0))]
    spec.kernels[0].semaphore_bindings = [
        metal.SemaphoreBinding(semaphore_spec_name="s", accessor_name=name) for name in ("a", "b")
    ]


@refused("kernel 'reader' binds dataflow buffer 'pages' twice as PRODUCER")
def an_end_twice(spec: Spec) -> None:
    spec.kernels[0].dfb_bindings.append(metal.ProducerOf("pages", "again"))


@refused("kernel 'reader' has two dataflow buffers of the name 'out'")
def two_buffers_of_one_accessor(spec: Spec) -> None:
    spec.kernels[0].dfb_bindings.append(metal.ConsumerOf("other", "out"))


@refused("the producer of dataflow buffer 'pages' must be STRIDED")
def a_producer_of_all(spec: Spec) -> None:
    spec.kernels[0].dfb_bindings[0].access_pattern = metal.DFBAccessPattern.ALL


@refused("BLOCKED access is not implemented", UnsupportedError)
def blocks(spec: Spec) -> None:
    spec.kernels[1].dfb_bindings = [metal.BlockedConsumerOf("pages", "in", 2)]


@refused("prefetcher pipes are not modelled", UnsupportedError)
def pipes(spec: Spec) -> None:
    spec.kernels[0].advanced_options.prefetcher_pipe_bindings = ["pipe"]


@refused("'source' is a tensor and a sequence of tensors")
def a_sequence_called_like_a_tensor(spec: Spec) -> None:
    sequence = metal.KernelAdvancedOptions.TensorBindingSequence(sequence_name="source")
    spec.kernels[0].advanced_options.tensor_binding_sequences = [sequence]


@refused("sequence 'all' names tensor 'target', which the kernel does not bind")
def a_sequence_of_strangers(spec: Spec) -> None:
    sequence = metal.KernelAdvancedOptions.TensorBindingSequence(sequence_name="all", members=["target"])
    spec.kernels[0].advanced_options.tensor_binding_sequences = [sequence]


@refused("kernel 'reader' binds dataflow buffer 'never', which the program does not have")
def a_buffer_that_is_not_there(spec: Spec) -> None:
    spec.kernels[0].dfb_bindings.append(metal.ConsumerOf("never", "never"))


@refused("kernel 'reader' binds scratchpad 'never', which the program does not have")
def a_scratchpad_that_is_not_there(spec: Spec) -> None:
    spec.kernels[0].scratchpad_bindings = [metal.ScratchpadBinding(scratchpad_spec_name="never", accessor_name="x")]


@refused("kernel 'reader' binds tensor parameter 'never', which the program does not have")
def a_tensor_that_is_not_there(spec: Spec) -> None:
    spec.kernels[0].tensor_bindings.append(binding("never", "x"))


@refused("kernel 'reader' binds semaphore 'never', which the program does not have")
def a_semaphore_that_is_not_there(spec: Spec) -> None:
    spec.kernels[0].semaphore_bindings = [metal.SemaphoreBinding(semaphore_spec_name="never", accessor_name="x")]


@refused("compute_time_args|argument 0 must be a 32-bit integer, got 'five'", Exception)
def a_text_as_value(spec: Spec) -> None:
    spec.kernels[0].compile_time_args = {"five": "five"}  # type: ignore[dict-item]


# Compute kernels.


@refused("compute kernel 'compute' binds dataflow buffer 'more', which needs data_format_metadata")
def a_buffer_of_no_format(spec: Spec) -> None:
    buffer(spec)
    compute(spec, dfb_bindings=both_ends("more"))


@refused("unpack_modes names 'pages', which the kernel does not bind")
def a_mode_of_another_buffer(spec: Spec) -> None:
    compute(spec).hw_config = metal.ComputeHardwareConfig(unpack_modes={"pages": metal.UnpackMode.UnpackToSrc})


@refused("UnpackToDest of 'more' needs enable_32_bit_dest")
def wide_datums_in_a_narrow_dst(spec: Spec) -> None:
    buffer(spec, data_format_metadata=ttnn.float32)
    kernel = compute(spec, dfb_bindings=both_ends("more"))
    kernel.hw_config = metal.ComputeHardwareConfig(unpack_modes={"more": metal.UnpackMode.UnpackToDest})


@refused("unpack_modes needs an entry for 'more': with enable_32_bit_dest, float32 has no default")
def no_mode(spec: Spec) -> None:
    buffer(spec, data_format_metadata=ttnn.float32)
    kernel = compute(spec, dfb_bindings=both_ends("more"))
    kernel.hw_config = metal.ComputeHardwareConfig(enable_32_bit_dest=True)


# Work units and ends.


@refused("work_units must hold WorkUnitSpec", ArgumentError)
def nodes_as_work_unit(spec: Spec) -> None:
    spec.work_units = [metal.CoreCoord(0, 0)]  # type: ignore[list-item]


@refused(r"no work unit lists kernel 'reader'[\s\S]*Kernel 'reader' is not referenced by any WorkUnitSpec")
def no_work_unit(spec: Spec) -> None:
    spec.work_units = []


@refused("work unit 'unit' has no kernel")
def an_empty_work_unit(spec: Spec) -> None:
    spec.work_units.append(unit([], (1, 1)))


@refused("work unit 'unit' has no nodes")
def a_work_unit_nowhere(spec: Spec) -> None:
    spec.work_units[0].target_nodes = metal.CoreRangeSet()


@refused(r"lists kernel 'never'[\s\S]*WorkUnitSpec 'unit' references unknown kernel 'never'")
def a_kernel_that_is_not_there(spec: Spec) -> None:
    spec.work_units = [unit(["reader", "writer", "never"])]


@refused("lists a kernel twice")
def a_kernel_twice(spec: Spec) -> None:
    spec.work_units = [unit(["reader", "writer", "writer"])]


@refused(r"both have node 0-0[\s\S]*overlap in target nodes")
def nodes_twice(spec: Spec) -> None:
    spec.work_units *= 2


@refused("work unit 'unit' has 2 compute kernels, a node has room for one")
def two_compute_kernels(spec: Spec) -> None:
    compute(spec).unique_id = "another"
    compute(spec)


@refused("work unit 'unit' has 3 data-movement kernels, a node has room for two")
def three_data_movement_kernels(spec: Spec) -> None:
    spec.kernels.append(moving("third", lambda: None))
    spec.work_units = [unit(["reader", "writer", "third"])]


def settings(spec: Spec, **changes: Any) -> None:
    config = spec.kernels[1].hw_config
    assert isinstance(config, metal.DataMovementHardwareConfig)
    for name, value in changes.items():
        setattr(config.config_1xx, name, value)


@refused("kernels 'reader' and 'writer' both use DataMovementProcessor")
def one_processor(spec: Spec) -> None:
    settings(spec, processor=metal.DataMovementProcessor.RISCV_1)


@refused("kernel 'writer': this chip has no processor")
def a_processor_of_later_chips(spec: Spec) -> None:
    settings(spec, processor=metal.DataMovementProcessor.RISCV_5)


@refused("kernels 'reader' and 'writer' both use NOC")
def one_network(spec: Spec) -> None:
    settings(spec, noc=metal.NOC_0)


@refused("kernels 'reader' and 'writer' differ in noc_mode")
def two_modes(spec: Spec) -> None:
    settings(spec, noc_mode=ttnn.NOC_MODE.DM_DYNAMIC_NOC)


@refused("kernels 'reader' and 'writer' bind scratchpad 'pad', which belongs to one")
def a_shared_scratchpad(spec: Spec) -> None:
    spec.scratchpads = [metal.ScratchpadSpec(unique_id="pad", size_per_node=16)]
    for kernel in spec.kernels:
        kernel.scratchpad_bindings = [metal.ScratchpadBinding(scratchpad_spec_name="pad", accessor_name="pad")]


@refused("in work unit 'unit' dataflow buffer 'pages' has 0 kernels as CONSUMER, it needs one")
def no_consumer(spec: Spec) -> None:
    spec.kernels[1].dfb_bindings.clear()


@refused("in work unit 'unit' dataflow buffer 'pages' has 2 kernels as PRODUCER, it needs one")
def two_producers(spec: Spec) -> None:
    spec.kernels[1].dfb_bindings.append(metal.ProducerOf("pages", "back"))


@refused("the PRODUCER kernels of dataflow buffer 'pages' run on different processors")
def producers_on_two_processors(spec: Spec) -> None:
    spec.kernels.append(moving("far", lambda: None, reader=False, dfb_bindings=both_ends("pages")))
    spec.kernels[1].hw_config = metal.create_writer_datamovement_config()
    spec.work_units.append(unit(["far"], (1, 1), "far"))


@refused("the PRODUCER kernels of dataflow buffer 'pages' differ in kind or access pattern")
def producers_of_two_kinds(spec: Spec) -> None:
    spec.dataflow_buffers[0].data_format_metadata = ttnn.bfloat16
    compute(spec, dfb_bindings=both_ends("pages"))
    spec.work_units = [unit(["reader", "writer"]), unit(["compute"], (1, 1), "far")]


# Aliases.


def aliases(spec: Spec, *names: str, **sizes: int) -> None:
    for name, others in zip(("one", "two"), names, strict=True):
        options = metal.DFBAdvancedOptions(alias_with=others.split())
        buffer(
            spec, name, entry_size=sizes.get(name, 4096), data_format_metadata=ttnn.bfloat16, advanced_options=options
        )
    compute(spec, dfb_bindings=[*both_ends("one"), *both_ends("two")])


@refused("dataflow buffer 'one' has the alias 'never', which the program does not have")
def an_alias_that_is_not_there(spec: Spec) -> None:
    aliases(spec, "never", "")


@refused("dataflow buffers 'one' and 'two' must name each other and the same aliases")
def one_sided_aliases(spec: Spec) -> None:
    aliases(spec, "two", "")


@refused("dataflow buffers 'one' and 'two' are aliases and differ in size")
def aliases_of_two_sizes(spec: Spec) -> None:
    aliases(spec, "two", "one", two=2048)


@refused("dataflow buffers 'one' and 'two' are aliases on different nodes")
def aliases_on_two_nodes(spec: Spec) -> None:
    aliases(spec, "two", "one")
    spec.kernels[-1].dfb_bindings = both_ends("one")
    spec.kernels.append(moving("far", lambda: None, dfb_bindings=both_ends("two")))
    spec.work_units.append(unit(["far"], (1, 1), "far"))


@pytest.mark.parametrize(("change", "error", "text"), CASES)
def test_wrong_specifications_raise(
    device: ttnn.MeshDevice, change: Callable[[Spec], None], error: type[Exception], text: str
) -> None:
    spec = copying(TENSOR)
    metal.make_program_from_spec(device, spec)
    change(spec)
    with pytest.raises(error, match=text):
        metal.make_program_from_spec(device, spec)


def test_values_other_than_specifications_raise(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ArgumentError, match="expected a ProgramSpec, got Program"):
        metal.make_program_from_spec(device, metal.create_program())  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"expected a ttnn\.MeshDevice, got 0"):
        metal.make_program_from_spec(0, copying(TENSOR))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="expected programs by range"):
        metal.make_mesh_workload_from_specs(device, [copying(TENSOR)])  # type: ignore[arg-type]

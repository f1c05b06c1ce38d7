"""Mistakes that the host finds before a kernel runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from broken import KEPT, alone, broken, nothing, pipeline

import ttnn
from testkit.parts import CORE, add_cb, tiles_buffer
from ttnn import (
    ArgumentError,
    DeviceError,
    KernelArgumentError,
    KernelError,
    MemoryConfigError,
    OutOfMemoryError,
    ProgramConfigError,
    StorageError,
    UnsupportedError,
    metal,
)
from ttnn.kernel_api import cb_wait_front

Device = ttnn.MeshDevice
Program = metal.Program


@broken(MemoryConfigError, "beyond max L1 size")
def buffers_larger_than_l1(device: Device) -> Program:
    program = alone(device, nothing)
    add_cb(program, 1, 800)
    return program


@broken(MemoryConfigError, "clash with L1 buffers")
def buffers_that_run_into_a_tensor(device: Device) -> Program:
    program = alone(device, nothing)
    add_cb(program, 1, 300)
    KEPT.append(tiles_buffer(device, 64 * 400, buffer_type=metal.BufferType.L1))
    return program


@broken(MemoryConfigError, "exists already")
def index_taken_twice(device: Device) -> Program:
    program = alone(device, nothing)
    add_cb(program, 0)
    return program


@broken(MemoryConfigError, "set_page_size(1, ...) is missing")
def page_size_forgotten(device: Device) -> Program:
    program = alone(device, nothing)
    metal.create_circular_buffer(program, CORE, metal.CircularBufferConfig(4096, {1: metal.DataFormat.Float16_b}))
    return program


@broken(MemoryConfigError, "must be divisible by")
def size_that_is_no_number_of_pages(device: Device) -> Program:
    program = alone(device, nothing)
    config = metal.CircularBufferConfig(3000, {1: metal.DataFormat.Float16_b}).set_page_size(1, 2048)
    metal.create_circular_buffer(program, CORE, config)
    return program


@broken(MemoryConfigError, "exceeds max number of circular buffers per core")
def index_that_the_chip_lacks(device: Device) -> Program:
    program = alone(device, nothing)
    add_cb(program, 32)
    return program


@broken(MemoryConfigError, "names no buffer index")
def buffer_without_index(device: Device) -> Program:
    program = alone(device, nothing)
    metal.create_circular_buffer(program, CORE, metal.CircularBufferConfig(2048))
    return program


@broken(MemoryConfigError, "it needs an L1 buffer")
def buffer_placed_in_a_smaller_one(device: Device) -> Program:
    program = alone(device, nothing)
    small = tiles_buffer(device, 1, buffer_type=metal.BufferType.L1)
    KEPT.append(small)
    config = metal.CircularBufferConfig(8192, {1: metal.DataFormat.Float16_b}).set_page_size(1, 2048)
    metal.create_circular_buffer(program, CORE, config.set_globally_allocated_address(small))
    return program


@broken(MemoryConfigError, "has 16 semaphores already")
def seventeen_semaphores(device: Device) -> Program:
    program = alone(device, nothing)
    for _ in range(17):
        metal.create_semaphore(program, CORE, 0)
    return program


@broken(ArgumentError, "each processor of a core runs one kernel")
def two_kernels_on_one_processor(device: Device) -> Program:
    program = alone(device, nothing)
    metal.create_kernel(program, nothing, CORE, metal.DataMovementConfig())
    return program


@broken(DeviceError, "outside the compute grid")
def core_outside_the_grid(device: Device) -> Program:
    program = metal.create_program()
    metal.create_kernel(program, nothing, metal.CoreCoord(20, 0), metal.DataMovementConfig())
    return program


@broken(KernelError, "no kernel file kernels/reader.cpp in ")
def source_file_as_kernel(device: Device) -> Program:
    program = metal.create_program()
    metal.create_kernel(program, "kernels/reader.cpp", CORE, metal.DataMovementConfig())
    return program


@broken(KernelArgumentError, "at most 341 fit")
def more_arguments_than_fit(device: Device) -> Program:
    return alone(device, nothing, *range(400))


@broken(KernelArgumentError, "must be a 32-bit integer")
def argument_that_is_no_integer(device: Device) -> Program:
    return alone(device, nothing, 0.5)


@broken(KernelArgumentError, "must be a 32-bit integer")
def argument_of_64_bits(device: Device) -> Program:
    return alone(device, nothing, 1 << 40)


@broken(KernelArgumentError, "does not run on core 1-0")
def arguments_for_a_core_without_the_kernel(device: Device) -> Program:
    program = alone(device, nothing, 1)
    metal.set_runtime_args(program, program.kernels[0], metal.CoreCoord(1, 0), [1])
    return program


@broken(KernelArgumentError, "their number cannot change")
def more_arguments_in_the_second_run(device: Device) -> Program:
    program = alone(device, nothing, 1)
    metal.set_runtime_args(program, program.kernels[0], CORE, [1, 2])
    return program


@broken(KernelArgumentError, "is not a kernel of this program")
def kernel_of_another_program(device: Device) -> Program:
    program, other = alone(device, nothing, 1), pipeline(device)
    metal.set_runtime_args(program, other.kernels[0], CORE, [1])
    return program


def program_of(kernel: Any, config: Any = None, cores: Any = CORE) -> Program:
    program = metal.create_program()
    metal.create_kernel(program, kernel, cores, config or metal.DataMovementConfig())
    return program


@broken(ArgumentError, "has parameters (tiles)")
def kernel_with_parameters(device: Device) -> Program:
    def kernel(tiles: int) -> None:
        """A kernel gets its arguments from get_arg_val."""

    return program_of(kernel)


@broken(ArgumentError, "is a generator or async function")
def kernel_that_yields(device: Device) -> Program:
    def kernel() -> Iterator[int]:
        yield 1

    return program_of(kernel)


@broken(ArgumentError, "config must be a DataMovementConfig or ComputeConfig")
def kernel_without_configuration(device: Device) -> Program:
    return program_of(nothing, 0.5)


@broken(ArgumentError, "this chip has no processor DataMovementProcessor.RISCV_2")
def third_data_movement_processor(device: Device) -> Program:
    return program_of(nothing, metal.DataMovementConfig(processor=metal.DataMovementProcessor.RISCV_2))


@broken(UnsupportedError, "Ethernet cores are not modelled")
def kernel_on_an_ethernet_core(device: Device) -> Program:
    return program_of(nothing, metal.EthernetConfig())


@broken(ArgumentError, "no cores are passed")
def kernel_on_no_core(device: Device) -> Program:
    return program_of(nothing, cores=metal.CoreRangeSet())


@broken(ProgramConfigError, "cannot use the same NOC, doing so results in hangs")
def two_kernels_on_one_network(device: Device) -> Program:
    program = program_of(nothing, metal.ReaderDataMovementConfig())
    metal.create_kernel(program, nothing, CORE, metal.WriterDataMovementConfig(noc=metal.NOC_0))
    return program


@broken(ProgramConfigError, "both data-movement kernels of a core need the same")
def one_dedicated_and_one_shared_network(device: Device) -> Program:
    program = program_of(nothing, metal.ReaderDataMovementConfig())
    shared = metal.WriterDataMovementConfig(noc_mode=ttnn.NOC_MODE.DM_DYNAMIC_NOC)
    metal.create_kernel(program, nothing, CORE, shared)
    return program


@broken(KernelArgumentError, "has no phases")
def fidelity_that_does_not_exist(device: Device) -> Program:
    return program_of(nothing, metal.ComputeConfig(math_fidelity=ttnn.MathFidelity.Invalid))


@broken(KernelArgumentError, "compile_args: argument 1 must be a 32-bit integer")
def compile_time_argument_that_is_no_word(device: Device) -> Program:
    return program_of(nothing, metal.DataMovementConfig(compile_args=[1, "two"]))


@broken(KernelArgumentError, "2 cores and 1 lists of arguments")
def arguments_for_too_few_cores(device: Device) -> Program:
    both = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(1, 0))
    program = program_of(nothing, cores=both)
    metal.set_runtime_args(program, program.kernels[0], list(both.cores()), [[1]])
    return program


@broken(KernelArgumentError, "at most 341 fit")
def common_arguments_that_do_not_fit_beside_the_others(device: Device) -> Program:
    program = alone(device, nothing, *range(300))
    metal.set_common_runtime_args(program, program.kernels[0], range(42))
    return program


@broken(KernelArgumentError, "a semaphore holds an unsigned 32-bit word, got -1")
def semaphore_below_zero(device: Device) -> Program:
    program = alone(device, nothing)
    metal.create_semaphore(program, CORE, -1)
    return program


@broken(UnsupportedError, "semaphores on CoreType.ETH cores")
def semaphore_on_an_ethernet_core(device: Device) -> Program:
    program = alone(device, nothing)
    metal.create_semaphore(program, CORE, 0, ttnn.CoreType.ETH)
    return program


@broken(MemoryConfigError, "page_size must not be 0")
def pages_of_nothing(device: Device) -> Program:
    metal.CircularBufferConfig(2048, {1: metal.DataFormat.Float16_b}).set_page_size(1, 0)
    return alone(device, nothing)


@broken(MemoryConfigError, "buffer index must be between 0")
def index_below_zero(device: Device) -> Program:
    metal.CircularBufferConfig(2048, {-1: metal.DataFormat.Float16_b})
    return alone(device, nothing)


@broken(ArgumentError, "expected a DataFormat or a DataType")
def format_that_does_not_exist(device: Device) -> Program:
    metal.CircularBufferConfig(2048, {1: 77})  # type: ignore[dict-item]
    return alone(device, nothing)


@broken(MemoryConfigError, "remote indices need a global_circular_buffer")
def remote_index_without_a_global_buffer(device: Device) -> Program:
    program = alone(device, nothing)
    config = metal.CircularBufferConfig(2048)
    config.remote_index(31).set_page_size(2048).set_data_format(metal.DataFormat.Float16_b)
    metal.create_circular_buffer(program, CORE, config)
    return program


@broken(MemoryConfigError, "is not a core of the global circular buffer")
def global_buffer_on_a_core_that_it_does_not_know(device: Device) -> Program:
    program = alone(device, nothing)
    receivers = metal.CoreRangeSet([metal.CoreRange(metal.CoreCoord(2, 0), metal.CoreCoord(2, 0))])
    shared = metal.create_global_circular_buffer(device, [(metal.CoreCoord(1, 0), receivers)], 4096)
    config = metal.CircularBufferConfig(4096)
    config.remote_index(31).set_page_size(2048).set_data_format(metal.DataFormat.Float16_b)
    metal.create_circular_buffer(program, CORE, config, shared)
    return program


@broken(DeviceError, "which is on another device")
def circular_buffer_in_the_memory_of_another_device(device: Device) -> Program:
    with ttnn.manage_device(device_id=1) as other:
        l1 = tiles_buffer(other, 64, buffer_type=metal.BufferType.L1)
        program = alone(device, nothing)
        config = metal.CircularBufferConfig(2048, {1: metal.DataFormat.Float16_b}).set_page_size(1, 2048)
        metal.create_circular_buffer(program, CORE, config.set_globally_allocated_address(l1))
        metal.run_program(device, program)
        return program


@broken(MemoryConfigError, "is not a multiple of page_size 2048 B")
def buffer_of_one_and_a_half_pages(device: Device) -> Program:
    metal.create_buffer(metal.InterleavedBufferConfig(device=device, size=3072, page_size=2048))
    return alone(device, nothing)


@broken(OutOfMemoryError, "Out of Memory: Not enough space")
def buffer_larger_than_l1(device: Device) -> Program:
    l1 = metal.BufferType.L1
    KEPT.append(
        metal.create_buffer(metal.InterleavedBufferConfig(device=device, size=1 << 27, page_size=2048, buffer_type=l1))
    )
    return alone(device, nothing)


@broken(MemoryConfigError, "2x3 pages are not the 4 pages of the size")
def shards_of_another_matrix(device: Device) -> Program:
    cores = [metal.CoreCoord(0, 0), metal.CoreCoord(1, 0)]
    config = metal.ShardedBufferConfig(
        device=device, size=8192, page_size=2048, tensor_pages=(2, 3), shard_pages=(1, 2), cores=cores
    )
    metal.create_buffer(config)
    return alone(device, nothing)


@broken(ArgumentError, "write: 100 B for a buffer of 8192 B")
def buffer_filled_with_too_little(device: Device) -> Program:
    tiles_buffer(device, 4).write(bytes(100))
    return alone(device, nothing)


@broken(StorageError, "")
def buffer_freed_twice(device: Device) -> Program:
    buffer = tiles_buffer(device, 4)
    for _ in range(2):
        metal.deallocate_buffer(buffer)
    return alone(device, nothing)


@broken(ProgramConfigError, "io_tensors must contain at least one input tensor and one output tensor")
def generic_op_without_input(device: Device) -> Program:
    ttnn.generic_op([ttnn.zeros([32, 32], device=device)], ttnn.ProgramDescriptor())
    return alone(device, nothing)


@broken(ArgumentError, "config must be one of the config descriptors")
def descriptor_without_configuration(device: Device) -> Program:
    here = metal.CoreRangeSet([metal.CoreRange(CORE, CORE)])
    tensors = [ttnn.zeros([32, 32], device=device)] * 2
    ttnn.generic_op(tensors, ttnn.ProgramDescriptor([ttnn.KernelDescriptor(nothing, core_ranges=here)]))
    return alone(device, nothing)


@broken(MemoryConfigError, "has two semaphores with id 3")
def descriptor_with_one_semaphore_twice(device: Device) -> Program:
    here = metal.CoreRangeSet([metal.CoreRange(CORE, CORE)])
    twice = [ttnn.SemaphoreDescriptor(3, core_ranges=here, initial_value=0) for _ in range(2)]
    metal.program_from_descriptor(ttnn.ProgramDescriptor(semaphores=twice))
    return alone(device, nothing)


@broken(KernelArgumentError, "called outside of a kernel")
def kernel_call_on_the_host(device: Device) -> Program:
    cb_wait_front(0, 1)
    return alone(device, nothing)

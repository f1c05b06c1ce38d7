"""Mistakes that the host finds before a kernel runs."""

from __future__ import annotations

from broken import KEPT, alone, broken, nothing, pipeline
from parts import CORE, add_cb, tiles_buffer

import ttnn
from ttnn import ArgumentError, DeviceError, KernelArgumentError, MemoryConfigError, UnsupportedError, metal

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


@broken(ArgumentError, "each processor of a core takes one kernel")
def two_kernels_on_one_processor(device: Device) -> Program:
    program = alone(device, nothing)
    metal.create_kernel(program, nothing, CORE, metal.DataMovementConfig())
    return program


@broken(DeviceError, "outside the compute grid")
def core_outside_the_grid(device: Device) -> Program:
    program = metal.create_program()
    metal.create_kernel(program, nothing, metal.CoreCoord(20, 0), metal.DataMovementConfig())
    return program


@broken(UnsupportedError, "kernels/reader.cpp is C++")
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


@broken(KernelArgumentError, "is no kernel of this program")
def kernel_of_another_program(device: Device) -> Program:
    program, other = alone(device, nothing, 1), pipeline(device)
    metal.set_runtime_args(program, other.kernels[0], CORE, [1])
    return program

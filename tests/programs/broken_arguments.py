"""Mistakes with arguments, calls on the wrong processor, exceptions of the kernel's own."""

from __future__ import annotations

from broken import alone, broken, nothing, pipeline
from parts import CORE

import ttnn
from ttnn import KernelArgumentError, KernelError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program


@broken(KernelArgumentError, "argument", "BRISC")
def one_argument_too_few(device: Device) -> Program:
    def kernel() -> None:
        get_arg_val(2)  # bug

    return alone(device, kernel, 1, 2)


@broken(KernelArgumentError, "argument", "BRISC")
def no_arguments_at_all(device: Device) -> Program:
    def kernel() -> None:
        get_arg_val(0)  # bug

    program = metal.create_program()
    metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    return program


@broken(KernelArgumentError, "argument", "BRISC", core="1-0")
def arguments_for_one_of_two_cores(device: Device) -> Program:
    def kernel() -> None:
        get_arg_val(0)  # bug

    program = metal.create_program()
    both = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(1, 0))
    handle = metal.create_kernel(program, kernel, both, metal.DataMovementConfig())
    metal.set_runtime_args(program, handle, CORE, [1])
    return program


@broken(KernelArgumentError, "argument", "BRISC")
def common_argument_that_nobody_set(device: Device) -> Program:
    def kernel() -> None:
        get_common_arg_val(0)  # bug

    return alone(device, kernel, 1)


@broken(KernelArgumentError, "argument", "BRISC")
def compile_time_argument_that_nobody_gave(device: Device) -> Program:
    def kernel() -> None:
        get_compile_time_arg_val(0)  # bug

    return alone(device, kernel, 1)


@broken(KernelArgumentError, "width", "BRISC")
def named_argument_that_nobody_gave(device: Device) -> Program:
    def kernel() -> None:
        get_named_compile_time_arg_val("width")  # bug

    return alone(device, kernel)


@broken(KernelArgumentError, "UNROLL", "BRISC")
def define_that_nobody_gave(device: Device) -> Program:
    def kernel() -> None:
        get_define("UNROLL")  # bug

    return alone(device, kernel)


@broken(KernelArgumentError, "", "TRISC")
def transfer_on_a_compute_processor(device: Device) -> Program:
    def compute() -> None:
        noc_async_read_barrier()  # bug

    return pipeline(device, reader=nothing, compute=compute, writer=None)


@broken(KernelArgumentError, "", "BRISC")
def registers_on_a_data_movement_processor(device: Device) -> Program:
    def kernel() -> None:
        tile_regs_acquire()  # bug

    return alone(device, kernel)


@broken(KernelArgumentError, "", "BRISC")
def setup_on_a_data_movement_processor(device: Device) -> Program:
    def kernel() -> None:
        binary_op_init_common(0, 0, 0)  # bug

    return alone(device, kernel)


@broken(KernelError, "ValueError: of its own", "BRISC")
def exception_of_its_own(device: Device) -> Program:
    def kernel() -> None:
        raise ValueError("of its own")  # bug

    return alone(device, kernel)


@broken(KernelError, "ZeroDivisionError", "TRISC")
def exception_in_arithmetic(device: Device) -> Program:
    def compute() -> None:
        1 // get_arg_val(0)  # bug

    program = pipeline(device, reader=nothing, compute=None, writer=None)
    kernel = metal.create_kernel(program, compute, CORE, metal.ComputeConfig())
    metal.set_runtime_args(program, kernel, CORE, [0])
    return program


@broken(KernelError, "NameError", "BRISC")
def name_that_does_not_exist(device: Device) -> Program:
    def kernel() -> None:
        noc_async_raed(0, 0, 32)  # bug

    return alone(device, kernel)


@broken(KernelError, "TypeError", "BRISC")
def call_with_too_few_arguments(device: Device) -> Program:
    def kernel() -> None:
        cb_reserve_back(0)  # bug

    return alone(device, kernel)


@broken(KernelError, "RecursionError", "BRISC")
def endless_recursion(device: Device) -> Program:
    def kernel() -> None:
        kernel()  # bug

    return alone(device, kernel)

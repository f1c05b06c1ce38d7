"""Mistakes: arguments, wrong processor, the kernel's own exceptions."""

from __future__ import annotations

from broken import alone, broken, broken_alone, nothing, pipeline

import ttnn
from testkit.parts import CORE
from ttnn import KernelArgumentError, KernelError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program


@broken_alone(KernelArgumentError, "argument", args=lambda _: [1, 2])
def one_argument_too_few() -> None:
    get_arg_val(2)  # bug


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


@broken_alone(KernelArgumentError, "argument", args=lambda _: [1])
def common_argument_that_nobody_set() -> None:
    get_common_arg_val(0)  # bug


@broken_alone(KernelArgumentError, "argument", args=lambda _: [1])
def compile_time_argument_that_nobody_gave() -> None:
    get_compile_time_arg_val(0)  # bug


@broken_alone(KernelArgumentError, "width")
def named_argument_that_nobody_gave() -> None:
    get_named_compile_time_arg_val("width")  # bug


@broken_alone(KernelArgumentError, "UNROLL")
def define_that_nobody_gave() -> None:
    get_define("UNROLL")  # bug


@broken(KernelArgumentError, "", "TRISC")
def transfer_on_a_compute_processor(device: Device) -> Program:
    def compute() -> None:
        noc_async_read_barrier()  # bug

    return pipeline(device, reader=nothing, compute=compute, writer=None)


@broken_alone(KernelArgumentError, "")
def registers_on_a_data_movement_processor() -> None:
    tile_regs_acquire()  # bug


@broken_alone(KernelArgumentError, "")
def setup_on_a_data_movement_processor() -> None:
    binary_op_init_common(0, 0, 0)  # bug


@broken_alone(KernelError, "ValueError: of its own")
def exception_of_its_own() -> None:
    raise ValueError("of its own")  # bug


@broken(KernelError, "ZeroDivisionError", "TRISC")
def exception_in_arithmetic(device: Device) -> Program:
    def compute() -> None:
        1 // get_arg_val(0)  # bug

    program = pipeline(device, reader=nothing, compute=None, writer=None)
    kernel = metal.create_kernel(program, compute, CORE, metal.ComputeConfig())
    metal.set_runtime_args(program, kernel, CORE, [0])
    return program


@broken_alone(KernelError, "NameError")
def name_that_does_not_exist() -> None:
    noc_async_raed(0, 0, 32)  # bug


@broken_alone(KernelArgumentError, "cb_reserve_back: missing 1 required positional argument: 'num_pages'")
def call_with_too_few_arguments() -> None:
    cb_reserve_back(0)  # bug


@broken_alone(KernelError, "RecursionError")
def endless_recursion() -> None:
    endless_recursion()  # bug


@broken_alone(KernelError, "AssertionError: 3 tiles")
def assertion_of_its_own() -> None:
    assert not get_absolute_logical_x(), "not here"
    assert get_absolute_logical_x(), "3 tiles"  # bug


@broken_alone(KernelError, "SystemExit")
def kernel_that_leaves_the_process() -> None:
    raise SystemExit(3)  # bug


@broken_alone(KernelArgumentError, "argument -1 is read", args=lambda _: [1, 2])
def argument_before_the_first() -> None:
    get_arg_val(-1)  # bug


@broken(KernelArgumentError, "argument 1 is read, the host gave kernel kernel 1", "BRISC", core="1-0")
def fewer_arguments_on_the_second_core(device: Device) -> Program:
    def kernel() -> None:
        get_arg_val(1)  # bug

    program = metal.create_program()
    both = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(1, 0))
    handle = metal.create_kernel(program, kernel, both, metal.DataMovementConfig())
    metal.set_runtime_args(program, handle, [CORE, metal.CoreCoord(1, 0)], [[1, 2], [1]])
    return program


@broken(KernelError, "run_program: a kernel cannot call functions of the host", "BRISC")
def program_inside_a_kernel(device: Device) -> Program:
    def kernel() -> None:
        metal.run_program(device, metal.create_program())  # bug

    return alone(device, kernel)


@broken_alone(KernelArgumentError, "noc must be 0 or 1")
def own_coordinates_on_a_third_network() -> None:
    my_x[2]  # bug

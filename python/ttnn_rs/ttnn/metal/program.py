"""Programs: kernels, circular buffers and semaphores on cores."""

from __future__ import annotations

import os
from collections.abc import Callable
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType

from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import NOC_MODE
from ttnn.base.exceptions import ArgumentError, ProgramConfigError, UnsupportedError
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.buffers import Buffer
from ttnn.metal.configs import ComputeConfig, DataMovementConfig, EthernetConfig
from ttnn.metal.cpp.spec import CppSource
from ttnn.metal.printing import describe
from ttnn.metal.program_parts import (
    CBHandle,
    CoreSpec,
    Kernel,
    KernelConfig,
    ProgramParts,
    as_cores,
    require_program,
    shared_core,
)
from ttnn.metal.sources import KernelFunction, kernel_from_file, kernel_from_text

__all__ = [
    "AssignGlobalBufferToProgram",
    "CBHandle",
    "CreateKernel",
    "CreateKernelFromString",
    "CreateProgram",
    "Kernel",
    "Program",
    "assign_global_buffer_to_program",
    "create_kernel",
    "create_kernel_from_string",
    "create_program",
]


class Program(ProgramParts):
    """Kernels, circular buffers and semaphores, as data; a command queue runs it.

    `repr` and `describe` print it: kernels with their arguments, circular buffers, semaphores and the map of L1.
    """

    def describe(self, device: MeshDevice | None = None) -> str:
        """Return the program as text, with the addresses on `device`.

        Raises:
            DeviceError: it uses cores that the device does not have.
        """
        return describe(self, device)

    def __repr__(self) -> str:
        return self.describe()


def create_program() -> Program:
    """Return an empty program."""
    return Program()


def create_kernel(
    program: Program,
    kernel: KernelFunction | str | os.PathLike[str],
    core_spec: CoreSpec,
    config: KernelConfig,
) -> Kernel:
    """Add a kernel to a program.

    Args:
        program: The program.
        kernel: A Python function without arguments that calls `ttnn.kernel_api`, a file of C++, or a Python file that
            defines `kernel_main`. C++ is compiled when the program is enqueued.
        core_spec: A core, a range or a set of ranges.
        config: `DataMovementConfig` (or its reader and writer forms) or `ComputeConfig`.

    Raises:
        ArgumentError: not a function without parameters, another kernel on that processor of a core, a processor that
            the chip lacks.
        ProgramConfigError: the two data-movement kernels of a core share a network, or differ in their `noc_mode`.
        UnsupportedError: a kernel on an Ethernet core.
        KernelError: the file does not exist or defines no `kernel_main`.
    """
    if isinstance(kernel, (str, os.PathLike)):
        kernel = kernel_from_file("create_kernel", kernel)
    return _add_kernel("create_kernel", program, kernel, core_spec, config)


def create_kernel_from_string(
    program: Program, kernel_src_code: str, core_spec: CoreSpec, config: KernelConfig
) -> Kernel:
    """Add a kernel from C++, or from Python defining `kernel_main`.

    The names of `ttnn.kernel_api` are known in a Python text. C++ is compiled when the program is enqueued.

    Raises:
        KernelError: the text is neither C++ nor Python with a `kernel_main`.
        ArgumentError, ProgramConfigError: as `create_kernel`.
    """
    function = kernel_from_text("create_kernel_from_string", kernel_src_code)
    return _add_kernel("create_kernel_from_string", program, function, core_spec, config)


def _add_kernel(
    call: str, program: Program, function: KernelFunction, core_spec: CoreSpec, config: KernelConfig
) -> Kernel:
    require_program(call, program)
    if not isinstance(function, CppSource):
        if not callable(function):
            raise ArgumentError(f"{call}: kernel must be a Python function or a source file, got {function!r}")
        _check_function(call, function)
    if not isinstance(config, (DataMovementConfig, ComputeConfig)):
        raise ArgumentError(f"{call}: config must be a DataMovementConfig or ComputeConfig, got {config!r}")
    if isinstance(config, EthernetConfig):
        raise UnsupportedError(f"{call}: Ethernet cores are not modelled, a chip has worker cores only")
    if isinstance(config, DataMovementConfig) and config.processor.value > 1:
        raise ArgumentError(f"{call}: this chip has no processor {config.processor}")
    cores = as_cores(core_spec)
    if cores.empty():
        raise ArgumentError(f"{call}: no cores are passed")
    added = Kernel(function, cores, config)
    for other in program.kernels:
        core = shared_core(cores, other.cores)
        if core is None:
            continue
        if other.risc == added.risc:
            raise ArgumentError(f"{call}: {added} overlaps with {other}; each processor of a core runs one kernel")
        _check_networks(call, core, added, other)
    program.kernels.append(added)
    return added


def _check_function(call: str, function: Callable[..., object]) -> None:
    """Check that a kernel can be called without arguments."""
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None:
        return
    if code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
        raise ArgumentError(
            f"{call}: kernel {code.co_name} is a generator or async function; kernels must be plain functions; "
            "calls that wait run other kernels"
        )
    defaults = getattr(function, "__defaults__", None) or ()
    bound = int(getattr(function, "__self__", None) is not None)
    needed = code.co_varnames[bound : code.co_argcount - len(defaults)]
    if needed:
        raise ArgumentError(
            f"{call}: kernel {code.co_name} has parameters ({', '.join(needed)}); arguments come from get_arg_val and "
            "get_compile_time_arg_val"
        )


def _check_networks(call: str, core: CoreCoord, added: Kernel, other: Kernel) -> None:
    """Check that a core's data-movement kernels do not share transfer counters."""
    if isinstance(added.config, ComputeConfig) or isinstance(other.config, ComputeConfig):
        return
    mode, other_mode = added.config.noc_mode, other.config.noc_mode
    if mode is not other_mode:
        raise ProgramConfigError(
            f"{call}: on core {core} kernel {added.name} has noc_mode {mode}, kernel {other.name} {other_mode}; both "
            "data-movement kernels of a core need the same"
        )
    if mode is NOC_MODE.DM_DEDICATED_NOC and added.config.noc is other.config.noc:
        raise ProgramConfigError(
            f"{call}: on core {core} kernels {added.name} and {other.name} both use {added.config.noc}; set the other "
            "NoC for one of them, or noc_mode DM_DYNAMIC_NOC for both",
            vendor=f"Illegal NOC usage: data movement kernels on logical core {core} cannot use the same NOC, doing so "
            "results in hangs!",
        )


def assign_global_buffer_to_program(buffer: Buffer, program: Program) -> None:
    """Keep a buffer allocated as long as a program."""
    if not isinstance(buffer, Buffer):
        raise ArgumentError(f"assign_global_buffer_to_program: expected a Buffer, got {buffer!r}")
    require_program("assign_global_buffer_to_program", program)
    program.buffers.append(buffer)


AssignGlobalBufferToProgram = assign_global_buffer_to_program
CreateProgram = create_program
CreateKernel = create_kernel
CreateKernelFromString = create_kernel_from_string

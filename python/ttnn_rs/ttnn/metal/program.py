"""Programs: kernels, circular buffers and semaphores on cores."""

from __future__ import annotations

import os
from collections.abc import Callable
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from pathlib import Path
from types import CodeType
from typing import Any

from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet, as_core
from ttnn.base.enums import NOC_MODE
from ttnn.base.exceptions import ArgumentError, KernelArgumentError, ProgramConfigError, UnsupportedError, fatal
from ttnn.base.system_enums import DataMovementProcessor
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.configs import CircularBufferConfig, ComputeConfig, DataMovementConfig, EthernetConfig
from ttnn.metal.sources import kernel_from_file, kernel_from_text

__all__ = [
    "CBHandle",
    "CreateKernel",
    "CreateKernelFromString",
    "CreateProgram",
    "Kernel",
    "Program",
    "create_kernel",
    "create_kernel_from_string",
    "create_program",
]

CoreSpec = CoreCoord | CoreRange | CoreRangeSet | tuple[int, int]
KernelConfig = DataMovementConfig | ComputeConfig
RISCS = ("BRISC", "NCRISC", "TRISC")


def as_cores(core_spec: CoreSpec) -> CoreRangeSet:
    """Return cores in whatever form as a set of ranges."""
    if isinstance(core_spec, CoreRangeSet):
        return core_spec
    if isinstance(core_spec, CoreRange):
        return CoreRangeSet([core_spec])
    core = as_core(core_spec)
    return CoreRangeSet([CoreRange(core, core)])


def shared_core(one: CoreRangeSet, other: CoreRangeSet) -> CoreCoord | None:
    """Return a core that two sets have in common."""
    return next((core for core in one.cores() if other.contains(core)), None)


class Kernel:
    """A kernel of a program: a Python function, its cores, its configuration and arguments."""

    def __init__(self, function: Callable[[], object], cores: CoreRangeSet, config: KernelConfig) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.cores = cores
        self.config = config
        self.args: dict[tuple[int, int], list[int]] = {}
        self.common_args: list[int] = []
        self.buffers: dict[tuple[int, int], list[Any]] = {}
        """Buffers among the arguments; they live as long as the kernel."""

    @property
    def risc(self) -> int:
        """Return 0 for BRISC, 1 for NCRISC, 2 for the three TRISCs."""
        if isinstance(self.config, ComputeConfig):
            return 2
        return 1 if self.config.processor is DataMovementProcessor.RISCV_1 else 0

    def __repr__(self) -> str:
        return f"{self.name} on {RISCS[self.risc]} of {self.cores}"


class CBHandle:
    """A circular buffer of a program."""

    def __init__(self, cores: CoreRangeSet, config: CircularBufferConfig) -> None:
        self.cores = cores
        self.config = config
        self.global_buffer: Any = None
        """The global circular buffer that its remote indices belong to."""


class Program:
    """Kernels, circular buffers and semaphores. Data only; a command queue runs it, as often as one likes.

    `repr` and `describe` print it: kernels with their arguments, circular buffers, semaphores and the map of L1.
    """

    def __init__(self) -> None:
        self.kernels: list[Kernel] = []
        self.circular_buffers: list[CBHandle] = []
        self.semaphores: list[tuple[int, CoreRangeSet, int]] = []
        self.buffers: list[Any] = []
        """Buffers that live as long as the program, see `assign_global_buffer_to_program`."""

    def describe(self, device: MeshDevice | None = None) -> str:
        """Return the program in words; with a device, addresses are those that the program has there.

        Raises:
            DeviceError: it uses cores that the device does not have.
        """
        from ttnn.metal.printing import describe

        return describe(self, device)

    def __repr__(self) -> str:
        return self.describe()


def create_program() -> Program:
    """Return an empty program."""
    return Program()


def create_kernel(
    program: Program,
    kernel: Callable[[], object] | str | os.PathLike[str],
    core_spec: CoreSpec,
    config: KernelConfig,
) -> Kernel:
    """Add a kernel to a program.

    Args:
        program: The program.
        kernel: A Python function without arguments that calls `ttnn.kernel_api`, or a Python file that defines
            `kernel_main`.
        core_spec: A core, a range or a set of ranges.
        config: `DataMovementConfig` (or its reader and writer forms) or `ComputeConfig`.

    Raises:
        ArgumentError: not a function without parameters, another kernel on that processor of a core, a processor that
            the chip lacks.
        ProgramConfigError: the two data-movement kernels of a core share a network, or differ in their `noc_mode`.
        UnsupportedError: a kernel in C++ or on an Ethernet core.
        KernelError: the file does not exist or defines no `kernel_main`.
    """
    if isinstance(kernel, (str, Path, os.PathLike)):
        kernel = kernel_from_file("create_kernel", kernel)
    return _add_kernel("create_kernel", program, kernel, core_spec, config)


def create_kernel_from_string(
    program: Program, kernel_src_code: str, core_spec: CoreSpec, config: KernelConfig
) -> Kernel:
    """Add a kernel, given as a Python text that defines `kernel_main`, to a program.

    The names of `ttnn.kernel_api` are known in the text.

    Raises:
        UnsupportedError: a text of C++.
        KernelError: the text is no Python, or defines no `kernel_main`.
        ArgumentError, ProgramConfigError: as `create_kernel`.
    """
    function = kernel_from_text("create_kernel_from_string", kernel_src_code)
    return _add_kernel("create_kernel_from_string", program, function, core_spec, config)


def _add_kernel(
    call: str, program: Program, function: Callable[[], object], core_spec: CoreSpec, config: KernelConfig
) -> Kernel:
    require_program(call, program)
    if not callable(function):
        raise ArgumentError(f"{call}: kernel must be a Python function, got {function!r}")
    _check_function(call, function)
    if not isinstance(config, (DataMovementConfig, ComputeConfig)):
        raise ArgumentError(f"{call}: config must be a DataMovementConfig or ComputeConfig, got {config!r}")
    if isinstance(config, EthernetConfig):
        raise UnsupportedError(f"{call}: Ethernet cores are not modelled, a chip has worker cores only")
    if isinstance(config, DataMovementConfig) and config.processor.value > 1:
        raise ArgumentError(f"{call}: this chip has no processor {config.processor}")
    cores = as_cores(core_spec)
    if cores.empty():
        raise ArgumentError(f"{call}: no cores are given")
    added = Kernel(function, cores, config)
    for other in program.kernels:
        core = shared_core(cores, other.cores)
        if core is None:
            continue
        if other.risc == added.risc:
            raise ArgumentError(f"{call}: {added} overlaps with {other}; each processor of a core takes one kernel")
        _check_networks(call, core, added, other)
    program.kernels.append(added)
    return added


def _check_function(call: str, function: Callable[..., object]) -> None:
    """Refuse functions that would not run when they are called without arguments."""
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None:
        return
    if code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
        raise ArgumentError(
            f"{call}: kernel {code.co_name} is a generator or async function; kernels are plain functions, calls "
            "that wait let others run"
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
    """Refuse two data-movement kernels of a core whose counters of transfers would get mixed up."""
    if isinstance(added.config, ComputeConfig) or isinstance(other.config, ComputeConfig):
        return
    mode, other_mode = added.config.noc_mode, other.config.noc_mode
    if mode is not other_mode:
        raise ProgramConfigError(
            f"{call}: on core {core} kernel {added.name} has noc_mode {mode}, kernel {other.name} {other_mode}; both "
            "data-movement kernels of a core need the same"
        )
    if mode is NOC_MODE.DM_DEDICATED_NOC and added.config.noc is other.config.noc:
        raise fatal(
            ProgramConfigError,
            f"{call}: on core {core} kernels {added.name} and {other.name} both use {added.config.noc}; give one of "
            "them the other network, or both noc_mode DM_DYNAMIC_NOC",
            f"Illegal NOC usage: data movement kernels on logical core {core} cannot use the same NOC, doing so "
            "results in hangs!",
        )


def require_program(call: str, program: object) -> None:
    """Refuse what is no program.

    Raises:
        ArgumentError: it is none.
    """
    if not isinstance(program, Program):
        raise ArgumentError(f"{call}: expected a Program, got {program!r}")


def require_kernel(call: str, program: Program, kernel: object) -> None:
    """Refuse what is no kernel of a program.

    Raises:
        KernelArgumentError: it is none.
    """
    require_program(call, program)
    if not any(kernel is known for known in program.kernels):
        raise KernelArgumentError(f"{call}: {kernel!r} is no kernel of this program")


CreateProgram = create_program
CreateKernel = create_kernel
CreateKernelFromString = create_kernel_from_string

"""Parts of a program: kernels, circular buffers, semaphores.

Kernels have cores and arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ttnn.base.call import as_integer, shown
from ttnn.base.core_range import NOC_GRID, CoreCoord, CoreRange, CoreRangeSet, as_core, check_in_grid
from ttnn.base.exceptions import ArgumentError, KernelArgumentError
from ttnn.base.system_enums import DataMovementProcessor
from ttnn.kernel_api.bindings_context import KernelBindings
from ttnn.metal.configs import CircularBufferConfig, ComputeConfig, DataMovementConfig
from ttnn.metal.cpp.spec import CppSource

CoreSpec = CoreCoord | CoreRange | CoreRangeSet | tuple[int, int]
KernelConfig = DataMovementConfig | ComputeConfig
RISCS = ("BRISC", "NCRISC", "TRISC")
MAX_RUNTIME_ARGS = 341
"""Words of a kernel's unique and common runtime arguments per core."""
_WORD = 0xFFFF_FFFF


def as_cores(core_spec: CoreSpec) -> CoreRangeSet:
    """Return cores in any form as a set of ranges.

    Raises:
        DeviceError: a core that no chip can have.
    """
    if isinstance(core_spec, CoreRangeSet):
        cores = core_spec
    elif isinstance(core_spec, CoreRange):
        cores = CoreRangeSet([core_spec])
    else:
        core = as_core(core_spec)
        cores = CoreRangeSet([CoreRange(core, core)])
    check_in_grid("a program cannot use", cores, NOC_GRID, "largest grid of a chip")
    return cores


def shared_core(one: CoreRangeSet, other: CoreRangeSet) -> CoreCoord | None:
    """Return a core that two sets have in common."""
    return one._shared(other)


class Kernel:
    """A program's kernel.

    Python function or C++ source, cores, configuration, arguments.
    """

    def __init__(self, function: Callable[[], object] | CppSource, cores: CoreRangeSet, config: KernelConfig) -> None:
        self.function = function
        if isinstance(function, CppSource):
            self.name = function.name
        else:
            self.name = getattr(function, "__name__", type(function).__name__)
        self.cores = cores
        self.config = config
        self.args: dict[tuple[int, int], list[int]] = {}
        self.common_args: list[int] = []
        self.buffers: dict[tuple[int, int], list[Any]] = {}
        """Buffers among the arguments; they live as long as the kernel."""
        self.bindings: KernelBindings | None = None
        """Names bound by the kernel's `KernelSpec`, if it has one."""
        self.include_paths: tuple[str, ...] = ()
        """Folders in which headers of a C++ source are looked for."""

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


class ProgramParts:
    """The parts of a `Program`."""

    def __init__(self) -> None:
        self.kernels: list[Kernel] = []
        self.circular_buffers: list[CBHandle] = []
        self.semaphores: list[tuple[int, CoreRangeSet, int]] = []
        self.buffers: list[Any] = []
        """Buffers that live as long as the program, see `assign_global_buffer_to_program`."""
        self.specified: Any = None
        """The specification and its arguments, if the program was made from one."""


def remote_ends(program: ProgramParts, cores: CoreRangeSet) -> dict[int, tuple[int, int]]:
    """Return each remote CB's configuration address and page size.

    Of those on any of the cores.
    """
    return {
        index: (handle.global_buffer.config_address(), handle.config.page_sizes[index])
        for handle in program.circular_buffers
        if handle.global_buffer is not None and shared_core(cores, handle.cores) is not None
        for index in handle.config.remote_formats
    }


def require_program(call: str, program: object) -> None:
    """Check that `program` is a program.

    Raises:
        ArgumentError: it is none.
    """
    if not isinstance(program, ProgramParts):
        raise ArgumentError(f"{call}: expected a Program, got {program!r}")


def require_kernel(call: str, program: ProgramParts, kernel: object) -> None:
    """Check that a kernel belongs to a program.

    Raises:
        KernelArgumentError: it is none.
    """
    require_program(call, program)
    if not any(kernel is known for known in program.kernels):
        raise KernelArgumentError(f"{call}: {kernel!r} is not a kernel of this program")


def check_count(call: str, kernel: Kernel, count: int) -> None:
    """Check that a kernel's arguments fit.

    Raises:
        KernelArgumentError: more than 341 words.
    """
    if count > MAX_RUNTIME_ARGS:
        raise KernelArgumentError(
            f"{call}: kernel {kernel.name} gets {count} runtime arguments, at most {MAX_RUNTIME_ARGS} fit"
        )


def as_words(call: str, args: Iterable[Any]) -> list[int]:
    """Return arguments as unsigned 32-bit words.

    An object with an `address()` becomes its address.

    Raises:
        KernelArgumentError: one is no 32-bit integer.
    """
    if isinstance(args, (str, bytes)) or not hasattr(args, "__iter__"):
        raise KernelArgumentError(f"{call}: expected a list of arguments, got {args!r}")
    words = []
    for place, value in enumerate(args):
        address = getattr(value, "address", None)
        word = address() if callable(address) else value
        number = as_integer(word)
        if number is None or not -(1 << 31) <= number <= _WORD:
            raise KernelArgumentError(f"{call}: argument {place} must be a 32-bit integer, got {shown(value)}")
        words.append(number & _WORD)
    return words

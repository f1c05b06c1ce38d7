"""Programs: kernels, circular buffers and semaphores on cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ttnn.core_range import CoreCoord, CoreRange, CoreRangeSet, as_core
from ttnn.exceptions import ArgumentError, KernelArgumentError, MemoryConfigError
from ttnn.metal.configs import CircularBufferConfig, ComputeConfig, DataMovementConfig
from ttnn.system_types import DataMovementProcessor

__all__ = [
    "CBHandle",
    "CreateCircularBuffer",
    "CreateKernel",
    "CreateProgram",
    "CreateSemaphore",
    "GetCommonRuntimeArgs",
    "GetRuntimeArgs",
    "Kernel",
    "Program",
    "SetCommonRuntimeArgs",
    "SetRuntimeArgs",
    "create_circular_buffer",
    "create_kernel",
    "create_program",
    "create_semaphore",
    "get_common_runtime_args",
    "get_runtime_args",
    "set_common_runtime_args",
    "set_runtime_args",
]

CoreSpec = CoreCoord | CoreRange | CoreRangeSet | tuple[int, int]
MAX_RUNTIME_ARGS = 341
"""Words of unique and common runtime arguments of a kernel on a core."""
_WORD = 0xFFFF_FFFF


def as_cores(core_spec: CoreSpec) -> CoreRangeSet:
    """Return cores in whatever form as a set of ranges."""
    if isinstance(core_spec, CoreRangeSet):
        return core_spec
    if isinstance(core_spec, CoreRange):
        return CoreRangeSet([core_spec])
    core = as_core(core_spec)
    return CoreRangeSet([CoreRange(core, core)])


class Kernel:
    """A kernel of a program: a Python function, its cores, its configuration and arguments."""

    def __init__(
        self, function: Callable[[], object], cores: CoreRangeSet, config: DataMovementConfig | ComputeConfig
    ) -> None:
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
        return f"{self.name} on {('BRISC', 'NCRISC', 'TRISC')[self.risc]} of {self.cores}"


class CBHandle:
    """A circular buffer of a program."""

    def __init__(self, cores: CoreRangeSet, config: CircularBufferConfig) -> None:
        self.cores = cores
        self.config = config


class Program:
    """Kernels, circular buffers and semaphores. Data only; a command queue runs it, as often as one likes."""

    def __init__(self) -> None:
        self.kernels: list[Kernel] = []
        self.circular_buffers: list[CBHandle] = []
        self.semaphores: list[tuple[int, CoreRangeSet, int]] = []

    def __repr__(self) -> str:
        lines = ["Program"]
        lines += [f"  kernel {kernel}" for kernel in self.kernels]
        for handle in self.circular_buffers:
            config = handle.config
            for index, code in sorted(config.formats.items()):
                page = config.page_sizes.get(index, config.total_size)
                lines.append(
                    f"  CB {index} of {handle.cores}: {config.total_size // page} pages of {page} B, format {code}"
                )
        lines += [f"  semaphore {id} of {cores}: {initial}" for id, cores, initial in self.semaphores]
        return "\n".join(lines)


def create_program() -> Program:
    """Return an empty program."""
    return Program()


def create_kernel(
    program: Program,
    kernel: Callable[[], object],
    core_spec: CoreSpec,
    config: DataMovementConfig | ComputeConfig,
) -> Kernel:
    """Add a kernel to a program.

    Args:
        program: The program.
        kernel: A Python function without arguments that calls `ttnn.kernel_api`.
        core_spec: A core, a range or a set of ranges.
        config: `DataMovementConfig` (or its reader and writer forms) or `ComputeConfig`.

    Raises:
        ArgumentError: not a function, another kernel on that processor of a core, a processor that the chip lacks.
    """
    if not callable(kernel):
        raise ArgumentError(f"create_kernel: kernel must be a Python function, got {kernel!r}")
    if not isinstance(config, (DataMovementConfig, ComputeConfig)):
        raise ArgumentError(f"create_kernel: config must be a DataMovementConfig or ComputeConfig, got {config!r}")
    if isinstance(config, DataMovementConfig) and config.processor.value > 1:
        raise ArgumentError(f"create_kernel: this chip has no processor {config.processor}")
    cores = as_cores(core_spec)
    added = Kernel(kernel, cores, config)
    for other in program.kernels:
        if other.risc == added.risc and any(other.cores.contains(core) for core in cores.cores()):
            raise ArgumentError(
                f"create_kernel: {added} overlaps with {other}; each processor of a core takes one kernel"
            )
    program.kernels.append(added)
    return added


def create_circular_buffer(program: Program, core_spec: CoreSpec, config: CircularBufferConfig) -> CBHandle:
    """Add a circular buffer to every core of `core_spec`.

    Raises:
        MemoryConfigError: an index without page size, or one that a core has already.
    """
    cores = as_cores(core_spec)
    if not config.formats:
        raise MemoryConfigError("create_circular_buffer: the configuration names no buffer index")
    for index in config.formats:
        if index not in config.page_sizes:
            raise MemoryConfigError(f"create_circular_buffer: set_page_size({index}, ...) is missing")
        for other in program.circular_buffers:
            if index in other.config.formats and any(other.cores.contains(core) for core in cores.cores()):
                raise MemoryConfigError(f"create_circular_buffer: CB {index} exists already on some core of {cores}")
    handle = CBHandle(cores, config)
    program.circular_buffers.append(handle)
    return handle


def create_semaphore(program: Program, core_spec: CoreSpec, initial_value: int) -> int:
    """Add a semaphore to every core of `core_spec` and return its id.

    Raises:
        MemoryConfigError: a core has 16 already.
    """
    cores = as_cores(core_spec)
    taken = {id for id, others, _ in program.semaphores if any(others.contains(core) for core in cores.cores())}
    free = next((id for id in range(16) if id not in taken), None)
    if free is None:
        raise MemoryConfigError(f"create_semaphore: some core of {cores} has 16 semaphores already")
    program.semaphores.append((free, cores, int(initial_value) & _WORD))
    return free


def set_runtime_args(
    program: Program, kernel: Kernel, core_spec: CoreSpec | Sequence[CoreCoord], args: Sequence[Any]
) -> None:
    """Set the runtime arguments of cores; a list of cores takes a list of lists. A buffer stands for its address.

    Raises:
        KernelArgumentError: no 32-bit words, too many, another number than before, or cores without the kernel.
    """
    _require_kernel("set_runtime_args", program, kernel)
    if isinstance(core_spec, (list, tuple)) and core_spec and not isinstance(core_spec[0], int):
        if len(core_spec) != len(args):
            raise KernelArgumentError(f"set_runtime_args: {len(core_spec)} cores and {len(args)} lists of arguments")
        for core, values in zip(core_spec, args, strict=True):
            set_runtime_args(program, kernel, core, values)
        return
    words = _words("set_runtime_args", args)
    for core in as_cores(core_spec).cores():  # type: ignore[arg-type]
        if not kernel.cores.contains(core):
            raise KernelArgumentError(f"set_runtime_args: kernel {kernel.name} does not run on core {core.x}-{core.y}")
        before = kernel.args.get((core.x, core.y))
        if before is not None and len(before) != len(words):
            raise KernelArgumentError(
                f"set_runtime_args: kernel {kernel.name} on core {core.x}-{core.y} has {len(before)} arguments, "
                f"got {len(words)}; their number cannot change"
            )
        _check_count("set_runtime_args", kernel, len(words) + len(kernel.common_args))
        kernel.args[core.x, core.y] = list(words)
        kernel.buffers[core.x, core.y] = [value for value in args if hasattr(value, "address")]


def set_common_runtime_args(program: Program, kernel: Kernel, args: Sequence[int]) -> None:
    """Set the runtime arguments that all cores of a kernel share.

    Raises:
        KernelArgumentError: no 32-bit words, or too many.
    """
    _require_kernel("set_common_runtime_args", program, kernel)
    words = _words("set_common_runtime_args", args)
    most = max((len(values) for values in kernel.args.values()), default=0)
    _check_count("set_common_runtime_args", kernel, len(words) + most)
    kernel.common_args = words


def get_runtime_args(program: Program, kernel: Kernel, core: CoreSpec) -> list[int]:
    """Return the runtime arguments of a core; changing the list changes the arguments."""
    _require_kernel("get_runtime_args", program, kernel)
    place = next(iter(as_cores(core).cores()))
    return kernel.args.setdefault((place.x, place.y), [])


def get_common_runtime_args(program: Program, kernel: Kernel) -> list[int]:
    """Return the arguments that all cores share; changing the list changes the arguments."""
    _require_kernel("get_common_runtime_args", program, kernel)
    return kernel.common_args


def _require_kernel(function: str, program: Program, kernel: Kernel) -> None:
    if not isinstance(kernel, Kernel) or kernel not in program.kernels:
        raise KernelArgumentError(f"{function}: {kernel!r} is no kernel of this program")


def _check_count(function: str, kernel: Kernel, count: int) -> None:
    if count > MAX_RUNTIME_ARGS:
        raise KernelArgumentError(
            f"{function}: kernel {kernel.name} gets {count} runtime arguments, at most {MAX_RUNTIME_ARGS} fit"
        )


def _words(function: str, args: Iterable[Any]) -> list[int]:
    words = []
    for place, value in enumerate(args):
        address = getattr(value, "address", None)
        word = address() if callable(address) else value
        if isinstance(word, bool) or not hasattr(word, "__index__") or not -(1 << 31) <= word.__index__() <= _WORD:
            raise KernelArgumentError(f"{function}: argument {place} must be a 32-bit integer, got {value!r}")
        words.append(word.__index__() & _WORD)
    return words


def named_args(config: DataMovementConfig | ComputeConfig) -> Mapping[str, int]:
    """Return the named compile-time arguments of a configuration."""
    return config.named_compile_args


CreateProgram = create_program
CreateKernel = create_kernel
CreateCircularBuffer = create_circular_buffer
CreateSemaphore = create_semaphore
SetRuntimeArgs = set_runtime_args
SetCommonRuntimeArgs = set_common_runtime_args
GetRuntimeArgs = get_runtime_args
GetCommonRuntimeArgs = get_common_runtime_args

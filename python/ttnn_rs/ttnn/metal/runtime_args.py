"""Runtime arguments of kernels, per core and common.

They are set before a run and changed between runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn.base.core_range import CoreCoord
from ttnn.base.exceptions import KernelArgumentError
from ttnn.metal.program import Program
from ttnn.metal.program_parts import CoreSpec, Kernel, as_cores, as_words, check_count, require_kernel

__all__ = [
    "GetCommonRuntimeArgs",
    "GetRuntimeArgs",
    "SetCommonRuntimeArgs",
    "SetRuntimeArgs",
    "get_common_runtime_args",
    "get_runtime_args",
    "set_common_runtime_args",
    "set_runtime_args",
]


def set_runtime_args(
    program: Program, kernel: Kernel, core_spec: CoreSpec | Sequence[CoreCoord], args: Sequence[Any]
) -> None:
    """Set cores' runtime arguments.

    A list of cores requires a list of lists. Buffers become addresses.

    Between runs, the arguments may get other values, but not another number.

    Raises:
        KernelArgumentError: no 32-bit words, too many, another number than before, or cores without the kernel.
    """
    require_kernel("set_runtime_args", program, kernel)
    if isinstance(core_spec, (list, tuple)) and core_spec and not isinstance(core_spec[0], int):
        if len(core_spec) != len(args):
            raise KernelArgumentError(f"set_runtime_args: {len(core_spec)} cores and {len(args)} lists of arguments")
        for core, values in zip(core_spec, args, strict=True):
            set_runtime_args(program, kernel, core, values)
        return
    _check_classic("set_runtime_args", kernel)
    words = as_words("set_runtime_args", args)
    cores = as_cores(core_spec)  # type: ignore[arg-type]
    if not kernel.cores.contains(cores):
        core = next(core for core in cores.cores() if not kernel.cores.contains(core))
        raise KernelArgumentError(f"set_runtime_args: kernel {kernel.name} does not run on core {core}")
    check_count("set_runtime_args", kernel, len(words) + len(kernel.common_args))
    places = cores._places()
    for x, y in places:
        before = kernel.args.get((x, y))
        if before is not None and len(before) != len(words):
            raise KernelArgumentError(
                f"set_runtime_args: kernel {kernel.name} on core {x}-{y} has {len(before)} arguments, "
                f"got {len(words)}; their number cannot change"
            )
    buffers = [value for value in args if hasattr(value, "address")]
    for place in places:
        kernel.args[place] = list(words)
        kernel.buffers[place] = buffers


def _check_classic(call: str, kernel: Kernel) -> None:
    """Check that a kernel's arguments have no names."""
    if kernel.bindings is not None:
        raise KernelArgumentError(
            f"{call}: kernel {kernel.name} was made from a KernelSpec; set its arguments by name, with "
            "set_program_run_args"
        )


def set_common_runtime_args(program: Program, kernel: Kernel, args: Sequence[Any]) -> None:
    """Set a kernel's common runtime arguments.

    Buffers become addresses.

    Raises:
        KernelArgumentError: no 32-bit words, or too many.
    """
    require_kernel("set_common_runtime_args", program, kernel)
    _check_classic("set_common_runtime_args", kernel)
    words = as_words("set_common_runtime_args", args)
    most = max((len(values) for values in kernel.args.values()), default=0)
    check_count("set_common_runtime_args", kernel, len(words) + most)
    kernel.common_args = words


def get_runtime_args(program: Program, kernel: Kernel, core: CoreSpec) -> list[int]:
    """Return a core's runtime arguments, a list for the next run.

    Raises:
        KernelArgumentError: the kernel does not run there.
    """
    require_kernel("get_runtime_args", program, kernel)
    place = next(iter(as_cores(core).cores()))
    if not kernel.cores.contains(place):
        raise KernelArgumentError(f"get_runtime_args: kernel {kernel.name} does not run on core {place.x}-{place.y}")
    return kernel.args.setdefault((place.x, place.y), [])


def get_common_runtime_args(program: Program, kernel: Kernel) -> list[int]:
    """Return the common runtime arguments, a list that the next run uses."""
    require_kernel("get_common_runtime_args", program, kernel)
    return kernel.common_args


SetRuntimeArgs = set_runtime_args
SetCommonRuntimeArgs = set_common_runtime_args
GetRuntimeArgs = get_runtime_args
GetCommonRuntimeArgs = get_common_runtime_args

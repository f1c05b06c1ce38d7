"""What a kernel was started with: runtime and compile-time arguments, defines, its place."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api.context import here

_ARGUMENT = 0
"""What the engine books for a runtime argument. Compile-time arguments are constants of the code: they take no time."""


def _argument(kind: str, values: Sequence[int], index: int) -> int:
    if 0 <= index < len(values):
        return values[index]
    kernel = here.kernel
    raise KernelArgumentError(f"{kind}: argument {index} is read, the host gave kernel {kernel.name} {len(values)}")


def get_arg_val(index: int) -> int:
    """Return a runtime argument of this core, an unsigned 32-bit word.

    Raises:
        KernelArgumentError: the host set fewer.
    """
    here.run.spend(_ARGUMENT)
    return _argument("get_arg_val", here.kernel.args, index)


get_arg = get_arg_val


def get_common_arg_val(index: int) -> int:
    """Return a runtime argument that all cores of the kernel share.

    Raises:
        KernelArgumentError: the host set fewer.
    """
    here.run.spend(_ARGUMENT)
    return _argument("get_common_arg_val", here.kernel.common_args, index)


def get_arg_addr(index: int) -> int:
    """Return the L1 address of a runtime argument."""
    return int(here.run.argument_address(index))


def get_common_arg_addr(index: int) -> int:
    """Return the L1 address of a runtime argument that all cores of the kernel share."""
    return get_arg_addr(len(here.kernel.args) + index)


def get_compile_time_arg_val(index: int) -> int:
    """Return a compile-time argument.

    Raises:
        KernelArgumentError: the kernel has fewer.
    """
    return _argument("get_compile_time_arg_val", here.kernel.compile_args, index)


def kernel_compile_time_args() -> tuple[int, ...]:
    """Return all compile-time arguments."""
    return tuple(here.kernel.compile_args)


def get_named_compile_time_arg_val(name: str) -> int:
    """Return a compile-time argument by its name.

    Raises:
        KernelArgumentError: the kernel has none of that name.
    """
    values = here.kernel.named_compile_args
    if name not in values:
        known = ", ".join(values) or "none"
        raise KernelArgumentError(f"get_named_compile_time_arg_val: no argument {name!r}; the kernel has {known}")
    return int(values[name])


def get_define(name: str, default: str | None = None) -> str:
    """Return what a define of the kernel stands for. In C++ the preprocessor does this.

    Raises:
        KernelArgumentError: there is no such define and no default.
    """
    value = here.kernel.defines.get(name, default)
    if value is None:
        raise KernelArgumentError(f"get_define: the kernel has no define {name!r}")
    return str(value)


def get_absolute_logical_x() -> int:
    """Return the column of this core in the grid."""
    return int(here.kernel.core[0])


def get_absolute_logical_y() -> int:
    """Return the row of this core in the grid."""
    return int(here.kernel.core[1])


def get_relative_logical_x() -> int:
    """Return the column of this core inside the kernel's cores."""
    return int(here.kernel.core[0] - here.kernel.origin[0])


def get_relative_logical_y() -> int:
    """Return the row of this core inside the kernel's cores."""
    return int(here.kernel.core[1] - here.kernel.origin[1])


class _Coordinate:
    """`my_x[noc]` and `my_y[noc]`: own NoC coordinates, the same on both networks."""

    def __init__(self, axis: int) -> None:
        self._axis = axis

    def __getitem__(self, noc: int) -> int:
        if noc not in (0, 1):
            raise KernelArgumentError(f"my_x, my_y: noc must be 0 or 1, got {noc}")
        return int(here.kernel.noc_coord[self._axis])


my_x = _Coordinate(0)
my_y = _Coordinate(1)


def noc_index() -> int:
    """Return the network that this kernel uses unless a call says otherwise. A constant in C++."""
    return int(here.kernel.noc_index)

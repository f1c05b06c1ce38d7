"""Arguments of a kernel: runtime and compile-time arguments, defines, core coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api.bindings import CrtaArg, CtaVal, RtaArg
from ttnn.kernel_api.bindings_context import bindings_of
from ttnn.kernel_api.context import here

_ARGUMENT = 0
"""Cycles of reading a runtime argument.

Compile-time arguments are constants of the code and cost nothing.
"""


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


def get_arg(arg: RtaArg | CrtaArg | CtaVal | int) -> int:
    """Return an argument by name, `get_arg(args.tiles)`, or a runtime argument by index.

    Raises:
        KernelArgumentError: something else.
    """
    if isinstance(arg, CtaVal):
        return arg.value
    if isinstance(arg, RtaArg):
        return get_arg_val(arg.byte_offset // 4)
    if isinstance(arg, CrtaArg):
        return get_common_arg_val(arg.byte_offset // 4)
    if isinstance(arg, int):
        return get_arg_val(arg)
    raise KernelArgumentError(f"get_arg: expected a name of `args`, got {arg!r}")


def get_common_arg_val(index: int) -> int:
    """Return a runtime argument that all cores of the kernel share.

    Raises:
        KernelArgumentError: the host set fewer.
    """
    here.run.spend(_ARGUMENT)
    return _argument("get_common_arg_val", here.kernel.common_args, index)


def get_vararg(index: int) -> int:
    """Return one of the core's arguments without names.

    Raises:
        KernelArgumentError: the host set fewer.
    """
    first = len(bindings_of("get_vararg").runtime_args)
    here.run.spend(_ARGUMENT)
    return _argument("get_vararg", here.kernel.args[first:], index)


def get_common_vararg(index: int) -> int:
    """Return an unnamed argument that all the kernel's cores share.

    Raises:
        KernelArgumentError: the host set fewer.
    """
    first = bindings_of("get_common_vararg").common_vararg_word
    here.run.spend(_ARGUMENT)
    return _argument("get_common_vararg", here.kernel.common_args[first:], index)


def get_compile_time_vararg(index: int) -> int:
    """Return one of the compile-time arguments without names.

    Raises:
        KernelArgumentError: the kernel has fewer.
    """
    first = bindings_of("get_compile_time_vararg").compile_time_vararg_word
    return _argument("get_compile_time_vararg", here.kernel.compile_args[first:], index)


def get_num_compile_time_varargs() -> int:
    """Return the number of compile-time arguments without names."""
    return bindings_of("get_num_compile_time_varargs").num_compile_time_varargs


def get_arg_addr(index: int) -> int:
    """Return the L1 address of a runtime argument."""
    return int(here.run.argument_address(index))


def get_common_arg_addr(index: int) -> int:
    """Return a common runtime argument's L1 address."""
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
    """Return the value of a kernel define.

    In C++ the preprocessor does this.

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
    """Return the default NoC of this kernel. A constant in C++."""
    return int(here.kernel.noc_index)

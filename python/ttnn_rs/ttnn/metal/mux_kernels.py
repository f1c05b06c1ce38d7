"""Kernels of mux cores.

A mux core forwards packets of several workers to one connection. Their files are known by name and are not executed: a
core that runs one forwards each packet at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from ttnn.base.exceptions import KernelArgumentError

if TYPE_CHECKING:
    from ttnn.metal.program_parts import Kernel

_FOLDER: Final = ("tt_metal", "fabric", "impl", "kernels")
_CHANNELS: Final = "fabric_mux_v2_num_channels"
"""Named compile-time argument of the second kind."""
_FIRST_CHANNEL: Final = 18
"""Place of the channels among the first kind's compile-time arguments."""
_MOST_CHANNELS: Final = 64
_MUX: Final = 0x4000_0000
"""Bit of the number of a mux core's channel."""


def tt_fabric_mux() -> None:
    """Stand for the kernel of the same name."""


def tt_fabric_mux_v2() -> None:
    """Stand for the kernel of the same name."""


_KERNELS: Final[dict[str, Callable[[], None]]] = {
    f"{kernel.__name__}.cpp": kernel for kernel in (tt_fabric_mux, tt_fabric_mux_v2)
}


def mux_kernel(path: PurePath) -> Callable[[], None] | None:
    """Return the stand-in for a mux kernel's file, or None."""
    return _KERNELS.get(path.name) if path.parts[-5:-1] == _FOLDER else None


def is_mux(kernel: Kernel) -> bool:
    """Return whether a kernel is that of a mux core."""
    return kernel.function in _KERNELS.values()


class Mux(NamedTuple):
    """A mux core.

    Attributes:
        core: Its place in the grid.
        numbers: Numbers by which workers name its channels.
        connection: The connection that it forwards to.
    """

    core: tuple[int, int]
    numbers: tuple[int, ...]
    connection: int


def muxes_of(kernels: Sequence[Kernel], coordinates: Mapping[tuple[int, int], tuple[int, int]]) -> list[Mux]:
    """Return the mux cores of a program.

    Args:
        kernels: Its kernels.
        coordinates: NoC coordinates of the cores.

    Raises:
        KernelArgumentError: a mux kernel has other arguments than `FabricMuxConfig` makes.
    """
    muxes = []
    for kernel in kernels:
        manages = kernel.function is tt_fabric_mux_v2 and kernel.risc == 1
        if not is_mux(kernel) or manages:
            continue
        channels = _channels(kernel)
        for core in kernel.cores._places():
            x, y = coordinates[core]
            numbers = tuple(_MUX | x << 16 | y << 8 | channel for channel in channels)
            muxes.append(Mux(core, numbers, _connection(kernel, kernel.args.get(core, []))))
    return muxes


def _channels(kernel: Kernel) -> list[int]:
    """Return the numbers of a mux kernel's channels."""
    words = list(kernel.config.compile_args)
    if kernel.function is tt_fabric_mux_v2:
        count = kernel.config.named_compile_args.get(_CHANNELS, 0)
        channels = list(range(count)) if isinstance(count, int) and 0 < count <= _MOST_CHANNELS else []
    else:
        count = words[0] + words[3] if len(words) > _FIRST_CHANNEL else 0
        channels = words[_FIRST_CHANNEL : _FIRST_CHANNEL + count] if 0 < count <= _MOST_CHANNELS else []
    if len(channels) != count or not channels or not all(0 <= channel < 256 for channel in channels):
        raise KernelArgumentError(
            f"kernel {kernel.name}: its compile-time arguments name no channels; FabricMuxConfig makes them"
        )
    return channels


def _connection(kernel: Kernel, args: Sequence[int]) -> int:
    """Return the connection of a mux kernel's runtime arguments.

    Those of the first kind begin with regions of memory to clear.
    """
    start = 1 + 2 * args[0] if args and kernel.function is tt_fabric_mux else 0
    if len(args) < start + 3:
        raise KernelArgumentError(
            f"kernel {kernel.name}: {len(args)} runtime arguments have no words of a connection; FabricMuxConfig makes "
            "them"
        )
    return args[start]

"""System descriptors as plain data: chips, properties, connections.

Source: tt-mlir, `include/ttmlir/Dialect/TT/IR/TTOpsTypes.td` (SystemDescAttr) and the default of
`lib/Dialect/TT/IR/TTOpsTypes.cpp`; sizes of Blackhole from tt-metal, `tt_metal/soc_descriptors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from ttnn.base.exceptions import DeviceError
from ttnn.compiler.dialects.enums import ENUMS
from ttnn.compiler.limits import CHIPS

__all__ = ["ARCHITECTURES", "CHIP_NUMBERS", "ChipChannel", "ChipDesc", "Pair", "SystemDesc"]

Pair: TypeAlias = tuple[int, int]

_DATA_TYPES: Final = ENUMS["tt.supportedDataTypes"]
CHIP_NUMBERS: Final = (
    "l1_size",
    "num_dram_channels",
    "dram_channel_size",
    "noc_l1_address_align_bytes",
    "pcie_address_align_bytes",
    "noc_dram_address_align_bytes",
    "l1_unreserved_base",
    "erisc_l1_unreserved_base",
    "dram_unreserved_base",
    "dram_unreserved_end",
)
"""A chip's number fields, in text and binary order."""
_TILE_SIZES: Final = ((4, 16), (16, 16), (32, 16), (4, 32), (16, 32), (32, 32))


def _grid(rows: int, columns: int) -> tuple[Pair, ...]:
    return tuple((y, x) for y in range(rows) for x in range(columns))


@dataclass(frozen=True)
class ChipDesc:
    """Description of one chip.

    Sizes and addresses are in bytes, cores are (y, x).

    Attributes:
        arch: "grayskull", "wormhole_b0", "blackhole" or "quasar".
        grid: Rows and columns of worker cores.
        workers: Places of the worker cores; `dram`, `eth` and `eth_inactive` likewise.
        data_types: Words of `#tt.supportedDataTypes`.
        tile_sizes: Rows and columns of a tile.
    """

    arch: str = "wormhole_b0"
    grid: Pair = (8, 8)
    l1_size: int = 1_499_136
    num_dram_channels: int = 12
    dram_channel_size: int = 1 << 30
    noc_l1_address_align_bytes: int = 16
    pcie_address_align_bytes: int = 32
    noc_dram_address_align_bytes: int = 32
    l1_unreserved_base: int = 1024
    erisc_l1_unreserved_base: int = 1024
    dram_unreserved_base: int = 1024
    dram_unreserved_end: int = 1 << 30
    workers: tuple[Pair, ...] = field(default=_grid(8, 8))
    dram: tuple[Pair, ...] = field(default=tuple((8 + y, x) for x in range(4) for y in range(3)))
    eth: tuple[Pair, ...] = ()
    eth_inactive: tuple[Pair, ...] = ()
    data_types: tuple[str, ...] = _DATA_TYPES
    tile_sizes: tuple[Pair, ...] = _TILE_SIZES
    dst_physical_size_tiles: int = 16
    num_cbs: int = 32
    num_compute_threads: int = 1
    num_datamovement_threads: int = 2


@dataclass(frozen=True)
class ChipChannel:
    """A link between Ethernet cores of two chips."""

    device_id0: int
    core0: Pair
    device_id1: int
    core1: Pair


@dataclass(frozen=True)
class SystemDesc:
    """The chips of a system.

    Attributes:
        chips: The kinds of chips.
        chip_indices: For each chip its kind, an index into `chips`.
        capabilities: For each chip some of "pcie" and "host_mmio".
        coords: For each chip (rack, shelf, y, x).
        channels: Links between chips.

    Raises:
        DeviceError: No chip, a chip of no kind, or lists of different lengths.
    """

    chips: tuple[ChipDesc, ...] = (ChipDesc(),)
    chip_indices: tuple[int, ...] = (0,)
    capabilities: tuple[tuple[str, ...], ...] = (("pcie", "host_mmio"),)
    coords: tuple[tuple[int, int, int, int], ...] = ((0, 0, 0, 0),)
    channels: tuple[ChipChannel, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.chip_indices)
        if not self.chips or not count:
            raise DeviceError("a system descriptor has at least one chip.")
        if any(not 0 <= index < len(self.chips) for index in self.chip_indices):
            raise DeviceError(f"chip indices {self.chip_indices} name kinds 0 to {len(self.chips) - 1}.")
        if len(self.capabilities) != count or len(self.coords) != count:
            raise DeviceError(
                f"a system descriptor of {count} chips has {len(self.capabilities)} capabilities and "
                f"{len(self.coords)} coordinates: one of each per chip is expected."
            )

    @staticmethod
    def default() -> SystemDesc:
        """Return the default descriptor: one Wormhole chip, 8x8 workers."""
        return SystemDesc()

    @staticmethod
    def for_arch(arch: str, chips: int = 1) -> SystemDesc:
        """Return the descriptor of a system that this package simulates.

        Args:
            arch: "wormhole_b0" (n150; two chips are an n300) or "blackhole" (p150).
            chips: Number of chips, in one row. The first is connected to the host, each to its neighbours.

        Raises:
            DeviceError: An unknown architecture, no chip, or too many.
        """
        if arch not in ARCHITECTURES:
            raise DeviceError(f"architecture {arch!r} is unknown; there are {', '.join(ARCHITECTURES)}.")
        if not 1 <= chips <= CHIPS:
            raise DeviceError(f"a system has at least one chip and at most {CHIPS}, got {chips}.")
        chip = ARCHITECTURES[arch]
        if chips > 1:
            chip = replace(chip, eth=tuple((chip.grid[0], x) for x in range(2)))
        first = ("pcie", "host_mmio") if arch == "wormhole_b0" else ("host_mmio",)
        return SystemDesc(
            (chip,),
            (0,) * chips,
            tuple(first if index == 0 else () for index in range(chips)),
            tuple((0, 0, 0, index) for index in range(chips)),
            tuple(ChipChannel(index, (chip.grid[0], 1), index + 1, (chip.grid[0], 0)) for index in range(chips - 1)),
        )

    @staticmethod
    def of_links(
        arch: str, grid: Pair, host: Sequence[bool], places: Sequence[Pair], links: Sequence[tuple[int, int, int, int]]
    ) -> SystemDesc:
        """Return the descriptor of equal chips with links.

        Args:
            arch: "wormhole_b0" or "blackhole".
            grid: Rows and columns of worker cores of a chip.
            host: For each chip whether it is connected to the host.
            places: For each chip its row and column in the mesh of all chips.
            links: A chip, its Ethernet channel, the other chip and its channel. The core of a channel is (channel, 0).

        Raises:
            DeviceError: An unknown architecture, or no chip.
        """
        plain = SystemDesc.for_arch(arch)
        channels = sorted({channel for link in links for channel in link[1::2]})
        chip = replace(plain.chips[0], grid=grid, workers=_grid(*grid), eth=tuple((channel, 0) for channel in channels))
        return SystemDesc(
            (chip,),
            (0,) * len(host),
            tuple(plain.capabilities[0] if connected else () for connected in host),
            tuple((0, 0, *place) for place in places),
            tuple(ChipChannel(a, (first, 0), b, (second, 0)) for a, first, b, second in sorted(links)),
        )

    def summary(self) -> str:
        """Return a system's one-line identity.

        Architecture, grid and number of chips.
        """
        kinds = {index: self.chip_indices.count(index) for index in dict.fromkeys(self.chip_indices)}
        words = []
        for index, count in kinds.items():
            chip = self.chips[index]
            words.append(
                f"{count} x {chip.arch} of {chip.grid[0]}x{chip.grid[1]} workers with {chip.l1_size} bytes of L1, "
                f"{chip.num_dram_channels} DRAM channels of {chip.dram_channel_size} bytes"
            )
        return "; ".join(words)

    def differences(self, other: SystemDesc) -> list[str]:
        """Return a line for each fact that differs: its name, here, there."""
        if len(self.chip_indices) != len(other.chip_indices):
            return [f"number of chips: {len(self.chip_indices)} and {len(other.chip_indices)}"]
        lines = []
        for number, (mine, theirs) in enumerate(zip(self.chip_indices, other.chip_indices, strict=True)):
            here, there = self.chips[mine], other.chips[theirs]
            lines += [
                f"chip {number}: {name}: {getattr(here, name)} and {getattr(there, name)}"
                for name in ChipDesc.__dataclass_fields__
                if getattr(here, name) != getattr(there, name)
            ]
        for name in ("capabilities", "coords", "channels"):
            if getattr(self, name) != getattr(other, name):
                lines.append(f"{name}: {getattr(self, name)} and {getattr(other, name)}")
        return lines


#: The chip of each architecture.
ARCHITECTURES: Final[dict[str, ChipDesc]] = {
    "wormhole_b0": ChipDesc(),
    "blackhole": ChipDesc(
        arch="blackhole",
        grid=(10, 13),
        l1_size=1_572_864,
        num_dram_channels=8,
        dram_channel_size=4_278_190_080,
        pcie_address_align_bytes=64,
        noc_dram_address_align_bytes=64,
        # The schemas have 32 bits for the end of DRAM.
        dram_unreserved_end=4_278_190_080,
        workers=_grid(10, 13),
        dram=tuple((10, x) for x in range(8)),
        num_cbs=64,
    ),
}

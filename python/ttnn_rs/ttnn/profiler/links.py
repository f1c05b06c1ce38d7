"""Times of collectives: bytes that links between chips carry.

A router forwards packet after packet, and the busiest link decides. Constants are fitted to published measurements of
fabric benchmarks; `docs/meshes.md` has their errors. On Blackhole the workers that read and send pages decide, on lines
and rings. `rust/tt-noc/tests/fabric.rs` compares with packets that are simulated one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from ttnn.ops.ccl.transfers import Transfer
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import page_stream
from ttnn.profiler.operand import Operand
from ttnn.profiler.plan import Card, GroupTime, Plan, Timing

START_NS: Final = 10_000
"""Launch, barrier between the chips, and the first hop."""
PACKET_BYTES: Final = 4352
"""Most bytes of a packet, without its header."""
_SHORT: Final = 65_536
"""Bytes of slices below which the way to the last chip counts."""
_FULL: Final = 4096
"""Bytes of the packets that the times below are of."""


class _Router(NamedTuple):
    """Times of a generation's router.

    Attributes:
        line: Nanoseconds between two packets on a line, all chips sending both ways.
        ring: The same on a ring.
        line_byte: Nanoseconds of a byte of a packet on a line; the rest is the same for all packets.
        ring_byte: The same on a ring.
        hop: Nanoseconds to the next chip.
        hop_byte: Nanoseconds to the next chip for each byte of a packet.
    """

    line: float
    ring: float
    line_byte: float
    ring_byte: float
    hop: float
    hop_byte: float


ROUTERS: Final = {
    "wormhole_b0": _Router(371, 467, 0.0347, 0.0098, 800, 0.16),
    "blackhole": _Router(207, 207, 0.003, 0.003, 681, 0.034),
}
"""By generation."""


def packet_bytes(page_bytes: int) -> int:
    """Return a packet's bytes: whole pages, or part of one."""
    if page_bytes > PACKET_BYTES:
        return _FULL
    return max(1, PACKET_BYTES // max(1, page_bytes) * page_bytes)


def passes(transfer: Transfer) -> float:
    """Return how many slices the busiest link carries in a direction."""
    count = transfer.chips
    if transfer.routes == "one":
        return 1.0
    if transfer.routes == "all":
        return (count - 1) / 2 if transfer.ring else count - 1
    # Each pair of chips has a slice, which takes the shorter way.
    half = count // 2
    return half * (half + 1) / 2 if transfer.ring else half * (count - half)


def nanoseconds(transfer: Transfer, arch: str) -> float:
    """Return the predicted time of a transfer.

    Args:
        transfer: What chips send each other.
        arch: The generation of the chips.
    """
    router, packet = ROUTERS[arch], packet_bytes(transfer.page_bytes)
    full, of_byte = (router.ring, router.ring_byte) if transfer.ring else (router.line, router.line_byte)
    time = full - of_byte * (_FULL - min(packet, _FULL))
    packets = transfer.slice_bytes * passes(transfer) / transfer.links / packet
    way = (router.hop + router.hop_byte * packet) * transfer.hops if transfer.slice_bytes < _SHORT else 0.0
    return START_NS + packets * time + way


@dataclass(frozen=True, kw_only=True)
class LinkPlan(Plan):
    """The plan of a collective: the links between chips decide.

    Args:
        transfer: What chips send each other.
    """

    transfer: Transfer

    @property
    def cores(self) -> int:
        """Cores that send: one for each link and direction."""
        return 2 * self.transfer.links

    @property
    def directions(self) -> tuple[str, ...]:
        """The links that it uses, for timelines."""
        where = "all chips" if self.transfer.axis is None else f"axis {self.transfer.axis}"
        return tuple(f"links of {where}, {way}" for way in ("forward", "backward"))

    @property
    def gigabytes_per_second(self) -> float:
        """Bytes of the busiest link in a direction over the time."""
        moved = self.transfer.slice_bytes * passes(self.transfer) / self.transfer.links
        return moved / self.nanoseconds

    @cached_property
    def timing(self) -> Timing:
        """The predicted time."""
        cycles = round(nanoseconds(self.transfer, self.card.arch) * self.card.clock_mhz / 1000)
        ends = (cycles, 0, 0, 0, cycles)
        group = GroupTime(self.cores, ends, ends)
        return Timing(cycles, "links", (group,), _dram(self.inputs[:1]), _dram(self.outputs), 0)


def _dram(operands: Sequence[Operand]) -> int:
    return sum(operand.bytes for operand in operands if operand.buffer == "DRAM")


def link_plans(
    transfers: Sequence[Transfer], card: Card, inputs: tuple[Operand, ...], outputs: tuple[Operand, ...]
) -> list[Plan]:
    """Return the plans of a collective's device operations.

    Args:
        transfers: What chips send each other, in order.
        card: The card of each chip.
        inputs: The collective's operands.
        outputs: Its results.
    """
    plans: list[Plan] = []
    for transfer in transfers:
        name = f"{transfer.operation}DeviceOperation"
        attributes = (
            ("ring_size", str(transfer.chips)),
            ("num_links", str(transfer.links)),
            ("topology", f"Topology::{'Ring' if transfer.ring else 'Linear'}"),
            ("cluster_axis", "std::nullopt" if transfer.axis is None else str(transfer.axis)),
        )
        plans.append(LinkPlan(name, card, "", (), (), inputs, outputs, attributes, transfer=transfer))
        if transfer.added:
            summed = DeviceOperation("ReduceDeviceOperation", card, outputs * transfer.added, outputs, grid=card.grid)
            plans.append(page_stream(summed))
    return plans

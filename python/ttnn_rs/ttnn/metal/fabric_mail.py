"""Packets between the kernels of a mesh's chips."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from ttnn import _engine
from ttnn.base import exceptions
from ttnn.base.config import CONFIG
from ttnn.base.exceptions import KernelArgumentError, KernelError, RankError, UnsupportedError
from ttnn.device import routes
from ttnn.device.fabric_state import FABRIC
from ttnn.device.mesh_device import MeshDevice
from ttnn.device.ranks import Ranks
from ttnn.kernel_api.context import here
from ttnn.metal.scheduler import ChipRun, Connect, Post

NO_CHIP: Final = (1 << 32) - 1
"""Place of a chip that no open mesh has."""

Kernels = Mapping[int, Sequence[str]]
"""Descriptions of kernels by the place of their chip.

Places are in row-major order.
"""


def connect_chips(device: MeshDevice) -> Connect | None:
    """Return what connects runs on a device; None without a fabric.

    All chips of the mesh that was opened can be reached, also those without a program.
    """
    root = routes.whole_mesh(device)
    if not routes.is_connected(device):
        return None

    def connect(runs: Sequence[ChipRun]) -> Post:
        by_place = {run.program.chip.place: run for run in runs}
        engines = {place: run.run for place, run in by_place.items()}
        for chip in root.chips:
            if chip.place in root.own_places and chip.place not in engines:
                engines[chip.place] = _engine.ProgramRun(chip.engine, [], [], [])
        own = {place: [_describe(run, index) for index in range(len(run.kernels))] for place, run in by_place.items()}
        kernels = own if root.ranks is None else _of_all_ranks(root.ranks, own)
        _connect(root, dict(sorted(kernels.items())), by_place, engines)
        mail = _Mail(by_place, list(engines.values()))
        return mail if root.ranks is None else _MailOfRanks(mail, root.ranks, kernels)

    return connect


def _of_all_ranks(ranks: Ranks, own: Kernels) -> Kernels:
    """Return descriptions of the kernels that all processes run."""
    ranks.meet("kernels that a fabric connects", 0)
    parts = [json.loads(part) for part in ranks.exchange(json.dumps(own).encode())]
    return {int(place): kernels for part in parts for place, kernels in part.items()}


def _connect(
    root: MeshDevice, kernels: Kernels, by_place: Mapping[int, ChipRun], engines: Mapping[int, _engine.ProgramRun]
) -> None:
    """Tell each run which chips its packets reach."""
    system = root._system
    places = {chip.id: chip.place for chip in root.chips}
    numbers = {chip.place: chip.id for chip in root.chips}
    connections, wraps = routes.connections_of(system, FABRIC), FABRIC.wraps(system)
    sizes = FABRIC.header_bytes(system), FABRIC.max_payload_bytes()
    firsts: dict[int, int] = {}
    every: list[str] = []
    for place, described in kernels.items():
        firsts[place] = len(every)
        every += described
    for place, engine in engines.items():
        chip = numbers[place]
        lines = {
            channel: (direction, [places.get(other, NO_CHIP) for other in line])
            for channel, (direction, line) in connections[chip].items()
        }
        devices = [
            (
                *(0, number, places.get(other, NO_CHIP), routes.distance(system, wraps, chip, other)),
                routes.direction_to(system, wraps, chip, other),
            )
            for number, other in enumerate(system.chips)
        ]
        numbers_of_muxes = _muxes(by_place[place], lines) if place in by_place else {}
        grid = system.shape, wraps, system.place_of[chip]
        engine.set_fabric(firsts.get(place, 0), every, sizes, lines, numbers_of_muxes, devices, *grid)


def _muxes(run: ChipRun, lines: dict[int, tuple[int, list[int]]]) -> dict[int, int]:
    """Return the connection of each channel of a chip's mux cores.

    Raises:
        KernelArgumentError: the chip has no such connection.
    """
    muxes = run.program.layout.muxes
    for mux in muxes:
        if mux.connection not in lines:
            raise KernelArgumentError(
                f"{run.name}: the mux kernel on core {mux.core[0]}-{mux.core[1]} forwards to connection "
                f"{mux.connection}; the chip has connections {', '.join(map(str, lines)) or 'none'}"
            )
    return {number: mux.connection for mux in muxes for number in mux.numbers}


def _describe(run: ChipRun, index: int) -> str:
    kernel = run.kernels[index]
    return f"kernel {kernel.name} ({kernel.risc}) on core {kernel.core[0]}-{kernel.core[1]} of {run.name}"


class _Mail(Post):
    """Packets of one process."""

    def __init__(self, by_place: Mapping[int, ChipRun], engines: Sequence[_engine.ProgramRun]) -> None:
        self.mail, self.engines = _engine.Mail(CONFIG.fabric_shuffle), engines
        self._by_place = by_place

    def deliver(self) -> int:
        self.mail.collect(self.engines)
        return self.to_runs()

    def to_runs(self) -> int:
        """Deliver collected packets; return how many.

        Raises:
            KernelError: the first mistake of a sender, which becomes the running kernel.
        """
        try:
            return self.mail.deliver(self.engines)
        except (KernelError, UnsupportedError) as error:
            self.blame(error.sender)  # type: ignore[union-attr]  # the engine sets it
            raise

    def blame(self, sender: tuple[int, int]) -> bool:
        """Make a kernel the running one.

        Return False if another process runs it.

        Args:
            sender: Place of its chip, and its number there.
        """
        place, kernel = sender
        run = self._by_place.get(place)
        if run is not None:
            run.enter()
            here.kernel = run.kernels[kernel]
        return run is not None


class _MailOfRanks(Post):
    """Packets of all processes of a mesh.

    The processes take the same steps: each one delivers all packets in the same order, those for its own chips to their
    runs. So results do not depend on the number of processes.
    """

    def __init__(self, mail: _Mail, ranks: Ranks, kernels: Kernels) -> None:
        self._mail, self._ranks, self._kernels = mail, ranks, kernels
        self._over = False

    def deliver(self) -> int:
        for packets in self._exchange(self._mail.mail.packed(self._mail.engines)):
            self._mail.mail.unpack(packets)
        try:
            return self._mail.to_runs()
        except (KernelError, UnsupportedError) as error:
            place, kernel = error.sender  # type: ignore[union-attr]  # the engine sets it
            if self._mail.blame((place, kernel)):
                raise
            self.fail(error)
            raise RankError(f"{self._kernels[place][kernel]}: {error}") from None

    def anywhere(self, flag: bool) -> bool:
        return b"\1" in self._exchange(bytes([flag]))

    def lines(self, lines: list[str]) -> list[str]:
        return [line for part in self._exchange(json.dumps(lines).encode()) for line in json.loads(part)]

    def fail(self, error: BaseException) -> None:
        if not self._over:
            fact = {"error": type(error).__name__, "text": str(error), "sender": getattr(error, "sender", None)}
            self._over = True
            self._ranks.exchange(b"\0" + json.dumps(fact).encode())

    def _exchange(self, data: bytes) -> list[bytes]:
        """Return what all processes give.

        Raises:
            RankError: the program failed in another process.
            KernelError: another process found a mistake of a kernel here.
        """
        parts = self._ranks.exchange(b"\1" + data)
        for rank, part in enumerate(parts):
            if part[:1] == b"\0":
                self._over = True
                self._raise(rank, json.loads(part[1:]))
        return [part[1:] for part in parts]

    def _raise(self, rank: int, fact: dict[str, Any]) -> NoReturn:
        """Raise the error of another process."""
        kind: Any = getattr(exceptions, fact["error"], None)
        if isinstance(kind, type) and fact["sender"] is not None and self._mail.blame(tuple(fact["sender"])):
            raise kind(fact["text"])
        raise RankError(f"rank {rank} of {self._ranks.size}: {fact['text']}")

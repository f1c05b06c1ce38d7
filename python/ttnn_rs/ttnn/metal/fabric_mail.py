"""Packets between the kernels of a mesh's chips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn import _engine
from ttnn.base.config import CONFIG
from ttnn.base.exceptions import KernelArgumentError, KernelError, UnsupportedError
from ttnn.device import routes
from ttnn.device.fabric_state import FABRIC
from ttnn.device.mesh_device import MeshDevice
from ttnn.kernel_api.context import here
from ttnn.metal.scheduler import ChipRun, Connect, Deliver

NO_CHIP: Final = (1 << 32) - 1
"""Place of a chip that no open mesh has."""
OTHER_PROCESS: Final = NO_CHIP - 1
"""Place of a chip of another process."""


def connect_chips(device: MeshDevice) -> Connect | None:
    """Return what connects runs on a device; None without a fabric.

    All chips of the mesh that was opened can be reached, also those without a program; not those of other processes.
    """
    root = routes.whole_mesh(device)
    if not routes.is_connected(device):
        return None

    def connect(runs: Sequence[ChipRun]) -> Deliver:
        engines = {run.program.chip.place: run.run for run in runs}
        own = root.own_places
        for chip in root.chips:
            if chip.place in own and chip.place not in engines:
                engines[chip.place] = _engine.ProgramRun(chip.engine, [], [], [])
        _connect(root, runs, engines)
        mail, all_runs = _engine.Mail(CONFIG.fabric_shuffle), list(engines.values())
        by_place = {run.program.chip.place: run for run in runs}

        def deliver() -> int:
            try:
                return mail.deliver(all_runs)
            except (KernelError, UnsupportedError) as error:
                place, kernel = error.sender  # type: ignore[union-attr]  # the engine sets it
                sender = by_place[place]
                sender.enter()
                here.kernel = sender.kernels[kernel]
                raise

        return deliver

    return connect


def _connect(root: MeshDevice, runs: Sequence[ChipRun], engines: dict[int, _engine.ProgramRun]) -> None:
    """Tell each run which chips its packets reach."""
    system = root._system
    places = {chip.id: chip.place if chip.place in engines else OTHER_PROCESS for chip in root.chips}
    numbers = {chip.place: chip.id for chip in root.chips}
    connections, wraps = routes.connections_of(system, FABRIC), FABRIC.wraps(system)
    sizes = FABRIC.header_bytes(system), FABRIC.max_payload_bytes()
    kernels = [_describe(run, index) for run in runs for index in range(len(run.kernels))]
    by_place = {run.program.chip.place: run for run in runs}
    firsts: dict[int, int] = {}
    for run in runs:
        firsts[run.program.chip.place] = sum(len(other.kernels) for other in runs[: runs.index(run)])
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
        engine.set_fabric(firsts.get(place, 0), kernels, sizes, lines, numbers_of_muxes, devices, *grid)


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

"""The simulated system: the chosen one, or one chip."""

from __future__ import annotations

import ttnn
from ttnn import _engine
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc
from ttnn.device.systems import is_chosen, system_of_environment

__all__ = ["current_system"]


def current_system() -> SystemDesc:
    """Return the descriptor of the chosen system.

    Without a choice it is a chip of the generation that `get_arch_name` returns: an n150 or p150.

    Raises:
        DeviceError: The descriptor of the chosen system contradicts itself.
    """
    arch = ttnn.get_arch_name()
    if not is_chosen():
        return SystemDesc.for_arch(arch)
    system = system_of_environment()
    columns, rows = _engine.chip_info(system.chip)["grid"]
    chips = sorted(system.chips)
    number = {chip: index for index, chip in enumerate(chips)}
    links = [
        (number[link.chip], link.channel, number[link.other], link.other_channel)
        for link in system.links
        if link.chip in number and link.other in number
    ]
    places = [system.place_of[chip] for chip in chips]
    return SystemDesc.of_links(arch, (rows, columns), [chip in system.pcie for chip in chips], places, links)

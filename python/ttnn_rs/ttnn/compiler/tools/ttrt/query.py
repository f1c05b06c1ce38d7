"""`ttrt query`: the descriptor of the simulated system."""

from __future__ import annotations

import json
from typing import Any

from ttnn.compiler.runtime.system import current_system
from ttnn.compiler.target.flatbuffer.system_desc import to_table
from ttnn.compiler.tools.ttrt import binary as binaries
from ttnn.compiler.tools.ttrt.command import Command
from ttnn.compiler.tools.ttrt.runtime import get_current_system_desc

__all__ = ["Query"]


class Query(Command):
    """Describes the simulated system.

    Attributes:
        system_desc: Its descriptor, after a call.
        device_ids: Numbers of its devices, after a call.
    """

    name = "query"
    system_desc: binaries.SystemDesc
    device_ids: list[int]

    def execute(self) -> None:
        """Ask for the descriptor, and print it."""
        self.system_desc, self.device_ids = get_current_system_desc()
        if not self["--quiet"]:
            print(json.dumps(self.get_system_desc_as_dict(), indent=2))
        self.result("system_desc.ttsys", "pass")

    def postprocess(self) -> None:
        """Save the descriptor and the results."""
        if self["--save-artifacts"]:
            self.artifacts.save_system_desc(self.system_desc)
        if not self["--quiet"]:
            super().postprocess()

    def get_system_desc(self) -> binaries.SystemDesc:
        """Return the descriptor."""
        return self.system_desc

    def get_system_desc_as_dict(self) -> dict[str, Any]:
        """Return the descriptor as a dictionary."""
        return binaries.as_dict(self.system_desc)

    def current_system_table(self, language: str) -> dict[str, Any]:
        """Return the simulated system's table in a language's form."""
        return to_table(current_system(), language)

"""`ttrt check`: binaries compared with system descriptors."""

from __future__ import annotations

from typing import Any

from ttnn.base.exceptions import TtnnError
from ttnn.compiler.tools.ttrt.command import Command
from ttnn.compiler.tools.ttrt.query import Query
from ttnn.compiler.tools.ttrt.util import Binary, SystemDesc, compare_systems

__all__ = ["Check"]


class Check(Command):
    """Check that each binary was built for a system."""

    name = "check"

    def check_constraints(self) -> None:
        """Find binaries and descriptors, and leave out those of other versions."""

        def check(binary: Binary) -> None:
            binary.check_version(self["--ignore-version"])

        self.binaries = self.load_binaries(check)
        self.descriptors: list[SystemDesc] = []
        path = self["--system-desc"]
        if not path:
            return
        paths = self.file_manager.find_ttsys_binary_paths(path)
        if not paths:
            self.result(path, "error", f"{path}: no system descriptor. Give a .ttsys file, or a folder of them.")
            self.binaries = []

        def load(one: str) -> None:
            found = SystemDesc(self.logger, self.file_manager, one)
            found.check_version(self["--ignore-version"])
            self.descriptors.append(found)

        for one in paths:
            self.attempt(one, "skip", load, one)

    def execute(self) -> None:
        """Compare each binary with the descriptors.

        It passes if it was built for one of them.
        """
        query = Query({"--quiet": True, "--allow-files": self["--allow-files"]}, self.logger, self.artifacts)
        query()
        for binary in self.binaries:
            systems = [(found.fbb_dict["system_desc"], found.file_path) for found in self.descriptors]
            if not self["--system-desc"]:
                systems = [(query.current_system_table(binary.fbb.content.language), "the simulated system")]
            reasons = [reason for table, name in systems if (reason := _difference(binary, table, name))]
            passed = len(reasons) < len(systems)
            self.result(binary.file_path, "pass" if passed else "fail", "" if passed else "\n".join(reasons))
            if passed:
                print(f"{binary.file_path}: the system descriptor matches")

    def postprocess(self) -> None:
        """Save the binaries and the results."""
        if self["--save-artifacts"]:
            for binary in self.binaries:
                self.artifacts.save_binary(binary)
        super().postprocess()


def _difference(binary: Binary, table: dict[str, Any], name: str) -> str:
    """Return the mismatch of a binary and a system; empty if none."""
    try:
        compare_systems(binary, table, name)
    except TtnnError as error:
        return str(error)
    return ""

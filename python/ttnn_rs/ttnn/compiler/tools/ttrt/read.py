"""`ttrt read`: parts of binaries as JSON."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from ttnn.compiler.tools.ttrt.command import Command
from ttnn.compiler.tools.ttrt.util import Binary, Flatbuffer, SystemDesc

__all__ = ["Read"]


class Read(Command):
    """Prints parts of binaries: one JSON object a file.

    Attributes:
        output: The printed objects by path, after a call.
    """

    name = "read"
    output: dict[str, dict[str, Any]]

    def check_constraints(self) -> None:
        """Find binaries, and system descriptors if the section is theirs."""
        self.files: list[Flatbuffer] = []
        path, section = self["binary"], self["--section"]
        descriptors = self.file_manager.find_ttsys_binary_paths(path)
        if descriptors and section not in ("all", "version", "system_desc"):
            for one in descriptors:
                self.result(one, "skip", f"{one}: a system descriptor has no section {section}.")
            descriptors = []

        def check(found: Flatbuffer) -> None:
            found.check_version(self["--ignore-version"])

        def load(one: str) -> None:
            found = SystemDesc(self.logger, self.file_manager, one)
            check(found)
            self.files.append(found)

        for one in descriptors:
            self.attempt(one, "skip", load, one)
        if not (self.file_manager.is_file(path) and path.endswith(".ttsys")):
            self.files += self.load_binaries(check)

    def execute(self) -> None:
        """Print the sections."""
        self.output = {}
        section = self["--section"]
        for found in self.files:
            names: tuple[str, ...] = _BINARY_SECTIONS if isinstance(found, Binary) else ("version", "system_desc")
            if section != "all":
                names = (section,)
            self.output[found.file_path] = {name: _section(found, name) for name in names}
            print(json.dumps(self.output[found.file_path], indent=2))
            self.result(found.file_path, "pass")


_BINARY_SECTIONS = ("version", "system_desc", "mlir", "cpp", "inputs", "outputs", "op_stats", "mesh_shape")


def _section(found: Flatbuffer, name: str) -> Any:
    values = found.fbb_dict
    if name == "version":
        return {
            "version": found.version,
            "ttmlir_git_hash": found.fbb.ttmlir_git_hash,
            "file_identifier": found.fbb.file_identifier,
        }
    if name == "system_desc":
        return values.get("system_desc")
    if name == "mlir" and "mlir" in values:
        return values["mlir"]
    return [{"program": program.get("name"), name: _of_program(program, name)} for program in values["programs"]]


def _of_program(program: dict[str, Any], name: str) -> Any:
    debug = program.get("debug_info") or {}
    if name in ("mlir", "cpp"):
        return debug.get(name)
    if name == "op_stats":
        return dict(Counter(operation["type_type"] for operation in program.get("operations", [])))
    if name == "mesh_shape":
        shapes = [
            one["desc"].get("mesh_shape", [1, 1]) for one in [*program["inputs"], *program["outputs"]] if "desc" in one
        ]
        return shapes[0] if shapes else [1, 1]
    return program.get(name, [])

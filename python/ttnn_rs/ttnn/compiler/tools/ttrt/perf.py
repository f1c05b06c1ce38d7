"""`ttrt perf`: predicted operation times of a binary, as official sheet."""

from __future__ import annotations

import csv
import io
from itertools import product
from typing import Any

import ttnn
from ttnn.base.exceptions import TtnnError, UnsupportedError
from ttnn.base.files import write_atomically
from ttnn.compiler.conversion.ttnn_to_calls.calls import Call
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.tools.ttrt import runtime
from ttnn.compiler.tools.ttrt.command import Command
from ttnn.compiler.tools.ttrt.query import Query
from ttnn.compiler.tools.ttrt.run import Run, require_torch
from ttnn.compiler.tools.ttrt.util import Binary

__all__ = ["Located", "Perf"]

HOST_SHEET = "host_times.csv"


class Perf(Command):
    """Predictor of binaries' times.

    Times are those of the time model, not measured on a card.

    Attributes:
        sheets: Path of the sheet of each binary, after a call.
    """

    name = "perf"
    sheets: dict[str, str]

    def preprocess(self) -> None:
        """Ask for the simulated system."""
        self.query = Query({"--quiet": True, "--allow-files": self["--allow-files"]}, self.logger, self.artifacts)
        self.query()
        super().preprocess()

    def check_constraints(self) -> None:
        """Skip other versions and systems, and unexpected multi-program binaries.

        One program may be expected.
        """
        folder = self.file_manager.is_directory(self["binary"])
        if folder and not self["--host-only"]:
            self.binaries: list[Binary] = []
            self.result(self["binary"], "error", "a folder is given: times on the chip are predicted file by file.")
            return

        def check(binary: Binary) -> None:
            binary.check_version(self["--ignore-version"])
            binary.check_system_desc(self.query)
            chosen = len(binary.chosen_programs(str(self["--program-index"])))
            if chosen > 1 and not self["--host-only"]:
                raise UnsupportedError(
                    f"{binary.file_path}: it has {chosen} programs; choose one with --program-index, "
                    "or use --host-only."
                )

        self.binaries = self.load_binaries(check)

    def execute(self) -> None:
        """Run the binaries under the profiler, and write their sheets."""
        self.sheets = {}
        for binary in self.binaries:
            torch = require_torch()
            torch.manual_seed(0)
            folder = self.artifacts.get_binary_perf_folder_path(binary)
            run = Run({"binary": binary.file_path, "--loops": 1, "--result-file": ""}, self.logger, self.artifacts)
            for name in ("--program-index", "--init", "--allow-files", "--fabric-config"):
                run[name] = self[name]
            try:
                runtime.set_compatible_runtime(binary.fbb)
                rows: list[dict[str, Any]] = []
                with ttnn.profiler.profile() as profile:
                    located = Located(profile)
                    for mesh, indices in run.by_mesh(binary):
                        with runtime.opened(mesh, run.fabric()) as device:
                            for loop, index in product(range(self["--loops"]), indices):
                                device.observe = _HostTimes(rows, loop, index) if self["--host-only"] else located
                                run.run_program(device, binary, index)
                self.file_manager.create_directory(folder)
                if self["--host-only"]:
                    path = f"{folder}/{HOST_SHEET}"
                    _write(path, rows)
                else:
                    path = str(profile.to_csv(folder, columns={"LOC": located.locations}))
                    print(profile)
                self.sheets[binary.file_path] = path
                print(path)
                self.result(binary.file_path, "pass", predicted_nanoseconds=float(profile.total))
            except TtnnError as error:
                self.result(binary.file_path, "error", str(error))


class _HostTimes:
    """Adds a row for each call."""

    def __init__(self, rows: list[dict[str, Any]], loop: int, index: int) -> None:
        self._rows, self._loop, self._index = rows, loop, index

    def before(self, program: Program, call: Call, arguments: list[Any], keywords: dict[str, Any]) -> None:
        """Do nothing."""

    def after(self, program: Program, call: Call, result: Any, nanoseconds: int) -> None:
        """Add the row of a call."""
        row = {"LOOP": self._loop, "PROGRAM": self._index, "OP": call.operation, "OP CODE": call.function}
        self._rows.append(row | {"HOST DURATION [ns]": nanoseconds})


class Located:
    """Calls of programs that the device operations of a profile belong to.

    Device operations between calls, which move inputs and outputs, belong to none.
    """

    def __init__(self, profile: ttnn.profiler.Profile) -> None:
        self._profile = profile
        self._owners: list[tuple[Program, Call] | None] = []

    def before(self, program: Program, call: Call, arguments: list[Any], keywords: dict[str, Any]) -> None:
        """Leave what ran since the last call without an owner."""
        self._fill(None)

    def after(self, program: Program, call: Call, result: Any, nanoseconds: int) -> None:
        """Make a call the owner of what it ran."""
        self._fill((program, call))

    @property
    def owners(self) -> list[tuple[Program, Call] | None]:
        """Return program and call of each device operation."""
        self._fill(None)
        counts = self._profile.operations_of_calls
        return [owner for owner, count in zip(self._owners, counts, strict=True) for _ in range(count)]

    @property
    def locations(self) -> list[str]:
        """Return the location of each device operation, or an empty text."""
        return ["" if owner is None else owner[0].location(owner[1]) for owner in self.owners]

    def _fill(self, owner: tuple[Program, Call] | None) -> None:
        self._owners += [owner] * (self._profile.calls - len(self._owners))


def _write(path: str, rows: list[dict[str, Any]]) -> None:
    file = io.StringIO()
    writer = csv.DictWriter(file, ["LOOP", "PROGRAM", "OP", "OP CODE", "HOST DURATION [ns]"])
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, file.getvalue(), where="ttrt perf")

"""Steps of a run: compile, write source, execute.

`python -m ttnn.compiler.explorer.steps FOLDER` reads the request `FOLDER/request.json`, writes its files beside it and
prints lines, of which `@progress N` is its progress in percent.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import ttnn
from ttnn.base.exceptions import FileFormatError, TtnnError, UnsupportedError
from ttnn.base.files import read_json, write_atomically
from ttnn.compiler.conversion.ttnn_to_calls.calls import Call
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.explorer import models
from ttnn.compiler.explorer.runner import BINARY, CPP, LOWERED, PYTHON, RECORDS, REQUEST, RESULT
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.pipelines import run_steps
from ttnn.compiler.tools.output import UNEXPECTED
from ttnn.compiler.tools.translate import translate, ttnn_bytes
from ttnn.compiler.tools.ttrt import runtime
from ttnn.compiler.tools.ttrt.chisel import Chisel
from ttnn.compiler.tools.ttrt.perf import Located
from ttnn.compiler.tools.ttrt.query import Query
from ttnn.compiler.tools.ttrt.run import Run, require_torch
from ttnn.compiler.tools.ttrt.util import Binary
from ttnn.compiler.transforms.options import OptionError
from ttnn.compiler.versions import parse_module, print_module
from ttnn.profiler.rows import Row
from ttnn.profiler.table import dram_share, flop_share

__all__ = ["main"]

SHEET_FOLDER: Final = "perf"
_WHERE: Final = "tt-explorer"
_MEMORIES: Final = {
    "dram": ttnn.BufferType.DRAM,
    "l1": ttnn.BufferType.L1,
    "l1_small": ttnn.BufferType.L1_SMALL,
}


def _progress(percent: int) -> None:
    print(f"@progress {percent}", flush=True)


def _log(text: str) -> None:
    print(text, flush=True)


@dataclass
class _Lowered:
    """A lowered module.

    Attributes:
        module: The module whose operations are those of the binary.
        common: Its text before it was made ready for the binary, from which source is written.
        source: Text before the pipeline, or None if it was lowered already.
    """

    module: Module
    common: str
    source: str | None


def _lower(path: Path, options: str) -> _Lowered:
    source = models.text_of(path)
    module = models.module_of(source, path.name)
    if models.has_ttnn(module):
        _log("The model is lowered already: no pipeline runs.")
        return _Lowered(module, print_module(module, debuginfo=True), None)
    early = models.is_early(module)
    name = "ttir-to-ttnn-backend-pipeline" if early else "ttir-to-ttnn-common-pipeline"
    _log(f"Running {name} with options: {options}")
    run_steps(module, [(name, options)])
    common = print_module(module, debuginfo=True)
    if not early:
        _log("Running ttnn-common-to-runtime-pipeline")
        run_steps(module, [("ttnn-common-to-runtime-pipeline", "")])
    return _Lowered(module, common, source)


def _cpp(lowered: _Lowered) -> str:
    module = parse_module(lowered.common)
    if models.is_early(module):
        return str(translate("mlir-to-cpp", lowered.common))
    run_steps(module, [("ttnn-common-to-emitc-pipeline", "")])
    return str(translate("mlir-to-cpp", print_module(module)))


class _Observer(Located):
    """Calls of device operations, and the memory in use after each call.

    Attributes:
        device: Where programs run.
        chisel: Compares each call with its reference, if there is one.
        memory: Most bytes of a bank in use after an operation of a program, by kind.
        totals: Bytes of a bank, by kind.
    """

    device: Any = None

    def __init__(self, profile: ttnn.profiler.Profile, chisel: Chisel | None) -> None:
        super().__init__(profile)
        self.chisel = chisel
        self.memory: dict[tuple[str, int], dict[str, int]] = {}
        self.totals: dict[str, int] = {}

    def before(self, program: Program, call: Call, arguments: list[Any], keywords: dict[str, Any]) -> None:
        """Compute the references of a call."""
        super().before(program, call, arguments, keywords)
        if self.chisel is not None:
            self.chisel.before(program, call, arguments, keywords)

    def after(self, program: Program, call: Call, result: Any, nanoseconds: int) -> None:
        """Note what a call ran and the memory in use."""
        super().after(program, call, result, nanoseconds)
        if self.chisel is not None:
            self.chisel.after(program, call, result, nanoseconds)
        known = self.memory.setdefault((program.name, call.operation), dict.fromkeys(_MEMORIES, 0))
        for name, kind in _MEMORIES.items():
            view = ttnn.get_memory_view(self.device, kind)
            known[name] = max(known[name], view.total_bytes_allocated_per_bank)
            self.totals[name] = view.total_bytes_per_bank


def _measure(binary: Binary, folder: Path, seed: int, chisel: Chisel | None) -> dict[str, Any]:
    """Return times, memory and accuracy of the calls of public programs."""
    run = Run({"binary": binary.file_path, "--result-file": ""})
    require_torch().manual_seed(seed)
    runtime.set_compatible_runtime(binary.fbb)
    with ttnn.profiler.profile() as profile:
        observer = _Observer(profile, chisel)
        for mesh, indices in run.by_mesh(binary):
            with runtime.opened(mesh, run.fabric()) as device:
                observer.device, device.observe = device.device, observer
                for index in indices:
                    run.run_program(device, binary, index)
    profile.to_csv(folder / SHEET_FOLDER, columns={"LOC": observer.locations})
    operations: dict[tuple[str, int], dict[str, Any]] = {}
    for row, owner in zip(profile.all_rows, observer.owners, strict=True):
        if owner is None:
            continue
        program, call = owner
        one = operations.setdefault(
            (program.name, call.operation), {"location": program.location(call), "nanoseconds": 0.0, "rows": []}
        )
        facts: dict[str, Any] = {"code": row.plan.name}
        if isinstance(row, Row):
            one["nanoseconds"] += row.nanoseconds
            facts |= {
                "nanoseconds": row.nanoseconds,
                "cores": row.plan.cores,
                "bound": row.plan.timing.bound,
                "flop": flop_share(row.plan),
                "dram": dram_share(row.plan),
            }
        else:
            facts["reason"] = row.plan.reason
        one["rows"].append(facts)
    for key, used in observer.memory.items():
        operations.setdefault(key, {"location": "", "nanoseconds": 0.0, "rows": []})["memory"] = used
    for record in chisel.records if chisel is not None else ():
        found = operations.get((record["program"], record["operation"]))
        if found is not None and record.get("pcc") is not None:
            one = found.setdefault("accuracy", {"pcc": 1.0, "accumulated_pcc": 1.0})
            for name in one:
                one[name] = min(one[name], record.get(name, 1.0))
    if chisel is not None:
        write_atomically(folder / RECORDS, chisel.lines, where=_WHERE)
        _log(f"Compared with float64: {chisel.summary()}")
    print(profile, flush=True)
    total = profile.total
    return {
        "total_nanoseconds": float(total),
        "missing": total.missing,
        "memory_totals": observer.totals,
        "operations": [
            {"program": program, "operation": operation, **facts} for (program, operation), facts in operations.items()
        ],
    }


def _run(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    _progress(10)
    lowered = _lower(Path(request["model"]), request["options"])
    write_atomically(folder / LOWERED, print_module(lowered.module, debuginfo=True), where=_WHERE)
    _progress(20)
    result: dict[str, Any] = {}
    if request["cpp"]:
        _log("Writing C++")
        write_atomically(folder / CPP, _cpp(lowered), where=_WHERE)
        result["cpp"] = CPP
    try:
        write_atomically(folder / PYTHON, translate("mlir-to-python", lowered.common), where=_WHERE)
        result["python"] = PYTHON
    except (CompileError, UnsupportedError) as error:
        _log(f"No Python is written: {error}")
    _log("Writing the binary")
    data = ttnn_bytes(lowered.module, lowered.source)
    write_atomically(folder / BINARY, data, where=_WHERE)
    _progress(30)
    _log("Executing, with predicted times")
    query = Query({"--quiet": True, "--result-file": ""})
    query()
    binary = Binary(query.logger, query.file_manager, str(folder / BINARY))
    binary.check_system_desc(query)
    result |= _measure(binary, folder, request["seed"], Chisel() if request["chisel"] else None)
    _progress(90)
    return result


def main(arguments: list[str] | None = None) -> int:
    """Run the steps of a request; return the exit code."""
    (name,) = sys.argv[1:] if arguments is None else arguments
    folder = Path(name)
    request = read_json(folder / REQUEST, where=_WHERE)
    if not isinstance(request, dict):
        raise FileFormatError(f"{folder / REQUEST}: a request is an object.")
    try:
        result = _run(folder, request)
    except CompileError as error:
        print("".join(f"{diagnostic}\n" for diagnostic in error.diagnostics), file=sys.stderr, flush=True)
        return 1
    except (TtnnError, OptionError) as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        return 1
    except UNEXPECTED as error:
        print(f"error: a step failed on this model ({type(error).__name__}: {error})", file=sys.stderr, flush=True)
        return 1
    write_atomically(folder / RESULT, json.dumps(result, indent=1) + "\n", where=_WHERE)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Comparison of recorded official programs with the steps of ours.

A record lists the kernels of every program that a call builds. Both sides become lists of `Step`: one for each program
that computes. Programs that only move elements are left out on both sides. A Blackhole's records are those of a
Wormhole, except where its compute kernels are others.

    python tests/golden/op_programs.py [PATTERN] [--chip p100] [--each 2] [--write]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import program_options
import program_reductions
from op_calls import BLACKHOLE_CHIP, first_sentence
from op_calls import _names as names_of_calls
from program_forms import joined, normal_steps
from program_steps import Step, official_steps

import ttnn
from ttnn.base.observers import OBSERVERS, Observer
from ttnn.operation import numerics, registry

WORMHOLE_CHIP: Final = "n150"
FILE: Final = "host/op_programs_n150.jsonl.gz"
CHANGED: Final = {BLACKHOLE_CHIP: "blackhole/host/op_programs_p150.jsonl.gz"}
"""Records of calls whose compute kernels are others on a chip."""
DIFFERENCES: Final = Path(__file__).parent / "program_differences.json"
"""Operators whose programs differ in some calls: how many, and why."""
RECORDED: Final = Path(numerics.__file__).with_name("recorded.json")
"""Operators of which all recorded programs agree."""


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def read_programs(folder: Path, chip: str = WORMHOLE_CHIP) -> Iterator[dict[str, Any]]:
    """Yield a chip's records of a golden folder."""
    changed = {record["expr"]: record for record in _lines(folder / CHANGED[chip])} if chip in CHANGED else {}
    for record in _lines(folder / FILE):
        yield changed.pop(record["expr"], record)
    # Calls that a Wormhole refuses.
    yield from changed.values()


# Our side.

_FIDELITY: Final = {1: "LoFi", 2: "HiFi2", 3: "HiFi3", 4: "HiFi4"}
_QUIET: Final = (
    *("fill", "copy", "move", "gather", "scatter", "tile rows", "write_window"),
    *("plus_one", "isin", "nonzero"),  # Of data movement processors.
)


def _chain(steps: Sequence[Any]) -> tuple[Any, ...]:
    return tuple((step[0], step[1], *(step[2] if len(step) > 2 else ())) for step in steps)


def our_step(function: str, settings: dict[str, Any], noted: Any) -> Step | None:
    """Return the step of an engine function.

    None if it only moves elements.
    """
    formats, dst32 = tuple(settings.get("formats", ())), bool(settings.get("dst32"))
    fidelity = _FIDELITY.get(settings.get("fidelity", 0))
    if function == "move" and settings.get("out_tile") is None and settings.get("in_tile") is not None:
        return Step("sfpu", ((),), formats, dst32, None) if formats[0] != formats[1] else None
    if function in _QUIET:
        return None
    if function == "rotate":
        return Step("sfpu", ((("alt_complex_rotate90", "default"),),), formats, dst32, None)
    if function == "unary":
        return Step("sfpu", (_chain(settings["chain"]),), formats, dst32, None)
    if function == "binary":
        fpu = settings["engine"] == "fpu"
        op = (
            (settings["op"],)
            if fpu or settings["op"] == "isclose"
            else (settings["op"], settings.get("variant", "default"), *settings.get("parameters", ()))
        )
        if dst32 and op[1:] == ("nearest_even",):
            op = (op[0], "default")
        sides = [_chain(settings.get(name, ())) for name in ("pre_a", "pre_b", "post")]
        functions = (sides[0], sides[1], op, sides[2], bool(settings.get("packer_relu")))
        return Step(
            "fpu" if fpu else "sfpu binary", functions, formats, dst32, fidelity if fpu and op == ("mul",) else None
        )
    if function == "ternary":
        op = (settings["op"], "default", *settings["parameters"])
        tensors = [code for code, shape in zip(formats, settings["shapes"], strict=False) if shape]
        formats = (*tensors, formats[-1])
        return Step("ternary", (op,), formats, dst32, None)
    if function == "grid_sample":
        return Step("pool", (4,), (), dst32, fidelity)
    if function == "pool":
        # A window of one pixel moves it.
        fields = (settings["window"],)
        return Step("pool", fields, (), dst32, fidelity) if settings["window"] > 1 else None
    if function == "grid_sample":
        # Four pixels with their weights.
        return Step("pool", (4,), (), dst32, fidelity)
    if function == "product":
        return Step(*program_reductions.our_product(settings, fidelity))
    if function == "attention" and "approximate" in settings:
        return Step(*program_reductions.our_attention(settings, fidelity))
    if function == "reduce":
        return Step(*program_reductions.our_reduction(settings, fidelity))
    if function == "matmul":
        # With a single block there is nothing that the packer accumulates.
        blocks = -(-settings["kt"] // settings["kb"])
        accumulates = settings["l1_acc"] and blocks > 1
        functions = (settings["kb"], blocks, accumulates)
        return Step("matmul", functions, (*formats[:2], formats[3]), dst32, fidelity)
    if function == "pipeline":
        if noted is None:
            return Step("pipeline", (), (), False, None)
        fidelity = _FIDELITY.get(noted.fidelity)
        return Step(
            *(program_reductions.our_pipeline(noted, fidelity) or program_reductions.our_passes(noted, fidelity))
        )
    return Step(function, (), formats, dst32, fidelity)


class Steps(Observer):
    """Collects the steps of the calls that run."""

    def __init__(self) -> None:
        self.found: list[Step] = []
        self.result: Any = None
        self._noted: list[Any] = []
        self.inside: list[str] = []

    def operation_start(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.inside.append(operation.__name__)

    def operation_end(self, result: Any) -> None:
        self.inside.pop()

    def operation_failed(self, error: BaseException) -> None:
        self.inside.pop()

    def noted(self, program: Any) -> None:
        self._noted.append(program)

    def step(self, function: str, settings: dict[str, Any]) -> None:
        if "ttnn.zeros" in self.inside[:1]:
            return
        noted = next((p for p in reversed(self._noted) if hasattr(p, "_tensors")), None)
        step = our_step(function, settings, noted)
        if step is not None:
            self.found.append(step)


def our_steps(expression: str, names: dict[str, Any]) -> Steps:
    """Return the observer of a call, with its steps and result."""
    steps = Steps()
    OBSERVERS.append(steps)
    try:
        steps.result = eval(expression, {**names, "__name__": "official calls"})
    finally:
        OBSERVERS.remove(steps)
    return steps


@dataclass(frozen=True)
class Compared:
    """One recorded call.

    Attributes:
        expression: The call.
        official: The official steps.
        ours: Our steps, or the error that our call raises.
        differs: The first field in which they differ, empty if they agree.
    """

    expression: str
    official: list[Step]
    ours: list[Step] | str
    differs: str

    @property
    def operator(self) -> str:
        """The operator that is called."""
        return self.expression.partition("(")[0]


def names_of(device: ttnn.MeshDevice) -> dict[str, Any]:
    """Return what the recorded expressions refer to."""

    def ckc(
        fidelity: str, fp32: bool = False, l1: bool = False, approx: bool = False
    ) -> ttnn.WormholeComputeKernelConfig:
        return ttnn.init_device_compute_kernel_config(
            device.arch(),
            math_fidelity=getattr(ttnn.MathFidelity, fidelity),
            math_approx_mode=approx,
            fp32_dest_acc_en=fp32,
            packer_l1_acc=l1,
        )

    return {**names_of_calls(device), "DRAM": ttnn.DRAM_MEMORY_CONFIG, "MF": ttnn.MathFidelity, "ckc": ckc}


def compare(record: dict[str, Any], names: dict[str, Any]) -> Compared:
    """Compare one record."""
    official = official_steps(record) if "programs" in record else []
    try:
        observed = our_steps(record["expr"], names)
    except Exception as error:
        if "error" in record and first_sentence(record["message"]) in str(error):
            return Compared(record["expr"], official, [], "")
        return Compared(record["expr"], official, f"{type(error).__name__}: {error}", "raises")
    ours, result = observed.found, observed.result
    if "error" in record:
        return Compared(record["expr"], official, ours, "works")
    if not ours and isinstance(result, ttnn.Tensor) and not result.volume():
        # The official programs of results without elements do nothing.
        return Compared(record["expr"], official, ours, "")
    theirs = normal_steps(official)
    return Compared(record["expr"], official, ours, first_difference(theirs, joined(normal_steps(ours), theirs)))


def first_difference(official: list[Step], ours: list[Step]) -> str:
    """Return the first field in which steps differ, empty if they agree."""
    official, ours = program_reductions.joined(official), program_reductions.joined(ours)
    if len(official) != len(ours):
        return f"steps {len(official)} != {len(ours)}"
    for theirs, own in zip(official, ours, strict=True):
        for field, first, second in zip(Step._fields, theirs, own, strict=True):
            if field == "functions" and theirs.unit == "pipeline" and first[:1] == (program_reductions.ANY,):
                first, second = first[1:], second[1:]
            if first != second:
                return field
    return ""


def walk(folder: Path, chip: str, wanted: Callable[[str], bool] = lambda _: True) -> list[Compared]:
    """Compare a chip's records whose expression is wanted."""
    device = ttnn.open_device(device_id=0, l1_small_size=32768, chip=chip)
    try:
        names = names_of(device)
        return [compare(record, names) for record in read_programs(folder, chip) if wanted(record["expr"])]
    finally:
        ttnn.close_device(device)


def calls_of(entry: dict[str, Any], chip: str) -> int:
    """Return how many calls of a listed operator differ on a chip.

    A chip with another number than a Wormhole has an entry of its own.
    """
    return int(entry.get(chip, entry)["calls"])


def row_of(entry: dict[str, Any], chip: str, calls: int) -> dict[str, Any]:
    """Return an operator's row with a chip's count of differing calls."""
    row = {"calls": 0, "why": "", **entry}
    if chip == WORMHOLE_CHIP:
        return {**row, "calls": calls}
    others = {name: value for name, value in row.items() if name != chip}
    return others if calls == row["calls"] else {**others, chip: {"calls": calls, "why": row.get(chip, row)["why"]}}


def agreeing(compared: Sequence[Compared]) -> list[str]:
    """Return the operators of which all recorded programs agree.

    An operator that only moves elements is not one of them: nothing of its programs is compared.
    """
    different = {one.operator for one in compared if one.differs}
    computing = {one.operator for one in compared if one.official} - different
    return sorted(entry.name for entry in registry.entries() if f"ttnn.{entry.name}" in computing)


def options_of(compared: Sequence[Compared], *, ours: bool = False) -> dict[str, dict[str, str]]:
    """Return the options that change official programs, or ours where programs agree."""
    return program_options.options_of(
        (one.expression, normal_steps(one.ours if ours and not isinstance(one.ours, str) else one.official))
        for one in compared
        if not (ours and one.differs)
    )


def main() -> None:
    """Print the differences of calls that match a pattern.

    `--write` updates the lists of the test.
    """
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="regular expression for expressions")
    parser.add_argument("--chip", choices=(WORMHOLE_CHIP, *CHANGED), default=WORMHOLE_CHIP)
    parser.add_argument("--each", type=int, default=2, help="differences shown for each operator and field")
    parser.add_argument("--write", action="store_true", help="write the counts and operators of the test's lists")
    options = parser.parse_args()
    pattern = re.compile(options.pattern)
    compared = walk(Path(os.environ["TTNN_GOLDEN"]), options.chip, lambda text: pattern.search(text) is not None)
    shown: Counter[tuple[str, str]] = Counter()
    for one in compared:
        shown[one.operator, one.differs] += 1
        if one.differs and shown[one.operator, one.differs] <= options.each:
            print(f"{one.differs}: {one.expression}")
            for title, steps in (("official", one.official), ("ours", one.ours)):
                lines = [steps] if isinstance(steps, str) else [str(step) for step in steps]
                print(*(f"    {title}: {line}" for line in lines), sep="\n")
    different = Counter(one.operator for one in compared if one.differs)
    print(f"{len(compared) - different.total()} of {len(compared)} agree")
    print(different.most_common(40))
    if options.write and not options.pattern:
        listed = json.loads(DIFFERENCES.read_text(encoding="utf-8")) if DIFFERENCES.exists() else {}
        names = sorted({*different, *listed})
        rows = {name: row_of(listed.get(name, {}), options.chip, different[name]) for name in names}
        rows = {
            name: row for name, row in rows.items() if any(calls_of(row, chip) for chip in (WORMHOLE_CHIP, *CHANGED))
        }
        rows_of = (f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
        DIFFERENCES.write_text("{\n" + ",\n".join(rows_of) + "\n}\n", encoding="utf-8")
        if options.chip != WORMHOLE_CHIP:
            return
        program_options.TABLE.write_text(program_options.written(options_of(compared)), encoding="utf-8")
        RECORDED.write_text(json.dumps(agreeing(compared), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

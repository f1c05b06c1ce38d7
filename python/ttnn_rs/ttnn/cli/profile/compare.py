"""Measured and predicted times of recorded rows, and family table.

Of every row of a folder.
"""

from __future__ import annotations

import csv
import io
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from ttnn.base.exceptions import ArgumentError, TtnnError
from ttnn.base.files import read_text
from ttnn.cli.profile import anchors, falcon, kernels, rows, traces
from ttnn.profiler.device_operation import kind_of
from ttnn.profiler.families import make_plan

PROFILES = "op_profiles.csv"
ANCHORS = "perf_anchors.csv"
_FALCON: Final = "model:falcon7b"

_FAMILIES: Final = {
    "eltwise": ("Unary", "Binary", "BinaryNg", "Ternary", "Typecast"),
    "matmul": ("Matmul", "MinimalMatmul"),
    "conv2d": ("Conv2d",),
    "move": ("Move",),
    "interleaved_sharded": (
        *("InterleavedToSharded", "InterleavedToShardedPartial", "ShardedToInterleaved"),
        *("ShardedToInterleavedPartial", "Reshard"),
    ),
    "slice": ("Slice", "PaddedSlice", "SliceWrite"),
    "tilize_untilize": ("Tilize", "TilizeWithValPadding", "Untilize", "UntilizeWithUnpadding"),
    "halo": ("Halo",),
}
_FAMILY_OF: Final = {kind: family for family, kinds in _FAMILIES.items() for kind in kinds}


@dataclass(frozen=True)
class Prediction:
    """One recorded row.

    Attributes:
        family: Family of operators, or class of matrix products.
        name: What was measured.
        measured: In `unit`.
        predicted: Likewise, None if it cannot be predicted.
        unit: "ns", "cycles", "tokens/s".
        reason: Why it cannot.
    """

    family: str
    name: str
    measured: float
    predicted: float | None
    unit: str
    reason: str = ""

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        assert self.predicted is not None
        return self.predicted / self.measured - 1


def family_of(kind: str) -> str:
    """Return the family of a device operation by its name without ending."""
    return _FAMILY_OF.get(kind, kind)


def _predict(family: str, name: str, measured: float, unit: str, run: Callable[[], float]) -> Prediction:
    try:
        return Prediction(family, name, measured, run(), unit)
    except (TtnnError, ValueError, LookupError, ArithmeticError) as error:
        # A row that is written in another way is counted like one that has no plan.
        reason = str(error).partition("\n")[0]
        if not isinstance(error, TtnnError):
            reason = f"the row is not understood: {type(error).__name__}: {reason}"
        return Prediction(family, name, measured, None, unit, reason)


def _nanoseconds(row: Mapping[str, str], grid: tuple[int, int] | None) -> float:
    return make_plan(rows.describe(row, grid)).nanoseconds


def _cycles(row: Mapping[str, str]) -> float:
    return float(make_plan(anchors.describe(row)).timing.cycles)


def _table(folder: Path, name: str) -> Iterator[dict[str, str]]:
    path = folder / "silicon" / name
    if not path.is_file():
        raise ArgumentError(f"profile --compare: {folder} has no file silicon/{name}")
    yield from csv.DictReader(io.StringIO(read_text(path, where="profile --compare")))


def profiles(folder: Path) -> Iterator[Prediction]:
    """Yield the device operations of recorded profiles."""
    table = list(_table(folder, PROFILES))
    grids = rows.grids(table)
    for row in table:
        name = f"{row['source']} {row['op']} {row['cores']} cores {row['input_0']} {row['input_1']}"
        run = partial(_nanoseconds, row, grids.get(row["source"]))
        yield _predict(family_of(kind_of(row["op"])), name, float(row["kernel_ns"]), "ns", run)


def matmul_anchors(folder: Path) -> Iterator[Prediction]:
    """Yield the matrix products whose cycles are published."""
    for row in _table(folder, ANCHORS):
        if anchors.is_anchor(row):
            name = f"{row['id']} {row['shape']} {row['dtype']} {row['fidelity']} {row['memory']} trace {row['trace']}"
            measured = float(row["value"])
            yield _predict(anchors.class_of(row), name, measured, "cycles", partial(_cycles, row))


_NOT_PREDICTED: Final = (
    (r"model_e2e:.*|.*", r"QuietBox ?|Galaxy|n300|2 x p150|wh_galaxy.*", "several chips"),
    (r"model_e2e:.*", ".*", "end to end: the host's share is not predicted"),
    (r"model:.*", ".*", "the layers of this model are not described"),
    (r"matmul.*", ".*", "the time of a call on the host, or a product in another form"),
    (r"dram_.*|noc_data_movement|l1_memcpy.*", ".*", "a bandwidth: cargo test -p tt-noc -- --nocapture prints it"),
)
"""Operations and chips of `perf_anchors.csv` without prediction.

The reason is given; the first match counts.
"""


def models(folder: Path) -> Iterator[Prediction]:
    """Yield the kernel times of whole models, as tokens per second."""
    for row in _table(folder, ANCHORS):
        if row["op"] == _FALCON and row["metric"] == "device_throughput" and row["chip"] == "n150":
            run = partial(falcon.tokens_per_second, row["shape"])
            yield _predict(_FALCON, f"{row['id']} {row['shape']}", float(row["value"]), "tokens/s", run)


def other_anchors(folder: Path) -> Iterator[Prediction]:
    """Yield the published figures that no plan predicts, with the reasons."""
    for row in _table(folder, ANCHORS):
        op, chip = row["op"], row["chip"]
        if anchors.is_anchor(row) or (op == _FALCON and chip == "n150"):
            continue
        reason = next(
            (why for ops, chips, why in _NOT_PREDICTED if re.fullmatch(ops, op) and re.fullmatch(chips, chip)),
            f"no plan describes {op} on {chip}",
        )
        name = f"{row['id']} {chip} {op} {row['shape']} {row['metric']}"
        # Some figures are ranges.
        least = re.match(r"[\d.]+", row["value"])
        measured = float(least[0]) if least else math.nan
        yield Prediction(op.partition(":")[0], name, measured, None, row.get("unit", ""), reason)


def noc_traces(folder: Path) -> Iterator[Prediction]:
    """Yield the recorded traces of the network."""
    for row in traces.rows(folder):
        path, measured = folder / "noc" / row["trace_file"], float(row["golden_cycles"])
        yield _predict("noc_traces", row["workload"], measured, "cycles", partial(traces.predict, path))


def kernel_cycles(folder: Path) -> Iterator[Prediction]:
    """Yield kernels with published cycles per tile.

    Rows that are laws have no single figure.
    """
    for row in _table(folder, kernels.FILE):
        if re.fullmatch(r"[\d.]+", row["value"]):
            name, unit = f"{row['id']} {row['chip']} {row['kernel']}", row["what"].partition(" ")[0]
            yield _predict("kernel_cycles", name, float(row["value"]), unit, partial(kernels.predict, row))


def summary(predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Return a family's figures.

    Errors as fractions, None if nothing could be predicted.
    """
    known = [p for p in predictions if p.predicted is not None]
    errors = sorted(abs(p.error) for p in known)
    near = sum(1 for p in known if 0.5 <= 1 + p.error <= 2)
    return {
        "rows": len(predictions),
        "predicted": len(known),
        "median_error": statistics.median(errors) if errors else None,
        "mean_error": statistics.fmean(errors) if errors else None,
        "p90_error": errors[min(len(errors) - 1, int(0.9 * len(errors)))] if errors else None,
        "within_2x": near / len(known) if known else None,
    }


def extremes(predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Return rows, mean and worst error of a measurement class.

    Errors of those that could be predicted.
    """
    errors = [abs(p.error) for p in predictions if p.predicted is not None]
    return {
        "rows": len(predictions),
        "mean_error": statistics.fmean(errors) if errors else None,
        "worst_error": max(errors, default=None),
    }


def predicted(predictions: Sequence[Prediction]) -> int:
    """Return how many rows could be predicted."""
    return sum(p.predicted is not None for p in predictions)


def by_family(predictions: Sequence[Prediction]) -> dict[str, list[Prediction]]:
    """Return predictions by family, sorted by its name."""
    groups: dict[str, list[Prediction]] = defaultdict(list)
    for prediction in predictions:
        groups[prediction.family].append(prediction)
    return dict(sorted(groups.items()))


def reasons(predictions: Sequence[Prediction]) -> Counter[str]:
    """Return why rows cannot be predicted, and how many."""
    return Counter(p.reason for p in predictions if p.predicted is None)

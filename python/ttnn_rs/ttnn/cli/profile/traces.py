"""NoC traces of a chip: reader, source and duration per read.

Their timestamps are not used.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ttnn import _engine
from ttnn.base.exceptions import ArgumentError, FileFormatError
from ttnn.base.files import open_file, read_stream, read_text

RESULTS = "tt_npe_results.csv"
CHIP = "n150"

Processor = tuple[int, int, bool, list[tuple[int, int, int, int]]]
"""Node, BRISC flag, and reads: network, node, bytes.

0 bytes is a barrier.
"""


def rows(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the recorded traces with their measured cycles.

    Raises:
        ArgumentError: the folder has none.
    """
    path = folder / "noc" / RESULTS
    if not path.is_file():
        raise ArgumentError(f"profile --compare: {folder} has no file noc/{RESULTS}")
    yield from csv.DictReader(io.StringIO(read_text(path, where="profile --compare")))


def processors(path: Path) -> list[Processor]:
    """Return each processor's reads in a trace, in file order."""
    where = "profile --compare"
    try:
        with open_file(path, where=where) as packed, gzip.open(packed) as file:
            events: list[dict[str, Any]] = json.loads(read_stream(file, str(path), where=where))
    except (EOFError, RecursionError, ValueError, zlib.error) as error:
        raise FileFormatError(f"{where}: {path} is not a trace: {error}") from None
    found: list[Processor] = []
    for event in events:
        if event.get("type") == "READ":
            access = (int(event["noc"] != "NOC_0"), event["dx"], event["dy"], event["num_bytes"])
        elif event.get("type") == "READ_BARRIER_START":
            access = (0, 0, 0, 0)
        else:
            continue
        place = (event["sx"], event["sy"], event["proc"] == "BRISC")
        if not found or found[-1][:3] != place:
            found.append((*place, []))
        found[-1][3].append(access)
    return found


def predict(path: Path) -> int:
    """Return the predicted cycles of a trace.

    Raises:
        ArgumentError: the trace has no reads, so that nothing is known about its length.
    """
    found = processors(path)
    if not found:
        raise ArgumentError(f"{path.name}: the trace has no reads")
    return _engine.time_trace(CHIP, found)

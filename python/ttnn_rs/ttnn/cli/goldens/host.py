"""Host tensors: `host/host_tensors.npz`, through the constructor that users call."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ttnn
from ttnn.base.files import read_json
from ttnn.cli.goldens.chips import Chip
from ttnn.cli.goldens.raw import to_bytes
from ttnn.cli.goldens.walk import Archive, Checker, Computed, Verdict, no_checker

LAYOUTS = {"rm": ttnn.ROW_MAJOR_LAYOUT, "tile": ttnn.TILE_LAYOUT}
META = "host_tensors_meta.json"


def checker_of(name: str) -> Checker:
    """Return what checks the file `name` of `host/`."""
    return _check if name == "host_tensors.npz" else no_checker


def _check(path: Path, archive: Archive, _chip: Chip) -> Iterator[Verdict]:
    meta: dict[str, dict[str, Any]] = read_json(path.with_name(META), where="goldens")
    for name in archive:
        kind, _, rest = name.partition("/")
        if kind == "in":
            continue
        tensor = _tensor(rest, meta.get(rest, {}), archive)
        if kind == "bytes":
            yield Computed(name, to_bytes(tensor))
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # block floats decode to NaN patterns, whose conversion warns
                yield Computed(name, np.asarray(tensor.to_list(), np.float32))


def _tensor(rest: str, meta: dict[str, Any], archive: Archive) -> ttnn.Tensor:
    """Build the tensor of an array name.

    See `README.md` of the vectors.
    """
    parts = rest.split("/")
    options: dict[str, Any] = {}
    layout = ttnn.TILE_LAYOUT
    if rest.startswith("tileshape_"):
        case, dtype = "randn_40x50", parts[1]
        height, width = map(int, parts[0].removeprefix("tileshape_").split("x"))
        options["tile"] = ttnn.Tile((height, width))
    elif rest.startswith("pad_value_"):
        case, dtype = "randn_40x50", parts[1]
        options["pad_value"] = float(parts[0].removeprefix("pad_value_"))
    elif parts[0] == "col_tilize":
        case, dtype = "randn_40x50", parts[1]
        options["col_tilize"] = True
    elif parts[0] == "preserve_nan":
        case, dtype = parts[1], parts[2]
        options["preserve_nan_values"] = True
    elif parts[0] == "float_to_int":
        case, dtype = parts
        layout = ttnn.ROW_MAJOR_LAYOUT
    else:
        case, dtype, layout = parts[0], parts[1], LAYOUTS[parts[2]]
    case = meta.get("input", case)
    return ttnn.Tensor(archive[f"in/{case}"], getattr(ttnn, dtype), None, layout, **options)

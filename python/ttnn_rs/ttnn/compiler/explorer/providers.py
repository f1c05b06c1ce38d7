"""Values of nodes: predicted time, peaks, memory, layouts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ttnn.base.exceptions import ParameterError
from ttnn.compiler.explorer import models
from ttnn.compiler.explorer.conversion import is_execution
from ttnn.compiler.explorer.graph import Numbered, build
from ttnn.compiler.explorer.options import DISABLED, Settings, parse_lines
from ttnn.compiler.explorer.runner import LOWERED, Run, Runner
from ttnn.compiler.tools.ttrt.chisel import EXPECTED_PCC

__all__ = ["OPENED", "PROVIDERS", "Provider", "Values", "values"]

Value = float | str
ByOperation = dict[tuple[str, int], Value]
_HEAT: Final = ((0.0, "#fff8e1"), (1.0, "#e53935"))
_SHARE: Final = ((0.0, "#e3f2fd"), (1.0, "#1565c0"))


@dataclass
class Values:
    """Values of nodes with colours.

    Attributes:
        name: What they are.
        by_node: Number or text by node.
        gradient: Colours between the least and the largest number.
        thresholds: Colours of numbers up to bounds.
        colours: Colours of texts.
    """

    name: str
    by_node: dict[str, Value]
    gradient: tuple[tuple[float, str], ...] = ()
    thresholds: tuple[tuple[float, str], ...] = ()
    colours: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Provider:
    """A node data provider."""

    id: str
    name: str
    description: str
    icon: str
    values: Callable[[Run, Numbered], list[tuple[Values, ByOperation]]]
    chisel: bool = False


def values(provider: str, model: Path, graph: str, config: Mapping[str, Any]) -> list[Values]:
    """Return a provider's values for the nodes of a shown graph.

    The graph of a lowered module has a node for each operation. On the graph of a module before its pipeline, the
    values of operations stand at the last node with their location, times added.

    Args:
        provider: Its id.
        model: The file.
        graph: Id of the graph that is shown.
        config: Fields of the dialog: policy, overrides, seed.

    Raises:
        CompileError: The model cannot be compiled.
        ParameterError: A policy or an override that does not exist.
        TtnnError: A step failed.
    """
    one = PROVIDERS[provider]
    settings = parse_lines(
        config.get("policy", DISABLED), str(config.get("overrides") or ""), config.get("seed") or 0, chisel=one.chisel
    )
    run = Runner.run(model, settings)
    lowered = run.lowered(graph)
    placed: list[Values] = []
    source = build(models.load(model), graph)
    exact = is_execution(graph) or models.has_ttnn(models.load(model))
    for found, by_operation in one.values(run, lowered):
        if exact:
            found.by_node = {
                lowered.nodes[key].id: value for key, value in by_operation.items() if key in lowered.nodes
            }
        else:
            found.by_node = _by_location(by_operation, lowered, source)
        placed.append(found)
    if provider == RECOMPILE:
        _open(model, run, settings)
    return placed


def _by_location(by_operation: ByOperation, lowered: Numbered, source: Numbered) -> dict[str, Value]:
    nodes = {location: node for node, location in source.locations.items()}
    found: dict[str, Value] = {}
    for key, value in by_operation.items():
        node = nodes.get(lowered.locations.get(lowered.nodes[key].id, "")) if key in lowered.nodes else None
        if node is not None:
            before = found.get(node, 0.0)
            found[node] = value if isinstance(value, str) or isinstance(before, str) else before + value
    return found


def _times(run: Run) -> ByOperation:
    return {key: one["nanoseconds"] / 1000 for key, one in run.operations.items() if one["rows"]}


def _time(run: Run, lowered: Numbered) -> list[tuple[Values, ByOperation]]:
    return [(Values("Predicted time (us)", {}, gradient=_HEAT), _times(run))]


def _shares(run: Run, lowered: Numbered) -> list[tuple[Values, ByOperation]]:
    bounds: ByOperation = {}
    shares: dict[str, ByOperation] = {"dram": {}, "flop": {}}
    for key, one in run.operations.items():
        timed = [row for row in one["rows"] if "nanoseconds" in row]
        whole = sum(row["nanoseconds"] for row in timed)
        if not timed or not whole:
            continue
        longest = max(timed, key=lambda row: float(row["nanoseconds"]))
        bounds[key] = longest["bound"]
        for name, found in shares.items():
            found[key] = round(100 * sum(row[name] * row["nanoseconds"] for row in timed) / whole, 2)
    return [
        (Values("Share of DRAM peak (%)", {}, gradient=_SHARE), shares["dram"]),
        (Values("Share of FLOP peak (%)", {}, gradient=_SHARE), shares["flop"]),
        (Values("Bound", {}, colours=_BOUNDS), bounds),
    ]


def _memory(run: Run, lowered: Numbered) -> list[tuple[Values, ByOperation]]:
    def used(kind: str) -> ByOperation:
        return {key: one["memory"][kind] for key, one in run.operations.items() if "memory" in one}

    return [
        (Values("L1 in use (bytes per core)", {}, gradient=_HEAT), used("l1")),
        (Values("DRAM in use (bytes per bank)", {}, gradient=_HEAT), used("dram")),
    ]


def _layout(run: Run, lowered: Numbered) -> list[tuple[Values, ByOperation]]:
    found: ByOperation = {}
    kinds: ByOperation = {}
    for key, node in lowered.nodes.items():
        facts = {one.key: one.value for one in node.attrs}
        if "buffer_type" not in facts:
            continue
        place = facts.get("tensor_memory_layout", "").replace("_", " ")
        where = {"dram": "DRAM", "l1": "L1"}.get(facts["buffer_type"], "host")
        kinds[key] = f"{where} {place}".strip()
        sharded = "sharded" in place
        found[key] = f"{kinds[key]} {facts['grid_shape']}" if sharded else kinds[key]
    colours = {str(text): _LAYOUTS.get(str(kinds[key]), "#bdbdbd") for key, text in found.items()}
    return [(Values("Layout", {}, colours=colours), found)]


def _accuracy(run: Run, lowered: Numbered) -> list[tuple[Values, ByOperation]]:
    def of(name: str) -> ByOperation:
        return {key: one["accuracy"][name] for key, one in run.operations.items() if "accuracy" in one}

    colours = ((EXPECTED_PCC, "#e53935"), (2.0, "#a5d6a7"))
    return [
        (Values("PCC with float64, operands of the chip", {}, thresholds=colours), of("pcc")),
        (Values("PCC with float64 from the start", {}, thresholds=colours), of("accumulated_pcc")),
    ]


_BOUNDS: Final = {
    "DRAM": "#90caf9",
    "L1": "#ce93d8",
    "compute": "#a5d6a7",
    "reader": "#ffe082",
    "writer": "#ffab91",
}
_LAYOUTS: Final = {
    "DRAM interleaved": "#90caf9",
    "L1 interleaved": "#a5d6a7",
    "L1 height sharded": "#ffe082",
    "L1 width sharded": "#ffab91",
    "L1 block sharded": "#ce93d8",
}
RECOMPILE: Final = "tt_recompile"
_ALL: Final = (
    Provider("tt_time", "Predicted time", "Time of each operation on the chip, as ttrt perf", "timer", _time),
    Provider("tt_peaks", "Share of peaks", "Shares of the DRAM and FLOP peaks, and what decides", "speed", _shares),
    Provider("tt_memory", "Memory in use", "Bytes of buffers after each operation", "memory", _memory),
    Provider("tt_layout", "Layout", "Where results are, and how they are split", "grid_view", _layout),
    Provider(
        "tt_accuracy", "Accuracy", "Correlation of each operation with float64", "fact_check", _accuracy, chisel=True
    ),
    Provider(RECOMPILE, "Recompile with overrides", "Opens the new program beside the old one", "replay", _time),
)
PROVIDERS: Final[dict[str, Provider]] = {one.id: one for one in _ALL}
OPENED: list[Callable[[str], None]] = []
"""Are told the address of a page to open."""


def _open(model: Path, run: Run, settings: Settings) -> None:
    """Open the new program beside the model."""
    if not settings.overrides:
        raise ParameterError("tt-explorer: give at least one override, such as override-output-layout=add_1=8x8:l1.")
    models_ = [{"url": str(path), "adapterId": "tt_adapter"} for path in (model, run.folder / LOWERED)]
    for opened in OPENED:
        opened(json.dumps({"models": models_}))

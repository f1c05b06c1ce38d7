"""Adapter answers: graphs of files and folders, with overlays."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ttnn.compiler.explorer import models
from ttnn.compiler.explorer.folder import model_files, root
from ttnn.compiler.explorer.graph import MemoryShare, Numbered, build, with_fields
from ttnn.compiler.explorer.runner import CPP, PYTHON, Run, Runner
from ttnn.compiler.tools.ttrt.chisel import EXPECTED_PCC

__all__ = ["GraphCollection", "graph_id", "graph_of", "graphs_of_folder"]

_EXECUTION: Final = " - Execution "


@dataclass
class GraphCollection:
    """Graphs of a folder."""

    label: str
    graphs: list[Any] = field(default_factory=list)


@dataclass
class GraphPaths:
    """Models that can be opened."""

    graphPaths: list[str] = field(default_factory=list)  # noqa: N815


@dataclass
class Overlay:
    """Values of nodes with their colours."""

    results: dict[str, dict[str, float]]
    gradient: list[dict[str, Any]] = field(default_factory=list)
    thresholds: list[dict[str, Any]] = field(default_factory=list)


def graph_id(model: Path, run: Run | None) -> str:
    """Return the id of the graph of a model."""
    return model.name if run is None else f"{model.name}{_EXECUTION}{run.time}"


def is_execution(name: str) -> bool:
    """Return whether a graph id is that of a lowered module."""
    return _EXECUTION in name


def graph_of(model: Path) -> Any:
    """Return the graph of a model, or of its lowered module.

    The latter after a run.

    Raises:
        CompileError: The text is wrong.
        FileAccessError: The file cannot be read.
        FileFormatError: A binary is damaged, or has no text.
    """
    run = Runner.last(model)
    if run is None:
        return build(models.load(model), graph_id(model, None)).graph
    return executed(run, graph_id(model, run))


def executed(run: Run, name: str) -> Any:
    """Return the graph of a run with overlays, overrides and source."""
    lowered = run.lowered(name)
    _add_memory(lowered, run)
    fields: dict[str, Any] = {}
    times = {
        lowered.nodes[key].id: {"value": one["nanoseconds"]}
        for key, one in run.operations.items()
        if key in lowered.nodes and one["rows"]
    }
    overlays: dict[str, Any] = {}
    if times:
        gradient = [{"stop": 0, "bgColor": "yellow"}, {"stop": 1, "bgColor": "red"}]
        overlays["perf_data"] = {name: asdict(Overlay(times, gradient=gradient))}
    accuracy = accuracy_values(run, lowered)
    if accuracy:
        thresholds = [{"value": 0, "bgColor": "red"}, {"value": 1, "bgColor": "green"}]
        values = {node: {"value": pcc - EXPECTED_PCC} for node, pcc in accuracy.items()}
        overlays["accuracy_data"] = {name: asdict(Overlay(values, thresholds=thresholds))}
    if overlays:
        fields["overlays"] = overlays
    if run.settings.raw:
        fields["overrides"] = dict(run.settings.raw)
    for key, file in (("cppCode", CPP), ("pythonCode", PYTHON)):
        text = run.text(file)
        if text is not None:
            fields[key] = text
            lowered.graph.groupNodeAttributes[""][key] = str((run.folder / file).relative_to(root()))
    return with_fields(lowered.graph, fields)


def accuracy_values(run: Run, lowered: Numbered) -> dict[str, float]:
    """Return the correlation of each node with its reference."""
    return {
        lowered.nodes[key].id: one["accuracy"]["pcc"]
        for key, one in run.operations.items()
        if key in lowered.nodes and (one.get("accuracy") or {}).get("pcc") is not None
    }


def _add_memory(lowered: Numbered, run: Run) -> None:
    totals = run.result["memory_totals"]
    for key, one in run.operations.items():
        if key in lowered.nodes:
            for kind, used in (one.get("memory") or {}).items():
                share = used / totals[kind] if totals.get(kind) else 0.0
                lowered.nodes[key].attrs.append(MemoryShare(f"{kind}_memory", str(round(share, 4))))


def graphs_of_folder(folder: Path) -> GraphCollection:
    """Return the graphs of all models in a folder.

    Raises:
        CompileError: A text is wrong.
        FileAccessError: There are too many, or one cannot be read.
    """
    return GraphCollection(folder.name, [graph_of(path) for path in model_files(folder)])


def graph_paths(folder: Path) -> GraphPaths:
    """Return what can be opened in a folder of dumped text."""
    return GraphPaths([str(path) for path in model_files(folder)] if folder.is_dir() else [])

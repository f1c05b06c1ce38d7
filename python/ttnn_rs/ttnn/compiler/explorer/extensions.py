"""The extensions of Model Explorer: adapter and node data providers.

Only its server imports this module: the classes register themselves.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import model_explorer

from ttnn.base.exceptions import ParameterError, TtnnError
from ttnn.compiler.explorer import providers
from ttnn.compiler.explorer.conversion import graph_of, graph_paths, graphs_of_folder
from ttnn.compiler.explorer.folder import IR_FOLDER, model_path, root
from ttnn.compiler.explorer.graph import Graph
from ttnn.compiler.explorer.options import POLICIES, parse_settings
from ttnn.compiler.explorer.runner import Runner
from ttnn.compiler.ir.diagnostics import CompileError

__all__ = ["NodeDataProviders", "TTAdapter"]

ADAPTER: Final = "tt_adapter"


@dataclass
class TTAdapterMetadata(model_explorer.AdapterMetadata):  # type: ignore[misc]
    """Metadata of an adapter with settings."""

    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class Status:
    """Answer of `status_check`."""

    isDone: bool  # noqa: N815
    progress: int
    total: int
    error: str | None
    stdout: str


class TTAdapter(model_explorer.Adapter):  # type: ignore[misc]
    """Modules of the Tenstorrent compiler as graphs."""

    metadata = TTAdapterMetadata(
        id=ADAPTER,
        name="Tenstorrent MLIR adapter",
        description="Programs of the Tenstorrent compiler with predicted times on a simulated device.",
        fileExts=["mlir", "ttir", "ttnn"],
        settings={"optimizationPolicies": list(POLICIES), "supportsPreload": True},
    )

    def convert(self, model_path_: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the graph of a model, or the graphs of a folder."""
        path = model_path(model_path_)
        try:
            if path.is_dir():
                return {"graphCollections": [graphs_of_folder(path)]}
            return {"graphs": [graph_of(path)]}
        except CompileError as error:
            raise ParameterError("".join(f"{diagnostic}\n" for diagnostic in error.diagnostics)) from None

    def execute(self, model_path_: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Begin a run."""
        Runner.start(_file(model_path_), parse_settings(settings))
        return {"graphs": []}

    def status_check(self, model_path_: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the progress of the run."""
        return {"graphs": [Status(**Runner.status())]}

    def preload(self, model_path_: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the paths of dumped text."""
        folder = os.environ.get(IR_FOLDER)
        return {"graphs": [graph_paths(model_path(folder) if folder else root() / "ir")]}


def _file(path: str) -> Path:
    found = model_path(path)
    if not found.is_file():
        raise ParameterError(f"tt-explorer: {found.name} is a folder; one model is executed at a time.")
    return found


def _colours(values: providers.Values) -> Any:
    """Return values as node data."""
    data = model_explorer.node_data_builder
    results = {
        node: data.NodeDataResult(value, bgColor=values.colours.get(value) if isinstance(value, str) else None)
        for node, value in values.by_node.items()
    }
    gradient = [data.GradientItem(stop=stop, bgColor=colour) for stop, colour in values.gradient]
    thresholds = [data.ThresholdItem(value=value, bgColor=colour) for value, colour in values.thresholds]
    return data.GraphNodeData(results=results, name=values.name, gradient=gradient, thresholds=thresholds)


class NodeDataProviders(model_explorer.NodeDataProvider):  # type: ignore[misc]
    """Values of nodes from a run."""

    metadata: Final = [
        model_explorer.NodeDataProviderMetadata(
            id=one.id,
            name=one.name,
            description=one.description,
            icon=one.icon,
            filter=model_explorer.NodeDataProviderFilter(adapterIds=[ADAPTER]),
        )
        for one in providers.PROVIDERS.values()
    ]

    def get_config_editors(self, provider_id: str) -> Any:
        """Return the fields of the dialog."""
        editors = model_explorer.config_editor
        policies = [editors.OptionItem(value=name, label=name) for name in POLICIES]
        fields = [
            editors.DropDownConfigEditor(
                id="policy", label="Optimization policy", options=policies, defaultValue=POLICIES[0], required=True
            ),
            editors.TextAreaConfigEditor(
                id="overrides", label="Overrides", description="One per line: option=value", height=80, defaultValue=""
            ),
            editors.TextInputConfigEditor(id="seed", label="Seed of the inputs", number=True, defaultValue=0),
        ]
        return model_explorer.GetConfigEditorsResult(configEditors=fields)

    def run(
        self, provider_id: str, model_path: str, graph_id: str, config_values: dict[str, Any], graph: Graph | None
    ) -> Any:
        """Return the values of a provider."""
        try:
            found = providers.values(provider_id, _file(model_path), graph_id, config_values)
        except CompileError as error:
            return model_explorer.NodeDataProviderResult(error="".join(map(str, error.diagnostics)))
        except TtnnError as error:
            return model_explorer.NodeDataProviderResult(error=str(error))
        return model_explorer.NodeDataProviderResult(result=[_colours(one) for one in found])

"""A captured graph as indented text, or a graphviz plot.

The plot needs graphviz.

Source: tt-metal `ttnn/ttnn/graph.py` (lines of the text).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ttnn.base.exceptions import ParameterError, UnsupportedError
from ttnn.base.files import write_atomically
from ttnn.reports.extract import Graph
from ttnn.reports.nodes import Node

_LINES: Final = {
    "capture_start": "Capture Start",
    "capture_end": "Capture End",
    "buffer": "Add Device Buffer",
    "buffer_allocate": "Allocate Device Buffer",
    "buffer_deallocate": "Deallocate Device Buffer",
    "function_start": "Function Start: {name}",
    "function_end": "Function End:   {name}",
    "tensor": "Add Tensor: {tensor_id}",
    "circular_buffer_allocate": "Allocate Circular Buffer",
    "circular_buffer_deallocate_all": "Deallocate All Circular Buffers",
    "dataflow_buffer_allocate": "Allocate Dataflow Buffer",
    "sub_device_manager": "Sub-Device Manager: {sub_device_manager_id}",
    "program_execution": "Execute Program",
    "error": "Error: {error_type}",
}
_COLORS: Final = ("#5b8ff980", "#9270ca80", "#f6bd1680", "#5ad8a680", "#e8684a80", "#6dc8ec80")
_SUFFIXES: Final = (".svg", ".png", ".pdf")


def pretty_format(captured_graph: Graph) -> str:
    """Return one line per node, indented inside of functions.

    Raises:
        ParameterError: a node of an unknown type.
    """
    lines = []
    indent = 0
    for node in captured_graph:
        kind = node["node_type"]
        if kind not in _LINES:
            raise ParameterError(f"pretty_format: unknown node type {kind!r}", vendor=f"Unknown node type: {kind}")
        indent -= 4 * (kind == "function_end")
        lines.append(f"{' ' * indent}{_LINES[kind].format(**(node['params'] or {}))}\n")
        indent += 4 * (kind == "function_start")
    return "".join(lines)


def pretty_print(captured_graph: Graph) -> None:
    """Print what `pretty_format` returns."""
    print(pretty_format(captured_graph))


def visualize_node(graphviz_graph: Any, node: Node) -> None:
    """Add a node to a plot: type, and event's name or tensor."""
    said = node["params"] or {}
    label = "\n".join(filter(None, (node["node_type"], said.get("name"), said.get("tensor_id"))))
    graphviz_graph.node(f"node_{node['counter']}", _graphviz().escape(label), fillcolor="#dcdcdc")


def visualize_edge(graphviz_graph: Any, source_node_id: int, sink_node_id: int) -> None:
    """Add a connection to a plot."""
    graphviz_graph.edge(f"node_{source_node_id}", f"node_{sink_node_id}")


def visualize(
    captured_graph: Graph,
    *,
    file_name: str | os.PathLike[str] | None = None,
    visualize_node: Callable[..., None] = visualize_node,
    visualize_edge: Callable[..., None] = visualize_edge,
) -> Any:
    """Return the graph as a `graphviz.Digraph`, functions as boxes.

    The boxes are around what happens inside of them.

    Args:
        captured_graph: The graph.
        file_name: Draw it into this file too: .svg, .png or .pdf. That needs the program `dot` of graphviz.
        visualize_node: Adds a node.
        visualize_edge: Adds a connection.

    Raises:
        ParameterError: a file of another kind, or a function that has not ended.
        UnsupportedError: the Python package graphviz is not installed, or `file_name` is given and `dot` is not.
    """
    path = None if file_name is None else Path(file_name)
    if path is not None and path.suffix not in _SUFFIXES:
        suffixes = ", ".join(_SUFFIXES)
        raise ParameterError(f"visualize: file_name must end in one of {suffixes}, not in {path.suffix!r}")
    graphviz = _graphviz()
    style = {"style": "filled", "shape": "box", "fontsize": "10", "height": "0.2", "margin": "0"}
    graph = graphviz.Digraph(engine="dot", graph_attr={"ordering": "in", "rankdir": "TB"}, node_attr=style)
    outer: list[Any] = []
    inner = graph
    for node in captured_graph:
        if node["node_type"] == "function_start":
            outer.append(inner)
            inner = graphviz.Digraph(name=f"cluster_{node['counter']}")
            color = _COLORS[len(outer) % len(_COLORS)]
            inner.attr(label=graphviz.escape(node["params"]["name"]), bgcolor=color, shape="hexagon")
        visualize_node(inner, node)
        if node["node_type"] == "function_end":
            outer[-1].subgraph(inner)
            inner = outer.pop()
    if outer:
        raise ParameterError("visualize: a function of the graph has not ended", vendor="Call stack not empty")
    for node in captured_graph:
        for connection in node["connections"]:
            visualize_edge(graph, node["counter"], connection)
    if path is not None:
        draw(graph, path)
    return graph


def draw(graph: Any, path: Path) -> None:
    """Draw a `graphviz.Digraph` into a file.

    Raises:
        UnsupportedError: the program `dot` of graphviz is not installed.
    """
    try:
        picture = graph.pipe(format=path.suffix[1:])
    except _graphviz().ExecutableNotFound:
        raise UnsupportedError(
            f"visualize: {path} needs the program dot of graphviz, which is not installed; without file_name the "
            "graph is returned undrawn"
        ) from None
    write_atomically(path, picture, where="visualize")


def _graphviz() -> Any:
    try:
        return importlib.import_module("graphviz")
    except ImportError:
        raise UnsupportedError("visualize: the Python package graphviz is not installed") from None

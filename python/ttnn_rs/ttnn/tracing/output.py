"""A trace as a plot, and as source code.

Source: tt-metal `ttnn/ttnn/tracer.py` (names).
"""

from __future__ import annotations

import importlib
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ttnn.base.exceptions import ParameterError, UnsupportedError
from ttnn.reports.drawing import draw
from ttnn.tracing.nodes import (
    InputTensorIndex,
    Node,
    PositionalArgumentName,
    TorchModule,
    TorchModuleInput,
    TorchParameter,
    TorchTensor,
    TTNNTensor,
    name_of,
)
from ttnn.tracing.session import get_graph

_SUFFIXES = (".svg", ".png", ".pdf")


def visualize(
    *outputs: Any,
    file_name: str | os.PathLike[str] | None = None,
    show_modules: bool = True,
    max_depth: int | None = None,
) -> Any:
    """Return tensors' trace as a `graphviz.Digraph`.

    None, with a warning, without that package.

    Without the program `dot` of graphviz no file is written, with a warning: a port that draws its graph on the way
    goes on.

    Args:
        outputs: Traced tensors.
        file_name: Draw it into this file too: .svg, .png or .pdf.
        show_modules: Draw torch modules as boxes around what happens inside.
        max_depth: How deep modules are opened; all of them by default.

    Raises:
        ArgumentError: there is no traced tensor.
        ParameterError: a file of another kind.
    """
    path = None if file_name is None else Path(file_name)
    if path is not None and path.suffix not in _SUFFIXES:
        raise ParameterError(f"ttnn.tracer.visualize: file_name must end in .svg, .png or .pdf, not in {path.suffix!r}")
    try:
        graphviz = importlib.import_module("graphviz")
    except ImportError:
        warnings.warn("ttnn.tracer.visualize: no picture, the Python package graphviz is not installed", stacklevel=2)
        return None
    drawn = graphviz.Digraph(engine="dot", graph_attr={"rankdir": "TB"}, node_attr={"shape": "box", "fontsize": "10"})
    _draw_into(graphviz, drawn, get_graph(*outputs, flatten=not show_modules), max_depth)
    if path is not None:
        try:
            draw(drawn, path)
        except UnsupportedError as error:
            warnings.warn(f"ttnn.tracer.visualize: {error}", stacklevel=2)
    return drawn


def _draw_into(graphviz: Any, drawn: Any, graph: Any, depth: int | None) -> None:
    for node, facts in graph.nodes(data=True):
        operation = facts["operation"]
        if isinstance(operation, TorchModule) and depth != 0:
            inner = graphviz.Digraph(name=f"cluster_{node.unique_id}")
            inner.attr(label=str(operation))
            inner.node(node.name, _label(facts))
            _draw_into(graphviz, inner, operation.graph, None if depth is None else depth - 1)
            drawn.subgraph(inner)
        else:
            drawn.node(node.name, _label(facts))
    for source, sink, data in graph.edges(data=True):
        drawn.edge(source.name, sink.name, label=str(data["sink_input_index"]))


def _label(facts: Mapping[str, Any]) -> str:
    lines = [str(facts["operation"])]
    tensors = zip(facts["shapes"], facts["dtypes"], facts["layouts"], strict=True)
    lines += [f"{tuple(shape)} {dtype}{'' if layout is None else f' {layout}'}" for shape, dtype, layout in tensors]
    return "\n".join(lines)


def codegen(*outputs: Any) -> str:
    """Return source code of a trace's calls.

    A function per torch module, and `top_level_module`.

    Constants are not written out, and parameters are taken from an argument `parameters`.

    Raises:
        ArgumentError: there is no traced tensor.
    """
    graph = get_graph(*outputs)
    written: dict[str, str] = {}
    _write_modules(graph, written)
    ends = [(node, 0) for node in graph if graph.out_degree(node) == 0]
    return "\n\n".join([*written.values(), _function("top_level_module", graph, [], ends, "")])


def _write_modules(graph: Any, written: dict[str, str]) -> None:
    """Write functions of a graph's modules, merging equal ones.

    Those that differ in shapes only are one.
    """
    for node in _in_order(graph):
        operation = graph.nodes[node]["operation"]
        if isinstance(operation, TorchModule):
            _write_modules(operation.graph, written)
            prefix = name_of(operation.module)
            text = _function(str(operation), operation.graph, operation.inputs, operation.outputs, prefix)
            written.setdefault(re.sub(r"  #.*", "", text), text)


def _in_order(graph: Any) -> list[Node]:
    return list(importlib.import_module("networkx").topological_sort(graph))


def _function(name: str, graph: Any, inputs: Sequence[Node], outputs: Sequence[tuple[Node, int]], prefix: str) -> str:
    variables = {node: f"input_{index}" for index, node in enumerate(inputs)}
    given = ", ".join(["config", *variables.values()])
    lines = [f"def {name}({given}, *, parameters):" if inputs else f"def {name}():"]
    for node in _in_order(graph):
        facts = graph.nodes[node]
        if isinstance(facts["operation"], TorchModuleInput):
            continue
        edges = sorted(graph.in_edges(node, data=True), key=lambda edge: edge[2]["sink_input_index"])
        taken = [_value(graph, variables, source, data["source_output_index"]) for source, _, data in edges]
        variables[node] = f"variable_{len(variables) - len(inputs)}"
        shapes = ", ".join(str(tuple(shape)) for shape in facts["shapes"])
        lines.append(f"    {variables[node]} = {_expression(facts['operation'], taken, prefix)}  # {shapes}")
    lines.append(f"    return {', '.join(_value(graph, variables, node, index) for node, index in outputs)}")
    return "\n".join(lines) + "\n"


def _value(graph: Any, variables: Mapping[Node, str], node: Node, index: int) -> str:
    several = len(graph.nodes[node]["shapes"]) > 1
    return f"{variables[node]}[{index}]" if several else variables[node]


def _expression(operation: Any, taken: Sequence[str], prefix: str) -> str:
    if isinstance(operation, TorchParameter):
        return f"parameters.{name_of(operation.parameter).removeprefix(prefix).lstrip('.')}"
    if isinstance(operation, TorchTensor | TTNNTensor):
        return f"{operation}(...)"
    pairs = [(name, _argument(value, taken)) for name, value in operation.arg_name_value_pairs]
    texts = [text if isinstance(name, PositionalArgumentName) else f"{name}={text}" for name, text in pairs]
    if isinstance(operation, TorchModule):
        part = name_of(operation.module).removeprefix(prefix).lstrip(".")
        texts = ["config", *texts, f"parameters=parameters{f'.{part}' if part else ''}"]
    return f"{operation}({', '.join(texts)})"


def _argument(value: Any, taken: Sequence[str]) -> str:
    if isinstance(value, InputTensorIndex):
        return taken[value.index]
    if isinstance(value, list):
        return f"[{', '.join(_argument(part, taken) for part in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_argument(part, taken)}' for key, part in value.items())}}}"
    return str(value)

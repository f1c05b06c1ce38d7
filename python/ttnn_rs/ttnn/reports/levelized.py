"""A captured graph's functions to a level, with tensor edges.

Edges go from producers of tensors to consumers.

Source: tt-metal `ttnn/core/graph/levelized_graph.cpp` (vertices and their fields).
"""

from __future__ import annotations

from typing import Any

from ttnn.reports.extract import Graph
from ttnn.reports.nodes import Node

Vertex = dict[str, Any]


def extract_levelized_graph(trace: Graph, max_level: int = 1) -> list[Vertex]:
    """Return vertices by time: level 1 tensors, functions to a level.

    Tensors come first.

    Each has `counter` (its place in the list), `stacking_level`, `name`, `arguments`, `in_edges` and `out_edges`
    (places), `internals` (the functions one level below it), `output_info` and `output_shape`.

    Args:
        trace: The graph.
        max_level: The deepest level; 1 for the functions that the program calls.
    """
    return _Levels(trace, max_level).vertices


class _Levels:
    """The vertices of a graph while they are made."""

    def __init__(self, trace: Graph, max_level: int) -> None:
        self.trace = trace
        self.max_level = max_level
        self.vertices: list[Vertex] = []
        self.place: dict[int, int] = {}
        self.end_of: dict[int, int] = {}
        self.start_of: dict[int, int] = {}
        self.producer: dict[int, int] = {}
        self._pair_functions()
        self._find_producers()
        for node in trace:
            if node["node_type"] == "tensor" and node["stacking_level"] == 1:
                self._add(node, f"tensor[{node['params']['tensor_id']}]", [str(node["params"]["shape"])])
        for node in trace:
            if node["node_type"] == "function_start" and node["stacking_level"] <= max_level:
                self._add(node, node["params"]["name"], self._shapes(node))
        for node in trace:
            if node["counter"] in self.place:
                self._connect(node)
        for vertex in self.vertices:
            vertex["output_info"] = self._output_info(vertex)

    def _add(self, node: Node, name: str, shapes: list[str]) -> None:
        self.place[node["counter"]] = len(self.vertices)
        self.vertices.append(
            {
                "counter": len(self.vertices),
                "stacking_level": node["stacking_level"],
                "name": name,
                "arguments": list(node["arguments"]) if node["node_type"] == "function_start" else [],
                "in_edges": [],
                "out_edges": [],
                "internals": [],
                "output_info": [],
                "output_shape": shapes,
            }
        )

    def _pair_functions(self) -> None:
        """Find the end of every function."""
        started: list[int] = []
        for node in self.trace:
            if node["node_type"] == "function_start":
                started.append(node["counter"])
            elif node["node_type"] == "function_end":
                start = started.pop()
                self.end_of[start], self.start_of[node["counter"]] = node["counter"], start

    def _find_producers(self) -> None:
        """Find the outermost function that produces each tensor."""
        for node in self.trace:
            if node["node_type"] != "function_end":
                continue
            for tensor in self._tensors(node):
                known = self.producer.get(tensor)
                start = self.start_of[node["counter"]]
                if known is None or node["stacking_level"] < self.trace[known]["stacking_level"]:
                    self.producer[tensor] = start

    def _tensors(self, node: Node) -> list[int]:
        return [counter for counter in node["connections"] if self.trace[counter]["node_type"] == "tensor"]

    def _shapes(self, start: Node) -> list[str]:
        end = self.end_of.get(start["counter"])
        tensors = [] if end is None else self._tensors(self.trace[end])
        return list(dict.fromkeys(str(self.trace[tensor]["params"]["shape"]) for tensor in tensors))

    def _source(self, tensor: int) -> int | None:
        """Return a tensor's vertex, or its producer's."""
        if tensor in self.place:
            return self.place[tensor]
        return self.place.get(self.producer.get(tensor, -1))

    def _connect(self, node: Node) -> None:
        at = self.place[node["counter"]]
        vertex = self.vertices[at]
        if node["node_type"] == "tensor":
            source = self.place.get(self.producer.get(node["counter"], -1))
            if source is not None:
                vertex["in_edges"].append(source)
            return
        for tensor in node["input_tensors"]:
            source = self._source(tensor)
            if source is None or source == at:
                continue
            vertex["in_edges"].append(source)
            edges = self.vertices[source]["out_edges"]
            if at not in edges:
                edges.append(at)
        end = self.end_of.get(node["counter"])
        if end is not None:
            vertex["internals"] = [
                place
                for counter, place in self.place.items()
                if node["counter"] < counter < end
                and self.trace[counter]["node_type"] == "function_start"
                and self.trace[counter]["stacking_level"] == node["stacking_level"] + 1
            ]

    def _output_info(self, vertex: Vertex) -> list[str]:
        """Return same-level consumers' first tensor arguments."""
        consumers = (self.vertices[place] for place in vertex["out_edges"])
        firsts = (
            consumer["arguments"][0]
            for consumer in consumers
            if consumer["stacking_level"] == vertex["stacking_level"] and consumer["arguments"]
        )
        return list(dict.fromkeys(first for first in firsts if first.startswith("Tensor(")))[:1]

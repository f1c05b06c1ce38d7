"""Modules as graphs of Model Explorer: nodes, edges, attributes.

The classes have the fields of that program's `graph_builder`, which this module does not need.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from ttnn.compiler.dialects.attributes import EnumAttr, MemoryConfigAttr, TTNNLayoutAttr
from ttnn.compiler.dialects.enums import ENUMS
from ttnn.compiler.dialects.layout_attributes import LayoutAttr
from ttnn.compiler.ir.module import Module, location_name
from ttnn.compiler.ir.operations import written_name
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    BlockArgument,
    FuncOp,
    Operation,
    SSAValue,
    TensorType,
)
from ttnn.compiler.target.flatbuffer.system_desc import DATA_TYPES
from ttnn.compiler.transforms.ttnn.const_eval_hoist import function_kind

__all__ = [
    "EditableValue",
    "Graph",
    "KeyValue",
    "MemoryShare",
    "Node",
    "Numbered",
    "build",
    "full_location",
    "with_fields",
]

HIDDEN: Final = frozenset(
    {"ttnn.deallocate", "ttnn.get_device", "ttnn.empty", "ttir.empty", "tt.device", "ttcore.device"}
)
"""Operations without a node, as in the official adapter."""
_LONGEST: Final = 400
"""Characters of a shown attribute."""


@dataclass
class KeyValue:
    """An attribute of a node."""

    key: str
    value: str


@dataclass
class EditableValue(KeyValue):
    """An attribute that an override can change."""

    editable: dict[str, Any] = field(default_factory=dict)


@dataclass
class MemoryShare(KeyValue):
    """A share of a memory, between 0 and 1."""

    display_type: str = "memory"


@dataclass
class MetadataItem:
    """Attributes of one result."""

    id: str
    attrs: list[KeyValue] = field(default_factory=list)


@dataclass
class IncomingEdge:
    """An edge: from a result to an operand."""

    sourceNodeId: str  # noqa: N815
    sourceNodeOutputId: str = "0"  # noqa: N815
    targetNodeInputId: str = "0"  # noqa: N815


@dataclass
class NodeConfig:
    """Drawing options of a node."""

    pinToGroupTop: bool = False  # noqa: N815


@dataclass
class Node:
    """A node: an operation or an input."""

    id: str
    label: str
    namespace: str = ""
    attrs: list[KeyValue] = field(default_factory=list)
    incomingEdges: list[IncomingEdge] = field(default_factory=list)  # noqa: N815
    outputsMetadata: list[MetadataItem] = field(default_factory=list)  # noqa: N815
    config: NodeConfig = field(default_factory=NodeConfig)


@dataclass
class Graph:
    """A graph."""

    id: str
    nodes: list[Node] = field(default_factory=list)
    groupNodeAttributes: dict[str, dict[str, str]] = field(default_factory=dict)  # noqa: N815


def with_fields(graph: Graph, fields: dict[str, Any]) -> Any:
    """Return a graph with further fields, which some graphs have."""
    if not fields:
        return graph
    values = {one.name: getattr(graph, one.name) for one in dataclasses.fields(graph)} | fields
    kind = dataclasses.make_dataclass("Graph", [(name, Any) for name in values])
    return kind(**values)


@dataclass
class Numbered:
    """A graph with its operations by their place in a binary.

    Attributes:
        graph: The graph.
        nodes: Node by function name and number of the operation.
        locations: Full location of each node of an operation.
    """

    graph: Graph
    nodes: dict[tuple[str, int], Node] = field(default_factory=dict)
    locations: dict[str, str] = field(default_factory=dict)


def full_location(operation: Operation) -> str:
    """Return the text of an operation's location: `loc("name")`."""
    return attribute_text(operation.location)


def build(module: Module, name: str) -> Numbered:
    """Return the graph of a module.

    Args:
        module: A module of any dialect.
        name: Id of the graph.
    """
    return _Builder(name).module(module)


class _Builder:
    """The graph of one module, while it is made."""

    def __init__(self, name: str) -> None:
        self._made = Numbered(Graph(name))
        self._sources: dict[SSAValue, tuple[Node, int]] = {}
        self._ids: Counter[str] = Counter()
        self._groups: Counter[str] = Counter()
        self._inputs = 0
        self._schedule = 0

    def module(self, module: Module) -> Numbered:
        """Return the graph."""
        attributes = {one.key: one.value for one in _attributes(module.op)}
        for inner in module.op.walk():
            if inner.name == "builtin.module" and inner is not module.op:
                attributes |= {one.key: one.value for one in _attributes(inner)}
        self._made.graph.groupNodeAttributes[""] = attributes
        for function in module.functions():
            if function.body.blocks:
                self._function(function)
        return self._made

    def _function(self, function: FuncOp) -> None:
        name = function.sym_name.data
        constants = function_kind(function) == "const_eval" or "const_eval" in name
        namespace = f"const_eval/{name}" if constants else ""
        for block in function.body.blocks:
            number = 0
            for op in block.ops:
                node = self._operation(op, namespace)
                if op.name != "func.return":
                    if node is not None:
                        self._made.nodes[name, number] = node
                    number += 1

    def _operation(self, op: Operation, namespace: str) -> Node | None:
        if op.name in HIDDEN:
            return None
        location = full_location(op)
        name = location_name(op) or ""
        own = "" if op.name == "func.return" else "/".join(part for part in (namespace, name) if part)
        if op.regions:
            # What is inside has a group of its own.
            label = written_name(op)
            own = "/".join(part for part in (namespace, f"{label}_{self._groups[label]}") if part)
            self._groups[label] += 1
        node = Node(self._unique(location), written_name(op), own, config=NodeConfig(bool(op.regions)))
        node.attrs = _attributes(op)
        node.attrs += [KeyValue("named_location", name)] if name else []
        node.attrs.append(KeyValue("full_location", location))
        if op.results:
            node.attrs += tensor_attributes(op.results[0])
        node.attrs.append(KeyValue("schedule", str(self._schedule)))
        self._schedule += 1
        for number, result in enumerate(op.results):
            self._sources[result] = node, number
            node.outputsMetadata.append(MetadataItem(str(number), tensor_attributes(result)))
        if op.name != "ttcore.load_cached":
            self._edges(op, node, namespace)
        self._made.graph.nodes.append(node)
        self._made.locations[node.id] = location
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    self._operation(inner, own)
        return node

    def _edges(self, op: Operation, node: Node, namespace: str) -> None:
        for number, operand in enumerate(op.operands):
            if operand not in self._sources and isinstance(operand, BlockArgument):
                self._sources[operand] = self._input(operand, namespace), 0
            if operand in self._sources:
                source, result = self._sources[operand]
                node.incomingEdges.append(IncomingEdge(source.id, str(result), str(number)))

    def _input(self, argument: SSAValue, namespace: str) -> Node:
        group = f"{namespace}/Inputs" if namespace else "Inputs"
        assert isinstance(argument, BlockArgument)
        label = f"%{argument.name_hint or f'arg{argument.index}'}"
        attributes = tensor_attributes(argument)
        node = Node(f"input_{self._inputs}", label, group, attributes, [], [MetadataItem("0", attributes)])
        self._inputs += 1
        self._made.graph.nodes.append(node)
        return node

    def _unique(self, location: str) -> str:
        number = self._ids[location]
        self._ids[location] += 1
        return f"{location}__{number}"


def _attributes(op: Operation) -> list[KeyValue]:
    """Return an operation's attributes, some taken apart."""
    found: list[KeyValue] = []
    for name, value in [*op.properties.items(), *op.attributes.items()]:
        if isinstance(value, MemoryConfigAttr):
            found += [KeyValue(f"{name}: {key}", text) for key, text in _entries(value)]
        elif name == "conv2d_config":
            found += [
                EditableValue(key, text, {"input_type": "text"}) if key in CONV2D else KeyValue(key, text)
                for key, text in _entries(value)
            ]
        elif isinstance(value, EnumAttr):
            found.append(KeyValue(name, str(value.value)))
        else:
            found.append(KeyValue(name, _short(attribute_text(value))))
    return found


CONV2D: Final = (
    *("dtype", "weights_dtype", "activation", "deallocate_activation", "reallocate_halo_output"),
    *("act_block_h_override", "act_block_w_div", "reshard_if_not_optimal", "override_sharding_config", "shard_layout"),
    *("core_grid", "transpose_shards", "output_layout", "enable_act_double_buffer", "enable_weights_double_buffer"),
)
"""Fields of a convolution's configuration that overrides change."""


def _entries(value: Attribute) -> list[tuple[str, str]]:
    """Return the entries `name = value` of an attribute's text."""
    text = attribute_text(value)
    text = text[text.find("<") + 1 : text.rfind(">")]
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "<[({") - (letter in ">])}")
        if letter == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    pairs = [part.partition("=") for part in parts if part.strip()]
    return [
        (left.strip(), _short(right.strip())) if equals else (f"entry {number}", _short(left.strip()))
        for number, (left, equals, right) in enumerate(pairs)
    ]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _options(name: str) -> dict[str, Any]:
    return {"input_type": "value_list", "options": list(ENUMS[name])}


_GRID: Final = {"input_type": "grid", "separator": "x", "min_value": 1, "max_value": 100, "step": 1}


def tensor_attributes(value: SSAValue) -> list[KeyValue]:
    """Return shape, type and layout of a value."""
    kind = value.type
    if not isinstance(kind, TensorType):
        return [KeyValue("type", _short(attribute_text(kind)))]
    shape = list(kind.get_shape())
    found = [
        KeyValue("shape", str(shape)),
        KeyValue("dtype", attribute_text(kind.element_type)),
        KeyValue("rank", str(len(shape))),
    ]
    layout = kind.encoding
    if isinstance(layout, TTNNLayoutAttr):
        found += _layout(layout.mem_layout, layout.grid.shape, layout.memref.get_shape())
        found += [
            EditableValue("buffer_type", layout.space, _options("ttnn.buffer_type")),
            EditableValue(
                "memory_layout",
                "tile" if layout.tiled else "row_major",
                {"input_type": "value_list", "options": ["row_major", "tile"]},
            ),
            EditableValue("data_type", layout.dtype, {"input_type": "value_list", "options": list(DATA_TYPES)}),
        ]
    elif isinstance(layout, LayoutAttr):
        found += _layout(layout.mem_layout, layout.grid.shape, layout.memref.get_shape())
        found += [
            EditableValue("buffer_type", layout.space, _options("tt.memory_space")),
            KeyValue("memory_layout", "tile" if layout.tiled else "row_major"),
        ]
    return found


def _layout(mem_layout: str | None, grid: Any, shard: Any) -> list[KeyValue]:
    words = [] if mem_layout in (None, "none") else [mem_layout]
    return [
        *(EditableValue("tensor_memory_layout", str(word), _options("ttnn.tensor_memory_layout")) for word in words),
        EditableValue("grid_shape", "x".join(map(str, grid)), dict(_GRID)),
        KeyValue("memref_shape", str(list(shard))),
    ]

"""The import of a graph, node by node, by the table."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ttnn.compiler.importers.builder import Builder, program, shape_of, tensor
from ttnn.compiler.importers.builder.steps import Refusal, WideNumber, refuse
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.importers.fx.table import ROWS
from ttnn.compiler.importers.fx.types import element_for
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["Imported", "import_graph", "row_of"]


@dataclass(frozen=True)
class Imported:
    """An imported graph.

    Attributes:
        module: The program; None if nodes were refused.
        refused: Nodes that cannot be imported, and why.
        wide: Those of them that have numbers beyond 32 bits.
    """

    module: Module | None
    refused: Mapping[Any, str]
    wide: frozenset[Any] = frozenset()


def row_of(target: Any) -> Row | None:
    """Return the row of an aten operation, by overload or name."""
    name = str(target)
    return ROWS.get(name) or ROWS.get(name.rpartition(".")[0])


def import_graph(graph: Any, kinds: Sequence[str], name: str = "main") -> Imported:
    """Return the `ttir` program of a functional graph of aten operations.

    Args:
        graph: The graph module; its nodes have descriptions of their values.
        kinds: Kind of each argument.
        name: Name of the function.
    """
    builder = Builder(name)
    scope = Scope(builder)
    values: dict[Any, Any] = {}
    refused: dict[Any, str] = {}
    wide: set[Any] = set()
    outputs: list[SSAValue] = []
    arguments = iter(kinds)
    for node in graph.graph.nodes:
        builder.location(node.name)
        try:
            if node.op == "placeholder":
                described = node.meta["val"]
                type_ = tensor([int(one) for one in described.shape], element_for(described.dtype))
                values[node] = builder.argument(node.name, type_, next(arguments))
            elif node.op == "get_attr":
                found = getattr(graph, node.target)
                # Parts of loops and branches are no values.
                values[node] = _constant(scope, found) if hasattr(found, "dtype") else None
            elif node.op == "call_function":
                values[node] = _call(scope, node, values)
            elif node.op == "output":
                outputs = [values[one] for one in node.args[0]]
            else:
                refuse("has no TTIR operation")
        except Refusal as refusal:
            refused[node] = str(refusal)
            if isinstance(refusal, WideNumber):
                wide.add(node)
            values[node] = _stand_in(scope, node)
    module = None if refused else program([builder.finish(outputs)])
    return Imported(module, refused, frozenset(wide))


def _constant(scope: Scope, value: Any) -> SSAValue:
    import torch

    element = element_for(value.dtype)
    found = value.detach()
    if found.dtype in (torch.bfloat16, torch.float16, torch.float64):
        found = found.to(torch.float32)
    if found.dtype == torch.int64 and found.numel() and int(found.abs().max()) >= 1 << 31:
        raise WideNumber(f"has the constant {int(found.abs().max())}, which does not fit 32 bits")
    made: SSAValue = scope.b.constant(found.cpu().numpy(), element)
    return made


def _call(scope: Scope, node: Any, values: Mapping[Any, Any]) -> Any:
    if node.target is operator.getitem:
        several = values[node.args[0]]
        found = None if several is None else several[node.args[1]]
        if found is None:
            refuse(f"result {node.args[1]} of {node.args[0].name} has no TTIR operation")
        return found
    row = row_of(node.target)
    if row is None:
        refuse("has no TTIR operation")
    _check_numbers(node)
    if _is_empty(node):
        return _stand_in(scope, node)
    made = row(scope, arguments_of(node, values))
    _check(node, made)
    return made


def _is_empty(node: Any) -> bool:
    """Return whether all results of a node are tensors without elements."""
    described = node.meta.get("val")
    several = described if isinstance(described, (list, tuple)) else [described]
    return all(hasattr(one, "numel") and not one.numel() for one in several)


def _check_numbers(node: Any) -> None:
    """Refuse numbers beyond 32 bits beside integers.

    Raises:
        Refusal: There is one.
    """
    schema = node.target._schema.arguments
    positional = [one.name for one in schema if not one.kwarg_only]
    given = {**dict(zip(positional, node.args, strict=False)), **node.kwargs}
    described = [one.meta.get("val") for one in node.all_input_nodes] or [node.meta.get("val")]
    dtypes = [one.dtype for one in described if hasattr(one, "dtype")]
    if all(one.is_floating_point for one in dtypes):
        return
    for one in schema:
        # Sizes and places are of another type; a number may stand for a tensor.
        value, kind = given.get(one.name), str(one.type).lower()
        if ("number" in kind or "tensor" in kind) and isinstance(value, int) and not -(1 << 31) <= value < 1 << 31:
            raise WideNumber(f"has the number {value}, which does not fit 32 bits")


def arguments_of(node: Any, values: Mapping[Any, Any]) -> Arguments:
    """Return the arguments of a node by name, defaults included."""
    import torch

    schema = node.target._schema.arguments
    given: dict[str, Any] = {one.name: one.default_value for one in schema if one.has_default_value()}
    positional = [one.name for one in schema if not one.kwarg_only]
    given.update(zip(positional, node.args, strict=False))
    given.update(node.kwargs)
    mapped = {key: torch.fx.node.map_arg(one, lambda other: values[other]) for key, one in given.items()}
    used = frozenset(one.args[1] for one in node.users if one.target is operator.getitem and one.users)
    return Arguments(node, mapped, given, used)


def _check(node: Any, made: Any) -> None:
    """Check that the results have the shapes that PyTorch states."""
    described = node.meta.get("val")
    several = isinstance(described, (list, tuple))
    for value, one in zip(made if several else [made], described if several else [described], strict=True):
        if isinstance(value, SSAValue) and shape_of(value) != tuple(one.shape):
            from ttnn.base.exceptions import EngineBugError

            raise EngineBugError(
                f"{node.target}: the result has shape {list(shape_of(value))}, PyTorch states {list(one.shape)}."
            )


def _stand_in(scope: Scope, node: Any) -> Any:
    """Return values of a node's types: empty ones, or any.

    The latter are for refused nodes: the import goes on, to find all others.
    """
    import torch

    described = node.meta.get("val")

    def empty(one: Any) -> Any:
        try:
            element = element_for(one.dtype)
        except Refusal:
            element = element_for(torch.float32)
        return scope.b.empty(types=[tensor([int(size) for size in one.shape], element)])

    if isinstance(described, (list, tuple)):
        return [empty(one) if isinstance(one, torch.Tensor) else None for one in described]
    return empty(described) if isinstance(described, torch.Tensor) else None

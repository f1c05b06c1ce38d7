"""Branches and loops of graphs, written out as plain operations."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch

from ttnn.compiler.frontends.torch.trace import clean

__all__ = ["is_loop", "write_out"]

_LIMIT: Final = 20_000
"""Limit of operations that a loop becomes."""
_ELEMENTS: Final = 1 << 12
"""Limit of elements of tensors that are followed through loops."""


def write_out(graph: Any, is_random: Callable[[Any], bool]) -> None:
    """Write branches, and loops of constant counts, out in place.

    A branch is both of its sides and a selection. A loop whose count depends on data, or is too large, stays; so does a
    branch that takes random numbers.

    Args:
        graph: The graph module.
        is_random: Tells nodes that take random numbers.
    """
    changed = True
    while changed:
        changed = False
        for node in list(graph.graph.nodes):
            rule = _RULES.get(str(node.target)) if node.op == "call_function" else None
            made = None if rule is None else rule(graph, node, is_random)
            if made is not None:
                _replace(graph, node, made)
                changed = True
    clean(graph)


def is_loop(target: Any) -> bool:
    """Return whether a node of a target is a loop."""
    return str(target) == "while_loop"


def _replace(graph: Any, node: Any, made: Sequence[Any]) -> None:
    for user in list(node.users):
        user.replace_all_uses_with(made[user.args[1]])
        graph.graph.erase_node(user)
    graph.graph.erase_node(node)


def _branch(graph: Any, node: Any, is_random: Callable[[Any], bool]) -> list[Any] | None:
    condition, *names, operands = node.args
    sides = [getattr(graph, one.target) for one in names]
    known = _known(graph, [condition])[0]
    if known is not None:
        return _copied(graph, node, sides[0 if bool(known) else 1], operands)
    if any(is_random(one) for side in sides for one in side.graph.nodes):
        return None
    first, second = (_copied(graph, node, one, operands) for one in sides)
    scalar = condition.meta["val"]
    made = []
    with graph.graph.inserting_before(node):
        if scalar.ndim:
            condition = graph.graph.call_function(torch.ops.aten.view.default, (condition, []))
            condition.meta["val"] = scalar.view([])
        for one, other, described in zip(first, second, node.meta["val"], strict=True):
            if not all(isinstance(side, torch.fx.Node) for side in (one, other)):
                made.append(one)
                continue
            chosen = graph.graph.call_function(torch.ops.aten.where.self, (condition, one, other))
            chosen.meta["val"] = described
            made.append(chosen)
    return made


def _loop(graph: Any, node: Any, is_random: Callable[[Any], bool]) -> list[Any] | None:
    del is_random
    test, body = (getattr(graph, one.target) for one in node.args[:2])
    carried, others = list(node.args[2]), list(node.args[3])
    values = _known(graph, [*carried, *others])
    count, most = 0, _LIMIT // max(1, len(body.graph.nodes))
    while True:
        going = _evaluated(test, values)[0]
        if going is None or count > most:
            return None
        if not bool(going):
            break
        values = [*_evaluated(body, values), *values[len(carried) :]]
        count += 1
    for _ in range(count):
        carried = _copied(graph, node, body, [*carried, *others])
    return carried


_RULES: Final[dict[str, Callable[..., list[Any] | None]]] = {"cond": _branch, "while_loop": _loop}


def _known(graph: Any, nodes: Sequence[Any]) -> list[Any]:
    """Return the values of nodes that depend on no input.

    Those of others are None.
    """
    wanted = {one for one in nodes if isinstance(one, torch.fx.Node)}
    for one in reversed(list(graph.graph.nodes)):
        if one in wanted:
            wanted.update(one.all_input_nodes)
    env: dict[Any, Any] = {}
    for one in graph.graph.nodes:
        if one in wanted:
            env[one] = _value(graph, one, env)
    return [env.get(one) if isinstance(one, torch.fx.Node) else one for one in nodes]


def _evaluated(part: Any, inputs: Sequence[Any]) -> list[Any]:
    """Return the results of a part that depend on known inputs only.

    Others are None.
    """
    env: dict[Any, Any] = {}
    given = iter(inputs)
    for one in part.graph.nodes:
        if one.op == "placeholder":
            env[one] = next(given)
        elif one.op == "output":
            found = one.args[0] if isinstance(one.args[0], (tuple, list)) else [one.args[0]]
            return [env[item] if isinstance(item, torch.fx.Node) else item for item in found]
        else:
            env[one] = _value(part, one, env)
    return []


def _value(graph: Any, node: Any, env: Mapping[Any, Any]) -> Any:
    """Return the value of a node, None if unknown or large."""
    if node.op == "get_attr":
        found = getattr(graph, node.target)
    elif node.op == "call_function" and all(env.get(one) is not None for one in node.all_input_nodes):
        plain = isinstance(node.target, torch._ops.OpOverload) and node.all_input_nodes
        if not plain and node.target is not operator.getitem and not str(node.target).startswith(_MADE):
            return None
        args, kwargs = (torch.fx.node.map_arg(one, env.__getitem__) for one in (node.args, node.kwargs))
        with torch.no_grad(), torch.utils._python_dispatch._disable_current_modes():
            found = node.target(*args, **kwargs)
    else:
        return None
    return found if isinstance(found, torch.Tensor) and found.numel() <= _ELEMENTS else None


_MADE: Final = ("aten.full", "aten.zeros", "aten.ones", "aten.scalar_tensor", "aten.arange")
"""Operations without inputs that always give the same."""


def _copied(graph: Any, node: Any, part: Any, operands: Sequence[Any]) -> list[Any]:
    """Copy a part before a node; return its results."""
    known: dict[Any, Any] = {}
    given = iter(operands)
    with graph.graph.inserting_before(node):
        for one in part.graph.nodes:
            if one.op == "placeholder":
                known[one] = next(given)
            elif one.op == "output":
                found = one.args[0] if isinstance(one.args[0], (tuple, list)) else [one.args[0]]
                return [known[item] if isinstance(item, torch.fx.Node) else item for item in found]
            elif one.op == "get_attr":
                name = f"_part_{len(graph.graph.nodes)}_{one.target}".replace(".", "_")
                setattr(graph, name, getattr(part, one.target))
                known[one] = graph.graph.get_attr(name)
                known[one].meta.update(one.meta)
            else:
                known[one] = graph.graph.node_copy(one, known.__getitem__)
    return []

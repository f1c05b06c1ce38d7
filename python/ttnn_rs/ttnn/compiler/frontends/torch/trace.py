"""Graphs of PyTorch as functional graphs of aten operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

from ttnn.compiler.frontends.torch.decompositions import DECOMPOSITIONS

__all__ = ["Traced", "clean", "decomposed", "describe", "traced"]


class Traced:
    """A functional graph.

    Attributes:
        graph: The graph module: a tuple of tensors from the inputs.
        mutated: Numbers of the inputs that change: their new values are the last outputs.
        spec: How the first outputs make what the function returns.
        leaves: What the function returns: a number of an output, a view of an input, or what is no tensor.
    """

    def __init__(self, graph: Any, mutated: list[int], spec: Any, leaves: list[Any]) -> None:
        self.graph, self.mutated, self.spec, self.leaves = graph, mutated, spec, leaves

    def results(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """Return what the function returns.

        Args:
            outputs: The tensors of the graph.
            inputs: The inputs, whose views are returned as such.
        """

        def leaf(given: Any) -> Any:
            if isinstance(given, _View):
                return given.of(inputs[given.number])
            return outputs[given.number] if isinstance(given, _Output) else given

        return pytree.tree_unflatten([leaf(one) for one in self.leaves], self.spec)


class _Output(NamedTuple):
    """A result that the graph computes."""

    number: int


class _View(NamedTuple):
    """A result in the memory of an input.

    The offset is counted from the input's; without a shape it is the input itself.
    """

    number: int
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] = ()
    offset: int = 0
    base: tuple[int, ...] = ()

    def of(self, value: torch.Tensor) -> torch.Tensor:
        """Return the view of an input.

        It is one of a copy if the strides are not those that were traced.
        """
        if self.shape is None:
            return value
        if value.stride() != self.base:
            value = torch.empty_strided(value.shape, self.base, dtype=value.dtype).copy_(value)
        return value.as_strided(self.shape, self.strides, value.storage_offset() + self.offset)


def _view(leaf: torch.Tensor, wrapped: Sequence[Any]) -> _View | None:
    """Return how a result is a view of an input.

    None is for one with its own memory.
    """
    for number, one in enumerate(wrapped):
        if leaf is one:
            return _View(number)
    for number, one in enumerate(wrapped):
        if not isinstance(one, torch.Tensor) or leaf.dtype != one.dtype or leaf.is_conj() != one.is_conj():
            continue
        if leaf.untyped_storage()._cdata == one.untyped_storage()._cdata:
            offset = int(leaf.storage_offset()) - int(one.storage_offset())
            return _View(number, tuple(leaf.shape), tuple(leaf.stride()), offset, tuple(one.stride()))
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, FunctionalTensor):
        torch._sync(value)  # type: ignore[attr-defined, no-untyped-call]
        return torch._from_functional_tensor(value.elem)
    return value


def traced(function: Callable[..., Any], inputs: Sequence[Any]) -> Traced:
    """Return the functional graph of a function.

    Composites such as `linear` and `layer_norm` stay whole.

    Args:
        function: The function.
        inputs: Tensors, of which only the descriptions are used, and numbers.
    """
    # Loops ask for an environment of sizes, of which none is open.
    sizes = ShapeEnv(allow_scalar_outputs=False, allow_dynamic_output_shape_ops=False)
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=sizes)
    fakes = [describe(mode, one) for one in inputs]
    seen: dict[str, Any] = {}

    def functional(*given: Any) -> Any:
        with FunctionalTensorMode(pre_dispatch=True, export=True):
            wrapped = [FunctionalTensor.to_functional(x) if isinstance(x, torch.Tensor) else x for x in given]
            leaves, seen["spec"] = pytree.tree_flatten(function(*wrapped))
            outputs: list[Any] = []
            seen["leaves"] = []
            computed: dict[int, _Output] = {}
            for leaf in leaves:
                view: _View | _Output | None = _view(leaf, wrapped) if isinstance(leaf, torch.Tensor) else None
                if view is None and isinstance(leaf, torch.Tensor):
                    if id(leaf) not in computed:
                        computed[id(leaf)] = _Output(len(outputs))
                        outputs.append(_plain(leaf))
                    view = computed[id(leaf)]
                seen["leaves"].append(leaf if view is None else view)
            seen["mutated"] = []
            for number, (before, one) in enumerate(zip(given, wrapped, strict=True)):
                after = _plain(one)
                if after is not before:
                    seen["mutated"].append(number)
                    outputs.append(after)
        return tuple(outputs)

    with mode, torch.no_grad():
        graph = make_fx(functional, pre_dispatch=True, tracing_mode="real", _allow_non_fake_inputs=True)(*fakes)
    clean(graph)
    return Traced(graph, seen["mutated"], seen["spec"], seen["leaves"])


def describe(mode: FakeTensorMode, value: Any) -> Any:
    """Return the description of a tensor; other values unchanged."""
    if not isinstance(value, torch.Tensor):
        return value
    plain = value.detach() if not isinstance(value, torch.nn.Parameter) else value.data
    return mode.from_tensor(plain, static_shapes=True)


def decomposed(graph: Any, nodes: set[str]) -> bool:
    """Decompose nodes of a graph in place; return whether any changed.

    Args:
        graph: The graph module.
        nodes: Names of the nodes.
    """
    changed = False
    for node in list(graph.graph.nodes):
        rule = _rule(node.target) if node.name in nodes else None
        parts = _parts(node, rule) if rule is not None and node.users else None
        if parts is not None:
            _replace(graph, node, parts)
            changed = True
    if changed:
        clean(graph)
    return changed


def _rule(target: Any) -> Callable[..., Any] | None:
    """Return the decomposition of an operation, or None."""
    from torch._decomp import decomposition_table

    if not isinstance(target, torch._ops.OpOverload):
        return None
    if target in DECOMPOSITIONS:
        return DECOMPOSITIONS[target]
    if target.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd):
        return target
    found: Callable[..., Any] | None = decomposition_table.get(target)
    return found


class _Whole(Exception):
    """A rule that does not take a node's arguments."""


def _parts(node: Any, rule: Callable[..., Any]) -> Any:
    """Return the graph of a node's decomposition, or None.

    Its inputs are those of the node.
    """
    inputs = node.all_input_nodes

    def apart(*values: Any) -> Any:
        known = dict(zip(inputs, values, strict=True))
        args, kwargs = (torch.fx.node.map_arg(one, known.__getitem__) for one in (node.args, node.kwargs))
        made = rule(*args, **kwargs)
        if made is NotImplemented:
            raise _Whole
        return made

    def functional(*values: Any) -> Any:
        with FunctionalTensorMode():
            made = apart(*(FunctionalTensor.to_functional(one) for one in values))
            return pytree.tree_map(_plain, made)

    fakes = [one.meta["val"] for one in inputs]
    mode = next((one.fake_mode for one in fakes if hasattr(one, "fake_mode")), None) or FakeTensorMode()
    try:
        with mode, torch.no_grad():
            return make_fx(functional, tracing_mode="real")(*fakes)
    except (_Whole, AssertionError, RuntimeError):
        # PyTorch cannot trace some of its own rules: those that check data, for one. The node stays whole.
        return None


def _replace(graph: Any, node: Any, parts: Any) -> None:
    """Replace a node by a graph."""
    known: dict[Any, Any] = {}
    inputs = iter(node.all_input_nodes)
    made: Any = None
    with graph.graph.inserting_before(node):
        for one in parts.graph.nodes:
            if one.op == "placeholder":
                known[one] = next(inputs)
            elif one.op == "output":
                made = torch.fx.node.map_arg(one.args[0], known.__getitem__)
            elif one.op == "get_attr":
                name = f"_constant_{len(graph.graph.nodes)}_{one.target}"
                setattr(graph, name, getattr(parts, one.target))
                known[one] = graph.graph.get_attr(name)
                known[one].meta.update(one.meta)
            else:
                known[one] = graph.graph.node_copy(one, known.__getitem__)
    if isinstance(made, torch.fx.Node):
        node.replace_all_uses_with(made)
    else:
        for user in list(node.users):
            user.replace_all_uses_with(made[user.args[1]])
            graph.graph.erase_node(user)
    graph.graph.erase_node(node)


_CHECKS: Final = ("aten._assert_async", "aten._assert_scalar", "aten._assert_tensor_metadata", "aten.sym_constrain")


def clean(graph: Any) -> None:
    """Drop checks and what nobody reads."""
    for node in reversed(list(graph.graph.nodes)):
        if node.op == "call_function" and str(node.target).startswith(_CHECKS) and not node.users:
            graph.graph.erase_node(node)
    graph.graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    graph.recompile()

"""Graphs as programs of the device.

Operations that the device does not have run on the host, between the programs.
"""

from __future__ import annotations

import itertools
import operator
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Protocol

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.frontends.host import islands_allowed
from ttnn.compiler.frontends.torch.compiled import Compiled
from ttnn.compiler.frontends.torch.control_flow import is_loop, write_out
from ttnn.compiler.frontends.torch.devices import device_of
from ttnn.compiler.frontends.torch.options import Options
from ttnn.compiler.frontends.torch.saved import save
from ttnn.compiler.frontends.torch.trace import decomposed
from ttnn.compiler.importers.fx import import_graph

__all__ = ["Graph", "Split", "Whole", "compile_graph"]

_ROUNDS: Final = 12
"""Limit of decompositions of decompositions."""
_RANDOM: Final = frozenset(
    "aten." + one
    for one in (
        "rand",
        "randn",
        "rand_like",
        "randn_like",
        "randint",
        "randint_like",
        "bernoulli",
        "normal",
        "randperm",
    )
)


class Graph(Protocol):
    """A graph that is compiled."""

    @property
    def programs(self) -> list[Compiled]:
        """The programs of the device."""

    def __call__(self, *inputs: Any) -> tuple[torch.Tensor, ...]:
        """Return the results."""


def compile_graph(graph: Any, kinds: list[str], options: Options) -> Graph:
    """Return a function that runs a functional graph.

    Args:
        graph: The graph module; its outputs are a tuple of tensors.
        kinds: Kind of each argument.
        options: The options.

    Raises:
        UnsupportedError: An operation has no row, and `check_all_ops_execute` is set.
    """
    write_out(graph, _is_random)
    described = _described(graph)
    if not described:
        return _Nothing()
    if any(not isinstance(one, torch.Tensor) for one in described):
        raise UnsupportedError("the graph returns numbers that depend on data.")
    kinds = _without_numbers(graph, kinds)
    for _ in range(_ROUNDS):
        found = import_graph(graph, kinds)
        if found.module is not None:
            return Whole(graph, _compiled(found.module, described, kinds, options))
        calls = [one for one in found.refused if one.op == "call_function" and not _is_random(one)]
        # Parts of a node with a wide number have that number too.
        refused = {one.name for one in calls if one not in found.wide}
        others = [one for one in found.refused if one.op != "call_function"]
        if others:
            first = others[0]
            raise UnsupportedError(f"argument {first.name!r} {found.refused[first]}")
        if not decomposed(graph, refused):
            break
    return _split(graph, kinds, options, {**_readers(graph, found.wide), **found.refused})


_saved = itertools.count()


def _compiled(module: Any, described: Sequence[Any], kinds: Sequence[str], options: Options) -> Compiled:
    """Return a compiled program, after writing what the options ask for."""
    made = Compiled(module, described, kinds, device_of(options), options.pipeline)
    config = options.config
    if config.save_mlir_override or config.dump_binary or options.export_path is not None:
        save(made, options, next(_saved))
    return made


def _without_numbers(graph: Any, kinds: Sequence[str]) -> list[str]:
    """Drop arguments that are numbers, which are written into the graph.

    Return the kinds of the others.
    """
    kept = []
    for node, kind in zip([one for one in graph.graph.nodes if one.op == "placeholder"], kinds, strict=True):
        if isinstance(node.meta.get("val"), torch.Tensor):
            kept.append(kind)
        else:
            graph.graph.erase_node(node)
    graph.recompile()
    return kept


def _is_random(node: Any) -> bool:
    """Return whether a node takes random numbers, which are those of PyTorch."""
    return str(node.target).rpartition(".")[0] in _RANDOM


class _Nothing:
    """A graph without results."""

    @property
    def programs(self) -> list[Compiled]:
        """The programs of the device."""
        return []

    def __call__(self, *inputs: Any) -> tuple[torch.Tensor, ...]:
        """Return nothing."""
        del inputs
        return ()


def _described(graph: Any) -> list[Any]:
    """Keep the results that are computed; return their descriptions."""
    (output,) = [one for one in graph.graph.nodes if one.op == "output"]
    output.args = (tuple(one for one in output.args[0] if isinstance(one, torch.fx.Node)),)
    return [one.meta["val"] for one in output.args[0]]


class Whole:
    """A graph that is one program of the device."""

    def __init__(self, graph: Any, compiled: Compiled) -> None:
        self.graph, self.compiled = graph, compiled

    @property
    def programs(self) -> list[Compiled]:
        """The programs of the device."""
        return [self.compiled]

    def __call__(self, *inputs: Any) -> tuple[torch.Tensor, ...]:
        """Return the results."""
        return self.compiled(*(one for one in inputs if isinstance(one, torch.Tensor)))


class _Support(OperatorSupportBase):
    """Nodes of the device: those that were not refused."""

    def __init__(self, refused: set[str]) -> None:
        self._refused = refused

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: torch.fx.Node) -> bool:
        """Return whether a node is part of a program."""
        del submodules
        if node.op != "call_function" or node.name in self._refused:
            return False
        if node.target is operator.getitem:
            source: Any = node.args[0]
            return source.name not in self._refused
        return True


class Loop:
    """A loop whose count depends on data.

    Its condition and its body are compiled once; the condition is read in each round.
    """

    def __init__(self, node: Any, parts: Sequence[Any], options: Options) -> None:
        carried, others = (len(one) for one in node.args[2:4])
        kinds = ["input"] * carried + ["parameter"] * others
        for one in parts:
            _as_tuple(one)
        self._test, self._body = (compile_graph(one, kinds, options) for one in parts)

    @property
    def programs(self) -> list[Compiled]:
        """The programs of the device."""
        return [*self._test.programs, *self._body.programs]

    def __call__(self, carried: Sequence[Any], others: Sequence[Any]) -> tuple[Any, ...]:
        """Return what is carried when the condition no longer holds."""
        values = tuple(carried)
        while bool(self._test(*values, *others)[0]):
            values = tuple(self._body(*values, *others))
        return values


class Split(torch.fx.Interpreter):
    """A graph of device programs, loops, and host nodes.

    Attributes:
        named: The programs, by the names of their modules.
        loops: The loops, by the identities of their conditions.
    """

    def __init__(self, graph: Any, programs: Mapping[str, Compiled], loops: Mapping[int, Loop]) -> None:
        super().__init__(graph)
        self.named, self.loops = dict(programs), dict(loops)

    @property
    def programs(self) -> list[Compiled]:
        """The programs of the device."""
        return [*self.named.values(), *(program for one in self.loops.values() for program in one.programs)]

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Run a loop, or a node of the host."""
        found = self.loops.get(id(args[0])) if is_loop(target) else None
        return super().call_function(target, args, kwargs) if found is None else found(*args[2:4])

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Run a program."""
        del kwargs
        found = self.named[target](*args)
        return found[0] if len(found) == 1 else found

    def __call__(self, *inputs: Any) -> tuple[torch.Tensor, ...]:
        """Return the results."""
        found: tuple[torch.Tensor, ...] = tuple(self.run(*(one for one in inputs if isinstance(one, torch.Tensor))))
        return found


def _readers(graph: Any, wide: Collection[Any]) -> dict[Any, str]:
    """Return nodes that run on the host, and why.

    They may read integers beyond 32 bits.
    """
    found: dict[Any, str] = {}
    for node in graph.graph.nodes:
        if node.op == "call_function" and any(one in wide or one in found for one in node.all_input_nodes):
            sources = [one for one in node.all_input_nodes if one in wide or one in found]
            if any(getattr(one.meta.get("val"), "dtype", None) == torch.int64 for one in sources):
                found[node] = f"reads {sources[0].name}, which may not fit 32 bits"
    return found


def _split(graph: Any, kinds: Sequence[str], options: Options, why: Mapping[Any, str]) -> Split:
    names = {one.name for one in why}
    loops, inside = {}, set()
    for node in graph.graph.nodes:
        if node.op == "call_function" and is_loop(node.target):
            parts = [getattr(graph, one.target) for one in node.args[:2]]
            loops[id(parts[0])] = Loop(node, parts, options)
            inside.add(node.name)
    for node in graph.graph.nodes:
        if isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable:
            raise UnsupportedError(f"{node.target} at {node.name} changes its argument, and has no functional form.")
    for node in graph.graph.nodes:
        if node.target is operator.getitem and node.args[0].name in names:
            names.add(node.name)
    _announce(graph, names - inside, options, {one.name: text for one, text in why.items()})
    places = [one for one in graph.graph.nodes if one.op == "placeholder"]
    kind_of = {one.name: kind for one, kind in zip(places, kinds, strict=True)}
    partitioner = CapabilityBasedPartitioner(graph, _Support(names), allows_single_node_partition=True)
    fused = partitioner.fuse_partitions(partitioner.propose_partitions())
    programs = {}
    for node in fused.graph.nodes:
        if node.op != "call_module":
            continue
        part = getattr(fused, node.target)
        given = [kind_of.get(one.name, "input") for one in node.args]
        outputs = _as_tuple(part)
        found = import_graph(part, given, node.target)
        if found.module is None:
            raise UnsupportedError("; ".join(f"{one.target} {text}" for one, text in found.refused.items()))
        programs[node.target] = _compiled(found.module, outputs, given, options)
    return Split(fused, programs, loops)


def _as_tuple(part: Any) -> list[Any]:
    """Make a part return a tuple; return descriptions of its results."""
    (output,) = [one for one in part.graph.nodes if one.op == "output"]
    if not isinstance(output.args[0], (tuple, list)):
        output.args = ((output.args[0],),)
        part.recompile()
    return [one.meta["val"] for one in output.args[0]]


def _announce(graph: Any, names: set[str], options: Options, why: Mapping[str, str]) -> None:
    """Warn of nodes that run on the host, or refuse them."""
    calls = [one for one in graph.graph.nodes if one.op == "call_function" and one.target is not operator.getitem]
    host = [one for one in calls if one.name in names and not _is_random(one)]
    if not host:
        return
    counts = Counter(f"{one.target} {why.get(one.name, 'has no TTIR operation')}" for one in host)
    if options.config.check_all_ops_execute or not islands_allowed():
        listed = "; ".join(text + (f" ({count} times)" if count > 1 else "") for text, count in counts.items())
        reason = "check_all_ops_execute is set" if options.config.check_all_ops_execute else "TTNN_HOST_ISLANDS is 0"
        raise UnsupportedError(f"{reason}, and operations run on the host: {listed}")
    names_of = ", ".join(sorted({str(one.target) for one in host}))
    verb = "runs" if len({one.target for one in host}) == 1 else "run"
    device = len(calls) - len(host)
    warnings.warn(
        f"tt: {names_of} {verb} on the host (no TTIR operation); {device} of {len(calls)} nodes on the device",
        stacklevel=2,
    )

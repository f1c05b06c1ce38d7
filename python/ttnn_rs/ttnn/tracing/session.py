"""Tracing of torch functions, torch modules and operators to a graph.

Torch tensors carry their place in the graph as attributes `graph`, `node` and `output_index`; a `ttnn.Tensor` has its
place in a table of the tracer.
"""

from __future__ import annotations

import importlib
import itertools
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ttnn.base.config import CONFIG
from ttnn.base.exceptions import ArgumentError, ParameterError, UnsupportedError
from ttnn.base.observers import OBSERVERS, Observer
from ttnn.tensor.tensor import Tensor
from ttnn.tracing.nodes import (
    Node,
    TorchFunction,
    TorchModule,
    TorchModuleInput,
    TorchParameter,
    TorchTensor,
    TTNNOperation,
    TTNNTensor,
    argument_pairs,
)


@dataclass(frozen=True)
class Place:
    """Position of a tensor in a graph: node and result index."""

    graph: Any
    node: Node
    index: int


def _library(name: str, what: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UnsupportedError(f"ttnn.tracer: {what} need the package {name}, which is not installed") from None


class Tracer(Observer):
    """A trace in construction, observing operators and torch.

    Torch is observed through a mode and the call of modules.
    """

    blocks = False
    in_full = False

    def __init__(self) -> None:
        self.torch = _library("torch", "traces")
        self.networkx = _library("networkx", "traces")
        self.graphs: list[Any] = [self.networkx.MultiDiGraph()]
        self.inside = 0
        self._thread = threading.get_ident()
        self._ids = itertools.count()
        self._places: dict[int, Place] = {}
        self._kept: dict[int, weakref.ref[Tensor]] = {}
        self._call: tuple[Any, tuple[Any, ...], dict[str, Any], list[Place]] | None = None
        self._mode = _torch_mode(self.torch, self)
        self._module_call = self.torch.nn.Module.__call__

    # Beginning and end.

    def start(self) -> None:
        """Begin to trace."""
        tracer, original = self, self._module_call

        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if tracer.inside or threading.get_ident() != tracer._thread:
                return original(module, *args, **kwargs)
            return tracer.module_call(module, args, kwargs, original)

        self.torch.nn.Module.__call__ = call
        self._mode.__enter__()
        OBSERVERS.append(self)

    def stop(self) -> None:
        """End it."""
        OBSERVERS.remove(self)
        self._mode.__exit__(None, None, None)
        self.torch.nn.Module.__call__ = self._module_call

    # Operators.

    def operation_start(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """An operator is called; those that it calls belong to it."""
        if threading.get_ident() != self._thread:
            return
        self.inside += 1
        if self.inside == 1:
            self._call = (operation, args, kwargs, [self.place(t) for t in self.tensors((args, kwargs))])

    def operation_end(self, result: Any) -> None:
        """An operator returns."""
        if threading.get_ident() != self._thread:
            return
        if self.inside == 1 and self._call is not None:
            operation, args, kwargs, places = self._call
            name = operation.__name__
            pairs = argument_pairs(args, kwargs, self.is_tensor)
            self.add(name, TTNNOperation(name, operation, pairs), places, list(self.tensors(result)))
        self.inside -= 1

    def operation_failed(self, error: BaseException) -> None:
        """An operator raises: there is no node."""
        if threading.get_ident() == self._thread:
            self.inside -= 1

    def function_start(self, name: str, arguments: tuple[Any, ...]) -> None:
        """Functions of tensors use torch for their own ends."""
        self.inside += threading.get_ident() == self._thread

    def function_end(self, result: Any) -> None:
        """See `function_start`."""
        self.inside -= threading.get_ident() == self._thread

    def function_failed(self, error: BaseException) -> None:
        """See `function_start`."""
        self.inside -= threading.get_ident() == self._thread

    # Torch.

    def torch_call(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Run a torch function, and add it if it returns tensors."""
        if self.inside or threading.get_ident() != self._thread or function.__name__ == "__get__":
            return function(*args, **kwargs)
        self.inside += 1
        try:
            places = [self.place(tensor) for tensor in self.tensors((args, kwargs))]
            result = function(*args, **kwargs)
            outputs = [tensor for tensor in self.tensors(result) if isinstance(tensor, self.torch.Tensor)]
            if outputs:
                pairs = argument_pairs(args, kwargs, self.is_tensor)
                self.add(f"torch.{function.__name__}", TorchFunction(function, pairs), places, outputs)
        finally:
            self.inside -= 1
        return result

    def module_call(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Any) -> Any:
        """Run a torch module, and add it with its inner graph."""
        if len(self.graphs) == 1:
            _name_parts(module)
        tensors = list(self.tensors((args, kwargs)))
        outer = [self.place(tensor) for tensor in tensors]
        self.graphs.append(self.networkx.MultiDiGraph())
        inputs = []
        for index, tensor in enumerate(tensors):
            inner = self.add(f"input_{index}", TorchModuleInput(f"input_{index}"), [], [tensor])
            inputs.append(inner)
        try:
            result = call(module, *args, **kwargs)
            outputs = list(self.tensors(result))
            inside = [self.place(tensor) for tensor in outputs]
        finally:
            graph = self.graphs.pop()
            for tensor, place in zip(tensors, outer, strict=True):
                self._set(tensor, place)
        pairs = argument_pairs(args, kwargs, self.is_tensor)
        ends = [(place.node, place.index) for place in inside]
        self.add(type(module).__name__, TorchModule(module, graph, inputs, ends, pairs), outer, outputs)
        return result

    # The graph.

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is a tensor of either kind."""
        return isinstance(value, Tensor | self.torch.Tensor)

    def tensors(self, value: Any) -> Iterator[Any]:
        """Yield the tensors in arguments or results."""
        if self.is_tensor(value):
            yield value
        elif isinstance(value, list | tuple):
            for part in value:
                yield from self.tensors(part)
        elif isinstance(value, dict):
            for part in value.values():
                yield from self.tensors(part)

    def place(self, tensor: Any) -> Place:
        """Return a tensor's place in the graph, adding missing nodes."""
        found = place_of(self, tensor)
        graph = self.graphs[-1]
        if found is not None and found.graph is graph:
            return found
        if isinstance(tensor, Tensor):
            operation: Any = TTNNTensor()
        elif isinstance(tensor, self.torch.nn.Parameter):
            operation = TorchParameter(tensor)
        else:
            operation = TorchTensor(tensor)
        self.add(str(operation), operation, [], [tensor])
        made = place_of(self, tensor)
        assert made is not None
        return made

    def add(self, name: str, operation: Any, places: Sequence[Place], outputs: Sequence[Any]) -> Node:
        """Add a node with input edges, and record it on outputs."""
        number = next(self._ids)
        node = Node(f"{name}_{number}", number)
        graph = self.graphs[-1]
        ours = [output if isinstance(output, Tensor) else None for output in outputs]
        graph.add_node(
            node,
            operation=operation,
            shapes=tuple(output.shape for output in outputs),
            dtypes=tuple(output.dtype for output in outputs),
            layouts=tuple(None if output is None else output.layout for output in ours),
            memory_configs=tuple(None if output is None else output.memory_config() for output in ours),
        )
        for index, place in enumerate(places):
            graph.add_edge(place.node, node, source_output_index=place.index, sink_input_index=index)
        for index, output in enumerate(outputs):
            self._set(output, Place(graph, node, index))
        return node

    def _set(self, tensor: Any, place: Place) -> None:
        if isinstance(tensor, Tensor):
            key = id(tensor)
            self._places[key] = place
            self._kept[key] = weakref.ref(tensor, lambda _: self._forget(key))
        else:
            tensor.graph, tensor.node, tensor.output_index = place.graph, place.node, place.index

    def _forget(self, key: int) -> None:
        self._places.pop(key, None)
        self._kept.pop(key, None)

    def known(self, tensor: Tensor) -> Place | None:
        """Return where a `ttnn.Tensor` is in a graph, or None."""
        return self._places.get(id(tensor))


def _torch_mode(torch: Any, tracer: Tracer) -> Any:
    class Mode(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return tracer.torch_call(function, args, kwargs or {})

    return Mode()


def _name_parts(module: Any) -> None:
    """Set the names of a module, its submodules and parameters."""
    for name, part in itertools.chain(module.named_modules(), module.named_parameters()):
        part.__ttnn_tracer_name__ = name


def place_of(tracer: Tracer | None, tensor: Any) -> Place | None:
    """Return where a tensor is in a graph, or None."""
    if isinstance(tensor, Tensor):
        return None if tracer is None else tracer.known(tensor)
    node = getattr(tensor, "node", None)
    return Place(tensor.graph, node, tensor.output_index) if isinstance(node, Node) else None


class _State:
    """The active tracer, and the last one for later queries.

    Its tensors can still be asked for.
    """

    tracer: Tracer | None = None
    last: Tracer | None = None


def enable_tracing() -> None:
    """Begin to trace.

    Raises:
        ParameterError: tracing is on already, or `CONFIG.enable_fast_runtime_mode` is.
        UnsupportedError: torch or networkx is not installed.
    """
    if CONFIG.enable_fast_runtime_mode:
        raise ParameterError(
            "ttnn.tracer: set CONFIG.enable_fast_runtime_mode to False first",
            vendor="Tracing is not supported in fast runtime mode.",
        )
    start_tracing()


def start_tracing() -> None:
    """Begin to trace, in any mode of the operators.

    Raises:
        ParameterError: tracing is on already.
        UnsupportedError: torch or networkx is not installed.
    """
    if _State.tracer is not None:
        raise ParameterError("ttnn.tracer: tracing is on already", vendor="Tracing is already enabled.")
    _State.tracer = _State.last = Tracer()
    _State.tracer.start()


def disable_tracing() -> None:
    """End tracing. Without a trace nothing happens."""
    if _State.tracer is not None:
        _State.tracer.stop()
        _State.tracer = None


def is_tracing_enabled() -> bool:
    """Return whether calls are traced."""
    return _State.tracer is not None


@contextmanager
def trace() -> Iterator[None]:
    """Trace what is inside of a `with` block."""
    enable_tracing()
    try:
        yield
    finally:
        disable_tracing()


@contextmanager
def trace_in_any_mode() -> Iterator[None]:
    """Trace the `with` block, in any operator mode."""
    start_tracing()
    try:
        yield
    finally:
        disable_tracing()


def get_graph(*outputs: Any, flatten: bool = False) -> Any:
    """Return tensors' part of a trace as a `networkx.MultiDiGraph`.

    Args:
        outputs: Traced tensors, or lists of them.
        flatten: Put what happens inside of torch modules in place of the modules.

    Raises:
        ArgumentError: there is no traced tensor among them.
    """
    networkx = _library("networkx", "traces")
    places = [place for tensor in _found(outputs) if (place := place_of(_State.last, tensor)) is not None]
    if not places:
        raise ArgumentError("ttnn.tracer: there is no traced tensor; trace with ttnn.tracer.trace()")
    graph = places[0].graph
    wanted = {place.node for place in places}
    for node in tuple(wanted):
        wanted |= networkx.ancestors(graph, node)
    part = graph.subgraph(wanted).copy()
    return _flat(networkx, part) if flatten else part


def _found(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for part in value:
            yield from _found(part)
    elif isinstance(value, dict):
        yield from _found(list(value.values()))
    elif isinstance(value, Tensor) or hasattr(value, "node"):
        yield value


def _flat(networkx: Any, graph: Any) -> Any:
    """Return a graph in which modules are replaced by their inner nodes."""
    flat = networkx.MultiDiGraph()
    made: dict[tuple[Node, int], tuple[Node, int]] = {}
    parameters: dict[int, Node] = {}

    def add(inner: Any, sources: dict[Node, tuple[Node, int]]) -> None:
        for node in networkx.topological_sort(inner):
            operation = inner.nodes[node]["operation"]
            edges = sorted(inner.in_edges(node, data=True), key=lambda edge: edge[2]["sink_input_index"])
            inputs = [made.get((source, data["source_output_index"])) for source, _, data in edges]
            if isinstance(operation, TorchModuleInput):
                made[node, 0] = sources[node]
            elif isinstance(operation, TorchModule):
                taken = {
                    own: source for own, source in zip(operation.inputs, inputs, strict=True) if source is not None
                }
                add(operation.graph, taken)
                for index, (end, output) in enumerate(operation.outputs):
                    made[node, index] = made[end, output]
            else:
                known = parameters.get(id(operation.parameter)) if isinstance(operation, TorchParameter) else None
                if known is None:
                    flat.add_node(node, **inner.nodes[node])
                    if isinstance(operation, TorchParameter):
                        parameters[id(operation.parameter)] = node
                for index, source in enumerate(inputs):
                    if source is not None:
                        flat.add_edge(source[0], node, source_output_index=source[1], sink_input_index=index)
                for index in range(len(inner.nodes[node]["shapes"])):
                    made[node, index] = (known or node, index)

    add(graph, {})
    return flat

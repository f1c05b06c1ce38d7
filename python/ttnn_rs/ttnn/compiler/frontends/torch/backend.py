"""The backends: what `torch.compile` calls with a graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch._dynamo

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.frontends.torch.border import write_back
from ttnn.compiler.frontends.torch.compiled import Compiled
from ttnn.compiler.frontends.torch.config import CompileDepth
from ttnn.compiler.frontends.torch.options import Options, options_of
from ttnn.compiler.frontends.torch.split import Graph, compile_graph
from ttnn.compiler.frontends.torch.trace import Traced, traced
from ttnn.compiler.frontends.torch.versions import check_version

__all__ = ["compile_function", "tt", "tt_experimental", "tt_legacy", "ttnn"]

# Else recurrent layers are no part of a graph, and run on the host.
torch._dynamo.config.allow_rnn = True


def tt(graph: Any, inputs: Sequence[Any], options: Any = None, **more: Any) -> Callable[..., Any]:
    """Return a function that runs a graph of dynamo on the device.

    Args:
        graph: The graph module.
        inputs: Its inputs, or their descriptions.
        options: None, a dictionary, `BackendOptions` or `TorchTtnnOption`.
        more: What else `torch.compile` passes; `mode` and the like have no meaning here.

    Raises:
        UnsupportedError: What the device cannot do.
        ParameterError: An option is unknown.
    """
    check_version()
    if more:
        options = {**(options or {}), **more}
    chosen = options_of(options)
    static = _static(graph, inputs)
    depth = chosen.config.compile_depth
    eager: Callable[..., Any] = graph
    if depth == CompileDepth.TORCH_FX:
        return eager
    if depth == CompileDepth.STABLEHLO:
        raise UnsupportedError(
            "CompileDepth.STABLEHLO needs torch-mlir, which is not used here; TTNN_IR compiles the program."
        )
    if depth in (CompileDepth.COMPILE_OP_BY_OP, CompileDepth.EXECUTE_OP_BY_OP):
        from ttnn.compiler.frontends.torch.op_by_op import each_operation

        return each_operation(traced(graph, static), chosen)
    if _trains(static):
        from ttnn.compiler.frontends.torch.training import compile_training

        return compile_training(graph, static, _kinds(graph), chosen)
    run = compile_function(graph, static, _kinds(graph), chosen)
    return eager if chosen.dry_run or depth == CompileDepth.TTNN_IR else run


def tt_legacy(graph: Any, inputs: Sequence[Any], options: Any = None, **more: Any) -> Callable[..., Any]:
    """Return what `tt` returns."""
    return tt(graph, inputs, options, **more)


def tt_experimental(graph: Any, inputs: Sequence[Any], options: Any = None, **more: Any) -> Callable[..., Any]:
    """Return what `tt` returns."""
    return tt(graph, inputs, options, **more)


def ttnn(graph: Any, inputs: Sequence[Any], options: Any = None, **more: Any) -> Callable[..., Any]:
    """Return what `tt` returns."""
    return tt(graph, inputs, options, **more)


def _static(graph: Any, inputs: Sequence[Any]) -> list[Any]:
    """Return inputs with fixed sizes.

    A size that dynamo left open is that of this call.

    The binding becomes a condition of the compiled function: another size compiles again.

    Raises:
        UnsupportedError: A size is marked as dynamic.
    """
    places = [one for one in graph.graph.nodes if one.op == "placeholder"]
    for node, given in zip(places, inputs, strict=True):
        described = node.meta.get("example_value")
        if isinstance(described, torch.Tensor):
            marked = getattr(given, "_dynamo_dynamic_indices", ())
            for dim, size in enumerate(described.shape):
                if not isinstance(size, int):
                    if dim in marked:
                        raise UnsupportedError(
                            f"dynamic shape: argument {node.name!r} has dimension {dim} = {size}; "
                            "compile with fixed shapes"
                        )
                    int(size)
            for one in described.stride():
                int(one)
        elif isinstance(described, torch.SymInt):
            int(described)
    return [int(one) if isinstance(one, torch.SymInt) else one for one in inputs]


def _trains(inputs: Sequence[Any]) -> bool:
    return torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in inputs)


def _kinds(graph: Any) -> list[str]:
    """Return the kind of each argument.

    Parameters and buffers of modules stay on the device.
    """
    kinds = []
    for node in graph.graph.nodes:
        if node.op == "placeholder":
            entries = node.meta.get("tensor_dict") or {}
            kinds.append("parameter" if entries.get("_dynamo_static_input_type") else "input")
    return kinds


def compile_function(
    function: Callable[..., Any], inputs: Sequence[Any], kinds: Sequence[str], options: Options
) -> Callable[..., Any]:
    """Return a function of tensors that runs on the device.

    Args:
        function: The function; it is traced once.
        inputs: Tensors and numbers of the shapes and types that will be given.
        kinds: Kind of each input.
        options: The options.
    """
    found = traced(function, inputs)
    run = compile_graph(found.graph, list(kinds), options)
    return _Function(function, found, run, options)


class _Function:
    """A compiled function.

    It writes mutated inputs back and returns what the function returns.
    """

    def __init__(self, function: Callable[..., Any], found: Traced, run: Graph, options: Options) -> None:
        self._function, self._traced, self._run, self._options = function, found, run, options

    @property
    def programs(self) -> list[Compiled]:
        """The programs of the device."""
        return self._run.programs

    @torch.no_grad()
    def __call__(self, *inputs: Any) -> Any:
        mutated = self._traced.mutated
        shared = _shared(inputs, mutated)
        if shared is not None:
            text = f"arguments {shared[0]} and {shared[1]} share memory, and the graph writes to argument {shared[0]}"
            if self._options.config.check_all_ops_execute:
                raise UnsupportedError(f"check_all_ops_execute is set, and the graph runs on the host: {text}")
            warnings.warn(f"tt: the graph runs on the host: {text}", stacklevel=2)
            return self._function(*inputs)
        outputs = self._run(*inputs)
        for number, value in zip(mutated, outputs[len(outputs) - len(mutated) :], strict=True):
            write_back(value, inputs[number])
        return self._traced.results(outputs, inputs)


def _shared(inputs: Sequence[Any], mutated: Sequence[int]) -> tuple[int, int] | None:
    """Return an input that changes and another one in its memory.

    None is for none.
    """
    for number in mutated:
        for other, value in enumerate(inputs):
            if other != number and isinstance(value, torch.Tensor) and value.numel() and inputs[number].numel():
                first, second = _extent(inputs[number]), _extent(value)
                if first[0] < second[1] and second[0] < first[1]:
                    return number, other
    return None


def _extent(value: torch.Tensor) -> tuple[int, int]:
    """Return the address of a tensor, and the one after it."""
    last = sum((size - 1) * stride for size, stride in zip(value.shape, value.stride(), strict=True))
    begin = value.data_ptr()
    return begin, begin + (last + 1) * value.element_size()

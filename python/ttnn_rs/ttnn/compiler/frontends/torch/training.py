"""Training: forward and backward graphs of AOTAutograd as two programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd

from ttnn.compiler.frontends.torch.options import Options
from ttnn.compiler.frontends.torch.split import Graph, compile_graph
from ttnn.compiler.frontends.torch.trace import clean

__all__ = ["compile_training"]


def compile_training(
    graph: Any, inputs: Sequence[Any], options: Options, programs: list[Graph] | None = None
) -> Callable[..., Any]:
    """Return a function that runs forward and backward on the device.

    Args:
        graph: The graph module of dynamo.
        inputs: Its inputs.
        options: The options.
        programs: Is extended by the compiled graphs.
    """

    def compiler(part: Any, given: Sequence[Any]) -> Any:
        del given
        (output,) = [one for one in part.graph.nodes if one.op == "output"]
        computed = [isinstance(one, torch.fx.Node) for one in output.args[0]]
        fixed = [one if not isinstance(one, torch.fx.Node) else None for one in output.args[0]]
        clean(part)
        run = compile_graph(part, _kinds(part), options)
        if programs is not None:
            programs.append(run)
        return make_boxed_func(_Part(run, computed, fixed))

    made: Callable[..., Any] = aot_autograd(
        fw_compiler=compiler,
        bw_compiler=compiler,
        inference_compiler=compiler,
        partition_fn=min_cut_rematerialization_partition,
    )(graph, inputs)
    return made


def _kinds(part: Any) -> list[str]:
    """Return the kinds of arguments.

    Leaves that need gradients are parameters.
    """
    places = [one for one in part.graph.nodes if one.op == "placeholder"]
    kinds = []
    for node in places:
        value = node.meta.get("val")
        kinds.append("parameter" if isinstance(value, torch.nn.Parameter) else "input")
    return kinds


class _Part:
    """A compiled part.

    Numbers and missing results among its outputs stay where they are.
    """

    def __init__(self, run: Graph, computed: list[bool], fixed: list[Any]) -> None:
        self._run, self._computed, self._fixed = run, computed, fixed

    @torch.no_grad()
    def __call__(self, *inputs: Any) -> list[Any]:
        """Return the results."""
        found = iter(self._run(*inputs))
        return [next(found) if made else one for made, one in zip(self._computed, self._fixed, strict=True)]

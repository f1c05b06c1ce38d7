"""Training: forward and backward graphs of AOTAutograd as two programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext
from torch.nn.attention import SDPBackend, sdpa_kernel

from ttnn.compiler.frontends.torch.border import read
from ttnn.compiler.frontends.torch.options import Options
from ttnn.compiler.frontends.torch.split import Graph, Whole, compile_graph
from ttnn.compiler.frontends.torch.trace import clean

__all__ = ["compile_training"]


def compile_training(
    graph: Any,
    inputs: Sequence[Any],
    kinds: Sequence[str],
    options: Options,
    programs: list[Graph] | None = None,
) -> Callable[..., Any]:
    """Return a function that runs forward and backward on the device.

    Args:
        graph: The graph module of dynamo.
        inputs: Its inputs.
        kinds: Their kinds.
        options: The options.
        programs: Is extended by the compiled graphs.
    """

    def forward(part: Any, given: Sequence[Any]) -> Any:
        context = TracingContext.try_get()
        metadata = None if context is None else context.fw_metadata
        return compiler(part, given, None if metadata is None else metadata.num_forward)

    def compiler(part: Any, given: Sequence[Any], saved: int | None = None) -> Any:
        del given
        (output,) = [one for one in part.graph.nodes if one.op == "output"]
        found = output.args[0]
        # Values without elements, such as statistics that evaluation does not compute, need no program.
        fixed = [_without_elements(one) if isinstance(one, torch.fx.Node) else one for one in found]
        computed = [isinstance(one, torch.fx.Node) and made is None for one, made in zip(found, fixed, strict=True)]
        output.args = ([one if made else None for one, made in zip(found, computed, strict=True)],)
        clean(part)
        run = compile_graph(part, _kinds(part, kinds), options)
        if saved is not None and isinstance(run, Whole):
            # Its last results are what backward reads, and nobody else.
            run.compiled.kept = frozenset(range(sum(computed[:saved]), sum(computed)))
        if programs is not None:
            programs.append(run)
        return make_boxed_func(_Part(run, computed, fixed))

    # Layers of oneDNN, such as LSTM, have gradients that only its own memory can be given to: they are taken apart.
    enabled = bool(torch._C._get_mkldnn_enabled())
    torch._C._set_mkldnn_enabled(False)
    try:
        # So is attention: what PyTorch's fused one saves for its gradient has another meaning after decomposition.
        with sdpa_kernel(SDPBackend.MATH):
            made: Callable[..., Any] = aot_autograd(
                fw_compiler=forward,
                bw_compiler=compiler,
                inference_compiler=compiler,
                partition_fn=min_cut_rematerialization_partition,
            )(graph, inputs)
    finally:
        torch._C._set_mkldnn_enabled(enabled)
    return made


def _without_elements(node: Any) -> Any:
    """Return an empty tensor for a node without elements, else None."""
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor) and value.numel() == 0:
        return torch.empty(value.shape, dtype=value.dtype)
    return None


def _kinds(part: Any, kinds: Sequence[str]) -> list[str]:
    """Return the kinds of a part's arguments.

    Those of the whole graph keep theirs: AOTAutograd numbers them. Others are inputs.
    """
    known = {f"primals_{number}": kind for number, kind in enumerate(kinds, 1)}
    places = [one.target for one in part.graph.nodes if one.op == "placeholder"]
    given = sum(name.startswith("primals_") for name in places)
    if given > len(kinds):
        known = {}
    return [known.get(name, "input") for name in places]


class _Part:
    """A compiled part.

    Numbers and missing results among its outputs stay where they are.
    """

    def __init__(self, run: Graph, computed: list[bool], fixed: list[Any]) -> None:
        self._run, self._computed, self._fixed = run, computed, fixed

    @torch.no_grad()
    def __call__(self, *inputs: Any) -> list[Any]:
        """Return the results."""
        given = inputs if isinstance(self._run, Whole) else [read(one) for one in inputs]
        found = iter(self._run(*given))
        return [next(found) if made else one for made, one in zip(self._computed, self._fixed, strict=True)]

"""Op-by-op mode.

Each operation of a graph is a program of its own, compared with PyTorch.
"""

from __future__ import annotations

import json
import operator
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from ttnn.base.exceptions import TtnnError
from ttnn.base.files import write_atomically
from ttnn.compiler.frontends.torch.compiled import Compiled
from ttnn.compiler.frontends.torch.config import CompileDepth, OpCompilationStatus
from ttnn.compiler.frontends.torch.devices import device_of
from ttnn.compiler.frontends.torch.measure import correlation, difference
from ttnn.compiler.frontends.torch.options import Options
from ttnn.compiler.frontends.torch.trace import Traced
from ttnn.compiler.importers.fx import import_graph

__all__ = ["each_operation"]


def each_operation(found: Traced, options: Options) -> Callable[..., Any]:
    """Return a function that tries each operation on the device.

    Its results are those of PyTorch.

    What became of the operations is written to `<results_path><model_name>_unique_ops.json`; an operation that fails
    does not stop the others. Equal operations of equal shapes are tried once.

    Args:
        found: The graph.
        options: The options; `compile_depth` says whether operations are executed too.
    """

    @torch.no_grad()
    def run(*inputs: Any) -> Any:
        walk = _Walk(found.graph, options)
        outputs = walk.run(*(one for one in inputs if isinstance(one, torch.Tensor)))
        _write(walk.rows, options)
        for number, value in zip(found.mutated, outputs[len(outputs) - len(found.mutated) :], strict=True):
            inputs[number].copy_(value)
        return found.results(outputs, inputs)

    return run


class _Walk(torch.fx.Interpreter):
    """A graph that runs in PyTorch, its operations on the device."""

    def __init__(self, graph: Any, options: Options) -> None:
        super().__init__(graph)
        self.rows: dict[str, dict[str, Any]] = {}
        self._options = options

    def run_node(self, n: torch.fx.Node) -> Any:
        """Return what PyTorch computes."""
        made = super().run_node(n)
        if n.op == "call_function" and isinstance(n.target, torch._ops.OpOverload):
            shapes = [list(one.meta["val"].shape) for one in n.all_input_nodes if _is_tensor(one)]
            key = f"{n.target} {shapes} {[one for one in n.args if not isinstance(one, torch.fx.Node)]}"
            if key not in self.rows:
                self.rows[key] = self._try(n, made, shapes)
        return made

    def _try(self, node: torch.fx.Node, expected: Any, shapes: list[list[int]]) -> dict[str, Any]:
        begin = time.monotonic()
        row: dict[str, Any] = {
            "torch_name": str(node.target),
            "input_shapes": shapes,
            "num_ops": 1,
            "compilation_status": int(OpCompilationStatus.CREATED_GRAPH),
            "error": "",
            "pcc": None,
            "atol": None,
        }
        try:
            self._steps(node, expected, row)
        except (TtnnError, RuntimeError) as error:
            row["error"] = str(error)
        row["seconds"] = time.monotonic() - begin
        if row["seconds"] > self._options.config.single_op_timeout:
            row["error"] = row["error"] or f"took more than {self._options.config.single_op_timeout} s"
        return row

    def _steps(self, node: torch.fx.Node, expected: Any, row: dict[str, Any]) -> None:
        alone, inputs, results, chosen = _single(node)
        found = import_graph(alone, ["input"] * len(inputs))
        if found.module is None:
            row["error"] = "; ".join(found.refused.values())
            return
        row["compilation_status"] = int(OpCompilationStatus.CONVERTED_TO_TTIR)
        options = self._options
        compiled = Compiled(found.module, results, ["input"] * len(inputs), device_of(options), options.pipeline)
        row["compilation_status"] = int(OpCompilationStatus.CONVERTED_TO_TTNN)
        if options.config.compile_depth == CompileDepth.COMPILE_OP_BY_OP:
            return
        got = compiled(*(self.env[one] for one in inputs))
        several = isinstance(expected, (list, tuple))
        wanted = [expected[i] for i in chosen] if several else [expected]
        row["pcc"] = min(correlation(a, b) for a, b in zip(wanted, got, strict=True))
        row["atol"] = max(difference(a, b) for a, b in zip(wanted, got, strict=True))
        row["compilation_status"] = int(OpCompilationStatus.EXECUTED)


def _is_tensor(node: torch.fx.Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def _single(node: torch.fx.Node) -> tuple[Any, list[torch.fx.Node], list[Any], list[int]]:
    """Return the graph of one node, its inputs and read results."""
    graph = torch.fx.Graph()
    inputs = list(node.all_input_nodes)
    known = {}
    for one in inputs:
        known[one] = graph.placeholder(one.name)
        known[one].meta.update(one.meta)
    made = graph.node_copy(node, known.__getitem__)
    described = node.meta["val"]
    results, outputs, chosen = [], [], []
    if isinstance(described, (list, tuple)):
        for number, one in enumerate(described):
            if any(user.args[1] == number and user.users for user in node.users):
                # The results that somebody reads, as in the whole graph.
                part = graph.call_function(operator.getitem, (made, number))
                part.meta["val"] = one
                outputs.append(part)
                results.append(one)
                chosen.append(number)
    else:
        outputs, results = [made], [described]
    graph.output(tuple(outputs))
    return torch.fx.GraphModule({}, graph), inputs, results, chosen


def _write(rows: dict[str, dict[str, Any]], options: Options) -> None:
    name = re.sub(r"[^\w\-]", "_", options.config.model_name or "model")
    path = Path(f"{options.config.results_path}{name}_unique_ops.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(rows, indent=1), where="torch.compile")

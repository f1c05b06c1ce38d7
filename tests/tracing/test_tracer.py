"""Traces of programs that mix torch and operators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ttnn
from ttnn.base.observers import OBSERVERS

torch = pytest.importorskip("torch")
networkx = pytest.importorskip("networkx")


@pytest.fixture(autouse=True)
def slow() -> Iterator[None]:
    with ttnn.manage_config("enable_fast_runtime_mode", False):
        yield
    ttnn.tracer.disable_tracing()


class _Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(8, 8)
        self.second = torch.nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        return self.second(torch.nn.functional.gelu(self.first(x))) * 2


def _kinds(graph: Any) -> list[str]:
    return [str(graph.nodes[node]["operation"]) for node in networkx.topological_sort(graph)]


def _evaluate(graph: Any) -> list[Any]:
    """Run a flattened trace of torch again."""
    values: dict[Any, Any] = {}
    for node in networkx.topological_sort(graph):
        operation = graph.nodes[node]["operation"]
        if isinstance(operation, ttnn.tracer.TorchParameter):
            values[node] = operation.parameter
        elif isinstance(operation, ttnn.tracer.TorchTensor):
            values[node] = operation.tensor
        else:
            edges = sorted(graph.in_edges(node, data=True), key=lambda edge: edge[2]["sink_input_index"])
            taken = [values[source] for source, _, _ in edges]
            pairs = [
                (name, taken[value.index] if isinstance(value, ttnn.tracer.InputTensorIndex) else value)
                for name, value in operation.arg_name_value_pairs
            ]
            positional = [v for name, v in pairs if isinstance(name, ttnn.tracer.PositionalArgumentName)]
            named = {name: v for name, v in pairs if isinstance(name, str)}
            values[node] = operation.function(*positional, **named)
    return [values[node] for node in graph if graph.out_degree(node) == 0]


def test_torch_and_operators_are_one_graph() -> None:
    with ttnn.tracer.trace():
        tensor = torch.randint(0, 100, (4, 64))
        tensor = ttnn.from_torch(tensor)
        tensor = ttnn.reshape(tensor, (2, 4, 32))
        tensor = ttnn.to_torch(tensor)
    graph = ttnn.tracer.get_graph(tensor)
    assert _kinds(graph) == ["torch.randint", "ttnn.from_torch", "ttnn.reshape", "ttnn.to_torch"]
    assert graph.number_of_edges() == 3
    shapes = [tuple(graph.nodes[node]["shapes"][0]) for node in networkx.topological_sort(graph)]
    assert shapes == [(4, 64), (4, 64), (2, 4, 32), (2, 4, 32)]


def test_device_tensors(device: ttnn.MeshDevice) -> None:
    a = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    with ttnn.tracer.trace():
        b = ttnn.softmax(ttnn.add(a, a), dim=-1, memory_config=ttnn.L1_MEMORY_CONFIG)
        ttnn.exp(a)
    graph = ttnn.tracer.get_graph(b)
    # exp leads to nothing that was asked for; softmax is one node, whatever it calls.
    assert _kinds(graph) == ["ttnn.Tensor", "ttnn.add", "ttnn.softmax"]
    add, softmax = (
        n
        for n in networkx.topological_sort(graph)
        if not isinstance(graph.nodes[n]["operation"], ttnn.tracer.TTNNTensor)
    )
    assert [data["sink_input_index"] for _, _, data in graph.in_edges(add, data=True)] == [0, 1]
    assert graph.nodes[softmax]["memory_configs"] == (ttnn.L1_MEMORY_CONFIG,)
    pairs = dict(graph.nodes[softmax]["operation"].arg_name_value_pairs[1:])
    assert pairs["dim"] == -1


def test_modules_are_nodes_with_graphs_inside() -> None:
    torch.manual_seed(0)
    model = _Block()
    x = torch.ones(2, 8)
    with ttnn.tracer.trace():
        y = model(x)
    graph = ttnn.tracer.get_graph(y)
    assert _kinds(graph) == ["torch.Tensor", "_Block"]
    (module,) = (n for n in graph if isinstance(graph.nodes[n]["operation"], ttnn.tracer.TorchModule))
    inner = graph.nodes[module]["operation"].graph
    assert _kinds(inner) == ["input_0", "Linear", "torch.gelu", "Linear", "torch.mul"]
    flat = ttnn.tracer.get_graph(y, flatten=True)
    assert sorted(_kinds(flat)) == sorted(
        [
            "torch.Tensor",
            *["parameter first.weight", "parameter first.bias", "parameter second.weight"],
            "parameter second.bias",
            "torch.linear",
            "torch.gelu",
            "torch.linear",
            "torch.mul",
        ]
    )
    (again,) = _evaluate(flat)
    assert torch.equal(again, y)
    assert torch.equal(model(x), y)


def test_source_code() -> None:
    model = _Block()
    with ttnn.tracer.trace():
        y = model(torch.ones(2, 8))
    code = ttnn.tracer.codegen(y)
    compile(code, "trace", "exec")
    assert code.count("def Linear(config, input_0, *, parameters):") == 1
    assert "Linear(config, input_0, parameters=parameters.first)" in code
    assert "parameters.weight, parameters.bias" not in code
    assert code.rstrip().splitlines()[-1].startswith("    return variable_")


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("graphviz")
    with ttnn.tracer.trace():
        y = _Block()(torch.ones(2, 8))
    assert "cluster" in ttnn.tracer.visualize(y).source
    assert "cluster" not in ttnn.tracer.visualize(y, show_modules=False).source
    assert ttnn.tracer.visualize(y, max_depth=1).source.count("subgraph") == 1
    with pytest.raises(ttnn.ParameterError, match=r"file_name must end in \.svg, \.png or \.pdf, not in '\.gif'"):
        ttnn.tracer.visualize(y, file_name=tmp_path / "x.gif")


def test_tracing_is_off_again() -> None:
    call = torch.nn.Module.__call__
    with ttnn.tracer.trace():
        assert ttnn.tracer.is_tracing_enabled()
        assert torch.nn.Module.__call__ is not call
        with pytest.raises(ttnn.ParameterError, match="Tracing is already enabled"):
            ttnn.tracer.enable_tracing()
    assert torch.nn.Module.__call__ is call
    assert not OBSERVERS
    assert not ttnn.tracer.is_tracing_enabled()
    ttnn.tracer.disable_tracing()
    fresh = torch.ones(2) + 1
    assert not hasattr(fresh, "node")
    with pytest.raises(ttnn.ArgumentError, match="there is no traced tensor"):
        ttnn.tracer.get_graph(fresh)


def test_an_operator_that_raises_ends_no_trace() -> None:
    with ttnn.tracer.trace():
        host = ttnn.from_torch(torch.ones(2, 2))
        with pytest.raises(ttnn.StorageError):
            ttnn.exp(host)
        back = ttnn.to_torch(host)
    assert _kinds(ttnn.tracer.get_graph(back)) == ["torch.ones", "ttnn.from_torch", "ttnn.to_torch"]


def test_fast_runtime_mode_has_no_traces() -> None:
    with (
        ttnn.manage_config("enable_fast_runtime_mode", True),
        pytest.raises(ttnn.ParameterError, match="Tracing is not supported in fast runtime mode"),
    ):
        ttnn.tracer.enable_tracing()
    # Torch alone is traced in any mode.
    with ttnn.manage_config("enable_fast_runtime_mode", True), ttnn.torch_tracer.trace():
        y = torch.ones(2) + 1
    assert len(ttnn.torch_tracer.get_graph(y)) == 2

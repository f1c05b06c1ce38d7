"""Porting a model by the TT-NN article, with its tools."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.replayed_calls import files, replay
from ttnn.operation.fallbacks import counted_fallbacks
from ttnn.operation.slow_path import correlation

torch = pytest.importorskip("torch")
from ttnn import model_preprocessing as mp  # noqa: E402


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.up = torch.nn.Linear(64, 128)
        self.norm = torch.nn.LayerNorm(128)
        self.down = torch.nn.Linear(128, 32)

    def forward(self, x: Any) -> Any:
        return self.down(self.norm(torch.nn.functional.gelu(self.up(x))))


def functional_torch(x: Any, parameters: Any) -> Any:
    """Step 1: the model as functions of torch."""
    x = torch.nn.functional.gelu(x @ parameters.up.weight + parameters.up.bias)
    x = torch.nn.functional.layer_norm(x, (128,), parameters.norm.weight, parameters.norm.bias)
    return x @ parameters.down.weight + parameters.down.bias


def functional_ttnn(x: ttnn.Tensor, parameters: Any) -> ttnn.Tensor:
    """Step 2: one operator for each of them."""
    x = ttnn.gelu(x @ parameters.up.weight + parameters.up.bias)
    x = ttnn.layer_norm(x, weight=parameters.norm.weight, bias=parameters.norm.bias, epsilon=1e-5)
    return x @ parameters.down.weight + parameters.down.bias


def optimised(x: ttnn.Tensor, parameters: Any) -> ttnn.Tensor:
    """Step 3: bias and activation are fused, activations are in L1."""
    options = {"memory_config": ttnn.L1_MEMORY_CONFIG, "core_grid": ttnn.CoreGrid(y=2, x=2)}
    x = ttnn.linear(x, parameters.up.weight, bias=parameters.up.bias, activation="gelu", **options)
    x = ttnn.layer_norm(x, weight=parameters.norm.weight, bias=parameters.norm.bias, epsilon=1e-5)
    return ttnn.linear(x, parameters.down.weight, bias=parameters.down.bias, **options)


@pytest.fixture
def inputs() -> Any:
    torch.manual_seed(1)
    return torch.randn(64, 64)


def _near(result: ttnn.Tensor, expected: Any, bar: float = 0.9995) -> None:
    assert correlation(expected.detach().numpy(), ttnn.to_torch(result).float().numpy()) > bar


def _on(device: ttnn.MeshDevice, x: Any) -> ttnn.Tensor:
    return ttnn.from_torch(x, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def test_functional_torch_functional_ttnn_optimised(inputs: Any, device: ttnn.MeshDevice) -> None:
    model = Model()
    expected = model(inputs)
    plain = mp.preprocess_model_parameters(initialize_model=lambda: model, convert_to_ttnn=lambda *_: False)
    torch.testing.assert_close(functional_torch(inputs, plain), expected)
    parameters = mp.preprocess_model_parameters(initialize_model=lambda: model, device=device)
    for step in (functional_ttnn, optimised):
        _near(step(_on(device, inputs), parameters), expected)
    # What is not there yet stays on the host, and is counted.
    with counted_fallbacks() as fallbacks:
        hidden = ttnn.get_fallback_function(ttnn.gelu)(_on(device, inputs) @ parameters.up.weight)
    assert dict(fallbacks) == {"ttnn.gelu": 1}
    assert tuple(hidden.shape) == (64, 128)


def test_weights_are_cached(inputs: Any, device: ttnn.MeshDevice, tmp_path: Path) -> None:
    made = []

    def initialize() -> Model:
        made.append(True)
        return Model()

    with (
        ttnn.manage_config("enable_model_cache", True),
        ttnn.manage_config("model_cache_path", tmp_path),
    ):
        for _ in range(2):
            options = {"model_name": "porting", "initialize_model": initialize, "device": device}
            parameters = mp.preprocess_model_parameters(**options)
            _near(functional_ttnn(_on(device, inputs), parameters), Model()(inputs))
    assert len(made) == 1
    assert len(list(tmp_path.rglob("*.tensorbin"))) == 6
    assert (tmp_path / "porting" / "manifest.json").is_file()


def test_graphs_before_and_after(inputs: Any, device: ttnn.MeshDevice, tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    pytest.importorskip("graphviz")
    model = Model()
    parameters = mp.preprocess_model_parameters(initialize_model=lambda: model, device=device)
    x = _on(device, inputs)
    with ttnn.torch_tracer.trace():
        before = model(inputs)
    assert networkx.is_directed_acyclic_graph(ttnn.torch_tracer.get_graph(before))
    with ttnn.manage_config("enable_fast_runtime_mode", False), ttnn.tracer.trace():
        after = functional_ttnn(x, parameters)
    graph = ttnn.tracer.get_graph(after)
    names = {str(graph.nodes[node]["operation"]) for node in graph}
    assert {"ttnn.matmul", "ttnn.add", "ttnn.gelu", "ttnn.layer_norm"} <= names
    assert "ttnn.layer_norm" in ttnn.tracer.visualize(after).source
    picture = tmp_path / "after.svg"
    if shutil.which("dot") is not None:
        ttnn.tracer.visualize(after, file_name=picture)
        assert picture.is_file()


def test_without_graphviz_the_port_goes_on(
    inputs: Any, device: ttnn.MeshDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("networkx")
    with ttnn.torch_tracer.trace():
        after = Model()(inputs)
    picture = tmp_path / "after.svg"
    monkeypatch.setenv("PATH", str(tmp_path))
    if importlib.util.find_spec("graphviz") is not None:
        with pytest.warns(UserWarning, match="needs the program dot of graphviz"):
            drawn = ttnn.tracer.visualize(after, file_name=picture)
        assert "digraph" in drawn.source
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.warns(UserWarning, match="the Python package graphviz is not installed"):
        assert ttnn.tracer.visualize(after, file_name=picture) is None
    assert not picture.exists()


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of a log of calls, which is on."""
    monkeypatch.setenv("TTNN_OPERATION_TRACE_DIR", str(tmp_path))
    ttnn.operation_tracer.enable_tensor_value_serialization(True)
    ttnn.operation_tracer.enable_tracing()
    yield tmp_path
    ttnn.operation_tracer.enable_tracing(False)
    ttnn.operation_tracer.enable_tensor_value_serialization(False)


def test_logged_calls_can_be_made_again(inputs: Any, device: ttnn.MeshDevice, log: Path) -> None:
    x = _on(device, inputs)
    ttnn.concat([ttnn.softmax(ttnn.matmul(x, x, core_grid=ttnn.CoreGrid(y=2, x=2)), dim=-1), x], 1)
    ttnn.add(x, 0.5, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.operation_tracer.enable_tracing(False)
    found = {json.loads(file.read_text())["operation_name"]: file for file in files(log)}
    assert list(found)[-4:] == ["ttnn.matmul", "ttnn.softmax", "ttnn.concat", "ttnn.add"]
    for name in list(found)[-4:]:
        result, written = replay(found[name], device)
        np.testing.assert_array_equal(np.asarray(result.to_list()), written)


def test_the_operator_that_is_off_is_found(inputs: Any, device: ttnn.MeshDevice, tmp_path: Path) -> None:
    model = Model()
    parameters = mp.preprocess_model_parameters(initialize_model=lambda: model, device=device)
    wrong = ttnn.register_python_operation(name="ttnn.porting_probe", golden_function=lambda x: np.asarray(x))(
        lambda x: ttnn.relu(x)
    )
    stages: list[str] = []

    def dump(operation: Any, args: Any, kwargs: Any, output: Any) -> None:
        if isinstance(output, ttnn.Tensor):
            stages.append(operation.__name__)
            ttnn.dump_tensor(str(tmp_path / f"{len(stages)}.tensorbin"), output.cpu())

    try:
        with (
            ttnn.manage_config("root_report_path", tmp_path),
            ttnn.manage_config("report_name", "porting"),
            ttnn.manage_config("enable_logging", True),
            ttnn.manage_config("enable_comparison_mode", True),
            ttnn.manage_config("comparison_mode_pcc", 0.999),
            ttnn.register_post_operation_hook(dump),
        ):
            x = ttnn.gelu(_on(device, inputs) @ parameters.up.weight)
            ttnn.exp(wrong(x))
            folder = ttnn.CONFIG.report_path
    finally:
        from ttnn.operation import registry

        del registry._operations["ttnn.porting_probe"]
    assert folder is not None
    with sqlite3.connect(folder / "db.sqlite") as database:
        rows = database.execute(
            "SELECT o.name, l.matches, g.matches FROM operations o JOIN output_tensors t USING (operation_id) "
            "JOIN local_tensor_comparison_records l USING (tensor_id) "
            "JOIN global_tensor_comparison_records g USING (tensor_id) ORDER BY o.operation_id"
        ).fetchall()
    # The probe is off by itself; what follows is off because of it.
    assert rows[-2:] == [("ttnn.porting_probe", 0, 0), ("ttnn.exp", 1, 0)]
    assert all(local and whole for _, local, whole in rows[:-2])
    number = stages.index("ttnn.gelu") + 1
    stored = ttnn.load_tensor(str(tmp_path / f"{number}.tensorbin"))
    np.testing.assert_array_equal(stored.to_numpy(), x.cpu().to_numpy())


def test_numbers_are_printed_as_asked(device: ttnn.MeshDevice) -> None:
    x = _on(device, torch.arange(64 * 64).reshape(64, 64) / 7)
    try:
        ttnn.set_printoptions(profile="short")
        short = str(x)
        ttnn.set_printoptions(profile="full")
        full = str(x)
        ttnn.set_printoptions(profile="empty")
        assert "..." in short
        assert len(str(x)) < len(short) < len(full)
    finally:
        ttnn.set_printoptions(profile="short")


def test_compiled_once_and_run_often(inputs: Any) -> None:
    device = ttnn.open_device(device_id=0, trace_region_size=1 << 20, num_command_queues=2)
    try:
        model = Model()
        parameters = mp.preprocess_model_parameters(initialize_model=lambda: model, device=device)
        x = _on(device, inputs)
        optimised(x, parameters)
        programs = device.num_program_cache_entries()
        optimised(x, parameters)
        assert device.num_program_cache_entries() == programs
        trace = ttnn.begin_trace_capture(device, cq_id=0)
        result = optimised(x, parameters)
        ttnn.end_trace_capture(device, trace, cq_id=0)
        done = ttnn.record_event(device, 0)
        for seed in (3, 4):
            torch.manual_seed(seed)
            now = torch.randn(64, 64)
            ttnn.wait_for_event(1, done)
            host = ttnn.from_torch(now, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
            ttnn.copy_host_to_device_tensor(host, x, 1)
            ttnn.wait_for_event(0, ttnn.record_event(device, 1))
            ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
            done = ttnn.record_event(device, 0)
            ttnn.synchronize_device(device)
            _near(result, model(now))
        ttnn.release_trace(device, trace)
    finally:
        ttnn.close_device(device)

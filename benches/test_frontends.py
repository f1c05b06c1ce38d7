"""Front ends: compilation of models, and costs of calls.

`cpu_s` and `cpu_us` are processor times, which other programs change less than times on the clock. Targets on an idle
machine: ResNet-50 3 s, MiniLM 2 s, 22 layers of Llama 8 s; 15 us for each operation of a plan.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

if importlib.util.find_spec("xdsl") is None:
    pytest.skip('needs pip install "ttnn-rs[compiler]"', allow_module_level=True)

import ttnn
from ttnn.compiler.frontends import Plan, compile_stablehlo
from ttnn.compiler.runtime.place import Transfers, place

MODELS = ("resnet50", "bert", "llama")


@pytest.mark.parametrize("name", MODELS)
def test_compile(benchmark: Any, name: str) -> None:
    """Importer, passes and binary, after PyTorch's own tracing."""
    torch = pytest.importorskip("torch", minversion="2.13")
    import networks
    from ttnn.compiler.frontends.torch.trace import traced
    from ttnn.compiler.importers.fx import import_graph

    model, inputs = getattr(networks, name)()
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    names, count = list(state), len(state)

    def call(*values: Any) -> Any:
        return torch.func.functional_call(model, dict(zip(names, values[:count], strict=True)), values[count:])

    with torch.no_grad():
        graph = traced(call, [*state.values(), *inputs]).graph
    nodes = sum(1 for one in graph.graph.nodes if one.op == "call_function")

    def compile_() -> Plan:
        found = import_graph(graph, ["parameter"] * count + ["input"] * len(inputs))
        assert found.module is not None, found.refused
        return Plan(found.module)

    begin = time.process_time()
    plan = benchmark.pedantic(compile_, rounds=1, iterations=1)
    benchmark.extra_info["cpu_s"] = round(time.process_time() - begin, 2)
    benchmark.extra_info["nodes"] = nodes
    assert len(plan.programs) == 1


def cpu(run: Callable[[], Any], rounds: int) -> float:
    """Return the shortest processor time of a run in microseconds."""
    run()
    times = []
    for _ in range(5):
        begin = time.process_time()
        for _ in range(rounds):
            run()
        times.append((time.process_time() - begin) / rounds * 1e6)
    return min(times)


CHAIN = 300


def chain() -> Plan:
    steps = ("add", "multiply", "subtract", "maximum")
    lines = [f"  %x{i + 1} = stablehlo.{steps[i % 4]} %x{i}, %y : tensor<32x32xbf16>" for i in range(CHAIN)]
    return compile_stablehlo(
        "func.func @main(%x0: tensor<32x32xbf16>, %y: tensor<32x32xbf16>) -> tensor<32x32xbf16> {\n"
        + "\n".join(lines)
        + f"\n  return %x{CHAIN} : tensor<32x32xbf16>\n}}"
    )


def test_plan_of_300_operations_beside_the_emitted_python(benchmark: Any, device: ttnn.MeshDevice) -> None:
    plan = chain()
    values = [np.full((32, 32), 0.5, one.dtype) for one in plan.inputs]
    tensors = [
        place(border.tensor(value), plan.form(i), device, Transfers())
        for i, (border, value) in enumerate(zip(plan.inputs, values, strict=True))
    ]
    names: dict[str, Any] = {}
    exec(compile(plan.python(), "emitted", "exec"), names)
    emitted = names["f_main"]
    python = cpu(lambda: emitted(list(tensors), device), 3)
    ours = cpu(lambda: plan.run(tensors, device), 3)
    benchmark.pedantic(plan.run, (tensors, device), rounds=3, iterations=1)
    benchmark.extra_info["cpu_us_of_an_operation"] = round((ours - python) / CHAIN, 2)
    benchmark.extra_info["to_emitted"] = round(ours / python, 3)


def test_call_of_one_operation(benchmark: Any, device: ttnn.MeshDevice) -> None:
    plan = compile_stablehlo(
        "func.func @main(%x: tensor<32x32xbf16>) -> tensor<32x32xbf16> {\n"
        "  %0 = stablehlo.exponential %x : tensor<32x32xbf16>\n  return %0 : tensor<32x32xbf16>\n}"
    )
    x = ttnn.to_device(ttnn.ones([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT), device)
    benchmark.pedantic(plan.run, ([x], device), rounds=20, iterations=10)
    direct, ours = cpu(lambda: ttnn.exp(x), 100), cpu(lambda: plan.run([x], device), 100)
    benchmark.extra_info["cpu_us_more"] = round(ours - direct, 1)


def test_call_of_torch(benchmark: Any, device: ttnn.MeshDevice) -> None:
    torch = pytest.importorskip("torch", minversion="2.13")
    from ttnn.compiler.frontends.torch import tt

    x = torch.ones(32, 32, dtype=torch.bfloat16)
    with torch.no_grad():
        run = torch.compile(torch.exp, backend=tt)
        other = ttnn.to_device(ttnn.ones([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT), device)
        benchmark.pedantic(run, (x,), rounds=20, iterations=5)
        direct, ours = cpu(lambda: ttnn.exp(other), 100), cpu(lambda: run(x), 100)
    benchmark.extra_info["cpu_us_more"] = round(ours - direct, 1)


def test_call_of_jax(benchmark: Any, device: ttnn.MeshDevice) -> None:
    jax = pytest.importorskip("jax")
    import jax_plugin_tt

    jax_plugin_tt.initialize()
    x = jax.device_put(jax.numpy.ones((32, 32), jax.numpy.bfloat16), jax.devices("tt")[0])
    run = jax.jit(jax.numpy.exp)
    benchmark.pedantic(run, (x,), rounds=20, iterations=5)
    other = ttnn.to_device(ttnn.ones([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT), device)
    direct, ours = cpu(lambda: ttnn.exp(other), 100), cpu(lambda: run(x), 100)
    benchmark.extra_info["cpu_us_more"] = round(ours - direct, 1)

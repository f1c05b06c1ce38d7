"""Predicted times of plans, their names, and programs with equal bits."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import ParameterError
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.frontends import Plan, compile_stablehlo
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.runtime.place import Transfers, place
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.profiler.session import profile

PARAMETER = "ttcore.argument_type = #ttcore.argument_type<parameter>"
LAYER = f"""func.func @main(%x: tensor<64x96xbf16>, %w: tensor<96x128xbf16> {{{PARAMETER}}}, %b: tensor<128xf32> {{{PARAMETER}}}) -> tensor<64x128xbf16> {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x96xbf16>, tensor<96x128xbf16>) -> tensor<64x128xbf16> loc("layer/dot")
  %1 = stablehlo.convert %b : (tensor<128xf32>) -> tensor<128xbf16> loc("layer/bias")
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<128xbf16>) -> tensor<64x128xbf16> loc("layer/bias")
  %3 = stablehlo.add %0, %2 : tensor<64x128xbf16> loc("layer/add")
  %4 = stablehlo.exponential %3 : tensor<64x128xbf16> loc("layer/exp")
  return %4 : tensor<64x128xbf16>
}}"""  # noqa: E501


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return compile_stablehlo(LAYER)


def arrays(plan: Plan) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(one.shape).astype(one.dtype) for one in plan.inputs]


def placed(plan: Plan, device: ttnn.MeshDevice) -> list[Any]:
    return [
        place(border.tensor(value), plan.form(i), device, Transfers())
        for i, (border, value) in enumerate(zip(plan.inputs, arrays(plan), strict=True))
    ]


def emitted(plan: Plan) -> Any:
    names: dict[str, Any] = {}
    exec(compile(plan.python(), "emitted", "exec"), names)
    return names["f_main"]


def test_the_time_is_that_of_a_run_and_of_the_emitted_program(plan: Plan, device: ttnn.MeshDevice) -> None:
    inputs = placed(plan, device)
    plan.run(inputs, device)
    with profile() as run:
        plan.run(inputs, device)
    main = emitted(plan)
    main(list(inputs), device)
    with profile() as python:
        main(list(inputs), device)
    rows = plan.predicted_rows(device)
    assert not run.missing
    assert plan.predicted_ns(device) == sum(row.nanoseconds for row in run.rows) > 0
    ours = [(row.operation, row.nanoseconds) for row in rows if not row.constant]
    assert ours == [(row.plan.name, row.nanoseconds) for row in run.rows]
    # The emitted program computes the constants in each run.
    assert sum(row.nanoseconds for row in rows) == sum(row.nanoseconds for row in python.rows)


def test_rows_have_the_names_of_the_framework(plan: Plan, device: ttnn.MeshDevice) -> None:
    names = {row.name for row in plan.predicted_rows(device)}
    assert {"layer/add", "layer/exp"} <= names
    inputs = placed(plan, device)
    with profile() as run:
        plan.run(inputs, device)
        ttnn.exp(inputs[0])
    labels = [row.record.label for row in run.rows]
    assert labels[-1] == ""
    assert {"layer/add", "layer/exp"} <= set(labels)
    assert "layer/exp" in str(run)
    assert "layer/exp" not in str(profile)


def test_plan_emitted_python_and_saved_binary_have_equal_bits(
    plan: Plan, device: ttnn.MeshDevice, tmp_path: Path
) -> None:
    (want,) = plan(*arrays(plan), device=device)
    (python,) = emitted(plan)(placed(plan, device), device)
    assert plan.outputs[0].array(python).tobytes() == want.tobytes()
    file = tmp_path / "layer.ttnn"
    file.write_bytes(plan.binary.to_bytes())
    program = next(one for one in programs(Binary.parse(file.read_bytes())) if one.name == "main")
    (found,) = execute(program, placed(plan, device), device)
    assert plan.outputs[0].array(found).tobytes() == want.tobytes()


def test_a_loop_counts_the_rounds_of_its_last_run(device: ttnn.MeshDevice) -> None:
    text = """func.func @main(%x: tensor<32x32xf32>, %n: tensor<i32>) -> tensor<32x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<32x32xf32>, tensor<i32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
   } do {
    %b = stablehlo.tanh %a : tensor<32x32xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %b, %j : tensor<32x32xf32>, tensor<i32>
   }
  return %r#0 : tensor<32x32xf32>
}"""
    plan = compile_stablehlo(text)
    values = np.ones((32, 32), np.float32), np.array(3, np.int32)
    # The constants of both parts.
    plan(*values, device=device)
    with profile() as run:
        plan(*values, device=device)
    predicted = plan.predicted_ns(device)
    assert predicted == pytest.approx(sum(row.nanoseconds for row in run.rows), abs=1e-6)


def test_a_device_must_be_open(plan: Plan) -> None:
    code = "from ttnn.compiler.frontends import compile_ttir as c; import sys; c(sys.stdin.read()).predicted_ns()"
    done = subprocess.run([sys.executable, "-c", code], input=plan.ttir, capture_output=True, text=True, check=False)
    assert ParameterError.__name__ in done.stderr
    assert "predicted times need a device" in done.stderr


def test_profile_of_a_script_shows_the_names(tmp_path: Path) -> None:
    pytest.importorskip("torch", minversion="2.13")
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\nfrom tt_torch import tt\n"
        "model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU())\n"
        "with torch.no_grad():\n    torch.compile(model, backend=tt)(torch.ones(4, 32))\n"
    )
    command = [sys.executable, "-m", "ttnn", "profile", "--json", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    document = json.loads(done.stdout[done.stdout.index("{") :])
    labels = [row["label"] for row in document["operations"] if "label" in row]
    assert any("linear" in one for one in labels), labels


def test_comparison_mode_and_reports_work_on_plans(plan: Plan, device: ttnn.MeshDevice, tmp_path: Path) -> None:
    (want,) = plan(*arrays(plan), device=device)
    manage = ttnn.manage_config
    with manage("enable_fast_runtime_mode", False), manage("enable_comparison_mode", True):
        (found,) = plan(*arrays(plan), device=device)
    assert found.tobytes() == want.tobytes()
    with profile() as run:
        plan(*arrays(plan), device=device)
    folder = run.report(tmp_path)
    sheet = (folder / "ops_perf_results.csv").read_text().splitlines()
    assert (folder / "db.sqlite").stat().st_size
    assert len(sheet) == 1 + len(run.rows)

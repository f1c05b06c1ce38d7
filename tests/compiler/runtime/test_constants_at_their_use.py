"""Late constants and `ttnn-emitpy-workarounds`: the same values as without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.pipelines import run
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.transforms.ttnn.canonical import creation
from ttnn.compiler.versions import parse_module

VALUES = {
    "tensor<2x3xf32>": "dense<[[1.5, -2.0, 3.0], [0.1, 1.0e-20, 16777217.0]]>",
    "tensor<2x3xbf16>": "dense<[[1.5, -2.0, 3.0], [0.25, 64.0, 256.0]]>",
    "tensor<3xsi32>": "dense<[1, -2, 16777215]>",
    "tensor<1x3xsi32>": "dense<[[1, -2, 16777217]]>",
    "tensor<1x1x2x2xsi32>": "dense<[[[[7, 1], [2, 3]]]]>",
}


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def lowered(kind: str, passes: str = "") -> Module:
    module = parse_module(
        f"""func.func @f() -> {kind} {{
  %0 = "ttir.constant"() <{{value = {VALUES[kind]} : {kind}}}> : () -> {kind}
  return %0 : {kind}
}}""",
        version="2025-10",
    )
    run(module, f"builtin.module(ttir-to-ttnn-backend-pipeline{{enable-const-eval=false}}{passes})")
    return module


def values(module: Module, device: ttnn.MeshDevice) -> Any:
    run(module, "convert-ttnn-to-emitpy")
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(emitpy_source(module), "emitted.py", "exec"), names)
    (tensor,) = names["f"]([], device)
    return ttnn.to_numpy(tensor)


def calls(module: Module) -> list[str]:
    found = [op.name for op in module.op.walk() if isinstance(op, TableOp)]
    return [name for name in found if name.startswith("ttnn.") and name not in ("ttnn.get_device", "ttnn.deallocate")]


@pytest.mark.parametrize("kind", VALUES)
def test_constants_are_created_at_their_use(
    kind: str, device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = lowered(kind)
    assert calls(module) == ["ttnn.constant"]
    found = values(module, device)
    monkeypatch.setattr(creation, "has", lambda *_: False)
    apart = lowered(kind)
    assert calls(apart)[0] == "ttnn.constant"
    assert "ttnn.to_layout" in calls(apart)
    assert np.array_equal(found, values(apart, device))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("tensor<2x3xf32>", ["ttnn.constant", "ttnn.reshape"]),
        ("tensor<2x3xbf16>", ["ttnn.constant", "ttnn.reshape"]),
        ("tensor<3xsi32>", ["ttnn.constant", "ttnn.typecast", "ttnn.reshape"]),
        # float32 does not hold one of its numbers.
        ("tensor<1x3xsi32>", ["ttnn.constant", "ttnn.reshape"]),
        ("tensor<1x1x2x2xsi32>", ["ttnn.constant", "ttnn.typecast"]),
    ],
)
def test_python_constants_of_2025_10_have_four_dimensions(
    kind: str, expected: list[str], device: ttnn.MeshDevice
) -> None:
    module = lowered(kind, ", ttnn-emitpy-workarounds")
    assert calls(module) == expected
    (constant,) = [op for op in module.op.walk() if op.name == "ttnn.constant"]
    assert len(constant.results[0].type.get_shape()) == 4  # type: ignore[attr-defined]
    assert np.array_equal(values(module, device), values(lowered(kind), device))


def test_python_constants_above_four_dimensions_are_refused() -> None:
    kind = "tensor<1x1x1x1x2xf32>"
    made = f'"ttnn.constant"() <{{value = dense<[[[[[1.0, 2.0]]]]]> : {kind}}}> : () -> {kind}'
    text = f"func.func @f() -> {kind} {{\n  %0 = {made}"
    module = parse_module(f"{text}\n  return %0 : {kind}\n}}", version="2025-10")
    with pytest.raises(CompileError, match="has 5 dimensions; Python gets constants of up to 4"):
        run(module, "ttnn-emitpy-workarounds")

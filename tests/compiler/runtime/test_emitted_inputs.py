"""Emitted Python that reads the inputs of its main function from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.compiler.pipelines import run
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.versions import parse_module

torch = pytest.importorskip("torch")

S = "tensor<32x64xbf16>"
TEXT = f"""func.func @difference(%a: {S}, %b: {S}) -> {S} {{
  %0 = "ttir.subtract"(%a, %b) : ({S}, {S}) -> {S}
  return %0 : {S}
}}"""


def emitted(options: str) -> str:
    module = parse_module(TEXT)
    run(module, f"ttir-to-emitpy-pipeline{{{options}}}")
    return emitpy_source(module)


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ("", "arg0.tensorbin"),
        ("tensor-load-directory=in", "in/arg0.tensorbin"),
        ("tensor-load-file-prefix=given", "given0.tensorbin"),
        ("tensor-load-directory=in tensor-load-file-prefix=given", "in/given0.tensorbin"),
    ],
)
def test_main_function_reads_its_inputs_from_files(
    options: str, first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = emitted(f"load-input-tensors-from-disk=true {options}")
    assert f'ttnn.load_tensor("{first}", device=device)' in source
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    given = [
        ttnn.from_torch(torch.from_numpy(rng.normal(size=(32, 64))), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
        for _ in range(2)
    ]
    Path(first).parent.mkdir(exist_ok=True)
    for index, tensor in enumerate(given):
        ttnn.dump_tensor(first.replace("0.", f"{index}."), tensor)

    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(source, "emitted.py", "exec"), names)
    device = ttnn.open_device(device_id=0)
    (found,) = names["difference"](names["load_inputs_for_difference"](device), device)
    expected = ttnn.subtract(*(ttnn.to_device(one, device) for one in given))
    assert np.array_equal(ttnn.to_numpy(found), ttnn.to_numpy(expected))
    ttnn.close_device(device)
    assert names["main"]() == 0


def test_input_files_are_read_only_on_request() -> None:
    source = emitted("")
    assert "load_tensor" not in source
    assert "create_inputs_for_difference" in source


def test_options_without_effect_are_accepted() -> None:
    assert emitted("tuplify-input-if-empty=true split-files=false try-recover-structure=true") == emitted("")
    module = parse_module(
        f'func.func @f() -> {S} {{\n  %0 = "ttir.ones"() <{{shape = array<i32: 32, 64>}}> : () -> {S}\n'
        f"  return %0 : {S}\n}}"
    )
    run(module, "ttir-to-emitpy-pipeline{tuplify-input-if-empty=true}")
    assert "def f(inputs, device):" in emitpy_source(module)

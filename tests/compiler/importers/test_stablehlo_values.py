"""Programs of jax, imported and executed on the device, against the CPU.

And controls that must fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.stablehlo_programs import PROGRAMS, lowered, wrong
from ttnn.compiler.frontends import compile_stablehlo
from ttnn.compiler.importers.builder.steps import Steps


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_matches_the_cpu(name: str, device: ttnn.MeshDevice) -> None:
    program = PROGRAMS[name]
    text, inputs, wanted = lowered(program)
    plan = compile_stablehlo(text)
    assert "segment 0: program of the device" in plan.describe()
    assert not wrong(program, plan(*inputs, device=device), wanted)


def _fails(change: Any) -> float:
    """Return the share of programs whose changed results are wrong."""
    failed = []
    for program in PROGRAMS.values():
        _, inputs, wanted = lowered(program)
        try:
            failed.append(bool(wrong(program, change(inputs, wanted), wanted)))
        except (TypeError, ValueError):
            failed.append(True)
    return float(np.mean(failed))


def test_zeros_are_found_to_be_wrong() -> None:
    assert _fails(lambda inputs, wanted: [np.zeros_like(one) for one in wanted]) > 0.9


def test_inputs_as_outputs_are_found_to_be_wrong() -> None:
    assert _fails(lambda inputs, wanted: [np.asarray(inputs[i % len(inputs)]) for i in range(len(wanted))]) > 0.9


def test_swapped_inputs_are_found_to_be_wrong(device: ttnn.MeshDevice) -> None:
    names = ["subtract", "divide", "power", "atan2", "remainder_of_dividend", "update_row", "complex"]
    swapped = [name for name in names if PROGRAMS[name].inputs[0].shape == PROGRAMS[name].inputs[1].shape]
    assert len(swapped) >= 5
    for name in swapped:
        program = PROGRAMS[name]
        text, inputs, wanted = lowered(program)
        assert wrong(program, compile_stablehlo(text)(inputs[1], inputs[0], *inputs[2:], device=device), wanted), name


def test_an_importer_without_broadcasts_fails(device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    def first(steps: Steps, value: Any, shape: Any, dims: Any = None) -> Any:
        del dims
        return steps.splat(0, value, shape)

    touched = ["layer_norm", "softmax", "outer", "reduce_var"]
    monkeypatch.setattr(Steps, "broadcast", first)
    for name in touched:
        program = PROGRAMS[name]
        text, inputs, wanted = lowered(program)
        assert wrong(program, compile_stablehlo(text)(*inputs, device=device), wanted), name


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes_of_nan_and_a_number_are_nan(device: ttnn.MeshDevice, name: str) -> None:
    kind = "tensor<6xf32>"
    plan = compile_stablehlo(
        f"func.func @main(%a: {kind}, %b: {kind}) -> ({kind}, {kind}) {{ %0 = stablehlo.{name} %a, %b : {kind}\n"
        f"%c = stablehlo.constant dense<1.0> : {kind}\n%1 = stablehlo.{name} %a, %c : {kind}\n"
        f"return %0, %1 : {kind}, {kind} }}"
    )
    a = np.array([np.nan, 1, np.nan, -5, 3, np.nan], np.float32)
    b = np.array([1, np.nan, np.inf, 2, np.nan, np.nan], np.float32)
    both, constant = plan(a, b, device=device)
    np.testing.assert_array_equal(both, getattr(np, name)(a, b))
    np.testing.assert_array_equal(constant, getattr(np, name)(a, np.float32(1)))

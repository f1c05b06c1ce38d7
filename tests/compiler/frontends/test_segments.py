"""Plans of several parts: operations of the host, loops, branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import ConfigError, UnsupportedError
from ttnn.compiler.frontends import Plan, compile_stablehlo
from ttnn.compiler.frontends.host import OPERATIONS
from ttnn.compiler.frontends.segments import Branch, Host, Loop
from ttnn.compiler.runtime.place import Transfers


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


LOOP = """func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %most = stablehlo.constant dense<100.0> : tensor<f32>
  %y = stablehlo.add %x, %two : tensor<4xf32>
  %r:2 = stablehlo.while(%a = %y, %i = %zero) : tensor<4xf32>, tensor<i32>
   cond {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %p = stablehlo.compare LT, %s, %most : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
   } do {
    %b = stablehlo.multiply %a, %two : tensor<4xf32>
    %c = stablehlo.add %b, %x : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %c, %j : tensor<4xf32>, tensor<i32>
   }
  %e = stablehlo.negate %r#0 : tensor<4xf32>
  return %e, %r#1 : tensor<4xf32>, tensor<i32>
}"""  # noqa: E501


@pytest.mark.parametrize(("first", "rounds"), [(0, 3), (30, 0)])
def test_a_loop_whose_rounds_depend_on_data(first: int, rounds: int, device: ttnn.MeshDevice) -> None:
    plan = compile_stablehlo(LOOP)
    x = np.arange(first, first + 4).astype(np.float32)
    y, count = x + 2, 0
    while y.sum() < 100:
        y, count = y * 2 + x, count + 1
    found, counted = plan(x, device=device)
    assert found.tobytes() == (-y).tobytes()
    assert (count, int(counted)) == (rounds, rounds)
    (loop,) = [one for one in plan.segments if isinstance(one, Loop)]
    assert loop.rounds == rounds


def test_the_state_of_a_loop_stays_on_the_device(device: ttnn.MeshDevice) -> None:
    plan, transfers = compile_stablehlo(LOOP), Transfers()
    plan.run([np.arange(4).astype(np.float32)], device, transfers)
    # The condition of each round: four of them.
    assert transfers.from_device == 4
    assert transfers.to_device <= 2


COUNTED = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %most = stablehlo.constant dense<5> : tensor<i32>
  %r:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<4xf32>, tensor<i32>
   cond {
    %p = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
   } do {
    %b = stablehlo.add %a, %a : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %b, %j : tensor<4xf32>, tensor<i32>
   }
  return %r#0 : tensor<4xf32>
}"""


def test_a_loop_of_a_constant_count_is_written_out_below_the_limit(device: ttnn.MeshDevice) -> None:
    x = np.array([1, 2, 3, -4], np.float32)
    short, long = compile_stablehlo(COUNTED), compile_stablehlo(COUNTED, unrolled=10)
    assert len(short.segments) == 1
    assert any(isinstance(one, Loop) for one in long.segments)
    for plan in (short, long):
        (found,) = plan(x, device=device)
        assert found.tobytes() == (x * 32).tobytes()


BRANCH = """func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {{
  %r = "stablehlo.case"(%n) ({{
    %a = stablehlo.negate %x : tensor<4xf32>
    {many}
    stablehlo.return %a : tensor<4xf32>
  }}, {{
    %b = stablehlo.abs %x : tensor<4xf32>
    stablehlo.return %b : tensor<4xf32>
  }}, {{
    stablehlo.return %x : tensor<4xf32>
  }}) : (tensor<i32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}}"""


def branch(operations: int) -> Plan:
    many = "\n".join(f"%a{i} = stablehlo.add %x, %x : tensor<4xf32>" for i in range(operations))
    return compile_stablehlo(BRANCH.format(many=many))


def test_large_branches_are_plans_and_small_ones_are_selected(device: ttnn.MeshDevice) -> None:
    small, large = branch(0), branch(80)
    assert not any(isinstance(one, Branch) for one in small.segments)
    assert any(isinstance(one, Branch) for one in large.segments)
    x = np.array([1, -2, 3, -4], np.float32)
    want = {0: -x, 1: np.abs(x), 2: x, 7: x, -1: x}
    for number, values in want.items():
        for plan in (small, large):
            (found,) = plan(x, np.array(number, np.int32), device=device)
            assert found.tobytes() == values.tobytes(), number


DIVIDE = """func.func @main(%x: tensor<6xi32>, %y: tensor<6xi32>) -> tensor<6xi32> {
  %0 = stablehlo.divide %x, %y : tensor<6xi32> loc("quotient")
  %1 = stablehlo.subtract %0, %y : tensor<6xi32>
  return %1 : tensor<6xi32>
}"""


def test_what_runs_on_the_host_is_named(device: ttnn.MeshDevice) -> None:
    plan = compile_stablehlo(DIVIDE)
    assert plan.islands == ["host, divide at quotient"]
    assert "segment 0: host, divide at quotient" in plan.describe()
    x = np.array([7, -7, 2**31 - 1, -(2**31), 5, -5], np.int32)
    y = np.array([2, 2, 3, 7, 0, -5], np.int32)
    (found,) = plan(x, y, device=device)
    assert found.tolist() == [1, -5, 715827882 - 3, -306783378 - 7, -1, 6]
    (island,) = [one for one in plan.segments if isinstance(one, Host)]
    assert island.runs == 1


def test_nothing_runs_on_the_host_if_that_is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTNN_HOST_ISLANDS", "0")
    with pytest.raises(UnsupportedError, match=r'stablehlo.divide at "quotient" runs on the host, which TTNN_HOST'):
        compile_stablehlo(DIVIDE)
    monkeypatch.setenv("TTNN_HOST_ISLANDS", "no")
    with pytest.raises(ConfigError, match="TTNN_HOST_ISLANDS is 'no'; expected 0 or 1"):
        compile_stablehlo(DIVIDE)


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def spd(count: int) -> Any:
    a = rng(3).standard_normal((2, count, count)).astype(np.float32)
    return (a @ np.swapaxes(a, 1, 2) + 4 * np.eye(count)).astype(np.float32)


@pytest.mark.parametrize("lower", [0, 1])
def test_factors(lower: int) -> None:
    (found,) = OPERATIONS["cholesky"]([spd(5)], {"lower": lower})
    again = np.swapaxes(found, 1, 2)
    product = found @ again if lower else again @ found
    assert np.abs(product - spd(5)).max() < 1e-4
    assert not (np.triu(found, 1) if lower else np.tril(found, -1)).any()
    (wrong,) = OPERATIONS["cholesky"]([-spd(5)], {"lower": lower})
    assert np.isnan(wrong[:, 0, 0]).all()


@pytest.mark.parametrize("left", [0, 1])
@pytest.mark.parametrize("lower", [0, 1])
@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("unit", [0, 1])
def test_solutions_of_triangles(left: int, lower: int, transposed: int, unit: int) -> None:
    a = spd(4)
    b = rng(4).standard_normal((2, 4, 3) if left else (2, 3, 4)).astype(np.float32)
    options = {"left": left, "lower": lower, "transposed": transposed, "unit": unit}
    (x,) = OPERATIONS["triangular_solve"]([a, b], options)
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        triangle = triangle - triangle * np.eye(4) + np.eye(4)
    op = np.swapaxes(triangle, 1, 2) if transposed else triangle
    assert np.abs((op @ x if left else x @ op) - b).max() < 1e-3 * np.abs(x).max()


def test_bits_of_integers() -> None:
    values = np.array([0, 1, -1, 2**31 - 1, -(2**31), 12345], np.int32)
    assert OPERATIONS["popcnt"]([values], {})[0].tolist() == [bin(int(x) & 0xFFFFFFFF).count("1") for x in values]
    zeros = [32 - (int(x) & 0xFFFFFFFF).bit_length() for x in values]
    assert OPERATIONS["count_leading_zeros"]([values], {})[0].tolist() == zeros
    wide = values.view(np.uint32)
    shifts = np.array([0, 1, 4, 31, 40, 3], np.uint32)
    want = [int(x) >> min(int(n), 31) for x, n in zip(values, shifts, strict=True)]
    assert OPERATIONS["shift_right"]([wide, shifts], {})[0].view(np.int32).tolist() == want


@pytest.mark.parametrize("descending", [0, 1])
def test_sorts_of_wide_integers_keep_the_order_of_equal_keys(descending: int) -> None:
    key = np.array([[5, 2**31 - 1, 5, -(2**31), 0]], np.int32)
    other = np.arange(5, dtype=np.float32)[None]
    found = OPERATIONS["sort"]([other, key], {"dimension": 1, "key": 1, "descending": descending})
    order = [1, 0, 2, 4, 3] if descending else [3, 4, 0, 2, 1]
    assert found[0].tolist() == [order]
    assert found[1].tolist() == [key[0, order].tolist()]

"""Caches of keys and values that programs change in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttnn
from ttnn.compiler.frontends import Plan, compile_stablehlo
from ttnn.compiler.frontends.resident import Elements
from ttnn.compiler.runtime.place import Transfers


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def step(users: int, rows: int = 1, element: str = "bf16", *, donated: bool = True, more: str = "") -> Plan:
    cache, part = f"tensor<{users}x2x64x32x{element}>", f"tensor<{users}x2x{rows}x32x{element}>"
    given = "{tf.aliasing_output = 0 : i32}" if donated else ""
    pad = ", ".join(["tensor<i32>"] * 4)
    return compile_stablehlo(
        f"""func.func @main(%cache: {cache} {given}, %rows: {part}, %position: tensor<i32>) -> ({cache}, {cache}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %cache, %rows, %zero, %zero, %position, %zero : ({cache}, {part}, {pad}) -> {cache}
  %1 = stablehlo.add %0, {more or "%0"} : {cache}
  return %0, %1 : {cache}, {cache}
}}"""  # noqa: E501
    )


def values(users: int, rows: int, seed: int, dtype: Any = ml_dtypes.bfloat16) -> Any:
    return np.random.default_rng(seed).standard_normal((users, 2, rows, 32)).astype(dtype)


@pytest.mark.parametrize("users", [1, 3])
def test_a_row_is_written_into_the_donated_cache(users: int, device: ttnn.MeshDevice) -> None:
    plan = step(users)
    assert plan.writes == {0}
    want = values(users, 64, 0)
    state: Any = Elements(plan.inputs[0], want.copy())
    address = None
    for turn, position in enumerate((5, 6, 63, 70, -1)):
        row, transfers = values(users, 1, turn + 1), Transfers()
        results = plan.run([state, row, np.array(position, np.int32)], device, transfers, frozenset({0}))
        want[:, :, min(max(position, 0), 63)] = row[:, :, 0]
        assert plan.outputs[0].array(results[0]).tobytes() == want.tobytes()
        assert plan.outputs[1].array(results[1]).tobytes() == (want + want).tobytes()
        if address is not None:
            # The cache does not move: neither to the host, nor on the device.
            assert results[0].buffer_address() == address
            # The row and the position go up.
            assert (transfers.to_device, transfers.from_device) == (2, 0)
        address, state = results[0].buffer_address(), results[0]


def test_a_cache_that_is_not_given_away_stays_as_it_is(device: ttnn.MeshDevice) -> None:
    plan, old = step(1), values(1, 64, 0)
    cache = Elements(plan.inputs[0], old)
    for position in (1, 2):
        results = plan.run([cache, values(1, 1, 1), np.array(position, np.int32)], device)
        want = old.copy()
        want[:, :, position] = values(1, 1, 1)[:, :, 0]
        assert plan.outputs[0].array(results[0]).tobytes() == want.tobytes()


@pytest.mark.parametrize(
    "plan",
    [step(1, donated=False), step(1, more="%cache"), step(1, element="f32"), step(1, rows=3)],
    ids=["not donated", "read again", "float32", "several rows"],
)
def test_other_updates_copy(plan: Plan, device: ttnn.MeshDevice) -> None:
    assert not plan.writes
    cache = values(1, 64, 0, plan.inputs[0].dtype)
    rows = values(1, plan.inputs[1].shape[2], 1, plan.inputs[1].dtype)
    (found, _) = plan(cache, rows, np.array(9, np.int32), device=device)
    want = cache.copy()
    want[:, :, 9 : 9 + rows.shape[2]] = rows
    assert found.tobytes() == want.tobytes()


def test_a_prompt_fills_the_first_rows(device: ttnn.MeshDevice) -> None:
    text = """func.func @main(%cache: tensor<2x2x64x32xbf16> {jax.buffer_donor = true}, %rows: tensor<2x2x32x32xbf16>) -> tensor<2x2x64x32xbf16> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %cache, %rows, %zero, %zero, %zero, %zero : (tensor<2x2x64x32xbf16>, tensor<2x2x32x32xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x64x32xbf16>
  return %0 : tensor<2x2x64x32xbf16>
}"""  # noqa: E501
    plan = compile_stablehlo(text)
    assert plan.writes == {0}
    cache, rows = values(2, 64, 0), values(2, 32, 1)
    (found,) = plan(cache, rows, device=device)
    want = cache.copy()
    want[:, :, :32] = rows
    assert found.tobytes() == want.tobytes()

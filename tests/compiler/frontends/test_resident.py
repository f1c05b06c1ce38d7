"""Tensors that stay on the device, shared by programs."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

import ttnn
from ttnn.compiler.frontends import Plan, compile_stablehlo
from ttnn.compiler.frontends.resident import Elements, Store
from ttnn.compiler.runtime.place import Transfers

PARAMETER = "ttcore.argument_type = #ttcore.argument_type<parameter>"
DENSE = f"""func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x16xf32> {{{PARAMETER}}}) -> tensor<32x16xf32> {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}}"""  # noqa: E501
# The transposed weight depends on the parameter only: a program of constants makes it.
CONSTANT = f"""func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x16xf32> {{{PARAMETER}}}) -> tensor<32x16xf32> {{
  %0 = stablehlo.exponential %w : tensor<64x16xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  return %1 : tensor<32x16xf32>
}}"""  # noqa: E501


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def weights(seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(seed).standard_normal((64, 16)).astype(np.float32)


def held(plan: Plan, seed: int = 1) -> Elements:
    return Elements(plan.inputs[1], weights(seed))


X = np.random.default_rng(0).standard_normal((32, 64)).astype(np.float32)


def test_two_programs_share_one_copy_and_the_last_frees_it(device: ttnn.MeshDevice) -> None:
    first, second = compile_stablehlo(DENSE), compile_stablehlo(DENSE.replace("@main", "@other"))
    gc.collect()
    before = device.engine.allocated_bytes()
    w, transfers = held(first), Transfers()
    first.run([X, w], device, transfers)
    used = device.engine.allocated_bytes()
    assert used > before
    second.run([X, w], device, transfers)
    first.run([X, w], device, transfers)
    # X three times, the weights once, in tiles.
    assert transfers.to_device == 4
    assert transfers.bytes_to_device == 3 * X.nbytes + 2 * 32 * 32 * 4
    assert device.engine.allocated_bytes() == used
    del first
    gc.collect()
    assert device.engine.allocated_bytes() == used
    # At once, not when circles are collected.
    gc.disable()
    try:
        w.drop()
        assert device.engine.allocated_bytes() == before
    finally:
        gc.enable()
    second.run([X, w], device)
    assert device.engine.allocated_bytes() == used
    del second
    gc.collect()
    assert device.engine.allocated_bytes() == before


def test_elements_that_are_gone_free_their_copies_and_constants(device: ttnn.MeshDevice) -> None:
    plan = compile_stablehlo(CONSTANT)
    gc.collect()
    before = device.engine.allocated_bytes()
    w = held(plan)
    plan.run([X, w], device)
    assert device.engine.allocated_bytes() > before
    # At once, not when circles are collected.
    gc.disable()
    try:
        del w
        assert device.engine.allocated_bytes() == before
    finally:
        gc.enable()


def test_constants_are_computed_once_for_each_of_several_parameters(device: ttnn.MeshDevice) -> None:
    plan = compile_stablehlo(CONSTANT)
    one, two = held(plan, 1), held(plan, 2)
    want = [plan(X, w, device=device)[0] for w in (one, two)]
    transfers = Transfers()
    again = [plan.outputs[0].array(plan.run([X, w], device, transfers)[0]) for w in (one, two)]
    assert [x.tobytes() for x in again] == [x.tobytes() for x in want]
    assert want[0].tobytes() != want[1].tobytes()
    assert transfers.to_device == 2


def test_bound_and_given_parameters_have_the_same_bits(device: ttnn.MeshDevice) -> None:
    plan = compile_stablehlo(CONSTANT)
    (given,) = plan(X, weights(1), device=device)
    plan.bind({1: weights(1)}, device)
    (bound,) = plan(X, device=device)
    assert given.tobytes() == bound.tobytes()
    reference = X.astype(np.float64) @ np.exp(weights(1).astype(np.float64))
    assert np.corrcoef(reference.ravel(), given.ravel().astype(np.float64))[0, 1] > 0.9999


def test_a_store_forgets_changed_and_dead_tensors() -> None:
    class Owner:
        pass

    plan = compile_stablehlo(DENSE)
    store: Store[Elements] = Store()
    owner = Owner()
    first = store.of("w", owner, 0, lambda: held(plan))
    assert store.of("w", owner, 0, lambda: held(plan)) is first
    changed = store.of("w", owner, 1, lambda: held(plan))
    assert changed is not first
    other = Owner()
    assert store.of("w", other, 1, lambda: held(plan)) is not changed
    # The first owner's end must not take the entry of the second.
    del owner
    gc.collect()
    assert len(store) == 1
    del other
    gc.collect()
    assert len(store) == 0

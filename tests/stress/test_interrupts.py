"""Ctrl-C in an operator: it ends soon; the device remains usable."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

import numpy as np
import pytest

import ttnn

# The host takes seconds to minutes for such a product.
SIDE, BATCH = 2048, 12
SECONDS = 0.4


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Set Python's own handler.

    Where signals are ignored, as in jobs in the background, it sets none.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    with ttnn.manage_config("threads", request.param):
        yield request.param


def operands(device: ttnn.MeshDevice) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    random = np.random.default_rng(3)
    left = random.standard_normal((BATCH, SIDE, SIDE), np.float32)
    right = random.standard_normal((SIDE, SIDE), np.float32)
    a, b = (ttnn.Tensor(values, ttnn.bfloat16, device, ttnn.TILE_LAYOUT) for values in (left, right))
    return a, b


def after_a_while(action: Callable[[], object]) -> threading.Timer:
    timer = threading.Timer(SECONDS, action)
    timer.start()
    return timer


@pytest.mark.parametrize("numerics", ["exact", "fast"])
def test_a_long_operator_ends(device: ttnn.MeshDevice, threads: int, numerics: str) -> None:
    a, b = operands(device)
    used = device.engine.allocated_bytes()
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi3)
    out = ttnn.empty(a.shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)

    def products() -> None:
        # More than one, should a host be so quick.
        end = time.monotonic() + 60
        while time.monotonic() < end:
            ttnn.matmul(a, b, optional_output_tensor=out, compute_kernel_config=config)

    with ttnn.manage_config("numerics", numerics):
        timer = after_a_while(lambda: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            products()
        timer.join()
    ttnn.deallocate(out)
    assert device.engine.allocated_bytes() == used, "a result that is not complete is not kept"
    # The device works on, with every bit.
    row = ttnn.matmul(a[0:1, 0:32, :], b, compute_kernel_config=config)
    again = ttnn.matmul(a[0:1, 0:32, :], b, compute_kernel_config=config)
    np.testing.assert_array_equal(row.to_numpy(), again.to_numpy())


def test_a_handler_of_the_program_does_not_end_it(device: ttnn.MeshDevice, threads: int) -> None:
    noted: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        noted.append(number)

    a, b = operands(device)
    part = a[0:2]
    expected = ttnn.matmul(part, b).to_numpy()
    before = signal.signal(signal.SIGINT, note)
    try:
        timer = threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT))
        timer.start()
        results = [ttnn.matmul(part, b).to_numpy()]
        timer.join()
        results.append(ttnn.matmul(part, b).to_numpy())
    finally:
        signal.signal(signal.SIGINT, before)
    assert noted == [signal.SIGINT]
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_other_threads_work_on(device: ttnn.MeshDevice, threads: int) -> None:
    """Operator threads need the interpreter, others need the device."""
    a, b = operands(device)
    part = a[0:1]
    expected = ttnn.matmul(part, b).to_numpy()
    results: list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = []

    def multiply() -> None:
        results.extend(ttnn.matmul(part, b).to_numpy() for _ in range(3))

    workers = [threading.Thread(target=multiply) for _ in range(2)]
    for worker in workers:
        worker.start()
    small = ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    while any(worker.is_alive() for worker in workers):
        assert np.asarray(ttnn.add(small, small)).astype(np.float32).sum() == 2048
    for worker in workers:
        worker.join()
    assert len(results) == 6
    for result in results:
        np.testing.assert_array_equal(result, expected)

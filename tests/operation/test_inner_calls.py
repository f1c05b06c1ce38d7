"""Inner operator calls belong to the outer one.

For hooks, comparison mode, logs and queues.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make
from testkit.signature_calls import calls, first_dtype
from ttnn.device.queues import current_queue
from ttnn.operation import registry, slow_path


@pytest.fixture
def seen() -> Iterator[list[str]]:
    """Return the names of the operators that hooks see."""
    names: list[str] = []

    def hook(operation: registry.FastOperation, *_: Any) -> None:
        names.append(operation.__name__)

    with (
        ttnn.manage_config("enable_fast_runtime_mode", False),
        ttnn.register_pre_operation_hook(hook),
        ttnn.register_post_operation_hook(hook),
    ):
        yield names


@pytest.mark.parametrize("entry", registry.entries(), ids=str)
def test_hooks_see_every_operator_once(entry: registry.Op, device: ttnn.MeshDevice, seen: list[str]) -> None:
    count = len(list(calls(entry, device, first_dtype(entry))))
    assert count == len(entry.signatures)
    for index in range(count):
        call = list(calls(entry, device, first_dtype(entry)))[index]
        seen.clear()
        times = 2
        try:
            call()
        except ttnn.TtnnError:  # of arguments that a signature takes and the operator does not
            times = 1
        assert seen == [f"ttnn.{entry.name}"] * times


def test_the_outer_result_is_compared_and_no_inner_one(
    device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    monkeypatch.setattr(slow_path, "_judge", lambda operation, *_: compared.append(operation.__name__))
    x = make((1, 1, 32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    grad = make((1, 1, 32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with ttnn.manage_config("enable_comparison_mode", True):
        ttnn.glu(x)
        ttnn.multigammaln(ttnn.add(x, 10.0))
        ttnn.tanhshrink_bw(grad, x)
    assert compared == ["ttnn.glu", "ttnn.add", "ttnn.multigammaln", "ttnn.tanhshrink_bw"]


def test_an_operator_of_a_hook_belongs_to_the_call_that_the_hook_sees(device: ttnn.MeshDevice) -> None:
    x = make((2, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    sums: list[ttnn.Tensor] = []

    def add_up(operation: registry.FastOperation, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        sums.append(ttnn.sum(result))

    with ttnn.manage_config("enable_fast_runtime_mode", False), ttnn.register_post_operation_hook(add_up):
        ttnn.exp(x)
    assert len(sums) == 1


def test_an_error_ends_the_outer_call(device: ttnn.MeshDevice, seen: list[str]) -> None:
    with pytest.raises(ttnn.TtnnError):
        ttnn.glu(make((2, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT, device))
    seen.clear()
    ttnn.relu(make((2, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT, device))
    assert seen == ["ttnn.relu", "ttnn.relu"]


@pytest.mark.parametrize("slow", [False, True])
def test_the_queue_of_the_outer_call_is_that_of_the_inner_ones(device: ttnn.MeshDevice, slow: bool) -> None:
    queues: list[int] = []
    inner = registry.FastOperation("ttnn.test_inner", lambda: queues.append(current_queue()))
    outer = registry.FastOperation("ttnn.test_outer", lambda: (inner(), queues.append(current_queue())))
    with ttnn.manage_config("enable_fast_runtime_mode", not slow):
        outer(queue_id=1)
        inner()
    assert queues == [1, 1, 0]


def test_the_peak_of_memory_contains_that_of_inner_calls(device: ttnn.MeshDevice) -> None:
    """Inner results use memory only while the outer operator runs."""
    x = ttnn.Tensor(np.ones((1, 1, 64, 128), np.float32), ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    before = ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank
    seen: list[int] = []

    def observe(*_: Any) -> None:
        seen.append(ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank)

    gate = registry.find("ttnn.sigmoid")
    function = gate.function
    try:
        gate.function = lambda *args, **kwargs: (observe(), function(*args, **kwargs))[1]
        result = ttnn.glu(x)
    finally:
        gate.function = function
    assert seen[0] > before
    result.deallocate()
    assert ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank == before

"""Repeated calls: the same bits and errors, for every operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import describe, make
from testkit.signature_calls import Call, calls
from ttnn.base.exceptions import TtnnError
from ttnn.operation import registry
from ttnn.runtime.programs import Program

TILED = ttnn.TILE_LAYOUT


def operand(device: ttnn.MeshDevice, seed: int = 0, shape: tuple[int, ...] = (32, 64)) -> ttnn.Tensor:
    """Return a bfloat16 tensor in tiles."""
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return ttnn.Tensor(values, ttnn.bfloat16, device, TILED)


def programs(device: ttnn.MeshDevice) -> int:
    """Return how many programs a device keeps."""
    return sum(type(program) is Program for program in device._resolved.values())


def _attempt(call: Call) -> Any:
    try:
        return describe(call())
    except TtnnError as error:
        return type(error), str(error)


@pytest.mark.parametrize("entry", registry.entries(), ids=str)
def test_every_operator_repeats_itself(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    # Operands are made anew: forms in place change them.
    for index in range(len(entry.signatures)):
        first = _attempt(list(calls(entry, device))[index])
        for _ in range(3):
            assert _attempt(list(calls(entry, device))[index]) == first


@pytest.mark.parametrize("name", ["exp", "add", "where", "softmax", "matmul", "sum", "rms_norm"])
def test_other_operands_of_the_same_kind(name: str, device: ttnn.MeshDevice) -> None:
    operation = getattr(ttnn, name)
    count = {"add": 2, "matmul": 2, "where": 3}.get(name, 1)
    shape = (64, 64)
    groups = [[operand(device, 10 * group + i, shape) for i in range(count)] for group in range(4)]
    repeated = [describe(operation(*group)) for group in groups]
    device.clear_program_cache()
    for group, result in zip(groups, repeated, strict=True):
        device.clear_program_cache()
        assert describe(operation(*group)) == result


def test_calls_of_one_program_are_prepared(device: ttnn.MeshDevice) -> None:
    a, b = operand(device, 1), operand(device, 2)
    for _ in range(3):
        ttnn.add(a, b)
        ttnn.exp(a)
    assert programs(device) == 2
    assert device.num_program_cache_entries() == 2


def test_calls_on_one_tensor_twice_do_not_stand_for_calls_on_two(device: ttnn.MeshDevice) -> None:
    a, b = operand(device, 1), operand(device, 2)
    for _ in range(3):
        ttnn.subtract(a, a)
    assert programs(device) == 1
    for _ in range(3):
        difference = ttnn.subtract(a, b)
    assert programs(device) == 2
    assert np.any(difference.to_list())
    for tensor in (a, b):
        assert not np.any(ttnn.subtract(tensor, tensor).to_list())
    twice = ttnn.add(b, b).to_list()
    for _ in range(3):
        assert ttnn.add(b, b).to_list() == twice
    b.deallocate(True)
    with pytest.raises(ttnn.StorageError):
        ttnn.add(b, b)


@pytest.mark.parametrize(
    ("name", "dtype", "numbers"),
    [("div", ttnn.float32, (0.0, -0.0)), ("add", ttnn.int32, (1, 1.0, True)), ("add", ttnn.bfloat16, (1, 1.0, True))],
)
def test_equal_numbers_are_not_the_same_call(
    name: str, dtype: ttnn.DataType, numbers: tuple[Any, ...], device: ttnn.MeshDevice
) -> None:
    tensor = make((32, 32), dtype, TILED, device)

    def attempt(number: Any) -> Any:
        try:
            return describe(getattr(ttnn, name)(tensor, number))
        except TtnnError as error:
            return type(error)

    alone = []
    for number in numbers:
        device.clear_program_cache()
        alone.append(attempt(number))
    assert [attempt(number) for _ in range(3) for number in numbers] == alone * 3
    assert name != "div" or alone[0] != alone[1]


def test_the_mode_of_numerics_is_part_of_the_call(device: ttnn.MeshDevice) -> None:
    a, b = operand(device, 1, (32, 256)), operand(device, 2, (256, 32))
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi)
    for _ in range(3):
        exact = describe(ttnn.matmul(a, b, compute_kernel_config=config))
    with ttnn.manage_config("numerics", "fast"):
        for _ in range(3):
            fast = describe(ttnn.matmul(a, b, compute_kernel_config=config))
    assert fast != exact
    assert describe(ttnn.matmul(a, b, compute_kernel_config=config)) == exact


def test_operands_are_checked_as_before(device: ttnn.MeshDevice) -> None:
    a, b = operand(device, 1), operand(device, 2)
    for _ in range(3):
        ttnn.add(a, b)
    other = ttnn.open_device(device_id=1)
    try:
        with pytest.raises(ttnn.StorageError, match="another device"):
            ttnn.add(a, operand(other, 2))
    finally:
        ttnn.close_device(other)
    with pytest.raises(ttnn.StorageError, match="is a host tensor"):
        ttnn.add(a, b.cpu())
    with pytest.raises(ttnn.ShapeError):
        ttnn.add(a, operand(device, 3, (32, 96)))
    ttnn.deallocate(b)
    with pytest.raises(ttnn.StorageError, match=r"input_tensor_b .* was deallocated"):
        ttnn.add(a, b)
    ttnn.close_device(device)
    with pytest.raises(ttnn.DeviceError, match="closed"):
        ttnn.add(a, a)


def test_a_full_memory_is_an_error_of_the_operator(device: ttnn.MeshDevice) -> None:
    a, b = operand(device, 1), operand(device, 2)
    for _ in range(3):
        ttnn.add(a, b)
    before = device.engine.state_hash(), device.engine.allocated_bytes()
    device.engine.fail_allocation(1)
    with pytest.raises(ttnn.OutOfMemoryError, match=r"ttnn\.add"):
        ttnn.add(a, b)
    assert (device.engine.state_hash(), device.engine.allocated_bytes()) == before
    ttnn.add(a, b)


def test_the_program_cache_owns_prepared_calls(device: ttnn.MeshDevice) -> None:
    a, b = operand(device, 1), operand(device, 2)
    for _ in range(3):
        ttnn.add(a, b)
    device.clear_program_cache()
    assert not device._resolved
    device.set_program_cache_misses_allowed(False)
    with pytest.raises(ttnn.DeviceError, match="misses are not allowed"):
        ttnn.add(a, b)
    device.set_program_cache_misses_allowed(True)
    device.disable_and_clear_program_cache()
    for _ in range(3):
        ttnn.add(a, b)
    assert not device._resolved


def test_prepared_calls_are_bounded(device: ttnn.MeshDevice) -> None:
    x = operand(device, 1)
    for number in range(5000):
        ttnn.multiply(x, float(number))
    assert 0 < len(device._resolved) <= 4096

"""`dtype` of maximum, minimum, pow, gcd, lcm converts the result.

As recorded programs do it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import ttnn

Call = Callable[..., ttnn.Tensor]


def tensor(device: ttnn.MeshDevice, values: torch.Tensor, dtype: ttnn.DataType) -> ttnn.Tensor:
    return ttnn.from_torch(values, dtype, layout=ttnn.TILE_LAYOUT, device=device)


def floats(device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    generator = torch.Generator().manual_seed(4)
    a, b = (torch.rand((64, 64), generator=generator) * 3 + 0.1 for _ in range(2))
    return tensor(device, a, dtype), tensor(device, b, dtype)


def integers(device: ttnn.MeshDevice) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    generator = torch.Generator().manual_seed(5)
    a, b = (torch.randint(1, 1000, (64, 64), generator=generator, dtype=torch.int32) for _ in range(2))
    return tensor(device, a, ttnn.int32), tensor(device, b, ttnn.int32)


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat8_b, ttnn.int32])
@pytest.mark.parametrize("operator", [ttnn.maximum, ttnn.minimum])
def test_an_extreme_of_bfloat16_is_exact_and_then_packed(
    operator: Call, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    a, b = floats(device)
    got = operator(a, b, dtype=dtype)
    assert got.dtype is dtype
    # The packer of this program is not that of a typecast, which keeps a float32 for block formats.
    same = operator(a, b)
    converted = ttnn.add(same, ttnn.zeros_like(same), dtype=dtype)
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(converted))


def test_a_power_in_float32_is_that_of_a_wide_dst(device: ttnn.MeshDevice) -> None:
    a, b = floats(device)
    got = ttnn.pow(a, b, dtype=ttnn.float32)
    wide = ttnn.pow(ttnn.typecast(a, ttnn.float32), ttnn.typecast(b, ttnn.float32))
    assert got.dtype is ttnn.float32
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(wide))
    assert not torch.equal(ttnn.to_torch(got), ttnn.to_torch(ttnn.pow(a, b)).float())


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16])
@pytest.mark.parametrize(("operator", "reference"), [(ttnn.lcm, torch.lcm), (ttnn.gcd, torch.gcd)])
def test_integers_are_converted_after_the_function(
    operator: Call, reference: Any, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    a, b = integers(device)
    got = operator(a, b, dtype=dtype)
    assert got.dtype is dtype
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(ttnn.typecast(operator(a, b), dtype)))
    if dtype is ttnn.float32:
        assert torch.equal(ttnn.to_torch(got), reference(ttnn.to_torch(a), ttnn.to_torch(b)).float())


@pytest.mark.parametrize(
    ("source", "number", "dtype"),
    [
        (ttnn.bfloat16, 1.5, ttnn.bfloat8_b),
        (ttnn.bfloat16, 1.5, ttnn.int32),
        (ttnn.float32, -1, ttnn.int32),
        (ttnn.int32, 300, ttnn.float32),
    ],
)
def test_the_extreme_of_a_number_is_converted_by_a_program_of_its_own(
    source: ttnn.DataType, number: float, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    a = integers(device)[0] if source is ttnn.int32 else floats(device, source)[0]
    got = ttnn.maximum(a, number, dtype=dtype, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert (got.dtype, got.memory_config()) == (dtype, ttnn.L1_MEMORY_CONFIG)
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(ttnn.typecast(ttnn.maximum(a, number), dtype)))


def test_the_data_type_of_output_tensor_counts_as_dtype(device: ttnn.MeshDevice) -> None:
    a, b = integers(device)
    out = ttnn.empty((64, 64), ttnn.float32, ttnn.TILE_LAYOUT, device)
    assert ttnn.gcd(a, b, output_tensor=out) is out
    assert torch.equal(ttnn.to_torch(out), torch.gcd(ttnn.to_torch(a), ttnn.to_torch(b)).float())
    with pytest.raises(ttnn.DTypeError, match="dtype is BFLOAT16, but output_tensor is FLOAT32"):
        ttnn.gcd(a, b, dtype=ttnn.bfloat16, output_tensor=out)

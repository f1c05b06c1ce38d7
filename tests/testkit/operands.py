"""Operator test operands and comparisons.

Values that the data type holds exactly, and distances in ULP.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import ttnn
from ttnn.base.tensor_spec import TensorSpec
from ttnn.operation.domain import Operand

Values = npt.NDArray[np.float64]
INTEGERS = {
    ttnn.int32: (-(2**31), 2**31),
    ttnn.uint32: (0, 2**32),
    ttnn.uint16: (0, 2**16),
    ttnn.uint8: (0, 2**8),
    ttnn.int8: (-(2**7), 2**7),
}
MANTISSA_BITS = {ttnn.bfloat16: 7, ttnn.float32: 23}
# A step of the shared exponent, relative to the largest value that has it.
BLOCK_FLOAT_STEP = {ttnn.bfloat8_b: 2.0**-6, ttnn.bfloat4_b: 2.0**-2}
NAMES = {"bf16": ttnn.bfloat16, "f32": ttnn.float32, "bf8": ttnn.bfloat8_b, "bf4": ttnn.bfloat4_b}


def random_values(
    shape: tuple[int, ...], dtype: ttnn.DataType, seed: int, limit: int | None = None
) -> npt.NDArray[Any]:
    """Return values of a type's range.

    Normal numbers around 1 for floating point, integers up to `limit` or all.
    """
    generator = np.random.default_rng(seed)
    if dtype in INTEGERS:
        low, high = INTEGERS[dtype]
        if limit is not None:
            low, high = max(low, -limit), min(high, limit)
        return generator.integers(low, high, size=shape, dtype=np.int64)
    return generator.normal(size=shape).astype(np.float32)


def make_operand(
    item: Operand, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice, **options: Any
) -> ttnn.Tensor:
    """Return a call's further tensor, by default of this type and layout."""
    if item.between is not None and item.dtype in INTEGERS:
        low, high = (int(limit) for limit in item.between)
        numbers = np.random.default_rng(item.seed).integers(low, high, size=item.shape, endpoint=True)
        kind = {ttnn.uint32: np.uint32, ttnn.uint16: np.uint16}.get(item.dtype, np.int32)
        return ttnn.Tensor(numbers.astype(kind), item.dtype, None, item.layout or layout).to(device)
    if item.between is not None:
        low, high = item.between
        options["fit"] = lambda values: low + (high - low) / (1 + np.exp(-values))
    return make(item.shape, item.dtype or dtype, item.layout or layout, device, item.seed, **options)


def make(
    shape: tuple[int, ...],
    dtype: ttnn.DataType,
    layout: ttnn.Layout,
    device: ttnn.MeshDevice,
    seed: int = 0,
    memory_config: ttnn.MemoryConfig | None = None,
    fit: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] | None = None,
    limit: int | None = None,
) -> ttnn.Tensor:
    """Return a device tensor of random values.

    `fit` brings floating-point values into an operator's domain, `limit` bounds integers.
    """
    values = random_values(shape, dtype, seed, limit)
    if fit is not None and dtype not in INTEGERS:
        values = fit(values).astype(np.float32)
    kinds = {ttnn.uint32: np.uint32, ttnn.uint16: np.uint16, ttnn.uint8: np.uint8, ttnn.int8: np.int8}
    if dtype in INTEGERS:
        values = values.astype(kinds.get(dtype, np.int32))
    return ttnn.Tensor(values, dtype, None, layout).to(device, memory_config)


def values_of(tensor: ttnn.Tensor) -> Values:
    """Return the values of a tensor as float64."""
    return np.asarray(tensor.to_list(), np.float64).reshape(tuple(tensor.shape))


def raw_of(tensor: ttnn.Tensor) -> npt.NDArray[np.uint8]:
    """Return all pages of a tensor, padding included."""
    host = tensor.cpu()
    assert host._host is not None
    return host._host


def from_raw(
    raw: npt.NDArray[Any], shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> ttnn.Tensor:
    """Return a tiled device tensor with the given page bytes."""
    spec = TensorSpec.of(shape, dtype, ttnn.TILE_LAYOUT)
    data = np.ascontiguousarray(raw).reshape(-1).view(np.uint8)
    return ttnn.Tensor._on_host(spec, data).to(device)


def describe(result: Any) -> Any:
    """Return everything that tells two results apart."""
    if isinstance(result, list | tuple):
        return [describe(item) for item in result]
    if isinstance(result, ttnn.ComplexTensor):
        return [describe(result.real), describe(result.imag)]
    if not isinstance(result, ttnn.Tensor):
        return result
    return (
        result.dtype.name,
        result.layout.name,
        tuple(result.shape),
        tuple(result.padded_shape),
        repr(result.memory_config()) if result.storage_type() is ttnn.StorageType.DEVICE else "host",
        raw_of(result).tobytes() if result.is_allocated() else b"",
    )


def ulp_distance(reference: Values, got: Values, dtype: ttnn.DataType, magnitude: Values | None = None) -> float:
    """Return the largest distance in `dtype` ULP at `magnitude` or reference."""
    if reference.size == 0:
        return 0.0
    magnitude = reference if magnitude is None else magnitude
    exponents = np.frexp(np.where(magnitude == 0, 1.0, magnitude))[1] - 1
    ulp = np.ldexp(1.0, np.maximum(exponents, -126) - MANTISSA_BITS[dtype])
    return float(np.max(np.abs(reference - got) / ulp))


def assert_within(reference: Values, tensor: ttnn.Tensor, bound: float | None, magnitude: Values | None = None) -> None:
    """Compare a result with its float64 reference and bound.

    The bound is that of its registry entry.
    """
    got = values_of(tensor)
    assert got.shape == reference.shape
    numbers = np.isfinite(reference)
    if not numbers.all() and tensor.dtype not in BLOCK_FLOAT_STEP:
        np.testing.assert_array_equal(got[~numbers], reference[~numbers])
        reference, got = np.where(numbers, reference, 0.0), np.where(numbers, got, 0.0)
        magnitude = None if magnitude is None else np.where(numbers, magnitude, 0.0)
    if tensor.dtype in BLOCK_FLOAT_STEP:
        # Block floats have no infinity and no NaN.
        reference, got = np.where(numbers, reference, 0.0), np.where(numbers, got, 0.0)
        scale = float(np.max(np.abs(reference if magnitude is None else magnitude), initial=0.0, where=numbers))
        steps = np.max(np.abs(reference - got), initial=0.0) / (scale * BLOCK_FLOAT_STEP[tensor.dtype] or 1.0)
        # Half a step for the rounding of each operand and of the result.
        assert steps <= (bound or 1.5), f"{tensor.dtype.name}: {steps:.6g} steps, bound {bound or 1.5:g}"
    elif tensor.dtype in INTEGERS:
        np.testing.assert_array_equal(got, reference)
    elif bound is not None:
        # A reference in float64 lies between two values of the type: half a unit is the best possible.
        best = 0.5 if bound == 0 and not np.array_equal(reference, got) else bound
        distance = ulp_distance(reference, got, tensor.dtype, magnitude)
        assert distance <= best, f"{tensor.dtype.name}: {distance:.6g} ULP, bound {best:g}"


def golden_cases(folder: Path, name: str) -> tuple[Any, list[dict[str, Any]]]:
    """Return the arrays and the case descriptions of a file of golden/ops."""
    import json

    archive = np.load(folder / "ops" / f"{name}.npz")
    return archive, json.loads(bytes(archive["meta"]))


def wrapped(values: Any, dtype: ttnn.DataType, power: int = 1) -> Any:
    """Return powers of integers as the type holds them."""
    low, high = INTEGERS[dtype]
    exact = [(int(value) ** power - low) % (high - low) + low for value in np.asarray(values).reshape(-1)]
    return np.array(exact, np.float64).reshape(np.shape(values))

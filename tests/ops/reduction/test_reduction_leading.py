"""Leading dimension reductions: exchanged height program's bits.

Padding included.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.operands import from_raw, raw_of
from ttnn import _engine
from ttnn.ops.reduction import program as reduction_program

OPERATORS = {"sum": ttnn.sum, "mean": ttnn.mean, "max": ttnn.max, "min": ttnn.min}
SHAPES = [(3, 33, 31), (1, 32, 32), (2, 3, 32, 64), (4, 2, 1, 48), (33, 2, 20, 16), (2, 40, 5, 64), (64, 1, 32, 32)]
SPECIAL = np.float32([0, -0.0, np.inf, -np.inf, np.nan, 1e-39, -1e-39, 3e38, -3e38, 1.5e-38, -1.2e-38])


@contextmanager
def _exchanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make leading dimension reductions exchange with the height and back."""
    with monkeypatch.context() as patch:
        patch.setattr(reduction_program, "_across", lambda *_: None)
        yield


def _values(shape: tuple[int, ...], values: str, seed: int) -> npt.NDArray[np.float32]:
    generator = np.random.default_rng(seed)
    x = generator.normal(size=shape).astype(np.float32)
    if values == "special":
        return np.where(generator.random(shape) < 0.3, generator.choice(SPECIAL, size=shape), x)
    if values == "any":
        return generator.integers(0, 2**32, size=shape, dtype=np.uint64).astype(np.uint32).view(np.float32)
    return x


def _tensor(shape: tuple[int, ...], dtype: ttnn.DataType, values: str, device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return a tensor with arbitrary padding, as a result's."""
    host = ttnn.Tensor(_values(shape, values, 5), dtype, None, ttnn.TILE_LAYOUT)
    clean = raw_of(host)
    whole = _values((*shape[:-2], -(-shape[-2] // 32) * 32, -(-shape[-1] // 32) * 32), "special", 6)
    if dtype is not ttnn.bfloat8_b:
        whole[..., : shape[-2], : shape[-1]] = _values(shape, values, 5)
        return from_raw(raw_of(ttnn.Tensor(whole, dtype, None, ttnn.TILE_LAYOUT)), shape, dtype, device)
    # Block floats: exponents and datums of any bits.
    if values == "any":
        clean = np.random.default_rng(7).integers(0, 256, size=clean.shape, dtype=np.uint8)
    return from_raw(clean, shape, dtype, device)


CONFIGURATIONS: list[dict[str, Any]] = [
    {},
    {"scalar": -1.7},
    {"fast_and_approximate_mode": True},
    {
        "compute_kernel_config": ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=False
        )
    },
]


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("values", ["normal", "special", "any"])
def test_bits_of_the_exchanges(
    name: str, dtype: ttnn.DataType, values: str, device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    for shape in SHAPES:
        x = _tensor(shape, dtype, values, device)
        dims = [[0], [0, -1], [0, -2]] if len(shape) == 3 else [[0], [1], [0, 1], [1, 3], [0, 1, 2], [0, 1, 2, 3]]
        for number, dim in enumerate(dims):
            options = CONFIGURATIONS[(number + len(shape)) % 2 :: 2] if number else CONFIGURATIONS
            for option in options:
                got = raw_of(OPERATORS[name](x, dim, True, **option))
                with _exchanging(monkeypatch):
                    expected = raw_of(OPERATORS[name](x, dim, True, **option))
                np.testing.assert_array_equal(got, expected, err_msg=f"{shape} {dim} {option}")


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.usefixtures("cpu_level", "host_threads")
def test_results_do_not_depend_on_threads_and_cpu_level(
    name: str, device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    for dtype in (ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b):
        x = _tensor((2, 35, 33, 48), dtype, "special", device)
        with _exchanging(monkeypatch):
            expected = [raw_of(OPERATORS[name](x, dim)) for dim in (0, 1, [0, 1])]
        for level in _engine.cpu_levels():
            for threads in (1, 2, 8):
                _engine.set_cpu_level(level)
                _engine.set_threads(threads)
                for dim, bits in zip((0, 1, [0, 1]), expected, strict=True):
                    np.testing.assert_array_equal(raw_of(OPERATORS[name](x, dim)), bits, err_msg=f"{dtype} {dim}")

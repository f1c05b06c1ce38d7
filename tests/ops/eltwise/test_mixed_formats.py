"""Operands with unrelated formats: each is read as its own requires."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from ttnn import _engine
from ttnn.base.enums import FORMAT_CODE


def _tensor(values: np.ndarray, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT)


@pytest.mark.parametrize("shape_b", [(64, 64), (1, 64), (64, 1), (1, 1)])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
def test_a_float_after_an_integer(dtype: ttnn.DataType, shape_b: tuple[int, int], device: ttnn.MeshDevice) -> None:
    """`dequant`: (integer + zero point) * scale, in a 32-bit Dst."""
    rng = np.random.default_rng(0)
    whole = rng.integers(-1000, 1000, size=(64, 64)).astype(np.int32)
    scales = (2.0 ** rng.integers(-3, 3, size=shape_b)).astype(np.float32)
    a, b = _tensor(whole, ttnn.int32, device), _tensor(scales, dtype, device)
    out = _tensor(np.zeros((64, 64), np.float32), ttnn.float32, device)
    assert a.buffer is not None
    assert out.buffer is not None
    _engine.binary(
        a.buffer,
        b.buffer,
        out.buffer,
        formats=tuple(FORMAT_CODE[x.dtype] for x in (a, b, out)),
        op="dequant",
        engine="sfpu",
        scalar=None,
        scalar_is_lhs=False,
        shape_a=(64, 64),
        shape_b=shape_b,
        shape_out=(64, 64),
        tiled=True,
        fidelity=4,
        dst32=True,
        parameters=[int(np.float32(3.0).view(np.uint32))],
    )
    np.testing.assert_array_equal(np.asarray(out.to_numpy()), (whole + 3.0) * np.asarray(b.to_numpy(), np.float32))

"""Values in equal steps as a RISC processor computes them."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import values_of

TILES = ttnn.TILE_LAYOUT
CASES = [(0, 32, 1), (2.3, 15.3, 0.5), (10.9, -13, -0.3), (-100, 320, 1), (2300.3, 15300.3, 0.5392), (5, 5, 1)]


def _expected(start: float, end: float, step: float) -> np.ndarray:
    first, last, by = map(np.float32, (start, end, step))
    count = int(np.ceil((last - first) / by))
    return np.asarray(first + by * np.arange(count).astype(np.float32), np.float32)


@pytest.mark.parametrize(("start", "end", "step"), CASES)
@pytest.mark.parametrize("rows", [False, True])
def test_values_are_those_of_fp32(start: float, end: float, step: float, rows: bool, device: ttnn.MeshDevice) -> None:
    expected = _expected(start, end, step)
    result = ttnn.moreh_arange(start, end, step, device, untilize_out=rows, dtype=ttnn.float32)
    assert tuple(result.shape) == ((expected.size,) if rows else (1, expected.size))
    np.testing.assert_array_equal(values_of(result).ravel(), expected)
    cut = (expected.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    short = ttnn.moreh_arange(start, end, step, device, untilize_out=rows)
    assert (short.dtype, short.layout) == (ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT if rows else TILES)
    np.testing.assert_array_equal(values_of(short).ravel(), cut)
    whole = ttnn.moreh_arange(start, end, step, device, untilize_out=rows, dtype=ttnn.int32)
    np.testing.assert_array_equal(values_of(whole).ravel(), np.trunc(expected))


def test_outputs(device: ttnn.MeshDevice) -> None:
    into = ttnn.zeros((1, 20), ttnn.bfloat16, TILES, device)
    assert ttnn.moreh_arange(0, 20, 1, device, output=into) is into
    np.testing.assert_array_equal(values_of(into)[0], np.arange(20))
    np.testing.assert_array_equal(values_of(ttnn.moreh_arange(3.0, 1.5, device)), [[0, 1.5]])


def test_start_and_step_have_defaults(device: ttnn.MeshDevice) -> None:
    assert ttnn.moreh_arange(end=4, device=device).to_list() == [[0, 1, 2, 3]]
    assert ttnn.moreh_arange(start=2, end=4, device=device).to_list() == [[2, 3]]
    assert ttnn.moreh_arange(end=4, step=2, device=device).to_list() == [[0, 2]]


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.ParameterError, match="step must be nonzero"):
        ttnn.moreh_arange(0, 5, 0, device)
    with pytest.raises(ttnn.ParameterError, match="inconsistent with step sign"):
        ttnn.moreh_arange(0, 5, -1, device)
    with pytest.raises(ttnn.DTypeError, match="not support uint32 dtype"):
        ttnn.moreh_arange(0, 5, 1, device, dtype=ttnn.uint32)
    into = ttnn.zeros((1, 20), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.DTypeError, match="its dtype should match"):
        ttnn.moreh_arange(0, 20, 1, device, output=into, dtype=ttnn.float32)
    with pytest.raises(ttnn.ShapeError, match="output_tensor is"):
        ttnn.moreh_arange(0, 19, 1, device, output=into)

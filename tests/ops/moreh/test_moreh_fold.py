"""Blocks of columns joined to images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import moreh as golden

ROWS = ttnn.ROW_MAJOR_LAYOUT
CASES: list[dict[str, Any]] = [
    {"output_size": (6, 7), "kernel_size": (2, 3)},
    {"output_size": (6, 7), "kernel_size": (3, 2), "stride": (2, 3)},
    {"output_size": (6, 7), "kernel_size": (2, 2), "dilation": (2, 3), "padding": (1, 2)},
    {"output_size": (9, 5), "kernel_size": (3, 3), "dilation": (2, 1), "padding": (3, 1), "stride": (3, 2)},
    {"output_size": (1, 1), "kernel_size": (3, 3), "padding": (2, 2)},
]


def _length(case: dict[str, Any]) -> int:
    sizes = []
    for i in (0, 1):
        apart, around, step = (
            case.get(name, default)[i]
            for name, default in (("dilation", (1, 1)), ("padding", (0, 0)), ("stride", (1, 1)))
        )
        reach = case["output_size"][i] + 2 * around - apart * (case["kernel_size"][i] - 1) - 1
        sizes.append(reach // step + 1)
    return sizes[0] * sizes[1]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_images(case: dict[str, Any], dtype: ttnn.DataType, batch: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    kernels = case["kernel_size"][0] * case["kernel_size"][1]
    x = make((*batch, 3 * kernels, _length(case)), dtype, ROWS, device, fit=np.round)
    result = ttnn.moreh_fold(x, **case)
    expected = golden.moreh_fold(values_of(x), **case)
    assert (tuple(result.shape), result.layout) == (expected.shape, ROWS)
    # Sums of a few small integers are exact.
    np.testing.assert_array_equal(values_of(result), expected)
    into = ttnn.empty_like(result)
    assert ttnn.moreh_fold(x, into, **case) is into
    np.testing.assert_array_equal(values_of(into), expected)


def test_sums_are_cut(device: ttnn.MeshDevice) -> None:
    """1 + 255 / 256: truncated 1 + 127 / 128, rounded 2.

    It has 9 bits, of which 8 are kept.
    """
    # The element of row 0 meets the second place of the kernel at position 0, and the first place at position 1.
    columns = np.array([[7.0, 255 / 256], [1.0, 7.0]], np.float32)
    x = ttnn.Tensor(columns, ttnn.bfloat16, device, ROWS)
    result = ttnn.moreh_fold(x, output_size=(1, 1), kernel_size=(2, 1), padding=(1, 0))
    assert values_of(result).item() == 1 + 127 / 128


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((12, 30), ttnn.bfloat16, ROWS, device)
    with pytest.raises(ttnn.ShapeError, match="Invalid input tensor size"):
        ttnn.moreh_fold(x, output_size=(6, 8), kernel_size=(2, 2))
    with pytest.raises(ttnn.LayoutError, match="only support input in ROW_MAJOR"):
        ttnn.moreh_fold(make((12, 30), ttnn.bfloat16, ttnn.TILE_LAYOUT, device), output_size=(6, 7), kernel_size=(2, 2))
    with pytest.raises(ttnn.ParameterError, match="kernel_size takes 2 elements"):
        ttnn.moreh_fold(x, output_size=(6, 7), kernel_size=(2,))
    with pytest.raises(ttnn.ParameterError, match="values below 1 are invalid"):
        ttnn.moreh_fold(x, output_size=(6, 7), kernel_size=(2, 2), stride=(0, 1))
    with pytest.raises(ttnn.DTypeError, match="input is INT32"):
        ttnn.moreh_fold(make((12, 30), ttnn.int32, ROWS, device), output_size=(6, 7), kernel_size=(2, 2))

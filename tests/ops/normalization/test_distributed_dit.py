"""Layer norm of rows in parts, with means and variances as statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.operands import make, values_of

PRE, POST = ttnn.experimental.dit_layernorm_pre_allgather, ttnn.experimental.dit_layernorm_post_allgather
TILES = ttnn.TILE_LAYOUT
WIDE = ttnn.WormholeComputeKernelConfig(
    math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True
)


def _reciprocals(device: ttnn.MeshDevice, width: int) -> ttnn.Tensor:
    return make((1, width), ttnn.float32, ttnn.ROW_MAJOR_LAYOUT, device)


def _in_parts(tensor: ttnn.Tensor, parts: int) -> list[ttnn.Tensor]:
    return list(ttnn.split(tensor, tensor.shape[-1] // parts, -1))


def _rounded(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Round to bfloat16, ties away from zero."""
    words = values.astype(np.float32).view(np.uint32)
    rounded: npt.NDArray[np.float32] = ((words + 0x8000) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return rounded


def test_statistics_are_mean_and_variance(device: ttnn.MeshDevice) -> None:
    x = make((2, 1, 33, 96), ttnn.bfloat16, TILES, device)
    values = values_of(x)
    for dtype in (ttnn.bfloat16, ttnn.float32):
        stats = PRE(x, _reciprocals(device, 96), dtype=dtype, compute_kernel_config=WIDE)
        assert (tuple(stats.shape), stats.dtype) == ((2, 1, 33, 64), dtype)
        got = values_of(stats)
        np.testing.assert_allclose(got[..., 0], values.mean(-1), atol=2e-3)
        np.testing.assert_allclose(got[..., 32], values.var(-1), rtol=1e-2)
        # Rounded to bfloat16 on the way, whatever the output holds.
        np.testing.assert_array_equal(got, _rounded(got))


@pytest.mark.parametrize("config", [None, WIDE], ids=["16 bits", "32 bits"])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_parts_give_the_norm_of_the_row(parts: int, config: Any, device: ttnn.MeshDevice) -> None:
    x = make((1, 2, 64, 192), ttnn.bfloat16, TILES, device)
    weight, bias = (make((1, 192), ttnn.bfloat16, TILES, device, seed) for seed in (1, 2))
    pieces = [_in_parts(tensor, parts) for tensor in (x, weight, bias)]
    table = _reciprocals(device, 192 // parts)
    stats = ttnn.concat([PRE(piece, table, compute_kernel_config=config) for piece in pieces[0]], -1)
    outputs = [
        POST(piece, stats, epsilon=0.5, weight=w, bias=b, compute_kernel_config=config)
        for piece, w, b in zip(*pieces, strict=True)
    ]
    values, factor, addend = (values_of(tensor) for tensor in (x, weight, bias))
    expected = (values - values.mean(-1, keepdims=True)) / np.sqrt(values.var(-1, keepdims=True) + 0.5)
    got = np.concatenate([values_of(part) for part in outputs], -1)
    # Every step rounds to 8 bits in a 16-bit Dst, beside an approximate inverse root; the largest results are about 10.
    np.testing.assert_allclose(got, expected * factor + addend, atol=0.3 if config is None else 0.06)


def test_the_mean_of_parts_is_joined_step_by_step(device: ttnn.MeshDevice) -> None:
    """One-number rows: zero variance, and distances from means."""
    means = np.array([1.0, 3.0, 8.0])
    stats = np.zeros((1, 1, 32, 192), np.float32)
    stats[..., ::64] = means
    gathered = ttnn.Tensor(stats, ttnn.bfloat16, device, TILES)
    x = ttnn.full((1, 1, 32, 64), 5.0, dtype=ttnn.float32, layout=TILES, device=device)
    result = values_of(POST(x, gathered, compute_kernel_config=WIDE))
    np.testing.assert_allclose(result, (5 - means.mean()) / means.std(), rtol=2e-3)


@pytest.mark.parametrize("batched", ["weight", "bias", "both"])
def test_parameters_have_a_row_for_every_matrix(batched: str, device: ttnn.MeshDevice) -> None:
    x = make((3, 2, 64, 128), ttnn.bfloat16, TILES, device)
    stats = PRE(x, _reciprocals(device, 128))
    shapes = {name: (6, 1, 128) if batched in (name, "both") else (1, 128) for name in ("weight", "bias")}
    parameters = {name: make(shape, ttnn.bfloat16, TILES, device, 3) for name, shape in shapes.items()}
    got = values_of(POST(x, stats, **parameters)).reshape(6, 64, 128)
    for matrix in range(6):
        at = [matrix // 2, matrix % 2, 0, 0]
        end = [at[0] + 1, at[1] + 1, 64, 128]
        one, of_one = ttnn.slice(x, at, end), ttnn.slice(stats, at, [*end[:3], 64])
        rows = {
            name: ttnn.Tensor(values_of(tensor).reshape(-1, 128)[[matrix % volume]], ttnn.bfloat16, device, TILES)
            for name, tensor in parameters.items()
            for volume in [tensor.shape[0]]
        }
        np.testing.assert_array_equal(got[matrix], values_of(POST(one, of_one, **rows))[0, 0])


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x, table = make((1, 1, 32, 64), ttnn.bfloat16, TILES, device), _reciprocals(device, 64)
    stats = PRE(x, table)
    rows = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
    weight = make((1, 64), ttnn.bfloat16, TILES, device)
    for error, match, call in (
        (ttnn.LayoutError, "row-major", lambda: PRE(rows, table)),
        (ttnn.ShapeError, "of rank 4", lambda: PRE(ttnn.reshape(x, (32, 64)), table)),
        (ttnn.ShapeError, "64 columns or more", lambda: PRE(x, _reciprocals(device, 32))),
        (ttnn.DTypeError, "statistics are floating point", lambda: PRE(x, table, dtype=ttnn.int32)),
        (ttnn.ShapeError, "64 columns for each device", lambda: POST(x, x[:, :, :, :32])),
        (
            ttnn.ShapeError,
            r"takes \[1, 1, 64\]",
            lambda: POST(x, stats, **dict.fromkeys(("weight", "bias"), make((2, 1, 64), ttnn.bfloat16, TILES, device))),
        ),
        (ttnn.UnsupportedError, "stats is FLOAT32", lambda: POST(x, ttnn.typecast(stats, ttnn.float32))),
        (ttnn.ParameterError, "bias is missing", lambda: POST(x, stats, weight=weight)),
    ):
        with pytest.raises(error, match=match):
            call()

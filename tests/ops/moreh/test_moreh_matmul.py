"""Moreh matmuls: bits of single-tile blocks, and gradients."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of, values_of
from ttnn.golden import moreh as golden

TILES = ttnn.TILE_LAYOUT


def _make(shape: tuple[int, ...], seed: int, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return make(shape, ttnn.bfloat16, TILES, device, seed)


def _near(result: ttnn.Tensor, expected: np.ndarray) -> None:
    # LoFi takes 5 bits of one factor and 7 of the other.
    np.testing.assert_allclose(values_of(result), expected, atol=0.06 * np.abs(expected).max())


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(
    ("a", "b"), [((2, 3, 40, 70), (2, 3, 70, 50)), ((3, 40, 70), (70, 50)), ((2, 1, 8, 64), (3, 64, 64))]
)
def test_result_is_near_the_golden_function(
    a: tuple[int, ...], b: tuple[int, ...], turned: tuple[bool, bool], device: ttnn.MeshDevice
) -> None:
    shapes = [(*shape[:-2], *shape[-2:][::-1]) if turn else shape for shape, turn in zip((a, b), turned, strict=True)]
    x, y = _make(shapes[0], 0, device), _make(shapes[1], 1, device)
    options = {"transpose_input": turned[0], "transpose_other": turned[1]}
    bias = _make((1, b[-1]), 2, device)
    expected = golden.moreh_matmul(values_of(x), values_of(y), bias=values_of(bias), **options)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    result = ttnn.moreh_matmul(x, y, bias=bias, compute_kernel_config=config, **options)
    np.testing.assert_allclose(values_of(result), expected, atol=0.01 * np.abs(expected).max())
    _near(ttnn.moreh_matmul(x, y, bias=bias, **options), expected)


def test_bits_are_those_of_blocks_of_one_tile(device: ttnn.MeshDevice) -> None:
    x, y = _make((64, 128), 0, device), _make((128, 96), 1, device)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi)
    program = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(1, 1),
        in0_block_w=1,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=2,
        per_core_N=3,
        fuse_batch=True,
        fused_activation=None,
        mcast_in0=True,
    )
    expected = ttnn.matmul(x, y, program_config=program, compute_kernel_config=config)
    np.testing.assert_array_equal(raw_of(ttnn.moreh_matmul(x, y)), raw_of(expected))
    np.testing.assert_array_equal(raw_of(ttnn.moreh_bmm(x, y)), raw_of(expected))
    turned = ttnn.transpose(y, 0, 1)
    np.testing.assert_array_equal(raw_of(ttnn.moreh_linear(x, turned)), raw_of(expected))


def test_gradients_match_the_golden_function(device: ttnn.MeshDevice) -> None:
    grad, x, y = _make((2, 3, 40, 50), 0, device), _make((2, 3, 40, 70), 1, device), _make((2, 1, 70, 50), 2, device)
    into = [ttnn.zeros_like(x), ttnn.zeros_like(y)]
    results = ttnn.moreh_matmul_backward(grad, x, y, input_a_grad=into[0], input_b_grad=into[1])
    for result, target, expected in zip(
        results, into, golden.moreh_matmul_backward(values_of(grad), values_of(x), values_of(y)), strict=True
    ):
        assert result is target
        _near(result, expected)
    weight = _make((1, 1, 50, 70), 3, device)
    into = [ttnn.zeros_like(x), ttnn.zeros_like(weight)]
    wanted = [True, True, False]
    results = ttnn.moreh_linear_backward(
        grad, x, weight, are_required_outputs=wanted, input_grad=into[0], weight_grad=into[1]
    )
    expected = golden.moreh_linear_backward(
        values_of(grad), values_of(x), values_of(weight), are_required_outputs=wanted
    )
    assert results[2] is None
    for result, values in zip(results[:2], expected[:2], strict=True):
        _near(result, values)
    with pytest.raises(ttnn.ParameterError, match="input_a_grad is wanted"):
        ttnn.moreh_matmul_backward(grad, x, y)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 40, 50), (96, 64)])
def test_the_gradient_of_a_bias_is_a_sum_of_rows(shape: tuple[int, ...], wide: bool, device: ttnn.MeshDevice) -> None:
    # Few enough elements that all sums are bfloat16 numbers.
    rng = np.random.default_rng(3)
    values = (rng.integers(-2, 3, shape) * (rng.random(shape) < 0.05)).astype(np.float32)
    # What lies behind the last row does not count.
    grad = ttnn.Tensor(values, ttnn.bfloat16).pad_to_tile(9.0).to(TILES).to(device)
    x, weight = _make((*shape[:-1], 70), 1, device), _make((shape[-1], 70), 2, device)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=wide)

    def bias_gradient(target: ttnn.Tensor) -> ttnn.Tensor:
        wanted = [False, False, True]
        options = {"are_required_outputs": wanted, "compute_kernel_config": config}
        found = ttnn.moreh_linear_backward(grad, x, weight, bias_grad=target, **options)
        assert found[2] is target
        return found[2]

    row, one = _make((1, shape[-1]), 3, device), _make((1, 1), 3, device)
    rows = values.reshape(-1, shape[-1])
    np.testing.assert_array_equal(values_of(bias_gradient(row)), rows.sum(0, keepdims=True))
    if wide:
        with pytest.raises(ttnn.UnsupportedError, match="a bias of one element with fp32_dest_acc_en=True"):
            bias_gradient(one)
    else:
        np.testing.assert_array_equal(values_of(bias_gradient(one)), rows.sum(keepdims=True))
    with pytest.raises(ttnn.ShapeError, match="bias_grad has shape"):
        bias_gradient(_make((2, shape[-1]), 3, device))


def test_wide_partial_sums_are_not_cut(device: ttnn.MeshDevice) -> None:
    x = ttnn.Tensor(np.ones((32, 4096), np.float32), ttnn.bfloat16, device, TILES)
    y = ttnn.Tensor(np.full((4096, 32), 1 + 2**-7, np.float32), ttnn.bfloat16, device, TILES)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    reference = ttnn.matmul(x, y, compute_kernel_config=config, dtype=ttnn.bfloat16)
    np.testing.assert_array_equal(raw_of(ttnn.moreh_matmul(x, y, compute_kernel_config=config)), raw_of(reference))


def test_the_gradient_of_a_shared_matrix_is_summed(device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(4)
    grad, x = (rng.integers(-1, 2, shape).astype(np.float32) for shape in ((2, 3, 32, 40), (2, 3, 32, 50)))
    on_device = [ttnn.Tensor(values, ttnn.bfloat16, device, TILES) for values in (grad, x)]
    weight, into = (_make((40, 50), seed, device) for seed in (0, 1))
    wanted = [False, True, False]
    found = ttnn.moreh_linear_backward(*on_device, weight, are_required_outputs=wanted, weight_grad=into)
    assert found[1] is into
    np.testing.assert_array_equal(values_of(into), (grad.swapaxes(-1, -2) @ x).sum((0, 1)))


def test_gradients_count_their_programs(device: ttnn.MeshDevice) -> None:
    grad, x, y = _make((40, 50), 0, device), _make((40, 70), 1, device), _make((70, 50), 2, device)
    into = [ttnn.zeros_like(x), ttnn.zeros_like(y)]
    device.clear_program_cache()
    for _ in range(2):
        ttnn.moreh_matmul_backward(grad, x, y, input_a_grad=into[0], input_b_grad=into[1])
    assert device.num_program_cache_entries() == 2


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    x = _make((64, 40), 0, device)
    with pytest.raises(ttnn.ShapeError, match="40 elements in the inner dimension"):
        ttnn.moreh_matmul(x, x)
    with pytest.raises(ttnn.ShapeError, match="leading dimensions"):
        ttnn.moreh_matmul(_make((2, 64, 40), 0, device), _make((3, 40, 64), 0, device))
    with pytest.raises(ttnn.DTypeError, match="FLOAT32"):
        ttnn.moreh_bmm(make((64, 64), ttnn.float32, TILES, device), x)

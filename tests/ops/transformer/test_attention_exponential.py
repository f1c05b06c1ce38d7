"""`exp_approx_mode` in attention: the exponentials of each kernel that follow it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn

LENGTH = 128
WIDTHS = pytest.mark.parametrize("wide", [False, True], ids=["dst16", "dst32"])


def tensor(values: Any, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.Tensor(np.asarray(values, np.float32), dtype, device, ttnn.TILE_LAYOUT)


def options(device: ttnn.MeshDevice, *, approximate: bool, wide: bool, chunk: int = LENGTH) -> dict[str, Any]:
    return {
        "program_config": ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=(8, 8), q_chunk_size=32, k_chunk_size=chunk, exp_approx_mode=approximate
        ),
        "compute_kernel_config": ttnn.init_device_compute_kernel_config(
            device.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=wide
        ),
    }


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])) @ v


def both(call: Any, device: ttnn.MeshDevice, wide: bool, chunk: int = LENGTH) -> list[np.ndarray]:
    """Return the results without and with the approximate exponential."""
    return [
        ttnn.to_numpy(ttnn.typecast(call(**options(device, approximate=mode, wide=wide, chunk=chunk)), ttnn.float32))
        for mode in (False, True)
    ]


@WIDTHS
@pytest.mark.parametrize("chunk", [32, LENGTH])
def test_prefill(chunk: int, wide: bool, any_device: ttnn.MeshDevice) -> None:
    """A streaming kernel has the approximate exponential in any case."""
    q, k, v = (random(1, 2, LENGTH, 64 + place)[..., :64] for place in range(3))
    operands = [tensor(values, any_device) for values in (q, k, v)]

    def call(**settings: Any) -> ttnn.Tensor:
        return ttnn.transformer.scaled_dot_product_attention(*operands, is_causal=False, **settings)

    accurate, approximate = both(call, any_device, wide, chunk)
    assert np.array_equal(accurate, approximate) == (not wide and chunk == LENGTH)
    expected = attention(q, k, v)
    errors = [float(np.abs(found - expected).mean()) for found in (accurate, approximate)]
    assert max(errors) < 5e-3
    assert errors[0] < errors[1] or not wide


@WIDTHS
@pytest.mark.parametrize(
    ("heads", "dtype", "follows"),
    [(8, ttnn.bfloat16, False), (16, ttnn.bfloat16, False), (8, ttnn.bfloat8_b, True), (32, ttnn.bfloat16, True)],
    ids=str,
)
def test_decode(heads: int, dtype: ttnn.DataType, follows: bool, wide: bool, any_device: ttnn.MeshDevice) -> None:
    """Up to 16 heads of bfloat16 have the approximate exponential.

    They are in tiles of 16 rows, whose kernel has no other.
    """
    q, k, v = random(1, 1, heads, 64), random(1, 1, LENGTH, 64), random(1, 1, LENGTH, 64)
    operands = [tensor(q, any_device, dtype), tensor(k, any_device), tensor(v, any_device)]

    def call(**settings: Any) -> ttnn.Tensor:
        decode = ttnn.transformer.scaled_dot_product_attention_decode
        return decode(*operands, cur_pos=[LENGTH - 1], **settings)

    accurate, approximate = both(call, any_device, wide)
    assert np.array_equal(accurate, approximate) != follows
    expected = attention(np.swapaxes(q, 1, 2)[:, :, 0], k[:, 0], v[:, 0])
    assert float(np.abs(accurate[0, 0] - expected[0]).mean()) < 5e-3


def test_cores_merge_in_both_widths(any_device: ttnn.MeshDevice) -> None:
    """Chunks of 32 keys on four cores; a 32-bit Dst rounds less."""
    q, k, v = random(1, 1, 32, 64), random(1, 1, LENGTH, 64), random(1, 1, LENGTH, 64)
    operands = [tensor(values, any_device) for values in (q, k, v)]

    def call(**settings: Any) -> ttnn.Tensor:
        decode = ttnn.transformer.scaled_dot_product_attention_decode
        return decode(*operands, cur_pos=[LENGTH - 1], **settings)

    expected = attention(np.swapaxes(q, 1, 2)[:, :, 0], k[:, 0], v[:, 0])[0]
    found = [both(call, any_device, wide, 32)[0][0, 0] for wide in (False, True)]
    errors = [float(np.abs(result - expected).mean()) for result in found]
    assert errors[1] < errors[0] < 5e-3


def test_a_sink_of_a_streaming_kernel_leaves_the_maximum(any_device: ttnn.MeshDevice) -> None:
    """It joins the sum of 32 powers of zero, and e^5.

    Those of a streaming kernel are 125 / 128 each. The other kernel, with a 32-bit Dst, has more exact ones.
    """
    zeros = np.zeros((1, 1, 32, 32))
    values = zeros.copy()
    values[:, :, 0] = 1
    q, v = tensor(zeros, any_device), tensor(values, any_device)
    sink = tensor(np.full((1, 1, 1, 1), 5), any_device)
    results = {
        wide: ttnn.to_numpy(
            ttnn.typecast(
                ttnn.transformer.scaled_dot_product_attention(
                    q,
                    q,
                    v,
                    is_causal=False,
                    scale=1.0,
                    attention_sink=sink,
                    **options(any_device, approximate=True, wide=wide, chunk=32),
                ),
                ttnn.float32,
            )
        )[0, 0, 0, 0]
        for wide in (False, True)
    }
    power, largest = {False: 125 / 128, True: 1.0}, float(np.exp(5))
    for wide, result in results.items():
        assert abs(result - power[wide] / (32 * power[wide] + largest)) < 2**-15, "more than a step of bfloat16"

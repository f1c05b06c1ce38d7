"""The reciprocal of a row's sum, by the steps of the kernels.

Equal scores have equal powers, and values of one at the first key only: a row is that power times the reciprocal of the
sum of as many as there are keys. The power is one, except in a streaming kernel, whose exponential is approximate.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pytest

import ttnn

WORMHOLE: Final = ttnn.Arch.WORMHOLE_B0
SEED: Final = (0x3EA57EBB, 0x3FBA2E90, 0x4007C1F2)
"""Quadratic first estimate of Wormhole's reciprocals."""
ONE_STEP_SEED: Final = (0x3EA485E4, 0x3FB9C7F6, 0x4007AF87)
"""The same for a single step that is rounded to bfloat16."""
ONE, MINUS_ONE, MINUS_TWO = 0x3F800000, 0xBF800000, 0xC0000000
SIGN, MANTISSA = 0x80000000, 0x7FFFFF
POWER: Final = 125 / 128
"""Approximate power of zero in a 16-bit Dst."""


def word(number: float) -> int:
    """Return the bits of a float32."""
    return int.from_bytes(struct.pack("<f", number), "little")


def number(bits: int) -> float:
    """Return the float32 of bits."""
    (found,) = struct.unpack("<f", bits.to_bytes(4, "little"))
    return float(found)


def semi_sticky(value: int, count: int) -> int:
    """Shift right; lost bits set the lowest one unless nothing is left."""
    quotient = value >> count
    return quotient | (quotient != 0 and value != quotient << count)


def mad(x: int, y: int, z: int) -> int:
    """Return `x * y + z` as the vector unit rounds it, of numbers in range."""
    exponents = [number >> 23 & 255 for number in (x, y, z)]
    mantissas = [number & MANTISSA | 1 << 23 for number in (x, y, z)]
    product, exponent = mantissas[0] * mantissas[1], exponents[0] + exponents[1] - 127
    product = product >> 20 | (product % (1 << 20) != 0)
    highest = max(exponent, exponents[2])
    product = semi_sticky(product, highest - exponent)
    addend = semi_sticky(mantissas[2] << 3, highest - exponents[2])
    total = (-product if (x ^ y) & SIGN else product) + (-addend if z & SIGN else addend)
    if not total:
        return 0
    size = abs(total)
    excess = size.bit_length() - 27
    size = size >> excess | size & 1 if excess > 0 else size << -excess
    rounded = (highest + excess << 23) + (size >> 3 & MANTISSA)
    return (SIGN if total < 0 else 0) | rounded + ((size & 7) + (rounded & 1) > 4)


def nearest(x: int) -> int:
    """Round to bfloat16, ties away from zero."""
    return x + 0x8000 & 0xFFFF0000


def wormhole(x: int, seed: tuple[int, int, int], steps: int) -> int:
    """Return the reciprocal of a positive number by Newton's method."""
    negated = MINUS_ONE | x & MANTISSA
    y = mad(mad(seed[0], negated, seed[1]), negated, seed[2])
    for _ in range(steps):
        y = mad(y, mad(negated, y, ONE), y)
    return y + ((127 - (x >> 23)) << 23)


def estimate(x: int) -> int:
    """Return Blackhole's estimate, 8 bits of an interval's middle."""
    mantissa = x >> 16 & 127
    return (253 - (x >> 23)) << 23 | (round(65536 / (257 + 2 * mantissa)) - 128) << 16


def blackhole(x: int, steps: int) -> int:
    """Return the reciprocal of a positive number from the estimate."""
    y = estimate(x)
    for _ in range(steps):
        y = mad(y, mad(x, y, MINUS_TWO) ^ SIGN, 0)
    return y


def corrected(x: int) -> int:
    """Return the reciprocal of Blackhole's operator in a 16-bit Dst."""
    y = estimate(x) | 0x8000
    return y + (mad(x, y, MINUS_ONE) >> 16)


def expected(arch: ttnn.Arch, counts: Iterable[int], *, approximate: bool, wide: bool, streaming: bool) -> list[int]:
    """Return the packed shares of one of so many keys."""
    power = POWER if streaming and not wide else 1.0

    def packed(count: int) -> int:
        x = word(count * power)
        if approximate:
            y = wormhole(x, SEED, 1) if arch is WORMHOLE else estimate(x)
        elif wide:
            y = wormhole(x, SEED, 2) if arch is WORMHOLE else blackhole(x, 2)
        elif streaming:
            y = nearest(wormhole(x, ONE_STEP_SEED, 1)) if arch is WORMHOLE else corrected(x)
        else:
            y = nearest(wormhole(x, SEED, 1) if arch is WORMHOLE else blackhole(x, 1))
        # A 16-bit Dst cuts, the packer rounds.
        y = nearest(y) if wide else y & 0xFFFF0000
        return nearest(word(number(y) * power)) >> 16

    return [packed(count) for count in counts]


def tensor(values: np.ndarray, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.Tensor(values.astype(np.float32), ttnn.bfloat16, device, ttnn.TILE_LAYOUT)


def keys_and_values(device: ttnn.MeshDevice, batch: int, length: int) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    values = np.zeros((batch, 1, length, 32))
    values[:, :, 0] = 1
    return tensor(np.zeros((batch, 1, length, 32)), device), tensor(values, device)


def options(device: ttnn.MeshDevice, *, approximate: bool, wide: bool, chunk: int = 64) -> dict[str, Any]:
    return {
        "program_config": ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=(8, 8), q_chunk_size=chunk, k_chunk_size=chunk, exp_approx_mode=False
        ),
        "compute_kernel_config": ttnn.init_device_compute_kernel_config(
            device.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=approximate, fp32_dest_acc_en=wide
        ),
    }


def column(result: ttnn.Tensor) -> list[int]:
    """Return the bfloat16 words of the first column, row after row."""
    numbers = ttnn.to_numpy(ttnn.typecast(result, ttnn.float32))[..., 0]
    return [word(float(number)) >> 16 for number in numbers.reshape(-1)]


LENGTH: Final = 256
MODES: Final = pytest.mark.parametrize(
    ("approximate", "wide"), [(True, False), (True, True), (False, False), (False, True)], ids=str
)


@MODES
def test_prefill(approximate: bool, wide: bool, any_device: ttnn.MeshDevice) -> None:
    k, v = keys_and_values(any_device, 1, LENGTH)
    arguments = options(any_device, approximate=approximate, wide=wide)
    found = column(ttnn.transformer.scaled_dot_product_attention(k, k, v, is_causal=True, **arguments))
    # In a 16-bit Dst, sums of other numbers of powers are rounded on their way.
    counts = range(1, LENGTH + 1) if wide else (1, 2, 4, 8, 16, 32)
    modes = {"approximate": approximate, "wide": wide}
    assert [found[count - 1] for count in counts] == expected(any_device.arch(), counts, streaming=True, **modes)
    table = ttnn.Tensor(np.zeros((1, 1), np.int32), ttnn.int32, any_device)
    chunked = ttnn.transformer.chunked_scaled_dot_product_attention(k, k, v, table, 0, **arguments)
    assert column(chunked) == found
    latent = ttnn.transformer.flash_mla_prefill(k, k, v, is_causal=True, **arguments)
    assert column(latent) == found


@MODES
def test_decode(approximate: bool, wide: bool, any_device: ttnn.MeshDevice) -> None:
    places = [0, 2, 4, 6, 42, 50, 84, 85, 98, 100, 120, 127]
    k, v = keys_and_values(any_device, len(places), 128)
    q = tensor(np.zeros((1, len(places), 32, 32)), any_device)
    arguments = options(any_device, approximate=approximate, wide=wide, chunk=128)
    result = ttnn.transformer.scaled_dot_product_attention_decode(q, k, v, cur_pos=places, **arguments)
    counts = [place + 1 for place in places]
    words = expected(any_device.arch(), counts, approximate=approximate, wide=wide, streaming=False)
    assert column(result) == [number for number in words for _ in range(32)]


@MODES
@pytest.mark.parametrize("lengths", [(32, 11), (50, 36), (64, 32)], ids=str)
def test_joint(lengths: tuple[int, int], approximate: bool, wide: bool, any_device: ttnn.MeshDevice) -> None:
    first, second = (keys_and_values(any_device, 1, length) for length in lengths)
    zeros = ttnn.multiply(second[1], 0.0)
    results = ttnn.transformer.joint_scaled_dot_product_attention(
        first[0],
        first[0],
        first[1],
        second[0],
        second[0],
        zeros,
        joint_strategy="rear",
        **options(any_device, approximate=approximate, wide=wide, chunk=32),
    )
    words = expected(any_device.arch(), [sum(lengths)], approximate=approximate, wide=wide, streaming=False)
    assert [column(result) for result in results] == [words * length for length in lengths]

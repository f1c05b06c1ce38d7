"""Ternary operators beyond generated tests.

Recorded vectors, integers, outputs, compositions.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import ttnn
from testkit.operands import from_raw, make, raw_of, values_of
from testkit.packed import packed
from ttnn.golden.eltwise import unary as golden_unary

SHAPE = (40, 70)
ROWS = ttnn.ROW_MAJOR_LAYOUT
VECTORS = [
    ("where", "default", {}),
    ("mac", "default", {}),
    ("addcmul", "v0p5", {"value": 0.5}),
    ("addcdiv", "v0p5", {"value": 0.5}),
]


def _integers(dtype: ttnn.DataType, seed: int, device: ttnn.MeshDevice, limit: int | None = None) -> ttnn.Tensor:
    return make(SHAPE, dtype, ttnn.TILE_LAYOUT, device, seed, limit=limit)


def _whole(tensor: ttnn.Tensor) -> list[int]:
    return [int(value) for row in tensor.to_list() for value in row]


@pytest.mark.parametrize(("name", "variant", "options"), VECTORS, ids=[name for name, *_ in VECTORS])
def test_recorded_vectors(
    golden: Path, device: ttnn.MeshDevice, name: str, variant: str, options: dict[str, float]
) -> None:
    tables, inputs = np.load(golden / "sfpu" / f"{name}.npz"), np.load(golden / "sfpu" / "_inputs.npz")
    for suffix, dtype in (("bf16", ttnn.bfloat16), ("fp32", ttnn.float32)):
        words = tables[f"{variant}__{suffix}"]
        shape = (words.size // 32, 32)
        patterns = [inputs[f"pair_{x}_{suffix}"].view(words.dtype) for x in "abc"]
        operands = [from_raw(pattern, shape, dtype, device) for pattern in patterns]
        got = raw_of(getattr(ttnn, name)(*operands, **options)).view(words.dtype)
        if suffix == "fp32":
            np.testing.assert_array_equal(got, words)
            continue
        # The move to a 16-bit Dst makes +0 of -0 and of subnormal numbers, which the vectors have in Dst as they are.
        moved = np.logical_and.reduce([(pattern & 0x7F80 != 0) | (pattern == 0) for pattern in patterns])
        assert np.count_nonzero(moved) > 60_000
        np.testing.assert_array_equal(got[moved], packed(words)[moved])


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32])
def test_integers_wrap(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    a, b, c = (_integers(dtype, seed, device) for seed in range(3))
    low = -(2**31) if dtype is ttnn.int32 else 0
    result = ttnn.mac(a, b, c)
    exact = [x * y + z for x, y, z in zip(_whole(a), _whole(b), _whole(c), strict=True)]
    assert result.dtype is dtype
    assert _whole(result) == [(value - low) % 2**32 + low for value in exact]


def test_conditions_of_integers(device: ttnn.MeshDevice) -> None:
    condition = _integers(ttnn.int32, 0, device, limit=2)
    yes, no = (make(SHAPE, ttnn.bfloat16, ttnn.TILE_LAYOUT, device, seed) for seed in (1, 2))
    chosen = ttnn.where(condition, yes, no)
    assert chosen.dtype is ttnn.bfloat16
    expected = np.where(values_of(condition) != 0, values_of(yes), values_of(no))
    np.testing.assert_array_equal(values_of(chosen), expected)
    assert set(_whole(ttnn.where(condition, 7, -3))) == {7, -3}


def test_what_counts_as_true(device: ttnn.MeshDevice) -> None:
    words = np.zeros((32, 32), np.uint16)
    words[0, :6] = [0x0000, 0x8000, 0x0001, 0x0080, 0x7FC0, 0xFF80]
    narrow = from_raw(words, (32, 32), ttnn.bfloat16, device)
    assert values_of(ttnn.where(narrow, 1.0, 2.0))[0, :7].tolist() == [2, 2, 2, 1, 1, 1, 2]
    wide = from_raw(words.astype(np.uint32) << 16, (32, 32), ttnn.float32, device)
    assert values_of(ttnn.where(wide, 1.0, 2.0))[0, :7].tolist() == [2, 1, 1, 1, 1, 1, 2]


def test_numbers_are_cut_to_bfloat16(device: ttnn.MeshDevice) -> None:
    zero = ttnn.zeros((1, 1), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    assert ttnn.where(zero, 5.0, 1.99999).item() == 1.9921875
    zero = ttnn.zeros((1, 1), ttnn.float32, ttnn.TILE_LAYOUT, device)
    assert ttnn.where(zero, 5.0, 1.99999).item() == np.float32(1.99999)


@pytest.mark.parametrize("name", ["where", "lerp", "mac", "addcmul", "addcdiv"])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32])
def test_output_tensor(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    operands = [make(SHAPE, dtype, ttnn.TILE_LAYOUT, device, seed) for seed in range(3)]
    expected = raw_of(getattr(ttnn, name)(*operands))
    other = ttnn.empty(SHAPE, dtype, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG)
    assert getattr(ttnn, name)(*operands, output_tensor=other) is other
    np.testing.assert_array_equal(raw_of(other), expected)
    assert getattr(ttnn, name)(*operands, output_tensor=operands[2]) is operands[2]
    np.testing.assert_array_equal(raw_of(operands[2]), expected)


def test_lerp_of_block_floats_that_are_broadcast_is_three_operators(device: ttnn.MeshDevice) -> None:
    start, weight = (make(SHAPE, ttnn.bfloat8_b, ttnn.TILE_LAYOUT, device, seed) for seed in (0, 2))
    end = make((1, SHAPE[1]), ttnn.bfloat8_b, ttnn.TILE_LAYOUT, device, 1)
    expected = ttnn.add(start, ttnn.multiply(ttnn.subtract(end, start), weight))
    np.testing.assert_array_equal(raw_of(ttnn.lerp(start, end, weight)), raw_of(expected))


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    a = make(SHAPE, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with pytest.raises(
        ttnn.ShapeError, match=r"ttnn\.where: cannot broadcast predicate \[40, 70\], true_value \[40, 7\]"
    ):
        ttnn.where(a, make((40, 7), ttnn.bfloat16, ttnn.TILE_LAYOUT, device), a)
    with pytest.raises(
        ttnn.LayoutError, match=r"ttnn\.mac: input_tensor_a is ROW_MAJOR; the operator requires TILE_LAYOUT"
    ):
        ttnn.mac(make(SHAPE, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device), a, a)
    integers = _integers(ttnn.int32, 1, device)
    with pytest.raises(ttnn.DTypeError, match=r"ttnn\.addcmul: the tensors are BFLOAT16, INT32, BFLOAT16; typecast"):
        ttnn.addcmul(a, integers, a)
    with pytest.raises(ttnn.DTypeError, match=r"ttnn\.where: the predicate is BFLOAT16, .* the result is INT32"):
        ttnn.where(a, a, a, output_tensor=integers)
    row = make((1, 70), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.ShapeError, match=r"ttnn\.lerp: output_tensor is Shape\(\[1, 70\]\), the result is"):
        ttnn.lerp(a, row, a, output_tensor=row)


LIMITS = list(itertools.product([None, -70_000, -1, 0, 5, 2**31 - 1], [None, -80_000, -1, 0, 7, 70_000]))[1:]


@pytest.mark.parametrize(("low", "high"), LIMITS)
def test_clamp_of_integers(low: int | None, high: int | None, device: ttnn.MeshDevice) -> None:
    x = _integers(ttnn.int32, 1, device, limit=100_000)
    expected = values_of(x)
    expected = expected if low is None else np.maximum(expected, low)
    expected = expected if high is None else np.minimum(expected, high)
    np.testing.assert_array_equal(values_of(ttnn.clamp(x, low, high)), expected)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.int32])
@pytest.mark.parametrize("name", ["clamp", "clip"])
def test_clamp_to_tensors(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x, low = (make(SHAPE, dtype, ttnn.TILE_LAYOUT, device, seed, limit=9) for seed in (0, 1))
    high = make((1, SHAPE[1]), dtype, ttnn.TILE_LAYOUT, device, 2, limit=9)
    clamp = getattr(ttnn, name)
    for ends in ({"min": low}, {"max": high}, {"min": low, "max": high}):
        expected = golden_unary.clamp(values_of(x), **{end: values_of(value) for end, value in ends.items()})
        np.testing.assert_array_equal(values_of(clamp(x, **ends)), expected)


def _in_rows(shape: tuple[int, ...], dtype: ttnn.DataType, seed: int, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return make(shape, dtype, ROWS, device, seed)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.int32])
def test_where_in_rows(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    predicate = ttnn.to_layout(ttnn.gtz(make((3, 33, 50), dtype, ttnn.TILE_LAYOUT, device, 1)), ROWS)
    value, row = _in_rows((3, 33, 50), dtype, 2, device), _in_rows((1, 1, 50), dtype, 3, device)
    true = values_of(predicate) != 0
    assert 0 < np.count_nonzero(true) < true.size
    cases = (
        (ttnn.where(predicate, value, 3), np.where(true, values_of(value), 3)),
        (ttnn.where(predicate, 5, row), np.where(true, 5, values_of(row))),
        (ttnn.where(predicate, 1, 0), np.where(true, 1, 0)),
    )
    # Two numbers have no integer type.
    of_numbers = ttnn.float32 if dtype is ttnn.int32 else dtype
    for (got, expected), result in zip(cases, (dtype, dtype, of_numbers), strict=True):
        assert (got.layout, got.dtype, got.shape) == (ROWS, result, predicate.shape)
        np.testing.assert_array_equal(values_of(got), expected)


def test_where_in_rows_to_a_place_or_a_tensor(device: ttnn.MeshDevice) -> None:
    predicate, value = (_in_rows((64, 32), ttnn.bfloat16, seed, device) for seed in (1, 2))
    assert ttnn.where(predicate, value, 1.0, memory_config=ttnn.L1_MEMORY_CONFIG).memory_config() == (
        ttnn.L1_MEMORY_CONFIG
    )
    output = ttnn.empty((64, 32), ttnn.bfloat16, ROWS, device, ttnn.DRAM_MEMORY_CONFIG)
    assert ttnn.where(predicate, value, 1.0, output_tensor=output) is output
    np.testing.assert_array_equal(values_of(output), np.where(values_of(predicate) != 0, values_of(value), 1.0))


@pytest.mark.parametrize("name", ["where", "mac", "addcmul", "addcdiv"])
def test_three_tensors_in_rows_are_refused(name: str, device: ttnn.MeshDevice) -> None:
    operands = [_in_rows((32, 32), ttnn.bfloat16, seed, device) for seed in range(3)]
    with pytest.raises(ttnn.LayoutError, match="is ROW_MAJOR") as e:
        getattr(ttnn, name)(*operands)
    assert "Ternary operation requires tensor to be in Tile layout" in str(e.value)


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32])
def test_addcmul_of_integers_is_exact(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    """Modulo 2**32, by the integer part of the factor."""
    kind = np.int32 if dtype is ttnn.int32 else np.uint32
    numbers = [np.random.default_rng(seed).integers(0, 1 << 32, (1, 1, 33, 40), np.uint64) for seed in range(3)]
    tensors = [
        ttnn.Tensor(part.astype(np.uint32).view(kind), dtype, None, ttnn.TILE_LAYOUT).to(device) for part in numbers
    ]
    for value, factor in ((1.0, 1), (6, 6), (-6.0, -6), (0.5, 0), (2.75, 2), (2**32 - 1, -1), (float(2**31), 2**31)):
        expected = numbers[0] + np.uint64(factor % (1 << 32)) * numbers[1] % np.uint64(1 << 32) * numbers[2]
        found = ttnn.addcmul(*tensors, value=value)
        assert found.dtype is dtype
        np.testing.assert_array_equal(found.to_numpy().view(np.uint32), expected.astype(np.uint32))

"""Operators made of several functions or of other operators: recorded vectors, options, compositions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from operands import NAMES, from_raw, golden_cases, make, raw_of, values_of

SHAPE = (1, 2, 64, 128)
NONE, MEAN, SUM = ttnn.LossReductionMode.NONE, ttnn.LossReductionMode.MEAN, ttnn.LossReductionMode.SUM
FLOATS = [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32]


def _tensor(device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16, seed: int = 0) -> ttnn.Tensor:
    return make(SHAPE, dtype, ttnn.TILE_LAYOUT, device, seed)


def test_hardswish(golden: Path, device: ttnn.MeshDevice) -> None:
    arrays, cases = golden_cases(golden, "hardswish")
    for case in cases:
        name = case["case"]
        x = from_raw(arrays[f"{name}.in0"], tuple(case["shape"]), NAMES[case["dtype"]], device)
        np.testing.assert_array_equal(raw_of(ttnn.hardswish(x)), arrays[f"{name}.out"].reshape(-1))
    assert cases


@pytest.mark.parametrize("dtype", FLOATS)
def test_gated_units_are_products_of_their_halves(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = _tensor(device, dtype)
    a, b = x[:, :, :, :64], x[:, :, :, 64:]
    tanh = ttnn.GeluVariant.Tanh
    for result, gate in (
        (ttnn.glu(x), ttnn.sigmoid(b)),
        (ttnn.reglu(x, 3), ttnn.relu(b)),
        (ttnn.swiglu(x), ttnn.silu(b)),
        (ttnn.geglu(x), ttnn.gelu(b)),
        (ttnn.geglu(x, variant=tanh), ttnn.gelu(b, variant=tanh)),
    ):
        np.testing.assert_array_equal(raw_of(result), raw_of(ttnn.multiply(a, gate)))


def test_padding_belongs_to_the_halves(device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 64, 40), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    result = ttnn.reglu(x)
    assert result.shape == [1, 1, 64, 32]
    second = np.zeros((1, 1, 64, 32))
    second[..., :8] = values_of(x)[..., 32:]
    product = values_of(x)[..., :32] * np.maximum(second, 0)
    np.testing.assert_allclose(values_of(result), product, rtol=2**-8)


@pytest.mark.parametrize("dtype", [*FLOATS, ttnn.int32, ttnn.uint32])
@pytest.mark.parametrize("diagonal", [0, 1, -1, 5, -63, 64, 200, -200])
def test_triangles(dtype: ttnn.DataType, diagonal: int, device: ttnn.MeshDevice) -> None:
    x = make((2, 64, 70), dtype, ttnn.TILE_LAYOUT, device)
    for triangle, reference in ((ttnn.tril, np.tril), (ttnn.triu, np.triu)):
        np.testing.assert_array_equal(values_of(triangle(x, diagonal=diagonal)), reference(values_of(x), diagonal))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["l1_loss", "mse_loss"])
def test_losses(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    reference, prediction = _tensor(device, dtype), _tensor(device, dtype, 1)
    loss = getattr(ttnn, name)
    whole = loss(reference, prediction)
    activation = ttnn.UnaryOpType.ABS if name == "l1_loss" else ttnn.UnaryOpType.SQUARE
    np.testing.assert_array_equal(raw_of(whole), raw_of(ttnn.subtract(reference, prediction, activations=[activation])))
    for reduction, reduce in ((SUM, ttnn.sum), (MEAN, ttnn.mean)):
        reduced = loss(reference, prediction, reduction=reduction)
        assert reduced.shape == []
        np.testing.assert_array_equal(raw_of(reduced), raw_of(reduce(whole)))
        exact = ttnn.golden.losses.__dict__[name](values_of(reference), values_of(prediction), reduction=reduction)
        np.testing.assert_allclose(values_of(reduced), exact, rtol=0.02)
    output = ttnn.empty_like(whole)
    assert loss(reference, prediction, output_tensor=output) is output
    np.testing.assert_array_equal(raw_of(output), raw_of(whole))
    with pytest.raises(ttnn.UnsupportedError, match=r"output_tensor with reduction=LossReductionMode\.SUM"):
        loss(reference, prediction, reduction=SUM, output_tensor=output)


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_fill(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    for dtype, value, expected in (
        (ttnn.bfloat16, 1.99999, 1.9921875),
        (ttnn.float32, 1.99999, np.float32(1.99999)),
        (ttnn.int32, -7, -7),
        (ttnn.uint32, 2**32 - 1, 2**32 - 1),
        (ttnn.uint16, 65535.0, 65535),
    ):
        assert set(values_of(ttnn.fill(make((33, 70), dtype, layout, device), value)).reshape(-1)) == {expected}
    blocks = make((33, 70), ttnn.bfloat8_b, ttnn.TILE_LAYOUT, device)
    # Cut to bfloat16, then rounded by the packer.
    assert set(values_of(ttnn.fill(blocks, 1.99999)).reshape(-1)) == {2.0}
    with pytest.raises(ttnn.DTypeError, match=r"ttnn\.fill: fill_value is 0\.5, no value of INT32"):
        ttnn.fill(make((2, 2), ttnn.int32, layout, device), 0.5)


def test_bitwise_not_of_words(device: ttnn.MeshDevice) -> None:
    x = make((33, 70), ttnn.float32, ttnn.TILE_LAYOUT, device)
    np.testing.assert_array_equal(raw_of(ttnn.bitwise_not(x)), ~raw_of(x))


def test_logit_holds_its_operand(device: ttnn.MeshDevice) -> None:
    x = ttnn.Tensor(np.linspace(-1, 2, 4096).reshape(64, 64).astype(np.float32), ttnn.float32, device, ttnn.TILE_LAYOUT)
    held = ttnn.clamp(x, 0.125, 0.875)
    for eps in (0.125, 0.875):
        np.testing.assert_array_equal(raw_of(ttnn.logit(x, eps=eps)), raw_of(ttnn.logit(held)))
    np.testing.assert_array_equal(raw_of(ttnn.logit(x, eps=-1.0)), raw_of(ttnn.logit(x)))


INTEGER_CASTS = ["int32_to_fp32", "int32_to_bf16", "int32_to_uint16", "int32_to_uint8",
                 "uint32_to_fp32", "uint32_to_bf16", "uint32_to_uint16", "uint32_to_uint8"]  # fmt: skip
FLOAT_CASTS = ["fp32_to_int32", "fp32_to_uint32", "fp32_to_uint16", "fp32_to_uint8",
               "bf16_to_int32", "bf16_to_uint32", "bf16_to_uint16", "bf16_to_uint8"]  # fmt: skip
TYPES = {"fp32": ttnn.float32, "bf16": ttnn.bfloat16, "int32": ttnn.int32, "uint32": ttnn.uint32,
         "uint16": ttnn.uint16, "uint8": ttnn.uint8}  # fmt: skip
WORD: dict[str, Any] = {"fp32": np.uint32, "bf16": np.uint16, "int32": np.uint32, "uint32": np.uint32,
                        "uint16": np.uint16, "uint8": np.uint8}  # fmt: skip


def _cast(words: npt.NDArray[Any], source: str, target: str, device: ttnn.MeshDevice) -> npt.NDArray[Any]:
    x = from_raw(words, (words.size // 32, 32), TYPES[source], device)
    return raw_of(ttnn.typecast(x, TYPES[target])).view(WORD[target])


@pytest.mark.parametrize("name", INTEGER_CASTS + FLOAT_CASTS)
def test_typecast_vectors(golden: Path, device: ttnn.MeshDevice, name: str) -> None:
    source, target = name.split("_to_")
    table, inputs = np.load(golden / "sfpu" / f"typecast_from_{source}.npz"), np.load(golden / "sfpu" / "_inputs.npz")
    if name in INTEGER_CASTS:
        words, expected = inputs["int_a"].view(np.uint32), table[f"{name}__fp32"]
    elif source == "fp32":
        random = inputs["rand_fp32"].view(np.uint32)
        expected = table[f"{name}__fp32_on_rand"]
        half = expected.size // 2
        words = np.concatenate([random[:half], random[32768 : 32768 + half]])
    else:
        words = np.arange(1 << 16, dtype=np.uint16)
        wide = target in ("int32", "uint32")
        expected = table[f"{name}__{'fp32' if wide else 'bf16'}"]
        # The move to Dst makes +0 of subnormal numbers.
        expected = np.where(words & 0x7F80, expected, 0).astype(expected.dtype)
    got = _cast(words, source, target, device)
    if target == "bf16":
        expected = (expected >> 16).astype(np.uint16)
    np.testing.assert_array_equal(got, expected.astype(WORD[target]))


@pytest.mark.parametrize("source", [*FLOATS, ttnn.bfloat4_b, ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8])
@pytest.mark.parametrize("target", [*FLOATS, ttnn.bfloat4_b, ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8])
def test_typecast_keeps_small_integers(source: ttnn.DataType, target: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    """0, 1, 2 and 4 are values of every data type."""
    values = np.random.default_rng(1).choice([0, 1, 2, 4], (2, 40, 70)).astype(np.float32)
    x = ttnn.typecast(ttnn.Tensor(values, ttnn.float32, None, ttnn.TILE_LAYOUT), source).to(device)
    result = ttnn.typecast(x, target)
    assert result.dtype is target
    np.testing.assert_array_equal(values_of(result), values)

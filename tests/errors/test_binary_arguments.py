"""Bad operands of binary operators, from the registry, and texts."""

# ruff: noqa: E501 - pinned texts

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pinned import short

import ttnn
from ttnn.base.exceptions import TtnnError
from ttnn.operation import registry
from ttnn.operation.signature import INTEGER, NUMBER, REQUIRED, TENSOR, Signature

TILES, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
TYPES = [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8]
Make = Callable[..., ttnn.Tensor]


@pytest.fixture
def t(device: ttnn.MeshDevice) -> Make:
    """Return a function that makes a device tensor of ones."""

    def make(shape: tuple[int, ...], dtype: ttnn.DataType = ttnn.bfloat16, layout: ttnn.Layout = TILES) -> ttnn.Tensor:
        return ttnn.ones(shape, dtype, layout, device)

    return make


def of_tensors(entry: registry.Op) -> Signature | None:
    """Return the overload of two tensors."""
    for signature in entry.signatures:
        if [param.kind for param in signature.positional[:2]] == [TENSOR, TENSOR]:
            return signature
    return None


LOSSES = ("l1_loss", "mse_loss")
"""Made of other operators, whose errors they raise."""
PROMOTING = ("multiply", "multiply_", "div", "divide_", "div_no_nan", "floor_div", "isclose")
"""Convert 32-bit integers that meet floating point."""
ENTRIES = [
    entry for entry in registry.entries() if entry.family == "binary" and entry.name not in LOSSES and of_tensors(entry)
]


def more(entry: registry.Op) -> tuple[float, ...]:
    """Return values for what an operator needs besides its tensors."""
    signature = of_tensors(entry)
    assert signature is not None
    return tuple(0.5 for param in signature.positional[2:] if param.default is REQUIRED)


def refused(entry: registry.Op, *operands: Any) -> TtnnError:
    with pytest.raises(TtnnError) as caught:
        getattr(ttnn, entry.name)(*operands, *more(entry))
    return caught.value


def test_at_least_60_binary_operators_are_tried() -> None:
    assert len(ENTRIES) >= 60


WORDS = {"addalpha": (ttnn.int32, ttnn.uint32), "subalpha": (ttnn.int32, ttnn.uint32), "floor_div": (ttnn.int32,)}
"""Integers that steps of floating-point operators accept as recorded."""


def _unlisted(entry: registry.Op) -> list[ttnn.DataType]:
    listed = entry.dtypes if entry.name != "pow" else tuple(d for d in entry.dtypes if d not in entry.reference)
    assert listed
    return [dtype for dtype in TYPES if dtype not in (*listed, *WORDS.get(entry.name, ()))]


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if _unlisted(entry)], ids=str)
def test_data_types_that_are_not_listed(entry: registry.Op, t: Make) -> None:
    for dtype in _unlisted(entry):
        error = refused(entry, t((32, 64), dtype), t((32, 64), dtype))
        assert isinstance(error, ttnn.DTypeError)
        if entry.name == "pow" and dtype in entry.dtypes:  # as the base of a number only
            assert "pass an integer exponent" in str(error)
        else:
            assert " takes " in str(error)
            assert entry.dtypes[0].name in str(error)
        if entry.name.endswith("_glu"):  # their activations are refused, as in a chain
            assert dtype is ttnn.float32 or "does not support integer input dtype" in str(error)
        elif entry.name != "divide_":  # int32 has a quotient, but no room for it
            assert "is not supported for binary operation" in str(error)


def _unmixed(entry: registry.Op) -> list[tuple[ttnn.DataType, ttnn.DataType]]:
    pairs = ((ttnn.int32, ttnn.bfloat16), (ttnn.int32, ttnn.uint32), (ttnn.float32, ttnn.int32))
    kept = [(a, b) for a, b in pairs if entry.name not in PROMOTING or b is ttnn.uint32]
    return [(a, b) for a, b in kept if a in entry.dtypes or b in entry.dtypes]


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if _unmixed(entry)], ids=str)
def test_data_types_that_do_not_mix(entry: registry.Op, t: Make) -> None:
    for a, b in _unmixed(entry):
        assert isinstance(refused(entry, t((32, 64), a), t((32, 64), b)), ttnn.DTypeError)


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_shapes_that_do_not_broadcast(entry: registry.Op, t: Make) -> None:
    dtype = entry.dtypes[0]
    for a, b in (((32, 64), (32, 60)), ((2, 32, 64), (3, 32, 64)), ((3, 64), (2, 64))):
        error = refused(entry, t(a, dtype), t(b, dtype))
        assert isinstance(error, ttnn.ShapeError)
        assert "cannot broadcast" in str(error)


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_operands_on_host_or_another_device_raise_storage_error(entry: registry.Op, t: Make) -> None:
    dtype = entry.dtypes[0]
    host = ttnn.ones((32, 64), dtype, TILES)
    here = t((32, 64), dtype)
    assert isinstance(refused(entry, host, here), ttnn.StorageError)
    assert isinstance(refused(entry, here, host), ttnn.StorageError)
    gone = t((32, 64), dtype)
    gone.deallocate()
    assert isinstance(refused(entry, gone, here), ttnn.StorageError)
    assert isinstance(refused(entry, here, gone), ttnn.StorageError)
    if entry.name.endswith("_") and TILES in entry.layouts and ROWS in entry.layouts:  # no room for tiles
        assert isinstance(refused(entry, t((32, 64), dtype, ROWS), here), ttnn.LayoutError)


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.name.endswith("_")], ids=str)
def test_in_place_cannot_expand(entry: registry.Op, t: Make) -> None:
    dtype = entry.dtypes[0]
    for shape in ((1, 64), (32, 1), (64,)):
        a = t(shape, dtype)
        error = refused(entry, a, t((32, 64), dtype))
        assert isinstance(error, ttnn.ShapeError)
        assert "cannot broadcast its first operand" in str(error)
        assert np.all(np.asarray(a.to_list()) == 1)


def _with_numbers(kind: Any) -> list[registry.Op]:
    return [
        entry
        for entry in ENTRIES
        # Of float32, into which the integers are converted.
        if ttnn.int32 in entry.dtypes and entry.name not in ("pow", "div_no_nan", "floor_div", "isclose")
        if any([p.kind for p in signature.positional[:2]] == [TENSOR, kind] for signature in entry.signatures)
    ]


@pytest.mark.parametrize("entry", [*_with_numbers(NUMBER), *_with_numbers(INTEGER)], ids=str)
def test_numbers_that_integers_do_not_hold(entry: registry.Op, t: Make) -> None:
    for dtype, numbers in (
        (ttnn.int32, (2**31, -(2**31) - 1, 10**400)),
        (ttnn.uint32, (-1, 2**32)),
    ):
        if dtype not in entry.dtypes:
            continue
        for number in numbers:
            # What no signature takes is refused before the data type is looked at.
            expected = ttnn.ArgumentError if number == 10**400 and entry in _with_numbers(INTEGER) else ttnn.DTypeError
            assert isinstance(refused(entry, t((32, 64), dtype), number), expected)


@pytest.mark.parametrize(("number", "word"), [(-1, 65535), (65537, 1), (2.75, 2)])
def test_numbers_beside_uint16_have_its_lower_bits(t: Make, number: float, word: int) -> None:
    zeros = ttnn.zeros_like(t((32, 64), ttnn.uint16))
    assert ttnn.add(zeros, number).to_list()[0][0] == word


TEXTS = {
    "ttnn.atan2(t((2, 3), ttnn.int32), t((2, 3), ttnn.int32))": (
        "ttnn.atan2: input_tensor_a is INT32, which the operator does not support. [supported]\ninfo:\nInput tensor A dtype DataType::INT32 is not "
        "supported for binary operation BinaryOpType::ATAN2"
    ),
    "ttnn.maximum(t((2, 3)), t((2, 3), ttnn.float32))": (
        "ttnn.maximum: the operands are BFLOAT16 and FLOAT32; typecast one of them.\ninfo:\nMixed dtype is not "
        "supported for binary operation BinaryOpType::MAXIMUM, dtype A: DataType::BFLOAT16, dtype B: DataType::FLOAT32"
    ),
    "ttnn.div(t((2, 3)), t((2, 3)), rounding_mode='up')": (
        'ttnn.div: rounding_mode=\'up\' is not None, "trunc" or "floor".\ninfo:\nIncorrect rounding mode (expected None, '
        "'trunc', or 'floor')"
    ),
    "ttnn.div(t((2, 3), ttnn.int32), 2, fast_and_approximate_mode=True)": (
        "ttnn.div: fast_and_approximate_mode=True is for floating point; the operands are INT32. [supported]\ninfo:\nInteger Division "
        "does not support fast_and_approximate_mode=true true"
    ),
    "ttnn.div(t((2, 3), ttnn.int32), 2, dtype=ttnn.int32)": (
        "ttnn.div: the quotient of INT32 operands is FLOAT32, got DataType.INT32.\ninfo:\nIncorrect output_dtype value for Integer Division(rounding_mode=None) ; valid input values are None or "
        "ttnn.float32"
    ),
    "ttnn.pow(t((2, 3), ttnn.int32), -1)": (
        "ttnn.pow: INT32 to the power -1 is not an integer; typecast the input to a floating-point type first.\ninfo:\n"
        "pow: integers to negative integer powers are not allowed, got -1"
    ),
    "ttnn.pow(t((2, 3), ttnn.int32), 2**31)": "ttnn.pow: the exponent 2147483648 is not an INT32 value.",
    "ttnn.polyval(t((2, 3)), [])": "ttnn.polyval: coeffs is empty; a polynomial has at least one coefficient.",
    "ttnn.polyval(t((2, 3), ttnn.int32), [1.0, 2.0])": (
        "ttnn.polyval: input_tensor_a is INT32, which the operator does not support. [supported]\ninfo:\nInput tensor A dtype DataType::INT32 is not "
        "supported for binary operation BinaryOpType::MUL"
    ),
    "ttnn.prelu(t((2, 3, 4)), t((4,)))": (
        "ttnn.prelu: weight has 4 elements, but dimension 1 of input_tensor_a, Shape([2, 3, 4]), has 3. [supported]\ninfo:\nMismatch of "
        "parameter numbers and input channel size. Found parameter numbers = 4 and channel size = 3."
    ),
    "ttnn.prelu(t((4,)), t((4,)))": (
        "ttnn.prelu: input_tensor_a is Shape([4]); a weight per channel needs dimension 1. [supported]"
    ),
    "ttnn.outer(t((2, 3)), t((2, 3), ttnn.float32))": (
        "ttnn.outer: the operands are BFLOAT16 and FLOAT32; typecast one of them."
    ),
    "ttnn.outer(t(()), t((2, 3)))": "ttnn.outer: input_tensor_a is a scalar; it must have at least one dimension.",
    "ttnn.bitwise_and(t((2, 3), ttnn.int32), 2**31)": (
        "ttnn.bitwise_and: 2147483648 is not a value of INT32 (-2147483648 to 2147483647).\ninfo:\nBinary operation "
        "BinaryOpType::BITWISE_AND with a DataType::INT32 tensor cannot represent the scalar 2.14748e+09: only a finite "
        "integer within the range of DataType::INT32 survives being packed as one, and this value would be changed "
        "silently. Typecast the input to a floating-point dtype first."
    ),
    "ttnn.multiply_(t((1, 64)), t((32, 64)))": (
        "ttnn.multiply_: Shape([1, 64]) with Shape([32, 64]) gives [32, 64], which is larger than input_tensor_a; an "
        "in-place operator cannot broadcast its first operand. [supported]"
    ),
}


@pytest.mark.parametrize("expression", TEXTS)
def test_error_has_the_recorded_text(expression: str, t: Make) -> None:
    with pytest.raises(TtnnError) as caught:
        eval(expression, {"ttnn": ttnn, "t": t})
    assert short(str(caught.value), expression) == TEXTS[expression]


def test_the_device_stays_usable(t: Make) -> None:
    for expression in TEXTS:
        with pytest.raises(TtnnError):
            eval(expression, {"ttnn": ttnn, "t": t})
    assert np.all(np.asarray(ttnn.maximum(t((2, 3)), 2.0).to_list()) == 2)

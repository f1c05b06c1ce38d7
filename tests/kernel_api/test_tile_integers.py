"""Vector functions of tiles of integers against plain numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.tile_parts import Array, apply
from ttnn import kernel_api as api
from ttnn import metal
from ttnn.base.exceptions import KernelArgumentError, UnsupportedError

RNG = np.random.default_rng(31)


def integers(dtype: Any, low: int, high: int) -> Array:
    return RNG.integers(low, high, (32, 32), dtype=np.int64).astype(dtype)


INT32 = [integers(np.int32, -(2**31) + 1, 2**31) for _ in range(2)]
INT32[1][:4] = INT32[0][:4]
UINT32 = [x.view(np.uint32) for x in INT32]
UINT16 = [integers(np.uint16, 0, 2**16) for _ in range(2)]
UINT16[1][:4] = UINT16[0][:4]
UINT16[0][5] = 0
BINARY: list[tuple[str, str, list[Array], Callable[[Array, Array], Array]]] = [
    (f"{verb}_{name}", f"{verb}_int_tile_init", values, function)
    for verb, function in (("add", np.add), ("sub", np.subtract))
    for name, values in (("uint32_tile", UINT32), ("uint16_tile", UINT16), ("int32_tile", INT32))
]
BINARY += [
    (f"mul_{name}", "mul_int32_tile_init", values, np.multiply)
    for name, values in (("uint32_tile", UINT32), ("uint16_tile", UINT16))
]
BINARY += [
    (f"bitwise_{verb}_{name}_binary_tile", "binary_bitwise_tile_init", values, function)
    for verb, function in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor))
    for name, values in (("uint32", UINT32), ("uint16", UINT16))
]
BINARY += [
    ("binary_max_uint32_tile", "binary_max_uint32_tile_init", UINT32, np.maximum),
    ("binary_min_uint32_tile", "binary_min_uint32_tile_init", UINT32, np.minimum),
    ("binary_max_int32_tile", "binary_max_int32_tile_init", INT32, np.maximum),
]


@pytest.mark.parametrize(("name", "init", "operands", "reference"), BINARY, ids=[row[0] for row in BINARY])
def test_binary_integer_functions_match_numpy(
    device: ttnn.MeshDevice, name: str, init: str, operands: list[Array], reference: Callable[[Array, Array], Array]
) -> None:
    def body() -> None:
        getattr(api, init)()
        getattr(api, name)(0, 1, 0)

    np.testing.assert_array_equal(apply(device, operands, body), reference(*operands))


TEMPLATES = [
    (verb, function, data_format, values)
    for verb, function in (
        *(("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("eq", np.equal), ("ne", np.not_equal)),
        *(("lt", np.less), ("gt", np.greater), ("le", np.less_equal), ("ge", np.greater_equal)),
    )
    for data_format, values in (
        (metal.DataFormat.Int32, INT32),
        (metal.DataFormat.UInt32, UINT32),
        (metal.DataFormat.UInt16, UINT16),
    )
]


@pytest.mark.parametrize(("verb", "reference", "data_format", "operands"), TEMPLATES)
def test_data_format_template_argument_is_accepted(
    device: ttnn.MeshDevice,
    verb: str,
    reference: Callable[[Array, Array], Array],
    data_format: metal.DataFormat,
    operands: list[Array],
) -> None:
    def body() -> None:
        getattr(api, f"{verb}_int_tile_init")()
        getattr(api, f"{verb}_int_tile")(0, 1, 0, data_format=data_format)

    np.testing.assert_array_equal(apply(device, operands, body), reference(*operands).astype(operands[0].dtype))


def test_non_integer_format_raises(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.add_int_tile_init()
        api.add_int_tile(0, 1, 0, data_format=metal.DataFormat.Float32)

    with pytest.raises(UnsupportedError, match="add_int_tile: the SFPU does this for Int32, UInt32 and UInt16"):
        apply(device, INT32, body)


SCALAR = -77
UNARY: list[tuple[str, str, tuple[int, ...], Array, Callable[[Array], Array]]] = [
    ("eqz_tile_uint16", "eqz_tile_init", (), UINT16[0], lambda x: x == 0),
    ("nez_tile_uint16", "nez_tile_init", (), UINT16[0], lambda x: x != 0),
    ("eqz_tile_uint32", "eqz_tile_init", (), UINT32[0], lambda x: x == 0),
    ("nez_tile_uint32", "nez_tile_init", (), UINT32[0], lambda x: x != 0),
    ("logical_not_unary_tile_int32", "logical_not_unary_tile_init", (), INT32[0], lambda x: x == 0),
    ("logical_not_unary_tile_uint16", "logical_not_unary_tile_init", (), UINT16[0], lambda x: x == 0),
    ("logical_not_unary_tile_uint32", "logical_not_unary_tile_init", (), UINT32[0], lambda x: x == 0),
    ("signbit_tile_int32", "signbit_tile_int32_init", (), INT32[0], lambda x: x < 0),
    ("unary_max_int32_tile", "unary_max_int32_tile_init", (SCALAR,), INT32[0], lambda x: np.maximum(x, SCALAR)),
    ("unary_min_int32_tile", "unary_min_tile_init", (SCALAR,), INT32[0], lambda x: np.minimum(x, SCALAR)),
    ("unary_max_uint32_tile", "unary_max_uint32_tile_init", (9,), UINT32[0], lambda x: np.maximum(x, 9)),
    ("unary_min_uint32_tile", "unary_min_uint32_tile_init", (9,), UINT32[0], lambda x: np.minimum(x, 9)),
    ("relu_max_tile_int32", "relu_max_tile_init", (500,), INT32[0], lambda x: np.clip(x, 0, 500)),
    ("relu_max_tile_uint32", "relu_max_tile_init", (500,), UINT32[0], lambda x: np.minimum(x, 500)),
    ("relu_max_tile_uint16", "relu_max_tile_init", (500,), UINT16[0], lambda x: np.minimum(x, 500)),
    ("relu_min_tile_int32", "relu_min_tile_init", (500,), INT32[0], lambda x: np.maximum(x, 500)),
    ("relu_min_tile_uint32", "relu_min_tile_init", (500,), UINT32[0], lambda x: np.maximum(x, 500)),
    ("relu_min_tile_uint16", "relu_min_tile_init", (500,), UINT16[0], lambda x: np.maximum(x, 500)),
    ("add_unary_tile_int32", "binop_with_scalar_tile_init", (SCALAR,), INT32[0], lambda x: x + np.int32(SCALAR)),
    ("sub_unary_tile_int32", "binop_with_scalar_tile_init", (SCALAR,), INT32[0], lambda x: x - np.int32(SCALAR)),
    ("rsub_unary_int32_tile", "rsub_unary_int32_tile_init", (SCALAR,), INT32[0], lambda x: np.int32(SCALAR) - x),
    ("identity_tile_uint32", "identity_tile_init", (), UINT32[0], lambda x: x),
    ("remainder_tile_uint32", "remainder_tile_uint32_init", (1000,), UINT32[0], lambda x: x % 1000),
]


@pytest.mark.parametrize(("name", "init", "parameters", "operand", "reference"), UNARY, ids=[row[0] for row in UNARY])
def test_unary_integer_functions_match_numpy(
    device: ttnn.MeshDevice,
    name: str,
    init: str,
    parameters: tuple[int, ...],
    operand: Array,
    reference: Callable[[Array], Array],
) -> None:
    def body() -> None:
        getattr(api, init)()
        getattr(api, name)(0, *parameters)

    with np.errstate(over="ignore"):
        expected = reference(operand).astype(operand.dtype)
    np.testing.assert_array_equal(apply(device, [operand], body), expected)


def test_remainders_by_zero_are_refused(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.remainder_tile_uint32_init()
        api.remainder_tile_uint32(0, 0)

    with pytest.raises(KernelArgumentError, match="remainder_tile_uint32: division by 0"):
        apply(device, [UINT32[0]], body)


@pytest.mark.parametrize("data_format", [metal.DataFormat.Int32, metal.DataFormat.UInt16])
def test_fill_tile_int_fills_all_elements(device: ttnn.MeshDevice, data_format: metal.DataFormat) -> None:
    operand = INT32[0] if data_format is metal.DataFormat.Int32 else UINT16[0]

    def body() -> None:
        api.fill_tile_init()
        api.fill_tile_int(0, 1234, data_format=data_format)

    np.testing.assert_array_equal(apply(device, [operand], body), np.full((32, 32), 1234, operand.dtype))

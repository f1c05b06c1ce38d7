"""Plans: borders, bound parameters, equal bits, and errors."""

from __future__ import annotations

from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import ParameterError, ShapeError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.frontends import Plan, compile_stablehlo
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.runtime.place import Transfers
from ttnn.compiler.target.flatbuffer.binary import Binary

DENSE = """func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x16xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "w"}) -> tensor<32x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %1 = stablehlo.tanh %0 : tensor<32x16xf32>
  return %1 : tensor<32x16xf32>
}"""  # noqa: E501


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def same(element: str) -> Plan:
    return compile_stablehlo(
        f"func.func @main(%x: tensor<2x3x{element}>) -> tensor<2x3x{element}> {{ return %x : tensor<2x3x{element}> }}"
    )


@pytest.mark.parametrize(
    ("element", "dtype"),
    [
        ("f32", np.float32),
        ("f64", np.float64),
        ("bf16", ml_dtypes.bfloat16),
        ("i1", np.bool_),
        ("i8", np.int8),
        ("i16", np.int16),
        ("i32", np.int32),
        ("i64", np.int64),
        ("ui8", np.uint8),
        ("ui16", np.uint16),
        ("ui32", np.uint32),
        ("ui64", np.uint64),
    ],
)
def test_values_come_back_in_their_own_type(element: str, dtype: type, device: ttnn.MeshDevice) -> None:
    values = np.array([[0, 1, 2], [1, -3 if np.dtype(dtype).kind in "if" else 3, 100]]).astype(dtype)
    (found,) = same(element)(values, device=device)
    assert found.dtype == values.dtype
    assert found.tobytes() == values.tobytes()


def test_numbers_beyond_32_bits_are_refused_by_name(device: ttnn.MeshDevice) -> None:
    values = np.array([[0, 1, 2], [3, 4, 8589934592]], np.int64)
    with pytest.raises(UnsupportedError, match="argument 0: 8589934592 does not fit 32 bits"):
        same("i64")(values, device=device)


def test_constants_beyond_32_bits_are_refused() -> None:
    text = """func.func @main() -> tensor<i64> {
  %0 = stablehlo.constant dense<8589934592> : tensor<i64> loc("large")
  return %0 : tensor<i64>
}"""
    with pytest.raises(UnsupportedError, match="constant 8589934592 at large does not fit 32 bits"):
        compile_stablehlo(text)


def test_wrong_arrays_are_refused(device: ttnn.MeshDevice) -> None:
    plan = same("f32")
    with pytest.raises(ShapeError, match=r"argument 0: the shape is \[2, 3\], got \[3, 2\]"):
        plan(np.zeros((3, 2), np.float32), device=device)
    with pytest.raises(ParameterError, match="argument 0: the elements are float32, got float64"):
        plan(np.zeros((2, 3)), device=device)
    with pytest.raises(ParameterError, match="expected 1 values, got 2"):
        plan(np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32), device=device)
    with pytest.raises(ParameterError, match="has 1 inputs, got a value of input 1"):
        plan.bind({1: np.zeros((2, 3), np.float32)}, device)


def test_bound_parameters_are_uploaded_once(device: ttnn.MeshDevice) -> None:
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(one).astype(np.float32) for one in ((32, 64), (64, 16)))
    plan = compile_stablehlo(DENSE)
    assert [one.kind for one in plan.inputs] == ["input", "parameter"]
    both = Transfers()
    (unbound,) = plan.run([x, w], device, both)
    plan.bind({1: w}, device)
    assert plan.bound == (1,)
    one = Transfers()
    (bound,) = plan.run([x], device, one)
    assert (both.to_device, one.to_device) == (2, 1)
    assert ttnn.to_numpy(bound).tobytes() == ttnn.to_numpy(unbound).tobytes()
    plan.bind({1: -w}, device)
    (negative,) = plan(x, device=device)
    assert np.array_equal(negative, -ttnn.to_numpy(unbound))


def test_bits_are_those_of_the_saved_binary(device: ttnn.MeshDevice) -> None:
    random = np.random.default_rng(1)
    x, w = (random.standard_normal(one).astype(np.float32) for one in ((32, 64), (64, 16)))
    plan = compile_stablehlo(DENSE)
    (program,) = programs(Binary.parse(plan.binary.to_bytes()))
    (saved,) = execute(program, [ttnn.from_torch(x), ttnn.from_torch(w)], device)
    (found,) = plan(x, w, device=device)
    assert found.tobytes() == ttnn.to_numpy(saved).tobytes()
    (again,) = plan(x, w, device=device)
    assert again.tobytes() == found.tobytes()


def test_a_function_is_chosen_by_name(device: ttnn.MeshDevice) -> None:
    text = DENSE + "\n" + DENSE.replace("@main", "@other").replace("tanh", "exponential")
    with pytest.raises(ParameterError, match="one of main, other; got None"):
        compile_stablehlo(text)
    plan = compile_stablehlo(text, "other")
    assert "plan of @other" in plan.describe()
    assert "argument 'w': tensor<64x16xf32> (parameter)" in plan.describe()
    (found,) = plan(np.zeros((32, 64), np.float32), np.zeros((64, 16), np.float32), device=device)
    assert np.array_equal(found, np.ones((32, 16), np.float32))

"""Operators against the golden vectors, page bytes compared with padding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ttnn
from testkit.operands import NAMES, from_raw, golden_cases, raw_of
from testkit.packed import packed

BINARY = {
    "add": ttnn.add,
    "div": ttnn.div,
    "max": ttnn.maximum,
    "min": ttnn.minimum,
    "mul": ttnn.multiply,
    "sub": ttnn.subtract,
}


def test_binary_operators_match_recorded_bits(golden: Path, device: ttnn.MeshDevice) -> None:
    arrays, cases = golden_cases(golden, "binary")
    compared, different = 0, []
    for case in cases:
        name, (type_a, type_b, type_out) = case["case"], case["dtype"]
        a = from_raw(arrays[f"{name}.in0"], tuple(case["shape_a"]), NAMES[type_a], device)
        b = (
            case["scalar"]
            if type_b is None
            else from_raw(arrays[f"{name}.in1"], tuple(case["shape_b"]), NAMES[type_b], device)
        )
        result = BINARY[case["op"]](a, b, dtype=NAMES[type_out])
        compared += 1
        if not np.array_equal(raw_of(result), arrays[f"{name}.out"].reshape(-1)):
            different.append(name)
    assert different == []
    assert compared == 92


@pytest.mark.parametrize("operation", ["add_", "subtract_", "multiply_"])
def test_in_place_gives_the_same_bits(operation: str, device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(5).normal(size=(2, 3, 40, 70)).astype(np.float32)
    for dtype in NAMES.values():
        a = ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT)
        b = ttnn.Tensor(values[:, :, :1] * 3, dtype, device, ttnn.TILE_LAYOUT)
        expected = raw_of(getattr(ttnn, operation[:-1])(a, b))
        address = a.buffer_address()
        result = getattr(ttnn, operation)(a, b)
        assert result is a
        assert a.buffer_address() == address
        np.testing.assert_array_equal(raw_of(a), expected)


def test_softmax(golden: Path, device: ttnn.MeshDevice) -> None:
    arrays, cases = golden_cases(golden, "softmax")
    compared, different = 0, []
    for case in cases:
        if case["scale"] is not None:
            continue
        name = case["case"]
        x = from_raw(arrays[f"{name}.in0"], tuple(case["shape"]), NAMES[case["dtype"]], device)
        result = ttnn.softmax(x, dim=-1, numeric_stable=case["numeric_stable"])
        compared += 1
        if not np.array_equal(raw_of(result), arrays[f"{name}.out"].reshape(-1)):
            different.append(name)
    assert different == []
    assert compared == 15


VECTOR_FUNCTIONS = [
    pytest.param("exp", "accurate", {}, id="exp-accurate"),
    pytest.param("exp", "approx_clampneg", {"fast_and_approximate_mode": True}, id="exp-approximate"),
    pytest.param("relu", "relu", {}, id="relu"),
    pytest.param("identity", "default", {}, id="identity"),
]


@pytest.mark.parametrize(
    ("name", "variant", "options"), VECTOR_FUNCTIONS, ids=[f"{n}-{v}" for n, v, _ in VECTOR_FUNCTIONS]
)
def test_every_bfloat16(
    golden: Path, device: ttnn.MeshDevice, name: str, variant: str, options: dict[str, bool]
) -> None:
    tables = np.load(golden / "sfpu" / f"{name}.npz")
    patterns = np.arange(1 << 16, dtype=np.uint16)
    x = from_raw(patterns, (2048, 32), ttnn.bfloat16, device)
    got = raw_of(getattr(ttnn, name)(x, **options)).view(np.uint16)
    np.testing.assert_array_equal(got, packed(tables[f"{variant}__bf16"]))

    rows = ttnn.Tensor._on_host(
        ttnn.TensorSpec((2048, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT), patterns.view(np.uint8)
    ).to(device)
    got = raw_of(getattr(ttnn, name)(rows, **options)).view(np.uint16)
    np.testing.assert_array_equal(got, packed(tables[f"{variant}__bf16"]))


@pytest.mark.parametrize(
    ("name", "variant", "options"), VECTOR_FUNCTIONS, ids=[f"{n}-{v}" for n, v, _ in VECTOR_FUNCTIONS]
)
def test_float32(golden: Path, device: ttnn.MeshDevice, name: str, variant: str, options: dict[str, bool]) -> None:
    tables = np.load(golden / "sfpu" / f"{name}.npz")
    random = np.load(golden / "sfpu" / "_inputs.npz")["rand_fp32"].view(np.uint32)
    for suffix in ("fp32_on_bf16", "fp32_on_rand"):
        expected = tables[f"{variant}__{suffix}"]
        count = len(expected)
        if suffix == "fp32_on_bf16":
            words = np.arange(1 << 16, dtype=np.uint32) << 16
        elif count == len(random):
            words = random
        else:
            words = np.concatenate([random[: count // 2], random[32768 : 32768 + count // 2]])
        x = from_raw(words, (count // 32, 32), ttnn.float32, device)
        got = raw_of(getattr(ttnn, name)(x, **options)).view(np.uint32)
        np.testing.assert_array_equal(got, expected)

"""Integers of 32 bits stay exact: moved, selected, reduced, filled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import ttnn
from ttnn.compiler.frontends import compile_stablehlo, compile_ttir

KINDS = {"si32": np.int32, "ui32": np.uint32}
"""Beyond 2^24 float32 holds not every integer."""


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def numbers(kind: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Return odd numbers beyond 2^24, of both signs where there are."""
    dtype = KINDS[kind]
    limits = np.iinfo(dtype)
    values = np.random.default_rng(seed).integers(1 << 24, limits.max, shape, np.int64) | 1
    if limits.min:
        values *= np.random.default_rng(seed + 1).choice([-1, 1], shape)
    return values.astype(dtype)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("shape", "order"), [((3, 5), (1, 0)), ((2, 33, 40), (1, 2, 0)), ((2, 3, 4, 5), (3, 0, 2, 1))])
def test_permuted_integers_keep_every_bit(
    kind: str, shape: tuple[int, ...], order: tuple[int, ...], device: ttnn.MeshDevice
) -> None:
    values = numbers(kind, shape)
    wanted = values.transpose(order)
    have, made = ("x".join(map(str, (*one, kind))) for one in (shape, wanted.shape))
    plan = compile_ttir(
        f"""func.func @main(%x: tensor<{have}>) -> tensor<{made}> {{
  %0 = "ttir.permute"(%x) <{{permutation = array<i64: {", ".join(map(str, order))}>}}> : (tensor<{have}>) -> tensor<{made}>
  return %0 : tensor<{made}>
}}"""  # noqa: E501
    )
    (found,) = plan(values, device=device)
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("predicate", ["i1", "si32"])
def test_selected_integers_keep_every_bit(kind: str, predicate: str, device: ttnn.MeshDevice) -> None:
    first, second = numbers(kind, (33, 40)), numbers(kind, (33, 40), 7)
    chosen = np.random.default_rng(3).integers(0, 2, (33, 40)).astype(np.bool_ if predicate == "i1" else np.int32)
    values = f"tensor<33x40x{kind}>"
    plan = compile_ttir(
        f"""func.func @main(%c: tensor<33x40x{predicate}>, %a: {values}, %b: {values}) -> {values} {{
  %0 = "ttir.where"(%c, %a, %b) : (tensor<33x40x{predicate}>, {values}, {values}) -> {values}
  return %0 : {values}
}}"""
    )
    (found,) = plan(chosen, first, second, device=device)
    assert np.array_equal(found, np.where(chosen, first, second))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["sum", "max", "min"])
@pytest.mark.parametrize(
    ("shape", "dims", "keep"),
    [((33, 40), (1,), False), ((33, 40), (0,), True), ((2, 3, 4), (0, 2), False), ((5,), (0,), True)],
)
def test_reduced_integers_keep_every_bit(
    kind: str, name: str, shape: tuple[int, ...], dims: tuple[int, ...], keep: bool, device: ttnn.MeshDevice
) -> None:
    values = numbers(kind, shape) // (64 if name == "sum" else 1)
    wanted = getattr(np, name)(values, axis=dims, keepdims=keep, **({"dtype": values.dtype} if name == "sum" else {}))
    have, made = (f"tensor<{'x'.join(map(str, (*one, kind)))}>" for one in (shape, wanted.shape))
    plan = compile_ttir(
        f"""func.func @main(%x: {have}) -> {made} {{
  %0 = "ttir.{name}"(%x) <{{dim_arg = [{", ".join(f"{one} : i32" for one in dims)}], keep_dim = {str(keep).lower()}}}> : ({have}) -> {made}
  return %0 : {made}
}}"""  # noqa: E501
    )
    (found,) = plan(values, device=device)
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    ("element", "number"),
    [("ui32", 2147483648), ("ui32", 4294967295), ("i32", -2147483648), ("ui16", 65535), ("i8", -1)],
)
def test_filled_tensors_hold_the_extremes(element: str, number: int, device: ttnn.MeshDevice) -> None:
    plan = compile_stablehlo(
        f"""func.func @main() -> tensor<2x3x{element}> {{
  %0 = stablehlo.constant dense<{number}> : tensor<2x3x{element}>
  return %0 : tensor<2x3x{element}>
}}"""
    )
    (found,) = plan(device=device)
    assert found.tolist() == [[number] * 3] * 2


def test_the_official_form_rounds(device: ttnn.MeshDevice) -> None:
    text = """func.func @main(%x: tensor<3x5xsi32>) -> tensor<5x3xsi32> {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<3x5xsi32>) -> tensor<5x3xsi32>
  return %0 : tensor<5x3xsi32>
}"""
    values = numbers("si32", (3, 5))
    (found,) = compile_ttir(text, options="exact-integers=false")(values, device=device)
    assert np.array_equal(found, values.astype(np.float32).astype(np.int32).T)
    assert not np.array_equal(found, values.T)

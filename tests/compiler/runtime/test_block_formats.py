"""`enable-bfp8-conversion`: computation in bfp_bf8, bits of the equivalent calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.calls_to_emitpy import emitpy_module
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module, print_module

T = "tensor<64x64xbf16>"
PIPELINE = "ttir-to-ttnn-backend-pipeline"
BFP8 = ttnn.bfloat8_b
PRODUCT = f"""
  %0 = "ttir.matmul"(%x, %w) : ({T}, {T}) -> {T}
  %1 = "ttir.multiply"(%0, %w) : ({T}, {T}) -> {T}
  %2 = "ttir.exp"(%1) : ({T}) -> {T}"""
SCALED = f"""
  %0 = "ttir.constant"() <{{value = dense<0.3> : {T}}}> : () -> {T}
  %2 = "ttir.multiply"(%x, %0) : ({T}, {T}) -> {T}"""
CHOSEN = f"""
  %0 = "ttir.gt"(%x, %w) : ({T}, {T}) -> {T}
  %2 = "ttir.where"(%0, %x, %w) : ({T}, {T}, {T}) -> {T}"""


def _product(x: Any, w: Any) -> Any:
    return ttnn.exp(ttnn.multiply(ttnn.matmul(x, w), w))


def _scaled(x: Any, w: Any) -> Any:
    # The constant is one of bfloat16, as it was written.
    scale = ttnn.full([64, 64], 0.3, ttnn.bfloat16, ttnn.TILE_LAYOUT, x.device())
    return ttnn.multiply(x, ttnn.typecast(scale, BFP8))


def _chosen(x: Any, w: Any) -> Any:
    return ttnn.where(ttnn.gt(x, w), x, w)


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def module(body: str, version: Version = "2025-10") -> Any:
    text = f"func.func @f(%x: {T}, %w: {T}) -> {T} {{{body}\n  return %2 : {T}\n}}\n"
    return parse_module(print_module(parse_module(text), version=version), default_version=version)


@pytest.mark.parametrize(
    ("body", "direct"),
    [(PRODUCT, _product), (SCALED, _scaled), (CHOSEN, _chosen)],
    ids=["product", "scaled", "chosen"],
)
def test_binary_python_and_calls_have_equal_bits(
    body: str, direct: Callable[[Any, Any], Any], device: ttnn.MeshDevice
) -> None:
    lowered = module(body)
    run(lowered, f"{PIPELINE}{{enable-bfp8-conversion=true}}")
    whole = programs(Binary.parse(ttnn_to_binary(lowered, "0.1.0").to_bytes()))
    random = np.random.default_rng(5)
    arrays = [(0.5 * random.standard_normal((64, 64))).astype(ml_dtypes.bfloat16) for _ in range(2)]
    tensors = [ttnn.from_torch(one, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) for one in arrays]
    (executed,) = execute(whole[-1], tensors, device)
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(emitpy_source(emitpy_module(whole)), "emitted.py", "exec"), names)
    (emitted,) = names["f"](tensors, device)
    expected = ttnn.typecast(direct(*(ttnn.typecast(one, BFP8) for one in tensors)), ttnn.bfloat16)
    assert executed.dtype == ttnn.bfloat16
    results = [ttnn.to_numpy(one) for one in (executed, emitted, expected)]
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()
    plain = module(body)
    run(plain, PIPELINE)
    (other,) = execute(programs(Binary.parse(ttnn_to_binary(plain, "0.1.0").to_bytes()))[-1], tensors, device)
    assert ttnn.to_numpy(other).tobytes() != results[0].tobytes()


def test_signatures_and_other_types_are_unchanged() -> None:
    text = (
        f"func.func @f(%x: {T}, %i: tensor<64x64xf32>) -> ({T}, tensor<64x64xf32>) {{\n"
        f'  %0 = "ttir.exp"(%x) : ({T}) -> {T}\n'
        '  %1 = "ttir.exp"(%i) : (tensor<64x64xf32>) -> tensor<64x64xf32>\n'
        f"  return %0, %1 : {T}, tensor<64x64xf32>\n}}\n"
    )
    lowered = parse_module(text)
    run(lowered, "ttir-element-type-normalization{enable-bfp8-conversion=true}")
    lines = [line.strip() for line in print_module(lowered).splitlines()]
    block = "tensor<64x64x!ttcore.tile<32x32, bfp_bf8>>"
    assert f"func.func @f(%arg0: {T}, %arg1: tensor<64x64xf32>) -> ({T}, tensor<64x64xf32>) {{" in lines
    assert [line.partition(" : ")[2] for line in lines if '"ttir' in line] == [
        f"({T}) -> {block}",
        f"({block}) -> {block}",
        "(tensor<64x64xf32>) -> tensor<64x64xf32>",
        f"({block}) -> {T}",
    ]


def test_bfp8_conversion_of_2026_08_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="experimental-weight-dtype=bfp_bf8"):
        run(module(PRODUCT, "2026-08"), f"{PIPELINE}{{enable-bfp8-conversion=true}}")


def test_element_types_are_the_tiles_of_the_layout() -> None:
    layout = (
        "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, "
        "#ttnn.buffer_type<dram>>, <interleaved>>"
    )
    kind = f"tensor<32x32x!ttcore.tile<32x32, bfp_bf8>, {layout}>"
    text = (
        f'func.func @f(%a: {kind}) -> {kind} {{\n  %0 = "ttnn.exp"(%a) : ({kind}) -> {kind}\n  return %0 : {kind}\n}}\n'
    )
    with pytest.raises(CompileError, match="Scalar element type: 'bf16'"):
        parse_module(text)

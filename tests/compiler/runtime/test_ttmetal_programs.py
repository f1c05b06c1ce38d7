"""TTMetal binaries: dispatches as kernel programs.

In L1 and DRAM, on one core and several.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn
from ttnn.base.exceptions import FileFormatError, ParameterError, UnsupportedError
from ttnn.compiler.conversion.ttmetal_to_flatbuffer import metal_to_binary
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.metal import run_metal
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.versions import parse_module

Array = NDArray[Any]


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def values(*shape: int, seed: int = 0) -> Array:
    """Numbers that bfloat16 holds: Dst has 16 bits in these kernels."""
    made = np.random.default_rng(seed).standard_normal(shape).astype(ml_dtypes.bfloat16)
    return made.astype(np.float32)


def binary(text: str, pipeline: str) -> Binary:
    module = parse_module(text)
    run(module, pipeline)
    return Binary.parse(metal_to_binary(module, "0.1.0").to_bytes())


def eltwise(op: str) -> str:
    kind = "tensor<64x128xf32>"
    return (
        "#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>\n"
        f"func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{\n  %0 = tensor.empty() : {kind}\n"
        f'  %1 = "ttir.{op}"(%a, %b, %0) <{{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, '
        f"#any]}}> : ({kind}, {kind}, {kind}) -> {kind}\n  return %1 : {kind}\n}}\n"
    )


@pytest.mark.parametrize(("op", "reference"), [("add", np.add), ("multiply", np.multiply)])
def test_eltwise_dispatches_match_float64(op: str, reference: Any, device: ttnn.MeshDevice) -> None:
    a, b = values(64, 128), values(64, 128, seed=1)
    (result,) = run_metal(binary(eltwise(op), "ttir-to-ttmetal-backend-pipeline"), 0, [a, b], device)
    exact = reference(a.astype(np.float64), b.astype(np.float64))
    # The four phases of HiFi4 are added in a Dst of 16 bits, each sum rounded to 8 bits.
    assert np.all(np.abs(result - exact) <= np.abs(exact) * 4 * 2**-8 + 2**-126)


LOWER = "ttir-load-system-desc,ttir-implicit-device,ttir-allocate,convert-ttir-to-ttmetal"
L1 = "#l1 = #tt.memory_space<l1>\n#dram = #tt.memory_space<dram>\n"
LINEAR = "(d0, d1) -> (d0, d1), undef"


def moves(shape: tuple[int, int], layouts: list[str]) -> str:
    """A function that takes a tensor from layout to layout."""
    size = f"{shape[0]}x{shape[1]}xf32"
    names = "".join(f"#m{index} = #tt.layout<{LINEAR}, {one}>\n" for index, one in enumerate(layouts))
    last = len(layouts) - 1
    lines = [f"func.func @main(%0: tensor<{size}, #m0>) -> tensor<{size}, #m{last}> {{"]
    for index in range(1, len(layouts)):
        kinds = [f"tensor<{size}, #m{index - 1}>", f"tensor<{size}, #m{index}>"]
        lines.append(f"  %e{index} = tensor.empty() : {kinds[1]}")
        lines.append(f'  %{index} = "ttir.to_layout"(%{index - 1}, %e{index}) : ({", ".join(kinds)}) -> {kinds[1]}')
    lines += [f"  return %{last} : tensor<{size}, #m{last}>", "}"]
    return L1 + names + "\n".join(lines) + "\n"


MOVES = {
    "regrid": ((64, 128), ["<1x1>, memref<64x128xf32, #l1>", "<2x2>, memref<32x64xf32, #l1>"]),
    "tilize, regrid, untilize": (
        (64, 128),
        [
            "<1x1>, memref<64x128xf32, #l1>",
            "<1x1>, memref<2x4x!tt.tile<32x32, f32>, #l1>",
            "<2x2>, memref<1x2x!tt.tile<32x32, f32>, #l1>",
            "<2x2>, memref<32x64xf32, #l1>",
        ],
    ),
    "dram": ((16, 64), ["<1x1>, memref<16x64xf32, #dram>", "<1x1>, memref<16x64xf32, #l1>"]),
    "to dram": ((16, 64), ["<1x1>, memref<16x64xf32, #l1>", "<1x1>, memref<16x64xf32, #dram>"]),
}


@pytest.mark.parametrize("name", MOVES)
def test_tilize_regrid_and_untilize_keep_all_values(name: str, device: ttnn.MeshDevice) -> None:
    shape, layouts = MOVES[name]
    x = values(*shape)
    (result,) = run_metal(binary(moves(shape, layouts), LOWER), 0, [x], device)
    assert np.array_equal(result, x)


def test_missing_inputs_and_programs_raise(device: ttnn.MeshDevice) -> None:
    made = binary(eltwise("add"), "ttir-to-ttmetal-backend-pipeline")
    with pytest.raises(ParameterError, match="program main has 2 inputs, got 1"):
        run_metal(made, 0, [values(64, 128)], device)
    with pytest.raises(FileFormatError, match="programs 0 to 0, got 1"):
        run_metal(made, 1, [], device)


def _kernel(made: Binary) -> dict[str, Any]:
    commands = made.values["programs"][0]["device_programs"][0]["command_queues"][0]["commands"]
    program = next(one["type"]["program"] for one in commands if one["type_type"] == "EnqueueProgramCommand")
    kernel: dict[str, Any] = program["kernels"][0]
    return kernel


def test_unsupported_kernels_raise(device: ttnn.MeshDevice) -> None:
    inputs = [values(64, 128), values(64, 128)]
    other = binary(eltwise("add"), "ttir-to-ttmetal-backend-pipeline")
    _kernel(other)["debug_info"] = json.dumps([["launch_rocket", []]])
    with pytest.raises(UnsupportedError, match="launch_rocket of a compute kernel is not executed"):
        run_metal(other, 0, inputs, device)
    device.reset()
    bare = binary(eltwise("add"), "ttir-to-ttmetal-backend-pipeline")
    _kernel(bare)["debug_info"] = ""
    with pytest.raises(UnsupportedError, match="a kernel has a source but no steps"):
        run_metal(bare, 0, inputs, device)
    damaged = binary(eltwise("add"), "ttir-to-ttmetal-backend-pipeline")
    _kernel(damaged)["debug_info"] = "[[1"
    with pytest.raises(FileFormatError, match="the binary is damaged"):
        run_metal(damaged, 0, inputs, device)


@pytest.mark.parametrize("size", [(2_000_000_000, 0), (0, 2_000_000_000), (-1, -1), (1 << 9, 1 << 9)])
def test_rectangles_of_impossible_sides_are_refused(size: tuple[int, int], device: ttnn.MeshDevice) -> None:
    """Before the cores are counted one by one."""
    damaged = binary(eltwise("add"), "ttir-to-ttmetal-backend-pipeline")
    for place in _kernel(damaged)["core_range_set"]:
        place["size"] = dict(zip("yx", size, strict=True))
    with pytest.raises(FileFormatError, match=f"a rectangle of {size[0]}x{size[1]} cores"):
        run_metal(damaged, 0, [values(64, 128), values(64, 128)], device)
    device.reset()

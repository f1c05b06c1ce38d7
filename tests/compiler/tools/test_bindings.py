"""Python bindings: documented layouts and devices, modules, kernels, pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttnn.base.exceptions import ArgumentError, MissingNameError

ttmlir_ir = pytest.importorskip("ttmlir.ir")
from ttmlir.dialects import arith, func, scf, tt, ttcore, ttkernel  # noqa: E402
from ttmlir.ir import (  # noqa: E402
    AffineConstantExpr,
    AffineDimExpr,
    AffineFloorDivExpr,
    AffineMap,
    Attribute,
    BF16Type,
    Block,
    Context,
    F32Type,
    InsertionPoint,
    IntegerType,
    Location,
    MemRefType,
    Module,
    RankedTensorType,
    Type,
)
from ttmlir.passes import ttir_to_ttnn_backend_pipeline, ttnn_to_flatbuffer_file  # noqa: E402
from ttmlir.passmanager import PassManager  # noqa: E402

CTX = Context()
tt.register_dialect(CTX)


def layout(shape: list[int], grid: list[int], intervals: list[tuple[int, int]] | None = None) -> RankedTensorType:
    element, unknown = F32Type.get(CTX), Location.unknown(CTX)
    plain = RankedTensorType.get(shape, element, None, unknown)
    made = tt.ir.LayoutAttr.get(
        CTX,
        plain,
        tt.MemorySpace.DeviceL1,
        tt.ir.GridAttr.get(CTX, grid),
        intervals or [(0, -1)],
        tt.OOBVal.Undef,
        tt.TensorMemoryLayout.Interleaved,
    )
    return RankedTensorType.get(shape, element, made, unknown)


def test_layout_attribute_prints_its_text() -> None:
    made = layout([2, 3, 64, 128], [2, 4])
    l1 = "#tt.memory_space<l1>"
    linear = "(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3)"
    assert str(made) == (
        f"tensor<2x3x64x128xf32, #tt.layout<{linear}, undef, <2x4>, memref<192x32xf32, {l1}>, interleaved>>"
    )
    tile = tt.ir.TileType.get(CTX, 32, 32, tt.DataType.BFP_BFloat8)
    tiled = tt.ir.LayoutAttr.with_element_type_(CTX, made.encoding, tile)
    assert str(tiled.wrapped()) == (
        f"#tt.layout<{linear}, undef, <2x4>, memref<6x1x!tt.tile<32x32, bfp_bf8>, {l1}>, interleaved>"
    )
    moved = tt.ir.LayoutAttr.with_grid_(CTX, made.encoding, made.shape, tt.ir.GridAttr.get(CTX, [3, 2]))
    assert "<3x2>, memref<128x64xf32" in str(moved.wrapped())


@pytest.mark.parametrize(
    ("shape", "grid", "intervals", "shard"),
    [
        ([2, 3, 64, 128], [1, 1], [(0, -1)], "384x128"),
        ([2, 3, 64, 128], [2, 4], [(0, -1)], "192x32"),
        ([2, 3, 64, 128], [3, 2], [(0, -1)], "128x64"),
        ([8, 300], [1, 2], [(0, -1)], "8x150"),
        ([8, 96, 32], [2, 1], [(0, -1)], "384x32"),
        ([3, 64, 128], [3, 2], [(0, -1)], "64x64"),
        ([53, 63], [3, 2], [(0, -1)], "18x32"),
        ([2, 8, 32], [1, 2], [(0, -1)], "16x16"),
        ([2, 3, 64, 128], [2, 2, 4], [(1, -1)], "1x96x32"),
        ([16, 3, 64, 128], [2, 2, 4], [(1, -1)], "8x96x32"),
        ([256, 1024], [4, 16], [(0, -1)], "64x64"),
        ([64, 256, 1024], [2, 4, 16], [(0, 0)], "32x64x64"),
        ([128], [4], [(0, -1)], "32"),
        ([128], [1, 4], [(0, -1)], "1x32"),
        ([128], [1, 2, 4], [(0, -1)], "1x1x32"),
    ],
)
def test_layout_shards_match_the_document(
    shape: list[int], grid: list[int], intervals: list[tuple[int, int]], shard: str
) -> None:
    assert f"memref<{shard}xf32, #tt.memory_space<l1>>" in str(layout(shape, grid, intervals))


def test_device_attribute_prints_its_maps() -> None:
    d0, d1 = AffineDimExpr.get(0, CTX), AffineDimExpr.get(1, CTX)
    zero = AffineConstantExpr.get(0, CTX)
    memory = AffineMap.get(2, 2, [zero, zero, d0, d1], CTX)
    wide = AffineMap.get(2, 0, [zero, d0 * 8 + AffineFloorDivExpr.get(d1, 8), d1 % 8], CTX)
    device = tt.ir.DeviceAttr.get(CTX, [1, 64], wide, memory, memory, [1], [0])
    assert str(device).startswith(
        "#tt.device<workerGrid = #tt.grid<1x64, (d0, d1) -> (0, d0 * 8 + d1 floordiv 8, d1 mod 8)>, l1Map = "
    )
    assert str(device).endswith("meshShape = 1, chipIds = [0]>")
    default = tt.ir.DeviceAttr.from_system_desc(CTX, tt.ir.SystemDescAttr.get_default(CTX), [1])
    assert "#tt.grid<8x8, (d0, d1) -> (0, d0, d1)>" in str(default)
    assert str(zero + AffineFloorDivExpr.get(d1, 8)) == "d1 floordiv 8"


def test_types_and_attributes_print_their_text() -> None:
    assert str(RankedTensorType.get([2, 3], BF16Type.get())) == "tensor<2x3xbf16>"
    assert RankedTensorType.get([2, 3], BF16Type.get()).encoding is None
    assert str(IntegerType.get_unsigned(32)) == "ui32"
    assert str(Type.parse("!tt.tile<32x32, bf16>")) == "!tt.tile<32x32, bf16>"
    assert Attribute.parse("#tt.grid<8x8>") == tt.ir.GridAttr.get(CTX, [8, 8])
    memory = MemRefType.get([2, 4], tt.ir.TileType.get(CTX, 32, 32, tt.DataType.BFloat16))
    assert str(memory) == "memref<2x4x!tt.tile<32x32, bf16>>"
    assert memory.shape == [2, 4]


TEXT = """#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @f(%a: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = tensor.empty() : tensor<64x128xf32>
  %1 = "ttir.exp"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}
"""  # noqa: E501


def test_module_runs_through_a_pipeline(tmp_path: Path) -> None:
    with Context() as context:
        module = Module.parse(TEXT, context)
        assert '"ttir.exp"' in str(module)
        ttir_to_ttnn_backend_pipeline(module)
        assert '"ttnn.exp"' in str(module)
        ttnn_to_flatbuffer_file(module, str(tmp_path / "exp.ttnn"))
        assert (tmp_path / "exp.ttnn").read_bytes()[8:12] == b"TTNN"
        other = Module.parse(TEXT)
        PassManager.parse("builtin.module(ttir-to-ttnn-backend-pipeline)").run(other)
        assert str(other) == str(module)


def test_kernel_is_built_operation_by_operation() -> None:
    memory = MemRefType.get([2, 4], tt.ir.TileType.get(CTX, 32, 32, tt.DataType.Float32))
    buffer = ttkernel.ir.CBType.get(CTX, 1024, 16, memory)
    assert str(buffer) == "!ttkernel.cb<cb_out0, 1024, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>"
    assert ttkernel.ir.CBType.cast(buffer).shape == [2, 4]
    module = Module.create(Location.unknown())
    with InsertionPoint(module.body), Location.unknown():
        function = func.FuncOp("kernel", ([buffer], []))
        entry = Block.create_at_start(function.body, [buffer])
        with InsertionPoint(entry):
            one = arith.constant(IntegerType.get_unsigned(32), 1)
            loop = scf.ForOp(one, one, one)
            with InsertionPoint(Block.create_at_start(loop.regions[0])):
                ttkernel.cb_wait_front(entry.arguments[0], one)
    text = str(module)
    for part in ('"func.func"', '"arith.constant"', '"scf.for"', '"ttkernel.cb_wait_front"'):
        assert part in text
    with pytest.raises(ArgumentError, match="an operation needs a place"):
        ttkernel.cb_wait_front(entry.arguments[0], one)
    with pytest.raises(MissingNameError, match="the dialect ttkernel has no operation nothing"):
        _ = ttkernel.nothing


def test_device_attribute_of_2026_08_prints_its_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    d0, d1, d2 = (AffineDimExpr.get(position, CTX) for position in range(3))
    zero = AffineConstantExpr.get(0, CTX)
    memory = AffineMap.get(2, 2, [zero, zero, d0, d1], CTX)
    there, back = (
        AffineMap.get(2, 0, [AffineFloorDivExpr.get(d1, 8), d0, d1 % 8], CTX),
        AffineMap.get(3, 0, [d1, d0 * 8 + d2], CTX),
    )
    wide = ttcore.ir.DeviceAttr.get(CTX, [8, 16], there, memory, memory, [1, 2], [0, 1])
    assert str(wide).startswith(
        "#ttcore.device<workerGrid = #ttcore.grid<8x16, (d0, d1) -> (d1 floordiv 8, d0, d1 mod 8)>, l1Map = "
    )
    assert (wide.grid_attr.shape, wide.mesh_shape, wide.chip_ids) == ([8, 16], [1, 2], [0, 1])
    ring = [ttcore.ir.Topology.Linear, ttcore.ir.Topology.Ring]
    later = ttcore.ir.DeviceAttr.get(CTX, [8, 16], there, back, memory, memory, [1, 2], [0, 1], ring)
    assert "8>, l1Map" not in str(later)
    assert "physical_to_virt_map = (d0, d1, d2) -> (d1, d0 * 8 + d2)>, dramGrid = #ttcore.grid<1x1>, l1Map" in str(
        later
    )
    assert str(later).endswith("chipIds = [0, 1], meshTopology = [linear, ring]>")
    assert Attribute.parse(str(later)) == later.unwrap()
    with pytest.raises(ArgumentError, match="got 2 maps among 4 arguments"):
        ttcore.ir.DeviceAttr.get(CTX, [8, 8], there, memory, [1], [0])

    desc = ttcore.ir.SystemDescAttr.get_default(CTX)
    assert "(d0, d1, d2) -> (d1, d2)>, dramGrid = #ttcore.grid<1x12>" in str(
        ttcore.ir.DeviceAttr.from_system_desc(CTX, desc, [1])
    )
    monkeypatch.setenv("TTMLIR_DEFAULT_VERSION", "2025-10")
    assert "<8x8, (d0, d1) -> (0, d0, d1)>, l1Map" in str(ttcore.ir.DeviceAttr.from_system_desc(CTX, desc, [1]))
    monkeypatch.setenv("TTMLIR_DEFAULT_VERSION", "future")
    with pytest.raises(ArgumentError, match="expected 2024-09, 2025-10 or 2026-08, got 'future'"):
        ttcore.ir.DeviceAttr.from_system_desc(CTX, desc, [1])


def test_tile_type_of_2026_08_prints_its_text() -> None:
    tile = ttcore.ir.TileType.get(CTX, 32, 16, 4)
    assert str(tile) == "!ttcore.tile<32x16, bfp_bf8>"
    assert (tile.shape, tile.data_type_as_int) == ([32, 16], 4)
    assert str(ttcore.ir.GridAttr.get(CTX, [4, 2])) == "#ttcore.grid<4x2>"


def test_kernel_argument_attributes_print_their_text() -> None:
    arg, spec = ttkernel.ir.ArgAttr, ttkernel.ir.ArgSpecAttr
    port, address = arg.get(CTX._CAPIPtr, 0, 2), arg.get(CTX._CAPIPtr, 1, 1, False)
    assert str(address) == "#ttkernel.arg<arg_type = buffer_address, operand_index = 1, is_uniform = false>"
    assert (address.arg_type_as_value, address.operand_index, address.is_uniform) == (1, 1, False)
    made = spec.maybe_downcast(spec.get(CTX._CAPIPtr, [address], [port]))
    assert str(made) == (
        "#ttkernel.arg_spec<rt_args = [<arg_type = buffer_address, operand_index = 1, is_uniform = false>] "
        "ct_args = [<arg_type = cb_port, operand_index = 2>]>"
    )
    assert ([one.operand_index for one in made.rt_args], len(made.ct_args)) == ([1], 1)
    assert arg.maybe_downcast(made) is None
    with pytest.raises(ArgumentError, match="expected an argument type from 0 to 6"):
        arg.get(CTX._CAPIPtr, 7, 0)


def test_empty_tensors_that_are_not_outputs_are_kept() -> None:
    text = """%0 = ttir.empty() : tensor<4x8xf32>
%1 = ttir.empty() : tensor<4x8xf32>
"""
    taken = 'ttir.add"(%0, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>'
    assert taken in str(Module.parse(f'{text}%2 = "{taken}\n'))
    outer = '%2 = "ttir.exp"(%0, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>\n'
    assert outer.strip() in str(Module.parse(text + outer))

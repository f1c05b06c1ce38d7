"""Enumerations and their numbers, shapes, tiles."""

from __future__ import annotations

import copy
import hashlib
import pickle

import numpy as np
import pytest
import torch

import ttnn
from ttnn import types
from ttnn.base import enums
from ttnn.base.exceptions import ArgumentError, ShapeError
from ttnn.base.vendor_enum import VendorEnum

# Of "Name: MEMBER=number, ..." lines, sorted, for all 57 enumerations of ttnn 0.81.1.
# Enumerations that the official package has elsewhere, with the operators that take them.
ELSEWHERE = {"MorehSoftmaxBackwardOp", "MorehSoftmaxBackwardOpParallelizationStrategy"}
# Second names of members that later versions of the official package have.
LATER = {"NOC": ("NOC_0", "NOC_1")}
OFFICIAL_NUMBERS = "9fd175f46b53a8772e790483bc4a6f5e8b165dd02d91dc4914443fc5630ce331"


def enumerations() -> dict[str, type[VendorEnum]]:
    found = {name: value for name, value in vars(types).items() if isinstance(value, type)}
    return {name: found[name] for name in sorted(found) if issubclass(found[name], VendorEnum) and name != "VendorEnum"}


def test_all_numbers_are_the_official_ones() -> None:
    lines = (
        f"{name}: "
        + ", ".join(
            f"{member.name}={member.value}"
            for spelled, member in kind.__members__.items()
            if spelled not in LATER.get(name, ())
        )
        for name, kind in enumerations().items()
        if name not in ELSEWHERE
    )
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == OFFICIAL_NUMBERS
    assert len(enumerations()) == 59 + len(ELSEWHERE)


def test_enum_members_have_all_official_spellings() -> None:
    assert str(ttnn.bfloat16) == "DataType.BFLOAT16"
    assert ttnn.bfloat16.cpp_name == "DataType::BFLOAT16"
    assert int(ttnn.MathFidelity.HiFi4) == 4
    assert ttnn.MathFidelity.Invalid.value == 255
    assert [ttnn.Topology.Linear.value, ttnn.Topology.Ring.value] == [1, 2]
    assert not hasattr(ttnn.TensorMemoryLayout, "SINGLE_BANK")


def test_members_survive_copies_and_pickles() -> None:
    assert copy.deepcopy(ttnn.bfloat16) is ttnn.bfloat16
    assert pickle.loads(pickle.dumps(ttnn.TILE_LAYOUT)) is ttnn.TILE_LAYOUT
    assert {ttnn.bfloat16: 1}[ttnn.DataType.BFLOAT16] == 1


def test_module_constants() -> None:
    assert (ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT) == (ttnn.Layout.ROW_MAJOR, ttnn.Layout.TILE)
    assert ttnn.TILE_SIZE == 32
    assert ttnn.DEVICE_STORAGE_TYPE is ttnn.StorageType.DEVICE
    assert ttnn.fp8_e4m3 is ttnn.DataType.FP8_E4M3


def test_every_data_type_has_a_format_and_a_size() -> None:
    real = set(ttnn.DataType) - {ttnn.DataType.INVALID}
    assert set(enums.FORMAT_CODE) == set(enums.ELEMENT_BYTES) == real
    assert len(set(enums.FORMAT_CODE.values())) == len(real)


# Shape.


def test_shape_is_a_sequence_of_sizes() -> None:
    shape = ttnn.Shape([1, 2, 3])
    assert repr(shape) == "Shape([1, 2, 3])"
    assert (len(shape), shape.rank, list(shape)) == (3, 3, [1, 2, 3])
    assert (shape[0], shape[-1]) == (1, 3)
    assert 2 in shape
    assert shape == [1, 2, 3] == shape
    assert shape == (1, 2, 3)
    assert shape != [1, 2]
    assert shape != "123"
    assert hash(shape) == hash(ttnn.Shape((1, 2, 3)))
    assert pickle.loads(pickle.dumps(shape)) == shape
    assert ttnn.Shape(shape) == shape


def test_shape_index_out_of_range_has_the_official_sentence() -> None:
    with pytest.raises(RuntimeError) as caught:
        ttnn.Shape([1, 2, 3])[5]
    assert str(caught.value) == "ShapeBase[] index out of range. 5 not in [-4, 3)"
    with pytest.raises(ShapeError, match=r"-6 not in \[-5, 5\)"):
        ttnn.Shape([1, 2, 3, 4, 5])[-6]
    assert ttnn.Shape([7])[-4] == 1


def test_shape_cannot_be_sliced() -> None:
    with pytest.raises(TypeError) as caught:
        ttnn.Shape([1, 2, 3])[0:2]
    assert str(caught.value) == "Shape[]: slices are not supported; use list(shape)[...]"
    with pytest.raises(ArgumentError, match="the index must be an int, got str"):
        ttnn.Shape([1])["0"]


@pytest.mark.parametrize("bad", [[-1], [1.5], "12", [1 << 33], 5, None])
def test_shape_refuses(bad: object) -> None:
    with pytest.raises(TypeError, match=r"Shape\(\): "):
        ttnn.Shape(bad)


def test_to_rank() -> None:
    assert ttnn.Shape([2, 3]).to_rank(4) == [1, 1, 2, 3]
    assert ttnn.Shape([1, 1, 2]).to_rank(1) == [2]
    with pytest.raises(ShapeError) as caught:
        ttnn.Shape([2, 3]).to_rank(1)
    assert str(caught.value) == "Shape.to_rank: Shape([2, 3]) cannot have rank 1: 1 leading sizes of 1 would have to go"


# Tile.


def test_default_tile() -> None:
    tile = ttnn.Tile([32, 32])
    assert repr(tile) == "Tile with shape: [32, 32]"
    assert (tile.tile_shape, tile.face_shape, tile.num_faces) == ([32, 32], [16, 16], 4)
    assert (tile.narrow_tile, tile.partial_face) == (0, 0)
    assert (tile.transpose_within_face, tile.transpose_of_faces) == (False, False)
    assert tile == ttnn.Tile((32, 32))
    assert tile != ttnn.Tile((16, 32))


@pytest.mark.parametrize(
    ("shape", "face", "faces", "bfloat8_b_bytes"),
    [([16, 32], [16, 16], 2, 544), ([32, 16], [16, 16], 2, 544), ([1, 32], [1, 16], 2, 48), ([8, 16], [8, 16], 1, 144)],
)
def test_tile_accepts_other_sizes(shape: list[int], face: list[int], faces: int, bfloat8_b_bytes: int) -> None:
    tile = ttnn.Tile(shape)
    assert (tile.face_shape, tile.num_faces) == (face, faces)
    assert tile.get_tile_size(ttnn.bfloat8_b) == bfloat8_b_bytes


def test_unknown_tile_has_the_official_sentence() -> None:
    with pytest.raises(RuntimeError) as caught:
        ttnn.Tile([64, 32])
    assert str(caught.value) == (
        "Tile(): 64x32 is not a tile shape of this hardware. Choose one of 32x32, 32x16, 16x32, 16x16, 8x32, 8x16, "
        "4x32, 4x16, 2x32, 2x16, 1x32, 1x16.\ninfo:\nTile size is not valid for our hardware"
    )
    with pytest.raises(ArgumentError, match="tile_shape must be two ints"):
        ttnn.Tile([32])


def test_transposed_tiles_have_whole_faces() -> None:
    with pytest.raises(RuntimeError, match="Tile height must equal 16 or 32 in transpose mode"):
        ttnn.Tile((8, 32), transpose_tile=True)
    assert ttnn.Tile((16, 32), transpose_tile=True).transpose_of_faces


def test_tile_sizes() -> None:
    sizes = {name: ttnn.tile_size(getattr(ttnn, name)) for name in ("bfloat16", "float32", "bfloat8_b", "bfloat4_b")}
    assert sizes == {"bfloat16": 2048, "float32": 4096, "bfloat8_b": 1088, "bfloat4_b": 576}
    assert [ttnn.tile_size(kind) for kind in (ttnn.uint16, ttnn.int32, ttnn.uint8, ttnn.int8)] == [
        2048,
        4096,
        1024,
        1024,
    ]


def test_mesh_numbers_take_the_official_names() -> None:
    assert ttnn.MeshShape(s0=1, s1=2) == ttnn.MeshShape(shape=[1, 2]) == ttnn.MeshShape(1, 2)
    assert ttnn.MeshCoordinate(c0=0, c1=1, c2=2) == ttnn.MeshCoordinate(coords=[0, 1, 2])
    with pytest.raises(ArgumentError, match=r"^MeshShape\(\): expected s0, s1, \.\.\. or shape, got \[1\] and s1$"):
        ttnn.MeshShape(1, s1=2)


def test_default_compute_configurations_of_norms() -> None:
    layer_norm = ttnn.layernorm_default_compute_config(ttnn.Arch.WORMHOLE_B0)
    rms_norm = ttnn.rmsnorm_default_compute_config(ttnn.Arch.BLACKHOLE)
    assert (layer_norm.math_fidelity, rms_norm.math_fidelity) == (ttnn.MathFidelity.HiFi4, ttnn.MathFidelity.HiFi4)
    assert (layer_norm.math_approx_mode, rms_norm.math_approx_mode) == (False, True)
    assert (layer_norm.fp32_dest_acc_en, rms_norm.fp32_dest_acc_en) == (True, False)


def test_pearson_correlation_coefficient() -> None:
    values = torch.tensor([1.0, 2.0, 4.0], dtype=torch.bfloat16)
    assert ttnn.pearson_correlation_coefficient(values, ttnn.from_torch(values)) == 1.0
    assert ttnn.pearson_correlation_coefficient(values, -values) == pytest.approx(-1.0)
    assert ttnn.pearson_correlation_coefficient(values, values[:2]) == 0.0
    for wrong in (values.to(torch.complex64), values.float().to("meta"), values.float().to_sparse(), np.ones(3) * 1j):
        with pytest.raises(ttnn.ArgumentError, match="expected tensors of real numbers"):
            ttnn.pearson_correlation_coefficient(values, wrong)
    nan, inf = float("nan"), float("inf")
    # What is not finite counts as 0 in either tensor.
    assert ttnn.pearson_correlation_coefficient(torch.tensor([1.0, 2.0, nan]), torch.tensor([1.0, 2.0, inf])) == 1.0
    assert ttnn.pearson_correlation_coefficient(torch.tensor([1.0, 2.0, nan]), torch.tensor([1.0, 2.0, 9.0])) < 0.9
    assert ttnn.pearson_correlation_coefficient(torch.tensor([nan, nan]), torch.tensor([nan, nan])) == 1.0
    assert ttnn.pearson_correlation_coefficient(torch.tensor([nan, nan]), torch.tensor([0.0, 0.0])) == 0.0
    with pytest.raises(ArgumentError, match=r"expected tensors of real numbers, got str$"):
        ttnn.pearson_correlation_coefficient(values, "abc")


def test_the_module_types_has_what_the_official_one_has() -> None:
    assert types.BlackholeComputeKernelConfig is types.WormholeComputeKernelConfig is ttnn.WormholeComputeKernelConfig
    classes = {
        "CoreCoord",
        "CoreGrid",
        "CoreRange",
        "CoreRangeSet",
        "Device",
        "MemoryConfig",
        "MeshDevice",
        "NdShardSpec",
    }
    classes |= {"DeviceComputeKernelConfig", "Shape", "ShardSpec", "Tensor", "TensorSpec", "Tile"}
    names = classes | {name for name in vars(types) if name.endswith("_MEMORY_CONFIG")}
    assert len(names) == 19
    assert all(getattr(types, name) is getattr(ttnn, name) for name in names)
    with pytest.raises(AttributeError, match=r"^module 'ttnn.types' has no attribute 'Tenser'$"):
        _ = types.Tenser

"""Values in and out: numpy, torch, DLPack; types; host and device copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import ttnn
from ttnn import _engine
from ttnn.base.enums import FORMAT_CODE
from ttnn.base.exceptions import (
    ArgumentError,
    DTypeError,
    LayoutError,
    MemoryConfigError,
    OutOfMemoryError,
    ShapeError,
    StorageError,
    UnsupportedError,
)
from ttnn.operation import hooks
from ttnn.tensor import host_buffer

NAN, INF = float("nan"), float("inf")


def matrix() -> np.ndarray:
    return np.random.default_rng(5).standard_normal((40, 50)).astype(np.float32)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# Sources.


@pytest.mark.parametrize(
    ("source", "dtype", "result"),
    [
        (np.float32, ttnn.float32, np.float32),
        (np.float64, ttnn.float32, np.float32),
        (np.float16, ttnn.float32, np.float32),
        (ml_dtypes.bfloat16, ttnn.bfloat16, ml_dtypes.bfloat16),
        (np.bool_, ttnn.uint8, np.uint8),
        (np.uint8, ttnn.uint8, np.uint8),
        (np.int8, ttnn.int8, np.int8),
        (np.uint16, ttnn.uint16, np.uint16),
        (np.int16, ttnn.uint16, np.uint16),
        (np.uint32, ttnn.uint32, np.uint32),
        (np.int32, ttnn.int32, np.int32),
        (np.uint64, ttnn.uint32, np.uint32),
        (np.int64, ttnn.uint32, np.uint32),
    ],
)
@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT])
def test_every_numpy_type_has_a_default(source: Any, dtype: ttnn.DataType, result: Any, layout: ttnn.Layout) -> None:
    values = np.array([[0, 1, 2], [3, 4, 5]]).astype(source)
    tensor = ttnn.from_torch(values, layout=layout)
    assert tensor.dtype is dtype
    assert same_bits(tensor.to_numpy(), values.astype(result))


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (torch.float32, ttnn.float32),
        (torch.bfloat16, ttnn.bfloat16),
        (torch.float64, ttnn.float32),
        (torch.float16, ttnn.float32),
        (torch.uint8, ttnn.uint8),
        (torch.int8, ttnn.int8),
        (torch.int16, ttnn.uint16),
        (torch.int32, ttnn.int32),
        (torch.int64, ttnn.uint32),
        (torch.bool, ttnn.uint8),
    ],
)
def test_every_torch_type_has_a_default(kind: torch.dtype, dtype: ttnn.DataType) -> None:
    values = torch.tensor([[0, 1, 2], [3, 4, 5]]).to(kind)
    tensor = ttnn.from_torch(values)
    assert tensor.dtype is dtype
    assert ttnn.to_torch(tensor).to(torch.float64).equal(values.to(torch.float64))


def test_torch_types_come_back() -> None:
    kinds = {
        ttnn.bfloat16: torch.bfloat16,
        ttnn.float32: torch.float32,
        ttnn.bfloat8_b: torch.float32,
        ttnn.bfloat4_b: torch.float32,
        ttnn.uint8: torch.uint8,
        ttnn.int8: torch.int8,
        ttnn.int32: torch.int32,
    }
    for dtype, kind in kinds.items():
        assert ttnn.to_torch(ttnn.from_torch(torch.ones(2, 3), dtype=dtype)).dtype is kind
    assert ttnn.to_torch(ttnn.from_torch(torch.ones(2, 3), dtype=ttnn.bfloat16), torch.float64).dtype is torch.float64


def test_none_is_none() -> None:
    assert ttnn.from_torch(None) is None


def test_arrays_that_are_not_contiguous_or_read_only() -> None:
    base = matrix()
    read_only = base.copy()
    read_only.flags.writeable = False
    swapped = base.astype(base.dtype.newbyteorder(">"))
    for view in (base.T, base[::2, ::-3], base[:, 10:20], np.broadcast_to(base[0], (7, 50)), read_only, swapped):
        for dtype in (ttnn.float32, ttnn.bfloat16, ttnn.bfloat8_b):
            expected = ttnn.from_torch(np.ascontiguousarray(view, dtype=np.float32), dtype=dtype)
            assert np.array_equal(ttnn.from_torch(view, dtype=dtype)._host, expected._host)
    transposed = torch.from_numpy(base).t()
    assert np.array_equal(ttnn.from_torch(transposed).to_numpy(), base.T)


def test_tensors_do_not_follow_their_source() -> None:
    values = matrix()
    expected = values.copy()
    tensor, words = ttnn.from_torch(values), ttnn.from_torch(torch.from_numpy(values))
    values[:] = 0
    assert np.array_equal(tensor.to_numpy(), expected)
    assert np.array_equal(words.to_numpy(), expected)
    tensor.to_numpy()[:] = 0
    assert np.array_equal(tensor.to_numpy(), expected)


def test_torch_tensors_that_need_a_gradient_or_are_views() -> None:
    values = torch.randn(4, 4, requires_grad=True)
    assert np.array_equal(ttnn.from_torch(values).to_numpy(), values.detach().numpy())
    conjugated = torch.randn(4, 4, dtype=torch.complex64).conj().imag
    assert np.array_equal(ttnn.from_torch(conjugated).to_numpy(), conjugated.resolve_neg().numpy())


@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        (np.zeros(2, np.complex64), DTypeError, "ttnn.from_torch: elements of complex64 have no ttnn data type"),
        (np.array(["a"]), DTypeError, "ttnn.from_torch: elements of <U1 have no ttnn data type"),
        (np.array([None]), DTypeError, "ttnn.from_torch: elements of object have no ttnn data type"),
        (
            torch.zeros(2, dtype=torch.complex64),
            DTypeError,
            "ttnn.from_torch: only dense real tensors are supported, got torch.strided, torch.complex64",
        ),
        (
            [1.0],
            ArgumentError,
            "ttnn.from_torch: expected a numpy array, a torch tensor or a DLPack object, got builtins.list",
        ),
    ],
)
def test_sources_that_are_refused(source: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        ttnn.from_torch(source)
    assert str(caught.value) == text
    assert isinstance(caught.value, TypeError)


def test_float64_is_rounded_once_to_float32() -> None:
    values = np.array([[1 + 2.0**-24 + 2.0**-40, 1e300, -1e300, NAN, 2.0**-140]])
    assert same_bits(
        ttnn.from_torch(values, dtype=ttnn.float32).to_numpy(),
        np.array([[np.float32(values[0, 0]), INF, -INF, NAN, 2.0**-140]], np.float32),
    )


def test_64_bit_integers() -> None:
    values = np.array([-1, 70000, 1 << 40, -(1 << 31), 255])
    assert ttnn.from_torch(values, dtype=ttnn.int32).to_list() == [-1, 70000, 0, -(1 << 31), 255]
    assert ttnn.from_torch(values, dtype=ttnn.uint32).to_list() == [(1 << 32) - 1, 70000, 0, 1 << 31, 255]
    assert ttnn.from_torch(values, dtype=ttnn.uint16).to_list() == [0, 65535, 65535, 0, 255]
    assert ttnn.from_torch(values, dtype=ttnn.int8).to_list() == [-1, 127, 127, -128, 127]
    assert ttnn.from_torch(values, dtype=ttnn.bfloat16).to_list() == [-1.0, 70144.0, 2.0**40, -(2.0**31), 255.0]


def test_nan_and_infinity() -> None:
    values = np.array([[NAN, INF, -INF, 0.0, -0.0, 1e-40, 3e38]], np.float32)
    assert same_bits(ttnn.from_torch(values).to_numpy(), values)
    words = ttnn.from_torch(values, dtype=ttnn.bfloat16).to_numpy().view(np.uint16)[0].tolist()
    assert words == [0x7FC0, 0x7F80, 0xFF80, 0x0000, 0x8000, 0x0001, 0x7F62]


def test_numbers_of_rank_0_and_of_nothing(device: ttnn.MeshDevice) -> None:
    for shape in ((), (0,), (0, 4), (3, 0, 5), (1, 1, 0)):
        for layout in (ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT):
            values = np.full(shape, 2.5, np.float32)
            tensor = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=layout, device=device)
            assert tensor.shape == shape
            back = ttnn.to_torch(tensor)
            assert tuple(back.shape) == shape
            assert np.array_equal(back.float().numpy(), values)
            assert same_bits(tensor.cpu().to_numpy(), values.astype(ml_dtypes.bfloat16))


# Options.


def test_padding_value_tile_and_column_tiles() -> None:
    values = matrix()
    padded = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, pad_value=1.5).to_torch_with_padded_shape().numpy()
    assert (padded[40:] == 1.5).all()
    assert (padded[:, 50:] == 1.5).all()
    assert np.array_equal(padded[:40, :50], values)
    small = ttnn.from_torch(values, tile=ttnn.Tile([8, 16]), layout=ttnn.TILE_LAYOUT)
    assert (small.padded_shape, small.tile) == ([40, 64], ttnn.Tile([8, 16]))
    assert np.array_equal(small.to_numpy(), values)
    turned = ttnn.from_torch(values, dtype=ttnn.bfloat8_b, col_tilize=True)
    assert np.array_equal(turned._host, ttnn.from_torch(values.T, dtype=ttnn.bfloat8_b)._host)


def test_spec_says_everything(device: ttnn.MeshDevice) -> None:
    spec = ttnn.TensorSpec(
        ttnn.Shape([40, 50]), ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.BufferType.L1, ttnn.Tile([16, 32])
    )
    tensor = ttnn.from_torch(matrix(), spec=spec, device=device)
    assert tensor.spec == spec
    assert ttnn.from_torch(matrix(), spec=spec).memory_config() == ttnn.L1_MEMORY_CONFIG


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"dtype": ttnn.bfloat16}, MemoryConfigError, "ttnn.from_torch: dtype must be None when spec is specified"),
        ({"layout": ttnn.TILE_LAYOUT}, RuntimeError, "ttnn.from_torch: layout must be None when spec is specified"),
        (
            {"memory_config": ttnn.DRAM_MEMORY_CONFIG},
            RuntimeError,
            "ttnn.from_torch: memory_config must be None when spec is specified",
        ),
        ({"tile": ttnn.Tile([32, 32])}, RuntimeError, "ttnn.from_torch: tile must be None when spec is specified"),
        ({"col_tilize": True}, RuntimeError, "ttnn.from_torch: col_tilize=True is not supported with spec"),
    ],
)
def test_spec_excludes_the_rest(options: dict[str, Any], error: type[Exception], sentence: str) -> None:
    spec = ttnn.TensorSpec(ttnn.Shape([40, 50]), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    with pytest.raises(error) as caught:
        ttnn.from_torch(matrix(), spec=spec, **options)
    assert str(caught.value).split("\ninfo:\n")[1] == sentence


def test_spec_of_another_shape() -> None:
    spec = ttnn.TensorSpec(ttnn.Shape([2, 2]), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    with pytest.raises(ShapeError) as caught:
        ttnn.from_torch(matrix(), spec=spec)
    assert str(caught.value) == (
        "ttnn.from_torch: spec is for Shape([2, 2]), the values have (40, 50)\ninfo:\n"
        "ttnn.from_torch: spec shape Shape([2, 2]) must be the same as tensor shape (40, 50)"
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "col_tilize=True requires BFP dtype (bfloat8_b or bfloat4_b)"),
        ({"dtype": ttnn.bfloat16}, "col_tilize=True requires BFP dtype (bfloat8_b or bfloat4_b)"),
        (
            {"dtype": ttnn.bfloat8_b, "layout": ttnn.ROW_MAJOR_LAYOUT},
            "col_tilize=True requires layout to be None or ttnn.TILE_LAYOUT",
        ),
    ],
)
def test_column_tiles_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        ttnn.from_torch(matrix(), col_tilize=True, **options)
    assert str(caught.value).endswith(sentence)
    with pytest.raises(RuntimeError, match=r"col_tilize=True requires tensor\.ndim >= 2"):
        ttnn.from_torch(matrix()[0], dtype=ttnn.bfloat8_b, col_tilize=True)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"enable_bfloat_opt": True}, UnsupportedError, "enable_bfloat_opt=True converts on the device"),
        ({"mesh_mapper": object()}, UnsupportedError, "mesh_mapper object is not modelled"),
        ({"dtype": "bfloat16"}, ArgumentError, "dtype must be a ttnn.DataType, got 'bfloat16'"),
        ({"cq_id": 7}, ArgumentError, "command queues 0 and 1, got 7"),
        ({"dtype": ttnn.bfloat4_b, "layout": ttnn.ROW_MAJOR_LAYOUT}, LayoutError, "Layout must be Layout::TILE"),
        ({"dtype": ttnn.fp8_e4m3, "layout": ttnn.TILE_LAYOUT}, LayoutError, "FP8_E4M3 has no TILE layout"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        ttnn.from_torch(matrix(), **options)
    assert text in str(caught.value)


def test_fp8_wants_float32() -> None:
    tensor = ttnn.from_torch(np.array([[1.0, -0.5, 240.0]], np.float32), dtype=ttnn.fp8_e4m3)
    assert tensor.layout is ttnn.ROW_MAJOR_LAYOUT
    assert tensor.to_list() == [[1.0, -0.5, 240.0]]
    assert tensor.to_numpy().dtype == ml_dtypes.float8_e4m3fn
    with pytest.raises(DTypeError, match=r"only float32 input is supported\."):
        ttnn.from_torch(torch.zeros(2, dtype=torch.bfloat16), dtype=ttnn.fp8_e4m3)


def test_numpy_reads_fp8_as_the_host_rule_does() -> None:
    """Codes end at 448; no conversion writes a subnormal."""
    words = np.arange(0, 2**32, 65521, np.uint32).view(np.float32)
    tensor = ttnn.Tensor(np.concatenate([words, np.linspace(-480, 480, 9601, dtype=np.float32)]), ttnn.fp8_e4m3)
    seen = tensor.to_numpy()
    assert seen.dtype == ml_dtypes.float8_e4m3fn
    np.testing.assert_array_equal(seen.astype(np.float32), ttnn.to_dtype(tensor, ttnn.float32).to_numpy())
    assert set(seen.view(np.uint8) & 0x7F) == {0, *range(0x08, 0x80)}


def test_fp8_saturates_and_flushes() -> None:
    values = np.array([448.0, 464.0, -1e9, np.inf, -np.inf, np.nan, 0.0156, -0.0156, 17.0, 19.0], np.float32)
    codes = ttnn.from_torch(values, dtype=ttnn.fp8_e4m3).to_numpy().view(np.uint8)
    assert codes.tolist() == [0x7E, 0x7E, 0xFE, 0x7E, 0xFE, 0x7F, 0x00, 0x80, 0x58, 0x5A]


def test_fp8_is_on_blackhole_only() -> None:
    tensor = ttnn.from_torch(np.array([[1.0, -240.0]], np.float32), dtype=ttnn.fp8_e4m3)
    with ttnn.manage_device(device_id=0, chip="p150") as device:
        moved = ttnn.to_device(tensor, device)
        assert ttnn.from_device(moved).to_list() == [[1.0, -240.0]]
        assert ttnn.pad(moved, ((0, 1), (0, 0)), 300.0).to_list() == [[1.0, -240.0], [288.0, 288.0]]
        assert ttnn.full([1, 2], -3.1, optional_tensor=moved).to_list() == [[-3.0, -3.0]]
        assert ttnn.zeros([1, 2], ttnn.fp8_e4m3, ttnn.ROW_MAJOR_LAYOUT, device).to_list() == [[0.0, 0.0]]
        with pytest.raises(UnsupportedError, match="FP8_E4M3 to FP8_E4M3 is not implemented"):
            ttnn.exp(moved)
    with ttnn.manage_device(device_id=0, chip="n150") as device:
        for make in (
            lambda: ttnn.to_device(tensor, device),
            lambda: ttnn.empty([1, 2], ttnn.fp8_e4m3, ttnn.ROW_MAJOR_LAYOUT, device),
        ):
            with pytest.raises(DTypeError) as caught:
                make()
            assert str(caught.value).endswith("FP8_E4M3 is not supported on arch wormhole_b0")


# Out.


def test_torch_rank_drops_leading_ones() -> None:
    tensor = ttnn.from_torch(matrix().reshape(1, 1, 40, 50))
    assert ttnn.to_torch(tensor, torch_rank=2).shape == (40, 50)
    assert ttnn.to_torch(tensor, torch_rank=3).shape == (1, 40, 50)
    with pytest.raises(ShapeError) as caught:
        ttnn.to_torch(tensor, torch_rank=1)
    assert str(caught.value) == (
        "ttnn.to_torch: Shape([1, 1, 40, 50]) cannot have rank 1, a leading dimension is not 1\ninfo:\n"
        "ttnn: Unable to squeeze to desired rank!"
    )


def test_tensors_are_exchanged_by_dlpack() -> None:
    tensor = ttnn.from_torch(matrix())
    assert tensor.__dlpack_device__() == (1, 0)
    assert np.array_equal(np.from_dlpack(tensor), matrix())
    assert torch.from_dlpack(ttnn.from_torch(matrix(), dtype=ttnn.bfloat16)).dtype is torch.bfloat16

    class Exporter:
        def __dlpack__(self, **options: Any) -> Any:
            return matrix().__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    assert np.array_equal(ttnn.Tensor(Exporter()).to_numpy(), matrix())


def test_dlpack_of_a_device_tensor_is_refused(device: ttnn.MeshDevice) -> None:
    there = ttnn.from_torch(matrix(), device=device)
    with pytest.raises(StorageError) as caught:
        np.from_dlpack(there)
    assert str(caught.value) == (
        "Tensor.__dlpack__: the tensor of Shape([40, 50]) is on a device; read it with ttnn.from_device first\n"
        "info:\nExpected Tensor with HostStorage, got StorageType::DEVICE"
    )


def test_to_dtype_follows_the_rules_of_the_host(device: ttnn.MeshDevice) -> None:
    tensor = ttnn.from_torch(matrix(), layout=ttnn.TILE_LAYOUT)
    for dtype in (ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b, ttnn.int32, ttnn.uint8):
        direct = ttnn.from_torch(matrix(), dtype=dtype, layout=ttnn.TILE_LAYOUT)
        assert np.array_equal(ttnn.to_dtype(tensor, dtype)._host, direct._host)
    assert ttnn.to_dtype(tensor, ttnn.float32) is tensor
    with pytest.raises(StorageError, match="Expected Tensor with HostStorage, got StorageType::DEVICE"):
        ttnn.to_dtype(tensor.to(device), ttnn.bfloat16)
    with pytest.raises(DTypeError, match="FP8_E4M3 cross-type conversion is only supported to/from FLOAT32"):
        ttnn.to_dtype(ttnn.from_torch(matrix(), dtype=ttnn.bfloat16), ttnn.fp8_e4m3)


# Preallocated tensors.


def test_copies_into_preallocated_tensors(device: ttnn.MeshDevice) -> None:
    host = ttnn.from_torch(matrix(), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    there = ttnn.allocate_tensor_on_device(
        host.shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device, memory_config=ttnn.L1_MEMORY_CONFIG
    )
    address = there.buffer_address()
    assert ttnn.copy_host_to_device_tensor(host, there) is None
    assert there.buffer_address() == address
    back = ttnn.allocate_tensor_on_host(tensor_spec=host.spec, mesh_device=device)
    assert not back._host.any()
    assert ttnn.copy_device_to_host_tensor(there, back) is None
    assert np.array_equal(back._host, host._host)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (ttnn.TensorSpec.of([40, 51], ttnn.bfloat16, ttnn.TILE_LAYOUT), "shape"),
        (ttnn.TensorSpec.of([40, 50], ttnn.float32, ttnn.TILE_LAYOUT), "dtype"),
        (ttnn.TensorSpec.of([40, 50], ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT), "page config"),
    ],
)
def test_copies_between_different_tensors(device: ttnn.MeshDevice, other: ttnn.TensorSpec, what: str) -> None:
    host = ttnn.from_torch(matrix(), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    there = ttnn.allocate_tensor_on_device(other, device)
    with pytest.raises(ShapeError, match=f"Host tensor has different {what}$"):
        ttnn.copy_host_to_device_tensor(host, there)
    with pytest.raises(ShapeError, match=f"Host tensor has different {what}$"):
        ttnn.copy_device_to_host_tensor(there, host)
    with pytest.raises(StorageError, match="device_tensor is a host tensor"):
        ttnn.copy_host_to_device_tensor(host, host)
    with pytest.raises(ArgumentError, match=r"host_tensor must be a ttnn\.Tensor, got int"):
        ttnn.copy_host_to_device_tensor(3, there)


def test_partial_copies_write_the_named_cores_only(device: ttnn.MeshDevice) -> None:
    config = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
    zeros = ttnn.from_torch(np.zeros((64, 64), np.float32), layout=ttnn.TILE_LAYOUT)
    ones = ttnn.from_torch(np.ones((64, 64), np.float32), layout=ttnn.TILE_LAYOUT)
    there = zeros.to(device, config)
    core = ttnn.CoreRangeSet([ttnn.CoreRange((1, 0), (1, 0))])
    ttnn.copy_host_to_device_tensor_partial(ones, there, core)
    expected = np.zeros((64, 64))
    expected[:32, 32:] = 1
    assert np.array_equal(there.to_numpy(), expected)
    ttnn.copy_host_to_device_tensor_partial(ones, there, ttnn.CoreRangeSet([]))
    assert np.array_equal(there.to_numpy(), expected)
    with pytest.raises(MemoryConfigError, match="device_tensor is not sharded"):
        ttnn.copy_host_to_device_tensor_partial(ones, zeros.to(device), core)


def test_reallocate_closes_gaps(device: ttnn.MeshDevice) -> None:
    first, second = (ttnn.from_torch(matrix(), dtype=ttnn.bfloat16, device=device) for _ in range(2))
    lowest, expected = first.buffer_address(), second.to_numpy()
    ttnn.deallocate(first)
    moved = ttnn.reallocate(second)
    assert moved.buffer_address() == lowest
    assert not second.is_allocated()
    assert np.array_equal(moved.to_numpy(), expected)
    assert ttnn.reallocate(moved, ttnn.L1_MEMORY_CONFIG).memory_config() == ttnn.L1_MEMORY_CONFIG


def test_reallocate_without_room_keeps_the_values(device: ttnn.MeshDevice) -> None:
    values = np.ones((4096, 8192), np.float32)
    tensor = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.raises(RuntimeError, match="Out of Memory"):
        ttnn.reallocate(tensor, ttnn.L1_MEMORY_CONFIG)
    assert np.array_equal(tensor.to_numpy(), values)


def test_functions_are_registered_operators() -> None:
    for name in ("from_torch", "to_torch", "to_device", "from_device", "deallocate", "dump_tensor"):
        assert getattr(ttnn, name).__name__ == f"ttnn.{name}"
    assert ttnn.to_device in hooks.query_registered_operations()


def test_values_of_no_use_get_our_errors(device: ttnn.MeshDevice) -> None:
    tensor = ttnn.from_torch(matrix(), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    refusals: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: ttnn.to_torch(tensor, 3), DTypeError, "ttnn.to_torch: dtype must be a torch.dtype, got 3"),
        (
            lambda: ttnn.to_dtype(tensor, []),
            ArgumentError,
            "TensorSpec(): dtype must be a ttnn.DataType, got []",
        ),
        (
            lambda: ttnn.to_device(tensor, device, memory_config=[0]),
            ArgumentError,
            "TensorSpec(): memory_config must be a ttnn.MemoryConfig, got [0]",
        ),
        (
            lambda: ttnn.to_torch(tensor, cq_id=float("inf")),
            ArgumentError,
            "ttnn.to_torch: the command queue must be an integer, got float.",
        ),
        (
            lambda: ttnn.deallocate(tensor, np.ones(3)),
            ArgumentError,
            "Tensor.deallocate: force must be True or False, got array([1., 1., 1.])",
        ),
    ]
    for call, error, text in refusals:
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == text


def test_round_without_decimals(device: ttnn.MeshDevice) -> None:
    tensor = ttnn.from_torch(torch.tensor([[1.5, -2.5]]), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn.round(tensor, decimals=None).to_list() == [[2.0, -2.0]]


# Calls that fit no signature, and sources without values.


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (lambda: ttnn.to_device(3), "to_device(int)"),
        (lambda: ttnn.to_torch(), "to_torch()"),
        (lambda: ttnn.from_torch(torch.ones(2), foo=3), "from_torch(torch.Tensor, foo=int)"),
        (lambda: ttnn.dump_tensor("x.tensorbin"), "dump_tensor(str)"),
        (lambda: ttnn.open_device(0), "open_device(int)"),
        (lambda: ttnn.Tensor(), "Tensor()"),
        (lambda: ttnn.Tensor([1, 2], [2]), "Tensor(list, list)"),
    ],
)
def test_a_call_that_fits_no_signature_shows_them(call: Callable[[], object], given: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    name = given.split("(")[0]
    begin = f"\nttnn.{name}(): incompatible function arguments.\n\nCalled with:\n  {given}\n\nAvailable signatures:\n"
    assert str(caught.value).startswith(f"{begin}  {name}(")


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("spec", 3, "ttnn.from_torch: spec must be a ttnn.TensorSpec, got int"),
        ("memory_config", 3, "ttnn.from_torch: memory_config must be a ttnn.MemoryConfig, got int"),
        ("pad_value", "a", "ttnn.from_torch: pad_value must be a number, got 'a'"),
    ],
)
def test_arguments_of_from_torch_are_checked(argument: str, value: object, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        ttnn.from_torch(torch.ones(2), **{argument: value})
    assert str(caught.value) == message


def test_the_rank_of_to_torch_is_an_int() -> None:
    with pytest.raises(ArgumentError, match=r"^ttnn.to_torch: torch_rank must be an int or None, got 'a'$"):
        ttnn.to_torch(ttnn.from_torch(torch.ones(2)), torch_rank="a")


def test_arrays_without_all_their_values_are_refused() -> None:
    with pytest.raises(DTypeError, match=r"^ttnn.from_torch: a tensor on the meta device has a shape but no values$"):
        ttnn.from_torch(torch.ones(2, device="meta"))
    with pytest.raises(DTypeError, match=r"^ttnn.Tensor\(\): a tensor has no mask; pass array.filled"):
        ttnn.Tensor(np.ma.array([1.0, 2.0], mask=[0, 1]))


def test_bfloat16_comes_in_through_dlpack() -> None:
    class Exporter:
        def __init__(self, values: torch.Tensor) -> None:
            self.values = values

        def __dlpack__(self, **options: Any) -> Any:
            return self.values.__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return self.values.__dlpack_device__()

    values = torch.arange(6).reshape(2, 3).to(torch.bfloat16)
    tensor = ttnn.Tensor(Exporter(values))
    assert tensor.dtype is ttnn.bfloat16
    assert torch.equal(tensor.to_torch(), values)


@pytest.mark.parametrize("by_name", [False, True])
def test_a_list_takes_the_arguments_of_all_three_forms(device: ttnn.MeshDevice, by_name: bool) -> None:
    tile = ttnn.Tile([16, 16])

    def made(*names: str) -> ttnn.Tensor:
        values = {"device": device, "memory_config": ttnn.L1_MEMORY_CONFIG, "tile": tile, "pad_value": 5}
        rest = {name: values[name] for name in names}
        begin = ([1.0], [1, 1], ttnn.float32, ttnn.TILE_LAYOUT)
        return ttnn.Tensor(*begin, **rest) if by_name else ttnn.Tensor(*begin, *rest.values())

    for names in (("tile", "pad_value"), ("device", "tile", "pad_value"), ("device", "memory_config", "tile")):
        tensor = made(*names)
        assert tensor.tile == tile
        assert (tensor.device() is device) == ("device" in names)
        assert tensor.memory_config().buffer_type.name == ("L1" if "memory_config" in names else "DRAM")
        assert tensor.to_torch_with_padded_shape()[0, 1] == (5 if "pad_value" in names else 0)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b])
def test_weights_quantized_by_the_host_are_those_of_from_torch(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(1).normal(size=(64, 96)).astype(np.float32)
    on_device = ttnn.from_torch(values, ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    found = ttnn.experimental.quantize_weights_via_host(on_device, dtype=dtype, memory_config=ttnn.L1_MEMORY_CONFIG)
    expected = ttnn.from_torch(values, dtype, layout=ttnn.TILE_LAYOUT, device=device)
    assert (found.dtype, found.memory_config()) == (dtype, ttnn.L1_MEMORY_CONFIG)
    np.testing.assert_array_equal(ttnn.to_numpy(found), ttnn.to_numpy(expected))
    stays = ttnn.experimental.quantize_weights_via_host(found, dtype=dtype, memory_config=None)
    assert stays.memory_config() == ttnn.L1_MEMORY_CONFIG


def test_weights_on_the_host_are_not_quantized() -> None:
    with pytest.raises(ttnn.StorageError, match="quantize_weights_via_host"):
        ttnn.experimental.quantize_weights_via_host(
            ttnn.from_torch(np.ones((32, 32), np.float32)), dtype=ttnn.bfloat8_b, memory_config=None
        )


# Memory of the host.


def test_tiles_of_single_values_are_refused_where_the_host_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_buffer, "_available_bytes", lambda: 1 << 30)
    values = np.zeros((1 << 20, 1, 1), np.uint8)
    with pytest.raises(OutOfMemoryError, match=f"takes {(1 << 20) * 2048} bytes, and {1 << 30} are available"):
        ttnn.Tensor(values, ttnn.bfloat16, None, ttnn.TILE_LAYOUT)
    assert ttnn.Tensor(values, ttnn.bfloat16).shape == (1 << 20, 1, 1)


def test_the_engine_says_what_the_host_has_no_room_for() -> None:
    values, code, tile = np.zeros(1, np.float32), FORMAT_CODE[ttnn.float32], (32, 32)
    with pytest.raises(OutOfMemoryError, match=f"the host cannot allocate {1 << 52} bytes"):
        _engine.host_pack(values, code, code, (1 << 40, 1, 1), tile)
    with pytest.raises(OutOfMemoryError, match=f"the host cannot allocate {1 << 52} bytes"):
        _engine.host_unpack(values.view(np.uint8), code, (1 << 50, 1, 1), tile)

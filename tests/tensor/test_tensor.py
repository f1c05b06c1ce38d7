"""Tensors: properties, transfers and errors."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable

import numpy as np
import pytest
import torch

import ttnn
from ttnn.base.exceptions import (
    ArgumentError,
    DeviceError,
    LayoutError,
    MemoryConfigError,
    OutOfMemoryError,
    ParameterError,
    ShapeError,
    StorageError,
    UnsupportedError,
)
from ttnn.tensor import dunders, host_buffer

ROWS, COLUMNS = ttnn.ShardOrientation.ROW_MAJOR, ttnn.ShardOrientation.COL_MAJOR


def counting(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def with_padding(tensor: ttnn.Tensor) -> np.ndarray:
    return host_buffer.unpack_padded(tensor._require_host("test"), tensor.spec)


@pytest.fixture
def host() -> ttnn.Tensor:
    return ttnn.from_torch(counting(3, 5), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)


def test_what_a_host_tensor_says(host: ttnn.Tensor) -> None:
    assert (host.shape, host.padded_shape) == ([3, 5], [32, 32])
    assert (host.dtype, host.layout, host.tile) == (ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.Tile([32, 32]))
    assert (host.get_dtype(), host.get_layout(), host.get_tile()) == (host.dtype, host.layout, host.tile)
    assert (host.volume(), host.logical_volume(), host.element_size()) == (1024, 15, 2)
    assert host.memory_config() == ttnn.DRAM_MEMORY_CONFIG
    assert host.storage_type() is ttnn.StorageType.HOST
    assert (host.device(), host.devices(), host.is_allocated(), host.is_sharded()) == (None, [], True, False)
    assert not ttnn.is_tensor_storage_on_device(host)
    assert ttnn.has_tile_padding(host)
    assert ttnn.get_memory_config(host) is None
    assert host.tensor_id == host.tensor_id != ttnn.Tensor(host).tensor_id
    assert len(host.device_coords()) == 1


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.int32], ids=lambda d: d.name)
def test_numpy_takes_the_values(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    """An array of values, not one object, without shared memory."""
    values = np.arange(15, dtype=np.int32 if dtype is ttnn.int32 else np.float32).reshape(3, 5)
    host = ttnn.Tensor(values, dtype, layout=ttnn.TILE_LAYOUT)
    for tensor in (host, host.to(device)):
        array = np.asarray(tensor)
        assert (array.dtype, array.shape) == (tensor.to_numpy().dtype, (3, 5))
        assert np.array_equal(np.asarray(tensor, np.float64), values)
        assert np.array_equal(np.stack([tensor, tensor])[1], values)
        np.testing.assert_array_equal(tensor, values)
        array[:] = 0
        assert np.array_equal(tensor.to_numpy(), values)
        with pytest.raises(ParameterError, match="copy=False"):
            tensor.__array__(copy=False)


def test_what_a_device_tensor_says(host: ttnn.Tensor, device: ttnn.MeshDevice) -> None:
    found = host.to(device, ttnn.L1_MEMORY_CONFIG)
    assert (found.shape, found.padded_shape, found.dtype) == (host.shape, host.padded_shape, host.dtype)
    assert found.storage_type() is ttnn.StorageType.DEVICE
    assert found.memory_config() == ttnn.L1_MEMORY_CONFIG == ttnn.get_memory_config(found)
    assert (found.device(), found.devices()) == (device, [device])
    assert (found.buffer_page_size(), found.buffer_aligned_page_size(), found.buffer_num_pages()) == (2048, 2048, 1)
    assert found.buffer_unique_id() != host.to(device).buffer_unique_id()
    assert np.array_equal(found.cpu().to_numpy(), host.to_numpy())
    assert found.to(device) is found


def test_python_has_no_more_signs_than_the_official_package(host: ttnn.Tensor) -> None:
    with pytest.raises(TypeError):
        operator.pow(host, 2)
    with pytest.raises(TypeError):
        operator.neg(host)
    with pytest.raises(TypeError):
        len(host)
    with pytest.raises(TypeError):
        host + "1"
    assert bool(host) is True
    assert {host: 1}[host] == 1


@pytest.mark.parametrize("other", [torch.ones(2, 3), np.ones((2, 3), np.float32), torch.tensor(2.0)], ids=repr)
@pytest.mark.parametrize(
    "sign", [operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul, operator.eq, operator.lt]
)
def test_signs_ask_for_tensors_of_this_package(
    host: ttnn.Tensor, sign: Callable[[object, object], object], other: object
) -> None:
    with pytest.raises(ttnn.ArgumentError, match=r"convert it with ttnn\.from_torch"):
        sign(host, other)
    if sign is not operator.matmul:
        with pytest.raises(ttnn.ArgumentError, match=r"convert it with ttnn\.from_torch"):
            sign(other, host)


def test_signs_call_operators(device: ttnn.MeshDevice) -> None:
    a = ttnn.from_torch(counting(32, 32) % 7, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    values = counting(32, 32) % 7
    for found, expected in ((a + a, values + values), (a * 2, values * 2), (3 + a, values + 3), (a - 1.0, values - 1)):
        assert np.array_equal(found.to_numpy().astype(np.float32), expected)
    assert np.array_equal((np.float32(2) * a).to_numpy().astype(np.float32), values * 2)
    assert (a @ a).shape == [32, 32]


def test_operators_that_are_not_built_say_so(host: ttnn.Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(dunders.OPERATORS, "ttnn.lt")
    with pytest.raises(UnsupportedError) as caught:
        operator.lt(host, 1)
    assert str(caught.value) == "ttnn.lt: this operator is not implemented"


# Constructors.


def test_copies_share_memory(host: ttnn.Tensor, device: ttnn.MeshDevice) -> None:
    assert ttnn.Tensor(host)._host is host._host
    assert copy.copy(host)._host is host._host
    deep = copy.deepcopy(host)
    assert deep._host is not host._host
    assert np.array_equal(deep._host, host._host)
    again = pickle.loads(pickle.dumps(host))
    assert again.spec == host.spec
    assert np.array_equal(again._host, host._host)
    there = host.to(device)
    shared = ttnn.Tensor(there)
    there.deallocate()
    assert shared.is_allocated(), "a tensor that others use is not released without force"
    there.deallocate(force=True)
    assert not shared.is_allocated()


def test_a_copy_that_is_gone_does_not_hold_memory(host: ttnn.Tensor, device: ttnn.MeshDevice) -> None:
    there = host.to(device)
    shared = ttnn.Tensor(there)
    del shared
    there.deallocate()
    assert not there.is_allocated()


def test_lists(device: ttnn.MeshDevice) -> None:
    found = ttnn.Tensor([1, 2, 3, 4.5], [2, 2], ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG)
    assert found.to_list() == [[1.0, 2.0], [3.0, 4.5]]
    assert found.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert ttnn.Tensor([-1, 7], [2], ttnn.int32, ttnn.ROW_MAJOR_LAYOUT).to_list() == [-1, 7]
    padded = ttnn.Tensor([1.0], [1, 1], ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.Tile([16, 32]), 5.0)
    assert (padded.padded_shape, padded.tile) == ([16, 32], ttnn.Tile([16, 32]))
    assert float(padded.to_torch_with_padded_shape()[0, 1]) == 5.0
    with pytest.raises(RuntimeError, match="Current buffer size is 3 different from shape volume 4"):
        ttnn.Tensor([1, 2, 3], [2, 2], ttnn.bfloat16, ttnn.TILE_LAYOUT)
    with pytest.raises(ArgumentError, match="data must be a flat sequence of numbers"):
        ttnn.Tensor([[1, 2], [3, 4]], [2, 2], ttnn.bfloat16, ttnn.TILE_LAYOUT)


@pytest.mark.parametrize("call", [{}, {"tensor": 5}, {"data": [1], "shape": [1]}, {"tensor": np.zeros(1), "typo": 1}])
def test_calls_that_fit_no_form(call: dict[str, object]) -> None:
    with pytest.raises(ArgumentError, match=r"ttnn\.Tensor\(\)"):
        ttnn.Tensor(**call)


def test_row_major_block_floats_have_the_official_sentence() -> None:
    with pytest.raises(LayoutError) as caught:
        ttnn.Tensor(counting(2, 2), ttnn.bfloat8_b, None, ttnn.ROW_MAJOR_LAYOUT)
    assert str(caught.value) == (
        "ttnn.Tensor(): BFLOAT8_B shares exponents inside tiles; pass layout=ttnn.TILE_LAYOUT\ninfo:\n"
        "Layout must be Layout::TILE for bfloat8_b or bfloat4_b!"
    )
    assert ttnn.Tensor(counting(2, 2), ttnn.bfloat8_b).layout is ttnn.TILE_LAYOUT
    assert ttnn.Tensor(counting(2, 2)).layout is ttnn.ROW_MAJOR_LAYOUT


# Values.


def test_item_wants_one_element() -> None:
    assert ttnn.Tensor(np.array([[7]], np.int32)).item() == 7
    assert ttnn.Tensor(np.float32(2.5).reshape(())).item() == 2.5
    with pytest.raises(RuntimeError) as caught:
        ttnn.Tensor(counting(2)).item()
    assert str(caught.value).startswith("Tensor.item: a tensor of Shape([2]) has 2 values\ninfo:\n")


def test_lists_of_rank_0_and_of_nothing() -> None:
    assert ttnn.Tensor(np.array(3.5, np.float32), ttnn.bfloat16, None, ttnn.TILE_LAYOUT).to_list() == 3.5
    assert ttnn.Tensor(np.zeros((2, 0), np.float32)).to_list() == [[], []]


# Memory.


def test_use_after_deallocate(host: ttnn.Tensor, device: ttnn.MeshDevice) -> None:
    there = host.to(device)
    ttnn.deallocate(there)
    assert not there.is_allocated()
    assert str(there) == (
        "ttnn.Tensor(<buffer is not allocated>, shape=Shape([3, 5]), dtype=DataType::BFLOAT16, layout=Layout::TILE)"
    )
    assert there.shape == [3, 5]
    for use in (there.to_numpy, there.buffer_address, there.cpu, lambda: ttnn.to_torch(there), lambda: there[0]):
        with pytest.raises(RuntimeError, match="Input Tensor A is not allocated"):
            use()
    with pytest.raises(StorageError) as caught:
        ttnn.from_device(there)
    assert str(caught.value) == (
        "ttnn.from_device: the tensor of Shape([3, 5]) was deallocated\ninfo:\nInput Tensor A is not allocated"
    )


def test_deallocating_twice_is_deallocating_once(host: ttnn.Tensor, device: ttnn.MeshDevice) -> None:
    there = host.to(device)
    other = host.to(device)
    ttnn.deallocate(there)
    ttnn.deallocate(there)
    there.deallocate(force=True)
    assert not there.is_allocated()
    assert other.is_allocated()
    ttnn.deallocate(host)
    ttnn.deallocate(host)
    assert not host.is_allocated()
    closed = other
    ttnn.close_device(device)
    ttnn.deallocate(closed)


def test_host_tensor_where_a_device_tensor_is_needed(host: ttnn.Tensor) -> None:
    with pytest.raises(StorageError) as caught:
        host.buffer_address()
    assert str(caught.value) == (
        "Tensor.buffer_address: the tensor is a host tensor of Shape([3, 5]); move it with ttnn.to_device first\n"
        "info:\nInput tensor must be on device, got storage type: StorageType::HOST"
    )


def test_transfers_with_a_closed_device_raise(host: ttnn.Tensor) -> None:
    device = ttnn.open_device(device_id=0)
    there = host.to(device)
    ttnn.close_device(device)
    with pytest.raises(DeviceError) as caught:
        ttnn.to_torch(there)
    assert str(caught.value) == "Tensor.to_torch: the device of the tensor (Shape([3, 5])) is closed"
    with pytest.raises(DeviceError) as caught:
        ttnn.to_device(host, device)
    assert str(caught.value) == "ttnn.to_device: the device is closed"
    with pytest.raises(ArgumentError, match=r"expected a ttnn\.MeshDevice, got str"):
        ttnn.to_device(host, "n150")


def test_to_device_of_a_tensor_on_another_device_raises(host: ttnn.Tensor, device: ttnn.MeshDevice) -> None:
    other = ttnn.open_device(device_id=1)
    there = host.to(other)
    with pytest.raises(StorageError) as caught:
        ttnn.to_device(there, device)
    ttnn.close_device(other)
    assert str(caught.value) == "ttnn.to_device: the tensor of Shape([3, 5]) is on another device; read it first"


def test_more_bytes_than_the_device_has(device: ttnn.MeshDevice) -> None:
    spec = ttnn.TensorSpec(ttnn.Shape([1 << 19, 1 << 17]), ttnn.float32, ttnn.TILE_LAYOUT)
    with pytest.raises(
        OutOfMemoryError, match="Out of Memory: Not enough space to allocate 274877906944 B DRAM buffer"
    ):
        ttnn.allocate_tensor_on_device(spec, device)
    assert ttnn.from_torch(counting(2, 2), device=device).to_list() == [[0.0, 1.0], [2.0, 3.0]]


# Sharded tensors.


def shards(
    kind: str, grid: tuple[int, int], shape: list[int], order: ttnn.ShardOrientation, start: tuple[int, int] = (0, 0)
) -> ttnn.MemoryConfig:
    end = (start[0] + grid[0] - 1, start[1] + grid[1] - 1)
    spec = ttnn.ShardSpec(ttnn.CoreRangeSet([ttnn.CoreRange(start, end)]), shape, order)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout[f"{kind}_SHARDED"], ttnn.BufferType.L1, spec)


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16, ttnn.bfloat8_b, ttnn.uint16])
@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("order", [ROWS, COLUMNS])
@pytest.mark.parametrize(
    ("kind", "grid", "tiled", "rows"),
    [
        ("HEIGHT", (2, 2), [32, 96], [28, 90]),  # uneven: 110 rows in shards of 32 or 28
        ("WIDTH", (3, 1), [128, 32], [110, 40]),  # uneven: 90 columns in shards of 40
        ("BLOCK", (2, 2), [64, 64], [56, 46]),
        ("BLOCK", (4, 4), [64, 64], [56, 46]),  # more cores than shards
    ],
)
def test_sharded_tensors_are_read_as_they_were_written(
    device: ttnn.MeshDevice,
    dtype: ttnn.DataType,
    layout: ttnn.Layout,
    order: ttnn.ShardOrientation,
    kind: str,
    grid: tuple[int, int],
    tiled: list[int],
    rows: list[int],
) -> None:
    if dtype is ttnn.bfloat8_b and layout is ttnn.ROW_MAJOR_LAYOUT:
        layout = ttnn.TILE_LAYOUT
    config = shards(kind, grid, tiled if layout is ttnn.TILE_LAYOUT else rows, order)
    values = (counting(2, 55 if layout is ttnn.ROW_MAJOR_LAYOUT else 64, 90) % 251).astype(np.float32)
    host = ttnn.from_torch(values, dtype=dtype, layout=layout)
    there = host.to(device, config)
    assert there.memory_config() == config
    assert there.is_sharded()
    assert np.array_equal(there.to_numpy(), host.to_numpy())
    back = ttnn.from_device(there)
    assert back.memory_config() == config, "a tensor that was read keeps its place, as in the official package"
    assert np.array_equal(back.to(device).to_numpy(), host.to_numpy())
    plain = ttnn.to_device(back, device, ttnn.DRAM_MEMORY_CONFIG)
    assert np.array_equal(plain.to_numpy(), host.to_numpy())


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_a_number_in_a_wide_shard(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    x = ttnn.Tensor(np.float32(3.5), ttnn.float32, None, layout).to(device, shards("BLOCK", (1, 1), [32, 32], ROWS))
    assert x.to_numpy().shape == ()
    assert x.item() == x.to_list() == 3.5


def test_a_shard_can_be_taken_out(device: ttnn.MeshDevice) -> None:
    values = counting(64, 96)
    for order, core in ((ROWS, (2, 1)), (COLUMNS, (1, 2))):
        config = shards("BLOCK", (3, 3), [32, 32], order)
        there = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
        shard = there.extract_shard(ttnn.CoreCoord(*core))
        assert shard.shape == [1, 1, 32, 32]
        assert np.array_equal(shard.to_numpy()[0, 0], values[32:, 64:])
        assert np.array_equal(there.extract_shard(1).to_numpy()[0, 0], values[:32, 32:64])
        with pytest.raises(MemoryConfigError, match="core 2-2 holds no shard"):
            there.extract_shard(ttnn.CoreCoord(2, 2))


def test_sharded_without_cores(device: ttnn.MeshDevice) -> None:
    with pytest.raises(MemoryConfigError) as caught:
        ttnn.from_torch(counting(32, 32), device=device, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
    assert str(caught.value) == (
        "ttnn.from_torch: memory_config is HEIGHT_SHARDED but names no cores. Make one with "
        "ttnn.create_sharded_memory_config\ninfo:\nttnn.from_torch: Shard spec must not be None for sharded tensors"
    )
    host = ttnn.from_torch(counting(32, 32), layout=ttnn.TILE_LAYOUT)
    with pytest.raises(RuntimeError, match="MemoryConfig must have Shard Spec specified for sharded memory layout"):
        ttnn.to_device(host, device, ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG)
    nd = ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec([32, 32], ttnn.CoreRangeSet([])))
    with pytest.raises(MemoryConfigError, match=r"^TensorSpec\(\): a tensor of Shape\(\[32, 32\]\) .* needs cores"):
        ttnn.to_device(host, device, nd)


# Shape changes on the host.


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_reshape_on_the_host(layout: ttnn.Layout) -> None:
    tensor = ttnn.Tensor(counting(4, 6), ttnn.float32, None, layout)
    for found in (tensor.reshape(1, 2, 3, 4), tensor.reshape(ttnn.Shape([1, 2, 3, 4])), tensor.reshape([1, 2, -1, 4])):
        assert found.shape == [1, 2, 3, 4]
        assert np.array_equal(found.to_numpy(), counting(1, 2, 3, 4))
    with pytest.raises(ShapeError) as caught:
        tensor.reshape(5, 5)
    assert str(caught.value) == (
        "Tensor.reshape: Shape([4, 6]) has 24 elements, [5, 5] has 25\ninfo:\nInvalid arguments to reshape"
    )
    with pytest.raises(RuntimeError, match=r"set to -1! Shape used: \(-1,-1,\)$"):
        tensor.reshape([-1, -1])
    assert ttnn.Tensor(np.zeros((0, 3), np.float32)).reshape([-1, 3]).shape == [0, 3]


def test_padding_on_the_host() -> None:
    tensor = ttnn.Tensor(counting(1, 1, 2, 3), ttnn.float32)
    padded = tensor.pad([1, 1, 4, 4], [0, 0, 1, 1], 9.0)
    whole = [[9, 9, 9, 9], [9, 0, 1, 2], [9, 3, 4, 5], [9, 9, 9, 9]]
    assert with_padding(padded)[0, 0].tolist() == whole
    assert (padded.shape, padded.padded_shape) == ([1, 1, 2, 3], [1, 1, 4, 4])
    assert padded.to_numpy()[0, 0].tolist() == [[9, 9, 9], [9, 0, 1]]
    assert with_padding(padded.pad([1, 1, 4, 5], [0, 0, 0, 0], 7.0))[0, 0, 1].tolist() == [9, 0, 1, 2, 7]
    assert pickle.loads(pickle.dumps(padded)).spec == padded.spec
    assert padded.unpad([0, 0, 1, 1], [1, 1, 3, 4]).to_list() == tensor.to_list()
    full = tensor.pad_to_tile(float("nan"))
    assert (full.shape, full.padded_shape) == ([1, 1, 2, 3], [1, 1, 32, 32])
    # The padding stays what it is in tiles.
    in_tiles = full.to(ttnn.TILE_LAYOUT)
    assert in_tiles.shape == [1, 1, 2, 3]
    assert in_tiles.to_list() == full.to_list() == tensor.to_list()
    assert np.isnan(with_padding(in_tiles)[..., 2:, :]).all()
    tiles = tensor.to(ttnn.TILE_LAYOUT)
    assert tiles.pad_to_tile(0.0) is tiles
    assert tensor.pad_to_tile(0.0).unpad_from_tile([1, 1, 2, 3]).to_list() == tensor.to_list()
    for values in (np.float32(3.5), np.arange(5, dtype=np.float32)):
        small = ttnn.Tensor(values, ttnn.float32).pad_to_tile(1.0)
        assert (small.shape, small.padded_shape) == (values.shape, [32, 32])
        assert small.to(ttnn.TILE_LAYOUT).to_list() == values.tolist()
    assert full.unpad_from_tile([2, 3]).shape == [1, 1, 2, 3]
    words = ttnn.Tensor(np.arange(3, dtype=np.int32), ttnn.int32).pad_to_tile(float("nan"))
    assert with_padding(words)[0, 2:4].tolist() == [2, -(2**31)]
    with pytest.raises(UnsupportedError, match="only padding up to the next tile is built"):
        padded.to(ttnn.TILE_LAYOUT)
    with pytest.raises(ShapeError, match="does not lie inside of"):
        tensor.unpad([0, 0, 0, 0], [1, 1, 3, 3])
    with pytest.raises(ShapeError, match="has another rank"):
        tensor.pad([4, 4], [0, 0], 0.0)
    with pytest.raises(LayoutError, match="Tensor layout must be ROW_MAJOR for padding"):
        tensor.to(ttnn.TILE_LAYOUT).pad([1, 1, 4, 4], [0, 0, 0, 0], 0.0)


def test_layout_on_the_host(host: ttnn.Tensor) -> None:
    rows = host.to(ttnn.ROW_MAJOR_LAYOUT)
    assert (rows.layout, rows.padded_shape) == (ttnn.ROW_MAJOR_LAYOUT, [3, 5])
    assert np.array_equal(rows.to(ttnn.TILE_LAYOUT)._host, host._host)
    with pytest.raises(ArgumentError, match="mem_config is for a move to a device only"):
        host.to(ttnn.ROW_MAJOR_LAYOUT, ttnn.L1_MEMORY_CONFIG)


@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b])
def test_block_floats_stay_in_tiles_on_the_host(dtype: ttnn.DataType) -> None:
    rows = ttnn.Tensor(counting(3, 5), ttnn.float32)
    blocks = ttnn.to_dtype(rows, dtype)
    assert (blocks.layout, blocks.shape, blocks.padded_shape) == (ttnn.TILE_LAYOUT, [3, 5], [32, 32])
    assert np.array_equal(blocks._host, ttnn.to_dtype(rows.to(ttnn.TILE_LAYOUT), dtype)._host)
    with pytest.warns(UserWarning, match="the tensor must stay in TILE layout"):
        assert blocks.to(ttnn.ROW_MAJOR_LAYOUT) is blocks


def test_padded_rows_have_no_place_on_a_device(device: ttnn.MeshDevice) -> None:
    full = ttnn.Tensor(counting(2, 3), ttnn.float32).pad_to_tile(0.0)
    with pytest.raises(UnsupportedError, match="are not supported on a device; convert the tensor to TILE_LAYOUT"):
        full.to(device)
    assert full.to(ttnn.TILE_LAYOUT).to(device).shape == [2, 3]

"""`.tensorbin` files and the cache of `as_tensor`."""

from __future__ import annotations

import logging
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ttnn
from testkit import mutated_tensor_files
from ttnn.base.exceptions import (
    ArgumentError,
    FileAccessError,
    FileFormatError,
    MemoryConfigError,
    OutOfMemoryError,
    ParameterError,
    ShapeError,
    TtnnError,
)
from ttnn.base.tensor_spec import TensorSpec
from ttnn.tensor.files import header_bytes
from ttnn.tensor.host_buffer import as_parts

ROWS, COLUMNS = ttnn.ShardOrientation.ROW_MAJOR, ttnn.ShardOrientation.COL_MAJOR


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def two_ranges() -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0)), ttnn.CoreRange((3, 2), (3, 3))])


CONFIGURATIONS = [
    ttnn.DRAM_MEMORY_CONFIG,
    ttnn.L1_MEMORY_CONFIG,
    ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, ttnn.ShardSpec(two_ranges(), [32, 96], COLUMNS)
    ),
    ttnn.create_sharded_memory_config((128, 96), ttnn.CoreGrid(x=3, y=2), ttnn.ShardStrategy.BLOCK),
    ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec([1, 32, 32], two_ranges(), COLUMNS)),
]


@pytest.mark.parametrize("dtype", sorted(set(ttnn.DataType) - {ttnn.DataType.INVALID, ttnn.fp8_e4m3}, key=int))
@pytest.mark.parametrize("config", CONFIGURATIONS, ids=lambda c: c.memory_layout.name + c.buffer_type.name)
@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_what_is_written_is_read(
    tmp_path: Path, dtype: ttnn.DataType, config: ttnn.MemoryConfig, layout: ttnn.Layout
) -> None:
    if dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b):
        layout = ttnn.TILE_LAYOUT
    tensor = ttnn.from_torch(values(2, 64, 96), dtype=dtype, layout=layout, memory_config=config)
    path = tmp_path / "tensor.tensorbin"
    ttnn.dump_tensor(path, tensor)
    loaded = ttnn.load_tensor(str(path))
    assert loaded.spec == tensor.spec
    assert np.array_equal(loaded._host, tensor._host)
    assert [file.name for file in tmp_path.iterdir()] == ["tensor.tensorbin"]


@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 5), (2, 2, 2, 3, 5)])
def test_files_keep_tensors_of_every_rank(tmp_path: Path, shape: tuple[int, ...]) -> None:
    tensor = ttnn.Tensor(values(*shape), ttnn.bfloat16, None, ttnn.TILE_LAYOUT, tile=ttnn.Tile([16, 32]))
    ttnn.dump_tensor(tmp_path / "t.tensorbin", tensor)
    loaded = ttnn.load_tensor(tmp_path / "t.tensorbin")
    assert (loaded.shape, loaded.tile) == (tensor.shape, tensor.tile)
    assert np.array_equal(loaded.to_numpy(), tensor.to_numpy())


def test_files_keep_the_placement_of_device_tensors(tmp_path: Path, device: ttnn.MeshDevice) -> None:
    there = ttnn.from_torch(values(40, 50), device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.dump_tensor(tmp_path / "t.tensorbin", there, mode=ttnn.DumpTensorMode.LOCAL)
    loaded = ttnn.load_tensor(tmp_path / "t.tensorbin", device=device)
    assert loaded.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert loaded.device() is device
    assert np.array_equal(loaded.to_numpy(), there.to_numpy())


def test_names_must_end_in_tensorbin(tmp_path: Path) -> None:
    tensor = ttnn.Tensor(values(2, 2))
    for call in (lambda p: ttnn.dump_tensor(p, tensor), ttnn.load_tensor):
        with pytest.raises(RuntimeError) as caught:
            call(tmp_path / "t.bin")
        assert str(caught.value).split("\ninfo:\n")[1] == f"File {tmp_path}/t.bin must have .tensorbin extension"
    with pytest.raises(ArgumentError, match=r"tensor must be a ttnn\.Tensor, got int"):
        ttnn.dump_tensor(tmp_path / "t.tensorbin", 3)
    with pytest.raises(ArgumentError, match="file_name must be a path, got int"):
        ttnn.load_tensor(3)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="cannot be read: No such file or directory"):
        ttnn.load_tensor(tmp_path / "missing.tensorbin")
    with pytest.raises(FileFormatError, match="cannot be written: No such file or directory"):
        ttnn.dump_tensor(tmp_path / "no" / "folder.tensorbin", ttnn.Tensor(values(2, 2)))
    with pytest.raises(RuntimeError, match="Unexpected empty buffer during tensor serialization"):
        ttnn.dump_tensor(tmp_path / "empty.tensorbin", ttnn.Tensor(values(0, 2)))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is too small to be valid"),
        (b"1234567", "is too small to be valid"),
        (struct.pack("<Q", 1 << 60), "is truncated or corrupt (header_size=1152921504606846976, file_size=8)"),
        (struct.pack("<Q", 0), "Cannot validate tensor data; this most likely indicates data corruption."),
        (struct.pack("<Q", 64) + b"\xff" * 64, "Cannot validate tensor data"),
    ],
)
def test_damaged_files_raise_file_format_error(tmp_path: Path, data: bytes, sentence: str) -> None:
    path = tmp_path / "t.tensorbin"
    path.write_bytes(data)
    with pytest.raises(FileFormatError) as caught:
        ttnn.load_tensor(path)
    assert sentence in str(caught.value)


def test_data_that_is_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "t.tensorbin"
    ttnn.dump_tensor(path, ttnn.Tensor(values(4, 4)))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(
        FileFormatError, match=r"holds 63 B of data, its header says 64 B, Shape\(\[4, 4\]\) needs 64 B"
    ):
        ttnn.load_tensor(path)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
@pytest.mark.parametrize("config", [CONFIGURATIONS[2], CONFIGURATIONS[4]], ids=["height", "nd"])
def test_no_damage_does_more_than_raise(tmp_path: Path, config: ttnn.MemoryConfig, data: st.DataObject) -> None:
    path = tmp_path / "t.tensorbin"
    if not path.exists():
        ttnn.dump_tensor(path, ttnn.from_torch(values(1, 64, 96), memory_config=config, layout=ttnn.TILE_LAYOUT))
    content = bytearray(path.read_bytes())
    header_end = 8 + struct.unpack_from("<Q", content)[0]
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, header_end - 1))] = data.draw(st.integers(0, 255))
    damaged = tmp_path / "damaged.tensorbin"
    damaged.write_bytes(content)
    try:
        loaded = ttnn.load_tensor(damaged)
    except TtnnError:
        return
    assert {raw.nbytes for raw in as_parts(loaded._host)} == {loaded.spec.raw_bytes}


# as_tensor.


def test_as_tensor_converts_once(tmp_path: Path, device: ttnn.MeshDevice) -> None:
    source = torch.from_numpy(values(40, 50))
    options = {"dtype": ttnn.bfloat8_b, "layout": ttnn.TILE_LAYOUT, "cache_file_name": tmp_path / "deep" / "weight"}
    made = ttnn.as_tensor(source, **options)
    path = tmp_path / "deep" / "weight_dtype_BFLOAT8_B_layout_TILE.tensorbin"
    assert path.is_file()
    read = ttnn.as_tensor(None, device=device, memory_config=ttnn.DRAM_MEMORY_CONFIG, **options)
    assert read.device() is device
    assert np.array_equal(read.to_numpy(), made.to_numpy())


def test_as_tensor_without_type_or_cache(tmp_path: Path) -> None:
    plain = ttnn.as_tensor(values(3, 5), preprocess=lambda array: array * 2)
    assert (plain.dtype, plain.layout) == (ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    assert np.array_equal(plain.to_numpy(), values(3, 5) * 2)
    ttnn.as_tensor(values(3, 5), layout=None, cache_file_name=str(tmp_path / "t"))
    assert (tmp_path / "t_dtype_None_layout_None.tensorbin").is_file()


def test_as_tensor_makes_a_damaged_cache_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "t_dtype_None_layout_ROW_MAJOR.tensorbin"
    path.write_bytes(b"nothing")
    with caplog.at_level(logging.WARNING, logger="ttnn"):
        made = ttnn.as_tensor(values(3, 5), cache_file_name=tmp_path / "t")
    assert np.array_equal(made.to_numpy(), values(3, 5))
    assert "the cache file is replaced" in caplog.text
    assert np.array_equal(ttnn.load_tensor(path).to_numpy(), values(3, 5))


def test_as_tensor_on_a_device_wants_a_place(device: ttnn.MeshDevice) -> None:
    with pytest.raises(MemoryConfigError) as caught:
        ttnn.as_tensor(values(2, 2), device=device)
    assert str(caught.value) == (
        "ttnn.as_tensor: device requires a memory config, for example memory_config=ttnn.DRAM_MEMORY_CONFIG\ninfo:\n"
        "memory_config must be specified when device is specified"
    )


def test_as_tensor_puts_a_cached_tensor_where_it_was_asked_for(tmp_path: Path, device: ttnn.MeshDevice) -> None:
    options = {"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT, "cache_file_name": tmp_path / "weight"}
    values = torch.ones(32, 32)
    for config in (ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG):
        tensor = ttnn.as_tensor(values, device=device, memory_config=config, **options)
        assert tensor.memory_config() == config


def test_as_tensor_with_a_cache_refuses_names_of_types(tmp_path: Path) -> None:
    with pytest.raises(ttnn.ArgumentError, match=r"dtype must be a ttnn.DataType, got 'bfloat16'"):
        ttnn.as_tensor(values(2, 2), dtype="bfloat16", cache_file_name=tmp_path / "t")
    with pytest.raises(ttnn.ArgumentError, match=r"layout must be a ttnn.Layout, got 'tile'"):
        ttnn.as_tensor(values(2, 2), layout="tile", cache_file_name=tmp_path / "t")


def test_a_cache_file_of_another_tensor_is_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "t_dtype_BFLOAT16_layout_TILE.tensorbin"
    options: dict[str, Any] = {"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT}
    expected = ttnn.from_torch(values(4, 4), **options)
    for other, sentence in (
        (ttnn.from_torch(values(4, 4), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT), "of data type DataType.FLOAT32"),
        (ttnn.from_torch(values(4, 4), dtype=ttnn.bfloat16), "of layout Layout.ROW_MAJOR"),
        (ttnn.from_torch(values(2, 8), **options), r"of shape (2, 8); expected (4, 4)"),
    ):
        ttnn.dump_tensor(path, other)
        caplog.clear()
        with caplog.at_level(logging.WARNING, logger="ttnn"):
            made = ttnn.as_tensor(values(4, 4), cache_file_name=tmp_path / "t", **options)
        assert sentence in caplog.text
        assert made.spec == ttnn.load_tensor(path).spec == expected.spec
        assert np.array_equal(made.to_numpy(), expected.to_numpy())
    caplog.clear()
    ttnn.as_tensor(values(4, 4), cache_file_name=tmp_path / "t", **options)
    ttnn.as_tensor(
        values(8, 2), cache_file_name=tmp_path / "t", preprocess=lambda array: array.reshape(4, 4), **options
    )
    assert caplog.text == ""


def test_a_cache_file_that_nothing_can_replace_is_an_error(tmp_path: Path) -> None:
    ttnn.dump_tensor(tmp_path / "t_dtype_BFLOAT16_layout_ROW_MAJOR.tensorbin", ttnn.Tensor(values(2, 2)))
    with pytest.raises(FileFormatError, match=r"of data type DataType\.FLOAT32; expected DataType\.BFLOAT16"):
        ttnn.as_tensor(None, ttnn.bfloat16, cache_file_name=tmp_path / "t")


def test_a_cache_file_without_a_type_has_that_of_the_values(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ttnn.as_tensor(values(4, 4), cache_file_name=tmp_path / "t")
    with caplog.at_level(logging.WARNING, logger="ttnn"):
        made = ttnn.as_tensor(np.ones((4, 4), np.int32), cache_file_name=tmp_path / "t")
    assert made.dtype == ttnn.int32
    assert "of data type DataType.FLOAT32; expected DataType.INT32" in caplog.text


def test_a_host_cache_file_of_another_memory_configuration_is_replaced(tmp_path: Path) -> None:
    for config in (ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG):
        made = ttnn.as_tensor(values(4, 4), memory_config=config, cache_file_name=tmp_path / "t")
        assert made.memory_config() == config


def test_as_tensor_refuses_an_empty_cache_file_name() -> None:
    for name in ("", Path()):
        with pytest.raises(ParameterError, match="cache_file_name is empty; pass the prefix of a file name, or None"):
            ttnn.as_tensor(values(2, 2), cache_file_name=name)
    with pytest.raises(ArgumentError, match="expected a path, got int"):
        ttnn.as_tensor(values(2, 2), cache_file_name=3)


# Files that are no tensor files, and those that end late or never.


def test_names_that_no_file_has_are_errors(tmp_path: Path) -> None:
    tensor = ttnn.Tensor(values(2, 2))
    for name in ("a\0.tensorbin", "\ud800.tensorbin", f"{'x' * 256}.tensorbin"):
        for call in (ttnn.load_tensor, lambda name: ttnn.dump_tensor(name, tensor)):
            with pytest.raises(FileAccessError, match=r"no file name can hold|File name too long"):
                call(name)


def test_what_is_no_regular_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.tensorbin"
    for kind, make in (
        ("a FIFO", os.mkfifo),
        ("a device file", lambda path: os.symlink("/dev/zero", path)),
    ):
        make(path)
        with pytest.raises(FileAccessError, match=f"is {kind}; expected a file"):
            ttnn.load_tensor(path)
        path.unlink()
    path.mkdir()
    with pytest.raises(FileAccessError, match="Is a directory"):
        ttnn.load_tensor(path)


@pytest.mark.parametrize("first", [8, 1 << 20, 1 << 30, 150 << 30])
def test_the_header_of_a_large_file_is_read_first(tmp_path: Path, first: int) -> None:
    path = tmp_path / "t.tensorbin"
    with path.open("wb") as file:
        file.write(struct.pack("<Q", first))
        file.truncate(200 << 30)
    with pytest.raises(FileFormatError, match=r"has a header of|indicates data corruption|describes no tensor"):
        ttnn.load_tensor(path)


def test_a_tensor_that_the_host_has_no_memory_for_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.tensorbin"
    spec = TensorSpec.of((50 << 10, 1 << 20), ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    with path.open("wb") as file:
        file.write(header_bytes(spec, spec.raw_bytes))
        file.truncate(file.tell() + spec.raw_bytes)
    with pytest.raises(OutOfMemoryError, match="the host has no memory for a tensor"):
        ttnn.load_tensor(path)


def test_mode_and_link_of_a_file_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "t.tensorbin", tmp_path / "link.tensorbin"
    ttnn.dump_tensor(path, ttnn.Tensor(values(2, 2)))
    path.chmod(0o600)
    link.symlink_to(path)
    ttnn.dump_tensor(link, ttnn.Tensor(values(3, 3)))
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert ttnn.load_tensor(path).shape == (3, 3)


def test_damaged_tensor_files_end_soon() -> None:
    outcomes = mutated_tensor_files.run(files=1000, seed=3)
    assert outcomes["FileFormatError"] > 300
    assert outcomes["tensor"] > 100


def test_damaged_files_of_distributed_tensors_end_soon() -> None:
    outcomes = mutated_tensor_files.run(500, 5, mutated_tensor_files.distributed, mutated_tensor_files.by_parts)
    assert outcomes["FileFormatError"] > 150
    assert outcomes["tensor"] > 50


def test_files_with_more_core_ranges_than_a_chip_has_cores(tmp_path: Path) -> None:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((x, y), (x, y)) for x in range(0, 64, 2) for y in range(0, 66, 2)])
    shards = ttnn.ShardSpec(cores, [1, 4], ROWS)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shards)
    spec = TensorSpec.of((4, 4), ttnn.float32, ttnn.ROW_MAJOR_LAYOUT, config)
    path = tmp_path / "t.tensorbin"
    path.write_bytes(header_bytes(spec, spec.raw_bytes) + bytes(spec.raw_bytes))
    with pytest.raises(FileFormatError, match="a vector of 1056 elements, expected at most 1024"):
        ttnn.load_tensor(path)


def test_a_rank_that_no_tensor_has_is_an_error(device: ttnn.MeshDevice) -> None:
    sentence = "a tensor has at most 32 dimensions, got 33"
    shape = [1] * 33
    one = ttnn.ones([1, 1], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    for call in (
        lambda: ttnn.zeros(shape),
        lambda: ttnn.zeros(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device),
        lambda: ttnn.Shape(shape),
        lambda: ttnn.from_torch(torch.ones(shape)),
        lambda: ttnn.from_torch(torch.ones([1] * 32)[None]),
        lambda: ttnn.reshape(one, shape),
        lambda: ttnn.repeat(one, shape),
        lambda: ttnn.rand(shape, device=device),
        lambda: ttnn.TensorSpec(shape, ttnn.float32, ttnn.ROW_MAJOR_LAYOUT),
    ):
        with pytest.raises(ShapeError, match=sentence):
            call()
    assert ttnn.zeros([1] * 32).shape == ttnn.Shape([1] * 32)


@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT])
@pytest.mark.parametrize("orientation", [ROWS, COLUMNS])
def test_shards_of_several_dimensions(
    orientation: ttnn.ShardOrientation, layout: ttnn.Layout, device: ttnn.MeshDevice, tmp_path: Path
) -> None:
    strategy = ttnn.ShardDistributionStrategy
    for dealt in (strategy.ROUND_ROBIN_1D, strategy.CONTIGUOUS_1D):
        config = ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec([1, 32, 32], two_ranges(), orientation, dealt))
        numbers = values(3, 33, 65)
        path = tmp_path / f"{dealt.name}.tensorbin"
        ttnn.dump_tensor(path, ttnn.Tensor(numbers, ttnn.float32, None, layout).to(device, config))
        for loaded in (ttnn.load_tensor(path), ttnn.load_tensor(path, device=device)):
            assert loaded.memory_config() == config
            np.testing.assert_array_equal(loaded.to_numpy(), numbers)

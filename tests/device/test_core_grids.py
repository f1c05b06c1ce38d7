"""Core ranges larger than the chip: refused before anything visits their cores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import ttnn
from ttnn import metal
from ttnn.base.exceptions import DeviceError, MemoryConfigError

SIDES = [9, 100, 60_000, 2**31, 2**32]
ROW, TILE = ttnn.ShardOrientation.ROW_MAJOR, ttnn.TILE_LAYOUT
BLOCK = ttnn.TensorMemoryLayout.BLOCK_SHARDED


def grid(side: int) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (side - 1, side - 1))])


def in_blocks(side: int, kind: ttnn.BufferType = ttnn.BufferType.L1) -> ttnn.MemoryConfig:
    return ttnn.MemoryConfig(BLOCK, kind, ttnn.ShardSpec(grid(side), [32, 32], ROW))


def kernel() -> None:
    pass


def run(device: ttnn.MeshDevice, fill: Callable[[metal.Program], object]) -> None:
    program = metal.create_program()
    fill(program)
    metal.run_program(device, program)


def add_arguments(program: metal.Program, side: int) -> None:
    added = metal.create_kernel(program, kernel, grid(side), metal.ReaderDataMovementConfig())
    metal.set_runtime_args(program, added, grid(side), [1])


CALLS: dict[str, Callable[[ttnn.MeshDevice, ttnn.Tensor, int], object]] = {
    "to_memory_config": lambda device, x, side: ttnn.to_memory_config(x, in_blocks(side)),
    "from_torch": lambda device, x, side: ttnn.from_torch(
        torch.ones(64, 64), layout=TILE, device=device, memory_config=in_blocks(side)
    ),
    "empty": lambda device, x, side: ttnn.empty(
        [64, 64], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=in_blocks(side)
    ),
    "output of an operator": lambda device, x, side: ttnn.exp(x, memory_config=in_blocks(side)),
    "n-dimensional shards": lambda device, x, side: ttnn.to_memory_config(
        x, ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec([32, 32], grid(side)))
    ),
    "sub-devices": lambda device, x, side: device.create_sub_device_manager([ttnn.SubDevice([grid(side)])], 0),
    "global semaphore": lambda device, x, side: ttnn.create_global_semaphore(device, grid(side), 0),
    "global circular buffer": lambda device, x, side: ttnn.create_global_circular_buffer(
        device, [(ttnn.CoreCoord(0, 0), ttnn.CoreRangeSet([ttnn.CoreRange((1, 1), (side, side))]))], 1024
    ),
    "kernel": lambda device, x, side: run(
        device, lambda program: metal.create_kernel(program, kernel, grid(side), metal.ReaderDataMovementConfig())
    ),
    "runtime arguments": lambda device, x, side: run(device, lambda program: add_arguments(program, side)),
    "circular buffer": lambda device, x, side: run(
        device,
        lambda program: metal.create_circular_buffer(
            program, grid(side), metal.CircularBufferConfig(2048, {0: ttnn.bfloat16}).set_page_size(0, 2048)
        ),
    ),
    "semaphore": lambda device, x, side: run(device, lambda program: metal.create_semaphore(program, grid(side), 0)),
    "descriptors": lambda device, x, side: ttnn.generic_op(
        [x, x],
        ttnn.ProgramDescriptor(
            kernels=[], semaphores=[ttnn.SemaphoreDescriptor(core_ranges=grid(side), initial_value=0)], cbs=[]
        ),
    ),
    "sharded buffer": lambda device, x, side: metal.create_buffer(
        metal.ShardedBufferConfig(
            device=device, size=4096, page_size=2048, tensor_pages=(2, 1), shard_pages=(1, 1), cores=grid(side)
        )
    ),
}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("call", CALLS)
def test_a_grid_larger_than_the_chip_is_refused(device: ttnn.MeshDevice, call: str, side: int) -> None:
    x = ttnn.from_torch(torch.ones(64, 64), layout=TILE, device=device)
    with pytest.raises(
        (DeviceError, MemoryConfigError), match=r"core \d+-\d+, outside the .*grid.* \d+x\d+; got cores"
    ):
        CALLS[call](device, x, side)


@pytest.mark.parametrize("side", SIDES)
def test_a_grid_beyond_the_dram_banks_is_refused(device: ttnn.MeshDevice, side: int) -> None:
    banks = device.dram_grid_size()
    wide = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (banks.x, side))])
    spec = ttnn.ShardSpec(wide, [32, 64], ROW)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.DRAM, spec)
    with pytest.raises(
        MemoryConfigError, match=r"this device has the banks \(0, 0\) to \(11, 0\); got the grid \[0-0 - 12-"
    ):
        ttnn.from_torch(torch.ones(64, 64), layout=TILE, device=device, memory_config=config)


def test_huge_core_ranges_are_handled_in_little_time() -> None:
    huge = grid(2**32)
    hole = ttnn.CoreRangeSet([ttnn.CoreRange((1, 1), (5, 5))])
    assert huge.num_cores() == 2**64
    assert huge.merge(hole) == huge
    assert huge.subtract(hole).num_cores() == 2**64 - 25
    assert huge.contains(hole)
    assert ttnn.corerange_to_cores(huge, 3, True) == [(0, 0), (1, 0), (2, 0)]
    found = ttnn.num_cores_to_corerangeset_in_subcoregrids(ttnn.CoreCoord(7, 9), 2, huge, True)
    assert found.ranges() == [ttnn.CoreRange((7, 9), (8, 9))]
    with pytest.raises(DeviceError, match="core 64-0, outside the largest grid of a chip 64x64"):
        ttnn.corerange_to_cores(huge)
    with pytest.raises(DeviceError, match="core 64-0, outside the largest grid of a chip 64x64"):
        ttnn.grid_to_cores(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(2**32, 0))
    with pytest.raises(MemoryConfigError, match="4096"):
        ttnn.grid_to_cores(10**10, 2**32, 2**32)


@pytest.mark.parametrize("side", [100, 60_000, 2**31 - 1])
def test_file_with_a_huge_grid(device: ttnn.MeshDevice, tmp_path: Path, side: int) -> None:
    path = tmp_path / "huge.tensorbin"
    ttnn.dump_tensor(path, ttnn.from_torch(torch.ones(64, 64), layout=TILE, memory_config=in_blocks(side)))
    assert ttnn.load_tensor(path).memory_config() == in_blocks(side)
    with pytest.raises(MemoryConfigError, match="outside the compute grid 8x8"):
        ttnn.load_tensor(path, device=device)


def test_file_with_many_ranges(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    path = tmp_path / "many.tensorbin"
    single = [ttnn.CoreRange((2 * (i % 100), i // 100), (2 * (i % 100), i // 100)) for i in range(1000)]
    spec = ttnn.ShardSpec(ttnn.CoreRangeSet(single), [32, 64], ROW)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    ttnn.dump_tensor(path, ttnn.from_torch(torch.ones(64, 64), layout=TILE, memory_config=config))
    assert ttnn.load_tensor(path).memory_config() == config
    with pytest.raises(MemoryConfigError, match="outside the compute grid 8x8"):
        ttnn.load_tensor(path, device=device)

"""Type checks of ordinary programs: `mypy --strict` reads this file, pytest runs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

import ttnn


def convert(values: npt.NDArray[np.float32], device: ttnn.MeshDevice) -> ttnn.Tensor:
    nothing: None = ttnn.from_torch(None)
    assert nothing is None
    return ttnn.from_torch(
        values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG
    )


def describe(tensor: ttnn.Tensor) -> tuple[list[int], ttnn.DataType, ttnn.Layout, ttnn.MemoryConfig, bool]:
    height: int = tensor.shape[-2]
    rank: int = tensor.shape.rank
    assert height >= 0
    assert rank == len(tensor.shape)
    return list(tensor.padded_shape), tensor.dtype, tensor.layout, tensor.memory_config(), tensor.is_allocated()


def place(rows: int) -> ttnn.MemoryConfig:
    grid: ttnn.CoreRangeSet = ttnn.num_cores_to_corerangeset(rows, ttnn.CoreCoord(8, 8), row_wise=True)
    shards: ttnn.ShardSpec = ttnn.ShardSpec(grid, [32, 64], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shards)


def keep(tensor: ttnn.Tensor, path: Path) -> ttnn.Tensor:
    ttnn.dump_tensor(path, tensor)
    return ttnn.load_tensor(path)


def ask_for_what_nobody_has() -> None:
    ttnn.matmull  # type: ignore[attr-defined]  # noqa: B018 - were it not an error, mypy would complain of the comment


def compute(tensor: ttnn.Tensor) -> ttnn.Tensor:
    ttnn.abs_bw(tensor, tensor)[0].is_sharded()
    scaled = ttnn.multiply(ttnn.exp(tensor, fast_and_approximate_mode=True), 2.0, dtype=ttnn.float32, queue_id=0)
    product: ttnn.Tensor = ttnn.matmul(scaled, tensor, transpose_b=True, memory_config=ttnn.L1_MEMORY_CONFIG)
    return ttnn.softmax(ttnn.add(product, tensor), dim=-1)


def call_with_what_no_operator_takes(tensor: ttnn.Tensor) -> None:
    ttnn.exp("x")  # type: ignore[arg-type]
    ttnn.exp(tensor, 1)  # type: ignore[call-arg, arg-type]
    ttnn.softmax(tensor, axis=-1)  # type: ignore[call-arg]
    ttnn.add(tensor, "x")  # type: ignore[call-overload]
    ttnn.reshape(tensor)  # type: ignore[call-overload]
    number: float = ttnn.sum(tensor)  # type: ignore[assignment]
    print(number, ttnn.exp.golden_function)


def test_ordinary_program_has_the_types_it_declares(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    tensor = convert(np.ones((64, 64), np.float32), device)
    assert describe(tensor) == ([64, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.L1_MEMORY_CONFIG, True)
    moved: ttnn.Tensor = ttnn.to_device(ttnn.from_device(tensor), device, memory_config=place(2))
    total: ttnn.Tensor = tensor + tensor
    part: ttnn.Tensor = tensor[0, 1:3]
    number: float = ttnn.from_device(part[0]).item()
    assert number == 1.0
    assert compute(tensor).shape == [64, 64]
    assert moved.is_sharded()
    assert total.shape == [64, 64]
    assert keep(moved, tmp_path / "t.tensorbin").memory_config() == place(2)
    ttnn.deallocate(moved)

"""`allowed_worker_cores` of a program configuration decides the size of the core grid."""

from __future__ import annotations

import pytest
import torch

import ttnn


def cores(*corners: tuple[int, int, int, int]) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet(
        [
            ttnn.CoreRange(ttnn.CoreCoord(left, top), ttnn.CoreCoord(right, bottom))
            for left, top, right, bottom in corners
        ]
    )


def config(allowed: ttnn.CoreRangeSet | None, columns: int) -> ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig:
    return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(columns, 1),
        in0_block_w=1,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=1,
        per_core_N=1,
        fuse_batch=True,
        mcast_in0=True,
        allowed_worker_cores=allowed,
    )


def test_allowed_cores_replace_the_grid(device: ttnn.MeshDevice) -> None:
    numbers = torch.Generator().manual_seed(1)
    a, b = (
        ttnn.from_torch(torch.randn(shape, generator=numbers), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        for shape in ((32, 64), (64, 128))
    )
    expected = ttnn.to_torch(ttnn.matmul(a, b, program_config=config(None, 4)))
    # Four columns of tiles need four cores; a grid of one core has too few.
    for allowed in (cores((0, 0, 3, 0)), cores((0, 0, 1, 1)), cores((2, 3, 5, 3)), cores((0, 0, 1, 0), (2, 0, 3, 0))):
        result = ttnn.matmul(a, b, program_config=config(allowed, 1))
        assert torch.equal(ttnn.to_torch(result), expected)
    with pytest.raises(ttnn.ProgramConfigError):
        ttnn.matmul(a, b, program_config=config(cores((0, 0, 2, 0)), 4))
    shards = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.L1)
    result = ttnn.matmul(a, b, program_config=config(cores((0, 0, 1, 1)), 1), memory_config=shards)
    assert result.memory_config().shard_spec.grid == cores((0, 0, 1, 1))
    assert torch.equal(ttnn.to_torch(result), expected)


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        (cores(), "must be non-empty"),
        (cores((0, 0, 1, 0), (0, 1, 0, 1)), "dense rectangle"),
        (cores((5, 0, 8, 0)), "subset of the device compute grid"),
    ],
)
def test_other_sets_of_cores_raise(device: ttnn.MeshDevice, allowed: ttnn.CoreRangeSet, words: str) -> None:
    a, b = (ttnn.zeros(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device) for shape in ((32, 64), (64, 128)))
    with pytest.raises(ttnn.ProgramConfigError, match=words):
        ttnn.matmul(a, b, program_config=config(allowed, 4))

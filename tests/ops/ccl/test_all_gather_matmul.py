"""The fused all_gather and matmul: values, orders, checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.meshes import by_chip, different, same, semaphores
from ttnn.ops.ccl.all_gather_matmul import slice_order

FUSED: Any = ttnn.experimental.all_gather_matmul_async
FIDELITY = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2, packer_l1_acc=False)


def program(block: int) -> ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig:
    """Return a program of eight cores that multicasts rows."""
    return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(8, 1),
        in0_block_w=block,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=1,
        per_core_N=1,
        fuse_batch=True,
        fused_activation=None,
        mcast_in0=True,
    )


def operands(mesh: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    """Return a slice of 16 tiles on each chip, and its weights."""
    return different(mesh, (1, 1, 32, 64)), different(mesh, (1, 1, 512, 256), dtype)


def fused(mesh: ttnn.MeshDevice, x: ttnn.Tensor, weight: ttnn.Tensor, **options: Any) -> list[ttnn.Tensor]:
    """Return the gathered tensor and the product."""
    given = {"dim": 3, "program_config": program(2), "compute_kernel_config": FIDELITY, **options}
    given.setdefault("multi_device_global_semaphore", semaphores(mesh, 2))
    result: list[ttnn.Tensor] = FUSED(x, weight, all_gather_core_grid_offset=ttnn.CoreCoord(0, 4), **given)
    return result


def test_a_chip_begins_with_its_own_slice_and_goes_both_ways() -> None:
    assert slice_order(0, 8) == [0, 7, 1, 6, 2, 5, 3, 4]
    assert slice_order(5, 8) == [5, 4, 6, 3, 7, 2, 0, 1]


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b], ids=str)
@pytest.mark.parametrize("block", [1, 2])
def test_the_product_is_that_of_slices_in_the_order_of_each_chip(
    ring: ttnn.MeshDevice, block: int, dtype: ttnn.DataType
) -> None:
    x, weight = operands(ring, dtype)
    gathered, product = fused(ring, x, weight, program_config=program(block))
    assert same(by_chip(gathered), by_chip(ttnn.all_gather(x, 3)))
    in_order = by_chip(ttnn.linear(gathered, weight, program_config=program(block), compute_kernel_config=FIDELITY))
    slices, weights, found = by_chip(x), by_chip(weight), by_chip(product)
    differing = 0
    with ttnn.manage_device(31, chip="n300") as one:
        for chip in range(8):
            order = slice_order(chip, 8)
            rows = weights[chip].reshape(8, 64, 256)
            a = np.concatenate([slices[index] for index in order], 3)
            b = np.concatenate([rows[index] for index in order])[None, None]
            left = ttnn.Tensor(a, ttnn.bfloat16, device=one, layout=ttnn.TILE_LAYOUT)
            right = ttnn.Tensor(b, dtype, device=one, layout=ttnn.TILE_LAYOUT)
            alone = ttnn.linear(left, right, program_config=program(block), compute_kernel_config=FIDELITY)
            assert np.array_equal(found[chip], alone.to_torch().float().numpy())
            differing += not np.array_equal(found[chip], in_order[chip])
    # With partial sums in bfloat16 the order shows.
    assert differing == 8


def test_sharded_operands_have_the_bits_of_interleaved_ones(ring: ttnn.MeshDevice) -> None:
    x, weight = operands(ring)
    row, by_width = ttnn.CoreGrid(x=8, y=1), ttnn.ShardStrategy.WIDTH
    width, half = (
        ttnn.create_sharded_memory_config([32, columns], row, by_width, use_height_and_width_as_shard_shape=True)
        for columns in (64, 32)
    )
    gathered, product = fused(ring, x, weight, memory_config_ag=width, memory_config_mm=half)
    assert gathered.memory_config() == width
    assert product.memory_config() == half
    assert same(by_chip(product), by_chip(fused(ring, x, weight)[1]))


def test_other_meshes_and_programs_are_refused(ring: ttnn.MeshDevice) -> None:
    x, weight = operands(ring)
    with pytest.raises(ttnn.ParameterError, match="requires dim=3 for the AllGather"):
        fused(ring, x, weight, dim=2)
    with pytest.raises(ttnn.ParameterError, match=r"Needs to be 1D or 2D Multicast"):
        fused(ring, x, weight, program_config=None)
    with pytest.raises(ttnn.ParameterError, match="in0_block_w=4 tiles do not divide a slice of 2 tiles"):
        fused(ring, x, weight, program_config=program(4))
    with pytest.raises(ttnn.UnsupportedError, match="a ring of 8 chips"):
        fused(ring, x, weight, topology=ttnn.Topology.Linear)
    with pytest.raises(ttnn.UnsupportedError, match="transposed operands"):
        fused(ring, x, weight, transpose_b=True)
    with pytest.raises(ttnn.ShapeError, match="to be of rank 4"):
        fused(ring, ttnn.reshape(x, (1, 32, 64)), weight)
    with pytest.raises(ttnn.ShapeError, match="batch size of 1"):
        fused(ring, different(ring, (2, 1, 32, 64)), weight)
    with pytest.raises(ttnn.ShapeError, match=r"expected a weight \[1, 1, 8 \* K, N\]"):
        fused(ring, x, different(ring, (1, 1, 256, 256)))
    with pytest.raises(ttnn.ParameterError, match="requires 2 semaphores"):
        fused(ring, x, weight, multi_device_global_semaphore=semaphores(ring, 3))

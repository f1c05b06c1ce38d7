"""Operands and configurations of matmul calls."""

from __future__ import annotations

from typing import Any

import numpy as np

import ttnn

Array = np.ndarray[Any, Any]


def integers(seed: int, *shape: int) -> Array:
    """Return small integers with exact sums.

    Every sum here is exact in bfloat16 operands and a 32-bit Dst.
    """
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def on(device: ttnn.MeshDevice, values: Array, dtype: Any = ttnn.bfloat16, **options: Any) -> ttnn.Tensor:
    return ttnn.Tensor(values, dtype, layout=ttnn.TILE_LAYOUT).to(device, options.get("memory_config"))


def exact(fidelity: str = "HiFi4", l1_acc: bool = False) -> ttnn.WormholeComputeKernelConfig:
    return ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity[fidelity],
        math_approx_mode=False,
        fp32_dest_acc_en=True,
        packer_l1_acc=l1_acc,
    )


def numbers(tensor: ttnn.Tensor) -> Array:
    return np.asarray(tensor.to_numpy(), np.float32)


def sharded(
    layout: str, x: int, y: int, height: int, width: int, buffer: str = "L1", *, columns: bool = False
) -> ttnn.MemoryConfig:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(x - 1, y - 1))])
    return ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout[f"{layout}_SHARDED"],
        ttnn.BufferType[buffer],
        ttnn.ShardSpec(
            cores, (height, width), ttnn.ShardOrientation.COL_MAJOR if columns else ttnn.ShardOrientation.ROW_MAJOR
        ),
    )


def program(family: str, grid: tuple[int, int] = (8, 8), **changed: Any) -> Any:
    """Return a program configuration: `Reuse`, `2D` or `1D`.

    With blocks of one tile by default.
    """
    values: dict[str, Any] = {"compute_with_storage_grid_size": ttnn.CoreCoord(*grid), "in0_block_w": 1}
    values |= {"out_subblock_h": 1, "out_subblock_w": 1, "per_core_M": 1, "per_core_N": 1}
    if family == "Reuse":
        return ttnn.MatmulMultiCoreReuseProgramConfig(**values | changed)
    if family == "2D":
        return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(**values | {"transpose_mcast": False} | changed)
    values |= {"fuse_batch": True, "mcast_in0": True}
    return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(**values | changed)

"""Bits of whole matmuls, composed step by step.

As the device programs do it.

Cores, subblocks and output blocks must not change a bit, so every case runs under several program configurations.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.tensor_spec import TensorSpec
from ttnn.tensor.tensor import Tensor

_DTYPES = {
    "bfloat16": ttnn.bfloat16,
    "float32": ttnn.float32,
    "bfloat8_b": ttnn.bfloat8_b,
    "bfloat4_b": ttnn.bfloat4_b,
}

Arrays = Any


def on_device(raw: np.ndarray[Any, Any], shape: tuple[int, int], dtype: str, device: ttnn.MeshDevice) -> Tensor:
    spec = TensorSpec.of(shape, _DTYPES[dtype], ttnn.TILE_LAYOUT)
    return ttnn.to_device(Tensor._on_host(spec, np.ascontiguousarray(raw).reshape(-1)), device)


def configurations(case: dict[str, Any]) -> Iterator[Any]:
    """Yield program configurations that differ in everything that must not matter."""
    mt, nt = case["M"] // 32, case["N"] // 32
    common: dict[str, Any] = {
        "compute_with_storage_grid_size": ttnn.CoreCoord(8, 8),
        "in0_block_w": case["in0_block_w"],
        "fused_activation": ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU) if case["relu"] else None,
        "fuse_batch": True,
    }
    one: dict[str, Any] = {"out_subblock_h": 1, "out_subblock_w": 1}
    if not case["untilize_out"]:
        yield ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            **common, **one, per_core_M=1, per_core_N=1, transpose_mcast=False
        )
        yield ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            **common, out_subblock_h=2, out_subblock_w=1, per_core_M=mt, per_core_N=nt, transpose_mcast=True
        )
    yield ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        **common,
        **one,
        per_core_M=mt,
        per_core_N=nt,
        out_block_w=nt if case["untilize_out"] else 1,
        mcast_in0=True,
        untilize_out=case["untilize_out"],
    )


def run(case: dict[str, Any], arrays: Arrays, config: Any, device: ttnn.MeshDevice) -> np.ndarray[Any, Any]:
    m, k, n = case["M"], case["K"], case["N"]
    inputs = f"in/{case['inputs']}"
    a = on_device(arrays[f"{inputs}/in0"], (k, m) if case["transpose_a"] else (m, k), case["in0"], device)
    b = on_device(arrays[f"{inputs}/in1"], (k, n), case["in1"], device)
    options: dict[str, Any] = {
        "transpose_a": case["transpose_a"],
        "dtype": _DTYPES[case["out"]],
        "program_config": config,
        "compute_kernel_config": ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity[case["math_fidelity"]],
            math_approx_mode=False,
            fp32_dest_acc_en=case["fp32_dest_acc_en"],
            packer_l1_acc=case["packer_l1_acc"],
        ),
    }
    if case["untilize_out"]:
        # Rows are packed into shards only; an interleaved result would be mislabelled.
        options["memory_config"] = ttnn.create_sharded_memory_config(
            (m, n), ttnn.CoreGrid(y=1, x=1), ttnn.ShardStrategy.WIDTH
        )
    if case["bias"] is None:
        result = ttnn.matmul(a, b, **options)
    else:
        bias = on_device(arrays[f"{inputs}/bias"], (1, n), case["bias"], device)
        result = ttnn.linear(a, b, bias=bias, **options)
    raw = ttnn.from_device(result)._host
    assert raw is not None
    return raw.reshape(-1)


@pytest.mark.timeout(1200)
def test_every_case_under_every_blocking(
    golden: Path, device: ttnn.MeshDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    counts: Counter[str] = Counter()
    different: list[str] = []
    with np.load(golden / "ops" / "matmul.npz") as arrays:
        for case in json.loads(str(arrays["params"])):
            expected = arrays[f"out/{case['case']}"].reshape(-1)
            for config in configurations(case):
                got = run(case, arrays, config, device)
                equal = np.array_equal(got, expected)
                counts["equal" if equal else "different"] += 1
                if not equal:
                    share = np.mean(got != expected) if got.shape == expected.shape else 1.0
                    different.append(f"{case} under {type(config).__name__}: {share:.1%} of the bytes differ")
    with capsys.disabled():
        print(f"\nmatmul bits: {dict(counts)}")
    assert not different, "\n".join(different[:20])
    assert counts == {"equal": 709}

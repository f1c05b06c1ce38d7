"""Operators on experts have the bits of the official kernels."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from vendor import WHEEL, official_root

import ttnn

FOLDER = "ttnn/cpp/ttnn/operations/experimental"
CORES = [ttnn.CoreCoord(x, y) for y in range(2) for x in range(6)]
needs_wheel = pytest.mark.skipif(not (WHEEL / "ttnn").is_dir(), reason="TTNN_OFFICIAL_WHEEL names no unpacked wheel")


def bf16(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(ml_dtypes.bfloat16)


def put(values: np.ndarray, device: ttnn.MeshDevice, dtype: ttnn.DataType, layout: ttnn.Layout) -> ttnn.Tensor:
    return ttnn.to_device(ttnn.Tensor(values, dtype, None, layout), device)


def accessors(*tensors: ttnn.Tensor) -> list[int]:
    return [word for tensor in tensors for word in ttnn.TensorAccessorArgs(tensor).get_compile_time_args()]


def same_bits(one: ttnn.Tensor, other: ttnn.Tensor) -> bool:
    return ttnn.to_numpy(one).tobytes() == ttnn.to_numpy(other).tobytes()


def run(
    path: str,
    kernels: dict[str, dict[str, Any]],
    buffers: dict[int, tuple[int, int]],
    tensors: list[ttnn.Tensor],
    cores: ttnn.CoreRangeSet,
    semaphores: int = 0,
) -> None:
    """Run a program; buffers are pages and their bytes."""
    described = [
        ttnn.KernelDescriptor(kernel_source=f"{FOLDER}/{path}/device/kernels/{name}.cpp", core_ranges=cores, **more)
        for name, more in kernels.items()
    ]
    circular = [
        ttnn.CBDescriptor(pages * size, cores, [ttnn.CBFormatDescriptor(index, ttnn.bfloat16, size)])
        for index, (pages, size) in buffers.items()
    ]
    signals = [ttnn.SemaphoreDescriptor(id=number, core_ranges=cores) for number in range(semaphores)]
    with official_root():
        ttnn.generic_op(tensors, ttnn.ProgramDescriptor(described, signals, circular))


@needs_wheel
@pytest.mark.parametrize(("width", "slots"), [(64, 3), (1088, 4)])
def test_sums_of_experts_rows(width: int, slots: int) -> None:
    """The kernel reads beyond a weight's page, which the watcher refuses."""
    with ttnn.manage_config("watcher", False), ttnn.manage_device(device_id=0) as device:
        check_sums(device, width, slots)


def check_sums(device: ttnn.MeshDevice, width: int, slots: int) -> None:
    rng = np.random.default_rng(width)
    values, factors = bf16(rng, 1, 64, slots, width), bf16(rng, 1, 64, slots, 1)
    values[0, 3, 1, :4] = [np.inf, -np.inf, np.nan, 3e38]
    factors[0, :, :, 0][rng.random((64, slots)) < 0.4] = 0
    factors[0, 5] = 0
    rows, weights = (put(part, device, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT) for part in (values, factors))
    found = ttnn.experimental.deepseek_prefill.post_combine_reduce(rows, weights, expert_dim=2)
    target = ttnn.empty([1, 64, width], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    pages = -(-width // 1024)
    core = CORES[0]
    name = "deepseek_moe_post_combine_reduce"
    kernels: dict[str, dict[str, Any]] = {
        f"{name}_reader": {
            "compile_time_args": [slots, pages, 2 * width, *accessors(rows)],
            "runtime_args": [(core, [rows.buffer_address(), 0, 2])],
            "config": ttnn.ReaderConfigDescriptor(),
        },
        f"{name}_compute": {
            "compile_time_args": [slots, pages, 0, 0],
            "runtime_args": [(core, [0, 2])],
            "config": ttnn.ComputeConfigDescriptor(),
        },
        f"{name}_writer": {
            # The tensors of the table and of the indices are not read.
            "compile_time_args": [
                *[slots, pages, width // 32, 0, 0, 0, 0, 0],
                *accessors(weights, target, weights, weights),
                0,
            ],
            "runtime_args": [(core, [weights.buffer_address(), target.buffer_address(), 0, 2])],
            "config": ttnn.WriterConfigDescriptor(),
        },
    }
    buffers = {0: (pages, 2048), 1: (1, 2048), 16: (32 * pages, 2048), 17: (32 * pages, 2048)}
    one = ttnn.CoreRangeSet([ttnn.CoreRange(core, core)])
    run("deepseek_prefill/post_combine_reduce", kernels, buffers, [rows, weights, target], one)
    assert same_bits(found, target)


@needs_wheel
@pytest.mark.parametrize(("width", "k", "values"), [(96, 32, "random"), (352, 4, "random"), (256, 20, "equal")])
def test_experts_of_tokens(width: int, k: int, values: str) -> None:
    """A kernel pops without a wait, which the watcher refuses."""
    with ttnn.manage_config("watcher", False), ttnn.manage_device(device_id=0) as device:
        check_router(device, width, k, values)


def check_router(device: ttnn.MeshDevice, width: int, k: int, values: str) -> None:
    rng = np.random.default_rng(width)
    source, weight, bias = bf16(rng, 32, width), bf16(rng, width, 128), bf16(rng, 32, 128)
    if values == "equal":
        source[:], bias = 0, np.round(bias.astype(np.float32)).astype(ml_dtypes.bfloat16)
    tensors = [put(part, device, ttnn.bfloat16, ttnn.TILE_LAYOUT) for part in (source, weight, bias)]
    found = ttnn.experimental.topk_router_gpt(tensors[0], weight_tensor=tensors[1], bias_tensor=tensors[2], k=k)
    padded = -(-k // 8) * 8
    zeros = np.zeros((32, padded), np.uint16)
    targets = [
        put(zeros.astype(kind), device, dtype, ttnn.ROW_MAJOR_LAYOUT)
        for kind, dtype in ((np.uint16, ttnn.uint16), (ml_dtypes.bfloat16, ttnn.bfloat16))
    ]
    aligned = -(-2 * padded // 32) * 32
    physical = [device.worker_core_from_logical_core(core) for core in CORES]
    named = {
        "num_groups": 4,
        "num_senders": 2,
        "topk_k": k,
        "k_padded": padded,
        "n_tiles": 4,
        "tile_size_bf16": 2048,
        "collector_physical_x": physical[2].x,
        "collector_physical_y": physical[2].y,
    }
    tiles = width // 32
    shares = [tiles // 3 + (place < tiles % 3) for place in range(3)]
    rows = []
    for number, core in enumerate(CORES):
        group, place = divmod(number, 3)
        worker = physical[3 * group + 2]
        addresses = [tensor.buffer_address() for tensor in (tensors[1], tensors[0], tensors[2])]
        roles = [int(place < 2), int(place == 2), int(number == 2)]
        work = [shares[place], sum(shares[:place]), group, worker.x, worker.y, place, group]
        results = [tensor.buffer_address() for tensor in targets]
        rows.append((core, [number, number % 4, *addresses, 0, *roles, *work, 1, *results, aligned]))
    fixed = accessors(*tensors, *targets)
    more = {"compile_time_args": fixed, "named_compile_time_args": list(named.items()), "runtime_args": rows}
    compute = ttnn.ComputeConfigDescriptor(math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=True)
    kernels = {
        "dm0": more | {"config": ttnn.ReaderConfigDescriptor()},
        "dm1": more | {"config": ttnn.WriterConfigDescriptor()},
        "compute": more | {"config": compute},
    }
    pages = {0: max(shares), 1: max(shares), 2: 2, 3: 1, 4: 1, 5: 1, 6: 1, 8: 4, 9: 4, 10: 2, 11: 1, 12: 1, 13: 1}
    pages |= {14: 1, 15: 1, 16: 2}
    buffers = {index: (count, 2048) for index, count in pages.items()} | {19: (1, 128 * padded)}
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(core, core) for core in CORES])
    run("topk_router_gpt", kernels, buffers, [*tensors, *targets], cores, semaphores=2)
    for tensor, target in zip(found, targets, strict=True):
        assert ttnn.to_numpy(tensor).tobytes() == np.ascontiguousarray(ttnn.to_numpy(target)[:, :k]).tobytes()

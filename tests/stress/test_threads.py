"""Threads calling operators, programs and transfers have one thread's results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import ttnn
from testkit.kernel_parts import copy_tiles
from testkit.parts import add_cb, read_one, tiles_buffer, write_one
from ttnn import metal

THREADS = 6
ROUNDS = 5


def operators(device: ttnn.MeshDevice, seed: int) -> str:
    """Hash of some operators, with tensors that only this thread knows."""
    generator = torch.Generator().manual_seed(seed)
    a, b = (
        ttnn.from_torch(
            torch.randn(96, 128, generator=generator), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
        )
        for _ in range(2)
    )
    results = [ttnn.exp(a), ttnn.add(a, b), ttnn.matmul(a, ttnn.transpose(b, 0, 1)), ttnn.softmax(b, dim=-1)]
    words = b"".join(ttnn.to_torch(result).view(torch.int16).numpy().tobytes() for result in results)
    return hashlib.sha256(words).hexdigest()


def program(device: ttnn.MeshDevice, seed: int) -> str:
    """Hash of what a program of three kernels copies."""
    source, target = (tiles_buffer(device, 4) for _ in range(2))
    source.write(np.random.default_rng(seed).integers(0, 0x40, source.size(), np.uint8))
    built = metal.create_program()
    core = metal.CoreCoord(seed % 4, 0)
    for index in (0, 16):
        add_cb(built, index, 2, cores=core)
    for kernel, config, args in (
        (read_one, metal.ReaderDataMovementConfig(), [source, 4]),
        (copy_tiles, metal.ComputeConfig(), [4]),
        (write_one, metal.WriterDataMovementConfig(), [target, 4]),
    ):
        metal.set_runtime_args(built, metal.create_kernel(built, kernel, core, config), core, args)
    metal.run_program(device, built)
    return hashlib.sha256(target.read().tobytes()).hexdigest()


WORK: tuple[Callable[[ttnn.MeshDevice, int], str], ...] = (operators, program)


@pytest.mark.parametrize("devices", [1, 2])
def test_threads_get_the_results_of_one_thread(devices: int) -> None:
    opened = [ttnn.open_device(device_id=number) for number in range(devices)]
    try:
        tasks = [(WORK[i % 2], opened[i % devices], i) for i in range(THREADS * ROUNDS)]
        alone = [work(device, seed) for work, device, seed in tasks]
        with ThreadPoolExecutor(THREADS) as pool:
            together = list(pool.map(lambda task: task[0](task[1], task[2]), tasks))
        assert together == alone
        for device in opened:
            ttnn.synchronize_device(device)
    finally:
        for device in opened:
            ttnn.close_device(device)


def test_one_tensor_is_read_by_many_threads(device: ttnn.MeshDevice) -> None:
    x = ttnn.from_torch(torch.randn(64, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    expected = ttnn.to_torch(ttnn.exp(x))
    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(lambda _: ttnn.to_torch(ttnn.exp(x)), range(THREADS * ROUNDS)))
    assert all(torch.equal(result, expected) for result in results)

"""Device memory: opening cost, and page bandwidth against numpy's copy.

The copy has the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from inputs import matrix
from ttnn import _engine

PAGE = 2048
PAGES = 128 * 128
PLACEMENTS = {"DRAM": 0, "L1": 1}


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def peak_bytes() -> int:
    """Return this process's highest resident memory since the last reset."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


@pytest.mark.benchmark(group="open and close the memory of a device")
@pytest.mark.parametrize("chip", _engine.chip_names())
def test_open(benchmark: Any, chip: str) -> None:
    before = resident_bytes()
    opened = _engine.Device(chip)
    benchmark.extra_info["resident_bytes"] = resident_bytes() - before
    opened.close()
    benchmark(lambda: _engine.Device(chip).close())


@pytest.mark.benchmark(group="32 MiB of tiles")
@pytest.mark.parametrize("kind", PLACEMENTS)
@pytest.mark.parametrize("direction", ["write", "read"])
def test_pages(benchmark: Any, random: np.random.Generator, device: ttnn.MeshDevice, kind: str, direction: str) -> None:
    data = random.integers(0, 256, PAGES * PAGE, dtype=np.uint8)
    buffer = device.engine.allocate_interleaved(PLACEMENTS[kind], PAGE, PAGES, 128)
    buffer.write(data, 128 * PAGE)
    if direction == "write":
        benchmark(buffer.write, data, 128 * PAGE)
    else:
        benchmark(buffer.read, 128 * PAGE, 128)


@pytest.mark.benchmark(group="32 MiB of tiles")
def test_numpy_copy(benchmark: Any, random: np.random.Generator) -> None:
    benchmark(random.integers(0, 256, PAGES * PAGE, dtype=np.uint8).copy)


@pytest.mark.benchmark(group="32 MiB of tiles")
def test_first_write(benchmark: Any, random: np.random.Generator, device: ttnn.MeshDevice) -> None:
    data = random.integers(0, 256, PAGES * PAGE, dtype=np.uint8)
    kept = []

    def fresh() -> None:
        kept.append(device.engine.allocate_interleaved(0, PAGE, PAGES, 128))
        kept[-1].write(data, 128 * PAGE)

    benchmark.pedantic(fresh, rounds=10, iterations=1)


@pytest.mark.benchmark(group="one tile")
@pytest.mark.parametrize("step", ["allocate", "write", "read"])
def test_one_tile(benchmark: Any, device: ttnn.MeshDevice, step: str) -> None:
    data = np.ones(PAGE, dtype=np.uint8)
    buffer = device.engine.allocate_interleaved(0, PAGE, 1)
    buffer.write(data, PAGE)
    if step == "allocate":
        benchmark(device.engine.allocate_interleaved, 0, PAGE, 1)
    elif step == "write":
        benchmark(buffer.write, data, PAGE)
    else:
        benchmark(buffer.read, PAGE, 1)


@pytest.mark.benchmark(group="matmul, bfloat16, 1024 x 1024: memory beyond operands and result")
@pytest.mark.parametrize("fidelity", ["LoFi", "HiFi4"])
def test_matmul(benchmark: Any, random: np.random.Generator, device: ttnn.MeshDevice, fidelity: str) -> None:
    a, b = (ttnn.Tensor(matrix(random, 1024), ttnn.bfloat16, device, ttnn.TILE_LAYOUT) for _ in range(2))
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity[fidelity])
    # The kernel forgets the highest resident size so far.
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    before = resident_bytes()
    result = ttnn.matmul(a, b, compute_kernel_config=config)
    benchmark.extra_info["peak_bytes_beyond_result"] = peak_bytes() - before - 2 * 1024 * 1024
    result.deallocate()
    benchmark(ttnn.matmul, a, b, compute_kernel_config=config)

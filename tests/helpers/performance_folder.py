"""A performance report as the official profiler writes it, with durations that a test knows."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

_TENSORS = ("INPUT_0", "INPUT_1", "OUTPUT_0")
_COLUMNS = (
    "OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "DEVICE ARCH", "ATTRIBUTES", "MATH FIDELITY", "CORE COUNT",
    "AVAILABLE WORKER CORE COUNT", "HOST START TS", "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]",
    "OP TO OP LATENCY [ns]",
)  # fmt: skip
_LOG = (
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, "
    "trace id counter, zone name, type, source line, source file, meta data\n"
    "0, 1, 2, BRISC, 1, 100, 0, 1024, , , BRISC-KERNEL, ZONE_START, 1, k.cpp, \n"
    "0, 1, 2, BRISC, 2, 200, 0, 1024, , , BRISC-KERNEL, ZONE_END, 1, k.cpp, \n"
)


def write_performance(folder: Path, names: Sequence[str]) -> None:
    """Write a performance report: the n-th of `names` takes 1000 + n nanoseconds."""
    folder.mkdir()
    sides = [f"{side}_PAD[LOGICAL]" for side in "WZYX"]
    facts = (*sides, "LAYOUT", "DATATYPE", "MEMORY")
    tensor = ("1[1]", "1[1]", "64[64]", "64[64]", "TILE", "BFLOAT16", "DEV_0_DRAM_INTERLEAVED")
    with (folder / "ops_perf_results.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*_COLUMNS, *(f"{name}_{fact}" for name in _TENSORS for fact in facts)])
        for number, name in enumerate(names):
            times = (1000 * number, 1100 + number, 1000 + number, 700)
            head = (name, "tt_dnn_device", 1024 * (number + 1), 0, "wormhole_b0", "{}", "HiFi4", 64, 64)
            writer.writerow([*head, *times, *tensor * 3])
    (folder / "profile_log_device.csv").write_text(_LOG)

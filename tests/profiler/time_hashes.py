"""Hashes of predicted operator times, equal everywhere.

On every machine, CPU level and number of threads.

`time_hashes.json`, beside this file, has them and the cycles. As a command this compares them; with `--write` it writes
them anew, which is right only if figures are meant to change.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ttnn

FILE = Path(__file__).with_suffix(".json")
CARDS = ("n150", "p150")

Make = Callable[..., ttnn.Tensor]


def _shards(height: int, width: int, cores: int) -> ttnn.MemoryConfig:
    return ttnn.create_sharded_memory_config(
        (1, 1, height, width), ttnn.CoreGrid(x=cores, y=1), ttnn.ShardStrategy.HEIGHT
    )


def _convolved(t: Make, device: ttnn.MeshDevice) -> Any:
    return ttnn.conv2d(
        input_tensor=t(1, 1, 196, 32, layout=ttnn.ROW_MAJOR_LAYOUT),
        weight_tensor=ttnn.ones((32, 32, 3, 3), dtype=ttnn.bfloat16),
        device=device,
        in_channels=32,
        out_channels=32,
        batch_size=1,
        input_height=14,
        input_width=14,
        kernel_size=(3, 3),
        stride=(1, 1),
        padding=(1, 1),
    )


CASES: dict[str, Callable[[Make, ttnn.MeshDevice], Any]] = {
    "exp": lambda t, _: ttnn.exp(t(1, 1, 320, 320)),
    "gelu in shards": lambda t, _: ttnn.gelu(t(1, 1, 128, 64, memory_config=_shards(128, 64, 4))),
    "add": lambda t, _: ttnn.add(t(1, 1, 256, 256), t(1, 1, 256, 256)),
    "add of a row": lambda t, _: ttnn.add(t(1, 1, 256, 256), t(1, 1, 1, 256)),
    "where": lambda t, _: ttnn.where(t(64, 64), t(64, 64), t(64, 64)),
    "matmul": lambda t, _: ttnn.matmul(t(1, 1, 256, 512), t(1, 1, 512, 256)),
    "matmul of one row of tiles": lambda t, _: ttnn.matmul(t(1, 1, 32, 1024), t(1, 1, 1024, 512)),
    "linear": lambda t, _: ttnn.linear(t(128, 128), t(128, 128), bias=t(1, 128), activation="relu"),
    "softmax": lambda t, _: ttnn.softmax(t(1, 4, 64, 96), -1),
    "layer_norm": lambda t, _: ttnn.layer_norm(t(1, 1, 64, 256)),
    "sum": lambda t, _: ttnn.sum(t(1, 1, 64, 256), -1),
    "transpose": lambda t, _: ttnn.transpose(t(1, 1, 64, 128), -2, -1),
    "permute": lambda t, _: ttnn.permute(t(1, 2, 64, 128), (0, 2, 1, 3)),
    "concat": lambda t, _: ttnn.concat([t(1, 1, 64, 64), t(1, 1, 64, 64)], -1),
    "slice": lambda t, _: ttnn.slice(t(1, 1, 128, 128), (0, 0, 0, 0), (1, 1, 64, 64)),
    "to shards and back": lambda t, _: ttnn.sharded_to_interleaved(
        ttnn.interleaved_to_sharded(t(1, 1, 256, 64), _shards(256, 64, 8))
    ),
    "untilize": lambda t, _: ttnn.to_layout(t(1, 1, 128, 256), ttnn.ROW_MAJOR_LAYOUT),
    "conv2d": _convolved,
    "mul_bw": lambda t, _: ttnn.mul_bw(t(64, 64), t(64, 64), t(64, 64)),
}


def times_of(card: str, name: str) -> dict[str, Any]:
    """Run a case; return device operation cycles and prediction hash."""
    with ttnn.manage_device(device_id=0, chip=card) as device:

        def made(*shape: int, layout: ttnn.Layout = ttnn.TILE_LAYOUT, **options: Any) -> ttnn.Tensor:
            return ttnn.ones(shape, dtype=ttnn.bfloat16, layout=layout, device=device, **options)

        with ttnn.profiler.profile() as session:
            CASES[name](made, device)
    rows = [row for row in session.rows if row.plan.name != "FullDeviceOperation"]
    assert rows
    assert not session.missing
    told = repr([(row.plan.name, row.plan.cores, row.plan.fidelity, row.plan.timing) for row in rows])
    return {"cycles": [row.plan.timing.cycles for row in rows], "sha256": hashlib.sha256(told.encode()).hexdigest()}


def names() -> list[str]:
    """Return the names of all cases on all cards."""
    return [f"{card} {name}" for card in CARDS for name in CASES]


def differences() -> Iterator[str]:
    """Yield what differs from the file."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    for name in names():
        found = times_of(*name.split(" ", 1))
        if found != kept.get(name):
            yield f"{name}: {kept.get(name)} in the file, {found} now"


def main() -> int:
    """Compare, or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the file anew")
    if parser.parse_args().write:
        found = {name: times_of(*name.split(" ", 1)) for name in names()}
        FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return 0
    lines = list(differences())
    print("\n".join(lines) or "no differences")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())

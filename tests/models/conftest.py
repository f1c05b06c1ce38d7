"""Model tests: operators against golden functions; result hashes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ttnn
from testkit.model_checks import Operators
from ttnn.operation import slow_path

HASHES = Path(__file__).parent / "hashes.json"
"""SHA-256 of model results, by model and run; machine-independent.

`TTNN_WRITE_HASHES=1 pytest tests/models` writes them anew, which is right only when bits are meant to change.
"""


@pytest.fixture
def operators() -> Iterator[Operators]:
    """Compare every operator of a test with its golden function."""
    seen = Operators()
    slow_path.REPORTERS.append(seen)
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        # Judged by the test, which has a bar for each operator.
        ttnn.manage_config("comparison_mode_pcc", -1.0),
        ttnn.register_pre_operation_hook(seen.before),
    ):
        yield seen
    slow_path.REPORTERS.remove(seen)


@pytest.fixture
def model_device() -> Iterator[ttnn.MeshDevice]:
    """Return a device with room for convolution windows and traces."""
    device = ttnn.open_device(device_id=0, l1_small_size=1 << 15, trace_region_size=1 << 23)
    yield device
    ttnn.close_device(device)


@pytest.fixture
def fast() -> Iterator[None]:
    """Run the test in the fast mode."""
    with ttnn.manage_config("numerics", "fast"):
        yield


@pytest.fixture
def same_hash() -> Callable[[str, str, str], None]:
    """Return a function that compares a model run's hash."""

    def check(model: str, run: str, digest: str) -> None:
        known = json.loads(HASHES.read_text(encoding="utf-8")) if HASHES.exists() else {}
        if os.environ.get("TTNN_WRITE_HASHES") == "1":
            known.setdefault(model, {})[run] = digest
            HASHES.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        assert known.get(model, {}).get(run) == digest, f"{model}, {run}"

    return check

"""Shared fixtures: open device, golden vector folder, clean engine afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import ttnn
from ttnn import _engine

REPOSITORY = Path(__file__).resolve().parent.parent


def golden_folder() -> Path | None:
    """Return the golden vector folder, or None.

    `TTNN_GOLDEN`, else `shared/golden` next to the repository.
    """
    named = os.environ.get("TTNN_GOLDEN")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "golden"
    return folder if (folder / "fpu").is_dir() else None


def pytest_report_header() -> list[str]:
    """Return the package and the vectors of this run."""
    return [f"ttnn: {Path(ttnn.__file__).parent}", f"golden vectors: {golden_folder() or 'only the compact set'}"]


@pytest.fixture(scope="session")
def golden() -> Path:
    """Return the full golden vector folder, or skip.

    The test fails if they are required.
    """
    folder = golden_folder()
    if folder is not None:
        return folder
    message = "no golden vectors: set TTNN_GOLDEN to the folder that holds fpu/, sfpu/, host/ and ops/"
    if os.environ.get("TTNN_GOLDEN_REQUIRED") == "1":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Iterator[ttnn.MeshDevice]:
    """Return an open device for a generated test's operator.

    It is closed after the test. `ARCH_NAME` chooses the chip, where an operator does not.
    """
    entry = getattr(getattr(request.node, "callspec", None), "params", {}).get("entry")
    chip = "blackhole" if getattr(entry, "only_on", None) is ttnn.Arch.BLACKHOLE else ttnn.CONFIG.arch_name
    with ttnn.manage_config("arch_name", chip):
        opened = ttnn.open_device(device_id=0)
    yield opened
    if opened.is_open:
        ttnn.close_device(opened)


@pytest.fixture(params=["wormhole_b0", "blackhole"])
def any_device(request: pytest.FixtureRequest) -> Iterator[ttnn.MeshDevice]:
    """Return an open device of each chip generation in turn."""
    with ttnn.manage_config("arch_name", request.param), ttnn.manage_device(device_id=0) as opened:
        yield opened


@pytest.fixture
def cpu_level() -> Iterator[None]:
    """Allow the test to change the CPU level; it is restored afterwards."""
    before = _engine.cpu_level()
    yield
    _engine.set_cpu_level(before)


@pytest.fixture
def host_threads() -> Iterator[None]:
    """Allow changes of the host threads, which are restored afterwards."""
    before = _engine.threads()
    yield
    _engine.set_threads(before)

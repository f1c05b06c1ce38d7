"""C++ kernels need a compiler; their compiled forms are kept from test to test, but not beyond the run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ttnn.base.exceptions import KernelCompileError
from ttnn.metal.cpp.toolchain import find_toolchain


@pytest.fixture(scope="session")
def compiled_kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for compiled kernels that the workers of a run share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "compiled_kernels"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(autouse=True)
def compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, compiled_kernels: Path) -> None:
    """Compile to that folder; without a compiler the test is skipped, or fails if it is required."""
    monkeypatch.setenv("TT_METAL_CACHE", str(compiled_kernels))
    if "without_compiler" not in request.keywords:
        try:
            find_toolchain()
        except KernelCompileError as error:
            if os.environ.get("TTNN_KERNELS_REQUIRED") == "1":
                pytest.fail(str(error))
            pytest.skip(str(error))

"""Compiled C++ kernels, shared by tests within one run.

C++ kernels need a compiler.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ttnn.base.exceptions import KernelCompileError
from ttnn.metal.cpp.toolchain import find_toolchain


@pytest.fixture(scope="session")
def compiled_kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the run's folder for compiled kernels, shared by workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "compiled_kernels"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(autouse=True)
def compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, compiled_kernels: Path) -> None:
    """Compile to that folder, or skip without a compiler.

    It fails if one is required.
    """
    monkeypatch.setenv("TT_METAL_CACHE", str(compiled_kernels))
    if "without_compiler" not in request.keywords:
        try:
            find_toolchain()
        except KernelCompileError as error:
            if os.environ.get("TTNN_KERNELS_REQUIRED") == "1":
                pytest.fail(str(error))
            pytest.skip(str(error))

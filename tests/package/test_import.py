"""Modules loaded by `import ttnn`, and a first program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ttnn

HEAVY = ("torch", "jax", "onnx", "matplotlib", "sklearn", "rich", "pandas")


def test_import_brings_no_heavy_package() -> None:
    code = f"import sys, ttnn; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_installed_package_is_tested() -> None:
    """The CI script tests the wheel, not the source tree."""
    if os.environ.get("TTNN_TEST_INSTALLED") == "1":
        repository = Path(__file__).resolve().parents[2]
        assert repository not in Path(ttnn.__file__).resolve().parents


def test_helpers_of_the_package_are_no_names_of_ttnn() -> None:
    """Programs find official names, our errors, and documented additions."""
    assert not {"BLOCK_FLOATS", "ELEMENT_BYTES", "FORMAT_CODE", "VendorEnum", "current_queue", "fatal"} & set(dir(ttnn))


def test_version_is_that_of_the_distribution() -> None:
    assert ttnn.__version__ == ttnn._engine.__version__


def test_first_program() -> None:
    """The program that the introduction to TT-NN begins with, unchanged."""
    torch = pytest.importorskip("torch")
    device_id = 0
    device = ttnn.open_device(device_id=device_id)
    torch_input_tensor = torch.rand(2, 4, dtype=torch.float32)
    input_tensor = ttnn.from_torch(torch_input_tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    output_tensor = ttnn.exp(input_tensor)
    torch_output_tensor = ttnn.to_torch(output_tensor)
    ttnn.close_device(device)
    assert torch_output_tensor.shape == (2, 4)
    assert torch_output_tensor.dtype == torch.bfloat16
    exact = torch.exp(torch_input_tensor.to(torch.bfloat16).to(torch.float64))
    assert torch.allclose(torch_output_tensor.to(torch.float64), exact, rtol=2**-7, atol=0.0)

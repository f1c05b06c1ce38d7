"""Models in a folder of their own, which is the folder of the explorer."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttnn.compiler.explorer.folder import IR_FOLDER, ROOT
from ttnn.compiler.explorer.runner import Runner

SMALL = """module @small {
  func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x32xf32>, %b: tensor<1x32xf32>) -> tensor<32x32xf32> {
    %0 = "ttir.matmul"(%x, %w) : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32> loc("product")
    %1 = "ttir.add"(%0, %b) : (tensor<32x32xf32>, tensor<1x32xf32>) -> tensor<32x32xf32> loc("sum")
    %2 = "ttir.softmax"(%1) <{dimension = 1 : si32}> : (tensor<32x32xf32>) -> tensor<32x32xf32> loc("shares")
    return %2 : tensor<32x32xf32> loc(unknown)
  }
}
"""


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the explorer, with the model `small.mlir`."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "small.mlir").write_text(SMALL)
    monkeypatch.setenv(ROOT, str(folder))
    monkeypatch.delenv(IR_FOLDER, raising=False)
    monkeypatch.setattr(Runner, "_last", {})
    return folder

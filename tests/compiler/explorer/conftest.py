"""Models in the folder that the explorer serves."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    # Here, since this file is read without the compiler's packages, too.
    from ttnn.compiler.explorer.folder import IR_FOLDER, ROOT
    from ttnn.compiler.explorer.runner import Runner

    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "small.mlir").write_text(SMALL)
    monkeypatch.setenv(ROOT, str(folder))
    monkeypatch.delenv(IR_FOLDER, raising=False)
    monkeypatch.setattr(Runner, "_last", {})
    return folder


@pytest.fixture
def address(top: Path) -> Iterator[str]:
    """Address of a running `tt-explorer`."""
    with socket.socket() as found:
        found.bind(("localhost", 0))
        port = found.getsockname()[1]
    script = "import sys, tt_adapter; sys.exit(tt_adapter.main(sys.argv[1:]))"
    start = [sys.executable, "-c", script, "-q", "-p", str(port), str(top / "small.mlir")]
    with subprocess.Popen(start, stdout=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 300
            while True:
                try:
                    with urllib.request.urlopen(f"http://localhost:{port}/check_health") as answer:
                        assert answer.read() == b"model_explorer_ok"
                    break
                except OSError:
                    assert process.poll() is None
                    assert time.monotonic() < end
                    time.sleep(0.2)
            yield f"http://localhost:{port}"
        finally:
            # Not an interrupt, which processes in the background of a shell ignore.
            process.terminate()

"""Tests of tt-forge, unmodified.

`TTNN_TT_FORGE` is the folder of a checkout of tenstorrent/tt-forge-fe. Of `test_api.py` the test of TensorFlow is left
out, with its import.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_CHECKOUT = os.environ.get("TTNN_TT_FORGE")


@pytest.mark.skipif(_CHECKOUT is None, reason="TTNN_TT_FORGE names no checkout of tt-forge")
@pytest.mark.parametrize("file", ["test/mlir/test_ops_onnx.py", "test/test_api.py"])
def test_file_of_the_checkout(file: str, tmp_path: Path) -> None:
    source = Path(_CHECKOUT or "", "forge", file).read_text(encoding="utf-8")
    copy = tmp_path / Path(file).name
    copy.write_text(source.replace("import tensorflow as tf\n", "tf = None\n"), encoding="utf-8")
    options = ["-q", "-c", os.devnull, "--noconftest", "-p", "no:cacheprovider", "-k", "not test_tf"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout

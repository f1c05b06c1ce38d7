"""Programs of jax as texts, sources, files and times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tt_jax
import ttnn.jax


def _layer(w: Any, x: Any) -> Any:
    return jax.nn.relu(x @ w)


_W, _X = np.ones((8, 32), np.float32), np.ones((4, 8), np.float32)


def test_text_and_time_of_a_function(tt: Any) -> None:
    text = ttnn.jax.ttir(jax.jit(_layer), _W, _X)
    assert "ttir.relu" in text or "ttir.maximum" in text
    assert ttnn.jax.ttir(_layer, _W, _X) == text
    assert ttnn.jax.predicted_time(_layer, _W, _X) > 0


def test_sources_are_written(tt: Any, tmp_path: Path) -> None:
    tt_jax.codegen_py(_layer, _W, _X, export_path=str(tmp_path / "py"))
    assert "ttnn.matmul" in (tmp_path / "py" / "main.py").read_text()
    tt_jax.codegen_cpp(_layer, _W, _X, export_path=str(tmp_path / "cpp"))
    assert "ttnn::matmul" in (tmp_path / "cpp" / "main.cpp").read_text()


def test_artifacts_are_written(tt: Any, tmp_path: Path) -> None:
    text, library, binary = tt_jax.serialize_compiled_artifacts(_layer, _W, _X)
    assert "ttir." in text
    assert "ttnn.matmul" in library
    tt_jax.serialize_compiled_artifacts_to_disk(_layer, _W, _X, output_prefix=str(tmp_path / "out" / "layer"))
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["layer.ttnn", "layer_ttir.mlir", "layer_ttnn.mlir"]
    assert (tmp_path / "out" / "layer.ttnn").read_bytes() == binary


def test_unknown_options_are_refused(tt: Any, tmp_path: Path) -> None:
    with pytest.raises(ttnn.TtnnError, match='option "math_fidelty" is unknown; known: '):
        tt_jax.codegen_py(jnp.tanh, _X, compiler_options={"math_fidelty": "hifi4"}, export_path=str(tmp_path))
    assert list(tmp_path.iterdir()) == []

"""Mixture of experts on several chips: gpt-oss on 1x8 and 2x4.

By the official tests.
"""

from __future__ import annotations

import importlib
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import ttnn
from testkit.official_ports import Distances

TESTS = "models.demos.gpt_oss.tests.unit.test_modules"
REPLACED = "ttnn.experimental.moe_compute_utils, which is imported and not called"
MESHES = pytest.mark.parametrize("mesh", [("t3k", (1, 8)), ("t3k", (2, 4))], ids=["1x8", "2x4"], indirect=True)


@pytest.fixture
def mesh(request: pytest.FixtureRequest, ports: Path) -> Iterator[ttnn.MeshDevice]:
    """Return a mesh of a system, with a fabric of rings."""
    system, shape = request.param
    with ttnn.manage_config("system", system):
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D_RING)
        try:
            with ttnn.create_mesh_device(ttnn.MeshShape(*shape)) as opened:
                yield opened
        finally:
            ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


@MESHES
@pytest.mark.parametrize(
    ("part", "bar"),
    [
        *(("rms_norm", 0.999), ("attention", 0.99), ("router", 0.999)),
        *(("experts", 0.92), ("mlp", 0.94), ("decoder", 0.92)),
    ],
)
def test_gpt_oss_decodes(
    part: str,
    bar: float,
    mesh: ttnn.MeshDevice,
    distances: Distances,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    checkout: Path,
) -> None:
    """One layer, with 8 experts instead of 32 and random weights."""
    source = checkout / "models/demos/gpt_oss/configs/gpt-oss-20b/config.json"
    config = json.loads(source.read_text(encoding="utf-8"))
    config["num_local_experts"] = 8
    del config["quantization_config"]
    folder = tmp_path / "gpt-oss-20b"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    monkeypatch.setenv("HF_MODEL", str(folder))
    # The layer imports helpers of a fused program that the tested modes do not run.
    helpers = types.ModuleType("ttnn.experimental.moe_compute_utils")
    helpers.__getattr__ = lambda name: None  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, helpers.__name__, helpers)
    monkeypatch.setattr(ttnn.experimental, "__path__", [], raising=False)
    official = importlib.import_module(TESTS)
    distances.of(importlib.import_module("models.common.utility_functions"), monkeypatch)
    thresholds = json.loads((checkout / "models/demos/gpt_oss/unit_test_thresholds.json").read_text(encoding="utf-8"))
    rows, columns = mesh.shape
    if rows > 1 and part in ("experts", "mlp", "decoder"):
        # The layer states that each row of chips has as many of the chosen experts.
        with pytest.raises(ttnn.ParameterError, match=r"nnz=2, but sparsity has \d elements that are not zero"):
            official.test_decoder(mesh, None, 1, 1, 0, part, thresholds, None)
        return
    official.test_decoder(mesh, None, 1, 1, 0, part, thresholds, None)
    official_bar = thresholds["gpt-oss-20b"]["decode"][part]
    distances.report(f"gpt_oss, {part}", f"20b with 8 experts, decode, {rows}x{columns}", bar, official_bar, REPLACED)

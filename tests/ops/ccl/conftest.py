"""Meshes of these tests: a ring, and two lines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import ttnn
from testkit.meshes import mesh_of


@pytest.fixture
def ring() -> Iterator[ttnn.MeshDevice]:
    with mesh_of((1, 8), ttnn.FabricConfig.FABRIC_1D_RING) as mesh:
        yield mesh


@pytest.fixture
def line() -> Iterator[ttnn.MeshDevice]:
    with mesh_of((2, 4), ttnn.FabricConfig.FABRIC_1D) as mesh:
        yield mesh

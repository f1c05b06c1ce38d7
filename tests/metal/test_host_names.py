"""The host API has TT-Metalium's names, in both styles.

Each works on a mesh of one chip.
"""

from __future__ import annotations

import host_names
import pytest

import ttnn
from ttnn import metal

FUNCTIONS = [name for name in host_names.METAL.split() if not isinstance(getattr(metal, name), type)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_host_function_has_both_spellings(name: str) -> None:
    python = host_names.snake_case(name)
    assert callable(getattr(metal, name))
    ours = getattr(metal, python)
    assert ours is getattr(metal, name) or name in ("CreateDevice", "CloseDevice")
    assert ours.__doc__


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (metal, host_names.SPELLED_AS_IN_CPP),
        (metal, host_names.TYPES),
        (ttnn.MeshDevice, host_names.MESH_DEVICE),
        (metal.CommandQueue, host_names.QUEUE),
        (metal.MeshBuffer, host_names.MESH_BUFFER),
        (metal.CircularBufferConfig, host_names.CIRCULAR_BUFFER_CONFIG),
        (ttnn, host_names.TTNN),
    ],
    ids=("functions", "types", "mesh device", "queue", "mesh buffer", "circular buffer", "ttnn"),
)
def test_official_host_names_exist(where: object, names: str) -> None:
    assert [name for name in names.split() if not hasattr(where, name)] == []

"""Golden functions are in `ttnn.golden` modules named as operator folders."""

from __future__ import annotations

from functools import partial

import pytest

from ttnn.operation import registry


@pytest.mark.parametrize("entry", [entry for entry in registry.entries() if entry.golden is not None], ids=str)
def test_golden_functions_mirror_operators(entry: registry.Op) -> None:
    assert entry.golden is not None
    run = entry.run.func if isinstance(entry.run, partial) else entry.run
    category = run.__module__.removeprefix("ttnn.ops.").rpartition(".")[0]
    assert entry.golden.__module__ in (f"ttnn.golden.{category}", "ttnn.golden.special")

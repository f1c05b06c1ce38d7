"""Plugin of pytest: tests fail without a program of the device.

Marked tests of results that need none, by their names in `TTNN_WITHOUT_PROGRAM`, are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch

from ttnn.compiler.frontends.torch.compiled import Compiled


@pytest.fixture(autouse=True)
def device_programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Count the programs that run in a test."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    ran: list[Compiled] = []
    first = Compiled.__call__

    def counted(self: Compiled, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ran.append(self)
        return first(self, *inputs)

    monkeypatch.setattr(Compiled, "__call__", counted)
    yield
    name = request.node.originalname
    assert ran or name in os.environ.get("TTNN_WITHOUT_PROGRAM", "").split(), "no program of the device ran"

from __future__ import annotations

from collections.abc import Iterator

import pytest

import ttnn


@pytest.fixture
def device() -> Iterator[ttnn.MeshDevice]:
    with ttnn.manage_device(device_id=0) as device:
        yield device

"""What every bench may ask for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import ttnn


@pytest.fixture(scope="session")
def device() -> Iterator[ttnn.MeshDevice]:
    with ttnn.manage_device(device_id=0) as opened:
        yield opened


@pytest.fixture(scope="session")
def random() -> np.random.Generator:
    return np.random.default_rng(1)

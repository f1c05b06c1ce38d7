"""`ttnn.apply_device_delay`: arguments are checked, values do not change."""

from __future__ import annotations

from typing import Any

import pytest

import ttnn
from testkit.meshes import mesh_of


def test_a_delay_for_each_chip() -> None:
    with mesh_of((2, 4), ttnn.FabricConfig.FABRIC_1D) as mesh:
        assert ttnn.apply_device_delay(mesh, [[0, 1, 2, 3], [4, 5, 6, 7]]) is None
        assert ttnn.apply_device_delay(mesh, [[9] * 4] * 2, subdevice_id=ttnn.SubDeviceId(0)) is None
        with pytest.raises(ttnn.ParameterError, match=r"delays rows \(1\) must match mesh rows \(2\)"):
            ttnn.apply_device_delay(mesh, [[0] * 4])
        with pytest.raises(ttnn.ParameterError, match=r"delays cols for row 1 \(3\) must match mesh cols \(4\)"):
            ttnn.apply_device_delay(mesh, [[0] * 4, [0] * 3])


@pytest.mark.parametrize("delays", [5, [5], [[-1]], [["1"]], [[2**32]], [[True]], None], ids=str)
def test_other_delays_are_errors(device: ttnn.MeshDevice, delays: Any) -> None:
    with pytest.raises(ttnn.ArgumentError, match="delays must be lists of cycles"):
        ttnn.apply_device_delay(device, delays)

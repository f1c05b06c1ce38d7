"""Dispatch cores of chips and systems, and their compute grids.

Expected grids: the core descriptors of the official package; defaults: its `create_dispatch_core_config`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import ttnn
from ttnn.base.config import manage_config
from ttnn.device.device_info import get_device_info
from ttnn.device.lifecycle import get_dispatch_core_axis

ETH, WORKER = ttnn.DispatchCoreType.ETH, ttnn.DispatchCoreType.WORKER
ROW, COL = ttnn.DispatchCoreAxis.ROW, ttnn.DispatchCoreAxis.COL


@contextmanager
def mesh(system: str, shape: tuple[int, int], config: ttnn.DispatchCoreConfig | None) -> Iterator[ttnn.MeshDevice]:
    """Open a mesh of a system."""
    with manage_config("system", system):
        device = ttnn.open_mesh_device(ttnn.MeshShape(*shape), dispatch_core_config=config)
        try:
            yield device
        finally:
            ttnn.close_mesh_device(device)


@pytest.mark.parametrize(
    ("system", "kind", "grid"),
    [
        ("n150", WORKER, (8, 8)),
        ("n300", ETH, (8, 8)),
        ("n300_2x2", ETH, (8, 8)),
        ("t3k", ETH, (8, 8)),
        ("galaxy", WORKER, (8, 9)),
        ("tg", WORKER, (8, 8)),
        ("p150_x4", WORKER, (13, 10)),
    ],
)
def test_systems_of_n300_cards_dispatch_from_ethernet_cores(
    system: str, kind: ttnn.DispatchCoreType, grid: tuple[int, int]
) -> None:
    with manage_config("system", system):
        made = ttnn.DispatchCoreConfig()
        assert made.type is kind
        # A column is one of worker cores.
        assert ttnn.DispatchCoreConfig(axis=COL).type is WORKER
        for config in (None, made, ttnn.DispatchCoreConfig(None, None, ttnn.FabricTensixConfig.DISABLED)):
            device = ttnn.open_mesh_device(dispatch_core_config=config)
            assert device.compute_with_storage_grid_size() == ttnn.CoreCoord(*grid)
            ttnn.close_mesh_device(device)


@pytest.mark.parametrize(
    ("config", "grid", "cores"),
    [
        (None, (8, 8), (8, 8)),
        (ttnn.DispatchCoreConfig(ETH), (8, 8), (8, 8)),
        (ttnn.DispatchCoreConfig(ETH, ROW), (8, 8), (8, 8)),
        (ttnn.DispatchCoreConfig(WORKER), (8, 7), (8, 8)),
        (ttnn.DispatchCoreConfig(WORKER, COL), (7, 8), (8, 8)),
        (ttnn.DispatchCoreConfig(axis=COL), (7, 8), (8, 8)),
    ],
    ids=str,
)
def test_grids_of_an_n300(
    config: ttnn.DispatchCoreConfig | None, grid: tuple[int, int], cores: tuple[int, int]
) -> None:
    with mesh("n300", (1, 2), config) as device:
        assert device.compute_with_storage_grid_size() == ttnn.CoreCoord(*grid)
        info = get_device_info(device)
        assert (info.num_x_cores, info.num_y_cores) == cores
        assert get_dispatch_core_axis(device) is (COL if grid[0] == 7 else ROW)
        # A tile on each core.
        columns, rows = grid
        shards = ttnn.create_sharded_memory_config(
            [32, 32],
            ttnn.CoreGrid(x=columns, y=rows),
            ttnn.ShardStrategy.HEIGHT,
            use_height_and_width_as_shard_shape=True,
        )
        shape = [32 * rows * columns, 32]
        ones = ttnn.ones(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=shards)
        parts = ttnn.get_device_tensors(ttnn.add(ones, ones))
        assert all((ttnn.to_torch(part) == 2).all() for part in parts)


def test_a_mesh_without_a_chosen_system_has_the_dispatch_of_its_system() -> None:
    # The configuration is made before the system is known.
    config = ttnn.DispatchCoreConfig()
    assert config.type is WORKER
    for shape in ((1, 2), (2, 2), (1, 8)):
        with ttnn.create_mesh_device(ttnn.MeshShape(*shape), dispatch_core_config=config) as device:
            assert device.compute_with_storage_grid_size() == ttnn.CoreCoord(8, 8)


def test_an_n150_has_a_grid_of_8_by_8_with_ethernet_dispatch_too() -> None:
    device = ttnn.open_device(device_id=0, dispatch_core_config=ttnn.DispatchCoreConfig(ETH))
    assert device.compute_with_storage_grid_size() == ttnn.CoreCoord(8, 8)
    info = get_device_info(device)
    assert (info.num_x_cores, info.num_y_cores) == (8, 9)
    ttnn.close_device(device)


def test_cards_of_a_t3000_have_the_default_of_their_system() -> None:
    with manage_config("system", "t3k"), pytest.MonkeyPatch.context() as patch:
        patch.setenv("TT_VISIBLE_DEVICES", "0")
        assert ttnn.DispatchCoreConfig().type is ETH
        patch.setenv("TT_VISIBLE_DEVICES", "2,3")
        assert ttnn.DispatchCoreConfig().type is ETH


@pytest.mark.parametrize("system", ["galaxy", "galaxy_torus", "tg"])
def test_chips_without_idle_ethernet_cores_refuse_them(system: str) -> None:
    message = rf"dispatch on Ethernet cores needs idle ones: all 16 of chip \d+ of system {system} have links; choose"
    with manage_config("system", system), pytest.raises(ttnn.UnsupportedError, match=message):
        ttnn.open_mesh_device(ttnn.MeshShape(1, 2), dispatch_core_config=ttnn.DispatchCoreConfig(ETH))


def test_dispatch_cores_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ttnn.UnsupportedError, match="COL axis is not supported for ETH dispatch core type"):
        ttnn.DispatchCoreConfig(ETH, COL)
    with pytest.raises(ttnn.ArgumentError, match="fabric_tensix_config must be a FabricTensixConfig, got 1"):
        ttnn.DispatchCoreConfig(fabric_tensix_config=1)
    with pytest.raises(
        ttnn.UnsupportedError, match="ROW dispatch core axis is not supported for blackhole arch unless"
    ):
        ttnn.open_device(device_id=0, dispatch_core_config=ttnn.DispatchCoreConfig(WORKER, ROW), chip="p150")
    expected = re.escape(
        "DispatchCoreConfig(type=DispatchCoreType.ETH, axis=DispatchCoreAxis.COL) is not modelled on p150"
    )
    with pytest.raises(ttnn.UnsupportedError, match=expected):
        ttnn.open_device(device_id=0, dispatch_core_config=ttnn.DispatchCoreConfig(ETH), chip="p150")


MUX = ttnn.FabricTensixConfig.MUX


@pytest.mark.parametrize(
    ("system", "shape", "axis", "grid"),
    [
        ("t3k", (1, 4), ROW, (8, 7)),
        ("t3k", (1, 4), COL, (7, 8)),
        ("galaxy", (1, 4), None, (8, 9)),
        ("galaxy", (1, 4), COL, (7, 10)),
        ("p150_x4", (1, 4), None, (14, 9)),
        ("p150_x4", (1, 4), COL, (13, 10)),
        ("p300", (1, 2), None, (12, 9)),
    ],
)
def test_mux_cores_are_those_beside_dispatch(
    system: str, shape: tuple[int, int], axis: ttnn.DispatchCoreAxis | None, grid: tuple[int, int]
) -> None:
    with manage_config("system", system):
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D, fabric_tensix_config=MUX)
        try:
            config = ttnn.DispatchCoreConfig(WORKER, axis, MUX)
            assert config.axis is (axis or ROW)
            with mesh(system, shape, config) as device:
                assert device.compute_with_storage_grid_size() == ttnn.CoreCoord(*grid)
                ones = ttnn.ones([1, 1, 32, 32], layout=ttnn.TILE_LAYOUT, device=device)
                parts = ttnn.get_device_tensors(ttnn.all_reduce(ones))
                assert all((ttnn.to_torch(part) == shape[1]).all() for part in parts)
        finally:
            ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)
    assert ttnn.DispatchCoreConfig(fabric_tensix_config=MUX).axis is ROW


def test_mux_cores_need_dispatch_on_worker_cores() -> None:
    with manage_config("system", "t3k"):
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D, fabric_tensix_config=MUX)
        try:
            with pytest.raises(
                ttnn.UnsupportedError, match=r"the fabric has mux cores .*choose DispatchCoreConfig\(type"
            ):
                ttnn.open_mesh_device(ttnn.MeshShape(1, 4))
        finally:
            ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 4)) as device:
        assert device.compute_with_storage_grid_size() == ttnn.CoreCoord(8, 8)

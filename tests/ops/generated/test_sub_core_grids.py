"""Program cores: device cores return equal results, others raise."""

from __future__ import annotations

import pytest

import ttnn
from testkit.operands import describe
from testkit.signature_calls import Call, calls
from ttnn.operation import registry

OPTION = "sub_core_grids"
ENTRIES = [
    entry for entry in registry.entries() if any(p.name == OPTION for sig in entry.signatures for p in sig.params)
]


def _cores(*corners: tuple[tuple[int, int], tuple[int, int]]) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet([ttnn.CoreRange(start, end) for start, end in corners])


INSIDE = [_cores(((0, 0), (7, 7))), _cores(((5, 6), (5, 6))), _cores(((3, 0), (3, 2)), ((6, 4), (7, 7)))]
OUTSIDE = [_cores(((0, 0), (13, 0))), _cores(((1, 1), (2, 2)), ((0, 10), (0, 10))), _cores(((100, 100), (101, 101)))]


def _taking_cores(entry: registry.Op, device: ttnn.MeshDevice) -> list[Call]:
    return [call for call in calls(entry, device) if any(p.name == OPTION for p in call.signature.params)]


# `sampling` has a core for every user; tests/ops/random/test_sampling.py has those that it refuses. The output of
# `nlp_concat_heads_decode` is in the cores; tests/ops/transformer/test_nlp_heads_decode.py has it.
OF_ANY_NUMBER = [entry for entry in ENTRIES if entry.name not in ("sampling", "experimental.nlp_concat_heads_decode")]


@pytest.mark.parametrize("entry", OF_ANY_NUMBER, ids=str)
def test_results_do_not_depend_on_the_cores(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    for index, call in enumerate(_taking_cores(entry, device)):
        expected = describe(call())
        for cores in INSIDE:
            # In-place forms have changed the operands.
            fresh = _taking_cores(entry, device)[index]
            assert describe(fresh(sub_core_grids=cores)) == expected


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_other_cores_are_refused(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    grid = device.compute_with_storage_grid_size()
    for call in _taking_cores(entry, device):
        before = device.engine.state_hash()
        for cores in OUTSIDE:
            with pytest.raises(ttnn.ParameterError) as beyond:
                call(sub_core_grids=cores)
            assert str(beyond.value) == (
                f"ttnn.{entry.name}: sub_core_grids={cores} is not within the device's {grid.x}x{grid.y} cores, "
                f"0-0 to {grid.x - 1}-{grid.y - 1}."
            )
        with pytest.raises(ttnn.ParameterError, match="sub_core_grids names no core"):
            call(sub_core_grids=ttnn.CoreRangeSet([]))
        with pytest.raises(ttnn.ArgumentError, match="incompatible function arguments"):
            call(sub_core_grids=ttnn.CoreRange((0, 0), (1, 1)))
        assert device.engine.state_hash() == before


def test_the_grid_is_the_device_s_own() -> None:
    with ttnn.manage_device(0, chip="p150") as device:
        x = ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
        assert describe(ttnn.exp(x, sub_core_grids=_cores(((8, 9), (8, 9))))) == describe(ttnn.exp(x))


TAKING_BOTH = [
    entry
    for entry in ENTRIES
    if any({OPTION, "sub_device_id"} <= {param.name for param in sig.params} for sig in entry.signatures)
]


@pytest.mark.parametrize("entry", TAKING_BOTH, ids=str)
def test_cores_and_a_sub_device_exclude_each_other(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    for call in _taking_cores(entry, device):
        if any(param.name == "sub_device_id" for param in call.signature.params):
            with pytest.raises(ttnn.ParameterError, match="Cannot specify both sub_core_grids and sub_device_id"):
                call(sub_core_grids=INSIDE[0], sub_device_id=ttnn.SubDeviceId(0))
            call(sub_device_id=ttnn.SubDeviceId(0))

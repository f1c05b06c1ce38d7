"""Rows of operations of binaries: the calls that they add."""

from __future__ import annotations

from typing import Any

import pytest

from ttnn.compiler.conversion.ttnn_to_calls.calls import DEVICE, Name, Ref
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description
from ttnn.compiler.conversion.ttnn_to_calls.parts import DRAM, Calls
from ttnn.compiler.conversion.ttnn_to_calls.rows import row
from ttnn.compiler.conversion.ttnn_to_calls.upgrade import upgraded


def tensor(number: int, data_type: str = "BFloat16", *, tiled: bool = True, host: bool = False) -> dict[str, Any]:
    return {"global_id": number, "desc": Description((1, 1, 32, 64), data_type, tiled, None if host else DRAM)}


def added(text: str, table: dict[str, Any], **options: Any) -> list[tuple[str, list[Any], dict[str, Any]]]:
    calls = Calls()
    row(text, **options)(calls, table)
    return [(call.function, call.arguments, call.keywords) for call in calls.added]


def test_operands_are_converted_to_the_layout_and_type_of_their_kind() -> None:
    table = {"in": tensor(1, "Float32"), "index": tensor(2, "Int32", tiled=False), "out": tensor(9, tiled=False)}
    assert added("ttnn.f in:rows/half index:tiles/UInt32", table) == [
        ("ttnn.typecast", [Ref(1), Name("ttnn.bfloat16")], {}),
        ("ttnn.to_layout", [Ref(-1), Name("ttnn.ROW_MAJOR_LAYOUT")], {}),
        ("ttnn.to_layout", [Ref(2), Name("ttnn.TILE_LAYOUT")], {}),
        ("ttnn.typecast", [Ref(-3), Name("ttnn.uint32")], {}),
        ("ttnn.f", [Ref(-2), Ref(-4)], {"memory_config": DRAM}),
    ]


def test_missing_fields_have_defaults_or_are_left_out() -> None:
    table = {"in": tensor(1), "out": tensor(9)}
    (call,) = added("ttnn.f in axis? =mode?nearest:text =seed?7:int =scale?:float", table)
    assert call == ("ttnn.f", [Ref(1)], {"mode": "nearest", "seed": 7, "memory_config": DRAM})
    (call,) = added("ttnn.f in axis? scale:float", table | {"scale": 2})
    assert call[1] == [Ref(1), None, 2.0]
    with pytest.raises(KeyError, match="scale"):
        added("ttnn.f in scale:float", table)


def test_results_are_converted_to_the_description_of_the_output() -> None:
    table = {"in": tensor(1), "out": tensor(9, "UInt32", host=True)}
    assert [name for name, *_ in added("ttnn.f in", table, data_type="UInt32")] == ["ttnn.f", "ttnn.from_device"]
    assert [name for name, *_ in added("ttnn.f in", table)] == ["ttnn.f", "ttnn.from_device", "ttnn.to_dtype"]
    assert added("ttnn.f :device out:dtype", table, like="out") == [("ttnn.f", [DEVICE, Name("ttnn.uint32")], {})]


def test_2024_09_outputs_are_tiled_on_the_device_and_known_to_later_operations() -> None:
    known: dict[int, Description] = {}
    kind, table = upgraded(
        "EltwiseOp", {"type": "Add", "ins": [tensor(1), tensor(2)], "out": tensor(3, tiled=False)}, known
    )
    assert (kind, table["lhs"]["global_id"], table["rhs"]["global_id"]) == ("EltwiseBinaryOp", 1, 2)
    assert table["out"]["desc"].tiled
    kind, table = upgraded("FromDeviceOp", {"in": tensor(3, tiled=False), "out": tensor(4, tiled=False)}, known)
    assert kind == "FromDeviceOp"
    assert known[4] == Description((1, 1, 32, 64), "BFloat16", True, None)

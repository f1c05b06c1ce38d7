"""`numerics` of an operator: the state of its bits, per data type."""

from __future__ import annotations

import pytest

import ttnn
from ttnn.base.exceptions import ParameterError
from ttnn.operation import registry
from ttnn.operation.numerics import covered


@pytest.mark.parametrize(
    ("operator", "dtype", "state"),
    [
        (ttnn.exp, ttnn.bfloat16, "verified"),
        (ttnn.exp, ttnn.bfloat8_b, "verified"),
        (ttnn.matmul, ttnn.bfloat4_b, "verified"),
        (ttnn.add_, ttnn.int32, "verified"),
        (ttnn.acos, ttnn.bfloat16, "listing"),
        (ttnn.hypot, ttnn.float32, "listing"),
        (ttnn.exp_bw, ttnn.float32, "listing"),
        (ttnn.abs, ttnn.uint32, "reference"),
        (ttnn.permute, ttnn.bfloat16, "movement"),
    ],
)
def test_numerics_attribute_names_the_bit_status(
    operator: registry.FastOperation, dtype: ttnn.DataType, state: str
) -> None:
    assert operator.numerics[dtype] == state


def test_every_data_type_of_an_entry_has_a_state() -> None:
    for operation in registry.operations():
        dtypes = () if operation.entry is None else operation.entry.dtypes
        only_on = None if operation.entry is None else operation.entry.only_on
        found = operation.numerics_on(only_on or ttnn.Arch.WORMHOLE_B0)
        assert tuple(found) == tuple(dtypes)


def test_covered_operators_and_data_types_exist() -> None:
    entries = {entry.name: {dtype.name.lower() for dtype in entry.dtypes} for entry in registry.entries()}
    for arch in (ttnn.Arch.WORMHOLE_B0, ttnn.Arch.BLACKHOLE):
        found = covered(arch)
        assert {name: dtypes for name, dtypes in found.items() if not set(dtypes) <= entries.get(name, set())} == {}


def test_numerics_are_those_of_a_chip() -> None:
    assert ttnn.softcap.numerics == {}
    with ttnn.manage_config("arch_name", "blackhole"):
        found = ttnn.softcap.numerics
    assert found.arch is ttnn.Arch.BLACKHOLE
    assert repr(found) == "States(blackhole: {bfloat16: verified, bfloat8_b: verified})"
    # Vectors of the whole operator are Wormhole's.
    states = [ttnn.softmax.numerics_on(arch)[ttnn.bfloat16] for arch in (ttnn.Arch.WORMHOLE_B0, ttnn.Arch.BLACKHOLE)]
    assert states == ["verified", "listing"]


def test_a_generation_is_named_as_in_arch_name() -> None:
    assert ttnn.softcap.numerics_on("blackhole") == ttnn.softcap.numerics_on(ttnn.Arch.BLACKHOLE) != {}
    for wrong in ("grayskull", ttnn.Arch.QUASAR):
        with pytest.raises(ParameterError, match=f"arch is {wrong!r}, expected one of wormhole_b0, blackhole"):
            ttnn.softcap.numerics_on(wrong)

"""Device operations without prediction are listed with a reason.

The program goes on.
"""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import pytest

import ttnn
from testkit.visualizer import official_client
from ttnn.base.exceptions import TtnnError, UnsupportedError
from ttnn.profiler import describe
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families import make_plan
from ttnn.profiler.plan import Plan
from ttnn.profiler.session import Profile

REASON = "ttnn.exp: no plan, says 'the test'"


@pytest.fixture
def profiled(device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch) -> Profile:
    """A product, an exponential whose plan is refused, twice, and a sum."""

    def refusing(op: DeviceOperation) -> Plan:
        if op.name == "UnaryDeviceOperation":
            raise UnsupportedError(REASON, "unimplemented")
        return make_plan(op)

    monkeypatch.setattr(describe, "make_plan", refusing)
    a = ttnn.ones((64, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    with ttnn.profiler.profile() as session:
        b = ttnn.matmul(a, a)
        for _ in range(2):
            b = ttnn.exp(b)
        ttnn.add(a, b)
    return session


def test_unpredicted_operation_is_listed_with_its_reason(profiled: Profile) -> None:
    assert [row.number for row in profiled.rows] == [0, 3]
    assert [(row.number, row.plan.name, row.plan.reason) for row in profiled.missing] == [
        (1, "UnaryDeviceOperation", REASON),
        (2, "UnaryDeviceOperation", REASON),
    ]
    assert [str(operand) for operand in profiled.missing[0].plan.inputs] == ["1x1x64x64 BFLOAT16 TILE DRAM_INTERLEAVED"]


def test_the_total_says_how_many_it_leaves_out(profiled: Profile) -> None:
    assert profiled.total.missing == 2
    assert profiled.total == sum(row.nanoseconds for row in profiled.rows)
    assert str(profiled.total).endswith("(2 device operations without a predicted time are left out)")
    with ttnn.profiler.profile() as nothing:
        pass
    assert (nothing.total.missing, str(nothing.total)) == (0, "0.0")


def test_the_table_ends_with_the_reasons(profiled: Profile) -> None:
    lines = str(profiled).splitlines()
    assert lines[3].split()[:3] == ["1", "exp", "Unary"]
    assert "not known" in lines[3]
    assert lines[-3].startswith("2 device operations, ")
    assert lines[-2] == "2 device operations without a predicted time are left out:"
    assert lines[-1] == f"  2 x UnaryDeviceOperation: {REASON}"


def test_the_official_tool_reads_the_sheet(profiled: Profile, tmp_path: Path) -> None:
    path = profiled.to_csv(tmp_path)
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["DEVICE KERNEL DURATION [ns]"] != "" for line in lines] == [True, False, False, True]
    assert lines[1]["ATTRIBUTES"] == "{'not predicted': 'ttnn.exp: no plan; says the test'}"
    table = tmp_path / "table.csv"
    tool = official_client("tt-perf-report")
    subprocess.run([tool, str(path), "--no-color", "--csv", str(table)], check=True, capture_output=True)
    with table.open(newline="") as file:
        times = [line["Device Time"] for line in csv.DictReader(file)]
    assert sum(float(time) for time in times if time) == pytest.approx(profiled.total / 1000, abs=0.01)


def test_a_function_without_cycles_is_missing_too(device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(op: DeviceOperation) -> Plan:
        plan = make_plan(op)
        (group,) = plan.groups
        steps = (("tiles", ("sfpu", "nonsense", False, False), 1),)
        return Plan(plan.name, plan.card, plan.fidelity, (group.__class__(1, (), steps, ()),), plan.cbs)

    monkeypatch.setattr(describe, "make_plan", unknown)
    a = ttnn.ones((32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    with ttnn.profiler.profile() as session:
        ttnn.exp(a)
    assert [row.plan.reason for row in session.missing] == [
        "UnaryDeviceOperation: no cycles are known for the SFPU function nonsense"
    ]


def test_other_errors_of_plans_are_bugs_and_are_raised(
    device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(op: DeviceOperation) -> Plan:
        raise KeyError("a bug")

    monkeypatch.setattr(describe, "make_plan", broken)
    a = ttnn.ones((32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.raises(KeyError), ttnn.profiler.profile():
        ttnn.exp(a)
    assert not issubclass(KeyError, TtnnError)

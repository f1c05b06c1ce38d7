"""Times of collectives: closed form, measurements, files of several chips."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import ttnn
from testkit.meshes import different, mesh_of
from ttnn.ops.ccl.transfers import Transfer
from ttnn.profiler.links import nanoseconds, packet_bytes, passes

TILE_BYTES = {"bfloat16": 2048, "bfloat8_b": 1088}
_SHAPE = re.compile(r"(\d+)(?:\[\d+\])?x(\d+)(?:\[\d+\])?x(\d+)(?:\[\d+\])?x(\d+)")


def all_gather(size: int, page: int, **changed: object) -> Transfer:
    return Transfer("AllGather", "all", 8, True, 1, None, size, page, 4)._replace(**changed)


def test_the_busiest_link_decides() -> None:
    whole = all_gather(1_572_864, 2048)
    assert nanoseconds(whole, "wormhole_b0") == pytest.approx(10_000 + 1_572_864 * 3.5 / 4096 * 467)
    line = whole._replace(ring=False, links=2)
    assert nanoseconds(line, "blackhole") == pytest.approx(10_000 + 1_572_864 * 7 / 2 / 4096 * 207)
    short = all_gather(2048, 2048)
    assert nanoseconds(short, "wormhole_b0") == pytest.approx(10_000 + 3.5 / 2 * 467 + 4 * (800 + 0.16 * 4096))
    assert [packet_bytes(page) for page in (2048, 1088, 576, 4096, 64, 8192)] == [4096, 4352, 4032, 4096, 4352, 4096]


@pytest.mark.parametrize(
    ("chips", "ring"), [*((chips, False) for chips in range(2, 9)), *((chips, True) for chips in (2, 4, 6, 8))]
)
def test_slices_of_pairs_take_the_shorter_way(chips: int, ring: bool) -> None:
    """Count them link by link."""
    links = np.zeros(chips)
    for sender in range(chips):
        for receiver in range(chips):
            distance = (receiver - sender) % chips if ring else receiver - sender
            if ring and distance * 2 > chips:
                continue
            for step in range(max(distance, 0)):
                links[(sender + step) % chips] += 1
    assert passes(all_gather(1, 1, routes="direct", chips=chips, ring=ring)) == links.max()


def measured(golden: Path, system: str) -> list[tuple[str, float, float]]:
    """Return published collectives with shapes: name, measured and predicted microseconds."""
    found = []
    with (golden / "silicon" / "ccl_anchors.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            shape = _SHAPE.search(row["test"])
            if row["kind"] != "ccl_op" or row["system"] != system or not shape or not row["devices"]:
                continue
            if "all_to_all" in row["test"] or not row["links"]:
                continue
            page = TILE_BYTES["bfloat8_b" if "bfloat8_b" in row["test"] else "bfloat16"]
            chips, ring = int(row["devices"]), row["topology"] == "Ring"
            size = int(np.prod([int(size) for size in shape.groups()])) // 1024 * page
            size //= chips if row["test"].lower().startswith(("reduce_scatter", "reducescatter")) else 1
            hops = chips // 2 if ring else chips - 1
            moved = Transfer("", "all", chips, ring, int(row["links"]), None, size, page, hops)
            arch = "blackhole" if system.startswith("P") else "wormhole_b0"
            found.append((row["test"], float(row["value"]), nanoseconds(moved, arch) / 1000))
    return found


def report(rows: list[tuple[str, float, float]]) -> None:
    """Print measured and predicted times."""
    for name, value, predicted in rows:
        print(f"{value:9.1f} us measured, {predicted:9.1f} predicted, {100 * (predicted / value - 1):+6.1f} %  {name}")


def test_measured_collectives_of_blackhole(golden: Path) -> None:
    rows = measured(golden, "P150_X8")
    report(rows)
    errors = [abs(predicted / value - 1) for _, value, predicted in rows]
    assert len(errors) >= 6
    assert np.mean(errors) <= 0.06


def test_upper_targets_of_a_galaxy(golden: Path) -> None:
    rows = [row for row in measured(golden, "GALAXY") if re.search(r"x(4096|8192)x", row[0])]
    report([*rows, *measured(golden, "T3K")])
    assert len(rows) >= 8
    for name, value, predicted in rows:
        assert 0.75 <= predicted / value <= 1.05, name


@pytest.fixture
def profiled(tmp_path: Path) -> tuple[ttnn.profiler.Profile, Path]:
    with mesh_of((2, 4), ttnn.FabricConfig.FABRIC_1D) as mesh:
        x = different(mesh, (1, 1, 64, 512))
        with ttnn.profiler.profile() as profile:
            ttnn.all_gather(x, 3, cluster_axis=1)
            ttnn.add(x, x)
            ttnn.add(ttnn.get_device_tensors(x)[5], 1.0)
            ttnn.all_gather(different(mesh, (1, 1, 33, 40)), 3, cluster_axis=0)
    return profile, profile.to_csv(tmp_path)


def test_a_mesh_has_a_row_for_each_chip(profiled: tuple[ttnn.profiler.Profile, Path]) -> None:
    profile, sheet = profiled
    names = [row.plan.name.removesuffix("DeviceOperation") for row in profile.rows]
    assert names == ["AllGather", "BinaryNg", "BinaryNg", "AllBroadcast", "Concat"]
    assert not profile.missing
    chips = list(profile.rows[0].record.chips)
    assert len(chips) == 8
    with sheet.open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    of_rows = [[int(row["DEVICE ID"]) for row in table if row["GLOBAL CALL COUNT"] == str(1024 + n)] for n in range(5)]
    assert of_rows == [chips, chips, [chips[5]], chips, chips]
    assert table[0]["INPUT_0_MEMORY"] == f"DEV_{chips[0]}_DRAM_INTERLEAVED"
    assert float(profile.total) == pytest.approx(sum(row.nanoseconds for row in profile.rows))


def test_a_timeline_has_a_process_for_each_chip(profiled: tuple[ttnn.profiler.Profile, Path], tmp_path: Path) -> None:
    profile, _ = profiled
    events = json.loads(profile.to_perfetto(tmp_path / "trace.json").read_text())["traceEvents"]
    chips = set(profile.rows[0].record.chips)
    assert {event["pid"] for event in events if event.get("name") == "process_name"} == chips
    tracks = {event["args"]["name"]: event["tid"] for event in events if event.get("name") == "thread_name"}
    ways = [f"links of axis {axis}, {way}" for axis in (0, 1) for way in ("backward", "forward")]
    assert [name for name in tracks if name.startswith("links")] == ways
    for way, operation in zip(ways, ["AllBroadcast"] * 2 + ["AllGather"] * 2, strict=True):
        spans = [event for event in events if event["ph"] == "X" and event["tid"] == tracks[way]]
        assert {event["name"] for event in spans} == {f"{operation}DeviceOperation"}
        assert {event["pid"] for event in spans} == chips
        assert all(0 < event["args"]["GB/s of a link"] < 12.5 for event in spans)


@pytest.mark.parametrize("system", ["t3k", "p150_x8"])
def test_every_collective_has_a_time(system: str) -> None:
    with ttnn.manage_config("system", system), mesh_of((2, 4), ttnn.FabricConfig.FABRIC_1D) as mesh:
        x = different(mesh, (1, 1, 128, 512))
        with ttnn.profiler.profile() as profile:
            ttnn.all_gather(x, 3, cluster_axis=1)
            ttnn.reduce_scatter(x, 3, cluster_axis=1)
            ttnn.all_reduce(x, cluster_axis=1)
            ttnn.all_broadcast(x, cluster_axis=0)
            ttnn.broadcast(x, ttnn.MeshCoordinate(0, 0), cluster_axis=0)
            ttnn.point_to_point(x, ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 2))
            ttnn.mesh_partition(x, 3, 1)
            ttnn.experimental.all_to_all_async_generic(x, 2, 3, cluster_axis=1)
        assert not profile.missing
        assert {row.record.operator for row in profile.rows} >= {"ttnn.all_gather", "ttnn.mesh_partition"}

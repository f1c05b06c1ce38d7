"""`ttnn.profiler.profile`: records, unchanged values, table and files."""

import csv
import json
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import ArgumentError
from ttnn.base.observers import OBSERVERS
from ttnn.profiler import planner
from ttnn.profiler.recorder import Recorder
from ttnn.profiler.table import flops


@pytest.fixture
def operands(device):
    values = np.arange(64 * 64, dtype=np.float32).reshape(1, 1, 64, 64) / 4096
    options = {"layout": ttnn.TILE_LAYOUT, "device": device}
    return [ttnn.Tensor(values + shift, ttnn.bfloat16, **options) for shift in (0.0, 0.5)]


def names(session):
    return [row.plan.name.removesuffix("DeviceOperation") for row in session.rows]


def test_each_device_operation_is_a_row_in_the_order_of_execution(operands):
    a, b = operands
    with ttnn.profiler.profile() as session:
        ttnn.exp(ttnn.add(a, b))
        ttnn.matmul(a, b)
    assert names(session) == ["BinaryNg", "Unary", "Matmul"]
    assert session.total == sum(row.nanoseconds for row in session.rows) > 0


def test_nothing_is_recorded_outside(operands):
    a, b = operands
    ttnn.add(a, b)
    with ttnn.profiler.profile() as session:
        pass
    ttnn.add(a, b)
    assert session.rows == []
    assert OBSERVERS == []
    assert Recorder.active is None


def test_repeated_calls_are_recorded_and_share_their_plan(operands):
    a, b = operands
    for _ in range(3):
        ttnn.add(a, b)
    with ttnn.profiler.profile() as session:
        for _ in range(4):
            ttnn.add(a, b)
    plans = [row.plan for row in session.rows]
    assert len(plans) == 4
    assert all(plan is plans[0] for plan in plans)


@pytest.mark.parametrize("form", ["tensors", "a list", "a given result", "a composition"])
def test_repeated_calls_are_described_once(operands, form, monkeypatch):
    a, b = operands
    described = []

    def describe(*args):
        described.append(args[0])
        return describe_calls(*args)

    describe_calls = planner.describe
    monkeypatch.setattr(planner, "describe", describe)
    call = {
        "tensors": lambda: ttnn.matmul(a, b),
        "a list": lambda: ttnn.concat([a, b], -1),
        "a given result": lambda: ttnn.add(a, b, output_tensor=b),
        "a composition": lambda: ttnn.mul_bw(a, b, a),
    }[form]
    with ttnn.profiler.profile() as session:
        call()
        first, once = len(session.rows), len(described)
        for _ in range(3):
            call()
    assert len(described) == once > 0
    assert len(session.rows) == 4 * first
    assert OBSERVERS == []


def test_a_composition_has_a_row_for_each_device_operation(operands):
    a, _ = operands
    with ttnn.profiler.profile() as session:
        ttnn.gelu_bw(a, a)
        whole = len(session.rows)
        ttnn.softmax(a, -1)
    assert whole >= 1
    assert names(session)[-1] == "Softmax"


def test_values_are_the_same(operands):
    a, b = operands
    plain = ttnn.softmax(ttnn.matmul(a, b), -1).to_list()
    with ttnn.profiler.profile():
        profiled = ttnn.softmax(ttnn.matmul(a, b), -1).to_list()
    assert plain == profiled


def test_time_does_not_depend_on_the_number_of_threads(operands):
    a, b = operands
    times = []
    before = ttnn.CONFIG.threads
    for threads in (1, 2):
        ttnn.CONFIG.threads = threads
        with ttnn.profiler.profile() as session:
            ttnn.layer_norm(ttnn.matmul(a, b))
        times.append([row.plan.timing for row in session.rows])
    ttnn.CONFIG.threads = before
    assert times[0] == times[1]


def test_more_work_takes_longer(device):
    def time_of(rows):
        a = ttnn.zeros((1, 1, rows, 1024), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        with ttnn.profiler.profile() as session:
            ttnn.exp(a)
        return session.total

    assert time_of(4096) > 1.5 * time_of(2048) > 1.5 * time_of(256)


def test_profiles_do_not_nest():
    with (
        ttnn.profiler.profile(),
        pytest.raises(ArgumentError, match="a profile is open already; profiles do not nest"),
        ttnn.profiler.profile(),
    ):
        pass


def test_an_error_ends_the_profile(operands):
    a, _ = operands
    with pytest.raises(ttnn.ShapeError), ttnn.profiler.profile():
        ttnn.matmul(a, ttnn.reshape(a, (1, 1, 32, 128)))
    assert Recorder.active is None


def test_the_flops_of_a_product_are_those_of_its_sizes(operands):
    a, b = operands
    with ttnn.profiler.profile() as session:
        ttnn.matmul(a, b)
        ttnn.add(a, b)
    product, total = session.rows
    assert flops(product.plan) == 2 * 64**3
    assert flops(total.plan) == 0


def test_the_sheet_has_a_line_per_operation_and_the_same_total(operands, tmp_path):
    a, b = operands
    with ttnn.profiler.profile() as session:
        ttnn.add(a, b)
        ttnn.matmul(a, b)
    path = session.to_csv(tmp_path / "report")
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["OP CODE"] for line in lines] == ["BinaryNgDeviceOperation", "MatmulDeviceOperation"]
    assert [line["GLOBAL CALL COUNT"] for line in lines] == ["1024", "1025"]
    assert lines[0]["INPUT_0_Y_PAD[LOGICAL]"] == "64[64]"
    assert lines[0]["OUTPUT_0_MEMORY"] == "DEV_0_DRAM_INTERLEAVED"
    total = sum(int(line["DEVICE KERNEL DURATION [ns]"]) for line in lines)
    assert abs(total - session.total) <= len(lines)
    log = (tmp_path / "report" / "profile_log_device.csv").read_text().splitlines()
    assert log[0] == "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64"
    assert {line.split(",")[7] for line in log[2:]} == {"1024", "1025"}


def test_every_track_of_the_timeline_has_a_name(operands, tmp_path):
    a, b = operands
    with ttnn.profiler.profile() as session:
        ttnn.add(a, b)
        ttnn.matmul(a, b)
    events = json.loads(session.to_perfetto(tmp_path / "trace.json").read_text())["traceEvents"]
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    spans = [event for event in events if event["ph"] == "X"]
    assert {(event["pid"], event["tid"]) for event in spans} <= named
    operations = [event for event in spans if event["tid"] == 0]
    assert [event["name"] for event in operations] == ["BinaryNgDeviceOperation", "MatmulDeviceOperation"]
    assert operations[1]["ts"] >= operations[0]["ts"] + operations[0]["dur"]


def test_the_table_ends_with_the_total(operands):
    a, b = operands
    with ttnn.profiler.profile() as session:
        ttnn.add(a, b)
    lines = str(session).splitlines()
    assert lines[0].split()[:3] == ["#", "operator", "device"]
    assert lines[-1].startswith("1 device operations, ")
    assert session.table() is not None


def test_the_calls_of_all_threads_are_recorded(operands):
    a, b = operands

    def work():
        for _ in range(20):
            ttnn.mul_bw(a, b, a)
            ttnn.concat([a, b], -1)

    with ttnn.profiler.profile() as session:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    rows = Counter(row.plan.name for row in session.rows)
    assert rows == {"BinaryNgDeviceOperation": 4 * 20 * 2, "ConcatDeviceOperation": 4 * 20}


def test_device_operations_of_one_call_stay_in_order(operands, tmp_path):
    a, b = operands
    with ttnn.profiler.profile() as session:
        ttnn.linear(a, b, activation="gelu")
        ttnn.add(a, b)
    with session.to_csv(tmp_path).open(newline="") as file:
        lines = list(csv.DictReader(file))
    begun = [int(line["HOST START TS"]) for line in lines]
    assert [line["OP CODE"].removesuffix("DeviceOperation") for line in lines] == ["Matmul", "Unary", "BinaryNg"]
    assert begun == sorted(set(begun))


def test_a_trace_is_timed_when_it_runs(operands, device):
    a, b = operands
    ttnn.add(a, b)
    with ttnn.profiler.profile() as session:
        trace = ttnn.begin_trace_capture(device, cq_id=0)
        c = ttnn.add(a, b)
        ttnn.exp(c)
        ttnn.end_trace_capture(device, trace, cq_id=0)
        captured = len(session.rows)
        ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
        ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    ttnn.release_trace(device, trace)
    assert captured == 0
    assert names(session) == ["BinaryNg", "Unary"] * 2
    assert {row.record.trace for row in session.rows} == {int(trace)}


def test_a_device_is_read_without_waiting(device):
    assert ttnn.ReadDeviceProfiler(device) is None
    with pytest.raises(ArgumentError, match=r"ReadDeviceProfiler: expected a ttnn.MeshDevice, got int"):
        ttnn.ReadDeviceProfiler(0)


SCRIPT = """
import ttnn
with ttnn.manage_device(device_id=0) as device:
    ttnn.exp(ttnn.ones((32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device))
"""


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("value", "rows"), [("on", 1), ("off", 0)])
def test_the_environment_profiles_a_whole_process(value, rows):
    result = run("-c", SCRIPT, TTNN_PROFILER=value)
    assert result.returncode == 0
    assert result.stderr.count("UnaryDeviceOperation") + result.stderr.count("Unary  ") == rows
    assert ("device operations, " in result.stderr) == bool(rows)


def test_an_unknown_value_of_the_environment_is_refused():
    result = run("-c", "import ttnn", TTNN_PROFILER="maybe")
    assert result.returncode != 0
    assert "TTNN_PROFILER: CONFIG.profiler: expected one of on, off; got 'maybe'" in result.stderr


SWITCHED = """
ttnn.CONFIG.profiler = True
a = ttnn.ones((32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
with ttnn.manage_device(device_id=0) as device:
    ttnn.exp(ttnn.to_device(a, device))
ttnn.CONFIG.profiler = False
print(ttnn.CONFIG.profiler, file=sys.stderr)
"""


def test_the_configuration_profiles_a_part_of_a_process():
    result = run("-c", "import sys, ttnn" + SWITCHED)
    assert result.returncode == 0, result.stderr
    table, _, rest = result.stderr.partition("device operations, ")
    assert table.count("Unary  ") == 1
    assert rest.endswith("gaps\nFalse\n")


def test_the_configuration_says_that_profiles_do_not_nest():
    with ttnn.profiler.profile(), pytest.raises(ArgumentError, match=r"CONFIG\.profiler: a profile is open already"):
        ttnn.CONFIG.profiler = True
    assert ttnn.CONFIG.profiler is False


def test_overrides_of_the_configuration_switch_the_profiler_on():
    result = run("-c", SCRIPT, TTNN_CONFIG_OVERRIDES='{"profiler": true}')
    assert "device operations, " in result.stderr


@pytest.mark.parametrize(("card", "arch"), [("n150", "wormhole_b0"), ("p100", "blackhole"), ("p150", "blackhole")])
def test_the_command_profiles_a_script_on_a_card(tmp_path, card, arch):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + "    print(device.arch().name.lower(), __import__('sys').argv[1:], flush=True)\n")
    result = run("-m", "ttnn", "profile", "--card", card, "--csv", str(tmp_path / "out"), str(script), "--flag", "7")
    assert result.returncode == 0, result.stderr
    assert f"{arch} ['--flag', '7']" in result.stdout
    assert "Unary" in result.stdout
    with (tmp_path / "out" / "ops_perf_results.csv").open(newline="") as file:
        (*_, line) = csv.DictReader(file)
    assert (line["OP CODE"], line["DEVICE ARCH"]) == ("UnaryDeviceOperation", arch)


def test_a_card_of_another_generation_is_refused(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    result = run("-m", "ttnn", "profile", "--card", "p100", "--arch", "wormhole_b0", str(script))
    assert result.returncode == 2
    assert "the p100 is a blackhole, not a wormhole_b0" in result.stderr


def test_the_official_tool_prints_the_sheet(operands, tmp_path):
    tool = shutil.which("tt-perf-report") or os.environ.get("TT_PERF_REPORT")
    if tool is None:
        pytest.skip("tt-perf-report is not installed: pip install 'ttnn-rs[clients]'")
    a, b = operands
    with ttnn.profiler.profile() as session:
        ttnn.softmax(ttnn.matmul(ttnn.add(a, b), b), -1)
    path = session.to_csv(tmp_path)
    table = tmp_path / "table.csv"
    subprocess.run([tool, str(path), "--no-color", "--csv", str(table)], check=True, capture_output=True)
    with table.open(newline="") as file:
        lines = [
            line
            for line in csv.DictReader(file)
            if line["OP Code"].endswith("DeviceOperation") or "x" in line["OP Code"]
        ]
    assert len(lines) == len(session.rows)
    total = sum(float(line["Device Time"]) for line in lines)
    assert total == pytest.approx(session.total / 1000, abs=0.001 * len(lines))

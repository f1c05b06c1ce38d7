"""`python -m ttnn profile --compare`: recorded rows and predictions, whatever a row holds."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from ttnn.cli import main

TILES = "1[1]x1[1]x1024[1024]x1024[1024]|TILE|BFLOAT16|DEV_0_DRAM_INTERLEAVED"
PROFILE = {
    "source": "made",
    "arch": "wormhole_b0",
    "fidelity": "HiFi4",
    "cores": "64",
    "input_0": TILES,
    "input_1": "",
    "output_0": TILES,
    "kernel_ns": "40000",
}
ROWS = [
    PROFILE | {"op": "UnaryDeviceOperation", "attributes": "{'op_chain': 'op_type=UnaryOpType::EXP;param={}'}"},
    PROFILE | {"op": "UnaryDeviceOperation", "attributes": "{'op_chain': 'op_type=UnaryOpType::NO_SUCH;param={}'}"},
    PROFILE | {"op": "AllReduceDeviceOperation", "attributes": "{}"},
    PROFILE | {"op": "BinaryNgDeviceOperation", "attributes": "{}", "input_0": "of another form"},
    PROFILE | {"op": "GroupNormDeviceOperation", "attributes": "{}"},
]
ANCHOR = {
    "id": "s0",
    "chip": "n150",
    "op": "matmul",
    "shape": "512x512x512",
    "dtype": "bf16",
    "fidelity": "HiFi2",
    "grid": "8x8",
    "memory": "in0:DRAM in1:DRAM out:DRAM",
    "trace": "False",
    "metric": "device_cycles",
    "value": "20000",
    "notes": "default config",
}
OTHERS = [
    ANCHOR | {"id": "s1", "op": "model:falcon7b", "shape": "prefill b1 seq128", "metric": "device_throughput"},
    ANCHOR | {"id": "s2", "op": "model:falcon7b", "shape": "prefill b9 seq128", "metric": "device_throughput"},
    ANCHOR | {"id": "s3", "op": "model_e2e:Falcon 7B", "value": "239-260"},
    ANCHOR | {"id": "s4", "op": "galaxy:Matmul_0", "chip": "wh_galaxy_6u"},
    ANCHOR | {"id": "s5", "metric": "host_time"},
    ANCHOR | {"id": "s6", "op": "telepathy"},
]
KERNEL = {
    "id": "k0",
    "chip": "wh_b0",
    "kernel": "tanh",
    "mode": "",
    "value": "800",
    "what": "math thread cycles per tile",
}
EVENTS = [
    {"type": "READ", "noc": "NOC_0", "proc": "NCRISC", "sx": 1, "sy": 1, "dx": 2, "dy": 2, "num_bytes": 4096},
    {"type": "READ_BARRIER_START", "proc": "NCRISC", "sx": 1, "sy": 1},
]


def write(path: Path, rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)), restval="")
        table.writeheader()
        table.writerows(rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "silicon" / "op_profiles.csv", ROWS)
    write(tmp_path / "silicon" / "perf_anchors.csv", [ANCHOR, *OTHERS])
    write(tmp_path / "silicon" / "tensix_kernel_cycles.csv", [KERNEL])
    trace = {"workload": "made", "trace_file": "made.json.gz", "golden_cycles": "1000"}
    write(tmp_path / "noc" / "tt_npe_results.csv", [trace])
    with gzip.open(tmp_path / "noc" / "made.json.gz", "wt", encoding="utf-8") as file:
        json.dump(EVENTS, file)
    return tmp_path


def compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return told(folder, capsys)[0]


def told(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, object], str]:
    """Return the document and the text on standard error."""
    assert main(["profile", "--compare", str(folder), "--json"]) == 0
    written = capsys.readouterr()
    answer: dict[str, object] = json.loads(written.out)
    return answer, written.err


def test_rows_that_cannot_be_predicted_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer, beside = told(folder, capsys)
    families = answer["families"]
    assert (families["eltwise"]["rows"], families["eltwise"]["predicted"]) == (3, 1)
    assert families["AllReduce"]["predicted"] == families["GroupNorm"]["predicted"] == 0
    assert families["AllReduce"]["median_error"] is None
    counted = [line.partition(" rows are not predicted: ") for line in beside.splitlines() if "not predicted" in line]
    reasons = " ".join(reason for _, _, reason in counted)
    for reason in ("the function NO_SUCH", "no plan describes this device operation", "the row is not understood"):
        assert reason in reasons
    for reason in ("no layers are described", "end to end", "several chips", "a call on the host", "telepathy on n150"):
        assert reason in reasons
    assert sum(int(count) for count, _, _ in counted) == 4 + 5
    assert (families["model:falcon7b"]["rows"], families["model:falcon7b"]["predicted"]) == (2, 1)


def test_every_figure_has_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = compared(folder, capsys)
    assert answer.keys() == {"families", "matmul_anchors", "noc_traces", "kernel_cycles"}
    summary = {"rows", "predicted", "median_error", "mean_error", "p90_error", "within_2x"}
    assert all(figures.keys() == summary for figures in answer["families"].values())
    assert answer["matmul_anchors"].keys() == {"n150_default"}
    assert answer["noc_traces"].keys() == {"rows", "mean_error", "worst_error"}
    for figures in (answer["matmul_anchors"]["n150_default"], answer["noc_traces"], answer["kernel_cycles"]):
        assert figures["rows"] == 1
        assert figures["mean_error"] == figures["worst_error"] >= 0


def test_a_folder_without_tables_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "--compare", str(tmp_path)]) == 2
    assert "has no file silicon/op_profiles.csv" in capsys.readouterr().err


BARS = {
    **dict.fromkeys(("eltwise", "matmul", "conv2d", "move", "interleaved_sharded", "slice", "tilize_untilize"), 0.2),
    "halo": 0.25,
}


def test_recorded_families_are_within_their_bars(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = compared(golden, capsys)
    families = answer["families"]
    assert {
        name: families[name]["median_error"] for name, bar in BARS.items() if families[name]["median_error"] > bar
    } == {}
    assert all(families[name]["within_2x"] >= 0.9 for name in BARS)
    # No bar is set for these, of which few rows are recorded: they stay as good as they are.
    kept = {
        "Concat": 0.15,
        "IntImg": 0.1,
        "Reshape": 0.15,
        "GroupNorm": 0.15,
        "Softmax": 0.25,
        "Pool2D": 0.25,
        "GridSample": 0.35,
        "Upsample": 0.35,
        "model:falcon7b": 0.15,
    }
    assert [name for name, most in kept.items() if families[name]["median_error"] > most] == []
    traces = answer["noc_traces"]
    assert traces["mean_error"] <= 0.05
    assert traces["worst_error"] <= 0.2

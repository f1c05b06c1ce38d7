"""Runs of models in a child process: times, files, node values."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from ttnn.base.exceptions import ParameterError, TtnnError, UnsupportedError
from ttnn.compiler.explorer import models, providers
from ttnn.compiler.explorer.conversion import graph_of
from ttnn.compiler.explorer.options import DISABLED, Settings
from ttnn.compiler.explorer.runner import BINARY, Runner
from ttnn.compiler.target.flatbuffer.binary import Binary

pytest.importorskip("torch", reason="inputs are made with torch")


def finished() -> dict[str, object]:
    """Status of the run when it has ended."""
    while not (found := Runner.status())["isDone"]:
        time.sleep(0.1)
    return found


def test_a_run_gives_times_graph_and_source(top: Path) -> None:
    model = top / "small.mlir"
    Runner.start(model, Settings(cpp=True))
    with pytest.raises(ParameterError, match="wait until it has ended"):
        Runner.start(model, Settings())
    status = finished()
    assert (status["error"], status["progress"]) == (None, 100)
    found = Runner.last(model)
    assert found is not None
    assert sum(one["nanoseconds"] for one in found.operations.values()) == found.result["total_nanoseconds"] > 0
    graph = asdict(graph_of(model))
    assert graph["id"] == f"small.mlir - Execution {found.time}"
    ((name, overlay),) = graph["overlays"]["perf_data"].items()
    assert name == graph["id"]
    assert sum(one["value"] for one in overlay["results"].values()) == found.result["total_nanoseconds"]
    assert set(overlay["results"]) <= {node["id"] for node in graph["nodes"]}
    assert "ttnn::softmax" in graph["cppCode"]
    assert "ttnn.softmax" in graph["pythonCode"]
    shares = [one for node in graph["nodes"] for one in node["attrs"] if one.get("display_type") == "memory"]
    assert {one["key"] for one in shares} == {"dram_memory", "l1_memory", "l1_small_memory"}
    (program, *_) = Binary.load(found.folder / BINARY).values["programs"]
    assert program["debug_info"]["mlir_stages"][0]["source"] == model.read_text()
    # The perf sheet of the same binary has the same total.
    command = [sys.executable, "-m", "ttrt", "perf", BINARY]
    subprocess.run(command, cwd=found.folder, check=True, capture_output=True)
    (entry,) = json.loads((found.folder / "perf_results.json").read_text())
    assert entry["predicted_nanoseconds"] == found.result["total_nanoseconds"]


def test_equal_runs_are_not_repeated(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = top / "small.mlir"
    first = Runner.run(model, Settings())

    def refuse(*_: object) -> None:
        raise AssertionError("a second process")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert Runner.run(model, Settings()).result == first.result


def test_providers_name_the_nodes_of_both_graphs(top: Path) -> None:
    model = top / "small.mlir"
    config = {"policy": DISABLED, "overrides": "", "seed": 0}
    (source,) = providers.values("tt_time", model, "small.mlir", config)
    run = Runner.run(model, Settings())
    total = run.result["total_nanoseconds"] / 1000
    # The product is fused with the sum, whose location is left.
    assert set(source.by_node) == {'loc("sum")__0', 'loc("shares")__0'}
    assert sum(float(value) for value in source.by_node.values()) == pytest.approx(total)
    lowered = top / "lowered.mlir"
    lowered.write_text(run.text("lowered.mlir") or "")
    (exact,) = providers.values("tt_time", lowered, "lowered.mlir", config)
    assert exact.by_node == source.by_node
    dram, flop, bound = providers.values("tt_peaks", model, "small.mlir", config)
    assert all(0 <= float(value) <= 100 for one in (dram, flop) for value in one.by_node.values())
    assert set(bound.by_node.values()) <= {"DRAM", "L1", "compute", "reader", "writer"}
    l1, memory = providers.values("tt_memory", model, "small.mlir", config)
    assert set(l1.by_node.values()) == {0}
    assert all(int(value) > 0 for value in memory.by_node.values())
    (layout,) = providers.values("tt_layout", model, "small.mlir", config)
    assert set(layout.by_node.values()) == {"DRAM interleaved"}
    assert layout.colours["DRAM interleaved"].startswith("#")


def test_accuracy_of_operations_is_shown(top: Path) -> None:
    model = top / "small.mlir"
    isolated, whole = providers.values("tt_accuracy", model, "small.mlir", {"policy": DISABLED, "seed": 3})
    assert set(isolated.by_node) == {'loc("sum")__0', 'loc("shares")__0'}
    run = Runner.run(model, Settings(seed=3, chisel=True))
    lines = (run.text("chisel.jsonl") or "").splitlines()
    of_sum = [json.loads(line) for line in lines if json.loads(line)["location"] == 'loc("sum")']
    assert isolated.by_node['loc("sum")__0'] == min(one["pcc"] for one in of_sum) > 0.9999
    assert all(0.99 < one["accumulated_pcc"] < 1 for one in of_sum)
    assert set(whole.by_node) == set(isolated.by_node)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (("ttir.add", "ttir.no_such"), "ttir.no_such"),
        (("dimension = 1", "dimension = 7"), "dim"),
    ],
)
def test_a_wrong_model_is_an_error_of_the_run(top: Path, change: tuple[str, str], match: str) -> None:
    model = top / "small.mlir"
    model.write_text(model.read_text().replace(*change))
    with pytest.raises(TtnnError, match=match):
        Runner.run(model, Settings())
    assert Runner.last(model) is None
    # The next run is not in its way.
    model.write_text(model.read_text().replace(*reversed(change)))
    assert Runner.run(model, Settings()).result["total_nanoseconds"] > 0


def test_runs_can_be_switched_off(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runner, "enabled", False)
    with pytest.raises(UnsupportedError, match="--no-model-execution"):
        Runner.start(top / "small.mlir", Settings())


def test_a_binary_is_run_from_its_text(top: Path) -> None:
    first = Runner.run(top / "small.mlir", Settings())
    (top / "copy.ttnn").write_bytes((first.folder / BINARY).read_bytes())
    again = Runner.run(top / "copy.ttnn", Settings())
    assert again.result["total_nanoseconds"] == first.result["total_nanoseconds"]
    assert models.text_of(top / "copy.ttnn") == (top / "small.mlir").read_text()


def test_recompiling_asks_for_an_override(top: Path) -> None:
    with pytest.raises(ParameterError, match="give at least one override"):
        providers.values(providers.RECOMPILE, top / "small.mlir", "small.mlir", {"policy": DISABLED})

"""Requests that the server of `tt-explorer` answers or refuses."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ttnn.compiler.explorer.folder import ARTIFACTS
from ttnn.compiler.explorer.server import main, refusal

NEEDED = ("model_explorer", "flask", "dacite", "packaging", "portpicker", "requests", "termcolor", "watchdog")
MISSING = [name for name in NEEDED if find_spec(name) is None]
if MISSING and os.environ.get("TTNN_EXPLORER_REQUIRED") == "1":
    raise pytest.UsageError(f"the tests of tt-explorer need {', '.join(MISSING)}: see docs/explorer.md")
served = pytest.mark.skipif(bool(MISSING), reason=f"no server: {', '.join(MISSING)} (docs/explorer.md)")


@dataclass
class Request:
    """A request as the server's library describes it."""

    path: str
    host: str = "localhost:8080"
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    args: dict[str, str] = field(default_factory=dict)
    body: Any = None

    def get_json(self) -> Any:
        return self.body


def command(**changes: Any) -> Request:
    body = {"extensionId": "tt_adapter", "cmdId": "convert", "modelPath": "small.mlir", "deleteAfterConversion": False}
    return Request("/apipost/v1/send_command", method="POST", body=body | changes)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (Request("/"), ""),
        (Request("/", host="127.0.0.1:8080"), ""),
        (Request("/", host="[::1]:8080"), ""),
        (Request("/", host="stranger.example:8080"), "name of the host"),
        (Request("/api/v1/get_extensions", headers={"Sec-Fetch-Site": "cross-site"}), "another page"),
        (Request("/api/v1/get_extensions", headers={"Sec-Fetch-Site": "same-origin"}), ""),
        (Request("/apipost/v1/upload", method="POST", headers={"Origin": "http://stranger.example"}), "another page"),
        (Request("/apipost/v1/upload", method="POST", headers={"Origin": "http://localhost:8080"}), ""),
        (Request("/apipost/v1/upload", method="POST", headers={"Origin": "http://localhost:3000"}), ""),
        (Request("/api/v1/read_text_file", args={"path": "/etc/passwd"}), "only files below"),
        (Request("/api/v1/read_text_file", args={"path": "~/.netrc"}), "only files below"),
        (Request("/api/v1/read_text_file", args={"path": "../x"}), "only files below"),
        (Request("/api/v1/read_text_file", args={"path": "small.mlir"}), ""),
        (Request("/api/v1/send_command", args={"json": "{"}), "no JSON"),
        (command(), ""),
        (command(modelPath=""), ""),
        (command(modelPath="/etc/passwd"), "only models below"),
        (command(modelPath="~/model.mlir"), "only models below"),
        (command(extensionId="builtin_hfgraph"), "its own extensions"),
        (command(cmdId="__init__"), "no such command"),
        (command(deleteAfterConversion=True), "only uploaded models"),
        (command(deleteAfterConversion=True, modelPath=f"{ARTIFACTS}/uploads/a/small.mlir"), "only uploaded models"),
        (command(deleteAfterConversion=True, modelPath=f"TOP/{ARTIFACTS}/uploads/a/small.mlir"), ""),
    ],
    ids=lambda value: value.path if isinstance(value, Request) else "",
)
def test_requests_of_strangers_are_refused(top: Path, request_: Request, reason: str) -> None:
    if request_.body:
        request_.body["modelPath"] = request_.body["modelPath"].replace("TOP", str(top))
    found = refusal(request_, "http://localhost:3000")
    assert reason in found
    assert bool(found) == bool(reason)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["--url", "0.0.0.0"], "only this machine is served"),
        (["--cors_host", "http://stranger.example"], "an origin of this machine"),
    ],
)
def test_other_machines_are_not_served(arguments: list[str], match: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert match in capsys.readouterr().err


def test_models_outside_of_the_root_are_refused(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "inner").mkdir()
    assert main(["--root", str(top / "inner"), str(top / "small.mlir")]) == 1
    assert "name its folder with --root" in capsys.readouterr().err
    assert main([str(top / "nowhere.mlir")]) == 1
    assert "does not exist" in capsys.readouterr().err


def sent(address: str, body: dict[str, Any]) -> dict[str, Any]:
    """Answer of a command."""
    data = json.dumps({"extensionId": "tt_adapter", "settings": {}, "deleteAfterConversion": False} | body).encode()
    request = urllib.request.Request(
        f"{address}/apipost/v1/send_command", data, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    return found


@served
def test_commands_are_answered_as_the_official_adapter_does(top: Path, address: str) -> None:
    model = str(top / "small.mlir")
    (graph,) = sent(address, {"cmdId": "convert", "modelPath": model})["graphs"]
    assert [node["label"] for node in graph["nodes"]][-1] == "func.return"
    wrong = sent(address, {"cmdId": "execute", "modelPath": model, "settings": {"optimizationPolicy": "Fast"}})
    assert "unknown optimization policy 'Fast'" in wrong["error"]
    assert sent(address, {"cmdId": "preload", "modelPath": ""}) == {"graphs": [{"graphPaths": []}]}
    settings = {"optimizationPolicy": "Optimizer Disabled", "generateCppCode": True}
    assert sent(address, {"cmdId": "execute", "modelPath": model, "settings": settings}) == {"graphs": []}
    while not (status := sent(address, {"cmdId": "status_check", "modelPath": ""})["graphs"][0])["isDone"]:
        time.sleep(0.2)
    assert (status["error"], status["progress"], status["total"]) == (None, 100, 100)
    (graph,) = sent(address, {"cmdId": "convert", "modelPath": model})["graphs"]
    assert set(graph) >= {"overlays", "cppCode", "pythonCode"}
    # A node data provider, on the graph of the lowered module.
    run = {
        "extensionId": "tt_time",
        "cmdId": "run",
        "modelPath": model,
        "graphId": graph["id"],
        "configValues": {"policy": "Optimizer Disabled", "overrides": "", "seed": 0},
    }
    (values,) = sent(address, run)["result"]
    total = sum(one["value"] for one in graph["overlays"]["perf_data"][graph["id"]]["results"].values())
    assert sum(one["value"] for one in values["results"].values()) == pytest.approx(total / 1000)
    assert len(sent(address, run | {"cmdId": "get_config_editors"})["configEditors"]) == 3
    with pytest.raises(urllib.error.HTTPError, match="403"):
        sent(address, {"cmdId": "convert", "modelPath": "/etc/passwd"})

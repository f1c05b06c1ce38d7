"""The official viewer process, started on reports, queried and stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def official_client(name: str) -> str:
    """Return an official tool's path; skip, or fail if required.

    Args:
        name: The program, for example "ttnn-visualizer".
    """
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        message = f"{name} is not installed: pip install '.[clients]'"
        if os.environ.get("TTNN_CLIENTS_REQUIRED") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return found


class Viewer:
    """A viewer that runs.

    Args:
        url: Where it answers.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.instance = ""

    def open(self, memory: Path, performance: Path | None = None) -> None:
        """Open reports in it."""
        paths = {"profiler_path": str(memory)}
        if performance is not None:
            paths["performance_path"] = str(performance)
        status, answer = self._ask("instance/local-paths", json.dumps(paths).encode())
        assert status == 200, answer
        self.instance = json.loads(answer)["instance_id"]

    def status(self, path: str) -> int:
        """Return the status of a request."""
        return self._ask(self._with_instance(path))[0]

    def get(self, path: str) -> Any:
        """Return the answer to a request that must succeed."""
        status, answer = self._ask(self._with_instance(path))
        assert status == 200, f"{path}: {status} {answer[:300]!r}"
        return json.loads(answer)

    def _with_instance(self, path: str) -> str:
        return f"{path}{'&' if '?' in path else '?'}instanceId={self.instance}"

    def _ask(self, path: str, data: bytes | None = None) -> tuple[int, bytes]:
        request = urllib.request.Request(f"{self.url}/api/{path}", data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()


@contextmanager
def viewer(folder: Path) -> Iterator[Viewer]:
    """Start a viewer, and stop it with the processes that it started.

    Args:
        folder: Where it may keep its own files.
    """
    program = official_client("ttnn-visualizer")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "LAUNCH_BROWSER_ON_START": "false",
        "USAGE_RECORDING_DISABLED": "true",
        "APP_DATA_DIRECTORY": str(folder / "app"),
        "REPORT_DATA_DIRECTORY": str(folder / "data"),
    }
    environment.pop("PYTHONPATH", None)
    with (folder / "viewer.log").open("wb") as log:
        process = subprocess.Popen(
            [program, "--host", "127.0.0.1", "--port", str(port)],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        try:
            running = Viewer(f"http://127.0.0.1:{port}")
            _wait(running, process, folder / "viewer.log")
            yield running
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=600)


def _wait(running: Viewer, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            if running._ask("up")[0] == 200:
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    pytest.fail(f"ttnn-visualizer does not answer:\n{log.read_text(errors='replace')[-2000:]}")


def assert_circular_buffers_are_below_the_buffers(running: Viewer) -> tuple[int, int]:
    """Check circular buffer L1 addresses; return own and tensor indices.

    Numbers of those with their own memory and in tensors.
    """
    (device,) = running.get("devices")
    own = borrowed = 0
    for operation in running.get("operations"):
        buffers = running.get(f"operation-buffers/{operation['id']}")["buffers"]
        lowest = min((b["address"] for b in buffers if b["buffer_type"] == 1), default=device["worker_l1_size"])
        for node in operation["device_operations"]:
            if node["node_type"] != "circular_buffer_allocate":
                continue
            first = int(node["params"]["address"])
            if node["params"]["globally_allocated"] == "1":
                borrowed += 1
                assert first >= lowest
            else:
                own += 1
                assert device["address_at_first_l1_cb_buffer"] <= first
                assert first + int(node["params"]["size"]) <= lowest
    return own, borrowed

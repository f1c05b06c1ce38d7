"""Full disks and killed processes leave old files intact."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import FileAccessError, TtnnError
from ttnn.compiler.tools import output
from ttnn.compiler.tools.ttrt.util import Logger, Results

OLD = b"old content, every byte of it\n"
Write = Callable[[Path], object]


def profiled(device: ttnn.MeshDevice) -> Any:
    t = ttnn.ones([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    with ttnn.profiler.profile() as profile:
        ttnn.exp(t)
    return profile


def captured(path: Path) -> None:
    ttnn.graph.begin_graph_capture()
    ttnn.graph.end_graph_capture_to_file(path)


def memory(device: ttnn.MeshDevice, path: Path) -> None:
    with ttnn.manage_config("root_report_path", path.parent):
        ttnn.device.dump_device_memory_state(device, "")


def results(path: Path) -> None:
    Results(Logger()).save_results(str(path))


def tool(path: Path) -> None:
    if output.write("ttmlir-opt", str(path), b"module {}\n" * 1000):
        raise FileAccessError("the tool's exit code")


def writers(device: ttnn.MeshDevice) -> Iterator[tuple[str, Write]]:
    """Yield a file's name and what writes it."""
    tensor = ttnn.from_torch(np.ones((40, 40), np.float32))
    profile = profiled(device)
    yield "t.tensorbin", lambda path: ttnn.dump_tensor(path, tensor)
    yield (
        "c_dtype_None_layout_ROW_MAJOR.tensorbin",
        lambda path: ttnn.as_tensor(np.ones((40, 40), np.float32), cache_file_name=path.parent / "c"),
    )
    yield "config.json", ttnn.CONFIG.save_to_file
    yield "operations.csv", ttnn.dump_operations
    yield "ops_perf_results.csv", lambda path: profile.to_csv(path.parent)
    yield "trace.json", profile.to_perfetto
    yield "graph.json", captured
    yield "memory_usage_summary.csv", lambda path: memory(device, path)
    yield "results.json", results
    yield "module.mlir", tool


@contextmanager
def limited() -> Iterator[None]:
    """Limit file size to one byte in a `with` block."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_old_files_survive_a_full_disk(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    for name, write in writers(device):
        path = tmp_path / name
        path.write_bytes(OLD)
        path.chmod(0o600)
        with limited(), pytest.raises(TtnnError):
            write(path)
        assert path.read_bytes() == OLD, name
        assert not list(tmp_path.glob(".*.part")), name
        write(path)
        assert path.read_bytes() != OLD, name
        assert path.stat().st_mode & 0o777 == 0o600, name


def test_old_files_survive_a_killed_writer(
    device: ttnn.MeshDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, write in writers(device):
        path = tmp_path / name
        path.write_bytes(OLD)
        child = os.fork()
        if child == 0:
            # The file is complete but for the last step.
            monkeypatch.setattr(os, "fsync", lambda descriptor: os.kill(os.getpid(), signal.SIGKILL))
            try:
                write(path)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, name
        assert path.read_bytes() == OLD, name
        assert len(list(tmp_path.glob(".*.part"))) == 1, name
        for part in tmp_path.glob(".*.part"):
            part.unlink()

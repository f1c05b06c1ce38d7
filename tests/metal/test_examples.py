"""The examples hold what they print, and run as commands."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import ttnn

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if "def run(" in path.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("tilize_untilize", ["--cpp"], "the kernels of this program are in Python only"),
        ("eltwise_add", ["--cpp", "objects"], "read_both has no kernel in this spelling of C++"),
    ],
)
def test_a_program_without_kernels_in_cpp_says_so(name: str, options: list[str], sentence: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_every_program_of_the_documentation_is_there() -> None:
    assert NAMES == [
        "custom_sfpu",
        "eltwise_add",
        "halo_exchange",
        "loopback",
        "matmul_block_reuse",
        "matmul_multi_core",
        "matmul_multicast",
        "matmul_single_core",
        "metal2_eltwise_add",
        "objects_eltwise_add",
        "objects_matmul",
        "objects_multicast",
        "riscv_add",
        "softmax_multi_core",
        "softmax_spatial",
        "tilize_untilize",
        "vector_chain",
        "vector_exp",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_bits(device: ttnn.MeshDevice, name: str) -> None:
    first, again = (importlib.import_module(name).run(device) for _ in range(2))
    assert first.checks
    assert all(first.checks.values()), first.checks
    assert (first.report.cycles, repr(first.report)) == (again.report.cycles, repr(again.report))


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("matmul_multicast", {"noc_semaphore_set", "noc_semaphore_set_multicast", "noc_async_read_tile"}),
        ("vector_exp", {"copy_tile_init", "exp_tile_init", "exp_tile", "noc_async_write_tile"}),
        ("softmax_multi_core", {"an L1 store", "reduce_init", "mul_bcast_cols_init_short"}),
    ],
)
def test_the_timeline_names_calls_as_kernels_do(device: ttnn.MeshDevice, name: str, calls: set[str]) -> None:
    names = {event.name for event in importlib.import_module(name).run(device).report.events}
    assert calls <= names
    assert not {name for name in names if name.startswith("a vector") or "read_page" in name}


@pytest.mark.parametrize(
    ("grid", "blocking"),
    [
        ((1, 1), (2, 4, 4, 4, 2, 4)),
        ((1, 3), (2, 2, 6, 3, 1, 2)),
        ((3, 1), (1, 4, 6, 2, 1, 4)),
        ((2, 2), (4, 2, 4, 1, 4, 2)),
    ],
)
def test_multicast_matmul_of_other_blockings(
    device: ttnn.MeshDevice, grid: tuple[int, int], blocking: tuple[int, ...]
) -> None:
    parts, multicast = importlib.import_module("matmul_parts"), importlib.import_module("matmul_multicast")
    outcome = multicast.run(device, grid, parts.Blocking(*blocking))
    assert all(outcome.checks.values())


def test_as_a_command(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "matmul_multicast.py"), "--trace", "trace.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ok   same bits as ttnn.matmul with this blocking" in done.stdout
    assert (tmp_path / "matmul_multicast.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "trace.json").stat().st_size > 1000

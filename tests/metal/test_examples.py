"""The examples hold what they print, and run as commands."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from program_hashes import example_names

import ttnn

ROOT = Path(__file__).resolve().parents[2]
NAMES = example_names()


def command(folder: Path, name: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run an example as a command, in its own output folder."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    arguments = [sys.executable, "-m", f"examples.{name}", *options]
    return subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("classic.tilize_untilize", ["--cpp"], "the kernels of this program are in Python only"),
        ("classic.eltwise_add", ["--cpp", "objects"], "python -m examples.objects.eltwise_add --cpp"),
        ("objects.matmul", ["--cpp"], "the kernels of this program are in Python only"),
    ],
)
def test_a_program_without_kernels_in_cpp_says_so(name: str, options: list[str], sentence: str, tmp_path: Path) -> None:
    done = command(tmp_path, name, *options)
    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_every_program_of_the_documentation_is_there() -> None:
    assert NAMES == [
        "classic.custom_sfpu",
        "classic.eltwise_add",
        "classic.halo_exchange",
        "classic.loopback",
        "classic.matmul_block_reuse",
        "classic.matmul_multi_core",
        "classic.matmul_multicast",
        "classic.matmul_single_core",
        "classic.riscv_add",
        "classic.softmax_multi_core",
        "classic.softmax_spatial",
        "classic.tilize_untilize",
        "classic.vector_chain",
        "classic.vector_exp",
        "metal2.eltwise_add",
        "objects.eltwise_add",
        "objects.matmul",
        "objects.multicast",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_examples_return_the_operator_bits_twice(any_device: ttnn.MeshDevice, name: str) -> None:
    first, again = (importlib.import_module(f"examples.{name}").run(any_device) for _ in range(2))
    assert first.checks
    assert all(first.checks.values()), first.checks
    assert (first.report.cycles, repr(first.report)) == (again.report.cycles, repr(again.report))


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("classic.matmul_multicast", {"noc_semaphore_set", "noc_semaphore_set_multicast", "noc_async_read_tile"}),
        ("classic.vector_exp", {"copy_tile_init", "exp_tile_init", "exp_tile", "noc_async_write_tile"}),
        ("classic.softmax_multi_core", {"an L1 store", "reduce_init", "mul_bcast_cols_init_short"}),
    ],
)
def test_the_timeline_names_calls_as_kernels_do(device: ttnn.MeshDevice, name: str, calls: set[str]) -> None:
    names = {event.name for event in importlib.import_module(f"examples.{name}").run(device).report.events}
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
    parts, multicast = (
        importlib.import_module(f"examples.classic.{name}") for name in ("matmul_parts", "matmul_multicast")
    )
    outcome = multicast.run(device, grid, parts.Blocking(*blocking))
    assert all(outcome.checks.values())


def test_example_runs_as_a_command(tmp_path: Path) -> None:
    done = command(tmp_path, "classic.matmul_multicast", "--trace", "trace.json")
    assert done.returncode == 0, done.stderr
    assert "ok   same bits as ttnn.matmul with this blocking" in done.stdout
    assert (tmp_path / "matmul_multicast.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "trace.json").stat().st_size > 1000

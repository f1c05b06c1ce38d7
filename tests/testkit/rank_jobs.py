"""Jobs of several processes, for the tests of `mpi/`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

import ttnn

KIT = Path(__file__).parent
REPOSITORY = KIT.parent.parent

needs_mpi = [
    pytest.mark.mpi,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        (shutil.which("mpirun") is None or find_spec("mpi4py") is None) and not os.environ.get("TTNN_MPI_REQUIRED"),
        reason='needs mpirun (apt-get install openmpi-bin) and mpi4py (pip install "ttnn-rs[mpi]")',
    ),
]


def with_mpi(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that needs MPI."""
    for mark in needs_mpi:
        test = mark(test)
    return test


def environment(changes: Mapping[str, str]) -> dict[str, str]:
    paths = [str(Path(ttnn.__file__).parent.parent), str(REPOSITORY / "tests"), os.environ.get("PYTHONPATH", "")]
    dropped = ("PYTEST_", "OMPI_", "PMIX_", "TT_", "TTNN_SYSTEM", "TTNN_THREADS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    root = dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
    return {**kept, **root, "PYTHONPATH": os.pathsep.join(paths), **changes}


def launch(ranks: int, *arguments: object, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments in so many processes; in one without mpirun."""
    several = ["mpirun", "--oversubscribe", "-n", str(ranks), sys.executable, "-m", "mpi4py"]
    return run([*(several if ranks > 1 else [sys.executable]), *map(str, arguments)], **changes)


def run(command: Sequence[str], **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env=environment(changes), cwd=REPOSITORY
    )


def lines(job: subprocess.CompletedProcess[str], *, code: int = 0) -> list[str]:
    """Return what the processes of a job printed, sorted."""
    assert job.returncode == code, job.stdout[-2000:] + job.stderr[-4000:]
    return sorted(job.stdout.splitlines())


def numbers_of_passed_tests(job: subprocess.CompletedProcess[str]) -> list[int]:
    """Return the number of passed tests of each process."""
    # Processes share one stream: two summaries may stand on one line with nothing between them.
    return [int(number) for number in re.findall(r"(\d+) passed", "\n".join(lines(job)))]

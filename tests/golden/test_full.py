"""The engine against all golden vectors.

At every CPU level and several thread counts.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compact import hash_of, hashes

import ttnn
from testkit import vector_coverage
from ttnn import _engine
from ttnn.cli.common.terminal import Terminal
from ttnn.cli.goldens import check_folder
from ttnn.operation.numerics import covered


def _differences(folder: Path, only: list[str]) -> list[str]:
    reports = check_folder(folder, only, Terminal(json=True))
    assert reports
    return [f"{report.path} {difference}" for report in reports for difference in report.differences]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("family", ["fpu/", "sfpu/", "host/", "ops/", "blackhole/fpu/", "blackhole/sfpu/"])
def test_every_array_is_equal(golden: Path, family: str) -> None:
    assert _differences(golden, [family]) == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("level", _engine.cpu_levels())
def test_results_do_not_depend_on_threads_and_cpu_level(
    golden: Path, level: str, threads: int, cpu_level: None, host_threads: None
) -> None:
    _engine.set_cpu_level(level)
    _engine.set_threads(threads)
    # Whole operators and the packer cover what runs in parallel; single steps are covered above at the best level.
    assert _differences(golden, ["ops/", "fpu/pack", "fpu/unpack", "fpu/matmul_bf", "host/"]) == []


def test_folder_is_the_set_that_the_hashes_describe(golden: Path) -> None:
    known = hashes()
    for name in sorted({file for file, _ in known}):
        with np.load(golden / name, allow_pickle=False) as archive:
            found = {array: hash_of(archive[array]) for array in archive.files}
        assert found == {array: digest for (file, array), digest in known.items() if file == name}, name


@pytest.mark.parametrize("arch", [ttnn.Arch.WORMHOLE_B0, ttnn.Arch.BLACKHOLE], ids=str)
def test_covered_data_types_are_those_of_the_folder(arch: ttnn.Arch, golden: Path) -> None:
    assert vector_coverage.covered(golden, arch) == covered(arch)

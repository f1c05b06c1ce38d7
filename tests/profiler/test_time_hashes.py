"""Predicted operator times are equal everywhere.

For every CPU level and number of threads, here and elsewhere.
"""

from __future__ import annotations

import json

import pytest
from time_hashes import FILE, differences, names

from ttnn import _engine

LEVELS = [level for level in ("scalar", "avx2", "avx512", "neon") if level in _engine.cpu_levels()]


def test_the_file_has_every_case() -> None:
    assert set(json.loads(FILE.read_text(encoding="utf-8"))) == set(names())


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_plan_times_do_not_depend_on_the_thread_count(threads: int, host_threads: None) -> None:
    _engine.set_threads(threads)
    assert list(differences()) == []


@pytest.mark.parametrize("level", LEVELS)
def test_plan_times_do_not_depend_on_the_cpu_level(level: str, cpu_level: None) -> None:
    _engine.set_cpu_level(level)
    assert list(differences()) == []

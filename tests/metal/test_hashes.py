"""Program results and reports do not depend on CPU or threads.

The same holds here and elsewhere.
"""

from __future__ import annotations

import json

import pytest
from program_hashes import FILE, differences, program_names

from ttnn import _engine

LEVELS = [level for level in ("scalar", "avx2", "avx512", "neon") if level in _engine.cpu_levels()]


def test_program_hashes_name_only_existing_programs() -> None:
    assert set(json.loads(FILE.read_text(encoding="utf-8"))) <= set(program_names())


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_hashes_do_not_depend_on_the_thread_count(threads: int, host_threads: None) -> None:
    _engine.set_threads(threads)
    assert list(differences(program_names())) == []


@pytest.mark.parametrize("level", LEVELS)
def test_hashes_do_not_depend_on_the_cpu_level(level: str, cpu_level: None) -> None:
    _engine.set_cpu_level(level)
    assert list(differences(program_names())) == []

"""The engine against the repository's golden vectors and table hashes.

The hashes are those of the full tables.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from compact import DATA, MANIFEST, file_hash, hash_of, hashes, vector_files

from ttnn import _engine
from ttnn.base.exceptions import FileFormatError
from ttnn.cli.common.terminal import Terminal
from ttnn.cli.goldens import check_folder
from ttnn.cli.goldens.cases import operator_of
from ttnn.cli.goldens.sfpu import every_bf16, unary_table
from ttnn.cli.goldens.variants import engine_variant

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXHAUSTIVE_MODES = ("bf16", "fp32_on_bf16")
FOLDERS = ("sfpu/", "blackhole/sfpu/")
"""Folders of tables, by the number of their generation."""


def test_manifest_lists_every_file_with_its_hash() -> None:
    listed = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["files"]
    assert listed == {name: file_hash(DATA / name) for name in vector_files()}


@pytest.mark.parametrize("level", _engine.cpu_levels())
def test_every_array_is_equal(level: str, cpu_level: None) -> None:
    _engine.set_cpu_level(level)
    reports = check_folder(DATA, [], Terminal(json=True))
    assert [str(difference) for report in reports for difference in report.differences] == []
    assert {Path(report.path).name for report in reports} == {p.name for p in DATA.rglob("*.npz")}
    assert all(report.equal_values > 0 for report in reports)


def _exhaustive_tables() -> list[tuple[int, str, str, str]]:
    tables = []
    for arch, folder in enumerate(FOLDERS):
        offered = {(name, variant) for operands, name, variant, _ in _engine.sfpu_functions(arch) if operands == 1}
        for file, array in hashes():
            variant, _, mode = array.partition("__")
            name = file.removeprefix(folder).removesuffix(".npz")
            known = (name, engine_variant(name, variant, arch)[0]) in offered
            if file.startswith(folder) and mode in EXHAUSTIVE_MODES and known:
                tables.append((arch, name, variant, mode))
    return tables


@pytest.mark.parametrize("level", _engine.cpu_levels())
@pytest.mark.parametrize(("arch", "name", "variant", "mode"), _exhaustive_tables())
def test_exhaustive_table_has_the_hash_of_the_golden_one(
    arch: int, name: str, variant: str, mode: str, level: str, cpu_level: None
) -> None:
    _engine.set_cpu_level(level)
    table = unary_table(name, variant, mode, every_bf16(), arch)
    assert hash_of(table) == hashes()[f"{FOLDERS[arch]}{name}.npz", f"{variant}__{mode}"]


def test_exhaustive_tables_exist() -> None:
    for arch in range(len(FOLDERS)):
        assert {"exp", "recip"} <= {name for of, name, _, _ in _exhaustive_tables() if of == arch}


@pytest.mark.parametrize("name", ["close_device", "os", "__import__", "CONFIG", "nothing"])
def test_a_case_names_an_operator_and_nothing_else(name: str) -> None:
    with pytest.raises(FileFormatError, match="is not an operator"):
        operator_of({"op": name})

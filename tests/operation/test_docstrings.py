"""Operator docstrings: beginning, shapes, readable sources, usual words."""

from __future__ import annotations

import re
from typing import Final

import pytest

import ttnn
from ttnn.operation import registry

_FIRST_WORDS: Final = ("Return ", "Write ", "Create ", "Release ")
_WITH_SHAPES: Final = {"data_movement", "reduction", "normalization", "creation", "matmul", "losses"}
_SOURCE: Final = re.compile(
    r'TT-NN docs "ttnn\.[\w.]+"|tt-(metal|llk) `[\w./]+(\.h|\.cpp|/[a-z_/]+)`( and `[\w./]+`)?', re.ASCII
)
_RETIRED: Final = re.compile(
    r"\b(of every element|element by element|held to|in another place|anew|bent|abscissa|ordinate|exchanged|turned|"
    r"datums?|no vector settles|(vector|matrix) unit|operator programs|misfits?|whole tiles|"
    r"bits of the chip|words|lives)\b"
)

_OPERATIONS: Final = ttnn.query_registered_operations(True)


@pytest.mark.parametrize("operation", _OPERATIONS, ids=str)
def test_a_docstring_says_what_comes_out_in_words_of_the_field(operation: registry.FastOperation) -> None:
    text = operation.__doc__
    assert text is not None
    assert text.startswith(_FIRST_WORDS)
    assert text.partition("\n")[0].endswith(".")
    assert not _RETIRED.findall(text)


@pytest.mark.parametrize("entry", registry.entries(), ids=str)
def test_a_source_can_be_opened(entry: registry.Op) -> None:
    text = registry.find(f"ttnn.{entry.name}").__doc__ or ""
    sources = text.rpartition("Source: ")[2].removesuffix(".").split("; ")
    assert [source for source in sources if not _SOURCE.fullmatch(source)] == []


@pytest.mark.parametrize("entry", [entry for entry in registry.entries() if entry.category in _WITH_SHAPES], ids=str)
def test_shapes_are_stated(entry: registry.Op) -> None:
    assert re.search(r"^Shape: .*-> .*\[", entry.doc, re.MULTILINE)


@pytest.mark.parametrize("entry", registry.entries(), ids=str)
def test_errors_are_stated_for_supported_data_types_only(entry: registry.Op) -> None:
    assert entry.accuracy is None or set(entry.accuracy.ulp) <= set(entry.dtypes)

"""Errors derive from what programs catch, and carry the official sentence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import ttnn
from ttnn.base import exceptions
from ttnn.base.exceptions import TtnnError, fatal

# The official package raises RuntimeError for every failed check; these two answer Python's own protocols.
NOT_RUNTIME_ERRORS = {exceptions.ArgumentError, exceptions.IndexRangeError}


def all_subclasses(kind: type[TtnnError]) -> Iterator[type[TtnnError]]:
    for child in kind.__subclasses__():
        yield child
        yield from all_subclasses(child)


def test_every_error_can_be_caught_as_today() -> None:
    for kind in all_subclasses(TtnnError):
        assert issubclass(kind, RuntimeError) != (kind in NOT_RUNTIME_ERRORS), kind
    for name, base in (
        ("ShapeError", ValueError),
        ("DTypeError", TypeError),
        ("LayoutError", ValueError),
        ("MemoryConfigError", ValueError),
        ("ProgramConfigError", ValueError),
        ("OutOfMemoryError", MemoryError),
        ("ArgumentError", TypeError),
        ("IndexRangeError", IndexError),
        ("UnsupportedError", NotImplementedError),
        ("ConfigError", AttributeError),
    ):
        assert issubclass(getattr(exceptions, name), base), name


def test_fatal_says_ours_then_theirs() -> None:
    error = fatal(exceptions.ShapeError, "ttnn.f: 3 is not 4", "Sizes differ")
    assert isinstance(error, exceptions.ShapeError)
    assert str(error) == "ttnn.f: 3 is not 4\ninfo:\nSizes differ"


def test_errors_carry_figures() -> None:
    memory = exceptions.OutOfMemoryError("full", "L1", 2048, 1024)
    assert (str(memory), memory.bank, memory.requested_bytes, memory.largest_free_bytes) == ("full", "L1", 2048, 1024)
    kernel = exceptions.AddressError("outside", "1-2", "BRISC", "reader", 7)
    assert (kernel.core, kernel.risc, kernel.kernel, kernel.line) == ("1-2", "BRISC", "reader", 7)
    assert exceptions.UnsupportedError("later").category == "unsupported"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("all_gather", "chips that work together are not modelled; a mesh has one chip here"),
        ("graph", "captured graphs, their reports, traces of models and profiles are not built yet"),
        ("conv2d", "the official package has it, here it is not built yet"),
    ],
)
def test_names_of_the_official_package_that_are_not_here(name: str, reason: str) -> None:
    with pytest.raises(exceptions.MissingNameError) as caught:
        getattr(ttnn, name)
    assert str(caught.value).startswith(f"ttnn.{name}: {reason}")
    assert isinstance(caught.value, (AttributeError, exceptions.UnsupportedError))
    assert not hasattr(ttnn, name)


def test_names_that_nobody_has() -> None:
    with pytest.raises(AttributeError, match=r"^module 'ttnn' has no attribute 'matmull'$") as caught:
        _ = ttnn.matmull
    assert not isinstance(caught.value, exceptions.TtnnError)

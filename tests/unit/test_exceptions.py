"""Errors derive from what programs catch, and carry the official sentence."""

from __future__ import annotations

from collections.abc import Iterator

from ttnn import exceptions
from ttnn.exceptions import TtnnError, fatal

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

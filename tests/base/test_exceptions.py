"""Errors derive from what programs catch, and carry the official sentence."""

from __future__ import annotations

import importlib.util
import operator
import pickle
from collections.abc import Iterator

import pytest

import ttnn
from ttnn.base import exceptions
from ttnn.base.exceptions import TtnnError

# The official package raises RuntimeError for every failed check; these two answer Python's own protocols.
NOT_RUNTIME_ERRORS = {exceptions.ArgumentError, exceptions.IndexRangeError}


def all_subclasses(kind: type[TtnnError]) -> Iterator[type[TtnnError]]:
    for child in kind.__subclasses__():
        yield child
        yield from all_subclasses(child)


def test_errors_keep_their_builtin_base_classes() -> None:
    if importlib.util.find_spec("xdsl") is not None:
        for module in ("ttnn.compiler.ir.diagnostics", "ttnn.compiler.transforms.options"):
            importlib.import_module(module)
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


def test_errors_are_fields() -> None:
    error = exceptions.ShapeError("ttnn.f: 3 is not 4", vendor="Sizes differ")
    assert (error.operator, error.sentence, error.supported, error.vendor) == (
        "ttnn.f",
        "3 is not 4",
        "",
        "Sizes differ",
    )
    assert str(error) == "ttnn.f: 3 is not 4\ninfo:\nSizes differ"
    error.supported = "ttnn.f takes 4."
    error.say_who("ttnn.g")
    error.say_outer("ttnn.f")
    assert str(error) == "ttnn.f: 3 is not 4 ttnn.f takes 4.\ninfo:\nSizes differ"
    error.say_outer("ttnn.h")
    assert str(error) == "ttnn.h: 3 is not 4 ttnn.f takes 4.\ninfo:\nSizes differ"
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied), vars(copied)) == (type(error), str(error), vars(error))


def test_errors_without_an_operator_are_told_who_called() -> None:
    error = exceptions.MemoryConfigError("no cores\ninfo:\nNo cores")
    error.say_who("ttnn.f")
    assert (str(error), error.vendor) == ("ttnn.f: no cores\ninfo:\nNo cores", "No cores")
    named = exceptions.MemoryConfigError("ttnn.Tensor(): no cores")
    named.say_who("ttnn.f")
    assert str(named) == "ttnn.Tensor(): no cores"


def test_errors_carry_figures() -> None:
    memory = exceptions.OutOfMemoryError("full", "L1", 2048, 1024)
    assert (str(memory), memory.bank, memory.requested_bytes, memory.largest_free_bytes) == ("full", "L1", 2048, 1024)
    kernel = exceptions.AddressError("outside", "1-2", "BRISC", "reader", 7)
    assert (kernel.core, kernel.risc, kernel.kernel, kernel.line) == ("1-2", "BRISC", "reader", 7)
    assert exceptions.UnsupportedError("later").category == "unsupported"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("H2DSocket", "not implemented for meshes; docs/meshes.md lists what is"),
        ("experimental.fft", "the official package has it, here it is not implemented"),
        ("experimental.layer_completion.LayerCompletionQueue", "not implemented for meshes"),
        ("experimental.moe_compute_utils.cluster_distance", "the official package has it, here it is not implemented"),
        ("experimental.reload.read_core_l1", "captured graphs, their reports"),
    ],
)
def test_names_of_the_official_package_that_are_not_here(name: str, reason: str) -> None:
    *path, last = name.split(".")
    # The error of a namespace that is missing as a whole names the namespace.
    missing = next((end for end in range(1, len(path) + 1) if not _has(path[:end])), len(path) + 1)
    with pytest.raises(exceptions.MissingNameError) as caught:
        operator.attrgetter(name)(ttnn)
    assert str(caught.value).startswith(f"ttnn.{'.'.join([*path, last][:missing])}: {reason}")
    assert isinstance(caught.value, (AttributeError, exceptions.UnsupportedError))


def _has(path: list[str]) -> bool:
    """Return whether `ttnn` has a namespace."""
    where: object = ttnn
    for part in path:
        where = getattr(where, part, None)
    return where is not None


def test_second_places_of_official_names() -> None:
    assert ttnn.experimental.YUVColorSpace is ttnn.YUVColorSpace
    assert ttnn.experimental.yuv_bt601_coefficients is ttnn.yuv_bt601_coefficients
    assert ttnn.transformer.SparseKVFormat is ttnn.SparseKVFormat
    assert ttnn.types.MeshShape is ttnn.MeshShape
    assert ttnn.core.MemoryConfig is ttnn.MemoryConfig
    with pytest.raises(exceptions.UnsupportedError, match="colour spaces"):
        ttnn.experimental.rgb_to_yuv(1)
    with pytest.raises(exceptions.UnsupportedError, match="KvChunkAddressTable"):
        ttnn.disaggregation.KvChunkAddressTable()


def test_unknown_names_raise_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'ttnn' has no attribute 'matmull'$") as caught:
        _ = ttnn.matmull
    assert not isinstance(caught.value, exceptions.TtnnError)

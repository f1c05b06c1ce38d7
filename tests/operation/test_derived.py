"""Names derived from entries: public, signatures, stub, missing ones."""

from __future__ import annotations

import importlib
import inspect
import re
from keyword import iskeyword
from operator import attrgetter
from pathlib import Path

import pytest

import ttnn
from ttnn.operation import registry, stubs, vendor_names


def test_every_operator_is_public_by_its_names() -> None:
    for entry in registry.entries():
        for name in (entry.name, *entry.aliases):
            assert attrgetter(name)(ttnn) is registry.find(f"ttnn.{entry.name}")
    assert ttnn.divide is ttnn.div
    assert ttnn.div_ is ttnn.divide_


def test_signatures_tell_arguments_and_types() -> None:
    assert str(inspect.signature(ttnn.exp)) == (
        "(input_tensor: 'Tensor', *, fast_and_approximate_mode: 'bool' = False, "
        "memory_config: 'MemoryConfig | None' = None, output_tensor: 'Tensor | None' = None, "
        "sub_core_grids: 'CoreRangeSet | None' = None) -> 'Tensor'"
    )
    assert inspect.signature(ttnn.add).parameters["input_tensor_b"].annotation == "int | float | Tensor"
    assert inspect.signature(ttnn.from_torch).parameters["dtype"].default is None
    assert "function" in inspect.signature(registry.FastOperation).parameters


@pytest.mark.parametrize("operation", registry.operations(), ids=repr)
def test_every_operator_has_a_signature(operation: registry.FastOperation) -> None:
    signature = inspect.signature(operation)
    entry = operation.entry
    if entry is not None:
        names = {param.name for param in entry.signatures[0].params}
        assert set(signature.parameters) == {f"{name}_" if iskeyword(name) else name for name in names}
    annotations = [signature.return_annotation, *(param.annotation for param in signature.parameters.values())]
    assert not [text for text in map(str, annotations) if re.search(r"\bAny\b|_empty", text)]


def test_the_stubs_are_up_to_date() -> None:
    folder = Path(ttnn.__file__).parent
    assert stubs.main(folder, "--check") == 0
    for name in ("ops/__init__.pyi", "namespaces.pyi"):
        assert not re.search(r"\bAny\b", (folder / name).read_text(encoding="utf-8"))


def test_operators_with_a_dot_are_in_namespaces() -> None:
    assert importlib.import_module("ttnn.transformer") is ttnn.transformer
    assert ttnn.transformer.attention_softmax.python_fully_qualified_name == "ttnn.transformer.attention_softmax"
    with pytest.raises(AttributeError, match=r"no attribute 'transformer\.attention_hardmax'"):
        ttnn.transformer.attention_hardmax  # type: ignore[attr-defined]  # noqa: B018


def test_names_that_are_missing_are_those_of_the_official_package_less_ours() -> None:
    missing = vendor_names.not_here()
    assert {"experimental.fft"} <= set(missing)
    assert not [name for name in missing if hasattr(ttnn, name)]
    assert not {"begin_trace_capture", "execute_trace", "create_global_semaphore", "get_cb_address"} & set(missing)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("experimental.fft", "not implemented"),
        ("experimental.kda", "not implemented"),
        ("experimental.deepseek", "not implemented"),
        ("H2DSocket", "not implemented for meshes"),
        ("test_hang_device_operation", "captured"),
    ],
)
def test_asking_for_a_missing_name_says_why(name: str, why: str) -> None:
    with pytest.raises(ttnn.MissingNameError, match=rf"ttnn\.{name}: .*{why}"):
        getattr(ttnn, name)
    with pytest.raises(AttributeError, match="module 'ttnn' has no attribute 'matmull'"):
        ttnn.matmull  # type: ignore[attr-defined]  # noqa: B018

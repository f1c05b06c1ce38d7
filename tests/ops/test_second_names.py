"""Operators that the official package lists a second time, below `ttnn.experimental.quasar`."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch

import ttnn
from ttnn.base.exceptions import ArgumentError, TtnnError
from ttnn.operation import registry, vendor_names

PREFIX = "experimental.quasar."


def test_every_second_name_whose_operator_is_there_is_there() -> None:
    known = registry.exports()
    every = {operation.python_fully_qualified_name for operation in registry.operations()}
    listed = [name for name in vendor_names.names() if name.startswith(PREFIX)]
    expected = {
        name
        for name in listed
        for first in (name.removeprefix(PREFIX), f"experimental.{name.removeprefix(PREFIX)}")
        if first in known or f"ttnn.{first}" in every
    }
    assert expected == {name for name in known if name.startswith(PREFIX)}
    assert {f"{PREFIX}add", f"{PREFIX}divide_", f"{PREFIX}matmul"} <= expected


def test_an_operator_with_two_names_has_one_entry() -> None:
    names = [entry.name for entry in registry.entries()]
    assert len(set(names)) == len(names)
    assert not [name for name in names if name.startswith(PREFIX)]


def test_a_second_name_computes_the_same_and_is_another_operator(device: ttnn.MeshDevice) -> None:
    first, second = (registry.exports()[name] for name in ("multiply", f"{PREFIX}multiply"))
    torch.manual_seed(1)
    a = ttnn.from_torch(torch.randn(3, 40, 50), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    assert torch.equal(ttnn.to_torch(second(a, a)), ttnn.to_torch(first(a, a)))
    assert second != first
    assert second in ttnn.query_registered_operations(include_experimental=True)
    assert inspect.signature(second) == inspect.signature(first)
    assert second.numerics == first.numerics
    assert second.golden_function is first.golden_function


def test_errors_have_the_second_name(device: ttnn.MeshDevice) -> None:
    multiply = registry.exports()[f"{PREFIX}multiply"]
    tensors = [
        ttnn.from_torch(torch.ones(shape), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        for shape in ((32, 64), (32, 96))
    ]
    with pytest.raises(ArgumentError, match=r"^\nttnn\.experimental\.quasar\.multiply\(\): "):
        multiply(tensors[0])
    with pytest.raises(TtnnError, match=r"^ttnn\.experimental\.quasar\.multiply: "):
        multiply(*tensors)


def test_an_operator_that_is_registered_later_gets_its_second_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for table in ("_operations", "_named_again", "OPERATORS"):
        monkeypatch.setattr(registry, table, dict(getattr(registry, table)))
    entry = registry.find("ttnn.add").entry
    assert entry is not None
    name = f"{PREFIX}scratch_operator"
    registry.name_again(PREFIX, [name])
    assert name not in registry.exports()
    registry.register(replace(entry, name="scratch_operator", aliases=()))
    registry.name_again(PREFIX, [name])
    assert name in registry.exports()


def test_operators_without_an_entry_have_second_names(device: ttnn.MeshDevice) -> None:
    host = ttnn.Tensor(np.arange(32, dtype=np.float32).reshape(1, 32), ttnn.bfloat16)
    tensor = ttnn.experimental.quasar.to_device(host, device)
    assert tensor.storage_type() is ttnn.StorageType.DEVICE
    moved = ttnn.experimental.quasar.reallocate(tensor)
    assert not tensor.is_allocated()
    np.testing.assert_array_equal(np.asarray(moved.to_numpy(), np.float32), np.asarray(host.to_numpy(), np.float32))
    assert str(ttnn.experimental.quasar.reallocate) == "<operation ttnn.experimental.quasar.reallocate>"

"""Adding one operator of each kind to a scratch registry.

Everything derived appears.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from testkit.reference_calls import calls, compare
from ttnn.base.memory_config import MemoryConfig
from ttnn.operation import registry, stubs
from ttnn.operation.accuracy import bit_exact, max_ulp
from ttnn.operation.signature import INTEGER, Param, Signature
from ttnn.operation.steps import fixed
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION
from ttnn.ops._programs.movement import register_movement
from ttnn.ops.eltwise.unary.family import Unary, register_unary

Make = Callable[[], registry.FastOperation]
REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def scratch() -> Iterator[None]:
    """Allow one test to add operators."""
    tables: tuple[dict[Any, Any], ...] = (registry._operations, registry.OPERATORS, registry.STEPS)
    before = [dict(table) for table in tables]
    yield
    for table, kept in zip(tables, before, strict=True):
        table.clear()
        table.update(kept)


def unary() -> registry.FastOperation:
    return register_unary(
        Unary(
            "scratch_sine", ttnn.UnaryOpType.ZERO_POINT, np.sin, "the sine", steps=fixed("sin"), ulp=(0.5517, 8192.5759)
        )
    )


def composite() -> registry.FastOperation:
    def run(input_tensor: ttnn.Tensor, memory_config: MemoryConfig | None) -> ttnn.Tensor:
        return ttnn.add(ttnn.relu(input_tensor), 1.0, memory_config=memory_config)

    return registry.register(
        registry.Op(
            name="scratch_relu_plus_1",
            signatures=(Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION,)),),
            run=run,
            doc="Return relu(x) + 1 of every element.",
            dtypes=(ttnn.bfloat16, ttnn.float32),
            layouts=(ttnn.TILE_LAYOUT,),
            golden=lambda x, **_: np.maximum(x, 0.0) + 1.0,
            accuracy=max_ulp((ttnn.bfloat16, 1), (ttnn.float32, 1)),
            composition=True,
            family="unary",
            aliases=("scratch_rp1",),
        )
    )


def movement() -> registry.FastOperation:
    def run(input_tensor: ttnn.Tensor, dim: int, memory_config: MemoryConfig | None) -> ttnn.Tensor:
        order = [axis for axis in range(len(input_tensor.shape)) if axis != dim]
        return ttnn.permute(input_tensor, [dim, *order], memory_config=memory_config)

    def examples(shape: tuple[int, ...], _: ttnn.Layout) -> Sequence[tuple[Any, ...]]:
        return ((0,), (len(shape) - 1,)) if shape else ()

    return register_movement(
        "scratch_to_front",
        (Signature((INPUT_TENSOR, Param("dim", INTEGER, doc="It comes first.")), (MEMORY_CONFIG_OPTION,)),),
        run,
        "Return [dim, ...] of a tensor [..., dim, ...].",
        golden=lambda x, dim, **_: np.moveaxis(x, dim, 0),
        accuracy=bit_exact(),
        engine=(),
        examples=examples,
    )


def docs_page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_operators", REPOSITORY / "docs" / "make_operators.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("add", [unary, composite, movement])
def test_everything_derived_appears(add: Make, scratch: None, device: ttnn.MeshDevice) -> None:
    operation = add()
    entry = operation.entry
    assert entry is not None
    for name in (entry.name, *entry.aliases):
        assert registry.exports()[name] is operation
        assert f"\n{name}: _" in stubs.stub(registry.exports())
    signature = inspect.signature(operation)
    assert signature.parameters["memory_config"].annotation == "MemoryConfig | None"
    assert signature.return_annotation.removeprefix("ttnn.") == "Tensor"
    assert operation in ttnn.query_registered_operations()
    assert operation.__doc__ is not None
    assert operation.__doc__.startswith(entry.doc)
    assert any(f"`ttnn.{entry.name}`" in line for line in docs_page().tables())
    assert entry in registry.entries()  # of which the generated tests make their cases
    for shape in ((33, 31), (2, 33, 65)):
        tried = list(calls(entry, shape, ttnn.TILE_LAYOUT))
        assert tried
        for arguments in tried:
            x = make(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
            compare(entry, operation(x, *arguments), values_of(x), list(arguments))


def test_a_unary_function_is_an_activation_too(scratch: None, device: ttnn.MeshDevice) -> None:
    sine = unary()
    x = make((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    assert set(registry.STEPS) >= set(sine.entry.steps if sine.entry is not None else ())
    np.testing.assert_array_equal(values_of(sine(x)), values_of(ttnn.sin(x)))


def test_duplicate_operator_names_raise(scratch: None) -> None:
    composite()
    with pytest.raises(ValueError, match=r"ttnn\.scratch_relu_plus_1 is registered twice"):
        composite()
    assert "scratch_relu_plus_1" not in vars(ttnn)

"""Operators with references, generated: types, layouts, shapes, memory configs."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.eltwise_calls import Operand
from testkit.operands import INTEGERS, make, make_operand, values_of
from testkit.reference_calls import (
    OWN_TESTS,
    applies,
    callable_of,
    calls,
    compare,
    fitting,
    largest_integer,
    plain_values,
    split_keywords,
    takes_integers,
    with_tensors,
)
from ttnn.operation import registry

SHAPES: list[tuple[int, ...]] = [
    (),
    (1,),
    (31,),
    (1, 1),
    (32, 32),
    (33, 31),
    (2, 33, 65),
    (2, 40, 96),
    (2, 1, 64, 128),
    (1, 2, 32, 64),
    (2, 1, 3, 31, 33),
    (0, 33),
    (2, 0, 5),
]
ONE_MATRIX = {"experimental.wan_fused_rmsnorm_post_allgather": [(1, 1, 64, 128)]}
"""Shapes of operators that accept one matrix of whole tiles."""
SHARDED: tuple[int, ...] = (128, 64)


def _entries() -> list[registry.Op]:
    return [
        entry
        for entry in registry.entries()
        if entry.golden is not None and entry.examples and entry.family not in OWN_TESTS
    ]


def _cases() -> list[Any]:
    return [
        pytest.param(entry, dtype, layout, id=f"{entry.name}-{dtype.name}-{layout.name}")
        for entry in _entries()
        for dtype in entry.dtypes
        for layout in entry.layouts
        if not (dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b) and layout is ttnn.ROW_MAJOR_LAYOUT)
        if not (dtype in entry.only_rows and layout is ttnn.TILE_LAYOUT)
        if applies(entry, dtype, layout)
    ]


def test_every_operator_is_tried() -> None:
    shapes = ((32, 64), (2, 32, 64), (2, 32, 96), (1, 2, 32, 64), (1, 1, 32, 128))
    tried = {
        entry.name
        for entry in _entries()
        if any(True for shape in shapes for _ in calls(entry, shape, entry.layouts[0]))
    }
    assert {entry.name for entry in _entries()} - tried == set()


def _run(entry: registry.Op, x: ttnn.Tensor, arguments: tuple[Any, ...], device: ttnn.MeshDevice) -> None:
    """Call the operator and compare with the reference."""
    operation = callable_of(entry)
    arguments, given = split_keywords(arguments)
    keywords = with_tensors(given, x.dtype, x.layout, device)
    tensors = [
        make_operand(item, x.dtype, x.layout, device, fit=fitting(entry), limit=largest_integer(entry))
        if isinstance(item, Operand)
        else item
        for item in arguments
    ]
    plain = [values_of(item) if isinstance(item, ttnn.Tensor) else item for item in tensors]
    before = values_of(x)
    result = operation(x, *tensors, **keywords)
    compare(entry, result, before, plain, **plain_values(keywords))


@pytest.mark.parametrize(("entry", "dtype", "layout"), _cases())
def test_results_match_the_golden_function(
    entry: registry.Op, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    tried = 0
    for shape in ONE_MATRIX.get(entry.name, SHAPES):
        if entry.name in ("max", "min") and 0 in shape:
            # There is none; tests/ops/reduction has the error.
            continue
        if entry.name in ("max", "min") and dtype is ttnn.bfloat8_b and any(size % 16 for size in (1, *shape)[-2:]):
            # Infinities in the padding take the exponent of the values beside them.
            continue
        # Zeros that pad a tile become infinities of these functions.
        if entry.domain and dtype is ttnn.bfloat8_b and any(size % 32 for size in (1, *shape)[-2:]):
            continue
        for arguments in calls(entry, shape, layout):
            if dtype in INTEGERS and not takes_integers(entry, arguments):
                continue
            x = make(shape, dtype, layout, device, fit=fitting(entry), limit=largest_integer(entry))
            _run(entry, x, arguments, device)
            tried += 1
    assert tried


def _keeps_shape(entry: registry.Op) -> bool:
    return (
        entry.examples == ((),) or entry.family in ("unary", "binary") or entry.name in ("softmax", "to_memory_config")
    )


def _first_layout(entry: registry.Op) -> ttnn.Layout:
    return ttnn.TILE_LAYOUT if ttnn.TILE_LAYOUT in entry.layouts else ttnn.ROW_MAJOR_LAYOUT


PLACED = [
    pytest.param(entry, place, id=f"{place}-{entry.name}")
    for place in ("L1", "HEIGHT", "WIDTH", "BLOCK")
    for entry in _entries()
    # Views are not taken of rows in L1.
    if not (place == "L1" and entry.name == "narrow")
    if (place == "L1" or _keeps_shape(entry)) and any(True for _ in calls(entry, SHARDED, _first_layout(entry)))
]


@pytest.mark.parametrize(("entry", "place"), PLACED)
def test_result_bits_do_not_depend_on_placement(entry: registry.Op, place: str, device: ttnn.MeshDevice) -> None:
    """The result does not depend on where the operands live."""
    layout = _first_layout(entry)
    if place == "L1":
        config = ttnn.L1_MEMORY_CONFIG
    else:
        grid = ttnn.CoreGrid(y=2, x=2 if place == "BLOCK" else 1)
        config = ttnn.create_sharded_memory_config(SHARDED, grid, getattr(ttnn.ShardStrategy, place))
    dtype = ttnn.bfloat16 if ttnn.bfloat16 in entry.dtypes else entry.dtypes[0]
    operation, fitted, limit = callable_of(entry), fitting(entry), largest_integer(entry)
    for example in calls(entry, SHARDED, layout):
        arguments, given = split_keywords(example)
        keywords = with_tensors(given, dtype, layout, device)
        first = make(SHARDED, dtype, layout, device, fit=fitted, limit=limit)
        apart = operation(first, *_tensors(entry, arguments, dtype, layout, device), **keywords)
        x = make(SHARDED, dtype, layout, device, memory_config=config, fit=fitted, limit=limit)
        here = operation(x, *_tensors(entry, arguments, dtype, layout, device), **keywords)
        for part, expected in zip(
            *((both if isinstance(both, list | tuple) else [both]) for both in (here, apart)), strict=True
        ):
            np.testing.assert_array_equal(values_of(part), values_of(expected))


def _tensors(
    entry: registry.Op,
    arguments: tuple[Any, ...],
    dtype: ttnn.DataType,
    layout: ttnn.Layout,
    device: ttnn.MeshDevice,
) -> list[Any]:
    return [
        make_operand(item, dtype, layout, device, fit=fitting(entry)) if isinstance(item, Operand) else item
        for item in arguments
    ]


@pytest.mark.parametrize("operation", registry.operations(), ids=repr)
def test_every_operator_describes_itself(operation: registry.FastOperation) -> None:
    assert operation.__doc__
    assert operation.__name__ == operation.python_fully_qualified_name
    if operation.entry is not None:
        assert "Source:" in operation.__doc__
        for alias in operation.entry.aliases:
            assert attrgetter(alias)(ttnn) is registry.find(f"ttnn.{operation.entry.name}")


def test_registry_and_engine_know_each_other() -> None:
    """Engine routines and operator entries match, both ways."""
    entries = (*registry.entries(), *registry.mesh_entries())
    named = {routine for entry in entries for routine in entry.engine}
    assert {routine for routine in named if not hasattr(ttnn._engine, routine)} == set()
    stub = (Path(ttnn.__file__).parent / "_engine.pyi").read_text(encoding="utf-8")
    operators = stub.split("# Operators on device buffers.", 1)[1]
    routines = set(re.findall(r"^def (\w+)\(", operators, re.MULTILINE))
    routines -= {"functions"}
    assert routines - named == set()


LIMITS = ("with the default options", "of real tensors", "with numbers that bfloat16 holds")


@pytest.mark.parametrize("entry", registry.entries(), ids=str)
def test_docstrings_say_what_an_operator_takes_and_how_exact_it_is(entry: registry.Op) -> None:
    text = registry.find(f"ttnn.{entry.name}").__doc__
    assert text is not None
    assert re.match(r"[A-Z]\S+ .*\.$", text.split("\n", 1)[0])
    accuracy = re.search(f"^Accuracy{''.join(f'(, {limit})?' for limit in LIMITS)}: [^.]", text, re.MULTILINE)
    assert accuracy or entry.numerics == "movement"
    assert entry.accuracy is not None or entry.numerics == "movement"
    for signature in entry.signatures:
        for param in signature.params:
            line = re.search(rf"^    {re.escape(param.name)} \((.*?)\): .*\.$", text, re.MULTILINE)
            assert line is not None, param.name
            assert set(param.kind.text.split(" | ")) <= set(line[1].split(" | ")), param.name
            assert "or a number" not in line[0] or {"int", "float"} & set(line[1].split(" | ")), param.name
    assert all(f"{dtype.name}" in text for dtype in entry.dtypes)


def test_operators_without_a_bound_say_why() -> None:
    without = {entry.name for entry in registry.entries() if entry.accuracy is not None and entry.accuracy.reason}
    assert {"addmm", "linear", "matmul", "prod", "prod_bw", "rpow", "unary_chain"} <= without
    # The others subtract a mean or add many elements.
    assert {entry.category for entry in registry.entries() if entry.name in without} <= {
        "backward",
        "conv",
        "data_movement",
        "eltwise/binary",
        "eltwise/quantization",
        "eltwise/ternary",
        "eltwise/unary",
        "matmul",
        "moreh",
        "normalization",
        "pool",
        "random",
        "reduction",
        "ssm",
        "transformer",
    }
    for name in without:
        operation = registry.find(f"ttnn.{name}")
        assert operation.__doc__ is not None
        assert "\n\nAccuracy: no bound in ULP, for " in operation.__doc__
        assert operation.entry is not None
        assert operation.entry.accuracy is not None
        assert operation.entry.accuracy.bound(ttnn.bfloat16) is None
    assert "the error grows with K" in ttnn.matmul.__doc__


def test_the_docstring_of_an_argument_names_every_kind_once() -> None:
    assert ttnn.add.__doc__ is not None
    assert "    input_tensor_b (int | float | ttnn.Tensor): Second operand" in ttnn.add.__doc__


def test_a_bound_is_said_to_be_about_the_default_options() -> None:
    assert "Accuracy, of real tensors: " in ttnn.abs.__doc__
    for operation, options in (
        (ttnn.exp, True),
        (ttnn.hardtanh, True),
        (ttnn.gelu, True),
        (ttnn.sin, False),
        (ttnn.transpose, False),
    ):
        assert ("Accuracy, with the default options: " in operation.__doc__) == options
        assert ("Accuracy: " in operation.__doc__) != options

"""Every registered operator with a reference, generated: data types x layouts x awkward shapes x places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from operands import INTEGERS, assert_within, make, values_of
from pointwise_calls import DOMAINS, Operand, binary_calls, fit, ternary_calls, unary_calls

import ttnn
from ttnn.operation import registry

SHAPES: list[tuple[int, ...]] = [
    (),
    (1,),
    (31,),
    (1, 1),
    (32, 32),
    (33, 31),
    (2, 33, 65),
    (1, 2, 32, 64),
    (2, 1, 3, 31, 33),
    (0, 33),
    (2, 0, 5),
]
SHARDED: tuple[int, ...] = (128, 64)


def _padded(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(ttnn.TensorSpec(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT).padded_shape)


def calls(entry: registry.Op, shape: tuple[int, ...], layout: ttnn.Layout) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments after the first tensor that an operator is tried with, if it takes the shape."""
    name = entry.name
    if entry.family == "unary":
        yield from unary_calls(entry)
        return
    if entry.family == "binary":
        yield from binary_calls(entry, shape)
        return
    if entry.family == "ternary":
        yield from ternary_calls(entry, shape)
        return
    rank, tiled = len(shape), layout is ttnn.TILE_LAYOUT
    aligned = rank >= 2 and shape[-1] % 32 == 0 and shape[-2] % 32 == 0
    volume = int(np.prod(shape))
    if name == "softmax":
        if rank <= 4 and (tiled or not aligned):
            yield ()
    elif name in REDUCTIONS:
        yield ()
        if rank:
            yield from ((-1,), (0, True))
        if rank >= 2:
            yield from (((-2,), True), ([0, -1],))
    elif name == "argmax":
        if volume and not tiled:
            yield ()
        if volume and rank:
            yield from ((dim,) for dim in {-1, 0})
            yield (-1, True)
    elif name == "to_layout":
        yield from ((target,) for target in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT))
    elif name == "tilize":
        if aligned and volume:
            yield ()
    elif name == "tilize_with_val_padding":
        if len(_padded(shape)) == rank:
            yield (list(_padded(shape)), 3.0)
    elif name == "reshape":
        yield from ((target,) for target in ((volume,), (1, 1, volume)))
        if volume:
            yield ((-1, shape[0]) if rank else (1, 1, 1),)
    elif name == "view":
        yield ((1, *shape) if rank >= 2 else shape,)
    elif name == "squeeze":
        yield ()
        if rank:
            yield (0,)
    elif name == "unsqueeze":
        yield from ((dim,) for dim in (0, -1))
    elif name == "unsqueeze_to_4D":
        if rank <= 4:
            yield ()
    elif name == "permute":
        yield (tuple(reversed(range(rank))),)
        if rank >= 3:
            yield ((1, 0, *range(2, rank)),)
            yield ((*range(1, rank), 0),)
    elif name == "transpose":
        if rank >= 2:
            yield (-2, -1)
            yield (0, 1)
    elif name == "slice":
        if volume and rank:
            yield ([0] * rank, [max(1, size // 2) for size in shape])
            yield ([size // 2 for size in shape], list(shape), [2] * rank)
    elif name == "pad":
        if rank:
            yield ([(0, 3)] * rank, 1.0)
            if not tiled:
                yield ([(2, 1)], 0.0)
    elif name == "typecast":
        targets = [ttnn.bfloat16, ttnn.float32] + ([ttnn.bfloat8_b, ttnn.bfloat4_b] if tiled else [])
        yield from ((target,) for target in targets)
    elif name == "to_memory_config":
        yield (ttnn.L1_MEMORY_CONFIG,)
    elif name == "full_like":
        yield (3.0,)
    elif name in GATED:
        if rank == 4 and _padded(shape)[-1] % 64 == 0 and shape[-1] % 64 == 0 and volume:
            yield from ((), (3,))
    elif name in ("tril", "triu"):
        if rank >= 2:
            yield ()
    elif name in ("copy",):
        yield (Operand(shape),)
    elif name in ONE_TENSOR:
        yield ()


ONE_TENSOR = {
    "clone",
    "exp",
    "identity",
    "move",
    "ones_like",
    "relu",
    "sharded_to_interleaved",
    "tilize_with_zero_padding",
    "untilize",
    "zeros_like",
}
# Tested by hand: they have no tensor to start from, or need shards.
ELSEWHERE = {
    "arange",
    "assign",
    "empty",
    "empty_like",
    "full",
    "gcd",
    "prod",
    "interleaved_to_sharded",
    "lcm",
    "ones",
    "outer",
    "reshard",
    "untilize_with_unpadding",
    "zeros",
}
# Families with generated tests of their own: test_backward.py and test_complex.py.
OWN_TESTS = ("backward", "complex")
GATED = {"glu", "reglu", "geglu", "swiglu"}
MATMULS = {"matmul", "linear", "addmm"}
REDUCTIONS = {"sum", "mean", "max", "min"}


def _entries() -> list[registry.Op]:
    return [
        entry
        for entry in registry.entries()
        if entry.golden is not None and entry.name not in ELSEWHERE | MATMULS and entry.family not in OWN_TESTS
    ]


def _cases() -> list[Any]:
    return [
        pytest.param(entry, dtype, layout, id=f"{entry.name}-{dtype.name}-{layout.name}")
        for entry in _entries()
        for dtype in entry.dtypes
        for layout in entry.layouts
        if not (dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b) and layout is ttnn.ROW_MAJOR_LAYOUT)
    ]


def test_every_operator_is_tried() -> None:
    shapes = ((2, 32, 64), (1, 2, 32, 64))
    tried = {
        entry.name
        for entry in _entries()
        if any(True for shape in shapes for _ in calls(entry, shape, entry.layouts[0]))
    }
    registered = {entry.name for entry in registry.entries() if entry.family not in OWN_TESTS}
    assert registered - tried - MATMULS - ELSEWHERE - {"softmax"} == set()


def applies(entry: registry.Op, dtype: ttnn.DataType, layout: ttnn.Layout) -> bool:
    tiled = layout is ttnn.TILE_LAYOUT
    if entry.name == "argmax" and tiled:
        return dtype in (ttnn.bfloat16, ttnn.float32)
    if entry.name in ("floor_div", "fmod", "remainder") and dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b):
        # A rounded quotient moves the result by a whole divisor.
        return False
    if entry.family == "binary" and entry.name in DOMAINS and dtype is ttnn.bfloat4_b:
        # Small operands become 0 in this type, and the infinity of their quotient takes the block's exponent.
        return False
    if entry.name in ("tilize_with_zero_padding", "to_layout", "pad", "typecast"):
        return dtype is not ttnn.int8
    return True


def takes_integers(entry: registry.Op, arguments: tuple[Any, ...]) -> bool:
    """Whether an operator that takes integers takes them together with this second operand."""
    if entry.name == "pow":
        return not isinstance(arguments[0], Operand)
    # A product with the number's inverse, which integers do not hold.
    return entry.name not in ("div_no_nan", "floor_div") or isinstance(arguments[0], Operand)


def wrapped(values: Any, dtype: ttnn.DataType, power: int = 1) -> Any:
    """Return powers of integers as the type holds them."""
    low, high = INTEGERS[dtype]
    exact = [(int(value) ** power - low) % (high - low) + low for value in values.reshape(-1)]
    return np.array(exact, np.float64).reshape(values.shape)


def _of_integers(entry: registry.Op, reference: Any, before: Any, dtype: ttnn.DataType) -> Any:
    """Return what the type makes of a reference that it does not hold."""
    if entry.name == "square":
        return wrapped(before, dtype, 2)
    if entry.name == "sum":
        return wrapped(reference, dtype)
    if entry.name in REDUCTIONS:
        # The largest of no integers is the smallest integer there is.
        low, high = INTEGERS[dtype]
        return np.clip(reference, low, high - 1)
    return wrapped(reference, dtype) if entry.family == "binary" else reference


def fitting(entry: registry.Op) -> Callable[[Any], Any] | None:
    return partial(fit, entry) if entry.family else None


def largest_integer(entry: registry.Op) -> int | None:
    """Return the largest integer whose products float64 holds, where that matters: of three, or of two."""
    if entry.name in GATED:  # of two 16-bit integers
        return 200
    if entry.family == "ternary" or entry.name in ("l1_loss", "mse_loss"):
        return 1000
    return 1 << 20 if entry.family == "binary" else None


def _run(entry: registry.Op, x: ttnn.Tensor, arguments: tuple[Any, ...], device: ttnn.MeshDevice) -> None:
    """Call the operator and compare with the reference."""
    operation = getattr(ttnn, entry.name)
    tensors = [
        make(item.shape, x.dtype, x.layout, device, item.seed, fit=fitting(entry), limit=largest_integer(entry))
        if isinstance(item, Operand)
        else item
        for item in arguments
    ]
    plain = [values_of(item) if isinstance(item, ttnn.Tensor) else item for item in tensors]
    before = values_of(x)
    result = operation(x, *tensors)
    compare(entry, result, before, plain)


def compare(entry: registry.Op, result: ttnn.Tensor, before: Any, plain: list[Any]) -> None:
    """Compare a result with the reference, within the bound of the entry."""
    assert entry.golden is not None
    reference = np.asarray(entry.golden(before, *plain))
    if result.dtype in INTEGERS:
        reference = _of_integers(entry, reference, before, result.dtype)
    assert result.storage_type() is ttnn.StorageType.DEVICE
    assert tuple(result.shape) == reference.shape
    bound = None if entry.accuracy is None else entry.accuracy.bound(result.dtype)
    measure = None if entry.accuracy is None else entry.accuracy.magnitude
    assert_within(reference, result, bound, None if measure is None else np.asarray(measure(before, *plain)))


@pytest.mark.parametrize(("entry", "dtype", "layout"), _cases())
def test_against_the_reference(
    entry: registry.Op, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    if not applies(entry, dtype, layout):
        return
    for shape in SHAPES:
        if entry.name in ("max", "min") and dtype is ttnn.bfloat8_b and any(size % 16 for size in (1, *shape)[-2:]):
            # Infinities in the padding take the exponent of the values beside them.
            continue
        # Zeros that pad a tile become infinities of these functions.
        if entry.name in DOMAINS and dtype is ttnn.bfloat8_b and any(size % 32 for size in (1, *shape)[-2:]):
            continue
        for arguments in calls(entry, shape, layout):
            if dtype in INTEGERS and not takes_integers(entry, arguments):
                continue
            x = make(shape, dtype, layout, device, fit=fitting(entry), limit=largest_integer(entry))
            _run(entry, x, arguments, device)


@pytest.mark.parametrize("entry", _entries(), ids=str)
@pytest.mark.parametrize("place", ["L1", "HEIGHT", "WIDTH", "BLOCK"])
def test_places(entry: registry.Op, place: str, device: ttnn.MeshDevice) -> None:
    """The result does not depend on where the operands live."""
    layout = ttnn.TILE_LAYOUT if ttnn.TILE_LAYOUT in entry.layouts else ttnn.ROW_MAJOR_LAYOUT
    if place == "L1":
        config = ttnn.L1_MEMORY_CONFIG
    else:
        grid = ttnn.CoreGrid(y=2, x=2 if place == "BLOCK" else 1)
        config = ttnn.create_sharded_memory_config(SHARDED, grid, getattr(ttnn.ShardStrategy, place))
    keeps_shape = (
        entry.name in ONE_TENSOR or entry.family in ("unary", "binary") or entry.name in ("softmax", "to_memory_config")
    )
    if not keeps_shape and place != "L1":
        return
    dtype = ttnn.bfloat16 if ttnn.bfloat16 in entry.dtypes else entry.dtypes[0]
    operation, fitted = getattr(ttnn, entry.name), fitting(entry)
    for arguments in calls(entry, SHARDED, layout):
        apart = operation(
            make(SHARDED, dtype, layout, device, fit=fitted), *_tensors(entry, arguments, dtype, layout, device)
        )
        x = make(SHARDED, dtype, layout, device, memory_config=config, fit=fitted)
        here = operation(x, *_tensors(entry, arguments, dtype, layout, device))
        np.testing.assert_array_equal(values_of(here), values_of(apart))


def _tensors(
    entry: registry.Op,
    arguments: tuple[Any, ...],
    dtype: ttnn.DataType,
    layout: ttnn.Layout,
    device: ttnn.MeshDevice,
) -> list[Any]:
    return [
        make(item.shape, dtype, layout, device, item.seed, fit=fitting(entry)) if isinstance(item, Operand) else item
        for item in arguments
    ]


@pytest.mark.parametrize("operation", registry.operations(), ids=repr)
def test_every_operator_describes_itself(operation: registry.FastOperation) -> None:
    assert operation.__doc__
    assert operation.__name__ == operation.python_fully_qualified_name
    if operation.entry is not None:
        assert "Source:" in operation.__doc__
        for alias in operation.entry.aliases:
            assert getattr(ttnn, alias) is operation


def test_registry_and_engine_know_each_other() -> None:
    """Every engine routine that an entry names exists, and every routine of the engine has an entry."""
    named = {routine for entry in registry.entries() for routine in entry.engine}
    assert {routine for routine in named if not hasattr(ttnn._engine, routine)} == set()
    stub = (Path(ttnn.__file__).parent / "_engine.pyi").read_text(encoding="utf-8")
    operators = stub.split("# Operators on device buffers.", 1)[1]
    routines = set(re.findall(r"^def (\w+)\(", operators, re.MULTILINE)) - {"functions"}
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
    assert without == {"addmm", "linear", "matmul", "prod", "prod_bw", "rpow", "unary_chain"}
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

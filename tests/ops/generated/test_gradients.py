"""Every gradient, generated: types, layouts, shapes, parameters.

Places, given tensors, masks, errors.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.gradient_calls import (
    COMMON,
    OUTPUTS,
    VALUES,
    Call,
    arguments,
    calls,
    gradients,
    operand,
    real_signatures,
    results,
)
from testkit.operands import INTEGERS, assert_within, values_of, wrapped
from ttnn.base.exceptions import TtnnError
from ttnn.operation import registry
from ttnn.operation.registry import Op

SHARDED: tuple[int, ...] = (1, 1, 128, 64)


def cases() -> list[Any]:
    return [
        pytest.param(entry, dtype, layout, id=f"{entry.name}-{dtype.name}-{layout.name}")
        for entry in gradients()
        for dtype in entry.dtypes
        for layout in entry.layouts
        if not (dtype is ttnn.bfloat8_b and layout is ttnn.ROW_MAJOR_LAYOUT)
    ]


def call_of(entry: Op) -> Call:
    return next(calls(entry))


@pytest.mark.parametrize(("entry", "dtype", "layout"), cases())
def test_results_match_the_golden_function(
    entry: Op, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    for result, reference, magnitude in results(entry, dtype, layout, device):
        assert result.layout is layout
        if result.dtype in INTEGERS:
            reference = wrapped(reference, result.dtype)
        bound = None if entry.accuracy is None else entry.accuracy.bound(result.dtype, result.device().arch())
        assert_within(reference, result, bound or 0.0, magnitude)


def _is_passed_on(entry: Op) -> bool:
    return entry.accuracy is not None and entry.accuracy.ulp == {ttnn.bfloat16: 0, ttnn.float32: 0}


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("entry", [entry for entry in gradients() if _is_passed_on(entry)], ids=str)
def test_what_is_passed_on_is_not_rounded(entry: Op, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    for result, reference, _ in results(entry, dtype, ttnn.TILE_LAYOUT, device):
        np.testing.assert_array_equal(values_of(result), reference)


def _with_options() -> list[Op]:
    """Return gradients with value-changing default parameters.

    `approximate` has two names for it.
    """

    def changing(entry: Op) -> bool:
        names = {param.name for param in real_signatures(entry)[0].keywords}
        first = call_of(entry)
        return "approximate" not in names and any(c.keywords and c.arguments == first.arguments for c in calls(entry))

    return [entry for entry in gradients() if changing(entry)]


@pytest.mark.parametrize("entry", _with_options(), ids=str)
def test_every_parameter_changes_the_result(entry: Op, device: ttnn.MeshDevice) -> None:
    """Other parameter values change the gradient, except constant ones."""
    shape = (1, 1, 32, 64)
    first = call_of(entry)
    plain_call = Call(first.arguments)
    before = attrgetter(entry.name)(ttnn)(*arguments(entry, plain_call, shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device))
    for call in [call for call in calls(entry) if call.arguments == first.arguments and call.keywords]:
        values = arguments(entry, call, shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
        after = attrgetter(entry.name)(ttnn)(*values, **dict(call.keywords))
        same = all(np.array_equal(values_of(a), values_of(b)) for a, b in zip(before, after, strict=True))
        assert same == (call.keywords == (("approximate", "none"),)), call


IN_TILES = [entry for entry in gradients() if ttnn.ROW_MAJOR_LAYOUT not in entry.layouts]
OF_ONE_SHAPE = [entry for entry in gradients() if entry.name not in ("concat_bw", "repeat_bw")]
PLACED = [(entry, "L1") for entry in gradients()]
PLACED += [(entry, place) for entry in OF_ONE_SHAPE for place in ("HEIGHT", "WIDTH", "BLOCK")]

# How many gradients are `grad_tensor` itself, whatever `memory_config` is, as in the official operators.
KEPT = {"assign_bw": 1, "frac_bw": 1, "addcdiv_bw": 1, "addcmul_bw": 1, "fmod_bw": 1, "remainder_bw": 1}


@pytest.mark.parametrize("entry", IN_TILES, ids=str)
def test_layouts_are_those_of_the_entry(entry: Op, device: ttnn.MeshDevice) -> None:
    call = call_of(entry)
    values = arguments(entry, call, (1, 1, 32, 64), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
    with pytest.raises(ttnn.LayoutError, match=rf"^ttnn\.{entry.name}: "):
        attrgetter(entry.name)(ttnn)(*values, **dict(call.keywords))


@pytest.mark.parametrize(("entry", "place"), PLACED, ids=str)
def test_gradient_bits_do_not_depend_on_placement(entry: Op, place: str, device: ttnn.MeshDevice) -> None:
    """Gradient bits ignore operand memory configs; `memory_config` is applied.

    But for `KEPT`.
    """
    if place == "L1":
        config = ttnn.L1_MEMORY_CONFIG
    else:
        grid = ttnn.CoreGrid(y=2, x=2 if place == "BLOCK" else 1)
        config = ttnn.create_sharded_memory_config(SHARDED, grid, getattr(ttnn.ShardStrategy, place))
    call = call_of(entry)
    operation = attrgetter(entry.name)(ttnn)

    def run(where: ttnn.MemoryConfig | None, **options: Any) -> list[ttnn.Tensor]:
        values = arguments(entry, call, SHARDED, ttnn.bfloat16, ttnn.TILE_LAYOUT, device, where)
        found: list[ttnn.Tensor] = operation(*values, **dict(call.keywords), **options)
        return found

    apart, here, moved = run(None), run(config), run(None, memory_config=config)
    for number, (a, b, c) in enumerate(zip(apart, here, moved, strict=True)):
        np.testing.assert_array_equal(values_of(a), values_of(b))
        np.testing.assert_array_equal(values_of(a), values_of(c))
        kept = number < KEPT.get(entry.name, 0)
        assert c.memory_config() == (ttnn.DRAM_MEMORY_CONFIG if kept else config)


def _with_outputs() -> list[Any]:
    found = []
    for entry in gradients():
        for i, signature in enumerate(real_signatures(entry)):
            names = [param.name for param in signature.keywords if param.name in OUTPUTS]
            if names:
                found.append(pytest.param(entry, i, names, id=f"{entry.name}-{i}"))
    return found


def _call_of_signature(entry: Op, number: int) -> Call:
    """Return the first call that fits the given signature."""
    wanted = real_signatures(entry)[number].positional[1:]
    kinds = [param.kind.text == "ttnn.Tensor" for param in wanted]
    for call in calls(entry):
        if [not isinstance(item, int | float | str) for item in call.arguments] == kinds and not call.keywords:
            return call
    raise AssertionError(entry.name)


@pytest.mark.parametrize(("entry", "number", "names"), _with_outputs())
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=["bfloat16", "float32"])
def test_preallocated_gradients(
    entry: Op, number: int, names: list[str], dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    shape = (1, 1, 33, 31)
    call = _call_of_signature(entry, number)
    values = arguments(entry, call, shape, dtype, ttnn.TILE_LAYOUT, device)
    operation = attrgetter(entry.name)(ttnn)
    expected = operation(*values)

    def target(size: tuple[int, ...] = shape, **options: Any) -> ttnn.Tensor:
        return ttnn.full(size, 7.0, dtype, options.pop("layout", ttnn.TILE_LAYOUT), device, **options)

    given = {name: target() for name in names}
    results = operation(*values, **given)
    for name, result, reference in zip(names, results, expected, strict=True):
        assert result is given[name]
        np.testing.assert_array_equal(values_of(given[name]), values_of(reference))
    for name in names:
        for wrong, error in (
            (target((1, 1, 33, 32)), ttnn.ShapeError),
            (target(layout=ttnn.ROW_MAJOR_LAYOUT), ttnn.LayoutError),
            (target().cpu(), ttnn.StorageError),
        ):
            with pytest.raises(error, match=rf"^ttnn\.{entry.name}: {name} "):
                operation(*values, **{name: wrong})
        output = target()
        results = operation(*values, **{name: output}, memory_config=ttnn.L1_MEMORY_CONFIG)
        assert any(result is output for result in results)
        assert output.memory_config() == ttnn.DRAM_MEMORY_CONFIG
        np.testing.assert_array_equal(values_of(output), values_of(expected[names.index(name)]))


def _masked() -> list[Op]:
    return [
        entry
        for entry in gradients()
        if any(param.name == "are_required_outputs" for s in entry.signatures for param in s.keywords)
    ]


@pytest.mark.parametrize("entry", _masked(), ids=str)
def test_required_outputs(entry: Op, device: ttnn.MeshDevice) -> None:
    number = next(
        i
        for i, signature in enumerate(real_signatures(entry))
        if any(param.name == "are_required_outputs" for param in signature.keywords)
    )
    values = arguments(
        entry, _call_of_signature(entry, number), (1, 1, 33, 31), ttnn.bfloat16, ttnn.TILE_LAYOUT, device
    )
    operation = attrgetter(entry.name)(ttnn)
    both = operation(*values)
    for mask in ([True, False], [False, True], [True, True]):
        results = operation(*values, are_required_outputs=mask)
        for wanted, result, reference in zip(mask, results, both, strict=True):
            assert (result is not None) == wanted
            if wanted:
                np.testing.assert_array_equal(values_of(result), values_of(reference))
    with pytest.raises(ttnn.ParameterError, match="At least one gradient is expected to be calculated"):
        operation(*values, are_required_outputs=[False, False])
    with pytest.raises(ttnn.ParameterError, match=r"are_required_outputs has 3 items, expected 2"):
        operation(*values, are_required_outputs=[True, False, True])


SHAPES_IGNORED = (
    *(
        "addcdiv_bw",
        "addcmul_bw",
        "assign_bw",
        "ceil_bw",
        "deg2rad_bw",
        "fill_bw",
        "fill_zero_bw",
        "floor_bw",
        "frac_bw",
    ),
    *("rad2deg_bw", "round_bw", "rsub_bw", "sign_bw", "trunc_bw", "where_bw"),
)
"""Gradients that do not depend on the values of an operand."""


@pytest.mark.parametrize("entry", gradients(), ids=str)
def test_wrong_operands_raise_errors(entry: Op, device: ttnn.MeshDevice) -> None:
    """Operands on host, deallocated, misshapen: errors name the operator.

    Formulas in which an operand does not count ignore its shape, too.
    """
    call = call_of(entry)
    shape = (1, 1, 32, 64)
    operation = attrgetter(entry.name)(ttnn)
    good = arguments(entry, call, shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    for i, item in enumerate(good):
        if not isinstance(item, ttnn.Tensor):
            continue
        gone = operand(entry, i, tuple(item.shape), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
        gone.deallocate()
        for wrong in (item.cpu(), gone):
            with pytest.raises(ttnn.StorageError, match=rf"^ttnn\.{entry.name}: "):
                operation(*good[:i], wrong, *good[i + 1 :], **dict(call.keywords))
        other = operand(entry, i, (1, 1, 64, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
        outcome = attempt(entry, [*good[:i], other, *good[i + 1 :]], call)
        if isinstance(outcome, TtnnError):
            assert isinstance(outcome, ttnn.ShapeError)
            assert str(outcome).startswith(f"ttnn.{entry.name}: ")
        else:
            assert entry.name in SHAPES_IGNORED
    assert operation(*good, **dict(call.keywords))


def attempt(entry: Op, values: list[Any], call: Call) -> TtnnError | list[ttnn.Tensor]:
    try:
        found: list[ttnn.Tensor] = attrgetter(entry.name)(ttnn)(*values, **dict(call.keywords))
    except TtnnError as error:
        return error
    return found


UNLISTED = [(entry, dtype) for entry in gradients() for dtype in (ttnn.int32, ttnn.uint32) if dtype not in entry.dtypes]


@pytest.mark.parametrize(("entry", "dtype"), UNLISTED, ids=str)
def test_integers_are_taken_or_refused(entry: Op, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    """Unlisted integers may raise in a step; errors name the operator."""
    call = call_of(entry)
    values = arguments(entry, call, (1, 1, 32, 32), dtype, ttnn.TILE_LAYOUT, device)
    outcome = attempt(entry, values, call)
    if isinstance(outcome, TtnnError):
        assert str(outcome).startswith(f"ttnn.{entry.name}: ")
    else:
        assert all(result.dtype in (dtype, ttnn.float32) for result in outcome)


def test_operands_on_another_device_raise(device: ttnn.MeshDevice) -> None:
    other = ttnn.open_device(device_id=1)
    try:
        grad = ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
        x = ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, other)
        with pytest.raises(ttnn.StorageError, match=r"^ttnn\.exp_bw: input_tensor is on another device"):
            ttnn.exp_bw(grad, x)
    finally:
        ttnn.close_device(other)


def test_options_are_the_common_ones() -> None:
    """A keyword that no test above knows would go untested."""
    for entry in gradients():
        for signature in real_signatures(entry):
            for param in signature.keywords:
                assert param.name in COMMON or param.name in VALUES, (entry.name, param.name)


@pytest.mark.parametrize("entry", gradients(), ids=str)
def test_comparison_mode(entry: Op, device: ttnn.MeshDevice) -> None:
    """Comparison mode holds every gradient of the list against its golden function."""
    call = call_of(entry)
    values = arguments(entry, call, (1, 1, 32, 64), ttnn.float32, ttnn.TILE_LAYOUT, device)
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
        ttnn.manage_config("comparison_mode_pcc", 0.99999),
    ):
        results = attrgetter(entry.name)(ttnn)(*values, **dict(call.keywords))
    fallback = ttnn.get_fallback_function(attrgetter(entry.name)(ttnn))(*values, **dict(call.keywords))
    for result, reference in zip(results, fallback, strict=True):
        assert isinstance(reference, ttnn.Tensor)
        assert reference.shape == result.shape


def test_comparison_mode_takes_operands_by_name(device: ttnn.MeshDevice) -> None:
    x = ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
    ):
        (result,) = ttnn.exp_bw(grad_tensor=x, input_tensor=x)
        assert result.shape == [32, 32]
        ttnn.exp(input_tensor=x)
        ttnn.add(x, input_tensor_b=x)
        ttnn.addalpha_bw(x, input_tensor_b=x, input_tensor_a=x, alpha=2.0)


def test_comparison_mode_looks_at_every_gradient(device: ttnn.MeshDevice) -> None:
    x = ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    wrong = registry.FastOperation("ttnn.wrong_bw", lambda x: [x, x], golden_function=lambda x: [x, 2 * x])
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
        pytest.raises(ttnn.ComparisonError, match=r"ttnn\.wrong_bw: PCC to the golden function is 0\.0"),
    ):
        wrong(x)


def test_a_join_whose_second_part_is_missing_leaves_it_zero(device: ttnn.MeshDevice) -> None:
    """The first operand is the whole gradient; the second is ignored."""
    whole = operand_of_ones((1, 1, 2, 3), device)
    first, second = ttnn.concat_bw(whole, whole, operand_of_ones((1, 1, 5, 7), device), 2)
    assert np.all(values_of(first) == 1.0)
    assert values_of(second).shape == (1, 1, 5, 7)
    assert not values_of(second).any()


def operand_of_ones(shape: tuple[int, ...], device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.ones(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)

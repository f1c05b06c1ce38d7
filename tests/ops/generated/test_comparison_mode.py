"""Comparison mode over every operator, signature and option value.

By name and by position.

A reference that ignores an argument is far from the result that the argument has changed, and the comparison says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit import gradient_calls
from testkit.comparison_mode import agrees_with_golden
from testkit.eltwise_calls import fit
from testkit.operands import INTEGERS, values_of
from testkit.signature_calls import GIVEN, Call, calls, first_dtype, other_values
from ttnn.base.exceptions import TtnnError
from ttnn.golden.eltwise.unary import ACTIVATIONS
from ttnn.operation import registry
from ttnn.operation.hooks import ComparisonError
from ttnn.operation.signature import REQUIRED, Param
from ttnn.operation.steps import STEPS
from ttnn.ops._programs.integer_chain import TAKEN

U = ttnn.UnaryOpType
DTYPES = (ttnn.bfloat16, ttnn.float32, ttnn.int32)
# Results that step at whole numbers, approximate kernels, and results in 8-bit floats.
LEAST_CORRELATION = 0.98
# GELU without its flag is a table of lines, which is not zero at 0; with the flag 0 it is as exact as the reference.
GELU = ttnn.UnaryWithParam(U.GELU, 0.0)
FLOATS: list[Any] = [[U.EXP], [GELU], [ttnn.UnaryWithParam(U.LEAKY_RELU, 0.25), (U.ADD_UNARY_SFPU, 2.0)]]
# Functions that round nothing and make no zero, for integers and where a result jumps.
WORDS: list[Any] = [[U.NEG], [U.NEG, (U.ADD_UNARY_SFPU, 9.0)]]
EXACT: list[Any] = [[U.NEG], [U.ABS, U.NEG]]
JUMPING = ("eq", "eq_", "ne", "ne_", "remainder")
# A 16-bit Dst loses more of a sum over a whole tensor than comparison mode allows of a single value.
TOO_COARSE = {(name, "compute_kernel_config") for name in ("sum", "mean", "var", "moreh_norm", "moreh_dot")}
# Experts are chosen by scores that bfloat16 has rounded; where two are close, another choice is another result.
CHOOSING = {"experimental.deepseek_grouped_gate", "experimental.topk_router_gpt"}


def entries() -> list[registry.Op]:
    return [entry for entry in registry.entries() if entry.golden is not None and entry.name not in CHOOSING]


def in_domain(entry: registry.Op, index: int, value: Any, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> Any:
    """Return an argument with finite results, without chip zeros.

    They are numbers that the chip reads as 0.
    """
    if isinstance(value, ttnn.ComplexTensor):
        return ttnn.complex_tensor(*(in_domain(entry, 0, part, dtype, device) for part in (value.real, value.imag)))
    if isinstance(value, float):  # -0.3, for example, which bfloat16 does not hold
        return float(fit(entry, np.array([value]))[0]) if dtype not in INTEGERS else 2.0
    if not isinstance(value, ttnn.Tensor) or (value.dtype in INTEGERS and index == 0):
        return value
    values = values_of(value)
    if value.dtype in INTEGERS:  # a divisor, or indices, which stay
        if entry.family in ("binary", "backward"):
            return ttnn.Tensor(np.where(values == 0, 1, values).astype(np.int32), value.dtype, device, value.layout)
        return value
    values = np.where(np.abs(values) < 1e-30, 0.5, values).astype(np.float32)
    if entry.family == "backward":
        values = gradient_calls.fit(entry, index, value.dtype)(values)
    elif entry.family in ("unary", "binary", "ternary"):
        values = fit(entry, values)
    elif entry.name in ("sum", "mean", "moreh_sum", "moreh_mean"):  # no cancellation
        values = np.abs(values)
    host = ttnn.Tensor(np.asarray(values, np.float32), value.dtype, None, value.layout)
    return host.to(device, value.memory_config())


def option_values(param: Param, call: Call, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> list[Any]:
    """Return an option's non-default values for the data type."""
    if param.name.endswith("activations"):
        return WORDS if dtype in INTEGERS else EXACT if call.entry.name in JUMPING else FLOATS
    values = other_values(param, call, device)
    return [2.0 if isinstance(value, float) and dtype in INTEGERS else value for value in values]


def forms(
    entry: registry.Op, dtype: ttnn.DataType, device: ttnn.MeshDevice, *, by_position: bool
) -> Iterator[tuple[Call, dict[str, Any]]]:
    """Yield calls with their options: none, and each value alone."""

    def fresh(number: int) -> Call:
        call = list(calls(entry, device, dtype))[number]
        arguments = enumerate(call.arguments.items())
        return Call(entry, call.signature, {k: in_domain(entry, i, v, dtype, device) for i, (k, v) in arguments})

    for number, signature in enumerate(entry.signatures):
        yield fresh(number), {}
        for param in signature.positional if by_position else signature.params:
            if param.default is REQUIRED or (entry.name, param.name) in GIVEN | TOO_COARSE:
                continue
            for index in range(len(option_values(param, fresh(number), dtype, device))):
                call = fresh(number)  # operands of in-place operators hold a result by now
                yield call, {param.name: option_values(param, call, dtype, device)[index]}


def disagreement(call: Call, options: dict[str, Any], *, by_position: bool) -> str:
    """Return comparison mode's message; empty if the operator rejects."""
    arguments, positional = call.arguments | options, []
    for param in call.signature.positional if by_position else ():
        if param.name not in arguments:
            break
        positional.append(arguments.pop(param.name))
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
        ttnn.manage_config("comparison_mode_pcc", LEAST_CORRELATION),
    ):
        try:
            call.operation(*positional, **arguments)
        except ComparisonError as error:
            return str(error)
        except TtnnError:
            return ""
    return ""


@pytest.mark.parametrize("by_position", [False, True], ids=["by name", "by position"])
@pytest.mark.parametrize("entry", entries(), ids=str)
def test_every_signature_form_agrees_with_its_reference(
    entry: registry.Op, by_position: bool, device: ttnn.MeshDevice
) -> None:
    wrong = []
    for dtype in [dtype for dtype in DTYPES if dtype in entry.dtypes] or [first_dtype(entry)]:
        for call, options in forms(entry, dtype, device, by_position=by_position):
            said = disagreement(call, options, by_position=by_position)
            if said:
                wrong.append(f"{dtype.name}, {call.signature.text(entry.name)}, {options}: {said}")
    assert wrong == []


def parameters_of(op_type: ttnn.UnaryOpType) -> tuple[float, ...]:
    if op_type is U.POWER_ITERATIVE:  # a number of products
        return (2.0,)
    if op_type is U.GELU:
        return (0.0,)
    return (0.5, 2.0)[: STEPS[op_type].fewest] if op_type in STEPS else ()


@pytest.mark.parametrize("op_type", STEPS, ids=lambda op_type: op_type.name)
def test_fused_activations_agree_with_their_references(op_type: ttnn.UnaryOpType, device: ttnn.MeshDevice) -> None:
    """Activations of the first operand, and of the result."""
    values = np.random.default_rng(0).uniform(1.125, 1.875, (3, 32, 32)).astype(np.float32)
    a, b, c = (
        ttnn.Tensor(part, ttnn.float32, device, ttnn.TILE_LAYOUT) for part in values * [[[1.0]], [[0.25]], [[1.0]]]
    )
    activation = ttnn.UnaryWithParam(op_type, *parameters_of(op_type))
    for operand in (a, b):
        agrees_with_golden(partial(ttnn.multiply, operand, c, input_tensor_a_activations=[activation]))
        agrees_with_golden(partial(ttnn.multiply, c, operand, input_tensor_b_activations=[activation]))
        agrees_with_golden(partial(ttnn.multiply, operand, c, activations=[activation]))
        agrees_with_golden(partial(ttnn.unary_chain, operand, [activation]))


def test_every_activation_has_a_reference() -> None:
    assert {op_type.name for op_type in {**STEPS, **TAKEN}} <= set(ACTIVATIONS)


def test_a_reference_that_raises_is_named(device: ttnn.MeshDevice) -> None:
    x = ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    wrong = registry.FastOperation("ttnn.wrong", lambda x: x, golden_function=lambda x: x["no such key"])
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        pytest.raises(ComparisonError, match=r"ttnn\.wrong: the golden function raised IndexError"),
    ):
        wrong(x)

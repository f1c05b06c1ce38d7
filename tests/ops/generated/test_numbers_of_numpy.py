"""Numpy numbers as arguments: results or errors as Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import describe
from testkit.signature_calls import Call, calls, other_values
from ttnn.base.exceptions import TtnnError
from ttnn.operation import registry
from ttnn.operation.signature import REQUIRED, Param

KINDS = ("int", "float", "Sequence[int]", "ttnn.Shape")
# Each call draws other numbers.
RANDOM = {"bernoulli", "empty", "empty_like", "experimental.dropout", "rand", "randn", "sampling", "uniform"}


def _takes_numbers(param: Param) -> bool:
    return any(kind in param.kind.text for kind in KINDS)


def _of_numpy(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_of_numpy, value))
    return np.int64(value) if type(value) is int else np.float64(value) if type(value) is float else value


def _as_truth_value(value: Any) -> Any:
    return bool(value) if type(value) is int and value in (0, 1) else value


def _ended(call: Call, options: dict[str, Any]) -> Any:
    try:
        return describe(call(**options))
    except TtnnError as error:
        return type(error)


ENTRIES = [
    entry
    for entry in registry.entries()
    if entry.name not in RANDOM and any(_takes_numbers(param) for s in entry.signatures for param in s.params)
]


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_numbers_of_numpy(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    def fresh(index: int) -> Call:
        return list(calls(entry, device))[index]

    for index, signature in enumerate(entry.signatures):
        options: list[dict[str, Any]] = [{}]
        for param in signature.params:
            if param.default is not REQUIRED and _takes_numbers(param) and type(param.default) in (int, float):
                options.append({param.name: param.default})
            elif param.default is not REQUIRED and _takes_numbers(param):
                options += [{param.name: value} for value in other_values(param, fresh(index), device)[:1]]
        for given in options:
            expected = _ended(fresh(index), given)
            for change in (_of_numpy, _as_truth_value):
                call = fresh(index)
                numbers = {
                    name: value for name, value in call.arguments.items() if type(value) in (int, float, list, tuple)
                }
                changed = {name: change(value) for name, value in (numbers | given).items()}
                assert _ended(call, changed) == expected, f"ttnn.{entry.name}: {changed}"

"""A swept call's exact results: the reference with `--param` arguments.

It is the operator's reference function.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ttnn.base.activation import UnaryWithParam
from ttnn.base.exceptions import UnsupportedError
from ttnn.cli.sweep.parameters import shown, signature_of
from ttnn.cli.sweep.statistics import Floats
from ttnn.operation import registry
from ttnn.operation.signature import REQUIRED

_NUMBERS: Final = frozenset({"float", "int | float", "int | int | float"})
"""Parameter kinds that chained functions have as well; modes have others."""


def reference(entry: registry.Op, parameters: Mapping[str, Any], operands: Sequence[Floats]) -> Floats:
    """Return the exact results in float64.

    Of a gradient, those of the first operand.

    Raises:
        UnsupportedError: the reference does not know an argument that changes the result.
    """
    assert entry.golden is not None
    if entry.name == "unary_chain":
        return _chained(operands[0], parameters["ops_chain"])
    placed: list[Any] = list(operands)
    named = dict(parameters)
    if parameters:
        # A number in place of an operand has the place of that operand, whatever the reference calls it.
        known = inspect.signature(entry.golden).parameters
        left, placed = placed, []
        for param in signature_of(entry, parameters).params:
            if param.default is REQUIRED:
                value = named.pop(param.name) if param.name in named else left.pop(0)
                if param.name in known:
                    named[param.name] = value
                else:
                    placed.append(value)
        _check_functions(entry, named, frozenset(known))
    exact = entry.golden(*placed, **named)
    return np.asarray(exact[0] if isinstance(exact, list | tuple) else exact, np.float64)


def _check_functions(entry: registry.Op, named: Mapping[str, Any], known: frozenset[str]) -> None:
    for name, value in named.items():
        functions = value if isinstance(value, list) else []
        for function in functions:
            if not isinstance(function, UnaryWithParam):
                continue
            if name not in known or function.op_type.name not in ("EXP", "IDENTITY", "RELU"):
                raise UnsupportedError(
                    f"sweep {entry.name}: its reference has no {name}={shown(function)}; sweep the operator alone, "
                    "or unary_chain."
                )


def _chained(x: Floats, functions: Sequence[UnaryWithParam]) -> Floats:
    """Return `x` after functions of the registry, one after the other."""
    known = {entry.name: entry for entry in registry.entries() if entry.golden is not None}
    for function in functions:
        entry = known.get(function.op_type.name.lower())
        numbers = 0 if entry is None else sum(p.kind.text in _NUMBERS for p in entry.signatures[0].params)
        if entry is None or entry.golden is None or len(function.params) > numbers:
            raise UnsupportedError(f"sweep unary_chain: there is no reference for {shown(function)} in a chain.")
        x = np.asarray(entry.golden(x, *function.params), np.float64)
    return x

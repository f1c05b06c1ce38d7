"""Options that change programs: compute configurations and boolean keyword arguments.

Recorded calls that differ in one option tell whether the operator uses it: their programs differ, or are the same.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

TABLE: Final = Path(__file__).resolve().parents[2] / "docs" / "recorded_options.json"
"""Fields of compute configurations and the boolean options that are used.

Fields are "used" or "ignored".
"""
_FIELDS: Final = ("math_fidelity", "fp32_dest_acc_en", "packer_l1_acc", "math_approx_mode")
_CONFIG: Final = re.compile(r"ckc\(([^()]*)\)")
_FLAG: Final = re.compile(r",\s*(\w+)=(True|False)")
_LEFT_OUT: Final = "left out"


def _fields(arguments: str) -> dict[str, str]:
    """Return the fields of a recorded configuration."""
    values = [part.strip() for part in arguments.split(",")]
    return dict(zip(_FIELDS, values + ["False"] * (len(_FIELDS) - len(values)), strict=True))


def _settings(expression: str) -> Iterator[tuple[str, str, str]]:
    """Yield each option, its value, and the call without it."""
    for found in _CONFIG.finditer(expression):
        fields = _fields(found[1])
        for name, value in fields.items():
            others = {**fields, name: "*"}
            yield name, value, expression[: found.start()] + repr(others) + expression[found.end() :]
    flags = list(_FLAG.finditer(expression))
    for found in flags:
        yield found[1], found[2], expression[: found.start()] + expression[found.end() :]
    yield _LEFT_OUT, _LEFT_OUT, expression


def options_of(calls: Iterable[tuple[str, Any]]) -> dict[str, dict[str, str]]:
    """Return the options of each operator.

    "used" if they change steps, otherwise "ignored".

    Args:
        calls: Expressions with their steps, which are compared.
    """
    groups: dict[tuple[str, str], dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    whole: dict[str, Any] = {}
    for expression, steps in calls:
        operator = expression.partition("(")[0].removeprefix("ttnn.")
        for name, value, base in _settings(expression):
            if name == _LEFT_OUT:
                whole[base] = steps
            else:
                groups[operator, name][base][value] = steps
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for (operator, name), bases in sorted(groups.items()):
        compared = [list(values.values()) + ([whole[base]] if base in whole else []) for base, values in bases.items()]
        compared = [steps for steps in compared if len(steps) > 1]
        if compared:
            used = any(steps != others[0] for others in compared for steps in others)
            # Other options without an effect here may be read by data movement or at run time, and functions inside of
            # kernels with a sequence of their own may be approximate.
            if used or name in _FIELDS[:-1]:
                found[operator][name] = "used" if used else "ignored"
    return dict(found)


def written(options: dict[str, dict[str, str]]) -> str:
    """Return the text of the table's file."""
    rows = (f"{json.dumps(operator)}: {json.dumps(options[operator])}" for operator in sorted(options))
    return "{\n" + ",\n".join(rows) + "\n}\n"

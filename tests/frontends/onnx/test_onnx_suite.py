"""ONNX's own backend cases.

Those that run are right, every other one is refused by a sentence.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from frontends.onnx.onnx_suite import all_cases, in_scope, listed, outcome

CASES = {one.name: one for one in listed()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(CASES))
def test_case_of_the_backend_suite_is_right_or_refused(name: str, chip: Any) -> None:
    expected = CASES[name]
    found, text = outcome(all_cases()[name], chip, listed_as=expected.outcome)
    assert found == expected.outcome, text
    if found == "refused":
        words = re.sub(r" \((opset|input).*?\)", "", text)
        assert expected.reason in words


def test_list_has_every_case() -> None:
    assert set(CASES) == set(all_cases())


def test_at_least_95_percent_of_the_cases_in_scope_run() -> None:
    inside = [name for name, case in all_cases().items() if in_scope(case)]
    done = [name for name in inside if CASES[name].outcome in ("runs", "known")]
    assert len(inside) > 900
    assert len(done) >= 0.95 * len(inside), sorted(set(inside) - set(done))


def sample() -> list[str]:
    """Names of cases that run, one of each thirty."""
    return sorted(name for name, one in CASES.items() if one.outcome == "runs" and name.startswith("node/"))[::30]


def zeros(results: list[Any], inputs: list[Any]) -> list[Any]:
    del inputs
    return [np.zeros_like(one) for one in results]


def unchanged(results: list[Any], inputs: list[Any]) -> list[Any]:
    return [
        np.resize(inputs[0], one.shape).astype(one.dtype) if inputs and np.asarray(inputs[0]).size else one * 0
        for one in results
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", [zeros, unchanged])
def test_wrong_results_fail_nine_of_ten_cases(change: Any, chip: Any) -> None:
    names = sample()
    assert len(names) > 30
    assert sum(fails(name, chip, change) for name in names) > 0.9 * len(names)


def fails(name: str, chip: Any, change: Any) -> bool:
    """Return whether a case is wrong with changed results."""
    try:
        outcome(all_cases()[name], chip, change)
    except AssertionError:
        return True
    return False

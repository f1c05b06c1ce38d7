"""Time limits: a busy laptop finishes every test."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHORTEST = 600
"""Minimum time limit in seconds of tests and their processes."""


def short_limits(source: str) -> list[str]:
    """Return the calls with a constant time limit below `SHORTEST` seconds."""
    found = []
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        limits = [word.value for word in call.keywords if word.arg == "timeout"]
        if ast.unparse(call.func).endswith("mark.timeout"):
            limits += call.args[:1]
        numbers = [node.value for limit in limits for node in ast.walk(limit) if isinstance(node, ast.Constant)]
        if any(isinstance(number, int | float) and number < SHORTEST for number in numbers):
            found.append(f"line {call.lineno}: {ast.unparse(call)[:80]}")
    return found


def test_limits_below_ten_minutes_are_found() -> None:
    source = "run(x, timeout=60)\nrun(x, timeout=600)\npytest.mark.timeout(3600 if LONG else 120)\nwait(60)\n"
    assert short_limits(source) == [
        "line 1: run(x, timeout=60)",
        "line 3: pytest.mark.timeout(3600 if LONG else 120)",
    ]


def test_no_limit_is_below_ten_minutes() -> None:
    tests = [path for folder in ("tests", "benches") for path in (ROOT / folder).rglob("*.py")]
    assert len(tests) > 300
    found = {str(path.relative_to(ROOT)): short_limits(path.read_text(encoding="utf-8")) for path in tests}
    assert {path: calls for path, calls in found.items() if calls} == {}


def test_the_default_limit_is_ten_minutes_or_more(pytestconfig: pytest.Config) -> None:
    assert int(pytestconfig.getini("timeout")) >= SHORTEST

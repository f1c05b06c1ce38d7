"""All passes, from `passes.table`: names, versions and options.

`registry` has what they run.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from ttnn.compiler.pipelines.spec import PassSpec
from ttnn.compiler.transforms.options import Option
from ttnn.compiler.version import span

__all__ = ["EMITPY_OPTIONS", "PASSES"]

_PASS: Final = re.compile(r"(\S+) \[(\S+)\] (.+)")
_OPTION: Final = re.compile(r"  (\S+): (\w+)(?: = (.+?))? # (.+)")


def _read(lines: list[str]) -> dict[str, PassSpec]:
    found: dict[str, PassSpec] = {}
    for line in lines:
        if line.startswith("#"):
            continue
        option, row = _OPTION.fullmatch(line), _PASS.fullmatch(line)
        if option is not None:
            name, kind, default, doc = option.groups()
            made = Option(name, kind, False if kind == "bool" else "", doc)
            last = next(reversed(found.values()))
            made = replace(made, default=made.value(default or "") if default or kind != "bool" else False)
            found[last.name] = replace(last, options=(*last.options, made))
        else:
            assert row is not None, line
            found[row[1]] = PassSpec(row[1], row[3], versions=span(row[2]))
    return found


PASSES: Final = _read((Path(__file__).parent / "passes.table").read_text("utf-8").splitlines())
EMITPY_OPTIONS: Final = PASSES["convert-ttnn-to-emitpy"].options
"""Options of the conversion to Python, which the pipelines have, too."""

"""Write the list of ONNX's backend cases anew: `python tests/frontends/onnx/make_onnx_cases.py`.

With `--missing` only those that are not in it, or have the reason `?`.

A case that is wrong ends the run with an error: nothing but what is right, or refused, is listed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import ttnn
from frontends.onnx.onnx_suite import LIST, all_cases, listed, outcome


def reason(text: str) -> str:
    """Return a refusal without what depends on names."""
    first = text.splitlines()[-1] if text.startswith(("2", "3", "4")) else text
    return re.sub(r" \((opset|input).*?\)", "", first)[:120]


@contextmanager
def collected(name: str, wrong: list[str]) -> Iterator[None]:
    """Add the error of a block to a list."""
    try:
        yield
    except Exception as error:
        wrong.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")


def main() -> None:
    known = {one.name: one for one in listed()} if LIST.exists() else {}
    missing = "--missing" in sys.argv[1:]
    lines: list[str] = []
    wrong: list[str] = []
    with ttnn.manage_device(device_id=0) as device:
        for name, case in all_cases().items():
            if missing and name in known and known[name].reason != "?":
                lines.append("\t".join([one for one in known[name] if one]))
                continue
            with collected(name, wrong):
                found, text = outcome(case, device, listed_as=known[name].outcome if name in known else "")
                lines.append("\t".join([name, found, *([reason(text)] if text else [])]))
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

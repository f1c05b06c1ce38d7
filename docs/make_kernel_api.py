"""Write the table of unsupported functions in `docs/kernel-api.md`; with `--check` only compare."""

from __future__ import annotations

import sys
from pathlib import Path

from ttnn import kernel_api

TARGET = Path(__file__).resolve().parent / "kernel-api.md"

HEADER = "## Unsupported functions\n"
"""Heading of the generated part; the text before is hand-written."""


def page() -> str:
    """Return the whole page."""
    names = sorted(set(kernel_api.__all__))
    refused = kernel_api.UNSUPPORTED
    lines = [
        "",
        f"Of {len(names) - 1} names, {len(refused)} raise `UnsupportedError`, with this reason:",
        "",
        "| names | reason |",
        "|---|---|",
    ]
    for reason in dict.fromkeys(refused.values()):
        of_reason = ", ".join(f"`{name}`" for name, why in refused.items() if why == reason)
        lines.append(f"| {of_reason} | {reason} |")
    return TARGET.read_text(encoding="utf-8").partition(HEADER)[0] + HEADER + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the file, or check that it is up to date."""
    text = page()
    if "--check" in arguments:
        if TARGET.read_text(encoding="utf-8") == text:
            return 0
        print(f"{TARGET} does not match the kernel API: run `cargo xtask docs`")
        return 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

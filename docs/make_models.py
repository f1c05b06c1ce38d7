"""Write the table of docs/models.md: `cargo xtask models [NAME ...]`.

Runs the demo of every model, or of the named ones, in a process of its own, and puts its lines in the place of those
that the table has of it. Without names the tests of all models run first. All of it takes up to an hour, and 13 GB of
memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("models.md")
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"
HEAD = "| model | weights, fidelity, mode | run | metric | device | torch | PCC | host s | chip ms | per second |\n"
RUNS: dict[str, tuple[tuple[str, ...], ...]] = {
    "minilm": ((), ("--dtype", "bfloat8_b", "--fidelity", "HiFi2"), ("--numerics", "fast")),
    "smollm2": (
        (),
        ("--dtype", "bfloat8_b", "--fidelity", "HiFi2"),
        ("--dtype", "bfloat8_b", "--fidelity", "LoFi"),
        ("--numerics", "fast"),
    ),
    "mtcnn": ((), ("--dtype", "bfloat8_b", "--fidelity", "HiFi2")),
    "crepe": ((), ("--dtype", "bfloat8_b", "--fidelity", "HiFi2")),
    "silero-vad": ((), ("--dtype", "bfloat8_b", "--fidelity", "HiFi2")),
    "g2p": ((), ("--dtype", "bfloat8_b", "--fidelity", "HiFi2")),
    "vit": ((), ("--numerics", "fast"), ("--dtype", "bfloat16", "--fidelity", "HiFi4", "--numerics", "fast")),
    "resnet50": ((), ("--numerics", "fast"), ("--dtype", "bfloat16", "--fidelity", "HiFi4", "--numerics", "fast")),
    "falcon7b": ((), ("--numerics", "fast")),
    "mistral7b": (
        ("--numerics", "fast"),
        ("--dtype", "bfloat4_b", "--numerics", "fast"),
        ("--layers", "2"),
        ("--dtype", "bfloat4_b", "--layers", "2"),
    ),
}


def document(name: str, options: tuple[str, ...]) -> dict[str, Any]:
    """Return what the demo of a model prints with `--json`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "ttnn", "demo", name, "--json", "--output", f"{folder}/x.png", *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def number(value: float | None, digits: int = 4) -> str:
    """Return a number as the table has it."""
    if value is None:
        return ""
    return f"{value:,.{digits}f}" if abs(value) < 1000 else f"{value:,.0f}"


def lines(name: str, content: dict[str, Any]) -> list[str]:
    """Return the lines of the page for one run of a demo."""
    how = f"{content['dtype']} {content['fidelity']} {content['numerics']}"
    if name.endswith("7b"):
        how += f", {content['layers']} layers"
    return [
        f"| {name} | {how} | {line['run']} | {line['metric']} | {number(line['value'])} | {number(line['expected'])} | "
        f"{number(line['pcc'], 6)} | {line['seconds']:.3f} | {line['device_nanoseconds'] / 1e6:.3f} | "
        f"{number(line['per_second'], 0)} {content['unit']} |\n"
        for line in content["table"]
    ]


def main() -> None:
    """Run what is asked for, and write the page."""
    names = sys.argv[1:] or list(RUNS)
    unknown = sorted(set(names) - set(RUNS))
    if unknown:
        sys.exit(f"make_models.py: no model {', '.join(unknown)}; there are {', '.join(RUNS)}")
    if not sys.argv[1:]:
        tests = [sys.executable, "-m", "pytest", "-q", str(PAGE.parents[1] / "tests" / "models")]
        subprocess.run(tests, env=os.environ | {"TTNN_MODELS_REQUIRED": "all"}, check=True)
    for name in names:
        found = []
        for options in RUNS[name]:
            started = time.monotonic()
            content = document(name, options)
            found += lines(name, content)
            print(f"{name} {' '.join(options)}: {time.monotonic() - started:.0f} s", *content["notes"], sep="\n  ")
        write(name, found)


def write(name: str, found: list[str]) -> None:
    """Write a model's lines into the page, in `RUNS` order."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    kept = [line for line in table.splitlines(keepends=True) if line.startswith("| ")][1:]
    groups = {other: [line for line in kept if line.startswith(f"| {other} |")] for other in RUNS} | {name: found}
    rule = "|---|---|---|---|---|---|---|---|---|---|\n"
    body = "".join(line for group in groups.values() for line in group)
    PAGE.write_text(f"{before}{BEGIN}{HEAD}{rule}{body}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()

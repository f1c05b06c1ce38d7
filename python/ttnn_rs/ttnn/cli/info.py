"""`python -m ttnn info`: which device this is, what it runs on, and which switches are set."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
from typing import Any

import ttnn
from ttnn import _engine
from ttnn.config import CONFIG, SWITCHES

from .terminal import Table, Terminal

PACKAGES = ("ttnn-rs", "numpy", "ml_dtypes", "torch", "rich", "matplotlib", "scikit-learn")


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Name the options."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "info", help="show the device, the host and the switches", description=__doc__
    )
    return parser


def run(_options: argparse.Namespace, terminal: Terminal) -> int:
    """Print what there is."""
    content = collect()
    terminal.document(content)
    for title, key in (("device", "device"), ("host", "host"), ("switches", "switches"), ("versions", "versions")):
        table = Table("", (title, ""), left=frozenset({title, ""}))
        table.rows.extend((name, _text(value)) for name, value in content[key].items())
        terminal.table(table)
        terminal.line()
    chips = Table(
        "", ("chip", *(name.replace("_", " ") for name in CHIP_COLUMNS)), left=frozenset({"chip", *CHIP_COLUMNS[:1]})
    )
    for name, chip in content["chips"].items():
        chips.rows.append((name, *(_text(chip.get(column, "")) for column in CHIP_COLUMNS)))
    terminal.table(chips)
    return 0


CHIP_COLUMNS = ("arch",)


def collect() -> dict[str, Any]:
    """Return everything as plain values."""
    with ttnn.manage_device(device_id=0) as device:
        chip = {name: _plain(value) for name, value in device.chip.items()}
    return {
        "device": chip,
        "host": {
            "cpu": _engine.cpu_name(),
            "cpu_level": _engine.cpu_level(),
            "cpu_levels": _engine.cpu_levels(),
            "threads": _engine.threads(),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "switches": _switches(),
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "chips": {name: {k: _plain(v) for k, v in _engine.chip_info(name).items()} for name in _engine.chip_names()},
    }


def _switches() -> dict[str, Any]:
    """Return the value of every switch that has an environment variable, by the variable's name."""
    values = {switch.environment: _plain(getattr(CONFIG, name)) for name, switch in SWITCHES.items()}
    values.update(TTNN_CPU_LEVEL=CONFIG.cpu_level, TTNN_THREADS=CONFIG.threads)
    return {variable: value for variable, value in sorted(values.items()) if variable}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

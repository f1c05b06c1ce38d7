"""`python -m ttnn info`: device, host and switches."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
from typing import Any

import ttnn
from ttnn import _engine
from ttnn.base.config import CONFIG, SWITCHES
from ttnn.base.enums import BufferType
from ttnn.cli.common.terminal import Table, Terminal

PACKAGES = ("ttnn-rs", "numpy", "ml_dtypes", "torch", "rich", "matplotlib", "scikit-learn")


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand and its options to a parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "info", help="show the device, the host and the switches", description=__doc__
    )
    return parser


def run(_options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the report."""
    content = collect()
    terminal.document(content)
    for part in ("device", "memory", "host", "switches", "versions"):
        table = Table("", (part, ""), left=frozenset({part, ""}))
        table.rows.extend((_label(part, name), _text(value)) for name, value in content[part].items())
        terminal.table(table)
        terminal.line()
    columns = tuple(next(iter(content["chips"].values())))
    chips = Table("", ("chip", *(name.replace("_", " ") for name in columns)), left=frozenset({"chip", "arch"}))
    for name, chip in content["chips"].items():
        chips.rows.append((name, *(_text(chip[column]) for column in columns)))
    terminal.table(chips)
    return 0


def collect() -> dict[str, Any]:
    """Return everything as plain values."""
    with ttnn.manage_device(device_id=0) as device:
        views = {buffer.name: ttnn.get_memory_view(device, buffer) for buffer in (BufferType.DRAM, BufferType.L1)}
        opened = {"chip": device.chip["name"], **_chip(device.chip)}
    return {
        "device": opened,
        "memory": {
            f"{name} {figure}": getattr(view, figure)
            for name, view in views.items()
            for figure in ("num_banks", "total_bytes_per_bank", "largest_contiguous_bytes_free_per_bank")
        },
        "host": {
            "cpu": _engine.cpu_name(),
            "cpu_level": CONFIG.cpu_level,
            "cpu_levels": _engine.cpu_levels(),
            "threads": CONFIG.threads,
            "system": f"{platform.system()} {platform.machine()}",
        },
        "switches": _switches(),
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "chips": {name: _chip(_engine.chip_info(name)) for name in _engine.chip_names()},
    }


def _chip(info: dict[str, Any]) -> dict[str, Any]:
    columns, rows = info["grid"]
    return {
        "arch": info["arch_name"],
        "grid": f"{columns} x {rows}",
        "l1_bytes": info["l1_bytes"],
        "dram_banks": info["dram_banks"],
        "dram_bank_bytes": info["dram_bank_bytes"],
        "aiclk_mhz": info["aiclk_mhz"],
    }


def _switches() -> dict[str, Any]:
    """Return switch values by environment variable."""
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


def _label(part: str, name: str) -> str:
    """Return a name as people read it.

    Switches and packages are spelled as they are set and installed.
    """
    return name if part in ("switches", "versions") else name.replace("_", " ")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    if value is None:
        return "not set"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

"""Arguments of `ttrt` commands, as data.

They serve the command line and the Python classes.

Imports nothing of the package, so that `ttrt --help` is quick.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["ARGUMENTS", "COMMANDS", "Argument", "default_artifacts", "parse"]


@dataclass(frozen=True)
class Argument:
    """An argument: name with dashes, or none if positional."""

    name: str
    type: type
    default: Any
    help: str
    choices: tuple[Any, ...] | None = None


def default_artifacts() -> str:
    """Return the folder of artifacts: below TT_MLIR_HOME, or below the working directory."""
    return os.path.join(os.environ.get("TT_MLIR_HOME") or os.getcwd(), "ttrt-artifacts")


_FILES: Final = Argument(
    "--allow-files", bool, False, "use files outside of the working folder that binaries or links name"
)


def _common(command: str) -> list[Argument]:
    return [
        Argument("--clean-artifacts", bool, False, "remove the artifacts of previous runs"),
        Argument("--save-artifacts", bool, False, "save artifacts"),
        _FILES,
        Argument("--log-file", str, "", "write the log to this file"),
        Argument("--artifact-dir", str, "", "folder of artifacts, with --save-artifacts (default: ttrt-artifacts)"),
        Argument("--result-file", str, f"{command}_results.json", "write results to this file"),
    ]


_BINARY: Final = Argument("binary", str, "", "a binary, or a folder of binaries")
_IGNORE: Final = Argument("--ignore-version", bool, False, "read binaries of other versions of the package")
_INDEX: Final = Argument("--program-index", str, "all", "number of the program to run, or all")
_LOOPS: Final = Argument("--loops", int, 1, "how often each program runs")

_FABRICS: Final = (
    *("disabled", "fabric_1d", "fabric_1d_ring", "fabric_2d"),
    *("fabric_2d_torus_x", "fabric_2d_torus_y", "fabric_2d_torus_xy"),
)
_FABRIC: Final = Argument("--fabric-config", str, "fabric_1d", "fabric of programs on several chips", _FABRICS)
INITIALIZERS: Final = ("arange", "ones", "randn", "zeros")
_INIT: Final = Argument(
    "--init", str, "randn", "values of the inputs; indices stay below the size of their table", INITIALIZERS
)

COMMANDS: Final = {
    "query": "describe the simulated system",
    "read": "print parts of a binary as JSON",
    "run": "run the programs of a binary",
    "perf": "predict the time of the programs of a binary",
    "check": "compare a binary with a system descriptor",
}
SECTIONS: Final = ("all", "version", "system_desc", "mlir", "cpp", "inputs", "outputs", "op_stats", "mesh_shape")

#: Arguments of each command.
ARGUMENTS: Final[dict[str, list[Argument]]] = {
    "query": [*_common("query"), Argument("--quiet", bool, False, "do not print the descriptor")],
    "read": [*_common("read"), _IGNORE, Argument("--section", str, "all", "what to print", SECTIONS), _BINARY],
    "run": [
        *_common("run"),
        _IGNORE,
        _INDEX,
        _LOOPS,
        _INIT,
        _FABRIC,
        Argument("--identity", bool, False, "fail unless outputs equal inputs"),
        Argument("--non-zero", bool, False, "fail if an output is zero everywhere"),
        Argument("--rtol", float, 1e-05, "relative tolerance of --identity"),
        Argument("--atol", float, 1e-08, "absolute tolerance of --identity"),
        Argument("--seed", int, 0, "seed of random inputs"),
        Argument("--load-kernels-from-disk", bool, False, "kernels have no files here: is refused if it is set"),
        Argument("--disable-async-ttnn", bool, False, "programs run synchronously in any case"),
        Argument("--enable-async-ttnn", bool, False, "programs run synchronously in any case"),
        Argument("--memory", bool, False, "report the memory in use after each program"),
        Argument("--print-input-output-tensors", bool, False, "print inputs and outputs"),
        Argument("--chisel", bool, False, "compare each operation with float64; records are saved as JSON lines"),
        Argument("--save-golden-tensors", bool, False, "save inputs and outputs beside the artifacts"),
        _BINARY,
    ],
    "perf": [
        *_common("perf"),
        _IGNORE,
        _INDEX,
        _LOOPS,
        _INIT,
        _FABRIC,
        Argument("--host-only", bool, False, "measure the host instead of predicting the chip"),
        _BINARY,
    ],
    "check": [
        *_common("check"),
        _IGNORE,
        Argument("--system-desc", str, "", "a descriptor, or a folder of them (default: the simulated system)"),
        _BINARY,
    ],
}


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the parsed command line.

    `command` is the name of the command, the others are named as in `ARGUMENTS`.
    """
    parser = argparse.ArgumentParser(
        prog="ttrt", description="Read, check, run and time compiled binaries on a simulated Tenstorrent device."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command, text in COMMANDS.items():
        one = commands.add_parser(command, help=text, description=text[0].upper() + text[1:] + ".")
        for argument in ARGUMENTS[command]:
            if argument.type is bool:
                one.add_argument(argument.name, action="store_true", help=argument.help, dest=argument.name)
            elif argument.name.startswith("--"):
                one.add_argument(
                    argument.name,
                    type=argument.type,
                    default=argument.default,
                    choices=argument.choices,
                    help=argument.help,
                    dest=argument.name,
                    metavar=None if argument.choices else argument.name.strip("-").upper(),
                )
            else:
                one.add_argument(argument.name, help=argument.help)
    return parser.parse_args(arguments)

"""`ttmlir-translate`: its arguments. What only shows help imports nothing of the package."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Final

__all__ = ["TRANSLATIONS", "main", "parse"]

#: What each translation writes.
TRANSLATIONS: Final = {
    "ttnn-to-flatbuffer": "a TTNN binary of a module of the dialect ttnn",
    "ttmetal-to-flatbuffer": "a TTMetal binary of a module of the dialect ttmetal",
    "mlir-to-cpp": "C++ of a module of the dialect ttnn or emitc",
    "mlir-to-python": "Python of a module of the dialect ttnn or emitpy",
    "ttkernel-to-cpp": "C++ kernels of a module of the dialect ttkernel",
}


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the parsed command line; `translation` is a name of `TRANSLATIONS`."""
    parser = argparse.ArgumentParser(
        prog="ttmlir-translate", description="Translate an MLIR module to a binary or to source.", allow_abbrev=False
    )
    parser.add_argument("file", nargs="?", default="-", help="MLIR text; - is standard input (default)")
    parser.add_argument("-o", dest="output", default="-", metavar="file", help="output; - is standard output (default)")
    parser.add_argument(
        "-allow-unregistered-dialect",
        "--allow-unregistered-dialect",
        action="store_true",
        help="keep operations and attributes of unknown dialects",
    )
    parser.add_argument(
        "--default-version",
        "--default-epoch",
        default="2026-08",
        metavar="version",
        help="version of text that does not show its own: 2024-09, 2025-10 or 2026-08 (default)",
    )
    parser.add_argument(
        "--pre-pipeline",
        default="",
        metavar="file",
        help="text before the pipeline to ttnn, which a TTNN binary keeps in debug_info.mlir_stages",
    )
    for name in ("mlir-print-local-scope", "mlir-print-debuginfo"):
        parser.add_argument(
            f"--{name}", f"-{name}", action="store_true", help="accepted: the text in a binary is always written alike"
        )
    group = parser.add_mutually_exclusive_group(required=True)
    for name, text in TRANSLATIONS.items():
        group.add_argument(
            f"--{name}", f"-{name}", dest="translation", action="store_const", const=name, help=f"write {text}"
        )
    found = parser.parse_args(arguments)
    if found.pre_pipeline and found.translation != "ttnn-to-flatbuffer":
        parser.error("--pre-pipeline is for --ttnn-to-flatbuffer")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `ttmlir-translate`; return its exit code.

    The arguments are by default those of the process.
    """
    options = parse(arguments)
    from ttmlir._launch import light_package

    light_package()
    from ttnn.compiler.tools.translate import run
    from ttnn.compiler.version import version_of

    try:
        version = version_of(options.default_version)
    except ValueError as error:
        sys.stderr.write(f"ttmlir-translate: --default-version: {error}\n")
        return 2
    return run(
        options.translation,
        options.file,
        options.output,
        allow_unregistered=options.allow_unregistered_dialect,
        default_version=version,
        stage=options.pre_pipeline,
    )

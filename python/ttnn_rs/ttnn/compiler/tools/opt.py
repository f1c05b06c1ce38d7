"""`ttmlir-opt`: read a module, run passes, write it."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ttnn.compiler.limits import shortened
from ttnn.compiler.tools.output import UNEXPECTED, read_source, write
from ttnn.compiler.transforms.options import Option, OptionError
from ttnn.compiler.version import NEWEST, Version, span, version_of

if TYPE_CHECKING:
    from ttnn.compiler.ir.diagnostics import Diagnostic

__all__ = ["main"]

_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)
_FLAGS = {
    "split-input-file": "Treat the parts between lines `// -----` as files of their own.",
    "verify-diagnostics": "Check that the diagnostics are those that `expected-error` comments announce.",
    "allow-unregistered-dialect": "Keep operations and attributes of unknown dialects.",
    "mlir-print-debuginfo": "Print locations.",
    "mlir-print-local-scope": "Print attributes where they are used, without aliases.",
    "mlir-print-op-generic": "Print all operations in generic form.",
    "mlir-print-ir-after-all": "Print the module after each pass to standard error.",
    "show-dialects": "List the dialects that can be read.",
}
# Options that name a version, also as older releases spelled them.
_VERSIONS = {
    "emit-version": "version",
    "default-version": "default_version",
    "emit-epoch": "version",
    "default-epoch": "default_version",
}
_IGNORED = {
    "mlir-disable-threading", "verify-each", "mlir-print-ir-before-all", "debug", "mlir-timing", "no-implicit-module",
    "mlir-elide-elementsattrs-if-larger", "mlir-elide-resource-strings-if-larger", "mlir-print-value-users",
    "mlir-print-stacktrace-on-diagnostic", "mlir-print-op-on-diagnostic", "mlir-print-ir-after-change",
    "mlir-print-ir-tree-dir", "debug-only", "mlir-print-unique-ssa-ids",
}  # fmt: skip


@dataclass
class _Arguments:
    """Parsed command line."""

    steps: list[tuple[str, str]] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    output: str = "-"
    file: str = "-"
    version: Version | None = None
    default_version: Version = NEWEST
    help: bool = False
    log: bool = False


class _UsageError(Exception):
    """A command line that cannot be read."""


def _parse(arguments: list[str]) -> _Arguments:
    from ttnn.compiler.pipelines.catalog import PIPELINES
    from ttnn.compiler.pipelines.passes import PASSES

    found = _Arguments()
    files = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            files.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if name in ("h", "help"):
            found.help = True
        elif name == "o" or (word.startswith("-o") and not word.startswith("--") and name not in PASSES and not equals):
            found.output = word[2:] or _next(rest, "-o")
        elif name in (*_VERSIONS, "pass-pipeline"):
            value = value if equals else _next(rest, word)
            if name in _VERSIONS:
                setattr(found, _VERSIONS[name], _version(name, value))
            else:
                from ttnn.compiler.pipelines.runner import parse_pipeline

                found.steps += parse_pipeline(_unquoted(value))
        elif name in _FLAGS:
            if value not in ("false", "0"):
                found.flags.add(name)
        elif name in PASSES or name in PIPELINES:
            found.steps.append((name, _unquoted(value)))
        elif name == "debug" or (name == "debug-only" and "optimizer" in value.split(",")):
            found.log = True
        elif name not in _IGNORED:
            raise _UsageError(f"unknown command line argument '{shortened(word)}'. Try: 'ttmlir-opt --help'")
    if len(files) > 1:
        raise _UsageError(f"too many positional arguments: {shortened(' '.join(files))}")
    found.file = files[0] if files else "-"
    return found


def _version(option: str, word: str) -> Version:
    try:
        return version_of(word)
    except ValueError as error:
        raise _UsageError(f"--{option}: {error}") from None


def _next(rest: list[str], word: str) -> str:
    if not rest:
        raise _UsageError(f"{word} requires a value")
    return rest.pop(0)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _help() -> str:
    from ttnn.compiler.pipelines.catalog import PIPELINES
    from ttnn.compiler.pipelines.passes import PASSES

    lines = [
        "OVERVIEW: reads an MLIR module of the Tenstorrent compiler stack, runs passes, and writes it.",
        "",
        "USAGE: ttmlir-opt [--pass[=options]].. [--pass-pipeline='builtin.module(..)'] [-o file] [file|-]",
        "",
        "OPTIONS:",
        "  --emit-version=2024-09|2025-10|2026-08  Write the module in the language of a version.",
        "  --default-version=<version>       Version of text that does not show its own.",
        "  -o <file>                         Output file; `-` is standard output.",
        "  --pass-pipeline=<text>            Passes as text: builtin.module(pass{option=value},..).",
    ]
    lines += [f"  --{name:<32} {text}" for name, text in _FLAGS.items()]
    lines += ["", "PASSES:"]
    for name, one in sorted(PASSES.items()):
        lines += _entry(name, one.doc + _versions(one.versions), one.options)
    lines += ["", "PIPELINES:"]
    for name, pipeline in sorted(PIPELINES.items()):
        lines += _entry(name, pipeline.doc + _versions(span(pipeline.versions)), pipeline.options)
    return "\n".join(lines) + "\n"


def _versions(versions: tuple[str, ...]) -> str:
    return "" if len(versions) == 3 else f" Versions: {', '.join(versions)}."


def _entry(name: str, doc: str, options: tuple[Option, ...]) -> list[str]:
    return [f"  --{name:<46} {doc}", *(f"      {one.name}=<{one.kind}>: {one.doc}" for one in options)]


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; return its exit code."""
    try:
        asked = _parse(sys.argv[1:] if arguments is None else arguments)
        if asked.help:
            sys.stdout.write(_help())
            return 0
    except (_UsageError, OptionError) as error:
        sys.stderr.write(f"ttmlir-opt: {error}\n")
        return 1
    if "show-dialects" in asked.flags:
        from ttnn.compiler.dialects.spec import DIALECTS
        from ttnn.compiler.ir.parser import foreign_dialects

        names = sorted({*foreign_dialects(), *DIALECTS})
        sys.stdout.write("Available Dialects:\n" + "".join(f"{name}\n" for name in names))
        return 0
    text = read_source("ttmlir-opt", asked.file, _BYTECODE if _reads_stablehlo(asked) else None)
    return 1 if text is None else _run(asked, text)


_BYTECODE = b"ML\xefR"
"""First bytes of MLIR bytecode and of portable artifacts."""


def _reads_stablehlo(asked: _Arguments) -> bool:
    """Return whether the input is a StableHLO program.

    Which has a reader of its own.
    """
    from ttnn.compiler.pipelines.catalog import STABLEHLO

    return any(name in STABLEHLO for name, _ in asked.steps)


def _optimizes(asked: _Arguments) -> bool:
    """Return whether a pass may ask for predicted times.

    The operators are loaded then.
    """
    return any("optimiz" in f"{name} {options}" for name, options in asked.steps)


def _run(asked: _Arguments, text: str | bytes) -> int:
    from ttnn.base.exceptions import UnsupportedError
    from ttnn.compiler.ir.diagnostics import CompileError

    name = "<stdin>" if asked.file == "-" else asked.file
    outputs: list[str] = []
    failed = False
    expecting = "verify-diagnostics" in asked.flags
    for part, first_line in _parts(text, "split-input-file" in asked.flags):
        diagnostics: list[Diagnostic] = []
        try:
            outputs.append(_module(asked, part, name, first_line, diagnostics if expecting else None))
        except CompileError as error:
            diagnostics += error.diagnostics
        except (OptionError, UnsupportedError) as error:
            sys.stderr.write(f"ttmlir-opt: {error}\n")
            return 1
        except UNEXPECTED as error:
            sys.stderr.write(f"{name}: error: a pass failed on this module ({type(error).__name__}: {error})\n")
            return 1
        if expecting:
            from ttnn.compiler.tools.expectations import compare

            problems = compare(part if isinstance(part, str) else "", name, first_line, diagnostics)
            failed = failed or bool(problems)
            sys.stderr.write("".join(f"{problem}\n" for problem in problems))
        elif diagnostics:
            failed = True
            sys.stderr.write("".join(f"{diagnostic}\n" for diagnostic in diagnostics))
            # The output of parts that are right is still written, with their separators.
            outputs.append("")
    if outputs if expecting else not failed or "split-input-file" in asked.flags:
        text = "\n// -----\n".join(outputs)
        # As MLIR tools do, an empty line follows the module.
        text = text if text.endswith("\n\n") else text + "\n"
        failed = write("ttmlir-opt", asked.output, text.encode()) != 0 or failed
    return 1 if failed else 0


def _parts(text: str | bytes, split: bool) -> list[tuple[str | bytes, int]]:
    """Return a file's parts with their preceding line counts."""
    if not split or isinstance(text, bytes):
        return [(text, 0)]
    parts: list[tuple[str | bytes, int]] = []
    last = line = 0
    for found in _SPLIT.finditer(text):
        parts.append((text[last : found.start()], line))
        line += text.count("\n", last, found.end())
        last = found.end()
    parts.append((text[last:], line))
    return parts


def _module(
    asked: _Arguments, text: str | bytes, name: str, first_line: int, expected: list[Diagnostic] | None = None
) -> str:
    """Return a module's text after the passes.

    Its warnings are added to `expected`, or are written.
    """
    from ttnn.compiler.ir.module import Module
    from ttnn.compiler.pipelines import run_steps
    from ttnn.compiler.versions import parse_module, print_module

    if _reads_stablehlo(asked):
        from ttnn.compiler.importers.stablehlo import read

        module = read(text, name, first_line=first_line)
    else:
        assert isinstance(text, str)
        module = parse_module(
            text,
            name,
            allow_unregistered="allow-unregistered-dialect" in asked.flags,
            default_version=asked.default_version,
            first_line=first_line,
        )
    if _optimizes(asked):
        from ttnn.compiler.runtime.op_model import RuntimeModel
        from ttnn.compiler.transforms.ttnn.optimizer.model import Log, ModelOfDevice

        ModelOfDevice.give(RuntimeModel())
        Log.on = asked.log
    options: dict[str, Any] = {
        "debuginfo": "mlir-print-debuginfo" in asked.flags,
        "local_scope": "mlir-print-local-scope" in asked.flags,
        "generic": "mlir-print-op-generic" in asked.flags,
    }

    def after(step: str, changed: Module) -> None:
        sys.stderr.write(f"// -----// IR Dump After {step} //----- //\n{print_module(changed, **options)}\n")

    run_steps(module, asked.steps, after if "mlir-print-ir-after-all" in asked.flags else None)
    if expected is not None:
        expected += module.warnings
    for warning in module.warnings if expected is None else ():
        sys.stderr.write(f"{warning}\n")
    return print_module(module, version=asked.version, **options)


if __name__ == "__main__":
    sys.exit(main())

"""Kernel entry points: `kernel_main`, older `MAIN`, or functions with named arguments."""

from __future__ import annotations

import re

from ttnn.base.exceptions import KernelCompileError, UnsupportedError
from ttnn.metal.cpp.elf import symbols
from ttnn.metal.cpp.spec import CppSource

_ENTRIES = {
    "_Z11kernel_mainv": "kernel_main",
    "kernel_main": "kernel_main",
    "_ZN12chlkc_kernel11joined_mainEv": "MAIN",
}
"""Entry functions under their linker names."""
_THREADS = ("unpack_main", "math_main", "pack_main")
_COMMENT = re.compile(r"//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_NO_CODE = re.compile(rf"{_COMMENT.pattern}|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
"""Comments and literals."""
_DEFINED = re.compile(r"\bvoid\s+(?:kernel_main\s*\(\s*(?:void\s*)?\)|MAIN)\s*\{")
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_NAMED = re.compile(r"(?:template\s*<([^<>]*)>\s*)?\bTT_KERNEL\s+void\s+(\w+)\s*\(([^()]*)\)\s*\{")
"""A function whose parameters name arguments, template ones included."""
_HIDDEN = re.compile(
    r"\b(?:inline|static|constexpr|ALWI|FORCE_INLINE)\b(?:\s+|inline\b|static\b|constexpr\b)*void\s+kernel_main\s*\("
)
"""An entry that the compiler leaves out unless it is called."""


def find_entry(source: CppSource, data: bytes) -> str:
    """Return the linker's name of the entry of a compiled kernel.

    Raises:
        KernelCompileError: it has none, or two.
    """
    found = [symbol.name for symbol in symbols(data) if symbol.defined and symbol.visible and symbol.name in _ENTRIES]
    if len(found) == 1:
        return found[0]
    file = str(source.path or "")
    where = file or "the text"
    if found:
        both = " and ".join(_ENTRIES[name] for name in found)
        text = f"{where}: the kernel has two entries, {both}; keep one"
    else:
        text = f"{where}: the kernel has no entry; define `void kernel_main()`"
    raise KernelCompileError(text, kernel=source.name, file=file)


def end_of_entry(text: str) -> int:
    """Return the closing brace's line of the entry function, else 0."""
    code = _NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    found = _NAMED.search(code) or _DEFINED.search(code)
    if found is None:
        return 0
    depth = 0
    for brace in re.compile(r"[{}]").finditer(code, found.end() - 1):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return code.count("\n", 0, brace.start()) + 1
    return 0


def named_entry(text: str) -> list[str]:
    """Return lines that call what is no entry by itself.

    That is a kernel's only `TT_KERNEL` function, with the arguments that its parameters name, or an inline or static
    `kernel_main`.
    """
    code = _COMMENT.sub(" ", text)
    if _HIDDEN.search(_DIRECTIVE.sub(" ", code)):
        return ["namespace chlkc_kernel { __attribute__((used)) void joined_main() { ::kernel_main(); } }"]
    found = list(_NAMED.finditer(code))
    if len(found) != 1 or re.search(r"\bkernel_main\s*\(", code):
        return []
    template, name, parameters = found[0].groups()
    constants = ", ".join(map(_argument, _names(template or "")))
    values = ", ".join(map(_argument, _names(parameters)))
    chosen = f"<{constants}>" if constants else ""
    return [f"void kernel_main() {{ {name}{chosen}({values}); }}"]


def _names(parameters: str) -> list[str]:
    """Return the names of a list of parameters."""
    parts = (part.partition("=")[0].split() for part in parameters.split(","))
    return [words[-1].lstrip("&*") for words in parts if len(words) > 1]


def _argument(name: str) -> str:
    return f"get_arg(args::{name})"


def refuse_split(source: CppSource) -> None:
    """Refuse sources written for a compute kernel's three separate threads.

    Raises:
        UnsupportedError: it has a function for each thread.
    """
    for number, line in enumerate(source.text.splitlines(), 1):
        code = line.partition("//")[0]
        name = next((name for name in _THREADS if re.search(rf"\bvoid\s+{name}\s*\(", code)), None)
        if name:
            raise UnsupportedError(
                f"{source.path or source.name}:{number}: {name}: kernels with a function for each thread are not "
                "modelled; write one kernel_main, which runs as all three",
                "unimplemented",
            )

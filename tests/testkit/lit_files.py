"""Parts of public test files: their RUN lines, modules and functions."""

from __future__ import annotations

import re
import shlex
from typing import Any

LOWERS = re.compile(
    r"--(ttir-to-ttnn-\S*pipeline|convert-ttir-to-ttnn|ttir-to-ttmetal-\S*pipeline|convert-ttir-to-ttmetal)"
)


class NotExecuted(Exception):
    """A file that is not run, and why."""


class IllTyped(NotExecuted):
    """A module in which no value has the type of its text."""


def lowering(text: str, descriptor: str) -> list[str]:
    """The `ttmlir-opt` arguments of the first lowering RUN line.

    Or else of the first one.

    Raises:
        NotExecuted: There is none.
    """
    first: list[str] | None = None
    refused = False
    for line in re.sub(r"\\\n\s*//\s*RUN:", " ", text).splitlines():
        _, found, command = line.partition("RUN:")
        if not found or "ttmlir-opt" not in command:
            continue
        if command.strip().startswith("not "):
            refused = True
            continue
        command = command.split("ttmlir-opt", 1)[1]
        words = shlex.split(re.split(r"[|>]|2>&1", command)[0].replace("%system_desc_path%", descriptor))
        kept = []
        skip = False
        for word in words:
            if skip or word.startswith("%"):
                skip = False
                continue
            if word == "-o":
                skip = True
                continue
            kept.append(word)
        if LOWERS.search(command):
            return kept
        first = kept if first is None else first
    if first is None:
        raise NotExecuted("expects an error" if refused else "no line that reads it")
    return first


def rest(source: str, lowered: str, options: list[str], descriptor: str) -> list[str]:
    """The `ttmlir-opt` arguments that complete a file's lowering; else empty.

    Raises:
        NotExecuted: The file has nothing that could be executed.
    """
    if LOWERS.search(" ".join(options)):
        return []
    if not re.search(r"\bttir\.[a-z]", source):
        return rest_of_library(source, lowered, options, descriptor)
    if "#ttcore.metal_layout" in source:
        raise NotExecuted("buffers of d2m")
    if re.search(r"\bttir\.(generic|kernel)\b", lowered):
        return ["--ttir-to-ttmetal-backend-pipeline"]
    if re.search(r"#tt\.layout|#ttnn\.ttnn_layout", lowered):
        return ["--convert-ttir-to-ttnn"]
    return [f"--ttir-to-ttnn-backend-pipeline=system-desc-path={descriptor}"]


def rest_of_library(source: str, lowered: str, options: list[str], descriptor: str) -> list[str]:
    """The `ttmlir-opt` arguments that prepare a `ttnn` module for a binary.

    A device, layouts, and what kernels take.

    Raises:
        NotExecuted: The file has no program of the library.
    """
    if not re.search(r"\bttnn\.[a-z]\w*\"?\(", source):
        raise NotExecuted("no program of tensors")
    left = []
    if "#ttcore.device<" not in lowered:
        left.append(f"--ttcore-register-device=system-desc-path={descriptor}")
    left.append("--ttnn-layout")
    if not any("ttnn-workaround" in option for option in options):
        left += ["--ttnn-workaround", "--canonicalize"]
    if "ttnn.conv3d" in lowered:
        left.append("--ttnn-prepare-conv3d-weights")
    if "math-fidelity=undefined" in " ".join(options):
        # Bits of products without it are not defined.
        left.append("--ttnn-set-compute-kernel-config=math-fidelity=hifi4 fp32-dest-acc-en=unset")
    return [*left, "--ttnn-decompose-layouts", "--ttnn-deallocate"]


def parts(text: str) -> list[str]:
    """A file's modules, each with its leading aliases."""
    found = []
    for part in re.split(r"^// -----.*$", text, flags=re.MULTILINE):
        places = [match.start() for match in re.finditer(r"^module\b", part, flags=re.MULTILINE)]
        ends = [*places[1:], len(part)]
        whole = [part[: places[0]] + part[a:b] for a, b in zip(places, ends, strict=True)] if places else [part]
        found += [one for outer in whole for one in nested(outer)]
    return found


def nested(text: str) -> list[str]:
    """Nested modules with common function names; else the module."""
    names = re.findall(r"func\.func (?:public |private )?@(\w+)", text)
    starts = [match.start() for match in re.finditer(r"^[ \t]+module\b.*\{$", text, flags=re.MULTILINE)]
    if len(set(names)) == len(names) or not starts:
        return [text]
    found = []
    aliases = "".join(re.findall(r"^[#!].*\n", text, flags=re.MULTILINE))
    for start in starts:
        depth, place = 0, start
        while True:
            brace = re.compile(r"[{}]").search(text, place)
            assert brace is not None
            depth, place = depth + (1 if brace[0] == "{" else -1), brace.end()
            if depth == 0 and text[place : place + 1] in ("\n", ""):
                break
        found.append(aliases + text[start:place])
    return found


def alone(text: str, name: str, version: str) -> list[str]:
    """A module's functions as separate modules; none if inseparable.

    There is one function, or one names another.
    """
    from ttnn.compiler.version import version_of
    from ttnn.compiler.versions import parse_module, print_module

    def module() -> Any:
        return parse_module(text, name, default_version=version_of(version))

    names = [function.sym_name.data for function in module().functions()]
    if len(names) < 2 or any(len(re.findall(rf"@{re.escape(one)}\b", text)) > 1 for one in names):
        return []
    found = []
    for one in names:
        part = module()
        for function in list(part.functions()):
            if function.sym_name.data != one:
                function.detach()
                function.erase()
        found.append(print_module(part))
    return found

"""Operator stubs for editors and type checkers.

`ttnn/ops/__init__.pyi` has the operators of `ttnn`, `ttnn/namespaces.pyi` those below namespaces, both written from the
registry. In `ttnn/_engine.pyi` the types of keyword arguments are written from the engine's own structs. `cargo xtask
stubs` writes the files; with `--check` they are only compared.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ttnn._engine import keyword_arguments
from ttnn.base.files import write_atomically
from ttnn.operation.registry import FastOperation, Op, exports
from ttnn.operation.signature import REQUIRED, Param

_WIDTH: Final = 120
_ELSEWHERE: Final = {
    "Activation": "ttnn.base.activation",
    "AnyProgramConfig": "ttnn.ops.matmul.configs",
    "FastOperation": "ttnn.operation.registry",
    "Gradients": "ttnn.ops.backward.family",
}
"""Sources of annotation types that are not classes of `ttnn`."""

_HEADER: Final = '''"""Operators with their arguments and types. Written by `cargo xtask stubs` from the registry."""
{lints}# fmt: off

{imports}
'''


def stub(operators: Mapping[str, FastOperation]) -> str:
    """Return the stub's text.

    One class per set of signatures, one variable per name of an operator.
    """
    classes: dict[str, str] = {}
    variables = []
    for name, operation in operators.items():
        entry = operation.entry
        if entry is None:
            variables.append((name, "FastOperation\n"))
            continue
        calls = _calls(entry)
        words = name.title().replace("_", "").replace(".", "")
        owner = classes.setdefault(calls, f"_{words}{'InPlace' * name.endswith('_')}")
        variables.append((name, f"{owner}\n{_docstring(entry.summary, _WIDTH - 4 * name.count('.'))}\n"))
    body = "".join(f"\nclass {owner}(FastOperation):\n{calls}" for calls, owner in classes.items())
    body = f"{body}\n{_tree(variables)}"
    # Names of operators and parameters that are not in lower case are those of the official package.
    found = {"N803": r"[(,\s]\w*[A-Z]\w*: (?!_)[^\n]*[,)]", "N816": r"^\w*[A-Z]\w*: _"}
    rules = [rule for rule, pattern in found.items() if re.search(pattern, body, re.MULTILINE)]
    lints = f"# ruff: noqa: {', '.join(rules)}\n" if rules else ""
    return _HEADER.format(lints=lints, imports=_imports(body)) + body


def _tree(variables: Iterable[tuple[str, str]], path: str = "") -> str:
    """Return variable declarations.

    Those below a name are members of a class.
    """
    inner: dict[str, list[tuple[str, str]]] = {}
    plain = []
    for name, text in variables:
        first, dot, rest = name.partition(".")
        if dot:
            inner.setdefault(first, []).append((rest, text))
        else:
            plain.append(f"{name}: {text}")
    classes = []
    for name, members in inner.items():
        owner = f"_In{path}{name.title().replace('_', '')}"
        body = textwrap.indent(_tree(members, owner.removeprefix("_In")), "    ").replace("\n\n", "\n")
        classes.append(f"class {owner}:\n{body}\n{name}: {owner}\n")
    return "".join([*classes, *plain])


def _docstring(text: str, width: int) -> str:
    if len(text) + 6 <= width:
        return f'"""{text}"""'
    first, *rest = textwrap.wrap(text, width - 3)
    return "\n".join((f'"""{first}', *rest, '"""'))


def _imports(body: str) -> str:
    used = set(re.findall(r"\b[A-Z]\w+", re.sub(r'""".*?"""', "", body, flags=re.DOTALL)))
    ttnn = sys.modules["ttnn"]
    places: dict[str, list[str]] = {}
    for name in sorted(used):
        module = _ELSEWHERE.get(name) or getattr(getattr(ttnn, name, None), "__module__", None)
        if module is not None:
            places.setdefault(module, []).append(name)
    own = "\n".join(_import(module, places[module]) for module in sorted(places))
    standard = ["from collections.abc import Sequence\n"] * ("Sequence" in used)
    standard += ["from typing import overload\n"] * ("@overload" in body)
    return "\n".join(filter(None, ("".join(standard), own)))


def _import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    return (
        line
        if len(line) <= _WIDTH
        else "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])
    )


def _calls(entry: Op) -> str:
    """Return the methods of the class of an operator."""
    forms = ((form, entry.returns(signature)) for signature in entry.signatures for form in signature.forms())
    methods = list(dict.fromkeys(_call(*form, returns) for form, returns in forms))
    mark = "    @overload\n" if len(methods) > 1 else ""
    return "".join(f"{mark}{method}\n" for method in methods)


def _call(positional: Iterable[Param], keywords: Iterable[Param], returns: str) -> str:
    words = ["self", *map(_param, positional), "*", *map(_param, keywords)]
    words += ["queue_id: int | None = None", f"cq_id: int | None = None) -> {returns}: ..."]
    # Lines end between parameters.
    text = ", ".join(word.replace(" ", "\0") for word in words)
    filled = textwrap.fill(f"def\0__call__({text}", _WIDTH, initial_indent="    ", subsequent_indent=" " * 8)
    return filled.replace("\0", " ")


def _param(param: Param) -> str:
    """Return a typed parameter.

    A default that is no literal is left out.
    """
    if param.default is REQUIRED:
        return f"{param.name}: {param.annotation}"
    value: Any = param.default
    plain = value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and value == value)
    return f"{param.name}: {param.annotation} = {value!r}" if plain else f"{param.name}: {param.annotation} = ..."


def with_keyword_arguments(text: str) -> str:
    """Return the engine's stub with its declared types of keyword arguments.

    Raises:
        ValueError: The stub has no such type, or one that the engine does not declare.
    """
    declared = {f"_{name}": fields for name, fields in keyword_arguments()}
    missing = declared.keys() ^ set(re.findall(r"^class (\w+)\(TypedDict\):", text, re.MULTILINE))
    if missing:
        raise ValueError(f"types of keyword arguments of the engine and of its stub differ: {sorted(missing)}")
    for name, fields in declared.items():
        lines = (f"    {field}: {hint if required else f'NotRequired[{hint}]'}\n" for field, hint, required in fields)
        # A hint has no backslash that the replacement would read.
        text = re.sub(rf"(?m)^(class {name}\(TypedDict\):\n)(?: {{4}}.*\n)+", rf"\g<1>{''.join(lines)}", text)
    return text


def main(folder: Path, *options: str) -> int:
    """Write the stubs to the package's folder, or check them."""
    operators = exports()
    dotted = {name: operation for name, operation in operators.items() if "." in name}
    plain = {name: operation for name, operation in operators.items() if "." not in name}
    targets = {
        "ops/__init__.pyi": stub(plain),
        "namespaces.pyi": stub(dotted),
        "_engine.pyi": with_keyword_arguments((folder / "_engine.pyi").read_text(encoding="utf-8")),
    }
    for name, text in targets.items():
        if "--check" not in options:
            write_atomically(folder / name, text, where="stubs")
        elif (folder / name).read_text(encoding="utf-8") != text:
            print(f"{folder / name} is not what the registry and the engine say: run `cargo xtask stubs`")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))

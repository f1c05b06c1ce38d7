"""Names, strings and comments of emitted Python and C++.

A name or string of a module is data: it never ends the token in which it stands. What is code by definition (verbatim
statements, literals, opaque types and attributes) is written as it is, for the reader to judge.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from typing import Final

__all__ = [
    "comment",
    "cpp_string",
    "is_cpp_callee",
    "is_cpp_identifier",
    "is_header",
    "is_python_identifier",
    "is_python_path",
    "python_string",
    "source_lines",
]

_CPP_KEYWORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
        alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class
        co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype
        default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline
        int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
        reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template
        this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
        while xor xor_eq
        """,
    )
)
_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_IDENTIFIER: Final = re.compile(_NAME)
_ARGUMENTS: Final = r"(?:<[A-Za-z0-9_:,<>*& ]*>)?"
_CALLEE: Final = re.compile(rf"(?:::)?{_NAME}{_ARGUMENTS}(?:(?:::|\.|->){_NAME}{_ARGUMENTS})*")
_CASTS: Final = frozenset({"const_cast", "dynamic_cast", "reinterpret_cast", "sizeof", "static_cast"})
_HEADER: Final = re.compile(r"[A-Za-z0-9_./+\- ]+")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_SHORT: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def is_python_identifier(name: str) -> bool:
    """Return whether a name is a valid Python variable or function."""
    # Python reads a name in normal form, which may be another name.
    return name.isidentifier() and not keyword.iskeyword(name) and unicodedata.normalize("NFKC", name) == name


def is_python_path(name: str) -> bool:
    """Return whether a text is a dotted Python name."""
    return all(map(is_python_identifier, name.split(".")))


def is_cpp_identifier(name: str) -> bool:
    """Return whether a name is a valid C++ variable or function."""
    return _IDENTIFIER.fullmatch(name) is not None and name not in _CPP_KEYWORDS


def is_cpp_callee(name: str) -> bool:
    """Return whether a text is a C++ function name.

    Qualified, with template arguments, or a member.
    """
    names = re.findall(_NAME, re.sub(r"<.*>", "", name))
    return _CALLEE.fullmatch(name) is not None and not (_CPP_KEYWORDS - _CASTS).intersection(names)


def is_header(name: str) -> bool:
    """Return whether a text can stand in an include line."""
    return _HEADER.fullmatch(name) is not None and "//" not in name


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def python_string(text: str) -> str:
    """Return a Python string literal on one line, visibly."""
    return '"' + "".join(_SHORT.get(one) or (one if one.isprintable() else _escaped(one)) for one in text) + '"'


def cpp_string(text: str, *, escapes: bool = False) -> str:
    """Return a string literal of C++ in UTF-8.

    Args:
        text: What the string holds.
        escapes: Keep escapes of C++ that the text already has, as formats of `DPRINT` do.
    """
    parts = re.split(r"(\\[nrt0\\\"'])", text) if escapes else [text]
    return '"' + "".join(part if index % 2 else _cpp_part(part) for index, part in enumerate(parts)) + '"'


def _cpp_part(text: str) -> str:
    out = []
    for byte in text.encode("utf-8", "surrogatepass"):
        one = chr(byte)
        # Octal escapes end after three digits, hexadecimal ones do not. A question mark may begin a trigraph.
        plain = 0x20 <= byte < 0x7F and one != "?"
        out.append(_SHORT.get(one) or (one if plain else "\\?" if one == "?" else f"\\{byte:03o}"))
    return "".join(out)


def comment(text: str) -> str:
    """Return a text safe inside a Python or C++ line comment."""
    shown = "".join(one if one.isprintable() else _escaped(one) for one in text)
    # A backslash at the end of a line, or its trigraph, continues a comment of C++.
    return f"{shown} ." if shown.rstrip().endswith(("\\", "??/")) else shown


def source_lines(text: str) -> list[str]:
    """Return verbatim source lines as Python and C++ end them.

    `str.splitlines` ends lines at more characters.
    """
    found = _LINE_END.split(text)
    return found[:-1] if found[-1] == "" else found

"""The compiler's messages as errors of this package, with the user's file and line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

from ttnn.base.exceptions import KernelCompileError, UnsupportedError

_MESSAGE = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+):\d+: (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_NOTE = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+):\d+: note: ", re.MULTILINE)
_INCLUDED = re.compile(r"^(?:In file included from|\s+from) (?P<file>[^\n:]+):(?P<line>\d+)[:,]", re.MULTILINE)
_INSTRUCTIONS = "Tensix instructions of one's own are not modelled; use the functions of the compute API"
_COMMAND_BUFFERS = "the NoC's command buffers are not modelled; use the noc_async_ functions"
_FABRIC = "sockets and the fabric between chips are not modelled"
_REGISTERS = "registers of the chip are not modelled"

_ETHERNET = "Ethernet cores are not modelled"

_REFUSED: tuple[tuple[str, str], ...] = (
    (r"TTI?_[A-Z]\w*|ckernel_template|ckernel_unpack_template|lltt|instrn_buffer|TT_OP_\w*", _INSTRUCTIONS),
    (r"p_stall|p_setadc|p_setrwc|addr_mod_t", _INSTRUCTIONS),
    (r"NOC_(?:STREAM|CMD|CTRL|TARG|RET|PACKET|STATUS)_\w+|NIU_\w+|NOC_\w*_REG\w*", _COMMAND_BUFFERS),
    (r"ncrisc_noc_\w+|noc_fast_\w+|noc_\w+_issued|noc_\w+_acked", _COMMAND_BUFFERS),
    (r"tt_fabric|tt::tt_fabric", _FABRIC),
    (r"eth_\w+", _ETHERNET),
    (r"reg_read|reg_write|cfg_\w+|get_cfg_pointer|[A-Z]\w+_ADDR32|TENSIX_\w+", _REGISTERS),
)
"""Names that no kernel may use here, with the reason."""
_REFUSED_HEADERS: tuple[tuple[str, str], ...] = (
    (r".*fabric.*|.*socket.*|.*tt_uva.*", _FABRIC),
    (r".*ethernet.*|.*erisc.*|eth_.*", _ETHERNET),
    (r"lltt\.h", _INSTRUCTIONS),
)
_HEADER = re.compile(r"'([^']*)' file not found")


def raise_compile_error(name: str, output: str, ours: Iterable[object] = (), source: object = "") -> NoReturn:
    """Raise what the compiler's first error says, with a place outside of our folders, or in the user's source.

    Raises:
        UnsupportedError: the source names what no kernel of this device can do.
        KernelCompileError: every other error.
    """
    found = _MESSAGE.search(output)
    if found is None:
        text = output.strip() or "the compiler failed without a message"
        raise KernelCompileError(f"kernel {name} does not compile: {_shorten(text)}", kernel=name)
    text = found["text"]
    file, line = _place(found, output, str(source), tuple(map(str, ours)))
    header = _HEADER.search(text)
    named, groups = (header[1], _REFUSED_HEADERS) if header else (_quoted(text), _REFUSED)
    for pattern, reason in groups:
        if re.fullmatch(pattern, named):
            raise UnsupportedError(f"{file}:{line}: {named}: {reason}")
    if header:
        text += "; headers of the official package are ours here, those of the user are looked for beside the source, "
        text += "below TT_METAL_HOME and below the folder of set_root_dir"
    context = _context(output, found.end())
    raise KernelCompileError(f"{file}:{line}: error: {text}{context}", kernel=name, line=line, file=file)


def _place(found: re.Match[str], output: str, source: str, ours: tuple[str, ...]) -> tuple[str, int]:
    """Return file and line of an error; for one in our headers those of the user's line that brought it about."""
    places = [found, *_NOTE.finditer(output, found.end()), *_INCLUDED.finditer(output, 0, found.start())]
    # A text is kept in a folder of ours, as the user's source.
    of_user = (place for place in places if place["file"] == source or not place["file"].startswith(ours))
    place = next(of_user, found)
    return place["file"], int(place["line"])


def _quoted(text: str) -> str:
    """Return the first name that a message quotes."""
    found = re.search(r"'([^']*)'", text)
    return found[1] if found else ""


def _context(output: str, end: int) -> str:
    """Return the lines that the compiler shows under its first error."""
    lines = []
    for line in output[end:].splitlines()[1:7]:
        if _MESSAGE.match(line) or re.match(r"^\d+ errors? generated", line):
            break
        lines.append(line)
    return "".join(f"\n{line}" for line in lines)


def raise_link_error(name: str, output: str) -> NoReturn:
    """Raise what the linker says.

    Raises:
        KernelCompileError: always.
    """
    lines = [line.removeprefix("ld.lld: ").removeprefix("error: ") for line in output.splitlines() if line.strip()]
    raise KernelCompileError(f"kernel {name} does not link: {_shorten('; '.join(lines))}", kernel=name)


def _shorten(text: str, limit: int = 2000) -> str:
    return text if len(text) <= limit else text[:limit] + " ..."

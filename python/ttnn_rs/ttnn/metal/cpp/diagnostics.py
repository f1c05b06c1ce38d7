"""Compiler messages as errors, with the user's file and line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple, NoReturn

from ttnn.base.exceptions import KernelCompileError, UnsupportedError

_HEADER = re.compile(r"'([^']*)' file not found")


class _Patterns(NamedTuple):
    """Patterns of compiler messages: errors, notes, and lines that include a file."""

    error: re.Pattern[str]
    note: re.Pattern[str]
    included: re.Pattern[str]


@lru_cache(maxsize=16)
def _patterns(paths: tuple[str, ...]) -> _Patterns:
    """Return patterns of messages about these files.

    Their names may have colons and newlines.
    """
    known = "".join(f"{re.escape(path)}|" for path in sorted(paths, key=len, reverse=True))
    place = rf"(?P<file>{known}[^\n:]+):(?P<line>\d+)"
    return _Patterns(
        re.compile(rf"^{place}:\d+: (?:fatal )?error: (?P<text>.*)$", re.MULTILINE),
        re.compile(rf"^{place}:\d+: note: ", re.MULTILINE),
        re.compile(rf"^(?:In file included from|\s+from) {place}[:,]", re.MULTILINE),
    )


_INSTRUCTIONS = "Tensix instructions of one's own are not modelled; use the functions of the compute API"
_COMMAND_BUFFERS = "the NoC's command buffers are not modelled; use the noc_async_ functions"
_FABRIC = "this part of the fabric is not modelled"
_REGISTERS = "registers of the chip are not modelled"
_BELOW = "this name below the compute API is not modelled; use the functions of the compute API"

_ETHERNET = "Ethernet cores are not modelled"
_HOST = "sockets to and from the host are not modelled"

_REFUSED: tuple[tuple[str, str], ...] = (
    (r"TTI?_[A-Z]\w*|ckernel_template|ckernel_unpack_template|lltt|instrn_buffer|TT_OP_\w*", _INSTRUCTIONS),
    (r"p_[a-z]\w*|addr_mod_t|ADDR_MOD_\d|SFP(?!U_OP_)[A-Z]\w*", _INSTRUCTIONS),
    (r"NOC_(?:STREAM|CMD|CTRL|TARG|RET|PACKET|STATUS)_\w+|NIU_\w+|NOC_\w*_REG\w*", _COMMAND_BUFFERS),
    (r"ncrisc_noc_\w+|noc_fast_\w+|noc_\w+_issued|noc_\w+_acked", _COMMAND_BUFFERS),
    (r"tt_fabric|tt::tt_fabric", _FABRIC),
    (r"eth_\w+", _ETHERNET),
    (r"CQ_NOC_\w+", _HOST),
    (r"reduce_\w+_v2", "names of 2023 are not modelled; use reduce_init, reduce_tile and reduce_uninit"),
    (r"reg_read|reg_write|cfg_\w+|get_cfg_pointer|[A-Z]\w+_ADDR32|TENSIX_\w+", _REGISTERS),
)
"""Names that no kernel may use here, with the reason."""
_LOW_LEVEL = re.compile(
    r"_?llk_\w+|_[a-z]\w*_|_sfpu_\w+|t6_semaphore_\w+|semaphore_(?:read|post|get)|mop_(?:run|cfg)\w*|regfile|Srcs|"
    r"get_dest_buffer_base|get_dest_max_tiles\w*|math_dest_wait|math_unpack_to_dest_\w+|TDMA_\w+|THCON_\w+|"
    r"DEST_(?:TARGET|REGISTER|NUM|FACE)\w*|tensix_sync|semaphore|wait_for_(?:next_context|idle)|trisc_\w+|"
    r"(?:switch|reset)_config_context|mailbox_\w+|sfpu_reciprocal_iter|dynamic_noc_\w+"
)
"""Official compute API header names; missing ones are refused."""
_REFUSED_HEADERS: tuple[tuple[str, str], ...] = (
    (r".*fabric.*|.*socket.*|.*tt_uva.*", _FABRIC),
    (r".*ethernet.*|.*erisc.*|eth_.*", _ETHERNET),
    (r"lltt\.h", _INSTRUCTIONS),
    (r"debug_print\.h", "the print header of 2023 is not modelled; include debug/dprint.h"),
    (
        r".*dprint_tensix\w*\.h",
        "prints of the chip's registers are not modelled; print tiles of buffers with TileSlice",
    ),
    (r"(?:.*/)?(?:ckernel|llk|cunpack|cpack|cmath)_\w+\.h", "this header below the compute API is not modelled"),
    (r"api/compute/experimental/.*", "experimental headers have no known bits; use the functions of api/compute"),
    (r"api/dataflow/prefetcher_pipe\.h", "pipes of the prefetcher are not modelled"),
    (r"(?:.*/)?dev_msgs\.h", "headers of the firmware are not modelled"),
    (r"(?:.*/)?circular_buffer_init\.h", "headers of the firmware are not modelled"),
    (r"(?:blackhole|quasar)/.*", "headers of one chip are not modelled; include the header without its folder"),
)
_MEMBER = re.compile(
    r"no (?:member|template|type) named '(\w+)' in (?:namespace )?'(?:sfpi|ckernel|ckernel::\w+|sfpu|math)(?:::.*)?'"
)
"""An official name in these namespaces that our headers lack."""


def missing_header(output: str) -> str:
    """Return the header the compiler missed, empty for other first errors."""
    found = re.search(r"error: (.*)$", output, re.MULTILINE)
    header = _HEADER.search(found[1]) if found else None
    return header[1] if header else ""


def raise_compile_error(
    name: str,
    output: str,
    ours: Iterable[object] = (),
    source: object = "",
    paths: Iterable[str] = (),
    refused: Mapping[str, str] | None = None,
) -> NoReturn:
    """Raise the compiler's first error, located in the user's source.

    Or elsewhere outside of our folders.

    Args:
        name: The kernel.
        output: The compiler's messages.
        ours: Folders of ours.
        source: The path of the user's source.
        paths: Files that the compiler has seen.
        refused: Why it has not seen others, by the name in the source.

    Raises:
        UnsupportedError: the source names what no kernel of this device can do.
        KernelCompileError: every other error.
    """
    patterns = _patterns(tuple(paths))
    found = patterns.error.search(output)
    if found is None:
        text = output.strip() or "the compiler failed without a message"
        raise KernelCompileError(f"kernel {name} does not compile: {_shorten(text)}", kernel=name)
    text = found["text"]
    file, line = _place(found, output, patterns, str(source), tuple(map(str, ours)))
    header = _HEADER.search(text)
    named, groups = (header[1], _REFUSED_HEADERS) if header else (_quoted(text), _REFUSED)
    if header and refused and header[1] in refused:
        text = (
            f"'{header[1]}' is not included: {refused[header[1]]}. Name its folder with set_root_dir, TT_METAL_HOME or "
        )
        text += "the include paths of the kernel"
        raise KernelCompileError(f"{file}:{line}: error: {text}", kernel=name, line=line, file=file)
    for pattern, reason in groups:
        if re.fullmatch(pattern, named):
            raise UnsupportedError(f"{file}:{line}: {named}: {reason}")
    if _LOW_LEVEL.fullmatch(named) and re.match(
        "use of undeclared identifier|unknown type name|no template named", text
    ):
        raise UnsupportedError(f"{file}:{line}: {named}: {_BELOW}")
    if member := _MEMBER.search(text):
        raise UnsupportedError(f"{file}:{line}: {member[1]}: {_BELOW}")
    if header:
        text += "; official headers are those of this package, user headers are searched next to the source, "
        text += "below TT_METAL_HOME and TT_METAL_RUNTIME_ROOT, and below the folder of set_root_dir"
    context = _context(output, found.end(), patterns)
    raise KernelCompileError(f"{file}:{line}: error: {text}{context}", kernel=name, line=line, file=file)


def _place(
    found: re.Match[str], output: str, patterns: _Patterns, source: str, ours: tuple[str, ...]
) -> tuple[str, int]:
    """Return an error's file and line.

    For one in our headers those of the user's line that caused it.
    """
    notes = patterns.note.finditer(output, found.end())
    places = [found, *notes, *patterns.included.finditer(output, 0, found.start())]
    # A text is kept in a folder of ours, as the user's source.
    of_user = (place for place in places if place["file"] == source or not place["file"].startswith(ours))
    place = next(of_user, found)
    return place["file"], int(place["line"])


def _quoted(text: str) -> str:
    """Return the first name that a message quotes."""
    found = re.search(r"'([^']*)'", text)
    return found[1] if found else ""


def _context(output: str, end: int, patterns: _Patterns) -> str:
    """Return the lines that the compiler shows under its first error."""
    lines = []
    for line in output[end:].splitlines()[1:7]:
        if patterns.error.match(line) or re.match(r"^\d+ errors? generated", line):
            break
        lines.append(line)
    return "".join(f"\n{line}" for line in lines)


def raise_link_error(name: str, output: str) -> NoReturn:
    """Raise the linker's error.

    Raises:
        KernelCompileError: always.
    """
    lines = [line.removeprefix("ld.lld: ").removeprefix("error: ") for line in output.splitlines() if line.strip()]
    raise KernelCompileError(f"kernel {name} does not link: {_shorten('; '.join(lines))}", kernel=name)


def _shorten(text: str, limit: int = 2000) -> str:
    return text if len(text) <= limit else text[:limit] + " ..."

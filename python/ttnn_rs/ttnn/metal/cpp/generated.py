"""A kernel's generated header.

Processor, banks, tables of circular buffers, arguments, defines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from ttnn import _engine
from ttnn.base.exceptions import KernelArgumentError
from ttnn.metal.cpp.spec import BRISC, NCRISC, CbFormat, Chip, ComputeSettings, KernelSettings

_CBS = 32
_INVALID = 0xFF
_FLOAT32, _FLOAT16_B, _TF32 = 0, 5, 4


def generated_header(settings: KernelSettings) -> str:
    """Return the text of the header.

    Raises:
        KernelArgumentError: a name of a define or an argument that C++ cannot have.
    """
    parts = [
        ["#pragma once"],
        _processor(settings),
        _chip(settings.chip),
        _tables(settings.buffers, settings.compute),
        _remotes(settings.remotes),
        _arguments(settings),
        _defines(settings.defines),
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


def _processor(settings: KernelSettings) -> Iterator[str]:
    yield "#define KERNEL_BUILD 1"
    if settings.processor == BRISC:
        yield "#define COMPILE_FOR_BRISC 1"
        yield "#define PROCESSOR_INDEX 0"
    elif settings.processor == NCRISC:
        yield "#define COMPILE_FOR_NCRISC 1"
        yield "#define PROCESSOR_INDEX 1"
    else:
        # One image is used for the three threads.
        yield "#define COMPILE_FOR_TRISC 1"
        yield "#define PROCESSOR_INDEX 3"
        for thread in ("UNPACK", "MATH", "PACK"):
            yield f"#define UCK_CHLKC_{thread} 1"
            yield f"#define TRISC_{thread} 1"
        compute = settings.compute or ComputeSettings()
        yield f"#define TTNN_RS_FIDELITY {compute.fidelity}"
        yield f"#define TTNN_RS_APPROX {int(compute.approximate)}"
        yield f"#define TTNN_RS_DST32 {int(compute.dst32)}"
        yield f"#define TTNN_RS_FULL_SYNC {int(compute.full_sync)}"
    yield f"#define NOC_INDEX {settings.noc_index}"
    yield f"#define NOC_MODE {settings.noc_mode}"


def _chip(chip: Chip) -> Iterator[str]:
    yield f"#define ARCH_{chip.arch} 1"
    yield f"#define NUM_DRAM_BANKS {len(chip.dram_banks)}"
    yield f"#define NUM_L1_BANKS {len(chip.l1_banks)}"
    for kind, banks in (("DRAM", chip.dram_banks), ("L1", chip.l1_banks)):
        if len(banks) & (len(banks) - 1):
            yield f"#define IS_NOT_POW2_NUM_{kind}_BANKS 1"
        else:
            yield f"#define LOG_BASE_2_OF_NUM_{kind}_BANKS {len(banks).bit_length() - 1}"
    yield f"#define L1_ALIGNMENT {chip.l1_alignment}"
    yield f"#define DRAM_ALIGNMENT {chip.dram_alignment}"
    if chip.packet_header:
        yield f"#define TTNN_RS_FABRIC_HEADER_BYTES {chip.packet_header}"
        yield f"#define TTNN_RS_PACKET_HEADER_POOL {chip.header_pool}"
    yield "namespace ttnn_rs {"
    for kind, banks in (("dram", chip.dram_banks), ("l1", chip.l1_banks)):
        values = ", ".join(str(y << 6 | x) for x, y in banks)
        where = '__attribute__((section(".tt_strings")))'
        yield f"inline constexpr std::uint16_t {kind}_bank_xy[] {where} = {{{values}}};"
    yield "}"


def _faces(form: CbFormat) -> tuple[int, int, int]:
    """Return rows of a face, and faces down and across."""
    return min(form.height, 16), max(1, form.height // 16), max(1, form.width // 16)


def _register_format(form: CbFormat, compute: ComputeSettings | None) -> int:
    """Return the format that a datum has between L1 and the registers."""
    if form.format == _FLOAT32:
        return _TF32 if compute is not None and compute.dst32 else _FLOAT16_B
    return form.format


def _tables(buffers: Mapping[int, CbFormat], compute: ComputeSettings | None) -> Iterator[str]:
    fields: list[tuple[str, str, int, Callable[[CbFormat], int]]] = [
        ("src_format", "uint8_t", _INVALID, lambda form: form.format),
        ("dst_format", "uint8_t", _INVALID, lambda form: form.format),
        ("tile_num_faces", "uint8_t", 4, lambda form: _faces(form)[1] * _faces(form)[2]),
        ("partial_face", "uint8_t", 0, lambda form: int(form.height < 16)),
        ("tile_face_r_dim", "uint8_t", 16, lambda form: _faces(form)[0]),
        ("narrow_tile", "uint8_t", 0, lambda form: int(form.width < 32)),
        ("tile_r_dim", "uint8_t", 32, lambda form: form.height),
        ("tile_c_dim", "uint8_t", 32, lambda form: form.width),
        ("num_faces_r_dim", "uint8_t", 2, lambda form: _faces(form)[1]),
        ("num_faces_c_dim", "uint8_t", 2, lambda form: _faces(form)[2]),
        ("tile_size", "uint16_t", 0, lambda form: int(_engine.tile_bytes(form.format, form.height, form.width))),
    ]
    for side, register in (("unpack", "dst_format"), ("pack", "src_format")):
        if side == "pack" and compute is None:
            return
        for name, kind, empty, value in fields:
            if name == register:
                cells = [_register_format(buffers[cb], compute) if cb in buffers else empty for cb in range(_CBS)]
            else:
                cells = [value(buffers[cb]) if cb in buffers else empty for cb in range(_CBS)]
            text = ", ".join(map(str, cells))
            yield f"inline constexpr std::{kind} {side}_{name}[{_CBS}] = {{{text}}};"


def _remotes(remotes: Mapping[int, tuple[int, int]]) -> Iterator[str]:
    if remotes:
        ends = ", ".join(f"{{{cb}, {config}u, {page}u}}" for cb, (config, page) in sorted(remotes.items()))
        yield f"#define TTNN_RS_REMOTES {ends}"


def _arguments(settings: KernelSettings) -> Iterator[str]:
    if settings.compile_args:
        yield f"#define KERNEL_COMPILE_TIME_ARGS {', '.join(f'{value}u' for value in settings.compile_args)}"
    if settings.named_compile_args:
        pairs = (f"{{{_quoted(name)}, {value & 0xFFFFFFFF}u}}" for name, value in settings.named_compile_args.items())
        yield f"#define KERNEL_COMPILE_TIME_ARG_MAP {', '.join(pairs)}"


def _quoted(text: str) -> str:
    """Return a string literal of C++."""
    escaped = re.sub(r'[\\"]', r"\\\g<0>", text)
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\{ord(found[0]):03o}", escaped) + '"'


_DEFINED_NAME = re.compile(r"[A-Za-z_]\w*(\([\w \t,.]*\))?")
_PIECE = re.compile(
    r"""\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\((?:.*?\)(?P=mark)"|(?P<open_raw>.*))
    |/\*(?:(?P<comment>.*?\*/)|(?P<open_comment>.*))
    |(?P<line>//[^\n]*)
    |(?P<plain>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[^"'/uULR]+|.)""",
    re.DOTALL | re.VERBOSE,
)
"""A raw string, a comment, or other code."""


def _one_line(name: str, value: str) -> str:
    """Return a define's value in one line, without comments."""
    if "\0" in value:
        raise KernelArgumentError(f"defines: the value of {name} has a NUL character: {value[:200]!r}")
    text = re.sub(r"\\[ \t]*\n", "", value.replace("\r\n", "\n").replace("\r", "\n"))
    parts = []
    for piece in _PIECE.finditer(text):
        if piece["open_comment"] is not None or piece["open_raw"] is not None:
            what = "raw string" if piece["open_comment"] is None else "comment"
            raise KernelArgumentError(f"defines: the value of {name} does not end its {what}: {value[:200]!r}")
        if piece["comment"] is not None or piece["line"] is not None:
            parts.append(" ")
        else:
            # Lines of a raw string are part of it.
            parts.append(piece[0] if piece["plain"] is None else piece[0].replace("\n", " "))
    line = "".join(parts)
    # A backslash at the end would continue the line.
    return f"{line} /**/" if line.rstrip().endswith("\\") else line


def _defines(defines: Mapping[str, str]) -> Iterator[str]:
    for name, value in defines.items():
        if not _DEFINED_NAME.fullmatch(name):
            raise KernelArgumentError(f"defines: {name!r} is not a valid C++ macro name")
        yield f"#ifndef {name.partition('(')[0]}"
        yield f"#define {name} {_one_line(name, str(value))}"
        yield "#endif"

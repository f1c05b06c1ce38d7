"""The SFPU functions' header, generated from tables of `ttnn.kernel_api`.

A function has one entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

from ttnn import _engine
from ttnn.kernel_api.sfpu_functions import (
    Approximable,
    Binary,
    FacedBinary,
    InitParameters,
    Packed,
    Ternary,
    Tiles,
    Unary,
)

_MODULES = ("sfpu", "sfpu_binary", "sfpu_integers", "sfpu_special", "sfpu_topk", "sfpu_variants")
_FP32 = "bool is_fp32_dest_acc_en = DST_ACCUM_MODE"
_FORMAT = f"DataFormat data_format = DataFormat::Float32, {_FP32}"
_INTEGER = "DataFormat data_format = DataFormat::Int32"
_ROUNDED = {"add_binary_tile": "add", "sub_binary_tile": "sub", "rsub_binary_tile": "rsub"}
"""Functions with a variant that rounds sums to nearest even."""
_ROUNDING = f"DstRoundingMode dst_rounding_mode = DstRoundingMode::Default, {_FP32}"
_FAST = f"bool fast_and_approx = false, {_FP32}"
_TEMPLATES: dict[str, str] = {
    **dict.fromkeys(_ROUNDED, _ROUNDING),
    **dict.fromkeys(
        ("where_tile", "lerp_tile", "addcmul_tile", "addcdiv_tile", "mac_tile", "snake_beta_tile", "logical_not_tile"),
        _FORMAT,
    ),
    **dict.fromkeys(
        (
            *("bitwise_and_tile", "bitwise_or_tile", "bitwise_xor_tile", "left_shift_tile", "right_shift_tile"),
            *("bitwise_and_binary_tile", "bitwise_or_binary_tile", "bitwise_xor_binary_tile"),
        ),
        _INTEGER,
    ),
}
"""Template parameters that are not the usual one, with the official names."""
_APPROXIMATE: dict[str, tuple[str, str]] = {
    "recip_tile": (
        "auto dest_acc = true, ReciprocalApproxMode approximation = ReciprocalApproxMode::Default",
        "approximation == ReciprocalApproxMode::Default ? APPROX : approximation == ReciprocalApproxMode::Approximate",
    ),
    "sqrt_tile": (f"bool FAST_APPROX = false, {_FP32}", "FAST_APPROX"),
    "sigmoid_tile": (f"auto vec_mode = VectorMode::RC, {_FAST}", "fast_and_approx"),
    "sigmoid_tile_pack": (f"auto vec_mode = VectorMode::RC, {_FAST}", "fast_and_approx"),
    "gelu_tile": (f"bool fast_and_approx = true, {_FP32}", "fast_and_approx"),
    "gelu_tile_pack": (f"bool fast_and_approx = true, {_FP32}", "fast_and_approx"),
    "gelu_tanh_tile": (f"{_FP32}, bool fast = false", "fast"),
    "erf_tile": (f"bool fast_and_approx = true, {_FP32}", "fast_and_approx"),
    "expm1_tile": (f"bool approx = false, {_FP32}", "approx"),
    "mish_tile": (f"bool APPROXIMATION_MODE = false, {_FP32}", "APPROXIMATION_MODE"),
}  # fmt: skip
"""Template parameters of functions with an approximate variant.

They choose it; `fast_and_approx` otherwise.
"""
_APPROXIMATE_INITS: dict[str, tuple[str, str]] = {
    "sigmoid_tile": ("bool fast_and_approx = false", "fast_and_approx"),
    "sigmoid_tile_pack": ("bool fast_and_approx = false", "fast_and_approx"),
    "gelu_tanh_tile": ("bool fast = false", "fast"),
}
_SHARED_INITS = ("sqrt_tile", "rsqrt_tile")
"""Functions whose C++ init is that of both variants."""
_INIT_TEMPLATES: dict[str, str] = {
    **{f"{verb}_int_tile_init": _INTEGER for verb in ("eq", "ne", "lt", "gt", "le", "ge", "mul", "add", "sub", "rsub")},
    "mac_tile_init": "DataFormat data_format = DataFormat::Float32",
    "typecast_tile_init": "std::uint32_t IN_DTYPE = 0, std::uint32_t OUT_DTYPE = 0",
    "topk_tile_init": "bool fused = false, bool rank_stamped = false, std::uint32_t tag_bits = 16",
    "sfpu_reduce_init": f"PoolType pool_type = PoolType::SUM, DataFormat format = DataFormat::Float32, {_FP32}",
    "log_with_base_tile_init": _FAST,
    "exp2_tile_init": _FP32,
    "erfc_tile_init": "bool fast_and_approx = true",
}
_TEMPLATES["erfc_tile"] = f"bool fast_and_approx = true, {_FP32}"
_BY_HAND = ("exp_tile", "exp_packthread_tile", "rsqrt_tile")
_INITS_BY_HAND = ("exp_tile_init", "exp_packthread_tile_init", "rsqrt_tile_init")


def _modules() -> dict[str, dict[str, Any]]:
    return {name: vars(import_module(f"ttnn.kernel_api.{name}")) for name in _MODULES}


@lru_cache(maxsize=1)
def sfpu_header() -> str:
    """Return the text of the header."""
    symbols: dict[int, str] = {}
    functions: dict[str, Any] = {}
    for names in _modules().values():
        for name, value in names.items():
            for suffix, function in _functions(value):
                symbol = "f_" + "_".join([name.strip("_"), *([suffix] if suffix else [])])
                if id(function) not in symbols:
                    symbols[id(function)] = symbol
                    functions[symbol] = function
    lines = ["// Generated from the tables of ttnn.kernel_api.", "#pragma once", '#include "ttnn_rs/sfpu.h"']
    lines.append("namespace ttnn_rs {")
    titles: dict[str, None] = {}
    for symbol, function in functions.items():
        name, init = function._names
        if name in _SHARED_INITS and init.endswith("(approx=True)"):
            init = f"{name}_init"
        lines.append(_constant(symbol, name, init, function._function, function._tiles, function._makes))
        titles.setdefault(init)
    lines += _casts()
    lines += _fills()
    for entries in _modules().values():
        titles |= dict.fromkeys(value.__name__ for value in entries.values() if _is_init(value))
    kept = [value for names in _modules().values() for value in names.values() if hasattr(value, "keeps")]
    for title in titles:
        if not any(title == value.__name__ for value in kept):
            lines.append(_constant(_init_symbol(title), title, title, ("identity", "default"), 1, -1))
    for value in dict.fromkeys(kept):
        lines.append(_constant(_init_symbol(value.__name__), value.__name__, value.__name__, value.keeps, 0, -1))
    lines += ["}  // namespace ttnn_rs", "namespace ckernel {", "using ttnn_rs::Faces;"]
    public = {name: value for names in _modules().values() for name, value in names.items() if name[0] != "_"}
    for name, value in public.items():
        lines += _public(name, value, symbols)
    lines.append("}  // namespace ckernel")
    return "\n".join(lines) + "\n"


def _functions(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the engine's functions of an entry, with what tells them apart."""
    if isinstance(value, (Unary, Binary, Ternary, Tiles)):
        yield "", value
    elif isinstance(value, Approximable):
        yield "accurate", value._variants[0]
        yield "approx", value._variants[1]
    elif type(value).__name__ == "_OneTile":
        yield "", value._function
    elif type(value).__name__ in ("_ByFormat", "_Exponential"):
        yield from ((_word(key), function) for key, function in value._functions.items())
    elif isinstance(value, dict):
        found = [(key, entry) for key, entry in value.items() if isinstance(entry, (Unary, Binary, Tiles))]
        yield from ((_word(key), function) for key, function in found)


def _is_init(value: Any) -> bool:
    """Return whether an entry sets the SFPU up."""
    return getattr(getattr(value, "__code__", None), "co_name", "") == "set_up"


def _word(key: Any) -> str:
    if isinstance(key, tuple):
        return "_".join(map(_word, key))
    if isinstance(key, bool):
        return str(int(key))
    return str(getattr(key, "name", key))


def _constant(symbol: str, name: str, init: str, function: tuple[str, str], tiles: int, makes: int) -> str:
    texts = ", ".join(f'"{text}"' for text in (name, init, *function))
    return f"TTNN_RS_FUNCTION({symbol}, {texts}, {tiles}, {makes})"


def _init_symbol(title: str) -> str:
    return "i_" + re.sub(r"\W+", "_", title).strip("_")


def _casts() -> Iterator[str]:
    """Yield the conversions between formats that the SFPU has."""
    sfpu = _modules()["sfpu"]
    variants = set(_engine.sfpu_variants())
    for source in dict.fromkeys(sfpu["_NAMES"].values()):
        for target in dict.fromkeys(sfpu["_NAMES"].values()):
            function = (f"typecast_from_{source}", f"{source}_to_{target}")
            if function in variants:
                names = ("typecast_tile", "typecast_tile_init")
                yield _constant(f"f_cast_{source}_{target}", *names, function, 1, sfpu["_MAKES"][target])
    yield "constexpr const Function* cast(std::uint32_t from, std::uint32_t to) {"
    yield "    switch (from << 8 | to) {"
    for code, source in sfpu["_NAMES"].items():
        for other, target in sfpu["_NAMES"].items():
            if (f"typecast_from_{source}", f"{source}_to_{target}") in variants:
                yield f"        case {code << 8 | other}: return &f_cast_{source}_{target};"
    yield "        default: return nullptr;"
    yield "    }"
    yield "}"


def _fills() -> Iterator[str]:
    for code in (8, 9):
        yield _constant(f"f_fill_int_{code}", "fill_tile_int", "fill_tile_init", ("fill", "default"), 1, code)


def _public(name: str, value: Any, symbols: dict[int, str]) -> Iterator[str]:
    """Yield the C++ function of a public name."""
    if name in _BY_HAND:
        return
    if isinstance(value, Approximable):
        yield from _approximable(name, value, symbols)
    elif isinstance(value, (Unary, Binary, Ternary)):
        words = [f"p{i}" for i in range(value._count)]
        signature = ", ".join(f"std::uint32_t {word}" for word in (*_places(value), *words))
        template = _TEMPLATES.get(name, _FP32)
        if isinstance(value, InitParameters):
            yield from _init_parameters(name, value, symbols)
        yield f"template <{template}>"
        if isinstance(value, Unary):
            thread = "ttnn_rs::ON_PACK" if isinstance(value, Packed) else "0"
            call = ", ".join([f"ttnn_rs::{symbols[id(value)]}", "idst", "faces", thread, *words])
            yield f"ALWI void {name}({signature}, Faces faces = VectorMode::RC) {{ ttnn_rs::on_one({call}); }}"
        else:
            third = "idst2" if isinstance(value, Ternary) else "idst0"
            operands = ("idst0", "idst1", third, "odst")
            function = f"ttnn_rs::{symbols[id(value)]}"
            if name in _ROUNDED:
                rounded = f"ttnn_rs::f_{_ROUNDED[name]}_nearest_even"
                function = f"dst_rounding_mode == DstRoundingMode::NearestEven ? {rounded} : {function}"
            faced = isinstance(value, FacedBinary)
            mode = f'ttnn_rs::face_mode("{name}", faces)' if faced else "0"
            call = ", ".join([function, *operands, mode, *words])
            signature += ", Faces faces = VectorMode::RC" if faced else ""
            yield f"ALWI void {name}({signature}) {{ ttnn_rs::on_tiles({call}); }}"
    elif isinstance(value, Tiles):
        places = [f"t{i}" for i in range(value._tiles)]
        signature = ", ".join(f"std::uint32_t {place}" for place in places)
        yield f"template <{_TEMPLATES.get(name, _FP32)}>"
        yield f"ALWI void {name}({signature}) {{ {_on_list(symbols[id(value)], places)} }}"
    elif type(value).__name__ == "_OneTile":
        words = [f"p{i}" for i in range(value._count)]
        signature = ", ".join(f"std::uint32_t {word}" for word in ("idst", *words))
        yield f"template <{_TEMPLATES.get(name, _FP32)}>"
        yield f"ALWI void {name}({signature}) {{ {_on_list(symbols[id(value._function)], ['idst'], words)} }}"
    elif type(value).__name__ == "_ByFormat":
        yield from _by_format(name, value, symbols)
    elif _is_init(value) and value.__name__ not in _INITS_BY_HAND:
        yield from _init(name, value)


def _places(value: Any) -> tuple[str, ...]:
    if isinstance(value, Unary):
        return ("idst",)
    return ("idst0", "idst1", "idst2", "odst") if isinstance(value, Ternary) else ("idst0", "idst1", "odst")


def _init_parameters(name: str, value: InitParameters, symbols: dict[int, str]) -> Iterator[str]:
    """Yield the function without parameters, and its init call, which keeps them."""
    words = [f"p{i}" for i in range(value._count)]
    kept = [f"ttnn_rs_{name}_words[{i}]" for i in range(value._count)]
    yield f"inline std::uint32_t ttnn_rs_{name}_words[{value._count + 1}];"
    yield f"ALWI void {value.init_name}({', '.join(f'std::uint32_t {word}' for word in words)}) {{"
    yield f"    ttnn_rs::set_up(ttnn_rs::{_init_symbol(value.init_name)}, 0);"
    yield from (f"    {place} = {word};" for place, word in zip([*kept, _set(name, value)], [*words, "1"], strict=True))
    yield "}"
    yield f"ALWI void {name}(std::uint32_t idst) {{"
    yield f'    if (!{_set(name, value)}) {{ tt_call_invalid("{name}", "pass its parameters to {value.init_name}"); }}'
    yield f"    ttnn_rs::on_one(ttnn_rs::{symbols[id(value)]}, idst, VectorMode::RC, 0, {', '.join(kept)});"
    yield "}"


def _set(name: str, value: InitParameters) -> str:
    return f"ttnn_rs_{name}_words[{value._count}]"


def _on_list(symbol: str, places: list[str], words: list[str] | None = None) -> str:
    call = ", ".join([f"ttnn_rs::{symbol}", "tiles", *(words or [])])
    return f"const std::uint32_t tiles[] = {{{', '.join(places)}}}; ttnn_rs::on_list({call});"


def _approximable(name: str, value: Approximable, symbols: dict[int, str]) -> Iterator[str]:
    template, chosen = _APPROXIMATE.get(name, (_FAST, "fast_and_approx"))
    accurate, approximate = (f"ttnn_rs::{symbols[id(function)]}" for function in value._variants)
    thread = "ttnn_rs::ON_PACK" if isinstance(value._variants[0], Packed) else "0"
    faces = "vec_mode" if "vec_mode" in template else "VectorMode::RC"
    yield f"template <{template}>"
    yield f"ALWI void {name}(std::uint32_t idst, Faces faces = {faces}) {{"
    yield f"    ttnn_rs::on_one(({chosen}) ? {approximate} : {accurate}, idst, faces, {thread});"
    yield "}"


def _by_format(name: str, value: Any, symbols: dict[int, str]) -> Iterator[str]:
    yield f"template <{_INTEGER}>"
    yield f"ALWI void {name}(std::uint32_t idst0, std::uint32_t idst1, std::uint32_t odst) {{"
    for code, function in value._functions.items():
        yield f"    if constexpr (static_cast<int>(data_format) == {code}) {{"
        if isinstance(function, Tiles):
            yield f"        {_on_list(symbols[id(function)], ['idst0', 'idst1', 'odst'])}"
        else:
            yield f"        ttnn_rs::on_tiles(ttnn_rs::{symbols[id(function)]}, idst0, idst1, idst0, odst, 0);"
        yield "        return;"
        yield "    }"
    reason = "the SFPU does this for Int32, UInt32 and UInt16 alone"
    yield f'    ttnn_rs::unsupported("{name}", "{reason}");'
    yield "}"


def _init(name: str, value: Any) -> Iterator[str]:
    title = value.__name__
    symbol = f"ttnn_rs::{_init_symbol(title)}"
    if hasattr(value, "keeps"):
        yield "template <typename... Words>"
        yield f"ALWI void {name}(Words... words) {{ ttnn_rs::set_up_keeping({symbol}, words...); }}"
        return
    mode = "ttnn_rs::ON_PACK" if "_pack" in title else "0"
    function = title.replace("_tile_init", "_tile")
    entry = next((names[function] for names in _modules().values() if function in names), None)
    if isinstance(entry, Approximable) and function not in _SHARED_INITS:
        template, chosen = _APPROXIMATE_INITS.get(function, _APPROXIMATE.get(function, (_FAST, "fast_and_approx")))
        accurate, approximate = (f"ttnn_rs::{_init_symbol(variant.init_name)}" for variant in entry._variants)
        yield f"template <{template}>"
        yield f"ALWI void {name}() {{ ttnn_rs::set_up(({chosen}) ? {approximate} : {accurate}, {mode}); }}"
        return
    if name in _INIT_TEMPLATES:
        yield f"template <{_INIT_TEMPLATES[name]}>"
    yield f"ALWI void {name}() {{ ttnn_rs::set_up({symbol}, {mode}); }}"

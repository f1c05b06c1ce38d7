"""State set by the SFPU inits of the official headers: `rust/tt-program/src/state/compute/setups.txt`.

    python tests/metal/cpp/official_setups.py FOLDER > rust/tt-program/src/state/compute/setups.txt

FOLDER is the unpacked official wheel. Each line has an init and what it sets besides what all inits set; where a 16-bit
Dst and a 32-bit one differ, both, `-` for nothing; where `math_approx_mode` matters, both again with it.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from ttnn.metal.cpp.sfpu_header import sfpu_header

COMPUTE = "hw/inc/api/compute"
FUNCTIONS = (
    "hw/ckernels/wormhole_b0/metal/llk_api/llk_sfpu",
    "tt-llk/tt_llk_wormhole_b0/common/inc/sfpu",
    # Only for what Wormhole does not have.
    "hw/ckernels/blackhole/metal/llk_api/llk_sfpu",
)
ADDRESS_MODE = {
    "UNARY": (
        "typecast unary_max unary_min unary_max_int32 unary_min_int32 unary_max_uint32 unary_min_uint32 signbit "
        "not_equal_zero equal_zero less_than_zero greater_than_equal_zero greater_than_zero less_than_equal_zero"
    ),
    "BINARY": (
        "mul_int32 mul_uint16 max min max_int32 min_int32 max_uint32 min_uint32 lt_int gt_int le_int ge_int eq_int "
        "ne_int lt gt le ge eq ne"
    ),
    "TERNARY": "where",
}
"""Operations whose common init sets ADDR_MOD_6 to two rows."""
OFFICIAL = {
    "log2_tile_init": "log_with_base_tile_init",
    "log10_tile_init": "log_with_base_tile_init",
    "max_tile_init": "binary_max_tile_init",
    "mul_int32_tile_init": "mul_int_tile_init",
    **{f"{name}_int32_tile_init": f"{name}_int_tile_init" for name in ("eq", "ne", "lt", "gt", "le", "ge")},
}
"""Official names of inits that have another name here."""
UNIQUE = {"typecast_tile_init", "mul_int32_tile_init", "sfpu_reduce_init", "topk_tile_init", "ema_init", "welford_init"}
"""Inits with a name shared by different setups.

What they set is theirs alone.
"""
RESOURCES = ("addr_mod_6", "prgm0", "prgm1", "prgm2", "macros", "replay", "lregs", "config")
Sets = dict[str, str]


def clean(path: Path) -> str:
    """Return a header without comments and without what is for another chip."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines, kept = [], [True]
    for line in text.split("\n"):
        word = line.strip()
        if re.match(r"#\s*if", word):
            quasar = re.match(r"#\s*if(def)? (ARCH_QUASAR$|defined\(ARCH_QUASAR\)$|DISABLE_SFPLOADMACRO$)", word)
            kept.append(not quasar)
        elif re.match(r"#\s*(else|elif)", word):
            kept[-1] = bool(re.match(r"#\s*else", word)) and not kept[-1]
            kept[-1] = kept[-1] or not re.match(r"#\s*else", word)
        elif re.match(r"#\s*endif", word):
            kept.pop()
        elif all(kept) and not word.startswith("#"):
            lines.append(line)
    return "\n".join(lines)


def bodies(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, template parameters and body of void header functions."""
    head = r"(?:template\s*<([^{};]*?)>\s*)?(?:(?:sfpi_inline|inline|static|ALWI)\s+)*void\s+(\w+)\s*\([^)]*\)\s*\{"
    for found in re.finditer(head, text):
        end, depth = found.end(), 1
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield found[2], found[1] or "", " ".join(text[found.end() : end - 1].split())


class Headers:
    """The functions of the official headers."""

    def __init__(self, wheel: Path) -> None:
        root = wheel / "ttnn" / "tt_metal"
        self.inits: dict[str, tuple[str, str]] = {}
        for path in sorted((root / COMPUTE).rglob("*.h")):
            for name, template, body in bodies(clean(path)):
                if "init" in name and "sfpu" in body.lower():
                    self.inits.setdefault(name, (template, body))
        self.functions: dict[str, tuple[str, str]] = {}
        for folder in FUNCTIONS:
            for path in sorted((root / folder).glob("*.h")):
                for name, template, body in bodies(clean(path)):
                    self.functions.setdefault(name, (template, body))

    def sets(self, name: str, arguments: list[str], wide: bool) -> Sets:
        """Return what a function of the headers sets."""
        template, body = self.functions[name]
        names = [part.split("=")[0].split()[-1] for part in template.split(",") if part.strip()]
        defaults = [part.split("=")[1].strip() if "=" in part else "false" for part in template.split(",")]
        values = {
            key: arguments[index] if index < len(arguments) else default
            for index, (key, default) in enumerate(zip(names, defaults, strict=False))
        }
        values.setdefault("is_fp32_dest_acc_en", str(wide).lower())
        found: Sets = {}
        label = f"{name}<{','.join(arguments)}>"
        self._collect(body, values, label, wide, found)
        return found

    def _collect(self, body: str, values: dict[str, str], label: str, wide: bool, found: Sets) -> None:
        for text in taken(body, values):
            constants = dict(re.findall(r"(?:const|constexpr) float (\w+) = ([^;]+);", text))
            for kind, number, value in re.findall(r"vConst(Float|Int)Prgm(\d) = ([^;]+);", text):
                found[f"prgm{number}"] = word_of(value, constants, integer=kind == "Int") or label
            for number in re.findall(r"TTI_SFPCONFIG\(\s*0, (1[2-4]), 0\)", text):
                found[f"prgm{int(number) - 12}"] = label
            if rows := re.findall(r"\.dest = \{\.incr = (\d+)\},?\s*\}\s*\.set\(ADDR_MOD_6\)", text):
                found["addr_mod_6"] = rows[-1]
            if "_quant_kernels_configure_dest_incr_addrmod_" in text:
                found["addr_mod_6"] = "2"
            if re.search(r"TTI_SFPCONFIG\(\s*\S+, (0|[4-8]|0x8|4 \+ \d), [01]\)", text):
                found["macros"] = label
            if re.search(r"lltt::record|TTI_REPLAY\(|topk_replay_init", text):
                found["replay"] = label
            if re.search(r"l_reg\[|_sfpu_load_imm32_\(", text):
                found["lregs"] = label
            if re.search(r"_sfpu_load_config32_\(0xF|TTI_SFPCONFIG\(0, 0xF, 0\)", text):
                found["config"] = label
            for name, arguments in re.findall(r"\b(\w*init\w*)(?:<([^;()]*)>)?\([^;]*\);", text):
                if name in self.functions and name not in ("_init_sfpu_config_reg", "_sfpu_load_config32_"):
                    given = [truth(part.strip(), values) for part in arguments.split(",")] if arguments else []
                    found.update(self.sets(name, given, wide))


def truth(condition: str, values: dict[str, str]) -> str:
    """Return a template argument with names replaced, or its condition.

    A condition is true or false.
    """
    for _ in range(3):
        condition = re.sub(r"\b[A-Za-z_]\w*(?!::)\b(?<!::)", lambda word: values.get(word[0], word[0]), condition)
    if not re.search(r"true|false|==|!=", condition):
        return condition
    text = re.sub(r"[A-Za-z_]\w*::", "", condition)
    return str(holds(text)).lower()


def holds(condition: str) -> bool:
    """Return whether a condition of words holds."""
    if "||" in condition:
        return any(map(holds, condition.split("||")))
    if "&&" in condition:
        return all(map(holds, condition.split("&&")))
    text = condition.strip(" ()")
    if found := re.fullmatch(r"(\w+) ?(==|!=) ?(\w+)", text):
        return (found[1] == found[3]) == (found[2] == "==")
    return not holds(text[1:]) if text.startswith("!") else text == "true"


def taken(body: str, values: dict[str, str]) -> Iterator[str]:
    """Yield the parts of a body that its conditions take."""
    while found := re.search(r"if constexpr \(", body):
        yield body[: found.start()]
        rest, done = body[found.start() :], False
        while chosen := re.match(r"(?:else\s*)?(?:if constexpr \()?", rest):
            condition = "true"
            if "(" in chosen[0]:
                inner, rest = balanced(rest[chosen.end() - 1 :], "()")
                condition = truth(inner, values)
            else:
                rest = rest[chosen.end() :]
            block, rest = balanced(rest.lstrip(), "{}")
            if condition == "true" and not done:
                yield from taken(block, values)
                done = True
            rest = rest.lstrip()
            if not rest.startswith("else"):
                break
        body = rest
    yield body


def balanced(text: str, pair: str) -> tuple[str, str]:
    """Return what the first pair of brackets holds, and what follows it."""
    depth, end = 1, 1
    while depth:
        depth += {pair[0]: 1, pair[1]: -1}.get(text[end], 0)
        end += 1
    return text[1 : end - 1], text[end:]


NAMED = {"FRAC_1_PI": "0.318309886183790671538", "FRAC_2_PI": "0.636619772367581343076"}


def word_of(value: str, constants: dict[str, str], *, integer: bool) -> str:
    """Return the bits of a constant, empty if it depends on parameters."""
    total = 1.0
    if integer:
        return f"{int(value, 0):08x}" if re.fullmatch(r"0x[0-9A-Fa-f]+|\d", value) else value
    parts = re.split(r" ([*/]) ", value)
    for operator, part in zip(["*", *parts[1::2]], parts[::2], strict=True):
        text = constants.get(part, NAMED.get(part, part)).strip().rstrip("fF" if "0x" not in part else "")
        text = text[:-1] if text.endswith("f") and "p" in text else text
        try:
            number = float.fromhex(text) if "0x" in text else float(text)
        except ValueError:
            return "7fc00000" if "quiet_NaN" in text else ""
        total = total * number if operator == "*" else total / number
    return struct.pack(">f", total).hex()


def titles() -> list[str]:
    """Return the names of all inits, those of approximate variants included."""
    found = re.findall(r'TTNN_RS_FUNCTION\(\w+, "[^"]*", "([^"]*)"', sfpu_header())
    return sorted(set(found))


def row(headers: Headers, title: str) -> str:
    """Return the line of an init."""
    base, _, variant = title.partition("(")
    if base in UNIQUE:
        sets = " ".join(f"{name}={title}" for name in RESOURCES if name != "config" or base == "topk_tile_init")
        return f"{title.replace(' ', '')} {sets}"
    name = OFFICIAL.get(base, base)
    name = name if name in headers.inits else name.removesuffix("_pack")
    modes = [(approx, wide) for approx in (False, True) for wide in (False, True)]
    columns = [official_sets(headers, name, variant, *mode) for mode in modes]
    sets = []
    for resource in RESOURCES:
        values = [found.get(resource, "-") for found in columns]
        if values[:2] == values[2:]:
            values = values[:2] if values[0] != values[1] else values[:1]
        if values != ["-"]:
            sets.append(f"{resource}={'|'.join(values)}")
    return " ".join([title.replace(" ", ""), *sets])


def official_sets(headers: Headers, name: str, variant: str, approx: bool, wide: bool) -> Sets:
    """Return what an official init sets."""
    if "legacy_compat" in variant:
        # Headers before 0.81.1 have it, and it sets nothing.
        return {}
    template, body = headers.inits[name]
    values = {part.split("=")[0].split()[-1]: "false" for part in template.split(",") if part.strip()}
    approximate = "approx=True" in variant
    for key in values:
        if re.search(r"approx|fast|APPROX", key):
            values[key] = str(approximate).lower()
    clamping = "None" if "NONE" in variant else "ClampToNegative"
    values |= {
        **dict.fromkeys(("is_fp32_dest_acc_en", "DST_ACCUM_MODE"), str(wide).lower()),
        "APPROX": str(approx).lower(), "approximate": str(approximate).lower(),
        "input_clamping": f"InputClamping::{clamping}", "rank_stamped": "false", "scale": "0x3F800000",
    }  # fmt: skip
    found: Sets = {}
    for part in taken(body, values):
        for kind, operation, function, arguments in re.findall(
            r"SFPU_(UNARY|BINARY|TERNARY)_INIT\w*\(\s*(\w+)(?:,\s*([\w:]+))?"
            r"(?:,\s*\(((?:[^()]|\([^()]*\))*)\))?",
            part,
        ):
            if operation in ADDRESS_MODE[kind].split():
                found["addr_mod_6"] = "2"
            # Without a function it is that of the operation.
            function = function or f"{operation}_init"
            if function.split("::")[-1] in headers.functions:
                given = [truth(word.strip(), values) for word in re.split(r",\s*", arguments)] if arguments else []
                found.update(headers.sets(function.split("::")[-1], given, wide))
            if operation == "reciprocal":
                break
        for function, arguments in re.findall(
            r"sfpu_init<\s*SfpuType::\w+>\(\s*(?:ckernel::)?sfpu::(\w+)(?:<([^;]*)>)?\)", part
        ):
            found.update(
                headers.sets(function, [truth(w.strip(), values) for w in (arguments or "").split(",") if w], wide)
            )
    return found


def main() -> None:
    """Print the table."""
    headers = Headers(Path(sys.argv[1]))
    for title in titles():
        print(row(headers, title))


if __name__ == "__main__":
    main()

"""FPU, packer, unpacker and SFPU primitives: `fpu/*.npz`.

One engine step per array.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ttnn import _engine
from ttnn.cli.goldens.chips import Chip
from ttnn.cli.goldens.registers import FIDELITIES, FORMAT, Words, bf16_to_dst, dst16, fp16_to_dst
from ttnn.cli.goldens.walk import Archive, Checker, Computed, Verdict, no_checker

SCALER_BITS = {"one": 0x3F800000, "inv32": 0x3D000000, "arb": 0x3F350000}
"""FP32 bits of the scalers.

0.7071 rounds to the same value in BF16 and in FP16.
"""


def checker_of(name: str) -> Checker:
    """Return what checks the file `name` of `fpu/`."""
    return next((checker for pattern, checker in _CHECKERS if re.fullmatch(pattern, name)), no_checker)


def _operand_formats(stem: str) -> tuple[int, int]:
    names = stem.split("_", 1)[1].split("_x_")
    return FORMAT[names[0]], FORMAT[names[-1]]


def _result(dst: Words, *, wide: bool, fp16: bool) -> np.ndarray:
    return dst if wide else dst16(dst, fp16=fp16)


def _matmul(path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    in0, in1 = _operand_formats(path.stem)
    for k in ("k1", "k8"):
        for width in ("dst16", "dst32"):
            if f"{k}_{width}" not in archive:
                continue
            wide = width == "dst32"
            left, right = archive[f"{k}_in0"], archive[f"{k}_in1"]
            results = [
                _engine.matmul_tiles(left, right, (in0, in1), (fidelity, wide, chip.number)) for fidelity in FIDELITIES
            ]
            values = _result(np.stack(results, axis=1), wide=wide, fp16=in0 == FORMAT["fp16"])
            yield Computed(f"{k}_{width}", values)


def _matmul_end_to_end(_path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    for name in archive:
        found = re.fullmatch(r"(.+)__out_(dst16|dst32)", name)
        if not found:
            continue
        case, width = found.groups()
        formats = re.fullmatch(r"(.+?)(?:_x_(.+)_to_(.+))?__k\d+", case)
        assert formats is not None, f"unexpected array {name}"
        first = formats[1]
        in0, in1, out = FORMAT[first], FORMAT[formats[2] or first], formats[3] or first
        wide = width == "dst32"
        left, right = archive[f"{case}__in0"][None], archive[f"{case}__in1"][None]
        packed = []
        for fidelity in FIDELITIES:
            dst = _engine.matmul_tiles(left, right, (in0, in1), (fidelity, wide, chip.number))
            intermediate = _intermediate(out, wide=wide)
            packed.append(_engine.pack_tiles(dst, ("fp32" if wide else "bf16", intermediate, FORMAT[out])))
        yield Computed(name, np.concatenate(packed))


def _intermediate(output: str, *, wide: bool) -> int:
    """Format between Dst and the packer's second step, per operator."""
    if output.startswith("bfp"):
        return FORMAT["bfp8_b"]
    return FORMAT["fp32"] if output == "fp32" and wide else FORMAT["bf16"]


_ELTWISE = re.compile(r"(add|sub|mul)(acc|col|row|scalar)?_(dst16|dst32)")
_BROADCAST = {None: "none", "acc": "none", "col": "column", "row": "row", "scalar": "scalar"}
ACCUMULATED = 3
"""Number of additions to Dst in the `acc` arrays."""


def _eltwise(path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    in0, in1 = _operand_formats(path.stem)
    for name, expected in archive.items():
        found = _ELTWISE.fullmatch(name)
        if not found:
            continue
        op, form, width = found.groups()
        wide = width == "dst32"
        fidelities = FIDELITIES if expected.ndim == 4 else (4,)
        results = [
            _engine.eltwise_tiles(
                archive["in0"],
                archive["in1"],
                (in0, in1),
                (op, _BROADCAST[form]),
                ACCUMULATED if form == "acc" else 1,
                (fidelity, wide, chip.number),
            )
            for fidelity in fidelities
        ]
        stacked = np.stack(results, axis=1) if expected.ndim == 4 else results[0]
        yield Computed(name, _result(stacked, wide=wide, fp16=in0 == FORMAT["fp16"]))


_REDUCE = re.compile(r"(sum|max)(2?)_(row|col|scalar)(?:_(one|inv32|arb))?_(dst16|dst32)")
_DIM = {"row": "row", "col": "column", "scalar": "scalar"}


def _reduce(path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    name_of_format = path.stem.split("_", 1)[1]
    fp16 = name_of_format == "fp16"
    for name, expected in archive.items():
        found = _REDUCE.fullmatch(name)
        if not found:
            continue
        pool, two, dim, scaler, width = found.groups()
        wide = width == "dst32"
        tiles = archive["in"] if two else archive["in"][:, :1]
        bits = SCALER_BITS[scaler or "one"]
        results = [
            _engine.reduce_tiles(
                np.ascontiguousarray(tiles),
                FORMAT[name_of_format],
                bits,
                (pool, _DIM[dim]),
                (fidelity, wide, chip.number),
            )
            for fidelity in (FIDELITIES if pool == "sum" else (4,))
        ]
        picked = [{"row": dst[:, :, 0], "col": dst[:, 0, :], "scalar": dst[:, 0, :1]}[dim] for dst in results]
        stacked = np.stack(picked, axis=1) if expected.ndim == 3 else picked[0]
        yield Computed(name, _result(stacked, wide=wide, fp16=fp16))


def _mvmul_step(_path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    for name in archive:
        found = re.fullmatch(r"((e8|e5)_(dst16|dst32)_phase(\d))_out", name)
        if not found:
            continue
        step, family, width, phase = found.groups()
        yield Computed(
            name,
            _engine.mvmul_steps(
                archive[f"{step}_a"],
                archive[f"{step}_b"],
                archive[f"{step}_d"],
                family,
                (int(phase), width == "dst32", chip.number),
            ),
        )


_PACK = re.compile(r"(dst16|dst32)_(\w+?)_to_(\w+)__(?:l1|l1_after)")


def _pack_formats(case: re.Match[str]) -> tuple[str, int, int]:
    width, intermediate, output = case.groups()
    dst_format = {"int32": "int32", "int8": "int32", "uint8": "int32", "uint16": "uint16"}.get(intermediate)
    if dst_format is None:
        dst_format = "fp32" if width == "dst32" else "fp16" if intermediate in ("fp16", "bfp8a") else "bf16"
    if output == "fp8_e4m3":
        # Made of FP16; the vectors name what Dst holds before that step.
        intermediate = "fp16"
    # The vectors call the packer's 8-bit-exponent, 6-bit-mantissa intermediate "bfp8"; its code is that of BFP8_b.
    return dst_format, FORMAT["bfp8_b" if intermediate == "bfp8" else intermediate], FORMAT[output]


def _dst_words(values: np.ndarray, dst_format: str) -> Words:
    if dst_format == "fp16":
        return fp16_to_dst(values.astype(np.uint16))
    if dst_format == "bf16":
        return bf16_to_dst(values)
    return values.astype(np.uint32)


def _pack(_path: Path, archive: Archive, _chip: Chip) -> Iterator[Verdict]:
    for name in archive:
        found = _PACK.fullmatch(name)
        if not found:
            continue
        case = name.rsplit("__", 1)[0]
        dst_format, intermediate, output = _pack_formats(found)
        dst = _dst_words(archive[f"{case}__dst"], dst_format)
        if f"{case}__mode" in archive:
            modes, thresholds = archive[f"{case}__mode"], archive[f"{case}__threshold"]
            rows = [
                _engine.pack_tiles(dst[i : i + 1], (dst_format, intermediate, output), (int(mode), int(threshold)))
                for i, (mode, threshold) in enumerate(zip(modes, thresholds, strict=True))
            ]
            yield Computed(name, np.concatenate(rows))
        else:
            before = archive.get(f"{case}__l1_before")
            yield Computed(name, _engine.pack_tiles(dst, (dst_format, intermediate, output), (0, 0), before))


_UNPACK = re.compile(r"(\w+?)_to_(src|dst32)(?:_(\w+))?__(?:src19|dst)")
_REGISTER = {"fp8_e4m3": "fp16"}
"""Register formats that are not those in L1."""


def _unpack(_path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    for name in archive:
        found = _UNPACK.fullmatch(name)
        if not found:
            continue
        source, target, register = found.groups()
        l1 = archive[name.rsplit("__", 1)[0] + "__l1"]
        formats = FORMAT[source], FORMAT[register or _REGISTER.get(source, source)]
        yield Computed(name, _engine.unpack_tiles(l1, *formats, target == "dst32", chip.number))


def _datacopy(_path: Path, archive: Archive, _chip: Chip) -> Iterator[Verdict]:
    for name in archive:
        if not name.endswith("__dst"):
            continue
        case = name.removesuffix("__dst")
        wide = case.endswith("_dst32")
        source = case.removesuffix("_dst32").removesuffix("_tf32")
        dst = _engine.datacopy_tiles(archive[f"{case}__l1"], FORMAT[source], wide)
        yield Computed(name, dst if wide else dst16(dst, fp16=source == "fp16").astype(np.uint32))


def _sfpu_convert(_path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    for name in archive:
        found = re.fullmatch(r"(store|load|round|cast)_(\w+)__(lreg|dst|out)", name)
        if not found:
            continue
        step, mode, side = found.groups()
        source = {"store": "lreg", "load": "dst", "round": "in", "cast": "in"}[step]
        if side == source:
            continue
        words = archive[f"{step}_{mode}__{source}"]
        if step == "load":
            values = _engine.sfpu_load(mode, words, chip.number)
        elif step == "store":
            values = _engine.sfpu_store(mode, words, chip.number)
        else:
            values = _engine.sfpu_round(mode, words) if step == "round" else _engine.sfpu_cast(mode, words)
        yield Computed(name, values)


_PRIMITIVES = {
    "cast_int32_to_sm32": (("in",), ("out",)),
    "arecip": (("in",), ("out",)),
    "mul24": (("a", "b"), ("lower", "upper")),
    "compare": (("a", "b"), ("gt", "le")),
    "ashift": (("in", "by"), ("out",)),
}
"""Operands and results of the operations that come with Blackhole."""


def _sfpu_primitives(_path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    for step, (operands, results) in _PRIMITIVES.items():
        words = [archive[f"{step}__{operand}"] for operand in operands]
        for result, values in zip(results, _engine.sfpu_primitive(step, words, chip.number), strict=True):
            name = f"{step}__{result}"
            yield Computed(name, values.astype(archive[name].dtype))


def _sfpu_fma(_path: Path, archive: Archive, _chip: Chip) -> Iterator[Verdict]:
    x, y, z = archive["x"], archive["y"], archive["z"]
    for arch, name in enumerate(("wormhole", "blackhole")):
        yield Computed(name, _engine.sfpu_fma(x, y, z, arch))


_CHECKERS: tuple[tuple[str, Checker], ...] = (
    (r"matmul_end_to_end\.npz", _matmul_end_to_end),
    (r"matmul_\w+\.npz", _matmul),
    (r"eltwise_\w+\.npz", _eltwise),
    (r"reduce_\w+\.npz", _reduce),
    (r"mvmul_step\.npz", _mvmul_step),
    (r"pack(_relu|_l1acc|_fp8)?\.npz", _pack),
    (r"unpack(_fp8)?\.npz", _unpack),
    (r"datacopy_mova2d\.npz", _datacopy),
    (r"sfpu_convert\.npz", _sfpu_convert),
    (r"sfpu_fma\.npz", _sfpu_fma),
    (r"sfpu_primitives\.npz", _sfpu_primitives),
)

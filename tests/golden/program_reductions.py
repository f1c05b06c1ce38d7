"""Recorded kernels and the engine functions that compute the same.

Each function returns the fields of a step: unit, functions, formats, whether Dst has 32 bits, fidelity. A field that
decides no bit of a kernel is left out on both sides.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from typing import Any, Final

Fields = tuple[str, tuple[Any, ...], tuple[int, ...], bool, str | None]
_FLOAT32, _INT32, _UINT16, _FLOAT16_B, _UINT32 = 0, 8, 9, 5, 24
_BLOCKS: Final = (6, 7)
ANY: Final = ("any",)
"""Formats that the record cannot tell."""
_OUTSIDE: Final = re.compile(
    r"in\d?|inb|inp|in_rm|a|b|input.*|out\d?|out_rm|output.*|result|eps|epsilon|gamma|beta|weight|bias|batch_mean|batch_var|"
    r"fused_attn|fused_scale|temp_1|causal.*|old_running_.*|updated_.*|momentum|one|residual|stats|"
    r".*mask.*|.*scaler.*|\d+"
)
"""Names of buffers that hold operands, results, masks and constants."""
_AXES: Final = {"w": "row", "h": "col", "hw": "scalar", "tile": "scalar", "transposed": "col"}


def _reduction(kind: str, axis: str, unit: str, formats: tuple[int, ...], dst32: bool, fidelity: str | None) -> Fields:
    # Only a sum of the matrix unit multiplies: by its scaler.
    return (f"reduce {unit}", (kind, axis), formats, dst32, fidelity if (kind, unit) == ("sum", "fpu") else None)


def official_reduction(stem: str, kernel: dict[str, Any], formats: tuple[int, ...]) -> Fields:
    """Return the fields of `reduce`, `reduce_rm`, `reduce_w_neg` and `reduce_h_neg`.

    `reduce_rm` puts rows into tiles itself and then reduces these as `reduce` does. The others negate, look for the
    maximum, and negate.
    """
    defines, arguments = kernel["defines"], kernel["compile_args"]
    kind = defines["REDUCE_OP"].rpartition("::")[2].lower()
    axis = defines["REDUCE_DIM"].rpartition("REDUCE_")[2].lower()
    # Sums of the matrix unit and averages are one program with different scalers.
    kind = "min" if stem.endswith("_neg") else {"avg": "sum"}.get(kind, kind)
    (source, *_), sfpu = formats, bool(isinstance(arguments, dict) and arguments.get("enable_fp32_sfpu"))
    # The rule of `is_sfpu_reduce_path`.
    on_sfpu = (
        not stem.endswith("_neg")
        and axis != "scalar"
        and (source == _INT32 or (source == _FLOAT16_B and kind == "min") or (source == _FLOAT32 and sfpu))
    )
    return _reduction(kind, axis, "sfpu" if on_sfpu else "fpu", formats, kernel["dst32"], kernel["fidelity"])


def our_reduction(settings: dict[str, Any], fidelity: str | None) -> Fields:
    """Return the fields of the engine's `reduce`.

    Its axis "transposed" is the height of a tensor whose leading dimension is exchanged with the height, there and
    back; "leading" adds whole tiles as `reduce_nc` does.
    """
    unit, _, kind = settings["join"].partition("_")
    axis = _AXES.get(settings["axis"], settings["axis"])
    formats, dst32 = tuple(settings["formats"]), bool(settings["dst32"])
    return _reduction(kind, axis, "sfpu" if unit == "int" else unit, formats, dst32, fidelity)


def official_moment(stem: str, kernel: dict[str, Any], formats: tuple[int, ...]) -> Fields:
    """Return the fields of `welford_reduce_w`, `welford_reduce_h` and `welford_reduce_hw`.

    Rows are transposed in Dst, after which they are columns: both have the same bits. The factors decide them. Columns
    of matrices have those of their height; what joins them follows from the shape and the number of matrices.
    """
    arguments = kernel["compile_args"]
    root = "std" if arguments["is_std"] else "var"
    if stem == "welford_reduce_hw":
        numbers = ("matrices", *(arguments[name] for name in ("reduce_batch_size", "H", "W")))
    else:
        numbers = ("lines", arguments["two_pass_mean_reciprocal"], arguments["two_pass_variance_reciprocal"])
    return ("moment", (root, *numbers), formats, kernel["dst32"], None)


def official_accumulation(stem: str, kernel: dict[str, Any], formats: tuple[int, ...], total: int) -> Fields:
    """Return the fields of `accumulation_compute` and `accumulation_tile_axis_compute`.

    `total` is the format of the running result. The second kernel keeps it in registers of the SFPU.
    """
    defines = kernel.get("defines", {})
    if stem == "accumulation_tile_axis_compute":
        return ("accumulation", ("row" if "SCAN_WIDTH" in defines else "col",), formats, kernel["dst32"], None)
    how = "compensated" if "COMPENSATED_SUM" in defines else defines["BINARY_OP"].partition("_tile")[0]
    return ("accumulation", (how, total), formats, kernel["dst32"], None)


def our_pipeline(program: Any, fidelity: str | None) -> Fields | None:
    """Return the fields of a pipeline of one kind; None of another.

    Kinds: a sum of tiles, a difference, a variance, a running result.
    """
    loads = [one["load"] for one in program._passes]
    formats = (program._tensors[0][0], program._passes[-1]["format"])
    if loads == ["copy"] and not program._passes[0]["chain"]:
        return ("tilize", (), formats, program.dst32, None)
    if loads == ["accumulate"] and program._passes[0]["eltwise"] == "add" and program.axis >= 0:
        # Tiles are added to zeros in one Dst, as `reduce_nc` does.
        return ("reduce fpu", ("sum", "leading"), formats, program.dst32, fidelity)
    if loads == ["eltwise"] and not program._passes[0]["chain"]:
        (one,) = program._passes
        return ("broadcast", (one["eltwise"],), formats, program.dst32, fidelity if one["eltwise"] == "mul" else None)
    if loads == ["variance"]:
        (variance,) = program._passes
        root = "std" if any(step[0] == "sqrt" for step in variance["chain"]) else "var"
        numbers: tuple[Any, ...] = ("lines", *variance["factors"])
        if program.axis < -2:
            *leading, height, width = program.domain
            numbers = ("matrices", math.prod(leading[-3 - program.axis :]), height, width)
        return ("moment", (root, *numbers), formats, program.dst32, None)
    if loads == ["running sum"]:
        return ("accumulation", ("row" if program.axis == -1 else "col",), formats, program.dst32, None)
    if "scan" in loads:
        scan = program._passes[loads.index("scan")]
        how = scan["function"][0] if scan["function"] else "compensated"
        return ("accumulation", (how, scan["format"]), formats, program.dst32, None)
    return None


def official_passes(stem: str, kernel: dict[str, Any], codes: dict[str, int], formats: tuple[int, ...]) -> Fields:
    """Return the fields of a kernel whose passes are in its source.

    The record has the formats of its buffers, and which exponential it calls. Partial results are unknown where buffers
    have no names.
    """
    names = {number: name for name, number in kernel.get("cb_names", {}).items()}
    buffers = {names.get(int(number), number): codes[entry[3]] for number, entry in kernel["formats"].items()}
    partial = {code for name, code in buffers.items() if not _OUTSIDE.fullmatch(name)}
    exponential = () if "softmax" not in stem and stem != "moreh_abs_pow_kernel" else ("accurate",)
    if stem == "moreh_abs_pow_kernel":
        formats = (buffers["x"], buffers["y"])
        partial = {code for name, code in buffers.items() if name in ("xabs", "xpow", "logx", "exp_lxmd")}
    if re.fullmatch("moreh_(sum|mean)_[wh]", stem):
        partial = _partial_of_sum(kernel, buffers)
    if stem.startswith("running_statistics"):
        partial = {_FLOAT32 if kernel["dst32"] else formats[0]}
    if stem == "batch_norm_sfpu_kernel" and kernel["dst32"]:
        # Our passes stand for steps in a Dst of 32 bits, which they leave and enter unchanged.
        partial.add(_FLOAT32)
    if "EXP_APPROX" in kernel.get("defines", {}):
        exponential = ("approx_clampneg" if kernel["defines"]["EXP_APPROX"] == "1" else "accurate",)
    known = tuple(sorted(partial)) if names else ANY
    return ("pipeline", (known, exponential), formats, kernel["dst32"], kernel["fidelity"])


def _partial_of_sum(kernel: dict[str, Any], buffers: dict[str, int]) -> set[int]:
    """Return the formats between the passes of `moreh_sum_w` and its kin.

    These are `moreh_mean_w` and those of columns. A last tile with padding is masked. The sum of the tiles before it
    comes back to Dst: as it was, unless the unpacker puts FP32 through SrcA.
    """
    arguments, names = kernel["compile_args"], kernel["cb_names"]
    extent = arguments["origin_W"] if "origin_W" in arguments else arguments["origin_H"]
    tiles = arguments["Wt"] if "Wt" in arguments else arguments["Ht"]
    found = {buffers["masked_input"]} if extent % 32 else set()
    if tiles > 1 and kernel["formats"][str(names["accum_dst"])][1] == "Tf32":
        found.add(buffers["accum_dst"])
    return found


def official_random(stem: str, kernel: dict[str, Any], codes: dict[str, int]) -> Fields:
    """Return the fields of `compute_uniform` and `compute_bernoulli`.

    Both make random numbers on the SFPU. Data movement processors compare those of the second with the input, and
    write ones and zeros to a buffer of the result's format.
    """
    formats = kernel["formats"]
    known: tuple[int, ...] = (-1,)  # Of a core that has nothing to do.
    if formats:
        known = tuple(codes[formats[buffer][0]] for buffer in ("0", "25") if stem == "compute_bernoulli")
    return (stem.removeprefix("compute_"), (), known, kernel["dst32"], None)


def official_integer_sum(stem: str, formats: tuple[int, ...]) -> Fields:
    """Return the fields of `moreh_int_sum_w`, `moreh_int_sum_h` and `moreh_int_sum_nc`.

    They add on the SFPU, where sums wrap around.
    """
    axis = {"w": "row", "h": "col", "nc": "leading"}[stem.rpartition("_")[2]]
    return _reduction("sum", axis, "sfpu", formats, True, None)


def official_moreh_product(kernel: dict[str, Any], codes: dict[str, int]) -> Fields:
    """Return the fields of `moreh_matmul`.

    Its sum stays in Dst for plain operands; with masks, transposed tiles or a bias, it is packed after every tile.
    """
    arguments, formats, names = kernel["compile_args"], kernel["formats"], kernel["cb_names"]
    masks = [arguments[f"{operand}_mask_{side}"] for operand in ("input", "other") for side in "hw"]
    transposed = arguments["transpose_input"] or arguments["transpose_other"]
    apart = transposed or "FUSE_BIAS" in kernel.get("defines", {}) or any(mask != 32 for mask in masks)
    inner = arguments["Kt"]
    blocks = (1, inner, False) if apart else (inner, 1, False)
    operands = tuple(codes[formats[str(names[name])][field]] for name, field in (("in0", 0), ("in1", 0), ("out0", 3)))
    return ("matmul", blocks, operands, kernel["dst32"], kernel["fidelity"])


def official_rotation(kernel: dict[str, Any], codes: dict[str, int]) -> Fields:
    """Return the fields of `rotary_embedding` and `rotary_embedding_hf`.

    Buffers are compile arguments: the input is the first, the result the ninth, three before it have partial results.
    For a single token, cosines and sines pass through bfloat16 buffers; ours do so where that changes them.
    """
    arguments, formats = kernel["compile_args"], kernel["formats"]
    source, result, *partial = (codes[formats[str(arguments[place])][3]] for place in (0, 8, 5, 6, 7))
    if "DECODE_MODE" in kernel.get("defines", {}):
        partial += [_FLOAT16_B, *partial] if _FLOAT32 in partial else []
    known = tuple(sorted(set(partial)))
    return ("pipeline", (known, ()), (source, result), kernel["dst32"], kernel["fidelity"])


def our_passes(program: Any, fidelity: str | None) -> Fields:
    """Return the formats and exponentials of a pipeline."""
    partial = {one["format"] for one in program._passes if one["output"] is None}
    exponential = {step[1] for one in program._passes for step in one["chain"] if step[0] == "exp"}
    formats = (program._tensors[0][0], program._passes[-1]["format"])
    return ("pipeline", (tuple(sorted(partial)), tuple(sorted(exponential))), formats, program.dst32, fidelity)


def official_attention(stem: str, kernel: dict[str, Any], codes: dict[str, int]) -> Fields:
    """Return the fields of `sdpa` and `sdpa_flash_decode`.

    Sizes of chunks and whether later keys are hidden decide the order of sums; a decoding step has its own chunks,
    which run-time arguments know.
    """
    arguments, formats = kernel["compile_args"], kernel["formats"]
    approximate = kernel["defines"]["EXP_APPROX_MODE"] == "1"
    whole = stem == "sdpa"
    scale, result = (arguments[21], str(arguments[38])) if whole else (arguments[24], "20")
    chunks = (arguments[3], arguments[5], bool(arguments[17])) if whole else ()
    operands = (*(codes[formats[number][0]] for number in "012"), codes[formats[result][3]])
    return ("attention", (*chunks, scale, approximate), operands, kernel["dst32"], kernel["fidelity"])


def our_attention(settings: dict[str, Any], fidelity: str | None) -> Fields:
    """Return the fields of the engine's attention."""
    whole = "cores" not in settings
    chunks = (*settings["chunks"], settings["causal"]) if whole else ()
    (scale,) = struct.unpack("<I", struct.pack("<f", settings["scale"]))
    formats = tuple(settings["formats"])
    return ("attention", (*chunks, scale, not settings["polynomial"]), formats, settings["dst32"], fidelity)


def official_order(kernel: dict[str, Any], codes: dict[str, int]) -> Fields:
    """Return the formats of values and indices of `sort` and `topk`."""
    names, formats = kernel.get("cb_names", {}), kernel["formats"]
    buffers = (names.get("input_tensor", names.get("input", 0)), names.get("index_tensor", names.get("index", 1)))
    values, indices = (codes[formats[str(buffer)][0]] for buffer in buffers)
    if "IS_UINT16_FP32_MODE" in kernel.get("defines", {}):
        values = _UINT16  # FP32 holds all of them.
    return ("sort", (), (values, indices), False, None)


def official_pool(stem: str, kernel: dict[str, Any]) -> Fields:
    """Return the fields of a pooling kernel: how many pixels it joins.

    The kernel with indices only compares, so fidelity is none of its settings.
    """
    fidelity = None if stem == "compute_mpwi" else kernel["fidelity"]
    return ("pool", (kernel["compile_args"][7 if stem == "bilinear" else 1],), (), kernel["dst32"], fidelity)


def our_product(settings: dict[str, Any], fidelity: str | None) -> Fields:
    """Return the fields of the engine's product.

    Along a dimension, that of bfloat16 has a 16-bit Dst; all others have one of 32 bits.
    """
    along = "leading" in settings or "lines" in settings
    wide = not along or settings["format"] != _FLOAT16_B
    return ("product", (), (settings["format"],) * 2, wide, fidelity or "HiFi4")


def official_broadcast(kernel: dict[str, Any], formats: tuple[int, ...]) -> Fields:
    """Return the fields of the `bcast` kernels, which use the FPU."""
    op = kernel["defines"]["CHAIN_BCAST_OP"].rpartition("::")[2].lower()
    return ("broadcast", (op,), formats, kernel["dst32"], kernel["fidelity"] if op == "mul" else None)


def official_product(kernel: dict[str, Any], codes: dict[str, int], formats: tuple[int, ...]) -> Fields:
    """Return the fields of `bmm`, which adds all tiles in Dst."""
    arguments = kernel["compile_args"]
    inner = arguments["Kt"] if isinstance(arguments, dict) else arguments[2]
    second = codes[kernel["formats"]["1"][0]]
    return ("matmul", (inner, 1, False), (formats[0], second, formats[1]), kernel["dst32"], kernel["fidelity"])


def official_convolution(kernel: dict[str, Any], codes: dict[str, int]) -> Fields:
    """Return the fields of `conv_bmm_tilize`: the matmul of windows and weights.

    Positions of compile arguments are those of its source. The order of the blocks along K follows from their number.
    """
    arguments, formats = kernel["compile_args"], kernel["formats"]
    inner, blocks, accumulates = arguments[0], arguments[9], bool(arguments[29])
    buffers = ((arguments[23], 0), (arguments[19], 0), (arguments[24], 3))
    windows, weights, result = (codes[formats[str(buffer)][field]] for buffer, field in buffers)
    # Height shards have no buffer of their own for rows of windows.
    rows = formats.get(str(arguments[20]), formats.get(str(arguments[18])))
    if rows is not None and codes[rows[0]] == _FLOAT16_B and windows == _FLOAT32:
        windows = _FLOAT16_B  # Tiles of the result's format hold rows of bfloat16 unchanged.
    operands = (windows, weights, result)
    return ("matmul", (inner, blocks, accumulates), operands, kernel["dst32"], kernel["fidelity"])


def joined(steps: Sequence[Any]) -> list[Any]:
    """Return steps in the form in which they are compared.

    * A typecast of block floats to bfloat16 and the one back enclose a move of elements, which has no other format for
      it. They are no step: bfloat16 holds every block float.
    * A product of block floats is packed to FP32, which a program of its own packs again: the packer reads the same.
    * A kernel without buffers is one on cores that have nothing to do.
    * The kernel of a convolution packs tiles of windows before it multiplies them.
    * Maxima, minima and integer sums of one format have the same bits in whatever order and number of programs they
      are computed; those after one another are one step. Block floats are not among them, for they share exponents
      with their padding.
    """
    found: list[Any] = []
    for step in steps:
        if step.formats[:1] == (-1,):
            continue
        last = found[-1] if found else None
        if last is not None and step.unit == last.unit == "sfpu" and step.functions == last.functions == ((),):
            (source, between), (again, target) = last.formats, step.formats
            if source == target and source in _BLOCKS and between == again == _FLOAT16_B:
                found.pop()
                continue
        packed = last is not None and last.unit == "product" and last.formats[1] == _FLOAT32
        if packed and step.unit == "sfpu" and step.functions == ((),):
            found[-1] = last._replace(formats=(last.formats[0], step.formats[1]))
            continue
        if step.unit == "matmul" and last is not None and last.unit == "tilize":
            found.pop()
        if step.unit.startswith("reduce "):
            (kind, _), (source, target) = step.functions, step.formats
            exact = kind in ("max", "min") or source in (_INT32, _UINT32)
            if exact and source == target and source not in _BLOCKS:
                step = step._replace(functions=(kind, "any"))
                if step == last:
                    continue
        found.append(step)
    return found

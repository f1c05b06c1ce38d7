"""Comparison of recorded official programs with the steps of ours.

A record lists the kernels of every program that a call builds. Both sides become lists of `Step`: one for each program
that computes. Programs that only move elements are left out on both sides. A Blackhole's records are those of a
Wormhole, except where its compute kernels are others.

    python tests/golden/op_programs.py [PATTERN] [--chip p100] [--each 2] [--write]
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

import program_options
import program_reductions
from op_calls import BLACKHOLE_CHIP, first_sentence
from op_calls import _names as names_of_calls

import ttnn
from ttnn.base.observers import OBSERVERS, Observer
from ttnn.kernel_api import sfpu, sfpu_binary, sfpu_integers, sfpu_special, sfpu_variants
from ttnn.kernel_api.sfpu_functions import Approximable
from ttnn.operation import numerics, registry

WORMHOLE_CHIP: Final = "n150"
FILE: Final = "host/op_programs_n150.jsonl.gz"
CHANGED: Final = {BLACKHOLE_CHIP: "blackhole/host/op_programs_p150.jsonl.gz"}
"""Records of calls whose compute kernels are others on a chip."""
DIFFERENCES: Final = Path(__file__).parent / "program_differences.json"
"""Operators whose programs differ in some calls: how many, and why."""
RECORDED: Final = Path(numerics.__file__).with_name("recorded.json")
"""Operators of which all recorded programs agree."""
_MODULES: Final = (sfpu, sfpu_binary, sfpu_integers, sfpu_special, sfpu_variants)
_CODES: Final = {
    **{"Float32": 0, "Float16": 1, "Bfp8": 2, "Bfp4": 3, "Tf32": 4, "Float16_b": 5, "Bfp8_b": 6, "Bfp4_b": 7},
    **{"Int32": 8, "UInt16": 9, "UInt32": 24, "UInt8": 30},
}
_MOVING: Final = (
    *("data_movement/", "sliding_window/", "kernel/compute/tilize"),
    *("kernel/compute/transpose", "reshape", "untilize", "update_cache"),
)
"""Compute kernels that keep the values of elements."""
_COPYING: Final = ("eltwise_copy", "eltwise_identity_kernel")
"""Compute kernels that only convert from one format into another."""


class Step(NamedTuple):
    """One program that computes.

    Attributes:
        unit: What computes: "sfpu", "fpu add", "ternary", "matmul", "reduce", or the name of the kernel.
        functions: Its functions with variants and words; of operands, of the result.
        formats: Data formats of operands and the result.
        dst32: Whether Dst has 32 bits.
        fidelity: Math fidelity, where the matrix unit multiplies.
    """

    unit: str
    functions: tuple[Any, ...]
    formats: tuple[int, ...]
    dst32: bool
    fidelity: str | None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def read_programs(folder: Path, chip: str = WORMHOLE_CHIP) -> Iterator[dict[str, Any]]:
    """Yield a chip's records of a golden folder."""
    changed = {record["expr"]: record for record in _lines(folder / CHANGED[chip])} if chip in CHANGED else {}
    for record in _lines(folder / FILE):
        yield changed.pop(record["expr"], record)
    # Calls that a Wormhole refuses.
    yield from changed.values()


# The official side.


def _template(text: str) -> list[str]:
    return [part.strip().rpartition("::")[2] for part in text.split(",")] if text else []


def _word(text: str) -> int | None:
    text = text.strip().removesuffix("u").removesuffix("U")
    try:
        return int(text, 0) & 0xFFFF_FFFF
    except ValueError:
        return None


def _entry(name: str) -> Any:
    return next((found for module in _MODULES if (found := vars(module).get(name)) is not None), None)


_ENGINE: Final = {
    **dict.fromkeys(("sdpa", "sdpa_flash_decode", "joint_sdpa"), "attention"),
    **dict.fromkeys(("moreh_matmul",), "matmul"),
    **dict.fromkeys(("groupnorm", "groupnorm_sharded_v2", "welford_groupnorm"), "group_norm"),
    **dict.fromkeys(
        (
            "topk",
            "topk_local",
            "topk_final",
            "sort_cross_core_data_exchange",
            "sort_single_row_single_core",
            "sort_single_row_multi_core",
        ),
        "sort",
    ),
    **dict.fromkeys(("compute_pool_2d", "bilinear", "compute_mpwi"), "pool"),
    **dict.fromkeys(("prod_all", "prod_nc"), "product"),
    "compute_bernoulli": "bernoulli",
    "compute_uniform": "uniform",
    "dropout_kernel": "experimental.dropout",
    "argmax_nc_compute": "argmax",
    **dict.fromkeys(
        (
            *("layernorm", "layernorm_sharded", "layernorm_large_tensor", "layernorm_welford", "softmax"),
            *(
                "moreh_softmax_c_large",
                "moreh_softmax_h",
                "moreh_softmax_w",
            ),
            *("batch_norm_sfpu_kernel", "batch_norm_kernel"),
            *("running_statistics_sfpu_kernel", "running_statistics_kernel"),
            *("moreh_abs_pow_kernel", "moreh_mean_w", "moreh_mean_h", "moreh_mean_nc", "moreh_sum_w", "moreh_sum_h"),
            *("moreh_sum_nc", "rmsnorm_post_allgather", "rmsnorm_pre_allgather", "layernorm_pre_allgather"),
            *("layernorm_post_allgather", "rotary_embedding", "rotary_embedding_llama", "rotary_embedding_hf"),
            *("moreh_adamw", "moreh_sgd", "ema_compute"),
        ),
        "pipeline",
    ),
}
"""The engine's function that stands for a kernel."""
_OWN_SEQUENCE: Final = {
    "where_tss_kernel": ("ternary", ("where", "default")),
    "mac_tss_kernel": ("ternary", ("mac", "default")),
    "lgamma_kernel": ("sfpu", (("lgamma", "default"),)),
    "lgamma_fast_kernel": ("sfpu", (("lgamma", "default"),)),
    "hardswish_kernel": ("hardswish", ()),
    "logsigmoid_kernel": ("log_sigmoid", ()),
    "logit_kernel": ("logit", ()),
    "eltwise_pow_int": ("pow", ()),
}
"""Kernels with a sequence of their own: what ours is called.

tests/metal/cpp/test_recorded_unary.py runs them, but for lgamma.
"""
_INTEGER_SUFFIX: Final = {"Int32": "_int32", "UInt32": "_uint32", "UInt16": "_uint16"}


def _function(name: str, template: list[str], words: list[int], approx: bool) -> tuple[Any, ...]:
    """Return the engine's function of an official call: name, variant, words."""
    if name == "typecast_tile":
        source, target = (sfpu._NAMES.get(_word(code) or 0, code) for code in template)
        if source == target or {source, target} <= {"fp32", "bf16"}:
            return ()
        return (f"typecast_from_{source}", f"{source}_to_{target}")
    if name == "round_tile":
        return ("round", "integer") if words == [0] else ("round", "decimals", words[0])
    if name == "log_with_base_tile":
        base = {0x3FB8_AA3B: "log2", 0x3EDE_5BD9: "log10"}.get(words[0], hex(words[0]))
        return (base, "fast" if template[0] == "1u" else "accurate")
    if name == "rdiv_tile":
        return ("rdiv", {"None": "default", "Trunc": "trunc", "Floor": "floor"}[template[0]], *words)
    if name == "isclose_binary_tile":
        return ("isclose",)
    if name == "rsqrt_tile":
        return ("rsqrt", "fast" if template == ["Fast"] else "default")
    if name in ("fill_tile_bitcast", "fill_tile_int", "fill_tile"):
        return ("fill", "default", *words)
    if name in ("add_binary_tile", "sub_binary_tile", "rsub_binary_tile"):
        return (name.removesuffix("_tile"), "nearest_even" if template == ["NearestEven"] else "default")
    if name == "logical_not_tile" and template[0] in _INTEGER_SUFFIX:
        name, template = f"logical_not_unary_tile{_INTEGER_SUFFIX[template[0]]}", []
    entry = _entry(name)
    kind = type(entry).__name__
    if isinstance(entry, Approximable):
        flags = [part for part in template if part in ("0u", "1u", "0", "1", "true", "false")]
        index = flags[0][0] in "1t" if flags else (approx if entry._default is None else entry._default)
        return entry._variants[index]._function
    if kind == "_Exponential":
        return entry._functions[template[:1] == ["1u"], sfpu_variants.InputClamping.ClampToNegative]._function
    if kind == "_ByFormat":
        found = entry._functions.get(_CODES[template[0]])
        return found._function if found is not None else (name, template[0])
    if kind == "_OneTile":
        return (*entry._function._function, *words)
    if hasattr(entry, "_function"):
        return (*entry._function, *words)
    return (name.removesuffix("_tile"), ",".join(template), *words)


def functions_of(text: str, approx: bool, tiles: int = 1) -> tuple[Any, ...]:
    """Return the functions that C++ text calls.

    The first `tiles` arguments of each are indices.
    """
    found = []
    for name, template, arguments in re.findall(r"(\w+_tile\w*)(?:<(.*?)>)?\(([^()]*)\)", text):
        if not re.search(r"_init(\b|$)", name):
            parts = arguments.split(",")
            several = (name in ("mac_tile", "where_tile", "lerp_tile", "mul_int_tile") and 4) or tiles
            words = [word for part in parts[several:] if (word := _word(part)) is not None]
            function = _function(name, _template(template), words, approx)
            if function:
                found.append(function)
    return tuple(found)


def _of_format(kernel: dict[str, Any], buffer: int | None, field: int) -> int:
    formats = kernel["formats"].get(str(buffer))
    return _CODES[formats[field]] if formats else -1


def _conversion(kernel: dict[str, Any]) -> Step | None:
    """Return the conversion of a kernel that moves elements.

    None if the formats are equal. Kernels with buffers of several formats only move tiles.
    """
    names, used = kernel.get("cb_names", {}), kernel["formats"]
    source = next((names[name] for name in ("in", "src", "cb_in") if name in names), 0)
    target = next((names[name] for name in ("out", "dst", "cb_out") if name in names), 16)
    if len(used) != 2 or not {str(source), str(target)} <= used.keys():
        return None
    formats = (_of_format(kernel, source, 0), _of_format(kernel, target, 3))
    return Step("sfpu", ((),), formats, kernel["dst32"], None) if formats[0] != formats[1] else None


def official_step(kernel: dict[str, Any]) -> Step | None:
    """Return a recorded compute kernel's step; None if it only moves elements."""
    file, defines, names = kernel["file"], kernel.get("defines", {}), kernel.get("cb_names", {})
    dst32, approx, fidelity = kernel["dst32"], kernel["approx"], kernel["fidelity"]
    stem = file.rpartition("/")[2].removesuffix(".cpp").removesuffix("_metal2")
    if any(part in file for part in _MOVING) and "/sort/" not in file and not stem.startswith("bcast_"):
        return _conversion(kernel)
    formats: tuple[int, ...]
    source, target = names.get("in", names.get("in0", 0)), names.get("out", names.get("out0", names.get("dst")))
    if "fused_distributed_rmsnorm" in file:
        # Its buffers have no names.
        target = kernel["compile_args"][7 if "post" in stem else 3]
    if any(part in stem for part in _COPYING):
        others = (int(key) for key in kernel["formats"] if key != str(source))
        target = target if target is not None else next(others, source)
        return Step("sfpu", ((),), (_of_format(kernel, source, 0), _of_format(kernel, target, 3)), dst32, None)
    if stem in ("eltwise_sfpu", "eltwise_typecast"):
        target = target if target is not None else (1 if "1" in kernel["formats"] else 2)
        chain = [defines.get(f"SFPU_OP_CHAIN_0_FUNC_{index}", "") for index in range(8)]
        functions = tuple(part for text in chain for part in functions_of(text, approx))
        if stem == "eltwise_typecast":
            codes = kernel["compile_args"]
            functions = functions_of(
                f"typecast_tile<{codes['in_data_format']}u, {codes['out_data_format']}u>(0)", approx
            )
        formats = (_of_format(kernel, source, 0), _of_format(kernel, target, 3))
        return Step("sfpu", (functions,), formats, dst32, None)
    if "binary_ng" in file:
        pre_a, pre_b, post = (
            functions_of(defines.get(f"PROCESS_{side}_ACTIVATIONS", ""), approx) for side in ("LHS", "RHS", "POST")
        )
        if "BINARY_SFPU_OP" in defines:
            op = functions_of(defines["BINARY_SFPU_OP"] + "(0, 0, 0)", approx, 3)[0]
            unit = "sfpu binary"
        else:
            op, unit = (defines["BINARY_OP"].removesuffix("_tiles"),), "fpu"
        if op[0] == "where":
            scalar = "scalar" in stem or defines.get("WHERE_TTS") == "1" or defines.get("WHERE_TST") == "1"
            formats = tuple(_of_format(kernel, buffer, 0) for buffer in ((0, 1) if scalar else (0, 1, 2)))
            return Step("ternary", (op,), (*formats, _of_format(kernel, 2 if scalar else 3, 3)), dst32, None)
        if dst32 and op[1:] == ("nearest_even",):
            op = (op[0], "default")  # A sum of 32 bits is not rounded again.
        relu = "PACK_RELU" in defines
        # Buffers 3 and 4 hold operands after their activations.
        formats = (*(_of_format(kernel, buffer, 0) for buffer in (0, 1)), _of_format(kernel, 2, 3))
        multiplies = fidelity if unit == "fpu" and op == ("mul",) else None
        return Step(unit, (pre_a, pre_b, op, post, relu), formats, dst32, multiplies)
    if "TERNARY_SFPU_OP_FUNC" in defines:
        op = functions_of(defines["TERNARY_SFPU_OP_FUNC"] + "(0, 0, 0, 0)", approx, 4)[0]
        formats = (*(_of_format(kernel, buffer, 0) for buffer in (0, 1, 2)), _of_format(kernel, 3, 3))
        return Step("ternary", (op,), formats, dst32, None)
    if not names:
        # Circular buffers 16 to 23 are those of results.
        target = 16 if target is None else target
    formats = (_of_format(kernel, source, 0), _of_format(kernel, target, 3))
    if stem in _OWN_SEQUENCE:
        unit, function = _OWN_SEQUENCE[stem]
        return Step(unit, (function,), formats, dst32, None)
    if stem.startswith("bcast_"):
        return Step(*program_reductions.official_broadcast(kernel, formats))
    if stem == "bmm":
        return Step(*program_reductions.official_product(kernel, _CODES, formats))
    if stem in ("reduce", "reduce_rm", "reduce_h_neg", "reduce_w_neg"):
        source = names.get("rm", source)
        formats = (_of_format(kernel, source, 0), _of_format(kernel, target, 3))
        return Step(*program_reductions.official_reduction(stem, kernel, formats))
    if stem in ("compute_uniform", "compute_bernoulli"):
        return Step(*program_reductions.official_random(stem, kernel, _CODES))
    if stem.startswith("moreh_int_sum_"):
        return Step(*program_reductions.official_integer_sum(stem, formats))
    if stem == "moreh_matmul":
        return Step(*program_reductions.official_moreh_product(kernel, _CODES))
    if stem in ("reduce_nc", "moreh_sum_nc"):
        return Step("reduce fpu", ("sum", "leading"), formats, dst32, fidelity)
    if stem in ("welford_reduce_w", "welford_reduce_h", "welford_reduce_hw"):
        return Step(*program_reductions.official_moment(stem, kernel, formats))
    if stem.startswith("accumulation_"):
        total = _of_format(kernel, names.get("acc"), 3)
        return Step(*program_reductions.official_accumulation(stem, kernel, formats, total))
    if _ENGINE.get(stem) == "sort":
        return Step(*program_reductions.official_order(kernel, _CODES))
    if stem in ("compute_pool_2d", "compute_mpwi", "bilinear"):
        return Step(*program_reductions.official_pool(stem, kernel))
    if stem == "argmax_nc_compute":
        return None
    if stem == "embedding_backward":
        # Buffers have no names: 1 has the indices, 16 the result. Additions do not depend on the fidelity.
        return Step("embedding_bw", (), (_of_format(kernel, 1, 0), _of_format(kernel, 16, 3)), dst32, None)
    if stem in ("sdpa", "sdpa_flash_decode"):
        return Step(*program_reductions.official_attention(stem, kernel, _CODES))
    if stem == "conv_bmm_tilize":
        return Step(*program_reductions.official_convolution(kernel, _CODES))
    if stem.startswith("bmm_large_block"):
        inner = kernel["compile_args"]["in0_block_w"]
        formats = (
            *(_of_format(kernel, names[name], 0) for name in ("in0", "in1")),
            _of_format(kernel, names.get("out"), 3),
        )
        blocks = kernel["compile_args"]["num_blocks_inner_dim"]
        return Step("matmul", (inner, blocks, "PACKER_L1_ACC" in defines), formats, dst32, fidelity)
    if _ENGINE.get(stem) == "group_norm":
        # Buffers have no names: 0 has the input, 16 the result.
        formats = (_of_format(kernel, 0, 0), _of_format(kernel, 16, 3))
        return Step("group_norm", (), formats, dst32, fidelity)
    if stem.startswith("running_statistics"):
        formats = (_of_format(kernel, names["batch_mean"], 0), _of_format(kernel, names["out"], 3))
    if stem in ("rotary_embedding", "rotary_embedding_hf"):
        return Step(*program_reductions.official_rotation(kernel, _CODES))
    if _ENGINE.get(stem) == "pipeline":
        return Step(*program_reductions.official_passes(stem, kernel, _CODES, formats))
    return Step(_ENGINE.get(stem, stem), (), formats, dst32, fidelity)


_GRADIENTS: Final[dict[str, tuple[tuple[Any, ...] | str, ...]]] = {
    "eltwise_bw_tanh": (("tanh_derivative", "accurate"), "grad"),
    "eltwise_bw_gelu_poly": (("gelu_derivative", "accurate"), "grad"),
    "eltwise_bw_sigmoid": (("sigmoid", "accurate"), "grad", ("rsub", "default", 0x3F80_0000), "product"),
}
"""Functions of x that gradient kernels apply, and the products.

The products are with the gradient or the product before.
"""


def gradient_steps(kernel: dict[str, Any]) -> list[Step]:
    """Return the steps of a gradient with a kernel of its own.

    The kernel keeps everything in Dst. A tensor of Dst's own format holds a value of Dst without loss, so that steps
    with such tensors between them have the same bits.
    """
    stem = kernel["file"].rpartition("/")[2].removesuffix(".cpp")
    dst32 = kernel["dst32"]
    dst = _CODES["Float32" if dst32 else "Float16_b"]
    held = {"grad": _of_format(kernel, 0, 0), "product": dst}
    x = _of_format(kernel, 1, 0)
    found = []
    for index, part in enumerate(sequence := _GRADIENTS[stem]):
        if isinstance(part, str):
            target = _of_format(kernel, 2, 3) if index == len(sequence) - 1 else dst
            product = ((), (), ("mul_binary", "default"), (), False)
            found.append(Step("sfpu binary", product, (held[part], dst, target), dst32, None))
        else:
            found.append(Step("sfpu", ((part,),), (x, dst), dst32, None))
            x = dst
    return found


def integer_addcmul_steps(kernel: dict[str, Any]) -> list[Step]:
    """Return the steps of `addcmul` of integers: two products and a sum.

    Its define with a function of floating point is not used.
    """
    code = _of_format(kernel, 0, 0)
    products = [("mul_int", "int32")] * 2
    return [
        Step("sfpu binary", ((), (), op, (), False), (code,) * 3, kernel["dst32"], None)
        for op in (*products, ("add_int", "int32"))
    ]


def apart(step: Step) -> list[Step]:
    """Return functions of 32-bit integers as steps of their own.

    Words of 32 bits pass unpacker, Dst and packer unchanged, so that several functions in one visit to Dst have the
    bits of as many programs. Functions of two operands alternate, as they do in ours.
    """
    code = step.formats[0] if step.formats else -1
    if step.unit not in ("sfpu", "sfpu binary") or code not in (8, 24) or set(step.formats) != {code}:
        return [step]

    def alone(function: tuple[Any, ...]) -> Step:
        if function[0] in ("mul_int", "square_int"):
            product = ("mul_int", *function[1:])
            return Step("sfpu binary", ((), (), product, (), False), (code,) * 3, step.dst32, None)
        return Step("sfpu", ((function,),), (code,) * 2, step.dst32, None)

    if step.unit == "sfpu":
        return [alone(function) for function in step.functions[0]]
    first, second, op, post, relu = step.functions
    before = [function for pair in zip_longest(first, second) for function in pair if function is not None]
    of_two = Step("sfpu binary", ((), (), op, (), relu), (code,) * 3, step.dst32, None)
    return [*map(alone, before), of_two, *map(alone, post)]


def official_steps(record: dict[str, Any]) -> list[Step]:
    """Return the steps of a record."""
    found = []
    for program in record["programs"]:
        kernels = [kernel for kernel in program["kernels"] if kernel["kind"] == "compute"]
        if len(kernels) == 1 and kernels[0]["file"].rpartition("/")[2].removesuffix(".cpp") in _GRADIENTS:
            found += gradient_steps(kernels[0])
            continue
        if len(kernels) == 1 and "ternary_addcmul_int_sfpu" in kernels[0]["file"]:
            found += integer_addcmul_steps(kernels[0])
            continue
        steps = [step for kernel in kernels if (step := official_step(kernel)) is not None]
        if any("/argmax/" in kernel["file"] for kernel in program["kernels"]):
            # Data movement processors look for the largest element.
            steps.append(Step("argmax", (), (), False, None))
        found += list(dict.fromkeys(steps))
    return found


# Equal arithmetic under other names.

_WORDS: Final = frozenset((8, 9, 24, 30))
_BLOCKS: Final = frozenset((6, 7))
_WIDER: Final = frozenset(((5, 0), (6, 0), (7, 0), (6, 5), (7, 5)))
"""Formats of conversions that keep every value.

Dst has 16 or 32 bits.
"""
_UINT16: Final = {
    # 16-bit integers are words with zeros above their 16 bits; results are cut to 16 bits.
    **{f"{verb}_uint16": (f"{verb}_int", "int32") for verb in ("add", "sub", "mul")},
    **{f"{verb}_uint16": (f"{verb}_int", "int32") for verb in ("eq", "ne", "lt", "gt", "le", "ge")},
    **{f"{verb}_uint16": (f"bitwise_{verb}_binary", "int32") for verb in ("and", "or", "xor")},
    "rsub_uint16": ("sub_int", "rsub_int32"),
    "eqz_uint16": ("eqz_int32", "uint32"),
    "nez_uint16": ("nez_int32", "uint32"),
    "max_uint16": ("unary_max_int32", "uint32"),
    "min_uint16": ("relu_max_int32", "uint32"),
}
_TILES: Final = {
    **_UINT16,
    **{f"{verb}_{of}": (f"unary_{verb}_int32", of) for verb in ("max", "min") for of in ("int32", "uint32")},
    **{f"{verb}_uint32": (f"{verb}_int32", "uint32") for verb in ("eqz", "nez")},
    "signbit_int32": ("signbit_int32", "int32"),
    **{name: (name, "default") for name in ("quant", "requant", "dequant")},
}
"""Functions of the kernel interface with bits of an engine function.

tests/kernel_api compares them.
"""


def _of_words(name: str, template: str) -> tuple[str, str]:
    """Return the engine's function of a bitwise function or shift.

    It depends on the data format.
    """
    if name.startswith("binary_right"):
        return name, "int32" if template == "Int32" else "uint32"
    return name, "int32"


_LARGEST_ORDER: Final = 34
_ONE: Final = 0x3F800000
_BITS_STAY: Final = ("int32_to_uint32", "uint32_to_int32", "uint32_to_uint32")
"""Conversions for which the vector unit does nothing."""


def _of_bytes(variant: str) -> str:
    """Return a conversion's variant with bytes as 32-bit integers.

    Bytes are such integers in Dst.
    """
    return variant.replace("uint8_to", "uint32_to", 1)


def _renamed(function: tuple[Any, ...], dtype: int) -> tuple[Any, ...]:
    """Return a function of a chain under the engine's name.

    Words that are arguments at run time, and those that a word before determines, are left out.
    """
    name, variant, *words = function
    if name == "tile" and variant in _TILES:
        name, variant = _TILES[variant]
    if name == "mul_int":
        # One operand of a chain: its square.
        name = "square_int"
    elif name == "right_shift" and dtype in (9, 24):
        variant = "uint32"
    elif name in ("fmod", "remainder"):
        words = []
    elif name == "eqz_int32" and dtype == 9:
        variant = "uint32"
    elif name == "polygamma":
        # The official kernel gets the order as a float.
        words = [round(_float(words[0])) if words[0] > _LARGEST_ORDER else words[0], words[1]]
        variant = "default"
    elif name in ("alt_complex_rotate90", "softcap"):
        variant = "default"
    elif name == "typecast_from_uint8":
        # Bytes are 32-bit integers in Dst.
        name, variant = "typecast_from_uint32", _of_bytes(variant)
    elif name == "power_iterative" and words == [0]:
        # The product of no factors.
        name, words = "fill", [_ONE]
    elif name == "selu":
        # The official kernel multiplies its two words itself.
        variant, words = "default", [words[0], _product(words) if not variant else words[1]]
    elif name == "round" and variant == "decimals":
        # The official kernel derives 10**decimals and its inverse from the number.
        words = [_decimals(words)]
    return (name, variant, *words)


def _decimals(words: Sequence[int]) -> int:
    if len(words) == 1:
        return words[0]
    return round(math.log10(_float(words[0]))) & 0xFFFF_FFFF


def _float(word: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", word))[0])


def _product(words: Sequence[int]) -> int:
    first, second = words
    return int(struct.unpack("<I", struct.pack("<f", _float(first) * _float(second)))[0])


def _binary_renamed(op: tuple[Any, ...], dtype: int) -> tuple[Any, ...]:
    if op[0] == "tile" and op[1] in _TILES:
        op = (*_TILES[op[1]], *op[2:])
    elif op[0].endswith("_shift_tile"):
        op = _of_words(op[0].removesuffix("_tile"), op[1])
    if op[0] in ("quant", "requant", "dequant"):
        # The zero point is an argument at run time.
        op = op[:2]
    if op[0] == "nextafter" and dtype == 5:
        # In a 16-bit Dst both variants step in units of bfloat16.
        op = ("nextafter", "default")
    return op


def _normal(step: Step) -> Step:
    """Return a step under the names of the engine."""
    if step.unit == "sfpu" and step.functions:
        chain = tuple(
            _renamed(function, step.formats[0])
            for function in step.functions[0]
            if _of_bytes(function[1]) not in _BITS_STAY
        )
        # Values of at most eight significant bits pass through either Dst.
        wide = step.dst32 and (bool(chain) or step.formats[0] not in (5, *_BLOCKS))
        return step._replace(functions=(chain,), dst32=wide)
    if step.unit in ("experimental.dropout", "uniform"):
        return step._replace(formats=(), fidelity=None)
    if step.unit == "embedding_bw":
        # Rows of gradients are added to rows of the result; the format of their indices decides nothing.
        return step._replace(formats=(step.formats[-1],) * 2, fidelity=None)
    if step.unit in ("fpu", "sfpu binary"):
        pre_a, pre_b, op, post, relu = step.functions
        chains = [
            tuple(_renamed(function, dtype) for function in chain)
            for chain, dtype in ((pre_a, step.formats[0]), (pre_b, step.formats[1]), (post, step.formats[0]))
        ]
        op = _binary_renamed(op, step.formats[0])
        return step._replace(functions=(chains[0], chains[1], op, chains[2], relu))
    if step.unit == "ternary":
        # The factor of addcmul and addcdiv is an argument at run time.
        (op,) = step.functions
        return step._replace(functions=(op[:2],), formats=tuple(code for code in step.formats if code >= 0))
    return step


def _keeps(step: Step) -> bool:
    """Return True if a step copies values through Dst or fills.

    Filling writes one value over a tensor.
    """
    if step.unit != "sfpu" or not step.functions:
        return False
    (chain,) = step.functions
    if len(chain) == 1 and chain[0][0] == "fill":
        return True
    if chain == () and step.formats in _WIDER:
        return True
    return chain in ((), (("identity", "default"),)) and step.formats[0] == step.formats[1]


def normal_steps(steps: Sequence[Step]) -> list[Step]:
    """Return steps without those that keep values.

    Block floats are moved as bfloat16 and packed again, exactly as in one step: their values have 8 bits. Integers are
    packed as they are in Dst, so that a chain in the program of a binary function has the bits of one after it.
    """
    found: list[Step] = []
    widened = -1
    for step in (_normal(part) for whole in steps for part in apart(whole)):
        if step.unit == "sfpu" and step.functions == ((),) and step.formats == (5, widened):
            continue
        if _keeps(step):
            widened = step.formats[0] if step.formats[0] in _BLOCKS and step.formats[1] == 5 else widened
            continue
        widened = -1
        last = found[-1] if found else None
        if last is not None and last.unit == "sfpu binary" and step.unit == "sfpu" and step.functions:
            *front, post, relu = last.functions
            if last.formats[2] == step.formats[0] and step.formats[0] in _WORDS and not relu:
                both = (*front, (*post, *step.functions[0]), relu)
                found[-1] = last._replace(functions=both, formats=(*last.formats[:2], step.formats[1]))
                continue
        found.append(step)
    return found


_OURS: Final = {
    "hardswish": ("hardsigmoid", "mul", "mul_binary"),
    "log_sigmoid": ("exp", "log_sigmoid"),
    "logit": ("clamp", "logit"),
    "pow": ("mul_int",),
}
"""Functions of our steps for the sequence of a kernel."""


def _last_function(step: Step) -> str:
    if step.unit == "sfpu" and step.functions and step.functions[0]:
        return str(step.functions[0][-1][0])
    return str(step.functions[2][0]) if step.unit in ("fpu", "sfpu binary") else ""


def joined(ours: Sequence[Step], official: Sequence[Step]) -> list[Step]:
    """Return our steps with those of a kernel's own sequence as one."""
    wanted = [step for step in official if step.unit in _OURS]
    if not wanted:
        return list(ours)
    names, found = _OURS[wanted[0].unit], []
    for step in ours:
        if _last_function(step) not in names:
            found.append(step)
        elif found and found[-1].unit == wanted[0].unit:
            found[-1] = found[-1]._replace(formats=(found[-1].formats[0], step.formats[-1]))
        else:
            found.append(wanted[0]._replace(formats=(step.formats[0], step.formats[-1])))
    return found


# Our side.

_FIDELITY: Final = {1: "LoFi", 2: "HiFi2", 3: "HiFi3", 4: "HiFi4"}
_QUIET: Final = (
    *("fill", "copy", "move", "gather", "scatter", "tile rows", "write_window"),
    *("plus_one", "isin", "nonzero"),  # Of data movement processors.
)


def _chain(steps: Sequence[Any]) -> tuple[Any, ...]:
    return tuple((step[0], step[1], *(step[2] if len(step) > 2 else ())) for step in steps)


def our_step(function: str, settings: dict[str, Any], noted: Any) -> Step | None:
    """Return the step of an engine function.

    None if it only moves elements.
    """
    formats, dst32 = tuple(settings.get("formats", ())), bool(settings.get("dst32"))
    fidelity = _FIDELITY.get(settings.get("fidelity", 0))
    if function == "move" and settings.get("out_tile") is None and settings.get("in_tile") is not None:
        return Step("sfpu", ((),), formats, dst32, None) if formats[0] != formats[1] else None
    if function in _QUIET:
        return None
    if function == "rotate":
        return Step("sfpu", ((("alt_complex_rotate90", "default"),),), formats, dst32, None)
    if function == "unary":
        return Step("sfpu", (_chain(settings["chain"]),), formats, dst32, None)
    if function == "binary":
        fpu = settings["engine"] == "fpu"
        op = (
            (settings["op"],)
            if fpu or settings["op"] == "isclose"
            else (settings["op"], settings.get("variant", "default"), *settings.get("parameters", ()))
        )
        if dst32 and op[1:] == ("nearest_even",):
            op = (op[0], "default")
        sides = [_chain(settings.get(name, ())) for name in ("pre_a", "pre_b", "post")]
        functions = (sides[0], sides[1], op, sides[2], bool(settings.get("packer_relu")))
        return Step(
            "fpu" if fpu else "sfpu binary", functions, formats, dst32, fidelity if fpu and op == ("mul",) else None
        )
    if function == "ternary":
        op = (settings["op"], "default", *settings["parameters"])
        tensors = [code for code, shape in zip(formats, settings["shapes"], strict=False) if shape]
        formats = (*tensors, formats[-1])
        return Step("ternary", (op,), formats, dst32, None)
    if function == "grid_sample":
        return Step("pool", (4,), (), dst32, fidelity)
    if function == "pool":
        # A window of one pixel moves it.
        fields = (settings["window"],)
        return Step("pool", fields, (), dst32, fidelity) if settings["window"] > 1 else None
    if function == "grid_sample":
        # Four pixels with their weights.
        return Step("pool", (4,), (), dst32, fidelity)
    if function == "product":
        return Step(*program_reductions.our_product(settings, fidelity))
    if function == "attention" and "approximate" in settings:
        return Step(*program_reductions.our_attention(settings, fidelity))
    if function == "reduce":
        return Step(*program_reductions.our_reduction(settings, fidelity))
    if function == "matmul":
        # With a single block there is nothing that the packer accumulates.
        blocks = -(-settings["kt"] // settings["kb"])
        accumulates = settings["l1_acc"] and blocks > 1
        functions = (settings["kb"], blocks, accumulates)
        return Step("matmul", functions, (*formats[:2], formats[3]), dst32, fidelity)
    if function == "pipeline":
        if noted is None:
            return Step("pipeline", (), (), False, None)
        fidelity = _FIDELITY.get(noted.fidelity)
        return Step(
            *(program_reductions.our_pipeline(noted, fidelity) or program_reductions.our_passes(noted, fidelity))
        )
    return Step(function, (), formats, dst32, fidelity)


class Steps(Observer):
    """Collects the steps of the calls that run."""

    def __init__(self) -> None:
        self.found: list[Step] = []
        self.result: Any = None
        self._noted: list[Any] = []
        self.inside: list[str] = []

    def operation_start(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.inside.append(operation.__name__)

    def operation_end(self, result: Any) -> None:
        self.inside.pop()

    def operation_failed(self, error: BaseException) -> None:
        self.inside.pop()

    def noted(self, program: Any) -> None:
        self._noted.append(program)

    def step(self, function: str, settings: dict[str, Any]) -> None:
        if "ttnn.zeros" in self.inside[:1]:
            return
        noted = next((p for p in reversed(self._noted) if hasattr(p, "_tensors")), None)
        step = our_step(function, settings, noted)
        if step is not None:
            self.found.append(step)


def our_steps(expression: str, names: dict[str, Any]) -> Steps:
    """Return the observer of a call, with its steps and result."""
    steps = Steps()
    OBSERVERS.append(steps)
    try:
        steps.result = eval(expression, {**names, "__name__": "official calls"})
    finally:
        OBSERVERS.remove(steps)
    return steps


@dataclass(frozen=True)
class Compared:
    """One recorded call.

    Attributes:
        expression: The call.
        official: The official steps.
        ours: Our steps, or the error that our call raises.
        differs: The first field in which they differ, empty if they agree.
    """

    expression: str
    official: list[Step]
    ours: list[Step] | str
    differs: str

    @property
    def operator(self) -> str:
        """The operator that is called."""
        return self.expression.partition("(")[0]


def names_of(device: ttnn.MeshDevice) -> dict[str, Any]:
    """Return what the recorded expressions refer to."""

    def ckc(
        fidelity: str, fp32: bool = False, l1: bool = False, approx: bool = False
    ) -> ttnn.WormholeComputeKernelConfig:
        return ttnn.init_device_compute_kernel_config(
            device.arch(),
            math_fidelity=getattr(ttnn.MathFidelity, fidelity),
            math_approx_mode=approx,
            fp32_dest_acc_en=fp32,
            packer_l1_acc=l1,
        )

    return {**names_of_calls(device), "DRAM": ttnn.DRAM_MEMORY_CONFIG, "MF": ttnn.MathFidelity, "ckc": ckc}


def compare(record: dict[str, Any], names: dict[str, Any]) -> Compared:
    """Compare one record."""
    official = official_steps(record) if "programs" in record else []
    try:
        observed = our_steps(record["expr"], names)
    except Exception as error:
        if "error" in record and first_sentence(record["message"]) in str(error):
            return Compared(record["expr"], official, [], "")
        return Compared(record["expr"], official, f"{type(error).__name__}: {error}", "raises")
    ours, result = observed.found, observed.result
    if "error" in record:
        return Compared(record["expr"], official, ours, "works")
    if not ours and isinstance(result, ttnn.Tensor) and not result.volume():
        # The official programs of results without elements do nothing.
        return Compared(record["expr"], official, ours, "")
    theirs = normal_steps(official)
    return Compared(record["expr"], official, ours, first_difference(theirs, joined(normal_steps(ours), theirs)))


def first_difference(official: list[Step], ours: list[Step]) -> str:
    """Return the first field in which steps differ, empty if they agree."""
    official, ours = program_reductions.joined(official), program_reductions.joined(ours)
    if len(official) != len(ours):
        return f"steps {len(official)} != {len(ours)}"
    for theirs, own in zip(official, ours, strict=True):
        for field, first, second in zip(Step._fields, theirs, own, strict=True):
            if field == "functions" and theirs.unit == "pipeline" and first[:1] == (program_reductions.ANY,):
                first, second = first[1:], second[1:]
            if first != second:
                return field
    return ""


def walk(folder: Path, chip: str, wanted: Callable[[str], bool] = lambda _: True) -> list[Compared]:
    """Compare a chip's records whose expression is wanted."""
    device = ttnn.open_device(device_id=0, l1_small_size=32768, chip=chip)
    try:
        names = names_of(device)
        return [compare(record, names) for record in read_programs(folder, chip) if wanted(record["expr"])]
    finally:
        ttnn.close_device(device)


def calls_of(entry: dict[str, Any], chip: str) -> int:
    """Return how many calls of a listed operator differ on a chip.

    A chip with another number than a Wormhole has an entry of its own.
    """
    return int(entry.get(chip, entry)["calls"])


def row_of(entry: dict[str, Any], chip: str, calls: int) -> dict[str, Any]:
    """Return an operator's row with a chip's count of differing calls."""
    row = {"calls": 0, "why": "", **entry}
    if chip == WORMHOLE_CHIP:
        return {**row, "calls": calls}
    others = {name: value for name, value in row.items() if name != chip}
    return others if calls == row["calls"] else {**others, chip: {"calls": calls, "why": row.get(chip, row)["why"]}}


def agreeing(compared: Sequence[Compared]) -> list[str]:
    """Return the operators of which all recorded programs agree.

    An operator that only moves elements is not one of them: nothing of its programs is compared.
    """
    different = {one.operator for one in compared if one.differs}
    computing = {one.operator for one in compared if one.official} - different
    return sorted(entry.name for entry in registry.entries() if f"ttnn.{entry.name}" in computing)


def options_of(compared: Sequence[Compared], *, ours: bool = False) -> dict[str, dict[str, str]]:
    """Return the options that change official programs, or ours where programs agree."""
    return program_options.options_of(
        (one.expression, normal_steps(one.ours if ours and not isinstance(one.ours, str) else one.official))
        for one in compared
        if not (ours and one.differs)
    )


def main() -> None:
    """Print the differences of calls that match a pattern.

    `--write` updates the lists of the test.
    """
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="regular expression for expressions")
    parser.add_argument("--chip", choices=(WORMHOLE_CHIP, *CHANGED), default=WORMHOLE_CHIP)
    parser.add_argument("--each", type=int, default=2, help="differences shown for each operator and field")
    parser.add_argument("--write", action="store_true", help="write the counts and operators of the test's lists")
    options = parser.parse_args()
    pattern = re.compile(options.pattern)
    compared = walk(Path(os.environ["TTNN_GOLDEN"]), options.chip, lambda text: pattern.search(text) is not None)
    shown: Counter[tuple[str, str]] = Counter()
    for one in compared:
        shown[one.operator, one.differs] += 1
        if one.differs and shown[one.operator, one.differs] <= options.each:
            print(f"{one.differs}: {one.expression}")
            for title, steps in (("official", one.official), ("ours", one.ours)):
                lines = [steps] if isinstance(steps, str) else [str(step) for step in steps]
                print(*(f"    {title}: {line}" for line in lines), sep="\n")
    different = Counter(one.operator for one in compared if one.differs)
    print(f"{len(compared) - different.total()} of {len(compared)} agree")
    print(different.most_common(40))
    if options.write and not options.pattern:
        listed = json.loads(DIFFERENCES.read_text(encoding="utf-8")) if DIFFERENCES.exists() else {}
        names = sorted({*different, *listed})
        rows = {name: row_of(listed.get(name, {}), options.chip, different[name]) for name in names}
        rows = {
            name: row for name, row in rows.items() if any(calls_of(row, chip) for chip in (WORMHOLE_CHIP, *CHANGED))
        }
        rows_of = (f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
        DIFFERENCES.write_text("{\n" + ",\n".join(rows_of) + "\n}\n", encoding="utf-8")
        if options.chip != WORMHOLE_CHIP:
            return
        program_options.TABLE.write_text(program_options.written(options_of(compared)), encoding="utf-8")
        RECORDED.write_text(json.dumps(agreeing(compared), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Recorded kernels of the official package as steps: units, functions, formats.

Programs that only move elements are left out.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import program_reductions

from ttnn.kernel_api import sfpu, sfpu_binary, sfpu_integers, sfpu_special, sfpu_variants
from ttnn.kernel_api.sfpu_functions import Approximable

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

"""Named pipelines: what they are made of, given their options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.features import BFP8_CONVERSION, COMPOSITES, EARLY_FOLD, OPTIMIZATION_LEVEL, TRACE_SLOTS
from ttnn.compiler.pipelines.passes import EMITPY_OPTIONS, PASSES
from ttnn.compiler.transforms.options import Option

__all__ = ["PIPELINES", "STABLEHLO", "Pipeline", "Step"]

Step = tuple[str, str]
"""A pass or pipeline and the text of its options."""


@dataclass(frozen=True)
class Pipeline:
    """A pipeline.

    Attributes:
        name: As it is written on the command line.
        doc: What it does, one line.
        options: Its options.
        steps: Its passes, given the values of its options.
        later_options: Its options in the later versions, if they differ.
        later_steps: Its passes in the later versions.
        versions: The span of versions of the modules to which it applies.
    """

    name: str
    doc: str
    options: tuple[Option, ...]
    steps: Callable[[dict[str, Any]], list[Step]]
    later_options: tuple[Option, ...] | None = None
    later_steps: Callable[[dict[str, Any]], list[Step]] | None = None
    versions: str = "2025-10.."


_TT_TTNN = (
    Option("enable-optimizer", "bool", True, "Choose grids and layouts of outputs."),
    Option("override-grid-sizes", "str", "", "name=RxC,...: grids by location name."),
    Option("override-output-layout", "str", "", "name=RxC:space:layout,...: outputs by location name."),
    Option("sharding-pass-enabled", "bool", False, "Keep chains of operations in L1."),
    Option("system-desc-path", "str", "", "File of a system descriptor."),
    Option("mesh-shape", "str", "", "Chips per dimension of the mesh."),
)


def _given(values: dict[str, Any], **names: str) -> str:
    """Return the options text of given values.

    The keyword is the option's name with `_`.
    """
    parts = []
    for target, source in names.items():
        value = values[source]
        if value not in ("", None):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            parts.append(f"{target.replace('_', '-')}={text}")
    return " ".join(parts)


_LATER_TTNN = (
    *(
        Option(name, "str", "", "Not supported for modules of the later versions.")
        for name in (
            "override-output-layout",
            "override-conv2d-config",
            "insert-memreconfig",
            "memory-layout-analysis-policy",
            "tensor-l1-usage-cap",
            "max-legal-layouts",
            "argument-types",
        )
    ),
    Option("system-desc-path", "str", "", "File of a system descriptor."),
    Option("mock-system-desc-arch", "str", "", "Architecture where no descriptor is given."),
    Option("mesh-shape", "str", "", "Chips per dimension of the mesh."),
    Option("mesh-topology", "str", "", "Topology per dimension of the mesh."),
    Option("enable-optimizer", "bool", False, "Rewrite the program where its predicted time falls."),
    Option("optimization-level", "int", 0, "0: no optimizer; 1: as enable-optimizer. Others are not supported (2026)."),
    Option("preserve-bits", "bool", False, "Let the optimizer change no bit of a result."),
    Option("memory-layout-analysis-enabled", "bool", False, "Not supported: tensors stay in DRAM."),
    Option("enable-fusing-pass", "bool", True, "Fuse operations."),
    Option("enable-fusing-conv2d-with-multiply-pattern", "bool", False, "Fuse a scale into weights."),
    Option("enable-fusing-global-avg-pool-pattern", "bool", False, "Fuse sums into pools."),
    Option("enable-permute-matmul-fusion", "bool", False, "Let products transpose their operands."),
    Option("enable-permute-slice-after-matmul-fusion", "bool", True, "Slice operands of products, not the results."),
    Option("enable-erase-inverse-ops-pass", "bool", True, "Erase pairs of inverse operations."),
    Option("enable-quant-dequant-conversion-pass", "bool", True, "Move quantization through operations."),
    Option("enable-implicit-broadcast-folding-pass", "bool", True, "Fold broadcasts into operations."),
    Option("enable-layout-workaround-pass", "bool", True, "Adapt layouts to what operations support."),
    Option("enable-decomposition-workaround-pass", "bool", True, "Decompose operations that TT-NN lacks."),
    Option("exact-integers", "bool", True, "Keep 32-bit integers where the official compiler takes float32."),
    Option("enable-ttnn-decomposition-pass", "bool", True, "Decompose calls that TT-NN lacks."),
    Option("enable-remove-dead-values", "bool", False, "Erase unused values."),
    Option("enable-const-eval", "bool", True, "Move what depends on parameters only to functions of their own."),
    Option("composite-resolution", "str", "auto", "auto, inline, validate or force-promote: what composites become."),
    Option("enable-cpu-hoisted-const-eval", "bool", True, "No effect: constants are computed on the device."),
    Option("enable-const-eval-inputs-to-system-memory", "bool", True, "Keep their arguments on the host."),
    Option("experimental-weight-dtype", "str", "none", "Block format of weights: bfp_bf8, bfp_bf4 or none."),
    Option("experimental-kv-cache-dtype", "str", "none", "Block format of caches: bfp_bf8, bfp_bf4 or none."),
    Option("enable-trace", "bool", False, "Record the program as a trace."),
    Option("check-unique-locs", "bool", False, "Require locations of operations to differ."),
    Option("target-bit-width", "int", 32, "Width of quantized integers."),
    Option("enable-bfp8-conversion", "bool", False, "Compute in bfp_bf8 where it was bfloat16 (2025)."),
    Option("enable-activation-dtype-lowering", "bool", False, "Let chips exchange projections in bfp_bf8 (2026)."),
)


_WITHOUT_MODEL: dict[str, object] = {
    "override-output-layout": "",
    "override-conv2d-config": "",
    "insert-memreconfig": "",
    "memory-layout-analysis-policy": "",
    "tensor-l1-usage-cap": "",
    "max-legal-layouts": "",
    "memory-layout-analysis-enabled": False,
    "target-bit-width": 32,
}


def _has(name: str, values: dict[str, Any]) -> bool:
    """Return whether the version of the module has a pass."""
    return values["version"] in PASSES[name].versions


def _refuse(values: dict[str, Any]) -> None:
    """Refuse options that ask for what the later pipeline does not do.

    Raises:
        UnsupportedError: An option asks for it.
    """
    for name, default in _WITHOUT_MODEL.items():
        if values[name] != default:
            raise UnsupportedError(
                f"option {name}={values[name]} of the TTNN pipeline is not supported for modules of later versions: "
                "there tensors stay interleaved in DRAM. Leave the option out.",
                "unimplemented",
            )
    if values["optimization-level"] not in (0, 1):
        raise UnsupportedError(
            f"option optimization-level={values['optimization-level']} is not supported: there are 0 (no optimizer) "
            "and 1 (fusions and program configurations); no level places tensors in L1.",
            "unimplemented",
        )
    if values["optimization-level"] and not OPTIMIZATION_LEVEL.of(values["version"]):
        raise UnsupportedError("option optimization-level is one of 2026-08; in 2025-10 say enable-optimizer=true.")
    if values["preserve-bits"] and not _optimizes(values):
        raise UnsupportedError("option preserve-bits is one of the optimizer: add enable-optimizer=true.")
    if values["enable-activation-dtype-lowering"] and not _has("ttnn-ccl-activation-dtype-lowering", values):
        raise UnsupportedError("option enable-activation-dtype-lowering is one of 2026-08.")
    if values["enable-bfp8-conversion"] and not BFP8_CONVERSION.of(values["version"]):
        raise UnsupportedError(
            "option enable-bfp8-conversion is one of 2025-10: in 2026-08 experimental-weight-dtype=bfp_bf8"
            " and experimental-kv-cache-dtype=bfp_bf8 convert weights and caches, and "
            "ttir-global-data-format-conversion{target-format=bfp_bf8} converts whole functions.",
            "unsupported",
        )


def _optimizes(values: dict[str, Any]) -> bool:
    """Return whether the optimizer is asked for."""
    return bool(values["enable-optimizer"] or values["optimization-level"])


def _fusing(values: dict[str, Any]) -> list[Step]:
    """Return the pass that fuses, if it is asked for.

    With the optimizer convolutions take scales too, as far as bits may change.
    """
    scales = values["enable-fusing-conv2d-with-multiply-pattern"]
    scales = scales or (_optimizes(values) and not values["preserve-bits"])
    values = {**values, "enable-fusing-conv2d-with-multiply-pattern": scales}
    options = _given(
        values,
        ttnn_enable_conv2d_with_multiply_pattern="enable-fusing-conv2d-with-multiply-pattern",
        ttnn_enable_global_avg_pool_pattern="enable-fusing-global-avg-pool-pattern",
        enable_permute_matmul_fusion="enable-permute-matmul-fusion",
        enable_permute_slice_after_matmul_fusion="enable-permute-slice-after-matmul-fusion",
    )
    return [("ttir-fusing", options)] if values["enable-fusing-pass"] else []


def _early_fold(values: dict[str, Any]) -> list[Step]:
    if not EARLY_FOLD.of(values["version"]) or not values["enable-implicit-broadcast-folding-pass"]:
        return []
    return [("ttir-implicit-broadcast-fold", ""), ("canonicalize", "")]


def _later_ttir(values: dict[str, Any]) -> list[Step]:
    fusing = _fusing(values)
    steps: list[Step] = [
        ("ttir-element-type-normalization", _given(values, enable_bfp8_conversion="enable-bfp8-conversion")),
        ("canonicalize", ""),
        ("ttcore-wrap-device-module", ""),
        (
            "ttcore-register-device",
            _given(
                values,
                system_desc_path="system-desc-path",
                mock_system_desc_arch="mock-system-desc-arch",
                mesh_shape="mesh-shape",
                mesh_topology="mesh-topology",
            ),
        ),
        *fusing,
        ("ttir-to-ttir-decomposition", ""),
        *fusing,
        ("canonicalize", ""),
        *_early_fold(values),
        ("inline", ""),
        ("ttir-infer-kv-cache-argument-types", ""),
        ("ttir-flatten-sliding-window", ""),
    ]
    if values["enable-erase-inverse-ops-pass"]:
        steps += [("ttir-explicate-tms", ""), ("ttir-erase-inverse-ops", "")]
    if values["enable-implicit-broadcast-folding-pass"]:
        steps.append(("ttir-implicit-broadcast-fold", ""))
    return [*steps, *fusing]


def _later_ttnn(values: dict[str, Any]) -> list[Step]:
    _refuse(values)
    steps: list[Step] = [("ttcore-mark-functions-as-forward", ""), *_later_ttir(values)]
    steps += [("ttnn-layout", ""), ("convert-ttir-to-ttnn", "")]
    if values["enable-remove-dead-values"]:
        steps.append(("remove-dead-values", ""))
    if COMPOSITES.of(values["version"]):
        steps += [
            ("ttnn-resolve-composites", f"composite-resolution={values['composite-resolution']}"),
            ("canonicalize", ""),
            ("symbol-dce", ""),
        ]
    if values["enable-fusing-pass"]:
        steps.append(("ttnn-fusing", ""))
    if values["enable-ttnn-decomposition-pass"]:
        steps.append(("ttnn-decomposition", ""))
    steps += _workarounds(values)
    steps += [
        ("ttnn-configure-ccl-ops", ""),
        ("ttnn-weight-dtype-conversion", f"target-dtype={values['experimental-weight-dtype']}"),
        ("ttnn-kv-cache-dtype-conversion", f"target-dtype={values['experimental-kv-cache-dtype']}"),
        ("ttnn-prepare-conv3d-weights", ""),
    ]
    if values["enable-activation-dtype-lowering"]:
        steps.append(("ttnn-ccl-activation-dtype-lowering", ""))
    if _optimizes(values):
        steps.append(
            ("ttnn-optimizer", _given(values, preserve_bits="preserve-bits", enable_const_eval="enable-const-eval"))
        )
    if values["enable-const-eval"]:
        steps.append(("const-eval-hoist-transform", ""))
        if values["enable-const-eval-inputs-to-system-memory"]:
            steps.append(("ttnn-const-eval-inputs-to-system-memory", ""))
    trace: list[Step] = [("ttnn-trace-hoist-transform", "")] if values["enable-trace"] else []
    layouts: list[Step] = [("ttnn-decompose-layouts", "")]
    # A trace that takes its inputs from the host changes layouts of arguments.
    steps += trace + layouts if TRACE_SLOTS.of(values["version"]) else layouts + trace
    return [step for step in steps if _has(step[0], values)] + [("ttnn-deallocate", "")]


def _workarounds(values: dict[str, Any]) -> list[Step]:
    options = _given(
        values,
        ttnn_enable_layout_workaround_pass="enable-layout-workaround-pass",
        ttnn_enable_decomposition_workaround_pass="enable-decomposition-workaround-pass",
        exact_integers="exact-integers",
    )
    return [("ttnn-workaround", options), ("canonicalize", "")]


_EMITPY = (*_LATER_TTNN, *EMITPY_OPTIONS)


def _later_emitpy(values: dict[str, Any]) -> list[Step]:
    return [*_later_ttnn(values), *_common_to_emitpy(values)]


def _tt_ttnn(values: dict[str, Any]) -> list[Step]:
    steps = [
        ("ttir-sliding-window-2d-fix-shapes", ""),
        ("ttir-load-system-desc", _given(values, path="system-desc-path")),
        ("ttir-implicit-device", _given(values, mesh_shape="mesh-shape")),
        (
            "ttir-layout",
            "init-memory-space=system default-memory-space=dram default-device-memory-layout=interleaved",
        ),
    ]
    if values["enable-optimizer"]:
        options = _given(
            values,
            override_grid_sizes="override-grid-sizes",
            override_output_layout="override-output-layout",
            sharding_pass_enabled="sharding-pass-enabled",
        )
        steps.append(("ttir-optimizer", options))
    return [*steps, ("convert-ttir-to-ttnn", "")]


def _tt_ttmetal(values: dict[str, Any]) -> list[Step]:
    return [
        ("ttir-load-system-desc", ""),
        ("ttir-implicit-device", _given(values, mesh_shape="mesh-shape")),
        ("ttir-constant-as-fill", ""),
        ("ttir-generic", ""),
        ("ttir-layout", "init-memory-space=l1 default-memory-space=l1 default-device-memory-layout=none"),
        ("ttir-generic-region-operands-to-memref", ""),
        ("ttir-allocate", ""),
        ("convert-ttir-to-ttmetal", ""),
    ]


_LATER_TTMETAL = (
    Option("system-desc-path", "str", "", "File of a system descriptor."),
    Option("mock-system-desc-arch", "str", "", "Architecture where no descriptor is given."),
    *(
        Option(name, "str", "", "Not supported: kernels of the later versions are not made.")
        for name in (
            "mesh-shape",
            "mesh-topology",
            "override-device-shape",
            "default-input-memspace",
            "default-output-memspace",
            "collapse-tensors-2d",
            "disable-tolayout-folding",
            "enable-elementwise-fusion",
            "force-compile-time-args",
            "ttnn-mode",
            "use-tensor-accessor-dma",
            "use-tile-matmul",
        )
    ),
)


def _later_ttmetal(values: dict[str, Any]) -> list[Step]:
    """Refuse to make kernels of the later versions.

    Raises:
        UnsupportedError: Always.
    """
    del values
    raise UnsupportedError(
        "ttir-to-ttmetal-pipeline uses the dialect d2m, which is read in generic form only: kernels are made "
        "of modules of 2024-09, by ttir-to-ttmetal-backend-pipeline.",
        "unimplemented",
    )


def _common_to_emitpy(values: dict[str, Any]) -> list[Step]:
    names = {option.name.replace("-", "_"): option.name for option in EMITPY_OPTIONS}
    return [("convert-ttnn-to-emitpy", _given(values, **names))]


def _later_emitc(values: dict[str, Any]) -> list[Step]:
    return [*_later_ttnn(values), ("convert-ttnn-to-emitc", "")]


def _common_to_emitc(values: dict[str, Any]) -> list[Step]:
    del values
    return [("convert-ttnn-to-emitc", "")]


def _nothing(values: dict[str, Any]) -> list[Step]:
    """Host functions are device functions: nothing remains to lower."""
    del values
    return []


_STABLEHLO_TTIR = (
    Option("check-scatter-bounds", "bool", False, "Let scatters ignore positions out of range."),
    *(
        Option(name, "bool", True, "No effect: the importer does it where it is needed.")
        for name in ("enable-arith-to-stablehlo", "enable-composite-to-call", "enable-aggressive-simplification")
    ),
    Option(
        "enable-cpu-fallback", "bool", True, "Wrap the program as that of the device; no operation runs on the host."
    ),
)


def _stablehlo_to_ttir(values: dict[str, Any]) -> list[Step]:
    steps = [("convert-stablehlo-to-ttir", _given(values, check_scatter_bounds="check-scatter-bounds"))]
    return [*steps, ("ttcore-wrap-device-module", "")] if values["enable-cpu-fallback"] else steps


def _stablehlo(values: dict[str, Any]) -> list[Step]:
    del values
    return [("inline", ""), ("symbol-dce", "")]


_ALL = (
    Pipeline(
        "ttir-to-ttnn-common-pipeline",
        "Lower tensor operations to the TT-NN library, for any target.",
        _LATER_TTNN,
        _later_ttnn,
    ),
    Pipeline(
        "ttnn-common-to-runtime-pipeline",
        "Lower the result of the common pipeline to binary operations: it has that form already.",
        (),
        _nothing,
    ),
    Pipeline(
        "ttnn-common-to-emitc-pipeline",
        "Lower the result of the common pipeline to C++ statements.",
        (),
        _common_to_emitc,
    ),
    Pipeline(
        "ttnn-common-to-emitpy-pipeline",
        "Lower the result of the common pipeline to Python statements.",
        EMITPY_OPTIONS,
        _common_to_emitpy,
    ),
    Pipeline(
        "ttnn-backend-to-emitpy-pipeline",
        "Lower ttnn operations to Python statements.",
        EMITPY_OPTIONS,
        _common_to_emitpy,
    ),
    Pipeline(
        "ttnn-backend-to-emitc-pipeline",
        "Lower ttnn operations to C++ statements.",
        (),
        _common_to_emitc,
    ),
    Pipeline(
        "ttir-to-ttmetal-pipeline",
        "Not supported: lower tensor operations of the later versions to kernels.",
        _LATER_TTMETAL,
        _later_ttmetal,
    ),
    Pipeline(
        "ttir-to-ttnn-backend-pipeline",
        "Lower tensor operations to the TT-NN library.",
        _TT_TTNN,
        _tt_ttnn,
        _LATER_TTNN,
        _later_ttnn,
        versions="2024-09..",
    ),
    Pipeline(
        "ttir-to-ttnn-runtime-pipeline",
        "Lower tensor operations to the TT-NN library.",
        _LATER_TTNN,
        _later_ttnn,
    ),
    Pipeline(
        "ttir-to-emitpy-pipeline",
        "Lower tensor operations to statements of Python, which ttmlir-translate --mlir-to-python writes.",
        _EMITPY,
        _later_emitpy,
    ),
    Pipeline(
        "ttir-to-emitc-pipeline",
        "Lower tensor operations to statements of C++, which ttmlir-translate --mlir-to-cpp writes.",
        _LATER_TTNN,
        _later_emitc,
    ),
    Pipeline(
        "ttir-to-ttmetal-backend-pipeline",
        "Lower tensor operations to commands and kernels.",
        (Option("mesh-shape", "str", "", "Chips per dimension of the mesh."),),
        _tt_ttmetal,
        versions="2024-09",
    ),
    Pipeline(
        "stablehlo-pipeline",
        "Write out calls of StableHLO programs; the importer places tensors on the mesh.",
        (),
        _stablehlo,
        versions="2026-08",
    ),
    Pipeline(
        "stablehlo-to-ttir-pipeline",
        "Turn StableHLO programs into tensor operations.",
        _STABLEHLO_TTIR,
        _stablehlo_to_ttir,
        versions="2026-08",
    ),
)

PIPELINES: dict[str, Pipeline] = {one.name: one for one in _ALL}

STABLEHLO: frozenset[str] = frozenset({"convert-stablehlo-to-ttir", "stablehlo-pipeline", "stablehlo-to-ttir-pipeline"})
"""Passes and pipelines of StableHLO programs.

A command with one of them reads such a program.
"""

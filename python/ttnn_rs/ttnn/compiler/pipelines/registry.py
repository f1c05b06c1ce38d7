"""Functions of passes, by name. `passes` has their options.

The modules of a dialect are imported when one of its passes runs: a tool that runs one pass starts sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from ttnn.compiler.ir.module import Module

__all__ = ["find"]

Run: TypeAlias = Callable[..., None]
"""Function of a module, and of any option values."""


@cache
def _generic() -> dict[str, Run]:
    """Return the passes of every dialect."""
    from ttnn.compiler.transforms import cleanup

    return {
        "canonicalize": cleanup.canonicalize,
        "cse": cleanup.cse,
        "symbol-dce": cleanup.symbol_dce,
        "inline": cleanup.inline,
        "remove-dead-values": cleanup.remove_dead_values,
        "form-expressions": cleanup.form_expressions,
    }


@cache
def _ttcore() -> dict[str, Run]:
    """Return the passes of systems and devices."""
    from ttnn.compiler.transforms.ttcore import device, populate_argument_types, system

    return {
        "ttir-load-system-desc": system.load_system_desc,
        "ttir-implicit-device": system.implicit_device,
        "ttcore-wrap-device-module": device.wrap,
        "ttcore-unwrap-device-module": device.unwrap,
        "ttcore-mark-functions-as-forward": device.mark_forward,
        "ttcore-register-device": device.register_device,
        "tt-populate-argument-types": populate_argument_types.run,
    }


@cache
def _tt() -> dict[str, Run]:
    """Return the passes of the first version, whose dialect is `tt`."""
    from ttnn.compiler.transforms.tt import allocate, generic, optimizer, shapes, split
    from ttnn.compiler.transforms.tt import layout as tt_layout

    return {
        "ttir-generic-kernel": generic.generic_kernel,
        "ttir-generic": generic.generic,
        "ttir-generic-region-operands-to-memref": generic.operands_to_memref,
        "ttir-layout": tt_layout.run,
        "ttir-split-compound-layout": split.run,
        "ttir-constant-as-fill": shapes.constant_as_fill,
        "ttir-sliding-window-2d-fix-shapes": shapes.sliding_window,
        "ttir-optimizer": optimizer.run,
        "ttir-allocate": allocate.run,
    }


@cache
def _ttir() -> dict[str, Run]:
    """Return the passes of tensor operations."""
    from ttnn.compiler.transforms.ttir import (
        constant_shapes,
        element_type_normalization,
        flatten_sliding_window,
        global_data_format_conversion,
        implicit_broadcast_fold,
        kv_caches,
        predicate_types,
        propagate_weight_dtype,
        quant_data_type_conversion,
        reduction_force_keep_dim,
    )
    from ttnn.compiler.transforms.ttir.decomposition import composites
    from ttnn.compiler.transforms.ttir.decomposition import decompose as decomposition
    from ttnn.compiler.transforms.ttir.erase_inverse_ops import complex_moves, explicate
    from ttnn.compiler.transforms.ttir.erase_inverse_ops import erase as erase_inverse_ops
    from ttnn.compiler.transforms.ttir.fusing import registry as fusing

    return {
        "ttir-element-type-normalization": element_type_normalization.run,
        "ttir-to-ttir-decomposition": decomposition.run,
        "ttir-explicate-tms": explicate.run,
        "ttir-erase-inverse-ops": erase_inverse_ops.run,
        "ttir-fusing": fusing.run,
        "ttir-fold-constant-reshape-broadcast": constant_shapes.fold_into_constants,
        "ttir-move-reshape-to-constant": constant_shapes.move_to_constants,
        "ttir-reduction-force-keep-dim": reduction_force_keep_dim.force_keep_dim,
        "ttir-infer-kv-cache-argument-types": kv_caches.infer_arguments,
        "ttir-consolidate-static-cache-updates": kv_caches.share_lengths,
        "ttir-decompose-complex-permute": complex_moves.split_permutes,
        "ttir-decompose-complex-reshape": complex_moves.split_reshapes,
        "ttir-global-data-format-conversion": global_data_format_conversion.run,
        "ttir-quant-data-type-conversion": quant_data_type_conversion.convert,
        "ttir-decompose-composites": composites.run,
        "ttir-fold-full-to-scalar": implicit_broadcast_fold.fold_full,
        "ttir-predicate-type-alignment": predicate_types.align,
        "ttir-cpu-boolean-narrowing": predicate_types.narrow,
        "ttir-implicit-broadcast-fold": implicit_broadcast_fold.run,
        "ttir-propagate-weight-dtype": propagate_weight_dtype.run,
        "ttir-flatten-sliding-window": flatten_sliding_window.run,
    }


@cache
def _ttnn() -> dict[str, Run]:
    """Return the passes of library operations."""
    from ttnn.compiler.transforms.ttnn import (
        adjust_deallocs,
        ccl_activation_dtype_lowering,
        collect_perf_metrics,
        configure_ccl_ops,
        const_eval_hoist,
        deallocate,
        decompose_layouts,
        emitpy_workarounds,
        inputs,
        kv_cache_dtype_conversion,
        prepare_conv3d_weights,
        resolve_composites,
        set_compute_kernel_config,
        trace_hoist,
        weight_dtype_conversion,
    )
    from ttnn.compiler.transforms.ttnn import decomposition as ttnn_decomposition
    from ttnn.compiler.transforms.ttnn import fusing as ttnn_fusing
    from ttnn.compiler.transforms.ttnn.layout import ttnn_layout
    from ttnn.compiler.transforms.ttnn.optimizer import optimizer
    from ttnn.compiler.transforms.ttnn.workarounds import workarounds

    return {
        "ttnn-layout": ttnn_layout.run,
        "ttnn-set-compute-kernel-config": set_compute_kernel_config.run,
        "ttnn-configure-ccl-ops": configure_ccl_ops.run,
        "ttnn-fusing": ttnn_fusing.run,
        "ttnn-optimizer": optimizer.run,
        "ttnn-workaround": workarounds.run,
        "const-eval-hoist-transform": const_eval_hoist.run,
        "ttnn-prepare-conv3d-weights": prepare_conv3d_weights.run,
        "ttnn-trace-hoist-transform": trace_hoist.run,
        "ttnn-const-eval-inputs-to-system-memory": const_eval_hoist.inputs_to_host,
        "ttnn-weight-dtype-conversion": weight_dtype_conversion.run,
        "ttnn-ccl-activation-dtype-lowering": ccl_activation_dtype_lowering.run,
        "ttnn-kv-cache-dtype-conversion": kv_cache_dtype_conversion.run,
        "ttnn-resolve-composites": resolve_composites.run,
        "ttnn-decomposition": ttnn_decomposition.run,
        "ttnn-adjust-deallocs": adjust_deallocs.adjust,
        "ttnn-force-final-deallocs": adjust_deallocs.force,
        "ttnn-emitpy-workarounds": emitpy_workarounds.run,
        "ttnn-tuplify-tensors": inputs.tuplify,
        "ttnn-create-input-gens": inputs.create,
        "ttnn-load-input-tensors": inputs.load,
        "ttnn-prepare-module-for-export": inputs.export,
        "ttnn-decompose-layouts": decompose_layouts.run,
        "ttnn-collect-perf-metrics": collect_perf_metrics.run,
        "ttnn-deallocate": deallocate.run,
    }


@cache
def _conversions() -> dict[str, Run]:
    """Return the passes from one dialect to another."""
    from ttnn.compiler.conversion import ttir_to_ttmetal, ttkernel_to_emitc, ttnn_to_emit
    from ttnn.compiler.conversion.ttir_to_ttnn import lowering

    return {
        "convert-ttkernel-to-emitc": ttkernel_to_emitc.run,
        "convert-ttnn-to-emitc": ttnn_to_emit.to_emitc,
        "convert-ttnn-to-emitpy": ttnn_to_emit.to_emitpy,
        "convert-ttir-to-ttmetal": ttir_to_ttmetal.run,
        "convert-ttir-to-ttnn": lowering.run,
    }


@cache
def _importers() -> dict[str, Run]:
    """Return the passes that import programs of frameworks."""
    from ttnn.compiler.importers.stablehlo import to_ttir

    def stablehlo(module: Module, options: dict[str, Any]) -> None:
        to_ttir(module, checked=options["check-scatter-bounds"])

    return {"convert-stablehlo-to-ttir": stablehlo}


_GROUPS: Final = (_generic, _ttcore, _tt, _ttir, _ttnn, _conversions, _importers)


def find(name: str) -> Run:
    """Return the function of a pass of the catalog."""
    return next(group()[name] for group in _GROUPS if name in group())

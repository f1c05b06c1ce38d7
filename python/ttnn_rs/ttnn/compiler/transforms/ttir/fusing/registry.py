"""Fusing patterns, and the pass `ttir-fusing`."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.ir.module import Module
from ttnn.compiler.transforms.rewriting import Pattern, pattern, rewrite
from ttnn.compiler.transforms.ttir.canonical.registry import FOLDS
from ttnn.compiler.transforms.ttir.fusing import (
    activations,
    convolutions,
    heads,
    normalization,
    pools,
    products,
    reductions,
    selection,
    softmax,
)

__all__ = ["FIRST", "PATTERNS", "SWITCHED", "run"]

FIRST = (
    pattern(convolutions.tag_weights, "conv2d", versions="2025-10.."),
    pattern(convolutions.tag_weights, "convolution", versions="2025-10"),
    pattern(convolutions.tag_weights, "conv3d", versions="2026-08.."),
    pattern(products.bias, "add", versions="2026-08.."),
)
"""Patterns that run before all others."""

SWITCHED: dict[str, tuple[Pattern, ...]] = {
    "ttnn-enable-conv2d-with-multiply-pattern": (
        pattern(convolutions.scale, "multiply", versions="2025-10.."),
        pattern(convolutions.batch_norm, "batch_norm_inference", versions="2025-10.."),
    ),
    "ttnn-enable-global-avg-pool-pattern": (pattern(reductions.global_average, "multiply", versions="2025-10"),),
    "enable-permute-matmul-fusion": (pattern(products.permuted_operands, "matmul", "linear", versions="2026-08.."),),
    "enable-permute-slice-after-matmul-fusion": (pattern(products.slice_after, "slice_static", versions="2026-08.."),),
}
"""Patterns that an option switches on."""

PATTERNS = (
    pattern(convolutions.bias, "add", versions="2025-10.."),
    pattern(convolutions.padding3d, "conv3d", versions="2026-08.."),
    pattern(reductions.kept_dimensions, "reshape", versions="2025-10.."),
    pattern(softmax.softmax, "div", versions="2025-10.."),
    pattern(softmax.stable_softmax, "softmax", versions="2025-10.."),
    pattern(activations.relu, "maximum", versions="2025-10.."),
    pattern(convolutions.two_branches, "add", versions="2026-08.."),
    pattern(selection.cache, "scatter", versions="2025-10"),
    pattern(heads.concatenate_heads, "reshape", versions="2025-10.."),
    pattern(pools.padding, "pooling", versions="2025-10"),
    pattern(pools.counted_average, "div", versions="2025-10"),
    pattern(reductions.scaled_sum, "multiply", versions="2026-08.."),
    pattern(reductions.spatial_mean, "mean", versions="2026-08.."),
    pattern(products.bias_of_same_shape, "add", versions="2025-10"),
    pattern(products.shared_operand, "matmul", "linear", versions="2026-08.."),
    pattern(normalization.rms_norm, "multiply", versions="2026-08.."),
    pattern(normalization.scaled_l2_norm, "multiply", versions="2026-08.."),
    pattern(activations.gelu, "multiply", versions="2025-10.."),
    pattern(activations.relu6, "minimum", versions="2025-10.."),
    pattern(activations.silu, "multiply", versions="2025-10.."),
    pattern(activations.hardsigmoid, "div", versions="2026-08.."),
    pattern(activations.mish, "multiply", versions="2026-08.."),
    pattern(heads.repeated_heads, "reshape", versions="2026-08.."),
    pattern(selection.topk, "sort", versions="2026-08.."),
)
"""Patterns that always run."""


def run(module: Module, options: dict[str, Any]) -> None:
    """Fuse operations until no pattern applies."""
    rewrite(module, (*FOLDS, *FIRST))
    switched = [one for name, patterns in SWITCHED.items() if options[name] for one in patterns]
    rewrite(module, (*FOLDS, *PATTERNS, *switched))

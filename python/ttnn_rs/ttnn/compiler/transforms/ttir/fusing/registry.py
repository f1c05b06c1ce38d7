"""The list of patterns that fuse, and the pass `ttir-fusing` that applies them."""

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
    pattern(convolutions.tag_weights, "conv2d", since="2025-10"),
    pattern(convolutions.tag_weights, "convolution", only="2025-10"),
    pattern(convolutions.tag_weights, "conv3d", since="2026-08"),
    pattern(products.bias, "add", since="2026-08"),
)
"""Patterns that run before all others."""

SWITCHED: dict[str, tuple[Pattern, ...]] = {
    "ttnn-enable-conv2d-with-multiply-pattern": (
        pattern(convolutions.scale, "multiply", since="2025-10"),
        pattern(convolutions.batch_norm, "batch_norm_inference", since="2025-10"),
    ),
    "ttnn-enable-global-avg-pool-pattern": (pattern(reductions.global_average, "multiply", only="2025-10"),),
    "enable-permute-matmul-fusion": (pattern(products.permuted_operands, "matmul", "linear", since="2026-08"),),
    "enable-permute-slice-after-matmul-fusion": (pattern(products.slice_after, "slice_static", since="2026-08"),),
}
"""Patterns that an option switches on."""

PATTERNS = (
    pattern(convolutions.bias, "add", since="2025-10"),
    pattern(convolutions.padding3d, "conv3d", since="2026-08"),
    pattern(reductions.kept_dimensions, "reshape", since="2025-10"),
    pattern(softmax.softmax, "div", since="2025-10"),
    pattern(softmax.stable_softmax, "softmax", since="2025-10"),
    pattern(activations.relu, "maximum", since="2025-10"),
    pattern(convolutions.two_branches, "add", since="2026-08"),
    pattern(selection.cache, "scatter", only="2025-10"),
    pattern(heads.concatenate_heads, "reshape", since="2025-10"),
    pattern(pools.padding, "pooling", only="2025-10"),
    pattern(pools.counted_average, "div", only="2025-10"),
    pattern(reductions.scaled_sum, "multiply", since="2026-08"),
    pattern(reductions.spatial_mean, "mean", since="2026-08"),
    pattern(products.bias_of_same_shape, "add", only="2025-10"),
    pattern(products.shared_operand, "matmul", "linear", since="2026-08"),
    pattern(normalization.rms_norm, "multiply", since="2026-08"),
    pattern(normalization.scaled_l2_norm, "multiply", since="2026-08"),
    pattern(activations.gelu, "multiply", since="2025-10"),
    pattern(activations.relu6, "minimum", since="2025-10"),
    pattern(activations.silu, "multiply", since="2025-10"),
    pattern(activations.hardsigmoid, "div", since="2026-08"),
    pattern(activations.mish, "multiply", since="2026-08"),
    pattern(heads.repeated_heads, "reshape", since="2026-08"),
    pattern(selection.topk, "sort", since="2026-08"),
)
"""Patterns that always run."""


def run(module: Module, options: dict[str, Any]) -> None:
    """Fuse operations until no pattern applies."""
    rewrite(module, (*FOLDS, *FIRST))
    switched = [one for name, patterns in SWITCHED.items() if options[name] for one in patterns]
    rewrite(module, (*FOLDS, *PATTERNS, *switched))

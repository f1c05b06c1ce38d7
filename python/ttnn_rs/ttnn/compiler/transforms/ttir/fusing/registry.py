"""The list of patterns that fuse, and the pass `ttir-fusing` that applies them."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.ir.epochs import Epoch
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

_SLIDES, _CURRENT = (Epoch.SLIDES,), (Epoch.CURRENT,)
_LATER = (*_SLIDES, *_CURRENT)

FIRST = (
    pattern(convolutions.tag_weights, "conv2d", epochs=_LATER),
    pattern(convolutions.tag_weights, "convolution", epochs=_SLIDES),
    pattern(convolutions.tag_weights, "conv3d", epochs=_CURRENT),
    pattern(products.bias, "add", epochs=_CURRENT),
)
"""Patterns that run before all others."""

SWITCHED: dict[str, tuple[Pattern, ...]] = {
    "ttnn-enable-conv2d-with-multiply-pattern": (
        pattern(convolutions.scale, "multiply", epochs=_LATER),
        pattern(convolutions.batch_norm, "batch_norm_inference", epochs=_LATER),
    ),
    "ttnn-enable-global-avg-pool-pattern": (pattern(reductions.global_average, "multiply", epochs=_SLIDES),),
    "enable-permute-matmul-fusion": (pattern(products.permuted_operands, "matmul", "linear", epochs=_CURRENT),),
    "enable-permute-slice-after-matmul-fusion": (pattern(products.slice_after, "slice_static", epochs=_CURRENT),),
}
"""Patterns that an option switches on."""

PATTERNS = (
    pattern(convolutions.bias, "add", epochs=_LATER),
    pattern(convolutions.padding3d, "conv3d", epochs=_CURRENT),
    pattern(reductions.kept_dimensions, "reshape", epochs=_LATER),
    pattern(softmax.softmax, "div", epochs=_LATER),
    pattern(softmax.stable_softmax, "softmax", epochs=_LATER),
    pattern(activations.relu, "maximum", epochs=_LATER),
    pattern(convolutions.two_branches, "add", epochs=_CURRENT),
    pattern(selection.cache, "scatter", epochs=_SLIDES),
    pattern(heads.concatenate_heads, "reshape", epochs=_LATER),
    pattern(pools.padding, "pooling", epochs=_SLIDES),
    pattern(pools.counted_average, "div", epochs=_SLIDES),
    pattern(reductions.scaled_sum, "multiply", epochs=_CURRENT),
    pattern(reductions.spatial_mean, "mean", epochs=_CURRENT),
    pattern(products.bias_of_same_shape, "add", epochs=_SLIDES),
    pattern(products.shared_operand, "matmul", "linear", epochs=_CURRENT),
    pattern(normalization.rms_norm, "multiply", epochs=_CURRENT),
    pattern(normalization.scaled_l2_norm, "multiply", epochs=_CURRENT),
    pattern(activations.gelu, "multiply", epochs=_LATER),
    pattern(activations.relu6, "minimum", epochs=_LATER),
    pattern(activations.silu, "multiply", epochs=_LATER),
    pattern(activations.hardsigmoid, "div", epochs=_CURRENT),
    pattern(activations.mish, "multiply", epochs=_CURRENT),
    pattern(heads.repeated_heads, "reshape", epochs=_CURRENT),
    pattern(selection.topk, "sort", epochs=_CURRENT),
)
"""Patterns that always run."""


def run(module: Module, options: dict[str, Any]) -> None:
    """Fuse operations until no pattern applies."""
    rewrite(module, (*FOLDS, *FIRST))
    switched = [one for name, patterns in SWITCHED.items() if options[name] for one in patterns]
    rewrite(module, (*FOLDS, *PATTERNS, *switched))

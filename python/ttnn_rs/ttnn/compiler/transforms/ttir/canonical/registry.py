"""List of folds and canonical forms, in order."""

from __future__ import annotations

from ttnn.compiler.transforms.rewriting import pattern
from ttnn.compiler.transforms.ttir.canonical import (
    arithmetic,
    constant_movement,
    identities,
    movement,
    products,
)

__all__ = ["CANONICAL", "FOLDS"]

FOLDS = (
    pattern(identities.idempotent, "relu", "abs", "sign", "relu6", "ceil", "floor"),
    pattern(identities.involution, "bitwise_not", "neg"),
    pattern(identities.involution, "reciprocal", versions="2025-10.."),
    pattern(identities.first_of_equals, "bitwise_and", "bitwise_or", "minimum", versions="2025-10.."),
    pattern(identities.same_type, "reshape", "broadcast", "typecast"),
    pattern(identities.same_type, "requantize", "repeat", versions="2025-10.."),
    pattern(identities.alone, "concat"),
    pattern(identities.mesh_shard, "mesh_shard"),
    pattern(identities.pool, "max_pool2d", versions="2025-10.."),
    pattern(identities.pool, "avg_pool2d"),
    pattern(identities.pooling, "pooling", versions="2025-10"),
    pattern(identities.alone_in_group, "collective_broadcast", versions="2025-10.."),
    pattern(identities.scatter_nothing, "scatter", versions="2026-08.."),
    pattern(identities.normal_dim, "cumsum", versions="2025-10.."),
    pattern(identities.normal_dim, "cumprod", versions="2026-08.."),
    pattern(constant_movement.dimension_size, "get_dimension_size", versions="2025-10.."),
    pattern(arithmetic.self_xor, "bitwise_xor", versions="2025-10.."),
    pattern(arithmetic.self_comparison, "eq", "ne", versions="2026-08.."),
    pattern(arithmetic.splat_comparison, "eq", "ne", versions="2026-08.."),
    pattern(arithmetic.truth_and, "logical_and", versions="2026-08.."),
    pattern(arithmetic.truth_or, "logical_or", versions="2026-08.."),
    pattern(arithmetic.where, "where", versions="2026-08.."),
    pattern(arithmetic.shift_out, "logical_right_shift", versions="2026-08.."),
    pattern(arithmetic.unary, *arithmetic.UNARY, versions="2026-08.."),
    pattern(arithmetic.binary, *arithmetic.BINARY, versions="2026-08.."),
    pattern(arithmetic.clamp, "clamp_scalar", versions="2026-08.."),
    pattern(arithmetic.sum_of_splat, "sum", versions="2026-08.."),
    pattern(arithmetic.typecast, "typecast", versions="2026-08.."),
    pattern(movement.reshapes, "reshape"),
    pattern(constant_movement.reshape, "reshape", versions="2026-08.."),
    pattern(constant_movement.broadcast_splat, "broadcast", versions="2026-08.."),
    pattern(movement.drop_empty_parts, "concat", versions="2025-10.."),
    pattern(movement.permute_nothing, "permute"),
    pattern(movement.permutes, "permute"),
    pattern(constant_movement.permute, "permute", versions="2026-08.."),
    pattern(movement.repeats, "repeat", versions="2026-08.."),
    pattern(constant_movement.repeat, "repeat", versions="2026-08.."),
    pattern(constant_movement.repeat_interleave, "repeat_interleave", versions="2026-08.."),
    pattern(movement.slice_whole, "slice_static", versions="2025-10.."),
    pattern(movement.slices, "slice_static", versions="2026-08.."),
    pattern(movement.slice_of_concat, "slice_static", versions="2026-08.."),
    pattern(constant_movement.slice_static, "slice_static", versions="2026-08.."),
)
"""Folds without new operations except constants, shared with other passes."""

CANONICAL = (
    pattern(movement.transposes, "transpose", versions="2024-09"),
    pattern(movement.transpose_as_permute, "transpose", versions="2025-10.."),
    pattern(movement.broadcasts, "broadcast"),
    pattern(movement.reverses, "reverse"),
    pattern(identities.reverse_nothing, "reverse"),
    pattern(movement.reshape_permute_reshape, "reshape", versions="2026-08.."),
    pattern(movement.embedding_of_units, "embedding", versions="2026-08.."),
    pattern(movement.typecasts, "typecast", versions="2025-10.."),
    pattern(identities.layout_casts, "ttnn_metal_layout_cast", versions="2025-10.."),
    pattern(arithmetic.mirrored, "le", "lt", versions="2026-08.."),
    pattern(arithmetic.truth_of_equals, "logical_and", "logical_or", versions="2025-10.."),
    pattern(arithmetic.prod_of_truth, "prod", versions="2026-08.."),
    pattern(arithmetic.not_bound, "clamp_scalar", versions="2025-10.."),
    pattern(products.clamp_of_numbers, "clamp_tensor", versions="2025-10.."),
    pattern(products.splat_as_full, "constant", versions="2025-10.."),
    pattern(products.conv3d_of_points, "conv3d", versions="2026-08.."),
    pattern(products.linear_without_bias, "linear", versions="2025-10.."),
    pattern(products.transposed_operand, "matmul", "linear", versions="2025-10"),
    pattern(products.merged_batches, "reshape", versions="2026-08.."),
    pattern(products.topk_of_one, "topk", versions="2026-08.."),
    pattern(products.update_cache_as_paged, "update_cache", versions="2026-08.."),
)
"""The forms that later passes expect."""

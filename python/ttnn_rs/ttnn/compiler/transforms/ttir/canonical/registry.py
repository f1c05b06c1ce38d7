"""The list of folds and canonical forms: what is tried on which operation, in this order."""

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
    pattern(identities.involution, "reciprocal", since="2025-10"),
    pattern(identities.first_of_equals, "bitwise_and", "bitwise_or", "minimum", since="2025-10"),
    pattern(identities.same_type, "reshape", "broadcast", "typecast"),
    pattern(identities.same_type, "requantize", "repeat", since="2025-10"),
    pattern(identities.alone, "concat"),
    pattern(identities.mesh_shard, "mesh_shard"),
    pattern(identities.pool, "max_pool2d", since="2025-10"),
    pattern(identities.pool, "avg_pool2d"),
    pattern(identities.pooling, "pooling", only="2025-10"),
    pattern(identities.alone_in_group, "collective_broadcast", since="2025-10"),
    pattern(identities.scatter_nothing, "scatter", since="2026-08"),
    pattern(identities.normal_dim, "cumsum", since="2025-10"),
    pattern(identities.normal_dim, "cumprod", since="2026-08"),
    pattern(constant_movement.dimension_size, "get_dimension_size", since="2025-10"),
    pattern(arithmetic.self_xor, "bitwise_xor", since="2025-10"),
    pattern(arithmetic.self_comparison, "eq", "ne", since="2026-08"),
    pattern(arithmetic.splat_comparison, "eq", "ne", since="2026-08"),
    pattern(arithmetic.truth_and, "logical_and", since="2026-08"),
    pattern(arithmetic.truth_or, "logical_or", since="2026-08"),
    pattern(arithmetic.where, "where", since="2026-08"),
    pattern(arithmetic.shift_out, "logical_right_shift", since="2026-08"),
    pattern(arithmetic.unary, *arithmetic.UNARY, since="2026-08"),
    pattern(arithmetic.binary, *arithmetic.BINARY, since="2026-08"),
    pattern(arithmetic.clamp, "clamp_scalar", since="2026-08"),
    pattern(arithmetic.sum_of_splat, "sum", since="2026-08"),
    pattern(arithmetic.typecast, "typecast", since="2026-08"),
    pattern(movement.reshapes, "reshape"),
    pattern(constant_movement.reshape, "reshape", since="2026-08"),
    pattern(constant_movement.broadcast_splat, "broadcast", since="2026-08"),
    pattern(movement.drop_empty_parts, "concat", since="2025-10"),
    pattern(movement.permute_nothing, "permute"),
    pattern(movement.permutes, "permute"),
    pattern(constant_movement.permute, "permute", since="2026-08"),
    pattern(movement.repeats, "repeat", since="2026-08"),
    pattern(constant_movement.repeat, "repeat", since="2026-08"),
    pattern(constant_movement.repeat_interleave, "repeat_interleave", since="2026-08"),
    pattern(movement.slice_whole, "slice_static", since="2025-10"),
    pattern(movement.slices, "slice_static", since="2026-08"),
    pattern(movement.slice_of_concat, "slice_static", since="2026-08"),
    pattern(constant_movement.slice_static, "slice_static", since="2026-08"),
)
"""Folds that need no new operations except constants; other rewriting passes use them too."""

CANONICAL = (
    pattern(movement.transposes, "transpose", only="2024-09"),
    pattern(movement.transpose_as_permute, "transpose", since="2025-10"),
    pattern(movement.broadcasts, "broadcast"),
    pattern(movement.reverses, "reverse"),
    pattern(identities.reverse_nothing, "reverse"),
    pattern(movement.reshape_permute_reshape, "reshape", since="2026-08"),
    pattern(movement.embedding_of_units, "embedding", since="2026-08"),
    pattern(movement.typecasts, "typecast", since="2025-10"),
    pattern(identities.layout_casts, "ttnn_metal_layout_cast", since="2025-10"),
    pattern(arithmetic.mirrored, "le", "lt", since="2026-08"),
    pattern(arithmetic.truth_of_equals, "logical_and", "logical_or", since="2025-10"),
    pattern(arithmetic.prod_of_truth, "prod", since="2026-08"),
    pattern(arithmetic.not_bound, "clamp_scalar", since="2025-10"),
    pattern(products.clamp_of_numbers, "clamp_tensor", since="2025-10"),
    pattern(products.splat_as_full, "constant", since="2025-10"),
    pattern(products.conv3d_of_points, "conv3d", since="2026-08"),
    pattern(products.linear_without_bias, "linear", since="2025-10"),
    pattern(products.transposed_operand, "matmul", "linear", only="2025-10"),
    pattern(products.merged_batches, "reshape", since="2026-08"),
    pattern(products.topk_of_one, "topk", since="2026-08"),
    pattern(products.update_cache_as_paged, "update_cache", since="2026-08"),
)
"""The forms that later passes expect."""

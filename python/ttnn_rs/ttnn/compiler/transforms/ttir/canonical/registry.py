"""The list of folds and canonical forms: what is tried on which operation, in this order."""

from __future__ import annotations

from ttnn.compiler.ir.epochs import Epoch
from ttnn.compiler.transforms.rewriting import pattern
from ttnn.compiler.transforms.ttir.canonical import (
    arithmetic,
    constant_movement,
    identities,
    movement,
    products,
)

__all__ = ["CANONICAL", "FOLDS"]

_SLIDES, _CURRENT = (Epoch.SLIDES,), (Epoch.CURRENT,)
_LATER = (*_SLIDES, *_CURRENT)

FOLDS = (
    pattern(identities.idempotent, "relu", "abs", "sign", "relu6", "ceil", "floor"),
    pattern(identities.involution, "bitwise_not", "neg"),
    pattern(identities.involution, "reciprocal", epochs=_LATER),
    pattern(identities.first_of_equals, "bitwise_and", "bitwise_or", "minimum", epochs=_LATER),
    pattern(identities.same_type, "reshape", "broadcast", "typecast"),
    pattern(identities.same_type, "requantize", "repeat", epochs=_LATER),
    pattern(identities.alone, "concat"),
    pattern(identities.mesh_shard, "mesh_shard"),
    pattern(identities.pool, "max_pool2d", epochs=_LATER),
    pattern(identities.pool, "avg_pool2d"),
    pattern(identities.pooling, "pooling", epochs=_SLIDES),
    pattern(identities.alone_in_group, "collective_broadcast", epochs=_LATER),
    pattern(identities.scatter_nothing, "scatter", epochs=_CURRENT),
    pattern(identities.normal_dim, "cumsum", epochs=_LATER),
    pattern(identities.normal_dim, "cumprod", epochs=_CURRENT),
    pattern(constant_movement.dimension_size, "get_dimension_size", epochs=_LATER),
    pattern(arithmetic.self_xor, "bitwise_xor", epochs=_LATER),
    pattern(arithmetic.self_comparison, "eq", "ne", epochs=_CURRENT),
    pattern(arithmetic.splat_comparison, "eq", "ne", epochs=_CURRENT),
    pattern(arithmetic.truth_and, "logical_and", epochs=_CURRENT),
    pattern(arithmetic.truth_or, "logical_or", epochs=_CURRENT),
    pattern(arithmetic.where, "where", epochs=_CURRENT),
    pattern(arithmetic.shift_out, "logical_right_shift", epochs=_CURRENT),
    pattern(arithmetic.unary, *arithmetic.UNARY, epochs=_CURRENT),
    pattern(arithmetic.binary, *arithmetic.BINARY, epochs=_CURRENT),
    pattern(arithmetic.clamp, "clamp_scalar", epochs=_CURRENT),
    pattern(arithmetic.sum_of_splat, "sum", epochs=_CURRENT),
    pattern(arithmetic.typecast, "typecast", epochs=_CURRENT),
    pattern(movement.reshapes, "reshape"),
    pattern(constant_movement.reshape, "reshape", epochs=_CURRENT),
    pattern(constant_movement.broadcast_splat, "broadcast", epochs=_CURRENT),
    pattern(movement.drop_empty_parts, "concat", epochs=_LATER),
    pattern(movement.permute_nothing, "permute"),
    pattern(movement.permutes, "permute"),
    pattern(constant_movement.permute, "permute", epochs=_CURRENT),
    pattern(movement.repeats, "repeat", epochs=_CURRENT),
    pattern(constant_movement.repeat, "repeat", epochs=_CURRENT),
    pattern(constant_movement.repeat_interleave, "repeat_interleave", epochs=_CURRENT),
    pattern(movement.slice_whole, "slice_static", epochs=_LATER),
    pattern(movement.slices, "slice_static", epochs=_CURRENT),
    pattern(movement.slice_of_concat, "slice_static", epochs=_CURRENT),
    pattern(constant_movement.slice_static, "slice_static", epochs=_CURRENT),
)
"""Folds that need no new operations except constants; other rewriting passes use them too."""

CANONICAL = (
    pattern(movement.transposes, "transpose", epochs=(Epoch.BOOK,)),
    pattern(movement.transpose_as_permute, "transpose", epochs=_LATER),
    pattern(movement.broadcasts, "broadcast"),
    pattern(movement.reverses, "reverse"),
    pattern(identities.reverse_nothing, "reverse"),
    pattern(movement.reshape_permute_reshape, "reshape", epochs=_CURRENT),
    pattern(movement.embedding_of_units, "embedding", epochs=_CURRENT),
    pattern(movement.typecasts, "typecast", epochs=_LATER),
    pattern(identities.layout_casts, "ttnn_metal_layout_cast", epochs=_LATER),
    pattern(arithmetic.mirrored, "le", "lt", epochs=_CURRENT),
    pattern(arithmetic.truth_of_equals, "logical_and", "logical_or", epochs=_LATER),
    pattern(arithmetic.prod_of_truth, "prod", epochs=_CURRENT),
    pattern(arithmetic.not_bound, "clamp_scalar", epochs=_LATER),
    pattern(products.clamp_of_numbers, "clamp_tensor", epochs=_LATER),
    pattern(products.splat_as_full, "constant", epochs=_LATER),
    pattern(products.conv3d_of_points, "conv3d", epochs=_CURRENT),
    pattern(products.linear_without_bias, "linear", epochs=_LATER),
    pattern(products.transposed_operand, "matmul", "linear", epochs=_SLIDES),
    pattern(products.merged_batches, "reshape", epochs=_CURRENT),
    pattern(products.topk_of_one, "topk", epochs=_CURRENT),
    pattern(products.update_cache_as_paged, "update_cache", epochs=_CURRENT),
)
"""The forms that later passes expect."""

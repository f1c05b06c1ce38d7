"""Plans by family, from described device operations to cores' work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import page_stream
from ttnn.profiler.families.eltwise import eltwise
from ttnn.profiler.families.group_norm import group_norm
from ttnn.profiler.families.integral_image import integral_image
from ttnn.profiler.families.layout import tilize, untilize
from ttnn.profiler.families.lines import (
    attention_decode,
    layer_norm,
    permute,
    reduce,
    rotary,
    softmax,
    transpose,
)
from ttnn.profiler.families.matmul import matmul
from ttnn.profiler.families.minimal_matmul import minimal_matmul
from ttnn.profiler.families.movement import (
    concat,
    copy,
    interleaved_to_sharded,
    move,
    padded_slice,
    reshard,
    rows_by_index,
    sharded_to_interleaved,
    slice_,
    slice_write,
    update_cache,
)
from ttnn.profiler.families.pipeline import pipeline
from ttnn.profiler.families.pool import grid_sample, pool, upsample
from ttnn.profiler.families.products import product
from ttnn.profiler.families.reshape import reshape
from ttnn.profiler.families.windows import conv2d, halo
from ttnn.profiler.plan import Plan

Family = Callable[[DeviceOperation], Plan]

FAMILIES: Final[dict[str, Family]] = {
    **dict.fromkeys(("Unary", "Binary", "BinaryNg", "Ternary", "Typecast"), eltwise),
    **dict.fromkeys(("InterleavedToSharded", "InterleavedToShardedPartial"), interleaved_to_sharded),
    **dict.fromkeys(("ShardedToInterleaved", "ShardedToInterleavedPartial"), sharded_to_interleaved),
    **dict.fromkeys(("Tilize", "TilizeWithValPadding"), tilize),
    **dict.fromkeys(("Untilize", "UntilizeWithUnpadding"), untilize),
    "Conv2d": conv2d,
    "Halo": halo,
    "Matmul": matmul,
    "MinimalMatmul": minimal_matmul,
    "Move": move,
    "Reshard": reshard,
    "Slice": slice_,
    "PaddedSlice": padded_slice,
    "SliceWrite": slice_write,
    "Copy": copy,
    "Clone": copy,
    "Concat": concat,
    "Embeddings": rows_by_index,
    "LayerNorm": layer_norm,
    "Softmax": softmax,
    "GroupNorm": group_norm,
    "Transpose": transpose,
    **dict.fromkeys(("Reshape", "ReshapeView"), reshape),
    "Permute": permute,
    **dict.fromkeys(("Upsample", "UpSample"), upsample),
    **dict.fromkeys(("FastReduceNC", "Reduce"), reduce),
    "IntImg": integral_image,
    "Pool2D": pool,
    "GridSample": grid_sample,
    "RotaryEmbeddingLlama": rotary,
    "UpdateKVCache": copy,
}
"""By the name of the device operation without its ending."""


def _pages(op: DeviceOperation) -> Plan:
    return page_stream(op)


BY_FUNCTION: Final[dict[str, Family]] = {
    **dict.fromkeys(("unary", "binary", "ternary"), eltwise),
    "matmul": product,
    **dict.fromkeys(
        (
            *("argmax", "attention", "bernoulli", "copy", "embedding_bw", "experimental.dropout", "fill", "gather"),
            *(
                "grid_sample",
                "group_norm",
                "isin",
                "mesh_partition",
                "moe_expert_token_remap",
                "moe_routing_remap",
                "move",
                "nonzero",
                "plus_one",
                "pool",
                "product",
                "randn",
                "reduce",
            ),
            *("rotate", "scatter", "sort", "tile rows", "uniform"),
        ),
        _pages,
    ),
}
"""Plans by engine function, for operations without their own.

It is the function that does the work.
"""


def make_plan(op: DeviceOperation) -> Plan:
    """Return the plan of a device operation.

    Raises:
        UnsupportedError: no family describes it.
    """
    if op.kind == "IntImg":
        # The official program does in one what the engine does in several pipelines.
        return integral_image(op)
    if op.pipelines:
        return pipeline(op)
    if op.function == "tile rows" and len(op.inputs) > 1:
        return update_cache(op)
    if op.name in ("UpdateKVCacheOperation", "PagedFillCacheDeviceOperation") and len(op.inputs) > 1:
        # A prompt occupies as many pages of a cache as it has.
        return page_stream(replace(op, inputs=op.inputs[1:2], outputs=op.inputs[1:2]))
    if op.function == "attention" and isinstance(op.program, tuple):
        return attention_decode(op)
    family = FAMILIES.get(op.kind) or BY_FUNCTION.get(op.function)
    if family is None:
        raise UnsupportedError(f"{op.name}: no plan describes this device operation", "unimplemented")
    return family(op)

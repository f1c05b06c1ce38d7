"""Steps of programs: the functions of the engine that work on buffers.

While a call is resolved, each becomes a step of its program; otherwise it runs at once. Observers are told of each.
Nothing outside of this package calls these functions by another way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ttnn import _engine
from ttnn._engine import Buffer, Pipeline
from ttnn.base.observers import OBSERVERS, blocked, observing

if TYPE_CHECKING:
    from ttnn._engine import (
        argmax,
        attention_decode,
        attention_prefill,
        bernoulli,
        binary,
        copy_pages,
        copy_sticks,
        dropout,
        embedding_backward,
        fill,
        gather_elements,
        gather_rows,
        gather_slices,
        grid_sample,
        group_norm,
        is_in,
        local_scores,
        matmul,
        matmul_fast,
        move_elements,
        move_ranges,
        nonzero,
        normal,
        plus_one,
        pool_largest,
        pool_sticks,
        product,
        reduce,
        replace_tile_rows,
        return_tokens,
        rotate,
        router_topk,
        scatter_elements,
        send_pages,
        send_tokens,
        share_weights,
        sort,
        sum_experts,
        sum_over_chips,
        take_slices,
        ternary,
        unary,
        uniform,
        write_window,
    )

__all__ = [
    "Pipeline",
    "argmax",
    "attention_decode",
    "attention_prefill",
    "bernoulli",
    "binary",
    "copy_pages",
    "copy_sticks",
    "dropout",
    "embedding_backward",
    "fill",
    "gather_elements",
    "gather_rows",
    "gather_slices",
    "grid_sample",
    "group_norm",
    "is_in",
    "local_scores",
    "matmul",
    "matmul_fast",
    "move_elements",
    "move_ranges",
    "nonzero",
    "normal",
    "plus_one",
    "pool_largest",
    "pool_sticks",
    "product",
    "reduce",
    "replace_tile_rows",
    "return_tokens",
    "rotate",
    "router_topk",
    "run_pipeline",
    "scatter_elements",
    "send_pages",
    "send_tokens",
    "share_weights",
    "sort",
    "sum_experts",
    "sum_over_chips",
    "take_slices",
    "ternary",
    "unary",
    "uniform",
    "write_window",
]

NAMES: Final = {
    "attention_decode": "attention",
    "attention_prefill": "attention",
    "copy_pages": "copy",
    "copy_sticks": "move",
    "dropout": "experimental.dropout",
    "embedding_backward": "embedding_bw",
    "gather_elements": "gather",
    "gather_rows": "gather",
    "gather_slices": "all_gather",
    "is_in": "isin",
    "local_scores": "moe_expert_token_remap",
    "matmul_fast": "matmul",
    "move_elements": "move",
    "move_ranges": "slice_reshard",
    "normal": "randn",
    "pool_largest": "pool",
    "pool_sticks": "pool",
    "replace_tile_rows": "tile rows",
    "return_tokens": "all_to_all_combine",
    "router_topk": "experimental.topk_router_gpt",
    "scatter_elements": "scatter",
    "send_pages": "broadcast",
    "send_tokens": "all_to_all_dispatch",
    "share_weights": "moe_routing_remap",
    "sum_experts": "experimental.deepseek_prefill.post_combine_reduce",
    "sum_over_chips": "reduce_scatter",
    "take_slices": "mesh_partition",
    "write_window": "copy",
}
"""Names of steps that differ from those of the functions."""


def _runs(name: str, settings: dict[str, Any]) -> bool:
    """Observe a step.

    Returns False if an observer has steps blocked.
    """
    for observer in observing():
        observer.step(name, settings)
    return not blocked()


def _step(function: Callable[..., None]) -> Callable[..., None]:
    name = NAMES.get(function.__name__, function.__name__)

    def step(*operands: Any, **settings: Any) -> None:
        if not OBSERVERS or _runs(name, settings):
            function(*operands, **settings)

    return step


def run_pipeline(program: Pipeline, inputs: Sequence[Buffer], outputs: Sequence[Buffer]) -> None:
    """Run a pipeline on the buffers of its inputs and outputs."""
    if not OBSERVERS or _runs("pipeline", {}):
        program.run(inputs, outputs)


if not TYPE_CHECKING:
    for _name in __all__:
        if _name not in ("Pipeline", "run_pipeline"):
            globals()[_name] = _step(getattr(_engine, _name))

"""A fixed sample of operators, types, layouts, shapes and memory configs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import ttnn
from testkit.every_place import INTERLEAVED, PLACES, SHAPES, Case, Runner, calls_of, combinations, failures_of, sample
from ttnn.operation import registry

SHAPES_OF_EACH = 2
PLACES_OF_EACH = 1
RANDOM = {"bernoulli", "experimental.dropout", "manual_seed", "rand", "randn", "uniform"}
WITHOUT_OPERANDS = {"arange", "empty", "empty_like", "full", "ones", "zeros"} | RANDOM
# Arguments of theirs depend on more than the first tensor; tests/ops/data_movement/test_index_fill.py and
# tests/ops/kv_cache/test_paged.py have places.
WITHOUT_OPERANDS |= {"fill_rm", "fill_ones_rm", "index_fill", "index_fill_new", "indexed_fill"}
WITHOUT_OPERANDS |= {f"moreh_{name}_backward" for name in ("matmul", "bmm", "linear", "mean")}
WITHOUT_OPERANDS |= {"interleaved_to_sharded_partial", "sharded_to_interleaved_partial"}
# Its users are 32: tests/ops/matmul/test_attn_matmul.py has places.
WITHOUT_OPERANDS |= {"experimental.group_attn_matmul"}
WITHOUT_OPERANDS |= {
    f"moreh_{name}"
    for name in ("adam", "adamw", "sgd", "dot", "dot_backward", "clip_grad_norm", "fold", "getitem", "arange")
}
WITHOUT_OPERANDS |= {f"moreh_nll_loss{form}" for form in ("", "_backward", "_unreduced_backward")}
WITHOUT_OPERANDS |= {"moreh_full", "moreh_sum_backward", "moreh_norm_backward"}
WITHOUT_OPERANDS |= {f"moreh_{name}_norm{form}" for name in ("layer", "group") for form in ("", "_backward")}
# Volumes have five dimensions, and only one kind of place.
WITHOUT_OPERANDS |= {"experimental.conv3d", "experimental.prepare_conv3d_weights"}
WITHOUT_OPERANDS |= {"experimental.slice_write", "experimental.padded_slice"}
WITHOUT_OPERANDS |= {f"experimental.nlp_create_qkv_heads_{model}" for model in ("falcon7b", "vit", "decode")}
WITHOUT_OPERANDS |= {f"experimental.nlp_create_qkv_heads_{model}" for model in ("boltz", "segformer")}
WITHOUT_OPERANDS |= {"experimental.nlp_concat_heads_boltz", "experimental.nlp_create_q_heads_split"}
WITHOUT_OPERANDS |= {f"experimental.create_qkv_heads{form}" for form in ("", "_from_separate_tensors")}
WITHOUT_OPERANDS |= {f"experimental.convert_to_{order}" for order in ("chw", "hwc")}
WITHOUT_OPERANDS |= {
    "experimental.deepseek_grouped_gate",
    "experimental.hc_sum_reduce",
    "experimental.prefix_scan",
    "experimental.topk_router_gpt",
    "from_buffer",
    "sampling",
}
WITHOUT_OPERANDS |= {f"experimental.deepseek_prefill.{name}" for name in ("extract", "insert", "post_combine_reduce")}
WITHOUT_OPERANDS |= {"experimental.repeat_and_interleave_eltwise_mul"}
WITHOUT_OPERANDS |= {"experimental.split_query_key_value_and_split_heads"}
WITHOUT_OPERANDS |= {"experimental.nlp_concat_heads_decode", "experimental.nlp_kv_cache_load_slice"}
WITHOUT_OPERANDS |= {f"experimental.paged_{name}_cache" for name in ("fill", "update", "fused_update")}


def _cases() -> list[Any]:
    return [
        pytest.param(entry, dtype, layout, id=f"{entry.name}-{dtype.name}-{layout.name}")
        for entry, dtype, layout in combinations()
        if entry.name not in WITHOUT_OPERANDS
    ]


@pytest.mark.parametrize(("entry", "dtype", "layout"), _cases())
def test_same_bits_in_every_place(entry: registry.Op, dtype: ttnn.DataType, layout: ttnn.Layout) -> None:
    counts: Counter[str] = Counter()
    shapes = [shape for shape in SHAPES if any(True for _ in calls_of(Case(entry, dtype, layout, shape), None))]
    assert shapes
    for shape in sample(f"{entry.name} {dtype.name} {layout.name}", SHAPES_OF_EACH, shapes):
        assert failures_of(Case(entry, dtype, layout, shape), PLACES_OF_EACH, counts) == []


def _accepted(case: Case, device: ttnn.MeshDevice) -> bool:
    """Return True if a case has a result.

    With interleaved tensors in DRAM or with the shards that it needs.
    """
    where = "block by rows" if case.entry.name == "reshard" else INTERLEAVED
    counts: Counter[str] = Counter()
    return any(Runner(case, call, counts).result(where, where) is not None for call in calls_of(case, device))


@pytest.mark.parametrize(("entry", "dtype", "layout"), _cases())
def test_what_an_entry_lists_is_taken(
    entry: registry.Op, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    """Error tables are true: each type and layout has a working call."""
    shapes = [(1, 1, 64, 128), (33, 65), (70,), (2, 40, 96)]
    taken = any(_accepted(Case(entry, dtype, layout, shape), device) for shape in shapes)
    assert taken or entry.name in WITHOUT_OPERANDS


def test_every_operator_on_tensors_has_calls(device: ttnn.MeshDevice) -> None:
    tried = {
        entry.name
        for entry, dtype, layout in combinations()
        if any(True for shape in SHAPES for _ in calls_of(Case(entry, dtype, layout, shape), device))
    }
    assert {entry.name for entry in registry.entries()} - tried == WITHOUT_OPERANDS
    assert len(PLACES) == len(set(PLACES)) == 7

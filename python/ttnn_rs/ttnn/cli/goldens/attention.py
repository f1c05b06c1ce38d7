"""Attention of `ops/`, through the functions that users call."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

import ttnn
from ttnn.cli.goldens.cases import attempt, each, tensor_of
from ttnn.cli.goldens.walk import Archive, Checker, Computed, Verdict

Case = dict[str, Any]
_GRID = ttnn.CoreCoord(8, 7)


def checker_of(name: str) -> Checker | None:
    """Return the check of file `name` of `ops/`, if one of these."""
    family = name.removesuffix(".npz")
    if family in ("sdpa", "sdpa_chunks"):
        return functools.partial(each, _prefill)
    if family in ("sdpa_decode", "sdpa_decode_seq", "sdpa_decode_tree"):
        return functools.partial(each, _decode)
    return None


def _prefill(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    name, shape = f"{case['case']}.out", tuple(case["shape"])
    tensors = [tensor_of(case, archive, operand, device, shape) for operand in "qkv"]
    options: dict[str, Any] = {"is_causal": case["is_causal"], "scale": case.get("scale")}
    if "q_chunk_size" in case:
        options["program_config"] = ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=_GRID,
            q_chunk_size=case["q_chunk_size"],
            k_chunk_size=case["k_chunk_size"],
        )
    run = functools.partial(ttnn.transformer.scaled_dot_product_attention, *tensors, **options)
    yield attempt(name, run, archive[name].shape)


def _decode(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    name = f"{case['case']}.out"
    words = archive[f"{case['case']}.q"].astype(np.uint32) << 16
    values = ttnn.Tensor(words.view(np.float32).reshape(case["shape_q"]), ttnn.bfloat16)
    query = ttnn.to_device(ttnn.to_layout(values, ttnn.TILE_LAYOUT), device)
    caches = [tensor_of(case, archive, operand, device, tuple(case["shape_kv"])) for operand in "kv"]
    options: dict[str, Any] = {"cur_pos": case["cur_pos"]}
    if "cores_per_head" in case:
        options["program_config"] = ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=_GRID,
            q_chunk_size=32,
            k_chunk_size=32 * case["k_chunk_tiles"],
            max_cores_per_head_batch=case["cores_per_head"],
        )
    result = ttnn.transformer.scaled_dot_product_attention_decode(query, *caches, **options)
    floats = np.ascontiguousarray(result.to_numpy(), np.float32)
    yield Computed(name, (floats.view(np.uint32) >> 16).astype(np.uint16).reshape(archive[name].shape))

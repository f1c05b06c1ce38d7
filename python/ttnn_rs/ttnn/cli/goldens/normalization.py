"""Softmax, norms and rotary embeddings of `ops/`.

They run through the functions that users call.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import ttnn
from ttnn.cli.goldens.cases import DTYPE, attempt, each, operator_of, tensor_of
from ttnn.cli.goldens.walk import Archive, Checker, Verdict

Case = dict[str, Any]


def checker_of(name: str) -> Checker | None:
    """Return the check of file `name` of `ops/`, if one of these."""
    family = name.removesuffix(".npz")
    if family in ("softmax", "softmax_h", "softmax_c", "softmax_col"):
        return functools.partial(each, _softmax)
    if family == "attention_softmax":
        return functools.partial(each, _attention_softmax)
    if family in ("layer_norm", "rms_norm", "layer_norm_sharded", "rms_norm_sharded"):
        return functools.partial(each, _norm)
    if family in ("rotary_embedding", "rope_llama"):
        return functools.partial(each, _rotary)
    if family == "batch_norm":
        return functools.partial(each, _batch_norm)
    if family in ("layer_norm_distributed", "rms_norm_distributed"):
        return functools.partial(each, _distributed)
    return None


def _has(case: Case, archive: Archive, name: str) -> bool:
    return f"{case['case']}.{name}" in set(archive)


def _softmax(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    name, shape = f"{case['case']}.out", tuple(case["shape"])
    x = tensor_of(case, archive, "in0", device, shape)
    options = {"numeric_stable": case.get("numeric_stable", True)}
    if case.get("scale") is None:
        run = functools.partial(ttnn.softmax, x, dim=case.get("dim", -1), **options)
    else:
        mask = tensor_of(case, archive, "mask", device, (1, 1, 1, shape[-1]))
        run = functools.partial(ttnn.scale_mask_softmax, x, case["scale"], mask, **options)
    yield attempt(name, run, archive[name].shape)


def _attention_softmax(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    name, shape = f"{case['case']}.out", tuple(case["shape"])
    causal = case["causal_mask"]
    mask = tensor_of(case, archive, "mask", device, shape if causal else (1, 1, 1, shape[-1]))
    run = functools.partial(
        ttnn.transformer.attention_softmax_,
        tensor_of(case, archive, "in0", device, shape),
        head_size=case["head_size"],
        attention_mask=mask,
        causal_mask=causal,
    )
    yield attempt(name, run, archive[name].shape)


def _optional(case: Case, archive: Archive, device: ttnn.MeshDevice) -> dict[str, ttnn.Tensor]:
    """Return a norm's optional operands by argument."""
    shape = tuple(case["shape"])
    row = (1, 1, 1, shape[-1])
    places = {"residual": ("residual_input_tensor", shape), "gamma": ("weight", row), "beta": ("bias", row)}
    return {
        argument: tensor_of(case, archive, name, device, of)
        for name, (argument, of) in places.items()
        if _has(case, archive, name)
    }


def _norm(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    name, shape = f"{case['case']}.out", tuple(case["shape"])
    x = tensor_of(case, archive, "in0", device, shape)
    options = _optional(case, archive, device)
    if "block_w" in case:
        columns, rows = case["two_stage"] or (case["cores_per_row"], 1)
        placed = ttnn.create_sharded_memory_config(
            shape, ttnn.CoreGrid(x=columns, y=rows), ttnn.ShardStrategy.WIDTH, ttnn.ShardOrientation.ROW_MAJOR
        )
        x = ttnn.to_memory_config(x, placed)
        if "residual_input_tensor" in options:
            options["residual_input_tensor"] = ttnn.to_memory_config(options["residual_input_tensor"], placed)
    operator = operator_of(case)
    run = functools.partial(operator, x, epsilon=case["epsilon"], **options)
    yield attempt(name, run, archive[name].shape)


def _distributed(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    shape = tuple(case["shape"])
    kind = "layer_norm" if "layer" in case["op"] else "rms_norm"
    x = tensor_of(case, archive, "in0", device, shape)
    if _has(case, archive, "stats0"):
        name = f"{case['case']}.stats0"
        yield attempt(name, functools.partial(getattr(ttnn, f"{kind}_pre_all_gather"), x), archive[name].shape)
    if _has(case, archive, "out"):
        name = f"{case['case']}.out"
        width = len(archive[f"{case['case']}.stats"]) * ttnn.TILE_SIZE
        stats = tensor_of(case, archive, "stats", device, (*shape[:-1], width))
        options = {"epsilon": case["epsilon"], **_optional(case, archive, device)}
        run = functools.partial(getattr(ttnn, f"{kind}_post_all_gather"), x, stats, **options)
        yield attempt(name, run, archive[name].shape)


def _rotary(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    name, shape = f"{case['case']}.out", tuple(case["shape"])
    operands = [tensor_of(case, archive, operand, device, shape) for operand in ("in0", "cos", "sin")]
    operator = operator_of(case)
    if _has(case, archive, "trans_mat"):
        operands.append(tensor_of(case, archive, "trans_mat", device, (1, 1, 32, 32)))
    yield attempt(name, functools.partial(operator, *operands), archive[name].shape)


def _batch_norm(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    name, shape = f"{case['case']}.out", tuple(case["shape"])
    x = tensor_of(case, archive, "in0", device, shape)
    places = {"mean": "running_mean", "var": "running_var", "weight": "weight", "bias": "bias"}
    options: dict[str, Any] = {"eps": case["epsilon"]}
    for array, argument in places.items():
        if _has(case, archive, array):
            values = archive[f"{case['case']}.{array}"].reshape(1, -1, 1, 1)
            tensor = ttnn.Tensor(values, DTYPE[case["dtype"]])
            options[argument] = ttnn.to_device(ttnn.to_layout(tensor, ttnn.TILE_LAYOUT), device)
    run = functools.partial(ttnn.batch_norm, x, **options)
    yield attempt(name, run, archive[name].shape)

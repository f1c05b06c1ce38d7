"""TT-NN kernel requirements, a row per operation and condition.

On operands and results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.xdsl_adapter import IntegerType, Signedness, SSAValue, TensorType
from ttnn.compiler.transforms.ttnn.layout.types import HOST, element_word, on_host, tensor_layout

__all__ = ["ROWS", "WITH_OPTIMIZER", "Row", "Want"]


@dataclass(frozen=True)
class Want:
    """Requirement of a kernel on a tensor; None accepts any value.

    Attributes:
        tiled: Tiles or rows.
        dtype: Word of the data type.
        space: Word of the buffer type.
        memory: Word of the memory layout, `HOST` for none.
        constant: Whether a copy in L1 may be made once and kept.
    """

    tiled: bool | None = None
    dtype: str | None = None
    space: str | None = None
    memory: str | None = None
    constant: bool = False


When = Callable[[TableOp], bool]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        ops: Names of operations, without the dialect.
        where: A group of operands, `->0` for a result, `*` for all operands and results.
        want: How the tensor must be; a function where it depends on the operation.
        when: The row holds for operations for which this is true.
        versions: The span of versions in which it holds.
        rounds: It rounds integers of 32 bits, which the operators here keep: left out where those stay exact.
    """

    ops: str
    where: str
    want: Want | Callable[[TableOp], Want | None]
    when: When | None = None
    versions: str = "2025-10.."
    rounds: Callable[[TableOp], bool] | None = None


_LATEST: Final = "2026-08.."
_ROWS: Final = Want(tiled=False)
_TILES: Final = Want(tiled=True)
_BF16: Final = Want(dtype="bf16")
_F32: Final = Want(dtype="f32")
_U32: Final = Want(dtype="u32")
_ROWS_BF16: Final = Want(tiled=False, dtype="bf16")
_ROWS_U16: Final = Want(tiled=False, dtype="u16")
_ROWS_U32: Final = Want(tiled=False, dtype="u32")
_TILES_BF16: Final = Want(tiled=True, dtype="bf16")
_ON_HOST: Final = Want(tiled=False, space="system_memory", memory=HOST)

_FLOATS: Final = frozenset({"f32", "bf16", "bfp_bf8", "bfp_bf4"})
_SDPA: Final = frozenset({"bf16", "bfp_bf8", "bfp_bf4"})


def _in_l1(tiled: bool, dtype: str | None = None) -> Want:
    return Want(tiled, dtype, "l1", "interleaved")


def _in_shards(tiled: bool, dtype: str | None = None) -> Want:
    return Want(tiled, dtype, "l1", "height_sharded")


def _dtype(value: SSAValue) -> str:
    return element_word(value.type)


def _element(value: SSAValue) -> object:
    assert isinstance(value.type, TensorType)
    return value.type.element_type


def _integer(value: SSAValue) -> bool:
    return isinstance(_element(value), IntegerType)


def _small_unsigned(value: SSAValue) -> bool:
    kind = _element(value)
    return isinstance(kind, IntegerType) and kind.signedness.data is Signedness.UNSIGNED and kind.width.data < 32


def _first(check: Callable[[SSAValue], bool]) -> When:
    return lambda op: check(op.operands[0])


def _group(name: str, check: Callable[[SSAValue], bool]) -> When:
    return lambda op: any(check(value) for value in op.group(name))


def _tiled(value: SSAValue) -> bool:
    return tensor_layout(value).tiled


# Conditions and wants that look at more than one thing.


def _scatter_rows(op: TableOp) -> bool:
    return any(_tiled(op.group(name)[0]) and _dtype(op.group(name)[0]) == "f32" for name in ("input", "source"))


def _needs_rows(value: SSAValue) -> bool:
    return _tiled(value) and _dtype(value) in ("f32", "bf16", "si32", "u32")


def _scatter_source_rows(op: TableOp) -> bool:
    return any(_needs_rows(op.group(name)[0]) for name in ("input", "source"))


def _concat_pads(op: TableOp) -> bool:
    """Tiles are padded along the joined dimension, which only floats can be."""
    first = op.inputs[0]
    dim = op.get("dim")
    uneven = any(shape_of(value)[dim] % 32 for value in op.inputs)
    return _tiled(first) and _dtype(first) not in ("f32", "bf16") and uneven


def _strided(op: TableOp) -> bool:
    return any(step > 1 for step in op.get("step")) and _small_unsigned(op.inputs[0])


def _binary_dtype(op: TableOp, dtype: str, *, current: bool) -> str | None:
    short = op.name.partition(".")[2]
    if short in ("logical_right_shift", "logical_left_shift"):
        return None if dtype in ("u32", "si32") else "si32"
    if current and short in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        return "u32" if dtype == "u8" else None
    if short == "gelu_bw":
        return None if dtype == "bf16" else "bf16"
    if short in ("divide", "pow_tensor"):
        return None if dtype in _FLOATS else "f32"
    # Comparisons subtract, and arithmetic of 8 bits is wrong on the chip.
    return "si32" if current and dtype == "u8" else None


def _binary(*, current: bool) -> Callable[[TableOp], Want]:
    def want(op: TableOp) -> Want:
        operands = op.inputs[:2]
        dtypes = [_binary_dtype(op, _dtype(value), current=current) for value in operands]
        dtype = dtypes[1] or dtypes[0]
        if dtype is None and len({_integer(value) for value in operands}) > 1:
            # No kernel takes an integer and a float.
            dtype = "f32"
        return Want(tiled=None if all(_tiled(value) for value in operands) else True, dtype=dtype)

    return want


def _where_predicate(op: TableOp) -> Want | None:
    first, last = op.inputs[0], op.inputs[-1]
    if not _integer(first) and _dtype(first) == _dtype(last):
        return None
    return _F32 if _integer(last) else Want(dtype=_dtype(last))


def _where_integers(op: TableOp) -> bool:
    return _where_predicate(op) is not None and _integer(op.inputs[-1])


def _is_wide(op: TableOp) -> bool:
    return {_dtype(op.inputs[-1]), _dtype(op.results[0])} <= {"si32", "u32"}


def _front_padding(op: TableOp) -> bool:
    return any(op.get("padding")[::2]) and _tiled(op.inputs[0])


def _full_product(op: TableOp) -> bool:
    return op.get("dim_arg") is None or not isinstance(op.get("dim_arg"), int)


def _moves_shards(op: TableOp) -> bool:
    return bool(op.get("shard_type") != "identity")


def _to_device(value: SSAValue) -> Want | None:
    layout = tensor_layout(value)
    return Want(None if layout.tiled else True, space="dram" if on_host(layout) else None)


def _of_operand(group: str) -> Callable[[TableOp], Want | None]:
    return lambda op: _to_device(op.group(group)[0])


def _of_result(op: TableOp) -> Want | None:
    return _to_device(op.results[0])


def _sort_values(op: TableOp) -> Want | None:
    dtype = _dtype(op.inputs[0])
    if _integer(op.inputs[0]) and dtype != "u16":
        return Want(dtype="u16")
    return _BF16 if dtype == "f32" else None


def _power_of_two(size: int) -> int:
    return 1 << max(0, size - 1).bit_length()


def _sort_indices(op: TableOp) -> Want:
    return Want(dtype="u16" if _power_of_two(shape_of(op.inputs[0])[-1]) < 0xFFFF else "u32")


def _topk_values(op: TableOp) -> Want | None:
    return None if _dtype(op.inputs[0]) in ("bf16", "bfp_bf8") else _BF16


def _topk_result(op: TableOp) -> Want:
    # The operand may have been converted already.
    return _topk_values(op) or Want(dtype=_dtype(op.inputs[0]))


def _topk_indices(op: TableOp) -> Want:
    size = shape_of(op.inputs[0])[op.get("dim")]
    return Want(dtype="u16" if -(-size // 32) * 32 <= 0xFFFF else "u32")


def _not_attention(value: SSAValue) -> bool:
    return _dtype(value) not in _SDPA


def _mla_converts(op: TableOp) -> bool:
    return _not_attention(op.group("query")[0])


_BINARY_OPS = (
    "add divide multiply logical_right_shift subtract eq ne ge gt le lt logical_and logical_or logical_xor bitwise_and "
    "logical_left_shift bitwise_or bitwise_xor maximum minimum remainder pow_tensor atan2 gelu_bw"
)
_NOT_FLOAT = _first(lambda value: _dtype(value) not in ("f32", "bf16"))

ROWS: Final[tuple[Row, ...]] = (
    # Element by element.
    Row(_BINARY_OPS, "*", _binary(current=False), versions="2025-10"),
    Row(_BINARY_OPS, "*", _binary(current=True), versions=_LATEST),
    Row("tanh", "*", _BF16),
    Row("erf", "*", _BF16, _first(_integer), versions=_LATEST),
    Row("dropout", "*", _BF16, versions=_LATEST),
    Row(
        "bitwise_not",
        "*",
        Want(dtype="si32"),
        _first(lambda value: _dtype(value) in ("u8", "u16", "u32")),
        versions=_LATEST,
    ),
    Row("bitwise_not", "*", _TILES, _first(lambda value: not _tiled(value)), versions=_LATEST),
    Row("where", "first", _where_predicate),
    Row("where", "second", _F32, _where_integers, rounds=_is_wide),
    Row("where", "third", _F32, _where_integers, rounds=_is_wide),
    Row("where", "->0", _F32, _where_integers, rounds=_is_wide),
    # Windows.
    Row("avg_pool2d max_pool2d", "*", _ROWS_BF16),
    Row("max_pool2d_with_indices", "input", _ROWS_BF16, versions=_LATEST),
    Row("max_pool2d_with_indices", "->0", _ROWS_BF16, versions=_LATEST),
    Row("max_pool2d_with_indices", "->1", _ROWS_U16, versions=_LATEST),
    Row("upsample", "*", _ROWS_BF16),
    Row("conv1d conv2d conv_transpose2d", "input", _ROWS),
    Row("conv1d conv2d conv_transpose2d", "input", _BF16, _group("input", lambda value: _dtype(value) == "bfp_bf8")),
    Row("conv3d", "input", _ROWS_BF16, versions=_LATEST),
    Row("conv3d", "weight", _BF16, versions=_LATEST),
    Row("conv3d", "bias", _TILES_BF16, versions=_LATEST),
    Row("conv3d", "->0", _BF16, versions=_LATEST),
    Row("prepare_conv3d_weights", "weight_tensor", _ON_HOST, versions=_LATEST),
    # Tables and indices.
    Row("embedding", "input", _ROWS_U32),
    Row("embedding", "weight", _BF16, versions="2025-10"),
    Row("embedding", "->0", _BF16, versions="2025-10"),
    Row("embedding", "weight", _ROWS_BF16, versions=_LATEST),
    Row("embedding", "->0", _TILES_BF16, versions=_LATEST),
    Row("embedding_bw", "input", _ROWS_U32),
    Row("embedding_bw", "weight", _BF16),
    Row("embedding_bw", "in_gradient", _BF16),
    Row("embedding_bw", "->0", _BF16),
    Row("gather", "input", _TILES, versions=_LATEST),
    Row("gather", "index", _TILES, versions=_LATEST),
    Row("scatter", "*", _ROWS, _scatter_rows, versions="2025-10"),
    Row("scatter", "input", _ROWS, _scatter_source_rows, versions=_LATEST),
    Row("scatter", "index", _ROWS, _group("index", _needs_rows), versions=_LATEST),
    Row("scatter", "source", _ROWS, _scatter_source_rows, versions=_LATEST),
    Row("scatter", "->0", _ROWS, _scatter_source_rows, versions=_LATEST),
    Row("argmax", "input", _ROWS),
    Row("argmax", "->0", _ROWS_U32),
    Row("sort", "input", _sort_values, versions=_LATEST),
    Row("sort", "->0", _sort_values, versions=_LATEST),
    Row("sort", "->1", Want(dtype="u16"), versions="2025-10"),
    Row("sort", "->1", _sort_indices, versions=_LATEST),
    Row("topk", "input_tensor", _topk_values, versions=_LATEST),
    Row("topk", "->0", _topk_result, versions=_LATEST),
    Row("topk", "->1", _topk_indices, versions=_LATEST),
    Row("topk_router_gpt", "->0", Want(tiled=False, dtype="u16", space="l1"), versions=_LATEST),
    Row("topk_router_gpt", "->1", Want(tiled=False, dtype="bf16", space="l1"), versions=_LATEST),
    Row("sampling", "input_indices", _ROWS, versions=_LATEST),
    Row("sampling", "k", _ROWS_U32, versions=_LATEST),
    Row("sampling", "p", _ROWS, versions=_LATEST),
    Row("sampling", "temp", _ROWS, versions=_LATEST),
    Row("sampling", "->0", _ROWS_U32, versions=_LATEST),
    # Movement of data.
    Row("mesh_shard", "*", Want(space="system_memory", memory=HOST), _moves_shards, versions="2025-10"),
    Row("mesh_partition", "*", _ROWS, versions=_LATEST),
    Row("concat", "*", _BF16, _concat_pads, versions="2025-10"),
    Row("slice_static", "*", _U32, _strided),
    Row("slice_dynamic", "input", _U32, _first(_small_unsigned)),
    Row("slice_dynamic", "->0", _U32, _first(_small_unsigned)),
    Row("slice_dynamic", "begins", _U32),
    Row("slice_dynamic", "ends", _U32),
    Row("slice_dynamic", "input", _ROWS, versions=_LATEST),
    Row("slice_dynamic", "->0", _ROWS, versions=_LATEST),
    Row("constant", "->0", _ON_HOST),
    Row("reshape", "*", Want(dtype="si32"), _first(lambda value: _dtype(value) == "u8")),
    Row("pad", "*", _ROWS, _front_padding),
    Row("pad", "*", _BF16, _first(_integer), versions="2025-10"),
    Row("permute", "*", _F32, _first(lambda value: _dtype(value) in ("si32", "u32")), rounds=_is_wide),
    # Reductions.
    Row("sum max min", "*", _BF16, _NOT_FLOAT, versions="2025-10", rounds=_is_wide),
    Row("sum max min", "*", _F32, _NOT_FLOAT, versions=_LATEST, rounds=_is_wide),
    Row("mean", "*", _BF16, _NOT_FLOAT, versions="2025-10"),
    Row("mean", "*", _F32, _NOT_FLOAT, versions=_LATEST),
    Row("prod", "*", _BF16, lambda op: _full_product(op) and _dtype(op.inputs[0]) != "bf16", versions="2025-10"),
    Row("prod", "*", _BF16, versions=_LATEST),
    Row("group_norm", "input", _BF16, versions=_LATEST),
    Row("group_norm", "weight", _ROWS_BF16, versions=_LATEST),
    Row("group_norm", "bias", _ROWS_BF16, versions=_LATEST),
    Row("group_norm", "->0", _BF16, versions=_LATEST),
    # Caches and attention.
    Row("update_cache", "update_index", _U32, _group("update_index", lambda value: _dtype(value) == "si32")),
    Row("paged_update_cache", "update_index", _ROWS, versions=_LATEST),
    Row("paged_update_cache paged_fill_cache", "page_table", _ROWS, versions=_LATEST),
    Row("paged_fill_cache", "batch_idx_tensor", _ROWS, versions=_LATEST),
    *(
        Row("rotary_embedding", name, _of_operand(name), versions=_LATEST)
        for name in ("input", "cos_cache", "sin_cache")
    ),
    Row("rotary_embedding", "->0", _of_result, versions=_LATEST),
    *(
        Row(
            "scaled_dot_product_attention scaled_dot_product_attention_decode sdpa_fw",
            name,
            _BF16,
            versions=_LATEST,
        )
        for name in ("query", "key", "value", "attention_mask", "->0")
    ),
    Row("sdpa_fw", "->1", _F32, versions=_LATEST),
    *(
        Row("sdpa_bw", name, _BF16, versions=_LATEST)
        for name in ("grad_output", "attn_output", "query", "key", "value", "attention_mask", "->0", "->1", "->2")
    ),
    Row("sdpa_bw", "intermediates", _F32, versions=_LATEST),
    *(
        Row("flash_mla_prefill", name, _BF16, _mla_converts, versions=_LATEST)
        for name in ("query", "key", "value", "->0")
    ),
    Row("flash_mla_prefill", "attention_mask", _BF16, _group("attention_mask", _not_attention), versions=_LATEST),
    Row("paged_scaled_dot_product_attention_decode", "page_table", _ROWS, versions=_LATEST),
    Row("paged_scaled_dot_product_attention_decode", "cur_pos_tensor", _ROWS, versions=_LATEST),
    Row("chunked_scaled_dot_product_attention", "page_table", _ROWS, versions=_LATEST),
    Row("chunked_scaled_dot_product_attention", "chunk_start_idx", _ROWS, versions=_LATEST),
    Row("paged_flash_multi_latent_attention_decode", "page_table", Want(tiled=False, dtype="si32"), versions=_LATEST),
    Row("paged_flash_multi_latent_attention_decode", "cur_pos_tensor", _ROWS, versions=_LATEST),
    # Experts.
    Row("sparse_matmul", "sparsity", _ROWS_BF16, versions=_LATEST),
    Row("all_to_all_dispatch", "input_tensor", _ROWS_BF16, versions=_LATEST),
    Row("all_to_all_dispatch", "expert_indices", _ROWS_U16, versions=_LATEST),
    Row("all_to_all_dispatch", "expert_mapping", _ROWS_U16, versions=_LATEST),
    Row("all_to_all_dispatch", "->0", _ROWS_BF16, versions=_LATEST),
    Row("all_to_all_dispatch", "->1", _ROWS_U16, versions=_LATEST),
    Row("all_to_all_combine", "input_tensor", _ROWS_BF16, versions=_LATEST),
    Row("all_to_all_combine", "expert_metadata", _ROWS_U16, versions=_LATEST),
    Row("all_to_all_combine", "expert_mapping", _ROWS_U16, versions=_LATEST),
    Row("all_to_all_combine", "->0", _ROWS_BF16, versions=_LATEST),
    Row("moe_expert_token_remap", "topk_tensor", _ROWS_BF16, versions=_LATEST),
    Row("moe_expert_token_remap", "expert_mapping", _ROWS_U16, versions=_LATEST),
    Row("moe_expert_token_remap", "expert_metadata", _ROWS_U16, versions=_LATEST),
    Row("moe_expert_token_remap", "->0", _ROWS_BF16, versions=_LATEST),
    Row("moe_expert_token_remap", "->1", _ROWS_U16, versions=_LATEST),
    Row("all_to_all_dispatch_metadata", "input_tensor", _in_l1(False, "bf16"), versions=_LATEST),
    Row("all_to_all_dispatch_metadata", "expert_indices", _in_l1(False, "u16"), versions=_LATEST),
    Row("all_to_all_dispatch_metadata", "expert_scores", _in_l1(False, "bf16"), versions=_LATEST),
    Row("all_to_all_dispatch_metadata", "expert_mapping", _ROWS_U16, versions=_LATEST),
    Row("all_to_all_dispatch_metadata", "->0", _ROWS_BF16, versions=_LATEST),
    Row("all_to_all_dispatch_metadata", "->1", _in_shards(False, "u16"), versions=_LATEST),
    Row("all_to_all_dispatch_metadata", "->2", _in_shards(False, "bf16"), versions=_LATEST),
    Row("moe_gpt", "input_tensor", _in_l1(False), versions=_LATEST),
    Row("moe_gpt", "expert_indices", _in_shards(False, "u16"), versions=_LATEST),
    Row("moe_gpt", "expert_scores", _in_shards(False), versions=_LATEST),
    Row("moe_gpt", "expert_mapping", Want(False, "u16", "l1", constant=True), versions=_LATEST),
    *(Row("moe_gpt", f"->{index}", Want(False, "u32", "l1"), versions=_LATEST) for index in range(3)),
    Row("moe_gpt", "->3", _in_shards(True), versions=_LATEST),
    Row("moe_gpt", "->4", _in_shards(False), versions=_LATEST),
    Row("moe_compute", "tilize_input_tensor", _ROWS_BF16, versions=_LATEST),
    Row("moe_compute", "tilize_expert_mapping_tensor", _ROWS_U16, versions=_LATEST),
    Row("moe_compute", "->0", Want(False, "bf16", "dram", "interleaved"), versions=_LATEST),
    *(
        Row("prepare_moe_compute_w0_w1_weights", name, _ROWS, versions=_LATEST)
        for name in ("w0", "w1", "bias_0", "bias_1")
    ),
    *(Row("prepare_moe_compute_w2_weights", name, _ROWS, versions=_LATEST) for name in ("w2", "bias_2")),
)

_CHOSEN = (
    "where full embedding scatter topk flash_mla_prefill scaled_dot_product_attention "
    "scaled_dot_product_attention_decode prepare_moe_compute_w0_w1_weights prepare_moe_compute_w2_weights moe_compute "
    "conv3d sampling all_to_all_dispatch all_to_all_dispatch_metadata all_to_all_combine moe_expert_token_remap "
    "sparse_matmul sdpa_bw"
)
#: Operations whose rows hold also where an optimizer chooses layouts.
WITH_OPTIMIZER: Final = {"2025-10": frozenset({"where", "full"}), "2026-08": frozenset(_CHOSEN.split())}

"""Calls from registry signatures: required arguments, and option values."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

import ttnn
from testkit.operands import make_operand
from testkit.reference_calls import TENSORS
from ttnn.operation import registry
from ttnn.operation.domain import Operand
from ttnn.operation.signature import REQUIRED, Param, Signature

SHAPE = (1, 1, 64, 128)
L1 = ttnn.L1_MEMORY_CONFIG
HEIGHT = ttnn.create_sharded_memory_config(SHAPE, ttnn.CoreGrid(y=2, x=1), ttnn.ShardStrategy.HEIGHT)
BLOCK = ttnn.create_sharded_memory_config(SHAPE, ttnn.CoreGrid(y=2, x=2), ttnn.ShardStrategy.BLOCK)
ONE_CORE = ttnn.create_sharded_memory_config((32, 128), ttnn.CoreGrid(y=1, x=1), ttnn.ShardStrategy.HEIGHT)


def _token(device: ttnn.MeshDevice, _dtype: ttnn.DataType) -> ttnn.Tensor:
    """Return a row for the cache of one user."""
    return tensor(device, ttnn.bfloat16, 5, (1, 1, 1, 128), ttnn.TILE_LAYOUT, ONE_CORE)


def _in_shards(
    shape: tuple[int, ...],
    shards: list[int],
    scheme: ttnn.TensorMemoryLayout,
    layout: ttnn.Layout = ttnn.TILE_LAYOUT,
    kind: ttnn.DataType | None = None,
) -> Any:
    """Return what makes an operand in the L1 of two cores."""
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 0))})
    place = ttnn.MemoryConfig(
        scheme, ttnn.BufferType.L1, ttnn.ShardSpec(cores, shards, ttnn.ShardOrientation.ROW_MAJOR)
    )
    return lambda device, dtype: tensor(device, kind or dtype, 5, shape, layout, place)


def _heads(columns: int) -> Any:
    return _in_shards((1, 1, 64, columns), [64, columns // 2], ttnn.TensorMemoryLayout.BLOCK_SHARDED)


def _states(rows: int, layout: ttnn.Layout = ttnn.TILE_LAYOUT, kind: ttnn.DataType | None = None) -> Any:
    return _in_shards((1, 1, rows, 64), [rows, 32], ttnn.TensorMemoryLayout.WIDTH_SHARDED, layout, kind)


OF_HEADS = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1)
CORES = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))})
# Arguments that their kind does not give: operator, parameter. Callables get the device and the data type.
SPECIAL: dict[tuple[str, str], Any] = {
    ("experimental.conv3d", "dtype"): lambda _device, dtype: dtype,
    ("arange", "end"): 40,
    ("moreh_getitem", "index_tensors"): lambda device, _dtype: [
        ttnn.Tensor(np.array([5, -3, 0, 7], np.int32), ttnn.int32, device, ttnn.ROW_MAJOR_LAYOUT)
    ],
    ("moreh_getitem", "index_dims"): [2],
    ("permute", "dims"): [0, 2, 1, 3],
    ("transpose", "dim1"): -2,
    ("transpose", "dim2"): -1,
    ("slice", "starts"): [0, 0, 0, 0],
    ("slice", "ends"): [1, 1, 32, 64],
    ("slice", "slice_start"): [0, 0, 0, 0],
    ("slice", "slice_end"): [1, 1, 32, 64],
    ("pad", "padding"): [(0, 0), (0, 0), (0, 32), (0, 32)],
    ("tilize_with_val_padding", "output_tensor_shape"): [1, 1, 64, 128],
    ("tilize_with_val_padding", "output_padded_shape"): [1, 1, 64, 128],
    ("untilize_with_unpadding", "output_tensor_end"): [0, 0, 31, 63],
    ("interleaved_to_sharded", "sharded_memory_config"): HEIGHT,
    ("reshard", "output_memory_config"): BLOCK,
    ("reshape", "shape"): [1, 2, 32, 128],
    ("reshape", "logical_shape"): [1, 2, 32, 128],
    ("reshape", "padded_shape"): [1, 2, 32, 128],
    ("view", "shape"): [1, 2, 32, 128],
    ("squeeze", "dim"): 0,
    ("unsqueeze", "dim"): 0,
    ("pad", "output_padded_shape"): [1, 1, 96, 160],
    ("pad", "input_tensor_start"): [0, 0, 0, 0],
    ("repeat_bw", "shape"): [2, 1, 1, 1],
    ("typecast", "input_dtype"): ttnn.bfloat16,
    ("interleaved_to_sharded", "grid"): ttnn.CoreCoord(1, 2),
    ("interleaved_to_sharded", "shard_shape"): [32, 128],
    ("interleaved_to_sharded", "shard_scheme"): ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
    ("interleaved_to_sharded", "shard_orientation"): ttnn.ShardOrientation.ROW_MAJOR,
    ("experimental.padded_slice", "padded_slice_step"): [1, 2, 1, 1],
    ("experimental.padded_slice", "memory_config"): ttnn.create_sharded_memory_config(
        (1, 1, 32, 64), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.HEIGHT
    ),
    ("experimental.nlp_concat_heads_decode", "input_tensor"): _token,
    ("experimental.paged_update_cache", "input_tensor"): _token,
    ("experimental.paged_fused_update_cache", "input_tensor1"): _token,
    ("experimental.paged_fused_update_cache", "input_tensor2"): _token,
    ("experimental.create_qkv_heads", "input"): _heads(384),
    ("experimental.create_qkv_heads", "num_heads"): 2,
    ("experimental.create_qkv_heads", "memory_config"): OF_HEADS,
    ("experimental.create_qkv_heads_from_separate_tensors", "memory_config"): OF_HEADS,
    ("experimental.create_qkv_heads_from_separate_tensors", "num_heads"): 2,
    ("experimental.create_qkv_heads_from_separate_tensors", "input"): _heads(128),
    ("experimental.create_qkv_heads_from_separate_tensors", "input_kv"): _heads(256),
    ("experimental.convert_to_chw", "input"): _in_shards(
        (1, 1, 64, 8), [32, 32], ttnn.TensorMemoryLayout.HEIGHT_SHARDED
    ),
    ("experimental.convert_to_hwc", "input"): _in_shards(
        (1, 1, 8, 64), [8, 32], ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.ROW_MAJOR_LAYOUT
    ),
    ("experimental.prefix_scan", "a"): _states(32),
    ("experimental.prefix_scan", "bx"): _states(32),
    ("experimental.prefix_scan", "h_prev"): _states(1, ttnn.ROW_MAJOR_LAYOUT, ttnn.bfloat16),
    # The other values of options.
    ("slice", "slice_step"): [1, 1, 2, 2],
    ("rdiv", "rounding_mode"): "floor",
    ("div", "rounding_mode"): "floor",
    ("rdiv_bw", "rounding_mode"): "floor",
    ("div_bw", "rounding_mode"): "floor",
}
INTEGERS: dict[ttnn.DataType, Any] = {
    ttnn.int32: np.int32,
    ttnn.uint32: np.uint32,
    ttnn.uint16: np.uint16,
    ttnn.uint8: np.uint8,
    ttnn.int8: np.int8,
}
SHAPES: dict[tuple[str, str], tuple[int, ...]] = {
    ("concat_bw", "grad_tensor"): (2, 1, 64, 128),
    ("prelu", "weight"): (1,),
    ("repeat_bw", "grad_tensor"): (2, 1, 64, 128),
}
INDICES: dict[tuple[str, str], Any] = {
    ("embedding_bw", "input_tensor"): [list(range(64))],
    ("embedding", "input_tensor"): [list(range(64))],
    ("slice", "starts"): [0, 0, 0, 0],
    ("slice", "ends"): [1, 1, 32, 64],
}
# Options that every call gets: one of two that must be given, or the device on which the result is looked at.
GIVEN = {
    ("moreh_sum_backward", "input"),
    ("moreh_mean_backward", "input_grad_shape"),
    ("moreh_mean_backward", "dim"),
    *(("moreh_matmul_backward", f"input_{name}_grad") for name in "ab"),
    *(("moreh_bmm_backward", f"{name}_grad") for name in ("input", "mat2")),
    *(("moreh_linear_backward", name) for name in ("are_required_outputs", "input_grad", "weight_grad")),
    *((f"moreh_{name}_backward", "dim") for name in ("sum", "norm")),
    *(("moreh_dot_backward", f"{name}_grad") for name in ("input", "other")),
    *(
        (f"moreh_{name}", option)
        for name in ("adam", "adamw")
        for option in ("lr", "beta1", "beta2", "step", "amsgrad", "max_exp_avg_sq_in")
    ),
    *((f"moreh_nll_loss{form}_backward", "input_grad_tensor") for form in ("", "_unreduced")),
    ("moreh_getitem", "input"),
    *(("moreh_sgd", option) for option in ("momentum_buffer_in", "lr", "momentum")),
    *(("moreh_layer_norm_backward", f"{name}_grad") for name in ("input", "gamma", "beta")),
    *((f"experimental.paged_{name}update_cache", "update_idxs") for name in ("", "fused_")),
    *((name, "min") for name in ("clamp", "clip", "clamp_bw", "clip_bw")),
    ("batch_norm", "training"),
    *((f"experimental.create_qkv_heads{form}", "memory_config") for form in ("", "_from_separate_tensors")),
    *((name, "stable") for name in ("sort", "topk")),
    ("group_norm", "inplace"),
    ("transformer.chunked_scaled_dot_product_attention", "chunk_start_idx"),
    ("transformer.scaled_dot_product_attention_decode", "cur_pos"),
    ("transformer.flash_multi_latent_attention_decode", "cur_pos"),
    *(
        (f"transformer.paged_{name}_decode", "cur_pos_tensor")
        for name in ("scaled_dot_product_attention", "flash_multi_latent_attention")
    ),
    *((name, "seed") for name in ("rand", "randn", "uniform", "bernoulli", "sampling")),
    ("manual_seed", "device"),
    *((name, "dim") for name in ("moreh_sum", "moreh_mean", "moreh_norm")),
    ("experimental.fast_reduce_nc", "dims"),
    ("scale_causal_mask_hw_dims_softmax_in_place", "mask"),
    ("transformer.attention_softmax_", "attention_mask"),
    *((name, "device") for name in ("arange", "full", "ones", "zeros", "full_like", "ones_like", "zeros_like")),
}
SHARDED_INPUTS = {"reshard", "sharded_to_interleaved"}
ROWS = {"tilize", "tilize_with_val_padding", "tilize_with_zero_padding", "argmax"}


@dataclass(frozen=True)
class Call:
    """One operator call: required parameter values by name."""

    entry: registry.Op
    signature: Signature
    arguments: dict[str, Any]

    @property
    def operation(self) -> Any:
        """The operator as programs find it."""
        return attrgetter(self.entry.name)(ttnn)

    def __call__(self, **options: Any) -> Any:
        return self.operation(**self.arguments | options)


def tensor(
    device: ttnn.MeshDevice,
    dtype: ttnn.DataType,
    seed: int = 0,
    shape: tuple[int, ...] = SHAPE,
    layout: ttnn.Layout = ttnn.TILE_LAYOUT,
    memory_config: ttnn.MemoryConfig | None = None,
    tile: ttnn.Tile | None = None,
) -> ttnn.Tensor:
    """Return numbers between -3 and 3 on the device.

    Integers where the data type holds no others.
    """
    values = np.random.default_rng(seed).normal(size=shape).clip(-3.1, 3.1).astype(np.float32)
    if dtype is ttnn.float32 and values.size > 3:
        # What fast functions treat in another way.
        values.reshape(-1)[:2] = [-0.0, 1e-40]
    if dtype in INTEGERS:
        values = np.round(values if dtype in (ttnn.int32, ttnn.int8) else np.abs(values))
    values = values.astype(INTEGERS.get(dtype, np.float32))
    return ttnn.Tensor(values, dtype, None, layout, None, tile).to(device, memory_config)


def first_dtype(entry: registry.Op) -> ttnn.DataType:
    """Return an operator's trial data type: bfloat16 if supported."""
    return ttnn.bfloat16 if ttnn.bfloat16 in entry.dtypes or not entry.dtypes else entry.dtypes[0]


def _value(entry: registry.Op, param: Param, device: ttnn.MeshDevice, dtype: ttnn.DataType, seed: int) -> Any:
    """Return a value for a required parameter."""
    kind = param.kind.text
    found = SPECIAL.get((entry.name, param.name), param.example)
    if callable(found):
        return found(device, dtype)
    if isinstance(found, Operand):
        return make_operand(found, dtype, ttnn.TILE_LAYOUT, device)
    if found is not None and kind != "ttnn.Tensor":
        return found
    if kind == "ttnn.Tensor" and (entry.name, param.name) in INDICES:
        indices = np.array(INDICES[entry.name, param.name], np.uint32)
        return ttnn.Tensor(indices, ttnn.uint32, device, ttnn.ROW_MAJOR_LAYOUT)
    if kind == "ttnn.Tensor" and (entry.name, param.name) in SHAPES:
        return tensor(device, dtype, seed, SHAPES[entry.name, param.name])
    if entry.name == "isclose" and kind == "ttnn.Tensor":
        values = np.random.default_rng(0).normal(size=SHAPE).astype(np.float32) * (1.0 + 0.1 * seed)
        values[..., :8] = np.nan
        return ttnn.Tensor(values.astype(np.float32), dtype, device, ttnn.TILE_LAYOUT)
    if kind == "ttnn.Tensor":
        rows = entry.name in ROWS or ttnn.TILE_LAYOUT not in (entry.layouts or (ttnn.TILE_LAYOUT,))
        config = HEIGHT if entry.name in SHARDED_INPUTS and not seed else None
        shape = SHAPE if entry.name not in ("matmul", "linear", "addmm") else (1, 1, 64, 64)
        if entry.name == "addmm":
            shape = (64, 64)
        layout = ttnn.ROW_MAJOR_LAYOUT if rows else ttnn.TILE_LAYOUT
        return tensor(device, dtype, seed, shape, layout, config)
    if kind == "ttnn.ComplexTensor":
        return ttnn.complex_tensor(tensor(device, dtype, seed), tensor(device, dtype, seed + 7))
    if kind == TENSORS:
        return [tensor(device, dtype, seed + number) for number in range(2)]
    values: dict[str, Any] = {
        "collections.abc.Sequence[ttnn.EltwiseUnaryWithParam]": [ttnn.UnaryOpType.RELU],
        "str": "none",
        "float": 0.5,
        "int": 2,
        "int | int | float": 2 if dtype in INTEGERS else -0.3,
        "int | float": 2,
        "bool": True,
        "ttnn.DataType": ttnn.float32 if dtype is ttnn.bfloat16 else dtype,
        "ttnn.Layout": ttnn.ROW_MAJOR_LAYOUT,
        "ttnn.MemoryConfig": L1,
        "collections.abc.Sequence[int]": list(SHAPE),
        "ttnn.Shape": list(SHAPE),
        "collections.abc.Sequence[float]": [0.5],
        "ttnn._ttnn.multi_device.MeshDevice": device,
    }
    return values[kind]


def calls(entry: registry.Op, device: ttnn.MeshDevice, dtype: ttnn.DataType | None = None) -> Iterator[Call]:
    """Yield a call for every signature of an operator."""
    dtype = dtype or first_dtype(entry)
    for signature in entry.signatures:
        required = [param for param in signature.params if param.default is REQUIRED]
        required += [param for param in signature.params if (entry.name, param.name) in GIVEN]
        arguments = {param.name: _value(entry, param, device, dtype, i) for i, param in enumerate(required)}
        yield Call(entry, signature, arguments)


def other_values(param: Param, call: Call, device: ttnn.MeshDevice) -> list[Any]:
    """Return values of an option that are not its default."""
    kind, default = param.kind.text, param.default
    if isinstance(default, bool) or kind == "bool":
        return [not default]
    if isinstance(default, enum.Enum):
        return [value for value in type(default) if value is not default]
    found = SPECIAL.get((call.entry.name, param.name), param.example)
    if isinstance(found, Operand):
        return [make_operand(found, first_dtype(call.entry), ttnn.TILE_LAYOUT, device)]
    if found is not None:
        return [found]
    if kind == "ttnn.Tensor":
        first = next((value for value in call.arguments.values() if isinstance(value, ttnn.Tensor)), None)
        if first is None:
            return _outputs_of(call)
        # Twice the same may be the same again.
        shape = tuple(first.shape)
        return [ttnn.clone(first), tensor(device, first.dtype, 5, shape, first.layout, first.memory_config())]
    config = ttnn.WormholeComputeKernelConfig
    values: dict[str, list[Any]] = {
        "float": [0.25],
        "int": [3, 1],
        "int | int | float": [5],
        "int | float": [5],
        "int | collections.abc.Sequence[int]": [0, -1],
        "ttnn.MemoryConfig": [L1],
        "ttnn.DataType": [ttnn.float32],
        "ttnn.Layout": [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT],
        "ttnn.CoreRangeSet": [CORES],
        "ttnn.CoreGrid": [ttnn.CoreGrid(y=1, x=1)],
        "ttnn.Tile": [ttnn.Tile((16, 32))],
        "ttnn.WormholeComputeKernelConfig": [
            config(math_fidelity=fidelity, fp32_dest_acc_en=wide)
            for fidelity in (ttnn.MathFidelity.LoFi, ttnn.MathFidelity.HiFi4)
            for wide in (False, True)
        ],
        "collections.abc.Sequence[ttnn.EltwiseUnaryWithParam]": [[ttnn.UnaryOpType.EXP], [ttnn.UnaryOpType.RELU]],
        "collections.abc.Sequence[bool]": [[True, False]],
        "str | ttnn.UnaryWithParam": ["relu"],
        "str": ["tanh"],
        "ttnn.UnaryWithParam": [ttnn.UnaryWithParam(ttnn.UnaryOpType.EXP)],
        "ttnn.MathFidelity": [ttnn.MathFidelity.LoFi, ttnn.MathFidelity.HiFi4],
        "ttnn.Shape": [list(SHAPE)],
        "ttnn.SubDeviceId": [ttnn.SubDeviceId(0)],
        "ttnn.SDPAProgramConfig": [
            ttnn.SDPAProgramConfig(
                compute_with_storage_grid_size=(8, 8), q_chunk_size=size, k_chunk_size=size, exp_approx_mode=approximate
            )
            for size, approximate in ((64, True), (64, False), (32, True))
        ],
        "ttnn.LayerNormDefaultProgramConfig | ttnn.LayerNormShardedMultiCoreProgramConfig": [
            ttnn.LayerNormDefaultProgramConfig(use_welford=True)
        ],
        "collections.abc.Sequence[ttnn.Tensor]": [_outputs_of],
        "tuple[ttnn.Tensor, ttnn.Tensor]": [_outputs_of],
    }
    return [value(call) if callable(value) else value for value in values.get(kind, [])]


def _outputs_of(call: Call) -> list[ttnn.Tensor]:
    """Return preallocated outputs of a call."""
    outputs = call()
    return [ttnn.zeros_like(output) for output in (outputs if isinstance(outputs, list | tuple) else [outputs])]
